// Products of two matrices, or of a matrix and a vector, however linalg writes them: linalg.matmul, matvec, vecmat, a
// generic with a transposed operand or a transposed result.
//
//   TileMatrixProduct product;
//   if (tileMatchMatrixProduct(op, &product)) … product.transposeLhs … mlirOperationGetOperand(op, product.lhs) …
#ifndef TESSERA_ANALYSIS_MATRIX_PRODUCT_H
#define TESSERA_ANALYSIS_MATRIX_PRODUCT_H

#include "lib/ir/support.h"

// result = init + lhs · rhs, each transposed first where it says so; the result of a vector is matrix · vector.
typedef struct TileMatrixProduct {
  intptr_t lhs, rhs, init; // operands of the op
  bool transposeLhs, transposeRhs;
  bool isVector; // rhs and the result have one axis
} TileMatrixProduct;

// True for a linalg op on two tensors of one element type whose body adds a · b, perhaps widened, to its output, and
// whose maps are those of a matrix product without batches. No diagnostic.
bool tileMatchMatrixProduct(MlirOperation op, TileMatrixProduct *product);
// True if `body` of a linalg op yields its last argument + a · b of the first two, perhaps widened; the sum may stand
// either way around.
bool tileBodyMatchMultiplyAdd(MlirBlock body, int *lhs, int *rhs);

#endif
