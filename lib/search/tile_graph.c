// The cost of several operators as one kernel, and its search. See tile_graph.h.
#include "lib/search/tile_graph.h"

#include "lib/search/memory_plan.h"
#include "lib/search/model.h"
#include "lib/support/integer.h"

#include <math.h>
#include <string.h>

//===--- boxes --------------------------------------------------------------------===//

TileBox tileOperandHull(const TileOperatorOperand *operand, int numDims, const TileBox *points) {
  TileBox hull = {{0}, {0}};
  for (int axis = 0; axis < operand->rank; ++axis) {
    int64_t least = 0, most = 0;
    for (int d = 0; d < numDims; ++d) {
      int64_t factor = operand->factors[axis][d], last = points->end[d] - 1;
      if (last < points->begin[d])
        return (TileBox){{0}, {0}};
      least += factor * (factor < 0 ? last : points->begin[d]);
      most += factor * (factor < 0 ? points->begin[d] : last);
    }
    hull.begin[axis] = tessera_max(least, 0);
    hull.end[axis] = tessera_min(most + 1, operand->extents[axis]);
  }
  return hull;
}

static bool isEmpty(const TileBox *box, int rank) {
  for (int i = 0; i < rank; ++i)
    if (box->end[i] <= box->begin[i])
      return true;
  return rank == 0;
}

// Widens the box of a node to the points that make `axes` of its output.
static void require(const TileGraphNode *maker, int output, const TileBox *axes, TileBox *box) {
  const TileOperatorOperand *made = &maker->op.operands[output];
  bool isFirst = isEmpty(box, maker->op.numDims);
  if (isEmpty(axes, made->rank))
    return;
  for (int d = 0; d < maker->op.numDims; ++d) {
    int64_t begin = 0, end = maker->op.dims[d].extent;
    for (int axis = 0; axis < made->rank; ++axis)
      if (made->factors[axis][d]) {
        begin = axes->begin[axis];
        end = axes->end[axis];
      }
    box->begin[d] = isFirst ? begin : tessera_min(box->begin[d], begin);
    box->end[d] = isFirst ? end : tessera_max(box->end[d], end);
  }
}

void tileGraphPropagate(const TileGraph *graph, TileBox *boxes) {
  for (int n = graph->numNodes - 1; n >= 0; --n) {
    const TileGraphNode *node = &graph->nodes[n];
    for (int i = 0; i < node->op.numOperands; ++i) {
      if (node->op.operands[i].isOutput || node->makers[i] < 0 || isEmpty(&boxes[n], node->op.numDims))
        continue;
      TileBox axes = tileOperandHull(&node->op.operands[i], node->op.numDims, &boxes[n]);
      require(&graph->nodes[node->makers[i]], node->outputs[i], &axes, &boxes[node->makers[i]]);
    }
  }
}

//===--- footprint ------------------------------------------------------------------===//

// A tile of a program: its first and its last step.
typedef struct TileLifetime {
  int begin, end;
  int64_t bytes;
} TileLifetime;

static bool areTogether(const void *lifetimes, int64_t a, int64_t b) {
  const TileLifetime *x = (const TileLifetime *)lifetimes + a, *y = (const TileLifetime *)lifetimes + b;
  return x->begin <= y->end && y->begin <= x->end;
}

static int64_t footprintOf(const TileLifetime *lifetimes, int count) {
  int64_t bytes[TileGraphTensors], offsets[TileGraphTensors];
  TileMemoryPlan plan = {
      .count = count, .bytes = bytes, .areTogether = areTogether, .data = lifetimes, .offsets = offsets};
  for (int i = 0; i < count; ++i)
    bytes[i] = lifetimes[i].bytes;
  return tileMemoryPlanFind(&plan);
}

//===--- one kernel -------------------------------------------------------------------===//

enum { RowRegisters = 40 }; // of tiles, in a thread

// A tile that is loaded: of a tensor, by an operand of these dimensions, in one scope.
typedef struct Load {
  int tensor, scope, life; // life: of the tile, where it is one of registers; else -1
  uint32_t dims;
} Load;

enum { MostLoads = 256, MostVisits = 256 };

