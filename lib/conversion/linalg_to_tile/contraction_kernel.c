// The kernel of a matrix product (contraction.h): packed blocks, register tiles, an optional epilogue.
//
// A program owns a block of panelsM × panelsN register tiles of C and loops over k itself
// (reference: BLIS, Van Zee and van de Geijn 2015). For each block of k it packs its rows of A once, then for each
// column panel packs B (the innermost product reads both contiguously) and multiplies register tiles. Packing fills
// past the edges with zeros, so the inner loop over k has no masks; only C's edges have. Where k may end inside a
// block, packing goes by pieces and the product by steps of k, so that little of what is not there is multiplied. Where
// the CPU has a dot instruction for the types, B is packed with neighbours along k side by side. Sizes are the
// schedule's, or constructed for the machine (lib/search/kind.h). A product of few rows streams B unpacked past
// rows of C that stay in L1; one of small operands multiplies register tiles where the operands lie; one of fewer
// columns than a vector has lanes packs B by columns and sums lane by lane along k. A constant B lies in panels from
// the start, if either of the others gains by it.
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/contraction.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

enum { DepthPerPiece = 64, DepthPerStep = 8, DepthPerDots = 16 };

//===--- preparation --------------------------------------------------------===//

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

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A block of `panels` tiles, no more than the extent has.
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

// The least power of two not below the size.
static int64_t bucketOf(int64_t size) {
  int64_t bucket = 1;
  while (bucket < size)
    bucket *= 2;
  return bucket;
}

static int64_t powerBelow(int64_t block, int64_t most) {
  while (block % most)
    most /= 2;
  return most;
}

// The same where A's rows come in runs, of which k has whole ones: a piece is a run, or a part of one.
static void setDepthOfRuns(TileStructured *s, TileContraction *c, int64_t block, int64_t run) {
  int64_t extent = s->dims[c->k].extent, piece = block < run ? block : run;
  c->step = extent % block ? piece : block < extent ? block : extent;
  s->dims[c->k].axis = 2;
  s->dims[c->k].tile = piece;
  s->dims[c->k].panels = ceilDiv(block < extent ? block : extent, piece);
}

// Along k a tile is a piece, and a block has `panels` of them: one where blocks are always full.
static void setDepth(TileStructured *s, TileContraction *c, int64_t block) {
  int64_t extent = s->dims[c->k].extent, run = tileStructuredRun(s, &s->operands[c->lhs], c->k);
  if (run) {
    setDepthOfRuns(s, c, block, run);
    return;
  }
  bool isKnown = !mlirShapedTypeIsDynamicSize(extent);
  int64_t padding = isKnown ? ceilDiv(extent, block) * block - extent : extent;
  bool isFull = isKnown && (c->dot ? padding * 8 <= extent : !padding);
  int64_t piece = isFull ? block : powerBelow(block, DepthPerPiece);
  c->step = isFull ? block : powerBelow(piece, c->dot ? DepthPerDots : DepthPerStep);
  s->dims[c->k].axis = 2;
  s->dims[c->k].tile = piece;
  s->dims[c->k].panels = block / piece;
}

//===--- the kernel ---------------------------------------------------------===//

