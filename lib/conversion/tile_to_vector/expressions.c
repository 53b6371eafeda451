// Evaluates tiles element by element: a lazy value becomes vectors (or scalars) at the coordinates that its user needs,
// at the place of the user. Nothing is stored in between. A body remembers its values, so a value that is used twice is
// computed once.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

//===--- questions about ops -------------------------------------------------------===//

bool vecIsElementwise(MlirOperation op) { return tileOpIsElementwise(op) && mlirOperationGetNumOperands(op) > 0; }

bool vecIsShapeOp(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_Broadcast:
  case TileOp_Transpose:
  case TileOp_Slice:
  case TileOp_Reshape:
    return true;
  default:
    return false;
  }
}

bool vecIsEvaluable(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_Load:
  case TileOp_Iota:
  case TileOp_InBounds:
  case TileOp_Gather:
    return true;
  case TileOp_Reduce:
    return vecIsFours(op);
  case TileOp_Bitcast:
    return vecIsWords(op);
  default:
    return vecIsElementwise(op) || vecIsShapeOp(op) || arithConstantOpIsA(op);
  }
}

//===--- where operands are read -----------------------------------------------------===//

// A broadcast of a scalar has no `axes`: all of them appear.
static bool isAmong(MlirAttribute axes, int64_t axis) {
  if (mlirAttributeIsNull(axes))
    return true;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    if (mlirDenseI64ArrayGetElement(axes, i) == axis)
      return true;
  return false;
}

static VecPlacement placeInBroadcast(MlirOperation op, const VecCoord *coords, intptr_t axis, VecCoord *out,
                                     intptr_t *outAxis) {
  MlirAttribute axes = tileBroadcastOpGetAxes(op);
  intptr_t kept = 0;
  *outAxis = -1;
  if (!vecIsTile(mlirValueGetType(tileBroadcastOpGetInput(op))))
    return VecPlacement_Exact;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(tileOnlyResultType(op)); ++d) {
    if (isAmong(axes, d))
      continue;
    if (d == axis)
      *outAxis = kept;
    out[kept++] = coords[d];
  }
  return VecPlacement_Exact;
}

static VecPlacement placeInTranspose(MlirOperation op, const VecCoord *coords, intptr_t axis, VecCoord *out,
                                     intptr_t *outAxis) {
  MlirAttribute permutation = tileTransposeOpGetPermutation(op);
  for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(permutation); ++d)
    out[mlirDenseI64ArrayGetElement(permutation, d)] = coords[d];
  *outAxis = axis < 0 ? -1 : mlirDenseI64ArrayGetElement(permutation, axis);
  return VecPlacement_Exact;
}

static VecPlacement placeInSlice(VecLowering *lowering, MlirOperation op, const VecCoord *coords, intptr_t axis,
                                 VecCoord *out, intptr_t *outAxis) {
  MlirAttribute offsets = tileSliceOpGetStaticOffsets(op);
  intptr_t next = 0;
  for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(offsets); ++d) {
    int64_t offset = mlirDenseI64ArrayGetElement(offsets, d);
    if (offset == mlirShapedTypeGetDynamicSize()) {
      MlirValue start = vecScalarOf(lowering, tileSliceOpGetOffsets(op, next++));
      out[d] = vecCoordSum(&lowering->builder, coords[d], vecCoordOf(start));
    } else {
      out[d] = vecCoordPlus(coords[d], offset);
    }
  }
  *outAxis = axis;
  return VecPlacement_Exact;
}

static VecCoord linearIndex(TileBuilder *builder, const VecShape *shape, intptr_t count, const VecCoord *coords) {
  VecCoord linear = vecCoordConstant(0);
  for (intptr_t d = 0; d < count; ++d)
    linear = vecCoordSum(builder, vecCoordTimes(builder, linear, shape->sizes[d]), coords[d]);
  return linear;
}

static void delinearize(TileBuilder *builder, VecCoord linear, const VecShape *shape, intptr_t count,
                        VecCoord *coords) {
  for (intptr_t d = count - 1; d >= 0; --d) {
    coords[d] = d == 0 ? linear : vecCoordModulo(builder, linear, shape->sizes[d]);
    linear = vecCoordDivide(builder, linear, shape->sizes[d]);
  }
}

