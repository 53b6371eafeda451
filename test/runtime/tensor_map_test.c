// The rules of tensor maps, one broken at a time: each refusal names what is wrong.
#include "lib/runtime/tensor_map.h"

#include "test/check.h"

static tessera_tensor_map_t good(void) {
  return (tessera_tensor_map_t){.address = 4096,
                                .sizes = {72, 33, 5},
                                .strides = {144, 144 * 33},
                                .box = {64, 128, 1},
                                .rank = 3,
                                .element = TESSERA_MAP_F16,
                                .swizzle = 128};
}

static void refused(const tessera_tensor_map_t *map, const char *why) {
  tessera_error_t error = {""};
  CHECK(!tessera_tensor_map_check(map, &error), "%s", why);
  CHECK_CONTAINS(error.text, why);
}

#define REFUSED(why, ...)                                                                                              \
  do {                                                                                                                 \
    tessera_tensor_map_t map = good();                                                                                 \
    __VA_ARGS__;                                                                                                       \
    refused(&map, why);                                                                                                \
  } while (0)

int main(void) {
  tessera_tensor_map_t map = good();
  tessera_error_t error = {""};
  CHECK(tessera_tensor_map_check(&map, &error), "%s", error.text);
  map.sizes[0] = UINT64_C(1) << 32;
  map.strides[0] = (UINT64_C(1) << 40) - 16;
  map.box[1] = 256;
  map.swizzle = 0;
  CHECK(tessera_tensor_map_check(&map, &error), "at the limits: %s", error.text);
  REFUSED("begins at 0x1008; expected a multiple of 16", map.address = 0x1008);
  REFUSED("0 elements along axis 1", map.sizes[1] = 0);
  REFUSED("4294967297 elements along axis 0", map.sizes[0] = (UINT64_C(1) << 32) + 1);
  REFUSED("a stride of 72 bytes along axis 1; expected a multiple of 16", map.strides[0] = 72);
  REFUSED("along axis 2; expected a multiple of 16 below 2^40", map.strides[1] = UINT64_C(1) << 40);
  REFUSED("boxes of 257 elements along axis 1", map.box[1] = 257);
  REFUSED("boxes of 0 elements along axis 0", map.box[0] = 0);
  REFUSED("rows of 24 bytes", map.box[0] = 12);
  REFUSED("rows of 256 bytes and a swizzle of 128", map.box[0] = 128);
  REFUSED("0 axes", map.rank = 0);
  REFUSED("6 axes", map.rank = 6);
  REFUSED("element 3", map.element = 3);
  CHECK(tessera_tensor_map_element_bytes(TESSERA_MAP_BF16) == 2 &&
        tessera_tensor_map_element_bytes(TESSERA_MAP_F64) == 8);
  CHECK(sizeof(tessera_tensor_map_t) <= TESSERA_MAP_BYTES);
  return checkResult(25);
}
