// tile-expand-float-conversions: arith.extf and arith.truncf that a CPU has no instruction for become arithmetic on
// bits: from and to floats of 8 bits and fewer, from bf16 to f64, from f64 to 16 bits (LLVM rounds twice, or calls),
// and truncation in a direction other than to nearest even (LLVM's constrained truncation rounds as the machine is set,
// which is to nearest). math.fma of 16 bits and fewer, which would round twice, is computed in f64.
//
// Expects: scalars or fixed-size vectors; arithmetic on narrow floats already in f32 (arith-emulate-unsupported-floats,
// math-extend-to-supported-types); with tiles=tt, tiles and scalars of kernels, whose f8E4M3FN and f8E5M2 Triton
// widens. Leaves: conversions between f16, bf16, f32 and f64 to nearest even, and narrow floats only as what
// arith.bitcast, selects and memory move. Rounds once, to the bit as docs/numerics.md §1 says.
// Papers: Boldo and Melquiond 2008 (rounding to odd); formats of the OCP (FP8 2023, MX 2023) and AMD's FNUZ variants.
// Cost: linear; some ten ops for a widening, thirty on lanes of f64 for a narrowing.
#include "lib/transforms/math/expand_float_conversions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/float_format.h"
#include "lib/ir/pass.h"
#include "lib/transforms/math/lanes.h"
#include "upstream/math.h"

#include <math.h>

enum { ToNearestEven = 0, TowardZero = 3 }; // arith's roundingmode, and what else it may be:
static const TileUpstream roundings[] = {MathOp_RoundEven, MathOp_Floor, MathOp_Ceil, MathOp_Trunc, MathOp_Round};

//===--- questions ----------------------------------------------------------------------===//

static bool formatOf(MlirValue value, TileFloatFormat *format) {
  return tileFloatFormatOf(tileLanesElementOfTile(mlirValueGetType(value)), format);
}

static int64_t roundingOf(MlirOperation op) {
  MlirAttribute mode = tileOpAttribute(op, "roundingmode");
  return !mlirAttributeIsNull(mode) ? mlirIntegerAttrGetValueInt(mode) : ToNearestEven;
}

static bool isScalarOrVector(MlirType type) { return !mlirTypeIsATensor(type); }

// With tiles=tt, tiles and scalars of kernels. Triton widens these two formats by an op.
static bool isTile(MlirType type) {
  return !mlirTypeIsARankedTensor(type) || mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}
static bool isTritons(MlirType element) { return mlirTypeIsAFloat8E4M3FN(element) || mlirTypeIsAFloat8E5M2(element); }

// The exponent that the field of ones (of normal numbers: 1) stands for is leastExponent.
static int biasOf(const TileFloatFormat *format) {
  return format->specials == TileFloat_Scale ? 127 : 1 - format->leastExponent;
}

static double tiniestOf(const TileFloatFormat *format) { return ldexp(1, format->leastExponent - format->fraction); }

static int64_t magnitudeOnes(const TileFloatFormat *format) {
  unsigned bits = format->specials == TileFloat_Scale ? format->width : format->width - 1;
  return (INT64_C(1) << bits) - 1;
}

static int64_t nanBits(const TileFloatFormat *format) {
  if (format->specials == TileFloat_NanAtMinus)
    return INT64_C(1) << (format->width - 1);
  if (format->specials == TileFloat_Ieee) // the quiet one
    return magnitudeOnes(format) ^ ((INT64_C(1) << (format->fraction - 1)) - 1);
  return magnitudeOnes(format);
}

// What stands for a number beyond the largest, without its sign: inf, else nan, else the largest.
static int64_t beyondBits(const TileFloatFormat *format) {
  if (format->specials == TileFloat_Ieee)
    return magnitudeOnes(format) ^ ((INT64_C(1) << format->fraction) - 1);
  return nanBits(format);
}

//===--- building ----------------------------------------------------------------------------===//

static MlirValue cast(TileBuilder *builder, TileUpstream op, MlirValue value, MlirType element) {
  return tileBuildCast(builder, op, value, tileLanesLike(mlirValueGetType(value), element));
}

