// The kernel of the kind `packed` (lib/search/kinds/packed_kind.c).
//
// A program owns a block of panelsM × panelsN register tiles of C and loops over k itself. For each block of k it packs
// its rows of A once, then for each panel of columns it packs B and multiplies register tiles: the innermost product
// reads both contiguously. Packing fills with zeros past the edges, so the inner loop over k has no masks; only C's
// edges have. Where k may end inside a block, packing goes by pieces and the product by steps of k, so that little
// padding is multiplied. Where the CPU has a dot instruction for the types, neighbours along k are packed side by side.
// A constant B lies in panels from the start. Source: BLIS (Van Zee and van de Geijn 2015).
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"

//===--- tiles ----------------------------------------------------------------===//

static int64_t powerBelow(int64_t block, int64_t most) {
  while (block % most)
    most /= 2;
  return most;
}

// Tiles along k where A's rows come in runs and k is a whole number of runs: a piece is a run, or a part of one.
static void setDepthOfRuns(TileStructured *s, TileContraction *c, int64_t block, int64_t run) {
  int64_t extent = s->dims[c->k].extent, piece = block < run ? block : run;
  c->step = extent % block ? piece : block < extent ? block : extent;
  s->dims[c->k].axis = 2;
  s->dims[c->k].tile = piece;
  s->dims[c->k].panels = tessera_ceil_div(block < extent ? block : extent, piece);
}

// Along k a tile is a piece, and a block has `panels` of them: one where blocks are always full.
static void setDepth(TileStructured *s, TileContraction *c, int64_t block) {
  int64_t extent = s->dims[c->k].extent, run = tileStructuredRun(s, &s->operands[c->lhs], c->k);
  if (run) {
    setDepthOfRuns(s, c, block, run);
    return;
  }
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  int64_t padding = isKnown ? tessera_ceil_div(extent, block) * block - extent : extent;
  bool isFull = isKnown && (c->dot ? padding * 8 <= extent : !padding);
  isFull |= c->dot && c->dot->isByTiles; // sums stay in tile registers for the whole block
  const TileSearchModel *model = &s->target->search.model;
  int64_t piece = isFull ? block : powerBelow(block, model->depthPiece);
  c->step = isFull ? block : powerBelow(piece, c->dot ? model->depthDots : model->depthStep);
  s->dims[c->k].axis = 2;
  s->dims[c->k].tile = piece;
  s->dims[c->k].panels = block / piece;
}

// What the loops of one program share.
typedef struct Block {
  const TileContraction *c;
  MlirValue packedA, packedB; // rows of all panels × depth; depth × columns of one panel
  TileProductPanels m, n;
  MlirValue number, depth;  // of the current block of k
  MlirValue isFirst;        // it is the first one
  MlirValue column;         // number of the column panel
  MlirValue leastA, leastB; // bf16 by dots: see leastMagnitude
  int64_t leastOfPanels;    // of a constant's, else all ones
  MlirValue sums;           // of results narrower than they: f32, of the program's block
  MlirValue ones, excess;   // bytes by dots: a packed row of ones; what every sum of a column is to start from
} Block;

// A step of k of the constant's column panel, from `at` of the current block on.
static MlirValue loadOfPanel(TileKernelEmission *e, const Block *b, MlirValue at) {
  const TileContraction *c = b->c;
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue before = tileBuildMul(&e->body, b->number, tileBuildIndex(&e->body, k->tile * k->panels));
  return tileKernelLoadPanel(e, c->rhs, b->column, tileBuildAdd(&e->body, before, at), c->step,
                             e->structured->dims[c->n].tile, c->dot ? c->dot->group : 1);
}

