// Evaluating tiles element by element: a lazy value becomes vectors (or scalars) at the coordinates its user asks for,
// where the user is. Nothing is stored in between; a Body remembers what it has, so a value used twice is computed
// once.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

//===--- questions about ops -------------------------------------------------------===//

bool isElementwise(MlirOperation op) {
  if (tileOpIs(op, "tile.convert_type"))
    return true;
  return (tileOpNameStartsWith(op, "arith.") || tileOpNameStartsWith(op, "math.")) &&
         mlirOperationGetNumOperands(op) > 0 && mlirOperationGetNumRegions(op) == 0;
}

bool isShapeOp(MlirOperation op) {
  return tileOpIs(op, "tile.broadcast") || tileOpIs(op, "tile.transpose") || tileOpIs(op, "tile.slice") ||
         tileOpIs(op, "tile.reshape");
}

bool isEvaluable(MlirOperation op) {
  return isElementwise(op) || isShapeOp(op) || tileOpIs(op, "arith.constant") || tileOpIs(op, "tile.load") ||
         tileOpIs(op, "tile.iota") || tileOpIs(op, "tile.in_bounds") || tileOpIs(op, "tile.gather");
}

//===--- where operands are read -----------------------------------------------------===//

// A broadcast of a scalar has no `axes`: all of them appear.
static bool isAmong(MlirAttribute axes, int64_t axis) {
  if (!axes.ptr)
    return true;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    if (mlirDenseI64ArrayGetElement(axes, i) == axis)
      return true;
  return false;
}

static Placement placeInBroadcast(MlirOperation op, const Coord *coords, intptr_t axis, Coord *out, intptr_t *outAxis) {
  MlirAttribute axes = tileOpAttribute(op, "axes");
  intptr_t kept = 0;
  *outAxis = -1;
  if (!isTile(tileOperandType(op, 0)))
    return Placement_Exact;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(tileResultType(op, 0)); ++d) {
    if (isAmong(axes, d))
      continue;
    if (d == axis)
      *outAxis = kept;
    out[kept++] = coords[d];
  }
  return Placement_Exact;
}

static Placement placeInTranspose(MlirOperation op, const Coord *coords, intptr_t axis, Coord *out, intptr_t *outAxis) {
  MlirAttribute permutation = tileOpAttribute(op, "permutation");
  for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(permutation); ++d)
    out[mlirDenseI64ArrayGetElement(permutation, d)] = coords[d];
  *outAxis = axis < 0 ? -1 : mlirDenseI64ArrayGetElement(permutation, axis);
  return Placement_Exact;
}

static Placement placeInSlice(Lowering *lowering, MlirOperation op, const Coord *coords, intptr_t axis, Coord *out,
                              intptr_t *outAxis) {
  MlirAttribute offsets = tileOpAttribute(op, "static_offsets");
  intptr_t operand = 1;
  for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(offsets); ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, d);
    if (offset == mlirShapedTypeGetDynamicSize()) {
      MlirValue start = scalarOf(lowering, mlirOperationGetOperand(op, operand++));
      out[d] = coordSum(&lowering->builder, coords[d], coordOf(start));
    } else {
      out[d] = coordPlus(coords[d], offset);
    }
  }
  *outAxis = axis;
  return Placement_Exact;
}

static Coord linearIndex(TileBuilder *builder, const Shape *shape, intptr_t count, const Coord *coords) {
  Coord linear = coordConstant(0);
  for (intptr_t d = 0; d < count; ++d)
    linear = coordSum(builder, coordTimes(builder, linear, shape->sizes[d]), coords[d]);
  return linear;
}

static void delinearize(TileBuilder *builder, Coord linear, const Shape *shape, intptr_t count, Coord *coords) {
  for (intptr_t d = count - 1; d >= 0; --d) {
    coords[d] = d == 0 ? linear : coordModulo(builder, linear, shape->sizes[d]);
    linear = coordDivide(builder, linear, shape->sizes[d]);
  }
}

