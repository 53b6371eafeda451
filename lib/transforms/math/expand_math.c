// tile-expand-math: elementary functions of f32, f16 and bf16 become arithmetic, inline. Each is evaluated in f64 lanes
// and rounded once, so all f32 results are within 0.51 ulp (families.h and the files of the families have methods and
// errors). exp, exp2, log, log2, tanh, erf, sin, cos, rsqrt and powf are just precise enough for f32 (the files here);
// all others are functions of f64 (f64/). Why: libm takes scalars only and misses 2 ulp (glibc's log10f: 2.0,
// erfcf: 2.8), and so do upstream's approximations. An op with the fastmath flag `afn` (all with fast=true) is
// evaluated in f32 lanes where single.c can: to 1 ulp. With tables=true, vectors of 16 f32 of a CPU with AVX-512 look
// coefficients up in registers (tables.c), to 0.51 ulp too. Expects: scalars or fixed-size vectors of f32, f16 or bf16;
// the last two go through f32. Leaves: arith, math.fma, absf, floor and sqrt, which are instructions; f64, tensors and
// scalable vectors as they were. log1p and expm1, which upstream takes apart so that they cancel, are expanded for f64
// too, by math.log and math.exp of f64, and so are cbrt and erfc, which glibc has 4 and 5 ulp off. fpowi
// and ipowi, which LLVM has of scalars only or not at all, become powf and multiplications. With f64=true, where there
// is no C library (GPUs), f64's functions are expanded too, to 2.5 ulp of f64 (f64/families.h). With tiles=cuda_tile or
// tiles=tt, functions that this language does not have become arithmetic on tiles and scalars of kernels, as with
// f64=true, and so do roundings other than floor and ceil; nothing else changes. Cost: linear. Papers: Cody and Waite
// 1980; Payne and Hanek 1983; Remez 1934. Largest error in ulp over all f32 inputs (cos: every 7th; powf: 1.5e8 pairs),
// ns per element in 16 lanes of one Zen 5 core, and of glibc's scalar call:
//   exp  0.50001 0.29 1.4    exp2 0.50001 0.30 1.5    tanh 0.50029 0.48 8.5    log   0.50000 0.35 1.5
//   log2 0.50000 0.35 1.5    erf  0.50016 0.59 7.9    sin  0.50008 0.69 2.1    cos   0.50008 0.68 2.1
//   powf 0.50005 1.16 3.0    rsqrt 0.50000 0.39 1.8   (test/transforms/math/accuracy_*_long.test)
#include "lib/transforms/math/expand_math.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/ir/pass.h"
#include "lib/ir/support.h"
#include "lib/transforms/math/extrema.h"
#include "lib/transforms/math/f64/families.h"
#include "lib/transforms/math/families.h"
#include "upstream/llvm.h"
#include "upstream/math.h"

typedef MlirValue (*Expansion)(TileLanes *lanes, const MlirValue *operands);

typedef struct Family {
  TileUpstream op;
  Expansion expand, expandF64; // expand: precise enough for f32; null: none. expandF64: for f64
  bool takesF64;               // without f64=true, too: by expand where there is one
  Expansion expandSingle;      // to 1 ulp of f32, on its own lanes; null: none
  double most;           // of |operand|: beyond it f32's results do not change. expand is of such operands; 0: any
  Expansion expandTable; // to 0.51 ulp of f32, on 16 of its lanes, by tables; null: none
  bool isFastest;        // expandTable is faster than expandSingle, too
  bool isCudaTile, isTt; // an op of CUDA Tile IR; one that Triton lowers on every target
} Family;

