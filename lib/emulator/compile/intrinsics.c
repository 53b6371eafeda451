// Intrinsics that upstream's importer leaves as calls, by name: the op of nvvm or rocdl that each of them is. Operands
// keep their order. See intrinsics.h.
#include "lib/emulator/compile/inline_ptx.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"
#include "upstream/rocdl.h"

typedef struct IntrinsicRow {
  const char *intrinsic, *op;
  const char *attribute, *value; // that the op has, as text; null: none
} IntrinsicRow;

static const IntrinsicRow rows[] = {
    {"llvm.nvvm.bar.warp.sync", nvvmSyncWarpOpName, NULL, NULL},
    {"llvm.nvvm.membar.cta", nvvmMembarOpName, "scope", "#nvvm.mem_scope<cta>"},
    {"llvm.nvvm.membar.gl", nvvmMembarOpName, "scope", "#nvvm.mem_scope<gpu>"},
    {"llvm.nvvm.membar.sys", nvvmMembarOpName, "scope", "#nvvm.mem_scope<sys>"},
    {"llvm.nvvm.vote.any.sync", nvvmVoteSyncOpName, "kind", "#nvvm<vote_sync_kind any>"},
    {"llvm.nvvm.vote.all.sync", nvvmVoteSyncOpName, "kind", "#nvvm<vote_sync_kind all>"},
    {"llvm.nvvm.vote.uni.sync", nvvmVoteSyncOpName, "kind", "#nvvm<vote_sync_kind uni>"},
    {"llvm.nvvm.vote.ballot.sync", nvvmVoteSyncOpName, "kind", "#nvvm<vote_sync_kind ballot>"},
    {"llvm.nvvm.match.any.sync.i32", nvvmMatchSyncOpName, "kind", "#nvvm<match_sync_kind any>"},
    {"llvm.nvvm.match.any.sync.i64", nvvmMatchSyncOpName, "kind", "#nvvm<match_sync_kind any>"},
    {"llvm.nvvm.match.all.sync.i32p", nvvmMatchSyncOpName, "kind", "#nvvm<match_sync_kind all>"},
    {"llvm.nvvm.match.all.sync.i64p", nvvmMatchSyncOpName, "kind", "#nvvm<match_sync_kind all>"},
    {"llvm.nvvm.redux.sync.add", nvvmReduxOpName, "kind", "#nvvm<redux_kind add>"},
    {"llvm.nvvm.redux.sync.and", nvvmReduxOpName, "kind", "#nvvm<redux_kind and>"},
    {"llvm.nvvm.redux.sync.or", nvvmReduxOpName, "kind", "#nvvm<redux_kind or>"},
    {"llvm.nvvm.redux.sync.xor", nvvmReduxOpName, "kind", "#nvvm<redux_kind xor>"},
    {"llvm.nvvm.redux.sync.min", nvvmReduxOpName, "kind", "#nvvm<redux_kind min>"},
    {"llvm.nvvm.redux.sync.max", nvvmReduxOpName, "kind", "#nvvm<redux_kind max>"},
    {"llvm.nvvm.redux.sync.umin", nvvmReduxOpName, "kind", "#nvvm<redux_kind umin>"},
    {"llvm.nvvm.redux.sync.umax", nvvmReduxOpName, "kind", "#nvvm<redux_kind umax>"},
    {"llvm.nvvm.shfl.sync.bfly.i32", nvvmShflOpName, "kind", "#nvvm<shfl_kind bfly>"},
    {"llvm.nvvm.shfl.sync.up.i32", nvvmShflOpName, "kind", "#nvvm<shfl_kind up>"},
    {"llvm.nvvm.shfl.sync.down.i32", nvvmShflOpName, "kind", "#nvvm<shfl_kind down>"},
    {"llvm.nvvm.shfl.sync.idx.i32", nvvmShflOpName, "kind", "#nvvm<shfl_kind idx>"},
    {"llvm.nvvm.shfl.sync.bfly.f32", nvvmShflOpName, "kind", "#nvvm<shfl_kind bfly>"},
    {"llvm.nvvm.shfl.sync.up.f32", nvvmShflOpName, "kind", "#nvvm<shfl_kind up>"},
    {"llvm.nvvm.shfl.sync.down.f32", nvvmShflOpName, "kind", "#nvvm<shfl_kind down>"},
    {"llvm.nvvm.shfl.sync.idx.f32", nvvmShflOpName, "kind", "#nvvm<shfl_kind idx>"},
    {"llvm.nvvm.cp.async.commit.group", nvvmCpAsyncCommitGroupOpName, NULL, NULL},
    {"llvm.nvvm.ex2.approx.f32", llvmExp2OpName, NULL, NULL},
    {"llvm.nvvm.ex2.approx.f", llvmExp2OpName, NULL, NULL},
    {"llvm.nvvm.lg2.approx.f", llvmLog2OpName, NULL, NULL},
    {"llvm.nvvm.sqrt.rn.f", llvmSqrtOpName, NULL, NULL},
    {"llvm.nvvm.sqrt.f", llvmSqrtOpName, NULL, NULL},
    {"llvm.nvvm.fabs.f32", llvmFAbsOpName, NULL, NULL},
    {"llvm.amdgcn.workitem.id.x", rocdlThreadIdXOpName, NULL, NULL},
    {"llvm.amdgcn.workitem.id.y", rocdlThreadIdYOpName, NULL, NULL},
    {"llvm.amdgcn.workitem.id.z", rocdlThreadIdZOpName, NULL, NULL},
    {"llvm.amdgcn.workgroup.id.x", rocdlBlockIdXOpName, NULL, NULL},
    {"llvm.amdgcn.workgroup.id.y", rocdlBlockIdYOpName, NULL, NULL},
    {"llvm.amdgcn.workgroup.id.z", rocdlBlockIdZOpName, NULL, NULL},
    {"llvm.amdgcn.wavefrontsize", rocdlWavefrontSizeOpName, NULL, NULL},
    {"llvm.amdgcn.s.barrier", rocdlSBarrierOpName, NULL, NULL},
    {"llvm.amdgcn.mbcnt.lo", rocdlMbcntLoOpName, NULL, NULL},
    {"llvm.amdgcn.mbcnt.hi", rocdlMbcntHiOpName, NULL, NULL},
    {"llvm.amdgcn.ballot.i32", rocdlBallotOpName, NULL, NULL},
    {"llvm.amdgcn.ballot.i64", rocdlBallotOpName, NULL, NULL},
    {"llvm.amdgcn.ds.bpermute", rocdlDsBpermuteOpName, NULL, NULL},
    {"llvm.amdgcn.readfirstlane.i32", rocdlReadfirstlaneOpName, NULL, NULL},
    {"llvm.amdgcn.readlane.i32", rocdlReadlaneOpName, NULL, NULL},
    {"llvm.amdgcn.rcp.f32", rocdlROCDLRcpOpName, NULL, NULL},
    {"llvm.amdgcn.exp2.f32", rocdlROCDLExp2OpName, NULL, NULL},
    {"llvm.amdgcn.log.f32", rocdlROCDLLogOpName, NULL, NULL},
    {"llvm.amdgcn.sqrt.f32", rocdlROCDLSqrtOpName, NULL, NULL},
};

