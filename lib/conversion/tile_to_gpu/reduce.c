// tile.reduce: within a thread's registers, then across lanes by shuffles, then across warps through shared memory.
// Every thread ends with the result: the layout of the result says so. Order: an operation of arith is commutative, so
// registers come first; a region is only associative, so its steps go from the nearest elements to the farthest, the
// earlier element always on the left.
#include "lib/conversion/tile_to_gpu/crossing.h"

#include "dialects/tile/questions.h"

#include <string.h>

typedef struct Reduction {
  Combiner combiner;
  MlirType type; // of the first tile
  TileLayout layout;
  uint32_t axes;
  TileLayoutSteps steps;
  intptr_t count;    // registers
  MlirValue *values; // register r of tile t at [r * combiner.count + t]
  bool *isDone;      // registers that went into others
} Reduction;

static MlirValue *valuesAt(const Reduction *reduction, intptr_t reg) {
  return reduction->values + reg * reduction->combiner.count;
}

//===--- steps ----------------------------------------------------------------------------------===//

static bool isDigitZero(const TileLayoutStep *step, intptr_t reg) { return reg / step->unit % step->count == 0; }

static bool reduceRegisters(Gpu *g, Reduction *reduction, const TileLayoutStep *step) {
  for (intptr_t reg = 0; reg < reduction->count; ++reg) {
    if (reduction->isDone[reg] || !isDigitZero(step, reg))
      continue;
    for (intptr_t digit = 1; digit < step->count; ++digit) {
      intptr_t other = reg + digit * step->unit;
      if (!gpuCombine(g, &reduction->combiner, valuesAt(reduction, reg), valuesAt(reduction, other),
                      valuesAt(reduction, reg)))
        return false;
      reduction->isDone[other] = true;
    }
  }
  return true;
}

// The farther thread's elements are the right ones.
static bool combineAcross(Gpu *g, Reduction *reduction, const TileLayoutStep *step, MlirValue *mine,
                          const MlirValue *others) {
  MlirValue left[MaxCombined], right[MaxCombined];
  bool ordered = !mlirBlockIsNull(mlirRegionGetFirstBlock(tileReduceOpGetBody(reduction->combiner.op)));
  MlirValue isFar = ordered ? gpuIsFar(g, step) : (MlirValue){NULL};
  for (intptr_t i = 0; i < reduction->combiner.count; ++i) {
    left[i] = ordered ? gpuSelect(g, isFar, others[i], mine[i]) : mine[i];
    right[i] = ordered ? gpuSelect(g, isFar, mine[i], others[i]) : others[i];
  }
  return gpuCombine(g, &reduction->combiner, left, right, mine);
}

static bool reduceThreads(Gpu *g, Reduction *reduction, const TileLayoutStep *step) {
  intptr_t tiles = reduction->combiner.count, live = 0;
  size_t room = (size_t)(reduction->count * tiles);
  MlirValue *values = gpuAllocate(g, room * sizeof *values), *others = gpuAllocate(g, room * sizeof *others);
  MlirType *elements = gpuAllocate(g, room * sizeof *elements);
  for (intptr_t reg = 0; reg < reduction->count; ++reg)
    for (intptr_t i = 0; !reduction->isDone[reg] && i < tiles; ++i, ++live) {
      values[live] = valuesAt(reduction, reg)[i];
      elements[live] = reduction->combiner.elements[i];
    }
  gpuAcross(g, step, live, values, elements, others);
  for (intptr_t reg = 0, at = 0; reg < reduction->count; ++reg) {
    if (reduction->isDone[reg])
      continue;
    if (!combineAcross(g, reduction, step, valuesAt(reduction, reg), others + at))
      return false;
    at += tiles;
  }
  return true;
}

static bool reduceAll(Gpu *g, Reduction *reduction) {
  if (tileHas(reduction->combiner.op, "operation"))
    tileLayoutStepsByDimension(&reduction->steps);
  for (uint32_t i = 0; i < reduction->steps.count; ++i) {
    const TileLayoutStep *step = &reduction->steps.items[i];
    if (!(step->dim == TileLayoutReg ? reduceRegisters : reduceThreads)(g, reduction, step))
      return false;
  }
  return true;
}

//===--- the tiles --------------------------------------------------------------------------------===//

