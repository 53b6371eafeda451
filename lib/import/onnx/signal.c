// Operators on sampled signals: DFT and STFT as products with a table of cosines and sines, windows, and the filters of
// MelWeightMatrix. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/tensors.h"

#include "lib/import/onnx/fold.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

//===--- Fourier transforms ---------------------------------------------------===//

enum { MaxLength = 4096 };

typedef struct Transform {
  int64_t length, rows, columns; // of the transform; of what is read; of the result along the axis
  int parts;                     // of what is read: 1 real, 2 complex
  bool isInverse, isOneSided;
} Transform;

// What part `part` of element `j` gives to both parts of element k of the result.
static void twiddle(const Transform *by, int part, int64_t j, int64_t k, double *results) {
  int64_t turn = j * k % by->length;
  double angle = 2 * pi * (double)turn / (double)by->length, scale = by->isInverse ? 1.0 / (double)by->length : 1;
  double sign = by->isInverse ? 1 : -1, cosine = cos(angle), sine = 2 * turn % by->length ? sign * sin(angle) : 0;
  bool isMirrored = by->isInverse && by->isOneSided && j > 0 && 2 * j != by->length; // stands for two elements
  scale *= isMirrored ? 2 : 1;
  results[0] = scale * (part ? -sine : cosine);
  results[1] = scale * (part ? cosine : sine);
}

// part of what is read × its element × element of the result × part of the result
static OnnxValue *tableOf(Node *node, OnnxType type, const Transform *by) {
  int results = by->isInverse && by->isOneSided ? 1 : 2;
  const int64_t shape[] = {by->parts, by->rows, by->columns, results};
  double *numbers = onnxAllocate(node, (size_t)(by->parts * by->rows * by->columns * results + 1) * sizeof *numbers);
  double *at = numbers, both[2];
  if (!numbers) {
    onnxOutOfMemory(node);
    return NULL;
  }
  for (int part = 0; part < by->parts; ++part)
    for (int64_t j = 0; j < by->rows; ++j)
      for (int64_t k = 0; k < by->columns; ++k, at += results) {
        twiddle(by, part, j, k, both);
        memcpy(at, both, (size_t)results * sizeof *at);
      }
  return onnxConstantOf(node, type, 4, shape, numbers);
}

static bool checkLength(Node *node, int64_t length) {
  return (length >= 1 && length <= MaxLength) ||
         onnxError(node, "a transform of %lld elements is not supported; the length must be a constant from 1 to %d",
                   (long long)length, MaxLength);
}

// A length that an input gives, else -1.
static bool lengthOf(Node *node, OnnxValue *input, const char *what, int64_t *length) {
  int count = 1;
  *length = -1;
  return !input || (onnxConstantInts(node, input, what, 1, length, &count) &&
                    (count == 1 || onnxError(node, "%s is no scalar", what)));
}

