// spmm and spmv: a kernel per format of the sparse factor, on the left and not transposed; what stands otherwise is
// turned around first. Tiles of the result stay in registers while the entries of its rows go by (reference: register
// tiling as in nmSPARSE, MLSys 2023: lines that share coordinates share the rows of b they load).
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"

//===--- what is lowered --------------------------------------------------------===//

// The sparse factor: which operand, and whether its rows are the result's.
typedef struct Factor {
  intptr_t operand;
  bool isTransposed;   // as it stands left of a dense factor
  SparseMatrix matrix; // of a sum, a term of it
} Factor;

static bool has(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

static Factor factorOf(SparseLowering *lowering) {
  MlirOperation op = lowering->op;
  bool isVector = sparseSpmvOpIsA(op);
  bool isLeft = isVector || !mlirAttributeIsNull(sparseTypeGetEncoding(sparseSpmmOpGetLhsType(op)));
  Factor factor = {.operand = isLeft ? 0 : 1};
  factor.matrix = sparseMatrixOf(lowering, factor.operand);
  if (isLeft)
    factor.isTransposed = has(op, isVector ? "transpose" : "transpose_lhs");
  else // x·W is (Wᵀ·xᵀ)ᵀ
    factor.isTransposed = !has(op, "transpose_rhs");
  return factor;
}

bool sparseSupportsProduct(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  if (mlirTypeIsAFloat(element) && mlirFloatTypeGetWidth(element) < 16)
    return tileError(op, "is not lowered yet with init of floats narrower than 16 bits");
  return sparseSupportsEntries(op);
}

//===--- tiles ------------------------------------------------------------------===//

static bool isOpen(int64_t size) { return mlirShapedTypeIsDynamicSize(size); }

// The number of entries, where the types state it.
static int64_t entriesOf(MlirValue values) {
  MlirOperation cast = tileDefiningOp(values);
  MlirType type = tensorCastOpIsA(cast) ? mlirValueGetType(tensorCastOpGetSource(cast)) : mlirValueGetType(values);
  return mlirShapedTypeGetDimSize(type, 0);
}

// The width of the panels of columns into which the dense factor is packed first; 0: it is used unpacked. Packing helps
// when the dense factor exceeds the second cache, a panel fits into that cache, and every row is read many times
// (4096² with a tenth of the entries, 256 columns: 12.7 ms instead of 17.2).
static int64_t panelOf(const SparseLowering *lowering, int64_t entries, MlirType dense) {
  enum { Uses = 8, LeastVectors = 2, MostVectors = 16 };
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType element = mlirShapedTypeGetElementType(dense);
  int64_t inner = mlirShapedTypeGetDimSize(dense, 0), columns = mlirShapedTypeGetDimSize(dense, 1);
  if (machine->isGpu || machine->numLevels < 3 || isOpen(entries) || isOpen(inner) || isOpen(columns))
    return 0;
  int64_t bytes = sparseBits(element) / 8, cache = machine->levels[1].bytes;
  if (bytes == 0 || inner * columns * bytes <= cache || entries / inner < Uses)
    return 0;
  int64_t panel = MostVectors * machine->vectorBytes / bytes, least = LeastVectors * machine->vectorBytes / bytes;
  while (panel > least && inner * panel * bytes > cache)
    panel /= 2;
  return panel < columns && inner * panel * bytes <= cache ? panel : 0;
}

static MlirValue packPanels(SparseLowering *lowering, MlirValue dense, int64_t panel) {
  enum { Down = 16 };
  MlirType type = mlirValueGetType(dense), element = mlirShapedTypeGetElementType(type);
  int64_t inner = mlirShapedTypeGetDimSize(type, 0), columns = mlirShapedTypeGetDimSize(type, 1);
  const int64_t shape[] = {(columns + panel - 1) / panel, inner, panel};
  const TilePackPanels packs = {.E = element, .COLUMNS = panel, .DOWN = Down};
  MlirValue empty = sparseEmpty(lowering, mlirRankedTensorTypeGet(3, shape, element, mlirAttributeGetNull()), 0, NULL);
  const MlirValue grid[] = {tileBuildIndex(&lowering->builder, shape[0]),
                            tileBuildIndex(&lowering->builder, (inner + Down - 1) / Down)};
  return sparseLaunch(lowering, tileUsePackPanels(packs), 2, grid, 1, &dense, empty);
}

//===--- by lines ---------------------------------------------------------------===//

// A tile of row k of the dense factor, which comes as it stands or in panels of columns.
static MlirValue buildRow(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  bool arePanels = *(const bool *)data;
  MlirValue matrix = operands[0], k = operands[1], col = operands[2];
  if (arePanels)
    return sparseBuildLoad(b, result, matrix, 2, (int64_t[]){0, 1}, (MlirValue[]){col, k}, tileBuildIndex(b, 0));
  return sparseBuildLoad(b, result, matrix, 1, (int64_t[]){0}, &k, col);
}

void sparseGridOf(SparseLowering *lowering, MlirValue init, int64_t rows, int64_t columns, MlirValue grid[2]) {
  TileBuilder *b = &lowering->builder;
  grid[0] = tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 0), tileBuildIndex(b, rows));
  grid[1] = tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 1), tileBuildIndex(b, columns));
}