// What the layout holds beyond the tile, along the reduced axes, counts as nothing.
static bool fillVoid(Gpu *g, MlirOperation op, Reduction *reduction, intptr_t tile) {
  if (!gpuHasVoid(&reduction->layout, reduction->type, reduction->axes))
    return true;
  MlirValue neutral = gpuNeutral(g, &reduction->combiner, tile);
  if (mlirValueIsNull(neutral))
    return gpuRefuse(op, "a layout that reaches beyond the tile where no neutral element is known");
  const Map *map = gpuMap(g, &reduction->layout, tileTypeGetRank(reduction->type));
  for (intptr_t reg = 0; reg < reduction->count; ++reg)
    valuesAt(reduction, reg)[tile] = gpuSelect(g, gpuIsElement(g, map, reduction->type, reduction->axes, reg),
                                               valuesAt(reduction, reg)[tile], neutral);
  return true;
}

static bool readTiles(Gpu *g, MlirOperation op, Reduction *reduction) {
  intptr_t tiles = mlirOperationGetNumOperands(op);
  reduction->type = mlirValueGetType(tileReduceOpGetInputs(op, 0));
  reduction->layout = gpuLayoutOf(reduction->type);
  reduction->count = gpuRegisters(reduction->type);
  reduction->values = gpuAllocate(g, (size_t)(reduction->count * tiles) * sizeof *reduction->values);
  reduction->isDone = gpuAllocate(g, (size_t)reduction->count);
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    reduction->axes |= 1u << tileArrayAt(op, "axes", i);
  MlirValue *converted = gpuAllocate(g, (size_t)reduction->count * sizeof *converted);
  for (intptr_t i = 0; i < tiles; ++i) {
    MlirType type = tileOperandType(op, i), element = tileTypeGetElement(type);
    gpuConvertLayout(g, type, gpuTile(g, mlirOperationGetOperand(op, i)), tileTypeWithElement(reduction->type, element),
                     converted);
    for (intptr_t reg = 0; reg < reduction->count; ++reg)
      valuesAt(reduction, reg)[i] = converted[reg];
    if (!fillVoid(g, op, reduction, i))
      return false;
  }
  if (tileLayoutStepsAlong(&reduction->layout, (uint32_t)tileTypeGetRank(reduction->type), reduction->axes,
                           &reduction->steps))
    return true;
  return gpuRefuse(op, "a layout in which the reduced axes share bits with others: put a tile.convert_layout before");
}

// A register of the first thread with the same coordinates on the axes that stay.
static intptr_t sourceOf(const Reduction *reduction, TileLayoutPoint wanted) {
  for (intptr_t reg = 0; reg < reduction->count; ++reg) {
    TileLayoutPoint index = {{(uint32_t)reg}}, point = tileLayoutApply(&reduction->layout, index), kept = {{0}};
    intptr_t at = 0;
    for (intptr_t axis = 0; axis < tileTypeGetRank(reduction->type); ++axis)
      if (!(reduction->axes >> axis & 1))
        kept.at[at++] = point.at[axis];
    if (!reduction->isDone[reg] && !memcmp(&kept, &wanted, sizeof kept))
      return reg;
  }
  return -1;
}

static bool giveResults(Gpu *g, MlirOperation op, const Reduction *reduction) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (!gpuIsTile(mlirValueGetType(result))) {
      gpuRecordScalar(g, result, valuesAt(reduction, 0)[i]);
      continue;
    }
    TileLayout layout = gpuLayoutOf(mlirValueGetType(result));
    MlirValue *registers = gpuRecordTile(g, result);
    for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(result)); ++reg) {
      TileLayoutPoint index = {{(uint32_t)reg}};
      intptr_t source = sourceOf(reduction, tileLayoutApply(&layout, index));
      if (source < 0)
        return gpuRefuse(op, "a result whose layout is not the operand's without the axes");
      registers[reg] = valuesAt(reduction, source)[i];
    }
  }
  return true;
}

bool gpuLowerReduce(Gpu *g, MlirOperation op) {
  Reduction reduction = {.axes = 0};
  return gpuCombinerOf(op, mlirOperationGetNumOperands(op), &reduction.combiner) && readTiles(g, op, &reduction) &&
         reduceAll(g, &reduction) && giveResults(g, op, &reduction);
}
