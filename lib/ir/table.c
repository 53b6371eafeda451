// Open addressing with at most half of the entries in use. See table.h.
#include "lib/ir/table.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct TileTableEntry {
  const void *key; // null: free
  void *value;
} TileTableEntry;

static TileTableEntry *entryOf(const TileTable *table, const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    TileTableEntry *entry = &table->entries[at & (table->capacity - 1)];
    if (!entry->key || entry->key == key)
      return entry;
  }
}

static void grow(TileTable *table) {
  TileTable old = *table;
  table->capacity = old.capacity ? 2 * old.capacity : 64;
  table->entries = calloc(table->capacity, sizeof *table->entries);
  for (size_t i = 0; i < old.capacity; ++i)
    if (old.entries[i].key)
      *entryOf(table, old.entries[i].key) = old.entries[i];
  free(old.entries);
}

void *tileTableFind(const TileTable *table, const void *key) {
  return table->capacity ? entryOf(table, key)->value : NULL;
}

void tileTableSet(TileTable *table, const void *key, void *value) {
  if (2 * table->count >= table->capacity)
    grow(table);
  TileTableEntry *entry = entryOf(table, key);
  table->count += !entry->key;
  *entry = (TileTableEntry){key, value};
}

void tileTableFree(TileTable *table) {
  free(table->entries);
  *table = (TileTable){0};
}
