// Reading and writing tiles in memory: coordinates to memref indices, masks at ragged edges, and which of plain,
// masked, gathering or element-by-element access a vector takes.
#include "lib/conversion/tile_to_vector/lowering.h"

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
    if (!indices[j].ptr)
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
    within = vecCompareIndex(builder, "sge", vecCoordValue(builder, first), tileBuildIndex(builder, 0));
  if (dim->mayOver)
    within = vecBuildAnd(builder, within, vecCompareIndex(builder, "slt", vecCoordValue(builder, last), dim->size));
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
  return vecBuildUnary(builder, "vector.create_mask", vecVectorOf(bitType(builder), width), count);
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
  if (row.ptr)
    count = vecBuildSelect(builder, row, count, zero);
  mask = createMask(builder, count, width);
  if (!dim->mayUnder)
    return mask;
  MlirValue under = createMask(builder, lanesBelow(builder, zero, position, dim->stride), width);
  MlirValue ones = tileBuildInteger(builder, vecVectorOf(bitType(builder), width), 1);
  return vecBuildAnd(builder, mask, vecBuildBinary(builder, "arith.xori", under, ones));
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
  return vecValueOfBits(builder, vecIntegerCast(builder, value, vecBitsTypeOf(element), false), element);
}

static MlirValue toStorage(TileBuilder *builder, const VecAccess *access, MlirValue value) {
  if (mlirTypeEqual(access->storage, access->shape.element))
    return value;
  return vecIntegerCast(builder, vecBitsOfValue(builder, value), access->storage, false);
}

// base, indices…, extra…: the operands of every vector access.
typedef struct Operands {
  MlirValue values[MaxRank * MaxDigits + 4];
  intptr_t count;
} Operands;

static Operands operandsOf(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  Operands operands = {{access->memref}, 1};
  operands.count += vecAccessIndices(builder, access, coords, operands.values + 1);
  return operands;
}

static void addOperand(Operands *operands, MlirValue value) { operands->values[operands->count++] = value; }

//===--- one element ---------------------------------------------------------------------===//

static MlirValue loadElement(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  Operands operands = operandsOf(builder, access, coords);
  return tileBuildValue(builder, "memref.load", access->storage, operands.count, operands.values, NULL);
}

static void storeElement(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirValue value) {
  Operands operands = {{value, access->memref}, 2};
  operands.count += vecAccessIndices(builder, access, coords, operands.values + 2);
  tileBuild(builder, "memref.store", operands.count, operands.values, 0, NULL, NULL, 0, NULL);
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
  return mlirOperationGetResult(choice, 0);
}

MlirValue vecAccessLoadScalar(VecBody *body, const VecAccess *access, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : othersInside(builder, access, coords, -1);
  if (!inside.ptr)
    return loadElement(builder, access, coords);
  return loadElementChecked(builder, access, coords, inside);
}

static void storeScalar(VecBody *body, const VecAccess *access, const VecCoord *coords, MlirValue value) {
  TileBuilder *builder = &body->lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : othersInside(builder, access, coords, -1);
  if (!inside.ptr) {
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
  Operands operands = operandsOf(builder, access, coords);
  MlirType type = vecVectorOf(access->storage, width);
  if (!mask.ptr)
    return tileBuildValue(builder, "vector.load", type, operands.count, operands.values, NULL);
  addOperand(&operands, mask);
  addOperand(&operands, padValue(builder, access, width));
  return tileBuildValue(builder, "vector.maskedload", type, operands.count, operands.values, NULL);
}

MlirOperation vecAccessMetadata(TileBuilder *builder, const VecAccess *access) {
  MlirType index = mlirIndexTypeGet(builder->context), results[2 + 2 * MaxRank];
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(access->memref));
  results[0] = mlirMemRefTypeGet(element, 0, NULL, mlirAttributeGetNull(), mlirAttributeGetNull());
  for (intptr_t i = 1; i < 2 + 2 * access->memrefRank; ++i)
    results[i] = index;
  return tileBuild(builder, "memref.extract_strided_metadata", 1, &access->memref, 2 + 2 * access->memrefRank, results,
                   NULL, 0, NULL);
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
  char text[256];
  int used = snprintf(text, sizeof text, "strided<[");
  for (intptr_t j = 0; j < access->memrefRank; ++j) {
    bool isKnown = access->strides[j] != mlirShapedTypeGetDynamicStrideOrOffset();
    used += isKnown ? snprintf(text + used, sizeof text - (size_t)used, "%s%lld", j ? ", " : "",
                               (long long)access->strides[j])
                    : snprintf(text + used, sizeof text - (size_t)used, "%s?", j ? ", " : "");
  }
  snprintf(text + used, sizeof text - (size_t)used, "], offset: ?>");
  return mlirMemRefTypeGet(access->storage, access->memrefRank, sizes, vecNamedAttribute(builder->context, text),
                           mlirAttributeGetNull());
}

