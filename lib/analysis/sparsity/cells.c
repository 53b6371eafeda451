// Facts about elements, one cell for each combination of classes. See cells.h.
#include "lib/analysis/sparsity/cells.h"

#include <stdlib.h>
#include <string.h>

//===--- making ---------------------------------------------------------------===//

int64_t sparseCellsCount(const SparseCells *cells) {
  int64_t count = 1;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    count *= cells->numClasses[axis];
  return count;
}

SparseCells *sparseCellsCreateOfSizes(intptr_t rank, const int64_t *sizes, uint8_t fact) {
  SparseCells *cells = calloc(1, sizeof *cells);
  cells->rank = rank;
  for (intptr_t axis = 0; axis < rank; ++axis) {
    cells->sizes[axis] = mlirShapedTypeIsDynamicSize(sizes[axis]) || sizes[axis] > SparseMaxIndices ? -1 : sizes[axis];
    cells->numClasses[axis] = cells->sizes[axis] != 0;
  }
  cells->cells = malloc(1);
  cells->cells[0] = fact;
  return cells;
}

SparseCells *sparseCellsCreate(MlirType type, uint8_t fact) {
  MlirExtShape shape;
  bool fits = mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) && shape.rank <= SparseMaxFactRank;
  return fits ? sparseCellsCreateOfSizes(shape.rank, shape.sizes, fact) : NULL;
}

SparseCells *sparseCellsCopy(const SparseCells *from) {
  SparseCells *cells = malloc(sizeof *cells);
  size_t count = (size_t)sparseCellsCount(from);
  *cells = *from;
  for (intptr_t axis = 0; axis < from->rank; ++axis)
    if (from->classOf[axis]) {
      size_t size = (size_t)from->sizes[axis] * sizeof(int32_t);
      cells->classOf[axis] = memcpy(malloc(size), from->classOf[axis], size);
    }
  cells->cells = memcpy(malloc(count + 1), from->cells, count);
  return cells;
}

void sparseCellsDestroy(SparseCells *cells) {
  if (!cells)
    return;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    free(cells->classOf[axis]);
  free(cells->cells);
  free(cells);
}

//===--- asking ---------------------------------------------------------------===//

bool sparseCellsEqual(const SparseCells *a, const SparseCells *b) {
  for (intptr_t axis = 0; axis < a->rank; ++axis) {
    if (a->numClasses[axis] != b->numClasses[axis])
      return false;
    if (a->classOf[axis] && b->classOf[axis] &&
        memcmp(a->classOf[axis], b->classOf[axis], (size_t)a->sizes[axis] * sizeof(int32_t)) != 0)
      return false;
  }
  return memcmp(a->cells, b->cells, (size_t)sparseCellsCount(a)) == 0;
}

static int64_t classAt(const SparseCells *cells, intptr_t axis, int64_t index) {
  return cells->classOf[axis] ? cells->classOf[axis][index] : 0;
}

uint8_t sparseCellsAt(const SparseCells *cells, const int64_t *index) {
  int64_t at = 0;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    at = at * cells->numClasses[axis] + classAt(cells, axis, index[axis]);
  return cells->cells[at];
}

bool sparseCellsIsAll(const SparseCells *cells, uint8_t fact) {
  for (int64_t i = 0; i < sparseCellsCount(cells); ++i)
    if (cells->cells[i] != fact)
      return false;
  return true;
}

int64_t *sparseCellsFirsts(const SparseCells *cells, intptr_t axis) {
  int64_t *firsts = calloc((size_t)cells->numClasses[axis] + 1, sizeof *firsts);
  for (int64_t i = cells->classOf[axis] ? cells->sizes[axis] - 1 : -1; i >= 0; --i)
    firsts[cells->classOf[axis][i]] = i;
  return firsts;
}

//===--- classes --------------------------------------------------------------===//

// Around an axis: cells before[b], class[c], after[a] stand at (b * classes + c) * numAfter + a.
static void around(const SparseCells *cells, intptr_t axis, int64_t *before, int64_t *after) {
  *before = *after = 1;
  for (intptr_t i = 0; i < cells->rank; ++i)
    *(i < axis ? before : after) *= i == axis ? 1 : cells->numClasses[i];
}

