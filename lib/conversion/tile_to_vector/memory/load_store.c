// Reads and writes tiles in memory: coordinates become memref indices, ragged edges get masks, and a vector takes a
// plain, masked, gathering or element-by-element access.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/memref.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>
#include <string.h>

static MlirType bitType(TileBuilder *builder) { return mlirIntegerTypeGet(builder->context, 1); }

//===--- indices ------------------------------------------------------------------===//

// The position in dimension d: origin + coordinate * stride.
static VecCoord positionOf(TileBuilder *builder, const VecAccess *access, intptr_t d, VecCoord coord) {
  const VecAccessDim *dim = &access->dims[d];
  return vecCoordSum(builder, dim->origin, vecCoordTimes(builder, coord, dim->stride));
}

static VecCoord digitOf(TileBuilder *builder, VecCoord position, const VecDigit *digit) {
  return vecCoordModulo(builder, vecCoordDivide(builder, position, digit->divisor), digit->modulus);
}

intptr_t vecAccessIndices(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirValue *indices) {
  for (intptr_t j = 0; j < access->memrefRank; ++j)
    indices[j] = access->fixed[j];
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    VecCoord position = positionOf(builder, access, d, coords[d]);
    for (intptr_t i = 0; i < access->dims[d].numDigits; ++i) {
      const VecDigit *digit = &access->dims[d].digits[i];
      indices[digit->memrefDim] = vecCoordValue(builder, digitOf(builder, position, digit));
    }
  }
  for (intptr_t j = 0; j < access->memrefRank; ++j)
    if (mlirValueIsNull(indices[j]))
      indices[j] = tileBuildIndex(builder, 0);
  return access->memrefRank;
}

// Whether `width` neighbours along `axis` stay within one run of the first digit.
static bool staysInDigit(const VecAccessDim *dim, int64_t width) {
  return dim->numDigits == 1 || (dim->digits[0].modulus % width == 0 && dim->originMultiple % width == 0);
}

static bool digitIsFirst(const VecAccessDim *dim) { return dim->numDigits > 0 && dim->digits[0].divisor == 1; }

bool vecAccessIsContiguous(const VecAccess *access, intptr_t axis, int64_t width) {
  const VecAccessDim *dim = &access->dims[axis];
  return !access->packing && dim->stride == 1 && digitIsFirst(dim) && access->strides[dim->digits[0].memrefDim] == 1 &&
         staysInDigit(dim, width) && !vecIsOddlyWide(access->storage);
}

static bool canGather(const VecAccess *access, intptr_t axis) {
  return access->dims[axis].numDigits == 1 && access->strides[access->memrefRank - 1] == 1 &&
         !vecIsOddlyWide(access->storage);
}

//===--- edges -----------------------------------------------------------------------===//

bool vecAccessMayLeave(const VecAccess *access) {
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    if (access->dims[d].mayUnder || access->dims[d].mayOver)
      return true;
  return false;
}

// The position `first` in dimension d is at least 0, and `last` is below the size; null when both are known.
static MlirValue isWithin(TileBuilder *builder, const VecAccessDim *dim, VecCoord first, VecCoord last) {
  MlirValue within = {NULL};
  if (dim->mayUnder)
    within = arithCmpIOpBuild(builder, vecCoordValue(builder, first), tileBuildIndex(builder, 0), ArithCmpI_Sge);
  if (dim->mayOver)
    within =
        vecBuildAnd(builder, within, arithCmpIOpBuild(builder, vecCoordValue(builder, last), dim->size, ArithCmpI_Slt));
  return within;
}

MlirValue vecAccessIsInside(TileBuilder *builder, const VecAccess *access) {
  MlirValue inside = {NULL};
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    const VecAccessDim *dim = &access->dims[d];
    VecCoord last = vecCoordPlus(dim->origin, (access->shape.sizes[d] - 1) * dim->stride);
    inside = vecBuildAnd(builder, inside, isWithin(builder, dim, dim->origin, last));
  }
  return inside;
}

// All dimensions but `axis` are inside at `coords`; null when that is known. Axis -1: all of them.
static MlirValue othersInside(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, intptr_t axis) {
  MlirValue inside = {NULL};
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    if (d == axis || !(access->dims[d].mayUnder || access->dims[d].mayOver))
      continue;
    VecCoord position = positionOf(builder, access, d, coords[d]);
    inside = vecBuildAnd(builder, inside, isWithin(builder, &access->dims[d], position, position));
  }
  return inside;
}

