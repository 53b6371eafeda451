// Rounding to nearest, GPTQ and AWQ. See quantizer.h.
#include "lib/transforms/quantize/quantizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Block: columns of k that are rounded before the rest is made up for. MostPowers: AWQ tries 0, 1/20, … 1.
enum { Block = 128, MostPowers = 20 };

//===--- groups -------------------------------------------------------------------------------------===//

typedef struct Scale {
  float scale;
  int zero;
} Scale;

// The scale of `count` neighbouring weights.
static Scale scaleOf(const TileQuantizer *quantizer, const float *weights, int64_t count) {
  float least = 0, most = 0;
  int last = (1 << quantizer->bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    least = fminf(least, weights[i]);
    most = fmaxf(most, weights[i]);
  }
  if (quantizer->isSymmetric) {
    most = fmaxf(most, -least);
    return (Scale){most > 0 ? 2 * most / (float)last : 1, 1 << (quantizer->bits - 1)};
  }
  float scale = most > least ? (most - least) / (float)last : 1;
  return (Scale){scale, (int)lrintf(-least / scale)};
}

static int codeOf(const TileQuantizer *quantizer, Scale scale, float weight) {
  float code = rintf(weight / scale.scale) + (float)scale.zero, last = (float)((1 << quantizer->bits) - 1);
  return (int)fminf(fmaxf(code, 0), last);
}

static float numberOf(Scale scale, int code) { return (float)(code - scale.zero) * scale.scale; }

//===--- matrices -----------------------------------------------------------------------------------===//

static void subtractScaled(float *restrict to, const float *restrict from, float factor, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] -= factor * from[i];
}

// H = R · Rᵀ, R upper triangular, in place of H's upper half. False where H is not positive definite. Blocks of columns
// from the last on; the rest takes what a block contributes at once.
static bool factorUpper(float *h, int64_t size, float *columns) {
  for (int64_t end = size; end > 0; end -= end < Block ? end : Block) {
    int64_t begin = end < Block ? 0 : end - Block;
    for (int64_t j = end - 1; j >= begin; --j) {
      float *column = columns + (j - begin) * size; // column j of R, contiguous
      double pivot = h[j * size + j];
      if (!(pivot > 0))
        return false;
      float diagonal = sqrtf((float)pivot);
      h[j * size + j] = diagonal;
      for (int64_t i = 0; i < j; ++i)
        column[i] = h[i * size + j] /= diagonal;
      for (int64_t i = 0; i < j; ++i) // columns of this block alone
        subtractScaled(h + i * size + begin, column + begin, column[i], j - begin);
    }
    for (int64_t i = 0; i < begin; ++i)
      for (int64_t j = begin; j < end; ++j)
        subtractScaled(h + i * size + i, columns + (j - begin) * size + i, columns[(j - begin) * size + i], begin - i);
  }
  return true;
}

// U = R⁻¹, upper triangular: UᵀU = H⁻¹. Row i of U is (e_i - sum over l > i of R_il · U_l) / R_ii.
static void invertUpper(const float *r, int64_t size, float *u) {
  memset(u, 0, (size_t)(size * size) * sizeof *u);
  for (int64_t end = size; end > 0; end -= end < Block ? end : Block) {
    int64_t begin = end < Block ? 0 : end - Block;
    for (int64_t i = begin; i < end; ++i)
      u[i * size + i] = 1;
    for (int64_t l = end; l < size; ++l)
      for (int64_t i = begin; i < end; ++i)
        subtractScaled(u + i * size + l, u + l * size + l, r[i * size + l], size - l);
    for (int64_t i = end - 1; i >= begin; --i) {
      for (int64_t l = i + 1; l < end; ++l)
        subtractScaled(u + i * size + l, u + l * size + l, r[i * size + l], size - l);
      for (int64_t j = i; j < size; ++j)
        u[i * size + j] /= r[i * size + i];
    }
  }
}

