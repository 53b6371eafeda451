// Rows for what is new on sm_100a: tensor memory, and products on it (tcgen05).
#include "lib/emulator/compile/products_ops.h"

#include "lib/emulator/lanes/tcgen05.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

static const MlirType none;
static const MlirValue nothing;

static bool isOneBlock(EmulatorBuild *build, MlirOperation op) {
  return emulatorSays(op, "group", "cta_1") || emulatorSays(op, "ctaGroup", "cta_1") ||
         (!emulatorSays(op, "group", "cta_2") && !emulatorSays(op, "ctaGroup", "cta_2")) ||
         emulatorRefuse(build, op, "works on the tensor memory of two blocks, which the emulator does not know");
}

// An address in tensor memory is 32 bits, however wide the pointer is.
static MlirValue addressOf(EmulatorBuild *build, TileBuilder *b, MlirValue pointer) {
  return llvmTruncOpBuild(b, build->i32, llvmPtrToIntOpBuild(b, build->i64, pointer));
}

//===--- what a warp does together --------------------------------------------------------===//

// What a lane hands in: the words that it loads or stores lie at the frame's begin.
typedef struct Contribution {
  MlirValue address, columns, place; // i32; i32; a pointer: null for none
  uint32_t words;
} Contribution;

static MlirValue contribute(EmulatorBuild *build, TileBuilder *b, const Contribution *what) {
  uint32_t at = (what->words * 4 + 7) / 8 * 8;
  MlirValue given = emulatorFrame(build, b, at, sizeof(tessera_emu_tensor_t)), zero = emulatorI32(build, b, 0);
  emulatorStore(build, b, mlirValueIsNull(what->address) ? zero : what->address,
                emulatorOffset(build, b, given, offsetof(tessera_emu_tensor_t, address)));
  emulatorStore(build, b, mlirValueIsNull(what->columns) ? zero : what->columns,
                emulatorOffset(build, b, given, offsetof(tessera_emu_tensor_t, columns)));
  emulatorStore(build, b, mlirValueIsNull(what->place) ? emulatorAddress(build, b, NULL) : what->place,
                emulatorOffset(build, b, given, offsetof(tessera_emu_tensor_t, place)));
  emulatorStore(build, b, emulatorFrame(build, b, 0, what->words * 4),
                emulatorOffset(build, b, given, offsetof(tessera_emu_tensor_t, words)));
  return given;
}

static void meet(EmulatorBuild *build, TileBuilder *b, MlirOperation op, tessera_emu_meaning_t meaning,
                 const Contribution *what) {
  emulatorCollective(build, b, op, meaning, NULL, contribute(build, b, what));
}

static bool lowerAllocate(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  Contribution what = {.columns = nvvmTcgen05AllocOpGetNCols(op),
                       .place = emulatorFlat(build, &b, nvvmTcgen05AllocOpGetAddr(op))};
  meet(build, &b, op, tessera_emu_tensor_allocate, &what);
  emulatorReplace(op, nothing);
  return isOneBlock(build, op);
}

static bool lowerGiveBack(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  Contribution what = {.columns = nvvmTcgen05DeallocOpGetNCols(op),
                       .address = addressOf(build, &b, nvvmTcgen05DeallocOpGetTaddr(op))};
  bool ok = isOneBlock(build, op);
  meet(build, &b, op, tessera_emu_tensor_give_back, &what);
  emulatorReplace(op, nothing);
  return ok;
}

static bool lowerRelinquish(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  meet(build, &b, op, tessera_emu_tensor_relinquish, &(Contribution){.words = 0});
  emulatorReplace(op, nothing);
  return true;
}

// A row of 32 lanes by 32 bits: each lane's words are neighbouring columns.
static bool isPlainShape(EmulatorBuild *build, MlirOperation op) {
  return (emulatorSays(op, "shape", "shape_32x32b") && !emulatorHas(op, "pack") && !emulatorHas(op, "unpack")) ||
         emulatorRefuse(build, op, "has another shape than 32x32b, which the emulator does not know");
}

static bool lowerLoad(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  uint32_t words = (uint32_t)emulatorBytes(type) / 4;
  (void)row;
  if (!isPlainShape(build, op))
    return false;
  Contribution what = {.address = addressOf(build, &b, nvvmTcgen05LdOpGetTmemAddr(op)),
                       .columns = emulatorI32(build, &b, words),
                       .words = words};
  meet(build, &b, op, tessera_emu_tensor_load, &what);
  emulatorReplace(op, emulatorLoad(build, &b, type, emulatorFrame(build, &b, 0, words * 4)));
  return true;
}

