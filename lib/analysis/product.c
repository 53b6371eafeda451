// Recognizes sums of products in linalg ops: products of matrices, convolutions, products over several dimensions. See
// product.h.
#include "lib/analysis/product.h"
#include "lib/ir/op_query.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"

//===--- products of matrices -------------------------------------------------===//

//===--- the body -----------------------------------------------------------===//

// The argument that `value` is, seen through a widening; -1 for anything else.
static int argumentOf(MlirBlock body, MlirValue value, TileUpstream widen, bool *isUnsigned) {
  MlirOperation op = tileDefiningOp(value);
  *isUnsigned = widen == ArithOp_ExtSI && tileUpstreamKind(op) == ArithOp_ExtUI;
  if (tileUpstreamKind(op) == widen || *isUnsigned)
    value = tileOnlyOperand(op);
  bool isOurs = mlirValueIsABlockArgument(value) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), body);
  return isOurs ? (int)mlirBlockArgumentGetArgNumber(value) : -1;
}

// As tileBodyMatchMultiplyAdd; says which factors of integers are unsigned.
static bool matchMultiplyAdd(MlirBlock body, int *lhs, int *rhs, bool areUnsigned[2]) {
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != 3 ||
      mlirOperationGetNumOperands(mlirBlockGetTerminator(body)) != 1)
    return false;
  MlirValue accumulator = mlirBlockGetArgument(body, 2);
  MlirOperation sum = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(body)));
  bool isFloat = arithAddFOpIsA(sum);
  if (!isFloat && !arithAddIOpIsA(sum))
    return false;
  bool isLeft = mlirValueEqual(tileBinaryLhs(sum), accumulator);
  MlirOperation product = tileDefiningOp(isLeft ? tileBinaryRhs(sum) : tileBinaryLhs(sum));
  if (!mlirValueEqual(isLeft ? tileBinaryLhs(sum) : tileBinaryRhs(sum), accumulator) ||
      !(isFloat ? arithMulFOpIsA : arithMulIOpIsA)(product))
    return false;
  TileUpstream widen = isFloat ? ArithOp_ExtF : ArithOp_ExtSI;
  *lhs = argumentOf(body, tileBinaryLhs(product), widen, &areUnsigned[0]);
  *rhs = argumentOf(body, tileBinaryRhs(product), widen, &areUnsigned[1]);
  return *lhs + *rhs == 1 && *lhs >= 0 && *rhs >= 0;
}

bool tileBodyMatchMultiplyAdd(MlirBlock body, int *lhs, int *rhs) {
  bool areUnsigned[2];
  return matchMultiplyAdd(body, lhs, rhs, areUnsigned) && !areUnsigned[0] && !areUnsigned[1];
}

//===--- the maps -----------------------------------------------------------===//

enum { MaxAxes = 2, None = -1 };

// Which dimension of the loop nest indexes each axis of an operand.
typedef struct Axes {
  intptr_t rank;
  intptr_t dims[MaxAxes];
} Axes;

static bool readAxes(MlirAffineMap map, Axes *axes) {
  axes->rank = mlirAffineMapGetNumResults(map);
  for (intptr_t i = 0; i < axes->rank && axes->rank <= MaxAxes; ++i) {
    MlirAffineExpr result = mlirAffineMapGetResult(map, i);
    if (!mlirAffineExprIsADim(result))
      return false;
    axes->dims[i] = mlirAffineDimExprGetPosition(result);
  }
  return axes->rank >= 1 && axes->rank <= MaxAxes;
}

static bool uses(const Axes *axes, intptr_t dim) {
  for (intptr_t i = 0; i < axes->rank; ++i)
    if (axes->dims[i] == dim)
      return true;
  return false;
}

// The dimension that `in` and `also` have and `without` has not, if there is exactly one; else None.
static intptr_t shared(const Axes *in, const Axes *also, const Axes *without) {
  intptr_t found = None;
  for (intptr_t i = 0; i < in->rank; ++i)
    if (uses(also, in->dims[i]) && !uses(without, in->dims[i])) {
      if (found != None)
        return None;
      found = in->dims[i];
    }
  return found;
}

