// grow.h - arrays on the heap that grow by one element, and texts that list things.
//
//   list->items = tessera_grow(list->items, list->count, sizeof *list->items);
//   list->items[list->count++] = item;
//
// The array doubles when its count is a power of two, so that nobody keeps a capacity.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Makes room for one element of `size` bytes behind `count`. Returns the array. Null: out of memory, `items` stays.
static inline void *tessera_grow(void *items, int64_t count, size_t size) {
  return count & (count - 1) ? items : realloc(items, (count ? 2 * (size_t)count : 1) * size);
}

// A text on the heap for a message: "cpu, nvvm, rocdl". Not for data: an item that finds no memory is left out.
// TESSERA_LIST declares a variable that is freed at the end of its block:
//
//   TESSERA_LIST(known);
//   for (…)
//     tessera_list_add(&known, "%s", name);
//   return tessera_fail(out_error, "unknown target '%s'; known: %s", wanted, known.text);
typedef struct tessera_list_t {
  const char *text; // never null
  char *owned;      // null: nothing is listed
  size_t length;
} tessera_list_t;

#define TESSERA_LIST(name) tessera_list_t name __attribute__((cleanup(tessera_list_free))) = {"", NULL, 0}

static inline void tessera_list_free(tessera_list_t *list) { free(list->owned); }

// One more item.
__attribute__((format(printf, 2, 3))) static inline void tessera_list_add(tessera_list_t *list, const char *format,
                                                                          ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t comma = list->length ? 2 : 0;
  int more = vsnprintf(NULL, 0, format, arguments);
  char *grown = more < 0 ? NULL : (char *)realloc(list->owned, list->length + comma + (size_t)more + 1);
  if (grown) {
    list->text = list->owned = grown;
    list->length += (size_t)snprintf(grown + list->length, comma + 1, "%s", comma ? ", " : "");
    list->length += (size_t)vsnprintf(grown + list->length, (size_t)more + 1, format, again);
  }
  va_end(again);
  va_end(arguments);
}
