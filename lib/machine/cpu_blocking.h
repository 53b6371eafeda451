// How a matrix product is cut for a CPU, from the machine's description and the extents alone: no search, no shape
// named. Why: a register tile must keep the multiply-add units busy, a block of A must stay in L2, and every core must
// have work without packing the same operand too often. Expects: a machine of kind cpu. Leaves: numbers.
//
//   TileCpuBlocking cpu;
//   if (!tileMachineReadCpuBlocking(machine, &cpu, &error)) …
//   TileCpuProduct p = tileCpuChooseProduct(&cpu, (TileCpuProductExtents){1024, 1024, 1024, 1}, 4, 4);
#ifndef TESSERA_LIB_MACHINE_CPU_BLOCKING_H
#define TESSERA_LIB_MACHINE_CPU_BLOCKING_H

#include "lib/machine/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileCpuBlocking {
  int64_t vectorBytes, registers, fmaPerCycle, fmaLatency;
  int64_t l1Bytes, l2Bytes; ///< of one core
  int64_t l1Ways;           ///< 8 where the file is silent
  int64_t line, missCycles; ///< bytes of a line; cycles until one that L2 has not got is there
  int64_t cores;
} TileCpuBlocking;

/// Fails if the machine is no CPU or lacks a key.
bool tileMachineReadCpuBlocking(const TileMachine *machine, TileCpuBlocking *cpu, TileError *error);

/// Extents of C[m, n] += A[m, k] · B[k, n], -1 where unknown; `programs`: products of this size side by side.
typedef struct TileCpuProductExtents {
  int64_t m, n, k, programs;
} TileCpuProductExtents;

/// A program owns panelsM × panelsN register tiles of rows × columns and packs `depth` of k at a time.
typedef struct TileCpuProduct {
  int64_t rows, columns, depth, panelsM, panelsN;
} TileCpuProduct;

/// Rows of the register tile.
int64_t tileCpuProductRows(const TileCpuBlocking *cpu);

/// The register tile: two vectors wide and as tall as the registers allow, at most what was measured best (8).
/// The depth: the power of two with depth² elements in half of L2, so that the block of A there is about square.
/// Panels: of all ways to cut C in blocks whose rows L2 holds, the one that takes the cores the least time, counting
/// multiply-adds and the lines that packing the operands of every block waits for.
TileCpuProduct tileCpuChooseProduct(const TileCpuBlocking *cpu, TileCpuProductExtents extents, int64_t operandBytes,
                                    int64_t sumBytes);

/// A product of few rows (m below a register tile's) with B's columns contiguous: B is streamed once, unpacked, and the
/// program's rows of C stay in L1. Columns of a program: a divisor of n where there is one that gives every core a
/// block; k per step: a divisor of k, at most half the ways of L1 (rows of B a power of two apart share a set). Both 0
/// where n or k is unknown.
typedef struct TileCpuStream {
  int64_t columns, depth;
} TileCpuStream;
TileCpuStream tileCpuChooseStream(const TileCpuBlocking *cpu, TileCpuProductExtents extents, int64_t sumBytes);

#ifdef __cplusplus
}
#endif
#endif
