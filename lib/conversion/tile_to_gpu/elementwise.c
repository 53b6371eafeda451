// Ops that work element by element: arith, math and ub on tiles become the same op on every register. What a machine
// has no instruction for (narrow floats, functions) is left to the passes that follow.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"

#include "lib/ir/emit/number.h"
#include "lib/ir/op_query.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/math.h"
#include "upstream/ub.h"

//===--- tf32 -------------------------------------------------------------------------------===//

// Held as f32: rounded to 10 places, to nearest, ties to even; inf and nan stay.
MlirValue gpuRoundToTf32(Gpu *g, MlirValue value) {
  MlirType f32 = mlirF32TypeGet(g->context);
  MlirValue bits = gpuOp(g, ArithOp_Bitcast, g->i32, value);
  MlirValue odd = gpuAnd(g, gpuShiftRight(g, bits, 13), 1);
  MlirValue rounded = gpuAnd(g, gpuAdd(g, gpuAdd(g, bits, odd), gpuI32(g, 0xfff)), ~(int64_t)0x1fff);
  MlirValue magnitude = gpuAnd(g, bits, 0x7fffffff);
  MlirValue isFinite = gpuCompare(g, ArithCmpI_Slt, magnitude, gpuI32(g, 0x7f800000));
  return gpuOp(g, ArithOp_Bitcast, f32, gpuSelect(g, isFinite, rounded, bits));
}

static MlirValue computeTf32(Gpu *g, MlirOperation op, const MlirValue *operands) {
  MlirType f32 = mlirF32TypeGet(g->context), result = gpuElementType(tileOnlyResultType(op)),
           held = gpuHeldType(g, result);
  MlirValue value = operands[0];
  bool isCast = arithExtFOpIsA(op) || arithTruncFOpIsA(op);
  value = isCast ? tileBuildFloatCast(&g->builder, value, held)
                 : tileOnlyResult(tileBuildLike(&g->builder, op, operands, 1, &held));
  return mlirTypeIsATF32(result) && mlirTypeEqual(held, f32) ? gpuRoundToTf32(g, value) : value;
}

static bool hasTf32(MlirOperation op) {
  bool has = mlirTypeIsATF32(gpuElementType(tileOnlyResultType(op)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    has |= mlirTypeIsATF32(gpuElementType(tileOperandType(op, i)));
  return has && !arithSelectOpIsA(op);
}

//===--- one element ------------------------------------------------------------------------===//

// LLVM 22 has code for it on no GPU of AMD's. What f32 gives is the exact remainder, which bf16 holds. The factors are
// widened bit by bit: LLVM would take arith.extf back.
static bool isRemainderOfBf16(MlirOperation op) {
  return arithRemFOpIsA(op) && mlirTypeIsABF16(gpuElementType(tileOnlyResultType(op)));
}

static MlirValue f32OfBf16(Gpu *g, MlirValue value) {
  MlirValue bits = gpuOp(g, ArithOp_Bitcast, mlirIntegerTypeGet(g->context, 16), value);
  return gpuOp(g, ArithOp_Bitcast, mlirF32TypeGet(g->context), gpuShiftLeft(g, gpuCast(g, bits, g->i32, false), 16));
}

static MlirValue remainderOfBf16(Gpu *g, MlirOperation op, const MlirValue *operands) {
  MlirType f32 = mlirF32TypeGet(g->context);
  MlirValue wide[] = {f32OfBf16(g, operands[0]), f32OfBf16(g, operands[1])};
  MlirValue remainder = tileOnlyResult(tileBuildLike(&g->builder, op, wide, 1, &f32));
  return gpuOp(g, ArithOp_TruncF, mlirValueGetType(operands[0]), remainder);
}

static bool isApproximatePower(const Gpu *g, MlirOperation op) {
  return g->vocabulary->powerOfTwo && mathExp2OpIsA(op) && tileOpAllows(op, TileFastMath_Approximate) &&
         mlirTypeIsAF32(gpuElementType(tileOnlyResultType(op)));
}

static MlirValue compute(Gpu *g, MlirOperation op, const MlirValue *operands) {
  if (isApproximatePower(g, op))
    return g->vocabulary->powerOfTwo(&g->builder, operands[0]);
  if (hasTf32(op))
    return computeTf32(g, op, operands);
  if (isRemainderOfBf16(op))
    return remainderOfBf16(g, op, operands);
  MlirType held = gpuHeldType(g, gpuElementType(tileOnlyResultType(op)));
  return tileOnlyResult(tileBuildLike(&g->builder, op, operands, 1, &held));
}

//===--- constants ----------------------------------------------------------------------------===//

static bool lowerConstant(Gpu *g, MlirOperation op) {
  MlirAttribute value = tileOpAttribute(op, "value");
  MlirValue result = arithConstantOpGetResult(op);
  if (!gpuIsTile(mlirValueGetType(result))) {
    gpuRecordScalar(g, result, gpuConstant(g, value));
    return true;
  }
  if (!mlirAttributeIsADenseElements(value))
    return gpuRefuse(op, "a constant that is not dense");
  if (!mlirDenseElementsAttrIsSplat(value))
    return gpuMustExchange(op);
  gpuRecordSame(g, result, gpuConstant(g, mlirDenseElementsAttrGetSplatValue(value)));
  return true;
}

//===--- tiles ----------------------------------------------------------------------------------===//

// What lies beyond the tile may be 0, by which nothing may be divided.
static MlirValue divisorOf(Gpu *g, MlirType tile, intptr_t reg, MlirValue value) {
  TileLayout layout = gpuLayoutOf(tile);
  if (!gpuHasVoid(&layout, tile, AllAxes))
    return value;
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(tile));
  return gpuSelect(g, gpuIsElement(g, map, tile, AllAxes, reg), value, gpuInteger(g, mlirValueGetType(value), 1));
}

enum { MaxOperands = 3, MaxResults = 4 };

// An op of several results (mulsi_extended) is cloned as it is.
bool gpuLowerElementwise(Gpu *g, MlirOperation op) {
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op), count = 1;
  MlirValue *results[MaxResults], operands[MaxOperands];
  MlirType types[MaxResults];
  if (numOperands > MaxOperands || numResults > MaxResults)
    return gpuRefuse(op, "an op with so many operands or results");
  bool mayDivideVoid = tileOpDividesIntegers(op) && gpuIsTile(tileOnlyResultType(op));
  for (intptr_t i = 0; i < numResults; ++i) {
    types[i] = gpuElementType(tileResultType(op, i));
    count = gpuRegisters(tileResultType(op, i));
    results[i] = gpuRecordTile(g, mlirOperationGetResult(op, i));
  }
  for (intptr_t reg = 0; reg < count; ++reg) {
    for (intptr_t i = 0; i < numOperands; ++i)
      operands[i] = gpuRegisterOf(g, mlirOperationGetOperand(op, i), reg);
    if (mayDivideVoid)
      operands[1] = divisorOf(g, tileOnlyResultType(op), reg, operands[1]);
    if (numResults == 1) {
      results[0][reg] = compute(g, op, operands);
      continue;
    }
    MlirOperation clone = tileBuildLike(&g->builder, op, operands, numResults, types);
    for (intptr_t i = 0; i < numResults; ++i)
      results[i][reg] = mlirOperationGetResult(clone, i);
  }
  return true;
}

const GpuRow gpuElementRows[] = {
    {ArithOp_Constant, lowerConstant}, {UbOp_Poison, gpuLowerElementwise}, {.lower = NULL}};
