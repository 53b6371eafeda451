// Shared by the files of this folder: a sparse value as its components, and the functions that lower each op.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/analysis/structured.h"
#include "lib/capi/conversion.h"
#include "lib/conversion/sparse_to_tile/kernels/compute.h"
#include "lib/conversion/sparse_to_tile/kernels/routing.h"
#include "lib/conversion/sparse_to_tile/kernels/storage.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

// How products by lines are shared among programs: a line each, so many entries each, by a model where the lines'
// lengths are constant (else a line each), or by that and otherwise by what comes at run time.
typedef enum SparseSplit { SparseSplit_Model, SparseSplit_Lines, SparseSplit_Entries, SparseSplit_RunTime } SparseSplit;

// The kernels that a module has so far.
typedef struct SparseKernels {
  MlirOperation module;
  struct SparseKernelMade *made;
  uint64_t count;
  bool attends; // some scores may feed a product: the module has both
} SparseKernels;

// An op about to be replaced. operands[i] are the values that operand i became: of a sparse one its components, then
// one index for each size that its type leaves open.
typedef struct SparseLowering {
  MlirOperation op;
  const MlirExtValueRange *operands;
  TileBuilder builder;
  SparseKernels *kernels;
  const TileTarget *target; // what kernels are for
  SparseSplit split;
} SparseLowering;

// The values that replace an op: its result's components and open sizes, or one value for each of several dense
// results.
enum { SparseMaxValues = SPARSE_MAX_COMPONENTS + 8 };
typedef struct SparseResult {
  MlirValue values[SparseMaxValues];
  intptr_t count;
} SparseResult;

// Why the op has no lowering yet, as a located diagnostic and false; asked before anything is changed.
typedef bool (*SparseSupports)(MlirOperation op);
// Builds what replaces the results. False after a diagnostic.
typedef bool (*SparseLower)(SparseLowering *lowering, SparseResult *result);

//===--- semirings.c --------------------------------------------------------===//

// Ops of arith for ⊕ and ⊗. isSum: ⊕ adds. isMean: the sum is also divided by the number of its terms.
typedef struct SparseSemiring {
  TileUpstream add, multiply;
  bool isSum, isMean;
} SparseSemiring;
// The semiring of an op, or the one whose ⊕ the op combines by.
SparseSemiring sparseSemiring(MlirOperation op, MlirType element);
TileUpstream sparseWidenOp(MlirType from, MlirType to); // arith.bitcast, which folds, for equal types

TileHook sparseHookStep(const SparseSemiring *semiring);   // acc ⊕ (lhs ⊗ rhs)
TileHook sparseHookFinish(const SparseSemiring *semiring); // a total of so many terms: of a mean, divided by them
extern const TileHook sparseHookDiffers;                   // x is not y
TileHook sparseHookPut(const int *axis);                   // stores at [row, column]; with axis 1 at [column, row]
// Loads tile `tile` of the line of `source` at these indices along the axes `fixed`.
MlirValue sparseBuildLoad(TileBuilder *b, MlirType result, MlirValue source, intptr_t count, const int64_t *fixed,
                          const MlirValue *indices, MlirValue tile);

//===--- storage.c ----------------------------------------------------------===//
bool sparseLowerPack(SparseLowering *lowering, SparseResult *result);
bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result);
bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result);
bool sparseLowerTranspose(SparseLowering *lowering, SparseResult *result);
bool sparseLowerConvert(SparseLowering *lowering, SparseResult *result);

// A dense matrix packed row by row as the three components of csr.
bool sparsePackSegments(SparseLowering *lowering, MlirValue dense, const SparseComponent parts[3],
                        SparseResult *result);

