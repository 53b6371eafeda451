// Ops that move elements of tiles, and numbers along axes.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/tile/ops.h"
#include "upstream/arith.h"

//===--- pointers move as their offsets -------------------------------------------===//

// The value that moves: a number, a pointer's offset. False after an error.
static bool begin(Triton *t, MlirValue old, TritonValue *value) {
  *value = tritonGet(t, old);
  if (value->kind == Triton_Block) {
    tileErrorAt(t->b.location, "moves elements of a descriptor");
    value->kind = Triton_None;
  }
  if (value->kind == Triton_Undefined)
    *value = (TritonValue){.kind = Triton_Plain, .value = tritonPlain(t, old)};
  return value->kind != Triton_None;
}

static MlirType typeOf(const TritonValue *value, MlirType old) { // the type of what moves, in the shape of `old`
  return tritonWithElement(old, tritonShape(mlirValueGetType(value->value)).element);
}

static bool end(Triton *t, MlirValue old, TritonValue value, MlirValue moved) {
  value.value = moved;
  tritonSet(t, old, value);
  return true;
}

// With all dimensions, of the element that moves.
static MlirType fullOf(const TritonValue *value, MlirType old) {
  MlirExtShape shape = tritonShape(old);
  return tritonTile(shape.rank, shape.sizes, tritonShape(mlirValueGetType(value->value)).element);
}

//===--- ops ------------------------------------------------------------------------===//

static bool splat(Triton *t, MlirOperation op) {
  MlirValue result = ttSplatOpGetResult(op);
  TritonValue value;
  return begin(t, ttSplatOpGetSrc(op), &value) &&
         end(t, result, value, tritonSplat(t, value.value, typeOf(&value, mlirValueGetType(result))));
}

static bool same(Triton *t, MlirValue source, MlirValue result) {
  TritonValue value;
  return begin(t, source, &value) &&
         end(t, result, value, tritonReshaped(t, value.value, typeOf(&value, mlirValueGetType(result))));
}

// Triton promises no order of these elements; ours is that of the operands. Whatever reduces all of them does not
// depend on an order; anything else may.
static void remarkOnOrder(MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  bool isLine = tritonShape(mlirValueGetType(result)).rank == 1;
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (isLine && ttReduceOpIsA(user) && mlirOperationGetNumOperands(user) == 1)
      continue;
    tileRemark(op, "keeps the order of its elements, which Triton does not promise");
    return;
  }
}

static bool broadcast(Triton *t, MlirOperation op) {
  MlirValue result = ttBroadcastOpGetResult(op);
  MlirExtShape from = tritonShape(ttBroadcastOpGetSrcType(op)), to = tritonShape(mlirValueGetType(result));
  int64_t axes[TtMaxRank], at = 0;
  intptr_t count = 0;
  TritonValue value;
  if (!begin(t, ttBroadcastOpGetSrc(op), &value))
    return false;
  for (intptr_t i = 0; i < to.rank; ++i) {
    if (from.sizes[i] == 1 && to.sizes[i] != 1)
      axes[count++] = at;
    at += to.sizes[i] != 1;
  }
  MlirType type = typeOf(&value, mlirValueGetType(result));
  bool isScalar = !mlirTypeIsARankedTensor(mlirValueGetType(value.value));
  MlirAttribute list = isScalar ? mlirAttributeGetNull() : mlirDenseI64ArrayGet(t->b.context, count, axes);
  MlirValue moved = count ? tileOnlyResult(tileBroadcastOpCreate(&t->b, type, value.value, list)) : value.value;
  return end(t, result, value, moved);
}

static bool transpose(Triton *t, MlirOperation op) {
  MlirValue result = ttTransOpGetResult(op);
  MlirType source = ttTransOpGetSrcType(op);
  MlirAttribute order = ttTransOpGetOrder(op);
  int64_t permutation[TtMaxRank];
  intptr_t count = 0;
  bool moves = false;
  TritonValue value;
  if (!begin(t, ttTransOpGetSrc(op), &value))
    return false;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(order); ++i) {
    intptr_t axis = tritonAxis(source, mlirDenseI32ArrayGetElement(order, i));
    if (axis < 0)
      continue;
    moves |= axis != count;
    permutation[count++] = axis;
  }
  MlirType type = typeOf(&value, mlirValueGetType(result));
  MlirAttribute list = mlirDenseI64ArrayGet(t->b.context, count, permutation);
  return end(t, result, value, moves ? tileTransposeOpBuild(&t->b, type, value.value, list) : value.value);
}

// Tiles of `type`, joined along `axis`.
static bool cat(Triton *t, MlirValue lhs, MlirValue rhs, MlirValue result, MlirType type, int64_t axis) {
  TritonValue values[2];
  MlirValue parts[2];
  if (!begin(t, lhs, &values[0]) || !begin(t, rhs, &values[1]))
    return false;
  if (!tritonMerge(t, mlirOpResultGetOwner(result), &values[0], &values[1]))
    return false;
  for (int i = 0; i < 2; ++i)
    parts[i] = tritonReshaped(t, values[i].value, fullOf(&values[i], type));
  MlirType full = fullOf(&values[0], mlirValueGetType(result));
  MlirValue joined = tileCatOpBuild(&t->b, full, 2, parts, tileBuildEnum(&t->b, 64, axis));
  return end(t, result, values[0], tritonReshaped(t, joined, typeOf(&values[0], mlirValueGetType(result))));
}

static MlirType withLast(MlirType tile, int64_t size) {
  MlirExtShape shape = tritonShape(tile);
  int64_t sizes[TtMaxRank + 1];
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i];
  sizes[shape.rank] = size;
  return tritonTile(shape.rank + 1, sizes, shape.element);
}

