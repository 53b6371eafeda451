// Arithmetic, comparisons, conversions of elements, products: rows from kinds of arith and math to builders. What arith
// says by the name of an op (signed, unordered) is an attribute here.
#include "lib/conversion/tile_to_cuda_tile/cuda_tile_export.h"

#include "upstream/arith.h"
#include "upstream/math.h"

//===--- ops that only change their name -------------------------------------------------===//

typedef MlirValue (*BuildUnary)(TileBuilder *b, MlirValue x);
typedef MlirValue (*BuildBinary)(TileBuilder *b, MlirValue x, MlirValue y);
typedef MlirValue (*BuildSigned)(TileBuilder *b, MlirValue x, MlirValue y, MlirAttribute signedness);

static const struct {
  TileUpstream kind;
  BuildUnary build;
} unaries[] = {
    {MathOp_AbsI, cudaTileAbsIOpBuild}, {MathOp_AbsF, cudaTileAbsFOpBuild},   {ArithOp_NegF, cudaTileNegFOpBuild},
    {MathOp_Ceil, cudaTileCeilOpBuild}, {MathOp_Floor, cudaTileFloorOpBuild}, {MathOp_Log, cudaTileLogOpBuild},
    {MathOp_Log2, cudaTileLog2OpBuild}, {MathOp_Sin, cudaTileSinOpBuild},     {MathOp_Cos, cudaTileCosOpBuild},
    {MathOp_Tan, cudaTileTanOpBuild},   {MathOp_Sinh, cudaTileSinHOpBuild},   {MathOp_Cosh, cudaTileCosHOpBuild},
    {MathOp_Tanh, cudaTileTanHOpBuild}, {MathOp_Exp, cudaTileExpOpBuild},     {MathOp_Exp2, cudaTileExp2OpBuild},
    {MathOp_Sqrt, cudaTileSqrtOpBuild}, {MathOp_Rsqrt, cudaTileRsqrtOpBuild},
};

static const struct {
  TileUpstream kind;
  BuildBinary build;
} binaries[] = {
    {ArithOp_AddF, cudaTileAddFOpBuild},    {ArithOp_SubF, cudaTileSubFOpBuild},    {ArithOp_MulF, cudaTileMulFOpBuild},
    {ArithOp_DivF, cudaTileDivFOpBuild},    {ArithOp_RemF, cudaTileRemFOpBuild},    {ArithOp_AddI, cudaTileAddIOpBuild},
    {ArithOp_SubI, cudaTileSubIOpBuild},    {ArithOp_MulI, cudaTileMulIOpBuild},    {ArithOp_ShLI, cudaTileShLIOpBuild},
    {ArithOp_AndI, cudaTileAndIOpBuild},    {ArithOp_OrI, cudaTileOrIOpBuild},      {ArithOp_XOrI, cudaTileXOrIOpBuild},
    {ArithOp_MaxNumF, cudaTileMaxFOpBuild}, {ArithOp_MinNumF, cudaTileMinFOpBuild}, {MathOp_PowF, cudaTileFPowFOpBuild},
    {MathOp_FPowI, cudaTileFPowIOpBuild},   {MathOp_Atan2, cudaTileAtan2OpBuild},
};

static const struct {
  TileUpstream kind;
  BuildSigned build;
  bool isSigned;
} signeds[] = {
    {ArithOp_DivSI, cudaTileDivIOpBuild, true}, {ArithOp_DivUI, cudaTileDivIOpBuild, false},
    {ArithOp_RemSI, cudaTileRemIOpBuild, true}, {ArithOp_RemUI, cudaTileRemIOpBuild, false},
    {ArithOp_MaxSI, cudaTileMaxIOpBuild, true}, {ArithOp_MaxUI, cudaTileMaxIOpBuild, false},
    {ArithOp_MinSI, cudaTileMinIOpBuild, true}, {ArithOp_MinUI, cudaTileMinIOpBuild, false},
    {ArithOp_ShRSI, cudaTileShRIOpBuild, true}, {ArithOp_ShRUI, cudaTileShRIOpBuild, false},
};

