// How far the rows of an expression can be read without masks, and from where on they are all padding. Both are known
// when a row begins; loops.c and reduce.c split their loops there.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- how far rows can be read without masks --------------------------------------------------===//

typedef struct Limit {
  Body body;
  int64_t last, width;
  MlirValue count; // null: all
} Limit;

static void restrictTo(Limit *limit, MlirValue count) {
  TileBuilder *builder = &limit->body.lowering->builder;
  limit->count = limit->count.ptr ? tileBuildMin(builder, limit->count, count) : count;
}

static void restrictIf(Limit *limit, MlirValue condition) {
  TileBuilder *builder = &limit->body.lowering->builder;
  MlirValue all = tileBuildIndex(builder, limit->last / limit->width * limit->width);
  restrictTo(limit, buildSelect(builder, condition, all, tileBuildIndex(builder, 0)));
}

// Every row position of `access` from `coords` on, along `axis`.
static void restrictToAccess(Limit *limit, const Access *access, const Coord *coords, intptr_t axis) {
  TileBuilder *builder = &limit->body.lowering->builder;
  Coord ends[MaxRank];
  Access row = *access;
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    AccessDim *dim = &row.dims[d];
    dim->origin = coordSum(builder, dim->origin, coordTimes(builder, coords[d], dim->stride));
    row.shape.sizes[d] = 1;
    ends[d] = dim->origin;
    if (d == axis)
      dim->mayOver = false;
  }
  MlirValue inside = accessIsInside(builder, &row);
  if (inside.ptr)
    restrictIf(limit, inside);
  if (axis < 0 || !access->dims[axis].mayOver)
    return;
  const AccessDim *dim = &access->dims[axis];
  MlirValue rest = tileBuildSub(builder, dim->size, coordValue(builder, ends[axis]));
  if (dim->stride != 1)
    rest = tileBuildCeilDiv(builder, rest, tileBuildIndex(builder, dim->stride));
  MlirValue width = tileBuildIndex(builder, limit->width), zero = tileBuildIndex(builder, 0);
  rest = tileBuildMax(builder, rest, zero);
  rest = tileBuildMul(builder, buildBinary(builder, "arith.divui", rest, width), width);
  restrictTo(limit, tileBuildMin(builder, rest, tileBuildIndex(builder, limit->last / limit->width * limit->width)));
}

static void restrictToRecord(Limit *limit, Record *record, const Coord *coords, intptr_t axis);

static void restrictToOperands(Limit *limit, Record *record, const Coord *coords, intptr_t axis) {
  Lowering *lowering = limit->body.lowering;
  Coord at[MaxRank];
  intptr_t operandAxis;
  if (tileOpIs(record->op, "tile.in_bounds") || tileOpIs(record->op, "arith.constant") ||
      tileOpIs(record->op, "tile.gather")) // with their own checks, or none
    return;
  Placement placement = placeInOperand(lowering, record->op, coords, axis, limit->width, at, &operandAxis);
  if (placement != Placement_Exact) {
    MlirValue inside = allInside(lowering, record);
    if (inside.ptr)
      restrictIf(limit, inside);
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    Record *operand = recordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && isTile(mlirValueGetType(operand->source)))
      restrictToRecord(limit, operand, at, operandAxis);
  }
}

static void restrictToRecord(Limit *limit, Record *record, const Coord *coords, intptr_t axis) {
  if ((record->kind != Record_Lazy && !isRead(record)) || remembered(&limit->body, record, coords, axis, -1).ptr)
    return;
  remember(&limit->body, record, coords, axis, -1, record->source); // a visit, not an evaluation
  if (isRead(record) && accessMayLeave(record->access))
    restrictToAccess(limit, record->access, coords, axis);
  else if (!isRead(record))
    restrictToOperands(limit, record, coords, axis);
}

