// The kernel with partitions of warps: one loads both factors of a product into rings, the others multiply and do all
// that follows. See specialize_warps.h.
// How: the partitions are made of ops that use values from outside. At the end these values become captures; constants
// are made anew.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/transforms/pipeline/loops.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

typedef struct Made {
  const SpecializePlan *plan;
  MlirValue rings[2], result, full, empty;
  MlirRegion regions[2]; // load, multiply
  MlirValue *captures;
  intptr_t count;
} Made;

enum { Load, Multiply };

//===--- questions ----------------------------------------------------------------------------===//

static bool isWithin(MlirBlock block, MlirBlock partition) {
  while (!mlirBlockIsNull(block) && !mlirBlockEqual(block, partition)) {
    MlirOperation op = mlirBlockGetParentOperation(block);
    block = mlirOperationIsNull(op) ? (MlirBlock){NULL} : mlirOperationGetBlock(op);
  }
  return !mlirBlockIsNull(block);
}

static MlirBlock blockOf(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOperationGetBlock(mlirOpResultGetOwner(value))
                                     : mlirBlockArgumentGetOwner(value);
}

//===--- buffers and barriers -----------------------------------------------------------------===//

static MlirValue buildBuffer(TileBuilder *builder, MlirType tile, const TileLayout *layout, int64_t stages) {
  int64_t shape[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  MlirType type = tileBufferTypeGet(2, shape, tileTypeGetElement(tile), tileLayoutAttrGet(builder->context, layout),
                                    "shared", stages);
  return tileAllocOpBuild(builder, type);
}

static void buildMemory(Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  for (int side = 0; side < 2; ++side)
    made->rings[side] =
        buildBuffer(builder, tileLoadOpGetResultType(plan->loads[side]), &plan->factors[side], plan->stages);
  if (!mlirOperationIsNull(plan->store))
    made->result = buildBuffer(builder, tileStoreOpGetValueType(plan->store), &plan->result, 0);
  MlirType barrier = tileBarrierTypeGet(builder->context, plan->stages, 1);
  made->full = tileAllocOpBuild(builder, barrier);
  made->empty = tileAllocOpBuild(builder, barrier);
}

//===--- the partition that loads -------------------------------------------------------------===//

typedef struct Copies {
  MlirValue *from, *to;
  intptr_t count;
} Copies;

static MlirValue copyOf(const Copies *copies, MlirValue value) {
  for (intptr_t i = 0; i < copies->count; ++i)
    if (mlirValueEqual(copies->from[i], value))
      return copies->to[i];
  return value;
}

static void remember(Copies *copies, MlirValue from, MlirValue to) {
  copies->from = realloc(copies->from, (size_t)(copies->count + 1) * sizeof *copies->from);
  copies->to = realloc(copies->to, (size_t)(copies->count + 1) * sizeof *copies->to);
  copies->from[copies->count] = from;
  copies->to[copies->count++] = to;
}

// What the loop computes of scalars, for where its tiles lie.
static void cloneScalars(const SpecializePlan *plan, TileBuilder *builder, MlirBlock body, Copies *copies) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (tileLoadOpIsA(op) || mlirOperationEqual(op, plan->product) || scfYieldOpIsA(op))
      continue;
    MlirOperation clone = mlirOperationClone(op);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      mlirOperationSetOperand(clone, i, copyOf(copies, mlirOperationGetOperand(op, i)));
    tileBuilderInsert(builder, clone);
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
      remember(copies, mlirOperationGetResult(op, i), mlirOperationGetResult(clone, i));
  }
}

static void buildCopy(Made *made, TileBuilder *builder, int side, MlirValue round, const Copies *copies) {
  MlirOperation load = made->plan->loads[side];
  MlirValue slot = tileSlotOpBuild(builder, made->rings[side], round), indices[TILE_LAYOUT_MAX_AXES];
  intptr_t count = tileLoadOpGetNumIndices(load);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = copyOf(copies, tileLoadOpGetIndices(load, i));
  tileCopyAsyncOpCreate(builder, (MlirType){NULL}, copyOf(copies, tileLoadOpGetSource(load)), slot, count, indices,
                        made->full, round, mlirStringAttrGet(builder->context, tileString("tma")),
                        (MlirAttribute){NULL});
}

