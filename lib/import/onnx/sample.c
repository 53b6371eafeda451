// Operators that read an image between its pixels, or add overlapping windows up: GridSample, AffineGrid, RoiAlign,
// DeformConv, Col2Im. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

#define ADD(a, b) ONNX_OP(ArithOp_AddF, a, b)
#define SUB(a, b) ONNX_OP(ArithOp_SubF, a, b)
#define MUL(a, b) ONNX_OP(ArithOp_MulF, a, b)
#define DIV(a, b) ONNX_OP(ArithOp_DivF, a, b)

//===--- between pixels -------------------------------------------------------===//

typedef enum Mode { Nearest, Linear, Cubic } Mode;
typedef enum Outside { Zeros, Border, Reflection } Outside;
enum { MaxTaps = 4 };

// How an image, N×C×spatial axes, is read.
typedef struct Sampler {
  OnnxValue *image;
  OnnxType type; // of the arithmetic
  Mode mode;
  Outside outside;
  bool alignsCorners; // the image ends at the centers of its last pixels, not at their edges
  TileUpstream join;  // of the weighted pixels: arith.addf, or arith.maximumf
} Sampler;

// The pixels along one axis that take part.
typedef struct Taps {
  int count;
  MlirValue places[MaxTaps], areInside[MaxTaps], weights[MaxTaps]; // null: all are inside, each counts once
} Taps;

static OnnxType widest(OnnxType a, OnnxType b) { return a == Onnx_F64 || b == Onnx_F64 ? Onnx_F64 : Onnx_F32; }

static MlirValue real(Body *body, OnnxType type, double number) {
  return tileBuildFloat(body->b, onnxElementType(body->node, type), number);
}

static MlirValue realOf(Body *body, OnnxType type, MlirValue index) {
  MlirValue number = onnxFromIndex(body, index, mlirIntegerTypeGet(body->b->context, 64));
  return onnxConvert(body, number, Onnx_I64, type);
}

static MlirValue indexOf(Body *body, OnnxType type, MlirValue number) {
  return onnxToIndex(body, onnxConvert(body, number, type, Onnx_I64));
}

static MlirValue clampIndex(Body *body, MlirValue at, MlirValue size) {
  MlirValue last = ONNX_OP(ArithOp_SubI, size, tileBuildIndex(body->b, 1));
  return ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_MinSI, at, last), tileBuildIndex(body->b, 0));
}

// The ends of an axis of `size` pixels.
static void endsOf(Body *body, const Sampler *by, MlirValue size, MlirValue *low, MlirValue *high) {
  double edge = by->alignsCorners ? 0 : 0.5;
  *low = real(body, by->type, -edge);
  *high = SUB(realOf(body, by->type, size), real(body, by->type, 1 - edge));
}

// What lies outside is mirrored at the ends, again and again.
static MlirValue reflected(Body *body, const Sampler *by, MlirValue x, MlirValue size) {
  MlirValue low, high, half = real(body, by->type, 0.5), two = real(body, by->type, 2);
  endsOf(body, by, size, &low, &high);
  MlirValue isBelow = onnxCompareF(body, ArithCmpF_Olt, x, low), isAbove = onnxCompareF(body, ArithCmpF_Ogt, x, high);
  MlirValue beyond = onnxSelect(body, isBelow, SUB(low, x), SUB(x, high)), span = SUB(high, low);
  MlirValue turns = ONNX_OP(MathOp_Floor, DIV(beyond, span)), rest = SUB(beyond, MUL(turns, span));
  MlirValue isOdd =
      onnxCompareF(body, ArithCmpF_Ogt, SUB(turns, MUL(two, ONNX_OP(MathOp_Floor, DIV(turns, two)))), half);
  MlirValue startsLow = ONNX_OP(ArithOp_XOrI, isBelow, isOdd);
  MlirValue inside = onnxSelect(body, startsLow, ADD(low, rest), SUB(high, rest));
  MlirValue isOne = onnxCompareF(body, ArithCmpF_Ole, span, real(body, by->type, 0));
  inside = onnxSelect(body, isOne, low, inside);
  return onnxSelect(body, ONNX_OP(ArithOp_OrI, isBelow, isAbove), inside, x);
}

