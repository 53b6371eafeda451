// Matrices that a mask tensor makes zero: select(mask[i / h, k / w], x[i, k], 0) of linalg.
//
//   SparseMaskedValues masked;
//   if (sparseMatchMaskedValues(value, &masked)) … masked.mask, masked.values, masked.tile …
#pragma once

#include "dialects/sparse/sparse.h"

typedef struct SparseMaskedValues {
  MlirOperation select;
  MlirValue mask, values; // a matrix of i1, true where a tile of `tile` elements stays; what stays
  int64_t tile[2];
} SparseMaskedValues;
// A constant zero of either sign: a number, or a tensor of them.
bool sparseIsZero(MlirValue value);
// False, without a diagnostic, for any other value.
bool sparseMatchMaskedValues(MlirValue value, SparseMaskedValues *masked);
