// reduce, scan and histogram; map_elementwise is in triton_map.c. A body that is no single op of arith has no neutral
// element that could be read off: each element then comes with a flag that says whether there is one, so that any body
// has one.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/tile/ops.h"
#include "upstream/arith.h"

enum { MostInputs = 16 };

// The one op that combines the block's two arguments, of those that tile.reduce knows. Null: another body.
static MlirOperation onlyOp(MlirBlock block) {
  static const TileUpstream known[] = {ArithOp_AddF,     ArithOp_AddI,     ArithOp_MulF,    ArithOp_MulI,
                                       ArithOp_MaximumF, ArithOp_MinimumF, ArithOp_MaxNumF, ArithOp_MinNumF,
                                       ArithOp_MaxSI,    ArithOp_MaxUI,    ArithOp_MinSI,   ArithOp_MinUI,
                                       ArithOp_AndI,     ArithOp_OrI,      ArithOp_XOrI,    TileUpstream_None};
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  bool ok = mlirBlockGetNumArguments(block) == 2 && tileUpstreamIsOneOf(op, known) &&
            mlirOperationEqual(mlirOperationGetNextInBlock(op), end) &&
            mlirValueEqual(tileOnlyOperand(end), tileOnlyResult(op));
  bool takesBoth = ok && mlirValueIsABlockArgument(tileBinaryLhs(op)) && mlirValueIsABlockArgument(tileBinaryRhs(op)) &&
                   !mlirValueEqual(tileBinaryLhs(op), tileBinaryRhs(op));
  return takesBoth ? op : (MlirOperation){NULL};
}

static MlirAttribute zeroOf(MlirType element) {
  return mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, 0)
                                   : mlirIntegerAttrGet(element, 0);
}

// tile's region on (a…, has a, b…, has b): the body's result where both are there, else the one that is.
static bool buildBody(Triton *t, MlirBlock old, intptr_t count, MlirRegion *region) {
  MlirType types[2 * MostInputs + 2], i1 = mlirIntegerTypeGet(t->b.context, 1);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = types[count + 1 + i] = mlirValueGetType(mlirBlockGetArgument(old, i));
  types[count] = types[2 * count + 1] = i1;
  TileBuilder outer = t->b;
  t->b = tileBuilderInRegion(&outer, region, 2 * count + 2, types);
  MlirValue results[MostInputs + 1], arguments[2 * MostInputs + 2];
  for (intptr_t i = 0; i < 2 * count + 2; ++i)
    arguments[i] = mlirBlockGetArgument(t->b.block, i);
  for (intptr_t i = 0; i < count; ++i) {
    tritonSetPlain(t, mlirBlockGetArgument(old, i), arguments[i]);
    tritonSetPlain(t, mlirBlockGetArgument(old, count + i), arguments[count + 1 + i]);
  }
  bool ok = tritonConvertBlock(t, old);
  MlirOperation end = mlirBlockGetTerminator(old);
  for (intptr_t i = 0; ok && i < count; ++i) {
    MlirValue both = tritonPlain(t, mlirOperationGetOperand(end, i));
    ok = !mlirValueIsNull(both);
    if (!ok)
      break;
    MlirValue left = arithSelectOpBuild(&t->b, arguments[2 * count + 1], both, arguments[i]);
    results[i] = arithSelectOpBuild(&t->b, arguments[count], left, arguments[count + 1 + i]);
  }
  results[count] = tileBuildBinary(&t->b, ArithOp_OrI, arguments[count], arguments[2 * count + 1]);
  if (ok)
    tileYieldOpBuild(&t->b, count + 1, results);
  t->b = outer;
  if (!ok)
    mlirRegionDestroy(*region);
  return ok;
}

typedef struct Along {
  MlirOperation op;
  MlirBlock block;
  MlirAttribute axis; // of the old tiles
  bool isScan;
  MlirAttribute reverse; // null: no
} Along;

