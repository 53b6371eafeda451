// Arithmetic, comparisons, conversions of elements. Rounding modes that arith cannot say are errors. Modes
// that allow less accuracy (approx, full) give the accurate function.
#include "lib/conversion/cuda_tile_to_tt/cuda_tile_kernel.h"

#include "upstream/arith.h"
#include "upstream/math.h"

//===--- modes --------------------------------------------------------------------------===//

static bool isAccurate(MlirOperation op, MlirAttribute mode, const char *also) {
  if (mlirAttributeIsNull(mode) || cudaTileWordIs(mode, "nearest_even") || cudaTileWordIs(mode, "approx") ||
      cudaTileWordIs(mode, "full") || cudaTileWordIs(mode, also))
    return true;
  MlirStringRef word = mlirStringAttrGetValue(mode);
  return tileError(op, "rounds %.*s, expected nearest_even, approx or full", (int)word.length, word.data);
}

static bool isSigned(MlirAttribute word) { return cudaTileWordIs(word, "signed"); }

//===--- building ------------------------------------------------------------------------===//

static bool set(CudaTileKernel *k, MlirOperation op, MlirValue value) {
  cudaTileSet(k, tileOnlyResult(op), value);
  return true;
}

// Subnormal numbers become zeros of their sign, where the op flushes them.
static MlirValue flushed(CudaTileKernel *k, MlirValue x, bool flushes) {
  MlirType type = mlirValueGetType(x), element = cudaTileElement(type);
  if (!flushes)
    return x;
  MlirValue least = cudaTileSplat(k, tileBuildFloat(&k->b, element, 0x1p-126), type);
  MlirValue zero = cudaTileSplat(k, tileBuildFloat(&k->b, element, 0), type);
  MlirValue isTiny = arithCmpFOpBuild(&k->b, tileBuildUnary(&k->b, MathOp_AbsF, x), least, ArithCmpF_Olt);
  return arithSelectOpBuild(&k->b, isTiny, tileBuildBinary(&k->b, ArithOp_MulF, x, zero), x);
}

static bool mayFlush(MlirOperation op, bool flushes) {
  return !flushes || mlirTypeIsAF32(cudaTileElement(tileOnlyResultType(op))) ||
         tileError(op, "flushes subnormal numbers of %s, expected f32",
                   tileTypeText(cudaTileElement(tileOnlyResultType(op)), (char[32]){0}, 32));
}

static bool unary(CudaTileKernel *k, MlirOperation op, TileUpstream kind, bool flushes) {
  MlirValue x = cudaTileGet(k, tileFirstOperand(op));
  return !mlirValueIsNull(x) && mayFlush(op, flushes) &&
         set(k, op, flushed(k, tileBuildUnary(&k->b, kind, flushed(k, x, flushes)), flushes));
}

static bool binary(CudaTileKernel *k, MlirOperation op, TileUpstream kind, bool flushes) {
  MlirValue x = cudaTileGet(k, tileBinaryLhs(op)), y = cudaTileGet(k, tileBinaryRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y) || !mayFlush(op, flushes))
    return false;
  MlirValue left = flushed(k, x, flushes), right = flushed(k, y, flushes);
  return set(k, op, flushed(k, tileBuildBinary(&k->b, kind, left, right), flushes));
}

static bool castTo(CudaTileKernel *k, MlirOperation op, TileUpstream kind) {
  MlirValue x = cudaTileGet(k, tileFirstOperand(op));
  MlirType type = cudaTileConvertType(tileOnlyResultType(op));
  return !mlirValueIsNull(x) && set(k, op, tileBuildCast(&k->b, kind, x, type));
}

static MlirValue zeroLike(CudaTileKernel *k, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  return cudaTileSplat(k, tileBuildInteger(&k->b, cudaTileElement(type), 0), type);
}

