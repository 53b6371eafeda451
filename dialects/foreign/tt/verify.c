// Verifiers of the tt ops: shapes, elements and regions must agree, so that conversions may rely on it. The row's own
// checks have passed.
#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/parts.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/op_format.h"

//===--- questions ------------------------------------------------------------===//

static MlirExtShape shapeOf(MlirType type) { // of a scalar: rank 0
  MlirExtShape shape = {0};
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape))
    shape.element = type;
  return shape;
}

static bool hasSameShape(MlirType a, MlirType b) {
  MlirExtShape first = shapeOf(a), second = shapeOf(b);
  bool ok = first.rank == second.rank;
  for (intptr_t i = 0; ok && i < first.rank; ++i)
    ok = first.sizes[i] == second.sizes[i];
  return ok;
}

static int64_t countOf(MlirType type) {
  MlirExtShape shape = shapeOf(type);
  int64_t count = 1;
  for (intptr_t i = 0; i < shape.rank; ++i)
    count *= shape.sizes[i];
  return count;
}

static bool expectType(MlirOperation op, const char *what, MlirType seen, MlirType wanted) {
  return mlirTypeEqual(seen, wanted) ||
         tileError(op, "%s is %s, expected %s", what, TT_TYPE_TEXT(seen), TT_TYPE_TEXT(wanted));
}

static bool expectShape(MlirOperation op, MlirType result, intptr_t rank, const int64_t *sizes, MlirType element) {
  MlirType wanted = rank ? mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull()) : element;
  return expectType(op, "the result", result, wanted);
}

static bool expectElement(MlirOperation op, MlirType seen, MlirType wanted) {
  return expectType(op, "the element", ttTypeGetElement(seen), ttTypeGetElement(wanted));
}

static bool expectAxis(MlirOperation op, int64_t axis, int64_t rank) {
  return (axis >= 0 && axis < rank) || tileError(op, "axis is %ld, expected 0 to %ld", (long)axis, (long)rank - 1);
}

static bool expectCount(MlirOperation op, const char *what, intptr_t seen, intptr_t wanted) {
  return seen == wanted || tileError(op, "has %ld %s, expected %ld", (long)seen, what, (long)wanted);
}

static unsigned widthOf(MlirType element) { return tileElementWidth(element) ? tileElementWidth(element) : 64; }

bool ttVerifySameShape(MlirOperation op) {
  intptr_t operands = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  MlirType first = {NULL};
  for (intptr_t i = 0; i < operands + results; ++i) {
    MlirType type = i < operands ? tileOperandType(op, i) : tileResultType(op, i - operands);
    first = i ? first : type;
    if (!hasSameShape(first, type))
      return tileError(op, "has %s and %s, expected one shape", TT_TYPE_TEXT(first), TT_TYPE_TEXT(type));
  }
  return true;
}

//===--- functions ------------------------------------------------------------===//

static MlirType signatureOf(MlirOperation function) { return mlirTypeAttrGetValue(ttFuncOpGetFunctionType(function)); }

bool ttFuncOpVerify(MlirOperation op) {
  MlirBlock entry = mlirRegionGetFirstBlock(ttFuncOpGetBody(op));
  MlirType type = signatureOf(op);
  if (!mlirTypeIsAFunction(type))
    return tileError(op, "has the type %s, expected a function type", TT_TYPE_TEXT(type));
  if (mlirBlockIsNull(entry))
    return true;
  intptr_t count = mlirFunctionTypeGetNumInputs(type);
  if (!expectCount(op, "block arguments", mlirBlockGetNumArguments(entry), count))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!expectType(op, "a block argument", mlirValueGetType(mlirBlockGetArgument(entry, i)),
                    mlirFunctionTypeGetInput(type, i)))
      return false;
  return true;
}

bool ttReturnOpVerify(MlirOperation op) {
  MlirOperation function = mlirOperationGetParentOperation(op);
  if (mlirOperationIsNull(function) || !ttFuncOpIsA(function))
    return tileError(op, "stands outside of a tt.func");
  MlirType type = signatureOf(function);
  intptr_t count = mlirFunctionTypeGetNumResults(type);
  if (!expectCount(op, "operands", mlirOperationGetNumOperands(op), count))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!expectType(op, "an operand", tileOperandType(op, i), mlirFunctionTypeGetResult(type, i)))
      return false;
  return true;
}

