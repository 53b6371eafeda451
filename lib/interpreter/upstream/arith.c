// The scalar meaning of every op of arith (docs/numerics.md §1, §3, §5). Each function sees elements that are numbers.
// Bounds: exact operands give the exact result rounded once, so bound 0; otherwise errors carry through (§4).
#include "lib/interpreter/upstream/scalars.h"

#include <math.h>

#define SCALAR(name) bool name(Machine *machine, const Instruction *instruction, const Element *x, Element *result)

//===--- floats ---------------------------------------------------------------------===//

// `error`: how far the exact result may be off because the operands are.
Element interpretRoundedElement(const Format *format, double exact, double error) {
  double value = formatRound(format, exact);
  if (error == 0 || isnan(value))
    return elementOfFloat(value, error == 0 ? 0 : isnan(error) ? INFINITY : error < INFINITY ? 0 : error);
  if (isinf(value) && error < INFINITY)
    return elementOfFloat(value, 0);
  double bound = error + 2 * format->epsilon * fabs(value) + format->tiny;
  return elementOfFloat(value, isnan(bound) ? INFINITY : bound);
}

static bool give(Element *result, Element x) {
  *result = x;
  return true;
}

#define OUT (&instruction->out)
#define IN (&instruction->in)

SCALAR(interpretScalarAddf) {
  return give(result, interpretRoundedElement(OUT, x[0].f + x[1].f, x[0].bound + x[1].bound));
}
SCALAR(interpretScalarSubf) {
  return give(result, interpretRoundedElement(OUT, x[0].f - x[1].f, x[0].bound + x[1].bound));
}

static bool hasOpenSign(Element x) { return x.bound > 0 && fabs(x.f) <= x.bound; }

SCALAR(interpretScalarMulf) {
  double error = x[0].bound == 0 && x[1].bound == 0
                     ? 0
                     : fabs(x[0].f) * x[1].bound + fabs(x[1].f) * x[0].bound + x[0].bound * x[1].bound;
  if (error == 0 && (hasOpenSign(x[0]) || hasOpenSign(x[1])))
    error = INTERPRET_OPEN_SIGN;
  return give(result, interpretRoundedElement(OUT, x[0].f * x[1].f, error));
}

SCALAR(interpretScalarDivf) {
  double quotient = x[0].f / x[1].f, error = 0, least = fabs(x[1].f) - x[1].bound;
  if (x[0].bound != 0 || x[1].bound != 0)
    error = least > 0 ? (x[0].bound + fabs(quotient) * x[1].bound) / least : INFINITY;
  if (instruction->isApproximate) // 2 ulp; of a divisor near the largest number nothing is left
    error += fabs(quotient) * (fabs(x[1].f) > 0x1p126 ? 1 : 4 * OUT->epsilon);
  return give(result, interpretRoundedElement(OUT, quotient, error));
}

SCALAR(interpretScalarRemf) {
  double error = x[0].bound == 0 && x[1].bound == 0 ? 0 : INFINITY;
  return give(result, interpretRoundedElement(OUT, fmod(x[0].f, x[1].f), error));
}

SCALAR(interpretScalarNegf) { return give(result, elementOfFloat(-x[0].f, x[0].bound)); }

static double largerBound(const Element *x) { return fmax(x[0].bound, x[1].bound); }

static double largerZeroAware(double a, double b) { return a > b || (a == b && signbit(b)) ? a : b; }

SCALAR(interpretScalarMaximumf) {
  double value = isnan(x[0].f) || isnan(x[1].f) ? NAN : largerZeroAware(x[0].f, x[1].f);
  return give(result, elementOfFloat(value, largerBound(x)));
}

SCALAR(interpretScalarMinimumf) {
  double value = isnan(x[0].f) || isnan(x[1].f) ? NAN : -largerZeroAware(-x[0].f, -x[1].f);
  return give(result, elementOfFloat(value, largerBound(x)));
}

// Of -0 and +0 either may result.
static double boundOfNumbers(const Element *x) {
  bool isEitherZero = x[0].f == 0 && x[1].f == 0 && signbit(x[0].f) != signbit(x[1].f);
  return isEitherZero ? fmax(largerBound(x), INTERPRET_OPEN_SIGN) : largerBound(x);
}

SCALAR(interpretScalarMaxnumf) { return give(result, elementOfFloat(fmax(x[0].f, x[1].f), boundOfNumbers(x))); }
SCALAR(interpretScalarMinnumf) { return give(result, elementOfFloat(fmin(x[0].f, x[1].f), boundOfNumbers(x))); }

