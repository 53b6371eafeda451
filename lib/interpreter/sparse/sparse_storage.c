// pack, unpack, convert, transpose, assemble and disassemble: between dense elements, stored entries and the
// components of a format, as the table of dialects/sparse/sparse.h defines them.
#include "dialects/sparse/ops.h"
#include "lib/interpreter/sparse/sparse.h"
#include "upstream/arith.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MlirAttribute encodingOfResult(const Instruction *instruction) {
  return sparseTypeGetEncoding(tileOnlyResultType(instruction->op));
}
static MlirAttribute encodingOfOperand(const Instruction *instruction) {
  return sparseTypeGetEncoding(tileOnlyOperandType(instruction->op));
}

static bool setEntries(Frame *frame, const Instruction *instruction, Entries *entries) {
  if (entries)
    setResult(frame, instruction, 0, valueOfObject(&entries->object));
  return entries != NULL;
}

// After an error that was reported, or for want of memory.
static bool failed(Machine *machine, const Instruction *instruction, Entries *entries) {
  if (entries)
    valueRelease(valueOfObject(&entries->object));
  return machine->failed ? false : interpretOutOfMemory(machine, instruction->op);
}

//===--- dense ------------------------------------------------------------------------===//

// nan is stored, -0.0 is not. Where a bound leaves open whether an element is zero, it is taken as it is.
static bool isStored(Machine *machine, const Instruction *instruction, Element x) {
  if (!instruction->in.isFloat)
    return x.i != 0;
  machine->undecided += x.bound > 0 && fabs(x.f) <= x.bound;
  return x.f != 0;
}

bool interpretSparsePack(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *dense = arrayOperand(frame, instruction, 0);
  Entries *entries = interpretEntriesCreate(dense->rank, dense->sizes);
  int64_t index[InterpreterMaxRank] = {0}, count = interpretArrayCount(dense);
  bool ok = entries && interpretStep(machine, instruction->op, count);
  const Element *x = arrayElements(dense);
  for (int64_t i = 0; ok && i < count; ++i, interpretIndexNext(dense->rank, dense->sizes, index)) {
    ok = interpretElementExpect(machine, instruction, x[i], "packs");
    if (!ok || !isStored(machine, instruction, x[i]))
      continue;
    Entry entry = {.value = x[i]};
    memcpy(entry.at, index, (size_t)dense->rank * sizeof *index);
    ok = interpretEntriesAppend(entries, entry);
  }
  if (!ok)
    return failed(machine, instruction, entries);
  return setEntries(frame, instruction,
                    interpretEntriesLayOut(machine, instruction, entries, encodingOfResult(instruction)));
}

typedef struct Place {
  int64_t number;
  double score, bound;
} Place;