// Places beyond the ends come back into the image, unless zeros lie there.
static MlirValue settledPlace(Body *body, const Sampler *by, MlirValue x, MlirValue size) {
  MlirValue low, high, zero = real(body, by->type, 0);
  if (by->outside == Reflection)
    return reflected(body, by, x, size);
  if (by->outside == Zeros)
    return x;
  endsOf(body, by, size, &low, &high);
  MlirValue last = SUB(realOf(body, by->type, size), real(body, by->type, 1));
  x = onnxSelect(body, onnxCompareF(body, ArithCmpF_Olt, x, low), zero, x);
  return onnxSelect(body, onnxCompareF(body, ArithCmpF_Ogt, x, high), last, x);
}

static MlirValue cubicWeight(Body *body, OnnxType type, MlirValue distance, bool isNear) {
  const double a = -0.75; // Keys (1981), as PyTorch has it
  MlirValue x = ONNX_OP(MathOp_AbsF, distance);
  if (isNear) // (a + 2)x³ - (a + 3)x² + 1
    return ADD(MUL(MUL(SUB(MUL(real(body, type, a + 2), x), real(body, type, a + 3)), x), x), real(body, type, 1));
  MlirValue inner = ADD(MUL(SUB(MUL(real(body, type, a), x), real(body, type, 5 * a)), x), real(body, type, 8 * a));
  return SUB(MUL(inner, x), real(body, type, 4 * a)); // ax³ - 5ax² + 8ax - 4a
}

static Taps tapsOf(Body *body, const Sampler *by, MlirValue place, MlirValue size) {
  Taps taps = {.count = by->mode == Nearest ? 1 : by->mode == Linear ? 2 : 4};
  if (by->mode == Nearest)
    place = ONNX_OP(MathOp_RoundEven, place);
  place = settledPlace(body, by, place, size);
  MlirValue left = ONNX_OP(MathOp_Floor, place), ratio = SUB(place, left), base = indexOf(body, by->type, left);
  int first = by->mode == Cubic ? -1 : 0;
  for (int t = 0; t < taps.count; ++t) {
    MlirValue at = ONNX_OP(ArithOp_AddI, base, tileBuildIndex(body->b, t + first));
    MlirValue distance = SUB(ratio, real(body, by->type, t + first));
    if (by->mode == Linear)
      taps.weights[t] = t ? ratio : SUB(real(body, by->type, 1), ratio);
    if (by->mode == Cubic)
      taps.weights[t] = cubicWeight(body, by->type, distance, t == 1 || t == 2);
    if (by->outside == Zeros)
      taps.areInside[t] = onnxCompareI(body, ArithCmpI_Ult, at, size);
    if (by->outside == Reflection)
      at = indexOf(body, by->type, reflected(body, by, realOf(body, by->type, at), size));
    taps.places[t] = clampIndex(body, at, size);
  }
  return taps;
}

static MlirValue joinTaps(Body *body, const Sampler *by, const Taps *taps, int axis, MlirValue *index,
                          MlirValue isInside) {
  if (axis == by->image->rank - 2) {
    MlirValue x = onnxConvert(body, onnxAt(body, by->image, index), by->image->type, by->type);
    return mlirValueIsNull(isInside) ? x : onnxSelect(body, isInside, x, real(body, by->type, 0));
  }
  MlirValue sum = {NULL};
  for (int t = 0; t < taps[axis].count; ++t) {
    MlirValue own = taps[axis].areInside[t];
    bool areBoth = !mlirValueIsNull(own) && !mlirValueIsNull(isInside);
    index[axis + 2] = taps[axis].places[t];
    MlirValue x = joinTaps(body, by, taps, axis + 1, index,
                           areBoth                ? ONNX_OP(ArithOp_AndI, own, isInside)
                           : mlirValueIsNull(own) ? isInside
                                                  : own);
    if (!mlirValueIsNull(taps[axis].weights[t]))
      x = MUL(x, taps[axis].weights[t]);
    sum = mlirValueIsNull(sum) ? x : ONNX_OP(by->join, sum, x);
  }
  return sum;
}

