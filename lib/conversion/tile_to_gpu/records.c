// What the values of a kernel are held as, by value: an open-addressed table, and memory that lives as long.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include <stdlib.h>
#include <string.h>

//===--- memory ---------------------------------------------------------------===//

struct Arena {
  Arena *next;
  max_align_t data[];
};

void *gpuAllocate(Gpu *g, size_t bytes) {
  Arena *piece = calloc(1, sizeof *piece + bytes);
  piece->next = g->arena;
  g->arena = piece;
  return piece->data;
}

//===--- the table --------------------------------------------------------------===//

typedef struct Entry {
  const void *key;
  Record *record;
} Entry;

typedef struct Table {
  Entry *entries;
  size_t count, capacity; // a power of two
} Table;

static Entry *find(const Table *table, const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    Entry *entry = &table->entries[at & (table->capacity - 1)];
    if (!entry->key || entry->key == key)
      return entry;
  }
}

static void grow(Table *table) {
  Table old = *table;
  table->capacity = old.capacity ? 2 * old.capacity : 256;
  table->entries = calloc(table->capacity, sizeof *table->entries);
  for (size_t i = 0; i < old.capacity; ++i)
    if (old.entries[i].key)
      *find(table, old.entries[i].key) = old.entries[i];
  free(old.entries);
}

void gpuRecordsCreate(Gpu *g) {
  g->table = calloc(1, sizeof *g->table);
  grow(g->table);
}

void gpuRecordsDestroy(Gpu *g) {
  free(g->table->entries);
  free(g->table);
  for (Arena *piece = g->arena, *next; piece; piece = next) {
    next = piece->next;
    free(piece);
  }
  free(g->maps);
}

void gpuRecordAlias(Gpu *g, MlirValue source, Record *record) {
  if (2 * g->table->count >= g->table->capacity)
    grow(g->table);
  Entry *entry = find(g->table, source.ptr);
  g->table->count += !entry->key;
  *entry = (Entry){source.ptr, record};
}

Record *gpuRecord(Gpu *g, MlirValue source) { return find(g->table, source.ptr)->record; }

Record *gpuRecordNew(Gpu *g, MlirValue source, RecordKind kind) {
  Record *record = gpuAllocate(g, sizeof *record);
  record->kind = kind;
  record->type = mlirValueGetType(source);
  gpuRecordAlias(g, source, record);
  return record;
}

//===--- kinds --------------------------------------------------------------------===//

void gpuRecordScalar(Gpu *g, MlirValue source, MlirValue value) { gpuRecordTile(g, source)[0] = value; }

MlirValue *gpuRecordTile(Gpu *g, MlirValue source) {
  Record *record = gpuRecordNew(g, source, Record_Number);
  record->count = gpuRegisters(record->type);
  record->registers = gpuAllocate(g, (size_t)record->count * sizeof *record->registers);
  return record->registers;
}

MlirValue gpuScalar(Gpu *g, MlirValue source) {
  Record *record = gpuRecord(g, source);
  return record ? record->registers[0] : (MlirValue){NULL};
}

MlirValue *gpuTile(Gpu *g, MlirValue source) {
  Record *record = gpuRecord(g, source);
  if (record->pending)
    gpuLoadAll(g, record->pending);
  record->pending = NULL;
  return record->registers;
}

MlirValue gpuRegisterOf(Gpu *g, MlirValue source, intptr_t reg) {
  return gpuTile(g, source)[gpuIsTile(mlirValueGetType(source)) ? reg : 0];
}

bool gpuIsTile(MlirType type) { return mlirTypeIsATensor(type); }

MlirType gpuElementType(MlirType type) { return gpuIsTile(type) ? tileTypeGetElement(type) : type; }

TileLayout gpuLayoutOf(MlirType type) {
  return gpuIsTile(type) ? tileLayoutAttrGetLayout(tileTypeGetLayout(type)) : tileLayoutEmpty(TileLayoutValues);
}

intptr_t gpuRegisters(MlirType type) {
  TileLayout layout = gpuLayoutOf(type);
  return (intptr_t)tileLayoutDimSize(&layout, TileLayoutReg);
}
