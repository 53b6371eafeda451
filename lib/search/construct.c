// Construction of aligned tiles. See construct.h.
#include "lib/search/construct.h"

#include "lib/support/integer.h"

#include <math.h>
#include <string.h>

enum { Sizes = 24, BeamWidth = 3, LargestSize = 8192, MostSteps = 64 };

TileSearchOptions tileSearchDefaults(void) { return (TileSearchOptions){.best = 1, .padding = 0.25}; }

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
      alignment = lcm(alignment, tessera_bucket(bytes * 8 / (operand->bits < 8 ? 8 : operand->bits)));
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
  return (double)(tessera_ceil_div(extent, size) * size) <= (double)extent * (1 + padding);
}

int tileSearchSizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                    int dim, int64_t *sizes, int capacity) {
  (void)start;
  const TileOperatorDim *d = &op->dims[dim];
  int64_t atom = atomOf(op, target, dim), base = lcm(alignmentOf(op, target, dim), atom);
  base = tessera_max(tessera_min(base, largestOf(op, target, dim)), 1);
  int64_t whole = tessera_bucket(d->extent), first = base < whole ? base : whole > atom ? whole : atom;
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
    if (size > 1 && (isLeast || isPaddedLittle(d->extent, size, padding)) && size < 2 * (whole > first ? whole : first))
      sizes[count++] = size;
  }
  if (!count)
    sizes[count++] = 1;
  if (!target->isGpu && d->extent > 1 && d->extent < LargestSize && count < capacity && sizes[count - 1] < d->extent)
    sizes[count++] = d->extent; // all of it pads nothing
  return count;
}

//===--- one tile --------------------------------------------------------------------===//

// The sizes of one kind's start.
typedef struct Space {
  const TileOperator *op;
  const TileSearchTarget *target;
  const TileSearchOptions *options;
  TileSearchResult *result;
  TileSearchTile start;
  int64_t sizes[TileOperatorDims][Sizes];
  int counts[TileOperatorDims];
} Space;

// A place in the space: which size each dimension has.
typedef struct Node {
  int at[TileOperatorDims];
  double reuse;
  TileSearchCandidate best; // over what the kind leaves open
} Node;

static Space spaceOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                     const TileSearchTile *start, TileSearchResult *result) {
  Space space = {.op = op, .target = target, .options = options, .result = result, .start = *start};
  const TileKernelKind *kind = tileKernelKinds[start->kind];
  for (int d = 0; d < op->numDims && kind->sizes; ++d)
    space.counts[d] = kind->sizes(op, target, start, options->padding, d, space.sizes[d], Sizes);
  return space;
}

// In steps of what the model cannot tell apart, so that "about equal" is an order.
static long magnitude(const TileSearchTarget *target, double seconds) {
  return lround(log(seconds > 1e-15 ? seconds : 1e-15) / target->model.equal);
}

bool tileSearchIsBetter(const TileSearchTarget *target, const TileSearchCandidate *a, const TileSearchCandidate *b) {
  if (!a->prediction.misfit != !b->prediction.misfit)
    return !a->prediction.misfit;
  long left = magnitude(target, a->prediction.seconds), right = magnitude(target, b->prediction.seconds);
  if (left != right)
    return left < right;
  if (a->prediction.sum != b->prediction.sum)
    return a->prediction.sum < b->prediction.sum;
  int64_t rows = tileRegisterRows(&a->tile), others = tileRegisterRows(&b->tile);
  return rows != others ? rows > others : memcmp(a->tile.size, b->tile.size, sizeof a->tile.size) < 0;
}

// Other warps and stages of the same tile of memory are no other choice.
static bool isSameTile(const TileSearchTile *a, const TileSearchTile *b) {
  return a->kind == b->kind && !memcmp(a->size, b->size, sizeof a->size) &&
         tileRegisterRows(a) == tileRegisterRows(b) && tileRegisterColumns(a) == tileRegisterColumns(b) &&
         tileParts(a) == tileParts(b);
}

