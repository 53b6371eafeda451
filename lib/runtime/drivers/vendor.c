// vendor.c - devices by their vendor's driver library, which dlopen finds. See vendor.h.
// Memory is managed (unified): the host reads it when the device is done. The device's own (primary) context is used,
// so other libraries of the process share it; it is made the thread's by each call.
#include "lib/runtime/drivers/vendor.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

//===--- the library ----------------------------------------------------------------===//

bool tessera_vendor_check(const tessera_vendor_device_t *device, int status, const char *doing,
                          tessera_error_t *out_error) {
  const char *text = NULL;
  if (!status)
    return true;
  if (device->call.error_text(status, &text) != 0 || !text)
    text = "an error without a name";
  return tessera_fail(out_error, "%s: %s (%d)", doing, text, status);
}

void *tessera_vendor_symbol(const tessera_vendor_device_t *device, const char *name, tessera_error_t *out_error) {
  void *symbol = dlsym(device->library, name);
  if (!symbol)
    tessera_fail(out_error, "the driver library has no function %s: it is too old, or no driver", name);
  return symbol;
}

typedef struct name_t {
  const char *cuda, *hip;
} name_t;

static const name_t names[] = {
#define X(field, cuda, hip, parameters) {cuda, hip},
    TESSERA_VENDOR_FUNCTIONS(X)
#undef X
};

// The first of its libraries that there is; the error is about the first of all.
static bool open_library(const tessera_vendor_t *vendor, tessera_vendor_device_t *device, tessera_error_t *out_error) {
  for (int i = 0; vendor->libraries[i]; ++i) {
    device->library = dlopen(vendor->libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (device->library)
      return true;
    if (!i)
      tessera_fail(out_error, "no %s: this needs %s (%s)", vendor->libraries[0], vendor->hardware, dlerror());
  }
  return false;
}

static bool bind(const tessera_vendor_t *vendor, tessera_vendor_device_t *device, tessera_error_t *out_error) {
  if (!open_library(vendor, device, out_error))
    return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    void *symbol = tessera_vendor_symbol(device, vendor->is_hip ? names[i].hip : names[i].cuda, out_error);
    if (!symbol)
      return false;
    memcpy((char *)&device->call + i * sizeof symbol, &symbol, sizeof symbol); // a struct of function pointers only
  }
  return true;
}

static bool find_device(const tessera_vendor_t *vendor, int ordinal, tessera_vendor_device_t *device,
                        tessera_error_t *out_error) {
  int count = 0;
  if (!tessera_vendor_check(device, device->call.initialize(0), "starting the driver", out_error) ||
      !tessera_vendor_check(device, device->call.device_count(&count), "counting devices", out_error))
    return false;
  if (ordinal < 0 || ordinal >= count)
    return tessera_fail(out_error, "there is no device %d: %s finds %d", ordinal, vendor->libraries[0], count);
  return tessera_vendor_check(device, device->call.device_get(&device->device, ordinal), "opening a device",
                              out_error) &&
         tessera_vendor_check(device,
                              device->call.device_name(device->info.name, sizeof device->info.name, device->device),
                              "naming a device", out_error) &&
         vendor->attach(device, out_error);
}

bool tessera_vendor_open(const tessera_vendor_t *vendor, int ordinal, void **out_device,
                         tessera_device_info_t *out_info, tessera_error_t *out_error) {
  tessera_vendor_device_t *device = calloc(1, sizeof *device);
  if (!device)
    return tessera_fail(out_error, "out of memory");
  if (!bind(vendor, device, out_error) || !find_device(vendor, ordinal, device, out_error)) {
    tessera_vendor_close(device);
    return false;
  }
  *out_device = device;
  *out_info = device->info;
  return true;
}

// The library stays: unloading a driver that has threads ends badly.
void tessera_vendor_close(void *opened) {
  tessera_vendor_device_t *device = opened;
  if (device->context)
    device->cuda.context_release(device->device);
  free(device);
}

bool tessera_vendor_enter(const tessera_vendor_device_t *device, tessera_error_t *out_error) {
  int status = device->context ? device->cuda.context_set(device->context) : device->device_set(device->device);
  return tessera_vendor_check(device, status, "entering the device", out_error);
}

// Makes the device the thread's, then reports `call`.
#define ON_DEVICE(device, doing, out_error, invoke)                                                                    \
  (tessera_vendor_enter(device, out_error) && tessera_vendor_check(device, (device)->call.invoke, doing, out_error))

//===--- memory -----------------------------------------------------------------------===//

bool tessera_vendor_allocate(void *opened, size_t bytes, void **out_memory, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "allocating memory", out_error,
                   allocate(out_memory, bytes ? bytes : 1, TESSERA_ATTACH_GLOBAL));
}

