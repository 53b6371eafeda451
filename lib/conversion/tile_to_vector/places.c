// Where gathers, scatters and atomics reach: an element of a view or memref by numbers, or an address.
#include "lib/conversion/tile_to_vector/places.h"

#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- what is reached ----------------------------------------------------------------------===//

// A memref as a view of tiles of one element.
Access *accessOfMemref(Lowering *lowering, MlirOperation op, MlirValue source) {
  MlirValue memref = scalarOf(lowering, source);
  MlirType type = mlirValueGetType(memref);
  Access *access = loweringAllocate(lowering, sizeof *access);
  *access = (Access){.memref = memref, .memrefRank = mlirShapedTypeGetRank(type), .root = rootOfMemory(source)};
  access->storage = mlirShapedTypeGetElementType(type);
  access->shape = (Shape){.rank = access->memrefRank, .element = access->storage};
  int64_t offset;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, access->strides, &offset))) {
    tileError(op, "not lowered to the CPU yet: a memref whose layout has no strides");
    return NULL;
  }
  for (intptr_t d = 0; d < access->memrefRank; ++d) {
    access->shape.sizes[d] = 1;
    access->dims[d] = (AccessDim){.stride = 1, .numDigits = 1, .digits = {{.divisor = 1, .memrefDim = d}}};
    access->dims[d].size = sizeOfMemref(&lowering->builder, memref, d);
  }
  return access;
}

bool reach(Lowering *lowering, MlirOperation op, MlirValue base, MlirType element, Reached *out) {
  intptr_t first, count;
  tileOpOperands(op, "indices", &first, &count);
  *out = (Reached){.op = op, .base = base, .first = first, .element = element};
  if (tileTypeIsAView(mlirValueGetType(base))) {
    const Access *view = recordOf(lowering, base)->access;
    out->access = accessAt(lowering, view, op, first);
    out->isView = true;
    return true;
  }
  if (!mlirTypeIsAMemRef(mlirValueGetType(base)))
    return true; // addresses
  out->access = accessOfMemref(lowering, op, base);
  return out->access != NULL;
}

//===--- one place -------------------------------------------------------------------------------===//

// Dimension d of a view is numbered by a tile, or placed by accessAt; a memref's are all numbered.
static bool isNumbered(const Reached *reached, intptr_t d) {
  return !reached->isView || isTile(tileOperandType(reached->op, reached->first + d));
}

static void placeDim(Body *body, const Reached *reached, Place *place, intptr_t d, const Coord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  AccessDim *dim = &place->access.dims[d];
  place->access.shape.sizes[d] = 1;
  if (!isNumbered(reached, d)) {
    dim->origin = coordSum(builder, dim->origin, coordTimes(builder, coords[d], dim->stride));
    return;
  }
  MlirValue index = mlirOperationGetOperand(reached->op, reached->first + d);
  MlirValue number = elementAt(body, index, reached->isView ? &coords[d] : coords);
  dim->origin = coordOf(integerCast(builder, number, mlirIndexTypeGet(builder->context), true));
  dim->mayUnder = dim->mayOver = true;
}

// Whether the numbers alone stay inside.
static MlirValue numbersInside(TileBuilder *builder, const Reached *reached, const Access *one) {
  Access numbered = *one;
  for (intptr_t d = 0; d < one->shape.rank; ++d)
    if (!isNumbered(reached, d))
      numbered.dims[d].mayUnder = numbered.dims[d].mayOver = false;
  return accessIsInside(builder, &numbered);
}

Place placeReached(Body *body, const Reached *reached, const Coord *coords) {
  Place place = {.reached = reached};
  if (!reached->access) {
    place.address = elementAt(body, reached->base, coords);
    return place;
  }
  place.access = *reached->access;
  for (intptr_t d = 0; d < place.access.shape.rank; ++d)
    placeDim(body, reached, &place, d, coords);
  place.numbered = numbersInside(&body->lowering->builder, reached, &place.access);
  place.inside = accessIsInside(&body->lowering->builder, &place.access);
  return place;
}

