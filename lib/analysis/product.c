// Recognizes sums of products: matrix products, convolutions, products over several dimensions. See product.h.
#include "lib/analysis/product.h"

//===--- questions ----------------------------------------------------------===//

typedef struct Multiply {
  const char *add, *multiply, *widen;
} Multiply;

static const Multiply multiplies[] = {{"arith.addf", "arith.mulf", "arith.extf"},
                                      {"arith.addi", "arith.muli", "arith.extsi"}};

// The block argument that `value` is, seen through a widening of its type; -1 for anything else.
static int matchInput(const TileStructured *s, MlirValue value, const char *widen) {
  MlirOperation op = tileDefiningOp(value);
  if (tileOpIs(op, widen))
    value = mlirOperationGetOperand(op, 0);
  if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body))
    return -1;
  int argument = (int)mlirBlockArgumentGetArgNumber(value);
  return argument < s->numInputs && s->operands[argument].isTensor ? argument : -1;
}

static bool matchKind(const TileStructured *s, const Multiply *kind, int *lhs, int *rhs) {
  MlirValue accumulator = mlirBlockGetArgument(s->body, s->numInputs);
  MlirOperation sum = tileDefiningOp(mlirOperationGetOperand(mlirBlockGetTerminator(s->body), 0));
  if (!tileOpIs(sum, kind->add))
    return false;
  int side = mlirValueEqual(mlirOperationGetOperand(sum, 0), accumulator) ? 1 : 0;
  MlirOperation product = tileDefiningOp(mlirOperationGetOperand(sum, side));
  if (!mlirValueEqual(mlirOperationGetOperand(sum, 1 - side), accumulator) || !tileOpIs(product, kind->multiply))
    return false;
  *lhs = matchInput(s, mlirOperationGetOperand(product, 0), kind->widen);
  *rhs = matchInput(s, mlirOperationGetOperand(product, 1), kind->widen);
  return *lhs >= 0 && *rhs >= 0 && *lhs != *rhs;
}

bool tileStructuredMatchMultiplyAdd(const TileStructured *s, int *lhs, int *rhs) {
  if (s->numInputs != 2 || s->numOutputs != 1 || !tileStructuredAccumulates(s, &s->operands[2]))
    return false;
  for (size_t i = 0; i < sizeof multiplies / sizeof *multiplies; i++)
    if (matchKind(s, &multiplies[i], lhs, rhs))
      return true;
  return false;
}

static bool isWidth(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == width;
}

// What tile.mma may accumulate (the legal list stands with its verifier).
static bool hasMmaTypes(const TileStructured *s) {
  MlirType a = tileOperandElementType(&s->operands[0]), b = tileOperandElementType(&s->operands[1]);
  MlirType out = tileOperandElementType(&s->operands[2]);
  if (!mlirTypeEqual(a, b))
    return false;
  if (mlirTypeIsAF32(out))
    return mlirTypeIsAF32(a) || mlirTypeIsAF16(a) || mlirTypeIsABF16(a);
  if (isWidth(out, 32))
    return isWidth(a, 8) || isWidth(a, 16) || isWidth(a, 32);
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

// The last dimension of the output that A has and B has not, and that goes with tiles along `other`; one that the op's
// schedule tiles before all others.
static int findParallel(const TileStructured *s, int a, int b, int other) {
  const TileOperand *out = &s->operands[2];
  int found = -1;
  for (int i = 0; i < out->rank; i++) {
    int d = out->results[i];
    bool fits = d != other && usedBy(s, a, d) && !usedBy(s, b, d) && isWide(s, d) && tileStructuredCanTile(s, d, other);
    if (fits && (found < 0 || s->dims[found].scheduled <= 1 || s->dims[d].scheduled > 1))
      found = d;
  }
  return found;
}

static bool isAlone(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; i++)
    if (operand->factors[i][dim])
      return operand->results[i] == dim;
  return false;
}

// A reduction dimension of both; channels (alone on their axes) rather than a window's.
static int findDepth(const TileStructured *s, int m, int n) {
  int found = -1;
  for (int d = 0; d < s->numDims; d++) {
    if (!s->dims[d].isReduction || !usedBy(s, 0, d) || !usedBy(s, 1, d) || !isWide(s, d) ||
        !tileStructuredCanTile(s, d, m) || !tileStructuredCanTile(s, d, n))
      continue;
    if (found < 0 || (isAlone(&s->operands[0], d) && isAlone(&s->operands[1], d)))
      found = d;
  }
  return found;
}

// Columns are the output's last dimension that one input has alone; that input is B.
static bool matchDims(const TileStructured *s, TileProduct *p) {
  int ofA = findParallel(s, p->lhs, p->rhs, -1), ofB = findParallel(s, p->rhs, p->lhs, -1);
  const TileOperand *out = &s->operands[2];
  for (int i = out->rank - 1; i >= 0; i--) {
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
  return tileStructuredMatchMultiplyAdd(s, &p->lhs, &p->rhs) && hasMmaTypes(s) && matchDims(s, p);
}
