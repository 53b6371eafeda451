// Element types as the contract of numbers (docs/numerics.md §1) sees them: how they round, what their bits mean.
// Why: no two rooms may share a mistake in rounding, so the interpreter has its own.
// Expects: a builtin integer, index or float type. Leaves: nothing; all functions are pure.
#pragma once

#include "mlir-c/BuiltinTypes.h"

#include <stdbool.h>
#include <stdint.h>

// What bits beyond the finite numbers a float type has.
typedef enum Specials {
  SpecialsIeee,       // inf and nan: the highest exponent
  SpecialsNanOnly,    // nan: all bits one
  SpecialsNone,       // finite numbers only
  SpecialsNanAtMinus, // nan: the bits that -0 would have; there is no -0
} Specials;

typedef struct Format {
  const char *name;  // as MLIR prints a float type; null for integers
  bool isFloat;      // else an integer, kept sign-extended in 64 bits (i1 true is -1)
  unsigned width;    // bits
  int fraction;      // float: digits after the point
  int leastExponent; // of the smallest normal number
  double largest;    // finite
  double epsilon;    // half the distance from 1 to the next number
  double tiny;       // smallest subnormal
  Specials specials;
} Format;

extern const Format interpretFormatF64, interpretFormatF32, interpretFormatTf32;

// False for a type that is no integer of at most 64 bits, index or known float.
bool interpretFormatOf(MlirType type, Format *format);
bool interpretFormatEqual(const Format *a, const Format *b);

double interpretFormatRoundNarrow(const Format *format, double x); // formatRound below 32 bits
// To nearest, ties to even; past the largest: inf, else nan, else the largest.
static inline double formatRound(const Format *format, double x) {
  return format->width == 32 ? (double)(float)x : format->width == 64 ? x : interpretFormatRoundNarrow(format, x);
}
// In another direction than to nearest even; past the largest as formatRound. Numbered as arith's roundingmode.
typedef enum Rounding { RoundNearestEven, RoundDown, RoundUp, RoundTowardZero, RoundNearestAway } Rounding;
double interpretFormatRoundTo(const Format *format, Rounding rounding, double x);
// The neighbours of a finite x among the numbers of the format (or the whole numbers): *below <= x <= *above.
void interpretFormatNeighbours(const Format *format, double x, double *below, double *above);
// a * b + c rounded once; operands of the format.
double interpretFormatFma(const Format *format, double a, double b, double c);

// The low `width` bits, as an unsigned number and sign-extended.
uint64_t interpretFormatUnsigned(const Format *format, int64_t x);
int64_t interpretFormatWrap(const Format *format, uint64_t bits);

// The bits in memory of a number of the format, and back.
uint64_t interpretFormatToBits(const Format *format, double x);
double interpretFormatFromBits(const Format *format, uint64_t bits);