static MlirValue withInteger(TileBuilder *builder, TileUpstream op, MlirValue a, int64_t b) {
  return tileBuildBinary(builder, op, a, tileBuildInteger(builder, mlirValueGetType(a), b));
}

static MlirValue compareWith(TileBuilder *builder, MlirValue a, ArithCmpI predicate, int64_t b) {
  return arithCmpIOpBuild(builder, a, tileBuildInteger(builder, mlirValueGetType(a), b), predicate);
}

//===--- widening: a narrow float as f32 ------------------------------------------------------===//

// The format's exponents are among those of f16, which has a field for infinities besides: four bits if nan is all
// ones. f8E5M2 is the upper half of f16.
static bool isWithinHalf(const TileFloatFormat *format) {
  enum { HalfExponent = 5 };
  int64_t exponent = (int64_t)format->width - 1 - format->fraction;
  return format->specials == TileFloat_Ieee ||
         (format->specials == TileFloat_NanOnly ? exponent == HalfExponent - 1 : exponent < HalfExponent);
}

// The bits with the sign, the exponent and the fraction at their places in f16. Signs of bytes are extended: that is
// an instruction's work while bytes become words.
static MlirValue placeInHalf(TileBuilder *builder, const TileFloatFormat *format, MlirValue bits) {
  MlirType i16 = mlirIntegerTypeGet(builder->context, 16);
  int64_t place = 10 - format->fraction, sign = 16 - (int64_t)format->width, magnitude = magnitudeOnes(format) << place;
  if (format->width == 8) {
    MlirValue word = withInteger(builder, ArithOp_ShLI, cast(builder, ArithOp_ExtSI, bits, i16), place);
    return place == sign ? word : withInteger(builder, ArithOp_AndI, word, INT16_MIN | magnitude);
  }
  MlirValue narrow = cast(builder, ArithOp_ExtUI, bits, i16);
  MlirValue rest = withInteger(builder, ArithOp_AndI, withInteger(builder, ArithOp_ShLI, narrow, place), magnitude);
  MlirValue signs = withInteger(builder, ArithOp_AndI, withInteger(builder, ArithOp_ShLI, narrow, sign), INT16_MIN);
  return arithOrIOpBuild(builder, rest, signs);
}

// `word`, or f16's nan where the format has one. Where nan is all ones, adding one to the fraction carries into the
// bit that f16's exponent has more: with this bit the exponent is all ones.
static MlirValue withNanOfHalf(TileBuilder *builder, const TileFloatFormat *format, MlirValue bits, MlirValue word) {
  if (format->specials == TileFloat_NanOnly) {
    MlirValue next = withInteger(builder, ArithOp_AddI, word, INT64_C(1) << (10 - format->fraction));
    return arithOrIOpBuild(builder, word, withInteger(builder, ArithOp_AndI, next, 0x4000));
  }
  if (format->specials != TileFloat_NanAtMinus)
    return word;
  MlirValue isNan = compareWith(builder, bits, ArithCmpI_Eq, nanBits(format));
  return arithSelectOpBuild(builder, isNan, tileBuildInteger(builder, mlirValueGetType(word), 0x7e00), word);
}

// By way of f16: 2^(15 - bias) times too small, subnormal numbers too. Machines widen f16 by an instruction, and
// vectors have twice as many lanes of 16 bits as of 32.
static MlirValue widenByHalf(TileBuilder *builder, const TileFloatFormat *format, MlirValue bits) {
  MlirContext context = builder->context;
  MlirValue word = withNanOfHalf(builder, format, bits, placeInHalf(builder, format, bits));
  MlirValue half = cast(builder, ArithOp_Bitcast, word, mlirF16TypeGet(context));
  MlirValue wide = cast(builder, ArithOp_ExtF, half, mlirF32TypeGet(context));
  double factor = ldexp(1, 15 - biasOf(format));
  return factor == 1
             ? wide
             : tileBuildBinary(builder, ArithOp_MulF, wide, tileBuildFloat(builder, mlirValueGetType(wide), factor));
}

