// What the kernels of matrix products share: loops over panels and blocks of k, and C. See product_kernels.h.
#include "dialects/tile/ops.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"

void tileProductSetTile(TileStructured *s, int dim, int axis, int64_t tile, int64_t panels) {
  TileDim *d = &s->dims[dim];
  d->axis = axis;
  d->tile = tile;
  d->panels = panels;
  if (mlirShapedTypeIsDynamicSize(d->extent))
    return;
  if (tessera_ceil_div(d->extent, tile) < panels)
    d->panels = tessera_ceil_div(d->extent, tile) < 1 ? 1 : tessera_ceil_div(d->extent, tile);
}

int64_t tileProductCover(int64_t extent, int64_t least, int64_t most) {
  return mlirShapedTypeIsDynamicSize(extent) ? most : tessera_max(least, tessera_bucket(tessera_min(extent, most)));
}

//===--- loops ----------------------------------------------------------------===//

MlirValue tileProductBuffer(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element) {
  MlirType type = tileKernelBufferType(e, rows, tessera_bucket(columns), element);
  return tileAllocOpBuild(&e->body, type);
}

MlirValue tileProductEquals(TileKernelEmission *e, MlirValue a, MlirValue b) {
  return arithCmpIOpBuild(&e->body, a, b, ArithCmpI_Eq);
}

MlirValue tileProductBlockOf(TileKernelEmission *e, int dim, int64_t size, MlirValue *here) {
  MlirValue all = tileBuildIndex(&e->body, size), first = tileBuildMul(&e->body, e->index[dim], all);
  *here = tileBuildMin(&e->body, tileBuildSub(&e->body, tileKernelExtent(e, dim), first), all);
  return first;
}

MlirValue tileProductConstant(TileKernelEmission *e, MlirType type, int64_t value) {
  bool isInteger = mlirTypeIsAInteger(mlirShapedTypeGetElementType(type));
  return isInteger ? tileBuildInteger(&e->body, type, value) : tileBuildFloat(&e->body, type, (double)value);
}

//===--- panels ------------------------------------------------------------===//

TileProductPanels tileProductPanelsAlong(TileKernelEmission *e, int dim, int64_t last) {
  const TileDim *d = &e->structured->dims[dim];
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  TileProductPanels along = {.dim = dim, .last = last, .program = e->index[dim]};
  along.programs = isKnown ? tessera_ceil_div(d->extent, d->tile * d->panels) : 0;
  along.first = tileBuildMul(&e->body, along.program, tileBuildIndex(&e->body, d->panels));
  return along;
}

MlirValue tileProductPanelsInside(TileKernelEmission *e, const TileProductPanels *along) {
  const TileDim *d = &e->structured->dims[along->dim];
  MlirValue all = along->last ? tileBuildIndex(&e->body, d->extent / d->tile)
                              : tileKernelNumTiles(e, &e->body, along->dim, tileKernelExtent(e, along->dim));
  if (along->programs == 1)
    return all;
  return tileBuildMin(&e->body, tileBuildSub(&e->body, all, along->first), tileBuildIndex(&e->body, d->panels));
}

// The last panel, in the program that has it.
static void overLastPanel(TileKernelEmission *e, const TileProductPanels *along, TileProductBody body, void *context) {
  const TileStructured *whole = e->structured;
  const TileDim *d = &whole->dims[along->dim];
  TileStructured last = tileStructuredCopy(whole, 0);
  TileKernelBranch branch;
  MlirValue isLast, none = {NULL};
  if (along->programs != 1) {
    isLast = tileProductEquals(e, along->program, tileBuildIndex(&e->body, along->programs - 1));
    branch = tileKernelOpenBranch(e);
  }
  last.dims[along->dim].tile = along->last;
  last.dims[along->dim].step = d->tile;
  e->structured = &last;
  e->index[along->dim] = tileBuildIndex(&e->body, d->extent / d->tile);
  body(e, context);
  e->structured = whole;
  if (along->programs != 1)
    tileKernelCloseBranch(e, &branch, isLast, none);
}

