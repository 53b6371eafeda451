// The kernels of the kinds `direct` and `along-depth` (lib/search/kinds): register tiles, block after block of k, that
// read A where it lies, and B where it lies or, along depth, from columns that are packed first.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"

// Register tiles, block after block of k, both operands where they lie.
typedef struct Direct {
  const TileContraction *c;
  TileProductPanels m, n;
  MlirValue columns; // B's, all of k, one after the other; null: B where it lies
} Direct;

// B by columns: of a few, which lanes along k read.
static MlirValue packColumns(TileKernelEmission *e, const TileContraction *c) {
  int64_t columns = e->structured->dims[c->n].tile, depth = e->structured->dims[c->k].tile;
  int dims[2] = {c->n, c->k};
  MlirValue zero = tileBuildIndex(&e->body, 0);
  MlirType element = tileOperandElementType(&e->structured->operands[c->rhs]);
  MlirValue buffer = tileKernelSlice(e, tileProductBuffer(e, columns, depth, element), columns, depth, zero, zero);
  e->index[c->n] = e->index[c->k] = zero;
  tileKernelPack(e, c->rhs, dims, buffer);
  return buffer;
}

// The current block of k of the constant's column panel.
static MlirValue directPanel(TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue row = tileBuildMul(&e->body, e->index[c->k], tileBuildIndex(&e->body, k->step ? k->step : k->tile));
  return tileKernelLoadPanel(e, c->rhs, e->index[c->n], row, k->tile, e->structured->dims[c->n].tile, 1);
}

static MlirValue loadRight(TileKernelEmission *e, const Direct *direct) {
  const TileContraction *c = direct->c;
  int dims[2] = {c->k, c->n};
  if (c->arePanels)
    return directPanel(e, c);
  if (mlirValueIsNull(direct->columns))
    return tileKernelLoadMatrix(e, c->rhs, dims);
  return tileKernelSwapped(e, tileKernelLoadBuffer(e, direct->columns));
}

static void buildDirectProduct(TileKernelEmission *e, void *direct) {
  const TileContraction *c = ((const Direct *)direct)->c;
  int output = e->structured->numInputs, rows[2] = {c->m, c->k};
  MlirType type = tileKernelOutputTileType(e, tileOperandElementType(&e->structured->operands[output]));
  if (!tileProductIsShallow(e, c))
    tileKernelPrefetch(e, output, true);
  MlirValue operands[3] = {tileKernelLoadMatrix(e, c->lhs, rows), loadRight(e, direct),
                           tileProductConstant(e, type, 0)};
  MlirValue product = tileMmaOpBuild(&e->body, operands[0], operands[1], operands[2]);
  MlirValue isFirst = tileProductEquals(e, e->index[c->k], tileBuildIndex(&e->body, 0));
  tileKernelStore(e, output, tileProductResultAtEnd(e, c, tileProductAccumulate(e, c, product, isFirst)));
}

static void buildDirectPanel(TileKernelEmission *e, void *direct) {
  tileProductOverPanels(e, &((Direct *)direct)->m, buildDirectProduct, direct);
}

static void buildDirectBlock(TileKernelEmission *e, void *direct) {
  tileProductOverPanels(e, &((Direct *)direct)->n, buildDirectPanel, direct);
}

static int64_t restOf(const TileDim *dim) { return dim->extent % dim->tile; }

// `pack`: makes B's columns; null: B stays where it lies. It moves e->index, so the panels are found before.
static void buildWith(TileKernelEmission *e, const TileContraction *c,
                      MlirValue (*pack)(TileKernelEmission *e, const TileContraction *c)) {
  const TileDim *dims = e->structured->dims;
  Direct direct = {.c = c,
                   .m = tileProductPanelsAlong(e, c->m, restOf(&dims[c->m])),
                   .n = tileProductPanelsAlong(e, c->n, restOf(&dims[c->n]))};
  if (pack)
    direct.columns = pack(e, c);
  if (!dims[c->k].extent) { // a sum of nothing is stored as well: one block, whose views read their padding
    e->index[c->k] = tileBuildIndex(&e->body, 0);
    buildDirectBlock(e, &direct);
    return;
  }
  TileProductPanels blocks = {
      .dim = c->k, .last = restOf(&dims[c->k]), .programs = 1, .first = tileBuildIndex(&e->body, 0)};
  tileProductOverPanels(e, &blocks, buildDirectBlock, &direct);
}

static void buildInPlace(TileKernelEmission *e, const TileContraction *c) { buildWith(e, c, NULL); }

static void buildAlongDepth(TileKernelEmission *e, const TileContraction *c) { buildWith(e, c, packColumns); }

static void setTiles(TileStructured *s, TileContraction *c, const TileSearchTile *tile) {
  tileProductSetTile(s, c->m, 0, tile->registers.rows, tile->size[c->m] / tile->registers.rows);
  tileProductSetTile(s, c->n, 1, tile->registers.columns, tile->size[c->n] / tile->registers.columns);
  tileProductSetTile(s, c->k, 2, tile->size[c->k], 1);
}

// Panels are not padded along k.
static int64_t panelStep(const TileStructured *s, const TileContraction *c) { return 1; }

const TileProductKernel tileDirectProduct = {.setTiles = setTiles, .panelStep = panelStep, .build = buildInPlace};
const TileProductKernel tileAlongDepthProduct = {.setTiles = setTiles, .build = buildAlongDepth};
