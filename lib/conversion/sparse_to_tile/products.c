// spmm and spmv: a kernel per format of the sparse factor, on the left and not transposed; what stands otherwise is
// turned around first. Tiles of the result stay in registers while the entries of its rows go by (reference: register
// tiling as in nmSPARSE, MLSys 2023: lines that share coordinates share the rows of b they load).
#include "lib/conversion/sparse_to_tile/lists.h"

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
  bool isLeft = sparseTypeGetEncoding(tileOperandType(op, 0)).ptr != NULL;
  bool isVector = tileOpIs(op, "sparse.spmv");
  Factor factor = {.operand = isLeft ? 0 : 1};
  factor.matrix = sparseMatrixOf(lowering, factor.operand);
  if (isLeft)
    factor.isTransposed = has(op, isVector ? "transpose" : "transpose_lhs");
  else // x·W is (Wᵀ·xᵀ)ᵀ
    factor.isTransposed = !has(op, "transpose_rhs");
  return factor;
}

bool sparseSupportsProduct(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(tileResultType(op, 0));
  if (mlirTypeIsAFloat(element) && mlirFloatTypeGetWidth(element) < 16)
    return tileError(op, "is not lowered yet with init of floats narrower than 16 bits");
  return sparseSupportsEntries(op);
}

// Formats with a kernel of their own, as they stand; others are brought to lines first, which mean always is.
static bool hasKernel(MlirOperation op, const Factor *factor) {
  MlirType sum = mlirShapedTypeGetElementType(tileResultType(op, 0));
  MlirAttribute encoding = sparseTypeGetEncoding(factor->matrix.type);
  if (sparseSemiring(op, sum).isMean)
    return false;
  return (sparseEncodingIs(encoding, SparseBsr) && !factor->isTransposed) ||
         (sparseEncodingIs(encoding, SparseNm) &&
          sparseEncodingGetWindows(encoding).axis == (factor->isTransposed ? 0 : 1));
}

//===--- words ------------------------------------------------------------------===//

static int64_t largestDivisor(int64_t number, int64_t most) {
  while (number % most)
    --most;
  return most;
}

// Columns of a tile: as many as fit, or all there are.
static int64_t columnsOf(MlirType result, int64_t bytes) {
  int64_t width = sparseBits(mlirShapedTypeGetElementType(result));
  int64_t most = bytes * 8 / (width < 8 ? 8 : width), all = mlirShapedTypeGetDimSize(result, 1);
  return mlirShapedTypeIsDynamicSize(all) || all > most ? most : all ? all : 1;
}

// Of several lines the wider tile loads less; the narrower one is better where fewer of its columns lie beyond (256
// columns: 12.8 ms in place of 14.7 for 3 of 32 of 4096²).
static int64_t blockColumnsOf(MlirType result, const SparseRegisters *registers) {
  int64_t wide = columnsOf(result, registers->wideBytes), narrow = columnsOf(result, registers->narrowBytes);
  int64_t all = mlirShapedTypeGetDimSize(result, 1);
  bool isOpen = mlirShapedTypeIsDynamicSize(all);
  return !isOpen && (all + narrow - 1) / narrow * narrow < (all + wide - 1) / wide * wide ? narrow : wide;
}

static bool isOpen(int64_t size) { return mlirShapedTypeIsDynamicSize(size); }

// How many entries there are, as far as types tell.
static int64_t entriesOf(MlirValue values) {
  MlirOperation cast = tileDefiningOp(values);
  MlirType type = tileOpIs(cast, "tensor.cast") ? tileOperandType(cast, 0) : mlirValueGetType(values);
  return mlirShapedTypeGetDimSize(type, 0);
}

// Rows of the dense factor by number touch more of it than the second cache holds: brought into panels of columns
// first, each of which it does hold, they come from there (4096² with a tenth, 256 columns: 12.7 ms in place of 17.2).
// Worth it where every row is taken many times, as far as types tell. 0: as it stands.
static int64_t panelOf(const SparseLowering *lowering, MlirValue values, MlirType dense) {
  enum { USES = 8, LEAST_VECTORS = 2, MOST_VECTORS = 16 };
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType element = mlirShapedTypeGetElementType(dense);
  int64_t entries = entriesOf(values);
  int64_t inner = mlirShapedTypeGetDimSize(dense, 0), columns = mlirShapedTypeGetDimSize(dense, 1);
  if (machine->isGpu || machine->numLevels < 3 || isOpen(entries) || isOpen(inner) || isOpen(columns))
    return 0;
  int64_t bytes = sparseBits(element) / 8, cache = machine->levels[1].bytes;
  if (bytes == 0 || inner * columns * bytes <= cache || entries / inner < USES)
    return 0;
  int64_t panel = MOST_VECTORS * machine->vectorBytes / bytes, least = LEAST_VECTORS * machine->vectorBytes / bytes;
  while (panel > least && inner * panel * bytes > cache)
    panel /= 2;
  return panel < columns && inner * panel * bytes <= cache ? panel : 0;
}

