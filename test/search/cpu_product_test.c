// A CPU's matrix products: limits counted again from the tile, every tile against the best of all, one number of the
// machine changed, and the traffic against a walk over blocks, register tiles and elements.
#include "lib/search/construct.h"
#include "lib/search/cpu_cost.h"
#include "lib/search/model.h"
#include "test/check.h"

static TileSearchTarget load(const char *name, const char *key, const char *value, const TileOperator *op) {
  TileMachineOverride change = {key, value};
  TileError error = {.text = ""};
  TileSearchTarget target = {.cores = 1};
  TileMachine *machine = tileMachineLoad(name, NULL, &change, key != NULL, &error);
  CHECK(machine && tileSearchReadTarget(machine, &target, &error), "%s", error.text);
  tileSearchSetOperator(machine, op, &target);
  tileMachineDestroy(machine);
  return target;
}

static TileSearchCandidate best(const char *name, const char *key, const char *value, const TileOperator *op) {
  TileSearchTarget target = load(name, key, value, op);
  TileSearchOptions options = tileSearchDefaults();
  static TileSearchResult result;
  tileSearchConstruct(op, &target, &options, &result);
  CHECK(result.count == 1, "%s: no tile", name);
  return result.best[0];
}

//===--- limits and quality -------------------------------------------------------------===//

static void checkLimits(const TileOperator *op, const TileSearchTarget *t, const TileSearchTile *tile) {
  char text[160];
  int64_t bytes = op->operands[op->lhs].bits / 8, lanes = t->vectorBytes * 8 / op->operands[op->out].bits;
  const char *fault = tileKernelKinds[tile->kind]->fault(op, t, tile, text, sizeof text);
  bool isPacked = tile->kind == TileKind_Packed;
  CHECK(!fault, "%s", fault);
  if (tile->kind == TileKind_Streamed || tile->kind == TileKind_Split) {
    int64_t sums = tile->size[op->m] * tile->size[op->n] * op->operands[op->out].bits / 8;
    CHECK(tile->size[op->m] == op->dims[op->m].extent && 2 * sums <= t->levels[0].bytes, "%ld bytes of C in L1",
          (long)sums);
    return;
  }
  int64_t vectors = tile->registers.columns / lanes, depth = tile->size[op->k];
  vectors = tile->kind == TileKind_AlongDepth ? tile->registers.columns : vectors;
  CHECK(tile->registers.rows * vectors + vectors + 1 <= t->vectorRegisters, "%ld x %ld in registers",
        (long)tile->registers.rows, (long)tile->registers.columns);
  if (!isPacked)
    CHECK(2 * tile->registers.columns * depth * bytes <= t->levels[1].bytes, "B's panel of %ld x %ld where it lies",
          (long)depth, (long)tile->registers.columns);
  else
    CHECK(2 * tile->size[op->m] * depth * bytes <= t->levels[1].bytes, "A's block of %ld x %ld",
          (long)tile->size[op->m], (long)depth);
  CHECK(!isPacked || 4 * tile->registers.columns * depth * bytes <= t->levels[1].bytes, "B's panel of %ld x %ld",
        (long)depth, (long)tile->registers.columns);
  CHECK(tile->size[op->m] < op->dims[op->m].extent + tile->registers.rows &&
            tile->size[op->n] < op->dims[op->n].extent + tile->registers.columns,
        "more than one register tile past the end");
}

