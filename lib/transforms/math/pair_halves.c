// tile-pair-halves: two numbers of f16 that end in one vector are computed two at a time, from codes of bytes on.
//
//   truncf(mulf(sitofp(code), extf(scale))), twice      22 instructions or so for a pair
//   becomes   ((two bytes & 0x000f000f) ^ 0x64086408) - 1032, times the scale twice      prmt, lop3, sub, mul
// An integer below 1024 in the fraction of f16's 1024 is 1024 more: of every width and sign, where the bits of a code
// stand in its byte, and whether the code is signed, follow from the program's shifts, masks and conversions. Numbers
// of f16 that are added, subtracted or multiplied in f32 and rounded are what f16 arithmetic gives (24 digits are no
// fewer than 2 * 11 + 2; Figueroa 1995), so the results are the same bits.
//
// Narrow floats become f16 in the same way, and f32 one by one where a scale is no f16. Those whose bytes share a word
// are paired wherever they go.
//
// Expects: scalars of arith and vectors of llvm in a gpu.module, ahead of tile-expand-float-conversions. Leaves:
// arithmetic on vectors of two, which NVIDIA and AMD have instructions for; what is not used any more. Paper: Ladder
// (OSDI 2024), whose conversions are written by hand for each type. Cost: linear in the code.
#include "lib/transforms/math/pair_halves.h"

#include "lib/ir/float_format.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"

#include <math.h>
#include <stdlib.h>

enum {
  ByteBits = 8,
  WordBytes = 4,
  MostLanes = 16,
  HalfIntegers = 2048, // all up to it are exact in f16
  Magic = 0x6400,      // f16's 1024, whose fraction counts by one
  MagicValue = 1024,
};

static const MlirValue none = {NULL};

//===--- codes ------------------------------------------------------------------------------------------===//

// Bits of a byte, or all of a narrow float.
typedef struct Field {
  MlirValue byte;
  int64_t shift, width;
  bool isSigned;
} Field;

static int64_t widthOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// The number of low ones of a mask that is nothing else; 0: it is something else.
static int64_t onesOf(int64_t mask) {
  int64_t ones = 0;
  while (ones < 63 && mask >> ones & 1)
    ++ones;
  return mask == (INT64_C(1) << ones) - 1 ? ones : 0;
}

// `value` is these bits of a byte, without a sign. A byte that is made in another way is all of its bits.
static bool readBits(MlirValue value, Field *field) {
  MlirOperation op = tileDefiningOp(value);
  int64_t number;
  if ((arithTruncIOpIsA(op) || arithExtUIOpIsA(op)) && readBits(tileOnlyOperand(op), field)) {
    field->width = least(field->width, widthOf(value));
    return true;
  }
  if (arithShRUIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &number) && readBits(tileBinaryLhs(op), field)) {
    field->shift += number;
    field->width -= number;
    return field->width > 0;
  }
  if (arithAndIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &number) && onesOf(number) &&
      readBits(tileBinaryLhs(op), field)) {
    field->width = least(field->width, onesOf(number));
    return true;
  }
  *field = (Field){.byte = value, .width = ByteBits};
  return widthOf(value) == ByteBits;
}

// The integer that a conversion to float takes.
static bool readCode(MlirOperation conversion, Field *field) {
  bool isSigned = arithSIToFPOpIsA(conversion);
  MlirValue value = tileOnlyOperand(conversion);
  if (arithExtSIOpIsA(tileDefiningOp(value)) && isSigned)
    value = tileOnlyOperand(tileDefiningOp(value));
  if (!readBits(value, field))
    return false;
  field->isSigned = isSigned && field->width == widthOf(value);
  return true;
}

// A float of 8 bits or fewer whose numbers f16 has, that is widened to f16 or f32: its bits.
static bool readNarrowFloat(MlirOperation op, TileFloatFormat *format, Field *field) {
  enum { HalfExponent = 5 };
  if (mlirOperationIsNull(op) || !arithExtFOpIsA(op) || tileElementWidth(tileOnlyResultType(op)) > 32 ||
      !tileFloatFormatOf(mlirValueGetType(tileOnlyOperand(op)), format) || format->width > ByteBits)
    return false;
  int64_t exponent = (int64_t)format->width - 1 - format->fraction;
  bool isWithin = format->specials == TileFloat_None      ? exponent < HalfExponent
                  : format->specials == TileFloat_NanOnly ? exponent == HalfExponent - 1
                                                          : format->specials == TileFloat_Ieee;
  MlirOperation bits = tileDefiningOp(tileOnlyOperand(op));
  bool isCast = !mlirOperationIsNull(bits) && arithBitcastOpIsA(bits) && readBits(tileOnlyOperand(bits), field) &&
                field->width == (int64_t)format->width;
  if (!isCast)
    *field = (Field){.byte = tileOnlyOperand(op), .width = format->width};
  return isWithin;
}