// lhs (m, k) · rhs (k, n) into (m, n), or (k) into (m).
static bool matchAxes(const Axes *lhs, const Axes *rhs, const Axes *out, TileMatrixProduct *product) {
  intptr_t k = shared(lhs, rhs, out), m = shared(lhs, out, rhs), n = shared(rhs, out, lhs);
  product->isVector = rhs->rank == 1;
  if (k == None || m == None || lhs->rank != 2 || out->rank != rhs->rank || out->dims[0] != m)
    return false;
  if (!product->isVector && (n == None || out->dims[1] != n))
    return false;
  product->transposeLhs = lhs->dims[0] == k;
  product->transposeRhs = !product->isVector && rhs->dims[1] == k;
  return true;
}

bool tileMatchMatrixProduct(MlirOperation op, TileMatrixProduct *product) {
  Axes axes[3];
  MlirType elements[3];
  int lhs, rhs;
  if (mlirOperationGetNumOperands(op) != 3 || mlirOperationGetNumResults(op) != 1 || !tileOpIsStructured(op))
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirArrayAttrGetNumElements(maps) != 3)
    return false;
  for (intptr_t i = 0; i < 3; ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    if (!mlirTypeIsARankedTensor(tileOperandType(op, i)) || mlirAffineMapGetNumDims(map) > 3 ||
        !readAxes(map, &axes[i]))
      return false;
    elements[i] = mlirShapedTypeGetElementType(tileOperandType(op, i));
  }
  if (!mlirTypeEqual(elements[0], elements[1]) ||
      !tileBodyMatchMultiplyAdd(tileOnlyBlock(mlirOperationGetRegion(op, 0)), &lhs, &rhs))
    return false;
  *product = (TileMatrixProduct){.lhs = 0, .rhs = 1, .init = 2};
  if (matchAxes(&axes[0], &axes[1], &axes[2], product))
    return true;
  *product = (TileMatrixProduct){.lhs = 1, .rhs = 0, .init = 2}; // products of numbers commute
  return matchAxes(&axes[1], &axes[0], &axes[2], product);
}

//===--- sums of products -----------------------------------------------------===//

//===--- questions ----------------------------------------------------------===//

static bool hasOperandsOfProduct(const TileStructured *s) {
  return s->numInputs == 2 && s->numOutputs == 1 && s->operands[0].isTensor && s->operands[1].isTensor &&
         tileStructuredAccumulates(s, &s->operands[2]);
}

bool tileStructuredMatchMultiplyAdd(const TileStructured *s, int *lhs, int *rhs) {
  return hasOperandsOfProduct(s) && tileBodyMatchMultiplyAdd(s->body, lhs, rhs);
}

void tileStructuredUnsignedFactors(const TileStructured *s, int lhs, bool areUnsigned[2]) {
  int first, second;
  bool found[2] = {false, false};
  bool isProduct = matchMultiplyAdd(s->body, &first, &second, found);
  areUnsigned[0] = isProduct && found[first == lhs ? 0 : 1];
  areUnsigned[1] = isProduct && found[first == lhs ? 1 : 0];
}

static bool isWidth(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == width;
}

// What tile.mma may accumulate (the legal list stands with its verifier). A GPU's kernel holds sums of bf16 in f32.
bool tileStructuredHasMmaTypes(const TileStructured *s) {
  MlirType a = tileOperandElementType(&s->operands[0]), b = tileOperandElementType(&s->operands[1]);
  MlirType out = tileOperandElementType(&s->operands[2]);
  if (!mlirTypeEqual(a, b))
    return false;
  if (mlirTypeIsAF32(out))
    return mlirTypeIsAF32(a) || mlirTypeIsAF16(a) || mlirTypeIsABF16(a);
  if (isWidth(out, 32))
    return isWidth(a, 8) || isWidth(a, 16) || isWidth(a, 32);
  if (mlirTypeIsABF16(out))
    return mlirTypeIsABF16(a) && tileStructuredGpu(s);
  return mlirTypeEqual(a, out) && (mlirTypeIsAF64(out) || mlirTypeIsAF16(out) || isWidth(out, 64));
}