// A number below the least normal one is its bits times the tiniest; of another the exponent's field moves by the
// difference of the biases.
static MlirValue widenMagnitude(TileBuilder *builder, const TileFloatFormat *format, MlirValue magnitude) {
  MlirType f32 = mlirF32TypeGet(builder->context);
  MlirValue normal = withInteger(builder, ArithOp_ShLI, magnitude, 23 - format->fraction);
  normal = withInteger(builder, ArithOp_AddI, normal, (int64_t)(127 - biasOf(format)) << 23);
  normal = cast(builder, ArithOp_Bitcast, normal, f32);
  MlirValue isSmall = compareWith(builder, magnitude, ArithCmpI_Ult, INT64_C(1) << format->fraction);
  MlirValue small = cast(builder, ArithOp_SIToFP, magnitude, f32);
  small = tileBuildBinary(builder, ArithOp_MulF, small,
                          tileBuildFloat(builder, mlirValueGetType(small), tiniestOf(format)));
  return arithSelectOpBuild(builder, isSmall, small, normal);
}

static MlirValue withSignOf(TileBuilder *builder, const TileFloatFormat *format, MlirValue bits, MlirValue value) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32);
  MlirValue sign = withInteger(builder, ArithOp_AndI, bits, INT64_C(1) << (format->width - 1));
  sign = withInteger(builder, ArithOp_ShLI, sign, 32 - format->width);
  value = tileBuildBinary(builder, ArithOp_OrI, cast(builder, ArithOp_Bitcast, value, i32), sign);
  return cast(builder, ArithOp_Bitcast, value, mlirF32TypeGet(builder->context));
}

// The exponent's field of f32 is that of the scale. The fraction is one half at both ends: 2^-127, and nan.
static MlirValue widenScale(TileBuilder *builder, const TileFloatFormat *format, MlirValue bits) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32);
  MlirValue next = withInteger(builder, ArithOp_AddI, bits, 1); // 0 and 255 become 1 and 0
  MlirValue isEnd = compareWith(builder, next, ArithCmpI_Ult, 2);
  MlirValue half = withInteger(builder, ArithOp_ShLI, cast(builder, ArithOp_ExtUI, isEnd, i32), 22);
  MlirValue word = withInteger(builder, ArithOp_ShLI, cast(builder, ArithOp_ExtUI, bits, i32), 23);
  return cast(builder, ArithOp_Bitcast, tileBuildBinary(builder, ArithOp_OrI, word, half),
              mlirF32TypeGet(builder->context));
}

static MlirValue widen(TileBuilder *builder, const TileFloatFormat *format, MlirValue value) {
  MlirValue bits = cast(builder, ArithOp_Bitcast, value, mlirIntegerTypeGet(builder->context, format->width));
  if (format->specials == TileFloat_Scale)
    return widenScale(builder, format, bits);
  if (isWithinHalf(format))
    return widenByHalf(builder, format, bits);
  bits = cast(builder, ArithOp_ExtUI, bits, mlirIntegerTypeGet(builder->context, 32));
  MlirValue magnitude = withInteger(builder, ArithOp_AndI, bits, magnitudeOnes(format));
  MlirValue wide = withSignOf(builder, format, bits, widenMagnitude(builder, format, magnitude));
  MlirValue isNan = compareWith(builder, bits, ArithCmpI_Eq, nanBits(format));
  return arithSelectOpBuild(builder, isNan, tileBuildFloat(builder, mlirValueGetType(wide), NAN), wide);
}

// To or from 16 bits by way of f32, as there are instructions for that; `value` is no number that f32 would round.
static MlirValue convertWide(TileBuilder *builder, MlirValue value, MlirType element) {
  bool isHalf = mlirFloatTypeGetWidth(tileLanesElementOfTile(mlirValueGetType(value))) < 32 ||
                mlirFloatTypeGetWidth(element) < 32;
  MlirType steps[] = {isHalf ? mlirF32TypeGet(builder->context) : element, element};
  for (int i = 0; i < 2; ++i) {
    MlirType from = tileLanesElementOfTile(mlirValueGetType(value));
    if (!mlirTypeEqual(from, steps[i]))
      value =
          cast(builder, mlirFloatTypeGetWidth(from) < mlirFloatTypeGetWidth(steps[i]) ? ArithOp_ExtF : ArithOp_TruncF,
               value, steps[i]);
  }
  return value;
}

