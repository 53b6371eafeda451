// Shared by sparse-prune-nm and sparse-pack-nm: constant weights of products, their elements, their windows.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/analysis/product.h"
#include "lib/capi/pass.h"
#include "lib/ir/builder.h"

//===--- elements -----------------------------------------------------------===//

// A constant matrix as bytes. `stride` is 0 where all elements are one.
typedef struct SparseWeights {
  MlirType type; // its dense type
  int64_t rows, columns;
  size_t width, stride; // bytes of an element, and from one to the next
  const unsigned char *bytes;
} SparseWeights;

// Integers, f16, bf16, f32 and f64 of whole bytes.
bool sparseWeightsIsReadable(MlirType element);
// False for a value that is no constant matrix of static shape with elements of whole bytes.
bool sparseWeightsRead(MlirValue value, SparseWeights *weights);
double sparseWeightsMagnitude(const SparseWeights *weights, int64_t row, int64_t column); // nan is infinite
bool sparseWeightsIsZero(const SparseWeights *weights, int64_t row, int64_t column);      // of either sign

// A place of a window: `lines` × `together` elements that stay or go as one. What lies beyond the matrix is no element.
typedef void (*SparseWeightsVisit)(const SparseWeights *weights, int64_t row, int64_t column, void *data);
void sparseWeightsVisitPlace(const SparseWeights *weights, SparseWindows windows, int64_t group, int64_t window,
                             int64_t place, SparseWeightsVisit visit, void *data);

// Packs the weights as the components of `type`, a #sparse.nm (pack_nm.c). False, after a diagnostic at `op`, where a
// window holds too many.
bool sparseWeightsPack(MlirOperation op, const SparseWeights *weights, MlirType type, MlirAttribute components[2]);

//===--- products -----------------------------------------------------------===//

// The options that both passes have.
#define SPARSE_NM_OPTIONS                                                                                              \
  {"n", "elements kept of each window; 0: no products", MlirExtOption_Integer, "0"},                                   \
      {"m", "elements of a window", MlirExtOption_Integer, "4"},                                                       \
      {"vector", "lines that keep the same places, neighbours kept together", MlirExtOption_IntegerList, "1,1"}
// False after a diagnostic at `op`.
bool sparseNmOptionsCheck(MlirOperation op, MlirExtPass pass);
// The encoding with windows along `axis`, with coordinates as narrow as they can be.
MlirAttribute sparseNmEncoding(MlirContext context, MlirExtPass pass, int64_t axis);

// A product with constant weights: which operand they are, and along which of their axes it adds up.
typedef struct SparseWeightedProduct {
  TileMatrixProduct product;
  intptr_t operand;
  int64_t axis;
} SparseWeightedProduct;
bool sparseMatchWeightedProduct(MlirOperation op, SparseWeightedProduct *weighted);
// Replaces the product by sparse.spmm or spmv with `weights`, an encoded value, in the place of its operand.
void sparseReplaceProduct(MlirOperation op, const SparseWeightedProduct *weighted, MlirValue weights);
// Erases a constant without users.
void sparseEraseUnused(MlirOperation constant);
