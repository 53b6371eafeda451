// Ids, barriers, shuffles, asynchronous copies, messages: what the engine asks for, as ops of the nvvm dialect.
#include "lib/conversion/tile_to_nvvm/nvvm.h"

#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

static MlirValue word(TileBuilder *builder, int64_t value) {
  return tileBuildInteger(builder, i32Type(builder->context), value);
}

static MlirAttribute wordAttribute(TileBuilder *builder, int64_t value) {
  return mlirIntegerAttrGet(i32Type(builder->context), value);
}

//===--- module and kernel --------------------------------------------------------------===//

static MlirAttribute target(const TileBuilder *builder, const TileMachine *machine) {
  const char *chip = tileMachineGetText(machine, "chip"), *features = tileMachineGetText(machine, "features");
  return nvvmTargetAttr(builder, 3, chip, features ? features : "");
}

static void markKernel(MlirOperation function, int64_t threads) {
  MlirContext context = mlirOperationGetContext(function);
  int32_t sizes[] = {(int32_t)threads, 1, 1};
  mlirOperationSetAttributeByName(function, tileString("nvvm.kernel"), mlirUnitAttrGet(context));
  mlirOperationSetAttributeByName(function, tileString("nvvm.reqntid"), mlirDenseI32ArrayGet(context, 3, sizes));
}

static void limitRegisters(MlirOperation function, int64_t registers) {
  MlirType type = i32Type(mlirOperationGetContext(function));
  mlirOperationSetAttributeByName(function, tileString("nvvm.maxnreg"), mlirIntegerAttrGet(type, registers));
}

//===--- ids ------------------------------------------------------------------------------===//

static MlirValue threadId(TileBuilder *builder) { return nvvmThreadIdXOpBuild(builder, i32Type(builder->context)); }

typedef MlirValue (*ReadRegister)(TileBuilder *builder, MlirType type);

static MlirValue programId(TileBuilder *builder, int axis) {
  static const ReadRegister read[] = {nvvmBlockIdXOpBuild, nvvmBlockIdYOpBuild, nvvmBlockIdZOpBuild};
  return read[axis](builder, i32Type(builder->context));
}

static MlirValue numPrograms(TileBuilder *builder, int axis) {
  static const ReadRegister read[] = {nvvmGridDimXOpBuild, nvvmGridDimYOpBuild, nvvmGridDimZOpBuild};
  return read[axis](builder, i32Type(builder->context));
}

//===--- between threads --------------------------------------------------------------------===//

static void barrier(TileBuilder *builder) { nvvmBarrier0OpBuild(builder); }

static MlirValue shuffle(TileBuilder *builder, NvvmShflKind kind, MlirValue value, MlirValue lane) {
  return nvvmShflOpBuild(builder, i32Type(builder->context), word(builder, -1), value, lane, word(builder, 31), kind);
}

static MlirValue shuffleXor(TileBuilder *builder, MlirValue value, int64_t mask) {
  return shuffle(builder, NvvmShflKind_Bfly, value, word(builder, mask));
}

static MlirValue shuffleFrom(TileBuilder *builder, MlirValue value, MlirValue lane) {
  return shuffle(builder, NvvmShflKind_Idx, value, lane);
}

//===--- fragments from shared memory ---------------------------------------------------------===//

static void loadMatrix(TileBuilder *builder, MlirValue address, int count, bool transposed, MlirValue *words) {
  MlirContext context = builder->context;
  MlirType type = i32Type(context), types[] = {type, type, type, type};
  MlirType result = count == 1 ? type : mlirLLVMStructTypeLiteralGet(context, count, types, false);
  MlirValue loaded = nvvmLdMatrixOpBuild(builder, result, address, wordAttribute(builder, count),
                                         transposed ? NvvmMMALayout_Col : NvvmMMALayout_Row,
                                         nvvmLdStMatrixShapeAttr(builder, 8, 8), NvvmLdStMatrixEltType_B16);
  for (int i = 0; i < count; ++i) {
    int64_t at = i;
    words[i] =
        count == 1 ? loaded : llvmExtractValueOpBuild(builder, type, loaded, mlirDenseI64ArrayGet(context, 1, &at));
  }
}

static void storeMatrix(TileBuilder *builder, MlirValue address, int count, bool transposed, const MlirValue *words) {
  nvvmStMatrixOpCreate(
      builder, address, count, words, nvvmMMALayoutAttr(builder, transposed ? NvvmMMALayout_Col : NvvmMMALayout_Row),
      nvvmLdStMatrixShapeAttr(builder, 8, 8), nvvmLdStMatrixEltTypeAttr(builder, NvvmLdStMatrixEltType_B16));
}

//===--- functions ------------------------------------------------------------------------------===//

// LLVM's exp2 keeps subnormal results, which takes four instructions. nvvm has no op for the one.
static MlirValue powerOfTwo(TileBuilder *builder, MlirValue x) {
  MlirContext context = builder->context;
  MlirOperation assembly = llvmInlineAsmOpBuild(builder, mlirF32TypeGet(context), 1, &x,
                                                mlirStringAttrGet(context, tileString("ex2.approx.ftz.f32 $0, $1;")),
                                                mlirStringAttrGet(context, tileString("=f,f")));
  return llvmInlineAsmOpGetRes(assembly);
}

//===--- asynchronous copies --------------------------------------------------------------------===//

// Sixteen bytes go past the first-level cache, less cannot. LLVM's back end would make a selection by `a and b` two
// selections, which the assembler cannot join again to the instruction's predicate; it leaves a frozen condition whole.
static void copyAsync(TileBuilder *builder, MlirValue shared, MlirValue global, int64_t bytes, MlirValue valid) {
  MlirValue read = {NULL};
  if (!mlirValueIsNull(valid))
    read = arithSelectOpBuild(builder, llvmFreezeOpBuild(builder, valid), word(builder, bytes), word(builder, 0));
  nvvmCpAsyncOpBuild(builder, shared, global, read, wordAttribute(builder, bytes),
                     bytes == 16 ? NvvmLoadCacheModifier_Cg : NvvmLoadCacheModifier_Ca);
}

static void commitCopies(TileBuilder *builder) { nvvmCpAsyncCommitGroupOpBuild(builder); }

static void waitCopies(TileBuilder *builder, int64_t pending) {
  nvvmCpAsyncWaitGroupOpBuild(builder, wordAttribute(builder, pending));
}

//===--- memory ---------------------------------------------------------------------------------===//

static const char *scope(MlirStringRef name) {
  static const char *const scopes[][2] = {
      {"block", "block"}, {"cluster", "cluster"}, {"device", "device"}, {"system", ""}};
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; ++i)
    if (tileStringEquals(name, scopes[i][0]))
      return scopes[i][1];
  return "";
}

const GpuVocabulary tileNvvmVocabulary = {
    .isa = "ptx",
    .chip = "sm_80",
    .target = target,
    .markKernel = markKernel,
    .limitRegisters = limitRegisters,
    .threadId = threadId,
    .programId = programId,
    .numPrograms = numPrograms,
    .barrier = barrier,
    .powerOfTwo = powerOfTwo,
    .shuffleXor = shuffleXor,
    .shuffleFrom = shuffleFrom,
    .mma = tileNvvmMma,
    .loadMatrix = loadMatrix,
    .storeMatrix = storeMatrix,
    .copyAsync = copyAsync,
    .commitCopies = commitCopies,
    .waitCopies = waitCopies,
    .scope = scope,
    .engines = &tileNvvmEngines,
};
