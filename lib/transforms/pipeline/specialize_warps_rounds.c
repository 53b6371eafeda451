// Attention whose mask hides keys by a finite number visits hidden keys in rounds of their own: two walks over blocks
// of keys in an outer loop of two rounds. Here these become two loops, one behind the other. See specialize_warps.h.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/table.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum { Walks = 2 };

typedef struct Walk {
  MlirOperation rounds; // the outer loop
  TileBuilder builder;
  TileTable table; // values of a round → what stands for them
} Walk;

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

static MlirValue get(Walk *walk, MlirValue value) {
  void *known = tileTableFind(&walk->table, value.ptr);
  return known ? (MlirValue){known} : value;
}

// What a comparison with the round's number or a choice by one is; null: not known.
static MlirValue folded(Walk *walk, MlirOperation op) {
  int64_t a, b;
  MlirAttribute condition;
  if (arithCmpIOpIsA(op) && arithCmpIOpGetPredicateValue(op) == ArithCmpI_Eq &&
      tileConstantIndex(get(walk, tileBinaryLhs(op)), &a) && tileConstantIndex(get(walk, tileBinaryRhs(op)), &b))
    return tileBuildInteger(&walk->builder, mlirValueGetType(tileOnlyResult(op)), a == b);
  if (!arithSelectOpIsA(op))
    return (MlirValue){NULL};
  condition = mlirExtValueGetConstant(get(walk, arithSelectOpGetCondition(op)));
  if (mlirAttributeIsNull(condition) || !mlirAttributeIsAInteger(condition))
    return (MlirValue){NULL};
  return get(walk,
             mlirIntegerAttrGetValueInt(condition) ? arithSelectOpGetTrueValue(op) : arithSelectOpGetFalseValue(op));
}

static MlirWalkResult replaceOperands(MlirOperation op, void *walk) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i, get(walk, mlirOperationGetOperand(op, i)));
  return MlirWalkResultAdvance;
}

static void emitRound(Walk *walk, int64_t round, MlirValue *carried) {
  MlirBlock body = bodyOf(walk->rounds);
  MlirOperation end = mlirBlockGetTerminator(body);
  intptr_t count = scfForOpGetNumResults(walk->rounds);
  tileTableSet(&walk->table, mlirBlockGetArgument(body, 0).ptr, (void *)tileBuildIndex(&walk->builder, round).ptr);
  for (intptr_t i = 0; i < count; ++i)
    tileTableSet(&walk->table, mlirBlockGetArgument(body, i + 1).ptr, (void *)carried[i].ptr);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    MlirValue value = folded(walk, op);
    if (!mlirValueIsNull(value)) {
      tileTableSet(&walk->table, tileOnlyResult(op).ptr, (void *)value.ptr);
      continue;
    }
    MlirOperation clone = mlirOperationClone(op);
    mlirOperationWalk(clone, replaceOperands, walk, MlirWalkPreOrder);
    tileBuilderInsert(&walk->builder, clone);
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
      tileTableSet(&walk->table, mlirOperationGetResult(op, r).ptr, (void *)mlirOperationGetResult(clone, r).ptr);
  }
  for (intptr_t i = 0; i < count; ++i)
    carried[i] = get(walk, scfYieldOpGetResults(end, i));
}

// Choices of the first round that nothing takes.
static void eraseUnused(MlirOperation first, MlirOperation end) {
  bool isErased = true;
  while (isErased) {
    isErased = false;
    for (MlirOperation op = first, next; !mlirOperationEqual(op, end); op = next) {
      next = mlirOperationGetNextInBlock(op);
      if (mlirOperationGetNumResults(op) != 1 || !mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))) ||
          (!mlirExtOperationIsPure(op) && !tileReduceOpIsA(op)))
        continue;
      first = mlirOperationEqual(op, first) ? next : first;
      mlirOperationDestroy(op);
      isErased = true;
    }
  }
}

// The outer loop of two rounds that holds a loop of products; null where there is none.
static MlirOperation roundsOf(const TileOps *products) {
  MlirOperation rounds = {NULL};
  int64_t first, last, step;
  for (intptr_t i = 0; i < products->count; ++i) {
    MlirOperation loop = mlirOperationGetParentOperation(products->items[i]);
    MlirOperation around = scfForOpIsA(loop) ? mlirOperationGetParentOperation(loop) : (MlirOperation){NULL};
    bool isOther = i && !mlirOperationEqual(around, rounds);
    rounds = isOther ? (MlirOperation){NULL} : around;
    if (mlirOperationIsNull(rounds) || !scfForOpIsA(rounds))
      break;
  }
  bool ok = !mlirOperationIsNull(rounds) && scfForOpIsA(rounds) &&
            tileKernelOpIsA(mlirOperationGetParentOperation(rounds)) &&
            tileConstantIndex(scfForOpGetLowerBound(rounds), &first) && first == 0 &&
            tileConstantIndex(scfForOpGetUpperBound(rounds), &last) && last == Walks &&
            tileConstantIndex(scfForOpGetStep(rounds), &step) && step == 1;
  return ok ? rounds : (MlirOperation){NULL};
}

void tileSpecializeUnrollWalks(const TileOps *products) {
  Walk walk = {.rounds = roundsOf(products)};
  if (mlirOperationIsNull(walk.rounds))
    return;
  intptr_t count = scfForOpGetNumResults(walk.rounds);
  MlirValue *carried = calloc((size_t)count + 1, sizeof *carried);
  walk.builder = tileBuilderBefore(walk.rounds);
  MlirOperation before = tileDefiningOp(tileBuildIndex(&walk.builder, 0));
  for (intptr_t i = 0; i < count; ++i)
    carried[i] = scfForOpGetInitArgs(walk.rounds, i);
  for (int64_t round = 0; round < Walks; ++round)
    emitRound(&walk, round, carried);
  for (intptr_t i = 0; i < count; ++i)
    mlirValueReplaceAllUsesOfWith(scfForOpGetResults(walk.rounds, i), carried[i]);
  eraseUnused(before, walk.rounds);
  mlirOperationDestroy(walk.rounds);
  tileTableFree(&walk.table);
  free(carried);
}
