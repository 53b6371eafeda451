// Folds: a format left at once for the one it came from. Expects: verified ops. Leaves: equal values.
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/ir/support.h"

// convert to the same type, unless it must look for duplicates.
SPARSE_FOLD(Convert) {
  if (!mlirTypeEqual(sparseConvertOpGetInputType(op), sparseConvertOpGetResultType(op)) ||
      !mlirAttributeIsNull(tileOpAttribute(op, "duplicates")))
    return false;
  mlirExtFoldResultsAddValue(results, sparseConvertOpGetInput(op));
  return true;
}

// unpack(pack(x)) is x for integers and formats that keep every element. For floats, -0.0 would become 0.0; packing to
// nm may fail, so it must stay.
SPARSE_FOLD(Unpack) {
  MlirOperation pack = tileDefiningOp(sparseUnpackOpGetInput(op));
  MlirType packed = sparseUnpackOpGetInputType(op);
  if (!sparsePackOpIsA(pack) || sparseEncodingIs(sparseTypeGetEncoding(packed), SparseScheme_Windows) ||
      !mlirTypeIsAInteger(mlirShapedTypeGetElementType(packed)))
    return false;
  mlirExtFoldResultsAddValue(results, sparsePackOpGetInput(pack));
  return true;
}

// disassemble(assemble(parts)) are the parts.
SPARSE_FOLD(Disassemble) {
  MlirOperation assemble = tileDefiningOp(sparseDisassembleOpGetInput(op));
  if (!sparseAssembleOpIsA(assemble))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirTypeEqual(tileOperandType(assemble, i), tileResultType(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirExtFoldResultsAddValue(results, mlirOperationGetOperand(assemble, i));
  return true;
}
