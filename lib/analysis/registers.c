// Registers by counting what is alive. See registers.h.
#include "lib/analysis/registers.h"
#include "lib/ir/enclosing.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

//===--- values ---------------------------------------------------------------------===//

// The product that reads a value by way of ops that only rename its elements; null: there is another reader, or none.
static MlirOperation productOf(MlirValue value) {
  while (tileHasOneUse(value)) {
    MlirOpOperand use = mlirValueGetFirstUse(value);
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileIsProduct(user))
      return tileIsFactor(use) ? user : (MlirOperation){NULL};
    if (!tileReshapeOpIsA(user) && !tileTransposeOpIsA(user))
      break;
    value = tileOnlyResult(user);
  }
  return (MlirOperation){NULL};
}

static bool isBesideProduct(MlirOperation op) {
  MlirOperation product = productOf(tileOnlyResult(op));
  return !mlirOperationIsNull(product) && mlirBlockEqual(mlirOperationGetBlock(product), mlirOperationGetBlock(op));
}

bool tileIsFragmentLoad(const TileRegisterCount *count, MlirOperation op) {
  return tileLoadOpIsA(op) && (count->willStage || tileTypeIsABuffer(tileLoadOpGetSourceType(op))) &&
         isBesideProduct(op);
}

// A fragment, or one renamed.
static bool isFragment(const TileRegisterCount *count, MlirOperation op) {
  while (tileReshapeOpIsA(op) || tileTransposeOpIsA(op)) {
    MlirOperation source = tileDefiningOp(tileMovedTile(op));
    if (mlirOperationIsNull(source) || !mlirBlockEqual(mlirOperationGetBlock(source), mlirOperationGetBlock(op)))
      return false;
    op = source;
  }
  return tileIsFragmentLoad(count, op);
}

static bool isCheap(MlirOperation op) { return arithConstantOpIsA(op) || tileIotaOpIsA(op) || tileBroadcastOpIsA(op); }

static int64_t byLayout(MlirValue tile) {
  MlirType type = mlirValueGetType(tile);
  if (mlirAttributeIsNull(tileTypeGetLayout(type)))
    return 0;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(type));
  unsigned bits = tileElementWidth(tileTypeGetElement(type));
  return ((int64_t)tileLayoutDimSize(&layout, TileLayoutReg) * (bits ? bits : 64) + 31) / 32;
}

static int64_t sizeOf(const TileRegisterCount *count, MlirValue value) {
  return count->registersOf ? count->registersOf(value, count->data) : byLayout(value);
}

static int64_t registersOf(const TileRegisterCount *count, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (!tileTypeIsATile(type) || tileElementWidth(tileTypeGetElement(type)) == 1 || isCheap(tileDefiningOp(value)) ||
      (mlirValueIsAOpResult(value) && isFragment(count, mlirOpResultGetOwner(value))))
    return 0;
  return sizeOf(count, value);
}

//===--- what is alive -----------------------------------------------------------------===//

static bool isUsedAfter(MlirValue value, MlirOperation op) {
  MlirBlock block = mlirOperationGetBlock(op);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = tileAncestorIn(block, mlirOpOperandGetOwner(use));
    if (!mlirOperationIsNull(user) && mlirOperationIsBeforeInBlock(op, user))
      return true;
  }
  return false;
}

static MlirBlock blockOf(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOperationGetBlock(mlirOpResultGetOwner(value))
                                     : mlirBlockArgumentGetOwner(value);
}

typedef struct Values {
  MlirValue *items;
  intptr_t count;
} Values;

static bool isNew(Values *seen, MlirValue value) {
  for (intptr_t i = 0; i < seen->count; ++i)
    if (mlirValueEqual(seen->items[i], value))
      return false;
  seen->items = tessera_grow(seen->items, seen->count, sizeof *seen->items);
  seen->items[seen->count++] = value;
  return true;
}

// What an op, with all that is nested in it, uses of values that `of` takes, each counted once.
typedef struct Uses {
  const TileRegisterCount *count;
  MlirOperation root;
  bool areDying; // only values of root's own block that nothing after it uses; else those that are from outside of it
  bool leavesStart; // without the operands of `root` itself
  Values seen;
  int64_t registers;
} Uses;

static bool isWithin(MlirOperation root, MlirValue value) {
  return tileIsWithin(mlirBlockGetParentOperation(blockOf(value)), root);
}

static MlirWalkResult addUses(MlirOperation op, void *data) {
  Uses *uses = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    bool isWanted = uses->areDying ? mlirBlockEqual(blockOf(value), mlirOperationGetBlock(uses->root)) &&
                                         !isUsedAfter(value, uses->root)
                                   : mlirValueIsAOpResult(value) && !isWithin(uses->root, value);
    int64_t registers =
        isWanted && !(uses->leavesStart && mlirOperationEqual(op, uses->root)) ? registersOf(uses->count, value) : 0;
    if (registers && isNew(&uses->seen, value))
      uses->registers += registers;
  }
  return MlirWalkResultAdvance;
}

static int64_t countUses(Uses uses) {
  mlirOperationWalk(uses.root, addUses, &uses, MlirWalkPreOrder);
  free(uses.seen.items);
  return uses.registers;
}

//===--- blocks ---------------------------------------------------------------------------===//

// A region's rounds carry their own values: what the op was given for them ends where it begins.
static int64_t nestedRegisters(const TileRegisterCount *count, MlirOperation op, int64_t dying) {
  int64_t most = 0;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block)) {
      int64_t registers = tileBlockRegisters(count, block);
      most = registers > most ? registers : most;
    }
  int64_t inside = most ? countUses((Uses){.count = count, .root = op, .areDying = true, .leavesStart = true}) : 0;
  return most - (most ? dying - inside : 0);
}

int64_t tileBlockRegisters(const TileRegisterCount *count, MlirBlock block) {
  int64_t alive = 0, most;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    alive += registersOf(count, mlirBlockGetArgument(block, i));
  most = alive;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    int64_t dying = countUses((Uses){.count = count, .root = op, .areDying = true});
    int64_t inside = alive + nestedRegisters(count, op, dying);
    most = inside > most ? inside : most;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      alive += registersOf(count, mlirOperationGetResult(op, i));
    alive -= dying;
    most = alive > most ? alive : most;
  }
  return most;
}

int64_t tileLoopRegisters(const TileRegisterCount *count, MlirOperation loop) {
  return countUses((Uses){.count = count, .root = loop, .leavesStart = true}) +
         tileBlockRegisters(count, mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 0)));
}

//===--- copies ahead -------------------------------------------------------------------===//

typedef struct Copies {
  const TileRegisterCount *count;
  int64_t most;
} Copies;

static MlirWalkResult addCopies(MlirOperation op, void *data) {
  Copies *copies = data;
  int64_t registers = 0;
  if (!scfForOpIsA(op))
    return MlirWalkResultAdvance;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation load = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(load);
       load = mlirOperationGetNextInBlock(load))
    if (tileIsFragmentLoad(copies->count, load))
      registers += sizeOf(copies->count, tileOnlyResult(load));
  copies->most = registers > copies->most ? registers : copies->most;
  return MlirWalkResultAdvance;
}

int64_t tileCopiedRegisters(const TileRegisterCount *count, MlirOperation kernel) {
  Copies copies = {.count = count};
  mlirOperationWalk(kernel, addCopies, &copies, MlirWalkPreOrder);
  return copies.most;
}
