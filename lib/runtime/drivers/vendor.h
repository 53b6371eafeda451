// vendor.h - what the driver libraries of NVIDIA and AMD have in common: the same functions under other names.
// Why one table: HIP was made after CUDA's driver interface; where the two agree, so does this code.
// Prototypes are our own: no header of theirs is needed to build, and the library is looked for when a device is
// opened.
#pragma once

#include "lib/runtime/driver.h"

#include <pthread.h>

// Handles are pointers; a device is an int; every function returns 0 or the number of an error.
//   X(field, CUDA's name, HIP's name, parameters)
// Names are those that libraries export, with the suffix of the version that has these parameters.
#define TESSERA_VENDOR_FUNCTIONS(X)                                                                                    \
  X(initialize, "cuInit", "hipInit", (unsigned flags))                                                                 \
  X(error_text, "cuGetErrorString", "hipDrvGetErrorString", (int error, const char **text))                            \
  X(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *count))                                               \
  X(device_get, "cuDeviceGet", "hipDeviceGet", (int *device, int ordinal))                                             \
  X(device_name, "cuDeviceGetName", "hipDeviceGetName", (char *name, int size, int device))                            \
  X(allocate, "cuMemAllocManaged", "hipMallocManaged", (void **memory, size_t bytes, unsigned flags))                  \
  X(release, "cuMemFree_v2", "hipFree", (void *memory))                                                                \
  X(copy, "cuMemcpyAsync", "hipMemcpyDtoDAsync", (void *to, const void *from, size_t bytes, void *stream))             \
  X(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (void **stream, unsigned flags))                      \
  X(stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy", (void *stream))                                          \
  X(stream_synchronize, "cuStreamSynchronize", "hipStreamSynchronize", (void *stream))                                 \
  X(event_create, "cuEventCreate", "hipEventCreateWithFlags", (void **event, unsigned flags))                          \
  X(event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (void *event))                                              \
  X(event_record, "cuEventRecord", "hipEventRecord", (void *event, void *stream))                                      \
  X(event_synchronize, "cuEventSynchronize", "hipEventSynchronize", (void *event))                                     \
  X(event_elapsed, "cuEventElapsedTime", "hipEventElapsedTime", (float *milliseconds, void *begin, void *end))         \
  X(module_load, "cuModuleLoadDataEx", "hipModuleLoadDataEx",                                                          \
    (void **module, const void *image, unsigned count, int *options, void **values))                                   \
  X(module_unload, "cuModuleUnload", "hipModuleUnload", (void *module))                                                \
  X(kernel_find, "cuModuleGetFunction", "hipModuleGetFunction", (void **kernel, void *module, const char *name))       \
  X(launch, "cuLaunchKernel", "hipModuleLaunchKernel",                                                                 \
    (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,      \
     void *stream, void **params, void **extra))                                                                       \
  X(launch_cooperative, "cuLaunchCooperativeKernel", "hipModuleLaunchCooperativeKernel",                               \
    (void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,      \
     void *stream, void **params))

// What only CUDA's driver has: contexts (HIP's are deprecated: a thread says hipSetDevice), the chip as two numbers,
// and shared memory beyond what a kernel declares, which must be asked for.
//   X(field, name, parameters)
#define TESSERA_CUDA_FUNCTIONS(X)                                                                                      \
  X(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                                          \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                     \
  X(context_set, "cuCtxSetCurrent", (void *context))                                                                   \
  X(get_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                    \
  X(set_attribute, "cuFuncSetAttribute", (void *kernel, int attribute, int value))

// Their constants, by what they are in CUDA's headers; HIP's flags have the same values.
enum {
  TESSERA_ATTACH_GLOBAL = 1,            // CU_MEM_ATTACH_GLOBAL
  TESSERA_STREAM_NON_BLOCKING = 1,      // CU_STREAM_NON_BLOCKING
  TESSERA_DYNAMIC_SHARED_ATTRIBUTE = 8, // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  TESSERA_MAJOR_ATTRIBUTE = 75,         // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
  TESSERA_MINOR_ATTRIBUTE = 76,
  TESSERA_ERROR_LOG = 5, // CU_JIT_ERROR_LOG_BUFFER, _SIZE_BYTES
  TESSERA_ERROR_LOG_BYTES = 6
};

typedef struct tessera_cuda_functions_t {
#define X(field, name, parameters) int(*field) parameters;
  TESSERA_CUDA_FUNCTIONS(X)
#undef X
} tessera_cuda_functions_t;

typedef struct tessera_vendor_functions_t {
#define X(field, cuda, hip, parameters) int(*field) parameters;
  TESSERA_VENDOR_FUNCTIONS(X)
#undef X
} tessera_vendor_functions_t;

typedef struct tessera_vendor_device_t {
  tessera_vendor_functions_t call;
  void *library, *context;
  int device;
  tessera_device_info_t info;
  tessera_cuda_functions_t cuda; // of an NVIDIA device
  // Of an AMD device.
  int (*device_set)(int ordinal);
  int (*device_synchronize)(void);
  int (*module_global)(void **address, size_t *bytes, void *module, const char *name);
  void *messages;       // lib/runtime/messages.h; NULL: no code of this device has any
  pthread_mutex_t lock; // of the messages: no launch while they are read
} tessera_vendor_device_t;

typedef struct tessera_vendor_t {
  const char *const *libraries; // "libcuda.so.1", others to try, NULL
  const char *hardware;         // "an NVIDIA GPU with its driver"
  bool is_hip;
  // Binds what only this vendor has, takes the device, fills info.chip.
  bool (*attach)(tessera_vendor_device_t *device, tessera_error_t *out_error);
} tessera_vendor_t;

bool tessera_vendor_open(const tessera_vendor_t *vendor, int ordinal, void **out_device,
                         tessera_device_info_t *out_info, tessera_error_t *out_error);
void tessera_vendor_close(void *device);
// 0 is true; else the library's own text, after what was being |doing|.
bool tessera_vendor_check(const tessera_vendor_device_t *device, int status, const char *doing,
                          tessera_error_t *out_error);
// Makes the device the thread's: all that follow do so themselves.
bool tessera_vendor_enter(const tessera_vendor_device_t *device, tessera_error_t *out_error);
// A function of the library that only one vendor has; NULL after an error.
void *tessera_vendor_symbol(const tessera_vendor_device_t *device, const char *name, tessera_error_t *out_error);

bool tessera_vendor_allocate(void *device, size_t bytes, void **out_memory, tessera_error_t *out_error);
bool tessera_vendor_release(void *device, void *memory, tessera_error_t *out_error);
bool tessera_vendor_copy(void *device, void *to, const void *from, size_t bytes, void *stream,
                         tessera_error_t *out_error);
bool tessera_vendor_stream_create(void *device, void **out_stream, tessera_error_t *out_error);
bool tessera_vendor_stream_destroy(void *device, void *stream, tessera_error_t *out_error);
bool tessera_vendor_stream_synchronize(void *device, void *stream, tessera_error_t *out_error);
bool tessera_vendor_event_create(void *device, void **out_event, tessera_error_t *out_error);
bool tessera_vendor_event_destroy(void *device, void *event, tessera_error_t *out_error);
bool tessera_vendor_event_record(void *device, void *event, void *stream, tessera_error_t *out_error);
bool tessera_vendor_event_elapsed(void *device, void *begin, void *end, double *out_milliseconds,
                                  tessera_error_t *out_error);
bool tessera_vendor_module_load(void *device, const tessera_image_t *image, void **out_module,
                                tessera_error_t *out_error);
bool tessera_vendor_module_unload(void *device, void *module, tessera_error_t *out_error);
bool tessera_vendor_kernel_find(void *device, void *module, const tessera_image_kernel_t *kernel, void **out_kernel,
                                tessera_error_t *out_error);
bool tessera_vendor_launch(void *device, void *kernel, const tessera_device_launch_t *launch, void *stream,
                           tessera_error_t *out_error);

// The rows of a driver's table that these fill for both.
#define TESSERA_VENDOR_DRIVER                                                                                          \
  .allocate = tessera_vendor_allocate, .release = tessera_vendor_release, .copy = tessera_vendor_copy,                 \
  .stream_create = tessera_vendor_stream_create, .stream_destroy = tessera_vendor_stream_destroy,                      \
  .event_create = tessera_vendor_event_create, .event_destroy = tessera_vendor_event_destroy,                          \
  .event_record = tessera_vendor_event_record, .event_elapsed = tessera_vendor_event_elapsed,                          \
  .module_unload = tessera_vendor_module_unload, .kernel_find = tessera_vendor_kernel_find
