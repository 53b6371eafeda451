// Recognizes products with a converted factor. See converted.h.
#include "lib/analysis/low_bit/converted.h"

#include "lib/ir/op_query.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

//===--- the body -----------------------------------------------------------------------------===//

// The input whose argument `value` is, seen through a widening, if it is used here alone; else -1.
static int plainFactor(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (!tileHasOneUse(value))
    return -1;
  int input = tileStructuredInputOf(s, arithExtFOpIsA(op) ? tileOnlyOperand(op) : value);
  bool isAlone = input >= 0 && s->operands[input].isTensor && tileHasOneUse(mlirBlockGetArgument(s->body, input));
  return isAlone ? input : -1;
}

static int lastOfOutput(const TileStructured *s) {
  const TileOperand *out = &s->operands[s->numInputs];
  return out->rank ? out->results[out->rank - 1] : -1;
}

// x is the factor that does not have the output's last dimension. Factors of one type are a plain product's, on a GPU
// all factors that are only widened.
static bool matchBody(const TileStructured *s, TileConverted *c) {
  MlirValue sum = s->numOutputs == 1 ? tileStructuredYielded(s) : (MlirValue){NULL};
  MlirValue start = mlirBlockGetArgument(s->body, s->numInputs);
  MlirOperation add = mlirValueIsNull(sum) ? (MlirOperation){NULL} : tileDefiningOp(sum);
  int last = lastOfOutput(s);
  if (last < 0 || !arithAddFOpIsA(add) || !tileHasOneUse(start) || !tileHasOneUse(sum))
    return false;
  bool isLeft = mlirValueEqual(tileBinaryLhs(add), start);
  MlirValue product = isLeft ? tileBinaryRhs(add) : tileBinaryLhs(add);
  MlirOperation multiply = tileDefiningOp(product);
  if (!mlirValueEqual(isLeft ? tileBinaryLhs(add) : tileBinaryRhs(add), start) || !arithMulFOpIsA(multiply) ||
      !tileHasOneUse(product))
    return false;
  int lhs = plainFactor(s, tileBinaryLhs(multiply)), rhs = plainFactor(s, tileBinaryRhs(multiply));
  bool isLhs = lhs >= 0 && !tileOperandUses(&s->operands[lhs], last);
  c->x = isLhs ? lhs : rhs;
  c->factor = isLhs ? tileBinaryRhs(multiply) : tileBinaryLhs(multiply);
  bool isPlain = lhs >= 0 && rhs >= 0 &&
                 (tileStructuredGpu(s) ||
                  mlirTypeEqual(tileOperandElementType(&s->operands[lhs]), tileOperandElementType(&s->operands[rhs])));
  MlirType type = mlirValueGetType(product);
  return c->x >= 0 && !isPlain && (mlirTypeIsAF32(type) || mlirTypeIsAF16(type) || mlirTypeIsABF16(type));
}

static bool usesPlaces(const TileStructured *s) {
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op))
      return true;
  return false;
}

//===--- the dimensions -----------------------------------------------------------------------===//

// Every axis is indexed by one dimension, or has one element.
static bool isPlain(const TileStructured *s, const TileOperand *operand) {
  for (int axis = 0; axis < operand->rank; ++axis)
    for (int d = 0; d < s->numDims; ++d)
      if (operand->factors[axis][d] && operand->results[axis] != d)
        return false;
  return !operand->numTerms && tileOperandIsPlain(operand);
}

// The axes of x: parallel ones, then all reductions.
static bool matchDepth(const TileStructured *s, TileConverted *c) {
  const TileOperand *x = &s->operands[c->x];
  int reductions = 0;
  for (int d = 0; d < s->numDims; ++d)
    reductions += s->dims[d].isReduction;
  for (int axis = 0; axis < x->rank; ++axis) {
    int dim = x->results[axis];
    if (dim < 0 || (c->count && !s->dims[dim].isReduction))
      return false;
    if (s->dims[dim].isReduction)
      c->depth[c->count++] = dim;
  }
  for (int i = 0; i < c->count; ++i)
    if (mlirShapedTypeIsDynamicSize(s->dims[c->depth[i]].extent) || s->dims[c->depth[i]].extent < 1)
      return false;
  return c->count && c->count == reductions;
}

// A tile of columns would be mostly padding for fewer.
enum { LeastColumns = 16 };

