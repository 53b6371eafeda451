// tile.memref_at: a memref's descriptor around a number.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

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
  MlirType word = mlirIntegerTypeGet(lowering->context, 64);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    numbers.sizes[d] = tileBuildIntegerCast(builder, numbers.sizes[d], word, true);
    numbers.strides[d] = tileBuildIntegerCast(builder, numbers.strides[d], word, true);
  }
  vecRecordScalar(lowering, result, vecMemrefOfPointer(builder, type, pointer, numbers.sizes, numbers.strides));
  return true;
}
