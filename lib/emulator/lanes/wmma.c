// Fragments of AMD's wmma, 16 x 16 x K, waves of 32 or 64. See matrix.h.
// Sources: "RDNA3 Instruction Set Architecture" §7.9 and "RDNA4 Instruction Set Architecture" §7.12.
//   rdna3  A lane l: row l mod 16, all k in order (B the same with its column): every 16 lanes hold the same.
//          D lane l, register r: row r W / 16 + floor(l / 16), column l mod 16 (W lanes); 16-bit results fill one half
//          of each register and leave the other.
//   rdna4  waves of 32, h = floor(l / 16):
//          A lane l, element r: row l mod 16, k = K/2 h + r (16-bit types: 4 h + 8 floor(r / 4) + r mod 4).
//          D lane l, element r: row 8 h + r, column l mod 16.
//          In waves of 64 the upper 32 lanes hold what would be the upper half of the registers.
#include "lib/emulator/lanes/matrix.h"

#include <string.h>

// Sets of instruction sets.
#define ONLY_4 (1 << TESSERA_AMD_RDNA4)
#define BOTH (1 << TESSERA_AMD_RDNA3 | ONLY_4)

typedef struct wmma_row_t {
  const char *name;
  int k;
  tessera_lane_type_t a, b, c; // S8, S4: the op says which sign
  int sets;                    // bits of tessera_amd_isa_t
} wmma_row_t;

static const wmma_row_t rows[] = {
    {"wmma.f32.16x16x16.f16", 16, TESSERA_LANE_F16, TESSERA_LANE_F16, TESSERA_LANE_F32, BOTH},
    {"wmma.f32.16x16x16.bf16", 16, TESSERA_LANE_BF16, TESSERA_LANE_BF16, TESSERA_LANE_F32, BOTH},
    {"wmma.f16.16x16x16.f16", 16, TESSERA_LANE_F16, TESSERA_LANE_F16, TESSERA_LANE_F16, BOTH},
    {"wmma.bf16.16x16x16.bf16", 16, TESSERA_LANE_BF16, TESSERA_LANE_BF16, TESSERA_LANE_BF16, BOTH},
    {"wmma.i32.16x16x16.iu8", 16, TESSERA_LANE_S8, TESSERA_LANE_S8, TESSERA_LANE_S32, BOTH},
    {"wmma.i32.16x16x16.iu4", 16, TESSERA_LANE_S4, TESSERA_LANE_S4, TESSERA_LANE_S32, BOTH},
    {"wmma.f32.16x16x16.fp8_fp8", 16, TESSERA_LANE_E4M3, TESSERA_LANE_E4M3, TESSERA_LANE_F32, ONLY_4},
    {"wmma.f32.16x16x16.fp8_bf8", 16, TESSERA_LANE_E4M3, TESSERA_LANE_E5M2, TESSERA_LANE_F32, ONLY_4},
    {"wmma.f32.16x16x16.bf8_fp8", 16, TESSERA_LANE_E5M2, TESSERA_LANE_E4M3, TESSERA_LANE_F32, ONLY_4},
    {"wmma.f32.16x16x16.bf8_bf8", 16, TESSERA_LANE_E5M2, TESSERA_LANE_E5M2, TESSERA_LANE_F32, ONLY_4},
    {"wmma.i32.16x16x32.iu4", 32, TESSERA_LANE_S4, TESSERA_LANE_S4, TESSERA_LANE_S32, ONLY_4},
};

static const wmma_row_t *find_row(const char *name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

static tessera_lane_type_t with_sign(tessera_lane_type_t type, bool is_signed) {
  if (is_signed)
    return type;
  return type == TESSERA_LANE_S8 ? TESSERA_LANE_U8 : type == TESSERA_LANE_S4 ? TESSERA_LANE_U4 : type;
}

static int rdna4_k(const tessera_matrix_t *wmma, int lane, int element) {
  int half = lane % 32 / 16, r = element + lane / 32 * wmma->a.count;
  if (tessera_lane_type_bits(wmma->a.type) == 16)
    return 4 * half + 8 * (r / 4) + r % 4;
  return wmma->k / 2 * half + r;
}

static void place_inputs(tessera_matrix_t *wmma, bool is_rdna3) {
  for (int lane = 0; lane < wmma->lanes; ++lane)
    for (int i = 0; i < wmma->a.count; ++i) {
      int line = lane % 16, k = is_rdna3 ? i : rdna4_k(wmma, lane, i);
      wmma->a.place[lane * wmma->a.count + i] = (uint16_t)(line * wmma->k + k);
      wmma->b.place[lane * wmma->b.count + i] = (uint16_t)(k * 16 + line);
    }
}

static int rdna3_place(const tessera_matrix_t *wmma, int lane, int element, bool high) {
  bool halves = tessera_lane_type_bits(wmma->c.type) == 16;
  if (halves && element % 2 != high)
    return TESSERA_MATRIX_NOWHERE;
  int row = (halves ? element / 2 : element) * (wmma->lanes / 16) + lane / 16;
  return row * 16 + lane % 16;
}

static int rdna4_place(const tessera_matrix_t *wmma, int lane, int element) {
  int row = 8 * (lane % 32 / 16) + element + lane / 32 * wmma->c.count;
  return row * 16 + lane % 16;
}

static void place_results(tessera_matrix_t *wmma, bool is_rdna3, bool high) {
  for (int lane = 0; lane < wmma->lanes; ++lane)
    for (int i = 0; i < wmma->c.count; ++i) {
      int at = is_rdna3 ? rdna3_place(wmma, lane, i, high) : rdna4_place(wmma, lane, i);
      wmma->c.place[lane * wmma->c.count + i] = wmma->d.place[lane * wmma->d.count + i] = (uint16_t)at;
    }
}

bool tessera_wmma(const tessera_wmma_t *op, tessera_matrix_t *out, tessera_error_t *out_error) {
  const wmma_row_t *row = find_row(op->name);
  if (!row)
    return tessera_fail(out_error, "%s is not known to the emulator", op->name);
  bool is_rdna3 = op->isa == TESSERA_AMD_RDNA3;
  if (!(row->sets >> op->isa & 1))
    return tessera_fail(out_error, "%s does not exist in %s", op->name, tessera_amd_isa_name(op->isa));
  if (op->lanes == 64 && !is_rdna3 && row->k == 16 && row->a == TESSERA_LANE_S4)
    return tessera_fail(out_error, "%s in waves of 64 is not emulated for %s", op->name, tessera_amd_isa_name(op->isa));
  bool halves = tessera_lane_type_bits(row->c) == 16;
  int inputs = is_rdna3 ? row->k : 16 * row->k / op->lanes;
  int results = 256 / op->lanes * (is_rdna3 && halves ? 2 : 1);
  tessera_matrix_t wmma = {.lanes = op->lanes,
                           .blocks = 1,
                           .m = 16,
                           .n = 16,
                           .k = row->k,
                           .saturate = op->clamp,
                           .a = {.type = with_sign(row->a, op->a_signed), .count = inputs},
                           .b = {.type = with_sign(row->b, op->b_signed), .count = inputs},
                           .c = {.type = row->c, .count = results},
                           .d = {.type = row->c, .count = results}};
  snprintf(wmma.name, sizeof wmma.name, "%s", op->name);
  if (!tessera_matrix_prepare(&wmma, out_error))
    return false;
  place_inputs(&wmma, is_rdna3);
  place_results(&wmma, is_rdna3, op->high);
  *out = wmma;
  return true;
}
