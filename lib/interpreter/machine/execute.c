// Runs decoded regions and calls; the helpers with which ops read operands and set results (machine.h).
#include "lib/interpreter/machine/machine.h"
#include "lib/ir/op_format.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

//===--- errors and budget ------------------------------------------------------===//

// `other`: null, or the other party, at which a note stands.
static bool fail(Machine *machine, MlirOperation op, MlirOperation other, const char *note, const char *format,
                 va_list arguments) {
  if (machine->failed)
    return false;
  machine->failed = true;
  char text[768];
  vsnprintf(text, sizeof text, format, arguments);
  if (mlirOperationIsNull(other))
    tileError(op, "%s", text);
  else
    tileErrorWithNote(op, mlirOperationGetLocation(other), note, "%s", text);
  MlirStringRef name = tileOpName(op);
  return tessera_fail(machine->error, "the interpreter stopped at '%.*s': %s", (int)name.length, name.data, text);
}

bool interpretFail(Machine *machine, MlirOperation op, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(machine, op, (MlirOperation){NULL}, NULL, format, arguments);
  va_end(arguments);
  return false;
}

bool interpretFailWithNote(Machine *machine, MlirOperation op, MlirOperation other, const char *note,
                           const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail(machine, op, other, note, format, arguments);
  va_end(arguments);
  return false;
}

bool interpretUnknown(Machine *machine, MlirOperation op, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  machine->unknown |= !machine->failed;
  fail(machine, op, (MlirOperation){NULL}, NULL, format, arguments);
  va_end(arguments);
  return false;
}

bool interpretOutOfMemory(Machine *machine, MlirOperation op) { return interpretFail(machine, op, "out of memory"); }

bool interpretStep(Machine *machine, MlirOperation op, int64_t steps) {
  uint64_t budget = machine->options->stepBudget;
  machine->steps += (uint64_t)steps;
  return machine->steps <= budget ||
         interpretFail(machine, op, "the program has taken more than %llu steps; it looks endless",
                       (unsigned long long)budget);
}

//===--- frames and regions -------------------------------------------------------===//

bool interpretFrameCreate(Machine *machine, const InterpretBody *body, Frame *frame) {
  *frame = (Frame){.body = body, .slots = calloc((size_t)body->numSlots + 1, sizeof *frame->slots), .jump = -1};
  return frame->slots != NULL;
}

static void dropYielded(Frame *frame) {
  for (int i = 0; i < frame->numYielded; ++i)
    valueRelease(frame->yielded[i]);
  frame->numYielded = 0;
}

void interpretFrameDestroy(Frame *frame) {
  for (int i = 0; i < frame->body->numSlots && frame->slots; ++i)
    valueRelease(frame->slots[i]);
  dropYielded(frame);
  free(frame->slots);
  free(frame->yielded);
}

void interpretTakeYielded(Frame *frame, int count, const int *slots, int from) {
  for (int i = 0; i < count; ++i) {
    frameSet(frame, slots[i], frame->yielded[from + i]);
    frame->yielded[from + i] = (InterpretValue){.object = NULL};
  }
}

// What every terminator does: its operands, from `from` on, are what the region yields.
bool interpretYieldOperands(Frame *frame, const Instruction *instruction) {
  dropYielded(frame);
  if (instruction->numOperands > frame->maxYielded) {
    free(frame->yielded);
    frame->yielded = calloc((size_t)instruction->numOperands, sizeof *frame->yielded);
    frame->maxYielded = frame->yielded ? instruction->numOperands : 0;
  }
  if (instruction->numOperands > frame->maxYielded)
    return false;
  for (int i = 0; i < instruction->numOperands; ++i)
    frame->yielded[i] = valueRetain(operandOf(frame, instruction, i));
  frame->numYielded = instruction->numOperands;
  return true;
}

static bool blockRun(Machine *machine, Frame *frame, const InterpretBlock *block) {
  for (int i = 0; i < block->numInstructions; ++i) {
    const Instruction *instruction = &block->instructions[i];
    if (!instruction->execute(machine, frame, instruction))
      return false;
  }
  return interpretStep(machine, block->instructions[0].op, block->numInstructions);
}

// A call expects room for the frames between the call and its body as well, so that the call is what is reported.
enum { BodyRoom = 4096 };

// The interpreter's own stack must not end before the program's recursion does.
static bool expectRoom(Machine *machine, MlirOperation at, intptr_t more) {
  intptr_t used = machine->stack - (const char *)__builtin_frame_address(0);
  return used + more < machine->stackRoom ||
         interpretFail(machine, at, "calls nest too deep for the interpreter's stack: %d", machine->depth);
}

bool interpretRegionRun(Machine *machine, Frame *frame, const InterpretRegion *region, int numArguments,
                        const InterpretValue *arguments) {
  const InterpretBlock *block = region->blocks;
  if (block->numInstructions && !expectRoom(machine, block->instructions[0].op, 0)) {
    for (int i = 0; i < numArguments; ++i)
      valueRelease(arguments[i]);
    return false;
  }
  for (int i = 0; i < numArguments; ++i)
    frameSet(frame, block->arguments[i], arguments[i]);
  for (;;) {
    frame->jump = -1;
    if (block->numInstructions && !blockRun(machine, frame, block))
      return false;
    if (frame->jump < 0)
      return true;
    block = &region->blocks[frame->jump];
    interpretTakeYielded(frame, block->numArguments, block->arguments, 0);
  }
}

