// detect, sread and swrite: lists of the micro-tiles that hold something, and slices of matrices packed by such a list.
// By definition, element by element; a coordinate of no slice and one that swrite meets twice stop the program.
#include "lib/interpreter/sparse/sparse.h"

#include <math.h>
#include <stdlib.h>

#include "dialects/sparse/ops.h"

//===--- detect -----------------------------------------------------------------------===//

// Which micro-tiles of each group hold something, group by group.
typedef struct Found {
  int64_t axis, by, lines, groups, units; // units: micro-tiles of a group
  char *isFound;
} Found;

static void find(Found *found, const int64_t at[2]) {
  int64_t group = found->lines ? at[1 - found->axis] / found->lines : 0;
  found->isFound[group * found->units + at[found->axis] / found->by] = 1;
}

static bool findInDense(Machine *machine, const Instruction *instruction, const Array *dense, Found *found) {
  int64_t at[InterpreterMaxRank] = {0}, count = interpretArrayCount(dense);
  for (int64_t i = 0; i < count; ++i, interpretIndexNext(2, dense->sizes, at)) {
    Element x = arrayElements(dense)[i];
    if (!interpretElementExpect(machine, instruction, x, "looks at"))
      return false;
    bool isFloat = instruction->in.isFloat;
    machine->undecided += isFloat && x.bound > 0 && fabs(x.f) <= x.bound;
    if (isFloat ? x.f != 0 : x.i != 0)
      find(found, at);
  }
  return true;
}

static void findInEntries(const Entries *entries, Found *found) {
  for (int64_t i = 0; i < entries->count; ++i)
    if (interpretEntryIsInside(entries, &entries->items[i]))
      find(found, entries->items[i].at);
}

static bool giveFound(Machine *machine, Frame *frame, const Instruction *instruction, const Found *found) {
  int64_t count = 0, ends = found->groups + 1, next = 0;
  for (int64_t i = 0; i < found->groups * found->units; ++i)
    count += found->isFound[i];
  Array *positions = interpretNewArray(machine, instruction, 1, &ends);
  Array *coordinates = interpretNewArray(machine, instruction, 1, &count);
  bool ok = positions && coordinates;
  for (int64_t group = 0; ok && group < ends; ++group) {
    arrayElements(positions)[group] = elementOfInteger(next);
    for (int64_t unit = 0; group < found->groups && unit < found->units; ++unit)
      if (found->isFound[group * found->units + unit])
        arrayElements(coordinates)[next++] = elementOfInteger(unit);
  }
  if (positions)
    setResult(frame, instruction, 0, valueOfObject(&positions->object));
  if (coordinates)
    setResult(frame, instruction, 1, valueOfObject(&coordinates->object));
  return ok;
}

bool interpretSparseDetect(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirOperation op = instruction->op;
  bool isDense = mlirAttributeIsNull(sparseTypeGetEncoding(sparseDetectOpGetInputType(op)));
  const int64_t *sizes =
      isDense ? arrayOperand(frame, instruction, 0)->sizes : entriesOperand(frame, instruction, 0)->sizes;
  Found found = {.axis = sparseDetectOpGetAxisValue(op), .by = sparseDetectOpGetByValue(op), .groups = 1};
  MlirAttribute lines = sparseDetectOpGetLines(op);
  if (!mlirAttributeIsNull(lines)) {
    found.lines = mlirIntegerAttrGetValueInt(lines);
    found.groups = (sizes[1 - found.axis] + found.lines - 1) / found.lines;
  }
  found.units = (sizes[found.axis] + found.by - 1) / found.by;
  if (!interpretStep(machine, op, sizes[0] * sizes[1] + found.groups * found.units))
    return false;
  found.isFound = calloc((size_t)(found.groups * found.units) + 1, 1);
  bool ok = found.isFound || interpretOutOfMemory(machine, op);
  if (ok && isDense)
    ok = findInDense(machine, instruction, arrayOperand(frame, instruction, 0), &found);
  else if (ok)
    findInEntries(entriesOperand(frame, instruction, 0), &found);
  ok = ok && giveFound(machine, frame, instruction, &found);
  free(found.isFound);
  return ok;
}