static const Family families[] = {
    {MathOp_Exp, tileExpandExp, tileExpandF64Exp, false, tileExpandSingleExp, 200, tileExpandTableExp,
     .isCudaTile = true, .isTt = true},
    {MathOp_Exp2, tileExpandExp2, tileExpandF64Exp2, false, tileExpandSingleExp2, 200, tileExpandTableExp2,
     .isCudaTile = true, .isTt = true},
    {MathOp_Tanh, tileExpandTanh, tileExpandF64Tanh, false, tileExpandSingleTanh, 10, tileExpandTableTanh, true,
     .isCudaTile = true},
    {MathOp_Log, tileExpandLog, tileExpandF64Log, .expandTable = tileExpandTableLog, .isFastest = true,
     .isCudaTile = true, .isTt = true},
    {MathOp_Log2, tileExpandLog2, tileExpandF64Log2, .isCudaTile = true, .isTt = true},
    {MathOp_Erf, tileExpandErf, tileExpandF64Erf, false, tileExpandSingleErf, 0, tileExpandTableErf, true,
     .isTt = true},
    {MathOp_Sin, tileExpandSin, tileExpandF64Sin, .isCudaTile = true, .isTt = true},
    {MathOp_Cos, tileExpandCos, tileExpandF64Cos, .isCudaTile = true, .isTt = true},
    {MathOp_PowF, tileExpandPow, tileExpandF64Pow, .isCudaTile = true},
    {MathOp_Rsqrt, tileExpandRsqrt, tileExpandRsqrt, .isCudaTile = true, .isTt = true},
    {MathOp_Log1p, tileExpandLog1p, tileExpandF64Log1p, true},
    {MathOp_ExpM1, tileExpandExpm1, tileExpandF64Expm1, true},
    {MathOp_FPowI, NULL, tileExpandF64Pow, true, .isCudaTile = true},
    {MathOp_Log10, NULL, tileExpandF64Log10},
    {MathOp_Sinh, NULL, tileExpandF64Sinh, .isCudaTile = true},
    {MathOp_Cosh, NULL, tileExpandF64Cosh, .isCudaTile = true},
    {MathOp_Asinh, NULL, tileExpandF64Asinh},
    {MathOp_Acosh, NULL, tileExpandF64Acosh},
    {MathOp_Atanh, NULL, tileExpandF64Atanh},
    {MathOp_Erfc, NULL, tileExpandF64Erfc, true},
    {MathOp_Tan, NULL, tileExpandF64Tan, .isCudaTile = true},
    {MathOp_Asin, NULL, tileExpandF64Asin},
    {MathOp_Acos, NULL, tileExpandF64Acos},
    {MathOp_Atan, NULL, tileExpandF64Atan},
    {MathOp_Atan2, NULL, tileExpandF64Atan2, .isCudaTile = true},
    {MathOp_Cbrt, NULL, tileExpandF64Cbrt, true},
};
enum { familyCount = sizeof families / sizeof *families };

//===--- Questions -------------------------------------------------------===//

// Null: it stays as it is.
static Expansion expansionOf(const Family *family, MlirType type, bool wantsF64) {
  MlirType element = tileLanesElementOfTile(type);
  bool isF64 = mlirTypeIsAF64(element);
  if (!isF64 && !mlirTypeIsAF32(element) && !mlirTypeIsAF16(element) && !mlirTypeIsABF16(element))
    return NULL;
  if (!isF64)
    return family->expand && !family->takesF64 ? family->expand : family->expandF64;
  if (wantsF64)
    return family->expandF64;
  return !family->takesF64 ? NULL : family->expand ? family->expand : family->expandF64;
}

static const Family *familyOf(MlirOperation op) {
  TileUpstream kind = tileUpstreamKind(op);
  for (int i = 0; i < familyCount; ++i)
    if (kind == families[i].op)
      return &families[i];
  return NULL;
}

//===--- The pattern -----------------------------------------------------===//

// To or from f64 by way of f32: from f16 the direct way back would be a call.
static MlirValue convert(TileLanes *lanes, TileUpstream op, MlirValue value, MlirType target) {
  MlirType step[] = {tileLanesLike(target, mlirF32TypeGet(lanes->builder.context)), target};
  for (int i = 0; i < 2 && !mlirTypeEqual(mlirValueGetType(value), target); ++i)
    if (!mlirTypeEqual(mlirValueGetType(value), step[i]))
      value = tileBuildCast(&lanes->builder, op, value, step[i]);
  return value;
}

// An exponent of fpowi is an integer.
static MlirValue asLanes(TileLanes *lanes, MlirValue value) {
  if (mlirTypeIsAInteger(tileLanesElementOfTile(mlirValueGetType(value))))
    return arithSIToFPOpBuild(&lanes->builder, lanes->real, value);
  return convert(lanes, ArithOp_ExtF, value, lanes->real);
}

