// Steps along axes, and exchanges across them: shuffles between lanes, shared memory between warps. See steps.h.
#include "lib/conversion/tile_to_gpu/steps.h"

#include "dialects/tile/questions.h"

#include <stdlib.h>

//===--- finding --------------------------------------------------------------------------------===//

// 1: along one wanted axis by a power of two; 0: along others only, or none; -1: otherwise.
static int classify(TileLayoutPoint step, uint32_t axes, intptr_t *axis) {
  int wanted = 0, other = 0;
  for (int a = 0; a < MaxRank; ++a) {
    if (!step.at[a])
      continue;
    bool isWanted = axes >> a & 1;
    wanted += isWanted;
    other += !isWanted;
    if (isWanted) {
      *axis = a;
      if (__builtin_popcount(step.at[a]) != 1)
        return -1;
    }
  }
  return !wanted ? 0 : wanted == 1 && !other ? 1 : -1;
}

static bool addBits(const TileLayout *layout, uint32_t dim, uint32_t first, uint32_t axes, Steps *steps) {
  for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit) {
    intptr_t axis = 0;
    int kind = classify(layout->steps[first + bit], axes, &axis);
    if (kind < 0)
      return false;
    if (kind)
      steps->items[steps->count++] = (Step){dim, bit, 2, (intptr_t)1 << bit, axis, layout->steps[first + bit].at[axis]};
  }
  return true;
}

static void addRepeats(const TileLayout *layout, uint32_t axes, Steps *steps) {
  intptr_t unit = (intptr_t)1 << layout->bits[TileLayoutReg];
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    TileLayoutRepeat repeat = layout->repeats[i];
    if (repeat.axis >= 0 && axes >> repeat.axis & 1)
      steps->items[steps->count++] = (Step){TileLayoutReg, 0, repeat.count, unit, repeat.axis, repeat.stride};
    unit *= repeat.count;
  }
}

static int nearerFirst(const void *a, const void *b) {
  const Step *x = a, *y = b;
  if (x->axis != y->axis)
    return x->axis > y->axis ? -1 : 1;
  return (x->stride > y->stride) - (x->stride < y->stride);
}

bool gpuStepsOf(const TileLayout *layout, MlirType tile, uint32_t axes, Steps *steps) {
  uint32_t first = 0;
  int64_t elements = 1, reached = 1;
  steps->count = 0;
  for (uint32_t dim = TileLayoutReg; dim <= TileLayoutWarp; first += layout->bits[dim++])
    if (!addBits(layout, dim, first, axes, steps))
      return false;
  addRepeats(layout, axes, steps);
  qsort(steps->items, (size_t)steps->count, sizeof(Step), nearerFirst);
  for (intptr_t axis = 0; axis < tileTypeGetRank(tile); ++axis)
    elements *= axes >> axis & 1 ? (int64_t)tileLayoutExtent(layout, (uint32_t)axis) : 1;
  for (intptr_t i = 0; i < steps->count; ++i)
    reached *= steps->items[i].count;
  return elements == reached;
}

//===--- crossing ---------------------------------------------------------------------------------===//

MlirValue gpuIsFar(Gpu *g, const Step *step) {
  uint32_t bit = step->dim == TileLayoutLane ? step->bit : step->bit + g->laneBits;
  return gpuCompare(g, Compare_NotEqual, gpuAnd(g, g->thread, 1ll << bit), gpuI32(g, 0));
}

// Each thread leaves its values in its own row of the scratch and reads the other's.
static void acrossWarps(Gpu *g, const Step *step, intptr_t count, const MlirValue *values, const MlirType *elements,
                        MlirValue *others) {
  int64_t bytes = 0, offset = 0;
  for (intptr_t i = 0; i < count; ++i)
    bytes += gpuStoredBytes(elements[i]) * g->threads;
  MlirValue scratch = gpuScratch(g, bytes);
  MlirValue other = gpuXor(g, g->thread, gpuI32(g, g->width << step->bit));
  for (intptr_t i = 0; i < count; ++i) {
    int64_t size = gpuStoredBytes(elements[i]);
    MlirValue at = gpuAdd(g, gpuMul(g, g->thread, gpuI32(g, size)), gpuI32(g, offset));
    gpuStoreElements(g, elements[i], 1, &values[i], gpuAddress(g, scratch, at), size);
    offset += size * g->threads;
  }
  gpuScratchReady(g);
  offset = 0;
  for (intptr_t i = 0; i < count; ++i) {
    int64_t size = gpuStoredBytes(elements[i]);
    MlirValue at = gpuAdd(g, gpuMul(g, other, gpuI32(g, size)), gpuI32(g, offset));
    gpuLoadElements(g, elements[i], 1, gpuAddress(g, scratch, at), size, &others[i]);
    offset += size * g->threads;
  }
  gpuScratchDone(g);
}

void gpuAcross(Gpu *g, const Step *step, intptr_t count, const MlirValue *values, const MlirType *elements,
               MlirValue *others) {
  if (step->dim == TileLayoutWarp) {
    acrossWarps(g, step, count, values, elements, others);
    return;
  }
  for (intptr_t i = 0; i < count; ++i)
    others[i] = gpuShuffleXor(g, values[i], 1ll << step->bit);
}
