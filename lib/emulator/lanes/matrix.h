// Matrix instructions: which element of which matrix each lane holds in which register, and D = A B + C.
// Stated from the vendors' manuals, for all lanes of a warp or wave at once; no memory, no schedule, no MLIR.
//
//   tessera_matrix_t mma;
//   if (tessera_mma_sync(&(tessera_mma_sync_t){.m = 16, .n = 8, .k = 16, .a = F16, .b = F16, .c = F32, .d = F32}, &mma,
//                        &error)) {
//     // fragments[lane]: mma.fragment_bytes bytes; A's registers at mma.a.at, B's at mma.b.at, C's at mma.c.at
//     tessera_matrix_run(&mma, fragments, scratch);   // D's registers are then at mma.d.at
//     tessera_matrix_destroy(&mma);
//   }
//
// An operand is `count` elements per lane, packed lowest bits first as registers hold them. Its place[lane * count + i]
// says where element i of that lane stands in the matrix: A [block][m][k], B [block][k][n], C and D [block][m][n].
#pragma once

#include "lib/emulator/lanes/type.h"
#include "lib/support/status.h"

enum { TESSERA_MATRIX_NOWHERE = 0xffff }; // a register's part that holds no element of the matrix

typedef struct tessera_matrix_operand_t {
  tessera_lane_type_t type;
  int count;       // elements in one lane
  int at;          // first byte in a fragment
  uint16_t *place; // lanes * count
} tessera_matrix_operand_t;

typedef enum tessera_bit_product_t { TESSERA_BIT_XOR, TESSERA_BIT_AND } tessera_bit_product_t;

typedef struct tessera_matrix_t {
  char name[64]; // "mma.sync.m16n8k16 f16 f16 f32"
  int lanes, blocks, m, n, k;
  tessera_matrix_operand_t a, b, c, d;
  bool saturate;                     // integer results are clamped, not wrapped
  bool is_of_zeros;                  // A is zero in the program: no operation is counted
  tessera_bit_product_t bit_product; // of b1
  // Of every 4 neighbours in k, A holds 2: element i of a lane stands at a.place[lane * a.count + i] and up to 3
  // further. 2 bits of an index register give the amount; the register lies at index_at in the fragment of each lane:
  // those from bit 2 (index[…] mod 16) on of lane index[…] / 16. Two of the same 4 must ascend where the instruction
  // says so.
  bool is_sparse, must_ascend;
  int index_at;
  uint16_t *index; // lanes * a.count
  // Of A and B: each run of scale_block elements along k is multiplied by its scale. An element is `element`, from bit
  // element_low on of what a.type or b.type gathers. A scale is a byte of a lane's word, which lies at scale_at in the
  // fragment: byte scale[…] mod 4 of lane scale[…] / 4, for run r of row (column) i at […] = i * (k / scale_block) + r.
  int scale_block;        // 0: no scales
  bool scales_are_powers; // 2^(byte - 127), 255 is nan; else e4m3 without a sign
  struct {
    tessera_lane_type_t element;
    int element_low, scale_at;
    uint16_t *scale; // (m or n) * k / scale_block
  } scaled[2];
  size_t fragment_bytes, scratch_bytes;
} tessera_matrix_t;

// PTX mma.sync, by what the op says. `c`, `d`: F16, F32, S32 or F64.
typedef struct tessera_mma_sync_t {
  int m, n, k;
  tessera_lane_type_t a, b, c, d;
  bool a_is_column, b_is_row; // row and column (false, false) for all shapes but m8n8k4 of f16
  bool saturate;
  tessera_bit_product_t bit_product;
} tessera_mma_sync_t;
bool tessera_mma_sync(const tessera_mma_sync_t *op, tessera_matrix_t *out, tessera_error_t *out_error);
// As above, for mma.sp.sync: A is m x k / 2. `selector` says which lanes of each four hold the indices.
bool tessera_mma_sp(const tessera_mma_sync_t *op, int selector, tessera_matrix_t *out, tessera_error_t *out_error);

// As above, for mma.sync with block_scale. `kind`: "mxf8f6f4", "mxf4" or "mxf4nvf4"; `scale`: "ue8m0" or "ue4m3". The
// selectors, those for A first, tell the bytes and lanes that hold the scales.
typedef struct tessera_block_scale_t {
  const char *kind, *scale;
  int scales; // for a row or column: 1, 2 or 4
  int byte_id[2], thread_id[2];
} tessera_block_scale_t;
bool tessera_mma_block_scale(const tessera_mma_sync_t *op, const tessera_block_scale_t *scale, tessera_matrix_t *out,
                             tessera_error_t *out_error);

