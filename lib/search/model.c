// The micro-performance model. See model.h.
#include "lib/search/model.h"

#include "lib/support/integer.h"

#include <math.h>
#include <string.h>

//===--- counting --------------------------------------------------------------===//

// The nest cut into tiles: how many there are along each dimension, and which dimensions index which operand.
typedef struct Nest {
  const TileOperator *op;
  const TileSearchTarget *target;
  const TileSearchTile *tile;
  int64_t tiles[TileOperatorDims];
  uint32_t uses[TileOperatorOperands];
  double programs, steps;
} Nest;

static const TileKernelKind *kindOf(const TileSearchTile *tile) {
  static const TileKernelKind none = {.name = ""};
  return tile->kind ? tileKernelKinds[tile->kind] : &none;
}

static Nest nestOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  Nest nest = {.op = op, .target = target, .tile = tile, .programs = 1, .steps = 1};
  for (int d = 0; d < op->numDims; ++d) {
    nest.tiles[d] = tessera_ceil_div(op->dims[d].extent, tile->size[d]);
    *(op->dims[d].isReduction ? &nest.steps : &nest.programs) *= (double)nest.tiles[d];
  }
  for (int i = 0; i < op->numOperands; ++i)
    for (int d = 0; d < op->numDims; ++d)
      nest.uses[i] |= tileOperandIsIndexedBy(&op->operands[i], d) ? 1u << d : 0;
  return nest;
}

static bool isUsed(const Nest *nest, int operand, int dim) { return nest->uses[operand] >> dim & 1; }

// Elements of an operand that all programs ask for: its own, as often as there are tiles of what does not index it.
// Ragged tiles ask for no more than there is.
static double requested(const Nest *nest, int operand, bool isWrite) {
  const TileOperator *op = nest->op;
  bool isOutput = op->operands[operand].isOutput, isPerBlock = kindOf(nest->tile)->isStoredPerBlock;
  double elements = 1;
  for (int d = 0; d < op->numDims; ++d) {
    if (isUsed(nest, operand, d))
      elements *= (double)op->dims[d].extent;
    else if (!(isWrite || isOutput) || !op->dims[d].isReduction || (isOutput && isPerBlock))
      elements *= (double)nest->tiles[d];
  }
  return elements;
}

static double bytesOf(const TileOperatorOperand *operand) { return (double)operand->bits / 8; }

void tileRequestedBytes(const TileOperator *op, const TileSearchTile *tile, double *read, double *written) {
  TileSearchTile registers = *tile;
  if (kindOf(tile)->isAskedPerRegisters) {
    registers.size[op->m] = tile->registers.rows;
    registers.size[op->n] = tile->registers.columns;
  }
  Nest nest = nestOf(op, NULL, &registers);
  *read = *written = 0;
  for (int i = 0; i < op->numOperands; ++i) {
    const TileOperatorOperand *operand = &op->operands[i];
    double elements = operand->isRead ? requested(&nest, i, false) : 0;
    // What the first block of k left is read by the next ones.
    if (kindOf(tile)->isStoredPerBlock && operand->isOutput && !operand->isRead)
      elements = requested(&nest, i, true) / nest.steps * (nest.steps - 1);
    if (tileParts(tile) > 1 && operand->isOutput) { // the sums of every part are stored and read again
      double sums = (double)tileParts(tile) * requested(&nest, i, true);
      elements += sums;
      *written += sums * bytesOf(operand);
    }
    *read += elements * bytesOf(operand);
    *written += operand->isOutput ? requested(&nest, i, true) * bytesOf(operand) : 0;
  }
}

//===--- transactions -----------------------------------------------------------===//

// How many indices of a dimension are taken together: a tile's, or more where neighbouring programs run side by side.
typedef struct Span {
  int64_t of[TileOperatorDims];
} Span;

// The stride in elements at which the operand's innermost axis is walked, and by which dimension; -1: by none that is
// tiled.
static int innermostDim(const TileOperatorOperand *operand, const Span *span, int axis, int64_t *stride) {
  int found = -1;
  for (int d = 0; d < TileOperatorDims; ++d)
    if (operand->factors[axis][d] && (found < 0 || span->of[d] > span->of[found]))
      found = d;
  *stride = found < 0                           ? 1
            : operand->factors[axis][found] < 0 ? -operand->factors[axis][found]
                                                : operand->factors[axis][found];
  return found;
}

// Bytes that move for each byte asked for: whole transactions for runs of contiguous elements.
static double inflation(const Nest *nest, int index, const Span *span, int64_t transaction) {
  const TileOperatorOperand *operand = &nest->op->operands[index];
  double bytes = bytesOf(operand), run = bytes;
  if (operand->isGathered)
    return fmax(1, (double)transaction / bytes);
  for (int axis = operand->rank - 1; axis >= 0; --axis) {
    int64_t stride;
    int dim = innermostDim(operand, span, axis, &stride);
    int64_t extent = operand->extents[axis], taken = dim < 0 ? 1 : tessera_min(span->of[dim], extent);
    if (stride > 1 && taken > 1) // every element some bytes from the next
      return fmax(1, fmin((double)transaction, (double)stride * run) / run);
    run *= (double)taken;
    if (taken < extent || extent < 1)
      break;
  }
  double moved = ceil(run / (double)transaction) * (double)transaction;
  // Runs that begin anywhere touch one more half of the time.
  double row = operand->rank ? (double)operand->extents[operand->rank - 1] * bytes : bytes;
  bool isAligned = fmod(row, (double)transaction) == 0 || run <= bytes;
  return fmax(1, (moved + (isAligned ? 0 : (double)transaction / 2)) / run);
}

