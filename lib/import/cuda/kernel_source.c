// CUDA C++ and HIP in: clang, upstream's importer of LLVM IR, launchers. See kernel_source.h.
#include "lib/import/cuda/kernel_source.h"

#include "lib/capi/llvm_import.h"
#include "lib/import/cuda/parts.h"

bool cudaFileIsSource(const char *path) {
  const char *end = strrchr(path, '.');
  return end && (strcmp(end, ".cu") == 0 || strcmp(end, ".hip") == 0);
}

static bool expectChip(const char *path, const char *chip, tessera_error_t *error) {
  if (!chip)
    return tessera_fail(error, "%s: is compiled for one GPU: give --target=emulate:CHIP (tile-run) or --chip=CHIP",
                        path);
  return strncmp(chip, "sm_", 3) == 0 || strncmp(chip, "gfx", 3) == 0 ||
         tessera_fail(error, "%s: clang has no target for %s; accepted: chips whose names begin with sm_ or gfx", path,
                      chip);
}

// The module of LLVM IR becomes the importer's.
static MlirModule import(LLVMModuleRef compiled, MlirContext context, const char *path, tessera_error_t *error) {
  CudaKernels kernels;
  MlirModule module = {NULL};
  bool ok = cudaFindKernels(compiled, context, &kernels, error) &&
            (kernels.count || tessera_fail(error, "%s: has no kernel (a function that is __global__)", path));
  if (ok) {
    module = mlirExtTranslateLLVMIRToModule(compiled, context);
    ok = !mlirModuleIsNull(module);
    if (ok)
      module = cudaArrange(module, &kernels, path);
  } else {
    LLVMDisposeModule(compiled);
  }
  cudaKernelsFree(&kernels);
  return module;
}

MlirModule cudaImport(MlirContext context, const char *path, const char *chip, tessera_error_t *error) {
  if (!expectChip(path, chip, error))
    return (MlirModule){NULL};
  tessera_fail(error, "%s: cannot be imported", path); // where a diagnostic says why
  LLVMContextRef llvm = LLVMContextCreate();
  LLVMModuleRef compiled = cudaCompile(llvm, path, chip, error);
  MlirModule module = compiled ? import(compiled, context, path, error) : (MlirModule){NULL};
  LLVMContextDispose(llvm);
  return module;
}
