// Programs that print: vector.print, and calls of the functions of upstream's runner libraries that print.
// The text is theirs, character by character, as compiled programs print it (lib/runtime/upstream_print.c); only the
// address of a memref is another on every run.
#include "lib/interpreter/upstream/upstream.h"
#include "upstream/vector.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
  int ending = vectorPrintPunctuationOf(tileOpAttribute(instruction->op, "punctuation"));
  if (ending < 0 || ending == VectorPrintPunctuation_Newline) // newline is the default
    return endLine(machine);
  fputs(ending == VectorPrintPunctuation_Comma   ? ", "
        : ending == VectorPrintPunctuation_Open  ? "( "
        : ending == VectorPrintPunctuation_Close ? " )"
                                                 : "",
        file);
  return true;
}

//===--- gpu.printf -----------------------------------------------------------------------===//

// One number of a format: what stands before its letter, without the lengths of C's types, and the letter.
static bool printFormatted(Machine *machine, const Instruction *instruction, const char *flags, int length, char letter,
                           MlirType type, Element x) {
  char form[32];
  Format format;
  if (!interpretElementExpect(machine, instruction, x, "prints") || !interpretFormatOf(type, &format))
    return false;
  bool isSigned = letter == 'd' || letter == 'i', isWhole = isSigned || (letter && strchr("uxXoc", letter));
  if (length > 12 || (isWhole && format.isFloat) || (!isWhole && (!format.isFloat || !strchr("fFeEgG", letter))))
    return interpretUnknown(machine, instruction->op, "not interpreted yet: '%%%c' of this type",
                            letter ? letter : '?');
  if (letter == 'c')
    fputc((int)x.i, machine->options->print);
  else if (isWhole) {
    snprintf(form, sizeof form, "%%%.*sll%c", length, flags, letter);
    fprintf(machine->options->print, form, isSigned ? x.i : (int64_t)interpretFormatUnsigned(&format, x.i)); // NOLINT
  } else {
    snprintf(form, sizeof form, "%%%.*s%c", length, flags, letter);
    fprintf(machine->options->print, form, x.f); // NOLINT
  }
  return true;
}

bool interpretGpuPrintf(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirStringRef text = mlirStringAttrGetValue(tileOpAttribute(instruction->op, "format"));
  const char *at = text.data, *end = text.data + text.length;
  int operand = 0;
  while (at < end) {
    if (*at != '%' || (at + 1 < end && at[1] == '%')) {
      fputc(*at, machine->options->print);
      at += *at == '%' ? 2 : 1;
      continue;
    }
    const char *flags = ++at;
    while (at < end && strchr("+-# 0123456789.", *at))
      ++at;
    int length = (int)(at - flags);
    while (at < end && strchr("hlzjt", *at))
      ++at;
    if (operand == instruction->numOperands)
      return interpretFail(machine, instruction->op, "prints more numbers than it has");
    if (!printFormatted(machine, instruction, flags, length, at < end ? *at : 0,
                        tileOperandType(instruction->op, operand), operandOf(frame, instruction, operand).scalar))
      return false;
    ++operand;
    ++at;
  }
  fflush(machine->options->print);
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
  Element x = array->storage->elements[place];
  if (dim == array->rank && tileElementWidth(type) == 8 && mlirTypeIsAInteger(type)) // a letter, as in C++
    return interpretElementExpect(machine, instruction, x, "prints") && fputc((int)x.i & 255, file) != EOF;
  if (dim == array->rank)
    return interpretPrintElement(machine, instruction, type, x);
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

static bool printMemref(Machine *machine, const Instruction *instruction, const char *kind, const Array *array) {
  FILE *file = machine->options->print;
  uint64_t base = interpretStorageAddress(machine, array->storage, &instruction->in);
  if (!interpretMemoryExpectAlive(machine, instruction, array->storage))
    return false;
  fprintf(file, "%s base@ = 0x%" PRIx64 " rank = %d offset = %lld", kind, base, array->rank, (long long)array->offset);
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
    return printMemref(machine, instruction,
                       mlirTypeIsAMemRef(tileOnlyOperandType(instruction->op)) ? "Memref" : "Unranked Memref",
                       arrayOperand(frame, instruction, 0));
  if (tileStringStartsWith(name, "mgpuMemGetDeviceMemRef") && instruction->numOperands == 1 &&
      instruction->numResults == 1) { // where the device sees memory of the host
    setResult(frame, instruction, 0, valueRetain(operandOf(frame, instruction, 0)));
    return true;
  }
  if (tileStringEquals(name, "getTensorFilename") && instruction->numOperands == 1 && instruction->numResults == 1) {
    setResult(frame, instruction, 0, operandOf(frame, instruction, 0)); // its number, for sparse_tensor.new
    return true;
  }
  bool isClock = tileStringEquals(name, "rtclock");
  if ((isClock || tileStringEquals(name, "nanoTime")) && !instruction->numOperands && instruction->numResults == 1) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t nanoseconds = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    Element time = isClock ? elementOfFloat((double)nanoseconds * 1e-9, INFINITY) : elementOfInteger(nanoseconds);
    time.bound = INFINITY; // any time is right
    setResult(frame, instruction, 0, valueOfElement(time));
    return true;
  }
  if (tileStringEquals(name, "printFlops") && instruction->numOperands == 1) {
    fprintf(stderr, "%f GFLOPS\n", operandOf(frame, instruction, 0).scalar.f / 1e9);
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