// A node that all programs compute at one place of the kernel.
typedef struct Visit {
  double tile, often;      // elements of its tile; how often one program comes here
  double operations, bits; // instructions for each element; bits of an element that are loaded or stored
  bool isFold, hasColumns;
  // What lanes load for the node: bytes of all programs, the node's tile, its columns, and how many rows of it take
  // equal elements of the operand. `hasColumns`: columns take different ones.
  double bytes, node, columns, rows;
} Visit;

// The kernel as group_kernel.c emits it, step by step.
typedef struct Kernel {
  const TileGraph *graph;
  const int64_t *block;
  int64_t tiles[TileOperatorDims]; // along each dimension
  uint32_t open;                   // walked dimensions whose loops are open
  int scope, scopes;               // the number of the innermost open loop nest; how many there were
  bool isDone[TileGraphNodes];     // computed in the present scope or around it
  bool isHeld[TileGraphNodes][2];  // factors that were loaded ahead of the loops
  bool wasHeld[TileGraphNodes][2]; // of some loops, also of loops that have ended
  Load loads[MostLoads];
  int numLoads, step;
  TileLifetime lives[TileGraphTensors];
  int life[TileGraphNodes], numValues[TileGraphNodes], numLives; // of each node's values the first, and how many
  TileGraphCost cost;
  double instructions, products;  // elements × operations of what lanes compute; of products
  double bytes[TileSearchLevels]; // that programs read again, by the innermost level of a core or a GPU that keeps them
  const TileSearchTarget *target;
  Visit visits[MostVisits];
  int numVisits;
  double waits;               // how often a program waits for what it loads: once in each round of a loop
  bool hasWaited[MostVisits]; // in this scope
} Kernel;

static bool isWalked(const Kernel *k, int dim) {
  return k->graph->dims[dim].isFolded && k->block[dim] < k->graph->dims[dim].extent;
}

static uint32_t dimsOf(const TileGraphNode *node, int operand) {
  uint32_t dims = 0;
  for (int d = 0; d < node->op.numDims; ++d)
    if (tileOperandIsIndexedBy(&node->op.operands[operand], d))
      dims |= 1u << node->dims[d];
  return dims;
}

static uint32_t allDims(const TileGraphNode *node) {
  uint32_t dims = 0;
  for (int d = 0; d < node->op.numDims; ++d)
    dims |= 1u << node->dims[d];
  return dims;
}

// How often all programs come to the present place, for what these dimensions index: once for each tile of the grid's
// dimensions and of open loops that do not index it. `isPadded`: whole blocks, also past the end.
static double countOf(const Kernel *k, uint32_t dims, bool isPadded) {
  double count = 1;
  for (int d = 0; d < k->graph->numDims; ++d) {
    const TileGraphDim *dim = &k->graph->dims[d];
    bool has = dims >> d & 1;
    if (has)
      count *= isPadded ? (double)(k->tiles[d] * k->block[d]) : (double)dim->extent;
    else if (!dim->isFolded || k->open >> d & 1)
      count *= (double)k->tiles[d];
  }
  return count;
}

// A tile of the operand lives from now on; -1 where too many do.
static int begin(Kernel *k, const TileGraphNode *node, int operand) {
  int64_t bits = node->op.operands[operand].bits;
  for (int d = 0; d < node->op.numDims; ++d)
    if (tileOperandIsIndexedBy(&node->op.operands[operand], d))
      bits *= k->block[node->dims[d]];
  if (k->numLives == TileGraphTensors)
    return -1;
  k->lives[k->numLives] = (TileLifetime){k->step, k->step, bits / 8};
  return k->numLives++;
}

// What programs read again comes from a cache that has room for three more such tensors.
static void countAgain(Kernel *k, uint32_t dims, double all, int64_t bits) {
  double once = (double)bits / 8;
  int level = k->target->shared >= 0 ? k->target->shared : 0, last = k->target->numLevels - 1;
  for (int d = 0; d < k->graph->numDims; ++d)
    once *= dims >> d & 1 ? (double)k->graph->dims[d].extent : 1;
  while (level < last && once > (double)k->target->levels[level].bytes / 4)
    ++level;
  if (k->target->isGpu && level < last && all > once) {
    k->bytes[level] += all - once;
    k->cost.again += all - once;
  }
}

