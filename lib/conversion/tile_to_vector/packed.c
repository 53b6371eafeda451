// Packed views: narrow integers and floats in wider words, placed by a layout of one word (`packed =
// #tile.layout<offset …>`). A word's block of elements is as large as the layout reaches along each axis; element e of
// a block lies at the layout's position of it, times the element's width. Loads shift and cut; stores change their bits
// atomically, as another instance may write the word's other elements.
#include "lib/conversion/tile_to_vector/places.h"

#include "dialects/tile/tile.h"

#include "mlir-c/BuiltinAttributes.h"

#include <math.h>
#include <string.h>

//===--- the word ----------------------------------------------------------------------------------------===//

static bool refuse(MlirOperation view, const char *what) {
  return tileError(view, "not lowered to the CPU yet: a packed view %s", what);
}

bool packAccess(Lowering *lowering, MlirOperation view, Access *access) {
  TileLayout layout = tileLayoutAttrGetLayout(tileViewTypeGetPacked(tileResultType(view, 0)));
  MlirType element = access->shape.element;
  if (mlirTypeIsAIndex(element) || !mlirTypeIsAInteger(access->storage))
    return refuse(view, "of anything but numbers in integers");
  Packing *packing = loweringAllocate(lowering, sizeof *packing);
  packing->width = mlirIntegerTypeGetWidth(bitsTypeOf(element));
  if (!runsOfPacking(&layout, packing) || layout.padEvery)
    return refuse(view, "whose layout is not made of plain strides");
  if ((int64_t)tileLayoutDimSize(&layout, TileLayoutOffset) * packing->width !=
      (int64_t)mlirIntegerTypeGetWidth(access->storage))
    return refuse(view, "whose layout does not fill a word");
  for (intptr_t d = 0; d < access->shape.rank; ++d) {
    int64_t extent = (int64_t)tileLayoutExtent(&layout, (uint32_t)d);
    AccessDim *dim = &access->dims[d];
    dim->digits[0].divisor = extent;
    dim->size = tileBuildMul(&lowering->builder, dim->size, tileBuildIndex(&lowering->builder, extent));
  }
  access->packing = packing;
  return true;
}

// How far the element at `coords` is shifted in its word.
MlirValue packedShift(TileBuilder *builder, const Access *access, const Coord *coords) {
  Coord place = coordConstant(0);
  for (intptr_t i = 0; i < access->packing->numRuns; ++i) {
    const PackingRun *run = &access->packing->runs[i];
    const AccessDim *dim = &access->dims[run->axis];
    Coord position = coordSum(builder, dim->origin, coordTimes(builder, coords[run->axis], dim->stride));
    Coord digit = coordModulo(builder, coordDivide(builder, position, run->divisor), run->count);
    place = coordSum(builder, place, coordTimes(builder, digit, run->stride * access->packing->width));
  }
  return integerCast(builder, coordValue(builder, place), access->storage, false);
}

//===--- loads and stores -----------------------------------------------------------------------------------===//

static MlirValue loadOne(Body *body, const Access *access, const Coord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = access->shape.element;
  MlirValue word = accessLoadScalar(body, access, coords); // 0 outside, and so are its elements
  MlirValue shifted = buildBinary(builder, "arith.shrui", word, packedShift(builder, access, coords));
  MlirValue value = valueOfBits(builder, integerCast(builder, shifted, bitsTypeOf(element), false), element);
  bool isZero = access->pad == 0 && !signbit(access->pad);
  MlirValue inside = body->inside || isZero ? (MlirValue){NULL} : accessElementInside(builder, access, coords);
  return inside.ptr ? buildSelect(builder, inside, value, tileBuildFloat(builder, element, access->pad)) : value;
}

MlirValue packedLoad(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width) {
  if (!width)
    return loadOne(body, access, coords);
  MlirValue *lanes = loweringAllocate(body->lowering, width * sizeof *lanes);
  Coord at[MaxRank];
  memcpy(at, coords, access->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    lanes[lane] = loadOne(body, access, at);
  MlirType type = vectorOf(access->shape.element, width);
  return tileBuildValue(&body->lowering->builder, "vector.from_elements", type, width, lanes, NULL);
}

static void storeOne(Body *body, const Access *access, const Coord *coords, MlirValue value) {
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirValue inside = body->inside ? (MlirValue){NULL} : accessElementInside(builder, access, coords);
  TileBuilder before = openIf(lowering, inside);
  combineInMemory(builder, access, coords, tileString("xchg"), value);
  closeIf(lowering, inside, before);
}

void packedStore(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width, MlirValue value) {
  if (!width) {
    storeOne(body, access, coords, value);
    return;
  }
  Coord at[MaxRank];
  memcpy(at, coords, access->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    storeOne(body, access, at, buildLane(&body->lowering->builder, value, lane));
}
