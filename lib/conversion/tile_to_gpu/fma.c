// tile.mma by the atom "fma": every thread multiplies and adds for the elements of the accumulator that it has. Factors
// come from its own registers; tile-exchange-in-shared-memory brings them there.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"
#include "upstream/math.h"

#include <string.h>

typedef struct Side {
  MlirType type;
  const MlirValue *registers;
  bool isLeft;
  intptr_t batchAxes;
} Side;

typedef struct Fma {
  Side sides[2];
  MlirType type, sum; // of the accumulator
  intptr_t count;
  int64_t depth;
} Fma;

//===--- one multiply-add -----------------------------------------------------------------------===//

// Exact: the accumulator's type is at least as wide, but for 8-bit floats into f16, which has all their numbers.
static MlirValue widen(Gpu *g, MlirValue value, MlirType element, MlirType sum) {
  MlirType held = gpuHeldType(g, element);
  if (mlirTypeEqual(held, sum))
    return value;
  return mlirTypeIsAFloat(sum) ? gpuOp(g, ArithOp_ExtF, sum, value) : gpuCast(g, value, sum, true);
}

static MlirValue multiplyAdd(Gpu *g, MlirValue a, MlirValue b, MlirValue c) {
  MlirType type = mlirValueGetType(c);
  if (mlirTypeIsAFloat(type))
    return mathFmaOpBuild(&g->builder, a, b, c);
  return gpuBinary(g, ArithOp_AddI, gpuBinary(g, ArithOp_MulI, a, b), c);
}

//===--- from registers ---------------------------------------------------------------------------===//

// Entry k of the result: which of the side's registers feeds each register of the accumulator at step k. Null: in some
// thread none does.
static intptr_t **tablesOf(Gpu *g, const Fma *fma, MlirOperation op, intptr_t operand) {
  intptr_t **tables = gpuAllocate(g, (size_t)fma->depth * sizeof *tables);
  for (int64_t k = 0; k < fma->depth; ++k)
    if (!(tables[k] = gpuMoves(g, op, operand, k)))
      return NULL;
  return tables;
}

static void multiplyRegisters(Gpu *g, const Fma *fma, intptr_t **const *tables, MlirValue *sums) {
  MlirType elements[2] = {tileTypeGetElement(fma->sides[0].type), tileTypeGetElement(fma->sides[1].type)};
  for (int64_t k = 0; k < fma->depth; ++k)
    for (intptr_t reg = 0; reg < fma->count; ++reg) {
      MlirValue factor[2];
      for (int i = 0; i < 2; ++i)
        factor[i] = widen(g, fma->sides[i].registers[tables[i][k][reg]], elements[i], fma->sum);
      sums[reg] = multiplyAdd(g, factor[0], factor[1], sums[reg]);
    }
}

//===--- the op -----------------------------------------------------------------------------------------===//

bool gpuLowerFma(Gpu *g, MlirOperation op) {
  MlirValue accumulator = tileOpOperand(op, "accumulator"), result = tileMmaOpGetResult(op);
  Fma fma = {.type = mlirValueGetType(accumulator)};
  fma.sum = tileTypeGetElement(fma.type);
  fma.count = gpuRegisters(fma.type);
  for (int i = 0; i < 2; ++i) {
    MlirValue operand = tileOpOperand(op, i ? "rhs" : "lhs");
    fma.sides[i] = (Side){mlirValueGetType(operand), gpuTile(g, operand), !i, tileTypeGetRank(fma.type) - 2};
  }
  fma.depth = tileTypeGetSize(fma.sides[0].type, tileTypeGetRank(fma.type) - 1);
  MlirValue *sums = gpuRecordTile(g, result);
  memcpy(sums, gpuTile(g, accumulator), (size_t)fma.count * sizeof *sums);
  intptr_t **tables[2] = {tablesOf(g, &fma, op, 0), NULL};
  tables[1] = tables[0] ? tablesOf(g, &fma, op, 1) : NULL;
  if (!tables[1])
    return gpuRefuse(op, "a product whose threads do not hold all factors that their sums need");
  multiplyRegisters(g, &fma, tables, sums);
  return true;
}

//===--- scaled operands ----------------------------------------------------------------------------------===//

// Element and scale, as f64: no product of the four leaves its range, and none is rounded.
static MlirValue scaled(Gpu *g, const Side *element, const Side *scale, intptr_t at, intptr_t scaleAt) {
  MlirType wide = mlirF64TypeGet(g->context);
  MlirValue value = gpuOp(g, ArithOp_ExtF, wide, element->registers[at]);
  return gpuBinary(g, ArithOp_MulF, value, gpuOp(g, ArithOp_ExtF, wide, scale->registers[scaleAt]));
}

static Side sideOf(Gpu *g, MlirOperation op, intptr_t position, bool isLeft, intptr_t batchAxes) {
  MlirValue operand = mlirOperationGetOperand(op, position);
  return (Side){mlirValueGetType(operand), gpuTile(g, operand), isLeft, batchAxes};
}

static MlirValue sumScaled(Gpu *g, MlirValue left, MlirValue right, MlirValue sum) {
  MlirType type = mlirValueGetType(sum), wide = mlirF64TypeGet(g->context);
  MlirValue more = multiplyAdd(g, left, right, gpuOp(g, ArithOp_ExtF, wide, sum));
  return gpuOp(g, ArithOp_TruncF, type, more);
}

bool gpuLowerMmaScaled(Gpu *g, MlirOperation op) {
  static const intptr_t positions[] = {0, 2, 1, 3}; // factors, then their scales
  MlirValue accumulator = tileOpOperand(op, "accumulator");
  Fma fma = {.type = mlirValueGetType(accumulator), .count = gpuRegisters(mlirValueGetType(accumulator))};
  intptr_t batchAxes = tileTypeGetRank(fma.type) - 2, **tables[4];
  Side sides[4];
  if (!tileKeywordIs(op, "atom", "fma"))
    return gpuRefuse(op, "scaled products by an instruction of the machine");
  fma.depth = tileTypeGetSize(tileMmaScaledOpGetLhsType(op), batchAxes + 1);
  for (int i = 0; i < 4; ++i) {
    sides[i] = sideOf(g, op, positions[i], i % 2 == 0, batchAxes);
    tables[i] = tablesOf(g, &fma, op, positions[i]);
    if (!tables[i])
      return gpuRefuse(op, "a scaled product whose threads do not hold all elements that their sums read");
  }
  MlirValue *sums = gpuRecordTile(g, tileMmaScaledOpGetResult(op));
  memcpy(sums, gpuTile(g, accumulator), (size_t)fma.count * sizeof *sums);
  for (int64_t k = 0; k < fma.depth; ++k)
    for (intptr_t reg = 0; reg < fma.count; ++reg) {
      MlirValue left = scaled(g, &sides[0], &sides[2], tables[0][k][reg], tables[2][k][reg]);
      MlirValue right = scaled(g, &sides[1], &sides[3], tables[1][k][reg], tables[3][k][reg]);
      sums[reg] = sumScaled(g, left, right, sums[reg]);
    }
  return true;
}
