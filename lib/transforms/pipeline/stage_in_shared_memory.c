// tile-stage-in-shared-memory: operands of products that every thread loads for itself go through shared buffers.
// Expects: scheduled kernels, where an operand is a tile.load of a view, converted to the product's fragment.
// Leaves: per operand a buffer, a copy into it (asynchronous where the machine has cp.async), a wait, a tile.sync and a
//   tile.load of the buffer in the fragment's layout. The buffer's layout is swizzled for both sides: rows of 16 bytes
//   for ldmatrix where the fragment allows it, no bank conflicts. An operand that every round of a loop takes is held
//   in registers, or read in each round where they are short.
// Source: KNYFE's staging; global loads of a product of M x N x K by tiles of tm x tn are then MNK(1/tm + 1/tn).
// Cost: linear in the ops; one swizzle per operand.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/registers.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/layout/access.h"
#include "lib/layout/convert.h"
#include "lib/layout/tiling.h"
#include "lib/machine/machine.h"
#include "lib/transforms/pipeline/loops.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "upstream/scf.h"

#include <stdlib.h>

//===--- fragments that are read again instead of being held ------------------===//

// A load of a buffer whose only reader is a product, as an operand to multiply.
static bool isFragmentLoad(MlirOperation op) {
  if (!tileTypeIsABuffer(tileLoadOpGetSourceType(op)) || !tileHasOneUse(tileLoadOpGetResult(op)))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(tileLoadOpGetResult(op));
  return tileIsFactor(use);
}

// Nothing in the loop, or in one around it that the load stands before, touches the buffer.
static bool isLeftAlone(MlirValue buffer, MlirOperation load) {
  MlirBlock block = mlirOperationGetBlock(load);
  if (!tileAllocOpIsA(tileDefiningOp(buffer))) // a slot of a ring is written as the ring goes round
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = tileAncestorIn(block, mlirOpOperandGetOwner(use));
    if (mlirOperationIsNull(user) || mlirOperationIsBeforeInBlock(load, user))
      return false;
  }
  return true;
}

// Fragments of products that are read from a shared buffer before a loop are read in the loop, at their product, where
// the loop's tiles would take more registers than the kernel may have. Returns how many.
static int64_t readFragmentsInLoops(MlirOperation kernel, const TileMachine *machine) {
  int64_t limit = 0, others = 0, moved = 0;
  const TileRegisterCount count = {.registersOf = NULL};
  if (!tileIntegerOf(kernel, "registers", &limit) && !tileMachineGetInteger(machine, "registers.per_thread", &limit))
    return 0;
  tileMachineGetInteger(machine, "model.registers.step", &others);
  TileOps loads = tileCollectOps(kernel, tileLoadOpIsA);
  for (intptr_t i = 0; i < loads.count; ++i) {
    MlirOperation load = loads.items[i];
    if (!isFragmentLoad(load) || !isLeftAlone(tileLoadOpGetSource(load), load))
      continue;
    MlirOperation product = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileLoadOpGetResult(load)));
    MlirOperation loop = tileParentOp(product, scfForOpIsA);
    if (mlirOperationIsNull(loop) || !tileIsOutside(loop, tileLoadOpGetResult(load)) ||
        tileLoopRegisters(&count, loop) + others <= limit)
      continue;
    mlirOperationMoveBefore(load, product);
    ++moved;
  }
  tileOpsFree(&loads);
  return moved;
}

//===--- staging --------------------------------------------------------------===//

enum { Staged, Buffers, SharedBytes, ByMatrix, Conflicts, InLoops };

static const char *const statistics[] = {
    "staged: operands that go through shared memory",
    "buffers: buffers made for them",
    "shared_bytes: bytes of these buffers",
    "by_ldmatrix: operands whose buffer is read by rows of matrices",
    "bank_conflicts: conflicts of one warp's accesses, by the model",
    "in_loops: operands read from their buffer in each round, since registers are short",
    NULL,
};

//===--- questions ------------------------------------------------------------------===//