static MlirValue packPanels(SparseLowering *lowering, MlirValue dense, int64_t panel) {
  enum { DOWN = 16 };
  MlirType type = mlirValueGetType(dense);
  int64_t inner = mlirShapedTypeGetDimSize(type, 0), columns = mlirShapedTypeGetDimSize(type, 1);
  const int64_t shape[] = {(columns + panel - 1) / panel, inner, panel};
  const SparseWord words[] = {sparseTypeWord("E", mlirShapedTypeGetElementType(type)),
                              sparseNumberWord("COLUMNS", panel),
                              sparseNumberWord("DOWN", DOWN),
                              {NULL}};
  MlirValue empty = sparseEmpty(
      lowering, mlirRankedTensorTypeGet(3, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull()), 0, NULL);
  const MlirValue grid[] = {tileBuildIndex(&lowering->builder, shape[0]),
                            tileBuildIndex(&lowering->builder, (inner + DOWN - 1) / DOWN)};
  return sparseLaunch(lowering, "pack_panels", words, 2, grid, 1, &dense, empty);
}

typedef struct Plan {
  const char *kernel;
  int64_t lines, columns, rows; // of a tile, and how many rows of the result a program makes
  bool isTurned;                // of bsr: the kernel takes blocks with their axes swapped
  int64_t panel;                // of lines: the dense factor comes in panels of so many columns; 0: as it stands
  SparseWord words[SPARSE_SEMIRING_WORDS + 20];
} Plan;

// Lines of a block are read a column at a time. Where that is done for one tile of columns after another, the blocks
// are turned first: read across their lines the product took 22 ms in place of 12 (4096² of 32x32 blocks, 256 columns).
static bool turnsBlocks(const Plan *plan, MlirType result) {
  int64_t all = mlirShapedTypeGetDimSize(result, 1);
  return plan->lines > 1 && (mlirShapedTypeIsDynamicSize(all) || all > plan->columns);
}

// `parts`: the components that the kernel takes.
static Plan planOf(const SparseLowering *lowering, const Factor *factor, const MlirValue *parts, MlirType dense,
                   MlirType result) {
  MlirOperation op = lowering->op;
  MlirType type = factor->matrix.type, element = mlirShapedTypeGetElementType(type);
  MlirType sum = mlirShapedTypeGetElementType(result);
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseRegisters registers = sparseRegistersOf(&lowering->target->search);
  bool isOwn = hasKernel(op, factor);
  bool isNm = isOwn && sparseEncodingIs(encoding, SparseNm), isBsr = isOwn && !isNm;
  SparseWindows windows = isNm ? sparseEncodingGetWindows(encoding) : (SparseWindows){0};
  const char *csr = sparseSemiring(op, sum).isMean ? "spmm_mean" : "spmm_csr";
  Plan plan = {.kernel = isNm ? "spmm_nm" : isBsr ? "spmm_bsr" : csr, .rows = 1, .lines = 1};
  if (isOwn) {
    plan.rows = isNm ? windows.lines : sparseEncodingGetSize(encoding, "block", 0);
    plan.lines = largestDivisor(plan.rows, plan.rows < registers.lines ? plan.rows : registers.lines);
  }
  plan.columns = plan.lines > 1 ? blockColumnsOf(result, &registers) : columnsOf(result, registers.rowBytes);
  if (!isOwn && (plan.panel = panelOf(lowering, parts[2], dense)))
    plan.columns = plan.panel;
  SparseWord *words = plan.words;
  intptr_t count = sparseSemiringWords(op, element, sum, words);
  words[count++] = sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(parts[isNm ? 0 : 1])));
  words[count++] = sparseNumberWord("COLUMNS", plan.columns);
  words[count++] = sparseNumberWord("LINES", plan.lines);
  words[count++] = sparseNumberWord("ROWS", plan.rows);
  words[count++] = sparseNumberWord("PARTS", plan.rows / plan.lines);
  words[count++] = sparseTextWord("SHAPE", isOwn ? "$LINESx$COLUMNS" : "$COLUMNS");
  if (!isNm)
    words[count++] = sparseTypeWord("P", mlirShapedTypeGetElementType(mlirValueGetType(parts[0])));
  if (!isOwn) {
    words[count++] = sparseTextWord("MATRIX", plan.panel ? "memref<?x?x$COLUMNSx$E>" : "memref<?x?x$E>");
    words[count++] = sparseTextWord("AT", plan.panel ? "%col, %k, _" : "%k, _");
    words[count++] = sparseTextWord("PART", plan.panel ? "%c0" : "%col");
    words[count++] = sparseNumberWord("ITEMS", SPARSE_SPLIT_ITEMS);
  }
  if (isBsr) {
    plan.isTurned = turnsBlocks(&plan, result) && sparseEncodingGetSize(encoding, "block", 1) > 1;
    words[count++] = sparseNumberWord("DEPTH", sparseEncodingGetSize(encoding, "block", 1));
    words[count++] = sparseTextWord("BLOCK", plan.isTurned ? "$DEPTHx$ROWS" : "$ROWSx$DEPTH");
    words[count++] = sparseTextWord("LINE", plan.isTurned ? "%i, _" : "_, %i");
  }
  if (isNm) {
    int64_t inner = mlirShapedTypeGetDimSize(type, windows.axis);
    bool isWhole = !mlirShapedTypeIsDynamicSize(inner) && inner % windows.m == 0;
    words[count++] = sparseNumberWord("KEPT", windows.n);
    words[count++] = sparseNumberWord("WINDOW", windows.m);
    words[count++] = sparseNumberWord("TOGETHER", windows.together);
    words[count++] = sparseNumberWord("UNITS", windows.n / windows.together);
    words[count++] =
        sparseTextWord("HERE", isWhole ? "arith.constant $TOGETHER : index" : "arith.maxsi %some, %c0 : index");
  }
  words[count] = (SparseWord){NULL};
  return plan;
}