// Rounds of the loops that are open.
static double rounds(const Kernel *k) {
  double count = 1;
  for (int d = 0; d < k->graph->numDims; ++d)
    count *= k->open >> d & 1 ? (double)k->tiles[d] : 1;
  return count;
}

static double elementsOf(const Kernel *k, uint32_t dims) {
  double elements = 1;
  for (int d = 0; d < k->graph->numDims; ++d)
    elements *= dims >> d & 1 ? (double)k->block[d] : 1;
  return elements;
}

// A sum whose operands all have fewer elements than it has points has a tile of its points: its operands, broadcast.
static void holdPoints(Kernel *k, const TileGraphNode *node) {
  double points = elementsOf(k, allDims(node));
  int64_t bits = 0;
  for (int i = 0; i < node->op.numOperands; ++i) {
    const TileOperatorOperand *o = &node->op.operands[i];
    if ((o->isRead || o->isOutput) && elementsOf(k, dimsOf(node, i)) >= points)
      return;
    bits = tessera_max(bits, o->bits);
  }
  if (k->numLives < TileGraphTensors)
    k->lives[k->numLives++] = (TileLifetime){k->step, k->step, (int64_t)points * bits / 8};
}

static void note(Kernel *k, Visit visit) {
  visit.often = rounds(k);
  if (k->numVisits < MostVisits)
    k->visits[k->numVisits++] = visit;
}

// Sums across lanes.
static bool foldsTile(const Kernel *k, const TileGraphNode *node) {
  bool folds = false;
  for (int d = 0; d < node->op.numDims; ++d)
    folds |= node->op.dims[d].isReduction && k->block[node->dims[d]] > 1;
  return folds;
}

static void load(Kernel *k, const TileGraphNode *node, int operand) {
  const TileOperatorOperand *o = &node->op.operands[operand];
  Load now = {node->tensors[operand], k->scope, -1, dimsOf(node, operand)};
  if (o->rank == 0 || !o->isRead)
    return;
  for (int i = 0; i < k->numLoads; ++i)
    if (k->loads[i].tensor == now.tensor && k->loads[i].scope == now.scope && k->loads[i].dims == now.dims) {
      if (k->loads[i].life >= 0)
        k->lives[k->loads[i].life].end = k->step;
      return;
    }
  // A product's factors are in shared memory.
  now.life = node->op.m >= 0 ? -1 : begin(k, node, operand);
  if (k->numLoads < MostLoads)
    k->loads[k->numLoads++] = now;
  Visit visit = {.tile = elementsOf(k, now.dims), .bits = (double)o->bits};
  double bytes = countOf(k, now.dims, false) * (double)o->bits / 8;
  countAgain(k, now.dims, bytes, o->bits);
  if (node->op.m >= 0) { // its factors are copied ahead
    k->cost.read += bytes;
  } else {
    int last = node->dims[node->op.numDims - 1];
    visit.bytes = bytes;
    visit.node = elementsOf(k, allDims(node));
    visit.columns = (double)k->block[last];
    visit.hasColumns = now.dims >> last & 1;
    visit.rows = elementsOf(k, allDims(node) & ~(now.dims | 1u << last));
    k->waits += k->scope < MostVisits && k->hasWaited[k->scope] ? 0 : rounds(k);
    k->hasWaited[tessera_min(k->scope, MostVisits - 1)] = true;
  }
  note(k, visit);
}

// Values live from now on.
static void hold(Kernel *k, int n) {
  const TileGraphNode *node = &k->graph->nodes[n];
  k->life[n] = k->numLives;
  for (int i = 0; i < node->op.numOperands; ++i)
    if (node->op.operands[i].isOutput)
      begin(k, node, i);
  k->numValues[n] = k->numLives - k->life[n];
}

static void use(Kernel *k, int n) {
  for (int i = 0; k->isDone[n] && i < k->numValues[n]; ++i)
    k->lives[k->life[n] + i].end = k->step;
}

static void evaluate(Kernel *k, int n);

static uint32_t walkedDims(const Kernel *k, const TileGraphNode *node, bool folded) {
  uint32_t dims = 0;
  for (int d = 0; d < node->op.numDims; ++d)
    if (node->op.dims[d].isReduction == folded && isWalked(k, node->dims[d]))
      dims |= 1u << node->dims[d];
  return dims;
}

