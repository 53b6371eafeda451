// Functions of NVIDIA's libdevice and AMD's ocml that kernels call on elements, as ops of math and arith: one table of
// names without prefix and type. Approximations (`__nv_fast_`, `__ocml_native_`) become the exact functions.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "upstream/arith.h"
#include "upstream/math.h"

typedef struct Function {
  const char *name;
  intptr_t numOperands;
  TileUpstream kind;
} Function;

static const Function functions[] = {
    {"acos", 1, MathOp_Acos},         {"acosh", 1, MathOp_Acosh},    {"asin", 1, MathOp_Asin},
    {"asinh", 1, MathOp_Asinh},       {"atan", 1, MathOp_Atan},      {"atan2", 2, MathOp_Atan2},
    {"atanh", 1, MathOp_Atanh},       {"cbrt", 1, MathOp_Cbrt},      {"ceil", 1, MathOp_Ceil},
    {"copysign", 2, MathOp_CopySign}, {"cos", 1, MathOp_Cos},        {"cosh", 1, MathOp_Cosh},
    {"erf", 1, MathOp_Erf},           {"erfc", 1, MathOp_Erfc},      {"exp", 1, MathOp_Exp},
    {"exp2", 1, MathOp_Exp2},         {"expm1", 1, MathOp_ExpM1},    {"fabs", 1, MathOp_AbsF},
    {"floor", 1, MathOp_Floor},       {"fma", 3, MathOp_Fma},        {"fmax", 2, ArithOp_MaxNumF},
    {"fmin", 2, ArithOp_MinNumF},     {"fmod", 2, ArithOp_RemF},     {"log", 1, MathOp_Log},
    {"log10", 1, MathOp_Log10},       {"log1p", 1, MathOp_Log1p},    {"log2", 1, MathOp_Log2},
    {"pow", 2, MathOp_PowF},          {"rint", 1, MathOp_RoundEven}, {"nearbyint", 1, MathOp_RoundEven},
    {"round", 1, MathOp_Round},       {"rsqrt", 1, MathOp_Rsqrt},    {"sin", 1, MathOp_Sin},
    {"sinh", 1, MathOp_Sinh},         {"sqrt", 1, MathOp_Sqrt},      {"tan", 1, MathOp_Tan},
    {"tanh", 1, MathOp_Tanh},         {"trunc", 1, MathOp_Trunc},    {"fdiv", 2, ArithOp_DivF},
    {"div_rn", 2, ArithOp_DivF},      {"fdiv_rn", 2, ArithOp_DivF},  {"sqrt_rn", 1, MathOp_Sqrt},
    {"fsqrt_rn", 1, MathOp_Sqrt},     {"isnan", 1, MathOp_IsNaN},    {"isinf", 1, MathOp_IsInf},
    {"isfinite", 1, MathOp_IsFinite}, {"popc", 1, MathOp_CtPop},     {"clz", 1, MathOp_CountLeadingZeros},
    {"abs", 1, MathOp_AbsI},
};

static bool skip(MlirStringRef *name, const char *start) {
  if (!tileStringStartsWith(*name, start))
    return false;
  *name = mlirStringRefCreate(name->data + strlen(start), name->length - strlen(start));
  return true;
}

static bool endsWith(MlirStringRef name, const char *end) {
  return name.length > strlen(end) && !memcmp(name.data + name.length - strlen(end), end, strlen(end));
}

static const Function *findName(MlirStringRef name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (tileStringEquals(name, functions[i].name))
      return &functions[i];
  return NULL;
}

// "__nv_rsqrtf", "__nv_fast_expf", "__ocml_tanh_f32", "__ocml_native_exp_f32".
static const Function *find(MlirStringRef name) {
  if (skip(&name, "__nv_")) {
    skip(&name, "fast_");
    const Function *whole = findName(name);
    static const char *const ends[] = {"f", "d", "ff", "ll"};
    for (size_t i = 0; !whole && i < sizeof ends / sizeof *ends; ++i)
      if (endsWith(name, ends[i]))
        whole = findName(mlirStringRefCreate(name.data, name.length - strlen(ends[i])));
    return whole;
  }
  if (!skip(&name, "__ocml_"))
    return NULL;
  skip(&name, "native_");
  static const char *const types[] = {"_f16", "_f32", "_f64"};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (endsWith(name, types[i]))
      return findName(mlirStringRefCreate(name.data, name.length - strlen(types[i])));
  return NULL;
}

// What libdevice's predicates give as i32.
static MlirValue widened(Triton *t, MlirValue value, MlirType type) {
  return mlirTypeEqual(mlirValueGetType(value), type) ? value : tileBuildCast(&t->b, ArithOp_ExtUI, value, type);
}

bool tritonExtern(Triton *t, MlirOperation op) {
  MlirStringRef name = mlirStringAttrGetValue(ttExternElementwiseOpGetSymbol(op));
  const Function *function = find(name);
  MlirValue v[3];
  if (!function || mlirOperationGetNumOperands(op) != function->numOperands)
    return tileError(op, "calls '%.*s', which is not in the table of device functions", (int)name.length, name.data);
  for (intptr_t i = 0; i < function->numOperands; ++i)
    if (mlirValueIsNull(v[i] = tritonPlain(t, mlirOperationGetOperand(op, i))))
      return false;
  MlirType type = tritonType(ttExternElementwiseOpGetResultType(op));
  bool takesFloats = mlirTypeIsAFloat(tritonShape(mlirValueGetType(v[0])).element);
  bool isOfIntegers =
      function->kind == MathOp_CtPop || function->kind == MathOp_CountLeadingZeros || function->kind == MathOp_AbsI;
  bool agree = takesFloats != isOfIntegers;
  for (intptr_t i = 1; i < function->numOperands; ++i)
    agree = agree && mlirTypeEqual(mlirValueGetType(v[i]), mlirValueGetType(v[0]));
  MlirValue result = {NULL};
  if (agree && function->kind == MathOp_IsNaN)
    result = widened(t, mathIsNaNOpBuild(&t->b, v[0]), type);
  else if (agree && function->kind == MathOp_IsInf)
    result = widened(t, mathIsInfOpBuild(&t->b, v[0]), type);
  else if (agree && function->kind == MathOp_IsFinite)
    result = widened(t, mathIsFiniteOpBuild(&t->b, v[0]), type);
  else if (agree && function->kind == MathOp_Fma)
    result = mathFmaOpBuild(&t->b, v[0], v[1], v[2]);
  else if (agree)
    result = function->numOperands == 1 ? tileBuildUnary(&t->b, function->kind, v[0])
                                        : tileBuildBinary(&t->b, function->kind, v[0], v[1]);
  if (mlirValueIsNull(result) || !mlirTypeEqual(mlirValueGetType(result), type))
    return tileError(op, "calls '%.*s' on types that it does not take", (int)name.length, name.data);
  tritonSetPlain(t, ttExternElementwiseOpGetResult(op), result);
  return true;
}