// The highest first, a nan before all; of equal ones the first.
static int comparePlaces(const void *a, const void *b) {
  const Place *x = a, *y = b;
  if (isnan(x->score) != isnan(y->score))
    return isnan(x->score) ? -1 : 1;
  if (!isnan(x->score) && x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

// Where element `i` of place `place` of a window lies.
static int64_t elementOfPlace(const Array *dense, const SparseWindows *w, int64_t group, int64_t window, int64_t place,
                              int64_t i) {
  int64_t at[2];
  at[w->axis] = window * w->m + place * w->together + i % w->together;
  at[1 - w->axis] = group * w->lines + i / w->together;
  return at[0] * dense->sizes[1] + at[1];
}

// Keeps the highest places of one window; false after an error.
static bool pruneWindow(Machine *machine, const Instruction *instruction, const Array *dense, const SparseWindows *w,
                        int64_t group, int64_t window, Place *places, Entries *entries) {
  int64_t count = w->m / w->together, stay = w->n / w->together, together = w->lines * w->together;
  bool isSquared = !mlirAttributeIsNull(sparsePruneOpGetSquares(instruction->op));
  for (int64_t p = 0; p < count; ++p) {
    places[p] = (Place){.number = p};
    for (int64_t i = 0; i < together; ++i) {
      Element x = arrayElements(dense)[elementOfPlace(dense, w, group, window, p, i)];
      if (!interpretElementExpect(machine, instruction, x, "compares"))
        return false;
      places[p].score += isSquared ? x.f * x.f : fabs(x.f);
      places[p].bound += isSquared ? 2 * fabs(x.f) * x.bound : x.bound;
    }
    places[p].bound += together > 1 || isSquared ? (double)together * 0x1p-23 * places[p].score : 0; // summed in f32
  }
  qsort(places, (size_t)count, sizeof *places, comparePlaces);
  if (stay < count)
    machine->undecided += places[stay - 1].score != places[stay].score &&
                          places[stay - 1].score - places[stay].score <= places[stay - 1].bound + places[stay].bound;
  for (int64_t p = 0; p < stay; ++p)
    for (int64_t i = 0; i < together; ++i) {
      int64_t at = elementOfPlace(dense, w, group, window, places[p].number, i);
      Entry entry = {.value = arrayElements(dense)[at], .at = {at / dense->sizes[1], at % dense->sizes[1]}};
      if (isStored(machine, instruction, entry.value) && !interpretEntriesAppend(entries, entry))
        return false;
    }
  return true;
}

bool interpretSparsePrune(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Array *dense = arrayOperand(frame, instruction, 0);
  SparseWindows w = sparseEncodingGetWindows(encodingOfResult(instruction));
  Entries *entries = interpretEntriesCreate(dense->rank, dense->sizes);
  Place *places = calloc((size_t)(w.m / w.together), sizeof *places);
  bool ok = entries && places && interpretStep(machine, instruction->op, interpretArrayCount(dense));
  for (int64_t group = 0; ok && group < dense->sizes[1 - w.axis] / w.lines; ++group)
    for (int64_t window = 0; ok && window < dense->sizes[w.axis] / w.m; ++window)
      ok = pruneWindow(machine, instruction, dense, &w, group, window, places, entries);
  free(places);
  if (!ok)
    return failed(machine, instruction, entries);
  return setEntries(frame, instruction,
                    interpretEntriesLayOut(machine, instruction, entries, encodingOfResult(instruction)));
}

bool interpretSparseUnpack(Machine *machine, Frame *frame, const Instruction *instruction) {
  const Entries *entries = entriesOperand(frame, instruction, 0);
  const Row *add = interpretRowFind(instruction->in.isFloat ? (TileUpstream)ArithOp_AddF : ArithOp_AddI);
  Array *dense = interpretNewArray(machine, instruction, entries->rank, entries->sizes);
  bool ok = dense && interpretStep(machine, instruction->op, interpretArrayCount(dense) + entries->count);
  char *written = ok ? calloc((size_t)interpretArrayCount(dense) + 1, 1) : NULL;
  ok = ok && (written || interpretOutOfMemory(machine, instruction->op));
  for (int64_t i = 0; ok && i < interpretArrayCount(dense); ++i)
    arrayElements(dense)[i] = elementOfInteger(0);
  for (int64_t i = 0; ok && i < entries->count; ++i) {
    const Entry *entry = &entries->items[i];
    if (!interpretEntryIsInside(entries, entry))
      continue;
    int64_t place = interpretPlaceOf(dense, entry->at);
    Element *x = &dense->storage->elements[place];
    if (written[place])
      ok = interpretCombineElements(machine, instruction, add, &instruction->in, *x, entry->value, x);
    else
      *x = entry->value;
    written[place] = 1;
  }
  free(written);
  if (dense)
    setResult(frame, instruction, 0, valueOfObject(&dense->object));
  return ok;
}

//===--- other formats ----------------------------------------------------------------===//

static Entries *copyOf(const Entries *entries, bool swapped) {
  int64_t sizes[EntriesMaxRank];
  for (int i = 0; i < entries->rank; ++i)
    sizes[i] = entries->sizes[swapped ? 1 - i : i];
  Entries *copy = interpretEntriesCreate(entries->rank, sizes);
  for (int64_t i = 0; copy && i < entries->count; ++i) {
    Entry entry = entries->items[i];
    if (swapped) {
      entry.at[0] = entries->items[i].at[1];
      entry.at[1] = entries->items[i].at[0];
    }
    entry.part = 0;
    if (!interpretEntriesAppend(copy, entry)) {
      valueRelease(valueOfObject(&copy->object));
      return NULL;
    }
  }
  return copy;
}

// To nm what is zero goes, as when it is packed.
static void dropZeros(Machine *machine, const Instruction *instruction, Entries *entries) {
  int64_t kept = 0;
  for (int64_t i = 0; i < entries->count; ++i)
    if (isStored(machine, instruction, entries->items[i].value))
      entries->items[kept++] = entries->items[i];
  entries->count = kept;
}

static bool convert(Machine *machine, Frame *frame, const Instruction *instruction, bool swapped, bool mayAdd) {
  const Entries *from = entriesOperand(frame, instruction, 0);
  MlirAttribute wanted = encodingOfResult(instruction);
  Entries *copy = interpretStep(machine, instruction->op, from->count) ? copyOf(from, swapped) : NULL;
  if (!copy)
    return failed(machine, instruction, NULL);
  if (!swapped && mayAdd && mlirAttributeEqual(wanted, encodingOfOperand(instruction)))
    return setEntries(frame, instruction, copy); // stays as it is
  Entries *merged = interpretEntriesMerge(machine, instruction, copy, mayAdd);
  if (merged && sparseEncodingIs(wanted, SparseScheme_Windows))
    dropZeros(machine, instruction, merged);
  return merged && setEntries(frame, instruction, interpretEntriesLayOut(machine, instruction, merged, wanted));
}

bool interpretSparseConvert(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirAttribute duplicates = sparseConvertOpGetDuplicates(instruction->op);
  bool mayAdd = mlirAttributeIsNull(duplicates) || !tileStringEquals(mlirStringAttrGetValue(duplicates), "error");
  return convert(machine, frame, instruction, false, mayAdd);
}

bool interpretSparseTranspose(Machine *machine, Frame *frame, const Instruction *instruction) {
  return convert(machine, frame, instruction, true, true);
}

//===--- components -------------------------------------------------------------------===//

// The components of one part: where they begin among all.
typedef struct Parts {
  Machine *machine;
  const Instruction *instruction;
  Entries *entries;
  InterpretValue *components;
  MlirAttribute encoding;
  SparseStorage storage; // of `encoding`
  intptr_t first;
  int part;
} Parts;

static const Array *component(const Parts *parts, intptr_t index) {
  return arrayOf(parts->components[parts->first + index]);
}

static bool numberAt(const Parts *parts, const Array *array, int64_t index, int64_t *number) {
  return interpretReadInteger(parts->machine, parts->instruction, arrayElements(array)[index], number);
}

static bool append(const Parts *parts, const int64_t *at, Element value) {
  Entry entry = {.value = value, .part = parts->part};
  memcpy(entry.at, at, (size_t)parts->entries->rank * sizeof *at);
  return interpretEntriesAppend(parts->entries, entry) || interpretOutOfMemory(parts->machine, parts->instruction->op);
}

static bool expectIn(const Parts *parts, const char *what, int64_t index, int64_t seen, int64_t least, int64_t most) {
  return (seen >= least && seen <= most) ||
         interpretFail(parts->machine, parts->instruction->op, "%s %lld is %lld, expected %lld to %lld", what,
                       (long long)index, (long long)seen, (long long)least, (long long)most);
}

static bool appendSegments(const Parts *parts) {
  int major = parts->storage.major;
  int64_t rows = parts->storage.cell[major], columns = parts->storage.cell[1 - major];
  const Array *positions = component(parts, 0), *coordinates = component(parts, 1), *values = component(parts, 2);
  int64_t block = rows * columns, begin, end, here, before;
  int64_t segments = positions->sizes[0] - 1, entries = coordinates->sizes[0];
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the encoding's verifier keeps each extent of a cell above 0.
  int64_t minor = (parts->entries->sizes[1 - major] + columns - 1) / columns;
  if (segments < 0 || values->sizes[0] != entries)
    return interpretFail(parts->machine, parts->instruction->op, "has %lld coordinates for %lld values",
                         (long long)entries, (long long)values->sizes[0]);
  if (!expectIn(parts, "the number of segments", 0, segments, (parts->entries->sizes[major] + rows - 1) / rows,
                (parts->entries->sizes[major] + rows - 1) / rows) ||
      !numberAt(parts, positions, 0, &begin) || !expectIn(parts, "position", 0, begin, 0, 0))
    return false;
  for (int64_t segment = 0; segment < segments; ++segment, begin = end) {
    before = -1;
    if (!numberAt(parts, positions, segment + 1, &end) ||
        !expectIn(parts, "position", segment + 1, end, begin, entries))
      return false;
    for (int64_t i = begin; i < end; ++i, before = here) {
      if (!numberAt(parts, coordinates, i, &here) || !expectIn(parts, "coordinate", i, here, before + 1, minor - 1))
        return false;
      for (int64_t b = 0; b < block; ++b) {
        int64_t at[2];
        at[major] = segment * rows + b / columns;
        at[1 - major] = here * columns + b % columns;
        if (!append(parts, at, arrayElements(values)[i * block + b]))
          return false;
      }
    }
  }
  return expectIn(parts, "position", segments, begin, entries, entries);
}

static bool appendCoordinates(const Parts *parts) {
  const Array *coordinates = component(parts, 0), *values = component(parts, 1);
  int64_t count = values->sizes[0], at[EntriesMaxRank];
  if (!expectIn(parts, "the number of coordinates", 0, coordinates->sizes[1], count, count))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < parts->entries->rank; ++axis)
      if (!numberAt(parts, coordinates, axis * count + i, &at[axis]) ||
          !expectIn(parts, "coordinate", axis * count + i, at[axis], 0, parts->entries->sizes[axis] - 1))
        return false;
    if (!append(parts, at, arrayElements(values)[i]))
      return false;
    Entry *last = &parts->entries->items[parts->entries->count - 1];
    if (i && !parts->storage.isUnordered && interpretEntryCompare(last - 1, last) >= 0)
      return interpretFail(parts->machine, parts->instruction->op,
                           "entry %lld of #sparse.coo stands not after the one before it in row-major order",
                           (long long)i);
  }
  return true;
}

