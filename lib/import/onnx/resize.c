// Resize and Upsample: one axis after the other. For each axis, tables of places and weights, one entry for each
// element of the result, are computed in f64: at import where the sizes are known. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

typedef enum Coordinates {
  HalfPixel,
  PytorchHalfPixel,
  Asymmetric,
  AlignCorners,
  HalfPixelSymmetric,
  CropAndResize
} Coordinates;
typedef enum Mode { Nearest, Linear, Cubic } Mode;
typedef enum Rounding { PreferFloor, PreferCeil, Floor, Ceil } Rounding;

enum { MaxTaps = 64 };

typedef struct Axis {
  Mode mode;
  Coordinates coordinates;
  Rounding rounding;
  double a; // of cubic
  bool excludesOutside, isAntialiased;
  MlirValue scale, start, end; // f64; the region of interest
  MlirValue in, out;           // index
  double known;                // the scale, for antialiasing
  int taps, tap;               // tap: of the table being made
} Axis;

static MlirValue real(Body *body, double number) {
  return tileBuildFloat(body->b, mlirF64TypeGet(body->b->context), number);
}

static MlirValue realOf(Body *body, MlirValue index) {
  MlirValue number = onnxFromIndex(body, index, mlirIntegerTypeGet(body->b->context, 64));
  return onnxConvert(body, number, Onnx_I64, Onnx_F64);
}

#define ADD(a, b) ONNX_OP(ArithOp_AddF, a, b)
#define SUB(a, b) ONNX_OP(ArithOp_SubF, a, b)
#define MUL(a, b) ONNX_OP(ArithOp_MulF, a, b)
#define DIV(a, b) ONNX_OP(ArithOp_DivF, a, b)

// The place in the input that element `at` of the result stands for.
static MlirValue placeOf(Body *body, const Axis *axis, MlirValue at) {
  MlirValue x = realOf(body, at), in = realOf(body, axis->in), one = real(body, 1), half = real(body, 0.5);
  MlirValue width = MUL(axis->scale, in), isOne = onnxCompareF(body, ArithCmpF_Oeq, width, one);
  MlirValue last = SUB(in, one), widest = onnxSelect(body, isOne, one, SUB(width, one));
  MlirValue centered = SUB(DIV(ADD(x, half), axis->scale), half);
  switch (axis->coordinates) {
  case Asymmetric:
    return DIV(x, axis->scale);
  case AlignCorners:
    return onnxSelect(body, isOne, real(body, 0), DIV(MUL(x, last), widest));
  case PytorchHalfPixel:
    return onnxSelect(body, isOne, real(body, -0.5), centered);
  case HalfPixelSymmetric: {
    MlirValue adjustment = DIV(realOf(body, axis->out), width), middle = DIV(in, real(body, 2));
    return ADD(MUL(middle, SUB(one, adjustment)), centered);
  }
  case CropAndResize: {
    MlirValue span = SUB(axis->end, axis->start), single = DIV(MUL(span, last), real(body, 2));
    MlirValue many = DIV(MUL(MUL(x, span), last), widest);
    return ADD(onnxSelect(body, isOne, single, many), MUL(axis->start, last));
  }
  default:
    return centered;
  }
}

// How far behind the pixel on its left the place lies, in (0, 1]: a pixel's own place is 1 behind the one before.
static void neighbors(Body *body, const Axis *axis, MlirValue *ratio, MlirValue *first) {
  MlirValue place = placeOf(body, axis, body->index[0]), left = ONNX_OP(MathOp_Floor, place);
  MlirValue isPixel = onnxCompareF(body, ArithCmpF_Oeq, place, left);
  *ratio = onnxSelect(body, isPixel, real(body, 1), SUB(place, left));
  int half = axis->taps / 2;
  MlirValue start = onnxSelect(body, isPixel, real(body, -half), real(body, 1 - half));
  *first = ADD(left, start);
}

