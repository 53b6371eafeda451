// Costs that the kinds of a CPU's matrix products share. See cpu_cost.h.
#include "lib/search/cpu_cost.h"

#include "lib/search/construct.h"
#include "lib/support/integer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

//===--- numbers --------------------------------------------------------------------===//

int64_t tileCpuLeast(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t tileCpuMost(int64_t a, int64_t b) { return a > b ? a : b; }
double tileCpuLarger(double a, double b) { return a > b ? a : b; }

int64_t tileCpuElementBytes(const TileOperatorOperand *operand) { return operand->bits < 8 ? 1 : operand->bits / 8; }

int64_t tileCpuPackedBytes(const TileOperator *op, int index) {
  int64_t bytes = tileCpuElementBytes(&op->operands[index]);
  return op->group == 1 ? tileCpuMost(bytes, 4) : bytes;
}

double tileCpuOperandBytes(const TileOperator *op, int index) {
  const TileOperatorOperand *operand = &op->operands[index];
  return (double)tileOperandCount(operand) * (double)tileCpuElementBytes(operand);
}

int64_t tileCpuLanes(const TileOperator *op, const TileSearchTarget *target) {
  return tileCpuMost(1, target->vectorBytes / tileCpuMost(4, tileCpuElementBytes(&op->operands[op->out])));
}

int64_t tileCpuStride(const TileOperatorOperand *operand, int dim) {
  int64_t stride = tileCpuElementBytes(operand);
  for (int axis = operand->rank - 1; axis >= 0 && !operand->factors[axis][dim]; --axis)
    stride *= operand->extents[axis];
  return stride;
}

//===--- memory ---------------------------------------------------------------------===//

int tileCpuLevelOf(const TileSearchTarget *target, double bytes) {
  int level = 0;
  while (level + 1 < target->numLevels && 2 * bytes > (double)target->levels[level].bytes)
    ++level;
  return level;
}

int tileCpuLevelOfPanel(const TileSearchTarget *target, int64_t rows, int64_t width, int64_t stride) {
  int level = tileCpuLevelOf(target, (double)(rows * width));
  for (; level + 2 < target->numLevels; ++level) {
    const TileSearchLevel *l = &target->levels[level];
    if (tileCpuRowsSharing(l, rows, tessera_ceil_div(width, l->line), stride) <= l->ways)
      break;
  }
  return level;
}

double tileCpuLineCycles(const TileSearchTarget *target, int level, int64_t atOnce) {
  const TileSearchLevel *l = &target->levels[level];
  double byBandwidth = (double)l->line * (double)target->cores * target->clock / l->bandwidth;
  bool isShared = level + 1 >= target->numLevels || l->instances > 0;
  if (isShared)
    byBandwidth /= (double)target->cores; // one core alone may have all of it
  return tileCpuLarger((double)l->latency / (double)atOnce, byBandwidth);
}

double tileCpuExposedLine(const TileSearchTarget *target) {
  return target->model.exposedMisses * tileCpuLineCycles(target, 1 < target->numLevels, target->model.missesPacking);
}

// Caches find a line's set by its address. (The last level, which mixes the bits, is not asked.)
int64_t tileCpuRowsSharing(const TileSearchLevel *level, int64_t rows, int64_t lines, int64_t stride) {
  enum { RowsLookedAt = 128 };
  int64_t sets = tileCpuMost(1, level->bytes / (tileCpuMost(1, level->ways) * level->line));
  int64_t seen = tileCpuMost(1, tileCpuLeast(rows, RowsLookedAt)), count = 0;
  for (int64_t r = 0; r < seen; ++r) {
    int64_t set = r * stride / level->line % sets;
    count += set < lines || set > sets - lines;
  }
  return tessera_ceil_div(count * rows, seen);
}

bool tileCpuRowsAreApart(const TileOperator *op, const TileSearchTarget *target) {
  const TileSearchLevel *l1 = &target->levels[0];
  int64_t stride = tileCpuStride(&op->operands[op->rhs], op->k);
  return tileCpuRowsSharing(l1, 2 * target->model.missesDirect, 1, stride) <= l1->ways;
}

//===--- arithmetic -----------------------------------------------------------------===//

double tileCpuStepCycles(const TileSearchTarget *target, int64_t rows, int64_t vectors) {
  double fma = (double)(rows * vectors) / (double)target->fmaPerCycle;
  double loads = (double)(rows + vectors) / (double)target->loadsPerCycle;
  double longest = tileCpuLarger(tileCpuLarger(fma, loads), (double)target->fmaLatency);
  return longest + target->model.exposedLoads * loads;
}

// One instruction takes a cycle for each row of its left factor at the rate that the machine states; a row of a tile
// register is one load.
double tileCpuTilesCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t columns) {
  int64_t tall = tessera_ceil_div(rows, TileCpuTileRows), wide = tessera_ceil_div(columns, TileCpuTileRows);
  double perRow = 2.0 * TileCpuTileRows * TileCpuTileRows * (double)op->group / target->rate;
  double loads = (double)(rows + wide * TileCpuTileRows) / (double)target->loadsPerCycle;
  return tileCpuLarger((double)(tessera_ceil_div(rows, tall) * tall * wide) * perRow, loads) +
         target->model.exposedLoads * loads;
}

double tileCpuRowStepCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t columns,
                            int64_t n, double perVector) {
  if (op->isByTiles)
    return (double)tessera_ceil_div(n, columns) * (tileCpuTilesCycles(op, target, rows, columns) / TileCpuTileRows +
                                                   perVector * (double)columns / TileCpuTileRows);
  int64_t lanes = tileCpuLanes(op, target), vectors = tessera_ceil_div(columns, lanes), whole = n / columns;
  bool isNarrow = n % columns && tileCpuLastPanel(op, target, columns) > 0;
  int64_t last = n % columns == 0 ? 0 : isNarrow ? tessera_ceil_div(n % columns, lanes) : vectors;
  double cycles = (double)whole * (tileCpuStepCycles(target, rows, vectors) + perVector * (double)vectors);
  return cycles + (last ? tileCpuStepCycles(target, rows, last) + perVector * (double)last : 0);
}

double tileCpuOverlapped(const TileSearchTarget *target, double work, double waiting) {
  double longer = tileCpuLarger(work, waiting);
  return longer + target->model.exposedLoads * (work + waiting - longer);
}

//===--- register tiles ---------------------------------------------------------------===//

int64_t tileCpuLastPanel(const TileOperator *op, const TileSearchTarget *target, int64_t columns) {
  const TileOperatorDim *n = &op->dims[op->n];
  int64_t lanes = tileCpuLanes(op, target), rest = columns ? tessera_ceil_div(n->extent % columns, lanes) * lanes : 0;
  return n->isUnknown || n->extent < columns || rest == columns ? 0 : rest;
}

bool tileCpuGainsByPanels(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  bool isWaitedFor = tileCpuLevelOf(target, tileCpuOperandBytes(op, op->rhs)) > 0;
  return tile->kind == TileKind_Packed || (tile->kind == TileKind_Direct && isWaitedFor);
}

bool tileCpuMayReadInPlace(const TileOperator *op) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  bool isPlain = op->type[0] != 'i' && op->group == 1 && a->bits == c->bits && b->bits == c->bits && c->bits >= 32;
  return isPlain && !op->dims[op->k].run && !op->dims[op->m].isUnknown && !op->dims[op->n].isUnknown &&
         !op->dims[op->k].isUnknown && b->factors[b->rank - 1][op->n] == 1;
}

static double paddedCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t columns) {
  return (double)tessera_ceil_div(op->dims[op->m].extent, rows) *
         tileCpuRowStepCycles(op, target, rows, columns, op->dims[op->n].extent, 0);
}

// Two by two tile registers of sums, or one by four for few rows: panels of equal heights, as a tile may have fewer
// rows than its register.
static int tilesOfSums(const TileOperator *op, TileKind kind, TileSearchTile *tiles) {
  int64_t m = tileCpuMost(op->dims[op->m].extent, 1), most = 2 * TileCpuTileRows;
  int64_t rows = op->dims[op->m].isUnknown ? most : tessera_ceil_div(m, tessera_ceil_div(m, most));
  rows += rows > TileCpuTileRows ? rows % 2 : 0;
  int64_t columns = rows > TileCpuTileRows ? 2 * TileCpuTileRows : 4 * TileCpuTileRows;
  tiles[0] = (TileSearchTile){.kind = kind, .registers = {rows, columns}};
  tiles[1] = (TileSearchTile){.kind = kind, .registers = {rows, columns / 2}};
  return op->dims[op->n].extent < columns ? 2 : 1;
}

