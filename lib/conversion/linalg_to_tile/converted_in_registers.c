// Products whose weights are converted in the body (lib/analysis/low_bit/converted.h), on a GPU: a program converts the
// weights of its columns in registers, beside the matrix instruction that takes them.
//   out[m, n] += sum over g, t, k of x[m, g, t, k] · f(code[n, g, k], shift[t], scale[n, g], …)
//
// A program owns a tile of C and walks k. Codes, scales and zeros come from memory as the program has them, and no
// converted weight goes back. Reductions that the codes do not have (the parts of a byte) are unrolled in each step, so
// that a byte is loaded once for all its codes. Expects: a structured op without a schedule, for a GPU, of more than
// one row. Leaves: its kernel and launch; sums are f32's, rounded once. Parts of k divide the last reduction, so that
// no weight is converted past an edge. Source: Ladder (OSDI 2024): `convert` on the hop from memory to registers.
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/converted.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "upstream/arith.h"

enum { LeastSide = 16, MostSide = 64, MostDepth = 64, MostUnrolled = 8, MostTable = 256 };

typedef struct Walk {
  const TileStructured *s;
  const TileConverted *c;
  bool isUnrolled[MaxDims];
  MlirType element; // of the factors as they are multiplied
} Walk;

//===--- sizes --------------------------------------------------------------------------------===//

// The power of two that covers `extent`, between two.
static int64_t side(int64_t extent) {
  int64_t size = LeastSide;
  while (size < MostSide && (mlirShapedTypeIsDynamicSize(extent) || size < extent))
    size *= 2;
  return size;
}

// A warp for each part of the columns that one instruction multiplies: half as many as a warp has lanes (mfma 32x32,
// mma m16n8 twice). Where warps shared columns, each of them would convert their weights.
static int64_t warpsOf(const TileStructured *s, int64_t columns) {
  int64_t warps = 2 * columns / s->target->search.lanes;
  return warps < 1 ? 1 : warps;
}

static int64_t depthOf(const TileStructured *s, const TileConverted *c) {
  int64_t depth = tileConvertedStep(s, c);
  return depth < MostDepth ? depth : MostDepth;
}

// The factor's input of the most elements: the codes.
static const TileOperand *codesOf(const TileStructured *s, const TileConverted *c) {
  const TileOperand *codes = NULL;
  int most = 0;
  for (int i = 0; i < s->numInputs; ++i) {
    int dims = 0;
    for (int d = 0; d < s->numDims; ++d)
      dims += s->operands[i].isTensor && tileOperandUses(&s->operands[i], d);
    if (i != c->x && dims > most) {
      most = dims;
      codes = &s->operands[i];
    }
  }
  return codes;
}

static void chooseUnrolled(Walk *w) {
  const TileOperand *codes = codesOf(w->s, w->c);
  int64_t all = 1;
  for (int i = 0; i < w->c->count - 1; ++i) {
    int dim = w->c->depth[i];
    int64_t extent = w->s->dims[dim].extent;
    w->isUnrolled[dim] = codes && !tileOperandUses(codes, dim) && extent * all <= MostUnrolled;
    all *= w->isUnrolled[dim] ? extent : 1;
  }
}

//===--- the kernel ---------------------------------------------------------------------------===//

// The number that a constant operand over one unrolled reduction has there; false for another operand.
static bool constantAt(const TileKernelEmission *e, const Walk *w, const TileOperand *operand, int64_t *number) {
  int dim = operand->isTensor && operand->rank == 1 ? operand->results[0] : -1;
  MlirOperation constant = tileDefiningOp(operand->value);
  MlirAttribute data = arithConstantOpIsA(constant) ? arithConstantOpGetValue(constant) : mlirAttributeGetNull();
  int64_t at;
  if (dim < 0 || !w->isUnrolled[dim] || mlirAttributeIsNull(data) || !mlirAttributeIsADenseElements(data) ||
      !mlirTypeIsAInteger(tileOperandElementType(operand)) || tileElementWidth(tileOperandElementType(operand)) != 8 ||
      !tileConstantIndex(e->index[dim], &at))
    return false;
  *number = mlirDenseElementsAttrGetInt8Value(data, at);
  return true;
}

