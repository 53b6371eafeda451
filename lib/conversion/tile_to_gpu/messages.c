// Messages by the device's own functions: vprintf and __assertfail as CUDA's runtime has them. The emulator knows both;
// what AMD's target makes of them: lib/target/rocdl.
#include "lib/conversion/tile_to_gpu/gpu.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>

static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }

static MlirOperation call(TileBuilder *builder, MlirOperation module, const char *name, intptr_t count,
                          const MlirValue *operands, MlirType result) {
  MlirContext context = builder->context;
  MlirType *types = malloc((size_t)(count + 1) * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(operands[i]);
  gpuDeclare(module, name, mlirLLVMFunctionTypeGet(result, count, types, false));
  free(types);
  int32_t segments[] = {(int32_t)count, 0};
  TileAttributeEntry attributes[] = {{"callee", mlirFlatSymbolRefAttrGet(context, tileString(name))},
                                     {"operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, segments)},
                                     {"op_bundle_sizes", mlirDenseI32ArrayGet(context, 0, NULL)},
                                     {NULL}};
  bool isVoid = mlirTypeEqual(result, mlirLLVMVoidTypeGet(context));
  return tileBuild(builder, "llvm.call", count, operands, !isVoid, &result, attributes, 0, NULL);
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
  TileAttributeEntry attributes[] = {{"elem_type", mlirTypeAttrGet(type)},
                                     {"alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), 8)},
                                     {NULL}};
  MlirValue slot = tileBuildValue(builder, "llvm.alloca", pointer, 1, &one, attributes);
  return space ? tileBuildValue(builder, "llvm.addrspacecast", generic, 1, &slot, NULL) : slot;
}

// vprintf takes the values in a buffer, each aligned to its size; i32 take a word of eight bytes of their own here only
// when the next value is wider, so all are passed as eight bytes.
void gpuVprintf(TileBuilder *builder, MlirOperation module, unsigned privateSpace, const char *format, intptr_t count,
                const MlirValue *values) {
  MlirType pointer = mlirLLVMPointerTypeGet(builder->context, 0);
  MlirValue buffer = slot(builder, 8 * (count ? count : 1), privateSpace);
  for (intptr_t i = 0; i < count; ++i) {
    int32_t at = (int32_t)(8 * i);
    TileAttributeEntry place[] = {{"elem_type", mlirTypeAttrGet(mlirIntegerTypeGet(builder->context, 8))},
                                  {"rawConstantIndices", mlirDenseI32ArrayGet(builder->context, 1, &at)},
                                  {NULL}};
    MlirValue address = tileBuildValue(builder, "llvm.getelementptr", pointer, 1, &buffer, place);
    tileBuild(builder, "llvm.store", 2, (MlirValue[]){values[i], address}, 0, NULL, NULL, 0, NULL);
  }
  MlirValue operands[] = {gpuTextAddress(builder, module, format), buffer};
  call(builder, module, "vprintf", 2, operands, i32Type(builder->context));
}
