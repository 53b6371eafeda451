// How far the rows of an expression can be read without masks, and where they become padding only. Both are known when
// a row begins; flow/loops.c and ops/reductions.c split their loops there.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- how far rows can be read without masks --------------------------------------------------===//

typedef struct Limit {
  VecBody body;
  int64_t last, width;
  MlirValue count; // null: all
} Limit;

static void restrictTo(Limit *limit, MlirValue count) {
  TileBuilder *builder = &limit->body.lowering->builder;
  limit->count = mlirValueIsNull(limit->count) ? count : tileBuildMin(builder, limit->count, count);
}

static void restrictIf(Limit *limit, MlirValue condition) {
  TileBuilder *builder = &limit->body.lowering->builder;
  MlirValue all = tileBuildIndex(builder, limit->last / limit->width * limit->width);
  restrictTo(limit, arithSelectOpBuild(builder, condition, all, tileBuildIndex(builder, 0)));
}

// Every row position of `access` from `coords` on, along `axis`.
static void restrictToAccess(Limit *limit, const VecAccess *access, const VecCoord *coords, intptr_t axis) {
  TileBuilder *builder = &limit->body.lowering->builder;
  VecCoord ends[MaxRank];
  VecAccess row = *access;
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    VecAccessDim *dim = &row.dims[d];
    dim->origin = vecCoordSum(builder, dim->origin, vecCoordTimes(builder, coords[d], dim->stride));
    row.shape.sizes[d] = 1;
    ends[d] = dim->origin;
    if (d == axis)
      dim->mayOver = false;
  }
  MlirValue inside = vecAccessIsInside(builder, &row);
  if (!mlirValueIsNull(inside))
    restrictIf(limit, inside);
  if (axis < 0 || !access->dims[axis].mayOver)
    return;
  const VecAccessDim *dim = &access->dims[axis];
  MlirValue rest = tileBuildSub(builder, dim->size, vecCoordValue(builder, ends[axis]));
  if (dim->stride != 1)
    rest = tileBuildCeilDiv(builder, rest, tileBuildIndex(builder, dim->stride));
  MlirValue width = tileBuildIndex(builder, limit->width), zero = tileBuildIndex(builder, 0);
  rest = tileBuildMax(builder, rest, zero);
  rest = tileBuildMul(builder, arithDivUIOpBuild(builder, rest, width), width);
  restrictTo(limit, tileBuildMin(builder, rest, tileBuildIndex(builder, limit->last / limit->width * limit->width)));
}

static void restrictToRecord(Limit *limit, VecRecord *record, const VecCoord *coords, intptr_t axis);

static void restrictToOperands(Limit *limit, VecRecord *record, const VecCoord *coords, intptr_t axis) {
  VecLowering *lowering = limit->body.lowering;
  VecCoord at[MaxRank];
  intptr_t operandAxis;
  if (tileInBoundsOpIsA(record->op) || tileGatherOpIsA(record->op) ||
      arithConstantOpIsA(record->op)) // with their own checks, or none
    return;
  VecPlacement placement = vecPlaceInOperand(lowering, record->op, coords, axis, limit->width, at, &operandAxis);
  if (placement != VecPlacement_Exact) {
    MlirValue inside = vecAllInside(lowering, record);
    if (!mlirValueIsNull(inside))
      restrictIf(limit, inside);
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    VecRecord *operand = vecRecordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && vecIsTile(mlirValueGetType(operand->source)))
      restrictToRecord(limit, operand, at, operandAxis);
  }
}

static void restrictToRecord(Limit *limit, VecRecord *record, const VecCoord *coords, intptr_t axis) {
  if ((record->kind != VecRecord_Lazy && !vecIsRead(record)) ||
      !mlirValueIsNull(vecRemembered(&limit->body, record, coords, axis, -1)))
    return;
  vecRemember(&limit->body, record, coords, axis, -1, record->source); // a visit, not an evaluation
  if (vecIsRead(record) && vecAccessMayLeave(record->access))
    restrictToAccess(limit, record->access, coords, axis);
  else if (!vecIsRead(record))
    restrictToOperands(limit, record, coords, axis);
}

