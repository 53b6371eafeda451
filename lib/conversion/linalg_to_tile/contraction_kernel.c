// The kernel of a matrix product (contraction.h): the kind and the tile are the schedule's, or the plain ones; each
// kind has a file that builds its kernel (product_kernels.h).
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"

// By kind. A split product is cut before (tile-split-reductions).
static const TileProductKernel *const kernels[NumTileKinds] = {
    [TileKind_Packed] = &tilePackedProduct,         [TileKind_Direct] = &tileDirectProduct,
    [TileKind_AlongDepth] = &tileAlongDepthProduct, [TileKind_Streamed] = &tileMemoryProduct,
    [TileKind_Product] = &tileMemoryProduct,
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

// Where panels would be mostly padding the operand stays as it is.
static void takeConstantPanels(TileStructured *s, TileContraction *c, int64_t step) {
  TileBuilder host = tileBuilderBefore(s->op);
  MlirValue panels = tileBuildConstantPanels(&host, &s->operands[c->rhs], c->k, step, s->dims[c->n].tile);
  c->arePanels = !mlirValueIsNull(panels);
  if (!c->arePanels)
    return;
  s->operands[c->rhs].value = panels;
  if (s->target->constantPanels)
    ++*s->target->constantPanels;
}

// Chooses the tiles of a CPU's kernel, and with them which kernel it is.
static const TileProductKernel *planForCpu(TileStructured *s, TileContraction *c, const TileTiling *tiling) {
  TileSearchTile tile = tileStructuredPlanMatrix(s, tiling, &c->lastPanel, &c->arePanels);
  const TileProductKernel *kernel = kernels[tile.kind];
  kernel->setTiles(s, c, &tile);
  c->arePanels = c->arePanels && kernel->panelStep;
  if (c->arePanels)
    takeConstantPanels(s, c, kernel->panelStep(s, c));
  return kernel;
}

void tileEmitContraction(TileStructured *s, TileContraction *c) {
  TileKernelEmission e;
  const TileProductKernel *kernel = &tileMemoryProduct;
  bool isForGpu = tileStructuredGpu(s) != NULL;
  sortDims(s, c);
  c->dot = tileStructuredProductDot(s, c->lhs, c->rhs);
  TileTiling tiling = {.tiled = 1u << c->m | 1u << c->n | 1u << c->k,
                       .whole = -1,
                       .isProduct = true,
                       .isMatrix = !isForGpu,
                       .product = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k}};
  if (isForGpu)
    tileStructuredPlanTiles(s, &tiling);
  else
    kernel = planForCpu(s, c, &tiling);
  tileKernelBegin(&e, s, "matmul");
  kernel->build(&e, c);
  tileKernelEnd(&e);
}
