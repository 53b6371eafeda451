// Fragments of PTX mma.sync. See matrix.h.
// Source: PTX ISA 9.0, §9.7.15.5 "Matrix multiply-accumulate operation using mma instruction". With g = lane / 4,
// t = lane % 4 and w elements of the operand in a register (32 bits; f64: one), all shapes with n = 8 are one rule:
//   A  register r, element e:  row g + 8 (r mod 2) (m = 8: g),  k = w t + e + 4 w floor(r / 2) (m = 8: 4 w r)
//   B  register r, element e:  k = w t + e + 4 w r,  column g
//   C  element i:              row g + 8 floor(i / 2),  column 2 t + i mod 2
// mma.sp.sync, §9.7.14.6 of PTX ISA 9.1: A is that of m16n8k(K/2), its columns the kept ones; B by the rule for K.
// Where the indices lie is drawn there only: of K = 16 and 32 as LLVM's sparse-mma-2-4-f16.mlir and CUTLASS's
// reorder_meta have it (16 bits of row g, then of row g + 8, 16 columns a lane), of K = 64 as the latter (32 columns of
// one row a lane). m8n8k4 of f16 is Volta's: four products at once, one for each quad pair (lanes 4q..4q+3 and
// 16+4q..16+4q+3).
#include "lib/emulator/lanes/matrix.h"

#include <string.h>

typedef struct shape_row_t {
  tessera_lane_type_t type;
  int m, n, k;
} shape_row_t;

// For 8-bit and 4-bit types the signed one stands for both.
static const shape_row_t shapes[] = {
    {TESSERA_LANE_F64, 8, 8, 4},    {TESSERA_LANE_F64, 16, 8, 4},  {TESSERA_LANE_F64, 16, 8, 8},
    {TESSERA_LANE_F64, 16, 8, 16},  {TESSERA_LANE_F16, 8, 8, 4},   {TESSERA_LANE_F16, 16, 8, 8},
    {TESSERA_LANE_F16, 16, 8, 16},  {TESSERA_LANE_BF16, 16, 8, 8}, {TESSERA_LANE_BF16, 16, 8, 16},
    {TESSERA_LANE_TF32, 16, 8, 4},  {TESSERA_LANE_TF32, 16, 8, 8}, {TESSERA_LANE_S8, 8, 8, 16},
    {TESSERA_LANE_S8, 16, 8, 16},   {TESSERA_LANE_S8, 16, 8, 32},  {TESSERA_LANE_S4, 8, 8, 32},
    {TESSERA_LANE_S4, 16, 8, 32},   {TESSERA_LANE_S4, 16, 8, 64},  {TESSERA_LANE_B1, 8, 8, 128},
    {TESSERA_LANE_B1, 16, 8, 128},  {TESSERA_LANE_B1, 16, 8, 256}, {TESSERA_LANE_E4M3, 16, 8, 16},
    {TESSERA_LANE_E4M3, 16, 8, 32},
};

// The row's type of an operand's: signed for unsigned, e4m3 for e5m2.
static tessera_lane_type_t family(tessera_lane_type_t type) {
  switch (type) {
  case TESSERA_LANE_U8:
    return TESSERA_LANE_S8;
  case TESSERA_LANE_U4:
    return TESSERA_LANE_S4;
  case TESSERA_LANE_E5M2:
    return TESSERA_LANE_E4M3;
  default:
    return type;
  }
}

static bool accumulates(tessera_lane_type_t family, tessera_lane_type_t accumulator) {
  if (family == TESSERA_LANE_F64)
    return accumulator == TESSERA_LANE_F64;
  if (tessera_lane_type_is_integer(family))
    return accumulator == TESSERA_LANE_S32;
  bool halves = family == TESSERA_LANE_F16 || family == TESSERA_LANE_E4M3;
  return accumulator == TESSERA_LANE_F32 || (halves && accumulator == TESSERA_LANE_F16);
}