// Two operands, one result, element by element: the scalar function inlined into the loop.
#define STRIPE(name, scalar)                                                                                           \
  bool name(Machine *machine, const Instruction *instruction, int64_t count, const Element *const *x,                  \
            const int64_t *steps, Element *const *results) {                                                           \
    for (int64_t k = 0; k < count; ++k) {                                                                              \
      const Element operands[2] = {x[0][k * steps[0]], x[1][k * steps[1]]};                                            \
      bool isMissing = elementIsMissing(operands[0]) || elementIsMissing(operands[1]);                                 \
      if (!(isMissing ? interpretApplyScalar(machine, instruction, operands, &results[0][k])                           \
                      : scalar(machine, instruction, operands, &results[0][k])))                                       \
        return false;                                                                                                  \
    }                                                                                                                  \
    return true;                                                                                                       \
  }
STRIPE(interpretStripeAddf, interpretScalarAddf)
STRIPE(interpretStripeSubf, interpretScalarSubf)
STRIPE(interpretStripeMulf, interpretScalarMulf)
STRIPE(interpretStripeDivf, interpretScalarDivf)
STRIPE(interpretStripeMaximumf, interpretScalarMaximumf)

// Bits of MLIR's predicates on floats: 1 equal, 2 greater, 4 less, 8 unordered.
static bool holds(int64_t predicate, double a, double b) {
  static const int sets[16] = {0, 1, 2, 3, 4, 5, 6, 7, 1 | 8, 2 | 8, 3 | 8, 4 | 8, 5 | 8, 6 | 8, 8, 15};
  int seen = isnan(a) || isnan(b) ? 8 : a == b ? 1 : a > b ? 2 : 4;
  return sets[predicate] & seen;
}

SCALAR(interpretScalarCmpf) {
  double bound = x[0].bound + x[1].bound;
  bool isUndecided = bound > 0 && !(fabs(x[0].f - x[1].f) > bound);
  machine->undecided += isUndecided;
  *result = elementOfInteger(holds(instruction->predicate, x[0].f, x[1].f) ? -1 : 0);
  result->bound = isUndecided ? 1 : 0;
  return true;
}

//===--- integers ---------------------------------------------------------------------===//

// An integer that came from an undecided comparison may be anything.
static bool giveInteger(const Instruction *instruction, const Element *x, uint64_t bits, Element *result) {
  bool isExact = x[0].bound == 0 && (instruction->numOperands < 2 || x[1].bound == 0);
  *result = elementOfInteger(interpretFormatWrap(OUT, bits));
  result->bound = isExact ? 0 : INFINITY;
  return true;
}

static uint64_t unsignedOf(const Format *format, Element x) { return interpretFormatUnsigned(format, x.i); }

// The result wrapped as the overflow flags promised it would not: poison.
static bool giveUnlessWrapped(const Instruction *instruction, const Element *x, __int128 asSigned, __int128 asUnsigned,
                              Element *result) {
  int64_t wrapped = interpretFormatWrap(OUT, (uint64_t)asSigned);
  bool isPoison = (instruction->noSigned && (__int128)wrapped != asSigned) ||
                  (instruction->noUnsigned && (__int128)interpretFormatUnsigned(OUT, wrapped) != asUnsigned);
  return isPoison ? give(result, elementMissing(ELEMENT_POISON))
                  : giveInteger(instruction, x, (uint64_t)asSigned, result);
}

#define WRAPPING(name, operator)                                                                                       \
  SCALAR(name) {                                                                                                       \
    return giveUnlessWrapped(instruction, x, (__int128)x[0].i operator x[1].i,                                         \
                             (__int128)unsignedOf(IN, x[0]) operator unsignedOf(IN, x[1]), result);                    \
  }
WRAPPING(interpretScalarAddi, +)
WRAPPING(interpretScalarSubi, -)

SCALAR(interpretScalarMuli) {
  unsigned __int128 product = (unsigned __int128)unsignedOf(IN, x[0]) * unsignedOf(IN, x[1]);
  __int128 asUnsigned = product >> 127 ? -1 : (__int128)product; // past 127 bits it has wrapped anyway
  return giveUnlessWrapped(instruction, x, (__int128)x[0].i * x[1].i, asUnsigned, result);
}

#define BITWISE(name, operator)                                                                                        \
  SCALAR(name) { return giveInteger(instruction, x, (uint64_t)x[0].i operator(uint64_t) x[1].i, result); }
