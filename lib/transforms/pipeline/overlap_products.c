// tile-overlap-products: the softmax of one block of keys runs under the second product of the block before.
// Expects: loops of two products that run by themselves, as tile-specialize-warps leaves them for attention: the first
//   one makes scores, a tile computed of these is the left factor of the second one, whose sums go from round to round.
// Leaves: a loop that starts the scores of round k, then the second product of round k - 1, waits for the scores alone,
//   computes with them, and only then waits for the sums. Round 0 stands before the loop, the last second product
//   behind it, both in an scf.if that a loop without rounds goes past. The computed factor goes from round to round.
// Source: FlashAttention-3 (Shah et al. 2024), intra-warpgroup overlap. Cost: linear in the ops of loops; the code of a
//   round stands twice.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/table.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

static const char *const statistics[] = {"overlapped: loops whose softmax runs under a product", NULL};

// A round's ops by what they do, each list in the order of the loop.
typedef struct Round {
  MlirOperation loop;
  TileOps begin;                         // of the scores, up to the product's start
  TileOps taken;                         // the wait for the scores, and what it frees
  TileOps middle;                        // what is computed of scores
  TileOps rescale;                       // what is computed of sums, before the second product adds to them
  TileOps end;                           // of the second product, up to its start
  TileOps done;                          // the wait for it, and what it frees
  MlirOperation scores, product, factor; // the first and second product, and what makes the second one's left factor
  intptr_t sums;                         // which of the loop's results the sums are
} Round;

//===--- questions ----------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

static bool uses(const TileOps *ops, MlirValue also, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirOperation maker = tileDefiningOp(operand);
    if (mlirValueEqual(operand, also))
      return true;
    for (intptr_t m = 0; !mlirOperationIsNull(maker) && m < ops->count; ++m)
      if (mlirOperationEqual(ops->items[m], maker))
        return true;
  }
  return false;
}

static bool isFull(MlirOperation op) { return tileSlotOpIsA(op) || tileBarrierWaitOpIsA(op); }

static bool waitsFor(MlirOperation wait, MlirOperation product) {
  return tileMmaWaitOpIsA(wait) && mlirValueEqual(tileMmaWaitOpGetInput(wait), tileMmaAsyncOpGetResult(product)) &&
         tileHasOneUse(tileMmaAsyncOpGetResult(product)) && tileMmaWaitOpGetPendingValue(wait) == 0;
}

// The wait of the product at `*at` and the arrivals behind it; `*at` is then behind these.
static bool takeWait(const TileOps *body, intptr_t *at, MlirOperation product, TileOps *ops) {
  if (++*at >= body->count || !waitsFor(body->items[*at], product))
    return false;
  tileOpsAppend(ops, body->items[(*at)++]);
  while (*at < body->count && tileBarrierArriveOpIsA(body->items[*at]))
    tileOpsAppend(ops, body->items[(*at)++]);
  return true;
}

static bool takeProducts(Round *round, const TileOps *body, TileOps *between) {
  intptr_t at = 0;
  for (; at < body->count && !tileMmaAsyncOpIsA(body->items[at]); ++at)
    tileOpsAppend(&round->begin, body->items[at]);
  if (at == body->count)
    return false;
  round->scores = body->items[at];
  tileOpsAppend(&round->begin, round->scores);
  if (!takeWait(body, &at, round->scores, &round->taken))
    return false;
  for (; at < body->count && !tileMmaAsyncOpIsA(body->items[at]); ++at)
    tileOpsAppend(isFull(body->items[at]) ? &round->end : between, body->items[at]);
  if (at == body->count)
    return false;
  round->product = body->items[at];
  tileOpsAppend(&round->end, round->product);
  return takeWait(body, &at, round->product, &round->done) && at + 1 == body->count; // the terminator
}

// The sums go from the second product to the next round, and there through arithmetic into its accumulator.
static bool findSums(Round *round) {
  MlirOperation yield = mlirBlockGetTerminator(bodyOf(round->loop));
  MlirValue sums = tileMmaWaitOpGetResult(round->done.items[0]);
  for (round->sums = 0; round->sums < scfForOpGetNumResults(round->loop); ++round->sums)
    if (mlirValueEqual(scfYieldOpGetResults(yield, round->sums), sums))
      return tileHasOneUse(sums);
  return false;
}

