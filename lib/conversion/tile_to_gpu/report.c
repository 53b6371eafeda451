// tile.print and tile.assert: by the device's own functions vprintf and __assertfail, as CUDA's runtime has them. The
// emulator knows both; what AMD's target makes of them: lib/target/rocdl. The first thread prints, so that a tile's
// elements stand in one line; every thread asserts what it holds.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "upstream/gpu.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdio.h>
#include <string.h>

//===--- the device's functions -------------------------------------------------------------------===//

static TileBuilder atModuleStart(Gpu *g) {
  return tileBuilderAtStart(tileOnlyBlock(gpuGPUModuleOpGetBodyRegion(g->module)), mlirOperationGetLocation(g->module));
}

// Equal texts are one constant: its name is made of the number of texts before it.
static MlirValue textAddress(Gpu *g, const char *text) {
  MlirAttribute value = mlirStringAttrGet(g->context, mlirStringRefCreate(text, strlen(text) + 1));
  char name[32];
  MlirOperation found;
  for (int i = 0;; ++i) {
    snprintf(name, sizeof name, "text_%d", i);
    found = gpuFindSymbol(g->module, name);
    if (mlirOperationIsNull(found) || mlirAttributeEqual(llvmGlobalOpGetValue(found), value))
      break;
  }
  if (mlirOperationIsNull(found)) {
    TileBuilder at = atModuleStart(g);
    MlirOperation global = gpuGlobal(&at, name, mlirLLVMArrayTypeGet(g->i8, (unsigned)strlen(text) + 1));
    llvmGlobalOpSetConstant(global, mlirUnitAttrGet(g->context));
    llvmGlobalOpSetValue(global, value);
  }
  return tileBuildTextAddress(&g->builder, name);
}

static void call(Gpu *g, const char *name, intptr_t count, const MlirValue *operands, MlirType result) {
  enum { MostOperands = 5 };
  MlirType types[MostOperands], none = mlirLLVMVoidTypeGet(g->context);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(operands[i]);
  TileBuilder at = atModuleStart(g);
  if (mlirOperationIsNull(gpuFindSymbol(g->module, name)))
    tileBuildLlvmDeclaration(&at, name,
                             mlirLLVMFunctionTypeGet(mlirTypeIsNull(result) ? none : result, count, types, false));
  tileBuildLlvmCall(&g->builder, name, result, count, operands);
}

// The device's own assertion: it prints the message and stops the kernel with an error.
void gpuFail(Gpu *g, const char *text) {
  MlirValue message = textAddress(g, text), empty = textAddress(g, "");
  MlirValue operands[] = {message, empty, gpuI32(g, 0), empty, gpuInteger(g, g->i64, 1)};
  call(g, "__assertfail", 5, operands, (MlirType){NULL});
}

// vprintf takes the values, f64 or i64, in a buffer of eight bytes each.
static void printFormat(Gpu *g, const char *format, intptr_t count, const MlirValue *values) {
  MlirType pointer = mlirLLVMPointerTypeGet(g->context, g->vocabulary->privateSpace);
  MlirType generic = mlirLLVMPointerTypeGet(g->context, 0);
  MlirAttribute words = mlirTypeAttrGet(mlirLLVMArrayTypeGet(g->i64, count ? (unsigned)count : 1));
  MlirValue buffer = llvmAllocaOpBuild(&g->builder, pointer, gpuI32(g, 1), words);
  llvmAllocaOpSetAlignment(mlirOpResultGetOwner(buffer), mlirIntegerAttrGet(g->i64, 8));
  if (g->vocabulary->privateSpace)
    buffer = llvmAddrSpaceCastOpBuild(&g->builder, generic, buffer);
  for (int32_t i = 0; i < count; ++i)
    llvmStoreOpBuild(&g->builder, values[i], tileBuildElementAddress(&g->builder, buffer, g->i64, i));
  MlirValue operands[] = {textAddress(g, format), buffer};
  call(g, "vprintf", 2, operands, g->i32);
}

//===--- assert -----------------------------------------------------------------------------------===//

static void describe(MlirOperation op, char *text, size_t capacity) {
  MlirLocation location = mlirOperationGetLocation(op);
  MlirStringRef message = mlirStringAttrGetValue(tileOpAttribute(op, "message"));
  int length = 0;
  if (mlirLocationIsAFileLineColRange(location)) {
    MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
    const char *slash = memrchr(file.data, '/', file.length);
    if (slash)
      file = mlirStringRefCreate(slash + 1, file.length - (size_t)(slash + 1 - file.data));
    length = snprintf(text, capacity, "%.*s:%d:%d: ", (int)file.length, file.data,
                      mlirLocationFileLineColRangeGetStartLine(location),
                      mlirLocationFileLineColRangeGetStartColumn(location));
  }
  if (length >= 0 && (size_t)length < capacity)
    snprintf(text + length, capacity - (size_t)length, "%.*s", (int)message.length, message.data);
}