static Span tileSpan(const Nest *nest) {
  Span span = {{0}};
  memcpy(span.of, nest->tile->size, sizeof span.of);
  return span;
}

// Bytes in whole transactions that all programs ask for.
static double transferred(const Nest *nest, int64_t transaction) {
  Span span = tileSpan(nest);
  double bytes = 0;
  for (int i = 0; i < nest->op->numOperands; ++i) {
    const TileOperatorOperand *operand = &nest->op->operands[i];
    double each = bytesOf(operand) * inflation(nest, i, &span, transaction);
    bytes += operand->isRead ? each * requested(nest, i, false) : 0;
    bytes += operand->isOutput ? each * requested(nest, i, true) : 0;
  }
  return bytes;
}

double tileReuse(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  Nest nest = nestOf(op, target, tile);
  double points = op->operations > 0 ? op->operations : 1;
  for (int d = 0; d < op->numDims; ++d)
    points *= (double)op->dims[d].extent;
  return points / transferred(&nest, target->levels[target->numLevels - 1].transaction);
}

//===--- caches -------------------------------------------------------------------===//

// Elements of an operand that are met while `span` indices of each dimension are visited.
static double unique(const Nest *nest, int operand, const Span *span) {
  double elements = 1;
  for (int d = 0; d < nest->op->numDims; ++d)
    if (isUsed(nest, operand, d))
      elements *= (double)tessera_min(span->of[d], nest->op->dims[d].extent);
  return fmin(elements, (double)tileOperandCount(&nest->op->operands[operand]));
}

static double footprint(const Nest *nest, const Span *span) {
  double bytes = 0;
  for (int i = 0; i < nest->op->numOperands; ++i)
    bytes += unique(nest, i, span) * bytesOf(&nest->op->operands[i]);
  return bytes;
}

static int accessesOf(const TileOperatorOperand *operand) { return operand->isRead + operand->isOutput; }

static bool isInGroup(const TileOperator *op, int dim) { return op->m >= 0 && (dim == op->m || dim == op->n); }

// How many tiles of each dimension `together` programs take: neighbours along the last dimensions; where they are
// grouped, `group` rows of tiles of a product column by column.
static Span tilesTogether(const Nest *nest, double together, int64_t group) {
  const TileOperator *op = nest->op;
  Span taken = {{0}};
  double left = together;
  if (group > 1) {
    int64_t rows = tessera_min(group, nest->tiles[op->m]),
            wide = tessera_max(1, tessera_min((int64_t)left / rows, nest->tiles[op->n]));
    int64_t groups = tessera_max(
        1, tessera_min((int64_t)left / (rows * nest->tiles[op->n]), tessera_ceil_div(nest->tiles[op->m], rows)));
    taken.of[op->n] = wide;
    taken.of[op->m] = tessera_min(rows * groups, nest->tiles[op->m]);
    left /= (double)(wide * taken.of[op->m]);
  }
  for (int d = op->numDims - 1; d >= 0; --d) {
    if (op->dims[d].isReduction || (group > 1 && isInGroup(op, d)))
      continue;
    taken.of[d] = tessera_max(1, tessera_min((int64_t)left, nest->tiles[d]));
    left /= (double)taken.of[d];
  }
  return taken;
}

// What a cache of `bytes` lets through when `together` programs run at once: operands that fit in half of it come once;
// of the others, each wave of programs brings what it meets.
static double throughSharedCache(const Nest *nest, double bytes, int64_t transaction, double together, int64_t group) {
  Span wave = tileSpan(nest), whole = {{0}}, tiles = tilesTogether(nest, together, group);
  double waves = 1, moved = 0;
  for (int d = nest->op->numDims - 1; d >= 0; --d) {
    whole.of[d] = nest->op->dims[d].extent;
    if (nest->op->dims[d].isReduction) {
      wave.of[d] = whole.of[d];
      continue;
    }
    int64_t taken = tiles.of[d];
    wave.of[d] = tessera_min(taken * nest->tile->size[d], whole.of[d]);
    waves *= (double)tessera_ceil_div(nest->tiles[d], taken);
  }
  for (int i = 0; i < nest->op->numOperands; ++i) {
    const TileOperatorOperand *operand = &nest->op->operands[i];
    double once = unique(nest, i, &whole), often = unique(nest, i, &wave) * waves;
    double elements = once * bytesOf(operand) <= bytes / 2 ? once : fmax(once, fmin(often, requested(nest, i, false)));
    moved += elements * bytesOf(operand) * inflation(nest, i, &wave, transaction) * accessesOf(operand);
  }
  return moved;
}

