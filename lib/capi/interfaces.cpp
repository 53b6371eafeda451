// Interface models lent to ops defined in C. Three techniques:
//  - FallbackModel whose methods look the callback up through the op;
//  - carriers: C++ op classes whose `classof` accepts any op, so that the interface's own defaults compile;
//  - numbered thunks for type inference, whose static functions are not told the op.
#include "lib/capi/impl.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/SaveAndRestore.h"
#include <mutex>

using namespace mlirExt;

//===--- models by callback -------------------------------------------------===//
namespace {
struct EffectsModel : MemoryEffectOpInterface::FallbackModel<EffectsModel> {
  void getEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
    if (auto *hook = definitionOf(op).hooks.effects)
      hook(wrap(op), {&effects});
  }
};

struct SpeculationModel : ConditionallySpeculatable::FallbackModel<SpeculationModel> {
  Speculation::Speculatability getSpeculatability(Operation *op) const {
    bool recursive = definitionOf(op).traits & MlirExtTrait_RecursiveMemoryEffects;
    return recursive ? Speculation::RecursivelySpeculatable : Speculation::Speculatable;
  }
};

struct DestinationStyleModel : DestinationStyleOpInterface::FallbackModel<DestinationStyleModel> {
  MutableOperandRange getDpsInitsMutable(Operation *op) const {
    intptr_t begin = 0, count = 0;
    definitionOf(op).hooks.destinationInits(wrap(op), &begin, &count);
    return MutableOperandRange(op, begin, count);
  }
};

// Upstream's bytecode writer crashes on an op with properties that lacks this.
struct BytecodeModel : BytecodeOpInterface::FallbackModel<BytecodeModel> {
  static LogicalResult readProperties(DialectBytecodeReader &reader, OperationState &state) {
    DictionaryAttr dictionary;
    if (failed(reader.readOptionalAttribute(dictionary)))
      return failure();
    for (NamedAttribute entry : dictionary ? dictionary.getValue() : ArrayRef<NamedAttribute>()) {
      if (!llvm::is_contained(state.name.getAttributeNames(), entry.getName()))
        return reader.emitError() << "unknown property " << entry.getName() << " of '" << state.name << "'";
      state.addAttribute(entry.getName(), entry.getValue()); // becomes a property when the op is made
    }
    return success();
  }
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const {
    writer.writeOptionalAttribute(op->getPropertiesAsAttribute());
  }
};

struct AsmModel : OpAsmOpInterface::FallbackModel<AsmModel> {
  void getAsmResultNames(Operation *op, OpAsmSetValueNameFn setName) const {
    for (OpResult result : op->getResults())
      if (const char *name = definitionOf(op).hooks.resultName(wrap(op), result.getResultNumber()))
        setName(result, name);
  }
  void getAsmBlockArgumentNames(Operation *, Region &, OpAsmSetValueNameFn) const {}
  void getAsmBlockNames(Operation *, OpAsmSetBlockNameFn) const {}
};

// The symbol tables of the verifier now running on this thread: without them each look-up scans the module.
thread_local SymbolTableCollection *currentSymbolTables = nullptr;

struct SymbolUserModel : SymbolUserOpInterface::FallbackModel<SymbolUserModel> {
  LogicalResult verifySymbolUses(Operation *op, SymbolTableCollection &tables) const {
    llvm::SaveAndRestore keep(currentSymbolTables, &tables);
    return success(definitionOf(op).hooks.verifySymbolUses(wrap(op)));
  }
};

struct ViewModel : ViewLikeOpInterface::FallbackModel<ViewModel> {
  Value getViewSource(Operation *op) const { return op->getOperand(0); }
  Value getViewDest(Operation *op) const { return op->getResult(0); }
};

//===--- carriers -----------------------------------------------------------===//
// ArgAndResultAttrsOpInterface, for functions and calls.
template <typename Concrete, template <typename> class... Traits>
struct SignatureCarrier : Carrier<Concrete, Traits...> {
  using Carrier<Concrete, Traits...>::Carrier;
  ArrayAttr getArgAttrsAttr() { return (*this)->template getAttrOfType<ArrayAttr>("arg_attrs"); }
  ArrayAttr getResAttrsAttr() { return (*this)->template getAttrOfType<ArrayAttr>("res_attrs"); }
  void setArgAttrsAttr(ArrayAttr attribute) { (*this)->setAttr("arg_attrs", attribute); }
  void setResAttrsAttr(ArrayAttr attribute) { (*this)->setAttr("res_attrs", attribute); }
  Attribute removeArgAttrsAttr() { return (*this)->removeAttr("arg_attrs"); }
  Attribute removeResAttrsAttr() { return (*this)->removeAttr("res_attrs"); }
};