static bool appendWindow(const Parts *parts, const int64_t *window, int64_t kept, int64_t places) {
  const Array *coordinates = component(parts, 0), *values = component(parts, 1);
  SparseWindows w = parts->storage.windows;
  int64_t before = -1, here, at[2];
  int64_t first = (window[0] * coordinates->sizes[1] + window[1]) * kept;
  Format format;
  interpretFormatOf(sparseEncodingGetType(parts->encoding, "coordinates"), &format);
  for (int64_t i = 0; i < kept; ++i, before = here) {
    if (!numberAt(parts, coordinates, first + i, &here))
      return false;
    here = (int64_t)interpretFormatUnsigned(&format, here); // coordinates within a window have no sign
    if (!expectIn(parts, "coordinate", first + i, here, before + 1, places - 1))
      return false;
    for (int64_t j = 0; j < w.together * w.lines; ++j) {
      at[w.axis] = window[1] * w.m + here * w.together + j / w.lines;
      at[1 - w.axis] = window[0] * w.lines + j % w.lines;
      if (!append(parts, at, arrayElements(values)[(first + i) * w.together * w.lines + j]))
        return false;
    }
  }
  return true;
}

static bool appendWindows(const Parts *parts) {
  const Array *coordinates = component(parts, 0);
  SparseWindows w = parts->storage.windows;
  int64_t groups = (parts->entries->sizes[1 - w.axis] + w.lines - 1) / w.lines;
  int64_t windows = (parts->entries->sizes[w.axis] + w.m - 1) / w.m, window[2];
  if (!expectIn(parts, "the number of groups", 0, coordinates->sizes[0], groups, groups) ||
      !expectIn(parts, "the number of windows", 0, coordinates->sizes[1], windows, windows))
    return false;
  for (window[0] = 0; window[0] < groups; ++window[0])
    for (window[1] = 0; window[1] < windows; ++window[1])
      if (!appendWindow(parts, window, coordinates->sizes[2], w.m / w.together))
        return false;
  return true;
}

