// scf: loops and conditions carry numbers, offsets of pointers and offsets of block pointers. Loops over integers count
// in index.
#include "lib/conversion/tt_to_tile/triton.h"

#include "upstream/arith.h"
#include "upstream/scf.h"

enum { MostValues = 256 };

typedef struct Values {
  intptr_t count;
  TritonValue items[MostValues];
} Values;

static Values *newValues(Triton *t) { return tritonAllocate(t, sizeof(Values)); }

// The values of operands [begin, end).
static bool getValues(Triton *t, MlirOperation op, intptr_t begin, intptr_t end, Values *values) {
  values->count = end - begin;
  if (values->count > MostValues)
    return tileError(op, "has more than %d values", (int)MostValues);
  for (intptr_t i = begin; i < end; ++i)
    if ((values->items[i - begin] = tritonGet(t, mlirOperationGetOperand(op, i))).kind == Triton_None)
      return false;
  return true;
}

typedef struct Parts {
  intptr_t count;
  MlirValue values[MostValues * 2];
  MlirType types[MostValues * 2];
} Parts;

static Parts *flatten(Triton *t, MlirOperation at, const Values *values) {
  Parts *parts = tritonAllocate(t, sizeof *parts);
  for (intptr_t i = 0; i < values->count; ++i) {
    if (parts->count + TritonMaxParts > 2 * MostValues) {
      tileError(at, "has more than %d values", 2 * (int)MostValues);
      return NULL;
    }
    intptr_t count = tritonFlatten(t, &values->items[i], parts->values + parts->count);
    for (intptr_t j = 0; j < count; ++j)
      parts->types[parts->count + j] = mlirValueGetType(parts->values[parts->count + j]);
    parts->count += count;
  }
  return parts;
}

static intptr_t countOf(const TritonValue *value) {
  return value->kind != Triton_Block ? 1 : value->block->hasOffsets ? value->block->rank : 0;
}

// Each old value stands for the new ones that were made of what `like` has at its place.
static void setParts(Triton *t, const Values *like, intptr_t count, const MlirValue *olds, const MlirValue *news) {
  for (intptr_t i = 0; i < count; ++i) {
    tritonSet(t, olds[i], tritonUnflatten(t, &like->items[i], news));
    news += countOf(&like->items[i]);
  }
}

static void setArguments(Triton *t, const Values *like, MlirBlock old, intptr_t first, MlirBlock block,
                         intptr_t firstNew) {
  MlirValue olds[MostValues], news[MostValues * 2];
  for (intptr_t i = 0; i < like->count; ++i)
    olds[i] = mlirBlockGetArgument(old, first + i);
  for (intptr_t i = firstNew; i < mlirBlockGetNumArguments(block); ++i)
    news[i - firstNew] = mlirBlockGetArgument(block, i);
  setParts(t, like, like->count, olds, news);
}

static void setResults(Triton *t, const Values *like, MlirOperation old, MlirOperation op) {
  MlirValue olds[MostValues], news[MostValues * 2];
  for (intptr_t i = 0; i < like->count; ++i)
    olds[i] = mlirOperationGetResult(old, i);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    news[i] = mlirOperationGetResult(op, i);
  setParts(t, like, like->count, olds, news);
}

// The values of the terminator, as `like` carries them. Null after an error.
static Parts *getLike(Triton *t, MlirOperation end, intptr_t begin, Values *like) {
  Values *values = newValues(t);
  if (!getValues(t, end, begin, mlirOperationGetNumOperands(end), values))
    return NULL;
  for (intptr_t i = 0; i < like->count; ++i) {
    TritonValue seen = like->items[i];
    if (!tritonMerge(t, end, &values->items[i], &seen))
      return NULL;
    if (seen.kind == Triton_Pointer && !mlirValueEqual(values->items[i].base, seen.base)) {
      tileError(end, "moves a pointer to different memory from round to round: expected offsets into one argument");
      return NULL;
    }
  }
  return flatten(t, end, values);
}

//===--- if, index_switch --------------------------------------------------------------===//

typedef struct Branch {
  MlirRegion region;
  TileBuilder end; // behind what was converted
  Values *values;
} Branch;

