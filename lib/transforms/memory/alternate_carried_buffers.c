// tile-alternate-carried-buffers: a loop that makes a buffer in each round and carries it has two buffers in turn.
//
//   scf.for %i = %c0 to %c100 step %c1          scf.for %i = %c0 to %c100 step %c2 {
//       iter_args(%h = %a) {               →      a round with %a in place of %h, and %b in place of %new
//     %new = memref.alloc()                       the next one with %b in place of %h, and %a in place of %new
//     … %h … %new …                             }
//     scf.yield %new
//   }
//
// Why: the loop allocates nothing, and all launches of its rounds name the same memory, so lanes of one launch can go
// through the rounds (tile-co-schedule-kernels). What is a round's number decides which buffer is which, and rounds are
// counted by a constant: nobody asks at run time.
// Expects: host functions on buffers, before deallocation. Leaves: the loop over pairs of rounds, behind it the last
// one of an odd number. Scalars are carried as before. A first buffer that others still look at is copied. Left alone:
// loops of unknown bounds or fewer than two rounds, that carry a buffer of unknown size or one that the round did not
// make. Cost: linear; a body stands two or three times. Paper: Cocktailer (OSDI 2023), whose loops run within kernels.
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/integer.h"
#include "lib/transforms/memory/carried_buffers.h"
#include "lib/transforms/memory/memory.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdint.h>

enum { Statistic_Loops, Statistic_Copies };
enum { MostCarried = 32 };

typedef struct Alternating {
  MlirOperation loop;
  int64_t first, step, count;
  intptr_t numCarried;
  bool isBuffer[MostCarried], isSame[MostCarried]; // isSame: each round passes on what it got
  MlirValue buffers[MostCarried][2];               // what even and odd rounds read
} Alternating;

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

static MlirValue carriedBy(MlirOperation loop, intptr_t i) { return mlirBlockGetArgument(bodyOf(loop), i + 1); }

static MlirValue passedOn(MlirOperation loop, intptr_t i) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(bodyOf(loop)), i);
}

//===--- questions ------------------------------------------------------------------------===//

static bool isPassedOnTwice(MlirOperation loop, intptr_t i) {
  for (intptr_t k = 0; k < i; ++k)
    if (mlirValueEqual(passedOn(loop, k), passedOn(loop, i)))
      return true;
  return false;
}

static bool isFreed(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (memrefDeallocOpIsA(mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

bool tileBufferIsMadeIn(MlirBlock block, MlirValue buffer) {
  MlirOperation op = tileDefiningOp(buffer);
  return !mlirOperationIsNull(op) && memrefAllocOpIsA(op) && mlirOperationGetNumOperands(op) == 0 &&
         mlirBlockEqual(mlirOperationGetBlock(op), block) && !isFreed(buffer);
}

// Can the value be carried in turn, or as it is?
static bool canCarry(Alternating *a, intptr_t i) {
  MlirValue carried = carriedBy(a->loop, i), next = passedOn(a->loop, i);
  a->isSame[i] = mlirValueEqual(carried, next);
  a->isBuffer[i] = mlirTypeIsAMemRef(mlirValueGetType(carried)) && !a->isSame[i];
  if (!a->isBuffer[i])
    return a->isSame[i] || !mlirTypeIsAUnrankedMemRef(mlirValueGetType(carried));
  return tileBufferIsMadeIn(bodyOf(a->loop), next) && !isPassedOnTwice(a->loop, i) && !isFreed(carried) &&
         mlirTypeEqual(mlirValueGetType(carried), mlirValueGetType(next));
}

static bool match(MlirOperation loop, Alternating *a) {
  int64_t end;
  bool some = false;
  *a = (Alternating){.loop = loop, .numCarried = scfForOpGetNumResults(loop)};
  if (scfForOpHasUnsignedCmp(loop) || !a->numCarried || a->numCarried > MostCarried ||
      !tileConstantIndex(scfForOpGetLowerBound(loop), &a->first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &end) || !tileConstantIndex(scfForOpGetStep(loop), &a->step) ||
      a->step <= 0 || a->step > INT32_MAX || a->first < INT32_MIN || a->first > INT32_MAX || end > INT32_MAX ||
      end <= a->first)
    return false;
  a->count = tessera_ceil_div(end - a->first, a->step);
  for (intptr_t i = 0; i < a->numCarried; ++i) {
    if (!canCarry(a, i))
      return false;
    some |= a->isBuffer[i];
  }
  return some && a->count >= 2;
}

static bool isAhead(MlirOperation op, MlirOperation loop) {
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (mlirOperationEqual(op, loop))
      return true;
  return false;
}

bool tileBufferIsLeftToLoop(MlirOperation loop, MlirValue buffer) {
  MlirOperation allocation = tileDefiningOp(buffer);
  intptr_t uses = 0;
  if (mlirOperationIsNull(allocation) || !memrefAllocOpIsA(allocation) ||
      !mlirBlockEqual(mlirOperationGetBlock(allocation), mlirOperationGetBlock(loop)))
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirOperationEqual(user, loop)) {
      ++uses;
      continue;
    }
    if (mlirOperationGetNumResults(user) || !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(loop)) ||
        !isAhead(user, loop))
      return false;
  }
  return uses == 1;
}

//===--- the rewrite ----------------------------------------------------------------------===//

