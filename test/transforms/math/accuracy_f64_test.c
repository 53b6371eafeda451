// Judges compiled loops of f64 functions (Inputs/loops.py WIDTH f64) against glibc's 80-bit ones.
//
//   accuracy_f64_test LOOPS.so COUNT [FUNCTION]
//
// Each function sees all special values (of two operands all pairs) and COUNT seeded numbers of each of three kinds:
// any bits, all exponents in its range alike, and uniform in its range. Prints a line per function: largest error in
// ulp (the spacing of f64 at the reference, subnormals included) and where. Exit 1 if an error is above the function's
// bound or a NaN, infinity or sign is wrong.
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { blockSize = 4096 };

typedef void (*UnaryLoop)(const double *x, double *result);
typedef void (*BinaryLoop)(const double *x, const double *y, double *result);

typedef struct Function {
  const char *name;
  long double (*unary)(long double x);
  long double (*binary)(long double x, long double y);
  double low, high; // numbers that matter
  double bound;     // ulp
} Function;

static long double rsqrt80(long double x) { return 1 / sqrtl(x); }

static const Function functions[] = {
    {"exp", expl, NULL, -745, 710, 1},        {"exp2", exp2l, NULL, -1074, 1024, 1},
    {"expm1", expm1l, NULL, -40, 710, 2},     {"log", logl, NULL, 0x1p-1060, 0x1p1000, 1},
    {"log2", log2l, NULL, 0.1, 10, 1},        {"log10", log10l, NULL, 0.1, 10, 1},
    {"log1p", log1pl, NULL, -0.999, 10, 1.5}, {"sinh", sinhl, NULL, -710, 710, 2.5},
    {"cosh", coshl, NULL, -710, 710, 2.5},    {"tanh", tanhl, NULL, -20, 20, 2.5},
    {"asinh", asinhl, NULL, -100, 100, 2.5},  {"acosh", acoshl, NULL, 1, 100, 2.5},
    {"atanh", atanhl, NULL, -1, 1, 2.5},      {"erf", erfl, NULL, -6, 6, 2},
    {"erfc", erfcl, NULL, -6, 27, 2.5},       {"sin", sinl, NULL, -1e6, 1e6, 1},
    {"cos", cosl, NULL, -1e6, 1e6, 1},        {"tan", tanl, NULL, -1e6, 1e6, 2.5},
    {"asin", asinl, NULL, -1, 1, 1},          {"acos", acosl, NULL, -1, 1, 1},
    {"atan", atanl, NULL, -100, 100, 1},      {"atan2", NULL, atan2l, -10, 10, 1.5},
    {"powf", NULL, powl, -30, 30, 1},         {"cbrt", cbrtl, NULL, -1e9, 1e9, 1},
    {"rsqrt", rsqrt80, NULL, 0, 1e9, 1.5},
};
enum { functionCount = sizeof functions / sizeof *functions };

static const double special[] = {
    0.0,
    0x1p-1074,
    0x1.8p-1060,
    0x1.fffffffffffffp-1023,
    0x1p-1022,
    0x1p-300,
    0x1p-54,
    0x1p-53,
    0x1p-28,
    0x1p-27,
    0.25,
    0.4375,
    0.49999999999999994,
    0.5,
    0.6875,
    0.75,
    0.99999999999999989,
    1.0,
    1.0000000000000002,
    1.1875,
    1.5,
    2.0,
    2.4375,
    3.0,
    3.9,
    4.0,
    7.0,
    22.0,
    27.3,
    40.0,
    53.0,
    709.78,
    709.7827128933840,
    709.79,
    710.0,
    710.4758,
    710.48,
    745.13,
    745.14,
    1022.0,
    1023.9,
    1024.0,
    1074.0,
    1075.0,
    1e4,
    0x1.fffffffffffffp27,
    0x1p28,
    1e9,
    0x1p52,
    0x1p53,
    0x1p54,
    6381956970095103.0 * 0x1p797,
    0x1p80,
    0x1p300,
    0x1p1000,
    0x1.fffffffffffffp1023,
    INFINITY,
    NAN,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
};
enum { specialCount = sizeof special / sizeof *special };

typedef struct Score {
  double worst, worstX, worstY;
  uint64_t count, wrong;
} Score;

static double spacing(long double value) {
  int exponent;
  frexpl(fmaxl(fabsl(value), 0x1p-1022L), &exponent);
  return ldexp(1, exponent - 53);
}

