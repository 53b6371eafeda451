// sparse-cover-with-formats{sparsity=exact}: a product with constant weights that are mostly zeros becomes products
// with the parts that cover its nonzero weights.
//
// Expects: linalg on tensors, before sparse-fold-constants; constant weights of f32, f64, i32 or i64, whose sum starts
// from constants without a -0 (floats), and whose other factor is known to be finite, or sparsity=finite. Leaves:
// sparse.spmm and spmv of sparse.pack of constants: blocks as #sparse.bsr, single weights as #sparse.csr, one after the
// other; or one product of #sparse.nm, where no window of 4 to 32 weights along the sum holds many. Other products
// stay. A block is stored as a block where that is cheaper than its single weights, for the size of blocks that gives
// the lowest price; the prices stand in the machine file, and the cover has to be clearly cheaper than the dense
// product. CPUs only. Cost: one look at each weight. After SparTA (OSDI 2022), which searches covers by measuring.
#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/sparsity/module_facts.h"
#include "lib/analysis/structured.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "lib/transforms/sparsify/weights.h"
#include "upstream/builtin.h"

enum {
  Least = 8,         // lines of the smallest block; larger ones are counted out of it
  LeastWeights = 64, // along both axes: less is not worth a format
  MostPercent = 80   // of the dense product's price, that a cover may have
};
static const int64_t blockSizes[] = {32, 16, 8};

//===--- counts -----------------------------------------------------------------===//

// How many weights of each block of Least × Least are not zero.
typedef struct Counts {
  int64_t rows, columns; // of blocks
  uint8_t *of;
} Counts;

// The bits that tell a number from zero: of a float all but the sign.
static uint64_t telling(const SparseWeights *weights) {
  size_t bits = 8 * weights->width;
  bool isFloat = mlirTypeIsAFloat(mlirShapedTypeGetElementType(weights->type));
  return (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX) & ~((uint64_t)isFloat << (bits - 1));
}

static bool count(const SparseWeights *weights, Counts *counts) {
  uint64_t mask = telling(weights), bits = 0;
  const unsigned char *at = weights->bytes;
  *counts = (Counts){(weights->rows + Least - 1) / Least, (weights->columns + Least - 1) / Least, NULL};
  counts->of = calloc((size_t)(counts->rows * counts->columns) + 1, 1);
  for (int64_t row = 0; counts->of && row < weights->rows; ++row)
    for (int64_t column = 0; column < weights->columns; ++column, at += weights->width) {
      memcpy(&bits, at, weights->width); // little-endian hosts only, as is the raw data
      counts->of[row / Least * counts->columns + column / Least] += (bits & mask) != 0;
    }
  return counts->of != NULL;
}

static int64_t countBlock(const Counts *counts, int64_t size, int64_t row, int64_t column) {
  int64_t side = size / Least, sum = 0;
  for (int64_t i = row * side; i < (row + 1) * side && i < counts->rows; ++i)
    for (int64_t j = column * side; j < (column + 1) * side && j < counts->columns; ++j)
      sum += counts->of[i * counts->columns + j];
  return sum;
}

//===--- covers -----------------------------------------------------------------===//

// Prices in multiply-adds of a dense product, for each column of the other factor.
typedef struct Prices {
  double entry, block, smallBlock; // of a single weight, of one within a block, of one within a block of Least lines
} Prices;

typedef struct Cover {
  int64_t size; // of the blocks
  double price;
  int64_t blocks, entries; // blocks, and weights outside of them
} Cover;

// A block is cheaper than its weights one by one.
static double priceOfBlock(const Prices *prices, int64_t size) {
  return (double)(size * size) * (size > Least ? prices->block : prices->smallBlock);
}

static bool isBlock(const Prices *prices, int64_t size, int64_t weights) {
  return (double)weights * prices->entry > priceOfBlock(prices, size);
}

static Cover coverBy(const Counts *counts, const Prices *prices, int64_t size) {
  Cover cover = {.size = size};
  int64_t side = size / Least;
  for (int64_t row = 0; row * side < counts->rows; ++row)
    for (int64_t column = 0; column * side < counts->columns; ++column) {
      int64_t weights = countBlock(counts, size, row, column);
      if (isBlock(prices, size, weights))
        ++cover.blocks;
      else
        cover.entries += weights;
    }
  cover.price = (double)cover.blocks * priceOfBlock(prices, size) + (double)cover.entries * prices->entry;
  return cover;
}

