// Folds scalars: what shape arithmetic in a model needs. See fold.h.
#include "lib/import/onnx/fold.h"
#include "lib/ir/op_query.h"

#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

typedef struct Number {
  bool isFloat;
  int64_t integer;
  double real;
} Number;

static bool numberOf(MlirValue value, Number *number) {
  number->isFloat = mlirTypeIsAFloat(mlirValueGetType(value));
  return number->isFloat ? tileConstantFloat(value, &number->real) : tileConstantIndex(value, &number->integer);
}

// Integers of fewer bits than 64 keep their sign.
static int64_t wrap(MlirType type, int64_t value) {
  unsigned bits = tileMemoryBits(type);
  return bits >= 64 ? value : bits == 1 ? value & 1 : (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

static uint64_t unsignedOf(MlirType type, int64_t value) {
  unsigned bits = tileMemoryBits(type);
  return bits >= 64 ? (uint64_t)value : (uint64_t)value & ((1ull << bits) - 1);
}

static bool compareI(int64_t predicate, int64_t a, int64_t b, uint64_t x, uint64_t y) {
  switch (predicate) {
  case ArithCmpI_Eq:
    return a == b;
  case ArithCmpI_Ne:
    return a != b;
  case ArithCmpI_Slt:
    return a < b;
  case ArithCmpI_Sle:
    return a <= b;
  case ArithCmpI_Sgt:
    return a > b;
  case ArithCmpI_Sge:
    return a >= b;
  case ArithCmpI_Ult:
    return x < y;
  case ArithCmpI_Ule:
    return x <= y;
  case ArithCmpI_Ugt:
    return x > y;
  default:
    return x >= y;
  }
}

static bool compareF(int64_t predicate, double a, double b) {
  bool unordered = isnan(a) || isnan(b);
  switch (predicate) {
  case ArithCmpF_Oeq:
    return a == b;
  case ArithCmpF_Ogt:
    return a > b;
  case ArithCmpF_Oge:
    return a >= b;
  case ArithCmpF_Olt:
    return a < b;
  case ArithCmpF_Ole:
    return a <= b;
  case ArithCmpF_One:
    return !unordered && a != b;
  case ArithCmpF_Une:
    return unordered || a != b;
  case ArithCmpF_Uno:
    return unordered;
  case ArithCmpF_Ord:
    return !unordered;
  default:
    return false;
  }
}

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Rounding to f32 is the type's own when the attribute is made; sums and products of f32 in f64 round once more only
// where that changes nothing (docs/numerics.md §1).
static bool compute(MlirOperation op, const Number *x, Number *result) {
  MlirType in = tileFirstOperandType(op);
  int64_t a = x[0].integer, b = x[1].integer;
  uint64_t ua = unsignedOf(in, a), ub = unsignedOf(in, b);
  bool divides = b != 0 && !(a == INT64_MIN && b == -1);
  switch (tileUpstreamKind(op)) {
  case ArithOp_AddI:
    result->integer = (int64_t)((uint64_t)a + (uint64_t)b);
    return true;
  case ArithOp_SubI:
    result->integer = (int64_t)((uint64_t)a - (uint64_t)b);
    return true;
  case ArithOp_MulI:
    result->integer = (int64_t)((uint64_t)a * (uint64_t)b);
    return true;
  case ArithOp_DivSI:
    result->integer = divides ? a / b : 0;
    return divides;
  case ArithOp_FloorDivSI:
    result->integer = divides ? floorDiv(a, b) : 0;
    return divides;
  case ArithOp_CeilDivSI:
    result->integer = divides ? -floorDiv(-a, b) : 0;
    return divides && a != INT64_MIN;
  case ArithOp_RemSI:
    result->integer = divides ? a % b : 0;
    return divides;
  case ArithOp_DivUI:
    result->integer = ub ? (int64_t)(ua / ub) : 0;
    return ub != 0;
  case ArithOp_RemUI:
    result->integer = ub ? (int64_t)(ua % ub) : 0;
    return ub != 0;
  case ArithOp_MaxSI:
    result->integer = a > b ? a : b;
    return true;
  case ArithOp_MinSI:
    result->integer = a < b ? a : b;
    return true;
  case ArithOp_MaxUI:
    result->integer = ua > ub ? a : b;
    return true;
  case ArithOp_MinUI:
    result->integer = ua < ub ? a : b;
    return true;
  case ArithOp_AndI:
    result->integer = a & b;
    return true;
  case ArithOp_OrI:
    result->integer = a | b;
    return true;
  case ArithOp_XOrI:
    result->integer = a ^ b;
    return true;
  case ArithOp_CmpI:
    result->integer = compareI(mlirIntegerAttrGetValueInt(arithCmpIOpGetPredicate(op)), a, b, ua, ub);
    return true;
  case ArithOp_CmpF:
    result->integer = compareF(mlirIntegerAttrGetValueInt(arithCmpFOpGetPredicate(op)), x[0].real, x[1].real);
    return true;
  case ArithOp_Select:
    *result = a ? x[1] : x[2];
    return true;
  case ArithOp_ExtSI:
  case ArithOp_IndexCast:
  case ArithOp_TruncI:
    result->integer = tileMemoryBits(in) == 1 && a ? -1 : a;
    return true;
  case ArithOp_ExtUI:
  case ArithOp_IndexCastUI:
    result->integer = (int64_t)ua;
    return true;
  case ArithOp_SIToFP:
    result->real = (double)a;
    return true;
  case ArithOp_UIToFP:
    result->real = (double)ua;
    return true;
  case ArithOp_FPToSI:
    result->integer = fabs(x[0].real) < 9e18 ? (int64_t)x[0].real : 0;
    return fabs(x[0].real) < 9e18;
  case ArithOp_ExtF:
  case ArithOp_TruncF:
    result->real = x[0].real;
    return true;
  case ArithOp_AddF:
    result->real = x[0].real + x[1].real;
    return true;
  case ArithOp_SubF:
    result->real = x[0].real - x[1].real;
    return true;
  case ArithOp_MulF:
    result->real = x[0].real * x[1].real;
    return true;
  case ArithOp_DivF:
    result->real = x[0].real / x[1].real;
    return true;
  case ArithOp_NegF:
    result->real = -x[0].real;
    return true;
  case MathOp_Floor:
    result->real = floor(x[0].real);
    return true;
  case MathOp_Ceil:
    result->real = ceil(x[0].real);
    return true;
  case MathOp_RoundEven:
    result->real = nearbyint(x[0].real);
    return true;
  case MathOp_Sqrt:
    result->real = sqrt(x[0].real);
    return true;
  default:
    return false;
  }
}

MlirValue onnxFold(TileBuilder *b, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || arithConstantOpIsA(op) || tileUpstreamKind(op) == TileUpstream_None)
    return value;
  if (!tileOpIsElementwise(op))
    return value;
  intptr_t count = mlirOperationGetNumOperands(op);
  Number numbers[3] = {{false, 0, 0}, {false, 0, 0}, {false, 0, 0}}, result = {false, 0, 0};
  if (count < 1 || count > 3)
    return value;
  bool known = true;
  for (intptr_t i = 0; i < count; ++i)
    known &= numberOf(mlirOperationGetOperand(op, i), &numbers[i]);
  if (!known || !compute(op, numbers, &result))
    return value;
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAFloat(type))
    return tileBuildFloat(b, type, result.real);
  return tileBuildInteger(b, type, wrap(type, result.integer));
}