// How many lanes, `stride` apart from `position` on, are below `bound`; may be negative or beyond the vector.
static MlirValue lanesBelow(TileBuilder *builder, MlirValue bound, MlirValue position, int64_t stride) {
  MlirValue distance = tileBuildSub(builder, bound, position);
  return stride == 1 ? distance : tileBuildCeilDiv(builder, distance, tileBuildIndex(builder, stride));
}

static MlirValue createMask(TileBuilder *builder, MlirValue count, int64_t width) {
  return vectorCreateMaskOpBuild(builder, vecVectorOf(bitType(builder), width), 1, &count);
}

MlirValue vecAccessMask(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width) {
  if (body->inside || !vecAccessMayLeave(access))
    return (MlirValue){NULL};
  TileBuilder *builder = &body->lowering->builder;
  const VecAccessDim *dim = &access->dims[axis];
  MlirValue row = othersInside(builder, access, coords, axis), mask = {NULL};
  MlirValue position = vecCoordValue(builder, positionOf(builder, access, axis, coords[axis]));
  MlirValue all = tileBuildIndex(builder, width), zero = tileBuildIndex(builder, 0);
  MlirValue count = dim->mayOver ? lanesBelow(builder, dim->size, position, dim->stride) : all;
  if (!mlirValueIsNull(row))
    count = arithSelectOpBuild(builder, row, count, zero);
  mask = createMask(builder, count, width);
  if (!dim->mayUnder)
    return mask;
  MlirValue under = createMask(builder, lanesBelow(builder, zero, position, dim->stride), width);
  MlirValue ones = tileBuildInteger(builder, vecVectorOf(bitType(builder), width), 1);
  return vecBuildAnd(builder, mask, arithXOrIOpBuild(builder, under, ones));
}

//===--- values in memory and in tiles -------------------------------------------------===//

static MlirValue padValue(TileBuilder *builder, const VecAccess *access, int64_t width) {
  MlirType type = vecVectorOf(access->storage, width);
  if (mlirTypeIsAFloat(access->storage))
    return tileBuildFloat(builder, type, access->pad);
  return tileBuildInteger(builder, type, 0);
}

// Elements that fill no word are held in one: a vector of them in memory would be packed.
static MlirValue fromStorage(TileBuilder *builder, const VecAccess *access, MlirValue value) {
  MlirType element = access->shape.element;
  if (mlirTypeEqual(access->storage, element))
    return value;
  return tileBuildNumberOfBits(builder, tileBuildIntegerCast(builder, value, tileBitsType(element), false), element);
}

static MlirValue toStorage(TileBuilder *builder, const VecAccess *access, MlirValue value) {
  if (mlirTypeEqual(access->storage, access->shape.element))
    return value;
  return tileBuildIntegerCast(builder, tileBuildBits(builder, value), access->storage, false);
}

// What every access to the memref takes.
typedef struct Indices {
  MlirValue values[MaxRank * MaxDigits];
  intptr_t count;
} Indices;

static Indices indicesOf(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  Indices indices;
  indices.count = vecAccessIndices(builder, access, coords, indices.values);
  return indices;
}

//===--- one element ---------------------------------------------------------------------===//

static MlirValue loadElement(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  Indices indices = indicesOf(builder, access, coords);
  return memrefLoadOpBuild(builder, access->memref, indices.count, indices.values);
}

static void storeElement(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirValue value) {
  Indices indices = indicesOf(builder, access, coords);
  memrefStoreOpBuild(builder, value, access->memref, indices.count, indices.values);
}

static MlirValue loadElementChecked(TileBuilder *builder, const VecAccess *access, const VecCoord *coords,
                                    MlirValue inside) {
  MlirBlock then, otherwise;
  MlirOperation choice = vecBuildIf(builder, inside, 1, &access->storage, &then, &otherwise);
  TileBuilder inThen = tileBuilderAtEnd(then, builder->location);
  MlirValue element = loadElement(&inThen, access, coords);
  tileBuildYield(&inThen, 1, &element);
  TileBuilder inElse = tileBuilderAtEnd(otherwise, builder->location);
  MlirValue pad = padValue(&inElse, access, 0);
  tileBuildYield(&inElse, 1, &pad);
  return tileOnlyResult(choice);
}

MlirValue vecAccessLoadScalar(VecBody *body, const VecAccess *access, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : othersInside(builder, access, coords, -1);
  if (mlirValueIsNull(inside))
    return loadElement(builder, access, coords);
  return loadElementChecked(builder, access, coords, inside);
}

