// Tile ops around a kernel's body: calls, launches, program ids, assumptions, printing, assertions.
// A grid runs one instance after the other; memory.c reports two of them touching one element (numerics.md §6).
#include "dialects/tile/ops.h"
#include "lib/interpreter/machine/arrays.h"
#include "lib/interpreter/tile/cluster.h"
#include "lib/interpreter/tile/products_under_way.h"
#include "lib/interpreter/tile/tile.h"
#include "lib/interpreter/upstream/upstream.h"

#include <stdlib.h>
#include <string.h>

//===--- attributes -------------------------------------------------------------===//

int64_t interpretIntegerOf(const Instruction *instruction, const char *name) {
  return mlirIntegerAttrGetValueInt(tileOpAttribute(instruction->op, name));
}

int64_t interpretNumberIn(const Instruction *instruction, const char *name, intptr_t index) {
  return mlirDenseI64ArrayGetElement(tileOpAttribute(instruction->op, name), index);
}

intptr_t interpretCountIn(const Instruction *instruction, const char *name) {
  MlirAttribute list = tileOpAttribute(instruction->op, name);
  return mlirAttributeIsNull(list) ? 0 : mlirDenseArrayGetNumElements(list);
}

bool interpretHasAttribute(const Instruction *instruction, const char *name) {
  return !mlirAttributeIsNull(tileOpAttribute(instruction->op, name));
}

MlirStringRef interpretWordOf(const Instruction *instruction, const char *name) {
  return interpretHasAttribute(instruction, name) ? mlirStringAttrGetValue(tileOpAttribute(instruction->op, name))
                                                  : mlirStringRefCreate("", 0);
}

//===--- calls and launches ---------------------------------------------------------===//

bool interpretTileCall(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretCall(machine, frame, instruction);
}

bool interpretTileReturn(Machine *machine, Frame *frame, const Instruction *instruction) {
  return interpretYield(machine, frame, instruction);
}

// The body in the frame of the function around it.
bool interpretTileGroup(Machine *machine, Frame *frame, const Instruction *instruction) {
  const InterpretRegion *region = &instruction->regions[0];
  for (int i = 0; i < region->blocks->numArguments; ++i)
    frameSet(frame, region->blocks->arguments[i], valueRetain(operandOf(frame, instruction, i)));
  if (!interpretRegionRun(machine, frame, region, 0, NULL))
    return false;
  interpretTakeYielded(frame, instruction->numResults, instruction->results, 0);
  return true;
}

bool interpretTileTransfer(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
  return true;
}

// On tensors each output is a copy that becomes a result; on memrefs the kernel writes the operand itself.
static bool prepareOutputs(Machine *machine, Frame *frame, const Instruction *instruction, intptr_t begin,
                           intptr_t count, InterpretValue *arguments) {
  int result = 0;
  for (intptr_t i = 0; i < count; ++i) {
    InterpretValue output = operandOf(frame, instruction, begin + i);
    if (mlirTypeIsAMemRef(tileOperandType(instruction->op, begin + i))) {
      arguments[i] = output;
      continue;
    }
    Array *copy = interpretArrayCopy(arrayOf(output));
    if (!copy)
      return interpretOutOfMemory(machine, instruction->op);
    arguments[i] = valueOfObject(&copy->object);
    setResult(frame, instruction, result++, arguments[i]);
  }
  return true;
}

static bool runInstance(Machine *machine, const Instruction *instruction, const InterpretBody *body, int count,
                        const InterpretValue *arguments) {
  machine->grid.hasAcquired = false;
  for (int i = 0; i < count; ++i)
    valueRetain(arguments[i]);
  bool ok = interpretBodyCall(machine, instruction->op, body, count, arguments, 0, NULL);
  interpretProductsForget(machine);
  return ok;
}

static bool runGrid(Machine *machine, const Instruction *instruction, const InterpretBody *body, int count,
                    const InterpretValue *arguments) {
  Grid *grid = &machine->grid;
  grid->launch = instruction->op;
  bool ok = true, isClustered = interpretHasAttribute(instruction, "cluster");
  if (isClustered)
    ok = interpretRunClusters(machine, instruction, body, count, arguments);
  for (grid->ids[0] = 0; grid->ids[0] < grid->sizes[0] && ok && !isClustered; ++grid->ids[0])
    for (grid->ids[1] = 0; grid->ids[1] < grid->sizes[1] && ok; ++grid->ids[1])
      for (grid->ids[2] = 0; grid->ids[2] < grid->sizes[2] && ok; ++grid->ids[2]) {
        gridNumber(grid);
        ok = runInstance(machine, instruction, body, count, arguments);
      }
  interpretMemoryForgetTouches(machine);
  machine->grid = (Grid){.instance = 0};
  return ok;
}

