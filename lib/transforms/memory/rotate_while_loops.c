// tile-rotate-while-loops: a while loop names the same memory in each round, and asks at the end of a round.
//
//   scf.while (%h = %a) {                          ask with %a in place of %h
//     ask about %h                                 scf.while (%go) { scf.condition(%go) } do {
//     scf.condition(%go) %copy_of_h                  a round from %a to %b, ask with %b
//   } do { ^bb(%h):                        →         scf.if %go1 { a round from %b to %a, ask with %a }
//     %new = memref.alloc()                          else { copy %b to %a, the end }
//     … %h … %new …                                }
//     scf.yield %new                               the loop's result is %a
//   }
//
// Why: the loop allocates and copies nothing, so lanes of one launch can go through its rounds
// (tile-move-control-flow-to-device), and a round and the question about it stand together. A buffer that rounds change
// in place stays one buffer, and the second round is left out if all are like that. A loop around loops or branches
// copies its buffers back at the end of a round instead.
// Expects: host functions on buffers that were tensors, before deallocation. Leaves: loops that carry scalars only;
// what is asked and what a round does runs as often as before. A first buffer that others still look at is copied. Left
// alone: loops that carry no buffer, one of unknown size, or one that the round did not make.
// Cost: linear; what is asked stands two or three times, a round once or twice. Paper: Cocktailer (OSDI 2023).
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/carried_buffers.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { Statistic_Loops, Statistic_Copies };
enum { MostCarried = 32 };

// `Carried` is what a round begins with and gives, `handed` what the question hands to the round and to the result.
typedef struct Rotation {
  MlirOperation loop;
  intptr_t numCarried, numHanded;
  bool isBuffer[MostCarried], isInTurn[MostCarried]; // of what is carried
  MlirValue buffers[MostCarried][2];                 // what even and odd rounds begin with
  intptr_t carriedAs[MostCarried];                   // what is handed: the buffer that is carried; -1: none
  MlirValue made[MostCarried];                       // what is handed: the buffer that the question fills
  bool isPair;                                       // some buffers are in turn; else they are copied back
} Rotation;

enum { Asking, Round };

static MlirBlock blockOf(MlirOperation loop, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, region));
}

static MlirOperation endOf(MlirOperation loop, intptr_t region) {
  return mlirBlockGetTerminator(blockOf(loop, region));
}

static MlirValue handedBy(MlirOperation loop, intptr_t i) { return scfConditionOpGetArgs(endOf(loop, Asking), i); }

static MlirValue passedOn(MlirOperation loop, intptr_t i) { return mlirOperationGetOperand(endOf(loop, Round), i); }

//===--- questions ------------------------------------------------------------------------===//

// The copy by which the question hands on what is carried; null: it is no such copy.
static MlirOperation copyOf(MlirOperation loop, MlirValue handed, MlirValue carried) {
  MlirOperation copy = {NULL};
  if (!tileBufferIsMadeIn(blockOf(loop, Asking), handed))
    return copy;
  for (MlirOpOperand use = mlirValueGetFirstUse(handed); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, endOf(loop, Asking)))
      continue;
    if (!memrefCopyOpIsA(user) || !mlirOperationIsNull(copy) || !mlirValueEqual(memrefCopyOpGetSource(user), carried) ||
        mlirValueEqual(memrefCopyOpGetTarget(user), carried))
      return (MlirOperation){NULL};
    copy = user;
  }
  return copy;
}