// Clamped as f32: half as many vectors as of f64.
static MlirValue clamped(TileLanes *lanes, MlirValue value, double most) {
  MlirType single = tileLanesLike(lanes->real, mlirF32TypeGet(lanes->builder.context));
  TileLanes narrow = tileLanesSingleOf(lanes->builder, single);
  return tileLanesClamp(&narrow, convert(&narrow, ArithOp_ExtF, value, single), -most, most);
}

typedef enum Mode {
  Mode_Default,
  Mode_Fast,
  Mode_F64,
  Mode_Tables,
  Mode_FastTables,
  Mode_CudaTile, // on tiles: what the language does not have
  Mode_Tt
} Mode;

// Tensors are tiles of kernels, without layouts, in the modes for tiles only.
static bool isOfMode(const Family *family, MlirType type, Mode mode) {
  if (mode == Mode_CudaTile || mode == Mode_Tt)
    return family && !(mode == Mode_Tt ? family->isTt : family->isCudaTile) &&
           (!mlirTypeIsARankedTensor(type) || mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)));
  return family && !mlirTypeIsATensor(type);
}

static MlirLogicalResult expandAs(MlirOperation op, MlirPatternRewriter rewriter, Mode mode) {
  MlirType type = tileOnlyResultType(op);
  const Family *family = familyOf(op);
  bool isFast = mode == Mode_Fast || mode == Mode_FastTables || tileOpAllows(op, TileFastMath_Approximate);
  bool isNarrow = !mlirTypeIsAF64(tileLanesElementOfTile(type));
  bool isTile = mode == Mode_CudaTile || mode == Mode_Tt;
  bool isTable = family && family->expandTable && isNarrow && (mode == Mode_Tables || mode == Mode_FastTables) &&
                 tileLanesCanLookUp(type) && (!isFast || family->isFastest);
  bool isSingle = isTable || (family && family->expandSingle && isNarrow && isFast);
  if (isSingle && mode == Mode_F64 && mathExp2OpIsA(op) && mlirTypeIsAF32(tileLanesElement(type)))
    return mlirLogicalResultFailure(); // an instruction of every GPU, to 2 ulp
  Expansion expansion = isOfMode(family, type, mode) ? expansionOf(family, type, mode == Mode_F64 || isTile) : NULL;
  if (!expansion)
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  TileLanes lanes = isSingle ? tileLanesSingleOf(builder, type) : tileLanesOf(builder, type);
  MlirValue operands[2];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    bool isClamped = !isSingle && expansion == family->expand && family->most > 0;
    operands[i] = asLanes(&lanes, isClamped ? clamped(&lanes, operand, family->most) : operand);
  }
  MlirValue value = (isTable ? family->expandTable : isSingle ? family->expandSingle : expansion)(&lanes, operands);
  MlirValue result = convert(&lanes, ArithOp_TruncF, value, type);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

static MlirLogicalResult expand(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                void *userData) {
  return expandAs(op, rewriter, Mode_Default);
}

static MlirLogicalResult expandFast(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                    void *userData) {
  return expandAs(op, rewriter, Mode_Fast);
}

static MlirLogicalResult expandByTables(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                        void *userData) {
  return expandAs(op, rewriter, Mode_Tables);
}

static MlirLogicalResult expandFastByTables(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                            void *userData) {
  return expandAs(op, rewriter, Mode_FastTables);
}

static MlirLogicalResult expandF64(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                   void *userData) {
  return expandAs(op, rewriter, Mode_F64);
}

static MlirLogicalResult expandForCudaTile(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                           void *userData) {
  return expandAs(op, rewriter, Mode_CudaTile);
}

static MlirLogicalResult expandForTt(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *userData) {
  return expandAs(op, rewriter, Mode_Tt);
}

// Neither language has these, and each is exact.
static const struct {
  TileUpstream op;
  Expansion expand;
} roundings[] = {{MathOp_Trunc, tileExpandTrunc},
                 {MathOp_RoundEven, tileExpandRoundEven},
                 {MathOp_Round, tileExpandRound},
                 {MathOp_CopySign, tileExpandCopySign}};
enum { RoundingCount = sizeof roundings / sizeof *roundings };