static Placement placeInReshape(Lowering *lowering, MlirOperation op, const Coord *coords, intptr_t axis, int64_t width,
                                Coord *out, intptr_t *outAxis) {
  Shape to = shapeOf(tileResultType(op, 0)), from = shapeOfValue(mlirOperationGetOperand(op, 0));
  intptr_t same = 0; // trailing dimensions that stay as they are
  while (same < to.rank && same < from.rank && to.sizes[to.rank - 1 - same] == from.sizes[from.rank - 1 - same])
    ++same;
  Coord linear = linearIndex(&lowering->builder, &to, to.rank - same, coords);
  delinearize(&lowering->builder, linear, &from, from.rank - same, out);
  for (intptr_t i = 0; i < same; ++i)
    out[from.rank - 1 - i] = coords[to.rank - 1 - i];
  *outAxis = axis < 0 ? -1 : axis - to.rank + from.rank;
  if (axis < 0 || axis >= to.rank - same)
    return Placement_Exact;
  bool fits = same == 0 && axis == to.rank - 1 && shapeLast(&to) % width == 0 && shapeLast(&from) % width == 0;
  return fits ? Placement_Chunk : Placement_Lanes;
}

Placement placeInOperand(Lowering *lowering, MlirOperation op, const Coord *coords, intptr_t axis, int64_t width,
                         Coord *out, intptr_t *outAxis) {
  if (tileOpIs(op, "tile.broadcast"))
    return placeInBroadcast(op, coords, axis, out, outAxis);
  if (tileOpIs(op, "tile.transpose"))
    return placeInTranspose(op, coords, axis, out, outAxis);
  if (tileOpIs(op, "tile.slice"))
    return placeInSlice(lowering, op, coords, axis, out, outAxis);
  if (tileOpIs(op, "tile.reshape"))
    return placeInReshape(lowering, op, coords, axis, width, out, outAxis);
  intptr_t rank = mlirShapedTypeGetRank(tileResultType(op, 0));
  memcpy(out, coords, rank * sizeof *out);
  *outAxis = axis;
  return Placement_Exact;
}

//===--- walks over an expression -------------------------------------------------------===//

static void collectBehind(Lowering *lowering, Record *record, Records *records, intptr_t *capacity) {
  if (record->kind == Record_Scalar || record->visited == lowering->walks)
    return;
  record->visited = lowering->walks;
  bool hasOperands = record->kind == Record_Lazy && !tileOpIs(record->op, "tile.load");
  for (intptr_t i = 0; hasOperands && i < mlirOperationGetNumOperands(record->op); ++i) {
    Record *operand = recordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && operand->kind != Record_Access)
      collectBehind(lowering, operand, records, capacity);
  }
  if (records->count == *capacity) {
    *capacity = *capacity * 2 + 16;
    Record **grown = loweringAllocate(lowering, *capacity * sizeof *grown);
    if (records->count)
      memcpy(grown, records->items, records->count * sizeof *grown);
    records->items = grown;
  }
  records->items[records->count++] = record;
}

Records recordsBehind(Lowering *lowering, Record *record) {
  Records records = {NULL, 0};
  intptr_t capacity = 0;
  ++lowering->walks;
  collectBehind(lowering, record, &records, &capacity);
  return records;
}

bool isRead(const Record *record) {
  return record->kind == Record_Memory || (record->kind == Record_Lazy && tileOpIs(record->op, "tile.load"));
}

bool mayLeave(Lowering *lowering, Record *record) {
  Records records = recordsBehind(lowering, record);
  for (intptr_t i = 0; i < records.count; ++i)
    if (isRead(records.items[i]) && accessMayLeave(records.items[i]->access))
      return true;
  return false;
}

MlirValue allInside(Lowering *lowering, Record *record) {
  Records records = recordsBehind(lowering, record);
  MlirValue inside = {NULL};
  for (intptr_t i = 0; i < records.count; ++i)
    if (isRead(records.items[i]))
      inside = buildAnd(&lowering->builder, inside, accessIsInside(&lowering->builder, records.items[i]->access));
  return inside;
}

//===--- registers read at coordinates known late ------------------------------------------===//

