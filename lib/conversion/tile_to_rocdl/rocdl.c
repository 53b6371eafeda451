// Ids, barriers, shuffles, messages: what the engine asks for, as ops of the rocdl dialect.
#include "lib/conversion/tile_to_rocdl/rocdl.h"

#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/rocdl.h"

#include <stdio.h>

static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

static MlirValue word(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, i32Type(builder->context), value);
}

static MlirAttribute wordAttribute(TileBuilder *builder, int64_t value) {
  return mlirIntegerAttrGet(i32Type(builder->context), value);
}

//===--- module and kernel --------------------------------------------------------------===//

static MlirAttribute target(const TileBuilder *builder, const TileMachine *machine) {
  return rocdlTargetAttr(builder, 3, tileMachineGetText(machine, "chip"));
}

// The size is exact: the back end then gives a thread all the registers that so many threads leave it.
static void markKernel(MlirOperation function, int64_t threads) {
  MlirContext context = mlirOperationGetContext(function);
  int32_t sizes[] = {(int32_t)threads, 1, 1};
  char range[48];
  snprintf(range, sizeof range, "%d,%d", (int)threads, (int)threads);
  mlirOperationSetAttributeByName(function, tileString("rocdl.kernel"), mlirUnitAttrGet(context));
  mlirOperationSetAttributeByName(function, tileString("rocdl.reqd_work_group_size"),
                                  mlirDenseI32ArrayGet(context, 3, sizes));
  mlirOperationSetAttributeByName(function, tileString("rocdl.flat_work_group_size"),
                                  mlirStringAttrGet(context, tileString(range)));
}

//===--- ids ------------------------------------------------------------------------------===//

static MlirValue threadId(TileBuilder *builder) { return rocdlThreadIdXOpBuild(builder, i32Type(builder->context)); }

typedef MlirValue (*ReadRegister)(TileBuilder *builder, MlirType type);

static MlirValue programId(TileBuilder *builder, int axis) {
  static const ReadRegister read[] = {rocdlBlockIdXOpBuild, rocdlBlockIdYOpBuild, rocdlBlockIdZOpBuild};
  return read[axis](builder, i32Type(builder->context));
}

// It is translated to a call that gives 64 bits, whatever type the op has.
static MlirValue numPrograms(TileBuilder *builder, int axis) {
  static const ReadRegister read[] = {rocdlGridDimXOpBuild, rocdlGridDimYOpBuild, rocdlGridDimZOpBuild};
  MlirValue wide = read[axis](builder, mlirIntegerTypeGet(builder->context, 64));
  return arithTruncIOpBuild(builder, i32Type(builder->context), wide);
}

//===--- between threads --------------------------------------------------------------------===//

static void fence(TileBuilder *builder, LlvmAtomicOrdering ordering) {
  llvmFenceOpSetSyncscope(llvmFenceOpBuild(builder, ordering),
                          mlirStringAttrGet(builder->context, tileString("workgroup")));
}

// The instruction waits for waves, not for their accesses: those are the fences' matter.
static void barrier(TileBuilder *builder) {
  fence(builder, LlvmAtomicOrdering_Release);
  rocdlSBarrierOpBuild(builder);
  fence(builder, LlvmAtomicOrdering_Acquire);
}

// From lane `lane` mod the wave's width.
static MlirValue shuffleFrom(TileBuilder *builder, MlirValue value, MlirValue lane) {
  MlirType type = i32Type(builder->context);
  MlirValue bytes = arithShLIOpBuild(builder, lane, word(builder, 2));
  return rocdlDsBpermuteOpBuild(builder, type, bytes, value);
}

// "… ISA", chapter "Data-parallel processing": quad_perm 0-0xff, row_ror:8, row_mirror, row_half_mirror.
enum { Dpp_RotateBy8 = 0x128, Dpp_Mirror = 0x140, Dpp_HalfMirror = 0x141, Dpp_None = -1 };

