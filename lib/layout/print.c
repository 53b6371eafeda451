// Writes the unique text of a layout. See text.h for the grammar and what makes the text unique.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/layout/text.h"

typedef struct {
  char *buffer;
  size_t capacity, length;
} Printer;

static void print(Printer *printer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(Printer *printer, const char *format, ...) {
  size_t room = printer->length < printer->capacity ? printer->capacity - printer->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(room ? printer->buffer + printer->length : NULL, room, format, arguments);
  va_end(arguments);
  printer->length += written > 0 ? (size_t)written : 0;
}

static void printTerm(Printer *printer, uint32_t axis, uint32_t stride) {
  print(printer, stride == 1 ? "d%u" : "d%u*%u", axis, stride);
}

static void printStep(Printer *printer, const TileLayoutPoint *step) {
  const char *separator = "";
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    for (uint32_t rest = step->at[axis]; rest; rest &= rest - 1) {
      print(printer, "%s", separator);
      printTerm(printer, axis, rest & -rest);
      separator = "+";
    }
  if (!*separator)
    print(printer, "_");
}

// How many bits from here on double the step before: they print as one mode.
static uint32_t runLength(const TileLayoutPoint *steps, uint32_t count) {
  uint32_t run = 1;
  for (; run < count; ++run)
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      if (steps[run].at[axis] != steps[run - 1].at[axis] << 1)
        return run;
  return run;
}

static void printModes(Printer *printer, const TileLayout *layout, uint32_t dim, const TileLayoutPoint *steps) {
  const char *separator = "";
  for (uint32_t bit = 0, run; bit < layout->bits[dim]; bit += run, separator = ", ") {
    run = runLength(steps + bit, layout->bits[dim] - bit);
    print(printer, "%s%" PRIu64 ":", separator, UINT64_C(1) << run);
    printStep(printer, &steps[bit]);
  }
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    const TileLayoutRepeat *repeat = &layout->repeats[i];
    if (repeat->dim != dim)
      continue;
    print(printer, "%s%u:", separator, repeat->count);
    separator = ", ";
    if (repeat->axis == TILE_LAYOUT_COPIES)
      print(printer, "_");
    else
      printTerm(printer, (uint32_t)repeat->axis, repeat->stride);
  }
}

size_t tileLayoutPrint(const TileLayout *layout, char *buffer, size_t capacity) {
  Printer printer = {buffer, capacity, 0};
  const TileLayoutPoint *steps = layout->steps;
  if (capacity)
    buffer[0] = '\0';
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; steps += layout->bits[dim++]) {
    if (tileLayoutDimSize(layout, dim) == 1)
      continue;
    print(&printer, "%s%s [", printer.length ? ", " : "", tileLayoutDimName(layout->kind, dim));
    printModes(&printer, layout, dim, steps);
    print(&printer, "]");
  }
  if (!printer.length)
    print(&printer, "%s []", tileLayoutDimName(layout->kind, 0));
  if (layout->padEvery)
    print(&printer, " pad %u every %u", layout->padAmount, layout->padEvery);
  return printer.length;
}
