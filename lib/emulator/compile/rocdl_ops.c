// Rows for the rocdl dialect: what each op is on the emulated machine. An op without a row is refused by name.
// A split barrier (gfx12) waits where it is waited for. Waits and barriers of waves are in rocdl_waits.c.
#include "lib/emulator/compile/common.h"
#include "lib/emulator/compile/matrix_ops.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/rocdl.h"

#include <string.h>

static const MlirType none;
static const MlirValue nothing;

//===--- lanes ------------------------------------------------------------------===//

// mbcnt.lo (`number` 0), .hi (1): mask, base
static bool lowerMbcnt(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {build->self, rocdlMbcntLoOpGetIn0(op), rocdlMbcntLoOpGetIn1(op),
                          emulatorI32(build, &b, row->number)};
  emulatorReplace(op, emulatorCall(build, &b, "tessera_emu_mbcnt", build->i32, 4, operands));
  return true;
}

static bool lowerBallot(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue predicate = emulatorToBits(build, &b, rocdlBallotOpGetPred(op));
  (void)row;
  MlirValue lanes = emulatorCallAt(build, &b, op, "tessera_emu_ballot", build->i64, 1, &predicate);
  emulatorReplace(op, emulatorFromBits(build, &b, lanes, rocdlBallotOpGetResType(op)));
  return true;
}

// readlane value, lane; readfirstlane value
static bool lowerReadlane(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  uint32_t bytes = (uint32_t)emulatorBytes(type);
  (void)row;
  if (!bytes || bytes > 8)
    return emulatorRefuse(build, op, "reads %u bytes of a lane, the emulator at most 8", bytes);
  emulatorStoreOperands(build, &b, op, 0, 1, 0);
  bool first = rocdlReadfirstlaneOpIsA(op);
  MlirValue operands[] = {emulatorFrame(build, &b, 0, bytes), emulatorI32(build, &b, bytes),
                          first ? emulatorI32(build, &b, -1) : rocdlReadlaneOpGetSrc1(op)};
  emulatorCallAt(build, &b, op, "tessera_emu_readlane", none, 3, operands);
  emulatorReplace(op, emulatorLoadPacked(build, &b, type, 0));
  return true;
}

static bool lowerSwizzle(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  int64_t offset;
  if (!emulatorConstant(rocdlDsSwizzleOpGetOffset(op), &offset) || offset < 0 || offset >= 0xc000)
    return emulatorRefuse(build, op, "has an offset the emulator does not know");
  return emulatorLowerDirect(build, op, row);
}

static MlirValue asI64(EmulatorBuild *build, TileBuilder *b, MlirValue value) {
  MlirValue bits = emulatorToBits(build, b, value);
  bool wide = mlirTypeEqual(mlirValueGetType(bits), build->i64);
  return wide ? bits : llvmZExtOpBuild(b, build->i64, bits);
}

// update.dpp old, value
static bool lowerDpp(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = rocdlDPPUpdateOpGetResType(op);
  tessera_dpp_t dpp = {.control = (uint32_t)emulatorInteger(op, "dppCtrl", 0),
                       .row_mask = (uint32_t)emulatorInteger(op, "rowMask", 15),
                       .bank_mask = (uint32_t)emulatorInteger(op, "bankMask", 15),
                       .bound_zero = (uint32_t)emulatorInteger(op, "boundCtrl", 0)};
  (void)row;
  if (emulatorBytes(type) > 8 || tessera_dpp_source(dpp.control, 0, 64) == TESSERA_DPP_UNKNOWN)
    return emulatorRefuse(build, op, "has a control the emulator does not know: 0x%x", dpp.control);
  MlirValue operands[] = {emulatorAddress(build, &b, emulatorKeep(build, &dpp, sizeof dpp)),
                          asI64(build, &b, rocdlDPPUpdateOpGetOld(op)), asI64(build, &b, rocdlDPPUpdateOpGetSrc(op))};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_dpp", build->i64, 3, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, result, type));
  return true;
}

// permlanex16 old, value, low, high
static bool lowerPermlanex16(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = rocdlPermlaneX16OpGetResType(op);
  (void)row;
  if (emulatorBytes(type) > 4)
    return emulatorRefuse(build, op, "moves more than 32 bits");
  MlirValue operands[] = {emulatorToBits(build, &b, rocdlPermlaneX16OpGetSrc0(op)), rocdlPermlaneX16OpGetSrc1(op),
                          rocdlPermlaneX16OpGetSrc2(op)};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_permlanex16", build->i32, 3, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, result, type));
  return true;
}

