// Which keys a query may see, read off the mask: comparisons of linalg.index of keys and queries, constants and what is
// the same for all of a head's pairs (a length).
//
// Expects: f's body ends in select(condition, x, hidden), or the other way round, perhaps one in another, with a
// constant `hidden`; or adds such a select of 0 and -inf. Conditions may be joined by andi, ori and negation. What is
// not understood bounds nothing: then more blocks are visited, never fewer.
#include "lib/analysis/attention.h"
#include "lib/ir/op_query.h"

#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>

typedef struct Reader {
  const TileAttention *attention;
  TileKeyRange range;
} Reader;

//===--- sums of positions -------------------------------------------------------------===//

static int positionDim(const Reader *r, MlirOperation index) {
  const TileGroupNode *masked = &r->attention->graph->nodes[r->attention->masked];
  return masked->dims[masked->from[mlirIntegerAttrGetValueInt(tileOpAttribute(index, "dim"))]];
}

// An input of f is indexed by the dimension.
static bool uses(const TileAttention *a, int input, int dim) {
  return tileGroupNodeUses(&a->graph->nodes[a->masked], input, dim);
}

// Equal for all keys and queries of a head.
static bool isPerHead(const Reader *r, MlirValue value) {
  const TileAttention *a = r->attention;
  MlirOperation op = tileDefiningOp(value);
  if (!tileIsDefinedIn(value, tileAttentionBody(a)))
    return true;
  if (mlirOperationIsNull(op)) {
    int input = tileAttentionInputOf(a, value);
    return input >= 0 && !uses(a, input, a->keys) && !uses(a, input, a->queries);
  }
  if (linalgIndexOpIsA(op))
    return positionDim(r, op) != a->keys && positionDim(r, op) != a->queries;
  bool isEqual = tileOpIsElementwise(op) || arithConstantOpIsA(op);
  for (intptr_t i = 0; isEqual && i < mlirOperationGetNumOperands(op); ++i)
    isEqual = isPerHead(r, mlirOperationGetOperand(op, i));
  return isEqual;
}

static bool addTerm(Reader *r, MlirValue value, int64_t scale, TileKeySum *sum) {
  int at = 0;
  while (at < r->range.numTerms && !mlirValueEqual(r->range.terms[at], value))
    ++at;
  if (at == MaxKeyTerms)
    return false;
  r->range.terms[at] = value;
  r->range.numTerms += at == r->range.numTerms;
  sum->terms[at] += scale;
  return true;
}

static bool isWide(MlirType type) { return mlirTypeIsAIndex(type) || mlirIntegerTypeGetWidth(type) >= 64; }

// Sums of positions in so few bits do not wrap: positions are below 2^30, and so are constants.
static bool holdsPositions(const Reader *r, MlirType type) {
  const TileGroupDim *dims = r->attention->graph->dims;
  uint64_t keys = (uint64_t)dims[r->attention->keys].extent, queries = (uint64_t)dims[r->attention->queries].extent;
  enum { Most = 1 << 30 }; // an unknown extent is more
  return isWide(type) || (mlirIntegerTypeGetWidth(type) >= 32 && keys < Most && queries < Most);
}

// sum += scale · value. `isNarrow`: added in so few bits that a term, which may be any number, would wrap.
static bool addValue(Reader *r, MlirValue value, int64_t scale, bool isNarrow, TileKeySum *sum) {
  enum { MostConstant = 1 << 29 };
  MlirOperation op = tileDefiningOp(value);
  MlirType type = mlirValueGetType(value);
  int64_t constant;
  if (!mlirTypeIsAIndex(type) && !mlirTypeIsAInteger(type))
    return false;
  if (tileConstantIndex(value, &constant)) {
    sum->constant += scale * constant;
    return constant > -MostConstant && constant < MostConstant;
  }
  if (isPerHead(r, value))
    return !isNarrow && addTerm(r, value, scale, sum);
  if (linalgIndexOpIsA(op)) {
    *(positionDim(r, op) == r->attention->keys ? &sum->key : &sum->query) += scale;
    return true;
  }
  if (arithIndexCastOpIsA(op) || arithExtSIOpIsA(op))
    return holdsPositions(r, type) && addValue(r, tileOnlyOperand(op), scale, isNarrow, sum);
  isNarrow |= !isWide(type);
  return (arithAddIOpIsA(op) || arithSubIOpIsA(op)) && addValue(r, tileBinaryLhs(op), scale, isNarrow, sum) &&
         addValue(r, tileBinaryRhs(op), arithSubIOpIsA(op) ? -scale : scale, isNarrow, sum);
}

//===--- conditions ------------------------------------------------------------------------===//

bool tileKeySumHasTerms(const TileKeySum *sum) {
  for (int i = 0; i < MaxKeyTerms; ++i)
    if (sum->terms[i])
      return true;
  return false;
}

static bool isNeverNegative(const TileKeySum *sum) {
  return sum->constant >= 0 && sum->query >= 0 && sum->key >= 0 && !tileKeySumHasTerms(sum);
}

// Notes the bound of the key that follows from lhs < rhs, or from lhs <= rhs.
static void noteBound(Reader *r, const TileKeySum *lhs, const TileKeySum *rhs, bool isOrEqual) {
  int64_t key = lhs->key - rhs->key;
  if ((key != 1 && key != -1) || r->range.numBounds == MaxKeyBounds)
    return;
  bool isUpper = key == 1; // the key is below; else at least
  TileKeySum rest = {.constant = key * (rhs->constant - lhs->constant) + (isUpper == isOrEqual),
                     .query = key * (rhs->query - lhs->query)};
  for (int i = 0; i < MaxKeyTerms; ++i)
    rest.terms[i] = key * (rhs->terms[i] - lhs->terms[i]);
  r->range.bounds[r->range.numBounds++] = (TileKeyBound){isUpper, rest};
}