// Nothing but other copies looks at the buffer behind the copy.
static bool isLast(MlirOperation copy, MlirValue buffer) {
  for (MlirOperation op = mlirOperationGetNextInBlock(copy); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (!memrefCopyOpIsA(op) && !scfConditionOpIsA(op) && (tileOpReads(op, buffer) || tileOpWrites(op, buffer)))
      return false;
  return true;
}

// Which carried buffer is handed on; -1: none.
static intptr_t carriedAs(const Rotation *r, intptr_t handed) {
  for (intptr_t i = 0; i < r->numCarried; ++i) {
    MlirValue carried = mlirBlockGetArgument(blockOf(r->loop, Asking), i), value = handedBy(r->loop, handed);
    if (!r->isBuffer[i])
      continue;
    if (mlirValueEqual(carried, value))
      return i;
    MlirOperation copy = copyOf(r->loop, value, carried);
    if (!mlirOperationIsNull(copy) && isLast(copy, carried))
      return i;
  }
  return -1;
}

static bool matchHanded(Rotation *r, intptr_t handed) {
  MlirValue value = handedBy(r->loop, handed);
  r->carriedAs[handed] = -1;
  if (mlirTypeIsAUnrankedMemRef(mlirValueGetType(value)))
    return false;
  if (!mlirTypeIsAMemRef(mlirValueGetType(value)))
    return true;
  r->carriedAs[handed] = carriedAs(r, handed);
  for (intptr_t k = 0; k < handed; ++k)
    if ((r->carriedAs[handed] >= 0 && r->carriedAs[k] == r->carriedAs[handed]) ||
        mlirValueEqual(handedBy(r->loop, k), value))
      return false;
  return r->carriedAs[handed] >= 0 || tileBufferIsMadeIn(blockOf(r->loop, Asking), value);
}

// The round gives a buffer that it made, or the one that it got.
static bool matchCarried(Rotation *r, intptr_t i) {
  MlirValue value = passedOn(r->loop, i);
  if (!r->isBuffer[i])
    return !mlirTypeIsAUnrankedMemRef(mlirValueGetType(value));
  for (intptr_t k = 0; k < i; ++k)
    if (mlirValueEqual(passedOn(r->loop, k), value))
      return false;
  r->isInTurn[i] = true;
  for (intptr_t k = 0; k < r->numHanded; ++k)
    if (r->carriedAs[k] == i && mlirValueEqual(mlirBlockGetArgument(blockOf(r->loop, Round), k), value))
      r->isInTurn[i] = false;
  r->isPair |= r->isInTurn[i];
  return !r->isInTurn[i] || tileBufferIsMadeIn(blockOf(r->loop, Round), value);
}

static bool isBranchOrLoop(MlirOperation op) { return scfIfOpIsA(op) || scfWhileOpIsA(op) || scfForOpIsA(op); }

// Loops in a loop would stand many times.
static bool isInnermost(MlirOperation loop) {
  TileOps inner = tileCollectOps(loop, isBranchOrLoop);
  bool is = inner.count == 1; // itself
  tileOpsFree(&inner);
  return is;
}

static bool match(MlirOperation loop, Rotation *r) {
  bool some = false, ok = true;
  *r = (Rotation){.loop = loop, .numCarried = scfWhileOpGetNumInits(loop), .numHanded = scfWhileOpGetNumResults(loop)};
  if (r->numCarried > MostCarried || r->numHanded > MostCarried)
    return false;
  for (intptr_t i = 0; i < r->numCarried; ++i) {
    r->isBuffer[i] = mlirTypeIsAMemRef(mlirValueGetType(scfWhileOpGetInits(loop, i)));
    ok &= !r->isBuffer[i] || mlirShapedTypeHasStaticShape(mlirValueGetType(scfWhileOpGetInits(loop, i)));
    some |= r->isBuffer[i];
  }
  for (intptr_t k = 0; ok && k < r->numHanded; ++k)
    ok = matchHanded(r, k);
  for (intptr_t i = 0; ok && i < r->numCarried; ++i)
    ok = matchCarried(r, i);
  r->isPair &= isInnermost(loop);
  return some && ok;
}

//===--- the rewrite ----------------------------------------------------------------------===//

// Buffers stand ahead of all launches of the block: what the host prepares for them needs no wait.
static void makeBuffers(Rotation *r, TileBuilder *b, MlirExtPass pass) {
  TileBuilder start = tileBuilderAtStart(mlirOperationGetBlock(r->loop), mlirOperationGetLocation(r->loop));
  for (intptr_t i = 0; i < r->numCarried; ++i) {
    MlirValue initial = scfWhileOpGetInits(r->loop, i);
    if (!r->isBuffer[i])
      continue;
    r->buffers[i][0] = initial;
    if (!tileBufferIsLeftToLoop(r->loop, initial)) {
      r->buffers[i][0] = tileBuildBuffer(&start, mlirValueGetType(initial));
      memrefCopyOpBuild(b, initial, r->buffers[i][0]);
      mlirExtPassAddStatistic(pass, Statistic_Copies, 1);
    }
    r->buffers[i][1] = r->isInTurn[i] ? tileBuildBuffer(&start, mlirValueGetType(initial)) : r->buffers[i][0];
  }
  for (intptr_t k = 0; k < r->numHanded; ++k)
    if (mlirTypeIsAMemRef(tileResultType(r->loop, k)) && r->carriedAs[k] < 0)
      r->made[k] = tileBuildBuffer(&start, tileResultType(r->loop, k));
}

// Moves the ops of a cloned loop's region to the builder's place, but for its end.
static void moveOps(TileBuilder *b, MlirOperation copy, intptr_t region) {
  MlirOperation end = endOf(copy, region);
  for (MlirOperation op = mlirBlockGetFirstOperation(blockOf(copy, region)), next; !mlirOperationEqual(op, end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(b, op);
  }
}

static void putInPlaceOf(MlirValue made, MlirValue buffer) {
  MlirOperation allocation = tileDefiningOp(made);
  mlirValueReplaceAllUsesOfWith(made, buffer);
  mlirOperationDestroy(allocation);
}

// Asks about what an even or odd round begins with. `scalars`: what is carried, then what is handed on.
static MlirValue ask(const Rotation *r, TileBuilder *b, bool isOdd, MlirValue *scalars) {
  MlirOperation copy = mlirOperationClone(r->loop);
  MlirBlock block = blockOf(copy, Asking);
  for (intptr_t k = 0; k < r->numHanded; ++k) { // copies are left out
    MlirValue value = handedBy(copy, k);
    if (r->carriedAs[k] < 0)
      continue;
    MlirValue carried = mlirBlockGetArgument(block, r->carriedAs[k]);
    if (mlirValueEqual(carried, value))
      continue;
    mlirOperationDestroy(copyOf(copy, value, carried));
    putInPlaceOf(value, carried);
  }
  for (intptr_t i = 0; i < r->numCarried; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i), r->isBuffer[i] ? r->buffers[i][isOdd] : scalars[i]);
  for (intptr_t k = 0; k < r->numHanded; ++k) {
    if (!mlirValueIsNull(r->made[k]))
      putInPlaceOf(handedBy(copy, k), r->made[k]);
    scalars[k] = handedBy(copy, k);
  }
  MlirValue condition = scfConditionOpGetCondition(endOf(copy, Asking));
  moveOps(b, copy, Asking);
  mlirOperationDestroy(copy);
  return condition;
}

// An even or odd round. `scalars`: what is handed on, then what is carried.
static void buildRound(const Rotation *r, TileBuilder *b, bool isOdd, MlirValue *scalars) {
  MlirOperation copy = mlirOperationClone(r->loop);
  for (intptr_t k = 0; k < r->numHanded; ++k) {
    MlirValue buffer = r->carriedAs[k] < 0 ? r->made[k] : r->buffers[r->carriedAs[k]][isOdd];
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(blockOf(copy, Round), k),
                                  mlirValueIsNull(buffer) ? scalars[k] : buffer);
  }
  for (intptr_t i = 0; i < r->numCarried; ++i) {
    if (r->isBuffer[i] && r->isInTurn[i])
      putInPlaceOf(passedOn(copy, i), r->buffers[i][!isOdd]);
    scalars[i] = passedOn(copy, i);
  }
  moveOps(b, copy, Round);
  mlirOperationDestroy(copy);
}

