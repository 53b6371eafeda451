// Construction of aligned tiles. See construct.h.
#include "lib/search/construct.h"

#include "lib/search/cpu_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { Sizes = 24, BeamWidth = 3, MostWarps = 16, MostStages = 4, LargestSize = 8192, MostSteps = 64 };

TileSearchOptions tileSearchDefaults(void) { return (TileSearchOptions){.best = 1, .padding = 0.25}; }

int64_t tileSearchBucket(int64_t extent) {
  int64_t bucket = 1;
  while (bucket < extent)
    bucket *= 2;
  return bucket;
}

//===--- alignment ------------------------------------------------------------------===//

static int64_t lcm(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

// Elements of a transaction (of a vector, on a CPU) along dimensions that are contiguous in some operand; 1 elsewhere.
static int64_t alignmentOf(const TileOperator *op, const TileSearchTarget *target, int dim) {
  int64_t bytes = target->isGpu ? target->levels[target->numLevels - 1].transaction : target->vectorBytes;
  int64_t alignment = 1;
  for (int i = 0; i < op->numOperands; ++i) {
    const TileOperatorOperand *operand = &op->operands[i];
    if (operand->rank && operand->factors[operand->rank - 1][dim] == 1 && !operand->isGathered)
      alignment = lcm(alignment, tileSearchBucket(bytes * 8 / (operand->bits < 8 ? 8 : operand->bits)));
  }
  return alignment;
}

static int64_t atomOf(const TileOperator *op, const TileSearchTarget *target, int dim) {
  return op->m < 0      ? 1
         : dim == op->m ? target->atom[0]
         : dim == op->n ? target->atom[1]
         : dim == op->k ? target->atom[2]
                        : 1;
}

// The most of a dimension. A product's step along k is a row of all banks of shared memory at most, as in the paper:
// more reuses nothing and only takes registers.
static int64_t largestOf(const TileOperator *op, const TileSearchTarget *target, int dim) {
  if (!target->isGpu || op->m < 0 || dim != op->k || target->shared < 0)
    return LargestSize;
  int64_t bits = op->operands[op->lhs].bits,
          row = target->levels[target->shared].transaction * 8 / (bits < 8 ? 8 : bits);
  return row > target->atom[2] ? row : target->atom[2];
}

// Whether `size` wastes no more of the dimension than it may.
static bool isPaddedLittle(int64_t extent, int64_t size, double padding) {
  return (double)(tileCeilDiv(extent, size) * size) <= (double)extent * (1 + padding);
}

int tileSearchSizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options, int dim,
                    int64_t *sizes, int capacity) {
  const TileOperatorDim *d = &op->dims[dim];
  int64_t atom = atomOf(op, target, dim), base = lcm(alignmentOf(op, target, dim), atom);
  base = base < largestOf(op, target, dim) ? base : largestOf(op, target, dim);
  int64_t whole = tileSearchBucket(d->extent), first = base < whole ? base : whole > atom ? whole : atom;
  int count = 0;
  if (d->least > 1) {
    sizes[0] = d->least;
    return 1;
  }
  if (!d->mayTile || d->extent == 1) {
    sizes[0] = atom > 1 && d->mayTile ? atom : 1;
    return 1;
  }
  if (atom == 1)
    sizes[count++] = 1;
  else if (atom < first)
    sizes[count++] = atom; // of a small problem less than a transaction
  for (int64_t size = first; count < capacity && size <= largestOf(op, target, dim); size *= 2) {
    bool isLeast = size == first;
    if (d->divides && d->extent % size)
      break;
    if (size > 1 && (isLeast || isPaddedLittle(d->extent, size, options->padding)) &&
        size < 2 * (whole > first ? whole : first))
      sizes[count++] = size;
  }
  if (!count)
    sizes[count++] = 1;
  if (!target->isGpu && d->extent > 1 && d->extent < LargestSize && count < capacity && sizes[count - 1] < d->extent)
    sizes[count++] = d->extent; // all of it pads nothing
  return count;
}

//===--- one tile --------------------------------------------------------------------===//

typedef struct Space {
  const TileOperator *op;
  const TileSearchTarget *target;
  const TileSearchOptions *options;
  TileSearchResult *result;
  TileSearchTile registers; // of a CPU's packed product: rows and columns
  int64_t sizes[TileOperatorDims][Sizes];
  int counts[TileOperatorDims];
} Space;

