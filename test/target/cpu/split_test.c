// A program split into modules: which functions move, and that the modules are complete.
#include "lib/support/text.h"
#include "lib/target/cpu/split.h"
#include "mlir-c/RegisterEverything.h"
#include "test/check.h"

#include <stdlib.h>

enum { Ops = 3000 };

// A function of many ops, which takes the address of `taken` and calls `called`, where these are given.
static void writeFunction(tessera_text_t *text, const char *name, const char *taken, const char *called) {
  tessera_text_format(text, "llvm.func @%s() {\n", name);
  for (int i = 0; i < Ops; ++i)
    tessera_text_format(text, "  %%%d = llvm.mlir.constant(%d : i32) : i32\n", i, i);
  if (taken)
    tessera_text_format(text, "  %%t = llvm.mlir.addressof @%s : !llvm.ptr\n", taken);
  if (called)
    tessera_text_format(text, "  llvm.call @%s() : () -> ()\n", called);
  tessera_text_format(text, "  llvm.return\n}\n");
}

static MlirModule parse(MlirContext context) {
  tessera_text_t text = {NULL};
  tessera_text_format(&text,
                      "llvm.mlir.global internal constant @table(\"ab\") {addr_space = 0 : i32}\n"
                      "llvm.mlir.global private constant @text(\"cd\") {addr_space = 0 : i32}\nllvm.func @outside()\n");
  const char *const taken[] = {"alone", "asks", "reads", "calls", "owns"};
  tessera_text_format(&text, "llvm.func @main() {\n");
  for (int i = 0; i < 5; ++i)
    tessera_text_format(&text, "  %%%d = llvm.mlir.addressof @%s : !llvm.ptr\n", i, taken[i]);
  tessera_text_format(&text, "  llvm.call @helper() : () -> ()\n  llvm.return\n}\n");
  writeFunction(&text, "alone", NULL, NULL);
  writeFunction(&text, "asks", NULL, "outside");
  writeFunction(&text, "reads", "table", NULL);  // a global that another function names too
  writeFunction(&text, "calls", NULL, "helper"); // a function of the program's
  writeFunction(&text, "helper", "table", NULL); // is called
  writeFunction(&text, "owns", "text", "outside");
  writeFunction(&text, "unused", NULL, NULL); // perhaps an entry
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text.data));
  tessera_text_free(&text);
  return module;
}

static bool has(MlirModule module, const char *name, bool wantsBody) {
  MlirSymbolTable symbols = mlirSymbolTableCreate(mlirModuleGetOperation(module));
  MlirOperation op = mlirSymbolTableLookup(symbols, mlirStringRefCreateFromCString(name));
  mlirSymbolTableDestroy(symbols);
  return !mlirOperationIsNull(op) &&
         mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))) != wantsBody;
}

static void testSplit(MlirModule module) {
  MlirModule parts[TileCpuMaxParts];
  CHECK(tileCpuSplit(mlirModuleGetOperation(module), 1, parts) == 0);
  int count = tileCpuSplit(mlirModuleGetOperation(module), 3, parts);
  CHECK(count == 2, "%d", count);
  const char *const moved[] = {"alone", "asks", "owns"}, *const kept[] = {"main", "reads", "calls", "helper", "unused"};
  for (int i = 0; i < 3 && count == 2; ++i) {
    CHECK(has(module, moved[i], false), "%s", moved[i]);
    CHECK(has(parts[0], moved[i], true) != has(parts[1], moved[i], true), "%s", moved[i]);
  }
  for (int i = 0; i < count; ++i) {
    CHECK(has(parts[i], "text", false) == has(parts[i], "owns", true));
    CHECK(!has(parts[i], "table", false));
    CHECK(mlirOperationVerify(mlirModuleGetOperation(parts[i])));
  }
  CHECK(!has(module, "text", false) && has(module, "table", false));
  for (int i = 0; i < 5; ++i)
    CHECK(has(module, kept[i], true), "%s", kept[i]);
  CHECK(mlirOperationVerify(mlirModuleGetOperation(module)));
  tileCpuDestroyParts(parts, count);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirContextLoadAllAvailableDialects(context);
  MlirModule module = parse(context);
  CHECK(!mlirModuleIsNull(module));
  if (!mlirModuleIsNull(module)) {
    testSplit(module);
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return checkResult(21);
}
