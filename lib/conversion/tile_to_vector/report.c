// tile.assert: a failure of the program where the condition is false. tile.print: values widened into buffers, and one
// call of the runtime (lib/runtime/print.h).
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

//===--- assert ---------------------------------------------------------------------------------------===//

static void assertElement(Body *body, const Coord *coords, void *data) {
  MlirOperation op = *(MlirOperation *)data;
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirValue holds = elementAt(body, mlirOperationGetOperand(op, 0), coords);
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue fails = buildBinary(builder, "arith.xori", holds, one);
  TileBuilder before = openIf(lowering, fails);
  raiseAt(lowering, op, "assertion failed: ", tileKeywordOf(op, "message"));
  closeIf(lowering, fails, before);
}

bool lowerAssert(Lowering *lowering, MlirOperation op) {
  Shape shape = shapeOfValue(mlirOperationGetOperand(op, 0));
  forEachElementOf(lowering, op, &shape, assertElement, &op);
  return true;
}

//===--- print ----------------------------------------------------------------------------------------===//

typedef struct Printed {
  MlirValue value; // of the kernel
  Access *wide;    // f64 or i64
} Printed;

static MlirValue widened(TileBuilder *builder, MlirValue value, MlirType wide) {
  if (mlirTypeIsAFloat(wide))
    return convertElement(builder, value, wide, 0);
  MlirType type = mlirValueGetType(value);
  bool isBit = mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
  return integerCast(builder, value, wide, !isBit);
}

static void widenElement(Body *body, const Coord *coords, void *data) {
  const Printed *printed = data;
  MlirValue value = elementAt(body, printed->value, coords);
  value = widened(&body->lowering->builder, value, printed->wide->shape.element);
  accessStore(body, printed->wide, coords, -1, 0, value);
}

static Access *widen(Lowering *lowering, MlirValue value) {
  Shape shape = shapeOfValue(value);
  bool isFloat = mlirTypeIsAFloat(shape.element);
  shape.element = isFloat ? mlirF64TypeGet(lowering->context) : mlirIntegerTypeGet(lowering->context, 64);
  Printed printed = {value, bufferNew(lowering, &shape)};
  forEachElement(lowering, &shape, widenElement, &printed);
  return printed.wide;
}

static void describeWord(Lowering *lowering, const Access *words, int64_t i, MlirValue word) {
  Body body = bodyBegin(lowering, true);
  Coord at[MaxRank] = {coordConstant(i)};
  accessStore(&body, words, at, -1, 0, word);
  bodyEnd(&body);
}

static void describeValue(Lowering *lowering, const Access *words, int64_t i, MlirValue value) {
  TileBuilder *builder = &lowering->builder;
  MlirType word = mlirIntegerTypeGet(lowering->context, 64), index = mlirIndexTypeGet(lowering->context);
  const Access *wide = widen(lowering, value);
  int64_t count = isTile(mlirValueGetType(value)) ? shapeCount(&wide->shape) : -1;
  MlirValue start = buildUnary(builder, "memref.extract_aligned_pointer_as_index", index, wide->memref);
  describeWord(lowering, words, 3 * i, tileBuildInteger(builder, word, count));
  describeWord(lowering, words, 3 * i + 1, tileBuildInteger(builder, word, mlirTypeIsAFloat(wide->shape.element)));
  describeWord(lowering, words, 3 * i + 2, buildUnary(builder, "arith.index_cast", word, start));
}

static void callPrint(Lowering *lowering, MlirOperation op, const Access *words, intptr_t count) {
  MlirStringRef message = tileKeywordOf(op, "message");
  char *text = calloc(message.length + 1, 1);
  memcpy(text, message.data, message.length);
  MlirValue operands[] = {pointerOfText(lowering, text), pointerOfBuffer(&lowering->builder, words->memref),
                          tileBuildInteger(&lowering->builder, mlirIntegerTypeGet(lowering->context, 64), count)};
  callRuntime(lowering, "tessera_print", 3, operands);
  free(text);
}

bool lowerPrint(Lowering *lowering, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op), mark = spillOperands(lowering, op);
  Shape shape = {.rank = 1, .sizes = {3 * count + 1}, .element = mlirIntegerTypeGet(lowering->context, 64)};
  Access *words = bufferNew(lowering, &shape);
  for (intptr_t i = 0; i < count; ++i)
    describeValue(lowering, words, i, mlirOperationGetOperand(op, i));
  unspill(lowering, mark);
  callPrint(lowering, op, words, count);
  return true;
}
