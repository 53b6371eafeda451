// Recognizes reductions. See reduction.h.
#include "lib/analysis/reduction.h"

const TileCombiner *tileStructuredMatchReduction(const TileStructured *s, int index, MlirValue *folded) {
  MlirValue accumulator = mlirBlockGetArgument(s->body, s->numInputs + index);
  MlirValue result = mlirOperationGetOperand(mlirBlockGetTerminator(s->body), index);
  MlirOperation op = tileDefiningOp(result);
  const TileCombiner *combiner = tileCombinerOf(tileUpstreamKind(op));
  if (!combiner || !tileHasOneUse(accumulator) || !tileHasOneUse(result)) // a running value that others read is a scan
    return NULL;
  for (int side = 0; side < 2; ++side)
    if (mlirValueEqual(mlirOperationGetOperand(op, side), accumulator)) {
      *folded = mlirOperationGetOperand(op, 1 - side);
      return mlirValueEqual(*folded, accumulator) ? NULL : combiner;
    }
  return NULL;
}
