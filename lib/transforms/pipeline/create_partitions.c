// Captures of partitions. See create_partitions.h.
#include "lib/transforms/pipeline/create_partitions.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"

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
