// Compiles an LLVM module into this process. See jit.h.
#include "lib/jit/jit.h"

#include "lib/jit/codegen.h"
#include "llvm-c/LLJIT.h"

#include <dlfcn.h>
#include <stdlib.h>

struct TileJit {
  LLVMOrcLLJITRef lljit;
  tessera_error_t reported; // the last message of ORC beside the error it returned: the symbols it did not find
};

// ORC prints such reports on stderr when nobody takes them.
static void takeReport(void *context, LLVMErrorRef failure) {
  char *message = LLVMGetErrorMessage(failure);
  tessera_fail(&((TileJit *)context)->reported, "%s", message);
  LLVMDisposeErrorMessage(message);
}

//===--- symbols of this process ----------------------------------------------===//

// What we can see, which is more than what everybody can: a library that was loaded for one user only (Python's ctypes)
// sees itself and what it was loaded with. LLVM's own search starts at the program.
static LLVMErrorRef defineFromProcess(LLVMOrcDefinitionGeneratorRef generator, void *context,
                                      LLVMOrcLookupStateRef *state, LLVMOrcLookupKind kind, LLVMOrcJITDylibRef library,
                                      LLVMOrcJITDylibLookupFlags flags, LLVMOrcCLookupSet wanted, size_t count) {
  (void)generator, (void)context, (void)state, (void)kind, (void)flags;
  LLVMOrcCSymbolMapPair *found = calloc(count + 1, sizeof *found);
  size_t numFound = 0;
  for (size_t i = 0; found && i < count; ++i) {
    void *address = dlsym(RTLD_DEFAULT, LLVMOrcSymbolStringPoolEntryStr(wanted[i].Name));
    if (!address)
      continue;
    LLVMOrcRetainSymbolStringPoolEntry(wanted[i].Name);
    found[numFound++] = (LLVMOrcCSymbolMapPair){
        wanted[i].Name, {(LLVMOrcExecutorAddress)(uintptr_t)address, {LLVMJITSymbolGenericFlagsExported, 0}}};
  }
  LLVMErrorRef failure = NULL;
  if (numFound) {
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(found, numFound); // takes the names
    failure = LLVMOrcJITDylibDefine(library, unit);
    if (failure)
      LLVMOrcDisposeMaterializationUnit(unit);
  }
  free(found);
  return failure; // what was not found is reported by the look-up
}

static void searchProcess(LLVMOrcLLJITRef lljit) {
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(lljit),
                              LLVMOrcCreateCustomCAPIDefinitionGenerator(defineFromProcess, NULL, NULL));
}

//===--- the JIT ------------------------------------------------------------===//

static bool start(TileJit *jit, tessera_error_t *error) {
  LLVMTargetMachineRef machine = tileCodegenMachineCreate(NULL, "", LLVMCodeModelJITDefault, error);
  if (!machine)
    return false;
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  if (tileCodegenFailed(LLVMOrcCreateLLJIT(&jit->lljit, builder), "starting the JIT", error))
    return false;
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->lljit), takeReport, jit);
  searchProcess(jit->lljit);
  return true;
}

static void disposeParts(TilePart *parts, int count) {
  for (int i = 0; i < count; ++i)
    tilePartDispose(&parts[i]);
}

// The session takes the objects over, one after the other.
static bool addObjects(TileJit *jit, LLVMMemoryBufferRef *objects, int count, tessera_error_t *error) {
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit->lljit);
  bool ok = true;
  for (int i = 0; i < count; ++i) {
    if (ok)
      ok = !tileCodegenFailed(LLVMOrcLLJITAddObjectFile(jit->lljit, library, objects[i]), "adding the code", error);
    else
      LLVMDisposeMemoryBuffer(objects[i]);
  }
  return ok;
}

