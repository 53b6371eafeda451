// The ops of tensor. Tensors are values: every op makes a fresh array, or another name for one nobody will write.
#include "upstream/tensor.h"
#include "lib/interpreter/sparse/entries.h"
#include "lib/interpreter/upstream/upstream.h"

#include <stdlib.h>
#include <string.h>

static bool give(Frame *frame, const Instruction *instruction, Array *array) {
  if (array)
    setResult(frame, instruction, 0, valueOfObject(&array->object));
  return array != NULL;
}

// The sizes of result 0's type, operands from `cursor` on where they are dynamic.
static bool resultSizes(Machine *machine, const Frame *frame, const Instruction *instruction, int cursor, int *rank,
                        int64_t *sizes) {
  MlirType type = tileOnlyResultType(instruction->op);
  *rank = (int)mlirShapedTypeGetRank(type);
  if (*rank > InterpreterMaxRank)
    return interpretFail(machine, instruction->op, "has rank %d; the interpreter knows up to %d", *rank,
                         InterpreterMaxRank);
  for (int i = 0; i < *rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicDim(type, i) && !interpretIndexOperand(machine, frame, instruction, cursor++, &sizes[i]))
      return false;
  }
  return true;
}

bool interpretTensorEmpty(Machine *machine, Frame *frame, const Instruction *instruction) {
  int rank;
  int64_t sizes[InterpreterMaxRank];
  return resultSizes(machine, frame, instruction, 0, &rank, sizes) &&
         give(frame, instruction, interpretNewArray(machine, instruction, rank, sizes));
}

// Memory of vectors has their dimensions behind its own.
bool interpretAlloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType element = mlirShapedTypeGetElementType(tileOnlyResultType(instruction->op));
  int rank, lanes = mlirTypeIsAVector(element) ? (int)mlirShapedTypeGetRank(element) : 0;
  int64_t sizes[InterpreterMaxRank];
  if (!resultSizes(machine, frame, instruction, 0, &rank, sizes))
    return false;
  if (rank + lanes > InterpreterMaxRank || (lanes && mlirVectorTypeIsScalable(element)))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: memory of such vectors");
  for (int i = 0; i < lanes; ++i)
    sizes[rank + i] = mlirShapedTypeGetDimSize(element, i);
  return give(frame, instruction, interpretNewArray(machine, instruction, rank + lanes, sizes));
}

bool interpretDim(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue value = operandOf(frame, instruction, 0);
  bool isSparse = value.object->kind == ObjectEntries;
  int rank = isSparse ? entriesOf(value)->rank : arrayOf(value)->rank;
  int64_t axis;
  if (!interpretIndexOperand(machine, frame, instruction, 1, &axis))
    return false;
  if (axis < 0 || axis >= rank)
    return interpretFail(machine, instruction->op, "asks for dimension %lld of rank %d", (long long)axis, rank);
  setResult(frame, instruction, 0,
            valueOfInteger(isSparse ? entriesOf(value)->sizes[axis] : arrayOf(value)->sizes[axis]));
  return true;
}

bool interpretRank(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(arrayOperand(frame, instruction, 0)->rank));
  return true;
}

//===--- single elements --------------------------------------------------------------===//

bool interpretCheckedPlace(Machine *machine, const Frame *frame, const Instruction *instruction, const Array *array,
                           intptr_t begin, int64_t *place) {
  *place = array->offset;
  for (int i = 0; i < array->rank && begin + i < instruction->numOperands; ++i) {
    int64_t index;
    if (!interpretIndexOperand(machine, frame, instruction, begin + i, &index))
      return false;
    if (index < 0 || index >= array->sizes[i])
      return interpretFail(machine, instruction->op,
                           "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)index, i,
                           (long long)array->sizes[i]);
    *place += index * array->strides[i];
  }
  return true;
}

bool interpretExtract(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  int64_t place;
  if (!interpretCheckedPlace(machine, frame, instruction, array, 1, &place))
    return false;
  Element x = array->storage->elements[place];
  setResult(frame, instruction, 0, valueOfElement(x));
  return x.bound == ELEMENT_POISON || interpretElementExpect(machine, instruction, x, "reads");
}

