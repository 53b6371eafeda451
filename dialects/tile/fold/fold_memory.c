// Folds of num_tiles and in_bounds, and what is statically known of a view's tile.
// Why: where sizes are static no bounds need checking and trip counts are constants.
// Expects: verified ops. Leaves: equal values.
#include "dialects/tile/fold/fold.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

//===--- questions ----------------------------------------------------------===//

// Dimension number `kept` among those that the view op does not fix.
static intptr_t keptDimension(MlirOperation view, intptr_t kept) {
  intptr_t dimension = 0;
  while (tileArrayContains(view, "fixed", dimension) || kept-- > 0)
    ++dimension;
  return dimension;
}

// Size of what `view` sees along `axis`, in elements of the view. False when it is not known, or counted in words.
static bool viewedSize(MlirValue view, intptr_t axis, int64_t *size) {
  MlirOperation op = tileDefiningOp(view);
  MlirType type = mlirValueGetType(view);
  if (!tileViewOpIsA(op) || !mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return false;
  intptr_t dimension = keptDimension(op, tileViewTypeGetOrder(type, axis));
  *size = mlirShapedTypeGetDimSize(tileViewOpGetSourceType(op), dimension);
  return !mlirShapedTypeIsDynamicSize(*size);
}

// What one tile reaches over; more than any memory for absurd strides.
static int64_t spanOf(MlirType view, intptr_t axis) {
  int64_t reach;
  bool overflows =
      __builtin_mul_overflow(tileViewTypeGetSize(view, axis) - 1, tileViewTypeGetStride(view, axis), &reach);
  return overflows || reach == INT64_MAX ? INT64_MAX : reach + 1;
}

bool tileIsInside(MlirValue view, intptr_t count, MlirValue (*indexAt)(void *, intptr_t), void *data) {
  MlirType type = mlirValueGetType(view);
  for (intptr_t i = 0; i < count; ++i) {
    int64_t index, size, begin, step = tileViewTypeGetStep(type, i);
    if (!viewedSize(view, i, &size) || !tileConstantIndex(indexAt(data, i), &index) || index < 0)
      return false;
    if (__builtin_mul_overflow(index, step, &begin) || begin > size - spanOf(type, i))
      return false;
  }
  return true;
}

//===--- folds --------------------------------------------------------------===//

// ceil((size - span + step) / step), at least 1 when there is anything.
bool tileNumTilesOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue view = tileNumTilesOpGetView(op);
  int64_t dim = 0, size;
  tileIntegerOf(op, "dim", &dim);
  if (!viewedSize(view, dim, &size))
    return false;
  MlirType type = mlirValueGetType(view);
  int64_t step = tileViewTypeGetStep(type, dim), reach = size - spanOf(type, dim);
  int64_t tiles = size == 0 ? 0 : reach <= 0 ? 1 : 2 + (reach - 1) / step;
  mlirExtFoldResultsAddAttribute(results, mlirIntegerAttrGet(tileNumTilesOpGetResultType(op), tiles));
  return true;
}

static MlirValue indexAfterView(void *data, intptr_t index) {
  return mlirOperationGetOperand(*(MlirOperation *)data, 1 + index);
}

bool tileInBoundsOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue view = tileInBoundsOpGetView(op);
  if (!tileIsInside(view, mlirOperationGetNumOperands(op) - 1, indexAfterView, &op))
    return false;
  return tileFoldToSplat(results, tileInBoundsOpGetResultType(op),
                         mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 1), 1));
}
