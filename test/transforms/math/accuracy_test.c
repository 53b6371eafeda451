// Judges compiled math loops (Inputs/loops.py) against glibc's f64 functions, and times them beside its f32 ones.
//
//   accuracy_test LOOPS.so STRIDE|f16|bf16 [FUNCTION [ULPS [flush]]]
//
// Every unary function sees the special inputs and each STRIDE-th of the 2^32 f32 bit patterns (1: all of them); powf
// sees all pairs of special inputs and 2^30 / STRIDE seeded pairs. Prints a line per function: largest error in ulp
// (spacing of f32 at the reference, subnormals included), ns per element, libm's. Exit 1 if an error is above ULPS
// (0.51) or a NaN, infinity or sign is wrong. f16 and bf16: the loops compute in that format between f32 buffers; the
// inputs are all of its 65536 numbers, the ulp is its own. flush: 0 stands for results below 2^-126, and only for them.
#include "lib/support/f16.h"
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { blockSize = 4096, timingRuns = 31 };
static const uint64_t pairsPerStride1 = UINT64_C(1) << 30;
static double bound = 0.51;
static bool isFlushed;

typedef void (*UnaryLoop)(const float *x, float *result);
typedef void (*BinaryLoop)(const float *x, const float *y, float *result);

typedef struct Function {
  const char *name;
  double (*reference)(double x);
  float (*libm)(float x);
  float low, high; // timed on
} Function;

typedef struct Format {
  const char *name;
  int precision;         // bits of a significand, the leading one included
  double smallestNormal; // below it the spacing is constant
  double overflowsAt;    // halfway between the largest number and the next power of two
  float (*number)(uint16_t bits);
} Format;

static const Format formats[] = {
    {"f32", 24, 0x1p-126, 0x1.ffffffp127, NULL},
    {"f16", 11, 0x1p-14, 0x1.ffep15, tessera_f16_to_f32},
    {"bf16", 8, 0x1p-126, 0x1.ffp127, tessera_bf16_to_f32},
};

typedef struct Score {
  const Format *format;
  double worst;
  float worstX, worstY;
  uint64_t count, wrong;
} Score;

static double rsqrtReference(double x) { return 1 / sqrt(x); }
static float rsqrtLibm(float x) { return 1 / sqrtf(x); }

static const Function functions[] = {
    {"exp", exp, expf, -20, 20},
    {"exp2", exp2, exp2f, -20, 20},
    {"tanh", tanh, tanhf, -4, 4},
    {"log", log, logf, 0.001f, 100},
    {"log2", log2, log2f, 0.001f, 100},
    {"erf", erf, erff, -4, 4},
    {"sin", sin, sinf, -100, 100},
    {"cos", cos, cosf, -100, 100},
    {"rsqrt", rsqrtReference, rsqrtLibm, 0.001f, 100},
    {"expm1", expm1, expm1f, -4, 4},
    {"log10", log10, log10f, 0.001f, 100},
    {"log1p", log1p, log1pf, -0.9f, 100},
    {"sinh", sinh, sinhf, -20, 20},
    {"cosh", cosh, coshf, -20, 20},
    {"asinh", asinh, asinhf, -20, 20},
    {"acosh", acosh, acoshf, 1, 100},
    {"atanh", atanh, atanhf, -0.99f, 0.99f},
    {"erfc", erfc, erfcf, -4, 4},
    {"tan", tan, tanf, -100, 100},
    {"asin", asin, asinf, -0.99f, 0.99f},
    {"acos", acos, acosf, -0.99f, 0.99f},
    {"atan", atan, atanf, -100, 100},
    {"cbrt", cbrt, cbrtf, -100, 100},
};
enum { functionCount = sizeof functions / sizeof *functions };

static const float special[] = {
    0.0f,
    0x1p-149f,
    0x1.8p-140f,
    0x1.fffffcp-127f,
    0x1p-126f,
    0x1p-30f,
    0x1p-24f,
    0x1p-12f,
    0x1p-8f,
    0.25f,
    0.5f,
    0x1.fffffep-1f,
    1.0f,
    0x1.000002p0f,
    1.5f,
    2.0f,
    2.5f,
    3.0f,
    0x1.921fb6p1f,
    3.9f,
    4.0f,
    7.0f,
    10.0f,
    88.72283f,
    88.72284f,
    87.3f,
    103.97f,
    103.98f,
    127.0f,
    128.0f,
    149.0f,
    150.0f,
    151.0f,
    200.0f,
    201.0f,
    1e5f,
    16777215.f,
    16777216.f,
    0x1.fffffep27f,
    0x1p28f,
    1e9f,
    0x1p40f,
    0x1.fffffep88f,
    0x1p89f,
    0x1.0p100f,
    1e30f,
    0x1.fffffep127f,
    INFINITY,
    NAN,
};
enum { specialCount = sizeof special / sizeof *special };