// Whatever the extents: what fits the machine, fewer than 5,000 predictions, and near the best of all by the model.
static void testExtents(void) {
  static const int64_t sizes[] = {1, 2, 7, 8, 17, 127, 512, 1000, 50257};
  static const char *const chips[] = {"x86-64-v4", "x86-64-v3"};
  static TileSearchResult result, all;
  enum { Sizes = sizeof sizes / sizeof *sizes };
  TileSearchOptions options = {.best = 10, .padding = 0.25};
  for (int i = 0; i < Sizes * Sizes * Sizes; ++i)
    for (int c = 0; c < 2; ++c) {
      TileOperator op = tileOperatorProduct(sizes[i % Sizes], sizes[i / Sizes % Sizes], sizes[i / Sizes / Sizes],
                                            i % 2 ? "f32" : "f64", i % 2 ? 32 : 64, i % 2 ? 32 : 64);
      op.group = i % 3 ? 1 : 4; // of a dot instruction
      TileSearchTarget target = load(chips[c], NULL, NULL, &op);
      tileSearchConstruct(&op, &target, &options, &result);
      CHECK(result.count > 0 && result.evaluations < 5000, "%d: %d tiles, %ld evaluations", i, result.count,
            (long)result.evaluations);
      for (int k = 0; k < result.count; ++k)
        checkLimits(&op, &target, &result.best[k].tile);
      if (i % 5)
        continue;
      tileSearchExhaustive(&op, &target, &options, &all);
      CHECK(result.best[0].prediction.seconds <= 1.25 * all.best[0].prediction.seconds, "%d: %.3f of the best", i,
            result.best[0].prediction.seconds / all.best[0].prediction.seconds);
    }
}

//===--- one number changed ---------------------------------------------------------------===//

static void testCounterfactuals(void) {
  TileOperator op = tileOperatorProduct(1024, 1024, 1024, "f32", 32, 32);
  TileSearchTile usual = best("x86-64-v4", NULL, NULL, &op).tile;
  // Half the registers hold half the sums.
  TileSearchTile narrow = best("x86-64-v4", "vector.registers", "16", &op).tile;
  CHECK(usual.registers.rows * usual.registers.columns == 256 && narrow.registers.rows * narrow.registers.columns < 256,
        "%ld x %ld", (long)narrow.registers.rows, (long)narrow.registers.columns);
  // Quick multiply-adds need fewer sums under way; slow ones more.
  TileSearchTile quick = best("x86-64-v4", "fma.latency", "2", &op).tile;
  CHECK(quick.registers.rows * quick.registers.columns == 128, "%ld x %ld", (long)quick.registers.rows,
        (long)quick.registers.columns);
  // Wider vectors, wider register tiles in elements.
  TileSearchTile avx2 = best("x86-64-v3", NULL, NULL, &op).tile;
  CHECK(avx2.registers.rows * avx2.registers.columns < usual.registers.rows * usual.registers.columns, "%ld x %ld",
        (long)avx2.registers.rows, (long)avx2.registers.columns);
  // A's block shrinks with L2.
  TileSearchTile small = best("x86-64-v4", "l2.bytes", "131072", &op).tile;
  CHECK(small.size[0] * small.size[2] * 8 <= 131072 && usual.size[0] * usual.size[2] * 8 > 131072, "%ld x %ld",
        (long)small.size[0], (long)small.size[2]);
  // A panel of B that L1 can hold is deeper where L1 is larger.
  TileSearchTile large = best("x86-64-v4", "l1.bytes", "131072", &op).tile;
  CHECK(large.size[2] * large.registers.columns > usual.size[2] * usual.registers.columns, "%ld x %ld",
        (long)large.size[2], (long)large.registers.columns);
  // Every core has a program; one core alone packs nothing twice.
  TileSearchCandidate many = best("x86-64-v4", "cores", "32", &op), one = best("x86-64-v4", "cores", "1", &op);
  CHECK(many.prediction.programs >= 32 && many.prediction.read > one.prediction.read, "%ld, %ld programs",
        (long)many.prediction.programs, (long)one.prediction.programs);
  // Few rows stream B where it lies; many do not.
  TileOperator row = tileOperatorProduct(1, 4096, 4096, "f32", 32, 32);
  CHECK(best("x86-64-v4", "cores", "1", &row).tile.kind == TileKind_Streamed && usual.kind == TileKind_Packed,
        "who packs");
  // Larger than all caches: cores share B's rows. In a cache they share its columns.
  CHECK(best("x86-64-v4", "cores", "2", &row).tile.parts == 2 &&
            best("x86-64-v4", "cores", "2", &row).tile.kind == TileKind_Split,
        "k is split");
  CHECK(best("x86-64-v4", "cores", "1", &row).tile.kind != TileKind_Split &&
            best("x86-64-v4", "l3.bytes", "1073741824", &row).tile.kind != TileKind_Split,
        "k is not split");
  // Rows of B a power of two apart share a set: half of the ways.
  CHECK(best("x86-64-v4", "l1.ways", "4", &row).tile.size[2] <= 2, "rows of B at once");
  // Fewer columns than lanes: lanes along k, where k fills them; narrower vectors are filled by fewer columns.
  TileOperator thin = tileOperatorProduct(3000, 3, 55, "f32", 32, 32),
               wide = tileOperatorProduct(3000, 32, 55, "f32", 32, 32);
  TileOperator flat = tileOperatorProduct(3000, 3, 15, "f32", 32, 32);
  TileSearchTile tile = best("x86-64-v4", NULL, NULL, &thin).tile;
  CHECK(tile.kind == TileKind_AlongDepth && tile.registers.rows * tile.registers.columns <= 16 && tile.size[2] == 55,
        "%ld x %ld along k", (long)tile.registers.rows, (long)tile.registers.columns);
  CHECK(best("x86-64-v4", NULL, NULL, &wide).tile.kind != TileKind_AlongDepth &&
            best("x86-64-v4", NULL, NULL, &flat).tile.kind != TileKind_AlongDepth,
        "lanes along n");
  // Slow memory bounds it.
  CHECK(best("x86-64-v4", "global.bandwidth", "1000000000", &row).prediction.bound[0] == 'g', "bound");
}