static bool join(Triton *t, MlirOperation op) {
  MlirType part = ttJoinOpGetLhsType(op);
  if (tritonShape(part).rank == TtMaxRank)
    return tileError(op, "makes a tile of more than %d dimensions", (int)TtMaxRank);
  return cat(t, ttJoinOpGetLhs(op), ttJoinOpGetRhs(op), ttJoinOpGetResult(op), withLast(part, 1),
             tritonShape(part).rank);
}

static bool split(Triton *t, MlirOperation op) {
  MlirValue results[] = {ttSplitOpGetOutLHS(op), ttSplitOpGetOutRHS(op)};
  MlirType source = ttSplitOpGetSrcType(op);
  MlirExtShape shape = tritonShape(source);
  TritonValue value;
  if (!begin(t, ttSplitOpGetSrc(op), &value))
    return false;
  MlirValue full = tritonReshaped(t, value.value, fullOf(&value, source));
  for (int64_t i = 0; i < 2; ++i) {
    int64_t offsets[TtMaxRank] = {0};
    offsets[shape.rank - 1] = i;
    MlirType part = fullOf(&value, withLast(mlirValueGetType(results[i]), 1));
    MlirValue slice =
        tileSliceOpBuild(&t->b, part, full, 0, NULL, mlirDenseI64ArrayGet(t->b.context, shape.rank, offsets));
    end(t, results[i], value, tritonReshaped(t, slice, typeOf(&value, mlirValueGetType(results[i]))));
  }
  return true;
}

static bool gather(Triton *t, MlirOperation op) {
  MlirValue source = tritonFull(t, ttGatherOpGetSrc(op)), list = tritonFull(t, ttGatherOpGetIndices(op));
  MlirExtShape from = tritonShape(ttGatherOpGetSrcType(op)), to = tritonShape(ttGatherOpGetResultType(op));
  int64_t axis = ttGatherOpGetAxisValue(op), sizes[TtMaxRank], zeros[TtMaxRank] = {0};
  if (mlirValueIsNull(source) || mlirValueIsNull(list))
    return false;
  bool isPart = false;
  for (intptr_t i = 0; i < from.rank; ++i) {
    sizes[i] = i == axis ? from.sizes[i] : to.sizes[i];
    isPart |= sizes[i] != from.sizes[i];
  }
  if (isPart)
    source = tileSliceOpBuild(&t->b, tritonTile(from.rank, sizes, from.element), source, 0, NULL,
                              mlirDenseI64ArrayGet(t->b.context, from.rank, zeros));
  MlirOperation result = tileGatherOpCreate(&t->b, ttGatherOpGetResultType(op), source, 1, &list, (MlirValue){NULL},
                                            (MlirValue){NULL}, tileBuildEnum(&t->b, 64, axis), tritonWord(t, "trap"));
  tritonSetFull(t, ttGatherOpGetResult(op), tileOnlyResult(result));
  return true;
}

static bool range(Triton *t, MlirOperation op) {
  MlirType type = tritonType(ttMakeRangeOpGetResultType(op)), i32 = mlirIntegerTypeGet(t->b.context, 32);
  int64_t start = ttMakeRangeOpGetStartValue(op);
  MlirValue from = start || !mlirTypeIsARankedTensor(type) ? tileBuildInteger(&t->b, i32, start) : (MlirValue){NULL};
  MlirValue result = from;
  if (mlirTypeIsARankedTensor(type))
    result = tileIotaOpBuild(&t->b, type, from, tileBuildEnum(&t->b, 64, 0));
  tritonSetPlain(t, ttMakeRangeOpGetResult(op), result);
  return true;
}

static bool programs(Triton *t, MlirValue result, MlirValue index) {
  tritonSetPlain(t, result, arithIndexCastOpBuild(&t->b, mlirValueGetType(result), index));
  return true;
}

bool tritonShapes(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  switch (ttOpKind(op)) {
  case TtOp_Splat:
    return splat(t, op);
  case TtOp_Unsplat:
    return same(t, ttUnsplatOpGetSrc(op), ttUnsplatOpGetResult(op));
  case TtOp_ExpandDims:
    return same(t, ttExpandDimsOpGetSrc(op), ttExpandDimsOpGetResult(op));
  case TtOp_Reshape:
    if (ttReshapeOpHasAllowReorder(op))
      remarkOnOrder(op);
    return same(t, ttReshapeOpGetSrc(op), ttReshapeOpGetResult(op));
  case TtOp_Broadcast:
    return broadcast(t, op);
  case TtOp_Trans:
    return transpose(t, op);
  case TtOp_Cat:
    remarkOnOrder(op);
    return cat(t, ttCatOpGetLhs(op), ttCatOpGetRhs(op), ttCatOpGetResult(op), ttCatOpGetLhsType(op), 0);
  case TtOp_Join:
    return join(t, op);
  case TtOp_Split:
    return split(t, op);
  case TtOp_Gather:
    return gather(t, op);
  case TtOp_MakeRange:
    return range(t, op);
  case TtOp_GetProgramId:
    return programs(
        t, ttGetProgramIdOpGetResult(op),
        tileProgramIdOpBuild(&t->b, tileBuildEnum(&t->b, 64, mlirIntegerAttrGetValueInt(ttGetProgramIdOpGetAxis(op)))));
  case TtOp_GetNumPrograms:
    return programs(t, ttGetNumProgramsOpGetResult(op),
                    tileNumProgramsOpBuild(
                        &t->b, tileBuildEnum(&t->b, 64, mlirIntegerAttrGetValueInt(ttGetNumProgramsOpGetAxis(op)))));
  default:
    *isKnown = false;
    return true;
  }
}
