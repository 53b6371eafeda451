// Values of the host's side: sizes, casts, empty tensors, launches; and the words of kernels.
#include <stdio.h>

#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

//===--- sizes ----------------------------------------------------------------===//

MlirValue sparseSize(SparseLowering *lowering, intptr_t operand, intptr_t axis) {
  MlirType type = tileOperandType(lowering->op, operand);
  MlirExtValueRange values = lowering->operands[operand];
  if (mlirAttributeIsNull(sparseTypeGetEncoding(type)))
    return sparseDenseSize(lowering, values.values[0], axis);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return tileBuildIndex(&lowering->builder, mlirShapedTypeGetDimSize(type, axis));
  intptr_t after = 1; // this one and those after it stand at the end
  for (intptr_t i = axis + 1; i < mlirShapedTypeGetRank(type); i++)
    after += mlirShapedTypeIsDynamicDim(type, i);
  return values.values[values.count - after];
}

MlirValue sparseDenseSize(SparseLowering *lowering, MlirValue value, intptr_t axis) {
  MlirType type = mlirValueGetType(value);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return tileBuildIndex(&lowering->builder, mlirShapedTypeGetDimSize(type, axis));
  return tileBuildValue(&lowering->builder, "tensor.dim", mlirIndexTypeGet(lowering->builder.context), 2,
                        (MlirValue[]){value, tileBuildIndex(&lowering->builder, axis)}, NULL);
}

//===--- tensors --------------------------------------------------------------===//

MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  return tileBuildValue(&lowering->builder, "tensor.cast", type, 1, &value, NULL);
}

MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  return tileBuildValue(&lowering->builder, "tensor.empty", type, count, sizes, NULL);
}

MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue zero = mlirTypeIsAFloat(element) ? tileBuildFloat(&lowering->builder, element, 0)
                                             : tileBuildInteger(&lowering->builder, element, 0);
  MlirValue values[SPARSE_MAX_VALUES] = {zero};
  for (intptr_t i = 0; i < count; i++)
    values[1 + i] = sizes[i];
  return tileBuildValue(&lowering->builder, "tensor.splat", type, 1 + count, values, NULL);
}

MlirValue sparseSwap(SparseLowering *lowering, MlirValue matrix) {
  MlirType type = mlirValueGetType(matrix);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 1), mlirShapedTypeGetDimSize(type, 0)};
  MlirType swapped = mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirValue sizes[2];
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < 2; axis++)
    if (mlirShapedTypeIsDynamicSize(shape[axis]))
      sizes[count++] = sparseDenseSize(lowering, matrix, 1 - axis);
  MlirValue empty = sparseEmpty(lowering, swapped, count, sizes);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue from = mlirBlockAddArgument(block, element, lowering->builder.location);
  mlirBlockAddArgument(block, element, lowering->builder.location);
  TileBuilder body = tileBuilderAtEnd(block, lowering->builder.location);
  tileBuild(&body, "linalg.yield", 1, &from, 0, NULL, NULL, 0, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  const TileAttributeEntry attributes[] = {
      {"permutation", mlirDenseI64ArrayGet(lowering->builder.context, 2, (const int64_t[]){1, 0})}, {NULL}};
  MlirOperation op = tileBuild(&lowering->builder, "linalg.transpose", 2, (MlirValue[]){matrix, empty}, 1, &swapped,
                               attributes, 1, &region);
  return mlirOperationGetResult(op, 0);
}

//===--- launches -------------------------------------------------------------===//

static MlirOperation launch(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                            const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, intptr_t numOutputs,
                            const MlirValue *outputs) {
  MlirAttribute none = mlirAttributeGetNull();
  MlirType types[2];
  MlirAttribute symbol = sparseKernelGet(lowering->kernels, kernel, words, lowering->builder.location);
  if (mlirAttributeIsNull(symbol))
    return (MlirOperation){NULL};
  for (intptr_t i = 0; i < numOutputs; i++)
    types[i] = mlirValueGetType(outputs[i]);
  return tileLaunchOpCreate(&lowering->builder, numOutputs, types, numGrid, grid, numInputs, inputs, numOutputs,
                            outputs, symbol, none, none);
}

MlirValue sparseLaunch(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                       const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, MlirValue output) {
  MlirOperation op = launch(lowering, kernel, words, numGrid, grid, numInputs, inputs, 1, &output);
  return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

bool sparseLaunchTwo(SparseLowering *lowering, const char *kernel, const SparseWord *words, intptr_t numGrid,
                     const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs, MlirValue outputs[2]) {
  MlirOperation op = launch(lowering, kernel, words, numGrid, grid, numInputs, inputs, 2, outputs);
  for (intptr_t i = 0; i < 2 && !mlirOperationIsNull(op); i++)
    outputs[i] = mlirOperationGetResult(op, i);
  return !mlirOperationIsNull(op);
}

//===--- words ----------------------------------------------------------------===//

SparseWord sparseTypeWord(const char *name, MlirType type) {
  SparseWord word = {.name = name};
  tileTypeText(type, word.text, sizeof word.text);
  return word;
}

SparseWord sparseNumberWord(const char *name, int64_t number) {
  SparseWord word = {.name = name};
  snprintf(word.text, sizeof word.text, "%lld", (long long)number);
  return word;
}

SparseWord sparseTextWord(const char *name, const char *text) {
  SparseWord word = {.name = name};
  snprintf(word.text, sizeof word.text, "%s", text);
  return word;
}
