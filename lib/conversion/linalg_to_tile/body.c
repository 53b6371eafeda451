// Clones the scalar body of a linalg op as operations on tiles. See kernel.h.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/ir/op_query.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include <assert.h>

void tileBodyMapSet(TileBodyMap *map, MlirValue from, MlirValue to) {
  assert(map->count < (intptr_t)(sizeof map->entries / sizeof *map->entries) && "body too large");
  map->entries[map->count].from = from;
  map->entries[map->count++].to = to;
}

MlirValue tileBodyMapGet(const TileBodyMap *map, MlirValue from) {
  for (intptr_t i = 0; i < map->count; ++i)
    if (mlirValueEqual(map->entries[i].from, from))
      return map->entries[i].to;
  return (MlirValue){NULL};
}

// A list of bytes with one difference between neighbours, as shifts of packed codes and numbers of parts are.
static bool readProgression(const TileStructured *s, int input, int64_t *first, int64_t *step) {
  const TileOperand *operand = &s->operands[input];
  MlirOperation op = tileDefiningOp(operand->value);
  MlirAttribute list = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(list) || operand->rank != 1 || operand->results[0] < 0 ||
      !mlirAttributeIsADenseElements(list) || mlirElementsAttrGetNumElements(list) < 2 ||
      !mlirTypeIsAInteger(mlirShapedTypeGetElementType(mlirAttributeGetType(list))) ||
      tileElementWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(list))) != 8)
    return false;
  *first = mlirDenseElementsAttrGetInt8Value(list, 0);
  *step = mlirDenseElementsAttrGetInt8Value(list, 1) - *first;
  for (int64_t i = 0; i < mlirElementsAttrGetNumElements(list); ++i)
    if (mlirDenseElementsAttrGetInt8Value(list, i) != *first + i * *step)
      return false;
  return true;
}

// Such a list on a GPU: numbers along an axis of the tile, which threads know without a load. Null: it is something
// else, or its dimension is no axis of the tile as a whole.
static MlirValue buildProgression(TileKernelEmission *e, int input) {
  const TileStructured *s = e->structured;
  int64_t first, step;
  if (!tileStructuredGpu(s) || !readProgression(s, input, &first, &step))
    return (MlirValue){NULL};
  const TileDim *dim = &s->dims[s->operands[input].results[0]];
  if (dim->axis < 0 || dim->tile != dim->extent)
    return (MlirValue){NULL};
  MlirType byte = mlirIntegerTypeGet(e->body.context, 8), tile = tileKernelTileType(e, byte);
  MlirAttribute axis = mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), dim->axis);
  MlirValue numbers = tileIotaOpBuild(&e->body, tile, (MlirValue){NULL}, axis);
  if (step != 1)
    numbers = arithMulIOpBuild(&e->body, numbers, tileKernelConstant(e, mlirIntegerAttrGet(byte, step), tile));
  return first ? arithAddIOpBuild(&e->body, numbers, tileKernelConstant(e, mlirIntegerAttrGet(byte, first), tile))
               : numbers;
}

void tileKernelMapInputs(TileKernelEmission *e, TileBodyMap *map, int begin, int end) {
  for (int i = begin; i < end; ++i) {
    MlirValue argument = mlirBlockGetArgument(e->structured->body, i);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(argument)) || !mlirValueIsNull(tileBodyMapGet(map, argument)))
      continue;
    MlirValue numbers = buildProgression(e, i);
    tileBodyMapSet(map, argument, mlirValueIsNull(numbers) ? tileKernelLoad(e, i, NULL, false) : numbers);
  }
}

// The position along the dimension, which runs along `axis` of the tile; -1: it is the same in the whole tile.
static MlirValue positionAlong(TileKernelEmission *e, int dim, int64_t axis, MlirType tile) {
  if (axis < 0)
    return tileKernelSplat(e, e->index[dim], tile);
  MlirValue first = tileBuildMul(&e->body, e->index[dim], tileBuildIndex(&e->body, e->structured->dims[dim].tile));
  return tileIotaOpBuild(&e->body, tile, first, mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), axis));
}

MlirValue tileKernelPosition(TileKernelEmission *e, int dim, MlirType tile) {
  return positionAlong(e, dim, e->structured->dims[dim].axis, tile);
}

MlirValue tileKernelInsideAlong(TileKernelEmission *e, int dim, int64_t axis, MlirType tile) {
  MlirType positions = tileTypeWithElement(tile, mlirIndexTypeGet(e->body.context));
  MlirValue position = positionAlong(e, dim, axis, positions);
  return arithCmpIOpBuild(&e->body, position, tileKernelSplat(e, tileKernelExtent(e, dim), positions), ArithCmpI_Ult);
}

