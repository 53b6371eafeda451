// Waits and barriers of AMD's waves: s_waitcnt and its successors, loads into LDS that they wait for, s_barrier.
// A load into LDS lands at the wait that covers it (machine/copy.c); what a kernel forgets to wait for is a finding,
// though LLVM's back end adds some waits of its own. Loads into registers are complete when they return.
#include "lib/emulator/compile/common.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/rocdl.h"

enum { LDS_SPACE = 3, NOT_WAITED_FOR = -1 };

//===--- counters -------------------------------------------------------------------===//

// How many of the youngest instructions may be under way after a wait.
typedef struct WaitCounts {
  int64_t memory, lds; // vmcnt or loadcnt; lgkmcnt or dscnt
} WaitCounts;

// A field at its largest value waits for nothing.
static int64_t fieldOf(int64_t value, int64_t largest) { return value == largest ? NOT_WAITED_FOR : value; }

// LLVM's AMDGPUBaseInfo, decodeVmcnt and decodeLgkmcnt. gfx9: vmcnt in bits 3-0 and 15-14, lgkmcnt in 11-8. gfx11:
// vmcnt in 15-10, lgkmcnt in 9-4.
static WaitCounts decode(tessera_amd_isa_t isa, int64_t bits) {
  if (isa == TESSERA_AMD_RDNA3)
    return (WaitCounts){fieldOf(bits >> 10 & 63, 63), fieldOf(bits >> 4 & 63, 63)};
  return (WaitCounts){fieldOf((bits & 15) | (bits >> 14 & 3) << 4, 63), fieldOf(bits >> 8 & 15, 15)};
}

static WaitCounts countsOf(const EmulatorBuild *build, MlirOperation op) {
  WaitCounts counts = {NOT_WAITED_FOR, NOT_WAITED_FOR};
  if (rocdlSWaitcntOpIsA(op))
    return decode(build->options->amd, emulatorInteger(op, "bitfield", 0));
  if (rocdlWaitLoadcntOpIsA(op))
    counts.memory = emulatorInteger(op, "count", 0);
  if (rocdlWaitDscntOpIsA(op))
    counts.lds = emulatorInteger(op, "count", 0);
  return counts;
}

static bool isLoadToLds(MlirOperation op) { return rocdlGlobalLoadLDSOpIsA(op) || rocdlLoadToLDSOpIsA(op); }

void emulatorFindLoadsToLds(EmulatorBuild *build) {
  TileOps loads = tileCollectOps(build->module, isLoadToLds);
  build->loadsToLds = loads.count > 0;
  tileOpsFree(&loads);
}

