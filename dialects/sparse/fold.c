// Folds: a format left at once for the one it came from. Expects: verified ops. Leaves: equal values.
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/ir/support.h"

// convert to the same type, unless it must look for duplicates.
SPARSE_FOLD(Convert) {
  if (!mlirTypeEqual(tileOperandType(op, 0), tileResultType(op, 0)) ||
      !mlirAttributeIsNull(tileOpAttribute(op, "duplicates")))
    return false;
  mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(op, 0));
  return true;
}

// unpack(pack(x)) is x for integers and formats that keep every element. For floats, -0.0 would become 0.0; packing to
// nm may fail, so it must stay.
SPARSE_FOLD(Unpack) {
  MlirOperation pack = tileDefiningOp(mlirOperationGetOperand(op, 0));
  MlirType packed = tileOperandType(op, 0);
  if (!sparsePackOpIsA(pack) || sparseEncodingIs(sparseTypeGetEncoding(packed), SparseScheme_Windows) ||
      !mlirTypeIsAInteger(mlirShapedTypeGetElementType(packed)))
    return false;
  mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(pack, 0));
  return true;
}

// disassemble(assemble(parts)) are the parts.
SPARSE_FOLD(Disassemble) {
  MlirOperation assemble = tileDefiningOp(mlirOperationGetOperand(op, 0));
  if (!sparseAssembleOpIsA(assemble))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirTypeEqual(tileOperandType(assemble, i), tileResultType(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(assemble, i));
  return true;
}