static bool appendMasked(const Parts *parts) {
  const Array *mask = component(parts, 0), *values = component(parts, 1);
  int64_t rows = parts->storage.cell[0], stored;
  int64_t columns = parts->storage.cell[1], at[2];
  if (!expectIn(parts, "the number of rows of the values", 0, values->sizes[0], parts->entries->sizes[0],
                parts->entries->sizes[0]) ||
      !expectIn(parts, "the number of rows of the mask", 0, mask->sizes[0], (values->sizes[0] + rows - 1) / rows,
                (values->sizes[0] + rows - 1) / rows) ||
      !expectIn(parts, "the number of columns of the mask", 0, mask->sizes[1],
                (values->sizes[1] + columns - 1) / columns, (values->sizes[1] + columns - 1) / columns))
    return false;
  for (at[0] = 0; at[0] < values->sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < values->sizes[1]; ++at[1]) {
      if (!numberAt(parts, mask, at[0] / rows * mask->sizes[1] + at[1] / columns, &stored))
        return false;
      if (stored && !append(parts, at, arrayElements(values)[at[0] * values->sizes[1] + at[1]]))
        return false;
    }
  return true;
}

static bool appendParts(const Parts *parts) {
  switch (parts->storage.scheme) {
  case SparseScheme_Segments:
    return appendSegments(parts);
  case SparseScheme_Coordinates:
    return appendCoordinates(parts);
  case SparseScheme_Windows:
    return appendWindows(parts);
  case SparseScheme_Tiles:
    return appendMasked(parts);
  case SparseScheme_Parts: // one of them stands here
    break;
  }
  return false;
}