MlirAttribute ttCallOpCallee(MlirOperation op) { return ttCallOpGetCallee(op); }

void ttCallOpCallArguments(MlirOperation op, intptr_t *begin, intptr_t *count) {
  *begin = 0;
  *count = mlirOperationGetNumOperands(op);
}

bool ttCallOpVerifySymbolUses(MlirOperation op) {
  MlirOperation callee = mlirExtSymbolLookup(op, ttCallOpGetCallee(op));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ttCallOpGetCallee(op));
  if (mlirOperationIsNull(callee) || !ttFuncOpIsA(callee))
    return tileError(op, "calls @%.*s, expected a tt.func of this module", (int)name.length, name.data);
  MlirType type = signatureOf(callee);
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  if (!expectCount(op, "operands", mlirOperationGetNumOperands(op), inputs) ||
      !expectCount(op, "results", mlirOperationGetNumResults(op), results))
    return false;
  for (intptr_t i = 0; i < inputs; ++i)
    if (!expectType(op, "an operand", tileOperandType(op, i), mlirFunctionTypeGetInput(type, i)))
      return false;
  for (intptr_t i = 0; i < results; ++i)
    if (!expectType(op, "a result", tileResultType(op, i), mlirFunctionTypeGetResult(type, i)))
      return false;
  return true;
}

//===--- block pointers, descriptors ------------------------------------------===//

static intptr_t blockRank(MlirType pointer) { return shapeOf(ttPointerTypeGetPointee(pointer)).rank; }

bool ttMakeTensorPtrOpVerify(MlirOperation op) {
  intptr_t rank = blockRank(ttMakeTensorPtrOpGetResultType(op));
  return expectCount(op, "sizes", ttMakeTensorPtrOpGetNumShape(op), rank) &&
         expectCount(op, "strides", ttMakeTensorPtrOpGetNumStrides(op), rank) &&
         expectCount(op, "offsets", ttMakeTensorPtrOpGetNumOffsets(op), rank);
}

bool ttAdvanceOpVerify(MlirOperation op) {
  return expectCount(op, "offsets", ttAdvanceOpGetNumOffsets(op), blockRank(ttAdvanceOpGetPtrType(op)));
}

// Signless: a descriptor knows signs, tiles do not.
static MlirType signless(MlirType element) {
  return mlirTypeIsAInteger(element) ? mlirIntegerTypeGet(mlirTypeGetContext(element), mlirIntegerTypeGetWidth(element))
                                     : element;
}

bool ttMakeTensorDescOpVerify(MlirOperation op) {
  MlirExtShape block = shapeOf(ttDescriptorTypeGetBlock(ttMakeTensorDescOpGetResultType(op)));
  int64_t padding = ttMakeTensorDescOpGetPaddingValue(op);
  MlirType element = ttPointerTypeGetPointee(ttMakeTensorDescOpGetBaseType(op));
  return expectCount(op, "sizes", ttMakeTensorDescOpGetNumShape(op), block.rank) &&
         expectCount(op, "strides", ttMakeTensorDescOpGetNumStrides(op), block.rank) &&
         expectType(op, "the base's element", element, signless(block.element)) &&
         (padding == TtPadding_Zero || padding == TtPadding_Nan ||
          tileError(op, "padding is %ld, expected 1 (zero) or 2 (nan)", (long)padding));
}

// A block of size 1 along a dimension may be read without that dimension.
static bool verifyBlock(MlirOperation op, MlirType descriptor, MlirType tile, intptr_t indices) {
  MlirType block = ttDescriptorTypeGetBlock(descriptor);
  MlirExtShape shape = shapeOf(block);
  return expectCount(op, "indices", indices, shape.rank) &&
         expectType(op, "the tile's element", ttTypeGetElement(tile), signless(shape.element)) &&
         (countOf(block) == countOf(tile) ||
          tileError(op, "has a tile of %s, expected as many elements as the block of %s", TT_TYPE_TEXT(tile),
                    TT_TYPE_TEXT(descriptor)));
}

