// tile.mma_scaled: both operands times their scales into buffers, then an ordinary product. A scaled element is exact:
// in f32 where both scales are f8E4M3FN (numbers of 4 bits each, far from f32's limits), else in f64, as two scales of
// 2^±127 leave f32's range though their product does not. In f64 the sum is rounded to f32 once, at the end.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"

#include <string.h>

typedef struct Scaling {
  Record *scale;
  intptr_t depth; // the axis along which one scale is for `block` elements
  int64_t block;
} Scaling;

static void scaleVector(Body *body, Record *source, const Access *target, const Coord *coords, int64_t width,
                        void *data) {
  const Scaling *scaling = data;
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = target->shape.element;
  intptr_t last = target->shape.rank - 1;
  Coord at[MaxRank];
  memcpy(at, coords, target->shape.rank * sizeof *at);
  at[scaling->depth] = coordDivide(builder, coords[scaling->depth], scaling->block);
  bool isSame = scaling->depth == last; // a block holds whole vectors
  MlirValue scale = evaluate(body, scaling->scale, at, isSame ? -1 : last, isSame ? 0 : width);
  scale = convertElement(builder, scale, element, isSame ? 0 : width);
  MlirValue value = convertElement(builder, evaluate(body, source, coords, last, width), element, width);
  value = buildBinary(builder, "arith.mulf", value, isSame ? buildSplat(builder, scale, width) : scale);
  accessStore(body, target, coords, last, width, value);
}

static Record *scaled(Lowering *lowering, MlirOperation op, intptr_t operand, intptr_t depth, MlirType element) {
  Scaling scaling = {.depth = depth, .block = integerAttribute(op, "block")};
  Record *source = recordOf(lowering, mlirOperationGetOperand(op, operand));
  Record *scale = recordOf(lowering, mlirOperationGetOperand(op, operand + 1));
  scaling.scale = recordOfAccess(lowering, materialize(lowering, scale, element));
  Shape shape = source->shape;
  shape.element = element;
  Access *target = bufferNew(lowering, &shape);
  intptr_t mark = spill(lowering, source, false);
  forEachVector(lowering, source, target, scaleVector, &scaling);
  unspill(lowering, mark);
  return recordOfAccess(lowering, target);
}

static bool isScale(MlirOperation op, intptr_t operand) {
  return mlirTypeIsAFloat8E8M0FNU(tileTypeGetElement(tileOperandType(op, operand)));
}

bool lowerMmaScaled(Lowering *lowering, MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(lowering->context);
  MlirType wide = isScale(op, 1) || isScale(op, 3) ? mlirF64TypeGet(lowering->context) : f32;
  Record *accumulator = recordOf(lowering, mlirOperationGetOperand(op, 4));
  intptr_t rank = accumulator->shape.rank;
  Record *lhs = scaled(lowering, op, 0, rank - 1, wide), *rhs = scaled(lowering, op, 2, rank - 2, wide);
  Record *sum = recordOfAccess(lowering, materialize(lowering, accumulator, wide));
  multiplyInto(lowering, lhs, rhs, sum);
  recordMemory(lowering, mlirOperationGetResult(op, 0),
               mlirTypeEqual(wide, f32) ? sum->access : materialize(lowering, sum, f32));
  return true;
}
