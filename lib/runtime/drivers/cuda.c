// cuda.c - NVIDIA's GPUs by libcuda.so.1 (the driver, not the toolkit). What HIP has too: vendor.c.
#include "lib/runtime/drivers/vendor.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define X(field, name, parameters) name,
    TESSERA_CUDA_FUNCTIONS(X)
#undef X
};

static bool read_attribute(const tessera_vendor_device_t *device, int attribute, int *out_value,
                           tessera_error_t *out_error) {
  return tessera_vendor_check(device, device->cuda.get_attribute(out_value, attribute, device->device),
                              "asking for the chip", out_error);
}

static bool attach(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  int major = 0, minor = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    void *symbol = tessera_vendor_symbol(device, names[i], out_error);
    if (!symbol)
      return false;
    memcpy((char *)&device->cuda + i * sizeof symbol, &symbol, sizeof symbol); // a struct of function pointers only
  }
  if (!read_attribute(device, TESSERA_MAJOR_ATTRIBUTE, &major, out_error) ||
      !read_attribute(device, TESSERA_MINOR_ATTRIBUTE, &minor, out_error))
    return false;
  snprintf(device->info.chip, sizeof device->info.chip, "sm_%d%d", major, minor);
  return tessera_vendor_check(device, device->cuda.context_retain(&device->context, device->device), "opening a device",
                              out_error);
}

static const char *const libraries[] = {"libcuda.so.1", NULL};
static const tessera_vendor_t vendor = {libraries, "an NVIDIA GPU with its driver", false, attach};

static bool open_device(int ordinal, const void *context, void **out_device, tessera_device_info_t *out_info,
                        tessera_error_t *out_error) {
  return tessera_vendor_open(&vendor, ordinal, out_device, out_info, out_error);
}

// "sm_90a": 90, and is bound to that chip. 0: no chip of NVIDIA's.
static int version_of(const char *chip, bool *out_bound) {
  char *end;
  if (strncmp(chip, "sm_", 3) != 0)
    return 0;
  long version = strtol(chip + 3, &end, 10);
  *out_bound = *end != 0;
  return (int)version;
}

// Machine code runs on its chip and on later ones of the same major number, PTX on every later one; what ends with a
// letter on its own only.
static int suits(void *opened, const tessera_image_t *image) {
  const tessera_vendor_device_t *device = opened;
  bool bound = false, unused;
  int has = version_of(device->info.chip, &unused), wants = version_of(image->chip, &bound);
  bool is_cubin = strcmp(image->form, "cubin") == 0, is_ptx = strcmp(image->form, "ptx") == 0;
  if (!wants || (!is_cubin && !is_ptx) || wants > has || (bound && wants != has) ||
      (is_cubin && wants / 10 != has / 10))
    return 0;
  return 4 * wants + 2 * bound + is_cubin;
}

// Drivers from CUDA 12 on have it: looked for when a kernel needs it. Interleave none, 128 bytes brought to L2 at once.
static bool tensor_map(void *opened, const tessera_tensor_map_t *map, void *out_map, tessera_error_t *out_error) {
  typedef int (*encode_t)(void *out_map, int element, uint32_t rank, void *address, const uint64_t *sizes,
                          const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                          int swizzle, int promotion, int fill);
  const tessera_vendor_device_t *device = opened;
  const uint32_t steps[TESSERA_MAP_RANK] = {1, 1, 1, 1, 1};
  int swizzle = map->swizzle == 128 ? 3 : map->swizzle / 32; // CU_TENSOR_MAP_SWIZZLE_128B, _64B, _32B, _NONE
  encode_t encode = (encode_t)(uintptr_t)tessera_vendor_symbol(device, "cuTensorMapEncodeTiled", out_error);
  return encode && tessera_vendor_enter(device, out_error) &&
         tessera_vendor_check(device,
                              encode(out_map, map->element, map->rank, (void *)(uintptr_t)map->address, map->sizes,
                                     map->strides, map->box, steps, 0, swizzle, 2, map->fill),
                              "encoding a tensor map", out_error);
}

const tessera_driver_t tessera_cuda_driver = {
    .name = "cuda",
    .open = open_device,
    .suits = suits,
    .close = tessera_vendor_close,
    .stream_synchronize = tessera_vendor_stream_synchronize,
    .module_load = tessera_vendor_module_load,
    .launch = tessera_vendor_launch,
    .tensor_map = tensor_map,
    TESSERA_VENDOR_DRIVER,
};