static bool compile(TileJit *jit, TilePart *parts, int count, int optimization, tessera_error_t *error) {
  LLVMMemoryBufferRef *objects = calloc((size_t)count, sizeof *objects);
  bool ok = objects || tessera_fail(error, "out of memory");
  for (int i = 0; i < count && ok; ++i) {
    parts[i].machine = tileCodegenMachineCreate(NULL, "", LLVMCodeModelJITDefault, error);
    ok = parts[i].machine != NULL;
  }
  ok = ok && tilePartsCompile(parts, count, optimization, objects, error) && addObjects(jit, objects, count, error);
  free(objects);
  return ok;
}

TileJit *tileJitCreateOfParts(TilePart *parts, int count, int optimization, tessera_error_t *error) {
  TileJit *jit = calloc(1, sizeof *jit);
  bool ok = (jit || tessera_fail(error, "out of memory")) && start(jit, error) &&
            compile(jit, parts, count, optimization, error);
  disposeParts(parts, count);
  if (ok)
    return jit;
  tileJitDestroy(jit);
  return NULL;
}

TileJit *tileJitCreate(LLVMModuleRef module, LLVMContextRef context, int optimization, tessera_error_t *error) {
  return tileJitCreateOfParts(&(TilePart){module, context, NULL}, 1, optimization, error);
}

void tileJitDestroy(TileJit *jit) {
  if (jit && jit->lljit)
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->lljit));
  free(jit);
}

void *tileJitLookup(TileJit *jit, const char *name, tessera_error_t *error) {
  LLVMOrcExecutorAddress address = 0;
  jit->reported.text[0] = 0;
  if (tileCodegenFailed(LLVMOrcLLJITLookup(jit->lljit, &address, name), "compiling", error)) {
    if (jit->reported.text[0])
      tessera_fail(error, "compiling: %s", jit->reported.text);
    return NULL;
  }
  return (void *)(uintptr_t)address;
}

//===--- packed entries -----------------------------------------------------===//

static LLVMValueRef loadArgument(LLVMBuilderRef builder, LLVMValueRef args, unsigned index, LLVMTypeRef type) {
  LLVMContextRef context = LLVMGetTypeContext(type);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
  LLVMValueRef at = LLVMConstInt(LLVMInt64TypeInContext(context), index, false);
  LLVMValueRef slot = LLVMBuildGEP2(builder, pointer, args, &at, 1, "");
  LLVMValueRef value = LLVMBuildLoad2(builder, pointer, slot, "");
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind ? value : LLVMBuildLoad2(builder, type, value, "");
}

// A scalar result is returned by the C interface; any other goes through its first parameter, as args[0] says anyway.
static void buildPackedBody(LLVMBuilderRef builder, LLVMValueRef callee, LLVMValueRef args) {
  LLVMTypeRef type = LLVMGlobalGetValueType(callee), result = LLVMGetReturnType(type);
  unsigned count = LLVMCountParamTypes(type), first = LLVMGetTypeKind(result) != LLVMVoidTypeKind;
  LLVMTypeRef *types = calloc(count + 1, sizeof *types);
  LLVMValueRef *values = calloc(count + 1, sizeof *values);
  if (types && values) {
    LLVMGetParamTypes(type, types);
    for (unsigned i = 0; i < count; ++i)
      values[i] = loadArgument(builder, args, i + first, types[i]);
    LLVMValueRef call = LLVMBuildCall2(builder, type, callee, values, count, "");
    if (first) {
      LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetTypeContext(result), 0);
      LLVMBuildStore(builder, call, loadArgument(builder, args, 0, pointer));
    }
  }
  LLVMBuildRetVoid(builder);
  free(types);
  free(values);
}

bool tileJitAddPackedEntry(LLVMModuleRef module, const char *name, tessera_error_t *error) {
  char symbol[512];
  snprintf(symbol, sizeof symbol, "_mlir_ciface_%s", name);
  LLVMValueRef callee = LLVMGetNamedFunction(module, symbol);
  if (!callee)
    return tessera_fail(error, "the program has no entry function '%s'", name);
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, false);
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", name);
  LLVMValueRef packed = LLVMAddFunction(module, symbol, type);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, packed, ""));
  buildPackedBody(builder, callee, LLVMGetParam(packed, 0));
  LLVMDisposeBuilder(builder);
  return true;
}