//===--- GPTQ ---------------------------------------------------------------------------------------===//

typedef struct Work {
  const TileQuantizer *quantizer;
  int64_t columns, depth, groups;
  int64_t *order; // place of k in the order of rounding → k
  float *rest;    // columns × depth in that order: what is still to be rounded
  float *hessian; // depth × depth in that order, damped
  float *inverse; // U
  float *losses;  // columns × Block, and room for a block of columns of R
  TileQuantized *out;
} Work;

// Pointers to diagonals, the largest first; of equal ones the first.
static int compareDiagonals(const void *a, const void *b) {
  const float *x = *(const float *const *)a, *y = *(const float *const *)b;
  return *x != *y ? (*x < *y) - (*x > *y) : (x > y) - (x < y);
}

static bool findOrder(Work *work, const float *hessian) {
  int64_t depth = work->depth;
  float *diagonal = malloc((size_t)depth * sizeof *diagonal);
  const float **sorted = malloc((size_t)depth * sizeof *sorted);
  bool ok = diagonal && sorted;
  for (int64_t k = 0; ok && k < depth; ++k) {
    diagonal[k] = hessian[k * depth + k];
    sorted[k] = &diagonal[k];
  }
  if (ok && work->quantizer->isByActivation)
    qsort(sorted, (size_t)depth, sizeof *sorted, compareDiagonals);
  for (int64_t i = 0; ok && i < depth; ++i)
    work->order[i] = sorted[i] - diagonal;
  free(diagonal);
  free(sorted);
  return ok;
}

// The Hessian in the order of rounding. Inputs that are always 0 have no weight; the diagonal gets a hundredth of its
// mean more.
static void damp(Work *work, const float *hessian, const float *weights) {
  int64_t depth = work->depth;
  double mean = 0;
  for (int64_t i = 0; i < depth; ++i) {
    const float *row = hessian + work->order[i] * depth;
    bool isDead = row[work->order[i]] == 0;
    for (int64_t j = 0; j < depth; ++j)
      work->hessian[i * depth + j] = row[work->order[j]];
    if (isDead)
      work->hessian[i * depth + i] = 1;
    mean += work->hessian[i * depth + i] / (double)depth;
    for (int64_t n = 0; n < work->columns; ++n)
      work->rest[n * depth + i] = isDead ? 0 : weights[n * depth + work->order[i]];
  }
  for (int64_t i = 0; i < depth; ++i)
    work->hessian[i * depth + i] += (float)(0.01 * mean);
}

static Scale scaleAt(const Work *work, int64_t n, int64_t group) {
  const TileQuantized *out = work->out;
  return (Scale){out->scales[n * work->groups + group], out->zeros[n * work->groups + group]};
}

static void setScale(Work *work, int64_t n, int64_t group, Scale scale) {
  work->out->scales[n * work->groups + group] = scale.scale;
  work->out->zeros[n * work->groups + group] = (unsigned char)scale.zero;
}

// Rounds column i; what each row loses goes to `losses` and to the rest of the block.
static void roundColumn(Work *work, int64_t i, int64_t begin, int64_t end) {
  int64_t depth = work->depth, k = work->order[i], group = k / work->quantizer->group;
  const float *u = work->inverse + i * depth;
  bool takesScale = !work->quantizer->isByActivation && k % work->quantizer->group == 0;
  for (int64_t n = 0; n < work->columns; ++n) {
    float *row = work->rest + n * depth;
    if (takesScale)
      setScale(work, n, group, scaleOf(work->quantizer, row + i, work->quantizer->group));
    Scale scale = scaleAt(work, n, group);
    int code = codeOf(work->quantizer, scale, row[i]);
    float loss = (row[i] - numberOf(scale, code)) / u[i];
    work->out->codes[n * depth + k] = (unsigned char)code;
    work->losses[n * Block + i - begin] = loss;
    subtractScaled(row + i, u + i, loss, end - i);
  }
}

