// Matrix products of a CPU. See cpu_product.h.
#include "lib/search/cpu_product.h"

#include "lib/search/construct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A register tile's rows and vectors; its sums, by how often they cover the latency of the multiply-adds: once is the
// least, twice was measured best (16 sums on Zen 4 and 5: 4 × 64 and 8 × 32 before 5 × 64, 6 × 48, 12 × 32, 14 × 32);
// sums of a streaming kernel's block.
enum { MostRows = 8, MostVectors = 5, LatenciesCovered = 2, StreamSums = 16 };
// Lines that a core waits for at once when it packs (two neighbours at a time, so that little is fetched ahead), when
// it multiplies what lies where it lies, when either meets rows that share L1's sets (8, 1024, 1024 against 8, 992,
// 1024), and when it reads long rows; of C's lines, which are asked for early.
enum { MissesAtOnce = 8, MissesOfDirect = 12, MissesOfConflict = 6, MissesOfStream = 24, MissesOfUpdate = 16 };
// Cycles of a run that is packed by itself, of a register tile, of a panel of columns and of a program beside their
// work; loads per cycle.
enum { RunStart = 8, TileStart = 16, PanelStart = 40, ProgramStart = 400, Loads = 2 };
// Cycles in which the lanes of a sum are added, and of an element of B that is packed by columns.
enum { LanesSum = 6, ElementPacked = 1 };
// Rows of B that are read together where k ends raggedly; what a block of k is a multiple of then.
enum { RaggedDepth = 32, LeastDepth = 8 };

// What a launch takes at least for the runtime to wake other cores for it (lib/runtime/pool.c), which come so much
// later.
static const double WakeSeconds = 50e-6;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }

static int64_t bytesOf(const TileOperatorOperand *operand) { return operand->bits < 8 ? 1 : operand->bits / 8; }

// Lanes of the sums: narrow floats are summed in f32.
static int64_t lanesOf(const TileOperator *op, const TileSearchTarget *target) {
  return most(1, target->vectorBytes / most(4, bytesOf(&op->operands[op->out])));
}

//===--- the machine ----------------------------------------------------------------===//

// The innermost level that holds so many bytes beside others as many.
static int levelOf(const TileSearchTarget *target, double bytes) {
  int level = 0;
  while (level + 1 < target->numLevels && 2 * bytes > (double)target->levels[level].bytes)
    ++level;
  return level;
}

// Cycles until a line of a level is there when `atOnce` of them are under way, or as its bandwidth allows.
static double lineCycles(const TileSearchTarget *target, int level, int atOnce) {
  const TileSearchLevel *l = &target->levels[level];
  double byBandwidth = (double)l->line * (double)target->cores * target->clock / l->bandwidth;
  bool isShared = level + 1 >= target->numLevels || l->instances > 0;
  if (isShared)
    byBandwidth /= (double)target->cores; // one core alone may have all of it
  return larger((double)l->latency / atOnce, byBandwidth);
}

static double operandBytes(const TileOperator *op, int index) {
  return (double)tileOperandCount(&op->operands[index]) * (double)bytesOf(&op->operands[index]);
}

//===--- cycles ----------------------------------------------------------------------===//

typedef struct Cycles {
  double compute, packing, update; // update: C's lines
  int operandLevel;                // where what is packed or streamed comes from
  double waiting;                  // of compute or packing: for memory
} Cycles;

// Shares of loads, and of loads of a panel of B that L1 has not got, that multiply-adds do not hide (measured).
static const double loadShare = 0.1, missShare = 0.2;

// One step of k of a register tile: multiply-adds, loads of B's row and A's elements, or the sums' latency.
static double stepCycles(const TileSearchTarget *target, int64_t rows, int64_t vectors) {
  double fma = (double)(rows * vectors) / (double)target->fmaPerCycle, loads = (double)(rows + vectors) / Loads;
  return larger(larger(fma, loads), (double)target->fmaLatency) + loadShare * loads;
}

bool tileCpuProductMayBeDirect(const TileOperator *op) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  bool isPlain = op->type[0] != 'i' && op->group == 1 && a->bits == c->bits && b->bits == c->bits && c->bits >= 32;
  return isPlain && !op->dims[op->k].run && !op->dims[op->m].isUnknown && !op->dims[op->n].isUnknown &&
         !op->dims[op->k].isUnknown && b->factors[b->rank - 1][op->n] == 1;
}

int64_t tileCpuProductLastPanel(const TileOperator *op, const TileSearchTarget *target, int64_t columns) {
  const TileOperatorDim *n = &op->dims[op->n];
  int64_t lanes = lanesOf(op, target), rest = columns ? tileCeilDiv(n->extent % columns, lanes) * lanes : 0;
  return n->isUnknown || n->extent < columns || rest == columns ? 0 : rest;
}

