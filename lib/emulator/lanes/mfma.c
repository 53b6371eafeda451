// Fragments of AMD's mfma, waves of 64. See matrix.h.
// Sources: "AMD Instinct MI200/MI300 Instruction Set Architecture", chapter on matrix arithmetic; AMD lab notes, "AMD
// matrix cores". For M x M x K with B blocks, L = B M K / 64 operands and R = B M M / 64 results in a lane, and H = 4
// rows that lie in consecutive registers (f64: 1):
//   A  row i, k of block b:     lane i + M (b + B floor(k / L)),  element k mod L          (B the same with its column)
//   D  row i, column j of b:    lane j + M (b mod B' + B' (floor(i / H) mod M')),
//                               element i mod H + H (floor(i / (H M')) + G floor(b / B'))
//   with B' = max(1, 64 H / M^2), M' = 64 / (B' M), G = max(1, M / (H M')).
// smfmac, with twice the k: L = K M / 64 operands of B, A the L / 2 that are not 0. A's element i stands in the four
// from k = L floor(l / M) + 4 floor(i / 2) on, at bits 2 i and 2 i + 1 of the index register; abid skips L bits each.
// Which set has which op: LLVM 22's AMDGPU back end (each was compiled for gfx908, gfx90a, gfx942 and gfx950).
#include "lib/emulator/lanes/matrix.h"

#include <string.h>

// Sets of instruction sets.
#define ONLY_3 (1 << TESSERA_AMD_CDNA3)
#define ONLY_4 (1 << TESSERA_AMD_CDNA4)
#define UNTIL_2 (1 << TESSERA_AMD_CDNA1 | 1 << TESSERA_AMD_CDNA2)
#define SINCE_3 (ONLY_3 | ONLY_4)
#define SINCE_2 (1 << TESSERA_AMD_CDNA2 | SINCE_3)
#define CDNA (UNTIL_2 | SINCE_3)

typedef struct mfma_row_t {
  const char *name;
  int m, k, blocks;
  tessera_lane_type_t a, b, c;
  int sets; // bits of tessera_amd_isa_t
} mfma_row_t;

#define F16 TESSERA_LANE_F16
#define BF16 TESSERA_LANE_BF16
#define F32 TESSERA_LANE_F32
#define F64 TESSERA_LANE_F64
#define XF32 TESSERA_LANE_XF32
#define FP8 TESSERA_LANE_E4M3
#define BF8 TESSERA_LANE_E5M2
#define S8 TESSERA_LANE_S8
#define S32 TESSERA_LANE_S32