static void copyOut(Lowering *lowering, Record *record) {
  if (!record->access)
    record->access = bufferNew(lowering, &record->shape);
  Body body = bodyBegin(lowering, true);
  const Shape *shape = &record->shape;
  int64_t perRow = (shapeLast(shape) + lowering->lanes - 1) / lowering->lanes;
  for (int64_t i = 0; i < numRegisters(lowering, shape); ++i) {
    Coord coords[MaxRank];
    delinearize(&lowering->builder, coordConstant(i / perRow), shape, shape->rank - 1, coords);
    coords[shape->rank - 1] = coordConstant(i % perRow * lowering->lanes);
    int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(record->registers[i]), 0);
    accessStore(&body, record->access, coords, shape->rank - 1, width, record->registers[i]);
  }
  bodyEnd(&body);
}

// Whether all ways from `record` to registers keep chunks whole: elementwise ops and broadcasts.
static bool keepsChunks(Lowering *lowering, const Records *records) {
  for (intptr_t i = 0; i < records->count; ++i) {
    const Record *record = records->items[i];
    if (record->kind == Record_Lazy && isShapeOp(record->op) && !tileOpIs(record->op, "tile.broadcast"))
      return false;
  }
  return true;
}

static void rememberSpilled(Lowering *lowering, Record *record) {
  if (lowering->numSpilled == lowering->maxSpilled) {
    lowering->maxSpilled = lowering->maxSpilled * 2 + 16;
    Record **grown = loweringAllocate(lowering, lowering->maxSpilled * sizeof *grown);
    if (lowering->numSpilled)
      memcpy(grown, lowering->spilled, lowering->numSpilled * sizeof *grown);
    lowering->spilled = grown;
  }
  lowering->spilled[lowering->numSpilled++] = record;
}

intptr_t spill(Lowering *lowering, Record *record, bool unrolled) {
  intptr_t mark = lowering->numSpilled;
  Records records = recordsBehind(lowering, record);
  if (unrolled && keepsChunks(lowering, &records))
    return mark;
  for (intptr_t i = 0; i < records.count; ++i) {
    Record *behind = records.items[i];
    if (behind->kind != Record_Registers)
      continue;
    copyOut(lowering, behind);
    behind->kind = Record_Memory;
    rememberSpilled(lowering, behind);
  }
  return mark;
}

void unspill(Lowering *lowering, intptr_t mark) {
  while (lowering->numSpilled > mark)
    lowering->spilled[--lowering->numSpilled]->kind = Record_Registers;
}

//===--- bodies ---------------------------------------------------------------------------===//

Body bodyBegin(Lowering *lowering, bool inside) { return (Body){.lowering = lowering, .inside = inside}; }

void bodyEnd(Body *body) {
  free(body->done);
  body->done = NULL;
  body->numDone = body->capacity = 0;
}

static bool isAt(const Evaluation *done, const Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  if (done->record != record || done->width != width || done->axis != axis)
    return false;
  for (intptr_t d = 0; d < record->shape.rank; ++d)
    if (!coordEquals(done->coords[d], coords[d]))
      return false;
  return true;
}

MlirValue remembered(const Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  for (intptr_t i = body->numDone - 1; i >= 0; --i)
    if (isAt(&body->done[i], record, coords, axis, width))
      return body->done[i].result;
  return (MlirValue){NULL};
}

void remember(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width, MlirValue result) {
  if (body->numDone == body->capacity) {
    body->capacity = body->capacity * 2 + 16;
    body->done = realloc(body->done, body->capacity * sizeof *body->done);
  }
  Evaluation *done = &body->done[body->numDone++];
  *done = (Evaluation){.record = record, .axis = axis, .width = width, .result = result};
  memcpy(done->coords, coords, record->shape.rank * sizeof *coords);
}

//===--- evaluation --------------------------------------------------------------------------===//

static MlirValue evaluateConstant(Body *body, const Record *record, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType type = vectorOf(record->shape.element, width);
  MlirAttribute value = mlirDenseElementsAttrGetSplatValue(tileOpAttribute(record->op, "value"));
  if (width)
    value = mlirDenseElementsAttrSplatGet(type, value);
  return tileBuildValue(builder, "arith.constant", type, 0, NULL, (TileAttributeEntry[]){{"value", value}, {0}});
}

