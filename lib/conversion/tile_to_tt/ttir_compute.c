// Arithmetic and products of TTIR, parts of tiles, and loops that a condition ends. See tile_to_tt.c.
#include "lib/conversion/tile_to_tt/ttir_export.h"

#include "upstream/arith.h"
#include "upstream/math.h"
#include "upstream/scf.h"

//===--- elements -------------------------------------------------------------------------===//

// An index is an i64.
static bool indexCast(ExportKernel *k, MlirOperation op, bool isSigned) {
  MlirValue x = exportGet(k, tileOnlyOperand(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  return !mlirValueIsNull(x) && !mlirTypeIsNull(type) && exportSetResult(k, op, ttirResize(k, x, type, isSigned));
}

static bool extended(ExportKernel *k, MlirOperation op, bool isProduct) {
  MlirValue x = exportGet(k, tileBinaryLhs(op)), y = exportGet(k, tileBinaryRhs(op)), values[2];
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  ttirExtended(&k->b, isProduct, x, y, values);
  for (int i = 0; i < 2; ++i)
    exportSet(k, mlirOperationGetResult(op, i), values[i]);
  return true;
}

// Quotients that round down or up: the quotient toward zero is off by one if there is a remainder and its sign is not
// the divisor's (down), or is (up).
static bool roundedQuotient(ExportKernel *k, MlirOperation op, bool isSigned, bool isUp) {
  MlirValue x = exportGet(k, tileBinaryLhs(op)), y = exportGet(k, tileBinaryRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  MlirType type = mlirValueGetType(x);
  MlirValue quotient = tileBuildBinary(&k->b, isSigned ? ArithOp_DivSI : ArithOp_DivUI, x, y);
  MlirValue rest = tileBuildBinary(&k->b, isSigned ? ArithOp_RemSI : ArithOp_RemUI, x, y);
  MlirValue zero = exportFill(k, type, 0), isOff = arithCmpIOpBuild(&k->b, rest, zero, ArithCmpI_Ne);
  if (isSigned) {
    MlirValue signs = tileBuildBinary(&k->b, ArithOp_XOrI, rest, y);
    isOff = tileBuildBinary(&k->b, ArithOp_AndI, isOff,
                            arithCmpIOpBuild(&k->b, signs, zero, isUp ? ArithCmpI_Sge : ArithCmpI_Slt));
  }
  MlirValue one = tileBuildCast(&k->b, ArithOp_ExtUI, isOff, type);
  return exportSetResult(k, op, tileBuildBinary(&k->b, isUp ? ArithOp_AddI : ArithOp_SubI, quotient, one));
}

static bool elementwise(ExportKernel *k, MlirOperation op) {
  enum { Most = 8 };
  MlirValue operands[Most];
  MlirType results[Most];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  if (numOperands > Most || numResults > Most || mlirOperationGetNumRegions(op))
    return tileError(op, "has no conversion to tt");
  for (intptr_t i = 0; i < numOperands; ++i)
    if (mlirValueIsNull(operands[i] = exportGet(k, mlirOperationGetOperand(op, i))))
      return false;
  for (intptr_t i = 0; i < numResults; ++i)
    if (mlirTypeIsNull(results[i] = exportType(k, op, tileResultType(op, i))))
      return false;
  MlirOperation made = tileBuildLike(&k->b, op, operands, numResults, results);
  for (intptr_t i = 0; i < numResults; ++i)
    exportSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

//===--- products ---------------------------------------------------------------------------===//

static bool product(ExportKernel *k, MlirOperation op) {
  MlirValue a = exportGet(k, tileMmaOpGetLhs(op)), b = exportGet(k, tileMmaOpGetRhs(op)),
            c = exportGet(k, tileMmaOpGetAccumulator(op));
  MlirAttribute precision = tileMmaOpGetPrecision(op);
  int64_t kind = TtPrecision_Ieee;
  static const int64_t kinds[] = {TtPrecision_Ieee, TtPrecision_Tf32, TtPrecision_Tf32x3, TtPrecision_Bf16x3,
                                  TtPrecision_Bf16x6};
  for (int i = 0; !mlirAttributeIsNull(precision) && tilePrecisionNames[i]; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(precision), tilePrecisionNames[i]))
      kind = kinds[i];
  return !mlirValueIsNull(a) && !mlirValueIsNull(b) && !mlirValueIsNull(c) &&
         exportSetResult(k, op,
                         tileOnlyResult(ttDotOpCreate(&k->b, a, b, c, ttirI32(k, kind), mlirAttributeGetNull())));
}

static MlirValue turned(ExportKernel *k, MlirValue matrix) {
  MlirExtShape shape = exportShape(mlirValueGetType(matrix));
  int64_t sizes[] = {shape.sizes[1], shape.sizes[0]};
  int32_t order[] = {1, 0};
  return ttTransOpBuild(&k->b, exportSized(k, 2, sizes, shape.element), matrix,
                        mlirDenseI32ArrayGet(k->b.context, 2, order));
}

static bool scaledProduct(ExportKernel *k, MlirOperation op) {
  MlirValue a = exportGet(k, tileMmaScaledOpGetLhs(op)), b = exportGet(k, tileMmaScaledOpGetRhs(op));
  MlirValue c = exportGet(k, tileMmaScaledOpGetAccumulator(op));
  MlirValue left = exportGet(k, tileMmaScaledOpGetLhsScale(op)), right = exportGet(k, tileMmaScaledOpGetRhsScale(op));
  if (mlirValueIsNull(a) || mlirValueIsNull(b) || mlirValueIsNull(c) || mlirValueIsNull(left) || mlirValueIsNull(right))
    return false;
  int64_t kinds[] = {ttScaledOf(exportElement(mlirValueGetType(tileMmaScaledOpGetLhs(op)))),
                     ttScaledOf(exportElement(mlirValueGetType(tileMmaScaledOpGetRhs(op))))};
  MlirValue scales[] = {left, turned(k, right)};
  if (kinds[0] < 0 || kinds[1] < 0 || exportRank(mlirValueGetType(a)) != 2)
    return tileError(op, "multiplies scaled elements other than matrices of e4m3, e5m2 and e2m1, which has no "
                         "conversion to tt");
  if (kinds[0] == TtScaled_E2M1) // pairs along K
    a = ttirPacked(k, a);
  if (kinds[1] == TtScaled_E2M1)
    b = turned(k, ttirPacked(k, turned(k, b)));
  return exportSetResult(k, op,
                         ttDotScaledOpBuild(&k->b, a, b, c, scales[0], scales[1], ttirI32(k, kinds[0]),
                                            ttirI32(k, kinds[1]), mlirBoolAttrGet(k->b.context, false)));
}

// Floats of 8 bits saturate.
static bool convertType(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileConvertTypeOpGetInput(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  MlirAttribute mode = tileConvertTypeOpGetRounding(op);
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  MlirType from = exportElement(mlirValueGetType(x)), to = exportElement(type);
  bool isDown = exportIs(mode, "toward_zero");
  bool fits = mlirTypeIsAFloat(from) && mlirTypeIsAFloat(to) && tileElementWidth(to) == 8 &&
              tileConvertTypeOpHasSaturate(op) && tileElementWidth(from) > 8 &&
              (isDown || mlirAttributeIsNull(mode) || exportIs(mode, "nearest_even"));
  if (!fits)
    return tileError(op, "converts in a way that has no conversion to tt, expected to floats of 8 bits, saturated");
  MlirAttribute rounding = ttirI32(k, isDown ? TtRounding_TowardZero : TtRounding_NearestEven);
  return exportSetResult(k, op, tileOnlyResult(ttFpToFpOpCreate(&k->b, type, x, rounding)));
}

//===--- tiles ------------------------------------------------------------------------------===//

// A part that begins at a known place: its elements by number, axis by axis.
static bool slice(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileSliceOpGetInput(op));
  MlirType type = mlirValueIsNull(x) ? (MlirType){NULL} : exportType(k, op, tileOnlyResultType(op));
  if (mlirTypeIsNull(type))
    return false;
  if (tileSliceOpGetNumOffsets(op))
    return tileError(op, "begins at a place known only at run time, which has no conversion to tt");
  MlirExtShape from = exportShape(mlirValueGetType(x)), to = exportShape(type);
  int64_t sizes[ExportMaxRank];
  for (intptr_t i = 0; i < from.rank; ++i)
    sizes[i] = from.sizes[i];
  for (intptr_t axis = 0; axis < from.rank; ++axis) {
    if (from.sizes[axis] == to.sizes[axis])
      continue;
    sizes[axis] = to.sizes[axis];
    MlirType i32 = exportSized(k, from.rank, sizes, exportInteger(k, 32));
    MlirValue places = ttirResize(k, exportRange(k, from.rank, sizes, axis), i32, true);
    MlirValue first = exportFill(k, i32, mlirDenseI64ArrayGetElement(tileSliceOpGetStaticOffsets(op), axis));
    x = ttGatherOpBuild(&k->b, exportSized(k, from.rank, sizes, from.element), x,
                        exportCombine(k, ArithOp_AddI, places, first), ttirI32(k, axis));
  }
  return exportSetResult(k, op, x);
}

// join makes a new last dimension of size 2, which moves before dimension `axis` and becomes one with it.
static MlirValue joined(ExportKernel *k, MlirValue left, MlirValue right, int64_t axis) {
  MlirExtShape shape = exportShape(mlirValueGetType(left));
  int64_t pairs[ExportMaxRank + 1], moved[ExportMaxRank + 1], sizes[ExportMaxRank];
  int32_t order[ExportMaxRank + 1];
  for (intptr_t i = 0, from = 0; i <= shape.rank; ++i) {
    pairs[i] = i < shape.rank ? shape.sizes[i] : 2;
    order[i] = i == axis ? (int32_t)shape.rank : (int32_t)from++;
  }
  for (intptr_t i = 0; i <= shape.rank; ++i)
    moved[i] = pairs[order[i]];
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = shape.sizes[i] * (i == axis ? 2 : 1);
  MlirValue both = ttJoinOpBuild(&k->b, exportSized(k, shape.rank + 1, pairs, shape.element), left, right);
  both = ttTransOpBuild(&k->b, exportSized(k, shape.rank + 1, moved, shape.element), both,
                        mlirDenseI32ArrayGet(k->b.context, shape.rank + 1, order));
  return ttReshapeOpBuild(&k->b, exportSized(k, shape.rank, sizes, shape.element), both);
}

static bool concatenate(ExportKernel *k, MlirOperation op) {
  intptr_t count = tileCatOpGetNumInputs(op);
  MlirValue *parts = exportNewValues(k, op);
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(parts[i] = exportGet(k, tileCatOpGetInputs(op, i))))
      return false;
    if (!mlirTypeEqual(mlirValueGetType(parts[i]), mlirValueGetType(parts[0])))
      return tileError(op, "joins tiles of several types, which has no conversion to tt");
  }
  if ((count & (count - 1)) || exportRank(mlirValueGetType(parts[0])) >= ExportMaxRank)
    return tileError(op, "joins %ld tiles, expected a power of two, of fewer than %d dimensions", (long)count,
                     (int)ExportMaxRank);
  for (intptr_t left = count; left > 1; left /= 2)
    for (intptr_t i = 0; i < left / 2; ++i)
      parts[i] = joined(k, parts[2 * i], parts[2 * i + 1], tileCatOpGetAxisValue(op));
  return exportSetResult(k, op, parts[0]);
}

// Triton counts i32 only, and looks at the lower bits of what is no place of the result.
static bool histogram(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileHistogramOpGetInput(op)), mask;
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type) || !exportGetOptional(k, tileHistogramOpGetMask(op), &mask))
    return false;
  MlirType i32 = exportShaped(k, mlirValueGetType(x), exportInteger(k, 32));
  if (tileElementWidth(exportElement(mlirValueGetType(x))) < 32)
    x = ttirResize(k, x, i32, false);
  MlirValue bins = exportFill(k, mlirValueGetType(x), exportShape(type).sizes[0]);
  mask = exportBoth(k, mask, arithCmpIOpBuild(&k->b, x, bins, ArithCmpI_Ult));
  x = ttirResize(k, x, i32, false);
  return exportSetResult(k, op, tileOnlyResult(ttHistogramOpCreate(&k->b, type, x, mask)));
}

