// Places buffers in one arena. Two buffers may share bytes unless they are in use together; the caller says which are.
//
//   int64_t bytes[] = {256, 64, 128}, offsets[3];
//   TileMemoryPlan plan = {.count = 3, .bytes = bytes, .areTogether = overlap, .data = lifetimes, .offsets = offsets};
//   int64_t arena = tileMemoryPlanFind(&plan);        // bytes of the arena; where each buffer lies in offsets
//
// Each buffer, the largest first, goes into the smallest hole that takes it among the buffers it is in use with. With
// `isThorough` other orders are tried too, until the arena has `least` bytes, and the smallest arena wins. Cost:
// quadratic in the buffers, at most 192 times; for thousands of buffers fewer times. Source: greedy by size, arXiv
// 2001.03288; Welder's and AITemplate's planners.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileMemoryPlan {
  int64_t count;
  const int64_t *bytes; // multiples of the alignment that is wanted
  bool (*areTogether)(const void *data, int64_t a, int64_t b);
  const void *data;
  bool isThorough;
  int64_t least;    // what no arena can be smaller than; 0: not known
  int64_t *offsets; // written
} TileMemoryPlan;

// Returns the bytes of the arena, and writes plan->offsets. INT64_MAX: memory for the planning ran out.
int64_t tileMemoryPlanFind(TileMemoryPlan *plan);

#ifdef __cplusplus
}
#endif