static MlirType elementwiseType(MlirType type, int64_t width) {
  return isTile(type) ? vectorOf(mlirShapedTypeGetElementType(type), width) : type;
}

// The operands of an elementwise op at the same place.
static void evaluateOperands(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width,
                             MlirValue *values) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    MlirValue source = mlirOperationGetOperand(record->op, i);
    values[i] = isTile(mlirValueGetType(source)) ? evaluateOperand(body, source, coords, axis, width)
                                                 : scalarOf(body->lowering, source);
  }
}

static MlirValue evaluateConversion(Body *body, const Record *record, const Coord *coords, intptr_t axis,
                                    int64_t width) {
  MlirValue operands[2] = {{NULL}, {NULL}};
  evaluateOperands(body, record, coords, axis, width, operands);
  return buildConversion(&body->lowering->builder, record->op, operands[0], operands[1], width);
}

static MlirValue evaluateElementwise(Body *body, const Record *record, const Coord *coords, intptr_t axis,
                                     int64_t width) {
  intptr_t numOperands = mlirOperationGetNumOperands(record->op);
  MlirValue operands[numOperands];
  evaluateOperands(body, record, coords, axis, width, operands);
  MlirOperation clone = mlirOperationClone(record->op);
  mlirOperationSetOperands(clone, numOperands, operands);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(clone); ++i)
    mlirValueSetType(mlirOperationGetResult(clone, i), elementwiseType(tileResultType(record->op, i), width));
  tileBuilderInsert(&body->lowering->builder, clone);
  return mlirOperationGetResult(clone, mlirOpResultGetResultNumber(record->source));
}

static MlirValue castIndex(TileBuilder *builder, MlirValue index, MlirType element, int64_t width) {
  if (mlirTypeIsAIndex(element))
    return index;
  return buildUnary(builder, "arith.index_cast", vectorOf(element, width), index);
}

static MlirValue evaluateIota(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  intptr_t dim = mlirIntegerAttrGetValueInt(tileOpAttribute(record->op, "dim"));
  MlirType element = record->shape.element;
  MlirValue number = castIndex(builder, coordValue(builder, coords[dim]), element, 0);
  if (mlirOperationGetNumOperands(record->op)) {
    MlirValue from = scalarOf(body->lowering, mlirOperationGetOperand(record->op, 0));
    number = buildBinary(builder, "arith.addi", number, from);
  }
  MlirValue numbers = buildSplat(builder, number, width);
  if (!width || axis != dim)
    return numbers;
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue lanes = tileBuildValue(builder, "vector.step", vectorOf(index, width), 0, NULL, NULL);
  return buildBinary(builder, "arith.addi", numbers, castIndex(builder, lanes, element, width));
}

MlirValue evaluateLanes(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  Lowering *lowering = body->lowering;
  MlirValue *lanes = loweringAllocate(lowering, width * sizeof *lanes);
  Coord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    lanes[lane] = evaluate(body, record, at, -1, 0);
  MlirType type = vectorOf(record->shape.element, width);
  return tileBuildValue(&lowering->builder, "vector.from_elements", type, width, lanes, NULL);
}

static MlirValue evaluateShapeOp(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  Lowering *lowering = body->lowering;
  MlirValue source = mlirOperationGetOperand(record->op, 0);
  Coord at[MaxRank];
  intptr_t sourceAxis;
  if (placeInOperand(lowering, record->op, coords, axis, width, at, &sourceAxis) == Placement_Lanes)
    return evaluateLanes(body, record, coords, axis, width);
  int64_t sourceWidth = sourceAxis < 0 ? 0 : width;
  MlirValue value = isTile(mlirValueGetType(source)) ? evaluateOperand(body, source, at, sourceAxis, sourceWidth)
                                                     : scalarOf(lowering, source);
  return sourceWidth == width ? value : buildSplat(&lowering->builder, value, width);
}

