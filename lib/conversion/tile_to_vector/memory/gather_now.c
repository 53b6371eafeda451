// Gathers that cannot wait for their users: the memory that they read, or whether the program continues, is decided at
// the gather.
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "dialects/tile/tile.h"

//===--- bounds(trap) -----------------------------------------------------------------------------===//

typedef struct Numbers {
  MlirOperation gather;
  MlirValue index; // of the kernel, integers
  MlirValue size;  // of what they number
  MlirValue mask;  // of the kernel; null: none
} Numbers;

static void trapNumber(VecBody *body, const VecCoord *coords, void *data) {
  const Numbers *numbers = data;
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType index = mlirIndexTypeGet(lowering->context);
  MlirValue number = tileBuildIntegerCast(builder, vecElementAt(body, numbers->index, coords), index, true);
  MlirValue inside = arithCmpIOpBuild(builder, number, numbers->size, ArithCmpI_Ult);
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue outside = arithXOrIOpBuild(builder, inside, one);
  if (!mlirValueIsNull(numbers->mask))
    outside = vecBuildAnd(builder, outside, vecElementAt(body, numbers->mask, coords));
  TileBuilder before = vecOpenIf(lowering, outside);
  vecRaiseAt(lowering, numbers->gather, "an index is out of bounds: ", tileOpName(numbers->gather));
  vecCloseIf(lowering, outside, before);
}

// How many positions dimension d of what is gathered from has.
static MlirValue sizeOfSource(VecLowering *lowering, MlirOperation gather, intptr_t d) {
  MlirValue source = tileGatherOpGetSource(gather);
  MlirType type = mlirValueGetType(source);
  if (tileTypeIsAView(type))
    return vecRecordOf(lowering, source)->access->dims[d].size;
  if (vecIsTile(type))
    return tileBuildIndex(&lowering->builder,
                          mlirShapedTypeGetDimSize(type, mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(gather))));
  return tileBuildSize(&lowering->builder, vecScalarOf(lowering, source), d);
}

// With a mask only those from a tile come here, whose numbers have the mask's shape.
bool vecTrapNumbers(VecLowering *lowering, MlirOperation gather) {
  if (!vecKeywordIs(tileGatherOpGetBounds(gather), "trap"))
    return true;
  intptr_t mark = vecSpillOperands(lowering, gather);
  for (intptr_t d = 0; d < tileGatherOpGetNumIndices(gather); ++d) {
    MlirValue index = tileGatherOpGetIndices(gather, d);
    if (!vecIsTile(mlirValueGetType(index)))
      continue; // a tile's index: beyond the edge it is padded
    VecShape shape = vecShapeOf(mlirValueGetType(index));
    Numbers numbers = {gather, index, sizeOfSource(lowering, gather, d), tileGatherOpGetMask(gather)};
    vecForEachElement(lowering, &shape, trapNumber, &numbers);
  }
  vecUnspill(lowering, mark);
  return true;
}

//===--- element by element ----------------------------------------------------------------------------===//

typedef struct Gather {
  MlirOperation op;
  VecReached reached;
  MlirValue mask, other; // of the kernel; null: none
  VecAccess *result;
} Gather;

static void storeResult(VecLowering *lowering, const Gather *gather, const VecCoord *coords, MlirValue value) {
  VecBody body = vecBodyBegin(lowering, true);
  vecAccessStore(&body, gather->result, coords, -1, 0, value);
  vecBodyEnd(&body);
}

// What is read outside and where the mask is false.
static MlirValue otherAt(VecBody *body, const Gather *gather, const VecCoord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = gather->result->shape.element;
  if (!mlirValueIsNull(gather->other))
    return vecElementAt(body, gather->other, coords);
  if (gather->reached.access && mlirTypeIsAFloat(element))
    return tileBuildFloat(builder, element, gather->reached.access->pad);
  return vecBuildZero(builder, element);
}

static void gatherElement(VecBody *outer, const VecCoord *coords, void *data) {
  const Gather *gather = data;
  VecLowering *lowering = outer->lowering;
  storeResult(lowering, gather, coords, otherAt(outer, gather, coords));
  MlirValue mask = !mlirValueIsNull(gather->mask) ? vecElementAt(outer, gather->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = vecOpenIf(lowering, mask);
  VecBody body = vecBodyBegin(lowering, false);
  VecPlace place = vecPlaceReached(&body, &gather->reached, coords);
  vecBodyEnd(&body);
  if (vecKeywordIs(tileGatherOpGetBounds(gather->op), "trap"))
    vecTrapOutside(lowering, &place);
  TileBuilder beforeRead = vecOpenIf(lowering, place.inside);
  storeResult(lowering, gather, coords, vecPlaceLoad(lowering, &place));
  vecCloseIf(lowering, place.inside, beforeRead);
  vecCloseIf(lowering, mask, beforeMask);
}

bool vecGathersNow(MlirOperation gather) {
  if (vecIsTile(mlirValueGetType(tileGatherOpGetSource(gather))))
    return mlirAttributeIsNull(tileGatherOpGetAxis(gather));
  bool hasMask = !mlirValueIsNull(tileGatherOpGetMask(gather)),
       hasOther = !mlirValueIsNull(tileGatherOpGetOther(gather));
  MlirAttribute bounds = tileGatherOpGetBounds(gather);
  return (hasMask && vecKeywordIs(bounds, "trap")) || (hasOther && vecKeywordIs(bounds, "drop"));
}

bool vecGatherNow(VecLowering *lowering, MlirOperation op) {
  MlirValue result = tileGatherOpGetResult(op);
  VecShape shape = vecShapeOf(mlirValueGetType(result));
  Gather gather = {.op = op, .mask = tileGatherOpGetMask(op), .other = tileGatherOpGetOther(op)};
  gather.reached = (VecReached){.op = op, .base = tileGatherOpGetSource(op), .element = shape.element};
  gather.reached.first = tileGatherOpGetIndicesBegin(op);
  if (!vecReach(lowering, &gather.reached))
    return false;
  gather.result = vecBufferNew(lowering, &shape);
  vecForEachElementOf(lowering, op, &shape, gatherElement, &gather);
  vecRecordMemory(lowering, result, gather.result);
  return true;
}
