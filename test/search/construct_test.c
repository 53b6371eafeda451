// Construction of tiles: against every aligned tile, against the machine's limits counted again, against theory when
// one number of the machine changes, and the traffic against a walk over all tiles.
#include <stdlib.h>

#include "lib/search/construct.h"
#include "lib/support/integer.h"
#include "test/check.h"

typedef struct Machine {
  TileMachine *description;
  TileSearchTarget target;
} Machine;

static Machine load(const char *name, const TileMachineOverride *overrides, size_t count, const TileOperator *op) {
  TileError error = {.text = ""};
  Machine machine = {.description = tileMachineLoad(name, NULL, overrides, count, &error)};
  bool ok = machine.description && tileSearchReadTarget(machine.description, &machine.target, &error);
  CHECK(ok, "%s", error.text);
  if (ok && op)
    tileSearchSetOperator(machine.description, op, &machine.target);
  return machine;
}

static TileSearchCandidate best(const char *name, const char *key, const char *value, const TileOperator *op) {
  TileMachineOverride change = {key, value};
  TileSearchOptions options = tileSearchDefaults();
  TileSearchResult result;
  Machine machine = load(name, &change, key != NULL, op);
  tileSearchConstruct(op, &machine.target, &options, &result);
  tileMachineDestroy(machine.description);
  CHECK(result.count == 1, "%s: no tile", name);
  return result.best[0];
}

//===--- operators ------------------------------------------------------------------===//

static TileOperator transpose(int64_t rows, int64_t columns) {
  TileOperator op = tileOperatorElementwise(2, (int64_t[]){rows, columns}, 1, "f32", 32);
  TileOperatorOperand *input = &op.operands[0];
  *input = (TileOperatorOperand){.bits = 32, .rank = 2, .isRead = true, .extents = {columns, rows}};
  input->factors[0][1] = input->factors[1][0] = 1;
  return op;
}

// n, oh, ow, oc; kh, kw, ic over NHWC and HWCF, stride 1.
static TileOperator convolution(int64_t n, int64_t side, int64_t oc, int64_t window, int64_t ic, const char *type,
                                int64_t bits) {
  int64_t extents[] = {n, side, side, oc, window, window, ic};
  TileOperator op = {.numDims = 7, .numOperands = 3, .type = type, .operations = 2, .mostTiled = 3};
  for (int d = 0; d < 7; ++d)
    op.dims[d] = (TileOperatorDim){
        .extent = extents[d], .isReduction = d > 3, .beside = ~0u, .mayTile = d == 2 || d == 3 || d == 6};
  op.m = 2, op.n = 3, op.k = 6, op.lhs = 0, op.rhs = 1, op.out = 2;
  int64_t across = side + window - 1;
  op.operands[0] = (TileOperatorOperand){.bits = bits, .rank = 4, .isRead = true, .extents = {n, across, across, ic}};
  op.operands[1] = (TileOperatorOperand){.bits = bits, .rank = 4, .isRead = true, .extents = {window, window, ic, oc}};
  op.operands[2] = (TileOperatorOperand){.bits = 32, .rank = 4, .isOutput = true, .extents = {n, side, side, oc}};
  op.operands[0].factors[0][0] = op.operands[0].factors[1][1] = op.operands[0].factors[1][4] = 1;
  op.operands[0].factors[2][2] = op.operands[0].factors[2][5] = op.operands[0].factors[3][6] = 1;
  op.operands[1].factors[0][4] = op.operands[1].factors[1][5] = op.operands[1].factors[2][6] = 1;
  op.operands[1].factors[3][3] = 1;
  for (int axis = 0; axis < 4; ++axis)
    op.operands[2].factors[axis][axis] = 1;
  return op;
}

// out[i, j] = running sum along j: the reduction dimension indexes the output too.
static TileOperator scan(int64_t rows, int64_t columns) {
  TileOperator op = tileOperatorReduction(2, (int64_t[]){rows, columns}, "f32", 32);
  op.operands[1].rank = 2;
  op.operands[1].extents[1] = columns;
  op.operands[1].factors[1][1] = 1;
  return op;
}