MlirValue unmaskedCount(Lowering *lowering, Record *record, const Access *target, const Coord *coords, int64_t width) {
  const Shape *shape = target ? &target->shape : &record->shape;
  Limit limit = {.body = bodyBegin(lowering, true), .last = shapeLast(shape), .width = width};
  if (record && mayLeave(lowering, record))
    restrictToRecord(&limit, record, coords, shape->rank - 1);
  if (target && accessMayLeave(target))
    restrictToAccess(&limit, target, coords, shape->rank - 1);
  bodyEnd(&limit.body);
  return limit.count;
}

//===--- where a row is padding only -------------------------------------------------------------===//

typedef struct Reach {
  Body body;
  int64_t width;
  bool varies;     // something along the row is no padding: there is no such place
  MlirValue count; // null: nothing found yet
} Reach;

static MlirValue roundedUp(TileBuilder *builder, MlirValue count, int64_t width) {
  MlirValue by = tileBuildIndex(builder, width), zero = tileBuildIndex(builder, 0);
  MlirValue more = tileBuildAdd(builder, tileBuildMax(builder, count, zero), tileBuildIndex(builder, width - 1));
  return tileBuildMul(builder, buildBinary(builder, "arith.divui", more, by), by);
}

static void extendToAccess(Reach *reach, const Access *access, const Coord *coords, intptr_t axis) {
  TileBuilder *builder = &reach->body.lowering->builder;
  if (axis < 0)
    return;
  const AccessDim *dim = &access->dims[axis];
  if (!dim->mayOver) {
    reach->varies = true;
    return;
  }
  Coord start = coordSum(builder, dim->origin, coordTimes(builder, coords[axis], dim->stride));
  MlirValue count = tileBuildSub(builder, dim->size, coordValue(builder, start));
  if (dim->stride != 1)
    count = tileBuildCeilDiv(builder, count, tileBuildIndex(builder, dim->stride));
  count = roundedUp(builder, count, reach->width);
  reach->count = reach->count.ptr ? tileBuildMax(builder, reach->count, count) : count;
}

static void extendToRecord(Reach *reach, Record *record, const Coord *coords, intptr_t axis);

static void extendToOperands(Reach *reach, Record *record, const Coord *coords, intptr_t axis) {
  Lowering *lowering = reach->body.lowering;
  Coord at[MaxRank];
  intptr_t operandAxis;
  if (placeInOperand(lowering, record->op, coords, axis, reach->width, at, &operandAxis) != Placement_Exact) {
    reach->varies = true;
    return;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op) && !reach->varies; ++i) {
    Record *operand = recordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && isTile(mlirValueGetType(operand->source)))
      extendToRecord(reach, operand, at, operandAxis);
  }
}

static void extendToRecord(Reach *reach, Record *record, const Coord *coords, intptr_t axis) {
  if (axis < 0 || reach->varies || remembered(&reach->body, record, coords, axis, -1).ptr)
    return;
  remember(&reach->body, record, coords, axis, -1, record->source); // a visit, not an evaluation
  bool lazy = record->kind == Record_Lazy;
  if (isRead(record) || (lazy && tileOpIs(record->op, "tile.in_bounds")))
    extendToAccess(reach, record->access, coords, axis);
  else if (!lazy || tileOpIs(record->op, "tile.gather") ||
           (tileOpIs(record->op, "tile.iota") && integerAttribute(record->op, "dim") == axis))
    reach->varies = true;
  else if (!tileOpIs(record->op, "tile.iota") && !tileOpIs(record->op, "arith.constant"))
    extendToOperands(reach, record, coords, axis);
}

MlirValue paddedFrom(Lowering *lowering, Record *record, const Coord *coords, int64_t width) {
  Reach reach = {.body = bodyBegin(lowering, true), .width = width};
  extendToRecord(&reach, record, coords, record->shape.rank - 1);
  bodyEnd(&reach.body);
  return reach.varies ? (MlirValue){NULL} : reach.count;
}
