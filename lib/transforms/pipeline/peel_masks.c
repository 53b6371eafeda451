// tile-peel-masks: rounds of a loop in which a mask is true for all elements go past it.
// Expects: kernels at either level, with loops that select between a tile and its masked form. Leaves: the comparison
//   and the selection in an scf.if that only the other rounds enter, and before the loop the number of the first such
//   round; nothing where no round may go past, no scf.if where all do. A mask that hides the keys above a diagonal is
//   computed in the blocks on the diagonal only.
// Source: FlashAttention-3 (two loops; one loop with a branch needs the code once). Cost: linear in the ops of loops.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/rounds.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

static const char *const statistics[] = {"peeled: masks that some rounds of a loop go past", NULL};

//===--- questions ----------------------------------------------------------------------===//

enum { MaxComparisons = 8, MaxMoved = 64 };

// Selections on top of each other, and what only they need.
typedef struct Mask {
  MlirOperation loop, root; // the last selection
  MlirValue unmasked;
  intptr_t numRounds, numMoved;
  TileRounds rounds[MaxComparisons]; // all comparisons
  MlirOperation moved[MaxMoved];     // users before what they use
} Mask;

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

static bool isIn(const Mask *mask, MlirOperation op) {
  for (intptr_t i = 0; i < mask->numMoved; ++i)
    if (mlirOperationEqual(mask->moved[i], op))
      return true;
  return false;
}

static bool addCondition(Mask *mask, MlirValue condition) {
  MlirOperation op = tileDefiningOp(condition);
  if (mlirOperationIsNull(op))
    return false;
  if (arithAndIOpIsA(op))
    return addCondition(mask, tileBinaryLhs(op)) && addCondition(mask, tileBinaryRhs(op));
  return mask->numRounds < MaxComparisons && tileRoundsOfComparison(mask->loop, op, &mask->rounds[mask->numRounds++]);
}

static bool isSelection(MlirOperation loop, MlirOperation op) {
  return arithSelectOpIsA(op) && mlirBlockEqual(mlirOperationGetBlock(op), bodyOf(loop)) &&
         tileTypeIsATile(tileOnlyResultType(op)) && tileTypeIsATile(mlirValueGetType(arithSelectOpGetCondition(op)));
}

static bool hasOtherUsers(const Mask *mask, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, i)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (!isIn(mask, mlirOpOperandGetOwner(use)))
        return true;
  return false;
}

static bool mayMove(const Mask *mask, MlirOperation op) {
  return mlirOperationGetNumResults(op) && mlirOperationGetNumRegions(op) == 0 && !tileOpHasEffects(op) &&
         !tileOpExchangesElements(op) && !hasOtherUsers(mask, op) &&
         !mlirValueEqual(tileFirstResult(op), mask->unmasked);
}

// What stands before the root and serves the mask only. Ops that exchange elements have their places and barriers.
static void findMoved(Mask *mask) {
  TileOps before = {.items = NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(mask->loop)); !mlirOperationEqual(op, mask->root);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&before, op);
  mask->moved[mask->numMoved++] = mask->root;
  for (intptr_t i = before.count; i-- > 0 && mask->numMoved < MaxMoved;)
    if (mayMove(mask, before.items[i]))
      mask->moved[mask->numMoved++] = before.items[i];
  tileOpsFree(&before);
}

static bool readMask(MlirOperation loop, MlirOperation root, Mask *mask) {
  *mask = (Mask){.loop = loop, .root = root};
  MlirOperation op = root;
  bool isMasked = false;
  while (isSelection(loop, op)) {
    intptr_t before = mask->numRounds;
    if (!addCondition(mask, arithSelectOpGetCondition(op))) {
      mask->numRounds = before;
      break;
    }
    isMasked = true;
    mask->unmasked = arithSelectOpGetTrueValue(op);
    if (!tileHasOneUse(mask->unmasked))
      break;
    op = tileDefiningOp(mask->unmasked);
  }
  return isMasked;
}

// Whether another selection would take this one with it.
static bool isOnTop(MlirOperation loop, MlirOperation op) {
  Mask mask;
  MlirValue result = tileOnlyResult(op);
  if (!tileHasOneUse(result))
    return true;
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(result));
  return !isSelection(loop, user) || !mlirValueEqual(arithSelectOpGetTrueValue(user), result) ||
         !readMask(loop, user, &mask);
}

//===--- the first round with a mask ----------------------------------------------------===//

