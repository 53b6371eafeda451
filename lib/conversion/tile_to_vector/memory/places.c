// The places that gathers, scatters and atomics reach: an element of a view or memref by numbers, or an address.
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include "dialects/tile/tile.h"
#include "lib/ir/op_query.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- what is reached ----------------------------------------------------------------------===//

// A memref as a view of tiles of one element.
VecAccess *vecAccessOfMemref(VecLowering *lowering, MlirOperation op, MlirValue source) {
  MlirValue memref = vecScalarOf(lowering, source);
  MlirType type = mlirValueGetType(memref);
  VecAccess *access = vecLoweringAllocate(lowering, sizeof *access);
  *access = (VecAccess){.memref = memref, .memrefRank = mlirShapedTypeGetRank(type), .root = tileMemoryRoot(source)};
  access->storage = mlirShapedTypeGetElementType(type);
  access->shape = (VecShape){.rank = access->memrefRank, .element = access->storage};
  int64_t offset;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, access->strides, &offset))) {
    tileError(op, "not lowered to the CPU yet: a memref whose layout has no strides");
    return NULL;
  }
  for (intptr_t d = 0; d < access->memrefRank; ++d) {
    access->shape.sizes[d] = 1;
    access->dims[d] = (VecAccessDim){.stride = 1, .numDigits = 1, .digits = {{.divisor = 1, .memrefDim = d}}};
    access->dims[d].size = tileBuildSize(&lowering->builder, memref, d);
  }
  return access;
}

bool vecReach(VecLowering *lowering, VecReached *reached) {
  MlirType type = mlirValueGetType(reached->base);
  if (tileTypeIsAView(type)) {
    const VecAccess *view = vecRecordOf(lowering, reached->base)->access;
    reached->access = vecAccessAt(lowering, view, reached->op, reached->first);
    reached->isView = true;
    return true;
  }
  if (!mlirTypeIsAMemRef(type))
    return true; // addresses
  reached->access = vecAccessOfMemref(lowering, reached->op, reached->base);
  return reached->access != NULL;
}

//===--- one place -------------------------------------------------------------------------------===//

// Dimension d of a view is numbered by a tile, or placed by accessAt; a memref's are all numbered.
static bool isNumbered(const VecReached *reached, intptr_t d) {
  return !reached->isView || vecIsTile(tileOperandType(reached->op, reached->first + d));
}

static void placeDim(VecBody *body, const VecReached *reached, VecPlace *place, intptr_t d, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  VecAccessDim *dim = &place->access.dims[d];
  place->access.shape.sizes[d] = 1;
  if (!isNumbered(reached, d)) {
    dim->origin = vecCoordSum(builder, dim->origin, vecCoordTimes(builder, coords[d], dim->stride));
    return;
  }
  MlirValue index = mlirOperationGetOperand(reached->op, reached->first + d);
  MlirValue number = vecElementAt(body, index, reached->isView ? &coords[d] : coords);
  dim->origin = vecCoordOf(tileBuildIntegerCast(builder, number, mlirIndexTypeGet(builder->context), true));
  dim->mayUnder = dim->mayOver = true;
}

// Whether the numbers alone stay inside.
static MlirValue numbersInside(TileBuilder *builder, const VecReached *reached, const VecAccess *one) {
  VecAccess numbered = *one;
  for (intptr_t d = 0; d < one->shape.rank; ++d)
    if (!isNumbered(reached, d))
      numbered.dims[d].mayUnder = numbered.dims[d].mayOver = false;
  return vecAccessIsInside(builder, &numbered);
}

VecPlace vecPlaceReached(VecBody *body, const VecReached *reached, const VecCoord *coords) {
  VecPlace place = {.reached = reached};
  if (!reached->access) {
    place.address = vecElementAt(body, reached->base, coords);
    return place;
  }
  place.access = *reached->access;
  for (intptr_t d = 0; d < place.access.shape.rank; ++d)
    placeDim(body, reached, &place, d, coords);
  place.numbered = numbersInside(&body->lowering->builder, reached, &place.access);
  place.inside = vecAccessIsInside(&body->lowering->builder, &place.access);
  return place;
}

