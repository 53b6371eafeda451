// Products on tensor memory and a warp's accesses to it. See instructions.h, and machine/engines/tensor_memory.h for
// when they happen.
#include "lib/emulator/lanes/tcgen05.h"
#include "lib/emulator/instructions/instructions.h"
#include "lib/emulator/machine/engines/tensor_memory.h"

#include <string.h>

enum { PIECE = 16, MOST_ROWS = 128 };

//===--- Products --------------------------------------------------------===//

static void store_op(emu_tensor_op_t *op, const tessera_tcgen05_t *what) {
  _Static_assert(sizeof *what <= sizeof op->what, "an op has room for what it multiplies");
  memcpy(op->what, what, sizeof *what);
}

// Sixteen rows of the sums: lanes from |lane| on, [columns][lanes].
static void multiply_rows(const tessera_tcgen05_t *what, const uint32_t *a, const uint32_t *b, bool adds,
                          uint32_t *sums) {
  uint32_t rows[TESSERA_WGMMA_ROWS * TESSERA_WGMMA_MOST_N];
  tessera_wgmma_t op = what->of;
  op.from_zero = !adds;
  for (int row = 0; row < TESSERA_WGMMA_ROWS && adds; ++row)
    for (int column = 0; column < op.n; ++column)
      rows[row * op.n + column] = sums[column * TESSERA_TCGEN05_LANES + row];
  tessera_wgmma_multiply(&op, a, b, rows);
  for (int row = 0; row < TESSERA_WGMMA_ROWS; ++row)
    for (int column = 0; column < op.n; ++column)
      sums[column * TESSERA_TCGEN05_LANES + row] = rows[row * op.n + column];
}

static void multiply(const emu_tensor_op_t *op, const char *shared, uint32_t *sums) {
  tessera_tcgen05_t what;
  uint32_t a[MOST_ROWS * TESSERA_WGMMA_MOST_K], b[TESSERA_WGMMA_MOST_K * TESSERA_WGMMA_MOST_N];
  const void *pieces[EMU_TENSOR_PLACES];
  memcpy(&what, op->what, sizeof what);
  for (uint32_t i = 0; i < op->place_count; ++i)
    pieces[i] = shared + op->places[i];
  if (op->left_columns)
    tessera_wgmma_gather_words(what.of.a, what.m, what.of.k, sums + op->left_column * TESSERA_TCGEN05_LANES,
                               TESSERA_TCGEN05_LANES, a);
  else
    tessera_wgmma_gather(what.of.a, what.of.a_is_column, what.m, what.of.k, pieces, false, a);
  tessera_wgmma_gather(what.of.b, what.of.b_is_row, what.of.n, what.of.k, pieces + op->left_count, true, b);
  for (int row = 0; row < what.m; row += TESSERA_WGMMA_ROWS)
    multiply_rows(&what, a + row * what.of.k, b, op->adds,
                  sums + op->column * TESSERA_TCGEN05_LANES + tessera_tcgen05_lane(what.m, row));
}

static bool place_factor(emu_thread_t *self, emu_tensor_op_t *op, uint64_t descriptor, bool along_rows, int rows) {
  tessera_error_t error;
  uint32_t count = tessera_tcgen05_places(descriptor, along_rows, rows, op->places + op->place_count, &error);
  if (!count)
    tessera_emu_report(&self->view, op->site, "%s", error.text);
  op->place_count += count;
  return count;
}

// Rows in all lanes, elements along k in columns.
static bool place_in_tensor(emu_thread_t *self, emu_tensor_op_t *op, uint32_t address, const tessera_tcgen05_t *what) {
  if (what->m != TESSERA_TCGEN05_LANES || what->of.a_is_column || address >> 16) {
    tessera_emu_report(&self->view, op->site,
                       "tcgen05.mma with a left factor at lane %u of tensor memory; the emulator knows 128 rows from "
                       "lane 0 on, along k",
                       address >> 16);
    return false;
  }
  op->left_column = address;
  op->left_columns = (uint32_t)what->of.k * tessera_lane_type_bits(what->of.a) / 32;
  return emu_tensor_check(self, address, op->left_columns, op->site);
}

static void count(emu_thread_t *self, const emu_tensor_op_t *op, const tessera_tcgen05_t *what) {
  self->worker->counters.shared_bytes_read += (uint64_t)PIECE * op->place_count;
  tessera_emu_count_mma(&self->view, 2ull * (uint64_t)what->m * (uint64_t)what->of.n * (uint64_t)what->of.k,
                        (uint32_t)what->of.a, op->site);
}