// A step of k of one row of register tiles over `n` columns.
static double rowStepCycles(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                            int64_t n, double perVector) {
  int64_t lanes = lanesOf(op, target), vectors = tileCeilDiv(tile->columns, lanes), whole = n / tile->columns;
  bool isNarrow = n % tile->columns && tileCpuProductLastPanel(op, target, tile->columns) > 0;
  int64_t last = n % tile->columns == 0 ? 0 : isNarrow ? tileCeilDiv(n % tile->columns, lanes) : vectors;
  double cycles = (double)whole * (stepCycles(target, tile->rows, vectors) + perVector * (double)vectors);
  return cycles + (last ? stepCycles(target, tile->rows, last) + perVector * (double)last : 0);
}

enum { RowsLookedAt = 128 };

// How many of `rows` rows, `stride` bytes apart, have a line in a set where the first one, `lines` wide, has one too.
// Caches but the last, which mixes the bits, find a line's set by its address.
static int64_t rowsSharing(const TileSearchLevel *level, int64_t rows, int64_t lines, int64_t stride) {
  int64_t sets = level->bytes / (most(1, level->ways) * level->line), seen = least(rows, RowsLookedAt), count = 0;
  for (int64_t r = 0; r < seen; ++r) {
    int64_t set = r * stride / level->line % sets;
    count += set < lines || set > sets - lines;
  }
  return tileCeilDiv(count * rows, seen);
}

// The innermost level that holds a panel of `rows` rows of `width` bytes beside others as many, where it lies.
static int levelOfPanel(const TileSearchTarget *target, int64_t rows, int64_t width, int64_t stride) {
  int level = levelOf(target, (double)(rows * width));
  for (; level + 2 < target->numLevels; ++level) {
    const TileSearchLevel *l = &target->levels[level];
    if (rowsSharing(l, rows, tileCeilDiv(width, l->line), stride) <= l->ways)
      break;
  }
  return level;
}

// Bytes from one index of a dimension to the next.
static int64_t strideAlong(const TileOperatorOperand *operand, int dim) {
  int64_t stride = bytesOf(operand);
  for (int axis = operand->rank - 1; axis >= 0 && !operand->factors[axis][dim]; --axis)
    stride *= operand->extents[axis];
  return stride;
}

// Whether L1 holds as many lines of a column of B as are under way at once: else they evict each other on arrival.
static bool areRowsApart(const TileOperator *op, const TileSearchTarget *target) {
  const TileSearchLevel *l1 = &target->levels[0];
  return rowsSharing(l1, 2 * MissesOfDirect, 1, strideAlong(&op->operands[op->rhs], op->k)) <= l1->ways;
}

static Cycles packedCycles(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  int64_t m = least(tile->size[op->m], op->dims[op->m].extent), n = least(tile->size[op->n], op->dims[op->n].extent);
  int64_t k = op->dims[op->k].extent, depth = tile->size[op->k];
  int64_t lanes = lanesOf(op, target), last = tileCpuProductLastPanel(op, target, tile->columns);
  int64_t rowsOfTiles = tileCeilDiv(m, tile->rows);
  int64_t columns = tileCeilDiv(n, last > 0 ? lanes : tile->columns) * (last > 0 ? lanes : tile->columns);
  bool isInL1 = depth * tile->columns * bytesOf(b) <= target->levels[0].bytes;
  double blocks = (double)tileCeilDiv(k, depth);
  double step = rowStepCycles(op, target, tile, n, isInL1 ? 0 : missShare / Loads);
  double panels = (double)tileCeilDiv(n, tile->columns);
  int levelA = levelOf(target, operandBytes(op, op->lhs)), levelB = levelOf(target, operandBytes(op, op->rhs));
  int levelC = levelOf(target, (double)(m * n * bytesOf(c)));
  double line = (double)target->levels[0].line;
  double linesA = (double)(m * k * bytesOf(a)) / line, linesB = (double)(columns * k * bytesOf(b)) / line;
  Cycles cycles = {.operandLevel = linesA > linesB ? levelA : levelB};
  cycles.compute = (double)rowsOfTiles * ((double)tileCeilDiv(k, op->group) * step + blocks * panels * TileStart) +
                   blocks * panels * PanelStart;
  // Of what is read in windows each element is waited for once.
  double held = (double)tileOperandCount(a) / (double)(op->dims[op->m].extent * k);
  cycles.waiting = (held < 1 ? held : 1) * linesA * lineCycles(target, levelA, MissesAtOnce) +
                   linesB * lineCycles(target, levelB, areRowsApart(op, target) ? MissesAtOnce : MissesOfConflict);
  double runs = op->dims[op->k].run ? (double)(m * tileCeilDiv(k, least(depth, op->dims[op->k].run))) : 0;
  cycles.packing = cycles.waiting + linesA + linesB + runs * RunStart;
  bool isAligned = op->dims[op->n].extent * bytesOf(c) % target->levels[0].line == 0; // else two lines a vector
  cycles.update = blocks * (double)(rowsOfTiles * tile->rows * (columns / lanes)) *
                  (1 + lineCycles(target, levelC, MissesOfUpdate)) * (isAligned ? 1 : 2);
  return cycles;
}

