// Matrix products, batched, operands in any order: C[b…, m, n] += sum over k of A[b…, m, k] · B[b…, k, n].
//
// An elementwise op that alone uses the product (bias, activation) is its epilogue: it runs on the register tile after
// the last block of k. A program owns a block of panelsM × panelsN register tiles of C and loops over k itself
// (reference: BLIS, Van Zee and van de Geijn 2015). For each block of k it packs its rows of A once, then for each
// column panel packs B (the innermost product reads both contiguously) and multiplies register tiles. Packing fills
// past the edges with zeros, so the inner loop over k has no masks; only C's edges have. Sizes are defaults until
// tile-construct-tiles: 8 × 32 registers, blocks of 256 along k (the formulas of lib/machine give these on the CPUs
// measured).
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include <stdio.h>
#include <string.h>

enum { RowsPerTile = 8, ColumnsPerTile = 32, DepthPerBlock = 256, PanelsM = 16, PanelsN = 16 };

typedef struct Contraction {
  int lhs, rhs; // operand numbers of A and B
  int m, n, k;  // dimensions
  int product;  // argument of the body that takes the product (an epilogue follows); -1: no epilogue
} Contraction;

//===--- questions ----------------------------------------------------------===//

// The block argument that `value` is, seen through a widening of its type; -1 for anything else.
static int matchInput(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (tileOpIs(op, "arith.extf"))
    value = mlirOperationGetOperand(op, 0);
  if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body))
    return -1;
  int argument = (int)mlirBlockArgumentGetArgNumber(value);
  return argument < s->numInputs && s->operands[argument].isTensor ? argument : -1;
}

// out + a·b with a and b the two inputs.
static bool matchBody(const TileStructured *s, Contraction *c) {
  MlirValue accumulator = mlirBlockGetArgument(s->body, s->numInputs);
  MlirOperation sum = tileDefiningOp(mlirOperationGetOperand(mlirBlockGetTerminator(s->body), 0));
  if (s->numInputs != 2 || s->numOutputs != 1 || !tileOpIs(sum, "arith.addf"))
    return false;
  int side = mlirValueEqual(mlirOperationGetOperand(sum, 0), accumulator) ? 1 : 0;
  MlirOperation product = tileDefiningOp(mlirOperationGetOperand(sum, side));
  if (!mlirValueEqual(mlirOperationGetOperand(sum, 1 - side), accumulator) || !tileOpIs(product, "arith.mulf"))
    return false;
  c->lhs = matchInput(s, mlirOperationGetOperand(product, 0));
  c->rhs = matchInput(s, mlirOperationGetOperand(product, 1));
  return c->lhs >= 0 && c->rhs >= 0 && c->lhs != c->rhs;
}

static int positionOf(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; i++)
    if (operand->results[i] == dim)
      return i;
  return -1;
}

static bool isFull(const TileOperand *operand) {
  for (int i = 0; i < operand->rank; i++)
    if (operand->results[i] < 0)
      return false;
  return true;
}

// Gives every dimension its role; exactly one m, n and k. n is the one that is contiguous in C.
static bool matchDims(const TileStructured *s, Contraction *c) {
  const TileOperand *a = &s->operands[c->lhs], *b = &s->operands[c->rhs], *out = &s->operands[s->numInputs];
  c->m = c->n = c->k = -1;
  for (int d = 0; d < s->numDims; d++) {
    bool inA = positionOf(a, d) >= 0, inB = positionOf(b, d) >= 0, inOut = positionOf(out, d) >= 0;
    int *role = inA && inB && !inOut ? &c->k : inA && !inB && inOut ? &c->m : !inA && inB && inOut ? &c->n : NULL;
    if (!role && !(inA && inB && inOut))
      return false;
    if (role && *role >= 0)
      return false;
    if (role)
      *role = d;
  }
  if (c->m < 0 || c->n < 0 || c->k < 0 || !isFull(a) || !isFull(b))
    return false;
  if (positionOf(out, c->m) > positionOf(out, c->n))
    *c = (Contraction){.lhs = c->rhs, .rhs = c->lhs, .m = c->n, .n = c->m, .k = c->k, .product = c->product};
  return true;
}

