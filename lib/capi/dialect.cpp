// Dialects, types and attributes defined in C. One C++ class stands for all types (and one for all attributes); each
// definition has its own TypeID, name and interfaces. DynamicType and DynamicAttr cannot carry interfaces.
#include "lib/capi/dialect.h"
#include "lib/capi/impl.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlirExt;

namespace {
//===--- storage ------------------------------------------------------------===//
// The definition is kept beside the parameters: telling types apart is comparing pointers.
template <typename Base> struct ParametricStorage : Base {
  using KeyTy = std::pair<const MlirExtParametricDefinition *, ArrayRef<Attribute>>;
  explicit ParametricStorage(const KeyTy &key) : definition(key.first), parameters(key.second) {}
  bool operator==(const KeyTy &key) const { return key.first == definition && key.second == parameters; }
  static llvm::hash_code hashKey(const KeyTy &key) { return llvm::hash_combine_range(key.second); }
  static ParametricStorage *construct(StorageUniquer::StorageAllocator &allocator, const KeyTy &key) {
    void *memory = allocator.allocate<ParametricStorage>();
    return new (memory) ParametricStorage({key.first, allocator.copyInto(key.second)});
  }
  const MlirExtParametricDefinition *definition;
  ArrayRef<Attribute> parameters;
};

template <typename T> class IsTypeDefinedInC : public TypeTrait::TraitBase<T, IsTypeDefinedInC> {};
template <typename T> class IsAttributeDefinedInC : public AttributeTrait::TraitBase<T, IsAttributeDefinedInC> {};

struct ParametricType : Type::TypeBase<ParametricType, Type, ParametricStorage<TypeStorage>, IsTypeDefinedInC> {
  using Base::Base;
  static constexpr StringLiteral name = "tessera.type";
  static bool classof(Type type) { return type.hasTrait<IsTypeDefinedInC>(); }
  const ImplType &get() const { return *getImpl(); }
  static Type make(MLIRContext *context, const MlirExtParametricDefinition *definition, ArrayRef<Attribute> list) {
    return mlir::detail::TypeUniquer::getWithTypeID<ParametricType>(context, typeIDOf(definition),
                                                                    std::make_pair(definition, list));
  }
};

struct ParametricAttribute
    : Attribute::AttrBase<ParametricAttribute, Attribute, ParametricStorage<AttributeStorage>, IsAttributeDefinedInC> {
  using Base::Base;
  static constexpr StringLiteral name = "tessera.attribute";
  static bool classof(Attribute attribute) { return attribute.hasTrait<IsAttributeDefinedInC>(); }
  const ImplType &get() const { return *getImpl(); }
  static Attribute make(MLIRContext *context, const MlirExtParametricDefinition *definition, ArrayRef<Attribute> list) {
    return mlir::detail::AttributeUniquer::getWithTypeID<ParametricAttribute>(context, typeIDOf(definition),
                                                                              std::make_pair(definition, list));
  }
};

//===--- what the two have in common ----------------------------------------===//
LogicalResult verify(const MlirExtParametricDefinition &definition, ArrayRef<Attribute> parameters,
                     function_ref<InFlightDiagnostic()> emitError) {
  return success(!definition.verify || definition.verify({&emitError}, parameters.size(), wrapAll(parameters)));
}

template <typename Parametric, typename Made>
Made getChecked(MLIRContext *context, const MlirExtParametricDefinition *definition, ArrayRef<Attribute> parameters) {
  auto emitError = [context] { return mlir::emitError(UnknownLoc::get(context)); };
  return succeeded(verify(*definition, parameters, emitError)) ? Parametric::make(context, definition, parameters)
                                                               : Made();
}

// Parses what follows the dialect's name: the mnemonic, then what the definition says.
template <typename Parametric, typename Made>
Made parseParametric(DialectAsmParser &parser, Dialect *dialect, const char *kind,
                     ArrayRef<MlirExtParametricDefinition> definitions) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return {};
  auto *found = llvm::find_if(definitions, [&](const auto &definition) { return name == definition.name; });
  if (found == definitions.end())
    return parser.emitError(location, "unknown ")
               << kind << " '" << name << "' in dialect '" << dialect->getNamespace() << "'",
           Made();
  SmallVector<Attribute, 8> parameters;
  SmallVectorImpl<Attribute> *list = &parameters;
  auto emitError = [&] { return parser.emitError(location); };
  if ((found->parse && !found->parse({static_cast<AsmParser *>(&parser)}, {list})) ||
      failed(verify(*found, parameters, emitError)))
    return {};
  return Parametric::make(parser.getContext(), found, parameters);
}

