// Layout algebra: the worked examples of the Tile dialect by text, then the laws of each operation on random layouts,
// checked index by index.
#include "test/layout/layouts.h"

static void expectText(const TileLayout *layout, const char *wanted) {
  CHECK(!strcmp(printed(layout).text, wanted), "got %s, wanted %s", printed(layout).text, wanted);
}

#define ACCUMULATOR "reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]"
#define ATOM "reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]"

static void testProductAndDivision(void) {
  TileLayout atom = parsed(ATOM), whole = parsed(ACCUMULATOR), tiling, product;
  TileError error = {0};
  CHECK(tileLayoutDivide(&whole, &atom, &tiling, &error), "%s", error.text);
  expectText(&tiling, "reg [8:d1, 4:d0], warp [2:d0*4, 2:d1*8]");
  CHECK(tileLayoutProduct(&atom, &tiling, &product, &error), "%s", error.text);
  expectText(&product, ACCUMULATOR);
  int64_t shape[] = {96, 24}, uneven[] = {100, 24};
  uint32_t rowsFirst[] = {0, 1};
  CHECK(tileLayoutTile(&atom, shape, 2, NULL, &product, &error), "%s", error.text);
  expectText(&product, "reg [2:d1, 4:d0*8, 3:d1*8, 3:d0*32], lane [4:d1*2, 8:d0]");
  CHECK(tileLayoutCovers(&product, shape, 2, NULL, &error), "%s", error.text);
  CHECK(tileLayoutTile(&atom, shape, 2, rowsFirst, &product, &error), "%s", error.text);
  expectText(&product, "reg [2:d1, 4:d0*8, 3:d0*32, 3:d1*8], lane [4:d1*2, 8:d0]");
  CHECK(!tileLayoutTile(&atom, uneven, 2, NULL, &product, &error), "100 is not a multiple of 16");
  CHECK(!strcmp(error.text, "size 100 of axis 0 is not a multiple of the tile's 16"), "%s", error.text);
}

static const struct {
  const char *whole, *tile, *message;
} indivisible[] = {
    {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", "reg [2:d0, 2:d0*8], lane [4:d1*2, 8:d0]",
     "bit 0 of reg steps by 0 along axis 0, the tile's steps by 1"},
    {"reg [2:d1], lane [4:d1*2, 8:d0]", ATOM, "reg has 2^1 positions, the tile needs 2^2"},
    {"reg [2:d1, 2:d0*8, 2:d0*4], lane [4:d1*2, 8:d0]", ATOM,
     "a step of 4 along axis 0 does not move by whole tiles of 16"},
    {"offset [4:d0]", "reg [4:d0]", "a division needs two layouts of values or two of memory"},
    {"reg [4:d0]", "reg [4:d0, 3:d0*4]", "the tile's odd factor 3 is not in the layout"},
};

static void testIndivisible(void) {
  for (size_t i = 0; i < sizeof indivisible / sizeof indivisible[0]; ++i) {
    TileLayout whole = parsed(indivisible[i].whole), tile = parsed(indivisible[i].tile), outer;
    TileError error = {0};
    CHECK(!tileLayoutDivide(&whole, &tile, &outer, &error), "%s is divisible", indivisible[i].whole);
    CHECK(!strcmp(error.text, indivisible[i].message), "got '%s', wanted '%s'", error.text, indivisible[i].message);
  }
  TileLayout three = parsed("reg [3:d0]"), four = parsed("reg [4:d0]"), result;
  TileError error = {0};
  CHECK(!tileLayoutProduct(&three, &four, &result, &error), "3 rows cannot be repeated by bits");
  CHECK(strstr(error.text, "a tile of extent 3 on axis 0 cannot be repeated"), "%s", error.text);
  TileLayout other = parsed("reg [4:d1]");
  CHECK(!tileLayoutProduct(&three, &other, &result, &error), "the odd factor would not be outermost");
  CHECK(strstr(error.text, "an odd factor of reg must be its last mode"), "%s", error.text);
}