// As above, for a cache behind one core, which runs program after program: of the loops (programs, then steps) the
// innermost ones whose data fit are visited for nothing.
static double throughOwnCache(const Nest *nest, double bytes, int64_t transaction) {
  int order[TileOperatorDims], count = 0;
  for (int reductions = 0; reductions < 2; ++reductions)
    for (int d = 0; d < nest->op->numDims; ++d)
      if (nest->op->dims[d].isReduction == (bool)reductions)
        order[count++] = d;
  Span span = tileSpan(nest);
  int outer = count;
  for (int depth = count - 1; depth >= 0; --depth) {
    Span wider = span;
    wider.of[order[depth]] = nest->op->dims[order[depth]].extent;
    if (footprint(nest, &wider) > bytes)
      break;
    span = wider;
    outer = depth;
  }
  double moved = 0;
  for (int i = 0; i < nest->op->numOperands; ++i) {
    const TileOperatorOperand *operand = &nest->op->operands[i];
    double elements = unique(nest, i, &span);
    bool isKept = true; // by the loops right around, as long as they do not index it
    for (int depth = outer - 1; depth >= 0; --depth) {
      isKept = isKept && !isUsed(nest, i, order[depth]);
      elements *= isKept ? 1 : (double)nest->tiles[order[depth]];
    }
    elements = fmin(elements, fmax(requested(nest, i, false), 1));
    moved += elements * bytesOf(operand) * inflation(nest, i, &span, transaction) * accessesOf(operand);
  }
  return moved;
}

//===--- terms -----------------------------------------------------------------------===//

static void addTerm(TilePrediction *p, const char *name, double seconds) {
  p->sum += seconds;
  if (!p->bound[0] || seconds > p->seconds) {
    p->seconds = seconds;
    strncpy(p->bound, name, sizeof p->bound - 1);
  }
}

// Operations of one program, its padding included.
static double operationsPerProgram(const Nest *nest) {
  double points = nest->op->operations > 0 ? nest->op->operations : 1;
  for (int d = 0; d < nest->op->numDims; ++d) {
    bool isProduct = nest->op->m >= 0;
    int64_t size = nest->tile->size[d], extent = nest->op->dims[d].extent;
    points *= (double)(nest->op->dims[d].isReduction ? nest->tiles[d] : 1) *
              (double)(isProduct ? size : tessera_min(size, extent));
  }
  return points;
}

static double tileElements(const Nest *nest, int operand) {
  double elements = 1;
  for (int d = 0; d < nest->op->numDims; ++d)
    if (isUsed(nest, operand, d))
      elements *= (double)nest->tile->size[d];
  return elements;
}

static void nameTraffic(const Nest *nest, TilePrediction *p) {
  tileRequestedBytes(nest->op, nest->tile, &p->read, &p->written);
  p->programs = (int64_t)nest->programs;
  p->steps = (int64_t)nest->steps;
}

//===--- GPUs --------------------------------------------------------------------------===//

static double words(const TileOperatorOperand *operand) { return ceil((double)operand->bits / 32); }

int64_t tileThreadRegisters(const TileSearchTarget *target, bool isProduct, double tiles, double copied) {
  double own = (double)(isProduct ? target->model.productRegisters : target->model.tileRegisters);
  if (copied > 0 && !target->hasAsyncCopies)
    own += (double)target->model.productRegisters + 2 * copied; // with their addresses
  return (int64_t)(own + tiles);
}

int64_t tileRegisterLimit(const TileSearchTarget *target, bool isProduct, int64_t warps) {
  int64_t registers = tessera_min(target->registersPerThread * target->model.registerPercent / 100,
                                  target->registersPerCore / (warps * target->lanes));
  // Without asynchronous copies other warps hide the memory's latency: half of those that a core can have.
  int64_t half = 2 * target->registersPerCore / (tessera_max(2, target->warpsPerCore) * target->lanes);
  return isProduct ? registers : tessera_min(registers, half);
}

static int64_t warpsAlongN(const Nest *nest) { return nest->tile->gpu.warps / nest->tile->gpu.warpsM; }

// Registers of what is computed at every point of the tile, in elements as wide as the operand that has most of them:
// where no operand is indexed by all that is tiled, more than any operand has.
static double bodyRegisters(const Nest *nest, double threads) {
  double points = 1, most = 0, wide = 1;
  for (int d = 0; d < nest->op->numDims; ++d)
    points *= (double)nest->tile->size[d];
  for (int i = 0; i < nest->op->numOperands; ++i)
    if (tileElements(nest, i) > most) {
      most = tileElements(nest, i);
      wide = words(&nest->op->operands[i]);
    }
  return ceil(points / threads) * wide;
}

// Some of a product's tiles end beyond its extents, or may.
static bool isRagged(const Nest *nest) {
  const int dims[] = {nest->op->m, nest->op->n, nest->op->k};
  for (int i = 0; i < 3; ++i) {
    const TileOperatorDim *d = &nest->op->dims[dims[i]];
    if (d->isUnknown || d->extent % nest->tile->size[dims[i]])
      return true;
  }
  return false;
}