MlirValue tileKernelInside(TileKernelEmission *e, int dim) {
  MlirType tile = tileKernelTileType(e, mlirIndexTypeGet(e->body.context));
  return tileKernelInsideAlong(e, dim, e->structured->dims[dim].axis, tile);
}

MlirValue tileKernelConstant(TileKernelEmission *e, MlirAttribute value, MlirType tile) {
  if (mlirTypeIsARankedTensor(tile))
    value = mlirDenseElementsAttrSplatGet(tile, value);
  return arithConstantOpBuild(&e->body, value);
}

MlirValue tileKernelFillPastEnd(TileKernelEmission *e, MlirValue tile, int dim, int64_t axis, MlirAttribute value) {
  MlirType type = mlirValueGetType(tile);
  if (!tileDimIsRagged(&e->structured->dims[dim]))
    return tile;
  MlirValue isInside = tileKernelInsideAlong(e, dim, axis, type);
  return arithSelectOpBuild(&e->body, isInside, tile, tileKernelConstant(e, value, type));
}

static MlirValue captureParameter(TileKernelEmission *e, MlirValue value) {
  const TileStructured *s = e->structured;
  for (int i = 0; i < s->numCaptures; ++i)
    if (mlirValueEqual(s->captures[i], value))
      return e->parameters[s->numInputs + s->numOutputs + i];
  assert(false && "a capture that structured.c did not note");
  return value;
}

// A value from outside the body: a constant is made again, anything else came in as a parameter.
static MlirValue buildCapture(TileKernelEmission *e, MlirValue value, MlirType tile) {
  MlirOperation definition = tileDefiningOp(value);
  if (arithConstantOpIsA(definition))
    return tileKernelConstant(e, tileOpAttribute(definition, "value"), tile);
  return tileKernelSplat(e, captureParameter(e, value), tile);
}

// Past the edge of an operand a tile holds zeros, and an integer division by zero traps: there the divisor is 1.
static MlirValue buildDivisor(TileKernelEmission *e, MlirValue divisor) {
  MlirType type = mlirValueGetType(divisor);
  if (!mlirTypeIsARankedTensor(type))
    return divisor;
  MlirValue isZero = arithCmpIOpBuild(&e->body, divisor, tileBuildInteger(&e->body, type, 0), ArithCmpI_Eq);
  return arithSelectOpBuild(&e->body, isZero, tileBuildInteger(&e->body, type, 1), divisor);
}

//===--- what is the same along an axis ---------------------------------------===//

// The value that `value` spreads as `like` (a tile.broadcast) spreads its own: the source of such a broadcast, or a
// constant of the source's shape. Null if it is neither.
static MlirValue sourceLike(TileKernelEmission *e, MlirValue value, MlirOperation like) {
  MlirOperation op = tileDefiningOp(value);
  MlirValue none = {NULL};
  MlirType shape = tileBroadcastOpGetInputType(like);
  if (tileBroadcastOpIsA(op)) {
    MlirValue source = tileBroadcastOpGetInput(op);
    MlirType type = mlirValueGetType(source);
    bool isAlike = mlirAttributeEqual(tileOpAttribute(op, "axes"), tileOpAttribute(like, "axes")) &&
                   mlirTypeIsARankedTensor(type) == mlirTypeIsARankedTensor(shape);
    for (intptr_t i = 0; isAlike && mlirTypeIsARankedTensor(type) && i < mlirShapedTypeGetRank(type); ++i)
      isAlike = mlirShapedTypeGetDimSize(type, i) == mlirShapedTypeGetDimSize(shape, i);
    return isAlike ? source : none;
  }
  MlirAttribute constant = arithConstantOpIsA(op) ? tileOpAttribute(op, "value") : mlirAttributeGetNull();
  if (mlirAttributeIsNull(constant) || !mlirAttributeIsADenseElements(constant) ||
      !mlirDenseElementsAttrIsSplat(constant))
    return none;
  MlirAttribute splat = mlirDenseElementsAttrGetSplatValue(constant);
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(value));
  return tileKernelConstant(e, splat, tileTypeWithElement(shape, element));
}