// A dimension that is worth a tile's axis.
static bool isWide(const TileStructured *s, int dim) {
  int64_t extent = s->dims[dim].extent;
  return mlirShapedTypeIsDynamicSize(extent) || extent > 1;
}

static bool usedBy(const TileStructured *s, int operand, int dim) {
  return tileOperandUses(&s->operands[operand], dim);
}

// Was the op decided for a GPU's kernel of a kind that makes no products? Then its sizes say nothing of rows and
// columns.
static bool isOfOtherKind(const TileStructured *s) {
  TileOperator plain = {.m = -1, .n = -1, .k = -1};
  TileKind kind = tileStructuredNamedKind(s);
  return tileStructuredGpu(s) && kind && tileKindFits(kind, &plain, &s->target->search);
}

// The last dimension of the output that A has and B has not, and that goes with tiles along `other`; one that the op's
// schedule tiles before all others.
static int findParallel(const TileStructured *s, int a, int b, int other) {
  const TileOperand *out = &s->operands[2];
  int found = -1;
  for (int i = 0; i < out->rank; ++i) {
    int d = out->results[i];
    bool fits = d != other && usedBy(s, a, d) && !usedBy(s, b, d) && isWide(s, d) && tileStructuredCanTile(s, d, other);
    if (fits && (found < 0 || s->dims[found].scheduled <= 1 || s->dims[d].scheduled > 1 || isOfOtherKind(s)))
      found = d;
  }
  return found;
}

static bool isAlone(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; ++i)
    if (operand->factors[i][dim])
      return operand->results[i] == dim;
  return false;
}

// A reduction dimension of both; channels (alone on their axes) rather than a window's. On a CPU a convolution of one
// channel is a product too, whose k is one step in each element of the window.
static int findDepth(const TileStructured *s, int m, int n) {
  int found = -1, one = -1;
  for (int d = 0; d < s->numDims; ++d) {
    if (!s->dims[d].isReduction || !usedBy(s, 0, d) || !usedBy(s, 1, d) || !tileStructuredCanTile(s, d, m) ||
        !tileStructuredCanTile(s, d, n))
      continue;
    bool isChannel = isAlone(&s->operands[0], d) && isAlone(&s->operands[1], d);
    if (isWide(s, d) && (found < 0 || isChannel))
      found = d;
    if (isChannel)
      one = d;
  }
  return found < 0 && !tileStructuredGpu(s) ? one : found;
}

// Columns are the output's last dimension that one input has alone; that input is B.
static bool matchDims(const TileStructured *s, TileProduct *p) {
  int ofA = findParallel(s, p->lhs, p->rhs, -1), ofB = findParallel(s, p->rhs, p->lhs, -1);
  const TileOperand *out = &s->operands[2];
  for (int i = out->rank - 1; i >= 0; --i) {
    if (out->results[i] == ofB)
      break;
    if (out->results[i] == ofA) {
      *p = (TileProduct){.lhs = p->rhs, .rhs = p->lhs};
      ofB = ofA;
      break;
    }
  }
  p->n = ofB;
  p->m = ofB < 0 ? -1 : findParallel(s, p->lhs, p->rhs, p->n);
  p->k = p->m < 0 ? -1 : findDepth(s, p->m, p->n);
  return p->k >= 0;
}

bool tileStructuredMatchProduct(const TileStructured *s, TileProduct *p) {
  return !tileStructuredHasTerms(s) && tileStructuredMatchMultiplyAdd(s, &p->lhs, &p->rhs) &&
         tileStructuredHasMmaTypes(s) && matchDims(s, p);
}

//===--- matrix products --------------------------------------------------------===//

static bool isFull(const TileOperand *operand) {
  if (!tileOperandIsPlain(operand))
    return false;
  for (int i = 0; i < operand->rank; ++i)
    if (operand->results[i] < 0)
      return false;
  return true;
}