VecAccess *vecAccessFromOrigin(VecLowering *lowering, const VecAccess *access) {
  TileBuilder *builder = &lowering->builder;
  MlirValue operands[1 + MaxRank * MaxDigits] = {access->memref};
  VecCoord zeros[MaxRank] = {{{NULL}, 0}};
  int64_t offsets[MaxRank], sizes[MaxRank], steps[MaxRank];
  bool moves = false;
  for (intptr_t d = 0; d < access->shape.rank; ++d)
    moves |= access->dims[d].origin.base.ptr != NULL;
  if (!moves || vecAccessMayLeave(access) || !isPlain(access))
    return NULL;
  intptr_t rank = vecAccessIndices(builder, access, zeros, operands + 1);
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
  int32_t segments[4] = {1, (int32_t)rank, 0, 0};
  TileAttributeEntry attributes[] = {{"operandSegmentSizes", mlirDenseI32ArrayGet(builder->context, 4, segments)},
                                     {"static_offsets", mlirDenseI64ArrayGet(builder->context, rank, offsets)},
                                     {"static_sizes", mlirDenseI64ArrayGet(builder->context, rank, sizes)},
                                     {"static_strides", mlirDenseI64ArrayGet(builder->context, rank, steps)},
                                     {0}};
  moved->memref =
      tileBuildValue(builder, "memref.subview", subviewType(builder, access, sizes), 1 + rank, operands, attributes);
  return moved;
}

// Distance in memory of neighbours along `axis`, in elements.
static MlirValue pitchOf(TileBuilder *builder, const VecAccess *access, intptr_t axis) {
  const VecAccessDim *dim = &access->dims[axis];
  int64_t stride = access->strides[dim->digits[0].memrefDim];
  if (stride != mlirShapedTypeGetDynamicStrideOrOffset())
    return tileBuildIndex(builder, stride * dim->stride);
  MlirOperation metadata = vecAccessMetadata(builder, access);
  MlirValue pitch = mlirOperationGetResult(metadata, 2 + access->memrefRank + dim->digits[0].memrefDim);
  return tileBuildMul(builder, pitch, tileBuildIndex(builder, dim->stride));
}

static MlirValue lanePitches(TileBuilder *builder, const VecAccess *access, intptr_t axis, int64_t width) {
  MlirType type = vecVectorOf(mlirIndexTypeGet(builder->context), width);
  MlirValue lanes = tileBuildValue(builder, "vector.step", type, 0, NULL, NULL);
  return vecBuildBinary(builder, "arith.muli", lanes, vecBuildSplat(builder, pitchOf(builder, access, axis), width));
}

static MlirValue maskOrOnes(TileBuilder *builder, MlirValue mask, int64_t width) {
  return mask.ptr ? mask : tileBuildInteger(builder, vecVectorOf(bitType(builder), width), 1);
}

static MlirValue loadGathering(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                               int64_t width, MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Operands operands = operandsOf(builder, access, coords);
  addOperand(&operands, lanePitches(builder, access, axis, width));
  addOperand(&operands, maskOrOnes(builder, mask, width));
  addOperand(&operands, padValue(builder, access, width));
  return tileBuildValue(builder, "vector.gather", vecVectorOf(access->storage, width), operands.count, operands.values,
                        NULL);
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
  return tileBuildValue(builder, "vector.from_elements", vecVectorOf(access->storage, width), width, elements, NULL);
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
    loaded = loadGathering(body, access, coords, axis, width, vecAccessMask(body, access, coords, axis, width));
  else
    loaded = loadByElement(body, access, coords, axis, width);
  return fromStorage(builder, access, loaded);
}

//===--- stores -------------------------------------------------------------------------------===//

static void storeContiguous(VecBody *body, const VecAccess *access, const VecCoord *coords, MlirValue value,
                            MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Operands operands = operandsOf(builder, access, coords);
  if (mask.ptr) {
    addOperand(&operands, mask);
    addOperand(&operands, value);
    tileBuild(builder, "vector.maskedstore", operands.count, operands.values, 0, NULL, NULL, 0, NULL);
    return;
  }
  Operands plain = {{value}, 1};
  for (intptr_t i = 0; i < operands.count; ++i)
    addOperand(&plain, operands.values[i]);
  tileBuild(builder, "vector.store", plain.count, plain.values, 0, NULL, NULL, 0, NULL);
}

static void storeScattering(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis,
                            int64_t width, MlirValue value, MlirValue mask) {
  TileBuilder *builder = &body->lowering->builder;
  Operands operands = operandsOf(builder, access, coords);
  addOperand(&operands, lanePitches(builder, access, axis, width));
  addOperand(&operands, maskOrOnes(builder, mask, width));
  addOperand(&operands, value);
  tileBuild(builder, "vector.scatter", operands.count, operands.values, 0, NULL, NULL, 0, NULL);
}

MlirValue vecBuildLane(TileBuilder *builder, MlirValue vector, int64_t lane) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(vector));
  MlirAttribute position = mlirDenseI64ArrayGet(builder->context, 1, &lane);
  return tileBuildValue(builder, "vector.extract", element, 1, &vector,
                        (TileAttributeEntry[]){{"static_position", position}, {0}});
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
  Operands operands = operandsOf(builder, access, coords);
  TileAttributeEntry attributes[] = {{"isWrite", mlirBoolAttrGet(builder->context, write)},
                                     {"localityHint", mlirIntegerAttrGet(i32, 3)},
                                     {"isDataCache", mlirBoolAttrGet(builder->context, true)},
                                     {0}};
  tileBuild(builder, "memref.prefetch", operands.count, operands.values, 0, NULL, attributes, 0, NULL);
}

void vecAccessPrefetch(VecLowering *lowering, const VecAccess *access, bool write) {
  const VecShape *shape = &access->shape;
  int64_t rows = vecShapeRows(shape), line = 64 / vecBytesOf(access->storage);
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
