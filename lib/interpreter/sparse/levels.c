// What levels store. See levels.h. A level is a node's list of children: all coordinates (dense), those that something
// lies below (compressed, of either kind), the only one (singleton), or n of them (n out of m).
#include "lib/interpreter/sparse/levels.h"

#include "lib/interpreter/upstream/affine.h"
#include "lib/support/grow.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "upstream/arith.h"

#include <stdlib.h>
#include <string.h>

//===--- types ----------------------------------------------------------------------------===//

static MlirAttribute encodingOf(MlirType type) {
  MlirAttribute none = mlirAttributeGetNull();
  MlirAttribute encoding = mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : none;
  return !mlirAttributeIsNull(encoding) && mlirAttributeIsASparseTensorEncodingAttr(encoding) ? encoding : none;
}

bool interpretLevelsIsEncoded(MlirType type) { return !mlirAttributeIsNull(encodingOf(type)); }

static MlirSparseTensorLevelType levelType(const Levels *levels, int level) {
  return mlirSparseTensorEncodingAttrGetLvlType(levels->encoding, level);
}
static bool isKind(const Levels *levels, int level, uint64_t format) { return levelType(levels, level) & format; }
static bool isUnique(const Levels *levels, int level) {
  return !(levelType(levels, level) & MLIR_SPARSE_PROPERTY_NON_UNIQUE);
}
static bool isOrdered(const Levels *levels, int level) {
  return !(levelType(levels, level) & MLIR_SPARSE_PROPERTY_NON_ORDERED);
}

// A dimension, or its quotient or rest by a constant.
static bool isDivision(MlirAffineExpr expression) {
  if (mlirAffineExprIsADim(expression))
    return true;
  return (mlirAffineExprIsAFloorDiv(expression) || mlirAffineExprIsAMod(expression)) &&
         mlirAffineExprIsADim(mlirAffineBinaryOpExprGetLHS(expression)) &&
         mlirAffineExprIsAConstant(mlirAffineBinaryOpExprGetRHS(expression));
}

// Coordinates of one list of entries, from a level that may hold one more than once to the last, stand in one array.
static int findTogether(const Levels *levels) {
  for (int l = 0; l + 1 < levels->count; ++l) {
    bool isList = (isKind(levels, l, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED) ||
                   isKind(levels, l, MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED)) &&
                  !isUnique(levels, l);
    for (int k = l + 1; k < levels->count; ++k)
      isList &=
          isKind(levels, k, MLIR_SPARSE_TENSOR_LEVEL_SINGLETON) && !(levelType(levels, k) & MLIR_SPARSE_PROPERTY_SOA);
    if (isList)
      return l;
  }
  return levels->count;
}

bool interpretLevelsOf(MlirType type, Levels *levels) {
  MlirAttribute encoding = encodingOf(type);
  if (mlirAttributeIsNull(encoding))
    return false;
  *levels = (Levels){.type = type,
                     .encoding = encoding,
                     .dimToLvl = mlirSparseTensorEncodingAttrGetDimToLvl(encoding),
                     .lvlToDim = mlirSparseTensorEncodingAttrGetLvlToDim(encoding),
                     .count = (int)mlirSparseTensorEncodingGetLvlRank(encoding),
                     .rank = (int)mlirShapedTypeGetRank(type)};
  bool ok = levels->count <= LevelsMax && levels->rank <= EntriesMaxRank;
  for (int l = 0; ok && l < levels->count; ++l)
    ok = !isKind(levels, l, MLIR_SPARSE_TENSOR_LEVEL_BATCH) &&
         (mlirAffineMapIsNull(levels->dimToLvl) || isDivision(mlirAffineMapGetResult(levels->dimToLvl, l)));
  levels->together = ok ? findTogether(levels) : 0;
  return ok;
}

static void applyMap(MlirAffineMap map, int count, const int64_t *from, int64_t *to) {
  for (int i = 0; i < count; ++i) {
    to[i] = from[i];
    if (!mlirAffineMapIsNull(map))
      interpretAffineValue(mlirAffineMapGetResult(map, i), from, NULL, &to[i]);
  }
}

void interpretLevelCoordinates(const Levels *levels, const int64_t *at, int64_t *coordinates) {
  applyMap(levels->dimToLvl, levels->count, at, coordinates);
}

void interpretLevelDimensions(const Levels *levels, const int64_t *coordinates, int64_t *at) {
  applyMap(levels->lvlToDim, levels->rank, coordinates, at);
}

void interpretLevelSizes(const Levels *levels, const int64_t *sizes, int64_t *levelSizes) {
  for (int l = 0; l < levels->count; ++l) {
    levelSizes[l] = sizes[l];
    if (mlirAffineMapIsNull(levels->dimToLvl))
      continue;
    MlirAffineExpr expression = mlirAffineMapGetResult(levels->dimToLvl, l);
    bool isDim = mlirAffineExprIsADim(expression);
    MlirAffineExpr dim = isDim ? expression : mlirAffineBinaryOpExprGetLHS(expression);
    int64_t size = sizes[mlirAffineDimExprGetPosition(dim)];
    int64_t by = isDim ? 1 : mlirAffineConstantExprGetValue(mlirAffineBinaryOpExprGetRHS(expression));
    levelSizes[l] = isDim ? size : mlirAffineExprIsAMod(expression) ? by : (size + by - 1) / by;
  }
}

