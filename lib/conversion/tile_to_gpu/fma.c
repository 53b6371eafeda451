// tile.mma by the atom "fma": every thread multiplies and adds for the elements of the accumulator that it has. Factors
// come from its own registers; tile-exchange-in-shared-memory brings them there.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"
#include "upstream/math.h"

#include <string.h>

// One of the tiles that are multiplied: a factor, or its scales.
typedef struct Factor {
  const MlirValue *registers;
  intptr_t **tables; // by step of k: which of the registers each register of the accumulator takes
} Factor;

// Reads, for each `step` of k, the part at `offset`.
static bool readFactor(Gpu *g, MlirOperation op, intptr_t position, int64_t depth, int64_t step, int64_t offset,
                       Factor *factor) {
  factor->registers = gpuTile(g, mlirOperationGetOperand(op, position));
  factor->tables = gpuAllocate(g, (size_t)depth * sizeof *factor->tables);
  for (int64_t k = 0; k < depth; ++k)
    if (!(factor->tables[k] = gpuMoves(g, op, position, k / step * step + offset)))
      return gpuRefuse(op, "a product whose threads do not hold all elements that their sums need");
  return true;
}

// Exact: `sum` is at least as wide, but for 8-bit floats into f16, which has all their numbers.
static MlirValue widen(Gpu *g, MlirValue value, MlirType sum) {
  if (mlirTypeEqual(mlirValueGetType(value), sum))
    return value;
  return mlirTypeIsAFloat(sum) ? gpuOp(g, ArithOp_ExtF, sum, value) : gpuCast(g, value, sum, true);
}

static MlirValue multiplyAdd(Gpu *g, MlirValue a, MlirValue b, MlirValue c) {
  if (mlirTypeIsAFloat(mlirValueGetType(c)))
    return mathFmaOpBuild(&g->builder, a, b, c);
  return gpuBinary(g, ArithOp_AddI, gpuBinary(g, ArithOp_MulI, a, b), c);
}

// Elements and scales are multiplied as f64: no product of the four leaves its range, and none is rounded.
bool gpuLowerFma(Gpu *g, MlirOperation op) {
  static const intptr_t plain[] = {0, 1}, scaled[] = {0, 2, 1, 3}; // the factors, then their scales
  bool isScaled = tileMmaScaledOpIsA(op);
  MlirValue accumulator = tileOpOperand(op, "accumulator"), *sums = gpuRecordTile(g, tileOnlyResult(op));
  MlirType type = mlirValueGetType(accumulator), sum = gpuHeldType(g, tileTypeGetElement(type));
  MlirType wide = isScaled ? mlirF64TypeGet(g->context) : sum;
  int64_t depth = tileTypeGetSize(tileFirstOperandType(op), tileTypeGetRank(type) - 1);
  Factor factors[4], rest[4]; // of a scale that is two numbers, the second one
  for (int i = 0; i < (isScaled ? 4 : 2); ++i) {
    intptr_t position = isScaled ? scaled[i] : plain[i];
    bool isPair = i > 1 && tileScaleParts(tileOperandType(op, position)) > 1;
    int64_t step = isPair ? tileMmaScaledOpGetBlockValue(op) : 1;
    rest[i].tables = NULL;
    if (!readFactor(g, op, position, depth, step, 0, &factors[i]) ||
        (isPair && !readFactor(g, op, position, depth, step, step / 2, &rest[i])))
      return false;
  }
  memcpy(sums, gpuTile(g, accumulator), (size_t)gpuRegisters(type) * sizeof *sums);
  for (int64_t k = 0; k < depth; ++k)
    for (intptr_t reg = 0; reg < gpuRegisters(type); ++reg) {
      MlirValue values[4];
      for (int i = 0; i < (isScaled ? 4 : 2); ++i)
        values[i] = widen(g, factors[i].registers[factors[i].tables[k][reg]], wide);
      for (int i = 2; isScaled && i < 4; ++i)
        if (rest[i].tables)
          values[i] = gpuBinary(g, ArithOp_MulF, values[i], widen(g, rest[i].registers[rest[i].tables[k][reg]], wide));
      for (int i = 0; isScaled && i < 2; ++i)
        values[i] = gpuBinary(g, ArithOp_MulF, values[i], values[2 + i]);
      MlirValue next = multiplyAdd(g, values[0], values[1], widen(g, sums[reg], wide));
      sums[reg] = isScaled ? gpuOp(g, ArithOp_TruncF, sum, next) : next;
    }
  return true;
}