static bool matchParallel(const TileStructured *s, TileConverted *c) {
  const TileOperand *out = &s->operands[s->numInputs], *x = &s->operands[c->x];
  c->m = -1;
  c->n = lastOfOutput(s);
  for (int axis = 0; axis < out->rank - 1; ++axis)
    if (tileOperandUses(x, out->results[axis]))
      c->m = out->results[axis];
  bool isNarrow = !mlirShapedTypeIsDynamicSize(s->dims[c->n].extent) && s->dims[c->n].extent < LeastColumns;
  return c->m >= 0 && !tileOperandUses(x, c->n) && !isNarrow;
}

// Which way the largest of the factor's operands lies; none has rows of x.
static bool matchFactor(const TileStructured *s, TileConverted *c) {
  int64_t most = 0;
  int last = -1;
  for (int i = 0; i < s->numInputs; ++i) {
    const TileOperand *operand = &s->operands[i];
    if (i == c->x || !operand->isTensor)
      continue;
    if (!isPlain(s, operand) || tileOperandUses(operand, c->m))
      return false;
    int64_t elements = 1;
    for (int d = 0; d < s->numDims; ++d)
      if (tileOperandUses(operand, d))
        elements *= mlirShapedTypeIsDynamicSize(s->dims[d].extent) ? 1 << 10 : s->dims[d].extent;
    int axis = operand->rank - 1;
    while (axis >= 0 && operand->results[axis] < 0)
      --axis;
    if (axis >= 0 && elements > most) {
      most = elements;
      last = operand->results[axis];
    }
  }
  c->isAlongColumns = last == c->n;
  return last == c->n || last == c->depth[c->count - 1];
}

//===--- parts of k ---------------------------------------------------------------------------===//

static int64_t divisorBelow(int64_t extent, int64_t most) {
  int64_t divisor = most < extent ? most : extent;
  while (divisor > 1 && extent % divisor)
    --divisor;
  return divisor < 1 ? 1 : divisor;
}

int64_t tileConvertedPart(const TileStructured *s, const TileConverted *c, int64_t most, int64_t *inside) {
  int64_t depth = 1;
  bool isOpen = true;
  for (int i = c->count - 1; i >= 0; --i) {
    int64_t extent = s->dims[c->depth[i]].extent;
    inside[i] = isOpen ? divisorBelow(extent, most / depth) : 1;
    isOpen = isOpen && inside[i] == extent;
    depth *= inside[i];
  }
  return depth;
}

int64_t tileConvertedStep(const TileStructured *s, const TileConverted *c) {
  int64_t extent = s->dims[c->depth[c->count - 1]].extent;
  return extent & -extent;
}

//===--- codes --------------------------------------------------------------------------------===//

bool tileConvertedIsSame(const TileStructured *s, MlirValue value, MlirValue code, int dim) {
  int input = tileStructuredInputOf(s, value);
  if (mlirValueEqual(value, code))
    return true;
  if (input >= 0)
    return !tileOperandUses(&s->operands[input], dim);
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return true;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!tileConvertedIsSame(s, mlirOperationGetOperand(op, i), code, dim))
      return false;
  return true;
}

// The code, or its four bits as an integer of no fewer: an unsigned number of 0 to 15 in both.
static bool isCodeItself(MlirValue value, MlirValue code) {
  MlirOperation op = tileDefiningOp(value);
  bool isCut = arithTruncIOpIsA(op) && mlirIntegerTypeGetWidth(mlirValueGetType(value)) >= 4;
  return mlirValueEqual(isCut ? tileOnlyOperand(op) : value, code);
}

// Ops between the code and `value` that may stop the program for a code that no weight has.
static bool mayStop(const TileStructured *s, MlirValue value, MlirValue code) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirValueEqual(value, code) || mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return false;
  if (tileOpDividesIntegers(op))
    return true;
  if (tensorExtractOpIsA(op)) {
    MlirType table = mlirValueGetType(tensorExtractOpGetTensor(op));
    MlirOperation index = tensorExtractOpGetNumIndices(op) == 1 ? tileDefiningOp(tensorExtractOpGetIndices(op, 0)) : op;
    bool isCode = (arithIndexCastUIOpIsA(index) && isCodeItself(tileOnlyOperand(index), code)) ||
                  (arithIndexCastOpIsA(index) && mlirValueEqual(tileOnlyOperand(index), code));
    return !isCode || mlirShapedTypeGetDimSize(table, 0) < TileConvertedMostCodes;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (mayStop(s, mlirOperationGetOperand(op, i), code))
      return true;
  return false;
}

