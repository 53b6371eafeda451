// Arithmetic: ops of arith and math on tiles, tt's own, what is printed and asserted.
#include "lib/conversion/tt_to_tile/triton.h"
#include "lib/ir/op_query.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/ttg/ops.h"
#include "dialects/tile/ops.h"
#include "upstream/arith.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"
#include "upstream/math.h"
#include "upstream/ub.h"

#include <stdio.h>

//===--- ops of others ------------------------------------------------------------===//

static bool constant(Triton *t, MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  MlirType old = tileOnlyResultType(op), type = tritonType(old);
  if (mlirTypeIsARankedTensor(old) && !mlirAttributeIsADenseElements(value))
    return tileError(op, "has no elements that can be read");
  if (mlirTypeIsARankedTensor(old) && !mlirTypeIsARankedTensor(type)) {
    if (!mlirDenseElementsAttrIsSplat(value))
      return tileError(op, "has no elements that can be read");
    value = mlirDenseElementsAttrGetSplatValue(value);
  } else if (!mlirTypeEqual(old, type)) {
    value = mlirDenseElementsAttrIsSplat(value)
                ? mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(value))
                : mlirDenseElementsAttrReshapeGet(value, type);
  }
  tritonSetPlain(t, tileOnlyResult(op), tileBuildConstant(&t->b, value));
  return true;
}

// A choice between pointers is one between their offsets.
static bool choose(Triton *t, MlirOperation op) {
  TritonValue yes = tritonGet(t, arithSelectOpGetTrueValue(op)), no = tritonGet(t, arithSelectOpGetFalseValue(op));
  MlirValue condition = tritonPlain(t, arithSelectOpGetCondition(op));
  if (mlirValueIsNull(condition) || !tritonMerge(t, op, &yes, &no) || !tritonMerge(t, op, &no, &yes))
    return false;
  if (yes.kind == Triton_Block)
    return tileError(op, "chooses between descriptors");
  MlirValue values[TritonMaxParts], others[TritonMaxParts];
  tritonFlatten(t, &yes, values);
  tritonFlatten(t, &no, others);
  MlirValue chosen = arithSelectOpBuild(&t->b, condition, values[0], others[0]);
  tritonSet(t, arithSelectOpGetResult(op), tritonUnflatten(t, &yes, &chosen));
  return true;
}

