// The JIT: modules from text become code; packed entries with scalar and memref results; every failure is a sentence.
// Under AddressSanitizer the same program shows that nothing is left behind, on success and on failure.
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

int main(void) {
  testScalarResult();
  testTruthValue();
  testMemrefResult();
  testProcessSymbols();
  testFailures();
  return checkResult(20);
}
