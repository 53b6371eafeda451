// map_elementwise: what its region does to elements is done to tiles.
//
//   ^bb0(%a: f32): %y = scf.if %c {yield %p} else {yield %q}    →    select of the tiles %p and %q
//
// Both arms of a condition are computed, so an arm may do only what never fails. Loops and accesses are refused.
#include "lib/conversion/tt_to_tile/triton.h"
#include "lib/ir/op_query.h"

#include "dialects/foreign/tt/ops.h"
#include "lib/capi/op.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include "mlir-c/BuiltinAttributes.h"

enum { Most = 8 };

// A number of the region as a tile of that shape; a number from around the region has one value in all elements.
static MlirValue tileOf(Triton *t, MlirValue old, MlirType like) {
  MlirValue value = tritonPlain(t, old);
  if (mlirValueIsNull(value) || mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return value;
  return tritonSplat(t, value, tritonWithElement(like, mlirValueGetType(value)));
}

static bool mapBlock(Triton *t, MlirBlock block, MlirType like, bool isArm);

static bool mapCondition(Triton *t, MlirOperation op, MlirType like) {
  MlirBlock yes = mlirRegionGetFirstBlock(scfIfOpGetThenRegion(op)),
            no = mlirRegionGetFirstBlock(scfIfOpGetElseRegion(op));
  if (mlirOperationGetNumResults(op) == 0)
    return true;
  MlirValue condition = tileOf(t, scfIfOpGetCondition(op), like);
  if (mlirValueIsNull(condition) || !mapBlock(t, yes, like, true) || !mapBlock(t, no, like, true))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue a = tileOf(t, mlirOperationGetOperand(mlirBlockGetTerminator(yes), i), like);
    MlirValue b = tileOf(t, mlirOperationGetOperand(mlirBlockGetTerminator(no), i), like);
    if (mlirValueIsNull(a) || mlirValueIsNull(b))
      return false;
    tritonSetPlain(t, mlirOperationGetResult(op, i), arithSelectOpBuild(&t->b, condition, a, b));
  }
  return true;
}

static bool mapOp(Triton *t, MlirOperation op, MlirType like, bool isArm) {
  MlirValue operands[Most];
  MlirType results[Most];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  t->b.location = mlirOperationGetLocation(op);
  if (arithConstantOpIsA(op))
    return tritonElementwise(t, op);
  if (scfIfOpIsA(op))
    return mapCondition(t, op, like);
  if (!tileOpIsElementwise(op) || numOperands > Most || numResults > Most || mlirOperationGetNumRegions(op))
    return tileError(op, "in tt.map_elementwise has no conversion to tile: expected arithmetic and conditions");
  if (isArm && !mlirExtOperationIsPure(op))
    return tileError(op, "may fail, and stands in an arm of a condition in tt.map_elementwise");
  for (intptr_t i = 0; i < numOperands; ++i)
    if (mlirValueIsNull(operands[i] = tileOf(t, mlirOperationGetOperand(op, i), like)))
      return false;
  for (intptr_t i = 0; i < numResults; ++i)
    results[i] = tritonWithElement(like, tileResultType(op, i));
  MlirOperation made = tileBuildLike(&t->b, op, operands, numResults, results);
  for (intptr_t i = 0; i < numResults; ++i)
    tritonSetPlain(t, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

static bool mapBlock(Triton *t, MlirBlock block, MlirType like, bool isArm) {
  bool ok = true;
  MlirOperation end = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); ok && !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    ok = mapOp(t, op, like, isArm);
  return ok;
}

bool tritonMap(Triton *t, MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(ttMapElementwiseOpGetScalarOp(op));
  int64_t pack = mlirIntegerAttrGetValueInt(ttMapElementwiseOpGetPack(op));
  if (pack != 1)
    return tileError(op, "takes %lld elements at a time; only 1 has a conversion to tile", (long long)pack);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(op, "has branches, which have no conversion to tile; scf.if has one");
  MlirType like = tileFirstOperandType(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue tile = tritonPlain(t, mlirOperationGetOperand(op, i));
    if (mlirValueIsNull(tile))
      return false;
    tritonSetPlain(t, mlirBlockGetArgument(block, i), tile);
  }
  if (!mapBlock(t, block, like, false))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirValue value = tileOf(t, mlirOperationGetOperand(mlirBlockGetTerminator(block), i), like);
    if (mlirValueIsNull(value))
      return false;
    tritonSetPlain(t, mlirOperationGetResult(op, i), value);
  }
  return true;
}
