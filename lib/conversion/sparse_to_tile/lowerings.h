// What the files of this folder share: a sparse value as its components, and what lowers each op.
#ifndef TESSERA_CONVERSION_SPARSE_TO_TILE_LOWERINGS_H
#define TESSERA_CONVERSION_SPARSE_TO_TILE_LOWERINGS_H

#include "dialects/sparse/sparse.h"
#include "lib/analysis/structured.h"
#include "lib/capi/conversion.h"
#include "lib/conversion/sparse_to_tile/kernels.h"
#include "lib/ir/builder.h"

// How products by lines are shared among programs: a line each, so many entries each, by a model where the lines'
// lengths are constant (else a line each), or by that and otherwise by what comes at run time.
typedef enum SparseSplit { SparseSplit_Model, SparseSplit_Lines, SparseSplit_Entries, SparseSplit_RunTime } SparseSplit;

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

// What an op becomes: the values of its result, in the same way; or one value for each of several dense results.
enum { SPARSE_MAX_VALUES = SPARSE_MAX_COMPONENTS + 8 };
typedef struct SparseResult {
  MlirValue values[SPARSE_MAX_VALUES];
  intptr_t count;
} SparseResult;

// Why the op has no lowering yet, as a located diagnostic and false; asked before anything is changed.
typedef bool (*SparseSupports)(MlirOperation op);
// Builds what replaces the results. False after a diagnostic.
typedef bool (*SparseLower)(SparseLowering *lowering, SparseResult *result);

//===--- storage.c ----------------------------------------------------------===//
bool sparseLowerPack(SparseLowering *lowering, SparseResult *result);
bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result);
bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result);
bool sparseLowerTranspose(SparseLowering *lowering, SparseResult *result);
bool sparseLowerConvert(SparseLowering *lowering, SparseResult *result);

// Of a dense matrix and the three components of csr, as which it is packed row by row.
bool sparsePackSegments(SparseLowering *lowering, MlirValue dense, const SparseComponent parts[3],
                        SparseResult *result);
// As #sparse.nm.
bool sparsePackWindows(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result);