// LLVM compares numbers of f64 that were bf16 as bf16, and then dies where it has AVX512_BF16 and the vectors are of
// odd length ("Do not know how to soft promote this operator's operand!", LLVM 22.1). By way of f32, arith-expand makes
// bits of them.
static bool isBf16ToF64(MlirValue value, MlirType element) {
  return mlirTypeIsABF16(tileLanesElementOfTile(mlirValueGetType(value))) && mlirTypeIsAF64(element);
}

static MlirLogicalResult replaceExtension(MlirOperation op, MlirPatternRewriter rewriter, bool isWideToo) {
  TileFloatFormat format;
  MlirValue value = tileOnlyOperand(op);
  MlirType element = tileLanesElementOfTile(tileOnlyResultType(op));
  if (!formatOf(value, &format) || (format.width > 8 && !(isWideToo && isBf16ToF64(value, element))))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue result = convertWide(&builder, format.width > 8 ? value : widen(&builder, &format, value), element);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult expandExtension(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                         void *userData) {
  if (!isScalarOrVector(tileOnlyOperandType(op)))
    return mlirLogicalResultFailure();
  return replaceExtension(op, rewriter, true);
}

static MlirLogicalResult expandExtensionOfTile(MlirRewritePattern pattern, MlirOperation op,
                                               MlirPatternRewriter rewriter, void *userData) {
  MlirType type = tileOnlyOperandType(op);
  if (!isTile(type) || isTritons(tileLanesElementOfTile(type)))
    return mlirLogicalResultFailure();
  return replaceExtension(op, rewriter, false);
}

//===--- narrowing: a number of f64 to one of the format, then to its bits --------------------===//

// The distance of the format's numbers around x: a power of two.
static MlirValue quantumOf(TileLanes *lanes, const TileFloatFormat *format, MlirValue x) {
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_AndI, tileLanesBits(lanes, x), 0x7ff0000000000000);
  exponent = tileLanesOnInteger(lanes, ArithOp_MaxUI, exponent, (int64_t)(1023 + format->leastExponent) << 52);
  return tileLanesFromBits(lanes, tileLanesOnInteger(lanes, ArithOp_SubI, exponent, (int64_t)format->fraction << 52));
}

static MlirValue roundToFormat(TileLanes *lanes, const TileFloatFormat *format, int64_t mode, MlirValue x) {
  MlirValue quantum = quantumOf(lanes, format, x), places = tileLanesDiv(lanes, x, quantum);
  places = tileBuildUnary(&lanes->builder, roundings[mode], places);
  return tileLanesMul(lanes, places, quantum);
}

static MlirValue isBeyond(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded) {
  return tileLanesIs(lanes, tileLanesAbs(lanes, rounded), ArithCmpF_Ogt, tileLanesFloat(lanes, format->largest));
}

// The bits of a number of the format. A subnormal number is a multiple of the tiniest one, which adding 2^52 shifts to
// the last bits.
static MlirValue magnitudeBits(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded) {
  MlirValue magnitude = tileLanesAbs(lanes, rounded);
  MlirValue normal = tileLanesOnInteger(lanes, ArithOp_ShRUI, tileLanesBits(lanes, magnitude), 52 - format->fraction);
  normal = tileLanesOnInteger(lanes, ArithOp_SubI, normal, (int64_t)(1023 - biasOf(format)) << format->fraction);
  if (format->specials == TileFloat_Scale)
    return normal;
  MlirValue small = tileLanesMul(lanes, magnitude, tileLanesFloat(lanes, 1 / tiniestOf(format)));
  small = tileLanesBits(lanes, tileLanesAdd(lanes, small, tileLanesFloat(lanes, 0x1p52)));
  small = tileLanesOnInteger(lanes, ArithOp_AndI, small, magnitudeOnes(format));
  MlirValue isSmall =
      tileLanesIs(lanes, magnitude, ArithCmpF_Olt, tileLanesFloat(lanes, ldexp(1, format->leastExponent)));
  return tileLanesSelect(lanes, isSmall, small, normal);
}