// The condition and the scalars that are handed on: what the new loop carries.
static intptr_t gather(const Rotation *r, MlirValue condition, const MlirValue *handed, MlirValue *values) {
  intptr_t count = 0;
  values[count++] = condition;
  for (intptr_t k = 0; k < r->numHanded; ++k)
    if (!mlirTypeIsAMemRef(tileResultType(r->loop, k)))
      values[count++] = handed[k];
  return count;
}

static void scatter(const Rotation *r, const MlirValue *values, MlirValue *handed) {
  intptr_t count = 1;
  for (intptr_t k = 0; k < r->numHanded; ++k)
    if (!mlirTypeIsAMemRef(tileResultType(r->loop, k)))
      handed[k] = values[count++];
}

static void copyBack(const Rotation *r, TileBuilder *b) {
  for (intptr_t i = 0; i < r->numCarried; ++i)
    if (r->isBuffer[i] && r->isInTurn[i])
      memrefCopyOpBuild(b, r->buffers[i][1], r->buffers[i][0]);
}

// The second round of a pair and the question about it; where there is none, the result goes where even rounds begin.
static void buildOddRound(const Rotation *r, TileBuilder *b, intptr_t count, const MlirType *types, MlirValue *values) {
  MlirRegion regions[2];
  TileBuilder then = tileBuilderInRegion(b, &regions[0], 0, NULL),
              otherwise = tileBuilderInRegion(b, &regions[1], 0, NULL);
  MlirValue scalars[MostCarried] = {{NULL}}, inside[MostCarried + 1];
  scatter(r, values, scalars);
  buildRound(r, &then, true, scalars);
  MlirValue condition = ask(r, &then, false, scalars);
  gather(r, condition, scalars, inside);
  tileBuildYield(&then, count, inside);
  copyBack(r, &otherwise);
  for (intptr_t i = 0; i < count; ++i)
    inside[i] = values[i];
  inside[0] = tileBuildInteger(&otherwise, types[0], 0);
  tileBuildYield(&otherwise, count, inside);
  MlirOperation branch = scfIfOpBuild(b, count, types, values[0], regions[0], regions[1]);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(branch, i);
}

