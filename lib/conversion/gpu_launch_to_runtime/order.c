// Where the host must wait for the device: before it touches memory after a launch, and before an entry returns.
//
// Launches are asynchronous and in order; memory is shared. One wait per place is enough: it is put before the first
// access after a launch on the way there, before a whole loop where the loop launches nothing. A wait with nothing to
// wait for costs a load (tessera_device_synchronize), so what cannot be known (what callers and blocks before launched)
// is taken to be pending.
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"

#include "lib/ir/support.h"
#include "upstream/func.h"

#include "upstream/affine.h"
#include "upstream/builtin.h"
#include "upstream/gpu.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include <string.h>

static const char waitFunction[] = "tessera_device_synchronize";

//===--- questions --------------------------------------------------------------------===//

static bool launches(MlirOperation op) {
  return gpuLaunchFuncOpIsA(op) || funcCallOpIsA(op) || funcCallIndirectOpIsA(op);
}

// Ops with regions are asked for what is in them. What is not known to leave memory alone touches it.
static bool touchesMemory(MlirOperation op) {
  static const char *const dialects[] = {"arith", "math", "index", "complex", "ub", "cf", "affine", NULL};
  static const TileUpstream harmless[] = {MemrefOp_Alloc,
                                          MemrefOp_Alloca,
                                          MemrefOp_Dealloc,
                                          MemrefOp_Dim,
                                          MemrefOp_Rank,
                                          MemrefOp_Cast,
                                          MemrefOp_SubView,
                                          MemrefOp_View,
                                          MemrefOp_ReinterpretCast,
                                          MemrefOp_ExpandShape,
                                          MemrefOp_CollapseShape,
                                          MemrefOp_GetGlobal,
                                          MemrefOp_ExtractStridedMetadata,
                                          MemrefOp_ExtractAlignedPointerAsIndex,
                                          MemrefOp_AssumeAlignment,
                                          MemrefOp_Transpose,
                                          FuncOp_Return,
                                          FuncOp_Constant,
                                          GpuOp_LaunchFunc,
                                          FuncOp_Call,
                                          ScfOp_Yield,
                                          ScfOp_Condition,
                                          ScfOp_If,
                                          ScfOp_For,
                                          ScfOp_While,
                                          ScfOp_IndexSwitch,
                                          ScfOp_ExecuteRegion,
                                          ScfOp_Forall,
                                          ScfOp_Parallel,
                                          ScfOp_Reduce,
                                          LinalgOp_Yield,
                                          LinalgOp_Index,
                                          BuiltinOp_UnrealizedConversionCast,
                                          TileUpstream_None};
  static const TileUpstream accesses[] = {AffineOp_AffineLoad, AffineOp_AffineStore, AffineOp_AffineVectorLoad,
                                          AffineOp_AffineVectorStore, TileUpstream_None};
  for (int i = 0; dialects[i]; ++i)
    if (tileOpIsOfDialect(op, dialects[i]))
      return tileUpstreamIsOneOf(op, accesses);
  return !tileUpstreamIsOneOf(op, harmless);
}

typedef struct Found {
  bool launch, access;
} Found;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Found *found = userData;
  found->launch |= launches(op);
  found->access |= touchesMemory(op);
  return MlirWalkResultAdvance;
}

static Found lookInside(MlirOperation op) {
  Found found = {false, false};
  mlirOperationWalk(op, look, &found, MlirWalkPreOrder);
  return found;
}

//===--- waiting ------------------------------------------------------------------------===//

static uint64_t waitBefore(MlirOperation before, bool *pending) {
  TileBuilder builder = tileBuilderBefore(before);
  launchBuildRuntimeCall(&builder, waitFunction, 0, NULL);
  *pending = false;
  return 1;
}

static uint64_t orderRegions(MlirOperation op, bool isEntry);

static uint64_t orderBlock(MlirBlock block, bool isEntry) {
  uint64_t waits = 0;
  bool pending = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); op.ptr; op = mlirOperationGetNextInBlock(op)) {
    Found found = lookInside(op);
    bool isLaunch = launches(op), returns = funcReturnOpIsA(op) && isEntry;
    if (pending && (returns || (found.access && (!found.launch || touchesMemory(op)))))
      waits += waitBefore(op, &pending);
    if (found.launch && !isLaunch)
      waits += orderRegions(op, isEntry);
    pending |= found.launch;
  }
  return waits;
}

static uint64_t orderRegions(MlirOperation op, bool isEntry) {
  uint64_t waits = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); block.ptr;
         block = mlirBlockGetNextInRegion(block))
      waits += orderBlock(block, isEntry);
  return waits;
}

uint64_t launchOrderHostAccesses(MlirOperation module) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  uint64_t waits = 0;
  for (intptr_t i = 0; i < functions.count; ++i)
    waits += orderRegions(functions.items[i], tileSymbolIsPublic(functions.items[i]));
  tileOpsFree(&functions);
  return waits;
}
