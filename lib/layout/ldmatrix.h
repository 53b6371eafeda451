// ldmatrix and stmatrix: whether a fragment can be read from (written to) a buffer by rows of 16 bytes, and how.
// Why: one such instruction moves four 8x8 matrices of 16-bit elements; lane i names the address of row i % 8 of matrix
//   i / 8, and lane l receives of each matrix the word l % 4 of row l / 4 or, transposed, the rows 2 * (l % 4) and the
//   next of column l / 4. In terms of layouts that is an access by another layout, the one of the rows.
// Expects: 32 lanes; elements of 8, 16 or 32 bits (transposed: 16). Leaves: plain values.
//
//   TileMatrixAccess plan;
//   if (tileMatrixAccessPlan(&fragment, &buffer, shape, 2, 2, &plan, NULL))
//     for (uint32_t n = 0; n < plan.rows.count; ++n)      // thread t: address tileAccessOffset(&plan.rows, n, t)
//       for (uint32_t m = 0; m < 1u << plan.matrixBits; ++m)
//         word m of the result → registers tileMatrixRegister(&plan, n, m, slot), slot = 0 … elements of a word - 1
#ifndef TESSERA_LIB_LAYOUT_LDMATRIX_H
#define TESSERA_LIB_LAYOUT_LDMATRIX_H

#include "lib/layout/access.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileMatrixAccess {
  bool transposed;
  uint32_t matrixBits;                         // 2^matrixBits matrices in one instruction: x1, x2, x4
  uint32_t slotBits;                           // log2 of the elements of a word
  TileAccess rows;                             // of row addresses; its registers are not the fragment's
  uint32_t slotStep[2];                        // fragment register of bit i of the slot
  uint32_t matrixStep[2];                      // of bit i of the matrix
  uint32_t rowBits;                            // lowest register bits of `rows`, which are inside a row
  uint32_t registerStep[TILE_LAYOUT_MAX_BITS]; // of bit rowBits + i of a register of `rows`
  uint32_t fragmentBits;                       // register bits of the fragment, below its odd factors
} TileMatrixAccess;

// The layout of whole rows: register bits first walk 16 bytes of a row, lanes name rows and matrices. To choose a
// buffer that ldmatrix reads without conflicts, give this to tileLayoutSwizzle in the fragment's place. Fails if the
// fragment is not made of such matrices.
bool tileMatrixRows(const TileLayout *fragment, uint32_t elementBytes, bool transposed, TileLayout *rows,
                    TileError *error);

// Plain if that fits, else transposed. Fails where rows of 16 bytes do not lie together and aligned in the buffer.
bool tileMatrixAccessPlan(const TileLayout *fragment, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                          uint32_t elementBytes, TileMatrixAccess *plan, TileError *error);

// The fragment's register that holds this slot of the word of a matrix.
uint32_t tileMatrixRegister(const TileMatrixAccess *plan, uint32_t n, uint32_t matrix, uint32_t slot);

#ifdef __cplusplus
}
#endif
#endif