// The elements along `axis` that take part; what is missing behind the last one is zero.
static OnnxValue *cropped(Node *node, OnnxValue *x, int axis, int64_t rows) {
  MlirValue offsets[OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t strides[OnnxMaxRank];
  if (onnxStatic(x->sizes[axis]) == rows)
    return x;
  for (int d = 0; d < x->rank; ++d) {
    offsets[d] = tileBuildIndex(node->b, 0);
    sizes[d] = d == axis ? tileBuildIndex(node->b, rows) : x->sizes[d];
    strides[d] = 1;
  }
  return onnxSlice(node, x, offsets, sizes, strides);
}

bool onnxEmitDft(Node *node) {
  OnnxValue *x = node->in[0];
  bool hasAxis = node->opset >= 20 && node->in[2];
  int64_t number = node->opset >= 20 ? -2 : onnxInt(node, "axis", 1),
          parts = x->rank ? onnxStatic(x->sizes[x->rank - 1]) : 0;
  int axis;
  Transform by = {.parts = (int)parts, .isInverse = onnxInt(node, "inverse", 0) != 0};
  by.isOneSided = onnxInt(node, "onesided", 0) != 0;
  if ((hasAxis && !lengthOf(node, node->in[2], "the input axis", &number)) || !onnxAxis(node, number, x->rank, &axis) ||
      !lengthOf(node, node->in[1], "the input dft_length", &by.length))
    return false;
  if (axis == x->rank - 1 || parts < 1 || parts > 2)
    return onnxError(node, "requires a last axis of 1 or 2 elements, and another axis to transform");
  int64_t size = onnxStatic(x->sizes[axis]);
  if (size < 1)
    return onnxError(node, "the size along axis %d is dynamic, or 0", axis);
  bool isReal = by.isInverse && by.isOneSided;
  if (by.length < 0)
    by.length = isReal ? 2 * (size - 1) : size;
  if (!checkLength(node, by.length))
    return false;
  int64_t half = by.length / 2 + 1, most = isReal ? half : by.length;
  by.rows = size < most ? size : most;
  by.columns = by.isOneSided && !isReal ? half : by.length;
  char from[OnnxMaxRank + 1], to[OnnxMaxRank + 1];
  for (int d = 0; d < x->rank; ++d)
    from[d] = to[d] = (char)('A' + d);
  from[x->rank] = to[x->rank] = 0;
  from[axis] = 'j';
  to[axis] = 'k';
  from[x->rank - 1] = 'c';
  to[x->rank - 1] = 'p';
  x = cropped(node, x, axis, by.rows);
  OnnxValue *table = x ? tableOf(node, x->type, &by) : NULL;
  return table && onnxReturn(node, onnxSumOfProducts(node, x, from, table, "cjkp", to));
}

typedef struct Frames {
  OnnxValue *signal, *window;
  int64_t step;
} Frames;

static MlirValue framed(Body *body) { // B×frames×elements×parts
  const Frames *by = body->data;
  MlirValue start = ONNX_OP(ArithOp_MulI, body->index[1], tileBuildIndex(body->b, by->step));
  const MlirValue at[] = {body->index[0], ONNX_OP(ArithOp_AddI, start, body->index[2]), body->index[3]};
  MlirValue x = onnxAt(body, by->signal, at);
  return by->window ? ONNX_OP(ArithOp_MulF, x, onnxAt(body, by->window, &body->index[2])) : x;
}

bool onnxEmitStft(Node *node) {
  OnnxValue *x = node->in[0];
  Frames by = {.window = node->in[2]};
  if (x->rank == 2)
    x = onnxUnsqueeze(node, x, 4, 3);
  int64_t parts = x->rank == 3 ? onnxStatic(x->sizes[2]) : 0;
  Transform transform = {.parts = (int)parts, .isOneSided = onnxInt(node, "onesided", 1) != 0};
  if (!lengthOf(node, node->in[1], "the input frame_step", &by.step) ||
      !lengthOf(node, node->in[3], "the input frame_length", &transform.length))
    return false;
  if (parts < 1 || parts > 2 || by.step < 1 || (by.window && (by.window->rank != 1 || by.window->type != x->type)))
    return onnxError(node, "requires B×L×1 or B×L×2 numbers, a step above 0, and a window of the signal's type");
  int64_t size = onnxStatic(by.window ? by.window->sizes[0] : x->sizes[1]);
  transform.length = transform.length < 0 ? size : transform.length;
  if (!checkLength(node, transform.length))
    return false;
  transform.rows = transform.length;
  transform.columns = transform.isOneSided ? transform.length / 2 + 1 : transform.length;
  MlirValue length = tileBuildIndex(node->b, transform.length);
  if (by.window && !onnxCheckSame(node, by.window->sizes[0], length, "sizes of the window and of a frame"))
    return false;
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  if (!onnxCheck(node, onnxCompareI(body, ArithCmpI_Sge, x->sizes[1], length), "the signal is shorter than a frame"))
    return false;
  MlirValue rest = ONNX_OP(ArithOp_SubI, x->sizes[1], length);
  MlirValue steps = ONNX_OP(ArithOp_DivUI, rest, tileBuildIndex(node->b, by.step));
  MlirValue count = ONNX_OP(ArithOp_AddI, steps, tileBuildIndex(node->b, 1));
  by.signal = x;
  const MlirValue sizes[] = {x->sizes[0], count, length, x->sizes[2]};
  OnnxValue *frames = onnxGenerate(node, x->type, 4, sizes, framed, &by);
  OnnxValue *table = frames ? tableOf(node, x->type, &transform) : NULL;
  return table && onnxReturn(node, onnxSumOfProducts(node, frames, "bfjc", table, "cjkp", "bfkp"));
}

//===--- windows --------------------------------------------------------------===//

// a0 + a1 cos(2πn / N) + a2 cos(4πn / N)
typedef struct Window {
  const double *weights;
  MlirValue length; // N as f64
  OnnxType type;
} Window;

static MlirValue windowAt(Body *body) {
  const Window *by = body->data;
  MlirType f64 = mlirF64TypeGet(body->b->context), i64 = mlirIntegerTypeGet(body->b->context, 64);
  MlirValue place = onnxConvert(body, onnxFromIndex(body, body->index[0], i64), Onnx_I64, Onnx_F64);
  MlirValue sum = tileBuildFloat(body->b, f64, by->weights[0]);
  for (int k = 1; k < 3; ++k) {
    if (by->weights[k] == 0)
      continue;
    MlirValue turns =
        ONNX_OP(ArithOp_DivF, ONNX_OP(ArithOp_MulF, place, tileBuildFloat(body->b, f64, 2 * k * pi)), by->length);
    MlirValue wave = ONNX_OP(ArithOp_MulF, ONNX_OP(MathOp_Cos, turns), tileBuildFloat(body->b, f64, by->weights[k]));
    sum = ONNX_OP(ArithOp_AddF, sum, wave);
  }
  return onnxConvert(body, sum, Onnx_F64, by->type);
}

bool onnxEmitWindow(Node *node) {
  static const double weights[][3] = {[OnnxWindow_Hann] = {0.5, -0.5, 0},
                                      [OnnxWindow_Hamming] = {25.0 / 46, -21.0 / 46, 0},
                                      [OnnxWindow_Blackman] = {0.42, -0.5, 0.08}};
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  Window by = {.weights = weights[node->kind], .type = (OnnxType)onnxInt(node, "output_datatype", Onnx_F32)};
  MlirValue size, one = tileBuildIndex(node->b, 1);
  int count;
  if (!onnxReadIndices(node, node->in[0], 1, &size, &count))
    return false;
  if (count != 1 || !onnxIsFloat(by.type))
    return onnxError(node, "requires one size, and a type of floats (%s)", onnxTypeName(by.type));
  if (!onnxCheck(node, onnxCompareI(body, ArithCmpI_Sge, size, tileBuildIndex(node->b, 0)), "the size is negative"))
    return false;
  MlirValue length = onnxInt(node, "periodic", 1) ? size : ONNX_OP(ArithOp_SubI, size, one);
  length = onnxFromIndex(body, ONNX_OP(ArithOp_MaxSI, length, one), mlirIntegerTypeGet(node->b->context, 64));
  by.length = onnxConvert(body, length, Onnx_I64, Onnx_F64);
  return onnxReturn(node, onnxGenerate(node, by.type, 1, &size, windowAt, &by));
}

//===--- MelWeightMatrix ------------------------------------------------------===//

static double melOf(double hertz) { return 2595 * log10(1 + hertz / 700); }
static double hertzOf(double mel) { return 700 * (pow(10, mel / 2595) - 1); }

// Triangles that rise from edges[0] to edges[1] and fall to edges[2].
static void addFilter(double *numbers, int64_t filters, int64_t filter, const int64_t *edges) {
  double *column = numbers + filter;
  int64_t rise = edges[1] - edges[0], fall = edges[2] - edges[1];
  if (rise == 0)
    column[edges[1] * filters] = 1;
  for (int64_t j = edges[0]; rise && j <= edges[1]; ++j)
    column[j * filters] = (double)(j - edges[0]) / (double)rise;
  for (int64_t j = edges[1]; fall && j < edges[2]; ++j)
    column[j * filters] = (double)(edges[2] - j) / (double)fall;
}

bool onnxEmitMelWeightMatrix(Node *node) {
  int64_t sizes[3];
  double edges[2];
  int count;
  OnnxType type = (OnnxType)onnxInt(node, "output_datatype", Onnx_F32);
  for (int i = 0; i < 5; ++i) {
    bool ok = i < 3 ? onnxConstantInts(node, node->in[i], "an input", 1, &sizes[i], &count)
                    : onnxConstantReals(node, node->in[i], "an input", 1, &edges[i - 3], &count);
    if (!ok)
      return false;
    if (count != 1)
      return onnxError(node, "input %d is no scalar", i + 1);
  }
  int64_t filters = sizes[0], length = sizes[1], rate = sizes[2], rows = length / 2 + 1;
  double low = melOf(edges[0]), step = (melOf(edges[1]) - low) / (double)(filters + 2);
  if (!onnxIsFloat(type) || filters < 1 || filters > MaxLength || length < 1 || length > 1 << 16 || rate < 1 ||
      !(edges[0] >= 0) || !(edges[1] >= edges[0]))
    return onnxError(node, "the numbers of filters (%lld) and elements (%lld), the rate or the edges are not supported",
                     (long long)filters, (long long)length);
  double *numbers = onnxAllocate(node, (size_t)(rows * filters + 1) * sizeof *numbers);
  if (!numbers)
    return onnxOutOfMemory(node);
  int64_t bins[3];
  for (int64_t i = 0; i < filters + 2; ++i) {
    double bin = floor((double)(length + 1) * hertzOf(low + (double)i * step) / (double)rate);
    if (!(bin >= 0 && bin <= (double)rows - (i < filters + 1)))
      return onnxError(node, "upper_edge_hertz is more than half of the sample rate");
    memmove(bins, bins + 1, 2 * sizeof *bins);
    bins[2] = (int64_t)bin;
    if (i >= 2)
      addFilter(numbers, filters, i - 2, bins);
  }
  return onnxReturn(node, onnxConstantOf(node, type, 2, (const int64_t[]){rows, filters}, numbers));
}