//===--- entries.c ----------------------------------------------------------===//
bool sparseSupportsEntries(MlirOperation op); // of any format but a sum
bool sparseLowerSddmm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSpgemm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerAdd(SparseLowering *lowering, SparseResult *result);
bool sparseLowerMul(SparseLowering *lowering, SparseResult *result);
bool sparseLowerMap(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSelect(SparseLowering *lowering, SparseResult *result);
bool sparseLowerReduce(SparseLowering *lowering, SparseResult *result);

//===--- micro_tiles.c ------------------------------------------------------===//
bool sparseLowerDetect(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSread(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSwrite(SparseLowering *lowering, SparseResult *result);

//===--- products.c ---------------------------------------------------------===//
bool sparseSupportsProduct(MlirOperation op);
bool sparseLowerSpmm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSpmv(SparseLowering *lowering, SparseResult *result);

//===--- registers.c --------------------------------------------------------===//

// How a machine's registers hold sums: `sums` vectors keep its multiply-adds busy; of a tile of several lines `lines`
// at most, each of so many bytes (narrow: `sums` vectors in all; wide: as many as there is room for), of a line alone
// rowBytes.
typedef struct SparseRegisters {
  int64_t sums, lines, narrowBytes, wideBytes, rowBytes;
} SparseRegisters;
int64_t sparsePowerBelow(int64_t most); // the greatest power of two that is not above
SparseRegisters sparseRegistersOf(const TileSearchTarget *machine);

//===--- gathered.c ---------------------------------------------------------===//

// Of #sparse.nm whose windows lie along the inner axis, and of #sparse.bsr, by way of gathered rows in the machine's
// form. `type`: the sparse factor's; `parts`: its components, blocks with their axes swapped.
bool sparseMultipliesGathered(const SparseLowering *lowering, MlirType type, MlirType result);
MlirValue sparseMultiplyGathered(SparseLowering *lowering, MlirType type, const MlirValue *parts, MlirValue dense,
                                 MlirValue init);

//===--- split.c ------------------------------------------------------------===//

enum { SPARSE_SPLIT_ITEMS = 4096 }; // lines and entries of a program
typedef struct SparseSemiring SparseSemiring;
// Lines, Entries or RunTime, for a product over the semiring of lines with these positions.
SparseSplit sparseSplitOf(const SparseLowering *lowering, const SparseSemiring *semiring, MlirValue positions);
// The product by entries, in tiles of `columns`. `inputs`: positions, coordinates, values and the dense factor;
// `words`: those of spmm_csr. Null after a diagnostic.
MlirValue sparseMultiplyEntries(SparseLowering *lowering, const SparseWord *words, int64_t columns,
                                const MlirValue inputs[4], MlirValue init);
// By entries where the positions that come ask for it, else by spmm_csr over the grid `lines`.
MlirValue sparseMultiplyEither(SparseLowering *lowering, const SparseWord *words, int64_t columns,
                               const MlirValue inputs[4], MlirValue init, const MlirValue lines[2]);

//===--- instructions.c -----------------------------------------------------===//

// Of #sparse.nm whose windows lie along the inner axis, by a GPU's matrix instructions. As in gathered.c.
bool sparseMultipliesByInstruction(const SparseLowering *lowering, MlirType type, MlirType result);
MlirValue sparseMultiplyByInstruction(SparseLowering *lowering, MlirType type, const MlirValue parts[2],
                                      MlirValue dense, MlirValue init);

//===--- values.c -----------------------------------------------------------===//

// Size of operand `operand` along an axis, as an index of the host.
MlirValue sparseSize(SparseLowering *lowering, intptr_t operand, intptr_t axis);
// The same of a dense value.
MlirValue sparseDenseSize(SparseLowering *lowering, MlirValue value, intptr_t axis);
int64_t sparseBits(MlirType element); // a float's or an integer's width
// The value as one of that type, of the same rank and element: tensor.cast where they differ.
MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type);
// A tensor of zeros, or of no particular elements; `sizes` for the dynamic ones.
MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
// Axes `begin` to `end` - 1 as one.
MlirValue sparseCollapse(SparseLowering *lowering, MlirValue value, intptr_t begin, intptr_t end);
// A dense matrix with its axes swapped.
MlirValue sparseSwap(SparseLowering *lowering, MlirValue matrix);
// tile.launch of a kernel of kernels/: `ins`, then the one output, whose new value comes back. Null after a diagnostic.
MlirValue sparseLaunch(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                       const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, MlirValue output);
// The same with several outputs, in place of which their new values come back; false after a diagnostic.
bool sparseLaunchAll(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                     const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, intptr_t numOutputs,
                     MlirValue *outputs);

// Something computed for each element of tensors of rank 1 (linalg.generic): the block takes an element of each input.
//
//   SparseBody body = sparseBodyBegin(lowering, 1, &x, element);
//   MlirValue y = tileBuildValue(&body.builder, "arith.negf", element, 1, &argument, NULL);
//   MlirValue result = sparseBodyEnd(lowering, &body, 1, &x, init, y);
typedef struct SparseBody {
  MlirBlock block;
  TileBuilder builder;
} SparseBody;
SparseBody sparseBodyBegin(SparseLowering *lowering, intptr_t count, const MlirValue *inputs, MlirType result);
// A copy of a block's ops with these arguments; what it yields first.
MlirValue sparseBodyInline(SparseBody *body, MlirBlock from, intptr_t count, const MlirValue *arguments);
MlirValue sparseBodyEnd(SparseLowering *lowering, SparseBody *body, intptr_t count, const MlirValue *inputs,
                        MlirValue init, MlirValue value);

// Appends "f32" and the like.
SparseWord sparseTypeWord(const char *name, MlirType type);
SparseWord sparseNumberWord(const char *name, int64_t number);
SparseWord sparseTextWord(const char *name, const char *text);
SparseWord sparseZeroWord(MlirType element); // ZERO

//===--- semirings.c --------------------------------------------------------===//

// Ops of arith for ⊕ and ⊗ ("addf"). isSum: ⊕ adds; isMean: and the sum is divided by how many there are.
struct SparseSemiring {
  const char *add, *multiply;
  bool isSum, isMean;
};
// Of an op's semiring, or of what it combines by.
SparseSemiring sparseSemiring(MlirOperation op, MlirType element);
// E, A, WIDEN, STEP, ADD, MULTIPLY, DIVIDE, COUNT, FINISH, ZERO: products of `element` summed up in `sum`.
enum { SPARSE_SEMIRING_WORDS = 10 };
intptr_t sparseSemiringWords(MlirOperation op, MlirType element, MlirType sum, SparseWord *words);

#endif