void tileSearchKeep(const TileSearchTarget *target, const TileSearchOptions *options,
                    const TileSearchCandidate *candidate, TileSearchResult *result) {
  int most = options->best < TileSearchBest ? options->best : TileSearchBest, at;
  if (candidate->prediction.misfit)
    return;
  for (at = 0; at < result->count; ++at)
    if (isSameTile(&result->best[at].tile, &candidate->tile)) {
      if (!tileSearchIsBetter(target, candidate, &result->best[at]))
        return;
      memmove(&result->best[at], &result->best[at + 1], (size_t)(result->count - at - 1) * sizeof *result->best);
      --result->count;
      break;
    }
  for (at = result->count; at > 0 && tileSearchIsBetter(target, candidate, &result->best[at - 1]); --at)
    ;
  if (at >= most)
    return;
  int moved = (result->count < most ? result->count : most - 1) - at;
  memmove(&result->best[at + 1], &result->best[at], (size_t)moved * sizeof *result->best);
  result->best[at] = *candidate;
  result->count += result->count < most;
}

TileSearchCandidate tileSearchEvaluate(const TileOperator *op, const TileSearchTarget *target,
                                       const TileSearchTile *tile, int64_t *evaluations) {
  const TileKernelKind *kind = tileKernelKinds[tile->kind];
  if (kind->complete)
    return kind->complete(op, target, tile, evaluations);
  ++*evaluations;
  return (TileSearchCandidate){.tile = *tile, .prediction = kind->predict(op, target, tile)};
}

static bool isBetter(const Space *space, const TileSearchCandidate *a, const TileSearchCandidate *b) {
  return tileSearchIsBetter(space->target, a, b);
}

