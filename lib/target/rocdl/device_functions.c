// ROCm's device library in the few functions that our kernels need: sizes of the grid from the kernel's hidden
// arguments, and an assertion that stops the wave (the message is the emulator's and the debugger's: there is no way
// for text).
#include "lib/target/rocdl/device_functions.h"

#include "lib/ir/support.h"

#include <string.h>

static const char gridSize[] = "__ockl_get_num_groups", assertion[] = "__assertfail";

//===--- what there is no code for --------------------------------------------------------------===//

typedef struct Expecting {
  int refused;
} Expecting;

static const char *const f64Functions[] = {
    "llvm.intr.exp",  "llvm.intr.exp2", "llvm.intr.exp10", "llvm.intr.log",  "llvm.intr.log2", "llvm.intr.log10",
    "llvm.intr.pow",  "llvm.intr.sin",  "llvm.intr.cos",   "llvm.intr.tan",  "llvm.intr.sinh", "llvm.intr.cosh",
    "llvm.intr.tanh", "llvm.intr.asin", "llvm.intr.acos",  "llvm.intr.atan", "llvm.intr.atan2"};

static bool isF64Function(MlirOperation op) {
  if (mlirOperationGetNumResults(op) != 1 || !mlirTypeIsAF64(tileResultType(op, 0)))
    return false;
  for (size_t i = 0; i < sizeof f64Functions / sizeof *f64Functions; ++i)
    if (tileOpIs(op, f64Functions[i]))
      return true;
  return false;
}

static bool isKnown(MlirStringRef callee) {
  return tileStringEquals(callee, gridSize) || tileStringEquals(callee, assertion);
}

static MlirWalkResult expectOp(MlirOperation op, void *userData) {
  Expecting *expecting = userData;
  MlirStringRef name = tileOpName(op);
  if (isF64Function(op)) {
    tileError(op, "comes later: '%.*s' of f64 has no code on AMD's GPUs yet", (int)name.length, name.data);
    ++expecting->refused;
  }
  if (!tileOpIs(op, "llvm.call") || !tileOpAttribute(op, "callee").ptr)
    return MlirWalkResultAdvance;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "callee"));
  if (isKnown(callee))
    return MlirWalkResultAdvance;
  if (tileStringEquals(callee, "vprintf"))
    tileError(op, "comes later: AMD's GPUs have no code for 'tile.print' yet; the emulator runs it");
  else
    tileError(op, "calls '%.*s', which AMD's GPUs have no code for", (int)callee.length, callee.data);
  ++expecting->refused;
  return MlirWalkResultAdvance;
}

bool tileRocdlExpectCode(MlirOperation module, tessera_error_t *error) {
  Expecting expecting = {0};
  TileOps devices = tileCollect(module, "gpu.module"); // the host's part may call what it likes
  for (intptr_t i = 0; i < devices.count; ++i)
    mlirOperationWalk(devices.items[i], expectOp, &expecting, MlirWalkPreOrder);
  tileOpsFree(&devices);
  return !expecting.refused ||
         tessera_fail(error, "%d ops of the kernels have no code on AMD's GPUs", expecting.refused);
}

//===--- bodies -----------------------------------------------------------------------------------===//

static LLVMBuilderRef begin(LLVMModuleRef module, LLVMValueRef function) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
  LLVMSetLinkage(function, LLVMInternalLinkage);
  LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
  return builder;
}

static LLVMValueRef callIntrinsic(LLVMModuleRef module, LLVMBuilderRef builder, const char *name) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMTypeRef type = LLVMIntrinsicGetType(context, id, NULL, 0);
  return LLVMBuildCall2(builder, type, LLVMGetIntrinsicDeclaration(module, id, NULL, 0), NULL, 0, "");
}

// "User Guide for AMDGPU Backend", hidden arguments since code object V5: hidden_block_count_x, _y, _z come first, 32
// bits each.
static void defineGridSize(LLVMModuleRef module, LLVMValueRef function) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef word = LLVMInt32TypeInContext(context);
  LLVMBuilderRef builder = begin(module, function);
  LLVMValueRef axis = LLVMGetParam(function, 0), hidden = callIntrinsic(module, builder, "llvm.amdgcn.implicitarg.ptr");
  LLVMValueRef size = LLVMBuildLoad2(builder, word, LLVMBuildInBoundsGEP2(builder, word, hidden, &axis, 1, ""), "");
  LLVMBuildRet(builder, LLVMBuildZExt(builder, size, LLVMInt64TypeInContext(context), ""));
  LLVMDisposeBuilder(builder);
}

static void defineAssertion(LLVMModuleRef module, LLVMValueRef function) {
  LLVMBuilderRef builder = begin(module, function);
  callIntrinsic(module, builder, "llvm.trap");
  LLVMBuildUnreachable(builder);
  LLVMDisposeBuilder(builder);
}

void tileRocdlDefineFunctions(LLVMModuleRef module) {
  LLVMValueRef size = LLVMGetNamedFunction(module, gridSize), fails = LLVMGetNamedFunction(module, assertion);
  if (size && LLVMIsDeclaration(size))
    defineGridSize(module, size);
  if (fails && LLVMIsDeclaration(fails))
    defineAssertion(module, fails);
}
