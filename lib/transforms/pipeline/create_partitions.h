// Builds a tile.warp_specialize of partitions that use values from outside.
//
//   MlirRegion regions[2];
//   TileBuilder load = tileBuilderInRegion(&builder, &regions[0], 0, NULL), …   // ops that use what they like
//   tilePartitionsCreate(&builder, names, warps, registers, threads, 2, regions);
#pragma once

#include "lib/ir/builder.h"

// What the regions use from outside becomes captures; constants are made anew in each. The regions move into the op.
// `registers` and `threads` may be null.
MlirOperation tilePartitionsCreate(TileBuilder *builder, MlirAttribute names, MlirAttribute warps,
                                   MlirAttribute registers, MlirAttribute threads, int count, MlirRegion *regions);