// A place in the space: which aligned size each dimension has.
typedef struct Node {
  int at[TileOperatorDims];
  double reuse;
  TileSearchCandidate best; // over warps and stages
} Node;

static Space spaceOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                     const TileSearchTile *registers, TileSearchResult *result) {
  Space space = {.op = op, .target = target, .options = options, .result = result};
  if (registers)
    space.registers = *registers;
  for (int d = 0; d < op->numDims; ++d)
    space.counts[d] = registers ? tileCpuProductSizes(op, registers, d, space.sizes[d], Sizes)
                                : tileSearchSizes(op, target, options, d, space.sizes[d], Sizes);
  return space;
}

// In steps of one twentieth, so that "about equal" is an order: the model cannot tell them apart.
static long magnitude(double seconds) { return lround(log(seconds > 1e-15 ? seconds : 1e-15) * 20); }

static bool isBetter(const TileSearchCandidate *a, const TileSearchCandidate *b) {
  if (!a->prediction.misfit != !b->prediction.misfit)
    return !a->prediction.misfit;
  long left = magnitude(a->prediction.seconds), right = magnitude(b->prediction.seconds);
  if (left != right)
    return left < right;
  if (a->prediction.sum != b->prediction.sum)
    return a->prediction.sum < b->prediction.sum;
  if (a->tile.rows != b->tile.rows)
    return a->tile.rows > b->tile.rows;
  return memcmp(a->tile.size, b->tile.size, sizeof a->tile.size) < 0;
}

static bool isSameTile(const TileSearchTile *a, const TileSearchTile *b) {
  return !memcmp(a->size, b->size, sizeof a->size) && a->rows == b->rows && a->columns == b->columns &&
         a->split == b->split && a->isUnpacked == b->isUnpacked && a->isAlongDepth == b->isAlongDepth;
}

// Keeps the k best, one for each tile of memory: other warps of the same tile are no other choice.
static void keep(const Space *space, const TileSearchCandidate *candidate) {
  TileSearchResult *result = space->result;
  int most = space->options->best < TileSearchBest ? space->options->best : TileSearchBest, at;
  if (candidate->prediction.misfit)
    return;
  for (at = 0; at < result->count; ++at)
    if (isSameTile(&result->best[at].tile, &candidate->tile)) {
      if (!isBetter(candidate, &result->best[at]))
        return;
      memmove(&result->best[at], &result->best[at + 1], (size_t)(result->count - at - 1) * sizeof *result->best);
      --result->count;
      break;
    }
  for (at = result->count; at > 0 && isBetter(candidate, &result->best[at - 1]); --at)
    ;
  if (at >= most)
    return;
  int moved = (result->count < most ? result->count : most - 1) - at;
  memmove(&result->best[at + 1], &result->best[at], (size_t)moved * sizeof *result->best);
  result->best[at] = *candidate;
  result->count += result->count < most;
}

static double warpElements(const TileOperator *op, const TileSearchTile *tile) {
  double elements = 1;
  for (int d = 0; d < op->numDims; ++d)
    elements *= op->m >= 0 && d == op->k ? 1 : (double)tile->size[d];
  return elements;
}

// Warps share a product in parts that are whole instructions; elsewhere every lane has something to do.
static bool mayHaveWarps(const Space *space, const TileSearchTile *tile) {
  const TileOperator *op = space->op;
  if (tile->warps == 1)
    return true;
  if (op->m < 0)
    return warpElements(op, tile) >= (double)(tile->warps * space->target->lanes);
  int64_t rows = tile->size[op->m] / tile->warpsM, columns = tile->size[op->n] / (tile->warps / tile->warpsM);
  if (rows < space->target->atom[0] || columns < space->target->atom[1])
    return false;
  return space->target->hasAtom || rows * columns >= space->target->lanes;
}

static TileSearchCandidate evaluate(const Space *space, const TileSearchTile *tile) {
  ++space->result->evaluations;
  return (TileSearchCandidate){.tile = *tile, .prediction = tilePredict(space->op, space->target, tile)};
}

