// The ops of vector by definition. A vector is an array, as a tensor is.
#include "upstream/vector.h"
#include "lib/interpreter/upstream/affine.h"
#include "lib/interpreter/upstream/upstream.h"

#include <stdlib.h>
#include <string.h>

//===--- transfers --------------------------------------------------------------------------===//

// A part of memory or of a tensor as a vector: the permutation map names, of the indices that begin at `base`, those
// along which the vector's dimensions run. A constant result stands for a dimension that is broadcast.
typedef struct Transfer {
  Machine *machine;
  const Instruction *instruction;
  const Array *array, *maskOrNull;
  MlirAffineMap map;
  MlirAttribute inBounds;
  int rank; // of the vector
  int64_t sizes[InterpreterMaxRank], base[InterpreterMaxRank];
} Transfer;

static bool transferOf(Machine *machine, const Frame *frame, const Instruction *instruction, int array, int mask,
                       MlirType vector, Transfer *transfer) {
  *transfer = (Transfer){.machine = machine,
                         .instruction = instruction,
                         .array = arrayOperand(frame, instruction, array),
                         .map = mlirAffineMapAttrGetValue(tileOpAttribute(instruction->op, "permutation_map")),
                         .inBounds = tileOpAttribute(instruction->op, "in_bounds")};
  bool isVector = mlirTypeIsAVector(interpretElementTypeOf(tileOperandType(instruction->op, array)));
  if (isVector || (mlirTypeIsAVector(vector) && mlirVectorTypeIsScalable(vector)))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: vectors of vectors, or of unknown size");
  transfer->rank = (int)mlirShapedTypeGetRank(vector);
  for (int i = 0; i < transfer->rank; ++i)
    transfer->sizes[i] = mlirShapedTypeGetDimSize(vector, i);
  if (mask < instruction->numOperands)
    transfer->maskOrNull = arrayOperand(frame, instruction, mask);
  return interpretIndexOperands(machine, frame, instruction, array + 1, transfer->array->rank, transfer->base);
}

// The place of the vector's element; false where it lies outside or the mask leaves it out. An element that the op
// promises to be inside and is not is an error: `ok` becomes false.
static bool transferPlace(const Transfer *transfer, const int64_t *at, int64_t *place, bool *ok) {
  int64_t index[InterpreterMaxRank], masked[InterpreterMaxRank] = {0}, keeps = 1;
  int numMasked = 0;
  memcpy(index, transfer->base, sizeof index);
  bool isPromised[InterpreterMaxRank] = {false};
  for (int i = 0; i < transfer->rank; ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(transfer->map, i);
    if (!mlirAffineExprIsADim(result))
      continue;
    intptr_t axis = mlirAffineDimExprGetPosition(result);
    index[axis] += at[i];
    isPromised[axis] = !mlirAttributeIsNull(transfer->inBounds) &&
                       mlirBoolAttrGetValue(mlirArrayAttrGetElement(transfer->inBounds, i));
  }
  if (transfer->maskOrNull) { // in the order of memory's axes
    for (int axis = 0; axis < transfer->array->rank; ++axis)
      for (int i = 0; i < transfer->rank; ++i) {
        MlirAffineExpr result = mlirAffineMapGetResult(transfer->map, i);
        if (mlirAffineExprIsADim(result) && mlirAffineDimExprGetPosition(result) == axis)
          masked[numMasked++] = at[i];
      }
    Element kept = transfer->maskOrNull->storage->elements[interpretPlaceOf(transfer->maskOrNull, masked)];
    *ok = interpretReadInteger(transfer->machine, transfer->instruction, kept, &keeps);
    if (!*ok || !keeps)
      return false;
  }
  for (int axis = 0; axis < transfer->array->rank; ++axis)
    if (index[axis] < 0 || index[axis] >= transfer->array->sizes[axis]) {
      if (isPromised[axis])
        *ok = interpretFail(transfer->machine, transfer->instruction->op,
                            "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index[axis],
                            axis, (long long)transfer->array->sizes[axis]);
      return false;
    }
  *place = interpretPlaceOf(transfer->array, index);
  return true;
}

bool interpretTransferRead(Machine *machine, Frame *frame, const Instruction *instruction) {
  Transfer transfer;
  int padding = 1 + (int)arrayOperand(frame, instruction, 0)->rank;
  int64_t at[InterpreterMaxRank] = {0}, place;
  if (!transferOf(machine, frame, instruction, 0, padding + 1, tileOnlyResultType(instruction->op), &transfer))
    return false;
  bool isMemory = mlirTypeIsAMemRef(tileFirstOperandType(instruction->op));
  Array *vector = interpretNewArray(machine, instruction, transfer.rank, transfer.sizes);
  bool ok = vector && interpretMemoryExpectAlive(machine, instruction, transfer.array->storage);
  for (int64_t i = 0; ok && i < interpretArrayCount(vector); ++i) {
    bool isInside = transferPlace(&transfer, at, &place, &ok);
    if (isInside && isMemory)
      ok = interpretMemoryTouch(machine, instruction, transfer.array->storage, place, AccessRead);
    arrayElements(vector)[i] =
        isInside ? transfer.array->storage->elements[place] : operandOf(frame, instruction, padding).scalar;
    interpretIndexNext(transfer.rank, transfer.sizes, at);
  }
  if (vector)
    setResult(frame, instruction, 0, valueOfObject(&vector->object));
  return ok && interpretStep(machine, instruction->op, interpretArrayCount(vector));
}

bool interpretTransferWrite(Machine *machine, Frame *frame, const Instruction *instruction) {
  Transfer transfer;
  const Array *vector = arrayOperand(frame, instruction, 0);
  int64_t at[InterpreterMaxRank] = {0}, place;
  int mask = 2 + arrayOperand(frame, instruction, 1)->rank;
  if (!transferOf(machine, frame, instruction, 1, mask, tileFirstOperandType(instruction->op), &transfer))
    return false;
  Array *copy = instruction->numResults ? interpretArrayCopy(transfer.array) : NULL; // a tensor: a new one
  if (instruction->numResults && !copy)
    return interpretOutOfMemory(machine, instruction->op);
  if (copy) {
    transfer.array = copy;
    setResult(frame, instruction, 0, valueOfObject(&copy->object));
  }
  bool ok = interpretMemoryExpectAlive(machine, instruction, transfer.array->storage);
  for (int64_t i = 0; ok && i < interpretArrayCount(vector); ++i) {
    Element x = vector->storage->elements[interpretPlaceOf(vector, at)];
    if (transferPlace(&transfer, at, &place, &ok))
      ok = interpretMemoryWrite(machine, instruction, transfer.array->storage, place, x);
    interpretIndexNext(transfer.rank, transfer.sizes, at);
  }
  return ok && interpretStep(machine, instruction->op, interpretArrayCount(vector));
}
