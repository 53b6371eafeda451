// Bytes in shared memory, and which ops exchange elements through it. See scratch.h.
#include "lib/analysis/scratch.h"

#include "lib/support/integer.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/layout/algebra.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/memref.h"

//===--- bytes ----------------------------------------------------------------------------------------===//

int64_t tileStoredBytes(MlirType element) {
  int64_t bytes = 1, width = mlirTypeIsATF32(element) ? 32 : tileElementWidth(element);
  while (bytes * 8 < (width ? width : 64))
    bytes *= 2;
  return bytes;
}

int64_t tileDenseBytes(MlirType tile) { return tileTypeGetCount(tile) * tileStoredBytes(tileTypeGetElement(tile)); }

int64_t tileBufferBytes(MlirType buffer) {
  TileLayout layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(buffer));
  int64_t stages = tileBufferTypeGetStages(buffer);
  int64_t bytes = (int64_t)tileLayoutPaddedSize(&layout) * tileStoredBytes(tileTypeGetElement(buffer));
  return tessera_round_up(bytes, TileBufferAlign) * (stages ? stages : 1);
}

//===--- layouts --------------------------------------------------------------------------------------===//

static TileLayout layoutOf(MlirType tile) { return tileLayoutAttrGetLayout(tileTypeGetLayout(tile)); }

static MlirType withLayout(intptr_t rank, const int64_t *sizes, MlirType element, const TileLayout *layout) {
  return tileTileTypeGet(rank, sizes, element, tileLayoutAttrGet(mlirTypeGetContext(element), layout));
}

MlirType tileWithoutAxis(MlirType tile, intptr_t axis, MlirType element) {
  TileLayout layout = layoutOf(tile), rest;
  int64_t sizes[TILE_LAYOUT_MAX_AXES];
  intptr_t rank = 0;
  tileLayoutRemoveAxis(&layout, (uint32_t)axis, &rest);
  for (intptr_t a = 0; a < tileTypeGetRank(tile); ++a)
    if (a != axis)
      sizes[rank++] = tileTypeGetSize(tile, a);
  return withLayout(rank, sizes, element, &rest);
}

MlirType tileAlongAxis(MlirType tile, intptr_t axis, MlirType element, int64_t size) {
  TileLayout layout = layoutOf(tile);
  for (intptr_t other = tileTypeGetRank(tile); other-- > 0;)
    if (other != axis)
      tileLayoutRemoveAxis(&layout, (uint32_t)other, &layout);
  return withLayout(1, &size, element, &layout);
}

static TileLayoutPoint stepOf(const TileLayout *layout, uint32_t dim, uint32_t bit) {
  for (uint32_t d = 0; d < dim; ++d)
    bit += layout->bits[d];
  return layout->steps[bit];
}

// Adds the step to a basis whose vectors each have a leading bit that the later ones lack; false: it was in its span.
static bool extendBasis(TileLayoutPoint *basis, uint32_t *count, TileLayoutPoint step) {
  for (uint32_t i = 0; i < *count; ++i)
    for (int axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis) {
      uint32_t lead = basis[i].at[axis];
      if (!lead)
        continue;
      lead = 1u << (31 - __builtin_clz(lead));
      bool hasLead = step.at[axis] & lead;
      for (int a = 0; hasLead && a < TILE_LAYOUT_MAX_AXES; ++a)
        step.at[a] ^= basis[i].at[a];
      break;
    }
  for (int axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (step.at[axis]) {
      basis[(*count)++] = step;
      return true;
    }
  return false;
}

uint32_t tileFreeBits(const TileLayout *layout, uint32_t dim) {
  TileLayoutPoint basis[TILE_LAYOUT_MAX_BITS];
  uint32_t count = 0, free = 0;
  for (uint32_t d = 0; d <= dim; ++d)
    for (uint32_t bit = 0; bit < layout->bits[d]; ++bit)
      if (!extendBasis(basis, &count, stepOf(layout, d, bit)) && d == dim)
        free |= 1u << bit;
  return free;
}

// An odd factor along no axis makes copies too: its digit must be 0.
bool tileIsFreeRegister(const TileLayout *layout, intptr_t reg) {
  uint32_t bits = layout->bits[TileLayoutReg];
  if ((uint32_t)reg & tileFreeBits(layout, TileLayoutReg) & ((1u << bits) - 1))
    return true;
  uint64_t digits = (uint64_t)reg >> bits;
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    if (layout->repeats[i].dim != TileLayoutReg)
      continue;
    if (layout->repeats[i].axis == TILE_LAYOUT_COPIES && digits % layout->repeats[i].count)
      return true;
    digits /= layout->repeats[i].count;
  }
  return false;
}

bool tileHasCopies(const TileLayout *layout, uint32_t lanes, uint32_t warps) {
  if (tileFreeBits(layout, TileLayoutLane) || tileFreeBits(layout, TileLayoutWarp) ||
      1u << layout->bits[TileLayoutLane] < lanes || 1u << layout->bits[TileLayoutWarp] < warps)
    return true;
  for (intptr_t reg = 0; reg < (intptr_t)tileLayoutDimSize(layout, TileLayoutReg); ++reg)
    if (tileIsFreeRegister(layout, reg))
      return true;
  return false;
}

//===--- sorts -----------------------------------------------------------------------------------------===//

TileSortSpace tileSortSpaceOf(MlirOperation sort) {
  MlirType tile = mlirValueGetType(tileSortKeys(sort));
  intptr_t axis = tileSortOpIsA(sort) ? tileSortOpGetAxisValue(sort) : tileTopkOpGetAxisValue(sort);
  TileSortSpace space = {.size = tileTypeGetSize(tile, axis), .padded = 2};
  space.rows = tileTypeGetCount(tile) / space.size;
  while (space.padded < space.size)
    space.padded *= 2;
  return space;
}

//===--- ops that move elements -----------------------------------------------------------------------===//

static bool movesRegisters(const TileExchange *exchange, MlirOperation op, intptr_t operand, int64_t part) {
  return tileMovesOf(op, operand, part, exchange->lanes, exchange->warps, NULL);
}

bool tileFmaHasFactors(const TileExchange *exchange, MlirOperation product) {
  MlirType left = tileMmaOpGetLhsType(product);
  int64_t depth = tileTypeGetSize(left, tileTypeGetRank(left) - 1);
  for (int64_t k = 0; k < depth; ++k)
    if (!movesRegisters(exchange, product, 0, k) || !movesRegisters(exchange, product, 1, k))
      return false;
  return true;
}

//===--- atomics --------------------------------------------------------------------------------------===//

// A store of the value itself: by the thread that has it.
static bool isStoreOf(MlirOpOperand use) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  return mlirOpOperandGetOperandNumber(use) == 0 && (tileStoreOpIsA(user) || memrefStoreOpIsA(user));
}

// The thread that acted gives what it read to those that hold copies; a scalar's copies are in all threads.
bool tileSpreadsResult(const TileExchange *exchange, MlirOperation op) {
  bool isWanted = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    isWanted |= !isStoreOf(use);
  if (!isWanted || !tileTypeIsATile(tileOnlyResultType(op)))
    return isWanted;
  TileLayout layout = layoutOf(tileOnlyResultType(op));
  return tileHasCopies(&layout, exchange->lanes, exchange->warps);
}
