// Folds of ops on constants. See folding.h.
#include "lib/capi/folding.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Operation.h"

using namespace mlir;

MlirAttribute mlirExtOperationFold(MlirOperation op, intptr_t count, const MlirAttribute *operands) {
  SmallVector<Attribute, 4> constants;
  SmallVector<OpFoldResult, 1> results;
  for (intptr_t i = 0; i < count; ++i)
    constants.push_back(unwrap(operands[i]));
  Operation *folded = unwrap(op);
  if (folded->getNumRegions() || failed(folded->fold(constants, results)) || results.size() != 1)
    return {nullptr};
  if (auto value = dyn_cast<Value>(results[0])) { // x + -0.0 is x
    for (intptr_t i = 0; i < count; ++i)
      if (folded->getOperand(i) == value)
        return operands[i];
    return {nullptr};
  }
  return wrap(cast<Attribute>(results[0]));
}