static Cover chooseCover(const Counts *counts, const Prices *prices) {
  Cover best = coverBy(counts, prices, blockSizes[0]);
  for (size_t i = 1; i < sizeof blockSizes / sizeof *blockSizes; ++i) {
    Cover other = coverBy(counts, prices, blockSizes[i]);
    if (other.price < best.price)
      best = other;
  }
  return best;
}

//===--- windows ----------------------------------------------------------------===//

// So many of each window of m neighbours along the sum are stored, at places that `lines` lines share.
typedef struct Windows {
  int64_t n, m, lines;
  double price;
} Windows;

enum { MostOfWindow = 32, LeastColumns = 32 }; // of the other factor: with fewer, spmm_windows does not pay

// Bit i of mask [line][window]: weight 32 · window + i of the line is not zero.
static uint32_t *markWindows(const SparseWeights *weights, int64_t axis) {
  int64_t lines = axis ? weights->rows : weights->columns, inner = axis ? weights->columns : weights->rows;
  int64_t windows = inner / MostOfWindow;
  uint64_t telltale = telling(weights), bits = 0;
  const unsigned char *at = weights->bytes;
  uint32_t *marks = calloc((size_t)(lines * windows) + 1, sizeof *marks);
  for (int64_t row = 0; marks && row < weights->rows; ++row)
    for (int64_t column = 0; column < weights->columns; ++column, at += weights->width) {
      int64_t line = axis ? row : column, k = axis ? column : row;
      memcpy(&bits, at, weights->width);
      marks[line * windows + k / MostOfWindow] |= (uint32_t)((bits & telltale) != 0) << k % MostOfWindow;
    }
  return marks;
}

// The most weights that a window of m holds, where so many lines share places.
static int64_t fullest(const uint32_t *marks, int64_t lines, int64_t windows, int64_t shared, int64_t m) {
  int64_t most = 1;
  uint32_t all = m == MostOfWindow ? UINT32_MAX : (UINT32_C(1) << m) - 1;
  for (int64_t group = 0; group < lines; group += shared)
    for (int64_t w = 0; w < windows; ++w) {
      uint32_t any = 0;
      for (int64_t line = group; line < group + shared; ++line)
        any |= marks[line * windows + w];
      for (int64_t from = 0; from < MostOfWindow; from += m) {
        int64_t kept = __builtin_popcount(any >> from & all);
        most = kept > most ? kept : most;
      }
    }
  return most;
}

// The cheapest windows; n is 0 where none are tried. `columns`: of the other factor.
static bool chooseWindows(const SparseWeights *weights, int64_t axis, int64_t columns, const double prices[2],
                          Windows *best) {
  static const int64_t sharedLines[] = {1, 4, 32};
  int64_t lines = axis ? weights->rows : weights->columns, inner = axis ? weights->columns : weights->rows;
  *best = (Windows){.n = 0};
  if (!mlirTypeIsAF32(mlirShapedTypeGetElementType(weights->type)) || columns < LeastColumns ||
      inner % MostOfWindow != 0 || prices[0] <= 0 || prices[1] <= 0)
    return true;
  uint32_t *marks = markWindows(weights, axis);
  for (int i = 0; marks && i < 3 && lines % sharedLines[i] == 0; ++i)
    for (int64_t m = 4; m <= MostOfWindow; m *= 2) {
      int64_t n = fullest(marks, lines, inner / MostOfWindow, sharedLines[i], m);
      double price = (double)(lines * (inner / m) * n) * prices[sharedLines[i] > 1];
      bool isBetter = price < best->price || (price == best->price && sharedLines[i] > best->lines);
      if (n < m && (!best->n || isBetter))
        *best = (Windows){n, m, sharedLines[i], price};
    }
  free(marks);
  return marks != NULL;
}

//===--- questions --------------------------------------------------------------===//

static bool isPricedElement(MlirType element) {
  bool isInteger = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) >= 32;
  return isInteger || mlirTypeIsAF32(element) || mlirTypeIsAF64(element);
}

static bool isFinite(const SparseProgram *program, MlirValue value) {
  const SparseCells *cells = sparseProgramMay(program, value);
  bool is = cells != NULL;
  for (int64_t i = 0; is && i < sparseCellsCount(cells); ++i)
    is = !(cells->cells[i] & SparseMay_Special);
  return is;
}