// The load behind an operand that is converted to a fragment; null where there is none of that form.
static MlirOperation stagedLoad(MlirOperation convert) {
  MlirOperation load = tileDefiningOp(tileConvertLayoutOpGetInput(convert));
  bool fits = tileLoadOpIsA(load) && tileTypeIsAView(tileLoadOpGetSourceType(load)) &&
              tileHasOneUse(tileLoadOpGetResult(load)) &&
              mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(convert));
  return fits ? load : (MlirOperation){NULL};
}

static bool feedsProduct(MlirOperation convert) {
  MlirValue result = tileConvertLayoutOpGetResult(convert);
  for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!tileIsFactor(use))
      return false;
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(result));
}

// The op of this block that is or holds the first use of the value; null if it has none here.
static MlirOperation firstUserIn(MlirBlock block, MlirValue value) {
  MlirOperation first = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = tileAncestorIn(block, mlirOpOperandGetOwner(use));
    if (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first))
      first = user;
  }
  return first;
}

static uint32_t shapeOf(MlirType type, int64_t *shape) {
  intptr_t rank = tileTypeGetRank(type);
  for (intptr_t i = 0; i < rank && i < TILE_LAYOUT_MAX_AXES; ++i)
    shape[i] = tileTypeGetSize(type, i);
  return (uint32_t)rank;
}

//===--- the buffer -----------------------------------------------------------------===//

typedef struct Plan {
  MlirOperation kernel, load, convert;
  TileLayout memory;
  int64_t bytes;
  bool byMatrix;
  uint64_t conflicts;
} Plan;

typedef struct Stage {
  MlirExtPass pass;
  MlirOperation kernel;
  const TileMachine *machine;
  TileAccessLimits limits;
  bool isAsynchronous, hasMatrices;
} Stage;

static uint64_t conflictsOf(const TileLayout *values, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                            const TileAccessLimits *limits) {
  TileAccess access;
  if (!tileAccessPlan(values, memory, shape, rank, limits, &access, NULL))
    return UINT64_MAX / 4;
  return tileAccessTraffic(&access, 1u << values->bits[TileLayoutLane], limits).conflicts;
}

// For rows of matrices, plain or transposed, if the fragment can be read so from what serves them.
static bool planMatrices(const Stage *stage, const TileLayout *store, const TileLayout *fragment, const int64_t *shape,
                         uint32_t rank, const TileAccessLimits *limits, Plan *plan) {
  for (int transposed = 0; stage->hasMatrices && transposed < 2; ++transposed) {
    TileLayout rows;
    TileMatrixAccess access;
    if (!tileMatrixRows(fragment, limits->elementBytes, transposed, &rows, NULL) ||
        !tileLayoutSwizzle(store, &rows, shape, rank, limits, &plan->memory, NULL) ||
        !tileMatrixAccessPlan(fragment, &plan->memory, shape, rank, limits->elementBytes, &access, NULL))
      continue;
    plan->conflicts = conflictsOf(store, &plan->memory, shape, rank, limits) +
                      tileAccessTraffic(&access.rows, 1u << fragment->bits[TileLayoutLane], limits).conflicts;
    TileAccess stored;
    bool isWide = tileAccessPlan(store, &plan->memory, shape, rank, limits, &stored, NULL) &&
                  (limits->elementBytes << stored.vectorBits) == 16;
    if (plan->conflicts == 0 && isWide)
      return true;
  }
  return false;
}