//===--- entries.c ----------------------------------------------------------===//
bool sparseLowerSddmm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSpgemm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerAdd(SparseLowering *lowering, SparseResult *result);
bool sparseLowerMul(SparseLowering *lowering, SparseResult *result);
bool sparseLowerMap(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSelect(SparseLowering *lowering, SparseResult *result);
bool sparseLowerReduce(SparseLowering *lowering, SparseResult *result);

//===--- softmax.c ----------------------------------------------------------===//
bool sparseSupportsSoftmax(MlirOperation op);
bool sparseLowerSoftmax(SparseLowering *lowering, SparseResult *result);

//===--- micro_tiles.c ------------------------------------------------------===//
bool sparseLowerDetect(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSread(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSwrite(SparseLowering *lowering, SparseResult *result);

//===--- routing.c ----------------------------------------------------------===//
bool sparseLowerGroup(SparseLowering *lowering, SparseResult *result);
bool sparseSupportsGroupedMatmul(MlirOperation op);
bool sparseLowerGroupedMatmul(SparseLowering *lowering, SparseResult *result);
// What a GPU's products hold sums in, for factors of `element` and a result of `result`; what they widen factors to,
// which tile.mma then multiplies; and the op from one such type to another.
MlirType sparseSumOf(MlirType element, MlirType result);
MlirType sparseFactorOf(MlirType element, MlirType sum);
TileUpstream sparseCastOp(MlirType from, MlirType to);

//===--- products.c ---------------------------------------------------------===//
bool sparseSupportsEntries(MlirOperation op); // of any format but a sum
bool sparseSupportsProduct(MlirOperation op);
// A program for `rows` lines by `columns` columns of the result.
void sparseGridOf(SparseLowering *lowering, MlirValue init, int64_t rows, int64_t columns, MlirValue grid[2]);
bool sparseLowerSpmm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSpmv(SparseLowering *lowering, SparseResult *result);

//===--- register_tiles.c --------------------------------------------------------===//

// How a machine's registers hold sums: `sums` vectors keep its multiply-adds busy; of a tile of several lines `lines`
// at most, each of so many bytes (narrow: `sums` vectors in all; wide: as many as there is room for), of a line alone
// rowBytes.
typedef struct SparseRegisters {
  int64_t sums, lines, narrowBytes, wideBytes, rowBytes;
} SparseRegisters;
int64_t sparsePowerBelow(int64_t most); // the greatest power of two that is not above
SparseRegisters sparseRegistersOf(const TileSearchTarget *machine);
int64_t sparseLargestDivisor(int64_t number, int64_t most);
int64_t sparseTileColumns(MlirType result, int64_t bytes); // as many columns as fit, or all there are
// The tile of sums for groups of `rows` lines.
typedef struct SparseBlockTile {
  int64_t lines, columns;
} SparseBlockTile;
SparseBlockTile sparseBlockTileOf(const SparseLowering *lowering, int64_t rows, MlirType result);

//===--- gathered.c ---------------------------------------------------------===//

// Groups of `lines` lines that keep the same entries: `together` neighbours along the inner axis. A window of `window`
// elements has `kept` entries of each line; blocks have no windows.
typedef struct SparseGroups {
  int64_t lines, together, window, kept;
  bool areBlocks;
} SparseGroups;
// Whether a CPU sums up rows of `result` that are gathered once for `lines` lines, `mostLines` at most.
bool sparseGathersForLines(const SparseLowering *lowering, int64_t lines, int64_t mostLines, MlirType result);
// Products whose rows of the dense factor are gathered once for all lines of a group, in the machine's form.
bool sparseMultipliesGathered(const SparseLowering *lowering, const SparseGroups *groups, MlirType element,
                              MlirType result);
// `parts`: positions of blocks (of windows: the coordinates), coordinates, values; blocks with their axes swapped.
MlirValue sparseMultiplyGathered(SparseLowering *lowering, const SparseGroups *groups, const MlirValue parts[3],
                                 MlirValue dense, MlirValue init);

//===--- windows.c ----------------------------------------------------------===//

// A product of #sparse.nm, on CPUs: the rows that some windows reach are copied to the innermost cache for many lines.
typedef struct SparseWindowed {
  const SparseWindows *windows;
  TileHook taken, step; // how many of a unit's neighbours lie inside the matrix; one term of the sum
} SparseWindowed;
// `parts`: coordinates and values. False where that does not pay; else `*product` is null after a diagnostic.
bool sparseMultiplyWindows(SparseLowering *lowering, const SparseWindowed *windowed, const MlirValue parts[2],
                           MlirValue dense, MlirValue init, MlirValue *product);

//===--- one_column.c -------------------------------------------------------===//

// As sparseMultiplyWindows, for a result of one column.
bool sparseMultiplyColumn(SparseLowering *lowering, const SparseWindowed *windowed, const MlirValue parts[2],
                          MlirValue dense, MlirValue init, MlirValue *product);

//===--- split.c ------------------------------------------------------------===//

// Lines, Entries or RunTime, for a product over the semiring of lines with these positions.
SparseSplit sparseSplitOf(const SparseLowering *lowering, const SparseSemiring *semiring, MlirValue positions);
// The product by entries; `lines`: the parameters of the product by lines. `inputs`: positions, coordinates, values and
// the dense factor. Null after a diagnostic.
MlirValue sparseMultiplyEntries(SparseLowering *lowering, const TileSpmmCsr *lines, const SparseSemiring *semiring,
                                const MlirValue inputs[4], MlirValue init);
// By entries where the positions that come ask for it, else by lines over the grid.
MlirValue sparseMultiplyEither(SparseLowering *lowering, const TileSpmmCsr *lines, const SparseSemiring *semiring,
                               const MlirValue inputs[4], MlirValue init, const MlirValue grid[2]);

//===--- instructions.c -----------------------------------------------------===//

// Products of #sparse.nm whose windows lie along the inner axis, by a GPU's matrix instructions.
bool sparseMultipliesByInstruction(const SparseLowering *lowering, MlirType type, MlirType result);
MlirValue sparseMultiplyByInstruction(SparseLowering *lowering, MlirType type, const MlirValue parts[2],
                                      MlirValue dense, MlirValue init);

//===--- values.c -----------------------------------------------------------===//

// Size of operand `operand` along an axis, as an index of the host.
MlirValue sparseSize(SparseLowering *lowering, intptr_t operand, intptr_t axis);
MlirType sparseElement(MlirValue tensor);
int64_t sparseBits(MlirType element); // a float's or an integer's width
// The value as one of that type, of the same rank and element: tensor.cast where they differ.
MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type);
// A tensor of zeros, or of no particular elements; `sizes` for the dynamic ones.
MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
// Axes `begin` to `end` - 1 as one. A reassociation of all axes to one.
MlirAttribute sparseOneGroup(const TileBuilder *b, intptr_t rank);
MlirValue sparseCollapse(SparseLowering *lowering, MlirValue value, intptr_t begin, intptr_t end);
// The symbol of the kernel that the template gives, made where the module lacks it: kernels that print alike are one.
// Null after a diagnostic.
MlirAttribute sparseKernelGet(SparseKernels *kernels, const TileTemplateUse *use, MlirLocation location);
void sparseKernelsEnd(SparseKernels *kernels);
// tile.launch of a template's kernel: inputs, then the one output, whose new value comes back. Null after a diagnostic.
MlirValue sparseLaunch(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                       intptr_t numInputs, const MlirValue *inputs, MlirValue output);
// With several outputs; their new values replace them in `outputs`. False after a diagnostic.
bool sparseLaunchAll(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                     intptr_t numInputs, const MlirValue *inputs, intptr_t numOutputs, MlirValue *outputs);

// One value computed in one of two ways, by what comes at run time: scf.if.
//
//   SparseBranch branch = sparseBranchBegin(lowering, condition);
//   sparseBranchElse(lowering, &branch, productOf(lowering));             what is built here runs if the condition
//   holds MlirValue result = sparseBranchEnd(lowering, &branch, otherOf(lowering));
//
// A null value, after a diagnostic, gives null and leaves nothing behind; so does a null condition.
typedef struct SparseBranch {
  TileBuilder outside;
  MlirValue condition, first;
  MlirRegion regions[2];
} SparseBranch;
SparseBranch sparseBranchBegin(SparseLowering *lowering, MlirValue condition);
void sparseBranchElse(SparseLowering *lowering, SparseBranch *branch, MlirValue value);
MlirValue sparseBranchEnd(SparseLowering *lowering, SparseBranch *branch, MlirValue value);

// Something computed for each element of tensors of rank 1 (linalg.generic): the block takes an element of each input.
//
//   SparseBody body = sparseBodyBegin(lowering, 1, &x, element);
//   MlirValue y = arithNegFOpBuild(&body.builder, mlirBlockGetArgument(body.block, 0));
//   MlirValue result = sparseBodyEnd(lowering, &body, 1, &x, init, y);
typedef struct SparseBody {
  MlirBlock block;
  TileBuilder builder;
} SparseBody;
SparseBody sparseBodyBegin(SparseLowering *lowering, intptr_t count, const MlirValue *inputs, MlirType result);
// A copy of a block's ops with these arguments; what it yields first.
MlirValue sparseBodyInline(SparseBody *body, MlirBlock from, intptr_t count, const MlirValue *arguments);
// Whether the ops of a block use nothing from outside but constants. Such a block can be copied into a kernel, together
// with these constants; what the copy yields first.
bool sparseBodyStandsAlone(MlirBlock block);
MlirValue sparseInlineAlone(TileBuilder *b, MlirBlock from, intptr_t count, const MlirValue *arguments);
// The copy on tiles like `tile`, an argument or all its elements at once, where every op of the block is elementwise.
bool sparseBodyIsElementwise(MlirBlock block);
MlirValue sparseInlineTiles(TileBuilder *b, MlirBlock from, intptr_t count, const MlirValue *arguments, MlirType tile);
MlirValue sparseBodyEnd(SparseLowering *lowering, SparseBody *body, intptr_t count, const MlirValue *inputs,
                        MlirValue init, MlirValue value);
