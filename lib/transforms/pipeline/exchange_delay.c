// Reductions that wait for the end of their loop, for tile-exchange-in-shared-memory. A loop that adds up what it
// reduces in each round would exchange elements between threads in each round. Each thread adds up its own instead, and
// the threads exchange theirs once, behind the loop. See exchange_pieces.h.
#include "lib/transforms/pipeline/exchange_pieces.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/scf.h"

// yield %sum where %sum = op(%argument, %reduced), and %reduced = tile.reduce {op} of something: no one else asks for
// any of them.
typedef struct Delay {
  MlirOperation loop, sum, reduce;
  intptr_t number; // of the loop's values
  uint32_t axes, near;
  MlirType own; // what each thread adds up
  Pieces pieces;
} Delay;

static MlirOperation reduceOf(MlirValue value, MlirBlock body) {
  MlirOperation op = tileDefiningOp(value), none = {NULL};
  bool isPlain = tileReduceOpIsA(op) && !mlirAttributeIsNull(tileTypeGetLayout(tileFirstOperandType(op))) &&
                 tileHasOneUse(value) && tileReduceOpGetNumInputs(op) == 1 &&
                 mlirBlockEqual(mlirOperationGetBlock(op), body);
  return isPlain ? op : none;
}

static bool readLoop(MlirOperation loop, intptr_t number, Delay *delay) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  MlirValue argument = mlirBlockGetArgument(body, number + 1);
  MlirValue sum = mlirOperationGetOperand(mlirBlockGetTerminator(body), number);
  *delay = (Delay){.loop = loop, .number = number, .sum = tileDefiningOp(sum)};
  if (mlirOperationIsNull(delay->sum) || !tileHasOneUse(sum) || !tileHasOneUse(argument) ||
      mlirOperationGetNumOperands(delay->sum) != 2 || !mlirBlockEqual(mlirOperationGetBlock(delay->sum), body))
    return false;
  bool isSecond = mlirValueEqual(tileBinaryRhs(delay->sum), argument);
  delay->reduce = reduceOf(isSecond ? tileBinaryLhs(delay->sum) : tileBinaryRhs(delay->sum), body);
  return (isSecond || mlirValueEqual(tileBinaryLhs(delay->sum), argument)) && !mlirOperationIsNull(delay->reduce) &&
         tileStringEquals(tileKeywordOf(delay->reduce, "operation"), tileUpstreamName(tileUpstreamKind(delay->sum)));
}

static intptr_t registersOf(MlirType type) {
  TileLayout layout = tileExchangeLayoutOf(type);
  return tileTypeIsATile(type) ? (intptr_t)tileLayoutDimSize(&layout, TileLayoutReg) : 1;
}

// What a thread adds up must not take more registers than the sums did.
static bool planOwn(Delay *delay) {
  MlirType type = tileFirstOperandType(delay->reduce);
  for (intptr_t i = 0; i < tileArrayCount(delay->reduce, "axes"); ++i)
    delay->axes |= 1u << tileArrayAt(delay->reduce, "axes", i);
  if (!tileExchangeCutThreads(type, delay->axes, &delay->pieces) || delay->pieces.isWhole ||
      mlirAttributeIsNull(tileCombinerNeutralOf(delay->reduce, 0)))
    return false;
  int64_t sizes[MaxRank];
  for (uint32_t i = 0; i < delay->pieces.count; ++i) {
    sizes[i] = delay->pieces.items[i].size;
    delay->near |= (uint32_t)(delay->pieces.items[i].isReduced && !delay->pieces.items[i].isAcross) << i;
  }
  delay->own =
      tileExchangeWithoutAxes(tileExchangeTileOf(type, delay->pieces.count, sizes, &delay->pieces.layout), delay->near);
  MlirType sums = tileOnlyResultType(delay->reduce);
  return registersOf(delay->own) <= (tileTypeIsATile(sums) ? registersOf(sums) : 1);
}

static MlirOperation combine(TileBuilder *b, const Delay *delay, MlirValue left, MlirValue right) {
  return tileDefiningOp(tileBuildBinary(b, tileUpstreamKind(delay->sum), left, right));
}

// In the loop: each thread's own elements, beginning with what combines without effect.
static void addOwn(Exchange *x, const Delay *delay) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(delay->loop));
  MlirValue argument = mlirBlockGetArgument(body, delay->number + 1), own;
  x->builder = tileBuilderBefore(delay->sum);
  tileExchangeReadInputs(x, delay->reduce, 1, &delay->pieces, &own);
  if (delay->near)
    tileExchangeReduceAlong(x, delay->reduce, 1, &own, delay->near, &delay->own);
  mlirValueSetType(argument, delay->own);
  mlirOperationSetOperand(mlirBlockGetTerminator(body), delay->number,
                          tileOnlyResult(combine(&x->builder, delay, argument, own)));
  x->builder = tileBuilderBefore(delay->loop);
  MlirAttribute none = mlirDenseElementsAttrSplatGet(delay->own, tileCombinerNeutralOf(delay->reduce, 0));
  mlirOperationSetOperand(delay->loop, scfForOpGetInitArgsBegin(delay->loop) + delay->number,
                          tileBuildConstant(&x->builder, none));
}

// Behind the loop: what all threads have, and what the sums began with.
static void addAll(Exchange *x, const Delay *delay, MlirValue initial) {
  MlirValue all = mlirOperationGetResult(delay->loop, delay->number), parts = all, use;
  MlirType type = tileExchangePaddedLike(&delay->pieces, mlirValueGetType(all), delay->axes);
  uint32_t reduced = 0;
  for (uint32_t i = 0; i < delay->pieces.count; ++i)
    reduced |= (uint32_t)delay->pieces.items[i].isReduced << i;
  x->builder = tileBuilderAfter(delay->loop);
  MlirType sums = mlirValueGetType(all);
  mlirValueSetType(all, delay->own);
  tileExchangeReduceAlong(x, delay->reduce, 1, &parts, tileExchangeRenumber(reduced, delay->near), &type);
  MlirOperation first = tileDefiningOp(parts);
  use = tileExchangeCrop(x, parts, sums);
  MlirOperation sum = combine(&x->builder, delay, initial, use);
  mlirValueReplaceAllUsesExcept(all, tileOnlyResult(sum), 1, &first);
}

static bool delayOne(Exchange *x, MlirOperation loop, intptr_t number) {
  Delay delay;
  if (!readLoop(loop, number, &delay) || !planOwn(&delay))
    return false;
  MlirValue initial = mlirOperationGetOperand(loop, scfForOpGetInitArgsBegin(loop) + number);
  addOwn(x, &delay);
  addAll(x, &delay, initial);
  mlirOperationDestroy(delay.sum);
  mlirOperationDestroy(delay.reduce);
  return true;
}

void tileExchangeDelay(Exchange *x, MlirOperation kernel) {
  TileOps loops = tileCollectOps(kernel, scfForOpIsA);
  for (intptr_t i = loops.count; i-- > 0;) { // inner ones first: an outer loop may then reduce what they leave
    x->threads.warps = (uint32_t)(tileWarpsOf(loops.items[i]) > 1 ? tileWarpsOf(loops.items[i]) : 1);
    for (intptr_t number = 0; number < mlirOperationGetNumResults(loops.items[i]); ++number)
      if (delayOne(x, loops.items[i], number))
        mlirExtPassAddStatistic(x->pass, Statistic_Delayed, 1);
  }
  tileOpsFree(&loops);
}