// The mask of the view's tile, known or not.
static MlirValue evaluateInBounds(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  Body asking = *body;
  asking.inside = false;
  intptr_t along = axis < 0 ? record->shape.rank - 1 : axis;
  MlirValue mask = accessMask(&asking, record->access, coords, along, width ? width : 1);
  if (!mask.ptr)
    return tileBuildInteger(builder, vectorOf(record->shape.element, width), 1);
  if (width)
    return mask;
  int64_t first = 0;
  TileAttributeEntry position[] = {{"static_position", mlirDenseI64ArrayGet(builder->context, 1, &first)}, {0}};
  return tileBuildValue(builder, "vector.extract", record->shape.element, 1, &mask, position);
}

static MlirValue evaluateLazy(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  MlirOperation op = record->op;
  if (tileOpIs(op, "tile.load"))
    return accessLoad(body, record->access, coords, axis, width);
  if (tileOpIs(op, "arith.constant"))
    return evaluateConstant(body, record, width);
  if (tileOpIs(op, "tile.iota"))
    return evaluateIota(body, record, coords, axis, width);
  if (tileOpIs(op, "tile.in_bounds"))
    return evaluateInBounds(body, record, coords, axis, width);
  if (tileOpIs(op, "tile.gather"))
    return evaluateGather(body, record, coords, axis, width);
  if (tileOpIs(op, "tile.convert_type"))
    return evaluateConversion(body, record, coords, axis, width);
  if (isShapeOp(op))
    return evaluateShapeOp(body, record, coords, axis, width);
  return evaluateElementwise(body, record, coords, axis, width);
}

// Coordinates are constants here, and vectors are whole chunks (spill saw to it).
static MlirValue evaluateRegister(Body *body, const Record *record, const Coord *coords, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  int64_t lanes = body->lowering->lanes, perRow = (shapeLast(&record->shape) + lanes - 1) / lanes;
  intptr_t last = record->shape.rank - 1;
  int64_t row = linearIndex(builder, &record->shape, last, coords).offset;
  MlirValue chunk = record->registers[row * perRow + coords[last].offset / lanes];
  if (width)
    return chunk;
  int64_t lane = coords[last].offset % lanes;
  TileAttributeEntry position[] = {{"static_position", mlirDenseI64ArrayGet(builder->context, 1, &lane)}, {0}};
  return tileBuildValue(builder, "vector.extract", record->shape.element, 1, &chunk, position);
}

MlirValue evaluate(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width) {
  if (record->kind == Record_Scalar)
    return buildSplat(&body->lowering->builder, record->value, width);
  if (!width)
    axis = -1;
  MlirValue result = remembered(body, record, coords, axis, width);
  if (result.ptr)
    return result;
  if (record->kind == Record_Lazy)
    result = evaluateLazy(body, record, coords, axis, width);
  else if (record->kind == Record_Registers)
    result = evaluateRegister(body, record, coords, width);
  else
    result = accessLoad(body, record->access, coords, axis, width);
  remember(body, record, coords, axis, width, result);
  return result;
}

MlirValue evaluateOperand(Body *body, MlirValue source, const Coord *coords, intptr_t axis, int64_t width) {
  return evaluate(body, recordOf(body->lowering, source), coords, axis, width);
}

//===--- conversion of elements ---------------------------------------------------------------===//

MlirValue convertElement(TileBuilder *builder, MlirValue value, MlirType element, int64_t width) {
  MlirType type = mlirValueGetType(value);
  MlirType from = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeEqual(from, element))
    return value;
  bool wider = bitsOf(element) > bitsOf(from);
  if (mlirTypeIsAFloat(element) && mlirTypeIsAFloat(from))
    return buildUnary(builder, wider ? "arith.extf" : "arith.truncf", vectorOf(element, width), value);
  if (mlirTypeIsAFloat(element))
    return buildUnary(builder, "arith.sitofp", vectorOf(element, width), value);
  return buildUnary(builder, wider ? "arith.extsi" : "arith.trunci", vectorOf(element, width), value);
}
