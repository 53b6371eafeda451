// The scalar meaning of the ops of math (docs/numerics.md §7): the C library in f64, rounded to the format.
// Bounds: one ulp of the format, beside the operand's error times the largest slope near it. Exact functions: bound 0.
#include "lib/interpreter/upstream/scalars.h"

#include <math.h>

#define SCALAR(name) bool name(Machine *machine, const Instruction *instruction, const Element *x, Element *result)

#define OUT (&instruction->out)
#define IN (&instruction->in)

// How far f may be off when x is off by `bound`: what it does at both ends (f is taken as monotonic that near).
static double carried(double (*function)(double), Element x) {
  if (x.bound == 0)
    return 0;
  double at = function(x.f), error = fmax(fabs(function(x.f + x.bound) - at), fabs(function(x.f - x.bound) - at));
  return isnan(error) ? INFINITY : error;
}

// One ulp more, for the function's own error; f64's own functions, those of C's library and ours, may be off by 2.4
// ulp, and approximate ones (afn) by two.
static Element computed(const Instruction *instruction, double exact, double error) {
  const Format *format = OUT;
  double value = formatRound(format, exact);
  if (!isfinite(value) || (value == 0 && error == 0))
    return elementOfFloat(value, error == INFINITY ? INFINITY : 0);
  double halves = format->width == 64 || instruction->isApproximate ? 4 : 2; // of an ulp
  return elementOfFloat(value, error + halves * 1.01 * format->epsilon * fabs(value) + format->tiny);
}

// f64's result by long double: glibc's own are off by up to 4 ulp (cbrt) and 5 (erfc).
#define FUNCTION(name, function)                                                                                       \
  SCALAR(name) {                                                                                                       \
    double exact = OUT->width == 64 ? (double)function##l((long double)x[0].f) : function(x[0].f);                     \
    *result = computed(instruction, exact, carried(function, x[0]));                                                   \
    return true;                                                                                                       \
  }

static double reciprocalRoot(double x) { return 1 / sqrt(x); }
static long double reciprocalRootl(long double x) { return 1 / sqrtl(x); }
FUNCTION(interpretScalarRsqrt, reciprocalRoot)
FUNCTION(interpretScalarCbrt, cbrt)

// An approximate power (afn) of f32 may be 0 where it is subnormal.
#define POWER(name, function)                                                                                          \
  SCALAR(name) {                                                                                                       \
    *result = computed(instruction, function(x[0].f), carried(function, x[0]));                                        \
    if (instruction->isApproximate && OUT->width == 32 && fabs(result->f) < 0x1.001p-126)                              \
      result->bound += fabs(result->f);                                                                                \
    return true;                                                                                                       \
  }

POWER(interpretScalarExp, exp)
POWER(interpretScalarExp2, exp2)

FUNCTION(interpretScalarLog, log)
FUNCTION(interpretScalarLog2, log2)
FUNCTION(interpretScalarLog10, log10)
FUNCTION(interpretScalarTan, tan)
FUNCTION(interpretScalarAsin, asin)
FUNCTION(interpretScalarAcos, acos)
FUNCTION(interpretScalarAtan, atan)
FUNCTION(interpretScalarSinh, sinh)
FUNCTION(interpretScalarCosh, cosh)
FUNCTION(interpretScalarTanh, tanh)
FUNCTION(interpretScalarAsinh, asinh)
FUNCTION(interpretScalarAcosh, acosh)
FUNCTION(interpretScalarAtanh, atanh)
FUNCTION(interpretScalarErf, erf)
FUNCTION(interpretScalarErfc, erfc)

// 3 ulp of f64 (docs/numerics.md §7).
static Element nearZero(const Instruction *instruction, double (*function)(double), Element x) {
  double exact = function(x.f), more = OUT->width == 64 && isfinite(exact) ? 4 * OUT->epsilon * fabs(exact) : 0;
  return computed(instruction, exact, carried(function, x) + more);
}

SCALAR(interpretScalarExpm1) {
  *result = nearZero(instruction, expm1, x[0]);
  return true;
}

SCALAR(interpretScalarLog1p) {
  *result = nearZero(instruction, log1p, x[0]);
  return true;
}

// Slopes of at most 1, and never further apart than 2.
SCALAR(interpretScalarSin) {
  *result = computed(instruction, sin(x[0].f), fmin(x[0].bound, 2));
  return true;
}

SCALAR(interpretScalarCos) {
  *result = computed(instruction, cos(x[0].f), fmin(x[0].bound, 2));
  return true;
}

SCALAR(interpretScalarSincos) {
  return interpretScalarSin(machine, instruction, x, &result[0]) &&
         interpretScalarCos(machine, instruction, x, &result[1]);
}

//===--- exactly rounded ------------------------------------------------------------===//

SCALAR(interpretScalarSqrt) {
  *result = interpretRoundedElement(OUT, sqrt(x[0].f), carried(sqrt, x[0]));
  return true;
}

SCALAR(interpretScalarFma) {
  double error = 0;
  if (x[0].bound != 0 || x[1].bound != 0 || x[2].bound != 0)
    error = fabs(x[0].f) * x[1].bound + fabs(x[1].f) * x[0].bound + x[0].bound * x[1].bound + x[2].bound;
  *result = interpretRoundedElement(OUT, interpretFormatFma(OUT, x[0].f, x[1].f, x[2].f), error);
  return true;
}

