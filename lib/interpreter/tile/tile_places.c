// Where the elements of a tile lie: through views, memrefs, addresses and buffers; reading and writing them there.
// View: element t of tile i is i * step + t * stride along each axis; outside memory it is padding (numerics.md §5).
#include "lib/interpreter/tile/tile.h"
#include "upstream/arith.h"

#include <math.h>
#include <string.h>

Reach interpretReachOf(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t base,
                       intptr_t begin, intptr_t count) {
  Reach reach = {machine, instruction, operandOf(frame, instruction, base), .count = (int)count};
  for (intptr_t i = 0; i < count; ++i)
    reach.indices[i] = operandOf(frame, instruction, begin + i);
  MlirStringRef bounds = interpretWordOf(instruction, "bounds");
  reach.bounds = tileStringEquals(bounds, "clamp")  ? BoundsClamp
                 : tileStringEquals(bounds, "drop") ? BoundsDrop
                                                    : BoundsTrap;
  return reach;
}

Element interpretReachPadding(const Reach *reach) {
  return valueIsView(reach->base) ? viewOf(reach->base)->padding : elementMissing(ELEMENT_UNWRITTEN);
}

static bool outside(const Reach *reach, int64_t position, int axis, int64_t size) {
  return interpretFail(reach->machine, reach->instruction->op,
                       "is out of bounds: index %lld of dimension %d, which has size %lld", (long long)position, axis,
                       (long long)size);
}

// An index that the program computed, by `bounds`; *isInside false: dropped.
static bool applyBounds(const Reach *reach, int axis, int64_t size, int64_t *position, bool *isInside) {
  if (*position >= 0 && *position < size)
    return true;
  switch (reach->bounds) {
  case BoundsTrap:
    return outside(reach, *position, axis, size);
  case BoundsClamp:
    *position = *position < 0 ? 0 : size - 1;
    *isInside &= size > 0;
    return true;
  case BoundsPad:
  case BoundsDrop:
    *isInside = false;
    return true;
  }
  return true;
}

static bool indexElement(const Reach *reach, InterpretValue index, int64_t number, int64_t *position) {
  Element x = index.object ? arrayElements(arrayOf(index))[number] : index.scalar;
  return interpretReadInteger(reach->machine, reach->instruction, x, position);
}

//===--- single elements --------------------------------------------------------------===//

// Keeps the bits and changes the type. What bits an uncertain number has, nobody knows.
static Element recast(const Format *from, const Format *to, Element x) {
  if (!from || elementIsMissing(x))
    return x;
  uint64_t bits = from->isFloat ? interpretFormatToBits(from, x.f) : interpretFormatUnsigned(from, x.i);
  Element result = to->isFloat ? elementOfFloat(interpretFormatFromBits(to, bits), 0)
                               : elementOfInteger(interpretFormatWrap(to, bits));
  result.bound = x.bound == 0 ? 0 : INFINITY;
  return result;
}

Element interpretPlacePeek(const InterpretPlace *place) {
  Element x = recast(place->stored, place->seen, place->storage->elements[place->at]);
  return place->packing && !elementIsMissing(x) ? interpretPackingGet(place->packing, x, place->position) : x;
}

bool interpretPlaceTouch(Machine *machine, const Instruction *instruction, const InterpretPlace *place,
                         AccessKind kind) {
  return place->packing ? interpretMemoryTouchPart(machine, instruction, place->storage, place->at, place->position,
                                                   place->packing->count, kind)
                        : interpretMemoryTouch(machine, instruction, place->storage, place->at, kind);
}

bool interpretPlaceRead(Machine *machine, const Instruction *instruction, const InterpretPlace *place, Element *x) {
  if (!place->packing) {
    bool ok = interpretMemoryRead(machine, instruction, place->storage, place->at, x);
    *x = recast(place->stored, place->seen, *x);
    return ok;
  }
  *x = interpretPlacePeek(place);
  return interpretMemoryExpectAlive(machine, instruction, place->storage) &&
         interpretElementExpect(machine, instruction, *x, "reads") &&
         interpretPlaceTouch(machine, instruction, place, AccessRead);
}