// Tile registers multiply blocks: fewer rows than half a register's, or fewer columns than a register's, go by vectors.
static bool fillsTiles(const TileStructured *s, int lhs, int rhs) {
  enum { LeastRows = 8, LeastColumns = 16 };
  const TileOperand *a = &s->operands[lhs], *b = &s->operands[rhs], *out = &s->operands[s->numInputs];
  int64_t rows = 1, columns = 1;
  for (int d = 0; d < s->numDims; ++d) {
    bool inA = tileOperandUses(a, d), inB = tileOperandUses(b, d), inOut = tileOperandAxisOf(out, d) >= 0;
    int64_t *size = inA && !inB && inOut ? &rows : !inA && inB && inOut ? &columns : NULL;
    if (size)
      *size = mlirShapedTypeIsDynamicSize(s->dims[d].extent) ? INT64_MAX : s->dims[d].extent;
  }
  return rows >= LeastRows && columns >= LeastColumns;
}

// Kernels make signed left factors unsigned for the instruction on vectors.
static bool takesSigns(const TileDot *dot, const bool areUnsigned[2]) {
  return dot->isUnsigned[1] == areUnsigned[1] &&
         (dot->isUnsigned[0] == areUnsigned[0] || (dot->isUnsigned[0] && !dot->isByTiles));
}

const TileDot *tileStructuredProductDot(const TileStructured *s, int lhs, int rhs) {
  MlirType a = tileOperandElementType(&s->operands[lhs]), b = tileOperandElementType(&s->operands[rhs]);
  MlirType sum = tileOperandElementType(&s->operands[s->numInputs]);
  if (tileStructuredGpu(s) || !mlirTypeEqual(a, b))
    return NULL;
  if (mlirTypeIsABF16(sum)) // rounded at the end
    sum = mlirF32TypeGet(mlirTypeGetContext(sum));
  bool areUnsigned[2];
  tileStructuredUnsignedFactors(s, lhs, areUnsigned);
  for (int i = 0; i < TileNumDots; ++i)
    if (s->target->hasDot[i] && tileDotTakes(&tileDots[i], a, sum) && takesSigns(&tileDots[i], areUnsigned) &&
        (!tileDots[i].isByTiles || fillsTiles(s, lhs, rhs)))
      return &tileDots[i];
  return NULL;
}

// A plain left operand, or one of merged dimensions whose rows come in runs: those of CPUs alone are packed by them. A
// dot instruction takes whole groups of a run.
static bool isFullOrMerged(const TileStructured *s, const TileProduct *p) {
  const TileOperand *a = &s->operands[p->lhs];
  if (!a->numTerms)
    return isFull(a);
  int64_t depth = s->dims[p->k].extent, run = tileStructuredRun(s, a, p->k);
  if (tileStructuredGpu(s) || mlirShapedTypeIsDynamicSize(depth) || s->numDims != 3 || run < 1 || depth % run)
    return false;
  const TileDot *dot = tileStructuredProductDot(s, p->lhs, p->rhs);
  return run % s->target->search.model.depthDots == 0 || !dot;
}

// Gives every dimension its role; exactly one m, n and k. n is the one that is contiguous in C.
static bool matchMatrixDims(const TileStructured *s, TileProduct *p) {
  const TileOperand *a = &s->operands[p->lhs], *b = &s->operands[p->rhs], *out = &s->operands[s->numInputs];
  p->m = p->n = p->k = -1;
  for (int d = 0; d < s->numDims; ++d) {
    bool inA = tileOperandUses(a, d), inB = tileOperandUses(b, d), inOut = tileOperandAxisOf(out, d) >= 0;
    int *role = inA && inB && !inOut ? &p->k : inA && !inB && inOut ? &p->m : !inA && inB && inOut ? &p->n : NULL;
    if (!role && !(inA && inB && inOut))
      return false;
    if (role && *role >= 0)
      return false;
    if (role)
      *role = d;
  }
  if (p->m < 0 || p->n < 0 || p->k < 0)
    return false;
  if (tileOperandAxisOf(out, p->m) > tileOperandAxisOf(out, p->n))
    *p = (TileProduct){.lhs = p->rhs, .rhs = p->lhs, .m = p->n, .n = p->m, .k = p->k};
  return isFullOrMerged(s, p) && isFull(&s->operands[p->rhs]);
}