// Rows follow each other at a power of two, so that a row is contiguous.
static MlirValue buildBuffer(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element) {
  MlirType type = tileKernelBufferType(e, rows, bucketOf(columns), element);
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

//===--- panels ------------------------------------------------------------===//

// A program's panels along m or n: `panels` from `first` on, as many as there are; or blocks of k. Where the last one
// of all is of another size, it has that size, and a register tile of its own.
typedef struct Along {
  int dim;
  int64_t last;     // 0: the last panel is like the others
  int64_t programs; // 0: not known
  MlirValue program, first;
} Along;

static Along panelsAlong(TileKernelEmission *e, int dim, int64_t last) {
  const TileDim *d = &e->structured->dims[dim];
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  Along along = {.dim = dim, .last = last, .program = e->index[dim]};
  along.programs = isKnown ? ceilDiv(d->extent, d->tile * d->panels) : 0;
  along.first = tileBuildMul(&e->body, along.program, tileBuildIndex(&e->body, d->panels));
  return along;
}

// How many of them are like each other.
static MlirValue panelsInside(TileKernelEmission *e, const Along *along) {
  const TileDim *d = &e->structured->dims[along->dim];
  MlirValue all = along->last ? tileBuildIndex(&e->body, d->extent / d->tile)
                              : tileKernelNumTiles(e, &e->body, along->dim, tileKernelExtent(e, along->dim));
  if (along->programs == 1)
    return all;
  return tileBuildMin(&e->body, tileBuildSub(&e->body, all, along->first), tileBuildIndex(&e->body, d->panels));
}

typedef void (*PanelBody)(TileKernelEmission *e, void *context);

// The last panel, in the program that has it.
static void overLastPanel(TileKernelEmission *e, const Along *along, PanelBody body, void *context) {
  const TileStructured *whole = e->structured;
  const TileDim *d = &whole->dims[along->dim];
  TileStructured last = *whole;
  MlirRegion regions[2];
  TileBuilder outer = e->body;
  MlirValue isLast = {NULL};
  if (along->programs > 1) {
    isLast = buildEquals(e, along->program, tileBuildIndex(&e->body, along->programs - 1));
    outer = e->body;
    e->body = tileBuilderAtEnd(appendBlock(&regions[0]), outer.location);
    regions[1] = mlirRegionCreate();
  }
  last.dims[along->dim].tile = along->last;
  last.dims[along->dim].step = d->tile;
  e->structured = &last;
  e->index[along->dim] = tileBuildIndex(&e->body, d->extent / d->tile);
  body(e, context);
  e->structured = whole;
  if (along->programs == 1)
    return;
  tileBuildYield(&e->body, 0, NULL);
  e->body = outer;
  tileBuild(&e->body, "scf.if", 1, &isLast, 0, NULL, NULL, 2, regions);
}

// Calls `body` where e->index is a panel of the program, e->structured its size.
static void overPanels(TileKernelEmission *e, const Along *along, PanelBody body, void *context) {
  const TileDim *d = &e->structured->dims[along->dim];
  TileBuilder outside;
  bool isKnown = !mlirShapedTypeIsDynamicSize(d->extent);
  int64_t count = isKnown ? (d->extent + (along->last ? 0 : d->tile - 1)) / d->tile : 0;
  if (!isKnown || !along->last || count > 0) {
    MlirValue panel = openLoop(e, panelsInside(e, along), &outside);
    panel = tileBuildAdd(&e->body, along->first, panel);
    e->index[along->dim] = count > 0 ? tileKernelAssumeBelow(e, panel, count) : panel;
    body(e, context);
    closeLoop(e, outside);
  }
  if (along->last)
    overLastPanel(e, along, body, context);
}

//===--- C ------------------------------------------------------------------===//

static int64_t blockDepth(const TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return k->step ? k->step : k->tile * k->panels;
}

// All of k is one block.
static bool isShallow(const TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return !mlirShapedTypeIsDynamicSize(k->extent) && k->extent <= blockDepth(e, c);
}

static MlirValue buildSum(TileKernelEmission *e, MlirValue a, MlirValue b) {
  MlirType type = mlirValueGetType(a);
  bool isInteger = mlirTypeIsAInteger(mlirShapedTypeGetElementType(type));
  return tileBuildValue(&e->body, isInteger ? "arith.addi" : "arith.addf", type, 2, (MlirValue[]){a, b}, NULL);
}

static bool isZero(MlirAttribute constant) {
  if (mlirAttributeIsNull(constant))
    return false;
  return mlirAttributeIsAFloat(constant) ? mlirFloatAttrGetValueDouble(constant) == 0.0
                                         : mlirIntegerAttrGetValueInt(constant) == 0;
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
  for (int i = 0; i < 2; ++i) {
    e->body = tileBuilderAtEnd(appendBlock(&regions[i]), outer.location);
    MlirValue value = i == 0 ? addInitial(e, product) : buildSum(e, product, tileKernelLoad(e, output, NULL, true));
    tileBuildYield(&e->body, 1, &value);
  }
  e->body = outer;
  MlirOperation choice = tileBuild(&e->body, "scf.if", 1, &isFirst, 1, &type, NULL, 2, regions);
  return mlirOperationGetResult(choice, 0);
}

// Blocks of k: at least one, so that an empty sum stores C's start value too.
static MlirValue blocksOfK(TileKernelEmission *e, const TileContraction *c) {
  MlirValue depth = tileBuildIndex(&e->body, blockDepth(e, c));
  MlirValue blocks = tileBuildCeilDiv(&e->body, tileKernelExtent(e, c->k), depth);
  return tileBuildMax(&e->body, blocks, tileBuildIndex(&e->body, 1));
}

// What the epilogue makes of the product after the last block of k.
static MlirValue buildEpilogueAtEnd(TileKernelEmission *e, const TileContraction *c, MlirValue product) {
  if (mlirBlockIsNull(e->structured->epilogue) || isShallow(e, c))
    return tileKernelEpilogue(e, product);
  MlirValue last = tileBuildSub(&e->body, blocksOfK(e, c), tileBuildIndex(&e->body, 1));
  MlirValue isLast = buildEquals(e, e->index[c->k], last);
  MlirType type = mlirValueGetType(product);
  MlirRegion regions[2];
  TileBuilder outer = e->body;
  for (int i = 0; i < 2; ++i) {
    e->body = tileBuilderAtEnd(appendBlock(&regions[i]), outer.location);
    MlirValue value = i == 0 ? tileKernelEpilogue(e, product) : product;
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
  Along m, n;
  MlirValue number, depth;  // of the current block of k
  MlirValue isFirst;        // it is the first one
  MlirValue column;         // number of the column panel
  MlirValue leastA, leastB; // bf16 by dots: see leastMagnitude
  MlirValue ones, excess;   // bytes by dots: a packed row of ones; what every sum of a column is to start from
} Block;

// A step of k of the constant's column panel, from `at` of the current block on.
static MlirValue loadOfPanel(TileKernelEmission *e, const Block *b, MlirValue at) {
  const TileContraction *c = b->c;
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue before = tileBuildMul(&e->body, b->number, tileBuildIndex(&e->body, k->tile * k->panels));
  return tileKernelLoadPanel(e, c->rhs, b->column, tileBuildAdd(&e->body, before, at), c->step,
                             e->structured->dims[c->n].tile);
}

// sum + the product of `rows` rows of `packed` from `row` on and the column panel, step by step of k, with `dot` or
// (null) by multiply-adds.
static MlirValue multiplyRows(TileKernelEmission *e, const Block *b, MlirValue packed, int64_t rows, MlirValue row,
                              MlirValue sum, const TileDot *dot) {
  int64_t columns = e->structured->dims[b->c->n].tile, step = b->c->step;
  MlirType type = mlirValueGetType(sum);
  MlirValue none = {NULL};
  MlirBlock block;
  MlirOperation loop =
      tileBuildFor(&e->body, tileBuildIndex(&e->body, 0), b->depth, tileBuildIndex(&e->body, step), 1, &sum, &block);
  TileBuilder outer = e->body;
  e->body = tileBuilderAtEnd(block, outer.location);
  MlirValue at = mlirBlockGetArgument(block, 0);
  MlirValue right = b->c->arePanels ? loadOfPanel(e, b, at)
                                    : tileKernelLoadBuffer(e, tileKernelSlice(e, b->packedB, step, columns, at, none));
  MlirValue operands[3] = {tileKernelLoadBuffer(e, tileKernelSlice(e, packed, rows, step, row, at)), right,
                           mlirBlockGetArgument(block, 1)};
  TileAttributeEntry atom[] = {{NULL}, {0}};
  if (dot)
    atom[0] = (TileAttributeEntry){"atom", mlirStringAttrGet(e->body.context, tileString(dot->atom))};
  MlirValue next = tileBuildValue(&e->body, "tile.mma", type, 3, operands, atom);
  tileBuildYield(&e->body, 1, &next);
  e->body = outer;
  return mlirOperationGetResult(loop, 0);
}

static MlirValue buildConstant(TileKernelEmission *e, MlirType type, int64_t value) {
  bool isInteger = mlirTypeIsAInteger(mlirShapedTypeGetElementType(type));
  return isInteger ? tileBuildInteger(&e->body, type, value) : tileBuildFloat(&e->body, type, (double)value);
}

// Multiplies the register tiles of row panel `panel`.
static MlirValue multiply(TileKernelEmission *e, const Block *b, MlirValue panel, const TileDot *dot) {
  const TileStructured *s = e->structured;
  int64_t rows = s->dims[b->c->m].tile;
  MlirType type = tileKernelOutputTileType(e, tileOperandElementType(&s->operands[s->numInputs]));
  MlirValue row = tileBuildMul(&e->body, panel, tileBuildIndex(&e->body, rows)), start;
  if (mlirValueIsNull(b->excess)) {
    start = buildConstant(e, type, 0);
  } else {
    TileAttributeEntry axes[] = {{"axes", mlirDenseI64ArrayGet(e->body.context, 1, (int64_t[]){0})}, {0}};
    start = tileBuildValue(&e->body, "tile.broadcast", type, 1, &b->excess, axes);
  }
  return multiplyRows(e, b, b->packedA, rows, row, start, dot);
}

static void buildProduct(TileKernelEmission *e, const Block *b, const TileDot *dot) {
  int output = e->structured->numInputs;
  MlirValue panel = tileBuildSub(&e->body, e->index[b->c->m], b->m.first);
  tileKernelPrefetch(e, output);
  MlirValue sum = accumulate(e, b->c, multiply(e, b, panel, dot), b->isFirst);
  e->index[b->c->k] = b->number;
  tileKernelStore(e, output, buildEpilogueAtEnd(e, b->c, sum));
}

static void buildDotProduct(TileKernelEmission *e, void *block) {
  const Block *b = block;
  buildProduct(e, b, b->c->dot);
}

static void buildPlainProduct(TileKernelEmission *e, void *block) { buildProduct(e, block, NULL); }

//===--- bf16 by an instruction that knows no subnormals --------------------===//

static MlirValue buildWord(TileKernelEmission *e, MlirType type, int64_t value) {
  return tileBuildInteger(&e->body, type, value);
}

static MlirValue buildPair(TileKernelEmission *e, const char *name, MlirValue a, MlirValue b) {
  return tileBuildValue(&e->body, name, mlirValueGetType(a), 2, (MlirValue[]){a, b}, NULL);
}

// The least magnitude but zero of a tile of bf16, less 1, as its 16 bits; all ones where everything is zero.
static MlirValue leastMagnitude(TileKernelEmission *e, MlirValue tile) {
  MlirType word = mlirIntegerTypeGet(e->body.context, 16), type = mlirValueGetType(tile);
  int64_t sizes[2] = {mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1)};
  MlirType words = tileTileTypeGet(2, sizes, word, mlirAttributeGetNull());
  MlirValue bits = tileBuildValue(&e->body, "arith.bitcast", words, 1, &tile, NULL);
  bits = buildPair(e, "arith.andi", bits, buildWord(e, words, 0x7fff));
  bits = buildPair(e, "arith.subi", bits, buildWord(e, words, 1));
  TileAttributeEntry attributes[] = {{"operation", mlirStringAttrGet(e->body.context, tileString("arith.minui"))},
                                     {"axes", mlirDenseI64ArrayGet(e->body.context, 2, (int64_t[]){0, 1})},
                                     {0}};
  MlirRegion noBody = mlirRegionCreate();
  return mlirOperationGetResult(tileBuild(&e->body, "tile.reduce", 1, &bits, 1, &word, attributes, 1, &noBody), 0);
}

// Both operands are normal numbers and zeros, and the exponents of the least ones add up to so much that every product,
// and with it every sum, is a multiple of the smallest normal number: nothing can become subnormal on the way. A number
// with (biased) exponent e is a multiple of 2^(e - 127 - 7), so exponents of 127 + 7 + 127 + 7 - 126 = 142 do.
static MlirValue knowsNoSubnormals(TileKernelEmission *e, const Block *b) {
  enum { FractionBits = 7, LeastNormal = 1 << FractionBits, LeastExponents = 142, AtLeast = 9 };
  MlirType word = mlirIntegerTypeGet(e->body.context, 16), bit = mlirIntegerTypeGet(e->body.context, 1);
  MlirValue shift = buildWord(e, word, FractionBits);
  MlirValue exponents = buildPair(e, "arith.addi", buildPair(e, "arith.shrui", b->leastA, shift),
                                  buildPair(e, "arith.shrui", b->leastB, shift));
  TileAttributeEntry predicate[] = {{"predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(e->body.context, 64), AtLeast)},
                                    {0}};
  MlirValue least = buildWord(e, word, LeastNormal), enough = buildWord(e, word, LeastExponents);
  MlirValue pairs[3][2] = {{b->leastA, least}, {b->leastB, least}, {exponents, enough}}, all = {NULL};
  for (int i = 0; i < 3; ++i) {
    MlirValue holds = tileBuildValue(&e->body, "arith.cmpi", bit, 2, pairs[i], predicate);
    all = i ? buildPair(e, "arith.andi", all, holds) : holds;
  }
  return all;
}

// The instruction where it computes what a product is (docs/numerics.md §4), multiply-adds elsewhere.
static void buildGuardedProducts(TileKernelEmission *e, Block *b) {
  MlirValue safe = knowsNoSubnormals(e, b);
  MlirRegion regions[2];
  TileBuilder outer = e->body;
  for (int i = 0; i < 2; ++i) {
    e->body = tileBuilderAtEnd(appendBlock(&regions[i]), outer.location);
    overPanels(e, &b->m, i == 0 ? buildDotProduct : buildPlainProduct, b);
    tileBuildYield(&e->body, 0, NULL);
  }
  e->body = outer;
  tileBuild(&e->body, "scf.if", 1, &safe, 0, NULL, NULL, 2, regions);
}

static bool needsGuard(const TileContraction *c) { return c->dot && c->dot->group == 2; }

//===--- signed bytes by an instruction whose left factors are unsigned -----===//

enum { Excess = 128 };

static bool areBytes(const TileContraction *c) { return c->dot && c->dot->group == 4; }

// A packed row of ones.
static MlirValue buildOnes(TileKernelEmission *e, int64_t depth) {
  MlirType byte = mlirIntegerTypeGet(e->body.context, 8);
  MlirType row = tileKernelBufferType(e, 1, depth, byte);
  MlirValue buffer = tileBuildValue(&e->body, "tile.alloc", row, 0, NULL, NULL);
  MlirType type = tileTileTypeGet(2, (int64_t[]){1, depth}, byte, mlirAttributeGetNull());
  MlirValue operands[2] = {buildConstant(e, type, 1), buffer};
  tileBuild(&e->body, "tile.store", 2, operands, 0, NULL, NULL, 0, NULL);
  return buffer;
}

// -128 times the sums of the packed panel's columns: what A's bytes, packed with 128 more, make too much.
static MlirValue buildExcess(TileKernelEmission *e, const Block *b) {
  int64_t columns = e->structured->dims[b->c->n].tile;
  MlirType word = mlirIntegerTypeGet(e->body.context, 32);
  MlirType row = tileTileTypeGet(2, (int64_t[]){1, columns}, word, mlirAttributeGetNull());
  MlirType flat = tileTileTypeGet(1, &columns, word, mlirAttributeGetNull());
  MlirValue none = {NULL}, sums = multiplyRows(e, b, b->ones, 1, none, buildConstant(e, row, 0), b->c->dot);
  sums = tileBuildValue(&e->body, "tile.reshape", flat, 1, &sums, NULL);
  return buildPair(e, "arith.muli", sums, buildConstant(e, flat, -Excess));
}

// A tile of A with 128 more, as unsigned bytes.
static MlirValue buildUnsigned(TileKernelEmission *e, MlirValue tile) {
  return buildPair(e, "arith.xori", tile, buildConstant(e, mlirValueGetType(tile), -Excess));
}

static void storeBuffer(TileKernelEmission *e, MlirValue tile, MlirValue buffer) {
  tileBuild(&e->body, "tile.store", 2, (MlirValue[]){tile, buffer}, 0, NULL, NULL, 0, NULL);
}

//===--- packing ------------------------------------------------------------===//

// A loop that carries one value, or (null) none: *carried is its argument inside, its result afterwards.
typedef struct CarryingLoop {
  MlirValue *carried;
  MlirOperation op;
  TileBuilder outer;
} CarryingLoop;

static MlirValue openCarrying(TileKernelEmission *e, MlirValue end, int64_t step, MlirValue *carried,
                              CarryingLoop *loop) {
  MlirBlock block;
  MlirValue by = tileBuildIndex(&e->body, step);
  *loop = (CarryingLoop){.carried = carried, .outer = e->body};
  loop->op = tileBuildFor(&e->body, tileBuildIndex(&e->body, 0), end, by, carried != NULL, carried, &block);
  loop->outer = e->body;
  e->body = tileBuilderAtEnd(block, loop->outer.location);
  if (carried)
    *carried = mlirBlockGetArgument(block, 1);
  return mlirBlockGetArgument(block, 0);
}

static void closeCarrying(TileKernelEmission *e, CarryingLoop *loop) {
  tileBuildYield(&e->body, loop->carried != NULL, loop->carried);
  e->body = loop->outer;
  if (loop->carried)
    *loop->carried = mlirOperationGetResult(loop->op, 0);
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
  CarryingLoop loop;
  MlirValue at = openCarrying(e, b->depth, k->tile, needsGuard(c) ? least : NULL, &loop);
  MlirValue piece = tileBuildValue(&e->body, "arith.divui", mlirIndexTypeGet(e->body.context), 2,
                                   (MlirValue[]){at, tileBuildIndex(&e->body, k->tile)}, NULL);
  e->index[c->k] = tileBuildAdd(&e->body, first, piece);
  MlirValue part = along ? tileKernelSlice(e, buffer, other, k->tile, row, at)
                         : tileKernelSlice(e, buffer, k->tile, other, at, none);
  if (areBytes(c) && along)
    storeBuffer(e, buildUnsigned(e, tileKernelLoadMatrix(e, index, dims)), part);
  else
    tileKernelPack(e, index, dims, part);
  if (loop.carried)
    *least = buildPair(e, "arith.minui", *least, leastMagnitude(e, tileKernelLoadMatrix(e, index, dims)));
  closeCarrying(e, &loop);
}

// Packs the rows of A's current panel, from `row` of the buffer on, where they come in runs: run after run.
static void packRuns(TileKernelEmission *e, const Block *b, MlirValue row, MlirValue *least) {
  const TileContraction *c = b->c;
  const TileDim *m = &e->structured->dims[c->m], *k = &e->structured->dims[c->k];
  MlirValue first = tileBuildMul(&e->body, e->index[c->m], tileBuildIndex(&e->body, m->tile)), at[MaxDims];
  MlirValue inside = tileBuildMin(&e->body, tileBuildIndex(&e->body, m->tile),
                                  tileBuildSub(&e->body, tileKernelExtent(e, c->m), first));
  CarryingLoop rows, runs;
  MlirValue number = openCarrying(e, inside, 1, needsGuard(c) ? least : NULL, &rows);
  MlirValue into = openCarrying(e, b->depth, k->tile, rows.carried, &runs);
  MlirValue block = tileBuildMul(&e->body, b->number, tileBuildIndex(&e->body, k->tile * k->panels));
  at[c->m] = tileBuildAdd(&e->body, first, number);
  at[c->k] = tileBuildAdd(&e->body, block, into);
  MlirValue part = tileKernelSlice(e, b->packedA, 1, k->tile, tileBuildAdd(&e->body, row, number), into);
  MlirValue run = tileKernelLoadRun(e, c->lhs, at, k->tile);
  storeBuffer(e, areBytes(c) ? buildUnsigned(e, run) : run, part);
  if (runs.carried)
    *least = buildPair(e, "arith.minui", *least, leastMagnitude(e, run));
  closeCarrying(e, &runs);
  closeCarrying(e, &rows);
}

// Every block of k is multiplied whole, the zeros past the end too.
static bool areBlocksFull(const TileStructured *s, const TileContraction *c) { return c->step == s->dims[c->k].tile; }

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
  b.packedA = buildBuffer(e, m->tile * m->panels, depth, tileOperandElementType(&s->operands[c->lhs]));
  MlirType columns = tileKernelGroupedBufferType(
      e, depth, bucketOf(n->tile), tileOperandElementType(&s->operands[c->rhs]), c->dot ? c->dot->group : 1);
  if (!c->arePanels)
    b.packedB = tileBuildValue(&e->body, "tile.alloc", columns, 0, NULL, NULL);
  b.m = panelsAlong(e, c->m, 0);
  b.n = panelsAlong(e, c->n, c->lastPanel);
  if (areBytes(c))
    b.ones = buildOnes(e, depth);
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
  b->leastB = needsGuard(c) ? buildWord(e, mlirIntegerTypeGet(e->body.context, 16), -1) : none;
  b->column = e->index[c->n];
  if (!c->arePanels)
    pack(e, b, c->rhs, 0, b->packedB, none, &b->leastB);
  if (areBytes(c))
    b->excess = buildExcess(e, b);
  if (needsGuard(c))
    buildGuardedProducts(e, b);
  else
    overPanels(e, &b->m, buildDotProduct, b);
}

static void buildBlock(TileKernelEmission *e, const TileContraction *c) {
  MlirValue none = {NULL};
  Block b = openBlock(e, c);
  TileBuilder outside;
  CarryingLoop inM;

  b.number = openLoop(e, blocksOfK(e, c), &outside);
  b.depth = depthOfBlock(e, c, b.number);
  b.isFirst = buildEquals(e, b.number, tileBuildIndex(&e->body, 0));
  b.leastA = needsGuard(c) ? buildWord(e, mlirIntegerTypeGet(e->body.context, 16), -1) : none;
  MlirValue panel = openCarrying(e, panelsInside(e, &b.m), 1, needsGuard(c) ? &b.leastA : NULL, &inM);
  e->index[c->m] = tileBuildAdd(&e->body, b.m.first, panel);
  packRows(e, &b);
  closeCarrying(e, &inM);
  overPanels(e, &b.n, buildPanel, &b);
  closeLoop(e, outside);
}

//===--- nothing packed -----------------------------------------------------===//

// Register tiles, block after block of k, both operands where they lie.
typedef struct Direct {
  const TileContraction *c;
  Along m, n;
  MlirValue columns; // B's, all of k, one after the other; null: B where it lies
} Direct;

// B by columns: of a few, which lanes along k read.
static MlirValue packColumns(TileKernelEmission *e, const TileContraction *c) {
  int64_t columns = e->structured->dims[c->n].tile, depth = e->structured->dims[c->k].tile;
  int dims[2] = {c->n, c->k};
  MlirValue zero = tileBuildIndex(&e->body, 0);
  MlirType element = tileOperandElementType(&e->structured->operands[c->rhs]);
  MlirValue buffer = tileKernelSlice(e, buildBuffer(e, columns, depth, element), columns, depth, zero, zero);
  e->index[c->n] = e->index[c->k] = zero;
  tileKernelPack(e, c->rhs, dims, buffer);
  return buffer;
}

// The current block of k of the constant's column panel.
static MlirValue directPanel(TileKernelEmission *e, const TileContraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  MlirValue row = tileBuildMul(&e->body, e->index[c->k], tileBuildIndex(&e->body, k->step ? k->step : k->tile));
  return tileKernelLoadPanel(e, c->rhs, e->index[c->n], row, k->tile, e->structured->dims[c->n].tile);
}

static MlirValue loadRight(TileKernelEmission *e, const Direct *direct) {
  const TileContraction *c = direct->c;
  int dims[2] = {c->k, c->n};
  if (c->arePanels)
    return directPanel(e, c);
  if (mlirValueIsNull(direct->columns))
    return tileKernelLoadMatrix(e, c->rhs, dims);
  MlirValue columns = tileKernelLoadBuffer(e, direct->columns);
  int64_t shape[2] = {e->structured->dims[c->k].tile, e->structured->dims[c->n].tile}, order[2] = {1, 0};
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(columns));
  TileAttributeEntry permutation[] = {{"permutation", mlirDenseI64ArrayGet(e->body.context, 2, order)}, {0}};
  return tileBuildValue(&e->body, "tile.transpose", tileTileTypeGet(2, shape, element, mlirAttributeGetNull()), 1,
                        &columns, permutation);
}