// n, and whether its terms are what the analysis counts on.
static MlirValue sumOf(TileBuilder *builder, const TileRounds *rounds, MlirValue *isLimited) {
  MlirValue sum = tileBuildIndex(builder, rounds->constant);
  for (intptr_t i = 0; i < rounds->count; ++i) {
    MlirValue value = rounds->terms[i].value;
    sum = tileBuildAdd(builder, sum, tileBuildMul(builder, value, tileBuildIndex(builder, rounds->terms[i].factor)));
    if (rounds->terms[i].isLimited)
      continue;
    MlirValue raised = tileBuildAdd(builder, value, tileBuildIndex(builder, TileRoundsLimit));
    MlirValue is = arithCmpIOpBuild(builder, raised, tileBuildIndex(builder, 2 * TileRoundsLimit), ArithCmpI_Ult);
    *isLimited = mlirValueIsNull(*isLimited) ? is : tileBuildBinary(builder, ArithOp_AndI, *isLimited, is);
  }
  return sum;
}

// max(n + slope, 0) / slope: the comparison is true in all rounds below.
static MlirValue firstOf(TileBuilder *builder, const TileRounds *rounds) {
  MlirValue isLimited = {NULL}, zero = tileBuildIndex(builder, 0), sum = sumOf(builder, rounds, &isLimited), first;
  int64_t slope = rounds->slope ? rounds->slope : 1, constant;
  MlirValue raised = tileBuildMax(builder, tileBuildAdd(builder, sum, tileBuildIndex(builder, slope)), zero);
  if (tileConstantIndex(raised, &constant))
    first = tileBuildIndex(builder, rounds->slope ? constant / slope : constant ? INT64_MAX : 0);
  else if (rounds->slope)
    first = tileBuildBinary(builder, ArithOp_DivUI, raised, tileBuildIndex(builder, slope));
  else
    first = arithSelectOpBuild(builder, arithCmpIOpBuild(builder, sum, zero, ArithCmpI_Sge),
                               tileBuildIndex(builder, INT64_MAX), zero);
  return mlirValueIsNull(isLimited) ? first : arithSelectOpBuild(builder, isLimited, first, zero);
}

//===--- the rewrite ----------------------------------------------------------------------===//

// All selections but the first one's true value.
static void removeMask(const Mask *mask, MlirValue value) {
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(mask->root), value);
  for (intptr_t i = 0; i < mask->numMoved; ++i)
    mlirOperationDestroy(mask->moved[i]);
}

static void branch(const Mask *mask, MlirValue first) {
  MlirType type = tileOnlyResultType(mask->root);
  TileBuilder builder = tileBuilderBefore(mask->root);
  MlirValue round = mlirBlockGetArgument(bodyOf(mask->loop), 0), result = tileOnlyResult(mask->root);
  MlirValue isMasked = arithCmpIOpBuild(&builder, round, first, ArithCmpI_Uge);
  MlirRegion then, otherwise;
  TileBuilder inside = tileBuilderInRegion(&builder, &then, 0, NULL);
  TileBuilder past = tileBuilderInRegion(&builder, &otherwise, 0, NULL);
  MlirOperation choice = scfIfOpBuild(&builder, 1, &type, isMasked, then, otherwise);
  mlirValueReplaceAllUsesOfWith(result, tileOnlyResult(choice));
  MlirBlock block = mlirRegionGetFirstBlock(scfIfOpGetThenRegion(choice));
  for (intptr_t i = mask->numMoved; i-- > 0;) {
    mlirOperationRemoveFromParent(mask->moved[i]);
    mlirBlockAppendOwnedOperation(block, mask->moved[i]);
  }
  tileBuildYield(&inside, 1, &result);
  tileBuildYield(&past, 1, &mask->unmasked);
}

// False: every round may need the mask.
static bool peel(Mask *mask) {
  TileBuilder builder = tileBuilderBefore(mask->loop);
  MlirValue first = firstOf(&builder, &mask->rounds[0]);
  for (intptr_t i = 1; i < mask->numRounds; ++i)
    first = tileBuildMin(&builder, first, firstOf(&builder, &mask->rounds[i]));
  int64_t number;
  bool isConstant = tileConstantIndex(first, &number);
  if (isConstant && number <= tileIndexFacts(scfForOpGetLowerBound(mask->loop)).low)
    return false;
  findMoved(mask);
  if (isConstant && tileIndexFacts(scfForOpGetUpperBound(mask->loop)).high <= number)
    removeMask(mask, mask->unmasked);
  else
    branch(mask, first);
  return true;
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) {
    Mask mask;
    MlirBlock body = bodyOf(loops.items[i]);
    for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
      next = mlirOperationGetNextInBlock(op);
      if (isSelection(loops.items[i], op) && isOnTop(loops.items[i], op) && readMask(loops.items[i], op, &mask))
        mlirExtPassAddStatistic(pass, 0, peel(&mask));
    }
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tilePeelMasksPass = {
    .argument = "tile-peel-masks",
    .summary = "Compute masks only in the rounds of a loop that need them",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .needs = (const char *const[]){arithSelectOpName, NULL},
    .run = run,
};
