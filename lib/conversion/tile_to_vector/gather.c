// tile.gather from a view (rows or columns by number, the other axes contiguous), from a memref (element by element)
// and from a tile in memory: evaluated lazily, like a load, always with its own checks. Those that may stop the
// program, read addresses or have a value of their own for what is outside are in gather_now.c.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/places.h"

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

static MlirValue gatherFromView(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  if (width && isNumbered(record, axis))
    return evaluateLanes(body, record, coords, axis, width);
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
  return width ? evaluateLanes(body, record, coords, axis, width) : gatherElement(body, record, coords);
}

//===--- one element of a tile -------------------------------------------------------------------===//

// `number` is inside 0 … size - 1, as one unsigned comparison.
static MlirValue isNumberOf(TileBuilder *builder, MlirValue number, int64_t size) {
  return compareIntegers(builder, CompareUnsignedLess, number, tileBuildIndex(builder, size));
}

// Outside: the nearest, or `other` (zero when there is none).
static MlirValue gatherFromTile(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  if (width)
    return evaluateLanes(body, record, coords, axis, width);
  TileBuilder *builder = &body->lowering->builder;
  int64_t along = integerAttribute(record->op, "axis"), size = record->access->shape.sizes[along];
  MlirValue number = asIndex(builder, evaluateOperand(body, mlirOperationGetOperand(record->op, 1), coords, -1, 0), 0);
  Coord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  at[along] = coordOf(clamped(builder, number, tileBuildIndex(builder, size)));
  MlirValue value = accessLoad(body, record->access, at, -1, 0);
  if (!boundsAre(record->op, "drop"))
    return value;
  Segments segments = segmentsOf(record->op);
  MlirValue other = segments.other < 0
                        ? buildZero(builder, record->shape.element)
                        : evaluateOperand(body, mlirOperationGetOperand(record->op, segments.other), coords, -1, 0);
  return buildSelect(builder, isNumberOf(builder, number, size), value, other);
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
  MlirType source = tileOperandType(record->op, 0);
  MlirValue value = tileTypeIsAView(source) ? gatherFromView(&body, record, coords, axis, width)
                    : isTile(source)        ? gatherFromTile(&body, record, coords, axis, width)
                                            : gatherFromMemref(&body, record, coords, axis, width);
  value = applyMask(&body, record, coords, axis, width, value);
  bodyEnd(&body);
  return value;
}

// The tile that is gathered from, in memory: its elements are read in any order.
static Access *accessOfTile(Lowering *lowering, MlirValue source) {
  Record *record = recordOf(lowering, source);
  return record->kind == Record_Memory ? record->access : materialize(lowering, record, (MlirType){NULL});
}

static bool gatherLazily(Lowering *lowering, MlirOperation op) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  bool fromTile = isTile(mlirValueGetType(source));
  Access *access = tileTypeIsAView(mlirValueGetType(source))
                       ? accessAt(lowering, recordOf(lowering, source)->access, op, 1)
                   : fromTile ? accessOfTile(lowering, source)
                              : accessOfMemref(lowering, op, source);
  if (!access)
    return false;
  Record *record = recordNew(lowering, mlirOperationGetResult(op, 0), Record_Lazy);
  record->op = op;
  record->access = access;
  if (!fromTile && isOverwrittenBeforeUse(op))
    recordCopy(lowering, record);
  return true;
}

bool lowerGather(Lowering *lowering, MlirOperation op) {
  if (gathersNow(op))
    return gatherNow(lowering, op);
  return trapNumbers(lowering, op) && gatherLazily(lowering, op);
}
