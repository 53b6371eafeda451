// Folds in the loops' order: argmax and argmin along what is contiguous, and any body without a combiner.
//
// Argmax: the largest (or least) candidate and a value computed from its place, as lib/analysis/extremum.h recognizes
// it. Each lane keeps its best and its number in the loops' order; at the end the least number among the best lanes
// wins, which is what one element at a time comes to.
// Expects: a structured op with reduction dimensions. Leaves: its kernel and launch.
#include "lib/analysis/extremum.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <string.h>

//===--- loops --------------------------------------------------------------===//

// Loops over the reduction dimensions, the last one innermost, one tile per step. Returns their number.
static int openReductions(TileKernelEmission *e, intptr_t count, MlirValue *carried, TileKernelLoop *loops) {
  int number = 0;
  for (int d = 0; d < e->structured->numDims; ++d)
    if (e->structured->dims[d].isReduction)
      tileKernelOpenTiles(e, d, count, carried, &loops[number++]);
  return number;
}

static void closeReductions(TileKernelEmission *e, int number, const TileKernelLoop *loops) {
  while (number > 0)
    tileKernelCloseLoop(e, &loops[--number]);
}

//===--- positions ----------------------------------------------------------===//

static const int64_t none = INT64_MAX; // the number of what was never better

// The number, in the loops' order, of every element of the current tile.
static MlirValue buildNumbers(TileKernelEmission *e, const TileExtremum *x) {
  const TileStructured *s = e->structured;
  MlirType tile = tileKernelTileType(e, mlirIndexTypeGet(e->body.context));
  MlirValue numbers = tileBuildInteger(&e->body, tile, 0);
  for (int d = 0; d < s->numDims; ++d) {
    if (!s->dims[d].isReduction)
      continue;
    MlirValue extent = tileKernelSplat(e, tileKernelExtent(e, d), tile);
    MlirValue scaled[2] = {numbers, extent};
    MlirValue sum[2] = {arithMulIOpBuild(&e->body, scaled[0], scaled[1]), tileKernelPosition(e, d, tile)};
    numbers = arithAddIOpBuild(&e->body, sum[0], sum[1]);
  }
  return numbers;
}

// Maps every linalg.index of the body to what it was at number `number`.
static void mapPositions(TileKernelEmission *e, MlirValue number, TileBodyMap *map) {
  const TileStructured *s = e->structured;
  MlirValue position[MaxDims];
  memcpy(position, e->index, sizeof position);
  for (int d = s->numDims - 1; d >= 0; --d) {
    if (!s->dims[d].isReduction)
      continue;
    MlirValue extent = tileBuildMax(&e->body, tileKernelExtent(e, d), tileBuildIndex(&e->body, 1));
    MlirValue operands[2] = {number, extent};
    position[d] = arithRemUIOpBuild(&e->body, operands[0], operands[1]);
    number = arithDivUIOpBuild(&e->body, operands[0], operands[1]);
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op))
      tileBodyMapSet(map, tileOnlyResult(op), position[mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"))]);
}

//===--- the kernel ---------------------------------------------------------===//

static MlirValue buildCompare(TileKernelEmission *e, int64_t predicate, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a), element = type;
  if (mlirTypeIsARankedTensor(type))
    element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAFloat(element) ? arithCmpFOpBuild(&e->body, a, b, (ArithCmpF)predicate)
                                   : arithCmpIOpBuild(&e->body, a, b, (ArithCmpI)predicate);
}

static MlirValue buildEqual(TileKernelEmission *e, MlirValue tile, MlirValue scalar) {
  bool isFloat = mlirTypeIsAFloat(mlirValueGetType(scalar));
  return buildCompare(e, isFloat ? (int)ArithCmpF_Oeq : (int)ArithCmpI_Eq, tile,
                      tileKernelSplat(e, scalar, mlirValueGetType(tile)));
}

// state: each lane's best, and its number.
static void buildStep(TileKernelEmission *e, const TileExtremum *x, MlirValue *state) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  tileKernelMapInputs(e, &map, 0, s->numInputs);
  tileBodyMapSet(&map, tileStructuredOutputArgument(s, x->best), state[0]);
  MlirValue better = tileKernelCloneValue(e, &map, tileOnlyResult(x->compare));
  if (tileDimIsRagged(&s->dims[x->vector])) {
    MlirValue both[2] = {better, tileKernelInside(e, x->vector)};
    better = arithAndIOpBuild(&e->body, both[0], both[1]);
  }
  state[0] = arithSelectOpBuild(&e->body, better, tileKernelCloneValue(e, &map, x->candidate), state[0]);
  state[1] = arithSelectOpBuild(&e->body, better, buildNumbers(e, x), state[1]);
}

