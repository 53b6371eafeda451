// A constant right operand of a product as the panels that the kernel multiplies by, made at compile time: inference
// multiplies by the same weights in every call, and a kernel that packs them does so each time, for each block of rows.
// Reference: Van Zee and van de Geijn 2015, whose order of B this is.
#include "lib/analysis/product.h"
#include "lib/support/f16.h"

#include <stdlib.h>
#include <string.h>

typedef struct Matrix {
  const unsigned char *bytes;
  size_t width; // of an element
  int64_t depth, columns, strideK, strideN;
  float (*widen)(uint16_t bits); // null: the panels have the matrix's elements
} Matrix;

static Matrix matrixOf(const TileOperand *operand, int k) {
  MlirType type = mlirValueGetType(operand->value);
  int64_t sizes[2] = {mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1)};
  bool isTransposed = operand->results[1] == k;
  size_t size = 0;
  Matrix matrix = {.bytes = tileOperandConstantBytes(operand, &size),
                   .depth = sizes[isTransposed],
                   .columns = sizes[!isTransposed],
                   .strideK = isTransposed ? 1 : sizes[1],
                   .strideN = isTransposed ? sizes[1] : 1};
  matrix.width = size / (size_t)(sizes[0] * sizes[1]);
  return matrix;
}

static size_t panelWidth(const Matrix *matrix) { return matrix->widen ? sizeof(float) : matrix->width; }

static void copyElement(const Matrix *matrix, int64_t at, unsigned char *into) {
  const unsigned char *from = matrix->bytes + (size_t)at * matrix->width;
  if (!matrix->widen) {
    memcpy(into, from, matrix->width);
    return;
  }
  uint16_t bits;
  memcpy(&bits, from, sizeof bits);
  float value = matrix->widen(bits);
  memcpy(into, &value, sizeof value);
}

static void copyPanel(const Matrix *matrix, int64_t first, int64_t columns, int64_t group, unsigned char *into) {
  int64_t inside = matrix->columns - first < columns ? matrix->columns - first : columns;
  size_t width = panelWidth(matrix);
  for (int64_t k = 0; k < matrix->depth; ++k) {
    int64_t at = k * matrix->strideK + first * matrix->strideN;
    unsigned char *row = into + (size_t)(k / group * columns * group + k % group) * width;
    for (int64_t n = 0; n < inside; ++n, at += matrix->strideN)
      copyElement(matrix, at, row + (size_t)(n * group) * width);
  }
}

uint16_t tileOperandLeastMagnitude(const TileOperand *operand) {
  size_t size;
  const unsigned char *bytes = tileOperandConstantBytes(operand, &size);
  uint16_t least = UINT16_MAX;
  for (size_t at = 0; at + sizeof least <= size; at += sizeof least) {
    uint16_t bits;
    memcpy(&bits, bytes + at, sizeof bits);
    bits = (uint16_t)((bits & 0x7fff) - 1);
    least = bits < least ? bits : least;
  }
  return least;
}

MlirAttribute tileOperandConstantPanels(const TileOperand *operand, int k, int64_t step, int64_t columns, int64_t group,
                                        MlirType element) {
  Matrix matrix = matrixOf(operand, k);
  MlirType own = tileOperandElementType(operand);
  matrix.widen = mlirTypeEqual(own, element) ? NULL : mlirTypeIsABF16(own) ? tessera_bf16_to_f32 : tessera_f16_to_f32;
  int64_t shape[3] = {(matrix.columns + columns - 1) / columns, (matrix.depth + step - 1) / step * step, columns};
  size_t panel = (size_t)(shape[1] * columns) * panelWidth(&matrix), size = (size_t)shape[0] * panel;
  bool isMostlyPadding = shape[0] * shape[1] * columns > 2 * matrix.depth * matrix.columns;
  unsigned char *panels = isMostlyPadding ? NULL : calloc(size, 1);
  if (!panels)
    return mlirAttributeGetNull();
  for (int64_t i = 0; i < shape[0]; ++i)
    copyPanel(&matrix, i * columns, columns, group, panels + (size_t)i * panel);
  int64_t grouped[4] = {shape[0], shape[1] / group, columns, group};
  MlirType type =
      mlirRankedTensorTypeGet(group > 1 ? 4 : 3, group > 1 ? grouped : shape, element, mlirAttributeGetNull());
  MlirAttribute value = mlirDenseElementsAttrRawBufferGet(type, (intptr_t)size, panels);
  free(panels);
  return value;
}
