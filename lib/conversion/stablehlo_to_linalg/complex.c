// StableHLO's ops on complex elements, as ops on real and imaginary parts.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/chlo/ops.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/math.h"

static MlirValue add(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_AddF, a, b); }
static MlirValue sub(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_SubF, a, b); }
static MlirValue mul(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_MulF, a, b); }
static MlirValue quotient(Hlo *h, MlirValue a, MlirValue b) { return tileBuildBinary(&h->b, ArithOp_DivF, a, b); }
static MlirValue of(Hlo *h, TileUpstream kind, MlirValue a) { return tileBuildUnary(&h->b, kind, a); }
static MlirValue number(Hlo *h, MlirValue like, double value) {
  return tileBuildFloat(&h->b, mlirValueGetType(like), value);
}
static HloValue pair(MlirValue re, MlirValue im) { return (HloValue){2, {re, im}}; }

static HloValue multiply(Hlo *h, HloValue a, HloValue b) {
  return pair(sub(h, mul(h, a.parts[0], b.parts[0]), mul(h, a.parts[1], b.parts[1])),
              add(h, mul(h, a.parts[0], b.parts[1]), mul(h, a.parts[1], b.parts[0])));
}

// By the larger part of the divisor, so that no square leaves the range (Smith 1962).
static HloValue divide(Hlo *h, HloValue a, HloValue b) {
  MlirValue re = of(h, MathOp_AbsF, b.parts[0]), im = of(h, MathOp_AbsF, b.parts[1]);
  MlirValue isReal = arithCmpFOpBuild(&h->b, re, im, ArithCmpF_Oge);
  MlirValue large = hloSelect(h, isReal, b.parts[0], b.parts[1]), small = hloSelect(h, isReal, b.parts[1], b.parts[0]);
  MlirValue ratio = quotient(h, small, large), divisor = add(h, large, mul(h, small, ratio));
  MlirValue x = hloSelect(h, isReal, a.parts[0], a.parts[1]), y = hloSelect(h, isReal, a.parts[1], a.parts[0]);
  MlirValue first = quotient(h, add(h, x, mul(h, y, ratio)), divisor);
  MlirValue second = quotient(h, sub(h, y, mul(h, x, ratio)), divisor);
  return pair(first, hloSelect(h, isReal, second, of(h, ArithOp_NegF, second)));
}

static MlirValue magnitude(Hlo *h, HloValue a) {
  MlirValue re = of(h, MathOp_AbsF, a.parts[0]), im = of(h, MathOp_AbsF, a.parts[1]);
  MlirValue large = tileBuildBinary(&h->b, ArithOp_MaximumF, re, im);
  MlirValue small = tileBuildBinary(&h->b, ArithOp_MinimumF, re, im), one = number(h, re, 1);
  MlirValue isZero = arithCmpFOpBuild(&h->b, large, number(h, re, 0), ArithCmpF_Oeq);
  MlirValue isInfinite = arithCmpFOpBuild(&h->b, large, number(h, re, __builtin_inf()), ArithCmpF_Oeq);
  MlirValue ratio = quotient(h, small, hloSelect(h, isZero, one, large));
  MlirValue length = mul(h, large, of(h, MathOp_Sqrt, add(h, one, mul(h, ratio, ratio))));
  return hloSelect(h, isInfinite, large, length);
}

static HloValue exponential(Hlo *h, HloValue a) {
  MlirValue e = of(h, MathOp_Exp, a.parts[0]);
  return pair(mul(h, e, of(h, MathOp_Cos, a.parts[1])), mul(h, e, of(h, MathOp_Sin, a.parts[1])));
}

static HloValue logarithm(Hlo *h, HloValue a) {
  return pair(of(h, MathOp_Log, magnitude(h, a)), tileBuildBinary(&h->b, MathOp_Atan2, a.parts[1], a.parts[0]));
}

