// BufferizableOpInterface from C callbacks and one-shot bufferization of a module with an op filter.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtBuffers); // rewriter, options and state of one bufferize callback

// A null callback takes the default in brackets: destination style's meaning.
typedef struct MlirExtBufferizableHooks {
  bool (*reads)(MlirOperation op, intptr_t operand);       // [true]
  bool (*writes)(MlirOperation op, intptr_t operand);      // [operand is an init]
  intptr_t (*aliases)(MlirOperation op, intptr_t operand); // equivalent result, -1 for none [tied result of an init]
  bool (*bufferize)(MlirOperation op, MlirRewriterBase rewriter, MlirExtBuffers buffers);
} MlirExtBufferizableHooks;

typedef struct MlirExtBufferizationOptions {
  bool functionBoundaries; // signatures become memrefs, with identity layouts
  bool copyBeforeWrite;    // no analysis: copy always
  bool allowReturnAllocsFromLoops;
  bool (*skip)(MlirOperation op, void *userData); // ops left alone; null for none
  void *userData;
} MlirExtBufferizationOptions;

typedef struct MlirExtBufferizationStatistics {
  int64_t allocations, inPlace, outOfPlace;
} MlirExtBufferizationStatistics;

MLIR_EXT_BEGIN
MlirValue mlirExtBuffersGet(MlirExtBuffers buffers, MlirValue tensor); // null on failure
void mlirExtBuffersReplaceOp(MlirExtBuffers buffers, MlirOperation op, intptr_t count, const MlirValue *values);
// A pass that bufferizes must declare this dialect, else upstream creates ops of an unloaded dialect and crashes.
void mlirExtDialectRegistryInsertBufferization(MlirDialectRegistry registry);
MlirLogicalResult mlirExtOneShotBufferizeModule(MlirOperation module, const MlirExtBufferizationOptions *options,
                                                MlirExtBufferizationStatistics *statistics);
MLIR_EXT_END