template <typename Storage> void printParametric(const Storage &storage, AsmPrinter &printer) {
  printer << storage.definition->name;
  if (storage.definition->print)
    storage.definition->print({&printer}, storage.parameters.size(), wrapAll(storage.parameters));
}

// Types are held in TypeAttrs, so attributes are the only sub-elements.
template <typename Parametric, typename Made>
void walkParameters(Made made, function_ref<void(Attribute)> walk, function_ref<void(Type)>) {
  llvm::for_each(cast<Parametric>(made).get().parameters, walk);
}
template <typename Parametric, typename Made>
Made replaceParameters(Made made, ArrayRef<Attribute> parameters, ArrayRef<Type>) {
  return Parametric::make(made.getContext(), cast<Parametric>(made).get().definition, parameters);
}

//===--- interfaces ---------------------------------------------------------===//
struct MemRefElementModel : MemRefElementTypeInterface::FallbackModel<MemRefElementModel> {};

struct EncodingModel : VerifiableTensorEncoding::FallbackModel<EncodingModel> {
  LogicalResult verifyEncoding(Attribute self, ArrayRef<int64_t> shape, Type element,
                               function_ref<InFlightDiagnostic()> emitError) const {
    auto *definition = cast<ParametricAttribute>(self).get().definition;
    // The parser asks although it has reported an element type such as complex<index>, which is null then.
    return success(element &&
                   definition->verifyEncoding({&emitError}, wrap(self), shape.size(), shape.data(), wrap(element)));
  }
};

struct Inliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  // Several blocks would need a branch op to leave them by.
  bool isLegalToInline(Operation *, Operation *callable, bool) const override {
    return callable->getNumRegions() == 1 && callable->getRegion(0).hasOneBlock();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  void handleTerminator(Operation *terminator, ValueRange results) const override {
    for (auto [result, operand] : llvm::zip(results, terminator->getOperands()))
      result.replaceAllUsesWith(operand);
  }
};

struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &stream) const override {
    return give<ParametricAttribute>(attribute, stream);
  }
  AliasResult getAlias(Type type, raw_ostream &stream) const override { return give<ParametricType>(type, stream); }

  template <typename Parametric, typename Made> AliasResult give(Made made, raw_ostream &stream) const {
    auto mine = dyn_cast<Parametric>(made);
    if (!mine || &mine.getDialect() != getDialect())
      return AliasResult::NoAlias;
    const MlirExtParametricDefinition &definition = *mine.get().definition;
    ArrayRef<Attribute> parameters = mine.get().parameters;
    if (!definition.alias || (definition.wantsAlias && !definition.wantsAlias(parameters.size(), wrapAll(parameters))))
      return AliasResult::NoAlias;
    stream << definition.alias;
    return AliasResult::OverridableAlias;
  }
};

//===--- the dialect --------------------------------------------------------===//
class DialectInC : public Dialect {
public:
  DialectInC(MLIRContext *context, const MlirExtDialectDefinition &definition)
      : Dialect(definition.name, context, typeIDOf(&definition)), definition(definition) {
    for (auto *name = definition.dependents; name && *name; ++name)
      context->getOrLoadDialect(*name);
    llvm::for_each(types(), [this](const auto &type) { insertType(type); });
    llvm::for_each(attributes(), [this](const auto &attribute) { insertAttribute(attribute); });
    for (intptr_t i = 0; i < definition.numOps; ++i)
      insertOp(this, &definition.ops[i]);
    if (definition.inlinable)
      addInterface<Inliner>();
    addInterface<Aliases>();
  }

  Type parseType(DialectAsmParser &parser) const override {
    return parseParametric<ParametricType, Type>(parser, const_cast<DialectInC *>(this), "type", types());
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return parseParametric<ParametricAttribute, Attribute>(parser, const_cast<DialectInC *>(this), "attribute",
                                                           attributes());
  }
  void printType(Type type, DialectAsmPrinter &printer) const override {
    printParametric(cast<ParametricType>(type).get(), printer);
  }
  void printAttribute(Attribute attribute, DialectAsmPrinter &printer) const override {
    printParametric(cast<ParametricAttribute>(attribute).get(), printer);
  }
  Operation *materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) override {
    if (!definition.materializeConstant)
      return nullptr;
    Operation *op = unwrap(definition.materializeConstant(wrap(value), wrap(type), wrap(location)));
    return op ? builder.insert(op) : nullptr;
  }
  LogicalResult verifyOperationAttribute(Operation *op, NamedAttribute attribute) override {
    MlirNamedAttribute handle = {wrap(attribute.getName()), wrap(attribute.getValue())};
    return success(!definition.verifyOpAttribute || definition.verifyOpAttribute(wrap(op), handle));
  }

