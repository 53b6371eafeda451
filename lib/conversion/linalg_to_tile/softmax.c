// linalg.softmax: y = exp(x - max x) / sum exp(x - max x) along one dimension.
//
// A row that fits one tile is read once and stays there; a longer one is walked three times (maximum, sum, result).
// Padding with -inf makes masks unnecessary: exp(-inf - max) = 0 adds nothing to the sum.
#include "dialects/tile/ops.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>

enum { Rows = 4, LongestTile = 4096, LoopTile = 1024 };

// Row statistics (maximum, sum) spread back over the tile.
static MlirValue spreadRow(TileKernelEmission *e, MlirValue row, MlirType tile) {
  int64_t axes[1] = {0};
  intptr_t count = 0;
  for (int d = 0; d < e->structured->numDims; ++d)
    if (e->structured->dims[d].isReduction && e->structured->dims[d].axis >= 0)
      axes[count++] = e->structured->dims[d].axis;
  if (count == 0 || !mlirTypeIsARankedTensor(mlirValueGetType(row)))
    return tileKernelSplat(e, row, tile);
  MlirAttribute along = mlirDenseI64ArrayGet(e->body.context, count, axes);
  return mlirOperationGetResult(tileBroadcastOpCreate(&e->body, tile, row, along), 0);
}

// exp(x - maximum) for the current tile.
static MlirValue exponentials(TileKernelEmission *e, MlirValue x, MlirValue maximum) {
  MlirType tile = mlirValueGetType(x);
  return tileKernelWeight(e, arithSubFOpBuild(&e->body, x, spreadRow(e, maximum, tile)));
}

// One division a row. The sum is at least 1, the exponential of the maximum, so its reciprocal loses nothing but a
// rounding.
static MlirValue normalized(TileKernelEmission *e, MlirValue exps, MlirValue sum) {
  MlirValue reciprocal = arithDivFOpBuild(&e->body, tileBuildFloat(&e->body, mlirValueGetType(sum), 1), sum);
  return arithMulFOpBuild(&e->body, exps, spreadRow(e, reciprocal, mlirValueGetType(exps)));
}

static void buildShortRows(TileKernelEmission *e) {
  MlirValue x = tileKernelLoad(e, 0, "neg_inf", false);
  MlirValue exps = exponentials(e, x, tileKernelReduce(e, tileUpstreamName(ArithOp_MaximumF), x));
  MlirValue sum = tileKernelReduce(e, tileUpstreamName(ArithOp_AddF), exps);
  tileKernelStore(e, 1, normalized(e, exps, sum));
}

// Opens the loop over the row's tiles, carrying `initial` if it is not null.
static MlirOperation openLoop(TileKernelEmission *e, int dim, const MlirValue *initial, MlirBlock *block,
                              TileBuilder *outer) {
  MlirValue zero = tileBuildIndex(&e->body, 0), step = tileBuildIndex(&e->body, 1);
  MlirValue end = tileKernelNumTiles(e, &e->body, dim, tileKernelExtent(e, dim));
  MlirOperation loop = tileBuildFor(&e->body, zero, end, step, initial ? 1 : 0, initial, block);
  *outer = e->body;
  e->body = tileBuilderAtEnd(*block, outer->location);
  e->index[dim] = mlirBlockGetArgument(*block, 0);
  return loop;
}

static void buildLongRows(TileKernelEmission *e, int dim) {
  MlirType element = tileOperandElementType(&e->structured->operands[0]);
  MlirType row = tileKernelOutputTileType(e, element);
  MlirValue maximum = tileBuildFloat(&e->body, row, -INFINITY), sum = tileBuildFloat(&e->body, row, 0.0);
  MlirBlock block;
  TileBuilder outer;

  MlirOperation loop = openLoop(e, dim, &maximum, &block, &outer);
  MlirValue step = tileKernelReduce(e, tileUpstreamName(ArithOp_MaximumF), tileKernelLoad(e, 0, "neg_inf", false));
  step = arithMaximumFOpBuild(&e->body, mlirBlockGetArgument(block, 1), step);
  tileBuildYield(&e->body, 1, &step);
  e->body = outer;
  maximum = mlirOperationGetResult(loop, 0);

  loop = openLoop(e, dim, &sum, &block, &outer);
  step = tileKernelReduce(e, tileUpstreamName(ArithOp_AddF),
                          exponentials(e, tileKernelLoad(e, 0, "neg_inf", false), maximum));
  step = arithAddFOpBuild(&e->body, mlirBlockGetArgument(block, 1), step);
  tileBuildYield(&e->body, 1, &step);
  e->body = outer;
  sum = mlirOperationGetResult(loop, 0);

  openLoop(e, dim, NULL, &block, &outer);
  MlirValue exps = exponentials(e, tileKernelLoad(e, 0, "neg_inf", false), maximum);
  tileKernelStore(e, 1, normalized(e, exps, sum));
  tileBuildYield(&e->body, 0, NULL);
  e->body = outer;
}

// A tile holds whole rows: as scheduled, else rows of at most LongestTile elements.
static bool takesWholeRows(TileStructured *s, int dim, int row) {
  TileTiling tiling = tileStructuredSoftmaxTiling(s);
  if (mlirShapedTypeIsDynamicSize(s->dims[dim].extent))
    return false;
  if (tileStructuredPlanTiles(s, &tiling))
    return s->dims[dim].tile >= s->dims[dim].extent;
  // The exponentials of all rows of a tile are kept in L1.
  int64_t extent = s->dims[dim].extent, rows = extent > LongestTile / Rows ? LongestTile / extent : Rows;
  if (extent <= LongestTile)
    tileStructuredSetTiles(s, dim, LongestTile, row, rows);
  return s->dims[dim].extent <= LongestTile;
}

bool tileLowerSoftmax(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  if (!tileStructuredReadSoftmax(op, target, &s))
    return false;
  int dim = 0, row = -1;
  while (!s.dims[dim].isReduction)
    ++dim;
  for (int d = s.numDims - 1; d >= 0 && row < 0; --d)
    row = d == dim ? -1 : d;
  bool isShort = takesWholeRows(&s, dim, row);
  if (!isShort)
    tileStructuredSetTiles(&s, dim, LoopTile, row, Rows);

  TileKernelEmission e;
  tileKernelBegin(&e, &s, "softmax");
  if (isShort) {
    e.index[dim] = tileBuildIndex(&e.body, 0);
    buildShortRows(&e);
  } else {
    buildLongRows(&e, dim);
  }
  tileKernelEnd(&e);
  return true;
}
