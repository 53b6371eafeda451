// From a structured op to tiles: what its kernel may tile, the operator that lib/search constructs tiles for, and the
// #tile.schedule that says what was chosen.
//
//   TileTiling tiling;
//   TileSearchResult result;
//   if (tileStructuredFindTiling(&s, &tiling)) {
//     TileOperator op = tileStructuredDescribe(&s, &tiling, /*unknown=*/1024);
//     …tileSearchConstruct(&op, …)… tileScheduleOfCandidate(context, &op, &result.best[0], result.evaluations)
#pragma once

#include "lib/analysis/product.h"
#include "lib/search/kind.h"

// What an extent that is not known is planned for, unless somebody knows better.
enum { TileUnknownExtent = 1024 };

typedef struct TileTiling {
  uint32_t tiled;           // dimensions that a tile may be wider than 1 along, as bits
  int whole;                // the dimension that a tile has all of, or -1
  bool isProduct, isMatrix; // isMatrix: of a CPU, by the kernel that packs or streams
  TileProduct product;
} TileTiling;

// The parallel dimension that a kernel which folds step by step tiles: contiguous in the first operand that ends in
// one; -1: none.
int tileStructuredFoldVector(const TileStructured *structured);
// Every output is a reduction by a combiner.
bool tileStructuredIsReduction(const TileStructured *structured);
// Which dimensions the op's kernel may tile. True if a policy may choose the tile: for products, reductions by
// combiners, elementwise kernels and scans, whose steps store what they make; on a GPU also for softmax and for what
// else is folded step by step, as argmax. All other ops have plain sizes.
bool tileStructuredFindTiling(const TileStructured *structured, TileTiling *tiling);

// Where an output's axis is a sum of dimensions, the next one's elements begin where these end: a tile that is too long
// writes elements that are none of its own.
bool tileStructuredRunsIntoNext(const TileStructured *structured, int dim);
// A plain sum of products of two tensors of known sizes, whose parts along k are as exact as the sum: tile-split-
// reductions can cut it.
bool tileStructuredCanSplit(const TileStructured *structured, const TileTiling *tiling);

TileOperator tileStructuredDescribe(const TileStructured *structured, const TileTiling *tiling, int64_t unknown);

// The machine's numbers for this operator.
TileSearchTarget tileStructuredTargetFor(const TileTarget *target, const TileOperator *op);

// A schedule that is a block alone.
MlirAttribute tileScheduleOfBlock(MlirContext context, int count, const int64_t *sizes);
// With `group` and `cluster` of at least 1 and 2, too: attention's heads that are visited side by side, and its
// programs that share copies.
MlirAttribute tileScheduleOfGroupedBlock(MlirContext context, int count, const int64_t *sizes, int64_t group,
                                         int64_t cluster);
// The schedule of a candidate's tile alone: its `kind`, `block` and the other fields of the kind. tile-construct-tiles
// adds what the model says of it, and asks no policy again.
MlirAttribute tileScheduleOfTile(MlirContext context, const TileOperator *op, const TileSearchCandidate *candidate);
// The schedule of a candidate: its `kind`, `block` and the other fields of the kind, and what the model says of it:
// `time` in nanoseconds, `traffic` in bytes asked of global memory and, where there is any, of shared memory,
// `occupancy` in per cent, `bound`, `evaluations` of the model.
MlirAttribute tileScheduleOfCandidate(MlirContext context, const TileOperator *op, const TileSearchCandidate *candidate,
                                      int64_t evaluations);

// The tile of the op's schedule, 1 along what it leaves out; warps, stages and the register tile 0 where it leaves them
// out; TileKind_None where it leaves the kind of a CPU's matrix product out. False: it has no block.
bool tileStructuredScheduledTile(const TileStructured *structured, const TileOperator *op, TileSearchTile *tile);
// The tile of the op's schedule, else, for a product, the plain one (tileKindPlainTile); false for other ops, whose
// kernels have own sizes. A block without a kind is a packed kernel's on a CPU.
bool tileStructuredTile(const TileStructured *structured, const TileTiling *tiling, TileSearchTile *tile);
// Takes the tile of the op's schedule, else, for a product, the plain one; false where there is neither.
bool tileStructuredPlanTiles(TileStructured *structured, const TileTiling *tiling);
// The tile of an op that is no product: that of its schedule, else the plain sizes of its kernel.
void tileStructuredSetTiles(TileStructured *structured);
// Columns of the last panel where it is narrower than `columns` by whole vectors, and has a register tile of its own;
// else 0.
int64_t tileStructuredLastPanel(const TileStructured *structured, const TileTiling *tiling, int64_t columns);
// The tile of a softmax: whole rows where they fit, else parts of them. Powers of two on a GPU.
TileTiling tileStructuredSoftmaxTiling(const TileStructured *structured);
// A CPU's convolution walks k around the window, not inside of it.
bool tileStructuredWalksDepthAround(const TileStructured *structured, const TileTiling *tiling);
// Null where kernels of this op can have the scheduled tile, else what is wrong with it.
const char *tileStructuredScheduleFault(const TileStructured *structured, const TileTiling *tiling, char *buffer,
                                        size_t capacity);
// False after a diagnostic where no kernel of the op can have its schedule or its tile.extents.
bool tileStructuredCheckSchedule(const TileStructured *structured);