static float fromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double spacing(const Format *format, double value) {
  int exponent;
  frexp(fmax(fabs(value), format->smallestNormal), &exponent);
  return ldexp(1, exponent - format->precision);
}

static void judge(Score *score, float x, float y, double reference, float result) {
  bool infinite = fabs(reference) >= score->format->overflowsAt;
  ++score->count;
  if (isnan(reference) && isnan(result))
    return;
  bool wrong =
      isnan(reference) != isnan(result) || infinite != (isinf(result) != 0) || signbit(reference) != signbit(result);
  if (isFlushed && fabs(reference) < 0x1p-126 && result == 0)
    return;
  double error = wrong || infinite ? 0 : fabs(result - reference) / spacing(score->format, reference);
  if (wrong && score->wrong++ < 5)
    printf("  wrong at (%a, %a): %a, not %a\n", x, y, result, reference);
  if (error > score->worst)
    score->worst = error, score->worstX = x, score->worstY = y;
}

static bool passed(const char *name, const Score *score) {
  printf("%-5s %10llu inputs, largest error %.5f ulp at %a", name, (unsigned long long)score->count, score->worst,
         score->worstX);
  if (score->worstY != 0)
    printf(", %a", score->worstY);
  printf(", %llu special values wrong", (unsigned long long)score->wrong);
  return score->worst <= bound && score->wrong == 0 && score->count > 0;
}

