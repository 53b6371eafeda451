// Products of two sparse matrices into a pattern by rows, on CPUs, by the kernel spgemm_marked: a row of the pattern is
// marked, so that every term finds its entry at once. Cost: the terms of the product without a pattern. Neither factor
// is sorted by columns. GPUs walk a row and a column side by side for each entry (kernels/compute/spgemm).
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"

enum {
  Shares = 8, // programs for each core: rows of a graph differ in length
  Aside = 16  // places for sums that nobody reads
};

bool sparseMultipliesMarked(const SparseLowering *lowering) {
  MlirType type = sparseSpgemmOpGetResultType(lowering->op);
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  SparseSemiring semiring = sparseSemiring(lowering->op, mlirShapedTypeGetElementType(type));
  return !lowering->target->search.isGpu && storage.scheme == SparseScheme_Segments && storage.major == 0 &&
         !storage.hasCells && semiring.isSum && !semiring.isMean;
}

bool sparseMultiplyMarked(SparseLowering *lowering, const SparseLines *a, const SparseLines *b, SparseResult *result) {
  TileBuilder *builder = &lowering->builder;
  const MlirValue *pattern = lowering->operands[2].values;
  MlirType element = sparseElement(a->values);
  MlirType sum = mlirShapedTypeGetElementType(sparseSpgemmOpGetResultType(lowering->op));
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  const TileSpgemmMarked product = {.A = sum,
                                    .P = sparseElement(pattern[0]),
                                    .I = sparseElement(pattern[1]),
                                    .AP = sparseElement(a->positions),
                                    .AI = sparseElement(a->coordinates),
                                    .E = element,
                                    .BP = sparseElement(b->positions),
                                    .BI = sparseElement(b->coordinates),
                                    .WIDEN = sparseWidenOp(element, sum),
                                    .MULTIPLY = semiring.multiply,
                                    .ADD = semiring.add,
                                    .ASIDE = Aside};
  int64_t cores = lowering->target->search.cores, open = mlirShapedTypeGetDynamicSize();
  MlirValue programs = tileBuildIndex(builder, Shares * (cores > 0 ? cores : 1));
  MlirValue columns = sparseSize(lowering, 2, 1), entries = tileBuildSize(builder, pattern[2], 0);
  const MlirValue width[] = {programs, columns},
                  more[] = {programs, tileBuildAdd(builder, columns, tileBuildIndex(builder, Aside))};
  const int64_t shape[] = {open, open}, number = mlirShapedTypeGetDimSize(mlirValueGetType(pattern[2]), 0);
  MlirAttribute none = mlirAttributeGetNull();
  MlirType marks = mlirRankedTensorTypeGet(2, shape, mlirIntegerTypeGet(builder->context, 32), none);
  MlirValue outputs[] = {sparseZeros(lowering, marks, 2, width),
                         sparseZeros(lowering, mlirRankedTensorTypeGet(2, shape, sum, none), 2, more),
                         sparseEmpty(lowering, mlirRankedTensorTypeGet(1, &number, sum, none),
                                     mlirShapedTypeIsDynamicSize(number), &entries)};
  const MlirValue inputs[] = {pattern[0], pattern[1],   a->positions,   a->coordinates,
                              a->values,  b->positions, b->coordinates, b->values};
  if (!sparseLaunchAll(lowering, tileUseSpgemmMarked(product), 1, &programs, 8, inputs, 3, outputs))
    return false;
  *result = (SparseResult){.count = lowering->operands[2].count};
  for (intptr_t i = 0; i < result->count; ++i)
    result->values[i] = pattern[i];
  result->values[2] = outputs[2];
  return true;
}
