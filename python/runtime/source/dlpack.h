// dlpack.h - the structs of DLPack 0.8, which all versions since share: how libraries of arrays lend memory to each
// other. Source: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <stdint.h>

// Devices and types of elements, as DLDeviceType and DLDataTypeCode.
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM = 10, DL_ROCM_HOST = 11, DL_CUDA_MANAGED = 13 };
enum { DL_INT, DL_UINT, DL_FLOAT, DL_BFLOAT = 4, DL_BOOL = 6, DL_F8E4M3FN = 10, DL_F8E5M2 = 12, DL_F8E8M0FNU = 14 };

typedef struct dl_tensor_t {
  void *data;
  int32_t device_type, device_id;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape;
  int64_t *strides; // in elements; NULL: in C order
  uint64_t byte_offset;
} dl_tensor_t;

// What a capsule named "dltensor" holds.
typedef struct dl_managed_t {
  dl_tensor_t tensor;
  void *context;
  void (*deleter)(struct dl_managed_t *managed); // called by who took it; NULL: nothing to do
} dl_managed_t;
