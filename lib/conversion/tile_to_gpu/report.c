// tile.print and tile.assert: by the device's own functions (lib/ir/emit/device_report.h). The emulator knows both;
// what AMD's target makes of them: lib/target/rocdl. The first thread prints, so that a tile's elements stand in one
// line; every thread asserts what it holds.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/ir/emit/device_report.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <string.h>

// The device's own assertion: it prints the message and stops the kernel with an error.
void gpuFail(Gpu *g, const char *text) { tileBuildDeviceFail(&g->builder, g->module, text); }

//===--- assert -----------------------------------------------------------------------------------===//

static void describe(MlirOperation op, char *text, size_t capacity) {
  MlirLocation location = tileWrittenAt(op);
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
  tileBuildDevicePrint(&g->builder, g->module, g->vocabulary->privateSpace, format, 1, &wide);
}

static void printText(Gpu *g, const char *text) {
  if (*text)
    tileBuildDevicePrint(&g->builder, g->module, g->vocabulary->privateSpace, text, 0, NULL);
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
