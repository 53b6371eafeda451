// bulk.c - copies of boxes of tensors: see bulk.h. A box lies in shared memory row by row; pieces of 16 bytes change
// places as the map's swizzle says (PTX ISA, "Swizzling modes"), by the bits of their address. What lies beyond the
// tensor is read as zero or nan, and is not written. Costs: as a copy of each 16 bytes (copy.c).
#include "lib/emulator/machine/engines/bulk.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/shadow.h"
#include "lib/emulator/machine/trace.h"

#include <string.h>

enum { PIECE = 16, BOX_ALIGN = 128, ROWS_OF_SWIZZLE = 8 };

//===--- Boxes -----------------------------------------------------------===//

typedef struct row_t {
  uint64_t address;    // of its first element, which may lie outside of the tensor
  uint32_t begin, end; // bytes of it that are the tensor's
} row_t;

static uint32_t element_bytes(const emu_bulk_t *bulk) { return tessera_tensor_map_element_bytes(bulk->map.element); }

static uint32_t row_bytes(const emu_bulk_t *bulk) { return bulk->map.box[0] * element_bytes(bulk); }

static uint32_t rows_of(const tessera_tensor_map_t *map) {
  uint32_t rows = 1;
  for (int axis = 1; axis < map->rank; ++axis)
    rows *= map->box[axis];
  return rows;
}

// Elements [*begin, *end) of the box that lie in the tensor along its first axis.
static void clip(const emu_bulk_t *bulk, row_t *row) {
  int64_t first = bulk->at[0], size = (int64_t)bulk->map.sizes[0], box = bulk->map.box[0];
  int64_t begin = first < 0 ? -first : 0, end = size - first < box ? size - first : box;
  begin = begin < box ? begin : box;
  row->begin = (uint32_t)begin * element_bytes(bulk);
  row->end = end > begin ? (uint32_t)end * element_bytes(bulk) : row->begin;
}

static row_t row_at(const emu_bulk_t *bulk, uint32_t number) {
  row_t row = {.address = bulk->map.address + (uint64_t)((int64_t)bulk->at[0] * element_bytes(bulk))};
  clip(bulk, &row);
  for (int axis = 1; axis < bulk->map.rank; ++axis) {
    int64_t at = (int64_t)bulk->at[axis] + number % bulk->map.box[axis];
    number /= bulk->map.box[axis];
    if (at < 0 || at >= (int64_t)bulk->map.sizes[axis])
      row.end = row.begin;
    row.address += (uint64_t)at * bulk->map.strides[axis - 1];
  }
  return row;
}

// Where the piece of shared memory at |offset| really lies.
static uint32_t swizzled(uint32_t offset, uint8_t swizzle) {
  return swizzle ? offset ^ (offset / BOX_ALIGN % (swizzle / PIECE)) * PIECE : offset;
}

//===--- Starting --------------------------------------------------------===//

static bool fail(emu_thread_t *self, tessera_emulator_kind_t kind, uint32_t site, uint64_t address, const char *text) {
  emu_find(self, kind, site, 0, address, 0, "%s", text);
  return false;
}

// What no driver would have encoded: memory that was never a map.
static bool is_map(const tessera_tensor_map_t *map) {
  bool good = map->rank >= 1 && map->rank <= TESSERA_MAP_RANK && tessera_tensor_map_element_bytes(map->element);
  for (int axis = 0; good && axis < map->rank; ++axis)
    good = map->sizes[axis] && map->box[axis] && map->box[axis] <= TESSERA_MAP_BOX;
  return good && map->box[0] * tessera_tensor_map_element_bytes(map->element) % PIECE == 0;
}

static bool check_map(emu_thread_t *self, const tessera_tensor_map_t *map, uint32_t rank, uint32_t site) {
  char text[160];
  if (!is_map(map))
    snprintf(text, sizeof text, "a copy of a box by memory that holds no tensor map");
  else if (map->rank != rank)
    snprintf(text, sizeof text, "a copy of a box by %u coordinates of a tensor map of %u axes", rank, map->rank);
  else if (map->swizzle && map->box[0] * tessera_tensor_map_element_bytes(map->element) != map->swizzle)
    snprintf(
        text, sizeof text,
        "a copy of a box whose rows of %u bytes are shorter than the swizzle of %u, which the emulator does not know",
        map->box[0] * tessera_tensor_map_element_bytes(map->element), map->swizzle);
  else
    return true;
  return fail(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, text);
}