// Round k waits until round k - stages has been multiplied, and fills its place.
static void buildLoads(Made *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  MlirBlock old = mlirRegionGetFirstBlock(scfForOpGetRegion(plan->loop)), body;
  Copies copies = {.count = 0};
  tileBuildFor(&builder, tileBuildIndex(&builder, 0), scfForOpGetUpperBound(plan->loop), tileBuildIndex(&builder, 1), 0,
               NULL, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder.location);
  MlirValue round = mlirBlockGetArgument(body, 0);
  remember(&copies, mlirBlockGetArgument(old, 0), round);
  cloneScalars(plan, &inner, old, &copies);
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, plan->stages));
  tileBarrierWaitOpBuild(&inner, made->empty, before);
  tileBarrierArriveOpCreate(&inner, made->full, round, (MlirValue){NULL},
                            mlirIntegerAttrGet(mlirIntegerTypeGet(inner.context, 64), plan->expected));
  for (int side = 0; side < 2; ++side)
    buildCopy(made, &inner, side, round, &copies);
  tileBuildYield(&inner, 0, NULL);
  tileYieldOpCreate(&builder, 0, NULL);
  free(copies.from);
  free(copies.to);
}

//===--- the partition that multiplies --------------------------------------------------------===//

// At most one product is under way when a round ends: the place of the round before is free.
static MlirValue buildProducts(Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirValue start = scfForOpGetInitArgs(plan->loop, 0), slots[2];
  MlirType narrow = mlirValueGetType(start);
  bool isWider = !mlirTypeEqual(narrow, plan->sums);
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirBlock body;
  if (isWider)
    start = arithExtFOpBuild(builder, plan->sums, start);
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), scfForOpGetUpperBound(plan->loop),
                                    tileBuildIndex(builder, 1), 1, &start, &body);
  TileBuilder inner = tileBuilderAtEnd(body, builder->location);
  MlirValue round = mlirBlockGetArgument(body, 0), sums = mlirBlockGetArgument(body, 1);
  for (int side = 0; side < 2; ++side)
    slots[side] = tileSlotOpBuild(&inner, made->rings[side], round);
  tileBarrierWaitOpBuild(&inner, made->full, round);
  MlirValue none = {NULL};
  MlirOperation product = tileMmaAsyncOpCreate(&inner, mlirValueGetType(sums), slots[0], slots[1], sums, none, none,
                                               mlirStringAttrGet(inner.context, tileString(plan->atom)));
  sums = tileMmaWaitOpBuild(&inner, tileMmaAsyncOpGetResult(product), mlirIntegerAttrGet(i64, 1));
  MlirValue before = arithSubIOpBuild(&inner, round, tileBuildIndex(&inner, 1));
  tileBarrierArriveOpBuild(&inner, made->empty, before, none);
  tileBuildYield(&inner, 1, &sums);
  MlirValue done = tileMmaWaitOpBuild(builder, scfForOpGetResults(loop, 0), mlirIntegerAttrGet(i64, 0));
  return isWider ? arithTruncFOpBuild(builder, narrow, done) : done;
}

// Through shared memory, from where the engine copies it.
static void buildStore(const Made *made) {
  MlirOperation store = made->plan->store;
  TileBuilder builder = tileBuilderBefore(store);
  MlirValue indices[TILE_LAYOUT_MAX_AXES], none = {NULL};
  intptr_t count = tileStoreOpGetNumIndices(store);
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileStoreOpGetIndices(store, i);
  tileStoreOpBuild(&builder, tileStoreOpGetValue(store), made->result, 0, NULL);
  tileFenceOpBuild(&builder, mlirStringAttrGet(builder.context, tileString("async")));
  tileSyncOpCreate(&builder);
  MlirOperation copy = tileCopyAsyncOpCreate(
      &builder, tileTokenTypeGet(builder.context), made->result, tileStoreOpGetDestination(store), count, indices, none,
      none, mlirStringAttrGet(builder.context, tileString("tma")), (MlirAttribute){NULL});
  MlirValue token = tileCopyAsyncOpGetToken(copy);
  tileWaitOpBuild(&builder, 1, &token);
  mlirOperationDestroy(store);
}

static void moveInside(Made *made, TileBuilder builder) {
  const SpecializePlan *plan = made->plan;
  for (intptr_t i = 0; i < plan->inside.count; ++i) {
    MlirOperation op = plan->inside.items[i];
    if (mlirOperationEqual(op, plan->loop)) {
      mlirValueReplaceAllUsesOfWith(scfForOpGetResults(op, 0), buildProducts(made, &builder));
      mlirOperationDestroy(op);
      continue;
    }
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(builder.block, op);
  }
  if (!mlirOperationIsNull(plan->store))
    buildStore(made);
  tileYieldOpCreate(&builder, 0, NULL);
}

