// Sizes of the tiles that one program (block) of a GPU works on, from the machine's description alone: no search, no
// chip named. Why: a thread has few registers and a program has many threads, so tiles follow from registers per
// thread, warps per block and the width of an access. Expects: a machine of kind gpu. Leaves: numbers, all powers of
// two.
//
//   TileGpuBlocking gpu;
//   if (!tileMachineReadGpuBlocking(machine, &gpu, &error)) …
//   int64_t elements = tileGpuElements(&gpu, 3, 4, 4);          // three f32 tiles at once on sm_80: 1024
//   TileGpuProduct p = tileGpuChooseProduct(&gpu, extents, 2, 4); // f16 4096³: 128 × 128 × 32 on 8 warps
#ifndef TESSERA_LIB_MACHINE_GPU_BLOCKING_H
#define TESSERA_LIB_MACHINE_GPU_BLOCKING_H

#include "lib/machine/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The most blocks along the second and third axis of a grid, of every vendor's driver interface.
enum { TileGpuGridLimit = 65535 };

typedef struct TileGpuBlocking {
  int64_t lanes, warps; ///< of a warp; of an ordinary block: one for each part of a core
  int64_t mostWarps;    ///< of a block that needs them: two for each part
  int64_t registers;    ///< of a thread when a core is half full of warps
  int64_t accumulators; ///< registers of a thread that a product's sum may have
  int64_t cores;
} TileGpuBlocking;

/// Fails if the machine is no GPU or lacks a key.
bool tileMachineReadGpuBlocking(const TileMachine *machine, TileGpuBlocking *gpu, TileError *error);

/// Elements of a program's tile when `tiles` tiles live at once: two 16-byte accesses of the narrowest element per
/// thread, fewer where half of a thread's registers would not hold them.
int64_t tileGpuElements(const TileGpuBlocking *gpu, int64_t tiles, int64_t narrowestBytes, int64_t widestBytes);

/// Warps for a tile of `elements` of which each thread takes `perThread`.
int64_t tileGpuWarps(const TileGpuBlocking *gpu, int64_t elements, int64_t perThread);

typedef struct TileGpuProduct {
  int64_t m, n, k, warps;
} TileGpuProduct;

/// The tile of a matrix product. Extents are those of the problem, -1 where unknown; `programs` is how many products of
/// this size there are side by side (batches).
typedef struct TileGpuProductExtents {
  int64_t m, n, k, programs;
} TileGpuProductExtents;
TileGpuProduct tileGpuChooseProduct(const TileGpuBlocking *gpu, TileGpuProductExtents extents, int64_t operandBytes,
                                    int64_t sumBytes);

/// The least power of two that is not less.
int64_t tileGpuRoundUp(int64_t value);

#ifdef __cplusplus
}
#endif
#endif
