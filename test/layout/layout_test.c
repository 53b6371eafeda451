// Layouts against the vendors' lane maps, the TMA swizzle rule, and the tiles of the scheduled sketches.
// The maps are written here from the PTX ISA and CDNA ISA manuals' formulas and share nothing with lib/layout.
#include "test/layout/layouts.h"

typedef void (*LaneMap)(uint32_t reg, uint32_t lane, uint32_t warp, uint32_t *row, uint32_t *column);

static void accumulatorM16n8(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = l / 4 + 8 * (r / 2) + 0 * w;
  *column = 2 * (l % 4) + r % 2;
}
static void leftM16n8k16(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = l / 4 + 8 * (r / 2 % 2) + 0 * w;
  *column = 2 * (l % 4) + r % 2 + 8 * (r / 4);
}
static void rightM16n8k16(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = 2 * (l % 4) + r % 2 + 8 * (r / 2) + 0 * w;
  *column = l / 4;
}
static void accumulatorMfma32(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = 8 * (r / 4) + 4 * (l / 32) + r % 4 + 0 * w;
  *column = l % 32;
}
static void leftMfma32(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = l % 32 + 0 * w;
  *column = 4 * (l / 32) + r;
}
static void accumulatorMfma16(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = r % 4 + 4 * (l / 16) + 0 * w;
  *column = l % 16;
}
static void accumulatorWgmma(uint32_t r, uint32_t l, uint32_t w, uint32_t *row, uint32_t *column) {
  *row = 16 * w + l / 4 + 8 * (r / 2 % 2);
  *column = 8 * (r / 4) + 2 * (l % 4) + r % 2;
}

static const struct {
  const char *text;
  LaneMap map;
  int64_t shape[2];
} fragments[] = {
    {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", accumulatorM16n8, {16, 8}},
    {"reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]", leftM16n8k16, {16, 16}},
    {"reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]", rightM16n8k16, {16, 8}},
    {"reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]", accumulatorMfma32, {32, 32}},
    {"reg [4:d1], lane [32:d0, 2:d1*4]", leftMfma32, {32, 8}},
    {"reg [4:d0], lane [16:d1, 4:d0*4]", accumulatorMfma16, {16, 16}},
    {"reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]", accumulatorWgmma, {64, 256}},
};

static void testLaneMaps(void) {
  for (size_t f = 0; f < sizeof fragments / sizeof fragments[0]; ++f) {
    TileLayout layout = parsed(fragments[f].text);
    TileLayoutPoint index = {{0}};
    do {
      uint32_t row, column;
      fragments[f].map(index.at[0], index.at[1], index.at[2], &row, &column);
      TileLayoutPoint element = tileLayoutApply(&layout, index);
      CHECK(element.at[0] == row && element.at[1] == column,
            "%s at register %u, lane %u, warp %u: (%u, %u), not (%u, %u)", fragments[f].text, index.at[0], index.at[1],
            index.at[2], element.at[0], element.at[1], row, column);
    } while (nextIndex(&layout, &index));
    uint64_t copies = 0;
    TileError error = {0};
    CHECK(tileLayoutCovers(&layout, fragments[f].shape, 2, &copies, &error) && copies == 1, "%s: %s", fragments[f].text,
          error.text);
  }
}

// TMA's 128-byte swizzle on 128-byte rows of f16: 16-byte chunk j of row i lies at chunk j XOR (i mod 8).
static void testSwizzle(void) {
  TileLayout layout = parsed("offset [64:d1, 8:d0+d1*8, 16:d0*8]"), inverse;
  int64_t shape[] = {128, 64};
  TileError error = {0};
  CHECK(tileLayoutRightInverse(&layout, shape, 2, &inverse, &error), "%s", error.text);
  for (uint32_t i = 0; i < 128; ++i)
    for (uint32_t j = 0; j < 64; ++j) {
      TileLayoutPoint element = {{i, j}};
      uint32_t offset = tileLayoutApply(&inverse, element).at[0];
      CHECK(offset == i * 64 + ((j / 8) ^ (i % 8)) * 8 + j % 8, "(%u, %u) at %u", i, j, offset);
    }
  CHECK(tileLayoutContiguity(&layout, TileLayoutOffset, 1) == 64, "row of 64");
  CHECK(tileLayoutContiguity(&layout, TileLayoutOffset, 0) == 1, "no run along rows");
}

static const struct {
  const char *text;
  int64_t shape[2];
  uint64_t copies;
} covers[] = {
    // The scheduled sketches: sm_80, sm_90a, gfx942.
    {"reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]", {128, 128}, 1},
    {"reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]", {128, 32}, 2},
    {"reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]", {32, 128}, 2},
    {"reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]", {128, 128}, 1},
    {"offset [32:d1, 2:d0, 4:d0*2+d1*8, 16:d0*8]", {128, 32}, 1},
    {"offset [128:d1, 8:d0+d1*8, 4:d0*8]", {32, 128}, 1},
    {"reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:d0*64]", {128, 256}, 1},
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8]", {128, 64}, 1},
    {"offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]", {64, 256}, 1},
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8, 4:d1*64]", {128, 256}, 1},
    {"reg [4:d0, 4:d0*8, 2:d0*32, 2:d1*32], lane [32:d1, 2:d0*4], warp [2:d0*64, 2:d1*64]", {128, 128}, 1},
    {"reg [4:d1, 4:d1*8, 2:d0*32], lane [32:d0, 2:d1*4], warp [2:d0*64, 2:_]", {128, 32}, 2},
    {"reg [4:d0, 4:d0*8, 2:d1*32], lane [32:d1, 2:d0*4], warp [2:_, 2:d1*64]", {32, 128}, 2},
    {"reg [8:d1, 2:d0*64], lane [4:d1*8, 16:d0], warp [4:d0*16]", {128, 32}, 1},
    {"reg [8:d0, 2:d1*64], lane [4:d0*8, 16:d1], warp [4:d1*16]", {32, 128}, 1},
    {"offset [32:d1, 2:d0, 8:d0*2+d1*4, 8:d0*16]", {128, 32}, 1},
    {"offset [32:d0, 2:d1, 8:d1*2+d0*4, 8:d1*16]", {32, 128}, 1},
    // Odd factors, packed nibbles, copies by an odd factor.
    {"reg [8:d1, 2:d0*16, 3:d0*32], lane [8:d1*8, 4:d0], warp [4:d0*4]", {96, 64}, 1},
    {"offset [32:d1, 32:d0, 3:d1*32, 3:d0*32]", {96, 96}, 1},
    {"offset [4:d1*2, 2:d1]", {1, 8}, 1},
    {"reg [3:_], lane [4:d0]", {4, 1}, 3},
};