// A product's sums and its operands' fragments, or every operand's tile and what is computed of it.
static int64_t threadRegisters(const Nest *nest) {
  const TileOperator *op = nest->op;
  double threads = (double)(nest->tile->gpu.warps * nest->target->lanes), tiles = 0;
  if (op->m < 0) {
    for (int i = 0; i < op->numOperands; ++i)
      tiles += nest->target->model.valueRegisters * ceil(tileElements(nest, i) / threads) * words(&op->operands[i]);
    tiles = fmax(tiles, nest->target->model.valueRegisters * bodyRegisters(nest, threads));
    return tileThreadRegisters(nest->target, false, tiles, 0);
  }
  const int64_t *size = nest->tile->size;
  double warpsN = (double)warpsAlongN(nest), lanes = (double)nest->target->lanes;
  tiles += ceil((double)(size[op->m] * size[op->n]) / threads) * words(&op->operands[op->out]);
  double rows = ceil((double)size[op->m] / (double)nest->tile->gpu.warpsM),
         columns = ceil((double)size[op->n] / warpsN);
  double perLane = nest->target->hasAtom ? lanes : sqrt(lanes);
  // Fragments are read as they are multiplied: one instruction's depth of them at a time, one column and row without.
  // Bytes are first turned in registers (128 x 128 x 128 on four warps of sm_80 spilled where less was reckoned with).
  bool areBytes = tessera_min(op->operands[op->lhs].bits, op->operands[op->rhs].bits) < 16;
  double depth =
      !nest->target->hasAtom ? 1 : (double)(areBytes ? size[op->k] : tessera_min(size[op->k], nest->target->atom[2]));
  tiles += ceil(rows * depth * (double)op->operands[op->lhs].bits / 32 / perLane);
  tiles += ceil(columns * depth * (double)op->operands[op->rhs].bits / 32 / perLane);
  double copied = ceil((tileElements(nest, op->lhs) * bytesOf(&op->operands[op->lhs]) +
                        tileElements(nest, op->rhs) * bytesOf(&op->operands[op->rhs])) /
                       4 / threads);
  // Copies of what may lie past an edge, 16 bytes each, have an address and a mask of their own.
  if (nest->target->hasAsyncCopies && isRagged(nest))
    tiles += ceil(copied / 2);
  return tileThreadRegisters(nest->target, true, tiles, nest->tile->gpu.stages > 1 ? copied : 0);
}

// Lanes that a tile smaller than a warp leaves without an element load another's again.
static double copiesOf(const Nest *nest) {
  double elements = 1;
  for (int d = 0; d < nest->op->numDims; ++d)
    elements *= (double)nest->tile->size[d];
  return nest->op->m >= 0 ? 1 : fmax(1, (double)nest->target->lanes / elements);
}

// Bytes of a product's operands in one step.
static double stepBytes(const Nest *nest, double *lhs, double *rhs) {
  const TileOperator *op = nest->op;
  *lhs = op->m < 0 ? 0 : tileElements(nest, op->lhs) * bytesOf(&op->operands[op->lhs]);
  *rhs = op->m < 0 ? 0 : tileElements(nest, op->rhs) * bytesOf(&op->operands[op->rhs]);
  return *lhs + *rhs;
}

static void measureShared(const Nest *nest, TilePrediction *p) {
  double lhs, rhs, bytes = stepBytes(nest, &lhs, &rhs);
  int64_t stages = nest->target->hasAsyncCopies ? nest->tile->gpu.stages : 1;
  if (nest->op->m < 0)
    return;
  double warpsN = (double)warpsAlongN(nest), warpsM = (double)nest->tile->gpu.warpsM;
  double reads = lhs * warpsN + rhs * warpsM;
  if (!nest->target->hasAtom) { // every lane reads its rows and columns: squares of lanes share them
    double side = sqrt((double)nest->target->lanes);
    reads *= side;
  }
  p->sharedBytes = (int64_t)bytes * stages;
  // Copies run ahead of the last step too: they write padding that nobody reads.
  p->shared = nest->programs * (bytes * (nest->steps + (double)(stages - 1)) + reads * nest->steps);
}

// The dimension of the nest along which an operand's neighbours lie in memory; -1: none that the tile is wide in.
static int fastestDim(const Nest *nest, const TileOperatorOperand *operand) {
  for (int d = 0; operand->rank > 0 && d < nest->op->numDims; ++d)
    if (operand->factors[operand->rank - 1][d] && nest->tile->size[d] > 1)
      return d;
  return -1;
}

// The bytes of a tile on its way from one order to another through shared memory: a product's finished tile from the
// instruction's order to memory's, elsewhere an input that lies in memory along another dimension than the output.
static double exchangeBytes(const Nest *nest) {
  const TileOperatorOperand *operands = nest->op->operands, *output = NULL;
  double bytes = 0;
  for (int i = 0; i < nest->op->numOperands; ++i)
    output = operands[i].isOutput ? &operands[i] : output;
  for (int i = 0; i < nest->op->numOperands; ++i) {
    int here = fastestDim(nest, &operands[i]), there = output ? fastestDim(nest, output) : -1;
    bool isTurned =
        !operands[i].isOutput && here >= 0 && there >= 0 && here != there && !nest->op->dims[here].isReduction;
    if (nest->op->m >= 0 ? operands[i].isOutput : isTurned)
      bytes = fmax(bytes, tileElements(nest, i) * bytesOf(&operands[i]));
  }
  return bytes;
}

