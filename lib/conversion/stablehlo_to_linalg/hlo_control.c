// while, if, case, calls and what only passes values on. Calls are inlined: a program of JAX has many small functions.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "lib/capi/op.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/scf.h"

#include <stdlib.h>

//===--- lists of values ---------------------------------------------------------------===//

typedef struct Values {
  intptr_t count, flatCount;
  HloValue *items;
  MlirValue *flat;
  MlirType *types; // of the flat ones
} Values;

static Values allocate(intptr_t count) {
  return (Values){.count = count,
                  .items = calloc((size_t)count + 1, sizeof(HloValue)),
                  .flat = calloc(2 * (size_t)count + 1, sizeof(MlirValue)),
                  .types = calloc(2 * (size_t)count + 1, sizeof(MlirType))};
}
static void release(Values *values) {
  free(values->items);
  free(values->flat);
  free(values->types);
}
static void flatten(Values *values) {
  values->flatCount = 0;
  for (intptr_t i = 0; i < values->count; ++i)
    for (int part = 0; part < values->items[i].count; ++part) {
      values->flat[values->flatCount] = values->items[i].parts[part];
      values->types[values->flatCount++] = mlirValueGetType(values->items[i].parts[part]);
    }
}
static void setFlat(Values *values, MlirValue (*at)(const void *from, intptr_t i), const void *from) {
  intptr_t n = 0;
  for (intptr_t i = 0; i < values->count; ++i)
    for (int part = 0; part < values->items[i].count; ++part)
      values->items[i].parts[part] = at(from, n++);
}
static MlirValue argumentAt(const void *from, intptr_t i) { return mlirBlockGetArgument(*(const MlirBlock *)from, i); }
static MlirValue resultAt(const void *from, intptr_t i) {
  return mlirOperationGetResult(*(const MlirOperation *)from, i);
}

static void setResults(Hlo *h, MlirOperation op, const Values *values) {
  for (intptr_t i = 0; i < values->count; ++i)
    hloSet(h, mlirOperationGetResult(op, i), values->items[i]);
}

//===--- while -----------------------------------------------------------------------------===//

// Values that the body returns as it takes them are not carried: the loop sees them from outside.
static bool isFixed(MlirOperation op, intptr_t i) {
  MlirBlock body = mlirRegionGetFirstBlock(stablehloWhileOpGetBody(op));
  return mlirValueEqual(mlirOperationGetOperand(mlirBlockGetTerminator(body), i), mlirBlockGetArgument(body, i));
}

static void dropFixed(MlirOperation op, Values *values) {
  for (intptr_t i = 0; i < values->count; ++i)
    if (isFixed(op, i))
      values->items[i].count = 0;
  flatten(values);
}

// `inner` as a region takes them: carried ones, its block's arguments, and fixed ones.
static void enterLoop(MlirOperation op, const Values *all, Values *inner, MlirRegion region) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  setFlat(inner, argumentAt, &block);
  flatten(inner);
  for (intptr_t i = 0; i < all->count; ++i)
    if (isFixed(op, i))
      inner->items[i] = all->items[i];
}

static bool convertLoop(Hlo *h, MlirOperation op, const Values *all, Values *carried, Values *inner) {
  MlirRegion before, after;
  HloValue condition = {0};
  TileBuilder outer = h->b;
  h->b = tileBuilderInRegion(&outer, &before, carried->flatCount, carried->types);
  enterLoop(op, all, inner, before);
  bool ok = hloConvertRegion(h, stablehloWhileOpGetCond(op), inner->count, inner->items, &condition);
  if (ok)
    scfConditionOpCreate(&h->b, condition.parts[0], inner->flatCount, inner->flat);
  memcpy(inner->items, carried->items, sizeof *inner->items * (size_t)inner->count);
  h->b = tileBuilderInRegion(&outer, &after, carried->flatCount, carried->types);
  enterLoop(op, all, inner, after);
  ok = ok && hloConvertRegion(h, stablehloWhileOpGetBody(op), inner->count, inner->items, inner->items);
  if (ok) {
    dropFixed(op, inner);
    tileBuildYield(&h->b, inner->flatCount, inner->flat);
  }
  h->b = outer;
  if (!ok) {
    mlirRegionDestroy(before);
    mlirRegionDestroy(after);
    return false;
  }
  MlirOperation loop =
      scfWhileOpBuild(&h->b, carried->flatCount, carried->types, carried->flatCount, carried->flat, before, after);
  setFlat(carried, resultAt, &loop);
  for (intptr_t i = 0; i < all->count; ++i)
    hloSet(h, mlirOperationGetResult(op, i), isFixed(op, i) ? all->items[i] : carried->items[i]);
  return true;
}

static bool convertWhile(Hlo *h, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  Values all = allocate(count), carried = allocate(count), inner = allocate(count);
  bool ok = true;
  for (intptr_t i = 0; i < count; ++i)
    ok &= (all.items[i] = hloGet(h, mlirOperationGetOperand(op, i))).count > 0;
  memcpy(carried.items, all.items, sizeof *all.items * (size_t)count);
  dropFixed(op, &carried);
  memcpy(inner.items, carried.items, sizeof *inner.items * (size_t)count);
  ok = ok && convertLoop(h, op, &all, &carried, &inner);
  release(&inner);
  release(&carried);
  release(&all);
  return ok;
}

//===--- if, case ----------------------------------------------------------------------------===//

static bool convertBranch(Hlo *h, MlirOperation op, MlirRegion old, MlirRegion *region, Values *values) {
  TileBuilder outer = h->b;
  h->b = tileBuilderInRegion(&outer, region, 0, NULL);
  bool ok = hloConvertRegion(h, old, 0, NULL, values->items);
  flatten(values);
  if (ok)
    tileBuildYield(&h->b, values->flatCount, values->flat);
  h->b = outer;
  return ok;
}

