// tile.scatter: element by element, in order; with `combine` atomically, as other instances may reach the same place.
#include "dialects/tile/questions.h"
#include "lib/conversion/tile_to_vector/places.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

typedef struct Scatter {
  MlirOperation op;
  Reached reached;
  MlirValue mask; // of the kernel; null: none
} Scatter;

static void writeElement(Body *body, const Scatter *scatter, const Place *place, const Coord *coords) {
  Lowering *lowering = body->lowering;
  MlirAttribute combine = tileOpAttribute(scatter->op, "combine");
  MlirValue value = elementAt(body, mlirOperationGetOperand(scatter->op, 0), coords);
  if (!combine.ptr) {
    placeStore(lowering, place, value);
    return;
  }
  Cell cell = placeCell(&lowering->builder, place);
  combineAtomically(&lowering->builder, mlirStringAttrGetValue(combine), tileString("relaxed"), &cell, value);
}

static void scatterElement(Body *outer, const Coord *coords, void *data) {
  const Scatter *scatter = data;
  Lowering *lowering = outer->lowering;
  MlirValue mask = scatter->mask.ptr ? elementAt(outer, scatter->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = openIf(lowering, mask);
  Body body = bodyBegin(lowering, false);
  Place place = placeReached(&body, &scatter->reached, coords);
  if (tileKeywordIs(scatter->op, "bounds", "trap"))
    trapOutside(lowering, &place);
  bodyEnd(&body);
  TileBuilder beforeWrite = openIf(lowering, place.inside);
  body = bodyBegin(lowering, false);
  writeElement(&body, scatter, &place, coords);
  bodyEnd(&body);
  closeIf(lowering, place.inside, beforeWrite);
  closeIf(lowering, mask, beforeMask);
}

bool lowerScatter(Lowering *lowering, MlirOperation op) {
  Scatter scatter = {.op = op, .mask = tileOpOperand(op, "mask")};
  Shape shape = shapeOfValue(mlirOperationGetOperand(op, 0));
  if (!reach(lowering, op, mlirOperationGetOperand(op, 1), shape.element, &scatter.reached))
    return false;
  if (tileOpAttribute(op, "combine").ptr && !expectAtomic(&scatter.reached))
    return false;
  forEachElementOf(lowering, op, &shape, scatterElement, &scatter);
  return true;
}
