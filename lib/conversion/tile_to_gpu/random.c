// tile.random: Philox4x32-10 (docs/numerics.md §8), in every thread that wants a word of a counter. tile.histogram:
// counts in shared memory.
#include "lib/conversion/tile_to_gpu/cells.h"
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

//===--- random ---------------------------------------------------------------------------------------===//

// The word at the register's last coordinate: known, or picked by the thread.
static MlirValue pickWord(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, const MlirValue *words) {
  if (mlirValueIsNull(map->thread[axis]))
    return words[gpuRegisterCoordinate(map, axis, reg) & 3];
  MlirValue at = gpuCoordinate(g, map, axis, reg), word = words[3];
  for (int i = 3; i-- > 0;)
    word = gpuSelect(g, gpuCompare(g, ArithCmpI_Eq, at, gpuI32(g, i)), words[i], word);
  return word;
}

// Registers of the counters in the layout of the result without its last axis; one for a scalar.
static MlirValue *countersOf(Gpu *g, MlirValue counter, MlirType result, intptr_t *count) {
  MlirType type = mlirValueGetType(counter);
  MlirValue *registers;
  if (!gpuIsTile(type)) {
    *count = 1;
    registers = gpuAllocate(g, sizeof *registers);
    registers[0] = gpuScalar(g, counter);
    return registers;
  }
  MlirType wanted = tileWithoutAxis(result, tileTypeGetRank(type), tileTypeGetElement(type));
  *count = gpuRegisters(wanted);
  registers = gpuAllocate(g, (size_t)*count * sizeof *registers);
  gpuConvertLayout(g, type, gpuTile(g, counter), wanted, registers);
  return registers;
}

bool gpuLowerRandom(Gpu *g, MlirOperation op) {
  MlirValue result = tileRandomOpGetResult(op), seed = gpuScalar(g, tileRandomOpGetSeed(op));
  MlirType type = mlirValueGetType(result);
  intptr_t last = tileTypeGetRank(type) - 1, count, own = gpuRegisters(type);
  TileLayout layout = gpuLayoutOf(type), outer;
  tileLayoutRemoveAxis(&layout, (uint32_t)last, &outer);
  MlirValue *counters = countersOf(g, tileRandomOpGetCounter(op), type, &count);
  const Map *map = gpuMap(g, &layout, last + 1), *outerMap = gpuMap(g, &outer, last ? last : 1);
  MlirValue *registers = gpuRecordTile(g, result);
  for (intptr_t c = 0; c < count; ++c) {
    MlirValue words[4];
    tileBuildPhilox(&g->builder, seed, gpuCast(g, counters[c], g->i64, false), words); // unsigned
    for (intptr_t reg = 0; reg < own; ++reg) {
      bool isHere = true;
      for (intptr_t axis = 0; axis < last; ++axis)
        isHere &= gpuRegisterCoordinate(map, axis, reg) == gpuRegisterCoordinate(outerMap, axis, c);
      if (isHere && mlirValueIsNull(registers[reg]))
        registers[reg] = pickWord(g, map, last, reg, words);
    }
  }
  return true;
}

//===--- histogram ----------------------------------------------------------------------------------===//

static void clearCounts(Gpu *g, MlirValue counts, int64_t bins) {
  TileBuilder before;
  MlirValue bin = gpuFor(g, g->thread, gpuI32(g, bins), g->threads, &before);
  gpuStore(g, gpuI32(g, 0), gpuElementAt(g, counts, bin, g->i32), 4);
  gpuEndFor(g, before);
}

static void countOne(Gpu *g, MlirValue counts, int64_t bins, MlirValue value, MlirValue mask) {
  MlirValue number = gpuCast(g, value, g->i64, false);
  MlirValue counted = gpuBoth(g, mask, gpuCompare(g, ArithCmpI_Ult, number, gpuInteger(g, g->i64, bins)));
  GpuIf branch = gpuIf(g, counted, 0, NULL);
  MlirValue address = gpuElementAt(g, counts, gpuCast(g, number, g->i32, false), g->i32);
  TileWord word = {address, g->i32, 0, LlvmAtomicOrdering_Monotonic, g->vocabulary->scope(tileString("block"))};
  tileBuildAtomicRmw(&g->builder, &word, LlvmAtomicBinOp_Add, gpuI32(g, 1));
  gpuEndIf(g, &branch, 0, NULL, NULL);
}

bool gpuLowerHistogram(Gpu *g, MlirOperation op) {
  MlirValue input = tileHistogramOpGetInput(op), mask = tileOpOperand(op, "mask");
  MlirType from = mlirValueGetType(input), to = tileHistogramOpGetResultType(op), element = tileTypeGetElement(to);
  int64_t bins = tileTypeGetSize(to, 0);
  TileLayout layout = gpuLayoutOf(from);
  MlirValue *masks = NULL, counts;
  if (!mlirValueIsNull(mask)) {
    masks = gpuAllocate(g, (size_t)gpuRegisters(from) * sizeof *masks);
    gpuConvertLayout(g, mlirValueGetType(mask), gpuTile(g, mask), tileTypeWithElement(from, g->i1), masks);
  }
  counts = gpuScratch(g, 4 * bins);
  clearCounts(g, counts, bins);
  gpuBarrier(g);
  GpuIf owner = gpuIf(g, gpuIsOwner(g, &layout), 0, NULL);
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(from));
  for (intptr_t reg = 0; reg < gpuRegisters(from); ++reg)
    if (!tileIsFreeRegister(&layout, reg))
      countOne(g, counts, bins, gpuTile(g, input)[reg],
               gpuBoth(g, gpuIsElement(g, map, from, AllAxes, reg), masks ? masks[reg] : (MlirValue){NULL}));
  gpuEndIf(g, &owner, 0, NULL, NULL);
  gpuBarrier(g);
  MlirValue *registers = gpuRecordTile(g, tileHistogramOpGetResult(op));
  Places places = gpuDensePlaces(g, to);
  for (intptr_t reg = 0; reg < gpuRegisters(to); ++reg) {
    MlirValue number;
    gpuReadElement(g, tileTypeWithElement(to, g->i32), places.map, reg, counts, gpuPlace(g, &places, reg), &number);
    registers[reg] = gpuCast(g, number, element, false);
  }
  return true;
}