static MlirValue cubicPiece(Body *body, MlirValue x, double a) {
  MlirValue size = ONNX_OP(MathOp_AbsF, x), square = MUL(size, size), cube = MUL(square, size);
  MlirValue near = ADD(SUB(MUL(real(body, a + 2), cube), MUL(real(body, a + 3), square)), real(body, 1));
  MlirValue far = SUB(ADD(SUB(MUL(real(body, a), cube), MUL(real(body, 5 * a), square)), MUL(real(body, 8 * a), size)),
                      real(body, 4 * a));
  MlirValue isNear = onnxCompareF(body, ArithCmpF_Ole, size, real(body, 1));
  MlirValue isFar = onnxCompareF(body, ArithCmpF_Olt, size, real(body, 2));
  return onnxSelect(body, isNear, near, onnxSelect(body, isFar, far, real(body, 0)));
}

static MlirValue rawWeight(Body *body, const Axis *axis, MlirValue ratio, int tap) {
  double scale = axis->isAntialiased && axis->known < 1 ? axis->known : 1;
  // Distance of the tap's pixel from the place, in pixels of the coarser image.
  int place = tap + 1 - axis->taps / 2;
  MlirValue distance = MUL(SUB(real(body, place), ratio), real(body, scale));
  if (axis->mode == Cubic)
    return cubicPiece(body, distance, axis->a);
  MlirValue weight = SUB(real(body, 1), ONNX_OP(MathOp_AbsF, distance));
  return ONNX_OP(ArithOp_MaximumF, weight, real(body, 0));
}

static MlirValue weightOf(Body *body) {
  const Axis *axis = body->data;
  MlirValue ratio, first, sum = real(body, 0), own = sum, none = sum, in = realOf(body, axis->in);
  neighbors(body, axis, &ratio, &first);
  for (int tap = 0; tap < axis->taps; ++tap) {
    MlirValue weight = rawWeight(body, axis, ratio, tap), at = ADD(first, real(body, tap));
    if (axis->excludesOutside) {
      MlirValue isBefore = onnxCompareF(body, ArithCmpF_Olt, at, real(body, 0));
      MlirValue isBehind = onnxCompareF(body, ArithCmpF_Oge, at, in);
      weight = onnxSelect(body, ONNX_OP(ArithOp_OrI, isBefore, isBehind), none, weight);
    }
    sum = ADD(sum, weight);
    own = tap == axis->tap ? weight : own;
  }
  if (axis->excludesOutside || axis->isAntialiased)
    own = DIV(own, onnxSelect(body, onnxCompareF(body, ArithCmpF_Oeq, sum, none), real(body, 1), sum));
  return onnxConvert(body, own, Onnx_F64, Onnx_F32);
}

static MlirValue clampedPlace(Body *body, const Axis *axis, MlirValue at) {
  MlirValue last = SUB(realOf(body, axis->in), real(body, 1));
  MlirValue low = ONNX_OP(ArithOp_MaximumF, at, real(body, 0));
  return onnxConvert(body, ONNX_OP(ArithOp_MinimumF, low, last), Onnx_F64, Onnx_I64);
}

static MlirValue tapPlace(Body *body) {
  const Axis *axis = body->data;
  MlirValue ratio, first;
  neighbors(body, axis, &ratio, &first);
  return clampedPlace(body, axis, ADD(first, real(body, axis->tap)));
}

static MlirValue nearestPlace(Body *body) {
  const Axis *axis = body->data;
  MlirValue ratio, first, one = real(body, 1), half = real(body, 0.5), takesSecond;
  neighbors(body, axis, &ratio, &first);
  MlirValue isPixel = onnxCompareF(body, ArithCmpF_Oeq, ratio, one);
  switch (axis->rounding) {
  case PreferFloor:
    takesSecond = onnxCompareF(body, ArithCmpF_Ogt, ratio, half);
    break;
  case PreferCeil:
    takesSecond = onnxCompareF(body, ArithCmpF_Oge, ratio, half);
    break;
  case Floor:
    takesSecond = isPixel;
    break;
  default:
    takesSecond = onnxCompareF(body, ArithCmpF_Ogt, ratio, real(body, 0));
  }
  return clampedPlace(body, axis, onnxSelect(body, takesSecond, ADD(first, one), first));
}

static MlirValue isOutside(Body *body) {
  const Axis *axis = body->data;
  MlirValue place = placeOf(body, axis, body->index[0]), last = SUB(realOf(body, axis->in), real(body, 1));
  return ONNX_OP(ArithOp_OrI, onnxCompareF(body, ArithCmpF_Olt, place, real(body, 0)),
                 onnxCompareF(body, ArithCmpF_Ogt, place, last));
}