bool ttDescriptorLoadOpVerify(MlirOperation op) {
  return verifyBlock(op, ttDescriptorLoadOpGetDescType(op), ttDescriptorLoadOpGetResultType(op),
                     ttDescriptorLoadOpGetNumIndices(op));
}
bool ttDescriptorStoreOpVerify(MlirOperation op) {
  return verifyBlock(op, ttDescriptorStoreOpGetDescType(op), ttDescriptorStoreOpGetSrcType(op),
                     ttDescriptorStoreOpGetNumIndices(op));
}
bool ttDescriptorReduceOpVerify(MlirOperation op) {
  return verifyBlock(op, ttDescriptorReduceOpGetDescType(op), ttDescriptorReduceOpGetSrcType(op),
                     ttDescriptorReduceOpGetNumIndices(op));
}

// Rows of a descriptor whose block is 1xN.
static bool verifyRows(MlirOperation op, MlirType descriptor, MlirType rows, MlirType tile) {
  MlirExtShape block = shapeOf(ttDescriptorTypeGetBlock(descriptor)), list = shapeOf(rows), shape = shapeOf(tile);
  if (block.rank != 2 || block.sizes[0] != 1)
    return tileError(op, "takes rows of %s, expected a block of one row", TT_TYPE_TEXT(descriptor));
  return (list.rank == 1 && shape.rank == 2 && shape.sizes[0] == list.sizes[0] && shape.sizes[1] == block.sizes[1] &&
          mlirTypeEqual(shape.element, signless(block.element))) ||
         tileError(op, "has rows %s and a tile of %s, expected one row of the block for each number",
                   TT_TYPE_TEXT(rows), TT_TYPE_TEXT(tile));
}
bool ttDescriptorGatherOpVerify(MlirOperation op) {
  return verifyRows(op, ttDescriptorGatherOpGetDescType(op), ttDescriptorGatherOpGetXOffsetsType(op),
                    ttDescriptorGatherOpGetResultType(op));
}
bool ttDescriptorScatterOpVerify(MlirOperation op) {
  return verifyRows(op, ttDescriptorScatterOpGetDescType(op), ttDescriptorScatterOpGetXOffsetsType(op),
                    ttDescriptorScatterOpGetSrcType(op));
}

//===--- memory ---------------------------------------------------------------===//

static bool verifyBoundaryCheck(MlirOperation op, MlirType pointer, bool hasMask) {
  MlirAttribute checks = tileOpAttribute(op, "boundaryCheck");
  bool isBlock = ttTypeIsABlockPointer(pointer);
  intptr_t count = mlirAttributeIsNull(checks) ? 0 : mlirDenseArrayGetNumElements(checks);
  if (isBlock && hasMask)
    return tileError(op, "has a mask, expected `boundaryCheck` with a block pointer");
  for (intptr_t i = 0; i < count; ++i)
    if (!expectAxis(op, mlirDenseI32ArrayGetElement(checks, i), isBlock ? blockRank(pointer) : 0))
      return false;
  return true;
}

bool ttLoadOpVerify(MlirOperation op) {
  if (mlirValueIsNull(ttLoadOpGetMask(op)) && !mlirValueIsNull(ttLoadOpGetOther(op)))
    return tileError(op, "has a value for where the mask is false, but no mask");
  return verifyBoundaryCheck(op, ttLoadOpGetPtrType(op), !mlirValueIsNull(ttLoadOpGetMask(op)));
}

bool ttStoreOpVerify(MlirOperation op) {
  return verifyBoundaryCheck(op, ttStoreOpGetPtrType(op), !mlirValueIsNull(ttStoreOpGetMask(op)));
}

// What is read or written has the pointers' shape and pointee.
static bool verifyPointee(MlirOperation op, MlirType pointer, MlirType value) {
  MlirType pointee = ttPointerTypeGetPointee(ttTypeGetElement(pointer));
  return ttVerifySameShape(op) && expectType(op, "the value's element", ttTypeGetElement(value), pointee);
}