bool interpretBodyCall(Machine *machine, MlirOperation at, const InterpretBody *body, int numArguments,
                       const InterpretValue *arguments, int maxResults, InterpretValue *results) {
  Frame frame;
  if (!body || !expectRoom(machine, at, BodyRoom) || !interpretFrameCreate(machine, body, &frame)) {
    for (int i = 0; i < numArguments; ++i)
      valueRelease(arguments[i]);
    return false;
  }
  ++machine->depth;
  bool ok = interpretRegionRun(machine, &frame, &body->region, numArguments, arguments);
  --machine->depth;
  for (int i = 0; i < maxResults && ok; ++i) {
    results[i] = frame.yielded[i];
    frame.yielded[i] = (InterpretValue){.object = NULL};
  }
  interpretFrameDestroy(&frame);
  return ok;
}

//===--- operands and results -------------------------------------------------------===//

MlirOperation interpretFindSymbol(MlirOperation module, MlirStringRef name) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tileOpAttribute(op, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

bool interpretElementExpect(Machine *machine, const Instruction *instruction, Element x, const char *use) {
  if (!elementIsMissing(x))
    return true;
  const char *why = x.bound == ELEMENT_POISON      ? "a poison value"
                    : x.bound == ELEMENT_IN_FLIGHT ? "an element whose asynchronous copy has not been waited for"
                                                   : "an element that nobody wrote";
  return interpretFail(machine, instruction->op, "%s %s", use, why);
}

bool interpretReadInteger(Machine *machine, const Instruction *instruction, Element x, int64_t *integer) {
  *integer = x.i;
  return interpretElementExpect(machine, instruction, x, "depends on");
}

bool interpretIndexOperand(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t index,
                           int64_t *x) {
  return interpretReadInteger(machine, instruction, operandOf(frame, instruction, index).scalar, x);
}

bool interpretIndexOperands(Machine *machine, const Frame *frame, const Instruction *instruction, intptr_t begin,
                            intptr_t count, int64_t *indices) {
  for (intptr_t i = 0; i < count; ++i)
    if (!interpretIndexOperand(machine, frame, instruction, begin + i, &indices[i]))
      return false;
  return true;
}

intptr_t interpretGroupBegin(const Instruction *instruction, intptr_t group) {
  intptr_t begin, count;
  tileOpOperandGroup(instruction->op, group, &begin, &count);
  return begin;
}

intptr_t interpretGroupCount(const Instruction *instruction, intptr_t group) {
  intptr_t begin, count;
  tileOpOperandGroup(instruction->op, group, &begin, &count);
  return count;
}

// "4611686018427387904 x 4", cut off where it does not fit.
static const char *sizesText(int rank, const int64_t *sizes, char *text, size_t capacity) {
  size_t at = 0;
  for (int i = 0; i < rank && at < capacity; ++i)
    at += (size_t)snprintf(text + at, capacity - at, "%s%lld", i ? " x " : "", (long long)sizes[i]);
  return text;
}

Array *interpretNewArray(Machine *machine, const Instruction *instruction, int rank, const int64_t *sizes) {
  if (rank > InterpreterMaxRank) {
    interpretFail(machine, instruction->op, "has rank %d; the interpreter knows up to %d", rank, InterpreterMaxRank);
    return NULL;
  }
  for (int i = 0; i < rank; ++i)
    if (sizes[i] < 0) {
      interpretFail(machine, instruction->op, "makes an array of size %lld", (long long)sizes[i]);
      return NULL;
    }
  int64_t count = interpretCountOf(rank, sizes);
  if (count > INT64_C(1) << 30) {
    char text[256];
    interpretFail(machine, instruction->op, "makes an array of %s elements; the interpreter holds up to 2^30 in one",
                  sizesText(rank, sizes, text, sizeof text));
    return NULL;
  }
  Array *array = interpretArrayCreateIn(&machine->pool, rank, sizes);
  if (!array)
    interpretOutOfMemory(machine, instruction->op);
  else if (!interpretStep(machine, instruction->op, count)) {
    valueRelease(valueOfObject(&array->object));
    return NULL;
  }
  return array;
}

Array *interpretNewResult(Machine *machine, const Instruction *instruction, intptr_t index) {
  MlirType type = tileResultType(instruction->op, index);
  int64_t sizes[InterpreterMaxRank];
  int rank = interpretTypeIsShaped(type) ? (int)mlirShapedTypeGetRank(type) : 0;
  for (int i = 0; i < rank && i < InterpreterMaxRank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
  return interpretNewArray(machine, instruction, rank, sizes);
}

void interpretSetArray(Frame *frame, const Instruction *instruction, intptr_t index, Array *array) {
  InterpretValue value = valueOfObject(&array->object);
  if (!interpretTypeIsShaped(tileResultType(instruction->op, index))) {
    Element x = arrayElements(array)[0];
    valueRelease(value);
    value = valueOfElement(x);
  }
  setResult(frame, instruction, index, value);
}