static void judge(Score *score, double x, double y, long double reference, double result) {
  bool infinite = isinf((double)reference) || isinf(result);
  ++score->count;
  if (isnan(reference) && isnan(result))
    return;
  double error =
      infinite || isnan(reference) != isnan(result) ? 0 : (double)(fabsl(result - reference) / spacing(reference));
  // Beside the largest number, an infinity is one ulp away.
  bool isBeside = infinite && fabsl(reference) > 0x1.ffffffffffffep1023L && fabs(result) >= 0x1.ffffffffffffep1023;
  bool wrong = isnan(reference) != isnan(result) || (isinf((double)reference) != isinf(result) && !isBeside) ||
               (signbit(reference) != 0) != (signbit(result) != 0);
  if (wrong && score->wrong++ < 5)
    printf("  wrong at (%a, %a): %a, not %La\n", x, y, result, reference);
  if (error > score->worst)
    score->worst = error, score->worstX = x, score->worstY = y;
}

static uint64_t draw(uint64_t *state) { // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static double drawUniform(uint64_t *state, double low, double high) {
  return low + (high - low) * ((double)(draw(state) >> 11) * 0x1p-53);
}

// Any bits; any exponent down to 2^-60 of the range; uniform.
static double drawNumber(uint64_t *state, const Function *function, int kind) {
  uint64_t bits = draw(state);
  double x;
  memcpy(&x, &bits, sizeof x);
  if (kind == 0)
    return x;
  double end = draw(state) & 1 ? function->high : function->low;
  double low = fabs(end) > 1e18 || fabs(end) < 1e-18 ? -300 : -60, high = fabs(end) > 1e18 ? 300 : 0;
  if (kind == 1)
    return fmin(fmax((end ? end : 1) * exp2(drawUniform(state, low, high)), function->low), function->high);
  return drawUniform(state, function->low, function->high);
}

static void judgeBlock(const Function *function, void *loop, const double *x, const double *y, Score *score) {
  static double result[blockSize];
  if (function->unary)
    ((UnaryLoop)loop)(x, result);
  else
    ((BinaryLoop)loop)(x, y, result);
  for (int i = 0; i < blockSize; ++i)
    judge(score, x[i], function->unary ? 0 : y[i],
          function->unary ? function->unary(x[i]) : function->binary(x[i], y[i]), result[i]);
}

static double specialOf(int index) {
  index %= 2 * specialCount;
  return index < specialCount ? special[index] : -special[index - specialCount];
}

// Powers: of any two numbers most are 0 or infinite, so the exponent is chosen for a result in range.
static double drawSecond(uint64_t *state, const Function *function, int kind, double x) {
  if (strcmp(function->name, "powf") || kind == 2)
    return kind == 2 && !strcmp(function->name, "powf") ? trunc(drawNumber(state, function, 2))
                                                        : drawNumber(state, function, kind);
  return drawUniform(state, -1080, 1030) / log2(fabs(x));
}

static bool judgeFunction(const Function *function, void *loop, uint64_t count) {
  static double x[blockSize], y[blockSize];
  Score score = {0};
  uint64_t state = 22;
  for (int at = 0; at < (function->unary ? 2 * specialCount : 4 * specialCount * specialCount);) {
    for (int i = 0; i < blockSize; ++i, ++at)
      x[i] = specialOf(at), y[i] = specialOf(at / (2 * specialCount));
    judgeBlock(function, loop, x, y, &score);
  }
  for (int kind = 0; kind < 3; ++kind)
    for (uint64_t done = 0; done < count; done += blockSize) {
      for (int i = 0; i < blockSize; ++i) {
        x[i] = drawNumber(&state, function, kind);
        y[i] = function->unary ? 0 : drawSecond(&state, function, kind, x[i]);
      }
      judgeBlock(function, loop, x, y, &score);
    }
  bool ok = score.worst <= function->bound && !score.wrong && score.count > 0;
  printf("%-5s %9llu inputs, largest error %.3f ulp (bound %g) at %a, %a, %llu special values wrong%s\n",
         function->name, (unsigned long long)score.count, score.worst, function->bound, score.worstX, score.worstY,
         (unsigned long long)score.wrong, ok ? "" : ": FAILED");
  return ok;
}

int main(int argc, char **argv) {
  void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  bool ok = library && count;
  if (!ok)
    fprintf(stderr, "usage: accuracy_f64_test LOOPS.so COUNT [FUNCTION]\n");
  for (int i = 0; library && count && i < functionCount; ++i) {
    char name[32];
    if (argc > 3 && strcmp(argv[3], functions[i].name))
      continue;
    snprintf(name, sizeof name, "%s_loop", functions[i].name);
    void *loop = dlsym(library, name);
    ok = loop && judgeFunction(&functions[i], loop, count) && ok;
  }
  return ok ? 0 : 1;
}