static bool check_shared(emu_thread_t *self, const emu_bulk_t *bulk, uintptr_t place) {
  const tessera_emulator_launch_t *given = self->worker->launch->given;
  char text[160];
  uint32_t real = emu_shared_offset(self->worker->launch, (uint32_t)place);
  uintptr_t offset = place % EMU_WINDOW_BYTES;
  bool is_shared = place / EMU_WINDOW_BYTES < self->worker->launch->members;
  if (!is_shared || offset >= given->shared_bytes || given->shared_bytes - offset < bulk->bytes)
    snprintf(text, sizeof text, "a box of %u bytes at shared+%u, but the block has %u bytes of shared memory",
             bulk->bytes, real, given->shared_bytes - given->shared_added_bytes);
  else if (offset % BOX_ALIGN)
    return emu_check_alignment(self, (uintptr_t)self->view.block->shared + offset, BOX_ALIGN, TESSERA_EMU_STORE,
                               bulk->site),
           false;
  else if (self->worker->launch->checks && emu_shadow_has_special(self->worker, (uint32_t)place, bulk->bytes))
    snprintf(text, sizeof text,
             "a box of %u bytes at shared+%u, which reaches past the end of one array or to an mbarrier", bulk->bytes,
             real);
  else
    return true;
  return fail(self, TESSERA_EMULATOR_OUT_OF_BOUNDS, bulk->site, real, text);
}

// A box between the tensor and shared memory; null after a finding.
static emu_bulk_t *begin(emu_thread_t *self, const void *shared, const void *map, const int32_t *at, uint32_t rank,
                         uint32_t site) {
  emu_worker_t *worker = self->worker;
  emu_bulk_t *bulk = worker->free_bulks;
  uintptr_t offset = emu_window_offset(worker, shared);
  if (bulk)
    worker->free_bulks = bulk->next;
  else
    bulk = emu_arena_take(worker, &worker->block_arena, sizeof *bulk);
  *bulk = (emu_bulk_t){.shared = (uint32_t)offset,
                       .site = site,
                       .starter = self,
                       .clock = self->clock,
                       .issued = worker->steps,
                       .group = self->bulk_groups};
  memcpy(&bulk->map, map, sizeof bulk->map);
  bool good = check_map(self, &bulk->map, rank, site);
  if (good) {
    memcpy(bulk->at, at, rank * sizeof *at);
    bulk->bytes = rows_of(&bulk->map) * row_bytes(bulk);
    good = check_shared(self, bulk, offset);
  }
  if (good)
    return bulk;
  bulk->next = worker->free_bulks;
  worker->free_bulks = bulk;
  return NULL;
}

static void append(emu_bulk_t **list, emu_bulk_t *bulk) {
  while (*list)
    list = &(*list)->next;
  bulk->next = NULL;
  *list = bulk;
}

// In the memory of the thread's own time at the start, which has gone on since.
static void as_at_start(const emu_bulk_t *bulk, emu_clock_t *out_now) {
  *out_now = bulk->starter->clock;
  bulk->starter->clock = bulk->clock;
  bulk->starter->clock.stamp = out_now->stamp;
}

// The bytes of the row that are the tensor's; false when they lie outside of the buffers.
static bool access_row(const emu_bulk_t *bulk, const row_t *row, bool writes) {
  emu_thread_t *self = bulk->starter;
  uint32_t bytes = row->end - row->begin;
  uintptr_t address = row->address + row->begin;
  if (!self->worker->launch->checks)
    return true;
  emu_buffer_t *buffer = emu_buffer_at(self, address, bytes, bulk->site);
  if (!buffer || (writes && buffer->given->read_only)) {
    emu_find(self, buffer ? TESSERA_EMULATOR_READ_ONLY : TESSERA_EMULATOR_OUT_OF_BOUNDS, bulk->site, 0, address, 0,
             "%s of %u bytes %s", writes ? "write" : "read", bytes,
             buffer ? "of read-only memory by a tensor map" : "by a tensor map, in no buffer of the kernel");
    return false;
  }
  emu_access_t access = {.self = self, .read = !writes, .write = writes, .site = bulk->site};
  if (buffer->words)
    emu_shadow_global(&access, buffer, address, bytes);
  return true;
}

