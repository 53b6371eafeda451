// Sums of products that are no plain matrix product: convolutions, products over several dimensions, integers.
//   out[…] += sum over k and the other reduction dimensions of A[…] · B[…]
//
// One parallel dimension that only A has becomes the rows of a tile (of a convolution: output pixels along one spatial
// dimension, at its stride), one that only B has the columns, one reduction dimension of both (the channels) k. A
// program owns one tile of the output and loops over the rest (the window) around tile.mma: an implicit GEMM, without
// im2col. Expects: a structured op. Leaves: its kernel and launch. Where a role has no dimension (depthwise, products
// with a vector) the reductions take over. Sizes of a CPU's tiles are lib/search's (cpu_product.h); what would read its
// right operand too often becomes a matrix product before (tile-merge-dimensions).
#include "lib/analysis/product.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/search/cpu_product.h"

//===--- tiles --------------------------------------------------------------===//

// Renumbers the dimensions: m, n, k last, the others in their order.
static void sortDims(TileStructured *s, TileProduct *p) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; d++)
    if (d != p->m && d != p->n && d != p->k)
      to[d] = next++;
  to[p->m] = next;
  to[p->n] = next + 1;
  to[p->k] = next + 2;
  tileStructuredRenumber(s, to);
  p->m = next;
  p->n = next + 1;
  p->k = next + 2;
}

static void chooseTiles(TileStructured *s, const TileProduct *p) {
  TileTiling tiling = {.tiled = 1u << p->m | 1u << p->n | 1u << p->k, .whole = -1, .isProduct = true, .product = *p};
  const int dims[] = {p->m, p->n, p->k};
  if (tileStructuredPlanTiles(s, &tiling))
    return;
  TileOperator op = tileStructuredDescribe(s, &tiling, TileUnknownExtent);
  TileSearchTarget target = tileStructuredTargetFor(s->target, &op);
  TileSearchTile tile = tileCpuDirectTile(&op, &target);
  for (int axis = 0; axis < 3; axis++) {
    s->dims[dims[axis]].axis = axis;
    s->dims[dims[axis]].tile = tile.size[dims[axis]];
  }
}

//===--- the kernel ---------------------------------------------------------===//

static void buildStep(TileKernelEmission *e, const void *product, MlirValue *accumulator) {
  const TileProduct *p = product;
  int rows[2] = {p->m, p->k}, columns[2] = {p->k, p->n};
  MlirValue operands[3] = {tileKernelLoadMatrix(e, p->lhs, rows), tileKernelLoadMatrix(e, p->rhs, columns),
                           *accumulator};
  *accumulator = tileBuildValue(&e->body, "tile.mma", mlirValueGetType(*accumulator), 3, operands, NULL);
}

bool tileLowerProduct(TileStructured *s, const TileEpilogue *epilogue) {
  TileProduct p;
  if (!tileStructuredMatchProduct(s, &p))
    return false;
  chooseTiles(s, &p);
  tileStructuredAddEpilogue(s, epilogue);
  sortDims(s, &p);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "product");
  MlirValue sum = tileKernelInitial(&e, s->numInputs);
  tileKernelLoopOverReductions(&e, 1, &sum, buildStep, &p);
  tileKernelStore(&e, s->numInputs, tileKernelEpilogue(&e, sum));
  tileKernelEnd(&e);
  return true;
}
