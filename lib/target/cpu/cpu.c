// Hands a lowered module to the JIT, in parts that are compiled at once. See cpu.h.
#include "lib/target/cpu/cpu.h"

#include "lib/target/cpu/outer_constants.h"
#include "lib/target/cpu/split.h"
#include "mlir-c/RegisterEverything.h"
#include "mlir-c/Target/LLVMIR.h"

static bool translate(MlirOperation module, TilePart *part, tessera_error_t *error) {
  part->context = LLVMContextCreate();
  part->module = mlirTranslateModuleToLLVMIR(module, part->context);
  return part->module || tessera_fail(error, "the module cannot be translated to LLVM IR");
}

// Elements of the module itself may lie anywhere.
static bool isAligned(const TileCpuWeight *weight, void *userData) {
  (void)userData;
  return (uintptr_t)weight->data % weight->alignment == 0;
}

// The code finds its constants where they are.
static bool fill(TileJit *jit, const TileCpuWeights *weights, tessera_error_t *error) {
  bool ok = true;
  for (int i = 0; i < weights->count && ok; ++i) {
    const void **place = tileJitLookup(jit, weights->items[i].symbol, error);
    ok = place != NULL;
    if (ok)
      *place = weights->items[i].data;
  }
  return ok;
}

TileJit *tileCpuCompile(MlirOperation module, const char *entry, tessera_error_t *error) {
  TileCpuWeights weights;
  MlirModule modules[TileCpuMaxParts];
  TilePart parts[TileCpuMaxParts + 1] = {{NULL}};
  mlirRegisterAllLLVMTranslations(mlirOperationGetContext(module));
  if (!tileCpuTakeWeights(module, isAligned, NULL, &weights, error))
    return NULL;
  int numModules = tileCpuSplit(module, tileCpuProcessors(), modules), count = 1;
  bool ok = translate(module, &parts[0], error) && tileJitAddPackedEntry(parts[0].module, entry, error);
  for (int i = 0; i < numModules && ok; ++i)
    ok = translate(mlirModuleGetOperation(modules[i]), &parts[count++], error);
  tileCpuDestroyParts(modules, numModules);
  TileJit *jit = NULL;
  if (ok)
    jit = tileJitCreateOfParts(parts, count, 3, error);
  for (int i = 0; i < count && !ok; ++i)
    tilePartDispose(&parts[i]);
  if (jit && !fill(jit, &weights, error)) {
    tileJitDestroy(jit);
    jit = NULL;
  }
  tileCpuFreeWeights(&weights);
  return jit;
}
