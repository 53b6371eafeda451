// Questions about the uses of a value: may its expression stay unevaluated until its users need it, and may its memory
// be overwritten? The questions are about the kernel before it is changed.
#include "lib/conversion/tile_to_vector/lowering.h"
#include "lib/ir/enclosing.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "upstream/math.h"
#include "upstream/scf.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

//===--- memory behind a value ------------------------------------------------------------===//

// Memory at an address may be any memory except the kernel's own.
static bool isAtAddress(MlirValue root) {
  return vecIsTile(mlirValueGetType(root)) || mlirTypeIsAInteger(mlirValueGetType(root)) ||
         tileMemrefAtOpIsA(tileDefiningOp(root));
}

static bool mayBeSame(MlirValue a, MlirValue b) {
  if (mlirValueEqual(a, b))
    return true;
  if (mlirValueIsABlockArgument(a) && mlirValueIsABlockArgument(b))
    return tileParametersMayOverlap(a, b);
  bool isLocal = tileAllocOpIsA(tileDefiningOp(a)) || tileAllocOpIsA(tileDefiningOp(b));
  return !isLocal && (isAtAddress(a) || isAtAddress(b));
}

// Whether an op, or an op inside it, may write the memory `root`.
typedef struct Writing {
  MlirValue root;
  bool isFound;
} Writing;

// A callee may write the memory that it is given, and no other memory of the kernel's own.
static bool mayBeGiven(MlirOperation call, MlirValue root) {
  for (intptr_t i = 0; i < tileCallOpGetNumArguments(call); ++i)
    if (mayBeSame(tileMemoryRoot(tileCallOpGetArguments(call, i)), root))
      return true;
  return false;
}

static void seeEffect(MlirOperation op, TileEffect effect, void *data) {
  Writing *writing = data;
  if (effect.kind == MlirExtEffect_Read || effect.kind == MlirExtEffect_Allocate)
    return;
  bool isWritten = effect.resource == MlirExtResource_Memory;
  // Others may write what was read before an op that orders, and have written what is read after it. What orders the
  // threads of one program orders nothing here: one thread runs it.
  if (effect.resource == MlirExtResource_Order)
    isWritten = !tileSyncOpIsA(op) && !tileWaitOpIsA(op);
  else if (isWritten && !mlirValueIsNull(effect.value))
    isWritten = mayBeSame(tileMemoryRoot(effect.value), writing->root);
  else if (isWritten && tileCallOpIsA(op))
    isWritten = mayBeGiven(op, writing->root);
  writing->isFound = writing->isFound || isWritten;
}

static MlirWalkResult seeOp(MlirOperation op, void *data) {
  Writing *writing = data;
  if (!tileKernelOpIsA(op))
    tileOpVisitEffects(op, seeEffect, writing);
  return writing->isFound ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

static bool writesTo(MlirOperation op, MlirValue root) {
  Writing writing = {.root = root};
  mlirOperationWalk(op, seeOp, &writing, MlirWalkPreOrder);
  return writing.isFound;
}

//===--- where a value is needed ------------------------------------------------------------===//

static bool isLazyUser(MlirOperation user) {
  return mlirOperationGetNumResults(user) == 1 && vecIsEvaluable(user) && vecIsTile(tileOnlyResultType(user));
}

typedef bool (*UseVisitor)(MlirOperation user, bool elementwise, void *data); // false: stop

// A walk to the users of a value and of values evaluated from it. Each value is followed once per way it is read.
typedef struct Walk {
  UseVisitor visit;
  void *data;
  struct Seen {
    MlirValue value;
    bool elementwise;
  } *seen;
  intptr_t numSeen;
} Walk;

static bool wasSeen(Walk *walk, MlirValue value, bool elementwise) {
  for (intptr_t i = 0; i < walk->numSeen; ++i)
    if (mlirValueEqual(walk->seen[i].value, value) && walk->seen[i].elementwise == elementwise)
      return true;
  walk->seen = tessera_grow(walk->seen, walk->numSeen, sizeof *walk->seen);
  walk->seen[walk->numSeen++] = (struct Seen){value, elementwise};
  return false;
}

static bool follow(Walk *walk, MlirValue value, bool elementwise) {
  if (wasSeen(walk, value, elementwise))
    return true;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    bool lazy = isLazyUser(user), going = lazy || walk->visit(user, elementwise, walk->data);
    for (intptr_t i = 0; lazy && going && i < mlirOperationGetNumResults(user); ++i)
      going = follow(walk, mlirOperationGetResult(user, i), elementwise && vecIsElementwise(user));
    if (!going)
      return false;
  }
  return true;
}

// Visits every op that makes loops for `value` or for a value evaluated from it. Elementwise: at the same coordinates.
static void eachRoot(MlirValue value, UseVisitor visit, void *data) {
  Walk walk = {.visit = visit, .data = data};
  follow(&walk, value, true);
  free(walk.seen);
}

//===--- may a load wait? ---------------------------------------------------------------------===//

typedef struct LoadUses {
  MlirOperation load, last; // last: of the load's block
  MlirValue root;
  bool overwritten;
} LoadUses;

static bool isSameView(MlirOperation a, MlirOperation b) {
  return tileViewOpIsA(a) && tileViewOpIsA(b) &&
         mlirTypeEqual(tileViewOpGetResultType(a), tileViewOpGetResultType(b)) && tileViewOpGetNumIndices(a) == 0 &&
         tileViewOpGetNumIndices(b) == 0 && mlirValueEqual(tileViewOpGetSource(a), tileViewOpGetSource(b));
}