//===--- numbers that f16 has ---------------------------------------------------------------------------===//

static bool isConversion(MlirOperation op) {
  return !mlirOperationIsNull(op) && (arithSIToFPOpIsA(op) || arithUIToFPOpIsA(op));
}

// The largest magnitude of an integer of f32; 0: the number is not known to be one.
static int64_t integerBound(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  Field field;
  if (isConversion(op))
    return readCode(op, &field) ? INT64_C(1) << field.width : 0;
  if (mlirOperationIsNull(op) || !(arithSubFOpIsA(op) || arithAddFOpIsA(op)))
    return 0;
  int64_t lhs = integerBound(tileBinaryLhs(op)), rhs = integerBound(tileBinaryRhs(op));
  return lhs && rhs ? lhs + rhs : 0;
}

static bool isWidenedHalf(MlirOperation op) {
  return !mlirOperationIsNull(op) && arithExtFOpIsA(op) && mlirTypeIsAF16(mlirValueGetType(tileOnlyOperand(op)));
}

static bool isExact(MlirValue value) {
  int64_t bound = integerBound(value);
  TileFloatFormat format;
  Field field;
  MlirOperation op = tileDefiningOp(value);
  return isWidenedHalf(op) || readNarrowFloat(op, &format, &field) || (bound && bound <= HalfIntegers);
}

//===--- building ---------------------------------------------------------------------------------------===//

static MlirType pairType(const TileBuilder *b) {
  int64_t two = 2;
  return mlirVectorTypeGet(1, &two, mlirF16TypeGet(b->context));
}

static MlirType word(const TileBuilder *b) { return mlirIntegerTypeGet(b->context, 32); }

static MlirType bytesType(const TileBuilder *b, int64_t count) {
  return mlirVectorTypeGet(1, &count, mlirIntegerTypeGet(b->context, ByteBits));
}

static MlirValue position(TileBuilder *b, int64_t number) { return tileBuildInteger(b, word(b), number); }

static MlirValue buildVector(TileBuilder *b, MlirValue first, MlirValue second) {
  MlirValue vector = llvmInsertElementOpBuild(b, llvmUndefOpBuild(b, pairType(b)), first, position(b, 0));
  return llvmInsertElementOpBuild(b, vector, second, position(b, 1));
}

static MlirAttribute maskOf(const TileBuilder *b, int64_t count, const int32_t *lanes) {
  return mlirDenseI32ArrayGet(b->context, count, lanes);
}

// The vector and the place of it that a byte is read from.
static MlirValue readPlace(MlirValue byte, int64_t *place) {
  MlirOperation op = tileDefiningOp(byte);
  if (mlirOperationIsNull(op) || !llvmExtractElementOpIsA(op) ||
      !tileConstantIndex(llvmExtractElementOpGetPosition(op), place))
    return none;
  MlirValue vector = llvmExtractElementOpGetVector(op);
  return mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0) % WordBytes ? none : vector;
}

// The bits of a byte or of a narrow float, in a word.
static MlirValue wordOf(TileBuilder *b, MlirValue bits) {
  MlirType type = mlirValueGetType(bits);
  if (mlirTypeIsAFloat(type))
    bits = arithBitcastOpBuild(b, mlirIntegerTypeGet(b->context, mlirFloatTypeGetWidth(type)), bits);
  return arithExtUIOpBuild(b, word(b), bits);
}