static MlirValue signBits(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded, MlirValue magnitude) {
  MlirValue sign = tileLanesOnInteger(lanes, ArithOp_ShRUI, tileLanesBits(lanes, rounded), 63);
  sign = tileLanesOnInteger(lanes, ArithOp_ShLI, sign, format->width - 1);
  if (format->specials != TileFloat_NanAtMinus)
    return sign;
  MlirValue isZero = compareWith(&lanes->builder, magnitude, ArithCmpI_Eq, 0);
  return tileLanesSelect(lanes, isZero, tileLanesInteger(lanes, 0), sign);
}

static MlirValue bitsOf(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded) {
  MlirValue bits = magnitudeBits(lanes, format, rounded);
  bits = tileLanesSelect(lanes, isBeyond(lanes, format, rounded), tileLanesInteger(lanes, beyondBits(format)), bits);
  if (format->specials != TileFloat_Scale)
    bits = tileLanesOnIntegers(lanes, ArithOp_OrI, bits, signBits(lanes, format, rounded, bits));
  MlirValue isNan = tileLanesIs(lanes, rounded, ArithCmpF_Uno, rounded);
  return tileLanesSelect(lanes, isNan, tileLanesInteger(lanes, nanBits(format)), bits);
}

static MlirValue narrow(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded, MlirType element) {
  if (format->specials == TileFloat_Scale) { // no zero, no sign
    MlirValue least = tileLanesFloat(lanes, 0x1p-127), magnitude = tileLanesAbs(lanes, rounded);
    rounded = tileLanesSelect(lanes, tileLanesIs(lanes, magnitude, ArithCmpF_Olt, least), least, magnitude);
  }
  MlirType word = mlirIntegerTypeGet(lanes->builder.context, format->width);
  MlirValue bits = cast(&lanes->builder, ArithOp_TruncI, bitsOf(lanes, format, rounded), word);
  return cast(&lanes->builder, ArithOp_Bitcast, bits, element);
}

// f16, bf16 and f32 hold `rounded` exactly, or it is beyond their largest: the machine's truncation does the rest.
static MlirValue finish(TileLanes *lanes, const TileFloatFormat *format, MlirValue rounded, MlirType element) {
  if (format->width <= 8)
    return narrow(lanes, format, rounded, element);
  return convertWide(&lanes->builder, rounded, element);
}