static const mfma_row_t rows[] = {
    {"mfma.f32.32x32x1f32", 32, 1, 2, F32, F32, F32, CDNA},
    {"mfma.f32.16x16x1f32", 16, 1, 4, F32, F32, F32, CDNA},
    {"mfma.f32.4x4x1f32", 4, 1, 16, F32, F32, F32, CDNA},
    {"mfma.f32.32x32x2f32", 32, 2, 1, F32, F32, F32, CDNA},
    {"mfma.f32.16x16x4f32", 16, 4, 1, F32, F32, F32, CDNA},
    {"mfma.f32.32x32x4f16", 32, 4, 2, F16, F16, F32, CDNA},
    {"mfma.f32.16x16x4f16", 16, 4, 4, F16, F16, F32, CDNA},
    {"mfma.f32.4x4x4f16", 4, 4, 16, F16, F16, F32, CDNA},
    {"mfma.f32.32x32x8f16", 32, 8, 1, F16, F16, F32, CDNA},
    {"mfma.f32.16x16x16f16", 16, 16, 1, F16, F16, F32, CDNA},
    {"mfma.i32.32x32x4i8", 32, 4, 2, S8, S8, S32, CDNA},
    {"mfma.i32.16x16x4i8", 16, 4, 4, S8, S8, S32, CDNA},
    {"mfma.i32.4x4x4i8", 4, 4, 16, S8, S8, S32, CDNA},
    {"mfma.i32.32x32x8i8", 32, 8, 1, S8, S8, S32, UNTIL_2},
    {"mfma.i32.16x16x16i8", 16, 16, 1, S8, S8, S32, UNTIL_2},
    {"mfma.f32.32x32x2bf16", 32, 2, 2, BF16, BF16, F32, UNTIL_2},
    {"mfma.f32.16x16x2bf16", 16, 2, 4, BF16, BF16, F32, UNTIL_2},
    {"mfma.f32.4x4x2bf16", 4, 2, 16, BF16, BF16, F32, UNTIL_2},
    {"mfma.f32.32x32x4bf16", 32, 4, 1, BF16, BF16, F32, UNTIL_2},
    {"mfma.f32.16x16x8bf16", 16, 8, 1, BF16, BF16, F32, UNTIL_2},
    {"mfma.f32.32x32x4bf16.1k", 32, 4, 2, BF16, BF16, F32, SINCE_2},
    {"mfma.f32.16x16x4bf16.1k", 16, 4, 4, BF16, BF16, F32, SINCE_2},
    {"mfma.f32.4x4x4bf16.1k", 4, 4, 16, BF16, BF16, F32, SINCE_2},
    {"mfma.f32.32x32x8bf16.1k", 32, 8, 1, BF16, BF16, F32, SINCE_2},
    {"mfma.f32.16x16x16bf16.1k", 16, 16, 1, BF16, BF16, F32, SINCE_2},
    {"mfma.f64.16x16x4f64", 16, 4, 1, F64, F64, F64, SINCE_2},
    {"mfma.f64.4x4x4f64", 4, 4, 4, F64, F64, F64, SINCE_2},
    {"mfma.i32.16x16x32.i8", 16, 32, 1, S8, S8, S32, SINCE_3},
    {"mfma.i32.32x32x16.i8", 32, 16, 1, S8, S8, S32, SINCE_3},
    {"mfma.f32.16x16x8.xf32", 16, 8, 1, XF32, XF32, F32, ONLY_3},
    {"mfma.f32.32x32x4.xf32", 32, 4, 1, XF32, XF32, F32, ONLY_3},
    {"mfma.f32.16x16x32.bf8.bf8", 16, 32, 1, BF8, BF8, F32, SINCE_3},
    {"mfma.f32.16x16x32.bf8.fp8", 16, 32, 1, BF8, FP8, F32, SINCE_3},
    {"mfma.f32.16x16x32.fp8.bf8", 16, 32, 1, FP8, BF8, F32, SINCE_3},
    {"mfma.f32.16x16x32.fp8.fp8", 16, 32, 1, FP8, FP8, F32, SINCE_3},
    {"mfma.f32.32x32x16.bf8.bf8", 32, 16, 1, BF8, BF8, F32, SINCE_3},
    {"mfma.f32.32x32x16.bf8.fp8", 32, 16, 1, BF8, FP8, F32, SINCE_3},
    {"mfma.f32.32x32x16.fp8.bf8", 32, 16, 1, FP8, BF8, F32, SINCE_3},
    {"mfma.f32.32x32x16.fp8.fp8", 32, 16, 1, FP8, FP8, F32, SINCE_3},
    {"mfma.f32.16x16x32.bf16", 16, 32, 1, BF16, BF16, F32, ONLY_4},
    {"mfma.i32.16x16x64.i8", 16, 64, 1, S8, S8, S32, ONLY_4},
    {"mfma.f32.16x16x32.f16", 16, 32, 1, F16, F16, F32, ONLY_4},
    {"mfma.f32.32x32x16.bf16", 32, 16, 1, BF16, BF16, F32, ONLY_4},
    {"mfma.i32.32x32x32.i8", 32, 32, 1, S8, S8, S32, ONLY_4},
    {"mfma.f32.32x32x16.f16", 32, 16, 1, F16, F16, F32, ONLY_4},
};

