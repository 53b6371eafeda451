// emulator.c - a device in this process: launches go to the hooks of whoever holds lib/emulator (driver.h).
// Expects: hooks that outlive the device. Leaves: nothing.
#include "lib/runtime/drivers/host.h"

#include <string.h>

static bool open_device(int ordinal, const void *context, void **out_device, tessera_device_info_t *out_info,
                        tessera_error_t *out_error) {
  const tessera_emulator_hooks_t *hooks = context;
  if (!hooks)
    return tessera_fail(out_error, "this program holds no emulator: tile-run does (--target=emulate:CHIP)");
  if (ordinal)
    return tessera_fail(out_error, "there is no device %d: the emulator is one", ordinal);
  *out_device = (void *)(uintptr_t)hooks;
  snprintf(out_info->chip, sizeof out_info->chip, "%s", hooks->chip);
  snprintf(out_info->name, sizeof out_info->name, "emulator of %s", hooks->chip);
  return true;
}

static void close_device(void *device) {}

static int suits(void *device, const tessera_image_t *image) {
  const tessera_emulator_hooks_t *hooks = device;
  return strcmp(image->form, "emulator") == 0 && strcmp(image->chip, hooks->chip) == 0;
}

// Alignment that MLIR adds to what a buffer needs.
#define PADDING 64

// A word is marked or not: one that holds the end of the data is left out, since a byte that the host writes there may
// be the mark's own.
static void mark(void *device, void *memory, size_t bytes) {
  const tessera_emulator_hooks_t *hooks = device;
  size_t word = sizeof hooks->unwritten, end = bytes > PADDING ? bytes - PADDING : bytes;
  for (size_t at = 0; at < bytes; at += word) {
    bool is_end = at + word > bytes || (end % word && at == end - end % word);
    memcpy((char *)memory + at, is_end ? (const char[sizeof hooks->unwritten]){0} : (const char *)&hooks->unwritten,
           bytes - at < word ? bytes - at : word);
  }
}

static bool launch(void *device, void *kernel, const tessera_device_launch_t *launch, void *stream,
                   tessera_error_t *out_error) {
  const tessera_emulator_hooks_t *hooks = device;
  return hooks->launch(hooks->user, kernel, launch, out_error);
}

const tessera_driver_t tessera_emulator_driver = {
    .name = "emulator",
    .open = open_device,
    .close = close_device,
    .suits = suits,
    TESSERA_HOST_DRIVER,
    .mark = mark,
    .launch = launch,
};