//===--- applying tables ------------------------------------------------------===//

typedef struct Tables {
  OnnxValue *from, *places[MaxTaps], *weights[MaxTaps], *outside;
  int taps, axis;
  double extrapolation;
} Tables;

static MlirValue interpolated(Body *body) {
  const Tables *tables = body->data;
  const MlirValue *at = &body->index[tables->axis];
  MlirValue index[OnnxMaxRank], sum = {NULL};
  memcpy(index, body->index, (size_t)tables->from->rank * sizeof *index);
  for (int tap = 0; tap < tables->taps; ++tap) {
    index[tables->axis] = onnxToIndex(body, onnxAt(body, tables->places[tap], at));
    MlirValue x = onnxAt(body, tables->from, index);
    if (tables->weights[tap])
      x = MUL(x, onnxConvert(body, onnxAt(body, tables->weights[tap], at), Onnx_F32, tables->from->type));
    sum = mlirValueIsNull(sum) ? x : ADD(sum, x);
  }
  if (!tables->outside)
    return sum;
  return onnxSelect(body, onnxAt(body, tables->outside, at), onnxNumber(body, sum, tables->extrapolation), sum);
}

static OnnxValue *resizeAxis(Node *node, OnnxValue *x, int d, Axis *axis, double extrapolation) {
  MlirValue sizes[OnnxMaxRank];
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[d] = axis->out;
  Tables tables = {.from = x, .axis = d, .extrapolation = extrapolation};
  tables.taps = axis->mode == Nearest ? 1 : axis->taps;
  for (int tap = 0; tap < tables.taps; ++tap) {
    axis->tap = tap;
    OnnxPlace *place = axis->mode == Nearest ? nearestPlace : tapPlace;
    tables.places[tap] = onnxGenerate(node, Onnx_I64, 1, &axis->out, place, axis);
    if (axis->mode != Nearest)
      tables.weights[tap] = onnxGenerate(node, Onnx_F32, 1, &axis->out, weightOf, axis);
  }
  if (axis->coordinates == CropAndResize)
    tables.outside = onnxGenerate(node, Onnx_Bool, 1, &axis->out, isOutside, axis);
  return onnxGenerate(node, x->type, x->rank, sizes, interpolated, &tables);
}

//===--- repeating ------------------------------------------------------------===//

// Each pixel stands for a whole number of pixels: its place is at / scale, rounded down, or less than a half away.
static bool repeatsPixels(const Axis *axis) {
  bool isCentered = axis->coordinates == HalfPixel || axis->coordinates == PytorchHalfPixel;
  bool isNearest = axis->rounding == PreferFloor || axis->rounding == PreferCeil;
  return axis->mode == Nearest && axis->known >= 1 && axis->known == floor(axis->known) &&
         (isCentered ? isNearest : axis->coordinates == Asymmetric && axis->rounding == Floor);
}

// Axis d of k pixels as one of k × 1, repeated to k × times, as one again.
static OnnxValue *repeatPixels(Node *node, OnnxValue *x, int d, int64_t times, MlirValue out) {
  MlirValue sizes[OnnxMaxRank], split[OnnxMaxRank];
  memcpy(sizes, x->sizes, sizeof sizes);
  for (int i = 0; i <= x->rank; ++i)
    split[i] = i == d + 1 ? tileBuildIndex(node->b, times) : x->sizes[i > d ? i - 1 : i];
  sizes[d] = out;
  OnnxValue *repeated = onnxBroadcastTo(node, onnxUnsqueeze(node, x, 1u << (d + 1), x->rank + 1), x->rank + 1, split);
  return repeated ? onnxReshape(node, repeated, x->rank, sizes) : NULL;
}

//===--- the node -------------------------------------------------------------===//

static bool choose(Node *node, const char *name, int count, const char *const *words, int *choice) {
  if (!onnxAttribute(node, name))
    return true;
  for (int i = 0; i < count; ++i)
    if (onnxWord(node, name, words[i], false)) {
      *choice = i;
      return true;
    }
  return onnxError(node, "attribute %s has a word that is not known", name);
}

