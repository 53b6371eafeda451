// Boxes: whether an engine that copies boxes of a tensor (NVIDIA's TMA) can fill a buffer, and by how many of them.
// Why: such an engine writes a box row after row, each row's 16-byte pieces permuted by the address (the swizzle). A
//   buffer's layout therefore is a list of boxes, or no copy of this engine fills it.
// Expects: the layout of one stage of a buffer. Leaves: plain values.
// Source: PTX ISA, "Swizzling modes": in mode S = 32, 64 or 128 bytes, address bits 4 to 6 (4, 5; 4) are XORed with
//   bits 7 to 9 (7, 8; 7).
//
//   TileBoxPlan plan; TileError error; uint32_t axes[] = {1, 0}; // columns are neighbours in the tensor
//   if (!tileBoxPlan(&memory, axes, 2, 2, 256, &plan, &error)) return report(&error);
//   for (uint64_t n = 0; n < plan.count; ++n)
//     the box plan.box[axis] from element tileBoxOrigin(&plan, n) lies at byte n * plan.bytes
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// The layout whose element at an offset is `layout`'s at the swizzled offset. `swizzleBytes`: 32, 64, 128; 0: the same.
// False where the layout has padding or too few bits.
bool tileLayoutUnswizzle(const TileLayout *layout, uint32_t elementBytes, uint32_t swizzleBytes, TileLayout *result,
                         TileError *error);

typedef struct TileBoxPlan {
  uint32_t swizzleBytes;              // 0: none
  uint32_t box[TILE_LAYOUT_MAX_AXES]; // elements along each axis of the tile
  uint64_t bytes, count;              // of a box; how many boxes
  TileLayout unswizzled;
  uint64_t elements; // of a box
} TileBoxPlan;

// `axes`: the tile's axes as they follow in the tensor, the one whose elements are neighbours first. `most`: elements
// of a box along an axis.
bool tileBoxPlan(const TileLayout *memory, const uint32_t *axes, uint32_t rank, uint32_t elementBytes, uint32_t most,
                 TileBoxPlan *plan, TileError *error);
// The first element of box n.
TileLayoutPoint tileBoxOrigin(const TileBoxPlan *plan, uint64_t n);
// Buffers of this plan begin at multiples of so many bytes: a pattern of the swizzle.
uint32_t tileBoxAlignment(const TileBoxPlan *plan);

#ifdef __cplusplus
}
#endif
