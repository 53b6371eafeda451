// The fragments of matrix instructions and what the instructions compute. Lane maps are compared with the sentences of
// the PTX ISA, typed shape by shape, and with hashes of maps that were equal, entry by entry (115,328 of them), to
// those of AMD's Matrix Instruction Calculator for CDNA2, CDNA3, RDNA3 and RDNA4 on 2026-11-21. CDNA4's follow CDNA3's
// rule. Products are compared with plain loops, on integers, where every order of the sum is exact.
#include "lib/emulator/lanes/matrix.h"
#include "lib/machine/machine.h"
#include "test/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define F16 TESSERA_LANE_F16
#define BF16 TESSERA_LANE_BF16
#define TF32 TESSERA_LANE_TF32
#define F32 TESSERA_LANE_F32
#define F64 TESSERA_LANE_F64
#define E4M3 TESSERA_LANE_E4M3
#define E5M2 TESSERA_LANE_E5M2
#define S8 TESSERA_LANE_S8
#define U8 TESSERA_LANE_U8
#define S4 TESSERA_LANE_S4
#define U4 TESSERA_LANE_U4
#define B1 TESSERA_LANE_B1
#define S32 TESSERA_LANE_S32

static tessera_matrix_t make(tessera_mma_sync_t op) {
  tessera_matrix_t matrix = {.name = ""};
  tessera_error_t error;
  CHECK(tessera_mma_sync(&op, &matrix, &error), "%s", error.text);
  return matrix;
}

//===--- PTX ------------------------------------------------------------------===//

typedef struct cell_t {
  int row, column;
} cell_t;