// The byte in the low half of a word, the other one in the high half: one permutation where they share a word.
static MlirValue buildPairOfBytes(TileBuilder *b, MlirValue first, MlirValue second) {
  int64_t places[2] = {0, 0};
  MlirValue vector = readPlace(first, &places[0]), other = readPlace(second, &places[1]);
  if (mlirValueIsNull(vector) || mlirValueIsNull(other) || !mlirValueEqual(vector, other) ||
      places[0] / WordBytes != places[1] / WordBytes) {
    MlirValue high = arithShLIOpBuild(b, wordOf(b, second), position(b, 16));
    return arithOrIOpBuild(b, wordOf(b, first), high);
  }
  int64_t words = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0) / WordBytes;
  if (words > 1) {
    MlirValue all = llvmBitcastOpBuild(b, mlirVectorTypeGet(1, &words, word(b)), vector);
    vector = llvmBitcastOpBuild(b, bytesType(b, WordBytes),
                                llvmExtractElementOpBuild(b, all, position(b, places[0] / WordBytes)));
  }
  int32_t lanes[WordBytes] = {(int32_t)(places[0] % WordBytes), WordBytes, (int32_t)(places[1] % WordBytes), WordBytes};
  MlirValue zero = llvmZeroOpBuild(b, bytesType(b, WordBytes));
  MlirValue spread = llvmShuffleVectorOpBuild(b, bytesType(b, WordBytes), vector, zero, maskOf(b, WordBytes, lanes));
  return llvmBitcastOpBuild(b, word(b), spread);
}

static MlirValue buildSplatHalf(TileBuilder *b, double value) {
  MlirAttribute number = mlirFloatAttrDoubleGet(b->context, mlirF16TypeGet(b->context), value);
  return tileBuildConstant(b, mlirDenseElementsAttrSplatGet(pairType(b), number));
}

static int64_t twice(int64_t half) { return half << 16 | half; }

// Two codes of the same bits of two bytes, as f16. A sign bit that is turned over makes the code 2^(width - 1) more.
static MlirValue buildCodes(TileBuilder *b, const Field *first, const Field *second) {
  if (first->shift != second->shift || first->width != second->width || first->isSigned != second->isSigned)
    return none;
  MlirValue bits = buildPairOfBytes(b, first->byte, second->byte);
  int64_t offset = first->isSigned ? INT64_C(1) << (first->width - 1) : 0;
  if (first->shift)
    bits = arithShRUIOpBuild(b, bits, position(b, first->shift));
  if (first->width < ByteBits)
    bits = arithAndIOpBuild(b, bits, position(b, twice((INT64_C(1) << first->width) - 1)));
  bits = arithXOrIOpBuild(b, bits, position(b, twice(Magic | offset)));
  MlirValue halves = llvmBitcastOpBuild(b, pairType(b), bits);
  return tileBuildBinary(b, ArithOp_SubF, halves, buildSplatHalf(b, (double)(MagicValue + offset)));
}

static MlirValue buildMasked(TileBuilder *b, MlirValue bits, int64_t left, int64_t mask) {
  bits = left ? arithShLIOpBuild(b, bits, position(b, left)) : bits;
  return arithAndIOpBuild(b, bits, position(b, twice(mask)));
}

// Two narrow floats of the same bits of two bytes: the sign, the exponent and the fraction at their places in f16,
// times a power of two (expand_float_conversions.c does so one by one). Where nan is all ones, adding one to the
// fraction carries into the bit that f16's exponent has more.
static MlirValue buildFloats(TileBuilder *b, const TileFloatFormat *format, const Field *first, const Field *second) {
  enum { HalfFraction = 10, HalfBits = 16, HalfSign = 0x8000, HighExponent = 0x4000, HalfLeast = -14 };
  if (first->shift != second->shift)
    return none;
  int64_t place = HalfFraction - format->fraction, sign = HalfBits - (int64_t)format->width;
  int64_t magnitude = ((INT64_C(1) << (format->width - 1)) - 1) << place;
  MlirValue bits = buildPairOfBytes(b, first->byte, second->byte);
  if (first->shift)
    bits = arithShRUIOpBuild(b, bits, position(b, first->shift));
  MlirValue halves =
      place == sign ? arithShLIOpBuild(b, bits, position(b, place))
                    : arithOrIOpBuild(b, buildMasked(b, bits, place, magnitude), buildMasked(b, bits, sign, HalfSign));
  if (format->specials == TileFloat_NanOnly) {
    MlirValue next = arithAddIOpBuild(b, halves, position(b, twice(INT64_C(1) << place)));
    halves = arithOrIOpBuild(b, halves, buildMasked(b, next, 0, HighExponent));
  }
  halves = llvmBitcastOpBuild(b, pairType(b), halves);
  double factor = ldexp(1, format->leastExponent - HalfLeast);
  return factor == 1 ? halves : tileBuildBinary(b, ArithOp_MulF, halves, buildSplatHalf(b, factor));
}

