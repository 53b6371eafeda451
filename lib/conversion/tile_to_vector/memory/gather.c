// tile.gather from a view (rows or columns by number, the other axes contiguous), from a memref (element by element)
// and from a tile in memory: evaluated lazily, like a load, always with its own checks. Those that may stop the
// program, read addresses or have a value of their own for what is outside are in memory/gather_now.c.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

static bool isClamped(MlirOperation gather) { return vecKeywordIs(tileGatherOpGetBounds(gather), "clamp"); }

static MlirValue asIndex(TileBuilder *builder, MlirValue number, int64_t width) {
  MlirType index = vecVectorOf(mlirIndexTypeGet(builder->context), width);
  return mlirTypeEqual(mlirValueGetType(number), index) ? number : arithIndexCastOpBuild(builder, index, number);
}

static MlirValue clamped(TileBuilder *builder, MlirValue position, MlirValue size) {
  MlirValue last = tileBuildSub(builder, size, tileBuildIndex(builder, 1));
  return tileBuildMax(builder, tileBuildMin(builder, position, last), tileBuildIndex(builder, 0));
}

//===--- one place of a view ------------------------------------------------------------------===//

// The view's access with the numbered axes at the numbers that `coords` select, and the coordinates left over.
static VecAccess placeInView(VecBody *body, const VecRecord *record, const VecCoord *coords, VecCoord *rest) {
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  VecAccess access = *record->access;
  for (intptr_t d = 0; d < access.shape.rank; ++d) {
    MlirValue index = tileGatherOpGetIndices(record->op, d);
    rest[d] = coords[d];
    if (!vecIsTile(mlirValueGetType(index)))
      continue; // placed by accessAt
    VecAccessDim *dim = &access.dims[d];
    MlirValue position = asIndex(builder, vecEvaluateOperand(body, index, &coords[d], -1, 0), 0);
    bool clamp = isClamped(record->op);
    dim->origin = vecCoordOf(clamp ? clamped(builder, position, dim->size) : position);
    dim->mayUnder = dim->mayOver = !clamp;
    rest[d] = vecCoordConstant(0);
  }
  return access;
}

static bool isNumbered(const VecRecord *record, intptr_t d) {
  return vecIsTile(mlirValueGetType(tileGatherOpGetIndices(record->op, d)));
}

static MlirValue gatherFromView(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis,
                                int64_t width) {
  if (width && isNumbered(record, axis))
    return vecEvaluateLanes(body, record, coords, axis, width);
  VecCoord rest[MaxRank];
  VecAccess access = placeInView(body, record, coords, rest);
  return vecAccessLoad(body, &access, rest, axis, width);
}

//===--- one element of a memref ----------------------------------------------------------------===//

static MlirValue gatherElement(VecBody *body, VecRecord *record, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  VecAccess access = *record->access; // every dimension one element wide
  VecCoord zero[MaxRank] = {{{NULL}, 0}};
  for (intptr_t d = 0; d < access.shape.rank; ++d) {
    MlirValue number = vecEvaluateOperand(body, tileGatherOpGetIndices(record->op, d), coords, -1, 0);
    MlirValue position = asIndex(builder, number, 0);
    bool clamp = isClamped(record->op);
    access.dims[d].origin = vecCoordOf(clamp ? clamped(builder, position, access.dims[d].size) : position);
    access.dims[d].mayUnder = access.dims[d].mayOver = !clamp;
  }
  return vecAccessLoad(body, &access, zero, -1, 0);
}

static MlirValue gatherFromMemref(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis,
                                  int64_t width) {
  return width ? vecEvaluateLanes(body, record, coords, axis, width) : gatherElement(body, record, coords);
}

//===--- one element of a tile -------------------------------------------------------------------===//

// `number` is inside 0 … size - 1, as one unsigned comparison.
static MlirValue isNumberOf(TileBuilder *builder, MlirValue number, int64_t size) {
  return arithCmpIOpBuild(builder, number, tileBuildIndex(builder, size), ArithCmpI_Ult);
}

enum { TableEntries = 16, TableBytes = 64, MostTables = 2 };

// A row of 16 numbers of 32 bits that is looked up along itself fills one register of AVX-512, a row of 32 two. Half as
// many lanes look up in the same registers.
static bool isRegisterTable(const VecBody *body, const VecRecord *record, intptr_t axis, int64_t width) {
  const VecShape *shape = &record->access->shape;
  bool isVector =
      (width == TableEntries || width == TableEntries / 2) && body->lowering->widths.vectorBytes == TableBytes;
  int64_t entries = vecShapeLast(shape);
  return isVector && axis == shape->rank - 1 && (entries == TableEntries || entries == MostTables * TableEntries) &&
         mlirTypeIsAF32(shape->element) && mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(record->op)) == axis &&
         isClamped(record->op) && !vecAccessMayLeave(record->access) &&
         vecAccessIsContiguous(record->access, axis, entries);
}

// The first `lanes` of a vector; more than it has are its own again.
static MlirValue resized(TileBuilder *builder, MlirValue vector, int64_t width, int64_t lanes) {
  int64_t numbers[TableEntries];
  for (int64_t i = 0; i < lanes; ++i)
    numbers[i] = i % width;
  return width == lanes
             ? vector
             : vectorShuffleOpBuild(builder, vector, vector, mlirDenseI64ArrayGet(builder->context, lanes, numbers));
}

