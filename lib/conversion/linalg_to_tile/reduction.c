// Reductions: out = combine(out, f(inputs)) over any dimensions, one combiner per output.
//
// A program owns a tile of the output. It loops over the reduction dimensions, computes f on a tile, folds the tile's
// reduction axes with tile.reduce and combines the result into the loop-carried accumulator, which starts from the
// output's initial value. Positions past the end of a ragged tile count as the combiner's neutral element.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <math.h>

enum { Columns = 256, Rows = 8 };

typedef struct Combiner {
  const char *name;
  double neutral;                     // of a float combiner
  const char *pad;                    // the same as a view's padding, or null
  int64_t (*integer)(unsigned width); // neutral of an integer combiner
} Combiner;

static int64_t zero(unsigned width) { return 0; }
static int64_t one(unsigned width) { return 1; }
static int64_t allOnes(unsigned width) { return -1; }
static int64_t signedMinimum(unsigned width) { return width >= 64 ? INT64_MIN : -((int64_t)1 << (width - 1)); }
static int64_t signedMaximum(unsigned width) { return width >= 64 ? INT64_MAX : ((int64_t)1 << (width - 1)) - 1; }

static const Combiner combiners[] = {
    {"arith.addf", -0.0, "neg_zero", NULL},
    {"arith.mulf", 1.0, NULL, NULL},
    {"arith.maximumf", -INFINITY, "neg_inf", NULL},
    {"arith.maxnumf", NAN, "nan", NULL}, // the number wins over NaN: only NaN is neutral
    {"arith.minimumf", INFINITY, "inf", NULL},
    {"arith.minnumf", NAN, "nan", NULL},
    {"arith.addi", 0, "zero", zero},
    {"arith.muli", 0, NULL, one},
    {"arith.ori", 0, "zero", zero},
    {"arith.xori", 0, "zero", zero},
    {"arith.andi", 0, NULL, allOnes},
    {"arith.maxui", 0, "zero", zero},
    {"arith.minui", 0, NULL, allOnes},
    {"arith.maxsi", 0, NULL, signedMinimum},
    {"arith.minsi", 0, NULL, signedMaximum},
};

//===--- questions ----------------------------------------------------------===//

static const Combiner *findCombiner(MlirOperation op) {
  for (size_t i = 0; i < sizeof combiners / sizeof *combiners; i++)
    if (tileOpIs(op, combiners[i].name))
      return &combiners[i];
  return NULL;
}

// The combiner of output `index` and the value it folds in; null if the body has another form.
static const Combiner *matchOutput(const TileStructured *s, int index, MlirValue *folded) {
  MlirValue accumulator = mlirBlockGetArgument(s->body, s->numInputs + index);
  MlirValue result = mlirOperationGetOperand(mlirBlockGetTerminator(s->body), index);
  MlirOperation op = tileDefiningOp(result);
  const Combiner *combiner = mlirOperationIsNull(op) ? NULL : findCombiner(op);
  if (!combiner || !tileHasOneUse(accumulator) || !tileHasOneUse(result)) // a running value that others read is a scan
    return NULL;
  for (int side = 0; side < 2; side++)
    if (mlirValueEqual(mlirOperationGetOperand(op, side), accumulator)) {
      *folded = mlirOperationGetOperand(op, 1 - side);
      return mlirValueEqual(*folded, accumulator) ? NULL : combiner;
    }
  return NULL;
}

//===--- tiles --------------------------------------------------------------===//

// The widest input decides what is contiguous.
static const TileOperand *widestInput(const TileStructured *s) {
  const TileOperand *widest = NULL;
  for (int i = 0; i < s->numInputs; i++)
    if (s->operands[i].isTensor && (!widest || s->operands[i].rank > widest->rank))
      widest = &s->operands[i];
  return widest;
}

// A dimension of the other kind, that a tile can have beside `vector`; of a sum of dimensions, only the parallel one.
static int otherKind(const TileStructured *s, const TileOperand *widest, int vector) {
  for (int i = widest->rank - 1; i >= 0; i--)
    for (int d = 0; d < s->numDims; d++)
      if (widest->factors[i][d] && s->dims[d].isReduction != s->dims[vector].isReduction && s->dims[d].extent != 1 &&
          (widest->results[i] == d || !s->dims[d].isReduction) && tileStructuredCanTile(s, d, vector))
        return d;
  return -1;
}

// Columns along the contiguous dimension; rows along a dimension of the other kind, so that a tile has both. Where
// there is none, the output's next dimension.
static void chooseTiles(TileStructured *s) {
  const TileOperand *widest = widestInput(s), *output = &s->operands[s->numInputs];
  int vector = tileOperandLastDim(s, widest ? widest : output);
  int row = vector >= 0 && widest ? otherKind(s, widest, vector) : -1;
  for (int i = output->rank - 1; i >= 0 && row < 0 && vector >= 0 && !s->dims[vector].isReduction; i--)
    if (output->results[i] != vector && tileStructuredCanTile(s, output->results[i], vector))
      row = output->results[i];
  tileStructuredSetTiles(s, vector, Columns, row, Rows);
}

//===--- neutral elements ---------------------------------------------------===//

