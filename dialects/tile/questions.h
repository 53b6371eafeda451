// Questions that verifiers, folds and patterns of the Tile dialect ask: shapes, operand groups, attributes,
// expectations. Tiles (tensors), views, buffers, memrefs and scalars answer the same questions about shape; a scalar
// has rank 0.
//
//   if (!tileExpectShapeOf(op, "result", tileResultType(op, 0), "source", source)) return false;
//
// A function named Expect reports at the op, with a note at the other party, and returns false when not met.
#pragma once

#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/emit/number.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"

// Text for messages, living until the end of the enclosing block.
#define TILE_TYPE_TEXT(type) tileTypeText(type, (char[192]){0}, 192)
#define TILE_SHAPE_TEXT(type) tileShapeText(type, (char[96]){0}, 96)

//===--- shapes -------------------------------------------------------------===//
bool tileTypeIsIntegral(MlirType type);  // integer or index elements
int64_t tileTypeGetCount(MlirType type); // number of elements of a static shape
bool tileOpHasTiles(MlirOperation op);   // among its operands and results; tiles in its regions do not count
bool tileTypeHasSameShapeBut(MlirType a, MlirType b, intptr_t axis); // sizes equal but along `axis`
bool tileSizesCover(MlirType type, MlirType seen); // shaped types: each size of `type` is open or that of `seen`
const char *tileShapeText(MlirType type, char *buffer, size_t capacity); // "128x64", "scalar"

//===--- attributes ---------------------------------------------------------===//
intptr_t tileArrayCount(MlirOperation op, const char *name); // of an i64 array; 0 when absent
int64_t tileArrayAt(MlirOperation op, const char *name, intptr_t index);
bool tileArrayContains(MlirOperation op, const char *name, int64_t value);
bool tileListContains(MlirAttribute array, int64_t value); // the same of an i64 array at hand; false for null
bool tileIntegerOf(MlirOperation op, const char *name, int64_t *value); // false when absent
bool tileHas(MlirOperation op, const char *name);
MlirStringRef tileKeywordOf(MlirOperation op, const char *name); // empty when absent
bool tileKeywordIs(MlirOperation op, const char *name, const char *text);

TileNumberConversion tileConversionOf(MlirOperation op); // of a tile.convert_type
bool tileIsPrivateKernel(MlirOperation op);              // with a body: all that is known of it may change
bool tileIsProduct(MlirOperation op);                    // tile.mma or tile.mma_sparse
bool tileIsFactor(MlirOpOperand operand);                // the left or right factor of tile.mma or tile.mma_sparse
// What a product's `precision` lets factors of f32 be split into: "tf32" or "bf16"; of a block-scaled product "f16",
// which has all numbers of its factors' elements; null: nothing.
const char *tileFactorPart(MlirOperation mma);
// Numbers for each block that an operand of scales of a tile.mma_scaled has: 1, of f32 2, whose product is the scale.
int64_t tileScaleParts(MlirType scale);
// A block-scaled product's scales are of this type (its text), and one is for so many neighbours along k.
bool tileHasScales(MlirOperation mmaScaled, const char *type, int64_t block);
// A CPU's matrix instruction: each sum adds the products of `group` neighbours along k. Where several take the
// same types, the fastest comes first.
typedef struct TileDot {
  const char *atom;
  int64_t group;
  const char *element, *sum; // types
  bool losesSubnormals;      // they count as 0
  bool isByHalves;           // a multiply-add: each member of a group has a sum of its own, added up at the end
  bool isUnsigned[2];        // the left and the right bytes
  bool isByTiles;            // on tile registers (AMX), which a process may be denied: code without them stands beside
} TileDot;
enum { TileNumDots = 9 };
extern const TileDot tileDots[TileNumDots];
const TileDot *tileDotOf(MlirOperation mma); // null: `mma` names none
bool tileDotTakes(const TileDot *dot, MlirType element, MlirType sum);
// Among the instructions that a machine has, the one on vectors that multiplies four unsigned bytes by signed ones;
// null: none.
const TileDot *tileDotOfFours(const bool hasDot[TileNumDots]);
bool tileAttributeIsSplat(MlirAttribute attribute); // dense elements with one value
bool tileConstantIsTrue(MlirAttribute constant);    // i1: true, or all true

