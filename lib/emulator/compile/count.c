// Counts the instructions of each block by class, as the llvm dialect has them, and has the block say so when it runs.
// Memory, barriers and matrix instructions are counted where they happen. Before anything else is rewritten.
// For predictions of time, also where what was loaded is wanted first.
#include "lib/emulator/compile/program.h"

#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"
#include "upstream/rocdl.h"

typedef struct Counts {
  int64_t classes[TESSERA_EMU_CLASSES], flops;
} Counts;

static const char *const floatingOps[] = {llvmFAddOpName,     llvmFSubOpName,
                                          llvmFMulOpName,     llvmFDivOpName,
                                          llvmFRemOpName,     llvmFNegOpName,
                                          llvmFCmpOpName,     llvmFPTruncOpName,
                                          llvmFPExtOpName,    llvmSIToFPOpName,
                                          llvmUIToFPOpName,   llvmFPToSIOpName,
                                          llvmFPToUIOpName,   llvmFMAOpName,
                                          llvmFMulAddOpName,  llvmFAbsOpName,
                                          llvmMaxNumOpName,   llvmMinNumOpName,
                                          llvmMaximumOpName,  llvmMinimumOpName,
                                          llvmCopySignOpName, NULL};
static const char *const specialOps[] = {llvmExpOpName,
                                         llvmExp2OpName,
                                         llvmLogOpName,
                                         llvmLog2OpName,
                                         llvmLog10OpName,
                                         llvmSinOpName,
                                         llvmCosOpName,
                                         llvmSqrtOpName,
                                         llvmPowOpName,
                                         llvmPowIOpName,
                                         llvmTanhOpName,
                                         nvvmRcpApproxFtzF32OpName,
                                         rocdlROCDLRcpOpName,
                                         rocdlROCDLExp2OpName,
                                         rocdlROCDLLogOpName,
                                         rocdlROCDLSqrtOpName,
                                         NULL};
static const char *const controlOps[] = {llvmBrOpName, llvmCondBrOpName, llvmSwitchOpName, llvmReturnOpName, NULL};
// No instruction at all.
static const char *const freeOps[] = {llvmConstantOpName,
                                      llvmUndefOpName,
                                      llvmPoisonOpName,
                                      llvmZeroOpName,
                                      llvmAddressOfOpName,
                                      llvmExtractValueOpName,
                                      llvmInsertValueOpName,
                                      llvmBitcastOpName,
                                      llvmIntToPtrOpName,
                                      llvmPtrToIntOpName,
                                      llvmAddrSpaceCastOpName,
                                      llvmExtractElementOpName,
                                      llvmInsertElementOpName,
                                      llvmShuffleVectorOpName,
                                      llvmAllocaOpName,
                                      llvmUnreachableOpName,
                                      llvmAssumeOpName,
                                      llvmLoadOpName,
                                      llvmStoreOpName,
                                      llvmAtomicRMWOpName,
                                      llvmAtomicCmpXchgOpName,
                                      llvmFenceOpName,
                                      NULL};

static bool isOneOf(MlirOperation op, const char *const *names) {
  for (; *names; ++names)
    if (tileOpIs(op, *names))
      return true;
  return false;
}

static int64_t elementsOf(MlirOperation op) {
  MlirType type = tileResultType(op, 0);
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetDimSize(type, 0) : 1;
}

static int64_t flopsOf(MlirOperation op) {
  if (llvmFMAOpIsA(op) || llvmFMulAddOpIsA(op))
    return 2 * elementsOf(op);
  for (int i = 0; i < 6; ++i) // fadd to fneg
    if (tileOpIs(op, floatingOps[i]))
      return elementsOf(op);
  return isOneOf(op, specialOps) ? elementsOf(op) : 0;
}

static bool isMathCall(MlirOperation op) {
  return llvmCallOpIsA(op) && (emulatorSays(op, "callee", "@__nv_") || emulatorSays(op, "callee", "@__ocml_"));
}