// Terms of zero weights may be left out: each is zero, and its sign does not matter.
static bool maySkip(const SparseProgram *program, MlirOperation op, const SparseWeightedProduct *weighted,
                    bool finite) {
  const TileMatrixProduct *product = &weighted->product;
  intptr_t other = weighted->operand == product->lhs ? product->rhs : product->lhs;
  MlirValue init = mlirOperationGetOperand(op, product->init);
  if (!mlirTypeIsAFloat(mlirShapedTypeGetElementType(mlirValueGetType(init))))
    return true;
  return sparseSumStartsFromPlusZero(init) && (finite || isFinite(program, mlirOperationGetOperand(op, other)));
}

static bool matchProduct(MlirOperation op, SparseWeightedProduct *weighted, SparseWeights *weights) {
  if (!sparseMatchWeightedProduct(op, weighted) ||
      !sparseWeightsRead(mlirOperationGetOperand(op, weighted->operand), weights))
    return false;
  MlirType element = mlirShapedTypeGetElementType(weights->type);
  return weights->stride && weights->rows >= LeastWeights && weights->columns >= LeastWeights &&
         isPricedElement(element) && mlirTypeEqual(element, mlirShapedTypeGetElementType(tileOnlyResultType(op)));
}

//===--- rewriting --------------------------------------------------------------===//

// The weights inside the cover's blocks, or outside of them, as a constant; null without memory.
static MlirAttribute takePart(const SparseWeights *weights, const Counts *counts, const Prices *prices, int64_t size,
                              bool areBlocks) {
  size_t bytes = (size_t)(weights->rows * weights->columns) * weights->width;
  unsigned char *data = calloc(bytes + 1, 1);
  for (int64_t row = 0; data && row * size < weights->rows; ++row)
    for (int64_t column = 0; column * size < weights->columns; ++column) {
      if (isBlock(prices, size, countBlock(counts, size, row, column)) != areBlocks)
        continue;
      int64_t end = (column + 1) * size < weights->columns ? (column + 1) * size : weights->columns;
      for (int64_t i = row * size; i < (row + 1) * size && i < weights->rows; ++i) {
        size_t from = (size_t)(i * weights->columns + column * size) * weights->width;
        memcpy(data + from, weights->bytes + from, (size_t)(end - column * size) * weights->width);
      }
    }
  MlirAttribute part = data ? mlirDenseElementsAttrRawBufferGet(weights->type, bytes, data) : mlirAttributeGetNull();
  free(data);
  return part;
}

static MlirValue packPart(TileBuilder *b, MlirType type, MlirAttribute part, int64_t block) {
  const SparseKeyValue blocks[] = {{"block", {block, block}}, {NULL}};
  MlirAttribute encoding = sparseEncodingMake(b->context, block ? "bsr" : "csr", block ? blocks : blocks + 1);
  return sparsePackOpBuild(b, sparseTypeWithEncoding(type, encoding), tileBuildConstant(b, part));
}

// The product by blocks, then the product by single weights, which starts from the former.
static bool rewrite(MlirOperation op, SparseWeightedProduct *weighted, const SparseWeights *weights,
                    const Counts *counts, const Prices *prices, const Cover *cover) {
  MlirOperation constant = tileDefiningOp(mlirOperationGetOperand(op, weighted->operand));
  TileBuilder b = tileBuilderBefore(op);
  MlirAttribute parts[2];
  int64_t blocks[2];
  int numParts = 0;
  for (int areBlocks = 1; areBlocks >= 0; --areBlocks)
    if (areBlocks ? cover->blocks : cover->entries || !cover->blocks) {
      blocks[numParts] = areBlocks ? cover->size : 0;
      parts[numParts] = takePart(weights, counts, prices, cover->size, areBlocks);
      if (mlirAttributeIsNull(parts[numParts++]))
        return tileError(op, "has weights too large to cover");
    }
  if (numParts > 1) {
    MlirValue packed = packPart(&b, weights->type, parts[0], blocks[0]);
    MlirOperation first = tileBuilderInsert(&b, mlirOperationClone(op));
    mlirOperationSetOperand(op, weighted->product.init, tileOnlyResult(first));
    sparseReplaceProduct(first, weighted, packed);
  }
  sparseReplaceProduct(op, weighted, packPart(&b, weights->type, parts[numParts - 1], blocks[numParts - 1]));
  sparseEraseUnused(constant);
  return true;
}

