// A product's constant right operand as the panels that its kernel multiplies by, made at compile time.
//
// Why: inference multiplies by the same weights in every call, and a kernel that packs them does so each time, for each
// block of rows. Expects: the operand of a kernel that packs (contraction_kernel.c), before the kernel is built.
// Leaves: a constant of panels × depth × columns in the operand's place, zeros where a panel or a step of k reaches
// past the matrix. Cost: a copy. Reference: Van Zee and van de Geijn 2015, whose order of B this is.
#include "lib/conversion/linalg_to_tile/contraction.h"

#include <stdlib.h>
#include <string.h>

typedef struct Matrix {
  const unsigned char *bytes;
  size_t width; // of an element
  int64_t depth, columns, strideK, strideN;
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

static void copyPanel(const Matrix *matrix, int64_t first, int64_t columns, unsigned char *into) {
  int64_t inside = matrix->columns - first < columns ? matrix->columns - first : columns;
  for (int64_t k = 0; k < matrix->depth; ++k, into += (size_t)columns * matrix->width) {
    int64_t at = k * matrix->strideK + first * matrix->strideN;
    for (int64_t n = 0; n < inside; ++n, at += matrix->strideN)
      memcpy(into + (size_t)n * matrix->width, matrix->bytes + (size_t)at * matrix->width, matrix->width);
  }
}

MlirValue tileBuildConstantPanels(TileBuilder *builder, const TileOperand *operand, int k, int64_t step,
                                  int64_t columns) {
  Matrix matrix = matrixOf(operand, k);
  int64_t shape[3] = {(matrix.columns + columns - 1) / columns, (matrix.depth + step - 1) / step * step, columns};
  size_t panel = (size_t)(shape[1] * columns) * matrix.width, size = (size_t)shape[0] * panel;
  bool isMostlyPadding = shape[0] * shape[1] * columns > 2 * matrix.depth * matrix.columns;
  unsigned char *panels = isMostlyPadding ? NULL : calloc(size, 1);
  if (!panels)
    return (MlirValue){NULL};
  for (int64_t i = 0; i < shape[0]; ++i)
    copyPanel(&matrix, i * columns, columns, panels + (size_t)i * panel);
  MlirType type = mlirRankedTensorTypeGet(3, shape, tileOperandElementType(operand), mlirAttributeGetNull());
  MlirAttribute value = mlirDenseElementsAttrRawBufferGet(type, (intptr_t)size, panels);
  free(panels);
  return tileBuildConstant(builder, value);
}