static bool negate(CudaTileKernel *k, MlirOperation op) {
  MlirValue x = cudaTileGet(k, tileFirstOperand(op));
  return !mlirValueIsNull(x) && set(k, op, tileBuildBinary(&k->b, ArithOp_SubI, zeroLike(k, x), x));
}

//===--- tables ----------------------------------------------------------------------------===//

static TileUpstream plainKind(MlirOperation op) {
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_AbsI:
    return MathOp_AbsI;
  case CudaTileOp_AbsF:
    return MathOp_AbsF;
  case CudaTileOp_NegF:
    return ArithOp_NegF;
  case CudaTileOp_Ceil:
    return MathOp_Ceil;
  case CudaTileOp_Floor:
    return MathOp_Floor;
  case CudaTileOp_Log:
    return MathOp_Log;
  case CudaTileOp_Log2:
    return MathOp_Log2;
  case CudaTileOp_Sin:
    return MathOp_Sin;
  case CudaTileOp_Cos:
    return MathOp_Cos;
  case CudaTileOp_Tan:
    return MathOp_Tan;
  case CudaTileOp_SinH:
    return MathOp_Sinh;
  case CudaTileOp_CosH:
    return MathOp_Cosh;
  case CudaTileOp_AddI:
    return ArithOp_AddI;
  case CudaTileOp_SubI:
    return ArithOp_SubI;
  case CudaTileOp_MulI:
    return ArithOp_MulI;
  case CudaTileOp_ShLI:
    return ArithOp_ShLI;
  case CudaTileOp_AndI:
    return ArithOp_AndI;
  case CudaTileOp_OrI:
    return ArithOp_OrI;
  case CudaTileOp_XOrI:
    return ArithOp_XOrI;
  case CudaTileOp_RemF:
    return ArithOp_RemF;
  case CudaTileOp_FPowF:
    return MathOp_PowF;
  case CudaTileOp_FPowI:
    return MathOp_FPowI;
  case CudaTileOp_Atan2:
    return MathOp_Atan2;
  default:
    return TileUpstream_None;
  }
}

// Quotients that round down or up, which Triton does not have: the quotient toward zero is one too great, or one too
// small, if there is a remainder and the signs differ, or agree.
MlirValue cudaTileRoundQuotient(CudaTileKernel *k, MlirValue x, MlirValue y, bool sign, bool up) {
  MlirType type = mlirValueGetType(x);
  MlirValue quotient = tileBuildBinary(&k->b, sign ? ArithOp_DivSI : ArithOp_DivUI, x, y);
  MlirValue rest = tileBuildBinary(&k->b, sign ? ArithOp_RemSI : ArithOp_RemUI, x, y), zero = zeroLike(k, x);
  MlirValue moves = arithCmpIOpBuild(&k->b, rest, zero, ArithCmpI_Ne);
  if (sign) {
    MlirValue signs = tileBuildBinary(&k->b, ArithOp_XOrI, x, y);
    MlirValue match = arithCmpIOpBuild(&k->b, signs, zero, up ? ArithCmpI_Sge : ArithCmpI_Slt);
    moves = tileBuildBinary(&k->b, ArithOp_AndI, moves, match);
  }
  MlirValue one = tileBuildCast(&k->b, ArithOp_ExtUI, moves, type);
  return tileBuildBinary(&k->b, up ? ArithOp_AddI : ArithOp_SubI, quotient, one);
}

static bool divide(CudaTileKernel *k, MlirOperation op) {
  MlirAttribute rounding = cudaTileDivIOpGetRounding(op);
  bool sign = isSigned(cudaTileDivIOpGetSignedness(op)), up = cudaTileWordIs(rounding, "positive_inf");
  if (cudaTileWordIs(rounding, "zero") || (cudaTileWordIs(rounding, "negative_inf") && !sign))
    return binary(k, op, sign ? ArithOp_DivSI : ArithOp_DivUI, false);
  if (!up && !cudaTileWordIs(rounding, "negative_inf"))
    return tileError(op, "rounds in a way that integers do not, expected zero, negative_inf or positive_inf");
  MlirValue x = cudaTileGet(k, tileBinaryLhs(op)), y = cudaTileGet(k, tileBinaryRhs(op));
  return !mlirValueIsNull(x) && !mlirValueIsNull(y) && set(k, op, cudaTileRoundQuotient(k, x, y, sign, up));
}