static MlirLogicalResult expandRounding(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                        void *userData) {
  MlirType type = tileOnlyResultType(op), element = tileLanesElementOfTile(type);
  bool isTile = !mlirTypeIsARankedTensor(type) || mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
  if (!isTile || mlirTypeIsAVector(type) || tileElementWidth(element) < 16)
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  TileLanes lanes = mlirTypeIsAF64(element) ? tileLanesOf(builder, type) : tileLanesSingleOf(builder, type);
  MlirValue operands[2];
  int which = 0;
  while (tileUpstreamKind(op) != roundings[which].op)
    ++which;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    operands[i] = convert(&lanes, ArithOp_ExtF, mlirOperationGetOperand(op, i), lanes.real);
  MlirValue result = convert(&lanes, ArithOp_TruncF, roundings[which].expand(&lanes, operands), type);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

static MlirValue resized(TileLanes *lanes, MlirValue value, MlirType type) {
  MlirType from = mlirValueGetType(value), element = tileLanesElement(type);
  if (mlirTypeEqual(from, type))
    return value;
  bool isIndex = mlirTypeIsAIndex(tileLanesElement(from)) || mlirTypeIsAIndex(element);
  bool widens = !isIndex && mlirIntegerTypeGetWidth(tileLanesElement(from)) < mlirIntegerTypeGetWidth(element);
  TileUpstream op = isIndex ? ArithOp_IndexCast : widens ? ArithOp_ExtSI : ArithOp_TruncI;
  return tileBuildCast(&lanes->builder, op, value, type);
}

static MlirLogicalResult expandIntegerPower(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                            void *userData) {
  MlirType type = tileOnlyResultType(op), element = tileLanesElement(type);
  bool isIndex = mlirTypeIsAIndex(element);
  if (!isIndex && (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) > 64))
    return mlirLogicalResultFailure();
  TileLanes lanes = tileLanesOf(tileBuilderInPattern(rewriter, op), type);
  MlirValue operands[2];
  for (intptr_t i = 0; i < 2; ++i)
    operands[i] = resized(&lanes, mlirOperationGetOperand(op, i), lanes.bits);
  MlirValue result = tileExpandIntegerPower(&lanes, operands, isIndex ? 64 : mlirIntegerTypeGetWidth(element));
  result = resized(&lanes, result, type);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

// GPUs have instructions for these, and LLVM for f64; arith-expand, which follows for divisions, would take
// comparisons.
static const TileUpstream extrema[][2] = {{ArithOp_MaximumF, LlvmOp_Maximum},
                                          {ArithOp_MinimumF, LlvmOp_Minimum},
                                          {ArithOp_MaxNumF, LlvmOp_MaxNum},
                                          {ArithOp_MinNumF, LlvmOp_MinNum}};
enum { ExtremaCount = sizeof extrema / sizeof *extrema };

static MlirLogicalResult toIntrinsic(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *userData) {
  MlirType type = tileOnlyResultType(op), element = tileLanesElement(type);
  bool isLlvms =
      mlirTypeIsAF64(element) || mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
  if (!isLlvms || mlirTypeIsATensor(type))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  int which = 0;
  for (TileUpstream kind = tileUpstreamKind(op); kind != extrema[which][0];)
    ++which;
  MlirValue a = tileBinaryLhs(op), b = tileBinaryRhs(op);
  MlirValue result = tileBuildBinary(&builder, extrema[which][1], a, b);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

//===--- The pass --------------------------------------------------------===//

static void populateWith(MlirRewritePatternSet patterns, MlirContext context, TileRewrite rewrite) {
  for (int i = 0; i < familyCount; ++i)
    tileAddPattern(patterns, context, tileUpstreamName(families[i].op), /*benefit=*/1, rewrite);
  tileAddPattern(patterns, context, tileUpstreamName(MathOp_IPowI), /*benefit=*/1, expandIntegerPower);
}

static void populateExtrema(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_MaximumF), /*benefit=*/1, tileExpandExtremum);
  tileAddPattern(patterns, context, tileUpstreamName(ArithOp_MinimumF), /*benefit=*/1, tileExpandExtremum);
}

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  populateWith(patterns, context, expand);
  populateExtrema(patterns, context);
}

static void populateF64(MlirRewritePatternSet patterns, MlirContext context) {
  populateWith(patterns, context, expandF64);
  for (int i = 0; i < ExtremaCount; ++i)
    tileAddPattern(patterns, context, tileUpstreamName(extrema[i][0]), /*benefit=*/1, toIntrinsic);
}