BITWISE(interpretScalarAndi, &)
BITWISE(interpretScalarOri, |)
BITWISE(interpretScalarXori, ^)

static bool expectDivisor(Machine *machine, const Instruction *instruction, const Element *x, bool isSigned) {
  if (x[1].i == 0)
    return interpretFail(machine, instruction->op, "divides %lld by zero", (long long)x[0].i);
  if (isSigned && x[1].i == -1 && x[0].i == interpretFormatWrap(IN, UINT64_C(1) << (IN->width - 1)))
    return interpretFail(machine, instruction->op, "divides the smallest integer by -1");
  return true;
}

SCALAR(interpretScalarDivsi) {
  return expectDivisor(machine, instruction, x, true) &&
         giveInteger(instruction, x, (uint64_t)(x[0].i / x[1].i), result);
}

SCALAR(interpretScalarRemsi) {
  return expectDivisor(machine, instruction, x, true) &&
         giveInteger(instruction, x, (uint64_t)(x[0].i % x[1].i), result);
}

SCALAR(interpretScalarDivui) {
  return expectDivisor(machine, instruction, x, false) &&
         giveInteger(instruction, x, unsignedOf(IN, x[0]) / unsignedOf(IN, x[1]), result);
}

SCALAR(interpretScalarRemui) {
  return expectDivisor(machine, instruction, x, false) &&
         giveInteger(instruction, x, unsignedOf(IN, x[0]) % unsignedOf(IN, x[1]), result);
}

SCALAR(interpretScalarFloordivsi) {
  if (!expectDivisor(machine, instruction, x, true))
    return false;
  int64_t quotient = x[0].i / x[1].i, rest = x[0].i % x[1].i;
  return giveInteger(instruction, x, (uint64_t)(quotient - (rest != 0 && (rest < 0) != (x[1].i < 0))), result);
}

SCALAR(interpretScalarCeildivsi) {
  if (!expectDivisor(machine, instruction, x, true))
    return false;
  int64_t quotient = x[0].i / x[1].i, rest = x[0].i % x[1].i;
  return giveInteger(instruction, x, (uint64_t)(quotient + (rest != 0 && (rest < 0) == (x[1].i < 0))), result);
}

SCALAR(interpretScalarCeildivui) {
  if (!expectDivisor(machine, instruction, x, false))
    return false;
  uint64_t a = unsignedOf(IN, x[0]), b = unsignedOf(IN, x[1]);
  return giveInteger(instruction, x, a / b + (a % b != 0), result);
}

#define CHOOSING(name, left, right, operator)                                                                          \
  SCALAR(name) { return giveInteger(instruction, x, (uint64_t)((left)operator(right) ? x[0].i : x[1].i), result); }
CHOOSING(interpretScalarMaxsi, x[0].i, x[1].i, >)
CHOOSING(interpretScalarMinsi, x[0].i, x[1].i, <)
CHOOSING(interpretScalarMaxui, unsignedOf(IN, x[0]), unsignedOf(IN, x[1]), >)
CHOOSING(interpretScalarMinui, unsignedOf(IN, x[0]), unsignedOf(IN, x[1]), <)

static bool shiftsOut(const Instruction *instruction, const Element *x) { return unsignedOf(IN, x[1]) >= IN->width; }

SCALAR(interpretScalarShli) {
  if (shiftsOut(instruction, x))
    return give(result, elementMissing(ELEMENT_POISON));
  return giveUnlessWrapped(instruction, x, (__int128)x[0].i * ((__int128)1 << x[1].i),
                           (__int128)unsignedOf(IN, x[0]) << x[1].i, result);
}

SCALAR(interpretScalarShrsi) {
  return shiftsOut(instruction, x) ? give(result, elementMissing(ELEMENT_POISON))
                                   : giveInteger(instruction, x, (uint64_t)(x[0].i >> x[1].i), result);
}

SCALAR(interpretScalarShrui) {
  return shiftsOut(instruction, x) ? give(result, elementMissing(ELEMENT_POISON))
                                   : giveInteger(instruction, x, unsignedOf(IN, x[0]) >> x[1].i, result);
}

SCALAR(interpretScalarCmpi) {
  int64_t a = x[0].i, b = x[1].i;
  uint64_t c = unsignedOf(IN, x[0]), d = unsignedOf(IN, x[1]);
  const bool outcomes[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, c<d, c <= d, c> d, c >= d};
  return giveInteger(instruction, x, outcomes[instruction->predicate] ? UINT64_MAX : 0, result);
}

