// tile.group: verifier, fold, and the helpers of group.h.
// Why: the decision to fuse is written down, may be read and changed, and is never more than a grouping: a group means
// its body.
#include "dialects/tile/group.h"

#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

MlirBlock tileGroupBody(MlirOperation group) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(group, 0)); }

//===--- edges --------------------------------------------------------------===//

bool tileGroupIsEdge(MlirOperation op, intptr_t operand) {
  MlirValue value = mlirOperationGetOperand(op, operand);
  MlirOperation maker = tileDefiningOp(value);
  return mlirTypeIsATensor(mlirValueGetType(value)) && !mlirOperationIsNull(maker) &&
         mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(op)) && !tileYieldOpIsA(op) &&
         !tensorDimOpIsA(op) && !tensorEmptyOpIsA(maker) && !arithConstantOpIsA(maker);
}

intptr_t tileGroupNumEdges(MlirOperation group) {
  intptr_t edges = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(tileGroupBody(group)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      edges += tileGroupIsEdge(op, i);
  return edges;
}

TileOps tileGroupOps(MlirOperation group) {
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(group));
  TileOps ops = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(tileGroupBody(group)); !mlirOperationEqual(op, yield);
       op = mlirOperationGetNextInBlock(op))
    tileOpsAppend(&ops, op);
  return ops;
}

intptr_t tileGroupNumKernels(MlirOperation group) {
  intptr_t kernels = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(tileGroupBody(group)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    kernels += tileLaunchOpIsA(op) || tileOpIsStructured(op) || linalgSoftmaxOpIsA(op);
  return kernels;
}

//===--- levels -------------------------------------------------------------===//

bool tileGroupMeetsAt(MlirOperation group, const char *level) {
  MlirAttribute meets = tileGroupOpGetMeets(group);
  for (intptr_t i = 0; !mlirAttributeIsNull(meets) && i < mlirArrayAttrGetNumElements(meets); ++i)
    if (tileStringEquals(mlirStringAttrGetValue(mlirArrayAttrGetElement(meets, i)), level))
      return true;
  return false;
}

bool tileGroupMeetsInRegisters(MlirOperation group) {
  return !tileGroupMeetsAt(group, "shared") && !tileGroupMeetsAt(group, "global");
}

void tileGroupMeetAt(MlirOperation group, const char *level) {
  MlirContext context = mlirOperationGetContext(group);
  intptr_t count = tileGroupNumEdges(group);
  MlirAttribute *all = malloc(sizeof *all * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    all[i] = mlirStringAttrGet(context, tileString(level));
  tileGroupOpSetMeets(group, mlirArrayAttrGet(context, count, all));
  free(all);
}

//===--- verifier and fold --------------------------------------------------===//

static bool verifyArguments(MlirOperation op) {
  MlirBlock body = tileGroupBody(op);
  intptr_t wanted = mlirOperationGetNumOperands(op), seen = mlirBlockGetNumArguments(body);
  if (seen != wanted)
    return tileError(op, "the body has %d arguments; one for each of %d ins is required", (int)seen, (int)wanted);
  for (intptr_t i = 0; i < seen; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(body, i));
    if (!mlirTypeEqual(type, tileOperandType(op, i)))
      return tileError(op, "argument #%d of the body is %s; the type of its ins, %s, is required", (int)i,
                       TILE_TYPE_TEXT(type), TILE_TYPE_TEXT(tileOperandType(op, i)));
  }
  return true;
}

static bool verifyLevels(MlirOperation op) {
  MlirAttribute meets = tileGroupOpGetMeets(op);
  for (intptr_t i = 0; !mlirAttributeIsNull(meets) && i < mlirArrayAttrGetNumElements(meets); ++i) {
    MlirStringRef level = mlirStringAttrGetValue(mlirArrayAttrGetElement(meets, i));
    if (!tileStringEquals(level, "register") && !tileStringEquals(level, "shared") &&
        !tileStringEquals(level, "global"))
      return tileError(op, "meets: level #%d is %.*s; a group accepts register, shared and global", (int)i,
                       (int)level.length, level.data);
  }
  return true;
}

bool tileGroupOpVerify(MlirOperation op) { return verifyArguments(op) && verifyLevels(op); }

static bool verifyYield(MlirOperation op, MlirOperation yield) {
  intptr_t seen = mlirOperationGetNumOperands(yield), wanted = mlirOperationGetNumResults(op);
  MlirLocation where = mlirOperationGetLocation(op);
  if (!tileYieldOpIsA(yield))
    return tileError(op, "the body ends with '%.*s'; tile.yield is required", (int)tileOpName(yield).length,
                     tileOpName(yield).data);
  if (seen != wanted)
    return tileErrorWithNote(yield, where, "the group is here",
                             "yields %d values; one for each of the group's %d results is required", (int)seen,
                             (int)wanted);
  for (intptr_t i = 0; i < seen; ++i)
    if (!mlirTypeEqual(tileOperandType(yield, i), tileResultType(op, i)))
      return tileErrorWithNote(yield, where, "the group is here",
                               "value #%d is %s; the type of the group's result, %s, is required", (int)i,
                               TILE_TYPE_TEXT(tileOperandType(yield, i)), TILE_TYPE_TEXT(tileResultType(op, i)));
  return true;
}

// The ops inside are verified by now.
bool tileGroupOpVerifyRegions(MlirOperation op) {
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(op));
  for (MlirOperation inner = mlirBlockGetFirstOperation(tileGroupBody(op)); !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner))
    if (!mlirExtOperationIsMemoryEffectFree(inner))
      return tileErrorWithNote(inner, mlirOperationGetLocation(op), "the group is here",
                               "stands in a tile.group and may read or write memory; a group accepts ops without "
                               "effects on memory");
  MlirAttribute meets = tileGroupOpGetMeets(op);
  intptr_t edges = tileGroupNumEdges(op);
  if (!mlirAttributeIsNull(meets) && mlirArrayAttrGetNumElements(meets) != edges)
    return tileError(op, "meets has %d levels; one for each of the body's %d inner edges is required",
                     (int)mlirArrayAttrGetNumElements(meets), (int)edges);
  return verifyYield(op, yield);
}