static void count(const emu_bulk_t *bulk, bool writes) {
  emu_worker_t *worker = bulk->starter->worker;
  if (!worker->launch->count)
    return;
  emu_count_bulk(worker, bulk->bytes, writes, bulk->site);
  for (uint32_t i = 0, rows = rows_of(&bulk->map); i < rows; ++i) {
    row_t row = row_at(bulk, i);
    if (row.end > row.begin)
      emu_count_bulk_row(worker, row.address + row.begin, row.end - row.begin, writes, bulk->site);
  }
}

//===--- Into shared memory ----------------------------------------------===//

// A copy reports to a barrier of the block whose memory it writes.
static bool check_same_block(emu_thread_t *self, const void *shared, const void *barrier, uint32_t site) {
  return emu_window_offset(self->worker, shared) / EMU_WINDOW_BYTES ==
             emu_window_offset(self->worker, barrier) / EMU_WINDOW_BYTES ||
         fail(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0,
              "a copy of a box to one block of the cluster reports to an mbarrier of another one");
}

// To one block; false after a finding. |is_read|: it reads the tensor for all that get it.
static bool load_to(emu_thread_t *self, void *shared, const void *map, void *barrier, const int32_t *at, uint32_t rank,
                    bool is_read, uint32_t site) {
  emu_worker_t *worker = self->worker;
  if (!check_same_block(self, shared, barrier, site))
    return false;
  emu_mbarrier_t *reported = emu_mbarrier_at(self, barrier, EMU_SIGNALLED_MBARRIER, "a copy of a box", site);
  if (reported)
    emu_mbarrier_check_fenced(self, reported, site);
  emu_bulk_t *bulk = reported ? begin(self, shared, map, at, rank, site) : NULL;
  if (!bulk)
    return false;
  if (is_read)
    count(bulk, false);
  else
    worker->counters.shared_bytes_written += bulk->bytes;
  append(&reported->copies, bulk);
  if (worker->launch->checks)
    for (uint32_t done = 0; done < bulk->bytes; done += PIECE)
      emu_shadow_copy_begins(self, bulk->shared + done, PIECE, site);
  emu_progress(worker);
  return true;
}

void tessera_emu_bulk_load(tessera_emu_thread_t *thread, void *shared, const void *map, void *barrier,
                           const int32_t *at, uint32_t rank, uint32_t site) {
  if (shared != TESSERA_EMU_OFF)
    load_to(emu_of(thread), shared, map, barrier, at, rank, true, site <= TESSERA_EMULATOR_SITES ? site : 0);
}

void tessera_emu_bulk_multicast(tessera_emu_thread_t *thread, void *shared, const void *map, void *barrier,
                                const int32_t *at, uint32_t rank, uint32_t mask, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint32_t members = self->worker->launch->members;
  bool is_read = true;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (shared == TESSERA_EMU_OFF)
    return;
  if (!mask || mask >> members)
    emu_find(self, TESSERA_EMULATOR_BAD_OPERAND, site, 0, mask, 0,
             "a copy of a box to the blocks of mask 0x%x of a cluster of %u", mask, members);
  for (uint32_t to = 0; to < members; ++to) {
    ptrdiff_t away = ((ptrdiff_t)to - (ptrdiff_t)thread->block->rank) * EMU_WINDOW_BYTES;
    if (mask >> to & 1 && load_to(self, (char *)shared + away, map, (char *)barrier + away, at, rank, is_read, site))
      is_read = false;
  }
}

// What lies outside of a tensor, piece by piece.
static void fill(char *to, const emu_bulk_t *bulk) {
  uint32_t bytes = element_bytes(bulk);
  memset(to, bulk->map.fill ? 0xff : 0, PIECE);
  for (uint32_t i = bytes - 1; bulk->map.fill && i < PIECE; i += bytes)
    to[i] = 0x7f;
}

