// Objects of the interpreter: counted, created and destroyed (value.h).
#include "lib/interpreter/machine/value.h"
#include "lib/interpreter/sparse/entries.h"
#include "lib/interpreter/tile/asynchronous.h"
#include "lib/interpreter/tile/tile_quantized.h"

#include <stdlib.h>
#include <string.h>

//===--- arrays ---------------------------------------------------------------===//

int64_t interpretCountOf(int rank, const int64_t *sizes) {
  int64_t count = 1;
  bool overflows = false;
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] == 0)
      return 0;
    overflows |= __builtin_mul_overflow(count, sizes[i], &count);
  }
  return overflows ? INT64_MAX : count;
}

int64_t interpretArrayCount(const Array *array) { return interpretCountOf(array->rank, array->sizes); }

bool interpretIndexNext(int rank, const int64_t *sizes, int64_t *index) {
  for (int i = rank - 1; i >= 0; --i) {
    if (++index[i] < sizes[i])
      return true;
    index[i] = 0;
  }
  return false;
}

int64_t interpretPlaceOf(const Array *array, const int64_t *index) {
  int64_t place = array->offset;
  for (int i = 0; i < array->rank; ++i)
    place += index[i] * array->strides[i];
  return place;
}

bool interpretArrayIsContiguous(const Array *array) {
  int64_t stride = 1;
  for (int i = array->rank - 1; i >= 0; --i) {
    if (array->sizes[i] != 1 && array->strides[i] != stride)
      return false;
    stride *= array->sizes[i];
  }
  return true;
}

static Element *poolTake(Pool *pool, int64_t count) {
  if (count > INT64_MAX / (int64_t)sizeof(Element))
    return NULL;
  int64_t bytes = (count ? count : 1) * (int64_t)sizeof(Element);
  if (pool && bytes > pool->limit - pool->live)
    return NULL;
  if (pool)
    pool->live += bytes;
  for (int i = 0; pool && i < PoolBlocks; ++i)
    if (pool->blocks[i].elements && pool->blocks[i].count == count) {
      Element *elements = pool->blocks[i].elements;
      pool->blocks[i].elements = NULL;
      return elements;
    }
  return malloc((size_t)bytes);
}

static void poolGive(Pool *pool, Element *elements, int64_t count) {
  if (pool)
    pool->live -= (count ? count : 1) * (int64_t)sizeof(Element);
  for (int i = 0; pool && count <= PoolMaxCount && i < PoolBlocks; ++i)
    if (!pool->blocks[i].elements) {
      pool->blocks[i].elements = elements;
      pool->blocks[i].count = count;
      return;
    }
  free(elements);
}

void interpretPoolClear(Pool *pool) {
  for (int i = 0; i < PoolBlocks; ++i)
    free(pool->blocks[i].elements);
  *pool = (Pool){0};
}

static Storage *storageCreate(Pool *pool, int64_t count) {
  Storage *storage = calloc(1, sizeof *storage);
  Element *elements = poolTake(pool, count);
  if (!storage || !elements) {
    free(storage);
    free(elements);
    return NULL;
  }
  *storage = (Storage){.pool = pool, .references = 1, .count = count, .elements = elements};
  for (int64_t i = 0; i < count; ++i)
    elements[i] = elementMissing(ELEMENT_UNWRITTEN);
  return storage;
}

void interpretStorageRelease(Storage *storage) {
  if (!storage || --storage->references)
    return;
  poolGive(storage->pool, storage->elements, storage->count);
  free(storage->touches);
  free(storage);
}

static Array *arrayOn(Storage *storage, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides) {
  Array *array = storage ? malloc(sizeof *array + 2 * (size_t)rank * sizeof *sizes) : NULL;
  if (!array) {
    interpretStorageRelease(storage);
    return NULL;
  }
  *array = (Array){.object = {1, ObjectArray}, .storage = storage, .offset = offset, .rank = rank};
  array->strides = array->sizes + rank;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    array->sizes[i] = sizes[i];
    array->strides[i] = strides ? strides[i] : stride;
    stride = (int64_t)((uint64_t)stride * (uint64_t)sizes[i]); // wraps only where another size is 0
  }
  return array;
}

Array *interpretArrayCreateIn(Pool *pool, int rank, const int64_t *sizes) {
  return arrayOn(storageCreate(pool, interpretCountOf(rank, sizes)), 0, rank, sizes, NULL);
}

Array *interpretArrayCreate(int rank, const int64_t *sizes) { return interpretArrayCreateIn(NULL, rank, sizes); }

Array *interpretArrayAlias(const Array *array, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides) {
  ++array->storage->references;
  return arrayOn(array->storage, offset, rank, sizes, strides);
}

Array *interpretArrayCopy(const Array *array) {
  Array *copy = interpretArrayCreateIn(array->storage->pool, array->rank, array->sizes);
  int64_t count = interpretArrayCount(array), index[InterpreterMaxRank] = {0};
  if (!copy || count == 0)
    return copy;
  if (interpretArrayIsContiguous(array)) {
    memcpy(arrayElements(copy), arrayElements(array), (size_t)count * sizeof(Element));
    return copy;
  }
  for (Element *to = arrayElements(copy);; ++to) {
    *to = array->storage->elements[interpretPlaceOf(array, index)];
    if (!interpretIndexNext(array->rank, array->sizes, index))
      return copy;
  }
}

//===--- views and the rest -----------------------------------------------------===//

InterpretView *interpretViewCreate(Array *memory) {
  InterpretView *view = calloc(1, sizeof *view);
  if (!view)
    return NULL;
  view->object = (Object){1, ObjectView};
  view->memory = memory;
  view->rank = memory->rank;
  ++memory->object.references;
  return view;
}

void interpretObjectDestroy(Object *object) {
  switch (object->kind) {
  case ObjectArray:
    interpretStorageRelease(((Array *)object)->storage);
    break;
  case ObjectView:
    valueRelease(valueOfObject(&((InterpretView *)object)->memory->object));
    break;
  case ObjectBarrier:
    interpretBarrierClear((Barrier *)object);
    break;
  case ObjectToken:
    interpretTokenClear((Token *)object);
    break;
  case ObjectEntries:
    interpretEntriesClear((Entries *)object);
    break;
  case ObjectQuantized:
    interpretQuantizedClear((Quantized *)object);
    break;
  }
  free(object);
}