// Quotients that do not round to zero.
static const struct {
  TileUpstream kind;
  bool isSigned;
  const char *rounding;
} quotients[] = {
    {ArithOp_FloorDivSI, true, "negative_inf"},
    {ArithOp_CeilDivSI, true, "positive_inf"},
    {ArithOp_CeilDivUI, false, "positive_inf"},
};

#define COUNT(rows) (sizeof rows / sizeof *rows)

static bool onSigned(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result) {
  for (size_t i = 0; i < COUNT(signeds); ++i)
    if (signeds[i].kind == kind) {
      *result = signeds[i].build(&k->b, x, y, cudaTileSign(k, signeds[i].isSigned));
      return true;
    }
  for (size_t i = 0; i < COUNT(quotients); ++i)
    if (quotients[i].kind == kind) {
      *result = tileOnlyResult(cudaTileDivIOpCreate(&k->b, x, y, cudaTileSign(k, quotients[i].isSigned),
                                                    exportWord(k, quotients[i].rounding)));
      return true;
    }
  return false;
}

bool cudaTileCombine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result) {
  MlirAttribute nan = mlirUnitAttrGet(k->b.context), none = mlirAttributeGetNull();
  for (size_t i = 0; i < COUNT(binaries); ++i)
    if (binaries[i].kind == kind) {
      *result = binaries[i].build(&k->b, x, y);
      return true;
    }
  if (kind == ArithOp_MaximumF)
    *result = tileOnlyResult(cudaTileMaxFOpCreate(&k->b, x, y, nan, none));
  else if (kind == ArithOp_MinimumF)
    *result = tileOnlyResult(cudaTileMinFOpCreate(&k->b, x, y, nan, none));
  else
    return onSigned(k, kind, x, y, result);
  return true;
}

static BuildUnary unaryOf(TileUpstream kind) {
  for (size_t i = 0; i < COUNT(unaries); ++i)
    if (unaries[i].kind == kind)
      return unaries[i].build;
  return NULL;
}

//===--- comparisons ----------------------------------------------------------------------===//

MlirValue cudaTileCompare(ExportKernel *k, ArithCmpI predicate, MlirValue x, MlirValue y) {
  static const char *const words[] = {[ArithCmpI_Eq] = "equal",         [ArithCmpI_Ne] = "not_equal",
                                      [ArithCmpI_Slt] = "less_than",    [ArithCmpI_Sle] = "less_than_or_equal",
                                      [ArithCmpI_Sgt] = "greater_than", [ArithCmpI_Sge] = "greater_than_or_equal",
                                      [ArithCmpI_Ult] = "less_than",    [ArithCmpI_Ule] = "less_than_or_equal",
                                      [ArithCmpI_Ugt] = "greater_than", [ArithCmpI_Uge] = "greater_than_or_equal"};
  return cudaTileCmpIOpBuild(&k->b, x, y, exportWord(k, words[predicate]), cudaTileSign(k, predicate < ArithCmpI_Ult));
}

static MlirValue compare(ExportKernel *k, MlirValue x, MlirValue y, const char *word, bool isOrdered) {
  return cudaTileCmpFOpBuild(&k->b, x, y, exportWord(k, word), exportWord(k, isOrdered ? "ordered" : "unordered"));
}

// `ord` and `uno` ask for each side whether it equals itself.
static bool compareFloats(ExportKernel *k, MlirOperation op, MlirValue x, MlirValue y) {
  static const char *const words[] = {
      [ArithCmpF_Oeq] = "equal",     [ArithCmpF_Ogt] = "greater_than",       [ArithCmpF_Oge] = "greater_than_or_equal",
      [ArithCmpF_Olt] = "less_than", [ArithCmpF_Ole] = "less_than_or_equal", [ArithCmpF_One] = "not_equal",
      [ArithCmpF_Ueq] = "equal",     [ArithCmpF_Ugt] = "greater_than",       [ArithCmpF_Uge] = "greater_than_or_equal",
      [ArithCmpF_Ult] = "less_than", [ArithCmpF_Ule] = "less_than_or_equal", [ArithCmpF_Une] = "not_equal",
      [ArithCmpF_True] = NULL};
  ArithCmpF predicate = arithCmpFOpGetPredicateValue(op);
  MlirValue result;
  if (words[predicate])
    result = compare(k, x, y, words[predicate], predicate < ArithCmpF_Ord);
  else if (predicate == ArithCmpF_Ord)
    result = cudaTileAndIOpBuild(&k->b, compare(k, x, x, "equal", true), compare(k, y, y, "equal", true));
  else if (predicate == ArithCmpF_Uno)
    result = cudaTileOrIOpBuild(&k->b, compare(k, x, x, "not_equal", false), compare(k, y, y, "not_equal", false));
  else
    result = exportFill(k, exportShaped(k, mlirValueGetType(x), exportInteger(k, 1)), predicate == ArithCmpF_True);
  return exportSetResult(k, op, result);
}

