// Rows for the nvvm dialect: what each op is on the emulated machine. An op without a row is refused by name.
#include "lib/emulator/compile/common.h"
#include "lib/emulator/compile/matrix_ops.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

static const MlirType none;
static const MlirValue nothing;

// The position of the attribute's text in `names` (ends with null); -1 if it is none of them. Enum attributes print as
// #nvvm.shfl_kind<bfly> or #nvvm<shfl_kind bfly>.
static int whichOf(MlirOperation op, const char *attribute, const char *const *names) {
  char text[64];
  MlirAttribute value = tileOpAttribute(op, attribute);
  if (mlirAttributeIsNull(value))
    return -1;
  tileAttributeText(value, text, sizeof text);
  size_t end = strcspn(text, ">"), start = end;
  while (start && text[start - 1] != '<' && text[start - 1] != ' ')
    --start;
  for (int i = 0; names[i]; ++i)
    if (strlen(names[i]) == end - start && !strncmp(text + start, names[i], end - start))
      return i;
  return -1;
}

//===--- warps ------------------------------------------------------------------===//

// An optional operand, or the number that its absence means.
static MlirValue orNumber(EmulatorBuild *build, TileBuilder *b, MlirValue operand, int64_t number) {
  return mlirValueIsNull(operand) ? emulatorI32(build, b, number) : operand;
}

// shfl.sync mask, value, offset, clamp
static bool lowerShuffle(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const kinds[] = {"bfly", "up", "down", "idx", NULL};
  TileBuilder b = tileBuilderBefore(op);
  int kind = whichOf(op, "kind", kinds);
  MlirType type = nvvmShflOpGetResType(op);
  bool isPair = mlirTypeIsALLVMStructType(type);
  (void)row;
  if (kind < 0)
    return emulatorRefuse(build, op, "has a kind the emulator does not know");
  MlirValue flag = isPair ? emulatorFrame(build, &b, 0, 4) : emulatorAddress(build, &b, NULL);
  MlirValue operands[] = {nvvmShflOpGetThreadMask(op),  emulatorToBits(build, &b, nvvmShflOpGetVal(op)),
                          nvvmShflOpGetOffset(op),      nvvmShflOpGetMaskAndClamp(op),
                          emulatorI32(build, &b, kind), flag};
  MlirValue bits = emulatorCallAt(build, &b, op, "tessera_emu_shuffle", build->i32, 6, operands);
  MlirType valueType = isPair ? mlirLLVMStructTypeGetElementType(type, 0) : type;
  MlirValue value = emulatorFromBits(build, &b, bits, valueType);
  if (isPair) {
    MlirValue valid = emulatorFromBits(build, &b, emulatorLoadPacked(build, &b, build->i32, 0), build->i1);
    value = emulatorPair(build, &b, type, value, valid);
  }
  emulatorReplace(op, value);
  return true;
}

// vote.sync mask, predicate
static bool lowerVote(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const kinds[] = {"any", "all", "ballot", "uni", NULL}; // as TESSERA_VOTE_…
  TileBuilder b = tileBuilderBefore(op);
  int kind = whichOf(op, "kind", kinds);
  (void)row;
  if (kind < 0)
    return emulatorRefuse(build, op, "has a kind the emulator does not know");
  MlirValue operands[] = {nvvmVoteSyncOpGetMask(op), emulatorToBits(build, &b, nvvmVoteSyncOpGetPred(op)),
                          emulatorI32(build, &b, kind)};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_vote", build->i32, 3, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, result, nvvmVoteSyncOpGetResType(op)));
  return true;
}

// match.sync mask, value
static bool lowerMatch(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  bool all = mlirTypeIsALLVMStructType(nvvmMatchSyncOpGetResType(op));
  MlirValue value = emulatorToBits(build, &b, nvvmMatchSyncOpGetVal(op));
  (void)row;
  if (!mlirTypeEqual(mlirValueGetType(value), build->i64))
    value = llvmZExtOpBuild(&b, build->i64, value);
  MlirValue operands[] = {nvvmMatchSyncOpGetThreadMask(op), value,
                          all ? emulatorFrame(build, &b, 0, 4) : emulatorAddress(build, &b, NULL)};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_match", build->i32, 3, operands);
  if (all) {
    MlirValue equal = emulatorFromBits(build, &b, emulatorLoadPacked(build, &b, build->i32, 0), build->i1);
    result = emulatorPair(build, &b, nvvmMatchSyncOpGetResType(op), result, equal);
  }
  emulatorReplace(op, result);
  return true;
}

