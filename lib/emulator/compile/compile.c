// gpu.module -> code of the host. A copy of its functions and globals becomes a module of its own, in which every op
// that only a GPU has is a call of the machine or of instructions/, shared memory is the block's window, and each
// function takes the thread in front; LLVM compiles that. Why at this level: nvvm and rocdl ops still say what they
// mean, after translation many are inline assembly. Nothing is run before every op is known.
#include "lib/emulator/compile/common.h"
#include "lib/emulator/compile/intrinsics.h"
#include "lib/emulator/compile/private_memory.h"
#include "lib/emulator/compile/products_ops.h"
#include "lib/emulator/compile/program.h"
#include "lib/emulator/compile/subnormals.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "mlir-c/RegisterEverything.h"
#include "mlir-c/Target/LLVMIR.h"
#include "upstream/builtin.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"

#include <stdlib.h>

//===--- rows -------------------------------------------------------------------===//

static size_t matchLength(const char *name, MlirStringRef op) {
  size_t length = strlen(name);
  if (name[length - 1] == '*')
    return length - 1 <= op.length && !strncmp(name, op.data, length - 1) ? length - 1 : 0;
  return tileStringEquals(op, name) ? length + 1 : 0;
}

static const EmulatorRow *findRow(MlirOperation op) {
  const EmulatorRow *const tables[] = {emulatorLlvmRows, emulatorNvvmRows, emulatorHopperRows, emulatorBlackwellRows,
                                       emulatorRocdlRows};
  const EmulatorRow *best = NULL;
  size_t longest = 0;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
    for (const EmulatorRow *row = tables[i]; row->name; ++row) {
      size_t length = matchLength(row->name, tileOpName(op));
      if (length > longest) {
        longest = length;
        best = row;
      }
    }
  return best;
}

static void lowerOp(EmulatorBuild *build, MlirOperation op) {
  const EmulatorRow *row = findRow(op);
  if (row)
    build->failed |= !row->lower(build, op, row);
  else if (!tileOpIsOfDialect(op, "llvm"))
    emulatorRefuse(build, op, "is not known to the emulator");
}

//===--- functions ----------------------------------------------------------------===//

static bool isDefinition(MlirOperation op) {
  return llvmLLVMFuncOpIsA(op) && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

static bool isKernel(MlirOperation op) {
  return isDefinition(op) &&
         (emulatorHas(op, "gpu.kernel") || emulatorHas(op, "nvvm.kernel") || emulatorHas(op, "rocdl.kernel") ||
          emulatorSays(op, "CConv", "ptx_kernel") || emulatorSays(op, "CConv", "amdgpu_kernel"));
}

// Its type with a pointer in front, and nothing else of what a GPU's function says of itself.
static void changeSignature(EmulatorBuild *build, MlirOperation function) {
  MlirType old = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t count = mlirLLVMFunctionTypeGetNumInputs(old);
  MlirType *types = malloc((size_t)(count + 1) * sizeof *types);
  types[0] = build->pointer;
  for (intptr_t i = 0; i < count; ++i)
    types[i + 1] = mlirLLVMFunctionTypeGetInput(old, i);
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMFunctionTypeGetReturnType(old), count + 1, types, false);
  free(types);
  while (mlirOperationGetNumDiscardableAttributes(function))
    mlirOperationRemoveDiscardableAttributeByName(
        function, mlirIdentifierStr(mlirOperationGetDiscardableAttribute(function, 0).name));
  static const char *const inherent[] = {"arg_attrs",       "res_attrs",      "passthrough", "target_cpu",
                                         "target_features", "memory_effects", "convergent",  "tune_cpu"};
  for (size_t i = 0; i < sizeof inherent / sizeof *inherent; ++i)
    mlirOperationRemoveAttributeByName(function, tileString(inherent[i]));
  mlirOperationSetAttributeByName(function, tileString("function_type"), mlirTypeAttrGet(type));
  mlirOperationSetAttributeByName(function, tileString("CConv"), mlirLLVMCConvAttrGet(build->context, MlirLLVMCConvC));
}

