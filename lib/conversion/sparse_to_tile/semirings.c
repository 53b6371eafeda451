// Semirings as ops of arith, and what hooks of the templates in kernels/ build: the parts of kernels that differ from
// one use to another.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/sparse_to_tile/lowerings.h"

typedef struct Row {
  const char *name;
  TileUpstream add, addf, multiply, multiplyf;
} Row;
static const Row rows[] = {
    {"add_mul", ArithOp_AddI, ArithOp_AddF, ArithOp_MulI, ArithOp_MulF},
    {"max_plus", ArithOp_MaxSI, ArithOp_MaximumF, ArithOp_AddI, ArithOp_AddF},
    {"min_plus", ArithOp_MinSI, ArithOp_MinimumF, ArithOp_AddI, ArithOp_AddF},
    {"max_mul", ArithOp_MaxSI, ArithOp_MaximumF, ArithOp_MulI, ArithOp_MulF},
    {"min_mul", ArithOp_MinSI, ArithOp_MinimumF, ArithOp_MulI, ArithOp_MulF},
    {"or_and", ArithOp_OrI, TileUpstream_None, ArithOp_AndI, TileUpstream_None},
    {"mean_mul", ArithOp_AddI, ArithOp_AddF, ArithOp_MulI, ArithOp_MulF},
};
// sparse.reduce combines by the ⊕ of a semiring.
static const struct {
  const char *combine, *semiring;
} combines[] = {{"add", "add_mul"}, {"max", "max_mul"}, {"min", "min_mul"}, {"mean", "mean_mul"}};

static SparseSemiring semiringNamed(MlirStringRef name, MlirType element) {
  const Row *row = rows;
  while (!tileStringEquals(name, row->name))
    ++row;
  bool isFloat = mlirTypeIsAFloat(element), isMean = tileStringEquals(name, "mean_mul");
  return (SparseSemiring){.add = isFloat ? row->addf : row->add,
                          .multiply = isFloat ? row->multiplyf : row->multiply,
                          .isMean = isMean,
                          .isSum = isMean || row == rows};
}

SparseSemiring sparseSemiring(MlirOperation op, MlirType element) {
  MlirAttribute named = tileOpAttribute(op, "semiring"), combine = tileOpAttribute(op, "combine");
  for (size_t i = 0; !mlirAttributeIsNull(combine) && i < sizeof combines / sizeof *combines; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(combine), combines[i].combine))
      return semiringNamed(tileString(combines[i].semiring), element);
  return semiringNamed(!mlirAttributeIsNull(named) ? mlirStringAttrGetValue(named) : tileString("add_mul"), element);
}

TileUpstream sparseWidenOp(MlirType from, MlirType to) {
  if (mlirTypeEqual(from, to))
    return ArithOp_Bitcast; // folds
  return mlirTypeIsAFloat(from) ? ArithOp_ExtF : ArithOp_ExtSI;
}

static bool isFloat(MlirType type) {
  return mlirTypeIsAFloat(mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type);
}

//===--- hooks: arithmetic ---------------------------------------------------------===//

static MlirValue buildStep(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseSemiring *semiring = data;
  MlirValue acc = operands[0], lhs = operands[1], rhs = operands[2];
  if (semiring->isSum && isFloat(result))
    return mathFmaOpBuild(b, lhs, rhs, acc);
  return tileBuildBinary(b, semiring->add, acc, tileBuildBinary(b, semiring->multiply, lhs, rhs));
}

TileHook sparseHookStep(const SparseSemiring *semiring) { return (TileHook){buildStep, semiring}; }

static MlirValue buildFinish(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseSemiring *semiring = data;
  MlirValue count = operands[1];
  bool isShaped = mlirTypeIsAShaped(result);
  MlirType element = isShaped ? mlirShapedTypeGetElementType(result) : result;
  if (!semiring->isMean)
    return operands[0];
  if (!mlirTypeEqual(element, mlirValueGetType(count)))
    count = tileBuildCast(b, isFloat(element) ? ArithOp_SIToFP : ArithOp_TruncI, count, element);
  if (isShaped)
    count = tileBroadcastOpBuild(b, result, count);
  return tileBuildBinary(b, isFloat(element) ? ArithOp_DivF : ArithOp_DivSI, operands[0], count);
}

TileHook sparseHookFinish(const SparseSemiring *semiring) { return (TileHook){buildFinish, semiring}; }

static MlirValue buildDiffers(TileBuilder *b, MlirType result, const MlirValue *operands, const void *unused) {
  MlirValue x = operands[0], y = operands[1];
  return isFloat(mlirValueGetType(x)) ? arithCmpFOpBuild(b, x, y, ArithCmpF_Une)
                                      : arithCmpIOpBuild(b, x, y, ArithCmpI_Ne);
}

const TileHook sparseHookDiffers = {buildDiffers, NULL};

//===--- hooks: memory -------------------------------------------------------------===//

static MlirValue buildPut(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  int axis = *(const int *)data;
  const MlirValue place[] = {operands[2 + axis], operands[3 - axis]};
  memrefStoreOpCreate(b, operands[0], operands[1], 2, place, mlirAttributeGetNull(), mlirAttributeGetNull());
  return (MlirValue){NULL};
}

TileHook sparseHookPut(const int *axis) { return (TileHook){buildPut, axis}; }

MlirValue sparseBuildLoad(TileBuilder *b, MlirType result, MlirValue source, intptr_t count, const int64_t *fixed,
                          const MlirValue *indices, MlirValue tile) {
  const int64_t size = mlirShapedTypeGetDimSize(result, 0);
  const TileViewSpec spec = {.rank = 1, .shape = &size, .element = mlirShapedTypeGetElementType(result)};
  MlirAttribute axes = mlirDenseI64ArrayGet(b->context, count, fixed);
  MlirValue view = tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), source, count, indices, axes);
  return tileLoadOpBuild(b, result, view, 1, &tile);
}