static int64_t residentPrograms(const Nest *nest, const TilePrediction *p) {
  const TileSearchTarget *t = nest->target;
  int64_t resident = tessera_min(t->blocksPerCore, t->warpsPerCore / nest->tile->gpu.warps);
  resident =
      tessera_min(resident, t->registersPerCore / tessera_max(1, p->registers * nest->tile->gpu.warps * t->lanes));
  if (p->sharedBytes > 0 && t->shared >= 0)
    resident = tessera_min(resident, t->levels[t->shared].bytes / p->sharedBytes);
  return resident;
}

// For a product, whose sums and fragments need registers. A body of functions may want more for a while.
static int64_t limitRegisters(const Nest *nest, const TilePrediction *p) {
  const TileSearchTarget *t = nest->target;
  int64_t grain = t->model.registerGrain,
          room = t->registersPerCore / (p->perCore * nest->tile->gpu.warps * t->lanes) / grain * grain;
  return nest->op->m >= 0 && room < t->registersPerThread ? room : 0;
}

static const char *gpuMisfit(const Nest *nest, const TilePrediction *p) {
  const TileSearchTarget *t = nest->target;
  if (nest->tile->gpu.warps * t->lanes > t->threadsPerBlock)
    return "threads";
  if (p->registers > tileRegisterLimit(t, nest->op->m >= 0, nest->tile->gpu.warps))
    return "registers";
  return fmax((double)p->sharedBytes, exchangeBytes(nest)) > (double)t->sharedPerBlock ? "shared memory" : NULL;
}

static double instructionsPerWarp(const Nest *nest) {
  const TileOperator *op = nest->op;
  const TileSearchTarget *t = nest->target;
  double threads = (double)(nest->tile->gpu.warps * t->lanes), inner = (double)t->model.stepInstructions,
         once = (double)t->model.startInstructions;
  for (int i = 0; i < op->numOperands; ++i) {
    const TileOperatorOperand *operand = &op->operands[i];
    double perThread = ceil(tileElements(nest, i) / threads);
    double accesses =
        (double)t->model.accessInstructions * ceil(perThread * bytesOf(operand) / (double)t->model.accessBytes);
    *(operand->isOutput ? &once : &inner) += accesses;
  }
  bool sums = false;
  for (int d = 0; d < op->numDims; ++d)
    sums = sums || (op->dims[d].isReduction && nest->tile->size[d] > 1);
  if (op->m < 0 && sums)
    inner += (double)t->model.shuffleInstructions * log2((double)t->lanes * (double)nest->tile->gpu.warps);
  return once + inner * nest->steps;
}

// What leaves level `i`'s shared cache in the order of programs that brings least, the innermost such cache's order for
// all: `group` is 0 until it is known. Grouping costs some instructions: it must save a twentieth.
static double inBestOrder(const Nest *nest, int i, double together, int64_t *group) {
  const TileSearchLevel *cache = &nest->target->levels[i];
  const TileOperator *op = nest->op;
  double bytes = (double)cache->bytes * (double)tessera_max(1, cache->instances), best;
  int64_t transaction = nest->target->levels[i + 1].transaction, kept = *group ? *group : nest->tile->gpu.group;
  best = throughSharedCache(nest, bytes, transaction, together, tessera_max(1, kept));
  bool mayChoose = !kept && op->m >= 0 && nest->tiles[op->m] > 1 && nest->tiles[op->n] > 1;
  *group = tessera_max(1, kept);
  for (int64_t rows = 2; mayChoose && rows <= nest->target->model.groupRows && rows <= nest->tiles[op->m]; rows *= 2) {
    double moved = throughSharedCache(nest, bytes, transaction, together, rows);
    if (moved >= best * (*group > 1 ? 1 : 1 - nest->target->model.equal))
      continue;
    best = moved;
    *group = rows;
  }
  return best;
}

//===--- products of warpgroups ---------------------------------------------------------===//

// What tile-specialize-warps makes: groups of four warps that multiply 64 rows at a time, an engine that copies rows of
// whole pieces, one group of warps beside them that loads.
enum { GroupWarps = 4, MostColumns = 256, PieceBytes = 16, FewestGroupStages = 2, LoadingWarps = 4, Pair = 2 };
enum { FewestBesideResult = 3 };

// Rows of whole pieces, neighbours along one of the product's dimensions; elements of fewer than 16 bits along k only.
static bool suitsEngine(const Nest *nest, const TileOperatorOperand *operand) {
  int64_t last = operand->rank ? operand->extents[operand->rank - 1] : 0,
          dims[] = {nest->op->k, nest->op->m, nest->op->n};
  bool isKnown = false;
  for (int i = 0; i < (operand->bits < 16 ? 1 : 3) && operand->rank; ++i)
    isKnown |= operand->factors[operand->rank - 1][dims[i]] == 1 && !nest->op->dims[dims[i]].isUnknown;
  return isKnown && !operand->isGathered && last * operand->bits % (8 * PieceBytes) == 0;
}

