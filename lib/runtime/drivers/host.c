// host.c - streams that are always done, events that are times, memory of the host. See host.h.
#include "lib/runtime/drivers/host.h"

#include "lib/support/clock.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

bool tessera_host_allocate(void *device, size_t bytes, void **out_memory, tessera_error_t *out_error) {
  if (bytes > SIZE_MAX / 2 || posix_memalign(out_memory, ALIGNMENT, bytes ? bytes : 1) != 0)
    return tessera_fail(out_error, "the system has no %zu bytes of memory", bytes);
  return true;
}

bool tessera_host_release(void *device, void *memory, tessera_error_t *out_error) {
  free(memory);
  return true;
}

bool tessera_host_copy(void *device, void *to, const void *from, size_t bytes, void *stream,
                       tessera_error_t *out_error) {
  memmove(to, from, bytes);
  return true;
}

//===--- streams and events ---------------------------------------------------------===//

// A stream is a byte of its own: its address is its name.
bool tessera_host_stream_create(void *device, void **out_stream, tessera_error_t *out_error) {
  *out_stream = malloc(1);
  return *out_stream || tessera_fail(out_error, "out of memory");
}

bool tessera_host_stream_destroy(void *device, void *stream, tessera_error_t *out_error) {
  free(stream);
  return true;
}

bool tessera_host_stream_synchronize(void *device, void *stream, tessera_error_t *out_error) { return true; }

bool tessera_host_event_create(void *device, void **out_event, tessera_error_t *out_error) {
  *out_event = calloc(1, sizeof(int64_t));
  return *out_event || tessera_fail(out_error, "out of memory");
}

bool tessera_host_event_destroy(void *device, void *event, tessera_error_t *out_error) {
  free(event);
  return true;
}

bool tessera_host_event_record(void *device, void *event, void *stream, tessera_error_t *out_error) {
  *(int64_t *)event = tessera_nanoseconds();
  return true;
}

bool tessera_host_event_elapsed(void *device, void *begin, void *end, double *out_milliseconds,
                                tessera_error_t *out_error) {
  if (!*(int64_t *)begin || !*(int64_t *)end)
    return tessera_fail(out_error, "an event was not recorded");
  *out_milliseconds = (double)(*(int64_t *)end - *(int64_t *)begin) * 1e-6;
  return true;
}

//===--- code -----------------------------------------------------------------------===//

bool tessera_host_module_load(void *device, const tessera_image_t *image, void **out_module,
                              tessera_error_t *out_error) {
  *out_module = (void *)(uintptr_t)image;
  return true;
}

bool tessera_host_module_unload(void *device, void *module, tessera_error_t *out_error) { return true; }

bool tessera_host_kernel_find(void *device, void *module, const tessera_image_kernel_t *kernel, void **out_kernel,
                              tessera_error_t *out_error) {
  const tessera_image_t *image = module;
  for (int64_t i = 0; i < image->num_kernels; ++i)
    if (strcmp(image->kernels[i].name, kernel->name) == 0)
      return *out_kernel = module, true;
  return tessera_fail(out_error, "module '%s' has no kernel '%s'", image->module, kernel->name);
}

bool tessera_host_tensor_map(void *device, const tessera_tensor_map_t *map, void *out_map, tessera_error_t *out_error) {
  memcpy(out_map, map, sizeof *map);
  return true;
}