void vecTrapOutside(VecLowering *lowering, const VecPlace *place) {
  if (mlirValueIsNull(place->numbered))
    return;
  TileBuilder *builder = &lowering->builder;
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue outside = arithXOrIOpBuild(builder, place->numbered, one);
  TileBuilder before = vecOpenIf(lowering, outside);
  vecRaiseAt(lowering, place->reached->op, "an index is out of bounds: ", tileOpName(place->reached->op));
  vecCloseIf(lowering, outside, before);
}

//===--- access -------------------------------------------------------------------------------------===//

// The integer that holds an element in memory: whole bytes.
static MlirType wordOf(MlirType element) { return tileBitsType(vecStorageOf(element)); }

static MlirValue loadAddress(TileBuilder *builder, const VecPlace *place) {
  MlirType element = place->reached->element;
  MlirValue word = llvmLoadOpBuild(builder, wordOf(element), vecPointerOfAddress(builder, place->address));
  if (mlirTypeIsAIndex(element))
    return tileBuildIntegerCast(builder, word, element, true);
  return tileBuildNumberOfBits(builder, tileBuildIntegerCast(builder, word, tileBitsType(element), false), element);
}

static void storeAddress(TileBuilder *builder, const VecPlace *place, MlirValue value) {
  value = tileBuildIntegerCast(builder, tileBuildBits(builder, value), wordOf(place->reached->element), false);
  llvmStoreOpBuild(builder, value, vecPointerOfAddress(builder, place->address));
}

static const VecCoord origin[MaxRank] = {{{NULL}, 0}};

MlirValue vecPlaceLoad(VecLowering *lowering, const VecPlace *place) {
  if (!place->reached->access)
    return loadAddress(&lowering->builder, place);
  VecBody body = vecBodyBegin(lowering, true);
  MlirValue value = vecAccessLoad(&body, &place->access, origin, -1, 0);
  vecBodyEnd(&body);
  return value;
}

void vecPlaceStore(VecLowering *lowering, const VecPlace *place, MlirValue value) {
  if (!place->reached->access) {
    storeAddress(&lowering->builder, place, value);
    return;
  }
  VecBody body = vecBodyBegin(lowering, true);
  vecAccessStore(&body, &place->access, origin, -1, 0, value);
  vecBodyEnd(&body);
}

//===--- pointers --------------------------------------------------------------------------------------===//

// Elements from the memref's aligned pointer on.
static MlirValue linearOf(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  MlirValue indices[MaxRank * MaxDigits + 1];
  intptr_t rank = vecAccessIndices(builder, access, coords, indices);
  MlirOperation metadata = vecAccessMetadata(builder, access);
  MlirValue linear = memrefExtractStridedMetadataOpGetOffset(metadata);
  for (intptr_t d = 0; d < rank; ++d)
    linear = tileBuildAdd(builder, linear,
                          tileBuildMul(builder, indices[d], memrefExtractStridedMetadataOpGetStrides(metadata, d)));
  return linear;
}

static MlirValue accessPointer(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64);
  MlirValue start = memrefExtractAlignedPointerAsIndexOpBuild(builder, access->memref);
  MlirValue size = tileBuildIndex(builder, vecBytesOf(access->storage));
  MlirValue address = tileBuildAdd(builder, start, tileBuildMul(builder, linearOf(builder, access, coords), size));
  return vecPointerOfAddress(builder, arithIndexCastOpBuild(builder, word, address));
}

static VecCell accessCell(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  VecCell cell = {.pointer = accessPointer(builder, access, coords), .word = wordOf(access->storage)};
  if (access->packing)
    cell.shift = vecPackedShift(builder, access, coords);
  return cell;
}

VecCell vecPlaceCell(TileBuilder *builder, const VecPlace *place) {
  if (place->reached->access)
    return accessCell(builder, &place->access, origin);
  return (VecCell){.pointer = vecPointerOfAddress(builder, place->address), .word = wordOf(place->reached->element)};
}

void vecCombineInMemory(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirStringRef kind,
                        MlirValue value) {
  VecCell cell = accessCell(builder, access, coords);
  vecCombineAtomically(builder, kind, tileString("relaxed"), &cell, value);
}
