// Arithmetic, shapes, products, reductions and scans.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "upstream/arith.h"
#include "upstream/math.h"
#include "upstream/scf.h"

static bool set(TtirKernel *k, MlirOperation op, MlirValue value) {
  ttirSet(k, tileOnlyResult(op), value);
  return true;
}

//===--- elements -------------------------------------------------------------------------===//

static bool constant(TtirKernel *k, MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirType old = tileOnlyResultType(op), type = ttirType(op, old);
  if (mlirTypeIsNull(type))
    return false;
  if (!mlirTypeIsAIndex(ttirElement(old)))
    return set(k, op, tileBuildConstant(&k->b, value));
  if (!mlirTypeIsARankedTensor(old))
    return set(k, op, ttirNumber(k, mlirIntegerAttrGetValueInt(value)));
  if (!mlirAttributeIsADenseElements(value) || !mlirDenseElementsAttrIsSplat(value))
    return tileError(op, "has several indices, which has no conversion to tt");
  MlirValue one = ttirNumber(k, mlirIntegerAttrGetValueInt(mlirDenseElementsAttrGetSplatValue(value)));
  return set(k, op, ttirSplat(k, one, type));
}

// An index is an i64.
static bool indexCast(TtirKernel *k, MlirOperation op, bool isSigned) {
  MlirValue x = ttirGet(k, tileOnlyOperand(op));
  MlirType type = ttirType(op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  unsigned from = mlirIntegerTypeGetWidth(ttirElement(mlirValueGetType(x))),
           to = mlirIntegerTypeGetWidth(ttirElement(type));
  if (from == to)
    return set(k, op, x);
  return set(k, op,
             tileBuildCast(&k->b,
                           from > to  ? ArithOp_TruncI
                           : isSigned ? ArithOp_ExtSI
                                      : ArithOp_ExtUI,
                           x, type));
}

// Triton has bitcasts and upper halves of products of its own, and no sums with a carry.
static bool bitcast(TtirKernel *k, MlirOperation op) {
  MlirValue x = ttirGet(k, tileOnlyOperand(op));
  MlirType type = ttirType(op, tileOnlyResultType(op));
  return !mlirValueIsNull(x) && !mlirTypeIsNull(type) && set(k, op, ttBitcastOpBuild(&k->b, type, x));
}

static bool extended(TtirKernel *k, MlirOperation op, bool isProduct) {
  MlirValue x = ttirGet(k, tileBinaryLhs(op)), y = ttirGet(k, tileBinaryRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  MlirValue low = tileBuildBinary(&k->b, isProduct ? ArithOp_MulI : ArithOp_AddI, x, y);
  ttirSet(k, isProduct ? arithMulUIExtendedOpGetLow(op) : arithAddUIExtendedOpGetSum(op), low);
  if (isProduct)
    ttirSet(k, arithMulUIExtendedOpGetHigh(op), ttMulhiUIOpBuild(&k->b, x, y));
  else
    ttirSet(k, arithAddUIExtendedOpGetOverflow(op), arithCmpIOpBuild(&k->b, low, x, ArithCmpI_Ult));
  return true;
}

static bool elementwise(TtirKernel *k, MlirOperation op) {
  enum { Most = 8 };
  MlirValue operands[Most];
  MlirType results[Most];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  if (numOperands > Most || numResults > Most || mlirOperationGetNumRegions(op))
    return tileError(op, "has no conversion to tt");
  for (intptr_t i = 0; i < numOperands; ++i)
    if (mlirValueIsNull(operands[i] = ttirGet(k, mlirOperationGetOperand(op, i))))
      return false;
  for (intptr_t i = 0; i < numResults; ++i)
    if (mlirTypeIsNull(results[i] = ttirType(op, tileResultType(op, i))))
      return false;
  MlirOperation made = tileBuildLike(&k->b, op, operands, numResults, results);
  for (intptr_t i = 0; i < numResults; ++i)
    ttirSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

//===--- shapes -----------------------------------------------------------------------------===//

static bool programId(TtirKernel *k, MlirOperation op, int64_t axis, MlirValue (*build)(TileBuilder *, MlirAttribute)) {
  MlirType i64 = mlirIntegerTypeGet(k->b.context, 64);
  return set(k, op, tileBuildCast(&k->b, ArithOp_ExtSI, build(&k->b, ttirI32(k, axis)), i64));
}

static bool iota(TtirKernel *k, MlirOperation op) {
  MlirType old = tileOnlyResultType(op), type = ttirType(op, old);
  MlirExtShape shape;
  if (mlirTypeIsNull(type))
    return false;
  mlirExtTypeGetShape(type, &shape);
  MlirValue range = ttirRange(k, shape.rank, shape.sizes, tileIotaOpGetDimValue(op)), from = tileIotaOpGetFrom(op);
  if (!mlirTypeIsAInteger(shape.element))
    return tileError(op, "counts in floats, which has no conversion to tt");
  if (mlirIntegerTypeGetWidth(shape.element) < 64)
    range = tileBuildCast(&k->b, ArithOp_TruncI, range, type);
  MlirValue first = mlirValueIsNull(from) ? from : ttirGet(k, from);
  if (!mlirValueIsNull(first))
    range = tileBuildBinary(&k->b, ArithOp_AddI, range, ttirSplat(k, first, type));
  return mlirValueIsNull(first) == mlirValueIsNull(from) && set(k, op, range);
}

// The axes that the result has more than the input.
static bool broadcast(TtirKernel *k, MlirOperation op) {
  MlirValue x = ttirGet(k, tileBroadcastOpGetInput(op));
  MlirType type = ttirType(op, tileOnlyResultType(op));
  MlirAttribute axes = tileBroadcastOpGetAxes(op);
  int64_t sizes[TtMaxRank];
  MlirExtShape shape;
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  if (!mlirTypeIsARankedTensor(mlirValueGetType(x)))
    return set(k, op, ttirSplat(k, x, type));
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i];
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    sizes[mlirDenseI64ArrayGetElement(axes, i)] = 1;
  MlirType thin = mlirRankedTensorTypeGet(shape.rank, sizes, shape.element, mlirAttributeGetNull());
  if (!mlirTypeEqual(mlirValueGetType(x), thin))
    x = ttReshapeOpBuild(&k->b, thin, x);
  return set(k, op, mlirTypeEqual(thin, type) ? x : ttBroadcastOpBuild(&k->b, type, x));
}

static bool reshape(TtirKernel *k, MlirOperation op) {
  MlirValue x = ttirGet(k, tileReshapeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : ttirType(op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  if (!mlirTypeIsARankedTensor(type))
    return set(k, op, tileOnlyResult(ttUnsplatOpCreate(&k->b, x)));
  bool fromScalar = !mlirTypeIsARankedTensor(mlirValueGetType(x));
  return set(k, op, fromScalar ? ttSplatOpBuild(&k->b, type, x) : ttReshapeOpBuild(&k->b, type, x));
}

static bool transpose(TtirKernel *k, MlirOperation op) {
  MlirValue x = ttirGet(k, tileTransposeOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : ttirType(op, tileOnlyResultType(op));
  MlirAttribute permutation = tileTransposeOpGetPermutation(op);
  int32_t order[TtMaxRank];
  intptr_t rank = mlirDenseArrayGetNumElements(permutation);
  if (mlirTypeIsNull(type) || rank > TtMaxRank)
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    order[i] = (int32_t)mlirDenseI64ArrayGetElement(permutation, i);
  return set(k, op, ttTransOpBuild(&k->b, type, x, mlirDenseI32ArrayGet(k->b.context, rank, order)));
}

//===--- products ---------------------------------------------------------------------------===//

static bool product(TtirKernel *k, MlirOperation op) {
  MlirValue a = ttirGet(k, tileMmaOpGetLhs(op)), b = ttirGet(k, tileMmaOpGetRhs(op)),
            c = ttirGet(k, tileMmaOpGetAccumulator(op));
  MlirAttribute precision = tileMmaOpGetPrecision(op);
  int64_t kind = TtPrecision_Ieee;
  static const int64_t kinds[] = {TtPrecision_Ieee, TtPrecision_Tf32, TtPrecision_Tf32x3, TtPrecision_Bf16x3,
                                  TtPrecision_Bf16x6};
  for (int i = 0; !mlirAttributeIsNull(precision) && tilePrecisionNames[i]; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(precision), tilePrecisionNames[i]))
      kind = kinds[i];
  return !mlirValueIsNull(a) && !mlirValueIsNull(b) && !mlirValueIsNull(c) &&
         set(k, op, tileOnlyResult(ttDotOpCreate(&k->b, a, b, c, ttirI32(k, kind), mlirAttributeGetNull())));
}

//===--- reductions, scans --------------------------------------------------------------------===//

// The region of one op of arith, or the op's own.
static bool combine(TtirKernel *k, MlirOperation op, MlirAttribute word, MlirRegion old, intptr_t count,
                    const MlirValue *inputs, bool isReduce, MlirRegion *region) {
  enum { Most = 8 };
  MlirType types[2 * Most];
  MlirValue results[Most];
  for (intptr_t i = 0; i < 2 * count; ++i)
    types[i] = ttirElement(mlirValueGetType(inputs[i % count]));
  TileBuilder outer = k->b;
  bool ok = true;
  k->b = tileBuilderInRegion(&outer, region, 2 * count, types);
  if (!mlirAttributeIsNull(word)) {
    TileUpstream kind = tileUpstreamKindOfName(mlirStringAttrGetValue(word));
    ok = kind != TileUpstream_None || tileError(op, "combines by an op that TTIR does not have");
    if (ok)
      results[0] =
          tileBuildBinary(&k->b, kind, mlirBlockGetArgument(k->b.block, 0), mlirBlockGetArgument(k->b.block, 1));
  } else {
    MlirBlock block = mlirRegionGetFirstBlock(old);
    MlirOperation end = mlirBlockGetTerminator(block);
    for (intptr_t i = 0; i < 2 * count; ++i)
      ttirSet(k, mlirBlockGetArgument(block, i), mlirBlockGetArgument(k->b.block, i));
    ok = ttirConvertBlock(k, block);
    for (intptr_t i = 0; ok && i < count; ++i)
      ok = !mlirValueIsNull(results[i] = ttirGet(k, mlirOperationGetOperand(end, i)));
  }
  if (ok && isReduce)
    ttReduceReturnOpBuild(&k->b, count, results);
  else if (ok)
    ttScanReturnOpBuild(&k->b, count, results);
  else
    mlirRegionDestroy(*region);
  k->b = outer;
  return ok;
}

static MlirType without(MlirType type, int64_t axis) {
  MlirExtShape shape;
  int64_t sizes[TtMaxRank];
  intptr_t rank = 0;
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (i != axis)
      sizes[rank++] = shape.sizes[i];
  return rank ? mlirRankedTensorTypeGet(rank, sizes, shape.element, mlirAttributeGetNull()) : shape.element;
}

static bool reduce(TtirKernel *k, MlirOperation op) {
  enum { Most = 8 };
  MlirValue inputs[Most];
  MlirType types[Most];
  MlirAttribute axes = tileReduceOpGetAxes(op);
  intptr_t count = tileReduceOpGetNumInputs(op);
  if (count > Most)
    return tileError(op, "reduces more than %d tiles", (int)Most);
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(inputs[i] = ttirGet(k, tileReduceOpGetInputs(op, i))))
      return false;
  for (intptr_t a = mlirDenseArrayGetNumElements(axes); a-- > 0;) { // the last first: the others keep their numbers
    int64_t axis = mlirDenseI64ArrayGetElement(axes, a);
    MlirRegion region;
    if (a && mlirDenseI64ArrayGetElement(axes, a - 1) > axis)
      return tileError(op, "lists its axes out of order, which has no conversion to tt");
    if (!combine(k, op, tileReduceOpGetOperation(op), tileReduceOpGetBody(op), count, inputs, true, &region))
      return false;
    for (intptr_t i = 0; i < count; ++i)
      types[i] = without(mlirValueGetType(inputs[i]), axis);
    MlirOperation made = ttReduceOpBuild(&k->b, count, types, count, inputs, ttirI32(k, axis), region);
    for (intptr_t i = 0; i < count; ++i)
      inputs[i] = mlirOperationGetResult(made, i);
  }
  for (intptr_t i = 0; i < count; ++i)
    ttirSet(k, mlirOperationGetResult(op, i), inputs[i]);
  return true;
}

static bool scan(TtirKernel *k, MlirOperation op) {
  enum { Most = 8 };
  MlirValue inputs[Most];
  MlirType types[Most];
  MlirRegion region;
  intptr_t count = tileScanOpGetNumInputs(op);
  if (count > Most || tileScanOpGetNumInitial(op) || tileScanOpHasExclusive(op) ||
      mlirOperationGetNumResults(op) != count)
    return tileError(op, "begins with a value or gives a total, which has no conversion to tt");
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(inputs[i] = ttirGet(k, tileScanOpGetInputs(op, i))))
      return false;
    types[i] = mlirValueGetType(inputs[i]);
  }
  if (!combine(k, op, tileScanOpGetOperation(op), tileScanOpGetBody(op), count, inputs, false, &region))
    return false;
  MlirOperation made = ttScanOpBuild(&k->b, count, types, count, inputs, ttirI32(k, tileScanOpGetAxisValue(op)),
                                     mlirBoolAttrGet(k->b.context, tileScanOpHasReverse(op)), region);
  for (intptr_t i = 0; i < count; ++i)
    ttirSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

bool ttirCompute(TtirKernel *k, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case ArithOp_Constant:
    return constant(k, op);
  case ArithOp_IndexCast:
    return indexCast(k, op, true);
  case ArithOp_IndexCastUI:
    return indexCast(k, op, false);
  case ArithOp_Bitcast:
    return bitcast(k, op);
  case ArithOp_MulUIExtended:
    return extended(k, op, true);
  case ArithOp_AddUIExtended:
    return extended(k, op, false);
  default:
    break;
  }
  if (arithOpKind(op) != ArithOp_None || mathOpKind(op) != MathOp_None)
    return elementwise(k, op);
  switch (tileOpKind(op)) {
  case TileOp_ProgramId:
    return programId(k, op, tileProgramIdOpGetAxisValue(op), ttGetProgramIdOpBuild);
  case TileOp_NumPrograms:
    return programId(k, op, tileNumProgramsOpGetAxisValue(op), ttGetNumProgramsOpBuild);
  case TileOp_Iota:
    return iota(k, op);
  case TileOp_Broadcast:
    return broadcast(k, op);
  case TileOp_Reshape:
    return reshape(k, op);
  case TileOp_Transpose:
    return transpose(k, op);
  case TileOp_Mma:
    return product(k, op);
  case TileOp_Reduce:
    return reduce(k, op);
  case TileOp_Scan:
    return scan(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
