// Verifiers of cuda_tile ops, beyond the rows' own checks, and the text of kernels.
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "dialects/foreign/cuda_tile/parts.h"

bool cudaTileEntryOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  return mlirExtParserParseFunction(parser, state);
}
void cudaTileEntryOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintFunction(printer, op);
}

static bool hasSameShape(MlirType a, MlirType b) {
  MlirExtShape first, second;
  bool ok = mlirExtTypeGetShape(a, &first) && mlirExtTypeGetShape(b, &second) && first.rank == second.rank;
  for (intptr_t i = 0; ok && i < first.rank; ++i)
    ok = first.sizes[i] == second.sizes[i];
  return ok;
}

bool cudaTileVerifySameShape(MlirOperation op) {
  MlirType from = tileFirstOperandType(op), to = tileFirstResultType(op);
  return hasSameShape(from, to) ||
         tileError(op, "makes %s of %s, expected tiles of one shape", CUDA_TILE_TEXT(to), CUDA_TILE_TEXT(from));
}

bool cudaTileConstantOpVerify(MlirOperation op) {
  MlirType value = mlirAttributeGetType(cudaTileConstantOpGetValue(op)), result = tileOnlyResultType(op);
  return mlirTypeEqual(value, result) || tileError(op, "has a value of %s, expected %s, the result's type",
                                                   CUDA_TILE_TEXT(value), CUDA_TILE_TEXT(result));
}

bool cudaTileConstantOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  MlirAttribute value = mlirDictionaryAttrGetElementByName(inference->attributes, tileString("value"));
  mlirExtTypeListAppend(types, mlirAttributeGetType(value));
  return true;
}

bool cudaTileMakeTensorViewOpVerify(MlirOperation op) {
  MlirType type = tileOnlyResultType(op), base = cudaTileMakeTensorViewOpGetBaseType(op);
  intptr_t rank = cudaTileTensorViewTypeGetRank(type), sizes = 0, strides = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    sizes += cudaTileTensorViewTypeGetSize(type, i) == mlirShapedTypeGetDynamicSize();
    strides += cudaTileTensorViewTypeGetStride(type, i) == mlirShapedTypeGetDynamicSize();
  }
  if (sizes != cudaTileMakeTensorViewOpGetNumDynamicShape(op) ||
      strides != cudaTileMakeTensorViewOpGetNumDynamicStrides(op))
    return tileError(op, "has %ld sizes and %ld strides, expected %ld and %ld, as many as the type leaves open",
                     (long)cudaTileMakeTensorViewOpGetNumDynamicShape(op),
                     (long)cudaTileMakeTensorViewOpGetNumDynamicStrides(op), (long)sizes, (long)strides);
  MlirType element = cudaTilePointerTypeGetPointee(mlirShapedTypeGetElementType(base));
  return (mlirShapedTypeGetRank(base) == 0 && mlirTypeEqual(element, cudaTileTensorViewTypeGetElement(type))) ||
         tileError(op, "is of %s, expected one pointer to %s", CUDA_TILE_TEXT(base),
                   CUDA_TILE_TEXT(cudaTileTensorViewTypeGetElement(type)));
}
