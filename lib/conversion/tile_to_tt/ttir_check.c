// What Triton 3.9 does not lower: most functions of math, and ops of arith in whose place it has its own. See
// ttir_check.h.
#include "lib/conversion/tile_to_tt/ttir_check.h"

#include "lib/conversion/tile_to_tt/ttir_export.h"
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

// Triton has upper halves of products of its own, and no sums with a carry.
void ttirExtended(TileBuilder *b, bool isProduct, MlirValue x, MlirValue y, MlirValue values[2]) {
  values[0] = tileBuildBinary(b, isProduct ? ArithOp_MulI : ArithOp_AddI, x, y);
  values[1] = isProduct ? ttMulhiUIOpBuild(b, x, y) : arithCmpIOpBuild(b, values[0], x, ArithCmpI_Ult);
}

static bool hasOwn(MlirOperation op) {
  return arithBitcastOpIsA(op) || arithMulUIExtendedOpIsA(op) || arithAddUIExtendedOpIsA(op);
}

static void replaceByOwn(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  if (arithBitcastOpIsA(op)) {
    MlirValue old = tileOnlyResult(op);
    mlirValueReplaceAllUsesOfWith(old, ttBitcastOpBuild(&b, mlirValueGetType(old), tileOnlyOperand(op)));
  } else {
    MlirValue values[2];
    ttirExtended(&b, arithMulUIExtendedOpIsA(op), tileBinaryLhs(op), tileBinaryRhs(op), values);
    for (int i = 0; i < 2; ++i)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), values[i]);
  }
  mlirOperationDestroy(op);
}

bool ttirFinish(MlirOperation module) {
  bool ok = true;
  TileOps ops = tileCollectOps(module, hasOwn);
  for (intptr_t i = 0; i < ops.count; ++i)
    replaceByOwn(ops.items[i]);
  tileOpsFree(&ops);
  mlirOperationWalk(module, check, &ok, MlirWalkPreOrder);
  return ok;
}