static int64_t dppOfXor(int64_t mask) {
  switch (mask) {
  case 1:
  case 2:
  case 3: // lane i of four takes from i ^ mask
    return mask | (1 ^ mask) << 2 | (2 ^ mask) << 4 | (3 ^ mask) << 6;
  case 7:
    return Dpp_HalfMirror;
  case 8:
    return Dpp_RotateBy8;
  case 15:
    return Dpp_Mirror;
  default:
    return Dpp_None;
  }
}

static MlirValue moveByDpp(TileBuilder *builder, MlirValue value, int64_t control) {
  return rocdlDPPUpdateOpBuild(builder, value, value, wordAttribute(builder, control), wordAttribute(builder, 15),
                               wordAttribute(builder, 15), mlirBoolAttrGet(builder->context, 1));
}

static MlirValue laneId(TileBuilder *builder) {
  MlirType type = i32Type(builder->context);
  MlirValue all = word(builder, -1);
  return rocdlMbcntHiOpBuild(builder, type, all, rocdlMbcntLoOpBuild(builder, type, all, word(builder, 0)));
}

// Without memory where the data path has the pattern; by ds_swizzle within 32 lanes (and = 31, or = 0, xor = mask), and
// by address across them.
static MlirValue shuffleXor(TileBuilder *builder, MlirValue value, int64_t mask) {
  MlirType type = i32Type(builder->context);
  int64_t control = dppOfXor(mask);
  if (control != Dpp_None)
    return moveByDpp(builder, value, control);
  if (mask < 32)
    return rocdlDsSwizzleOpBuild(builder, type, value, word(builder, mask << 10 | 31));
  return shuffleFrom(builder, value, arithXOrIOpBuild(builder, laneId(builder), word(builder, mask)));
}

//===--- memory ---------------------------------------------------------------------------------===//

// These chips know no clusters.
static const char *scope(MlirStringRef name) {
  if (tileStringEquals(name, "block"))
    return "workgroup";
  return tileStringEquals(name, "cluster") || tileStringEquals(name, "device") ? "agent" : "";
}

// Raw buffers: the resource's last word as LLVM 22's AMDGPUToROCDL makes it. "… ISA", "Buffer resource descriptor":
// formats that raw accesses ignore and that are not 0; on RDNA a reserved bit, and bounds of offsets.
static MlirValue boundedMemory(TileBuilder *builder, const TileMachine *machine, MlirValue base, int64_t bytes) {
  const int64_t formats = 7 << 12 | 4 << 15, rdna = 1 << 24 | 3 << 28;
  bool isRdna = !strncmp(tileMachineGetText(machine, "isa.version"), "rdna", 4);
  MlirContext context = builder->context;
  MlirValue stride = tileBuildInteger(builder, mlirIntegerTypeGet(context, 16), 0);
  MlirValue size = tileBuildInteger(builder, mlirIntegerTypeGet(context, 64), bytes);
  return rocdlMakeBufferRsrcOpBuild(builder, mlirLLVMPointerTypeGet(context, 8), base, stride, size,
                                    word(builder, formats | (isRdna ? rdna : 0)));
}

static MlirValue boundedLoad(TileBuilder *builder, MlirType type, MlirValue memory, MlirValue offset) {
  MlirValue zero = word(builder, 0);
  return rocdlRawPtrBufferLoadOpBuild(builder, type, memory, offset, zero, zero);
}

static void boundedStore(TileBuilder *builder, MlirValue value, MlirValue memory, MlirValue offset) {
  MlirValue zero = word(builder, 0);
  rocdlRawPtrBufferStoreOpBuild(builder, value, memory, offset, zero, zero);
}

const GpuVocabulary tileRocdlVocabulary = {
    .isa = "amdgcn",
    .chip = "gfx942",
    .privateSpace = 5,
    .target = target,
    .markKernel = markKernel,
    .threadId = threadId,
    .programId = programId,
    .numPrograms = numPrograms,
    .barrier = barrier,
    .shuffleXor = shuffleXor,
    .shuffleFrom = shuffleFrom,
    .mma = tileRocdlMma,
    .zeroingAtoms = "mfma.",
    .boundedMemory = boundedMemory,
    .boundedLoad = boundedLoad,
    .boundedStore = boundedStore,
    .scope = scope,
};