static bool convertBranch(Triton *t, MlirRegion old, Branch *branch) {
  MlirBlock block = mlirRegionGetFirstBlock(old);
  TileBuilder outer = t->b;
  branch->values = newValues(t);
  t->b = tileBuilderInRegion(&outer, &branch->region, 0, NULL);
  bool ok = mlirBlockIsNull(block) || tritonConvertBlock(t, block);
  MlirOperation end = mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
  if (ok && !mlirOperationIsNull(end))
    ok = getValues(t, end, 0, mlirOperationGetNumOperands(end), branch->values);
  branch->end = t->b;
  t->b = outer;
  if (!ok)
    mlirRegionDestroy(branch->region);
  return ok;
}

// All branches give what the first one does, its undefined values defined by the others. `types`: of the results.
static Parts *mergeBranches(Triton *t, MlirOperation op, intptr_t count, Branch *branches) {
  Values *first = branches[0].values;
  Parts *result = NULL;
  TileBuilder outer = t->b;
  bool ok = true;
  for (intptr_t b = 1; ok && b < count; ++b)
    for (intptr_t i = 0; ok && i < first->count; ++i) {
      t->b = branches[0].end;
      ok = tritonMerge(t, op, &first->items[i], &branches[b].values->items[i]);
    }
  for (intptr_t b = 0; ok && b < count; ++b) {
    t->b = branches[b].end;
    for (intptr_t i = 0; ok && i < first->count; ++i)
      ok = tritonMerge(t, op, &branches[b].values->items[i], &first->items[i]);
    Parts *parts = ok ? flatten(t, op, branches[b].values) : NULL;
    ok = parts != NULL;
    if (ok)
      scfYieldOpBuild(&t->b, parts->count, parts->values);
    result = b ? result : parts;
  }
  t->b = outer;
  for (intptr_t b = 0; !ok && b < count; ++b)
    mlirRegionDestroy(branches[b].region);
  return ok ? result : NULL;
}

static bool convertIf(Triton *t, MlirOperation op) {
  Branch branches[2];
  MlirValue condition = tritonPlain(t, scfIfOpGetCondition(op));
  if (mlirValueIsNull(condition) || !convertBranch(t, scfIfOpGetThenRegion(op), &branches[0]))
    return false;
  if (!convertBranch(t, scfIfOpGetElseRegion(op), &branches[1])) {
    mlirRegionDestroy(branches[0].region);
    return false;
  }
  Parts *parts = mergeBranches(t, op, 2, branches);
  if (!parts)
    return false;
  MlirOperation made =
      scfIfOpBuild(&t->b, parts->count, parts->types, condition, branches[0].region, branches[1].region);
  setResults(t, branches[0].values, op, made);
  return true;
}

static bool convertSwitch(Triton *t, MlirOperation op) {
  intptr_t count = mlirOperationGetNumRegions(op), done = 0;
  Branch *branches = tritonAllocate(t, sizeof *branches * (size_t)count);
  MlirRegion *regions = tritonAllocate(t, sizeof *regions * (size_t)count);
  MlirValue number = tritonPlain(t, scfIndexSwitchOpGetArg(op));
  if (mlirValueIsNull(number))
    return false;
  while (done < count && convertBranch(t, mlirOperationGetRegion(op, done), &branches[done]))
    ++done;
  for (intptr_t i = 0; done < count && i < done; ++i)
    mlirRegionDestroy(branches[i].region);
  Parts *parts = done == count ? mergeBranches(t, op, count, branches) : NULL;
  if (!parts)
    return false;
  for (intptr_t i = 0; i < count; ++i)
    regions[i] = branches[i].region;
  MlirOperation made = scfIndexSwitchOpBuild(&t->b, parts->count, parts->types, number, scfIndexSwitchOpGetCases(op),
                                             regions[0], count - 1, regions + 1);
  setResults(t, branches[0].values, op, made);
  return true;
}

//===--- for ------------------------------------------------------------------------------===//

// Hints stay.
static void copyHints(MlirOperation from, MlirOperation to) {
  for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetDiscardableAttribute(from, i);
    mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(attribute.name), attribute.attribute);
  }
}

