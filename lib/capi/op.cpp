// Operations defined in C: OperationName::Impl with callbacks. Inherent attributes are the op's properties, one
// Attribute per name in `inherentAttributes`, so that getting and setting one is a scan of a few pointers.
#include "lib/capi/impl.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlirExt;

namespace {
// Upstream's verifier of SingleBlock is a template over C++ op classes.
LogicalResult verifySingleBlock(Operation *op, bool noTerminator) {
  for (auto [index, region] : llvm::enumerate(op->getRegions())) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return op->emitOpError("expects region #") << index << " to have 0 or 1 blocks";
    if (!noTerminator && region.front().empty())
      return op->emitOpError("expects a non-empty block");
  }
  return success();
}

SmallVector<TypeID, 4> traitIDsOf(uint32_t traits) {
  static const std::pair<uint32_t, TypeID> table[] = {
      {MlirExtTrait_Terminator, TypeID::get<OpTrait::IsTerminator>()},
      {MlirExtTrait_IsolatedFromAbove, TypeID::get<OpTrait::IsIsolatedFromAbove>()},
      {MlirExtTrait_NoTerminator, TypeID::get<OpTrait::NoTerminator>()},
      {MlirExtTrait_SingleBlock, TypeID::get<OpTrait::SingleBlock>()},
      {MlirExtTrait_SameOperandsAndResultType, TypeID::get<OpTrait::SameOperandsAndResultType>()},
      {MlirExtTrait_AttrSizedOperandSegments, TypeID::get<OpTrait::AttrSizedOperandSegments>()},
      {MlirExtTrait_AttrSizedResultSegments, TypeID::get<OpTrait::AttrSizedResultSegments>()},
      {MlirExtTrait_SymbolTable, TypeID::get<OpTrait::SymbolTable>()},
      {MlirExtTrait_Commutative, TypeID::get<OpTrait::IsCommutative>()},
      {MlirExtTrait_RecursiveMemoryEffects, TypeID::get<OpTrait::HasRecursiveMemoryEffects>()},
      {MlirExtTrait_ConstantLike, TypeID::get<OpTrait::ConstantLike>()},
      {MlirExtTrait_AffineScope, TypeID::get<OpTrait::AffineScope>()},
      {MlirExtTrait_ReturnLike, TypeID::get<OpTrait::ReturnLike>()},
  };
  SmallVector<TypeID, 4> ids = {TypeID::get<DefinedInC>()};
  for (auto [bit, id] : table)
    if (traits & bit)
      ids.push_back(id);
  return ids;
}

class OpImpl : public OperationName::Impl {
public:
  OpImpl(Dialect *dialect, const MlirExtOpDefinition &definition)
      : Impl(definition.name, dialect, typeIDOf(&definition), interfacesOf(definition)), definition(definition),
        hooks(definition.hooks), traitIDs(traitIDsOf(definition.traits)) {
    for (auto *name = definition.inherentAttributes; name && *name; ++name)
      slotNames.push_back(*name);
    numSlots = slotNames.size();
  }

  //===--- traits, folding, syntax ------------------------------------------===//
  bool hasTrait(TypeID id) override { return llvm::is_contained(traitIDs, id); }

  LogicalResult foldHook(Operation *op, ArrayRef<Attribute> operands, SmallVectorImpl<OpFoldResult> &results) override {
    if (hooks.fold && hooks.fold(wrap(op), operands.size(), wrapAll(operands), {&results}))
      return success();
    if (definition.traits & MlirExtTrait_Commutative)
      return OpTrait::impl::foldCommutative(op, operands, results);
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) override {
    if (hooks.canonicalize)
      hooks.canonicalize({&patterns}, wrap(context));
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() override {
    return [def = &definition](OpAsmParser &parser, OperationState &state) -> ParseResult {
      if (!def->hooks.parse)
        return parser.emitError(parser.getNameLoc(), "'") << def->name << "' op has no custom assembly form";
      return success(def->hooks.parse(def, {static_cast<AsmParser *>(&parser)}, {&state}));
    };
  }
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) override {
    if (!hooks.print)
      return printer.printGenericOp(op);
    StringRef text = definition.name, space = getDialect()->getNamespace();
    printer.getStream() << (defaultDialect == space ? text.drop_front(space.size() + 1) : text);
    hooks.print(&definition, wrap(op), {static_cast<AsmPrinter *>(&printer)});
  }

