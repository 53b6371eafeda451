// Verifiers of the ops that route rows to groups: lists of integers, and matrices whose sizes meet.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include <inttypes.h>

#include "dialects/sparse/definitions.h"
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/questions.h"

static bool expectRank(MlirOperation op, const char *name, MlirType type, intptr_t rank) {
  intptr_t seen = mlirShapedTypeGetRank(type);
  return seen == rank || tileError(op, "%s has rank %d, expected %d", name, (int)seen, (int)rank);
}

// A size that the type leaves open agrees with every other.
static bool expectSize(MlirOperation op, const char *name, MlirType type, intptr_t axis, int64_t wanted) {
  int64_t seen = mlirShapedTypeGetDimSize(type, axis);
  return seen == wanted || mlirShapedTypeIsDynamicSize(seen) || mlirShapedTypeIsDynamicSize(wanted) ||
         tileError(op, "%s has size %" PRId64 " along axis %d, expected %" PRId64, name, seen, (int)axis, wanted);
}

SPARSE_VERIFY(Group) {
  MlirType numbers = sparseGroupOpGetNumbersType(op), positions = sparseGroupOpGetPositionsType(op),
           coordinates = sparseGroupOpGetCoordinatesType(op);
  if (!sparseVerifyList(op, "numbers", numbers) || !sparseVerifyList(op, "positions", positions) ||
      !sparseVerifyList(op, "coordinates", coordinates))
    return false;
  int64_t ends = mlirShapedTypeGetDimSize(positions, 0);
  intptr_t given = sparseGroupOpGetNumGroups(op), wanted = mlirShapedTypeIsDynamicSize(ends) ? 1 : 0;
  if (given != wanted)
    return tileError(op, "has %d numbers of groups for positions %s, expected %d", (int)given,
                     TILE_TYPE_TEXT(positions), (int)wanted);
  if (ends == 0)
    return tileError(op, "positions has size 0, expected 1 or more");
  int64_t seen = mlirShapedTypeGetDimSize(coordinates, 0), count = mlirShapedTypeGetDimSize(numbers, 0);
  return seen == count || tileError(op, "coordinates are %s, expected as many as numbers, %s",
                                    TILE_TYPE_TEXT(coordinates), TILE_TYPE_TEXT(numbers));
}

// Factors of one element type, and sums of that type or a wider one of its kind.
static bool expectElements(MlirOperation op, MlirType lhs, MlirType rhs, MlirType sum) {
  MlirType element = mlirShapedTypeGetElementType(lhs), result = mlirShapedTypeGetElementType(sum);
  if (!mlirTypeEqual(element, mlirShapedTypeGetElementType(rhs)))
    return tileError(op, "multiplies %s by %s, expected equal element types", TILE_TYPE_TEXT(lhs), TILE_TYPE_TEXT(rhs));
  if ((mlirTypeIsAFloat(element) && mlirTypeIsAFloat(result)) ||
      (mlirTypeIsAInteger(element) && mlirTypeIsAInteger(result)))
    if (tileElementWidth(result) >= tileElementWidth(element))
      return true;
  return tileError(op, "init has elements %s, expected those of the factors, %s, or wider ones of their kind",
                   TILE_TYPE_TEXT(result), TILE_TYPE_TEXT(element));
}

SPARSE_VERIFY(GroupedMatmul) {
  MlirType lhs = sparseGroupedMatmulOpGetLhsType(op), rhs = sparseGroupedMatmulOpGetRhsType(op),
           init = sparseGroupedMatmulOpGetInitType(op), positions = sparseGroupedMatmulOpGetPositionsType(op),
           coordinates = sparseGroupedMatmulOpGetCoordinatesType(op);
  bool isTransposed = sparseGroupedMatmulOpHasTransposeRhs(op);
  MlirAttribute gather = sparseGroupedMatmulOpGetGather(op);
  if (!expectRank(op, "lhs", lhs, 2) || !expectRank(op, "rhs", rhs, 3) || !expectRank(op, "init", init, 2) ||
      !sparseVerifyList(op, "positions", positions) || !sparseVerifyList(op, "coordinates", coordinates) ||
      !expectElements(op, lhs, rhs, init))
    return false;
  if (!mlirAttributeIsNull(gather) && mlirIntegerAttrGetValueInt(gather) < 1)
    return tileError(op, "gather is %" PRId64 ", expected 1 or more", mlirIntegerAttrGetValueInt(gather));
  int64_t matrices = mlirShapedTypeGetDimSize(rhs, 0), listed = mlirShapedTypeGetDimSize(coordinates, 0);
  return expectSize(op, "positions", positions, 0, mlirShapedTypeIsDynamicSize(matrices) ? matrices : matrices + 1) &&
         expectSize(op, "rhs", rhs, isTransposed ? 2 : 1, mlirShapedTypeGetDimSize(lhs, 1)) &&
         expectSize(op, "init", init, 1, mlirShapedTypeGetDimSize(rhs, isTransposed ? 1 : 2)) &&
         (!mlirAttributeIsNull(gather) || expectSize(op, "lhs", lhs, 0, listed)) &&
         (sparseGroupedMatmulOpHasScatter(op) || expectSize(op, "init", init, 0, listed));
}