static void rewrite(Rotation *r, MlirExtPass pass) {
  TileBuilder b = tileBuilderBefore(r->loop);
  MlirValue scalars[MostCarried] = {{NULL}}, values[MostCarried + 1];
  MlirType types[MostCarried + 1];
  makeBuffers(r, &b, pass);
  for (intptr_t i = 0; i < r->numCarried; ++i)
    scalars[i] = scfWhileOpGetInits(r->loop, i);
  MlirValue condition = ask(r, &b, false, scalars);
  intptr_t count = gather(r, condition, scalars, values);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  MlirRegion regions[2];
  TileBuilder asking = tileBuilderInRegion(&b, &regions[0], count, types),
              inside = tileBuilderInRegion(&b, &regions[1], count, types);
  MlirValue arguments[MostCarried + 1];
  for (intptr_t i = 0; i < count; ++i)
    arguments[i] = mlirBlockGetArgument(asking.block, i);
  scfConditionOpBuild(&asking, arguments[0], count, arguments);
  for (intptr_t i = 0; i < count; ++i)
    arguments[i] = mlirBlockGetArgument(inside.block, i);
  scatter(r, arguments, scalars);
  buildRound(r, &inside, false, scalars);
  if (!r->isPair)
    copyBack(r, &inside);
  arguments[0] = ask(r, &inside, r->isPair, scalars);
  gather(r, arguments[0], scalars, arguments);
  if (r->isPair)
    buildOddRound(r, &inside, count, types, arguments);
  tileBuildYield(&inside, count, arguments);
  MlirOperation loop = scfWhileOpBuild(&b, count, types, count, values, regions[0], regions[1]);
  for (intptr_t i = 0; i < count; ++i)
    values[i] = mlirOperationGetResult(loop, i);
  scatter(r, values, scalars);
  for (intptr_t k = 0; k < r->numHanded; ++k) {
    MlirValue buffer = r->carriedAs[k] < 0 ? r->made[k] : r->buffers[r->carriedAs[k]][0];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(r->loop, k), mlirValueIsNull(buffer) ? scalars[k] : buffer);
  }
  mlirOperationDestroy(r->loop);
  mlirExtPassAddStatistic(pass, Statistic_Loops, 1);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps loops = tileCollectOps(function, scfWhileOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) { // inner ones first
    Rotation rotation;
    if (match(loops.items[i], &rotation))
      rewrite(&rotation, pass);
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tileRotateWhileLoopsPass = {
    .argument = "tile-rotate-while-loops",
    .summary = "Let while loops carry no buffers, and ask at the end of a round",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"loops: loops that carry scalars only now",
                                        "copies: buffers that a loop begins with a copy of", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .run = run,
};