//===--- swaps -------------------------------------------------------------------===//

// permlane16.swap (`number` 16), permlane32.swap (32)
static bool lowerSwap(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  emulatorStoreOperands(build, &b, op, 0, 2, 0);
  MlirValue operands[] = {emulatorFrame(build, &b, 0, 8), emulatorI32(build, &b, row->number)};
  emulatorCallAt(build, &b, op, "tessera_emu_permlane_swap", none, 2, operands);
  emulatorReplace(op, emulatorLoadPacked(build, &b, tileOnlyResultType(op), 0));
  return true;
}

//===--- buffers ------------------------------------------------------------------===//

// A place in the function's entry block: an alloca of its own.
static MlirValue slot(EmulatorBuild *build, int64_t bytes) {
  TileBuilder b = tileBuilderAfter(build->frame);
  MlirValue size = emulatorI64(build, &b, bytes);
  MlirValue place = llvmAllocaOpBuild(&b, build->pointer, size, mlirTypeAttrGet(build->i8));
  llvmAllocaOpSetAlignment(mlirOpResultGetOwner(place), mlirIntegerAttrGet(build->i64, 16));
  return place;
}

// make.buffer.rsrc base, stride, bytes, flags
static bool lowerMakeBuffer(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  int64_t stride;
  MlirType type = rocdlMakeBufferRsrcOpGetResType(op);
  (void)row;
  if (!emulatorConstant(rocdlMakeBufferRsrcOpGetStride(op), &stride) || stride ||
      mlirLLVMPointerTypeGetAddressSpace(type) != 8)
    return emulatorRefuse(build, op, "is not a raw buffer (address space 8, stride 0)");
  MlirValue resource = slot(build, sizeof(tessera_buffer_resource_t));
  MlirValue operands[] = {resource, emulatorFlat(build, &b, rocdlMakeBufferRsrcOpGetBase(op)),
                          asI64(build, &b, rocdlMakeBufferRsrcOpGetNumRecords(op))};
  emulatorCall(build, &b, "tessera_emu_buffer_make", none, 3, operands);
  emulatorReplace(op, llvmAddrSpaceCastOpBuild(&b, type, resource));
  return true;
}

// raw.ptr.buffer.load resource, offset, scalar, aux; store has the value in front.
static bool lowerBuffer(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  bool loads = mlirOperationGetNumResults(op) > 0;
  MlirType type = loads ? rocdlRawPtrBufferLoadOpGetResType(op) : rocdlRawPtrBufferStoreOpGetVdataType(op);
  uint32_t bytes = (uint32_t)emulatorBytes(type);
  if (!bytes || bytes > 16)
    return emulatorRefuse(build, op, "accesses %u bytes, a buffer at most 16", bytes);
  if (!loads)
    emulatorStoreOperands(build, &b, op, 0, 1, 0);
  MlirValue resource = loads ? rocdlRawPtrBufferLoadOpGetRsrc(op) : rocdlRawPtrBufferStoreOpGetRsrc(op);
  MlirValue offset = loads ? rocdlRawPtrBufferLoadOpGetOffset(op) : rocdlRawPtrBufferStoreOpGetOffset(op);
  MlirValue scalar = loads ? rocdlRawPtrBufferLoadOpGetSoffset(op) : rocdlRawPtrBufferStoreOpGetSoffset(op);
  MlirValue operands[] = {emulatorFlat(build, &b, resource), offset, scalar, emulatorFrame(build, &b, 0, bytes),
                          emulatorI32(build, &b, bytes)};
  emulatorCallAt(build, &b, op, row->callee, none, 5, operands);
  emulatorReplace(op, loads ? emulatorLoadPacked(build, &b, type, 0) : nothing);
  return true;
}

//===--- arithmetic ---------------------------------------------------------------===//

static bool lowerReciprocal(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  (void)row;
  MlirValue one = llvmConstantOpBuild(&b, type, mlirFloatAttrDoubleGet(build->context, type, 1.0));
  emulatorReplace(op, llvmFDivOpBuild(&b, one, tileOnlyOperand(op)));
  return true;
}

