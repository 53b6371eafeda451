// Affine expressions that are sums of dimensions times constants.
#pragma once

#include "mlir-c/AffineExpr.h"

#include <stdbool.h>
#include <stdint.h>

// Adds scale · expr to a factor for each dimension and to the constant. False for floordiv, mod and symbols, and where
// a number is beyond int64; the factors and the constant are then in part changed.
static inline bool tileAffineSumAdd(MlirAffineExpr expr, int64_t scale, int64_t *factors, int64_t *constant) {
  int64_t value;
  if (mlirAffineExprIsAConstant(expr))
    return !__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(expr), &value) &&
           !__builtin_add_overflow(*constant, value, constant);
  if (mlirAffineExprIsADim(expr)) {
    int64_t *factor = &factors[mlirAffineDimExprGetPosition(expr)];
    return !__builtin_add_overflow(*factor, scale, factor);
  }
  if (!mlirAffineExprIsAAdd(expr) && !mlirAffineExprIsAMul(expr))
    return false;
  MlirAffineExpr lhs = mlirAffineBinaryOpExprGetLHS(expr), rhs = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAAdd(expr))
    return tileAffineSumAdd(lhs, scale, factors, constant) && tileAffineSumAdd(rhs, scale, factors, constant);
  return mlirAffineExprIsAConstant(rhs) &&
         !__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(rhs), &value) &&
         tileAffineSumAdd(lhs, value, factors, constant);
}
