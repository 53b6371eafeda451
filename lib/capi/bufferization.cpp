// BufferizableOpInterface from C callbacks, and one-shot bufferization of a module with a filter.
#include "lib/capi/bufferization.h"
#include "lib/capi/impl.h"
#include "mlir/CAPI/Rewrite.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlirExt;
using namespace mlir::bufferization;

namespace {
// What one bufferize callback works with.
struct Buffers {
  RewriterBase &rewriter;
  const BufferizationOptions &options;
  BufferizationState &state;
};
Buffers &buffersOf(MlirExtBuffers buffers) { return *static_cast<Buffers *>(buffers.ptr); }

struct BufferizableModel : BufferizableOpInterface::FallbackModel<BufferizableModel> {
  static const MlirExtBufferizableHooks &hooks(Operation *op) { return *definitionOf(op).hooks.bufferize; }
  static bool isInit(Operation *op, OpOperand &operand) {
    auto style = dyn_cast<DestinationStyleOpInterface>(op);
    return style && style.isDpsInit(&operand);
  }
  // The result that is the same buffer as the operand, or null.
  static OpResult tiedResult(Operation *op, OpOperand &operand) {
    if (auto *aliases = hooks(op).aliases) {
      intptr_t result = aliases(wrap(op), operand.getOperandNumber());
      return result < 0 ? OpResult() : op->getResult(result);
    }
    if (!isInit(op, operand) || !isa<TensorType>(operand.get().getType()))
      return {};
    return cast<DestinationStyleOpInterface>(op).getTiedOpResult(&operand);
  }

  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return !hooks(op).reads || hooks(op).reads(wrap(op), operand.getOperandNumber());
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, const AnalysisState &) const {
    return hooks(op).writes ? hooks(op).writes(wrap(op), operand.getOperandNumber()) : isInit(op, operand);
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &) const {
    if (OpResult result = tiedResult(op, operand))
      return {{result, BufferRelation::Equivalent}};
    return {};
  }
  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value, const AnalysisState &) const {
    AliasingOpOperandList list;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) && tiedResult(op, operand) == value)
        list.addAlias({&operand, BufferRelation::Equivalent});
    return list;
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    Buffers buffers{rewriter, options, state};
    if (hooks(op).bufferize)
      return success(hooks(op).bufferize(wrap(op), wrap(&rewriter), {&buffers}));
    return op->emitOpError("cannot be bufferized");
  }
  // False for results would copy at every later write.
  bool isWritable(Operation *, Value value, const AnalysisState &) const { return isa<OpResult>(value); }

  // The rest is upstream's default, which a FallbackModel does not inherit.
  bool bufferizesToAllocation(Operation *, Value) const { return false; }
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &, ArrayRef<OpOperand *>) const { return false; }
  bool resultBufferizesToMemoryWrite(Operation *, OpResult result, const AnalysisState &state) const {
    return bufferization::detail::defaultResultBufferizesToMemoryWrite(result, state);
  }
  bool mustBufferizeInPlace(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter, const AnalysisState &analysis,
                                 const BufferizationState &state) const {
    return cast<BufferizableOpInterface>(op).resolveTensorOpOperandConflicts(rewriter, analysis, state);
  }
  bool isNotConflicting(Operation *, OpOperand *, OpOperand *, const AnalysisState &) const { return false; }
  LogicalResult verifyAnalysis(Operation *, const AnalysisState &) const { return success(); }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value, const BufferizationOptions &options,
                                          const BufferizationState &state, SmallVector<Value> &stack) const {
    return bufferization::detail::defaultGetBufferType(value, options, state, stack);
  }
  bool isRepetitiveRegion(Operation *, unsigned) const { return false; }
  bool isParallelRegion(Operation *, unsigned) const { return false; }
  bool hasTensorSemantics(Operation *op) const { return bufferization::detail::defaultHasTensorSemantics(op); }
  static bool supportsUnstructuredControlFlow() { return false; }
};
} // namespace

void mlirExt::insertBufferizable(mlir::detail::InterfaceMap &map) { map.insertModels<BufferizableModel>(); }

MlirValue mlirExtBuffersGet(MlirExtBuffers buffers, MlirValue tensor) {
  Buffers &all = buffersOf(buffers);
  FailureOr<Value> buffer = getBuffer(all.rewriter, unwrap(tensor), all.options, all.state);
  return succeeded(buffer) ? wrap(*buffer) : MlirValue{nullptr};
}

void mlirExtBuffersReplaceOp(MlirExtBuffers buffers, MlirOperation op, intptr_t count, const MlirValue *values) {
  replaceOpWithBufferizedValues(buffersOf(buffers).rewriter, unwrap(op), unwrapAll(count, values));
}

void mlirExtDialectRegistryInsertBufferization(MlirDialectRegistry registry) {
  unwrap(registry)->insert<BufferizationDialect>();
}

static OneShotBufferizationOptions unwrapOptions(const MlirExtBufferizationOptions &options) {
  OneShotBufferizationOptions result;
  result.bufferizeFunctionBoundaries = options.functionBoundaries;
  if (options.functionBoundaries)
    result.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
  result.unknownTypeConverterFn = [](TensorType type, Attribute memorySpace, const BufferizationOptions &) {
    return getMemRefTypeWithStaticIdentityLayout(type, memorySpace);
  };
  result.copyBeforeWrite = options.copyBeforeWrite;
  result.allowReturnAllocsFromLoops = options.allowReturnAllocsFromLoops;
  if (options.skip)
    result.opFilter.denyOperation(
        [skip = options.skip, userData = options.userData](Operation *op) { return skip(wrap(op), userData); });
  return result;
}

MlirLogicalResult mlirExtOneShotBufferizeModule(MlirOperation module, const MlirExtBufferizationOptions *options,
                                                MlirExtBufferizationStatistics *statistics) {
  OneShotBufferizationOptions unwrapped = unwrapOptions(*options);
  BufferizationState state;
  BufferizationStatistics counts;
  auto root = dyn_cast<ModuleOp>(unwrap(module));
  LogicalResult result = root && options->functionBoundaries
                             ? runOneShotModuleBufferize(root, unwrapped, state, &counts)
                             : runOneShotBufferize(unwrap(module), unwrapped, state, &counts);
  if (statistics)
    *statistics = {counts.numBufferAlloc, counts.numTensorInPlace, counts.numTensorOutOfPlace};
  return wrap(result);
}
