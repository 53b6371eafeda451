// Tensors whose elements lie packed in bytes. See packed_elements.h.
#include "lib/analysis/low_bit/packed_elements.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

enum { ByteBits = 8, MaxPackedRank = 16 };

// What the group takes for its argument.
static MlirValue outsideOf(MlirValue value) {
  if (!mlirValueIsABlockArgument(value))
    return value;
  MlirOperation group = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  return tileGroupOpIsA(group) ? mlirOperationGetOperand(group, mlirBlockArgumentGetArgNumber(value)) : value;
}

MlirValue tilePackedBytesOf(MlirValue tensor) {
  MlirValue none = {NULL};
  MlirOperation op = tileDefiningOp(outsideOf(tensor));
  if (mlirOperationIsNull(op) || !tileBitcastOpIsA(op))
    return none;
  MlirValue bytes = tileBitcastOpGetInput(op);
  MlirType type = mlirValueGetType(bytes), result = mlirValueGetType(tensor);
  bool isPacked = mlirTypeIsARankedTensor(type) && mlirTypeIsARankedTensor(result) &&
                  mlirTypeIsAInteger(mlirShapedTypeGetElementType(type)) &&
                  tileElementWidth(mlirShapedTypeGetElementType(type)) == ByteBits &&
                  tileElementWidth(mlirShapedTypeGetElementType(result)) < ByteBits;
  return isPacked ? bytes : none;
}

int64_t tilePackedBytesCount(MlirValue tensor) {
  MlirType type = mlirValueGetType(tensor);
  int64_t elements = 1;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    elements *= mlirShapedTypeGetDimSize(type, i);
  return elements * tileElementWidth(mlirShapedTypeGetElementType(type)) / ByteBits;
}

MlirType tilePackedBytesType(MlirType type) {
  int64_t shape[MaxPackedRank];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  shape[rank - 1] = shape[rank - 1] * tileElementWidth(mlirShapedTypeGetElementType(type)) / ByteBits;
  return mlirRankedTensorTypeGet(rank, shape, mlirIntegerTypeGet(mlirTypeGetContext(type), ByteBits),
                                 mlirAttributeGetNull());
}

int64_t tilePackedRun(MlirType element) {
  int64_t run = ByteBits;
  while (run > 1 && run / 2 * tileElementWidth(element) % ByteBits == 0)
    run /= 2;
  return run;
}