void interpretPlacePut(const InterpretPlace *place, Element x) {
  Element *to = &place->storage->elements[place->at];
  *to = place->packing ? interpretPackingSet(place->packing, *to, place->position, x)
                       : recast(place->seen, place->stored, x);
}

bool interpretPlaceWrite(Machine *machine, const Instruction *instruction, const InterpretPlace *place, Element x) {
  if (!place->packing)
    return interpretMemoryWrite(machine, instruction, place->storage, place->at, recast(place->seen, place->stored, x));
  if (!interpretMemoryExpectAlive(machine, instruction, place->storage) ||
      !interpretElementExpect(machine, instruction, x, "writes") ||
      !interpretPlaceTouch(machine, instruction, place, AccessWrite))
    return false;
  interpretPlacePut(place, x);
  return true;
}

//===--- places -------------------------------------------------------------------------===//

static bool placeInView(const Reach *reach, const int64_t *index, InterpretPlace *place) {
  const InterpretView *view = viewOf(reach->base);
  const InterpretPacking *packing = view->packing;
  bool isInside = true;
  if (view->isOutside)
    return interpretFail(reach->machine, reach->instruction->op,
                         "is out of bounds: the view fixes a dimension outside of the memref");
  int64_t at = view->memory->offset, inBlock = 0;
  for (int axis = 0; axis < view->rank; ++axis) {
    int64_t position, size = view->sizes[axis];
    if (!indexElement(reach, reach->indices[axis], index[axis], &position))
      return false;
    if (reach->indices[axis].object) {
      if (!applyBounds(reach, axis, size, &position, &isInside))
        return false;
    } else {
      position = position * view->steps[axis] + index[axis] * view->strides[axis];
      isInside &= position >= 0 && position < size;
    }
    int64_t extent = packing ? packing->extents[axis] : 1;
    if (isInside)
      inBlock = inBlock * extent + position % extent;
    at += position / extent * view->memory->strides[axis];
  }
  *place = (InterpretPlace){isInside ? view->memory->storage : NULL, at, packing};
  if (packing && isInside)
    place->position = packing->positions[inBlock];
  return true;
}

static bool placeInMemref(const Reach *reach, int64_t number, InterpretPlace *place) {
  const Array *array = arrayOf(reach->base);
  bool isInside = true;
  int64_t at = array->offset;
  for (int axis = 0; axis < array->rank; ++axis) {
    int64_t position;
    if (!indexElement(reach, reach->indices[axis], number, &position) ||
        !applyBounds(reach, axis, array->sizes[axis], &position, &isInside))
      return false;
    at += position * array->strides[axis];
  }
  *place = (InterpretPlace){isInside ? array->storage : NULL, at};
  return true;
}

static bool placeAtAddress(const Reach *reach, int64_t number, InterpretPlace *place) {
  int64_t address;
  uint64_t offset;
  if (!indexElement(reach, reach->base, number, &address))
    return false;
  const Addressed *found = interpretStorageAt(reach->machine, (uint64_t)address, &offset);
  const Format *format = reach->format;
  uint64_t bytes = (format->width + 7) / 8;
  bool isInside = found && offset % bytes == 0 && (int64_t)(offset / bytes) < found->storage->count;
  if (!isInside && reach->bounds != BoundsDrop)
    return interpretFail(reach->machine, reach->instruction->op, "is out of bounds: nothing lies at address 0x%llx",
                         (unsigned long long)address);
  *place = (InterpretPlace){isInside ? found->storage : NULL, isInside ? (int64_t)(offset / bytes) : 0};
  if (!isInside || interpretFormatEqual(&found->format, format))
    return true;
  place->stored = &found->format;
  place->seen = format;
  return found->format.width == format->width ||
         interpretUnknown(reach->machine, reach->instruction->op,
                          "not interpreted: elements of %u bits at the address of memory with elements of %u bits",
                          format->width, found->format.width);
}

