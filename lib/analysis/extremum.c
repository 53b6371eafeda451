// Recognizes argmax and argmin. See extremum.h.
#include "lib/analysis/extremum.h"

#include "upstream/arith.h"
#include "upstream/tensor.h"

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

MlirValue tileStructuredOutputArgument(const TileStructured *s, int output) {
  return mlirBlockGetArgument(s->body, s->numInputs + output);
}

static bool isIn(MlirOperation op, MlirBlock body) {
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), body);
}

static bool usesOutputs(const TileStructured *s, MlirValue value) {
  for (int o = 0; o < s->numOutputs; ++o)
    if (mlirValueEqual(value, tileStructuredOutputArgument(s, o)))
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

static bool matchOrder(const TileStructured *s, TileExtremum *x) {
  MlirValue best = tileStructuredOutputArgument(s, x->best), left = tileBinaryLhs(x->compare);
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
      !mlirValueEqual(arithSelectOpGetFalseValue(select), tileStructuredOutputArgument(s, output)))
    return false;
  *compare = arithSelectOpGetCondition(select);
  *chosen = arithSelectOpGetTrueValue(select);
  return true;
}

static bool matchBody(const TileStructured *s, TileExtremum *x) {
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

bool tileExtremumMatch(const TileStructured *s, TileExtremum *x) {
  *x = (TileExtremum){.vector = contiguousReduction(s)};
  for (int o = 0; o < s->numOutputs; ++o)
    if (!tileStructuredAccumulates(s, &s->operands[s->numInputs + o]))
      return false;
  return s->numOutputs == 2 && x->vector >= 0 && matchBody(s, x);
}
