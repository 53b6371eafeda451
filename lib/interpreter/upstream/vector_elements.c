// The ops of vector that name single elements, make vectors of them, and load and store vectors.
#include "lib/interpreter/upstream/upstream.h"
#include "lib/interpreter/upstream/vectors.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

bool interpretGiveVector(Frame *frame, const Instruction *instruction, Array *array) {
  if (array)
    setResult(frame, instruction, 0, valueOfObject(&array->object));
  return array != NULL;
}

bool interpretVectorExpectFixed(Machine *machine, const Instruction *instruction, MlirType type) {
  return !mlirTypeIsAVector(type) || !mlirVectorTypeIsScalable(type) ||
         interpretUnknown(machine, instruction->op, "not interpreted yet: vectors of unknown size");
}

//===--- places in a vector -------------------------------------------------------===//

// What a position names: `count` elements from `first` on. `isPoison`: one of its numbers is -1, no place.
typedef struct VectorPart {
  int64_t first, count;
  bool isPoison;
} VectorPart;

static bool partOf(Machine *machine, const Frame *frame, const Instruction *instruction, const Array *vector,
                   int dynamic, VectorPart *part) {
  MlirAttribute position = tileOpAttribute(instruction->op, "static_position");
  *part = (VectorPart){.count = interpretArrayCount(vector)};
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(position); ++i) {
    int64_t at = mlirDenseI64ArrayGetElement(position, i), size = vector->sizes[i];
    bool isDynamic = at == mlirShapedTypeGetDynamicSize();
    if (isDynamic && !interpretIndexOperand(machine, frame, instruction, dynamic++, &at))
      return false;
    part->isPoison |= !isDynamic && at == -1;
    if (!part->isPoison && (at < 0 || at >= size))
      return interpretFail(machine, instruction->op,
                           "is out of bounds: position %lld of dimension %d, which has size %lld", (long long)at,
                           (int)i, (long long)size);
    part->count /= size;
    part->first += at * part->count;
  }
  return true;
}

bool interpretVectorExtract(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  VectorPart part;
  if (!interpretVectorExpectFixed(machine, instruction, tileFirstOperandType(instruction->op)) ||
      !partOf(machine, frame, instruction, from, 1, &part))
    return false;
  if (!interpretTypeIsShaped(tileOnlyResultType(instruction->op))) {
    setResult(frame, instruction, 0,
              valueOfElement(part.isPoison ? elementMissing(ELEMENT_POISON) : arrayElements(from)[part.first]));
    return true;
  }
  Array *to = interpretNewResult(machine, instruction, 0);
  for (int64_t i = 0; to && i < part.count; ++i)
    arrayElements(to)[i] = part.isPoison ? elementMissing(ELEMENT_POISON) : arrayElements(from)[part.first + i];
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorInsert(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue value = operandOf(frame, instruction, 0);
  Array *to = interpretArrayCopy(arrayOperand(frame, instruction, 1));
  if (!to)
    return interpretOutOfMemory(machine, instruction->op);
  interpretGiveVector(frame, instruction, to);
  VectorPart part;
  if (!interpretVectorExpectFixed(machine, instruction, tileOnlyResultType(instruction->op)) ||
      !partOf(machine, frame, instruction, to, 2, &part))
    return false;
  for (int64_t i = 0; part.isPoison && i < interpretArrayCount(to); ++i)
    arrayElements(to)[i] = elementMissing(ELEMENT_POISON);
  for (int64_t i = 0; !part.isPoison && i < part.count; ++i)
    arrayElements(to)[part.first + i] = value.object ? arrayElements(arrayOf(value))[i] : value.scalar;
  return true;
}

// Dimensions count from the last one; those that the source lacks, or has one element of, repeat.
bool interpretVectorBroadcast(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue source = operandOf(frame, instruction, 0);
  Array *to = interpretVectorExpectFixed(machine, instruction, tileOnlyResultType(instruction->op))
                  ? interpretNewResult(machine, instruction, 0)
                  : NULL;
  int64_t at[InterpreterMaxRank] = {0};
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i) {
    const Array *from = source.object ? arrayOf(source) : NULL;
    int64_t place = 0;
    for (int d = 0; from && d < from->rank; ++d)
      place = place * from->sizes[d] + (from->sizes[d] == 1 ? 0 : at[to->rank - from->rank + d]);
    arrayElements(to)[i] = from ? arrayElements(from)[place] : source.scalar;
    interpretIndexNext(to->rank, to->sizes, at);
  }
  return interpretGiveVector(frame, instruction, to);
}