// AMD's intrinsics whose names end in types, and those that are ops without rows.
static const struct {
  const char *begins, *op; // op: null: the op of rocdl that has the rest of the name
} families[] = {
    {"llvm.amdgcn.make.buffer.rsrc.", rocdlMakeBufferRsrcOpName},
    {"llvm.amdgcn.raw.ptr.buffer.load.", rocdlRawPtrBufferLoadOpName},
    {"llvm.amdgcn.raw.ptr.buffer.store.", rocdlRawPtrBufferStoreOpName},
    {"llvm.amdgcn.ds.swizzle", rocdlDsSwizzleOpName},
    {"llvm.amdgcn.mfma.", NULL},
};

//===--- helpers ----------------------------------------------------------------------------------------===//

static void replaceWith(MlirOperation op, MlirOperation by) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(by, i));
  mlirOperationDestroy(op);
}

static MlirValue operandOf(MlirOperation op, intptr_t index) {
  return index < mlirOperationGetNumOperands(op) ? mlirOperationGetOperand(op, index) : (MlirValue){NULL};
}

MlirOperation emulatorCallIntrinsic(MlirOperation like, const char *name, intptr_t count, const MlirValue *operands) {
  TileBuilder b = tileBuilderBefore(like);
  intptr_t results = mlirOperationGetNumResults(like);
  MlirType type = results ? tileOnlyResultType(like) : (MlirType){NULL};
  MlirOperation call =
      llvmCallIntrinsicOpBuild(&b, type, count, operands, 0, NULL, mlirStringAttrGet(b.context, tileString(name)),
                               mlirDenseI32ArrayGet(b.context, 0, NULL));
  replaceWith(like, call);
  return call;
}