// A store to the tile that was loaded.
static bool isStoreInPlace(MlirOperation load, MlirOperation store) {
  if (!tileLoadOpIsA(load) || !tileStoreOpIsA(store) ||
      tileStoreOpGetNumIndices(store) != tileLoadOpGetNumIndices(load))
    return false;
  MlirValue source = tileLoadOpGetSource(load), destination = tileStoreOpGetDestination(store);
  bool same = mlirValueEqual(source, destination) || isSameView(tileDefiningOp(source), tileDefiningOp(destination));
  for (intptr_t i = 0; i < tileLoadOpGetNumIndices(load); ++i)
    same = same && mlirValueEqual(tileLoadOpGetIndices(load, i), tileStoreOpGetIndices(store, i));
  return same;
}

static bool visitLoadUse(MlirOperation user, bool elementwise, void *data) {
  LoadUses *uses = data;
  MlirBlock block = mlirOperationGetBlock(uses->load);
  MlirOperation at = tileAncestorIn(block, user);
  if (tileCallOpIsA(user)) // what the callee computes from it is needed later
    uses->overwritten = true;
  bool inPlace = elementwise && mlirOperationEqual(at, user) && isStoreInPlace(uses->load, user);
  if (writesTo(at, uses->root) && !inPlace)
    uses->overwritten = true;
  for (MlirOperation op = mlirOperationGetNextInBlock(uses->load); !uses->overwritten && !mlirOperationEqual(op, at);
       op = mlirOperationGetNextInBlock(op))
    uses->overwritten = writesTo(op, uses->root);
  return !uses->overwritten;
}

bool vecIsOverwrittenBeforeUse(MlirOperation load) {
  LoadUses uses = {.load = load, .root = tileMemoryRoot(tileLoadOpGetSource(load))};
  MlirOperation kernel = tileParentOp(load, tileKernelOpIsA);
  if (mlirOperationIsNull(kernel))
    return true; // in a copied function: its caller's writes are not seen from here
  if (!writesTo(kernel, uses.root))
    return false;
  eachRoot(tileOnlyResult(load), visitLoadUse, &uses);
  return uses.overwritten;
}

//===--- is it worth storing? ------------------------------------------------------------------===//

static bool isHeavy(MlirOperation op) {
  switch (tileUpstreamKind(op)) {
  case MathOp_AbsF:
  case MathOp_AbsI:
  case MathOp_Fma:
  case MathOp_CopySign:
  case MathOp_Ceil:
  case MathOp_Floor:
    return false;
  default:
    return tileOpIsOfDialect(op, "math");
  }
}

bool vecHasHeavyOps(VecLowering *lowering, VecRecord *record) {
  VecRecords records = vecRecordsBehind(lowering, record);
  for (intptr_t i = 0; i < records.count; ++i)
    if (records.items[i]->kind == VecRecord_Lazy && isHeavy(records.items[i]->op))
      return true;
  return false;
}

// A few instructions: stored only if each element is needed many times.
static bool isSlow(MlirOperation op) { return arithMaximumFOpIsA(op) || arithMinimumFOpIsA(op) || arithDivFOpIsA(op); }

typedef struct Demand {
  MlirOperation op;
  int roots;
} Demand;

static bool countRoot(MlirOperation user, bool elementwise, void *data) {
  (void)elementwise;
  Demand *demand = data;
  bool inLoop = !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(demand->op));
  demand->roots += inLoop && !scfIfOpIsA(mlirOperationGetParentOperation(user)) ? 2 : 1;
  return demand->roots < 2;
}

static bool feedsBroadcast(MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (tileBroadcastOpIsA(mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

bool vecIsWorthStoring(VecLowering *lowering, MlirOperation op) {
  VecRecord *record = vecRecordOf(lowering, tileOnlyResult(op));
  VecRecords records = vecRecordsBehind(lowering, record);
  bool heavy = false, slow = false;
  for (intptr_t i = 0; i < records.count; ++i) {
    bool isLazy = records.items[i]->kind == VecRecord_Lazy;
    heavy = heavy || (isLazy && isHeavy(records.items[i]->op));
    slow = slow || (isLazy && isSlow(records.items[i]->op));
  }
  if ((heavy || slow) && feedsBroadcast(tileOnlyResult(op)))
    return true;
  if (!heavy)
    return false;
  Demand demand = {.op = op};
  if (isHeavy(op))
    eachRoot(tileOnlyResult(op), countRoot, &demand);
  return demand.roots > 1;
}

//===--- writing over what is read --------------------------------------------------------------===//

static MlirBlock blockOfValue(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

VecAccess *vecInPlaceTarget(VecLowering *lowering, MlirValue value) {
  VecRecord *record = vecRecordOf(lowering, value);
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (!vecIsTile(mlirValueGetType(value)) || !tileHasOneUse(value) ||
      !mlirBlockEqual(blockOfValue(value), mlirOperationGetBlock(mlirOpOperandGetOwner(use))))
    return NULL;
  if (record->kind == VecRecord_Memory)
    return record->isShared ? NULL : record->access;
  if (record->kind != VecRecord_Lazy || !vecIsElementwise(record->op))
    return NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    MlirValue operand = mlirOperationGetOperand(record->op, i);
    VecAccess *target = vecInPlaceTarget(lowering, operand);
    if (target && mlirTypeEqual(mlirValueGetType(operand), mlirValueGetType(value)))
      return target;
  }
  return NULL;
}