//===--- storing ----------------------------------------------------------------------------===//

typedef struct Stored {
  Entry entry;
  int64_t coordinates[LevelsMax], number;
} Stored;

typedef struct Store {
  Machine *machine;
  const Instruction *instruction;
  Levels levels;
  int64_t sizes[LevelsMax];
  const Stored *from;
  Entries *to;
  LevelArrays arrays;
} Store;

void interpretLevelArraysFree(LevelArrays *arrays) {
  for (int l = 0; l < LevelsMax; ++l) {
    free(arrays->positions[l].items);
    free(arrays->coordinates[l].items);
  }
}

static bool push(struct LevelNumbers *numbers, int64_t number) {
  int64_t *items = tessera_grow(numbers->items, numbers->count, sizeof *items);
  if (!items)
    return false;
  numbers->items = items;
  items[numbers->count++] = number;
  return true;
}

// By the levels before one without order, then as they came.
static int compareStored(const void *a, const void *b) {
  const Stored *left = a, *right = b;
  for (int l = 0; l < LevelsMax; ++l)
    if (left->coordinates[l] != right->coordinates[l])
      return left->coordinates[l] < right->coordinates[l] ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

static bool storeNode(Store *store, int level, int64_t begin, int64_t end, int64_t *coordinates);

static bool storeLeaf(Store *store, int64_t begin, int64_t end, const int64_t *coordinates) {
  Entry entry = {{0}};
  interpretLevelDimensions(&store->levels, coordinates, entry.at);
  if (begin < end)
    entry = store->from[end - 1].entry; // of several the last one
  return interpretEntriesAppend(store->to, entry);
}

// The end of the entries that share a node's first coordinate.
static int64_t endOfRun(const Store *store, int level, int64_t begin, int64_t end) {
  int64_t at = begin + 1;
  while (isUnique(&store->levels, level) && at < end &&
         store->from[at].coordinates[level] == store->from[begin].coordinates[level])
    ++at;
  return at;
}

static bool storeChild(Store *store, int level, int64_t coordinate, int64_t begin, int64_t end, int64_t *coordinates) {
  coordinates[level] = coordinate;
  return push(&store->arrays.coordinates[level], coordinate) && storeNode(store, level + 1, begin, end, coordinates);
}

static bool storeDense(Store *store, int level, int64_t begin, int64_t end, int64_t *coordinates) {
  bool ok = true;
  for (int64_t c = 0; ok && c < store->sizes[level]; ++c) {
    int64_t next = begin;
    while (next < end && store->from[next].coordinates[level] == c)
      ++next;
    coordinates[level] = c;
    ok = interpretStep(store->machine, store->instruction->op, 1) &&
         storeNode(store, level + 1, begin, next, coordinates);
    begin = next;
  }
  return ok;
}

// Free places of a window have coordinate 0.
static bool storeWindow(Store *store, int level, int64_t begin, int64_t end, int64_t *coordinates) {
  int64_t left = mlirSparseTensorEncodingAttrGetStructuredN(levelType(&store->levels, level));
  bool ok = true;
  for (int64_t next; ok && begin < end; begin = next, --left) {
    next = endOfRun(store, level, begin, end);
    ok = left > 0 ? storeChild(store, level, store->from[begin].coordinates[level], begin, next, coordinates)
                  : interpretFail(store->machine, store->instruction->op, "stores too many entries in one window");
  }
  for (; ok && left > 0; --left) {
    int64_t first = store->to->count;
    ok = storeChild(store, level, 0, begin, begin, coordinates);
    for (int64_t i = first; ok && i < store->to->count; ++i)
      store->to->items[i].part = LevelPadding;
  }
  return ok;
}

static bool storeNode(Store *store, int level, int64_t begin, int64_t end, int64_t *coordinates) {
  const Levels *levels = &store->levels;
  bool ok = true;
  if (level == levels->count)
    return storeLeaf(store, begin, end, coordinates);
  if (isKind(levels, level, MLIR_SPARSE_TENSOR_LEVEL_DENSE))
    return storeDense(store, level, begin, end, coordinates);
  if (isKind(levels, level, MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M))
    return storeWindow(store, level, begin, end, coordinates);
  struct LevelNumbers *positions = &store->arrays.positions[level];
  bool isLoose = isKind(levels, level, MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED);
  bool isSingleton = isKind(levels, level, MLIR_SPARSE_TENSOR_LEVEL_SINGLETON);
  if (isLoose)
    ok = push(positions, store->arrays.coordinates[level].count);
  for (int64_t next; ok && begin < end; begin = next) {
    next = isSingleton ? end : endOfRun(store, level, begin, end);
    ok = storeChild(store, level, store->from[begin].coordinates[level], begin, next, coordinates);
  }
  return ok && (isSingleton || push(positions, store->arrays.coordinates[level].count));
}

static bool beginArrays(Store *store) {
  bool ok = true;
  for (int l = 0; l < store->levels.count; ++l) {
    bool isSegmented = isKind(&store->levels, l, MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED);
    store->arrays.coordinates[l].isThere = !isKind(&store->levels, l, MLIR_SPARSE_TENSOR_LEVEL_DENSE);
    store->arrays.positions[l].isThere =
        isSegmented || isKind(&store->levels, l, MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED);
    if (isSegmented)
      ok &= push(&store->arrays.positions[l], 0);
  }
  return ok;
}

static Stored *sorted(const Levels *levels, const Entries *entries, int64_t *count) {
  Stored *items = calloc((size_t)entries->count + 1, sizeof *items);
  *count = 0;
  for (int64_t i = 0; items && i < entries->count; ++i) {
    Stored *item = &items[*count];
    *item = (Stored){.entry = entries->items[i], .number = i};
    if (item->entry.part == LevelPadding)
      continue;
    interpretLevelCoordinates(levels, item->entry.at, item->coordinates);
    ++*count;
  }
  bool hasOrder = true;
  for (int l = 0; l < levels->count; ++l)
    hasOrder &= isOrdered(levels, l);
  if (items && hasOrder)
    qsort(items, (size_t)*count, sizeof *items, compareStored);
  return items;
}

static bool expectLevels(Machine *machine, const Instruction *instruction, MlirType type, Levels *levels) {
  return interpretLevelsOf(type, levels) ||
         interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor with such levels");
}

Entries *interpretLevelsStore(Machine *machine, const Instruction *instruction, MlirType type, Entries *entries,
                              LevelArrays *arraysOrNull) {
  Store store = {.machine = machine, .instruction = instruction};
  int64_t coordinates[LevelsMax] = {0}, count = 0;
  Stored *from = NULL;
  bool ok = expectLevels(machine, instruction, type, &store.levels);
  if (ok) {
    interpretLevelSizes(&store.levels, entries->sizes, store.sizes);
    from = sorted(&store.levels, entries, &count);
    store.from = from;
    store.to = interpretEntriesCreate(entries->rank, entries->sizes);
    ok = (from && store.to && beginArrays(&store) && storeNode(&store, 0, 0, count, coordinates)) ||
         interpretOutOfMemory(machine, instruction->op);
  }
  free(from);
  valueRelease(valueOfObject(&entries->object));
  if (ok && arraysOrNull)
    *arraysOrNull = store.arrays;
  else
    interpretLevelArraysFree(&store.arrays);
  if (ok)
    return store.to;
  if (store.to)
    valueRelease(valueOfObject(&store.to->object));
  return NULL;
}

//===--- taking part ------------------------------------------------------------------------===//

static bool appendDense(Machine *machine, const Instruction *instruction, const Array *array, const Format *format,
                        bool skipsZeros, Entries *entries) {
  int64_t at[EntriesMaxRank] = {0};
  if (interpretArrayCount(array) == 0)
    return true;
  do {
    Entry entry = {{0}};
    memcpy(entry.at, at, sizeof at);
    entry.value = array->storage->elements[interpretPlaceOf(array, at)];
    if (!interpretElementExpect(machine, instruction, entry.value, "reads") ||
        !interpretStep(machine, instruction->op, 1))
      return false;
    if (!(skipsZeros && interpretElementIsZero(format, entry.value)) && !interpretEntriesAppend(entries, entry))
      return interpretOutOfMemory(machine, instruction->op);
  } while (interpretIndexNext(array->rank, array->sizes, at));
  return true;
}

Entries *interpretLevelsEntriesOf(Machine *machine, const Instruction *instruction, InterpretValue value, MlirType type,
                                  bool skipsZeros) {
  bool isStored = value.object->kind == ObjectEntries;
  int rank = isStored ? entriesOf(value)->rank : arrayOf(value)->rank;
  Instruction reads = *instruction; // its elements are the tensor's
  if (rank > EntriesMaxRank || !interpretFormatOf(interpretElementTypeOf(type), &reads.in)) {
    interpretUnknown(machine, instruction->op, "not interpreted yet: a sparse tensor of such elements or rank");
    return NULL;
  }
  Entries *entries = interpretEntriesCreate(rank, isStored ? entriesOf(value)->sizes : arrayOf(value)->sizes);
  bool ok = entries || interpretOutOfMemory(machine, instruction->op);
  if (ok && !isStored)
    ok = appendDense(machine, instruction, arrayOf(value), &reads.in, skipsZeros, entries);
  for (int64_t i = 0; ok && isStored && i < entriesOf(value)->count; ++i)
    if (entriesOf(value)->items[i].part != LevelPadding)
      ok =
          interpretEntriesAppend(entries, entriesOf(value)->items[i]) || interpretOutOfMemory(machine, instruction->op);
  if (ok)
    return interpretEntriesMerge(machine, &reads, entries, true);
  if (entries)
    valueRelease(valueOfObject(&entries->object));
  return NULL;
}
