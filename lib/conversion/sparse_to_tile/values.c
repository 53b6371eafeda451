// Values of the host's side: sizes, casts, empty tensors, launches, bodies.
#include <stdio.h>
#include <stdlib.h>

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
  for (intptr_t i = axis + 1; i < mlirShapedTypeGetRank(type); ++i)
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

MlirType sparseElement(MlirValue tensor) { return mlirShapedTypeGetElementType(mlirValueGetType(tensor)); }

int64_t sparseBits(MlirType element) {
  return mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) : mlirIntegerTypeGetWidth(element);
}

//===--- tensors --------------------------------------------------------------===//

MlirValue sparseCast(SparseLowering *lowering, MlirValue value, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  return tileBuildValue(&lowering->builder, "tensor.cast", type, 1, &value, NULL);
}

MlirValue sparseCollapse(SparseLowering *lowering, MlirValue value, intptr_t begin, intptr_t end) {
  MlirType type = mlirValueGetType(value);
  int64_t shape[8], whole = 1;
  char text[96] = "[";
  intptr_t rank = mlirShapedTypeGetRank(type), axes = 0;
  size_t length = 1;
  for (intptr_t i = 0; i < rank; ++i) {
    bool isInside = i > begin && i < end, endsHere = i + 1 >= end || i < begin;
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%d%s",
                               isInside ? ", "
                               : i      ? ", ["
                                        : "[",
                               (int)i, endsHere ? "]" : "");
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    bool isOpen = mlirShapedTypeIsDynamicSize(size) || mlirShapedTypeIsDynamicSize(whole);
    whole = !isInside ? size : isOpen ? mlirShapedTypeGetDynamicSize() : whole * size;
    if (endsHere)
      shape[axes++] = whole;
  }
  snprintf(text + length, sizeof text - length, "]");
  MlirType flat = mlirRankedTensorTypeGet(axes, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  const TileAttributeEntry attributes[] = {{"reassociation", tileBuildAttribute(&lowering->builder, text)}, {NULL}};
  return tileBuildValue(&lowering->builder, "tensor.collapse_shape", flat, 1, &value, attributes);
}

MlirValue sparseEmpty(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  return tileBuildValue(&lowering->builder, "tensor.empty", type, count, sizes, NULL);
}

MlirValue sparseZeros(SparseLowering *lowering, MlirType type, intptr_t count, const MlirValue *sizes) {
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirValue zero = mlirTypeIsAFloat(element) ? tileBuildFloat(&lowering->builder, element, 0)
                                             : tileBuildInteger(&lowering->builder, element, 0);
  MlirValue values[SPARSE_MAX_VALUES] = {zero};
  for (intptr_t i = 0; i < count; ++i)
    values[1 + i] = sizes[i];
  return tileBuildValue(&lowering->builder, "tensor.splat", type, 1 + count, values, NULL);
}

MlirValue sparseSwap(SparseLowering *lowering, MlirValue matrix) {
  MlirType type = mlirValueGetType(matrix);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 1), mlirShapedTypeGetDimSize(type, 0)};
  MlirType swapped = mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirValue sizes[2];
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < 2; ++axis)
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

bool sparseLaunchAll(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                     intptr_t numInputs, const MlirValue *inputs, intptr_t numOutputs, MlirValue *outputs) {
  MlirAttribute none = mlirAttributeGetNull();
  MlirType types[SPARSE_MAX_VALUES];
  MlirAttribute symbol = sparseKernelGet(lowering->kernels, &kernel, lowering->builder.location);
  if (mlirAttributeIsNull(symbol))
    return false;
  for (intptr_t i = 0; i < numOutputs; ++i)
    types[i] = mlirValueGetType(outputs[i]);
  MlirOperation op = tileLaunchOpCreate(&lowering->builder, numOutputs, types, numGrid, grid, numInputs, inputs,
                                        numOutputs, outputs, symbol, none, none);
  for (intptr_t i = 0; i < numOutputs; ++i)
    outputs[i] = mlirOperationGetResult(op, i);
  return true;
}

