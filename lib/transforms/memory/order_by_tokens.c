// tile-order-by-tokens: accesses of a kernel of CUDA Tile IR that may touch one memory, one of them writing, wait for
// each other by tokens.
//
//   %v, %t0 = load_view_tko weak %X[%i]            %v, %t0 = load_view_tko weak %X[%i]
//   %t1 = store_view_tko weak %s, %Y[%i]      →    %t1 = store_view_tko weak %s, %Y[%i] token = %t0
//
// Why: accesses of CUDA Tile IR have no order but that of tokens, those of the dialect tile the order of the program.
// Expects: entries whose accesses take no tokens, as convert-tile-to-cuda-tile leaves them. Leaves: a read waits for
// the writes before it, a write for all accesses before it, and no other access waits. Loops and conditions carry
// tokens. Parameters may share memory, unless one is marked llvm.noalias; the marks are removed. An access that
// acquires or releases waits for all before it, and all behind it wait for it. An entry with a token somewhere is left
// alone. Cost: linear in the ops, times the number of memories that are apart.
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/builtin.h"

enum { Statistic_Ordered };

//===--- questions ------------------------------------------------------------------------===//

static bool isAddress(MlirType type) {
  return cudaTileTypeIsAView(type) || cudaTileTypeIsATensorView(type) ||
         (mlirTypeIsARankedTensor(type) && cudaTileTypeIsAPointer(mlirShapedTypeGetElementType(type)));
}

// The token that an access gives; null: the op is no access.
static MlirValue tokenOf(MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirValue last = count ? mlirOperationGetResult(op, count - 1) : (MlirValue){NULL};
  bool is = count && cudaTileTypeIsAToken(mlirValueGetType(last)) && !mlirOperationGetNumRegions(op) &&
            !cudaTileMakeTokenOpIsA(op) && !cudaTileJoinTokensOpIsA(op);
  return is ? last : (MlirValue){NULL};
}

static bool hasOrder(MlirOperation op) {
  MlirAttribute word = tileOpAttribute(op, "memory_ordering_semantics");
  return !mlirAttributeIsNull(word) && !tileStringEquals(mlirStringAttrGetValue(word), "weak") &&
         !tileStringEquals(mlirStringAttrGetValue(word), "relaxed");
}

// The only operand of the op that is an address; null: none, or several.
static MlirValue addressOf(MlirOperation op) {
  MlirValue found = {NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (!isAddress(mlirValueGetType(operand)))
      continue;
    if (!mlirValueIsNull(found))
      return (MlirValue){NULL};
    found = operand;
  }
  return found;
}

// The parameter behind an address; -1: not known.
static intptr_t parameterOf(MlirValue address) {
  while (!mlirValueIsNull(address) && !mlirValueIsABlockArgument(address)) {
    MlirOperation op = mlirOpResultGetOwner(address);
    address = mlirOperationGetNumRegions(op) ? (MlirValue){NULL} : addressOf(op);
  }
  if (mlirValueIsNull(address) || !cudaTileEntryOpIsA(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(address))))
    return -1;
  return mlirBlockArgumentGetArgNumber(address);
}

//===--- memories that are apart ------------------------------------------------------------===//

// What the accesses so far to one memory left: the token of its last write, and one behind all of them. Null: none.
typedef struct Tokens {
  MlirValue write, all;
} Tokens;

typedef struct Loop { // around
  const struct Carried *carried;
} Loop;

typedef struct Ordering {
  MlirContext context;
  TileArena arena;
  intptr_t numMemories;
  intptr_t *memoryOf; // of each parameter
  bool *isWritten;    // of each memory, anywhere
  bool hasTokens, hasUnknown, hasOrders;
  const Loop *loop;
  int64_t numOrdered;
} Ordering;

static bool isMarked(MlirOperation entry, intptr_t parameter) {
  MlirAttribute all = tileOpAttribute(entry, "arg_attrs");
  return !mlirAttributeIsNull(all) && !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(
                                          mlirArrayAttrGetElement(all, parameter), tileString(cudaTileNoAlias)));
}