//===--- sread and swrite -------------------------------------------------------------===//

// Slice number `index` of the list, which must be one of a matrix of `size` along the axis.
static bool sliceAt(Machine *machine, const Instruction *instruction, const Array *list, int64_t index, int64_t size,
                    int64_t by, int64_t *slice) {
  int64_t slices = (size + by - 1) / by;
  return interpretReadInteger(machine, instruction, arrayElements(list)[index], slice) &&
         ((*slice >= 0 && *slice < slices) ||
          interpretFail(machine, instruction->op, "coordinate %lld is %lld, expected one of %lld slices",
                        (long long)index, (long long)*slice, (long long)slices));
}

// Line `line` across the axis and place `place` along it.
static Element *elementAt(const Array *matrix, int64_t axis, int64_t line, int64_t place) {
  return arrayElements(matrix) + (axis ? line * matrix->sizes[1] + place : place * matrix->sizes[1] + line);
}

bool interpretSparseSread(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *source = arrayOperand(frame, instruction, 0), *list = arrayOperand(frame, instruction, 1);
  int64_t axis = sparseSreadOpGetAxisValue(instruction->op), by = sparseSreadOpGetByValue(instruction->op);
  int64_t size = source->sizes[axis], lines = source->sizes[1 - axis], sizes[2], slice;
  sizes[axis] = list->sizes[0] * by;
  sizes[1 - axis] = lines;
  Array *packed = interpretNewArray(machine, instruction, 2, sizes);
  bool ok = packed && interpretStep(machine, instruction->op, interpretArrayCount(packed));
  for (int64_t i = 0; ok && i < list->sizes[0]; ++i) {
    ok = sliceAt(machine, instruction, list, i, size, by, &slice);
    for (int64_t j = 0; ok && j < by; ++j)
      for (int64_t line = 0; line < lines; ++line)
        *elementAt(packed, axis, line, i * by + j) =
            slice * by + j < size ? *elementAt(source, axis, line, slice * by + j) : elementOfInteger(0);
  }
  if (packed)
    setResult(frame, instruction, 0, valueOfObject(&packed->object));
  return ok;
}

static bool expectSize(Machine *machine, const Instruction *instruction, const Array *packed, int64_t axis,
                       int64_t wanted) {
  return packed->sizes[axis] == wanted ||
         interpretFail(machine, instruction->op, "packed has size %lld along axis %d, expected %lld",
                       (long long)packed->sizes[axis], (int)axis, (long long)wanted);
}

bool interpretSparseSwrite(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *packed = arrayOperand(frame, instruction, 0), *init = arrayOperand(frame, instruction, 1);
  const Array *list = arrayOperand(frame, instruction, 2);
  int64_t axis = sparseSwriteOpGetAxisValue(instruction->op), by = sparseSwriteOpGetByValue(instruction->op);
  int64_t size = init->sizes[axis], lines = init->sizes[1 - axis], slice;
  if (!expectSize(machine, instruction, packed, axis, list->sizes[0] * by) ||
      !expectSize(machine, instruction, packed, 1 - axis, lines) ||
      !interpretStep(machine, instruction->op, interpretArrayCount(packed) + interpretArrayCount(init)))
    return false;
  char *isWritten = calloc((size_t)(size / by) + 2, 1);
  Array *result = interpretArrayCopy(init);
  bool ok = (isWritten && result) || interpretOutOfMemory(machine, instruction->op);
  for (int64_t i = 0; ok && i < list->sizes[0]; ++i) {
    ok =
        sliceAt(machine, instruction, list, i, size, by, &slice) &&
        (!isWritten[slice] || interpretFail(machine, instruction->op, "coordinate %lld is %lld, which stands before it",
                                            (long long)i, (long long)slice));
    if (!ok)
      break;
    isWritten[slice] = 1;
    for (int64_t j = 0; j < by && slice * by + j < size; ++j)
      for (int64_t line = 0; line < lines; ++line)
        *elementAt(result, axis, line, slice * by + j) = *elementAt(packed, axis, line, i * by + j);
  }
  free(isWritten);
  if (result)
    setResult(frame, instruction, 0, valueOfObject(&result->object));
  return ok;
}
