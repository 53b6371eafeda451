// wgmma.mma_async: which bytes of shared memory a warp of the warpgroup reads, which element of the sums each of its
// lanes holds, and D = A B + C of its 16 rows. Pure functions; no memory, no schedule. Each of the four warps of a
// group multiplies 16 rows of A by all of B. Sources: PTX ISA 9.0 §9.7.15 ("Matrix-descriptor", "Register Fragments");
// the canonical layouts of CUTLASS, cute/atom/mma_traits_sm90_gmma.hpp.
//
//   uint32_t places[TESSERA_WGMMA_PIECES];
//   uint32_t count = tessera_wgmma_places(descriptor, op.b_is_row, 0, op.n, places);      // pieces of 16 bytes
//   tessera_wgmma_gather(op.b, op.b_is_row, op.n, op.k, pieces, false, b);               // b [k][n]
//   tessera_wgmma_multiply(&op, a, b, sums);
#pragma once

#include "lib/emulator/lanes/type.h"
#include "lib/support/status.h"

enum {
  TESSERA_WGMMA_ROWS = 16, // of a warp
  TESSERA_WGMMA_LANES = 32,
  TESSERA_WGMMA_DEPTH_BYTES = 32, // of an element's row along k
  TESSERA_WGMMA_MOST_N = 256,
  TESSERA_WGMMA_MOST_K = 32,
  TESSERA_WGMMA_PIECES = 2 * TESSERA_WGMMA_MOST_N, // of an operand
  TESSERA_WGMMA_SUMS = TESSERA_WGMMA_MOST_N / 2    // of a lane
};

typedef struct tessera_wgmma_t {
  int n, k;
  tessera_lane_type_t a, b, d;
  bool a_is_column, b_is_row; // neighbours in memory are along m or n, not along k
  bool a_is_held;             // in registers
  bool a_negated, b_negated;
  bool from_zero; // C is not read (scale-d 0)
  bool saturate;
} tessera_wgmma_t;

// Whether there is such an instruction; else why not.
bool tessera_wgmma_check(const tessera_wgmma_t *op, tessera_error_t *out_error);

// Where the operand's pieces of 16 bytes lie, as the low 18 bits of addresses: rows [first, first + rows) along m or n.
// Along k: [row][2]; else [k][rows / 8]. 0, with a sentence, for a descriptor that has no meaning.
uint32_t tessera_wgmma_places(uint64_t descriptor, bool along_rows, int first, int rows, uint32_t *out_places,
                              tessera_error_t *out_error);

// The matrix [rows][k], or transposed [k][rows], of the pieces, as f32 or as integers.
void tessera_wgmma_gather(tessera_lane_type_t type, bool along_rows, int rows, int k, const void *const *pieces,
                          bool transposed, uint32_t *out);
// A of a warp, [16][k], from the words of its lanes: words[lane][i].
void tessera_wgmma_gather_held(tessera_lane_type_t type, int k, const uint32_t *const *words, uint32_t *out);
// A left factor in words, [column][stride]: a row's elements along k fill a word of each column.
void tessera_wgmma_gather_words(tessera_lane_type_t type, int rows, int k, const uint32_t *words, int stride,
                                uint32_t *out);

// Sums of a warp, [16][n], from and to those of its lanes.
void tessera_wgmma_gather_sums(int n, const uint32_t *const *lanes, uint32_t *out);
void tessera_wgmma_scatter_sums(int n, const uint32_t *sums, uint32_t *const *lanes);
uint32_t tessera_wgmma_sum(int n, const uint32_t *sums, int lane, int index);

// sums += a [16][k] times b [k][n].
void tessera_wgmma_multiply(const tessera_wgmma_t *op, const uint32_t *a, const uint32_t *b, uint32_t *sums);
