// The kernel of a matrix product (contraction.h): packed blocks, register tiles, an optional epilogue.
//
// A program owns a block of panelsM × panelsN register tiles of C and loops over k itself
// (reference: BLIS, Van Zee and van de Geijn 2015). For each block of k it packs its rows of A once, then for each
// column panel packs B (the innermost product reads both contiguously) and multiplies register tiles. Packing fills
// past the edges with zeros, so the inner loop over k has no masks; only C's edges have. Where k may end inside a
// block, packing goes by pieces and the product by steps of k, so that little of what is not there is multiplied. Sizes
// follow from the machine (lib/machine/cpu_blocking.h). A product of few rows streams B unpacked past rows of C that
// stay in L1.
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/contraction.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

enum { DepthPerPiece = 64, DepthPerStep = 8 };

//===--- preparation --------------------------------------------------------===//

// Renumbers the dimensions: batch dimensions, then m, n, k.
static void sortDims(TileStructured *s, TileContraction *c) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; d++)
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

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void setTile(TileStructured *s, int dim, int axis, int64_t tile, int64_t panels) {
  TileDim *d = &s->dims[dim];
  d->axis = axis;
  d->tile = tile;
  d->panels = panels;
  if (mlirShapedTypeIsDynamicSize(d->extent))
    return;
  if (ceilDiv(d->extent, tile) < panels)
    d->panels = ceilDiv(d->extent, tile) < 1 ? 1 : ceilDiv(d->extent, tile);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Along k a tile is a piece, and a block has `panels` of them: one where blocks are always full.
static void chooseDepth(TileStructured *s, TileContraction *c, int64_t block) {
  int64_t extent = s->dims[c->k].extent;
  bool isFull = !mlirShapedTypeIsDynamicSize(extent) && extent % block == 0;
  int64_t piece = isFull ? block : smaller(DepthPerPiece, block);
  c->step = isFull ? block : DepthPerStep;
  s->dims[c->k].axis = 2;
  s->dims[c->k].tile = piece;
  s->dims[c->k].panels = block / piece;
}

static int64_t bytesOf(MlirType element) { return mlirFloatTypeGetWidth(element) <= 32 ? 4 : 8; }

static void chooseTiles(TileStructured *s, TileContraction *c, const TileCpuProductExtents *extents) {
  int64_t bytes = bytesOf(tileOperandElementType(&s->operands[s->numInputs]));
  TileCpuProduct p = tileCpuChooseProduct(&s->target->cpu, *extents, bytes, bytes);
  setTile(s, c->m, 0, p.rows, p.panelsM);
  setTile(s, c->n, 1, p.columns, p.panelsN);
  chooseDepth(s, c, p.depth);
}

//===--- the kernel ---------------------------------------------------------===//

static MlirValue buildBuffer(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element) {
  MlirType type = tileKernelBufferType(e, rows, columns, element);
  return tileBuildValue(&e->body, "tile.alloc", type, 0, NULL, NULL);
}

// for %i = 0 to %end step %step { … }: e->body is inside until closeLoop.
static MlirValue openSteps(TileKernelEmission *e, MlirValue end, int64_t step, TileBuilder *outer) {
  MlirBlock block;
  tileBuildFor(&e->body, tileBuildIndex(&e->body, 0), end, tileBuildIndex(&e->body, step), 0, NULL, &block);
  *outer = e->body;
  e->body = tileBuilderAtEnd(block, outer->location);
  return mlirBlockGetArgument(block, 0);
}

static MlirValue openLoop(TileKernelEmission *e, MlirValue count, TileBuilder *outer) {
  return openSteps(e, count, 1, outer);
}

static void closeLoop(TileKernelEmission *e, TileBuilder outer) {
  tileBuildYield(&e->body, 0, NULL);
  e->body = outer;
}

// Panels of this program that lie inside: min(panels, tiles left from `first` on).
static MlirValue panelsInside(TileKernelEmission *e, int dim, MlirValue first) {
  MlirValue left = tileBuildSub(&e->body, tileKernelNumTiles(e, &e->body, dim, tileKernelExtent(e, dim)), first);
  return tileBuildMin(&e->body, left, tileBuildIndex(&e->body, e->structured->dims[dim].panels));
}

static MlirValue buildEquals(TileKernelEmission *e, MlirValue a, MlirValue b) {
  enum { Eq = 0 };
  TileAttributeEntry at[] = {{"predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), Eq)}, {0}};
  return tileBuildValue(&e->body, "arith.cmpi", mlirIntegerTypeGet(e->body.context, 1), 2, (MlirValue[]){a, b}, at);
}

static MlirBlock appendBlock(MlirRegion *region) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  *region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(*region, block);
  return block;
}

// All of k is one block.
static bool isShallow(const TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return !mlirShapedTypeIsDynamicSize(k->extent) && k->extent <= k->tile * k->panels;
}

static MlirValue buildSum(TileKernelEmission *e, MlirValue a, MlirValue b) {
  return tileBuildValue(&e->body, "arith.addf", mlirValueGetType(a), 2, (MlirValue[]){a, b}, NULL);
}

static bool isZero(MlirAttribute constant) {
  return !mlirAttributeIsNull(constant) && mlirAttributeIsAFloat(constant) &&
         mlirFloatAttrGetValueDouble(constant) == 0.0;
}

// The product added to C's start value.
static MlirValue addInitial(TileKernelEmission *e, MlirValue product) {
  int output = e->structured->numInputs;
  bool startsFromZero = isZero(e->structured->operands[output].initial);
  return startsFromZero ? product : buildSum(e, product, tileKernelInitial(e, output));
}

// The product added to what C holds: its start value in the first block of k, what was stored before in the others.
// C is read after the product: it was prefetched before.
static MlirValue accumulate(TileKernelEmission *e, const TileContraction *c, MlirValue product, MlirValue isFirst) {
  int output = e->structured->numInputs;
  if (isShallow(e, c) || mlirAttributeIsNull(e->structured->operands[output].initial))
    return addInitial(e, product);
  MlirType type = mlirValueGetType(product);
  MlirRegion regions[2];
  TileBuilder outer = e->body;
  for (int i = 0; i < 2; i++) {
    e->body = tileBuilderAtEnd(appendBlock(&regions[i]), outer.location);
    MlirValue value = i == 0 ? addInitial(e, product) : buildSum(e, product, tileKernelLoad(e, output, NULL, true));
    tileBuildYield(&e->body, 1, &value);
  }
  e->body = outer;
  MlirOperation choice = tileBuild(&e->body, "scf.if", 1, &isFirst, 1, &type, NULL, 2, regions);
  return mlirOperationGetResult(choice, 0);
}

// The body's elementwise epilogue on the finished product.
static MlirValue buildEpilogue(TileKernelEmission *e, const TileContraction *c, MlirValue product) {
  const TileStructured *s = e->structured;
  TileBodyMap map = {0};
  e->bodyOverOutput = true;
  tileBodyMapSet(&map, mlirBlockGetArgument(s->body, c->product), product);
  for (int i = 2; i < s->numInputs; i++) {
    int argument = i - 2 < c->product ? i - 2 : i - 1;
    tileBodyMapSet(&map, mlirBlockGetArgument(s->body, argument), tileKernelLoad(e, i, NULL, true));
  }
  return tileKernelCloneValue(e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->body), 0));
}