// A GPU has a matrix instruction for floats of 8 bits and sums of f32.
static bool multipliesNarrow(const TileStructured *s, MlirType a, MlirType out) {
  bool isE4 = mlirTypeIsAFloat8E4M3FN(a), isE5 = mlirTypeIsAFloat8E5M2(a);
  TileOperator op = {.numOperands = 1, .type = isE4 ? "f8E4M3FN" : "f8E5M2", .operands = {{.bits = 32}}};
  if (!tileStructuredGpu(s) || !(isE4 || isE5) || !mlirTypeIsAF32(out))
    return false;
  TileSearchTarget target = s->target->search;
  tileSearchSetOperator(s->target->machine, &op, &target);
  return target.hasAtom;
}

// A tile.mma takes these element types (OPS.md's table; integers without a dot instruction, and narrow floats without a
// matrix instruction, go by the reduction).
static bool takesTypes(const TileStructured *s, const TileProduct *p) {
  MlirType a = tileOperandElementType(&s->operands[p->lhs]), b = tileOperandElementType(&s->operands[p->rhs]);
  MlirType out = tileOperandElementType(&s->operands[s->numInputs]);
  if (!mlirTypeEqual(a, b))
    return false;
  if (mlirTypeIsAInteger(a))
    return tileStructuredProductDot(s, p->lhs, p->rhs) != NULL;
  if (mlirTypeIsAF64(a) || mlirTypeIsAF64(out))
    return mlirTypeIsAF64(a) && mlirTypeIsAF64(out);
  if (mlirTypeIsAF16(a))
    return mlirTypeIsAF16(out) || mlirTypeIsAF32(out);
  if (multipliesNarrow(s, a, out))
    return true;
  bool isNarrowSum = mlirTypeIsABF16(a) && mlirTypeIsABF16(out) && !tileStructuredGpu(s);
  return isNarrowSum || ((mlirTypeIsAF32(a) || mlirTypeIsABF16(a)) && mlirTypeIsAF32(out));
}

// On a CPU, a row times a matrix whose rows are contiguous goes by rows (direct_product.c); other products with a
// vector read a matrix once along k: a reduction, nothing to pack.
static bool isMatrixProduct(const TileStructured *s, const TileProduct *p) {
  const TileOperand *b = &s->operands[p->rhs];
  bool isRow = s->dims[p->m].extent == 1 && !tileStructuredGpu(s) && b->results[b->rank - 1] == p->n &&
               !mlirShapedTypeIsDynamicSize(s->dims[p->n].extent) && !mlirShapedTypeIsDynamicSize(s->dims[p->k].extent);
  return (s->dims[p->m].extent != 1 || isRow) && s->dims[p->n].extent != 1 && takesTypes(s, p);
}

bool tileStructuredMatchMatrixProduct(const TileStructured *s, TileProduct *p) {
  bool areUnsigned[2];
  return hasOperandsOfProduct(s) && matchMultiplyAdd(s->body, &p->lhs, &p->rhs, areUnsigned) &&
         !((areUnsigned[0] || areUnsigned[1]) && tileStructuredGpu(s)) && matchMatrixDims(s, p) &&
         isMatrixProduct(s, p);
}

bool tileStructuredHasConstantPanels(const TileStructured *s, const TileProduct *p) {
  const TileOperand *b = &s->operands[p->rhs];
  size_t size;
  bool isMatrix =
      b->rank == 2 && !b->numTerms && tileOperandIsPlain(b) && tileOperandUses(b, p->k) && tileOperandUses(b, p->n);
  return isMatrix && !tileStructuredGpu(s) && tileOperandConstantBytes(b, &size);
}