// "row = …; col = …" of the PTX ISA for A; g: groupID, t: threadID_in_group.
static cell_t ptx_a(const tessera_matrix_t *op, int g, int t, int i) {
  bool tall = op->m == 16;
  switch (op->a.type) {
  case F64:
    if (!tall)
      return (cell_t){g, t};
    if (op->k == 16)
      return (cell_t){i % 2 == 0 ? g : g + 8, i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
    return (cell_t){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  case F16:
  case BF16:
    if (op->k == 8)
      return (cell_t){i < 2 ? g : g + 8, t * 2 + (i & 1)};
    return (cell_t){i < 2 || (4 <= i && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
  case TF32:
    return (cell_t){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  case S8:
  case U8:
  case E4M3:
  case E5M2:
    if (!tall)
      return (cell_t){g, t * 4 + i};
    if (op->k == 16)
      return (cell_t){i < 4 ? g : g + 8, t * 4 + (i & 3)};
    return (cell_t){i < 4 || (8 <= i && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
  case S4:
  case U4:
    if (!tall)
      return (cell_t){g, t * 8 + i};
    if (op->k == 32)
      return (cell_t){i < 8 ? g : g + 8, t * 8 + (i & 7)};
    return (cell_t){i < 8 || (16 <= i && i < 24) ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
  default: // b1
    if (!tall)
      return (cell_t){g, t * 32 + i};
    if (op->k == 128)
      return (cell_t){i < 32 ? g : g + 8, t * 32 + (i & 31)};
    return (cell_t){i < 32 || (64 <= i && i < 96) ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};
  }
}

static cell_t ptx_b(const tessera_matrix_t *op, int g, int t, int i) {
  switch (op->a.type) {
  case F64:
    return (cell_t){op->k == 16 ? t + i * 4 : i == 0 ? t : t + 4, g};
  case F16:
  case BF16:
    return (cell_t){i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
  case TF32:
    return (cell_t){i == 0 ? t : t + 4, g};
  case S8:
  case U8:
  case E4M3:
  case E5M2:
    return (cell_t){i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
  case S4:
  case U4:
    return (cell_t){i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
  default:
    return (cell_t){i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128, g};
  }
}

static cell_t ptx_c(int g, int t, int i) { return (cell_t){i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

static void expect(const tessera_matrix_t *op, const tessera_matrix_operand_t *operand, int lane, int i, cell_t cell,
                   int columns) {
  int place = operand->place[lane * operand->count + i];
  CHECK(place == cell.row * columns + cell.column, "%s lane %d element %d is (%d, %d), not (%d, %d)", op->name, lane, i,
        place / columns, place % columns, cell.row, cell.column);
}

static void checkPtx(tessera_mma_sync_t description, int a, int b, int c) {
  tessera_matrix_t op = make(description);
  CHECK(op.a.count == a && op.b.count == b && op.c.count == c && op.d.count == c, "%s", op.name);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < op.a.count; ++i)
      expect(&op, &op.a, lane, i, ptx_a(&op, lane >> 2, lane % 4, i), op.k);
    for (int i = 0; i < op.b.count; ++i)
      expect(&op, &op.b, lane, i, ptx_b(&op, lane >> 2, lane % 4, i), op.n);
    for (int i = 0; i < op.c.count; ++i)
      expect(&op, &op.c, lane, i, ptx_c(lane >> 2, lane % 4, i), op.n);
  }
  tessera_matrix_destroy(&op);
}

static const tessera_mma_sync_t every_mma[] = {
    {8, 8, 4, F64, F64, F64, F64, 0, 0, 0, 0},
    {16, 8, 4, F64, F64, F64, F64, 0, 0, 0, 0},
    {16, 8, 8, F64, F64, F64, F64, 0, 0, 0, 0},
    {16, 8, 16, F64, F64, F64, F64, 0, 0, 0, 0},
    {16, 8, 8, F16, F16, F32, F32, 0, 0, 0, 0},
    {16, 8, 16, F16, F16, F32, F32, 0, 0, 0, 0},
    {16, 8, 8, F16, F16, F16, F16, 0, 0, 0, 0},
    {16, 8, 16, F16, F16, F16, F16, 0, 0, 0, 0},
    {16, 8, 16, F16, F16, F16, F32, 0, 0, 0, 0},
    {16, 8, 16, F16, F16, F32, F16, 0, 0, 0, 0},
    {16, 8, 8, BF16, BF16, F32, F32, 0, 0, 0, 0},
    {16, 8, 16, BF16, BF16, F32, F32, 0, 0, 0, 0},
    {16, 8, 4, TF32, TF32, F32, F32, 0, 0, 0, 0},
    {16, 8, 8, TF32, TF32, F32, F32, 0, 0, 0, 0},
    {8, 8, 16, S8, S8, S32, S32, 0, 0, 0, 0},
    {16, 8, 16, U8, S8, S32, S32, 0, 0, 0, 0},
    {16, 8, 32, S8, U8, S32, S32, 0, 0, 0, 0},
    {16, 8, 32, S8, S8, S32, S32, 0, 0, 1, 0},
    {8, 8, 32, S4, S4, S32, S32, 0, 0, 0, 0},
    {16, 8, 32, U4, S4, S32, S32, 0, 0, 0, 0},
    {16, 8, 64, S4, U4, S32, S32, 0, 0, 0, 0},
    {8, 8, 128, B1, B1, S32, S32, 0, 0, 0, TESSERA_BIT_XOR},
    {16, 8, 128, B1, B1, S32, S32, 0, 0, 0, TESSERA_BIT_AND},
    {16, 8, 256, B1, B1, S32, S32, 0, 0, 0, TESSERA_BIT_XOR},
    {16, 8, 16, E4M3, E5M2, F32, F32, 0, 0, 0, 0},
    {16, 8, 32, E5M2, E4M3, F16, F16, 0, 0, 0, 0},
    {16, 8, 32, E4M3, E4M3, F32, F32, 0, 0, 0, 0},
    {8, 8, 4, F16, F16, F32, F32, 0, 0, 0, 0},
    {8, 8, 4, F16, F16, F16, F16, 1, 0, 0, 0},
    {8, 8, 4, F16, F16, F32, F16, 0, 1, 0, 0},
    {8, 8, 4, F16, F16, F16, F32, 1, 1, 0, 0},
};
enum { VOLTA = 4 }; // the last ones

static void testPtx(void) {
  size_t count = sizeof every_mma / sizeof *every_mma - VOLTA;
  for (size_t i = 0; i < count; ++i) {
    const tessera_mma_sync_t *op = &every_mma[i];
    checkPtx(*op, op->m * op->k / 32, op->k * op->n / 32, op->m * op->n / 32);
  }
}

static void testVolta(void) { // PTX ISA, "Matrix fragments for mma.m8n8k4 with .f16"
  for (size_t which = sizeof every_mma / sizeof *every_mma - VOLTA; which < sizeof every_mma / sizeof *every_mma;
       ++which) {
    tessera_matrix_t op = make(every_mma[which]);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int pair = lane % 16 / 4, low = lane < 16;
        cell_t a = every_mma[which].a_is_column ? (cell_t){low ? i : i + 4, lane % 4}
                                                : (cell_t){low ? lane % 4 : lane % 4 + 4, i};
        cell_t b = every_mma[which].b_is_row ? (cell_t){lane % 4, low ? i : i + 4}
                                             : (cell_t){i, low ? lane % 4 : lane % 4 + 4};
        CHECK(op.a.place[lane * 4 + i] == pair * 32 + a.row * 4 + a.column, "%s A", op.name);
        CHECK(op.b.place[lane * 4 + i] == pair * 32 + b.row * 8 + b.column, "%s B", op.name);
      }
    tessera_matrix_destroy(&op);
  }
}

// The instruction set that a chip's machine file names.
static tessera_amd_isa_t isaOf(const char *chip) {
  tessera_amd_isa_t isa = TESSERA_AMD_NONE;
  TileError missing = {.text = ""};
  tessera_error_t unknown = {""};
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, &missing);
  CHECK(machine && tessera_amd_isa_find(tileMachineGetText(machine, "isa.version"), &isa, &unknown), "%s%s",
        missing.text, unknown.text);
  tileMachineDestroy(machine);
  return isa;
}

static void testRefused(void) {
  tessera_matrix_t matrix;
  tessera_error_t error;
  const tessera_mma_sync_t wrong[] = {
      {16, 8, 32, F16, F16, F32, F32, 0, 0, 0, 0},   {16, 8, 16, F16, BF16, F32, F32, 0, 0, 0, 0},
      {16, 8, 16, BF16, BF16, F16, F16, 0, 0, 0, 0}, {16, 8, 16, F16, F16, F32, F32, 1, 0, 0, 0},
      {8, 8, 16, F16, F16, F32, F32, 0, 0, 0, 0},    {16, 8, 32, S8, S8, F32, F32, 0, 0, 0, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK(!tessera_mma_sync(&wrong[i], &matrix, &error), "case %zu", i);
    CHECK_CONTAINS(error.text, "there is no mma.sync.m");
  }
  CHECK(!tessera_mfma("mfma.f32.16x16x32.fp8.fp8", TESSERA_AMD_CDNA2, &matrix, &error));
  CHECK_CONTAINS(error.text, "mfma.f32.16x16x32.fp8.fp8 does not exist in cdna2");
  CHECK(!tessera_wmma(&(tessera_wmma_t){.name = "wmma.f32.16x16x16.fp8_fp8", .isa = TESSERA_AMD_RDNA3, .lanes = 32},
                      &matrix, &error));
  CHECK_CONTAINS(error.text, "does not exist in rdna3");
  tessera_amd_isa_t isa;
  CHECK(!tessera_amd_isa_find("cdna9", &isa, &error) && !tessera_amd_isa_find(NULL, &isa, &error));
  CHECK_CONTAINS(error.text, "known: cdna1, cdna2, cdna3, cdna4, rdna3, rdna4");
}

//===--- AMD ------------------------------------------------------------------===//

static uint32_t hashPlaces(const tessera_matrix_t *op) {
  const tessera_matrix_operand_t *operands[] = {&op->a, &op->b, &op->d};
  uint32_t hash = UINT32_C(2166136261);
  for (int o = 0; o < 3; ++o)
    for (int i = 0; i < op->lanes * operands[o]->count; ++i)
      hash = (hash ^ operands[o]->place[i]) * UINT32_C(16777619);
  return hash;
}

typedef struct amd_row_t {
  const char *name, *chip;
  int lanes;
  uint32_t hash;
} amd_row_t;

static const amd_row_t every_amd[] = {
#include "test/emulator/amd_places.inc"
};

static bool makeAmd(const amd_row_t *row, tessera_matrix_t *matrix, tessera_error_t *error) {
  tessera_wmma_t wmma = {.name = row->name, .isa = isaOf(row->chip), .lanes = row->lanes, .a_signed = true};
  return row->lanes == 64 && row->name[0] == 'm' ? tessera_mfma(row->name, isaOf(row->chip), matrix, error)
                                                 : tessera_wmma(&wmma, matrix, error);
}

static void testAmd(void) {
  for (size_t i = 0; i < sizeof every_amd / sizeof *every_amd; ++i) {
    tessera_matrix_t matrix;
    tessera_error_t error;
    bool ok = makeAmd(&every_amd[i], &matrix, &error);
    CHECK(ok, "%s", error.text);
    if (!ok)
      continue;
    uint32_t hash = hashPlaces(&matrix);
    CHECK(hash == every_amd[i].hash, "%s on %s, waves of %d: 0x%08x", every_amd[i].name, every_amd[i].chip,
          every_amd[i].lanes, hash);
    tessera_matrix_destroy(&matrix);
  }
}

//===--- products ---------------------------------------------------------------===//

typedef struct numbers_t {
  int64_t *a, *b, *c;
} numbers_t;

// A small whole number that each type of a family holds exactly.
static int64_t small(tessera_lane_type_t type, uint64_t *state) {
  switch (type) {
  case B1:
    return (int64_t)(checkRandom(state) >> 40 & 1);
  case S4:
  case TESSERA_LANE_E5M2_FNUZ:
  case E5M2:
    return (int64_t)(checkRandom(state) >> 40) % 4 * 2 - 4;
  case U4:
    return (int64_t)(checkRandom(state) >> 40) % 16;
  case U8:
    return (int64_t)(checkRandom(state) >> 40) % 256;
  case S8:
    return (int64_t)(checkRandom(state) >> 40) % 256 - 128;
  case BF16: // sums stay below 256 where bf16 holds them too
    return (int64_t)(checkRandom(state) >> 40) % 7 - 3;
  default:
    return (int64_t)(checkRandom(state) >> 40) % 17 - 8;
  }
}

// The bits of a whole number, found by trying all codes of the small types: encoders of them are not under test here.
static uint64_t encode(tessera_lane_type_t type, int64_t value) {
  if (type == F64) {
    double number = (double)value;
    uint64_t bits;
    memcpy(&bits, &number, 8);
    return bits;
  }
  if (tessera_lane_type_is_integer(type))
    return (uint64_t)value;
  if (tessera_lane_type_bits(type) == 8)
    for (uint32_t bits = 0; bits < 256; ++bits)
      if (tessera_lane_type_to_f32(type, bits) == (float)value)
        return bits;
  return tessera_lane_type_from_f32(type == TF32 || type == TESSERA_LANE_XF32 ? F32 : type, (float)value);
}

static int64_t decode(tessera_lane_type_t type, uint64_t bits) {
  if (type == F64) {
    double number;
    memcpy(&number, &bits, 8);
    return (int64_t)number;
  }
  if (tessera_lane_type_is_integer(type))
    return tessera_lane_type_to_i32(type, (uint32_t)bits);
  return (int64_t)tessera_lane_type_to_f32(type, (uint32_t)bits);
}

static uint64_t getBits(const tessera_matrix_operand_t *operand, const char *fragment, int i) {
  uint64_t bits = 0;
  if (operand->type == F64)
    memcpy(&bits, fragment + operand->at + 8 * i, 8);
  else
    bits = tessera_lane_type_get(operand->type, fragment + operand->at, i);
  return bits;
}

static void setBits(const tessera_matrix_operand_t *operand, char *fragment, int i, uint64_t bits) {
  if (operand->type == F64)
    memcpy(fragment + operand->at + 8 * i, &bits, 8);
  else
    tessera_lane_type_set(operand->type, fragment + operand->at, i, (uint32_t)bits);
}

static int64_t *fill(tessera_lane_type_t type, int count, uint64_t *state) {
  int64_t *numbers = malloc(count * sizeof *numbers);
  for (int i = 0; i < count; ++i)
    numbers[i] = small(type, state);
  return numbers;
}

static void deal(const tessera_matrix_t *op, const tessera_matrix_operand_t *operand, char **fragments,
                 const int64_t *numbers) {
  for (int at = 0; at < op->lanes * operand->count; ++at)
    if (operand->place[at] != TESSERA_MATRIX_NOWHERE)
      setBits(operand, fragments[at / operand->count], at % operand->count,
              encode(operand->type, numbers[operand->place[at]]));
}

static int64_t productOf(const tessera_matrix_t *op, int64_t a, int64_t b) {
  if (op->a.type != B1)
    return a * b;
  return op->bit_product == TESSERA_BIT_XOR ? a ^ b : a & b;
}

static void multiply(const tessera_matrix_t *op, numbers_t *numbers) {
  for (int block = 0; block < op->blocks; ++block)
    for (int i = 0; i < op->m; ++i)
      for (int j = 0; j < op->n; ++j)
        for (int k = 0; k < op->k; ++k)
          numbers->c[(block * op->m + i) * op->n + j] +=
              productOf(op, numbers->a[(block * op->m + i) * op->k + k], numbers->b[(block * op->k + k) * op->n + j]);
}

static void checkProduct(const tessera_matrix_t *op, uint64_t *state) {
  char *fragments[64];
  void *scratch = NULL;
  CHECK(!posix_memalign(&scratch, 16, op->scratch_bytes));
  for (int lane = 0; lane < op->lanes; ++lane) {
    CHECK(!posix_memalign((void **)&fragments[lane], 16, op->fragment_bytes));
    memset(fragments[lane], 0x5a, op->fragment_bytes);
  }
  numbers_t numbers = {fill(op->a.type, op->blocks * op->m * op->k, state),
                       fill(op->b.type, op->blocks * op->k * op->n, state),
                       fill(op->c.type, op->blocks * op->m * op->n, state)};
  deal(op, &op->a, fragments, numbers.a);
  deal(op, &op->b, fragments, numbers.b);
  deal(op, &op->c, fragments, numbers.c);
  CHECK(tessera_matrix_run(op, (void *const *)fragments, scratch), "%s", op->name);
  multiply(op, &numbers);
  for (int at = 0; at < op->lanes * op->d.count; ++at) {
    uint64_t bits = getBits(&op->d, fragments[at / op->d.count], at % op->d.count);
    int64_t want = op->d.place[at] == TESSERA_MATRIX_NOWHERE ? 0 : numbers.c[op->d.place[at]];
    if (op->d.place[at] == TESSERA_MATRIX_NOWHERE)
      CHECK(bits == 0x5a5a, "%s: lane %d writes the other half of a register", op->name, at / op->d.count);
    else
      CHECK(decode(op->d.type, bits) == want, "%s: lane %d element %d is %lld, not %lld", op->name, at / op->d.count,
            at % op->d.count, (long long)decode(op->d.type, bits), (long long)want);
  }
  for (int lane = 0; lane < op->lanes; ++lane)
    free(fragments[lane]);
  free(scratch);
  free(numbers.a);
  free(numbers.b);
  free(numbers.c);
}

static void testProducts(void) {
  uint64_t state = 20261121;
  for (size_t i = 0; i < sizeof every_mma / sizeof *every_mma; ++i) {
    tessera_matrix_t op = make(every_mma[i]);
    checkProduct(&op, &state);
    tessera_matrix_destroy(&op);
  }
  for (size_t i = 0; i < sizeof every_amd / sizeof *every_amd; ++i) {
    tessera_matrix_t op;
    if (!makeAmd(&every_amd[i], &op, NULL))
      continue; // counted by testAmd
    checkProduct(&op, &state);
    tessera_matrix_destroy(&op);
  }
  tessera_matrix_t high;
  tessera_wmma_t wmma = {.name = "wmma.f16.16x16x16.f16", .isa = TESSERA_AMD_RDNA3, .lanes = 32, .high = true};
  CHECK(tessera_wmma(&wmma, &high, NULL));
  checkProduct(&high, &state);
  tessera_matrix_destroy(&high);
}

//===--- sparse products ------------------------------------------------------------===//

static const char *const every_smfmac[] = {
    "smfmac.f32.16x16x32.f16",     "smfmac.f32.32x32x16.f16",     "smfmac.f32.16x16x32.bf16",
    "smfmac.f32.32x32x16.bf16",    "smfmac.i32.16x16x64.i8",      "smfmac.i32.32x32x32.i8",
    "smfmac.f32.16x16x64.bf8.bf8", "smfmac.f32.16x16x64.bf8.fp8", "smfmac.f32.16x16x64.fp8.bf8",
    "smfmac.f32.16x16x64.fp8.fp8", "smfmac.f32.32x32x32.bf8.bf8", "smfmac.f32.32x32x32.bf8.fp8",
    "smfmac.f32.32x32x32.fp8.bf8", "smfmac.f32.32x32x32.fp8.fp8"};

// A[i][k] and its 2-bit index as AMD's calculator says: lane i + M floor(k / L), pair floor(k / 4) of the lane's own.
static void dealSparse(const tessera_matrix_t *op, char **fragments, int64_t *a, int abid, uint64_t *state) {
  int length = op->b.count;
  for (int i = 0; i < op->m; ++i)
    for (int k = 0; k < op->k; k += 4) {
      int first = (int)(checkRandom(state) >> 40) % 3,
          second = first + 1 + (int)(checkRandom(state) >> 40) % (3 - first);
      char *fragment = fragments[i + op->m * (k / length)];
      int pair = k % length / 4, chosen[] = {first, second};
      uint32_t indices;
      memcpy(&indices, fragment + op->index_at, 4);
      for (int e = 0; e < 2; ++e) {
        a[i * op->k + k + chosen[e]] = small(op->a.type, state);
        setBits(&op->a, fragment, 2 * pair + e, encode(op->a.type, a[i * op->k + k + chosen[e]]));
        indices |= (uint32_t)chosen[e] << (abid * length + 4 * pair + 2 * e);
      }
      memcpy(fragment + op->index_at, &indices, 4);
    }
}

// mma.sp.sync, as CUTLASS lays its metadata out (reorder_meta, then columns interleaved by two): of K = 64 words of 32
// columns, rows g and g + 8 of one such column before the next; else 16 bits for 16 columns, rows g and g + 8 in a
// word.
static int metadataLane(int k, int row, int column, int *bit) {
  int unit = k == 64 ? 32 : 16, to = row % 8 * 2 + row / 8, across = column / unit;
  int turned = across == to % 2 ? 0 : across ? -1 : 1; // 2 x 2 blocks from Z to N
  int place = (to - turned) * 2 + across + turned;     // in units
  *bit = column % unit;
  if (k == 64)
    return place;
  if (k == 16) // one column of units: nothing to turn
    place = row % 8 * 4 + row / 8;
  *bit += 16 * (place % 2);
  return place / 4 * 4 + place % 4 / 2;
}

static void dealMma(const tessera_matrix_t *op, char **fragments, int64_t *a, int selector, uint64_t *state) {
  int w = 32 / tessera_lane_type_bits(op->a.type);
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < op->k; k += 4) {
      int first = (int)(checkRandom(state) >> 40) % 3;
      int second = first + 1 + (int)(checkRandom(state) >> 40) % (3 - first), chosen[] = {first, second}, bit;
      int holder = metadataLane(op->k, row, k, &bit) + selector * op->k / 16;
      uint32_t indices;
      memcpy(&indices, fragments[holder] + op->index_at, 4);
      indices |= (uint32_t)(first | second << 2) << bit;
      memcpy(fragments[holder] + op->index_at, &indices, 4);
      for (int e = 0; e < 2; ++e) { // kept column j of a dense m16n8k(K / 2)
        int j = k / 2 + e, lane = row % 8 * 4 + j / w % 4, i = j % w + w * (row / 8) + 2 * w * (j / (4 * w));
        a[row * op->k + k + chosen[e]] = small(op->a.type, state);
        setBits(&op->a, fragments[lane], i, encode(op->a.type, a[row * op->k + k + chosen[e]]));
      }
    }
}

static void checkSparse(const tessera_matrix_t *op, int abid, uint64_t *state) {
  static _Alignas(16) char room[64][512], scratch[32768];
  char *fragments[64];
  CHECK(op->fragment_bytes <= sizeof room[0] && op->scratch_bytes <= sizeof scratch);
  memset(room, 0, sizeof room);
  for (int lane = 0; lane < 64; ++lane)
    fragments[lane] = room[lane];
  numbers_t numbers = {calloc((size_t)(op->m * op->k), 8), fill(op->b.type, op->k * op->n, state),
                       fill(op->c.type, op->m * op->n, state)};
  (op->lanes == 32 ? dealMma : dealSparse)(op, fragments, numbers.a, abid, state);
  CHECK(tessera_matrix_indices_ascend(op, (void *const *)fragments), "%s", op->name);
  deal(op, &op->b, fragments, numbers.b);
  deal(op, &op->c, fragments, numbers.c);
  CHECK(tessera_matrix_run(op, (void *const *)fragments, scratch));
  multiply(op, &numbers);
  for (int at = 0; at < op->lanes * op->d.count; ++at) {
    uint64_t bits = getBits(&op->d, fragments[at / op->d.count], at % op->d.count);
    CHECK(decode(op->d.type, bits) == numbers.c[op->d.place[at]], "%s lane %d", op->name, at / op->d.count);
  }
  for (int lane = 0; lane < op->lanes; ++lane)
    memset(fragments[lane] + op->index_at, 0, 4);
  CHECK(tessera_matrix_indices_ascend(op, (void *const *)fragments) == (op->lanes == 64), "%s", op->name);
  free(numbers.a);
  free(numbers.b);
  free(numbers.c);
}

static void testSparseMma(void) {
  static const tessera_mma_sync_t ops[] = {
      {.m = 16, .n = 8, .k = 16, .a = TESSERA_LANE_F16, .b = TESSERA_LANE_F16, .c = TESSERA_LANE_F32},
      {.m = 16, .n = 8, .k = 32, .a = TESSERA_LANE_F16, .b = TESSERA_LANE_F16, .c = TESSERA_LANE_F32},
      {.m = 16, .n = 8, .k = 32, .a = TESSERA_LANE_F16, .b = TESSERA_LANE_F16, .c = TESSERA_LANE_F16},
      {.m = 16, .n = 8, .k = 16, .a = TESSERA_LANE_BF16, .b = TESSERA_LANE_BF16, .c = TESSERA_LANE_F32},
      {.m = 16, .n = 8, .k = 32, .a = TESSERA_LANE_BF16, .b = TESSERA_LANE_BF16, .c = TESSERA_LANE_F32},
      {.m = 16, .n = 8, .k = 64, .a = TESSERA_LANE_S8, .b = TESSERA_LANE_S8, .c = TESSERA_LANE_S32},
      {.m = 16, .n = 8, .k = 64, .a = TESSERA_LANE_E4M3, .b = TESSERA_LANE_E5M2, .c = TESSERA_LANE_F32}};
  uint64_t state = 43;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i)
    for (int selector = 0; selector < 64 / ops[i].k; ++selector) {
      tessera_mma_sync_t mma = ops[i];
      tessera_matrix_t op;
      tessera_error_t error = {.text = ""};
      mma.d = mma.c;
      CHECK(tessera_mma_sp(&mma, selector, &op, &error), "%s", error.text);
      checkSparse(&op, selector, &state);
      tessera_matrix_destroy(&op);
      CHECK(!tessera_mma_sp(&mma, 64 / mma.k, &op, &error));
      CHECK_CONTAINS(error.text, "expected one below");
    }
}

static void testSparse(void) {
  uint64_t state = 42;
  tessera_matrix_t op;
  tessera_error_t error;
  for (size_t i = 0; i < sizeof every_smfmac / sizeof *every_smfmac; ++i)
    for (int abid = 0; abid < 2; ++abid) {
      CHECK(tessera_smfmac(every_smfmac[i], abid ? TESSERA_AMD_CDNA4 : TESSERA_AMD_CDNA3, abid, &op, &error), "%s",
            error.text);
      checkSparse(&op, abid, &state);
      tessera_matrix_destroy(&op);
    }
  CHECK(!tessera_smfmac("smfmac.i32.16x16x64.i8", TESSERA_AMD_CDNA3, 2, &op, &error));
  CHECK_CONTAINS(error.text, "has 2 sets");
  CHECK(!tessera_smfmac("smfmac.i32.16x16x64.i8", TESSERA_AMD_CDNA2, 0, &op, &error));
}

// Saturation, wrapping, and gfx11's lanes that must agree.
static void testExtremes(void) {
  for (int saturate = 0; saturate < 2; ++saturate) {
    tessera_matrix_t op = make((tessera_mma_sync_t){16, 8, 32, S8, S8, S32, S32, 0, 0, saturate, 0});
    _Alignas(16) char fragments[32][256] = {{0}};
    _Alignas(16) char scratch[4096];
    void *lanes[32];
    CHECK(op.fragment_bytes <= 256 && op.scratch_bytes <= 4096);
    for (int lane = 0; lane < 32; ++lane) {
      lanes[lane] = fragments[lane];
      memset(fragments[lane] + op.a.at, 1, op.a.count);
      memset(fragments[lane] + op.b.at, 2, op.b.count);
      for (int i = 0; i < 4; ++i)
        tessera_lane_type_set(S32, fragments[lane] + op.c.at, i, INT32_MAX - 10);
    }
    tessera_matrix_run(&op, lanes, scratch);
    int32_t got = (int32_t)tessera_lane_type_get(S32, fragments[7] + op.d.at, 3);
    CHECK(got == (saturate ? INT32_MAX : (int32_t)(INT32_MAX - 10u + 64u)), "%d", got);
    tessera_matrix_destroy(&op);
  }
  tessera_matrix_t wmma;
  CHECK(tessera_wmma(&(tessera_wmma_t){.name = "wmma.f32.16x16x16.f16", .isa = TESSERA_AMD_RDNA3, .lanes = 32}, &wmma,
                     NULL));
  _Alignas(16) static char fragments[32][256], scratch[4096];
  void *lanes[32];
  for (int lane = 0; lane < 32; ++lane)
    lanes[lane] = fragments[lane];
  CHECK(tessera_matrix_run(&wmma, lanes, scratch));
  tessera_lane_type_set(F16, fragments[19] + wmma.a.at, 5, 0x3c00);
  CHECK(!tessera_matrix_run(&wmma, lanes, scratch));
  tessera_matrix_destroy(&wmma);
}

//===--- elements -----------------------------------------------------------------===//

// A small float by its definition.
static double small_float(uint32_t bits, int width, int fraction, int bias, bool infinities) {
  uint32_t magnitude = bits & ((1u << (width - 1)) - 1), exponent = magnitude >> fraction;
  double mantissa = magnitude & ((1u << fraction) - 1), sign = bits >> (width - 1) ? -1 : 1;
  int top = (1 << (width - 1 - fraction)) - 1;
  if (infinities && (int)exponent == top)
    return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(mantissa, 1 - bias - fraction);
  return sign * ldexp(mantissa + (1 << fraction), (int)exponent - bias - fraction);
}

static void checkElement(tessera_lane_type_t type, uint32_t bits, double want) {
  float got = tessera_lane_type_to_f32(type, bits);
  CHECK((isnan(want) && isnan(got)) || ((double)got == want && !signbit(got) == !signbit(want)), "%s 0x%x: %g not %g",
        tessera_lane_type_name(type), bits, got, want);
}

static void testElements(void) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    checkElement(F16, bits, small_float(bits, 16, 10, 15, true));
    checkElement(BF16, bits, small_float(bits, 16, 7, 127, true));
  }
  for (uint32_t bits = 0; bits < 256; ++bits) {
    checkElement(E5M2, bits, small_float(bits, 8, 2, 15, true));
    checkElement(E4M3, bits, (bits & 0x7f) == 0x7f ? NAN : small_float(bits, 8, 3, 7, false));
    checkElement(TESSERA_LANE_E4M3_FNUZ, bits, bits == 0x80 ? NAN : small_float(bits, 8, 3, 8, false));
    checkElement(TESSERA_LANE_E5M2_FNUZ, bits, bits == 0x80 ? NAN : small_float(bits, 8, 2, 16, false));
  }
  for (uint32_t bits = 0; bits < 64; ++bits) {
    checkElement(TESSERA_LANE_E2M3, bits, small_float(bits, 6, 3, 1, false));
    checkElement(TESSERA_LANE_E3M2, bits, small_float(bits, 6, 2, 3, false));
    checkElement(TESSERA_LANE_E2M1, bits % 16, small_float(bits % 16, 4, 1, 1, false));
  }
  checkElement(TF32, 0x3f801fff, 1);                        // truncated
  checkElement(TESSERA_LANE_XF32, 0x3f801001, 1 + 0x1p-10); // rounded, ties to even
  checkElement(TESSERA_LANE_XF32, 0x3f801000, 1);
}

//===--- block scales -------------------------------------------------------------===//

static uint32_t nextRandom(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

// e4m3 by e2m1, which stands at bits 2 to 5 of its byte. All other bits, bytes and lanes hold anything.
static void testBlockScale(void) {
  enum { M = 16, N = 8, K = 32, RowByte = 1, ColumnByte = 3, RowThread = 1, ColumnThread = 2 };
  _Alignas(16) char room[32][256], scratch[8192];
  void *fragments[32];
  double a[M][K], b[K][N];
  uint64_t state = 20261127;
  tessera_mma_sync_t mma = {.m = M, .n = N, .k = K, .a = E4M3, .b = TESSERA_LANE_E2M1, .c = F32, .d = F32};
  tessera_block_scale_t scale = {"mxf8f6f4", "ue8m0", 1, {RowByte, ColumnByte}, {RowThread, ColumnThread}};
  tessera_matrix_t op;
  tessera_error_t error;
  CHECK(tessera_mma_block_scale(&mma, &scale, &op, &error), "%s", error.text);
  CHECK(op.fragment_bytes <= sizeof room[0] && op.scratch_bytes <= sizeof scratch);
  for (int lane = 0; lane < 32; ++lane) {
    fragments[lane] = room[lane];
    memset(room[lane], 0, sizeof room[lane]);
    for (int i = 0; i < op.a.count; ++i) {
      cell_t cell = ptx_a(&op, lane >> 2, lane % 4, i);
      uint32_t code = nextRandom(&state) & 0xf7; // no nan
      room[lane][op.a.at + i] = (char)code;
      a[cell.row][cell.column] = small_float(code, 8, 3, 7, false);
    }
    for (int i = 0; i < op.b.count; ++i) {
      cell_t cell = ptx_b(&op, lane >> 2, lane % 4, i);
      uint32_t byte = nextRandom(&state) & 0xff;
      room[lane][op.b.at + i] = (char)byte;
      b[cell.row][cell.column] = small_float(byte >> 2 & 15, 4, 1, 1, false);
    }
    for (int i = 0; i < 8; ++i)
      room[lane][op.scaled[i / 4].scale_at + i % 4] = (char)(120 + nextRandom(&state) % 15);
  }
  CHECK(tessera_matrix_run(&op, fragments, scratch));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < op.d.count; ++i) {
      cell_t cell = ptx_c(lane >> 2, lane % 4, i);
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += a[cell.row][k] * b[k][cell.column];
      int rowLane = 4 * (cell.row % 8) + 2 * RowThread + cell.row / 8, columnLane = 4 * cell.column + ColumnThread;
      int power = (unsigned char)room[rowLane][op.scaled[0].scale_at + RowByte] +
                  (unsigned char)room[columnLane][op.scaled[1].scale_at + ColumnByte] - 2 * 127;
      float got;
      memcpy(&got, room[lane] + op.d.at + 4 * i, sizeof got);
      CHECK(got == (float)ldexp(sum, power), "lane %d element %d: %g not %g", lane, i, got, ldexp(sum, power));
    }
  tessera_matrix_destroy(&op);
  scale.thread_id[0] = 2; // rows have two places
  CHECK(!tessera_mma_block_scale(&mma, &scale, &op, &error));
  CHECK_CONTAINS(error.text, "selectors of scales {1, 2} and {3, 2} do not fit");
  CHECK(!tessera_mfma_scale("mfma.scale.f32.16x16x128.f8f6f4", TESSERA_AMD_CDNA3, (int[]){0, 0}, (int[]){0, 0}, &op,
                            &error));
  CHECK_CONTAINS(error.text, "does not exist in cdna3");
}

int main(void) {
  testElements();
  testBlockScale();
  testPtx();
  testVolta();
  testRefused();
  testAmd();
  testProducts();
  testExtremes();
  testSparse();
  testSparseMma();
  return checkResult(140000);
}