static void land_row(const emu_bulk_t *bulk, uint32_t number) {
  row_t row = row_at(bulk, number);
  uint32_t bytes = row_bytes(bulk), at = bulk->shared + number * bytes;
  if (row.end > row.begin && !access_row(bulk, &row, false))
    row.end = row.begin;
  for (uint32_t done = 0; done < bytes; done += PIECE) {
    char *to = bulk->starter->worker->window + swizzled(at + done, bulk->map.swizzle);
    uint32_t begin = row.begin > done ? row.begin : done, end = row.end < done + PIECE ? row.end : done + PIECE;
    if (end != done + PIECE || begin != done)
      fill(to, bulk);
    if (end > begin)
      memcpy(to + (begin - done), (const char *)(uintptr_t)(row.address + begin), end - begin);
  }
}

static void free_bulk(emu_worker_t *worker, emu_bulk_t *bulk) {
  bulk->clock = (emu_clock_t){0};
  bulk->next = worker->free_bulks;
  worker->free_bulks = bulk;
}

// Only who waits for the barrier learns of it.
static void mark_landed(emu_worker_t *worker, emu_mbarrier_t *barrier, const emu_bulk_t *bulk) {
  if (!worker->launch->checks)
    return;
  uint32_t stamp = emu_mbarrier_stamp(worker, barrier);
  emu_shadow_bulk_lands(worker, bulk->shared, bulk->bytes, barrier->engine, stamp, bulk->site);
}

static void land(emu_worker_t *worker, emu_mbarrier_t *barrier, emu_bulk_t *bulk) {
  emu_clock_t now;
  as_at_start(bulk, &now);
  for (uint32_t i = 0, rows = rows_of(&bulk->map); i < rows; ++i)
    land_row(bulk, i);
  bulk->starter->clock = now;
  mark_landed(worker, barrier, bulk);
  emu_trace_copy(bulk->starter, &(emu_copy_t){.issued = bulk->issued, .site = bulk->site});
  barrier->bytes -= bulk->bytes;
  free_bulk(worker, bulk);
}

// Any of those under way may be the next.
static emu_bulk_t *take_one(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  emu_bulk_t **link = &barrier->copies;
  while ((*link)->next && emu_random(worker) & 1)
    link = &(*link)->next;
  emu_bulk_t *bulk = *link;
  *link = bulk->next;
  return bulk;
}

void emu_bulk_land(emu_worker_t *worker, emu_mbarrier_t *barrier) {
  uint32_t phase = barrier->phase;
  while (!barrier->pending && barrier->copies && barrier->phase == phase) {
    land(worker, barrier, take_one(worker, barrier));
    if (!barrier->bytes)
      emu_mbarrier_end_phase(worker, barrier);
  }
}

bool emu_bulk_land_awaited(emu_worker_t *worker) {
  for (emu_mbarrier_t *barrier = worker->mbarriers; barrier; barrier = barrier->next)
    if (barrier->copies && !barrier->pending && emu_mbarrier_is_waited_for(worker, barrier)) {
      emu_bulk_land(worker, barrier);
      return true;
    }
  return false;
}

//===--- Out of shared memory --------------------------------------------===//

void tessera_emu_bulk_store(tessera_emu_thread_t *thread, const void *map, const void *shared, const int32_t *at,
                            uint32_t rank, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  emu_bulk_t *bulk = shared == TESSERA_EMU_OFF ? NULL : begin(self, shared, map, at, rank, site);
  if (!bulk)
    return;
  count(bulk, true);
  append(&self->bulks, bulk);
  emu_access_t access = {.self = self, .read = true, .site = site};
  for (uint32_t done = 0; done < bulk->bytes && self->worker->launch->checks; done += PIECE) {
    emu_shadow_check_fenced(&access, bulk->shared + done);
    emu_shadow_shared(&access, bulk->shared + done, PIECE);
  }
  emu_shadow_reads_begin(self->worker, bulk->shared, bulk->bytes, site);
}