static VecPlacement placeInReshape(VecLowering *lowering, MlirOperation op, const VecCoord *coords, intptr_t axis,
                                   int64_t width, VecCoord *out, intptr_t *outAxis) {
  VecShape to = vecShapeOf(mlirValueGetType(tileReshapeOpGetResult(op)));
  VecShape from = vecShapeOfValue(tileReshapeOpGetInput(op));
  intptr_t same = 0; // trailing dimensions that stay as they are
  while (same < to.rank && same < from.rank && to.sizes[to.rank - 1 - same] == from.sizes[from.rank - 1 - same])
    ++same;
  VecCoord linear = linearIndex(&lowering->builder, &to, to.rank - same, coords);
  delinearize(&lowering->builder, linear, &from, from.rank - same, out);
  for (intptr_t i = 0; i < same; ++i)
    out[from.rank - 1 - i] = coords[to.rank - 1 - i];
  *outAxis = axis < 0 ? -1 : axis - to.rank + from.rank;
  if (axis < 0 || axis >= to.rank - same)
    return VecPlacement_Exact;
  bool fits = same == 0 && axis == to.rank - 1 && vecShapeLast(&to) % width == 0 && vecShapeLast(&from) % width == 0;
  return fits ? VecPlacement_Chunk : VecPlacement_Lanes;
}

VecPlacement vecPlaceInOperand(VecLowering *lowering, MlirOperation op, const VecCoord *coords, intptr_t axis,
                               int64_t width, VecCoord *out, intptr_t *outAxis) {
  switch (tileOpKind(op)) {
  case TileOp_Broadcast:
    return placeInBroadcast(op, coords, axis, out, outAxis);
  case TileOp_Transpose:
    return placeInTranspose(op, coords, axis, out, outAxis);
  case TileOp_Slice:
    return placeInSlice(lowering, op, coords, axis, out, outAxis);
  case TileOp_Reshape:
    return placeInReshape(lowering, op, coords, axis, width, out, outAxis);
  default:
    break;
  }
  bool isExact = !tileReduceOpIsA(op) && !tileBitcastOpIsA(op); // these count another number of elements
  intptr_t rank = mlirShapedTypeGetRank(tileOnlyResultType(op));
  memcpy(out, coords, rank * sizeof *out);
  *outAxis = axis;
  return isExact ? VecPlacement_Exact : VecPlacement_Lanes;
}

//===--- walks over an expression -------------------------------------------------------===//

static void collectBehind(VecLowering *lowering, VecRecord *record, VecRecords *records, intptr_t *capacity) {
  if (record->kind == VecRecord_Scalar || record->visited == lowering->walks)
    return;
  record->visited = lowering->walks;
  bool hasOperands = record->kind == VecRecord_Lazy && !tileLoadOpIsA(record->op);
  for (intptr_t i = 0; hasOperands && i < mlirOperationGetNumOperands(record->op); ++i) {
    VecRecord *operand = vecRecordOf(lowering, mlirOperationGetOperand(record->op, i));
    if (operand && operand->kind != VecRecord_Access)
      collectBehind(lowering, operand, records, capacity);
  }
  if (records->count == *capacity) {
    *capacity = *capacity * 2 + 16;
    VecRecord **grown = vecLoweringAllocate(lowering, *capacity * sizeof *grown);
    if (records->count)
      memcpy(grown, records->items, records->count * sizeof *grown);
    records->items = grown;
  }
  records->items[records->count++] = record;
}

VecRecords vecRecordsBehind(VecLowering *lowering, VecRecord *record) {
  VecRecords records = {NULL, 0};
  intptr_t capacity = 0;
  ++lowering->walks;
  collectBehind(lowering, record, &records, &capacity);
  return records;
}

bool vecIsRead(const VecRecord *record) {
  return record->kind == VecRecord_Memory || (record->kind == VecRecord_Lazy && tileLoadOpIsA(record->op));
}

bool vecMayLeave(VecLowering *lowering, VecRecord *record) {
  VecRecords records = vecRecordsBehind(lowering, record);
  for (intptr_t i = 0; i < records.count; ++i)
    if (vecIsRead(records.items[i]) && vecAccessMayLeave(records.items[i]->access))
      return true;
  return false;
}

MlirValue vecAllInside(VecLowering *lowering, VecRecord *record) {
  VecRecords records = vecRecordsBehind(lowering, record);
  MlirValue inside = {NULL};
  for (intptr_t i = 0; i < records.count; ++i)
    if (vecIsRead(records.items[i]))
      inside = vecBuildAnd(&lowering->builder, inside, vecAccessIsInside(&lowering->builder, records.items[i]->access));
  return inside;
}

//===--- registers read at coordinates known late ------------------------------------------===//

