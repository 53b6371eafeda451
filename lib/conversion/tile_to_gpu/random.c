// tile.random: Philox4x32-10 (docs/numerics.md §8), in every thread that wants a word of a counter. The counters lie as
// the result does without its last axis.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

// The word at the register's last coordinate: known, or picked by the thread.
static MlirValue pickWord(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, const MlirValue *words) {
  if (mlirValueIsNull(map->thread[axis]))
    return words[gpuRegisterCoordinate(map, axis, reg) & 3];
  MlirValue at = gpuCoordinate(g, map, axis, reg), word = words[3];
  for (int i = 3; i-- > 0;)
    word = gpuSelect(g, gpuCompare(g, ArithCmpI_Eq, at, gpuI32(g, i)), words[i], word);
  return word;
}

bool gpuLowerRandom(Gpu *g, MlirOperation op) {
  MlirValue result = tileRandomOpGetResult(op), seed = gpuScalar(g, tileRandomOpGetSeed(op));
  MlirType type = mlirValueGetType(result);
  MlirValue counter = tileRandomOpGetCounter(op);
  intptr_t last = tileTypeGetRank(type) - 1, count = gpuRegisters(mlirValueGetType(counter)), own = gpuRegisters(type);
  TileLayout layout = gpuLayoutOf(type), outer;
  tileLayoutRemoveAxis(&layout, (uint32_t)last, &outer);
  bool isTile = gpuIsTile(mlirValueGetType(counter));
  MlirType lying =
      isTile ? tileWithoutAxis(type, last, tileTypeGetElement(mlirValueGetType(counter))) : mlirValueGetType(counter);
  const MlirValue *counters = gpuTileLike(g, op, counter, lying);
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