// A tile.mma takes these element types (OPS.md's table; integers and narrow floats go by the reduction).
static bool hasMmaTypes(const TileStructured *s, const Contraction *c) {
  MlirType a = tileOperandElementType(&s->operands[c->lhs]), b = tileOperandElementType(&s->operands[c->rhs]);
  MlirType out = tileOperandElementType(&s->operands[s->numInputs]);
  if (!mlirTypeEqual(a, b))
    return false;
  if (mlirTypeIsAF64(a) || mlirTypeIsAF64(out))
    return mlirTypeIsAF64(a) && mlirTypeIsAF64(out);
  if (mlirTypeIsAF16(a))
    return mlirTypeIsAF16(out) || mlirTypeIsAF32(out);
  return (mlirTypeIsAF32(a) || mlirTypeIsABF16(a)) && mlirTypeIsAF32(out);
}

// A product with a vector reads its matrix once: a reduction, nothing to pack.
static bool isMatrixProduct(const TileStructured *s, const Contraction *c) {
  return s->dims[c->m].extent != 1 && s->dims[c->n].extent != 1 && hasMmaTypes(s, c);
}

//===--- preparation --------------------------------------------------------===//

// Renumbers the dimensions: batch dimensions, then m, n, k.
static void sortDims(TileStructured *s, Contraction *c) {
  TileStructured old = *s;
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; d++)
    if (d != c->m && d != c->n && d != c->k)
      to[d] = next++;
  to[c->m] = next;
  to[c->n] = next + 1;
  to[c->k] = next + 2;
  for (int d = 0; d < s->numDims; d++)
    s->dims[to[d]] = old.dims[d];
  for (int i = 0; i < s->numInputs + s->numOutputs; i++)
    for (int r = 0; r < s->operands[i].rank; r++)
      s->operands[i].results[r] = to[old.operands[i].results[r]];
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

// A power of two, since a packed row must be one (lib/layout: an odd factor can only be outermost).
static int64_t depthPerBlock(int64_t extent) {
  int64_t depth = 1;
  while (depth < DepthPerBlock && (mlirShapedTypeIsDynamicSize(extent) || depth < extent || depth < 2))
    depth *= 2;
  return depth;
}

static void chooseTiles(TileStructured *s, const Contraction *c) {
  int64_t rows = s->dims[c->m].extent;
  bool thin = !mlirShapedTypeIsDynamicSize(rows) && rows > 1 && rows < RowsPerTile;
  setTile(s, c->m, 0, thin ? rows : RowsPerTile, PanelsM);
  setTile(s, c->n, 1, ColumnsPerTile, PanelsN);
  setTile(s, c->k, 2, depthPerBlock(s->dims[c->k].extent), 1);
}

//===--- the kernel ---------------------------------------------------------===//

// A ring of `panels` (or one) row-major buffers of rows × columns in local memory.
static MlirValue buildBuffer(TileKernelEmission *e, int64_t rows, int64_t columns, MlirType element, int64_t panels) {
  char offsets[96];
  snprintf(offsets, sizeof offsets, "offset [%lld:d1, %lld:d0]", (long long)columns, (long long)rows);
  MlirAttribute layout = tileLayoutAttrParse(e->body.context, tileString(offsets));
  MlirType ring = tileBufferTypeGet(2, (int64_t[]){rows, columns}, element, layout, "local", panels > 1 ? panels : 0);
  return tileBuildValue(&e->body, "tile.alloc", ring, 0, NULL, NULL);
}

