// Programs that print: vector.print, and calls of the functions of upstream's runner libraries that print.
// The text is theirs, character by character, as compiled programs print it (lib/runtime/upstream_print.c); only the
// address of a memref is another on every run.
#include "lib/interpreter/upstream/upstream.h"

#include <inttypes.h>
#include <stdio.h>

//===--- elements -------------------------------------------------------------------------===//

bool interpretPrintElement(Machine *machine, const Instruction *instruction, MlirType type, Element x) {
  FILE *file = machine->options->print;
  Format format;
  if (!interpretElementExpect(machine, instruction, x, "prints") || !interpretFormatOf(type, &format))
    return false;
  bool isUnsigned =
      mlirTypeIsAIndex(type) || format.width == 1 || (mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type));
  if (format.isFloat)
    fprintf(file, "%g", x.f);
  else if (isUnsigned)
    fprintf(file, "%" PRIu64, interpretFormatUnsigned(&format, x.i));
  else
    fprintf(file, "%" PRId64, x.i);
  return true;
}

static bool endLine(Machine *machine) {
  fputc('\n', machine->options->print);
  fflush(machine->options->print); // before a failure that may follow
  return true;
}

//===--- vector.print ---------------------------------------------------------------------===//

static bool printVector(Machine *machine, const Instruction *instruction, const Array *array, int dim, int64_t place) {
  MlirType type = interpretElementTypeOf(tileOnlyOperandType(instruction->op));
  FILE *file = machine->options->print;
  if (dim == array->rank && dim > 0)
    return interpretPrintElement(machine, instruction, type, array->storage->elements[place]);
  fputs("( ", file);
  if (array->rank == 0 && !interpretPrintElement(machine, instruction, type, array->storage->elements[place]))
    return false;
  for (int64_t i = 0; array->rank && i < array->sizes[dim]; ++i) {
    fputs(i ? ", " : "", file);
    if (!printVector(machine, instruction, array, dim + 1, place + i * array->strides[dim]))
      return false;
  }
  fputs(" )", file);
  return true;
}

bool interpretVectorPrint(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute literal = tileOpAttribute(instruction->op, "stringLiteral");
  FILE *file = machine->options->print;
  char ending[64] = "newline";
  if (!mlirAttributeIsNull(literal)) { // no punctuation follows
    fprintf(file, "%.*s", (int)mlirStringAttrGetValue(literal).length, mlirStringAttrGetValue(literal).data);
    return true;
  }
  for (int i = 0; i < instruction->numOperands; ++i) {
    InterpretValue value = operandOf(frame, instruction, i);
    if (!(value.object
              ? printVector(machine, instruction, arrayOf(value), 0, arrayOf(value)->offset)
              : interpretPrintElement(machine, instruction, tileOnlyOperandType(instruction->op), value.scalar)))
      return false;
  }
  MlirAttribute punctuation = tileOpAttribute(instruction->op, "punctuation");
  if (!mlirAttributeIsNull(punctuation))
    tileAttributeText(punctuation, ending, sizeof ending);
  if (strstr(ending, "newline"))
    return endLine(machine);
  fputs(strstr(ending, "comma") ? ", " : strstr(ending, "open") ? "( " : strstr(ending, "close") ? " )" : "", file);
  return true;
}

//===--- calls of functions that print ------------------------------------------------------===//

static void printNumbers(FILE *file, const char *name, int count, const int64_t *numbers) {
  fprintf(file, " %s = [", name);
  for (int i = 0; i < count; ++i)
    fprintf(file, "%s%lld", i ? ", " : "", (long long)numbers[i]);
  fputc(']', file);
}

// Brackets around each row; every row but a dimension's first stands below that, one space in for each dimension.
static bool printRows(Machine *machine, const Instruction *instruction, const Array *array, int dim, int64_t place) {
  MlirType type = interpretElementTypeOf(tileOnlyOperandType(instruction->op));
  FILE *file = machine->options->print;
  if (dim == array->rank)
    return interpretPrintElement(machine, instruction, type, array->storage->elements[place]);
  fputc('[', file);
  for (int64_t i = 0; i < array->sizes[dim]; ++i) {
    if (i)
      fprintf(file, ", %s%*s", dim + 1 < array->rank ? "\n" : "", dim + 1, "");
    if (!printRows(machine, instruction, array, dim + 1, place + i * array->strides[dim]))
      return false;
  }
  fputc(']', file);
  return true;
}

static bool printMemref(Machine *machine, const Instruction *instruction, const Array *array) {
  FILE *file = machine->options->print;
  uint64_t base = interpretStorageAddress(machine, array->storage, 1);
  if (!interpretMemoryExpectAlive(machine, instruction, array->storage))
    return false;
  fprintf(file, "Unranked Memref base@ = 0x%" PRIx64 " rank = %d offset = %lld", base, array->rank,
          (long long)array->offset);
  printNumbers(file, "sizes", array->rank, array->sizes);
  printNumbers(file, "strides", array->rank, array->strides);
  fprintf(file, " data = \n%s", array->rank ? "" : "[");
  bool ok = printRows(machine, instruction, array, 0, array->offset);
  fputs(array->rank ? "" : "]", file);
  return ok && endLine(machine);
}

bool interpretExternal(Machine *machine, Frame *frame, const Instruction *instruction, MlirStringRef name) {
  static const struct {
    const char *name, *text; // null: the operand
  } functions[] = {{"printI64", NULL},  {"printU64", NULL},   {"printF16", NULL},
                   {"printBF16", NULL}, {"printF32", NULL},   {"printF64", NULL},
                   {"printOpen", "( "}, {"printClose", " )"}, {"printComma", ", "}};
  bool isMemref = tileStringStartsWith(name, "printMemref") && instruction->numOperands == 1 &&
                  operandOf(frame, instruction, 0).object;
  if (isMemref)
    return printMemref(machine, instruction, arrayOperand(frame, instruction, 0));
  if (tileStringStartsWith(name, "mgpuMemGetDeviceMemRef") && instruction->numOperands == 1 &&
      instruction->numResults == 1) { // where the device sees memory of the host
    setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
    return true;
  }
  if (tileStringEquals(name, "printNewline"))
    return endLine(machine);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (tileStringEquals(name, functions[i].name) && instruction->numOperands == !functions[i].text) {
      if (functions[i].text)
        fputs(functions[i].text, machine->options->print);
      return functions[i].text || interpretPrintElement(machine, instruction, tileOnlyOperandType(instruction->op),
                                                        operandOf(frame, instruction, 0).scalar);
    }
  return interpretUnknown(machine, instruction->op, "not interpreted yet: a call of '%.*s', which has no body",
                          (int)name.length, name.data);
}