static bool choose(ExportKernel *k, MlirOperation op) {
  MlirValue condition = exportGet(k, arithSelectOpGetCondition(op)), yes = exportGet(k, arithSelectOpGetTrueValue(op)),
            no = exportGet(k, arithSelectOpGetFalseValue(op));
  if (mlirValueIsNull(condition) || mlirValueIsNull(yes) || mlirValueIsNull(no))
    return false;
  if (exportRank(mlirValueGetType(condition)) != exportRank(mlirValueGetType(yes)))
    condition = exportSplat(k, condition, mlirValueGetType(yes));
  return exportSetResult(k, op, cudaTileSelectOpBuild(&k->b, condition, yes, no));
}

//===--- conversions of elements --------------------------------------------------------------===//

static MlirType elementOf(MlirType tile) { return mlirShapedTypeGetElementType(tile); }

// The lower bits of what was widened just before (an id, a wrapped offset) are what it was.
MlirValue cudaTileResize(ExportKernel *k, MlirValue x, MlirType type, bool isSigned) {
  unsigned from = tileElementWidth(elementOf(mlirValueGetType(x))), to = tileElementWidth(elementOf(type));
  MlirOperation wider = tileDefiningOp(x);
  if (from == to)
    return x;
  if (from < to)
    return cudaTileExtIOpBuild(&k->b, type, x, cudaTileSign(k, isSigned));
  if (!mlirOperationIsNull(wider) && cudaTileExtIOpIsA(wider) &&
      mlirTypeEqual(mlirValueGetType(cudaTileExtIOpGetFrom(wider)), type))
    return cudaTileExtIOpGetFrom(wider);
  return cudaTileTruncIOpBuild(&k->b, type, x);
}

// Floats of 8 bits saturate here, as the hardware's conversions do; arith's overflow to nan or infinity.
static bool resizeFloat(ExportKernel *k, MlirOperation op, MlirValue x, MlirType type, bool saturates) {
  unsigned from = tileElementWidth(elementOf(mlirValueGetType(x))), to = tileElementWidth(elementOf(type));
  if (to <= 8 && from > to && !saturates)
    return tileError(op, "overflows in floats of 8 bits, which CUDA Tile IR saturates; expected tile.convert_type");
  return exportSetResult(k, op, cudaTileFToFOpBuild(&k->b, type, x));
}

// arith's rounding modes, by their numbers.
static const char *const roundings[] = {"nearest_even", "negative_inf", "positive_inf", "zero", "nearest_away"};

static bool roundFloat(ExportKernel *k, MlirOperation op, MlirValue x, MlirType type) {
  MlirAttribute mode = tileOpAttribute(op, "roundingmode");
  int64_t number = mlirAttributeIsNull(mode) ? 0 : mlirIntegerAttrGetValueInt(mode);
  if (number == 0)
    return resizeFloat(k, op, x, type, false);
  if (number >= (int64_t)COUNT(roundings) || tileElementWidth(elementOf(type)) <= 8)
    return tileError(op, "rounds in a way that has no conversion to cuda_tile");
  return exportSetResult(k, op, tileOnlyResult(cudaTileFToFOpCreate(&k->b, type, x, exportWord(k, roundings[number]))));
}