//===--- pairs ------------------------------------------------------------------------------------------===//

static bool isSum(MlirOperation op) { return arithAddFOpIsA(op) || arithSubFOpIsA(op); }

static MlirValue pairHalves(TileBuilder *b, MlirValue first, MlirValue second);

// Two narrow floats as f16; null: they are of two types.
static MlirValue pairFloats(TileBuilder *b, MlirOperation first, MlirOperation second) {
  Field fields[2];
  TileFloatFormat formats[2];
  bool areAlike = readNarrowFloat(first, &formats[0], &fields[0]) && readNarrowFloat(second, &formats[1], &fields[1]) &&
                  mlirTypeEqual(mlirValueGetType(tileOnlyOperand(first)), mlirValueGetType(tileOnlyOperand(second)));
  return areAlike ? buildFloats(b, &formats[0], &fields[0], &fields[1]) : none;
}

// Two exact numbers of f32 as f16; null: they are computed in different ways.
static MlirValue pairExact(TileBuilder *b, MlirValue first, MlirValue second) {
  MlirOperation a = tileDefiningOp(first), c = tileDefiningOp(second);
  if (!isExact(first) || !isExact(second))
    return none;
  if (isWidenedHalf(a) && isWidenedHalf(c)) {
    MlirValue halves[2] = {tileOnlyOperand(a), tileOnlyOperand(c)}, pair = pairHalves(b, halves[0], halves[1]);
    return mlirValueIsNull(pair) ? buildVector(b, halves[0], halves[1]) : pair;
  }
  if (mlirValueEqual(first, second)) {
    MlirValue half = arithTruncFOpBuild(b, mlirF16TypeGet(b->context), first);
    return buildVector(b, half, half);
  }
  Field fields[2];
  TileFloatFormat formats[2];
  if (readNarrowFloat(a, &formats[0], &fields[0]) && readNarrowFloat(c, &formats[1], &fields[1]))
    return pairFloats(b, a, c);
  if (isConversion(a) && isConversion(c) && readCode(a, &fields[0]) && readCode(c, &fields[1]))
    return buildCodes(b, &fields[0], &fields[1]);
  if (!(isSum(a) && isSum(c)) || arithOpKind(a) != arithOpKind(c))
    return none;
  MlirValue lhs = pairExact(b, tileBinaryLhs(a), tileBinaryLhs(c));
  MlirValue rhs = mlirValueIsNull(lhs) ? none : pairExact(b, tileBinaryRhs(a), tileBinaryRhs(c));
  return mlirValueIsNull(rhs) ? none : tileBuildBinary(b, arithOpKind(a), lhs, rhs);
}

// Two numbers of f32, rounded to f16.
static MlirValue pairRounded(TileBuilder *b, MlirValue first, MlirValue second) {
  MlirOperation a = tileDefiningOp(first), c = tileDefiningOp(second);
  if (mlirOperationIsNull(a) || mlirOperationIsNull(c) || arithOpKind(a) != arithOpKind(c))
    return none;
  if (isExact(first) && isExact(second))
    return pairExact(b, first, second);
  if (!isSum(a) && !arithMulFOpIsA(a))
    return none;
  MlirValue lhs = pairExact(b, tileBinaryLhs(a), tileBinaryLhs(c));
  MlirValue rhs = mlirValueIsNull(lhs) ? none : pairExact(b, tileBinaryRhs(a), tileBinaryRhs(c));
  return mlirValueIsNull(rhs) ? none : tileBuildBinary(b, arithOpKind(a), lhs, rhs);
}

static MlirValue pairHalves(TileBuilder *b, MlirValue first, MlirValue second) {
  MlirOperation a = tileDefiningOp(first), c = tileDefiningOp(second);
  if (mlirValueEqual(first, second))
    return buildVector(b, first, first);
  if (!mlirOperationIsNull(a) && !mlirOperationIsNull(c) && arithExtFOpIsA(a) && arithExtFOpIsA(c))
    return pairFloats(b, a, c);
  bool areRounded = !mlirOperationIsNull(a) && !mlirOperationIsNull(c) && arithTruncFOpIsA(a) && arithTruncFOpIsA(c) &&
                    mlirTypeIsAF32(mlirValueGetType(tileOnlyOperand(a))) &&
                    mlirTypeIsAF32(mlirValueGetType(tileOnlyOperand(c)));
  return areRounded ? pairRounded(b, tileOnlyOperand(a), tileOnlyOperand(c)) : none;
}