static void rewriteByWindows(MlirOperation op, const SparseWeightedProduct *weighted, const SparseWeights *weights,
                             const Windows *windows) {
  MlirValue constant = mlirOperationGetOperand(op, weighted->operand);
  TileBuilder b = tileBuilderBefore(op);
  bool isAcross = weighted->axis == 1;
  const SparseKeyValue keys[] = {
      {"n", {windows->n}},        {"m", {windows->m}},
      {"axis", {weighted->axis}}, {"vector", {isAcross ? windows->lines : 1, isAcross ? 1 : windows->lines}},
      {"coordinates", {8}},       {NULL},
  };
  MlirType type = sparseTypeWithEncoding(weights->type, sparseEncodingMake(b.context, "nm", keys));
  sparseReplaceProduct(op, weighted, sparsePackOpBuild(&b, type, constant));
}

//===--- the pass ---------------------------------------------------------------===//

enum { Products, Parts };

typedef struct Pass {
  MlirExtPass pass;
  Prices prices;
  double windows[2]; // of a weight kept of a window: of each line's own, and shared
  SparseProgram *program;
  MlirOperation module;
  bool finite;
} Pass;

static bool coverProduct(Pass *pass, MlirOperation op) {
  SparseWeightedProduct weighted;
  SparseWeights weights;
  Counts counts;
  if (!matchProduct(op, &weighted, &weights))
    return true;
  if (!count(&weights, &counts))
    return tileError(op, "has weights too large to cover");
  Cover cover = chooseCover(&counts, &pass->prices);
  Windows windows;
  MlirType result = tileOnlyResultType(op);
  bool isLeft = weighted.operand == weighted.product.lhs;
  int64_t columns = mlirShapedTypeGetRank(result) == 2 ? mlirShapedTypeGetDimSize(result, isLeft ? 1 : 0) : 1;
  double dense = (double)(weights.rows * weights.columns);
  bool ok = chooseWindows(&weights, weighted.axis, columns, pass->windows, &windows) ||
            tileError(op, "has weights too large to cover");
  bool areWindows = windows.n && windows.price < cover.price;
  bool pays = (areWindows ? windows.price : cover.price) * 100 < MostPercent * dense;
  if (ok && pays && !pass->program && !pass->finite) // facts are found only where they may matter
    ok = (pass->program =
              sparseProgramCreate(pass->module, (SparseProgramOptions){.direction = SparseDirection_Forward})) != NULL;
  if (ok && pays && maySkip(pass->program, op, &weighted, pass->finite)) {
    mlirExtPassAddStatistic(pass->pass, Products, 1);
    mlirExtPassAddStatistic(pass->pass, Parts, areWindows ? 1 : 1 + (cover.blocks && cover.entries));
    if (areWindows)
      rewriteByWindows(op, &weighted, &weights, &windows);
    else
      ok = rewrite(op, &weighted, &weights, &counts, &pass->prices, &cover);
  }
  free(counts.of);
  return ok;
}

static bool run(MlirOperation module, MlirExtPass options) {
  MlirStringRef sparsity = mlirExtPassGetString(options, "sparsity");
  TileTarget target;
  if (tileStringEquals(sparsity, "off"))
    return true;
  if (!tileTargetOfPass(module, options, &target))
    return false;
  Pass pass = {.pass = options,
               .prices = {target.search.model.sparseEntry, target.search.model.sparseBlock,
                          target.search.model.sparseSmallBlock},
               .windows = {target.search.model.sparseWindow, target.search.model.sparseSharedWindow},
               .module = module,
               .finite = tileStringEquals(sparsity, "finite")};
  bool ok = true, isPriced = !target.search.isGpu && pass.prices.entry > 0 && pass.prices.block > 0;
  TileOps ops = {NULL};
  if (isPriced)
    ops = tileCollect(module, NULL);
  for (intptr_t i = 0; i < ops.count && ok; ++i)
    ok = coverProduct(&pass, ops.items[i]);
  tileOpsFree(&ops);
  sparseProgramDestroy(pass.program);
  tileTargetFree(&target);
  return ok;
}

static void registerDialects(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
}

const MlirExtPassDefinition sparseCoverWithFormatsPass = {
    .argument = "sparse-cover-with-formats",
    .summary = "Store constant weights with zeros as blocks, single weights or windows, where the price says so",
    .anchor = builtinModuleOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"sparsity",
                                            "exact: where the other factor is known to be finite; finite: everywhere; "
                                            "off: no weights are covered",
                                            MlirExtOption_String, "exact"},
                                           {NULL}},
    .statistics =
        (const char *const[]){"products: products whose weights are covered", "parts: formats that cover them", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .registerDialects = registerDialects,
    .run = run,
};