// Memory 0 is that of all parameters without the mark.
static void separate(Ordering *o, MlirOperation entry) {
  intptr_t count = mlirBlockGetNumArguments(mlirRegionGetFirstBlock(cudaTileEntryOpGetBody(entry)));
  o->memoryOf = tileArenaAllocate(&o->arena, sizeof *o->memoryOf * (size_t)(count + 1));
  o->isWritten = tileArenaAllocate(&o->arena, sizeof *o->isWritten * (size_t)(count + 1));
  o->numMemories = 1;
  for (intptr_t i = 0; i < count; ++i)
    o->memoryOf[i] = isMarked(entry, i) ? o->numMemories++ : 0;
}

static intptr_t memoryOf(const Ordering *o, MlirOperation access) {
  intptr_t parameter = parameterOf(addressOf(access));
  return parameter < 0 || o->numMemories == 1 ? 0 : o->memoryOf[parameter];
}

static MlirWalkResult look(MlirOperation op, void *data) {
  Ordering *o = data;
  if (mlirValueIsNull(tokenOf(op)))
    return MlirWalkResultAdvance;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    o->hasTokens |= cudaTileTypeIsAToken(mlirValueGetType(mlirOperationGetOperand(op, i)));
  o->hasUnknown |= parameterOf(addressOf(op)) < 0;
  o->hasOrders |= hasOrder(op);
  o->isWritten[memoryOf(o, op)] |= !tileOpOnlyReads(op);
  return MlirWalkResultAdvance;
}

// A memory that nobody writes needs no order, unless someone acquires what others wrote.
static bool isTracked(const Ordering *o, intptr_t memory) { return o->isWritten[memory] || o->hasOrders; }

//===--- what a region touches ----------------------------------------------------------------===//

// Tokens that a loop or condition carries: of memories that its regions write, both; of those they read, one.
typedef struct Carried {
  intptr_t count; // of tokens
  bool *reads, *writes;
} Carried;

typedef struct Touching {
  const Ordering *o;
  Carried *carried;
} Touching;

static MlirWalkResult touch(MlirOperation op, void *data) {
  const Touching *touching = data;
  const Ordering *o = touching->o;
  if (mlirValueIsNull(tokenOf(op)))
    return MlirWalkResultAdvance;
  for (intptr_t m = 0; m < o->numMemories; ++m) {
    bool isIts = m == memoryOf(o, op) || hasOrder(op);
    touching->carried->reads[m] |= isIts && isTracked(o, m);
    touching->carried->writes[m] |= isIts && isTracked(o, m) && (hasOrder(op) || !tileOpOnlyReads(op));
  }
  return MlirWalkResultAdvance;
}

static Carried carriedBy(Ordering *o, MlirOperation op) {
  Carried carried = {.reads = tileArenaAllocate(&o->arena, sizeof(bool) * (size_t)o->numMemories),
                     .writes = tileArenaAllocate(&o->arena, sizeof(bool) * (size_t)o->numMemories)};
  Touching touching = {o, &carried};
  mlirOperationWalk(op, touch, &touching, MlirWalkPreOrder);
  for (intptr_t m = 0; m < o->numMemories; ++m)
    carried.count += carried.reads[m] + carried.writes[m];
  return carried;
}

// Visits the tokens carried, in order.
static MlirValue *carriedToken(Tokens *state, const Carried *carried, intptr_t number) {
  for (intptr_t m = 0;; ++m) {
    if (carried->reads[m] && number-- == 0)
      return &state[m].all;
    if (carried->writes[m] && number-- == 0)
      return &state[m].write;
  }
}

static Tokens *copyState(Ordering *o, const Tokens *state) {
  Tokens *copy = tileArenaAllocate(&o->arena, sizeof *copy * (size_t)o->numMemories);
  memcpy(copy, state, sizeof *copy * (size_t)o->numMemories);
  return copy;
}

//===--- tokens ---------------------------------------------------------------------------------===//

static MlirType tokenType(const Ordering *o) { return cudaTileTokenTypeGet(o->context); }