private:
  ArrayRef<MlirExtParametricDefinition> types() const { return {definition.types, size_t(definition.numTypes)}; }
  ArrayRef<MlirExtParametricDefinition> attributes() const {
    return {definition.attributes, size_t(definition.numAttributes)};
  }
  StringRef fullName(const MlirExtParametricDefinition &parametric) { // lives as long as the context
    return StringAttr::get(getContext(), Twine(definition.name) + "." + parametric.name).getValue();
  }
  void insertType(const MlirExtParametricDefinition &type) {
    TypeID id = typeIDOf(&type);
    mlir::detail::InterfaceMap map;
    if (type.memrefElement)
      map.insertModels<MemRefElementModel>();
    addType(id, AbstractType::get(*this, std::move(map), ParametricType::getHasTraitFn(),
                                  walkParameters<ParametricType, Type>, replaceParameters<ParametricType, Type>, id,
                                  fullName(type)));
    mlir::detail::TypeUniquer::registerType<ParametricType>(getContext(), id);
  }
  void insertAttribute(const MlirExtParametricDefinition &attribute) {
    TypeID id = typeIDOf(&attribute);
    mlir::detail::InterfaceMap map;
    if (attribute.verifyEncoding)
      map.insertModels<EncodingModel>();
    addAttribute(id,
                 AbstractAttribute::get(*this, std::move(map), ParametricAttribute::getHasTraitFn(),
                                        walkParameters<ParametricAttribute, Attribute>,
                                        replaceParameters<ParametricAttribute, Attribute>, id, fullName(attribute)));
    mlir::detail::AttributeUniquer::registerAttribute<ParametricAttribute>(getContext(), id);
  }
  const MlirExtDialectDefinition &definition;
};
} // namespace

static Dialect *load(MLIRContext *context, const MlirExtDialectDefinition *definition) {
  return context->getOrLoadDialect(definition->name, typeIDOf(definition), [=]() -> std::unique_ptr<Dialect> {
    return std::make_unique<DialectInC>(context, *definition);
  });
}

void mlirExtDialectRegistryInsertLate(MlirDialectRegistry registry, const void *key,
                                      const MlirExtDialectDefinition *base, MlirExtDefineDialect define) {
  unwrap(registry)->insert(TypeID::getFromOpaquePointer(key), base->name,
                           [key, base = *base, define](MLIRContext *context) -> Dialect * {
                             const MlirExtDialectDefinition *definition = define(key, &base);
                             return definition ? load(context, definition) : nullptr;
                           });
  if (base->registerDependents)
    base->registerDependents(registry);
}

void mlirExtDialectRegistryInsert(MlirDialectRegistry registry, const MlirExtDialectDefinition *definition) {
  unwrap(registry)->insert(typeIDOf(definition), definition->name,
                           [definition](MLIRContext *context) -> Dialect * { return load(context, definition); });
  if (definition->registerDependents)
    definition->registerDependents(registry);
}

MlirType mlirExtTypeGet(MlirContext context, const MlirExtParametricDefinition *definition, intptr_t count,
                        const MlirAttribute *parameters) {
  return wrap(getChecked<ParametricType, Type>(unwrap(context), definition, unwrapAll(count, parameters)));
}
MlirAttribute mlirExtAttributeGet(MlirContext context, const MlirExtParametricDefinition *definition, intptr_t count,
                                  const MlirAttribute *parameters) {
  return wrap(getChecked<ParametricAttribute, Attribute>(unwrap(context), definition, unwrapAll(count, parameters)));
}
bool mlirExtTypeIsA(MlirType type, const MlirExtParametricDefinition *definition) {
  return !mlirTypeIsNull(type) && unwrap(type).getTypeID() == typeIDOf(definition);
}
bool mlirExtAttributeIsA(MlirAttribute attribute, const MlirExtParametricDefinition *definition) {
  return !mlirAttributeIsNull(attribute) && unwrap(attribute).getTypeID() == typeIDOf(definition);
}
intptr_t mlirExtTypeGetNumParameters(MlirType type) {
  return cast<ParametricType>(unwrap(type)).get().parameters.size();
}
MlirAttribute mlirExtTypeGetParameter(MlirType type, intptr_t index) {
  return wrap(cast<ParametricType>(unwrap(type)).get().parameters[index]);
}
intptr_t mlirExtAttributeGetNumParameters(MlirAttribute attribute) {
  return cast<ParametricAttribute>(unwrap(attribute)).get().parameters.size();
}
MlirAttribute mlirExtAttributeGetParameter(MlirAttribute attribute, intptr_t index) {
  return wrap(cast<ParametricAttribute>(unwrap(attribute)).get().parameters[index]);
}

//===--- shapes, and lists that callbacks append to (common.h) ------------------===//

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
