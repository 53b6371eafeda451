// Layouts made for a purpose: against the texts of worked examples, then by their laws (coverage, what removing an axis
// gives back, which thread has what a product needs) on shapes of every kind.
#include "lib/layout/tiling.h"

#include "test/layout/layouts.h"

static void expectText(const TileLayout *layout, const char *wanted) {
  CHECK(!strcmp(printed(layout).text, wanted), "got %s, wanted %s", printed(layout).text, wanted);
}

static const struct {
  int64_t shape[3];
  uint32_t rank, vector, lanes, warps;
  bool columns; // order {0, 1}
  const char *wanted;
} blocked[] = {
    {{128, 32}, 2, 8, 32, 4, false, "reg [8:d1, 4:d0*32], lane [4:d1*8, 8:d0], warp [4:d0*8]"},
    {{128, 128}, 2, 8, 32, 4, false, "reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]"},
    {{32, 128}, 2, 8, 64, 4, true, "reg [8:d0, 2:d1*64], lane [4:d0*8, 16:d1], warp [4:d1*16]"},
    {{8}, 1, 4, 32, 2, false, "reg [4:d0], lane [2:d0*4, 16:_], warp [2:_]"},
    {{100, 6}, 2, 4, 32, 1, false, "reg [2:d1, 3:d1*2, 25:d0*4], lane [4:d0, 8:_]"},
    {{45}, 1, 4, 32, 1, false, "reg [45:d0], lane [32:_]"},
};

static void testBlocked(void) {
  for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; ++i) {
    const uint32_t columns[] = {0, 1};
    TileLayout layout;
    TileError error = {.text = ""};
    CHECK(tileLayoutBlocked(blocked[i].shape, blocked[i].rank, blocked[i].columns ? columns : NULL, NULL,
                            blocked[i].vector, blocked[i].lanes, blocked[i].warps, &layout, &error),
          "%s", error.text);
    expectText(&layout, blocked[i].wanted);
    CHECK(tileLayoutCovers(&layout, blocked[i].shape, blocked[i].rank, NULL, &error), "%s", error.text);
  }
  TileLayout layout;
  TileError error = {.text = ""};
  int64_t rows[] = {4, 1024}, empty[] = {0};
  const uint32_t columnsFirst[] = {0, 1};
  CHECK(tileLayoutBlocked(rows, 2, NULL, columnsFirst, 4, 32, 4, &layout, &error), "%s", error.text);
  expectText(&layout, "reg [4:d1, 8:d1*128], lane [32:d1*4], warp [4:d0]"); // a row to each warp
  CHECK(!tileLayoutBlocked(empty, 1, NULL, NULL, 1, 32, 1, &layout, &error), "size 0");
  CHECK(strstr(error.text, "axis 0 has size 0"), "%s", error.text);
}

static const struct {
  int64_t shape[3];
  uint32_t rank, least[3], bits;
  int64_t wanted[3];
} rounded[] = {
    {{4, 1000}, 2, {0, 0}, 7, {4, 1024}},      // 1008 has 2^4, 4 has 2^2
    {{4, 1000}, 2, {0, 5}, 7, {4, 1024}},      // a warp side by side
    {{32, 777}, 2, {0, 0}, 7, {32, 780}},      // fewest elements
    {{32, 777}, 2, {0, 5}, 7, {32, 800}},      // whole warps
    {{5, 7, 83}, 3, {0, 0, 0}, 7, {5, 8, 96}}, // 3840 elements; 6 x 8 x 88 and 5 x 7 x 128 are more
    {{128, 64}, 2, {0, 5}, 7, {128, 64}},      // nothing to round
    {{3, 1, 5}, 3, {0, 0, 0}, 7, {4, 1, 8}},   // all there is
    {{3, 5}, 2, {0, 6}, 0, {3, 8}},            // an axis shorter than what is wanted of it
    {{1}, 1, {5}, 7, {1}},
};

