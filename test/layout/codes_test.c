// Orders of codes in words: against a naive packer's places, and by their laws (one to one, runs put together again).
#include "lib/layout/codes.h"

#include "lib/layout/algebra.h"
#include "test/layout/layouts.h"

static void expectText(const TileLayout *layout, const char *wanted) {
  CHECK(!strcmp(printed(layout).text, wanted), "got %s, wanted %s", printed(layout).text, wanted);
}

// Byte j of a period has elements j, j + period / perWord, …, lowest bits first.
static void testApart(void) {
  for (uint32_t perWord = 2; perWord <= 8; perWord *= 2)
    for (uint64_t period = perWord; period <= 512; period *= 2) {
      TileLayout order, inverse;
      TileError error;
      int64_t size = (int64_t)period;
      CHECK(tileLayoutOfCodesApart(perWord, period, &order, &error), "%s", error.text);
      CHECK(tileLayoutCovers(&order, &size, 1, NULL, &error), "%s", error.text);
      CHECK(tileLayoutRightInverse(&order, &size, 1, &inverse, &error), "%s", error.text);
      for (uint32_t place = 0; place < period; ++place) {
        uint32_t element = tileLayoutApply(&order, (TileLayoutPoint){{place}}).at[0];
        CHECK(element == place % perWord * (period / perWord) + place / perWord, "place %u has %u", place, element);
        CHECK(tileLayoutApply(&inverse, (TileLayoutPoint){{element}}).at[0] == place, "%u is not back", element);
      }
    }
  TileLayout order;
  TileError error;
  CHECK(tileLayoutOfCodesApart(2, 128, &order, &error), "%s", error.text);
  expectText(&order, "offset [2:d0*64, 64:d0]");
  CHECK(!tileLayoutOfCodesApart(3, 128, &order, &error), "three codes in a word");
  CHECK(!tileLayoutOfCodesApart(2, 48, &order, &error), "48 is no power of two");
  CHECK(!tileLayoutOfCodesApart(8, 4, &order, &error), "fewer codes than a word has");
}

static void testInterleave(void) {
  TileLayout order;
  TileError error;
  CHECK(tileLayoutOfInterleave(32, 16, 4, &order, &error), "%s", error.text);
  expectText(&order, "offset [4:d0*2, 2:d0]");
  for (uint32_t bits = 1; bits <= 8; bits *= 2) // element t stands at bit (t mod G) · 16 + t / G · bits of the word
    for (uint32_t place = 0; place < 32 / bits; ++place) {
      CHECK(tileLayoutOfInterleave(32, 16, bits, &order, &error), "%s", error.text);
      uint32_t t = tileLayoutApply(&order, (TileLayoutPoint){{place}}).at[0];
      CHECK(place * bits == t % 2 * 16 + t / 2 * bits, "place %u has %u", place, t);
    }
  CHECK(!tileLayoutOfInterleave(32, 16, 16, &order, &error), "codes as wide as elements");
}

static void testRuns(void) {
  TileLayout order;
  TileError error;
  TileLayoutRun runs[8];
  CHECK(tileLayoutOfCodesApart(2, 128, &order, &error), "%s", error.text);
  CHECK(tileLayoutRunsOfOrder(&order, 1, runs, 8) == 2, "two runs");
  CHECK(runs[0].element == 6 && runs[1].place == 1 && runs[1].element == 0 && runs[1].bits == 6, "their bits");
  order = parsed("offset [8:d0]"); // as stored: one run, cut where words begin
  CHECK(tileLayoutRunsOfOrder(&order, 1, runs, 8) == 2 && runs[1].element == 1 && runs[1].bits == 2, "cut");
  CHECK(tileLayoutRunsOfOrder(&order, 1, runs, 1) == 0, "no room");
  order = parsed("offset [2:d0+d0*2, 2:d0]");
  CHECK(tileLayoutRunsOfOrder(&order, 1, runs, 8) == 0, "no permutation of bits");
  order = parsed("offset [3:d0]");
  CHECK(tileLayoutRunsOfOrder(&order, 1, runs, 8) == 0, "an odd factor");
}

int main(void) {
  testApart();
  testInterleave();
  testRuns();
  return checkResult(100);
}
