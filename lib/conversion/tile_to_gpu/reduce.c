// tile.reduce: within a thread's registers, then across lanes by shuffles.
// Every thread ends with the result: the layout of the result says so. Order: an operation of arith is commutative, so
// registers come first; a region is only associative, so its steps go from the nearest elements to the farthest, the
// earlier element always on the left.
#include "lib/conversion/tile_to_gpu/combine.h"

#include "dialects/tile/questions.h"

static bool reduceRegisters(Gpu *g, Combined *combined, const TileLayoutStep *step) {
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    if (!combined->isLive[reg] || reg / step->unit % step->count)
      continue;
    MlirValue *sum = gpuCombinedAt(combined, combined->values, reg);
    for (intptr_t digit = 1; digit < step->count; ++digit) {
      intptr_t other = reg + digit * step->unit;
      if (!gpuCombine(g, combined, sum, gpuCombinedAt(combined, combined->values, other), sum))
        return false;
      combined->isLive[other] = false;
    }
  }
  return true;
}

// The farther thread's elements are the right ones; which are does not matter to an operation.
static bool reduceThreads(Gpu *g, Combined *combined, const TileLayoutStep *step) {
  MlirValue *others = gpuAcross(g, combined, step);
  bool isOrdered = !tileHas(combined->op, "operation");
  for (intptr_t reg = 0; reg < combined->count; ++reg) {
    MlirValue *mine = gpuCombinedAt(combined, combined->values, reg), *far = gpuCombinedAt(combined, others, reg);
    if (combined->isLive[reg] && !(isOrdered ? gpuCombineAcross(g, combined, gpuIsFar(g, step), far, mine)
                                             : gpuCombine(g, combined, mine, far, mine)))
      return false;
  }
  return true;
}

bool gpuLowerReduce(Gpu *g, MlirOperation op) {
  Combined combined;
  uint32_t axes = 0;
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    axes |= 1u << tileArrayAt(op, "axes", i);
  if (!gpuReadCombined(g, op, mlirOperationGetNumOperands(op), axes, &combined))
    return false;
  if (tileHas(op, "operation"))
    tileLayoutStepsByDimension(&combined.steps);
  for (uint32_t i = 0; i < combined.steps.count; ++i) {
    const TileLayoutStep *step = &combined.steps.items[i];
    if (!(step->dim == TileLayoutReg ? reduceRegisters : reduceThreads)(g, &combined, step))
      return false;
  }
  for (intptr_t i = 0; i < combined.tiles; ++i)
    if (!gpuGiveCombined(g, &combined, i, mlirOperationGetResult(op, i)))
      return false;
  return true;
}