static const shape_row_t sparse_shapes[] = {
    {TESSERA_LANE_F16, 16, 8, 16},  {TESSERA_LANE_F16, 16, 8, 32}, {TESSERA_LANE_BF16, 16, 8, 16},
    {TESSERA_LANE_BF16, 16, 8, 32}, {TESSERA_LANE_S8, 16, 8, 64},  {TESSERA_LANE_E4M3, 16, 8, 64},
};

static bool is_volta(const tessera_mma_sync_t *op) { return op->k == 4 && op->a == TESSERA_LANE_F16; }

static bool exists(const tessera_mma_sync_t *op, const shape_row_t *rows, size_t count) {
  tessera_lane_type_t type = family(op->a);
  if (family(op->b) != type || !accumulates(type, op->c) || !accumulates(type, op->d))
    return false;
  if ((op->a_is_column || op->b_is_row) && !is_volta(op))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (rows[i].type == type && rows[i].m == op->m && rows[i].n == op->n && rows[i].k == op->k)
      return true;
  return false;
}

//===--- the rule -------------------------------------------------------------===//

static void place_tensor_core(tessera_matrix_t *mma) {
  int bits = tessera_lane_type_bits(mma->a.type), w = bits >= 32 ? 1 : 32 / bits, tall = mma->m / 8;
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < mma->a.count; ++i) {
      int r = i / w, row = g + 8 * (r % tall), k = w * t + i % w + 4 * w * (r / tall);
      mma->a.place[lane * mma->a.count + i] = (uint16_t)(row * mma->k + (mma->is_sparse ? k / 2 * 4 : k));
    }
    for (int i = 0; i < mma->b.count; ++i)
      mma->b.place[lane * mma->b.count + i] = (uint16_t)((w * t + i % w + 4 * w * (i / w)) * 8 + g);
    for (int i = 0; i < mma->c.count; ++i) {
      int at = (g + 8 * (i / 2)) * 8 + 2 * t + i % 2;
      mma->c.place[lane * mma->c.count + i] = mma->d.place[lane * mma->d.count + i] = (uint16_t)at;
    }
  }
}

//===--- Volta ----------------------------------------------------------------===//

static int volta_c(tessera_lane_type_t type, int lane, int i) {
  int high = lane < 16 ? 0 : 4;
  if (type == TESSERA_LANE_F16)
    return (lane % 4 + high) * 8 + i;
  return ((lane & 1) + (i & 2) + high) * 8 + (i & 4) + (lane & 2) + (i & 1);
}

static void place_volta(const tessera_mma_sync_t *op, tessera_matrix_t *mma) {
  for (int lane = 0; lane < 32; ++lane) {
    int block = lane % 16 / 4, high = lane < 16 ? 0 : 4;
    for (int i = 0; i < 4; ++i) {
      int row = op->a_is_column ? i + high : lane % 4 + high, a_k = op->a_is_column ? lane % 4 : i;
      int column = op->b_is_row ? i + high : lane % 4 + high, b_k = op->b_is_row ? lane % 4 : i;
      mma->a.place[lane * 4 + i] = (uint16_t)(block * 32 + row * 4 + a_k);
      mma->b.place[lane * 4 + i] = (uint16_t)(block * 32 + b_k * 8 + column);
    }
    for (int i = 0; i < 8; ++i) {
      mma->c.place[lane * 8 + i] = (uint16_t)(block * 64 + volta_c(op->c, lane, i));
      mma->d.place[lane * 8 + i] = (uint16_t)(block * 64 + volta_c(op->d, lane, i));
    }
  }
}

