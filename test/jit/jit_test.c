// The JIT: modules from text become code; packed entries with scalar and memref results; every failure is a sentence.
// Under AddressSanitizer the same program shows that nothing is left behind, on success and on failure.
#include "lib/capi/optimize.h"
#include "lib/jit/codegen.h"
#include "lib/jit/jit.h"
#include "test/check.h"
#include "llvm-c/IRReader.h"

static tessera_error_t error;

// Parses `text` into a new context; adds packed entries for `entry` if there is one.
static TileJit *compile(const char *text, const char *entry, int optimization) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
  LLVMModuleRef module;
  char *message = NULL;
  if (LLVMParseIRInContext(context, buffer, &module, &message)) {
    printf("the test's module is wrong: %s\n", message);
    LLVMDisposeMessage(message);
    LLVMContextDispose(context);
    return NULL;
  }
  error.text[0] = 0;
  if (entry && !tileJitAddPackedEntry(module, entry, &error)) {
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return NULL;
  }
  return tileJitCreate(module, context, optimization, &error);
}

typedef void (*Packed)(void **args);

static void testScalarResult(void) {
  for (int level = 0; level <= 3; ++level) {
    TileJit *jit = compile("define double @_mlir_ciface_f(double %x, i64 %n) {\n"
                           "  %y = sitofp i64 %n to double\n  %z = fmul double %x, %y\n  ret double %z\n}\n",
                           "f", level);
    CHECK(jit, "%s", error.text);
    Packed entry = jit ? (Packed)tileJitLookup(jit, "tessera_packed_f", &error) : NULL;
    CHECK(entry, "%s", error.text);
    double x = 2.5, result = 0;
    int64_t n = -3;
    if (entry)
      entry((void *[]){&result, &x, &n});
    CHECK(result == -7.5, "%g", result);
    tileJitDestroy(jit);
  }
}

static void testTruthValue(void) {
  TileJit *jit = compile("define i1 @_mlir_ciface_f(i1 %x) {\n  %y = xor i1 %x, true\n  ret i1 %y\n}\n", "f", 3);
  Packed entry = jit ? (Packed)tileJitLookup(jit, "tessera_packed_f", &error) : NULL;
  CHECK(entry, "%s", error.text);
  unsigned char x = 0, result = 7;
  if (entry)
    entry((void *[]){&result, &x});
  CHECK(result == 1, "%d", result);
  tileJitDestroy(jit);
}

// A memref result is written through the first argument; the descriptors pass as they are.
static void testMemrefResult(void) {
  TileJit *jit = compile("define void @_mlir_ciface_f(ptr %result, ptr %x) {\n"
                         "  %d = load { ptr, ptr, i64 }, ptr %x\n  store { ptr, ptr, i64 } %d, ptr %result\n"
                         "  ret void\n}\n",
                         "f", 3);
  Packed entry = jit ? (Packed)tileJitLookup(jit, "tessera_packed_f", &error) : NULL;
  CHECK(entry, "%s", error.text);
  int64_t x[3] = {11, 22, 33}, result[3] = {0};
  if (entry)
    entry((void *[]){result, x});
  CHECK(result[0] == 11 && result[1] == 22 && result[2] == 33);
  tileJitDestroy(jit);
}

static void testProcessSymbols(void) {
  TileJit *jit = compile("declare i64 @strlen(ptr)\n@text = constant [6 x i8] c\"seven\\00\"\n"
                         "define i64 @f() {\n  %n = call i64 @strlen(ptr @text)\n  ret i64 %n\n}\n",
                         NULL, 0);
  int64_t (*f)(void) = jit ? (int64_t (*)(void))tileJitLookup(jit, "f", &error) : NULL;
  CHECK(f && f() == 5, "%s", error.text);
  tileJitDestroy(jit);
}

static void testFailures(void) {
  CHECK(!compile("define void @g() {\n  ret void\n}\n", "f", 3));
  CHECK_CONTAINS(error.text, "no entry function 'f'");

  TileJit *jit = compile("declare void @surely_nobody_has_this()\ndefine void @_mlir_ciface_f() {\n"
                         "  call void @surely_nobody_has_this()\n  ret void\n}\n",
                         "f", 3);
  CHECK(jit, "%s", error.text);
  CHECK(jit && !tileJitLookup(jit, "tessera_packed_f", &error));
  CHECK_CONTAINS(error.text, "surely_nobody_has_this");
  CHECK(jit && !tileJitLookup(jit, "nor_this", &error));
  CHECK_CONTAINS(error.text, "nor_this");
  tileJitDestroy(jit);
  tileJitDestroy(NULL);
}

// The stores left of a function of `straight` stores and a loop of `rounds` with one store (0: a number that is not
// known), optimized for a processor that unrolls loops; null limits: those of all programs.
static int countStores(int straight, int rounds, const MlirExtOptimizeLimits *limits) {
  static char text[1 << 17];
  int at = snprintf(text, sizeof text, "define void @f(ptr %%p, i64 %%n) {\nentry:\n");
  for (int i = 0; i < straight; ++i)
    at += snprintf(text + at, sizeof text - at, "  store volatile i32 %d, ptr %%p\n", i);
  char end[32] = "%n";
  if (rounds)
    snprintf(end, sizeof end, "%d", rounds);
  snprintf(text + at, sizeof text - at,
           "  br label %%loop\nloop:\n  %%i = phi i64 [0, %%entry], [%%next, %%loop]\n"
           "  store volatile i64 %%i, ptr %%p\n  %%next = add i64 %%i, 1\n  %%more = icmp ult i64 %%next, %s\n"
           "  br i1 %%more, label %%loop, label %%end\nend:\n  ret void\n}\n",
           end);
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
  LLVMModuleRef module;
  CHECK(!LLVMParseIRInContext(context, buffer, &module, NULL));
  LLVMTargetMachineRef machine = tileCodegenMachineCreate("skylake-avx512", "", LLVMCodeModelDefault, &error);
  CHECK(machine, "%s", error.text);
  tileCodegenPrepare(module, machine);
  if (limits)
    mlirExtOptimizeWithin(module, machine, 3, limits);
  else
    CHECK(tileCodegenOptimize(module, machine, 3, &error), "%s", error.text);
  int count = 0;
  LLVMValueRef function = LLVMGetNamedFunction(module, "f");
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef op = LLVMGetFirstInstruction(block); op; op = LLVMGetNextInstruction(op))
      count += LLVMGetInstructionOpcode(op) == LLVMStore;
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return count;
}

// Short bodies are unrolled, long ones are not.
static void testUnrolling(void) {
  CHECK(countStores(10, 0, NULL) > 11);
  CHECK(countStores(1600, 0, NULL) == 1601);
  CHECK(countStores(0, 7, NULL) == 7);
  CHECK(countStores(0, 7, &(MlirExtOptimizeLimits){.pass = "", .unrolled_loop = 5}) == 7);
  CHECK(countStores(0, 7, &(MlirExtOptimizeLimits){.pass = "", .unrolled_loop = 4}) == 1);
}

int main(void) {
  testScalarResult();
  testTruthValue();
  testMemrefResult();
  testProcessSymbols();
  testFailures();
  testUnrolling();
  return checkResult(35);
}