// The frame, the shared window's start and the thread, for all that follows.
static void openFunction(EmulatorBuild *build, MlirOperation function) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  MlirLocation location = mlirOperationGetLocation(function);
  build->function = function;
  build->self = mlirBlockInsertArgument(entry, 0, build->pointer, location);
  TileBuilder b = tileBuilderAtStart(entry, location);
  MlirValue size = emulatorI64(build, &b, 0);
  build->frameBytes = 0;
  build->fullMask = (MlirValue){NULL};
  build->frame = llvmAllocaOpCreate(&b, build->pointer, size, mlirIntegerAttrGet(build->i64, 64),
                                    mlirTypeAttrGet(build->i8), (MlirAttribute){NULL});
  MlirValue block = emulatorLoad(build, &b, build->pointer,
                                 emulatorOffset(build, &b, build->self, offsetof(tessera_emu_thread_t, block)));
  build->shared =
      emulatorLoad(build, &b, build->pointer, emulatorOffset(build, &b, block, offsetof(tessera_emu_block_t, shared)));
}

static void closeFunction(EmulatorBuild *build) {
  TileBuilder b = tileBuilderBefore(build->frame);
  llvmAllocaOpSetArraySize(build->frame, emulatorI64(build, &b, build->frameBytes));
}

// LLVM orders the instructions of a block in cubic time where many calls take selected addresses: 2000 instructions
// took a minute. So a long block goes on in another one, unless there is no block of threads: a question whose answer
// LLVM does not know.
static bool splitBlock(EmulatorBuild *build, MlirBlock block, MlirBlock end) {
  enum { MostOps = 512 };
  intptr_t count = 0;
  MlirOperation op = mlirBlockGetFirstOperation(block);
  while (!mlirOperationIsNull(op) && ++count < MostOps)
    op = mlirOperationGetNextInBlock(op);
  if (mlirOperationIsNull(op) || mlirOperationIsNull(mlirOperationGetNextInBlock(op)))
    return false;
  MlirBlock rest = mlirBlockCreate(0, NULL, NULL);
  mlirRegionInsertOwnedBlockAfter(mlirBlockGetParentRegion(block), block, rest);
  MlirLocation location = mlirOperationGetLocation(op);
  for (MlirOperation next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(rest, op);
  }
  TileBuilder b = tileBuilderAtEnd(block, location);
  MlirValue threads = emulatorLoad(build, &b, build->pointer,
                                   emulatorOffset(build, &b, build->self, offsetof(tessera_emu_thread_t, block)));
  llvmLoadOpSetVolatile(mlirOpResultGetOwner(threads), mlirUnitAttrGet(build->context));
  MlirValue goesOn = llvmICmpOpBuild(&b, threads, llvmZeroOpBuild(&b, build->pointer), LlvmICmp_Ne);
  llvmCondBrOpBuild(&b, goesOn, 0, NULL, 0, NULL, rest, end);
  return true;
}

static void splitBlocks(EmulatorBuild *build, MlirOperation function) {
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirType returned =
      mlirLLVMFunctionTypeGetReturnType(mlirTypeAttrGetValue(tileOpAttribute(function, "function_type")));
  MlirBlock end = mlirBlockCreate(0, NULL, NULL);
  TileBuilder b = tileBuilderAtEnd(end, mlirOperationGetLocation(function));
  bool returns = !mlirTypeEqual(returned, mlirLLVMVoidTypeGet(build->context));
  llvmReturnOpBuild(&b, returns ? llvmPoisonOpBuild(&b, returned) : (MlirValue){NULL});
  bool isSplit = false;
  for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    isSplit |= splitBlock(build, block, end);
  if (isSplit)
    mlirRegionAppendOwnedBlock(region, end);
  else
    mlirBlockDestroy(end);
}

static void lowerFunction(EmulatorBuild *build, MlirOperation function) {
  TileOps ops = tileCollect(function, NULL); // before anything is added: what we add needs no lowering
  emulatorMarkBarriers(build, &ops);
  changeSignature(build, function);
  openFunction(build, function);
  if (build->options->count)
    emulatorCountBlocks(build, mlirOperationGetRegion(function, 0));
  if (build->options->predict)
    emulatorMarkUses(build, &ops);
  emulatorAskForSums(build, &ops);
  emulatorAddPrivates(build, &ops);
  for (intptr_t i = 0; i < ops.count; ++i)
    if (!mlirOperationEqual(ops.items[i], function))
      lowerOp(build, ops.items[i]);
  tileOpsFree(&ops);
  closeFunction(build);
  splitBlocks(build, function);
  emulatorKeepLarge(function);
}

