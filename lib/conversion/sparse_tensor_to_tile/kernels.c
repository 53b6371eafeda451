// Kernels and the host's side of them. See lowering.h.
#include "lib/conversion/sparse_tensor_to_tile/lowering.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/tensor.h"

#include <stdlib.h>
#include <string.h>

//===--- kernels ------------------------------------------------------------------===//

typedef struct LevelKernelMade {
  char *text;
  MlirAttribute symbol;
  struct LevelKernelMade *next;
} LevelKernelMade;

void sparseLevelKernelsEnd(LevelKernels *kernels) {
  while (kernels->made) {
    LevelKernelMade *made = kernels->made;
    kernels->made = made->next;
    free(made->text);
    free(made);
  }
}

// The symbol of a detached kernel, or of the one there is already.
static MlirAttribute insert(LevelKernels *kernels, MlirOperation kernel, const char *name) {
  char *text = tileTemplatePrint(kernel);
  for (const LevelKernelMade *made = kernels->made; made; made = made->next)
    if (text && made->text && !strcmp(made->text, text)) {
      free(text);
      mlirOperationDestroy(kernel);
      return made->symbol;
    }
  LevelKernelMade *made = malloc(sizeof *made);
  *made = (LevelKernelMade){text, tileTemplateInsert(kernels->module, kernel, name), kernels->made};
  kernels->made = made;
  return made->symbol;
}

LevelKernel sparseLevelKernelBegin(LevelLowering *lowering) {
  LevelKernel kernel = {.lowering = lowering};
  kernel.builder = tileBuilderAtEnd(mlirBlockCreate(0, NULL, NULL), lowering->builder.location);
  return kernel;
}

static MlirType parameterType(MlirType type) {
  int64_t shape[LevelMax];
  if (!mlirTypeIsATensor(type))
    return type;
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  MlirAttribute none = mlirAttributeGetNull();
  return mlirMemRefTypeContiguousGet(mlirShapedTypeGetElementType(type), rank, shape, none);
}

static MlirValue addParameter(LevelKernel *kernel, MlirValue value) {
  kernel->host[kernel->numTaken + kernel->numGiven] = value;
  return mlirBlockAddArgument(kernel->builder.block, parameterType(mlirValueGetType(value)), kernel->builder.location);
}

MlirValue sparseLevelKernelTake(LevelKernel *kernel, MlirValue value) {
  MlirValue parameter = addParameter(kernel, value);
  ++kernel->numTaken;
  return parameter;
}

MlirValue sparseLevelKernelGive(LevelKernel *kernel, MlirValue init) {
  MlirValue parameter = addParameter(kernel, init);
  ++kernel->numGiven;
  return parameter;
}

static void launch(LevelLowering *lowering, MlirAttribute symbol, intptr_t numInputs, const MlirValue *inputs,
                   intptr_t numOutputs, MlirValue *outputs) {
  MlirType types[LevelMaxValues];
  MlirValue one = tileBuildIndex(&lowering->builder, 1);
  MlirAttribute none = mlirAttributeGetNull();
  for (intptr_t i = 0; i < numOutputs; ++i)
    types[i] = mlirValueGetType(outputs[i]);
  MlirOperation op = tileLaunchOpCreate(&lowering->builder, numOutputs, types, 1, &one, numInputs, inputs, numOutputs,
                                        outputs, symbol, none, none);
  for (intptr_t i = 0; i < numOutputs; ++i)
    outputs[i] = mlirOperationGetResult(op, i);
  ++lowering->kernels->numLaunches;
}

