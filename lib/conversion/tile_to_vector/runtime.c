// Calls of the runtime (lib/runtime) from kernels: declarations, texts, pointers, and failures at run time.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>
#include <stdlib.h>

//===--- functions -----------------------------------------------------------------------------===//

static bool isDeclared(MlirBlock moduleBody, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(moduleBody); op.ptr; op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tileOpAttribute(op, "sym_name");
    if (symbol.ptr && mlirAttributeIsAString(symbol) && tileStringEquals(mlirStringAttrGetValue(symbol), name))
      return true;
  }
  return false;
}

static void declareFunction(VecLowering *lowering, const char *name, MlirType type) {
  TileBuilder builder = tileBuilderBefore(lowering->kernel);
  if (isDeclared(builder.block, name))
    return;
  MlirRegion body = mlirRegionCreate();
  TileAttributeEntry attributes[] = {{"sym_name", mlirStringAttrGet(builder.context, tileString(name))},
                                     {"function_type", mlirTypeAttrGet(type)},
                                     {"sym_visibility", mlirStringAttrGet(builder.context, tileString("private"))},
                                     {0}};
  tileBuild(&builder, "func.func", 0, NULL, 0, NULL, attributes, 1, &body);
}

void vecCallRuntime(VecLowering *lowering, const char *name, intptr_t count, const MlirValue *operands) {
  MlirType inputs[8];
  for (intptr_t i = 0; i < count; ++i)
    inputs[i] = mlirValueGetType(operands[i]);
  declareFunction(lowering, name, mlirFunctionTypeGet(lowering->context, count, inputs, 0, NULL));
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(lowering->context, tileString(name));
  tileBuild(&lowering->builder, "func.call", count, operands, 0, NULL, (TileAttributeEntry[]){{"callee", callee}, {0}},
            0, NULL);
}

//===--- pointers ---------------------------------------------------------------------------------===//

MlirValue vecPointerOfAddress(TileBuilder *builder, MlirValue address) {
  return vecBuildUnary(builder, "llvm.inttoptr", mlirLLVMPointerTypeGet(builder->context, 0), address);
}

// To the first element of a buffer of the function.
MlirValue vecPointerOfBuffer(TileBuilder *builder, MlirValue memref) {
  MlirType index = mlirIndexTypeGet(builder->context), word = mlirIntegerTypeGet(builder->context, 64);
  MlirValue start = vecBuildUnary(builder, "memref.extract_aligned_pointer_as_index", index, memref);
  return vecPointerOfAddress(builder, vecBuildUnary(builder, "arith.index_cast", word, start));
}

//===--- texts --------------------------------------------------------------------------------------===//

MlirValue vecPointerOfText(VecLowering *lowering, const char *text) {
  MlirStringRef kernel = tileKernelOpGetSymNameValue(lowering->kernel);
  char name[256];
  snprintf(name, sizeof name, "%.*s_text_%d", (int)kernel.length, kernel.data, lowering->numConstants++);
  TileBuilder top = tileBuilderBefore(lowering->kernel);
  tileBuildText(&top, name, text);
  return tileBuildTextAddress(&lowering->builder, name);
}

//===--- failures -----------------------------------------------------------------------------------===//

// "file:line:column", or nothing.
static void describePlace(MlirOperation op, char *text, size_t size) {
  MlirLocation location = mlirOperationGetLocation(op);
  text[0] = '\0';
  if (!mlirLocationIsAFileLineColRange(location))
    return;
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  snprintf(text, size, "%.*s:%d:%d: ", (int)file.length, file.data, mlirLocationFileLineColRangeGetStartLine(location),
           mlirLocationFileLineColRangeGetStartColumn(location));
}

void vecRaiseAt(VecLowering *lowering, MlirOperation op, const char *message, MlirStringRef detail) {
  char place[512], text[1024];
  describePlace(op, place, sizeof place);
  snprintf(text, sizeof text, "%s%s%.*s", place, message, (int)detail.length, detail.data);
  MlirValue pointer = vecPointerOfText(lowering, text);
  vecCallRuntime(lowering, "tessera_raise_message", 1, &pointer);
}
