// Matrices over GF(2) of at most 64 x 64 bits: rank, solving, inverses.
// Why: a linear layout is such a matrix (index bits in, coordinate bits out), and every question about one is a
// question here. Expects: plain values, column j = the image of input bit j, bit i of it = row i. Leaves: nothing on
// the heap.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_BIT_MATRIX_MAX = 64 };

typedef struct TileBitMatrix {
  uint32_t rows, columns;
  uint64_t column[TILE_BIT_MATRIX_MAX];
} TileBitMatrix;

TileBitMatrix tileBitMatrixIdentity(uint32_t size);

// The matrix times the vector x: the XOR of the columns that x selects.
uint64_t tileBitMatrixApply(const TileBitMatrix *matrix, uint64_t x);

// left * right; left->columns must equal right->rows.
TileBitMatrix tileBitMatrixMultiply(const TileBitMatrix *left, const TileBitMatrix *right);

uint32_t tileBitMatrixRank(const TileBitMatrix *matrix);

// Finds an x with matrix * x = y; false if there is none. If there are several, this x uses only the earliest
// independent columns: bits that add nothing new (copies) stay 0.
bool tileBitMatrixSolve(const TileBitMatrix *matrix, uint64_t y, uint64_t *x);

// R with matrix * R = identity; exists if and only if the rank is the number of rows (every value is reached).
bool tileBitMatrixRightInverse(const TileBitMatrix *matrix, TileBitMatrix *inverse);

// L with L * matrix = identity; exists if and only if the rank is the number of columns (no value is reached twice).
bool tileBitMatrixLeftInverse(const TileBitMatrix *matrix, TileBitMatrix *inverse);

// A subspace by an echelon basis: value[i] is 0 or has i as its highest bit.
typedef struct TileBitSpan {
  uint64_t value[TILE_BIT_MATRIX_MAX];
  uint32_t size;
} TileBitSpan;

// What is left of x once vectors of the span are subtracted: 0 if and only if x lies in it.
uint64_t tileBitSpanReduce(const TileBitSpan *span, uint64_t x);
// Adds x to the span; false if the span contains x already.
bool tileBitSpanAdd(TileBitSpan *span, uint64_t x);
// The intersection of two subspaces.
TileBitSpan tileBitSpanMeet(const TileBitSpan *left, const TileBitSpan *right);

#ifdef __cplusplus
}
#endif
