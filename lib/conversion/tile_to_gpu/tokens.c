// Waiting for a token by counting groups: cp.async's wait names how many of the newest groups may still be under way,
// so each token needs its age, the least number of groups that can have been committed after its own on any path. A
// copy's group ends at the join that takes its token, or at the copy itself. Loops: ages only fall from one round to
// the next, so they settle; what a token of an iteration argument stands for is the youngest of those that come in.
#include "lib/conversion/tile_to_gpu/tokens.h"

#include <stdlib.h>

enum { Unknown = -1, Oldest = 1 << 20 };

typedef struct Age {
  const void *token; // value
  int64_t age;
} Age;

typedef struct Wait {
  const void *op;
  int64_t pending;
} Wait;

typedef struct Tokens {
  Age *ages;
  intptr_t numAges, maxAges;
  Wait *waits;
  intptr_t numWaits, maxWaits;
} Tokens;

//===--- the tables -------------------------------------------------------------------------===//

static Age *ageOf(Tokens *tokens, MlirValue token) {
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    if (tokens->ages[i].token == token.ptr)
      return &tokens->ages[i];
  return NULL;
}

static void setAge(Tokens *tokens, MlirValue token, int64_t age) {
  Age *known = ageOf(tokens, token);
  if (known) {
    known->age = age;
    return;
  }
  if (tokens->numAges == tokens->maxAges) {
    tokens->maxAges = tokens->maxAges ? 2 * tokens->maxAges : 16;
    tokens->ages = realloc(tokens->ages, (size_t)tokens->maxAges * sizeof *tokens->ages);
  }
  tokens->ages[tokens->numAges++] = (Age){token.ptr, age};
}

static int64_t getAge(Tokens *tokens, MlirValue token) {
  Age *known = ageOf(tokens, token);
  return known ? known->age : 0;
}

static void commit(Tokens *tokens) {
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    tokens->ages[i].age += tokens->ages[i].age < Oldest;
}

static Wait *waitOf(Tokens *tokens, MlirOperation op) {
  for (intptr_t i = 0; i < tokens->numWaits; ++i)
    if (tokens->waits[i].op == op.ptr)
      return &tokens->waits[i];
  return NULL;
}

// The last visit counts: ages have settled by then.
static void setWait(Tokens *tokens, MlirOperation op, int64_t pending) {
  Wait *known = waitOf(tokens, op);
  if (known) {
    known->pending = pending;
    return;
  }
  if (tokens->numWaits == tokens->maxWaits) {
    tokens->maxWaits = tokens->maxWaits ? 2 * tokens->maxWaits : 16;
    tokens->waits = realloc(tokens->waits, (size_t)tokens->maxWaits * sizeof *tokens->waits);
  }
  tokens->waits[tokens->numWaits++] = (Wait){op.ptr, pending};
}

//===--- ops ------------------------------------------------------------------------------------===//

static bool isTakenByJoin(MlirValue token) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (tileOpIs(mlirOpOperandGetOwner(use), "tile.join"))
      return true;
  return false;
}

bool gpuEndsGroup(MlirOperation op) {
  if (tileOpIs(op, "tile.copy_async"))
    return mlirOperationGetNumResults(op) == 0 || !isTakenByJoin(mlirOperationGetResult(op, 0));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileOpIs(tileDefiningOp(mlirOperationGetOperand(op, i)), "tile.copy_async"))
      return true;
  return false;
}

static int64_t youngest(Tokens *tokens, MlirOperation op, intptr_t first) {
  int64_t age = Oldest;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsAToken(tileOperandType(op, i))) {
      int64_t one = getAge(tokens, mlirOperationGetOperand(op, i));
      age = one < age ? one : age;
    }
  return age;
}

static void visitBlock(Tokens *tokens, MlirBlock block);

static void visitToken(Tokens *tokens, MlirOperation op) {
  if (tileOpIs(op, "tile.wait")) {
    setWait(tokens, op, youngest(tokens, op, 0));
    return;
  }
  bool ends = gpuEndsGroup(op);
  int64_t age = ends ? 0 : youngest(tokens, op, 0);
  if (ends)
    commit(tokens);
  if (mlirOperationGetNumResults(op))
    setAge(tokens, mlirOperationGetResult(op, 0), age == Oldest ? 0 : age);
}

//===--- control flow -----------------------------------------------------------------------------===//

// Tokens of `op`'s operands from `first` on go to the values `to` gives; true if one became younger than it was.
typedef MlirValue (*Receiver)(const void *op, intptr_t index);

static MlirValue argumentOf(const void *block, intptr_t index) {
  return mlirBlockGetArgument(*(const MlirBlock *)block, index);
}

static MlirValue resultOf(const void *op, intptr_t index) {
  return mlirOperationGetResult(*(const MlirOperation *)op, index);
}

