// Control flow: scf's loops and conditions become cuda_tile's. A `while` is a loop that a condition leaves. Reductions
// and scans have regions too: their elements are tiles of rank 0, in pairs.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

#include "dialects/tile/combiner.h"
#include "upstream/scf.h"

//===--- regions ------------------------------------------------------------------------===//

static MlirValue *newValues(ExportKernel *k, MlirOperation op) {
  return tileArenaAllocate(&k->arena, sizeof(MlirValue) * (size_t)(mlirOperationGetNumOperands(op) + 1));
}

static MlirType *typesOf(ExportKernel *k, intptr_t count, const MlirValue *values) {
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  return types;
}

static MlirType *resultTypes(ExportKernel *k, MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    if (mlirTypeIsNull(types[i] = exportType(op, tileResultType(op, i))))
      return NULL;
  return types;
}

static void setArguments(ExportKernel *k, MlirBlock old, MlirBlock made) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i)
    exportSet(k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(made, i));
}

static void setResults(ExportKernel *k, MlirOperation op, MlirOperation made) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    exportSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
}

// All of the block into the builder's, then an end with the values of its terminator from `first` on.
static bool convertRegion(ExportKernel *k, MlirBlock block, intptr_t first,
                          MlirOperation (*end)(TileBuilder *b, intptr_t count, const MlirValue *values)) {
  MlirOperation terminator = mlirBlockGetTerminator(block);
  MlirValue *values = newValues(k, terminator);
  intptr_t count;
  if (!exportConvertBlock(k, block) || !exportGetAll(k, terminator, first, values, &count))
    return false;
  end(&k->b, count, values);
  return true;
}

//===--- loops, conditions ----------------------------------------------------------------===//

static bool convertFor(ExportKernel *k, MlirOperation op) {
  MlirValue *values = newValues(k, op);
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(op));
  MlirRegion region;
  intptr_t count;
  if (!exportGetAll(k, op, 0, values, &count))
    return false;
  bool isUnsigned = scfForOpHasUnsignedCmp(op);
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, count - 2,
                             typesOf(k, count - 2, values + 2)); // the counter is of the step's type
  setArguments(k, old, k->b.block);
  bool ok = convertRegion(k, old, 0, cudaTileContinueOpBuild);
  k->b = outer;
  if (!ok) {
    mlirRegionDestroy(region);
    return false;
  }
  setResults(k, op,
             cudaTileForOpCreate(&k->b, values[0], values[1], values[2], count - 3, values + 3,
                                 isUnsigned ? mlirUnitAttrGet(k->b.context) : mlirAttributeGetNull(), region));
  return true;
}

static bool convertIf(ExportKernel *k, MlirOperation op) {
  MlirType *types = resultTypes(k, op);
  MlirValue condition = exportGet(k, scfIfOpGetCondition(op));
  MlirRegion regions[2];
  bool ok = types && !mlirValueIsNull(condition);
  if (!ok)
    return false;
  TileBuilder outer = k->b;
  for (int i = 0; i < 2; ++i) {
    MlirBlock block = mlirRegionGetFirstBlock(i ? scfIfOpGetElseRegion(op) : scfIfOpGetThenRegion(op));
    k->b = tileBuilderInRegion(&outer, &regions[i], 0, NULL);
    if (mlirBlockIsNull(block))
      cudaTileYieldOpBuild(&k->b, 0, NULL);
    else
      ok = ok && convertRegion(k, block, 0, cudaTileYieldOpBuild);
  }
  k->b = outer;
  if (!ok) {
    mlirRegionDestroy(regions[0]);
    mlirRegionDestroy(regions[1]);
    return false;
  }
  intptr_t count = mlirOperationGetNumResults(op);
  setResults(k, op, cudaTileIfOpBuild(&k->b, count, types, condition, regions[0], regions[1]));
  return true;
}

