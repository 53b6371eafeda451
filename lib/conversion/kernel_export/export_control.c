// Control flow, and reductions and scans, which have regions too.
#include "lib/conversion/kernel_export/export.h"

#include "upstream/scf.h"

//===--- loops, conditions ----------------------------------------------------------------===//

static bool convertFor(ExportKernel *k, MlirOperation op) {
  MlirValue *values = exportNewValues(k, op);
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(op));
  MlirRegion region;
  intptr_t count;
  if (!exportGetAll(k, op, 0, values, &count))
    return false;
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)count);
  for (intptr_t i = 0; i < count - 2; ++i)
    types[i] = mlirValueGetType(values[i + 2]); // the counter is of the step's type
  TileBuilder outer = k->b;
  k->b = tileBuilderInRegion(&outer, &region, count - 2, types);
  exportSetArguments(k, old, k->b.block);
  bool ok = exportConvertRegion(k, old, ExportEnd_Loop);
  k->b = outer;
  if (ok)
    exportSetResults(k, op, k->v->loop(k, op, count, values, region));
  else
    mlirRegionDestroy(region);
  return ok;
}

static bool convertIf(ExportKernel *k, MlirOperation op) {
  MlirType *types = exportResultTypes(k, op);
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
      k->v->end(k, ExportEnd_Branch, 0, NULL);
    else
      ok = ok && exportConvertRegion(k, block, ExportEnd_Branch);
  }
  k->b = outer;
  if (!ok) {
    mlirRegionDestroy(regions[0]);
    mlirRegionDestroy(regions[1]);
    return false;
  }
  intptr_t count = mlirOperationGetNumResults(op);
  exportSetResults(k, op, k->v->branch(&k->b, count, types, condition, regions[0], regions[1]));
  return true;
}

//===--- reductions, scans ------------------------------------------------------------------===//

// The region that combines two elements of each input: of one op of arith, or the op's own. tile's region takes all
// left elements, then all right ones.
static bool combine(ExportKernel *k, MlirOperation op, MlirAttribute word, MlirRegion own, intptr_t count,
                    const MlirValue *inputs, ExportEnd end, MlirRegion *region) {
  MlirType types[2 * ExportMaxCombined];
  for (intptr_t i = 0; i < 2 * count; ++i)
    types[k->v->argument(i, count)] = exportSized(k, 0, NULL, exportElement(mlirValueGetType(inputs[i % count])));
  TileBuilder outer = k->b;
  bool ok = true;
  k->b = tileBuilderInRegion(&outer, region, 2 * count, types);
  if (!mlirAttributeIsNull(word)) {
    MlirValue result, x = mlirBlockGetArgument(k->b.block, 0), y = mlirBlockGetArgument(k->b.block, 1);
    ok = k->v->combine(k, tileUpstreamKindOfName(mlirStringAttrGetValue(word)), x, y, &result) ||
         tileError(op, "combines by an op that %s does not have", k->v->language);
    if (ok)
      k->v->end(k, end, 1, &result);
  } else {
    MlirBlock block = mlirRegionGetFirstBlock(own);
    for (intptr_t i = 0; i < 2 * count; ++i)
      exportSet(k, mlirBlockGetArgument(block, i), mlirBlockGetArgument(k->b.block, k->v->argument(i, count)));
    ok = exportConvertRegion(k, block, end);
  }
  if (!ok)
    mlirRegionDestroy(*region);
  k->b = outer;
  return ok;
}

static bool takeInputs(ExportKernel *k, MlirOperation op, intptr_t count, MlirValue (*at)(MlirOperation op, intptr_t i),
                       MlirValue *inputs) {
  if (count > ExportMaxCombined)
    return tileError(op, "combines more than %d tiles", (int)ExportMaxCombined);
  for (intptr_t i = 0; i < count; ++i)
    if (mlirValueIsNull(inputs[i] = exportGet(k, at(op, i))))
      return false;
  return true;
}

static bool reduce(ExportKernel *k, MlirOperation op) {
  MlirValue inputs[ExportMaxCombined];
  MlirType types[ExportMaxCombined];
  MlirAttribute axes = tileReduceOpGetAxes(op);
  intptr_t count = tileReduceOpGetNumInputs(op);
  if (!takeInputs(k, op, count, tileReduceOpGetInputs, inputs))
    return false;
  for (intptr_t a = mlirDenseArrayGetNumElements(axes); a-- > 0;) { // the last first: the others keep their numbers
    int64_t axis = mlirDenseI64ArrayGetElement(axes, a);
    MlirRegion region;
    if (a && mlirDenseI64ArrayGetElement(axes, a - 1) > axis)
      return tileError(op, "lists its axes out of order, which has no conversion to %s", k->v->dialect);
    if (!combine(k, op, tileReduceOpGetOperation(op), tileReduceOpGetBody(op), count, inputs, ExportEnd_Reduce,
                 &region))
      return false;
    for (intptr_t i = 0; i < count; ++i)
      types[i] = exportWithout(k, mlirValueGetType(inputs[i]), axis);
    MlirOperation made = k->v->reduce(k, op, count, types, inputs, axis, region);
    if (mlirOperationIsNull(made))
      return false;
    for (intptr_t i = 0; i < count; ++i)
      inputs[i] = mlirOperationGetResult(made, i);
  }
  for (intptr_t i = 0; i < count; ++i)
    exportSet(k, mlirOperationGetResult(op, i), inputs[i]);
  return true;
}

static bool scan(ExportKernel *k, MlirOperation op) {
  MlirValue inputs[ExportMaxCombined];
  MlirType types[ExportMaxCombined];
  MlirRegion region;
  intptr_t count = tileScanOpGetNumInputs(op);
  if (tileScanOpGetNumInitial(op) || tileScanOpHasExclusive(op) || mlirOperationGetNumResults(op) != count)
    return tileError(op,
                     "begins with a value, leaves out the place itself or gives a total, which has no conversion to "
                     "%s",
                     k->v->dialect);
  if (!takeInputs(k, op, count, tileScanOpGetInputs, inputs) ||
      !combine(k, op, tileScanOpGetOperation(op), tileScanOpGetBody(op), count, inputs, ExportEnd_Scan, &region))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(inputs[i]);
  MlirOperation made = k->v->scan(k, op, count, types, inputs, region);
  if (mlirOperationIsNull(made))
    return false;
  exportSetResults(k, op, made);
  return true;
}

bool exportControl(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  *isKnown = true;
  if (scfForOpIsA(op))
    return convertFor(k, op);
  if (scfIfOpIsA(op))
    return convertIf(k, op);
  if (tileReduceOpIsA(op))
    return reduce(k, op);
  if (tileScanOpIsA(op))
    return scan(k, op);
  *isKnown = false;
  return true;
}
