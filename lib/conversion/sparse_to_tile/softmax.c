// sparse.softmax: lines whose entries stand side by side, as those of csr along a row, are weighed by the kernel
// softmax_lines. Other formats list their entries first; the kernel softmax_places finds each entry by its number.
#include <math.h>

#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"

// An uninitialized vector as long as `values`.
static MlirValue emptyLike(SparseLowering *lowering, MlirValue values, MlirType element) {
  int64_t shape = mlirShapedTypeGetDimSize(mlirValueGetType(values), 0);
  MlirValue size = tileBuildSize(&lowering->builder, values, 0);
  MlirType type = mlirRankedTensorTypeGet(1, &shape, element, mlirAttributeGetNull());
  return sparseEmpty(lowering, type, mlirShapedTypeIsDynamicSize(shape), &size);
}

// The number of each entry of a list.
static MlirValue numbersOf(SparseLowering *lowering, const SparseList *list) {
  TileBuilder *b = &lowering->builder;
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  SparseBody body = sparseBodyBegin(lowering, 0, NULL, i64);
  MlirValue number = linalgIndexOpBuild(&body.builder, mlirIntegerAttrGet(i64, 0));
  number = arithIndexCastOpBuild(&body.builder, i64, number);
  return sparseBodyEnd(lowering, &body, 0, NULL, emptyLike(lowering, list->values, i64), number);
}

// The element of a softmax's arithmetic.
static MlirType weightOf(MlirType element) {
  return mlirTypeIsAF64(element) ? element : mlirF32TypeGet(mlirTypeGetContext(element));
}

// Weights of lines whose entries stand side by side.
static MlirValue weighLines(SparseLowering *lowering, const SparseLines *lines) {
  TileBuilder *b = &lowering->builder;
  MlirType element = sparseElement(lines->values), sum = weightOf(element);
  const TileSearchTarget *machine = &lowering->target->search;
  const TileSoftmaxLines weighs = {.E = element,
                                   .A = sum,
                                   .P = sparseElement(lines->positions),
                                   .WIDEN = sparseCastOp(element, sum),
                                   .NARROW = sparseCastOp(sum, element),
                                   .LANES =
                                       machine->isGpu ? machine->lanes : machine->vectorBytes * 8 / sparseBits(sum),
                                   .LEAST = mlirFloatAttrDoubleGet(b->context, sum, -INFINITY)};
  const MlirValue inputs[] = {lines->positions, lines->values};
  return sparseLaunch(lowering, tileUseSoftmaxLines(weighs), 1, &lines->sizes[lines->axis], 2, inputs,
                      emptyLike(lowering, lines->values, element));
}

// Weights of entries whose numbers stand line by line; what is in no line stays.
static MlirValue weighPlaces(SparseLowering *lowering, const SparseLines *numbers, MlirValue values) {
  MlirType element = sparseElement(values), sum = weightOf(element);
  const TileSoftmaxPlaces weighs = {.E = element,
                                    .A = sum,
                                    .P = sparseElement(numbers->positions),
                                    .N = sparseElement(numbers->values),
                                    .WIDEN = sparseCastOp(element, sum),
                                    .NARROW = sparseCastOp(sum, element),
                                    .LEAST = mlirFloatAttrDoubleGet(lowering->builder.context, sum, -INFINITY)};
  const MlirValue inputs[] = {numbers->positions, numbers->values, values};
  return sparseLaunch(lowering, tileUseSoftmaxPlaces(weighs), 1, &numbers->sizes[numbers->axis], 3, inputs, values);
}

static MlirValue weigh(SparseLowering *lowering, const SparseMatrix *matrix, int axis) {
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(matrix->type));
  if (storage.scheme == SparseScheme_Segments && !storage.hasCells) {
    SparseLines lines = sparseLinesOf(lowering, matrix, storage.major);
    if (storage.major == axis)
      return weighLines(lowering, &lines);
    SparseLines numbers = sparseTurnLines(lowering, &lines, true);
    return mlirValueIsNull(numbers.positions) ? numbers.positions : weighPlaces(lowering, &numbers, lines.values);
  }
  SparseList list = sparseListOf(lowering, matrix), numbers = list;
  if (mlirValueIsNull(list.at[0]))
    return list.at[0];
  numbers.values = numbersOf(lowering, &list);
  SparseLines lines = sparseLinesOfList(lowering, &numbers, axis);
  return mlirValueIsNull(lines.positions) ? lines.positions : weighPlaces(lowering, &lines, list.values);
}

bool sparseSupportsSoftmax(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  if (mlirFloatTypeGetWidth(element) < 16)
    return tileError(op, "is not lowered yet for floats narrower than 16 bits");
  return sparseSupportsEntries(op);
}

bool sparseLowerSoftmax(SparseLowering *lowering, SparseResult *result) {
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  intptr_t index = sparseValuesIndex(matrix.type);
  MlirValue flat = weigh(lowering, &matrix, (int)(1 - sparseSoftmaxOpGetAxisValue(lowering->op)));
  if (mlirValueIsNull(flat))
    return false;
  *result = (SparseResult){.count = lowering->operands[0].count};
  for (intptr_t i = 0; i < result->count; ++i)
    result->values[i] = matrix.parts[i];
  result->values[index] = sparseUnflatten(lowering, flat, matrix.parts[index]);
  return !mlirValueIsNull(result->values[index]);
}