// Replaces the classes of an axis by `count` new ones. `from[c]`: an old class whose facts the new class c has. If
// `joins`, facts of all old classes are joined into the new ones instead: old class c becomes a part of to[c].
static void regroup(SparseCells *cells, intptr_t axis, int64_t count, const int64_t *from, const int64_t *to) {
  int64_t before, after, old = cells->numClasses[axis];
  around(cells, axis, &before, &after);
  uint8_t *grouped = calloc((size_t)(before * count * after) + 1, 1);
  for (int64_t b = 0; b < before; ++b)
    for (int64_t c = 0; c < (from ? count : old); ++c)
      for (int64_t a = 0; a < after; ++a)
        grouped[(b * count + (from ? c : to[c])) * after + a] |=
            cells->cells[(b * old + (from ? from[c] : c)) * after + a];
  free(cells->cells);
  cells->cells = grouped;
  cells->numClasses[axis] = count;
}

typedef struct Pair {
  int64_t a, b, number; // number: -1, free
} Pair;

static Pair *findPair(Pair *pairs, size_t capacity, int64_t a, int64_t b) {
  size_t at = ((size_t)a * 0x9e3779b97f4a7c15u ^ (size_t)b * 0xc2b2ae3d27d4eb4fu) >> 16;
  for (;; ++at) {
    Pair *pair = &pairs[at & (capacity - 1)];
    if (pair->number < 0 || (pair->a == a && pair->b == b))
      return pair;
  }
}

void sparseCellsSplit(SparseCells *cells, intptr_t axis, const int32_t *classOf) {
  int64_t size = cells->sizes[axis], count = 0;
  if (size <= 0)
    return;
  size_t capacity = 16;
  while (capacity < 2 * (size_t)size)
    capacity *= 2;
  Pair *pairs = malloc(capacity * sizeof *pairs);
  int32_t *split = malloc((size_t)size * sizeof *split);
  int64_t *from = malloc((size_t)size * sizeof *from);
  for (size_t i = 0; i < capacity; ++i)
    pairs[i].number = -1;
  for (int64_t i = 0; i < size; ++i) {
    int64_t old = classAt(cells, axis, i);
    Pair *pair = findPair(pairs, capacity, old, classOf[i]);
    if (pair->number < 0) {
      from[count] = old;
      *pair = (Pair){old, classOf[i], count++};
    }
    split[i] = (int32_t)pair->number;
  }
  regroup(cells, axis, count, from, NULL);
  free(cells->classOf[axis]);
  cells->classOf[axis] = split;
  free(pairs);
  free(from);
}

// Old class c of the axis becomes class to[c] of `count`, which joins facts.
static void joinClasses(SparseCells *cells, intptr_t axis, int64_t count, const int64_t *to) {
  regroup(cells, axis, count, NULL, to);
  for (int64_t i = 0; cells->classOf[axis] && i < cells->sizes[axis]; ++i)
    cells->classOf[axis][i] = (int32_t)to[cells->classOf[axis][i]];
}

void sparseCellsMerge(SparseCells *cells, intptr_t axis) {
  int64_t *to = calloc((size_t)cells->numClasses[axis] + 1, sizeof *to);
  if (cells->numClasses[axis] > 1)
    joinClasses(cells, axis, 1, to);
  free(cells->classOf[axis]);
  cells->classOf[axis] = NULL;
  free(to);
}

//===--- compressing ----------------------------------------------------------===//

static bool isSameSlice(const SparseCells *cells, intptr_t axis, int64_t c, int64_t d) {
  int64_t before, after, count = cells->numClasses[axis];
  around(cells, axis, &before, &after);
  for (int64_t b = 0; b < before; ++b)
    if (memcmp(&cells->cells[(b * count + c) * after], &cells->cells[(b * count + d) * after], (size_t)after) != 0)
      return false;
  return true;
}

static uint64_t hashSlice(const SparseCells *cells, intptr_t axis, int64_t c) {
  int64_t before, after, count = cells->numClasses[axis];
  uint64_t hash = 0xcbf29ce484222325u;
  around(cells, axis, &before, &after);
  for (int64_t b = 0; b < before; ++b)
    for (int64_t a = 0; a < after; ++a)
      hash = (hash ^ cells->cells[(b * count + c) * after + a]) * 0x100000001b3u;
  return hash;
}

static uint8_t joinSlice(const SparseCells *cells, intptr_t axis, int64_t c) {
  int64_t before, after, count = cells->numClasses[axis];
  uint8_t fact = 0;
  around(cells, axis, &before, &after);
  for (int64_t b = 0; b < before; ++b)
    for (int64_t a = 0; a < after; ++a)
      fact |= cells->cells[(b * count + c) * after + a];
  return fact;
}