static intptr_t kernelNamed(const TileEmulatorProgram *program, MlirStringRef name) {
  for (intptr_t i = 0; i < program->kernelCount; ++i)
    if (tileStringEquals(name, program->kernels[i].name))
      return i;
  return -1;
}

// void tessera_entry_NAME(thread, params): each parameter from where params points to, or, by value, that place.
static void addEntry(EmulatorBuild *build, MlirOperation function) {
  char name[256], symbol[300];
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(function, "sym_name"));
  const bool *isPointer = build->program->kernels[kernelNamed(build->program, text)].parameterIsPointer;
  snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
  snprintf(symbol, sizeof symbol, "tessera_entry_%s", name);
  MlirType inputs[] = {build->pointer, build->pointer}, voidType = mlirLLVMVoidTypeGet(build->context);
  MlirLocation location = mlirOperationGetLocation(function), locations[] = {location, location};
  MlirAttribute functionType = mlirTypeAttrGet(mlirLLVMFunctionTypeGet(voidType, 2, inputs, false));
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(2, inputs, locations);
  mlirRegionAppendOwnedBlock(region, block);
  TileBuilder end = tileBuilderAtEnd(build->body, location), b = tileBuilderAtEnd(block, location);
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t count = mlirLLVMFunctionTypeGetNumInputs(type);
  MlirValue *operands = malloc((size_t)count * sizeof *operands);
  operands[0] = mlirBlockGetArgument(block, 0);
  for (intptr_t i = 1; i < count; ++i) {
    MlirValue slot = emulatorOffset(build, &b, mlirBlockGetArgument(block, 1), 8 * (i - 1));
    MlirValue place = emulatorLoad(build, &b, build->pointer, slot);
    MlirType input = mlirLLVMFunctionTypeGetInput(type, i);
    bool isByValue = mlirTypeIsALLVMPointerType(input) && !isPointer[i - 1];
    operands[i] = isByValue ? place : emulatorLoad(build, &b, input, place);
  }
  emulatorCheckStack(build, &b, operands[0], function, emulatorSite(build, function));
  emulatorCallDefined(build, &b, name, (MlirType){NULL}, count, operands);
  free(operands);
  llvmReturnOpBuild(&b, (MlirValue){NULL});
  llvmLLVMFuncOpBuild(&end, mlirStringAttrGet(build->context, tileString(symbol)), functionType, region);
}

//===--- globals ------------------------------------------------------------------===//

// Shared ones get their place in the window, dynamic ones (no size) after all others; the rest stays, for all to see.
static bool placeGlobals(EmulatorBuild *build, TileOps *ops) {
  for (intptr_t i = 0; i < ops->count; ++i) {
    MlirOperation op = ops->items[i];
    if (!llvmGlobalOpIsA(op))
      continue;
    if (!emulatorAddGlobal(build, op))
      return false;
    if (emulatorInteger(op, "addr_space", 0) == 3)
      mlirOperationDestroy(op);
    else
      mlirOperationSetAttributeByName(op, tileString("linkage"),
                                      mlirLLVMLinkageAttrGet(build->context, MlirLLVMLinkageExternal));
  }
  return true;
}

static uint32_t alignedUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// Notes the one kernel that takes a shared global's address: no other kernel's block has room for it.
static void findUsers(EmulatorBuild *build, MlirOperation function) {
  intptr_t kernel = kernelNamed(build->program, mlirStringAttrGetValue(tileOpAttribute(function, "sym_name")));
  TileOps uses = tileCollectOps(function, llvmAddressOfOpIsA);
  for (intptr_t i = 0; i < uses.count; ++i) {
    EmulatorGlobal *global =
        emulatorGlobal(build, mlirFlatSymbolRefAttrGetValue(tileOpAttribute(uses.items[i], "global_name")));
    if (!global || mlirOperationEqual(global->user, function))
      continue;
    global->onlyKernel = mlirOperationIsNull(global->user) ? kernel : -1;
    global->user = function;
  }
  tileOpsFree(&uses);
}

