// Matrix products, batched, operands in any order: C[b…, m, n] += sum over k of A[b…, m, k] · B[b…, k, n].
//
// Expects: a structured op, perhaps with the elementwise op that its kernel computes too (bias, activation). Leaves:
// its kernel and launch. The kind and the tile are the schedule's, or the plain ones; each kind has a file that builds
// its kernel (product_kernels.h). Products with a vector are left to the reductions: their matrix is read once, so
// there is nothing to pack.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "upstream/arith.h"

#include <string.h>

//===--- the kernel -------------------------------------------------------------===//

// A split product is cut before (tile-split-reductions).
static const TileProductKernel *const kernels[NumTileProducts] = {
    [TileProduct_Packed] = &tilePackedProduct,
    [TileProduct_Direct] = &tileDirectProduct,
    [TileProduct_AlongDepth] = &tileAlongDepthProduct,
    [TileProduct_Memory] = &tileMemoryProduct,
};

// Renumbers the dimensions: batch dimensions, then m, n, k.
static void sortDims(TileStructured *s, TileContraction *c) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (d != c->m && d != c->n && d != c->k)
      to[d] = next++;
  to[c->m] = next;
  to[c->n] = next + 1;
  to[c->k] = next + 2;
  tileStructuredRenumber(s, to);
  c->m = next;
  c->n = next + 1;
  c->k = next + 2;
}

// Chooses the tiles of a CPU's kernel, and with them which kernel it is. A constant right operand lies in panels where
// the schedule says so; where they would be mostly padding it stays as it is.
static const TileProductKernel *planForCpu(TileStructured *s, TileContraction *c, const TileTiling *tiling) {
  TileSearchTile tile;
  tileStructuredTile(s, tiling, &tile);
  const TileProductKernel *kernel = kernels[tileKernelKinds[tile.kind]->product];
  c->lastPanel = tileStructuredLastPanel(s, tiling, tileRegisterColumns(&tile));
  bool wantsPanels = kernel->panelStep && !mlirAttributeIsNull(s->schedule) &&
                     tileScheduleAttrGetInteger(s->schedule, "panels", 0) &&
                     tileStructuredHasConstantPanels(s, &tiling->product);
  MlirType element = tileOperandElementType(&s->operands[c->rhs]);
  bool isNarrow = mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
  c->isWidened = kernel == &tilePackedProduct && !c->dot && isNarrow;
  kernel->setTiles(s, c, &tile);
  if (!wantsPanels)
    return kernel;
  TileBuilder host = tileBuilderBefore(s->op);
  MlirAttribute panels =
      tileOperandConstantPanels(&s->operands[c->rhs], c->k, kernel->panelStep(s, c), s->dims[c->n].tile,
                                c->dot ? c->dot->group : 1, c->isWidened ? mlirF32TypeGet(host.context) : element);
  c->arePanels = !mlirAttributeIsNull(panels);
  if (c->arePanels && c->dot && c->dot->losesSubnormals)
    c->leastOfPanels = (int16_t)tileOperandLeastMagnitude(&s->operands[c->rhs]);
  if (c->arePanels)
    s->operands[c->rhs].value = tileBuildConstant(&host, panels);
  if (c->arePanels && s->target->constantPanels)
    ++*s->target->constantPanels;
  return kernel;
}

static void emit(TileStructured *s, TileContraction *c, const TileEpilogue *epilogue) {
  TileOpKernel op;
  const TileProductKernel *kernel = &tileMemoryProduct;
  bool isForGpu = tileStructuredGpu(s) != NULL;
  sortDims(s, c);
  bool areUnsigned[2];
  c->dot = tileStructuredProductDot(s, c->lhs, c->rhs);
  tileStructuredUnsignedFactors(s, c->lhs, areUnsigned);
  c->isUnsigned = areUnsigned[0];
  TileTiling tiling = {.tiled = 1u << c->m | 1u << c->n | 1u << c->k,
                       .whole = -1,
                       .isProduct = true,
                       .isMatrix = !isForGpu,
                       .product = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k}};
  if (isForGpu)
    tileStructuredPlanTiles(s, &tiling);
  else
    kernel = planForCpu(s, c, &tiling);
  TileKernelEmission *e = tileOpKernelBegin(&op, s, epilogue, "matmul");
  kernel->build(e, c);
  tileKernelEnd(e);
}

//===--- recognition ------------------------------------------------------------===//