MlirValue sparseMultiplyLines(SparseLowering *lowering, const SparseLines *lines, int64_t entries, MlirValue dense,
                              MlirValue init) {
  MlirType element = sparseElement(lines->values), result = mlirValueGetType(init);
  MlirType sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t panel = panelOf(lowering, entries, mlirValueGetType(dense));
  int64_t rowBytes = sparseRegistersOf(&lowering->target->search).rowBytes;
  int64_t columns = panel ? panel : sparseTileColumns(result, rowBytes);
  bool arePanels = panel != 0;
  if (arePanels && mlirValueIsNull(dense = packPanels(lowering, dense, panel)))
    return dense;
  const int64_t open = mlirShapedTypeGetDynamicSize(), shape[] = {open, open, columns};
  MlirAttribute none = mlirAttributeGetNull();
  const TileSpmmCsr product = {.MATRIX = mlirMemRefTypeGet(element, arePanels ? 3 : 2, shape, none, none),
                               .E = element,
                               .A = sum,
                               .P = sparseElement(lines->positions),
                               .I = sparseElement(lines->coordinates),
                               .WIDEN = sparseWidenOp(element, sum),
                               .COLUMNS = columns,
                               .row = {buildRow, &arePanels},
                               .step = sparseHookStep(&semiring)};
  const TileSpmmMean mean = {.MATRIX = product.MATRIX,
                             .E = element,
                             .A = sum,
                             .P = product.P,
                             .I = product.I,
                             .WIDEN = product.WIDEN,
                             .ADD = semiring.add,
                             .COLUMNS = columns,
                             .row = product.row,
                             .step = product.step,
                             .finish = sparseHookFinish(&semiring)};
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values, dense};
  MlirValue grid[2];
  sparseGridOf(lowering, init, 1, columns, grid);
  SparseSplit split = sparseSplitOf(lowering, &semiring, lines->positions);
  if (split == SparseSplit_Entries)
    return sparseMultiplyEntries(lowering, &product, &semiring, inputs, init);
  if (split == SparseSplit_RunTime)
    return sparseMultiplyEither(lowering, &product, &semiring, inputs, init, grid);
  return sparseLaunch(lowering, semiring.isMean ? tileUseSpmmMean(mean) : tileUseSpmmCsr(product), 2, grid, 4, inputs,
                      init);
}

static MlirValue multiplyLines(SparseLowering *lowering, const Factor *factor, MlirValue dense, MlirValue init) {
  SparseLines lines = sparseLinesOf(lowering, &factor->matrix, factor->isTransposed ? 1 : 0);
  return mlirValueIsNull(lines.positions) ? lines.positions
                                          : sparseMultiplyLines(lowering, &lines, entriesOf(lines.values), dense, init);
}

//===--- lowerings --------------------------------------------------------------===//

// The sparse factor times `dense` (k×n), added to `init` (m×n).
static MlirValue multiplyTerm(SparseLowering *lowering, const Factor *factor, MlirValue dense, MlirValue init) {
  const SparseFormatLowering *format = sparseLoweringOf(factor->matrix.type);
  bool isMean = sparseSemiring(lowering->op, sparseElement(init)).isMean;
  if (!isMean && format->multiply && format->multiplies(factor->matrix.type, factor->isTransposed))
    return format->multiply(lowering, &factor->matrix, dense, init);
  return multiplyLines(lowering, factor, dense, init);
}

// The products of a sum's terms are added up. A mean counts all entries at once, so it goes by lines.
static MlirValue multiply(SparseLowering *lowering, const Factor *factor, MlirValue dense, MlirValue init) {
  SparseMatrix terms[SparseMaxTerms];
  bool isMean = sparseSemiring(lowering->op, mlirShapedTypeGetElementType(mlirValueGetType(init))).isMean;
  intptr_t count = isMean ? 1 : sparseTermsOf(&factor->matrix, terms);
  for (intptr_t i = 0; i < count && !mlirValueIsNull(init); ++i) {
    Factor term = *factor;
    term.matrix = isMean ? factor->matrix : terms[i];
    init = multiplyTerm(lowering, &term, dense, init);
  }
  return init;
}

bool sparseLowerSpmm(SparseLowering *lowering, SparseResult *result) {
  Factor factor = factorOf(lowering);
  bool isLeft = factor.operand == 0;
  MlirValue dense = lowering->operands[1 - factor.operand].values[0], init = lowering->operands[2].values[0];
  if (isLeft == has(lowering->op, isLeft ? "transpose_rhs" : "transpose_lhs"))
    dense = tileBuildSwapped(&lowering->builder, dense);
  MlirValue product;
  if (!lowering->kernels->attends || !isLeft || factor.isTransposed ||
      !sparseAttends(lowering, &factor.matrix, dense, init, &product))
    product = multiply(lowering, &factor, dense, isLeft ? init : tileBuildSwapped(&lowering->builder, init));
  if (mlirValueIsNull(product))
    return false;
  *result = (SparseResult){{isLeft ? product : tileBuildSwapped(&lowering->builder, product)}, 1};
  return true;
}

// A vector as a matrix of one column.
static MlirValue asColumn(SparseLowering *lowering, MlirValue vector) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(vector), element = mlirShapedTypeGetElementType(type);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 0), 1};
  bool isOpen = mlirShapedTypeIsDynamicSize(shape[0]);
  MlirType column = mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirValue size = tileBuildSize(&lowering->builder, vector, 0);
  return tensorExpandShapeOpBuild(b, column, vector, isOpen, &size, sparseOneGroup(b, 2),
                                  mlirDenseI64ArrayGet(b->context, 2, shape));
}

bool sparseLowerSpmv(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  Factor factor = factorOf(lowering);
  MlirValue product = multiply(lowering, &factor, asColumn(lowering, lowering->operands[1].values[0]),
                               asColumn(lowering, lowering->operands[2].values[0]));
  if (mlirValueIsNull(product))
    return false;
  MlirValue vector = tensorCollapseShapeOpBuild(b, tileOnlyResultType(lowering->op), product, sparseOneGroup(b, 2));
  *result = (SparseResult){{vector}, 1};
  return true;
}