// The weights of the current step, k × n.
static MlirValue convertWeights(TileKernelEmission *e, const Walk *w, MlirValue factor) {
  const TileConverted *c = w->c;
  int last = c->depth[c->count - 1];
  TileStructured view = tileStructuredOver(w->s, c->isAlongColumns ? last : c->n, c->isAlongColumns ? c->n : last);
  TileBodyMap map = {0};
  e->structured = &view;
  for (int i = 0; i < tileStructuredNumOwnInputs(&view); ++i) {
    int64_t number;
    MlirValue argument = mlirBlockGetArgument(view.body, i);
    if (i == c->x)
      continue;
    if (constantAt(e, w, &view.operands[i], &number))
      tileBodyMapSet(&map, argument,
                     tileBuildInteger(&e->body, tileKernelTileType(e, mlirValueGetType(argument)), number));
    else
      tileKernelMapInputs(e, &map, i, i + 1, false);
  }
  MlirValue weights = tileKernelCloneValue(e, &map, factor);
  if (!c->isAlongColumns)
    weights = tileKernelSwapped(e, weights);
  e->structured = w->s;
  return weights;
}

// What the product multiplies by, before it is widened to the product's type, if x has that type as well.
static MlirValue factorOf(const Walk *w) {
  MlirOperation op = tileDefiningOp(w->c->factor);
  bool isPlain = arithExtFOpIsA(op) && mlirTypeEqual(mlirValueGetType(tileOnlyOperand(op)), w->element);
  return isPlain ? tileOnlyOperand(op) : w->c->factor;
}

static void multiply(TileKernelEmission *e, const Walk *w, MlirValue *sum) {
  const TileConverted *c = w->c;
  int rows[2] = {c->m, c->depth[c->count - 1]};
  TileStructured view = tileStructuredOver(w->s, rows[0], rows[1]);
  e->structured = &view;
  MlirValue x = tileKernelCast(e, tileKernelLoadMatrix(e, c->x, rows), w->element);
  e->structured = w->s;
  *sum = tileMmaOpBuild(&e->body, x, tileKernelCast(e, convertWeights(e, w, factorOf(w)), w->element), *sum);
}

static void unrollFrom(TileKernelEmission *e, const Walk *w, int i, MlirValue *sum) {
  if (i == w->c->count) {
    multiply(e, w, sum);
    return;
  }
  int dim = w->c->depth[i];
  for (int64_t at = 0; at < (w->isUnrolled[dim] ? w->s->dims[dim].extent : 1); ++at) {
    if (w->isUnrolled[dim])
      e->index[dim] = tileBuildIndex(&e->body, at);
    unrollFrom(e, w, i + 1, sum);
  }
}

static void loopFrom(TileKernelEmission *e, const Walk *w, int i, MlirValue *sum) {
  if (i == w->c->count) {
    unrollFrom(e, w, 0, sum);
    return;
  }
  int dim = w->c->depth[i];
  int64_t steps = w->s->dims[dim].extent / (i == w->c->count - 1 ? w->s->dims[dim].tile : 1);
  if (w->isUnrolled[dim] || steps == 1) {
    if (steps == 1)
      e->index[dim] = tileBuildIndex(&e->body, 0);
    loopFrom(e, w, i + 1, sum);
    return;
  }
  TileKernelLoop loop;
  // Nothing is assumed of the number: copies ahead of their use are made for steps past the end too.
  e->index[dim] = tileKernelOpenLoop(e, tileBuildIndex(&e->body, steps), 1, 1, sum, &loop);
  loopFrom(e, w, i + 1, sum);
  tileKernelCloseLoop(e, &loop);
}