// Blocks of k: at least one, so that an empty sum stores C's start value too.
static MlirValue blocksOfK(TileKernelEmission *e, const TileContraction *c) {
  int64_t depth = e->structured->dims[c->k].tile * e->structured->dims[c->k].panels;
  MlirValue blocks = tileBuildCeilDiv(&e->body, tileKernelExtent(e, c->k), tileBuildIndex(&e->body, depth));
  return tileBuildMax(&e->body, blocks, tileBuildIndex(&e->body, 1));
}

// The same after the last block of k only.
static MlirValue buildEpilogueAtEnd(TileKernelEmission *e, const TileContraction *c, MlirValue product) {
  if (c->product < 0 || isShallow(e, c))
    return c->product < 0 ? product : buildEpilogue(e, c, product);
  MlirValue last = tileBuildSub(&e->body, blocksOfK(e, c), tileBuildIndex(&e->body, 1));
  MlirValue isLast = buildEquals(e, e->index[c->k], last);
  MlirType type = mlirValueGetType(product);
  MlirRegion regions[2];
  TileBuilder outer = e->body;
  for (int i = 0; i < 2; i++) {
    e->body = tileBuilderAtEnd(appendBlock(&regions[i]), outer.location);
    MlirValue value = i == 0 ? buildEpilogue(e, c, product) : product;
    tileBuildYield(&e->body, 1, &value);
  }
  e->body = outer;
  MlirOperation choice = tileBuild(&e->body, "scf.if", 1, &isLast, 1, &type, NULL, 2, regions);
  return mlirOperationGetResult(choice, 0);
}

// What the loops of one program share.
typedef struct Block {
  const TileContraction *c;
  MlirValue packedA, packedB; // rows of all panels × depth; depth × columns of one panel
  MlirValue firstM, firstN, panelsM, panelsN;
  MlirValue number, depth; // of the current block of k
} Block;

