// Captures of partitions. See create_partitions.h.
#include "lib/transforms/pipeline/create_partitions.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

typedef struct Capturing {
  MlirRegion *regions;
  int numRegions;
  MlirBlock partition; // the one that is searched
  MlirValue *values;
  intptr_t count;
} Capturing;

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

static intptr_t captureOf(Capturing *capturing, MlirValue value) {
  intptr_t i = 0;
  while (i < capturing->count && !mlirValueEqual(capturing->values[i], value))
    ++i;
  if (i < capturing->count)
    return i;
  capturing->values = realloc(capturing->values, (size_t)(i + 1) * sizeof *capturing->values);
  capturing->values[capturing->count++] = value;
  for (int r = 0; r < capturing->numRegions; ++r)
    mlirBlockAddArgument(mlirRegionGetFirstBlock(capturing->regions[r]), mlirValueGetType(value),
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
    bool isConstant = arithConstantOpIsA(tileDefiningOp(value));
    mlirOperationSetOperand(op, i,
                            isConstant ? constantIn(capturing->partition, value)
                                       : mlirBlockGetArgument(capturing->partition, captureOf(capturing, value)));
  }
  return MlirWalkResultAdvance;
}

MlirOperation tilePartitionsCreate(TileBuilder *builder, MlirAttribute names, MlirAttribute warps,
                                   MlirAttribute registers, MlirAttribute threads, int count, MlirRegion *regions) {
  Capturing capturing = {.regions = regions, .numRegions = count};
  for (int r = 0; r < count; ++r) {
    capturing.partition = mlirRegionGetFirstBlock(regions[r]);
    for (MlirOperation op = mlirBlockGetFirstOperation(capturing.partition); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
      mlirOperationWalk(op, capture, &capturing, MlirWalkPreOrder);
  }
  MlirOperation made = tileWarpSpecializeOpCreate(builder, capturing.count, capturing.values, names, warps, registers,
                                                  threads, count, regions);
  free(capturing.values);
  return made;
}

void tilePartitionsTake(MlirOperation partitions, MlirRegion *regions) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(partitions); ++r) {
    regions[r] = mlirRegionCreate();
    mlirRegionTakeBody(regions[r], mlirOperationGetRegion(partitions, r));
    MlirBlock block = mlirRegionGetFirstBlock(regions[r]);
    for (intptr_t i = mlirBlockGetNumArguments(block) - 1; i >= 0; --i) {
      mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i), mlirOperationGetOperand(partitions, i));
      mlirBlockEraseArgument(block, (unsigned)i);
    }
  }
}

MlirOperation tilePartitionsOf(MlirOperation kernel) {
  MlirBlock body = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  MlirOperation end = mlirBlockGetTerminator(body), last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    last = op;
  return !mlirOperationIsNull(last) && tileWarpSpecializeOpIsA(last) ? last : (MlirOperation){NULL};
}

bool tileIsIndexArithmetic(MlirOperation op) {
  return mlirExtOperationIsPure(op) && !mlirOperationGetNumRegions(op) && !tileOpHasTiles(op);
}

MlirOperation tilePartitionWalk(MlirBlock partition) {
  MlirOperation loop = {NULL};
  int64_t first, step;
  for (MlirOperation op = mlirBlockGetFirstOperation(partition); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (tileIsIndexArithmetic(op) || tileYieldOpIsA(op) || arithConstantOpIsA(op))
      continue;
    if (!scfForOpIsA(op) || !mlirOperationIsNull(loop))
      return (MlirOperation){NULL};
    loop = op;
  }
  bool isWalk = !mlirOperationIsNull(loop) && !scfForOpGetNumResults(loop) &&
                tileConstantIndex(scfForOpGetLowerBound(loop), &first) && first == 0 &&
                tileConstantIndex(scfForOpGetStep(loop), &step) && step == 1;
  return isWalk ? loop : (MlirOperation){NULL};
}

MlirValue tilePartitionsAddBarrier(MlirOperation kernel, MlirOperation partitions, int64_t stages) {
  MlirOperation last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)));
       !mlirOperationEqual(op, partitions); op = mlirOperationGetNextInBlock(op))
    if (tileAllocOpIsA(op) && tileTypeIsABarrier(tileAllocOpGetResultType(op)))
      last = op;
  TileBuilder builder = mlirOperationIsNull(last) ? tileBuilderBefore(partitions) : tileBuilderAfter(last);
  return tileAllocOpBuild(&builder, tileBarrierTypeGet(builder.context, stages, 1));
}

static MlirAttribute scheduledPartitions(MlirOperation kernel) {
  MlirAttribute schedule = tileKernelOpGetSchedule(kernel);
  return mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "specialize");
}

bool tileSchedulesPartitions(MlirOperation kernel) { return !mlirAttributeIsNull(scheduledPartitions(kernel)); }

bool tileSchedulesTurns(MlirOperation kernel) {
  MlirAttribute list = scheduledPartitions(kernel);
  return !mlirAttributeIsNull(list) && mlirDenseArrayGetNumElements(list) == 3;
}