static int64_t groupsOf(const Nest *nest) { return nest->tile->gpu.warps / GroupWarps; }

static bool runsInGroups(const Nest *nest) {
  const TileOperator *op = nest->op;
  const int64_t *size = nest->tile->size;
  if (!nest->target->isGpu || op->m < 0 || !(nest->target->hasGroupAtom || nest->target->hasTensorAtom))
    return false;
  int64_t groups = groupsOf(nest), bits = op->operands[op->lhs].bits, rest = 1;
  int64_t rows = nest->target->groupRows * (nest->target->hasTensorAtom ? 1 : groups);
  for (int d = 0; d < op->numDims; ++d)
    if (d != op->m && d != op->n && d != op->k) // one loop, along k
      rest *= op->dims[d].isReduction ? op->dims[d].extent : size[d];
  return nest->tile->gpu.warps % GroupWarps == 0 && (groups == 1 || groups == 2) && rest == 1 &&
         size[op->m] % rows == 0 && size[op->n] % 16 == 0 && size[op->k] * bits >= 256 &&
         size[op->m] * size[op->n] <=
             nest->target->model.groupSumRegisters * groups * GroupWarps * nest->target->lanes &&
         suitsEngine(nest, &op->operands[op->lhs]) && suitsEngine(nest, &op->operands[op->rhs]);
}

// Programs that share a core: two where one group each multiplies few sums, if there are programs for both.
static int64_t groupPrograms(const Nest *nest) {
  const int64_t *size = nest->tile->size;
  int64_t sums = size[nest->op->m] * size[nest->op->n] / (groupsOf(nest) * GroupWarps * nest->target->lanes);
  return groupsOf(nest) == 1 && sums <= nest->target->model.groupSumRegisters / 2 &&
                 nest->programs > (double)nest->target->cores
             ? 2
             : 1;
}

// Stages of the ring that fit beside so many bytes where `programs` share a core.
static int64_t groupStagesInRoom(const Nest *nest, int64_t programs, double beside) {
  double lhs, rhs, stage = stepBytes(nest, &lhs, &rhs);
  return (int64_t)floor(
      ((double)nest->target->sharedPerBlock / (double)programs - (double)nest->target->model.groupExchange - beside) /
      stage);
}

// Beside the result, unless that takes stages that the loop needs; no more than there are steps.
static int64_t groupStages(const Nest *nest, int64_t programs) {
  int64_t bits = nest->op->storedBits ? nest->op->storedBits : nest->op->operands[nest->op->out].bits;
  double result = tileElements(nest, nest->op->out) * (double)bits / 8;
  bool isKnown = !nest->op->dims[nest->op->k].isUnknown;
  double limit = (double)nest->target->model.groupStages;
  int64_t steps = (int64_t)(isKnown ? fmin(nest->steps, limit) : limit),
          most = tessera_min(groupStagesInRoom(nest, programs, 0), steps),
          beside = tessera_min(groupStagesInRoom(nest, programs, result), steps);
  return beside < tessera_min(most, FewestBesideResult) ? most : beside;
}

// Steps at the rate of the instruction, which falls with its columns, or as fast as stages come.
static double groupSeconds(const Nest *nest, int64_t programs, int64_t stages) {
  const TileSearchTarget *t = nest->target;
  const int64_t *size = nest->tile->size, m = size[nest->op->m], n = size[nest->op->n], k = size[nest->op->k];
  double columns = (double)tessera_min(n, MostColumns);
  double rate = t->rate * (1 - t->model.groupNarrow * log2(MostColumns / columns));
  double alone = groupsOf(nest) == 1 && programs == 1 ? t->model.groupAlone : 1;
  double multiply = 2.0 * (double)(m * n * k) / rate * alone + (double)t->model.groupStep;
  double waves = ceil(nest->programs / (double)(t->cores * programs));
  double perWave = fmax((double)programs * multiply / t->clock, t->model.groupWait / (double)stages);
  return t->model.groupStart + waves * nest->steps * perWave;
}

// Programs beside each other on the grid's first axis are neighbours along m in groups of rows, else along n: they read
// the same tile of the other operand. In a cluster one of them copies it for all. Only whole clusters, of grids that
// are known; where a schedule names clusters, the kernel pads its grid.
static bool mayCluster(const Nest *nest, int64_t group, int64_t programs, int64_t blocks) {
  const TileOperator *op = nest->op;
  int64_t along = nest->tiles[group > 1 ? op->m : op->n];
  bool isPadded = nest->tile->gpu.cluster > 1;
  if (isPadded)
    along = tessera_ceil_div(along, blocks) * blocks;
  if (nest->target->hasTensorAtom) // products in tensor memory tell their own program only
    return false;
  for (int d = 0; d < op->numDims; ++d)
    if (op->dims[d].isUnknown && !(isPadded && group <= 1))
      return false;
  if (group > 1 && (group % blocks || along % group))
    return false;
  return blocks <= nest->target->clusterBlocks && along % blocks == 0 && nest->target->cores * programs % blocks == 0;
}

