// random.h - seeded test data: what tile-run and tile-exec give a program when the caller gives none.
//
// Element i of argument a under seed s is a function of (s, a, i) and the element type only: the same on every machine,
// for every number of threads, whatever the other arguments are. Values are exact in their type and have no symmetry
// that would hide a mistake (a transposed operand, a swapped pair):
//   floats: multiples of a power of two in [-1, 1), as fine as the type allows;  i1: 0 or 1;
//   signed integers: -8 to 7;  unsigned: 0 to 15;  f8E8M0FNU, which has powers of two only: 1/16 to 8.
#pragma once

#include "lib/support/array.h"

// 64 random bits (Steele, Lea, Flood: SplitMix64, at position |index| of the stream of |seed| and |argument|).
uint64_t tessera_random_bits(uint64_t seed, uint64_t argument, uint64_t index);

void tessera_random_fill(tessera_array_t *array, uint64_t seed, uint64_t argument);