// Buffers stand ahead of all launches of the block: what the host prepares for them needs no wait.
static void makeBuffers(Alternating *a, TileBuilder *b, MlirExtPass pass) {
  TileBuilder start = tileBuilderAtStart(mlirOperationGetBlock(a->loop), mlirOperationGetLocation(a->loop));
  for (intptr_t i = 0; i < a->numCarried; ++i) {
    MlirValue initial = scfForOpGetInitArgs(a->loop, i);
    a->buffers[i][0] = a->buffers[i][1] = initial;
    if (!a->isBuffer[i])
      continue;
    MlirOperation allocation = tileDefiningOp(passedOn(a->loop, i));
    a->buffers[i][1] = tileOnlyResult(tileBuilderInsert(&start, mlirOperationClone(allocation)));
    if (tileBufferIsLeftToLoop(a->loop, initial))
      continue;
    a->buffers[i][0] = tileOnlyResult(tileBuilderInsert(&start, mlirOperationClone(allocation)));
    memrefCopyOpBuild(b, initial, a->buffers[i][0]);
    mlirExtPassAddStatistic(pass, Statistic_Copies, 1);
  }
}

// A copy of the round with this number. `scalars` has what is carried but the buffers, before and after the round.
static void buildRound(const Alternating *a, TileBuilder *b, MlirValue index, bool isOdd, MlirValue *scalars) {
  MlirOperation copy = mlirOperationClone(a->loop), end = mlirBlockGetTerminator(bodyOf(copy));
  mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(bodyOf(copy), 0), index);
  for (intptr_t i = 0; i < a->numCarried; ++i) {
    bool isScalar = !a->isBuffer[i] && !a->isSame[i];
    mlirValueReplaceAllUsesOfWith(carriedBy(copy, i), isScalar ? scalars[i] : a->buffers[i][isOdd]);
    if (!a->isBuffer[i])
      continue;
    MlirOperation allocation = tileDefiningOp(passedOn(copy, i));
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(allocation), a->buffers[i][!isOdd]);
    mlirOperationDestroy(allocation);
  }
  for (intptr_t i = 0; i < a->numCarried; ++i)
    scalars[i] = passedOn(copy, i);
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(copy)), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(b, op);
  }
  mlirOperationDestroy(copy);
}

static intptr_t pickScalars(const Alternating *a, const MlirValue *values, MlirValue *picked) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < a->numCarried; ++i)
    if (!a->isBuffer[i] && !a->isSame[i])
      picked[count++] = values[i];
  return count;
}

static void putScalars(const Alternating *a, MlirValue *values, MlirOperation loop, bool isInside) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < a->numCarried; ++i)
    if (!a->isBuffer[i] && !a->isSame[i]) {
      values[i] = isInside ? carriedBy(loop, count) : mlirOperationGetResult(loop, count);
      ++count;
    }
}

static void rewrite(Alternating *a, MlirExtPass pass) {
  TileBuilder b = tileBuilderBefore(a->loop);
  MlirValue scalars[MostCarried], picked[MostCarried];
  makeBuffers(a, &b, pass);
  for (intptr_t i = 0; i < a->numCarried; ++i)
    scalars[i] = scfForOpGetInitArgs(a->loop, i);
  int64_t pairs = a->count / 2;
  MlirBlock body;
  intptr_t count = pickScalars(a, scalars, picked);
  MlirOperation loop =
      tileBuildFor(&b, scfForOpGetLowerBound(a->loop), tileBuildIndex(&b, a->first + 2 * pairs * a->step),
                   tileBuildIndex(&b, 2 * a->step), count, picked, &body);
  TileBuilder inside = tileBuilderAtEnd(body, mlirOperationGetLocation(a->loop));
  putScalars(a, scalars, loop, true);
  MlirValue index = mlirBlockGetArgument(body, 0);
  buildRound(a, &inside, index, false, scalars);
  buildRound(a, &inside, tileBuildAdd(&inside, index, tileBuildIndex(&inside, a->step)), true, scalars);
  count = pickScalars(a, scalars, picked);
  tileBuildYield(&inside, count, picked);
  putScalars(a, scalars, loop, false);
  if (a->count % 2)
    buildRound(a, &b, tileBuildIndex(&b, a->first + (a->count - 1) * a->step), false, scalars);
  for (intptr_t i = 0; i < a->numCarried; ++i) {
    bool isScalar = !a->isBuffer[i] && !a->isSame[i];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(a->loop, i),
                                  isScalar ? scalars[i] : a->buffers[i][a->count % 2]);
  }
  mlirOperationDestroy(a->loop);
  mlirExtPassAddStatistic(pass, Statistic_Loops, 1);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps loops = tileCollectOps(function, scfForOpIsA);
  for (intptr_t i = 0; i < loops.count; ++i) { // inner ones first
    Alternating alternating;
    if (match(loops.items[i], &alternating))
      rewrite(&alternating, pass);
  }
  tileOpsFree(&loops);
  return true;
}

const MlirExtPassDefinition tileAlternateCarriedBuffersPass = {
    .argument = "tile-alternate-carried-buffers",
    .summary = "Give loops that carry buffers two of each in turn",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"loops: loops over pairs of rounds",
                                        "copies: buffers that a loop begins with a copy of", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .run = run,
};
