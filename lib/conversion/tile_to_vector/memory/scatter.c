// tile.scatter: element by element, in order; with `combine` atomically, as other instances may reach the same place.
#include "dialects/tile/questions.h"
#include "lib/conversion/tile_to_vector/memory/places.h"
#include "lib/ir/op_format.h"

#include "mlir-c/BuiltinAttributes.h"

typedef struct Scatter {
  MlirOperation op;
  VecReached reached;
  MlirValue mask; // of the kernel; null: none
} Scatter;

static void writeElement(VecBody *body, const Scatter *scatter, const VecPlace *place, const VecCoord *coords) {
  VecLowering *lowering = body->lowering;
  MlirAttribute combine = tileOpAttribute(scatter->op, "combine");
  MlirValue value = vecElementAt(body, mlirOperationGetOperand(scatter->op, 0), coords);
  if (!combine.ptr) {
    vecPlaceStore(lowering, place, value);
    return;
  }
  VecCell cell = vecPlaceCell(&lowering->builder, place);
  vecCombineAtomically(&lowering->builder, mlirStringAttrGetValue(combine), tileString("relaxed"), &cell, value);
}

static void scatterElement(VecBody *outer, const VecCoord *coords, void *data) {
  const Scatter *scatter = data;
  VecLowering *lowering = outer->lowering;
  MlirValue mask = scatter->mask.ptr ? vecElementAt(outer, scatter->mask, coords) : (MlirValue){NULL};
  TileBuilder beforeMask = vecOpenIf(lowering, mask);
  VecBody body = vecBodyBegin(lowering, false);
  VecPlace place = vecPlaceReached(&body, &scatter->reached, coords);
  if (tileKeywordIs(scatter->op, "bounds", "trap"))
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
  Scatter scatter = {.op = op, .mask = tileOpOperand(op, "mask")};
  VecShape shape = vecShapeOfValue(mlirOperationGetOperand(op, 0));
  if (!vecReach(lowering, op, mlirOperationGetOperand(op, 1), shape.element, &scatter.reached))
    return false;
  if (tileOpAttribute(op, "combine").ptr && !vecExpectAtomic(&scatter.reached))
    return false;
  vecForEachElementOf(lowering, op, &shape, scatterElement, &scatter);
  return true;
}
