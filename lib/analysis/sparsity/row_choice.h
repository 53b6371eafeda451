// Products in which each row chooses its matrix: y[r, n] += x[r, k] · w[id[r], k, n], as linalg writes them with
// tensor.extract.
//
//   SparseRowChoice choice;
//   if (sparseMatchRowChoice(op, &choice)) … choice.numbers, choice.matrices …
#pragma once

#include "mlir-c/IR.h"

#include <stdbool.h>

// Rows have `axes` axes, in `init`, the result and `numbers`; `rows` have the first `sharedAxes` of them: all, or all
// but the last (each row of x has several numbers: top-k routing).
typedef struct SparseRowChoice {
  MlirOperation extract; // of the matrices
  MlirValue rows, matrices, numbers, init;
  intptr_t axes, sharedAxes;
  int64_t each;      // numbers of a row of `rows`
  bool isTransposed; // w[id, n, k]
} SparseRowChoice;
// False, without a diagnostic, for any other op.
bool sparseMatchRowChoice(MlirOperation op, SparseRowChoice *choice);
