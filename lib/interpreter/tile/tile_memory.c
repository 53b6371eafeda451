// Tile ops on memory: views, load, store, gather, scatter, atomics. Where elements lie: tile_places.c.
#include "dialects/tile/ops.h"
#include "lib/interpreter/tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===--- views --------------------------------------------------------------------===//

static Element paddingOf(MlirStringRef word, const Format *format) {
  if (!format->isFloat)
    return elementOfInteger(0);
  double x = tileStringEquals(word, "neg_zero")  ? -0.0
             : tileStringEquals(word, "nan")     ? (double)NAN
             : tileStringEquals(word, "inf")     ? (double)INFINITY
             : tileStringEquals(word, "neg_inf") ? -(double)INFINITY
                                                 : 0;
  return elementOfFloat(formatRound(format, x), 0);
}

// The memref without its fixed dimensions, in the view's order of axes.
static bool fixDimensions(Machine *machine, const Frame *frame, const Instruction *instruction, MlirType type,
                          Array **memory, bool *isOutside) {
  const Array *source = arrayOperand(frame, instruction, 0);
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank], place = source->offset;
  int kept[InterpreterMaxRank], rank = 0, fixed = 0;
  *isOutside = false;
  for (int i = 0; i < source->rank; ++i) {
    if (fixed < interpretCountIn(instruction, "fixed") && interpretNumberIn(instruction, "fixed", fixed) == i) {
      int64_t index;
      if (!interpretIndexOperand(machine, frame, instruction, 1 + fixed++, &index))
        return false;
      *isOutside |= index < 0 || index >= source->sizes[i];
      place += index * source->strides[i];
    } else
      kept[rank++] = i;
  }
  for (int axis = 0; axis < rank; ++axis) {
    int dimension = kept[tileViewTypeGetOrder(type, axis)];
    sizes[axis] = source->sizes[dimension];
    strides[axis] = source->strides[dimension];
  }
  *memory = interpretArrayAlias(source, place, rank, sizes, strides);
  return *memory || interpretOutOfMemory(machine, instruction->op);
}

void *tilePlan(MlirOperation op) {
  Format word;
  if (!tileViewOpIsA(op) || mlirAttributeIsNull(tileViewTypeGetPacked(tileViewOpGetResultType(op))) ||
      !interpretFormatOf(interpretElementTypeOf(tileViewOpGetSourceType(op)), &word))
    return NULL;
  return interpretPackingCreate(tileViewOpGetResultType(op), &word);
}

bool interpretTileView(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileViewOpGetResultType(instruction->op);
  const InterpretPacking *packing = instruction->plan;
  Format format = packing ? packing->element : instruction->in;
  Array *memory;
  bool isOutside;
  if (!packing && !mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return interpretFail(machine, instruction->op,
                         "not interpreted: a packed view requires words of integers and a layout that places each of a "
                         "word's elements once");
  if (!fixDimensions(machine, frame, instruction, type, &memory, &isOutside))
    return false;
  InterpretView *view = interpretViewCreate(memory);
  valueRelease(valueOfObject(&memory->object));
  if (!view)
    return interpretOutOfMemory(machine, instruction->op);
  view->isOutside = isOutside;
  view->packing = packing;
  view->padding = paddingOf(tileViewTypeGetPad(type), &format);
  for (int axis = 0; axis < view->rank; ++axis) {
    view->sizes[axis] = view->memory->sizes[axis] * (packing ? packing->extents[axis] : 1);
    view->shape[axis] = tileViewTypeGetSize(type, axis);
    view->steps[axis] = tileViewTypeGetStep(type, axis);
    view->strides[axis] = tileViewTypeGetStride(type, axis);
  }
  setResult(frame, instruction, 0, valueOfObject(&view->object));
  return true;
}

bool interpretTileNumTiles(Machine *machine, Frame *frame, const Instruction *instruction) {
  const InterpretView *view = viewOf(operandOf(frame, instruction, 0));
  int64_t axis = interpretIntegerOf(instruction, "dim"), size = view->sizes[axis], step = view->steps[axis];
  int64_t span = (view->shape[axis] - 1) * view->strides[axis] + 1;
  int64_t tiles = size <= span ? size > 0 : (size - span + step + step - 1) / step;
  setResult(frame, instruction, 0, valueOfInteger(tiles));
  return true;
}

bool interpretTileInBounds(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 0, 1, instruction->numOperands - 1);
  Array *result = interpretNewResult(machine, instruction, 0);
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  bool ok = result != NULL;
  InterpretPlace place;
  if (ok && interpretArrayCount(result))
    do {
      ok = interpretReachPlace(&reach, index, number, &place);
      arrayElements(result)[number++] = elementOfInteger(place.storage ? -1 : 0);
    } while (ok && interpretIndexNext(result->rank, result->sizes, index));
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return ok;
}