// sum + the product of `rows` rows of `packed` from `row` on and the column panel, step by step of k, with `dot` or
// (null) by multiply-adds.
static MlirValue multiplyRows(TileKernelEmission *e, const Block *b, MlirValue packed, int64_t rows, MlirValue row,
                              MlirValue sum, const TileDot *dot) {
  int64_t columns = e->structured->dims[b->c->n].tile, step = b->c->step;
  MlirValue none = {NULL};
  TileKernelLoop loop;
  MlirValue at = tileKernelOpenLoop(e, b->depth, step, 1, &sum, &loop);
  MlirValue right = b->c->arePanels ? loadOfPanel(e, b, at)
                                    : tileKernelLoadBuffer(e, tileKernelSlice(e, b->packedB, step, columns, at, none));
  MlirValue left = tileKernelLoadBuffer(e, tileKernelSlice(e, packed, rows, step, row, at));
  MlirAttribute atom = dot ? mlirStringAttrGet(e->body.context, tileString(dot->atom)) : mlirAttributeGetNull();
  sum = tileOnlyResult(tileMmaOpCreate(&e->body, left, right, sum, mlirAttributeGetNull(), atom));
  tileKernelCloseLoop(e, &loop);
  return sum;
}

// Narrow floats are summed in f32, except by FP16 arithmetic.
static MlirType sumElement(const TileStructured *s, const TileContraction *c) {
  MlirType element = tileOperandElementType(&s->operands[s->numInputs]);
  bool isNarrow = mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
  return isNarrow && !(c->dot && c->dot->isByHalves) ? mlirF32TypeGet(mlirTypeGetContext(element)) : element;
}

// Multiplies the register tiles of row panel `panel`.
static MlirValue multiply(TileKernelEmission *e, const Block *b, MlirValue panel, const TileDot *dot) {
  int64_t rows = e->structured->dims[b->c->m].tile;
  MlirType type = tileKernelOutputTileType(e, sumElement(e->structured, b->c));
  MlirValue row = tileBuildMul(&e->body, panel, tileBuildIndex(&e->body, rows));
  MlirValue start = mlirValueIsNull(b->excess) ? tileProductConstant(e, type, 0)
                                               : tileKernelBroadcast(e, b->excess, type, 1, (int64_t[]){0});
  return multiplyRows(e, b, b->packedA, rows, row, start, dot);
}

//===--- results narrower than their sums -------------------------------------===//

static bool isNarrowed(const TileStructured *s, const TileContraction *c) {
  return !mlirTypeEqual(sumElement(s, c), tileOperandElementType(&s->operands[s->numInputs]));
}

// Rounds the sums, for good, and stores the result.
static void storeNarrow(TileKernelEmission *e, const Block *b, MlirValue sum) {
  int output = e->structured->numInputs;
  MlirType element = tileOperandElementType(&e->structured->operands[output]);
  tileKernelStore(e, output, tileKernelResult(e, tileKernelCast(e, sum, element)));
}

// The register tile's part of the program's sums.
static MlirValue partOfSums(TileKernelEmission *e, const Block *b, MlirValue panel) {
  const TileDim *m = &e->structured->dims[b->c->m], *n = &e->structured->dims[b->c->n];
  MlirValue column = tileBuildSub(&e->body, e->index[b->c->n], b->n.first);
  return tileKernelSlice(e, b->sums, m->tile, n->tile, tileBuildMul(&e->body, panel, tileBuildIndex(&e->body, m->tile)),
                         tileBuildMul(&e->body, column, tileBuildIndex(&e->body, n->step ? n->step : n->tile)));
}

// Between blocks of k the sums wait in f32.
static void buildNarrowed(TileKernelEmission *e, const Block *b, MlirValue panel, const TileDot *dot) {
  MlirValue sum = multiply(e, b, panel, dot);
  e->index[b->c->k] = b->number;
  if (tileProductIsShallow(e, b->c)) {
    storeNarrow(e, b, tileProductAddInitial(e, sum));
    return;
  }
  TileKernelBranch branch = tileKernelOpenBranch(e);
  tileKernelElse(e, &branch, tileProductAddInitial(e, sum));
  MlirValue before = tileKernelLoadBuffer(e, partOfSums(e, b, panel));
  sum = tileKernelCloseBranch(e, &branch, b->isFirst, arithAddFOpBuild(&e->body, sum, before));
  MlirValue last = tileBuildSub(&e->body, tileProductBlocksOfK(e, b->c), tileBuildIndex(&e->body, 1));
  MlirValue isLast = tileProductEquals(e, b->number, last), none = {NULL};
  branch = tileKernelOpenBranch(e);
  storeNarrow(e, b, sum);
  tileKernelElse(e, &branch, none);
  tileStoreOpBuild(&e->body, sum, partOfSums(e, b, panel), 0, NULL);
  tileKernelCloseBranch(e, &branch, isLast, none);
}

