// What a tile costs, from the machine's description alone: the micro-performance model.
//
//   TileSearchTile tile = {.size = {128, 128, 32}, .warps = 8, .warpsM = 2, .stages = 3};
//   TilePrediction p = tilePredict(&op, &target, &tile);
//   if (p.misfit) … else printf("%g s, bound by %s\n", p.seconds, p.bound);
//
// time = max over memory levels of traffic / bandwidth, of arithmetic / throughput, of instructions / issue slots, and
// of the round trips to memory that too few resident programs do not hide. Traffic is that of the kernels which
// convert-linalg-to-tile makes: a program owns one tile of the output and walks the reductions step by step.
// Cost: well under a microsecond; no allocation.
// Source: Roller's micro-performance model (OSDI 2022); occupancy and Little's law after NVIDIA's programming guide.
#ifndef TESSERA_LIB_SEARCH_MODEL_H
#define TESSERA_LIB_SEARCH_MODEL_H

#include "lib/search/operator.h"
#include "lib/search/target.h"

#ifdef __cplusplus
extern "C" {
#endif

// One program's part. `size` per dimension of the operator. A GPU's program has `warps`, warpsM of them along m of a
// product, and `stages` of its operands in shared memory. A CPU's program of a matrix product walks k in blocks.
typedef struct TileSearchTile {
  int64_t size[TileOperatorDims];
  int64_t warps, warpsM, stages;
  int64_t group;         // programs along m that run before the next along n: block order; 0: as the model likes best
  int64_t registerLimit; // of a GPU's thread, that somebody wrote; 0: as the model says
  int64_t rows, columns; // the register tile of a CPU's product; 0: none, it streams B
  int64_t split;         // above 1: parts of k that a CPU's programs sum up apart, added up by a kernel of its own
  bool isUnpacked;       // of a CPU's product with a register tile: nothing is packed. Of one that somebody wrote
                         // without: it streams
  bool isAlongDepth;     // of an unpacked one: columns, fewer than a vector's lanes, are summed lane by lane along k
} TileSearchTile;

typedef struct TilePrediction {
  const char *misfit;              // what the tile exceeds: "registers", "shared", "threads"; null: it fits
  double seconds, sum;             // the largest term; all terms together, which decides among equals
  char bound[TileSearchLevelName]; // the largest term's name: a level, "compute", "issue" or "latency"
  int64_t programs, steps;         // of the grid; of each program's reduction
  int64_t perCore;                 // programs resident on a core at once
  int64_t group;                   // of a GPU's product: programs along m before the next along n; 1: row after row
  double occupancy;                // warps resident of those a core can have; of a CPU: cores that have work
  int64_t registers;               // of a thread, 32 bits each; of a CPU: vector registers
  int64_t registerLimit;           // above it fewer programs than perCore have room; 0: a thread may have all there are
  int64_t sharedBytes;             // of a program
  double read, written; // bytes that all programs ask of memory, every element counted as often as it is asked for
  double shared;        // bytes that go into and out of shared memory
  double traffic[TileSearchLevels]; // bytes that pass the target's levels, in whole transactions
} TilePrediction;

TilePrediction tilePredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

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
#endif