// Register tiles where the operands lie, block after block of k: a panel of B comes from where B is once, for the next
// rows of tiles from the cache that holds the panel; A's block likewise, for the next panels. What is waited for and
// multiply-adds overlap, not quite.
static Cycles directCycles(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  int64_t m = least(tile->size[op->m], op->dims[op->m].extent), n = least(tile->size[op->n], op->dims[op->n].extent);
  int64_t k = op->dims[op->k].extent, lanes = lanesOf(op, target), depth = least(tile->size[op->k], k);
  int64_t blocks = tileCeilDiv(k, depth);
  double rowsOfTiles = (double)tileCeilDiv(m, tile->rows), panels = (double)tileCeilDiv(n, tile->columns);
  double line = (double)target->levels[0].line, tiles = rowsOfTiles * panels;
  TileSearchTile last = *tile;
  last.rows = m % tile->rows;
  int levelB = levelOf(target, operandBytes(op, op->rhs)), levelA = levelOf(target, operandBytes(op, op->lhs));
  int again = levelOfPanel(target, depth, tile->columns * bytesOf(b), strideAlong(b, op->k));
  int againA = levelOfPanel(target, m, depth * bytesOf(a), strideAlong(a, op->m));
  double perVector = ((again > 0) + (againA > 0)) * missShare / Loads; // of a panel that L1 has not got
  double work = (double)(m / tile->rows) * rowStepCycles(op, target, tile, n, perVector);
  work += last.rows ? rowStepCycles(op, target, &last, n, perVector) : 0;
  work = work * (double)k + (double)blocks * tiles * TileStart;
  bool isApart = areRowsApart(op, target);
  double linesB = (double)(k * tileCeilDiv(n, lanes) * lanes * bytesOf(b)) / line;
  double linesA = (double)(m * tileCeilDiv(k * bytesOf(a), target->levels[0].line));
  Cycles cycles = {.operandLevel = linesA > linesB ? levelA : levelB};
  cycles.waiting =
      (levelB ? linesB * lineCycles(target, levelB, isApart ? MissesOfDirect : MissesOfConflict) : 0) +
      (levelA ? linesA * lineCycles(target, levelA, MissesOfDirect) : 0) +
      (again ? (rowsOfTiles - 1) * linesB * lineCycles(target, again, isApart ? MissesAtOnce : MissesOfConflict) : 0) +
      (againA ? (panels - 1) * linesA * lineCycles(target, againA, MissesOfDirect) : 0);
  double longer = isApart ? larger(work, cycles.waiting) : work + cycles.waiting;
  cycles.compute = longer + loadShare * (work + cycles.waiting - longer);
  int levelC = levelOf(target, (double)(m * n * bytesOf(c)));
  cycles.update = (double)(blocks * m * tileCeilDiv(n, lanes)) * (1 + lineCycles(target, levelC, MissesOfUpdate));
  return cycles;
}

static Cycles streamCycles(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t m = tile->size[op->m], n = least(tile->size[op->n], op->dims[op->n].extent);
  int64_t k = op->dims[op->k].extent / most(1, tile->split), depth = least(tile->size[op->k], k),
          vectors = tileCeilDiv(n, lanesOf(op, target));
  double steps = (double)tileCeilDiv(k, depth), line = (double)target->levels[0].line;
  // A vector of columns and a step: depth rows of B, m rows of C in and out, m × depth multiply-adds, and A's elements
  // for as many vectors as have their sums in registers.
  double together = (double)most(1, StreamSums / most(1, m));
  double loads = ((double)(depth + m) + (double)(m * depth) / together) / Loads + (double)m;
  double each = larger((double)(m * depth) / (double)target->fmaPerCycle, loads);
  int level = levelOf(target, operandBytes(op, op->rhs));
  Cycles cycles = {.operandLevel = level};
  double lines = (double)(n * k * bytesOf(&op->operands[op->rhs])) / line;
  // A run of a row begins with a wait; from there on the next lines are fetched ahead.
  cycles.waiting =
      lines * lineCycles(target, level, MissesOfStream) + (double)k * (double)target->levels[level].latency;
  if (tile->split > 1) // the sums of all parts, read, added and written once more
    cycles.update = (double)(tile->split + 1) * (double)(m * n) / (double)lanesOf(op, target) + ProgramStart;
  double work = steps * ((double)vectors * each + TileStart), longer = larger(work, cycles.waiting);
  cycles.compute = longer + loadShare * (work + cycles.waiting - longer); // they overlap, not quite
  return cycles;
}