static void buildProduct(TileKernelEmission *e, const Block *b, const TileDot *dot) {
  int output = e->structured->numInputs;
  MlirValue panel = tileBuildSub(&e->body, e->index[b->c->m], b->m.first);
  if (isNarrowed(e->structured, b->c)) {
    buildNarrowed(e, b, panel, dot);
    return;
  }
  tileKernelPrefetch(e, output, true);
  MlirValue sum = tileProductAccumulate(e, b->c, multiply(e, b, panel, dot), b->isFirst);
  e->index[b->c->k] = b->number;
  tileKernelStore(e, output, tileProductResultAtEnd(e, b->c, sum));
}

static void buildDotProduct(TileKernelEmission *e, void *block) {
  const Block *b = block;
  buildProduct(e, b, b->c->dot);
}

static void buildPlainProduct(TileKernelEmission *e, void *block) { buildProduct(e, block, NULL); }

//===--- bf16 by an instruction that knows no subnormals --------------------===//

// The least magnitude but zero of a tile of bf16, less 1, as its 16 bits; all ones where everything is zero.
static MlirValue leastMagnitude(TileKernelEmission *e, MlirValue tile) {
  MlirType word = mlirIntegerTypeGet(e->body.context, 16), type = mlirValueGetType(tile);
  int64_t sizes[2] = {mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1)};
  MlirType words = tileTileTypeGet(2, sizes, word, mlirAttributeGetNull());
  MlirValue bits = arithBitcastOpBuild(&e->body, words, tile);
  bits = arithAndIOpBuild(&e->body, bits, tileBuildInteger(&e->body, words, 0x7fff));
  bits = arithSubIOpBuild(&e->body, bits, tileBuildInteger(&e->body, words, 1));
  return tileKernelFold(e, tileUpstreamName(ArithOp_MinUI), bits, word, 2, (int64_t[]){0, 1});
}

// Both operands are normal numbers and zeros, and the exponents of the least ones add up to so much that every product,
// and with it every sum, is a multiple of the smallest normal number: nothing can become subnormal on the way. A number
// with (biased) exponent e is a multiple of 2^(e - 127 - 7), so exponents of 127 + 7 + 127 + 7 - 126 = 142 do.
static MlirValue knowsNoSubnormals(TileKernelEmission *e, const Block *b) {
  enum { FractionBits = 7, LeastNormal = 1 << FractionBits, LeastExponents = 142 };
  MlirType word = mlirIntegerTypeGet(e->body.context, 16);
  MlirValue shift = tileBuildInteger(&e->body, word, FractionBits);
  MlirValue ofA = arithShRUIOpBuild(&e->body, b->leastA, shift), ofB = arithShRUIOpBuild(&e->body, b->leastB, shift);
  MlirValue exponents = arithAddIOpBuild(&e->body, ofA, ofB);
  MlirValue least = tileBuildInteger(&e->body, word, LeastNormal),
            enough = tileBuildInteger(&e->body, word, LeastExponents);
  MlirValue pairs[3][2] = {{b->leastA, least}, {b->leastB, least}, {exponents, enough}}, all = {NULL};
  for (int i = 0; i < 3; ++i) {
    MlirValue holds = arithCmpIOpBuild(&e->body, pairs[i][0], pairs[i][1], ArithCmpI_Uge);
    all = i ? arithAndIOpBuild(&e->body, all, holds) : holds;
  }
  return all;
}

