// Tile ops around a kernel's body: calls, launches, program ids, assumptions, printing, assertions.
// A grid runs one instance after the other; memory.c reports two of them touching one element (numerics.md §6).
#include "lib/interpreter/cluster.h"
#include "lib/interpreter/tile.h"
#include "lib/interpreter/upstream.h"

#include <stdlib.h>
#include <string.h>

//===--- attributes -------------------------------------------------------------===//

int64_t integerOf(const Instruction *instruction, const char *name) {
  return mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, name));
}

int64_t numberIn(const Instruction *instruction, const char *name, intptr_t index) {
  return mlirDenseI64ArrayGetElement(tileOpAttribute(instruction->op, name), index);
}

intptr_t countIn(const Instruction *instruction, const char *name) {
  MlirAttribute list = tileOpAttribute(instruction->op, name);
  return mlirAttributeIsNull(list) ? 0 : mlirDenseArrayGetNumElements(list);
}

bool hasAttribute(const Instruction *instruction, const char *name) {
  return !mlirAttributeIsNull(tileOpAttribute(instruction->op, name));
}

MlirStringRef wordOf(const Instruction *instruction, const char *name) {
  return hasAttribute(instruction, name) ? mlirStringAttrGetValue(tileOpAttribute(instruction->op, name))
                                         : mlirStringRefCreate("", 0);
}

//===--- calls and launches ---------------------------------------------------------===//

bool executeTileCall(Machine *machine, Frame *frame, const Instruction *instruction) {
  return executeCall(machine, frame, instruction);
}

bool executeTileReturn(Machine *machine, Frame *frame, const Instruction *instruction) {
  return executeYield(machine, frame, instruction);
}

// The body in the frame of the function around it.
bool executeTileGroup(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Region *region = &instruction->regions[0];
  for (int i = 0; i < region->blocks->numArguments; ++i)
    frameSet(frame, region->blocks->arguments[i], valueRetain(operandOf(frame, instruction, i)));
  if (!regionRun(machine, frame, region, 0, NULL))
    return false;
  takeYielded(frame, instruction->numResults, instruction->results, 0);
  return true;
}

bool executeTileTransfer(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

// On tensors each output is a copy that becomes a result; on memrefs the kernel writes the operand itself.
static bool prepareOutputs(Machine *machine, Frame *frame, const Instruction *instruction, intptr_t begin,
                           intptr_t count, Value *arguments) {
  int result = 0;
  for (intptr_t i = 0; i < count; ++i) {
    Value output = operandOf(frame, instruction, begin + i);
    if (mlirTypeIsAMemRef(tileOperandType(instruction->op, begin + i))) {
      arguments[i] = output;
      continue;
    }
    Array *copy = arrayCopy(arrayOf(output));
    if (!copy)
      return machineOutOfMemory(machine, instruction->op);
    arguments[i] = valueOfObject(&copy->object);
    setResult(frame, instruction, result++, arguments[i]);
  }
  return true;
}

static bool runInstance(Machine *machine, const Instruction *instruction, const Body *body, int count,
                        const Value *arguments) {
  machine->grid.hasAcquired = false;
  for (int i = 0; i < count; ++i)
    valueRetain(arguments[i]);
  return bodyCall(machine, instruction->op, body, count, arguments, 0, NULL);
}

static bool runGrid(Machine *machine, const Instruction *instruction, const Body *body, int count,
                    const Value *arguments) {
  Grid *grid = &machine->grid;
  grid->launch = instruction->op;
  bool ok = true, isClustered = hasAttribute(instruction, "cluster");
  if (isClustered)
    ok = runClusters(machine, instruction, body, count, arguments);
  for (grid->ids[0] = 0; grid->ids[0] < grid->sizes[0] && ok && !isClustered; ++grid->ids[0])
    for (grid->ids[1] = 0; grid->ids[1] < grid->sizes[1] && ok; ++grid->ids[1])
      for (grid->ids[2] = 0; grid->ids[2] < grid->sizes[2] && ok; ++grid->ids[2]) {
        gridNumber(grid);
        ok = runInstance(machine, instruction, body, count, arguments);
      }
  memoryForgetTouches(machine);
  machine->grid = (Grid){.instance = 0};
  return ok;
}

bool executeTileLaunch(Machine *machine, Frame *frame, const Instruction *instruction) {
  intptr_t grid = groupCount(instruction, 0), inputs = groupCount(instruction, 1), outputs = groupCount(instruction, 2);
  MlirAttribute kernel = tileOpAttribute(instruction->op, "kernel");
  MlirOperation callee = machineFindSymbol(machine, mlirFlatSymbolRefAttrGetValue(kernel));
  if (!indexOperands(machine, frame, instruction, 0, grid, machine->grid.sizes))
    return false;
  for (intptr_t i = grid; i < MaxGridRank; ++i)
    machine->grid.sizes[i] = 1;
  const Body *body = bodyOf(machine, callee, 0);
  Value *arguments = calloc((size_t)(inputs + outputs) + 1, sizeof *arguments);
  bool ok = body && (arguments || machineOutOfMemory(machine, instruction->op));
  for (intptr_t i = 0; i < inputs && ok; ++i)
    arguments[i] = operandOf(frame, instruction, grid + i);
  ok = ok && prepareOutputs(machine, frame, instruction, grid + inputs, outputs, arguments + inputs) &&
       runGrid(machine, instruction, body, (int)(inputs + outputs), arguments);
  free(arguments);
  return ok;
}

bool executeTileProgramId(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(machine->grid.ids[integerOf(instruction, "axis")]));
  return true;
}