// Lanes along k: vectors of A from where it lies, of B from columns packed before, at the end a sum of lanes each.
static Cycles alongDepthCycles(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs], *c = &op->operands[op->out];
  int64_t m = least(tile->size[op->m], op->dims[op->m].extent), n = tile->columns, k = op->dims[op->k].extent;
  double tiles = (double)tileCeilDiv(m, tile->rows), sums = (double)(tile->rows * n);
  double fma = sums / (double)target->fmaPerCycle, loads = (double)(tile->rows + n) / Loads;
  double step = larger(larger(fma, loads), (double)target->fmaLatency) + loadShare * loads;
  double line = (double)target->levels[0].line;
  double linesA = (double)(m * k * bytesOf(a)) / line, linesB = (double)(n * k * bytesOf(b)) / line;
  int levelA = levelOf(target, operandBytes(op, op->lhs)), levelB = levelOf(target, operandBytes(op, op->rhs));
  int again = levelOf(target, (double)(n * tileSearchBucket(k) * bytesOf(b)));
  // Packed columns begin at powers of two. Where L1 has no room for two lines of each, they evict what is on its way.
  const TileSearchLevel *l1 = &target->levels[0];
  bool isApart = 2 * rowsSharing(l1, n, 1, tileSearchBucket(k) * bytesOf(b)) <= l1->ways;
  step += !again ? 0 : (double)n * (isApart ? missShare / Loads : lineCycles(target, again, MissesOfConflict));
  double work = tiles * ((double)tileCeilDiv(k, lanesOf(op, target)) * step + TileStart + sums * LanesSum);
  Cycles cycles = {.operandLevel = levelA, .waiting = levelA ? linesA * lineCycles(target, levelA, MissesOfDirect) : 0};
  double longer = larger(work, cycles.waiting);
  cycles.compute = longer + loadShare * (work + cycles.waiting - longer);
  cycles.packing = linesB * lineCycles(target, levelB, MissesAtOnce) + (double)(n * k) * ElementPacked;
  int levelC = levelOf(target, (double)(m * n * bytesOf(c)));
  cycles.update = (double)m * (1 + lineCycles(target, levelC, MissesOfUpdate));
  return cycles;
}

bool tileCpuProductGainsByPanels(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  bool isWaitedFor = levelOf(target, operandBytes(op, op->rhs)) > 0; // as in directCycles
  return tile->rows && !tile->isAlongDepth && (!tile->isUnpacked || isWaitedFor);
}

//===--- the prediction ----------------------------------------------------------------===//

static const char *misfitOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  int64_t bytesA = bytesOf(&op->operands[op->lhs]), bytesB = bytesOf(&op->operands[op->rhs]);
  int64_t rows = tile->rows, vectors = tileCeilDiv(tile->columns, lanesOf(op, target)), depth = tile->size[op->k];
  const TileSearchLevel *l1 = &target->levels[0], *l2 = &target->levels[target->numLevels > 1 ? 1 : 0];
  if (!rows) // C's rows and the rows of B in flight; half of the ways, as rows of B may share a set
    return tile->size[op->m] * tile->size[op->n] * most(4, bytesOf(&op->operands[op->out])) > l1->bytes / 2 ? l1->name
                                                                                                            : NULL;
  if (tile->isAlongDepth)
    return rows * tile->columns + tile->columns + 1 > target->vectorRegisters ? "registers"
           : tile->columns * tileSearchBucket(depth) * bytesB > l2->bytes / 4 ? l2->name
                                                                              : NULL;
  if (rows * vectors + vectors + 1 > target->vectorRegisters)
    return "registers";
  if (tile->isUnpacked) {
    const TileOperatorOperand *a = &op->operands[op->lhs], *b = &op->operands[op->rhs];
    int64_t m = least(tile->size[op->m], op->dims[op->m].extent), k = least(depth, op->dims[op->k].extent);
    return levelOfPanel(target, k, tile->columns * bytesB, strideAlong(b, op->k)) > 1 ||
                   levelOfPanel(target, m, k * bytesA, strideAlong(a, op->m)) > 1
               ? l2->name
               : NULL;
  }
  // Packed rows begin at powers of two. B's panel is in L2 if L1 is too small for it; half of L2 is for what passes by.
  int64_t block = tile->size[op->m] * tileSearchBucket(depth) * bytesA,
          panel = depth * tileSearchBucket(tile->columns) * bytesB;
  return block > l2->bytes / 2 || panel > l2->bytes / 4 ? l2->name : NULL;
}

static void addTerm(TilePrediction *p, double *largest, const char *name, double cycles) {
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
    all += operandBytes(op, i) * (op->operands[i].isRead + op->operands[i].isOutput);
  for (int i = 0; i < target->numLevels; ++i) {
    bool isHeld = i > 0 && all <= (double)target->levels[i - 1].bytes / 2;
    p->traffic[i] = isHeld ? all : p->read + p->written;
  }
}

