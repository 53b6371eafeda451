// See steps.h.
#include "lib/layout/steps.h"

#include <stdlib.h>

typedef enum StepKind { Step_None, Step_Along, Step_Mixed } StepKind;

static StepKind classify(TileLayoutPoint step, uint32_t axes, int32_t *axis) {
  int wanted = 0, other = 0;
  for (int32_t a = 0; a < TILE_LAYOUT_MAX_AXES; ++a) {
    if (!step.at[a])
      continue;
    bool isWanted = axes >> a & 1;
    wanted += isWanted;
    other += !isWanted;
    if (isWanted) {
      *axis = a;
      if (__builtin_popcount(step.at[a]) != 1)
        return Step_Mixed;
    }
  }
  return !wanted ? Step_None : wanted == 1 && !other ? Step_Along : Step_Mixed;
}

static bool addBits(const TileLayout *layout, uint32_t dim, uint32_t first, uint32_t axes, TileLayoutSteps *steps) {
  for (uint32_t bit = 0; bit < layout->bits[dim]; ++bit) {
    int32_t axis = 0;
    TileLayoutPoint step = layout->steps[first + bit];
    StepKind kind = classify(step, axes, &axis);
    if (kind == Step_Mixed)
      return false;
    if (kind == Step_Along)
      steps->items[steps->count++] = (TileLayoutStep){dim, bit, 2, (int64_t)1 << bit, axis, step.at[axis]};
  }
  return true;
}

static void addRepeats(const TileLayout *layout, uint32_t axes, TileLayoutSteps *steps) {
  int64_t unit = (int64_t)1 << layout->bits[TileLayoutReg];
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    TileLayoutRepeat repeat = layout->repeats[i];
    if (repeat.axis >= 0 && axes >> repeat.axis & 1)
      steps->items[steps->count++] = (TileLayoutStep){TileLayoutReg, 0, repeat.count, unit, repeat.axis, repeat.stride};
    unit *= repeat.count;
  }
}

static int nearerFirst(const void *a, const void *b) {
  const TileLayoutStep *x = a, *y = b;
  if (x->axis != y->axis)
    return x->axis > y->axis ? -1 : 1;
  return (x->stride > y->stride) - (x->stride < y->stride);
}

bool tileLayoutStepsAlong(const TileLayout *layout, uint32_t rank, uint32_t axes, TileLayoutSteps *steps) {
  uint32_t first = 0;
  int64_t elements = 1, reached = 1;
  steps->count = 0;
  for (uint32_t dim = TileLayoutReg; dim <= TileLayoutWarp; first += layout->bits[dim++])
    if (!addBits(layout, dim, first, axes, steps))
      return false;
  addRepeats(layout, axes, steps);
  qsort(steps->items, steps->count, sizeof *steps->items, nearerFirst);
  for (uint32_t axis = 0; axis < rank; ++axis)
    elements *= axes >> axis & 1 ? (int64_t)tileLayoutExtent(layout, axis) : 1;
  for (uint32_t i = 0; i < steps->count; ++i)
    reached *= steps->items[i].count;
  return elements == reached;
}

static int byDimension(const void *a, const void *b) {
  const TileLayoutStep *x = a, *y = b;
  if (x->dim != y->dim)
    return x->dim < y->dim ? -1 : 1;
  return (x->bit > y->bit) - (x->bit < y->bit);
}

void tileLayoutStepsByDimension(TileLayoutSteps *steps) {
  qsort(steps->items, steps->count, sizeof *steps->items, byDimension);
}