bool tessera_mma_sync(const tessera_mma_sync_t *op, tessera_matrix_t *out, tessera_error_t *out_error) {
  char name[64];
  snprintf(name, sizeof name, "mma.sync.m%dn%dk%d.%s.%s.%s.%s", op->m, op->n, op->k, tessera_lane_type_name(op->d),
           tessera_lane_type_name(op->a), tessera_lane_type_name(op->b), tessera_lane_type_name(op->c));
  if (!exists(op, shapes, sizeof shapes / sizeof *shapes))
    return tessera_fail(out_error, "there is no %s", name);
  int blocks = is_volta(op) ? 4 : 1;
  tessera_matrix_t mma = {.lanes = 32,
                          .blocks = blocks,
                          .m = op->m,
                          .n = op->n,
                          .k = op->k,
                          .saturate = op->saturate,
                          .bit_product = op->bit_product,
                          .a = {.type = op->a, .count = blocks * op->m * op->k / 32},
                          .b = {.type = op->b, .count = blocks * op->k * op->n / 32},
                          .c = {.type = op->c, .count = blocks * op->m * op->n / 32},
                          .d = {.type = op->d, .count = blocks * op->m * op->n / 32}};
  memcpy(mma.name, name, sizeof name);
  if (!tessera_matrix_prepare(&mma, out_error))
    return false;
  if (is_volta(op))
    place_volta(op, &mma);
  else
    place_tensor_core(&mma);
  *out = mma;
  return true;
}

//===--- sparse ---------------------------------------------------------------===//

// Kept column `kept` of row `row`: which lane's register says where it stands, and at which 2 bits.
static uint16_t index_place(int k, int row, int kept, int selector) {
  int g = row % 8, high = row / 8;
  if (k == 64)
    return (uint16_t)((4 * g + high + 2 * (kept / 16)) * 16 + kept % 16);
  return (uint16_t)((4 * g + selector * (k / 16) + kept / 8) * 16 + 8 * high + kept % 8);
}

bool tessera_mma_sp(const tessera_mma_sync_t *op, int selector, tessera_matrix_t *out, tessera_error_t *out_error) {
  char name[64];
  snprintf(name, sizeof name, "mma.sp.sync.m%dn%dk%d.%s.%s.%s.%s", op->m, op->n, op->k, tessera_lane_type_name(op->d),
           tessera_lane_type_name(op->a), tessera_lane_type_name(op->b), tessera_lane_type_name(op->c));
  if (!exists(op, sparse_shapes, sizeof sparse_shapes / sizeof *sparse_shapes))
    return tessera_fail(out_error, "%s is not known to the emulator", name);
  if (selector < 0 || selector >= 64 / op->k)
    return tessera_fail(out_error, "%s: selector %d, expected one below %d", name, selector, 64 / op->k);
  tessera_matrix_t mma = {.lanes = 32,
                          .blocks = 1,
                          .m = op->m,
                          .n = op->n,
                          .k = op->k,
                          .saturate = op->saturate,
                          .is_sparse = true,
                          .must_ascend = true,
                          .a = {.type = op->a, .count = op->m * op->k / 64},
                          .b = {.type = op->b, .count = op->k * op->n / 32},
                          .c = {.type = op->c, .count = op->m * op->n / 32},
                          .d = {.type = op->d, .count = op->m * op->n / 32}};
  memcpy(mma.name, name, sizeof name);
  if (!tessera_matrix_prepare(&mma, out_error))
    return false;
  place_tensor_core(&mma);
  int w = 32 / tessera_lane_type_bits(op->a);
  for (int at = 0; at < 32 * mma.a.count; ++at) {
    int lane = at / mma.a.count, i = at % mma.a.count, r = i / w;
    int kept = w * (lane % 4) + i % w + 4 * w * (r / 2);
    mma.index[at] = index_place(op->k, lane / 4 + 8 * (r % 2), kept, selector);
  }
  *out = mma;
  return true;
}

//===--- block scales -------------------------------------------------------===//

// PTX ISA 9.0, "Block scaling for mma.sync": A's row r has its scales in lane 4 (r mod 8) + 2 thread_id + floor(r / 8)
// (thread_id 0 or 1), B's column c in lane 4 c + thread_id (0 to 3), from byte byte_id of the lane's register on. In
// mxf8f6f4 each element stands in a byte of its own, those of 4 bits from bit 2 on.
typedef struct scaled_kind_t {
  const char *kind, *scale;
  int k, scales;
} scaled_kind_t;

static const scaled_kind_t scaled_kinds[] = {
    {"mxf8f6f4", "ue8m0", 32, 1}, {"mxf4", "ue8m0", 64, 2}, {"mxf4nvf4", "ue8m0", 64, 2}, {"mxf4nvf4", "ue4m3", 64, 4}};