static MlirValue buildNeutral(TileKernelEmission *e, const Combiner *combiner, MlirType tile) {
  MlirType element = mlirTypeIsARankedTensor(tile) ? mlirShapedTypeGetElementType(tile) : tile;
  if (!combiner->integer)
    return tileBuildFloat(&e->body, tile, combiner->neutral);
  unsigned width = mlirTypeIsAIndex(element) ? 64 : mlirIntegerTypeGetWidth(element);
  return tileBuildInteger(&e->body, tile, combiner->integer(width));
}

static bool isRagged(const TileDim *d) {
  return d->isReduction && d->tile > 1 && (mlirShapedTypeIsDynamicSize(d->extent) || d->extent % d->tile);
}

// True where the position along dimension `dim` is inside.
static MlirValue buildInside(TileKernelEmission *e, int dim) {
  const TileDim *d = &e->structured->dims[dim];
  MlirType index = mlirIndexTypeGet(e->body.context), positions = tileKernelTileType(e, index);
  MlirType i1 = mlirIntegerTypeGet(e->body.context, 1);
  MlirValue first = tileBuildMul(&e->body, e->index[dim], tileBuildIndex(&e->body, d->tile));
  TileAttributeEntry at[] = {{"dim", mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), d->axis)}, {0}};
  MlirValue operands[2] = {tileBuildValue(&e->body, "tile.iota", positions, 1, &first, at),
                           tileKernelSplat(e, tileKernelExtent(e, dim), positions)};
  enum { Ult = 6 };
  TileAttributeEntry less[] = {{"predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), Ult)}, {0}};
  return tileBuildValue(&e->body, "arith.cmpi", tileKernelTileType(e, i1), 2, operands, less);
}

static MlirValue maskPastEnd(TileKernelEmission *e, const Combiner *combiner, MlirValue tile) {
  for (int d = 0; d < e->structured->numDims; d++) {
    if (!isRagged(&e->structured->dims[d]))
      continue;
    MlirType type = mlirValueGetType(tile);
    MlirValue operands[3] = {buildInside(e, d), tile, buildNeutral(e, combiner, type)};
    tile = tileBuildValue(&e->body, "arith.select", type, 3, operands, NULL);
  }
  return tile;
}

//===--- the kernel ---------------------------------------------------------===//

typedef struct Reduction {
  const Combiner *combiner[MaxOperands];
  MlirValue folded[MaxOperands]; // in the body
} Reduction;

// True if f is the input itself, so that the view's padding can be the neutral element and no mask is needed.
static bool foldsInputDirectly(const TileStructured *s, const Reduction *r, int *input) {
  if (s->numOutputs != 1 || !r->combiner[0] || !r->combiner[0]->pad || !mlirValueIsABlockArgument(r->folded[0]) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(r->folded[0]), s->body))
    return false;
  *input = (int)mlirBlockArgumentGetArgNumber(r->folded[0]);
  int covered = 0, tiled = 0;
  for (int d = 0; d < s->numDims; d++) {
    tiled += isRagged(&s->dims[d]);
    for (int i = 0; i < s->operands[*input].rank; i++)
      covered += isRagged(&s->dims[d]) && s->operands[*input].results[i] == d;
  }
  return s->operands[*input].isTensor && covered == tiled;
}

// One step: f on the current tile, folded into `accumulators`.
static void buildStep(TileKernelEmission *e, const void *reduction, MlirValue *accumulators) {
  const Reduction *r = reduction;
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  int direct = -1;
  bool padded = foldsInputDirectly(s, r, &direct);
  for (int i = 0; i < s->numInputs; i++)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, i))))
      tileBodyMapSet(&map, mlirBlockGetArgument(s->body, i),
                     tileKernelLoad(e, i, padded && i == direct ? r->combiner[0]->pad : NULL, false));
  for (int o = 0; o < s->numOutputs; o++) {
    MlirValue tile = tileKernelCloneValue(e, &map, r->folded[o]);
    tile = tileKernelReduce(e, r->combiner[o]->name, padded ? tile : maskPastEnd(e, r->combiner[o], tile));
    MlirValue operands[2] = {accumulators[o], tile};
    accumulators[o] = tileBuildValue(&e->body, r->combiner[o]->name, mlirValueGetType(tile), 2, operands, NULL);
  }
}

bool tileLowerReduction(TileStructured *s) {
  Reduction r = {0};
  if (!tileStructuredHasReduction(s))
    return false;
  for (int o = 0; o < s->numOutputs; o++) {
    r.combiner[o] = matchOutput(s, o, &r.folded[o]);
    if (!r.combiner[o] || !tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return false;
  }
  chooseTiles(s);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "reduction");
  MlirValue accumulators[MaxOperands];
  for (int o = 0; o < s->numOutputs; o++)
    accumulators[o] = tileKernelInitial(&e, s->numInputs + o);
  tileKernelLoopOverReductions(&e, s->numOutputs, accumulators, buildStep, &r);
  for (int o = 0; o < s->numOutputs; o++)
    tileKernelStore(&e, s->numInputs + o, accumulators[o]);
  tileKernelEnd(&e);
  return true;
}