void sparseLevelKernelLaunch(LevelKernel *kernel, const char *name, MlirValue *results) {
  LevelLowering *lowering = kernel->lowering;
  MlirContext context = kernel->builder.context;
  intptr_t count = kernel->numTaken + kernel->numGiven;
  MlirType types[LevelKernelMaxValues];
  MlirRegion region = mlirRegionCreate();
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(kernel->builder.block, i));
  tileReturnOpCreate(&kernel->builder, 0, NULL);
  mlirRegionAppendOwnedBlock(region, kernel->builder.block);
  MlirBlock holder = mlirBlockCreate(0, NULL, NULL);
  TileBuilder at = tileBuilderAtEnd(holder, kernel->builder.location);
  MlirOperation op = tileKernelOpBuild(&at, mlirStringAttrGet(context, tileString(name)),
                                       mlirTypeAttrGet(mlirFunctionTypeGet(context, count, types, 0, NULL)), region);
  mlirOperationRemoveFromParent(op);
  mlirBlockDestroy(holder);
  MlirAttribute symbol = insert(lowering->kernels, op, name);
  for (intptr_t i = 0; i < kernel->numGiven; ++i)
    results[i] = kernel->host[kernel->numTaken + i];
  launch(lowering, symbol, kernel->numTaken, kernel->host, kernel->numGiven, results);
}

bool sparseLevelLaunch(LevelLowering *lowering, TileTemplateUse use, intptr_t numInputs, const MlirValue *inputs,
                       intptr_t numOutputs, MlirValue *outputs) {
  MlirOperation kernel = tileTemplateMake(lowering->builder.location, &use);
  if (mlirOperationIsNull(kernel))
    return false;
  MlirAttribute symbol = insert(lowering->kernels, kernel, use.from->name);
  launch(lowering, symbol, numInputs, inputs, numOutputs, outputs);
  return true;
}

//===--- the host's values ----------------------------------------------------------===//

void sparseLevelSizesOf(TileBuilder *b, const LevelStorage *storage, const MlirValue *values, MlirValue *sizes) {
  intptr_t open = storage->numArrays;
  for (intptr_t axis = 0; axis < storage->rank; ++axis) {
    if (!storage->count)
      sizes[axis] = tileBuildSize(b, values[0], axis);
    else if (mlirShapedTypeIsDynamicDim(storage->type, axis))
      sizes[axis] = values[open++];
    else
      sizes[axis] = tileBuildIndex(b, mlirShapedTypeGetDimSize(storage->type, axis));
  }
}

static MlirType vectorOf(MlirType element) {
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  return mlirRankedTensorTypeGet(1, open, element, mlirAttributeGetNull());
}

MlirValue sparseLevelVector(TileBuilder *b, MlirType element, MlirValue size) {
  return tensorEmptyOpBuild(b, vectorOf(element), 1, &size);
}

MlirValue sparseLevelZeros(TileBuilder *b, MlirType element, MlirValue size) {
  return tensorSplatOpBuild(b, vectorOf(element), sparseNestZero(b, element), 1, &size);
}

MlirValue sparseLevelOpen(TileBuilder *b, MlirValue vector) {
  return tensorCastOpBuild(b, vectorOf(mlirShapedTypeGetElementType(mlirValueGetType(vector))), vector);
}

MlirValue sparseLevelFirst(TileBuilder *b, MlirValue vector, MlirValue size) {
  const int64_t zero[] = {0}, one[] = {1}, open[] = {mlirShapedTypeGetDynamicSize()};
  return tensorExtractSliceOpBuild(b, mlirValueGetType(vector), vector, 0, NULL, 1, &size, 0, NULL,
                                   mlirDenseI64ArrayGet(b->context, 1, zero), mlirDenseI64ArrayGet(b->context, 1, open),
                                   mlirDenseI64ArrayGet(b->context, 1, one));
}

MlirValue sparseLevelNumber(TileBuilder *b, MlirValue vector, MlirValue at) {
  return arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), tensorExtractOpBuild(b, vector, 1, &at));
}

void sparseLevelTakeOperand(LevelKernel *kernel, NestOperand *operand, const MlirValue *values) {
  MlirValue sizes[LevelMax];
  sparseLevelSizesOf(&kernel->lowering->builder, &operand->storage, values, sizes);
  for (intptr_t i = 0; i < operand->storage.numArrays; ++i)
    operand->arrays[i] = sparseLevelKernelTake(kernel, values[i]);
  for (intptr_t axis = 0; axis < operand->storage.rank; ++axis)
    operand->sizes[axis] = sparseLevelKernelTake(kernel, sizes[axis]);
}
