// tensor_map.c - the rules of CUDA's driver for tensor maps (CUDA Driver API, cuTensorMapEncodeTiled).
#include "lib/runtime/tensor_map.h"

static bool check_axis(const tessera_tensor_map_t *map, int axis, tessera_error_t *out_error) {
  if (!map->sizes[axis] || map->sizes[axis] > UINT64_C(1) << 32)
    return tessera_fail(out_error, "a tensor map of %llu elements along axis %d; expected 1 to 2^32",
                        (unsigned long long)map->sizes[axis], axis);
  if (!map->box[axis] || map->box[axis] > TESSERA_MAP_BOX)
    return tessera_fail(out_error, "a tensor map with boxes of %u elements along axis %d; expected 1 to %d",
                        map->box[axis], axis, TESSERA_MAP_BOX);
  if (axis && (map->strides[axis - 1] % TESSERA_MAP_ALIGN || map->strides[axis - 1] >= UINT64_C(1) << 40))
    return tessera_fail(out_error,
                        "a tensor map with a stride of %llu bytes along axis %d; expected a multiple of %d below 2^40",
                        (unsigned long long)map->strides[axis - 1], axis, TESSERA_MAP_ALIGN);
  return true;
}

bool tessera_tensor_map_check(const tessera_tensor_map_t *map, tessera_error_t *out_error) {
  uint32_t bytes = tessera_tensor_map_element_bytes(map->element);
  if (map->rank < 1 || map->rank > TESSERA_MAP_RANK || !bytes)
    return tessera_fail(out_error, "a tensor map of %d axes and element %d", map->rank, map->element);
  if (map->address % TESSERA_MAP_ALIGN)
    return tessera_fail(out_error, "a tensor map of memory that begins at %#llx; expected a multiple of %d",
                        (unsigned long long)map->address, TESSERA_MAP_ALIGN);
  for (int axis = 0; axis < map->rank; ++axis)
    if (!check_axis(map, axis, out_error))
      return false;
  uint64_t row = (uint64_t)map->box[0] * bytes;
  if (row % TESSERA_MAP_ALIGN || (map->swizzle && row > map->swizzle))
    return tessera_fail(out_error, "a tensor map with rows of %llu bytes and a swizzle of %d", (unsigned long long)row,
                        map->swizzle);
  return true;
}