static void populateTiles(MlirRewritePatternSet patterns, MlirContext context, TileRewrite rewrite) {
  for (int i = 0; i < familyCount; ++i)
    tileAddPattern(patterns, context, tileUpstreamName(families[i].op), /*benefit=*/1, rewrite);
  for (int i = 0; i < RoundingCount; ++i)
    tileAddPattern(patterns, context, tileUpstreamName(roundings[i].op), /*benefit=*/1, expandRounding);
}

static void populateForCudaTile(MlirRewritePatternSet patterns, MlirContext context) {
  populateTiles(patterns, context, expandForCudaTile);
}

static void populateForTt(MlirRewritePatternSet patterns, MlirContext context) {
  populateTiles(patterns, context, expandForTt);
}

static void populateFast(MlirRewritePatternSet patterns, MlirContext context) {
  populateWith(patterns, context, expandFast);
  populateExtrema(patterns, context);
}

static void populateTables(MlirRewritePatternSet patterns, MlirContext context) {
  populateWith(patterns, context, expandByTables);
  populateExtrema(patterns, context);
}

static void populateFastTables(MlirRewritePatternSet patterns, MlirContext context) {
  populateWith(patterns, context, expandFastByTables);
  populateExtrema(patterns, context);
}

static bool hasTable(MlirOperation op) {
  const Family *family = familyOf(op);
  return family && family->expandTable && tileLanesCanLookUp(tileOnlyResultType(op));
}

// The machine looks 32 entries up at once: a CPU with vectors of 64 bytes. False after a diagnostic.
static bool machineHasTables(MlirOperation op, MlirExtPass pass, bool *hasTables) {
  TileOps users = tileCollectOps(op, hasTable);
  bool isAsked = users.count > 0;
  tileOpsFree(&users);
  if (!isAsked)
    return true;
  TileMachine *machine = tileMachineOf(op, pass, NULL);
  int64_t bytes = 0;
  *hasTables = machine && tileMachineGetInteger(machine, "vector.bytes", &bytes) && bytes == 64;
  tileMachineDestroy(machine);
  return machine != NULL;
}

static bool expandOnTiles(MlirOperation op, MlirStringRef language) {
  if (tileStringEquals(language, "cuda_tile"))
    return tileApplyPatterns(op, populateForCudaTile);
  return tileStringEquals(language, "tt")
             ? tileApplyPatterns(op, populateForTt)
             : tileError(op, "tile-expand-math: tiles is \"%.*s\", expected cuda_tile or tt", (int)language.length,
                         language.data);
}

static bool run(MlirOperation op, MlirExtPass pass) {
  MlirStringRef language = mlirExtPassGetString(pass, "tiles");
  if (language.length)
    return expandOnTiles(op, language);
  bool isFast = mlirExtPassGetBool(pass, "fast"), hasTables = false;
  if (mlirExtPassGetBool(pass, "f64"))
    return tileApplyPatterns(op, populateF64);
  if (mlirExtPassGetBool(pass, "tables") && !machineHasTables(op, pass, &hasTables))
    return false;
  return tileApplyPatterns(op, hasTables ? (isFast ? populateFastTables : populateTables)
                                         : (isFast ? populateFast : populate));
}

const MlirExtPassDefinition tileExpandMathPass = {
    .argument = "tile-expand-math",
    .summary = "Expands elementary functions of f32, f16 and bf16 inline, to 0.51 ulp",
    .options =
        (const MlirExtPassOption[]){
            {"fast", TILE_FAST_MATH_HELP, MlirExtOption_Bool, "false"},
            {"f64", "Expand all functions, of f64 too, to 2.5 ulp: nothing is left to a C library", MlirExtOption_Bool,
             "false"},
            {"tables", "look coefficients up in registers, on a CPU with AVX-512: exp, exp2, log, tanh, erf of 16 f32",
             MlirExtOption_Bool, "false"},
            {"tiles", "expand, on tiles of kernels, what a language does not have: cuda_tile or tt",
             MlirExtOption_String, ""},
            TILE_CHIP_OPTION,
            {NULL}},
    .registerDialects = tileRegisterDialect,
    .dialects = (const char *const[]){"arith", "llvm", "math", "scf", "vector", NULL},
    .run = run,
};
