// The micro-performance model: the cost of a tile, from the machine's description alone.
//
//   TileSearchTile tile = {.kind = TileKind_Product, .size = {128, 128, 32}, .gpu = {8, 2, 3}};
//   TilePrediction p = tilePredict(&op, &target, &tile);
//   if (p.misfit) … else printf("%g s, bound by %s\n", p.seconds, p.bound);
//
// time = max over memory levels of traffic / bandwidth, of arithmetic / throughput, of instructions / issue slots, and
// of the round trips to memory that too few resident programs do not hide. Traffic is that of the kernels which
// convert-linalg-to-tile makes: a program owns one tile of the output and walks the reductions step by step.
// Cost: well under a microsecond; no allocation.
// Source: Roller's micro-performance model (OSDI 2022); occupancy and Little's law after NVIDIA's programming guide.
#pragma once

#include "lib/search/kind.h"

#ifdef __cplusplus
extern "C" {
#endif

// The predictions of the kinds `product` and `threads`, and of `vector`.
TilePrediction tileGpuPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
TilePrediction tileVectorPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

// Stages of the ring of a product of warpgroups, as many as fit beside its result; 0: the tile is not for warpgroups.
int64_t tileGpuRingStages(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

// Registers of a GPU's thread, of 32 bits: `tiles` that hold its part of the tiles, those of addresses and indices,
// and those in which copies of a product's operands, `copied` registers a step, wait for the next step where the
// machine has no asynchronous copies.
int64_t tileThreadRegisters(const TileSearchTarget *target, bool isProduct, double tiles, double copied);
// The most registers of a thread in a block of so many warps: what the compiler needs beside them is left, and without
// a product there is room for half of the warps that a core can have.
int64_t tileRegisterLimit(const TileSearchTarget *target, bool isProduct, int64_t warps);

// Bytes of global memory that the programs ask for, exact for every shape: what the emulator counts as
// global_bytes_read and global_bytes_written.
void tileRequestedBytes(const TileOperator *op, const TileSearchTile *tile, double *read, double *written);
// Operations per byte asked for: Roller's data-reuse score.
double tileReuse(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

#ifdef __cplusplus
}
#endif
