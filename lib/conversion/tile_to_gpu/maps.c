// Layouts as places: which coordinates a thread's registers have, which hold copies, and which register of one layout
// holds what a register of another wants. Where buffers lie in shared memory.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/layout/algebra.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

//===--- the thread's part --------------------------------------------------------===//

// Bits of the thread's number: lanes first. False where the layout has no such bit.
static bool stepOfThreadBit(const Gpu *g, const TileLayout *layout, uint32_t bit, TileLayoutPoint *step) {
  uint32_t dim = bit < g->laneBits ? TileLayoutLane : TileLayoutWarp;
  uint32_t at = bit < g->laneBits ? bit : bit - g->laneBits;
  *step = tileLayoutStepOf(layout, dim, at);
  return at < layout->bits[dim];
}

// The longest run of thread bits from `bit` on whose steps along `axis` double, all with other terms or none.
static uint32_t runFrom(const Gpu *g, const TileLayout *layout, intptr_t axis, uint32_t bit) {
  TileLayoutPoint first, step;
  uint32_t length = 1;
  stepOfThreadBit(g, layout, bit, &first);
  while (bit + length < g->laneBits + g->warpBits && stepOfThreadBit(g, layout, bit + length, &step) &&
         step.at[axis] == first.at[axis] << length)
    ++length;
  return length;
}

// ((thread >> bit) & ones) * value: `value` a power of two.
static MlirValue fieldTimes(Gpu *g, uint32_t bit, uint32_t length, uint32_t value) {
  bool isLast = bit + length == g->laneBits + g->warpBits;
  int shift = (int)bit - __builtin_ctz(value);
  MlirValue field = g->thread;
  if (!isLast || shift < 0 || bit != (uint32_t)shift)
    field = gpuAnd(g, field, ((1ll << length) - 1) << bit);
  return shift >= 0 ? gpuShiftRight(g, field, shift) : gpuShiftLeft(g, field, -shift);
}

static MlirValue threadPart(Gpu *g, const TileLayout *layout, intptr_t axis, uint32_t *mask) {
  MlirValue sum = {NULL};
  for (uint32_t bit = 0, length; bit < g->laneBits + g->warpBits; bit += length) {
    TileLayoutPoint step;
    length = 1;
    if (!stepOfThreadBit(g, layout, bit, &step) || !step.at[axis])
      continue;
    length = __builtin_popcount(step.at[axis]) == 1 ? runFrom(g, layout, axis, bit) : 1;
    for (uint32_t rest = step.at[axis]; rest; rest &= rest - 1) {
      uint32_t term = rest & -rest, reached = (uint32_t)((((uint64_t)term) << length) - term);
      MlirValue field = fieldTimes(g, bit, length, term);
      sum = *mask & reached        ? gpuXor(g, sum, field)
            : mlirValueIsNull(sum) ? field
                                   : gpuBinary(g, ArithOp_OrI, sum, field);
      *mask |= reached;
    }
  }
  return sum;
}

// Maps are made at the function's entry and found again.
const Map *gpuMap(Gpu *g, const TileLayout *layout, intptr_t rank) {
  for (intptr_t i = 0; i < g->numMaps; ++i)
    if (g->maps[i]->rank >= rank && tileLayoutEquals(&g->maps[i]->layout, layout))
      return g->maps[i];
  Map *map = gpuAllocate(g, sizeof *map);
  map->layout = *layout;
  map->rank = rank;
  TileBuilder here = g->builder;
  g->builder = g->entry;
  for (intptr_t axis = 0; axis < rank; ++axis)
    map->thread[axis] = threadPart(g, layout, axis, &map->mask[axis]);
  g->builder = here;
  g->maps = tessera_grow(g->maps, g->numMaps, sizeof *g->maps);
  return g->maps[g->numMaps++] = map;
}

//===--- a register's part --------------------------------------------------------===//

// Bits of the register (XORed with the thread's) and its odd factors (added), apart.
static void partsOf(const Map *map, intptr_t axis, intptr_t reg, uint32_t *bits, uint32_t *more) {
  intptr_t low = reg & (((intptr_t)1 << map->layout.bits[TileLayoutReg]) - 1);
  *bits = tileLayoutOfRegister(&map->layout, low).at[axis];
  *more = tileLayoutOfRegister(&map->layout, reg - low).at[axis];
}

uint32_t gpuRegisterCoordinate(const Map *map, intptr_t axis, intptr_t reg) {
  return tileLayoutOfRegister(&map->layout, reg).at[axis];
}

intptr_t gpuRegisterAt(const TileLayout *layout, TileLayoutPoint point) {
  for (intptr_t reg = 0; reg < (intptr_t)tileLayoutDimSize(layout, TileLayoutReg); ++reg) {
    TileLayoutPoint here = tileLayoutOfRegister(layout, reg);
    if (!memcmp(&here, &point, sizeof here))
      return reg;
  }
  return -1;
}

// Bits that the thread's part never has are added: registers that differ in them only share the rest.
MlirValue gpuCoordinateParts(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, int64_t *constant) {
  uint32_t bits, more, mask = map->mask[axis];
  partsOf(map, axis, reg, &bits, &more);
  MlirValue thread = map->thread[axis];
  *constant = (int64_t)(!mlirValueIsNull(thread) ? bits & ~mask : bits) + more;
  return !mlirValueIsNull(thread) && bits & mask ? gpuXor(g, thread, gpuI32(g, bits & mask)) : thread;
}

MlirValue gpuCoordinate(Gpu *g, const Map *map, intptr_t axis, intptr_t reg) {
  int64_t constant;
  MlirValue thread = gpuCoordinateParts(g, map, axis, reg, &constant);
  return gpuAdd(g, thread, gpuI32(g, constant));
}

