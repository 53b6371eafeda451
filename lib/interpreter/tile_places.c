// Where the elements of a tile lie: through views, memrefs, addresses and buffers; reading and writing them there.
// View: element t of tile i is i * step + t * stride along each axis; outside memory it is padding (numerics.md §5).
#include "lib/interpreter/tile.h"

#include <math.h>
#include <string.h>

Reach reachOf(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t base, intptr_t begin,
              intptr_t count) {
  Reach reach = {machine, instruction, operandOf(frame, instruction, base), .count = (int)count};
  for (intptr_t i = 0; i < count; i++)
    reach.indices[i] = operandOf(frame, instruction, begin + i);
  MlirStringRef bounds = wordOf(instruction, "bounds");
  reach.bounds = tileStringEquals(bounds, "clamp")  ? BoundsClamp
                 : tileStringEquals(bounds, "drop") ? BoundsDrop
                                                    : BoundsTrap;
  return reach;
}

Element reachPadding(const Reach *reach) {
  return valueIsView(reach->base) ? viewOf(reach->base)->padding : elementMissing(ELEMENT_UNWRITTEN);
}

static bool outside(const Reach *reach, int64_t position, int axis, int64_t size) {
  return machineFail(reach->machine, reach->instruction->op,
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

static bool indexElement(const Reach *reach, Value index, int64_t number, int64_t *position) {
  Element x = index.object ? arrayElements(arrayOf(index))[number] : index.scalar;
  return readInteger(reach->machine, reach->instruction, x, position);
}

static bool placeInView(const Reach *reach, const int64_t *index, Place *place) {
  const View *view = viewOf(reach->base);
  bool isInside = !view->isOutside;
  int64_t at = view->memory->offset;
  for (int axis = 0; axis < view->rank; axis++) {
    int64_t position, size = view->memory->sizes[axis];
    if (!indexElement(reach, reach->indices[axis], index[axis], &position))
      return false;
    if (reach->indices[axis].object) {
      if (!applyBounds(reach, axis, size, &position, &isInside))
        return false;
    } else {
      position = position * view->steps[axis] + index[axis] * view->strides[axis];
      isInside &= position >= 0 && position < size;
    }
    at += position * view->memory->strides[axis];
  }
  *place = (Place){isInside ? view->memory->storage : NULL, at};
  return true;
}

static bool placeInMemref(const Reach *reach, int64_t number, Place *place) {
  const Array *array = arrayOf(reach->base);
  bool isInside = true;
  int64_t at = array->offset;
  for (int axis = 0; axis < array->rank; axis++) {
    int64_t position;
    if (!indexElement(reach, reach->indices[axis], number, &position) ||
        !applyBounds(reach, axis, array->sizes[axis], &position, &isInside))
      return false;
    at += position * array->strides[axis];
  }
  *place = (Place){isInside ? array->storage : NULL, at};
  return true;
}

static bool placeAtAddress(const Reach *reach, int64_t number, Place *place) {
  int64_t address;
  uint64_t offset;
  if (!indexElement(reach, reach->base, number, &address))
    return false;
  Storage *storage = storageAt(reach->machine, (uint64_t)address, &offset);
  bool isInside = storage && offset % reach->bytes == 0 && (int64_t)(offset / reach->bytes) < storage->count;
  if (!isInside && reach->bounds != BoundsDrop)
    return machineFail(reach->machine, reach->instruction->op, "is out of bounds: nothing lies at address 0x%llx",
                       (unsigned long long)address);
  *place = (Place){isInside ? storage : NULL, isInside ? (int64_t)(offset / reach->bytes) : 0};
  return true;
}

// Buffers and tiles are arrays named whole.
bool reachPlace(const Reach *reach, const int64_t *index, int64_t number, Place *place) {
  if (valueIsView(reach->base))
    return placeInView(reach, index, place);
  if (reach->bytes)
    return placeAtAddress(reach, number, place);
  if (reach->count)
    return placeInMemref(reach, number, place);
  const Array *array = arrayOf(reach->base);
  *place = (Place){array->storage, placeOf(array, index)};
  return true;
}

bool reachRead(const Reach *reach, Array *to) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  Place place;
  if (arrayCount(to) == 0)
    return true;
  do {
    Element *x = &arrayElements(to)[number];
    if (!reachPlace(reach, index, number, &place))
      return false;
    if (!place.storage)
      *x = reachPadding(reach);
    else if (!memoryRead(reach->machine, reach->instruction, place.storage, place.at, x))
      return false;
    ++number;
  } while (indexNext(to->rank, to->sizes, index));
  return true;
}

bool reachWrite(const Reach *reach, const Array *from) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  Place place;
  if (arrayCount(from) == 0)
    return true;
  do {
    Element x = from->storage->elements[placeOf(from, index)];
    if (!reachPlace(reach, index, number++, &place))
      return false;
    if (place.storage && !memoryWrite(reach->machine, reach->instruction, place.storage, place.at, x))
      return false;
  } while (indexNext(from->rank, from->sizes, index));
  return true;
}

//===--- combining ------------------------------------------------------------------===//

const Row *combineRow(MlirStringRef kind, const Format *format) {
  static const struct {
    const char *kind, *ofFloats, *ofIntegers;
  } meanings[] = {
      {"add", "arith.addf", "arith.addi"},      {"fadd", "arith.addf", "arith.addf"},
      {"max", "arith.maximumf", "arith.maxsi"}, {"min", "arith.minimumf", "arith.minsi"},
      {"umax", "arith.maxui", "arith.maxui"},   {"umin", "arith.minui", "arith.minui"},
      {"and", "arith.andi", "arith.andi"},      {"or", "arith.ori", "arith.ori"},
      {"xor", "arith.xori", "arith.xori"},
  };
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (tileStringEquals(kind, meanings[i].kind))
      return rowFind(tileString(format->isFloat ? meanings[i].ofFloats : meanings[i].ofIntegers));
  return NULL;
}

// A float sum grows its bound by every term's share, as in any order (§4).
bool combineAt(Machine *machine, const Instruction *instruction, const char *operation, const Format *format,
               Place place, Element x, double terms, Element *old) {
  *old = place.storage->elements[place.at];
  const Row *row = combineRow(tileString(operation), format);
  Element result = x;
  if (!elementExpect(machine, instruction, *old, "combines with") ||
      !memoryTouch(machine, instruction, place.storage, place.at, AccessUpdate) ||
      (row && !combineElements(machine, instruction, row, format, *old, x, &result)) ||
      !elementExpect(machine, instruction, result, "writes"))
    return false;
  if (format->isFloat && row && tileStringEquals(tileString(row->name), "arith.addf"))
    result.bound += format->epsilon * (2 * fabs(old->f) + terms * fabs(x.f));
  place.storage->elements[place.at] = result;
  return true;
}
