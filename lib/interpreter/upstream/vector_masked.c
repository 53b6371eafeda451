// The ops of vector that read and write memory element by element where a mask says so.
#include "lib/interpreter/upstream/upstream.h"
#include "lib/interpreter/upstream/vectors.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/vector.h"

// What an op reads or writes: memory from the indices on, where the mask is set.
typedef struct Masked {
  Machine *machine;
  const Instruction *instruction;
  const Array *memory, *mask;
  int64_t base[InterpreterMaxRank];
} Masked;

static bool maskedOf(Machine *machine, const Frame *frame, const Instruction *instruction, int mask, Masked *masked) {
  *masked = (Masked){machine, instruction, arrayOperand(frame, instruction, 0), arrayOperand(frame, instruction, mask)};
  if (mlirTypeIsAVector(interpretElementTypeOf(tileFirstOperandType(instruction->op))))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: vectors in memory");
  return interpretVectorExpectFixed(machine, instruction, tileOperandType(instruction->op, mask)) &&
         interpretIndexOperands(machine, frame, instruction, 1, masked->memory->rank, masked->base) &&
         interpretMemoryExpectAlive(machine, instruction, masked->memory->storage);
}

// The place of what lies `along` from the indices on: a number for each of memory's last dimensions.
static bool placeOf(const Masked *masked, int numAlong, const int64_t *along, int64_t *place) {
  const Array *memory = masked->memory;
  int64_t index[InterpreterMaxRank];
  for (int d = 0; d < memory->rank; ++d) {
    int k = d - (memory->rank - numAlong);
    index[d] = masked->base[d] + (k < 0 ? 0 : along[k]);
    if (index[d] < 0 || index[d] >= memory->sizes[d])
      return interpretFail(masked->machine, masked->instruction->op,
                           "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index[d], d,
                           (long long)memory->sizes[d]);
  }
  *place = interpretPlaceOf(memory, index);
  return true;
}

static bool isSet(const Masked *masked, int64_t element, bool *ok) {
  int64_t set = 0;
  *ok = interpretReadInteger(masked->machine, masked->instruction, arrayElements(masked->mask)[element], &set);
  return *ok && set;
}

static bool read(const Masked *masked, int numAlong, const int64_t *along, Element *x) {
  int64_t place;
  if (!placeOf(masked, numAlong, along, &place) ||
      !interpretMemoryTouch(masked->machine, masked->instruction, masked->memory->storage, place, AccessRead))
    return false;
  *x = masked->memory->storage->elements[place];
  return true;
}

static bool write(const Masked *masked, int numAlong, const int64_t *along, Element x) {
  int64_t place;
  return placeOf(masked, numAlong, along, &place) &&
         interpretMemoryWrite(masked->machine, masked->instruction, masked->memory->storage, place, x);
}

//===--- in order -------------------------------------------------------------------------===//

// The elements where the mask is not set come from the last operand. `packs`: those that are set lie one behind
// another.
static bool load(Machine *machine, Frame *frame, const Instruction *instruction, bool packs) {
  int mask = instruction->numOperands - 2;
  const Array *other = arrayOperand(frame, instruction, mask + 1);
  Masked masked;
  int64_t at[InterpreterMaxRank] = {0}, next = 0;
  if (!maskedOf(machine, frame, instruction, mask, &masked))
    return false;
  Array *to = interpretNewVector(machine, instruction);
  bool ok = to != NULL;
  for (int64_t i = 0; ok && i < interpretArrayCount(to); ++i) {
    Element *x = &arrayElements(to)[i];
    *x = arrayElements(other)[i];
    if (isSet(&masked, i, &ok))
      ok = packs ? read(&masked, 1, &next, x) : read(&masked, to->rank, at, x), ++next;
    interpretIndexNext(to->rank, to->sizes, at);
  }
  return interpretGiveVector(frame, instruction, to) && ok && interpretStep(machine, instruction->op, next);
}

static bool store(Machine *machine, Frame *frame, const Instruction *instruction, bool packs) {
  int mask = instruction->numOperands - 2;
  const Array *from = arrayOperand(frame, instruction, mask + 1);
  Masked masked;
  int64_t at[InterpreterMaxRank] = {0}, next = 0;
  bool ok = maskedOf(machine, frame, instruction, mask, &masked);
  for (int64_t i = 0; ok && i < interpretArrayCount(from); ++i) {
    Element x = arrayElements(from)[i];
    if (isSet(&masked, i, &ok))
      ok = packs ? write(&masked, 1, &next, x) : write(&masked, from->rank, at, x), ++next;
    interpretIndexNext(from->rank, from->sizes, at);
  }
  return ok && interpretStep(machine, instruction->op, next);
}

bool interpretVectorMaskedLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  return load(machine, frame, instruction, false);
}
bool interpretVectorMaskedStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  return store(machine, frame, instruction, false);
}
bool interpretVectorExpandLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  return load(machine, frame, instruction, true);
}
bool interpretVectorCompressStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  return store(machine, frame, instruction, true);
}

//===--- by index -------------------------------------------------------------------------===//

static bool indexAt(const Masked *masked, const Array *indices, int64_t element, int64_t *along) {
  return interpretReadInteger(masked->machine, masked->instruction, arrayElements(indices)[element], along);
}

bool interpretVectorGather(Machine *machine, Frame *frame, const Instruction *instruction) {
  int mask = instruction->numOperands - 2;
  const Array *indices = arrayOperand(frame, instruction, mask - 1);
  const Array *other = arrayOperand(frame, instruction, mask + 1);
  Masked masked;
  int64_t along;
  if (!maskedOf(machine, frame, instruction, mask, &masked))
    return false;
  Array *to = interpretNewVector(machine, instruction);
  bool ok = to != NULL;
  for (int64_t i = 0; ok && i < interpretArrayCount(to); ++i) {
    arrayElements(to)[i] = arrayElements(other)[i];
    if (isSet(&masked, i, &ok))
      ok = indexAt(&masked, indices, i, &along) && read(&masked, 1, &along, &arrayElements(to)[i]);
  }
  return interpretGiveVector(frame, instruction, to) && ok &&
         interpretStep(machine, instruction->op, interpretArrayCount(indices));
}

// One element after another: of several at one place the last one stays.
bool interpretVectorScatter(Machine *machine, Frame *frame, const Instruction *instruction) {
  int mask = instruction->numOperands - 2;
  const Array *indices = arrayOperand(frame, instruction, mask - 1);
  const Array *from = arrayOperand(frame, instruction, mask + 1);
  Masked masked;
  int64_t along;
  bool ok = maskedOf(machine, frame, instruction, mask, &masked);
  if (ok && instruction->numResults) { // a tensor: a new one
    Array *copy = interpretArrayCopy(masked.memory);
    if (!copy)
      return interpretOutOfMemory(machine, instruction->op);
    masked.memory = copy;
    setResult(frame, instruction, 0, valueOfObject(&copy->object));
  }
  for (int64_t i = 0; ok && i < interpretArrayCount(from); ++i)
    if (isSet(&masked, i, &ok))
      ok = indexAt(&masked, indices, i, &along) && write(&masked, 1, &along, arrayElements(from)[i]);
  return ok && interpretStep(machine, instruction->op, interpretArrayCount(indices));
}
