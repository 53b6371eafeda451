// tcgen05.mma: what its two descriptors say, and where the bytes of its factors lie. The product itself is wgmma's, 16
// rows at a time. Pure functions; no memory, no schedule. Sources: PTX ISA 9.0 §9.7.16 ("Instruction descriptor",
// "Matrix descriptor", "Data path layout"); the bit fields of CUTLASS, cute/arch/mma_sm100_desc.hpp.
//
//   tessera_tcgen05_t op;
//   if (!tessera_tcgen05_read(TESSERA_TCGEN05_F16, word, &op, &error)) return report(&error);
//   uint32_t count = tessera_tcgen05_places(descriptor, op.of.b_is_row, op.of.n, places, &error); // pieces of 16 bytes
#pragma once

#include "lib/emulator/lanes/wgmma.h"

typedef enum tessera_tcgen05_kind_t {
  TESSERA_TCGEN05_F16,
  TESSERA_TCGEN05_TF32,
  TESSERA_TCGEN05_F8,
  TESSERA_TCGEN05_I8
} tessera_tcgen05_kind_t;

enum { TESSERA_TCGEN05_LANES = 128, TESSERA_TCGEN05_COLUMNS = 512 }; // of tensor memory, words of 32 bits

typedef struct tessera_tcgen05_t {
  int m;              // 64 or 128
  tessera_wgmma_t of; // 16 of its rows
} tessera_tcgen05_t;

// Reads the instruction descriptor; false, with a sentence, where there is no such instruction.
bool tessera_tcgen05_read(tessera_tcgen05_kind_t kind, uint32_t word, tessera_tcgen05_t *out, tessera_error_t *error);

// Where the pieces of 16 bytes of a factor of |rows| rows lie, as tessera_wgmma_places has them.
uint32_t tessera_tcgen05_places(uint64_t descriptor, bool along_rows, int rows, uint32_t *places,
                                tessera_error_t *error);

// The lane of tensor memory that holds row |row| of the sums.
static inline int tessera_tcgen05_lane(int m, int row) { return m == 128 ? row : row % 16 + 32 * (row / 16); }
