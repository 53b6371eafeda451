// Ops that CUDA Tile IR says by others: a `while` is a loop that a condition leaves; a histogram and a gather from a
// tile compare each element with each place.
#include "lib/conversion/tile_to_cuda_tile/cuda_tile_export.h"

#include "upstream/scf.h"

//===--- while ----------------------------------------------------------------------------===//

static MlirType *typesOf(ExportKernel *k, intptr_t count, const MlirValue *values) {
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  return types;
}

// Behind the condition, inside the loop: goes on where it holds, else leaves with the values that it passes on.
static bool leaveUnless(ExportKernel *k, MlirOperation condition) {
  MlirValue *values = exportNewValues(k, condition);
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
  MlirType *types = exportResultTypes(k, op);
  MlirValue *values = exportNewValues(k, op);
  MlirRegion region;
  intptr_t count;
  if (!types || !exportGetAll(k, op, 0, values, &count))
    return false;
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, count, typesOf(k, count, values));
  exportSetArguments(k, before, k->b.block);
  bool ok = exportConvertBlock(k, before) && leaveUnless(k, condition);
  for (intptr_t i = 0; ok && i < mlirBlockGetNumArguments(after); ++i)
    exportSet(k, mlirBlockGetArgument(after, i), exportGet(k, mlirOperationGetOperand(condition, i + 1)));
  ok = ok && exportConvertRegion(k, after, ExportEnd_Loop);
  k->b = outer;
  if (ok)
    exportSetResults(k, op, cudaTileLoopOpBuild(&k->b, mlirOperationGetNumResults(op), types, count, values, region));
  else
    mlirRegionDestroy(region);
  return ok;
}

//===--- reductions that stand for other ops --------------------------------------------------===//

static MlirValue combineAlong(ExportKernel *k, MlirValue x, intptr_t axis, TileUpstream kind) {
  MlirType type = mlirValueGetType(x), element = mlirShapedTypeGetElementType(type),
           result = exportWithout(k, type, axis);
  MlirType scalar, scalars[2];
  MlirAttribute zero = mlirIntegerAttrGet(element, 0);
  MlirRegion region;
  scalar = scalars[0] = scalars[1] = exportSized(k, 0, NULL, element);
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, 2, scalars);
  MlirValue both = exportFill(k, scalar, 0);
  cudaTileCombine(k, kind, mlirBlockGetArgument(k->b.block, 0), mlirBlockGetArgument(k->b.block, 1), &both);
  cudaTileYieldOpBuild(&k->b, 1, &both);
  k->b = outer;
  MlirOperation made = cudaTileReduceOpBuild(&k->b, 1, &result, 1, &x, cudaTileI64(k, axis),
                                             mlirArrayAttrGet(k->b.context, 1, &zero), region);
  return cudaTileReduceOpGetResults(made, 0);
}

static MlirValue isEqual(ExportKernel *k, MlirValue x, MlirValue y) {
  return cudaTileCmpIOpBuild(&k->b, x, y, exportWord(k, "equal"), cudaTileSign(k, true));
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
  MlirType type = exportType(k, op, tileOnlyResultType(op));
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
  MlirValue values = cudaTileIotaOpBuild(&k->b, exportSized(k, 1, to.sizes, from.element));
  MlirValue equal = isEqual(k, exportAlong(k, x, 2, sizes, 0), exportAlong(k, values, 2, sizes, 1));
  if (!mlirValueIsNull(mask))
    equal = cudaTileAndIOpBuild(&k->b, equal, exportAlong(k, mask, 2, sizes, 0));
  MlirType counts = exportSized(k, 2, sizes, to.element);
  MlirValue ones = cudaTileSelectOpBuild(&k->b, equal, exportFill(k, counts, 1), exportFill(k, counts, 0));
  return exportSetResult(k, op, combineAlong(k, ones, 0, ArithOp_AddI));
}

// The tile with another dimension before `axis`, which repeats.
static MlirValue beside(ExportKernel *k, MlirValue x, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(x));
  int64_t thin[ExportMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    thin[i] = i == axis ? 1 : sizes[i];
  MlirValue value = cudaTileReshapeOpBuild(&k->b, exportSized(k, rank, thin, element), x);
  return cudaTileBroadcastOpBuild(&k->b, exportSized(k, rank, sizes, element), value);
}

// Numbers along an axis of a tile: every place beside every element. The bits of the equal one are taken.
static bool pick(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileGatherOpGetSource(op)), index = exportGet(k, tileGatherOpGetIndices(op, 0));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(index) || mlirTypeIsNull(type))
    return false;
  MlirExtShape from, to;
  intptr_t axis = mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(op)), rank = 0;
  mlirExtTypeGetShape(mlirValueGetType(x), &from);
  mlirExtTypeGetShape(type, &to);
  bool isPlain = mlirValueIsNull(tileGatherOpGetMask(op)) && exportIs(tileGatherOpGetBounds(op), "trap") &&
                 mlirTypeEqual(mlirValueGetType(index),
                               exportShaped(k, type, mlirShapedTypeGetElementType(mlirValueGetType(index))));
  if (!isPlain || from.rank >= ExportMaxRank)
    return tileError(op,
                     "takes elements of a tile with a mask, or not one by one, which has no conversion to cuda_tile");
  int64_t sizes[ExportMaxRank];
  for (intptr_t i = 0; i < to.rank; ++i) {
    sizes[rank++] = to.sizes[i];
    if (i == axis)
      sizes[rank++] = from.sizes[i];
  }
  if (isTooLarge(op, rank, sizes))
    return false;
  unsigned width = tileElementWidth(from.element);
  MlirType bits = exportInteger(k, width), wide = exportSized(k, rank, sizes, bits);
  if (mlirTypeIsAFloat(from.element))
    x = cudaTileBitcastOpBuild(&k->b, exportShaped(k, mlirValueGetType(x), bits), x);
  MlirValue numbers = cudaTileIotaOpBuild(
      &k->b, exportSized(k, 1, &sizes[axis + 1], mlirShapedTypeGetElementType(mlirValueGetType(index))));
  MlirValue equal = isEqual(k, beside(k, index, rank, sizes, axis + 1), exportAlong(k, numbers, rank, sizes, axis + 1));
  MlirValue taken = cudaTileSelectOpBuild(&k->b, equal, beside(k, x, rank, sizes, axis), exportFill(k, wide, 0));
  MlirValue result = combineAlong(k, taken, axis + 1, ArithOp_OrI);
  if (mlirTypeIsAFloat(from.element))
    result = cudaTileBitcastOpBuild(&k->b, type, result);
  return exportSetResult(k, op, result);
}

bool cudaTileExportStandIns(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  if (scfWhileOpIsA(op))
    return convertWhile(k, op);
  if (tileHistogramOpIsA(op))
    return histogram(k, op);
  if (tileGatherOpIsA(op) && !mlirAttributeIsNull(tileGatherOpGetAxis(op)))
    return pick(k, op);
  *isKnown = false;
  return true;
}
