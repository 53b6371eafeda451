// sparse_tensor.new by definition: Matrix Market files (https://math.nist.gov/MatrixMarket/formats.html) and FROSTT
// files with upstream's two lines ahead (rank and number of entries, sizes). Why apart from
// lib/runtime/upstream_files.c: that one fills the levels that compiled code asks for; the two share no code.
#include "lib/interpreter/sparse/levels.h"

#include "mlir-c/BuiltinTypes.h"
#include "upstream/sparse_tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A file as numbers, line by line; comments begin with % or #.
typedef struct TensorFile {
  Machine *machine;
  const Instruction *instruction;
  const char *path;
  FILE *file;
  char line[1024], header[1024];
  int number;
} TensorFile;

static bool refuse(const TensorFile *file, const char *expected) {
  return interpretFail(file->machine, file->instruction->op, "reads %s:%d: %s", file->path, file->number, expected);
}

static bool nextLine(TensorFile *file) {
  while (fgets(file->line, sizeof file->line, file->file)) {
    ++file->number;
    const char *text = file->line + strspn(file->line, " \t\r\n");
    if (*text && *text != '%' && *text != '#')
      return true;
  }
  return false;
}

// Integers from `text` on; null when there are fewer than `count`.
static const char *integers(const char *text, int count, int64_t *numbers) {
  for (int i = 0; i < count && text; ++i) {
    char *end;
    numbers[i] = strtoll(text, &end, 10);
    text = end == text ? NULL : end;
  }
  return text;
}

typedef struct Shape {
  int rank;
  int64_t sizes[EntriesMaxRank], count;
  bool isPattern, isSymmetric;
} Shape;

static bool readShape(TensorFile *file, Shape *shape) {
  int64_t numbers[3];
  *shape = (Shape){.rank = 2};
  if (strstr(file->path, ".mtx")) {
    if (!fgets(file->header, sizeof file->header, file->file) ||
        strncmp(file->header, "%%MatrixMarket matrix coordinate ", 33) != 0)
      return refuse(file, "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
    ++file->number;
    shape->isPattern = strstr(file->header, " pattern ") != NULL;
    shape->isSymmetric = strstr(file->header, " symmetric") != NULL;
    if (strstr(file->header, " complex "))
      return interpretUnknown(file->machine, file->instruction->op, "not interpreted yet: files of complex numbers");
    if (!nextLine(file) || !integers(file->line, 3, numbers))
      return refuse(file, "expected rows, columns and the number of entries");
    memcpy(shape->sizes, numbers, sizeof *numbers * 2);
    shape->count = numbers[2];
    return true;
  }
  if (!nextLine(file) || !integers(file->line, 2, numbers) || numbers[0] < 1 || numbers[0] > EntriesMaxRank)
    return refuse(file, "expected the rank and the number of entries");
  shape->rank = (int)numbers[0];
  shape->count = numbers[1];
  return (nextLine(file) && integers(file->line, shape->rank, shape->sizes)) ||
         refuse(file, "expected a size for each dimension");
}

static bool append(const TensorFile *file, Entries *entries, Entry entry) {
  return interpretEntriesAppend(entries, entry) || interpretOutOfMemory(file->machine, file->instruction->op);
}

static bool readEntries(TensorFile *file, const Shape *shape, const Format *format, Entries *entries) {
  for (int64_t i = 0; i < shape->count; ++i) {
    Entry entry = {{0}}, mirrored;
    const char *text = nextLine(file) ? integers(file->line, shape->rank, entry.at) : NULL;
    if (!text)
      return refuse(file, "expected an entry: a coordinate for each dimension, from 1, and a value");
    for (int d = 0; d < shape->rank; ++d)
      if (entry.at[d] < 1 || entry.at[d]-- > shape->sizes[d])
        return refuse(file, "a coordinate lies outside of its dimension");
    double value = shape->isPattern ? 1 : strtod(text, NULL);
    entry.value = format->isFloat ? elementOfFloat(formatRound(format, value), 0)
                                  : elementOfInteger(interpretFormatWrap(format, (uint64_t)(int64_t)value));
    mirrored = entry;
    mirrored.at[0] = entry.at[1];
    mirrored.at[1] = entry.at[0];
    if (!append(file, entries, entry) ||
        (shape->isSymmetric && entry.at[0] != entry.at[1] && !append(file, entries, mirrored)))
      return false;
  }
  return true;
}

static Entries *readTensor(TensorFile *file, MlirType type) {
  Instruction reads = *file->instruction;
  Shape shape;
  if (!readShape(file, &shape) ||
      (!interpretFormatOf(interpretElementTypeOf(type), &reads.in) &&
       !interpretUnknown(file->machine, file->instruction->op, "not interpreted yet: files of such elements")))
    return NULL;
  bool fits = mlirShapedTypeGetRank(type) == shape.rank;
  for (int d = 0; fits && d < shape.rank; ++d)
    fits = mlirShapedTypeIsDynamicDim(type, d) || mlirShapedTypeGetDimSize(type, d) == shape.sizes[d];
  if (!fits)
    return refuse(file, "the sizes of the file are not those of the type"), NULL;
  Entries *entries = interpretEntriesCreate(shape.rank, shape.sizes);
  if (!entries)
    return interpretOutOfMemory(file->machine, file->instruction->op), NULL;
  if (readEntries(file, &shape, &reads.in, entries))
    return interpretEntriesMerge(file->machine, &reads, entries, true);
  valueRelease(valueOfObject(&entries->object));
  return NULL;
}

// The operand is what getTensorFilename(n) gives: n, for the file that the environment variable TENSORn names.
bool interpretLevelsNew(Machine *machine, Frame *frame, const Instruction *instruction) {
  char name[32];
  MlirType type = tileOnlyResultType(instruction->op);
  int64_t number;
  if (!interpretReadInteger(machine, instruction, operandOf(frame, instruction, 0).scalar, &number))
    return false;
  snprintf(name, sizeof name, "TENSOR%lld", (long long)number);
  TensorFile file = {.machine = machine, .instruction = instruction, .path = getenv(name)};
  if (!file.path)
    return interpretFail(machine, instruction->op, "needs %s, which is not set in the environment", name);
  file.file = fopen(file.path, "r");
  if (!file.file)
    return interpretFail(machine, instruction->op, "cannot open %s", file.path);
  Entries *entries = readTensor(&file, type);
  fclose(file.file);
  entries = entries ? interpretLevelsStore(machine, instruction, type, entries, NULL) : NULL;
  if (entries)
    setResult(frame, instruction, 0, valueOfObject(&entries->object));
  return entries != NULL;
}
