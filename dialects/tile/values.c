// What a value may be, whatever its class: tiles and scalars, views, buffers, memrefs. Rank, sizes, element, layout.
// Why: most rules of the dialect say "same shape" or "same element" of values of different classes.
#include "dialects/tile/definitions.h"

// f32 first: whether a type is some float is a look-up, and most are f32.
bool tileTypeIsAScalar(MlirType type) {
  return mlirTypeIsAF32(type) || mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type) || mlirTypeIsAFloat(type);
}

static bool isStatic(const MlirExtShape *shape) {
  for (intptr_t axis = 0; axis < shape->rank; ++axis)
    if (shape->sizes[axis] < 0)
      return false;
  return true;
}

bool tileTypeIsATile(MlirType type) {
  MlirExtShape shape;
  return mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) && shape.rank > 0 && isStatic(&shape) &&
         tileTypeIsAScalar(shape.element);
}

intptr_t tileTypeGetRank(MlirType type) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetRank(type);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetRank(type);
  MlirExtShape shape;
  return mlirExtTypeGetShape(type, &shape) ? shape.rank : 0;
}

int64_t tileTypeGetSize(MlirType type, intptr_t axis) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetSize(type, axis);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetSize(type, axis);
  MlirExtShape shape;
  return mlirExtTypeGetShape(type, &shape) ? shape.sizes[axis] : mlirShapedTypeGetDimSize(type, axis);
}

MlirType tileTypeGetElement(MlirType type) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetElementType(type);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetElementType(type);
  MlirExtShape shape;
  if (mlirExtTypeGetShape(type, &shape))
    return shape.element;
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type; // unranked ones
}

bool tileTypeHasSameShape(MlirType left, MlirType right) {
  if (mlirTypeEqual(left, right))
    return true;
  intptr_t rank = tileTypeGetRank(left);
  if (rank != tileTypeGetRank(right))
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (tileTypeGetSize(left, axis) != tileTypeGetSize(right, axis))
      return false;
  return true;
}

MlirAttribute tileTypeGetLayout(MlirType type) {
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetLayout(type);
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && tileAttributeIsALayout(encoding) ? encoding : mlirAttributeGetNull();
}

MlirType tileTileTypeGet(intptr_t rank, const int64_t *shape, MlirType element, MlirAttribute layoutOrNull) {
  if (rank == 0)
    return element;
  MlirLocation unknown = mlirLocationUnknownGet(mlirTypeGetContext(element));
  return mlirRankedTensorTypeGetChecked(unknown, rank, shape, element, layoutOrNull);
}

MlirType tileTypeWithElement(MlirType type, MlirType element) {
  int64_t shape[TILE_MAX_RANK];
  intptr_t rank = tileTypeGetRank(type);
  if (rank > TILE_MAX_RANK)
    return (MlirType){NULL};
  for (intptr_t axis = 0; axis < rank; ++axis)
    shape[axis] = tileTypeGetSize(type, axis);
  bool isTensor = mlirTypeIsARankedTensor(type);
  return tileTileTypeGet(rank, shape, element,
                         isTensor ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull());
}