static bool lowerMedian(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  MlirValue operands[3];
  (void)row;
  if (mlirTypeIsAVector(type) || mlirTypeIsAF64(type))
    return emulatorRefuse(build, op, "is not a scalar of f16 or f32");
  bool widens = !mlirTypeIsAF32(type);
  for (int i = 0; i < 3; ++i) {
    operands[i] = mlirOperationGetOperand(op, i);
    if (widens)
      operands[i] = llvmFPExtOpBuild(&b, build->f32, operands[i]);
  }
  MlirValue result = emulatorCall(build, &b, "tessera_emu_median", build->f32, 3, operands);
  emulatorReplace(op, widens ? llvmFPTruncOpBuild(&b, type, result) : result);
  return true;
}

// fp8 (`number` 0) and bf8 (1) of this chip.
static int64_t smallType(const EmulatorBuild *build, const EmulatorRow *row) {
  return tessera_amd_isa_type(build->options->amd, row->number ? TESSERA_LANE_E5M2 : TESSERA_LANE_E4M3);
}

static MlirValue fromSmall(EmulatorBuild *build, TileBuilder *b, const EmulatorRow *row, MlirValue word, int64_t byte) {
  MlirValue operands[] = {word, emulatorI32(build, b, byte), emulatorI32(build, b, smallType(build, row))};
  return emulatorCall(build, b, "tessera_emu_from_small", build->f32, 3, operands);
}

static bool lowerFromSmall(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  emulatorReplace(op, fromSmall(build, &b, row, tileOnlyOperand(op), emulatorInteger(op, "byteSel", 0)));
  return true;
}

static bool lowerFromSmallPair(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  MlirValue pair = llvmPoisonOpBuild(&b, type);
  int64_t first = emulatorInteger(op, "wordSel", 0) ? 2 : 0;
  for (int64_t i = 0; i < 2; ++i) {
    MlirValue value = fromSmall(build, &b, row, tileOnlyOperand(op), first + i);
    pair = llvmInsertElementOpBuild(&b, pair, value, emulatorI64(build, &b, i));
  }
  emulatorReplace(op, pair);
  return true;
}

// cvt.pk.fp8.f32 a, b, old
static bool lowerToSmallPair(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  bool high = emulatorInteger(op, "wordSel", 0);
  MlirValue operands[] = {rocdlCvtPkFp8F32OpGetSrcA(op), rocdlCvtPkFp8F32OpGetSrcB(op),
                          emulatorI32(build, &b, smallType(build, row))};
  MlirValue pair = emulatorCall(build, &b, "tessera_emu_to_small", build->i32, 3, operands);
  if (high)
    pair = llvmShlOpBuild(&b, pair, emulatorI32(build, &b, 16));
  MlirValue mask = emulatorI32(build, &b, high ? 0xffff : 0xffff0000);
  MlirValue kept = llvmAndOpBuild(&b, rocdlCvtPkFp8F32OpGetOld(op), mask);
  emulatorReplace(op, llvmOrOpBuild(&b, kept, pair));
  return true;
}

static bool lowerPkRtz(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {rocdlCvtPkRtzOpGetSrcA(op), rocdlCvtPkRtzOpGetSrcB(op)};
  (void)row;
  MlirValue bits = emulatorCall(build, &b, "tessera_emu_pkrtz", build->i32, 2, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, bits, rocdlCvtPkRtzOpGetResType(op)));
  return true;
}

