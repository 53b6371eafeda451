// A tile's elements along axes as steps between registers, lanes and warps: what a reduction or a scan walks.
//
//   TileLayoutSteps steps;
//   if (tileLayoutStepsAlong(&layout, rank, 1u << axis, &steps))
//     for (uint32_t i = 0; i < steps.count; ++i) …steps.items[i]…
#pragma once

#include "lib/layout/layout.h"

// One bit, or one odd factor of registers, that moves along an axis.
typedef struct TileLayoutStep {
  uint32_t dim, bit;   // TileLayoutReg, Lane, Warp
  int64_t count, unit; // of registers: how many, and how far apart (2 and 1 << bit for a bit)
  int32_t axis;
  uint64_t stride;
} TileLayoutStep;

typedef struct TileLayoutSteps {
  uint32_t count;
  TileLayoutStep items[TILE_LAYOUT_MAX_BITS + TILE_LAYOUT_MAX_REPEATS];
} TileLayoutSteps;

// The steps along the axes of the mask, from the nearest elements to the farthest; the last axis comes first. False
// where a bit also moves along another axis, moves by a distance that is no power of two, or copies another bit.
bool tileLayoutStepsAlong(const TileLayout *layout, uint32_t rank, uint32_t axes, TileLayoutSteps *steps);
// Orders the steps by dimension: registers, lanes, warps.
void tileLayoutStepsByDimension(TileLayoutSteps *steps);
