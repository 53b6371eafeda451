// tile.mma_scaled: both operands are multiplied by their scales into buffers, then an ordinary product follows. A
// scaled element is exact: in f32 if both scales are f8E4M3FN (numbers of 4 bits each, far from the limits of f32),
// else in f64, because two scales of 2^±127 leave the range of f32 although their product does not. In f64 the sum is
// rounded to f32 once, at the end.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "dialects/tile/questions.h"

#include <string.h>

typedef struct Scaling {
  VecRecord *scale;
  intptr_t depth;       // the axis along which one scale is for `block` elements
  int64_t block, parts; // how many numbers a scale is the product of
} Scaling;

static void scaleVector(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                        int64_t width, void *data) {
  const Scaling *scaling = data;
  TileBuilder *builder = &body->lowering->builder;
  MlirType element = target->shape.element;
  intptr_t last = target->shape.rank - 1;
  VecCoord at[MaxRank];
  memcpy(at, coords, target->shape.rank * sizeof *at);
  VecCoord first =
      vecCoordTimes(builder, vecCoordDivide(builder, coords[scaling->depth], scaling->block), scaling->parts);
  bool isSame = scaling->depth == last; // a block holds whole vectors
  MlirValue value = vecConvertElement(builder, vecEvaluate(body, source, coords, last, width), element, width);
  for (int64_t i = 0; i < scaling->parts; ++i) {
    at[scaling->depth] = vecCoordPlus(first, i);
    MlirValue scale = vecEvaluate(body, scaling->scale, at, isSame ? -1 : last, isSame ? 0 : width);
    scale = vecConvertElement(builder, scale, element, isSame ? 0 : width);
    value = arithMulFOpBuild(builder, value, isSame ? vecBuildSplat(builder, scale, width) : scale);
  }
  vecAccessStore(body, target, coords, last, width, value);
}

static VecRecord *scaled(VecLowering *lowering, VecRecord *source, MlirValue scale, Scaling scaling, MlirType element) {
  VecAccess *scales = vecMaterialize(lowering, vecRecordOf(lowering, scale), element);
  scaling.scale = vecRecordOfAccess(lowering, scales);
  scaling.parts = tileScaleParts(mlirValueGetType(scale));
  VecShape shape = source->shape;
  shape.element = element;
  VecAccess *target = vecBufferNew(lowering, &shape);
  intptr_t mark = vecSpill(lowering, source, false);
  vecForEachVector(lowering, source, target, scaleVector, &scaling);
  vecUnspill(lowering, mark);
  return vecRecordOfAccess(lowering, target);
}

static bool isWide(MlirValue scale) { return !mlirTypeIsAFloat8E4M3FN(tileTypeGetElement(mlirValueGetType(scale))); }

bool vecLowerMmaScaled(VecLowering *lowering, MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(lowering->context);
  MlirValue lhsScale = tileMmaScaledOpGetLhsScale(op), rhsScale = tileMmaScaledOpGetRhsScale(op);
  MlirType wide = isWide(lhsScale) || isWide(rhsScale) ? mlirF64TypeGet(lowering->context) : f32;
  VecRecord *accumulator = vecRecordOf(lowering, tileMmaScaledOpGetAccumulator(op));
  VecRecord *lhs = vecRecordOf(lowering, tileMmaScaledOpGetLhs(op));
  VecRecord *rhs = vecRecordOf(lowering, tileMmaScaledOpGetRhs(op));
  Scaling alongColumns = {.depth = accumulator->shape.rank - 1, .block = tileMmaScaledOpGetBlockValue(op)};
  Scaling alongRows = {.depth = accumulator->shape.rank - 2, .block = alongColumns.block};
  lhs = scaled(lowering, lhs, lhsScale, alongColumns, wide);
  rhs = scaled(lowering, rhs, rhsScale, alongRows, wide);
  VecRecord *sum = vecRecordOfAccess(lowering, vecMaterialize(lowering, accumulator, wide));
  vecMultiplyInto(lowering, lhs, rhs, sum);
  vecRecordMemory(lowering, tileMmaScaledOpGetResult(op),
                  mlirTypeEqual(wide, f32) ? sum->access : vecMaterialize(lowering, sum, f32));
  return true;
}