// The value of channel `channel` of image `number` at `places`, one for each spatial axis.
static MlirValue sampleAt(Body *body, const Sampler *by, MlirValue number, MlirValue channel, const MlirValue *places) {
  Taps taps[OnnxMaxRank];
  MlirValue index[OnnxMaxRank] = {number, channel}, none = {NULL};
  for (int d = 0; d < by->image->rank - 2; ++d)
    taps[d] = tapsOf(body, by, places[d], by->image->sizes[d + 2]);
  return joinTaps(body, by, taps, 0, index, none);
}

//===--- GridSample -----------------------------------------------------------===//

typedef struct Grid {
  Sampler sampler;
  OnnxValue *grid;
} Grid;

static MlirValue gridSampled(Body *body) {
  const Grid *by = body->data;
  const Sampler *sampler = &by->sampler;
  int s = sampler->image->rank - 2;
  MlirValue at[OnnxMaxRank], places[OnnxMaxRank], one = real(body, sampler->type, 1),
                                                  two = real(body, sampler->type, 2);
  at[0] = body->index[0];
  memcpy(&at[1], &body->index[2], (size_t)s * sizeof *at);
  for (int d = 0; d < s; ++d) {
    at[s + 1] = tileBuildIndex(body->b, s - 1 - d); // x comes first
    MlirValue x = ADD(onnxConvert(body, onnxAt(body, by->grid, at), by->grid->type, sampler->type), one);
    MlirValue size = realOf(body, sampler->type, sampler->image->sizes[d + 2]);
    places[d] = sampler->alignsCorners ? MUL(DIV(x, two), SUB(size, one)) : DIV(SUB(MUL(x, size), one), two);
  }
  MlirValue result = sampleAt(body, sampler, body->index[0], body->index[1], places);
  return onnxConvert(body, result, sampler->type, sampler->image->type);
}

static bool readSampling(Node *node, Sampler *sampler) {
  bool isLinear = onnxWord(node, "mode", "linear", true) || onnxWord(node, "mode", "bilinear", true);
  bool isCubic = onnxWord(node, "mode", "cubic", false) || onnxWord(node, "mode", "bicubic", false);
  bool isBorder = onnxWord(node, "padding_mode", "border", false);
  bool isReflection = onnxWord(node, "padding_mode", "reflection", false);
  if (!isLinear && !isCubic && !onnxWord(node, "mode", "nearest", false))
    return onnxError(node, "attribute mode is none of linear, nearest and cubic");
  if (!isBorder && !isReflection && !onnxWord(node, "padding_mode", "zeros", true))
    return onnxError(node, "attribute padding_mode is none of zeros, border and reflection");
  sampler->mode = isLinear ? Linear : isCubic ? Cubic : Nearest;
  sampler->outside = isBorder ? Border : isReflection ? Reflection : Zeros;
  sampler->alignsCorners = onnxInt(node, "align_corners", 0) != 0;
  return true;
}

bool onnxEmitGridSample(Node *node) {
  OnnxValue *x = node->in[0], *grid = node->in[1];
  Grid by = {.sampler = {.image = x, .type = widest(x->type, grid->type), .join = ArithOp_AddF}, .grid = grid};
  MlirValue sizes[OnnxMaxRank] = {x->sizes[0], x->sizes[1]};
  int s = x->rank - 2;
  if (s < 1 || s > 3 || grid->rank != x->rank || onnxStatic(grid->sizes[s + 1]) != s || !onnxIsFloat(grid->type))
    return onnxError(node, "requires an image of rank 3 to 5 and a grid of places of %d numbers each", s);
  memcpy(&sizes[2], &grid->sizes[1], (size_t)s * sizeof *sizes);
  return readSampling(node, &by.sampler) && onnxCheckSame(node, x->sizes[0], grid->sizes[0], "images and grids") &&
         onnxReturn(node, onnxGenerate(node, x->type, x->rank, sizes, gridSampled, &by));
}

//===--- AffineGrid -----------------------------------------------------------===//

typedef struct Affine {
  OnnxValue *theta;
  OnnxType type;
  int axes;
  bool alignsCorners;
  MlirValue sizes[OnnxMaxRank];
} Affine;

