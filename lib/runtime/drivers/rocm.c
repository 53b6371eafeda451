// rocm.c - AMD's GPUs by libamdhip64.so, and the messages of their kernels. What CUDA's driver has too: vendor.c.
#include "lib/runtime/drivers/vendor.h"
#include "lib/runtime/messages.h"

#include <string.h>

// The record of properties begins with the device's name and grew over the versions of HIP, which got another function
// for it in version 6; the chip is the one text behind the name that begins with "gfx".
enum { PROPERTIES_BYTES = 8192, NAME_BYTES = 256 };

static bool find_chip(const char *properties, tessera_vendor_device_t *device, tessera_error_t *out_error) {
  for (size_t i = NAME_BYTES; i + 4 < PROPERTIES_BYTES; ++i)
    if (memcmp(properties + i, "gfx", 3) == 0) { // "gfx942:sramecc+:xnack-"
      size_t length = strcspn(properties + i, ":");
      snprintf(device->info.chip, sizeof device->info.chip, "%.*s", (int)(length < 32 ? length : 32), properties + i);
      return true;
    }
  return tessera_fail(out_error, "the driver does not say which chip '%s' is", device->info.name);
}

static bool find_properties(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  char properties[PROPERTIES_BYTES] = "";
  int (*get)(void *, int);
  void *symbol = tessera_vendor_symbol(device, "hipGetDevicePropertiesR0600", NULL);
  symbol = symbol ? symbol : tessera_vendor_symbol(device, "hipGetDeviceProperties", out_error);
  if (!symbol)
    return false;
  memcpy(&get, &symbol, sizeof symbol);
  return tessera_vendor_check(device, get(properties, device->device), "asking for the chip", out_error) &&
         find_chip(properties, device, out_error);
}

static bool attach(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  void *set = tessera_vendor_symbol(device, "hipSetDevice", out_error);
  void *synchronize = set ? tessera_vendor_symbol(device, "hipDeviceSynchronize", out_error) : NULL;
  void *global = synchronize ? tessera_vendor_symbol(device, "hipModuleGetGlobal", out_error) : NULL;
  if (!global)
    return false;
  memcpy(&device->device_set, &set, sizeof set);
  memcpy(&device->device_synchronize, &synchronize, sizeof synchronize);
  memcpy(&device->module_global, &global, sizeof global);
  pthread_mutex_init(&device->lock, NULL);
  return find_properties(device, out_error);
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

//===--- messages -----------------------------------------------------------------------===//

enum { MESSAGES_BYTES = 1 << 20 };

static bool copy_now(tessera_vendor_device_t *device, void *to, const void *from, size_t bytes,
                     tessera_error_t *out_error) {
  void *stream;
  if (!tessera_vendor_stream_create(device, &stream, out_error))
    return false;
  bool ok = tessera_vendor_copy(device, to, from, bytes, stream, out_error) &&
            tessera_vendor_stream_synchronize(device, stream, out_error);
  return tessera_vendor_stream_destroy(device, stream, ok ? out_error : NULL) && ok;
}

// Code that says anything has a word for the buffer's address. All of a device's code shares one buffer.
static bool give_buffer(tessera_vendor_device_t *device, void *address, tessera_error_t *out_error) {
  pthread_mutex_lock(&device->lock);
  bool ok = device->messages || tessera_vendor_allocate(device, MESSAGES_BYTES, &device->messages, out_error);
  if (ok && !((tessera_messages_t *)device->messages)->bytes) {
    memset(device->messages, 0, MESSAGES_BYTES);
    tessera_messages_begin(device->messages, MESSAGES_BYTES);
  }
  ok = ok && copy_now(device, address, &((tessera_messages_t *)device->messages)->self, sizeof(void *), out_error);
  pthread_mutex_unlock(&device->lock);
  return ok;
}

static bool module_load(void *opened, const tessera_image_t *image, void **out_module, tessera_error_t *out_error) {
  tessera_vendor_device_t *device = opened;
  void *address = NULL;
  size_t bytes = 0;
  if (!tessera_vendor_module_load(device, image, out_module, out_error))
    return false;
  if (device->module_global(&address, &bytes, *out_module, "tessera_messages") != 0 || bytes != sizeof(void *))
    return true; // it says nothing
  if (give_buffer(device, address, out_error))
    return true;
  tessera_vendor_module_unload(device, *out_module, NULL);
  return false;
}

// While messages are read and forgotten no kernel may add any.
static bool launch(void *opened, void *kernel, const tessera_device_launch_t *one, void *stream,
                   tessera_error_t *out_error) {
  tessera_vendor_device_t *device = opened;
  pthread_mutex_lock(&device->lock);
  bool ok = tessera_vendor_launch(device, kernel, one, stream, out_error);
  pthread_mutex_unlock(&device->lock);
  return ok;
}

static bool take_messages(tessera_vendor_device_t *device, tessera_error_t *out_error) {
  pthread_mutex_lock(&device->lock);
  bool ok = true;
  if (device->messages && tessera_messages_are_there(device->messages))
    ok = tessera_vendor_check(device, device->device_synchronize(), "waiting for the device", out_error) &&
         tessera_messages_take(device->messages, stdout, out_error);
  pthread_mutex_unlock(&device->lock);
  return ok;
}

static bool stream_synchronize(void *opened, void *stream, tessera_error_t *out_error) {
  return tessera_vendor_stream_synchronize(opened, stream, out_error) && take_messages(opened, out_error);
}

static void close_device(void *opened) {
  tessera_vendor_device_t *device = opened;
  if (device->messages)
    tessera_vendor_release(device, device->messages, NULL);
  pthread_mutex_destroy(&device->lock);
  tessera_vendor_close(device);
}

static bool tensor_map(void *device, const tessera_tensor_map_t *map, void *out_map, tessera_error_t *out_error) {
  return tessera_fail(out_error, "AMD's devices have no engine that copies boxes of tensors");
}

const tessera_driver_t tessera_rocm_driver = {
    .name = "rocm",
    .open = open_device,
    .suits = suits,
    .close = close_device,
    .stream_synchronize = stream_synchronize,
    .module_load = module_load,
    .launch = launch,
    .tensor_map = tensor_map,
    TESSERA_VENDOR_DRIVER,
};
