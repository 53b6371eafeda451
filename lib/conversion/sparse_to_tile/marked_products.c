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

// Which entries of the pattern a launch sums up: those whose line of a is not shorter than their column of b, or, the
// other way around, those whose line is shorter.
typedef struct Way {
  bool isTurned;
} Way;

static MlirValue buildTakes(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const Way *way = data;
  return arithCmpIOpBuild(b, operands[0], operands[1], way->isTurned ? ArithCmpI_Sgt : ArithCmpI_Sge);
}

// The place of an entry: a turned pattern has a list of them.
static MlirValue buildPlace(TileBuilder *b, MlirType index, const MlirValue *operands, const void *data) {
  const Way *way = data;
  return way->isTurned ? arithIndexCastOpBuild(b, index, memrefLoadOpBuild(b, operands[0], 1, &operands[1]))
                       : operands[1];
}

// Sums of `summed` lines times `spread` ones, for the entries of the pattern's lines. False after a diagnostic.
static bool sumLines(SparseLowering *lowering, const Way *way, const SparseLines *pattern, const SparseLines *spread,
                     const SparseLines *summed, MlirValue outputs[2]) {
  MlirType sum = mlirShapedTypeGetElementType(sparseSpgemmOpGetResultType(lowering->op));
  MlirType element = sparseElement(spread->values);
  MlirValue programs = tileBuildSize(&lowering->builder, outputs[0], 0);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  MlirValue numbers = way->isTurned ? pattern->values : pattern->positions;
  const TileSpgemmDots product = {.A = sum,
                                  .P = sparseElement(pattern->positions),
                                  .I = sparseElement(pattern->coordinates),
                                  .AP = sparseElement(spread->positions),
                                  .AI = sparseElement(spread->coordinates),
                                  .E = element,
                                  .BP = sparseElement(summed->positions),
                                  .BI = sparseElement(summed->coordinates),
                                  .N = sparseElement(numbers),
                                  .WIDEN = sparseWidenOp(element, sum),
                                  .ADD = semiring.add,
                                  .takes = {buildTakes, way},
                                  .step = sparseHookStep(&semiring),
                                  .place = {buildPlace, way}};
  const MlirValue inputs[] = {pattern->positions, pattern->coordinates, numbers,
                              spread->positions,  spread->coordinates,  spread->values,
                              summed->positions,  summed->coordinates,  summed->values};
  return sparseLaunchAll(lowering, tileUseSpgemmDots(product), 1, &programs, 9, inputs, 2, outputs);
}

// Each entry of the pattern costs the shorter one of its line of a and its column of b: in a graph of a few large nodes
// and many small ones, much less than the column.
static MlirValue multiplyDots(SparseLowering *lowering, const SparseLines *a, const SparseLines *columns) {
  TileBuilder *builder = &lowering->builder;
  const MlirValue *parts = lowering->operands[2].values;
  const SparseLines pattern = {
      parts[0], parts[1], parts[2], {sparseSize(lowering, 2, 0), sparseSize(lowering, 2, 1)}, 0};
  SparseLines turned = sparseTurnLines(lowering, &pattern, true);
  if (mlirValueIsNull(turned.positions))
    return turned.positions;
  MlirType sum = mlirShapedTypeGetElementType(sparseSpgemmOpGetResultType(lowering->op));
  int64_t cores = lowering->target->search.cores, open = mlirShapedTypeGetDynamicSize();
  MlirValue programs = tileBuildIndex(builder, Shares * (cores > 0 ? cores : 1));
  MlirValue inner = sparseSize(lowering, 0, a->axis == 0 ? 1 : 0), entries = tileBuildSize(builder, parts[2], 0);
  const MlirValue sizes[] = {programs, inner};
  const int64_t shape[] = {open, open}, number = mlirShapedTypeGetDimSize(mlirValueGetType(parts[2]), 0);
  MlirAttribute none = mlirAttributeGetNull();
  MlirValue outputs[] = {sparseZeros(lowering, mlirRankedTensorTypeGet(2, shape, sum, none), 2, sizes),
                         sparseEmpty(lowering, mlirRankedTensorTypeGet(1, &number, sum, none),
                                     mlirShapedTypeIsDynamicSize(number), &entries)};
  bool ok = sumLines(lowering, &(Way){false}, &pattern, a, columns, outputs) &&
            sumLines(lowering, &(Way){true}, &turned, columns, a, outputs);
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

// The lines of b as they are stored, and whether its columns or its rows are. False: they are not stored as lines.
static bool linesOfB(SparseLowering *lowering, SparseLines *lines) {
  MlirType type = sparseSpgemmOpGetRhsType(lowering->op);
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(type));
  if (storage.scheme != SparseScheme_Segments || storage.hasCells || sparseMayRepeat(type))
    return false;
  SparseMatrix matrix = sparseMatrixOf(lowering, 1);
  *lines = sparseLinesOf(lowering, &matrix, storage.major);
  return true;
}

