// tile.convert_type, evaluated like arith's operations (lib/ir/emit/number.h), and tile.bitcast, element by element
// into a buffer.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/float_format.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef struct Convert {
  MlirOperation op;
  MlirType from, to; // elements
  VecAccess *result; // bitcast
} Convert;

//===--- convert_type -----------------------------------------------------------------------------------===//

static bool isConvertible(MlirType type) {
  TileFloatFormat format;
  return mlirTypeIsAFloat(type) ? tileFloatFormatOf(type, &format) : vecBitsOf(type) <= 64;
}

bool vecLowerConvertType(VecLowering *lowering, MlirOperation op) {
  MlirValue input = tileConvertTypeOpGetInput(op), result = tileConvertTypeOpGetResult(op);
  MlirType from = tileTypeGetElement(mlirValueGetType(input)), to = tileTypeGetElement(mlirValueGetType(result));
  char fromText[64], toText[64];
  if (!isConvertible(from) || !isConvertible(to))
    return tileError(op, "not lowered to the CPU yet: a conversion of %s to %s",
                     tileTypeText(from, fromText, sizeof fromText), tileTypeText(to, toText, sizeof toText));
  if (vecIsTile(mlirValueGetType(result)))
    return vecLowerLazy(lowering, op);
  MlirValue bits = tileConvertTypeOpGetBits(op), value = vecScalarOf(lowering, input);
  bits = mlirValueIsNull(bits) ? bits : vecScalarOf(lowering, bits);
  TileNumberConversion conversion = tileConversionOf(op);
  vecRecordScalar(lowering, result, tileBuildConversion(&lowering->builder, &conversion, value, bits));
  return true;
}

//===--- bitcast ----------------------------------------------------------------------------------------===//

// How many neighbours of the source one element of the result takes bits from, at most: the widths' greatest common
// divisor says how late in an element it may begin.
static int64_t partsOf(int64_t from, int64_t to) {
  int64_t divisor = from, rest = to;
  while (rest) {
    int64_t next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return 1 + (to - divisor + from - 1) / from;
}

// The source's elements from `at` on, the first in the lowest bits. Beyond the row, where no bit is wanted any more,
// its last element once again.
static MlirValue joinParts(VecBody *body, const Convert *convert, VecCoord *at, intptr_t last, int64_t parts) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue source = tileBitcastOpGetInput(convert->op);
  int64_t from = vecBitsOf(convert->from), size = vecShapeOf(mlirValueGetType(source)).sizes[last];
  MlirType wide = mlirIntegerTypeGet(builder->context, (unsigned)(parts * from));
  MlirValue whole = tileBuildInteger(builder, wide, 0);
  VecCoord first = at[last];
  for (int64_t i = 0; i < parts; ++i) {
    at[last] = vecCoordPlus(first, i);
    if (i > 0 && vecBitsOf(convert->to) % from != 0)
      at[last] = vecCoordOf(tileBuildMin(builder, vecCoordValue(builder, at[last]), tileBuildIndex(builder, size - 1)));
    MlirValue part = tileBuildIntegerCast(builder, tileBuildBits(builder, vecElementAt(body, source, at)), wide, false);
    part = i ? arithShLIOpBuild(builder, part, tileBuildInteger(builder, wide, i * from)) : part;
    whole = arithOrIOpBuild(builder, whole, part);
  }
  return whole;
}

// Rows of the source and the result are the same bits.
static void recastAt(VecBody *body, const VecCoord *coords, void *data) {
  const Convert *convert = data;
  TileBuilder *builder = &body->lowering->builder;
  int64_t from = vecBitsOf(convert->from), to = vecBitsOf(convert->to);
  intptr_t last = convert->result->shape.rank - 1;
  VecCoord at[MaxRank], bit = vecCoordTimes(builder, coords[last], to);
  memcpy(at, coords, sizeof at);
  at[last] = vecCoordDivide(builder, bit, from);
  MlirValue bits = joinParts(body, convert, at, last, partsOf(from, to));
  if (to % from != 0) {
    MlirValue shift = vecCoordValue(builder, vecCoordModulo(builder, bit, from));
    bits = arithShRUIOpBuild(builder, bits, tileBuildIntegerCast(builder, shift, mlirValueGetType(bits), false));
  }
  bits = tileBuildIntegerCast(builder, bits, tileBitsType(convert->to), false);
  vecAccessStore(body, convert->result, coords, -1, 0, tileBuildNumberOfBits(builder, bits, convert->to));
}

bool vecLowerBitcast(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileBitcastOpGetResult(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  Convert convert = {.op = op, .to = shape.element, .result = vecBufferNew(lowering, &shape)};
  convert.from = vecShapeOf(mlirValueGetType(tileBitcastOpGetInput(op))).element;
  vecForEachElementOf(lowering, op, &shape, recastAt, &convert);
  vecRecordMemory(lowering, result, convert.result);
  return true;
}