const EmulatorRow emulatorRocdlRows[] = {
    {rocdlThreadIdXOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[0])},
    {rocdlThreadIdYOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[1])},
    {rocdlThreadIdZOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[2])},
    {rocdlBlockIdXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[0])},
    {rocdlBlockIdYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[1])},
    {rocdlBlockIdZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[2])},
    {rocdlBlockDimXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[0])},
    {rocdlBlockDimYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[1])},
    {rocdlBlockDimZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[2])},
    {rocdlGridDimXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[0])},
    {rocdlGridDimYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[1])},
    {rocdlGridDimZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[2])},
    {rocdlWavefrontSizeOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(warp_width)},
    {rocdlSBarrierOpName, emulatorLowerSBarrier, NULL, 0},
    {rocdlBarrierOpName, emulatorLowerBarrier0, NULL, 0},
    {rocdlBarrierSignalOpName, emulatorLowerNothing, NULL, 0},
    {rocdlBarrierWaitOpName, emulatorLowerBarrier0, NULL, 0},
    {rocdlSWaitcntOpName, emulatorLowerWait, NULL, 0},
    {rocdlWaitDscntOpName, emulatorLowerWait, NULL, 0},
    {rocdlWaitLoadcntOpName, emulatorLowerWait, NULL, 0},
    {rocdlWaitStorecntOpName, emulatorLowerWait, NULL, 0},
    {rocdlWaitExpcntOpName, emulatorLowerWait, NULL, 0},
    {rocdlSSleepOpName, emulatorLowerNothing, NULL, 0},
    {rocdlSNopOpName, emulatorLowerNothing, NULL, 0},
    {rocdlSetPrioOpName, emulatorLowerNothing, NULL, 0},
    {rocdlSchedBarrierOpName, emulatorLowerNothing, NULL, 0},
    {rocdlSchedGroupBarrierOpName, emulatorLowerNothing, NULL, 0},
    {rocdlIglpOptOpName, emulatorLowerNothing, NULL, 0},
    {rocdlMbcntLoOpName, lowerMbcnt, NULL, 0},
    {rocdlMbcntHiOpName, lowerMbcnt, NULL, 1},
    {rocdlBallotOpName, lowerBallot, NULL, 0},
    {rocdlReadlaneOpName, lowerReadlane, NULL, 0},
    {rocdlReadfirstlaneOpName, lowerReadlane, NULL, 0},
    {rocdlDsBpermuteOpName, emulatorLowerDirect, "tessera_emu_bpermute", 0},
    {rocdlDsSwizzleOpName, lowerSwizzle, "tessera_emu_swizzle", 0},
    {rocdlDPPUpdateOpName, lowerDpp, NULL, 0},
    {rocdlPermlaneX16OpName, lowerPermlanex16, NULL, 0},
    {rocdlPermlane16SwapOpName, lowerSwap, NULL, 16},
    {rocdlPermlane32SwapOpName, lowerSwap, NULL, 32},
    {"rocdl.mfma.scale.*", emulatorLowerMfmaScale, NULL, 0},
    {"rocdl.mfma.*", emulatorLowerMfma, NULL, 0},
    {"rocdl.smfmac.*", emulatorLowerSmfmac, NULL, 0},
    {"rocdl.wmma.*", emulatorLowerWmma, NULL, 0},
    {rocdlMakeBufferRsrcOpName, lowerMakeBuffer, NULL, 0},
    {rocdlRawPtrBufferLoadOpName, lowerBuffer, "tessera_emu_buffer_load", 0},
    {rocdlRawPtrBufferStoreOpName, lowerBuffer, "tessera_emu_buffer_store", 0},
    {rocdlGlobalLoadLDSOpName, emulatorLowerLoadToLds, NULL, 0},
    {rocdlLoadToLDSOpName, emulatorLowerLoadToLds, NULL, 0},
    {rocdlROCDLRcpOpName, lowerReciprocal, NULL, 0},
    {rocdlROCDLExp2OpName, emulatorLowerMath, "exp2", 0},
    {rocdlROCDLLogOpName, emulatorLowerMath, "log2", 0}, // v_log_f32 is of base 2
    {rocdlROCDLSqrtOpName, emulatorLowerMath, "sqrt", 0},
    {rocdlROCDLTanhOpName, emulatorLowerMath, "tanh", 0},
    {rocdlFMed3OpName, lowerMedian, NULL, 0},
    {rocdlCvtF32Fp8OpName, lowerFromSmall, NULL, 0},
    {rocdlCvtF32Bf8OpName, lowerFromSmall, NULL, 1},
    {rocdlCvtPkF32Fp8OpName, lowerFromSmallPair, NULL, 0},
    {rocdlCvtPkF32Bf8OpName, lowerFromSmallPair, NULL, 1},
    {rocdlCvtPkFp8F32OpName, lowerToSmallPair, NULL, 0},
    {rocdlCvtPkBf8F32OpName, lowerToSmallPair, NULL, 1},
    {rocdlCvtPkRtzOpName, lowerPkRtz, NULL, 0},
    {NULL, NULL, NULL, 0},
};
