// Finds the products by constant weights. See quantize.h.
#include "lib/support/grow.h"
#include "lib/transforms/quantize/quantize.h"
#include "upstream/arith.h"

static bool match(MlirOperation op, TileWeightedProduct *weighted) {
  *weighted = (TileWeightedProduct){.op = op};
  if (!tileMatchMatrixProduct(op, &weighted->product) || weighted->product.isVector)
    return false;
  MlirOperation constant = tileDefiningOp(mlirOperationGetOperand(op, weighted->product.rhs));
  MlirType type = tileOperandType(op, weighted->product.rhs);
  size_t size;
  if (!arithConstantOpIsA(constant) || !mlirTypeIsAF32(mlirShapedTypeGetElementType(type)) ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(tileOnlyResultType(op))) || !mlirShapedTypeHasStaticShape(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  bool isTransposed = weighted->product.transposeRhs;
  weighted->columns = mlirShapedTypeGetDimSize(type, isTransposed ? 0 : 1);
  weighted->depth = mlirShapedTypeGetDimSize(type, isTransposed ? 1 : 0);
  weighted->weights = (const void *)tileElementsBytes(tileOpAttribute(constant, "value"), &size);
  return weighted->weights && size == (size_t)(weighted->columns * weighted->depth) * sizeof(float) && size > 0;
}

TileWeightedProducts tileCollectWeightedProducts(MlirOperation root) {
  TileWeightedProducts found = {0};
  TileOps ops = tileCollect(root, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    TileWeightedProduct weighted;
    if (!match(ops.items[i], &weighted))
      continue;
    found.items = tessera_grow(found.items, found.count, sizeof *found.items);
    found.items[found.count++] = weighted;
  }
  tileOpsFree(&ops);
  return found;
}