// Buffers and tiles are arrays named whole.
bool interpretReachPlace(const Reach *reach, const int64_t *index, int64_t number, InterpretPlace *place) {
  if (valueIsView(reach->base))
    return placeInView(reach, index, place);
  if (reach->format)
    return placeAtAddress(reach, number, place);
  if (reach->count)
    return placeInMemref(reach, number, place);
  const Array *array = arrayOf(reach->base);
  *place = (InterpretPlace){array->storage, interpretPlaceOf(array, index)};
  return true;
}

// A tile named by its number, not by those of elements; its elements are the memory's own.
static bool isTileOfView(const Reach *reach) {
  if (!valueIsView(reach->base) || viewOf(reach->base)->packing || viewOf(reach->base)->rank == 0)
    return false;
  for (int i = 0; i < reach->count; ++i)
    if (reach->indices[i].object)
      return false;
  return true;
}

// A row of such a tile along its last axis: where it begins (storage null: it is outside), how far apart its elements
// are, and which of them lie inside.
typedef struct RowOfView {
  Storage *storage;
  int64_t at, step, begin, end;
} RowOfView;

static bool findRow(const Reach *reach, int64_t *index, RowOfView *row) {
  const InterpretView *view = viewOf(reach->base);
  int axis = view->rank - 1;
  int64_t size = view->sizes[axis], stride = view->strides[axis], position;
  if (!indexElement(reach, reach->indices[axis], 0, &position))
    return false;
  position *= view->steps[axis];
  row->begin = position < 0 ? (-position + stride - 1) / stride : 0;
  row->end = position < size ? (size - position + stride - 1) / stride : 0;
  row->end = row->end < view->shape[axis] ? row->end : view->shape[axis];
  row->step = stride * view->memory->strides[axis];
  InterpretPlace first = {NULL, 0};
  if (row->begin < row->end) {
    index[axis] = row->begin;
    if (!placeInView(reach, index, &first))
      return false;
    index[axis] = 0;
  }
  row->storage = first.storage;
  row->at = first.at;
  return true;
}

// Bytes of an element of the view's memory.
static int64_t bytesOfElement(const Reach *reach) {
  MlirOperation op = reach->instruction->op;
  Format format = {.width = 0};
  for (intptr_t i = 0; !format.width && i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsAView(tileOperandType(op, i)))
      interpretFormatOf(tileViewTypeGetElementType(tileOperandType(op, i)), &format);
  return (format.width + 7) / 8;
}

static bool readRow(const Reach *reach, int64_t *index, int64_t length, Element *to, int64_t *inside) {
  RowOfView row;
  if (!findRow(reach, index, &row))
    return false;
  *inside += row.storage ? row.end - row.begin : 0;
  for (int64_t k = 0; k < length; ++k)
    if (!row.storage || k < row.begin || k >= row.end)
      to[k] = interpretReachPadding(reach);
    else if (!interpretMemoryRead(reach->machine, reach->instruction, row.storage, row.at + (k - row.begin) * row.step,
                                  &to[k]))
      return false;
  return true;
}

static bool writeRow(const Reach *reach, int64_t *index, int64_t length, const Element *from, int64_t *inside) {
  RowOfView row;
  if (!findRow(reach, index, &row))
    return false;
  *inside += row.storage ? row.end - row.begin : 0;
  for (int64_t k = row.begin; row.storage && k < row.end && k < length; ++k)
    if (!interpretMemoryWrite(reach->machine, reach->instruction, row.storage, row.at + (k - row.begin) * row.step,
                              from[k]))
      return false;
  return true;
}

