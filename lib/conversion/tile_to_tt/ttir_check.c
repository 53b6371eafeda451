// What Triton 3.9 does not lower. See ttir_check.h.
#include "lib/conversion/tile_to_tt/ttir_check.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"

static bool isKnown(MlirOperation op) {
  switch (mathOpKind(op)) {
  case MathOp_None:
  case MathOp_AbsF:
  case MathOp_AbsI:
  case MathOp_Ceil:
  case MathOp_Cos:
  case MathOp_Erf:
  case MathOp_Exp:
  case MathOp_Exp2:
  case MathOp_Floor:
  case MathOp_Fma:
  case MathOp_Log:
  case MathOp_Log2:
  case MathOp_Rsqrt:
  case MathOp_Sin:
  case MathOp_Sqrt:
    break;
  default:
    return false;
  }
  ArithOp arith = arithOpKind(op);
  return arith != ArithOp_CeilDivSI && arith != ArithOp_CeilDivUI && arith != ArithOp_FloorDivSI;
}

static MlirWalkResult check(MlirOperation op, void *ok) {
  if (!isKnown(op))
    *(bool *)ok = tileError(op, "is no op of TTIR");
  return MlirWalkResultAdvance;
}

bool ttirCheck(MlirOperation module) {
  bool ok = true;
  mlirOperationWalk(module, check, &ok, MlirWalkPreOrder);
  return ok;
}
