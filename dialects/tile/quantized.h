// Tensors that are stored as codes of few bits, with scales, zeros or a table: the encoding #tile.quantized.
//
//   tensor<4096x4096xf32, #tile.quantized<codes = i4, group = [1, 128], scale = f16, zero = ui4>>
//   element[n, k] = (code[n, k] - zero[n, k / 128]) * scale[n, k / 128]
//
// Keys. The first three are required:
//   codes          i1 to i8 (signed), ui1 to ui8, or a float of at most 8 bits
//   group          elements that share a scale along each axis; 0: all of the axis
//   scale          f32, f16, bf16, f8E8M0FNU or f8E4M3FN
//   zero           an integer like codes, or f32, f16, bf16: a number for each group
//   zero_after_scale   code * scale - zero
//   tensor_scale   f32: a number that multiplies every element besides (NVFP4)
//   table          f32: codes are positions in a table, of 2^bits numbers
//   order          i32: the number of its group for each index of the one axis with several groups (act-order, g_idx)
// Arithmetic is f32's (f64's where the tensor has f64), in the order written above, tensor_scale last; the result is
// rounded once to the tensor's elements. Sizes are known; the last group of an axis may be shorter.
//
//   TileQuantizedPart parts[TileQuantizedMaxParts];
//   intptr_t count = tileQuantizedTypeGetParts(type, parts);      // codes, scales, zeros, tensor_scale, table, order
#pragma once

#include "lib/layout/layout.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdbool.h>

enum { TileQuantizedMaxRank = TILE_LAYOUT_MAX_AXES };

typedef enum TileQuantizedRole {
  TileQuantized_Codes,
  TileQuantized_Scales,
  TileQuantized_Zeros,
  TileQuantized_TensorScale,
  TileQuantized_Table,
  TileQuantized_Order,
  TileQuantizedMaxParts
} TileQuantizedRole;

typedef struct TileQuantizedPart {
  TileQuantizedRole role;
  MlirType type; // a tensor without an encoding; integers have no sign in it
} TileQuantizedPart;

typedef struct TileQuantization {
  MlirType codes, scale, zero, tensorScale, table, order; // null: none. Integers have no sign here
  bool isUnsigned, isZeroUnsigned, isZeroAfterScale;
  intptr_t rank;
  int64_t group[TileQuantizedMaxRank];
  intptr_t orderAxis; // along which groups have an order; -1: they are neighbours
} TileQuantization;

bool tileAttributeIsAQuantized(MlirAttribute attribute); // false for null
static inline bool tileTypeIsQuantized(MlirType type) {  // false for null
  bool isTensor = !mlirTypeIsNull(type) && mlirTypeIsARankedTensor(type);
  MlirAttribute encoding = isTensor ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && tileAttributeIsAQuantized(encoding);
}
TileQuantization tileQuantizedTypeGet(MlirType type);
// In order; those that the encoding lacks are left out. Returns how many there are.
intptr_t tileQuantizedTypeGetParts(MlirType type, TileQuantizedPart *parts);
MlirType tileQuantizedTypeGetDense(MlirType type); // without the encoding