//===--- pairs of f32 -------------------------------------------------------------------------------------===//

// Narrow floats that stand at one place of two expressions of f32 are widened together to f16, and each by itself to
// f32. True where there are some; `lanes` are the expressions then.
static bool pairNarrowFloats(TileBuilder *b, MlirValue *lanes) {
  MlirOperation ops[2] = {tileDefiningOp(lanes[0]), tileDefiningOp(lanes[1])};
  TileFloatFormat format;
  Field field;
  if (mlirValueEqual(lanes[0], lanes[1]) || mlirOperationIsNull(ops[0]) || mlirOperationIsNull(ops[1]))
    return false;
  if (readNarrowFloat(ops[0], &format, &field) && readNarrowFloat(ops[1], &format, &field)) {
    MlirValue pair = pairExact(b, lanes[0], lanes[1]);
    for (int i = 0; i < 2 && !mlirValueIsNull(pair); ++i)
      lanes[i] = arithExtFOpBuild(b, mlirF32TypeGet(b->context), llvmExtractElementOpBuild(b, pair, position(b, i)));
    return !mlirValueIsNull(pair);
  }
  if (arithOpKind(ops[0]) != arithOpKind(ops[1]) || !(isSum(ops[0]) || arithMulFOpIsA(ops[0])))
    return false;
  MlirValue lhs[2] = {tileBinaryLhs(ops[0]), tileBinaryLhs(ops[1])};
  MlirValue rhs[2] = {tileBinaryRhs(ops[0]), tileBinaryRhs(ops[1])};
  bool isPaired = pairNarrowFloats(b, lhs);
  isPaired |= pairNarrowFloats(b, rhs);
  for (int i = 0; i < 2 && isPaired; ++i)
    lanes[i] = tileBuildBinary(b, arithOpKind(ops[i]), lhs[i], rhs[i]);
  return isPaired;
}

// Pairs the narrow floats of two numbers that are rounded to f16; null: there are no such floats.
static MlirValue pairInSingle(TileBuilder *b, MlirValue first, MlirValue second) {
  MlirOperation a = tileDefiningOp(first), c = tileDefiningOp(second);
  if (mlirOperationIsNull(a) || mlirOperationIsNull(c) || !arithTruncFOpIsA(a) || !arithTruncFOpIsA(c))
    return none;
  MlirValue lanes[2] = {tileOnlyOperand(a), tileOnlyOperand(c)};
  if (!mlirTypeIsAF32(mlirValueGetType(lanes[0])) || !mlirTypeIsAF32(mlirValueGetType(lanes[1])) ||
      !pairNarrowFloats(b, lanes))
    return none;
  for (int i = 0; i < 2; ++i)
    lanes[i] = arithTruncFOpBuild(b, mlirF16TypeGet(b->context), lanes[i]);
  return buildVector(b, lanes[0], lanes[1]);
}

//===--- vectors ----------------------------------------------------------------------------------------===//

// The last insertion of all lanes of a vector of f16, an even number of them.
static int64_t readLanes(MlirOperation op, MlirValue *lanes) {
  MlirType type = tileOnlyResultType(op);
  int64_t count = mlirShapedTypeGetDimSize(type, 0), at;
  if (!mlirTypeIsAF16(mlirShapedTypeGetElementType(type)) || count % 2 || count > MostLanes)
    return 0;
  for (int64_t i = count - 1; i >= 0; --i) {
    if (mlirOperationIsNull(op) || !llvmInsertElementOpIsA(op) ||
        !tileConstantIndex(llvmInsertElementOpGetPosition(op), &at) || at != i)
      return 0;
    lanes[i] = llvmInsertElementOpGetValue(op);
    op = tileDefiningOp(llvmInsertElementOpGetVector(op));
  }
  return count;
}

// The pairs side by side.
static MlirValue join(TileBuilder *b, int64_t count, MlirValue *pairs) {
  int32_t lanes[MostLanes];
  for (int32_t i = 0; i < MostLanes; ++i)
    lanes[i] = i;
  for (int64_t size = 2; size < count; size *= 2)
    for (int64_t i = 0; i < count / size / 2; ++i) {
      int64_t both = 2 * size;
      MlirType type = mlirVectorTypeGet(1, &both, mlirF16TypeGet(b->context));
      pairs[i] = llvmShuffleVectorOpBuild(b, type, pairs[2 * i], pairs[2 * i + 1], maskOf(b, both, lanes));
    }
  return pairs[0];
}

