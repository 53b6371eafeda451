// Control flow: scf's loops and conditions become cuda_tile's. A `while` is a loop that a condition leaves. Reductions
// and scans have regions too: their elements are tiles of rank 0, in pairs.
#include "lib/conversion/tile_to_cuda_tile/export_kernel.h"

#include "dialects/tile/combiner.h"
#include "upstream/arith.h"
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

//===--- reductions that stand for other ops --------------------------------------------------===//

static MlirValue combineAlong(ExportKernel *k, MlirValue x, intptr_t axis, TileUpstream kind) {
  MlirType type = mlirValueGetType(x), element = mlirShapedTypeGetElementType(type), result = without(type, axis);
  MlirType scalar, scalars[2];
  MlirAttribute zero = mlirIntegerAttrGet(element, 0);
  MlirRegion region;
  scalar = scalars[0] = scalars[1] = exportSized(0, NULL, element);
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, 2, scalars);
  MlirValue both = exportFill(k, scalar, 0);
  exportCombine(k, kind, mlirBlockGetArgument(k->b.block, 0), mlirBlockGetArgument(k->b.block, 1), &both);
  cudaTileYieldOpBuild(&k->b, 1, &both);
  k->b = outer;
  MlirOperation made = cudaTileReduceOpBuild(&k->b, 1, &result, 1, &x, exportI64(k, axis),
                                             mlirArrayAttrGet(k->b.context, 1, &zero), region);
  return cudaTileReduceOpGetResults(made, 0);
}

static MlirValue isEqual(ExportKernel *k, MlirValue x, MlirValue y) {
  return cudaTileCmpIOpBuild(&k->b, x, y, exportWord(k, "equal"), exportSign(k, true));
}

static bool isTooLarge(MlirOperation op, intptr_t rank, const int64_t *sizes) {
  int64_t elements = 1;
  for (intptr_t i = 0; i < rank; ++i)
    if (sizes[i] > CudaTileMaxElements / elements)
      return !tileError(op, "compares more than %d pairs, which is more than a tile of CUDA Tile IR has",
                        (int)CudaTileMaxElements);
    else
      elements *= sizes[i];
  return false;
}

// Every element beside every value that is counted: how many pairs are equal.
static bool histogram(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileHistogramOpGetInput(op)), mask;
  MlirType type = exportType(op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type) || !exportGetOptional(k, tileHistogramOpGetMask(op), &mask))
    return false;
  MlirExtShape from, to;
  mlirExtTypeGetShape(mlirValueGetType(x), &from);
  mlirExtTypeGetShape(type, &to);
  if (from.rank != 1 || to.rank != 1)
    return tileError(op, "counts a tile of %ld dimensions, expected 1", (long)from.rank);
  int64_t sizes[] = {from.sizes[0], to.sizes[0]};
  if (isTooLarge(op, 2, sizes))
    return false;
  MlirValue values = cudaTileIotaOpBuild(&k->b, exportSized(1, to.sizes, from.element));
  MlirValue equal = isEqual(k, exportAlong(k, x, 2, sizes, 0), exportAlong(k, values, 2, sizes, 1));
  if (!mlirValueIsNull(mask))
    equal = cudaTileAndIOpBuild(&k->b, equal, exportAlong(k, mask, 2, sizes, 0));
  MlirType counts = exportSized(2, sizes, to.element);
  MlirValue ones = cudaTileSelectOpBuild(&k->b, equal, exportFill(k, counts, 1), exportFill(k, counts, 0));
  return exportSetResult(k, op, combineAlong(k, ones, 0, ArithOp_AddI));
}

// The tile with another dimension before `axis`, which repeats.
static MlirValue beside(ExportKernel *k, MlirValue x, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(x));
  int64_t thin[CudaTileMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    thin[i] = i == axis ? 1 : sizes[i];
  MlirValue value = cudaTileReshapeOpBuild(&k->b, exportSized(rank, thin, element), x);
  return cudaTileBroadcastOpBuild(&k->b, exportSized(rank, sizes, element), value);
}

// Numbers along an axis of a tile: every place beside every element. The bits of the equal one are taken.
static bool pick(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileGatherOpGetSource(op)), index = exportGet(k, tileGatherOpGetIndices(op, 0));
  MlirType type = exportType(op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(index) || mlirTypeIsNull(type))
    return false;
  MlirExtShape from, to;
  intptr_t axis = mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(op)), rank = 0;
  mlirExtTypeGetShape(mlirValueGetType(x), &from);
  mlirExtTypeGetShape(type, &to);
  bool isPlain =
      mlirValueIsNull(tileGatherOpGetMask(op)) && exportIs(tileGatherOpGetBounds(op), "trap") &&
      mlirTypeEqual(mlirValueGetType(index), exportShaped(type, mlirShapedTypeGetElementType(mlirValueGetType(index))));
  if (!isPlain || from.rank >= CudaTileMaxRank)
    return tileError(op,
                     "takes elements of a tile with a mask, or not one by one, which has no conversion to cuda_tile");
  int64_t sizes[CudaTileMaxRank];
  for (intptr_t i = 0; i < to.rank; ++i) {
    sizes[rank++] = to.sizes[i];
    if (i == axis)
      sizes[rank++] = from.sizes[i];
  }
  if (isTooLarge(op, rank, sizes))
    return false;
  unsigned width = tileElementWidth(from.element);
  MlirType bits = exportInteger(k, width), wide = exportSized(rank, sizes, bits);
  if (mlirTypeIsAFloat(from.element))
    x = cudaTileBitcastOpBuild(&k->b, exportShaped(mlirValueGetType(x), bits), x);
  MlirValue numbers = cudaTileIotaOpBuild(
      &k->b, exportSized(1, &sizes[axis + 1], mlirShapedTypeGetElementType(mlirValueGetType(index))));
  MlirValue equal = isEqual(k, beside(k, index, rank, sizes, axis + 1), exportAlong(k, numbers, rank, sizes, axis + 1));
  MlirValue taken = cudaTileSelectOpBuild(&k->b, equal, beside(k, x, rank, sizes, axis), exportFill(k, wide, 0));
  MlirValue result = combineAlong(k, taken, axis + 1, ArithOp_OrI);
  if (mlirTypeIsAFloat(from.element))
    result = cudaTileBitcastOpBuild(&k->b, type, result);
  return exportSetResult(k, op, result);
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
  case TileOp_Histogram:
    return histogram(k, op);
  case TileOp_Gather:
    if (!mlirAttributeIsNull(tileGatherOpGetAxis(op)))
      return pick(k, op);
    break;
  default:
    break;
  }
  *isKnown = false;
  return true;
}