static void storeScalar(VecBody *body, const VecAccess *access, const VecCoord *coords, MlirValue value) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : othersInside(builder, access, coords, -1);
  if (mlirValueIsNull(inside)) {
    storeElement(builder, access, coords, value);
    return;
  }
  MlirBlock then;
  vecBuildIf(builder, inside, 0, NULL, &then, NULL);
  TileBuilder inThen = tileBuilderAtEnd(then, builder->location);
  storeElement(&inThen, access, coords, value);
  tileBuildYield(&inThen, 0, NULL);
}

//===--- vectors ---------------------------------------------------------------------------===//

static MlirValue loadContiguous(VecBody *body, const VecAccess *access, const VecCoord *coords, int64_t width,
                                MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Indices indices = indicesOf(builder, access, coords);
  MlirType type = vecVectorOf(access->storage, width);
  if (mlirValueIsNull(mask))
    return vectorLoadOpBuild(builder, type, access->memref, indices.count, indices.values);
  MlirValue pad = padValue(builder, access, width);
  return vectorMaskedLoadOpBuild(builder, type, access->memref, indices.count, indices.values, mask, pad);
}

MlirOperation vecAccessMetadata(TileBuilder *builder, const VecAccess *access) {
  return memrefExtractStridedMetadataOpCreate(builder, access->memref);
}

// Whether every dimension of the tile is one of the memref's.
static bool isPlain(const VecAccess *access) {
  bool plain = !access->packing;
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    plain &= access->dims[d].numDigits == 1 && access->dims[d].digits[0].divisor == 1 &&
             access->dims[d].digits[0].modulus == 0;
  return plain;
}

static MlirType subviewType(TileBuilder *builder, const VecAccess *access, const int64_t *sizes) {
  MlirAttribute layout = mlirStridedLayoutAttrGet(builder->context, mlirShapedTypeGetDynamicStrideOrOffset(),
                                                  access->memrefRank, access->strides);
  return mlirMemRefTypeGet(access->storage, access->memrefRank, sizes, layout, mlirAttributeGetNull());
}

VecAccess *vecAccessFromOrigin(VecLowering *lowering, const VecAccess *access) {
  TileBuilder *builder = &lowering->builder;
  MlirValue indices[MaxRank * MaxDigits];
  VecCoord zeros[MaxRank] = {{{NULL}, 0}};
  int64_t offsets[MaxRank], sizes[MaxRank], steps[MaxRank];
  bool moves = false;
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    moves |= !mlirValueIsNull(access->dims[d].origin.base);
  if (!moves || vecAccessMayLeave(access) || !isPlain(access))
    return NULL;
  intptr_t rank = vecAccessIndices(builder, access, zeros, indices);
  for (intptr_t j = 0; j < rank; ++j) {
    offsets[j] = mlirShapedTypeGetDynamicSize();
    sizes[j] = steps[j] = 1;
  }
  VecAccess *moved = vecLoweringAllocate(lowering, sizeof *moved);
  *moved = *access;
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    VecAccessDim *dim = &moved->dims[d];
    sizes[dim->digits[0].memrefDim] = (access->shape.sizes[d] - 1) * dim->stride + 1;
    dim->origin = vecCoordConstant(0);
    dim->originMultiple = 0;
  }
  memset(moved->fixed, 0, sizeof moved->fixed);
  moved->memref = memrefSubViewOpBuild(builder, subviewType(builder, access, sizes), access->memref, rank, indices, 0,
                                       NULL, 0, NULL, mlirDenseI64ArrayGet(builder->context, rank, offsets),
                                       mlirDenseI64ArrayGet(builder->context, rank, sizes),
                                       mlirDenseI64ArrayGet(builder->context, rank, steps));
  return moved;
}

// Distance in memory of neighbours along `axis`, in elements.
static MlirValue pitchOf(TileBuilder *builder, const VecAccess *access, intptr_t axis) {
  const VecAccessDim *dim = &access->dims[axis];
  int64_t stride = access->strides[dim->digits[0].memrefDim];
  if (stride != mlirShapedTypeGetDynamicStrideOrOffset())
    return tileBuildIndex(builder, stride * dim->stride);
  MlirOperation metadata = vecAccessMetadata(builder, access);
  MlirValue pitch = memrefExtractStridedMetadataOpGetStrides(metadata, dim->digits[0].memrefDim);
  return tileBuildMul(builder, pitch, tileBuildIndex(builder, dim->stride));
}