static MlirValue transformed(Body *body) {
  const Affine *by = body->data;
  MlirValue one = real(body, by->type, 1), two = real(body, by->type, 2);
  MlirValue at[] = {body->index[0], body->index[by->axes + 1], tileBuildIndex(body->b, by->axes)};
  MlirValue sum = onnxConvert(body, onnxAt(body, by->theta, at), by->theta->type, by->type);
  for (int k = 0; k < by->axes; ++k) {
    int axis = by->axes - 1 - k; // x is the last axis
    MlirValue place = realOf(body, by->type, body->index[axis + 1]), size = realOf(body, by->type, by->sizes[axis]);
    MlirValue steps = ONNX_OP(ArithOp_MaximumF, SUB(size, one), one);
    MlirValue x =
        by->alignsCorners ? SUB(DIV(MUL(two, place), steps), one) : SUB(DIV(ADD(MUL(two, place), one), size), one);
    at[2] = tileBuildIndex(body->b, k);
    sum = ADD(sum, MUL(onnxConvert(body, onnxAt(body, by->theta, at), by->theta->type, by->type), x));
  }
  return onnxConvert(body, sum, by->type, by->theta->type);
}

bool onnxEmitAffineGrid(Node *node) {
  Affine by = {.theta = node->in[0], .alignsCorners = onnxInt(node, "align_corners", 0) != 0};
  MlirValue sizes[OnnxMaxRank];
  int count;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, sizes, &count))
    return false;
  by.axes = count - 2;
  by.type = widest(by.theta->type, by.theta->type);
  if ((by.axes != 2 && by.axes != 3) || by.theta->rank != 3 || onnxStatic(by.theta->sizes[1]) != by.axes ||
      onnxStatic(by.theta->sizes[2]) != by.axes + 1)
    return onnxError(node, "requires N×2×3 numbers and 4 sizes, or N×3×4 numbers and 5 sizes");
  if (!onnxCheckSame(node, by.theta->sizes[0], sizes[0], "images and transformations"))
    return false;
  memcpy(by.sizes, &sizes[2], (size_t)by.axes * sizeof *sizes);
  memcpy(&sizes[1], by.sizes, (size_t)by.axes * sizeof *sizes);
  sizes[by.axes + 1] = tileBuildIndex(node->b, by.axes);
  return onnxReturn(node, onnxGenerate(node, by.theta->type, by.axes + 2, sizes, transformed, &by));
}

//===--- RoiAlign -------------------------------------------------------------===//

// Bins of regions: each bin is the mean, or the greatest, of points that lie in it evenly.
typedef struct Regions {
  Sampler sampler;
  OnnxValue *regions, *images; // R×4: x, y, x, y of two corners; R
  MlirValue bins[2];           // along y, x
  int64_t points;              // along each axis of a bin; 0: as many as it has pixels
  double scale;
  bool isHalfPixel, isMax;
} Regions;

// Start, size of a bin and points in it along an axis (0: y) of the region at index[0].
typedef struct Bin {
  MlirValue start, size, points;
} Bin;

static Bin binOf(Body *body, const Regions *by, int axis) {
  OnnxType type = by->sampler.type;
  MlirValue offset = real(body, type, by->isHalfPixel ? 0.5 : 0), scale = real(body, type, by->scale), ends[2];
  for (int i = 0; i < 2; ++i) {
    const MlirValue at[] = {body->index[0], tileBuildIndex(body->b, 2 * i + 1 - axis)};
    MlirValue end = onnxConvert(body, onnxAt(body, by->regions, at), by->regions->type, type);
    ends[i] = SUB(MUL(end, scale), offset);
  }
  MlirValue size = SUB(ends[1], ends[0]);
  if (!by->isHalfPixel)
    size = ONNX_OP(ArithOp_MaximumF, size, real(body, type, 1));
  Bin bin = {.start = ends[0], .size = DIV(size, realOf(body, type, by->bins[axis]))};
  bin.points = by->points ? real(body, type, (double)by->points) : ONNX_OP(MathOp_Ceil, bin.size);
  return bin;
}

static MlirValue pointsAlong(Body *body, const Regions *by, int axis) {
  return onnxConvert(body, binOf(body, by, axis).points, by->sampler.type, Onnx_I64);
}
static MlirValue pointsAlongY(Body *body) { return pointsAlong(body, body->data, 0); }
static MlirValue pointsAlongX(Body *body) { return pointsAlong(body, body->data, 1); }