// Rows of two vectors, numbered through both of them; -1 is poison.
bool interpretVectorShuffle(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *a = arrayOperand(frame, instruction, 0), *b = arrayOperand(frame, instruction, 1);
  MlirAttribute mask = tileOpAttribute(instruction->op, "mask");
  Array *to = interpretNewResult(machine, instruction, 0);
  int64_t rows = a->rank ? a->sizes[0] : 1, row = a->rank && rows ? interpretArrayCount(a) / rows : 1;
  for (intptr_t i = 0; to && i < mlirDenseArrayGetNumElements(mask); ++i) {
    int64_t from = mlirDenseI64ArrayGetElement(mask, i);
    for (int64_t k = 0; k < row; ++k)
      arrayElements(to)[i * row + k] = from < 0      ? elementMissing(ELEMENT_POISON)
                                       : from < rows ? arrayElements(a)[from * row + k]
                                                     : arrayElements(b)[(from - rows) * row + k];
  }
  return interpretGiveVector(frame, instruction, to);
}

bool interpretVectorStep(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *to = interpretVectorExpectFixed(machine, instruction, tileOnlyResultType(instruction->op))
                  ? interpretNewResult(machine, instruction, 0)
                  : NULL;
  for (int64_t i = 0; to && i < interpretArrayCount(to); ++i)
    arrayElements(to)[i] = elementOfInteger(i);
  return interpretGiveVector(frame, instruction, to);
}

//===--- memory ---------------------------------------------------------------------===//

// The vector's elements lie along memory's last dimensions from the indices on. `isStore`: into memory, else out of it.
static bool transfer(Machine *machine, Frame *frame, const Instruction *instruction, Array *memory, int indices,
                     const Array *vector, bool isStore) {
  int64_t base[InterpreterMaxRank], index[InterpreterMaxRank], at[InterpreterMaxRank] = {0};
  if (mlirTypeIsAVector(interpretElementTypeOf(tileOperandType(instruction->op, indices - 1))))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: vectors in memory");
  bool ok = interpretIndexOperands(machine, frame, instruction, indices, memory->rank, base) &&
            interpretMemoryExpectAlive(machine, instruction, memory->storage);
  for (int64_t i = 0; ok && i < interpretArrayCount(vector); ++i) {
    for (int d = 0; d < memory->rank; ++d) {
      int along = d - (memory->rank - vector->rank);
      index[d] = base[d] + (along < 0 ? 0 : at[along]);
      if (index[d] < 0 || index[d] >= memory->sizes[d])
        return interpretFail(machine, instruction->op,
                             "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index[d],
                             d, (long long)memory->sizes[d]);
    }
    int64_t place = interpretPlaceOf(memory, index);
    ok = isStore ? interpretMemoryWrite(machine, instruction, memory->storage, place, arrayElements(vector)[i])
                 : interpretMemoryTouch(machine, instruction, memory->storage, place, AccessRead);
    if (ok && !isStore)
      arrayElements(vector)[i] = memory->storage->elements[place];
    interpretIndexNext(vector->rank, vector->sizes, at);
  }
  return ok && interpretStep(machine, instruction->op, interpretArrayCount(vector));
}

bool interpretVectorLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *vector = interpretVectorExpectFixed(machine, instruction, tileOnlyResultType(instruction->op))
                      ? interpretNewResult(machine, instruction, 0)
                      : NULL;
  return interpretGiveVector(frame, instruction, vector) &&
         transfer(machine, frame, instruction, arrayOperand(frame, instruction, 0), 1, vector, false);
}

bool interpretVectorStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretVectorExpectFixed(machine, instruction, tileFirstOperandType(instruction->op)) &&
         transfer(machine, frame, instruction, arrayOperand(frame, instruction, 1), 2,
                  arrayOperand(frame, instruction, 0), true);
}