static void testAxes(void) {
  TileLayout whole = parsed(ACCUMULATOR), result, odd = parsed("reg [2:d0, 3:d1*4, 3:d2], lane [4:d1]");
  TileError error = {0};
  tileLayoutRemoveAxis(&whole, 1, &result);
  expectText(&result, "reg [8:d0*8], lane [4:_, 8:d0], warp [2:d0*64, 2:_]");
  tileLayoutRemoveAxis(&whole, 0, &result);
  expectText(&result, "reg [2:d0, 8:d0*8], lane [4:d0*2, 8:_], warp [2:_, 2:d0*64]");
  CHECK(tileLayoutInsertAxis(&whole, 1, &result, &error), "%s", error.text);
  expectText(&result, "reg [2:d2, 2:d0*8, 8:d2*8, 4:d0*16], lane [4:d2*2, 8:d0], warp [2:d0*64, 2:d2*64]");
  uint32_t swap[] = {1, 0}, twice[] = {1, 1};
  CHECK(tileLayoutTranspose(&whole, swap, 2, &result, &error), "%s", error.text);
  expectText(&result, "reg [2:d0, 2:d1*8, 8:d0*8, 4:d1*16], lane [4:d0*2, 8:d1], warp [2:d1*64, 2:d0*64]");
  CHECK(!tileLayoutTranspose(&whole, twice, 2, &result, &error), "[1, 1] is not a permutation");
  CHECK(!strcmp(error.text, "the order is not a permutation of 2 axes"), "%s", error.text);
  tileLayoutRemoveAxis(&odd, 1, &result);
  expectText(&result, "reg [2:d0, 3:d1], lane [4:_]");
  TileLayout eight = parsed("reg [2:d7]");
  CHECK(!tileLayoutInsertAxis(&eight, 0, &result, &error), "a ninth axis");
  CHECK(!strcmp(error.text, "a layout has at most 8 axes"), "%s", error.text);
  tileLayoutRestrict(&whole, 1u << TileLayoutLane | 1u << TileLayoutWarp, &result);
  expectText(&result, "lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]");
  TileLayout panel = parsed("offset [256:d1, 8:d0] pad 16 every 256");
  tileLayoutRemoveAxis(&panel, 0, &result);
  expectText(&result, "offset [256:d0]");
}

// Transposing axis order[i] of the coordinates; [2, 0, 1] is not its own inverse, so a mix-up shows.
static void testTransposeByPoint(void) {
  uint64_t seed = 5;
  const uint32_t order[] = {2, 0, 1};
  for (int trial = 0; trial < 200; ++trial) {
    TileLayout layout = randomLayout(&seed, 6), result;
    CHECK(tileLayoutTranspose(&layout, order, 3, &result, NULL), "a permutation");
    TileLayoutPoint index = {{0}};
    do {
      TileLayoutPoint before = tileLayoutApply(&layout, index), after = tileLayoutApply(&result, index);
      for (uint32_t axis = 0; axis < 3; ++axis)
        CHECK(after.at[axis] == before.at[order[axis]], "axis %u", axis);
    } while (nextIndex(&layout, &index));
  }
}

// Which addresses does register r of lane l touch in a swizzled buffer? And does ldmatrix meet conflicts there?
static void testConvertToMemory(void) {
  TileLayout left = parsed("reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]");
  TileLayout shared = parsed("offset [32:d1, 2:d0, 4:d0*2+d1*8, 16:d0*8]"), to;
  int64_t shape[] = {128, 32};
  TileError error = {0};
  CHECK(tileLayoutConvert(&left, &shared, shape, 2, &to, &error), "%s", error.text);
  TileLayoutPoint index = {{0}};
  do {
    TileLayoutPoint address = tileLayoutApply(&to, index);
    CHECK(samePoint(tileLayoutApply(&shared, address), tileLayoutApply(&left, index)), "register %u, lane %u",
          index.at[0], index.at[1]);
  } while (nextIndex(&left, &index));
  CHECK(tileLayoutContiguity(&to, TileLayoutReg, 0) == 2, "a lane reads two f16 at a time");
  // 8 rows x 16 bytes: the banks of the 8 rows of a matrix are all different (each row is 4 banks of 4 bytes).
  uint32_t banks = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    TileLayoutPoint lane = {{0, row * 4}};
    banks |= 1u << tileLayoutApply(&to, lane).at[0] * 2 / 16 % 8;
  }
  CHECK(banks == 0xff, "ldmatrix phases meet in a bank: mask %02x", banks);
}

static void testConvertBetweenValues(void) {
  TileLayout wide = parsed("reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]"), whole = parsed(ACCUMULATOR),
             map;
  int64_t shape[] = {128, 128};
  TileError error = {0};
  CHECK(tileLayoutConvert(&wide, &whole, shape, 2, &map, &error), "%s", error.text);
  TileLayoutPoint index = {{0}};
  do
    CHECK(samePoint(tileLayoutApply(&whole, tileLayoutApply(&map, index)), tileLayoutApply(&wide, index)),
          "wrong thread");
  while (nextIndex(&wide, &index));
  CHECK(tileLayoutConvert(&whole, &whole, shape, 2, &map, &error), "%s", error.text);
  expectText(&map, "reg [128:d0], lane [32:d1], warp [4:d2]");
  int64_t smaller[] = {128, 64};
  CHECK(!tileLayoutConvert(&wide, &whole, smaller, 2, &map, &error), "a shape that neither covers");
  CHECK(!strcmp(error.text, "the layout reaches coordinate 127 of axis 1, which has size 64"), "%s", error.text);
}