// How warps divide a product: as squarely as can be, which reads shared memory least.
static int64_t warpsAlongM(const Space *space, const TileSearchTile *tile) {
  const TileOperator *op = space->op;
  int64_t best = 1;
  double least = INFINITY;
  for (int64_t along = 1; along <= tile->warps; along *= 2) {
    TileSearchTile divided = *tile;
    divided.warpsM = along;
    double cost = (double)tile->size[op->m] * (double)(tile->warps / along) * (double)op->operands[op->lhs].bits +
                  (double)tile->size[op->n] * (double)along * (double)op->operands[op->rhs].bits;
    if (mayHaveWarps(space, &divided) && cost < least) {
      least = cost;
      best = along;
    }
  }
  return best;
}

// Gives the tile so many warps; false if they are more than it has work for.
static bool divide(const Space *space, const TileSearchTile *sizes, TileSearchTile *tile, int64_t warps) {
  tile->warps = warps;
  tile->warpsM = sizes->warpsM ? sizes->warpsM : space->op->m >= 0 ? warpsAlongM(space, tile) : 1;
  return mayHaveWarps(space, tile);
}

// The best warps and stages for sizes; those that are given stay.
static TileSearchCandidate complete(const Space *space, const TileSearchTile *sizes) {
  TileSearchCandidate best = {.prediction = {.misfit = "warps"}};
  TileSearchTile tile = *sizes;
  bool isProduct = space->op->m >= 0;
  if (!space->target->isGpu) {
    tile.rows = space->registers.rows;
    tile.columns = space->registers.columns;
    tile.isUnpacked = space->registers.isUnpacked;
    tile.isAlongDepth = space->registers.isAlongDepth;
    tile.warps = tile.warpsM = tile.stages = 1;
    return evaluate(space, &tile);
  }
  // Every part of a core has a warp, where the tile is large enough.
  int64_t least = 1, most = MostWarps;
  while (least < space->target->partitions && divide(space, sizes, &tile, 2 * least))
    least *= 2;
  if (sizes->warps)
    least = most = sizes->warps;
  for (int64_t warps = least; warps <= most; warps *= 2) {
    if (!divide(space, sizes, &tile, warps) && warps > least)
      break;
    int64_t first = sizes->stages ? sizes->stages : isProduct ? 2 : 1;
    int64_t last = sizes->stages ? first : !isProduct ? 1 : space->target->hasAsyncCopies ? MostStages : 2;
    for (tile.stages = first; tile.stages <= last; ++tile.stages) {
      TileSearchCandidate candidate = evaluate(space, &tile);
      if (best.prediction.misfit || isBetter(&candidate, &best))
        best = candidate;
    }
  }
  return best;
}

static void visit(const Space *space, Node *node) {
  TileSearchTile tile = {.warps = 0};
  for (int d = 0; d < space->op->numDims; ++d)
    tile.size[d] = space->sizes[d][node->at[d]];
  node->best = complete(space, &tile);
  node->reuse = node->best.prediction.misfit ? 0 : tileReuse(space->op, space->target, &tile);
  keep(space, &node->best);
}

// A tile has no more wide dimensions than kernels take, and only such as go together.
static bool mayWiden(const Space *space, const Node *node, int dim) {
  int wide = 0;
  if (node->at[dim] + 1 >= space->counts[dim])
    return false;
  for (int d = 0; d < space->op->numDims; ++d) {
    if (d == dim || space->sizes[d][node->at[d]] == 1)
      continue;
    ++wide;
    if (!(space->op->dims[dim].beside >> d & 1))
      return false;
  }
  return wide < space->op->mostTiled;
}

//===--- scale up ---------------------------------------------------------------------===//

// More reuse first; of equals the faster one.
static bool isRicher(const Node *a, const Node *b) {
  double gap = a->reuse - b->reuse, scale = (a->reuse + b->reuse) * 1e-9;
  if (gap > scale || gap < -scale)
    return gap > 0;
  return isBetter(&a->best, &b->best);
}

static bool isSameNode(const Space *space, const Node *a, const Node *b) {
  return !memcmp(a->at, b->at, (size_t)space->op->numDims * sizeof *a->at);
}