static MlirValue join(Ordering *o, TileBuilder *b, MlirValue x, MlirValue y) {
  if (mlirValueIsNull(x) || mlirValueIsNull(y) || mlirValueEqual(x, y))
    return mlirValueIsNull(x) ? y : x;
  return cudaTileJoinTokensOpBuild(b, tokenType(o), 2, (MlirValue[]){x, y});
}

// The op's operands and those tokens.
static void appendTokens(Ordering *o, MlirOperation op, Tokens *state, const Carried *carried) {
  intptr_t count = mlirOperationGetNumOperands(op);
  TileBuilder b = tileBuilderBefore(op);
  MlirValue *operands = tileArenaAllocate(&o->arena, sizeof *operands * (size_t)(count + carried->count + 1));
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  for (intptr_t i = 0; i < carried->count; ++i) {
    MlirValue token = *carriedToken(state, carried, i);
    operands[count + i] = mlirValueIsNull(token) ? cudaTileMakeTokenOpBuild(&b, tokenType(o)) : token;
  }
  mlirOperationSetOperands(op, count + carried->count, operands);
}

static void orderAccess(Ordering *o, MlirOperation op, Tokens *state) {
  bool isOrder = hasOrder(op), isWrite = isOrder || !tileOpOnlyReads(op);
  intptr_t own = memoryOf(o, op);
  TileBuilder b = tileBuilderBefore(op);
  MlirValue before = {NULL}, token = tokenOf(op);
  for (intptr_t m = 0; m < o->numMemories; ++m)
    if (isTracked(o, m) && (isOrder || m == own))
      before = join(o, &b, before, isWrite ? state[m].all : state[m].write);
  if (!mlirValueIsNull(before)) {
    tileOpGiveOperand(op, "token", before);
    ++o->numOrdered;
  }
  b = tileBuilderAfter(op);
  for (intptr_t m = 0; m < o->numMemories; ++m) {
    Tokens *tokens = &state[m];
    if (!isTracked(o, m) || (!isOrder && m != own))
      continue;
    bool isBehindAll = isWrite || mlirValueIsNull(tokens->all) ||
                       (!mlirValueIsNull(tokens->write) && mlirValueEqual(tokens->all, tokens->write));
    tokens->all = isBehindAll ? token : join(o, &b, tokens->all, token);
    if (isWrite)
      tokens->write = token;
  }
}

//===--- regions --------------------------------------------------------------------------------===//

static void orderBlock(Ordering *o, MlirBlock block, Tokens *state, const Carried *yields);

// Tokens as further arguments of the loop's block.
static Tokens *enterLoop(Ordering *o, MlirBlock block, const Tokens *outside, const Carried *carried) {
  Tokens *inside = copyState(o, outside);
  MlirLocation location = mlirOperationGetLocation(mlirBlockGetParentOperation(block));
  for (intptr_t i = 0; i < carried->count; ++i)
    *carriedToken(inside, carried, i) = mlirBlockAddArgument(block, tokenType(o), location);
  return inside;
}

