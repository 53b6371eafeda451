// Reductions: out = combine(out, f(inputs)) over any dimensions, one combiner per output.
//
// A program owns a tile of the output. It loops over the reduction dimensions, computes f on a tile, folds the tile's
// reduction axes with tile.reduce and combines the result into the loop-carried accumulator, which starts from the
// output's initial value. The loop of a product of one row may carry whole tiles, which are folded once behind it: on a
// GPU threads meet there only, on a CPU lanes. Positions past the end of a ragged tile count as the combiner's neutral
// element.
#include "lib/analysis/reduction.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"

#include <math.h>

//===--- questions ----------------------------------------------------------===//

// The view's padding that is the combiner's neutral element, or null.
static const char *paddingOf(const TileCombiner *combiner, MlirType element) {
  MlirAttribute neutral = tileCombinerNeutral(combiner, element);
  if (!combiner->isFloat)
    return mlirIntegerAttrGetValueInt(neutral) == 0 ? "zero" : NULL;
  double value = mlirFloatAttrGetValueDouble(neutral);
  return isnan(value) ? "nan" : isinf(value) ? value < 0 ? "neg_inf" : "inf" : value == 0 ? "neg_zero" : NULL;
}

//===--- neutral elements ---------------------------------------------------===//

static MlirValue buildNeutral(TileKernelEmission *e, const TileCombiner *combiner, MlirType tile) {
  bool isTile = mlirTypeIsARankedTensor(tile);
  MlirAttribute value = tileCombinerNeutral(combiner, isTile ? mlirShapedTypeGetElementType(tile) : tile);
  return tileKernelConstant(e, value, tile);
}

static bool isRagged(const TileDim *d) { return d->isReduction && tileDimIsRagged(d); }

MlirValue tileKernelFillPastEnd(TileKernelEmission *e, const TileCombiner *combiner, MlirValue tile) {
  for (int d = 0; d < e->structured->numDims; ++d) {
    if (!isRagged(&e->structured->dims[d]))
      continue;
    MlirType type = mlirValueGetType(tile);
    MlirValue operands[3] = {tileKernelInside(e, d), tile, buildNeutral(e, combiner, type)};
    tile = arithSelectOpBuild(&e->body, operands[0], operands[1], operands[2]);
  }
  return tile;
}

//===--- the kernel ---------------------------------------------------------===//

typedef struct Reduction {
  const TileCombiner *combiner[MaxOperands];
  MlirValue folded[MaxOperands]; // in the body
  bool isLate;                   // folded behind the loop
} Reduction;

// Bits of a tile of one output's terms.
static int64_t termBits(const TileStructured *s) {
  int64_t bits = 0;
  for (int o = 0; o < s->numOutputs; ++o)
    bits += tileElementWidth(tileOperandElementType(&s->operands[s->numInputs + o]));
  for (int d = 0; d < s->numDims; ++d)
    bits *= s->dims[d].axis >= 0 ? s->dims[d].tile : 1;
  return bits;
}

// On a GPU, a loop over several tiles of a reduced axis, each computed of several inputs. On a CPU, a loop over more
// reductions than the one that has an axis, whose terms stay in a few registers: short groups of a row's codes.
static bool foldsBehindLoop(const TileStructured *s) {
  enum { FewVectors = 4 };
  bool isWalked = false, hasAxis = false, hasOuter = false;
  for (int d = 0; d < s->numDims; ++d) {
    bool isReduced = s->dims[d].isReduction && s->dims[d].axis >= 0;
    isWalked |= isReduced && (mlirShapedTypeIsDynamicSize(s->dims[d].extent) || s->dims[d].extent > s->dims[d].tile);
    hasAxis |= isReduced;
    hasOuter |= s->dims[d].isReduction && s->dims[d].axis < 0 && s->dims[d].extent != 1;
  }
  if (tileStructuredGpu(s))
    return isWalked && s->numInputs > 1;
  int64_t most = FewVectors * s->target->search.vectorBytes * 8;
  return hasAxis && hasOuter && s->numInputs > 1 && termBits(s) <= most;
}

// The neutral element as a view's padding, if f is the input itself: then no mask is needed. Else null.
static const char *directPadding(const TileStructured *s, const Reduction *r, int *input) {
  if (s->numOutputs != 1 || !r->combiner[0] || !mlirValueIsABlockArgument(r->folded[0]) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(r->folded[0]), s->body))
    return NULL;
  *input = (int)mlirBlockArgumentGetArgNumber(r->folded[0]);
  int covered = 0, tiled = 0;
  for (int d = 0; d < s->numDims; ++d) {
    tiled += isRagged(&s->dims[d]);
    for (int i = 0; i < s->operands[*input].rank; ++i)
      covered += isRagged(&s->dims[d]) && s->operands[*input].results[i] == d;
  }
  if (!s->operands[*input].isTensor || covered != tiled ||
      !mlirValueIsNull(tilePackedBytesOf(s->operands[*input].value)))
    return NULL;
  return paddingOf(r->combiner[0], tileOperandElementType(&s->operands[*input]));
}

