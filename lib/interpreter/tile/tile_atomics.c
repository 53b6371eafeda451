// Atomic Tile ops: read, combine and write in one step. Instances run one after the other, so every step is one
// already; an acquire orders an instance after those before it, so that it may read what they wrote (numerics.md §6).
#include "lib/interpreter/tile/tile.h"

#include <math.h>
#include <stdlib.h>

static void acquire(Machine *machine, const Instruction *instruction) {
  MlirStringRef order = interpretWordOf(instruction, "order");
  if (tileStringEquals(order, "acquire") || tileStringEquals(order, "acq_rel"))
    machine->grid.hasAcquired = true;
}

// What the op does to one element.
typedef bool (*Update)(const Reach *reach, const Frame *frame, InterpretPlace place, int64_t number, Element *old);

static Element elementAt(InterpretValue value, int64_t number) {
  return value.object ? arrayElements(arrayOf(value))[number] : value.scalar;
}

static bool updateElements(const Reach *reach, const Frame *frame, intptr_t mask, Update update, Array *old) {
  int64_t index[InterpreterMaxRank] = {0}, number = 0;
  if (interpretArrayCount(old) == 0)
    return true;
  do {
    InterpretPlace place;
    Element *x = &arrayElements(old)[number];
    bool skip = mask >= 0 && elementAt(operandOf(frame, reach->instruction, mask), number).i == 0;
    if (skip)
      *x = elementMissing(ELEMENT_POISON);
    else if (!interpretReachPlace(reach, index, number, &place))
      return false;
    else if (!place.storage)
      return interpretFail(reach->machine, reach->instruction->op, "is out of bounds: updates padding");
    else if (!update(reach, frame, place, number, x))
      return false;
    ++number;
  } while (interpretIndexNext(old->rank, old->sizes, index));
  return true;
}

// Groups of the row: memory, its indices, the mask (-1: none has one).
static bool runUpdate(Machine *machine, Frame *frame, const Instruction *instruction, intptr_t memory, Update update) {
  intptr_t base = interpretGroupBegin(instruction, memory);
  Reach reach = interpretReachOf(machine, frame, instruction, base, interpretGroupBegin(instruction, memory + 1),
                                 interpretGroupCount(instruction, memory + 1));
  intptr_t mask = interpretGroupCount(instruction, memory + 2) ? interpretGroupBegin(instruction, memory + 2) : -1;
  MlirType type = tileOperandType(instruction->op, base);
  if (mlirTypeIsARankedTensor(type) || mlirTypeIsAInteger(type))
    reach.format = &instruction->in;
  reach.bounds = BoundsTrap;
  acquire(machine, instruction);
  Array *old = interpretNewResult(machine, instruction, 0);
  bool ok = old && updateElements(&reach, frame, mask, update, old);
  if (old)
    interpretSetArray(frame, instruction, 0, old);
  return ok;
}

static bool updateRmw(const Reach *reach, const Frame *frame, InterpretPlace place, int64_t number, Element *old) {
  MlirStringRef kind = interpretWordOf(reach->instruction, "kind");
  char operation[16];
  snprintf(operation, sizeof operation, "%.*s", (int)kind.length, kind.data);
  Element x = elementAt(operandOf(frame, reach->instruction, 0), number);
  const int64_t *grid = reach->machine->grid.sizes;
  double terms = (double)(grid[0] * grid[1] * grid[2]) + 1;
  return interpretCombineAt(reach->machine, reach->instruction, operation, &reach->instruction->in, place, x, terms,
                            old);
}

bool interpretTileAtomicRmw(Machine *machine, Frame *frame, const Instruction *instruction) {
  return runUpdate(machine, frame, instruction, 1, updateRmw);
}

// Bit for bit: -0 is not +0, and a nan equals itself.
static bool updateCas(const Reach *reach, const Frame *frame, InterpretPlace place, int64_t number, Element *old) {
  const Format *format = &reach->instruction->in;
  Element compare = elementAt(operandOf(frame, reach->instruction, 0), number);
  Element x = elementAt(operandOf(frame, reach->instruction, 1), number), seen = interpretPlacePeek(&place);
  if (!interpretElementExpect(reach->machine, reach->instruction, seen, "compares with") ||
      !interpretElementExpect(reach->machine, reach->instruction, compare, "compares with"))
    return false;
  bool same = format->isFloat ? interpretFormatToBits(format, seen.f) == interpretFormatToBits(format, compare.f)
                              : seen.i == compare.i;
  *old = seen;
  return interpretCombineAt(reach->machine, reach->instruction, "xchg", format, place, same ? x : seen, 1, old);
}

bool interpretTileAtomicCas(Machine *machine, Frame *frame, const Instruction *instruction) {
  return runUpdate(machine, frame, instruction, 2, updateCas);
}

bool interpretTileAtomicLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 0, 1, instruction->numOperands - 1);
  InterpretPlace place;
  acquire(machine, instruction);
  if (!interpretReachPlace(&reach, NULL, 0, &place))
    return false;
  Element x = interpretPlacePeek(&place);
  setResult(frame, instruction, 0, valueOfElement(x));
  return interpretElementExpect(machine, instruction, x, "reads") &&
         interpretPlaceTouch(machine, instruction, &place, AccessUpdate);
}

bool interpretTileAtomicWait(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 0, 1, instruction->numOperands - 2);
  InterpretPlace place;
  Element least = operandOf(frame, instruction, instruction->numOperands - 1).scalar;
  acquire(machine, instruction);
  if (!interpretReachPlace(&reach, NULL, 0, &place))
    return false;
  Element seen = interpretPlacePeek(&place);
  if (!interpretElementExpect(machine, instruction, seen, "reads") ||
      !interpretPlaceTouch(machine, instruction, &place, AccessUpdate))
    return false;
  return seen.i >= least.i || interpretFail(machine, instruction->op,
                                            "waits for %lld where %lld is; no program that runs before writes more",
                                            (long long)least.i, (long long)seen.i);
}

bool interpretTileAtomicStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  Reach reach = interpretReachOf(machine, frame, instruction, 1, 2, instruction->numOperands - 2);
  InterpretPlace place;
  Element x = operandOf(frame, instruction, 0).scalar;
  if (!interpretReachPlace(&reach, NULL, 0, &place) || !interpretElementExpect(machine, instruction, x, "writes") ||
      !interpretPlaceTouch(machine, instruction, &place, AccessUpdate))
    return false;
  interpretPlacePut(&place, x);
  return true;
}
