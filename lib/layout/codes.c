// Orders of codes that share words. See codes.h.
#include "lib/layout/codes.h"

#include "lib/support/integer.h"

bool tileLayoutOfCodesApart(uint32_t perWord, uint64_t period, TileLayout *order, TileError *error) {
  *order = tileLayoutEmpty(TileLayoutMemory);
  if (!tessera_is_power_of_two(perWord) || !tessera_is_power_of_two((int64_t)period) || perWord > period)
    return tileErrorSet(error, 0, 0, "a period of %llu codes, %u in a word: both must be powers of two",
                        (unsigned long long)period, perWord);
  return tileLayoutAppendWalk(order, TileLayoutOffset, perWord, 0, period / perWord, error) &&
         tileLayoutAppendWalk(order, TileLayoutOffset, period / perWord, 0, 1, error);
}

bool tileLayoutOfInterleave(uint32_t wordBits, uint32_t elementBits, uint32_t codeBits, TileLayout *order,
                            TileError *error) {
  *order = tileLayoutEmpty(TileLayoutMemory);
  if (!tessera_is_power_of_two(wordBits) || !tessera_is_power_of_two(elementBits) ||
      !tessera_is_power_of_two(codeBits) || codeBits >= elementBits || elementBits > wordBits)
    return tileErrorSet(error, 0, 0,
                        "codes of %u bits for elements of %u in words of %u: expected growing powers of two", codeBits,
                        elementBits, wordBits);
  uint32_t together = wordBits / elementBits, apart = elementBits / codeBits;
  return tileLayoutAppendWalk(order, TileLayoutOffset, apart, 0, together, error) &&
         tileLayoutAppendWalk(order, TileLayoutOffset, together, 0, 1, error);
}

uint32_t tileLayoutRunsOfOrder(const TileLayout *order, uint32_t cut, TileLayoutRun *runs, uint32_t capacity) {
  uint32_t count = 0, bits = order->bits[TileLayoutOffset];
  uint64_t seen = 0;
  if (order->repeatCount || order->padAmount)
    return 0;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    uint32_t step = tileLayoutStepOf(order, TileLayoutOffset, bit).at[0];
    if (!step || (step & (step - 1)) || (seen & step))
      return 0;
    seen |= step;
    uint32_t element = (uint32_t)__builtin_ctz(step);
    TileLayoutRun *last = count ? &runs[count - 1] : NULL;
    if (last && bit != cut && element == last->element + last->bits) {
      ++last->bits;
      continue;
    }
    if (count == capacity)
      return 0;
    runs[count++] = (TileLayoutRun){.place = bit, .element = element, .bits = 1};
  }
  return seen + 1 == (uint64_t)1 << bits ? count : 0;
}