// R×C×bins×points
static MlirValue pointOfBin(Body *body) {
  const Regions *by = body->data;
  OnnxType type = by->sampler.type;
  MlirValue places[2], total = real(body, type, 1), isOutside = {NULL}, isNone = {NULL}, zero = real(body, type, 0);
  for (int axis = 0; axis < 2; ++axis) {
    Bin bin = binOf(body, by, axis);
    MlirValue point = realOf(body, type, body->index[axis + 4]), half = real(body, type, 0.5);
    MlirValue within = DIV(MUL(ADD(point, half), bin.size), bin.points);
    MlirValue place = ADD(ADD(bin.start, MUL(realOf(body, type, body->index[axis + 2]), bin.size)), within);
    MlirValue size = realOf(body, type, by->sampler.image->sizes[axis + 2]);
    MlirValue outside = ONNX_OP(ArithOp_OrI, onnxCompareF(body, ArithCmpF_Olt, place, real(body, type, -1)),
                                onnxCompareF(body, ArithCmpF_Ogt, place, size));
    MlirValue none = onnxCompareF(body, ArithCmpF_Oge, point, bin.points);
    isOutside = axis ? ONNX_OP(ArithOp_OrI, isOutside, outside) : outside;
    isNone = axis ? ONNX_OP(ArithOp_OrI, isNone, none) : none;
    total = MUL(total, ONNX_OP(ArithOp_MaximumF, bin.points, zero));
    MlirValue last = SUB(size, real(body, type, 1));
    places[axis] = ONNX_OP(ArithOp_MinimumF, ONNX_OP(ArithOp_MaximumF, place, zero), last);
  }
  MlirValue image = onnxToIndex(body, onnxAt(body, by->images, &body->index[0]));
  MlirValue x = onnxSelect(body, isOutside, zero, sampleAt(body, &by->sampler, image, body->index[1], places));
  if (!by->isMax)
    return DIV(onnxSelect(body, isNone, zero, x), ONNX_OP(ArithOp_MaximumF, total, real(body, type, 1)));
  MlirValue isEmpty = onnxCompareF(body, ArithCmpF_Ole, total, zero);
  return onnxSelect(body, isNone, onnxSelect(body, isEmpty, zero, real(body, type, -INFINITY)), x);
}

// The most points that a bin has along an axis.
static bool mostPoints(Node *node, const Regions *by, OnnxPlace *pointsOf, MlirValue *most) {
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  *most = tileBuildIndex(node->b, by->points);
  if (by->points)
    return true;
  OnnxValue *counts = onnxGenerate(node, Onnx_I64, 1, by->regions->sizes, pointsOf, by);
  OnnxValue *largest = counts ? onnxReduce(node, OnnxReduce_Max, counts, 1, false) : NULL;
  MlirValue *element = largest ? onnxRead(node, largest) : NULL;
  if (!element)
    return false;
  *most = ONNX_OP(ArithOp_MaxSI, onnxToIndex(body, element[0]), tileBuildIndex(node->b, 1));
  return true;
}

bool onnxEmitRoiAlign(Node *node) {
  OnnxValue *x = node->in[0];
  Regions by = {.regions = node->in[1], .images = node->in[2], .points = onnxInt(node, "sampling_ratio", 0)};
  by.isMax = onnxWord(node, "mode", "max", false);
  by.isHalfPixel = node->opset >= 16 && onnxWord(node, "coordinate_transformation_mode", "half_pixel", true);
  by.scale = onnxReal(node, "spatial_scale", 1);
  by.sampler = (Sampler){.image = x,
                         .type = widest(x->type, by.regions->type),
                         .mode = Linear,
                         .outside = Border,
                         .alignsCorners = true,
                         .join = by.isMax ? ArithOp_MaximumF : ArithOp_AddF};
  int64_t bins[] = {onnxInt(node, "output_height", 1), onnxInt(node, "output_width", 1)};
  MlirValue sizes[6];
  if (x->rank != 4 || by.regions->rank != 2 || onnxStatic(by.regions->sizes[1]) != 4 || by.images->rank != 1 ||
      !onnxIsFloat(by.regions->type) || !onnxIsInteger(by.images->type))
    return onnxError(node, "requires an image of rank 4, R×4 corners and R numbers of images");
  if (bins[0] < 1 || bins[1] < 1 || by.points < 0 || by.points > 64)
    return onnxError(node, "the sizes %lld and %lld of the output or the sampling ratio %lld are not supported",
                     (long long)bins[0], (long long)bins[1], (long long)by.points);
  if (!by.isMax && !onnxWord(node, "mode", "avg", true))
    return onnxError(node, "attribute mode is neither avg nor max");
  for (int axis = 0; axis < 2; ++axis)
    sizes[axis + 2] = by.bins[axis] = tileBuildIndex(node->b, bins[axis]);
  sizes[0] = by.regions->sizes[0];
  sizes[1] = x->sizes[1];
  if (!onnxCheckSame(node, by.regions->sizes[0], by.images->sizes[0], "regions and numbers of images") ||
      !mostPoints(node, &by, pointsAlongY, &sizes[4]) || !mostPoints(node, &by, pointsAlongX, &sizes[5]))
    return false;
  OnnxValue *points = onnxGenerate(node, by.sampler.type, 6, sizes, pointOfBin, &by);
  OnnxValue *result =
      points ? onnxReduce(node, by.isMax ? OnnxReduce_Max : OnnxReduce_Sum, points, 3u << 4, false) : NULL;
  return result && onnxReturn(node, onnxCast(node, result, x->type));
}