bool ttAtomicLoadOpVerify(MlirOperation op) {
  return verifyPointee(op, ttAtomicLoadOpGetPtrType(op), ttAtomicLoadOpGetResultType(op));
}
bool ttAtomicPollOpVerify(MlirOperation op) {
  return hasSameShape(ttAtomicPollOpGetPtrType(op), ttAtomicPollOpGetExpectedType(op)) &&
                 hasSameShape(ttAtomicPollOpGetPtrType(op), ttAtomicPollOpGetResultType(op))
             ? expectType(op, "the value's element", ttTypeGetElement(ttAtomicPollOpGetExpectedType(op)),
                          ttPointerTypeGetPointee(ttTypeGetElement(ttAtomicPollOpGetPtrType(op))))
             : tileError(op, "expected pointers, values and results of one shape");
}
bool ttAtomicRMWOpVerify(MlirOperation op) {
  return verifyPointee(op, ttAtomicRMWOpGetPtrType(op), ttAtomicRMWOpGetValType(op)) &&
         expectType(op, "the result", ttAtomicRMWOpGetResultType(op), ttAtomicRMWOpGetValType(op));
}
bool ttAtomicCASOpVerify(MlirOperation op) {
  return verifyPointee(op, ttAtomicCASOpGetPtrType(op), ttAtomicCASOpGetValType(op)) &&
         expectType(op, "the result", ttAtomicCASOpGetResultType(op), ttAtomicCASOpGetValType(op)) &&
         expectType(op, "the compared value", ttAtomicCASOpGetCmpType(op), ttAtomicCASOpGetValType(op));
}

//===--- elementwise and shape ------------------------------------------------===//

bool ttBitcastOpVerify(MlirOperation op) {
  MlirType from = ttTypeGetElement(ttBitcastOpGetSrcType(op)), to = ttTypeGetElement(ttBitcastOpGetResultType(op));
  bool agree = ttTypeIsAPointer(from) == ttTypeIsAPointer(to) && widthOf(from) == widthOf(to);
  return ttVerifySameShape(op) &&
         (agree || tileError(op, "casts %s to %s, expected one width, or pointers on both sides", TT_TYPE_TEXT(from),
                             TT_TYPE_TEXT(to)));
}

bool ttMakeRangeOpVerify(MlirOperation op) {
  MlirExtShape shape = shapeOf(ttMakeRangeOpGetResultType(op));
  int64_t start = ttMakeRangeOpGetStartValue(op), end = ttMakeRangeOpGetEndValue(op);
  return (shape.rank == 1 && shape.sizes[0] == end - start && widthOf(shape.element) == 32) ||
         tileError(op, "gives %s, expected %ld numbers of i32", TT_TYPE_TEXT(ttMakeRangeOpGetResultType(op)),
                   (long)(end - start));
}

bool ttSplatOpVerify(MlirOperation op) {
  MlirType source = ttSplatOpGetSrcType(op);
  if (countOf(source) != 1)
    return tileError(op, "repeats %s, expected a scalar", TT_TYPE_TEXT(source));
  return expectElement(op, ttSplatOpGetResultType(op), source);
}

bool ttUnsplatOpVerify(MlirOperation op) {
  return countOf(ttUnsplatOpGetSrcType(op)) == 1 ||
         tileError(op, "takes %s, expected a tile of one element", TT_TYPE_TEXT(ttUnsplatOpGetSrcType(op)));
}

bool ttExpandDimsOpVerify(MlirOperation op) {
  MlirExtShape source = shapeOf(ttExpandDimsOpGetSrcType(op));
  int64_t axis = ttExpandDimsOpGetAxisValue(op), sizes[TtMaxRank + 1] = {0};
  if (!expectAxis(op, axis, source.rank + 1))
    return false;
  for (intptr_t i = 0; i <= source.rank; ++i)
    sizes[i] = i < axis ? source.sizes[i] : i == axis ? 1 : source.sizes[i - 1];
  return expectShape(op, ttExpandDimsOpGetResultType(op), source.rank + 1, sizes, source.element);
}

bool ttBroadcastOpVerify(MlirOperation op) {
  MlirExtShape source = shapeOf(ttBroadcastOpGetSrcType(op)), result = shapeOf(ttBroadcastOpGetResultType(op));
  bool ok = source.rank == result.rank;
  for (intptr_t i = 0; ok && i < source.rank; ++i)
    ok = source.sizes[i] == result.sizes[i] || source.sizes[i] == 1;
  return expectElement(op, ttBroadcastOpGetResultType(op), ttBroadcastOpGetSrcType(op)) &&
         (ok || tileError(op, "repeats %s to %s, expected equal sizes where the size is not 1",
                          TT_TYPE_TEXT(ttBroadcastOpGetSrcType(op)), TT_TYPE_TEXT(ttBroadcastOpGetResultType(op))));
}

bool ttReshapeOpVerify(MlirOperation op) {
  MlirType source = ttReshapeOpGetSrcType(op), result = ttReshapeOpGetResultType(op);
  return expectElement(op, result, source) &&
         (countOf(source) == countOf(result) ||
          tileError(op, "makes %s of %s, expected as many elements", TT_TYPE_TEXT(result), TT_TYPE_TEXT(source)));
}