void tileProductOverPanels(TileKernelEmission *e, const TileProductPanels *along, TileProductBody body, void *context) {
  const TileDim *d = &e->structured->dims[along->dim];
  TileKernelLoop loop;
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  int64_t count = isKnown ? (d->extent + (along->last ? 0 : d->tile - 1)) / d->tile : 0;
  if (!isKnown || !along->last || count > 0) {
    MlirValue panel = tileKernelOpenLoop(e, tileProductPanelsInside(e, along), 1, 0, NULL, &loop);
    panel = tileBuildAdd(&e->body, along->first, panel);
    e->index[along->dim] = count > 0 ? tileKernelAssumeBelow(e, panel, count) : panel;
    body(e, context);
    tileKernelCloseLoop(e, &loop);
  }
  if (along->last)
    overLastPanel(e, along, body, context);
}
//===--- C ------------------------------------------------------------------===//

static int64_t blockDepth(const TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return k->step ? k->step : k->tile * k->panels;
}

bool tileProductIsShallow(const TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return !mlirShapedTypeIsDynamicSize(k->extent) && k->extent <= blockDepth(e, c);
}

static MlirValue buildSum(TileKernelEmission *e, MlirValue a, MlirValue b) {
  bool isInteger = mlirTypeIsAInteger(mlirShapedTypeGetElementType(mlirValueGetType(a)));
  return isInteger ? arithAddIOpBuild(&e->body, a, b) : arithAddFOpBuild(&e->body, a, b);
}

static bool isZero(MlirAttribute constant) {
  if (mlirAttributeIsNull(constant))
    return false;
  return mlirAttributeIsAFloat(constant) ? mlirFloatAttrGetValueDouble(constant) == 0.0
                                         : mlirIntegerAttrGetValueInt(constant) == 0;
}

MlirValue tileProductAddInitial(TileKernelEmission *e, MlirValue product) {
  int output = e->structured->numInputs;
  if (isZero(e->structured->operands[output].initial))
    return product;
  MlirType element = tileTypeGetElement(mlirValueGetType(product));
  return buildSum(e, product, tileKernelCast(e, tileKernelInitial(e, output), element));
}

MlirValue tileProductAccumulate(TileKernelEmission *e, const TileContraction *c, MlirValue product, MlirValue isFirst) {
  int output = e->structured->numInputs;
  if (tileProductIsShallow(e, c) || mlirAttributeIsNull(e->structured->operands[output].initial))
    return tileProductAddInitial(e, product);
  TileKernelBranch branch = tileKernelOpenBranch(e);
  tileKernelElse(e, &branch, tileProductAddInitial(e, product));
  return tileKernelCloseBranch(e, &branch, isFirst, buildSum(e, product, tileKernelLoad(e, output, NULL, true)));
}

MlirValue tileProductBlocksOfK(TileKernelEmission *e, const TileContraction *c) {
  MlirValue depth = tileBuildIndex(&e->body, blockDepth(e, c));
  MlirValue blocks = tileBuildCeilDiv(&e->body, tileKernelExtent(e, c->k), depth);
  return tileBuildMax(&e->body, blocks, tileBuildIndex(&e->body, 1));
}

MlirValue tileProductResultAtEnd(TileKernelEmission *e, const TileContraction *c, MlirValue product) {
  if (!tileKernelIsFollowed(e) || tileProductIsShallow(e, c))
    return tileKernelResult(e, product);
  MlirValue last = tileBuildSub(&e->body, tileProductBlocksOfK(e, c), tileBuildIndex(&e->body, 1));
  MlirValue isLast = tileProductEquals(e, e->index[c->k], last);
  TileKernelBranch branch = tileKernelOpenBranch(e);
  tileKernelElse(e, &branch, tileKernelResult(e, product));
  return tileKernelCloseBranch(e, &branch, isLast, product);
}