static void copyOut(VecLowering *lowering, VecRecord *record) {
  if (!record->access)
    record->access = vecBufferNew(lowering, &record->shape);
  VecBody body = vecBodyBegin(lowering, true);
  const VecShape *shape = &record->shape;
  int64_t perRow = (vecShapeLast(shape) + lowering->widths.lanes - 1) / lowering->widths.lanes;
  for (int64_t i = 0; i < vecNumRegisters(lowering, shape); ++i) {
    VecCoord coords[MaxRank];
    delinearize(&lowering->builder, vecCoordConstant(i / perRow), shape, shape->rank - 1, coords);
    coords[shape->rank - 1] = vecCoordConstant(i % perRow * lowering->widths.lanes);
    int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(record->registers[i]), 0);
    vecAccessStore(&body, record->access, coords, shape->rank - 1, width, record->registers[i]);
  }
  vecBodyEnd(&body);
}

// Whole chunks of the operand are read at constant coordinates where the result is: broadcasts, rows that are taken or
// get another rank.
static bool readsChunks(const VecLowering *lowering, MlirOperation op) {
  if (tileBroadcastOpIsA(op))
    return true;
  if (tileSliceOpIsA(op)) {
    MlirAttribute offsets = tileSliceOpGetStaticOffsets(op);
    bool areKnown = true;
    for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(offsets); ++d)
      areKnown = areKnown && mlirDenseI64ArrayGetElement(offsets, d) != mlirShapedTypeGetDynamicSize();
    intptr_t last = mlirDenseArrayGetNumElements(offsets) - 1;
    return areKnown && last >= 0 && mlirDenseI64ArrayGetElement(offsets, last) % lowering->widths.lanes == 0;
  }
  if (!tileReshapeOpIsA(op) || !vecIsTile(mlirValueGetType(tileReshapeOpGetInput(op))) ||
      !vecIsTile(tileOnlyResultType(op)))
    return false;
  VecShape to = vecShapeOf(tileOnlyResultType(op)), from = vecShapeOf(mlirValueGetType(tileReshapeOpGetInput(op)));
  return vecShapeLast(&to) == vecShapeLast(&from);
}

// Whether all ways from `record` to registers keep chunks whole.
static bool keepsChunks(VecLowering *lowering, const VecRecords *records) {
  for (intptr_t i = 0; i < records->count; ++i) {
    VecRecord *record = records->items[i];
    if (record->kind != VecRecord_Lazy || readsChunks(lowering, record->op) ||
        !(vecIsShapeOp(record->op) || (tileReduceOpIsA(record->op) && vecIsFours(record->op)) ||
          tileBitcastOpIsA(record->op)))
      continue;
    VecRecords behind = vecRecordsBehind(lowering, record);
    for (intptr_t j = 0; j < behind.count; ++j)
      if (behind.items[j]->kind == VecRecord_Registers)
        return false;
  }
  return true;
}

static void rememberSpilled(VecLowering *lowering, VecRecord *record) {
  if (lowering->numSpilled == lowering->maxSpilled) {
    lowering->maxSpilled = lowering->maxSpilled * 2 + 16;
    VecRecord **grown = vecLoweringAllocate(lowering, lowering->maxSpilled * sizeof *grown);
    if (lowering->numSpilled)
      memcpy(grown, lowering->spilled, lowering->numSpilled * sizeof *grown);
    lowering->spilled = grown;
  }
  lowering->spilled[lowering->numSpilled++] = record;
}

intptr_t vecSpill(VecLowering *lowering, VecRecord *record, bool unrolled) {
  intptr_t mark = lowering->numSpilled;
  VecRecords records = vecRecordsBehind(lowering, record);
  if (unrolled && keepsChunks(lowering, &records))
    return mark;
  for (intptr_t i = 0; i < records.count; ++i) {
    VecRecord *behind = records.items[i];
    if (behind->kind != VecRecord_Registers)
      continue;
    copyOut(lowering, behind);
    behind->kind = VecRecord_Memory;
    rememberSpilled(lowering, behind);
  }
  return mark;
}

void vecUnspill(VecLowering *lowering, intptr_t mark) {
  while (lowering->numSpilled > mark)
    lowering->spilled[--lowering->numSpilled]->kind = VecRecord_Registers;
}

//===--- bodies ---------------------------------------------------------------------------===//

VecBody vecBodyBegin(VecLowering *lowering, bool inside) { return (VecBody){.lowering = lowering, .inside = inside}; }

void vecBodyEnd(VecBody *body) {
  free(body->done);
  body->done = NULL;
  body->numDone = 0;
}