static void testInverseByText(void) {
  TileLayout atom = parsed(ATOM), inverse, copies = parsed("reg [2:_, 4:d0]"),
             odd = parsed("reg [8:d1, 3:d0*4], lane [4:d0]");
  int64_t shape[] = {16, 8}, column[] = {4}, rows[] = {12, 8};
  TileError error = {0};
  CHECK(tileLayoutRightInverse(&atom, shape, 2, &inverse, &error), "%s", error.text);
  expectText(&inverse, "d0 [8:d1*4, 2:d0*2], d1 [2:d0, 4:d1]");
  CHECK(tileLayoutRightInverse(&copies, column, 1, &inverse, &error), "%s", error.text);
  expectText(&inverse, "d0 [4:d0*2]");
  CHECK(!tileLayoutLeftInverse(&copies, &inverse, &error), "copies have no left inverse");
  CHECK(!strcmp(error.text, "the layout has no left inverse: elements lie in 2 places"), "%s", error.text);
  CHECK(tileLayoutRightInverse(&odd, rows, 2, &inverse, &error), "%s", error.text);
  expectText(&inverse, "d0 [4:d1, 3:d0*8], d1 [8:d0]");
  TileLayout sparse = parsed("reg [4:d0*2]"), gap = parsed("reg [2:d0, 3:d0*6]");
  CHECK(!tileLayoutRightInverse(&sparse, column, 1, &inverse, &error), "element 1 is nowhere");
  CHECK(tileLayoutLeftInverse(&sparse, &inverse, &error), "%s", error.text);
  expectText(&inverse, "d0 [2:_, 4:d0]");
  CHECK(!tileLayoutLeftInverse(&gap, &inverse, &error), "strides of 6 cannot be inverted by bits");
  CHECK(strstr(error.text, "a stride of 6 along axis 0 leaves a gap"), "%s", error.text);
}

// The laws: layout(right(c)) = c on the whole shape, left(layout(x)) = x on all indices; each exists exactly when it
// can.
static void testInverseLaws(void) {
  uint64_t seed = 11;
  int rights = 0, lefts = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    TileLayout layout = randomLayout(&seed, trial % 2 ? 4 : 8), inverse;
    int64_t shape[3];
    uint64_t copies = 0;
    for (uint32_t axis = 0; axis < 3; ++axis)
      shape[axis] = (int64_t)tileLayoutExtent(&layout, axis);
    bool covers = tileLayoutCovers(&layout, shape, 3, &copies, NULL), right;
    right = tileLayoutRightInverse(&layout, shape, 3, &inverse, NULL);
    CHECK(right == covers, "right inverse %d, covers %d: %s", right, covers, printed(&layout).text);
    TileLayoutPoint c = {{0}};
    for (rights += right; right;) {
      CHECK(samePoint(tileLayoutApply(&layout, tileLayoutApply(&inverse, c)), c), "%s", printed(&layout).text);
      if (!nextIndex(&inverse, &c))
        break;
    }
    bool left = tileLayoutLeftInverse(&layout, &inverse, NULL);
    CHECK(!covers || left == (copies == 1), "left inverse %d, copies %" PRIu64 ": %s", left, copies,
          printed(&layout).text);
    TileLayoutPoint x = {{0}};
    for (lefts += left; left;) {
      CHECK(samePoint(tileLayoutApply(&inverse, tileLayoutApply(&layout, x)), x), "%s", printed(&layout).text);
      if (!nextIndex(&layout, &x))
        break;
    }
  }
  CHECK(rights > 100 && lefts > 100, "only %d right and %d left inverses", rights, lefts);
}