static void buildDirectProduct(TileKernelEmission *e, void *direct) {
  const TileContraction *c = ((const Direct *)direct)->c;
  int output = e->structured->numInputs, rows[2] = {c->m, c->k};
  MlirType type = tileKernelOutputTileType(e, tileOperandElementType(&e->structured->operands[output]));
  if (!isShallow(e, c))
    tileKernelPrefetch(e, output);
  MlirValue operands[3] = {tileKernelLoadMatrix(e, c->lhs, rows), loadRight(e, direct), buildConstant(e, type, 0)};
  MlirValue product = tileBuildValue(&e->body, "tile.mma", type, 3, operands, NULL);
  MlirValue isFirst = buildEquals(e, e->index[c->k], tileBuildIndex(&e->body, 0));
  tileKernelStore(e, output, buildEpilogueAtEnd(e, c, accumulate(e, c, product, isFirst)));
}

static void buildDirectPanel(TileKernelEmission *e, void *direct) {
  overPanels(e, &((Direct *)direct)->m, buildDirectProduct, direct);
}

static void buildDirectBlock(TileKernelEmission *e, void *direct) {
  overPanels(e, &((Direct *)direct)->n, buildDirectPanel, direct);
}

static int64_t restOf(const TileDim *dim) { return dim->extent % dim->tile; }