static bool readModes(Node *node, Axis *axis) {
  static const char *const modes[] = {"nearest", "linear", "cubic"};
  static const char *const coordinates[] = {"half_pixel",    "pytorch_half_pixel",   "asymmetric",
                                            "align_corners", "half_pixel_symmetric", "tf_crop_and_resize"};
  static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  int mode = Nearest, where = node->opset < 11 ? Asymmetric : HalfPixel,
      rounding = node->opset < 11 ? Floor : PreferFloor;
  if (!choose(node, "mode", 3, modes, &mode) ||
      !choose(node, "coordinate_transformation_mode", 6, coordinates, &where) ||
      !choose(node, "nearest_mode", 4, roundings, &rounding))
    return false;
  axis->mode = (Mode)mode;
  axis->coordinates = (Coordinates)where;
  axis->rounding = (Rounding)rounding;
  axis->a = onnxReal(node, "cubic_coeff_a", -0.75);
  axis->excludesOutside = onnxInt(node, "exclude_outside", 0) != 0;
  axis->isAntialiased = onnxInt(node, "antialias", 0) != 0 && mode != Nearest;
  return true;
}

typedef struct Target {
  MlirValue out[OnnxMaxRank], scale[OnnxMaxRank]; // null scale: the axis stays
  double known[OnnxMaxRank];                      // 0: not known
} Target;

static bool byScales(Node *node, OnnxValue *scales, const int *axes, int count, Target *target) {
  double numbers[OnnxMaxRank];
  int given;
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  if (!onnxConstantReals(node, scales, "the input scales", OnnxMaxRank, numbers, &given))
    return false;
  if (given != count)
    return onnxError(node, "%d scales for %d axes", given, count);
  for (int i = 0; i < count; ++i) {
    MlirValue in = node->in[0]->sizes[axes[i]];
    if (!(numbers[i] > 0) || numbers[i] > 1e6)
      return onnxError(node, "the scale %g is not positive, or too large", numbers[i]);
    target->known[axes[i]] = numbers[i];
    target->scale[axes[i]] = real(body, numbers[i]);
    bool isWhole = numbers[i] == floor(numbers[i]);
    MlirValue product = isWhole ? in : ONNX_OP(MathOp_Floor, MUL(realOf(body, in), real(body, numbers[i])));
    target->out[axes[i]] = isWhole ? tileBuildMul(node->b, in, tileBuildIndex(node->b, (int64_t)numbers[i]))
                                   : onnxToIndex(body, onnxConvert(body, product, Onnx_F64, Onnx_I64));
  }
  return true;
}

static bool bySizes(Node *node, OnnxValue *sizes, const int *axes, int count, Target *target) {
  MlirValue items[OnnxMaxRank], extreme = {NULL};
  int given;
  bool isSmaller = onnxWord(node, "keep_aspect_ratio_policy", "not_smaller", false);
  bool isLarger = onnxWord(node, "keep_aspect_ratio_policy", "not_larger", false);
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  if (!onnxReadIndices(node, sizes, OnnxMaxRank, items, &given))
    return false;
  if (given != count)
    return onnxError(node, "%d sizes for %d axes", given, count);
  for (int i = 0; i < count; ++i) {
    MlirValue scale = DIV(realOf(body, items[i]), realOf(body, node->in[0]->sizes[axes[i]]));
    target->out[axes[i]] = items[i];
    target->scale[axes[i]] = scale;
    extreme =
        mlirValueIsNull(extreme) ? scale : ONNX_OP(isSmaller ? ArithOp_MaximumF : ArithOp_MinimumF, extreme, scale);
  }
  for (int i = 0; i < count && (isSmaller || isLarger); ++i) {
    MlirValue exact = MUL(extreme, realOf(body, node->in[0]->sizes[axes[i]]));
    MlirValue rounded = onnxConvert(body, ADD(exact, real(body, 0.5)), Onnx_F64, Onnx_I64);
    target->out[axes[i]] = onnxToIndex(body, rounded);
    target->scale[axes[i]] = extreme;
  }
  for (int i = 0; i < count; ++i)
    tileConstantFloat(onnxFold(node->b, target->scale[axes[i]]), &target->known[axes[i]]);
  return true;
}

