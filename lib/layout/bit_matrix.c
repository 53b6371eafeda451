// GF(2) linear algebra by elimination on the columns of a matrix. See bit_matrix.h.
// The one data structure: an echelon basis of the columns seen so far, each entry remembering which columns it is made
// of.
#include "lib/layout/bit_matrix.h"

#include <assert.h>

// Entry i, if present, has bit i as its highest bit; recipe = the columns whose XOR it is.
typedef struct {
  uint64_t value[TILE_BIT_MATRIX_MAX];
  uint64_t recipe[TILE_BIT_MATRIX_MAX];
  uint32_t size;
} Echelon;

static uint32_t highestBit(uint64_t value) { return 63u - (uint32_t)__builtin_clzll(value); }

// What is left of the value after subtracting basis entries; the recipe collects their columns.
static uint64_t reduceBy(const Echelon *basis, uint64_t value, uint64_t *recipe) {
  for (uint64_t rest = value; rest;) {
    uint32_t bit = highestBit(rest);
    rest &= ~(1ull << bit);
    if (!basis->value[bit])
      continue;
    value ^= basis->value[bit];
    *recipe ^= basis->recipe[bit];
    rest = value & ((1ull << bit) - 1);
  }
  return value;
}

static Echelon echelonOf(const TileBitMatrix *matrix) {
  Echelon basis = {0};
  for (uint32_t j = 0; j < matrix->columns; ++j) {
    uint64_t recipe = 1ull << j, rest = reduceBy(&basis, matrix->column[j], &recipe);
    if (!rest)
      continue;
    basis.value[highestBit(rest)] = rest;
    basis.recipe[highestBit(rest)] = recipe;
    ++basis.size;
  }
  return basis;
}

TileBitMatrix tileBitMatrixIdentity(uint32_t size) {
  TileBitMatrix result = {.rows = size, .columns = size};
  for (uint32_t j = 0; j < size; ++j)
    result.column[j] = 1ull << j;
  return result;
}

uint64_t tileBitMatrixApply(const TileBitMatrix *matrix, uint64_t x) {
  uint64_t y = 0;
  for (uint32_t j = 0; j < matrix->columns; ++j)
    if (x >> j & 1)
      y ^= matrix->column[j];
  return y;
}

TileBitMatrix tileBitMatrixMultiply(const TileBitMatrix *left, const TileBitMatrix *right) {
  assert(left->columns == right->rows && "matrix sizes do not fit");
  TileBitMatrix result = {.rows = left->rows, .columns = right->columns};
  for (uint32_t j = 0; j < right->columns; ++j)
    result.column[j] = tileBitMatrixApply(left, right->column[j]);
  return result;
}

uint32_t tileBitMatrixRank(const TileBitMatrix *matrix) { return echelonOf(matrix).size; }

bool tileBitMatrixSolve(const TileBitMatrix *matrix, uint64_t y, uint64_t *x) {
  Echelon basis = echelonOf(matrix);
  *x = 0;
  return reduceBy(&basis, y, x) == 0;
}

bool tileBitMatrixRightInverse(const TileBitMatrix *matrix, TileBitMatrix *inverse) {
  Echelon basis = echelonOf(matrix);
  if (basis.size != matrix->rows)
    return false;
  TileBitMatrix result = {.rows = matrix->columns, .columns = matrix->rows};
  for (uint32_t i = 0; i < matrix->rows; ++i)
    reduceBy(&basis, 1ull << i, &result.column[i]);
  *inverse = result;
  return true;
}

// With full column rank, the columns completed by unit vectors form an invertible square matrix; the rows of its
// inverse that belong to the columns are the left inverse. The unit vectors taken are those at the rows without a
// pivot.
bool tileBitMatrixLeftInverse(const TileBitMatrix *matrix, TileBitMatrix *inverse) {
  Echelon basis = echelonOf(matrix);
  if (basis.size != matrix->columns)
    return false;
  TileBitMatrix square = *matrix;
  for (uint32_t i = 0; i < matrix->rows; ++i)
    if (!basis.value[i])
      square.column[square.columns++] = 1ull << i;
  if (!tileBitMatrixRightInverse(&square, inverse))
    return false;
  uint64_t kept = matrix->columns < 64 ? (1ull << matrix->columns) - 1 : ~0ull;
  inverse->rows = matrix->columns;
  for (uint32_t j = 0; j < inverse->columns; ++j)
    inverse->column[j] &= kept;
  return true;
}

uint64_t tileBitSpanReduce(const TileBitSpan *span, uint64_t x) {
  for (uint64_t rest = x; rest;) {
    uint32_t bit = highestBit(rest);
    if (span->value[bit])
      x ^= span->value[bit];
    rest = x & ((1ull << bit) - 1);
  }
  return x;
}

bool tileBitSpanAdd(TileBitSpan *span, uint64_t x) {
  x = tileBitSpanReduce(span, x);
  if (!x)
    return false;
  span->value[highestBit(x)] = x;
  ++span->size;
  return true;
}

// A combination of both bases that is zero is a vector of the meet, seen from either side.
TileBitSpan tileBitSpanMeet(const TileBitSpan *left, const TileBitSpan *right) {
  TileBitMatrix basis = {.rows = TILE_BIT_MATRIX_MAX};
  TileBitSpan meet = {.size = 0};
  for (uint32_t i = 0; i < TILE_BIT_MATRIX_MAX; ++i)
    if (left->value[i])
      basis.column[basis.columns++] = left->value[i];
  uint32_t ofLeft = basis.columns;
  for (uint32_t i = 0; i < TILE_BIT_MATRIX_MAX; ++i) {
    uint64_t recipe, both = 0;
    if (!right->value[i])
      continue;
    if (tileBitMatrixSolve(&basis, right->value[i], &recipe)) {
      for (uint32_t j = 0; j < ofLeft; ++j)
        both ^= recipe >> j & 1 ? basis.column[j] : 0;
      tileBitSpanAdd(&meet, both);
    } else {
      basis.column[basis.columns++] = right->value[i];
    }
  }
  return meet;
}