bool ttCatOpVerify(MlirOperation op) {
  MlirExtShape lhs = shapeOf(ttCatOpGetLhsType(op));
  int64_t sizes[TtMaxRank];
  for (intptr_t i = 0; i < lhs.rank; ++i)
    sizes[i] = i ? lhs.sizes[i] : 2 * lhs.sizes[i];
  return expectShape(op, ttCatOpGetResultType(op), lhs.rank, sizes, lhs.element);
}

// `parts` beside each other along a last dimension of size 2 are `joined`.
static bool verifyJoined(MlirOperation op, MlirType part, MlirType joined) {
  MlirExtShape shape = shapeOf(part);
  int64_t sizes[TtMaxRank + 1];
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i];
  sizes[shape.rank] = 2;
  return expectShape(op, joined, shape.rank + 1, sizes, shape.element);
}
bool ttJoinOpVerify(MlirOperation op) { return verifyJoined(op, ttJoinOpGetLhsType(op), ttJoinOpGetResultType(op)); }
bool ttSplitOpVerify(MlirOperation op) { return verifyJoined(op, ttSplitOpGetOutLHSType(op), ttSplitOpGetSrcType(op)); }

bool ttTransOpVerify(MlirOperation op) {
  MlirExtShape source = shapeOf(ttTransOpGetSrcType(op));
  MlirAttribute order = ttTransOpGetOrder(op);
  int64_t sizes[TtMaxRank];
  bool seen[TtMaxRank] = {false};
  if (!expectCount(op, "dimensions in `order`", mlirDenseArrayGetNumElements(order), source.rank))
    return false;
  for (intptr_t i = 0; i < source.rank; ++i) {
    int64_t from = mlirDenseI32ArrayGetElement(order, i);
    if (from < 0 || from >= source.rank || seen[from])
      return tileError(op, "`order` is no permutation of the dimensions");
    seen[from] = true;
    sizes[i] = source.sizes[from];
  }
  return expectShape(op, ttTransOpGetResultType(op), source.rank, sizes, source.element);
}

bool ttGatherOpVerify(MlirOperation op) {
  MlirExtShape source = shapeOf(ttGatherOpGetSrcType(op)), list = shapeOf(ttGatherOpGetIndicesType(op));
  int64_t axis = ttGatherOpGetAxisValue(op);
  if (!expectAxis(op, axis, source.rank) || !expectCount(op, "dimensions of indices", list.rank, source.rank))
    return false;
  for (intptr_t i = 0; i < source.rank; ++i)
    if (i != axis && list.sizes[i] > source.sizes[i])
      return tileError(op, "takes %ld places along dimension %ld, expected at most %ld", (long)list.sizes[i], (long)i,
                       (long)source.sizes[i]);
  return expectShape(op, ttGatherOpGetResultType(op), list.rank, list.sizes, source.element);
}

//===--- products -------------------------------------------------------------===//

bool ttDotOpVerify(MlirOperation op) {
  MlirExtShape a = shapeOf(ttDotOpGetAType(op)), b = shapeOf(ttDotOpGetBType(op)), c = shapeOf(ttDotOpGetCType(op));
  intptr_t at = a.rank - 2;
  bool ok = (a.rank == 2 || a.rank == 3) && b.rank == a.rank && c.rank == a.rank;
  ok = ok && a.sizes[at + 1] == b.sizes[at] && a.sizes[at] == c.sizes[at] && b.sizes[at + 1] == c.sizes[at + 1];
  ok = ok && (at == 0 || (a.sizes[0] == b.sizes[0] && a.sizes[0] == c.sizes[0]));
  if (!ok)
    return tileError(op, "multiplies %s by %s into %s, expected MxK, KxN and MxN, or batches of them",
                     TT_TYPE_TEXT(ttDotOpGetAType(op)), TT_TYPE_TEXT(ttDotOpGetBType(op)),
                     TT_TYPE_TEXT(ttDotOpGetCType(op)));
  return mlirTypeIsAFloat(a.element) == mlirTypeIsAFloat(c.element) &&
                 mlirTypeIsAFloat(a.element) == mlirTypeIsAFloat(b.element) &&
                 widthOf(a.element) <= widthOf(c.element) && widthOf(b.element) <= widthOf(c.element)
             ? true
             : tileError(op, "multiplies %s by %s into %s, expected floats or integers that are not wider than the sum",
                         TT_TYPE_TEXT(a.element), TT_TYPE_TEXT(b.element), TT_TYPE_TEXT(c.element));
}