static bool maximum(CudaTileKernel *k, MlirOperation op) {
  bool isMax = cudaTileMaxFOpIsA(op);
  bool nan = isMax ? cudaTileMaxFOpHasPropagateNan(op) : cudaTileMinFOpHasPropagateNan(op);
  bool flushes = isMax ? cudaTileMaxFOpHasFlushToZero(op) : cudaTileMinFOpHasFlushToZero(op);
  TileUpstream kind = isMax ? (nan ? ArithOp_MaximumF : ArithOp_MaxNumF) : (nan ? ArithOp_MinimumF : ArithOp_MinNumF);
  return binary(k, op, kind, flushes);
}

static bool multiplyAndAdd(CudaTileKernel *k, MlirOperation op) {
  MlirValue x = cudaTileGet(k, cudaTileFmaOpGetLhs(op)), y = cudaTileGet(k, cudaTileFmaOpGetRhs(op));
  MlirValue z = cudaTileGet(k, cudaTileFmaOpGetAcc(op));
  bool flushes = cudaTileFmaOpHasFlushToZero(op);
  if (mlirValueIsNull(x) || mlirValueIsNull(y) || mlirValueIsNull(z) || !mayFlush(op, flushes) ||
      !isAccurate(op, cudaTileFmaOpGetRoundingMode(op), ""))
    return false;
  x = flushed(k, x, flushes);
  y = flushed(k, y, flushes);
  z = flushed(k, z, flushes);
  return set(k, op, flushed(k, mathFmaOpBuild(&k->b, x, y, z), flushes));
}

//===--- comparisons -------------------------------------------------------------------------===//

// Where a word stands among the predicates of cuda_tile: equal, not equal, less, less or equal, greater, …
static int predicateOf(MlirAttribute word) {
  const char *const *words = cudaTileWordsOf("predicate");
  int at = 0;
  while (words[at] && !cudaTileWordIs(word, words[at]))
    ++at;
  return at;
}