// A mean or a scale of a row is computed once for the row, not for each of its elements: where all operands are spread
// along the same axes, so is the result, and the operation may come first. Null where they are not. (For a GPU layouts
// decide what a thread computes.)
static MlirValue buildBeforeSpreading(TileKernelEmission *e, MlirOperation op, const MlirValue *operands,
                                      intptr_t count, MlirType tile) {
  MlirOperation like = {NULL};
  MlirValue sources[MaxOperands], none = {NULL};
  if (tileStructuredGpu(e->structured) || tileOpDividesIntegers(op) || count > MaxOperands)
    return none;
  for (intptr_t i = 0; i < count && mlirOperationIsNull(like); ++i)
    if (tileBroadcastOpIsA(tileDefiningOp(operands[i])))
      like = tileDefiningOp(operands[i]);
  if (mlirOperationIsNull(like))
    return none;
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(sources[i] = sourceLike(e, operands[i], like)))
      return none;
  MlirType narrow = tileTypeWithElement(tileBroadcastOpGetInputType(like), mlirShapedTypeGetElementType(tile));
  MlirValue value = tileOnlyResult(tileBuildLike(&e->body, op, sources, 1, &narrow));
  return tileOnlyResult(tileBroadcastOpCreate(&e->body, tile, value, tileBroadcastOpGetAxes(like)));
}

static MlirValue cloneOp(TileKernelEmission *e, TileBodyMap *map, MlirOperation op, MlirType tile) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  MlirValue values[MaxOperands];
  assert(operands <= MaxOperands && "an arith or math op has few operands");
  for (intptr_t i = 0; i < operands; ++i) {
    values[i] = tileKernelCloneValue(e, map, mlirOperationGetOperand(op, i));
    if (i == 1 && tileOpDividesIntegers(op))
      values[i] = buildDivisor(e, values[i]);
  }
  MlirValue spread = buildBeforeSpreading(e, op, values, operands, tile);
  return mlirValueIsNull(spread) ? tileOnlyResult(tileBuildLike(&e->body, op, values, 1, &tile)) : spread;
}

// Where a tile reaches beyond the last position what its elements hold means nothing: there element 0 is read.
static MlirValue buildIndexInside(TileKernelEmission *e, MlirValue index) {
  MlirAttribute first = mlirIntegerAttrGet(mlirIndexTypeGet(e->body.context), 0);
  for (int d = 0; d < e->structured->numDims; ++d)
    index = tileKernelFillPastEnd(e, index, d, e->structured->dims[d].axis, first);
  return index;
}

// tensor.extract: a gather that stops the program outside the tensor; of one element, a load.
static MlirValue buildExtract(TileKernelEmission *e, TileBodyMap *map, MlirOperation op, MlirType tile) {
  int32_t count = (int32_t)mlirOperationGetNumOperands(op);
  MlirValue operands[1 + MaxOperandRank] = {captureParameter(e, tensorExtractOpGetTensor(op))};
  for (int32_t i = 1; i < count; ++i)
    operands[i] = buildIndexInside(e, tileKernelCloneValue(e, map, mlirOperationGetOperand(op, i)));
  if (count == 1 || !mlirTypeIsARankedTensor(tile)) {
    return tileKernelSplat(e, memrefLoadOpBuild(&e->body, operands[0], count - 1, operands + 1), tile);
  }
  return tileGatherOpBuild(&e->body, tile, operands[0], count - 1, operands + 1, (MlirValue){NULL}, (MlirValue){NULL},
                           mlirStringAttrGet(e->body.context, tileString("trap")));
}

static bool isInBody(const TileKernelEmission *e, MlirOperation op) {
  MlirBlock block = mlirOperationIsNull(op) ? (MlirBlock){NULL} : mlirOperationGetBlock(op);
  return mlirBlockEqual(block, e->structured->body);
}

// The dimension that a linalg.index of the body asks for.
static int positionDim(const TileKernelEmission *e, MlirOperation index) {
  int dim = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(index, "dim"));
  return e->from ? e->from[dim] : dim;
}

MlirValue tileKernelCloneValue(TileKernelEmission *e, TileBodyMap *map, MlirValue value) {
  MlirValue known = tileBodyMapGet(map, value);
  if (!mlirValueIsNull(known))
    return known;
  MlirOperation op = tileDefiningOp(value);
  MlirType tile = tileKernelTileType(e, mlirValueGetType(value));
  MlirValue result;
  if (!isInBody(e, op))
    result = buildCapture(e, value, tile);
  else if (linalgIndexOpIsA(op))
    result = tileKernelPosition(e, positionDim(e, op), tile);
  else if (arithConstantOpIsA(op))
    result = tileKernelConstant(e, tileOpAttribute(op, "value"), tile);
  else if (tensorExtractOpIsA(op))
    result = buildExtract(e, map, op, tile);
  else
    result = cloneOp(e, map, op, tile);
  tileBodyMapSet(map, value, result);
  return result;
}
