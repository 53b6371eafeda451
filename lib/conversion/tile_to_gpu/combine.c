// What combines two elements of a reduce or scan: the op that the short form names, or the region, whose ops are
// lowered once for each pair.
#include "lib/conversion/tile_to_gpu/compute.h"

#include "dialects/tile/combiner.h"
#include "dialects/tile/questions.h"

static MlirBlock bodyOf(MlirOperation op) {
  return mlirRegionGetFirstBlock(tileReduceOpIsA(op) ? tileReduceOpGetBody(op) : tileScanOpGetBody(op));
}

bool gpuCombinerOf(MlirOperation op, intptr_t count, Combiner *combiner) {
  *combiner = (Combiner){.op = op, .count = count};
  if (count > MaxCombined)
    return gpuRefuse(op, "more than 8 tiles combined at once");
  for (intptr_t i = 0; i < count; ++i)
    combiner->elements[i] = tileTypeGetElement(tileOperandType(op, i));
  return true;
}

static bool combineByName(Gpu *g, const Combiner *combiner, const MlirValue *left, const MlirValue *right,
                          MlirValue *result) {
  TileUpstream operation = tileUpstreamKindOfName(tileKeywordOf(combiner->op, "operation"));
  for (intptr_t i = 0; i < combiner->count; ++i)
    result[i] = gpuBinary(g, operation, left[i], right[i]);
  return true;
}

bool gpuCombine(Gpu *g, const Combiner *combiner, const MlirValue *left, const MlirValue *right, MlirValue *result) {
  MlirBlock body = bodyOf(combiner->op);
  if (mlirBlockIsNull(body))
    return combineByName(g, combiner, left, right, result);
  for (intptr_t i = 0; i < combiner->count; ++i) {
    gpuRecordScalar(g, mlirBlockGetArgument(body, i), left[i]);
    gpuRecordScalar(g, mlirBlockGetArgument(body, combiner->count + i), right[i]);
  }
  if (!gpuLowerBlock(g, body))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < combiner->count; ++i)
    result[i] = gpuScalar(g, mlirOperationGetOperand(yield, i));
  return true;
}

MlirValue gpuNeutral(Gpu *g, const Combiner *combiner, intptr_t input) {
  MlirAttribute given = tileOpAttribute(combiner->op, "neutral"), value = {NULL};
  if (!mlirAttributeIsNull(given))
    value = mlirArrayAttrGetElement(given, input);
  else if (tileHas(combiner->op, "operation"))
    value = tileCombinerNeutral(tileCombinerFind(tileKeywordOf(combiner->op, "operation")), combiner->elements[input]);
  return mlirAttributeIsNull(value) ? (MlirValue){NULL} : gpuConstant(g, value);
}
