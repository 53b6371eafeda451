// tile.assert: the program fails if the condition is false. tile.print: the values are widened into buffers and passed
// to one call of the runtime (lib/runtime/print.h).
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

//===--- assert ---------------------------------------------------------------------------------------===//

static void assertElement(VecBody *body, const VecCoord *coords, void *data) {
  MlirOperation op = *(MlirOperation *)data;
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirValue holds = vecElementAt(body, tileAssertOpGetCondition(op), coords);
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue fails = arithXOrIOpBuild(builder, holds, one);
  TileBuilder before = vecOpenIf(lowering, fails);
  vecRaiseAt(lowering, op, "assertion failed: ", tileAssertOpGetMessageValue(op));
  vecCloseIf(lowering, fails, before);
}

bool vecLowerAssert(VecLowering *lowering, MlirOperation op) {
  VecShape shape = vecShapeOfValue(tileAssertOpGetCondition(op));
  vecForEachElementOf(lowering, op, &shape, assertElement, &op);
  return true;
}

//===--- print ----------------------------------------------------------------------------------------===//

typedef struct Printed {
  MlirValue value; // of the kernel
  VecAccess *wide; // f64 or i64
} Printed;

static MlirValue widened(TileBuilder *builder, MlirValue value, MlirType wide) {
  if (mlirTypeIsAFloat(wide))
    return vecConvertElement(builder, value, wide, 0);
  MlirType type = mlirValueGetType(value);
  bool isBit = mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
  return tileBuildIntegerCast(builder, value, wide, !isBit);
}

static void widenElement(VecBody *body, const VecCoord *coords, void *data) {
  const Printed *printed = data;
  MlirValue value = vecElementAt(body, printed->value, coords);
  value = widened(&body->lowering->builder, value, printed->wide->shape.element);
  vecAccessStore(body, printed->wide, coords, -1, 0, value);
}

static VecAccess *widen(VecLowering *lowering, MlirValue value) {
  VecShape shape = vecShapeOfValue(value);
  bool isFloat = mlirTypeIsAFloat(shape.element);
  shape.element = isFloat ? mlirF64TypeGet(lowering->context) : mlirIntegerTypeGet(lowering->context, 64);
  Printed printed = {value, vecBufferNew(lowering, &shape)};
  vecForEachElement(lowering, &shape, widenElement, &printed);
  return printed.wide;
}

static void describeWord(VecLowering *lowering, const VecAccess *words, int64_t i, MlirValue word) {
  VecBody body = vecBodyBegin(lowering, true);
  VecCoord at[MaxRank] = {vecCoordConstant(i)};
  vecAccessStore(&body, words, at, -1, 0, word);
  vecBodyEnd(&body);
}

static void describeValue(VecLowering *lowering, const VecAccess *words, int64_t i, MlirValue value) {
  TileBuilder *builder = &lowering->builder;
  MlirType word = mlirIntegerTypeGet(lowering->context, 64);
  const VecAccess *wide = widen(lowering, value);
  int64_t count = vecIsTile(mlirValueGetType(value)) ? vecShapeCount(&wide->shape) : -1;
  MlirValue start = memrefExtractAlignedPointerAsIndexOpBuild(builder, wide->memref);
  describeWord(lowering, words, 3 * i, tileBuildInteger(builder, word, count));
  describeWord(lowering, words, 3 * i + 1, tileBuildInteger(builder, word, mlirTypeIsAFloat(wide->shape.element)));
  describeWord(lowering, words, 3 * i + 2, arithIndexCastOpBuild(builder, word, start));
}

static void callPrint(VecLowering *lowering, MlirOperation op, const VecAccess *words, intptr_t count) {
  MlirStringRef message = tilePrintOpGetMessageValue(op);
  char *text = calloc(message.length + 1, 1);
  memcpy(text, message.data, message.length);
  MlirValue operands[] = {vecPointerOfText(lowering, text), vecPointerOfBuffer(&lowering->builder, words->memref),
                          tileBuildInteger(&lowering->builder, mlirIntegerTypeGet(lowering->context, 64), count)};
  vecCallRuntime(lowering, "tessera_print", 3, operands);
  free(text);
}

bool vecLowerPrint(VecLowering *lowering, MlirOperation op) {
  intptr_t count = tilePrintOpGetNumValues(op);
  if (!mlirAttributeIsNull(tilePrintOpGetStop(op)))
    return true;
  for (intptr_t i = 0; i < count; ++i)
    if (mlirTypeIsAMemRef(tileOperandType(op, i)))
      return tileError(op, "prints a memref, expected a tile or a scalar: a CPU prints what tile.load gives");
  intptr_t mark = vecSpillOperands(lowering, op);
  VecShape shape = {.rank = 1, .sizes = {3 * count + 1}, .element = mlirIntegerTypeGet(lowering->context, 64)};
  VecAccess *words = vecBufferNew(lowering, &shape);
  for (intptr_t i = 0; i < count; ++i)
    describeValue(lowering, words, i, tilePrintOpGetValues(op, i));
  vecUnspill(lowering, mark);
  callPrint(lowering, op, words, count);
  return true;
}