// Calls `each` for the tensor, or for each part of a sum.
static bool forParts(Parts parts, MlirType type, bool (*each)(const Parts *parts)) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  bool isSum = sparseEncodingIs(encoding, SparseScheme_Parts);
  for (int i = 0; i < (isSum ? sparseEncodingGetNumParts(encoding) : 1); ++i) {
    parts.encoding = isSum ? sparseEncodingGetPart(encoding, i) : encoding;
    parts.storage = sparseEncodingGetStorage(parts.encoding);
    parts.part = i;
    if (!each(&parts))
      return false;
    parts.first += sparseTypeGetComponents(sparseTypeWithEncoding(type, parts.encoding), unused);
  }
  return true;
}

Entries *interpretEntriesAssemble(Machine *machine, const Instruction *instruction, MlirType type, const int64_t *sizes,
                                  InterpretValue *components) {
  int rank = (int)mlirShapedTypeGetRank(type);
  Parts parts = {.machine = machine, .instruction = instruction, .components = components};
  for (int i = 0; i < rank; ++i)
    if (sizes[i] < 0) {
      interpretFail(machine, instruction->op, "makes a tensor of size %lld", (long long)sizes[i]);
      return NULL;
    }
  parts.entries = interpretEntriesCreate(rank, sizes);
  if (parts.entries && forParts(parts, type, appendParts))
    return parts.entries;
  failed(machine, instruction, parts.entries);
  return NULL;
}

bool interpretSparseAssemble(Machine *machine, Frame *frame, const Instruction *instruction) {
  MlirType type = tileOnlyResultType(instruction->op);
  int64_t sizes[EntriesMaxRank];
  InterpretValue components[SPARSE_MAX_COMPONENTS];
  intptr_t dynamic = interpretGroupBegin(instruction, 1);
  for (intptr_t i = 0; i < dynamic; ++i)
    components[i] = operandOf(frame, instruction, i);
  for (int i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(sizes[i]) &&
        !interpretIndexOperand(machine, frame, instruction, dynamic++, &sizes[i]))
      return false;
  }
  return setEntries(frame, instruction, interpretEntriesAssemble(machine, instruction, type, sizes, components));
}

//===--- out again --------------------------------------------------------------------===//