//===--- DeformConv -----------------------------------------------------------===//

typedef struct Deformed {
  Sampler sampler;
  OnnxValue *offsets, *mask;
  const OnnxWindow *window;
  int64_t taps, channels; // of the kernel; of an offset group
} Deformed;

// N×C×taps×places of the result: the pixel under a tap, which the offsets move.
static MlirValue movedPixel(Body *body) {
  const Deformed *by = body->data;
  const OnnxWindow *window = by->window;
  OnnxType type = by->sampler.type;
  int s = window->rank;
  MlirValue rest = body->index[2], at[OnnxMaxRank], places[OnnxMaxRank];
  MlirValue group = ONNX_OP(ArithOp_DivUI, body->index[1], tileBuildIndex(body->b, by->channels));
  MlirValue tap = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, group, tileBuildIndex(body->b, by->taps)), rest);
  at[0] = body->index[0];
  memcpy(&at[2], &body->index[3], (size_t)s * sizeof *at);
  for (int d = s; d-- > 0;) {
    MlirValue size = tileBuildIndex(body->b, window->kernel[d]), k = d ? ONNX_OP(ArithOp_RemUI, rest, size) : rest;
    rest = ONNX_OP(ArithOp_DivUI, rest, size);
    at[1] = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, tap, tileBuildIndex(body->b, s)), tileBuildIndex(body->b, d));
    MlirValue offset = onnxConvert(body, onnxAt(body, by->offsets, at), by->offsets->type, type);
    MlirValue start = ONNX_OP(ArithOp_MulI, body->index[d + 3], tileBuildIndex(body->b, window->strides[d]));
    MlirValue step = ONNX_OP(ArithOp_MulI, k, tileBuildIndex(body->b, window->dilations[d]));
    MlirValue place = ONNX_OP(ArithOp_SubI, ONNX_OP(ArithOp_AddI, start, step), window->low[d]);
    places[d] = ADD(realOf(body, type, place), offset);
  }
  MlirValue x = sampleAt(body, &by->sampler, body->index[0], body->index[1], places);
  at[1] = tap;
  if (by->mask)
    x = MUL(x, onnxConvert(body, onnxAt(body, by->mask, at), by->mask->type, type));
  return onnxConvert(body, x, type, by->sampler.image->type);
}

static bool checkPlaces(Node *node, const OnnxValue *x, const OnnxWindow *window, int64_t numbers) {
  if (x->rank != window->rank + 2 || onnxStatic(x->sizes[1]) != numbers)
    return onnxError(node, "offsets or mask have rank %d and %lld channels; rank %d and %lld channels are required",
                     x->rank, (long long)onnxStatic(x->sizes[1]), window->rank + 2, (long long)numbers);
  for (int d = 0; d < window->rank; ++d)
    if (!onnxCheckSame(node, x->sizes[d + 2], window->out[d], "sizes of the offsets and of the result"))
      return false;
  return onnxCheckSame(node, x->sizes[0], node->in[0]->sizes[0], "images and offsets");
}