static bool scaled_exists(const tessera_mma_sync_t *op, const tessera_block_scale_t *scale) {
  bool fits = op->m == 16 && op->n == 8 && op->c == TESSERA_LANE_F32 && op->d == TESSERA_LANE_F32, exists = false;
  const tessera_lane_type_t factors[] = {op->a, op->b};
  for (int i = 0; i < 2; ++i) {
    bool is_byte = factors[i] == TESSERA_LANE_E4M3 || factors[i] == TESSERA_LANE_E5M2 ||
                   factors[i] == TESSERA_LANE_E2M3 || factors[i] == TESSERA_LANE_E3M2;
    fits = fits && (factors[i] == TESSERA_LANE_E2M1 || (op->k == 32 && is_byte));
  }
  for (size_t i = 0; i < sizeof scaled_kinds / sizeof *scaled_kinds; ++i)
    exists = exists || (!strcmp(scaled_kinds[i].kind, scale->kind) && !strcmp(scaled_kinds[i].scale, scale->scale) &&
                        scaled_kinds[i].k == op->k && scaled_kinds[i].scales == scale->scales);
  return fits && exists;
}

static bool selectors_fit(const tessera_block_scale_t *scale) {
  bool fit = true;
  for (int i = 0; i < 2; ++i)
    fit = fit && scale->byte_id[i] >= 0 && scale->byte_id[i] % scale->scales == 0 &&
          scale->byte_id[i] + scale->scales <= 4 && scale->thread_id[i] >= 0 && scale->thread_id[i] < (i ? 4 : 2);
  return fit;
}

bool tessera_mma_block_scale(const tessera_mma_sync_t *op, const tessera_block_scale_t *scale, tessera_matrix_t *out,
                             tessera_error_t *out_error) {
  char name[64];
  snprintf(name, sizeof name, "mma.sync.%s.m%dn%dk%d.%s.%s.%s", scale->kind, op->m, op->n, op->k,
           tessera_lane_type_name(op->a), tessera_lane_type_name(op->b), scale->scale);
  if (!scaled_exists(op, scale))
    return tessera_fail(out_error, "%s with %d scales is not known to the emulator", name, scale->scales);
  if (!selectors_fit(scale))
    return tessera_fail(out_error, "%s: selectors of scales {%d, %d} and {%d, %d} do not fit %d scales", name,
                        scale->byte_id[0], scale->thread_id[0], scale->byte_id[1], scale->thread_id[1], scale->scales);
  tessera_lane_type_t container = op->k == 32 ? TESSERA_LANE_U8 : TESSERA_LANE_U4;
  tessera_matrix_t mma = {.lanes = 32,
                          .blocks = 1,
                          .m = op->m,
                          .n = op->n,
                          .k = op->k,
                          .scale_block = op->k / scale->scales,
                          .scales_are_powers = !strcmp(scale->scale, "ue8m0"),
                          .a = {.type = container, .count = op->m * op->k / 32},
                          .b = {.type = container, .count = op->k * op->n / 32},
                          .c = {.type = op->c, .count = op->m * op->n / 32},
                          .d = {.type = op->d, .count = op->m * op->n / 32}};
  memcpy(mma.name, name, sizeof name);
  if (!tessera_matrix_prepare(&mma, out_error))
    return false;
  place_tensor_core(&mma);
  const tessera_lane_type_t factors[] = {op->a, op->b};
  for (int side = 0; side < 2; ++side) {
    mma.scaled[side].element = factors[side];
    mma.scaled[side].element_low = op->k == 32 && factors[side] == TESSERA_LANE_E2M1 ? 2 : 0;
    for (int i = 0; i < (side ? op->n : op->m); ++i)
      for (int s = 0; s < scale->scales; ++s) {
        int lane = side ? 4 * i + scale->thread_id[1] : 4 * (i % 8) + 2 * scale->thread_id[0] + i / 8;
        mma.scaled[side].scale[i * scale->scales + s] = (uint16_t)(4 * lane + scale->byte_id[side] + s);
      }
  }
  *out = mma;
  return true;
}
