// What a value of a program is to the interpreter: a scalar, or a counted reference to an object (array, view, …).
// Why: every element carries, beside its number, how far another right answer may lie from it (docs/numerics.md §4).
// Expects: formats of format.h. Leaves: objects that live until their last reference is released.
//
//   InterpretValue v = valueOfObject(&interpretArrayCreate(2, (int64_t[]){3, 4})->object);   // owns one reference
//   valueRelease(v);
#pragma once

#include "lib/interpreter/machine/format.h"
#include "lib/support/array.h"

// One number. `bound` ≥ 0: a right answer lies within it (infinite: any is right); below 0: there is no number, and
// why.
typedef struct Element {
  union {
    int64_t i; // integers and index, sign-extended
    double f;  // floats
  };
  double bound;
} Element;

#define ELEMENT_UNWRITTEN (-1.0) // nobody wrote this memory
#define ELEMENT_POISON (-2.0)
#define ELEMENT_IN_FLIGHT (-3.0) // an asynchronous copy writes it and has not been waited for

static inline Element elementOfInteger(int64_t x) { return (Element){.i = x, .bound = 0}; }
static inline Element elementOfFloat(double x, double bound) { return (Element){.f = x, .bound = bound}; }
static inline Element elementMissing(double why) { return (Element){.i = 0, .bound = why}; }
static inline bool elementIsMissing(Element x) { return x.bound < 0; }

typedef enum ObjectKind {
  ObjectArray,
  ObjectView,
  ObjectBarrier,
  ObjectToken,
  ObjectEntries,
  ObjectQuantized
} ObjectKind;

typedef struct Object {
  int references;
  ObjectKind kind;
} Object;

// A scalar when there is no object.
typedef struct InterpretValue {
  Element scalar;
  Object *object;
} InterpretValue;

static inline InterpretValue valueOfElement(Element x) { return (InterpretValue){.scalar = x}; }
static inline InterpretValue valueOfInteger(int64_t x) { return (InterpretValue){.scalar = elementOfInteger(x)}; }
static inline InterpretValue valueOfObject(Object *object) { return (InterpretValue){.object = object}; }
void interpretObjectDestroy(Object *object);

static inline InterpretValue valueRetain(InterpretValue value) {
  if (value.object)
    ++value.object->references;
  return value;
}

static inline void valueRelease(InterpretValue value) {
  if (value.object && --value.object->references == 0)
    interpretObjectDestroy(value.object);
}

//===--- arrays: tiles, tensors, memrefs, buffers --------------------------------===//

// Who touched an element during a launch: 0 nobody, an instance's number + 1, or several.
enum { TouchedByMany = -1 };
typedef struct Touch {
  int32_t writer, reader, updater; // updater: atomically
} Touch;

// Elements that were let go of and may be used again: most tiles live briefly, and new memory is dear.
enum { PoolBlocks = 32, PoolMaxCount = 1 << 17 };
typedef struct Pool {
  struct {
    Element *elements;
    int64_t count;
  } blocks[PoolBlocks];
  int64_t live, limit; // bytes of elements in use, and how many there may be
} Pool;
void interpretPoolClear(Pool *pool);

// Elements in memory, shared by the arrays that name parts of them.
typedef struct Storage {
  Pool *pool; // where its elements go in the end; null: nowhere
  int references;
  int64_t count;
  Element *elements;
  Touch *touches;       // null: no launch has touched it; else `touchParts` of each element
  int touchParts;       // 1, or more once packed elements in it have been touched
  struct Storage *next; // in the machine's list of touched ones
  uint64_t address;     // of its first element, for programs that ask; 0: nobody did
  bool isDead;          // deallocated
  int products;         // how many products under way hold a part of it (products_under_way.h)
} Storage;

void interpretStorageRelease(Storage *storage);

// Element (i0, i1, …) lies at offset + Σ i * stride. Tiles and tensors are contiguous and begin at 0.
typedef struct Array {
  Object object;
  Storage *storage;
  int64_t offset;
  int rank;
  int64_t *strides;
  int64_t sizes[]; // then the strides
} Array;

Array *interpretArrayCreate(int rank,
                            const int64_t *sizes); // contiguous, own storage, nothing written; null: no memory
Array *interpretArrayCreateIn(Pool *pool, int rank, const int64_t *sizes); // the pool outlives it
// Another name for storage of `array`.
Array *interpretArrayAlias(const Array *array, int64_t offset, int rank, const int64_t *sizes, const int64_t *strides);
Array *interpretArrayCopy(const Array *array); // contiguous
int64_t interpretArrayCount(const Array *array);
bool interpretArrayIsContiguous(const Array *array);
static inline Array *arrayOf(InterpretValue value) { return (Array *)value.object; }
// The elements of a tile or tensor, in row-major order.
static inline Element *arrayElements(const Array *array) { return array->storage->elements + array->offset; }

// Steps `index` through the shape in row-major order; false after the last. Start with zeros, if no size is 0.
bool interpretIndexNext(int rank, const int64_t *sizes, int64_t *index);
int64_t interpretCountOf(int rank, const int64_t *sizes);           // INT64_MAX where the product has more than 63 bits
int64_t interpretPlaceOf(const Array *array, const int64_t *index); // in the storage
enum { InterpreterMaxRank = TESSERA_MAX_RANK };

//===--- views --------------------------------------------------------------------===//

typedef struct InterpretView {
  Object object;
  Array *memory;  // its dimensions are the view's axes
  bool isOutside; // a fixed index lies outside: nothing of it may be reached
  Element padding;
  const struct InterpretPacking *packing; // null: elements are the memory's own
  int rank;
  int64_t sizes[InterpreterMaxRank]; // of all that can be seen, in elements
  int64_t shape[InterpreterMaxRank], steps[InterpreterMaxRank], strides[InterpreterMaxRank];
} InterpretView;

InterpretView *interpretViewCreate(Array *memory); // retains it
static inline InterpretView *viewOf(InterpretValue value) { return (InterpretView *)value.object; }
static inline bool valueIsView(InterpretValue value) { return value.object && value.object->kind == ObjectView; }
