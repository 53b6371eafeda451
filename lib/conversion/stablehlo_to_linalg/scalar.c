// StableHLO's ops on elements, as ops of arith and math on scalars, with XLA's values where arith leaves them open:
// shifts by the width or more, division by zero, floats that no integer is near to.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

//===--- words ------------------------------------------------------------------===//

static MlirValue binary(Hlo *h, TileUpstream kind, MlirValue a, MlirValue b) {
  return tileBuildBinary(&h->b, kind, a, b);
}
static MlirValue unary(Hlo *h, TileUpstream kind, MlirValue a) { return tileBuildUnary(&h->b, kind, a); }
static MlirValue integer(Hlo *h, MlirValue like, int64_t value) {
  return tileBuildInteger(&h->b, mlirValueGetType(like), value);
}
static MlirValue number(Hlo *h, MlirValue like, double value) {
  return tileBuildFloat(&h->b, mlirValueGetType(like), value);
}
static MlirValue compareI(Hlo *h, ArithCmpI predicate, MlirValue a, MlirValue b) {
  return arithCmpIOpBuild(&h->b, a, b, predicate);
}
static MlirValue compareF(Hlo *h, ArithCmpF predicate, MlirValue a, MlirValue b) {
  return arithCmpFOpBuild(&h->b, a, b, predicate);
}
static unsigned widthOf(MlirValue value) { return tileElementWidth(mlirValueGetType(value)); }
static bool isFloat(MlirValue value) { return mlirTypeIsAFloat(mlirValueGetType(value)); }
static bool isPredicate(MlirValue value) { return !isFloat(value) && widthOf(value) == 1; }

//===--- integers -----------------------------------------------------------------===//

// A divisor known to be neither 0 nor -1 needs no care.
static bool isSafe(MlirValue divisor) {
  int64_t value;
  return tileConstantIndex(divisor, &value) && value != 0 && value != -1;
}

static MlirValue divide(Hlo *h, MlirValue a, MlirValue b, bool isUnsigned, bool remainder) {
  TileUpstream kind =
      remainder ? (isUnsigned ? ArithOp_RemUI : ArithOp_RemSI) : (isUnsigned ? ArithOp_DivUI : ArithOp_DivSI);
  if (isSafe(b))
    return binary(h, kind, a, b);
  MlirValue one = integer(h, a, 1), zero = integer(h, a, 0), ones = integer(h, a, -1);
  MlirValue isZero = compareI(h, ArithCmpI_Eq, b, zero), isMinus = {NULL}, special = isZero;
  if (!isUnsigned) {
    isMinus = compareI(h, ArithCmpI_Eq, b, ones);
    special = binary(h, ArithOp_OrI, isZero, isMinus);
  }
  MlirValue result = binary(h, kind, a, hloSelect(h, special, one, b));
  if (remainder) // that by 1 is 0, as is that by -1
    return hloSelect(h, isZero, a, result);
  if (!isUnsigned)
    result = hloSelect(h, isMinus, binary(h, ArithOp_SubI, zero, a), result);
  return hloSelect(h, isZero, ones, result);
}

static MlirValue shift(Hlo *h, StablehloOp op, MlirValue a, MlirValue by) {
  MlirValue width = integer(h, a, widthOf(a)), zero = integer(h, a, 0);
  if (op == StablehloOp_ShiftRightArithmetic)
    return binary(h, ArithOp_ShRSI, a, binary(h, ArithOp_MinUI, by, integer(h, a, widthOf(a) - 1)));
  MlirValue isIn = compareI(h, ArithCmpI_Ult, by, width);
  MlirValue shifted =
      binary(h, op == StablehloOp_ShiftLeft ? ArithOp_ShLI : ArithOp_ShRUI, a, hloSelect(h, isIn, by, zero));
  return hloSelect(h, isIn, shifted, zero);
}