static bool cast(ExportKernel *k, MlirOperation op, TileUpstream kind, bool *isKnown) {
  MlirValue x = exportGet(k, tileOnlyOperand(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  switch (kind) {
  case ArithOp_ExtSI:
  case ArithOp_IndexCast:
  case ArithOp_TruncI:
    return exportSetResult(k, op, cudaTileResize(k, x, type, true));
  case ArithOp_ExtUI:
  case ArithOp_IndexCastUI:
    return exportSetResult(k, op, cudaTileResize(k, x, type, false));
  case ArithOp_ExtF:
    return resizeFloat(k, op, x, type, true);
  case ArithOp_TruncF:
    return roundFloat(k, op, x, type);
  case ArithOp_SIToFP:
  case ArithOp_UIToFP:
    return exportSetResult(k, op, cudaTileIToFOpBuild(&k->b, type, x, cudaTileSign(k, kind == ArithOp_SIToFP)));
  case ArithOp_FPToSI:
  case ArithOp_FPToUI:
    return exportSetResult(k, op, cudaTileFToIOpBuild(&k->b, type, x, cudaTileSign(k, kind == ArithOp_FPToSI)));
  case ArithOp_Bitcast:
    return exportSetResult(k, op, cudaTileBitcastOpBuild(&k->b, type, x));
  default:
    *isKnown = false;
    return true;
  }
}

static bool convertType(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileConvertTypeOpGetInput(op));
  MlirType type = exportType(k, op, tileOnlyResultType(op));
  if (mlirValueIsNull(x) || mlirTypeIsNull(type))
    return false;
  MlirType from = elementOf(mlirValueGetType(x)), to = elementOf(type);
  bool isSaturatingFloat = tileConvertTypeOpHasSaturate(op) && tileElementWidth(to) == 8;
  if (!mlirTypeIsAFloat(from) || !mlirTypeIsAFloat(to) || !isSaturatingFloat)
    return tileError(op, "converts in a way that has no conversion to cuda_tile, expected floats of 8 bits, saturated");
  MlirAttribute mode = tileConvertTypeOpGetRounding(op);
  if (!mlirAttributeIsNull(mode) && !exportIs(mode, "nearest_even"))
    return tileError(op, "does not round to nearest_even, which has no conversion to cuda_tile");
  return resizeFloat(k, op, x, type, true);
}

//===--- products ---------------------------------------------------------------------------===//

// What one mmaf or mmai takes: elements of both factors, elements of the sum.
static bool isProduct(MlirType factor, MlirType sum) {
  if (mlirTypeIsAInteger(factor))
    return mlirIntegerTypeGetWidth(factor) == 8 && mlirTypeIsAInteger(sum) && mlirIntegerTypeGetWidth(sum) == 32;
  bool isHalf = mlirTypeIsAF16(factor) || mlirTypeIsAFloat8E4M3FN(factor) || mlirTypeIsAFloat8E5M2(factor);
  if (isHalf)
    return mlirTypeIsAF16(sum) || mlirTypeIsAF32(sum);
  return mlirTypeIsAF64(factor) ? mlirTypeIsAF64(sum)
                                : (mlirTypeIsABF16(factor) || mlirTypeIsAF32(factor)) && mlirTypeIsAF32(sum);
}

static MlirValue asTf32(ExportKernel *k, MlirValue x) {
  return cudaTileFToFOpBuild(&k->b, exportShaped(k, mlirValueGetType(x), mlirTF32TypeGet(k->b.context)), x);
}

// Precisions of several narrower products give way to that of f32, which is no worse.
static bool product(ExportKernel *k, MlirOperation op) {
  MlirValue a = exportGet(k, tileMmaOpGetLhs(op)), b = exportGet(k, tileMmaOpGetRhs(op)),
            c = exportGet(k, tileMmaOpGetAccumulator(op));
  if (mlirValueIsNull(a) || mlirValueIsNull(b) || mlirValueIsNull(c))
    return false;
  MlirType factor = elementOf(mlirValueGetType(a)), other = elementOf(mlirValueGetType(b)),
           sum = elementOf(mlirValueGetType(c));
  if (!mlirTypeEqual(factor, other) || !isProduct(factor, sum))
    return tileError(op, "multiplies %s by %s into %s, which has no conversion to cuda_tile",
                     tileTypeText(factor, (char[32]){0}, 32), tileTypeText(other, (char[32]){0}, 32),
                     tileTypeText(sum, (char[32]){0}, 32));
  if (mlirTypeIsAInteger(factor))
    return exportSetResult(k, op, cudaTileMmaIOpBuild(&k->b, a, b, c, cudaTileSign(k, true), cudaTileSign(k, true)));
  if (exportIs(tileMmaOpGetPrecision(op), "tf32")) {
    a = asTf32(k, a);
    b = asTf32(k, b);
  }
  return exportSetResult(k, op, cudaTileMmaFOpBuild(&k->b, a, b, c));
}

static MlirType scaleOf(MlirValue scales) { return elementOf(mlirValueGetType(scales)); }

// Whether the op has the factors' and scales' types, which are those of both sides: floats of 8 bits with a power of
// two for each 32, or floats of 4 bits with one for each 16 or 32, or an e4m3 for each 16.
static bool hasInstruction(const MlirValue *factors, const MlirValue *scales, int64_t block) {
  MlirType factor = elementOf(mlirValueGetType(factors[0])), scale = scaleOf(scales[0]);
  if (!mlirTypeEqual(factor, elementOf(mlirValueGetType(factors[1]))) || !mlirTypeEqual(scale, scaleOf(scales[1])))
    return false;
  bool isPower = mlirTypeIsAFloat8E8M0FNU(scale);
  if (mlirTypeIsAFloat8E4M3FN(factor) || mlirTypeIsAFloat8E5M2(factor))
    return isPower && block == 32;
  return mlirTypeIsAFloat4E2M1FN(factor) && (isPower || (mlirTypeIsAFloat8E4M3FN(scale) && block == 16));
}

// Elements times their scales, in f32: a scale stands for `block` elements along the axis.
static MlirValue scaled(ExportKernel *k, MlirValue x, MlirValue scales, int64_t block, intptr_t axis) {
  MlirType f32 = mlirF32TypeGet(k->b.context);
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(scales), &shape);
  int64_t thin[3], wide[3];
  for (intptr_t i = 0, at = 0; i < 2; ++i) {
    thin[at] = wide[at] = shape.sizes[i];
    ++at;
    if (i == axis) {
      thin[at] = 1;
      wide[at++] = block;
    }
  }
  MlirType wanted = exportShaped(k, mlirValueGetType(x), f32);
  scales = cudaTileFToFOpBuild(&k->b, exportShaped(k, mlirValueGetType(scales), f32), scales);
  scales = cudaTileReshapeOpBuild(&k->b, exportSized(k, 3, thin, f32), scales);
  scales = cudaTileReshapeOpBuild(&k->b, wanted, cudaTileBroadcastOpBuild(&k->b, exportSized(k, 3, wide, f32), scales));
  return cudaTileMulFOpBuild(&k->b, cudaTileFToFOpBuild(&k->b, wanted, x), scales);
}