int64_t tileCpuRegistersOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t rows = tile->registers.rows, vectors = tessera_ceil_div(tile->registers.columns, tileCpuLanes(op, target));
  return op->isByTiles ? tessera_ceil_div(rows, TileCpuTileRows) * vectors : rows * vectors;
}

int tileCpuRegisterTiles(const TileOperator *op, const TileSearchTarget *target, TileKind kind, TileSearchTile *tiles) {
  enum { Most = 6 };
  if (op->isByTiles)
    return tilesOfSums(op, kind, tiles);
  double costs[Most];
  int64_t sums = target->model.registerLatencies * target->fmaLatency * target->fmaPerCycle;
  int64_t mostRows = tileCpuLeast(target->model.registerRows, tileCpuMost(op->dims[op->m].extent, 1));
  int count = 0;
  for (int64_t vectors = 1; vectors <= target->model.registerVectors; ++vectors)
    for (int64_t rows = mostRows; rows >= 1; --rows) {
      bool isForDots = op->group == 1 || vectors == 2; // the kernels of dot instructions have two
      if (rows * vectors + vectors + 1 > target->vectorRegisters || rows * vectors > sums || !isForDots)
        continue;
      int64_t columns = vectors * tileCpuLanes(op, target);
      double cost = paddedCycles(op, target, rows, columns);
      int at = count;
      while (at > 0 && cost < costs[at - 1])
        --at;
      if (at == Most)
        continue;
      int moved = (count < Most ? count : Most - 1) - at;
      memmove(&tiles[at + 1], &tiles[at], (size_t)moved * sizeof *tiles);
      memmove(&costs[at + 1], &costs[at], (size_t)moved * sizeof *costs);
      tiles[at] = (TileSearchTile){.kind = kind, .registers = {rows, columns}};
      costs[at] = cost;
      count += count < Most;
    }
  return count;
}

//===--- sizes ------------------------------------------------------------------------===//

int tileCpuAppendSize(int64_t *sizes, int count, int capacity, int64_t size) {
  bool isKnown = count > 0 && sizes[count - 1] >= size;
  if (!isKnown && count < capacity)
    sizes[count++] = size;
  return count;
}

// A block of k is a part of a run or several whole runs.
static int depthsOfRuns(const TileOperatorDim *k, const TileSearchModel *model, int64_t *sizes, int capacity) {
  int64_t runs = tessera_ceil_div(k->extent, k->run);
  int count = 0;
  for (int64_t parts = k->run / model->depthStep; parts > 1; --parts)
    if (k->run % parts == 0 && (k->run / parts) % model->depthRagged == 0)
      count = tileCpuAppendSize(sizes, count, capacity - 1, k->run / parts);
  for (int64_t blocks = runs; blocks >= 1; --blocks)
    count = tileCpuAppendSize(sizes, count, capacity - (blocks > 1), tessera_ceil_div(runs, blocks) * k->run);
  return count;
}

// Powers of two that pad an eighth at most, where there are such.
static int depthsOfDots(const TileOperatorDim *k, const TileSearchModel *model, int64_t *sizes, int capacity) {
  int64_t least = model->depthStep;
  int count = 0;
  for (int64_t depth = least; (!count || depth < 2 * k->extent) && count < capacity; depth *= 2)
    if (depth == least || tessera_ceil_div(k->extent, depth) * depth * 8 <= k->extent * 9)
      sizes[count++] = depth;
  return count;
}

// Equal parts in whole tile registers.
static int depthsOfTiles(const TileOperatorDim *k, int64_t step, int64_t *sizes, int capacity) {
  enum { MostSteps = 64 };
  int count = 0;
  for (int64_t steps = 1; steps <= MostSteps; ++steps) {
    int64_t parts = tessera_ceil_div(k->extent, steps * step);
    if (steps * step < k->extent + step)
      count =
          tileCpuAppendSize(sizes, count, capacity, tessera_ceil_div(tessera_ceil_div(k->extent, parts), step) * step);
  }
  return count;
}