static void readComparison(Reader *r, MlirOperation compare, bool holds) {
  int64_t predicate = arithCmpIOpGetPredicateValue(compare);
  TileKeySum lhs = {0}, rhs = {0};
  if (predicate < ArithCmpI_Slt || !addValue(r, tileBinaryLhs(compare), 1, false, &lhs) ||
      !addValue(r, tileBinaryRhs(compare), 1, false, &rhs))
    return;
  if (predicate >= ArithCmpI_Ult && (!isNeverNegative(&lhs) || !isNeverNegative(&rhs)))
    return;
  int64_t order = (predicate - ArithCmpI_Slt) % 4; // <, <=, >, >=
  bool isLess = (order < 2) == holds, isOrEqual = (order % 2 == 1) == holds;
  noteBound(r, isLess ? &lhs : &rhs, isLess ? &rhs : &lhs, isOrEqual);
}

// An element of a tensor of i1 that has keys and queries.
static bool isRunTimeMask(const Reader *r, MlirValue value) {
  const TileAttention *a = r->attention;
  int input = tileAttentionInputOf(a, value);
  return input >= 0 && uses(a, input, a->keys) && uses(a, input, a->queries);
}

// What follows for the key from the condition's being as `holds` says.
static void readCondition(Reader *r, MlirValue condition, bool holds) {
  MlirOperation op = tileDefiningOp(condition);
  int64_t one;
  if (arithCmpIOpIsA(op)) {
    readComparison(r, op, holds);
  } else if (isRunTimeMask(r, condition)) {
    r->range.mask = condition;
    r->range.shows = holds;
  } else if (arithXOrIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &one) && one) {
    readCondition(r, tileBinaryLhs(op), !holds);
  } else if (holds ? arithAndIOpIsA(op) : arithOrIOpIsA(op)) {
    readCondition(r, tileBinaryLhs(op), holds);
    readCondition(r, tileBinaryRhs(op), holds);
  }
}

//===--- the mask ---------------------------------------------------------------------------===//

// select(condition, x, hidden), or with hidden before x, one in another, as long as they hide by the same number, which
// is at most `most`; of two constants the lower one hides.
static void readMask(Reader *r, MlirValue value, double most) {
  for (MlirOperation op = tileDefiningOp(value); arithSelectOpIsA(op); op = tileDefiningOp(value)) {
    MlirValue sides[2] = {arithSelectOpGetTrueValue(op), arithSelectOpGetFalseValue(op)};
    double constants[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 2; ++i)
      tileConstantFloat(sides[i], &constants[i]);
    int hidden = constants[1] <= constants[0];
    bool isFirst = !r->range.numBounds && mlirValueIsNull(r->range.mask);
    if (!(constants[hidden] <= most) || (!isFirst && constants[hidden] != r->range.hidden))
      return;
    r->range.hidden = constants[hidden];
    readCondition(r, arithSelectOpGetCondition(op), hidden == 1);
    value = sides[1 - hidden];
  }
}

TileKeyRange tileAttentionKeyRange(const TileAttention *attention) {
  Reader r = {.attention = attention};
  MlirBlock body = tileAttentionBody(attention);
  if (mlirBlockIsNull(body))
    return r.range;
  MlirValue value = tileOnlyOperand(mlirBlockGetTerminator(body));
  MlirOperation sum = tileDefiningOp(value);
  readMask(&r, value, -1.0e4); // scores that are hidden by less may still weigh something
  for (int i = 0; i < 2 && !r.range.numBounds && mlirValueIsNull(r.range.mask) && arithAddFOpIsA(sum); ++i)
    readMask(&r, mlirOperationGetOperand(sum, i), -INFINITY); // x + select(condition, 0, -inf)
  r.range.isInfinite = r.range.hidden == -INFINITY;
  return r.range;
}

//===--- scores that are only scaled ----------------------------------------------------------===//

static bool isHidden(MlirValue value) {
  double constant;
  return tileConstantFloat(value, &constant) && constant == -INFINITY;
}

MlirValue tileAttentionScaledScore(const TileAttention *a, double *factor) {
  const MlirValue none = {NULL};
  if (a->masked < 0)
    return none;
  const TileGroupNode *masked = &a->graph->nodes[a->masked];
  MlirValue value = tileOnlyOperand(mlirBlockGetTerminator(masked->s.body)), score = {NULL};
  MlirOperation op = tileDefiningOp(value);
  while (arithSelectOpIsA(op) && tileHasOneUse(value)) {
    bool isFirst = isHidden(arithSelectOpGetTrueValue(op));
    if (!isFirst && !isHidden(arithSelectOpGetFalseValue(op)))
      return none;
    value = isFirst ? arithSelectOpGetFalseValue(op) : arithSelectOpGetTrueValue(op);
    op = tileDefiningOp(value);
  }
  for (int i = 0; i < masked->s.numInputs; ++i)
    if (masked->makers[i] == a->scores)
      score = mlirBlockGetArgument(masked->s.body, i);
  if (!arithMulFOpIsA(op) || !tileHasOneUse(value))
    return none;
  bool isRight = mlirValueEqual(tileBinaryLhs(op), score);
  if ((!isRight && !mlirValueEqual(tileBinaryRhs(op), score)) ||
      !tileConstantFloat(isRight ? tileBinaryRhs(op) : tileBinaryLhs(op), factor))
    return none;
  return value;
}
