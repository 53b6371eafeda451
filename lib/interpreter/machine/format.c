// Rounding and bits of element types (format.h). Numbers of every float type are kept as f64, which holds them exactly.
#include "lib/interpreter/machine/format.h"

#include <math.h>
#include <string.h>

// name, float, width, fraction, least exponent, largest, epsilon, tiny, specials.
const Format interpretFormatF64 = {"f64",   true,      64,          52, -1022, 0x1.fffffffffffffp1023,
                                   0x1p-53, 0x1p-1074, SpecialsIeee};
const Format interpretFormatF32 = {"f32", true, 32, 23, -126, 0x1.fffffep127, 0x1p-24, 0x1p-149, SpecialsIeee};
const Format interpretFormatTf32 = {"tf32", true, 19, 10, -126, 0x1.ffcp127, 0x1p-11, 0x1p-136, SpecialsIeee};
static const Format narrowFormats[] = {
    {"f16", true, 16, 10, -14, 65504, 0x1p-11, 0x1p-24, SpecialsIeee},
    {"bf16", true, 16, 7, -126, 0x1.fep127, 0x1p-8, 0x1p-133, SpecialsIeee},
    {"f8E5M2", true, 8, 2, -14, 57344, 0x1p-3, 0x1p-16, SpecialsIeee},
    {"f8E4M3FN", true, 8, 3, -6, 448, 0x1p-4, 0x1p-9, SpecialsNanOnly},
    {"f8E5M2FNUZ", true, 8, 2, -15, 57344, 0x1p-3, 0x1p-17, SpecialsNanAtMinus},
    {"f8E4M3FNUZ", true, 8, 3, -7, 240, 0x1p-4, 0x1p-10, SpecialsNanAtMinus},
    {"f6E2M3FN", true, 6, 3, 0, 7.5, 0x1p-4, 0x1p-3, SpecialsNone},
    {"f6E3M2FN", true, 6, 2, -2, 28, 0x1p-3, 0x1p-4, SpecialsNone},
    {"f4E2M1FN", true, 4, 1, 0, 6, 0x1p-2, 0x1p-1, SpecialsNone},
    {"f8E8M0FNU", true, 8, 0, -127, 0x1p127, 0x1p-1, 0x1p-127, SpecialsNanOnly},
};

static void readName(MlirStringRef text, void *userData) {
  char *name = userData;
  size_t length = strlen(name), space = 15 - length;
  strncat(name, text.data, text.length < space ? text.length : space);
}

static bool findFloat(MlirType type, Format *format) {
  char name[16] = "";
  mlirTypePrint(type, readName, name);
  if (strcmp(name, "f64") == 0 || strcmp(name, "f32") == 0) {
    *format = strcmp(name, "f64") == 0 ? interpretFormatF64 : interpretFormatF32;
    return true;
  }
  for (size_t i = 0; i < sizeof narrowFormats / sizeof *narrowFormats; ++i)
    if (strcmp(name, narrowFormats[i].name) == 0) {
      *format = narrowFormats[i];
      return true;
    }
  return false;
}

bool interpretFormatOf(MlirType type, Format *format) {
  unsigned width = mlirTypeIsAIndex(type) ? 64 : mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
  if (width == 0 || width > 64)
    return mlirTypeIsAFloat(type) && findFloat(type, format);
  *format = (Format){.width = width};
  return true;
}

bool interpretFormatEqual(const Format *a, const Format *b) {
  return a->isFloat == b->isFloat && a->width == b->width && (!a->isFloat || strcmp(a->name, b->name) == 0);
}

//===--- rounding -------------------------------------------------------------===//

static double beyond(const Format *format, double x) {
  switch (format->specials) {
  case SpecialsIeee:
    return copysign(INFINITY, x);
  case SpecialsNanOnly:
  case SpecialsNanAtMinus:
    return NAN;
  case SpecialsNone:
    return copysign(format->largest, x);
  }
  return NAN;
}