static bool scaledProduct(ExportKernel *k, MlirOperation op) {
  MlirValue factors[] = {exportGet(k, tileMmaScaledOpGetLhs(op)), exportGet(k, tileMmaScaledOpGetRhs(op))};
  MlirValue scales[] = {exportGet(k, tileMmaScaledOpGetLhsScale(op)), exportGet(k, tileMmaScaledOpGetRhsScale(op))};
  MlirValue c = exportGet(k, tileMmaScaledOpGetAccumulator(op));
  int64_t block = mlirIntegerAttrGetValueInt(tileMmaScaledOpGetBlock(op));
  MlirExtShape lengths[2];
  if (mlirValueIsNull(c))
    return false;
  for (int i = 0; i < 2; ++i) {
    if (mlirValueIsNull(factors[i]) || mlirValueIsNull(scales[i]) ||
        !mlirExtTypeGetShape(mlirValueGetType(scales[i]), &lengths[i]))
      return false;
  }
  MlirExtShape shape;
  mlirExtTypeGetShape(mlirValueGetType(factors[0]), &shape);
  bool isPlain = shape.rank == 2 && mlirTypeIsAF32(elementOf(mlirValueGetType(c))) &&
                 lengths[0].sizes[1] * block == shape.sizes[1] && lengths[1].sizes[0] * block == shape.sizes[1];
  if (!isPlain)
    return tileError(op,
                     "multiplies other than matrices into f32 with a scale for each %ld elements, which has no "
                     "conversion to cuda_tile",
                     (long)block);
  if (hasInstruction(factors, scales, block))
    return exportSetResult(k, op, cudaTileMmaFScaledOpBuild(&k->b, factors[0], factors[1], c, scales[0], scales[1]));
  return exportSetResult(k, op,
                         cudaTileMmaFOpBuild(&k->b, scaled(k, factors[0], scales[0], block, 1),
                                             scaled(k, factors[1], scales[1], block, 0), c));
}

