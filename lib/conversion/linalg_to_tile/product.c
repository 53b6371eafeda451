// Sums of products that are no plain matrix product: convolutions, products over several dimensions, integers.
//   out[…] += sum over k and the other reduction dimensions of A[…] · B[…]
//
// One parallel dimension that only A has becomes the rows of a tile (of a convolution: output pixels along one spatial
// dimension, at its stride), one that only B has the columns, one reduction dimension of both (the channels) k. A
// program owns one tile of the output and loops over the rest (the window) around tile.mma: an implicit GEMM, without
// im2col. Expects: a structured op. Leaves: its kernel and launch. Where a role has no dimension (depthwise, products
// with a vector) the reductions take over. Sizes are those of a CPU of which nothing is known.
#include "lib/analysis/product.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

// A step of k is as long as pays for its loop: ResNet-50's convolutions ran at 0.5 of the peak in steps of 32, at 0.8
// in steps of 128.
enum { Rows = 8, BytesPerRow = 128, Depth = 128 };

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

static void setTile(TileStructured *s, int dim, int axis, int64_t tile) {
  TileDim *d = &s->dims[dim];
  d->axis = axis;
  d->tile = mlirShapedTypeIsDynamicSize(d->extent) || d->extent > tile ? tile : d->extent;
}

static int64_t bytesOf(MlirType element) {
  return (mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element) : mlirIntegerTypeGetWidth(element)) / 8;
}

// Tiles of at most `most`, all about alike: 14 rows are 7 and 7, not 8 and 6.
static int64_t evenTile(int64_t extent, int64_t most) {
  if (mlirShapedTypeIsDynamicSize(extent) || extent < 1)
    return most;
  int64_t tiles = (extent + most - 1) / most;
  return (extent + tiles - 1) / tiles;
}

static void chooseTiles(TileStructured *s, const TileProduct *p) {
  TileTiling tiling = {.tiled = 1u << p->m | 1u << p->n | 1u << p->k, .whole = -1, .isProduct = true, .product = *p};
  if (tileStructuredPlanTiles(s, &tiling))
    return;
  int64_t bytes = bytesOf(tileOperandElementType(&s->operands[2]));
  setTile(s, p->m, 0, evenTile(s->dims[p->m].extent, Rows));
  setTile(s, p->n, 1, BytesPerRow / (bytes < 4 ? 4 : bytes));
  setTile(s, p->k, 2, evenTile(s->dims[p->k].extent, Depth));
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