// Bytes that clusters of so many programs do not read again.
static double savedByCluster(const Nest *nest, int64_t group, int64_t blocks) {
  int shared = group > 1 ? nest->op->rhs : nest->op->lhs;
  return bytesOf(&nest->op->operands[shared]) * requested(nest, shared, false) * (1 - 1 / (double)blocks);
}

// Pairs, where they save a twentieth of what is read, unless the schedule says a number.
static int64_t chooseCluster(const Nest *nest, const TilePrediction *p, int64_t programs) {
  int64_t blocks = nest->tile->gpu.cluster ? nest->tile->gpu.cluster : Pair;
  bool pays = nest->tile->gpu.cluster ||
              savedByCluster(nest, p->group, blocks) >= nest->target->model.equal * (p->read + p->written);
  return blocks > 1 && pays && mayCluster(nest, p->group, programs, blocks) ? blocks : 1;
}

static TilePrediction predictGroups(const Nest *nest) {
  const TileSearchTarget *t = nest->target;
  double lhs, rhs, stage = stepBytes(nest, &lhs, &rhs);
  int64_t written = nest->tile->gpu.stages, programs = groupPrograms(nest);
  if (written > groupStagesInRoom(nest, programs, 0)) // one program may have all of a core
    programs = 1;
  int64_t sharing = programs;          // a core's memory
  if (nest->tile->gpu.isAlternating) { // two tiles at a time in one program, from one ring
    programs = 2;
    sharing = 1;
  }
  int64_t stages = written ? written : groupStages(nest, sharing);
  TilePrediction p = {.perCore = sharing};
  nameTraffic(nest, &p);
  bool fits = stages <= groupStagesInRoom(nest, sharing, 0) &&
              (written || stages >= (int64_t)fmin(FewestGroupStages, nest->steps));
  p.misfit = fits ? NULL : "shared memory";
  if (p.misfit)
    return p;
  p.sharedBytes = (int64_t)stage * stages;
  p.occupancy = fmin((double)programs, ceil(nest->programs / (double)t->cores)) *
                (double)(nest->tile->gpu.warps + LoadingWarps) / (double)t->warpsPerCore;
  addTerm(&p, "compute", groupSeconds(nest, programs, stages));
  for (int i = t->shared + 1; i < t->numLevels; ++i)
    p.traffic[i] = i - 1 > t->shared ? inBestOrder(nest, i - 1, (double)(t->cores * programs), &p.group)
                                     : transferred(nest, t->levels[i].transaction);
  bool isRows = p.group > 1 && nest->tile->gpu.group <= 1; // of the model's choice; a schedule's clusters come first
  if (nest->tile->gpu.cluster > 1 && isRows && !mayCluster(nest, p.group, sharing, nest->tile->gpu.cluster))
    p.group = 1;
  p.cluster = chooseCluster(nest, &p, sharing);
  double saved = savedByCluster(nest, p.group, p.cluster);
  p.read -= saved;
  p.traffic[t->shared + 1] -= saved;
  for (int i = t->shared + 1; i < t->numLevels; ++i) {
    double copies = i - 1 > t->shared ? 1 : t->model.groupCopies;
    addTerm(&p, t->levels[i].name, t->model.groupStart + p.traffic[i] / (t->levels[i].bandwidth * copies));
  }
  return p;
}

int64_t tileGpuRingStages(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  Nest nest = nestOf(op, target, tile);
  return runsInGroups(&nest) ? groupStages(&nest, groupPrograms(&nest)) : 0;
}

//===--- all others ---------------------------------------------------------------------===//

