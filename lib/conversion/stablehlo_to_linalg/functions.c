// CHLO's functions of floats: those of math by name, the others by the approximations that XLA uses.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

static MlirValue add(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_AddF, a, b); }
static MlirValue sub(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_SubF, a, b); }
static MlirValue mul(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_MulF, a, b); }
static MlirValue quotient(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_DivF, a, b); }
static MlirValue of(Hlo *h, TileUpstream kind, MlirValue a) { return tileBuildUnary(&h->b, kind, a); }
static MlirValue number(Hlo *h, MlirValue like, double value) {
  return tileBuildFloat(&h->b, mlirValueGetType(like), value);
}
static MlirValue compare(Hlo *h, ArithCmpF predicate, MlirValue a, double b) {
  return arithCmpFOpBuild(&h->b, a, number(h, a, b), predicate);
}

//===--- inverse error function (Giles 2010) ---------------------------------------===//

static MlirValue polynomial(Hlo *h, MlirValue x, const double *coefficients, int count) {
  MlirValue sum = number(h, x, coefficients[0]);
  for (int i = 1; i < count; ++i)
    sum = add(h, number(h, x, coefficients[i]), mul(h, sum, x));
  return sum;
}

static MlirValue erfInv(Hlo *h, MlirValue x) {
  static const double near[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static const double far[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                               -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  MlirValue w = of(h, ArithOp_NegF, of(h, MathOp_Log1p, of(h, ArithOp_NegF, mul(h, x, x))));
  MlirValue isNear = compare(h, ArithCmpF_Olt, w, 5);
  MlirValue inner = polynomial(h, sub(h, w, number(h, w, 2.5)), near, 9);
  MlirValue outer = polynomial(h, sub(h, of(h, MathOp_Sqrt, w), number(h, w, 3)), far, 9);
  MlirValue result = mul(h, hloSelect(h, isNear, inner, outer), x);
  if (tileElementWidth(mlirValueGetType(x)) == 64)
    for (int step = 0; step < 2; ++step) { // Newton's
      MlirValue error = sub(h, of(h, MathOp_Erf, result), x);
      MlirValue slope =
          mul(h, number(h, x, 2 / sqrt(M_PI)), of(h, MathOp_Exp, of(h, ArithOp_NegF, mul(h, result, result))));
      result = sub(h, result, quotient(h, error, slope));
    }
  MlirValue isEnd = compare(h, ArithCmpF_Oeq, of(h, MathOp_AbsF, x), 1);
  return hloSelect(h, isEnd, mul(h, x, number(h, x, INFINITY)), result);
}

//===--- gamma function (Lanczos 1964) -----------------------------------------------===//

static const double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                 771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                 12.507343278686904814458936853,     -0.13857109526572011689554707,
                                 9.984369578019570859563e-6,         1.50563273514931155834e-7};
static const double lanczosBase = 0.99999999999980993227684700473478;

// The base and the sum of c[i] / (z + i + 1), and that of -c[i] / (z + i + 1)².
static MlirValue sumOf(Hlo *h, MlirValue z, MlirValue *slope) {
  MlirValue sum = number(h, z, lanczosBase);
  *slope = number(h, z, 0);
  for (int i = 0; i < 8; ++i) {
    MlirValue c = number(h, z, lanczos[i]), at = add(h, z, number(h, z, i + 1));
    sum = add(h, sum, quotient(h, c, at));
    *slope = sub(h, *slope, quotient(h, c, mul(h, at, at)));
  }
  return sum;
}

static MlirValue reflected(Hlo *h, MlirValue x, MlirValue *isReflected) {
  *isReflected = compare(h, ArithCmpF_Olt, x, 0.5);
  return hloSelect(h, *isReflected, of(h, ArithOp_NegF, x), sub(h, x, number(h, x, 1)));
}

static MlirValue logOfT(Hlo *h, MlirValue z) {
  return add(h, number(h, z, log(7.5)), of(h, MathOp_Log1p, quotient(h, z, number(h, z, 7.5))));
}

static MlirValue lgammaOf(Hlo *h, MlirValue x) {
  MlirValue isReflected, slope, z = reflected(h, x, &isReflected), sum = sumOf(h, z, &slope);
  MlirValue t = add(h, z, number(h, z, 7.5)), logT = logOfT(h, z);
  MlirValue weight = sub(h, add(h, z, number(h, z, 0.5)), quotient(h, t, logT));
  MlirValue y = add(h, add(h, number(h, z, log(2 * M_PI) / 2), mul(h, weight, logT)), of(h, MathOp_Log, sum));
  MlirValue length = of(h, MathOp_AbsF, x), fraction = sub(h, length, of(h, MathOp_Floor, length));
  MlirValue small = hloSelect(h, compare(h, ArithCmpF_Ogt, fraction, 0.5), sub(h, number(h, x, 1), fraction), fraction);
  MlirValue below = of(h, MathOp_Log, of(h, MathOp_Sin, mul(h, number(h, x, M_PI), small)));
  MlirValue isFinite = compare(h, ArithCmpF_Olt, of(h, MathOp_AbsF, below), INFINITY);
  MlirValue other =
      hloSelect(h, isFinite, sub(h, sub(h, number(h, x, log(M_PI)), below), y), of(h, ArithOp_NegF, below));
  MlirValue result = hloSelect(h, isReflected, other, y);
  return hloSelect(h, compare(h, ArithCmpF_Oeq, length, INFINITY), number(h, x, INFINITY), result);
}

static MlirValue digamma(Hlo *h, MlirValue x) {
  MlirValue isReflected, slope, z = reflected(h, x, &isReflected), sum = sumOf(h, z, &slope);
  MlirValue t = add(h, z, number(h, z, 7.5));
  MlirValue y = sub(h, add(h, logOfT(h, z), quotient(h, slope, sum)), quotient(h, number(h, z, 7), t));
  MlirValue near = add(h, x, of(h, MathOp_AbsF, of(h, MathOp_Floor, add(h, x, number(h, x, 0.5)))));
  MlirValue angle = mul(h, number(h, x, M_PI), near);
  MlirValue pull = quotient(h, mul(h, number(h, x, M_PI), of(h, MathOp_Cos, angle)), of(h, MathOp_Sin, angle));
  MlirValue result = hloSelect(h, isReflected, sub(h, y, pull), y);
  MlirValue isInteger = arithCmpFOpBuild(&h->b, x, of(h, MathOp_Floor, x), ArithCmpF_Oeq);
  MlirValue isPole = tileBuildBinary(&h->b, ArithOp_AndI, isInteger, compare(h, ArithCmpF_Ole, x, 0));
  return hloSelect(h, isPole, number(h, x, NAN), result);
}

//===--- the next float ----------------------------------------------------------------===//

static MlirValue nextAfter(Hlo *h, MlirValue from, MlirValue to) {
  MlirType type = mlirValueGetType(from), bitsType = mlirIntegerTypeGet(h->b.context, tileElementWidth(type));
  MlirValue bits = tileBuildCast(&h->b, ArithOp_Bitcast, from, bitsType), one = tileBuildInteger(&h->b, bitsType, 1);
  MlirValue isUp = arithCmpFOpBuild(&h->b, to, from, ArithCmpF_Ogt), isNegative = compare(h, ArithCmpF_Olt, from, 0);
  MlirValue away = tileBuildBinary(&h->b, ArithOp_XOrI, isUp, isNegative); // from zero
  MlirValue moved = hloSelect(h, away, tileBuildBinary(&h->b, ArithOp_AddI, bits, one),
                              tileBuildBinary(&h->b, ArithOp_SubI, bits, one));
  MlirValue least = tileBuildCast(&h->b, ArithOp_Bitcast, one, type);
  MlirValue ofZero = tileBuildBinary(&h->b, MathOp_CopySign, least, to);
  MlirValue result =
      hloSelect(h, compare(h, ArithCmpF_Oeq, from, 0), ofZero, tileBuildCast(&h->b, ArithOp_Bitcast, moved, type));
  MlirValue isEqual = arithCmpFOpBuild(&h->b, from, to, ArithCmpF_Oeq);
  MlirValue isNan = arithCmpFOpBuild(&h->b, from, to, ArithCmpF_Uno);
  return hloSelect(h, isNan, add(h, from, to), hloSelect(h, isEqual, to, result));
}

//===--- all -----------------------------------------------------------------------------===//

static const struct {
  ChloOp op;
  TileUpstream real;
} rows[] = {
    {ChloOp_Acos, MathOp_Acos}, {ChloOp_Acosh, MathOp_Acosh}, {ChloOp_Asin, MathOp_Asin}, {ChloOp_Asinh, MathOp_Asinh},
    {ChloOp_Atan, MathOp_Atan}, {ChloOp_Atanh, MathOp_Atanh}, {ChloOp_Cosh, MathOp_Cosh}, {ChloOp_Erf, MathOp_Erf},
    {ChloOp_Erfc, MathOp_Erfc}, {ChloOp_Sinh, MathOp_Sinh},   {ChloOp_Tan, MathOp_Tan},
};

static MlirValue ofWide(Hlo *h, ChloOp kind, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  bool isSmall = tileElementWidth(type) < 32;
  if (isSmall)
    x = tileBuildCast(&h->b, ArithOp_ExtF, x, mlirF32TypeGet(h->b.context));
  MlirValue result = kind == ChloOp_ErfInv ? erfInv(h, x) : kind == ChloOp_Lgamma ? lgammaOf(h, x) : digamma(h, x);
  return isSmall ? tileBuildCast(&h->b, ArithOp_TruncF, result, type) : result;
}

MlirValue hloFunction(Hlo *h, MlirOperation op, const MlirValue *v) {
  ChloOp kind = chloOpKind(op);
  bool isFloat = mlirTypeIsAFloat(mlirValueGetType(v[0]));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].op == kind)
      return of(h, rows[i].real, v[0]);
  switch (kind) {
  case ChloOp_Conj:
    return v[0];
  case ChloOp_Square:
    return isFloat ? mul(h, v[0], v[0]) : tileBuildBinary(&h->b, ArithOp_MulI, v[0], v[0]);
  case ChloOp_IsInf:
    return compare(h, ArithCmpF_Oeq, of(h, MathOp_AbsF, v[0]), INFINITY);
  case ChloOp_IsPosInf:
    return compare(h, ArithCmpF_Oeq, v[0], INFINITY);
  case ChloOp_IsNegInf:
    return compare(h, ArithCmpF_Oeq, v[0], -INFINITY);
  case ChloOp_NextAfter:
    return nextAfter(h, v[0], v[1]);
  case ChloOp_ErfInv:
  case ChloOp_Lgamma:
  case ChloOp_Digamma:
    return ofWide(h, kind, v[0]);
  default:
    return (MlirValue){NULL};
  }
}
