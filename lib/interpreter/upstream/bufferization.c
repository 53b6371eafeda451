// Ops at the border of tensors and memory. A tensor is a value: taking it from memory or putting it there copies, and
// what is written later to either is not seen in the other.
#include "upstream/bufferization.h"
#include "lib/interpreter/upstream/upstream.h"

static bool giveCopy(Machine *machine, Frame *frame, const Instruction *instruction, const Array *array) {
  Array *copy = interpretStep(machine, instruction->op, interpretArrayCount(array)) ? interpretArrayCopy(array) : NULL;
  if (!copy)
    return interpretOutOfMemory(machine, instruction->op);
  setResult(frame, instruction, 0, valueOfObject(&copy->object));
  return true;
}

bool interpretCopyOfOperand(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *array = arrayOperand(frame, instruction, 0);
  return interpretMemoryExpectAlive(machine, instruction, array->storage) &&
         giveCopy(machine, frame, instruction, array);
}

// Either sizes or a tensor to copy; nothing has been written when it has only sizes.
bool interpretAllocTensor(Machine *machine, Frame *frame, const Instruction *instruction) {
  if (mlirValueIsNull(bufferizationAllocTensorOpGetCopy(instruction->op)))
    return interpretTensorEmpty(machine, frame, instruction);
  intptr_t copied = bufferizationAllocTensorOpGetNumDynamicSizes(instruction->op);
  return giveCopy(machine, frame, instruction, arrayOperand(frame, instruction, copied));
}

bool interpretMaterialize(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *from = arrayOperand(frame, instruction, 0), *to = arrayOperand(frame, instruction, 1);
  if (instruction->numResults == 0)
    return interpretCopyElements(machine, instruction, from, to);
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

bool interpretOperand(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}
