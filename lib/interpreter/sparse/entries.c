// Lists of stored entries: made, sorted, merged, put into the order of a format (dialects/sparse/sparse.h).
#include "lib/interpreter/sparse/entries.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"

#include <stdlib.h>
#include <string.h>

//===--- lists ------------------------------------------------------------------------===//

Entries *interpretEntriesCreate(int rank, const int64_t *sizes) {
  Entries *entries = calloc(1, sizeof *entries);
  if (!entries)
    return NULL;
  entries->object = (Object){1, ObjectEntries};
  entries->rank = rank;
  for (int i = 0; i < rank; ++i)
    entries->sizes[i] = sizes[i];
  return entries;
}

void interpretEntriesClear(Entries *entries) { free(entries->items); }

static Entries *drop(Entries *entries) {
  valueRelease(valueOfObject(&entries->object));
  return NULL;
}

bool interpretEntriesAppend(Entries *entries, Entry entry) {
  Entry *items = tessera_grow(entries->items, entries->count, sizeof *items);
  if (!items)
    return false;
  entries->items = items;
  entries->items[entries->count++] = entry;
  return true;
}

bool interpretEntryIsInside(const Entries *entries, const Entry *entry) {
  for (int i = 0; i < entries->rank; ++i)
    if (entry->at[i] >= entries->sizes[i])
      return false;
  return true;
}

int interpretEntryCompare(const void *a, const void *b) {
  const Entry *left = a, *right = b;
  for (int i = 0; i < EntriesMaxRank; ++i) // beyond the rank all are 0
    if (left->at[i] != right->at[i])
      return left->at[i] < right->at[i] ? -1 : 1;
  return 0;
}

static void sortEntries(Entries *entries, int (*compare)(const void *, const void *)) {
  if (entries->count)
    qsort(entries->items, (size_t)entries->count, sizeof *entries->items, compare);
}

Entry *interpretEntriesFind(const Entries *sorted, const int64_t *place) {
  Entry wanted = {{0}};
  memcpy(wanted.at, place, (size_t)sorted->rank * sizeof *place);
  return sorted->count
             ? bsearch(&wanted, sorted->items, (size_t)sorted->count, sizeof *sorted->items, interpretEntryCompare)
             : NULL;
}

Entries *interpretEntriesMerge(Machine *machine, const Instruction *instruction, Entries *entries, bool mayAdd) {
  Entries *merged = interpretEntriesCreate(entries->rank, entries->sizes);
  const Row *add = interpretRowFind(instruction->in.isFloat ? (TileUpstream)ArithOp_AddF : ArithOp_AddI);
  bool ok = merged || interpretOutOfMemory(machine, instruction->op);
  sortEntries(entries, interpretEntryCompare);
  for (int64_t i = 0; ok && i < entries->count; ++i) {
    Entry *entry = &entries->items[i], *last = merged->count ? &merged->items[merged->count - 1] : NULL;
    if (!interpretEntryIsInside(entries, entry))
      continue;
    if (!last || interpretEntryCompare(last, entry) != 0)
      ok = interpretEntriesAppend(merged, *entry) || interpretOutOfMemory(machine, instruction->op);
    else if (!mayAdd)
      ok = interpretFail(machine, instruction->op, "finds two entries at (%lld, %lld)", (long long)entry->at[0],
                         (long long)entry->at[1]);
    else
      ok = interpretCombineElements(machine, instruction, add, &instruction->in, last->value, entry->value,
                                    &last->value);
  }
  drop(entries);
  return ok ? merged : merged ? drop(merged) : NULL;
}

bool interpretLinesOf(const Entries *entries, int axis, Lines *lines) {
  int64_t size = entries->sizes[axis];
  lines->begin = calloc((size_t)(size + 2 + entries->count), sizeof *lines->begin);
  if (!lines->begin)
    return false;
  lines->order = lines->begin + size + 2;
  int64_t *next = lines->begin + 1; // shifted by one while they are filled
  for (int64_t i = 0; i < entries->count; ++i)
    if (interpretEntryIsInside(entries, &entries->items[i]))
      next[entries->items[i].at[axis] + 1]++;
  for (int64_t i = 1; i <= size; ++i)
    next[i] += next[i - 1];
  for (int64_t i = 0; i < entries->count; ++i)
    if (interpretEntryIsInside(entries, &entries->items[i]))
      lines->order[next[entries->items[i].at[axis]]++] = i;
  return true;
}

//===--- orders -----------------------------------------------------------------------===//

static int compareColumns(const void *a, const void *b) {
  const Entry *left = a, *right = b;
  if (left->at[1] != right->at[1])
    return left->at[1] < right->at[1] ? -1 : 1;
  return (left->at[0] > right->at[0]) - (left->at[0] < right->at[0]);
}

// The value at a place, zero when nothing is stored there.
static bool appendAt(Entries *to, const Entries *sorted, int64_t row, int64_t column) {
  Entry entry = {{row, column}, elementOfInteger(0), 0}; // of floats the same: all bits are zero
  const Entry *stored = interpretEntriesFind(sorted, entry.at);
  return interpretEntriesAppend(to, stored ? *stored : entry);
}

static bool appendRectangle(Entries *to, const Entries *sorted, int64_t row, int64_t column, int64_t rows,
                            int64_t columns) {
  for (int64_t i = row; i < row + rows; ++i)
    for (int64_t j = column; j < column + columns; ++j)
      if (!appendAt(to, sorted, i, j))
        return false;
  return true;
}