bool interpretInsert(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 1);
  Element x = operandOf(frame, instruction, 0).scalar;
  int64_t place;
  if (!interpretCheckedPlace(machine, frame, instruction, array, 2, &place) ||
      !interpretElementExpect(machine, instruction, x, "writes") ||
      !interpretStep(machine, instruction->op, interpretArrayCount(array)))
    return false;
  Array *copy = interpretArrayCopy(array);
  if (!copy)
    return interpretOutOfMemory(machine, instruction->op);
  copy->storage->elements[place] = x;
  return give(frame, instruction, copy);
}

bool interpretFromElements(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *array = interpretNewResult(machine, instruction, 0);
  for (int64_t i = 0; array && i < interpretArrayCount(array); ++i)
    arrayElements(array)[i] = operandOf(frame, instruction, i).scalar;
  return give(frame, instruction, array);
}

bool interpretSplat(Machine *machine, Frame *frame, const Instruction *instruction) {
  int rank;
  int64_t sizes[InterpreterMaxRank];
  if (!resultSizes(machine, frame, instruction, 1, &rank, sizes))
    return false;
  Array *array = interpretNewArray(machine, instruction, rank, sizes);
  for (int64_t i = 0; array && i < interpretArrayCount(array); ++i)
    arrayElements(array)[i] = operandOf(frame, instruction, 0).scalar;
  return give(frame, instruction, array);
}

// Each element is what the region yields for its index.
static bool generateInto(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array) {
  const InterpretBlock *block = instruction->regions[0].blocks;
  int64_t index[InterpreterMaxRank] = {0};
  if (interpretArrayCount(array) == 0)
    return true;
  for (Element *to = arrayElements(array);; ++to) {
    for (int i = 0; i < array->rank; ++i)
      frameSet(frame, block->arguments[i], valueOfInteger(index[i]));
    if (!interpretRegionRun(machine, frame, &instruction->regions[0], 0, NULL))
      return false;
    *to = frame->yielded[0].scalar;
    if (!interpretIndexNext(array->rank, array->sizes, index))
      return true;
  }
}

bool interpretGenerate(Machine *machine, Frame *frame, const Instruction *instruction) {
  int rank;
  int64_t sizes[InterpreterMaxRank];
  if (!resultSizes(machine, frame, instruction, 0, &rank, sizes))
    return false;
  Array *array = interpretNewArray(machine, instruction, rank, sizes);
  return give(frame, instruction, array) && generateInto(machine, frame, instruction, array);
}

//===--- slices ---------------------------------------------------------------------===//

bool interpretReadMixed(Machine *machine, const Frame *frame, const Instruction *instruction, const char *name,
                        int *cursor, int count, int64_t *numbers) {
  MlirAttribute list = tileOpAttribute(instruction->op, name);
  for (int i = 0; i < count; ++i) {
    numbers[i] = mlirDenseI64ArrayGetElement(list, i);
    if (numbers[i] == mlirShapedTypeGetDynamicSize() &&
        !interpretIndexOperand(machine, frame, instruction, (*cursor)++, &numbers[i]))
      return false;
  }
  return true;
}

// Which dimensions of a slice its type keeps: static sizes of 1 that have no counterpart vanish.
static void dropUnits(const Instruction *instruction, MlirType type, int rank, bool *keeps) {
  MlirAttribute sizes = tileOpAttribute(instruction->op, "static_sizes");
  int wanted = (int)mlirShapedTypeGetRank(type), at = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t size = mlirDenseI64ArrayGetElement(sizes, i);
    keeps[i] = at < wanted && (rank - i == wanted - at || size != 1 || mlirShapedTypeGetDimSize(type, at) == 1);
    at += keeps[i];
  }
}

static bool expectInside(Machine *machine, const Instruction *instruction, const Array *array, int i, int64_t offset,
                         int64_t size, int64_t stride) {
  int64_t last = size > 0 ? offset + (size - 1) * stride : offset;
  if (size >= 0 && (size == 0 || (offset >= 0 && offset < array->sizes[i] && last >= 0 && last < array->sizes[i])))
    return true;
  return interpretFail(machine, instruction->op,
                       "is out of bounds: offset %lld, size %lld, stride %lld in dimension %d, which has size %lld",
                       (long long)offset, (long long)size, (long long)stride, i, (long long)array->sizes[i]);
}