// Multiplies the register tiles of row panel `panel`, step by step of k.
static MlirValue multiply(TileKernelEmission *e, const Block *b, MlirValue panel) {
  const TileStructured *s = e->structured;
  int64_t rows = s->dims[b->c->m].tile, columns = s->dims[b->c->n].tile, step = b->c->step;
  MlirType type = tileKernelOutputTileType(e, tileOperandElementType(&s->operands[s->numInputs]));
  MlirValue row = tileBuildMul(&e->body, panel, tileBuildIndex(&e->body, rows));
  MlirValue none = {NULL}, zero = tileBuildFloat(&e->body, type, 0.0);
  MlirBlock block;
  MlirOperation loop =
      tileBuildFor(&e->body, tileBuildIndex(&e->body, 0), b->depth, tileBuildIndex(&e->body, step), 1, &zero, &block);
  TileBuilder outer = e->body;
  e->body = tileBuilderAtEnd(block, outer.location);
  MlirValue at = mlirBlockGetArgument(block, 0);
  MlirValue operands[3] = {tileKernelLoadBuffer(e, tileKernelSlice(e, b->packedA, rows, step, row, at)),
                           tileKernelLoadBuffer(e, tileKernelSlice(e, b->packedB, step, columns, at, none)),
                           mlirBlockGetArgument(block, 1)};
  MlirValue sum = tileBuildValue(&e->body, "tile.mma", type, 3, operands, NULL);
  tileBuildYield(&e->body, 1, &sum);
  e->body = outer;
  return mlirOperationGetResult(loop, 0);
}

static void buildProduct(TileKernelEmission *e, const Block *b, MlirValue panel, MlirValue isFirst) {
  int output = e->structured->numInputs;
  e->index[b->c->m] = tileBuildAdd(&e->body, b->firstM, panel);
  tileKernelPrefetch(e, output);
  MlirValue sum = accumulate(e, b->c, multiply(e, b, panel), isFirst);
  e->index[b->c->k] = b->number;
  tileKernelStore(e, output, buildEpilogueAtEnd(e, b->c, sum));
}

// Packs operand `index` piece by piece of k; `along` is the buffer's dimension that k is.
static void pack(TileKernelEmission *e, const Block *b, int index, int along, MlirValue buffer, MlirValue row) {
  const TileContraction *c = b->c;
  const TileDim *k = &e->structured->dims[c->k];
  int64_t other = e->structured->dims[along ? c->m : c->n].tile;
  int dims[2] = {along ? c->m : c->k, along ? c->k : c->n};
  MlirValue none = {NULL}, pieces = tileBuildIndex(&e->body, k->panels);
  MlirValue first = tileBuildMul(&e->body, b->number, pieces);
  TileBuilder outside;
  MlirValue at = openSteps(e, b->depth, k->tile, &outside);
  MlirValue piece = tileBuildValue(&e->body, "arith.divui", mlirIndexTypeGet(e->body.context), 2,
                                   (MlirValue[]){at, tileBuildIndex(&e->body, k->tile)}, NULL);
  e->index[c->k] = tileBuildAdd(&e->body, first, piece);
  MlirValue part = along ? tileKernelSlice(e, buffer, other, k->tile, row, at)
                         : tileKernelSlice(e, buffer, k->tile, other, at, none);
  tileKernelPack(e, index, dims, part);
  closeLoop(e, outside);
}

// Elements of k in the current block: all of it where blocks are always full.
static MlirValue depthOfBlock(TileKernelEmission *e, const TileContraction *c, MlirValue number) {
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue depth = tileBuildIndex(&e->body, k->tile * k->panels);
  if (c->step == k->tile)
    return depth;
  MlirValue left = tileBuildSub(&e->body, tileKernelExtent(e, c->k), tileBuildMul(&e->body, number, depth));
  return tileBuildMin(&e->body, left, depth);
}

static Block openBlock(TileKernelEmission *e, const TileContraction *c) {
  const TileStructured *s = e->structured;
  const TileDim *m = &s->dims[c->m], *n = &s->dims[c->n], *k = &s->dims[c->k];
  int64_t depth = k->tile * k->panels;
  Block b = {.c = c};
  b.packedA = buildBuffer(e, m->tile * m->panels, depth, tileOperandElementType(&s->operands[c->lhs]));
  b.packedB = buildBuffer(e, depth, n->tile, tileOperandElementType(&s->operands[c->rhs]));
  b.firstM = tileBuildMul(&e->body, e->index[c->m], tileBuildIndex(&e->body, m->panels));
  b.firstN = tileBuildMul(&e->body, e->index[c->n], tileBuildIndex(&e->body, n->panels));
  b.panelsM = panelsInside(e, c->m, b.firstM);
  b.panelsN = panelsInside(e, c->n, b.firstN);
  return b;
}