static MlirLogicalResult replaceTruncation(MlirOperation op, MlirPatternRewriter rewriter) {
  TileFloatFormat from, to;
  MlirValue value = tileOnlyOperand(op), result = tileOnlyResult(op);
  if (!formatOf(value, &from) || !formatOf(result, &to))
    return mlirLogicalResultFailure();
  bool isInstruction = to.width == 32 || (to.width == 16 && from.width < 64);
  if (isInstruction && roundingOf(op) == ToNearestEven)
    return mlirLogicalResultFailure();
  TileLanes lanes = tileLanesOf(tileBuilderInPattern(rewriter, op), mlirValueGetType(value));
  value = convertWide(&lanes.builder, value, tileLanesElementOfTile(lanes.real));
  value = roundToFormat(&lanes, &to, roundingOf(op), value);
  result = finish(&lanes, &to, value, tileLanesElementOfTile(mlirValueGetType(result)));
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult expandTruncation(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                          void *userData) {
  return isScalarOrVector(tileOnlyOperandType(op)) ? replaceTruncation(op, rewriter) : mlirLogicalResultFailure();
}

static MlirLogicalResult expandTruncationOfTile(MlirRewritePattern pattern, MlirOperation op,
                                                MlirPatternRewriter rewriter, void *userData) {
  bool isCut = roundingOf(op) == TowardZero && mlirTypeIsAF32(tileLanesElementOfTile(tileOnlyOperandType(op))) &&
               tileElementWidth(tileLanesElementOfTile(tileOnlyResultType(op))) == 16; // by an op of Triton
  return isTile(tileOnlyOperandType(op)) && !isCut ? replaceTruncation(op, rewriter) : mlirLogicalResultFailure();
}

//===--- multiply-add ------------------------------------------------------------------------------===//

// a + b to odd: where it is not exact, the neighbour whose last bit is one. A rounding to at most 24 digits afterwards
// gives what one rounding gives.
static MlirValue addToOdd(TileLanes *lanes, MlirValue a, MlirValue b) {
  MlirValue sum = tileLanesAdd(lanes, a, b), part = tileLanesSub(lanes, sum, a);
  MlirValue error = tileLanesAdd(lanes, tileLanesSub(lanes, a, tileLanesSub(lanes, sum, part)), // Knuth's two-sum
                                 tileLanesSub(lanes, b, part));
  MlirValue bits = tileLanesBits(lanes, sum);
  MlirValue step = tileLanesOnIntegers(lanes, ArithOp_XOrI, bits, tileLanesBits(lanes, error));
  step = tileLanesOnInteger(lanes, ArithOp_OrI, tileLanesOnInteger(lanes, ArithOp_ShRSI, step, 63), 1); // 1 or -1
  MlirValue isEven = compareWith(&lanes->builder, tileLanesOnInteger(lanes, ArithOp_AndI, bits, 1), ArithCmpI_Eq, 0);
  MlirValue isInexact = tileLanesIs(lanes, error, ArithCmpF_One, tileLanesFloat(lanes, 0));
  MlirValue odd = tileLanesOnIntegers(lanes, ArithOp_AddI, bits, step);
  return tileLanesFromBits(lanes, tileLanesSelect(lanes, tileLanesBoth(lanes, isEven, isInexact), odd, bits));
}

static MlirLogicalResult expandMultiplyAdd(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                           void *userData) {
  MlirType type = tileOnlyResultType(op);
  TileFloatFormat format;
  if (tileElementWidth(tileLanesElementOfTile(type)) > 16) // an instruction
    return mlirLogicalResultFailure();
  MlirType element = tileLanesElementOfTile(type);
  if (!isScalarOrVector(type) || !tileFloatFormatOf(element, &format))
    return mlirLogicalResultFailure();
  TileLanes lanes = tileLanesOf(tileBuilderInPattern(rewriter, op), type);
  MlirValue values[3];
  for (int i = 0; i < 3; ++i)
    values[i] = convertWide(&lanes.builder, mlirOperationGetOperand(op, i), tileLanesElementOfTile(lanes.real));
  MlirValue sum = addToOdd(&lanes, tileLanesMul(&lanes, values[0], values[1]), values[2]); // the product is exact
  MlirValue result = cast(&lanes.builder, ArithOp_TruncF, sum, element);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

//===--- the pass -----------------------------------------------------------------------------===//

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_ExtF), /*benefit=*/1, expandExtension);
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_TruncF), /*benefit=*/1, expandTruncation);
  tileAddPattern(patterns, context, tileUpstreamName(MathOp_Fma), /*benefit=*/1, expandMultiplyAdd);
}

static void populateForTt(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_ExtF), /*benefit=*/1, expandExtensionOfTile);
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_TruncF), /*benefit=*/1, expandTruncationOfTile);
}

static bool run(MlirOperation op, MlirExtPass pass) {
  MlirStringRef language = mlirExtPassGetString(pass, "tiles");
  if (language.length && !tileStringEquals(language, "tt"))
    return tileError(op, "tile-expand-float-conversions: tiles is \"%.*s\", expected tt", (int)language.length,
                     language.data);
  return tileApplyPatterns(op, language.length ? populateForTt : populate);
}

const MlirExtPassDefinition tileExpandFloatConversionsPass = {
    .argument = "tile-expand-float-conversions",
    .summary = "Expands conversions of floats of 8 bits and fewer, and truncations not to nearest even",
    .options = (const MlirExtPassOption[]){{"tiles", "expand, on tiles of kernels, what a language does not have: tt",
                                            MlirExtOption_String, ""},
                                           {NULL}},
    .dialects = (const char *const[]){"arith", "math", NULL},
    .run = run,
};