static bool roundWithHessian(Work *work, const float *weights, const float *hessian) {
  int64_t depth = work->depth;
  if (!findOrder(work, hessian))
    return false;
  damp(work, hessian, weights);
  for (int64_t n = 0; work->quantizer->isByActivation && n < work->columns; ++n)
    for (int64_t g = 0; g < work->groups; ++g)
      setScale(work, n, g,
               scaleOf(work->quantizer, weights + n * depth + g * work->quantizer->group, work->quantizer->group));
  if (!factorUpper(work->hessian, depth, work->losses)) {
    work->out->fault = "the Hessian is not positive definite after damping";
    return false;
  }
  invertUpper(work->hessian, depth, work->inverse);
  for (int64_t begin = 0; begin < depth; begin += Block) {
    int64_t end = begin + Block < depth ? begin + Block : depth;
    for (int64_t i = begin; i < end; ++i)
      roundColumn(work, i, begin, end);
    for (int64_t n = 0; n < work->columns; ++n)
      for (int64_t i = begin; i < end; ++i)
        subtractScaled(work->rest + n * depth + end, work->inverse + i * depth + end,
                       work->losses[n * Block + i - begin], depth - end);
  }
  return true;
}

//===--- to nearest -----------------------------------------------------------------------------------===//

static void roundToNearest(Work *work, const float *weights) {
  int64_t depth = work->depth, size = work->quantizer->group;
  for (int64_t n = 0; n < work->columns; ++n)
    for (int64_t g = 0; g < work->groups; ++g) {
      Scale scale = scaleOf(work->quantizer, weights + n * depth + g * size, size);
      setScale(work, n, g, scale);
      for (int64_t k = g * size; k < (g + 1) * size; ++k)
        work->out->codes[n * depth + k] = (unsigned char)codeOf(work->quantizer, scale, weights[n * depth + k]);
    }
}

//===--- the whole ------------------------------------------------------------------------------------===//

// x · H · xᵀ; without H the square of x. `row` has room for x · H.
static double square(const float *x, const float *hessian, int64_t depth, float *row) {
  double sum = 0;
  memset(row, 0, (size_t)depth * sizeof *row);
  for (int64_t i = 0; hessian && i < depth; ++i)
    subtractScaled(row, hessian + i * depth, -x[i], depth);
  for (int64_t i = 0; i < depth; ++i)
    sum += (double)(hessian ? row[i] : x[i]) * x[i];
  return sum;
}

// With a Hessian a row costs depth²: of many rows some are judged.
static bool findError(Work *work, const float *weights, const float *hessian) {
  enum { MostJudged = 256 };
  int64_t depth = work->depth, step = hessian ? (work->columns + MostJudged - 1) / MostJudged : 1;
  float *lost = malloc((size_t)depth * 2 * sizeof *lost), *row = lost ? lost + depth : NULL;
  double all = 0, error = 0;
  for (int64_t n = 0; lost && n < work->columns; n += step) {
    for (int64_t k = 0; k < depth; ++k) {
      Scale scale = scaleAt(work, n, k / work->quantizer->group);
      float number = numberOf(scale, work->out->codes[n * depth + k]);
      lost[k] = weights[n * depth + k] - (work->out->inputs ? number / work->out->inputs[k] : number);
    }
    all += square(weights + n * depth, hessian, depth, row);
    error += square(lost, hessian, depth, row);
  }
  work->out->error = all > 0 && error > 0 ? sqrt(error / all) : 0;
  bool ok = lost;
  free(lost);
  return ok;
}

//===--- AWQ ------------------------------------------------------------------------------------------===//