static bool convertIf(Hlo *h, MlirOperation op) {
  Values values = allocate(mlirOperationGetNumResults(op));
  MlirRegion then, otherwise;
  MlirValue condition = hloOne(h, stablehloIfOpGetPred(op));
  bool ok = convertBranch(h, op, stablehloIfOpGetTrueBranch(op), &then, &values);
  ok = convertBranch(h, op, stablehloIfOpGetFalseBranch(op), &otherwise, &values) && ok;
  if (ok) {
    MlirOperation branch = scfIfOpBuild(&h->b, values.flatCount, values.types, condition, then, otherwise);
    setFlat(&values, resultAt, &branch);
    setResults(h, op, &values);
  } else {
    mlirRegionDestroy(then);
    mlirRegionDestroy(otherwise);
  }
  release(&values);
  return ok;
}

// The last branch is the default. Two branches become an scf.if, whose first region is that of 0.
static bool convertCase(Hlo *h, MlirOperation op) {
  intptr_t count = mlirOperationGetNumRegions(op);
  Values values = allocate(mlirOperationGetNumResults(op));
  MlirRegion *regions = calloc((size_t)count, sizeof *regions);
  int64_t *cases = calloc((size_t)count, sizeof *cases);
  bool ok = true;
  for (intptr_t i = 0; i < count; ++i) {
    ok = convertBranch(h, op, mlirOperationGetRegion(op, i), &regions[i], &values) && ok;
    cases[i] = i;
  }
  for (intptr_t i = 0; i < count && !ok; ++i)
    mlirRegionDestroy(regions[i]);
  if (ok) {
    MlirValue number = hloOne(h, stablehloCaseOpGetIndex(op));
    MlirValue index = tileBuildCast(&h->b, ArithOp_IndexCast, number, mlirIndexTypeGet(h->b.context));
    MlirOperation branch;
    if (count == 2)
      branch =
          scfIfOpBuild(&h->b, values.flatCount, values.types,
                       arithCmpIOpBuild(&h->b, index, tileBuildIndex(&h->b, 0), ArithCmpI_Eq), regions[0], regions[1]);
    else
      branch = scfIndexSwitchOpCreate(&h->b, values.flatCount, values.types, index,
                                      mlirDenseI64ArrayGet(h->b.context, count - 1, cases), regions[count - 1],
                                      count - 1, regions);
    setFlat(&values, resultAt, &branch);
    setResults(h, op, &values);
  }
  free(cases);
  free(regions);
  release(&values);
  return ok;
}

//===--- calls --------------------------------------------------------------------------------===//

static bool inlineCall(Hlo *h, MlirOperation op, MlirAttribute symbol) {
  enum { Deepest = sizeof h->calls / sizeof *h->calls };
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  MlirOperation callee = mlirExtSymbolLookup(op, symbol);
  MlirBlock block = funcFuncOpIsA(callee) ? mlirRegionGetFirstBlock(funcFuncOpGetBody(callee)) : (MlirBlock){NULL};
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(op, "calls '%.*s', which is no function of one block here", (int)name.length, name.data);
  for (int i = 0; i < h->depth; ++i)
    if (mlirOperationEqual(h->calls[i], callee))
      return tileError(op, "calls '%.*s' from within itself", (int)name.length, name.data);
  if (h->depth == Deepest)
    return tileError(op, "calls nest deeper than %d", Deepest);
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirOperation end = mlirBlockGetTerminator(block);
  if (mlirBlockGetNumArguments(block) != count || !funcReturnOpIsA(end) ||
      mlirOperationGetNumOperands(end) != mlirOperationGetNumResults(op))
    return tileError(op, "calls '%.*s' with other values than it takes and returns", (int)name.length, name.data);
  Values values = allocate(count > mlirOperationGetNumResults(op) ? count : mlirOperationGetNumResults(op));
  bool ok = true;
  for (intptr_t i = 0; i < count; ++i)
    ok &= (values.items[i] = hloGet(h, mlirOperationGetOperand(op, i))).count > 0;
  for (intptr_t i = 0; ok && i < count; ++i)
    hloSet(h, mlirBlockGetArgument(block, i), values.items[i]);
  h->calls[h->depth++] = callee;
  ok = ok && hloConvertBlock(h, block);
  --h->depth;
  for (intptr_t i = 0; ok && i < mlirOperationGetNumResults(op); ++i)
    ok = (values.items[i] = hloGet(h, mlirOperationGetOperand(end, i))).count > 0;
  values.count = mlirOperationGetNumResults(op);
  if (ok)
    setResults(h, op, &values);
  release(&values);
  return ok;
}

//===--- all ----------------------------------------------------------------------------------===//

static bool pass(Hlo *h, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    HloValue value = hloGet(h, mlirOperationGetOperand(op, i));
    if (!value.count)
      return false;
    hloSet(h, mlirOperationGetResult(op, i), value);
  }
  return true;
}

bool hloControl(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  if (funcCallOpIsA(op))
    return inlineCall(h, op, funcCallOpGetCallee(op));
  switch (stablehloOpKind(op)) {
  case StablehloOp_While:
    return convertWhile(h, op);
  case StablehloOp_If:
    return convertIf(h, op);
  case StablehloOp_Case:
    return convertCase(h, op);
  case StablehloOp_OptimizationBarrier:
    return pass(h, op);
  case StablehloOp_Composite:
    return inlineCall(h, op, stablehloCompositeOpGetDecomposition(op));
  default:
    *isKnown = false;
    return true;
  }
}
