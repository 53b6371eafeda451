// cuda.c - NVIDIA's GPUs by libcuda.so.1 (the driver, not the toolkit). What HIP has too: vendor.c.
#include "lib/runtime/drivers/vendor.h"

#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76 };

static bool describe(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  int (*get)(int *, int, int), major = 0, minor = 0;
  void *symbol = tessera_vendor_symbol(device, "cuDeviceGetAttribute", out_error);
  void *set = symbol ? tessera_vendor_symbol(device, "cuFuncSetAttribute", out_error) : NULL;
  if (!set)
    return false;
  memcpy(&get, &symbol, sizeof symbol);
  memcpy(&device->set_attribute, &set, sizeof set);
  if (!tessera_vendor_check(device, get(&major, ATTRIBUTE_MAJOR, device->device), "asking for the chip", out_error) ||
      !tessera_vendor_check(device, get(&minor, ATTRIBUTE_MINOR, device->device), "asking for the chip", out_error))
    return false;
  snprintf(device->info.chip, sizeof device->info.chip, "sm_%d%d", major, minor);
  return true;
}

static const tessera_vendor_t vendor = {"libcuda.so.1", "an NVIDIA GPU with its driver", false, describe};

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

const tessera_driver_t tessera_cuda_driver = {
    .name = "cuda",
    .open = open_device,
    .suits = suits,
    TESSERA_VENDOR_DRIVER,
};
