// Recognizes reductions and softmax. See reduction.h.
#include "lib/analysis/reduction.h"

#include "lib/analysis/fusion.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

const TileCombiner *tileStructuredMatchReduction(const TileStructured *s, int index, MlirValue *folded) {
  MlirValue accumulator = mlirBlockGetArgument(s->body, s->numInputs + index);
  MlirValue result = mlirOperationGetOperand(mlirBlockGetTerminator(s->body), index);
  MlirOperation op = tileDefiningOp(result);
  const TileCombiner *combiner = tileCombinerOf(tileUpstreamKind(op));
  if (!combiner || !tileHasOneUse(accumulator) || !tileHasOneUse(result)) // a running value that others read is a scan
    return NULL;
  for (int side = 0; side < 2; ++side)
    if (mlirValueEqual(mlirOperationGetOperand(op, side), accumulator)) {
      *folded = mlirOperationGetOperand(op, 1 - side);
      return mlirValueEqual(*folded, accumulator) ? NULL : combiner;
    }
  return NULL;
}

bool tileStructuredStartsFrom(TileStructured *s, double least, double most) {
  tileStructuredStartFromConstants(s);
  MlirAttribute initial = s->operands[s->numInputs].initial;
  return !mlirAttributeIsNull(initial) && mlirAttributeIsAFloat(initial) &&
         mlirFloatAttrGetValueDouble(initial) >= least && mlirFloatAttrGetValueDouble(initial) <= most;
}

//===--- softmax ------------------------------------------------------------===//

// The generic that makes a value which has so many uses.
static bool readMaker(MlirValue value, int uses, const TileTarget *target, TileStructured *s) {
  MlirOperation op = tileDefiningOp(value);
  return tileHasUses(value, uses) && tileStructuredRead(op, target, s) && s->numOutputs == 1;
}

// A sum or maximum of the only input, which is `of`, along one dimension.
static bool isRowFold(TileStructured *s, bool isSum, int axis, MlirValue of) {
  MlirValue folded;
  if (s->numInputs != 1 || !tileOperandIsInOrder(s, &s->operands[0], -1) ||
      !tileOperandIsInOrder(s, &s->operands[1], axis) || !mlirValueEqual(s->operands[0].value, of) ||
      !tileStructuredMatchReduction(s, 0, &folded) || tileStructuredInputOf(s, folded) != 0)
    return false;
  MlirOperation fold = tileDefiningOp(tileStructuredYielded(s));
  return isSum ? arithAddFOpIsA(fold) && tileStructuredStartsFrom(s, 0, 0)
               : (arithMaximumFOpIsA(fold) || arithMaxNumFOpIsA(fold)) &&
                     tileStructuredStartsFrom(s, -1.0 / 0.0, -3.0e38);
}

// `op`, in the body of a map, is of an input `full` and an input `row` with one number for each row.
static bool isRowwise(const TileStructured *s, MlirOperation op, MlirValue *full, MlirValue *row, int *axis) {
  int x = tileStructuredInputOf(s, tileBinaryLhs(op)), r = tileStructuredInputOf(s, tileBinaryRhs(op));
  if (s->numInputs != 2 || !tileStructuredIsMap(s) || x < 0 || r < 0 || x == r ||
      !tileOperandIsInOrder(s, &s->operands[2], -1) || !tileOperandIsInOrder(s, &s->operands[x], -1))
    return false;
  for (*axis = 0; *axis < s->numDims && tileOperandUses(&s->operands[r], *axis);)
    ++*axis;
  *full = s->operands[x].value;
  *row = s->operands[r].value;
  return tileOperandIsInOrder(s, &s->operands[r], *axis);
}

bool tileSoftmaxMatch(MlirValue value, const TileTarget *target, TileSoftmax *softmax) {
  MlirOperation op = tileDefiningOp(value);
  TileStructured s;
  MlirValue exps, sums, maxima;
  int axis;
  if (linalgSoftmaxOpIsA(op)) {
    *softmax =
        (TileSoftmax){.of = linalgSoftmaxOpGetInput(op), .axis = (int)linalgSoftmaxOpGetDimensionValue(op), .uses = 1};
    return true;
  }
  if (!tileStructuredRead(op, target, &s))
    return false;
  MlirOperation quotient = tileDefiningOp(tileStructuredYielded(&s));
  *softmax = (TileSoftmax){.isExact = true, .uses = 2};
  if (!arithDivFOpIsA(quotient) || !isRowwise(&s, quotient, &exps, &sums, &softmax->axis) ||
      !readMaker(sums, 1, target, &s) || !isRowFold(&s, true, softmax->axis, exps) || !readMaker(exps, 2, target, &s))
    return false;
  MlirOperation exp = tileDefiningOp(tileStructuredYielded(&s));
  MlirOperation difference = mathExpOpIsA(exp) ? tileDefiningOp(tileOnlyOperand(exp)) : exp;
  return arithSubFOpIsA(difference) && isRowwise(&s, difference, &softmax->of, &maxima, &axis) &&
         axis == softmax->axis && readMaker(maxima, 1, target, &s) && isRowFold(&s, false, axis, softmax->of);
}