// Runs of 16 bytes along the axis whose elements lie side by side in memory, lane by lane: what an asynchronous copy
// fetches best. Who loads the tile afterwards has no say in it. With a warp for every round of the copy, no register
// but a run's own can become part of the buffer's vectors.
static bool coalesced(const Plan *plan, const TileLayout *load, const int64_t *shape, uint32_t rank,
                      uint32_t elementBytes, TileLayout *layout) {
  MlirType view = tileLoadOpGetSourceType(plan->load);
  uint32_t order[TILE_LAYOUT_MAX_AXES], vector = 16 / elementBytes;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    uint32_t place = axis;
    for (; place > 0 && tileViewTypeGetOrder(view, order[place - 1]) < tileViewTypeGetOrder(view, axis); --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
  while (rank && vector > 1 && shape[order[0]] % vector)
    vector /= 2;
  uint64_t runs = (uint64_t)tileTypeGetCount(tileConvertLayoutOpGetInputType(plan->convert)) / vector;
  uint32_t lanes = 1u << load->bits[TileLayoutLane];
  uint64_t rounds = runs / lanes & -(runs / lanes);
  return rank &&
         tileLayoutBlocked(shape, rank, order, NULL, vector, lanes, rounds ? (uint32_t)rounds : 1, layout, NULL);
}

static bool planFrom(const Stage *stage, const TileLayout *store, const TileLayout *fragment, const int64_t *shape,
                     uint32_t rank, const TileAccessLimits *limits, Plan *plan) {
  plan->byMatrix = planMatrices(stage, store, fragment, shape, rank, limits, plan);
  if (plan->byMatrix)
    return true;
  if (!tileLayoutSwizzle(store, fragment, shape, rank, limits, &plan->memory, NULL))
    return false;
  plan->conflicts = conflictsOf(store, &plan->memory, shape, rank, limits) +
                    conflictsOf(fragment, &plan->memory, shape, rank, limits);
  return true;
}

static bool planBuffer(const Stage *stage, Plan *plan) {
  MlirType from = tileConvertLayoutOpGetInputType(plan->convert), to = tileConvertLayoutOpGetResultType(plan->convert);
  TileLayout store = tileLayoutAttrGetLayout(tileTypeGetLayout(from)), wide;
  TileLayout fragment = tileLayoutAttrGetLayout(tileTypeGetLayout(to));
  TileAccessLimits limits = stage->limits;
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = shapeOf(from, shape);
  unsigned bits = tileElementWidth(tileTypeGetElement(from));
  if (bits < 8 || bits > 64)
    return false;
  limits.elementBytes = bits / 8;
  bool isPlanned = stage->isAsynchronous && coalesced(plan, &store, shape, rank, limits.elementBytes, &wide) &&
                   planFrom(stage, &wide, &fragment, shape, rank, &limits, plan) && !plan->conflicts;
  if (!isPlanned && !planFrom(stage, &store, &fragment, shape, rank, &limits, plan))
    return false;
  plan->bytes = (int64_t)tileLayoutPaddedSize(&plan->memory) * bits / 8;
  return true;
}

static MlirType bufferTypeOf(const Stage *stage, const Plan *plan) {
  MlirType tile = tileConvertLayoutOpGetInputType(plan->convert);
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = shapeOf(tile, shape);
  MlirAttribute layout = tileLayoutAttrGet(mlirOperationGetContext(stage->kernel), &plan->memory);
  return tileBufferTypeGet(rank, shape, tileTypeGetElement(tile), layout, "shared", 0);
}

// A buffer is made at the kernel's beginning. In a loop over branches, as lanes of many launches go through, it is made
// in its branch: those of other branches lie in the same memory.
static MlirBlock homeOf(const Stage *stage, MlirOperation load) {
  MlirBlock home = {NULL};
  bool isInLoop = false;
  for (MlirOperation op = load; !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op)) {
    MlirOperation parent = mlirOperationGetParentOperation(op);
    if (scfIfOpIsA(parent)) {
      home = mlirBlockIsNull(home) || isInLoop ? mlirOperationGetBlock(op) : home;
      isInLoop = false;
    }
    isInLoop |= scfForOpIsA(parent) || scfWhileOpIsA(parent);
  }
  return mlirBlockIsNull(home) || !isInLoop ? mlirRegionGetFirstBlock(tileKernelOpGetBody(stage->kernel)) : home;
}

static MlirValue bufferFor(Stage *stage, const Plan *plan) {
  TileBuilder builder = tileBuilderAtStart(homeOf(stage, plan->load), mlirOperationGetLocation(plan->load));
  mlirExtPassAddStatistic(stage->pass, Buffers, 1);
  mlirExtPassAddStatistic(stage->pass, SharedBytes, (uint64_t)plan->bytes);
  return tileAllocOpBuild(&builder, bufferTypeOf(stage, plan));
}