// The sum and whether it carried; the low and the high half of a product.
SCALAR(interpretScalarAdduiExtended) {
  unsigned __int128 sum = (unsigned __int128)unsignedOf(IN, x[0]) + unsignedOf(IN, x[1]);
  giveInteger(instruction, x, (uint64_t)sum, &result[0]);
  result[1] = elementOfInteger(sum >> IN->width ? -1 : 0);
  result[1].bound = result[0].bound;
  return true;
}

SCALAR(interpretScalarMulsiExtended) {
  __int128 product = (__int128)x[0].i * x[1].i;
  return giveInteger(instruction, x, (uint64_t)product, &result[0]) &&
         giveInteger(instruction, x, (uint64_t)(product >> IN->width), &result[1]);
}

SCALAR(interpretScalarMuluiExtended) {
  unsigned __int128 product = (unsigned __int128)unsignedOf(IN, x[0]) * unsignedOf(IN, x[1]);
  return giveInteger(instruction, x, (uint64_t)product, &result[0]) &&
         giveInteger(instruction, x, (uint64_t)(product >> IN->width), &result[1]);
}

//===--- conversions --------------------------------------------------------------------===//

SCALAR(interpretScalarExtsi) { return giveInteger(instruction, x, (uint64_t)x[0].i, result); }
SCALAR(interpretScalarExtui) { return giveInteger(instruction, x, unsignedOf(IN, x[0]), result); }

SCALAR(interpretScalarTrunci) {
  return giveUnlessWrapped(instruction, x, (__int128)x[0].i, (__int128)unsignedOf(IN, x[0]), result);
}

// The predicate is the rounding mode: to nearest even when none is given.
SCALAR(interpretScalarConvertf) {
  *result = interpretRoundedElement(OUT, x[0].f, x[0].bound);
  if (instruction->predicate)
    result->f = interpretFormatRoundTo(OUT, (Rounding)instruction->predicate, x[0].f);
  return true;
}

// From 64 bits to f32 in one rounding: through f64 there would be two.
static double roundInteger(const Format *format, uint64_t magnitude, bool isNegative) {
  double value = format->width == 64   ? (double)magnitude
                 : format->width == 32 ? (double)(float)magnitude
                                       : formatRound(format, magnitude < UINT64_C(1) << 53 ? (double)magnitude
                                                                                           : (double)(float)magnitude);
  return isNegative ? -value : value;
}

SCALAR(interpretScalarSitofp) {
  uint64_t magnitude = x[0].i < 0 ? -(uint64_t)x[0].i : (uint64_t)x[0].i;
  return give(result, elementOfFloat(roundInteger(OUT, magnitude, x[0].i < 0), x[0].bound ? INFINITY : 0));
}

SCALAR(interpretScalarUitofp) {
  return give(result, elementOfFloat(roundInteger(OUT, unsignedOf(IN, x[0]), false), x[0].bound ? INFINITY : 0));
}

// Undecided when the bound reaches over the next integer: a right answer may lie as far off.
static bool giveConverted(Machine *machine, const Element *x, double whole, int64_t integer, Element *result) {
  *result = elementOfInteger(integer);
  if (x[0].bound > 0 && (trunc(x[0].f - x[0].bound) != whole || trunc(x[0].f + x[0].bound) != whole)) {
    ++machine->undecided;
    result->bound = ceil(x[0].bound) + 1;
  }
  return true;
}

SCALAR(interpretScalarFptosi) {
  double whole = trunc(x[0].f), limit = ldexp(1, (int)OUT->width - 1);
  if (!(whole >= -limit && whole < limit))
    return give(result, elementMissing(ELEMENT_POISON));
  return giveConverted(machine, x, whole, (int64_t)whole, result);
}

SCALAR(interpretScalarFptoui) {
  double whole = trunc(x[0].f);
  if (!(whole >= 0 && whole < ldexp(1, (int)OUT->width)))
    return give(result, elementMissing(ELEMENT_POISON));
  return giveConverted(machine, x, whole, interpretFormatWrap(OUT, (uint64_t)whole), result);
}

SCALAR(interpretScalarBitcast) {
  uint64_t bits = IN->isFloat ? interpretFormatToBits(IN, x[0].f) : unsignedOf(IN, x[0]);
  *result = OUT->isFloat ? elementOfFloat(interpretFormatFromBits(OUT, bits), 0)
                         : elementOfInteger(interpretFormatWrap(OUT, bits));
  result->bound = x[0].bound == 0 ? 0 : INFINITY;
  return true;
}