struct RegionBranchCarrier : Carrier<RegionBranchCarrier, RegionBranchOpInterface::Trait> {
  using Carrier::Carrier;
  using RegionBranchOpInterface::Trait<RegionBranchCarrier>::getSuccessorRegions;
  OperandRange getEntrySuccessorOperands(RegionSuccessor) {
    intptr_t begin = 0, count = 0;
    if (hooks().entryOperands)
      hooks().entryOperands(handle(), &begin, &count);
    return (*this)->getOperands().slice(begin, count);
  }
  void getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
    Operation *from = point.isParent() ? nullptr : point.getTerminatorPredecessorOrNull();
    hooks().regionSuccessors(handle(), from ? int(from->getParentRegion()->getRegionNumber()) : -1, {&successors});
  }
};

struct ReturnCarrier : Carrier<ReturnCarrier, OpTrait::IsTerminator, RegionBranchTerminatorOpInterface::Trait> {
  using Carrier::Carrier;
  MutableOperandRange getMutableSuccessorOperands(RegionSuccessor) { return MutableOperandRange(getOperation()); }
};

struct LoopCarrier : Carrier<LoopCarrier, LoopLikeOpInterface::Trait> {
  using Carrier::Carrier;
  SmallVector<Region *> getLoopRegions() {
    return llvm::map_to_vector((*this)->getRegions(), [](Region &region) { return &region; });
  }
};

struct SymbolCarrier : Carrier<SymbolCarrier, SymbolOpInterface::Trait> {
  using Carrier::Carrier;
};

struct FunctionCarrier : SignatureCarrier<FunctionCarrier, OpTrait::OneRegion, SymbolOpInterface::Trait,
                                          CallableOpInterface::Trait, FunctionOpInterface::Trait> {
  using SignatureCarrier::SignatureCarrier;
  FunctionType getFunctionType() { return cast<FunctionType>(getTypeAttr().getValue()); }
  TypeAttr getTypeAttr() { return (*this)->getAttrOfType<TypeAttr>("function_type"); }
  void setFunctionTypeAttr(TypeAttr type) { (*this)->setAttr("function_type", type); }
  ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
  ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
  Region *getCallableRegion() { return isExternal() ? nullptr : &(*this)->getRegion(0); }
};

struct CallCarrier : SignatureCarrier<CallCarrier, CallOpInterface::Trait> {
  using SignatureCarrier::SignatureCarrier;
  SymbolRefAttr callee() { return dyn_cast_or_null<SymbolRefAttr>(unwrap(hooks().callee(handle()))); }
  CallInterfaceCallable getCallableForCallee() { return callee(); }
  // The attribute to change is the one that holds the callee now.
  void setCalleeFromCallable(CallInterfaceCallable callable) {
    NamedAttrList attributes((*this)->getAttrDictionary());
    for (NamedAttribute entry : attributes)
      if (entry.getValue() == callee())
        return (*this)->setAttr(entry.getName(), cast<SymbolRefAttr>(callable));
  }
  std::pair<intptr_t, intptr_t> argumentRange() {
    intptr_t begin = 0, count = (*this)->getNumOperands();
    if (hooks().callArguments)
      hooks().callArguments(handle(), &begin, &count);
    return {begin, count};
  }
  Operation::operand_range getArgOperands() {
    auto [begin, count] = argumentRange();
    return (*this)->getOperands().slice(begin, count);
  }
  MutableOperandRange getArgOperandsMutable() {
    auto [begin, count] = argumentRange();
    return MutableOperandRange(getOperation(), begin, count);
  }
};

//===--- integer ranges -----------------------------------------------------===//
MlirExtIntegerRange wrapRange(const ConstantIntRanges &range) {
  return {range.umin().getZExtValue(), range.umax().getZExtValue(), range.smin().getSExtValue(),
          range.smax().getSExtValue()};
}
ConstantIntRanges unwrapRange(const MlirExtIntegerRange &range, unsigned width) {
  auto bits = [&](uint64_t value) { return APInt(64, value).zextOrTrunc(width); };
  return {bits(range.unsignedMin), bits(range.unsignedMax), bits(range.signedMin), bits(range.signedMax)};
}
unsigned rangeWidth(Value value) { return ConstantIntRanges::getStorageBitwidth(value.getType()); }

