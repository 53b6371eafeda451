// Constant weights of products, their elements, their windows. See weights.h.
#include "lib/transforms/sparsify/weights.h"

#include <math.h>
#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "lib/support/f16.h"
#include "upstream/arith.h"

//===--- elements -----------------------------------------------------------===//

bool sparseWeightsIsReadable(MlirType element) {
  unsigned bits = tileElementWidth(element);
  bool isKnown = mlirTypeIsAInteger(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element) ||
                 mlirTypeIsAF32(element) || mlirTypeIsAF64(element);
  return isKnown && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
}

bool sparseWeightsRead(MlirValue value, SparseWeights *weights) {
  MlirOperation constant = tileDefiningOp(value);
  MlirAttribute data = arithConstantOpIsA(constant) ? arithConstantOpGetValue(constant) : mlirAttributeGetNull();
  MlirType type = mlirValueGetType(value);
  if (mlirAttributeIsNull(data) || !mlirAttributeIsADenseElements(data) || !mlirTypeIsARankedTensor(type) ||
      mlirShapedTypeGetRank(type) != 2 || !mlirShapedTypeHasStaticShape(type) ||
      !sparseWeightsIsReadable(mlirShapedTypeGetElementType(type)))
    return false;
  size_t width = tileElementWidth(mlirShapedTypeGetElementType(type)) / 8;
  *weights = (SparseWeights){type,
                             mlirShapedTypeGetDimSize(type, 0),
                             mlirShapedTypeGetDimSize(type, 1),
                             width,
                             mlirDenseElementsAttrIsSplat(data) ? 0 : width,
                             mlirDenseElementsAttrGetRawData(data)};
  return true;
}

static uint64_t bitsAt(const SparseWeights *weights, int64_t row, int64_t column) {
  uint64_t bits = 0;
  memcpy(&bits, weights->bytes + (size_t)(row * weights->columns + column) * weights->stride, weights->width);
  return bits; // little-endian hosts only, as is the raw data
}

double sparseWeightsMagnitude(const SparseWeights *weights, int64_t row, int64_t column) {
  MlirType element = mlirShapedTypeGetElementType(weights->type);
  uint64_t bits = bitsAt(weights, row, column);
  unsigned shift = 64 - 8 * (unsigned)weights->width;
  double value;
  if (mlirTypeIsAInteger(element)) {
    value = (double)((int64_t)(bits << shift) >> shift);
  } else if (mlirTypeIsAF64(element)) {
    memcpy(&value, &bits, sizeof value);
  } else if (mlirTypeIsAF32(element)) {
    float single;
    memcpy(&single, &bits, sizeof single);
    value = single;
  } else {
    value = mlirTypeIsAF16(element) ? tessera_f16_to_f32((uint16_t)bits) : tessera_bf16_to_f32((uint16_t)bits);
  }
  return isnan(value) ? INFINITY : fabs(value);
}

bool sparseWeightsIsZero(const SparseWeights *weights, int64_t row, int64_t column) {
  return sparseWeightsMagnitude(weights, row, column) == 0;
}

void sparseWeightsVisitPlace(const SparseWeights *weights, SparseWindows windows, int64_t group, int64_t window,
                             int64_t place, SparseWeightsVisit visit, void *data) {
  int64_t across = windows.axis ? weights->rows : weights->columns;
  int64_t size = windows.axis ? weights->columns : weights->rows;
  int64_t first = window * windows.m + place * windows.together;
  for (int64_t along = first; along < first + windows.together && along < size; ++along)
    for (int64_t line = group * windows.lines; line < (group + 1) * windows.lines && line < across; ++line)
      visit(weights, windows.axis ? line : along, windows.axis ? along : line, data);
}

//===--- options ------------------------------------------------------------===//

bool sparseNmOptionsCheck(MlirOperation op, MlirExtPass pass) {
  const int64_t *vector;
  int64_t n = mlirExtPassGetInteger(pass, "n"), m = mlirExtPassGetInteger(pass, "m");
  intptr_t count = mlirExtPassGetIntegers(pass, "vector", &vector);
  if (m < 1 || m > 1 << 20 || n < 0 || n > m)
    return tileError(op, "n = %lld and m = %lld, expected 0 <= n <= m and 1 <= m <= %d", (long long)n, (long long)m,
                     1 << 20);
  if (count != 2 || vector[0] < 1 || vector[0] > INT32_MAX || vector[1] < 1)
    return tileError(op, "vector has %ld sizes, expected two of at least 1: lines, then neighbours", (long)count);
  return (n % vector[1] == 0 && m % vector[1] == 0) ||
         tileError(op, "vector keeps %lld neighbours together, which does not divide both n = %lld and m = %lld",
                   (long long)vector[1], (long long)n, (long long)m);
}

MlirAttribute sparseNmEncoding(MlirContext context, MlirExtPass pass, int64_t axis) {
  const int64_t *vector;
  int64_t n = mlirExtPassGetInteger(pass, "n"), m = mlirExtPassGetInteger(pass, "m");
  mlirExtPassGetIntegers(pass, "vector", &vector);
  int64_t places = m / vector[1];
  return sparseEncodingMake(context, "nm",
                            (SparseKeyValue[]){{"n", {n}},
                                               {"m", {m}},
                                               {"axis", {axis}},
                                               {"vector", {vector[axis ? 0 : 1], vector[axis ? 1 : 0]}},
                                               {"coordinates",
                                                {places <= 1 << 8    ? 8
                                                 : places <= 1 << 16 ? 16
                                                                     : 32}},
                                               {NULL}});
}

//===--- products -----------------------------------------------------------===//

bool sparseMatchWeightedProduct(MlirOperation op, SparseWeightedProduct *weighted) {
  SparseWeights unused;
  if (!tileMatchMatrixProduct(op, &weighted->product))
    return false;
  const TileMatrixProduct *product = &weighted->product;
  bool isRight = !product->isVector && sparseWeightsRead(mlirOperationGetOperand(op, product->rhs), &unused);
  weighted->operand = isRight ? product->rhs : product->lhs;
  weighted->axis = isRight ? product->transposeRhs : !product->transposeLhs;
  return isRight || sparseWeightsRead(mlirOperationGetOperand(op, product->lhs), &unused);
}

void sparseReplaceProduct(MlirOperation op, const SparseWeightedProduct *weighted, MlirValue weights) {
  TileBuilder builder = tileBuilderBefore(op);
  const TileMatrixProduct *product = &weighted->product;
  MlirAttribute unit = mlirUnitAttrGet(builder.context), none = mlirAttributeGetNull();
  MlirValue factors[2], init = mlirOperationGetOperand(op, product->init);
  for (intptr_t i = 0; i < 2; ++i) {
    intptr_t from = i ? product->rhs : product->lhs;
    factors[i] = from == weighted->operand ? weights : mlirOperationGetOperand(op, from);
  }
  MlirAttribute left = product->transposeLhs ? unit : none, right = product->transposeRhs ? unit : none;
  MlirOperation made = product->isVector
                           ? sparseSpmvOpCreate(&builder, factors[0], factors[1], init, none, left)
                           : sparseSpmmOpCreate(&builder, factors[0], factors[1], init, none, left, right);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(made));
  mlirOperationDestroy(op);
}

void sparseEraseUnused(MlirOperation constant) {
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(constant))))
    mlirOperationDestroy(constant);
}