bool ttDotScaledOpVerify(MlirOperation op) {
  MlirExtShape c = shapeOf(ttDotScaledOpGetCType(op));
  bool ok = c.rank == 2 && shapeOf(ttDotScaledOpGetAType(op)).rank == 2 && shapeOf(ttDotScaledOpGetBType(op)).rank == 2;
  return ok || tileError(op, "expected matrices");
}

//===--- regions --------------------------------------------------------------===//

// Every source of one shape; a result has it, or lacks the axis.
static bool verifyAlong(MlirOperation op, int64_t axis, bool keepsAxis) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (count == 0 || mlirOperationGetNumResults(op) != count)
    return tileError(op, "has %ld tiles and %ld results, expected one for each, and at least one", (long)count,
                     (long)mlirOperationGetNumResults(op));
  MlirExtShape first = shapeOf(tileFirstOperandType(op));
  if (!expectAxis(op, axis, first.rank))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirExtShape shape = shapeOf(tileOperandType(op, i));
    int64_t sizes[TtMaxRank];
    intptr_t rank = 0;
    if (!hasSameShape(tileFirstOperandType(op), tileOperandType(op, i)))
      return tileError(op, "has tiles of several shapes, expected one");
    for (intptr_t d = 0; d < shape.rank; ++d)
      if (keepsAxis || d != axis)
        sizes[rank++] = shape.sizes[d];
    if (!expectShape(op, tileResultType(op, i), rank, sizes, shape.element))
      return false;
  }
  return true;
}

// One block whose arguments are `copies` elements of each tile, and which gives one of each (of `results`).
static bool verifyBody(MlirOperation op, MlirRegion region, bool (*isEnd)(MlirOperation op)) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  intptr_t count = mlirOperationGetNumOperands(op);
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(op, "expected one block that combines elements");
  if (!expectCount(op, "arguments of the block", mlirBlockGetNumArguments(block), 2 * count))
    return false;
  for (intptr_t i = 0; i < 2 * count; ++i)
    if (!expectType(op, "an argument of the block", mlirValueGetType(mlirBlockGetArgument(block, i)),
                    ttTypeGetElement(tileOperandType(op, i % count))))
      return false;
  MlirOperation end = mlirBlockGetTerminator(block);
  if (mlirOperationIsNull(end) || !isEnd(end))
    return tileError(op, "the block does not end with its return");
  if (!expectCount(end, "values", mlirOperationGetNumOperands(end), count))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!expectType(end, "a value", tileOperandType(end, i), ttTypeGetElement(tileOperandType(op, i))))
      return false;
  return true;
}

bool ttReduceOpVerify(MlirOperation op) { return verifyAlong(op, ttReduceOpGetAxisValue(op), false); }
bool ttReduceOpVerifyRegions(MlirOperation op) {
  return verifyBody(op, ttReduceOpGetCombineOp(op), ttReduceReturnOpIsA);
}
bool ttScanOpVerify(MlirOperation op) { return verifyAlong(op, ttScanOpGetAxisValue(op), true); }
bool ttScanOpVerifyRegions(MlirOperation op) { return verifyBody(op, ttScanOpGetCombineOp(op), ttScanReturnOpIsA); }

bool ttMapElementwiseOpVerifyRegions(MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(ttMapElementwiseOpGetScalarOp(op));
  int64_t pack = ttMapElementwiseOpGetPackValue(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  if (pack < 1 || pack > TtMaxElements)
    return tileError(op, "pack is %ld, expected 1 to %d", (long)pack, (int)TtMaxElements);
  return (!mlirBlockIsNull(block) && mlirBlockGetNumArguments(block) == count * pack) ||
         tileError(op, "expected a region that takes %ld elements", (long)(count * pack));
}

bool ttHistogramOpVerify(MlirOperation op) {
  return shapeOf(ttHistogramOpGetSrcType(op)).rank == 1 && shapeOf(ttHistogramOpGetResultType(op)).rank == 1
             ? true
             : tileError(op, "expected tiles of rank 1");
}