// Behind the condition, inside the loop: goes on where it holds, else leaves with the values that it passes on.
static bool leaveUnless(ExportKernel *k, MlirOperation condition) {
  MlirValue *values = newValues(k, condition);
  MlirRegion regions[2];
  intptr_t count;
  if (!exportGetAll(k, condition, 0, values, &count))
    return false;
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &regions[0], 0, NULL);
  cudaTileYieldOpBuild(&k->b, 0, NULL);
  k->b = tileBuilderInRegion(&outer, &regions[1], 0, NULL);
  cudaTileBreakOpBuild(&k->b, count - 1, values + 1);
  k->b = outer;
  cudaTileIfOpBuild(&k->b, 0, NULL, values[0], regions[0], regions[1]);
  return true;
}

static bool convertWhile(ExportKernel *k, MlirOperation op) {
  MlirBlock before = mlirRegionGetFirstBlock(scfWhileOpGetBefore(op)),
            after = mlirRegionGetFirstBlock(scfWhileOpGetAfter(op));
  MlirOperation condition = mlirBlockGetTerminator(before);
  MlirType *types = resultTypes(k, op);
  MlirValue *values = newValues(k, op);
  MlirRegion region;
  intptr_t count;
  if (!types || !exportGetAll(k, op, 0, values, &count))
    return false;
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, count, typesOf(k, count, values));
  setArguments(k, before, k->b.block);
  bool ok = exportConvertBlock(k, before) && leaveUnless(k, condition);
  for (intptr_t i = 0; ok && i < mlirBlockGetNumArguments(after); ++i)
    exportSet(k, mlirBlockGetArgument(after, i), exportGet(k, mlirOperationGetOperand(condition, i + 1)));
  ok = ok && convertRegion(k, after, 0, cudaTileContinueOpBuild);
  k->b = outer;
  if (ok)
    setResults(k, op, cudaTileLoopOpBuild(&k->b, mlirOperationGetNumResults(op), types, count, values, region));
  else
    mlirRegionDestroy(region);
  return ok;
}

//===--- reductions, scans ------------------------------------------------------------------===//

enum { MostCombined = 8 };

// The region that combines two elements of each input: of one op of arith, or the op's own. tile's region takes all
// left elements, then all right ones.
static bool combine(ExportKernel *k, MlirOperation op, MlirAttribute word, MlirRegion own, intptr_t count,
                    const MlirValue *inputs, MlirRegion *region) {
  MlirType types[2 * MostCombined];
  for (intptr_t i = 0; i < 2 * count; ++i)
    types[i] = exportSized(0, NULL, mlirShapedTypeGetElementType(mlirValueGetType(inputs[i / 2])));
  TileBuilder outer = k->b;
  bool ok = true;
  k->b = tileBuilderInRegion(&outer, region, 2 * count, types);
  if (!mlirAttributeIsNull(word)) {
    MlirValue result, x = mlirBlockGetArgument(k->b.block, 0), y = mlirBlockGetArgument(k->b.block, 1);
    ok = exportCombine(k, tileUpstreamKindOfName(mlirStringAttrGetValue(word)), x, y, &result) ||
         tileError(op, "combines by an op that CUDA Tile IR does not have");
    if (ok)
      cudaTileYieldOpBuild(&k->b, 1, &result);
  } else {
    MlirBlock block = mlirRegionGetFirstBlock(own);
    for (intptr_t i = 0; i < 2 * count; ++i)
      exportSet(k, mlirBlockGetArgument(block, i),
                mlirBlockGetArgument(k->b.block, i < count ? 2 * i : 2 * (i - count) + 1));
    ok = convertRegion(k, block, 0, cudaTileYieldOpBuild);
  }
  if (!ok)
    mlirRegionDestroy(*region);
  k->b = outer;
  return ok;
}