// A table of the body, copied to the memory that the program's threads share: from there each weight takes its number.
static MlirValue sharedTable(TileKernelEmission *e, MlirValue table) {
  MlirType type = mlirValueGetType(table), element = mlirShapedTypeGetElementType(type);
  int64_t size = mlirShapedTypeGetDimSize(type, 0);
  MlirValue memory = tileAllocOpBuild(&e->body, mlirMemRefTypeContiguousGet(element, 1, &size, mlirAttributeGetNull()));
  MlirType view = tileViewTypeGet(e->body.context, &(TileViewSpec){.rank = 1, .shape = &size, .element = element});
  MlirType tile = tileTileTypeGet(1, &size, element, mlirAttributeGetNull());
  MlirValue first = tileBuildIndex(&e->body, 0), views[2], memories[2] = {table, memory};
  for (int i = 0; i < 2; ++i)
    views[i] = tileViewOpBuild(&e->body, view, memories[i], 0, NULL, mlirDenseI64ArrayGet(e->body.context, 0, NULL));
  tileStoreOpBuild(&e->body, tileLoadOpBuild(&e->body, tile, views[0], 1, &first), views[1], 1, &first);
  return memory;
}

static void shareTables(TileKernelEmission *e) {
  const TileStructured *s = e->structured;
  for (int i = 0; i < s->numCaptures; ++i) {
    MlirValue *parameter = &e->parameters[s->numInputs + s->numOutputs + i];
    MlirType type = mlirValueGetType(*parameter);
    bool isTable = mlirTypeIsAMemRef(type) && mlirShapedTypeGetRank(type) == 1 && mlirShapedTypeHasStaticShape(type) &&
                   mlirShapedTypeGetDimSize(type, 0) <= MostTable;
    if (isTable)
      *parameter = sharedTable(e, *parameter);
  }
}

// `element`: the type of the product itself, before its epilogue.
static void build(TileKernelEmission *e, const Walk *w, MlirType element) {
  const TileStructured *s = e->structured;
  shareTables(e);
  TileStructured view = tileStructuredOver(s, w->c->m, w->c->n);
  e->structured = &view;
  MlirType type = tileKernelOutputTileType(e, mlirF32TypeGet(e->body.context));
  MlirValue sum = tileProductConstant(e, type, 0);
  e->structured = s;
  loopFrom(e, w, 0, &sum);
  e->structured = &view;
  sum = tileProductAddInitial(e, sum);
  tileKernelStore(e, s->numInputs, tileKernelEpilogue(e, tileKernelCast(e, sum, element)));
  e->structured = s;
}

// Matrix instructions take 16 bits where x has them and so has the factor, if only before it is widened.
static MlirType elementOfFactors(const TileStructured *s, const TileConverted *c) {
  MlirType x = tileOperandElementType(&s->operands[c->x]), factor = mlirValueGetType(c->factor);
  MlirOperation op = tileDefiningOp(c->factor);
  bool isAlike =
      mlirTypeEqual(x, factor) || (arithExtFOpIsA(op) && mlirTypeEqual(x, mlirValueGetType(tileOnlyOperand(op))));
  return isAlike ? x : mlirF32TypeGet(mlirOperationGetContext(s->op));
}

bool tileLowerConvertedInRegisters(TileStructured *s, const TileEpilogue *epilogue) {
  TileConverted c;
  if (!tileStructuredGpu(s) || !tileStructuredMatchConverted(s, &c))
    return false;
  MlirType element = tileOperandElementType(&s->operands[s->numInputs]);
  if (epilogue)
    tileStructuredAddEpilogue(s, epilogue);
  tileConvertedSortDims(s, &c);
  tileProductSetTile(s, c.m, 0, side(s->dims[c.m].extent), 1);
  tileProductSetTile(s, c.n, 1, side(s->dims[c.n].extent), 1);
  tileProductSetTile(s, c.depth[c.count - 1], 2, depthOf(s, &c), 1);
  s->warps = warpsOf(s, side(s->dims[c.n].extent));
  Walk walk = {.s = s, .c = &c, .element = elementOfFactors(s, &c)};
  chooseUnrolled(&walk);
  TileKernelEmission e;
  tileKernelBegin(&e, s, "converted_product");
  build(&e, &walk, element);
  tileKernelEnd(&e);
  return true;
}