// Among all roundings of each axis, none has fewer elements and as many powers of two.
static void testRounded(void) {
  for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; ++i) {
    int64_t extents[3];
    TileLayout layout;
    TileError error = {.text = ""};
    uint32_t rank = rounded[i].rank;
    tileLayoutRoundShape(rounded[i].shape, rank, rounded[i].least, rounded[i].bits, extents);
    CHECK(!memcmp(extents, rounded[i].wanted, rank * sizeof *extents), "case %zu: %ld, %ld, …", i, (long)extents[0],
          (long)extents[1]);
    CHECK(tileLayoutBlocked(extents, rank, NULL, NULL, 1, 32, 4, &layout, &error) &&
              tileLayoutHolds(&layout, rounded[i].shape, rank, extents, &error),
          "%s", error.text);
    CHECK(!memcmp(extents, rounded[i].wanted, rank * sizeof *extents), "case %zu reaches elsewhere", i);
  }
  TileLayout wide = parsed("lane [16:d0, 2:_]");
  TileError error = {.text = ""};
  int64_t nine = 9, eight = 8;
  CHECK(tileLayoutHolds(&wide, &nine, 1, NULL, &error), "%s", error.text);
  CHECK(!tileLayoutHolds(&wide, &eight, 1, NULL, &error), "twice the size");
  CHECK(strstr(error.text, "reaches coordinate 15 of axis 0, which has size 8"), "%s", error.text);
}

// mma.sync.m16n8k16 and mfma.32x32x8, as the PTX and CDNA manuals state them.
static const char *const mmaSync[] = {"reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]",
                                      "reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]",
                                      "reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]"};
static const char *const mfma[] = {"reg [4:d1], lane [32:d0, 2:d1*4]", "reg [4:d0], lane [32:d1, 2:d0*4]",
                                   "reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]"};

static const struct {
  const char *const *fragments;
  TileProductShape shape;
  const char *wanted[3];
} products[] = {
    {mmaSync,
     {.m = 128, .n = 128, .k = 32, .warpBits = 2, .warpBitsM = 1, .warpBitsN = 1},
     {"reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]",
      "reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]",
      "reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]"}},
    {mfma,
     {.m = 128, .n = 128, .k = 32, .warpBits = 2, .warpBitsM = 1, .warpBitsN = 1},
     {"reg [4:d1, 4:d1*8, 2:d0*32], lane [32:d0, 2:d1*4], warp [2:d0*64, 2:_]",
      "reg [4:d0, 4:d0*8, 2:d1*32], lane [32:d1, 2:d0*4], warp [2:_, 2:d1*64]",
      "reg [4:d0, 4:d0*8, 2:d1*32, 2:d0*32], lane [32:d1, 2:d0*4], warp [2:d0*64, 2:d1*64]"}},
    {mmaSync,
     {.m = 96, .n = 40, .k = 48, .warpBits = 2, .warpBitsM = 1},
     {"reg [2:d1, 2:d0*8, 2:d1*8, 3:d1*16, 3:d0*32], lane [4:d1*2, 8:d0], warp [2:d0*16, 2:_]",
      "reg [2:d0, 2:d0*8, 3:d0*16, 5:d1*8], lane [4:d0*2, 8:d1], warp [4:_]",
      "reg [2:d1, 2:d0*8, 5:d1*8, 3:d0*32], lane [4:d1*2, 8:d0], warp [2:d0*16, 2:_]"}},
    {mmaSync,
     {.batch = 8, .m = 16, .n = 16, .k = 16, .warpBits = 2, .warpBitsN = 1},
     {"reg [2:d2, 2:d1*8, 2:d2*8, 4:d0], lane [4:d2*2, 8:d1], warp [2:_, 2:d0*4]",
      "reg [2:d1, 2:d1*8, 4:d0], lane [4:d1*2, 8:d2], warp [2:d2*8, 2:d0*4]",
      "reg [2:d2, 2:d1*8, 4:d0], lane [4:d2*2, 8:d1], warp [2:d2*8, 2:d0*4]"}},
};