// Sums of blocks of k lie in the output until the last block: an epilogue must leave the element type as it is.
static bool keepsElementType(const TileStructured *s, const TileEpilogue *epilogue) {
  if (!epilogue)
    return true;
  const TileStructured *elementwise = epilogue->elementwise;
  return mlirTypeEqual(tileOperandElementType(&s->operands[s->numInputs]),
                       tileOperandElementType(&elementwise->operands[elementwise->numInputs]));
}

bool tileLowerContraction(TileStructured *s, const TileEpilogue *epilogue) {
  TileProduct p;
  if (!tileStructuredMatchMatrixProduct(s, &p) || !keepsElementType(s, epilogue))
    return false;
  TileContraction c = {.lhs = p.lhs, .rhs = p.rhs, .m = p.m, .n = p.n, .k = p.k};
  emit(s, &c, epilogue);
  return true;
}

//===--- other sums of products -----------------------------------------------===//

// Sums of products that are no plain matrix product: convolutions, products over several dimensions, integers.
//   out[…] += sum over k and the other reduction dimensions of A[…] · B[…]
//
// One parallel dimension that only A has becomes the rows of a tile (of a convolution: output pixels along one spatial
// dimension, at its stride), one that only B has the columns, one reduction dimension of both (the channels) k. A
// program owns one tile of the output and loops over the rest (the window) around tile.mma: an implicit GEMM, without
// im2col. Expects: a structured op. Leaves: its kernel and launch. Where a role has no dimension (depthwise, products
// with a vector) the reductions take over. Sizes of a CPU's tiles are lib/search's; what would read its
// right operand too often becomes a matrix product before (tile-merge-dimensions).

//===--- tiles --------------------------------------------------------------===//

// Renumbers the dimensions: the parallel ones, m before n, then the reductions, k last or around the others. On a CPU
// programs follow the output's order, so that what its last dimensions share stays in caches.
static void sortDimsOfSum(TileStructured *s, TileProduct *p, bool isOutside) {
  bool isInOrder = !tileStructuredGpu(s) && p->m < p->n;
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && (isInOrder || (d != p->m && d != p->n)))
      to[d] = next++;
  if (!isInOrder) {
    to[p->m] = next++;
    to[p->n] = next++;
  }
  if (isOutside)
    to[p->k] = next++;
  for (int d = 0; d < s->numDims; ++d)
    if (d != p->k && s->dims[d].isReduction)
      to[d] = next++;
  if (!isOutside)
    to[p->k] = next++;
  tileStructuredRenumber(s, to);
  *p = (TileProduct){.lhs = p->lhs, .rhs = p->rhs, .m = to[p->m], .n = to[p->n], .k = to[p->k]};
}

bool tileLowerProduct(TileStructured *s, const TileEpilogue *epilogue) {
  TileProduct p;
  if (!tileStructuredMatchProduct(s, &p))
    return false;
  TileTiling tiling = {.tiled = 1u << p.m | 1u << p.n | 1u << p.k, .whole = -1, .isProduct = true, .product = p};
  bool isOutside = tileStructuredWalksDepthAround(s, &tiling);
  tileStructuredPlanTiles(s, &tiling);
  sortDimsOfSum(s, &p, isOutside);
  TileOpKernel kernel;
  TileKernelEmission *e = tileOpKernelBegin(&kernel, s, epilogue, "product");
  tileKernelBuildNode(e, TileGroupKind_Product, &p, NULL);
  tileKernelEnd(e);
  return true;
}

//===--- matrix products ----------------------------------------------------===//

// The kernel of a CPU's kind `streamed` and of a GPU's kind `product` (lib/search/kinds): a program owns one tile of C
// and walks k, its operands from memory. On a GPU staging in shared memory and copies ahead are passes of their own.
static void buildMatrix(TileKernelEmission *e, const TileContraction *c) {
  const TileProduct p = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k};
  tileKernelBuildNode(e, TileGroupKind_Product, &p, NULL);
}

static void setTiles(TileStructured *s, TileContraction *c, const TileSearchTile *tile) {
  tileProductSetTile(s, c->m, 0, tile->size[c->m], 1);
  tileProductSetTile(s, c->n, 1, tile->size[c->n], 1);
  tileProductSetTile(s, c->k, 2, tile->size[c->k], 1);
}

const TileProductKernel tileMemoryProduct = {.setTiles = setTiles, .build = buildMatrix};