static TilePrediction predictGpu(const Nest *nest) {
  const TileSearchTarget *t = nest->target;
  if (runsInGroups(nest))
    return predictGroups(nest);
  TilePrediction p = {.registers = threadRegisters(nest)};
  measureShared(nest, &p);
  nameTraffic(nest, &p);
  p.misfit = gpuMisfit(nest, &p);
  if (p.misfit)
    return p;
  p.perCore = tessera_max(1, residentPrograms(nest, &p));
  p.registerLimit = nest->tile->gpu.registerLimit ? nest->tile->gpu.registerLimit : limitRegisters(nest, &p);
  double cores = (double)t->cores, perCore = ceil(nest->programs / cores);
  double resident = fmin((double)p.perCore, perCore), warps = resident * (double)nest->tile->gpu.warps;
  double waves = ceil(nest->programs / (cores * (double)p.perCore));
  p.occupancy = warps / (double)t->warpsPerCore;

  double issue = fmin(1, warps / (double)t->partitions);
  addTerm(&p, "compute", perCore * operationsPerProgram(nest) / (t->rate * t->clock * issue));
  addTerm(&p, "issue",
          perCore * (double)nest->tile->gpu.warps * instructionsPerWarp(nest) /
              ((double)t->partitions * issue * t->clock));
  double rounds =
      nest->op->m < 0 ? nest->steps + 1 : ceil(nest->steps / (double)tessera_max(1, nest->tile->gpu.stages - 1)) + 1;
  const TileSearchLevel *memory = &t->levels[t->numLevels - 1];
  addTerm(&p, "latency", waves * rounds * (double)memory->latency / t->clock);
  for (int i = 0; i < t->numLevels; ++i) {
    const TileSearchLevel *level = &t->levels[i];
    // Where no cache stands between, accesses of memory take shared memory's way, line by line.
    bool carriesAll = i == t->shared && i + 1 < t->numLevels && t->levels[i + 1].instances > 0;
    bool hasCache = i > 0 && i - 1 != t->shared, isOfCore = hasCache && t->levels[i - 1].instances == 0;
    double bytes = i == t->shared ? p.shared + (carriesAll ? transferred(nest, level->transaction) : 0)
                   : isOfCore     ? transferred(nest, level->transaction)
                   : hasCache     ? inBestOrder(nest, i - 1, cores * (double)p.perCore, &p.group)
                                  // a core's own cache: by lines
                                  : transferred(nest, level->instances ? level->transaction : level->line);
    // Fewer programs than cores use fewer of the memories that each core has.
    double share = i == t->shared ? fmin(1, nest->programs / (perCore * cores)) : 1;
    p.traffic[i] = bytes;
    addTerm(&p, level->name, bytes / (level->bandwidth * share));
  }
  double copies = copiesOf(nest);
  p.read *= copies;
  p.seconds *= copies;
  p.sum *= copies;
  return p;
}

//===--- CPUs ---------------------------------------------------------------------------===//

// Vector registers of a product's sums, one row of B and one element of A.
static int64_t vectorRegisters(const Nest *nest) {
  const TileOperator *op = nest->op;
  if (op->m < 0)
    return 0;
  int64_t lanes = tessera_max(1, nest->target->vectorBytes * 8 / tessera_max(8, op->operands[op->out].bits));
  int64_t columns = tessera_ceil_div(nest->tile->size[op->n], lanes);
  return nest->tile->size[op->m] * columns + columns + 1;
}

// The part of a vector's lanes that have work along the tile's contiguous dimension.
static double laneShare(const Nest *nest) {
  int64_t lanes = 1, longest = 1;
  for (int i = 0; i < nest->op->numOperands; ++i) {
    const TileOperatorOperand *operand = &nest->op->operands[i];
    int64_t stride, taken = 1;
    Span span = tileSpan(nest);
    int dim = operand->rank ? innermostDim(operand, &span, operand->rank - 1, &stride) : -1;
    taken = dim < 0 || stride != 1 ? 1 : nest->tile->size[dim];
    if (taken >= longest) {
      longest = taken;
      lanes = tessera_max(1, nest->target->vectorBytes * 8 / tessera_max(8, operand->bits));
    }
  }
  return (double)longest / (double)(tessera_ceil_div(longest, lanes) * lanes);
}

static TilePrediction predictCpu(const Nest *nest) {
  const TileSearchTarget *t = nest->target;
  TilePrediction p = {.registers = vectorRegisters(nest), .perCore = 1};
  nameTraffic(nest, &p);
  Span span = tileSpan(nest);
  p.misfit = p.registers > t->vectorRegisters                      ? "registers"
             : footprint(nest, &span) > (double)t->levels[0].bytes ? t->levels[0].name
                                                                   : NULL;
  if (p.misfit)
    return p;
  double cores = (double)t->cores, perCore = ceil(nest->programs / cores), busy = fmin(1, nest->programs / cores);
  p.occupancy = busy;
  addTerm(&p, "compute", perCore * operationsPerProgram(nest) / (t->rate * t->clock * laneShare(nest)));
  // A program begins with a look at what all cores share, and a step with its first loads.
  const TileSearchLevel *inner = &t->levels[0], *common = &t->levels[t->numLevels > 1 ? t->numLevels - 2 : 0];
  addTerm(&p, "latency",
          perCore * ((double)(2 * common->latency) + nest->steps * (double)(2 * inner->latency)) / t->clock);
  for (int i = 0; i < t->numLevels; ++i) {
    const TileSearchLevel *level = &t->levels[i];
    double bytes = transferred(nest, level->transaction), spread = perCore * cores / nest->programs;
    if (i > 0) {
      const TileSearchLevel *cache = &t->levels[i - 1];
      double own = cache->instances ? (double)(cache->bytes * cache->instances) / cores : (double)cache->bytes;
      bytes = throughOwnCache(nest, own, level->transaction);
    }
    p.traffic[i] = bytes;
    bool isOwn = level->instances == 0 && i + 1 < t->numLevels;
    addTerm(&p, level->name, bytes / level->bandwidth * (isOwn ? spread : 1));
  }
  return p;
}

TilePrediction tileGpuPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  Nest nest = nestOf(op, target, tile);
  return predictGpu(&nest);
}

TilePrediction tileVectorPredict(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *tile) {
  Nest nest = nestOf(op, target, tile);
  return predictCpu(&nest);
}