// sqrt((|z| + |re|) / 2) is the larger part; the other is im over twice it.
static HloValue root(Hlo *h, HloValue a) {
  MlirValue half = number(h, a.parts[0], 0.5), zero = number(h, a.parts[0], 0), two = number(h, a.parts[0], 2);
  MlirValue sum = add(h, magnitude(h, a), of(h, MathOp_AbsF, a.parts[0]));
  MlirValue large = of(h, MathOp_Sqrt, mul(h, sum, half));
  MlirValue isZero = arithCmpFOpBuild(&h->b, large, zero, ArithCmpF_Oeq);
  MlirValue small = quotient(h, of(h, MathOp_AbsF, a.parts[1]), mul(h, two, hloSelect(h, isZero, two, large)));
  MlirValue isNegative = arithCmpFOpBuild(&h->b, a.parts[0], zero, ArithCmpF_Olt);
  MlirValue im = hloSelect(h, isNegative, large, small);
  return pair(hloSelect(h, isNegative, small, large), tileBuildBinary(&h->b, MathOp_CopySign, im, a.parts[1]));
}

static HloValue one(Hlo *h, HloValue like) { return pair(number(h, like.parts[0], 1), number(h, like.parts[0], 0)); }

static HloValue signOf(Hlo *h, HloValue a) {
  MlirValue length = magnitude(h, a), zero = number(h, length, 0);
  MlirValue isZero = arithCmpFOpBuild(&h->b, length, zero, ArithCmpF_Oeq);
  MlirValue divisor = hloSelect(h, isZero, number(h, length, 1), length);
  return pair(quotient(h, a.parts[0], divisor), quotient(h, a.parts[1], divisor));
}

static HloValue hyperbolicTangent(Hlo *h, HloValue a) {
  // (tanh x + i tan y) / (1 + i tanh x tan y)
  MlirValue x = of(h, MathOp_Tanh, a.parts[0]), y = of(h, MathOp_Tan, a.parts[1]);
  return divide(h, pair(x, y), pair(number(h, x, 1), mul(h, x, y)));
}

static HloValue timesI(Hlo *h, HloValue a) { return pair(of(h, ArithOp_NegF, a.parts[1]), a.parts[0]); }
static HloValue overI(Hlo *h, HloValue a) { return pair(a.parts[1], of(h, ArithOp_NegF, a.parts[0])); }
static HloValue conjugate(Hlo *h, HloValue a) { return pair(a.parts[0], of(h, ArithOp_NegF, a.parts[1])); }

// cosh x cos y + i sinh x sin y, or with cosh and sinh exchanged.
static HloValue hyperbolic(Hlo *h, HloValue a, bool isSine) {
  TileUpstream re = isSine ? MathOp_Sinh : MathOp_Cosh, im = isSine ? MathOp_Cosh : MathOp_Sinh;
  return pair(mul(h, of(h, re, a.parts[0]), of(h, MathOp_Cos, a.parts[1])),
              mul(h, of(h, im, a.parts[0]), of(h, MathOp_Sin, a.parts[1])));
}

//===--- inverse functions (Kahan 1987) --------------------------------------------===//

// The roots of z + 1 and of 1 - z or z - 1.
static void rootsOf(Hlo *h, HloValue z, bool isTurned, HloValue *below, HloValue *above) {
  MlirValue unit = number(h, z.parts[0], 1), minus = isTurned ? sub(h, z.parts[0], unit) : sub(h, unit, z.parts[0]);
  *below = root(h, pair(minus, isTurned ? z.parts[1] : of(h, ArithOp_NegF, z.parts[1])));
  *above = root(h, pair(add(h, z.parts[0], unit), z.parts[1]));
}

static HloValue arcsine(Hlo *h, HloValue z) {
  HloValue below, above;
  rootsOf(h, z, false, &below, &above);
  MlirValue re = multiply(h, below, above).parts[0], im = multiply(h, conjugate(h, below), above).parts[1];
  return pair(tileBuildBinary(&h->b, MathOp_Atan2, z.parts[0], re), of(h, MathOp_Asinh, im));
}