//===--- Time ------------------------------------------------------------===//

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int byValue(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void printTimes(double *ours, double *libm) {
  qsort(ours, timingRuns, sizeof *ours, byValue);
  qsort(libm, timingRuns, sizeof *libm, byValue);
  double mine = ours[timingRuns / 2] / blockSize, theirs = libm[timingRuns / 2] / blockSize;
  printf(", %.2f ns per element, libm %.2f: %.1fx\n", mine, theirs, theirs / mine);
}

static void timeUnary(const Function *function, UnaryLoop loop) {
  float x[blockSize], result[blockSize];
  double ours[timingRuns], libm[timingRuns];
  for (int i = 0; i < blockSize; ++i) // a shuffled grid: branches are not to be predicted
    x[i] = function->low + (function->high - function->low) * (float)(i * 1237 % blockSize) / blockSize;
  for (int run = 0; run < timingRuns; ++run) {
    double start = now();
    loop(x, result);
    ours[run] = now() - start, start = now();
    for (int i = 0; i < blockSize; ++i)
      result[i] = function->libm(x[i]);
    libm[run] = now() - start;
  }
  printTimes(ours, libm);
}

static void timePow(BinaryLoop loop) {
  float x[blockSize], y[blockSize], result[blockSize];
  double ours[timingRuns], libm[timingRuns];
  for (int i = 0; i < blockSize; ++i)
    x[i] = 0.01f + (float)(i * 1237 % blockSize) / 100, y[i] = (float)(i * 2731 % blockSize) / 300 - 6;
  for (int run = 0; run < timingRuns; ++run) {
    double start = now();
    loop(x, y, result);
    ours[run] = now() - start, start = now();
    for (int i = 0; i < blockSize; ++i)
      result[i] = powf(x[i], y[i]);
    libm[run] = now() - start;
  }
  printTimes(ours, libm);
}

//===--- Inputs ----------------------------------------------------------===//

static void judgeUnaryBlock(const Function *function, UnaryLoop loop, const float *x, Score *score) {
  float result[blockSize];
  loop(x, result);
  for (int i = 0; i < blockSize; ++i)
    judge(score, x[i], 0, function->reference(x[i]), result[i]);
}

// Sixteen-bit formats: all numbers; f32: every stride-th.
static float input(const Format *format, uint64_t bits) {
  return format->number ? format->number((uint16_t)bits) : fromBits((uint32_t)bits);
}

static bool judgeUnary(const Function *function, UnaryLoop loop, const Format *format, uint64_t stride) {
  Score score = {.format = format};
  uint64_t numbers = format->number ? UINT64_C(1) << 16 : UINT64_C(1) << 32;
  float x[blockSize];
  for (int i = 0; i < blockSize; ++i)
    x[i] = i % 2 ? -special[i / 2 % specialCount] : special[i / 2 % specialCount];
  if (!format->number) // the special inputs are f32
    judgeUnaryBlock(function, loop, x, &score);
  for (uint64_t bits = 0; bits < numbers;) {
    for (int i = 0; i < blockSize; ++i, bits += stride)
      x[i] = input(format, bits); // the last block wraps around
    judgeUnaryBlock(function, loop, x, &score);
  }
  bool ok = passed(function->name, &score);
  timeUnary(function, loop);
  return ok;
}

static uint64_t draw(uint64_t *state) { // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Any bits; then results over all of f32's range; then x near 1; then integer powers of either sign.
static void drawPair(uint64_t *state, float *x, float *y) {
  uint64_t kind = draw(state) % 4, bits = draw(state);
  double exponent = (double)draw(state) * 0x1p-64 * 280 - 152;
  *x = fromBits((uint32_t)bits), *y = fromBits((uint32_t)(bits >> 32));
  if (kind == 1)
    *x = fabsf(*x);
  if (kind == 2)
    *x = 1 + (float)((double)(int32_t)bits * 0x1p-31 * 0.01);
  if (kind == 1 || kind == 2)
    *y = (float)(exponent / log2(*x));
  if (kind == 3)
    *y = (float)((int)(bits >> 32) % 40), *x = copysignf(fromBits((uint32_t)(bits & 0x0fffffff) + 0x38000000), *x);
}

static void judgePowBlock(BinaryLoop loop, const float *x, const float *y, Score *score) {
  float result[blockSize];
  loop(x, y, result);
  for (int i = 0; i < blockSize; ++i)
    judge(score, x[i], y[i], pow(x[i], y[i]), result[i]);
}

static float specialOf(int index) { return index < specialCount ? special[index] : -special[index - specialCount]; }

static bool judgePow(BinaryLoop loop, const Format *format, uint64_t stride) {
  enum { all = 2 * specialCount };
  Score score = {.format = format};
  float x[blockSize], y[blockSize];
  for (int pair = 0; pair < all * all;) {
    for (int i = 0; i < blockSize; ++i, ++pair)
      x[i] = specialOf(pair / all % all), y[i] = specialOf(pair % all);
    judgePowBlock(loop, x, y, &score);
  }
  uint64_t state = 22;
  for (uint64_t count = 0; count < pairsPerStride1 / stride; count += blockSize) {
    for (int i = 0; i < blockSize; ++i)
      drawPair(&state, &x[i], &y[i]);
    judgePowBlock(loop, x, y, &score);
  }
  bool ok = passed("powf", &score);
  timePow(loop);
  return ok;
}

//===--- The run ---------------------------------------------------------===//

static void *find(void *library, const char *function) {
  char name[32];
  snprintf(name, sizeof name, "%s_loop", function);
  void *loop = dlsym(library, name);
  if (!loop)
    fprintf(stderr, "no %s\n", name);
  return loop;
}

static const Format *formatNamed(const char *name) {
  for (size_t i = 1; i < sizeof formats / sizeof *formats; ++i)
    if (!strcmp(formats[i].name, name))
      return &formats[i];
  return &formats[0];
}

static bool judgeAll(void *library, const Format *format, uint64_t stride, const char *only) {
  bool ok = true;
  for (int i = 0; i < functionCount; ++i)
    if (!only || !strcmp(only, functions[i].name)) {
      UnaryLoop loop = (UnaryLoop)find(library, functions[i].name);
      ok &= loop && judgeUnary(&functions[i], loop, format, stride);
      fflush(stdout);
    }
  if (!format->number && (!only || !strcmp(only, "powf"))) {
    BinaryLoop loop = (BinaryLoop)find(library, "powf");
    ok &= loop && judgePow(loop, format, stride);
  }
  return ok;
}

int main(int argc, char **argv) {
  void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  const Format *format = argc > 2 ? formatNamed(argv[2]) : NULL;
  uint64_t stride = !format ? 0 : format->number ? 1 : strtoull(argv[2], NULL, 10);
  if (argc > 4)
    bound = strtod(argv[4], NULL);
  isFlushed = argc > 5 && strcmp(argv[5], "flush") == 0;
  if (library && stride)
    return judgeAll(library, format, stride, argc > 3 ? argv[3] : NULL) ? 0 : 1;
  fprintf(stderr, "usage: accuracy_test LOOPS.so STRIDE|f16|bf16 [FUNCTION [ULPS]]%s\n",
          stride ? ": no such library" : "");
  return 1;
}
