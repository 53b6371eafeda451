// rocm.c - AMD's GPUs by libamdhip64.so. What CUDA's driver has too: vendor.c.
#include "lib/runtime/drivers/vendor.h"

#include <string.h>

// The record of properties grew over the versions; the chip is the one text in it that begins with "gfx".
enum { PROPERTIES_BYTES = 8192 };

static bool describe(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  char properties[PROPERTIES_BYTES] = "";
  int (*get)(void *, int);
  void *symbol = tessera_vendor_symbol(device, "hipGetDevicePropertiesR0600", out_error);
  if (!symbol)
    return false;
  memcpy(&get, &symbol, sizeof symbol);
  if (!tessera_vendor_check(device, get(properties, device->device), "asking for the chip", out_error))
    return false;
  for (size_t i = 0; i + 4 < sizeof properties; i++)
    if (memcmp(properties + i, "gfx", 3) == 0) { // "gfx942:sramecc+:xnack-"
      size_t length = strcspn(properties + i, ":");
      snprintf(device->info.chip, sizeof device->info.chip, "%.*s", (int)(length < 32 ? length : 32), properties + i);
      return true;
    }
  return tessera_fail(out_error, "the driver does not say which chip '%s' is", device->info.name);
}

static const tessera_vendor_t vendor = {"libamdhip64.so", "an AMD GPU with ROCm", true, describe};

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