SCALAR(interpretScalarAbsf) {
  *result = elementOfFloat(fabs(x[0].f), x[0].bound);
  return true;
}

SCALAR(interpretScalarCopysign) {
  *result =
      elementOfFloat(copysign(x[0].f, x[1].f), x[1].bound > 0 && x[1].bound >= fabs(x[1].f) ? INFINITY : x[0].bound);
  return true;
}

// The value, no less than the least and then no more than the most; nan where one of them is nan.
SCALAR(interpretScalarClampf) {
  Element raised;
  return interpretScalarMaximumf(machine, instruction, x, &raised) &&
         interpretScalarMinimumf(machine, instruction, (Element[]){raised, x[2]}, result);
}

static double carriedOrOpen(double (*function)(double), Element x) {
  bool isOpenZero = function(x.f) == 0 && x.bound > 0 && fabs(x.f) <= x.bound;
  return fmax(carried(function, x), isOpenZero ? INTERPRET_OPEN_SIGN : 0);
}

// Whole numbers: both neighbours when the operand's bound reaches over a step.
#define STEP(name, function)                                                                                           \
  SCALAR(name) {                                                                                                       \
    *result = elementOfFloat(function(x[0].f), carriedOrOpen(function, x[0]));                                         \
    return true;                                                                                                       \
  }
STEP(interpretScalarCeil, ceil)
STEP(interpretScalarFloor, floor)
STEP(interpretScalarRound, round)
STEP(interpretScalarRoundeven, nearbyint)
STEP(interpretScalarTrunc, trunc)

//===--- of two operands ------------------------------------------------------------===//

static double spread(double (*function)(double, double), const Element *x) {
  if (x[0].bound == 0 && x[1].bound == 0)
    return 0;
  double at = function(x[0].f, x[1].f), error = 0;
  for (int corner = 0; corner < 4; ++corner) {
    double a = x[0].f + (corner & 1 ? x[0].bound : -x[0].bound), b = x[1].f + (corner & 2 ? x[1].bound : -x[1].bound);
    double difference = fabs(function(a, b) - at);
    error = difference <= error ? error : difference;
  }
  return isnan(error) ? INFINITY : error;
}

SCALAR(interpretScalarPowf) {
  *result = computed(instruction, pow(x[0].f, x[1].f), spread(pow, x));
  return true;
}

SCALAR(interpretScalarAtan2) {
  *result = computed(instruction, atan2(x[0].f, x[1].f), spread(atan2, x));
  return true;
}

SCALAR(interpretScalarFpowi) {
  Element power[] = {x[0], elementOfFloat((double)x[1].i, x[1].bound)};
  *result = computed(instruction, pow(power[0].f, power[1].f), spread(pow, power));
  result->bound += fabs((double)x[1].i) * 2 * OUT->epsilon * fabs(result->f); // by repeated products elsewhere
  return true;
}

//===--- integers -------------------------------------------------------------------===//

static bool giveInteger(const Instruction *instruction, const Element *x, uint64_t bits, Element *result) {
  *result = elementOfInteger(interpretFormatWrap(OUT, bits));
  result->bound = x[0].bound == 0 ? 0 : INFINITY;
  return true;
}

SCALAR(interpretScalarAbsi) {
  return giveInteger(instruction, x, x[0].i < 0 ? -(uint64_t)x[0].i : (uint64_t)x[0].i, result);
}

SCALAR(interpretScalarIpowi) {
  uint64_t base = (uint64_t)x[0].i, power = 1;
  if (x[1].i < 0) { // 1 / base^n rounded toward zero
    if (x[0].i == 0)
      return interpretFail(machine, instruction->op, "raises 0 to the power %lld", (long long)x[1].i);
    power = x[0].i == 1 || (x[0].i == -1 && x[1].i % 2 == 0) ? 1 : x[0].i == -1 ? UINT64_MAX : 0;
    return giveInteger(instruction, x, power, result);
  }
  for (uint64_t n = (uint64_t)x[1].i; n; n >>= 1, base *= base)
    if (n & 1)
      power *= base;
  return giveInteger(instruction, x, power, result);
}

SCALAR(interpretScalarCtlz) {
  uint64_t bits = interpretFormatUnsigned(IN, x[0].i);
  return giveInteger(instruction, x, bits ? (uint64_t)__builtin_clzll(bits) - (64 - IN->width) : IN->width, result);
}

SCALAR(interpretScalarCttz) {
  uint64_t bits = interpretFormatUnsigned(IN, x[0].i);
  return giveInteger(instruction, x, bits ? (uint64_t)__builtin_ctzll(bits) : IN->width, result);
}

SCALAR(interpretScalarCtpop) {
  return giveInteger(instruction, x, (uint64_t)__builtin_popcountll(interpretFormatUnsigned(IN, x[0].i)), result);
}

//===--- what kind of number ----------------------------------------------------------===//

#define QUESTION(name, condition)                                                                                      \
  SCALAR(name) {                                                                                                       \
    *result = elementOfInteger((condition) ? -1 : 0);                                                                  \
    return true;                                                                                                       \
  }
QUESTION(interpretScalarIsnan, isnan(x[0].f))
QUESTION(interpretScalarIsinf, isinf(x[0].f))
QUESTION(interpretScalarIsfinite, isfinite(x[0].f))
QUESTION(interpretScalarIsnormal, isfinite(x[0].f) && fabs(x[0].f) >= ldexp(1, IN->leastExponent))