//===--- lowerings --------------------------------------------------------------===//

// The components of the sparse factor as its kernel takes them; how many, 0 after a diagnostic.
static intptr_t takeParts(SparseLowering *lowering, const Factor *factor, MlirValue *parts) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  const SparseMatrix *matrix = &factor->matrix;
  if (hasKernel(lowering->op, factor)) {
    intptr_t count = sparseTypeGetComponents(matrix->type, unused);
    for (intptr_t i = 0; i < count; ++i)
      parts[i] = matrix->parts[i];
    return count;
  }
  SparseLines lines = sparseLinesOf(lowering, matrix, factor->isTransposed ? 1 : 0);
  parts[0] = lines.positions;
  parts[1] = lines.coordinates;
  parts[2] = lines.values;
  return mlirValueIsNull(lines.positions) ? 0 : 3;
}

enum { TURNED_AT_ONCE = 16 }; // rows and columns of a block

static MlirValue turnBlocks(SparseLowering *lowering, MlirValue values) {
  MlirType type = mlirValueGetType(values), element = mlirShapedTypeGetElementType(type);
  int64_t rows = mlirShapedTypeGetDimSize(type, 1), depth = mlirShapedTypeGetDimSize(type, 2);
  int64_t high = largestDivisor(rows, rows < TURNED_AT_ONCE ? rows : TURNED_AT_ONCE);
  int64_t wide = largestDivisor(depth, depth < TURNED_AT_ONCE ? depth : TURNED_AT_ONCE);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 0), depth, rows};
  MlirType turned = mlirRankedTensorTypeGet(3, shape, element, mlirAttributeGetNull());
  const SparseWord words[] = {sparseTypeWord("E", element),
                              sparseNumberWord("ROWS", rows),
                              sparseNumberWord("DEPTH", depth),
                              sparseNumberWord("HIGH", high),
                              sparseNumberWord("WIDE", wide),
                              sparseNumberWord("DOWN", rows / high),
                              sparseNumberWord("ACROSS", depth / wide),
                              {NULL}};
  MlirValue blocks = sparseDenseSize(lowering, values, 0);
  MlirValue empty = sparseEmpty(lowering, turned, mlirShapedTypeIsDynamicSize(shape[0]), &blocks);
  return sparseLaunch(lowering, "turn_blocks", words, 1, &blocks, 1, &values, empty);
}

