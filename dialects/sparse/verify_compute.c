// Verifiers of products and of what works on entries: shapes that meet, elements that multiply, regions that take an
// entry. Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include <string.h>

#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/questions.h"

//===--- matrices -----------------------------------------------------------===//

// A matrix as a product takes it.
typedef struct Factor {
  const char *name;
  MlirType type;
  bool transposed;
} Factor;

static Factor factor(MlirOperation op, intptr_t operand, const char *name, const char *transpose) {
  return (Factor){name, tileOperandType(op, operand), transpose && tileHas(op, transpose)};
}

static int64_t sizeOf(const Factor *factor, intptr_t axis) {
  return mlirShapedTypeGetDimSize(factor->type, factor->transposed ? 1 - axis : axis);
}

static bool agree(int64_t a, int64_t b) {
  return a == b || mlirShapedTypeIsDynamicSize(a) || mlirShapedTypeIsDynamicSize(b);
}

static bool expectAgree(MlirOperation op, const Factor *a, intptr_t axisOfA, const Factor *b, intptr_t axisOfB) {
  int64_t seen = sizeOf(a, axisOfA), wanted = sizeOf(b, axisOfB);
  return agree(seen, wanted) || tileError(op, "%s has size %ld along axis %d%s, expected %ld as %s along axis %d%s",
                                          a->name, (long)seen, (int)axisOfA, a->transposed ? " (transposed)" : "",
                                          (long)wanted, b->name, (int)axisOfB, b->transposed ? " (transposed)" : "");
}

static bool expectRank(MlirOperation op, const char *name, MlirType type, intptr_t rank) {
  intptr_t seen = mlirShapedTypeGetRank(type);
  return seen == rank || tileError(op, "%s has rank %d, expected %d", name, (int)seen, (int)rank);
}

static bool isFloat(MlirType tensor) { return mlirTypeIsAFloat(mlirShapedTypeGetElementType(tensor)); }

// Both factors of one element type; what they add up to is as wide or wider. or_and is of integers.
static bool expectElements(MlirOperation op, MlirType lhs, MlirType rhs, const char *name, MlirType sum) {
  MlirType element = mlirShapedTypeGetElementType(sum);
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(lhs), mlirShapedTypeGetElementType(rhs)))
    return tileError(op, "multiplies %s by %s, expected equal element types", TILE_TYPE_TEXT(lhs), TILE_TYPE_TEXT(rhs));
  if (isFloat(lhs) != isFloat(sum) || tileElementWidth(element) < tileElementWidth(mlirShapedTypeGetElementType(lhs)))
    return tileError(op, "%s has elements %s, expected those of the factors, %s, or wider ones of their kind", name,
                     TILE_TYPE_TEXT(element), TILE_TYPE_TEXT(mlirShapedTypeGetElementType(lhs)));
  return !tileKeywordIs(op, "semiring", "or_and") || !isFloat(lhs) ||
         tileError(op, "is over or_and with elements %s, expected integers",
                   TILE_TYPE_TEXT(mlirShapedTypeGetElementType(lhs)));
}

// lhs (m×k) times rhs (k×n) into `into` (m×n).
static bool verifyProduct(MlirOperation op, Factor lhs, Factor rhs, Factor into) {
  return expectRank(op, lhs.name, lhs.type, 2) && expectRank(op, rhs.name, rhs.type, 2) &&
         expectRank(op, into.name, into.type, 2) && expectAgree(op, &rhs, 0, &lhs, 1) &&
         expectAgree(op, &into, 0, &lhs, 0) && expectAgree(op, &into, 1, &rhs, 1) &&
         expectElements(op, lhs.type, rhs.type, into.name, into.type);
}

SPARSE_VERIFY(Spmm) {
  Factor lhs = factor(op, 0, "lhs", "transpose_lhs"), rhs = factor(op, 1, "rhs", "transpose_rhs");
  int sparse =
      !mlirAttributeIsNull(sparseTypeGetEncoding(lhs.type)) + !mlirAttributeIsNull(sparseTypeGetEncoding(rhs.type));
  if (sparse != 1)
    return tileError(op, "%s of lhs and rhs has an encoding, expected exactly one%s", sparse ? "each" : "neither",
                     sparse ? " (two sparse matrices: sparse.spgemm)" : "");
  return verifyProduct(op, lhs, rhs, factor(op, 2, "init", NULL));
}

SPARSE_VERIFY(Sddmm) {
  return verifyProduct(op, factor(op, 0, "lhs", "transpose_lhs"), factor(op, 1, "rhs", "transpose_rhs"),
                       factor(op, 2, "pattern", NULL));
}

SPARSE_VERIFY(Spgemm) {
  return verifyProduct(op, factor(op, 0, "lhs", "transpose_lhs"), factor(op, 1, "rhs", "transpose_rhs"),
                       factor(op, 2, "pattern", NULL));
}

