// What the shim's own files share (C++, not installed): views of handles and the class behind ops defined in C.
// A definition in C lives as long as the process, so its address is its TypeID: no table, no lock.
#pragma once

#include "lib/capi/common.h"
#include "lib/capi/op.h"
#include "mlir/CAPI/AffineMap.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

namespace mlirExt {
using namespace mlir;

inline TypeID typeIDOf(const void *definition) { return TypeID::getFromOpaquePointer(definition); }

// Arrays of one-pointer handles have the layout of arrays of MLIR's one-pointer classes; ranges have not.
inline const MlirAttribute *wrapAll(ArrayRef<Attribute> attributes) {
  static_assert(sizeof(MlirAttribute) == sizeof(Attribute));
  return reinterpret_cast<const MlirAttribute *>(attributes.data());
}
inline ArrayRef<Attribute> unwrapAll(intptr_t count, const MlirAttribute *attributes) {
  return {reinterpret_cast<const Attribute *>(attributes), size_t(count)};
}
inline SmallVector<MlirValue, 8> wrapAll(ValueRange values) {
  return llvm::map_to_vector<8>(values, [](Value value) { return wrap(value); });
}
inline ArrayRef<Value> unwrapAll(intptr_t count, const MlirValue *values) {
  static_assert(sizeof(MlirValue) == sizeof(Value));
  return {reinterpret_cast<const Value *>(values), size_t(count)};
}

// Marks ops defined in C: tells them apart from all others.
template <typename ConcreteOp> class DefinedInC : public OpTrait::TraitBase<ConcreteOp, DefinedInC> {};

// The definition of an op known to be defined in C.
inline const MlirExtOpDefinition &definitionOf(Operation *op) {
  return *static_cast<const MlirExtOpDefinition *>(op->getName().getTypeID().getAsOpaquePointer());
}
inline const MlirExtOpDefinition &definitionOf(OperationName name) {
  return *static_cast<const MlirExtOpDefinition *>(name.getTypeID().getAsOpaquePointer());
}

// A carrier lends its interface models to ops defined in C: a C++ op class whose `classof` accepts any op, so that the
// defaults an interface's Trait has compile and apply.
template <typename Concrete, template <typename> class... Traits> class Carrier : public Op<Concrete, Traits...> {
public:
  using Op<Concrete, Traits...>::Op;
  static bool classof(Operation *) { return true; }
  static StringRef getOperationName() { return "tessera.carrier"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  const MlirExtOpHooks &hooks() { return definitionOf(this->getOperation()).hooks; }
  MlirOperation handle() { return wrap(this->getOperation()); }
};

void insertOp(Dialect *dialect, const MlirExtOpDefinition *definition);         // op.cpp
mlir::detail::InterfaceMap interfacesOf(const MlirExtOpDefinition &definition); // interfaces.cpp
LogicalResult inferTypes(const MlirExtOpDefinition &definition, MLIRContext *context, Location location,
                         ValueRange operands, DictionaryAttr attributes, ArrayRef<Region *> regions,
                         SmallVectorImpl<Type> &types);   // interfaces.cpp
LogicalResult verifyInferredTypes(Operation *op);         // interfaces.cpp
LogicalResult verifyFunction(Operation *op);              // interfaces.cpp
void printFunction(Operation *op, OpAsmPrinter &printer); // interfaces.cpp
void insertBufferizable(mlir::detail::InterfaceMap &map); // bufferization.cpp
} // namespace mlirExt
