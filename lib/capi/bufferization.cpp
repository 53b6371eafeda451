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

struct BufferizableCarrier : Carrier<BufferizableCarrier, BufferizableOpInterface::Trait> {
  using Carrier::Carrier;
  const MlirExtBufferizableHooks &buffers() { return *hooks().bufferize; }
  bool isInit(OpOperand &operand) {
    auto style = dyn_cast<DestinationStyleOpInterface>(getOperation());
    return style && style.isDpsInit(&operand);
  }
  // The result that is the same buffer as the operand, or null.
  OpResult tiedResult(OpOperand &operand) {
    if (buffers().aliases) {
      intptr_t result = buffers().aliases(handle(), operand.getOperandNumber());
      return result < 0 ? OpResult() : getOperation()->getResult(result);
    }
    if (!isInit(operand) || !isa<TensorType>(operand.get().getType()))
      return {};
    return cast<DestinationStyleOpInterface>(getOperation()).getTiedOpResult(&operand);
  }

  bool bufferizesToMemoryRead(OpOperand &operand, const AnalysisState &) {
    return !buffers().reads || buffers().reads(handle(), operand.getOperandNumber());
  }
  bool bufferizesToMemoryWrite(OpOperand &operand, const AnalysisState &) {
    return buffers().writes ? buffers().writes(handle(), operand.getOperandNumber()) : isInit(operand);
  }
  AliasingValueList getAliasingValues(OpOperand &operand, const AnalysisState &) {
    if (OpResult result = tiedResult(operand))
      return {{result, BufferRelation::Equivalent}};
    return {};
  }
  AliasingOpOperandList getAliasingOpOperands(Value value, const AnalysisState &) {
    AliasingOpOperandList list;
    for (OpOperand &operand : getOperation()->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) && tiedResult(operand) == value)
        list.addAlias({&operand, BufferRelation::Equivalent});
    return list;
  }
  LogicalResult bufferize(RewriterBase &rewriter, const BufferizationOptions &options, BufferizationState &state) {
    Buffers all{rewriter, options, state};
    if (buffers().bufferize)
      return success(buffers().bufferize(handle(), wrap(&rewriter), {&all}));
    return emitOpError("cannot be bufferized");
  }
};
} // namespace

void mlirExt::insertBufferizable(mlir::detail::InterfaceMap &map) {
  map.insertModels<BufferizableOpInterface::Model<BufferizableCarrier>>();
}

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