// A group without ops gives its operands back.
bool tileGroupOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation yield = mlirBlockGetFirstOperation(tileGroupBody(op));
  if (!tileYieldOpIsA(yield) || mlirOperationGetNumResults(op) == 0)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i) {
    intptr_t argument = mlirBlockArgumentGetArgNumber(mlirOperationGetOperand(yield, i));
    mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(op, argument));
  }
  return true;
}

//===--- inlining -----------------------------------------------------------===//

void tileGroupInline(MlirOperation group) {
  MlirBlock body = tileGroupBody(group), block = mlirOperationGetBlock(group);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetOperand(group, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, yield);
       op = mlirBlockGetFirstOperation(body)) {
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(block, group, op);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(group); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(group, i), mlirOperationGetOperand(yield, i));
  mlirOperationDestroy(group);
}

//===--- wrapping -----------------------------------------------------------===//

typedef struct Wrap {
  MlirBlock body;
  MlirOperation op;            // the op whose operands are being replaced
  MlirValue *outside, *inside; // values from outside, and the copy or argument that stands for each
  intptr_t numKnown;
  MlirValue *inputs;
  intptr_t numInputs;
} Wrap;

static void remember(Wrap *w, MlirValue outside, MlirValue inside) {
  w->outside = realloc(w->outside, sizeof *w->outside * (size_t)(w->numKnown + 1));
  w->inside = realloc(w->inside, sizeof *w->inside * (size_t)(w->numKnown + 1));
  w->outside[w->numKnown] = outside;
  w->inside[w->numKnown++] = inside;
}

static MlirOperation ownerOf(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value))
                                          : mlirOpResultGetOwner(value);
}

// What a body starts from: it is copied into each group that does.
static bool isStart(MlirOperation op) {
  if (arithConstantOpIsA(op) || tensorEmptyOpIsA(op) || linalgFillOpIsA(op))
    return true;
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1)
    return false;
  for (intptr_t i = 0; i + 1 < mlirOperationGetNumOperands(op); ++i)
    if (mlirTypeIsATensor(tileOperandType(op, i)))
      return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  return mlirOperationEqual(mlirBlockGetFirstOperation(body), yield) && mlirOperationGetNumOperands(yield) == 1;
}

static MlirValue insideOf(Wrap *w, MlirValue value);

static MlirWalkResult replaceOperands(MlirOperation op, void *data) {
  Wrap *w = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (!tileIsWithin(ownerOf(value), w->op))
      mlirOperationSetOperand(op, i, insideOf(w, value));
  }
  return MlirWalkResultAdvance;
}

static void take(Wrap *w, MlirOperation op) {
  MlirOperation outer = w->op;
  w->op = op;
  mlirOperationWalk(op, replaceOperands, w, MlirWalkPreOrder);
  w->op = outer;
  mlirBlockAppendOwnedOperation(w->body, op);
}

static MlirValue insideOf(Wrap *w, MlirValue value) {
  MlirOperation maker = tileDefiningOp(value);
  for (intptr_t i = 0; i < w->numKnown; ++i)
    if (mlirValueEqual(w->outside[i], value))
      return w->inside[i];
  if (!mlirOperationIsNull(maker) && mlirBlockEqual(mlirOperationGetBlock(maker), w->body))
    return value;
  MlirValue inside;
  if (isStart(maker)) {
    MlirOperation copy = mlirOperationClone(maker);
    take(w, copy);
    inside = mlirOperationGetResult(copy, mlirOpResultGetResultNumber(value));
  } else {
    w->inputs = realloc(w->inputs, sizeof *w->inputs * (size_t)(w->numInputs + 1));
    w->inputs[w->numInputs++] = value;
    inside = mlirBlockAddArgument(w->body, mlirValueGetType(value), mlirValueGetLocation(value));
  }
  remember(w, value, inside);
  return inside;
}

