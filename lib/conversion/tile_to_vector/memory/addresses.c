// tile.memref_at: a memref's descriptor around a number.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

static MlirValue insertAt(TileBuilder *builder, MlirValue descriptor, MlirValue part, intptr_t depth,
                          const int64_t *position) {
  TileAttributeEntry where[] = {{"position", mlirDenseI64ArrayGet(builder->context, depth, position)}, {0}};
  return tileBuildValue(builder, "llvm.insertvalue", mlirValueGetType(descriptor), 2, (MlirValue[]){descriptor, part},
                        where);
}

static MlirType descriptorOf(MlirContext context, intptr_t rank) {
  MlirType word = mlirIntegerTypeGet(context, 64), address = mlirLLVMPointerTypeGet(context, 0);
  MlirType array = mlirLLVMArrayTypeGet(word, (unsigned)rank), fields[] = {address, address, word, array, array};
  return mlirLLVMStructTypeLiteralGet(context, rank ? 5 : 3, fields, false);
}

// The next operand of a group, or the number itself.
static MlirValue numberOf(VecLowering *lowering, MlirOperation op, int64_t number, bool dynamic, intptr_t *operand) {
  if (!dynamic)
    return tileBuildIndex(&lowering->builder, number);
  return vecScalarOf(lowering, mlirOperationGetOperand(op, (*operand)++));
}

typedef struct Numbers {
  MlirValue sizes[MaxRank], strides[MaxRank]; // index
} Numbers;

// Without `strides` the type is contiguous, and its strides follow from the sizes.
static void numbersOf(VecLowering *lowering, MlirOperation op, MlirType type, const int64_t *strides, Numbers *out) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  intptr_t size = tileMemrefAtOpGetSizesBegin(op), stride = tileMemrefAtOpGetStridesBegin(op);
  bool contiguous = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  for (intptr_t d = 0; d < rank; ++d)
    out->sizes[d] =
        numberOf(lowering, op, mlirShapedTypeGetDimSize(type, d), mlirShapedTypeIsDynamicDim(type, d), &size);
  for (intptr_t d = 0; d < rank && !contiguous; ++d)
    out->strides[d] = numberOf(lowering, op, strides[d], mlirShapedTypeIsDynamicStrideOrOffset(strides[d]), &stride);
  MlirValue next = tileBuildIndex(&lowering->builder, 1);
  for (intptr_t d = rank - 1; d >= 0 && contiguous; --d) {
    out->strides[d] = next;
    next = tileBuildMul(&lowering->builder, next, out->sizes[d]);
  }
}

static MlirValue buildDescriptor(TileBuilder *builder, MlirValue pointer, intptr_t rank, const Numbers *numbers) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64);
  MlirValue value = tileBuildValue(builder, "llvm.mlir.poison", descriptorOf(builder->context, rank), 0, NULL, NULL);
  value = insertAt(builder, value, pointer, 1, (int64_t[]){0});
  value = insertAt(builder, value, pointer, 1, (int64_t[]){1});
  value = insertAt(builder, value, tileBuildInteger(builder, word, 0), 1, (int64_t[]){2});
  for (int64_t d = 0; d < rank; ++d) {
    MlirValue size = vecIntegerCast(builder, numbers->sizes[d], word, true);
    MlirValue stride = vecIntegerCast(builder, numbers->strides[d], word, true);
    value = insertAt(builder, value, size, 2, (int64_t[]){3, d});
    value = insertAt(builder, value, stride, 2, (int64_t[]){4, d});
  }
  return value;
}

bool vecLowerMemrefAt(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileMemrefAtOpGetResult(op);
  MlirType type = mlirValueGetType(result);
  int64_t strides[MaxRank], offset;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)) || offset != 0)
    return tileError(op, "not lowered to the CPU yet: memory at an address with a layout that has no strides or an "
                         "offset");
  Numbers numbers;
  TileBuilder *builder = &lowering->builder;
  numbersOf(lowering, op, type, strides, &numbers);
  MlirValue pointer = vecPointerOfAddress(builder, vecScalarOf(lowering, tileMemrefAtOpGetAddress(op)));
  MlirValue descriptor = buildDescriptor(builder, pointer, mlirShapedTypeGetRank(type), &numbers);
  vecRecordScalar(lowering, result, vecBuildUnary(builder, "builtin.unrealized_conversion_cast", type, descriptor));
  return true;
}