// redux.sync value, mask
static bool lowerRedux(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const kinds[] = {"add", "and", "or", "xor", "min", "max", "umin", "umax", "fmin", "fmax", NULL};
  TileBuilder b = tileBuilderBefore(op);
  int kind = whichOf(op, "kind", kinds);
  int64_t flags = (emulatorInteger(op, "abs", 0) ? TESSERA_REDUX_ABSOLUTE : 0) |
                  (emulatorInteger(op, "nan", 0) ? TESSERA_REDUX_NAN : 0);
  (void)row;
  if (kind < 0)
    return emulatorRefuse(build, op, "has a kind the emulator does not know");
  MlirValue operands[] = {nvvmReduxOpGetMaskAndClamp(op), emulatorToBits(build, &b, nvvmReduxOpGetVal(op)),
                          emulatorI32(build, &b, kind), emulatorI32(build, &b, flags)};
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_redux", build->i32, 4, operands);
  emulatorReplace(op, emulatorFromBits(build, &b, result, nvvmReduxOpGetResType(op)));
  return true;
}

static bool lowerElect(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue mask = orNumber(build, &b, nvvmElectSyncOpGetMembermask(op), -1);
  (void)row;
  MlirValue result = emulatorCallAt(build, &b, op, "tessera_emu_elect", build->i32, 1, &mask);
  emulatorReplace(op, emulatorFromBits(build, &b, result, nvvmElectSyncOpGetPredType(op)));
  return true;
}

static bool lowerWarpSync(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue mask = llvmZExtOpBuild(&b, build->i64, nvvmSyncWarpOpGetMask(op));
  emulatorCallAt(build, &b, op, row->callee, none, 1, &mask);
  emulatorReplace(op, nothing);
  return true;
}

// %lanemask_eq, le, lt, ge, gt: `number` in this order.
static bool lowerLaneMask(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {build->self, emulatorI32(build, &b, row->number)};
  emulatorReplace(op, emulatorCall(build, &b, "tessera_emu_lanemask", build->i32, 2, operands));
  return true;
}

//===--- blocks, order --------------------------------------------------------------===//

static MlirValue or0(EmulatorBuild *build, TileBuilder *b, MlirValue value) {
  return mlirValueIsNull(value) ? emulatorI32(build, b, 0) : value;
}

// barrier id?, number of threads?, predicate? of a reduction.
static bool lowerBarrier(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const reductions[] = {"popc", "and", "or", NULL};
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {or0(build, &b, nvvmBarrierOpGetBarrierId(op)),
                          or0(build, &b, nvvmBarrierOpGetNumberOfThreads(op)),
                          or0(build, &b, nvvmBarrierOpGetReductionPredicate(op)), emulatorFrame(build, &b, 0, 4)};
  int reduction = whichOf(op, "reductionOp", reductions);
  (void)row;
  if (reduction < 0) {
    emulatorCallAt(build, &b, op, "tessera_emu_barrier", none, 2, operands);
    emulatorReplace(op, nothing);
    return true;
  }
  MlirValue count = emulatorCallAt(build, &b, op, "tessera_emu_barrier_count", build->i32, 4, operands);
  MlirValue threads = emulatorLoadPacked(build, &b, build->i32, 0);
  if (reduction) { // and: all of them; or: any
    MlirValue holds = reduction == 1 ? llvmICmpOpBuild(&b, count, threads, LlvmICmp_Eq)
                                     : llvmICmpOpBuild(&b, count, emulatorI32(build, &b, 0), LlvmICmp_Ne);
    count = llvmZExtOpBuild(&b, build->i32, holds);
  }
  emulatorReplace(op, count);
  return true;
}