// By squaring. A negative exponent leaves the integer part: 1 of 1, 1 or -1 of -1, else 0.
static MlirValue power(Hlo *h, MlirValue base, MlirValue exponent, bool isUnsigned) {
  MlirValue result = integer(h, base, 1), one = result, zero = integer(h, base, 0), square = base;
  for (unsigned bit = 0; bit < widthOf(base); ++bit) {
    MlirValue isSet = compareI(
        h, ArithCmpI_Ne, binary(h, ArithOp_AndI, exponent, integer(h, base, (int64_t)(UINT64_C(1) << bit))), zero);
    result = hloSelect(h, isSet, binary(h, ArithOp_MulI, result, square), result);
    square = binary(h, ArithOp_MulI, square, square);
  }
  if (isUnsigned)
    return result;
  MlirValue isNegative = compareI(h, ArithCmpI_Slt, exponent, zero), minus = integer(h, base, -1);
  MlirValue isOdd = compareI(h, ArithCmpI_Ne, binary(h, ArithOp_AndI, exponent, one), zero);
  MlirValue ofMinus = hloSelect(h, isOdd, minus, one);
  MlirValue inverse = hloSelect(h, compareI(h, ArithCmpI_Eq, base, minus), ofMinus,
                                hloSelect(h, compareI(h, ArithCmpI_Eq, base, one), one, zero));
  return hloSelect(h, isNegative, inverse, result);
}

static MlirValue sign(Hlo *h, MlirValue a, bool isUnsigned) {
  if (isFloat(a)) {
    MlirValue isKept = compareF(h, ArithCmpF_Ueq, a, number(h, a, 0)); // zeros and nan
    return hloSelect(h, isKept, a, binary(h, MathOp_CopySign, number(h, a, 1), a));
  }
  MlirValue zero = integer(h, a, 0);
  MlirValue above = compareI(h, isUnsigned ? ArithCmpI_Ugt : ArithCmpI_Sgt, a, zero);
  MlirValue positive = hloSelect(h, above, integer(h, a, 1), zero);
  return isUnsigned ? positive : hloSelect(h, compareI(h, ArithCmpI_Slt, a, zero), integer(h, a, -1), positive);
}

//===--- comparisons ----------------------------------------------------------------===//

// Integers whose signed order is the total order of the floats.
static MlirValue orderOf(Hlo *h, MlirValue a) {
  unsigned width = widthOf(a);
  MlirValue bits = tileBuildCast(&h->b, ArithOp_Bitcast, a, mlirIntegerTypeGet(h->b.context, width));
  MlirValue sign = binary(h, ArithOp_ShRSI, bits, integer(h, bits, width - 1));
  int64_t rest = (int64_t)((UINT64_C(1) << (width - 1)) - 1);
  return binary(h, ArithOp_XOrI, bits, binary(h, ArithOp_AndI, sign, integer(h, bits, rest)));
}

static MlirValue compare(Hlo *h, StablehloDirection direction, bool total, bool isUnsigned, MlirValue a, MlirValue b) {
  static const ArithCmpF floats[] = {ArithCmpF_Oeq, ArithCmpF_Une, ArithCmpF_Oge,
                                     ArithCmpF_Ogt, ArithCmpF_Ole, ArithCmpF_Olt};
  static const ArithCmpI integers[][6] = {
      {ArithCmpI_Eq, ArithCmpI_Ne, ArithCmpI_Sge, ArithCmpI_Sgt, ArithCmpI_Sle, ArithCmpI_Slt},
      {ArithCmpI_Eq, ArithCmpI_Ne, ArithCmpI_Uge, ArithCmpI_Ugt, ArithCmpI_Ule, ArithCmpI_Ult}};
  if (!isFloat(a))
    return compareI(h, integers[isUnsigned][direction], a, b);
  if (!total)
    return compareF(h, floats[direction], a, b);
  return compareI(h, integers[0][direction], orderOf(h, a), orderOf(h, b));
}