struct IntegerRangeCarrier : Carrier<IntegerRangeCarrier, InferIntRangeInterface::Trait> {
  using Carrier::Carrier;
  void inferResultRanges(ArrayRef<ConstantIntRanges> operands, SetIntRangeFn setRange) {
    Operation *op = getOperation();
    auto isWide = [](Value value) { return rangeWidth(value) > 64; };
    if (llvm::any_of(op->getOperands(), isWide) || llvm::any_of(op->getResults(), isWide)) {
      for (Value result : op->getResults())
        setRange(result, ConstantIntRanges::maxRange(rangeWidth(result)));
      return;
    }
    SmallVector<MlirExtIntegerRange> in = llvm::map_to_vector(operands, wrapRange), out;
    for (Value result : op->getResults())
      out.push_back(wrapRange(ConstantIntRanges::maxRange(rangeWidth(result))));
    hooks().integerRanges(handle(), in.data(), out.data());
    for (auto [result, range] : llvm::zip(op->getResults(), out))
      if (rangeWidth(result))
        setRange(result, unwrapRange(range, rangeWidth(result)));
  }
};

//===--- type inference -----------------------------------------------------===//
constexpr unsigned maxInferringOps = 256;
const MlirExtOpDefinition *inferringOps[maxInferringOps];

// Attributes and properties as one dictionary, as callbacks see them.
DictionaryAttr allAttributes(const MlirExtOpDefinition &definition, MLIRContext *context, DictionaryAttr attributes,
                             OpaqueProperties properties) {
  if (!properties)
    return attributes;
  NamedAttrList all(attributes);
  const Attribute *slot = properties.as<Attribute *>();
  for (auto *name = definition.inherentAttributes; name && *name; ++name, ++slot)
    if (*slot)
      all.set(StringAttr::get(context, *name), *slot);
  return all.getDictionary(context);
}

template <unsigned N> struct InferTypesModel : InferTypeOpInterface::FallbackModel<InferTypesModel<N>> {
  static LogicalResult inferReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                        DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
    const MlirExtOpDefinition &definition = *inferringOps[N];
    return inferTypes(definition, context, location.value_or(UnknownLoc::get(context)), operands,
                      allAttributes(definition, context, attributes, properties), llvm::to_vector(regions), types);
  }
  static LogicalResult refineReturnTypes(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                                         DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
                                         SmallVectorImpl<Type> &types) {
    SmallVector<Type> inferred;
    if (failed(inferReturnTypes(context, location, operands, attributes, properties, regions, inferred)))
      return failure();
    if (inferred != types)
      return emitOptionalError(location, "'", inferringOps[N]->name, "' op inferred type(s) ", inferred,
                               " are incompatible with return type(s) of operation ", types);
    return success();
  }
  static bool isCompatibleReturnTypes(TypeRange a, TypeRange b) { return a == b; }
};

using InsertModel = void (*)(mlir::detail::InterfaceMap &);
template <unsigned... N> constexpr std::array<InsertModel, sizeof...(N)> thunks(std::integer_sequence<unsigned, N...>) {
  return {[](mlir::detail::InterfaceMap &map) { map.insertModels<InferTypesModel<N>>(); }...};
}

void insertInferTypes(mlir::detail::InterfaceMap &map, const MlirExtOpDefinition &definition) {
  static constexpr auto insert = thunks(std::make_integer_sequence<unsigned, maxInferringOps>());
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  for (unsigned i = 0; i < maxInferringOps; ++i) {
    if (!inferringOps[i])
      inferringOps[i] = &definition;
    if (inferringOps[i] == &definition)
      return insert[i](map);
  }
  // Beyond that many the op is verified by its hook all the same; only building it without result types fails.
}
} // namespace

LogicalResult mlirExt::inferTypes(const MlirExtOpDefinition &definition, MLIRContext *context, Location location,
                                  ValueRange operands, DictionaryAttr attributes, ArrayRef<Region *> regions,
                                  SmallVectorImpl<Type> &types) {
  SmallVector<MlirValue, 8> values = wrapAll(operands);
  SmallVector<MlirRegion> wrappedRegions = llvm::map_to_vector(regions, [](Region *region) { return wrap(region); });
  if (!attributes)
    attributes = DictionaryAttr::get(context);
  MlirExtInference inference = {&definition,
                                wrap(context),
                                wrap(location),
                                intptr_t(values.size()),
                                values.data(),
                                wrap(Attribute(attributes)),
                                intptr_t(regions.size()),
                                wrappedRegions.data()};
  return success(definition.hooks.inferTypes(&inference, {&types}));
}