static bool lowerBarrierArrive(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {orNumber(build, &b, nvvmBarrierArriveOpGetBarrierId(op), 0),
                          nvvmBarrierArriveOpGetNumberOfThreads(op)};
  (void)row;
  emulatorCallAt(build, &b, op, "tessera_emu_barrier_arrive", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

// membar; `number` is the scope of an op that does not say one.
static bool lowerMembar(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
  static const tessera_emu_scope_t meanings[] = {TESSERA_EMU_SCOPE_BLOCK, TESSERA_EMU_SCOPE_DEVICE,
                                                 TESSERA_EMU_SCOPE_DEVICE, TESSERA_EMU_SCOPE_SYSTEM};
  TileBuilder b = tileBuilderBefore(op);
  int scope = whichOf(op, "scope", scopes);
  MlirValue operands[] = {emulatorI32(build, &b, TESSERA_EMU_SEQUENTIAL),
                          emulatorI32(build, &b, scope < 0 ? row->number : (int64_t)meanings[scope])};
  emulatorCallAt(build, &b, op, "tessera_emu_fence", none, 2, operands);
  emulatorReplace(op, nothing);
  return true;
}

//===--- copies, matrices in shared memory ---------------------------------------------===//

// cp.async to, from, source size?
static bool lowerCopyAsync(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  int64_t size = emulatorInteger(op, "size", 0);
  (void)row;
  MlirValue operands[] = {emulatorFlat(build, &b, nvvmCpAsyncOpGetDst(op)),
                          emulatorFlat(build, &b, nvvmCpAsyncOpGetSrc(op)), emulatorI32(build, &b, size),
                          orNumber(build, &b, nvvmCpAsyncOpGetCpSize(op), size)};
  emulatorCallAt(build, &b, op, "tessera_emu_copy_async", none, 4, operands);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerCopyCommit(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  emulatorCall(build, &b, "tessera_emu_copy_commit", none, 1, &build->self);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerCopyWait(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue pending = emulatorI32(build, &b, emulatorInteger(op, "n", 0));
  (void)row;
  emulatorCallAt(build, &b, op, "tessera_emu_copy_wait", none, 1, &pending);
  emulatorReplace(op, nothing);
  return true;
}

static bool isPlainMatrix(MlirOperation op) { // 8 x 8 of 16 bits
  char shape[64];
  MlirAttribute said = tileOpAttribute(op, "shape");
  if (!mlirAttributeIsNull(said) && !strstr(tileAttributeText(said, shape, sizeof shape), "m = 8, n = 8"))
    return false;
  return !emulatorHas(op, "eltType") || emulatorSays(op, "eltType", "b16");
}

// A lane's tessera_moved_t, in the frame behind its four registers.
static MlirValue moved(EmulatorBuild *build, TileBuilder *b, MlirValue row) {
  MlirValue at = emulatorFrame(build, b, 16, sizeof(tessera_moved_t));
  emulatorStore(build, b, emulatorFlat(build, b, row), at);
  emulatorStore(build, b, emulatorFrame(build, b, 0, 16),
                emulatorOffset(build, b, at, offsetof(tessera_moved_t, words)));
  return at;
}

static bool isCount(int64_t count) { return count == 1 || count == 2 || count == 4; }

static bool lowerLdmatrix(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  int64_t count = emulatorInteger(op, "num", 0);
  (void)row;
  if (!isPlainMatrix(op) || !isCount(count))
    return emulatorRefuse(build, op, "is not of 1, 2 or 4 matrices of 8 x 8 x 16 bits");
  emulatorCollective(build, &b, op, tessera_emu_move_matrices,
                     tessera_emu_move((uint32_t)count, emulatorSays(op, "layout", "col"), false),
                     moved(build, &b, nvvmLdMatrixOpGetPtr(op)));
  emulatorReplace(op, emulatorLoadPacked(build, &b, nvvmLdMatrixOpGetResType(op), 0));
  return true;
}

static bool lowerStmatrix(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = mlirOperationGetNumOperands(op) - 1;
  (void)row;
  if (!isPlainMatrix(op) || !isCount(count))
    return emulatorRefuse(build, op, "is not of 1, 2 or 4 matrices of 8 x 8 x 16 bits");
  emulatorStoreOperands(build, &b, op, 1, count, 0);
  emulatorCollective(build, &b, op, tessera_emu_move_matrices,
                     tessera_emu_move((uint32_t)count, emulatorSays(op, "layout", "col"), true),
                     moved(build, &b, nvvmStMatrixOpGetPtr(op)));
  emulatorReplace(op, nothing);
  return true;
}

//===--- arithmetic -----------------------------------------------------------------===//

static bool lowerReciprocal(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue one = llvmConstantOpBuild(&b, build->f32, mlirFloatAttrDoubleGet(build->context, build->f32, 1.0));
  (void)row;
  emulatorReplace(op, llvmFDivOpBuild(&b, one, tileOnlyOperand(op)));
  return true;
}

static bool lowerTf32(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const modes[] = {"rn", "rna", NULL};
  TileBuilder b = tileBuilderBefore(op);
  int mode = whichOf(op, "rnd", modes);
  (void)row;
  if (mode < 0 || emulatorInteger(op, "relu", 0) || emulatorSays(op, "sat", "satfinite"))
    return emulatorRefuse(build, op, "rounds in a way the emulator does not know");
  MlirValue operands[] = {emulatorToBits(build, &b, nvvmConvertFloatToTF32OpGetSrc(op)), emulatorI32(build, &b, mode)};
  emulatorReplace(op, emulatorCall(build, &b, "tessera_emu_tf32", build->i32, 2, operands));
  return true;
}

// prmt low, high?, selector
static bool lowerPermute(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  static const char *const modes[] = {"default", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16", NULL};
  TileBuilder b = tileBuilderBefore(op);
  int mode = whichOf(op, "mode", modes);
  (void)row;
  if (mode < 0)
    return emulatorRefuse(build, op, "has a mode the emulator does not know");
  MlirValue operands[] = {nvvmPermuteOpGetLo(op), orNumber(build, &b, nvvmPermuteOpGetHi(op), 0),
                          nvvmPermuteOpGetSelector(op), emulatorI32(build, &b, mode)};
  emulatorReplace(op, emulatorCall(build, &b, "tessera_emu_prmt", build->i32, 4, operands));
  return true;
}

// dp4a, dp2a; `number`: 4 or 2.
static bool lowerDot(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  static const char *const signs[] = {"unsigned", "signed", NULL};
  int a = whichOf(op, "a_type", signs), c = whichOf(op, "b_type", signs);
  if (a < 0 || c < 0)
    return emulatorRefuse(build, op, "has operands the emulator does not know");
  MlirValue operands[] = {emulatorToBits(build, &b, nvvmDotAccumulate4WayOpGetA(op)),
                          emulatorToBits(build, &b, nvvmDotAccumulate4WayOpGetB(op)), nvvmDotAccumulate4WayOpGetC(op),
                          emulatorI32(build, &b, a | c << 1 | (emulatorInteger(op, "b_hi", 0) ? 4 : 0))};
  emulatorReplace(
      op, emulatorCall(build, &b, row->number == 4 ? "tessera_emu_dp4a" : "tessera_emu_dp2a", build->i32, 4, operands));
  return true;
}

static bool lowerClock(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue now = emulatorCall(build, &b, "tessera_emu_clock", build->i64, 1, &build->self);
  emulatorReplace(op, emulatorFromBits(build, &b, now, tileOnlyResultType(op)));
  return true;
}

const EmulatorRow emulatorNvvmRows[] = {
    {nvvmThreadIdXOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[0])},
    {nvvmThreadIdYOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[1])},
    {nvvmThreadIdZOpName, emulatorLowerField, NULL, EMULATOR_THREAD(id[2])},
    {nvvmLaneIdOpName, emulatorLowerField, NULL, EMULATOR_THREAD(lane)},
    {nvvmWarpIdOpName, emulatorLowerField, NULL, EMULATOR_THREAD(own_warp)},
    {nvvmBlockIdXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[0])},
    {nvvmBlockIdYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[1])},
    {nvvmBlockIdZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(id[2])},
    {nvvmBlockDimXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[0])},
    {nvvmBlockDimYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[1])},
    {nvvmBlockDimZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(size[2])},
    {nvvmGridDimXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[0])},
    {nvvmGridDimYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[1])},
    {nvvmGridDimZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(grid[2])},
    {nvvmWarpSizeOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(warp_width)},
    {nvvmBlockInClusterIdXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(place[0])},
    {nvvmBlockInClusterIdYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(place[1])},
    {nvvmBlockInClusterIdZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(place[2])},
    {nvvmClusterDimBlocksXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster[0])},
    {nvvmClusterDimBlocksYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster[1])},
    {nvvmClusterDimBlocksZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster[2])},
    {nvvmClusterIdXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster_id[0])},
    {nvvmClusterIdYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster_id[1])},
    {nvvmClusterIdZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(cluster_id[2])},
    {nvvmClusterDimXOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(clusters[0])},
    {nvvmClusterDimYOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(clusters[1])},
    {nvvmClusterDimZOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(clusters[2])},
    {nvvmClusterIdOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(rank)},
    {nvvmClusterDimOpName, emulatorLowerField, NULL, EMULATOR_BLOCK(ranks)},
    {nvvmSmIdOpName, emulatorLowerNumber, NULL, 0},
    {nvvmSmDimOpName, emulatorLowerNumber, NULL, 1},
    {nvvmGridIdOpName, emulatorLowerNumber, NULL, 0},
    {nvvmLaneMaskEqOpName, lowerLaneMask, NULL, 0},
    {nvvmLaneMaskLeOpName, lowerLaneMask, NULL, 1},
    {nvvmLaneMaskLtOpName, lowerLaneMask, NULL, 2},
    {nvvmLaneMaskGeOpName, lowerLaneMask, NULL, 3},
    {nvvmLaneMaskGtOpName, lowerLaneMask, NULL, 4},
    {nvvmClockOpName, lowerClock, NULL, 0},
    {nvvmClock64OpName, lowerClock, NULL, 0},
    {nvvmGlobalTimerOpName, lowerClock, NULL, 0},
    {nvvmGlobalTimerLoOpName, lowerClock, NULL, 0},
    {nvvmBarrier0OpName, emulatorLowerBarrier0, NULL, 0},
    {nvvmBarrierOpName, lowerBarrier, NULL, 0},
    {nvvmBarrierArriveOpName, lowerBarrierArrive, NULL, 0},
    {nvvmSyncWarpOpName, lowerWarpSync, "tessera_emu_warp_sync", 0},
    {nvvmMembarOpName, lowerMembar, NULL, TESSERA_EMU_SCOPE_SYSTEM},
    {nvvmFenceScClusterOpName, lowerMembar, NULL, TESSERA_EMU_SCOPE_DEVICE},
    {nvvmShflOpName, lowerShuffle, NULL, 0},
    {nvvmVoteSyncOpName, lowerVote, NULL, 0},
    {nvvmMatchSyncOpName, lowerMatch, NULL, 0},
    {nvvmReduxOpName, lowerRedux, NULL, 0},
    {nvvmElectSyncOpName, lowerElect, NULL, 0},
    {nvvmCpAsyncOpName, lowerCopyAsync, NULL, 0},
    {nvvmCpAsyncCommitGroupOpName, lowerCopyCommit, NULL, 0},
    {nvvmCpAsyncWaitGroupOpName, lowerCopyWait, NULL, 0},
    {nvvmLdMatrixOpName, lowerLdmatrix, NULL, 0},
    {nvvmStMatrixOpName, lowerStmatrix, NULL, 0},
    {nvvmMmaOpName, emulatorLowerMmaSync, NULL, 0},
    {nvvmMmaSpOpName, emulatorLowerMmaSparse, NULL, 0},
    {nvvmWMMALoadOpName, emulatorLowerWarpLoad, NULL, 0},
    {nvvmWMMAStoreOpName, emulatorLowerWarpStore, NULL, 0},
    {nvvmWMMAMmaOpName, emulatorLowerWarpMma, NULL, 0},
    {nvvmRcpApproxFtzF32OpName, lowerReciprocal, NULL, 0},
    {nvvmConvertFloatToTF32OpName, lowerTf32, NULL, 0},
    {nvvmPermuteOpName, lowerPermute, NULL, 0},
    {nvvmDotAccumulate4WayOpName, lowerDot, NULL, 4},
    {nvvmDotAccumulate2WayOpName, lowerDot, NULL, 2},
    {nvvmPrefetchOpName, emulatorLowerNothing, NULL, 0},
    {nvvmNanosleepOpName, emulatorLowerNothing, NULL, 0},
    {nvvmPMEventOpName, emulatorLowerNothing, NULL, 0},
    {nvvmGriddepcontrolOpName, emulatorLowerNothing, NULL, 0},
    {nvvmSetMaxRegisterOpName, emulatorLowerNothing, NULL, 0},
    {NULL, NULL, NULL, 0},
};
