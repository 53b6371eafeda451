// ROCm's device library in the few functions that our kernels need: sizes of the grid from the kernel's hidden
// arguments, and messages by a buffer of our runtime's (messages.ll).
#include "lib/target/rocdl/device_functions.h"

#include "lib/ir/support.h"
#include "lib/target/rocdl/embedded.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"

#include "llvm-c/IRReader.h"
#include "llvm-c/Linker.h"

#include <string.h>

static const char gridSize[] = "__ockl_get_num_groups", assertion[] = "__assertfail", print[] = "vprintf";

//===--- what there is no code for --------------------------------------------------------------===//

typedef struct Expecting {
  int refused;
} Expecting;

static bool isF64Function(MlirOperation op) {
  static const TileUpstream functions[] = {LlvmOp_Exp,   LlvmOp_Exp2,  LlvmOp_Exp10,     LlvmOp_Log,  LlvmOp_Log2,
                                           LlvmOp_Log10, LlvmOp_Pow,   LlvmOp_Sin,       LlvmOp_Cos,  LlvmOp_Tan,
                                           LlvmOp_Sinh,  LlvmOp_Cosh,  LlvmOp_Tanh,      LlvmOp_ASin, LlvmOp_ACos,
                                           LlvmOp_ATan,  LlvmOp_ATan2, TileUpstream_None};
  return tileUpstreamIsOneOf(op, functions) && mlirTypeIsAF64(tileOnlyResultType(op));
}

static bool isKnown(MlirStringRef callee) {
  return tileStringEquals(callee, gridSize) || tileStringEquals(callee, assertion) || tileStringEquals(callee, print);
}

static MlirWalkResult expectOp(MlirOperation op, void *userData) {
  Expecting *expecting = userData;
  MlirStringRef name = tileOpName(op);
  if (isF64Function(op)) {
    tileError(op, "comes later: '%.*s' of f64 has no code on AMD's GPUs yet", (int)name.length, name.data);
    ++expecting->refused;
  }
  if (!llvmCallOpIsA(op) || mlirAttributeIsNull(tileOpAttribute(op, "callee")))
    return MlirWalkResultAdvance;
  MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "callee"));
  if (isKnown(callee))
    return MlirWalkResultAdvance;
  tileError(op, "calls '%.*s', which AMD's GPUs have no code for", (int)callee.length, callee.data);
  ++expecting->refused;
  return MlirWalkResultAdvance;
}

bool tileRocdlExpectCode(MlirOperation module, tessera_error_t *error) {
  Expecting expecting = {0};
  TileOps devices = tileCollectOps(module, gpuGPUModuleOpIsA); // the host's part may call what it likes
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

static bool isDeclared(LLVMModuleRef module, const char *name) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  return function && LLVMIsDeclaration(function);
}

static void makeInternal(LLVMModuleRef module, const char *name) {
  LLVMSetLinkage(LLVMGetNamedFunction(module, name), LLVMInternalLinkage);
}

// What the module does not call goes again with the optimizer.
static bool linkMessages(LLVMModuleRef module, tessera_error_t *error) {
  const TileEmbeddedText *text = &tileRocdlFunctions[0];
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)text->text, text->length, "");
  LLVMModuleRef functions = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(LLVMGetModuleContext(module), buffer, &functions, &message)) {
    tessera_fail(error, "%s.ll: %s", text->name, message ? message : "not LLVM IR");
    LLVMDisposeMessage(message);
    return false;
  }
  LLVMSetTarget(functions, LLVMGetTarget(module));
  LLVMSetDataLayout(functions, LLVMGetDataLayoutStr(module));
  if (LLVMLinkModules2(module, functions))
    return tessera_fail(error, "%s.ll cannot be linked", text->name);
  makeInternal(module, assertion);
  makeInternal(module, print);
  return true;
}

bool tileRocdlDefineFunctions(LLVMModuleRef module, tessera_error_t *error) {
  if (isDeclared(module, gridSize))
    defineGridSize(module, LLVMGetNamedFunction(module, gridSize));
  return !(isDeclared(module, assertion) || isDeclared(module, print)) || linkMessages(module, error);
}
