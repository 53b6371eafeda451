// tile.gather from a view (rows or columns by number, the other axes contiguous) and from a memref (element by
// element): evaluated lazily, like a load, always with its own checks.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

static bool boundsAre(MlirOperation gather, const char *name) {
  return tileStringEquals(mlirStringAttrGetValue(tileOpAttribute(gather, "bounds")), name);
}

typedef struct Segments {
  intptr_t numIndices, mask, other; // operand numbers; -1: absent
} Segments;

static Segments segmentsOf(MlirOperation gather) {
  MlirAttribute sizes = tileOpAttribute(gather, "operandSegmentSizes");
  intptr_t numIndices = mlirDenseI32ArrayGetElement(sizes, 1);
  bool mask = mlirDenseI32ArrayGetElement(sizes, 2), other = mlirDenseI32ArrayGetElement(sizes, 3);
  return (Segments){numIndices, mask ? 1 + numIndices : -1, other ? 1 + numIndices + mask : -1};
}

static MlirValue asIndex(TileBuilder *builder, MlirValue number, int64_t width) {
  MlirType index = vectorOf(mlirIndexTypeGet(builder->context), width);
  return mlirTypeEqual(mlirValueGetType(number), index) ? number
                                                        : buildUnary(builder, "arith.index_cast", index, number);
}

static MlirValue clamped(TileBuilder *builder, MlirValue position, MlirValue size) {
  MlirValue last = tileBuildSub(builder, size, tileBuildIndex(builder, 1));
  return tileBuildMax(builder, tileBuildMin(builder, position, last), tileBuildIndex(builder, 0));
}

//===--- one place of a view ------------------------------------------------------------------===//

// The view's access with the numbered axes at the numbers that `coords` select, and the coordinates left over.
static Access placeInView(Body *body, const Record *record, const Coord *coords, Coord *rest) {
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  Access access = *record->access;
  for (intptr_t d = 0; d < access.shape.rank; ++d) {
    MlirValue index = mlirOperationGetOperand(record->op, 1 + d);
    rest[d] = coords[d];
    if (!isTile(mlirValueGetType(index)))
      continue; // placed by accessAt
    AccessDim *dim = &access.dims[d];
    MlirValue position = asIndex(builder, evaluateOperand(body, index, &coords[d], -1, 0), 0);
    bool clamp = boundsAre(record->op, "clamp");
    dim->origin = coordOf(clamp ? clamped(builder, position, dim->size) : position);
    dim->mayUnder = dim->mayOver = !clamp;
    rest[d] = coordConstant(0);
  }
  return access;
}

static bool isNumbered(const Record *record, intptr_t d) {
  return isTile(mlirValueGetType(mlirOperationGetOperand(record->op, 1 + d)));
}

static MlirValue gatherLanes(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  Lowering *lowering = body->lowering;
  MlirValue *lanes = loweringAllocate(lowering, width * sizeof *lanes);
  Coord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, at[axis].offset++)
    lanes[lane] = evaluate(body, record, at, -1, 0);
  MlirType type = vectorOf(record->shape.element, width);
  return tileBuildValue(&lowering->builder, "vector.from_elements", type, width, lanes, NULL);
}

static MlirValue gatherFromView(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  if (width && isNumbered(record, axis))
    return gatherLanes(body, record, coords, axis, width);
  Coord rest[MaxRank];
  Access access = placeInView(body, record, coords, rest);
  return accessLoad(body, &access, rest, axis, width);
}

//===--- one element of a memref ----------------------------------------------------------------===//

static MlirValue gatherElement(Body *body, Record *record, const Coord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  Access access = *record->access; // every dimension one element wide
  Coord zero[MaxRank] = {{{NULL}, 0}};
  for (intptr_t d = 0; d < access.shape.rank; ++d) {
    MlirValue number = evaluateOperand(body, mlirOperationGetOperand(record->op, 1 + d), coords, -1, 0);
    MlirValue position = asIndex(builder, number, 0);
    bool clamp = boundsAre(record->op, "clamp");
    access.dims[d].origin = coordOf(clamp ? clamped(builder, position, access.dims[d].size) : position);
    access.dims[d].mayUnder = access.dims[d].mayOver = !clamp;
  }
  return accessLoad(body, &access, zero, -1, 0);
}

static MlirValue gatherFromMemref(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  return width ? gatherLanes(body, record, coords, axis, width) : gatherElement(body, record, coords);
}

//===--- the op ------------------------------------------------------------------------------------===//

// Where the mask is false: `other`, or the padding (zero for a memref).
static MlirValue applyMask(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width,
                           MlirValue value) {
  TileBuilder *builder = &body->lowering->builder;
  Segments segments = segmentsOf(record->op);
  if (segments.mask < 0)
    return value;
  MlirValue mask = evaluateOperand(body, mlirOperationGetOperand(record->op, segments.mask), coords, axis, width),
            other;
  if (segments.other >= 0)
    other = evaluateOperand(body, mlirOperationGetOperand(record->op, segments.other), coords, axis, width);
  else if (mlirTypeIsAFloat(record->shape.element))
    other = tileBuildFloat(builder, vectorOf(record->shape.element, width), record->access->pad);
  else
    other = buildZero(builder, vectorOf(record->shape.element, width));
  return buildSelect(builder, mask, value, other);
}

MlirValue evaluateGather(Body *outer, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  Body body = bodyBegin(outer->lowering, false);
  bool fromView = tileTypeIsAView(tileOperandType(record->op, 0));
  MlirValue value = fromView ? gatherFromView(&body, record, coords, axis, width)
                             : gatherFromMemref(&body, record, coords, axis, width);
  value = applyMask(&body, record, coords, axis, width, value);
  bodyEnd(&body);
  return value;
}

bool lowerGather(Lowering *lowering, MlirOperation op) {
  MlirValue source = mlirOperationGetOperand(op, 0), result = mlirOperationGetResult(op, 0);
  bool fromView = tileTypeIsAView(mlirValueGetType(source)), fromMemref = mlirTypeIsAMemRef(mlirValueGetType(source));
  if ((!fromView && !fromMemref) || !isTile(mlirValueGetType(result)))
    return tileError(op, "not lowered to the CPU yet: a gather from anything but a view or memref");
  if (boundsAre(op, "trap"))
    return tileError(op, "not lowered to the CPU yet: a gather with bounds(trap)");
  const Record *view = recordOf(lowering, source);
  Access *access = fromView ? accessAt(lowering, view->access, op, 1) : accessOfMemref(lowering, op, source);
  if (!access)
    return false;
  Record *record = recordNew(lowering, result, Record_Lazy);
  record->op = op;
  record->access = access;
  Segments segments = segmentsOf(op);
  if (fromView && segments.other >= 0 && segments.mask < 0)
    return tileError(op, "not lowered to the CPU yet: a gather with `other` and no mask");
  return true;
}