Array *interpretSliceOf(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array, int cursor,
                        MlirType type) {
  int64_t offsets[InterpreterMaxRank], sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  bool keeps[InterpreterMaxRank];
  if (!interpretReadMixed(machine, frame, instruction, "static_offsets", &cursor, array->rank, offsets) ||
      !interpretReadMixed(machine, frame, instruction, "static_sizes", &cursor, array->rank, sizes) ||
      !interpretReadMixed(machine, frame, instruction, "static_strides", &cursor, array->rank, strides))
    return NULL;
  dropUnits(instruction, type, array->rank, keeps);
  int64_t place = array->offset;
  int rank = 0;
  for (int i = 0; i < array->rank; ++i) {
    if (!expectInside(machine, instruction, array, i, offsets[i], sizes[i], strides[i]))
      return NULL;
    place += offsets[i] * array->strides[i];
    sizes[rank] = sizes[i];
    strides[rank] = strides[i] * array->strides[i];
    rank += keeps[i];
  }
  return interpretArrayAlias(array, place, rank, sizes, strides);
}

bool interpretExtractSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *part = interpretSliceOf(machine, frame, instruction, arrayOperand(frame, instruction, 0), 1,
                                 tileOnlyResultType(instruction->op));
  if (!part)
    return false;
  Array *copy = interpretStep(machine, instruction->op, interpretArrayCount(part)) ? interpretArrayCopy(part) : NULL;
  valueRelease(valueOfObject(&part->object));
  return give(frame, instruction, copy) || interpretOutOfMemory(machine, instruction->op);
}

static bool copyInto(Machine *machine, const Instruction *instruction, const Array *from, const Array *to) {
  int64_t index[InterpreterMaxRank] = {0};
  for (int i = 0; i < from->rank; ++i)
    if (from->sizes[i] != to->sizes[i])
      return interpretFail(machine, instruction->op, "puts size %lld into size %lld in dimension %d",
                           (long long)from->sizes[i], (long long)to->sizes[i], i);
  if (interpretArrayCount(from) == 0)
    return true;
  do
    to->storage->elements[interpretPlaceOf(to, index)] = from->storage->elements[interpretPlaceOf(from, index)];
  while (interpretIndexNext(from->rank, from->sizes, index));
  return true;
}

bool interpretInsertSlice(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  Array *copy = interpretArrayCopy(arrayOperand(frame, instruction, 1));
  if (!copy || !interpretStep(machine, instruction->op, interpretArrayCount(copy)))
    return interpretOutOfMemory(machine, instruction->op);
  give(frame, instruction, copy);
  Array *part =
      interpretSliceOf(machine, frame, instruction, copy, 2, tensorInsertSliceOpGetSourceType(instruction->op));
  bool ok = part && copyInto(machine, instruction, from, part);
  if (part)
    valueRelease(valueOfObject(&part->object));
  return ok;
}

bool interpretConcat(Machine *machine, Frame *frame, const Instruction *instruction) {
  int axis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "dim"));
  const Array *first = arrayOperand(frame, instruction, 0);
  int64_t sizes[InterpreterMaxRank], at = 0;
  memcpy(sizes, first->sizes, (size_t)first->rank * sizeof *sizes);
  sizes[axis] = 0;
  for (int i = 0; i < instruction->numOperands; ++i)
    sizes[axis] += arrayOperand(frame, instruction, i)->sizes[axis];
  Array *result = interpretNewArray(machine, instruction, first->rank, sizes);
  bool ok = give(frame, instruction, result);
  for (int i = 0; i < instruction->numOperands && ok; ++i) {
    const Array *from = arrayOperand(frame, instruction, i);
    Array *part = interpretArrayAlias(result, at * result->strides[axis], from->rank, from->sizes, result->strides);
    ok = part && copyInto(machine, instruction, from, part);
    at += from->sizes[axis];
    if (part)
      valueRelease(valueOfObject(&part->object));
  }
  return ok;
}

bool interpretPad(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  int64_t low[InterpreterMaxRank], high[InterpreterMaxRank], sizes[InterpreterMaxRank];
  int cursor = 1;
  if (!interpretReadMixed(machine, frame, instruction, "static_low", &cursor, from->rank, low) ||
      !interpretReadMixed(machine, frame, instruction, "static_high", &cursor, from->rank, high))
    return false;
  for (int i = 0; i < from->rank; ++i) {
    if (low[i] < 0 || high[i] < 0)
      return interpretFail(machine, instruction->op, "pads dimension %d by %lld and %lld; expected at least 0", i,
                           (long long)low[i], (long long)high[i]);
    sizes[i] = low[i] + from->sizes[i] + high[i];
  }
  Array *result = interpretNewArray(machine, instruction, from->rank, sizes);
  if (!give(frame, instruction, result) || !generateInto(machine, frame, instruction, result))
    return false;
  int64_t place = 0;
  for (int i = 0; i < from->rank; ++i)
    place += low[i] * result->strides[i];
  Array *part = interpretArrayAlias(result, place, from->rank, from->sizes, result->strides);
  bool ok = part && copyInto(machine, instruction, from, part);
  if (part)
    valueRelease(valueOfObject(&part->object));
  return ok;
}

