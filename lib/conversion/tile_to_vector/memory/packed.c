// Packed views: narrow integers and floats in wider words, placed by a layout of one word (`packed =
// #tile.layout<offset …>`). A word's block of elements is as large as the layout reaches along each axis; element e of
// a block lies at the layout's position of it, times the element's width. Loads shift and cut; stores change their bits
// atomically, as another instance may write the word's other elements.
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "upstream/vector.h"

#include "dialects/tile/tile.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

//===--- the word ----------------------------------------------------------------------------------------===//

static bool refuse(MlirOperation view, const char *what) {
  return tileError(view, "not lowered to the CPU yet: a packed view %s", what);
}

bool vecPackAccess(VecLowering *lowering, MlirOperation view, VecAccess *access) {
  TileLayout layout = tileLayoutAttrGetLayout(tileViewTypeGetPacked(tileViewOpGetResultType(view)));
  MlirType element = access->shape.element;
  if (mlirTypeIsAIndex(element) || !mlirTypeIsAInteger(access->storage))
    return refuse(view, "of anything but numbers in integers");
  VecPacking *packing = vecLoweringAllocate(lowering, sizeof *packing);
  packing->width = mlirIntegerTypeGetWidth(tileBitsType(element));
  if (!vecRunsOfPacking(&layout, packing) || layout.padEvery)
    return refuse(view, "whose layout is not made of plain strides");
  if ((int64_t)tileLayoutDimSize(&layout, TileLayoutOffset) * packing->width !=
      (int64_t)mlirIntegerTypeGetWidth(access->storage))
    return refuse(view, "whose layout does not fill a word");
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    int64_t extent = (int64_t)tileLayoutExtent(&layout, (uint32_t)d);
    VecAccessDim *dim = &access->dims[d];
    dim->digits[0].divisor = extent;
    dim->size = tileBuildMul(&lowering->builder, dim->size, tileBuildIndex(&lowering->builder, extent));
  }
  access->packing = packing;
  return true;
}

// How far the element at `coords` is shifted in its word.
MlirValue vecPackedShift(TileBuilder *builder, const VecAccess *access, const VecCoord *coords) {
  VecCoord place = vecCoordConstant(0);
  for (intptr_t i = 0; i < access->packing->numRuns; ++i) {
    const VecPackingRun *run = &access->packing->runs[i];
    const VecAccessDim *dim = &access->dims[run->axis];
    VecCoord position = vecCoordSum(builder, dim->origin, vecCoordTimes(builder, coords[run->axis], dim->stride));
    VecCoord digit = vecCoordModulo(builder, vecCoordDivide(builder, position, run->divisor), run->count);
    place = vecCoordSum(builder, place, vecCoordTimes(builder, digit, run->stride * access->packing->width));
  }
  return tileBuildIntegerCast(builder, vecCoordValue(builder, place), access->storage, false);
}

//===--- loads and stores -----------------------------------------------------------------------------------===//

static MlirValue loadOne(VecBody *body, const VecAccess *access, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = access->shape.element;
  MlirValue word = vecAccessLoadScalar(body, access, coords); // 0 outside, and so are its elements
  MlirValue shifted = arithShRUIOpBuild(builder, word, vecPackedShift(builder, access, coords));
  MlirValue value =
      tileBuildNumberOfBits(builder, tileBuildIntegerCast(builder, shifted, tileBitsType(element), false), element);
  bool isZero = access->pad == 0 && !signbit(access->pad);
  MlirValue inside = body->inside || isZero ? (MlirValue){NULL} : vecAccessElementInside(builder, access, coords);
  return !mlirValueIsNull(inside)
             ? arithSelectOpBuild(builder, inside, value, tileBuildFloat(builder, element, access->pad))
             : value;
}

MlirValue vecPackedLoad(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width) {
  if (!width)
    return loadOne(body, access, coords);
  MlirValue *lanes = vecLoweringAllocate(body->lowering, width * sizeof *lanes);
  VecCoord at[MaxRank];
  memcpy(at, coords, access->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    lanes[lane] = loadOne(body, access, at);
  MlirType type = vecVectorOf(access->shape.element, width);
  return vectorFromElementsOpBuild(&body->lowering->builder, type, width, lanes);
}

static void storeOne(VecBody *body, const VecAccess *access, const VecCoord *coords, MlirValue value) {
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : vecAccessElementInside(builder, access, coords);
  TileBuilder before = vecOpenIf(lowering, inside);
  vecCombineInMemory(builder, access, coords, tileString("xchg"), value);
  vecCloseIf(lowering, inside, before);
}

void vecPackedStore(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width,
                    MlirValue value) {
  if (!width) {
    storeOne(body, access, coords, value);
    return;
  }
  VecCoord at[MaxRank];
  memcpy(at, coords, access->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    storeOne(body, access, at, vecBuildLane(&body->lowering->builder, value, lane));
}
