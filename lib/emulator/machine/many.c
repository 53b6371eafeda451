// many.c - lists of records. Costs: a pass over the rows of one list; a list has as many rows as warps in a usual
// kernel.
#include "lib/emulator/machine/many.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_ROWS = 4, ROWS_AT_MOST = 256 }; // beyond, the oldest are forgotten: a race may be missed, none is made up

// Lanes that accessed the same bytes at the same stamp from the same site; |record| is the first one's.
typedef struct row_t {
  uint64_t record, lanes;
} row_t;

typedef struct list_t {
  uint32_t count, room;
  row_t own[OWN_ROWS]; // enough for most
  row_t *rows;         // used instead when there are more; null: not yet
} list_t;

struct emu_many_t {
  list_t *lists;
  uint32_t used, made, room;
};

emu_many_t *emu_many_create(void) { return calloc(1, sizeof(emu_many_t)); }

void emu_many_destroy(emu_many_t *many) {
  if (!many)
    return;
  for (uint32_t i = 0; i < many->made; ++i)
    free(many->lists[i].rows);
  free(many->lists);
  free(many);
}

void emu_many_reset(emu_many_t *many) { many->used = 0; }

static bool grow(void **memory, uint32_t *room, size_t bytes) {
  uint32_t wanted = *room ? 2 * *room : 2 * OWN_ROWS;
  void *larger = realloc(*memory, wanted * bytes);
  if (!larger)
    return false;
  *memory = larger;
  *room = wanted;
  return true;
}

static row_t *rows_of(list_t *list) { return list->count > OWN_ROWS ? list->rows : list->own; }

static const uint64_t thread_field = UINT64_C(0x3ff) << 22;

static uint32_t lane_of(const emu_thread_t *self, uint64_t record) {
  return emu_thread_of(record) & (self->view.block->warp_width - 1);
}

// Rows move from the list to memory of their own when they outgrow it.
static bool has_room(list_t *list) {
  if (list->count < OWN_ROWS)
    return true;
  if (list->count >= list->room && !grow((void **)&list->rows, &list->room, sizeof(row_t)))
    return false;
  if (list->count == OWN_ROWS)
    memcpy(list->rows, list->own, sizeof list->own);
  return true;
}

static void append(emu_thread_t *self, list_t *list, uint64_t record) {
  if (list->count == ROWS_AT_MOST)
    --list->count;
  if (!has_room(list))
    return;
  ++list->count;
  rows_of(list)[list->count - 1] = (row_t){record, emu_bit(lane_of(self, record))};
}

static list_t *new_list(emu_many_t *many) {
  if (many->used == many->made) {
    if (many->made == many->room && !grow((void **)&many->lists, &many->room, sizeof(list_t)))
      return NULL;
    many->lists[many->made++] = (list_t){0};
  }
  list_t *list = &many->lists[many->used++];
  list->count = 0;
  return list;
}

uint32_t emu_many_begin(emu_thread_t *self, uint64_t record) {
  emu_many_t *many = self->worker->many;
  list_t *list = new_list(many);
  if (!list)
    return 0;
  append(self, list, record & ~EMU_MANY);
  return many->used;
}

uint32_t emu_many_clone(emu_thread_t *self, uint32_t number) {
  emu_many_t *many = self->worker->many;
  list_t *list = new_list(many);
  for (uint32_t i = 0; list && i < many->lists[number - 1].count; ++i) {
    if (has_room(list))
      ++list->count;
    rows_of(list)[list->count - 1] = rows_of(&many->lists[number - 1])[i];
  }
  return list ? many->used : 0;
}

// The lanes of a row that |self| is not ordered after.
static uint64_t unknown_lanes(const emu_thread_t *self, const row_t *row) {
  uint32_t stamp = emu_stamp_of(row->record);
  if (stamp <= self->clock.known_block)
    return 0;
  uint32_t shift = self->worker->launch->warp_shift, warp = emu_thread_of(row->record) >> shift;
  uint64_t unknown = 0;
  for (uint64_t rest = row->lanes; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(rest);
    if (!emu_knows(self, (warp << shift) + lane, stamp))
      unknown |= emu_bit(lane);
  }
  return unknown;
}

// Drops what is in order before |self| and does no more than its new access, which then stands for it.
static void drop_old(const emu_thread_t *self, list_t *list, uint64_t new) {
  uint32_t kept = 0;
  row_t *rows = list->rows;
  for (uint32_t i = 0; i < list->count; ++i)
    if (emu_bytes_of(rows[i].record) & ~emu_bytes_of(new) || (emu_atomic_of(new) && !emu_atomic_of(rows[i].record)) ||
        unknown_lanes(self, &rows[i]))
      rows[kept++] = rows[i];
  if (kept > OWN_ROWS)
    list->count = kept;
}

void emu_many_add(emu_thread_t *self, uint32_t number, uint64_t record) {
  list_t *list = &self->worker->many->lists[number - 1];
  row_t *rows = rows_of(list);
  uint64_t lanes_field = (uint64_t)(self->view.block->warp_width - 1) << 22;
  for (uint32_t i = 0; i < list->count; ++i)
    if (!((rows[i].record ^ record) & ~lanes_field)) {
      rows[i].lanes |= emu_bit(lane_of(self, record));
      return;
    }
  if (list->count >= 2 * OWN_ROWS && (list->count & (list->count - 1)) == 0)
    drop_old(self, list, record);
  append(self, list, record);
}

static bool both_atomic(const emu_access_t *access, uint64_t record) { return access->atomic && emu_atomic_of(record); }

uint64_t emu_many_conflict(const emu_access_t *access, uint32_t number, uint32_t bytes) {
  list_t *list = &access->self->worker->many->lists[number - 1];
  for (uint32_t i = 0; i < list->count; ++i) {
    const row_t *row = &rows_of(list)[i];
    if (!(emu_bytes_of(row->record) & bytes) || both_atomic(access, row->record))
      continue;
    uint64_t lanes = unknown_lanes(access->self, row);
    uint32_t first = emu_thread_of(row->record) & ~(access->self->worker->launch->chip->warp_width - 1);
    if (lanes)
      return (row->record & ~thread_field) | (uint64_t)(first + (uint32_t)__builtin_ctzll(lanes)) << 22;
  }
  return 0;
}
