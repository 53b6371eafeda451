// For as long as the semantics of hooks.h have not landed: a hook that is missing is null, and two that the rows need
// are said here. Goes away with them.
#include "dialects/tile/hooks.h"
#include "dialects/tile/tile.h"

#pragma weak tileAllocOpEffects
#pragma weak tileAllocOpVerify
#pragma weak tileAssertOpCanonicalize
#pragma weak tileAssertOpEffects
#pragma weak tileAssertOpVerify
#pragma weak tileAssumeOpFold
#pragma weak tileAssumeOpIntegerRanges
#pragma weak tileAssumeOpVerify
#pragma weak tileAtomicCasOpEffects
#pragma weak tileAtomicCasOpVerify
#pragma weak tileAtomicLoadOpEffects
#pragma weak tileAtomicLoadOpVerify
#pragma weak tileAtomicRmwOpCanonicalize
#pragma weak tileAtomicRmwOpEffects
#pragma weak tileAtomicRmwOpVerify
#pragma weak tileAtomicStoreOpEffects
#pragma weak tileAtomicStoreOpVerify
#pragma weak tileBarrierArriveOpEffects
#pragma weak tileBarrierArriveOpVerify
#pragma weak tileBarrierWaitOpEffects
#pragma weak tileBitcastOpFold
#pragma weak tileBitcastOpVerify
#pragma weak tileBroadcastOpCanonicalize
#pragma weak tileBroadcastOpFold
#pragma weak tileBroadcastOpVerify
#pragma weak tileCallOpCallArguments
#pragma weak tileCallOpCallee
#pragma weak tileCallOpVerifySymbolUses
#pragma weak tileCatOpFold
#pragma weak tileCatOpVerify
#pragma weak tileConvertLayoutOpFold
#pragma weak tileConvertLayoutOpVerify
#pragma weak tileConvertTypeOpVerify
#pragma weak tileCopyAsyncOpEffects
#pragma weak tileCopyAsyncOpVerify
#pragma weak tileCopyOpVerify
#pragma weak tileFenceOpEffects
#pragma weak tileFenceOpVerify
#pragma weak tileFuncOpVerify
#pragma weak tileFuncOpVerifyRegions
#pragma weak tileGatherOpCanonicalize
#pragma weak tileGatherOpEffects
#pragma weak tileGatherOpVerify
#pragma weak tileHistogramOpVerify
#pragma weak tileInBoundsOpFold
#pragma weak tileInBoundsOpVerify
#pragma weak tileInsertOpFold
#pragma weak tileInsertOpVerify
#pragma weak tileIotaOpIntegerRanges
#pragma weak tileIotaOpVerify
#pragma weak tileJoinOpVerify
#pragma weak tileKernelOpVerify
#pragma weak tileKernelOpVerifyRegions
#pragma weak tileLaunchOpBufferize
#pragma weak tileLaunchOpCanonicalize
#pragma weak tileLaunchOpDestinationInits
#pragma weak tileLaunchOpEffects
#pragma weak tileLaunchOpFold
#pragma weak tileLaunchOpVerify
#pragma weak tileLaunchOpVerifySymbolUses
#pragma weak tileLoadOpCanonicalize
#pragma weak tileLoadOpVerify
#pragma weak tileMemrefAtOpVerify
#pragma weak tileMmaAsyncOpEffects
#pragma weak tileMmaAsyncOpVerify
#pragma weak tileMmaOpFold
#pragma weak tileMmaOpVerify
#pragma weak tileMmaScaledOpVerify
#pragma weak tileMmaWaitOpEffects
#pragma weak tileMmaWaitOpVerify
#pragma weak tileNumProgramsOpIntegerRanges
#pragma weak tileNumProgramsOpVerify
#pragma weak tileNumTilesOpFold
#pragma weak tileNumTilesOpIntegerRanges
#pragma weak tileNumTilesOpVerify
#pragma weak tilePrefetchOpEffects
#pragma weak tilePrefetchOpVerify
#pragma weak tilePrintOpEffects
#pragma weak tileProgramIdOpIntegerRanges
#pragma weak tileProgramIdOpVerify
#pragma weak tileRandomOpFold
#pragma weak tileRandomOpVerify
#pragma weak tileReduceOpCanonicalize
#pragma weak tileReduceOpFold
#pragma weak tileReduceOpVerify
#pragma weak tileReduceOpVerifyRegions
#pragma weak tileReshapeOpFold
#pragma weak tileReshapeOpVerify
#pragma weak tileReturnOpVerify
#pragma weak tileScanOpVerify
#pragma weak tileScanOpVerifyRegions
#pragma weak tileScatterOpCanonicalize
#pragma weak tileScatterOpEffects
#pragma weak tileScatterOpVerify
#pragma weak tileSliceOpCanonicalize
#pragma weak tileSliceOpFold
#pragma weak tileSliceOpVerify
#pragma weak tileSlotOpVerify
#pragma weak tileSortOpInferTypes
#pragma weak tileSortOpVerify
#pragma weak tileStoreOpEffects
#pragma weak tileStoreOpVerify
#pragma weak tileSyncOpEffects
#pragma weak tileTopkOpVerify
#pragma weak tileTransferOpFold
#pragma weak tileTransposeOpCanonicalize
#pragma weak tileTransposeOpFold
#pragma weak tileTransposeOpVerify
#pragma weak tileViewOpCanonicalize
#pragma weak tileViewOpVerify
#pragma weak tileWaitOpEffects
#pragma weak tileWaitOpVerify
#pragma weak tileWarpSpecializeOpEntryOperands
#pragma weak tileWarpSpecializeOpRegionSuccessors
#pragma weak tileWarpSpecializeOpVerify
#pragma weak tileWarpSpecializeOpVerifyRegions
#pragma weak tileYieldOpVerify

__attribute__((weak)) bool tileScanOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  for (intptr_t i = 0; i < inference->numOperands; ++i)
    mlirExtTypeListAppend(types, mlirValueGetType(inference->operands[i]));
  return true;
}

__attribute__((weak)) bool tileSlotOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  mlirExtTypeListAppend(types, tileBufferTypeGetSlot(mlirValueGetType(inference->operands[0])));
  return true;
}
