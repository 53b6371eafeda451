// Layouts as places: which coordinates a thread's registers have, which hold copies, and which register of one layout
// holds what a register of another wants. Where tiles and buffers lie in shared memory, which the threads of one op use
// to exchange what they have computed.
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

//===--- exchanges ----------------------------------------------------------------===//

void gpuBarrier(Gpu *g) {
  if (g->isOneThread)
    return;
  if (g->partition)
    g->vocabulary->engines->partitionBarrier(&g->builder, g->partition, g->threads);
  else
    g->vocabulary->barrier(&g->builder);
}

// The kernel has the barrier before the op's first exchange.
MlirValue gpuScratch(Gpu *g, int64_t bytes) {
  if (bytes > g->scratch.bytes && !g->hasFailed) {
    g->hasFailed = true;
    tileError(g->scratch.op,
              "exchanges %lld bytes through shared memory, but its tile.scratch has %lld; remove the attribute "
              "and run tile-plan-shared-memory",
              (long long)bytes, (long long)g->scratch.bytes);
  }
  if (g->scratch.uses++)
    gpuBarrier(g);
  return gpuAddress(g, g->shared, gpuI32(g, g->scratch.offset));
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

//===--- places -------------------------------------------------------------------===//

Places gpuPlaces(Gpu *g, const Map *map, const int64_t *factors) {
  Places places = {.map = map, .isDisjoint = true};
  intptr_t registers = (intptr_t)1 << map->layout.bits[TileLayoutReg];
  for (intptr_t axis = 0; axis < map->rank; ++axis) {
    places.factors[axis] = factors[axis];
    for (intptr_t bit = 1; bit < registers; bit *= 2)
      places.isDisjoint &= !(gpuRegisterCoordinate(map, axis, bit) & map->mask[axis]);
    if (!mlirValueIsNull(map->thread[axis]))
      places.thread = gpuAdd(g, places.thread, gpuMul(g, map->thread[axis], gpuI32(g, factors[axis])));
  }
  return places;
}

MlirValue gpuPlace(Gpu *g, const Places *places, intptr_t reg) {
  MlirValue sum = {NULL};
  int64_t constant = 0;
  for (intptr_t axis = 0; axis < places->map->rank; ++axis)
    if (places->isDisjoint)
      constant += gpuRegisterCoordinate(places->map, axis, reg) * places->factors[axis];
    else
      sum = gpuAdd(g, sum, gpuMul(g, gpuCoordinate(g, places->map, axis, reg), gpuI32(g, places->factors[axis])));
  return places->isDisjoint     ? gpuAdd(g, places->thread, gpuI32(g, constant))
         : mlirValueIsNull(sum) ? gpuI32(g, 0)
                                : sum;
}

Places gpuPlacesIn(Gpu *g, MlirType whole, const TileLayout *layout, intptr_t axis, int64_t *pitch) {
  int64_t factors[MaxRank], factor = 1;
  for (intptr_t a = tileTypeGetRank(whole); a-- > 0; factor *= tileTypeGetSize(whole, a)) {
    factors[a] = a == axis ? 0 : factor;
    if (a == axis)
      *pitch = factor;
  }
  return gpuPlaces(g, gpuMap(g, layout, tileTypeGetRank(whole)), factors);
}

Places gpuDensePlaces(Gpu *g, MlirType tile) {
  TileLayout layout = gpuLayoutOf(tile);
  return gpuPlacesIn(g, tile, &layout, -1, NULL);
}

//===--- dense tiles ----------------------------------------------------------------===//

void gpuReadElement(Gpu *g, MlirType tile, const Map *map, intptr_t reg, MlirValue base, MlirValue place,
                    MlirValue *value) {
  MlirType element = tileTypeGetElement(tile);
  int64_t bytes = tileStoredBytes(element);
  MlirValue offset = gpuMul(g, place, gpuI32(g, bytes));
  gpuLoadWhere(g, gpuIsElement(g, map, tile, AllAxes, reg), element, 1, gpuAddress(g, base, offset), bytes,
               gpuZero(g, element), value);
}

void gpuWriteDense(Gpu *g, MlirType tile, const MlirValue *registers, MlirValue base) {
  MlirType element = tileTypeGetElement(tile);
  TileLayout layout = gpuLayoutOf(tile);
  int64_t bytes = tileStoredBytes(element);
  Places places = gpuDensePlaces(g, tile);
  GpuIf branch = gpuIf(g, gpuIsOwner(g, &layout), 0, NULL);
  for (intptr_t reg = 0; reg < gpuRegisters(tile); ++reg) {
    if (tileIsFreeRegister(&layout, reg))
      continue;
    MlirValue offset = gpuMul(g, gpuPlace(g, &places, reg), gpuI32(g, bytes));
    gpuStoreWhere(g, gpuIsElement(g, places.map, tile, AllAxes, reg), element, 1, &registers[reg],
                  gpuAddress(g, base, offset), bytes);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

void gpuReadDense(Gpu *g, MlirType tile, MlirValue base, MlirValue *registers) {
  Places places = gpuDensePlaces(g, tile);
  for (intptr_t reg = 0; reg < gpuRegisters(tile); ++reg)
    gpuReadElement(g, tile, places.map, reg, base, gpuPlace(g, &places, reg), &registers[reg]);
}

MlirValue gpuShare(Gpu *g, MlirType tile, const MlirValue *registers) {
  MlirValue scratch = gpuScratch(g, tileDenseBytes(tile));
  gpuWriteDense(g, tile, registers, scratch);
  gpuBarrier(g);
  return scratch;
}

uint32_t gpuExtents(MlirType buffer, const TileLayout *layout, int64_t *extents) {
  uint32_t rank = (uint32_t)tileTypeGetRank(buffer);
  for (uint32_t axis = 0; axis < rank; ++axis)
    extents[axis] = tessera_max(tileTypeGetSize(buffer, axis), (int64_t)tileLayoutExtent(layout, axis));
  return rank;
}

bool gpuOffsets(MlirOperation op, const TileLayout *layout, const TileLayout *offsets, MlirType shape,
                TileLayout *result) {
  int64_t sizes[MaxRank];
  TileError error;
  uint32_t rank = gpuExtents(shape, offsets, sizes);
  return tileLayoutConvert(layout, offsets, sizes, rank, result, &error) || tileError(op, "%s", error.text);
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
