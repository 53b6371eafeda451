// StoredLevel lists of upstream's encodings. See storage.h.
#include "lib/conversion/sparse_tensor_to_tile/storage.h"

#include "lib/ir/support.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/Dialect/SparseTensor.h"

bool sparseLevelTypeIsEncoded(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && mlirAttributeIsASparseTensorEncodingAttr(encoding);
}

//===--- levels -----------------------------------------------------------------===//

static bool readIndex(MlirAffineExpr expression, StoredLevel *level) {
  bool isQuotient = mlirAffineExprIsAFloorDiv(expression);
  level->isRest = mlirAffineExprIsAMod(expression);
  level->by = 1;
  if (isQuotient || level->isRest) {
    MlirAffineExpr by = mlirAffineBinaryOpExprGetRHS(expression);
    expression = mlirAffineBinaryOpExprGetLHS(expression);
    if (!mlirAffineExprIsAConstant(by))
      return false;
    level->by = mlirAffineConstantExprGetValue(by);
  }
  if (!mlirAffineExprIsADim(expression))
    return false;
  level->dim = mlirAffineDimExprGetPosition(expression);
  return true;
}

static bool readKind(MlirSparseTensorLevelType type, StoredLevel *level) {
  enum { AllFormats = 0xff0000 };
  level->isUnique = !(type & MLIR_SPARSE_PROPERTY_NON_UNIQUE);
  level->isOrdered = !(type & MLIR_SPARSE_PROPERTY_NON_ORDERED);
  switch (type & AllFormats) {
  case MLIR_SPARSE_TENSOR_LEVEL_DENSE:
    level->kind = LevelKind_Dense;
    return true;
  case MLIR_SPARSE_TENSOR_LEVEL_COMPRESSED:
    level->kind = LevelKind_Compressed;
    return true;
  case MLIR_SPARSE_TENSOR_LEVEL_LOOSE_COMPRESSED:
    level->kind = LevelKind_Loose;
    return true;
  case MLIR_SPARSE_TENSOR_LEVEL_SINGLETON:
    level->kind = LevelKind_Singleton;
    return true;
  case MLIR_SPARSE_TENSOR_LEVEL_N_OUT_OF_M:
    level->kind = LevelKind_Structured;
    level->n = mlirSparseTensorEncodingAttrGetStructuredN(type);
    return true;
  default:
    return false;
  }
}

// Whether the levels from the first of several positions at one place to the last are singletons; only their
// coordinates stand together.
static bool areEntries(LevelStorage *storage) {
  for (intptr_t i = 1; i < storage->count; ++i)
    if (storage->levels[i].kind != LevelKind_Singleton)
      return false;
  return storage->count > 1 && storage->levels[0].kind == LevelKind_Compressed;
}

static bool hasOddSingleton(const LevelStorage *storage) {
  for (intptr_t i = 0; i < storage->count; ++i)
    if (storage->levels[i].kind == LevelKind_Singleton && (i == 0 || storage->levels[i - 1].kind == LevelKind_Dense))
      return true;
  return false;
}

bool sparseLevelStorageOf(MlirType type, LevelStorage *storage) {
  *storage = (LevelStorage){.type = type};
  if (!mlirTypeIsARankedTensor(type))
    return false;
  storage->rank = mlirShapedTypeGetRank(type);
  storage->element = mlirShapedTypeGetElementType(type);
  if (storage->rank > LevelMax || (!mlirTypeIsAInteger(storage->element) && !mlirTypeIsAFloat(storage->element)))
    return false;
  if (!sparseLevelTypeIsEncoded(type)) {
    storage->numArrays = 1;
    return true;
  }
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  MlirAffineMap map = mlirSparseTensorEncodingAttrGetDimToLvl(encoding);
  storage->count = mlirSparseTensorEncodingGetLvlRank(encoding);
  if (storage->count > LevelMax || !mlirAttributeIsNull(mlirSparseTensorEncodingAttrGetExplicitVal(encoding)) ||
      !mlirAttributeIsNull(mlirSparseTensorEncodingAttrGetImplicitVal(encoding)))
    return false;
  for (intptr_t i = 0; i < storage->count; ++i) {
    StoredLevel *level = &storage->levels[i];
    *level = (StoredLevel){.dim = i, .by = 1, .positions = -1, .coordinates = -1};
    if (!readKind(mlirSparseTensorEncodingAttrGetLvlType(encoding, i), level) ||
        (!mlirAffineMapIsNull(map) && !readIndex(mlirAffineMapGetResult(map, i), level)))
      return false;
    if (level->kind == LevelKind_Compressed || level->kind == LevelKind_Loose)
      level->positions = storage->numArrays++;
    if (level->kind != LevelKind_Dense)
      level->coordinates = storage->numArrays++;
  }
  storage->values = storage->numArrays++;
  storage->isTogether =
      areEntries(storage) && !(mlirSparseTensorEncodingAttrGetLvlType(encoding, 1) & MLIR_SPARSE_PROPERTY_SOA);
  return !hasOddSingleton(storage);
}

bool sparseLevelStorageIsUnique(const LevelStorage *storage) {
  for (intptr_t i = 0; i < storage->count; ++i)
    if (!storage->levels[i].isUnique || !storage->levels[i].isOrdered)
      return false;
  return true;
}

//===--- arrays -----------------------------------------------------------------===//

MlirType sparseLevelArrayType(const LevelStorage *storage, intptr_t index) {
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  MlirContext context = mlirTypeGetContext(storage->type);
  if (!storage->count)
    return storage->type;
  return mlirRankedTensorTypeGet(1, open, index == storage->values ? storage->element : mlirIntegerTypeGet(context, 64),
                                 mlirAttributeGetNull());
}

MlirValue sparseLevelSize(TileBuilder *builder, const StoredLevel *level, const MlirValue *sizes) {
  if (level->isRest)
    return tileBuildIndex(builder, level->by);
  if (level->by == 1)
    return sizes[level->dim];
  return tileBuildCeilDiv(builder, sizes[level->dim], tileBuildIndex(builder, level->by));
}