static HloValue compareOp(Hlo *h, MlirOperation op, const HloValue *operands) {
  MlirAttribute kind = stablehloCompareOpGetCompareType(op);
  StablehloDirection direction = stablehloWordOf(stablehloCompareOpGetComparisonDirection(op));
  bool total = !mlirAttributeIsNull(kind) && stablehloWordOf(kind) == StablehloComparison_TotalOrder;
  bool isUnsigned = hloIsUnsigned(hloShape(stablehloCompareOpGetLhs(op)).element);
  MlirValue parts[2];
  for (int i = 0; i < operands[0].count; ++i)
    parts[i] = compare(h, direction, total, isUnsigned, operands[0].parts[i], operands[1].parts[i]);
  if (operands[0].count == 1)
    return (HloValue){1, {parts[0]}};
  return (HloValue){1,
                    {binary(h, direction == StablehloDirection_EQ ? ArithOp_AndI : ArithOp_OrI, parts[0], parts[1])}};
}

//===--- conversions ------------------------------------------------------------------===//

static MlirValue cast(Hlo *h, TileUpstream kind, MlirValue value, MlirType type) {
  return tileBuildCast(&h->b, kind, value, type);
}

static MlirValue floatToFloat(Hlo *h, MlirValue value, MlirType type) {
  unsigned from = widthOf(value), to = tileElementWidth(type);
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  if (from == to || (from < 32 && to < 32)) { // no op between formats of one width, nor between small ones
    value = cast(h, ArithOp_ExtF, value, mlirF32TypeGet(h->b.context));
    from = 32;
  }
  return cast(h, from < to ? ArithOp_ExtF : ArithOp_TruncF, value, type);
}

static MlirValue floatToInteger(Hlo *h, MlirValue value, MlirType type, bool isUnsigned) {
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (widthOf(value) < 32)
    value = cast(h, ArithOp_ExtF, value, mlirF32TypeGet(h->b.context));
  double low = isUnsigned ? 0 : -ldexp(1, (int)width - 1), high = ldexp(1, (int)width - !isUnsigned);
  int64_t least = isUnsigned ? 0 : (int64_t)(UINT64_MAX << (width - 1));
  int64_t most = (int64_t)(UINT64_MAX >> (64 - width + !isUnsigned));
  MlirValue isHigh = compareF(h, ArithCmpF_Oge, value, number(h, value, high));
  MlirValue isLow = compareF(h, ArithCmpF_Ole, value, number(h, value, low));
  MlirValue isNan = compareF(h, ArithCmpF_Uno, value, value), zero = tileBuildInteger(&h->b, type, 0);
  MlirValue special = binary(h, ArithOp_OrI, binary(h, ArithOp_OrI, isHigh, isLow), isNan);
  MlirValue safe = hloSelect(h, special, number(h, value, 0), value);
  MlirValue result = cast(h, isUnsigned ? ArithOp_FPToUI : ArithOp_FPToSI, safe, type);
  result = hloSelect(h, isHigh, tileBuildInteger(&h->b, type, most), result);
  result = hloSelect(h, isLow, tileBuildInteger(&h->b, type, least), result);
  return hloSelect(h, isNan, zero, result);
}

static MlirValue convert(Hlo *h, MlirValue value, bool fromUnsigned, MlirType type, bool toUnsigned) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeIsAFloat(type))
    return mlirTypeIsAFloat(from) ? floatToFloat(h, value, type)
                                  : cast(h, fromUnsigned ? ArithOp_UIToFP : ArithOp_SIToFP, value, type);
  if (mlirIntegerTypeGetWidth(type) == 1)
    return mlirTypeIsAFloat(from) ? compareF(h, ArithCmpF_Une, value, number(h, value, 0))
                                  : compareI(h, ArithCmpI_Ne, value, integer(h, value, 0));
  if (mlirTypeIsAFloat(from))
    return floatToInteger(h, value, type, toUnsigned);
  unsigned wide = mlirIntegerTypeGetWidth(from), narrow = mlirIntegerTypeGetWidth(type);
  if (wide == narrow)
    return value;
  return cast(h, wide > narrow ? ArithOp_TruncI : fromUnsigned ? ArithOp_ExtUI : ArithOp_ExtSI, value, type);
}