static MlirValue lanePitches(TileBuilder *builder, const VecAccess *access, intptr_t axis, int64_t width) {
  MlirType type = vecVectorOf(mlirIndexTypeGet(builder->context), width);
  MlirValue lanes = vectorStepOpBuild(builder, type);
  return arithMulIOpBuild(builder, lanes, vecBuildSplat(builder, pitchOf(builder, access, axis), width));
}

static MlirValue maskOrOnes(TileBuilder *builder, MlirValue mask, int64_t width) {
  return !mlirValueIsNull(mask) ? mask : tileBuildInteger(builder, vecVectorOf(bitType(builder), width), 1);
}

static MlirValue loadGathering(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                               int64_t width, MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Indices indices = indicesOf(builder, access, coords);
  MlirValue pitches = lanePitches(builder, access, axis, width), lanes = maskOrOnes(builder, mask, width);
  MlirValue pad = padValue(builder, access, width);
  return vectorGatherOpBuild(builder, vecVectorOf(access->storage, width), access->memref, indices.count,
                             indices.values, pitches, lanes, pad);
}

enum { MostPitch = 8 };

// Neighbours along `axis` lie 2, 4 or 8 elements apart: the pitch; 0: they lie in another way.
static int64_t shortPitch(const VecAccess *access, intptr_t axis, int64_t width) {
  const VecAccessDim *dim = &access->dims[axis];
  const int64_t open = mlirShapedTypeGetDynamicStrideOrOffset();
  int64_t stride = access->strides[dim->digits[0].memrefDim], pitch = stride == open ? 0 : stride * dim->stride;
  bool isShort = pitch == 2 || pitch == 4 || pitch == MostPitch;
  return isShort && width % pitch == 0 && access->strides[access->memrefRank - 1] == 1 ? pitch : 0;
}

// Vectors side by side. A shuffle of each keeps every second, fourth or eighth element. That takes fewer instructions
// than to gather, and elements of 8 and 16 bits have no instruction that gathers. The last vector ends with the last
// lane, so that nothing behind it is read.
static MlirValue loadApart(VecBody *body, const VecAccess *access, const VecCoord *coords, int64_t width,
                           int64_t pitch) {
  TileBuilder *builder = &body->lowering->builder;
  Indices indices = indicesOf(builder, access, coords);
  MlirValue first = indices.values[indices.count - 1], kept = {NULL};
  int64_t share = width / pitch, *numbers = vecLoweringAllocate(body->lowering, width * sizeof *numbers);
  for (int64_t part = 0; part < pitch; ++part) {
    int64_t early = part == pitch - 1 ? pitch - 1 : 0, count = part * share;
    indices.values[indices.count - 1] = tileBuildAdd(builder, first, tileBuildIndex(builder, part * width - early));
    MlirValue run =
        vectorLoadOpBuild(builder, vecVectorOf(access->storage, width), access->memref, indices.count, indices.values);
    for (int64_t i = 0; i < count + share; ++i)
      numbers[i] = i < count ? i : count + (i - count) * pitch + early;
    kept = vectorShuffleOpBuild(builder, part ? kept : run, run,
                                mlirDenseI64ArrayGet(builder->context, count + share, numbers));
  }
  return kept;
}

static MlirValue loadStrided(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                             int64_t width) {
  MlirValue mask = vecAccessMask(body, access, coords, axis, width);
  int64_t pitch = mlirValueIsNull(mask) ? shortPitch(access, axis, width) : 0;
  return pitch ? loadApart(body, access, coords, width, pitch) : loadGathering(body, access, coords, axis, width, mask);
}

static MlirValue loadByElement(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                               int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue *elements = vecLoweringAllocate(body->lowering, width * sizeof *elements);
  VecCoord at[MaxRank];
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    at[d] = coords[d];
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    elements[lane] = vecAccessLoadScalar(body, access, at);
  return vectorFromElementsOpBuild(builder, vecVectorOf(access->storage, width), width, elements);
}

MlirValue vecAccessElementInside(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  return othersInside(builder, access, coords, -1);
}