static void store_row(const emu_bulk_t *bulk, uint32_t number) {
  row_t row = row_at(bulk, number);
  uint32_t bytes = row_bytes(bulk), at = bulk->shared + number * bytes;
  if (row.end <= row.begin || !access_row(bulk, &row, true))
    return;
  for (uint32_t done = 0; done < bytes; done += PIECE) {
    const char *from = bulk->starter->worker->window + swizzled(at + done, bulk->map.swizzle);
    uint32_t begin = row.begin > done ? row.begin : done, end = row.end < done + PIECE ? row.end : done + PIECE;
    if (end > begin)
      memcpy((char *)(uintptr_t)(row.address + begin), from + (begin - done), end - begin);
  }
}

// Shared memory may be written again: by who knows the thread from here on.
static void read_box(emu_bulk_t *bulk) {
  emu_thread_t *self = bulk->starter;
  emu_access_t access = {.self = self, .read = true, .site = bulk->site};
  emu_clock_t now;
  as_at_start(bulk, &now);
  for (uint32_t i = 0, rows = rows_of(&bulk->map); i < rows; ++i)
    store_row(bulk, i);
  self->clock = now;
  emu_shadow_reads_end(self->worker, bulk->shared, bulk->bytes);
  for (uint32_t done = 0; done < bulk->bytes && self->worker->launch->checks; done += PIECE)
    emu_shadow_shared(&access, bulk->shared + done, PIECE);
  bulk->is_read = true;
}

// What the tensor has got may be read: by who knows the thread from here on.
static void finish(emu_bulk_t *bulk) {
  for (uint32_t i = 0, rows = rows_of(&bulk->map); i < rows; ++i) {
    row_t row = row_at(bulk, i);
    if (row.end > row.begin)
      access_row(bulk, &row, true);
  }
  emu_trace_copy(bulk->starter, &(emu_copy_t){.issued = bulk->issued, .site = bulk->site});
}

void tessera_emu_bulk_commit(tessera_emu_thread_t *thread) { emu_of(thread)->bulk_groups++; }

void tessera_emu_bulk_wait(tessera_emu_thread_t *thread, uint32_t pending, uint32_t reads_only, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  uint32_t end = self->bulk_groups > pending ? self->bulk_groups - pending : 0;
  (void)site;
  for (emu_bulk_t **link = &self->bulks; *link;) {
    emu_bulk_t *bulk = *link;
    if (bulk->group < end && !bulk->is_read)
      read_box(bulk);
    if (bulk->group >= end || reads_only) {
      link = &bulk->next;
      continue;
    }
    finish(bulk);
    *link = bulk->next;
    free_bulk(self->worker, bulk);
  }
}

//===--- The end ---------------------------------------------------------===//

static void abandon_loads(emu_worker_t *worker, const emu_mbarrier_t *barrier) {
  for (emu_bulk_t *bulk = barrier->copies; bulk; bulk = bulk->next) {
    emu_find(bulk->starter, TESSERA_EMULATOR_OVERWRITE, bulk->site, 0, bulk->shared, 0,
             "the block has ended, and a copy of a box to shared+%u is under way: nobody waited for it",
             emu_shared_offset(worker->launch, bulk->shared));
    if (worker->launch->checks)
      emu_shadow_bulk_lands(worker, bulk->shared, bulk->bytes, bulk->starter->view.index, bulk->clock.stamp, 0);
  }
}

// Memory of the block that a copy still reads may be another block's by now.
static void abandon_stores(emu_worker_t *worker, emu_thread_t *thread) {
  for (emu_bulk_t *bulk = thread->bulks; bulk; bulk = bulk->next) {
    if (!bulk->is_read) {
      emu_find(thread, TESSERA_EMULATOR_EARLY_READ, bulk->site, 0, bulk->shared, 0,
               "the block has ended, and a copy of a box from shared+%u is under way: nobody waited for it",
               emu_shared_offset(worker->launch, bulk->shared));
      read_box(bulk);
    }
    finish(bulk);
  }
  thread->bulks = NULL;
}

void emu_bulk_block_ended(emu_worker_t *worker) {
  for (emu_mbarrier_t *barrier = worker->mbarriers; barrier; barrier = barrier->next)
    abandon_loads(worker, barrier);
  for (uint32_t i = 0; i < worker->launch->threads; ++i)
    if (worker->threads[i].bulks)
      abandon_stores(worker, &worker->threads[i]);
}