// for %i = 0 to %count { … }: e->body is inside until closeLoop.
static MlirValue openLoop(TileKernelEmission *e, MlirValue count, TileBuilder *outer) {
  MlirBlock block;
  tileBuildFor(&e->body, tileBuildIndex(&e->body, 0), count, tileBuildIndex(&e->body, 1), 0, NULL, &block);
  *outer = e->body;
  e->body = tileBuilderAtEnd(block, outer->location);
  return mlirBlockGetArgument(block, 0);
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
static bool isShallow(const TileKernelEmission *e, const Contraction *c) {
  const TileDim *k = &e->structured->dims[c->k];
  return !mlirShapedTypeIsDynamicSize(k->extent) && k->extent <= k->tile;
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
static MlirValue accumulate(TileKernelEmission *e, const Contraction *c, MlirValue product, MlirValue isFirst) {
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
static MlirValue buildEpilogue(TileKernelEmission *e, const Contraction *c, MlirValue product) {
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
static MlirValue blocksOfK(TileKernelEmission *e, const Contraction *c) {
  MlirValue blocks = tileKernelNumTiles(e, &e->body, c->k, tileKernelExtent(e, c->k));
  return tileBuildMax(&e->body, blocks, tileBuildIndex(&e->body, 1));
}

// The same after the last block of k only.
static MlirValue buildEpilogueAtEnd(TileKernelEmission *e, const Contraction *c, MlirValue product) {
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

static void buildProduct(TileKernelEmission *e, const Contraction *c, MlirValue bufferA, MlirValue bufferB,
                         MlirValue isFirst) {
  int output = e->structured->numInputs;
  tileKernelPrefetch(e, output);
  MlirType type = tileKernelOutputTileType(e, tileOperandElementType(&e->structured->operands[output]));
  MlirValue operands[3] = {tileKernelLoadBuffer(e, bufferA), tileKernelLoadBuffer(e, bufferB),
                           tileBuildFloat(&e->body, type, 0.0)};
  MlirValue product = tileBuildValue(&e->body, "tile.mma", type, 3, operands, NULL);
  tileKernelStore(e, output, buildEpilogueAtEnd(e, c, accumulate(e, c, product, isFirst)));
}

static void buildBlock(TileKernelEmission *e, const Contraction *c) {
  const TileStructured *s = e->structured;
  const TileDim *m = &s->dims[c->m], *n = &s->dims[c->n], *k = &s->dims[c->k];
  MlirValue packedA = buildBuffer(e, m->tile, k->tile, tileOperandElementType(&s->operands[c->lhs]), m->panels);
  MlirValue packedB = buildBuffer(e, k->tile, n->tile, tileOperandElementType(&s->operands[c->rhs]), 1);
  MlirValue firstM = tileBuildMul(&e->body, e->index[c->m], tileBuildIndex(&e->body, m->panels));
  MlirValue firstN = tileBuildMul(&e->body, e->index[c->n], tileBuildIndex(&e->body, n->panels));
  MlirValue panelsM = panelsInside(e, c->m, firstM), panelsN = panelsInside(e, c->n, firstN);
  TileBuilder outside, inK, inN;

  e->index[c->k] = openLoop(e, blocksOfK(e, c), &outside);
  MlirValue isFirst = buildEquals(e, e->index[c->k], tileBuildIndex(&e->body, 0));
  MlirValue panel = openLoop(e, panelsM, &inK);
  e->index[c->m] = tileBuildAdd(&e->body, firstM, panel);
  tileKernelPack(e, c->lhs, (int[]){c->m, c->k}, tileKernelSlot(e, packedA, panel));
  closeLoop(e, inK);

  panel = openLoop(e, panelsN, &inK);
  e->index[c->n] = tileBuildAdd(&e->body, firstN, panel);
  MlirValue bufferB = tileKernelSlot(e, packedB, tileBuildIndex(&e->body, 0));
  tileKernelPack(e, c->rhs, (int[]){c->k, c->n}, bufferB);
  panel = openLoop(e, panelsM, &inN);
  e->index[c->m] = tileBuildAdd(&e->body, firstM, panel);
  buildProduct(e, c, tileKernelSlot(e, packedA, panel), bufferB, isFirst);
  closeLoop(e, inN);
  closeLoop(e, inK);
  closeLoop(e, outside);
}

//===--- the lowerings ------------------------------------------------------===//

static void emit(TileStructured *s, Contraction *c) {
  sortDims(s, c);
  chooseTiles(s, c);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "matmul");
  buildBlock(&e, c);
  tileKernelEnd(&e);
}

bool tileLowerContraction(TileStructured *s) {
  Contraction c = {.product = -1};
  if (!matchBody(s, &c) || !matchDims(s, &c) || !isMatrixProduct(s, &c))
    return false;
  emit(s, &c);
  return true;
}

static bool hasOneUse(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

// Reads the contraction that makes input `index` of the elementwise op, if nothing else uses it.
static bool readProducer(const TileStructured *elementwise, int index, TileStructured *producer, Contraction *c) {
  MlirValue value = elementwise->operands[index].value;
  MlirOperation op = tileDefiningOp(value);
  // In a loop around the use, the product would be computed again in every step.
  return tileOpIs(op, "linalg.generic") && hasOneUse(value) &&
         mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(elementwise->op)) &&
         tileStructuredRead(op, producer) && matchBody(producer, c) && matchDims(producer, c) &&
         isMatrixProduct(producer, c) &&
         mlirTypeEqual(tileOperandElementType(&producer->operands[2]),
                       tileOperandElementType(&elementwise->operands[elementwise->numInputs]));
}

// dims[d]: the producer's dimension for dimension d of the elementwise op. False when they do not correspond one to
// one.
static bool matchSpaces(const TileStructured *elementwise, int index, const TileStructured *producer, int *dims) {
  const TileOperand *used = &elementwise->operands[index], *made = &producer->operands[2];
  if (used->rank != elementwise->numDims)
    return false;
  for (int i = 0; i < used->rank; i++) {
    if (used->results[i] < 0)
      return false;
    dims[used->results[i]] = made->results[i];
  }
  return true;
}

// The product's dimensions and inputs, then the elementwise op's other inputs and its output and body.
static void merge(const TileStructured *elementwise, int index, const int *dims, TileStructured *s) {
  s->op = elementwise->op;
  s->body = elementwise->body;
  s->numCaptures = elementwise->numCaptures;
  memcpy(s->captures, elementwise->captures, sizeof s->captures);
  MlirAttribute initial = s->operands[2].initial;
  s->numInputs = 2;
  for (int i = 0; i <= elementwise->numInputs; i++) {
    if (i == index)
      continue;
    TileOperand *operand = &s->operands[2 + (i < index ? i : i - 1)];
    *operand = elementwise->operands[i];
    for (int r = 0; r < operand->rank; r++)
      if (operand->results[r] >= 0)
        operand->results[r] = dims[operand->results[r]];
    s->numInputs += i < elementwise->numInputs;
  }
  s->operands[s->numInputs].initial = initial;
}

bool tileLowerContractionWithEpilogue(TileStructured *elementwise) {
  int output = elementwise->numInputs, dims[MaxDims];
  // Merged, it has one operand more, and its dimensions change their numbers.
  if (tileStructuredHasReduction(elementwise) || elementwise->numOutputs != 1 || output + 2 > MaxOperands ||
      tileStructuredUsesIndex(elementwise) ||
      !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(elementwise->body, output))))
    return false;
  for (int i = 0; i < elementwise->numInputs; i++) {
    TileStructured s;
    Contraction c = {.product = i};
    if (!elementwise->operands[i].isTensor || !readProducer(elementwise, i, &s, &c) ||
        !matchSpaces(elementwise, i, &s, dims))
      continue;
    tileStructuredStartFromConstants(&s);
    if (mlirAttributeIsNull(s.operands[2].initial))
      continue; // what it starts from would be one more input
    merge(elementwise, i, dims, &s);
    emit(&s, &c);
    return true;
  }
  return false;
}