static const mfma_row_t sparse_rows[] = {
    {"smfmac.f32.16x16x32.f16", 16, 32, 1, F16, F16, F32, SINCE_3},
    {"smfmac.f32.32x32x16.f16", 32, 16, 1, F16, F16, F32, SINCE_3},
    {"smfmac.f32.16x16x32.bf16", 16, 32, 1, BF16, BF16, F32, SINCE_3},
    {"smfmac.f32.32x32x16.bf16", 32, 16, 1, BF16, BF16, F32, SINCE_3},
    {"smfmac.i32.16x16x64.i8", 16, 64, 1, S8, S8, S32, SINCE_3},
    {"smfmac.i32.32x32x32.i8", 32, 32, 1, S8, S8, S32, SINCE_3},
    {"smfmac.f32.16x16x64.bf8.bf8", 16, 64, 1, BF8, BF8, F32, SINCE_3},
    {"smfmac.f32.16x16x64.bf8.fp8", 16, 64, 1, BF8, FP8, F32, SINCE_3},
    {"smfmac.f32.16x16x64.fp8.bf8", 16, 64, 1, FP8, BF8, F32, SINCE_3},
    {"smfmac.f32.16x16x64.fp8.fp8", 16, 64, 1, FP8, FP8, F32, SINCE_3},
    {"smfmac.f32.32x32x32.bf8.bf8", 32, 32, 1, BF8, BF8, F32, SINCE_3},
    {"smfmac.f32.32x32x32.bf8.fp8", 32, 32, 1, BF8, FP8, F32, SINCE_3},
    {"smfmac.f32.32x32x32.fp8.bf8", 32, 32, 1, FP8, BF8, F32, SINCE_3},
    {"smfmac.f32.32x32x32.fp8.fp8", 32, 32, 1, FP8, FP8, F32, SINCE_3},
};

#define FIND_ROW(table, name) find_row(table, sizeof(table) / sizeof *(table), name)
static const mfma_row_t *find_row(const mfma_row_t *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; ++i)
    if (!strcmp(table[i].name, name))
      return &table[i];
  return NULL;
}

static int at_least_1(int value) { return value > 1 ? value : 1; }

static void place_inputs(tessera_matrix_t *mfma) {
  int m = mfma->m, blocks = mfma->blocks, size = mfma->k * m;
  for (int lane = 0; lane < 64; ++lane) {
    int line = lane % m, block = lane / m % blocks, first = mfma->b.count * (lane / (m * blocks));
    for (int i = 0; i < mfma->b.count; ++i)
      mfma->b.place[lane * mfma->b.count + i] = (uint16_t)(block * size + (first + i) * m + line);
    for (int i = 0; i < mfma->a.count; ++i) {
      int k = first + (mfma->is_sparse ? 4 * (i / 2) : i);
      mfma->a.place[lane * mfma->a.count + i] = (uint16_t)(block * size + line * mfma->k + k);
    }
  }
}

static void place_results(tessera_matrix_t *mfma) {
  int m = mfma->m, h = mfma->c.type == F64 ? 1 : 4, in_lanes = at_least_1(64 * h / (m * m));
  int rows_in_lanes = 64 / (in_lanes * m), groups = at_least_1(m / (h * rows_in_lanes));
  for (int block = 0; block < mfma->blocks; ++block)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        int lane = j + m * (block % in_lanes + in_lanes * (i / h % rows_in_lanes));
        int item = i % h + h * (i / (h * rows_in_lanes) + groups * (block / in_lanes));
        uint16_t at = (uint16_t)((block * m + i) * m + j);
        mfma->c.place[lane * mfma->c.count + item] = mfma->d.place[lane * mfma->d.count + item] = at;
      }
}

static bool make(const mfma_row_t *row, tessera_amd_isa_t isa, bool is_sparse, tessera_matrix_t *out,
                 tessera_error_t *out_error) {
  int inputs = row->blocks * row->m * row->k / 64, results = row->blocks * row->m * row->m / 64;
  tessera_matrix_t mfma = {.lanes = 64,
                           .blocks = row->blocks,
                           .m = row->m,
                           .n = row->m,
                           .k = row->k,
                           .is_sparse = is_sparse,
                           .a = {.type = tessera_amd_isa_type(isa, row->a), .count = is_sparse ? inputs / 2 : inputs},
                           .b = {.type = tessera_amd_isa_type(isa, row->b), .count = inputs},
                           .c = {.type = row->c, .count = results},
                           .d = {.type = row->c, .count = results}};
  snprintf(mfma.name, sizeof mfma.name, "%s", row->name);
  if (!tessera_matrix_prepare(&mfma, out_error))
    return false;
  place_inputs(&mfma);
  place_results(&mfma);
  *out = mfma;
  return true;
}

static bool is_in(const mfma_row_t *row, const char *name, tessera_amd_isa_t isa, tessera_error_t *out_error) {
  if (!row)
    return tessera_fail(out_error, "%s is not known to the emulator", name);
  return (row->sets >> isa & 1) || tessera_fail(out_error, "%s does not exist in %s", name, tessera_amd_isa_name(isa));
}