bool onnxEmitDeformConv(Node *node) {
  OnnxValue *x = node->in[0], *w = node->in[1];
  OnnxWindow window;
  int64_t groups = onnxInt(node, "group", 1), parts = onnxInt(node, "offset_group", 1);
  int64_t channels = onnxStatic(x->sizes[1]), filters = onnxStatic(w->sizes[0]), each = onnxStatic(w->sizes[1]);
  if (w->rank != x->rank || x->rank > 4 || channels < 1 || filters < 0 || groups < 1 || parts < 1 ||
      each * groups != channels || filters % groups || channels % parts)
    return onnxError(node, "requires rank 3 or 4, weights of the same rank, and groups that divide the channels");
  if (!onnxReadWindow(node, x, &w->sizes[2], false, &window))
    return false;
  Deformed by = {
      .offsets = node->in[2], .mask = node->in[4], .window = &window, .taps = 1, .channels = channels / parts};
  by.sampler = (Sampler){.image = x, .type = widest(x->type, x->type), .mode = Linear, .join = ArithOp_AddF};
  int s = window.rank;
  for (int d = 0; d < s; ++d)
    by.taps *= window.kernel[d];
  if (!checkPlaces(node, by.offsets, &window, parts * by.taps * s) ||
      (by.mask && !checkPlaces(node, by.mask, &window, parts * by.taps)))
    return false;
  MlirValue taps = tileBuildIndex(node->b, by.taps), numGroups = tileBuildIndex(node->b, groups),
            inGroup = tileBuildIndex(node->b, each), outGroup = tileBuildIndex(node->b, filters / groups);
  MlirValue sizes[OnnxMaxRank] = {x->sizes[0], x->sizes[1], taps},
            split[OnnxMaxRank] = {x->sizes[0], numGroups, inGroup, taps},
            whole[OnnxMaxRank] = {x->sizes[0], w->sizes[0]};
  for (int d = 0; d < s; ++d)
    sizes[d + 3] = split[d + 4] = whole[d + 2] = window.out[d];
  OnnxValue *columns = onnxGenerate(node, x->type, s + 3, sizes, movedPixel, &by);
  columns = columns ? onnxReshape(node, columns, s + 4, split) : NULL;
  OnnxValue *weights = onnxReshape(node, w, 4, (const MlirValue[]){numGroups, outGroup, inGroup, taps});
  OnnxValue *result = columns && weights ? onnxSumOfProducts(node, columns, s == 1 ? "ngckx" : "ngckyx", weights,
                                                             "gock", s == 1 ? "ngox" : "ngoyx")
                                         : NULL;
  result = result ? onnxReshape(node, result, s + 2, whole) : NULL;
  return onnxReturn(node, onnxAddBias(node, result, node->in[3]));
}

//===--- Col2Im ---------------------------------------------------------------===//

typedef struct Blocks {
  OnnxValue *from; // N×(C·taps)×blocks
  int axes;
  int64_t block[OnnxMaxRank], dilations[OnnxMaxRank], strides[OnnxMaxRank], pads[2 * OnnxMaxRank];
  MlirValue counts[OnnxMaxRank]; // of blocks along each axis
} Blocks;

// N×C×places×taps: what a block adds to the place by that tap.
static MlirValue partOfPlace(Body *body) {
  const Blocks *by = body->data;
  MlirValue zero = tileBuildIndex(body->b, 0), tap = body->index[1], block = zero, isHit = {NULL};
  for (int d = 0; d < by->axes; ++d) {
    MlirValue k = body->index[2 + by->axes + d], stride = tileBuildIndex(body->b, by->strides[d]);
    MlirValue reach = ONNX_OP(ArithOp_MulI, k, tileBuildIndex(body->b, by->dilations[d]));
    MlirValue start = ONNX_OP(ArithOp_AddI, body->index[2 + d], tileBuildIndex(body->b, by->pads[d]));
    start = ONNX_OP(ArithOp_SubI, start, reach);
    MlirValue at = ONNX_OP(ArithOp_DivSI, start, stride), rest = ONNX_OP(ArithOp_RemSI, start, stride);
    MlirValue isBlock = ONNX_OP(ArithOp_AndI, onnxCompareI(body, ArithCmpI_Sge, start, zero),
                                onnxCompareI(body, ArithCmpI_Slt, at, by->counts[d]));
    isBlock = ONNX_OP(ArithOp_AndI, isBlock, onnxCompareI(body, ArithCmpI_Eq, rest, zero));
    isHit = d ? ONNX_OP(ArithOp_AndI, isHit, isBlock) : isBlock;
    tap = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, tap, tileBuildIndex(body->b, by->block[d])), k);
    block = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_MulI, block, by->counts[d]), at);
  }
  const MlirValue at[] = {body->index[0], tap, onnxSelect(body, isHit, block, zero)};
  MlirValue x = onnxAt(body, by->from, at);
  return onnxSelect(body, isHit, x, onnxNumber(body, x, 0));
}