//===--- intrinsics with a form of their own ----------------------------------------------------------------===//

// barrier.cta.sync id; barrier.cta.sync.count id, threads
static bool expandBarrier(MlirOperation op, MlirStringRef name) {
  if (!tileStringEquals(name, "llvm.nvvm.barrier.cta.sync.aligned.all") &&
      !tileStringEquals(name, "llvm.nvvm.barrier.cta.sync.all") &&
      !tileStringEquals(name, "llvm.nvvm.barrier.cta.sync.aligned.count") &&
      !tileStringEquals(name, "llvm.nvvm.barrier.cta.sync.count"))
    return false;
  TileBuilder b = tileBuilderBefore(op);
  replaceWith(op, nvvmBarrierOpBuild(&b, (MlirType){NULL}, operandOf(op, 0), operandOf(op, 1), (MlirValue){NULL}));
  return true;
}

// barrier.cta.red.… id, predicate
static bool expandBarrierReduction(MlirOperation op, MlirStringRef name) {
  static const char *const names[] = {"llvm.nvvm.barrier.cta.red.popc.aligned.all", // in the order of the words
                                      "llvm.nvvm.barrier.cta.red.and.aligned.all",
                                      "llvm.nvvm.barrier.cta.red.or.aligned.all"};
  for (int i = 0; i < (int)(sizeof names / sizeof *names); ++i) {
    if (!tileStringEquals(name, names[i]))
      continue;
    TileBuilder b = tileBuilderBefore(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32), type = tileOnlyResultType(op);
    MlirValue predicate = llvmZExtOpBuild(&b, i32, operandOf(op, 1));
    MlirOperation barrier = nvvmBarrierOpCreate(&b, i32, operandOf(op, 0), (MlirValue){NULL}, predicate,
                                                nvvmBarrierReductionAttr(&b, (NvvmBarrierReduction)i));
    MlirValue value = tileOnlyResult(barrier);
    if (!mlirTypeEqual(type, i32))
      value = llvmTruncOpBuild(&b, type, value);
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
    mlirOperationDestroy(op);
    return true;
  }
  return false;
}

// cp.async.ca.shared.global.4 to, from; also with the number of bytes that are read.
static bool expandCopy(MlirOperation op, MlirStringRef name) {
  char text[64];
  int size = 0;
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  bool isCa = sscanf(text, "llvm.nvvm.cp.async.ca.shared.global.%d", &size) == 1;
  if (!isCa && sscanf(text, "llvm.nvvm.cp.async.cg.shared.global.%d", &size) != 1)
    return false;
  TileBuilder b = tileBuilderBefore(op);
  MlirAttribute bytes = mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 32), size);
  replaceWith(op, nvvmCpAsyncOpCreate(&b, operandOf(op, 0), operandOf(op, 1), operandOf(op, 2), bytes,
                                      isCa ? NvvmLoadCacheModifier_Ca : NvvmLoadCacheModifier_Cg));
  return true;
}

