// device.h - a device that programs run on, and what the host part of a GPU program calls.
//
//   tessera_device_t *device = tessera_device_open(&tessera_cuda_driver, 0, NULL, &error);
//   tessera_device_t *outer = tessera_device_enter(device);     // this thread's programs now launch on it
//   tessera_arena_t *arena = tessera_device_arena(device);      // memory that host and device both reach
//   tessera_arena_t *before = tessera_arena_enter(arena);
//   … arguments in memory of the arena; _mlir_ciface_step(&result, &x) …
//   tessera_arena_enter(before);
//   tessera_arena_destroy(arena);
//   tessera_device_enter(outer);
//   tessera_device_close(device);
//
// A launch returns at once; launches run in order, on one stream: the thread's (tessera_stream_enter, a handle of the
// driver's), else the device's own. Compiled code waits before the host touches memory (tessera_device_synchronize) and
// before an entry returns (tessera_device_finish); with a stream entered, an entry returns before its work is done. A
// device serves any number of threads, one after the other; each enters it for itself.
#pragma once

#include "lib/runtime/arena.h"
#include "lib/runtime/driver.h"

typedef struct tessera_device_t tessera_device_t;

// NULL after an error that says what is missing.
tessera_device_t *tessera_device_open(const tessera_driver_t *driver, int ordinal, const void *context,
                                      tessera_error_t *out_error);
void tessera_device_close(tessera_device_t *device); // waits for its work; arenas in its memory must be gone
const tessera_device_info_t *tessera_device_info(const tessera_device_t *device);

// Whether any of the images is code for this device.
bool tessera_device_takes(const tessera_device_t *device, const tessera_images_t *images);
// Images for programs that hold none (what tile-run compiles); they outlive the device's use of them.
void tessera_device_give_images(tessera_device_t *device, const tessera_images_t *images);

// Returns the one before; NULL: none. On an entered stream, earlier work may still be under way.
tessera_device_t *tessera_device_enter(tessera_device_t *device);
tessera_device_t *tessera_device_entered(void);
tessera_arena_t *tessera_device_arena(tessera_device_t *device); // a new one in its memory; NULL when out of memory

// Calls |visit| for every piece of memory that a program launched by this thread may touch: what is in use of the
// entered arena, and the device's copies of constants.
void tessera_device_for_each_memory(tessera_device_t *device, void (*visit)(void *context, void *memory, size_t bytes),
                                    void *context);

// Copies after what this thread launched, before what it launches next; memory of the host, too. Nothing waits.
bool tessera_device_copy(tessera_device_t *device, void *to, const void *from, size_t bytes,
                         tessera_error_t *out_error);

// Waits for what this thread launched; the error is that of the first launch that went wrong.
bool tessera_device_wait(tessera_device_t *device, tessera_error_t *out_error);

//===--- what compiled code calls; failures raise (call.h) ----------------------------===//

// Launches kernel |name| of gpu.module |module|. |sizes|: grid x y z, block x y z, bytes of shared memory beyond what
// the kernel declares. A grid with a size of 0 or less is empty. |images|: the program's, or none (see above).
void tessera_launch_device(const tessera_images_t *images, const char *module, const char *name, const int64_t *sizes,
                           void **params, int64_t num_params);
// Encodes a tensor for a kernel that copies boxes of it, as the parameter that the kernel takes: TESSERA_MAP_BYTES
// bytes, aligned to 64.
void tessera_device_tensor_map(const tessera_tensor_map_t *map, void *out_map);
// For a program whose host's part differs between GPUs: which of the tables of images suits the entered device best; 0
// where none is entered (the launch then says so). Raises where none suits, and gives -1 if that returns.
int64_t tessera_device_choose(const tessera_images_t *const *tables, int64_t count);
// Waits for the device if this thread launched anything since its last wait.
void tessera_device_synchronize(void);
void tessera_device_finish(void); // does so unless a stream is entered: whoever entered it waits for its work
// How often this thread's programs waited for work under way on a device.
int64_t tessera_host_waits(void);
// The copy of a constant, or of a global that the program writes, in the device's memory; one for each device.
void *tessera_device_constant(void *constant, int64_t bytes);
