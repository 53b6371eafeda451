// tile.scatter: element by element, in order; with `combine` atomically, as other instances may reach the same place.
#include "lib/conversion/tile_to_vector/memory/places.h"

#include "mlir-c/BuiltinAttributes.h"

typedef struct Scatter {
  MlirOperation op;
  VecReached reached;
  MlirValue mask; // of the kernel; null: none
} Scatter;

static void writeElement(VecBody *body, const Scatter *scatter, const VecPlace *place, const VecCoord *coords) {
  VecLowering *lowering = body->lowering;
  MlirAttribute combine = tileScatterOpGetCombine(scatter->op);
  MlirValue value = vecElementAt(body, tileScatterOpGetValue(scatter->op), coords);
  if (mlirAttributeIsNull(combine)) {
    vecPlaceStore(lowering, place, value);
    return;
  }
  VecCell cell = vecPlaceCell(&lowering->builder, place);
  vecCombineAtomically(&lowering->builder, mlirStringAttrGetValue(combine), tileString("relaxed"), &cell, value);
}

static void scatterElement(VecBody *outer, const VecCoord *coords, void *data) {
  const Scatter *scatter = data;
  VecLowering *lowering = outer->lowering;
  MlirValue mask = !mlirValueIsNull(scatter->mask) ? vecElementAt(outer, scatter->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = vecOpenIf(lowering, mask);
  VecBody body = vecBodyBegin(lowering, false);
  VecPlace place = vecPlaceReached(&body, &scatter->reached, coords);
  if (vecKeywordIs(tileScatterOpGetBounds(scatter->op), "trap"))
    vecTrapOutside(lowering, &place);
  vecBodyEnd(&body);
  TileBuilder beforeWrite = vecOpenIf(lowering, place.inside);
  body = vecBodyBegin(lowering, false);
  writeElement(&body, scatter, &place, coords);
  vecBodyEnd(&body);
  vecCloseIf(lowering, place.inside, beforeWrite);
  vecCloseIf(lowering, mask, beforeMask);
}

bool vecLowerScatter(VecLowering *lowering, MlirOperation op) {
  Scatter scatter = {.op = op, .mask = tileScatterOpGetMask(op)};
  VecShape shape = vecShapeOfValue(tileScatterOpGetValue(op));
  scatter.reached = (VecReached){.op = op, .base = tileScatterOpGetDestination(op), .element = shape.element};
  scatter.reached.first = tileScatterOpGetIndicesBegin(op);
  if (!vecReach(lowering, &scatter.reached))
    return false;
  if (!mlirAttributeIsNull(tileScatterOpGetCombine(op)) && !vecExpectAtomic(&scatter.reached))
    return false;
  vecForEachElementOf(lowering, op, &shape, scatterElement, &scatter);
  return true;
}