//===--- ops --------------------------------------------------------------------------------===//

static bool onTwo(ExportKernel *k, MlirOperation op, TileUpstream kind, bool *isKnown) {
  MlirValue x = exportGet(k, tileBinaryLhs(op)), y = exportGet(k, tileBinaryRhs(op)), result;
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  if (kind == ArithOp_CmpI)
    return exportSetResult(k, op, cudaTileCompare(k, arithCmpIOpGetPredicateValue(op), x, y));
  if (kind == ArithOp_CmpF)
    return compareFloats(k, op, x, y);
  *isKnown = cudaTileCombine(k, kind, x, y, &result);
  return !*isKnown || exportSetResult(k, op, result);
}

static bool onOne(ExportKernel *k, MlirOperation op, TileUpstream kind, bool *isKnown) {
  BuildUnary build = unaryOf(kind);
  if (!build)
    return cast(k, op, kind, isKnown);
  MlirValue x = exportGet(k, tileOnlyOperand(op));
  return !mlirValueIsNull(x) && exportSetResult(k, op, build(&k->b, x));
}

static bool multiplyAndAdd(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, mathFmaOpGetA(op)), y = exportGet(k, mathFmaOpGetB(op)),
            z = exportGet(k, mathFmaOpGetC(op));
  return !mlirValueIsNull(x) && !mlirValueIsNull(y) && !mlirValueIsNull(z) &&
         exportSetResult(k, op, cudaTileFmaOpBuild(&k->b, x, y, z));
}

// The upper half of an unsigned product is an op; the lower one is muli.
static bool wideProduct(ExportKernel *k, MlirOperation op) {
  MlirValue x = exportGet(k, tileBinaryLhs(op)), y = exportGet(k, tileBinaryRhs(op));
  if (mlirValueIsNull(x) || mlirValueIsNull(y))
    return false;
  exportSet(k, arithMulUIExtendedOpGetLow(op), cudaTileMulIOpBuild(&k->b, x, y));
  exportSet(k, arithMulUIExtendedOpGetHigh(op), cudaTileMulhiIOpBuild(&k->b, x, y));
  return true;
}

bool cudaTileExportArithmetic(void *kernel, MlirOperation op, bool *isKnown) {
  ExportKernel *k = kernel;
  TileUpstream kind = tileUpstreamKind(op);
  *isKnown = true;
  if (kind == ArithOp_Select)
    return choose(k, op);
  if (kind == MathOp_Fma)
    return multiplyAndAdd(k, op);
  if (kind == ArithOp_MulUIExtended)
    return wideProduct(k, op);
  if (tileOpKind(op) == TileOp_Mma)
    return product(k, op);
  if (tileOpKind(op) == TileOp_MmaScaled)
    return scaledProduct(k, op);
  if (tileOpKind(op) == TileOp_ConvertType)
    return convertType(k, op);
  bool isElementwise = arithOpKind(op) != ArithOp_None || mathOpKind(op) != MathOp_None;
  *isKnown = isElementwise && mlirOperationGetNumResults(op) == 1;
  if (*isKnown && mlirOperationGetNumOperands(op) == 2)
    return onTwo(k, op, kind, isKnown);
  if (*isKnown && mlirOperationGetNumOperands(op) == 1)
    return onOne(k, op, kind, isKnown);
  *isKnown = false;
  return true;
}
