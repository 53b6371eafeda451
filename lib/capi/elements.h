// The elements of a constant as the bytes that they are, and how many elements an array has. mlir-c reads a resource
// element by element, of some types only, and takes it for granted that there is one.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// The data of a dense constant that is no splat, or of a dense resource: row-major, in this machine's order, `size`
// bytes, the attribute's own. Null for any other attribute, for elements that are no whole bytes each, and for a
// resource that is missing or of another size.
const unsigned char *mlirExtElementsGetBytes(MlirAttribute attribute, size_t *size);
// The number of elements of !llvm.array; -1 for any other type.
int64_t mlirExtLLVMArrayTypeGetNumElements(MlirType type);
MLIR_EXT_END
