// tile-expand-math: math.exp, exp2, log, log2, tanh, erf, sin, cos, rsqrt and powf become arithmetic, inline.
// Each is evaluated in f64 lanes and rounded once, so all f32 results are within 0.51 ulp (families.h and the files of
// the families have methods and errors). Why: libm takes scalars only, and upstream's approximations miss 2 ulp.
// Expects: scalars or fixed-size vectors of f32, f16 or bf16; the last two go through f32. Leaves: arith, math.fma,
// absf, floor and sqrt, which are instructions; f64, tensors and scalable vectors as they were. log1p and expm1, which
// upstream takes apart so that they cancel, are expanded for f64 too, by math.log and math.exp of f64. Cost: linear.
// Papers: Cody and Waite 1980; Payne and Hanek 1983; Remez 1934. Largest error in ulp over all f32 inputs (cos: every
// 7th; powf: 1.5e8 pairs), ns per element in 16 lanes of one Zen 5 core, and of glibc's scalar call:
//   exp  0.50001 0.29 1.4    exp2 0.50001 0.30 1.5    tanh 0.50029 0.48 8.5    log   0.50000 0.35 1.5
//   log2 0.50000 0.35 1.5    erf  0.50016 0.59 7.9    sin  0.50008 0.69 2.1    cos   0.50008 0.68 2.1
//   powf 0.50005 1.16 3.0    rsqrt 0.50000 0.39 1.8   (test/transforms/math/accuracy_*_long.test)
#include "lib/transforms/math/expand_math.h"
#include "lib/capi/patterns.h"
#include "lib/ir/pass.h"
#include "lib/transforms/math/families.h"

typedef struct Family {
  const char *op;
  MlirValue (*expand)(TileLanes *lanes, const MlirValue *operands);
  bool takesF64;
} Family;

static const Family families[] = {
    {"math.exp", tileExpandExp},     {"math.exp2", tileExpandExp2},         {"math.tanh", tileExpandTanh},
    {"math.log", tileExpandLog},     {"math.log2", tileExpandLog2},         {"math.erf", tileExpandErf},
    {"math.sin", tileExpandSin},     {"math.cos", tileExpandCos},           {"math.powf", tileExpandPow},
    {"math.rsqrt", tileExpandRsqrt}, {"math.log1p", tileExpandLog1p, true}, {"math.expm1", tileExpandExpm1, true},
};
enum { familyCount = sizeof families / sizeof *families };

// --- Questions ---

static bool isExpandable(MlirType type, bool takesF64) {
  MlirType element = tileLanesElement(type);
  return (takesF64 && mlirTypeIsAF64(element)) || mlirTypeIsAF32(element) || mlirTypeIsAF16(element) ||
         mlirTypeIsABF16(element);
}

static const Family *familyOf(MlirOperation op) {
  for (int i = 0; i < familyCount; ++i)
    if (tileOpIs(op, families[i].op))
      return &families[i];
  return NULL;
}

// Upstream's patterns make invalid IR of a function on a tensor.
static bool hasFunctionOnTensor(MlirOperation root) {
  TileOps ops = tileCollect(root, NULL);
  bool found = false;
  for (intptr_t i = 0; i < ops.count && !found; ++i)
    found = familyOf(ops.items[i]) && mlirTypeIsATensor(tileResultType(ops.items[i], 0));
  tileOpsFree(&ops);
  return found;
}

// --- The pattern ---

// To or from f64 by way of f32: from f16 the direct way back would be a call.
static MlirValue convert(TileLanes *lanes, const char *name, MlirValue value, MlirType target) {
  MlirType step[] = {tileLanesLike(target, mlirF32TypeGet(lanes->builder.context)), target};
  for (int i = 0; i < 2 && !mlirTypeEqual(mlirValueGetType(value), target); ++i)
    if (!mlirTypeEqual(mlirValueGetType(value), step[i]))
      value = tileBuildValue(&lanes->builder, name, step[i], 1, &value, NULL);
  return value;
}

static MlirLogicalResult expand(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                void *userData) {
  MlirType type = tileResultType(op, 0);
  const Family *family = familyOf(op);
  if (!family || !isExpandable(type, family->takesF64))
    return mlirLogicalResultFailure();
  TileLanes lanes = tileLanesOf(tileBuilderInPattern(rewriter, op), type);
  MlirValue operands[2];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    operands[i] = convert(&lanes, "arith.extf", mlirOperationGetOperand(op, i), lanes.f64);
  MlirValue result = convert(&lanes, "arith.truncf", family->expand(&lanes, operands), type);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

// --- The pass ---

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  for (int i = 0; i < familyCount; ++i)
    tileAddPattern(patterns, context, families[i].op, /*benefit=*/1, expand);
}

// Upstream's sin and cos are not taken: sin(1e9) is 1.8e12 there. It has no exp2, powf or plain rsqrt.
static void populateFast(MlirRewritePatternSet patterns, MlirContext context) {
  mlirExtPopulatePatterns(patterns, "math-f32-expansion", "math.exp,math.log,math.log2,math.tanh,math.erf", 2);
  mlirExtPopulatePatterns(patterns, "math-polynomial-approximation", "math.exp,math.log,math.log2,math.tanh,math.erf",
                          2);
  populate(patterns, context);
}

static void dependentDialects(MlirDialectRegistry registry) {
  tileInsertDialects(registry, (const char *const[]){"arith", "math", "vector", NULL});
}

static bool run(MlirOperation op, MlirExtPass pass) {
  bool fast = mlirExtPassGetBool(pass, "fast") && !hasFunctionOnTensor(op);
  return tileApplyPatterns(op, fast ? populateFast : populate);
}

static const MlirExtPassOption options[] = {
    {"fast", TILE_FAST_MATH_HELP, MlirExtOption_Bool, "false"},
};

const MlirExtPassDefinition tileExpandMathPass = {
    .argument = "tile-expand-math",
    .summary = "Expands elementary functions of f32, f16 and bf16 inline, to 0.51 ulp",
    .numOptions = 1,
    .options = options,
    .dependentDialects = dependentDialects,
    .run = run,
};