// The instruction where it computes what a product is (docs/numerics.md §4), multiply-adds elsewhere.
static void buildGuardedProducts(TileKernelEmission *e, Block *b) {
  MlirValue safe = knowsNoSubnormals(e, b), none = {NULL};
  TileKernelBranch branch = tileKernelOpenBranch(e);
  tileProductOverPanels(e, &b->m, buildDotProduct, b);
  tileKernelElse(e, &branch, none);
  tileProductOverPanels(e, &b->m, buildPlainProduct, b);
  tileKernelCloseBranch(e, &branch, safe, none);
}

static bool needsGuard(const TileContraction *c) { return c->dot && c->dot->losesSubnormals; }

//===--- signed bytes by an instruction whose left factors are unsigned -----===//

enum { Excess = 128 };

static bool areBytes(const TileContraction *c) { return c->dot && c->dot->isUnsigned[0] && !c->isUnsigned; }

// A packed row of ones.
static MlirValue buildOnes(TileKernelEmission *e, int64_t depth) {
  MlirType byte = mlirIntegerTypeGet(e->body.context, 8);
  MlirType row = tileKernelBufferType(e, 1, depth, byte);
  MlirValue buffer = tileAllocOpBuild(&e->body, row);
  MlirType type = tileTileTypeGet(2, (int64_t[]){1, depth}, byte, mlirAttributeGetNull());
  tileStoreOpBuild(&e->body, tileProductConstant(e, type, 1), buffer, 0, NULL);
  return buffer;
}

// -128 times the sums of the packed panel's columns: what A's bytes, packed with 128 more, make too much.
static MlirValue buildExcess(TileKernelEmission *e, const Block *b) {
  int64_t columns = e->structured->dims[b->c->n].tile;
  MlirType word = mlirIntegerTypeGet(e->body.context, 32);
  MlirType row = tileTileTypeGet(2, (int64_t[]){1, columns}, word, mlirAttributeGetNull());
  MlirType flat = tileTileTypeGet(1, &columns, word, mlirAttributeGetNull());
  MlirValue none = {NULL}, sums = multiplyRows(e, b, b->ones, 1, none, tileProductConstant(e, row, 0), b->c->dot);
  sums = tileReshapeOpBuild(&e->body, flat, sums);
  return arithMulIOpBuild(&e->body, sums, tileProductConstant(e, flat, -Excess));
}

// A tile of A with 128 more, as unsigned bytes.
static MlirValue buildUnsigned(TileKernelEmission *e, MlirValue tile) {
  return arithXOrIOpBuild(&e->body, tile, tileProductConstant(e, mlirValueGetType(tile), -Excess));
}

//===--- packing ------------------------------------------------------------===//

// Narrow floats that no instruction multiplies are widened once, while they are packed, instead of once for each
// register tile: their products and sums are those of f32.
static MlirType packedElement(const TileStructured *s, const TileContraction *c, int operand) {
  MlirType element = tileOperandElementType(&s->operands[operand]);
  return c->isWidened ? mlirF32TypeGet(mlirTypeGetContext(element)) : element;
}

// `tile` as the buffers hold it.
static MlirValue buildPacked(TileKernelEmission *e, const TileContraction *c, int operand, MlirValue tile) {
  if (areBytes(c) && operand == c->lhs)
    return buildUnsigned(e, tile);
  return tileKernelCast(e, tile, packedElement(e->structured, c, operand));
}

