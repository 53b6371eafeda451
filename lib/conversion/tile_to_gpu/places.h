// Single elements at computed places: what gather, scatter and the atomics share.
#pragma once

#include "lib/conversion/tile_to_gpu/cells.h"

// The element of one register (or of a scalar op).
typedef struct GpuPlace {
  GpuCell cell;
  MlirValue inside;  // i1: it exists; null: it does
  MlirValue numbers; // i1: the numbers that the program computed are within bounds; null: they are
} GpuPlace;

// What an op reaches: a view, a memref with one index (tile) per dimension, or a tile of addresses.
typedef struct GpuReach {
  MlirOperation op;
  MlirValue memory; // of the kernel
  intptr_t firstIndex;
  MlirType element;
  MlirType type; // of the tile of elements; a scalar for one
  TileLayout layout;
  const Map *map;
  enum { GpuTrap, GpuClamp, GpuDrop } bounds;
  const MlirValue **indices; // by axis of a view whose index is a tile: registers as `layout`'s; null: one number
} GpuReach;

bool gpuReachOf(Gpu *g, MlirOperation op, const char *memory, MlirType type, GpuReach *reach);
GpuPlace gpuPlaceOf(Gpu *g, const GpuReach *reach, intptr_t reg);
// i1: the register holds an element of the tile, and the mask (null: none) wants it; null: always.
MlirValue gpuIsWanted(Gpu *g, const GpuReach *reach, MlirValue mask, intptr_t reg);
