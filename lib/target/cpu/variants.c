// One program for GPUs that want different host's parts (blocks or tiles of other sizes): all parts are in it, each
// entry a choice between them by the device that the calling thread has entered (tessera_device_choose).
// Expects: modules of one context, entries packed, everything else internal. Leaves: in the first module what PART's
// entry NAME was as NAME.PART, internal, and NAME anew. Cost: a call, one comparison of texts for each image.
#include "lib/target/cpu/ahead_of_time.h"

#include "llvm-c/Linker.h"

#include <string.h>

enum { MaxVariants = 16, MaxParameters = 256 };

typedef struct Joining {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMTypeRef i64, pointer;
  LLVMValueRef choose, tables;
  int count;
} Joining;

//===--- names ----------------------------------------------------------------------------------===//

static bool isEntry(const char *name) {
  return strncmp(name, "_mlir_ciface_", 13) == 0 || strncmp(name, "tessera_packed_", 15) == 0;
}

static void numberName(LLVMValueRef value, int part) {
  char name[SymbolCapacity + 16];
  size_t length;
  int written = snprintf(name, sizeof name, "%.*s.%d", SymbolCapacity, LLVMGetValueName2(value, &length), part);
  LLVMSetValueName2(value, name, (size_t)written);
}

// Entries and the table of images are what parts have in common by name.
static void numberNames(LLVMModuleRef module, int part) {
  size_t length;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && isEntry(LLVMGetValueName2(f, &length)))
      numberName(f, part);
  LLVMValueRef table = LLVMGetNamedGlobal(module, TILE_IMAGES_TABLE);
  if (table) {
    LLVMSetLinkage(table, LLVMExternalLinkage); // till it is linked
    numberName(table, part);
  }
}

static LLVMValueRef partOf(const Joining *joining, const char *name, int part) {
  char symbol[SymbolCapacity + 16];
  snprintf(symbol, sizeof symbol, "%.*s.%d", SymbolCapacity, name, part);
  LLVMValueRef function = LLVMGetNamedFunction(joining->module, symbol);
  return function ? function : LLVMGetNamedGlobal(joining->module, symbol);
}

//===--- the choice -----------------------------------------------------------------------------===//

static LLVMValueRef addTables(const Joining *joining) {
  LLVMValueRef tables[MaxVariants];
  for (int i = 0; i < joining->count; ++i) {
    tables[i] = partOf(joining, TILE_IMAGES_TABLE, i);
    if (tables[i])
      LLVMSetLinkage(tables[i], LLVMInternalLinkage);
    else
      return NULL; // it launches nothing
  }
  LLVMValueRef list = LLVMConstArray2(joining->pointer, tables, (uint64_t)joining->count);
  LLVMValueRef global = LLVMAddGlobal(joining->module, LLVMTypeOf(list), "");
  LLVMSetInitializer(global, list);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

static void buildReturn(LLVMBuilderRef builder, LLVMTypeRef result, LLVMValueRef value) {
  if (LLVMGetTypeKind(result) == LLVMVoidTypeKind)
    LLVMBuildRetVoid(builder);
  else
    LLVMBuildRet(builder, value ? value : LLVMConstNull(result));
}

static void buildCall(const Joining *joining, LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef callee) {
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  LLVMValueRef arguments[MaxParameters];
  unsigned count = LLVMCountParams(function);
  LLVMGetParams(function, arguments);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(joining->context, function, ""));
  buildReturn(builder, LLVMGetReturnType(type), LLVMBuildCall2(builder, type, callee, arguments, count, ""));
}

// NAME: calls NAME.0, NAME.1, … by the device; none where no part suits, which has been raised.
static bool addChoice(const Joining *joining, const char *name, tessera_error_t *error) {
  LLVMValueRef first = partOf(joining, name, 0);
  if (!first)
    return true; // has no such form
  LLVMTypeRef type = LLVMGlobalGetValueType(first), result = LLVMGetReturnType(type);
  if (LLVMCountParamTypes(type) > MaxParameters)
    return tessera_fail(error, "function '%s' has too many parameters", name);
  LLVMValueRef function = LLVMAddFunction(joining->module, name, type);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(joining->context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(joining->context, function, ""));
  LLVMValueRef arguments[] = {joining->tables, LLVMConstInt(joining->i64, (unsigned long long)joining->count, false)};
  LLVMValueRef part =
      LLVMBuildCall2(builder, LLVMGlobalGetValueType(joining->choose), joining->choose, arguments, 2, "");
  LLVMBasicBlockRef none = LLVMAppendBasicBlockInContext(joining->context, function, "");
  LLVMValueRef branch = LLVMBuildSwitch(builder, part, none, (unsigned)joining->count);
  for (int i = 0; i < joining->count; ++i) {
    LLVMValueRef callee = partOf(joining, name, i);
    buildCall(joining, builder, function, callee);
    LLVMSetLinkage(callee, LLVMInternalLinkage);
    LLVMAddCase(branch, LLVMConstInt(joining->i64, (unsigned long long)i, false), LLVMGetInsertBlock(builder));
  }
  LLVMPositionBuilderAtEnd(builder, none);
  buildReturn(builder, result, NULL);
  LLVMDisposeBuilder(builder);
  return true;
}

static bool addChoices(const Joining *joining, const TileEntries *entries, tessera_error_t *error) {
  static const char *const forms[] = {"_mlir_ciface_%s", "_mlir_ciface_%s_into", "tessera_packed_%s",
                                      "tessera_packed_%s_into"};
  for (int i = 0; i < entries->count; ++i)
    for (int form = 0; form < 4; ++form) {
      char name[SymbolCapacity];
      snprintf(name, sizeof name, forms[form], entries->items[i].name);
      if (!addChoice(joining, name, error))
        return false;
    }
  return true;
}

bool tileCpuJoinVariants(LLVMModuleRef *modules, int count, const TileEntries *entries, tessera_error_t *error) {
  LLVMContextRef context = LLVMGetModuleContext(modules[0]);
  Joining joining = {modules[0], context, LLVMInt64TypeInContext(context), LLVMPointerTypeInContext(context, 0),
                     .count = count};
  if (count > MaxVariants)
    return tessera_fail(error, "a program for more than %d kinds of GPUs, each with a host part of its own",
                        MaxVariants);
  for (int i = 0; i < count; ++i)
    numberNames(modules[i], i);
  for (int i = 1; i < count; ++i) {
    LLVMModuleRef other = modules[i];
    modules[i] = NULL; // is taken over
    if (LLVMLinkModules2(modules[0], other))
      return tessera_fail(error, "the host's parts cannot be linked");
  }
  LLVMTypeRef types[] = {joining.pointer, joining.i64};
  joining.choose = LLVMAddFunction(modules[0], "tessera_device_choose", LLVMFunctionType(joining.i64, types, 2, false));
  joining.tables = addTables(&joining);
  return (joining.tables || tessera_fail(error, "a host's part launches nothing")) &&
         addChoices(&joining, entries, error);
}
