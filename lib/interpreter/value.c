// Objects of the interpreter: counted, created and destroyed (value.h).
#include "lib/interpreter/value.h"
#include "lib/interpreter/asynchronous.h"

#include <stdlib.h>
#include <string.h>

//===--- arrays ---------------------------------------------------------------===//

int64_t countOf(int rank, const int64_t *sizes) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++)
    count *= sizes[i];
  return count;
}

int64_t arrayCount(const Array *array) { return countOf(array->rank, array->sizes); }

bool indexNext(int rank, const int64_t *sizes, int64_t *index) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++index[i] < sizes[i])
      return true;
    index[i] = 0;
  }
  return false;
}

int64_t placeOf(const Array *array, const int64_t *index) {
  int64_t place = array->offset;
  for (int i = 0; i < array->rank; i++)
    place += index[i] * array->strides[i];
  return place;
}

bool arrayIsContiguous(const Array *array) {
  int64_t stride = 1;
  for (int i = array->rank - 1; i >= 0; i--) {
    if (array->sizes[i] != 1 && array->strides[i] != stride)
      return false;
    stride *= array->sizes[i];
  }
  return true;
}

static Storage *storageCreate(int64_t count) {
  Storage *storage = calloc(1, sizeof *storage);
  Element *elements = malloc((size_t)(count ? count : 1) * sizeof *elements);
  if (!storage || !elements) {
    free(storage);
    free(elements);
    return NULL;
  }
  *storage = (Storage){.references = 1, .count = count, .elements = elements};
  for (int64_t i = 0; i < count; i++)
    elements[i] = elementMissing(ELEMENT_UNWRITTEN);
  return storage;
}

void storageRelease(Storage *storage) {
  if (!storage || --storage->references)
    return;
  free(storage->elements);
  free(storage->touches);
  free(storage);
}

static Array *arrayOn(Storage *storage, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides) {
  Array *array = storage ? malloc(sizeof *array + 2 * (size_t)rank * sizeof *sizes) : NULL;
  if (!array) {
    storageRelease(storage);
    return NULL;
  }
  *array = (Array){.object = {1, ObjectArray}, .storage = storage, .offset = offset, .rank = rank};
  array->strides = array->sizes + rank;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; i--) {
    array->sizes[i] = sizes[i];
    array->strides[i] = strides ? strides[i] : stride;
    stride *= sizes[i];
  }
  return array;
}

Array *arrayCreate(int rank, const int64_t *sizes) {
  return arrayOn(storageCreate(countOf(rank, sizes)), 0, rank, sizes, NULL);
}

Array *arrayAlias(const Array *array, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides) {
  ++array->storage->references;
  return arrayOn(array->storage, offset, rank, sizes, strides);
}

Array *arrayCopy(const Array *array) {
  Array *copy = arrayCreate(array->rank, array->sizes);
  int64_t count = arrayCount(array), index[InterpreterMaxRank] = {0};
  if (!copy || count == 0)
    return copy;
  if (arrayIsContiguous(array)) {
    memcpy(arrayElements(copy), arrayElements(array), (size_t)count * sizeof(Element));
    return copy;
  }
  for (Element *to = arrayElements(copy);; to++) {
    *to = array->storage->elements[placeOf(array, index)];
    if (!indexNext(array->rank, array->sizes, index))
      return copy;
  }
}

//===--- views and the rest -----------------------------------------------------===//

View *viewCreate(Array *memory) {
  View *view = calloc(1, sizeof *view);
  if (!view)
    return NULL;
  view->object = (Object){1, ObjectView};
  view->memory = memory;
  view->rank = memory->rank;
  ++memory->object.references;
  return view;
}

void objectDestroy(Object *object) {
  switch (object->kind) {
  case ObjectArray:
    storageRelease(((Array *)object)->storage);
    break;
  case ObjectView:
    valueRelease(valueOfObject(&((View *)object)->memory->object));
    break;
  case ObjectBarrier:
    barrierClear((Barrier *)object);
    break;
  case ObjectToken:
    tokenClear((Token *)object);
    break;
  }
  free(object);
}
