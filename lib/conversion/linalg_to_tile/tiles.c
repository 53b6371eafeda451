// Tile sizes of a structured op's dimensions: fixed ones for a CPU, those of lib/machine/gpu_blocking.h for a GPU.
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

//===--- one dimension --------------------------------------------------------===//

// Elements along `dim` that a store writes though they are none of it: where an output's axis is a sum of dimensions,
// the next one's elements begin where these end.
static bool runsIntoNext(const TileStructured *s, int dim) {
  for (int i = s->numInputs; i < s->numInputs + s->numOutputs; i++)
    for (int axis = 0; axis < s->operands[i].rank; axis++)
      if (s->operands[i].factors[axis][dim] && s->operands[i].results[axis] != dim)
        return true;
  return false;
}

// At most `tile`, no more than the extent needs.
static int64_t fit(const TileStructured *s, int dim, int64_t tile) {
  int64_t extent = s->dims[dim].extent;
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  if (isKnown && extent < tile)
    tile = extent;
  tile = tile < 1 ? 1 : tile;
  if (tileStructuredGpu(s))
    tile = tileGpuRoundUp(tile);
  while (tile > 1 && runsIntoNext(s, dim) && (!isKnown || extent % tile))
    tile /= 2;
  return tile;
}

void tileStructuredSetExactTiles(TileStructured *s, int vector, int64_t columns, int row, int64_t rows) {
  int axis = 0;
  if (vector >= 0 && !tileStructuredCanTile(s, vector, -1))
    vector = -1;
  if (row >= 0 && !tileStructuredCanTile(s, row, vector))
    row = -1;
  for (int d = 0; d < s->numDims; d++) {
    s->dims[d].tile = d == vector ? fit(s, d, columns) : d == row ? fit(s, d, rows) : 1;
    s->dims[d].axis = s->dims[d].tile > 1 ? axis++ : -1;
  }
  const TileGpuBlocking *gpu = tileStructuredGpu(s);
  int64_t elements = (vector < 0 ? 1 : s->dims[vector].tile) * (row < 0 ? 1 : s->dims[row].tile);
  if (gpu)
    s->warps = tileGpuWarps(gpu, elements, tileStructuredElements(s) / (gpu->lanes * gpu->warps));
}

//===--- a GPU's ----------------------------------------------------------------===//

static int64_t bytesOf(MlirType element) {
  int64_t bits = mlirTypeIsAFloat(element)   ? mlirFloatTypeGetWidth(element)
                 : mlirTypeIsAIndex(element) ? 64
                                             : mlirIntegerTypeGetWidth(element);
  return (bits + 7) / 8;
}

int64_t tileStructuredElements(const TileStructured *s) {
  int64_t narrowest = 8, widest = 1;
  for (int i = 0; i < s->numInputs + s->numOutputs; i++) {
    int64_t bytes = bytesOf(tileOperandElementType(&s->operands[i]));
    narrowest = bytes < narrowest ? bytes : narrowest;
    widest = bytes > widest ? bytes : widest;
  }
  return tileGpuElements(tileStructuredGpu(s), s->numInputs + s->numOutputs, narrowest, widest);
}

// Along the contiguous dimension as far as the tile goes. Where the rows are summed up a warp's width is enough: other
// programs take the other columns.
static int64_t columnsOf(const TileStructured *s, int vector, int row, bool isSquare, int64_t elements) {
  bool sumsRows = row >= 0 && vector >= 0 && s->dims[row].isReduction && !s->dims[vector].isReduction;
  int64_t lanes = tileStructuredGpu(s)->lanes, side = 1;
  while (side * side < elements)
    side *= 2;
  return isSquare ? side : sumsRows && lanes < elements ? lanes : elements;
}

void tileStructuredSetTiles(TileStructured *s, int vector, int64_t columns, int row, int64_t rows) {
  if (tileStructuredGpu(s)) {
    int64_t elements = tileStructuredElements(s);
    columns = columnsOf(s, vector, row, columns == rows, elements);
    rows = elements / (vector >= 0 ? fit(s, vector, columns) : 1);
  }
  tileStructuredSetExactTiles(s, vector, columns, row, rows);
}

static void setProductTile(TileStructured *s, int dim, int axis, int64_t tile) {
  s->dims[dim].axis = axis;
  s->dims[dim].tile = tile;
}

static int64_t extentOf(const TileStructured *s, int dim) {
  return mlirShapedTypeIsDynamicSize(s->dims[dim].extent) ? -1 : s->dims[dim].extent;
}

// Programs that the other parallel dimensions make, -1 if one of them is unknown.
static int64_t programsBeside(const TileStructured *s, int m, int n) {
  int64_t programs = 1;
  for (int d = 0; d < s->numDims; d++) {
    if (d == m || d == n || s->dims[d].isReduction)
      continue;
    if (extentOf(s, d) < 0)
      return -1;
    programs *= s->dims[d].extent;
  }
  return programs;
}

void tileStructuredSetProductTiles(TileStructured *s, int m, int n, int k) {
  TileGpuProductExtents extents = {extentOf(s, m), extentOf(s, n), extentOf(s, k), programsBeside(s, m, n)};
  TileGpuProduct product =
      tileGpuChooseProduct(tileStructuredGpu(s), extents, bytesOf(tileOperandElementType(&s->operands[0])),
                           bytesOf(tileOperandElementType(&s->operands[s->numInputs])));
  setProductTile(s, m, 0, product.m);
  setProductTile(s, n, 1, product.n);
  setProductTile(s, k, 2, product.k);
  s->warps = product.warps;
}