void tessera_emu_tensor_multiply(tessera_emu_thread_t *thread, uint32_t sums, uint64_t left, uint64_t right,
                                 uint32_t word, uint32_t adds, uint32_t kind, uint32_t in_tensor, uint32_t site) {
  emu_thread_t *self = emu_of(thread);
  tessera_tcgen05_t what;
  tessera_error_t error;
  site = site <= TESSERA_EMULATOR_SITES ? site : 0;
  if (!tessera_tcgen05_read((tessera_tcgen05_kind_t)kind, word, &what, &error)) {
    tessera_emu_report(thread, site, "%s", error.text);
    return;
  }
  if (sums >> 16) {
    tessera_emu_report(thread, site, "tcgen05.mma to lane %u of tensor memory, expected lane 0", sums >> 16);
    return;
  }
  if (!emu_tensor_check(self, sums, (uint32_t)what.of.n, site))
    return;
  emu_tensor_op_t *op = emu_tensor_create(self, site);
  op->run = multiply;
  op->adds = adds;
  op->column = sums;
  op->columns = (uint32_t)what.of.n;
  op->lanes = 0xf; // the half of 64 rows is spread over all quarters
  store_op(op, &what);
  if (in_tensor ? !place_in_tensor(self, op, (uint32_t)left, &what)
                : !place_factor(self, op, left, what.of.a_is_column, what.m))
    return;
  op->left_count = op->place_count;
  if (!place_factor(self, op, right, what.of.b_is_row, what.of.n))
    return;
  count(self, op, &what);
  emu_tensor_issue(self, op);
}

//===--- Of a warp -------------------------------------------------------===//

static emu_thread_t *first_of(const tessera_emu_group_t *group) {
  return emu_of(group->lane[__builtin_ctzll(group->mask)]);
}

static const tessera_emu_tensor_t *given_by(const tessera_emu_group_t *group, uint32_t lane) {
  return group->contribution[lane];
}

// All 32 lanes are there, and name one address and one number of columns.
static bool is_whole(const tessera_emu_group_t *group, const char *name) {
  const tessera_emu_tensor_t *first = given_by(group, (uint32_t)__builtin_ctzll(group->mask));
  bool agree = __builtin_popcountll(group->mask) == TESSERA_WGMMA_LANES;
  for (uint32_t lane = 0; agree && lane < TESSERA_WGMMA_LANES; ++lane)
    agree = given_by(group, lane)->address == first->address && given_by(group, lane)->columns == first->columns;
  if (!agree)
    tessera_emu_report(&first_of(group)->view, group->site,
                       "%s needs all 32 lanes of a warp, with one address and one number of columns", name);
  return agree;
}

void tessera_emu_tensor_allocate(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (!is_whole(group, "tcgen05.alloc"))
    return;
  emu_thread_t *lane = first_of(group);
  const tessera_emu_tensor_t *given = given_by(group, 0);
  uint32_t address = emu_tensor_allocate(lane, given->columns, group->site);
  uint32_t *to = tessera_emu_access(&lane->view, given->place, sizeof *to,
                                    TESSERA_EMU_STORE | TESSERA_EMU_SHARED | TESSERA_EMU_ALIGN(4), group->site);
  *to = address;
}

void tessera_emu_tensor_give_back(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "tcgen05.dealloc"))
    emu_tensor_give_back(first_of(group), given_by(group, 0)->address, given_by(group, 0)->columns, group->site);
}

void tessera_emu_tensor_relinquish(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "tcgen05.relinquish_alloc_permit"))
    emu_tensor_relinquish(first_of(group));
}

static void move(const tessera_emu_group_t *group, uint32_t *memory, uint32_t columns, bool stores) {
  for (uint32_t column = 0; column < columns; ++column)
    for (uint32_t lane = 0; lane < TESSERA_WGMMA_LANES; ++lane) {
      uint32_t *own = &given_by(group, lane)->words[column], *there = &memory[column * TESSERA_TCGEN05_LANES + lane];
      *(stores ? there : own) = *(stores ? own : there);
    }
}

void tessera_emu_tensor_load(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (!is_whole(group, "tcgen05.ld"))
    return;
  const tessera_emu_tensor_t *given = given_by(group, 0);
  uint32_t *memory = emu_tensor_load(first_of(group), given->address, given->columns, group->site);
  if (memory)
    move(group, memory, given->columns, false);
}

void tessera_emu_tensor_store(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (!is_whole(group, "tcgen05.st"))
    return;
  const tessera_emu_tensor_t *given = given_by(group, 0);
  uint32_t *memory = emu_tensor_store(first_of(group), given->address, given->columns, group->site);
  if (memory)
    move(group, memory, given->columns, true);
}

void tessera_emu_tensor_wait_loads(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "tcgen05.wait::ld"))
    emu_tensor_wait(first_of(group), false);
}

void tessera_emu_tensor_wait_stores(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "tcgen05.wait::st"))
    emu_tensor_wait(first_of(group), true);
}
