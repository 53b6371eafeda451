// Block scales of tile.mma_scaled: the sum of a block times its two scales, added to the accumulator.
//
// A scale of f8E8M0FNU is 2^-127 to 2^127. Two of them leave the range of f32 although their product with the sum does
// not, so each scale is two factors, 2^floor(e / 2) and the rest. The sum is multiplied by the first factor of one
// scale times the second one of the other, and then the other way around: neither of these numbers leaves the range,
// and the sum is rounded in the last step only. Scales of f8E4M3FN are multiplied as they are: their product has 8
// bits.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/emit/number.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

enum { Left, Right, LhsScale = 1, RhsScale = 3, QuietNan = 0x7fc00000 };

static bool isPower(const GpuScale *scale) { return mlirTypeIsAFloat8E8M0FNU(scale->element); }

static bool readScale(Gpu *g, MlirOperation op, intptr_t position, GpuScales *scales, GpuScale *scale) {
  MlirType type = tileOperandType(op, position);
  size_t registers = (size_t)gpuRegisters(type);
  scale->registers = gpuTile(g, mlirOperationGetOperand(op, position));
  scale->element = tileTypeGetElement(type);
  scale->factor[0] = gpuAllocate(g, registers * sizeof *scale->factor[0]);
  scale->factor[1] = gpuAllocate(g, registers * sizeof *scale->factor[1]);
  scale->parts = tileScaleParts(type);
  int64_t count = scales->count * scale->parts;
  scale->tables = gpuAllocate(g, (size_t)count * sizeof *scale->tables);
  for (int64_t i = 0; i < count; ++i)
    if (!(scale->tables[i] = gpuMoves(g, op, position, i * scales->block / scale->parts)))
      return gpuRefuse(op, "a product whose threads do not hold the scales of their sums");
  return true;
}

bool gpuReadScales(Gpu *g, MlirOperation op, GpuScales *scales) {
  MlirType lhs = tileMmaScaledOpGetLhsType(op);
  memset(scales, 0, sizeof *scales);
  scales->block = tileMmaScaledOpGetBlockValue(op);
  scales->count = (uint32_t)(tileTypeGetSize(lhs, tileTypeGetRank(lhs) - 1) / scales->block);
  return readScale(g, op, LhsScale, scales, &scales->side[Left]) &&
         readScale(g, op, RhsScale, scales, &scales->side[Right]);
}

// 2^(field - 127).
static MlirValue powerOf(Gpu *g, MlirValue field) {
  return gpuOp(g, ArithOp_Bitcast, mlirF32TypeGet(g->context), gpuBinary(g, ArithOp_ShLI, field, gpuI32(g, 23)));
}

// Its exponent is byte - 127: floor of half of it is ceil(byte / 2) - 64. 255 is nan.
static void splitPower(Gpu *g, MlirValue scale, MlirValue factors[2]) {
  MlirValue byte = gpuCast(g, tileBuildBits(&g->builder, scale), g->i32, false), one = gpuI32(g, 1);
  MlirValue up = gpuBinary(g, ArithOp_ShRUI, gpuBinary(g, ArithOp_AddI, byte, one), one);
  MlirValue down = gpuBinary(g, ArithOp_ShRUI, byte, one);
  MlirValue isNan = gpuCompare(g, ArithCmpI_Eq, byte, gpuI32(g, 255));
  MlirValue nan = gpuOp(g, ArithOp_Bitcast, mlirF32TypeGet(g->context), gpuI32(g, QuietNan));
  factors[0] = gpuSelect(g, isNan, nan, powerOf(g, gpuBinary(g, ArithOp_AddI, up, gpuI32(g, 127 - 64))));
  factors[1] = powerOf(g, gpuBinary(g, ArithOp_AddI, down, gpuI32(g, 127 - 63)));
}

// The two factors of the scale that the accumulator's register takes, computed once for all of them; of a scale of
// f8E4M3FN the first is the scale, and the second null.
static void factorsOf(Gpu *g, GpuScale *scale, uint32_t block, intptr_t reg, MlirValue factors[2]) {
  for (int64_t i = 0; scale->parts > 1 && i < scale->parts; ++i)
    factors[i] = scale->registers[scale->tables[block * scale->parts + i][reg]];
  if (scale->parts > 1)
    return;
  intptr_t at = scale->tables[block][reg];
  if (mlirValueIsNull(scale->factor[0][at])) {
    if (isPower(scale))
      splitPower(g, scale->registers[at], factors);
    else
      factors[0] = gpuOp(g, ArithOp_ExtF, mlirF32TypeGet(g->context), scale->registers[at]);
    scale->factor[0][at] = factors[0];
    scale->factor[1][at] = isPower(scale) ? factors[1] : (MlirValue){NULL};
  }
  factors[0] = scale->factor[0][at];
  factors[1] = scale->factor[1][at];
}

// `b` null: a.
static MlirValue product(Gpu *g, MlirValue a, MlirValue b) {
  return mlirValueIsNull(b) ? a : gpuBinary(g, ArithOp_MulF, a, b);
}

MlirValue gpuAddScaled(Gpu *g, GpuScales *scales, uint32_t block, intptr_t reg, MlirValue sum, MlirValue to) {
  MlirValue a[2], b[2];
  factorsOf(g, &scales->side[Left], block, reg, a);
  factorsOf(g, &scales->side[Right], block, reg, b);
  if (mlirValueIsNull(a[1]) && mlirValueIsNull(b[1]))
    return mathFmaOpBuild(&g->builder, sum, product(g, a[0], b[0]), to);
  MlirValue first = product(g, a[0], b[1]), second = product(g, b[0], a[1]);
  return mathFmaOpBuild(&g->builder, product(g, sum, first), second, to);
}