static bool compareIntegers(CudaTileKernel *k, MlirOperation op) {
  static const ArithCmpI predicates[][2] = {// unsigned, signed
                                            {ArithCmpI_Eq, ArithCmpI_Eq},   {ArithCmpI_Ne, ArithCmpI_Ne},
                                            {ArithCmpI_Ult, ArithCmpI_Slt}, {ArithCmpI_Ule, ArithCmpI_Sle},
                                            {ArithCmpI_Ugt, ArithCmpI_Sgt}, {ArithCmpI_Uge, ArithCmpI_Sge}};
  MlirValue x = cudaTileGet(k, cudaTileCmpIOpGetLhs(op)), y = cudaTileGet(k, cudaTileCmpIOpGetRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  ArithCmpI predicate =
      predicates[predicateOf(cudaTileCmpIOpGetComparisonPredicate(op))][isSigned(cudaTileCmpIOpGetSignedness(op))];
  return set(k, op, arithCmpIOpBuild(&k->b, x, y, predicate));
}

static bool compareFloats(CudaTileKernel *k, MlirOperation op) {
  static const ArithCmpF predicates[][2] = {// unordered, ordered
                                            {ArithCmpF_Ueq, ArithCmpF_Oeq}, {ArithCmpF_Une, ArithCmpF_One},
                                            {ArithCmpF_Ult, ArithCmpF_Olt}, {ArithCmpF_Ule, ArithCmpF_Ole},
                                            {ArithCmpF_Ugt, ArithCmpF_Ogt}, {ArithCmpF_Uge, ArithCmpF_Oge}};
  MlirValue x = cudaTileGet(k, cudaTileCmpFOpGetLhs(op)), y = cudaTileGet(k, cudaTileCmpFOpGetRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  ArithCmpF predicate = predicates[predicateOf(cudaTileCmpFOpGetComparisonPredicate(op))]
                                  [cudaTileWordIs(cudaTileCmpFOpGetComparisonOrdering(op), "ordered")];
  return set(k, op, arithCmpFOpBuild(&k->b, x, y, predicate));
}

static bool choose(CudaTileKernel *k, MlirOperation op) {
  MlirValue condition = cudaTileGet(k, cudaTileSelectOpGetCond(op));
  MlirValue yes = cudaTileGet(k, cudaTileSelectOpGetValIfTrue(op)),
            no = cudaTileGet(k, cudaTileSelectOpGetValIfFalse(op));
  return !mlirValueIsNull(condition) && !mlirValueIsNull(yes) && !mlirValueIsNull(no) &&
         set(k, op, arithSelectOpBuild(&k->b, condition, yes, no));
}

//===--- conversions of elements ---------------------------------------------------------------===//

static unsigned widthOf(MlirType tile) { return tileElementWidth(cudaTileElement(tile)); }

// arith widens and narrows to the nearest; other conversions are tt's.
static bool convertFloat(CudaTileKernel *k, MlirOperation op) {
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op);
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  MlirType type = cudaTileConvertType(to);
  MlirAttribute mode = cudaTileFToFOpGetRoundingMode(op);
  if (mlirValueIsNull(x) || !isAccurate(op, mode, "zero"))
    return false;
  if (mlirTypeEqual(mlirValueGetType(x), type)) // f32 and tf32
    return set(k, op, x);
  bool cuts = cudaTileWordIs(mode, "zero");
  if (widthOf(from) <= 8 || widthOf(to) <= 8 || cuts)
    return set(k, op,
               tileOnlyResult(ttFpToFpOpCreate(&k->b, type, x,
                                               cudaTileI32(k, cuts ? TtRounding_TowardZero : TtRounding_NearestEven))));
  return set(
      k, op,
      tileBuildCast(&k->b, widthOf(mlirValueGetType(x)) < widthOf(type) ? ArithOp_ExtF : ArithOp_TruncF, x, type));
}

static bool convertToInteger(CudaTileKernel *k, MlirOperation op) {
  if (!isAccurate(op, cudaTileFToIOpGetRoundingMode(op), "nearest_int_to_zero"))
    return false;
  if (cudaTileFToIOpHasSaturating(op))
    return tileError(op, "saturates, which has no conversion to tt");
  return castTo(k, op, isSigned(cudaTileFToIOpGetSignedness(op)) ? ArithOp_FPToSI : ArithOp_FPToUI);
}

static bool convertInteger(CudaTileKernel *k, MlirOperation op) {
  return isAccurate(op, cudaTileIToFOpGetRoundingMode(op), "") &&
         castTo(k, op, isSigned(cudaTileIToFOpGetSignedness(op)) ? ArithOp_SIToFP : ArithOp_UIToFP);
}

static bool bitcast(CudaTileKernel *k, MlirOperation op) {
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op);
  if (widthOf(from) != widthOf(to))
    return tileError(op, "makes elements of %u bits of ones of %u, expected one width", widthOf(to), widthOf(from));
  MlirValue x = cudaTileGet(k, tileOnlyOperand(op));
  return !mlirValueIsNull(x) && set(k, op, ttBitcastOpBuild(&k->b, cudaTileConvertType(to), x));
}

//===--- all --------------------------------------------------------------------------------===//