// Instances run one after the other: one that waits for the next would wait for ever.
static bool checkWaits(Machine *machine, const Instruction *instruction, MlirOperation kernel) {
  int64_t programs = interpretCountOf(MaxGridRank, machine->grid.sizes);
  return programs <= 1 || mlirAttributeIsNull(tileOpAttribute(kernel, "cooperative")) ||
         interpretFail(machine, instruction->op,
                       "launches %lld programs of a cooperative kernel, which wait for each other; the interpreter "
                       "runs one after the other",
                       (long long)programs);
}

bool interpretTileLaunch(Machine *machine, Frame *frame, const Instruction *instruction) {
  intptr_t grid = interpretGroupCount(instruction, 0), inputs = interpretGroupCount(instruction, 1),
           outputs = interpretGroupCount(instruction, 2);
  MlirAttribute kernel = tileOpAttribute(instruction->op, "kernel");
  MlirOperation callee = interpretFindSymbol(machine->module, mlirFlatSymbolRefAttrGetValue(kernel));
  if (!interpretIndexOperands(machine, frame, instruction, 0, grid, machine->grid.sizes))
    return false;
  for (intptr_t i = grid; i < MaxGridRank; ++i)
    machine->grid.sizes[i] = 1;
  if (!checkWaits(machine, instruction, callee))
    return false;
  const InterpretBody *body = interpretBodyOf(machine, callee, 0);
  InterpretValue *arguments = calloc((size_t)(inputs + outputs) + 1, sizeof *arguments);
  bool ok = body && (arguments || interpretOutOfMemory(machine, instruction->op));
  for (intptr_t i = 0; i < inputs && ok; ++i)
    arguments[i] = operandOf(frame, instruction, grid + i);
  ok = ok && prepareOutputs(machine, frame, instruction, grid + inputs, outputs, arguments + inputs) &&
       runGrid(machine, instruction, body, (int)(inputs + outputs), arguments);
  free(arguments);
  return ok;
}

bool interpretTileProgramId(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(machine->grid.ids[interpretIntegerOf(instruction, "axis")]));
  return true;
}

bool interpretTileNumPrograms(Machine *machine, Frame *frame, const Instruction *instruction) {
  setResult(frame, instruction, 0, valueOfInteger(machine->grid.sizes[interpretIntegerOf(instruction, "axis")]));
  return true;
}

//===--- assumptions and assertions --------------------------------------------------===//

static bool assumeInteger(Machine *machine, const Instruction *instruction, int64_t x) {
  if (interpretHasAttribute(instruction, "divisible") && x % interpretIntegerOf(instruction, "divisible") != 0)
    return interpretFail(machine, instruction->op, "does not hold: %lld is not divisible by %lld", (long long)x,
                         (long long)interpretIntegerOf(instruction, "divisible"));
  if (interpretHasAttribute(instruction, "range") &&
      (x < interpretNumberIn(instruction, "range", 0) || x > interpretNumberIn(instruction, "range", 1)))
    return interpretFail(machine, instruction->op, "does not hold: %lld is not between %lld and %lld", (long long)x,
                         (long long)interpretNumberIn(instruction, "range", 0),
                         (long long)interpretNumberIn(instruction, "range", 1));
  return true;
}

// Storages begin at the greatest alignment there is; an array, at its offset. `_` (the dynamic size) says nothing.
static bool assumeArray(Machine *machine, const Instruction *instruction, const Array *array) {
  int64_t bytes = (instruction->in.width + 7) / 8;
  if (interpretHasAttribute(instruction, "align") &&
      array->offset * bytes % interpretIntegerOf(instruction, "align") != 0)
    return interpretFail(machine, instruction->op,
                         "does not hold: begins %lld bytes after its memory, not aligned to %lld",
                         (long long)(array->offset * bytes), (long long)interpretIntegerOf(instruction, "align"));
  const char *const names[] = {"sizes", "strides"};
  for (int list = 0; list < 2; ++list)
    for (intptr_t i = 0; i < interpretCountIn(instruction, names[list]); ++i) {
      int64_t divisor = interpretNumberIn(instruction, names[list], i),
              seen = list ? array->strides[i] : array->sizes[i];
      if (divisor > 0 && seen % divisor != 0)
        return interpretFail(machine, instruction->op, "does not hold: %s[%ld] is %lld, not divisible by %lld",
                             names[list], (long)i, (long long)seen, (long long)divisor);
    }
  return true;
}

