// argmax and argmin along what is contiguous: the largest (or least) candidate and a value computed from its place.
//
//   %c = arith.cmpf ogt, %candidate, %best    %b = select %c, %candidate, %best    %p = select %c, %place, %where
//
// Expects: a structured op of two outputs with this body, `place` made of linalg.index alone, the first of equals wins.
// Leaves: a kernel whose lanes each keep their best and its number in the loops' order; at the end the least number
// among the best lanes wins, which is what one element at a time comes to. Any other body is reduction.c's.
#include "dialects/tile/combiner.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

typedef struct Extremum {
  MlirOperation compare;
  MlirValue candidate, place; // in the body
  int best, where;            // outputs
  const char *larger;         // the combiner that keeps the wanted one
  int vector;                 // the tile's dimension
} Extremum;

//===--- questions ----------------------------------------------------------===//

// `candidate predicate best`; ordered, so that nan is never better.
static const struct {
  TileUpstream op;
  int64_t predicate, swapped; // swapped: of `best predicate candidate`
  TileUpstream larger;
} orders[] = {
    {ArithOp_CmpF, ArithCmpF_Ogt, ArithCmpF_Olt, ArithOp_MaximumF},
    {ArithOp_CmpF, ArithCmpF_Olt, ArithCmpF_Ogt, ArithOp_MinimumF},
    {ArithOp_CmpI, ArithCmpI_Sgt, ArithCmpI_Slt, ArithOp_MaxSI},
    {ArithOp_CmpI, ArithCmpI_Slt, ArithCmpI_Sgt, ArithOp_MinSI},
    {ArithOp_CmpI, ArithCmpI_Ugt, ArithCmpI_Ult, ArithOp_MaxUI},
    {ArithOp_CmpI, ArithCmpI_Ult, ArithCmpI_Ugt, ArithOp_MinUI},
};

static MlirValue outputArgument(const TileStructured *s, int output) {
  return mlirBlockGetArgument(s->body, s->numInputs + output);
}

static bool isIn(MlirOperation op, MlirBlock body) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), body);
}

static bool usesOutputs(const TileStructured *s, MlirValue value) {
  for (int o = 0; o < s->numOutputs; ++o)
    if (mlirValueEqual(value, outputArgument(s, o)))
      return true;
  MlirOperation op = tileDefiningOp(value);
  for (intptr_t i = 0; isIn(op, s->body) && i < mlirOperationGetNumOperands(op); ++i)
    if (usesOutputs(s, mlirOperationGetOperand(op, i)))
      return true;
  return false;
}