static bool eachRow(const Reach *reach, const Array *tile, bool isRead) {
  int64_t index[InterpreterMaxRank] = {0}, rows[InterpreterMaxRank], length = tile->sizes[tile->rank - 1];
  int64_t inside = 0;
  Element *elements = arrayElements(tile);
  memcpy(rows, tile->sizes, (size_t)tile->rank * sizeof *rows);
  rows[tile->rank - 1] = 1;
  do {
    if (!(isRead ? readRow(reach, index, length, elements, &inside)
                 : writeRow(reach, index, length, elements, &inside)))
      return false;
    elements += length;
  } while (interpretIndexNext(tile->rank, rows, index));
  *(isRead ? &reach->machine->viewBytesRead : &reach->machine->viewBytesWritten) += inside * bytesOfElement(reach);
  return true;
}

bool interpretReachRead(const Reach *reach, Array *to) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  InterpretPlace place;
  if (interpretArrayCount(to) == 0)
    return true;
  if (isTileOfView(reach) && interpretArrayIsContiguous(to))
    return eachRow(reach, to, true);
  do {
    Element *x = &arrayElements(to)[number];
    if (!interpretReachPlace(reach, index, number, &place))
      return false;
    if (!place.storage)
      *x = interpretReachPadding(reach);
    else if (!interpretPlaceRead(reach->machine, reach->instruction, &place, x))
      return false;
    ++number;
  } while (interpretIndexNext(to->rank, to->sizes, index));
  return true;
}

bool interpretReachWrite(const Reach *reach, const Array *from) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  InterpretPlace place;
  if (interpretArrayCount(from) == 0)
    return true;
  if (isTileOfView(reach) && interpretArrayIsContiguous(from))
    return eachRow(reach, from, false);
  do {
    Element x = from->storage->elements[interpretPlaceOf(from, index)];
    if (!interpretReachPlace(reach, index, number++, &place))
      return false;
    if (place.storage && !interpretPlaceWrite(reach->machine, reach->instruction, &place, x))
      return false;
  } while (interpretIndexNext(from->rank, from->sizes, index));
  return true;
}

//===--- combining ------------------------------------------------------------------===//

const Row *interpretCombineRow(MlirStringRef kind, const Format *format) {
  static const struct {
    const char *kind;
    ArithOp ofFloats, ofIntegers;
  } meanings[] = {
      {"add", ArithOp_AddF, ArithOp_AddI},      {"fadd", ArithOp_AddF, ArithOp_AddF},
      {"max", ArithOp_MaximumF, ArithOp_MaxSI}, {"min", ArithOp_MinimumF, ArithOp_MinSI},
      {"umax", ArithOp_MaxUI, ArithOp_MaxUI},   {"umin", ArithOp_MinUI, ArithOp_MinUI},
      {"and", ArithOp_AndI, ArithOp_AndI},      {"or", ArithOp_OrI, ArithOp_OrI},
      {"xor", ArithOp_XOrI, ArithOp_XOrI},
  };
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; ++i)
    if (tileStringEquals(kind, meanings[i].kind))
      return interpretRowFind(format->isFloat ? meanings[i].ofFloats : meanings[i].ofIntegers);
  return NULL;
}

// A float sum grows its bound by every term's share, as in any order (§4).
bool interpretCombineAt(Machine *machine, const Instruction *instruction, const char *operation, const Format *format,
                        InterpretPlace place, Element x, double terms, Element *old) {
  *old = interpretPlacePeek(&place);
  const Row *row = interpretCombineRow(tileString(operation), format);
  Element result = x;
  if (!interpretElementExpect(machine, instruction, *old, "combines with") ||
      !interpretPlaceTouch(machine, instruction, &place, AccessUpdate) ||
      (row && !interpretCombineElements(machine, instruction, row, format, *old, x, &result)) ||
      !interpretElementExpect(machine, instruction, result, "writes"))
    return false;
  if (format->isFloat && row && row->kind == ArithOp_AddF)
    result.bound += format->epsilon * (2 * fabs(old->f) + terms * fabs(x.f));
  interpretPlacePut(&place, result);
  return true;
}
