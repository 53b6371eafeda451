// Tiles of 16-bit elements on their way from the fragments of a product to memory, by ldmatrix. See exchange_memory.h.
//
// Four neighbouring lanes hold 8 neighbours of a row, a word each, and next to each word those of further columns:
//
//   lane 0: 0 1   8 9  16 17  24 25        lane 0: 0 1 2 3 4 5 6 7
//   lane 1: 2 3  10 11 18 19  26 27   →    lane 1: 8 9 10 11 12 13 14 15
//   …                                      …
//
// A thread stores its words of a row side by side, 16 bytes at once. These 16 bytes are a row of a matrix for ldmatrix,
// which gives the word of each of the four lanes to one lane. This takes a quarter of the stores of words, and elements
// stay in their warp. stmatrix serves as well from the other side, so that machines which have it stay as they are.
#include "lib/transforms/pipeline/exchange_memory.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/accesses.h"
#include "lib/ir/op_query.h"
#include "lib/layout/algebra.h"
#include "lib/machine/machine.h"

#include <string.h>

enum { ElementBytes = 2, RowElements = 8, QuadBits = 2, FirstLaneStep = 2, FirstFarStep = 8 };

// The store to memory that alone takes the converted tile, by 16 bytes; null: something else does.
static MlirOperation storeOf(MlirOperation convert) {
  MlirValue tile = tileConvertLayoutOpGetResult(convert);
  MlirOpOperand use = mlirValueGetFirstUse(tile);
  MlirOperation none = {NULL}, store = tileHasOneUse(tile) ? mlirOpOperandGetOwner(use) : none;
  bool isStore = !mlirOperationIsNull(store) && tileStoreOpIsA(store) &&
                 mlirAttributeIsNull(tileStoreOpGetCombine(store)) &&
                 tileTypeIsAView(tileStoreOpGetDestinationType(store));
  return isStore ? store : none;
}

// The register of the layout that alone moves by `step` elements along the axis; -1: there is none.
static int32_t registerOf(const TileLayout *layout, intptr_t axis, uint32_t step) {
  TileLayoutPoint wanted = {{0}};
  wanted.at[axis] = step;
  for (uint32_t i = 0; i < layout->bits[TileLayoutReg]; ++i)
    if (!memcmp(&layout->steps[i], &wanted, sizeof wanted))
      return (int32_t)i;
  return -1;
}

static bool isLaneStep(const TileLayout *layout, intptr_t axis, uint32_t bit) {
  TileLayoutPoint wanted = {{0}};
  wanted.at[axis] = (uint32_t)FirstLaneStep << bit;
  return !memcmp(&layout->steps[layout->bits[TileLayoutReg] + bit], &wanted, sizeof wanted);
}

// The fragment's layout with the columns of its lanes in registers and those of two registers in its lanes.
static bool turnQuads(const TileLayout *fragment, intptr_t axis, TileLayout *turned) {
  uint32_t registers = fragment->bits[TileLayoutReg];
  if (fragment->repeatCount || fragment->bits[TileLayoutLane] < QuadBits || registerOf(fragment, axis, 1) != 0)
    return false;
  *turned = *fragment;
  for (uint32_t bit = 0; bit < QuadBits; ++bit) {
    int32_t far = registerOf(turned, axis, (uint32_t)FirstFarStep << bit);
    if (far < 0 || !isLaneStep(fragment, axis, bit))
      return false;
    turned->steps[far] = turned->steps[registers + bit];
    turned->steps[registers + bit].at[axis] = (uint32_t)FirstFarStep << bit;
  }
  return true;
}

// Registers that move along the axis come first, the shortest steps ahead: what lies in a row has one address.
static void orderRegisters(TileLayout *layout, intptr_t axis) {
  for (uint32_t i = 1; i < layout->bits[TileLayoutReg]; ++i) {
    TileLayoutPoint step = layout->steps[i];
    uint32_t at = i;
    for (; at && step.at[axis] && (!layout->steps[at - 1].at[axis] || layout->steps[at - 1].at[axis] > step.at[axis]);
         --at)
      layout->steps[at] = layout->steps[at - 1];
    layout->steps[at] = step;
  }
}

static bool isAnywhereTwice(const Exchange *x, const TileLayout *layout) {
  return tileHasCopies(layout, x->threads.lanes, x->threads.warps);
}

// Memory that a thread stores to, and a row of ldmatrix is loaded from, 16 bytes at once. The words that it stores are
// made by the rounding to 16 bits in the order in which it wants them.
static bool planMemory(const Exchange *x, const TileChange *change, const TileLayout *turned, TileLayout *memory) {
  int64_t banks = 32, bankBytes = 4;
  tileMachineGetInteger(x->threads.machine, "shared.banks", &banks);
  tileMachineGetInteger(x->threads.machine, "shared.bank.bytes", &bankBytes);
  const TileAccessLimits limits = {.elementBytes = ElementBytes,
                                   .vectorBytes = ElementBytes * RowElements,
                                   .banks = (uint32_t)banks,
                                   .bankBytes = (uint32_t)bankBytes};
  TileMatrixAccess matrices;
  TileAccess stores;
  TileLayout rows;
  return tileMatrixRows(turned, ElementBytes, false, &rows, NULL) &&
         tileLayoutSwizzle(&change->before, &rows, change->sizes, change->rank, &limits, memory, NULL) &&
         tileAccessPlan(&change->before, memory, change->sizes, change->rank, &limits, &stores, NULL) &&
         1 << stores.vectorBits == RowElements &&
         tileMatrixAccessPlan(turned, memory, change->sizes, change->rank, ElementBytes, &matrices, NULL) &&
         !matrices.transposed;
}

bool tileExchangePlanRows(const Exchange *x, MlirOperation convert, TileLayout *turned, TileLayout *memory) {
  MlirOperation store = storeOf(convert);
  MlirType tile = tileConvertLayoutOpGetResultType(convert);
  if (mlirOperationIsNull(store) || tileElementWidth(tileTypeGetElement(tile)) != 8 * ElementBytes ||
      !tileMachineGetText(x->threads.machine, "matrix.load") || tileMachineGetText(x->threads.machine, "matrix.store"))
    return false;
  TileRuns runs = tileRunsInMemory(store, tileStoreOpGetDestination(store));
  TileChange change = tileChangeOf(mlirValueGetType(tileConvertLayoutOpGetInput(convert)), tile);
  if (runs.axis < 0 || runs.length < RowElements || isAnywhereTwice(x, &change.before) ||
      !turnQuads(&change.before, runs.axis, turned))
    return false;
  orderRegisters(turned, runs.axis);
  return planMemory(x, &change, turned, memory) && (int64_t)tileLayoutPaddedSize(memory) * ElementBytes <= x->room;
}
