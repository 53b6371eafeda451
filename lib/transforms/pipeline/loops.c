// Questions about scf.for and a loop with more results. See loops.h.
#include "lib/transforms/pipeline/loops.h"

#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "upstream/scf.h"

#include <stdlib.h>

bool tileIsInvariant(MlirOperation loop, MlirValue value) {
  MlirBlock block = mlirValueIsAOpResult(value) ? mlirOperationGetBlock(mlirOpResultGetOwner(value))
                                                : mlirBlockArgumentGetOwner(value);
  for (MlirOperation op = mlirBlockGetParentOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, loop))
      return false;
  return true;
}

bool tileAreOperandsInvariant(MlirOperation loop, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileIsInvariant(loop, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

MlirOperation tileLoopCarryMore(MlirOperation loop, intptr_t count, const MlirValue *initial) {
  intptr_t before = mlirOperationGetNumResults(loop);
  MlirValue *all = calloc((size_t)(before + count), sizeof *all);
  TileBuilder builder = tileBuilderBefore(loop);
  MlirBlock body, old = bodyOf(loop);
  for (intptr_t i = 0; i < before + count; ++i)
    all[i] = i < before ? scfForOpGetInitArgs(loop, i) : initial[i - before];
  MlirOperation made = tileBuildFor(&builder, scfForOpGetLowerBound(loop), scfForOpGetUpperBound(loop),
                                    scfForOpGetStep(loop), before + count, all, &body);
  for (intptr_t i = 0; i <= before; ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(old, i), mlirBlockGetArgument(body, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(old), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(body, op);
  }
  for (intptr_t i = 0; i < before; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(loop, i), mlirOperationGetResult(made, i));
  mlirOperationDestroy(loop);
  free(all);
  return made;
}

void tileLoopYieldMore(MlirOperation loop, intptr_t count, const MlirValue *values) {
  MlirOperation end = mlirBlockGetTerminator(bodyOf(loop));
  intptr_t before = mlirOperationGetNumOperands(end);
  MlirValue *all = calloc((size_t)(before + count), sizeof *all);
  TileBuilder builder = tileBuilderBefore(end);
  for (intptr_t i = 0; i < before + count; ++i)
    all[i] = i < before ? mlirOperationGetOperand(end, i) : values[i - before];
  tileBuildYield(&builder, before + count, all);
  mlirOperationDestroy(end);
  free(all);
}
