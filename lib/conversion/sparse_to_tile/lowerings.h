// What the files of this folder share: a sparse value as its components, and what lowers each op.
#ifndef TESSERA_CONVERSION_SPARSE_TO_TILE_LOWERINGS_H
#define TESSERA_CONVERSION_SPARSE_TO_TILE_LOWERINGS_H

#include "dialects/sparse/sparse.h"
#include "lib/capi/conversion.h"
#include "lib/conversion/sparse_to_tile/kernels.h"
#include "lib/ir/builder.h"

// An op about to be replaced. operands[i] are the values that operand i became: of a sparse one its components, then
// one index for each size that its type leaves open.
typedef struct SparseLowering {
  MlirOperation op;
  const MlirExtValueRange *operands;
  TileBuilder builder;
  SparseKernels *kernels;
} SparseLowering;

// What an op becomes: the values of its results, in the same way.
enum { SPARSE_MAX_VALUES = SPARSE_MAX_COMPONENTS + 8 };
typedef struct SparseResult {
  MlirValue values[SPARSE_MAX_VALUES];
  intptr_t count;
} SparseResult;

// Why the op has no lowering yet, as a located diagnostic and false; asked before anything is changed.
typedef bool (*SparseSupports)(MlirOperation op);
// Builds what replaces result 0. False after a diagnostic.
typedef bool (*SparseLower)(SparseLowering *lowering, SparseResult *result);

//===--- storage.c ----------------------------------------------------------===//
bool sparseSupportsPack(MlirOperation op);
bool sparseLowerPack(SparseLowering *lowering, SparseResult *result);
bool sparseSupportsUnpack(MlirOperation op);
bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result);
bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result);
bool sparseSupportsTranspose(MlirOperation op);
bool sparseLowerTranspose(SparseLowering *lowering, SparseResult *result);
bool sparseSupportsConvert(MlirOperation op);
bool sparseLowerConvert(SparseLowering *lowering, SparseResult *result);

//===--- products.c ---------------------------------------------------------===//
bool sparseSupportsProduct(MlirOperation op);
bool sparseLowerSpmm(SparseLowering *lowering, SparseResult *result);
bool sparseLowerSpmv(SparseLowering *lowering, SparseResult *result);

//===--- values.c -----------------------------------------------------------===//

// Size of operand `operand` along an axis, as an index of the host.
MlirValue sparseSize(SparseLowering *lowering, intptr_t operand, intptr_t axis);
// The same of a dense value.
MlirValue sparseDenseSize(SparseLowering *lowering, MlirValue value, intptr_t axis);
// The value as one of that type, of the same rank and element: tensor.cast where they differ.
MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type);
// A tensor of zeros, or of no particular elements; `sizes` for the dynamic ones.
MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes);
// A dense matrix with its axes swapped.
MlirValue sparseSwap(SparseLowering *lowering, MlirValue matrix);
// tile.launch of a kernel of kernels/: `ins`, then the one output, whose new value comes back. Null after a diagnostic.
MlirValue sparseLaunch(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                       const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, MlirValue output);
// The same with two outputs.
bool sparseLaunchTwo(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                     const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, MlirValue outputs[2]);
// Appends "f32" and the like.
SparseWord sparseTypeWord(const char *name, MlirType type);
SparseWord sparseNumberWord(const char *name, int64_t number);
SparseWord sparseTextWord(const char *name, const char *text);

#endif