bool executeTileNumPrograms(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(machine->grid.sizes[integerOf(instruction, "axis")]));
  return true;
}

//===--- assumptions and assertions --------------------------------------------------===//

static bool assumeInteger(Machine *machine, const Instruction *instruction, int64_t x) {
  if (hasAttribute(instruction, "divisible") && x % integerOf(instruction, "divisible") != 0)
    return machineFail(machine, instruction->op, "does not hold: %lld is not divisible by %lld", (long long)x,
                       (long long)integerOf(instruction, "divisible"));
  if (hasAttribute(instruction, "range") &&
      (x < numberIn(instruction, "range", 0) || x > numberIn(instruction, "range", 1)))
    return machineFail(machine, instruction->op, "does not hold: %lld is not between %lld and %lld", (long long)x,
                       (long long)numberIn(instruction, "range", 0), (long long)numberIn(instruction, "range", 1));
  return true;
}

// Storages begin at the greatest alignment there is; an array, at its offset. `_` (the dynamic size) says nothing.
static bool assumeArray(Machine *machine, const Instruction *instruction, const Array *array) {
  int64_t bytes = (instruction->in.width + 7) / 8;
  if (hasAttribute(instruction, "align") && array->offset * bytes % integerOf(instruction, "align") != 0)
    return machineFail(machine, instruction->op,
                       "does not hold: begins %lld bytes after its memory, not aligned to %lld",
                       (long long)(array->offset * bytes), (long long)integerOf(instruction, "align"));
  const char *const names[] = {"sizes", "strides"};
  for (int list = 0; list < 2; ++list)
    for (intptr_t i = 0; i < countIn(instruction, names[list]); ++i) {
      int64_t divisor = numberIn(instruction, names[list], i), seen = list ? array->strides[i] : array->sizes[i];
      if (divisor > 0 && seen % divisor != 0)
        return machineFail(machine, instruction->op, "does not hold: %s[%ld] is %lld, not divisible by %lld",
                           names[list], (long)i, (long long)seen, (long long)divisor);
    }
  return true;
}

bool executeTileAssume(Machine *machine, Frame *frame, const Instruction *instruction) {
  Value value = operandOf(frame, instruction, 0);
  bool isArray = value.object && value.object->kind == ObjectArray;
  int64_t x = 0;
  if (isArray && mlirTypeIsAMemRef(tileOperandType(instruction->op, 0))) {
    if (!assumeArray(machine, instruction, arrayOf(value)))
      return false;
  } else if (isArray) {
    for (int64_t i = 0; i < arrayCount(arrayOf(value)); ++i)
      if (!readInteger(machine, instruction, arrayElements(arrayOf(value))[i], &x) ||
          !assumeInteger(machine, instruction, x))
        return false;
  } else if (!value.object) {
    if (!readInteger(machine, instruction, value.scalar, &x) || !assumeInteger(machine, instruction, x))
      return false;
  }
  setResult(frame, instruction, 0, valueRetain(value));
  return true;
}

bool executeTileAssert(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef text = wordOf(instruction, "message");
  Value condition = operandOf(frame, instruction, 0);
  const Element *elements = condition.object ? arrayElements(arrayOf(condition)) : &condition.scalar;
  int64_t count = condition.object ? arrayCount(arrayOf(condition)) : 1, holds;
  for (int64_t i = 0; i < count; ++i) {
    if (!readInteger(machine, instruction, elements[i], &holds))
      return false;
    if (!holds && condition.object)
      return machineFail(machine, instruction->op, "assertion failed at element %lld: %.*s", (long long)i,
                         (int)text.length, text.data);
    if (!holds)
      return machineFail(machine, instruction->op, "assertion failed: %.*s", (int)text.length, text.data);
  }
  return true;
}

//===--- printing ---------------------------------------------------------------------===//

static void printElement(FILE *file, const Format *format, Element x) {
  if (elementIsMissing(x))
    fputs(x.bound == ELEMENT_POISON ? "poison" : "undefined", file);
  else if (format->isFloat)
    fprintf(file, "%.9g", x.f);
  else
    fprintf(file, "%lld", (long long)(format->width == 1 ? x.i & 1 : x.i));
}

static void printValue(FILE *file, const Format *format, Value value) {
  if (!value.object) {
    printElement(file, format, value.scalar);
    return;
  }
  fputc('[', file);
  for (int64_t i = 0; i < arrayCount(arrayOf(value)); ++i) {
    fputs(i ? ", " : "", file);
    printElement(file, format, arrayElements(arrayOf(value))[i]);
  }
  fputc(']', file);
}

bool executeTilePrint(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef text = wordOf(instruction, "message");
  FILE *file = machine->options->print;
  int value = 0;
  for (size_t i = 0; i < text.length; ++i) {
    if (text.data[i] == '{' && i + 1 < text.length && text.data[i + 1] == '}' && value < instruction->numOperands) {
      Format format = {.width = 64};
      formatOf(elementTypeOf(tileOperandType(instruction->op, value)), &format);
      printValue(file, &format, operandOf(frame, instruction, value++));
      ++i;
    } else
      fputc(text.data[i], file);
  }
  fputc('\n', file);
  fflush(file); // before a diagnostic that may follow
  return true;
}