bool interpretTileAssume(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue value = operandOf(frame, instruction, 0);
  bool isArray = value.object && value.object->kind == ObjectArray;
  int64_t x = 0;
  if (isArray && mlirTypeIsAMemRef(tileOnlyOperandType(instruction->op))) {
    if (!assumeArray(machine, instruction, arrayOf(value)))
      return false;
  } else if (isArray) {
    for (int64_t i = 0; i < interpretArrayCount(arrayOf(value)); ++i)
      if (!interpretReadInteger(machine, instruction, arrayElements(arrayOf(value))[i], &x) ||
          !assumeInteger(machine, instruction, x))
        return false;
  } else if (!value.object) {
    if (!interpretReadInteger(machine, instruction, value.scalar, &x) || !assumeInteger(machine, instruction, x))
      return false;
  }
  setResult(frame, instruction, 0, valueRetain(value));
  return true;
}

bool interpretTileAssert(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef text = interpretWordOf(instruction, "message");
  InterpretValue condition = operandOf(frame, instruction, 0);
  const Element *elements = condition.object ? arrayElements(arrayOf(condition)) : &condition.scalar;
  int64_t count = condition.object ? interpretArrayCount(arrayOf(condition)) : 1, holds;
  for (int64_t i = 0; i < count; ++i) {
    if (!interpretReadInteger(machine, instruction, elements[i], &holds))
      return false;
    if (!holds && condition.object)
      return interpretFail(machine, instruction->op, "assertion failed at element %lld: %.*s", (long long)i,
                           (int)text.length, text.data);
    if (!holds)
      return interpretFail(machine, instruction->op, "assertion failed: %.*s", (int)text.length, text.data);
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

static void printValue(FILE *file, const Format *format, InterpretValue value) {
  if (!value.object) {
    printElement(file, format, value.scalar);
    return;
  }
  fputc('[', file);
  for (int64_t i = 0; i < interpretArrayCount(arrayOf(value)); ++i) {
    fputs(i ? ", " : "", file);
    printElement(file, format, arrayElements(arrayOf(value))[i]);
  }
  fputc(']', file);
}

// A breakpoint: the caller sees the values.
static bool stopAt(Machine *machine, Frame *frame, const Instruction *instruction, int64_t number) {
  const TileInterpretOptions *options = machine->options;
  int count = instruction->numOperands, made = 0;
  if (!options->stop)
    return true;
  tessera_array_t *values = calloc((size_t)count + 1, sizeof *values);
  bool ok = values || interpretOutOfMemory(machine, instruction->op);
  for (; ok && made < count; ++made)
    ok = interpretToArray(operandOf(frame, instruction, made), tileOperandType(instruction->op, made), &values[made],
                          machine->error);
  if (ok && !options->stop(options->user, number, count, values))
    ok = interpretFail(machine, instruction->op, "ended the program at a breakpoint");
  for (int i = 0; i < made; ++i)
    tessera_array_destroy(&values[i]);
  free(values);
  return ok;
}

bool interpretTilePrint(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute stop = tilePrintOpGetStop(instruction->op);
  if (!mlirAttributeIsNull(stop))
    return stopAt(machine, frame, instruction, mlirIntegerAttrGetValueInt(stop));
  MlirStringRef text = interpretWordOf(instruction, "message");
  FILE *file = machine->options->print;
  int value = 0;
  for (size_t i = 0; i < text.length; ++i) {
    if (text.data[i] == '{' && i + 1 < text.length && text.data[i + 1] == '}' && value < instruction->numOperands) {
      Format format = {.width = 64};
      interpretFormatOf(interpretElementTypeOf(tileOperandType(instruction->op, value)), &format);
      printValue(file, &format, operandOf(frame, instruction, value++));
      ++i;
    } else
      fputc(text.data[i], file);
  }
  fputc('\n', file);
  fflush(file); // before a diagnostic that may follow
  return true;
}
