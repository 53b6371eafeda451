// Builds a tile.warp_specialize of partitions that use values from outside.
//
//   MlirRegion regions[2];
//   TileBuilder load = tileBuilderInRegion(&builder, &regions[0], 0, NULL), …   // ops that use what they like
//   tilePartitionsCreate(&builder, names, warps, registers, threads, 2, regions);
#pragma once

#include "lib/ir/builder.h"

enum { TileMostPartitions = 4 }; // that passes make

// What the regions use from outside becomes captures; constants are made anew in each. The regions move into the op.
// `registers` and `threads` may be null.
MlirOperation tilePartitionsCreate(TileBuilder *builder, MlirAttribute names, MlirAttribute warps,
                                   MlirAttribute registers, MlirAttribute threads, int count, MlirRegion *regions);
// Takes the regions out of a tile.warp_specialize, which the caller destroys: they use what it captured as it is.
void tilePartitionsTake(MlirOperation partitions, MlirRegion *regions);
// The kernel's last op ahead of its end, if that is a tile.warp_specialize; null otherwise.
MlirOperation tilePartitionsOf(MlirOperation kernel);
// The partition's loop over tiles (tile-make-persistent): the only one, from 0 on, in steps of 1, with nothing carried
// round. Beside it there is index arithmetic only. Null: there is none.
MlirOperation tilePartitionWalk(MlirBlock partition);
// Index arithmetic: pure, without regions and tiles.
bool tileIsIndexArithmetic(MlirOperation op);
// A new barrier of one arrival, ahead of the partitions; behind another one, so that all are shown to the threads at
// once.
MlirValue tilePartitionsAddBarrier(MlirOperation kernel, MlirOperation partitions, int64_t stages);
// Whether the kernel's schedule names partitions (`specialize`).
bool tileSchedulesPartitions(MlirOperation kernel);
// Whether the kernel's schedule wants two groups of warps that multiply tiles in turn (`specialize = [4, 4, 4]`).
bool tileSchedulesTurns(MlirOperation kernel);
