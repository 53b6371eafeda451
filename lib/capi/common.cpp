// Shapes of builtin types, lists that callbacks append to, and the emitter of verifiers that have no operation yet.
#include "lib/capi/impl.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

bool mlirExtTypeGetShape(MlirType type, MlirExtShape *shape) {
  return TypeSwitch<Type, bool>(unwrap(type))
      .Case<RankedTensorType, MemRefType, VectorType>([shape](auto shaped) {
        *shape = {shaped.getRank(), shaped.getShape().data(), wrap(shaped.getElementType())};
        return true;
      })
      .Default(false);
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
