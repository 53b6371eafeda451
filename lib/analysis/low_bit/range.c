// Ranges of integers in the body of a linalg op. See range.h.
#include "lib/analysis/low_bit/range.h"

#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

static TileCodeRange ofWidth(unsigned width) {
  return (TileCodeRange){-(INT64_C(1) << (width - 1)), (INT64_C(1) << (width - 1)) - 1};
}

static bool ofSum(MlirBlock body, MlirOperation op, TileCodeRange *range) {
  TileCodeRange a, b, whole = *range;
  if (!tileCodeRangeOf(body, tileBinaryLhs(op), &a) || !tileCodeRangeOf(body, tileBinaryRhs(op), &b))
    return false;
  *range = arithAddIOpIsA(op) ? (TileCodeRange){a.least + b.least, a.most + b.most}
                              : (TileCodeRange){a.least - b.most, a.most - b.least};
  if (range->least < whole.least || range->most > whole.most) // it may wrap
    *range = whole;
  return true;
}

bool tileCodeRangeOf(MlirBlock body, MlirValue value, TileCodeRange *range) {
  enum { MostWidth = 32, Known = 16 };
  MlirOperation op = tileDefiningOp(value);
  MlirType type = mlirValueGetType(value);
  int64_t number;
  unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
  if (width < 1 || width > MostWidth)
    return false;
  *range = ofWidth(width);
  if (tileConstantIndex(value, &number)) {
    *range = (TileCodeRange){number, number};
    return true;
  }
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, body);
  bool hasMask = isInside && arithAndIOpIsA(op) &&
                 (tileConstantIndex(tileBinaryRhs(op), &number) || tileConstantIndex(tileBinaryLhs(op), &number));
  if (hasMask && number >= 0) {
    *range = (TileCodeRange){0, number};
    return true;
  }
  if (isInside && arithExtUIOpIsA(op))
    return tileUnsignedCodeRangeOf(body, tileOnlyOperand(op), range);
  if (isInside && arithExtSIOpIsA(op))
    return tileCodeRangeOf(body, tileOnlyOperand(op), range);
  bool isSum = isInside && (arithAddIOpIsA(op) || arithSubIOpIsA(op));
  if (isSum && ofSum(body, op, range))
    return width <= Known || range->least > ofWidth(width).least;
  return width <= Known;
}

bool tileUnsignedCodeRangeOf(MlirBlock body, MlirValue value, TileCodeRange *range) {
  if (!tileCodeRangeOf(body, value, range))
    return false;
  if (range->least < 0)
    *range = (TileCodeRange){0, (INT64_C(1) << mlirIntegerTypeGetWidth(mlirValueGetType(value))) - 1};
  return true;
}
