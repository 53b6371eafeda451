// The ops of memref: memory that is written in place. Reads and writes go through memory.c, which knows who touched
// what.
#include "lib/interpreter/upstream.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"

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
  for (int i = 0; i < from->rank; ++i)
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

//===--- other names for memory -----------------------------------------------------------===//

static bool giveAlias(Machine *machine, Frame *frame, const Instruction *instruction, Array *alias) {
  if (!alias)
    return machineOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&alias->object));
  return true;
}

bool executeMemrefTranspose(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  MlirAffineMap map = mlirAffineMapAttrGetValue(tileOpAttribute(instruction->op, "permutation"));
  int64_t sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  for (int i = 0; i < array->rank; ++i) {
    intptr_t from = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, i));
    sizes[i] = array->sizes[from];
    strides[i] = array->strides[from];
  }
  return giveAlias(machine, frame, instruction, arrayAlias(array, array->offset, array->rank, sizes, strides));
}

// Offset, sizes and strides anew, within the memory.
bool executeReinterpretCast(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  int64_t offset, sizes[InterpreterMaxRank], strides[InterpreterMaxRank];
  int rank = (int)mlirShapedTypeGetRank(tileResultType(instruction->op, 0)), cursor = 1;
  if (!readMixed(machine, frame, instruction, "static_offsets", &cursor, 1, &offset) ||
      !readMixed(machine, frame, instruction, "static_sizes", &cursor, rank, sizes) ||
      !readMixed(machine, frame, instruction, "static_strides", &cursor, rank, strides))
    return false;
  int64_t least = offset, most = offset;
  for (int i = 0; i < rank; ++i) {
    int64_t reach = (sizes[i] - 1) * strides[i];
    least += reach < 0 ? reach : 0;
    most += reach > 0 ? reach : 0;
  }
  if (countOf(rank, sizes) > 0 && (least < 0 || most >= array->storage->count))
    return machineFail(machine, instruction->op, "is out of bounds: elements %lld to %lld of memory that has %lld",
                       (long long)least, (long long)most, (long long)array->storage->count);
  return giveAlias(machine, frame, instruction, arrayAlias(array, offset, rank, sizes, strides));
}

// Kinds as arith::AtomicRMWKind numbers them; the result is what was there before, as upstream's lowering has it.
bool executeMemrefAtomic(Machine *machine, Frame *frame, const Instruction *instruction) {
  static const char *const names[] = {"arith.addf",     "arith.addi",    "arith.andi",  NULL,
                                      "arith.maximumf", "arith.maxnumf", "arith.maxsi", "arith.maxui",
                                      "arith.minimumf", "arith.minnumf", "arith.minsi", "arith.minui",
                                      "arith.mulf",     "arith.muli",    "arith.ori",   "arith.xori"};
  const Array *array = arrayOperand(frame, instruction, 1);
  int64_t kind = mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, "kind")), place;
  Element old, x = operandOf(frame, instruction, 0).scalar;
  if (kind < 0 || kind >= (int64_t)(sizeof names / sizeof *names))
    return machineUnknown(machine, instruction->op, "not interpreted yet: kind %lld", (long long)kind);
  if (!checkedPlace(machine, frame, instruction, array, 2, &place) ||
      !memoryRead(machine, instruction, array->storage, place, &old))
    return false;
  const Row *row = names[kind] ? rowFind(tileString(names[kind])) : NULL;
  if (row && !combineElements(machine, instruction, row, &instruction->in, old, x, &x))
    return false;
  setResult(frame, instruction, 0, valueOfElement(old));
  return memoryWrite(machine, instruction, array->storage, place, x);
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
    return machineUnknown(machine, instruction->op, "has an initial value that the interpreter cannot read");
  setResult(frame, instruction, 0, valueRetain(valueOfObject(&global->memory->object)));
  return true;
}