bool interpretTileMemrefAt(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank], offset, address;
  intptr_t nextSize = interpretGroupBegin(instruction, 1), nextStride = interpretGroupBegin(instruction, 2);
  bool isContiguous = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  if (!isContiguous)
    mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  for (int i = 0; i < rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicDim(type, i) &&
        !interpretIndexOperand(machine, frame, instruction, nextSize++, &sizes[i]))
      return false;
    if (!isContiguous && mlirShapedTypeIsDynamicStrideOrOffset(strides[i]) &&
        !interpretIndexOperand(machine, frame, instruction, nextStride++, &strides[i]))
      return false;
  }
  uint64_t from, bytes = (instruction->out.width + 7) / 8;
  if (!interpretIndexOperand(machine, frame, instruction, 0, &address))
    return false;
  const Addressed *found = interpretStorageAt(machine, (uint64_t)address, &from);
  if (!found || from % bytes != 0)
    return interpretFail(machine, instruction->op, "makes memory at 0x%llx, where there is none",
                         (unsigned long long)address);
  if (!interpretFormatEqual(&found->format, &instruction->out))
    return interpretUnknown(machine, instruction->op,
                            "not interpreted: memory at the address of elements of another type");
  Storage *storage = found->storage;
  const Array whole = {.storage = storage};
  Array *array = interpretArrayAlias(&whole, (int64_t)(from / bytes), rank, sizes, isContiguous ? NULL : strides);
  int64_t last = array ? array->offset : 0;
  for (int i = 0; array && i < rank; ++i)
    last += (sizes[i] - 1) * array->strides[i];
  if (!array)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&array->object));
  return interpretArrayCount(array) == 0 || last < storage->count ||
         interpretFail(machine, instruction->op, "reaches %lld elements beyond the memory at its address",
                       (long long)(last - storage->count + 1));
}

//===--- load and store ---------------------------------------------------------------===//

Array *tileOperand(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t index) {
  InterpretValue value = operandOf(frame, instruction, index);
  if (value.object)
    return arrayOf(valueRetain(value));
  Array *array = interpretNewArray(machine, instruction, 0, NULL);
  if (array)
    *arrayElements(array) = value.scalar;
  return array;
}

bool interpretTileLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 0, 1, instruction->numOperands - 1);
  Array *result = interpretNewResult(machine, instruction, 0);
  bool ok = result && interpretReachRead(&reach, result);
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return ok;
}

// How many terms may meet in one element: one per instance, for each element of what one instance scatters.
static double termsOf(const Machine *machine, int64_t perInstance) {
  const int64_t *sizes = machine->grid.sizes;
  return mlirOperationIsNull(machine->grid.launch) ? (double)perInstance
                                                   : (double)(sizes[0] * sizes[1] * sizes[2] * perInstance);
}

static bool isMasked(const Frame *frame, const Instruction *instruction, intptr_t mask, int64_t number) {
  if (mask < 0)
    return false;
  InterpretValue value = operandOf(frame, instruction, mask);
  return (value.object ? arrayElements(arrayOf(value))[number] : value.scalar).i == 0;
}

// Writes or combines every element that the mask lets through.
static bool writeElements(const Reach *reach, const Frame *frame, const Array *from, intptr_t mask, double terms) {
  const Instruction *instruction = reach->instruction;
  MlirStringRef combine = interpretWordOf(instruction, "combine");
  char operation[16];
  snprintf(operation, sizeof operation, "%.*s", (int)combine.length, combine.data);
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  if (interpretArrayCount(from) == 0)
    return true;
  do {
    Element x = from->storage->elements[interpretPlaceOf(from, index)], old;
    InterpretPlace place;
    bool skip = isMasked(frame, instruction, mask, number);
    if (!skip && !interpretReachPlace(reach, index, number, &place))
      return false;
    ++number;
    if (skip || !place.storage)
      continue;
    if (combine.length
            ? !interpretCombineAt(reach->machine, instruction, operation, &instruction->in, place, x, terms, &old)
            : !interpretPlaceWrite(reach->machine, instruction, &place, x))
      return false;
  } while (interpretIndexNext(from->rank, from->sizes, index));
  return true;
}

bool interpretTileStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 1, 2, instruction->numOperands - 2);
  Array *from = tileOperand(machine, frame, instruction, 0);
  bool ok = from && interpretStep(machine, instruction->op, interpretArrayCount(from)) &&
            (interpretHasAttribute(instruction, "combine") ? writeElements(&reach, frame, from, -1, termsOf(machine, 1))
                                                           : interpretReachWrite(&reach, from));
  if (from)
    valueRelease(valueOfObject(&from->object));
  return ok;
}

