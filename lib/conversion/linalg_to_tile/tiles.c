// Tile sizes of a structured op's dimensions: those of the op's schedule (tile-construct-tiles writes it), else the
// plain sizes of the kind of kernel: tileKindPlainTile for products, the caller's for all other ops.
#include "lib/analysis/tiling.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

// At most `tile`, no more than the extent needs: a power of two on a GPU.
static int64_t fit(const TileStructured *s, int dim, int64_t tile) {
  int64_t extent = s->dims[dim].extent;
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  if (isKnown && extent < tile && !tileStructuredGpu(s))
    tile = extent;
  while (isKnown && tileStructuredGpu(s) && (tile & (tile - 1) || tile / 2 >= extent) && tile > 1)
    tile = tile & (tile - 1) ? tile & (tile - 1) : tile / 2;
  tile = tile < 1 ? 1 : tile;
  while (tile > 1 && tileStructuredRunsIntoNext(s, dim) && (!isKnown || extent % tile))
    tile /= 2;
  return tile;
}

bool tileStructuredPlanTiles(TileStructured *s, const TileTiling *tiling) {
  TileSearchTile tile;
  int axis = 0;
  if (!tileStructuredTile(s, tiling, &tile))
    return false;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = tile.size[d];
    s->dims[d].axis = tile.size[d] > 1 ? axis++ : -1;
  }
  if (tileStructuredGpu(s)) {
    s->warps = tile.gpu.warps;
    s->registers = tile.gpu.registerLimit;
    s->group = tile.kind == TileKind_Product ? tile.gpu.group : 0;
  }
  // A product's kernel has an axis for each of m, n and k, be it of one element. Its emission puts m and n last.
  const int dims[3] = {tiling->product.m, tiling->product.n, tiling->product.k};
  for (int i = 0; i < 3 && tiling->isProduct; ++i)
    s->dims[dims[i]].axis = i;
  return true;
}

static uint32_t bitOf(int dim) { return dim < 0 ? 0 : 1u << dim; }

void tileStructuredSetTiles(TileStructured *s, int vector, int64_t columns, int row, int64_t rows) {
  TileTiling tiling = {.tiled = bitOf(vector) | bitOf(row), .whole = -1};
  int axis = 0;
  if (tileStructuredPlanTiles(s, &tiling))
    return;
  if (vector >= 0 && !tileStructuredCanTile(s, vector, -1))
    vector = -1;
  if (row >= 0 && !tileStructuredCanTile(s, row, vector))
    row = -1;
  for (int d = 0; d < s->numDims; ++d) {
    s->dims[d].tile = d == vector ? fit(s, d, columns) : d == row ? fit(s, d, rows) : 1;
    s->dims[d].axis = s->dims[d].tile > 1 ? axis++ : -1;
  }
}