bool tessera_mfma(const char *name, tessera_amd_isa_t isa, tessera_matrix_t *out, tessera_error_t *out_error) {
  const mfma_row_t *row = FIND_ROW(rows, name);
  return is_in(row, name, isa, out_error) && make(row, isa, false, out, out_error);
}

bool tessera_smfmac(const char *name, tessera_amd_isa_t isa, int abid, tessera_matrix_t *out,
                    tessera_error_t *out_error) {
  const mfma_row_t *row = FIND_ROW(sparse_rows, name);
  if (!is_in(row, name, isa, out_error))
    return false;
  int index_bits = row->m * row->k / 64;
  if (abid < 0 || (abid + 1) * index_bits > 32)
    return tessera_fail(out_error, "%s: abid %d, the index register has %d sets", name, abid, 32 / index_bits);
  if (!make(row, isa, true, out, out_error))
    return false;
  for (int at = 0; at < 64 * out->a.count; ++at)
    out->index[at] = (uint16_t)(at / out->a.count * 16 + at % out->a.count + abid * index_bits / 2);
  return true;
}

// Where element i of a lane stands along k. Source: Triton's linear layouts of scaled mfma.
static int scaled_k(const tessera_matrix_t *mfma, tessera_lane_type_t element, int group, int i) {
  if (element == TESSERA_LANE_E2M1)
    return 32 * group + i;
  return 16 * group + i % 16 + i / 16 * (mfma->k / 2);
}

bool tessera_mfma_scale(const char *name, tessera_amd_isa_t isa, const int format[2], const int byte_id[2],
                        tessera_matrix_t *out, tessera_error_t *out_error) {
  static const mfma_row_t scaled_rows[] = {
      {"mfma.scale.f32.16x16x128.f8f6f4", 16, 128, 1, FP8, FP8, F32, ONLY_4},
      {"mfma.scale.f32.32x32x64.f8f6f4", 32, 64, 1, FP8, FP8, F32, ONLY_4},
  };
  static const tessera_lane_type_t formats[] = {TESSERA_LANE_E4M3, TESSERA_LANE_E5M2, TESSERA_LANE_E2M3,
                                                TESSERA_LANE_E3M2, TESSERA_LANE_E2M1};
  const mfma_row_t *row = FIND_ROW(scaled_rows, name);
  if (!is_in(row, name, isa, out_error))
    return false;
  for (int side = 0; side < 2; ++side)
    if (format[side] < 0 || format[side] > 4 || byte_id[side] < 0 || byte_id[side] > 3)
      return tessera_fail(out_error, "%s: format %d and byte %d, expected 0 to 4 and 0 to 3", name, format[side],
                          byte_id[side]);
  int inputs = row->m * row->k / 64, results = row->m * row->m / 64;
  tessera_matrix_t mfma = {.lanes = 64,
                           .blocks = 1,
                           .m = row->m,
                           .n = row->m,
                           .k = row->k,
                           .scale_block = 32,
                           .scales_are_powers = true,
                           .a = {.type = formats[format[0]], .count = inputs},
                           .b = {.type = formats[format[1]], .count = inputs},
                           .c = {.type = F32, .count = results},
                           .d = {.type = F32, .count = results}};
  snprintf(mfma.name, sizeof mfma.name, "%s", name);
  if (!tessera_matrix_prepare(&mfma, out_error))
    return false;
  place_results(&mfma);
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < inputs; ++i) {
      int line = lane % row->m, group = lane / row->m;
      mfma.a.place[lane * inputs + i] = (uint16_t)(line * row->k + scaled_k(&mfma, mfma.a.type, group, i));
      mfma.b.place[lane * inputs + i] = (uint16_t)(scaled_k(&mfma, mfma.b.type, group, i) * row->m + line);
    }
  for (int side = 0; side < 2; ++side) {
    mfma.scaled[side].element = formats[format[side]];
    for (int lane = 0; lane < 64; ++lane)
      mfma.scaled[side].scale[lane % row->m * (row->k / 32) + lane / row->m] = (uint16_t)(4 * lane + byte_id[side]);
  }
  *out = mfma;
  return true;
}
