// Tiles whose elements are combined along axes: what reduce and scan share.
#pragma once

#include "lib/conversion/tile_to_gpu/compute.h"
#include "lib/layout/steps.h"

// Several tiles are combined at once, element by element. Registers that went into others are no longer live.
enum { MaxCombined = 8 };
typedef struct Combined {
  MlirOperation op;
  intptr_t tiles, count; // count: registers of each tile
  uint32_t axes;
  MlirType type; // of the first tile; the others have its layout
  MlirType elements[MaxCombined];
  MlirValue neutral[MaxCombined]; // null: not known, or not needed
  TileLayout layout;
  TileLayoutSteps steps;
  MlirValue *values; // register r of tile t at [r * tiles + t]
  bool *isLive;      // by register
} Combined;
// The first `tiles` operands of the op; false after a diagnostic.
bool gpuReadCombined(Gpu *g, MlirOperation op, intptr_t tiles, uint32_t axes, Combined *combined);
static inline MlirValue *gpuCombinedAt(const Combined *combined, MlirValue *values, intptr_t reg) {
  return values + reg * combined->tiles;
}
bool gpuCombine(Gpu *g, const Combined *combined, const MlirValue *left, const MlirValue *right, MlirValue *result);
// What the thread across a step of lanes has in its live registers, at the places of `values`; and whether
// this thread is the farther one (i1).
MlirValue *gpuAcross(Gpu *g, const Combined *combined, const TileLayoutStep *step);
MlirValue gpuIsFar(Gpu *g, const TileLayoutStep *step);
// mine := mine with others, which stand on the left where `isRight` (i1) holds.
bool gpuCombineAcross(Gpu *g, const Combined *combined, MlirValue isRight, const MlirValue *others, MlirValue *mine);
TileLayoutPoint gpuKept(const Combined *combined, intptr_t reg); // coordinates on the axes that stay
// The live values of tile `tile` become `result`, by way of `type`, the tile without the axes.
bool gpuGiveCombined(Gpu *g, const Combined *combined, intptr_t tile, MlirValue result);
