// tessera.h - everything a caller of a compiled program needs, and everything the program calls. Include this one.
//
// A function @scale(%x: tensor<?xf32>, %by: f32) -> tensor<?xf32> of a program compiled for the CPU is the C function
//
//   void _mlir_ciface_scale(tessera_memref_1d_t *result, tessera_memref_1d_t *x, float by);
//
// and this calls it:
//
//   static void call_scale(void **args) { _mlir_ciface_scale(args[0], args[1], *(float *)args[2]); }
//
//   float numbers[3] = {1, 2, 3}, by = 10;
//   tessera_memref_1d_t result, x = {numbers, numbers, 0, {3}, {1}};
//   tessera_error_t error;
//   if (!tessera_call(call_scale, (void *[]){&result, &x, &by}, &error))
//     return fprintf(stderr, "scale: %s\n", error.text), 1;
//   for (int64_t i = 0; i < result.sizes[0]; ++i)
//     printf("%g\n", ((float *)result.aligned)[result.offset + i * result.strides[0]]);
//   tessera_release(result.allocated);
//
// Who owns what: arguments stay the caller's, and the program does not keep them. Every result is new memory, never an
// argument or a constant, and is the caller's to release with tessera_release, from any thread, in any order. What a
// program allocates and does not return it frees itself: nothing is left after a call. Several results arrive as one
// struct of descriptors and scalars in order, as C lays them out; sizes and strides count elements, not bytes.
//
// Without tessera_call around it a program works as well; only its failures (out of memory, a failed assertion) then
// print a line and continue, most likely into a crash. tessera_take_error then tells of the failure. An entry whose
// weights are missing returns without results (bound_weights.h).
#pragma once

#include "lib/runtime/arena.h"
#include "lib/runtime/call.h"
#include "lib/runtime/copy.h"
#include "lib/runtime/device.h"
#include "lib/runtime/launch.h"
#include "lib/runtime/local.h"
#include "lib/runtime/manifest.h"
#include "lib/runtime/observe.h"
#include "lib/runtime/print.h"
#include "lib/runtime/sort.h"
#include "lib/runtime/tiles.h"

// Descriptors, as MLIR passes memrefs to C. Element [i, j] is at aligned + offset + i * strides[0] + j * strides[1];
// |allocated| is only for tessera_release. A memref of rank 0 has neither sizes nor strides.
#define TESSERA_MEMREF(name, rank)                                                                                     \
  typedef struct name {                                                                                                \
    void *allocated, *aligned;                                                                                         \
    int64_t offset, sizes[rank], strides[rank];                                                                        \
  } name

typedef struct tessera_memref_0d_t {
  void *allocated, *aligned;
  int64_t offset;
} tessera_memref_0d_t;

TESSERA_MEMREF(tessera_memref_1d_t, 1);
TESSERA_MEMREF(tessera_memref_2d_t, 2);
TESSERA_MEMREF(tessera_memref_3d_t, 3);
TESSERA_MEMREF(tessera_memref_4d_t, 4);