// Merges the classes of an axis: those with equal slices, or, if `coarsely`, those whose slices have equal joins.
static void mergeSlices(SparseCells *cells, intptr_t axis, bool coarsely) {
  int64_t count = 0, old = cells->numClasses[axis];
  if (!cells->classOf[axis])
    return;
  size_t capacity = 16;
  while (capacity < 2 * (size_t)old)
    capacity *= 2;
  int64_t *to = malloc((size_t)(old + 1) * sizeof *to), *slots = malloc(capacity * sizeof *slots);
  int64_t *first = malloc((size_t)(old + 1) * sizeof *first);
  for (size_t i = 0; i < capacity; ++i)
    slots[i] = -1;
  for (int64_t c = 0; c < old; ++c)
    to[c] = -1;
  for (int64_t i = 0; i < cells->sizes[axis]; ++i) { // by index, so that classes are numbered by their first one
    int64_t c = cells->classOf[axis][i];
    if (to[c] >= 0)
      continue;
    size_t at = coarsely ? joinSlice(cells, axis, c) : hashSlice(cells, axis, c) >> 20;
    for (;; ++at) {
      int64_t *slot = &slots[at & (capacity - 1)];
      if (*slot < 0)
        first[ *slot = count++] = c;
      bool isSame = coarsely ? joinSlice(cells, axis, first[*slot]) == joinSlice(cells, axis, c)
                             : isSameSlice(cells, axis, first[*slot], c);
      if (isSame) {
        to[c] = *slot;
        break;
      }
    }
  }
  joinClasses(cells, axis, count, to);
  if (count == 1) {
    free(cells->classOf[axis]);
    cells->classOf[axis] = NULL;
  }
  free(to);
  free(slots);
  free(first);
}

void sparseCellsCompress(SparseCells *cells, int64_t most) {
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    mergeSlices(cells, axis, false);
  for (intptr_t axis = 0; axis < cells->rank && sparseCellsCount(cells) > most; ++axis)
    mergeSlices(cells, axis, true);
  for (intptr_t axis = 0; axis < cells->rank && sparseCellsCount(cells) > most; ++axis)
    sparseCellsMerge(cells, axis);
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    mergeSlices(cells, axis, false);
}

//===--- combining ------------------------------------------------------------===//

void sparseCellsFill(SparseCells *cells, SparseFactAt factAt, void *data) {
  int64_t *firsts[SparseMaxFactRank], at[SparseMaxFactRank] = {0}, index[SparseMaxFactRank];
  int64_t count = sparseCellsCount(cells);
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    firsts[axis] = sparseCellsFirsts(cells, axis);
  uint8_t *filled = malloc((size_t)count + 1);
  for (int64_t i = 0; i < count; ++i) {
    for (intptr_t axis = 0; axis < cells->rank; ++axis)
      index[axis] = firsts[axis][at[axis]];
    filled[i] = factAt(index, data);
    for (intptr_t axis = cells->rank - 1; axis >= 0 && ++at[axis] == cells->numClasses[axis]; --axis)
      at[axis] = 0;
  }
  free(cells->cells);
  cells->cells = filled;
  for (intptr_t axis = 0; axis < cells->rank; ++axis)
    free(firsts[axis]);
}

typedef struct Both {
  const SparseCells *a, *b;
} Both;

static uint8_t joinAt(const int64_t *index, void *data) {
  const Both *both = data;
  return sparseCellsAt(both->a, index) | sparseCellsAt(both->b, index);
}

static uint8_t meetAt(const int64_t *index, void *data) {
  const Both *both = data;
  return sparseCellsAt(both->a, index) & sparseCellsAt(both->b, index);
}

static void combine(SparseCells *a, const SparseCells *b, SparseFactAt factAt) {
  SparseCells *copy = sparseCellsCopy(a);
  for (intptr_t axis = 0; axis < a->rank; ++axis)
    if (b->classOf[axis] && a->sizes[axis] == b->sizes[axis])
      sparseCellsSplit(a, axis, b->classOf[axis]);
  sparseCellsFill(a, factAt, &(Both){copy, b});
  sparseCellsDestroy(copy);
  sparseCellsCompress(a, SparseMaxCells);
}

void sparseCellsJoin(SparseCells *a, const SparseCells *b) { combine(a, b, joinAt); }
void sparseCellsMeet(SparseCells *a, const SparseCells *b) { combine(a, b, meetAt); }