bool tessera_vendor_release(void *opened, void *memory, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "releasing memory", out_error, release(memory));
}

// The device's default stream has no handle.
static void *handle_of(void *stream) { return (uintptr_t)stream == TESSERA_DEFAULT_STREAM ? NULL : stream; }

bool tessera_vendor_copy(void *opened, void *to, const void *from, size_t bytes, void *stream,
                         tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "copying", out_error, copy(to, from, bytes, handle_of(stream)));
}

//===--- streams and events -------------------------------------------------------------===//

bool tessera_vendor_stream_create(void *opened, void **out_stream, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "making a stream", out_error, stream_create(out_stream, TESSERA_STREAM_NON_BLOCKING));
}

bool tessera_vendor_stream_destroy(void *opened, void *stream, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "ending a stream", out_error, stream_destroy(stream));
}

bool tessera_vendor_stream_synchronize(void *opened, void *stream, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "waiting for the device", out_error, stream_synchronize(handle_of(stream)));
}

bool tessera_vendor_event_create(void *opened, void **out_event, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "making an event", out_error, event_create(out_event, 0));
}

bool tessera_vendor_event_destroy(void *opened, void *event, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "ending an event", out_error, event_destroy(event));
}

bool tessera_vendor_event_record(void *opened, void *event, void *stream, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "recording an event", out_error, event_record(event, handle_of(stream)));
}

bool tessera_vendor_event_elapsed(void *opened, void *begin, void *end, double *out_milliseconds,
                                  tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  float milliseconds = 0;
  if (!ON_DEVICE(device, "waiting for an event", out_error, event_synchronize(end)) ||
      !tessera_vendor_check(device, device->call.event_elapsed(&milliseconds, begin, end), "timing", out_error))
    return false;
  *out_milliseconds = (double)milliseconds;
  return true;
}

//===--- code ---------------------------------------------------------------------------===//

// The driver's compiler says what is wrong with PTX, where it has a buffer for it.
bool tessera_vendor_module_load(void *opened, const tessera_image_t *image, void **out_module,
                                tessera_error_t *out_error) {
  enum { LOG_BYTES = 600 };
  const tessera_vendor_device_t *device = opened;
  char doing[LOG_BYTES + 128], log[LOG_BYTES] = "";
  int options[] = {TESSERA_ERROR_LOG, TESSERA_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
  bool is_ptx = strcmp(image->form, "ptx") == 0;
  if (!tessera_vendor_enter(device, out_error))
    return false;
  int status = device->call.module_load(out_module, image->data, is_ptx ? 2 : 0, options, values);
  log[LOG_BYTES - 1] = 0;
  snprintf(doing, sizeof doing, "loading the %s of '%s'%s%s", image->form, image->module, log[0] ? ": " : "", log);
  return tessera_vendor_check(device, status, doing, out_error);
}

bool tessera_vendor_module_unload(void *opened, void *module, tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  return ON_DEVICE(device, "unloading code", out_error, module_unload(module));
}

bool tessera_vendor_kernel_find(void *opened, void *module, const tessera_image_kernel_t *kernel, void **out_kernel,
                                tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  char doing[160];
  snprintf(doing, sizeof doing, "looking for kernel '%.100s'", kernel->name);
  if (!ON_DEVICE(device, doing, out_error, kernel_find(out_kernel, module, kernel->name)))
    return false;
  if (!device->cuda.set_attribute || kernel->dynamic_shared_bytes <= 0)
    return true;
  snprintf(doing, sizeof doing, "giving kernel '%.80s' %lld bytes of shared memory", kernel->name,
           (long long)kernel->dynamic_shared_bytes);
  return tessera_vendor_check(
      device,
      device->cuda.set_attribute(*out_kernel, TESSERA_DYNAMIC_SHARED_ATTRIBUTE, (int)kernel->dynamic_shared_bytes),
      doing, out_error);
}

bool tessera_vendor_launch(void *opened, void *kernel, const tessera_device_launch_t *launch, void *stream,
                           tessera_error_t *out_error) {
  const tessera_vendor_device_t *device = opened;
  const uint32_t *g = launch->grid, *b = launch->block;
  char doing[160];
  snprintf(doing, sizeof doing, "launching kernel '%.100s'", launch->name);
  if (launch->cooperative)
    return ON_DEVICE(device, doing, out_error,
                     launch_cooperative(kernel, g[0], g[1], g[2], b[0], b[1], b[2], launch->shared_bytes,
                                        handle_of(stream), launch->params));
  return ON_DEVICE(device, doing, out_error,
                   launch(kernel, g[0], g[1], g[2], b[0], b[1], b[2], launch->shared_bytes, handle_of(stream),
                          launch->params, NULL));
}