static int insertNode(const Space *space, Node *beam, int count, const Node *node) {
  for (int i = 0; i < count; ++i)
    if (isSameNode(space, &beam[i], node))
      return count;
  int at = count;
  while (at > 0 && isRicher(node, &beam[at - 1]))
    --at;
  if (at >= BeamWidth)
    return count;
  int moved = (count < BeamWidth ? count : BeamWidth - 1) - at;
  memmove(&beam[at + 1], &beam[at], (size_t)moved * sizeof *beam);
  beam[at] = *node;
  return count < BeamWidth ? count + 1 : count;
}

static bool isInBeam(const Space *space, const Node *beam, int count, const Node *node) {
  for (int i = 0; i < count; ++i)
    if (isSameNode(space, &beam[i], node))
      return true;
  return false;
}

static void scaleUp(const Space *space, Node *start) {
  Node beam[BeamWidth] = {*start}, next[BeamWidth];
  for (int count = 1, step = 0; count > 0 && step < MostSteps; ++step) {
    int found = 0;
    for (int i = 0; i < count; ++i)
      for (int d = 0; d < space->op->numDims; ++d) {
        Node node = beam[i];
        if (!mayWiden(space, &node, d))
          continue;
        ++node.at[d];
        if (isInBeam(space, next, found, &node))
          continue;
        visit(space, &node);
        if (!node.best.prediction.misfit)
          found = insertNode(space, next, found, &node);
      }
    memcpy(beam, next, (size_t)found * sizeof *beam);
    count = found;
  }
}

//===--- scale out ---------------------------------------------------------------------===//

static bool findNode(const Space *space, const TileSearchTile *tile, Node *node) {
  if (tile->rows != space->registers.rows || tile->columns != space->registers.columns ||
      tile->isUnpacked != space->registers.isUnpacked || tile->isAlongDepth != space->registers.isAlongDepth)
    return false;
  for (int d = 0; d < space->op->numDims; ++d) {
    int at = 0;
    while (at < space->counts[d] && space->sizes[d][at] != tile->size[d])
      ++at;
    if (at == space->counts[d])
      return false;
    node->at[d] = at;
  }
  return true;
}

// Shrinks what loses the least reuse until every core has a program.
static void scaleOut(const Space *space, Node node) {
  for (int step = 0; step < MostSteps && node.best.prediction.programs < space->target->cores; ++step) {
    Node best = {.reuse = -1};
    for (int d = 0; d < space->op->numDims; ++d) {
      Node smaller = node;
      if (space->op->dims[d].isReduction || node.at[d] == 0)
        continue;
      --smaller.at[d];
      visit(space, &smaller);
      if (!smaller.best.prediction.misfit && (best.reuse < 0 || isRicher(&smaller, &best)))
        best = smaller;
    }
    if (best.reuse < 0)
      return;
    node = best;
  }
}

// Steps to the best neighbour while there is a better one: one dimension up or down, or one up and another down.
static void polish(const Space *space, Node node) {
  for (int step = 0; step < MostSteps; ++step) {
    Node best = node;
    for (int up = -1; up < space->op->numDims; ++up)
      for (int down = -1; down < space->op->numDims; ++down) {
        Node near = node;
        if (up == down || (down >= 0 && near.at[down] == 0))
          continue;
        near.at[down < 0 ? 0 : down] -= down >= 0;
        if (up >= 0 && !mayWiden(space, &near, up))
          continue;
        near.at[up < 0 ? 0 : up] += up >= 0;
        visit(space, &near);
        if (isBetter(&near.best, &best.best))
          best = near;
      }
    if (isSameNode(space, &best, &node))
      return;
    node = best;
  }
}

static void construct(const Space *space) {
  TileSearchResult *result = space->result;
  Node start = {.reuse = 0};
  visit(space, &start);
  scaleUp(space, &start);
  for (int i = 0, grown = 0; grown < BeamWidth && i < result->count; ++i) {
    Node node = {.best = result->best[i]};
    if (findNode(space, &node.best.tile, &node)) {
      scaleOut(space, node);
      ++grown;
    }
  }
  for (int i = 0; i < result->count; ++i) {
    Node best = {.best = result->best[i]};
    if (findNode(space, &result->best[i].tile, &best)) {
      polish(space, best);
      return;
    }
  }
}