// Something outside uses the value: what is none of the ops, or a shared one, which stays outside too.
static bool isValueUsedOutside(MlirValue value, const MlirOperation *ops, const bool *isShared, intptr_t count) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    bool isOurs = false;
    for (intptr_t i = 0; i < count; ++i)
      isOurs |= !isShared[i] && tileIsWithin(mlirOpOperandGetOwner(use), ops[i]);
    if (!isOurs)
      return true;
  }
  return false;
}

static bool isUsedOutside(MlirOperation op, const MlirOperation *ops, const bool *isShared, intptr_t count) {
  for (intptr_t r = 0; r < mlirOperationGetNumResults(op); ++r)
    if (isValueUsedOutside(mlirOperationGetResult(op, r), ops, isShared, count))
      return true;
  return false;
}

// The results of the group: all of the last op's, and those of others that something outside uses and the group gives.
static intptr_t listResults(const MlirOperation *ops, intptr_t count, const bool *isShared, MlirValue **results) {
  bool *isNoOp = calloc((size_t)count, sizeof *isNoOp);
  intptr_t number = 0;
  *results = NULL;
  for (intptr_t i = 0; i < count; ++i) {
    intptr_t own = mlirOperationGetNumResults(ops[i]);
    *results = realloc(*results, sizeof **results * (size_t)(number + own + 1));
    for (intptr_t r = 0; r < own; ++r) {
      MlirValue value = mlirOperationGetResult(ops[i], r);
      if (i == count - 1 || (!isShared[i] && isValueUsedOutside(value, ops, isNoOp, count)))
        (*results)[number++] = value;
    }
  }
  free(isNoOp);
  return number;
}

// Uses outside of the body become uses of the group's result.
static void replaceOutside(MlirValue inside, MlirValue result, MlirOperation group) {
  for (MlirOpOperand use = mlirValueGetFirstUse(inside), next; !mlirOpOperandIsNull(use); use = next) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    next = mlirOpOperandGetNextUse(use);
    if (!tileIsWithin(user, group))
      mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), result);
  }
}

static MlirOperation wrap(const MlirOperation *ops, intptr_t count, bool givesAll, MlirAttribute schedule) {
  MlirOperation last = ops[count - 1], next = mlirOperationGetNextInBlock(last);
  TileBuilder b = tileBuilderBefore(last);
  Wrap w = {.body = mlirBlockCreate(0, NULL, NULL)};
  bool *isShared = calloc((size_t)count, sizeof *isShared);
  for (intptr_t i = count - 2; i >= 0; --i)
    isShared[i] = !givesAll && isUsedOutside(ops[i], ops, isShared, count);
  MlirValue *results;
  intptr_t numResults = listResults(ops, count, isShared, &results);
  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation op = isShared[i] ? mlirOperationClone(ops[i]) : ops[i];
    if (!isShared[i])
      mlirOperationRemoveFromParent(op);
    take(&w, op);
    for (intptr_t r = 0; isShared[i] && r < mlirOperationGetNumResults(op); ++r)
      remember(&w, mlirOperationGetResult(ops[i], r), mlirOperationGetResult(op, r));
  }
  b.before = next;
  MlirType *types = malloc(sizeof *types * (size_t)(numResults + 1));
  for (intptr_t i = 0; i < numResults; ++i)
    types[i] = mlirValueGetType(results[i]);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, w.body);
  MlirOperation group =
      tileGroupOpCreate(&b, numResults, types, w.numInputs, w.inputs, mlirAttributeGetNull(), schedule, region);
  for (intptr_t i = 0; i < numResults; ++i)
    replaceOutside(results[i], mlirOperationGetResult(group, i), group);
  TileBuilder end = tileBuilderAtEnd(w.body, b.location);
  tileYieldOpBuild(&end, numResults, results);
  free(isShared);
  free(results);
  free(types);
  free(w.inputs);
  free(w.outside);
  free(w.inside);
  return group;
}

MlirOperation tileGroupWrap(const MlirOperation *ops, intptr_t count, const char *level, MlirAttribute schedule) {
  MlirOperation group = wrap(ops, count, false, schedule);
  tileGroupMeetAt(group, level);
  return group;
}

MlirOperation tileGroupWrapAll(const MlirOperation *ops, intptr_t count, const char *(*level)(MlirOperation op),
                               MlirAttribute schedule) {
  MlirOperation group = wrap(ops, count, true, schedule);
  intptr_t edges = 0;
  MlirAttribute *meets = malloc(sizeof *meets * (size_t)(tileGroupNumEdges(group) + 1));
  for (MlirOperation op = mlirBlockGetFirstOperation(tileGroupBody(group)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      if (tileGroupIsEdge(op, i))
        meets[edges++] = mlirStringAttrGet(mlirOperationGetContext(group), tileString(level(op)));
  tileGroupOpSetMeets(group, mlirArrayAttrGet(mlirOperationGetContext(group), edges, meets));
  free(meets);
  return group;
}