// The least number among the best lanes, and that lane's value: -0 and +0 are equally good, but not the same.
static void buildWinner(TileKernelEmission *e, const TileExtremum *x, MlirValue *state) {
  MlirType values = mlirValueGetType(state[0]), numbers = mlirValueGetType(state[1]);
  MlirType element = mlirTypeIsARankedTensor(values) ? mlirShapedTypeGetElementType(values) : values;
  MlirAttribute lowest = tileCombinerNeutral(tileCombinerFind(tileString(x->larger)), element);
  MlirValue best = tileKernelReduce(e, x->larger, state[0]);
  MlirValue known =
      arithSelectOpBuild(&e->body, buildEqual(e, state[0], best), state[1], tileBuildInteger(&e->body, numbers, none));
  MlirValue number = tileKernelReduce(e, tileUpstreamName(ArithOp_MinSI), known);
  MlirValue value =
      arithSelectOpBuild(&e->body, buildEqual(e, state[1], number), state[0], tileKernelConstant(e, lowest, values));
  state[0] = tileKernelReduce(e, x->larger, value);
  state[1] = number;
}

static void storeWinner(TileKernelEmission *e, const TileExtremum *x, const MlirValue *state,
                        const MlirValue *initial) {
  const TileStructured *s = e->structured;
  TileStructured results = tileStructuredOver(s, -1, -1);
  TileBodyMap map = {0};
  e->structured = &results;
  mapPositions(e, state[1], &map);
  MlirValue isNone = buildEqual(e, state[1], tileBuildIndex(&e->body, none));
  tileKernelStore(e, s->numInputs + x->best, arithSelectOpBuild(&e->body, isNone, initial[x->best], state[0]));
  MlirValue place = tileKernelCloneValue(e, &map, x->place);
  tileKernelStore(e, s->numInputs + x->where, arithSelectOpBuild(&e->body, isNone, initial[x->where], place));
}

// The lanes of this kernel share one result. A schedule may give each result a lane of its own, as GPUs' do: then
// the kernel is tileLowerFold's.
static bool tilesResults(const TileStructured *s) {
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && s->dims[d].tile > 1)
      return true;
  return false;
}

bool tileLowerExtremum(TileStructured *s) {
  TileExtremum x;
  if (!tileExtremumMatch(s, &x))
    return false;
  tileStructuredSetTiles(s);
  if (tilesResults(s))
    return false;
  TileKernelEmission e;
  tileKernelBegin(&e, s, "extremum");
  MlirValue initial[2] = {tileKernelInitial(&e, s->numInputs), tileKernelInitial(&e, s->numInputs + 1)};
  MlirType values = tileKernelTileType(&e, mlirValueGetType(initial[x.best]));
  MlirType numbers = tileKernelTileType(&e, mlirIndexTypeGet(e.body.context));
  MlirValue state[2] = {tileKernelSplat(&e, initial[x.best], values), tileBuildInteger(&e.body, numbers, none)};
  TileKernelLoop loops[MaxDims];
  int number = openReductions(&e, 2, state, loops);
  buildStep(&e, &x, state);
  closeReductions(&e, number, loops);
  buildWinner(&e, &x, state);
  storeWinner(&e, &x, state, initial);
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
static void buildFoldStep(TileKernelEmission *e, MlirValue *carried) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  MlirValue results[MaxOperands];
  intptr_t count = 0;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (i >= s->numInputs && tileStructuredAccumulates(s, &s->operands[i]))
      tileBodyMapSet(&map, mlirBlockGetArgument(s->body, i), carried[count++]);
    else
      tileKernelMapInputs(e, &map, i, i + 1);
  for (int o = 0; o < s->numOutputs; ++o)
    results[o] = tileKernelCloneValue(e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->body), o));
  count = 0;
  for (int o = 0; o < s->numOutputs; ++o)
    if (tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      carried[count++] = results[o];
    else
      tileKernelStore(e, s->numInputs + o, results[o]);
}

bool tileLowerFold(TileStructured *s) {
  if (!tileStructuredHasReduction(s))
    return false;
  tileStructuredSetTiles(s);
  TileKernelEmission e;
  TileKernelLoop loops[MaxDims];
  tileKernelBegin(&e, s, "fold");
  MlirValue carried[MaxOperands];
  intptr_t count = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      carried[count++] = tileKernelInitial(&e, i);
  int number = openReductions(&e, count, carried, loops);
  buildFoldStep(&e, carried);
  closeReductions(&e, number, loops);
  count = 0;
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; ++i)
    if (tileStructuredAccumulates(s, &s->operands[i]))
      tileKernelStore(&e, i, carried[count++]);
  tileKernelEnd(&e);
  return true;
}