static void testCovers(void) {
  for (size_t i = 0; i < sizeof covers / sizeof covers[0]; ++i) {
    TileLayout layout = parsed(covers[i].text);
    uint64_t copies = 0;
    TileError error = {0};
    CHECK(tileLayoutCovers(&layout, covers[i].shape, 2, &copies, &error), "%s: %s", covers[i].text, error.text);
    CHECK(copies == covers[i].copies, "%s: %" PRIu64 " copies", covers[i].text, copies);
  }
}

static const struct {
  const char *text;
  int64_t shape[2];
  uint32_t rank;
  const char *message;
} misses[] = {
    {"lane [8:d0]", {4, 1}, 2, "the layout reaches coordinate 7 of axis 0, which has size 4"},
    {"lane [8:d0]", {16, 1}, 2, "the layout ends at coordinate 7 of axis 0, which has size 16"},
    {"lane [8:d0*2]", {16, 1}, 2, "the layout ends at coordinate 14 of axis 0, which has size 16"},
    {"lane [8:d0, 8:d1]", {8, 0}, 1, "the layout moves along axis 1, but the shape has rank 1"},
    {"lane [4:d0, 4:d0]", {4, 4}, 2, "the layout ends at coordinate 0 of axis 1, which has size 4"},
    {"reg [2:d0+d0*4]", {6, 1}, 2, "the layout skips some of the 6 coordinates of axis 0"},
    {"lane [4:d0+d1]", {4, 4}, 2, "the layout holds only 1 of every 4 elements of the shape"},
    {"reg [3:d0*8], lane [4:d0]", {20, 1}, 2, "3 steps of 8 along axis 0 do not fill its size 20"},
    {"lane [4:d0]", {4, 0}, 2, "axis 1 has size 0"},
};

static void testMisses(void) {
  for (size_t i = 0; i < sizeof misses / sizeof misses[0]; ++i) {
    TileLayout layout = parsed(misses[i].text);
    TileError error = {0};
    CHECK(!tileLayoutCovers(&layout, misses[i].shape, misses[i].rank, NULL, &error), "%s covers", misses[i].text);
    CHECK(strstr(error.text, misses[i].message), "%s: got '%s', wanted '%s'", misses[i].text, error.text,
          misses[i].message);
  }
}

