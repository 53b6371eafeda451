// The format of a float type: what a conversion between float types needs to know (docs/numerics.md §1).
// Expects: a builtin float type of at most 64 bits, f8E8M0FNU included. Leaves: nothing; pure.
#pragma once

#include "lib/capi/common.h"

typedef enum TileFloatSpecials {
  TileFloat_Ieee,       // inf and nan: the highest exponent
  TileFloat_NanOnly,    // nan: all bits but the sign are one
  TileFloat_NanAtMinus, // nan: the bits that -0 would have; there is no -0
  TileFloat_None,       // finite numbers only
  TileFloat_Scale,      // powers of two, without sign and zero; nan: all bits are one
} TileFloatSpecials;

typedef struct TileFloatFormat {
  unsigned width;    // bits
  int fraction;      // digits after the point
  int leastExponent; // of the least normal number
  double largest;    // finite
  TileFloatSpecials specials;
} TileFloatFormat;

// False for a type that is no float, or a float this table does not hold.
bool tileFloatFormatOf(MlirType type, TileFloatFormat *out);
TileFloatFormat tileFloatFormatGet(MlirType type); // the same; zeros for any other type
