// Upstream's importer of LLVM IR. See llvm_import.h.
#include "lib/capi/llvm_import.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMIRToLLVMTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/LLVMIRToNVVMTranslation.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "llvm/IR/Module.h"

using namespace mlir;

MlirModule mlirExtTranslateLLVMIRToModule(LLVMModuleRef module, MlirContext context) {
  registerLLVMDialectImport(*unwrap(context));
  registerNVVMDialectImport(*unwrap(context));
  std::unique_ptr<llvm::Module> owned(llvm::unwrap(module));
  OwningOpRef<ModuleOp> imported =
      translateLLVMIRToModule(std::move(owned), unwrap(context), /*emitExpensiveWarnings=*/false);
  return wrap(imported.release());
}