static bool isFactorOnce(const Kernel *k, const TileGraphNode *node, int operand) {
  uint32_t dims = dimsOf(node, operand);
  for (int d = 0; d < k->graph->numDims; ++d)
    if (dims >> d & 1 && isWalked(k, d))
      return false;
  return node->op.m >= 0 && node->makers[operand] < 0;
}

// Walked dimensions whose loops are not open, and these: what they index has a tile in each round.
static uint32_t inside(const Kernel *k, uint32_t dims) {
  for (int d = 0; d < k->graph->numDims; ++d)
    dims |= isWalked(k, d) && !(k->open >> d & 1) ? 1u << d : 0;
  return dims;
}

static void computeBefore(Kernel *k, int n, uint32_t dims) {
  const TileGraphNode *node = &k->graph->nodes[n];
  for (int i = 0; i < node->op.numOperands; ++i) {
    if (node->op.operands[i].isOutput)
      continue;
    if (node->makers[i] < 0) {
      if (dims && i < 2 && isFactorOnce(k, node, i) && !k->isHeld[n][i]) {
        load(k, node, i);
        k->isHeld[n][i] = k->wasHeld[n][i] = true;
      }
      continue;
    }
    if (dimsOf(&k->graph->nodes[node->makers[i]], node->outputs[i]) & inside(k, dims))
      computeBefore(k, node->makers[i], dims);
    else
      evaluate(k, node->makers[i]);
  }
}

// Inside of loops over `dims`, with what is forgotten when they are closed.
typedef struct Scope {
  uint32_t open;
  int scope, step;
  bool isDone[TileGraphNodes], isHeld[TileGraphNodes][2];
} Scope;

static Scope openLoops(Kernel *k, uint32_t dims) {
  Scope outer = {.open = k->open, .scope = k->scope, .step = k->step};
  memcpy(outer.isDone, k->isDone, sizeof outer.isDone);
  memcpy(outer.isHeld, k->isHeld, sizeof outer.isHeld);
  k->open |= dims;
  if (dims)
    k->scope = ++k->scopes;
  return outer;
}

static void closeLoops(Kernel *k, const Scope *outer) {
  for (int n = 0; n < k->graph->numNodes; ++n) // what was computed around the loops is needed in every round
    if (outer->isDone[n] && k->numValues[n] && k->lives[k->life[n]].end > outer->step)
      use(k, n);
  k->open = outer->open;
  k->scope = outer->scope;
  memcpy(k->isDone, outer->isDone, sizeof k->isDone);
  memcpy(k->isHeld, outer->isHeld, sizeof k->isHeld);
}

// The weights of a block of scores: a maximum, a difference, an exponential and a sum of each, in a tile of their own.
static void weigh(Kernel *k, const TileGraphNode *node) {
  enum { Instructions = 3 };
  uint32_t dims = dimsOf(node, node->scores);
  double each = Instructions + (double)k->target->model.functionInstructions;
  begin(k, node, node->scores);
  note(k, (Visit){.tile = elementsOf(k, dims), .operations = each, .isFold = true});
  k->instructions += countOf(k, dims, false) * each;
  k->cost.operations += countOf(k, dims, false) * (Instructions + 1);
}

static void evaluate(Kernel *k, int n) {
  const TileGraphNode *node = &k->graph->nodes[n];
  if (k->isDone[n])
    return;
  uint32_t dims = walkedDims(k, node, true);
  computeBefore(k, n, dims);
  Scope outer = openLoops(k, dims);
  for (int i = 0; i < node->op.numOperands; ++i)
    if (!node->op.operands[i].isOutput && node->makers[i] >= 0)
      evaluate(k, node->makers[i]);
  ++k->step;
  for (int i = 0; i < node->op.numOperands; ++i) {
    if (!node->op.operands[i].isOutput && node->makers[i] >= 0)
      use(k, node->makers[i]);
    else if (node->op.m < 0 || i > 1 || !k->isHeld[n][i])
      load(k, node, i);
  }
  if (node->op.m < 0)
    holdPoints(k, node);
  double points = countOf(k, allDims(node), node->op.m >= 0);
  double each = node->op.operations > 0 ? node->op.operations : 1, operations = points * each;
  if (node->op.m < 0)
    note(k, (Visit){.tile = elementsOf(k, allDims(node)),
                    .operations = each + node->op.functions * (double)(k->target->model.functionInstructions - 1),
                    .isFold = foldsTile(k, node)});
  k->cost.operations += operations;
  *(node->op.m >= 0 ? &k->products : &k->instructions) += operations;
  if (node->isOnline)
    weigh(k, node);
  closeLoops(k, &outer);
  hold(k, n);
  k->isDone[n] = true;
}