// Made of linalg.index and numbers from outside: it can be computed of any position later.
static bool isOfPosition(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirValueIsABlockArgument(value))
    return !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body);
  if (tensorExtractOpIsA(op))
    return false;
  for (intptr_t i = 0; isIn(op, s->body) && i < mlirOperationGetNumOperands(op); ++i)
    if (!isOfPosition(s, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static bool matchOrder(const TileStructured *s, Extremum *x) {
  MlirValue best = outputArgument(s, x->best), left = tileBinaryLhs(x->compare);
  MlirValue right = tileBinaryRhs(x->compare);
  bool isSwapped = mlirValueEqual(left, best);
  x->candidate = isSwapped ? right : left;
  int64_t predicate = mlirIntegerAttrGetValueInt(tileOpAttribute(x->compare, "predicate"));
  if (!mlirValueEqual(isSwapped ? left : right, best))
    return false;
  for (size_t i = 0; i < sizeof orders / sizeof *orders; ++i)
    if ((TileUpstream)arithOpKind(x->compare) == orders[i].op &&
        predicate == (isSwapped ? orders[i].swapped : orders[i].predicate))
      x->larger = tileUpstreamName(orders[i].larger);
  return x->larger != NULL;
}

// Output `output` is `select %compare, chosen, itself`.
static bool matchChoice(const TileStructured *s, int output, MlirValue *compare, MlirValue *chosen) {
  MlirOperation select = tileDefiningOp(mlirOperationGetOperand(mlirBlockGetTerminator(s->body), output));
  if (!isIn(select, s->body) || !arithSelectOpIsA(select) ||
      !mlirValueEqual(arithSelectOpGetFalseValue(select), outputArgument(s, output)))
    return false;
  *compare = arithSelectOpGetCondition(select);
  *chosen = arithSelectOpGetTrueValue(select);
  return true;
}

static bool matchBody(const TileStructured *s, Extremum *x) {
  MlirValue compares[2], chosen[2];
  for (int o = 0; o < 2; ++o)
    if (!matchChoice(s, o, &compares[o], &chosen[o]))
      return false;
  x->compare = tileDefiningOp(compares[0]);
  if (!mlirValueEqual(compares[0], compares[1]) || !isIn(x->compare, s->body))
    return false;
  for (x->best = 0; x->best < 2; ++x->best) {
    x->where = 1 - x->best;
    x->place = chosen[x->where];
    if ((arithCmpFOpIsA(x->compare) || arithCmpIOpIsA(x->compare)) && matchOrder(s, x) &&
        mlirValueEqual(chosen[x->best], x->candidate) && !usesOutputs(s, x->candidate) && isOfPosition(s, x->place))
      return true;
  }
  return false;
}

// The reduction dimension that an input is contiguous along, or -1.
static int contiguousReduction(const TileStructured *s) {
  for (int i = 0; i < s->numInputs; ++i) {
    int last = s->operands[i].isTensor ? tileOperandLastDim(s, &s->operands[i]) : -1;
    if (last >= 0)
      return s->dims[last].isReduction ? last : -1;
  }
  return -1;
}

//===--- positions ----------------------------------------------------------===//

static const int64_t none = INT64_MAX; // the number of what was never better

// The number, in the loops' order, of every element of the current tile.
static MlirValue buildNumbers(TileKernelEmission *e, const Extremum *x) {
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
static void buildStep(TileKernelEmission *e, const void *extremum, MlirValue *state) {
  const Extremum *x = extremum;
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  tileKernelMapInputs(e, &map, 0, s->numInputs, false);
  tileBodyMapSet(&map, outputArgument(s, x->best), state[0]);
  MlirValue better = tileKernelCloneValue(e, &map, tileOnlyResult(x->compare));
  if (tileDimIsRagged(&s->dims[x->vector])) {
    MlirValue both[2] = {better, tileKernelInside(e, x->vector)};
    better = arithAndIOpBuild(&e->body, both[0], both[1]);
  }
  state[0] = arithSelectOpBuild(&e->body, better, tileKernelCloneValue(e, &map, x->candidate), state[0]);
  state[1] = arithSelectOpBuild(&e->body, better, buildNumbers(e, x), state[1]);
}

// The least number among the best lanes, and that lane's value: -0 and +0 are equally good, but not the same.
static void buildWinner(TileKernelEmission *e, const Extremum *x, MlirValue *state) {
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

static void storeWinner(TileKernelEmission *e, const Extremum *x, const MlirValue *state, const MlirValue *initial) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  e->bodyOverOutput = true;
  mapPositions(e, state[1], &map);
  MlirValue isNone = buildEqual(e, state[1], tileBuildIndex(&e->body, none));
  tileKernelStore(e, s->numInputs + x->best, arithSelectOpBuild(&e->body, isNone, initial[x->best], state[0]));
  MlirValue place = tileKernelCloneValue(e, &map, x->place);
  tileKernelStore(e, s->numInputs + x->where, arithSelectOpBuild(&e->body, isNone, initial[x->where], place));
}

bool tileLowerExtremum(TileStructured *s) {
  Extremum x = {.vector = contiguousReduction(s)};
  if (s->numOutputs != 2 || x.vector < 0 || !matchBody(s, &x))
    return false;
  for (int o = 0; o < 2; ++o)
    if (!tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return false;
  // The loop carries a value and a place of 64 bits per column: a quarter of the columns keeps both in registers.
  tileStructuredSetTiles(s, x.vector, s->target->search.model.columns / 4, -1, 1);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "extremum");
  MlirValue initial[2] = {tileKernelInitial(&e, s->numInputs), tileKernelInitial(&e, s->numInputs + 1)};
  MlirType values = tileKernelTileType(&e, mlirValueGetType(initial[x.best]));
  MlirType numbers = tileKernelTileType(&e, mlirIndexTypeGet(e.body.context));
  MlirValue state[2] = {tileKernelSplat(&e, initial[x.best], values), tileBuildInteger(&e.body, numbers, none)};
  tileKernelLoopOverReductions(&e, 2, state, buildStep, &x);
  buildWinner(&e, &x, state);
  storeWinner(&e, &x, state, initial);
  tileKernelEnd(&e);
  return true;
}
