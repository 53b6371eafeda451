// Calls of vprintf and __assertfail. See device_report.h.
#include "lib/ir/emit/device_report.h"

#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdio.h>
#include <string.h>

// Equal texts are one constant: its name is made of the number of texts before it.
static MlirValue textAddress(TileBuilder *b, MlirOperation module, const char *text) {
  MlirAttribute value = mlirStringAttrGet(b->context, mlirStringRefCreate(text, strlen(text) + 1));
  char name[32];
  MlirOperation found;
  for (int i = 0;; ++i) {
    snprintf(name, sizeof name, "text_%d", i);
    found = tileFindSymbol(module, name);
    if (mlirOperationIsNull(found) || mlirAttributeEqual(llvmGlobalOpGetValue(found), value))
      break;
  }
  TileBuilder top = tileBuilderAtTop(module);
  if (mlirOperationIsNull(found))
    tileBuildText(&top, name, text);
  return tileBuildTextAddress(b, name);
}

static void callDevice(TileBuilder *b, MlirOperation module, const char *name, intptr_t count, const MlirValue *values,
                       MlirType result) {
  enum { Most = 5 };
  MlirType types[Most], none = mlirLLVMVoidTypeGet(b->context);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  TileBuilder top = tileBuilderAtTop(module);
  if (mlirOperationIsNull(tileFindSymbol(module, name)))
    tileBuildLlvmDeclaration(&top, name,
                             mlirLLVMFunctionTypeGet(mlirTypeIsNull(result) ? none : result, count, types, false));
  tileBuildLlvmCall(b, name, result, count, values);
}

void tileBuildDevicePrint(TileBuilder *b, MlirOperation module, unsigned space, const char *format, intptr_t count,
                          const MlirValue *values) {
  MlirType i64 = mlirIntegerTypeGet(b->context, 64), i32 = mlirIntegerTypeGet(b->context, 32);
  MlirAttribute words = mlirTypeAttrGet(mlirLLVMArrayTypeGet(i64, count ? (unsigned)count : 1));
  MlirValue buffer =
      llvmAllocaOpBuild(b, mlirLLVMPointerTypeGet(b->context, space), tileBuildInteger(b, i32, 1), words);
  llvmAllocaOpSetAlignment(mlirOpResultGetOwner(buffer), mlirIntegerAttrGet(i64, 8));
  if (space)
    buffer = llvmAddrSpaceCastOpBuild(b, mlirLLVMPointerTypeGet(b->context, 0), buffer);
  for (int32_t i = 0; i < count; ++i)
    llvmStoreOpBuild(b, values[i], tileBuildElementAddress(b, buffer, i64, i));
  MlirValue operands[] = {textAddress(b, module, format), buffer};
  callDevice(b, module, "vprintf", 2, operands, i32);
}

void tileBuildDeviceFail(TileBuilder *b, MlirOperation module, const char *message) {
  MlirType i64 = mlirIntegerTypeGet(b->context, 64), i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue text = textAddress(b, module, message), empty = textAddress(b, module, "");
  MlirValue operands[] = {text, empty, tileBuildInteger(b, i32, 0), empty, tileBuildInteger(b, i64, 1)};
  callDevice(b, module, "__assertfail", 5, operands, (MlirType){NULL});
}