MlirValue vecAccessLoad(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width) {
  if (access->packing)
    return vecPackedLoad(body, access, coords, axis, width);
  TileBuilder *builder = &body->lowering->builder;
  MlirValue loaded;
  if (width == 0)
    loaded = vecAccessLoadScalar(body, access, coords);
  else if (vecAccessIsContiguous(access, axis, width))
    loaded = loadContiguous(body, access, coords, width, vecAccessMask(body, access, coords, axis, width));
  else if (canGather(access, axis))
    loaded = loadStrided(body, access, coords, axis, width);
  else
    loaded = loadByElement(body, access, coords, axis, width);
  return fromStorage(builder, access, loaded);
}

//===--- stores -------------------------------------------------------------------------------===//

static void storeContiguous(VecBody *body, const VecAccess *access, const VecCoord *coords, MlirValue value,
                            MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Indices indices = indicesOf(builder, access, coords);
  if (mlirValueIsNull(mask))
    vectorStoreOpBuild(builder, value, access->memref, indices.count, indices.values);
  else
    vectorMaskedStoreOpBuild(builder, access->memref, indices.count, indices.values, mask, value);
}

static void storeScattering(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                            int64_t width, MlirValue value, MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Indices indices = indicesOf(builder, access, coords);
  MlirValue pitches = lanePitches(builder, access, axis, width), lanes = maskOrOnes(builder, mask, width);
  vectorScatterOpBuild(builder, (MlirType){NULL}, access->memref, indices.count, indices.values, pitches, lanes, value);
}

MlirValue vecBuildLane(TileBuilder *builder, MlirValue vector, int64_t lane) {
  return vectorExtractOpBuild(builder, vector, 0, NULL, mlirDenseI64ArrayGet(builder->context, 1, &lane));
}

MlirValue vecBuildLanes(TileBuilder *builder, MlirValue vector, int64_t from, int64_t width) {
  MlirType type = vecVectorOf(mlirShapedTypeGetElementType(mlirValueGetType(vector)), width);
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirAttribute numbers[] = {mlirIntegerAttrGet(i64, from), mlirIntegerAttrGet(i64, width), mlirIntegerAttrGet(i64, 1)};
  MlirAttribute lists[3];
  for (int i = 0; i < 3; ++i)
    lists[i] = mlirArrayAttrGet(builder->context, 1, &numbers[i]);
  return vectorExtractStridedSliceOpBuild(builder, type, vector, lists[0], lists[1], lists[2]);
}

static void storeByElement(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width,
                           MlirValue value) {
  VecCoord at[MaxRank];
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    at[d] = coords[d];
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    storeScalar(body, access, at, vecBuildLane(&body->lowering->builder, value, lane));
}

void vecAccessStore(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width,
                    MlirValue value) {
  if (access->packing) {
    vecPackedStore(body, access, coords, axis, width, value);
    return;
  }
  value = toStorage(&body->lowering->builder, access, value);
  if (width == 0)
    storeScalar(body, access, coords, value);
  else if (vecAccessIsContiguous(access, axis, width))
    storeContiguous(body, access, coords, value, vecAccessMask(body, access, coords, axis, width));
  else if (canGather(access, axis))
    storeScattering(body, access, coords, axis, width, value, vecAccessMask(body, access, coords, axis, width));
  else
    storeByElement(body, access, coords, axis, width, value);
}

//===--- prefetch ---------------------------------------------------------------------------------===//

static void prefetchAt(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, bool write) {
  MlirType i32 = mlirIntegerTypeGet(builder->context, 32);
  Indices indices = indicesOf(builder, access, coords);
  memrefPrefetchOpBuild(builder, access->memref, indices.count, indices.values,
                        mlirBoolAttrGet(builder->context, write), mlirIntegerAttrGet(i32, 3),
                        mlirBoolAttrGet(builder->context, true));
}

void vecAccessPrefetch(VecLowering *lowering, const VecAccess *access, bool write) {
  const VecShape *shape = &access->shape;
  int64_t rows = vecShapeRows(shape), line = LineBytes / vecBytesOf(access->storage);
  if (rows * (vecShapeLast(shape) / line + 1) > 4 * MaxRegisters)
    return; // a hint for small tiles; a large one would only flood the cache
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < vecShapeLast(shape); column += line) {
      VecCoord coords[MaxRank];
      int64_t rest = row;
      for (intptr_t d = shape->rank - 2; d >= 0; rest /= shape->sizes[d--])
        coords[d] = vecCoordConstant(rest % shape->sizes[d]);
      coords[shape->rank - 1] = vecCoordConstant(column);
      prefetchAt(&lowering->builder, access, coords, write);
    }
}
