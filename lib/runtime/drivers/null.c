// null.c - a device that takes every image and runs nothing: for tests and for the price of the host's part.
#include "lib/runtime/drivers/host.h"

static bool open_device(int ordinal, const void *context, void **out_device, tessera_device_info_t *out_info,
                        tessera_error_t *out_error) {
  static char only; // one device without a state: its address is its name
  if (ordinal)
    return tessera_fail(out_error, "there is no device %d: null has one", ordinal);
  *out_device = &only;
  snprintf(out_info->chip, sizeof out_info->chip, "null");
  snprintf(out_info->name, sizeof out_info->name, "no device");
  return true;
}

static void close_device(void *device) {}

static int suits(void *device, const tessera_image_t *image) { return 1; }

static bool launch(void *device, void *kernel, const tessera_device_launch_t *launch, void *stream,
                   tessera_error_t *out_error) {
  return true;
}

const tessera_driver_t tessera_null_driver = {
    .name = "null",
    .open = open_device,
    .close = close_device,
    .suits = suits,
    TESSERA_HOST_DRIVER,
    .launch = launch,
};