//===--- windows --------------------------------------------------------------------------===//

// y[p, q, f] += x[p + r, q + s, c] · w[r, s, c, f] with dimensions p, q, f, r, s, c.
static TileOperator convolution(int64_t side, int64_t f, int64_t window, int64_t c) {
  int64_t padded = side + window - 1, extents[] = {side, side, f, window, window, c};
  TileOperator op = {.numDims = 6,
                     .numOperands = 3,
                     .type = "f32",
                     .operations = 2,
                     .mostTiled = 3,
                     .group = 1,
                     .m = 1,
                     .n = 2,
                     .k = 5,
                     .lhs = 0,
                     .rhs = 1,
                     .out = 2};
  for (int d = 0; d < 6; ++d)
    op.dims[d] = (TileOperatorDim){.extent = extents[d], .isReduction = d > 2, .mayTile = d == 1 || d == 2 || d == 5};
  op.operands[0] = (TileOperatorOperand){.bits = 32, .rank = 3, .extents = {padded, padded, c}, .isRead = true};
  op.operands[1] = (TileOperatorOperand){.bits = 32, .rank = 4, .extents = {window, window, c, f}, .isRead = true};
  op.operands[2] = (TileOperatorOperand){.bits = 32, .rank = 3, .extents = {side, side, f}, .isOutput = true};
  const int axes[3][4][2] = {{{0, 3}, {1, 4}, {5, 5}}, {{3, 3}, {4, 4}, {5, 5}, {2, 2}}, {{0, 0}, {1, 1}, {2, 2}}};
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < op.operands[i].rank; ++a)
      op.operands[i].factors[a][axes[i][a][0]] = op.operands[i].factors[a][axes[i][a][1]] = 1;
  return op;
}

// As above, over merged dimensions: rows of A in runs of window · c elements.
static TileOperator merged(int64_t side, int64_t f, int64_t window, int64_t c) {
  TileOperator op = tileOperatorProduct(side * side, f, window * window * c, "f32", 32, 32);
  op.dims[op.k].run = window * c;
  op.operands[0].held = (side + window - 1) * (side + window - 1) * c;
  return op;
}

