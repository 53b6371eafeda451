// Fragments of PTX wmma, which leaves open which lane holds what. See matrix.h.
// Source: PTX ISA 9.0, §9.7.15.4 "Matrix multiply-accumulate operation using wmma instructions": shapes, types,
// registers of a fragment. Here element e of a matrix stands in lane e mod 32. A and B count their elements as they lie
// in memory, so that a product that names another layout than the load gives a wrong result, as it may on the device. C
// and D count them by rows, since a product does not name their layout. f16's A and B fragments have 16 elements a lane
// whatever the shape: elements stand there up to four times.
#include "lib/emulator/lanes/matrix.h"

#include <string.h>

typedef struct warp_row_t {
  tessera_lane_type_t type;
  int m, n, k;
} warp_row_t;

#define LARGE_SHAPES(type) {type, 16, 16, 16}, {type, 8, 32, 16}, {type, 32, 8, 16}
static const warp_row_t rows[] = {
    LARGE_SHAPES(TESSERA_LANE_F16), LARGE_SHAPES(TESSERA_LANE_BF16), LARGE_SHAPES(TESSERA_LANE_S8),
    LARGE_SHAPES(TESSERA_LANE_U8),  {TESSERA_LANE_TF32, 16, 16, 8},  {TESSERA_LANE_F64, 8, 8, 4},
};

static const warp_row_t *find_row(const tessera_mma_sync_t *op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].type == op->a && op->b == op->a && rows[i].m == op->m && rows[i].n == op->n && rows[i].k == op->k)
      return &rows[i];
  return NULL;
}

static bool accumulates(tessera_lane_type_t type, tessera_lane_type_t accumulator) {
  if (type == TESSERA_LANE_F64 || tessera_lane_type_is_integer(type))
    return accumulator == (type == TESSERA_LANE_F64 ? TESSERA_LANE_F64 : TESSERA_LANE_S32);
  return accumulator == TESSERA_LANE_F32 || (type == TESSERA_LANE_F16 && accumulator == TESSERA_LANE_F16);
}

int tessera_warp_count(tessera_lane_type_t type, bool accumulates, int elements) {
  return type == TESSERA_LANE_F16 && !accumulates ? 16 : elements / 32;
}

int tessera_warp_element(const tessera_warp_fragment_t *fragment, int lane, int i) {
  int at = (i * 32 + lane) % (fragment->rows * fragment->columns);
  if (!fragment->by_columns)
    return at;
  return at % fragment->rows * fragment->columns + at / fragment->rows;
}

static void place(tessera_matrix_operand_t *operand, tessera_warp_fragment_t fragment) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < operand->count; ++i)
      operand->place[lane * operand->count + i] = (uint16_t)tessera_warp_element(&fragment, lane, i);
}

bool tessera_warp_mma(const tessera_mma_sync_t *op, tessera_matrix_t *out, tessera_error_t *out_error) {
  int m = op->m, n = op->n, k = op->k;
  tessera_matrix_t mma = {.lanes = 32, .blocks = 1, .m = m, .n = n, .k = k, .saturate = op->saturate};
  snprintf(mma.name, sizeof mma.name, "wmma.m%dn%dk%d.%s.%s.%s", m, n, k, tessera_lane_type_name(op->d),
           tessera_lane_type_name(op->a), tessera_lane_type_name(op->c));
  if (!find_row(op) || !accumulates(op->a, op->c) || !accumulates(op->a, op->d))
    return tessera_fail(out_error, "%s is not known to the emulator", mma.name);
  mma.a = (tessera_matrix_operand_t){.type = op->a, .count = tessera_warp_count(op->a, false, m * k)};
  mma.b = (tessera_matrix_operand_t){.type = op->b, .count = tessera_warp_count(op->b, false, k * n)};
  mma.c = (tessera_matrix_operand_t){.type = op->c, .count = tessera_warp_count(op->c, true, m * n)};
  mma.d = (tessera_matrix_operand_t){.type = op->d, .count = tessera_warp_count(op->d, true, m * n)};
  if (!tessera_matrix_prepare(&mma, out_error))
    return false;
  place(&mma.a, (tessera_warp_fragment_t){m, k, op->a_is_column});
  place(&mma.b, (tessera_warp_fragment_t){k, n, !op->b_is_row});
  place(&mma.c, (tessera_warp_fragment_t){m, n, false});
  place(&mma.d, (tessera_warp_fragment_t){m, n, false});
  *out = mma;
  return true;
}