// out[i, j] = table[index[i], j].
static TileOperator gather(int64_t rows, int64_t columns) {
  TileOperator op = tileOperatorElementwise(2, (int64_t[]){rows, columns}, 2, "f32", 32);
  op.operands[0].rank = 1;
  op.operands[1].isGathered = true;
  return op;
}

typedef struct Named {
  const char *name;
  TileOperator op;
  bool isAligned;
} Named;

enum { MostOperators = 32 };

static int allOperators(Named *ops) {
  int64_t square[] = {4096, 4096}, deep[] = {65536, 1024}, pool[] = {128, 4032, 121}, line[] = {1 << 24};
  int64_t image[] = {128, 56, 56, 64};
  int count = 0;
  ops[count++] = (Named){"512^3 f16", tileOperatorProduct(512, 512, 512, "f16", 16, 32), true};
  ops[count++] = (Named){"1024^3 f32", tileOperatorProduct(1024, 1024, 1024, "f32", 32, 32), true};
  ops[count++] = (Named){"4096^3 f16", tileOperatorProduct(4096, 4096, 4096, "f16", 16, 32), true};
  ops[count++] = (Named){"8192^3 bf16", tileOperatorProduct(8192, 8192, 8192, "bf16", 16, 32), true};
  ops[count++] = (Named){"1024^3 f64", tileOperatorProduct(1024, 1024, 1024, "f64", 64, 64), true};
  ops[count++] = (Named){"2048^3 i8", tileOperatorProduct(2048, 2048, 2048, "i8", 8, 32), true};
  ops[count++] = (Named){"65536x1024x1024", tileOperatorProduct(65536, 1024, 1024, "f16", 16, 32), true};
  ops[count++] = (Named){"65536x2x1024", tileOperatorProduct(65536, 2, 1024, "f16", 16, 32), false};
  ops[count++] = (Named){"128x1000x4032", tileOperatorProduct(128, 1000, 4032, "f16", 16, 32), false};
  ops[count++] = (Named){"384x768x768", tileOperatorProduct(384, 768, 768, "f32", 32, 32), true};
  ops[count++] = (Named){"16x4096x4096", tileOperatorProduct(16, 4096, 4096, "f16", 16, 32), true};
  ops[count++] = (Named){"127x255x511", tileOperatorProduct(127, 255, 511, "f16", 16, 32), false};
  ops[count++] = (Named){"13x37x29", tileOperatorProduct(13, 37, 29, "f32", 32, 32), false};
  ops[count++] = (Named){"conv 3x3 f16", convolution(32, 56, 64, 3, 64, "f16", 16), false};
  ops[count++] = (Named){"conv 1x1 f32", convolution(1, 64, 256, 1, 128, "f32", 32), true};
  ops[count++] = (Named){"add 4096^2", tileOperatorElementwise(2, square, 2, "f32", 32), true};
  ops[count++] = (Named){"relu f16 line", tileOperatorElementwise(1, line, 1, "f16", 16), true};
  ops[count++] = (Named){"add 4-d", tileOperatorElementwise(4, image, 2, "f32", 32), true};
  ops[count++] = (Named){"transpose", transpose(4096, 4096), true};
  ops[count++] = (Named){"transpose odd", transpose(1000, 777), false};
  ops[count++] = (Named){"sum rows", tileOperatorReduction(2, deep, "f32", 32), true};
  ops[count++] = (Named){"sum pool", tileOperatorReduction(3, pool, "f32", 32), false};
  ops[count++] = (Named){"scan", scan(4096, 4096), true};
  ops[count++] = (Named){"gather", gather(8192, 1024), true};
  return count;
}

static const char *const chips[] = {"sm_80", "sm_90a", "gfx942", "x86-64-v4"};
enum { Chips = sizeof chips / sizeof *chips };

//===--- limits and quality -----------------------------------------------------------===//

