// linalg.generic ops by their dimensions. See forms.h.
#include "lib/transforms/quantize/forms.h"

#include "lib/ir/support.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/linalg.h"

MlirType tileFormTensor(int rank, const int64_t *shape, MlirType element) {
  return mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
}

MlirType tileFormElement(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
}

MlirOperation tileFormGeneric(TileBuilder *b, int numDims, int reductions, int count, const TileFormOperand *operands,
                              TileBuilder *inside) {
  MlirAttribute maps[MaxFormOperands], none = {NULL};
  MlirValue values[MaxFormOperands];
  MlirType elements[MaxFormOperands];
  for (int i = 0; i <= count; ++i) {
    MlirAffineExpr results[MaxFormRank];
    for (int axis = 0; axis < operands[i].rank; ++axis)
      results[axis] = operands[i].dims[axis] < 0 ? mlirAffineConstantExprGet(b->context, 0)
                                                 : mlirAffineDimExprGet(b->context, operands[i].dims[axis]);
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapGet(b->context, numDims, 0, operands[i].rank, results));
    values[i] = operands[i].value;
    elements[i] = tileFormElement(values[i]);
  }
  MlirRegion region;
  MlirType type = mlirValueGetType(values[count]);
  *inside = tileBuilderInRegion(b, &region, count + 1, elements);
  return linalgGenericOpCreate(b, 1, &type, count, values, 1, &values[count],
                               mlirArrayAttrGet(b->context, count + 1, maps),
                               tileBuildIteratorTypes(b, numDims - reductions, reductions), none, none, region);
}

MlirValue tileFormFilled(TileBuilder *b, MlirValue empty, MlirValue number) {
  TileBuilder inside;
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(empty));
  TileFormOperand operands[] = {{number, 0, {0}}, {empty, rank, {0}}};
  for (int axis = 0; axis < rank; ++axis)
    operands[1].dims[axis] = axis;
  MlirOperation generic = tileFormGeneric(b, rank, 0, 1, operands, &inside);
  MlirValue yielded = mlirBlockGetArgument(inside.block, 0);
  linalgYieldOpBuild(&inside, 1, &yielded);
  return tileOnlyResult(generic);
}

MlirAttribute tileFormCut(const TileBuilder *b, bool isFirst) {
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirAttribute axes[3], groups[2];
  for (int i = 0; i < 3; ++i)
    axes[i] = mlirIntegerAttrGet(i64, i);
  groups[0] = mlirArrayAttrGet(b->context, isFirst ? 2 : 1, axes);
  groups[1] = mlirArrayAttrGet(b->context, isFirst ? 1 : 2, axes + (isFirst ? 2 : 1));
  return mlirArrayAttrGet(b->context, 2, groups);
}