MlirValue vecUnmaskedCount(VecLowering *lowering, VecRecord *record, const VecAccess *target, const VecCoord *coords,
                           int64_t width) {
  const VecShape *shape = target ? &target->shape : &record->shape;
  Limit limit = {.body = vecBodyBegin(lowering, true), .last = vecShapeLast(shape), .width = width};
  if (record && vecMayLeave(lowering, record))
    restrictToRecord(&limit, record, coords, shape->rank - 1);
  if (target && vecAccessMayLeave(target))
    restrictToAccess(&limit, target, coords, shape->rank - 1);
  vecBodyEnd(&limit.body);
  return limit.count;
}

//===--- where a row is padding only -------------------------------------------------------------===//

typedef struct Reach {
  VecBody body;
  int64_t width;
  bool varies;     // something along the row is no padding: there is no such place
  MlirValue count; // null: nothing found yet
} Reach;

static MlirValue roundedUp(TileBuilder *builder, MlirValue count, int64_t width) {
  MlirValue by = tileBuildIndex(builder, width), zero = tileBuildIndex(builder, 0);
  MlirValue more = tileBuildAdd(builder, tileBuildMax(builder, count, zero), tileBuildIndex(builder, width - 1));
  return tileBuildMul(builder, arithDivUIOpBuild(builder, more, by), by);
}

static void extendToAccess(Reach *reach, const VecAccess *access, const VecCoord *coords, intptr_t axis) {
  TileBuilder *builder = &reach->body.lowering->builder;
  if (axis < 0)
    return;
  const VecAccessDim *dim = &access->dims[axis];
  if (!dim->mayOver) {
    reach->varies = true;
    return;
  }
  VecCoord start = vecCoordSum(builder, dim->origin, vecCoordTimes(builder, coords[axis], dim->stride));
  MlirValue count = tileBuildSub(builder, dim->size, vecCoordValue(builder, start));
  if (dim->stride != 1)
    count = tileBuildCeilDiv(builder, count, tileBuildIndex(builder, dim->stride));
  count = roundedUp(builder, count, reach->width);
  reach->count = mlirValueIsNull(reach->count) ? count : tileBuildMax(builder, reach->count, count);
}

static void extendToRecord(Reach *reach, VecRecord *record, const VecCoord *coords, intptr_t axis);

static void extendToOperands(Reach *reach, VecRecord *record, const VecCoord *coords, intptr_t axis) {
  VecLowering *lowering = reach->body.lowering;
  VecCoord at[MaxRank];
  intptr_t operandAxis;
  if (vecPlaceInOperand(lowering, record->op, coords, axis, reach->width, at, &operandAxis) != VecPlacement_Exact) {
    reach->varies = true;
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op) && !reach->varies; ++i) {
    VecRecord *operand = vecRecordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && vecIsTile(mlirValueGetType(operand->source)))
      extendToRecord(reach, operand, at, operandAxis);
  }
}

static void extendToRecord(Reach *reach, VecRecord *record, const VecCoord *coords, intptr_t axis) {
  if (axis < 0 || reach->varies || !mlirValueIsNull(vecRemembered(&reach->body, record, coords, axis, -1)))
    return;
  vecRemember(&reach->body, record, coords, axis, -1, record->source); // a visit, not an evaluation
  bool lazy = record->kind == VecRecord_Lazy;
  if (vecIsRead(record) || (lazy && tileInBoundsOpIsA(record->op)))
    extendToAccess(reach, record->access, coords, axis);
  else if (!lazy || tileGatherOpIsA(record->op) ||
           (tileIotaOpIsA(record->op) && tileIotaOpGetDimValue(record->op) == axis))
    reach->varies = true;
  else if (!tileIotaOpIsA(record->op) && !arithConstantOpIsA(record->op))
    extendToOperands(reach, record, coords, axis);
}

MlirValue vecPaddedFrom(VecLowering *lowering, VecRecord *record, const VecCoord *coords, int64_t width) {
  Reach reach = {.body = vecBodyBegin(lowering, true), .width = width};
  extendToRecord(&reach, record, coords, record->shape.rank - 1);
  vecBodyEnd(&reach.body);
  return reach.varies ? (MlirValue){NULL} : reach.count;
}
