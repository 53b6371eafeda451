// tessera-codegen assembly|object TRIPLE CPU FEATURES: LLVM bitcode from standard input, optimized and compiled, to
// standard output. Complaints go to standard error, the first line being the reason; status 1 or, where LLVM gave
// up, 3. When all went well, the last line there says where the time went: "times: bitcode 1.0 optimization 2.0
// generation 3.0", in milliseconds. Why a program of its own: LLVM's fatal errors end the process, and it links LLVM
// only, which loads twice as fast as MLIR. It is called by lib/target/device_code.c.
#include "llvm-c/BitReader.h"
#include "llvm-c/Core.h"
#include "llvm-c/Error.h"
#include "llvm-c/ErrorHandling.h"
#include "llvm-c/Support.h"
#include "llvm-c/Target.h"
#include "llvm-c/TargetMachine.h"
#include "llvm-c/Transforms/PassBuilder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void giveUp(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  fflush(stderr);
  _exit(3);
}

static bool fail(const char *doing, const char *reason) {
  fprintf(stderr, "%s: %s\n", doing, reason);
  return false;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static void initialize(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  LLVMInstallFatalErrorHandler(giveUp);
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser();
}

// An error that LLVM reports and goes on after still means that there is no code.
static void note(LLVMDiagnosticInfoRef info, void *failed) {
  char *text = LLVMGetDiagInfoDescription(info);
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
    fprintf(stderr, "%s\n", text);
    *(bool *)failed = true;
  }
  LLVMDisposeMessage(text);
}

static LLVMModuleRef readModule(LLVMContextRef context) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module = NULL;
  char *message = NULL;
  if (LLVMCreateMemoryBufferWithSTDIN(&buffer, &message)) {
    fail("reading bitcode", message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  if (LLVMParseBitcodeInContext2(context, buffer, &module))
    fail("reading bitcode", "it is malformed");
  LLVMDisposeMemoryBuffer(buffer);
  return module;
}

static bool isNvptx(const char *triple) { return !strncmp(triple, "nvptx", 5); }

static LLVMTargetMachineRef createMachine(const char *triple, const char *cpu, const char *features) {
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    fail("finding the target", message);
    LLVMDisposeMessage(message);
    return NULL;
  }
  LLVMCodeGenOptLevel level = isNvptx(triple) ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelAggressive;
  return LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelDefault);
}

// Our kernels come to NVIDIA's back end unrolled, by registers, and without memory of their own, and ptxas optimizes
// once more: default<O3> spends most of its time where there is nothing to find (SLP vectorization above all).
// reassociate puts masks in an order without which CodeGenPrepare is quadratic in masked accesses. Accesses under one
// condition become one region, for which conditions that follow from others are dropped first; ptxas does not hoist
// products of 64 bits out of conditions, so loops are left by what does not change.
static const char nvptxPasses[] = "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                                  "correlated-propagation,simplifycfg,reassociate,loop-mssa(licm),"
                                  "early-cse<memssa>,adce)";

// Straight-line strength reduction is quadratic where adds are many, and ptxas makes the same code without it; loop
// strength reduction gives each address a register that the loop carries. Shared memory has 32-bit addresses.
static const char *const nvptxOptions[] = {"tessera-codegen", "-opt-disable=slsr", "-disable-lsr", "-nvptx-short-ptr"};

static void setOptions(const char *triple) {
  if (isNvptx(triple))
    LLVMParseCommandLineOptions(sizeof nvptxOptions / sizeof *nvptxOptions, nvptxOptions, "");
}

// Descriptors of tcgen05 are sums of registers that one thread has: hoisted, each takes a register and a move of its
// own.
static const char tensorPasses[] = "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                                   "correlated-propagation,simplifycfg,reassociate,early-cse<memssa>,adce)";

static bool multipliesInTensorMemory(LLVMModuleRef module) {
  static const char begin[] = "llvm.nvvm.tcgen05.mma";
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
    size_t length;
    if (!strncmp(LLVMGetValueName2(function, &length), begin, sizeof begin - 1))
      return true;
  }
  return false;
}

static const char *passesFor(LLVMModuleRef module, const char *triple) {
  return !isNvptx(triple) ? "default<O3>" : multipliesInTensorMemory(module) ? tensorPasses : nvptxPasses;
}

static bool optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *triple) {
  LLVMSetTarget(module, triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, passesFor(module, triple), machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error)
    return true;
  char *message = LLVMGetErrorMessage(error);
  fail("optimizing", message);
  LLVMDisposeErrorMessage(message);
  return false;
}

static bool emit(LLVMModuleRef module, LLVMTargetMachineRef machine, bool isObject) {
  LLVMMemoryBufferRef code;
  char *message = NULL;
  LLVMCodeGenFileType kind = isObject ? LLVMObjectFile : LLVMAssemblyFile;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, kind, &message, &code)) {
    fail("generating code", message);
    LLVMDisposeMessage(message);
    return false;
  }
  size_t size = LLVMGetBufferSize(code);
  bool ok = fwrite(LLVMGetBufferStart(code), 1, size, stdout) == size && fflush(stdout) == 0;
  LLVMDisposeMemoryBuffer(code);
  return ok || fail("writing", "standard output is closed");
}

int main(int argc, char **argv) {
  bool isObject = argc == 5 && !strcmp(argv[1], "object"), failed = false;
  if (argc != 5 || (!isObject && strcmp(argv[1], "assembly") != 0)) {
    fputs("usage: tessera-codegen assembly|object TRIPLE CPU FEATURES < bitcode > code\n", stderr);
    return 1;
  }
  double times[4] = {now()};
  initialize();
  setOptions(argv[2]);
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, note, &failed);
  LLVMModuleRef module = readModule(context);
  LLVMTargetMachineRef machine = module ? createMachine(argv[2], argv[3], argv[4]) : NULL;
  times[1] = now();
  bool ok = machine && optimize(module, machine, argv[2]) && !failed;
  times[2] = now();
  ok = ok && emit(module, machine, isObject) && !failed;
  times[3] = now();
  if (ok)
    fprintf(stderr, "times: bitcode %.3f optimization %.3f generation %.3f\n", times[1] - times[0], times[2] - times[1],
            times[3] - times[2]);
  _exit(ok ? 0 : 1); // nothing here is worth taking apart
}
