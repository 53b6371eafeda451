// linalg.pack and linalg.unpack by definition: which element of the tiled tensor is which of the plain one.
// Tiled: first an outer dimension for every plain one, in the order of outer_dims_perm, then one per inner tile.
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/linalg.h"

#include <string.h>

typedef struct Tiling {
  int rank, tiles;
  int outer[InterpreterMaxRank];                                    // the plain dimension of each outer one
  int64_t positions[InterpreterMaxRank], sizes[InterpreterMaxRank]; // of each tile: its plain dimension, its size
} Tiling;

static bool readTiling(Machine *machine, const Frame *frame, const Instruction *instruction, int rank, int cursor,
                       Tiling *tiling) {
  MlirAttribute positions = tileOpAttribute(instruction->op, "inner_dims_pos");
  MlirAttribute order = tileOpAttribute(instruction->op, "outer_dims_perm");
  *tiling = (Tiling){.rank = rank, .tiles = (int)mlirDenseArrayGetNumElements(positions)};
  for (int i = 0; i < rank; ++i)
    tiling->outer[i] = mlirAttributeIsNull(order) || mlirDenseArrayGetNumElements(order) == 0
                           ? i
                           : (int)mlirDenseI64ArrayGetElement(order, i);
  for (int t = 0; t < tiling->tiles; ++t)
    tiling->positions[t] = mlirDenseI64ArrayGetElement(positions, t);
  if (!interpretReadMixed(machine, frame, instruction, "static_inner_tiles", &cursor, tiling->tiles, tiling->sizes))
    return false;
  for (int t = 0; t < tiling->tiles; ++t)
    if (tiling->sizes[t] <= 0)
      return interpretFail(machine, instruction->op, "has an inner tile of %lld", (long long)tiling->sizes[t]);
  return true;
}

static void plainIndex(const Tiling *tiling, const int64_t *tiled, int64_t *plain) {
  for (int i = 0; i < tiling->rank; ++i)
    plain[tiling->outer[i]] = tiled[i];
  for (int t = 0; t < tiling->tiles; ++t) {
    int64_t *at = &plain[tiling->positions[t]];
    *at = *at * tiling->sizes[t] + tiled[tiling->rank + t];
  }
}

static void tiledIndex(const Tiling *tiling, const int64_t *plain, int64_t *tiled) {
  int64_t rest[InterpreterMaxRank];
  memcpy(rest, plain, (size_t)tiling->rank * sizeof *rest);
  for (int t = 0; t < tiling->tiles; ++t) {
    tiled[tiling->rank + t] = rest[tiling->positions[t]] % tiling->sizes[t];
    rest[tiling->positions[t]] /= tiling->sizes[t];
  }
  for (int i = 0; i < tiling->rank; ++i)
    tiled[i] = rest[tiling->outer[i]];
}

static bool isInside(const Array *array, const int64_t *index) {
  for (int i = 0; i < array->rank; ++i)
    if (index[i] < 0 || index[i] >= array->sizes[i])
      return false;
  return true;
}

// The output: a new tensor, or the memory that is operand 1.
static Array *outputOf(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *to = arrayOperand(frame, instruction, 1);
  if (instruction->numResults == 0)
    return to;
  to = interpretNewArray(machine, instruction, to->rank, to->sizes);
  if (to)
    setResult(frame, instruction, 0, valueOfObject(&to->object));
  return to;
}

// Outer dimension i of the tiled tensor must be as long as the tiles of its plain one are many: with a padding value
// the last may overhang, and nothing else fills a place.
static bool expectTiles(Machine *machine, const Instruction *instruction, const Tiling *tiling, const Array *plain,
                        const Array *tiled) {
  for (int i = 0; i < tiling->rank; ++i) {
    int64_t size = plain->sizes[tiling->outer[i]], tile = 1;
    for (int t = 0; t < tiling->tiles; ++t)
      tile = tiling->positions[t] == tiling->outer[i] ? tiling->sizes[t] : tile;
    int64_t tiles = size / tile + (size % tile != 0);
    if (tiled->sizes[i] != tiles)
      return interpretFail(machine, instruction->op,
                           "has %lld tiles of %lld in dimension %d for %lld elements; expected %lld",
                           (long long)tiled->sizes[i], (long long)tile, i, (long long)size, (long long)tiles);
  }
  return true;
}

static bool packInto(Machine *machine, const Frame *frame, const Instruction *instruction, const Tiling *tiling,
                     intptr_t padding, const Array *to) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t index[InterpreterMaxRank] = {0}, plain[InterpreterMaxRank];
  if (interpretArrayCount(to) == 0)
    return true;
  do {
    plainIndex(tiling, index, plain);
    Element x;
    if (isInside(from, plain))
      x = from->storage->elements[interpretPlaceOf(from, plain)];
    else if (padding >= 0)
      x = operandOf(frame, instruction, padding).scalar;
    else
      return interpretFail(machine, instruction->op, "has tiles that overhang the source, and no padding value");
    to->storage->elements[interpretPlaceOf(to, index)] = x;
  } while (interpretIndexNext(to->rank, to->sizes, index));
  return true;
}

bool interpretPack(Machine *machine, Frame *frame, const Instruction *instruction) {
  int hasPadding = !mlirValueIsNull(linalgPackOpGetPaddingValue(instruction->op));
  Tiling tiling;
  if (!readTiling(machine, frame, instruction, arrayOperand(frame, instruction, 0)->rank, 2 + hasPadding, &tiling))
    return false;
  const Array *to = outputOf(machine, frame, instruction);
  return to && expectTiles(machine, instruction, &tiling, arrayOperand(frame, instruction, 0), to) &&
         packInto(machine, frame, instruction, &tiling, hasPadding ? 2 : -1, to);
}

bool interpretUnpack(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  Tiling tiling;
  if (!readTiling(machine, frame, instruction, arrayOperand(frame, instruction, 1)->rank, 2, &tiling))
    return false;
  const Array *to = outputOf(machine, frame, instruction);
  int64_t index[InterpreterMaxRank] = {0}, tiled[InterpreterMaxRank];
  if (!to || !expectTiles(machine, instruction, &tiling, to, from))
    return false;
  if (interpretArrayCount(to) == 0)
    return true;
  do {
    tiledIndex(&tiling, index, tiled);
    if (!isInside(from, tiled))
      return interpretFail(machine, instruction->op, "reads outside of its source");
    to->storage->elements[interpretPlaceOf(to, index)] = from->storage->elements[interpretPlaceOf(from, tiled)];
  } while (interpretIndexNext(to->rank, to->sizes, index));
  return true;
}
