// Roots that work on one element at a time: loops over the coordinates of a shape, whose bodies read scalars. For ops
// whose places or amounts are data (scatter, atomics, histogram, sort): what they do per element outweighs vectors.
#include "dialects/tile/tile.h"
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

//===--- loops ---------------------------------------------------------------------------===//

TileBuilder openElements(Lowering *lowering, int64_t size, Coord *coord) {
  TileBuilder before = lowering->builder;
  if (size == 1) {
    *coord = coordConstant(0);
    return before;
  }
  MlirBlock body;
  TileBuilder *builder = &lowering->builder;
  tileBuildFor(builder, tileBuildIndex(builder, 0), tileBuildIndex(builder, size), tileBuildIndex(builder, 1), 0, NULL,
               &body);
  *coord = coordOf(mlirBlockGetArgument(body, 0));
  enter(lowering, body);
  return before;
}

void closeElements(Lowering *lowering, int64_t size, TileBuilder before) {
  if (size == 1)
    return;
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

typedef struct Elements {
  const Shape *shape;
  ElementVisitor visit;
  void *data;
  intptr_t skipped; // dimension without a loop, or -1
  Coord coords[MaxRank];
} Elements;

static void visitFrom(Lowering *lowering, Elements *elements, intptr_t d) {
  if (d == elements->shape->rank) {
    Body body = bodyBegin(lowering, false);
    elements->visit(&body, elements->coords, elements->data);
    bodyEnd(&body);
    return;
  }
  if (d == elements->skipped) {
    elements->coords[d] = coordConstant(0);
    visitFrom(lowering, elements, d + 1);
    return;
  }
  TileBuilder before = openElements(lowering, elements->shape->sizes[d], &elements->coords[d]);
  visitFrom(lowering, elements, d + 1);
  closeElements(lowering, elements->shape->sizes[d], before);
}

void forEachElementBut(Lowering *lowering, const Shape *shape, intptr_t skipped, ElementVisitor visit, void *data) {
  Elements elements = {.shape = shape, .visit = visit, .data = data, .skipped = skipped};
  if (shapeCount(shape) > 0)
    visitFrom(lowering, &elements, 0);
}

void forEachElement(Lowering *lowering, const Shape *shape, ElementVisitor visit, void *data) {
  forEachElementBut(lowering, shape, -1, visit, data);
}

//===--- operands ---------------------------------------------------------------------------===//

intptr_t spillOperands(Lowering *lowering, MlirOperation op) {
  intptr_t mark = lowering->numSpilled;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (isTile(tileOperandType(op, i)))
      spill(lowering, recordOf(lowering, mlirOperationGetOperand(op, i)), false);
  return mark;
}

void forEachElementOf(Lowering *lowering, MlirOperation op, const Shape *shape, ElementVisitor visit, void *data) {
  intptr_t mark = spillOperands(lowering, op);
  forEachElement(lowering, shape, visit, data);
  unspill(lowering, mark);
}

MlirValue elementAt(Body *body, MlirValue source, const Coord *coords) {
  return evaluateOperand(body, source, coords, -1, 0);
}

Shape shapeOfValue(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return isTile(type) ? shapeOf(type) : (Shape){.rank = 0, .element = type};
}

//===--- conditions ----------------------------------------------------------------------------===//

TileBuilder openIf(Lowering *lowering, MlirValue condition) {
  TileBuilder before = lowering->builder;
  if (!condition.ptr)
    return before;
  MlirBlock then;
  buildIf(&lowering->builder, condition, 0, NULL, &then, NULL);
  enter(lowering, then);
  return before;
}

void closeIf(Lowering *lowering, MlirValue condition, TileBuilder before) {
  if (!condition.ptr)
    return;
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = before;
}

MlirValue compareIntegers(TileBuilder *builder, int64_t predicate, MlirValue a, MlirValue b) {
  MlirType word = mlirIntegerTypeGet(builder->context, 64), bit = mlirIntegerTypeGet(builder->context, 1);
  TileAttributeEntry attributes[] = {{"predicate", mlirIntegerAttrGet(word, predicate)}, {0}};
  return tileBuildValue(builder, "arith.cmpi", bit, 2, (MlirValue[]){a, b}, attributes);
}

//===--- bits ----------------------------------------------------------------------------------===//

static MlirType elementOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
}

static MlirType typeLike(MlirValue value, MlirType element) {
  MlirType type = mlirValueGetType(value);
  return vectorOf(element, mlirTypeIsAVector(type) ? mlirShapedTypeGetDimSize(type, 0) : 0);
}

MlirType bitsTypeOf(MlirType element) {
  unsigned width = mlirTypeIsAFloat(element)     ? mlirFloatTypeGetWidth(element)
                   : mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element)
                                                 : 64;
  return mlirIntegerTypeGet(mlirTypeGetContext(element), width);
}

MlirValue bitsOfValue(TileBuilder *builder, MlirValue value) {
  MlirType element = elementOf(value);
  return mlirTypeIsAFloat(element) ? buildUnary(builder, "arith.bitcast", typeLike(value, bitsTypeOf(element)), value)
                                   : value;
}

MlirValue valueOfBits(TileBuilder *builder, MlirValue bits, MlirType element) {
  return mlirTypeIsAFloat(element) ? buildUnary(builder, "arith.bitcast", typeLike(bits, element), bits) : bits;
}

MlirValue integerCast(TileBuilder *builder, MlirValue value, MlirType type, bool isSigned) {
  MlirType from = elementOf(value), result = typeLike(value, type);
  if (mlirTypeEqual(from, type))
    return value;
  if (mlirTypeIsAIndex(from) || mlirTypeIsAIndex(type))
    return buildUnary(builder, isSigned ? "arith.index_cast" : "arith.index_castui", result, value);
  bool wider = mlirIntegerTypeGetWidth(type) > mlirIntegerTypeGetWidth(from);
  return buildUnary(builder, wider ? isSigned ? "arith.extsi" : "arith.extui" : "arith.trunci", result, value);
}