//===--- rewriting ---------------------------------------------------------------------===//

// One group: loads of one block with nothing between them that writes or uses them.
typedef struct Group {
  Plan *plans;
  intptr_t count;
} Group;

static MlirValue copyInto(Stage *stage, const Plan *plan, MlirValue buffer) {
  TileBuilder builder = tileBuilderBefore(plan->load);
  MlirValue indices[TILE_LAYOUT_MAX_AXES], none = {NULL};
  intptr_t count = tileLoadOpGetNumIndices(plan->load);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileLoadOpGetIndices(plan->load, i);
  if (!stage->isAsynchronous) {
    TileBuilder after = tileBuilderAfter(plan->load);
    tileStoreOpBuild(&after, tileLoadOpGetResult(plan->load), buffer, 0, NULL);
    return none;
  }
  MlirOperation copy = tileCopyAsyncOpBuild(&builder, tileTokenTypeGet(builder.context),
                                            tileLoadOpGetSource(plan->load), buffer, count, indices, none, none);
  return tileCopyAsyncOpGetToken(copy);
}

static void buildSync(TileBuilder *builder) { tileSyncOpBuild(builder); }

static void rewriteGroup(Stage *stage, const Group *group) {
  MlirValue tokens[16];
  intptr_t tokenCount = 0;
  TileBuilder before = tileBuilderBefore(group->plans[0].load);
  if (!mlirOperationIsNull(tileOutermostLoop(group->plans[0].load)))
    buildSync(&before); // all have read what the buffers held
  MlirValue *buffers = calloc((size_t)group->count, sizeof *buffers);
  for (intptr_t i = 0; i < group->count; ++i) {
    buffers[i] = bufferFor(stage, &group->plans[i]);
    MlirValue token = copyInto(stage, &group->plans[i], buffers[i]);
    if (!mlirValueIsNull(token))
      tokens[tokenCount++] = token;
  }
  // Behind the last load; the synchronous form's last store stands right behind it.
  MlirOperation last = group->plans[group->count - 1].load;
  TileBuilder after = tileBuilderAfter(stage->isAsynchronous ? last : mlirOperationGetNextInBlock(last));
  if (tokenCount)
    tileWaitOpBuild(&after, tokenCount, tokens);
  buildSync(&after);
  for (intptr_t i = 0; i < group->count; ++i) {
    MlirOperation convert = group->plans[i].convert;
    MlirValue fragment = tileLoadOpBuild(&after, tileConvertLayoutOpGetResultType(convert), buffers[i], 0, NULL);
    mlirValueReplaceAllUsesOfWith(tileConvertLayoutOpGetResult(convert), fragment);
    mlirOperationDestroy(convert);
    if (stage->isAsynchronous)
      mlirOperationDestroy(group->plans[i].load);
    mlirExtPassAddStatistic(stage->pass, Staged, 1);
    mlirExtPassAddStatistic(stage->pass, ByMatrix, group->plans[i].byMatrix);
    mlirExtPassAddStatistic(stage->pass, Conflicts, group->plans[i].conflicts);
  }
  free(buffers);
}

//===--- groups -----------------------------------------------------------------------------===//

// Whether `load` may join: same block, and between the group's first load and it nothing writes, waits or uses.
static bool mayJoin(const Group *group, const Plan *plan) {
  MlirOperation first = group->plans[0].load;
  MlirBlock block = mlirOperationGetBlock(first);
  if (group->count == 16 || !mlirBlockEqual(block, mlirOperationGetBlock(plan->load)))
    return false;
  for (intptr_t i = 0; i < group->count; ++i) {
    MlirOperation user = firstUserIn(block, tileConvertLayoutOpGetResult(group->plans[i].convert));
    if (mlirOperationIsBeforeInBlock(user, plan->load))
      return false;
  }
  for (MlirOperation op = first; !mlirOperationEqual(op, plan->load); op = mlirOperationGetNextInBlock(op))
    if (!tileLoadOpIsA(op) && !mlirExtOperationIsPure(op))
      return false;
  return true;
}