static bool lowerStore(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue value = nvvmTcgen05StOpGetVal(op);
  uint32_t words = (uint32_t)emulatorBytes(mlirValueGetType(value)) / 4;
  (void)row;
  if (!isPlainShape(build, op))
    return false;
  emulatorStore(build, &b, value, emulatorFrame(build, &b, 0, words * 4));
  Contribution what = {.address = addressOf(build, &b, nvvmTcgen05StOpGetTmemAddr(op)),
                       .columns = emulatorI32(build, &b, words),
                       .words = words};
  meet(build, &b, op, tessera_emu_tensor_store, &what);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerWait(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  meet(build, &b, op, emulatorSays(op, "kind", "load") ? tessera_emu_tensor_wait_loads : tessera_emu_tensor_wait_stores,
       &(Contribution){.words = 0});
  emulatorReplace(op, nothing);
  return true;
}

bool emulatorLowerTensorWait(EmulatorBuild *build, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  uint32_t end = emulatorStoreOperands(build, &b, op, 0, mlirOperationGetNumOperands(op), 0);
  meet(build, &b, op, tessera_emu_tensor_wait_loads, &(Contribution){.words = (end + 3) / 4});
  emulatorReplace(op,
                  mlirOperationGetNumResults(op) ? emulatorLoadPacked(build, &b, tileOnlyResultType(op), 0) : nothing);
  return true;
}

//===--- what a thread does ---------------------------------------------------------------===//

static bool lowerFence(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  MlirValue isAfter = emulatorI32(build, &b, emulatorSays(op, "kind", "after"));
  emulatorCallAt(build, &b, op, "tessera_emu_tensor_fence", none, 1, &isAfter);
  emulatorReplace(op, nothing);
  return true;
}

static bool lowerCommit(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  (void)row;
  if (!isOneBlock(build, op))
    return false;
  if (!mlirValueIsNull(nvvmTcgen05CommitOpGetMulticastMask(op)))
    return emulatorRefuse(build, op, "signals barriers of several blocks, which the emulator does not know");
  MlirValue barrier = emulatorFlat(build, &b, nvvmTcgen05CommitOpGetAddr(op));
  emulatorCallAt(build, &b, op, "tessera_emu_tensor_commit", none, 1, &barrier);
  emulatorReplace(op, nothing);
  return true;
}

static bool kindOf(MlirOperation op, int *kind) {
  static const char *const names[] = {"f16", "tf32", "f8f6f4", "i8"};
  for (*kind = 0; *kind < 4; ++*kind) {
    char text[16];
    snprintf(text, sizeof text, "<%s>", names[*kind]);
    if (emulatorSays(op, "kind", text))
      return true;
  }
  return false;
}

static bool lowerProduct(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue left = nvvmTcgen05MMAOpGetMatrixA(op);
  int kind;
  (void)row;
  if (!isOneBlock(build, op))
    return false;
  bool inTensor = !mlirTypeEqual(mlirValueGetType(left), build->i64);
  if (emulatorHas(op, "aShift") || !mlirValueIsNull(nvvmTcgen05MMAOpGetScaleInputD(op)) ||
      !mlirValueIsNull(nvvmTcgen05MMAOpGetDisableOutputLane(op)))
    return emulatorRefuse(build, op, "has a shift, a scale or a mask, which the emulator does not know");
  if (!kindOf(op, &kind))
    return emulatorRefuse(build, op, "its kind is not known to the emulator");
  MlirValue operands[] = {addressOf(build, &b, nvvmTcgen05MMAOpGetMatrixD(op)),
                          inTensor ? llvmZExtOpBuild(&b, build->i64, addressOf(build, &b, left)) : left,
                          nvvmTcgen05MMAOpGetMatrixB(op),
                          nvvmTcgen05MMAOpGetIdesc(op),
                          llvmZExtOpBuild(&b, build->i32, nvvmTcgen05MMAOpGetEnableInputD(op)),
                          emulatorI32(build, &b, kind),
                          emulatorI32(build, &b, inTensor)};
  emulatorCallAt(build, &b, op, "tessera_emu_tensor_multiply", none, 7, operands);
  emulatorReplace(op, nothing);
  return true;
}

const EmulatorRow emulatorBlackwellRows[] = {
    {nvvmTcgen05AllocOpName, lowerAllocate, NULL, 0},
    {nvvmTcgen05DeallocOpName, lowerGiveBack, NULL, 0},
    {nvvmTcgen05RelinquishAllocPermitOpName, lowerRelinquish, NULL, 0},
    {nvvmTcgen05FenceOpName, lowerFence, NULL, 0},
    {nvvmTcgen05WaitOpName, lowerWait, NULL, 0},
    {nvvmTcgen05CommitOpName, lowerCommit, NULL, 0},
    {nvvmTcgen05LdOpName, lowerLoad, NULL, 0},
    {nvvmTcgen05StOpName, lowerStore, NULL, 0},
    {nvvmTcgen05MMAOpName, lowerProduct, NULL, 0},
    {NULL, NULL, NULL, 0},
};
