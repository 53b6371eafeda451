// Lists that callbacks append to, and the emitter of verifiers that have no operation yet.
#include "lib/capi/impl.h"

using namespace mlir;

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