static void stageAll(Stage *stage, Plan *plans, intptr_t count) {
  for (intptr_t begin = 0, end; begin < count; begin = end) {
    Group group = {.plans = &plans[begin], .count = 1};
    for (end = begin + 1; end < count && mayJoin(&group, &plans[end]); ++end)
      ++group.count;
    rewriteGroup(stage, &group);
  }
}

// What the plans so far leave of what may live together with this one.
static int64_t bytesLeft(const Stage *stage, const Plan *plans, intptr_t count, const Plan *plan) {
  MlirOperation loop = tileOutermostLoop(plan->load);
  int64_t left = tileSharedMemoryLeft(stage->kernel, stage->machine, plan->load);
  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation other = tileOutermostLoop(plans[i].load);
    if (tileAreInOtherBranches(plans[i].load, plan->load))
      continue;
    if (mlirOperationIsNull(loop) || mlirOperationIsNull(other) || mlirOperationEqual(loop, other))
      left -= plans[i].bytes;
  }
  return left;
}

// Post order meets an inner loop's operands before those behind it: groups are runs of one block.
static intptr_t collect(Stage *stage, Plan **plans) {
  TileOps converts = tileCollectOps(stage->kernel, tileConvertLayoutOpIsA);
  intptr_t count = 0;
  *plans = calloc((size_t)converts.count + 1, sizeof **plans);
  for (intptr_t i = 0; i < converts.count; ++i) {
    Plan plan = {.kernel = stage->kernel, .convert = converts.items[i], .load = stagedLoad(converts.items[i])};
    if (mlirOperationIsNull(plan.load) || !feedsProduct(plan.convert) || !planBuffer(stage, &plan) ||
        plan.bytes > bytesLeft(stage, *plans, count, &plan))
      continue;
    (*plans)[count++] = plan;
  }
  tileOpsFree(&converts);
  return count;
}

//===--- the pass -----------------------------------------------------------------------------===//

static void readMachine(Stage *stage) {
  TileMachineLevel shared = {.banks = 0};
  const char *load = tileMachineGetText(stage->machine, "matrix.load");
  tileMachineGetLevel(stage->machine, "shared", &shared);
  stage->limits = (TileAccessLimits){.elementBytes = 1, .vectorBytes = 16, .banks = (uint32_t)shared.banks};
  stage->limits.bankBytes = shared.banks ? (uint32_t)shared.bankBytes : 4;
  stage->isAsynchronous =
      mlirExtPassGetBool(stage->pass, "asynchronous") && tileMachineListHas(stage->machine, "engines", "cp.async");
  stage->hasMatrices = load && !strcmp(load, "ldmatrix");
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute attribute;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  Plan *plans;
  if (!machine)
    return false;
  if (mlirAttributeIsNull(attribute)) {
    tileMachineDestroy(machine);
    return true;
  }
  Stage stage = {.pass = pass, .kernel = kernel, .machine = machine};
  readMachine(&stage);
  intptr_t count = collect(&stage, &plans);
  stageAll(&stage, plans, count);
  mlirExtPassAddStatistic(pass, InLoops, (uint64_t)readFragmentsInLoops(kernel, machine));
  free(plans);
  tileMachineDestroy(machine);
  return true;
}

const MlirExtPassDefinition tileStageInSharedMemoryPass = {
    .argument = "tile-stage-in-shared-memory",
    .summary = "Bring operands of products through swizzled buffers in shared memory",
    .anchor = tileKernelOpName,
    .options =
        (const MlirExtPassOption[]){
            {"asynchronous", "copy by cp.async where the machine has it", MlirExtOption_Bool, "true"}, {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .needs =
        (const char *const[]){tileConvertLayoutOpName, tileMmaOpName, tileMmaScaledOpName, tileMmaSparseOpName, NULL},
    .run = run,
};