static bool pick(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileGatherOpGetSource(op)), index = exportGet(k, tileGatherOpGetIndices(op, 0));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(index) || mlirTypeIsNull(type))
    return false;
  bool isPlain = mlirValueIsNull(tileGatherOpGetMask(op)) && exportIs(tileGatherOpGetBounds(op), "trap") &&
                 mlirTypeEqual(mlirValueGetType(index), exportShaped(k, type, exportElement(mlirValueGetType(index))));
  if (!isPlain)
    return tileError(op, "takes elements of a tile with a mask, or not one by one, which has no conversion to tt");
  return exportSetResult(
      k, op, ttGatherOpBuild(&k->b, type, x, index, ttirI32(k, mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(op)))));
}

// The text before a value is its prefix. Values that commas part are those of one op.
static void printPart(ExportKernel *k, MlirStringRef text, intptr_t count, const MlirValue *values) {
  int32_t isSigned[ExportMaxPrinted];
  for (intptr_t i = 0; i < count; ++i)
    isSigned[i] = 1;
  ttPrintOpBuild(&k->b, count, values, mlirStringAttrGet(k->b.context, text), mlirBoolAttrGet(k->b.context, false),
                 mlirDenseI32ArrayGet(k->b.context, count, isSigned));
}

static MlirStringRef from(MlirStringRef text, size_t at) {
  return mlirStringRefCreate(text.data + at, text.length - at);
}

