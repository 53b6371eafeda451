// Shared memory as exchanges between threads use it, and how tiles and buffers lie in it.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/layout/algebra.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"

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
