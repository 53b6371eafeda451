// Affine expressions by definition.
#pragma once

#include "lib/interpreter/machine/machine.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"

// False where it divides by zero or less.
bool interpretAffineValue(MlirAffineExpr expression, const int64_t *dimensions, const int64_t *symbols, int64_t *value);
