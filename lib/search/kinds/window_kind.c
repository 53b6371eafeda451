// The kind `window`: a convolution, or a product over several dimensions, that reads both operands where they lie. A
// program owns m × n sums in registers and walks k and the window. Programs that follow each other take the next
// columns, so that all of B passes by for each tile of pixels: free where L1 holds it, nearly so in a core's own L2,
// else a wait for each line. The packed product over merged dimensions (tile-merge-dimensions) competes with it: its
// packing costs more, but it reads B once for a whole block of pixels.
#include "lib/search/kinds/window_kind.h"

#include "lib/search/cpu_cost.h"
#include "lib/support/integer.h"

#include <math.h>

// Parts of at most `bound`, all about alike: 14 are 7 and 7, not 8 and 6.
static int64_t evenPart(const TileOperatorDim *dim, int64_t bound) {
  return dim->isUnknown ? bound : tessera_ceil_div(dim->extent, tessera_ceil_div(dim->extent, bound));
}

// The dimension that indexes the axis alone, or -1.
static int onlyDim(const TileOperator *op, const TileOperatorOperand *operand, int axis) {
  int only = -1;
  for (int d = 0; d < op->numDims; ++d)
    if (operand->factors[axis][d]) {
      if (only >= 0)
        return -1;
      only = d;
    }
  return only;
}

// The innermost reduction that the operand has, if every axis has one dimension; else -1.
static int innermostReduction(const TileOperator *op, const TileOperatorOperand *operand) {
  int found = -1;
  for (int axis = 0; axis < operand->rank; ++axis) {
    int dim = onlyDim(op, operand, axis);
    if (dim < 0)
      return -1;
    found = op->dims[dim].isReduction && op->dims[dim].extent > 1 ? dim : found;
  }
  return found;
}

bool tileWindowWalksDepthAround(const TileOperator *op) {
  int left = innermostReduction(op, &op->operands[op->lhs]), right = innermostReduction(op, &op->operands[op->rhs]);
  int weights = left >= 0 ? left : right;
  return weights >= 0 && weights != op->k;
}

static int starts(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  const TileSearchModel *model = &target->model;
  int64_t columns = model->windowVectors * tileCpuLanes(op, target);
  int64_t rows = (target->vectorRegisters - 1) / model->windowVectors - 1;
  int64_t depth = tileWindowWalksDepthAround(op) ? model->windowDepthAround : model->windowDepth;
  tiles[0] = (TileSearchTile){.kind = TileKind_Window};
  for (int d = 0; d < op->numDims; ++d)
    tiles[0].size[d] = 1;
  tiles[0].size[op->m] = evenPart(&op->dims[op->m], tileCpuMost(1, tileCpuLeast(rows, model->registerRows)));
  tiles[0].size[op->n] = evenPart(&op->dims[op->n], columns);
  tiles[0].size[op->k] = evenPart(&op->dims[op->k], depth);
  return 1;
}

// The innermost level that holds the weights beside what passes by.
static int levelOfWeights(const TileSearchTarget *target, double bytes) {
  int level = 0;
  while (level + 1 < target->numLevels && bytes > (double)target->levels[level].bytes * target->model.windowHeld)
    ++level;
  return level;
}

static TilePrediction predict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileSearchModel *model = &target->model;
  TilePrediction p = tileCpuGrid(op, target, tile);
  int64_t rows = tileCpuLeast(tile->size[op->m], op->dims[op->m].extent), depth = 1;
  int64_t columns = tileCpuLeast(tile->size[op->n], op->dims[op->n].extent);
  for (int d = 0; d < op->numDims; ++d)
    depth *= op->dims[d].isReduction ? op->dims[d].extent : 1;
  int64_t vectors = tessera_ceil_div(columns, tileCpuLanes(op, target));
  double line = (double)target->levels[0].line, programs = (double)p.programs;
  double step = (double)(p.steps * tile->size[op->k]) * tileCpuStepCycles(target, rows, vectors);
  double compute = programs * (step + (double)p.steps);
  int level = levelOfWeights(target, tileCpuOperandBytes(op, op->rhs));
  bool isOwn = level + 1 < target->numLevels && target->levels[level].instances == 0;
  double each = level == 0 ? 0
                : isOwn    ? model->exposedMisses / (double)target->loadsPerCycle
                           : tileCpuLineCycles(target, level, model->missesPacking);
  double lines = (double)tessera_ceil_div(columns * tileCpuElementBytes(&op->operands[op->rhs]), (int64_t)line);
  double waiting = programs * (double)depth * lines * each;
  int levelA = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->lhs));
  int levelC = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->out));
  double image = tileCpuOperandBytes(op, op->lhs) / line * tileCpuLineCycles(target, levelA, model->missesPacking);
  double update = programs * (double)(rows * vectors) * (1 + tileCpuLineCycles(target, levelC, model->missesUpdate));
  double cores, largest = 0, all = compute + waiting + image + update;
  double total = tileCpuCyclesOfAll(target, p.programs, all / programs, &cores);
  p.occupancy = programs / (ceil(programs / cores) * (double)target->cores);
  tileCpuAddTerm(&p, &largest, "compute", compute);
  tileCpuAddTerm(&p, &largest, target->levels[level].name, waiting);
  tileCpuAddTerm(&p, &largest, target->levels[levelA].name, image);
  tileCpuAddTerm(&p, &largest, "latency", update);
  p.seconds = p.sum = total / target->clock;
  return p;
}

const TileKernelKind tileWindowKind = {
    .name = "window",
    .starts = starts,
    .predict = predict,
};
