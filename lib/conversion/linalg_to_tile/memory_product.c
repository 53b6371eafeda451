// The kernel of a CPU's kind `streamed` and of a GPU's kind `product` (lib/search/kinds): a program owns one tile of C
// and walks k, its operands from memory. On a GPU staging in shared memory and copies ahead are passes of their own.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"

static void buildStep(TileKernelEmission *e, const void *contraction, MlirValue *sum) {
  const TileContraction *c = contraction;
  int rows[2] = {c->m, c->k}, columns[2] = {c->k, c->n};
  MlirValue operands[3] = {tileKernelLoadMatrix(e, c->lhs, rows), tileKernelLoadMatrix(e, c->rhs, columns), *sum};
  *sum = tileMmaOpBuild(&e->body, operands[0], operands[1], operands[2]);
}

static void build(TileKernelEmission *e, const TileContraction *c) {
  int output = e->structured->numInputs;
  MlirValue sum = tileKernelInitial(e, output);
  tileKernelLoopOverReductions(e, 1, &sum, buildStep, c);
  tileKernelStore(e, output, tileKernelEpilogue(e, sum));
}

static void setTiles(TileStructured *s, TileContraction *c, const TileSearchTile *tile) {
  tileProductSetTile(s, c->m, 0, tile->size[c->m], 1);
  tileProductSetTile(s, c->n, 1, tile->size[c->n], 1);
  tileProductSetTile(s, c->k, 2, tile->size[c->k], 1);
}

const TileProductKernel tileMemoryProduct = {.setTiles = setTiles, .build = build};
