// The text form: canonical texts, round trips of random layouts against an independent evaluator, and every message.
#include "test/layout/layouts.h"

static const char *const canonical[][2] = {
    {"reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]", NULL},
    {"reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]", NULL},
    {"reg [2:d0*8, 4:d0*16], lane [4:_, 8:d0], warp [2:d0*64, 2:_]",
     "reg [8:d0*8], lane [4:_, 8:d0], warp [2:d0*64, 2:_]"},
    {"offset [64:d1, 8:d0+d1*8, 16:d0*8]", NULL},
    {"reg [8:d1, 2:d0*16, 3:d0*32], lane [8:d1*8, 4:d0], warp [4:d0*4]", NULL},
    {"offset [256:d1, 8:d0] pad 16 every 256", NULL},
    {"offset [32:d1, 32:d0, 3:d1*32, 3:d0*32]", NULL},
    {"reg [2:d0, 2:d0*2, 4:d0*4]", "reg [16:d0]"},
    {"reg [4:d0, 4:d0]", NULL},
    {"reg [2:d1*8+d0]", "reg [2:d0+d1*8]"},
    {"reg [2:d0*4+d0*1]", "reg [2:d0+d0*4]"},
    {"reg [2:d0+d0*2, 2:d0*2+d0*4]", "reg [4:d0+d0*2]"},
    {"reg [6:d0*16]", "reg [2:d0*16, 3:d0*32]"},
    {"reg [3:d0, 5:d0*3]", "reg [15:d0]"},
    {"reg [3:_, 3:_]", "reg [9:_]"},
    {"reg [2:_, 2:_, 6:_]", "reg [8:_, 3:_]"},
    {"warp [2:d0], lane [4:d1], reg [2:d2]", "reg [2:d2], lane [4:d1], warp [2:d0]"},
    {"reg [], lane [4:d0], block []", "lane [4:d0]"},
    {"lane [1:d0, 4:d0, 1:_]", "lane [4:d0]"},
    {"lane []", "reg []"},
    {"offset [1:_]", "offset []"},
    {"reg[2:d1,2:d0*8],lane[4:d1*2,8:d0]", "reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]"},
    {" reg\n[ 2 : d1 ,\t2:d0 * 8 ] ", "reg [2:d1, 2:d0*8]"},
    {"d0 [4:d1, 2:d0], d1 [8:d1*4]", NULL},
};

static void testCanonical(void) {
  for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; ++i) {
    const char *wanted = canonical[i][1] ? canonical[i][1] : canonical[i][0];
    TileLayout layout = parsed(canonical[i][0]), again = parsed(wanted);
    CHECK(!strcmp(printed(&layout).text, wanted), "%s prints as %s", canonical[i][0], printed(&layout).text);
    CHECK(tileLayoutEquals(&layout, &again), "%s is not %s", canonical[i][0], wanted);
  }
}

// Equal texts if and only if equal maps on every index (and equal sizes).
static bool sameMap(const TileLayout *a, const TileLayout *b) {
  bool same = a->kind == b->kind;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    same = same && tileLayoutDimSize(a, dim) == tileLayoutDimSize(b, dim);
  TileLayoutPoint index = {{0}};
  do
    same = same && samePoint(tileLayoutApply(a, index), tileLayoutApply(b, index));
  while (same && nextIndex(a, &index));
  return same;
}

static void testRandom(void) {
  uint64_t seed = 42;
  int equal = 0;
  TileLayout previous = tileLayoutEmpty(TileLayoutValues);
  for (int trial = 0; trial < 3000; ++trial) {
    TileLayout layout = randomLayout(&seed, trial % 3 ? 3 : 10), again;
    Text text = printed(&layout);
    again = parsed(text.text);
    CHECK(tileLayoutEquals(&layout, &again), "%s reads back as %s", text.text, printed(&again).text);
    CHECK(!strcmp(printed(&again).text, text.text), "%s prints as %s", text.text, printed(&again).text);
    TileLayoutPoint index = {{0}};
    do
      CHECK(samePoint(tileLayoutApply(&layout, index), evaluate(text.text, layout.kind, index)), "%s at %u, %u, %u, %u",
            text.text, index.at[0], index.at[1], index.at[2], index.at[3]);
    while (nextIndex(&layout, &index));
    bool same = sameMap(&layout, &previous);
    CHECK(same == !strcmp(text.text, printed(&previous).text), "equal maps, unequal texts: %s", text.text);
    equal += same;
    previous = layout;
  }
  CHECK(equal > 5, "only %d pairs of equal random layouts", equal);
}