// PTX wmma: products of fragments that only wmma.load and wmma.store know. `a_is_column`, `b_is_row` as the op says.
bool tessera_warp_mma(const tessera_mma_sync_t *op, tessera_matrix_t *out, tessera_error_t *out_error);
// The elements in one lane of a fragment of `elements`, and where element i of a lane stands: row * columns + column.
typedef struct tessera_warp_fragment_t {
  int rows, columns;
  bool by_columns; // A and B that lie so in memory
} tessera_warp_fragment_t;
int tessera_warp_count(tessera_lane_type_t type, bool accumulates, int elements);
int tessera_warp_element(const tessera_warp_fragment_t *fragment, int lane, int i);

// AMD's instruction sets, by their manuals. Which instructions there are, where their elements stand and what fp8 means
// depend on the set alone, so that a new chip of a known set needs no line here: its machine file names the set.
typedef enum tessera_amd_isa_t {
  TESSERA_AMD_NONE, // not AMD's
  TESSERA_AMD_CDNA1,
  TESSERA_AMD_CDNA2,
  TESSERA_AMD_CDNA3,
  TESSERA_AMD_CDNA4,
  TESSERA_AMD_RDNA3,
  TESSERA_AMD_RDNA4,
  TESSERA_AMD_COUNT
} tessera_amd_isa_t;
const char *tessera_amd_isa_name(tessera_amd_isa_t isa); // "cdna3"
// False, with an error that names those there are, for an unknown name. A null name is unknown too.
bool tessera_amd_isa_find(const char *name, tessera_amd_isa_t *out_isa, tessera_error_t *out_error);
// What the set means by an 8-bit float: cdna3's have no infinity and no negative zero, later sets take OCP's.
tessera_lane_type_t tessera_amd_isa_type(tessera_amd_isa_t isa, tessera_lane_type_t type);

// An instruction by the op's name without "rocdl." ("mfma.f32.16x16x16f16"). False when the set has no such
// instruction.
bool tessera_mfma(const char *name, tessera_amd_isa_t isa, tessera_matrix_t *out, tessera_error_t *out_error);
// As above, for "mfma.scale.f32.16x16x128.f8f6f4". `format` of A and B, 0 to 4: e4m3, e5m2, e2m3, e3m2, e2m1;
// `byte_id`: the byte of a lane's word that holds its scale.
bool tessera_mfma_scale(const char *name, tessera_amd_isa_t isa, const int format[2], const int byte_id[2],
                        tessera_matrix_t *out, tessera_error_t *out_error);
// As above, for "smfmac.f32.16x16x32.f16"; `abid` chooses the lane's indices among those in its register.
bool tessera_smfmac(const char *name, tessera_amd_isa_t isa, int abid, tessera_matrix_t *out,
                    tessera_error_t *out_error);
// `lanes`: 32 or 64, the wave's. `a_signed`, `b_signed`: for the iu8 and iu4 forms. `high`: the f16 and bf16 results
// stand in the high halves of their registers (rdna3's opsel).
typedef struct tessera_wmma_t {
  const char *name;
  tessera_amd_isa_t isa;
  int lanes;
  bool a_signed, b_signed, clamp, high;
} tessera_wmma_t;
bool tessera_wmma(const tessera_wmma_t *op, tessera_matrix_t *out, tessera_error_t *out_error);

void tessera_matrix_destroy(tessera_matrix_t *matrix);
// D = A B + C on the fragments of all lanes; `scratch`: scratch_bytes bytes, 16-byte aligned. False if lanes that must
// hold the same element (rdna3's wmma replicates A and B) differ; the result is then of the last one.
bool tessera_matrix_run(const tessera_matrix_t *matrix, void *const *fragments, void *scratch);

// Whether the indices of a sparse product are what its instruction takes.
bool tessera_matrix_indices_ascend(const tessera_matrix_t *matrix, void *const *fragments);

// For the constructors: makes room for all places and lays the fragment out; places are 0 then.
bool tessera_matrix_prepare(tessera_matrix_t *matrix, tessera_error_t *out_error);