// How much longer the kernel that packs nothing takes than the merged product.
static double directByMerged(const char *key, const char *value, int64_t side, int64_t f, int64_t c) {
  TileOperator own = convolution(side, f, 3, c), packed = merged(side, f, 3, c);
  TileSearchTarget target = load("x86-64-v4", key, value, &own);
  target.cores = 1;
  TileSearchTile tile;
  tileWindowKind.starts(&own, &target, &tile);
  TileSearchOptions options = tileSearchDefaults();
  static TileSearchResult result;
  tileSearchConstruct(&packed, &target, &options, &result);
  CHECK(result.count == 1, "no tile");
  return tilePredict(&own, &target, &tile).seconds / result.best[0].prediction.seconds;
}

static void testWindows(void) {
  static const int64_t shapes[][4] = {{56, 64, 3, 64}, {7, 512, 3, 512}, {112, 64, 7, 3}, {5, 17, 3, 33}, {1, 2, 1, 1}};
  static TileSearchResult result;
  TileSearchOptions options = {.best = 10, .padding = 0.25};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    TileOperator op = merged(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]);
    TileSearchTarget target = load("x86-64-v4", NULL, NULL, &op);
    tileSearchConstruct(&op, &target, &options, &result);
    CHECK(result.count > 0 && result.evaluations < 5000, "%zu: %ld evaluations", i, (long)result.evaluations);
    for (int k = 0; k < result.count; ++k) {
      int64_t depth = result.best[k].tile.size[op.k], run = op.dims[op.k].run;
      checkLimits(&op, &target, &result.best[k].tile);
      CHECK(depth % run == 0 || run % depth == 0, "%zu: a block of %ld for runs of %ld", i, (long)depth, (long)run);
    }
  }
  TileOperator op = merged(14, 64, 3, 64);
  TileSearchTarget target = load("x86-64-v4", NULL, NULL, &op);
  char text[160];
  TileSearchTile tile = {.kind = TileKind_Packed, .size = {56, 64, 100}, .registers = {7, 32}};
  CHECK_CONTAINS(tilePackedKind.fault(&op, &target, &tile, text, sizeof text),
                 "`block` takes 100 of dimension 2; it must be a divisor or a multiple of the 192 elements of a run");
  // Few weights are read where they lie; many are packed, unless L2 is so large that they are there, or memory so
  // quick.
  CHECK(directByMerged(NULL, NULL, 56, 64, 64) < 1 && directByMerged(NULL, NULL, 7, 512, 512) > 1, "who packs");
  CHECK(directByMerged("l2.bytes", "16777216", 7, 512, 512) < 1, "weights in L2");
  CHECK(directByMerged("l3.latency", "2", 7, 512, 512) < 1, "a quick L3");
  CHECK(directByMerged("l2.bytes", "65536", 56, 64, 64) > directByMerged(NULL, NULL, 56, 64, 64), "a small L2");
  // All rows of a tile in registers, alike; half the registers hold fewer.
  TileOperator own = convolution(14, 64, 3, 64);
  target = load("x86-64-v4", NULL, NULL, &own);
  TileSearchTile direct;
  tileWindowKind.starts(&own, &target, &direct);
  CHECK(direct.size[1] == 7 && direct.size[2] == 32 && direct.size[5] == 64, "%ld x %ld", (long)direct.size[1],
        (long)direct.size[2]);
  target = load("x86-64-v4", "vector.registers", "16", &own);
  tileWindowKind.starts(&own, &target, &direct);
  CHECK(direct.size[1] == 5, "few registers");
}

//===--- traffic -------------------------------------------------------------------------===//

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Elements that one packing kernel asks of memory: its loops, written down.
static void walk(const TileOperator *op, const TileSearchTile *tile, int64_t *read, int64_t *written) {
  int64_t m = op->dims[0].extent, n = op->dims[1].extent, k = op->dims[2].extent;
  for (int64_t i = 0; i < m; i += tile->size[0])
    for (int64_t j = 0; j < n; j += tile->size[1])
      for (int64_t p = 0; p < k; p += tile->size[2]) {
        int64_t depth = least(tile->size[2], k - p), rows = least(tile->size[0], m - i);
        *read += rows * depth; // A's block, once
        for (int64_t panel = j; panel < least(j + tile->size[1], n); panel += tile->registers.columns) {
          int64_t columns = least(tile->registers.columns, n - panel);
          *read += columns * depth; // B's panel
          for (int64_t r = i; r < i + rows; r += tile->registers.rows) {
            int64_t sums = least(tile->registers.rows, m - r) * columns;
            *read += p || op->operands[2].isRead ? sums : 0;
            *written += sums;
          }
        }
      }
}