static Element *give(const Parts *parts, intptr_t index, int rank, const int64_t *sizes) {
  Array *array = interpretNewArray(parts->machine, parts->instruction, rank, sizes);
  if (!array)
    return NULL;
  parts->components[parts->first + index] = valueOfObject(&array->object);
  return arrayElements(array);
}
#define GIVE(parts, index, ...)                                                                                        \
  give(parts, index, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static int64_t countPart(const Parts *parts) {
  int64_t count = 0;
  for (int64_t i = 0; i < parts->entries->count; ++i)
    count += parts->entries->items[i].part == parts->part;
  return count;
}

// Entry number `index` of the part.
static const Entry *entryOfPart(const Parts *parts, int64_t index) {
  const Entry *entry = parts->entries->items;
  while (entry->part != parts->part)
    ++entry;
  return entry + index; // the entries of a part stand together
}

static bool giveSegments(const Parts *parts) {
  int major = parts->storage.major;
  int64_t rows = parts->storage.cell[major], columns = parts->storage.cell[1 - major];
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the encoding's verifier keeps each extent of a cell above 0.
  int64_t block = rows * columns, count = countPart(parts) / block;
  int64_t segments = (parts->entries->sizes[major] + rows - 1) / rows;
  Element *positions = GIVE(parts, 0, segments + 1), *coordinates = GIVE(parts, 1, count);
  Element *values = parts->storage.hasCells ? GIVE(parts, 2, count, rows, columns) : GIVE(parts, 2, count);
  if (!positions || !coordinates || !values)
    return false;
  for (int64_t i = 0; i <= segments; ++i)
    positions[i] = elementOfInteger(0);
  for (int64_t i = 0; i < count; ++i) {
    const Entry *entry = entryOfPart(parts, i * block);
    positions[entry->at[major] / rows + 1].i++;
    coordinates[i] = elementOfInteger(entry->at[1 - major] / columns);
    for (int64_t b = 0; b < block; ++b)
      values[i * block + b] = entry[b].value;
  }
  for (int64_t i = 0; i < segments; ++i)
    positions[i + 1].i += positions[i].i;
  return true;
}

static bool giveCoordinates(const Parts *parts) {
  int64_t count = countPart(parts);
  Element *coordinates = GIVE(parts, 0, parts->entries->rank, count), *values = GIVE(parts, 1, count);
  for (int64_t i = 0; coordinates && values && i < count; ++i) {
    const Entry *entry = entryOfPart(parts, i);
    for (int axis = 0; axis < parts->entries->rank; ++axis)
      coordinates[axis * count + i] = elementOfInteger(entry->at[axis]);
    values[i] = entry->value;
  }
  return coordinates && values;
}

static bool giveWindows(const Parts *parts) {
  SparseWindows w = parts->storage.windows;
  int64_t groups = (parts->entries->sizes[1 - w.axis] + w.lines - 1) / w.lines, count = countPart(parts);
  int64_t windows = (parts->entries->sizes[w.axis] + w.m - 1) / w.m;
  Element *coordinates = GIVE(parts, 0, groups, windows, w.n / w.together);
  Element *values = GIVE(parts, 1, groups, windows, w.n, w.lines);
  Format format;
  interpretFormatOf(sparseEncodingGetType(parts->encoding, "coordinates"), &format);
  for (int64_t i = 0; coordinates && values && i < count; ++i) {
    const Entry *entry = entryOfPart(parts, i);
    values[i] = entry->value;
    if (i % (w.together * w.lines) == 0)
      coordinates[i / (w.together * w.lines)] =
          elementOfInteger(interpretFormatWrap(&format, (uint64_t)(entry->at[w.axis] % w.m / w.together)));
  }
  return coordinates && values;
}

static bool giveMasked(const Parts *parts) {
  int64_t rows = parts->storage.cell[0], count = countPart(parts);
  int64_t columns = parts->storage.cell[1];
  const int64_t *sizes = parts->entries->sizes;
  int64_t down = (sizes[0] + rows - 1) / rows, across = (sizes[1] + columns - 1) / columns;
  Element *mask = GIVE(parts, 0, down, across), *values = GIVE(parts, 1, sizes[0], sizes[1]);
  if (!mask || !values)
    return false;
  for (int64_t i = 0; i < down * across; ++i)
    mask[i] = elementOfInteger(0);
  for (int64_t i = 0; i < sizes[0] * sizes[1]; ++i)
    values[i] = elementOfInteger(0);
  for (int64_t i = 0; i < count; ++i) {
    const Entry *entry = entryOfPart(parts, i);
    mask[entry->at[0] / rows * across + entry->at[1] / columns] = elementOfInteger(-1);
    values[entry->at[0] * sizes[1] + entry->at[1]] = entry->value;
  }
  return true;
}

static bool giveParts(const Parts *parts) {
  switch (parts->storage.scheme) {
  case SparseScheme_Segments:
    return giveSegments(parts);
  case SparseScheme_Coordinates:
    return giveCoordinates(parts);
  case SparseScheme_Windows:
    return giveWindows(parts);
  case SparseScheme_Tiles:
    return giveMasked(parts);
  case SparseScheme_Parts: // one of them stands here
    break;
  }
  return false;
}

bool interpretEntriesDisassemble(Machine *machine, const Instruction *instruction, MlirType type, Entries *entries,
                                 InterpretValue *components) {
  return forParts((Parts){.machine = machine, .instruction = instruction, .entries = entries, .components = components},
                  type, giveParts);
}

bool interpretSparseDisassemble(Machine *machine, Frame *frame, const Instruction *instruction) {
  InterpretValue components[SPARSE_MAX_COMPONENTS] = {{.object = NULL}};
  bool ok = interpretEntriesDisassemble(machine, instruction, sparseDisassembleOpGetInputType(instruction->op),
                                        entriesOperand(frame, instruction, 0), components);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(instruction->op); ++i)
    setResult(frame, instruction, i, components[i]); // null after an error
  return ok;
}
