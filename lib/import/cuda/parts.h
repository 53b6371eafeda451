// What the files of this folder share: clang's module, and what its debug info says of a kernel.
#pragma once

#include "lib/import/cuda/kernel_source.h"
#include "llvm-c/Core.h"

// compile.c: clang as a child, on the file as it is. Null after an error; the caller disposes of both.
LLVMModuleRef cudaCompile(LLVMContextRef context, const char *path, const char *chip, tessera_error_t *error);
extern const char cudaHeaderName[]; // the end of our header's path, in locations

// A kernel, as its author wrote it.
typedef struct CudaKernel {
  LLVMValueRef function;
  char *name, *symbol; // "scale<float>", "_Z5scaleIfEvPT_"; owned
  int count;
  MlirType *elements; // one for each parameter: what a pointer points to; null: a number; owned
} CudaKernel;

typedef struct CudaKernels {
  intptr_t count;
  CudaKernel *items;
} CudaKernels;

// parameters.c: all kernels of the module. False after diagnostics; the list must be freed in any case.
bool cudaFindKernels(LLVMModuleRef module, MlirContext context, CudaKernels *kernels, tessera_error_t *error);
void cudaKernelsFree(CudaKernels *kernels);

// arrange.c: the imported module becomes a gpu.module beside the launchers. Takes `imported` over.
MlirModule cudaArrange(MlirModule imported, const CudaKernels *kernels, const char *path);