static HloValue convertOp(Hlo *h, MlirOperation op, const HloValue *operands) {
  MlirType from = hloShape(tileOnlyOperand(op)).element, to = hloShape(tileOnlyResult(op)).element;
  HloValue result = {hloIsComplex(to) ? 2 : 1, {{NULL}}};
  if (!hloIsComplex(to) && hloIsComplex(from) && mlirTypeIsAInteger(to) && mlirIntegerTypeGetWidth(to) == 1) {
    MlirValue re = convert(h, operands->parts[0], false, to, true);
    return (HloValue){1, {binary(h, ArithOp_OrI, re, convert(h, operands->parts[1], false, to, true))}};
  }
  for (int i = 0; i < result.count; ++i)
    result.parts[i] = i < operands->count
                          ? convert(h, operands->parts[i], hloIsUnsigned(from), hloElement(to), hloIsUnsigned(to))
                          : number(h, result.parts[0], 0);
  return result;
}

// XLA's: rounds to even, what is too large becomes infinite and what is too small 0; nan stays.
static MlirValue reducePrecision(Hlo *h, MlirOperation op, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  unsigned width = widthOf(value), mantissa = mlirFloatTypeGetWidth(type) == 64 ? 52 : 23;
  if (width < 32) { // every small format is a part of f32
    MlirValue wide = cast(h, ArithOp_ExtF, value, mlirF32TypeGet(h->b.context));
    return floatToFloat(h, reducePrecision(h, op, wide), type);
  }
  unsigned exponent = width - 1 - mantissa;
  unsigned toExponent = (unsigned)stablehloReducePrecisionOpGetExponentBitsValue(op);
  unsigned toMantissa = (unsigned)stablehloReducePrecisionOpGetMantissaBitsValue(op);
  MlirType bitsType = mlirIntegerTypeGet(h->b.context, width);
  MlirValue bits = cast(h, ArithOp_Bitcast, value, bitsType);
  uint64_t signMask = UINT64_C(1) << (width - 1), exponentMask = ((UINT64_C(1) << exponent) - 1) << mantissa;
  if (toMantissa < mantissa) {
    uint64_t last = UINT64_C(1) << (mantissa - toMantissa);
    MlirValue isOdd = binary(h, ArithOp_ShRUI, binary(h, ArithOp_AndI, bits, integer(h, bits, (int64_t)last)),
                             integer(h, bits, mantissa - toMantissa));
    MlirValue bias = binary(h, ArithOp_AddI, isOdd, integer(h, bits, (int64_t)((last >> 1) - 1)));
    bits = binary(h, ArithOp_AndI, binary(h, ArithOp_AddI, bits, bias), integer(h, bits, (int64_t)~(last - 1)));
  }
  if (toExponent < exponent) {
    uint64_t bias = (UINT64_C(1) << (exponent - 1)) - 1, toBias = (UINT64_C(1) << (toExponent - 1)) - 1;
    MlirValue seen = binary(h, ArithOp_AndI, bits, integer(h, bits, (int64_t)exponentMask));
    MlirValue isHigh = compareI(h, ArithCmpI_Ugt, seen, integer(h, bits, (int64_t)((bias + toBias) << mantissa)));
    MlirValue isLow = compareI(h, ArithCmpI_Ule, seen, integer(h, bits, (int64_t)((bias - toBias) << mantissa)));
    MlirValue zero = binary(h, ArithOp_AndI, bits, integer(h, bits, (int64_t)signMask));
    MlirValue infinite = binary(h, ArithOp_OrI, zero, integer(h, bits, (int64_t)exponentMask));
    bits = hloSelect(h, isLow, zero, hloSelect(h, isHigh, infinite, bits));
  }
  MlirValue isNan = compareF(h, ArithCmpF_Uno, value, value);
  return hloSelect(h, isNan, value, cast(h, ArithOp_Bitcast, bits, type));
}

//===--- floats and their integers by table ------------------------------------------------===//

