// Roots that work on one element at a time: loops over the coordinates of a shape, whose bodies read scalars. They
// serve ops whose places or amounts are data (scatter, atomics, histogram, sort), whose work per element outweighs
// vectors.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- loops ---------------------------------------------------------------------------===//

TileBuilder vecOpenElements(VecLowering *lowering, int64_t size, VecCoord *coord) {
  TileBuilder before = lowering->builder;
  if (size == 1) {
    *coord = vecCoordConstant(0);
    return before;
  }
  MlirBlock body;
  TileBuilder *builder = &lowering->builder;
  tileBuildFor(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, size), tileBuildIndex(builder, 1), 0, NULL,
               &body);
  *coord = vecCoordOf(mlirBlockGetArgument(body, 0));
  vecEnter(lowering, body);
  return before;
}

void vecCloseElements(VecLowering *lowering, int64_t size, TileBuilder before) {
  if (size == 1)
    return;
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

typedef struct Elements {
  const VecShape *shape;
  VecElementVisitor visit;
  void *data;
  intptr_t skipped; // dimension without a loop, or -1
  VecCoord coords[MaxRank];
} Elements;

static void visitFrom(VecLowering *lowering, Elements *elements, intptr_t d) {
  if (d == elements->shape->rank) {
    VecBody body = vecBodyBegin(lowering, false);
    elements->visit(&body, elements->coords, elements->data);
    vecBodyEnd(&body);
    return;
  }
  if (d == elements->skipped) {
    elements->coords[d] = vecCoordConstant(0);
    visitFrom(lowering, elements, d + 1);
    return;
  }
  TileBuilder before = vecOpenElements(lowering, elements->shape->sizes[d], &elements->coords[d]);
  visitFrom(lowering, elements, d + 1);
  vecCloseElements(lowering, elements->shape->sizes[d], before);
}

void vecForEachElementBut(VecLowering *lowering, const VecShape *shape, intptr_t skipped, VecElementVisitor visit,
                          void *data) {
  Elements elements = {.shape = shape, .visit = visit, .data = data, .skipped = skipped};
  if (vecShapeCount(shape) > 0)
    visitFrom(lowering, &elements, 0);
}

void vecForEachElement(VecLowering *lowering, const VecShape *shape, VecElementVisitor visit, void *data) {
  vecForEachElementBut(lowering, shape, -1, visit, data);
}

//===--- operands ---------------------------------------------------------------------------===//

intptr_t vecSpillOperands(VecLowering *lowering, MlirOperation op) {
  intptr_t mark = lowering->numSpilled;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (vecIsTile(tileOperandType(op, i)))
      vecSpill(lowering, vecRecordOf(lowering, mlirOperationGetOperand(op, i)), false);
  return mark;
}

void vecForEachElementOf(VecLowering *lowering, MlirOperation op, const VecShape *shape, VecElementVisitor visit,
                         void *data) {
  intptr_t mark = vecSpillOperands(lowering, op);
  vecForEachElement(lowering, shape, visit, data);
  vecUnspill(lowering, mark);
}

MlirValue vecElementAt(VecBody *body, MlirValue source, const VecCoord *coords) {
  return vecEvaluateOperand(body, source, coords, -1, 0);
}

VecShape vecShapeOfValue(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return vecIsTile(type) ? vecShapeOf(type) : (VecShape){.rank = 0, .element = type};
}

//===--- conditions ----------------------------------------------------------------------------===//

TileBuilder vecOpenIf(VecLowering *lowering, MlirValue condition) {
  TileBuilder before = lowering->builder;
  if (mlirValueIsNull(condition))
    return before;
  MlirBlock then;
  vecBuildIf(&lowering->builder, condition, 0, NULL, &then, NULL);
  vecEnter(lowering, then);
  return before;
}

void vecCloseIf(VecLowering *lowering, MlirValue condition, TileBuilder before) {
  if (mlirValueIsNull(condition))
    return;
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}