#define ROUNDED(Op, operands, kind)                                                                                    \
  isAccurate(op, cudaTile##Op##OpGetRoundingMode(op), "") && operands(k, op, kind, cudaTile##Op##OpHasFlushToZero(op))

bool cudaTileArithmetic(void *kernel, MlirOperation op, bool *isKnown) {
  CudaTileKernel *k = kernel;
  TileUpstream plain = plainKind(op);
  *isKnown = true;
  if (plain != TileUpstream_None)
    return mlirOperationGetNumOperands(op) == 1 ? unary(k, op, plain, false) : binary(k, op, plain, false);
  switch (cudaTileOpKind(op)) {
  case CudaTileOp_AddF:
    return ROUNDED(AddF, binary, ArithOp_AddF);
  case CudaTileOp_SubF:
    return ROUNDED(SubF, binary, ArithOp_SubF);
  case CudaTileOp_MulF:
    return ROUNDED(MulF, binary, ArithOp_MulF);
  case CudaTileOp_DivF:
    return ROUNDED(DivF, binary, ArithOp_DivF);
  case CudaTileOp_Sqrt:
    return ROUNDED(Sqrt, unary, MathOp_Sqrt);
  case CudaTileOp_Exp:
    return isAccurate(op, cudaTileExpOpGetRoundingMode(op), "") && unary(k, op, MathOp_Exp, false);
  case CudaTileOp_TanH:
    return isAccurate(op, cudaTileTanHOpGetRoundingMode(op), "") && unary(k, op, MathOp_Tanh, false);
  case CudaTileOp_Exp2:
    return unary(k, op, MathOp_Exp2, cudaTileExp2OpHasFlushToZero(op));
  case CudaTileOp_Rsqrt:
    return unary(k, op, MathOp_Rsqrt, cudaTileRsqrtOpHasFlushToZero(op));
  case CudaTileOp_MaxF:
  case CudaTileOp_MinF:
    return maximum(k, op);
  case CudaTileOp_Fma:
    return multiplyAndAdd(k, op);
  case CudaTileOp_NegI:
    return negate(k, op);
  case CudaTileOp_MulhiI: {
    MlirValue x = cudaTileGet(k, cudaTileMulhiIOpGetX(op)), y = cudaTileGet(k, cudaTileMulhiIOpGetY(op));
    return !mlirValueIsNull(x) && !mlirValueIsNull(y) && set(k, op, ttMulhiUIOpBuild(&k->b, x, y));
  }
  case CudaTileOp_DivI:
    return divide(k, op);
  case CudaTileOp_RemI:
    return binary(k, op, isSigned(cudaTileRemIOpGetSignedness(op)) ? ArithOp_RemSI : ArithOp_RemUI, false);
  case CudaTileOp_MaxI:
    return binary(k, op, isSigned(cudaTileMaxIOpGetSignedness(op)) ? ArithOp_MaxSI : ArithOp_MaxUI, false);
  case CudaTileOp_MinI:
    return binary(k, op, isSigned(cudaTileMinIOpGetSignedness(op)) ? ArithOp_MinSI : ArithOp_MinUI, false);
  case CudaTileOp_ShRI:
    return binary(k, op, isSigned(cudaTileShRIOpGetSignedness(op)) ? ArithOp_ShRSI : ArithOp_ShRUI, false);
  case CudaTileOp_CmpI:
    return compareIntegers(k, op);
  case CudaTileOp_CmpF:
    return compareFloats(k, op);
  case CudaTileOp_Select:
    return choose(k, op);
  case CudaTileOp_ExtI:
    return castTo(k, op, isSigned(cudaTileExtIOpGetSignedness(op)) ? ArithOp_ExtSI : ArithOp_ExtUI);
  case CudaTileOp_TruncI:
    return castTo(k, op, ArithOp_TruncI);
  case CudaTileOp_FToF:
    return convertFloat(k, op);
  case CudaTileOp_FToI:
    return convertToInteger(k, op);
  case CudaTileOp_IToF:
    return convertInteger(k, op);
  case CudaTileOp_Bitcast:
    return bitcast(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
