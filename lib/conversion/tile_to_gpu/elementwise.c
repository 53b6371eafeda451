// Ops that work element by element: arith, math and ub on tiles become the same op on every register. What a machine
// has no instruction for (narrow floats, functions) is left to the passes that follow.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

static MlirType elementOf(MlirType type) { return gpuIsTile(type) ? tileTypeGetElement(type) : type; }

// A clone of `op` on these operands, with results of the held types.
static MlirOperation cloneOnHeld(Gpu *g, MlirOperation op, const MlirValue *operands, MlirType result) {
  MlirOperationState state = mlirOperationStateGet(tileOpName(op), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, mlirOperationGetNumOperands(op), operands);
  mlirOperationStateAddResults(&state, 1, &result);
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, i);
    mlirOperationStateAddAttributes(&state, 1, &attribute);
  }
  return tileBuilderInsert(&g->builder, mlirOperationCreate(&state));
}

//===--- tf32 -------------------------------------------------------------------------------===//

// Held as f32: rounded to 10 places, to nearest, ties to even; inf and nan stay.
MlirValue gpuRoundToTf32(Gpu *g, MlirValue value) {
  MlirType f32 = mlirF32TypeGet(g->context);
  MlirValue bits = gpuOp(g, "arith.bitcast", g->i32, value);
  MlirValue odd = gpuAnd(g, gpuShiftRight(g, bits, 13), 1);
  MlirValue rounded = gpuAnd(g, gpuAdd(g, gpuAdd(g, bits, odd), gpuI32(g, 0xfff)), ~(int64_t)0x1fff);
  MlirValue magnitude = gpuAnd(g, bits, 0x7fffffff);
  MlirValue isFinite = gpuCompare(g, Compare_Less, magnitude, gpuI32(g, 0x7f800000));
  return gpuOp(g, "arith.bitcast", f32, gpuSelect(g, isFinite, rounded, bits));
}

static MlirValue computeTf32(Gpu *g, MlirOperation op, const MlirValue *operands) {
  MlirType f32 = mlirF32TypeGet(g->context), result = elementOf(tileResultType(op, 0)), held = gpuHeldType(g, result);
  MlirValue value = operands[0];
  if (tileOpIs(op, "arith.extf") || tileOpIs(op, "arith.truncf")) {
    bool isSame = mlirTypeEqual(mlirValueGetType(value), held);
    bool widens = gpuBits(mlirValueGetType(value)) < gpuBits(held);
    if (!isSame)
      value = gpuOp(g, widens ? "arith.extf" : "arith.truncf", held, value);
  } else {
    value = mlirOperationGetResult(cloneOnHeld(g, op, operands, held), 0);
  }
  return mlirTypeIsATF32(result) && mlirTypeEqual(held, f32) ? gpuRoundToTf32(g, value) : value;
}

static bool hasTf32(MlirOperation op) {
  bool has = mlirTypeIsATF32(elementOf(tileResultType(op, 0)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    has |= mlirTypeIsATF32(elementOf(tileOperandType(op, i)));
  return has && !tileOpIs(op, "arith.select");
}

//===--- one element ------------------------------------------------------------------------===//

// LLVM 22 has code for it on no GPU of AMD's. What f32 gives is the exact remainder, which bf16 holds. The factors are
// widened bit by bit: LLVM would take arith.extf back.
static bool isRemainderOfBf16(MlirOperation op) {
  return tileOpIs(op, "arith.remf") && mlirTypeIsABF16(elementOf(tileResultType(op, 0)));
}

static MlirValue f32OfBf16(Gpu *g, MlirValue value) {
  MlirValue bits = gpuOp(g, "arith.bitcast", mlirIntegerTypeGet(g->context, 16), value);
  return gpuOp(g, "arith.bitcast", mlirF32TypeGet(g->context), gpuShiftLeft(g, gpuCast(g, bits, g->i32, false), 16));
}

static MlirValue remainderOfBf16(Gpu *g, MlirOperation op, const MlirValue *operands) {
  MlirType f32 = mlirF32TypeGet(g->context);
  MlirValue wide[] = {f32OfBf16(g, operands[0]), f32OfBf16(g, operands[1])};
  MlirValue remainder = mlirOperationGetResult(cloneOnHeld(g, op, wide, f32), 0);
  return gpuOp(g, "arith.truncf", mlirValueGetType(operands[0]), remainder);
}

static MlirValue compute(Gpu *g, MlirOperation op, const MlirValue *operands) {
  if (hasTf32(op))
    return computeTf32(g, op, operands);
  if (isRemainderOfBf16(op))
    return remainderOfBf16(g, op, operands);
  return mlirOperationGetResult(cloneOnHeld(g, op, operands, gpuHeldType(g, elementOf(tileResultType(op, 0)))), 0);
}

//===--- constants ----------------------------------------------------------------------------===//

// Element number i of a dense attribute.
static MlirAttribute elementAt(MlirAttribute dense, intptr_t i, MlirType element) {
  uint64_t position = (uint64_t)i;
  (void)element;
  return mlirElementsAttrGetValue(dense, 1, &position);
}

static bool isDense(MlirAttribute value) { return mlirAttributeIsADenseElements(value); }

// Elements that differ: each register picks its own from those its coordinates can be, which the thread decides.
static bool lowerTable(Gpu *g, MlirOperation op, MlirAttribute value, MlirValue *registers) {
  MlirType type = tileResultType(op, 0), element = tileTypeGetElement(type);
  int64_t count = tileTypeGetCount(type), bytes = tileStoredBytes(element);
  MlirValue scratch = gpuScratch(g, tileDenseBytes(type));
  MlirType flat = mlirRankedTensorTypeGet(1, &count, element, mlirAttributeGetNull());
  value = mlirDenseElementsAttrReshapeGet(value, flat);
  GpuIf branch = gpuIf(g, gpuCompare(g, Compare_Equal, g->thread, gpuI32(g, 0)), 0, NULL);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue one = gpuConstant(g, elementAt(value, i, element));
    gpuStoreElements(g, element, 1, &one, gpuAddress(g, scratch, gpuI32(g, i * bytes)), bytes);
  }
  gpuEndIf(g, &branch, 0, NULL, NULL);
  gpuBarrier(g);
  gpuReadDense(g, type, scratch, registers);
  return true;
}

static bool lowerConstant(Gpu *g, MlirOperation op) {
  MlirAttribute value = tileOpAttribute(op, "value");
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!gpuIsTile(mlirValueGetType(result))) {
    gpuRecordScalar(g, result, gpuConstant(g, value));
    return true;
  }
  if (!isDense(value))
    return gpuRefuse(op, "a constant that is not dense");
  MlirValue *registers = gpuRecordTile(g, result);
  if (!mlirDenseElementsAttrIsSplat(value))
    return lowerTable(g, op, value, registers);
  MlirValue one = gpuConstant(g, mlirDenseElementsAttrGetSplatValue(value));
  for (intptr_t i = 0; i < gpuRegisters(mlirValueGetType(result)); ++i)
    registers[i] = one;
  return true;
}