//===--- shapes -----------------------------------------------------------------------===//

bool interpretCast(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  MlirType type = tileOnlyResultType(instruction->op);
  for (int i = 0; mlirShapedTypeHasRank(type) && i < array->rank; ++i)
    if (!mlirShapedTypeIsDynamicDim(type, i) && mlirShapedTypeGetDimSize(type, i) != array->sizes[i])
      return interpretFail(machine, instruction->op, "casts size %lld of dimension %d to %lld",
                           (long long)array->sizes[i], i, (long long)mlirShapedTypeGetDimSize(type, i));
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

static int groupOf(MlirAttribute reassociation, intptr_t group, intptr_t member) {
  return (int)mlirIntegerAttrGetValueInt(
      mlirArrayAttrGetElement(mlirArrayAttrGetElement(reassociation, group), member));
}

bool interpretExpandShape(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  MlirAttribute groups = tileOpAttribute(instruction->op, "reassociation");
  int rank = (int)mlirShapedTypeGetRank(tileOnlyResultType(instruction->op)), cursor = 1;
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  if (!interpretReadMixed(machine, frame, instruction, "static_output_shape", &cursor, rank, sizes))
    return false;
  int64_t ones = 1;
  for (int i = 0; i < rank; ++i) // a rank-0 source has no groups
    strides[i] = ones;
  for (intptr_t g = 0; g < mlirArrayAttrGetNumElements(groups); ++g) {
    int64_t count = 1;
    for (intptr_t m = mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, g)) - 1; m >= 0; --m) {
      int axis = groupOf(groups, g, m);
      strides[axis] = count * from->strides[g];
      count *= sizes[axis];
    }
    if (count != from->sizes[g])
      return interpretFail(machine, instruction->op, "expands size %lld of dimension %ld to a product of %lld",
                           (long long)from->sizes[g], (long)g, (long long)count);
  }
  return give(frame, instruction, interpretArrayAlias(from, from->offset, rank, sizes, strides));
}

bool interpretCollapseShape(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0);
  MlirAttribute groups = tileOpAttribute(instruction->op, "reassociation");
  int rank = (int)mlirArrayAttrGetNumElements(groups);
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  for (int g = 0; g < rank; ++g) {
    intptr_t members = mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, g));
    sizes[g] = 1;
    strides[g] = 1;
    for (intptr_t m = members - 1; m >= 0; --m) {
      int axis = groupOf(groups, g, m);
      if (sizes[g] == 1)
        strides[g] = from->strides[axis];
      else if (from->sizes[axis] != 1 && from->strides[axis] != strides[g] * sizes[g])
        return interpretFail(machine, instruction->op, "collapses dimensions that do not lie one after the other");
      sizes[g] *= from->sizes[axis];
    }
  }
  return give(frame, instruction, interpretArrayAlias(from, from->offset, rank, sizes, strides));
}

bool interpretReshape(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0), *shape = arrayOperand(frame, instruction, 1);
  int64_t sizes[InterpreterMaxRank];
  MlirType type = tileOnlyResultType(instruction->op);
  int rank = (int)interpretArrayCount(shape);
  for (int i = 0; i < rank && i < InterpreterMaxRank; ++i) {
    if (!interpretReadInteger(machine, instruction, arrayElements(shape)[i], &sizes[i]))
      return false;
    if (mlirShapedTypeHasRank(type) && !mlirShapedTypeIsDynamicDim(type, i) &&
        mlirShapedTypeGetDimSize(type, i) != sizes[i])
      return interpretFail(machine, instruction->op, "gives dimension %d size %lld; its type says %lld", i,
                           (long long)sizes[i], (long long)mlirShapedTypeGetDimSize(type, i));
  }
  if (interpretCountOf(rank, sizes) != interpretArrayCount(from))
    return interpretFail(machine, instruction->op, "gives %lld elements a shape of %lld",
                         (long long)interpretArrayCount(from), (long long)interpretCountOf(rank, sizes));
  return give(frame, instruction, interpretArrayAlias(from, from->offset, rank, sizes, NULL));
}