static void testProducts(void) {
  for (size_t i = 0; i < sizeof products / sizeof products[0]; ++i) {
    TileLayout fragments[3], results[3];
    TileError error = {.text = ""};
    for (int k = 0; k < 3; ++k)
      fragments[k] = parsed(products[i].fragments[k]);
    CHECK(tileLayoutProductOperands(fragments, &products[i].shape, results, &error), "%s", error.text);
    for (int k = 0; k < 3; ++k)
      expectText(&results[k], products[i].wanted[k]);
  }
  TileLayout fragments[3] = {parsed(mmaSync[0]), parsed(mmaSync[1]), parsed(mmaSync[2])}, results[3];
  TileProductShape uneven = {.m = 100, .n = 8, .k = 16}, crowded = {.m = 16, .n = 8, .k = 16, .warpBits = 1};
  TileError error;
  CHECK(!tileLayoutProductOperands(fragments, &uneven, results, &error), "100 rows");
  CHECK(!strcmp(error.text, "size 100 is not a multiple of the fragment's 16"), "%s", error.text);
  crowded.warpBitsM = 1;
  CHECK(!tileLayoutProductOperands(fragments, &crowded, results, &error), "two warps on one fragment");
  CHECK(!strcmp(error.text, "2^1 warps do not fit into the 2^0 fragments of axis 0"), "%s", error.text);
}

// Each thread has all of k for every row and column that it accumulates.
static void testMultiplyAdd(void) {
  static const int64_t shapes[][4] = {{32, 64, 16, 0}, {12, 24, 6, 0}, {16, 16, 5, 4}};
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    int64_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2], batch = shapes[i][3];
    uint32_t rank = batch ? 3 : 2;
    int64_t sizes[3][3] = {{batch, m, k}, {batch, k, n}, {batch, m, n}};
    TileLayout accumulator, sides[2];
    TileError error = {.text = ""};
    CHECK(tileLayoutBlocked(&sizes[2][3 - rank], rank, NULL, NULL, 4, 32, 4, &accumulator, &error), "%s", error.text);
    for (uint32_t side = 0; side < 2; ++side) {
      CHECK(tileLayoutMultiplyAdd(&accumulator, side, rank, k, &sides[side], &error), "%s", error.text);
      CHECK(tileLayoutCovers(&sides[side], &sizes[side][3 - rank], rank, NULL, &error), "%s", error.text);
      TileLayout rows[2];
      tileLayoutRemoveAxis(&accumulator, side == 0 ? rank - 1 : rank - 2, &rows[0]);
      tileLayoutRemoveAxis(&sides[side], side == 0 ? rank - 1 : rank - 2, &rows[1]);
      CHECK(tileLayoutEquals(&rows[0], &rows[1]), "%s is not %s", printed(&rows[1]).text, printed(&rows[0]).text);
      CHECK(tileLayoutDimSize(&sides[side], TileLayoutReg) == tileLayoutDimSize(&rows[0], TileLayoutReg) * (uint64_t)k,
            "not all of k in %s", printed(&sides[side]).text);
    }
  }
}

static void testExpand(void) {
  static const struct {
    const char *narrow;
    uint32_t axis;
    int64_t size;
    const char *wanted;
  } cases[] = {
      {"reg [2:d0*8, 4:d0*16], lane [4:_, 8:d0], warp [2:d0*64, 2:_]", 1, 128,
       "reg [8:d0*8, 16:d1*8], lane [4:d1, 8:d0], warp [2:d0*64, 2:d1*4]"},
      {"lane [32:d0], warp [4:d0*32]", 0, 24, "reg [8:d0, 3:d0*8], lane [32:d1], warp [4:d1*32]"},
      {"lane [32:_]", 0, 8, "lane [8:d0, 4:_]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    TileLayout narrow = parsed(cases[i].narrow), wide, back;
    TileError error = {.text = ""};
    CHECK(tileLayoutExpandAxis(&narrow, cases[i].axis, cases[i].size, &wide, &error), "%s", error.text);
    expectText(&wide, cases[i].wanted);
    tileLayoutRemoveAxis(&wide, cases[i].axis, &back);
    CHECK(tileLayoutEquals(&back, &narrow), "back to %s", printed(&back).text);
  }
}

int main(void) {
  testBlocked();
  testRounded();
  testProducts();
  testMultiplyAdd();
  testExpand();
  return checkResult(80);
}