// Cycles until `programs` of so many are done, by `cores` of them.
static double cyclesOfAll(const TileSearchTarget *target, int64_t programs, double each, double *cores) {
  double wake = WakeSeconds * target->clock;
  *cores = (double)programs * each < wake ? 1 : (double)least(target->cores, programs);
  return ceil((double)programs / *cores) * each + wake * (*cores - 1) / *cores;
}

TilePrediction tileCpuProductPredict(const TileOperator *op, const TileSearchTarget *target,
                                     const TileSearchTile *tile) {
  TilePrediction p = {.perCore = 1, .programs = 1, .misfit = misfitOf(op, target, tile)};
  p.registers = !tile->rows          ? StreamSums
                : tile->isAlongDepth ? tile->rows * tile->columns
                                     : tile->rows * tileCeilDiv(tile->columns, lanesOf(op, target));
  for (int d = 0; d < op->numDims; ++d)
    *(op->dims[d].isReduction ? &p.steps : &p.programs) =
        (op->dims[d].isReduction ? 1 : p.programs) * tileCeilDiv(op->dims[d].extent, tile->size[d]);
  p.programs *= most(1, tile->split);
  countTraffic(op, target, tile, &p);
  if (p.misfit)
    return p;
  Cycles one = !tile->rows          ? streamCycles(op, target, tile)
               : tile->isAlongDepth ? alongDepthCycles(op, target, tile)
               : tile->isUnpacked   ? directCycles(op, target, tile)
                                    : packedCycles(op, target, tile);
  double cores, largest = 0;
  double total = cyclesOfAll(target, p.programs, one.compute + one.packing + one.update + ProgramStart, &cores);
  p.occupancy = (double)p.programs / (ceil((double)p.programs / cores) * (double)target->cores);
  const char *memory = target->levels[one.operandLevel].name;
  addTerm(&p, &largest, one.compute > one.waiting ? "compute" : memory, one.compute);
  addTerm(&p, &largest, memory, one.packing);
  addTerm(&p, &largest, "latency", one.update);
  // What all cores ask of memory together passes its one way.
  const TileSearchLevel *last = &target->levels[target->numLevels - 1];
  bool isOutside = levelOf(target, operandBytes(op, op->rhs)) == target->numLevels - 1;
  double floor = isOutside ? operandBytes(op, op->rhs) / last->bandwidth : 0;
  p.seconds = larger(total / target->clock, floor);
  p.sum = total / target->clock + floor;
  if (p.seconds == floor)
    memcpy(p.bound, last->name, sizeof p.bound);
  return p;
}

//===--- nothing packed, sums over several dimensions ------------------------------------===//

// Vectors of a row of sums; the most of k in a step, which pays for its loop (ResNet-50's convolutions ran at 0.5 of
// the peak in steps of 32, at 0.8 in steps of 128), and in a step that is walked around the window.
enum { DirectVectors = 2, DirectDepth = 128, AroundDepth = 32 };

