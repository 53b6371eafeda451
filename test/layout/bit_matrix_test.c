// GF(2) kernel against brute force: random matrices of all small sizes, and the sizes at the limit of 64.
#include <string.h>

#include "lib/layout/bit_matrix.h"
#include "test/check.h"

static TileBitMatrix randomMatrix(uint64_t *seed, uint32_t rows, uint32_t columns) {
  TileBitMatrix matrix = {.rows = rows, .columns = columns};
  uint64_t mask = rows < 64 ? (UINT64_C(1) << rows) - 1 : ~UINT64_C(0);
  for (uint32_t j = 0; j < columns; ++j)
    matrix.column[j] = checkRandom(seed) & mask & (checkRandom(seed) % 4 ? ~UINT64_C(0) : 0);
  return matrix;
}

// log2 of the number of different images.
static uint32_t rankByCounting(const TileBitMatrix *matrix) {
  uint8_t seen[256] = {0};
  uint32_t images = 0, rank = 0;
  for (uint32_t x = 0; x < 1u << matrix->columns; ++x)
    if (!seen[tileBitMatrixApply(matrix, x)]++)
      ++images;
  while (1u << rank < images)
    ++rank;
  return rank;
}

static bool isIdentity(const TileBitMatrix *matrix) {
  TileBitMatrix identity = tileBitMatrixIdentity(matrix->rows);
  return matrix->rows == matrix->columns &&
         !memcmp(matrix->column, identity.column, matrix->columns * sizeof matrix->column[0]);
}

static void testSolve(const TileBitMatrix *matrix) {
  uint8_t reached[256] = {0};
  for (uint32_t x = 0; x < 1u << matrix->columns; ++x)
    reached[tileBitMatrixApply(matrix, x)] = 1;
  for (uint32_t y = 0; y < 1u << matrix->rows; ++y) {
    uint64_t x;
    bool solved = tileBitMatrixSolve(matrix, y, &x);
    CHECK(solved == reached[y], "%u x %u, y = %u", matrix->rows, matrix->columns, y);
    CHECK(!solved || tileBitMatrixApply(matrix, x) == y, "wrong solution for y = %u", y);
  }
}

static void testInverses(const TileBitMatrix *matrix, uint32_t rank) {
  TileBitMatrix inverse, product;
  bool right = tileBitMatrixRightInverse(matrix, &inverse);
  CHECK(right == (rank == matrix->rows), "right inverse at rank %u of %u rows", rank, matrix->rows);
  if (right) {
    product = tileBitMatrixMultiply(matrix, &inverse);
    CHECK(isIdentity(&product), "M R is not the identity");
  }
  bool left = tileBitMatrixLeftInverse(matrix, &inverse);
  CHECK(left == (rank == matrix->columns), "left inverse at rank %u of %u columns", rank, matrix->columns);
  if (left) {
    product = tileBitMatrixMultiply(&inverse, matrix);
    CHECK(isIdentity(&product), "L M is not the identity");
  }
}

int main(void) {
  uint64_t seed = 20260101;
  for (int trial = 0; trial < 2000; ++trial) {
    TileBitMatrix matrix = randomMatrix(&seed, (uint32_t)(checkRandom(&seed) % 7), (uint32_t)(checkRandom(&seed) % 7));
    uint32_t rank = tileBitMatrixRank(&matrix);
    CHECK(rank == rankByCounting(&matrix), "rank %u, counted %u", rank, rankByCounting(&matrix));
    testSolve(&matrix);
    testInverses(&matrix, rank);
  }
  for (int trial = 0; trial < 50; ++trial) {
    TileBitMatrix matrix = randomMatrix(&seed, 64, trial % 2 ? 64 : 60);
    testInverses(&matrix, tileBitMatrixRank(&matrix));
  }
  return checkResult(10000);
}