bool emulatorLowerWait(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  bool isSplit = build->options->amd == TESSERA_AMD_RDNA4; // into an instruction for each counter
  WaitCounts counts = countsOf(build, op);
  (void)row;
  if (rocdlSWaitcntOpIsA(op) == isSplit)
    return emulatorRefuse(build, op, "is no instruction of %s, which has %s", tessera_amd_isa_name(build->options->amd),
                          isSplit ? "s_wait_loadcnt and s_wait_dscnt" : "s_waitcnt");
  if (build->loadsToLds && counts.memory != NOT_WAITED_FOR) {
    MlirValue pending = emulatorI32(build, &b, counts.memory);
    emulatorCallAt(build, &b, op, "tessera_emu_copy_wait_counted", (MlirType){NULL}, 1, &pending);
  }
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

//===--- loads into LDS ---------------------------------------------------------------===//

static bool loadsSize(tessera_amd_isa_t isa, int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || (isa == TESSERA_AMD_CDNA4 && (bytes == 12 || bytes == 16));
}

// global.load.lds, load.to.lds from, to
bool emulatorLowerLoadToLds(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  int64_t bytes = emulatorInteger(op, "size", 0);
  (void)row;
  if (build->options->amd > TESSERA_AMD_CDNA4)
    return emulatorRefuse(build, op, "is no instruction of %s", tessera_amd_isa_name(build->options->amd));
  if (!loadsSize(build->options->amd, bytes))
    return emulatorRefuse(build, op, "loads %lld bytes for each lane; %s loads 1, 2%s", (long long)bytes,
                          tessera_amd_isa_name(build->options->amd),
                          build->options->amd == TESSERA_AMD_CDNA4 ? ", 4, 12 or 16" : " or 4");
  MlirValue operands[] = {emulatorFlat(build, &b, rocdlLoadToLDSOpGetGlobalPtr(op)),
                          emulatorFlat(build, &b, rocdlLoadToLDSOpGetLdsPtr(op)), emulatorI32(build, &b, bytes),
                          emulatorI32(build, &b, emulatorInteger(op, "offset", 0))};
  emulatorCallAt(build, &b, op, "tessera_emu_load_to_lds", (MlirType){NULL}, 4, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

//===--- s_barrier ------------------------------------------------------------------===//

static bool accessesMemory(MlirOperation op) {
  static const TileUpstream kinds[] = {LlvmOp_Load,
                                       LlvmOp_Store,
                                       LlvmOp_AtomicRMW,
                                       LlvmOp_AtomicCmpXchg,
                                       LlvmOp_CallIntrinsic,
                                       LlvmOp_Call,
                                       LlvmOp_MaskedCompressstore,
                                       LlvmOp_MaskedExpandload,
                                       LlvmOp_MaskedGather,
                                       LlvmOp_MaskedLoad,
                                       LlvmOp_MaskedScatter,
                                       LlvmOp_MaskedStore,
                                       LlvmOp_Memcpy,
                                       LlvmOp_MemcpyInline,
                                       LlvmOp_Memmove,
                                       LlvmOp_Memset,
                                       RocdlOp_GlobalLoadLDS,
                                       RocdlOp_LoadToLDS,
                                       RocdlOp_RawPtrBufferLoad,
                                       RocdlOp_RawPtrBufferStore,
                                       TileUpstream_None};
  return tileUpstreamIsOneOf(op, kinds);
}

// llvm.fence of a workgroup or more that releases (or acquires), as LLVM numbers orders.
static bool isFence(MlirOperation op, bool releases) {
  if (!llvmFenceOpIsA(op) || emulatorSays(op, "syncscope", "wavefront") ||
      emulatorSays(op, "syncscope", "singlethread"))
    return false;
  int64_t order = emulatorInteger(op, "ordering", 7);
  return order >= 6 || order == (releases ? 5 : 4);
}

// llvm.store and atomics to LDS: they are done when lgkmcnt says so.
static bool writesShared(const TileOps *ops) {
  for (intptr_t i = 0; i < ops->count; ++i) {
    MlirOperation op = ops->items[i];
    MlirValue pointer = llvmStoreOpIsA(op)       ? llvmStoreOpGetAddr(op)
                        : llvmAtomicRMWOpIsA(op) ? llvmAtomicRMWOpGetPtr(op)
                                                 : (MlirValue){NULL};
    if (!mlirValueIsNull(pointer) && mlirLLVMPointerTypeGetAddressSpace(mlirValueGetType(pointer)) == LDS_SPACE)
      return true;
  }
  return false;
}

// The hardware's own way: all accesses of LDS are done, or all loads into LDS where nothing else writes it.
static bool isWaitForAll(const EmulatorBuild *build, MlirOperation op, const TileOps *ops) {
  WaitCounts counts = countsOf(build, op);
  return counts.lds == 0 || (counts.memory == 0 && !writesShared(ops));
}

// s_barrier waits for waves, not for their accesses. It orders memory where, with no access between, a release fence
// stands before it and an acquire fence behind it, or a wait for the counters before it.
static bool ordersMemory(const EmulatorBuild *build, const TileOps *ops, intptr_t at) {
  MlirBlock block = mlirOperationGetBlock(ops->items[at]);
  bool isReleased = false;
  for (intptr_t i = at - 1; i >= 0 && mlirBlockEqual(mlirOperationGetBlock(ops->items[i]), block); --i) {
    if (isWaitForAll(build, ops->items[i], ops))
      return true;
    isReleased |= isFence(ops->items[i], true);
    if (isReleased || accessesMemory(ops->items[i]))
      break;
  }
  for (intptr_t i = at + 1; isReleased && i < ops->count; ++i) {
    if (!mlirBlockEqual(mlirOperationGetBlock(ops->items[i]), block) || accessesMemory(ops->items[i]))
      return false;
    if (isFence(ops->items[i], false))
      return true;
  }
  return false;
}

static const char unordered[] = "unordered";

void emulatorMarkBarriers(EmulatorBuild *build, const TileOps *ops) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (rocdlSBarrierOpIsA(ops->items[i]) && !ordersMemory(build, ops, i))
      mlirOperationSetAttributeByName(ops->items[i], tileString(unordered), mlirUnitAttrGet(build->context));
}

bool emulatorLowerSBarrier(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {emulatorI32(build, &b, 0), emulatorI32(build, &b, 0)};
  if (!emulatorHas(op, unordered))
    return emulatorLowerBarrier0(build, op, row);
  emulatorCallAt(build, &b, op, "tessera_emu_rendezvous", (MlirType){NULL}, 2, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}