MlirValue gpuIsBelow(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, int64_t size) {
  uint32_t bits, more, reached = mlirValueIsNull(map->thread[axis]) ? 0 : map->mask[axis];
  partsOf(map, axis, reg, &bits, &more);
  if ((int64_t)(bits | reached) + more < size)
    return (MlirValue){NULL};
  if ((int64_t)(bits & ~reached) + more >= size)
    return gpuInteger(g, g->i1, 0);
  return gpuCompare(g, ArithCmpI_Slt, gpuCoordinate(g, map, axis, reg), gpuI32(g, size));
}

MlirValue gpuIsElement(Gpu *g, const Map *map, MlirType tile, uint32_t axes, intptr_t reg) {
  MlirValue is = {NULL};
  for (intptr_t axis = 0; axis < tileTypeGetRank(tile); ++axis)
    if (axes >> axis & 1)
      is = gpuBoth(g, is, gpuIsBelow(g, map, axis, reg, tileTypeGetSize(tile, axis)));
  return is;
}

bool gpuHasVoid(const TileLayout *layout, MlirType tile, uint32_t axes) {
  for (intptr_t axis = 0; axis < tileTypeGetRank(tile); ++axis)
    if (axes >> axis & 1 && (int64_t)tileLayoutExtent(layout, (uint32_t)axis) > tileTypeGetSize(tile, axis))
      return true;
  return false;
}

MlirValue gpuIsOwner(Gpu *g, const TileLayout *layout) {
  uint32_t mask = tileFreeBits(layout, TileLayoutLane) | tileFreeBits(layout, TileLayoutWarp) << g->laneBits;
  TileLayoutPoint step;
  for (uint32_t bit = 0; bit < g->laneBits + g->warpBits; ++bit)
    if (!stepOfThreadBit(g, layout, bit, &step))
      mask |= 1u << bit;
  if (!mask)
    return (MlirValue){NULL};
  return gpuCompare(g, ArithCmpI_Eq, gpuAnd(g, g->thread, mask), gpuI32(g, 0));
}

MlirValue gpuIsElected(Gpu *g) {
  return g->isOneThread ? (MlirValue){NULL} : gpuCompare(g, ArithCmpI_Eq, g->thread, gpuI32(g, 0));
}

MlirValue gpuIsOwnerOf(Gpu *g, MlirType type) {
  TileLayout layout = gpuLayoutOf(type);
  return gpuIsTile(type) ? gpuIsOwner(g, &layout) : gpuIsElected(g);
}

//===--- barriers and places ------------------------------------------------------===//

void gpuBarrier(Gpu *g) {
  if (g->isOneThread)
    return;
  if (g->partition)
    g->vocabulary->engines->partitionBarrier(&g->builder, g->partition, g->threads);
  else
    g->vocabulary->barrier(&g->builder);
}

bool gpuPlaceAlloc(Gpu *g, MlirOperation op, int64_t bytes, int64_t *offset, MlirValue *address) {
  if (!tileIntegerOf(op, "offset", offset))
    return tileError(op, "has no offset; run tile-plan-shared-memory first");
  gpuTakeShared(g, *offset, bytes);
  g->apartBytes += bytes;
  *address = gpuAddress(g, g->shared, gpuI32(g, *offset));
  return true;
}

//===--- moves ---------------------------------------------------------------------===//

intptr_t *gpuMoves(Gpu *g, MlirOperation op, intptr_t operand, int64_t part) {
  intptr_t *table = gpuAllocate(g, (size_t)gpuRegisters(tileOnlyResultType(op)) * sizeof *table);
  return tileMovesOf(op, operand, part, g->exchange.lanes, g->exchange.warps, table) ? table : NULL;
}

//===--- buffers ------------------------------------------------------------------===//

bool gpuOffsets(MlirOperation op, const TileLayout *layout, const TileLayout *offsets, MlirType shape,
                TileLayout *result) {
  int64_t sizes[MaxRank];
  TileError error;
  uint32_t rank = tileBufferExtents(shape, offsets, sizes);
  return tileLayoutConvert(layout, offsets, sizes, rank, result, &error) || tileError(op, "%s", error.text);
}

bool gpuExpectAligned(MlirOperation op, const Buffer *buffer, int64_t align, uint32_t swizzleBytes, const char *what) {
  return (buffer->align % align == 0 && buffer->stageBytes % align == 0) ||
         tileError(op,
                   "%s begins at multiples of %lld bytes in stages of %lld; its swizzle of %u bytes needs multiples of "
                   "%lld",
                   what, (long long)buffer->align, (long long)buffer->stageBytes, swizzleBytes, (long long)align);
}

// What differs between registers is a constant at the end, which instructions take with the address: registers of
// addresses are few.
MlirValue gpuBufferAddress(Gpu *g, const Buffer *buffer, const Map *places, intptr_t reg) {
  const TileLayout *offsets = &buffer->layout;
  MlirValue bytes = gpuI32(g, tileStoredBytes(tileTypeGetElement(buffer->type)));
  int64_t constant;
  if (!offsets->padAmount) {
    MlirValue thread = gpuCoordinateParts(g, places, 0, reg, &constant);
    MlirValue base = mlirValueIsNull(thread) ? buffer->base : gpuAddress(g, buffer->base, gpuMul(g, thread, bytes));
    return gpuAddress(g, base, gpuMul(g, gpuI32(g, constant), bytes));
  }
  MlirValue offset = gpuCoordinate(g, places, 0, reg);
  MlirValue rows = gpuBinary(g, ArithOp_DivUI, offset, gpuI32(g, offsets->padEvery));
  offset = gpuAdd(g, offset, gpuMul(g, rows, gpuI32(g, offsets->padAmount)));
  return gpuAddress(g, buffer->base, gpuMul(g, offset, bytes));
}
