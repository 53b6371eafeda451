// The operators of Roller's evaluation on machines that we describe: how long construction takes, how many tiles it
// looks at, and what the model says of its first tile and of the best of all aligned tiles.
//   roller_table_test [CHIP…]          one line per operator and chip; default: four chips
#include <stdlib.h>
#include <time.h>

#include "lib/search/construct.h"
#include "test/check.h"

typedef struct Case {
  const char *name;
  TileOperator op;
} Case;

enum { MostCases = 32, Rounds = 15 };

// n, oh, ow, oc; kh, kw, ic: an implicit product over pixels of a row, channels out and channels in.
static TileOperator convolution(int64_t side, int64_t oc, int64_t window, int64_t ic, const char *type, int64_t bits) {
  int64_t extents[] = {128, side, side, oc, window, window, ic}, across = side + window - 1;
  TileOperator op = {.numDims = 7,
                     .numOperands = 3,
                     .type = type,
                     .operations = 2,
                     .mostTiled = 3,
                     .m = 2,
                     .n = 3,
                     .k = 6,
                     .rhs = 1,
                     .out = 2};
  for (int d = 0; d < 7; ++d)
    op.dims[d] = (TileOperatorDim){
        .extent = extents[d], .isReduction = d > 3, .mayTile = d == 2 || d == 3 || d == 6, .beside = ~0u};
  op.operands[0] = (TileOperatorOperand){.bits = bits, .rank = 4, .isRead = true, .extents = {128, across, across, ic}};
  op.operands[1] = (TileOperatorOperand){.bits = bits, .rank = 4, .isRead = true, .extents = {window, window, ic, oc}};
  op.operands[2] = (TileOperatorOperand){.bits = 32, .rank = 4, .isOutput = true, .extents = {128, side, side, oc}};
  op.operands[0].factors[0][0] = op.operands[0].factors[1][1] = op.operands[0].factors[1][4] = 1;
  op.operands[0].factors[2][2] = op.operands[0].factors[2][5] = op.operands[0].factors[3][6] = 1;
  op.operands[1].factors[0][4] = op.operands[1].factors[1][5] = op.operands[1].factors[2][6] =
      op.operands[1].factors[3][3] = 1;
  for (int axis = 0; axis < 4; ++axis)
    op.operands[2].factors[axis][axis] = 1;
  return op;
}

// The paper's names: M matrix products (m, k, n; f16 and f32), R sums over the last axes, E elementwise, C
// convolutions.
static int cases(Case *all) {
  static const int64_t products[][3] = {{65536, 1024, 2},    {128, 4032, 1000},   {128, 2048, 1000},
                                        {65536, 1024, 4096}, {65536, 1024, 1024}, {65536, 4096, 1024},
                                        {65536, 1024, 30522}};
  static const char *const names[2][7] = {{"M0 f16", "M1 f16", "M2 f16", "M3 f16", "M4 f16", "M5 f16", "M6 f16"},
                                          {"M0 f32", "M1 f32", "M2 f32", "M3 f32", "M4 f32", "M5 f32", "M6 f32"}};
  int count = 0;
  for (int type = 0; type < 2; ++type)
    for (int i = 0; i < 7; ++i)
      all[count++] = (Case){names[type][i], tileOperatorProduct(products[i][0], products[i][2], products[i][1],
                                                                type ? "f32" : "f16", type ? 32 : 16, 32)};
  all[count++] = (Case){"R0 f32", tileOperatorReduction(3, (int64_t[]){128, 512, 1024}, "f32", 32)};
  all[count++] = (Case){"R1 f32", tileOperatorReduction(2, (int64_t[]){65536, 1024}, "f32", 32)};
  all[count++] = (Case){"R2 f32", tileOperatorReduction(3, (int64_t[]){128, 4032, 121}, "f32", 32)};
  all[count++] = (Case){"E relu f32", tileOperatorElementwise(4, (int64_t[]){128, 1008, 42, 42}, 1, "f32", 32)};
  all[count++] = (Case){"E add f32", tileOperatorElementwise(2, (int64_t[]){65536, 1024}, 2, "f32", 32)};
  all[count++] = (Case){"E bias f16", tileOperatorElementwise(4, (int64_t[]){128, 56, 56, 256}, 2, "f16", 16)};
  all[count++] = (Case){"C 3x3 64 f32", convolution(56, 64, 3, 64, "f32", 32)};
  all[count++] = (Case){"C 3x3 512 f16", convolution(7, 512, 3, 512, "f16", 16)};
  all[count++] = (Case){"C 1x1 256 f16", convolution(56, 256, 1, 64, "f16", 16)};
  return count;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int byValue(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double medianMicroseconds(const Case *c, const TileSearchTarget *target, const TileSearchOptions *options,
                                 TileSearchResult *result) {
  double times[Rounds];
  for (int i = 0; i < Rounds; ++i) {
    double begin = now();
    tileSearchConstruct(&c->op, target, options, result);
    times[i] = (now() - begin) * 1e6;
  }
  qsort(times, Rounds, sizeof *times, byValue);
  return times[Rounds / 2];
}

static void printTile(const Case *c, const TileSearchCandidate *best) {
  for (int d = 0; d < c->op.numDims; ++d)
    printf("%s%ld", d ? "x" : "", (long)best->tile.size[d]);
}

static void row(const Case *c, const char *chip) {
  static TileSearchResult constructed, all;
  TileError error = {.text = ""};
  TileSearchTarget target;
  TileSearchOptions options = {.best = 10, .padding = 0.25};
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, &error);
  bool ok = machine && tileSearchReadTarget(machine, &target, &error);
  CHECK(ok, "%s", error.text);
  if (!ok)
    return;
  tileSearchSetOperator(machine, &c->op, &target);
  double time = medianMicroseconds(c, &target, &options, &constructed);
  tileSearchExhaustive(&c->op, &target, &options, &all);
  CHECK(constructed.count && all.count, "%s on %s: no tile", c->name, chip);
  double ratio = constructed.best[0].prediction.seconds / all.best[0].prediction.seconds;
  printf("%-14s %-10s %8.0f %6ld %8ld %6.3f %12.1f %-8s ", c->name, chip, time, (long)constructed.evaluations,
         (long)all.evaluations, ratio, constructed.best[0].prediction.seconds * 1e6,
         constructed.best[0].prediction.bound);
  printTile(c, &constructed.best[0]);
  printf("\n");
  CHECK(ratio <= 1.25 && constructed.evaluations < 5000, "%s on %s: %.3f after %ld", c->name, chip, ratio,
        (long)constructed.evaluations);
  tileMachineDestroy(machine);
}

int main(int count, char **arguments) {
  static const char *const usual[] = {"sm_80", "sm_90a", "gfx942", "native"};
  static Case all[MostCases];
  int rows = cases(all), chips = count > 1 ? count - 1 : 4;
  printf("%-14s %-10s %8s %6s %8s %6s %12s %-8s tile\n", "operator", "machine", "us", "tiles", "of all", "ratio",
         "model us", "bound");
  for (int chip = 0; chip < chips; ++chip)
    for (int i = 0; i < rows; ++i)
      row(&all[i], count > 1 ? arguments[chip + 1] : usual[chip]);
  return checkResult(rows);
}