static bool expandCopyWait(MlirOperation op, MlirStringRef name) {
  int64_t groups;
  if (!tileStringEquals(name, "llvm.nvvm.cp.async.wait.group") || !emulatorConstant(operandOf(op, 0), &groups))
    return false;
  TileBuilder b = tileBuilderBefore(op);
  replaceWith(op, nvvmCpAsyncWaitGroupOpBuild(&b, mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 32), groups)));
  return true;
}

// update.dpp old, value, and four numbers, which are attributes of the op.
static bool expandDpp(MlirOperation op, MlirStringRef name) {
  enum { Control = 2, Rows, Banks, Bounds, NumOperands };
  int64_t numbers[NumOperands] = {0};
  if (!tileStringStartsWith(name, "llvm.amdgcn.update.dpp.") || mlirOperationGetNumOperands(op) != NumOperands)
    return false;
  for (int i = Control; i < NumOperands; ++i)
    if (!emulatorConstant(operandOf(op, i), &numbers[i]))
      return false;
  TileBuilder b = tileBuilderBefore(op);
  MlirType i32 = mlirIntegerTypeGet(b.context, 32);
  MlirValue moved =
      rocdlDPPUpdateOpBuild(&b, operandOf(op, 0), operandOf(op, 1), mlirIntegerAttrGet(i32, numbers[Control]),
                            mlirIntegerAttrGet(i32, numbers[Rows]), mlirIntegerAttrGet(i32, numbers[Banks]),
                            mlirBoolAttrGet(b.context, numbers[Bounds] != 0));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), moved);
  mlirOperationDestroy(op);
  return true;
}

// A wave's own barrier, whose lanes run in step on the machine and whose fences order memory; pauses.
static bool expandNothing(MlirOperation op, MlirStringRef name) {
  if (!tileStringEquals(name, "llvm.amdgcn.wave.barrier") && !tileStringEquals(name, "llvm.nvvm.nanosleep"))
    return false;
  mlirOperationDestroy(op);
  return true;
}

//===--- the module ----------------------------------------------------------------------------------------===//

static bool expandByRow(MlirOperation op, MlirStringRef name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (!tileStringEquals(name, rows[i].intrinsic))
      continue;
    tileBuildRenamed(op, rows[i].op, rows[i].attribute, rows[i].value);
    return true;
  }
  return false;
}

static bool expandByFamily(MlirOperation op, MlirStringRef name) {
  static const char begins[] = "llvm.amdgcn.";
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    char text[64];
    if (!tileStringStartsWith(name, families[i].begins))
      continue;
    snprintf(text, sizeof text, "rocdl.%.*s", (int)(name.length - (sizeof begins - 1)), name.data + sizeof begins - 1);
    tileBuildRenamed(op, families[i].op ? families[i].op : text, NULL, NULL);
    return true;
  }
  return false;
}

static void expand(MlirOperation op) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(op, "intrin"));
  bool done = expandByRow(op, name) || expandByFamily(op, name) || expandDpp(op, name) || expandBarrier(op, name) ||
              expandBarrierReduction(op, name) || expandCopy(op, name) || expandCopyWait(op, name) ||
              expandNothing(op, name);
  (void)done; // what stays is refused at its row
}

void emulatorExpandIntrinsics(EmulatorBuild *build) {
  TileOps texts = tileCollectOps(build->module, llvmInlineAsmOpIsA);
  for (intptr_t i = 0; i < texts.count; ++i)
    emulatorSplitAssembly(texts.items[i]);
  tileOpsFree(&texts);
  TileOps assemblies = tileCollectOps(build->module, llvmInlineAsmOpIsA);
  for (intptr_t i = 0; i < assemblies.count; ++i)
    emulatorExpandAssembly(assemblies.items[i]);
  tileOpsFree(&assemblies);
  TileOps calls = tileCollectOps(build->module, llvmCallIntrinsicOpIsA);
  for (intptr_t i = 0; i < calls.count; ++i)
    expand(calls.items[i]);
  tileOpsFree(&calls);
}
