// Calls of the runtime (lib/runtime) from kernels: declarations, texts, pointers, and failures at run time.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>
#include <stdlib.h>

//===--- functions -----------------------------------------------------------------------------===//

static bool isNamed(MlirOperation op, const char *name) {
  MlirAttribute symbol = tileOpAttribute(op, "sym_name");
  return !mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol) &&
         tileStringEquals(mlirStringAttrGetValue(symbol), name);
}

static void declareFunction(VecLowering *lowering, const char *name, MlirType type) {
  TileBuilder builder = tileBuilderBefore(lowering->kernel);
  for (MlirOperation op = mlirBlockGetFirstOperation(builder.block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (isNamed(op, name))
      return;
  tileBuildDeclaration(&builder, name, type);
}

MlirOperation vecCallFunction(VecLowering *lowering, TileBuilder *builder, const char *name, intptr_t count,
                              const MlirValue *operands, MlirType result) {
  MlirType inputs[8];
  intptr_t numResults = mlirTypeIsNull(result) ? 0 : 1;
  for (intptr_t i = 0; i < count; ++i)
    inputs[i] = mlirValueGetType(operands[i]);
  declareFunction(lowering, name, mlirFunctionTypeGet(lowering->context, count, inputs, numResults, &result));
  MlirAttribute callee = mlirFlatSymbolRefAttrGet(lowering->context, tileString(name));
  return funcCallOpBuild(builder, numResults, &result, count, operands, callee);
}

void vecCallRuntime(VecLowering *lowering, const char *name, intptr_t count, const MlirValue *operands) {
  vecCallFunction(lowering, &lowering->builder, name, count, operands, (MlirType){NULL});
}

//===--- pointers ---------------------------------------------------------------------------------===//

MlirValue vecPointerOfAddress(TileBuilder *builder, MlirValue address) {
  return llvmIntToPtrOpBuild(builder, mlirLLVMPointerTypeGet(builder->context, 0), address);
}

// To the first element of a buffer of the function.
MlirValue vecPointerOfBuffer(TileBuilder *builder, MlirValue memref) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64);
  MlirValue start = memrefExtractAlignedPointerAsIndexOpBuild(builder, memref);
  return vecPointerOfAddress(builder, arithIndexCastOpBuild(builder, word, start));
}

//===--- descriptors --------------------------------------------------------------------------------===//

MlirType vecDescriptorType(MlirContext context, intptr_t rank) {
  MlirType word = mlirIntegerTypeGet(context, 64), address = mlirLLVMPointerTypeGet(context, 0);
  MlirType array = mlirLLVMArrayTypeGet(word, (unsigned)rank), fields[] = {address, address, word, array, array};
  return mlirLLVMStructTypeLiteralGet(context, rank ? 5 : 3, fields, false);
}

static MlirValue insertAt(TileBuilder *builder, MlirValue descriptor, MlirValue part, intptr_t depth,
                          const int64_t *position) {
  return llvmInsertValueOpBuild(builder, descriptor, part, mlirDenseI64ArrayGet(builder->context, depth, position));
}

MlirValue vecMemrefOfPointer(TileBuilder *builder, MlirType type, MlirValue pointer, const MlirValue *sizes,
                             const MlirValue *strides) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirValue zero = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 64), 0);
  MlirValue value = llvmPoisonOpBuild(builder, vecDescriptorType(builder->context, rank));
  value = insertAt(builder, value, pointer, 1, (int64_t[]){0});
  value = insertAt(builder, value, pointer, 1, (int64_t[]){1});
  value = insertAt(builder, value, zero, 1, (int64_t[]){2});
  for (int64_t d = 0; d < rank; ++d)
    value = insertAt(builder, value, sizes[d], 2, (int64_t[]){3, d});
  for (int64_t d = 0; d < rank; ++d)
    value = insertAt(builder, value, strides[d], 2, (int64_t[]){4, d});
  return tileBuildConversionCast(builder, type, value);
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
  MlirLocation location = tileWrittenAt(op);
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

MlirValue vecCallIntrinsic(TileBuilder *builder, const char *name, intptr_t count, MlirValue *operands) {
  MlirAttribute intrinsic = mlirStringAttrGet(builder->context, tileString(name));
  MlirAttribute noBundles = mlirDenseI32ArrayGet(builder->context, 0, NULL);
  MlirOperation call =
      llvmCallIntrinsicOpBuild(builder, mlirValueGetType(operands[0]), count, operands, 0, NULL, intrinsic, noBundles);
  return llvmCallIntrinsicOpGetResults(call);
}