// Where the next array may begin: on the chip, and how many bytes further on here, where gaps lie between arrays.
typedef struct Place {
  uint32_t end, added;
} Place;

// Places what belongs to `kernel` (-1: to all) from `at` on, and returns where it ends. Dynamic arrays are one.
static Place placeOf(TileEmulatorProgram *program, intptr_t kernel, bool isDynamic, Place at) {
  bool hasGap = program->globalCount <= TESSERA_EMULATOR_MOST_GAPS;
  for (intptr_t i = 0; i < program->globalCount; ++i) {
    EmulatorGlobal *global = &program->globals[i];
    if (!global->isShared || (global->bytes == 0) != isDynamic || global->onlyKernel != kernel)
      continue;
    at.added += hasGap && at.end ? TESSERA_EMULATOR_GAP_BYTES : 0;
    at.end = alignedUp(at.end, global->alignment ? global->alignment : 16);
    global->offset = at.end + at.added;
    at.end += (uint32_t)global->bytes;
    hasGap &= !isDynamic;
  }
  return at;
}

static void placeShared(TileEmulatorProgram *program) {
  Place common = placeOf(program, -1, false, (Place){0}), largest = common;
  for (intptr_t i = 0; i < program->kernelCount; ++i) {
    Place own = placeOf(program, i, true, placeOf(program, i, false, common));
    program->kernels[i].sharedBytes = own.end;
    program->kernels[i].addedBytes = own.added;
    largest.end = own.end > largest.end ? own.end : largest.end;
    largest.added = own.added > largest.added ? own.added : largest.added;
  }
  bool hasCommon = false; // dynamic ones begin behind whatever any kernel has
  for (intptr_t i = 0; i < program->globalCount; ++i)
    hasCommon |= program->globals[i].isShared && !program->globals[i].bytes && program->globals[i].onlyKernel < 0;
  Place last = placeOf(program, -1, true, largest);
  for (intptr_t i = 0; i < program->kernelCount && hasCommon; ++i) {
    program->kernels[i].sharedBytes = last.end;
    program->kernels[i].addedBytes = last.added;
  }
}

//===--- the module -----------------------------------------------------------------===//

static void copyInto(EmulatorBuild *build, MlirOperation from) {
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(from, 0)));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (gpuGPUModuleOpIsA(op) || builtinModuleOpIsA(op))
      copyInto(build, op);
    else
      mlirBlockAppendOwnedOperation(build->body, mlirOperationClone(op));
  }
}

static bool isWanted(EmulatorBuild *build, MlirOperation op) {
  if (llvmLLVMFuncOpIsA(op) || llvmGlobalOpIsA(op))
    return true;
  return emulatorRefuse(build, op, "is not of the llvm dialect; lower the module to nvvm or rocdl first");
}

static TileOps topLevel(EmulatorBuild *build) {
  TileOps ops = {NULL, 0, 0};
  for (MlirOperation op = mlirBlockGetFirstOperation(build->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&ops, op);
  return ops;
}

static void lowerAll(EmulatorBuild *build, TileOps *ops) {
  for (intptr_t i = 0; i < ops->count && !build->failed; ++i)
    if (isKernel(ops->items[i]) && !emulatorAddKernel(build, ops->items[i]))
      build->failed = true;
  if (build->failed || !placeGlobals(build, ops))
    return;
  TileOps functions = topLevel(build);
  for (intptr_t i = 0; i < functions.count; ++i)
    if (isDefinition(functions.items[i]))
      findUsers(build, functions.items[i]);
  placeShared(build->program);
  for (intptr_t i = 0; i < functions.count; ++i) {
    bool kernel = isKernel(functions.items[i]); // lowering takes what says so away
    if (!isDefinition(functions.items[i]))
      continue;
    lowerFunction(build, functions.items[i]);
    if (kernel)
      addEntry(build, functions.items[i]);
  }
  for (intptr_t i = 0; i < functions.count; ++i) // what the calls of declarations became needs them no more
    if (llvmLLVMFuncOpIsA(functions.items[i]) && !isDefinition(functions.items[i]))
      mlirOperationDestroy(functions.items[i]);
  tileOpsFree(&functions);
}

// A read of memory that may tell what another thread did: atomic or volatile, also one that writes and whose result is
// used.
static bool readsMessage(MlirOperation op) {
  if (llvmLoadOpIsA(op))
    return emulatorInteger(op, "ordering", 0) != 0 || emulatorHas(op, "volatile_");
  bool writes = llvmAtomicRMWOpIsA(op) || llvmAtomicCmpXchgOpIsA(op);
  return writes && !mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op)));
}