// The machine's limits, counted here again from the tile alone.
static void checkLimits(const Named *named, const Machine *m, const TileSearchCandidate *c) {
  const TileOperator *op = &named->op;
  const TileSearchTarget *t = &m->target;
  int64_t bytes[2] = {0, 0}, wide = 0, most = t->isGpu ? t->sharedPerBlock : t->levels[0].bytes;
  for (int i = 0; i < op->numOperands; ++i) {
    int64_t elements = 1;
    for (int d = 0; d < op->numDims; ++d)
      elements *= tileOperandIsIndexedBy(&op->operands[i], d) ? c->tile.size[d] : 1;
    bytes[op->m >= 0 && i != op->out] +=
        (elements < tileOperandCount(&op->operands[i]) ? elements : tileOperandCount(&op->operands[i])) *
        op->operands[i].bits / 8;
  }
  if (!t->isGpu && op->isMatrix)
    return; // cpu_product_test
  for (int d = 0; d < op->numDims; ++d)
    wide += c->tile.size[d] > 1;
  CHECK(wide <= op->mostTiled, "%s: %ld wide dimensions", named->name, (long)wide);
  if (!t->isGpu) {
    CHECK(bytes[0] + bytes[1] <= most, "%s: %ld bytes in L1 of %ld", named->name, (long)(bytes[0] + bytes[1]),
          (long)most);
    return;
  }
  int64_t stages = t->hasAsyncCopies ? c->tile.gpu.stages : 1, threads = c->tile.gpu.warps * t->lanes;
  CHECK(threads <= t->threadsPerBlock, "%s: %ld threads", named->name, (long)threads);
  CHECK(op->m < 0 || bytes[1] * stages <= most + 1, "%s: %ld bytes of shared memory of %ld", named->name,
        (long)(bytes[1] * stages), (long)most);
  CHECK(c->prediction.registers <= t->registersPerThread && c->prediction.registers * threads <= t->registersPerCore,
        "%s: %ld registers", named->name, (long)c->prediction.registers);
  if (op->m >= 0) {
    int64_t sums = c->tile.size[op->m] * c->tile.size[op->n] * op->operands[op->out].bits / 32 / threads;
    CHECK(sums <= t->registersPerThread / 2 + 1, "%s: %ld sums per thread", named->name, (long)sums);
    CHECK(c->tile.size[op->m] % t->atom[0] == 0 && c->tile.size[op->n] % t->atom[1] == 0 &&
              c->tile.size[op->k] % t->atom[2] == 0,
          "%s: no whole instructions", named->name);
  }
  for (int d = 0; d < op->numDims; ++d)
    CHECK(!(c->tile.size[d] & (c->tile.size[d] - 1)), "%s: %ld is not a power of two", named->name,
          (long)c->tile.size[d]);
}

static void checkPadding(const Named *named, const Machine *m, const TileSearchOptions *options,
                         const TileSearchCandidate *c) {
  for (int d = 0; d < named->op.numDims && (m->target.isGpu || !named->op.isMatrix); ++d) {
    int64_t sizes[32], extent = named->op.dims[d].extent, size = c->tile.size[d];
    int count = tileSearchSizes(&named->op, &m->target, &c->tile, options->padding, d, sizes, 32);
    int64_t least = count > 1 && sizes[0] == 1 ? sizes[1] : sizes[0], padded = tessera_ceil_div(extent, size) * size;
    CHECK(size <= least || (double)padded <= (double)extent * (1 + options->padding),
          "%s: dimension %d of %ld padded to %ld", named->name, d, (long)extent, (long)padded);
  }
}

static void testOperators(void) {
  static Named ops[MostOperators];
  static TileSearchResult result, all;
  int count = allOperators(ops);
  TileSearchOptions options = {.best = 10, .padding = 0.25};
  for (int c = 0; c < Chips; ++c)
    for (int i = 0; i < count; ++i) {
      Machine m = load(chips[c], NULL, 0, &ops[i].op);
      tileSearchConstruct(&ops[i].op, &m.target, &options, &result);
      tileSearchExhaustive(&ops[i].op, &m.target, &options, &all);
      CHECK(result.count > 0 && result.evaluations < 5000, "%s on %s: %d tiles, %ld evaluations", ops[i].name, chips[c],
            result.count, (long)result.evaluations);
      CHECK(all.evaluations >= all.count && all.count >= 1, "%s", ops[i].name);
      double ratio = result.best[0].prediction.seconds / all.best[0].prediction.seconds;
      CHECK(ratio <= (ops[i].isAligned ? 1.25 : 1.5), "%s on %s: %.3f times the best of %ld", ops[i].name, chips[c],
            ratio, (long)all.evaluations);
      for (int k = 0; k < result.count; ++k) {
        checkLimits(&ops[i], &m, &result.best[k]);
        checkPadding(&ops[i], &m, &options, &result.best[k]);
        CHECK(k == 0 || result.best[k].prediction.seconds >= result.best[k - 1].prediction.seconds * 0.94, "%s: order",
              ops[i].name);
      }
      tileMachineDestroy(m.description);
    }
}

