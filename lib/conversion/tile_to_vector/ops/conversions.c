// tile.convert_type, evaluated like arith's operations (lib/ir/emit/number.h), and tile.bitcast, element by element
// into a buffer, but for words and their bytes, and for elements of fewer than 8 bits in bytes.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/float_format.h"
#include "lib/ir/op_format.h"
#include "upstream/scf.h"
#include "upstream/vector.h"

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

// Words of 32 bits and their bytes wait for their users: vectors are the same register. So do elements of fewer than 8
// bits in bytes: vectors are shuffled and shifted.
enum { BytesOfWord = 4, ByteBits = 8, WordBits = 32 };

static bool isWide(MlirType element, unsigned bits) {
  return mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == bits;
}

bool vecIsWords(MlirOperation op) {
  MlirType from = mlirValueGetType(tileBitcastOpGetInput(op)), to = mlirValueGetType(tileBitcastOpGetResult(op));
  if (!vecIsTile(from) || !vecIsTile(to))
    return false;
  from = mlirShapedTypeGetElementType(from);
  to = mlirShapedTypeGetElementType(to);
  return (isWide(from, ByteBits) && isWide(to, WordBits)) || (isWide(from, WordBits) && isWide(to, ByteBits)) ||
         (isWide(from, ByteBits) && vecBitsOf(to) < ByteBits);
}

static MlirValue joinBytes(VecBody *body, VecRecord *source, VecCoord *at, intptr_t last, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  int64_t count = width ? width : 1;
  at[last] = vecCoordTimes(builder, at[last], BytesOfWord);
  MlirType words = vecVectorOf(mlirIntegerTypeGet(builder->context, WordBits), count);
  MlirValue value = vectorBitCastOpBuild(builder, words, vecEvaluate(body, source, at, last, BytesOfWord * count));
  return width ? value : vecBuildLane(builder, value, 0);
}

static MlirValue byteOfWord(VecBody *body, VecRecord *source, VecCoord *at, intptr_t last) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType word = mlirIntegerTypeGet(builder->context, WordBits), byte = mlirIntegerTypeGet(builder->context, ByteBits);
  VecCoord place = vecCoordTimes(builder, vecCoordModulo(builder, at[last], BytesOfWord), ByteBits);
  at[last] = vecCoordDivide(builder, at[last], BytesOfWord);
  MlirValue shift = arithIndexCastOpBuild(builder, word, vecCoordValue(builder, place));
  return arithTruncIOpBuild(builder, byte, arithShRUIOpBuild(builder, vecEvaluate(body, source, at, -1, 0), shift));
}

//===--- elements of few bits ---------------------------------------------------------------------------===//

// An element lies in at most two neighbouring bytes. A vector has at most MaxNarrow of them.
enum { PairBits = 16, MaxNarrow = 64 };

// `value` is certainly a multiple of `number`: counters of loops that step by it.
static bool isMultipleOf(MlirValue value, int64_t number) {
  int64_t constant, step;
  if (tileConstantIndex(value, &constant))
    return constant % number == 0;
  if (mlirValueIsABlockArgument(value)) {
    MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
    return scfForOpIsA(loop) && mlirBlockArgumentGetArgNumber(value) == 0 &&
           isMultipleOf(scfForOpGetLowerBound(loop), number) && tileConstantIndex(scfForOpGetStep(loop), &step) &&
           step % number == 0;
  }
  MlirOperation op = tileDefiningOp(value);
  if (arithAddIOpIsA(op))
    return isMultipleOf(tileBinaryLhs(op), number) && isMultipleOf(tileBinaryRhs(op), number);
  return arithMulIOpIsA(op) && (isMultipleOf(tileBinaryLhs(op), number) || isMultipleOf(tileBinaryRhs(op), number));
}

// The bit of its first byte with which each of `width` neighbours begins.
static MlirValue buildShifts(TileBuilder *builder, int64_t bits, int64_t width) {
  MlirType type = vecVectorOf(mlirIntegerTypeGet(builder->context, PairBits), width);
  int16_t shifts[MaxNarrow];
  for (int64_t i = 0; i < width; ++i)
    shifts[i] = (int16_t)(i * bits % ByteBits);
  return tileBuildConstant(builder, mlirDenseElementsAttrInt16Get(type, width, shifts));
}