static void testTraffic(void) {
  uint64_t seed = 11;
  for (int round = 0; round < 2000; ++round) {
    int64_t extents[3];
    for (int i = 0; i < 3; ++i)
      extents[i] = 1 + (int64_t)(checkRandom(&seed) % 200);
    TileOperator op = tileOperatorProduct(extents[0], extents[1], extents[2], "f32", 32, 32);
    op.operands[2].isRead = round % 3 == 0;
    TileSearchTile tile = {.kind = TileKind_Packed, .registers = {1 + (int64_t)(checkRandom(&seed) % 8), 16}};
    tile.size[0] = tile.registers.rows * (1 + (int64_t)(checkRandom(&seed) % 9));
    tile.size[1] = tile.registers.columns * (1 + (int64_t)(checkRandom(&seed) % 5));
    tile.size[2] = 8 * (1 + (int64_t)(checkRandom(&seed) % 12));
    double read, written;
    int64_t wantedRead = 0, wantedWritten = 0;
    tileRequestedBytes(&op, &tile, &read, &written);
    walk(&op, &tile, &wantedRead, &wantedWritten);
    CHECK(read == (double)(4 * wantedRead) && written == (double)(4 * wantedWritten),
          "%ld x %ld x %ld: %g read of %ld, %g written of %ld", (long)extents[0], (long)extents[1], (long)extents[2],
          read, (long)(4 * wantedRead), written, (long)(4 * wantedWritten));
  }
}

//===--- what somebody wrote ---------------------------------------------------------------===//

// Null: the packed kernel can have the tile.
static const char *fault(int64_t m, int64_t n, int64_t k, int64_t rows, int64_t columns) {
  static char text[160];
  TileOperator op = tileOperatorProduct(127, 255, 511, "f32", 32, 32);
  TileSearchTarget target = load("x86-64-v4", NULL, NULL, &op);
  TileSearchTile tile = {.kind = TileKind_Packed, .size = {m, n, k}, .registers = {rows, columns}};
  return tilePackedKind.fault(&op, &target, &tile, text, sizeof text);
}

static void testFaults(void) {
  CHECK(!fault(64, 64, 511, 8, 32) && !fault(64, 64, 73, 8, 32) && !fault(64, 64, 256, 8, 32), "what fits");
  CHECK_CONTAINS(fault(60, 64, 256, 8, 32),
                 "`block` takes 60 of dimension 0; it must be a multiple of the register tile's 8");
  CHECK_CONTAINS(fault(64, 80, 256, 8, 32),
                 "`block` takes 80 of dimension 1; it must be a multiple of the register tile's 32");
  CHECK_CONTAINS(fault(64, 64, 100, 8, 32), "it must be a divisor of its extent or a multiple of 8");
  CHECK_CONTAINS(fault(64, 64, 256, 8, 20), "its columns must be a multiple of the vector's 16 elements");
  TileOperator op = tileOperatorProduct(127, 255, 511, "f32", 32, 32);
  TileSearchTarget target = load("x86-64-v4", NULL, NULL, &op);
  TileSearchTile streamed = {.kind = TileKind_Streamed, .size = {64, 64, 4}};
  char text[160];
  CHECK_CONTAINS(tileStreamedKind.fault(&op, &target, &streamed, text, sizeof text),
                 "the kinds \"streamed\" and \"split\" take all of it");
}

int main(void) {
  testExtents();
  testCounterfactuals();
  testTraffic();
  testWindows();
  testFaults();
  return checkResult(5000);
}