// Parts of at most `bound`, all about alike: 14 are 7 and 7, not 8 and 6.
static int64_t evenPart(const TileOperatorDim *dim, int64_t bound) {
  return dim->isUnknown ? bound : tileCeilDiv(dim->extent, tileCeilDiv(dim->extent, bound));
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

bool tileCpuDirectWalksDepthAround(const TileOperator *op) {
  int left = innermostReduction(op, &op->operands[op->lhs]), right = innermostReduction(op, &op->operands[op->rhs]);
  int weights = left >= 0 ? left : right;
  return weights >= 0 && weights != op->k;
}

TileSearchTile tileCpuDirectTile(const TileOperator *op, const TileSearchTarget *target) {
  TileSearchTile tile = {.warps = 1, .warpsM = 1, .stages = 1};
  int64_t columns = DirectVectors * lanesOf(op, target), rows = (target->vectorRegisters - 1) / DirectVectors - 1;
  for (int d = 0; d < op->numDims; ++d)
    tile.size[d] = 1;
  tile.size[op->m] = evenPart(&op->dims[op->m], most(1, least(rows, MostRows)));
  tile.size[op->n] = evenPart(&op->dims[op->n], columns);
  tile.size[op->k] = evenPart(&op->dims[op->k], tileCpuDirectWalksDepthAround(op) ? AroundDepth : DirectDepth);
  return tile;
}

// The innermost level that holds so many bytes and a quarter more.
static int levelWithin(const TileSearchTarget *target, double bytes) {
  int level = 0;
  while (level + 1 < target->numLevels && bytes * 4 > (double)target->levels[level].bytes * 3)
    ++level;
  return level;
}

TilePrediction tileCpuDirectPredict(const TileOperator *op, const TileSearchTarget *target,
                                    const TileSearchTile *tile) {
  TilePrediction p = {.perCore = 1, .programs = 1, .steps = 1};
  int64_t rows = least(tile->size[op->m], op->dims[op->m].extent),
          columns = least(tile->size[op->n], op->dims[op->n].extent), depth = 1;
  for (int d = 0; d < op->numDims; ++d) {
    *(op->dims[d].isReduction ? &p.steps : &p.programs) *= tileCeilDiv(op->dims[d].extent, tile->size[d]);
    depth *= op->dims[d].isReduction ? op->dims[d].extent : 1;
  }
  countTraffic(op, target, tile, &p);
  int64_t vectors = tileCeilDiv(columns, lanesOf(op, target));
  double line = (double)target->levels[0].line, programs = (double)p.programs;
  double compute =
      programs * ((double)(p.steps * tile->size[op->k]) * stepCycles(target, rows, vectors) + (double)p.steps);
  int level = levelWithin(target, operandBytes(op, op->rhs));
  bool isOwn = level + 1 < target->numLevels && target->levels[level].instances == 0;
  double each = level == 0 ? 0 : isOwn ? missShare / Loads : lineCycles(target, level, MissesAtOnce);
  double lines = tileCeilDiv(columns * bytesOf(&op->operands[op->rhs]), (int64_t)line);
  double waiting = programs * (double)depth * lines * each;
  int levelA = levelOf(target, operandBytes(op, op->lhs)), levelC = levelOf(target, operandBytes(op, op->out));
  double image = operandBytes(op, op->lhs) / line * lineCycles(target, levelA, MissesAtOnce);
  double update = programs * (double)(rows * vectors) * (1 + lineCycles(target, levelC, MissesOfUpdate));
  double cores, largest = 0,
                total = cyclesOfAll(target, p.programs, (compute + waiting + image + update) / programs, &cores);
  p.occupancy = programs / (ceil(programs / cores) * (double)target->cores);
  addTerm(&p, &largest, "compute", compute);
  addTerm(&p, &largest, target->levels[level].name, waiting);
  addTerm(&p, &largest, target->levels[levelA].name, image);
  addTerm(&p, &largest, "latency", update);
  p.seconds = p.sum = total / target->clock;
  return p;
}

//===--- register tiles -------------------------------------------------------------------===//

static double paddedCycles(const TileOperator *op, const TileSearchTarget *target, int64_t rows, int64_t vectors) {
  TileSearchTile tile = {.rows = rows, .columns = vectors * lanesOf(op, target)};
  return (double)tileCeilDiv(op->dims[op->m].extent, rows) *
         rowStepCycles(op, target, &tile, op->dims[op->n].extent, 0);
}

int tileCpuProductRegisters(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  double costs[TileCpuProductRegisterTiles];
  int64_t sums = LatenciesCovered * target->fmaLatency * target->fmaPerCycle;
  int count = 0;
  for (int64_t vectors = 1; vectors <= MostVectors; ++vectors)
    for (int64_t rows = least(MostRows, most(op->dims[op->m].extent, 1)); rows >= 1; --rows) {
      bool isForDots = op->group == 1 || vectors == 2; // what their kernels were measured with
      if (rows * vectors + vectors + 1 > target->vectorRegisters || rows * vectors > sums || !isForDots)
        continue;
      double cost = paddedCycles(op, target, rows, vectors);
      int at = count;
      while (at > 0 && cost < costs[at - 1])
        --at;
      if (at == TileCpuProductRegisterTiles)
        continue;
      int moved = least(count, TileCpuProductRegisterTiles - 1) - at;
      memmove(&tiles[at + 1], &tiles[at], (size_t)moved * sizeof *tiles);
      memmove(&costs[at + 1], &costs[at], (size_t)moved * sizeof *costs);
      tiles[at] = (TileSearchTile){.rows = rows, .columns = vectors * lanesOf(op, target)};
      costs[at] = cost;
      count += count < TileCpuProductRegisterTiles;
    }
  return count;
}

bool tileCpuProductAlongDepth(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  const TileOperatorOperand *a = &op->operands[op->lhs];
  int64_t columns = op->dims[op->n].extent, lanes = lanesOf(op, target);
  int64_t sums = LatenciesCovered * target->fmaLatency * target->fmaPerCycle;
  bool isThin = tileCpuProductMayBeDirect(op) && columns < lanes && op->dims[op->k].extent >= lanes;
  if (!isThin || columns < 1 || a->factors[a->rank - 1][op->k] != 1 || columns > sums)
    return false;
  int64_t rows = least(sums / columns, (target->vectorRegisters - columns - 1) / columns);
  rows = least(least(rows, MostRows), most(op->dims[op->m].extent, 1));
  *tile = (TileSearchTile){.rows = rows, .columns = columns, .isUnpacked = true, .isAlongDepth = true};
  return rows > 0;
}

//===--- sizes -----------------------------------------------------------------------------===//

static int append(int64_t *sizes, int count, int capacity, int64_t size) {
  bool isKnown = count > 0 && sizes[count - 1] >= size;
  if (!isKnown && count < capacity)
    sizes[count++] = size;
  return count;
}

// A block of k is a part of a run or several whole ones.
static int depthsOfRuns(const TileOperatorDim *k, int64_t *sizes, int capacity) {
  int64_t runs = tileCeilDiv(k->extent, k->run);
  int count = 0;
  for (int64_t parts = k->run / LeastDepth; parts > 1; --parts)
    if (k->run % parts == 0 && (k->run / parts) % RaggedDepth == 0)
      count = append(sizes, count, capacity - 1, k->run / parts);
  for (int64_t blocks = runs; blocks >= 1; --blocks)
    count = append(sizes, count, capacity - (blocks > 1), tileCeilDiv(runs, blocks) * k->run);
  return count;
}

static int depths(const TileOperatorDim *k, int64_t group, int64_t *sizes, int capacity) {
  int count = 0;
  if (k->run)
    return depthsOfRuns(k, sizes, capacity);
  // Dot instructions: powers of two that pad an eighth at most, where there are such.
  for (int64_t depth = LeastDepth; group > 1 && (!count || depth < 2 * k->extent) && count < capacity; depth *= 2)
    if (depth == LeastDepth || tileCeilDiv(k->extent, depth) * depth * 8 <= k->extent * 9)
      sizes[count++] = depth;
  if (group > 1)
    return count;
  static const int64_t wanted[] = {16, 32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 768, 1024};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    int64_t parts = tileCeilDiv(k->extent, wanted[i]), depth = tileCeilDiv(k->extent, parts);
    int64_t rounded = tileCeilDiv(depth, RaggedDepth) * RaggedDepth;
    bool isEven = !k->isUnknown && (k->extent % depth == 0 || rounded >= k->extent);
    count = append(sizes, count, capacity, !isEven ? rounded : k->extent % depth == 0 ? depth : k->extent);
  }
  return count;
}