// The sparse factor times `dense` (k×n), added to `init` (m×n).
static MlirValue multiplyTerm(SparseLowering *lowering, const Factor *factor, MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirValue inputs[SPARSE_MAX_COMPONENTS + 1];
  intptr_t count = takeParts(lowering, factor, inputs);
  if (!count)
    return (MlirValue){NULL};
  MlirType type = factor->matrix.type;
  if (hasKernel(lowering->op, factor) && sparseMultipliesGathered(lowering, type, mlirValueGetType(init))) {
    if (sparseEncodingIs(sparseTypeGetEncoding(type), SparseBsr) &&
        mlirValueIsNull(inputs[2] = turnBlocks(lowering, inputs[2])))
      return inputs[2];
    return sparseMultiplyGathered(lowering, type, inputs, dense, init);
  }
  if (hasKernel(lowering->op, factor) && sparseMultipliesByInstruction(lowering, type, mlirValueGetType(init)))
    return sparseMultiplyByInstruction(lowering, type, inputs, dense, init);
  Plan plan = planOf(lowering, factor, inputs, mlirValueGetType(dense), mlirValueGetType(init));
  if (plan.panel && mlirValueIsNull(dense = packPanels(lowering, dense, plan.panel)))
    return dense;
  if (plan.isTurned)
    inputs[count - 1] = turnBlocks(lowering, inputs[count - 1]);
  if (mlirValueIsNull(inputs[count - 1]))
    return (MlirValue){NULL};
  inputs[count] = dense;
  const MlirValue grid[] = {tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 0), tileBuildIndex(b, plan.rows)),
                            tileBuildCeilDiv(b, sparseDenseSize(lowering, init, 1), tileBuildIndex(b, plan.columns))};
  SparseSemiring semiring = sparseSemiring(lowering->op, mlirShapedTypeGetElementType(mlirValueGetType(init)));
  SparseSplit split =
      hasKernel(lowering->op, factor) ? SparseSplit_Lines : sparseSplitOf(lowering, &semiring, inputs[0]);
  if (split == SparseSplit_Entries)
    return sparseMultiplyEntries(lowering, plan.words, plan.columns, inputs, init);
  if (split == SparseSplit_RunTime)
    return sparseMultiplyEither(lowering, plan.words, plan.columns, inputs, init, grid);
  return sparseLaunch(lowering, plan.kernel, plan.words, 2, grid, count + 1, inputs, init);
}

// Of a sum each term's product is added to those before. A mean is of all entries: of their lines.
static MlirValue multiply(SparseLowering *lowering, const Factor *factor, MlirValue dense, MlirValue init) {
  SparseMatrix terms[SPARSE_MAX_TERMS];
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
    dense = sparseSwap(lowering, dense);
  MlirValue product = multiply(lowering, &factor, dense, isLeft ? init : sparseSwap(lowering, init));
  if (mlirValueIsNull(product))
    return false;
  *result = (SparseResult){{isLeft ? product : sparseSwap(lowering, product)}, 1};
  return true;
}

// A vector as a matrix of one column.
static MlirValue asColumn(SparseLowering *lowering, MlirValue vector) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(vector), element = mlirShapedTypeGetElementType(type);
  const int64_t shape[] = {mlirShapedTypeGetDimSize(type, 0), 1};
  bool isOpen = mlirShapedTypeIsDynamicSize(shape[0]);
  MlirType column = mlirRankedTensorTypeGet(2, shape, element, mlirAttributeGetNull());
  MlirValue operands[] = {vector, sparseDenseSize(lowering, vector, 0)};
  const TileAttributeEntry attributes[] = {{"reassociation", mlirAttributeParseGet(b->context, tileString("[[0, 1]]"))},
                                           {"static_output_shape", mlirDenseI64ArrayGet(b->context, 2, shape)},
                                           {NULL}};
  return tileBuildValue(b, "tensor.expand_shape", column, 1 + isOpen, operands, attributes);
}

bool sparseLowerSpmv(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  Factor factor = factorOf(lowering);
  MlirValue product = multiply(lowering, &factor, asColumn(lowering, lowering->operands[1].values[0]),
                               asColumn(lowering, lowering->operands[2].values[0]));
  if (mlirValueIsNull(product))
    return false;
  const TileAttributeEntry attributes[] = {{"reassociation", mlirAttributeParseGet(b->context, tileString("[[0, 1]]"))},
                                           {NULL}};
  MlirValue vector =
      tileBuildValue(b, "tensor.collapse_shape", tileResultType(lowering->op, 0), 1, &product, attributes);
  *result = (SparseResult){{vector}, 1};
  return true;
}
