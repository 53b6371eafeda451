// Lists of entries: how every encoded tensor is made. A nest gives entries in any order; they are sorted where that
// differs from the order of the levels, and stored level by level. Cost: linear in the entries and, for each level that
// is sorted, in its size.
#include "lib/conversion/sparse_tensor_to_tile/kernels.h"
#include "lib/conversion/sparse_tensor_to_tile/lowering.h"

#include "lib/ir/support.h"

static MlirType wide(const TileBuilder *b) { return mlirIntegerTypeGet(b->context, 64); }

//===--- sorting --------------------------------------------------------------------===//

static bool gather(LevelLowering *lowering, MlirValue order, MlirType element, MlirValue count, MlirValue *values) {
  const MlirValue inputs[] = {order, *values};
  *values = sparseLevelVector(&lowering->builder, element, count);
  return sparseLevelLaunch(lowering, tileUseGather((TileGather){.E = element}), 2, inputs, 1, values);
}

// The last level first: each sort keeps what the one before did within one coordinate.
bool sparseLevelSortEntries(LevelLowering *lowering, const LevelStorage *storage, const MlirValue *sizes,
                            LevelEntries *entries) {
  TileBuilder *b = &lowering->builder;
  MlirValue order = sparseLevelVector(b, wide(b), entries->count);
  if (!sparseLevelLaunch(lowering, tileUseNumberEntries((TileNumberEntries){0}), 0, NULL, 1, &order))
    return false;
  for (intptr_t l = storage->count - 1; l >= 0; --l) {
    MlirValue size = tileBuildAdd(b, sparseLevelSize(b, &storage->levels[l], sizes), tileBuildIndex(b, 1));
    const MlirValue inputs[] = {order, entries->coordinates[l]};
    MlirValue outputs[] = {sparseLevelZeros(b, wide(b), size), sparseLevelVector(b, wide(b), entries->count)};
    if (!sparseLevelLaunch(lowering, tileUseSortByCoordinate((TileSortByCoordinate){0}), 2, inputs, 2, outputs))
      return false;
    order = outputs[1];
  }
  for (intptr_t l = 0; l < storage->count; ++l)
    if (!gather(lowering, order, wide(b), entries->count, &entries->coordinates[l]))
      return false;
  return gather(lowering, order, storage->element, entries->count, &entries->values);
}

//===--- storing --------------------------------------------------------------------===//

// Where the entries are in the level above, how many positions that has; then those of this level.
typedef struct Parents {
  MlirValue position, count;
} Parents;

static bool storeDense(LevelLowering *lowering, const StoredLevel *level, const MlirValue *sizes, MlirValue coordinate,
                       MlirValue count, Parents *parents) {
  TileBuilder *b = &lowering->builder;
  MlirValue size = sparseLevelSize(b, level, sizes), position = sparseLevelVector(b, wide(b), count);
  const MlirValue inputs[] = {parents->position, coordinate, size};
  if (!sparseLevelLaunch(lowering, tileUseFillDenseLevel((TileFillDenseLevel){0}), 3, inputs, 1, &position))
    return false;
  *parents = (Parents){position, tileBuildMul(b, parents->count, size)};
  return true;
}