static int panels(int64_t extent, int64_t unit, int64_t *sizes, int capacity) {
  int64_t tiles = tileCeilDiv(extent, unit);
  int count = 0;
  for (int64_t wanted = 1, step = 1; wanted < 2 * tiles && count < capacity - 1; wanted += step) {
    count = append(sizes, count, capacity, tileCeilDiv(tiles, tileCeilDiv(tiles, least(wanted, tiles))) * unit);
    step = wanted >= 4 * step ? 2 * step : step;
  }
  return append(sizes, count, capacity, tiles * unit);
}

int tileCpuProductSizes(const TileOperator *op, const TileSearchTile *registers, int dim, int64_t *sizes,
                        int capacity) {
  const TileOperatorDim *d = &op->dims[dim];
  if (dim == op->k && registers->isAlongDepth) {
    sizes[0] = d->extent;
    return 1;
  }
  if (dim == op->k) {
    int count = depths(d, op->group, sizes, capacity);
    return registers->isUnpacked ? append(sizes, count, capacity, d->extent) : count;
  }
  if (dim == op->m || dim == op->n)
    return panels(d->extent, dim == op->m ? registers->rows : registers->columns, sizes, capacity);
  sizes[0] = 1;
  return 1;
}

static int64_t divisorBelow(int64_t extent, int64_t bound) {
  int64_t divisor = most(1, least(extent, bound));
  while (extent % divisor)
    --divisor;
  return divisor;
}

// B is read from memory: whole rows of it are read faster than parts, so that cores rather share k.
static int splitStream(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tile) {
  int64_t k = op->dims[op->k].extent, ways = most(2, target->levels[0].ways / 2);
  bool isPlain = op->numDims == 3 && op->operands[op->lhs].factors[1][op->k] == 1 &&
                 op->operands[op->rhs].factors[1][op->n] == 1 && op->operands[op->out].factors[1][op->n] == 1;
  bool isOutside = levelOf(target, operandBytes(op, op->rhs)) == target->numLevels - 1;
  if (!isPlain || !isOutside || target->cores < 2 || k % target->cores || k / target->cores < ways)
    return 0;
  *tile = (TileSearchTile){.warps = 1, .warpsM = 1, .stages = 1, .split = target->cores};
  tile->size[op->m] = op->dims[op->m].extent;
  tile->size[op->n] = op->dims[op->n].extent;
  tile->size[op->k] = divisorBelow(k / target->cores, ways);
  return 1;
}