// False where something other than the accumulator takes the sums.
static bool divideMiddle(Round *round, const TileOps *between) {
  MlirValue sums = mlirBlockGetArgument(bodyOf(round->loop), round->sums + 1),
            factor = tileMmaAsyncOpGetLhs(round->product);
  round->factor = tileDefiningOp(factor);
  for (intptr_t i = 0; i < between->count; ++i) {
    MlirOperation op = between->items[i];
    bool takesSums = uses(&round->rescale, sums, op);
    if ((!mlirExtOperationIsPure(op) && !tileOpOnlyReads(op)) || (takesSums && mlirOperationEqual(op, round->factor)))
      return false;
    if (!mlirOperationEqual(op, round->factor))
      tileOpsAppend(takesSums ? &round->rescale : &round->middle, op);
  }
  for (intptr_t i = 0; i < round->begin.count; ++i)
    if (uses(&round->rescale, sums, round->begin.items[i]))
      return false;
  for (intptr_t i = 0; i < scfForOpGetNumResults(round->loop); ++i) {
    MlirValue result = scfYieldOpGetResults(mlirBlockGetTerminator(bodyOf(round->loop)), i);
    for (intptr_t r = 0; r < round->rescale.count; ++r)
      if (mlirValueEqual(result, tileFirstResult(round->rescale.items[r])))
        return false;
  }
  return true;
}

// The factor is made by the last op of the middle: nothing else takes it.
static bool isFactorComputed(const Round *round, const TileOps *between) {
  for (intptr_t i = 0; i < between->count; ++i)
    if (mlirOperationEqual(between->items[i], round->factor))
      return tileHasOneUse(tileFirstResult(round->factor)) && tileOpIsElementwise(round->factor);
  return false;
}

static bool readRound(MlirOperation loop, Round *round) {
  int64_t step;
  TileOps body = {.items = NULL}, between = {.items = NULL};
  *round = (Round){.loop = loop};
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&body, op);
  bool ok = tileConstantIndex(scfForOpGetStep(loop), &step) && step == 1 && takeProducts(round, &body, &between) &&
            tileTypeIsATile(tileMmaAsyncOpGetLhsType(round->product)) && findSums(round) &&
            divideMiddle(round, &between) && isFactorComputed(round, &between);
  tileOpsFree(&body);
  tileOpsFree(&between);
  return ok;
}

static void freeRound(Round *round) {
  TileOps *lists[] = {&round->begin, &round->taken, &round->middle, &round->rescale, &round->end, &round->done};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
    tileOpsFree(lists[i]);
}

//===--- copies of a round --------------------------------------------------------------===//

// What stands for values of the loop in a copy of a round.
typedef struct Copy {
  const Round *round;
  TileBuilder *builder;
  TileTable table;
} Copy;

static void set(Copy *copy, MlirValue value, MlirValue stands) {
  tileTableSet(&copy->table, value.ptr, (void *)stands.ptr);
}

static MlirValue get(Copy *copy, MlirValue value);

static MlirOperation emit(Copy *copy, MlirOperation op) {
  MlirOperation clone = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(clone, i, get(copy, mlirOperationGetOperand(op, i)));
  tileBuilderInsert(copy->builder, clone);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    set(copy, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i));
  return clone;
}

// Scalars that another copy computes from its own round are computed again.
static MlirValue get(Copy *copy, MlirValue value) {
  void *known = tileTableFind(&copy->table, value.ptr);
  MlirOperation op = tileDefiningOp(value);
  if (known)
    return (MlirValue){known};
  if (mlirOperationIsNull(op) || !mlirBlockEqual(mlirOperationGetBlock(op), bodyOf(copy->round->loop)))
    return value;
  emit(copy, op);
  return (MlirValue){tileTableFind(&copy->table, value.ptr)};
}

static void emitAll(Copy *copy, const TileOps *ops) {
  for (intptr_t i = 0; i < ops->count; ++i)
    emit(copy, ops->items[i]);
}

static MlirValue indexOf(const Round *round) { return mlirBlockGetArgument(bodyOf(round->loop), 0); }
static MlirValue carriedOf(const Round *round, intptr_t i) { return mlirBlockGetArgument(bodyOf(round->loop), i + 1); }

// What a round gives the next one: the loop's results with the accumulator for the sums, then the factor.
static void finish(Copy *copy, MlirValue *values) {
  const Round *round = copy->round;
  MlirOperation yield = mlirBlockGetTerminator(bodyOf(round->loop));
  intptr_t count = scfForOpGetNumResults(round->loop);
  emitAll(copy, &round->rescale);
  emit(copy, round->factor);
  for (intptr_t i = 0; i < count; ++i)
    values[i] =
        get(copy, i == round->sums ? tileMmaAsyncOpGetAccumulator(round->product) : scfYieldOpGetResults(yield, i));
  values[count] = get(copy, tileFirstResult(round->factor));
}

// Starts the second product of round `index`. `values` holds its accumulator and factor.
static void startProduct(Copy *copy, MlirValue index, const MlirValue *values) {
  const Round *round = copy->round;
  set(copy, indexOf(round), index);
  set(copy, tileMmaAsyncOpGetAccumulator(round->product), values[round->sums]);
  set(copy, tileMmaAsyncOpGetLhs(round->product), values[scfForOpGetNumResults(round->loop)]);
  emitAll(copy, &round->end);
}