static bool storeSegments(LevelLowering *lowering, const StoredLevel *level, MlirValue coordinate, MlirValue count,
                          Parents *parents, MlirValue *arrays) {
  TileBuilder *b = &lowering->builder;
  MlirValue one = tileBuildIndex(b, 1);
  const MlirValue inputs[] = {parents->position, coordinate};
  MlirValue outputs[] = {sparseLevelZeros(b, wide(b), tileBuildAdd(b, parents->count, one)),
                         sparseLevelVector(b, wide(b), count), sparseLevelVector(b, wide(b), count),
                         sparseLevelVector(b, wide(b), one)};
  if (!sparseLevelLaunch(lowering, tileUseFillSegments((TileFillSegments){.MERGES = level->isUnique}), 2, inputs, 4,
                         outputs))
    return false;
  if (level->kind == LevelKind_Loose) {
    MlirValue pairs = sparseLevelVector(b, wide(b), tileBuildMul(b, parents->count, tileBuildIndex(b, 2)));
    if (!sparseLevelLaunch(lowering, tileUseFillLoose((TileFillLoose){0}), 1, outputs, 1, &pairs))
      return false;
    outputs[0] = pairs;
  }
  MlirValue total = sparseLevelNumber(b, outputs[3], tileBuildIndex(b, 0));
  arrays[level->positions] = outputs[0];
  arrays[level->coordinates] = sparseLevelFirst(b, outputs[1], total);
  *parents = (Parents){outputs[2], total};
  return true;
}

static bool storeSlots(LevelLowering *lowering, const StoredLevel *level, MlirValue coordinate, MlirValue count,
                       Parents *parents, MlirValue *arrays) {
  TileBuilder *b = &lowering->builder;
  MlirValue total = tileBuildMul(b, parents->count, tileBuildIndex(b, level->n));
  const MlirValue inputs[] = {parents->position, coordinate};
  MlirValue outputs[] = {sparseLevelZeros(b, wide(b), total), sparseLevelVector(b, wide(b), count)};
  if (!sparseLevelLaunch(lowering, tileUseFillSlots((TileFillSlots){.N = level->n}), 2, inputs, 2, outputs))
    return false;
  arrays[level->coordinates] = outputs[0];
  *parents = (Parents){outputs[1], total};
  return true;
}

static bool storeSingletons(LevelLowering *lowering, const StoredLevel *level, MlirValue coordinate,
                            const Parents *parents, MlirValue *arrays) {
  TileBuilder *b = &lowering->builder;
  const MlirValue inputs[] = {parents->position, coordinate};
  arrays[level->coordinates] = sparseLevelVector(b, wide(b), parents->count);
  return sparseLevelLaunch(lowering, tileUseScatter((TileScatter){.E = wide(b)}), 2, inputs, 1,
                           &arrays[level->coordinates]);
}

static bool storeLevel(LevelLowering *lowering, const StoredLevel *level, const MlirValue *sizes, MlirValue coordinate,
                       MlirValue count, Parents *parents, MlirValue *arrays) {
  switch (level->kind) {
  case LevelKind_Dense:
    return storeDense(lowering, level, sizes, coordinate, count, parents);
  case LevelKind_Compressed:
  case LevelKind_Loose:
    return storeSegments(lowering, level, coordinate, count, parents, arrays);
  case LevelKind_Structured:
    return storeSlots(lowering, level, coordinate, count, parents, arrays);
  case LevelKind_Singleton:
    return storeSingletons(lowering, level, coordinate, parents, arrays);
  }
  return false;
}

intptr_t sparseLevelStoreEntries(LevelLowering *lowering, const LevelStorage *storage, const MlirValue *sizes,
                                 const LevelEntries *entries, MlirValue *values) {
  TileBuilder *b = &lowering->builder;
  Parents parents = {sparseLevelZeros(b, wide(b), entries->count), tileBuildIndex(b, 1)};
  for (intptr_t l = 0; l < storage->count; ++l)
    if (!storeLevel(lowering, &storage->levels[l], sizes, entries->coordinates[l], entries->count, &parents, values))
      return 0;
  const MlirValue inputs[] = {parents.position, entries->values};
  values[storage->values] = sparseLevelZeros(b, storage->element, parents.count);
  if (!sparseLevelLaunch(lowering, tileUseScatter((TileScatter){.E = storage->element}), 2, inputs, 1,
                         &values[storage->values]))
    return 0;
  intptr_t count = storage->numArrays;
  for (intptr_t axis = 0; axis < storage->rank; ++axis)
    if (mlirShapedTypeIsDynamicDim(storage->type, axis))
      values[count++] = sizes[axis];
  return count;
}