bool tritonElementwise(Triton *t, MlirOperation op) {
  enum { Most = 8 };
  MlirValue operands[Most];
  MlirType results[Most];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  if (arithConstantOpIsA(op))
    return constant(t, op);
  if (arithSelectOpIsA(op))
    return choose(t, op);
  if (numOperands > Most || numResults > Most || mlirOperationGetNumRegions(op))
    return tileError(op, "has no conversion to tile");
  for (intptr_t i = 0; i < numOperands; ++i)
    if (mlirValueIsNull(operands[i] = tritonPlain(t, mlirOperationGetOperand(op, i))))
      return false;
  for (intptr_t i = 0; i < numResults; ++i)
    results[i] = tritonType(tileResultType(op, i));
  MlirOperation made = tileBuildLike(&t->b, op, operands, numResults, results);
  for (intptr_t i = 0; i < numResults; ++i)
    tritonSetPlain(t, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
  return true;
}

//===--- tt's arithmetic --------------------------------------------------------------===//

static bool binary(Triton *t, MlirOperation op, TileUpstream kind, MlirValue x, MlirValue y) {
  MlirValue lhs = tritonPlain(t, x), rhs = tritonPlain(t, y);
  if (mlirValueIsNull(lhs) || mlirValueIsNull(rhs))
    return false;
  tritonSetPlain(t, tileOnlyResult(op), tileBuildBinary(&t->b, kind, lhs, rhs));
  return true;
}

static bool root(Triton *t, MlirOperation op) {
  MlirValue x = tritonPlain(t, ttPreciseSqrtOpGetX(op));
  if (mlirValueIsNull(x))
    return false;
  tritonSetPlain(t, ttPreciseSqrtOpGetResult(op), tileBuildUnary(&t->b, MathOp_Sqrt, x));
  return true;
}

static bool upperHalf(Triton *t, MlirOperation op) {
  MlirValue x = tritonPlain(t, ttMulhiUIOpGetX(op)), y = tritonPlain(t, ttMulhiUIOpGetY(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  MlirType type = mlirValueGetType(x), element = tritonShape(type).element;
  unsigned bits = mlirIntegerTypeGetWidth(element);
  if (bits > 32) {
    tritonSetPlain(t, ttMulhiUIOpGetResult(op), arithMulUIExtendedOpGetHigh(arithMulUIExtendedOpCreate(&t->b, x, y)));
    return true;
  }
  MlirType i64 = mlirIntegerTypeGet(t->b.context, 64), wide = tritonWithElement(type, i64);
  MlirValue product = tileBuildBinary(&t->b, ArithOp_MulI, tileBuildCast(&t->b, ArithOp_ExtUI, x, wide),
                                      tileBuildCast(&t->b, ArithOp_ExtUI, y, wide));
  MlirValue shift = tritonSplat(t, tileBuildInteger(&t->b, i64, bits), wide);
  product = tileBuildBinary(&t->b, ArithOp_ShRUI, product, shift);
  tritonSetPlain(t, ttMulhiUIOpGetResult(op), tileBuildCast(&t->b, ArithOp_TruncI, product, type));
  return true;
}

static bool clamp(Triton *t, MlirOperation op) {
  MlirValue x = tritonPlain(t, ttClampFOpGetX(op)), low = tritonPlain(t, ttClampFOpGetMin(op));
  MlirValue high = tritonPlain(t, ttClampFOpGetMax(op));
  bool keepsNan = mlirIntegerAttrGetValueInt(ttClampFOpGetPropagateNan(op)) != 0;
  if (mlirValueIsNull(x) || mlirValueIsNull(low) || mlirValueIsNull(high))
    return false;
  MlirValue above = tileBuildBinary(&t->b, keepsNan ? ArithOp_MaximumF : ArithOp_MaxNumF, x, low);
  tritonSetPlain(t, ttClampFOpGetResult(op),
                 tileBuildBinary(&t->b, keepsNan ? ArithOp_MinimumF : ArithOp_MinNumF, above, high));
  return true;
}

// Conversions to floats of 8 bits saturate, as the GPUs' do.
static bool convert(Triton *t, MlirOperation op) {
  MlirValue x = tritonPlain(t, ttFpToFpOpGetSrc(op));
  MlirType type = tritonType(ttFpToFpOpGetResultType(op));
  MlirAttribute rounding = ttFpToFpOpGetRounding(op);
  if (mlirValueIsNull(x))
    return false;
  MlirType source = tritonShape(mlirValueGetType(x)).element, element = tritonShape(type).element;
  unsigned from = tileElementWidth(source), to = tileElementWidth(element);
  bool isDown = !mlirAttributeIsNull(rounding) && mlirIntegerAttrGetValueInt(rounding) == TtRounding_TowardZero;
  MlirValue result = x;
  enum { TowardZero = 3 }; // of arith's rounding modes
  if (to > from)
    result = tileBuildCast(&t->b, ArithOp_ExtF, x, type);
  else if (to < from && to > 8)
    result = tileOnlyResult(arithTruncFOpCreate(&t->b, type, x,
                                                isDown ? tileBuildEnum(&t->b, 32, TowardZero) : mlirAttributeGetNull(),
                                                mlirAttributeGetNull()));
  else if (!mlirTypeEqual(source, element) && to < from)
    result = tileOnlyResult(tileConvertTypeOpCreate(&t->b, type, x, (MlirValue){NULL},
                                                    to <= 8 ? mlirUnitAttrGet(t->b.context) : mlirAttributeGetNull(),
                                                    isDown ? tritonWord(t, "toward_zero") : mlirAttributeGetNull()));
  else if (!mlirTypeEqual(source, element))
    return tileError(op, "converts between floats of equal width");
  tritonSetPlain(t, ttFpToFpOpGetResult(op), result);
  return true;
}

//===--- debugging ------------------------------------------------------------------------===//

static bool print(Triton *t, MlirOperation op) {
  enum { Most = 32 };
  MlirValue values[Most];
  MlirStringRef prefix = mlirStringAttrGetValue(ttPrintOpGetPrefix(op));
  char text[512];
  intptr_t count = ttPrintOpGetNumArgs(op);
  if (count > Most || prefix.length > 256)
    return tileError(op, "prints more than %d values or too long a text", (int)Most);
  size_t length = 0; // braces stand for values
  for (size_t i = 0; i < prefix.length; ++i)
    if (prefix.data[i] != '{' && prefix.data[i] != '}')
      text[length++] = prefix.data[i];
  text[length] = 0;
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(values[i] = tritonPlain(t, ttPrintOpGetArgs(op, i))))
      return false;
    length += (size_t)snprintf(text + length, sizeof text - length, i ? ", {}" : "{}");
  }
  tilePrintOpBuild(&t->b, count, values, tritonWord(t, text));
  return true;
}

static bool check(Triton *t, MlirOperation op) {
  MlirValue condition = tritonPlain(t, ttAssertOpGetCondition(op));
  if (mlirValueIsNull(condition))
    return false;
  tileAssertOpBuild(&t->b, condition, ttAssertOpGetMessage(op));
  return true;
}

//===--- all ------------------------------------------------------------------------------===//

// What orders threads or grids: the accesses of an instance and its launches keep their order by themselves.
static bool isOrder(MlirOperation op) {
  return ttgBarrierOpIsA(op) || gpuBarrierOpIsA(op) || ttGridDependencyWaitOpIsA(op) ||
         ttGridDependencyLaunchDependentsOpIsA(op) || llvmAssumeOpIsA(op);
}

bool tritonCompute(void *kernel, MlirOperation op, bool *isKnown) {
  Triton *t = kernel;
  *isKnown = true;
  if (isOrder(op))
    return true;
  if (ubPoisonOpIsA(op)) {
    tritonSet(t, tileOnlyResult(op), (TritonValue){.kind = Triton_Undefined, .pointee = tileOnlyResultType(op)});
    return true;
  }
  switch (ttOpKind(op)) {
  case TtOp_PreciseSqrt:
    return root(t, op);
  case TtOp_PreciseDivF:
    return binary(t, op, ArithOp_DivF, ttPreciseDivFOpGetX(op), ttPreciseDivFOpGetY(op));
  case TtOp_ApproxDivF:
    return binary(t, op, ArithOp_DivF, ttApproxDivFOpGetX(op), ttApproxDivFOpGetY(op));
  case TtOp_MulhiUI:
    return upperHalf(t, op);
  case TtOp_ClampF:
    return clamp(t, op);
  case TtOp_FpToFp:
    return convert(t, op);
  case TtOp_ExternElementwise:
    return tritonExtern(t, op);
  case TtOp_ElementwiseInlineAsm:
    return tritonInline(t, op);
  case TtOp_Dot:
    return tritonProduct(t, op);
  case TtOp_DotScaled:
    return tritonScaledProduct(t, op);
  case TtOp_Print:
    return print(t, op);
  case TtOp_Assert:
    return check(t, op);
  default:
    break;
  }
  *isKnown = tileOpIsElementwise(op) || arithConstantOpIsA(op);
  return !*isKnown || tritonElementwise(t, op);
}
