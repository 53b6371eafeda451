// A map from pointers to pointers, for what a conversion or a builder knows about a value, an op or an attribute.
//
//   TileTable table = {0};
//   tileTableSet(&table, value.ptr, record);
//   Record *record = tileTableFind(&table, value.ptr);
//   tileTableFree(&table);
#pragma once

#include <stddef.h>

typedef struct TileTable {
  struct TileTableEntry *entries; // open addressing
  size_t count, capacity;         // capacity: 0 or a power of two
} TileTable;
void *tileTableFind(const TileTable *table, const void *key); // null: not there
void tileTableSet(TileTable *table, const void *key, void *value);
void tileTableFree(TileTable *table); // it can be used again