// Packs operand `index` piece by piece of k; `along` is the buffer's dimension that k is. `least`, where it is needed,
// becomes the least of itself and of what is packed.
static void pack(TileKernelEmission *e, const Block *b, int index, int along, MlirValue buffer, MlirValue row,
                 MlirValue *least) {
  const TileContraction *c = b->c;
  const TileDim *k = &e->structured->dims[c->k];
  int64_t other = e->structured->dims[along ? c->m : c->n].tile;
  int dims[2] = {along ? c->m : c->k, along ? c->k : c->n};
  MlirValue none = {NULL}, pieces = tileBuildIndex(&e->body, k->panels);
  MlirValue first = tileBuildMul(&e->body, b->number, pieces);
  TileKernelLoop loop;
  MlirValue at = tileKernelOpenLoop(e, b->depth, k->tile, needsGuard(c), least, &loop);
  MlirValue piece = arithDivUIOpBuild(&e->body, at, tileBuildIndex(&e->body, k->tile));
  e->index[c->k] = tileBuildAdd(&e->body, first, piece);
  MlirValue part = along ? tileKernelSlice(e, buffer, other, k->tile, row, at)
                         : tileKernelSlice(e, buffer, k->tile, other, at, none);
  bool isCopy =
      mlirTypeEqual(packedElement(e->structured, c, index), tileOperandElementType(&e->structured->operands[index]));
  if (isCopy && !(areBytes(c) && along))
    tileKernelPack(e, index, dims, part);
  else
    tileStoreOpBuild(&e->body, buildPacked(e, c, index, tileKernelLoadMatrix(e, index, dims)), part, 0, NULL);
  if (needsGuard(c))
    *least = arithMinUIOpBuild(&e->body, *least, leastMagnitude(e, tileKernelLoadMatrix(e, index, dims)));
  tileKernelCloseLoop(e, &loop);
}

// Packs the rows of A's current panel, from `row` of the buffer on, where they come in runs: run after run.
static void packRuns(TileKernelEmission *e, const Block *b, MlirValue row, MlirValue *least) {
  const TileContraction *c = b->c;
  const TileDim *m = &e->structured->dims[c->m], *k = &e->structured->dims[c->k];
  MlirValue first = tileBuildMul(&e->body, e->index[c->m], tileBuildIndex(&e->body, m->tile)), at[MaxDims];
  MlirValue inside = tileBuildMin(&e->body, tileBuildIndex(&e->body, m->tile),
                                  tileBuildSub(&e->body, tileKernelExtent(e, c->m), first));
  TileKernelLoop rows, runs;
  MlirValue number = tileKernelOpenLoop(e, inside, 1, needsGuard(c), least, &rows);
  MlirValue into = tileKernelOpenLoop(e, b->depth, k->tile, needsGuard(c), least, &runs);
  MlirValue block = tileBuildMul(&e->body, b->number, tileBuildIndex(&e->body, k->tile * k->panels));
  at[c->m] = tileBuildAdd(&e->body, first, number);
  at[c->k] = tileBuildAdd(&e->body, block, into);
  MlirValue part = tileKernelSlice(e, b->packedA, 1, k->tile, tileBuildAdd(&e->body, row, number), into);
  MlirValue run = tileKernelLoadRun(e, c->lhs, at, k->tile);
  tileStoreOpBuild(&e->body, buildPacked(e, c, c->lhs, run), part, 0, NULL);
  if (needsGuard(c))
    *least = arithMinUIOpBuild(&e->body, *least, leastMagnitude(e, run));
  tileKernelCloseLoop(e, &runs);
  tileKernelCloseLoop(e, &rows);
}

// Every block of k is multiplied whole, the zeros past the end too.
static bool areBlocksFull(const TileStructured *s, const TileContraction *c) {
  return c->step == s->dims[c->k].tile * s->dims[c->k].panels;
}

// Elements of k in the current block: all of it where blocks are always full.
static MlirValue depthOfBlock(TileKernelEmission *e, const TileContraction *c, MlirValue number) {
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue depth = tileBuildIndex(&e->body, k->tile * k->panels);
  if (areBlocksFull(e->structured, c))
    return depth;
  MlirValue left = tileBuildSub(&e->body, tileKernelExtent(e, c->k), tileBuildMul(&e->body, number, depth));
  return tileBuildMin(&e->body, left, depth);
}