MlirValue sparseLaunch(SparseLowering *lowering, TileTemplateUse kernel, intptr_t numGrid, const MlirValue *grid,
                       intptr_t numInputs, const MlirValue *inputs, MlirValue output) {
  bool ok = sparseLaunchAll(lowering, kernel, numGrid, grid, numInputs, inputs, 1, &output);
  return ok ? output : (MlirValue){NULL};
}

//===--- bodies ---------------------------------------------------------------===//

SparseBody sparseBodyBegin(SparseLowering *lowering, intptr_t count, const MlirValue *inputs, MlirType result) {
  SparseBody body = {.block = mlirBlockCreate(0, NULL, NULL)};
  for (intptr_t i = 0; i < count; ++i)
    mlirBlockAddArgument(body.block, mlirShapedTypeGetElementType(mlirValueGetType(inputs[i])),
                         lowering->builder.location);
  mlirBlockAddArgument(body.block, result, lowering->builder.location);
  body.builder = tileBuilderAtEnd(body.block, lowering->builder.location);
  return body;
}

// Values of a region and what stands for them in a copy.
typedef struct Renamed {
  MlirValue *from, *to;
  intptr_t count, capacity;
} Renamed;

static void addName(Renamed *names, MlirValue from, MlirValue to) {
  if (names->count == names->capacity) {
    names->capacity = 2 * names->capacity + 16;
    names->from = realloc(names->from, (size_t)names->capacity * sizeof *names->from);
    names->to = realloc(names->to, (size_t)names->capacity * sizeof *names->to);
  }
  names->from[names->count] = from;
  names->to[names->count++] = to;
}

static MlirValue nameOf(const Renamed *names, MlirValue value) {
  for (intptr_t i = 0; i < names->count; ++i)
    if (mlirValueEqual(value, names->from[i]))
      return names->to[i];
  return value;
}

static MlirWalkResult renameOperands(MlirOperation op, void *names) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i, nameOf(names, mlirOperationGetOperand(op, i)));
  return MlirWalkResultAdvance;
}

MlirValue sparseBodyInline(SparseBody *body, MlirBlock from, intptr_t count, const MlirValue *arguments) {
  Renamed names = {NULL};
  MlirOperation end = mlirBlockGetTerminator(from);
  for (intptr_t i = 0; i < count; ++i)
    addName(&names, mlirBlockGetArgument(from, i), arguments[i]);
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation copy = tileBuilderInsert(&body->builder, mlirOperationClone(op));
    mlirOperationWalk(copy, renameOperands, &names, MlirWalkPreOrder);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      addName(&names, mlirOperationGetResult(op, i), mlirOperationGetResult(copy, i));
  }
  MlirValue yielded = nameOf(&names, mlirOperationGetOperand(end, 0));
  free(names.from);
  free(names.to);
  return yielded;
}

MlirValue sparseBodyEnd(SparseLowering *lowering, SparseBody *body, intptr_t count, const MlirValue *inputs,
                        MlirValue init, MlirValue value) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(init);
  MlirValue operands[SPARSE_MAX_VALUES];
  MlirAttribute maps[SPARSE_MAX_VALUES];
  MlirAttribute parallel = tileBuildAttribute(b, "#linalg.iterator_type<parallel>");
  MlirAttribute map = tileBuildAttribute(b, "affine_map<(i) -> (i)>");
  for (intptr_t i = 0; i <= count; ++i) {
    operands[i] = i < count ? inputs[i] : init;
    maps[i] = map;
  }
  tileBuild(&body->builder, "linalg.yield", 1, &value, 0, NULL, NULL, 0, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body->block);
  const int32_t segments[] = {(int32_t)count, 1};
  const TileAttributeEntry attributes[] = {{"indexing_maps", mlirArrayAttrGet(b->context, count + 1, maps)},
                                           {"iterator_types", mlirArrayAttrGet(b->context, 1, &parallel)},
                                           {"operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 2, segments)},
                                           {NULL}};
  MlirOperation op = tileBuild(b, "linalg.generic", count + 1, operands, 1, &type, attributes, 1, &region);
  return mlirOperationGetResult(op, 0);
}