static int depths(const TileOperatorDim *k, int64_t group, const TileSearchModel *model, int64_t *sizes, int capacity) {
  static const int64_t wanted[] = {16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 768, 1024};
  int count = 0;
  if (k->run)
    return depthsOfRuns(k, model, sizes, capacity);
  if (group > 1)
    return depthsOfDots(k, model, sizes, capacity);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    int64_t parts = tessera_ceil_div(k->extent, wanted[i]), depth = tessera_ceil_div(k->extent, parts);
    int64_t rounded = tessera_ceil_div(depth, model->depthRagged) * model->depthRagged;
    bool isEven = !k->isUnknown && (k->extent % depth == 0 || rounded >= k->extent);
    int64_t size = !isEven ? rounded : k->extent % depth == 0 ? depth : k->extent;
    count = tileCpuAppendSize(sizes, count, capacity, size);
  }
  return count;
}

static int panels(int64_t extent, int64_t unit, int64_t *sizes, int capacity) {
  int64_t tiles = tessera_ceil_div(extent, unit);
  int count = 0;
  for (int64_t wanted = 1, step = 1; wanted < 2 * tiles && count < capacity - 1; wanted += step) {
    int64_t parts = tessera_ceil_div(tiles, tileCpuLeast(wanted, tiles));
    count = tileCpuAppendSize(sizes, count, capacity, tessera_ceil_div(tiles, parts) * unit);
    step = wanted >= 4 * step ? 2 * step : step;
  }
  return tileCpuAppendSize(sizes, count, capacity, tiles * unit);
}

int tileCpuSizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                 int dim, int64_t *sizes, int capacity) {
  const TileOperatorDim *d = &op->dims[dim];
  (void)padding; // register tiles bound it
  if (dim == op->k && op->isByTiles && !d->run)
    return depthsOfTiles(d, TileCpuTileRows * op->group, sizes, capacity);
  if (dim == op->k)
    return depths(d, op->group, &target->model, sizes, capacity);
  if (dim == op->m)
    return panels(d->extent, start->registers.rows, sizes, capacity);
  if (dim == op->n)
    return panels(d->extent, start->registers.columns, sizes, capacity);
  sizes[0] = 1;
  return 1;
}

//===--- faults -----------------------------------------------------------------------===//

const char *tileCpuRegisterFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                 char *buffer, size_t capacity) {
  const int dims[] = {op->m, op->n};
  const int64_t units[] = {tile->registers.rows, tile->registers.columns};
  int64_t lanes = tileCpuLanes(op, target), rows = tile->registers.rows, columns = tile->registers.columns;
  const TileOperatorDim *k = &op->dims[op->k];
  int64_t depth = tile->size[op->k];
  if (rows < 1 || columns < 1 || columns % lanes) {
    snprintf(buffer, capacity, "`register` is [%ld, %ld]; its columns must be a multiple of the vector's %ld elements",
             (long)rows, (long)columns, (long)lanes);
    return buffer;
  }
  if (op->isByTiles && (tileCpuRegistersOf(op, target, tile) > TileCpuTilesOfSums || rows > 2 * TileCpuTileRows)) {
    snprintf(buffer, capacity, "`register` is [%ld, %ld]; its sums may take at most %d tile registers, two in a column",
             (long)rows, (long)columns, TileCpuTilesOfSums);
    return buffer;
  }
  if (!op->isByTiles && rows * (columns / lanes) > target->vectorRegisters) {
    snprintf(buffer, capacity, "`register` is [%ld, %ld]; its sums may take at most %ld vectors", (long)rows,
             (long)columns, (long)target->vectorRegisters);
    return buffer;
  }
  for (int i = 0; i < 2; ++i)
    if (tile->size[dims[i]] % units[i]) {
      snprintf(buffer, capacity, "`block` takes %ld of dimension %d; it must be a multiple of the register tile's %ld",
               (long)tile->size[dims[i]], dims[i], (long)units[i]);
      return buffer;
    }
  if (k->run && k->run % depth && depth % k->run) {
    snprintf(buffer, capacity,
             "`block` takes %ld of dimension %d; it must be a divisor or a multiple of the %ld elements of a run",
             (long)depth, op->k, (long)k->run);
    return buffer;
  }
  bool isInPlace = tile->kind == TileKind_Direct;
  if (op->isByTiles && depth % (TileCpuTileRows * op->group)) {
    snprintf(buffer, capacity, "`block` takes %ld of dimension %d; it must be a multiple of a tile register's %ld",
             (long)depth, op->k, (long)(TileCpuTileRows * op->group));
    return buffer;
  }
  bool isEven = k->run || (!k->isUnknown && (isInPlace || k->extent % depth == 0) && op->group == 1);
  if (!isEven && depth % target->model.depthStep) {
    snprintf(buffer, capacity,
             "`block` takes %ld of dimension %d; it must be a divisor of its extent or a multiple of %ld", (long)depth,
             op->k, (long)target->model.depthStep);
    return buffer;
  }
  return NULL;
}