static bool isAt(const VecEvaluation *done, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                 int64_t width) {
  if (done->record != record || done->width != width || done->axis != axis)
    return false;
  for (intptr_t d = 0; d < record->shape.rank; ++d)
    if (!vecCoordEquals(done->coords[d], coords[d]))
      return false;
  return true;
}

MlirValue vecRemembered(const VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                        int64_t width) {
  for (intptr_t i = body->numDone - 1; i >= 0; --i)
    if (isAt(&body->done[i], record, coords, axis, width))
      return body->done[i].result;
  return (MlirValue){NULL};
}

void vecRemember(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width,
                 MlirValue result) {
  body->done = tessera_grow(body->done, body->numDone, sizeof *body->done);
  VecEvaluation *done = &body->done[body->numDone++];
  *done = (VecEvaluation){.record = record, .axis = axis, .width = width, .result = result};
  memcpy(done->coords, coords, record->shape.rank * sizeof *coords);
}

//===--- evaluation --------------------------------------------------------------------------===//

static MlirValue evaluateConstant(VecBody *body, const VecRecord *record, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  MlirType type = vecVectorOf(record->shape.element, width);
  MlirAttribute value = mlirDenseElementsAttrGetSplatValue(arithConstantOpGetValue(record->op));
  if (width)
    value = mlirDenseElementsAttrSplatGet(type, value);
  return tileBuildConstant(builder, value);
}

static MlirType elementwiseType(MlirType type, int64_t width) {
  return vecIsTile(type) ? vecVectorOf(mlirShapedTypeGetElementType(type), width) : type;
}

// The operands of an elementwise op at the same place.
static void evaluateOperands(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                             int64_t width, MlirValue *values) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    MlirValue source = mlirOperationGetOperand(record->op, i);
    values[i] = vecIsTile(mlirValueGetType(source)) ? vecEvaluateOperand(body, source, coords, axis, width)
                                                    : vecScalarOf(body->lowering, source);
  }
}

static MlirValue evaluateConversion(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                                    int64_t width) {
  MlirValue operands[2] = {{NULL}, {NULL}};
  evaluateOperands(body, record, coords, axis, width, operands);
  TileNumberConversion conversion = tileConversionOf(record->op);
  return tileBuildConversion(&body->lowering->builder, &conversion, operands[0], operands[1]);
}

static MlirValue evaluateElementwise(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
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
  return arithIndexCastOpBuild(builder, vecVectorOf(element, width), index);
}

static MlirValue evaluateIota(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                              int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  intptr_t dim = tileIotaOpGetDimValue(record->op);
  MlirType element = record->shape.element;
  MlirValue number = castIndex(builder, vecCoordValue(builder, coords[dim]), element, 0);
  MlirValue from = tileIotaOpGetFrom(record->op);
  if (!mlirValueIsNull(from))
    number = arithAddIOpBuild(builder, number, vecScalarOf(body->lowering, from));
  MlirValue numbers = vecBuildSplat(builder, number, width);
  if (!width || axis != dim)
    return numbers;
  MlirType index = mlirIndexTypeGet(builder->context);
  MlirValue lanes = vectorStepOpBuild(builder, vecVectorOf(index, width));
  return arithAddIOpBuild(builder, numbers, castIndex(builder, lanes, element, width));
}

MlirValue vecEvaluateLanes(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  VecLowering *lowering = body->lowering;
  MlirValue *lanes = vecLoweringAllocate(lowering, width * sizeof *lanes);
  VecCoord at[MaxRank];
  memcpy(at, coords, record->shape.rank * sizeof *at);
  for (int64_t lane = 0; lane < width; ++lane, ++at[axis].offset)
    lanes[lane] = vecEvaluate(body, record, at, -1, 0);
  MlirType type = vecVectorOf(record->shape.element, width);
  return vectorFromElementsOpBuild(&lowering->builder, type, width, lanes);
}

static MlirValue evaluateShapeOp(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis,
                                 int64_t width) {
  VecLowering *lowering = body->lowering;
  MlirValue source = tileMovedTile(record->op);
  VecCoord at[MaxRank];
  intptr_t sourceAxis;
  if (vecPlaceInOperand(lowering, record->op, coords, axis, width, at, &sourceAxis) == VecPlacement_Lanes)
    return vecEvaluateLanes(body, record, coords, axis, width);
  int64_t sourceWidth = sourceAxis < 0 ? 0 : width;
  MlirValue value = vecIsTile(mlirValueGetType(source)) ? vecEvaluateOperand(body, source, at, sourceAxis, sourceWidth)
                                                        : vecScalarOf(lowering, source);
  return sourceWidth == width ? value : vecBuildSplat(&lowering->builder, value, width);
}