static const struct {
  const char *text;
  size_t column;
  const char *message;
} malformed[] = {
    {"", 1, "expected reg, lane, warp, block or offset, found the end of the layout"},
    {"rg [2:d0]", 1, "expected reg, lane, warp, block or offset, found 'rg'"},
    {"d0 [2:d0]", 1, "expected reg, lane, warp, block or offset, found 'd0'"},
    {"reg 2:d0", 5, "expected '[', found '2'"},
    {"reg", 4, "expected '[', found the end of the layout"},
    {"reg [2:d0", 10, "expected ',' or ']', found the end of the layout"},
    {"reg [d0]", 6, "expected a mode such as 8:d0, found 'd0'"},
    {"reg [2:d0,]", 11, "expected a mode such as 8:d0, found ']'"},
    {"reg [2 d0]", 8, "expected ':', found 'd0'"},
    {"reg [2:x]", 8, "expected an axis such as d0, found 'x'"},
    {"reg [2:d]", 8, "expected an axis such as d0, found 'd'"},
    {"reg [2:d8]", 8, "axis d8 is out of range: a layout has axes d0 to d7"},
    {"reg [2:d0*]", 11, "expected a stride, found ']'"},
    {"reg [2:d0*0]", 11, "a stride of 0 moves nowhere; write _ for copies"},
    {"reg [2:d0^d1]", 10, "expected ',' or ']', found '^'"},
    {"reg [2:d0+]", 11, "expected an axis such as d0, found ']'"},
    {"reg [2:d0+_]", 11, "expected an axis such as d0, found '_'"},
    {"reg [2:d0+d0]", 11, "the same term twice cancels out (+ is XOR)"},
    {"reg [0:d0]", 6, "a mode has at least 1 position, not 0"},
    {"reg [4:d0*3]", 8, "stride 3 is not a power of two; XOR several terms, as in d0+d0*2"},
    {"lane [3:d0]", 7, "only reg and offset may have a size that is not a power of two, lane got a factor 3"},
    {"warp [4:d1], block [12:d0]", 21,
     "only reg and offset may have a size that is not a power of two, block got a factor 3"},
    {"reg [3:d0, 2:d1]", 6, "a mode with an odd factor must be the last of its dimension"},
    {"reg [2:d1, 6:d0+d1*2]", 12, "size 6 has an odd factor, which is added: it takes one term, without +"},
    {"reg [4:d1, 3:d0*2], lane [4:d0]", 12,
     "an odd factor must be outermost on its axis: the stride along d0 is 2, what lies inside it needs 4"},
    {"offset [3:d0, 3:d0]", 9, "an odd factor must be outermost on its axis: the stride along d0 is 1"},
    {"reg [2:d0], reg [2:d1]", 13, "reg is given twice"},
    {"reg [2:d0], offset [2:d1]", 13, "offset cannot stand beside reg"},
    {"offset [2:d0], lane [2:d1]", 16, "lane cannot stand beside offset"},
    {"reg [2:d0] lane [2:d1]", 12, "expected ',' or 'pad', found 'lane'"},
    {"reg [2:d0],", 12, "expected reg, lane, warp, block or offset, found the end of the layout"},
    {"reg [2:d0] pad 1 every 1", 12, "only offset can be padded"},
    {"offset [8:d0] pad", 18, "expected the elements to pad by, found the end of the layout"},
    {"offset [8:d0] pad 2 4", 21, "expected 'every', found '4'"},
    {"offset [8:d0] pad 2 every", 26, "expected a number of elements, found the end of the layout"},
    {"offset [8:d0] pad 0 every 4", 15, "pad 0 every 4 has no effect or is too large: there are 8 elements"},
    {"offset [8:d0] pad 2 every 8", 15, "pad 2 every 8 has no effect or is too large: there are 8 elements"},
    {"offset [8:d0] pad 2 every 4 x", 29, "expected the end of the layout, found 'x'"},
    {"reg [99999999999:d0]", 6, "number is larger than 2^32"},
    {"reg [4294967296:d0]", 17, "coordinates must stay below 2^31"},
    {"reg [4294967296:_, 2:_]", 20, "reg would have more than 2^32 positions"},
    {"reg [4294967296:_], lane [4294967296:_], warp [2:_]", 48, "a layout has at most 64 bits in all its dimensions"},
    {"reg [2:d0*2147483648]", 8, "coordinates must stay below 2^31"},
    {"reg [2:d0\x01]", 10, "expected ',' or ']', found byte 0x01"},
};

