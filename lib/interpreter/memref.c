// The ops of memref: memory that is written in place. Reads and writes go through memory.c, which knows who touched
// what.
#include "lib/interpreter/upstream.h"

#include <stdlib.h>

bool executeDealloc(Machine *machine, Frame *frame, const Instruction *instruction) {
  Storage *storage = arrayOperand(frame, instruction, 0)->storage;
  if (storage->isDead)
    return machineFail(machine, instruction->op, "deallocates memory twice");
  storage->isDead = true;
  return true;
}

bool executeLoad(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  int64_t place;
  Element x;
  if (!checkedPlace(machine, frame, instruction, array, 1, &place) ||
      !memoryRead(machine, instruction, array->storage, place, &x))
    return false;
  setResult(frame, instruction, 0, valueOfElement(x));
  return true;
}

bool executeStore(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 1);
  int64_t place;
  return checkedPlace(machine, frame, instruction, array, 2, &place) &&
         memoryWrite(machine, instruction, array->storage, place, operandOf(frame, instruction, 0).scalar);
}

bool executeSubview(Machine *machine, Frame *frame, const Instruction *instruction) {
  Array *part =
      sliceOf(machine, frame, instruction, arrayOperand(frame, instruction, 0), 1, tileResultType(instruction->op, 0));
  if (part)
    setResult(frame, instruction, 0, valueOfObject(&part->object));
  return part != NULL;
}

bool copyElements(Machine *machine, const Instruction *instruction, const Array *from, const Array *to) {
  int64_t index[InterpreterMaxRank] = {0};
  Element x;
  for (int i = 0; i < from->rank; i++)
    if (from->sizes[i] != to->sizes[i])
      return machineFail(machine, instruction->op, "copies size %lld to size %lld in dimension %d",
                         (long long)from->sizes[i], (long long)to->sizes[i], i);
  if (arrayCount(from) == 0)
    return true;
  do
    if (!memoryRead(machine, instruction, from->storage, placeOf(from, index), &x) ||
        !memoryWrite(machine, instruction, to->storage, placeOf(to, index), x))
      return false;
  while (indexNext(from->rank, from->sizes, index));
  return machineStep(machine, instruction->op, arrayCount(from));
}

bool executeCopy(Machine *machine, Frame *frame, const Instruction *instruction) {
  return copyElements(machine, instruction, arrayOperand(frame, instruction, 0), arrayOperand(frame, instruction, 1));
}

bool executePointer(Machine *machine, Frame *frame, const Instruction *instruction) {
  unsigned bytes = (instruction->in.width + 7) / 8;
  uint64_t address = storageAddress(machine, arrayOperand(frame, instruction, 0)->storage, bytes);
  setResult(frame, instruction, 0, valueOfInteger((int64_t)address));
  return address || machineOutOfMemory(machine, instruction->op);
}

//===--- globals ------------------------------------------------------------------------===//

static Array *initialMemory(Machine *machine, const Instruction *instruction, MlirOperation op) {
  MlirAttribute initial = tileOpAttribute(op, "initial_value");
  if (mlirAttributeIsNull(initial) || !mlirAttributeIsADenseElements(initial))
    return newResult(machine, instruction, 0);
  Value value = {.object = NULL};
  return valueOfAttribute(initial, &value) ? arrayOf(value) : NULL;
}

bool executeGetGlobal(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute name = tileOpAttribute(instruction->op, "name");
  MlirOperation op = machineFindSymbol(machine, mlirFlatSymbolRefAttrGetValue(name));
  Global *global = machine->globals;
  while (global && !mlirOperationEqual(global->op, op))
    global = global->next;
  if (!global) {
    global = malloc(sizeof *global);
    if (!global)
      return machineOutOfMemory(machine, instruction->op);
    *global = (Global){op, initialMemory(machine, instruction, op), machine->globals};
    machine->globals = global;
  }
  if (!global->memory)
    return machineFail(machine, instruction->op, "has an initial value that the interpreter cannot read");
  setResult(frame, instruction, 0, valueRetain(valueOfObject(&global->memory->object)));
  return true;
}