static void store(Kernel *k, int n, int operand) {
  const TileGraphNode *node = &k->graph->nodes[n];
  uint32_t dims = 0, has = dimsOf(node, operand);
  for (int d = 0; d < k->graph->numDims; ++d)
    dims |= has >> d & 1 && isWalked(k, d) ? 1u << d : 0;
  if (dims)
    computeBefore(k, n, dims);
  Scope outer = openLoops(k, dims);
  evaluate(k, n);
  ++k->step;
  use(k, n);
  note(k, (Visit){.tile = elementsOf(k, has), .bits = (double)node->op.operands[operand].bits});
  k->cost.written += countOf(k, has, false) * (double)node->op.operands[operand].bits / 8;
  closeLoops(k, &outer);
}

//===--- limits and time ----------------------------------------------------------------===//

static const char *ruleOut(const TileGraph *graph, const int64_t *block) {
  for (int d = 0; d < graph->numDims; ++d) {
    const TileGraphDim *dim = &graph->dims[d];
    if (dim->isOne && (block[d] != 1 || dim->isMatrix))
      return "a product's other dimensions";
    if (dim->isWhole && block[d] < dim->extent)
      return "a whole row";
    for (int n = 0; n < graph->numNodes && !dim->isFolded && block[d] < dim->extent; ++n)
      for (int i = 0; i < graph->nodes[n].op.numOperands; ++i)
        if (graph->nodes[n].isStored[i] && !(dimsOf(&graph->nodes[n], i) >> d & 1))
          return "one program for each result";
  }
  return NULL;
}

// The programs that the registers of a core hold.
static int64_t residentPrograms(const Kernel *k, const TileSearchTarget *target) {
  double threads = (double)(k->cost.warps * target->lanes), tiles = k->cost.footprint / 4 / threads;
  int64_t registers = (int64_t)ceil(tiles) + target->model.tileRegisters;
  int64_t programs = target->registersPerCore / (registers * (int64_t)threads);
  return tessera_min(tessera_min(programs, target->warpsPerCore / k->cost.warps), target->blocksPerCore);
}

// Bytes of the factors that shared memory holds at once: those that were loaded ahead of the loops, and the others of
// two products that follow each other, as one's are asked for while the other one multiplies.
static int64_t factorsAtOnce(const Kernel *k) {
  int64_t held = 0, most = 0, before = 0;
  for (int n = 0; n < k->graph->numNodes; ++n) {
    const TileGraphNode *node = &k->graph->nodes[n];
    int64_t own = 0;
    for (int i = 0; i < node->op.numOperands && node->op.m >= 0; ++i) {
      int64_t bytes = node->op.operands[i].bits / 8;
      if (node->op.operands[i].isOutput || node->makers[i] >= 0)
        continue;
      for (int d = 0; d < node->op.numDims; ++d)
        bytes *= tileOperandIsIndexedBy(&node->op.operands[i], d) ? k->block[node->dims[d]] : 1;
      *(i < 2 && k->wasHeld[n][i] ? &held : &own) += bytes;
    }
    most = tessera_max(most, before + own);
    before = node->op.m >= 0 ? own : before;
  }
  return held + most;
}

