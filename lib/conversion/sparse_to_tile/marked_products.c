// Products of two sparse matrices into a pattern by rows, on CPUs, by the kernel spgemm_marked: a row of the pattern is
// marked, so that every term finds its entry at once. Cost: the terms of the product without a pattern. Neither factor
// is sorted by columns. Where the columns of the second factor are stored as such, and by what comes at run time, the
// kernel spgemm_dots sums up columns instead: three loads for each term and no store. GPUs walk a row and a column side
// by side for each entry (kernels/compute/spgemm).
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/lists.h"
#include "lib/conversion/sparse_to_tile/named_tiles.h"

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

static MlirValue multiplyMarked(SparseLowering *lowering, const SparseLines *a, const SparseLines *b) {
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
    return (MlirValue){NULL};
  return outputs[2];
}

//===--- by sums of columns ---------------------------------------------------------===//

static MlirValue multiplyDots(SparseLowering *lowering, const SparseLines *a, const SparseLines *columns) {
  TileBuilder *builder = &lowering->builder;
  const MlirValue *pattern = lowering->operands[2].values;
  MlirType sum = mlirShapedTypeGetElementType(sparseSpgemmOpGetResultType(lowering->op));
  MlirType element = sparseElement(a->values);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  const TileSpgemmDots product = {.A = sum,
                                  .P = sparseElement(pattern[0]),
                                  .I = sparseElement(pattern[1]),
                                  .AP = sparseElement(a->positions),
                                  .AI = sparseElement(a->coordinates),
                                  .E = element,
                                  .BP = sparseElement(columns->positions),
                                  .BI = sparseElement(columns->coordinates),
                                  .WIDEN = sparseWidenOp(element, sum),
                                  .MULTIPLY = semiring.multiply,
                                  .ADD = semiring.add};
  int64_t cores = lowering->target->search.cores, open = mlirShapedTypeGetDynamicSize();
  MlirValue programs = tileBuildIndex(builder, Shares * (cores > 0 ? cores : 1));
  MlirValue inner = sparseSize(lowering, 0, a->axis == 0 ? 1 : 0), entries = tileBuildSize(builder, pattern[2], 0);
  const MlirValue sizes[] = {programs, inner};
  const int64_t shape[] = {open, open}, number = mlirShapedTypeGetDimSize(mlirValueGetType(pattern[2]), 0);
  MlirAttribute none = mlirAttributeGetNull();
  MlirValue outputs[] = {sparseZeros(lowering, mlirRankedTensorTypeGet(2, shape, sum, none), 2, sizes),
                         sparseEmpty(lowering, mlirRankedTensorTypeGet(1, &number, sum, none),
                                     mlirShapedTypeIsDynamicSize(number), &entries)};
  const MlirValue inputs[] = {pattern[0], pattern[1],         a->positions,         a->coordinates,
                              a->values,  columns->positions, columns->coordinates, columns->values};
  bool ok = sparseLaunchAll(lowering, tileUseSpgemmDots(product), 1, &programs, 8, inputs, 2, outputs);
  return ok ? outputs[1] : (MlirValue){NULL};
}

// A vector as a matrix of one row.
static MlirValue asRow(SparseLowering *lowering, MlirValue vector) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(vector);
  const int64_t shape[] = {1, mlirShapedTypeGetDimSize(type, 0)};
  MlirType row = mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirValue size = tileBuildSize(b, vector, 0);
  return tensorExpandShapeOpBuild(b, row, vector, mlirShapedTypeIsDynamicSize(shape[1]), &size, sparseOneGroup(b, 2),
                                  mlirDenseI64ArrayGet(b->context, 2, shape));
}

// Whether the columns of b are stored as they are needed: nothing is sorted for them.
static bool areColumnsStored(const SparseLowering *lowering) {
  MlirType type = sparseSpgemmOpGetRhsType(lowering->op);
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(type));
  return storage.scheme == SparseScheme_Segments && !storage.hasCells && !sparseMayRepeat(type) &&
         storage.major == !sparseSpgemmOpHasTransposeRhs(lowering->op);
}

// The pattern has not many more entries than a, so that sums of columns have not many more terms; and terms with what a
// does not store are zero. Null after a diagnostic.
static MlirValue areFewAndFinite(SparseLowering *lowering, const SparseLines *a, const SparseLines *columns) {
  enum { Most = 2 }; // entries of the pattern for each of a
  TileBuilder *b = &lowering->builder;
  MlirValue entries = tileBuildSize(b, lowering->operands[2].values[2], 0);
  MlirValue most = tileBuildMul(b, tileBuildSize(b, a->values, 0), tileBuildIndex(b, Most));
  MlirValue areFew = arithCmpIOpBuild(b, entries, most, ArithCmpI_Sle);
  if (!mlirTypeIsAFloat(sparseElement(columns->values)))
    return areFew;
  SparseBranch branch = sparseBranchBegin(lowering, areFew);
  sparseBranchElse(lowering, &branch, sparseAreFinite(lowering, asRow(lowering, columns->values)));
  return sparseBranchEnd(lowering, &branch, tileBuildInteger(&lowering->builder, mlirValueGetType(areFew), 0));
}

static MlirValue multiplyRows(SparseLowering *lowering, const SparseLines *a) {
  SparseLines rows = sparseLinesWithoutRepeats(lowering, 1, sparseSpgemmOpHasTransposeRhs(lowering->op));
  return mlirValueIsNull(rows.positions) ? rows.positions : multiplyMarked(lowering, a, &rows);
}

static MlirValue multiply(SparseLowering *lowering, const SparseLines *a) {
  if (!areColumnsStored(lowering))
    return multiplyRows(lowering, a);
  SparseLines columns = sparseLinesWithoutRepeats(lowering, 1, !sparseSpgemmOpHasTransposeRhs(lowering->op));
  SparseBranch branch = sparseBranchBegin(lowering, areFewAndFinite(lowering, a, &columns));
  sparseBranchElse(lowering, &branch, multiplyDots(lowering, a, &columns));
  return sparseBranchEnd(lowering, &branch, multiplyRows(lowering, a));
}

bool sparseMultiplyMarked(SparseLowering *lowering, const SparseLines *a, SparseResult *result) {
  const MlirValue *pattern = lowering->operands[2].values;
  MlirValue values = multiply(lowering, a);
  if (mlirValueIsNull(values))
    return false;
  *result = (SparseResult){.count = lowering->operands[2].count};
  for (intptr_t i = 0; i < result->count; ++i)
    result->values[i] = pattern[i];
  result->values[2] = values;
  return true;
}
