// tensor.gather and tensor.scatter, element by element as upstream's definition of the ops states.
// A coordinate outside of the tensor, and an element that a scatter writes twice, stop the program.
#include "lib/interpreter/upstream/upstream.h"

#include "mlir-c/BuiltinAttributes.h"
#include "upstream/tensor.h"

#include <stdlib.h>

// `slices` are indexed by the leading dimensions of `indices`, then by dimensions of `whole`: by all, or by those that
// have no coordinate.
typedef struct Access {
  const Array *whole, *indices, *slices;
  int coordinates[InterpreterMaxRank]; // of dimension d of `whole`, or -1
} Access;

static void readDims(MlirAttribute dims, Access *access) {
  for (int d = 0; d < access->whole->rank; ++d)
    access->coordinates[d] = -1;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(dims); ++i)
    access->coordinates[mlirDenseI64ArrayGetElement(dims, i)] = (int)i;
}

// The sizes of `slices` by those of the two others.
static int sliceSizes(const Access *access, int rank, int64_t *sizes) {
  int lead = access->indices->rank - 1, next = lead;
  bool keepsRank = rank == lead + access->whole->rank;
  for (int i = 0; i < lead; ++i)
    sizes[i] = access->indices->sizes[i];
  for (int d = 0; d < access->whole->rank; ++d)
    if (keepsRank || access->coordinates[d] < 0)
      sizes[next++] = access->coordinates[d] < 0 ? access->whole->sizes[d] : 1;
  return next;
}

// Where element `index` of `slices` lies in `whole`.
static bool placeOf(Machine *machine, const Instruction *instruction, const Access *access, const int64_t *index,
                    int64_t *place) {
  int lead = access->indices->rank - 1, next = lead;
  bool keepsRank = access->slices->rank == lead + access->whole->rank;
  int64_t row = access->indices->offset;
  for (int i = 0; i < lead; ++i)
    row += index[i] * access->indices->strides[i];
  *place = access->whole->offset;
  for (int d = 0; d < access->whole->rank; ++d) {
    bool hasCoordinate = access->coordinates[d] >= 0;
    int64_t at = keepsRank || !hasCoordinate ? index[next++] : 0;
    Element coordinate =
        hasCoordinate
            ? access->indices->storage->elements[row + access->coordinates[d] * access->indices->strides[lead]]
            : elementOfInteger(at);
    if (!interpretReadInteger(machine, instruction, coordinate, &at))
      return false;
    if (at < 0 || at >= access->whole->sizes[d])
      return interpretFail(machine, instruction->op,
                           "is out of bounds: coordinate %lld of dimension %d, which has size %lld", (long long)at, d,
                           (long long)access->whole->sizes[d]);
    *place += at * access->whole->strides[d];
  }
  return true;
}

// Copies every element of a slice from `whole` or, once for each place, to it.
static bool move(Machine *machine, const Instruction *instruction, const Access *access, bool *isWritten) {
  int64_t index[InterpreterMaxRank] = {0}, place;
  if (interpretArrayCount(access->slices) == 0)
    return true;
  do {
    int64_t slice = access->slices->offset;
    for (int i = 0; i < access->slices->rank; ++i)
      slice += index[i] * access->slices->strides[i];
    if (!placeOf(machine, instruction, access, index, &place))
      return false;
    Element *inSlice = &access->slices->storage->elements[slice], *inWhole = &access->whole->storage->elements[place];
    if (!isWritten) {
      *inSlice = *inWhole;
      continue;
    }
    if (isWritten[place])
      return interpretFail(machine, instruction->op, "writes an element twice, though it is unique");
    isWritten[place] = true;
    *inWhole = *inSlice;
  } while (interpretIndexNext(access->slices->rank, access->slices->sizes, index));
  return true;
}

bool interpretGather(Machine *machine, Frame *frame, const Instruction *instruction) {
  Access access = {.whole = arrayOperand(frame, instruction, 0), .indices = arrayOperand(frame, instruction, 1)};
  int64_t sizes[InterpreterMaxRank];
  int rank = (int)mlirShapedTypeGetRank(tensorGatherOpGetResultType(instruction->op));
  if (rank > InterpreterMaxRank)
    return interpretFail(machine, instruction->op, "has rank %d; the interpreter accepts up to %d", rank,
                         InterpreterMaxRank);
  readDims(tensorGatherOpGetGatherDims(instruction->op), &access);
  Array *result = interpretNewArray(machine, instruction, sliceSizes(&access, rank, sizes), sizes);
  access.slices = result;
  if (!result)
    return false;
  setResult(frame, instruction, 0, valueOfObject(&result->object));
  return interpretStep(machine, instruction->op, interpretArrayCount(result)) &&
         move(machine, instruction, &access, NULL);
}

bool interpretScatter(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *copy = interpretArrayCopy(arrayOperand(frame, instruction, 1));
  if (!copy)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&copy->object));
  Access access = {
      .whole = copy, .indices = arrayOperand(frame, instruction, 2), .slices = arrayOperand(frame, instruction, 0)};
  readDims(tensorScatterOpGetScatterDims(instruction->op), &access);
  bool *isWritten = calloc((size_t)interpretArrayCount(copy) + 1, sizeof *isWritten);
  if (!isWritten)
    return interpretOutOfMemory(machine, instruction->op);
  bool ok = interpretStep(machine, instruction->op, interpretArrayCount(copy)) &&
            move(machine, instruction, &access, isWritten);
  free(isWritten);
  return ok;
}