int tileCpuProductStreams(const TileOperator *op, const TileSearchTarget *target, TileSearchTile *tiles) {
  const TileOperatorDim *m = &op->dims[op->m], *n = &op->dims[op->n], *k = &op->dims[op->k];
  const TileOperatorOperand *b = &op->operands[op->rhs];
  int64_t lanes = lanesOf(op, target), ways = most(2, target->levels[0].ways / 2);
  int count = 0;
  bool isInteger = op->type[0] == 'i'; // no product without a dot instruction
  if (k->run || isInteger || m->isUnknown || n->isUnknown || k->isUnknown || m->extent >= MostRows ||
      b->factors[b->rank - 1][op->n] != 1)
    return 0;
  count += splitStream(op, target, tiles);
  for (int64_t parts = 1; parts <= 8 && count + 2 <= TileCpuProductStreams; ++parts)
    for (int64_t deep = ways; deep >= 2 && count < TileCpuProductStreams; deep /= 2) {
      int64_t columns = tileCeilDiv(n->extent, parts), depth = divisorBelow(k->extent, deep);
      if (n->extent % parts)
        columns = tileCeilDiv(columns, lanes) * lanes;
      TileSearchTile *tile = &tiles[count++];
      *tile = (TileSearchTile){.warps = 1, .warpsM = 1, .stages = 1};
      for (int d = 0; d < op->numDims; ++d)
        tile->size[d] = 1;
      tile->size[op->m] = m->extent;
      tile->size[op->n] = least(columns, n->extent);
      tile->size[op->k] = depth > 1 ? depth : least(deep, k->extent); // masks, where there are no divisors
    }
  return count;
}

//===--- what somebody wrote ------------------------------------------------------------------===//

const char *tileCpuProductFault(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile,
                                char *buffer, size_t capacity) {
  const int dims[] = {op->m, op->n};
  const int64_t units[] = {tile->rows, tile->columns};
  int64_t lanes = lanesOf(op, target);
  const TileOperatorDim *k = &op->dims[op->k];
  bool mayBeSplit = op->numDims == 3 && !k->isUnknown && !op->dims[op->n].isUnknown && !op->dims[op->m].isUnknown &&
                    !tile->rows && k->extent % most(1, tile->split) == 0;
  if (tile->split > 1 && !mayBeSplit) {
    snprintf(buffer, capacity, "split is %ld, want a divisor of k, of known sizes, where nothing is packed",
             (long)tile->split);
    return buffer;
  }
  if (tile->isAlongDepth) {
    TileSearchTile thin;
    bool isFit = tile->rows > 0 && tileCpuProductAlongDepth(op, target, &thin) && tile->columns == thin.columns &&
                 (tile->rows + 1) * tile->columns < target->vectorRegisters && tile->size[op->k] == k->extent &&
                 tile->size[op->n] == thin.columns && tile->size[op->m] % tile->rows == 0;
    if (isFit)
      return NULL;
    snprintf(
        buffer, capacity,
        "b is packed along k, want fewer columns than the vectors' %ld elements, all of them and of k in the block "
        "and the register tile, and contiguous rows of A",
        (long)lanes);
    return buffer;
  }
  if (!tile->rows) {
    if (op->dims[op->m].isUnknown || tile->size[op->m] < op->dims[op->m].extent) {
      snprintf(buffer, capacity, "block takes %ld of dimension %d, want all of it where nothing is packed",
               (long)tile->size[op->m], op->m);
      return buffer;
    }
    return NULL;
  }
  if (tile->isUnpacked && !tileCpuProductMayBeDirect(op)) {
    snprintf(buffer, capacity,
             "register tile is said though nothing is packed, want known sizes, floats of the "
             "result's type and contiguous rows of B");
    return buffer;
  }
  if (tile->columns % lanes) {
    snprintf(buffer, capacity, "register tile is %ld wide, want a multiple of the vectors' %ld elements",
             (long)tile->columns, (long)lanes);
    return buffer;
  }
  if (tile->rows * (tile->columns / lanes) > target->vectorRegisters) {
    snprintf(buffer, capacity, "register tile is %ld x %ld, want sums for at most %ld vectors", (long)tile->rows,
             (long)tile->columns, (long)target->vectorRegisters);
    return buffer;
  }
  for (int i = 0; i < 2; ++i)
    if (tile->size[dims[i]] % units[i]) {
      snprintf(buffer, capacity, "block takes %ld of dimension %d, want a multiple of the register tile's %ld",
               (long)tile->size[dims[i]], dims[i], (long)units[i]);
      return buffer;
    }
  if (k->run && k->run % tile->size[op->k] && tile->size[op->k] % k->run) {
    snprintf(buffer, capacity, "block takes %ld of dimension %d, want a divisor or a multiple of the %ld in a row",
             (long)tile->size[op->k], op->k, (long)k->run);
    return buffer;
  }
  bool isEven = k->run || (!k->isUnknown && (tile->isUnpacked || k->extent % tile->size[op->k] == 0) && op->group == 1);
  if (!isEven && tile->size[op->k] % LeastDepth) {
    snprintf(buffer, capacity, "block takes %ld of dimension %d, want a divisor of its extent or a multiple of %d",
             (long)tile->size[op->k], op->k, LeastDepth);
    return buffer;
  }
  return NULL;
}
