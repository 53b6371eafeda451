// Matrix instructions and ldmatrix as collectives of a warp. See instructions.h.
// Sources: PTX ISA 9.0 §9.7.15.5.15 (ldmatrix): matrix q takes the addresses of its 8 rows from lanes 8q to 8q + 7;
// lane l then holds elements 2 (l mod 4) and the next of row floor(l / 4), or, transposed, of column floor(l / 4).
#include "lib/emulator/instructions/instructions.h"

#include <string.h>

//===--- products ---------------------------------------------------------------===//

enum { SCRATCH_BYTES = 32768 }; // the largest, m16n8k256 of b1, needs 25 KiB

static bool is_whole_warp(const tessera_emu_group_t *group, int lanes) {
  return (int)group->width == lanes && __builtin_popcountll(group->mask) == lanes;
}

static tessera_emu_thread_t *any_lane(const tessera_emu_group_t *group) {
  return group->lane[__builtin_ctzll(group->mask)];
}

void tessera_emu_multiply(const tessera_emu_group_t *group, const void *parameter) {
  const tessera_matrix_t *matrix = parameter;
  _Alignas(64) char scratch[SCRATCH_BYTES];
  tessera_emu_thread_t *lane = any_lane(group);
  if (!is_whole_warp(group, matrix->lanes)) {
    tessera_emu_report(lane, group->site, "%s needs all %d lanes of a warp, %d are there", matrix->name, matrix->lanes,
                       __builtin_popcountll(group->mask));
    return;
  }
  if (!tessera_matrix_indices_ascend(matrix, group->contribution))
    tessera_emu_report(lane, group->site, "%s: the indices of two kept elements of four do not ascend", matrix->name);
  if (!tessera_matrix_run(matrix, group->contribution, scratch))
    tessera_emu_report(lane, group->site, "%s: lanes that must hold the same element of A or B differ", matrix->name);
  uint64_t flops = matrix->is_of_zeros ? 0 : 2ull * matrix->blocks * matrix->m * matrix->n * matrix->k;
  tessera_emu_count_mma(lane, flops, (uint32_t)matrix->a.type, group->site);
}

//===--- ldmatrix, stmatrix -------------------------------------------------------===//

typedef struct move_t { // a constant of the instruction
  uint8_t count;
  bool transposed, stores;
} move_t;

#define MOVES(count)                                                                                                   \
  {                                                                                                                    \
    {count, false, false}, {count, true, false}, {count, false, true}, { count, true, true }                           \
  }
static const move_t moves[][4] = {MOVES(1), MOVES(2), MOVES(4)};

const void *tessera_emu_move(uint32_t count, bool transposed, bool stores) {
  return &moves[count / 2][transposed + 2 * stores];
}

// Where the word's two elements stand, in the matrix of 8 rows of 8.
static int element_place(const move_t *move, int lane, int half) {
  int along = 2 * (lane % 4) + half, across = lane / 4;
  return move->transposed ? along * 8 + across : across * 8 + along;
}

static void load_rows(const tessera_emu_group_t *group, int first, uint16_t *matrix) {
  for (int row = 0; row < 8; ++row) {
    const tessera_moved_t *moved = group->contribution[first + row];
    const void *from = tessera_emu_access(group->lane[first + row], moved->row, 16,
                                          TESSERA_EMU_LOAD | TESSERA_EMU_SHARED | TESSERA_EMU_ALIGN(16), group->site);
    memcpy(matrix + 8 * row, from, 16);
  }
}

static void store_rows(const tessera_emu_group_t *group, int first, const uint16_t *matrix) {
  for (int row = 0; row < 8; ++row) {
    const tessera_moved_t *moved = group->contribution[first + row];
    void *to = tessera_emu_access(group->lane[first + row], moved->row, 16,
                                  TESSERA_EMU_STORE | TESSERA_EMU_SHARED | TESSERA_EMU_ALIGN(16), group->site);
    memcpy(to, matrix + 8 * row, 16);
  }
}

static void move_matrix(const tessera_emu_group_t *group, const move_t *move, int index) {
  uint16_t matrix[64];
  if (!move->stores)
    load_rows(group, 8 * index, matrix);
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t *word = ((tessera_moved_t *)group->contribution[lane])->words + index;
    int low = element_place(move, lane, 0), high = element_place(move, lane, 1);
    if (move->stores) {
      matrix[low] = (uint16_t)*word;
      matrix[high] = (uint16_t)(*word >> 16);
    } else {
      *word = matrix[low] | (uint32_t)matrix[high] << 16;
    }
  }
  if (move->stores)
    store_rows(group, 8 * index, matrix);
}

void tessera_emu_move_matrices(const tessera_emu_group_t *group, const void *parameter) {
  const move_t *move = parameter;
  if (!is_whole_warp(group, 32))
    tessera_emu_report(any_lane(group), group->site, "%s needs all 32 lanes of a warp, %d are there",
                       move->stores ? "stmatrix" : "ldmatrix", __builtin_popcountll(group->mask));
  else
    for (int i = 0; i < move->count; ++i)
      move_matrix(group, move, i);
}

//===--- wmma.load, wmma.store ----------------------------------------------------===//

static void move_lane(const tessera_emu_group_t *group, const tessera_warp_move_t *move, int lane) {
  const tessera_warp_moved_t *moved = group->contribution[lane];
  for (int i = 0; i < move->count; ++i) {
    int at = tessera_warp_element(&move->fragment, lane, i);
    int row = at / move->fragment.columns, column = at % move->fragment.columns;
    int64_t line = move->lines_are_columns ? column : row, along = move->lines_are_columns ? row : column;
    const char *address = moved->address + (line * moved->stride + along) * move->bytes;
    char *element = moved->elements + (size_t)i * move->bytes;
    void *memory = tessera_emu_access(group->lane[lane], address, move->bytes,
                                      move->what | TESSERA_EMU_ALIGN(move->bytes), group->site);
    bool stores = move->what & TESSERA_EMU_STORE;
    memcpy(stores ? memory : element, stores ? element : memory, move->bytes);
  }
}

void tessera_emu_move_fragment(const tessera_emu_group_t *group, const void *parameter) {
  const tessera_warp_move_t *move = parameter;
  const char *name = move->what & TESSERA_EMU_STORE ? "wmma.store" : "wmma.load";
  if (!is_whole_warp(group, 32)) {
    tessera_emu_report(any_lane(group), group->site, "%s needs all 32 lanes of a warp, %d are there", name,
                       __builtin_popcountll(group->mask));
    return;
  }
  const tessera_warp_moved_t *first = group->contribution[0];
  for (int lane = 0; lane < 32; ++lane) {
    const tessera_warp_moved_t *moved = group->contribution[lane];
    if (moved->address != first->address || moved->stride != first->stride)
      tessera_emu_report(group->lane[lane], group->site, "%s: lane %d has another address or stride than lane 0", name,
                         lane);
    move_lane(group, move, lane);
  }
}