  //===--- verification -----------------------------------------------------===//
  LogicalResult verifyTraits(Operation *op) {
    namespace impl = OpTrait::impl;
    uint32_t traits = definition.traits;
    auto fails = [&](uint32_t trait, auto verify) { return (traits & trait) && failed(verify(op)); };
    return failure(fails(MlirExtTrait_Terminator, impl::verifyIsTerminator) ||
                   fails(MlirExtTrait_SingleBlock,
                         [&](Operation *op) { return verifySingleBlock(op, traits & MlirExtTrait_NoTerminator); }) ||
                   fails(MlirExtTrait_SameOperandsAndResultType, impl::verifySameOperandsAndResultType) ||
                   fails(MlirExtTrait_AttrSizedOperandSegments,
                         [](Operation *op) { return impl::verifyOperandSizeAttr(op, "operandSegmentSizes"); }) ||
                   fails(MlirExtTrait_AttrSizedResultSegments,
                         [](Operation *op) { return impl::verifyResultSizeAttr(op, "resultSegmentSizes"); }) ||
                   fails(MlirExtTrait_Symbol | MlirExtTrait_Function, mlir::detail::verifySymbol));
  }
  LogicalResult verifyInvariants(Operation *op) override {
    if (failed(verifyTraits(op)) || (hooks.verify && !hooks.verify(wrap(op))) ||
        (hooks.inferTypes && failed(verifyInferredTypes(op))))
      return failure();
    return definition.traits & MlirExtTrait_Function ? verifyFunction(op) : success();
  }
  LogicalResult verifyRegionInvariants(Operation *op) override {
    uint32_t traits = definition.traits;
    if ((traits & MlirExtTrait_IsolatedFromAbove && failed(OpTrait::impl::verifyIsIsolatedFromAbove(op))) ||
        (traits & MlirExtTrait_SymbolTable && failed(mlir::detail::verifySymbolTable(op))) ||
        (hooks.destinationInits && failed(mlir::detail::verifyDestinationStyleOpInterface(op))) ||
        (hooks.regionSuccessors && failed(mlir::detail::verifyRegionBranchOpInterface(op))) ||
        (traits & MlirExtTrait_LoopLike && failed(mlir::detail::verifyLoopLikeOpInterface(op))))
      return failure();
    return success(!hooks.verifyRegions || hooks.verifyRegions(wrap(op)));
  }