static MlirValue lookUp(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType words = vecVectorOf(mlirIntegerTypeGet(builder->context, 32), width);
  MlirValue number = vecEvaluateOperand(body, tileGatherOpGetIndices(record->op, 0), coords, axis, width);
  if (!mlirTypeEqual(mlirValueGetType(number), words))
    return vecEvaluateLanes(body, record, coords, axis, width);
  int64_t entries = vecShapeLast(&record->access->shape);
  number = arithMinSIOpBuild(builder, number, tileBuildInteger(builder, words, entries - 1));
  number = arithMaxSIOpBuild(builder, number, tileBuildInteger(builder, words, 0));
  number = resized(builder, number, width, TableEntries);
  MlirValue tables[MostTables];
  for (int64_t i = 0; i < entries / TableEntries; ++i) {
    VecCoord row[MaxRank];
    memcpy(row, coords, record->shape.rank * sizeof *row);
    row[axis] = vecCoordConstant(i * TableEntries);
    tables[i] = vecAccessLoad(body, record->access, row, axis, TableEntries);
  }
  MlirValue found = entries == TableEntries ? vecCallIntrinsic(builder, "llvm.x86.avx512.permvar.sf.512", 2,
                                                               (MlirValue[]){tables[0], number})
                                            : vecCallIntrinsic(builder, "llvm.x86.avx512.vpermi2var.ps.512", 3,
                                                               (MlirValue[]){tables[0], number, tables[1]});
  return resized(builder, found, TableEntries, width);
}

// Outside: the nearest, or `other` (zero when there is none).
static MlirValue gatherFromTile(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis,
                                int64_t width) {
  if (width && isRegisterTable(body, record, axis, width))
    return lookUp(body, record, coords, axis, width);
  if (width)
    return vecEvaluateLanes(body, record, coords, axis, width);
  TileBuilder *builder = &body->lowering->builder;
  int64_t along = mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(record->op)),
          size = record->access->shape.sizes[along];
  MlirValue number =
      asIndex(builder, vecEvaluateOperand(body, tileGatherOpGetIndices(record->op, 0), coords, -1, 0), 0);
  VecCoord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  at[along] = vecCoordOf(clamped(builder, number, tileBuildIndex(builder, size)));
  MlirValue value = vecAccessLoad(body, record->access, at, -1, 0);
  if (!vecKeywordIs(tileGatherOpGetBounds(record->op), "drop"))
    return value;
  MlirValue other = tileGatherOpGetOther(record->op);
  other = mlirValueIsNull(other) ? vecBuildZero(builder, record->shape.element)
                                 : vecEvaluateOperand(body, other, coords, -1, 0);
  return arithSelectOpBuild(builder, isNumberOf(builder, number, size), value, other);
}

//===--- the op ------------------------------------------------------------------------------------===//

// Where the mask is false: `other`, or the padding (zero for a memref).
static MlirValue applyMask(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width,
                           MlirValue value) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue mask = tileGatherOpGetMask(record->op), other = tileGatherOpGetOther(record->op);
  if (mlirValueIsNull(mask))
    return value;
  mask = vecEvaluateOperand(body, mask, coords, axis, width);
  if (!mlirValueIsNull(other))
    other = vecEvaluateOperand(body, other, coords, axis, width);
  else if (mlirTypeIsAFloat(record->shape.element))
    other = tileBuildFloat(builder, vecVectorOf(record->shape.element, width), record->access->pad);
  else
    other = vecBuildZero(builder, vecVectorOf(record->shape.element, width));
  return arithSelectOpBuild(builder, mask, value, other);
}

MlirValue vecEvaluateGather(VecBody *outer, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  VecBody body = vecBodyBegin(outer->lowering, false);
  MlirType source = mlirValueGetType(tileGatherOpGetSource(record->op));
  MlirValue value = tileTypeIsAView(source) ? gatherFromView(&body, record, coords, axis, width)
                    : vecIsTile(source)     ? gatherFromTile(&body, record, coords, axis, width)
                                            : gatherFromMemref(&body, record, coords, axis, width);
  value = applyMask(&body, record, coords, axis, width, value);
  vecBodyEnd(&body);
  return value;
}

// The tile that is gathered from, in memory: its elements are read in any order. A load is read where it lies if nobody
// writes there before the gather is used.
static VecAccess *accessOfTile(VecLowering *lowering, MlirValue source) {
  VecRecord *record = vecRecordOf(lowering, source);
  bool isLoad = record->kind == VecRecord_Lazy && tileLoadOpIsA(record->op) && !vecAccessMayLeave(record->access) &&
                !vecIsOverwrittenBeforeUse(record->op);
  return isLoad || record->kind == VecRecord_Memory ? record->access
                                                    : vecMaterialize(lowering, record, (MlirType){NULL});
}

static bool gatherLazily(VecLowering *lowering, MlirOperation op) {
  MlirValue source = tileGatherOpGetSource(op);
  bool fromTile = vecIsTile(mlirValueGetType(source));
  VecAccess *access =
      tileTypeIsAView(mlirValueGetType(source))
          ? vecAccessAt(lowering, vecRecordOf(lowering, source)->access, op, tileGatherOpGetIndicesBegin(op))
      : fromTile ? accessOfTile(lowering, source)
                 : vecAccessOfMemref(lowering, op, source);
  if (!access)
    return false;
  VecRecord *record = vecRecordNew(lowering, tileGatherOpGetResult(op), VecRecord_Lazy);
  record->op = op;
  record->access = access;
  if (!fromTile && vecIsOverwrittenBeforeUse(op))
    vecRecordCopy(lowering, record);
  return true;
}

bool vecLowerGather(VecLowering *lowering, MlirOperation op) {
  if (vecGathersNow(op))
    return vecGatherNow(lowering, op);
  return vecTrapNumbers(lowering, op) && gatherLazily(lowering, op);
}