static void count(MlirOperation op, Counts *counts) {
  if (isOneOf(op, freeOps))
    return;
  counts->flops += flopsOf(op);
  if (isOneOf(op, floatingOps))
    counts->classes[TESSERA_EMU_FLOATING] += elementsOf(op);
  else if (isOneOf(op, specialOps) || isMathCall(op))
    ++counts->classes[TESSERA_EMU_SPECIAL];
  else if (isOneOf(op, controlOps) || llvmCallOpIsA(op))
    ++counts->classes[TESSERA_EMU_CONTROL];
  else if (mlirOperationGetNumResults(op) && tileOpIsOfDialect(op, "llvm"))
    counts->classes[TESSERA_EMU_INTEGER] += elementsOf(op);
}

static void tell(EmulatorBuild *build, MlirBlock block, const Counts *counts) {
  MlirOperation first = mlirBlockGetFirstOperation(block);
  TileBuilder b = tileBuilderAtStart(block, mlirOperationGetLocation(first));
  for (int i = 0; i < TESSERA_EMU_CLASSES; ++i)
    if (counts->classes[i]) {
      MlirValue operands[] = {build->self, emulatorI32(build, &b, i), emulatorI32(build, &b, counts->classes[i])};
      emulatorCall(build, &b, "tessera_emu_count", (MlirType){NULL}, 3, operands);
    }
  if (counts->flops) {
    MlirValue operands[] = {build->self, emulatorI64(build, &b, counts->flops)};
    emulatorCall(build, &b, "tessera_emu_count_flops", (MlirType){NULL}, 2, operands);
  }
}

void emulatorCountBlocks(EmulatorBuild *build, MlirRegion body) {
  for (MlirBlock block = mlirRegionGetFirstBlock(body); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block)) {
    Counts counts = {.flops = 0};
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
      count(op, &counts);
    tell(build, block, &counts);
  }
}

//===--- uses ---------------------------------------------------------------------===//

static const char *const loadOps[] = {llvmLoadOpName, llvmMaskedLoadOpName, nvvmLdMatrixOpName, NULL};

static bool loads(MlirOperation op) {
  return isOneOf(op, loadOps) ||
         !strncmp(tileOpName(op).data, rocdlRawPtrBufferLoadOpName, strlen(rocdlRawPtrBufferLoadOpName));
}

// The first op of the block that does something with the value; what only takes it apart does not. A value that another
// block uses is wanted at the end of this one: a loop that loads ahead has had its body's time. `visits` bounds the
// search.
static void findFirstUse(MlirValue value, MlirBlock block, MlirOperation *first, int *visits) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use) && --*visits > 0;
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!mlirBlockEqual(mlirOperationGetBlock(user), block))
      user = mlirBlockGetTerminator(block);
    bool takesApart = isOneOf(user, freeOps) && mlirOperationGetNumResults(user) == 1 && !loads(user);
    if (takesApart)
      findFirstUse(mlirOperationGetResult(user, 0), block, first, visits);
    else if (mlirOperationIsNull(*first) || mlirOperationIsBeforeInBlock(user, *first))
      *first = user;
  }
}

void emulatorMarkUses(EmulatorBuild *build, const TileOps *ops) {
  build->use = build->useEnd = build->program->siteCount;
  for (intptr_t i = 0; i < ops->count; ++i) {
    MlirOperation op = ops->items[i], first = {NULL};
    int visits = 256;
    if (!loads(op) || !mlirOperationGetNumResults(op))
      continue;
    findFirstUse(mlirOperationGetResult(op, 0), mlirOperationGetBlock(op), &first, &visits);
    if (mlirOperationIsNull(first))
      continue;
    TileBuilder b = tileBuilderBefore(first);
    MlirValue operands[] = {build->self, emulatorI32(build, &b, emulatorSite(build, op))};
    emulatorCall(build, &b, "tessera_emu_use", (MlirType){NULL}, 2, operands);
  }
  build->useEnd = build->program->siteCount;
}
