// Ops at the border of tensors and memory. A tensor is a value: taking it from memory or putting it there copies, and
// what is written later to either is not seen in the other.
#include "lib/interpreter/upstream.h"

static bool giveCopy(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array) {
  Array *copy = machineStep(machine, instruction->op, arrayCount(array)) ? arrayCopy(array) : NULL;
  if (!copy)
    return machineOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&copy->object));
  return true;
}

bool executeCopyOfOperand(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  return memoryExpectAlive(machine, instruction, array->storage) && giveCopy(machine, frame, instruction, array);
}

// Either sizes or a tensor to copy; nothing has been written when it has only sizes.
bool executeAllocTensor(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute segments = tileOpAttribute(instruction->op, "operandSegmentSizes");
  int sizes = mlirDenseI32ArrayGetElement(segments, 0);
  return mlirDenseI32ArrayGetElement(segments, 1)
             ? giveCopy(machine, frame, instruction, arrayOperand(frame, instruction, sizes))
             : executeTensorEmpty(machine, frame, instruction);
}

bool executeMaterialize(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0), *to = arrayOperand(frame, instruction, 1);
  if (instruction->numResults == 0)
    return copyElements(machine, instruction, from, to);
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

bool executeOperand(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}