// The power `power` of MostPowers of each input's size, such that the largest and the smallest multiply to 1. An input
// that is always 0 keeps its weights.
static void setInputs(const float *hessian, int64_t depth, int power, float *inputs) {
  float least = INFINITY, most = 0;
  for (int64_t k = 0; k < depth; ++k) {
    float size = sqrtf(hessian[k * depth + k]);
    inputs[k] = size > 0 ? powf(size, (float)power / MostPowers) : 0;
    least = size > 0 ? fminf(least, inputs[k]) : least;
    most = fmaxf(most, inputs[k]);
  }
  for (int64_t k = 0; k < depth; ++k)
    inputs[k] = inputs[k] > 0 ? inputs[k] / sqrtf(least * most) : 1;
}

static void roundScaled(Work *work, const float *weights, const float *hessian, int power, float *scaled) {
  setInputs(hessian, work->depth, power, work->out->inputs);
  for (int64_t n = 0; n < work->columns; ++n)
    for (int64_t k = 0; k < work->depth; ++k)
      scaled[n * work->depth + k] = weights[n * work->depth + k] * work->out->inputs[k];
  roundToNearest(work, scaled);
}

// Tries each power, and takes the first of the best.
static bool roundWithInputs(Work *work, const float *weights, const float *hessian) {
  float *scaled = malloc((size_t)(work->columns * work->depth) * sizeof *scaled);
  work->out->inputs = malloc((size_t)work->depth * sizeof *work->out->inputs);
  bool ok = scaled && work->out->inputs;
  double least = INFINITY;
  int best = 0;
  for (int power = 0; ok && power <= MostPowers; ++power) {
    roundScaled(work, weights, hessian, power, scaled);
    ok = findError(work, weights, hessian);
    best = work->out->error < least ? power : best;
    least = fmin(least, work->out->error);
  }
  if (ok)
    roundScaled(work, weights, hessian, best, scaled);
  free(scaled);
  return ok;
}

static bool areNumbers(const float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!isfinite(values[i]))
      return false;
  return true;
}

static bool allocateWork(Work *work) {
  size_t square = (size_t)(work->depth * work->depth) * sizeof(float);
  int64_t rows = work->columns > work->depth ? work->columns : work->depth;
  work->order = malloc((size_t)work->depth * sizeof *work->order);
  work->rest = malloc((size_t)(work->columns * work->depth) * sizeof(float));
  work->hessian = malloc(square);
  work->inverse = malloc(square);
  work->losses = malloc((size_t)(rows * Block) * sizeof(float));
  return work->order && work->rest && work->hessian && work->inverse && work->losses;
}

static void freeWork(Work *work) {
  free(work->order);
  free(work->rest);
  free(work->hessian);
  free(work->inverse);
  free(work->losses);
}

bool tileQuantize(const TileQuantizer *quantizer, int64_t columns, int64_t depth, const float *weights,
                  const float *hessian, TileQuantized *out) {
  Work work = {
      .quantizer = quantizer, .columns = columns, .depth = depth, .groups = depth / quantizer->group, .out = out};
  *out = (TileQuantized){.codes = malloc((size_t)(columns * depth)),
                         .zeros = malloc((size_t)(columns * work.groups)),
                         .scales = malloc((size_t)(columns * work.groups) * sizeof(float))};
  bool ok = out->codes && out->zeros && out->scales;
  if (!areNumbers(weights, columns * depth) || (hessian && !areNumbers(hessian, depth * depth))) {
    out->fault = "a weight or an element of the Hessian is nan or infinite";
    ok = false;
  }
  if (ok && hessian && quantizer->isScaled)
    ok = roundWithInputs(&work, weights, hessian);
  else if (ok && hessian)
    ok = allocateWork(&work) && roundWithHessian(&work, weights, hessian);
  else if (ok)
    roundToNearest(&work, weights);
  freeWork(&work);
  ok = ok && findError(&work, weights, hessian);
  if (!ok)
    tileQuantizedFree(out);
  return ok;
}

void tileQuantizedFree(TileQuantized *quantized) {
  free(quantized->codes);
  free(quantized->zeros);
  free(quantized->scales);
  free(quantized->inputs);
  quantized->codes = quantized->zeros = NULL;
  quantized->scales = quantized->inputs = NULL;
}