// Twice gives the same.
static void testDeterminism(void) {
  TileOperator op = tileOperatorProduct(1000, 1000, 1000, "f16", 16, 32);
  TileSearchCandidate a = best("sm_80", NULL, NULL, &op), b = best("sm_80", NULL, NULL, &op);
  bool isSame = a.tile.kind == b.tile.kind && !memcmp(a.tile.size, b.tile.size, sizeof a.tile.size) &&
                !memcmp(&a.tile.gpu, &b.tile.gpu, sizeof a.tile.gpu);
  CHECK(isSame, "another tile");
}

//===--- one number changed ------------------------------------------------------------===//

static double reuseOf(const TileOperator *op, const TileSearchCandidate *c) {
  double read, written;
  tileRequestedBytes(op, &c->tile, &read, &written);
  return 1 / (read + written);
}

static void testCounterfactuals(void) {
  TileOperator large = tileOperatorProduct(4096, 4096, 4096, "f16", 16, 32);
  TileOperator middle = tileOperatorProduct(2048, 2048, 2048, "f16", 16, 32);
  TileSearchCandidate usual = best("sm_80", NULL, NULL, &large);
  // Little shared memory holds little; none of it is exceeded.
  TileSearchCandidate small = best("sm_80", "shared.per_block.bytes", "8192", &large);
  CHECK(usual.prediction.sharedBytes > 8192 && small.prediction.sharedBytes <= 8192, "%ld, %ld bytes",
        (long)usual.prediction.sharedBytes, (long)small.prediction.sharedBytes);
  CHECK(reuseOf(&large, &small) < reuseOf(&large, &usual), "less memory, more reuse");
  // Slower memory asks for more reuse; what is slow bounds it.
  TileSearchCandidate slow = best("sm_80", "l2.bandwidth", "1000000000000", &large);
  CHECK(reuseOf(&large, &slow) >= reuseOf(&large, &usual) && !strcmp(slow.prediction.bound, "l2"), "bound by %s",
        slow.prediction.bound);
  TileSearchCandidate starved = best("sm_80", "global.bandwidth", "20390000000", &large);
  CHECK(!strcmp(starved.prediction.bound, "global"), "bound by %s", starved.prediction.bound);
  // Many cores want many programs.
  TileSearchCandidate few = best("sm_80", "cores", "16", &middle), many = best("sm_80", "cores", "1024", &middle);
  CHECK(few.prediction.programs < many.prediction.programs && many.prediction.programs >= 1024, "%ld, %ld programs",
        (long)few.prediction.programs, (long)many.prediction.programs);
  CHECK(reuseOf(&middle, &few) > reuseOf(&middle, &many), "larger tiles reuse more");
  // Fewer registers, smaller sums.
  TileSearchCandidate tight = best("sm_80", "registers.per_thread", "128", &large);
  CHECK(tight.prediction.registers <= 128 && tight.tile.size[0] * tight.tile.size[1] / tight.tile.gpu.warps <
                                                 usual.tile.size[0] * usual.tile.size[1] / usual.tile.gpu.warps,
        "%ld registers", (long)tight.prediction.registers);
  // Wide transactions want long runs on both sides of a transpose.
  TileOperator turned = transpose(4096, 4096);
  TileSearchCandidate narrow = best("sm_80", NULL, NULL, &turned),
                      wide = best("sm_80", "global.transaction", "128", &turned);
  CHECK(narrow.tile.size[0] >= 8 && narrow.tile.size[1] >= 8, "%ld x %ld", (long)narrow.tile.size[0],
        (long)narrow.tile.size[1]);
  CHECK(wide.tile.size[0] >= 32 && wide.tile.size[1] >= 32, "%ld x %ld", (long)wide.tile.size[0],
        (long)wide.tile.size[1]);
}