static uint64_t ones(int count) { return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

static uint64_t bitsOf(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double ofBits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// f64's exponent; of its subnormals something below that of any other format.
static int exponentOf(double x) { return (int)(bitsOf(x) >> 52 & 0x7ff) - 1023; }

static double powerOfTwo(int exponent) { return ofBits((uint64_t)(exponent + 1023) << 52); } // a normal f64

static bool isScale(const Format *format) { return format->fraction == 0; } // f8E8M0FNU: no sign, no zero

// A zero of a format without -0 is +0.
static double settledZero(const Format *format, double x) {
  return x == 0 && format->specials == SpecialsNanAtMinus ? 0 : x;
}

double interpretFormatRoundNarrow(const Format *format, double x) {
  if (isnan(x))
    return x;
  if (fabs(x) >= 2 * format->largest) // and the scaling below stays within f64
    return beyond(format, x);
  if (x == 0)
    return isScale(format) ? format->tiny : settledZero(format, x);
  int exponent = exponentOf(x) < format->leastExponent ? format->leastExponent : exponentOf(x);
  double quantum = powerOfTwo(exponent - format->fraction);
  double rounded = nearbyint(x * powerOfTwo(format->fraction - exponent)) * quantum;
  return fabs(rounded) > format->largest ? beyond(format, x) : settledZero(format, rounded);
}

void interpretFormatNeighbours(const Format *format, double x, double *below, double *above) {
  double quantum = 1;
  if (format->isFloat && x != 0) {
    int exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 < format->leastExponent ? format->leastExponent : exponent - 1;
    quantum = ldexp(1, exponent - format->fraction);
  }
  *below = floor(x / quantum) * quantum;
  *above = ceil(x / quantum) * quantum;
}

static double chooseNeighbour(Rounding rounding, double x, double below, double above) {
  switch (rounding) {
  case RoundDown:
    return below;
  case RoundUp:
    return above;
  case RoundTowardZero:
    return x < 0 ? above : below;
  case RoundNearestEven:
  case RoundNearestAway:
    if (x - below == above - x)
      return x < 0 ? below : above;
    return x - below < above - x ? below : above;
  }
  return x;
}

double interpretFormatRoundTo(const Format *format, Rounding rounding, double x) {
  double below, above;
  if (!isfinite(x) || (format->isFloat && rounding == RoundNearestEven))
    return format->isFloat ? formatRound(format, x) : x;
  interpretFormatNeighbours(format, x, &below, &above);
  if (!format->isFloat)
    return rounding == RoundNearestEven ? nearbyint(x) : chooseNeighbour(rounding, x, below, above);
  double chosen = below == above ? x : chooseNeighbour(rounding, x, below, above);
  return fabs(chosen) > format->largest ? beyond(format, x) : settledZero(format, chosen);
}

// Rounding to odd at 53 bits and then to at most 24 gives what one rounding gives (Boldo, Melquiond 2008).
static double oddSum(double a, double b) {
  double sum = a + b, part = sum - a, error = (a - (sum - part)) + (b - part);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (error == 0 || !isfinite(sum) || (bits & 1))
    return sum;
  return nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

double interpretFormatFma(const Format *format, double a, double b, double c) {
  return format->width == 64 ? fma(a, b, c) : formatRound(format, oddSum(a * b, c));
}

//===--- bits -----------------------------------------------------------------===//

uint64_t interpretFormatUnsigned(const Format *format, int64_t x) {
  return format->width == 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << format->width) - 1);
}

int64_t interpretFormatWrap(const Format *format, uint64_t bits) {
  unsigned shift = 64 - format->width;
  return (int64_t)(bits << shift) >> shift;
}

// A nan's fraction goes through unchanged where nothing computes with it, so that bits survive a copy; never all zero.
static uint64_t payloadOf(const Format *format, double nan) {
  uint64_t payload = (bitsOf(nan) & ones(52)) >> (52 - format->fraction);
  return payload ? payload : UINT64_C(1) << (format->fraction - 1);
}

static double nanWithPayload(const Format *format, uint64_t fraction, double sign) {
  double nan = ofBits(UINT64_C(0x7ff) << 52 | fraction << (52 - format->fraction));
  return sign < 0 ? -nan : nan;
}

uint64_t interpretFormatToBits(const Format *format, double x) {
  if (format->width == 64)
    return bitsOf(x);
  if (isScale(format))
    return isnan(x) ? 0xff : (uint64_t)(ilogb(x) + 127);
  if (format->specials == SpecialsNanAtMinus && (isnan(x) || x == 0))
    return isnan(x) ? UINT64_C(1) << (format->width - 1) : 0;
  int exponentBits = (int)format->width - 1 - format->fraction;
  uint64_t sign = (uint64_t)(signbit(x) != 0) << (format->width - 1), magnitude;
  if (isnan(x))
    magnitude = format->specials == SpecialsIeee ? ones(exponentBits) << format->fraction | payloadOf(format, x)
                                                 : ones((int)format->width - 1);
  else if (isinf(x))
    magnitude = ones(exponentBits) << format->fraction;
  else if (exponentOf(x) < format->leastExponent)
    magnitude = (uint64_t)(fabs(x) / format->tiny);
  else
    magnitude = (bitsOf(x) & ones(52)) >> (52 - format->fraction) |
                (uint64_t)(exponentOf(x) - format->leastExponent + 1) << format->fraction;
  return sign | magnitude;
}

double interpretFormatFromBits(const Format *format, uint64_t bits) {
  if (format->width == 64)
    return ofBits(bits);
  if (isScale(format))
    return bits == 0xff ? NAN : ldexp(1, (int)bits - 127);
  if (format->specials == SpecialsNanAtMinus && bits == UINT64_C(1) << (format->width - 1))
    return NAN;
  int exponentBits = (int)format->width - 1 - format->fraction;
  uint64_t fraction = bits & ones(format->fraction), exponent = bits >> format->fraction & ones(exponentBits);
  double sign = bits >> (format->width - 1) & 1 ? -1 : 1;
  if (format->specials == SpecialsIeee && exponent == ones(exponentBits))
    return fraction ? nanWithPayload(format, fraction, sign) : sign * INFINITY;
  if (format->specials == SpecialsNanOnly && (bits & ones((int)format->width - 1)) == ones((int)format->width - 1))
    return NAN;
  if (exponent == 0)
    return sign * (double)fraction * format->tiny;
  uint64_t biased = (uint64_t)((int)exponent - 1 + format->leastExponent + 1023);
  return sign * ofBits(biased << 52 | fraction << (52 - format->fraction));
}