  //===--- inherent attributes ----------------------------------------------===//
  static Attribute *slots(OpaqueProperties properties) { return properties.as<Attribute *>(); }
  ArrayRef<Attribute> slotsOf(OpaqueProperties properties) const { return {slots(properties), numSlots}; }
  // The slot of that name, null if the attribute is discardable.
  Attribute *slot(OpaqueProperties properties, StringRef name) const {
    for (unsigned index = 0; index < numSlots; ++index)
      if (slotNames[index] == name)
        return slots(properties) + index;
    return nullptr;
  }
  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) override {
    Attribute *found = slot(op->getPropertiesStorage(), name);
    return found ? std::optional(*found) : std::nullopt;
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) override {
    if (Attribute *found = slot(op->getPropertiesStorage(), name))
      *found = value;
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &attributes) override {
    for (auto [name, value] : llvm::zip(getAttributeNames(), slotsOf(op->getPropertiesStorage())))
      if (value)
        attributes.append(name, value);
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) override {
    return success(); // `verify` checks kinds when the op exists
  }

  //===--- properties -------------------------------------------------------===//
  int getOpPropertyByteSize() override { return numSlots * sizeof(Attribute); }
  void initProperties(OperationName, OpaqueProperties storage, OpaqueProperties init) override {
    for (unsigned i = 0; i < numSlots; ++i)
      new (slots(storage) + i) Attribute(init ? slots(init)[i] : Attribute());
  }
  void deleteProperties(OpaqueProperties) override {}
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) override {}
  void populateDefaultProperties(OperationName, OpaqueProperties) override {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties properties, Attribute attribute,
                                      function_ref<InFlightDiagnostic()> emitError) override {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    if (!dictionary)
      return emitError() << "expected DictionaryAttr to set properties";
    for (NamedAttribute entry : dictionary) {
      Attribute *found = slot(properties, entry.getName());
      if (!found)
        return emitError() << "unknown property '" << entry.getName().getValue() << "' for op '" << name << "'";
      *found = entry.getValue();
    }
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) override {
    NamedAttrList attributes;
    populateInherentAttrs(op, attributes);
    return attributes.empty() ? Attribute() : attributes.getDictionary(op->getContext());
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) override { llvm::copy(slotsOf(from), slots(to)); }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) override { return slotsOf(a) == slotsOf(b); }
  llvm::hash_code hashProperties(OpaqueProperties properties) override {
    return llvm::hash_combine_range(slotsOf(properties));
  }

private:
  const MlirExtOpDefinition &definition;
  const MlirExtOpHooks &hooks;
  SmallVector<TypeID, 4> traitIDs;
  SmallVector<StringRef, 4> slotNames; // of the definition: getAttributeNames() as plain text, faster to compare
  unsigned numSlots = 0;
};

// What no value stands for.
struct DebugResource : SideEffects::Resource::Base<DebugResource> {
  StringRef getName() override { return "debug"; }
};
struct OrderResource : SideEffects::Resource::Base<OrderResource> {
  StringRef getName() override { return "order"; }
};

SideEffects::Resource *resourceOf(MlirExtResource resource) {
  switch (resource) {
  case MlirExtResource_Memory:
    return SideEffects::DefaultResource::get();
  case MlirExtResource_Debug:
    return DebugResource::get();
  case MlirExtResource_Order:
    return OrderResource::get();
  }
  llvm_unreachable("no such resource");
}

MlirExtResource wrapResource(SideEffects::Resource *resource) {
  return isa<DebugResource>(resource)   ? MlirExtResource_Debug
         : isa<OrderResource>(resource) ? MlirExtResource_Order
                                        : MlirExtResource_Memory;
}

MlirExtEffect wrapEffect(MemoryEffects::Effect *effect) {
  return isa<MemoryEffects::Read>(effect)       ? MlirExtEffect_Read
         : isa<MemoryEffects::Write>(effect)    ? MlirExtEffect_Write
         : isa<MemoryEffects::Allocate>(effect) ? MlirExtEffect_Allocate
                                                : MlirExtEffect_Free;
}

MemoryEffects::Effect *effectOf(MlirExtEffect effect) {
  switch (effect) {
  case MlirExtEffect_Read:
    return MemoryEffects::Read::get();
  case MlirExtEffect_Write:
    return MemoryEffects::Write::get();
  case MlirExtEffect_Allocate:
    return MemoryEffects::Allocate::get();
  case MlirExtEffect_Free:
    return MemoryEffects::Free::get();
  }
  llvm_unreachable("no such effect");
}
} // namespace

void mlirExt::insertOp(Dialect *dialect, const MlirExtOpDefinition *definition) {
  SmallVector<StringRef> names;
  for (auto *name = definition->inherentAttributes; name && *name; ++name)
    names.push_back(*name);
  RegisteredOperationName::insert(std::make_unique<OpImpl>(dialect, *definition), names);
}

const MlirExtOpDefinition *mlirExtOperationGetDefinition(MlirOperation op) {
  Operation *unwrapped = unwrap(op);
  return unwrapped && unwrapped->hasTrait<DefinedInC>() ? &definitionOf(unwrapped) : nullptr;
}