// Programs of a product are grouped where the second-level cache cannot hold its operands, and then less comes from
// memory; where it can, their order is of no use.
static void testOrder(void) {
  TileOperator op = tileOperatorProduct(4096, 4096, 4096, "f16", 16, 32);
  static const struct {
    const char *chip, *cache;
  } cases[] = {{"sm_80", "l2.bytes"}, {"sm_90a", "l2.bytes"}, {"gfx942", "l2.bytes"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    TileMachineOverride changes[] = {{cases[i].cache, "8388608"}, {"l2.instances", "1"}};
    Machine small = load(cases[i].chip, changes, 2, &op);
    changes[0].value = "1073741824";
    Machine large = load(cases[i].chip, changes, 2, &op);
    TileSearchOptions options = tileSearchDefaults();
    TileSearchResult result;
    tileSearchConstruct(&op, &small.target, &options, &result);
    TileSearchTile tile = result.best[0].tile;
    int l2 = small.target.shared + 1;
    while (strcmp(small.target.levels[l2].name, "l2"))
      ++l2;
    TilePrediction grouped = tilePredict(&op, &small.target, &tile);
    tile.gpu.group = 1;
    TilePrediction plain = tilePredict(&op, &small.target, &tile);
    CHECK(grouped.group > 1 && plain.group == 1, "%s: groups of %ld, %ld", cases[i].chip, (long)grouped.group,
          (long)plain.group);
    CHECK(grouped.traffic[l2 + 1] < 0.95 * plain.traffic[l2 + 1] && grouped.seconds <= plain.seconds,
          "%s: %g bytes grouped, %g in order", cases[i].chip, grouped.traffic[l2 + 1], plain.traffic[l2 + 1]);
    tileSearchConstruct(&op, &large.target, &options, &result);
    CHECK(result.best[0].prediction.group == 1, "%s: groups of %ld where everything fits", cases[i].chip,
          (long)result.best[0].prediction.group);
    tileMachineDestroy(small.description);
    tileMachineDestroy(large.description);
  }
}

//===--- traffic ------------------------------------------------------------------------===//

// Elements that the programs ask of one operand, tile by tile, element by element.
static int64_t walk(const TileOperator *op, const TileSearchTile *tile, int operand, bool isWrite) {
  int64_t at[TileOperatorDims] = {0}, asked = 0;
  for (bool more = true; more;) {
    bool isFirstStep = true;
    int64_t elements = 1;
    for (int d = 0; d < op->numDims; ++d) {
      int64_t begin = at[d] * tile->size[d], left = op->dims[d].extent - begin;
      isFirstStep =
          isFirstStep && (!op->dims[d].isReduction || tileOperandIsIndexedBy(&op->operands[operand], d) || !at[d]);
      if (tileOperandIsIndexedBy(&op->operands[operand], d))
        elements *= left < tile->size[d] ? left : tile->size[d];
    }
    bool isOnce = isWrite || op->operands[operand].isOutput;
    asked += !isOnce || isFirstStep ? elements : 0;
    more = false;
    for (int d = op->numDims - 1; d >= 0 && !more; --d) {
      more = (at[d] + 1) * tile->size[d] < op->dims[d].extent;
      at[d] = more ? at[d] + 1 : 0;
    }
  }
  return asked;
}

static void testTraffic(void) {
  uint64_t seed = 7;
  for (int round = 0; round < 400; ++round) {
    int64_t a = 1 + (int64_t)(checkRandom(&seed) % 40), b = 1 + (int64_t)(checkRandom(&seed) % 40),
            c = 1 + (int64_t)(checkRandom(&seed) % 40);
    TileOperator ops[] = {tileOperatorProduct(a, b, c, "f16", 16, 32), transpose(a, b), scan(a, b),
                          tileOperatorReduction(3, (int64_t[]){a, b, c}, "f32", 32),
                          convolution(2, a % 9 + 1, b, 3, c, "f16", 16)};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i) {
      TileSearchTile tile = {.kind = TileKind_Threads, .gpu = {.warps = 1}};
      double read, written, wantedRead = 0, wantedWritten = 0;
      for (int d = 0; d < ops[i].numDims; ++d)
        tile.size[d] = (int64_t)1 << checkRandom(&seed) % 6;
      ops[i].operands[ops[i].numOperands - 1].isRead = round % 3 == 0;
      tileRequestedBytes(&ops[i], &tile, &read, &written);
      for (int o = 0; o < ops[i].numOperands; ++o) {
        const TileOperatorOperand *operand = &ops[i].operands[o];
        int64_t bytes = operand->bits / 8;
        wantedRead += operand->isRead ? (double)(walk(&ops[i], &tile, o, false) * bytes) : 0;
        wantedWritten += operand->isOutput ? (double)(walk(&ops[i], &tile, o, true) * bytes) : 0;
      }
      // An operand that is read once is not asked for again, though another step's tile of it would be.
      CHECK(read == wantedRead && written == wantedWritten, "operator %zu: %g read of %g, %g written of %g", i, read,
            wantedRead, written, wantedWritten);
    }
  }
}