// (outer ∘ inner)(x) = outer(inner(x)), associativity, and (P x) / inner = P.
static void testCompositionLaws(void) {
  uint64_t seed = 13;
  int composed = 0, products = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    TileLayout inner = randomLayout(&seed, 7), outer = randomLayout(&seed, 14), both, third, left, right;
    TileError error = {0};
    bool made = tileLayoutCompose(&outer, &inner, &both, &error);
    CHECK(made || error.text[0], "refused without a reason");
    TileLayoutPoint x = {{0}};
    for (composed += made; made;) {
      CHECK(samePoint(tileLayoutApply(&both, x), tileLayoutApply(&outer, tileLayoutApply(&inner, x))), "composition");
      if (!nextIndex(&inner, &x))
        break;
    }
    third = tileLayoutEmpty(TileLayoutCoordinates);
    for (uint32_t dim = 0; dim < 3; ++dim)
      CHECK(tileLayoutAppendWalk(&third, dim, 128, (int32_t)((dim + 1) % 3), 2, &error), "%s", error.text);
    TileLayout late;
    if (made && tileLayoutCompose(&third, &both, &left, &error) && tileLayoutCompose(&third, &outer, &late, &error) &&
        tileLayoutCompose(&late, &inner, &right, &error))
      CHECK(tileLayoutEquals(&left, &right), "not associative: %s and %s", printed(&left).text, printed(&right).text);
    outer.kind = inner.kind;
    TileLayout product, quotient;
    if (outer.kind == TileLayoutMemory && tileLayoutBitCount(&outer) != outer.bits[0])
      continue;
    if (tileLayoutProduct(&inner, &outer, &product, NULL) && ++products)
      CHECK(tileLayoutDivide(&product, &inner, &quotient, &error) && tileLayoutEquals(&quotient, &outer), "%s: %s",
            error.text, printed(&product).text);
  }
  CHECK(composed > 100 && products > 300, "only %d compositions and %d products", composed, products);
}

static void testComposeMessages(void) {
  TileLayout outer = parsed("offset [4:d0, 3:d0*4]"), result;
  TileError error = {0};
  TileLayout far = parsed("reg [16:d0]"), bits = parsed("reg [8:d0]"), odd = parsed("reg [3:d0]"),
             good = parsed("reg [3:d0*4]");
  CHECK(!tileLayoutCompose(&outer, &bits, &result, &error), "bits in an odd factor");
  CHECK(strstr(error.text, "index 4 of offset lies in an odd factor"), "%s", error.text);
  CHECK(!tileLayoutCompose(&outer, &far, &result, &error), "beyond the end");
  TileLayout beyond = parsed("reg [2:d0*16]"), absent = parsed("reg [2:d5]");
  CHECK(!tileLayoutCompose(&outer, &beyond, &result, &error), "beyond the end");
  CHECK(strstr(error.text, "the inner layout reaches index 16 of dimension 0 (offset), which has 12 positions"), "%s",
        error.text);
  CHECK(!tileLayoutCompose(&outer, &absent, &result, &error), "no dimension 5");
  CHECK(strstr(error.text, "dimension 5 (absent), which has 1 positions"), "%s", error.text);
  CHECK(!tileLayoutCompose(&outer, &odd, &result, &error), "3 steps of 1 through bits");
  CHECK(strstr(error.text, "3 steps of 1 through dimension 0 of the outer layout do not meet an odd factor"), "%s",
        error.text);
  CHECK(tileLayoutCompose(&outer, &good, &result, &error), "%s", error.text);
  expectText(&result, "reg [3:d0*4]");
}

static void testReshape(void) {
  TileLayout layout = parsed("reg [8:d1, 3:d0*32], lane [32:d0]"), result, back;
  int64_t from[] = {96, 8}, to[] = {24, 32}, wrong[] = {24, 16};
  TileError error = {0};
  CHECK(tileLayoutReshape(&layout, from, 2, to, 2, &result, &error), "%s", error.text);
  TileLayoutPoint index = {{0}};
  do {
    TileLayoutPoint a = tileLayoutApply(&layout, index), b = tileLayoutApply(&result, index);
    CHECK(a.at[0] * 8 + a.at[1] == b.at[0] * 32 + b.at[1], "(%u, %u) became (%u, %u)", a.at[0], a.at[1], b.at[0],
          b.at[1]);
  } while (nextIndex(&layout, &index));
  CHECK(tileLayoutReshape(&result, to, 2, from, 2, &back, &error) && tileLayoutEquals(&back, &layout), "%s",
        error.text);
  CHECK(!tileLayoutReshape(&layout, from, 2, wrong, 2, &result, &error), "fewer elements");
  CHECK(!strcmp(error.text, "a reshape keeps the number of elements: 768 are not 384"), "%s", error.text);
}

int main(void) {
  testProductAndDivision();
  testIndivisible();
  testAxes();
  testTransposeByPoint();
  testConvertToMemory();
  testConvertBetweenValues();
  testInverseByText();
  testInverseLaws();
  testCompositionLaws();
  testComposeMessages();
  testReshape();
  return checkResult(50000);
}
