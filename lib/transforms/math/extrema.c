// arith.maximumf and minimumf as instructions that x86 has (docs/numerics.md §3: nan wins, -0 is below +0).
// x86's maximum of b and a, which is b > a ? b : a, returns a for two zeros and for nan. With the operands exchanged it
// returns b. The two differ only for zeros of different signs and for nan. Their bits give the answer: `or` of all bits
// but the sign keeps a nan, whatever the other number adds. The sign is `or` of both signs for a minimum, `and` for a
// maximum. Upstream's and LLVM's ways compare and select up to three times.
// Expects: scalars or fixed-size vectors of f16, bf16, f32 or f64. Leaves: arith. Cost on AVX-512: 3 instructions for a
// minimum, 4 for a maximum, 1 with a constant that is neither nan nor zero, 2 for a relu (maximum with +0).
#include "lib/transforms/math/extrema.h"
#include "lib/transforms/math/lanes.h"

#include <math.h>

//===--- Questions -------------------------------------------------------===//

// A number that every lane has; false for what is no constant, and for nan.
static bool constantNumber(MlirValue value, double *number) {
  return tileConstantFloat(value, number) && !isnan(*number);
}

//===--- The pattern -----------------------------------------------------===//

// a where the two are equal or one is nan.
static MlirValue larger(TileLanes *lanes, ArithCmpF predicate, MlirValue b, MlirValue a) {
  return tileLanesSelect(lanes, tileLanesIs(lanes, b, predicate, a), b, a);
}

// The relu asks "greater or nan": all that is not becomes +0.
static MlirValue withConstant(TileLanes *lanes, ArithCmpF predicate, MlirValue x, MlirValue constant, double number) {
  bool isRelu = number == 0 && predicate == ArithCmpF_Ogt && !signbit(number);
  return isRelu ? tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Ugt, constant), x, constant)
                : larger(lanes, predicate, constant, x);
}

static MlirValue ofNumbers(TileLanes *lanes, ArithCmpF predicate, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a), element = tileLanesElement(type);
  unsigned width = mlirFloatTypeGetWidth(element);
  MlirType bits = tileLanesLike(type, mlirIntegerTypeGet(lanes->builder.context, width));
  MlirValue first = arithBitcastOpBuild(&lanes->builder, bits, larger(lanes, predicate, b, a));
  MlirValue second = arithBitcastOpBuild(&lanes->builder, bits, larger(lanes, predicate, a, b));
  if (predicate == ArithCmpF_Olt)
    return arithBitcastOpBuild(&lanes->builder, type, arithOrIOpBuild(&lanes->builder, first, second));
  MlirValue magnitude = tileBuildInteger(&lanes->builder, bits, INT64_MAX >> (64 - width));
  MlirValue rest = arithAndIOpBuild(&lanes->builder, arithOrIOpBuild(&lanes->builder, first, second), magnitude);
  MlirValue both = arithAndIOpBuild(&lanes->builder, first, second);
  return arithBitcastOpBuild(&lanes->builder, type, arithOrIOpBuild(&lanes->builder, both, rest));
}

// Reductions put what they have so far first: the test is of what comes.
static MlirValue withoutSignOfZero(TileLanes *lanes, ArithCmpF predicate, MlirValue a, MlirValue b) {
  MlirValue nan = tileBuildFloat(&lanes->builder, mlirValueGetType(a), NAN); // not b: LLVM would join the two selects
  return tileLanesSelect(lanes, tileLanesIs(lanes, b, ArithCmpF_Uno, b), nan, larger(lanes, predicate, b, a));
}

MlirLogicalResult tileExpandExtremum(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *userData) {
  MlirType type = tileOnlyResultType(op);
  if (mlirTypeIsATensor(type) || (mlirTypeIsAVector(type) && mlirVectorTypeIsScalable(type)))
    return mlirLogicalResultFailure();
  TileLanes lanes = tileLanesOf(tileBuilderInPattern(rewriter, op), type);
  MlirValue a = tileBinaryLhs(op), b = tileBinaryRhs(op), result;
  ArithCmpF predicate = arithMaximumFOpIsA(op) ? ArithCmpF_Ogt : ArithCmpF_Olt;
  double number = 0;
  bool isLeft = !constantNumber(b, &number) && constantNumber(a, &number);
  bool isConstant = isLeft || constantNumber(b, &number);
  if (isConstant && !(number == 0 && signbit(number) && predicate == ArithCmpF_Olt))
    result = withConstant(&lanes, predicate, isLeft ? b : a, isLeft ? a : b, number);
  else if (tileOpAllows(op, TileFastMath_NoSignedZeros))
    result = withoutSignOfZero(&lanes, predicate, a, b);
  else
    result = ofNumbers(&lanes, predicate, a, b);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}