typedef struct Row {
  StablehloOp op;
  TileUpstream real, integer, predicate;
} Row;
static const Row rows[] = {
    {StablehloOp_Cbrt, MathOp_Cbrt, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Ceil, MathOp_Ceil, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Cosine, MathOp_Cos, TileUpstream_None, TileUpstream_None},
    {StablehloOp_CountLeadingZeros, TileUpstream_None, MathOp_CountLeadingZeros, TileUpstream_None},
    {StablehloOp_Exponential, MathOp_Exp, TileUpstream_None, TileUpstream_None},
    {StablehloOp_ExponentialMinusOne, MathOp_ExpM1, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Floor, MathOp_Floor, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Log, MathOp_Log, TileUpstream_None, TileUpstream_None},
    {StablehloOp_LogPlusOne, MathOp_Log1p, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Popcnt, TileUpstream_None, MathOp_CtPop, TileUpstream_None},
    {StablehloOp_RoundNearestAfz, MathOp_Round, TileUpstream_None, TileUpstream_None},
    {StablehloOp_RoundNearestEven, MathOp_RoundEven, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Rsqrt, MathOp_Rsqrt, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Sine, MathOp_Sin, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Sqrt, MathOp_Sqrt, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Tan, MathOp_Tan, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Tanh, MathOp_Tanh, TileUpstream_None, TileUpstream_None},
    {StablehloOp_Add, ArithOp_AddF, ArithOp_AddI, ArithOp_OrI},
    {StablehloOp_Subtract, ArithOp_SubF, ArithOp_SubI, ArithOp_XOrI},
    {StablehloOp_Multiply, ArithOp_MulF, ArithOp_MulI, ArithOp_AndI},
    {StablehloOp_And, TileUpstream_None, ArithOp_AndI, ArithOp_AndI},
    {StablehloOp_Or, TileUpstream_None, ArithOp_OrI, ArithOp_OrI},
    {StablehloOp_Xor, TileUpstream_None, ArithOp_XOrI, ArithOp_XOrI},
    {StablehloOp_Atan2, MathOp_Atan2, TileUpstream_None, TileUpstream_None},
};

static TileUpstream byTable(StablehloOp op, MlirValue value) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].op == op)
      return isFloat(value) ? rows[i].real : isPredicate(value) ? rows[i].predicate : rows[i].integer;
  return TileUpstream_None;
}

static MlirValue extremum(Hlo *h, bool isMax, bool isUnsigned, MlirValue a, MlirValue b) {
  TileUpstream kind = isFloat(a)   ? (isMax ? ArithOp_MaximumF : ArithOp_MinimumF)
                      : isUnsigned ? (isMax ? ArithOp_MaxUI : ArithOp_MinUI)
                                   : (isMax ? ArithOp_MaxSI : ArithOp_MinSI);
  if (isPredicate(a))
    kind = isMax ? ArithOp_OrI : ArithOp_AndI;
  return binary(h, kind, a, b);
}

static MlirValue logistic(Hlo *h, MlirValue a) {
  MlirValue one = number(h, a, 1), e = unary(h, MathOp_Exp, unary(h, ArithOp_NegF, a));
  return binary(h, ArithOp_DivF, one, binary(h, ArithOp_AddF, one, e));
}

