// Sums of products that are no plain matrix product: convolutions, products over several dimensions, integers.
//   out[…] += sum over k and the other reduction dimensions of A[…] · B[…]
//
// One parallel dimension that only A has becomes the rows of a tile (of a convolution: output pixels along one spatial
// dimension, at its stride), one that only B has the columns, one reduction dimension of both (the channels) k. A
// program owns one tile of the output and loops over the rest (the window) around tile.mma: an implicit GEMM, without
// im2col. Expects: a structured op. Leaves: its kernel and launch. Where a role has no dimension (depthwise, products
// with a vector) the reductions take over. Sizes of a CPU's tiles are lib/search's; what would read its
// right operand too often becomes a matrix product before (tile-merge-dimensions).
#include "dialects/tile/ops.h"
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"

//===--- tiles --------------------------------------------------------------===//

// Renumbers the dimensions: the parallel ones, m before n, then the reductions, k last or around the others. On a CPU
// programs follow the output's order, so that what its last dimensions share stays in caches.
static void sortDims(TileStructured *s, TileProduct *p, bool isOutside) {
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

//===--- the kernel ---------------------------------------------------------===//

static void buildStep(TileKernelEmission *e, const void *product, MlirValue *accumulator) {
  const TileProduct *p = product;
  int rows[2] = {p->m, p->k}, columns[2] = {p->k, p->n};
  MlirValue lhs = tileKernelLoadMatrix(e, p->lhs, rows), rhs = tileKernelLoadMatrix(e, p->rhs, columns);
  *accumulator = tileMmaOpBuild(&e->body, lhs, rhs, *accumulator);
}

static void buildKernel(TileKernelEmission *e, const TileProduct *p) {
  int output = e->structured->numInputs;
  MlirValue sum = tileKernelInitial(e, output);
  tileKernelLoopOverReductions(e, 1, &sum, buildStep, p);
  tileKernelStore(e, output, tileKernelEpilogue(e, sum));
}

bool tileLowerProduct(TileStructured *s, const TileEpilogue *epilogue) {
  TileProduct p;
  if (!tileStructuredMatchProduct(s, &p))
    return false;
  TileTiling tiling = {.tiled = 1u << p.m | 1u << p.n | 1u << p.k, .whole = -1, .isProduct = true, .product = p};
  bool isOutside = tileStructuredWalksDepthAround(s, &tiling);
  tileStructuredPlanTiles(s, &tiling);
  tileStructuredAddEpilogue(s, epilogue);
  sortDims(s, &p, isOutside);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "product");
  buildKernel(&e, &p);
  tileKernelEnd(&e);
  return true;
}

//===--- matrix products ----------------------------------------------------===//

// The kernel of a CPU's kind `streamed` and of a GPU's kind `product` (lib/search/kinds): a program owns one tile of C
// and walks k, its operands from memory. On a GPU staging in shared memory and copies ahead are passes of their own.
static void buildMatrix(TileKernelEmission *e, const TileContraction *c) {
  const TileProduct p = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k};
  buildKernel(e, &p);
}

static void setTiles(TileStructured *s, TileContraction *c, const TileSearchTile *tile) {
  tileProductSetTile(s, c->m, 0, tile->size[c->m], 1);
  tileProductSetTile(s, c->n, 1, tile->size[c->n], 1);
  tileProductSetTile(s, c->k, 2, tile->size[c->k], 1);
}

const TileProductKernel tileMemoryProduct = {.setTiles = setTiles, .build = buildMatrix};
