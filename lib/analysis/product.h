// Sums of products, out[…] += sum over the reduction dimensions of A[…] · B[…], and the dimensions that play m, n and
// k.
#pragma once

#include "lib/analysis/structured.h"

typedef struct TileProduct {
  int lhs, rhs; // operands A and B
  int m, n, k;  // dimensions: a parallel one that only A has, one that only B has, a reduction of both
} TileProduct;

// True if the body is out + a · b of two inputs, perhaps widened, and nothing else; says which inputs.
bool tileStructuredMatchMultiplyAdd(const TileStructured *structured, int *lhs, int *rhs);
// The types are some that tile.mma accepts.
bool tileStructuredHasMmaTypes(const TileStructured *structured);
// A sum of products with such types and a dimension for each role. n is the output's last dimension that one
// input has alone, of a convolution the channels; m the last one that the other has, where its schedule tiles none.
bool tileStructuredMatchProduct(const TileStructured *structured, TileProduct *product);
// Which of the factors `lhs` and the other one are unsigned integers. Only matrix products of CPUs take them.
void tileStructuredUnsignedFactors(const TileStructured *structured, int lhs, bool areUnsigned[2]);
// The CPU's dot instruction for the product's types; null for a GPU, and where the machine has none.
const TileDot *tileStructuredProductDot(const TileStructured *structured, int lhs, int rhs);
// A matrix product, batched, operands in any order: C[b…, m, n] += sum over k of A[b…, m, k] · B[b…, k, n]. n is the
// one that comes last in C. Products with a vector are none, but on a CPU a row times a matrix of known size is.
bool tileStructuredMatchMatrixProduct(const TileStructured *structured, TileProduct *product);

// The right operand is a constant matrix, indexed by k and n alone, that a CPU's kernel may have in panels from the
// start.
bool tileStructuredHasConstantPanels(const TileStructured *structured, const TileProduct *product);
// The elements of such an operand as a tensor of panels × depth × columns, for a kernel that multiplies `step` of k at
// once: zeros where a panel or a step of k reaches past the matrix. Null where the panels would hold more padding than
// elements. `k`: the dimension; `element`: the panels' type, which is the operand's own or f32. `group`, which divides
// `step`, above 1: panels × depth / group × columns × group, with so many neighbours along k side by side.
MlirAttribute tileOperandConstantPanels(const TileOperand *operand, int k, int64_t step, int64_t columns, int64_t group,
                                        MlirType element);
// The least magnitude but zero of such an operand of 16-bit floats, less 1, as its bits; all ones: everything is zero.
uint16_t tileOperandLeastMagnitude(const TileOperand *operand);

//===--- products of matrices -------------------------------------------------===//

// Products of two matrices, or of a matrix and a vector, however linalg writes them: linalg.matmul, matvec, vecmat, a
// generic with a transposed operand or a transposed result.
//
//   TileMatrixProduct product;
//   if (tileMatchMatrixProduct(op, &product)) … product.transposeLhs … mlirOperationGetOperand(op, product.lhs) …

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
