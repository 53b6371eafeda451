// Shared by the files of this folder: kernels under construction, lists of entries, and the ops' lowerings.
#pragma once

#include "lib/conversion/sparse_tensor_to_tile/nest.h"
#include "lib/ir/template.h"

// The kernels that a module has so far: those that print alike are one.
typedef struct LevelKernels {
  MlirOperation module;
  struct LevelKernelMade *made;
  uint64_t numLaunches;
} LevelKernels;
void sparseLevelKernelsEnd(LevelKernels *kernels);

// An op about to be replaced: its operands' values (of an encoded one the arrays, then open sizes) and where the host's
// side is built.
typedef struct LevelLowering {
  MlirOperation op;
  const MlirExtValueRange *operands;
  TileBuilder builder;
  LevelKernels *kernels;
} LevelLowering;

//===--- kernels.c --------------------------------------------------------------===//

enum { LevelKernelMaxValues = 96 };

// A kernel of one program: the host's values that it takes, then the tensors whose new values it gives.
//
//   LevelKernel kernel = sparseLevelKernelBegin(lowering);
//   MlirValue x = sparseLevelKernelTake(&kernel, tensor), y = sparseLevelKernelGive(&kernel, init);    // memrefs, or
//   scalars … builds with kernel.builder … sparseLevelKernelLaunch(&kernel, "contract", results);
typedef struct LevelKernel {
  LevelLowering *lowering;
  TileBuilder builder;
  MlirValue host[LevelKernelMaxValues];
  intptr_t numTaken, numGiven;
} LevelKernel;

LevelKernel sparseLevelKernelBegin(LevelLowering *lowering);
MlirValue sparseLevelKernelTake(LevelKernel *kernel, MlirValue value);
MlirValue sparseLevelKernelGive(LevelKernel *kernel, MlirValue init); // behind all that are taken
void sparseLevelKernelLaunch(LevelKernel *kernel, const char *name, MlirValue *results);
// A template's kernel, likewise. Outputs are replaced by their new values. False after a diagnostic.
bool sparseLevelLaunch(LevelLowering *lowering, TileTemplateUse use, intptr_t numInputs, const MlirValue *inputs,
                       intptr_t numOutputs, MlirValue *outputs);

// On the host: the sizes of an encoded or dense tensor that became `values`; a vector of so many elements, of no
// particular ones or of zeros; a size as i64's only element read back.
void sparseLevelSizesOf(TileBuilder *b, const LevelStorage *storage, const MlirValue *values, MlirValue *sizes);
MlirValue sparseLevelVector(TileBuilder *b, MlirType element, MlirValue size);
MlirValue sparseLevelZeros(TileBuilder *b, MlirType element, MlirValue size);
MlirValue sparseLevelOpen(TileBuilder *b, MlirValue vector);                  // as a vector of open size
MlirValue sparseLevelFirst(TileBuilder *b, MlirValue vector, MlirValue size); // its first elements
MlirValue sparseLevelNumber(TileBuilder *b, MlirValue vector, MlirValue at);  // as an index

// Takes an operand of a nest into the kernel: `values` as sparseLevelSizesOf has them.
void sparseLevelTakeOperand(LevelKernel *kernel, NestOperand *operand, const MlirValue *values);

//===--- stored_entries.c --------------------------------------------------------------===//

// `count` entries: of each level their coordinates (i64), and their values.
typedef struct LevelEntries {
  MlirValue count, coordinates[LevelMax], values;
} LevelEntries;

// Entries in the order of the levels; of one place in the order they had.
bool sparseLevelSortEntries(LevelLowering *lowering, const LevelStorage *storage, const MlirValue *sizes,
                            LevelEntries *entries);
// Arrays of sorted entries, and open sizes. Two of one place: the last one's value. Returns the number of values; 0
// after a diagnostic.
intptr_t sparseLevelStoreEntries(LevelLowering *lowering, const LevelStorage *storage, const MlirValue *sizes,
                                 const LevelEntries *entries, MlirValue *values);

//===--- bodies.c ----------------------------------------------------------------===//

// The values of the only result. False after a diagnostic.
bool sparseLevelLowerGeneric(LevelLowering *lowering, MlirValue *values, intptr_t *count);
// Null, or why the op is not lowered, in words for "'op' …".
const char *sparseLevelWhyNotGeneric(MlirOperation op);

//===--- walks.c ------------------------------------------------------------------===//

// The entries of a tensor, dense ones without their zeros, with the coordinates that `to` (of the same shape) gives
// them.
bool sparseLevelEntriesOf(LevelLowering *lowering, const LevelStorage *from, const MlirValue *values,
                          const LevelStorage *to, LevelEntries *entries);
// Null, or why not, likewise.
const char *sparseLevelWhyNotConvert(MlirOperation op);
bool sparseLevelLowerConvert(LevelLowering *lowering, MlirValue *values, intptr_t *count);

// Where entries go: a kernel counts, then one fills what the host has made for so many.
typedef struct LevelEmitter {
  MlirValue count, coordinates[LevelMax], values; // memrefs; coordinates null: only counts
} LevelEmitter;
// An entry where the loops are, if it is present.
void sparseLevelEmit(LevelNest *nest, TileBuilder *b, const NestPlace *place, MlirValue present, MlirValue value);
// Makes the entries of a nest, which `prepare` sets up in each of the two kernels.
typedef bool (*LevelPrepare)(LevelKernel *kernel, LevelNest *nest, void *data);
bool sparseLevelMakeEntries(LevelLowering *lowering, const LevelStorage *to, LevelPrepare prepare, void *data,
                            LevelEntries *entries);
