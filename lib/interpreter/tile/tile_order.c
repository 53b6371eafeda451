// tile.sort, tile.topk (docs/numerics.md §3: by value, nan greatest, stable), tile.histogram and tile.random (§8).
#include "dialects/tile/ops.h"
#include "lib/interpreter/tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===--- sort and topk --------------------------------------------------------------===//

typedef struct Key {
  Element x;
  int64_t position;
  bool isFloat, descending;
} Key;

static int compareFloats(double a, double b) {
  if (isnan(a) || isnan(b))
    return (isnan(a) != 0) - (isnan(b) != 0);
  return (a > b) - (a < b);
}

static int compareKeys(const void *left, const void *right) {
  const Key *a = left, *b = right;
  int order = a->isFloat ? compareFloats(a->x.f, b->x.f) : (a->x.i > b->x.i) - (a->x.i < b->x.i);
  if (order)
    return a->descending ? -order : order;
  return (a->position > b->position) - (a->position < b->position);
}

// The line along `axis` through `index`: every result takes as many of the sorted order as it has room for.
static bool sortLine(Machine *machine, Frame *frame, const Instruction *instruction, int axis, int64_t *index,
                     Key *keys, Array *const *results) {
  const Array *first = arrayOperand(frame, instruction, 0);
  for (int64_t i = 0; i < first->sizes[axis]; ++i) {
    index[axis] = i;
    keys[i] = (Key){first->storage->elements[interpretPlaceOf(first, index)], i, instruction->in.isFloat,
                    interpretHasAttribute(instruction, "descending")};
    if (!interpretElementExpect(machine, instruction, keys[i].x, "compares"))
      return false;
  }
  qsort(keys, (size_t)first->sizes[axis], sizeof *keys, compareKeys);
  for (int r = 0; r < instruction->numResults; ++r) {
    const Array *from = arrayOperand(frame, instruction, r);
    for (int64_t i = 0; i < results[r]->sizes[axis]; ++i) {
      index[axis] = i;
      int64_t to = interpretPlaceOf(results[r], index);
      index[axis] = keys[i].position;
      results[r]->storage->elements[to] = from->storage->elements[interpretPlaceOf(from, index)];
    }
  }
  index[axis] = 0;
  return interpretStep(machine, instruction->op, first->sizes[axis]);
}

enum { MaxSorted = 32 };

bool interpretTileSort(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *first = arrayOperand(frame, instruction, 0);
  int axis = (int)interpretIntegerOf(instruction, "axis");
  Array *results[MaxSorted] = {NULL};
  Key *keys = calloc((size_t)first->sizes[axis] + 1, sizeof *keys);
  bool ok = keys || interpretOutOfMemory(machine, instruction->op);
  ok = ok && (instruction->numResults <= MaxSorted || interpretFail(machine, instruction->op, "sorts too many tiles"));
  for (int r = 0; r < instruction->numResults && ok; ++r)
    ok = (results[r] = interpretNewResult(machine, instruction, r)) != NULL;
  int64_t lines[InterpreterMaxRank], index[InterpreterMaxRank] = {0};
  memcpy(lines, first->sizes, (size_t)first->rank * sizeof *lines);
  lines[axis] = 1;
  do
    ok = ok && sortLine(machine, frame, instruction, axis, index, keys, results);
  while (ok && interpretIndexNext(first->rank, lines, index));
  for (int r = 0; r < instruction->numResults && r < MaxSorted; ++r)
    if (results[r])
      interpretSetArray(frame, instruction, r, results[r]);
  free(keys);
  return ok;
}

bool interpretTileTopk(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretTileSort(machine, frame, instruction);
}

//===--- histogram --------------------------------------------------------------------===//

bool interpretTileHistogram(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *input = arrayOperand(frame, instruction, 0);
  const Array *mask = instruction->numOperands > 1 ? arrayOperand(frame, instruction, 1) : NULL;
  Array *result = interpretNewResult(machine, instruction, 0);
  if (!result)
    return false;
  interpretSetArray(frame, instruction, 0, result);
  for (int64_t i = 0; i < interpretArrayCount(result); ++i)
    arrayElements(result)[i] = elementOfInteger(0);
  for (int64_t i = 0; i < interpretArrayCount(input); ++i) {
    int64_t x;
    if (mask && arrayElements(mask)[i].i == 0)
      continue;
    if (!interpretReadInteger(machine, instruction, arrayElements(input)[i], &x))
      return false;
    uint64_t bin = interpretFormatUnsigned(&instruction->in, x);
    if (bin < (uint64_t)interpretArrayCount(result)) {
      Element *count = &arrayElements(result)[bin];
      count->i = interpretFormatWrap(&instruction->out, (uint64_t)count->i + 1);
    }
  }
  return interpretStep(machine, instruction->op, interpretArrayCount(input));
}

//===--- random -----------------------------------------------------------------------===//

// Philox4x32, ten rounds (Salmon, Moraes, Dror, Shaw, SC 2011).
static void philox(uint64_t seed, uint64_t counter, uint32_t *words) {
  uint32_t key[] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  uint32_t x[] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = (uint64_t)x[0] * 0xD2511F53u, b = (uint64_t)x[2] * 0xCD9E8D57u;
    uint32_t next[] = {(uint32_t)(b >> 32) ^ x[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ key[1],
                       (uint32_t)a};
    memcpy(x, next, sizeof x);
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  memcpy(words, x, sizeof x);
}

// A counter of fewer than 64 bits is unsigned.
bool interpretTileRandom(Machine *machine, Frame *frame, const Instruction *instruction) {
  Format narrow = {.width = 64};
  interpretFormatOf(interpretElementTypeOf(tileRandomOpGetCounterType(instruction->op)), &narrow);
  int64_t seed, counter;
  Array *counters = tileOperand(machine, frame, instruction, 1), *result = interpretNewResult(machine, instruction, 0);
  bool ok = counters && result && interpretIndexOperand(machine, frame, instruction, 0, &seed);
  for (int64_t i = 0; ok && i < interpretArrayCount(counters); ++i) {
    uint32_t words[4];
    ok = interpretReadInteger(machine, instruction, arrayElements(counters)[i], &counter);
    philox((uint64_t)seed, interpretFormatUnsigned(&narrow, counter), words);
    for (int word = 0; word < 4; ++word)
      arrayElements(result)[4 * i + word] = elementOfInteger(interpretFormatWrap(&instruction->out, words[word]));
  }
  if (counters)
    valueRelease(valueOfObject(&counters->object));
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return ok;
}