// Certainly 0 to 15, as integers of at most 32 bits: … & mask, the highest bits shifted down, one of two such.
static bool isCode(MlirValue value) {
  int64_t number;
  MlirOperation op = tileDefiningOp(value);
  MlirType type = mlirValueGetType(value);
  if (mlirOperationIsNull(op) || !mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) > 32)
    return false;
  if (arithSelectOpIsA(op))
    return isCode(arithSelectOpGetTrueValue(op)) && isCode(arithSelectOpGetFalseValue(op));
  if (arithShRUIOpIsA(op))
    return tileConstantIndex(tileBinaryRhs(op), &number) && number < mlirIntegerTypeGetWidth(type) &&
           (int64_t)mlirIntegerTypeGetWidth(type) - number <= 4;
  if (!arithAndIOpIsA(op))
    return false;
  bool hasMask = tileConstantIndex(tileBinaryRhs(op), &number) || tileConstantIndex(tileBinaryLhs(op), &number);
  return hasMask && number >= 0 && number < TileConvertedMostCodes;
}

bool tileConvertedFindCode(const TileStructured *s, const TileConverted *c, TileConvertedCode *found) {
  MlirValue none = {NULL};
  int last = c->count - 1;
  for (MlirOperation op = mlirBlockGetFirstOperation(s->body); !c->isAlongColumns && !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (mlirOperationGetNumResults(op) != 1 || !isCode(tileOnlyResult(op)))
      continue;
    MlirValue code = tileOnlyResult(op);
    if (tileConvertedIsSame(s, code, none, c->depth[last]) ||
        !tileConvertedIsSame(s, c->factor, code, c->depth[last]) || mayStop(s, c->factor, code))
      continue;
    *found = (TileConvertedCode){.code = code, .level = last};
    while (found->level && tileConvertedIsSame(s, c->factor, code, c->depth[found->level - 1]))
      --found->level;
    return true;
  }
  return false;
}

// A CPU's kernel converts the codes of one row only if it can look them up. A GPU's converts a weight for each tile of
// rows: for many of them converting first is less work.
static bool hasKernel(const TileStructured *s, const TileConverted *c) {
  enum { LeastCache = 256, MostRowsOnGpu = 128 };
  int64_t inside[MaxDims], rows = s->dims[c->m].extent;
  TileConvertedCode code;
  bool hasOneRow = rows == 1, isAsked = s->convert == TileConvert_Register || s->convert == TileConvert_Shared;
  if (tileStructuredGpu(s))
    return (isAsked || (!mlirShapedTypeIsDynamicSize(rows) && rows <= MostRowsOnGpu)) && !hasOneRow &&
           tileConvertedStep(s, c) >= TileConvertedLeastStep;
  if (s->convert == TileConvert_Register)
    return false; // a sum: each row converts the weights that it multiplies
  return (c->isAlongColumns || isAsked || !hasOneRow || tileConvertedFindCode(s, c, &code)) &&
         tileConvertedPart(s, c, LeastCache, inside) >= TileConvertedLeastDepth;
}

bool tileStructuredMatchConverted(const TileStructured *s, TileConverted *c) {
  *c = (TileConverted){.x = -1};
  const TileOperand *out = &s->operands[s->numInputs];
  return mlirAttributeIsNull(s->schedule) && s->numInputs >= 2 && !tileStructuredHasTerms(s) && !usesPlaces(s) &&
         matchBody(s, c) && tileStructuredAccumulates(s, out) && isPlain(s, &s->operands[c->x]) && matchDepth(s, c) &&
         matchParallel(s, c) && matchFactor(s, c) && hasKernel(s, c);
}

void tileConvertedSortDims(TileStructured *s, TileConverted *c) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && d != c->m && d != c->n)
      to[d] = next++;
  to[c->m] = next++;
  if (!c->isAlongColumns)
    to[c->n] = next++;
  for (int i = 0; i < c->count; ++i)
    to[c->depth[i]] = next++;
  if (c->isAlongColumns)
    to[c->n] = next++;
  tileStructuredRenumber(s, to);
  c->m = to[c->m];
  c->n = to[c->n];
  for (int i = 0; i < c->count; ++i)
    c->depth[i] = to[c->depth[i]];
}
