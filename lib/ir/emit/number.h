// Arithmetic on numbers, for the lowerings to CPUs and to GPUs: scalars or vectors of any element type.
//
//   MlirValue half = tileBuildConversion(&builder, &(TileNumberConversion){.to = f16, .saturates = true}, value, none);
//
// Leaves: ops of arith and math, in the shape of the value given.
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/upstream.h"

//===--- bits and widths ----------------------------------------------------------------------------===//

MlirType tileBitsType(MlirType element);                        // the integer of the element's width; index: i64
MlirValue tileBuildBits(TileBuilder *builder, MlirValue value); // of a float its bits; an integer is its own
MlirValue tileBuildNumberOfBits(TileBuilder *builder, MlirValue bits, MlirType element);

//===--- conversions ------------------------------------------------------------------------------------===//

// What tile.convert_type says, for elements that f64 or i64 holds: all but tf32.
typedef struct TileNumberConversion {
  MlirType to;
  bool saturates;
  int64_t rounding;       // of arith, to floats; 0: to nearest, ties to even
  TileUpstream direction; // the op of math that rounds to an integer; TileUpstream_None: toward zero
} TileNumberConversion;
// `bits`: random i32 for a stochastic rounding; null: the rounding is not stochastic.
MlirValue tileBuildConversion(TileBuilder *builder, const TileNumberConversion *conversion, MlirValue value,
                              MlirValue bits);

//===--- random words -----------------------------------------------------------------------------------===//

// Philox4x32-10 (docs/numerics.md §8): four words of 32 bits for a seed and a counter of 64 bits.
void tileBuildPhilox(TileBuilder *builder, MlirValue seed, MlirValue counter, MlirValue words[4]);