MlirAttribute mlirExtOperationGetInherentAttributeAt(MlirOperation op, intptr_t index) {
  return wrap(OpImpl::slots(unwrap(op)->getPropertiesStorage())[index]);
}

bool mlirExtOperationHasDiscardableAttributes(MlirOperation op) {
  return !unwrap(op)->getDiscardableAttrDictionary().empty();
}

void mlirExtEffectsAdd(MlirExtEffects effects, MlirOperation op, MlirExtEffect effect, intptr_t operand,
                       intptr_t result) {
  auto &list = *static_cast<SmallVectorImpl<MemoryEffects::EffectInstance> *>(effects.ptr);
  if (operand >= 0)
    list.emplace_back(effectOf(effect), &unwrap(op)->getOpOperand(operand));
  else if (result >= 0)
    list.emplace_back(effectOf(effect), unwrap(op)->getOpResult(result));
  else
    list.emplace_back(effectOf(effect));
}

void mlirExtEffectsAddOn(MlirExtEffects effects, MlirExtEffect effect, MlirExtResource resource) {
  static_cast<SmallVectorImpl<MemoryEffects::EffectInstance> *>(effects.ptr)
      ->emplace_back(effectOf(effect), resourceOf(resource));
}

bool mlirExtOperationVisitEffects(MlirOperation op, MlirExtEffectVisitor visit, void *data) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(unwrap(op));
  if (!interface)
    return mlirExtOperationHasRecursiveEffects(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (MemoryEffects::EffectInstance &effect : effects)
    visit(wrapEffect(effect.getEffect()), wrapResource(effect.getResource()), wrap(effect.getValue()), data);
  return true;
}

bool mlirExtOperationHasRecursiveEffects(MlirOperation op) {
  return unwrap(op)->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

MlirValue mlirExtOperationGetViewSource(MlirOperation op) {
  auto view = dyn_cast<ViewLikeOpInterface>(unwrap(op));
  return view ? wrap(view.getViewSource()) : MlirValue{nullptr};
}

bool mlirExtOperationIsElementwise(MlirOperation op) { return OpTrait::hasElementwiseMappableTraits(unwrap(op)); }

void mlirExtFoldResultsAddAttribute(MlirExtFoldResults results, MlirAttribute attribute) {
  static_cast<SmallVectorImpl<OpFoldResult> *>(results.ptr)->push_back(unwrap(attribute));
}

void mlirExtFoldResultsAddValue(MlirExtFoldResults results, MlirValue value) {
  static_cast<SmallVectorImpl<OpFoldResult> *>(results.ptr)->push_back(unwrap(value));
}

void mlirExtSuccessorsAddRegion(MlirExtSuccessors successors, MlirOperation op, intptr_t region,
                                intptr_t firstArgument) {
  if (region >= unwrap(op)->getNumRegions()) // not verified yet, as with too few arguments
    return;
  Region &to = unwrap(op)->getRegion(region);
  auto inputs = to.empty() ? Block::BlockArgListType() : to.getArguments();
  static_cast<SmallVectorImpl<RegionSuccessor> *>(successors.ptr)
      ->emplace_back(&to, inputs.drop_front(std::min<size_t>(firstArgument, inputs.size())));
}

void mlirExtSuccessorsAddParent(MlirExtSuccessors successors, MlirOperation op) {
  static_cast<SmallVectorImpl<RegionSuccessor> *>(successors.ptr)->emplace_back(unwrap(op), unwrap(op)->getResults());
}

bool mlirExtOperationIsPure(MlirOperation op) { return isPure(unwrap(op)); }
bool mlirExtOperationIsMemoryEffectFree(MlirOperation op) { return isMemoryEffectFree(unwrap(op)); }

MlirAttribute mlirExtValueGetConstant(MlirValue value) {
  Attribute constant;
  return matchPattern(unwrap(value), m_Constant(&constant)) ? wrap(constant) : MlirAttribute{nullptr};
}