//===--- gather and scatter ---------------------------------------------------------------===//

static intptr_t optionalOperand(const Instruction *instruction, intptr_t group) {
  return interpretGroupCount(instruction, group) ? interpretGroupBegin(instruction, group) : -1;
}

// A tile of i64 without indices holds addresses.
static void markAddresses(Reach *reach, MlirType base, const Format *element) {
  if (mlirTypeIsARankedTensor(base) || (reach->count == 0 && mlirTypeIsAInteger(base)))
    reach->format = element;
}

static bool gatherOnChip(Machine *machine, Frame *frame, const Instruction *instruction, const Reach *reach,
                         const int64_t *index, int64_t number, InterpretPlace *place) {
  const Array *source = arrayOf(reach->base);
  int axis = (int)interpretIntegerOf(instruction, "axis");
  int64_t at[InterpreterMaxRank], size = source->sizes[axis];
  memcpy(at, index, sizeof at);
  if (!interpretReadInteger(machine, instruction, arrayElements(arrayOf(reach->indices[0]))[number], &at[axis]))
    return false;
  bool isInside = at[axis] >= 0 && at[axis] < size;
  if (!isInside && reach->bounds == BoundsTrap)
    return interpretFail(machine, instruction->op, "is out of bounds: index %lld of dimension %d, which has size %lld",
                         (long long)at[axis], axis, (long long)size);
  if (!isInside && reach->bounds == BoundsClamp) {
    at[axis] = at[axis] < 0 ? 0 : size - 1;
    isInside = true;
  }
  *place = (InterpretPlace){isInside ? source->storage : NULL, isInside ? interpretPlaceOf(source, at) : 0};
  return true;
}

static Element elementElse(const Frame *frame, const Instruction *instruction, intptr_t other, const Reach *reach,
                           int64_t number) {
  if (other < 0)
    return valueIsView(reach->base)   ? interpretReachPadding(reach)
           : instruction->out.isFloat ? elementOfFloat(0, 0)
                                      : elementOfInteger(0);
  InterpretValue value = operandOf(frame, instruction, other);
  return value.object ? arrayElements(arrayOf(value))[number] : value.scalar;
}

static bool gatherElements(Machine *machine, Frame *frame, const Instruction *instruction, const Reach *reach,
                           Array *to) {
  intptr_t mask = optionalOperand(instruction, 2), other = optionalOperand(instruction, 3);
  bool isOnChip = interpretHasAttribute(instruction, "axis");
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  if (interpretArrayCount(to) == 0)
    return true;
  do {
    InterpretPlace place = {NULL, 0};
    Element *x = &arrayElements(to)[number];
    bool skip = isMasked(frame, instruction, mask, number);
    if (!skip && !(isOnChip ? gatherOnChip(machine, frame, instruction, reach, index, number, &place)
                            : interpretReachPlace(reach, index, number, &place)))
      return false;
    *x = elementElse(frame, instruction, other, reach, number++);
    if (place.storage && isOnChip)
      *x = interpretPlacePeek(&place);
    else if (place.storage && !interpretPlaceRead(machine, instruction, &place, x))
      return false;
  } while (interpretIndexNext(to->rank, to->sizes, index));
  return true;
}

bool interpretTileGather(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 0, interpretGroupBegin(instruction, 1),
                                 interpretGroupCount(instruction, 1));
  if (!interpretHasAttribute(instruction, "axis"))
    markAddresses(&reach, tileGatherOpGetSourceType(instruction->op), &instruction->out);
  Array *result = interpretNewResult(machine, instruction, 0);
  bool ok = result && gatherElements(machine, frame, instruction, &reach, result);
  if (result)
    interpretSetArray(frame, instruction, 0, result);
  return ok;
}

bool interpretTileScatter(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, interpretGroupBegin(instruction, 1),
                                 interpretGroupBegin(instruction, 2), interpretGroupCount(instruction, 2));
  markAddresses(&reach, tileOperandType(instruction->op, interpretGroupBegin(instruction, 1)), &instruction->in);
  Array *from = tileOperand(machine, frame, instruction, 0);
  bool ok =
      from && interpretStep(machine, instruction->op, interpretArrayCount(from)) &&
      writeElements(&reach, frame, from, optionalOperand(instruction, 3), termsOf(machine, interpretArrayCount(from)));
  if (from)
    valueRelease(valueOfObject(&from->object));
  return ok;
}