static bool areColumns(const SparseLowering *lowering, const SparseLines *b) {
  return b->axis == !sparseSpgemmOpHasTransposeRhs(lowering->op);
}

// The pattern has not many more entries than a, so that sums of columns have not many more terms, nor has b if it is to
// be turned; and terms with what a or b does not store are zero. Null after a diagnostic.
static MlirValue areFewAndFinite(SparseLowering *lowering, const SparseLines *a, const SparseLines *lines) {
  enum { Most = 2 }; // entries of the pattern for each of a
  TileBuilder *b = &lowering->builder;
  MlirValue entries = tileBuildSize(b, lowering->operands[2].values[2], 0);
  MlirValue most = tileBuildMul(b, tileBuildSize(b, a->values, 0), tileBuildIndex(b, Most));
  MlirValue areFew = arithCmpIOpBuild(b, entries, most, ArithCmpI_Sle);
  if (!areColumns(lowering, lines))
    areFew = arithAndIOpBuild(b, areFew, arithCmpIOpBuild(b, tileBuildSize(b, lines->values, 0), most, ArithCmpI_Sle));
  if (!mlirTypeIsAFloat(sparseElement(lines->values)))
    return areFew;
  SparseBranch branch = sparseBranchBegin(lowering, areFew);
  MlirValue areFinite = sparseAreFinite(lowering, asRow(lowering, lines->values));
  if (!mlirValueIsNull(areFinite)) {
    MlirValue isA = sparseAreFinite(lowering, asRow(lowering, a->values));
    areFinite = mlirValueIsNull(isA) ? isA : arithAndIOpBuild(&lowering->builder, areFinite, isA);
  }
  sparseBranchElse(lowering, &branch, areFinite);
  return sparseBranchEnd(lowering, &branch, tileBuildInteger(&lowering->builder, mlirValueGetType(areFew), 0));
}

static MlirValue multiplyRows(SparseLowering *lowering, const SparseLines *a) {
  SparseLines rows = sparseLinesWithoutRepeats(lowering, 1, sparseSpgemmOpHasTransposeRhs(lowering->op));
  return mlirValueIsNull(rows.positions) ? rows.positions : multiplyMarked(lowering, a, &rows);
}

static MlirValue multiplyColumns(SparseLowering *lowering, const SparseLines *a, const SparseLines *b) {
  SparseLines columns = areColumns(lowering, b) ? *b : sparseTurnLines(lowering, b, false);
  return mlirValueIsNull(columns.positions) ? columns.positions : multiplyDots(lowering, a, &columns);
}

static MlirValue multiply(SparseLowering *lowering, const SparseLines *a) {
  SparseLines b;
  if (!linesOfB(lowering, &b))
    return multiplyRows(lowering, a);
  SparseBranch branch = sparseBranchBegin(lowering, areFewAndFinite(lowering, a, &b));
  sparseBranchElse(lowering, &branch, multiplyColumns(lowering, a, &b));
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