//===--- the prediction ----------------------------------------------------------------===//

void tileCpuAddTerm(TilePrediction *p, double *largest, const char *name, double cycles) {
  if (cycles > *largest || !p->bound[0]) {
    *largest = cycles;
    memset(p->bound, 0, sizeof p->bound);
    memcpy(p->bound, name, strnlen(name, sizeof p->bound - 1));
  }
}

static void countTraffic(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                         TilePrediction *p) {
  double all = 0;
  tileRequestedBytes(op, tile, &p->read, &p->written);
  for (int i = 0; i < op->numOperands; ++i)
    all += tileCpuOperandBytes(op, i) * (op->operands[i].isRead + op->operands[i].isOutput);
  for (int i = 0; i < target->numLevels; ++i) {
    bool isHeld = i > 0 && all <= (double)target->levels[i - 1].bytes / 2;
    p->traffic[i] = isHeld ? all : p->read + p->written;
  }
}

TilePrediction tileCpuGrid(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  TilePrediction p = {.perCore = 1, .programs = 1, .steps = 1};
  for (int d = 0; d < op->numDims; ++d)
    *(op->dims[d].isReduction ? &p.steps : &p.programs) *= tessera_ceil_div(op->dims[d].extent, tile->size[d]);
  p.programs *= tileParts(tile);
  countTraffic(op, target, tile, &p);
  return p;
}

double tileCpuCyclesOfAll(const TileSearchTarget *target, int64_t programs, double each, double *cores) {
  double wake = target->model.wakeSeconds * target->clock;
  *cores = (double)programs * each < wake ? 1 : (double)tileCpuLeast(target->cores, programs);
  return ceil((double)programs / *cores) * each + wake * (*cores - 1) / *cores;
}

void tileCpuPredict(const TileOperator *op, const TileSearchTarget *target, const TileCpuCycles *one,
                    TilePrediction *p) {
  double cores, largest = 0, each = one->compute + one->packing + one->update + (double)target->model.programStart;
  double total = tileCpuCyclesOfAll(target, p->programs, each, &cores);
  p->occupancy = (double)p->programs / (ceil((double)p->programs / cores) * (double)target->cores);
  const char *memory = target->levels[one->operandLevel].name;
  tileCpuAddTerm(p, &largest, one->compute > one->waiting ? "compute" : memory, one->compute);
  tileCpuAddTerm(p, &largest, memory, one->packing);
  tileCpuAddTerm(p, &largest, "latency", one->update);
  // All cores share the one way to memory.
  const TileSearchLevel *last = &target->levels[target->numLevels - 1];
  double bytes = tileCpuOperandBytes(op, op->rhs);
  double floor = tileCpuLevelOf(target, bytes) == target->numLevels - 1 ? bytes / last->bandwidth : 0;
  p->seconds = tileCpuLarger(total / target->clock, floor);
  p->sum = total / target->clock + floor;
  if (p->seconds == floor)
    memcpy(p->bound, last->name, sizeof p->bound);
}

TilePrediction tileCpuPredictTile(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                  int64_t registers, const char *misfit, TileCpuCyclesOf cyclesOf) {
  TilePrediction p = tileCpuGrid(op, target, tile);
  p.misfit = misfit;
  p.registers = registers;
  if (misfit)
    return p;
  TileCpuCycles one = cyclesOf(op, target, tile);
  tileCpuPredict(op, target, &one, &p);
  return p;
}