bool ttirPrint(ExportKernel *k, MlirStringRef message, intptr_t count, const MlirValue *values) {
  while (message.length) {
    size_t end = 0;
    intptr_t together = 0;
    while (end < message.length && !exportIsPlaceholder(message, end))
      ++end;
    MlirStringRef prefix = {message.data, end};
    message = from(message, end);
    for (const char *next = "{}"; tileStringStartsWith(message, next); next = ", {}", ++together)
      message = from(message, strlen(next));
    printPart(k, prefix, together, values);
    values += together;
  }
  return true;
}

// What is assumed of a value is forgotten.
static bool assume(ExportKernel *k, MlirOperation op) {
  MlirValue old = tileAssumeOpGetValue(op);
  if (!mlirTypeIsAMemRef(mlirValueGetType(old)))
    return exportSetResult(k, op, exportGet(k, old));
  const ExportMemory *memory = exportMemory(k, old);
  if (memory)
    *exportNewMemory(k, tileOnlyResult(op)) = *memory;
  return memory != NULL;
}

static bool convertWhile(ExportKernel *k, MlirOperation op) {
  MlirBlock olds[] = {mlirRegionGetFirstBlock(scfWhileOpGetBefore(op)),
                      mlirRegionGetFirstBlock(scfWhileOpGetAfter(op))};
  MlirType *types = exportResultTypes(k, op);
  MlirValue *values = exportNewValues(k, op);
  MlirRegion regions[2];
  intptr_t count, passed, numResults = mlirOperationGetNumResults(op);
  if (!types || !exportGetAll(k, op, 0, values, &count))
    return false;
  MlirType *carried = tileArenaAllocate(&k->arena, sizeof *carried * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    carried[i] = mlirValueGetType(values[i]);
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &regions[0], count, carried);
  exportSetArguments(k, olds[0], k->b.block);
  MlirOperation condition = mlirBlockGetTerminator(olds[0]);
  MlirValue *given = exportNewValues(k, condition);
  bool ok = exportConvertBlock(k, olds[0]) && exportGetAll(k, condition, 0, given, &passed);
  if (ok)
    scfConditionOpBuild(&k->b, given[0], passed - 1, given + 1);
  k->b = tileBuilderInRegion(&outer, &regions[1], numResults, types);
  exportSetArguments(k, olds[1], k->b.block);
  ok = ok && exportConvertRegion(k, olds[1], ExportEnd_Loop);
  k->b = outer;
  if (ok) {
    exportSetResults(k, op, scfWhileOpBuild(&k->b, numResults, types, count, values, regions[0], regions[1]));
    return true;
  }
  mlirRegionDestroy(regions[0]);
  mlirRegionDestroy(regions[1]);
  return false;
}