// A description without a clock says nothing of time.
static void testRefusals(void) {
  static const char text[] =
      "kind = cpu\nisa = x86-64\nchip = none\ncores = 1\nvector.bytes = 16\nvector.registers = 8\n"
      "fma.per_cycle = 1\nfma.latency = 1\nlevels = global\nglobal.bytes = 1024\n";
  char folder[] = "construct_test_XXXXXX", path[64];
  TileError error = {.text = ""};
  TileSearchTarget target;
  CHECK(mkdtemp(folder), "a folder");
  snprintf(path, sizeof path, "%s/clockless.machine", folder);
  FILE *file = fopen(path, "w");
  CHECK(file && fwrite(text, 1, sizeof text - 1, file) == sizeof text - 1 && !fclose(file), "%s", path);
  TileMachine *machine = tileMachineLoad("clockless", folder, NULL, 0, &error);
  CHECK(machine && !tileSearchReadTarget(machine, &target, &error), "%s", error.text);
  CHECK_CONTAINS(error.text, "machine clockless: constructing tiles needs key 'clock.hz'");
  tileMachineDestroy(machine);
  remove(path);
  remove(folder);
  CHECK(tessera_bucket(1) == 1 && tessera_bucket(1000) == 1024 && tessera_bucket(1024) == 1024, "buckets");
}

// Every point of a tile is computed in registers, also where no operand has all that is tiled: a maximum over j and k
// of a function of x[j, i] and y[k, i].
static void testBody(void) {
  TileOperator op = tileOperatorElementwise(1, (int64_t[]){2}, 2, "f16", 16);
  op.numDims = op.mostTiled = 3;
  for (int d = 0; d < 3; ++d)
    op.dims[d] = (TileOperatorDim){
        .extent = d ? 1024 : 2, .isReduction = d > 0, .mayTile = true, .isUnknown = d > 0, .beside = ~0u};
  for (int i = 0; i < 2; ++i) {
    op.operands[i] = (TileOperatorOperand){.bits = 16, .rank = 2, .isRead = true, .extents = {1024, 2}};
    op.operands[i].factors[0][1 + i] = op.operands[i].factors[1][0] = 1;
  }
  for (size_t i = 0; i < 3; ++i) {
    TileSearchCandidate candidate = best(chips[i], NULL, NULL, &op);
    Machine machine = load(chips[i], NULL, 0, &op);
    const int64_t *size = candidate.tile.size;
    int64_t threads = candidate.tile.gpu.warps * machine.target.lanes;
    CHECK(size[0] * size[1] * size[2] <= threads * machine.target.registersPerThread, "%s: %dx%dx%d in %d threads",
          chips[i], (int)size[0], (int)size[1], (int)size[2], (int)threads);
    tileMachineDestroy(machine.description);
  }
}

int main(void) {
  testOperators();
  testBody();
  testDeterminism();
  testCounterfactuals();
  testOrder();
  testTraffic();
  testRefusals();
  return checkResult(5000);
}
