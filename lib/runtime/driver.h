// driver.h - what a kind of device must be able to do: one table of functions each, in lib/runtime/drivers.
//
// A driver is how the runtime reaches devices: "cuda" and "rocm" open the vendor's library when they are first asked
// (nothing of it is needed to build), "emulator" calls whoever holds lib/emulator, "null" runs nothing and serves tests
// and measurements of the host's part. Programs do not call this; they go through device.h.
//
// Every function returns false after writing a sentence, and never ends the process. Handles are the driver's own.
#pragma once

#include "lib/support/status.h"
#include "lib/support/tensor_map.h"

#include <stddef.h>
#include <stdint.h>

//===--- code for a device ------------------------------------------------------===//
// All fields are 8 bytes, as in manifest.h: programs hold these as constants.

typedef struct tessera_image_kernel_t {
  const char *name;
  int64_t dynamic_shared_bytes; // what a launch gives beyond what the code declares
  int64_t cooperative;          // 1: its programs wait for each other, so all of them must run at once
} tessera_image_kernel_t;

// One gpu.module for one chip.
typedef struct tessera_image_t {
  const char *module; // its name in the program
  const char *chip;   // "sm_80"
  const char *form;   // "ptx", "cubin", "hsaco", "emulator"
  const void *data;   // PTX ends with a zero, which |size| does not count
  int64_t size;
  int64_t num_kernels;
  const tessera_image_kernel_t *kernels;
} tessera_image_t;

typedef struct tessera_images_t {
  int64_t count;
  const tessera_image_t *items;
} tessera_images_t;

//===--- drivers ------------------------------------------------------------------===//

typedef struct tessera_device_info_t {
  char chip[64];  // "sm_90", "gfx942"
  char name[128]; // "NVIDIA H100 80GB HBM3"
} tessera_device_info_t;

typedef struct tessera_device_launch_t {
  const char *name;           // of the kernel, for messages
  uint32_t grid[3], block[3]; // none is 0
  uint32_t shared_bytes;      // beyond what the code declares
  bool cooperative;           // all blocks are resident at once and may wait for each other
  void **params;              // one pointer to each parameter
  int64_t num_params;
} tessera_device_launch_t;

// The number of a device's default stream, which has no handle at all (0 is no stream). DLPack's number for NVIDIA's.
enum { TESSERA_DEFAULT_STREAM = 1 };

typedef struct tessera_driver_t {
  const char *name;
  // |context|: what the driver needs from its user (the emulator: its hooks); else NULL.
  bool (*open)(int ordinal, const void *context, void **out_device, tessera_device_info_t *out_info,
               tessera_error_t *out_error);
  void (*close)(void *device);
  // How well the image suits the device: 0 not at all, else more is better.
  int (*suits)(void *device, const tessera_image_t *image);
  // Memory that host and device both reach by one address; the host when the device's work is done. Aligned to 256.
  bool (*allocate)(void *device, size_t bytes, void **out_memory, tessera_error_t *out_error);
  bool (*release)(void *device, void *memory, tessera_error_t *out_error);
  // Marks memory that a program was given as written by nobody yet; NULL: it stays as it is.
  void (*mark)(void *device, void *memory, size_t bytes);
  // In the order of the stream.
  bool (*copy)(void *device, void *to, const void *from, size_t bytes, void *stream, tessera_error_t *out_error);
  bool (*stream_create)(void *device, void **out_stream, tessera_error_t *out_error);
  bool (*stream_destroy)(void *device, void *stream, tessera_error_t *out_error);
  bool (*stream_synchronize)(void *device, void *stream, tessera_error_t *out_error);
  bool (*event_create)(void *device, void **out_event, tessera_error_t *out_error);
  bool (*event_destroy)(void *device, void *event, tessera_error_t *out_error);
  bool (*event_record)(void *device, void *event, void *stream, tessera_error_t *out_error);
  // Between two events that were recorded; waits for the second.
  bool (*event_elapsed)(void *device, void *begin, void *end, double *out_milliseconds, tessera_error_t *out_error);
  bool (*module_load)(void *device, const tessera_image_t *image, void **out_module, tessera_error_t *out_error);
  bool (*module_unload)(void *device, void *module, tessera_error_t *out_error);
  bool (*kernel_find)(void *device, void *module, const tessera_image_kernel_t *kernel, void **out_kernel,
                      tessera_error_t *out_error);
  bool (*launch)(void *device, void *kernel, const tessera_device_launch_t *launch, void *stream,
                 tessera_error_t *out_error);
  // Encodes the tensor for kernels that copy boxes of it: TESSERA_MAP_BYTES bytes, aligned to 64. What
  // tessera_tensor_map_check refuses does not get here.
  bool (*tensor_map)(void *device, const tessera_tensor_map_t *map, void *out_map, tessera_error_t *out_error);
} tessera_driver_t;

// By name; NULL after an error that lists them.
const tessera_driver_t *tessera_driver_find(const char *name, tessera_error_t *out_error);

extern const tessera_driver_t tessera_null_driver, tessera_emulator_driver, tessera_cuda_driver, tessera_rocm_driver;

//===--- the emulator's side --------------------------------------------------------===//

// The runtime knows no emulator: whoever links one says how a kernel is run. `context` of the driver's open.
typedef struct tessera_emulator_hooks_t {
  void *user;
  const char *chip;
  uint32_t unwritten; // what each word of memory holds that the program was given and nobody has written
  // Runs the grid to its end. False, with the error, when it could not be run or something was wrong with it.
  bool (*launch)(void *user, const tessera_image_t *image, const tessera_device_launch_t *launch,
                 tessera_error_t *out_error);
} tessera_emulator_hooks_t;
