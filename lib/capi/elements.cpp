// Bytes of constants, sizes of arrays. See elements.h.
#include "lib/capi/elements.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

static ArrayRef<char> bytesOf(Attribute attribute) {
  if (auto dense = dyn_cast_or_null<DenseIntOrFPElementsAttr>(attribute))
    return dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

const unsigned char *mlirExtElementsGetBytes(MlirAttribute attribute, size_t *size) {
  ArrayRef<char> bytes = bytesOf(unwrap(attribute));
  if (bytes.empty())
    return nullptr;
  auto elements = cast<ElementsAttr>(unwrap(attribute));
  Type element = elements.getElementType();
  size_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (!bits || bits % 8 || bytes.size() != static_cast<size_t>(elements.getNumElements()) * (bits / 8))
    return nullptr;
  *size = bytes.size();
  return reinterpret_cast<const unsigned char *>(bytes.data());
}

int64_t mlirExtLLVMArrayTypeGetNumElements(MlirType type) {
  auto array = dyn_cast<LLVM::LLVMArrayType>(unwrap(type));
  return array ? static_cast<int64_t>(array.getNumElements()) : -1;
}