// Coverage, extent and rank by enumeration of random layouts.
static void countElements(const TileLayout *layout, uint32_t *count, TileLayoutPoint *largest) {
  TileLayoutPoint index = {{0}};
  do {
    TileLayoutPoint c = tileLayoutApply(layout, index);
    ++count[(c.at[0] * 128 + c.at[1]) * 128 + c.at[2]];
    for (uint32_t axis = 0; axis < 3; ++axis)
      largest->at[axis] = c.at[axis] > largest->at[axis] ? c.at[axis] : largest->at[axis];
  } while (nextIndex(layout, &index));
}

static void testAgainstEnumeration(void) {
  static uint32_t count[128 * 128 * 128];
  uint64_t seed = 7;
  int covering = 0;
  for (int trial = 0; trial < 300; ++trial) {
    TileLayout layout = randomLayout(&seed, trial % 2 ? 3 : 9);
    TileLayoutPoint largest = {{0}};
    memset(count, 0, sizeof count);
    countElements(&layout, count, &largest);
    int64_t shape[3];
    bool equal = true;
    for (uint32_t axis = 0; axis < 3; ++axis) {
      shape[axis] = (int64_t)tileLayoutExtent(&layout, axis);
      CHECK(shape[axis] == (int64_t)largest.at[axis] + 1, "extent %" PRId64 " of axis %u, enumerated %u: %s",
            shape[axis], axis, largest.at[axis] + 1, printed(&layout).text);
    }
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j)
        for (int64_t k = 0; k < shape[2]; ++k)
          equal = equal && count[(i * 128 + j) * 128 + k] == count[0] && count[0];
    uint64_t copies = 0;
    bool claimed = tileLayoutCovers(&layout, shape, 3, &copies, NULL);
    CHECK(claimed == equal, "covers: %d, enumerated %d: %s", claimed, equal, printed(&layout).text);
    CHECK(!claimed || copies == count[0], "copies %" PRIu64 ", enumerated %u", copies, count[0]);
    covering += claimed;
  }
  CHECK(covering > 20 && covering < 280, "%d of 300 random layouts cover: the test is not balanced", covering);
}

static void testPadding(void) {
  TileLayout panel = parsed("offset [256:d1, 8:d0] pad 16 every 256"), plain = parsed("offset [256:d1, 8:d0]");
  CHECK(tileLayoutPaddedOffset(&panel, 255) == 255, "first row is where it was");
  CHECK(tileLayoutPaddedOffset(&panel, 256 * 3 + 5) == 272 * 3 + 5, "row 3 begins at 3 pitches of 272");
  CHECK(tileLayoutPaddedSize(&panel) == 272 * 7 + 256, "7 pitches and a last row, not %" PRIu64,
        tileLayoutPaddedSize(&panel));
  CHECK(tileLayoutPaddedSize(&plain) == 2048, "no padding");
  CHECK(!tileLayoutEquals(&panel, &plain), "padding is part of equality");
}

static void testDense(void) {
  int64_t shape[] = {96, 64, 4};
  uint32_t columnFirst[] = {0, 1, 2};
  TileLayout layout;
  TileError error = {0};
  CHECK(tileLayoutDense(shape, 3, NULL, &layout, &error), "%s", error.text);
  CHECK(!strcmp(printed(&layout).text, "offset [4:d2, 64:d1, 32:d0, 3:d0*32]"), "%s", printed(&layout).text);
  CHECK(!tileLayoutDense(shape, 3, columnFirst, &layout, &error), "an odd factor in the middle is not linear");
  CHECK(strstr(error.text, "an odd factor of offset must be its last mode"), "%s", error.text);
  CHECK(tileLayoutDense(shape + 1, 2, columnFirst, &layout, &error), "%s", error.text);
  CHECK(!strcmp(printed(&layout).text, "offset [64:d0, 4:d1]"), "%s", printed(&layout).text);
  CHECK(tileLayoutDense(shape, 0, NULL, &layout, &error), "rank 0");
  CHECK(!strcmp(printed(&layout).text, "offset []"), "%s", printed(&layout).text);
}

int main(void) {
  testLaneMaps();
  testSwizzle();
  testCovers();
  testMisses();
  testAgainstEnumeration();
  testPadding();
  testDense();
  return checkResult(20000);
}
