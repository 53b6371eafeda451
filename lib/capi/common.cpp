// Shapes of builtin types, lists that callbacks append to, and the emitter of verifiers that have no operation yet.
#include "lib/capi/impl.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

template <typename Shaped> static bool giveShape(Type type, MlirExtShape *shape) {
  auto shaped = dyn_cast<Shaped>(type);
  if (!shaped)
    return false;
  ArrayRef<int64_t> sizes = shaped.getShape();
  *shape = {intptr_t(sizes.size()), sizes.data(), wrap(shaped.getElementType())};
  return true;
}
bool mlirExtTypeGetShape(MlirType type, MlirExtShape *shape) {
  return giveShape<RankedTensorType>(unwrap(type), shape) || giveShape<MemRefType>(unwrap(type), shape) ||
         giveShape<VectorType>(unwrap(type), shape);
}

void mlirExtAttributeListAppend(MlirExtAttributeList list, MlirAttribute attribute) {
  static_cast<SmallVectorImpl<Attribute> *>(list.ptr)->push_back(unwrap(attribute));
}

void mlirExtTypeListAppend(MlirExtTypeList list, MlirType type) {
  static_cast<SmallVectorImpl<Type> *>(list.ptr)->push_back(unwrap(type));
}

bool mlirExtEmitterError(MlirExtEmitter emitter, MlirStringRef message) {
  (*static_cast<function_ref<InFlightDiagnostic()> *>(emitter.ptr))() << unwrap(message);
  return false;
}