static MlirValue realOp(Hlo *h, MlirOperation op, const MlirValue *v) {
  StablehloOp kind = stablehloOpKind(op);
  bool isUnsigned = hloIsUnsigned(hloShape(tileFirstOperand(op)).element);
  TileUpstream known = byTable(kind, v[0]);
  if (known != TileUpstream_None)
    return mlirOperationGetNumOperands(op) == 1 ? unary(h, known, v[0]) : binary(h, known, v[0], v[1]);
  switch (kind) {
  case StablehloOp_Abs:
    if (isFloat(v[0]))
      return unary(h, MathOp_AbsF, v[0]);
    return isUnsigned ? v[0]
                      : hloSelect(h, compareI(h, ArithCmpI_Slt, v[0], integer(h, v[0], 0)),
                                  binary(h, ArithOp_SubI, integer(h, v[0], 0), v[0]), v[0]);
  case StablehloOp_Negate:
    return isFloat(v[0]) ? unary(h, ArithOp_NegF, v[0]) : binary(h, ArithOp_SubI, integer(h, v[0], 0), v[0]);
  case StablehloOp_Not:
    return binary(h, ArithOp_XOrI, v[0], integer(h, v[0], -1));
  case StablehloOp_Sign:
    return sign(h, v[0], isUnsigned);
  case StablehloOp_Logistic:
    return logistic(h, v[0]);
  case StablehloOp_Divide:
    return isFloat(v[0]) ? binary(h, ArithOp_DivF, v[0], v[1]) : divide(h, v[0], v[1], isUnsigned, false);
  case StablehloOp_Remainder:
    return isFloat(v[0]) ? binary(h, ArithOp_RemF, v[0], v[1]) : divide(h, v[0], v[1], isUnsigned, true);
  case StablehloOp_Maximum:
  case StablehloOp_Minimum:
    return extremum(h, kind == StablehloOp_Maximum, isUnsigned, v[0], v[1]);
  case StablehloOp_Power:
    return isFloat(v[0]) ? binary(h, MathOp_PowF, v[0], v[1]) : power(h, v[0], v[1], isUnsigned);
  case StablehloOp_ShiftLeft:
  case StablehloOp_ShiftRightArithmetic:
  case StablehloOp_ShiftRightLogical:
    return shift(h, kind, v[0], v[1]);
  case StablehloOp_IsFinite:
    return compareF(h, ArithCmpF_Olt, unary(h, MathOp_AbsF, v[0]), number(h, v[0], INFINITY));
  case StablehloOp_ReducePrecision:
    return reducePrecision(h, op, v[0]);
  case StablehloOp_Clamp:
    return extremum(h, false, isUnsigned, extremum(h, true, isUnsigned, v[1], v[0]), v[2]);
  default:
    return (MlirValue){NULL};
  }
}

//===--- all ----------------------------------------------------------------------------===//

bool hloIsElementwise(MlirOperation op) {
  if (chloOpKind(op) != ChloOp_None)
    return !chloTopKOpIsA(op);
  switch (stablehloOpKind(op)) {
  case StablehloOp_BitcastConvert:
    return stablehloElementBits(hloShape(tileOnlyOperand(op)).element) ==
           stablehloElementBits(hloShape(tileOnlyResult(op)).element);
  default:
    return stablehloOpKind(op) != StablehloOp_None && stablehloOpKind(op) <= StablehloOp_Clamp;
  }
}

HloValue hloScalarOp(Hlo *h, MlirOperation op, const HloValue *operands) {
  StablehloOp kind = stablehloOpKind(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  HloValue result = {1, {{NULL}}};
  MlirValue values[3];
  for (intptr_t i = 0; i < count; ++i)
    values[i] = operands[i].parts[0];
  switch (kind) {
  case StablehloOp_Compare:
    return compareOp(h, op, operands);
  case StablehloOp_Convert:
    return convertOp(h, op, operands);
  case StablehloOp_Complex:
    return (HloValue){2, {values[0], values[1]}};
  case StablehloOp_Real:
    return (HloValue){1, {values[0]}};
  case StablehloOp_Imag:
    return (HloValue){1, {operands->count == 2 ? operands->parts[1] : number(h, values[0], 0)}};
  case StablehloOp_Select:
    result.count = operands[1].count;
    for (int i = 0; i < result.count; ++i)
      result.parts[i] = hloSelect(h, values[0], operands[1].parts[i], operands[2].parts[i]);
    return result;
  case StablehloOp_BitcastConvert:
    result.count = operands->count;
    for (int i = 0; i < result.count; ++i) {
      MlirType type = hloElement(hloShape(tileOnlyResult(op)).element);
      bool isSame = mlirTypeEqual(type, mlirValueGetType(operands->parts[i]));
      result.parts[i] = isSame ? operands->parts[i] : cast(h, ArithOp_Bitcast, operands->parts[i], type);
    }
    return result;
  default:
    break;
  }
  if (operands->count == 2)
    return hloComplexOp(h, op, operands);
  result.parts[0] = kind == StablehloOp_None ? hloFunction(h, op, values) : realOp(h, op, values);
  if (!mlirValueIsNull(result.parts[0]))
    return result;
  tileError(op, "cannot be converted to linalg for elements of this type");
  return (HloValue){0};
}