static void buildBlock(TileKernelEmission *e, const TileContraction *c) {
  Block b = openBlock(e, c);
  MlirValue rows = tileBuildIndex(&e->body, e->structured->dims[c->m].tile), none = {NULL};
  TileBuilder outside, inK, inN;

  b.number = openLoop(e, blocksOfK(e, c), &outside);
  b.depth = depthOfBlock(e, c, b.number);
  MlirValue isFirst = buildEquals(e, b.number, tileBuildIndex(&e->body, 0));
  MlirValue panel = openLoop(e, b.panelsM, &inK);
  e->index[c->m] = tileBuildAdd(&e->body, b.firstM, panel);
  pack(e, &b, c->lhs, 1, b.packedA, tileBuildMul(&e->body, panel, rows));
  closeLoop(e, inK);

  panel = openLoop(e, b.panelsN, &inK);
  e->index[c->n] = tileBuildAdd(&e->body, b.firstN, panel);
  pack(e, &b, c->rhs, 0, b.packedB, none);
  buildProduct(e, &b, openLoop(e, b.panelsM, &inN), isFirst);
  closeLoop(e, inN);
  closeLoop(e, inK);
  closeLoop(e, outside);
}

//===--- for a GPU -----------------------------------------------------------===//

static void buildStep(TileKernelEmission *e, const void *contraction, MlirValue *sum) {
  const TileContraction *c = contraction;
  int rows[2] = {c->m, c->k}, columns[2] = {c->k, c->n};
  MlirValue operands[3] = {tileKernelLoadMatrix(e, c->lhs, rows), tileKernelLoadMatrix(e, c->rhs, columns), *sum};
  *sum = tileBuildValue(&e->body, "tile.mma", mlirValueGetType(*sum), 3, operands, NULL);
}

// One tile of C per program, operands from memory: staging and copies ahead are passes of their own.
static void buildFromMemory(TileKernelEmission *e, const TileContraction *c) {
  int output = e->structured->numInputs;
  MlirValue sum = tileKernelInitial(e, output);
  tileKernelLoopOverReductions(e, 1, &sum, buildStep, c);
  tileKernelStore(e, output, c->product < 0 ? sum : buildEpilogue(e, c, sum));
}

static void planTiles(TileStructured *s, const TileContraction *c) {
  TileTiling tiling = {.tiled = 1u << c->m | 1u << c->n | 1u << c->k,
                       .whole = -1,
                       .isProduct = true,
                       .product = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k}};
  tileStructuredPlanTiles(s, &tiling);
}

//===--- the whole ---------------------------------------------------------===//

static int64_t extentOf(const TileStructured *s, int dim) {
  return mlirShapedTypeIsDynamicSize(s->dims[dim].extent) ? -1 : s->dims[dim].extent;
}

static TileCpuProductExtents extentsOf(const TileStructured *s, const TileContraction *c) {
  TileCpuProductExtents extents = {extentOf(s, c->m), extentOf(s, c->n), extentOf(s, c->k), 1};
  for (int d = 0; d < c->m && extents.programs > 0; d++)
    extents.programs = extentOf(s, d) < 0 ? -1 : extents.programs * extentOf(s, d);
  return extents;
}

// On a CPU: few rows, and B's rows contiguous. B is then read once, where it lies.
static bool chooseStream(TileStructured *s, TileContraction *c, const TileCpuProductExtents *extents) {
  const TileOperand *b = &s->operands[c->rhs];
  int64_t bytes = bytesOf(tileOperandElementType(&s->operands[s->numInputs]));
  if (extents->m < 1 || extents->m >= tileCpuProductRows(&s->target->cpu) || b->results[b->rank - 1] != c->n)
    return false;
  TileCpuStream stream = tileCpuChooseStream(&s->target->cpu, *extents, bytes);
  if (!stream.columns)
    return false;
  setTile(s, c->m, 0, extents->m, 1);
  setTile(s, c->n, 1, stream.columns, 1);
  setTile(s, c->k, 2, stream.depth, 1);
  return true;
}

void tileEmitContraction(TileStructured *s, TileContraction *c) {
  TileKernelEmission e;
  bool isForGpu = tileStructuredGpu(s) != NULL;
  sortDims(s, c);
  TileCpuProductExtents extents = extentsOf(s, c);
  bool fromMemory = isForGpu || chooseStream(s, c, &extents);
  if (isForGpu)
    planTiles(s, c);
  else if (!fromMemory)
    chooseTiles(s, c, &extents);
  tileKernelBegin(&e, s, "matmul");
  (fromMemory ? buildFromMemory : buildBlock)(&e, c);
  tileKernelEnd(&e);
}
