// Messages by the device's own functions: vprintf and __assertfail as CUDA's runtime has them. The emulator knows both;
// what AMD's target makes of them: lib/target/rocdl.
#include "lib/conversion/tile_to_gpu/gpu.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdlib.h>

static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

static void call(TileBuilder *builder, MlirOperation module, const char *name, intptr_t count,
                 const MlirValue *operands, MlirType result) {
  MlirContext context = builder->context;
  MlirType *types = malloc((size_t)(count + 1) * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(operands[i]);
  gpuDeclare(module, name, mlirLLVMFunctionTypeGet(result, count, types, false));
  free(types);
  bool isVoid = mlirTypeEqual(result, mlirLLVMVoidTypeGet(context));
  MlirOperation made = llvmCallOpBuild(builder, isVoid ? (MlirType){NULL} : result, count, operands, 0, NULL,
                                       mlirDenseI32ArrayGet(context, 0, NULL));
  llvmCallOpSetCallee(made, mlirFlatSymbolRefAttrGet(context, tileString(name)));
}

// The device's own assertion: it prints the message and stops the kernel with an error.
void gpuAssertFail(TileBuilder *builder, MlirOperation module, const char *text) {
  MlirValue message = gpuTextAddress(builder, module, text), empty = gpuTextAddress(builder, module, "");
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 64), 1);
  MlirValue operands[] = {message, empty, tileBuildInteger(builder, i32Type(builder->context), 0), empty, one};
  call(builder, module, "__assertfail", 5, operands, mlirLLVMVoidTypeGet(builder->context));
}

static MlirValue slot(TileBuilder *builder, intptr_t bytes, unsigned space) {
  MlirContext context = builder->context;
  MlirType pointer = mlirLLVMPointerTypeGet(context, space), generic = mlirLLVMPointerTypeGet(context, 0);
  MlirValue one = tileBuildInteger(builder, i32Type(builder->context), 1);
  MlirType type = mlirLLVMArrayTypeGet(mlirIntegerTypeGet(context, 64), (unsigned)(bytes / 8));
  MlirValue slot = llvmAllocaOpBuild(builder, pointer, one, mlirTypeAttrGet(type));
  llvmAllocaOpSetAlignment(mlirOpResultGetOwner(slot), mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 8));
  return space ? llvmAddrSpaceCastOpBuild(builder, generic, slot) : slot;
}

// vprintf takes the values in a buffer, each aligned to its size; i32 take a word of eight bytes of their own here only
// when the next value is wider, so all are passed as eight bytes.
void gpuVprintf(TileBuilder *builder, MlirOperation module, unsigned privateSpace, const char *format, intptr_t count,
                const MlirValue *values) {
  MlirType pointer = mlirLLVMPointerTypeGet(builder->context, 0);
  MlirValue buffer = slot(builder, 8 * (count ? count : 1), privateSpace);
  for (intptr_t i = 0; i < count; ++i) {
    int32_t at = (int32_t)(8 * i);
    MlirAttribute place = mlirDenseI32ArrayGet(builder->context, 1, &at);
    MlirAttribute byte = mlirTypeAttrGet(mlirIntegerTypeGet(builder->context, 8));
    MlirValue address = llvmGEPOpBuild(builder, pointer, buffer, 0, NULL, place, byte);
    llvmStoreOpBuild(builder, values[i], address);
  }
  MlirValue operands[] = {gpuTextAddress(builder, module, format), buffer};
  call(builder, module, "vprintf", 2, operands, i32Type(builder->context));
}