// Warps for the tiles: four, or as many as their registers need; rows without products have few registers of tiles in
// each thread, so that several programs share a core.
static void fitGpu(Kernel *k, const TileSearchTarget *target) {
  int64_t registers = target->registersPerThread * target->model.registerPercent / 100;
  double most = (double)(registers - target->model.tileRegisters), wanted = k->products > 0 ? most / 2 : RowRegisters;
  k->cost.warps = 4;
  while (k->cost.warps * target->lanes < target->threadsPerBlock &&
         k->cost.footprint / 4 / (double)(k->cost.warps * target->lanes) > wanted)
    k->cost.warps *= 2;
  k->cost.resident = residentPrograms(k, target);
  if (k->cost.footprint / 4 / (double)(k->cost.warps * target->lanes) > most || k->cost.resident < 1)
    k->cost.misfit = "registers";
  if (2 * factorsAtOnce(k) > target->sharedPerBlock) // the next part of each is on its way
    k->cost.misfit = "shared memory";
}

static void fitCpu(Kernel *k, const TileSearchTarget *target) {
  int own = target->numLevels > 1 && target->levels[1].instances == 0 ? 1 : 0;
  k->cost.warps = 1;
  if (k->cost.footprint > (double)target->levels[own].bytes / 2)
    k->cost.misfit = "a core's caches";
}

// How often the lanes of a program load an element. They stand along the columns of the node's tile, with several
// elements each, and in its next rows where columns end. A tile with fewer elements than lanes is loaded by all.
static double copiesOf(const Kernel *k, const Visit *visit, const TileSearchTarget *target) {
  double threads = (double)(k->cost.warps * target->lanes);
  double wide = fmax(1, fmin(visit->node / threads, (double)target->model.accessBytes * 8 / visit->bits));
  double equal =
      visit->hasColumns ? fmin(visit->rows, threads * wide / visit->columns) : fmin(threads, visit->columns / wide);
  return fmax(1, threads / visit->node) * fmax(1, equal);
}

// What other lanes of the program have loaded comes from the core's cache.
static void countCopies(Kernel *k, const TileSearchTarget *target) {
  int near = target->shared >= 0 ? target->shared : 0;
  for (int i = 0; i < k->numVisits; ++i) {
    const Visit *visit = &k->visits[i];
    if (visit->bytes <= 0)
      continue;
    double more = target->isGpu ? visit->bytes * (copiesOf(k, visit, target) - 1) : 0;
    k->cost.read += visit->bytes + more;
    k->cost.again += more;
    k->bytes[near] += more;
  }
}

// Instructions of each warp of a program. A tile with fewer elements than the program has lanes is computed by all.
static double instructionsPerWarp(const Kernel *k, const TileSearchTarget *target) {
  const TileSearchModel *model = &target->model;
  double threads = (double)(k->cost.warps * target->lanes), sum = (double)model->startInstructions;
  for (int i = 0; i < k->numVisits; ++i) {
    const Visit *visit = &k->visits[i];
    double each = ceil(visit->tile / threads);
    double accesses = ceil(each * visit->bits / 8 / (double)model->accessBytes) * (double)model->accessInstructions;
    double levels = visit->isFold ? log2(threads) * (double)model->shuffleInstructions : 0;
    sum += visit->often * (each * visit->operations + accesses + levels);
  }
  return sum + k->waits * (double)model->stepInstructions;
}

// Bytes, and what lanes and matrix instructions compute, at the machine's rates on the cores that have programs. Too
// few warps wait for memory, and one program goes through its loops round by round. A program that has a core for
// itself moves bytes or computes; several do both at once.
static double secondsOfGpu(const Kernel *k, const TileSearchTarget *target) {
  double cores = (double)target->cores, programs = (double)k->cost.programs, warps = (double)k->cost.warps;
  double perCore = ceil(programs / cores), used = programs / (perCore * cores);
  double hidden = fmin(1, programs * warps / (cores * (double)(target->partitions * target->model.hidingWarps)));
  double resident = fmin(perCore, (double)tessera_max(1, k->cost.resident));
  double issue = fmin(1, resident * warps / (double)target->partitions);
  double latency = (double)target->levels[target->numLevels - 1].latency, instructions = instructionsPerWarp(k, target);
  double issued = perCore * warps * instructions / ((double)target->partitions * issue);
  double alone = ceil(perCore / resident) * (k->waits * latency + instructions) / target->clock;
  double bytes = (k->cost.read + k->cost.written - k->cost.again) / target->levels[target->numLevels - 1].bandwidth;
  for (int i = 0; i < target->numLevels; ++i)
    bytes = fmax(bytes, k->bytes[i] / target->levels[i].bandwidth);
  double products = k->products / (target->rate * cores * target->clock);
  double memory = bytes / hidden, compute = issued / target->clock + products / used;
  double share = k->products <= 0 && k->cost.resident > 0 ? 1 / (double)k->cost.resident : 0;
  return fmax(fmax(memory, compute) + share * fmin(memory, compute), alone);
}