static void visit(const Space *space, Node *node) {
  TileSearchTile tile = space->start;
  for (int d = 0; d < space->op->numDims; ++d)
    tile.size[d] = space->sizes[d][node->at[d]];
  node->best = tileSearchEvaluate(space->op, space->target, &tile, &space->result->evaluations);
  tile.kind = TileKind_None; // reuse is a matter of sizes alone
  node->reuse = node->best.prediction.misfit ? 0 : tileReuse(space->op, space->target, &tile);
  tileSearchKeep(space->target, space->options, &node->best, space->result);
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
static bool isRicher(const TileSearchTarget *target, const Node *a, const Node *b) {
  double gap = a->reuse - b->reuse, scale = (a->reuse + b->reuse) * 1e-9;
  if (gap > scale || gap < -scale)
    return gap > 0;
  return tileSearchIsBetter(target, &a->best, &b->best);
}

static bool isSameNode(const Space *space, const Node *a, const Node *b) {
  return !memcmp(a->at, b->at, (size_t)space->op->numDims * sizeof *a->at);
}

static int insertNode(const Space *space, Node *beam, int count, const Node *node) {
  for (int i = 0; i < count; ++i)
    if (isSameNode(space, &beam[i], node))
      return count;
  int at = count;
  while (at > 0 && isRicher(space->target, node, &beam[at - 1]))
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
  if (tile->kind != space->start.kind || tileRegisterRows(tile) != tileRegisterRows(&space->start) ||
      tileRegisterColumns(tile) != tileRegisterColumns(&space->start))
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
      if (!smaller.best.prediction.misfit && (best.reuse < 0 || isRicher(space->target, &smaller, &best)))
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
        if (isBetter(space, &near.best, &best.best))
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

// Each start of each kind that applies has a space of its own; a start without sizes is a tile.
static void searchWith(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                       void (*search)(const Space *space), TileSearchResult *result) {
  *result = (TileSearchResult){.count = 0};
  for (int k = TileKind_None + 1; k < NumTileKinds; ++k) {
    const TileKernelKind *kind = tileKernelKinds[k];
    TileSearchTile starts[TileKindStarts];
    int count = tileKindStarts((TileKind)k, op, target, starts);
    for (int i = 0; i < count; ++i) {
      if (kind->sizes) {
        Space space = spaceOf(op, target, options, &starts[i], result);
        search(&space);
        continue;
      }
      TileSearchCandidate candidate = tileSearchEvaluate(op, target, &starts[i], &result->evaluations);
      tileSearchKeep(target, options, &candidate, result);
    }
  }
}

void tileSearchConstruct(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                         TileSearchResult *result) {
  searchWith(op, target, options, construct, result);
}

//===--- every tile ----------------------------------------------------------------------===//

static void visitAll(const Space *space, Node *node, int dim) {
  if (dim == space->op->numDims) {
    TileSearchTile tile = space->start;
    for (int d = 0; d < space->op->numDims; ++d)
      tile.size[d] = space->sizes[d][node->at[d]];
    TileSearchCandidate candidate = tileSearchEvaluate(space->op, space->target, &tile, &space->result->evaluations);
    tileSearchKeep(space->target, space->options, &candidate, space->result);
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

//===--- any tile ------------------------------------------------------------------------===//

static uint64_t nextRandom(uint64_t *state) { // splitmix64 (Steele, Lea and Flood, 2014)
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// Walks each dimension up by a random number of sizes, in a random order of dimensions.
static TileSearchTile drawTile(const Space *space, uint64_t *state) {
  TileSearchTile tile = space->start;
  int numDims = space->op->numDims, first = (int)(nextRandom(state) % (uint64_t)numDims);
  Node node = {.reuse = 0};
  for (int i = 0; i < numDims && tileKernelKinds[tile.kind]->sizes; ++i) {
    int dim = (first + i) % numDims;
    for (uint64_t steps = nextRandom(state) % Sizes; steps && mayWiden(space, &node, dim); --steps)
      ++node.at[dim];
    tile.size[dim] = space->sizes[dim][node.at[dim]];
  }
  return tile;
}

void tileSearchDraw(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                    uint64_t seed, TileSearchResult *result) {
  enum { MostDraws = 256 };
  TileSearchTile starts[NumTileKinds * TileKindStarts];
  TileSearchResult drawn = {.count = 0};
  int count = 0, wanted = options->best < TileSearchBest ? options->best : TileSearchBest;
  for (int k = TileKind_None + 1; k < NumTileKinds; ++k)
    count += tileKindStarts((TileKind)k, op, target, starts + count);
  for (int i = 0; count > 0 && drawn.count < wanted && i < MostDraws; ++i) {
    Space space = spaceOf(op, target, options, &starts[nextRandom(&seed) % (uint64_t)count], result);
    TileSearchTile tile = drawTile(&space, &seed);
    TileSearchCandidate candidate = tileSearchEvaluate(op, target, &tile, &drawn.evaluations);
    if (!candidate.prediction.misfit)
      drawn.best[drawn.count++] = candidate;
  }
  *result = drawn;
}

//===--- what a person wrote ----------------------------------------------------------------===//

// The best kind and register tile for a block: packed or streamed. Where no register tile divides the block, the first
// one, as a misfit.
static TileSearchCandidate chooseKind(const TileOperator *op, const TileSearchTarget *target,
                                      const TileSearchTile *tile, int64_t *evaluations) {
  TileSearchTile starts[TileKindStarts + 1];
  TileSearchCandidate best = {.prediction = {.misfit = "everything"}};
  char text[256];
  int count = tilePackedKind.starts(op, target, starts);
  if (tileStreamedKind.applies(op, target))
    starts[count++] = (TileSearchTile){.kind = TileKind_Streamed};
  for (int i = 0; i < count; ++i) {
    TileSearchTile whole = starts[i];
    memcpy(whole.size, tile->size, sizeof whole.size);
    bool isFaulty = tileKernelKinds[whole.kind]->fault(op, target, &whole, text, sizeof text) != NULL;
    if (isFaulty && i > 0)
      continue;
    TileSearchCandidate candidate = tileSearchEvaluate(op, target, &whole, evaluations);
    if (isFaulty)
      candidate.prediction.misfit = "register tiles";
    if (i == 0 || tileSearchIsBetter(target, &candidate, &best))
      best = candidate;
  }
  return best;
}

TileSearchCandidate tileSearchComplete(const TileOperator *op, const TileSearchTarget *target,
                                       const TileSearchTile *tile, int64_t *evaluations) {
  return tile->kind ? tileSearchEvaluate(op, target, tile, evaluations) : chooseKind(op, target, tile, evaluations);
}