static void testMalformed(void) {
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; ++i) {
    TileLayout layout;
    TileError error = {0};
    const char *text = malformed[i].text;
    CHECK(!tileLayoutParse(text, strlen(text), &layout, &error), "'%s' was accepted", text);
    CHECK(error.column == malformed[i].column && strstr(error.text, malformed[i].message),
          "'%s': column %zu: %s; wanted column %zu: %s", text, error.column, error.text, malformed[i].column,
          malformed[i].message);
  }
}

// Any cut or change of a good text is read or refused, never worse (run under sanitizers to see more).
static void testMutations(void) {
  const char *text = "offset [64:d1, 8:d0+d1*8, 16:d0*8, 3:d0*128] pad 16 every 256";
  const char letters[] = "d0123456789*+,:[]_ padevryoffset\0\xff";
  uint64_t seed = 99;
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    char mutant[80];
    size_t length = strlen(text);
    memcpy(mutant, text, length + 1);
    for (uint64_t edits = checkRandom(&seed) % 3 + 1; edits > 0; --edits)
      mutant[checkRandom(&seed) % length] = letters[checkRandom(&seed) % sizeof letters];
    if (checkRandom(&seed) % 4 == 0)
      length = checkRandom(&seed) % length;
    TileLayout layout;
    TileError error = {0};
    bool good = tileLayoutParseAnyKind(mutant, length, &layout, &error);
    accepted += good;
    if (good) {
      TileLayout again = parsed(printed(&layout).text);
      CHECK(tileLayoutEquals(&layout, &again), "%.*s", (int)length, mutant);
    } else {
      CHECK(error.column >= 1 && error.column <= length + 1 && error.text[0], "no column in '%.*s'", (int)length,
            mutant);
    }
  }
  CHECK(accepted > 100, "%d mutants accepted", accepted);
}

static void testShortBuffer(void) {
  TileLayout layout = parsed("reg [2:d1, 2:d0*8]");
  char buffer[8] = "xxxxxxx";
  CHECK(tileLayoutPrint(&layout, buffer, sizeof buffer) == 18, "the whole length");
  CHECK(!strcmp(buffer, "reg [2:"), "cut and terminated: %s", buffer);
  CHECK(tileLayoutPrint(&layout, NULL, 0) == 18, "length only");
}

// 30 bits that each XOR 24 terms: within the limits of a layout, but no text that anyone could read.
static void testTooLong(void) {
  char text[40 * 24 * 16] = "reg [", *end = text + strlen(text);
  for (int bit = 0; bit < 30; ++bit) {
    end += sprintf(end, bit ? ", 2:" : "2:");
    for (int term = 0; term < 24; ++term)
      end += sprintf(end, "%sd%d*%d", term ? "+" : "", term % 8, 1 << (term / 8 + bit % 2 * 8));
  }
  sprintf(end, "]");
  TileLayout layout;
  TileError error = {0};
  CHECK(!tileLayoutParse(text, strlen(text), &layout, &error), "a text of %zu characters", strlen(text));
  CHECK(error.column == 1 && !strcmp(error.text, "the layout's text would have 2048 characters or more"), "%s",
        error.text);
}

int main(void) {
  testCanonical();
  testRandom();
  testMalformed();
  testMutations();
  testShortBuffer();
  testTooLong();
  return checkResult(30000);
}