static void findMessages(EmulatorBuild *build) {
  TileOps reads = tileCollectOps(build->module, readsMessage);
  build->program->hasMessages = reads.count > 0;
  tileOpsFree(&reads);
}

static bool lowerModule(EmulatorBuild *build, MlirOperation module) {
  copyInto(build, module);
  emulatorExpandIntrinsics(build);
  emulatorFindLoadsToLds(build);
  findMessages(build);
  TileOps ops = topLevel(build);
  bool ok = true;
  for (intptr_t i = 0; i < ops.count; ++i)
    ok &= isWanted(build, ops.items[i]);
  if (ok)
    lowerAll(build, &ops);
  tileOpsFree(&ops);
  return ok && !build->failed;
}

static bool compileHost(EmulatorBuild *build, tessera_error_t *error) {
  if (!mlirOperationVerify(build->module))
    return tessera_fail(error, "the kernel's host code does not verify");
  mlirRegisterAllLLVMTranslations(build->context);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef translated = mlirTranslateModuleToLLVMIR(build->module, context);
  if (!translated) {
    LLVMContextDispose(context);
    return tessera_fail(error, "the kernel's host code cannot be translated to LLVM IR");
  }
  if (!emulatorKeepSubnormals(translated, error)) {
    LLVMDisposeModule(translated);
    LLVMContextDispose(context);
    return false;
  }
  // More than -O1 does not run faster: most of the time is in the calls. Less would make large frames.
  build->program->jit = tileJitCreate(translated, context, 1, error);
  return build->program->jit && emulatorBindKernels(build->program, error);
}

static EmulatorBuild beginBuild(MlirContext context, const TileEmulatorOptions *options, MlirModule host) {
  return (EmulatorBuild){.options = options,
                         .context = context,
                         .module = mlirModuleGetOperation(host),
                         .body = mlirModuleGetBody(host),
                         .pointer = mlirLLVMPointerTypeGet(context, 0),
                         .i1 = mlirIntegerTypeGet(context, 1),
                         .i8 = mlirIntegerTypeGet(context, 8),
                         .i16 = mlirIntegerTypeGet(context, 16),
                         .i32 = mlirIntegerTypeGet(context, 32),
                         .i64 = mlirIntegerTypeGet(context, 64),
                         .f32 = mlirF32TypeGet(context),
                         .f64 = mlirF64TypeGet(context)};
}

TileEmulatorProgram *tileEmulatorCompile(MlirOperation module, const TileEmulatorOptions *options,
                                         tessera_error_t *error) {
  MlirContext context = mlirOperationGetContext(module);
  TileEmulatorProgram *program = emulatorProgramCreate(options, context);
  if (!program) {
    tessera_fail(error, "out of memory");
    return NULL;
  }
  MlirModule host = mlirModuleCreateEmpty(mlirOperationGetLocation(module));
  EmulatorBuild build = beginBuild(context, options, host);
  build.program = program;
  bool ok = lowerModule(&build, module) || tessera_fail(error, "the kernel cannot be emulated");
  if (ok && !program->kernelCount)
    ok = tessera_fail(error,
                      "the module has no kernel (an llvm.func with gpu.kernel, nvvm.kernel or rocdl.kernel, or of "
                      "the convention ptx_kernelcc or amdgpu_kernelcc)");
  ok = ok && compileHost(&build, error);
  mlirModuleDestroy(host);
  if (ok)
    return program;
  tileEmulatorDestroy(program);
  return NULL;
}