static HloValue arccosine(Hlo *h, HloValue z) {
  HloValue below, above;
  rootsOf(h, z, false, &below, &above);
  MlirValue angle = tileBuildBinary(&h->b, MathOp_Atan2, below.parts[0], above.parts[0]);
  MlirValue im = multiply(h, conjugate(h, above), below).parts[1];
  return pair(add(h, angle, angle), of(h, MathOp_Asinh, im));
}

static HloValue hyperbolicArccosine(Hlo *h, HloValue z) {
  HloValue below, above;
  rootsOf(h, z, true, &below, &above);
  MlirValue re = multiply(h, conjugate(h, below), above).parts[0];
  MlirValue angle = tileBuildBinary(&h->b, MathOp_Atan2, below.parts[1], above.parts[0]);
  return pair(of(h, MathOp_Asinh, re), add(h, angle, angle));
}

// log(((1 + x)² + y²) / ((1 - x)² + y²)) / 4 and the angle of (1 + z) / (1 - z) in half.
static HloValue hyperbolicArctangent(Hlo *h, HloValue z) {
  MlirValue x = z.parts[0], y = z.parts[1], unit = number(h, x, 1), below = sub(h, unit, x), square = mul(h, y, y);
  MlirValue ratio = quotient(h, mul(h, number(h, x, 4), x), add(h, mul(h, below, below), square));
  MlirValue cosine = sub(h, mul(h, below, add(h, unit, x)), square);
  MlirValue angle = tileBuildBinary(&h->b, MathOp_Atan2, add(h, y, y), cosine);
  return pair(mul(h, number(h, x, 0.25), of(h, MathOp_Log1p, ratio)), mul(h, number(h, x, 0.5), angle));
}

//===--- all -----------------------------------------------------------------------===//

// -i log((x + i y) / sqrt(x² + y²))
static HloValue angleOf(Hlo *h, HloValue y, HloValue x) {
  HloValue turned = timesI(h, y), square = multiply(h, x, x), other = multiply(h, y, y);
  HloValue length = root(h, pair(add(h, square.parts[0], other.parts[0]), add(h, square.parts[1], other.parts[1])));
  HloValue point = pair(add(h, x.parts[0], turned.parts[0]), add(h, x.parts[1], turned.parts[1]));
  return overI(h, logarithm(h, divide(h, point, length)));
}

// The real parts decide, and where they are equal the imaginary ones.
static HloValue extremum(Hlo *h, bool isMax, HloValue a, HloValue b) {
  ArithCmpF before = isMax ? ArithCmpF_Ogt : ArithCmpF_Olt;
  MlirValue isEqual = arithCmpFOpBuild(&h->b, a.parts[0], b.parts[0], ArithCmpF_Oeq);
  MlirValue isFirst = hloSelect(h, isEqual, arithCmpFOpBuild(&h->b, a.parts[1], b.parts[1], before),
                                arithCmpFOpBuild(&h->b, a.parts[0], b.parts[0], before));
  return pair(hloSelect(h, isFirst, a.parts[0], b.parts[0]), hloSelect(h, isFirst, a.parts[1], b.parts[1]));
}

static HloValue function(Hlo *h, ChloOp kind, HloValue z) {
  switch (kind) {
  case ChloOp_Conj:
    return conjugate(h, z);
  case ChloOp_Square:
    return multiply(h, z, z);
  case ChloOp_Cosh:
  case ChloOp_Sinh:
    return hyperbolic(h, z, kind == ChloOp_Sinh);
  case ChloOp_Tan:
    return overI(h, hyperbolicTangent(h, timesI(h, z)));
  case ChloOp_Asin:
    return arcsine(h, z);
  case ChloOp_Asinh:
    return overI(h, arcsine(h, timesI(h, z)));
  case ChloOp_Acos:
    return arccosine(h, z);
  case ChloOp_Acosh:
    return hyperbolicArccosine(h, z);
  case ChloOp_Atan:
    return overI(h, hyperbolicArctangent(h, timesI(h, z)));
  case ChloOp_Atanh:
    return hyperbolicArctangent(h, z);
  default:
    return (HloValue){0};
  }
}

