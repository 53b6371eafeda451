// Atomic Tile ops: read, combine and write in one step. Instances run one after the other, so every step is one
// already; an acquire orders an instance after those before it, so that it may read what they wrote (numerics.md §6).
#include "lib/interpreter/tile.h"

#include <math.h>
#include <stdlib.h>

static void acquire(Machine *machine, const Instruction *instruction) {
  MlirStringRef order = wordOf(instruction, "order");
  if (tileStringEquals(order, "acquire") || tileStringEquals(order, "acq_rel"))
    machine->grid.hasAcquired = true;
}

// What the op does to one element.
typedef bool (*Update)(const Reach *reach, const Frame *frame, Place place, int64_t number, Element *old);

static Element elementAt(Value value, int64_t number) {
  return value.object ? arrayElements(arrayOf(value))[number] : value.scalar;
}

static bool updateElements(const Reach *reach, const Frame *frame, intptr_t mask, Update update, Array *old) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  if (arrayCount(old) == 0)
    return true;
  do {
    Place place;
    Element *x = &arrayElements(old)[number];
    bool skip = mask >= 0 && elementAt(operandOf(frame, reach->instruction, mask), number).i == 0;
    if (skip)
      *x = elementMissing(ELEMENT_POISON);
    else if (!reachPlace(reach, index, number, &place))
      return false;
    else if (!place.storage)
      return machineFail(reach->machine, reach->instruction->op, "is out of bounds: updates padding");
    else if (!update(reach, frame, place, number, x))
      return false;
    ++number;
  } while (indexNext(old->rank, old->sizes, index));
  return true;
}

// Groups of the row: memory, its indices, the mask (-1: none has one).
static bool runUpdate(Machine *machine, Frame *frame, const Instruction *instruction, intptr_t memory, Update update) {
  intptr_t base = groupBegin(instruction, memory);
  Reach reach = reachOf(machine, frame, instruction, base, groupBegin(instruction, memory + 1),
                        groupCount(instruction, memory + 1));
  intptr_t mask = groupCount(instruction, memory + 2) ? groupBegin(instruction, memory + 2) : -1;
  MlirType type = tileOperandType(instruction->op, base);
  if (mlirTypeIsARankedTensor(type) || mlirTypeIsAInteger(type))
    reach.bytes = (instruction->in.width + 7) / 8;
  reach.bounds = BoundsTrap;
  acquire(machine, instruction);
  Array *old = newResult(machine, instruction, 0);
  bool ok = old && updateElements(&reach, frame, mask, update, old);
  if (old)
    setArray(frame, instruction, 0, old);
  return ok;
}

static bool updateRmw(const Reach *reach, const Frame *frame, Place place, int64_t number, Element *old) {
  MlirStringRef kind = wordOf(reach->instruction, "kind");
  char operation[16];
  snprintf(operation, sizeof operation, "%.*s", (int)kind.length, kind.data);
  Element x = elementAt(operandOf(frame, reach->instruction, 0), number);
  const int64_t *grid = reach->machine->grid.sizes;
  double terms = (double)(grid[0] * grid[1] * grid[2]) + 1;
  return combineAt(reach->machine, reach->instruction, operation, &reach->instruction->in, place, x, terms, old);
}

bool executeTileAtomicRmw(Machine *machine, Frame *frame, const Instruction *instruction) {
  return runUpdate(machine, frame, instruction, 1, updateRmw);
}

// Bit for bit: -0 is not +0, and a nan equals itself.
static bool updateCas(const Reach *reach, const Frame *frame, Place place, int64_t number, Element *old) {
  const Format *format = &reach->instruction->in;
  Element compare = elementAt(operandOf(frame, reach->instruction, 0), number);
  Element x = elementAt(operandOf(frame, reach->instruction, 1), number), seen = placePeek(&place);
  if (!elementExpect(reach->machine, reach->instruction, seen, "compares with") ||
      !elementExpect(reach->machine, reach->instruction, compare, "compares with"))
    return false;
  bool same = format->isFloat ? formatToBits(format, seen.f) == formatToBits(format, compare.f) : seen.i == compare.i;
  *old = seen;
  return combineAt(reach->machine, reach->instruction, "xchg", format, place, same ? x : seen, 1, old);
}

bool executeTileAtomicCas(Machine *machine, Frame *frame, const Instruction *instruction) {
  return runUpdate(machine, frame, instruction, 2, updateCas);
}

bool executeTileAtomicLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = reachOf(machine, frame, instruction, 0, 1, instruction->numOperands - 1);
  Place place;
  acquire(machine, instruction);
  if (!reachPlace(&reach, NULL, 0, &place))
    return false;
  Element x = placePeek(&place);
  setResult(frame, instruction, 0, valueOfElement(x));
  return elementExpect(machine, instruction, x, "reads") && placeTouch(machine, instruction, &place, AccessUpdate);
}

bool executeTileAtomicStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = reachOf(machine, frame, instruction, 1, 2, instruction->numOperands - 2);
  Place place;
  Element x = operandOf(frame, instruction, 0).scalar;
  if (!reachPlace(&reach, NULL, 0, &place) || !elementExpect(machine, instruction, x, "writes") ||
      !placeTouch(machine, instruction, &place, AccessUpdate))
    return false;
  placePut(&place, x);
  return true;
}