// Each register tile of a CPU's product has a space of its own, packed and not; so has what streams, and what sums
// along k.
static void searchCpuProduct(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                             void (*search)(const Space *space), TileSearchResult *result) {
  TileSearchTile registers[TileCpuProductRegisterTiles], streams[TileCpuProductStreams];
  int count = tileCpuProductRegisters(op, target, registers), numStreams = tileCpuProductStreams(op, target, streams);
  for (int direct = 0; direct <= tileCpuProductMayBeDirect(op); ++direct)
    for (int i = 0; i < count; ++i) {
      registers[i].isUnpacked = direct;
      Space space = spaceOf(op, target, options, &registers[i], result);
      search(&space);
    }
  TileSearchTile thin;
  if (tileCpuProductAlongDepth(op, target, &thin)) {
    Space space = spaceOf(op, target, options, &thin, result);
    search(&space);
  }
  Space space = {.op = op, .target = target, .options = options, .result = result};
  for (int i = 0; i < numStreams; ++i) {
    TileSearchCandidate candidate = evaluate(&space, &streams[i]);
    keep(&space, &candidate);
  }
}

static void searchWith(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                       void (*search)(const Space *space), TileSearchResult *result) {
  *result = (TileSearchResult){.count = 0};
  if (!target->isGpu && op->isMatrix) {
    searchCpuProduct(op, target, options, search, result);
    return;
  }
  Space space = spaceOf(op, target, options, NULL, result);
  search(&space);
}

void tileSearchConstruct(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                         TileSearchResult *result) {
  searchWith(op, target, options, construct, result);
}

//===--- every tile ----------------------------------------------------------------------===//

static void visitAll(const Space *space, Node *node, int dim) {
  if (dim == space->op->numDims) {
    TileSearchTile tile = {.warps = 0};
    for (int d = 0; d < space->op->numDims; ++d)
      tile.size[d] = space->sizes[d][node->at[d]];
    TileSearchCandidate candidate = complete(space, &tile);
    keep(space, &candidate);
    return;
  }
  visitAll(space, node, dim + 1);
  while (mayWiden(space, node, dim)) {
    ++node->at[dim];
    visitAll(space, node, dim + 1);
  }
  node->at[dim] = 0;
}

static void visitEvery(const Space *space) {
  Node node = {.reuse = 0};
  visitAll(space, &node, 0);
}

void tileSearchExhaustive(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                          TileSearchResult *result) {
  searchWith(op, target, options, visitEvery, result);
}

// The best register tile for a block, or none; where none divides it, the first one.
static TileSearchCandidate completeCpuProduct(Space *space, const TileSearchTile *tile) {
  TileSearchTile registers[TileCpuProductRegisterTiles + 1] = {{.rows = 0}};
  TileSearchCandidate best = {.prediction = {.misfit = "everything"}};
  char text[160];
  TileSearchTile streams[TileCpuProductStreams];
  int count = tileCpuProductRegisters(space->op, space->target, registers);
  if (tileCpuProductStreams(space->op, space->target, streams))
    registers[count++] = (TileSearchTile){.isUnpacked = true};
  for (int i = 0; i < count; ++i) {
    TileSearchTile whole = *tile;
    whole.rows = registers[i].rows;
    whole.columns = registers[i].columns;
    whole.isUnpacked = registers[i].isUnpacked;
    space->registers = registers[i];
    bool isFaulty = tileCpuProductFault(space->op, space->target, &whole, text, sizeof text) != NULL;
    if (isFaulty && i > 0)
      continue;
    TileSearchCandidate candidate = complete(space, &whole);
    if (isFaulty)
      candidate.prediction.misfit = "a register tile";
    if (i == 0 || isBetter(&candidate, &best))
      best = candidate;
  }
  return best;
}

TileSearchCandidate tileSearchComplete(const TileOperator *op, const TileSearchTarget *target,
                                       const TileSearchTile *tile, TileSearchResult *result) {
  TileSearchOptions options = tileSearchDefaults();
  *result = (TileSearchResult){.count = 0};
  Space space = {.op = op, .target = target, .options = &options, .result = result, .registers = *tile};
  bool isOpen = !target->isGpu && op->isMatrix && !tile->isUnpacked && !tile->rows;
  return isOpen ? completeCpuProduct(&space, tile) : complete(&space, tile);
}