static bool identities(ExportKernel *k, MlirOperation op, intptr_t count, MlirAttribute *list) {
  MlirAttribute parts[MostCombined];
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute neutral = tileCombinerNeutralOf(op, i);
    if (mlirAttributeIsNull(neutral))
      return tileError(op, "does not say what is neutral, expected `neutral`");
    bool isIndex = mlirTypeIsAIndex(mlirAttributeGetType(neutral));
    parts[i] = isIndex ? exportI64(k, mlirIntegerAttrGetValueInt(neutral)) : neutral;
  }
  *list = mlirArrayAttrGet(k->b.context, count, parts);
  return true;
}

static MlirType without(MlirType type, int64_t axis) {
  MlirExtShape shape;
  int64_t sizes[CudaTileMaxRank];
  intptr_t rank = 0;
  mlirExtTypeGetShape(type, &shape);
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (i != axis)
      sizes[rank++] = shape.sizes[i];
  return exportSized(rank, sizes, shape.element);
}

static bool takeInputs(ExportKernel *k, MlirOperation op, intptr_t count, MlirValue (*at)(MlirOperation op, intptr_t i),
                       MlirValue *inputs) {
  if (count > MostCombined)
    return tileError(op, "combines more than %d tiles", (int)MostCombined);
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(inputs[i] = exportGet(k, at(op, i))))
      return false;
  return true;
}

static bool reduce(ExportKernel *k, MlirOperation op) {
  MlirValue inputs[MostCombined];
  MlirType types[MostCombined];
  MlirAttribute axes = tileReduceOpGetAxes(op), neutral;
  intptr_t count = tileReduceOpGetNumInputs(op);
  if (!takeInputs(k, op, count, tileReduceOpGetInputs, inputs) || !identities(k, op, count, &neutral))
    return false;
  for (intptr_t a = mlirDenseArrayGetNumElements(axes); a-- > 0;) { // the last first: the others keep their numbers
    int64_t axis = mlirDenseI64ArrayGetElement(axes, a);
    MlirRegion region;
    if (!combine(k, op, tileReduceOpGetOperation(op), tileReduceOpGetBody(op), count, inputs, &region))
      return false;
    for (intptr_t i = 0; i < count; ++i)
      types[i] = without(mlirValueGetType(inputs[i]), axis);
    MlirOperation made = cudaTileReduceOpBuild(&k->b, count, types, count, inputs, exportI64(k, axis), neutral, region);
    for (intptr_t i = 0; i < count; ++i)
      inputs[i] = mlirOperationGetResult(made, i);
  }
  for (intptr_t i = 0; i < count; ++i)
    exportSet(k, mlirOperationGetResult(op, i), inputs[i]);
  return true;
}

static bool scan(ExportKernel *k, MlirOperation op) {
  MlirValue inputs[MostCombined];
  MlirAttribute neutral;
  MlirRegion region;
  intptr_t count = tileScanOpGetNumInputs(op);
  if (tileScanOpGetNumInitial(op) || tileScanOpHasExclusive(op))
    return tileError(op, "begins with a value or leaves out the place itself, which has no conversion to cuda_tile");
  if (!takeInputs(k, op, count, tileScanOpGetInputs, inputs) || !identities(k, op, count, &neutral) ||
      !combine(k, op, tileScanOpGetOperation(op), tileScanOpGetBody(op), count, inputs, &region))
    return false;
  setResults(k, op,
             cudaTileScanOpBuild(&k->b, count, inputs, exportI64(k, tileScanOpGetAxisValue(op)),
                                 mlirBoolAttrGet(k->b.context, tileScanOpHasReverse(op)), neutral, region));
  return true;
}

bool exportControl(ExportKernel *k, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case ScfOp_For:
    return convertFor(k, op);
  case ScfOp_If:
    return convertIf(k, op);
  case ScfOp_While:
    return convertWhile(k, op);
  default:
    break;
  }
  switch (tileOpKind(op)) {
  case TileOp_Reduce:
    return reduce(k, op);
  case TileOp_Scan:
    return scan(k, op);
  default:
    *isKnown = false;
    return true;
  }
}