static bool readBlocks(Node *node, Blocks *by, const MlirValue *image) {
  MlirValue total = tileBuildIndex(node->b, 1);
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  int64_t *const lists[] = {by->dilations, by->strides};
  static const char *const names[] = {"dilations", "strides"};
  int count;
  for (int i = 0; i < 2; ++i) {
    if (!onnxInts(node, names[i], OnnxMaxRank, lists[i], &count))
      return false;
    for (int d = 0; d < by->axes; ++d) {
      lists[i][d] = count < 0 ? 1 : lists[i][d];
      if ((count >= 0 && count != by->axes) || lists[i][d] < 1 || lists[i][d] > INT32_MAX)
        return onnxError(node, "attribute %s does not fit %d axes", names[i], by->axes);
    }
  }
  if (!onnxInts(node, "pads", 2 * OnnxMaxRank, by->pads, &count))
    return false;
  if (count >= 0 && count != 2 * by->axes)
    return onnxError(node, "%d pads for %d axes", count, by->axes);
  memset(by->pads, 0, count < 0 ? sizeof by->pads : 0);
  for (int d = 0; d < by->axes; ++d) {
    int64_t more = by->pads[d] + by->pads[d + by->axes] - by->dilations[d] * (by->block[d] - 1) - 1;
    MlirValue span = ONNX_OP(ArithOp_AddI, image[d], tileBuildIndex(node->b, more));
    by->counts[d] = ONNX_OP(ArithOp_AddI, ONNX_OP(ArithOp_FloorDivSI, span, tileBuildIndex(node->b, by->strides[d])),
                            tileBuildIndex(node->b, 1));
    total = tileBuildMul(node->b, total, by->counts[d]);
  }
  return onnxCheckSame(node, by->from->sizes[2], total, "number of blocks");
}

bool onnxEmitCol2Im(Node *node) {
  Blocks by = {.from = node->in[0]};
  MlirValue sizes[OnnxMaxRank], image[OnnxMaxRank];
  int count;
  int64_t taps = 1, channels = by.from->rank == 3 ? onnxStatic(by.from->sizes[1]) : -1;
  if (!onnxReadIndices(node, node->in[1], OnnxMaxRank, image, &by.axes) ||
      !onnxConstantInts(node, node->in[2], "the input block_shape", OnnxMaxRank, by.block, &count))
    return false;
  for (int d = 0; d < count; ++d) {
    if (by.block[d] < 1 || by.block[d] > INT32_MAX || taps > INT32_MAX)
      return onnxError(node, "block_shape has the number %lld", (long long)by.block[d]);
    taps *= by.block[d];
  }
  if (count != by.axes || 2 + 2 * count > OnnxMaxRank || channels < 0 || channels % taps)
    return onnxError(node,
                     "requires rank 3, as many sizes of the image as of a block, and channels that blocks divide");
  if (!readBlocks(node, &by, image))
    return false;
  sizes[0] = by.from->sizes[0];
  sizes[1] = tileBuildIndex(node->b, channels / taps);
  for (int d = 0; d < count; ++d) {
    sizes[2 + d] = image[d];
    sizes[2 + count + d] = tileBuildIndex(node->b, by.block[d]);
  }
  uint32_t reduced = ((1u << count) - 1) << (2 + count);
  OnnxValue *parts = onnxGenerate(node, by.from->type, 2 + 2 * count, sizes, partOfPlace, &by);
  return parts && onnxReturn(node, onnxReduce(node, OnnxReduce_Sum, parts, reduced, false));
}