// Bytes and operations at the machine's rates, on the cores that have programs.
static double secondsOfCpu(const Kernel *k, const TileSearchTarget *target) {
  double cores = (double)target->cores, programs = (double)k->cost.programs;
  double used = programs / (ceil(programs / cores) * cores), hidden = fmin(1, programs / cores);
  double bytes = (k->cost.read + k->cost.written) / target->levels[target->numLevels - 1].bandwidth;
  double lanes = (double)(target->vectorBytes / 4 * target->loadsPerCycle);
  double issue = k->instructions / (lanes * cores * target->clock);
  double products = k->products / (target->rate * cores * target->clock);
  return fmax(bytes / hidden, (issue + products) / used);
}

TileGraphCost tileGraphCost(const TileGraph *graph, const TileSearchTarget *target, const int64_t *block) {
  Kernel k = {.graph = graph, .block = block, .target = target};
  k.cost.misfit = ruleOut(graph, block);
  k.cost.programs = 1;
  if (k.cost.misfit)
    return k.cost;
  for (int d = 0; d < graph->numDims; ++d) {
    k.tiles[d] = tessera_ceil_div(graph->dims[d].extent, block[d]);
    k.cost.programs *= graph->dims[d].isFolded ? 1 : k.tiles[d];
  }
  for (int n = 0; n < graph->numNodes; ++n)
    for (int i = 0; i < graph->nodes[n].op.numOperands; ++i)
      if (graph->nodes[n].isStored[i])
        store(&k, n, i);
  k.cost.footprint = (double)footprintOf(k.lives, k.numLives);
  (target->isGpu ? fitGpu : fitCpu)(&k, target);
  countCopies(&k, target);
  k.cost.seconds = (target->isGpu ? secondsOfGpu : secondsOfCpu)(&k, target);
  return k.cost;
}

//===--- search ---------------------------------------------------------------------------===//

TileGraphOptions tileGraphDefaults(void) { return (TileGraphOptions){.visits = 2000}; }

static double scoreOf(const TileGraphCost *cost, const TileSearchTarget *target, TileGraphObjective objective) {
  double bytes = cost->read + cost->written;
  switch (objective) {
  case TileGraphObjective_Traffic:
    return bytes;
  case TileGraphObjective_Waves:
    return (bytes / (double)cost->programs + 1) * ceil((double)cost->programs / (double)target->cores);
  case TileGraphObjective_Time:
    break;
  }
  return cost->seconds;
}

// Times within five per cent are equal: the one with fewer bytes wins, then the faster, then the smaller footprint.
static bool isBetter(const TileGraphCost *a, const TileGraphCost *b, const TileSearchTarget *target,
                     TileGraphObjective objective) {
  if (!a->misfit != !b->misfit)
    return !a->misfit;
  if (a->misfit)
    return a->footprint < b->footprint;
  double ofA = scoreOf(a, target, objective), ofB = scoreOf(b, target, objective);
  double equal = objective == TileGraphObjective_Time ? 1 + target->model.equal : 1;
  if (ofA * equal < ofB || ofB * equal < ofA)
    return ofA < ofB;
  double bytes = a->read + a->written - a->again, others = b->read + b->written - b->again;
  if (bytes != others)
    return bytes < others;
  return a->seconds != b->seconds ? a->seconds < b->seconds : a->footprint < b->footprint;
}

static int64_t leastBlock(const TileGraphDim *dim, const TileSearchTarget *target) {
  return dim->isOne ? 1 : dim->isMatrix && target->isGpu ? 16 : 1;
}

static int64_t wholeBlock(const TileGraphDim *dim, const TileSearchTarget *target) {
  int64_t whole = target->isGpu ? tessera_bucket(dim->extent) : dim->extent;
  return tessera_max(whole, leastBlock(dim, target));
}

