// rocm.c - AMD's GPUs by libamdhip64.so. What CUDA's driver has too: vendor.c.
#include "lib/runtime/drivers/vendor.h"

#include <string.h>

// The record of properties begins with the device's name and grew over the versions of HIP, which got another function
// for it in version 6; the chip is the one text behind the name that begins with "gfx".
enum { PROPERTIES_BYTES = 8192, NAME_BYTES = 256 };

static bool find_chip(const char *properties, tessera_vendor_device_t *device, tessera_error_t *out_error) {
  for (size_t i = NAME_BYTES; i + 4 < PROPERTIES_BYTES; i++)
    if (memcmp(properties + i, "gfx", 3) == 0) { // "gfx942:sramecc+:xnack-"
      size_t length = strcspn(properties + i, ":");
      snprintf(device->info.chip, sizeof device->info.chip, "%.*s", (int)(length < 32 ? length : 32), properties + i);
      return true;
    }
  return tessera_fail(out_error, "the driver does not say which chip '%s' is", device->info.name);
}

static bool attach(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  char properties[PROPERTIES_BYTES] = "";
  int (*get)(void *, int);
  void *symbol = tessera_vendor_symbol(device, "hipGetDevicePropertiesR0600", NULL);
  symbol = symbol ? symbol : tessera_vendor_symbol(device, "hipGetDeviceProperties", out_error);
  void *set = symbol ? tessera_vendor_symbol(device, "hipSetDevice", out_error) : NULL;
  if (!set)
    return false;
  memcpy(&get, &symbol, sizeof symbol);
  memcpy(&device->device_set, &set, sizeof set);
  return tessera_vendor_check(device, get(properties, device->device), "asking for the chip", out_error) &&
         find_chip(properties, device, out_error);
}

// The name without a number comes with packages for developers only.
static const char *const libraries[] = {
    "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so", NULL};
static const tessera_vendor_t vendor = {libraries, "an AMD GPU with ROCm", true, attach};

static bool open_device(int ordinal, const void *context, void **out_device, tessera_device_info_t *out_info,
                        tessera_error_t *out_error) {
  return tessera_vendor_open(&vendor, ordinal, out_device, out_info, out_error);
}

static int suits(void *opened, const tessera_image_t *image) {
  const tessera_vendor_device_t *device = opened;
  return strcmp(image->form, "hsaco") == 0 && strcmp(image->chip, device->info.chip) == 0;
}

const tessera_driver_t tessera_rocm_driver = {
    .name = "rocm",
    .open = open_device,
    .suits = suits,
    TESSERA_VENDOR_DRIVER,
};