static bool pairLanes(MlirOperation op) {
  MlirValue lanes[MostLanes], pairs[MostLanes / 2];
  int64_t count = readLanes(op, lanes);
  if (!count || (count & (count - 1)))
    return false;
  TileBuilder b = tileBuilderBefore(op);
  for (int64_t i = 0; i < count; i += 2) {
    bool isSplat = mlirValueEqual(lanes[i], lanes[i + 1]);
    pairs[i / 2] = isSplat ? none : pairHalves(&b, lanes[i], lanes[i + 1]);
    if (!isSplat && mlirValueIsNull(pairs[i / 2]))
      pairs[i / 2] = pairInSingle(&b, lanes[i], lanes[i + 1]);
    if (mlirValueIsNull(pairs[i / 2]))
      return false;
  }
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), join(&b, count, pairs));
  return true;
}

//===--- floats that stand alone --------------------------------------------------------------------------===//

// A narrow float that is widened to f16, and the vector of bytes that it is read from.
typedef struct Lone {
  MlirOperation op;
  MlirValue vector;
  int64_t place;
} Lone;

static bool isWidenedToHalf(MlirOperation op) {
  return arithExtFOpIsA(op) && mlirTypeIsAF16(tileOnlyResultType(op)) &&
         !mlirOperationIsNull(mlirOpOperandGetOwner(mlirValueGetFirstUse(tileOnlyResult(op))));
}

static bool readLone(MlirOperation op, Lone *lone) {
  TileFloatFormat format;
  Field field;
  if (mlirOperationIsNull(op) || !isWidenedToHalf(op) || !readNarrowFloat(op, &format, &field))
    return false;
  *lone = (Lone){.op = op};
  lone->vector = readPlace(field.byte, &lone->place);
  return !mlirValueIsNull(lone->vector);
}

static bool shareWord(const Lone *a, const Lone *b) {
  return mlirValueEqual(a->vector, b->vector) && a->place / WordBytes == b->place / WordBytes &&
         mlirBlockEqual(mlirOperationGetBlock(a->op), mlirOperationGetBlock(b->op));
}

// Floats whose bytes share a word are widened together, ahead of the first one: all that this takes is that word.
static bool pairLone(const Lone *first, const Lone *second) {
  TileBuilder b = tileBuilderBefore(first->op);
  MlirValue pair = pairFloats(&b, first->op, second->op);
  const Lone *both[] = {first, second};
  for (int i = 0; i < 2 && !mlirValueIsNull(pair); ++i)
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(both[i]->op), llvmExtractElementOpBuild(&b, pair, position(&b, i)));
  return !mlirValueIsNull(pair);
}

// Floats that end in no vector, for example as stores to places apart.
static uint64_t pairLoneFloats(MlirOperation module) {
  TileOps widened = tileCollectOps(module, isWidenedToHalf);
  uint64_t count = 0;
  Lone last = {{NULL}}, next;
  for (intptr_t i = 0; i < widened.count; ++i) {
    if (!readLone(widened.items[i], &next))
      continue;
    bool isPair = !mlirOperationIsNull(last.op) && shareWord(&last, &next) && pairLone(&last, &next);
    count += isPair;
    last = isPair ? (Lone){{NULL}} : next;
  }
  tileOpsFree(&widened);
  return count;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps vectors = tileCollectOps(module, llvmInsertElementOpIsA);
  uint64_t count = 0;
  for (intptr_t i = 0; i < vectors.count; ++i)
    count += pairLanes(vectors.items[i]);
  mlirExtPassAddStatistic(pass, 0, count);
  mlirExtPassAddStatistic(pass, 1, pairLoneFloats(module));
  tileOpsFree(&vectors);
  return true;
}

const MlirExtPassDefinition tilePairHalvesPass = {
    .argument = "tile-pair-halves",
    .summary = "Compute numbers of f16 that share a register two at a time, from packed codes on",
    .statistics = (const char *const[]){"vectors: vectors of f16 whose lanes are computed in pairs",
                                        "floats: pairs of narrow floats that become f16 together elsewhere", NULL},
    .dialects = (const char *const[]){"arith", "llvm", NULL},
    .needs = (const char *const[]){llvmInsertElementOpName, arithExtFOpName, NULL},
    .run = run,
};