HloValue hloMultiply(Hlo *h, HloValue a, HloValue b) {
  return a.count == 2 ? multiply(h, a, b) : (HloValue){1, {mul(h, a.parts[0], b.parts[0])}};
}
HloValue hloDivide(Hlo *h, HloValue a, HloValue b) {
  return a.count == 2 ? divide(h, a, b) : (HloValue){1, {quotient(h, a.parts[0], b.parts[0])}};
}
HloValue hloSubtract(Hlo *h, HloValue a, HloValue b) {
  HloValue result = {a.count, {{NULL}}};
  for (int part = 0; part < a.count; ++part)
    result.parts[part] = sub(h, a.parts[part], b.parts[part]);
  return result;
}
HloValue hloConjugate(Hlo *h, HloValue a) { return a.count == 2 ? conjugate(h, a) : a; }

HloValue hloComplexOp(Hlo *h, MlirOperation op, const HloValue *v) {
  HloValue result = function(h, chloOpKind(op), v[0]);
  if (result.count)
    return result;
  switch (stablehloOpKind(op)) {
  case StablehloOp_Add:
    return pair(add(h, v[0].parts[0], v[1].parts[0]), add(h, v[0].parts[1], v[1].parts[1]));
  case StablehloOp_Subtract:
    return pair(sub(h, v[0].parts[0], v[1].parts[0]), sub(h, v[0].parts[1], v[1].parts[1]));
  case StablehloOp_Multiply:
    return multiply(h, v[0], v[1]);
  case StablehloOp_Divide:
    return divide(h, v[0], v[1]);
  case StablehloOp_Negate:
    return pair(of(h, ArithOp_NegF, v->parts[0]), of(h, ArithOp_NegF, v->parts[1]));
  case StablehloOp_Abs:
    return (HloValue){1, {magnitude(h, v[0])}};
  case StablehloOp_Exponential:
    return exponential(h, v[0]);
  case StablehloOp_ExponentialMinusOne: {
    HloValue e = exponential(h, v[0]);
    return pair(sub(h, e.parts[0], number(h, e.parts[0], 1)), e.parts[1]);
  }
  case StablehloOp_Log:
    return logarithm(h, v[0]);
  case StablehloOp_LogPlusOne:
    return logarithm(h, pair(add(h, v->parts[0], number(h, v->parts[0], 1)), v->parts[1]));
  case StablehloOp_Sqrt:
    return root(h, v[0]);
  case StablehloOp_Rsqrt:
    return divide(h, one(h, v[0]), root(h, v[0]));
  case StablehloOp_Power:
    return exponential(h, multiply(h, v[1], logarithm(h, v[0])));
  case StablehloOp_Sign:
    return signOf(h, v[0]);
  case StablehloOp_Tanh:
    return hyperbolicTangent(h, v[0]);
  case StablehloOp_Tan:
    return function(h, ChloOp_Tan, v[0]);
  case StablehloOp_Cosine: // cosh(iz)
    return hyperbolic(h, timesI(h, v[0]), false);
  case StablehloOp_Sine: // sinh(iz) / i
    return overI(h, hyperbolic(h, timesI(h, v[0]), true));
  case StablehloOp_Atan2:
    return angleOf(h, v[0], v[1]);
  case StablehloOp_Maximum:
  case StablehloOp_Minimum:
    return extremum(h, stablehloOpKind(op) == StablehloOp_Maximum, v[0], v[1]);
  case StablehloOp_Clamp:
    return extremum(h, false, extremum(h, true, v[1], v[0]), v[2]);
  case StablehloOp_Logistic: {
    HloValue e = exponential(h, pair(of(h, ArithOp_NegF, v->parts[0]), of(h, ArithOp_NegF, v->parts[1])));
    return divide(h, one(h, e), pair(add(h, e.parts[0], number(h, e.parts[0], 1)), e.parts[1]));
  }
  default:
    tileError(op, "cannot be converted to linalg for complex elements");
    return (HloValue){0};
  }
}