static bool forward(Tokens *tokens, MlirOperation op, intptr_t first, Receiver to, const void *whose, intptr_t offset) {
  bool changed = false;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i) {
    if (!tileTypeIsAToken(tileOperandType(op, i)))
      continue;
    MlirValue receiver = to(whose, i - first + offset);
    const Age *known = ageOf(tokens, receiver);
    int64_t age = getAge(tokens, mlirOperationGetOperand(op, i));
    if (!known || age < known->age) {
      setAge(tokens, receiver, age);
      changed = true;
    }
  }
  return changed;
}

static MlirBlock blockOf(MlirOperation op, intptr_t region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

// What holds at a loop's head must hold each time it is reached: all known ages, not those of arguments alone.
static void lower(Tokens *tokens, const Age *before, intptr_t count, bool *changed) {
  for (intptr_t i = 0; i < count; ++i)
    if (tokens->ages[i].age > before[i].age)
      tokens->ages[i].age = before[i].age;
    else if (tokens->ages[i].age < before[i].age)
      *changed = true;
}

static Age *copyAges(const Tokens *tokens) {
  Age *ages = malloc((size_t)(tokens->numAges + 1) * sizeof *ages);
  for (intptr_t i = 0; i < tokens->numAges; ++i)
    ages[i] = tokens->ages[i];
  return ages;
}

static void visitLoop(Tokens *tokens, MlirOperation op) {
  bool isFor = tileOpIs(op, "scf.for"), changed = true;
  MlirBlock head = blockOf(op, 0), last = blockOf(op, isFor ? 0 : 1);
  forward(tokens, op, isFor ? 3 : 0, argumentOf, &head, isFor);
  while (changed) {
    changed = false;
    intptr_t count = tokens->numAges;
    Age *before = copyAges(tokens);
    visitBlock(tokens, head);
    if (!isFor) {
      MlirOperation condition = mlirBlockGetTerminator(head);
      forward(tokens, condition, 1, argumentOf, &last, 0);
      forward(tokens, condition, 1, resultOf, &op, 0);
      visitBlock(tokens, last);
    }
    Age *after = copyAges(tokens);
    intptr_t numAfter = tokens->numAges;
    lower(tokens, before, count, &changed);
    // The arguments take the ages of what the body's end yields.
    MlirOperation yield = mlirBlockGetTerminator(last);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i)
      for (intptr_t j = 0; j < numAfter; ++j)
        if (after[j].token == mlirOperationGetOperand(yield, i).ptr) {
          Age *argument = ageOf(tokens, mlirBlockGetArgument(head, i + isFor));
          if (argument && after[j].age < argument->age) {
            argument->age = after[j].age;
            changed = true;
          }
          if (isFor) {
            MlirValue result = mlirOperationGetResult(op, i);
            const Age *known = ageOf(tokens, result);
            if (!known || after[j].age < known->age)
              setAge(tokens, result, after[j].age);
          }
        }
    free(before);
    free(after);
  }
  if (isFor)
    forward(tokens, op, 3, resultOf, &op, 0);
}

static void visitIf(Tokens *tokens, MlirOperation op) {
  intptr_t count = tokens->numAges;
  Age *before = copyAges(tokens), *then = NULL;
  bool ignored = false;
  for (int i = 0; i < 2; ++i) {
    MlirBlock block = blockOf(op, i);
    for (intptr_t j = 0; i && j < count; ++j)
      tokens->ages[j].age = before[j].age;
    if (block.ptr) {
      visitBlock(tokens, block);
      forward(tokens, mlirBlockGetTerminator(block), 0, resultOf, &op, 0);
    }
    if (!i)
      then = copyAges(tokens);
  }
  lower(tokens, then, count, &ignored);
  free(before);
  free(then);
}

static void visitBlock(Tokens *tokens, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); op.ptr; op = mlirOperationGetNextInBlock(op))
    if (tileOpIs(op, "scf.for") || tileOpIs(op, "scf.while"))
      visitLoop(tokens, op);
    else if (tileOpIs(op, "scf.if"))
      visitIf(tokens, op);
    else if (tileOpIs(op, "tile.copy_async") || tileOpIs(op, "tile.join") || tileOpIs(op, "tile.wait"))
      visitToken(tokens, op);
}

//===--- asking --------------------------------------------------------------------------------------===//

bool gpuCountGroups(Gpu *g) {
  Tokens tokens = {0};
  visitBlock(&tokens, mlirRegionGetFirstBlock(mlirOperationGetRegion(g->kernel, 0)));
  g->tokens = gpuAllocate(g, sizeof tokens);
  g->tokens->waits = gpuAllocate(g, (size_t)(tokens.numWaits + 1) * sizeof *tokens.waits);
  g->tokens->numWaits = tokens.numWaits;
  for (intptr_t i = 0; i < tokens.numWaits; ++i)
    g->tokens->waits[i] = tokens.waits[i];
  free(tokens.ages);
  free(tokens.waits);
  return true;
}

// In a called function nothing was counted: wait for all.
int64_t gpuGroupsPending(Gpu *g, MlirOperation op) {
  const Wait *wait = waitOf(g->tokens, op);
  return wait && wait->pending < Oldest ? wait->pending : 0;
}
