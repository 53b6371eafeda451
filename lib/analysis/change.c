// Conversions of layouts: their plans, and what is done where shared memory has no room for the whole. See scratch.h.
#include "lib/analysis/scratch.h"

#include "dialects/tile/questions.h"
#include "lib/machine/machine.h"

enum { ShuffleBits = 32, VectorBytes = 16 };

TileChange tileChangeOf(MlirType from, MlirType to) {
  TileChange change = {.element = tileTypeGetElement(from),
                       .before = tileLayoutAttrGetLayout(tileTypeGetLayout(from)),
                       .after = tileLayoutAttrGetLayout(tileTypeGetLayout(to)),
                       .rank = (uint32_t)tileTypeGetRank(from)};
  for (uint32_t axis = 0; axis < change.rank; ++axis)
    change.sizes[axis] = tileTypeGetSize(from, axis);
  return change;
}

bool tileChangePlan(const TileExchange *exchange, const TileChange *change, TileConversion *plan) {
  int64_t banks = 32, bankBytes = 4;
  unsigned width = tileElementWidth(change->element);
  TileError error;
  tileMachineGetInteger(exchange->machine, "shared.banks", &banks);
  tileMachineGetInteger(exchange->machine, "shared.bank.bytes", &bankBytes);
  TileConversionTarget target = {
      .elementBits = mlirTypeIsATF32(change->element) ? 32
                     : width                          ? width
                                                      : 64,
      .shuffleBits = ShuffleBits,
      .shared = {.vectorBytes = VectorBytes, .banks = (uint32_t)banks, .bankBytes = (uint32_t)bankBytes}};
  return tileConversionPlan(&change->before, &change->after, change->sizes, change->rank, &target, plan, &error);
}

//===--- halves ---------------------------------------------------------------------------------------===//

// A bit of a layout's registers that alone decides the bit `place` of one axis.
typedef struct HalvingBit {
  uint32_t reg, axis, place;
} HalvingBit;

static bool isAloneAt(const TileLayout *layout, HalvingBit bit) {
  uint32_t moves = 0;
  for (uint32_t i = 0; i < tileLayoutBitCount(layout); ++i)
    moves += layout->steps[i].at[bit.axis] >> bit.place & 1;
  return moves == 1;
}

static bool readBit(const TileLayout *layout, uint32_t reg, uint32_t rank, HalvingBit *bit) {
  uint32_t axes = 0;
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
    uint32_t step = layout->steps[reg].at[axis];
    if (!step)
      continue;
    *bit = (HalvingBit){reg, axis, (uint32_t)__builtin_ctz(step)};
    if (++axes > 1 || axis >= rank || step & (step - 1))
      return false;
  }
  return axes == 1 && isAloneAt(layout, *bit);
}

// The layout without the bit, on an axis of half as many coordinates.
static bool without(const TileLayout *layout, HalvingBit bit, TileLayout *rest) {
  TileError error;
  uint32_t at = 0, below = (1u << bit.place) - 1;
  *rest = tileLayoutEmpty(layout->kind);
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t i = 0; i < layout->bits[dim]; ++i, ++at) {
      TileLayoutPoint step = layout->steps[at];
      step.at[bit.axis] = (step.at[bit.axis] >> 1 & ~below) | (step.at[bit.axis] & below);
      if ((dim != TileLayoutReg || i != bit.reg) && !tileLayoutAppendBit(rest, dim, step, &error))
        return false;
    }
  return true;
}

bool tileChangeHalve(const TileChange *change, TileChangeHalves *halves) {
  HalvingBit before, after;
  if (change->before.repeatCount || change->after.repeatCount)
    return false;
  for (uint32_t i = change->before.bits[TileLayoutReg]; i-- > 0;)
    for (uint32_t j = change->after.bits[TileLayoutReg]; j-- > 0;) {
      if (!readBit(&change->before, i, change->rank, &before) || !readBit(&change->after, j, change->rank, &after) ||
          before.axis != after.axis || before.place != after.place)
        continue;
      *halves = (TileChangeHalves){before.reg, after.reg, *change};
      halves->half.sizes[before.axis] = (int64_t)tileLayoutExtent(&change->before, before.axis) / 2;
      return without(&change->before, before, &halves->half.before) &&
             without(&change->after, after, &halves->half.after);
    }
  return false;
}
