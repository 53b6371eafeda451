// Verifiers of the ops on run-time micro-tiles (PIT, SOSP 2023): which there are, and matrices that hold them packed.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include <inttypes.h>

#include "dialects/sparse/definitions.h"
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/questions.h"

static bool expectMatrix(MlirOperation op, const char *name, MlirType type) {
  intptr_t rank = mlirShapedTypeGetRank(type);
  return rank == 2 || tileError(op, "%s has rank %d, expected 2", name, (int)rank);
}

static bool expectNumber(MlirOperation op, const char *name, int64_t seen, int64_t least, int64_t most) {
  return (seen >= least && seen <= most) ||
         tileError(op, "%s is %" PRId64 ", expected %" PRId64 " to %" PRId64, name, seen, least, most);
}

bool sparseVerifyList(MlirOperation op, const char *name, MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  bool isInteger = mlirTypeIsAInteger(element) && mlirIntegerTypeIsSignless(element);
  unsigned width = isInteger ? mlirIntegerTypeGetWidth(element) : 0;
  return (mlirShapedTypeGetRank(type) == 1 && (width == 32 || width == 64)) ||
         tileError(op, "%s are %s, expected rank 1 and elements i32 or i64", name, TILE_TYPE_TEXT(type));
}

static int64_t sizeOf(MlirType type, int64_t axis) { return mlirShapedTypeGetDimSize(type, (intptr_t)axis); }

static bool expectSize(MlirOperation op, const char *name, MlirType type, int64_t axis, int64_t wanted) {
  if (sizeOf(type, axis) == wanted)
    return true;
  if (mlirShapedTypeIsDynamicSize(wanted))
    return tileError(op, "type of %s is %s, expected an open size along axis %d", name, TILE_TYPE_TEXT(type),
                     (int)axis);
  return tileError(op, "type of %s is %s, expected size %" PRId64 " along axis %d", name, TILE_TYPE_TEXT(type), wanted,
                   (int)axis);
}

// What `matrix` is when the slices of the list stand packed in it.
static bool verifyPacked(MlirOperation op, const char *name, MlirType packed, const char *otherName, MlirType matrix,
                         MlirType list, int64_t axis, int64_t by) {
  int64_t count = sizeOf(list, 0);
  MlirType element = mlirShapedTypeGetElementType(matrix);
  if (!expectMatrix(op, name, packed) || !expectMatrix(op, otherName, matrix) ||
      !sparseVerifyList(op, "coordinates", list) || !expectNumber(op, "axis", axis, 0, 1) ||
      !expectNumber(op, "by", by, 1, INT32_MAX))
    return false;
  if (!mlirTypeEqual(mlirShapedTypeGetElementType(packed), element))
    return tileError(op, "%s is %s, expected the elements of %s, %s", name, TILE_TYPE_TEXT(packed), otherName,
                     TILE_TYPE_TEXT(element));
  return expectSize(op, name, packed, 1 - axis, sizeOf(matrix, 1 - axis)) &&
         expectSize(op, name, packed, axis, mlirShapedTypeIsDynamicSize(count) ? count : count * by);
}

SPARSE_VERIFY(Sread) {
  return verifyPacked(op, "result", sparseSreadOpGetResultType(op), "source", sparseSreadOpGetSourceType(op),
                      sparseSreadOpGetCoordinatesType(op), sparseSreadOpGetAxisValue(op), sparseSreadOpGetByValue(op));
}

SPARSE_VERIFY(Swrite) {
  return verifyPacked(op, "packed", sparseSwriteOpGetPackedType(op), "init", sparseSwriteOpGetInitType(op),
                      sparseSwriteOpGetCoordinatesType(op), sparseSwriteOpGetAxisValue(op),
                      sparseSwriteOpGetByValue(op));
}

SPARSE_VERIFY(Detect) {
  MlirType input = sparseDetectOpGetInputType(op), positions = sparseDetectOpGetPositionsType(op),
           coordinates = sparseDetectOpGetCoordinatesType(op);
  MlirType element = mlirShapedTypeGetElementType(input);
  MlirAttribute encoding = sparseTypeGetEncoding(input);
  MlirAttribute given = sparseDetectOpGetLines(op); // null: one group of all
  int64_t axis = sparseDetectOpGetAxisValue(op),
          lines = !mlirAttributeIsNull(given) ? mlirIntegerAttrGetValueInt(given) : 0;
  if (!mlirAttributeIsNull(encoding) && !sparseEncodingIs(encoding, SparseScheme_Tiles))
    return tileError(op, "input is %s, expected a dense matrix or one of #sparse.mask", TILE_TYPE_TEXT(input));
  if (!expectMatrix(op, "input", input) || !expectNumber(op, "axis", axis, 0, 1) ||
      !expectNumber(op, "by", sparseDetectOpGetByValue(op), 1, INT32_MAX) ||
      (!mlirAttributeIsNull(given) && !expectNumber(op, "lines", lines, 1, INT32_MAX)) ||
      !sparseVerifyList(op, "positions", positions) || !sparseVerifyList(op, "coordinates", coordinates))
    return false;
  if (!mlirTypeIsAFloat(element) && !mlirTypeIsAInteger(element))
    return tileError(op, "looks at elements %s, expected floats or integers", TILE_TYPE_TEXT(element));
  int64_t size = sizeOf(input, 1 - axis);
  int64_t groups = !lines ? 1 : mlirShapedTypeIsDynamicSize(size) ? size : (size + lines - 1) / lines;
  return expectSize(op, "positions", positions, 0, mlirShapedTypeIsDynamicSize(groups) ? groups : groups + 1) &&
         expectSize(op, "coordinates", coordinates, 0, mlirShapedTypeGetDynamicSize());
}
