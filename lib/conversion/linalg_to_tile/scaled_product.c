// Block-scaled products (lib/analysis/low_bit/scaled.h), on a GPU: a program multiplies the narrow floats of its rows
// and columns and scales the sums of blocks.
//   out[m, n] += sum over g of sa[m, g] · sb[n, g] · (sum over k of a[m, g, k] · b[n, g, k])       tile.mma_scaled
//
// A program owns a tile of C and walks k in steps of some blocks. Codes and scales come from memory as the program has
// them, and no converted number goes back; floats that share a byte are cut out of it in registers. Where an
// instruction takes scales, it has the operands as they lie; elsewhere tile-assign-layouts widens them once for all
// warps of the program. Expects: a structured op without a schedule, for a GPU. Leaves: its kernel and launch; sums are
// f32's. Source: OCP Microscaling Formats (MX) 1.0, and Ladder (OSDI 2024).
#include "lib/analysis/low_bit/scaled.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"

enum { LeastSide = 16, MostSide = 64, Depth = 128 };

typedef struct Factors {
  const TileStructured *s;
  const TileScaledProduct *p;
} Factors;

// A value of the body as a matrix: `row` by the first `count` reductions together.
static MlirValue buildMatrix(TileKernelEmission *e, const Factors *f, MlirValue value, int row, int count) {
  const TileStructured *s = f->s;
  TileStructured view = tileStructuredOver(s, row, -1);
  TileBodyMap map = {0};
  int64_t shape[2] = {s->dims[row].tile, 1};
  for (int i = 0; i < count; ++i) {
    view.dims[f->p->depth[i]].axis = 1 + i;
    shape[1] *= s->dims[f->p->depth[i]].tile;
  }
  e->structured = &view;
  for (int i = 0; i < s->numInputs; ++i)
    if (tileScaledReads(s, value, i))
      tileKernelMapInputs(e, &map, i, i + 1);
  MlirValue tile = tileKernelCloneValue(e, &map, value);
  e->structured = s;
  MlirType element = tileTypeGetElement(mlirValueGetType(tile));
  return count == 1 ? tile
                    : tileReshapeOpBuild(&e->body, tileTileTypeGet(2, shape, element, mlirAttributeGetNull()), tile);
}

static void buildFactors(TileKernelEmission *e, const void *data, MlirValue *factors) {
  const Factors *f = data;
  const TileScaledProduct *p = f->p;
  const int rows[2] = {p->m, p->n};
  for (int i = 0; i < 2; ++i) {
    MlirValue code = buildMatrix(e, f, p->factor[i].code, rows[i], p->count);
    MlirValue scale = buildMatrix(e, f, p->factor[i].scale, rows[i], p->outer);
    factors[i] = i ? tileKernelSwapped(e, code) : code;
    factors[2 + i] = i ? tileKernelSwapped(e, scale) : scale;
  }
}

static void setTiles(TileStructured *s, const TileScaledProduct *p) {
  tileProductSetTile(s, p->m, 0, tileProductCover(s->dims[p->m].extent, LeastSide, MostSide), 1);
  tileProductSetTile(s, p->n, 1, tileProductCover(s->dims[p->n].extent, LeastSide, MostSide), 1);
  for (int i = 0; i < p->count; ++i) {
    int64_t extent = s->dims[p->depth[i]].extent;
    tileProductSetTile(s, p->depth[i], 2 + i, i < p->outer ? tileProductCover(extent, 1, Depth / p->block) : extent, 1);
  }
}

bool tileLowerScaledProduct(TileStructured *s, const TileEpilogue *epilogue) {
  TileScaledProduct p;
  if (!tileStructuredMatchScaledProduct(s, &p))
    return false;
  tileScaledSortDims(s, &p);
  setTiles(s, &p);
  s->warps = 4;
  const Factors factors = {.s = s, .p = &p};
  const TileProduct product = {.lhs = 0, .rhs = -1, .m = p.m, .n = p.n, .k = p.depth[0]};
  TileOpKernel kernel;
  TileKernelEmission *e = tileOpKernelBegin(&kernel, s, epilogue, "scaled_product");
  tileKernelBuildNode(e, TileGroupKind_Product, &product,
                      &(TileNodeFactors){.build = buildFactors, .data = &factors, .block = p.block});
  tileKernelEnd(e);
  return true;
}
