// Asks an op for its result on constants, as its own fold computes it. mlir-c folds nothing.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_BEGIN
// The constant that the only result of `op` has if its operands have these constants, one for each operand, none of
// them null. Null if the op does not fold on them. The op stays as it is.
MlirAttribute mlirExtOperationFold(MlirOperation op, intptr_t count, const MlirAttribute *operands);
MLIR_EXT_END