static bool convertFor(Triton *t, MlirOperation op) {
  MlirValue bounds[] = {tritonPlain(t, scfForOpGetLowerBound(op)), tritonPlain(t, scfForOpGetUpperBound(op)),
                        tritonPlain(t, scfForOpGetStep(op))};
  Values *values = newValues(t);
  for (int i = 0; i < 3; ++i)
    if (mlirValueIsNull(bounds[i]))
      return false;
  if (scfForOpHasUnsignedCmp(op))
    return tileError(op, "counts unsigned integers, expected signed ones");
  if (!getValues(t, op, 3, mlirOperationGetNumOperands(op), values))
    return false;
  Parts *initial = flatten(t, op, values);
  if (!initial)
    return false;
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(op)), body;
  MlirType counted = mlirValueGetType(bounds[0]);
  for (int i = 0; i < 3; ++i)
    bounds[i] = tritonIndex(t, bounds[i]);
  MlirOperation loop = tileBuildFor(&t->b, bounds[0], bounds[1], bounds[2], initial->count, initial->values, &body);
  TileBuilder outer = t->b;
  t->b = tileBuilderAtEnd(body, outer.location);
  MlirValue counter = mlirBlockGetArgument(body, 0);
  if (!mlirTypeIsAIndex(counted))
    counter = arithIndexCastOpBuild(&t->b, counted, counter);
  tritonSetPlain(t, mlirBlockGetArgument(old, 0), counter);
  setArguments(t, values, old, 1, body, 1);
  Parts *next = tritonConvertBlock(t, old) ? getLike(t, mlirBlockGetTerminator(old), 0, values) : NULL;
  if (!next)
    return false;
  tileBuildYield(&t->b, next->count, next->values);
  t->b = outer;
  copyHints(op, loop);
  setResults(t, values, op, loop);
  return true;
}

//===--- while ----------------------------------------------------------------------------===//

static bool convertWhile(Triton *t, MlirOperation op) {
  MlirBlock before = mlirRegionGetFirstBlock(scfWhileOpGetBefore(op));
  MlirBlock after = mlirRegionGetFirstBlock(scfWhileOpGetAfter(op));
  MlirOperation condition = mlirBlockGetTerminator(before);
  Values *values = newValues(t), *passed = newValues(t);
  if (!getValues(t, op, 0, mlirOperationGetNumOperands(op), values))
    return false;
  Parts *initial = flatten(t, op, values);
  if (!initial)
    return false;
  TileBuilder outer = t->b;
  MlirRegion regions[2];
  t->b = tileBuilderInRegion(&outer, &regions[0], initial->count, initial->types);
  setArguments(t, values, before, 0, t->b.block, 0);
  Parts *parts = NULL;
  MlirValue goes = {NULL};
  if (tritonConvertBlock(t, before) && !mlirValueIsNull(goes = tritonPlain(t, scfConditionOpGetCondition(condition))) &&
      getValues(t, condition, 1, mlirOperationGetNumOperands(condition), passed))
    parts = flatten(t, condition, passed);
  if (!parts) {
    mlirRegionDestroy(regions[0]);
    return false;
  }
  scfConditionOpBuild(&t->b, goes, parts->count, parts->values);
  t->b = tileBuilderInRegion(&outer, &regions[1], parts->count, parts->types);
  setArguments(t, passed, after, 0, t->b.block, 0);
  Parts *next = tritonConvertBlock(t, after) ? getLike(t, mlirBlockGetTerminator(after), 0, values) : NULL;
  if (!next) {
    mlirRegionDestroy(regions[1]);
    mlirRegionDestroy(regions[0]);
    return false;
  }
  scfYieldOpBuild(&t->b, next->count, next->values);
  t->b = outer;
  MlirOperation loop =
      scfWhileOpBuild(&t->b, parts->count, parts->types, initial->count, initial->values, regions[0], regions[1]);
  copyHints(op, loop);
  setResults(t, passed, op, loop);
  return true;
}

bool tritonControl(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  switch (tileUpstreamKind(op)) {
  case ScfOp_If:
    return convertIf(t, op);
  case ScfOp_IndexSwitch:
    return convertSwitch(t, op);
  case ScfOp_For:
    return convertFor(t, op);
  case ScfOp_While:
    return convertWhile(t, op);
  default:
    *isKnown = false;
    return true;
  }
}