typedef struct Corner {
  int64_t row, column;
} Corner;

static int compareCorners(const void *a, const void *b) {
  const Corner *left = a, *right = b;
  if (left->row != right->row)
    return left->row < right->row ? -1 : 1;
  return (left->column > right->column) - (left->column < right->column);
}

// Every rectangle of the grid that holds an entry, whole.
static bool fillRectangles(Entries *to, const Entries *sorted, int64_t rows, int64_t columns) {
  Corner *corners = malloc((size_t)(sorted->count + 1) * sizeof *corners);
  bool ok = corners != NULL;
  for (int64_t i = 0; ok && i < sorted->count; ++i)
    corners[i] = (Corner){sorted->items[i].at[0] / rows, sorted->items[i].at[1] / columns};
  if (ok)
    qsort(corners, (size_t)sorted->count, sizeof *corners, compareCorners);
  for (int64_t i = 0; ok && i < sorted->count; ++i)
    if (i == 0 || compareCorners(&corners[i - 1], &corners[i]) != 0)
      ok = appendRectangle(to, sorted, corners[i].row * rows, corners[i].column * columns, rows, columns);
  free(corners);
  return ok;
}

static void dropOutside(Entries *entries) {
  int64_t kept = 0;
  for (int64_t i = 0; i < entries->count; ++i)
    if (interpretEntryIsInside(entries, &entries->items[i]))
      entries->items[kept++] = entries->items[i];
  entries->count = kept;
}

//===--- windows ----------------------------------------------------------------------===//

// Is anything stored in these neighbours of a group's lines?
static bool isKept(const Entries *sorted, const SparseWindows *windows, int64_t group, int64_t along) {
  int64_t place[2];
  for (int64_t i = along; i < along + windows->together; ++i)
    for (int64_t line = group * windows->lines; line < (group + 1) * windows->lines; ++line) {
      place[windows->axis] = i;
      place[1 - windows->axis] = line;
      if (interpretEntriesFind(sorted, place))
        return true;
    }
  return false;
}

static bool appendKept(Entries *to, const Entries *sorted, const SparseWindows *windows, int64_t group, int64_t along) {
  for (int64_t i = along; i < along + windows->together; ++i)
    for (int64_t line = group * windows->lines; line < (group + 1) * windows->lines; ++line)
      if (!(windows->axis ? appendAt(to, sorted, line, i) : appendAt(to, sorted, i, line)))
        return false;
  return true;
}

// What is stored, then the first free places until there are n.
static bool fillWindow(Machine *machine, const Instruction *instruction, Entries *to, const Entries *sorted,
                       const SparseWindows *windows, int64_t group, int64_t window) {
  int64_t kept = 0, wanted = windows->n / windows->together, places = windows->m / windows->together;
  int64_t begin = window * windows->m;
  for (int64_t i = 0; i < places; ++i)
    kept += isKept(sorted, windows, group, begin + i * windows->together);
  if (kept > wanted)
    return interpretFail(machine, instruction->op,
                         "window %lld of group %lld holds %lld elements that are not zero, expected at most %lld",
                         (long long)window, (long long)group, (long long)(kept * windows->together),
                         (long long)windows->n);
  int64_t spare = wanted - kept;
  for (int64_t i = 0; i < places; ++i) {
    int64_t along = begin + i * windows->together;
    bool stored = isKept(sorted, windows, group, along);
    if (!stored && spare-- <= 0)
      continue;
    if (!appendKept(to, sorted, windows, group, along))
      return interpretOutOfMemory(machine, instruction->op);
  }
  return true;
}

static bool fillWindows(Machine *machine, const Instruction *instruction, Entries *to, const Entries *sorted,
                        MlirAttribute encoding) {
  SparseWindows windows = sparseEncodingGetWindows(encoding);
  int64_t across = sorted->sizes[1 - windows.axis], along = sorted->sizes[windows.axis];
  for (int64_t group = 0; group * windows.lines < across; ++group)
    for (int64_t window = 0; window * windows.m < along; ++window)
      if (!interpretStep(machine, instruction->op, windows.m) ||
          !fillWindow(machine, instruction, to, sorted, &windows, group, window))
        return false;
  return true;
}

//===--- by scheme --------------------------------------------------------------------===//

Entries *interpretEntriesLayOut(Machine *machine, const Instruction *instruction, Entries *entries,
                                MlirAttribute encoding) {
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  bool areWindows = storage.scheme == SparseScheme_Windows;
  sortEntries(entries, storage.major ? compareColumns : interpretEntryCompare);
  if (!storage.hasCells && !areWindows)
    return entries;
  Entries *filled = interpretEntriesCreate(entries->rank, entries->sizes);
  bool ok = filled || interpretOutOfMemory(machine, instruction->op);
  if (ok && areWindows) {
    ok = fillWindows(machine, instruction, filled, entries, encoding);
  } else if (ok) {
    ok = fillRectangles(filled, entries, storage.cell[0], storage.cell[1]) ||
         interpretOutOfMemory(machine, instruction->op);
  }
  drop(entries);
  if (!ok)
    return filled ? drop(filled) : NULL;
  if (storage.scheme == SparseScheme_Tiles) { // its values are the dense matrix
    dropOutside(filled);
    sortEntries(filled, interpretEntryCompare);
  }
  return filled;
}