static void buildDirect(TileKernelEmission *e, const TileContraction *c) {
  const TileDim *dims = e->structured->dims;
  Direct direct = {
      .c = c, .m = panelsAlong(e, c->m, restOf(&dims[c->m])), .n = panelsAlong(e, c->n, restOf(&dims[c->n]))};
  if (c->isAlongDepth)
    direct.columns = packColumns(e, c);
  Along blocks = {.dim = c->k, .last = restOf(&dims[c->k]), .programs = 1, .first = tileBuildIndex(&e->body, 0)};
  overPanels(e, &blocks, buildDirectBlock, &direct);
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
  tileKernelStore(e, output, tileKernelEpilogue(e, sum));
}

static void planTiles(TileStructured *s, const TileContraction *c) {
  TileTiling tiling = {.tiled = 1u << c->m | 1u << c->n | 1u << c->k,
                       .whole = -1,
                       .isProduct = true,
                       .product = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k}};
  MlirBlock body = s->body;
  if (!mlirBlockIsNull(s->epilogue))
    s->body = s->epilogue; // its operations count
  tileStructuredPlanTiles(s, &tiling);
  s->body = body;
}

//===--- the whole ---------------------------------------------------------===//

typedef void (*KernelBody)(TileKernelEmission *e, const TileContraction *c);