SPARSE_VERIFY(Spmv) {
  Factor matrix = factor(op, 0, "matrix", "transpose"), vector = factor(op, 1, "vector", NULL);
  Factor init = factor(op, 2, "init", NULL);
  return expectRank(op, "matrix", matrix.type, 2) && expectRank(op, "vector", vector.type, 1) &&
         expectRank(op, "init", init.type, 1) && expectAgree(op, &vector, 0, &matrix, 1) &&
         expectAgree(op, &init, 0, &matrix, 0) && expectElements(op, matrix.type, vector.type, "init", init.type);
}

//===--- entries ------------------------------------------------------------===//

// A format whose type fixes the number of entries cannot take the union of entries, or drop some. A sum does not say
// which part takes an entry.
static bool expectFreePattern(MlirOperation op, const char *does) {
  MlirType type = tileFirstOperandType(op);
  if (sparseEncodingIs(sparseTypeGetEncoding(type), SparseScheme_Parts))
    return tileError(op, "%s that has parts, and does not say which part takes an entry: convert it first", does);
  return !sparseEncodingIs(sparseTypeGetEncoding(type), SparseScheme_Windows) ||
         tileError(op, "%s, whose number of entries is fixed: %s", does, TILE_TYPE_TEXT(type));
}

static bool verifyElementwise(MlirOperation op, const char *does) {
  MlirType type = tileFirstOperandType(op);
  return expectFreePattern(op, does) && expectElements(op, type, type, "the result", type);
}

SPARSE_VERIFY(Add) { return verifyElementwise(op, "joins the entries of a format"); }
SPARSE_VERIFY(Mul) { return verifyElementwise(op, "intersects the entries of a format"); }
SPARSE_VERIFY(Select) { return expectFreePattern(op, "drops entries of a format"); }

// A region that takes (value, row, column) and yields one `wanted`.
static bool verifyEntryRegion(MlirOperation op, MlirType wanted) {
  MlirType input = tileOnlyOperandType(op);
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body))
    return tileError(op, "its region has not exactly one block");
  intptr_t rank = mlirShapedTypeGetRank(input), count = mlirBlockGetNumArguments(body);
  if (count != rank + 1)
    return tileError(op, "its region has %d arguments, expected %d: the value, then its place", (int)count,
                     (int)rank + 1);
  MlirContext context = mlirOperationGetContext(op);
  for (intptr_t i = 0; i < count; ++i) {
    MlirType seen = mlirValueGetType(mlirBlockGetArgument(body, i));
    MlirType argument = i ? mlirIndexTypeGet(context) : mlirShapedTypeGetElementType(input);
    if (!mlirTypeEqual(seen, argument))
      return tileError(op, "argument #%d of its region is %s, expected %s", (int)i, TILE_TYPE_TEXT(seen),
                       TILE_TYPE_TEXT(argument));
  }
  MlirOperation end = mlirBlockGetTerminator(body);
  if (!sparseYieldOpIsA(end) || mlirOperationGetNumOperands(end) != 1 ||
      !mlirTypeEqual(tileOnlyOperandType(end), wanted))
    return tileError(op, "its region does not end with a sparse.yield of one %s", TILE_TYPE_TEXT(wanted));
  return true;
}

SPARSE_VERIFY_REGIONS(Map) { return verifyEntryRegion(op, mlirShapedTypeGetElementType(tileOnlyOperandType(op))); }
SPARSE_VERIFY_REGIONS(Select) { return verifyEntryRegion(op, mlirIntegerTypeGet(mlirOperationGetContext(op), 1)); }

SPARSE_VERIFY(Reduce) {
  Factor input = factor(op, 0, "input", NULL), init = factor(op, 1, "init", NULL);
  int64_t axis = 0;
  tileIntegerOf(op, "axis", &axis);
  return expectRank(op, "input", input.type, 2) && tileExpectInteger(op, "axis", axis, 0, 1) &&
         expectRank(op, "init", init.type, 1) && expectAgree(op, &init, 0, &input, 1 - axis) &&
         tileExpectElement(op, "init", init.type, mlirShapedTypeGetElementType(input.type));
}

// A sum does not say which part an entry is of, so that its lines' entries stand nowhere side by side.
SPARSE_VERIFY(Softmax) {
  Factor input = factor(op, 0, "input", NULL);
  int64_t axis = 0;
  tileIntegerOf(op, "axis", &axis);
  if (sparseEncodingIs(sparseTypeGetEncoding(input.type), SparseScheme_Parts))
    return tileError(op, "input is %s, whose lines have entries in several parts; convert it to a format of one part",
                     TILE_TYPE_TEXT(input.type));
  return expectRank(op, "input", input.type, 2) && tileExpectInteger(op, "axis", axis, 0, 1) &&
         (isFloat(input.type) || tileError(op, "input has elements %s, expected floats",
                                           TILE_TYPE_TEXT(mlirShapedTypeGetElementType(input.type))));
}
