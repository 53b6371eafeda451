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

typedef struct Factors {
  const TileStructured *s;
  const TileConverted *c;
  uint32_t unrolled; // reductions that the codes do not have, as bits
  MlirType element;  // of the factors as they are multiplied
  MlirValue *shared; // the memory that a step's weights go through; null: they stay in registers
} Factors;

//===--- sizes --------------------------------------------------------------------------------===//

static int64_t side(int64_t extent) { return tileProductCover(extent, LeastSide, MostSide); }

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

static uint32_t findUnrolled(const TileStructured *s, const TileConverted *c) {
  const TileOperand *codes = codesOf(s, c);
  uint32_t unrolled = 0;
  int64_t all = 1;
  for (int i = 0; i < c->count - 1; ++i) {
    int64_t extent = s->dims[c->depth[i]].extent;
    if (!codes || tileOperandUses(codes, c->depth[i]) || extent * all > MostUnrolled)
      continue;
    unrolled |= 1u << c->depth[i];
    all *= extent;
  }
  return unrolled;
}

//===--- the kernel ---------------------------------------------------------------------------===//

// The number that a constant operand over one unrolled reduction has there; false for another operand.
static bool constantAt(const TileKernelEmission *e, const Factors *f, const TileOperand *operand, int64_t *number) {
  int dim = operand->isTensor && operand->rank == 1 ? operand->results[0] : -1;
  MlirOperation constant = tileDefiningOp(operand->value);
  MlirAttribute data = arithConstantOpIsA(constant) ? arithConstantOpGetValue(constant) : mlirAttributeGetNull();
  int64_t at;
  if (dim < 0 || !(f->unrolled >> dim & 1) || mlirAttributeIsNull(data) || !mlirAttributeIsADenseElements(data) ||
      !mlirTypeIsAInteger(tileOperandElementType(operand)) || tileElementWidth(tileOperandElementType(operand)) != 8 ||
      !tileConstantIndex(e->index[dim], &at))
    return false;
  *number = mlirDenseElementsAttrGetInt8Value(data, at);
  return true;
}

// The weights of the current step, k × n.
static MlirValue convertWeights(TileKernelEmission *e, const Factors *f, MlirValue factor) {
  const TileConverted *c = f->c;
  int last = c->depth[c->count - 1];
  TileStructured view = tileStructuredOver(f->s, c->isAlongColumns ? last : c->n, c->isAlongColumns ? c->n : last);
  TileBodyMap map = {0};
  e->structured = &view;
  for (int i = 0; i < view.numInputs; ++i) {
    int64_t number;
    MlirValue argument = mlirBlockGetArgument(view.body, i);
    if (i == c->x)
      continue;
    if (constantAt(e, f, &view.operands[i], &number))
      tileBodyMapSet(&map, argument,
                     tileBuildInteger(&e->body, tileKernelTileType(e, mlirValueGetType(argument)), number));
    else
      tileKernelMapInputs(e, &map, i, i + 1);
  }
  MlirValue weights = tileKernelCloneValue(e, &map, factor);
  if (!c->isAlongColumns)
    weights = tileKernelSwapped(e, weights);
  e->structured = f->s;
  return weights;
}

// What the product multiplies by, before it is widened to the product's type, if x has that type as well.
static MlirValue factorOf(const Factors *f) {
  MlirOperation op = tileDefiningOp(f->c->factor);
  bool isPlain = arithExtFOpIsA(op) && mlirTypeEqual(mlirValueGetType(tileOnlyOperand(op)), f->element);
  return isPlain ? tileOnlyOperand(op) : f->c->factor;
}

// The weights as the program's threads share them: each is converted once, whatever parts of it the warps multiply.
static MlirValue throughMemory(TileKernelEmission *e, const Factors *f, MlirValue weights) {
  MlirType type = mlirValueGetType(weights);
  int64_t shape[2] = {mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1)};
  MlirValue first[2] = {tileBuildIndex(&e->body, 0), tileBuildIndex(&e->body, 0)};
  MlirType view = tileViewTypeGet(e->body.context, &(TileViewSpec){.rank = 2, .shape = shape, .element = f->element});
  MlirValue whole =
      tileViewOpBuild(&e->body, view, *f->shared, 0, NULL, mlirDenseI64ArrayGet(e->body.context, 0, NULL));
  tileStoreOpBuild(&e->body, weights, whole, 2, first);
  return tileLoadOpBuild(&e->body, type, whole, 2, first);
}

static void buildFactors(TileKernelEmission *e, const void *data, MlirValue *factors) {
  const Factors *f = data;
  const int rows[2] = {f->c->m, f->c->depth[f->c->count - 1]};
  factors[0] = tileKernelCast(e, tileKernelLoadMatrix(e, f->c->x, rows), f->element);
  factors[1] = tileKernelCast(e, convertWeights(e, f, factorOf(f)), f->element);
  if (f->shared)
    factors[1] = throughMemory(e, f, factors[1]);
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

static void shareTables(TileGroupEmission *k) {
  const TileStructured *s = &k->unit.s;
  for (int i = 0; i < s->numCaptures; ++i) {
    MlirValue *parameter = &k->parameters[s->numInputs + s->numOutputs + i];
    MlirType type = mlirValueGetType(*parameter);
    bool isTable = mlirTypeIsAMemRef(type) && mlirShapedTypeGetRank(type) == 1 && mlirShapedTypeHasStaticShape(type) &&
                   mlirShapedTypeGetDimSize(type, 0) <= MostTable;
    if (isTable)
      *parameter = sharedTable(&k->e, *parameter);
  }
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
  tileConvertedSortDims(s, &c);
  int last = c.depth[c.count - 1];
  bool isShared = s->convert == TileConvert_Shared;
  int64_t rows = tileProductCover(s->dims[c.m].extent, LeastSide, isShared ? 2 * MostSide : MostSide);
  tileProductSetTile(s, c.m, 0, rows, 1);
  tileProductSetTile(s, c.n, 1, side(s->dims[c.n].extent), 1);
  tileProductSetTile(s, last, 2, depthOf(s, &c), 1);
  s->warps = warpsOf(s, side(s->dims[c.n].extent));
  MlirValue shared;
  const Factors factors = {.s = s,
                           .c = &c,
                           .unrolled = findUnrolled(s, &c),
                           .element = elementOfFactors(s, &c),
                           .shared = isShared ? &shared : NULL};
  const TileProduct product = {.lhs = c.x, .rhs = -1, .m = c.m, .n = c.n, .k = last};
  TileOpKernel kernel;
  TileKernelEmission *e = tileOpKernelBegin(&kernel, s, epilogue, "converted_product");
  shareTables(&kernel.emission);
  if (isShared) {
    int64_t shape[2] = {s->dims[last].tile, s->dims[c.n].tile};
    shared = tileAllocOpBuild(&e->body, mlirMemRefTypeContiguousGet(factors.element, 2, shape, mlirAttributeGetNull()));
  }
  tileKernelBuildNode(e, TileGroupKind_Product, &product,
                      &(TileNodeFactors){.build = buildFactors, .data = &factors, .unrolled = factors.unrolled});
  tileKernelEnd(e);
  return true;
}
