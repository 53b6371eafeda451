// tensor_map.h - the description of a tensor in global memory for an engine that copies boxes (NVIDIA's TMA, sm_90 on).
//
// A kernel that copies boxes has hidden parameters of 128 bytes, one for each tensor and shape of box. Its host's part
// describes the tensor at each launch, and the device's driver encodes the description (driver.h): CUDA's by
// cuTensorMapEncodeTiled; an emulator takes the description itself.
//
//   tessera_tensor_map_t map = {.address = (uint64_t)a, .sizes = {k, m, 1, 1, 1}, .strides = {2 * k}, .rank = 2,
//                               .box = {64, 128, 1, 1, 1}, .element = TESSERA_MAP_F16, .swizzle = 128};
//
// Axes: the one whose elements are neighbours first. Elements beyond the tensor are read as zero or nan, and are not
// written. Header only, so that the runtime stands alone; lib/runtime/tensor_map.h checks a description.
#pragma once

#include <stdint.h>

enum {
  TESSERA_MAP_RANK = 5,
  TESSERA_MAP_BYTES = 128, // of an encoded map
  TESSERA_MAP_ALIGN = 16,  // of the address and the strides, in bytes
  TESSERA_MAP_BOX = 256,   // elements of a box along an axis, at most
};

// What an element is: numbered as CUtensorMapDataType. What is no float here moves as integers of its width.
enum {
  TESSERA_MAP_I8 = 0,
  TESSERA_MAP_I16 = 1,
  TESSERA_MAP_I32 = 2,
  TESSERA_MAP_I64 = 4,
  TESSERA_MAP_F16 = 6,
  TESSERA_MAP_F32 = 7,
  TESSERA_MAP_F64 = 8,
  TESSERA_MAP_BF16 = 9,
};

typedef struct tessera_tensor_map_t {
  uint64_t address;
  uint64_t sizes[TESSERA_MAP_RANK];       // elements
  uint64_t strides[TESSERA_MAP_RANK - 1]; // bytes from one index to the next, of the axes behind the first
  uint32_t box[TESSERA_MAP_RANK];         // elements
  uint8_t rank, element, swizzle, fill;   // bytes of the swizzle, 0: none; what lies outside is zero (0) or nan (1)
} tessera_tensor_map_t;

// Bytes of an element; 0: no such element.
static inline uint32_t tessera_tensor_map_element_bytes(uint8_t element) {
  switch (element) {
  case TESSERA_MAP_I8:
    return 1;
  case TESSERA_MAP_I16:
  case TESSERA_MAP_F16:
  case TESSERA_MAP_BF16:
    return 2;
  case TESSERA_MAP_I32:
  case TESSERA_MAP_F32:
    return 4;
  case TESSERA_MAP_I64:
  case TESSERA_MAP_F64:
    return 8;
  default:
    return 0;
  }
}