static MlirOperation build(Triton *t, const Along *along, intptr_t numInputs, const MlirValue *inputs,
                           const MlirType *results, MlirAttribute operation, MlirAttribute neutral, MlirRegion body) {
  intptr_t axis = tritonAxis(tileFirstOperandType(along->op), mlirIntegerAttrGetValueInt(along->axis));
  if (along->isScan)
    return tileScanOpCreate(&t->b, numInputs, inputs, 0, NULL, operation, tileBuildEnum(&t->b, 64, axis),
                            along->reverse, mlirAttributeGetNull(), neutral, body);
  return tileReduceOpCreate(&t->b, numInputs, results, numInputs, inputs, operation, tritonAxes(t, axis), neutral,
                            body);
}

static bool convertAlong(Triton *t, const Along *along) {
  MlirOperation op = along->op;
  MlirType i1 = mlirIntegerTypeGet(t->b.context, 1);
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirValue inputs[MostInputs + 1];
  MlirType results[MostInputs + 1];
  MlirAttribute neutral[MostInputs + 1];
  if (count > MostInputs)
    return tileError(op, "combines more than %d tiles", (int)MostInputs);
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(inputs[i] = tritonPlain(t, mlirOperationGetOperand(op, i))))
      return false;
    results[i] = tritonType(tileResultType(op, i));
    neutral[i] = zeroOf(ttTypeGetElement(tileOperandType(op, i)));
  }
  if (tritonAxis(tileFirstOperandType(op), mlirIntegerAttrGetValueInt(along->axis)) < 0) { // of one element each
    for (intptr_t i = 0; i < count; ++i)
      tritonSetPlain(t, mlirOperationGetResult(op, i), inputs[i]);
    return true;
  }
  MlirOperation only = onlyOp(along->block), made;
  if (!mlirOperationIsNull(only)) {
    made = build(t, along, 1, inputs, results, mlirStringAttrGet(t->b.context, tileOpName(only)),
                 mlirAttributeGetNull(), (MlirRegion){NULL});
  } else {
    MlirRegion body;
    if (!buildBody(t, along->block, count, &body))
      return false;
    MlirType flags = tritonWithElement(mlirValueGetType(inputs[0]), i1);
    inputs[count] = tileBuildConstant(&t->b, mlirDenseElementsAttrSplatGet(flags, mlirIntegerAttrGet(i1, 1)));
    results[count] = tritonWithElement(results[0], i1);
    neutral[count] = mlirIntegerAttrGet(i1, 0);
    made = build(t, along, count + 1, inputs, results, mlirAttributeGetNull(),
                 mlirArrayAttrGet(t->b.context, count + 1, neutral), body);
  }
  for (intptr_t i = 0; i < count; ++i)
    tritonSetPlain(t, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

static bool reduce(Triton *t, MlirOperation op) {
  Along along = {.op = op, .block = mlirRegionGetFirstBlock(ttReduceOpGetCombineOp(op)), .axis = ttReduceOpGetAxis(op)};
  return convertAlong(t, &along);
}

static bool scan(Triton *t, MlirOperation op) {
  bool isReverse = mlirBoolAttrGetValue(ttScanOpGetReverse(op));
  Along along = {.op = op,
                 .block = mlirRegionGetFirstBlock(ttScanOpGetCombineOp(op)),
                 .axis = ttScanOpGetAxis(op),
                 .isScan = true,
                 .reverse = isReverse ? mlirUnitAttrGet(t->b.context) : mlirAttributeGetNull()};
  return convertAlong(t, &along);
}

static bool histogram(Triton *t, MlirOperation op) {
  MlirValue input = tritonFull(t, ttHistogramOpGetSrc(op)), mask = {NULL};
  if (mlirValueIsNull(input))
    return false;
  if (!mlirValueIsNull(ttHistogramOpGetMask(op)) && mlirValueIsNull(mask = tritonFull(t, ttHistogramOpGetMask(op))))
    return false;
  tritonSetFull(t, ttHistogramOpGetResult(op),
                tileHistogramOpBuild(&t->b, ttHistogramOpGetResultType(op), input, mask));
  return true;
}

bool tritonReduction(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  switch (ttOpKind(op)) {
  case TtOp_Reduce:
    return reduce(t, op);
  case TtOp_Scan:
    return scan(t, op);
  case TtOp_Histogram:
    return histogram(t, op);
  case TtOp_MapElementwise:
    return tritonMap(t, op);
  default:
    *isKnown = false;
    return true;
  }
}