// Chooses the tiles of a CPU's kernel, and with them which kernel it is.
static KernelBody planForCpu(TileStructured *s, TileContraction *c) {
  TileTiling tiling = {.tiled = 1u << c->m | 1u << c->n | 1u << c->k,
                       .whole = -1,
                       .isProduct = true,
                       .isMatrix = true,
                       .product = {.lhs = c->lhs, .rhs = c->rhs, .m = c->m, .n = c->n, .k = c->k}};
  TileStructured product = *s;
  product.body = (MlirBlock){NULL}; // all operands are read
  TileSearchTile tile = tileStructuredPlanMatrix(&product, &tiling, &c->lastPanel, &c->arePanels);
  c->isAlongDepth = tile.kind == TileKind_AlongDepth;
  if (tileKernelKinds[tile.kind]->hasRegisterTile) {
    setTile(s, c->m, 0, tile.registers.rows, tile.size[c->m] / tile.registers.rows);
    setTile(s, c->n, 1, tile.registers.columns, tile.size[c->n] / tile.registers.columns);
    if (tile.kind != TileKind_Packed)
      setTile(s, c->k, 2, tile.size[c->k], 1);
    else
      setDepth(s, c, tile.size[c->k]);
    return tile.kind != TileKind_Packed ? buildDirect : buildBlock;
  }
  setTile(s, c->m, 0, tile.size[c->m], 1);
  setTile(s, c->n, 1, tile.size[c->n], 1);
  setTile(s, c->k, 2, tile.size[c->k], 1);
  return buildFromMemory;
}

