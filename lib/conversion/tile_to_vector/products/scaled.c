// tile.mma_scaled: both operands times their scales into buffers, then an ordinary product. A scaled element is exact:
// in f32 where both scales are f8E4M3FN (numbers of 4 bits each, far from f32's limits), else in f64, as two scales of
// 2^±127 leave f32's range though their product does not. In f64 the sum is rounded to f32 once, at the end.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"

#include <string.h>

typedef struct Scaling {
  VecRecord *scale;
  intptr_t depth; // the axis along which one scale is for `block` elements
  int64_t block;
} Scaling;

static void scaleVector(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                        int64_t width, void *data) {
  const Scaling *scaling = data;
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = target->shape.element;
  intptr_t last = target->shape.rank - 1;
  VecCoord at[MaxRank];
  memcpy(at, coords, target->shape.rank * sizeof *at);
  at[scaling->depth] = vecCoordDivide(builder, coords[scaling->depth], scaling->block);
  bool isSame = scaling->depth == last; // a block holds whole vectors
  MlirValue scale = vecEvaluate(body, scaling->scale, at, isSame ? -1 : last, isSame ? 0 : width);
  scale = vecConvertElement(builder, scale, element, isSame ? 0 : width);
  MlirValue value = vecConvertElement(builder, vecEvaluate(body, source, coords, last, width), element, width);
  value = vecBuildBinary(builder, "arith.mulf", value, isSame ? vecBuildSplat(builder, scale, width) : scale);
  vecAccessStore(body, target, coords, last, width, value);
}

static VecRecord *scaled(VecLowering *lowering, MlirOperation op, intptr_t operand, intptr_t depth, MlirType element) {
  Scaling scaling = {.depth = depth, .block = vecIntegerAttribute(op, "block")};
  VecRecord *source = vecRecordOf(lowering, mlirOperationGetOperand(op, operand));
  VecRecord *scale = vecRecordOf(lowering, mlirOperationGetOperand(op, operand + 1));
  scaling.scale = vecRecordOfAccess(lowering, vecMaterialize(lowering, scale, element));
  VecShape shape = source->shape;
  shape.element = element;
  VecAccess *target = vecBufferNew(lowering, &shape);
  intptr_t mark = vecSpill(lowering, source, false);
  vecForEachVector(lowering, source, target, scaleVector, &scaling);
  vecUnspill(lowering, mark);
  return vecRecordOfAccess(lowering, target);
}

static bool isScale(MlirOperation op, intptr_t operand) {
  return mlirTypeIsAFloat8E8M0FNU(tileTypeGetElement(tileOperandType(op, operand)));
}

bool vecLowerMmaScaled(VecLowering *lowering, MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(lowering->context);
  MlirType wide = isScale(op, 1) || isScale(op, 3) ? mlirF64TypeGet(lowering->context) : f32;
  VecRecord *accumulator = vecRecordOf(lowering, mlirOperationGetOperand(op, 4));
  intptr_t rank = accumulator->shape.rank;
  VecRecord *lhs = scaled(lowering, op, 0, rank - 1, wide), *rhs = scaled(lowering, op, 2, rank - 2, wide);
  VecRecord *sum = vecRecordOfAccess(lowering, vecMaterialize(lowering, accumulator, wide));
  vecMultiplyInto(lowering, lhs, rhs, sum);
  vecRecordMemory(lowering, mlirOperationGetResult(op, 0),
                  mlirTypeEqual(wide, f32) ? sum->access : vecMaterialize(lowering, sum, f32));
  return true;
}