// The mask of the view's tile, known or not.
static MlirValue evaluateInBounds(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                                  int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  VecBody asking = *body;
  asking.inside = false;
  intptr_t along = axis < 0 ? record->shape.rank - 1 : axis;
  MlirValue mask = vecAccessMask(&asking, record->access, coords, along, width ? width : 1);
  if (mlirValueIsNull(mask))
    return tileBuildInteger(builder, vecVectorOf(record->shape.element, width), 1);
  return width ? mask : vecBuildLane(builder, mask, 0);
}

static MlirValue evaluateLazy(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  switch (tileOpKind(record->op)) {
  case TileOp_Load:
    return vecAccessLoad(body, record->access, coords, axis, width);
  case TileOp_Iota:
    return evaluateIota(body, record, coords, axis, width);
  case TileOp_InBounds:
    return evaluateInBounds(body, record, coords, axis, width);
  case TileOp_Gather:
    return vecEvaluateGather(body, record, coords, axis, width);
  case TileOp_ConvertType:
    return evaluateConversion(body, record, coords, axis, width);
  case TileOp_Reduce:
    return vecEvaluateFours(body, record, coords, axis, width);
  case TileOp_Bitcast:
    return vecEvaluateWords(body, record, coords, axis, width);
  default:
    break;
  }
  if (arithConstantOpIsA(record->op))
    return evaluateConstant(body, record, width);
  if (vecIsShapeOp(record->op))
    return evaluateShapeOp(body, record, coords, axis, width);
  MlirValue added = {NULL};
  if (arithAddIOpIsA(record->op))
    added = vecEvaluateAddedFours(body, record, coords, axis, width);
  if (!mlirValueIsNull(added))
    return added;
  return evaluateElementwise(body, record, coords, axis, width);
}

// Coordinates are constants here, and vectors are whole chunks (spill saw to it), or begin one: of a row that is taken
// without its end.
static MlirValue evaluateRegister(VecBody *body, const VecRecord *record, const VecCoord *coords, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  int64_t lanes = body->lowering->widths.lanes, perRow = (vecShapeLast(&record->shape) + lanes - 1) / lanes;
  intptr_t last = record->shape.rank - 1;
  int64_t row = linearIndex(builder, &record->shape, last, coords).offset;
  MlirValue chunk = record->registers[row * perRow + coords[last].offset / lanes];
  if (!width)
    return vecBuildLane(builder, chunk, coords[last].offset % lanes);
  return width < mlirShapedTypeGetDimSize(mlirValueGetType(chunk), 0) ? vecBuildLanes(builder, chunk, 0, width) : chunk;
}

MlirValue vecEvaluate(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  if (record->kind == VecRecord_Scalar)
    return vecBuildSplat(&body->lowering->builder, record->value, width);
  if (!width)
    axis = -1;
  MlirValue result = vecRemembered(body, record, coords, axis, width);
  if (!mlirValueIsNull(result))
    return result;
  if (record->kind == VecRecord_Lazy)
    result = evaluateLazy(body, record, coords, axis, width);
  else if (record->kind == VecRecord_Registers)
    result = evaluateRegister(body, record, coords, width);
  else
    result = vecAccessLoad(body, record->access, coords, axis, width);
  vecRemember(body, record, coords, axis, width, result);
  return result;
}

MlirValue vecEvaluateOperand(VecBody *body, MlirValue source, const VecCoord *coords, intptr_t axis, int64_t width) {
  return vecEvaluate(body, vecRecordOf(body->lowering, source), coords, axis, width);
}

//===--- conversion of elements ---------------------------------------------------------------===//

MlirValue vecConvertElement(TileBuilder *builder, MlirValue value, MlirType element, int64_t width) {
  MlirType type = mlirValueGetType(value);
  MlirType from = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeEqual(from, element))
    return value;
  bool wider = vecBitsOf(element) > vecBitsOf(from);
  if (mlirTypeIsAFloat(element) && mlirTypeIsAFloat(from))
    return tileBuildCast(builder, wider ? ArithOp_ExtF : ArithOp_TruncF, value, vecVectorOf(element, width));
  if (mlirTypeIsAFloat(element))
    return arithSIToFPOpBuild(builder, vecVectorOf(element, width), value);
  return tileBuildCast(builder, wider ? ArithOp_ExtSI : ArithOp_TruncI, value, vecVectorOf(element, width));
}