bool ttirCompute(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case ArithOp_Constant:
    *isKnown = false;
    return true;
  case ArithOp_IndexCast:
    return indexCast(k, op, true);
  case ArithOp_IndexCastUI:
    return indexCast(k, op, false);
  case ArithOp_MulUIExtended:
    return extended(k, op, true);
  case ArithOp_AddUIExtended:
    return extended(k, op, false);
  case ArithOp_FloorDivSI:
    return roundedQuotient(k, op, true, false);
  case ArithOp_CeilDivSI:
    return roundedQuotient(k, op, true, true);
  case ArithOp_CeilDivUI:
    return roundedQuotient(k, op, false, true);
  case ScfOp_While:
    return convertWhile(k, op);
  default:
    break;
  }
  if (arithOpKind(op) != ArithOp_None || mathOpKind(op) != MathOp_None)
    return elementwise(k, op);
  switch (tileOpKind(op)) {
  case TileOp_Mma:
    return product(k, op);
  case TileOp_MmaScaled:
    return scaledProduct(k, op);
  case TileOp_ConvertType:
    return convertType(k, op);
  case TileOp_Slice:
    return slice(k, op);
  case TileOp_Cat:
    return concatenate(k, op);
  case TileOp_Histogram:
    return histogram(k, op);
  case TileOp_Gather:
    *isKnown = !mlirAttributeIsNull(tileGatherOpGetAxis(op));
    return !*isKnown || pick(k, op);
  case TileOp_Assume:
    return assume(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