// Where panels would be mostly padding the operand stays as it is.
static void takeConstantPanels(TileStructured *s, TileContraction *c, bool isPacked) {
  const TileDim *k = &s->dims[c->k];
  int64_t step = !isPacked ? 1 : areBlocksFull(s, c) ? k->tile * k->panels : c->step;
  TileBuilder host = tileBuilderBefore(s->op);
  MlirValue panels = tileBuildConstantPanels(&host, &s->operands[c->rhs], c->k, step, s->dims[c->n].tile);
  c->arePanels = !mlirValueIsNull(panels);
  if (!c->arePanels)
    return;
  s->operands[c->rhs].value = panels;
  if (s->target->constantPanels)
    ++*s->target->constantPanels;
}

void tileEmitContraction(TileStructured *s, TileContraction *c) {
  TileKernelEmission e;
  bool isForGpu = tileStructuredGpu(s) != NULL;
  KernelBody build = buildFromMemory;
  sortDims(s, c);
  c->dot = tileStructuredProductDot(s, c->lhs, c->rhs);
  if (isForGpu)
    planTiles(s, c);
  else
    build = planForCpu(s, c);
  if (c->arePanels)
    takeConstantPanels(s, c, build == buildBlock);
  tileKernelBegin(&e, s, "matmul");
  build(&e, c);
  tileKernelEnd(&e);
}