void trapOutside(Lowering *lowering, const Place *place) {
  if (!place->numbered.ptr)
    return;
  TileBuilder *builder = &lowering->builder;
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue outside = buildBinary(builder, "arith.xori", place->numbered, one);
  TileBuilder before = openIf(lowering, outside);
  raiseAt(lowering, place->reached->op, "an index is out of bounds: ", tileOpName(place->reached->op));
  closeIf(lowering, outside, before);
}

//===--- access -------------------------------------------------------------------------------------===//

// The integer that holds an element in memory: whole bytes.
static MlirType wordOf(MlirType element) { return bitsTypeOf(storageOf(element)); }

static MlirValue loadAddress(TileBuilder *builder, const Place *place) {
  MlirType element = place->reached->element;
  MlirValue word = buildUnary(builder, "llvm.load", wordOf(element), pointerOfAddress(builder, place->address));
  if (mlirTypeIsAIndex(element))
    return integerCast(builder, word, element, true);
  return valueOfBits(builder, integerCast(builder, word, bitsTypeOf(element), false), element);
}

static void storeAddress(TileBuilder *builder, const Place *place, MlirValue value) {
  value = integerCast(builder, bitsOfValue(builder, value), wordOf(place->reached->element), false);
  MlirValue operands[] = {value, pointerOfAddress(builder, place->address)};
  tileBuild(builder, "llvm.store", 2, operands, 0, NULL, NULL, 0, NULL);
}

static const Coord origin[MaxRank] = {{{NULL}, 0}};

MlirValue placeLoad(Lowering *lowering, const Place *place) {
  if (!place->reached->access)
    return loadAddress(&lowering->builder, place);
  Body body = bodyBegin(lowering, true);
  MlirValue value = accessLoad(&body, &place->access, origin, -1, 0);
  bodyEnd(&body);
  return value;
}

void placeStore(Lowering *lowering, const Place *place, MlirValue value) {
  if (!place->reached->access) {
    storeAddress(&lowering->builder, place, value);
    return;
  }
  Body body = bodyBegin(lowering, true);
  accessStore(&body, &place->access, origin, -1, 0, value);
  bodyEnd(&body);
}

//===--- pointers --------------------------------------------------------------------------------------===//

// Elements from the memref's aligned pointer on.
static MlirValue linearOf(TileBuilder *builder, const Access *access, const Coord *coords) {
  MlirValue indices[MaxRank * MaxDigits + 1];
  intptr_t rank = accessIndices(builder, access, coords, indices);
  MlirOperation metadata = accessMetadata(builder, access);
  MlirValue linear = mlirOperationGetResult(metadata, 1);
  for (intptr_t d = 0; d < rank; ++d)
    linear = tileBuildAdd(builder, linear,
                          tileBuildMul(builder, indices[d], mlirOperationGetResult(metadata, 2 + rank + d)));
  return linear;
}

static MlirValue accessPointer(TileBuilder *builder, const Access *access, const Coord *coords) {
  MlirType index = mlirIndexTypeGet(builder->context), word = mlirIntegerTypeGet(builder->context, 64);
  MlirValue start = buildUnary(builder, "memref.extract_aligned_pointer_as_index", index, access->memref);
  MlirValue size = tileBuildIndex(builder, bytesOf(access->storage));
  MlirValue address = tileBuildAdd(builder, start, tileBuildMul(builder, linearOf(builder, access, coords), size));
  return pointerOfAddress(builder, buildUnary(builder, "arith.index_cast", word, address));
}

static Cell accessCell(TileBuilder *builder, const Access *access, const Coord *coords) {
  Cell cell = {.pointer = accessPointer(builder, access, coords), .word = wordOf(access->storage)};
  if (access->packing)
    cell.shift = packedShift(builder, access, coords);
  return cell;
}

Cell placeCell(TileBuilder *builder, const Place *place) {
  if (place->reached->access)
    return accessCell(builder, &place->access, origin);
  return (Cell){.pointer = pointerOfAddress(builder, place->address), .word = wordOf(place->reached->element)};
}

void combineInMemory(TileBuilder *builder, const Access *access, const Coord *coords, MlirStringRef kind,
                     MlirValue value) {
  Cell cell = accessCell(builder, access, coords);
  combineAtomically(builder, kind, tileString("relaxed"), &cell, value);
}