static bool readRegion(Node *node, const int *axes, int count, int d, Axis *axis) {
  double roi[2 * OnnxMaxRank];
  int given, at = -1;
  Body body = {.node = node, .b = node->b, .isFolding = true};
  axis->start = real(&body, 0);
  axis->end = real(&body, 1);
  if (axis->coordinates != CropAndResize || !node->in[1] || onnxCount(node->in[1]) == 0)
    return true;
  for (int i = 0; i < count; ++i)
    at = axes[i] == d ? i : at;
  if (!onnxConstantReals(node, node->in[1], "the input roi", 2 * OnnxMaxRank, roi, &given))
    return false;
  if (given != 2 * count)
    return onnxError(node, "roi has %d numbers for %d axes", given, count);
  if (at >= 0) {
    axis->start = real(&body, roi[at]);
    axis->end = real(&body, roi[at + count]);
  }
  return true;
}

static int tapsOf(const Axis *axis) {
  int reach = axis->mode == Cubic ? 2 : 1;
  double scale = axis->isAntialiased && axis->known < 1 ? axis->known : 1;
  double start = floor(-reach / scale) + 1;
  return start < -MaxTaps ? MaxTaps + 1 : (int)(2 - 2 * start);
}

static bool resize(Node *node, OnnxValue *scales, OnnxValue *sizes) {
  OnnxValue *x = node->in[0], *result;
  Axis axis;
  Target target = {.known = {0}};
  int64_t items[OnnxMaxRank];
  int count, axes[OnnxMaxRank], given;
  if (!readModes(node, &axis) || !onnxInts(node, "axes", OnnxMaxRank, items, &given))
    return false;
  count = given >= 0 ? given : x->rank;
  for (int i = 0; i < count; ++i)
    if (!onnxAxis(node, given >= 0 ? items[i] : i, x->rank, &axes[i]))
      return false;
  if (scales && onnxCount(scales) != 0 ? !byScales(node, scales, axes, count, &target)
      : sizes                          ? !bySizes(node, sizes, axes, count, &target)
                                       : !onnxError(node, "it has neither scales nor sizes"))
    return false;
  bool isReal = onnxIsFloat(x->type);
  if (!isReal && axis.mode != Nearest)
    return onnxError(node, "interpolation of type %s is not supported", onnxTypeName(x->type));
  result = onnxCast(node, x, onnxSumType(x->type));
  for (int i = 0; i < count && result; ++i) {
    int d = axes[i];
    axis.scale = target.scale[d];
    axis.known = target.known[d];
    axis.in = x->sizes[d];
    axis.out = target.out[d];
    bool isOne = axis.known == 1 && onnxIsSame(axis.in, axis.out);
    if (isOne && axis.coordinates != CropAndResize)
      continue;
    if (scales && onnxCount(scales) != 0 && repeatsPixels(&axis) && x->rank < OnnxMaxRank) {
      result = repeatPixels(node, result, d, (int64_t)axis.known, axis.out);
      continue;
    }
    if (axis.isAntialiased && axis.known == 0)
      return onnxError(node, "a scale with antialiasing is not a constant");
    axis.taps = tapsOf(&axis);
    if (axis.taps > MaxTaps)
      return onnxError(node, "antialiasing by %g takes more than %d pixels for one", axis.known, MaxTaps);
    if (!readRegion(node, axes, count, d, &axis))
      return false;
    result = resizeAxis(node, result, d, &axis, onnxReal(node, "extrapolation_value", 0));
  }
  return result && onnxReturn(node, onnxCast(node, result, x->type));
}

bool onnxEmitResize(Node *node) {
  return node->opset < 11 ? resize(node, node->in[1], NULL) : resize(node, node->in[2], node->in[3]);
}

bool onnxEmitUpsample(Node *node) {
  if (node->opset >= 9)
    return resize(node, node->in[1], NULL);
  const OnnxAttribute *scales = onnxAttribute(node, "scales");
  if (!scales || scales->reals.count > OnnxMaxRank)
    return onnxError(node, "attribute scales is missing or too long");
  MlirValue elements[OnnxMaxRank], count = tileBuildIndex(node->b, scales->reals.count);
  for (int64_t i = 0; i < scales->reals.count; ++i) {
    float number;
    memcpy(&number, &scales->reals.items[i], sizeof number);
    elements[i] = tileBuildFloat(node->b, onnxElementType(node, Onnx_F32), number);
  }
  return resize(node, onnxOfElements(node, Onnx_F32, 1, &count, elements, scales->reals.count), NULL);
}