// An op like the old one, with its regions, and with results for the tokens. The old one is gone.
static void replace(Ordering *o, MlirOperation op, Tokens *state, const Carried *carried) {
  TileBuilder b = tileBuilderBefore(op);
  intptr_t count = mlirOperationGetNumResults(op), total = count + carried->count;
  MlirType *types = tileArenaAllocate(&o->arena, sizeof *types * (size_t)(total + 1));
  for (intptr_t i = 0; i < total; ++i)
    types[i] = i < count ? tileResultType(op, i) : tokenType(o);
  intptr_t numOperands = mlirOperationGetNumOperands(op), numRegions = mlirOperationGetNumRegions(op);
  MlirValue *operands = tileArenaAllocate(&o->arena, sizeof *operands * (size_t)(numOperands + 1));
  for (intptr_t i = 0; i < numOperands; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
  for (intptr_t i = 0; i < 2; ++i)
    if (i < numRegions)
      mlirRegionTakeBody(regions[i], mlirOperationGetRegion(op, i));
    else
      mlirRegionDestroy(regions[i]);
  MlirOperation made;
  if (cudaTileIfOpIsA(op))
    made = cudaTileIfOpBuild(&b, total, types, operands[0], regions[0], regions[1]);
  else if (cudaTileForOpIsA(op))
    made = cudaTileForOpCreate(&b, operands[0], operands[1], operands[2], numOperands - 3, operands + 3,
                               cudaTileForOpGetUnsignedCmp(op), regions[0]);
  else
    made = cudaTileLoopOpBuild(&b, total, types, numOperands, operands, regions[0]);
  for (intptr_t i = 0; i < count; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  for (intptr_t i = 0; i < carried->count; ++i)
    *carriedToken(state, carried, i) = mlirOperationGetResult(made, count + i);
  mlirOperationDestroy(op);
}

static void orderLoop(Ordering *o, MlirOperation op, Tokens *state, const Carried *carried) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  const Loop loop = {carried}, *outer = o->loop;
  appendTokens(o, op, state, carried);
  o->loop = &loop;
  orderBlock(o, block, enterLoop(o, block, state, carried), NULL);
  o->loop = outer;
  replace(o, op, state, carried);
}

static void orderIf(Ordering *o, MlirOperation op, Tokens *state, const Carried *carried) {
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    if (mlirBlockIsNull(block)) { // an `else` that gives tokens
      block = mlirBlockCreate(0, NULL, NULL);
      mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, i), block);
      TileBuilder b = tileBuilderAtEnd(block, mlirOperationGetLocation(op));
      cudaTileYieldOpBuild(&b, 0, NULL);
    }
    orderBlock(o, block, copyState(o, state), carried);
  }
  replace(o, op, state, carried);
}

// `yields`: what the condition around carries.
static void orderEnd(Ordering *o, MlirOperation op, Tokens *state, const Carried *yields) {
  if (cudaTileYieldOpIsA(op) && yields)
    appendTokens(o, op, state, yields);
  else if ((cudaTileBreakOpIsA(op) || cudaTileContinueOpIsA(op)) && o->loop)
    appendTokens(o, op, state, o->loop->carried);
}

static void orderBlock(Ordering *o, MlirBlock block, Tokens *state, const Carried *yields) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    bool isIf = cudaTileIfOpIsA(op), isLoop = cudaTileForOpIsA(op) || cudaTileLoopOpIsA(op);
    if (!mlirValueIsNull(tokenOf(op))) {
      orderAccess(o, op, state);
    } else if (isIf || isLoop) {
      Carried carried = carriedBy(o, op);
      (isIf ? orderIf : orderLoop)(o, op, state, &carried);
    } else {
      orderEnd(o, op, state, yields);
    }
  }
}

//===--- the pass -------------------------------------------------------------------------------===//

static int64_t orderEntry(MlirOperation entry) {
  Ordering o = {.context = mlirOperationGetContext(entry)};
  separate(&o, entry);
  mlirOperationWalk(entry, look, &o, MlirWalkPreOrder);
  if (o.hasUnknown && o.numMemories > 1) { // it may be any of them
    for (intptr_t m = 1; m < o.numMemories; ++m)
      o.isWritten[0] |= o.isWritten[m];
    o.numMemories = 1;
  }
  if (!o.hasTokens) {
    Tokens *state = tileArenaAllocate(&o.arena, sizeof *state * (size_t)o.numMemories);
    orderBlock(&o, mlirRegionGetFirstBlock(cudaTileEntryOpGetBody(entry)), state, NULL);
    cudaTileEntryOpSetArgAttrs(entry, mlirAttributeGetNull());
  }
  tileArenaFree(&o.arena);
  return o.numOrdered;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps entries = tileCollectOps(module, cudaTileEntryOpIsA);
  for (intptr_t i = 0; i < entries.count; ++i)
    mlirExtPassAddStatistic(pass, Statistic_Ordered, orderEntry(entries.items[i]));
  tileOpsFree(&entries);
  return mlirOperationVerify(module);
}

const MlirExtPassDefinition tileOrderByTokensPass = {
    .argument = "tile-order-by-tokens",
    .summary = "Chain the accesses of kernels of CUDA Tile IR that may touch one memory",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"ordered: accesses that wait for others", NULL},
    .registerDialects = cudaTileRegisterDialect,
    .run = run,
};