static void emitFirst(const Round *round, TileBuilder *builder, MlirValue *values) {
  Copy copy = {.round = round, .builder = builder};
  set(&copy, indexOf(round), scfForOpGetLowerBound(round->loop));
  for (intptr_t i = 0; i < scfForOpGetNumResults(round->loop); ++i)
    set(&copy, carriedOf(round, i), scfForOpGetInitArgs(round->loop, i));
  emitAll(&copy, &round->begin);
  emitAll(&copy, &round->taken);
  emitAll(&copy, &round->middle);
  finish(&copy, values);
  tileTableFree(&copy.table);
}

// Scores first: a wait that leaves one product under way leaves the second one.
static MlirOperation emitLoop(const Round *round, TileBuilder *builder, MlirValue *values) {
  MlirBlock body;
  intptr_t count = scfForOpGetNumResults(round->loop);
  MlirValue one = tileBuildIndex(builder, 1), from = tileBuildAdd(builder, scfForOpGetLowerBound(round->loop), one);
  MlirOperation loop = tileBuildFor(builder, from, scfForOpGetUpperBound(round->loop), one, count + 1, values, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder->location);
  Copy copy = {.round = round, .builder = &inner}, before = {.round = round, .builder = &inner};
  for (intptr_t i = 0; i <= count; ++i)
    values[i] = mlirBlockGetArgument(body, i + 1);
  set(&copy, indexOf(round), mlirBlockGetArgument(body, 0));
  for (intptr_t i = 0; i < count; ++i)
    if (i != round->sums)
      set(&copy, carriedOf(round, i), values[i]);
  emitAll(&copy, &round->begin);
  startProduct(&before, arithSubIOpBuild(&inner, mlirBlockGetArgument(body, 0), one), values);
  MlirOperation wait = emit(&copy, round->taken.items[0]);
  tileMmaWaitOpSetPending(wait, mlirIntegerAttrGet(mlirIntegerTypeGet(inner.context, 64), 1));
  for (intptr_t i = 1; i < round->taken.count; ++i)
    emit(&copy, round->taken.items[i]);
  emitAll(&copy, &round->middle);
  emitAll(&before, &round->done);
  set(&copy, carriedOf(round, round->sums), get(&before, tileMmaWaitOpGetResult(round->done.items[0])));
  finish(&copy, values);
  tileBuildYield(&inner, count + 1, values);
  tileTableFree(&copy.table);
  tileTableFree(&before.table);
  return loop;
}

static void emitLast(const Round *round, TileBuilder *builder, MlirOperation loop, MlirValue *values) {
  Copy copy = {.round = round, .builder = builder};
  for (intptr_t i = 0; i <= scfForOpGetNumResults(round->loop); ++i)
    values[i] = scfForOpGetResults(loop, i);
  MlirValue last = arithSubIOpBuild(builder, scfForOpGetUpperBound(round->loop), tileBuildIndex(builder, 1));
  startProduct(&copy, last, values);
  emitAll(&copy, &round->done);
  values[round->sums] = get(&copy, tileMmaWaitOpGetResult(round->done.items[0]));
  tileTableFree(&copy.table);
}

static void overlap(const Round *round) {
  MlirOperation loop = round->loop;
  intptr_t count = scfForOpGetNumResults(loop);
  TileBuilder builder = tileBuilderBefore(loop);
  MlirValue *values = calloc((size_t)count + 1, sizeof *values);
  MlirType *types = calloc((size_t)count, sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = tileResultType(loop, i);
  MlirValue isAny = arithCmpIOpBuild(&builder, scfForOpGetLowerBound(loop), scfForOpGetUpperBound(loop), ArithCmpI_Slt);
  MlirRegion then, otherwise;
  TileBuilder inside = tileBuilderInRegion(&builder, &then, 0, NULL);
  TileBuilder past = tileBuilderInRegion(&builder, &otherwise, 0, NULL);
  emitFirst(round, &inside, values);
  emitLast(round, &inside, emitLoop(round, &inside, values), values);
  tileBuildYield(&inside, count, values);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = scfForOpGetInitArgs(loop, i);
  tileBuildYield(&past, count, values);
  MlirOperation choice = scfIfOpBuild(&builder, count, types, isAny, then, otherwise);
  for (intptr_t i = 0; i < count; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(choice, i));
  mlirOperationDestroy(loop);
  free(values);
  free(types);
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) {
    Round round;
    bool ok = readRound(loops.items[i], &round);
    if (ok)
      overlap(&round);
    freeRound(&round);
    mlirExtPassAddStatistic(pass, 0, ok);
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tileOverlapProductsPass = {
    .argument = "tile-overlap-products",
    .summary = "Let softmax run under the second product of the round before",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .needs = (const char *const[]){tileMmaAsyncOpName, NULL},
    .run = run,
};
