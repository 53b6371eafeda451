// The kinds of kernel that convert-linalg-to-tile makes, and the tiles that each kind has.
//
//   TileSearchTile tile = {.kind = TileKind_Packed, .size = {512, 1024, 256}, .registers = {4, 64}};
//   const TileKernelKind *kind = tileKernelKinds[tile.kind];
//   if (kind->applies(&op, &target) && !kind->fault(&op, &target, &tile, text, sizeof text))
//     … kind->predict(&op, &target, &tile).seconds …
//
// One file of lib/search/kinds holds one kind: when it applies, its candidates, their cost and what a person may not
// write. The kernel of a kind is made in lib/conversion/linalg_to_tile by the kind that the op's #tile.schedule names
// (`kind = "packed"`). A new kind is one file, one row of kinds.def, and, unless a kernel there serves it, the
// file that makes its kernel (docs/how-to-add-a-kernel-kind.md).
#pragma once

#include "lib/search/operator.h"
#include "lib/search/target.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TileKind {
  TileKind_None, // a person wrote sizes and left the kind to the policy
#define KIND(name) TileKind_##name,
#include "lib/search/kinds.def"
#undef KIND
  NumTileKinds
} TileKind;

// Sums that stay in registers.
typedef struct TileRegisterTile {
  int64_t rows, columns;
} TileRegisterTile;

// What a GPU's program has beside its sizes. 0: the model chooses.
typedef struct TileGpuTile {
  int64_t warps, warpsM; // all, and those along m of a product
  int64_t stages;        // copies of a product's operands in shared memory
  int64_t group;         // programs along m that run before the next along n
  int64_t cluster;       // neighbouring programs that share copies of what all of them read
  int64_t registerLimit; // of a thread, where a person wrote it
  int64_t parts;         // of a product's k, each with a tile of these sizes; 0 or 1: whole
  bool isAlternating;    // two groups of warps take turns: each multiplies tiles of its own
} TileGpuTile;

// One program's part. The kind says which member of the union there is.
typedef struct TileSearchTile {
  TileKind kind;
  int64_t size[TileOperatorDims]; // of each dimension of the operator
  union {
    TileRegisterTile registers; // Packed, Direct, AlongDepth
    int64_t parts;              // Split
    TileGpuTile gpu;            // Product, Threads
  };
} TileSearchTile;

typedef struct TilePrediction {
  const char *misfit;              // what the tile exceeds: "registers", "shared memory", "threads"; null: it fits
  double seconds, sum;             // the largest term; all terms together, which decides among equals
  char bound[TileSearchLevelName]; // the largest term's name: a level, "compute", "issue" or "latency"
  int64_t programs, steps;         // of the grid; of each program's reduction
  int64_t perCore;                 // programs resident on a core at once
  int64_t group;                   // GPU product: programs along m before the next along n; 1: row after row
  int64_t cluster;                 // GPU product: neighbouring programs that share copies; 0, 1: none
  double occupancy;                // GPU: warps resident of those a core can have; CPU: cores that have work
  int64_t registers;               // GPU: 32-bit registers of a thread; CPU: vector registers
  int64_t registerLimit;           // above it fewer programs than perCore have room; 0: a thread may have all there are
  int64_t sharedBytes;             // of a program
  double read, written; // bytes that all programs ask of memory, every element counted as often as it is asked for
  double shared;        // bytes that go into and out of shared memory
  double traffic[TileSearchLevels]; // bytes that pass the target's levels, in whole transactions
} TilePrediction;

typedef struct TileSearchCandidate {
  TileSearchTile tile;
  TilePrediction prediction;
} TileSearchCandidate;

// What builds the kernels of a CPU's matrix products (lib/conversion/linalg_to_tile/product_kernels.h).
typedef enum TileProductBuilder {
  TileProduct_None,
  TileProduct_Packed,
  TileProduct_Direct,
  TileProduct_AlongDepth,
  TileProduct_Memory,
  NumTileProducts
} TileProductBuilder;

enum { TileKindStarts = 24 }; // the most candidates that a kind starts from

typedef struct TileKernelKind {
  const char *name;           // in `kind` of #tile.schedule
  TileProductBuilder product; // TileProduct_None: the kind makes no matrix product of a CPU
  bool isForGpu;
  bool hasRegisterTile;     // tile.registers
  bool isStoredPerBlock;    // C is stored after each block of k and read again by the next one
  bool isAskedPerRegisters; // every register tile asks memory for its own operands
  // Null: the search leaves the kind out; a pass asks for its start by name.
  bool (*applies)(const TileOperator *op, const TileSearchTarget *target);
  // What the search starts from, at most TileKindStarts. With `sizes`, each start spans a space of sizes; without, each
  // start is a whole tile.
  int (*starts)(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles);
  // The sizes of a dimension for such a start, rising; returns how many. `padding`: the most along a dimension, as a
  // part of its extent; the least aligned size may pad more.
  int (*sizes)(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
               int dim, int64_t *sizes, int capacity);
  // The best tile of these sizes over what the tile leaves open (warps, stages); null: nothing is open. Adds the
  // model's calls to *evaluations.
  TileSearchCandidate (*complete)(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                  int64_t *evaluations);
  TilePrediction (*predict)(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);
  // Null where the kernel can have this tile, else what is wrong with it.
  const char *(*fault)(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile, char *buffer,
                       size_t capacity);
} TileKernelKind;

#define KIND(name) extern const TileKernelKind tile##name##Kind;
#include "lib/search/kinds.def"
#undef KIND

// By TileKind; null for TileKind_None.
extern const TileKernelKind *const tileKernelKinds[NumTileKinds];

// TileKind_None where no kind has the name.
TileKind tileKindFind(const char *name);
// Lists the names of all kinds.
void tileKindListNames(tessera_list_t *list);
// The kind of an op without a schedule. TileKind_None for a CPU's matrix product, which has no plain kind.
TileKind tileKindOf(const TileOperator *op, const TileSearchTarget *target);
// The tile of a product without a schedule: 16 rows and 8 columns of register tiles and 256 of k in a CPU's packed
// kernel, the start of a convolution's, and 64 x 64 x 32 on four warps of a GPU, or what smaller extents need. False:
// the op is no product; its kernel has sizes of its own.
bool tileKindPlainTile(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile);
// True if the kind can make a kernel for the op.
bool tileKindFits(TileKind kind, const TileOperator *op, const TileSearchTarget *target);

// Sums in registers, rows and columns; 0 where the kind has no register tile.
int64_t tileRegisterRows(const TileSearchTile *tile);
int64_t tileRegisterColumns(const TileSearchTile *tile);
// Parts of k; 1 where the kind does not split it.
int64_t tileParts(const TileSearchTile *tile);

// The kind's starts where it applies to the operator on this machine; returns how many.
int tileKindStarts(TileKind kind, const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles);
// The prediction of the tile's kind.
TilePrediction tilePredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile);

#ifdef __cplusplus
}
#endif