static void consider(const TileGraph *graph, const TileSearchTarget *target, const TileGraphOptions *options,
                     const int64_t *block, TileGraphChoice *best) {
  TileGraphCost cost = tileGraphCost(graph, target, block);
  ++best->visits;
  if (best->visits > 1 && !isBetter(&cost, &best->cost, target, options->objective))
    return;
  best->cost = cost;
  memcpy(best->block, block, sizeof best->block);
}

static void exhaust(const TileGraph *graph, const TileSearchTarget *target, const TileGraphOptions *options, int dim,
                    int64_t *block, TileGraphChoice *best) {
  if (dim == graph->numDims) {
    consider(graph, target, options, block, best);
    return;
  }
  const TileGraphDim *d = &graph->dims[dim];
  int64_t whole = wholeBlock(d, target), least = d->isWhole ? whole : leastBlock(d, target);
  for (int64_t size = least; size <= whole && (size == least || !d->isOne);
       size = size < whole && 2 * size > whole ? whole : 2 * size) {
    block[dim] = size;
    exhaust(graph, target, options, dim + 1, block, best);
  }
}

// To the best neighbour until none is better.
static void climb(const TileGraph *graph, const TileSearchTarget *target, const TileGraphOptions *options,
                  TileGraphChoice *best) {
  for (bool isMoving = true; isMoving && best->visits < options->visits;) {
    TileGraphChoice from = *best;
    for (int d = 0; d < graph->numDims; ++d) {
      const TileGraphDim *dim = &graph->dims[d];
      int64_t whole = wholeBlock(dim, target), now = from.block[d];
      int64_t sizes[2] = {tessera_min(2 * now, whole), tessera_max(now / 2, leastBlock(dim, target))};
      for (int i = 0; i < 2 && !dim->isOne && !dim->isWhole; ++i) {
        int64_t block[TileOperatorDims];
        memcpy(block, from.block, sizeof block);
        block[d] = sizes[i];
        if (sizes[i] != now && (target->isGpu || i == 0 || now % 2 == 0 || now > 1))
          consider(graph, target, options, block, best);
      }
    }
    isMoving = memcmp(from.block, best->block, sizeof from.block) != 0;
  }
}

TileGraphChoice tileGraphSearch(const TileGraph *graph, const TileSearchTarget *target,
                                const TileGraphOptions *options) {
  TileGraphChoice best = {.visits = 0};
  int64_t block[TileOperatorDims] = {0};
  if (options->isExhaustive) {
    exhaust(graph, target, options, 0, block, &best);
    return best; // NOLINT(clang-analyzer-core.StackAddressEscape): its one pointer is to a literal
  }
  // Starts: folded dimensions whole or in small parts; the grid's blocks of 1, or of 16 and 64.
  for (int64_t rows = 1; rows <= 64; rows *= rows == 1 ? 16 : 4)
    for (int part = 0; part < 3; ++part) {
      TileGraphChoice start = {.visits = 0};
      for (int d = 0; d < graph->numDims; ++d) {
        const TileGraphDim *dim = &graph->dims[d];
        int64_t whole = wholeBlock(dim, target), least = leastBlock(dim, target);
        int64_t wanted = dim->isOne       ? 1
                         : dim->isWhole   ? whole
                         : !dim->isFolded ? rows
                         : part == 0      ? whole
                         : part == 1      ? 64
                                          : 16;
        for (int n = 0; n < graph->numNodes && !dim->isFolded; ++n)
          for (int i = 0; i < graph->nodes[n].op.numOperands; ++i)
            if (graph->nodes[n].isStored[i] && !(dimsOf(&graph->nodes[n], i) >> d & 1))
              wanted = whole;
        start.block[d] = tessera_max(least, tessera_min(wanted, whole));
      }
      start.cost = tileGraphCost(graph, target, start.block);
      start.visits = 1;
      climb(graph, target, options, &start);
      int64_t visits = best.visits + start.visits;
      if (best.visits == 0 || isBetter(&start.cost, &best.cost, target, options->objective))
        best = start;
      best.visits = visits;
      if (visits >= options->visits)
        return best;
    }
  return best;
}
