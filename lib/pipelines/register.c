// The tables of our dialects, passes and pipelines. A new one is one row here.
#include "lib/pipelines/register.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/tile.h"
#include "lib/capi/dialect.h"
#include "lib/capi/pass.h"
#include "lib/conversion/assert_to_runtime/assert_to_runtime.h"
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"
#include "lib/conversion/linalg_to_tile/linalg_to_tile.h"
#include "lib/conversion/sparse_tensor_to_sparse/sparse_tensor_to_sparse.h"
#include "lib/conversion/sparse_to_tile/sparse_to_tile.h"
#include "lib/conversion/tile_launch_to_runtime/tile_launch_to_runtime.h"
#include "lib/conversion/tile_to_nvvm/tile_to_nvvm.h"
#include "lib/conversion/tile_to_rocdl/tile_to_rocdl.h"
#include "lib/conversion/tile_to_vector/tile_to_vector.h"
#include "lib/pipelines/pipelines.h"
#include "lib/transforms/fuse/fuse.h"
#include "lib/transforms/layout/layout.h"
#include "lib/transforms/math/expand_float_conversions.h"
#include "lib/transforms/math/expand_math.h"
#include "lib/transforms/math/keep_roundings.h"
#include "lib/transforms/memory/memory.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "lib/transforms/schedule/schedule.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "mlir-c/RegisterEverything.h"

typedef void (*DialectRegistration)(MlirDialectRegistry registry);

// Each table ends with a null row.
static const DialectRegistration dialects[] = {tileRegisterDialect, sparseRegisterDialect, NULL};
// clang-format off: one row a pass
static const MlirExtPassDefinition *const passes[] = {
    &tileExpandMathPass,
    &tileExpandFloatConversionsPass,
    &tileAddIntoEntriesPass,
    &tileAssertToRuntimePass,
    &tileAssumeLaunchFactsPass,
    &tileCopyStridedClonesPass,
    &tileFoldZeroSizesPass,
    &tileSetMachinePass,
    &tileConstructTilesPass,
    &tileMergeDimensionsPass,
    &tileSplitReductionsPass,
    &tileSpecializeSizesPass,
    &tileFuseElementwisePass,
    &tileGroupOpsPass,
    &gpuLaunchToRuntimePass,
    &tileFuseAttentionPass,
    &tileLinalgToTilePass,
    &sparseToTilePass,
    &sparseTensorToSparsePass,
    &sparseToSparseTensorPass,
    &sparsePruneNmPass,
    &sparseFoldConstantsPass,
    &sparsePackNmPass,
    &sparseRuntimeCheckPass,
    &tileBufferizeHostPass,
    &tileLaunchToRuntimePass,
    &tileToNvvmPass,
    &tileToRocdlPass,
    &tileToVectorPass,
    &tileAssignLayoutsPass,
    &tilePrintLayoutsPass,
    &tileStageInSharedMemoryPass,
    &tilePipelineLoopsPass,
    &tileHoistCopiesPass,
    &tileReduceAtomicsPass,
    &tilePlanSharedMemoryPass,
    &tileInsertBarriersPass,
    &tileCountWaitsPass,
    &tileKeepRoundingsPass,
    &tileMoveBf16AsBitsPass,
    NULL};
// clang-format on
static const MlirExtPipelineDefinition *const pipelines[] = {&tileToCpuPipeline, &tileToNvvmPipeline,
                                                             &tileToRocdlPipeline, &tileToHostPipeline, NULL};

void tesseraRegisterDialects(MlirDialectRegistry registry) {
  for (const DialectRegistration *registration = dialects; *registration; ++registration)
    (*registration)(registry);
}

void tesseraRegisterPasses(void) {
  for (const MlirExtPassDefinition *const *pass = passes; *pass; ++pass)
    mlirExtPassRegister(*pass);
  for (const MlirExtPipelineDefinition *const *pipeline = pipelines; *pipeline; ++pipeline)
    mlirExtPipelineRegister(*pipeline);
}

void tesseraRegisterAllDialects(MlirDialectRegistry registry) {
  mlirRegisterAllDialects(registry);
  tesseraRegisterDialects(registry);
}

void tesseraRegisterAllPasses(void) {
  mlirRegisterAllPasses();
  tesseraRegisterPasses();
}
