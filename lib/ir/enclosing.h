// Where ops and values stand among the ops around them.
#pragma once

#include "lib/ir/support.h"

// The op of the block that is `op` or holds it; null when it is elsewhere.
static inline MlirOperation tileAncestorIn(MlirBlock block, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

// The value does not stand in the regions of `around`: where this is a loop, it is the same in all rounds.
static inline bool tileIsOutside(MlirOperation around, MlirValue value) {
  MlirBlock block = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(mlirOpResultGetOwner(value));
  return !tileIsWithin(mlirBlockGetParentOperation(block), around);
}

static inline bool tileAreOperandsOutside(MlirOperation around, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileIsOutside(around, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}
