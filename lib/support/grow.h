// grow.h - arrays on the heap that grow by one element.
//
//   list->items = tessera_grow(list->items, list->count, sizeof *list->items);
//   list->items[list->count++] = item;
//
// The array doubles when its count is a power of two, so that nobody keeps a capacity.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Room for one more element of `size` bytes than `count`. Null: out of memory, and `items` is as it was.
static inline void *tessera_grow(void *items, int64_t count, size_t size) {
  return count & (count - 1) ? items : realloc(items, (count ? 2 * (size_t)count : 1) * size);
}