// `width` neighbours from the first bit of a byte on: each lane gets the two bytes that its bits may lie in.
static MlirValue unpackRow(VecBody *body, VecRecord *source, const VecCoord *at, intptr_t last, int64_t bits,
                           int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  int64_t bytes = width * bits / ByteBits, picked[2 * MaxNarrow];
  MlirValue packed = vecEvaluate(body, source, at, last, bytes);
  for (int64_t i = 0; i < width; ++i) {
    int64_t low = i * bits / ByteBits;
    picked[2 * i] = low;
    picked[2 * i + 1] = low + 1 < bytes ? low + 1 : low;
  }
  MlirValue pairs =
      vectorShuffleOpBuild(builder, packed, packed, mlirDenseI64ArrayGet(builder->context, 2 * width, picked));
  MlirType words = vecVectorOf(mlirIntegerTypeGet(builder->context, PairBits), width);
  return arithShRUIOpBuild(builder, vectorBitCastOpBuild(builder, words, pairs), buildShifts(builder, bits, width));
}

// The elements at one place of the last axis, `width` of them along another axis (0: one).
static MlirValue unpackColumn(VecBody *body, VecRecord *source, VecCoord *at, intptr_t last, intptr_t axis,
                              int64_t bits, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType pair = mlirIntegerTypeGet(builder->context, PairBits), words = vecVectorOf(pair, width);
  VecCoord bit = vecCoordTimes(builder, at[last], bits);
  MlirValue shift = vecCoordValue(builder, vecCoordModulo(builder, bit, ByteBits));
  shift = vecBuildSplat(builder, tileBuildIntegerCast(builder, shift, pair, false), width);
  at[last] = vecCoordDivide(builder, bit, ByteBits);
  MlirValue low = arithExtUIOpBuild(builder, words, vecEvaluate(body, source, at, axis, width));
  MlirValue end = tileBuildIndex(builder, source->shape.sizes[last] - 1);
  at[last] = vecCoordOf(tileBuildMin(builder, vecCoordValue(builder, vecCoordPlus(at[last], 1)), end));
  MlirValue high = arithExtUIOpBuild(builder, words, vecEvaluate(body, source, at, axis, width));
  high = arithShLIOpBuild(builder, high, tileBuildInteger(builder, words, ByteBits));
  return arithShRUIOpBuild(builder, arithOrIOpBuild(builder, low, high), shift);
}

static MlirValue evaluateNarrow(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis,
                                int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  VecRecord *source = vecRecordOf(body->lowering, tileBitcastOpGetInput(record->op));
  int64_t bits = vecBitsOf(record->shape.element), period = ByteBits; // elements that end with a byte
  intptr_t last = record->shape.rank - 1;
  VecCoord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  MlirValue words;
  if (axis == last && width) {
    bool isWhole = width % period == 0 && width <= MaxNarrow && at[last].offset % period == 0 &&
                   (mlirValueIsNull(at[last].base) || isMultipleOf(at[last].base, period));
    if (!isWhole)
      return vecEvaluateLanes(body, record, coords, axis, width);
    at[last] = vecCoordDivide(builder, vecCoordTimes(builder, at[last], bits), ByteBits);
    words = unpackRow(body, source, at, last, bits, width);
  } else {
    words = unpackColumn(body, source, at, last, axis, bits, width);
  }
  MlirType integer = mlirIntegerTypeGet(builder->context, (unsigned)bits);
  MlirValue codes = arithTruncIOpBuild(builder, vecVectorOf(integer, width), words);
  bool isInteger = mlirTypeEqual(integer, record->shape.element);
  return isInteger ? codes : arithBitcastOpBuild(builder, vecVectorOf(record->shape.element, width), codes);
}

MlirValue vecEvaluateWords(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  VecRecord *source = vecRecordOf(body->lowering, tileBitcastOpGetInput(record->op));
  intptr_t last = record->shape.rank - 1;
  bool isJoined = isWide(record->shape.element, WordBits);
  if (vecBitsOf(record->shape.element) < ByteBits)
    return evaluateNarrow(body, record, coords, axis, width);
  VecCoord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  if (isJoined && (axis == last || axis < 0))
    return joinBytes(body, source, at, last, width);
  if (!isJoined && axis < 0)
    return byteOfWord(body, source, at, last);
  bool isWhole = !isJoined && axis == last && mlirValueIsNull(at[last].base) && at[last].offset % BytesOfWord == 0 &&
                 width % BytesOfWord == 0;
  if (!isWhole)
    return vecEvaluateLanes(body, record, coords, axis, width);
  at[last].offset /= BytesOfWord;
  MlirType bytes = vecVectorOf(record->shape.element, width);
  return vectorBitCastOpBuild(builder, bytes, vecEvaluate(body, source, at, last, width / BytesOfWord));
}

bool vecLowerBitcast(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileBitcastOpGetResult(op);
  if (vecIsWords(op))
    return vecLowerLazy(lowering, op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  Convert convert = {.op = op, .to = shape.element, .result = vecBufferNew(lowering, &shape)};
  convert.from = vecShapeOf(mlirValueGetType(tileBitcastOpGetInput(op))).element;
  vecForEachElementOf(lowering, op, &shape, recastAt, &convert);
  vecRecordMemory(lowering, result, convert.result);
  return true;
}