// One step: f on the current tile, folded into `accumulators`.
static void buildStep(TileKernelEmission *e, const void *reduction, MlirValue *accumulators) {
  const Reduction *r = reduction;
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  int direct = -1;
  const char *pad = directPadding(s, r, &direct);
  for (int i = 0; i < tileStructuredNumOwnInputs(s); ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, i))))
      tileBodyMapSet(&map, mlirBlockGetArgument(s->body, i), tileKernelLoad(e, i, i == direct ? pad : NULL, false));
  for (int o = 0; o < s->numOutputs; ++o) {
    MlirValue tile = tileKernelCloneValue(e, &map, r->folded[o]);
    tile = pad ? tile : tileKernelFillPastEnd(e, r->combiner[o], tile);
    if (!r->isLate)
      tile = tileKernelReduce(e, tileUpstreamName(r->combiner[o]->kind), tile);
    MlirValue operands[2] = {accumulators[o], tile};
    accumulators[o] = tileBuildBinary(&e->body, r->combiner[o]->kind, operands[0], operands[1]);
  }
}

bool tileLowerReduction(TileStructured *s, const TileEpilogue *epilogue) {
  Reduction r = {0};
  if (!tileStructuredHasReduction(s) || !tileStructuredIsReduction(s))
    return false;
  for (int o = 0; o < s->numOutputs; ++o)
    r.combiner[o] = tileStructuredMatchReduction(s, o, &r.folded[o]);
  tileStructuredSetTiles(s);
  if (epilogue)
    tileStructuredAddEpilogue(s, epilogue);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "reduction");
  MlirValue accumulators[MaxOperands], initial[MaxOperands];
  r.isLate = foldsBehindLoop(s);
  for (int o = 0; o < s->numOutputs; ++o)
    initial[o] = accumulators[o] = tileKernelInitial(&e, s->numInputs + o);
  for (int o = 0; r.isLate && o < s->numOutputs; ++o)
    accumulators[o] =
        buildNeutral(&e, r.combiner[o], tileKernelTileType(&e, tileTypeGetElement(mlirValueGetType(initial[o]))));
  tileKernelLoopOverReductions(&e, s->numOutputs, accumulators, buildStep, &r);
  for (int o = 0; r.isLate && o < s->numOutputs; ++o) {
    MlirValue folded = tileKernelReduce(&e, tileUpstreamName(r.combiner[o]->kind), accumulators[o]);
    accumulators[o] = tileBuildBinary(&e.body, r.combiner[o]->kind, initial[o], folded);
  }
  for (int o = 0; o < s->numOutputs; ++o)
    tileKernelStore(&e, s->numInputs + o, tileKernelEpilogue(&e, accumulators[o]));
  tileKernelEnd(&e);
  return true;
}

//===--- step by step -------------------------------------------------------===//

// Any other body over reduction dimensions, step by step in the loops' order: argmax, running sums, updates of an
// output that the reduction dimensions index too.
//
// A program owns a tile of the parallel dimensions, loops over the reduction dimensions one index at a time and applies
// the body to whole tiles. An output without reduction dimensions is carried by the loops, any other one is loaded and
// stored at each step. Nothing is assumed of the body: it is evaluated in the order linalg says.
static void buildFoldStep(TileKernelEmission *e, const void *context, MlirValue *accumulators) {
  const TileStructured *s = context;
  TileBodyMap map = {0};
  MlirValue results[MaxOperands], yield[MaxOperands];
  intptr_t carried = 0;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (i >= s->numInputs && tileStructuredAccumulates(s, &s->operands[i]))
      tileBodyMapSet(&map, mlirBlockGetArgument(s->body, i), accumulators[carried++]);
    else
      tileKernelMapInputs(e, &map, i, i + 1, false);
  for (int o = 0; o < s->numOutputs; ++o)
    results[o] = tileKernelCloneValue(e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->body), o));
  carried = 0;
  for (int o = 0; o < s->numOutputs; ++o)
    if (tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      yield[carried++] = results[o];
    else
      tileKernelStore(e, s->numInputs + o, results[o]);
  for (intptr_t i = 0; i < carried; ++i)
    accumulators[i] = yield[i];
}

bool tileLowerFold(TileStructured *s) {
  if (!tileStructuredHasReduction(s))
    return false;
  tileStructuredSetTiles(s);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "fold");
  MlirValue accumulators[MaxOperands];
  intptr_t carried = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      accumulators[carried++] = tileKernelInitial(&e, i);
  tileKernelLoopOverReductions(&e, carried, accumulators, buildFoldStep, s);
  carried = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      tileKernelStore(&e, i, accumulators[carried++]);
  tileKernelEnd(&e);
  return true;
}
