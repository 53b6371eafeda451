// Hands a lowered module to the JIT. See cpu.h.
#include "lib/target/cpu/cpu.h"

#include "mlir-c/RegisterEverything.h"
#include "mlir-c/Target/LLVMIR.h"

TileJit *tileCpuCompile(MlirOperation module, const char *entry, tessera_error_t *error) {
  mlirRegisterAllLLVMTranslations(mlirOperationGetContext(module));
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef translated = mlirTranslateModuleToLLVMIR(module, context);
  if (!translated || !tileJitAddPackedEntry(translated, entry, error)) {
    if (translated)
      LLVMDisposeModule(translated);
    else
      tessera_fail(error, "the module cannot be translated to LLVM IR");
    LLVMContextDispose(context);
    return NULL;
  }
  return tileJitCreate(translated, context, 3, error);
}
