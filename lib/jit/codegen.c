// The machine, the optimizer and object files, over LLVM's C API. See codegen.h.
#include "lib/jit/codegen.h"

#include "lib/capi/optimize.h"
#include "lib/support/version.h"
#include "llvm-c/Target.h"
#include "llvm-c/Transforms/PassBuilder.h"

#include <stdlib.h>
#include <string.h>

bool tileCodegenFailed(LLVMErrorRef failure, const char *doing, tessera_error_t *error) {
  if (!failure)
    return false;
  char *message = LLVMGetErrorMessage(failure);
  tessera_fail(error, "%s: %s", doing, message);
  LLVMDisposeErrorMessage(message);
  return true;
}

char *tileCodegenDescribe(char *text, size_t size) {
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  snprintf(text, size, "Tessera " TESSERA_VERSION ", LLVM %u.%u.%u", major, minor, patch);
  return text;
}

static LLVMTargetMachineRef createMachine(const char *triple, const char *cpu, const char *features,
                                          LLVMCodeModel model, tessera_error_t *error) {
  LLVMTargetRef target;
  char *message = NULL;
  if (!LLVMGetTargetFromTriple(triple, &target, &message))
    return LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelAggressive, LLVMRelocPIC, model);
  tessera_fail(error, "no code generator for this machine: %s", message);
  LLVMDisposeMessage(message);
  return NULL;
}

// Kernels ask at run time before they use tile registers (lib/runtime/tiles.h), so each processor's code may name them.
static const char tileRegisters[] = ",+amx-tile,+amx-bf16,+amx-int8,+amx-fp16";

LLVMTargetMachineRef tileCodegenMachineCreate(const char *cpu, const char *features, LLVMCodeModel model,
                                              tessera_error_t *error) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser(); // of the instructions on tile registers
  char *triple = LLVMGetDefaultTargetTriple(), *host = LLVMGetHostCPUName(), *all = LLVMGetHostCPUFeatures();
  const char *own = cpu ? features : all;
  size_t size = strlen(own) + sizeof tileRegisters;
  char *asked = malloc(size);
  if (asked)
    snprintf(asked, size, "%s%s", own, strncmp(triple, "x86_64", 6) ? "" : tileRegisters);
  LLVMTargetMachineRef machine = createMachine(triple, cpu ? cpu : host, asked ? asked : own, model, error);
  free(asked);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(host);
  LLVMDisposeMessage(all);
  return machine;
}

void tileCodegenPrepare(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
}

static bool runPasses(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine, tessera_error_t *error) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  bool bad = tileCodegenFailed(LLVMRunPasses(module, passes, machine, options), "optimizing", error);
  LLVMDisposePassBuilderOptions(options);
  return !bad;
}

// The code generator ends the process at an instruction that the processor has not.
static bool expectInstructions(LLVMModuleRef module, LLVMTargetMachineRef machine, tessera_error_t *error) {
  static const char *const needs[][2] = {{"llvm.x86.avx512bf16.", "+avx512bf16"},
                                         {"llvm.x86.avx512.vpdpbusd", "+avx512vnni"},
                                         {"llvm.x86.avx512.vpermi2var.qi", "+avx512vbmi"},
                                         {"llvm.x86.avx512fp16.", "+avx512fp16"}};
  char *features = LLVMGetTargetMachineFeatureString(machine);
  bool ok = true;
  for (LLVMValueRef function = LLVMGetFirstFunction(module); ok && function; function = LLVMGetNextFunction(function))
    for (size_t i = 0; ok && i < sizeof needs / sizeof *needs; ++i) {
      size_t length;
      const char *name = LLVMGetValueName2(function, &length);
      if (strncmp(name, needs[i][0], strlen(needs[i][0])) == 0 && !strstr(features, needs[i][1]))
        ok = tessera_fail(error, "the program was lowered for another processor: it calls %s, and this one has no %s",
                          name, needs[i][1] + 1);
    }
  LLVMDisposeMessage(features);
  return ok;
}

// LoopLoadElimination looks for values that one iteration of a loop leaves in memory for the next one, and asks of each
// pair of accesses whether they may meet: half of the optimizer's time where loops have long bodies. Tiles are in
// registers. Bodies of products and attention are unrolled when they come here; to unroll them again, and to optimize
// the copies, took a quarter of the time (examples/python/attention.py, cold: 242 -> 188 ms of the code generator's)
// for nothing: all tables of tile-bench keep their figures (0.993 to 1.010). Short bodies need it: without any
// unrolling a softmax of 128 columns loses 8 %, a layernorm of 768 columns 12 %.
static const MlirExtOptimizeLimits limits = {
    .pass = "LoopLoadEliminationPass", .unrolled_loop = 200, .unrolled_function = 1500};

bool tileCodegenOptimize(LLVMModuleRef module, LLVMTargetMachineRef machine, int level, tessera_error_t *error) {
  tileCodegenPrepare(module, machine);
  if (!expectInstructions(module, machine, error))
    return false;
  mlirExtOptimizeWithin(module, machine, level, &limits);
  return true;
}

bool tileCodegenMergeFunctions(LLVMModuleRef module, LLVMTargetMachineRef machine, tessera_error_t *error) {
  return runPasses(module, "mergefunc", machine, error);
}

bool tileCodegenObjectCreate(LLVMModuleRef module, LLVMTargetMachineRef machine, LLVMMemoryBufferRef *object,
                             tessera_error_t *error) {
  char *message = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, object))
    return true;
  tessera_fail(error, "generating code: %s", message);
  LLVMDisposeMessage(message);
  return false;
}
