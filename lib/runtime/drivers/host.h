// host.h - devices whose work is done when a launch returns, in the host's memory: what null and emulator share.
// Every function is one of tessera_driver_t. A module and a kernel are the image they are in.
#pragma once

#include "lib/runtime/driver.h"

bool tessera_host_allocate(void *device, size_t bytes, void **out_memory, tessera_error_t *out_error);
bool tessera_host_release(void *device, void *memory, tessera_error_t *out_error);
bool tessera_host_copy(void *device, void *to, const void *from, size_t bytes, void *stream,
                       tessera_error_t *out_error);
bool tessera_host_stream_create(void *device, void **out_stream, tessera_error_t *out_error);
bool tessera_host_stream_destroy(void *device, void *stream, tessera_error_t *out_error);
bool tessera_host_stream_synchronize(void *device, void *stream, tessera_error_t *out_error);
bool tessera_host_event_create(void *device, void **out_event, tessera_error_t *out_error);
bool tessera_host_event_destroy(void *device, void *event, tessera_error_t *out_error);
bool tessera_host_event_record(void *device, void *event, void *stream, tessera_error_t *out_error);
bool tessera_host_event_elapsed(void *device, void *begin, void *end, double *out_milliseconds,
                                tessera_error_t *out_error);
bool tessera_host_module_load(void *device, const tessera_image_t *image, void **out_module,
                              tessera_error_t *out_error);
bool tessera_host_module_unload(void *device, void *module, tessera_error_t *out_error);
bool tessera_host_kernel_find(void *device, void *module, const tessera_image_kernel_t *kernel, void **out_kernel,
                              tessera_error_t *out_error);

// The map is its description.
bool tessera_host_tensor_map(void *device, const tessera_tensor_map_t *map, void *out_map, tessera_error_t *out_error);

// The rows of a driver's table that these fill.
#define TESSERA_HOST_DRIVER                                                                                            \
  .allocate = tessera_host_allocate, .release = tessera_host_release, .copy = tessera_host_copy,                       \
  .stream_create = tessera_host_stream_create, .stream_destroy = tessera_host_stream_destroy,                          \
  .stream_synchronize = tessera_host_stream_synchronize, .event_create = tessera_host_event_create,                    \
  .event_destroy = tessera_host_event_destroy, .event_record = tessera_host_event_record,                              \
  .event_elapsed = tessera_host_event_elapsed, .module_load = tessera_host_module_load,                                \
  .module_unload = tessera_host_module_unload, .kernel_find = tessera_host_kernel_find,                                \
  .tensor_map = tessera_host_tensor_map