LogicalResult mlirExt::verifyInferredTypes(Operation *op) {
  SmallVector<Type> types;
  SmallVector<Region *> regions = llvm::map_to_vector(op->getRegions(), [](Region &region) { return &region; });
  if (failed(inferTypes(definitionOf(op), op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                        regions, types)))
    return failure();
  if (op->getResultTypes() == TypeRange(types))
    return success();
  return op->emitOpError("inferred type(s) ")
         << types << " are incompatible with return type(s) of operation " << op->getResultTypes();
}

LogicalResult mlirExt::verifyFunction(Operation *op) {
  if (!op->getAttrOfType<TypeAttr>("function_type") ||
      !isa<FunctionType>(op->getAttrOfType<TypeAttr>("function_type").getValue()))
    return op->emitOpError("requires attribute 'function_type' of function type");
  if (op->getNumRegions() != 1)
    return op->emitOpError("requires one region");
  return function_interface_impl::verifyTrait(FunctionCarrier(op));
}

void mlirExt::printFunction(Operation *op, OpAsmPrinter &printer) {
  Builder builder(op->getContext());
  function_interface_impl::printFunctionOp(printer, FunctionCarrier(op), /*isVariadic=*/false, "function_type",
                                           builder.getStringAttr("arg_attrs"), builder.getStringAttr("res_attrs"));
}

MlirOperation mlirExtSymbolLookup(MlirOperation from, MlirAttribute symbol) {
  auto name = dyn_cast_or_null<SymbolRefAttr>(unwrap(symbol));
  if (!name)
    return {nullptr};
  return wrap(currentSymbolTables ? currentSymbolTables->lookupNearestSymbolFrom(unwrap(from), name)
                                  : SymbolTable::lookupNearestSymbolFrom(unwrap(from), name));
}

mlir::detail::InterfaceMap mlirExt::interfacesOf(const MlirExtOpDefinition &definition) {
  mlir::detail::InterfaceMap map;
  const MlirExtOpHooks &hooks = definition.hooks;
  uint32_t traits = definition.traits;
  if (hooks.effects || traits & (MlirExtTrait_Pure | MlirExtTrait_NoMemoryEffect))
    map.insertModels<EffectsModel>();
  if (traits & MlirExtTrait_Pure)
    map.insertModels<SpeculationModel>();
  if (definition.inherentAttributes)
    map.insertModels<BytecodeModel>();
  if (hooks.resultName)
    map.insertModels<AsmModel>();
  if (hooks.destinationInits)
    map.insertModels<DestinationStyleModel>();
  if (hooks.inferTypes)
    insertInferTypes(map, definition);
  if (hooks.regionSuccessors)
    map.insertModels<RegionBranchOpInterface::Model<RegionBranchCarrier>>();
  if (hooks.callee)
    map.insertModels<ArgAndResultAttrsOpInterface::Model<CallCarrier>, CallOpInterface::Model<CallCarrier>>();
  if (hooks.verifySymbolUses)
    map.insertModels<SymbolUserModel>();
  if (hooks.integerRanges)
    map.insertModels<InferIntRangeInterface::Model<IntegerRangeCarrier>>();
  if (hooks.bufferize)
    insertBufferizable(map);
  if (traits & MlirExtTrait_ReturnLike)
    map.insertModels<RegionBranchTerminatorOpInterface::Model<ReturnCarrier>>();
  if (traits & MlirExtTrait_LoopLike)
    map.insertModels<LoopLikeOpInterface::Model<LoopCarrier>>();
  if (traits & MlirExtTrait_ViewLike)
    map.insertModels<ViewModel>();
  if (traits & MlirExtTrait_Symbol && !(traits & MlirExtTrait_Function))
    map.insertModels<SymbolOpInterface::Model<SymbolCarrier>>();
  if (traits & MlirExtTrait_Function) // bases first: FunctionOpInterface looks them up
    map.insertModels<SymbolOpInterface::Model<FunctionCarrier>, ArgAndResultAttrsOpInterface::Model<FunctionCarrier>,
                     CallableOpInterface::Model<FunctionCarrier>, FunctionOpInterface::Model<FunctionCarrier>>();
  return map;
}