static Block openBlock(TileKernelEmission *e, const TileContraction *c) {
  const TileStructured *s = e->structured;
  const TileDim *m = &s->dims[c->m], *n = &s->dims[c->n], *k = &s->dims[c->k];
  int64_t depth = k->tile * k->panels;
  Block b = {.c = c};
  b.packedA = tileProductBuffer(e, m->tile * m->panels, depth, packedElement(s, c, c->lhs));
  MlirType columns =
      tileKernelGroupedBufferType(e, depth, n->tile, packedElement(s, c, c->rhs), c->dot ? c->dot->group : 1);
  if (!c->arePanels)
    b.packedB = tileAllocOpBuild(&e->body, columns);
  b.leastOfPanels = c->arePanels ? c->leastOfPanels : -1;
  b.m = tileProductPanelsAlong(e, c->m, 0);
  b.n = tileProductPanelsAlong(e, c->n, c->lastPanel);
  if (areBytes(c))
    b.ones = buildOnes(e, depth);
  if (isNarrowed(s, c) && !tileProductIsShallow(e, c))
    b.sums = tileProductBuffer(e, m->tile * m->panels, n->tile * n->panels, mlirF32TypeGet(e->body.context));
  return b;
}

// Packs the row panel that e->index says.
static void packRows(TileKernelEmission *e, Block *b) {
  MlirValue panel = tileBuildSub(&e->body, e->index[b->c->m], b->m.first);
  MlirValue row = tileBuildMul(&e->body, panel, tileBuildIndex(&e->body, e->structured->dims[b->c->m].tile));
  if (e->structured->operands[b->c->lhs].numTerms)
    packRuns(e, b, row, &b->leastA);
  else
    pack(e, b, b->c->lhs, 1, b->packedA, row, &b->leastA);
}

// Packs the column panel that e->index says, if it is not a constant's, and multiplies the block's rows with it.
static void buildPanel(TileKernelEmission *e, void *block) {
  Block *b = block;
  const TileContraction *c = b->c;
  MlirValue none = {NULL};
  b->leastB =
      needsGuard(c) ? tileBuildInteger(&e->body, mlirIntegerTypeGet(e->body.context, 16), b->leastOfPanels) : none;
  b->column = e->index[c->n];
  if (!c->arePanels)
    pack(e, b, c->rhs, 0, b->packedB, none, &b->leastB);
  if (areBytes(c))
    b->excess = buildExcess(e, b);
  if (needsGuard(c))
    buildGuardedProducts(e, b);
  else
    tileProductOverPanels(e, &b->m, buildDotProduct, b);
}

static void build(TileKernelEmission *e, const TileContraction *c) {
  MlirValue none = {NULL};
  Block b = openBlock(e, c);
  TileKernelLoop blocks, panels;
  b.number = tileKernelOpenLoop(e, tileProductBlocksOfK(e, c), 1, 0, NULL, &blocks);
  b.depth = depthOfBlock(e, c, b.number);
  b.isFirst = tileProductEquals(e, b.number, tileBuildIndex(&e->body, 0));
  b.leastA = needsGuard(c) ? tileBuildInteger(&e->body, mlirIntegerTypeGet(e->body.context, 16), -1) : none;
  MlirValue panel = tileKernelOpenLoop(e, tileProductPanelsInside(e, &b.m), 1, needsGuard(c), &b.leastA, &panels);
  e->index[c->m] = tileBuildAdd(&e->body, b.m.first, panel);
  packRows(e, &b);
  tileKernelCloseLoop(e, &panels);
  tileProductOverPanels(e, &b.n, buildPanel, &b);
  tileKernelCloseLoop(e, &blocks);
}

static void setTiles(TileStructured *s, TileContraction *c, const TileSearchTile *tile) {
  tileProductSetTile(s, c->m, 0, tile->registers.rows, tile->size[c->m] / tile->registers.rows);
  tileProductSetTile(s, c->n, 1, tile->registers.columns, tile->size[c->n] / tile->registers.columns);
  setDepth(s, c, tile->size[c->k]);
}

static int64_t panelStep(const TileStructured *s, const TileContraction *c) { return c->step; }

const TileProductKernel tilePackedProduct = {.setTiles = setTiles, .panelStep = panelStep, .build = build};
