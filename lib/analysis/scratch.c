// Which ops exchange elements through shared memory, and how many bytes. See scratch.h.
#include "lib/analysis/scratch.h"

#include "lib/support/integer.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/layout/algebra.h"
#include "lib/layout/steps.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"

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

static bool isTile(MlirType type) { return mlirTypeIsATensor(type); }

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

//===--- reductions and scans -------------------------------------------------------------------------===//

// Steps between warps: each thread leaves what it has combined so far.
static int64_t bytesOfSteps(const TileExchange *exchange, MlirOperation op, MlirType tile, intptr_t inputs,
                            uint32_t axes, bool inOrder) {
  TileLayout layout = layoutOf(tile);
  int64_t live = (int64_t)tileLayoutDimSize(&layout, TileLayoutReg), elements = 0, bytes = 0;
  TileLayoutSteps steps;
  if (!tileLayoutStepsAlong(&layout, (uint32_t)tileTypeGetRank(tile), axes, &steps))
    return 0; // the conversion refuses it
  if (!inOrder)
    tileLayoutStepsByDimension(&steps);
  for (intptr_t i = 0; i < inputs; ++i)
    elements += tileStoredBytes(tileTypeGetElement(tileOperandType(op, i)));
  for (uint32_t i = 0; i < steps.count; ++i) {
    if (steps.items[i].dim == TileLayoutReg)
      live /= steps.items[i].count;
    if (steps.items[i].dim == TileLayoutWarp)
      bytes = tessera_max(bytes, elements * live * exchange->lanes * exchange->warps);
  }
  return bytes;
}

static int64_t bytesOfReduce(const TileExchange *exchange, MlirOperation op) {
  uint32_t axes = 0;
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    axes |= 1u << tileArrayAt(op, "axes", i);
  bool inOrder = mlirAttributeIsNull(tileReduceOpGetOperation(op));
  return bytesOfSteps(exchange, op, tileFirstOperandType(op), tileReduceOpGetNumInputs(op), axes, inOrder);
}

static int64_t bytesOfScan(const TileExchange *exchange, MlirOperation op) {
  return bytesOfSteps(exchange, op, tileFirstOperandType(op), tileScanOpGetNumInputs(op),
                      1u << tileScanOpGetAxisValue(op), true);
}

TileSortSpace tileSortSpaceOf(MlirOperation sort) {
  MlirType tile = mlirValueGetType(tileSortKeys(sort));
  intptr_t axis = tileSortOpIsA(sort) ? tileSortOpGetAxisValue(sort) : tileTopkOpGetAxisValue(sort);
  TileSortSpace space = {.size = tileTypeGetSize(tile, axis), .padded = 2};
  space.rows = tileTypeGetCount(tile) / space.size;
  while (space.padded < space.size)
    space.padded *= 2;
  space.keyBytes = space.rows * space.padded * 8;
  space.bytes = space.keyBytes + tessera_round_up(space.rows * space.padded * 4, 16);
  return space;
}

static int64_t bytesOfSort(MlirOperation op) {
  int64_t bytes = tileSortSpaceOf(op).bytes;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    bytes += tessera_round_up(tileDenseBytes(tileOperandType(op, i)), 16);
  return bytes;
}

//===--- ops that move elements -----------------------------------------------------------------------===//

static bool movesRegisters(const TileExchange *exchange, MlirOperation op, intptr_t operand, int64_t part) {
  return tileMovesOf(op, operand, part, exchange->lanes, exchange->warps, NULL);
}

static int64_t bytesOfBitcast(const TileExchange *exchange, MlirOperation op) {
  MlirType from = tileBitcastOpGetInputType(op);
  if (!isTile(from) || !isTile(tileBitcastOpGetResultType(op)))
    return 0;
  TileCast cast = tileCastOf(op);
  for (int64_t part = 0; part < (cast.narrows ? 1 : cast.factor); ++part)
    if (!movesRegisters(exchange, op, 0, part))
      return tileDenseBytes(from);
  return cast.factor ? 0 : tileDenseBytes(from);
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

// The thread that acted gives what it read to those that hold copies; a scalar's copies are in all threads.
bool tileSpreadsResult(const TileExchange *exchange, MlirOperation op) {
  if (tileAtomicLoadOpIsA(op))
    return true;
  bool isExchange = tileAtomicRmwOpIsA(op) || tileAtomicCasOpIsA(op);
  if (!isExchange || mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
    return false;
  if (!isTile(tileOnlyResultType(op)))
    return true;
  TileLayout layout = layoutOf(tileOnlyResultType(op));
  return tileHasCopies(&layout, exchange->lanes, exchange->warps);
}

static int64_t bytesOfAtomic(const TileExchange *exchange, MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  if (!tileSpreadsResult(exchange, op))
    return 0;
  return isTile(type) ? tileDenseBytes(type) : tileStoredBytes(type);
}

//===--- all ------------------------------------------------------------------------------------------===//

static int64_t bytesOfPrint(MlirOperation op) {
  int64_t bytes = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    bytes += isTile(tileOperandType(op, i)) ? tessera_round_up(tileDenseBytes(tileOperandType(op, i)), 16) : 0;
  return bytes;
}

// A constant whose elements differ: one thread writes it, each picks its own.
static int64_t bytesOfConstant(MlirOperation op) {
  MlirAttribute value = tileOpAttribute(op, "value");
  bool isTable = mlirOperationGetNumResults(op) == 1 && isTile(tileOnlyResultType(op)) && !mlirAttributeIsNull(value) &&
                 mlirAttributeIsADenseElements(value) && !mlirDenseElementsAttrIsSplat(value);
  return isTable ? tileDenseBytes(tileOnlyResultType(op)) : 0;
}

int64_t tileScratchBytes(const TileExchange *exchange, MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_None:
    return arithConstantOpIsA(op) ? bytesOfConstant(op) : 0;
  case TileOp_Reduce:
    return bytesOfReduce(exchange, op);
  case TileOp_Scan:
    return bytesOfScan(exchange, op);
  case TileOp_Sort:
  case TileOp_Topk:
    return bytesOfSort(op);
  case TileOp_Bitcast:
    return bytesOfBitcast(exchange, op);
  case TileOp_AtomicRmw:
  case TileOp_AtomicCas:
    return bytesOfAtomic(exchange, op);
  case TileOp_AtomicLoad:
    return tileStoredBytes(tileAtomicLoadOpGetResultType(op));
  case TileOp_Print:
    return bytesOfPrint(op);
  default:
    return 0;
  }
}