//===--- linalg ---------------------------------------------------------------===//
bool tileIteratorIsReduction(MlirAttribute iterators, intptr_t dim);
bool tileGenericIsParallel(MlirOperation generic); // no dimension is a reduction

//===--- operands -----------------------------------------------------------===//
// Ops with operand segments: group `group` in the order of the row.
intptr_t tileGroupBegin(MlirOperation op, intptr_t group);
intptr_t tileGroupCount(MlirOperation op, intptr_t group);
MlirValue tileMovedTile(MlirOperation op); // the input of broadcast, transpose, slice or reshape; null: another op
MlirValue tileSortKeys(MlirOperation op);  // what sort and topk order by: their first input
bool tileOpsEqualAttributes(MlirOperation a, MlirOperation b); // all attributes, inherent ones included

// A copy_async or a join after which a group of copies ends: the join that takes a copy's token, or the copy itself.
bool tileEndsCopyGroup(MlirOperation op);

//===--- partitions of warps ------------------------------------------------===//
// What a partition of tile.warp_specialize captures, as it is outside; any other value is itself.
MlirValue tileCapturedValue(MlirValue value);
// The parameter or tile.alloc behind a memref, view or buffer, through views and what partitions capture.
MlirValue tileRootOf(MlirValue memory);
// The tile.warp_specialize around the op and the number of its partition; else the kernel and -1.
MlirOperation tilePartitionAround(MlirOperation op, intptr_t *partition);
// The warps that run the op: of the partition around it, else the kernel's; 0: nobody says.
int64_t tileWarpsOf(MlirOperation op);

// The first op in the partition that threads divide among them: one on tiles, or a copy that no engine makes. Null:
// none, so that one thread can do the partition's work.
MlirOperation tilePartitionDividedOp(MlirOperation partitions, intptr_t partition);

// Whether two parameters of a kernel may share memory: unless one of them is marked llvm.noalias.
bool tileParametersMayOverlap(MlirValue a, MlirValue b);

// Whether the tile.launch launches this kernel.
bool tileLaunches(MlirOperation launch, MlirOperation kernel);

//===--- expectations -------------------------------------------------------===//
// Launches of their own meet in global memory. False after an error at a launch whose `meets` says something else.
bool tileLaunchExpectMeetsInGlobal(MlirOperation launch);
bool tileExpectShapeOf(MlirOperation op, const char *what, MlirType seen, const char *whose, MlirValue reference);
bool tileExpectElementOf(MlirOperation op, const char *what, MlirType seen, const char *whose, MlirValue reference);
bool tileExpectElement(MlirOperation op, const char *what, MlirType seen, MlirType wanted);
bool tileExpectType(MlirOperation op, const char *what, MlirType seen, MlirType wanted);
bool tileExpectInteger(MlirOperation op, const char *what, int64_t seen, int64_t minimum, int64_t maximum);
bool tileExpectIntegral(MlirOperation op, const char *what, MlirType seen);
// One index per dimension of a view; none for a buffer, which must not be a ring.
bool tileExpectIndices(MlirOperation op, MlirValue memory, intptr_t count);
bool tileExpectNoRing(MlirOperation op, const char *what, MlirValue buffer);
// `vector` is a power of two; the tile that the op moves has a layout, so that a GPU's threads are known.
bool tileExpectVector(MlirOperation op, MlirType tile);
// `name` is an i64 array of ascending axes below `rank`.
bool tileExpectAxes(MlirOperation op, const char *name, intptr_t rank);
bool tileExpectPermutation(MlirOperation op, const char *name, intptr_t rank);
