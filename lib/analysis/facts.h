// What a kernel says about its indices and about the memory behind a view. The facts hold for every program instance.
// Why: masks and vector widths rest on these facts, and whether an engine may copy boxes of the memory.
// Expects: values and memrefs as kernels have them. Leaves: bounds and divisors; an unknown divisor is 1.
//
//   if (tileIndexFacts(index).low >= 0) … no check below the first element …
//   TileKnownMemory known = tileKnownMemory(tileViewOpGetSource(view));
//   bool isWide = known.align % 16 == 0 && known.stride[0] * known.elementBytes % 16 == 0;
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"

typedef struct TileIndexFacts {
  int64_t low, high; // inclusive; INT64_MIN, INT64_MAX: no bound is known
  int64_t multiple;  // divides the value; 0: the value is 0
} TileIndexFacts;
TileIndexFacts tileIndexFacts(MlirValue index);

typedef struct TileKnownMemory {
  intptr_t rank;                                                    // 0 where the memref has more dimensions than tiles
  int64_t align, elementBytes;                                      // bytes
  int64_t size[TILE_LAYOUT_MAX_AXES], stride[TILE_LAYOUT_MAX_AXES]; // divisors, in elements; 0: the value is 0
  bool isUnit[TILE_LAYOUT_MAX_AXES];                                // the stride is 1
} TileKnownMemory;

TileKnownMemory tileKnownMemory(MlirValue memref);
// A divisor of a product must stay far from overflow: beyond a page it is of no use.
int64_t tileDivisorOfProduct(int64_t a, int64_t b);
// The memref's dimension that axis a of the view walks: the a-th by `order` of those not fixed.
intptr_t tileViewDimension(MlirOperation view, intptr_t axis);