//===--- tiles ----------------------------------------------------------------------------------===//

static MlirValue operandAt(Gpu *g, MlirValue operand, intptr_t reg) {
  return gpuIsTile(mlirValueGetType(operand)) ? gpuTile(g, operand)[reg] : gpuScalar(g, operand);
}

// Several results (mulsi_extended) on every register.
static bool lowerSeveral(Gpu *g, MlirOperation op) {
  intptr_t numResults = mlirOperationGetNumResults(op), count = 1;
  MlirValue *results[4];
  if (numResults > 4)
    return gpuRefuse(op, "an op with so many results");
  for (intptr_t i = 0; i < numResults; ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    bool isTile = gpuIsTile(mlirValueGetType(result));
    count = isTile ? gpuRegisters(mlirValueGetType(result)) : 1;
    results[i] = isTile ? gpuRecordTile(g, result) : gpuAllocate(g, sizeof(MlirValue));
  }
  for (intptr_t reg = 0; reg < count; ++reg) {
    MlirValue operands[4];
    MlirType types[4];
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      operands[i] = operandAt(g, mlirOperationGetOperand(op, i), reg);
    for (intptr_t i = 0; i < numResults; ++i)
      types[i] = elementOf(tileResultType(op, i));
    MlirStringRef name = tileOpName(op);
    char text[64] = "";
    memcpy(text, name.data, name.length < sizeof text ? name.length : sizeof text - 1);
    MlirOperation clone =
        tileBuild(&g->builder, text, mlirOperationGetNumOperands(op), operands, numResults, types, NULL, 0, NULL);
    for (intptr_t i = 0; i < numResults; ++i)
      results[i][reg] = mlirOperationGetResult(clone, i);
  }
  for (intptr_t i = 0; i < numResults; ++i)
    if (!gpuIsTile(tileResultType(op, i)))
      gpuRecordScalar(g, mlirOperationGetResult(op, i), results[i][0]);
  return true;
}

static bool divides(MlirOperation op) {
  static const char *const names[] = {"arith.divsi",     "arith.divui",     "arith.remsi",     "arith.remui",
                                      "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (tileOpIs(op, names[i]))
      return true;
  return false;
}

// What lies beyond the tile may be 0, by which nothing may be divided.
static MlirValue divisorOf(Gpu *g, MlirType tile, intptr_t reg, MlirValue value) {
  TileLayout layout = gpuLayoutOf(tile);
  if (!gpuHasVoid(&layout, tile, AllAxes))
    return value;
  const Map *map = gpuMap(g, &layout, tileTypeGetRank(tile));
  return gpuSelect(g, gpuIsElement(g, map, tile, AllAxes, reg), value, gpuInteger(g, mlirValueGetType(value), 1));
}

bool gpuLowerElementwise(Gpu *g, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0), operands[4];
  bool isTile = gpuIsTile(mlirValueGetType(result));
  if (mlirOperationGetNumOperands(op) > 3)
    return gpuRefuse(op, "an op with so many operands");
  if (tileOpIs(op, "arith.constant"))
    return lowerConstant(g, op);
  if (mlirOperationGetNumResults(op) != 1)
    return lowerSeveral(g, op);
  intptr_t count = isTile ? gpuRegisters(mlirValueGetType(result)) : 1;
  MlirValue *registers = isTile ? gpuRecordTile(g, result) : gpuAllocate(g, sizeof *registers);
  for (intptr_t reg = 0; reg < count; ++reg) {
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
      operands[i] = operandAt(g, mlirOperationGetOperand(op, i), reg);
    if (isTile && divides(op))
      operands[1] = divisorOf(g, mlirValueGetType(result), reg, operands[1]);
    registers[reg] = compute(g, op, operands);
  }
  if (!isTile)
    gpuRecordScalar(g, result, registers[0]);
  return true;
}
