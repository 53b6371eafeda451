// Gathers that cannot wait for their users: what they read, or whether the program goes on, is decided where they
// stand.
#include "lib/conversion/tile_to_vector/places.h"

#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"

//===--- bounds(trap) -----------------------------------------------------------------------------===//

typedef struct Numbers {
  MlirOperation gather;
  MlirValue index; // of the kernel, integers
  MlirValue size;  // of what they number
  MlirValue mask;  // of the kernel; null: none
} Numbers;

static void trapNumber(Body *body, const Coord *coords, void *data) {
  const Numbers *numbers = data;
  Lowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  MlirType index = mlirIndexTypeGet(lowering->context);
  MlirValue number = integerCast(builder, elementAt(body, numbers->index, coords), index, true);
  MlirValue inside = compareIntegers(builder, CompareUnsignedLess, number, numbers->size);
  MlirValue one = tileBuildInteger(builder, mlirIntegerTypeGet(lowering->context, 1), 1);
  MlirValue outside = buildBinary(builder, "arith.xori", inside, one);
  if (numbers->mask.ptr)
    outside = buildAnd(builder, outside, elementAt(body, numbers->mask, coords));
  TileBuilder before = openIf(lowering, outside);
  raiseAt(lowering, numbers->gather, "an index is out of bounds: ", tileString("tile.gather"));
  closeIf(lowering, outside, before);
}

// How many positions dimension d of what is gathered from has.
static MlirValue sizeOfSource(Lowering *lowering, MlirOperation gather, intptr_t d) {
  MlirValue source = mlirOperationGetOperand(gather, 0);
  MlirType type = mlirValueGetType(source);
  if (tileTypeIsAView(type))
    return recordOf(lowering, source)->access->dims[d].size;
  if (isTile(type))
    return tileBuildIndex(&lowering->builder, mlirShapedTypeGetDimSize(type, integerAttribute(gather, "axis")));
  return sizeOfMemref(&lowering->builder, scalarOf(lowering, source), d);
}

// With a mask only those from a tile come here, whose numbers have the mask's shape.
bool trapNumbers(Lowering *lowering, MlirOperation gather) {
  intptr_t first, count;
  tileOpOperands(gather, "indices", &first, &count);
  if (!tileKeywordIs(gather, "bounds", "trap"))
    return true;
  intptr_t mark = spillOperands(lowering, gather);
  for (intptr_t d = 0; d < count; ++d) {
    MlirValue index = mlirOperationGetOperand(gather, first + d);
    if (!isTile(mlirValueGetType(index)))
      continue; // a tile's index: beyond the edge it is padded
    Shape shape = shapeOf(mlirValueGetType(index));
    Numbers numbers = {gather, index, sizeOfSource(lowering, gather, d), tileOpOperand(gather, "mask")};
    forEachElement(lowering, &shape, trapNumber, &numbers);
  }
  unspill(lowering, mark);
  return true;
}

//===--- element by element ----------------------------------------------------------------------------===//

typedef struct Gather {
  MlirOperation op;
  Reached reached;
  MlirValue mask, other; // of the kernel; null: none
  Access *result;
} Gather;

static void storeResult(Lowering *lowering, const Gather *gather, const Coord *coords, MlirValue value) {
  Body body = bodyBegin(lowering, true);
  accessStore(&body, gather->result, coords, -1, 0, value);
  bodyEnd(&body);
}

// What is read outside and where the mask is false.
static MlirValue otherAt(Body *body, const Gather *gather, const Coord *coords) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = gather->result->shape.element;
  if (gather->other.ptr)
    return elementAt(body, gather->other, coords);
  if (gather->reached.access && mlirTypeIsAFloat(element))
    return tileBuildFloat(builder, element, gather->reached.access->pad);
  return buildZero(builder, element);
}

static void gatherElement(Body *outer, const Coord *coords, void *data) {
  const Gather *gather = data;
  Lowering *lowering = outer->lowering;
  storeResult(lowering, gather, coords, otherAt(outer, gather, coords));
  MlirValue mask = gather->mask.ptr ? elementAt(outer, gather->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = openIf(lowering, mask);
  Body body = bodyBegin(lowering, false);
  Place place = placeReached(&body, &gather->reached, coords);
  bodyEnd(&body);
  if (tileKeywordIs(gather->op, "bounds", "trap"))
    trapOutside(lowering, &place);
  TileBuilder beforeRead = openIf(lowering, place.inside);
  storeResult(lowering, gather, coords, placeLoad(lowering, &place));
  closeIf(lowering, place.inside, beforeRead);
  closeIf(lowering, mask, beforeMask);
}

bool gathersNow(MlirOperation gather) {
  MlirType source = tileOperandType(gather, 0);
  if (isTile(source))
    return !tileOpAttribute(gather, "axis").ptr;
  bool hasMask = tileOpOperand(gather, "mask").ptr, hasOther = tileOpOperand(gather, "other").ptr;
  return (hasMask && tileKeywordIs(gather, "bounds", "trap")) || (hasOther && tileKeywordIs(gather, "bounds", "drop"));
}

bool gatherNow(Lowering *lowering, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  Shape shape = shapeOf(mlirValueGetType(result));
  Gather gather = {.op = op, .mask = tileOpOperand(op, "mask"), .other = tileOpOperand(op, "other")};
  if (!reach(lowering, op, mlirOperationGetOperand(op, 0), shape.element, &gather.reached))
    return false;
  gather.result = bufferNew(lowering, &shape);
  forEachElementOf(lowering, op, &shape, gatherElement, &gather);
  recordMemory(lowering, result, gather.result);
  return true;
}