//===--- captures -----------------------------------------------------------------------------===//

typedef struct Capturing {
  Made *made;
  MlirBlock partition;
} Capturing;

static intptr_t captureOf(Made *made, MlirValue value) {
  intptr_t i = 0;
  while (i < made->count && !mlirValueEqual(made->captures[i], value))
    ++i;
  if (i < made->count)
    return i;
  made->captures = realloc(made->captures, (size_t)(i + 1) * sizeof *made->captures);
  made->captures[made->count++] = value;
  for (int side = 0; side < 2; ++side)
    mlirBlockAddArgument(mlirRegionGetFirstBlock(made->regions[side]), mlirValueGetType(value),
                         mlirValueGetLocation(value));
  return i;
}

static MlirValue constantIn(MlirBlock partition, MlirValue constant) {
  MlirOperation made = mlirOpResultGetOwner(constant);
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); arithConstantOpIsA(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirAttributeEqual(arithConstantOpGetValue(op), arithConstantOpGetValue(made)))
      return tileOnlyResult(op);
  MlirOperation copy = mlirOperationClone(made);
  mlirBlockInsertOwnedOperation(partition, 0, copy);
  return tileOnlyResult(copy);
}

static MlirWalkResult capture(MlirOperation op, void *data) {
  Capturing *capturing = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (isWithin(blockOf(value), capturing->partition))
      continue;
    mlirOperationSetOperand(op, i,
                            arithConstantOpIsA(tileDefiningOp(value))
                                ? constantIn(capturing->partition, value)
                                : mlirBlockGetArgument(capturing->partition, captureOf(capturing->made, value)));
  }
  return MlirWalkResultAdvance;
}

static void captureAll(Made *made, int side) {
  Capturing capturing = {.made = made, .partition = mlirRegionGetFirstBlock(made->regions[side])};
  for (MlirOperation op = mlirBlockGetFirstOperation(capturing.partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    mlirOperationWalk(op, capture, &capturing, MlirWalkPreOrder);
}

//===--- the kernel ---------------------------------------------------------------------------===//

// What does not change from round to round stands before the loop, where both partitions can take it.
static void hoistInvariants(MlirOperation loop) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (mlirExtOperationIsPure(op) && !tileIsProduct(op) && !scfYieldOpIsA(op) && tileAreOperandsInvariant(loop, op))
      mlirOperationMoveBefore(op, loop);
  }
}

static void buildPartitions(const Made *made, TileBuilder *builder) {
  const SpecializePlan *plan = made->plan;
  MlirContext context = builder->context;
  const int64_t warps[] = {SpecializeGroupWarps, SpecializeGroupWarps * plan->groups};
  MlirAttribute names[] = {mlirStringAttrGet(context, tileString("load")),
                           mlirStringAttrGet(context, tileString("multiply"))};
  MlirAttribute registers = {NULL};
  if (plan->registers[Multiply])
    registers = mlirDenseI64ArrayGet(context, 2, plan->registers);
  tileWarpSpecializeOpCreate(builder, made->count, made->captures, mlirArrayAttrGet(context, 2, names),
                             mlirDenseI64ArrayGet(context, 2, warps), registers, 2, made->regions);
  mlirOperationRemoveAttributeByName(plan->kernel, tileString("registers")); // of the warps as they were
  mlirOperationSetAttributeByName(plan->kernel, tileString("warps"),
                                  mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), warps[0] + warps[1]));
}

void tileSpecializeBuild(const SpecializePlan *plan) {
  Made made = {.plan = plan};
  MlirBlock body = mlirOperationGetBlock(plan->loop);
  TileBuilder builder = tileBuilderBefore(mlirBlockGetTerminator(body));
  builder.location = mlirOperationGetLocation(plan->loop);
  hoistInvariants(plan->loop);
  buildMemory(&made, &builder);
  buildLoads(&made, tileBuilderInRegion(&builder, &made.regions[Load], 0, NULL));
  moveInside(&made, tileBuilderInRegion(&builder, &made.regions[Multiply], 0, NULL));
  captureAll(&made, Load);
  captureAll(&made, Multiply);
  buildPartitions(&made, &builder);
  free(made.captures);
}