// What lies beyond the tile fails nothing.
static MlirValue holdsAt(Gpu *g, MlirValue condition, intptr_t reg) {
  MlirType type = mlirValueGetType(condition);
  TileLayout layout = gpuLayoutOf(type);
  MlirValue isElement = gpuIsElement(g, gpuMap(g, &layout, tileTypeGetRank(type)), type, AllAxes, reg);
  return gpuSelect(g, isElement, gpuTile(g, condition)[reg], gpuInteger(g, g->i1, 1));
}

static bool lowerAssert(Gpu *g, MlirOperation op) {
  MlirValue condition = tileAssertOpGetCondition(op), holds = {NULL};
  bool isTile = gpuIsTile(mlirValueGetType(condition));
  intptr_t count = isTile ? gpuRegisters(mlirValueGetType(condition)) : 1;
  char text[512];
  for (intptr_t reg = 0; reg < count; ++reg)
    holds = gpuBoth(g, holds, isTile ? holdsAt(g, condition, reg) : gpuScalar(g, condition));
  describe(op, text, sizeof text);
  GpuIf branch = gpuIf(g, gpuNot(g, holds), 0, NULL);
  gpuFail(g, text);
  gpuEndIf(g, &branch, 0, NULL, NULL);
  return true;
}

//===--- print ------------------------------------------------------------------------------------===//

static MlirValue widened(Gpu *g, MlirValue value) {
  MlirType type = mlirValueGetType(value), wide = mlirF64TypeGet(g->context);
  if (mlirTypeIsAFloat(type))
    return mlirTypeEqual(type, wide) ? value : gpuOp(g, ArithOp_ExtF, wide, value);
  return gpuCast(g, value, g->i64, !mlirTypeEqual(type, g->i1));
}

static void printValue(Gpu *g, const char *before, MlirValue value, const char *after) {
  char format[512];
  MlirValue wide = widened(g, value);
  bool isFloat = mlirTypeIsAFloat(mlirValueGetType(wide));
  snprintf(format, sizeof format, "%s%s%s", before, isFloat ? "%g" : "%lld", after);
  printFormat(g, format, 1, &wide);
}

static void printText(Gpu *g, const char *text) {
  if (*text)
    printFormat(g, text, 0, NULL);
}

// "[1, 2, 3]": of a dense memref, row by row as one list.
static void printElements(Gpu *g, MlirType type, MlirValue base) {
  MlirType element = tileTypeGetElement(type);
  int64_t count = tileTypeGetCount(type), bytes = tileStoredBytes(element);
  TileBuilder before;
  MlirValue value;
  gpuLoadElements(g, element, 1, base, bytes, &value);
  printValue(g, "[", value, "");
  MlirValue n = gpuFor(g, gpuI32(g, 1), gpuI32(g, count), 1, &before);
  gpuLoadElements(g, element, 1, gpuElementAt(g, base, n, element), bytes, &value);
  printValue(g, ", ", value, "");
  gpuEndFor(g, before);
  printText(g, "]");
}

// The message up to the next {}, for printf; returns where it goes on.
static const char *takeText(const char *at, const char *end, char *text, size_t capacity) {
  size_t length = 0;
  while (at < end && !(at + 1 < end && at[0] == '{' && at[1] == '}') && length + 3 < capacity) {
    if (*at == '%')
      text[length++] = '%';
    text[length++] = *at++;
  }
  text[length] = '\0';
  return at;
}

static bool printNext(Gpu *g, MlirOperation op, const char *before, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (gpuIsTile(type))
    return gpuMustExchange(op);
  if (!mlirTypeIsAMemRef(type)) {
    printValue(g, before, gpuScalar(g, value), "");
    return true;
  }
  printText(g, before);
  printElements(g, type, gpuRecord(g, value)->memory->base);
  return true;
}

static bool lowerPrint(Gpu *g, MlirOperation op) {
  MlirStringRef message = tilePrintOpGetMessageValue(op);
  if (!mlirAttributeIsNull(tilePrintOpGetStop(op)))
    return true;
  GpuIf first = gpuIf(g, gpuIsElected(g), 0, NULL);
  const char *at = message.data, *end = message.data + message.length;
  char text[512];
  for (intptr_t i = 0; i < tilePrintOpGetNumValues(op); ++i) {
    at = takeText(at, end, text, sizeof text - 1);
    at += at < end ? 2 : 0;
    if (!printNext(g, op, text, tilePrintOpGetValues(op, i)))
      return false;
  }
  takeText(at, end, text, sizeof text - 1);
  strcat(text, "\n");
  printText(g, text);
  gpuEndIf(g, &first, 0, NULL, NULL);
  return true;
}

const GpuRow gpuReportRows[] = {{TileOp_Print, lowerPrint}, {TileOp_Assert, lowerAssert}, {.lower = NULL}};
