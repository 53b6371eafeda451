// Which keys a query may see, read off the mask: comparisons of linalg.index of keys and queries, constants and what is
// the same for all of a head's pairs (a length).
//
// Expects: f's body ends in select(condition, x, hidden), or the other way round, perhaps one in another, with a
// constant `hidden`; or adds such a select of 0 and -inf. Conditions may be joined by andi, ori and negation. What is
// not understood bounds nothing: then more blocks are visited, never fewer.
#include "lib/analysis/attention.h"

#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>

typedef struct Reader {
  const TileAttention *attention;
  TileKeyRange range;
} Reader;

//===--- sums of positions -------------------------------------------------------------===//

// keys · key + queries · query + constant + terms.
typedef struct Sum {
  int64_t keys, queries, constant;
  int numTerms;
  MlirValue terms[MaxBoundTerms];
  int64_t signs[MaxBoundTerms];
} Sum;

static bool isInBody(const Reader *r, MlirValue value) {
  if (mlirValueIsABlockArgument(value))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(value), r->attention->score);
  return mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(value)), r->attention->score);
}

// The operand of the whole that an argument of f takes; null for S and the output.
static const TileOperand *operandOf(const Reader *r, MlirValue argument) {
  const TileAttention *a = r->attention;
  int number = (int)mlirBlockArgumentGetArgNumber(argument);
  if (number == a->scoreArgument || number > a->numScoreInputs)
    return NULL;
  return &a->structured.operands[AttentionFirstInput + number - (number > a->scoreArgument)];
}

// Equal for all keys and queries of a head.
static bool isPerHead(const Reader *r, MlirValue value) {
  const TileAttention *a = r->attention;
  if (!isInBody(r, value))
    return true;
  if (mlirValueIsABlockArgument(value)) {
    const TileOperand *operand = operandOf(r, value);
    return operand && !tileOperandUses(operand, a->keys) && !tileOperandUses(operand, a->queries);
  }
  MlirOperation op = tileDefiningOp(value);
  if (linalgIndexOpIsA(op)) {
    int dim = a->scoreDims[mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"))];
    return dim != a->keys && dim != a->queries;
  }
  bool isArith = tileOpNameStartsWith(op, "arith.");
  for (intptr_t i = 0; isArith && i < mlirOperationGetNumOperands(op); ++i)
    isArith = isPerHead(r, mlirOperationGetOperand(op, i));
  return isArith;
}

static bool addTerm(const Reader *r, MlirValue value, int64_t sign, Sum *sum) {
  MlirType type = mlirValueGetType(value);
  if ((sign != 1 && sign != -1) || sum->numTerms == MaxBoundTerms || !isPerHead(r, value) ||
      (!mlirTypeIsAIndex(type) && !mlirTypeIsAInteger(type)))
    return false;
  sum->terms[sum->numTerms] = value;
  sum->signs[sum->numTerms++] = sign;
  return true;
}

// Sums of positions in so few bits do not wrap: positions are below 2^30, and so are constants.
static bool isWideEnough(const Reader *r, MlirType type) {
  const TileStructured *s = &r->attention->structured;
  if (mlirTypeIsAIndex(type) || mlirIntegerTypeGetWidth(type) >= 64)
    return true;
  int64_t keys = s->dims[r->attention->keys].extent, queries = s->dims[r->attention->queries].extent;
  enum { Most = 1 << 30 };
  return mlirIntegerTypeGetWidth(type) >= 32 && !mlirShapedTypeIsDynamicSize(keys) &&
         !mlirShapedTypeIsDynamicSize(queries) && keys < Most && queries < Most;
}

static bool addPosition(const Reader *r, MlirOperation index, int64_t sign, Sum *sum) {
  int dim = r->attention->scoreDims[mlirIntegerAttrGetValueInt(tileOpAttribute(index, "dim"))];
  if (dim != r->attention->keys && dim != r->attention->queries)
    return addTerm(r, tileOnlyResult(index), sign, sum);
  *(dim == r->attention->keys ? &sum->keys : &sum->queries) += sign;
  return true;
}

// sum += sign · value.
static bool addValue(const Reader *r, MlirValue value, int64_t sign, Sum *sum) {
  enum { MostConstant = 1 << 29 };
  MlirOperation op = tileDefiningOp(value);
  int64_t constant;
  if (tileConstantIndex(value, &constant)) {
    sum->constant += sign * constant;
    return constant > -MostConstant && constant < MostConstant;
  }
  if (mlirOperationIsNull(op) || !isInBody(r, value) || isPerHead(r, value))
    return addTerm(r, value, sign, sum);
  if (linalgIndexOpIsA(op))
    return addPosition(r, op, sign, sum);
  MlirType type = mlirValueGetType(value);
  if (arithIndexCastOpIsA(op) || arithExtSIOpIsA(op))
    return isWideEnough(r, type) && addValue(r, tileOnlyOperand(op), sign, sum);
  bool isDifference = arithSubIOpIsA(op);
  if (!isDifference && !arithAddIOpIsA(op))
    return false;
  bool isWide = mlirTypeIsAIndex(type) || mlirIntegerTypeGetWidth(type) >= 64;
  int terms = sum->numTerms;
  return addValue(r, tileBinaryLhs(op), sign, sum) &&
         addValue(r, tileBinaryRhs(op), isDifference ? -sign : sign, sum) &&
         (isWide || sum->numTerms == terms); // a length may be any number
}

//===--- conditions ------------------------------------------------------------------------===//

static bool isNeverNegative(const Sum *sum) {
  return sum->keys >= 0 && sum->queries >= 0 && sum->constant >= 0 && sum->numTerms == 0;
}

// Notes what key <= …, or key >= …, follows from sum < 0.
static void noteNegative(Reader *r, const Sum *sum) {
  if ((sum->keys != 1 && sum->keys != -1) || r->range.numBounds == MaxBounds)
    return;
  bool isUpper = sum->keys == 1; // key < -(rest); else key > rest
  TileKeyBound *bound = &r->range.bounds[r->range.numBounds++];
  int64_t sign = isUpper ? -1 : 1;
  *bound = (TileKeyBound){.isUpper = isUpper,
                          .slope = sign * sum->queries,
                          .constant = sign * sum->constant + (isUpper ? 0 : 1),
                          .numTerms = sum->numTerms};
  for (int i = 0; i < sum->numTerms; ++i) {
    bound->terms[i] = sum->terms[i];
    bound->signs[i] = sign * sum->signs[i];
  }
}

static void readComparison(Reader *r, MlirOperation compare, bool holds) {
  int64_t predicate = arithCmpIOpGetPredicateValue(compare);
  if (predicate < ArithCmpI_Slt)
    return;
  Sum lhs = {0}, rhs = {0}, sum = {0};
  MlirValue a = tileBinaryLhs(compare), b = tileBinaryRhs(compare);
  if (!addValue(r, a, 1, &lhs) || !addValue(r, b, 1, &rhs))
    return;
  if (predicate >= ArithCmpI_Ult && (!isNeverNegative(&lhs) || !isNeverNegative(&rhs)))
    return;
  int64_t order = predicate >= ArithCmpI_Ult ? predicate - ArithCmpI_Ult : predicate - ArithCmpI_Slt; // <, <=, >, >=
  bool isLess = (order < 2) == holds, isOrEqual = (order % 2 == 1) == holds;
  // isLess: a - b < 0 (or equal: a - b - 1 < 0); else b - a < 0.
  if (!addValue(r, a, isLess ? 1 : -1, &sum) || !addValue(r, b, isLess ? -1 : 1, &sum))
    return;
  sum.constant -= isOrEqual ? 1 : 0;
  noteNegative(r, &sum);
}

static bool isTrue(MlirValue value) {
  int64_t constant;
  return tileConstantIndex(value, &constant) && constant != 0;
}

// What follows for the key from the condition's being as `holds` says.
static void readCondition(Reader *r, MlirValue condition, bool holds) {
  MlirOperation op = tileDefiningOp(condition);
  if (mlirOperationIsNull(op))
    return;
  if (arithCmpIOpIsA(op)) {
    readComparison(r, op, holds);
    return;
  }
  if (arithXOrIOpIsA(op) && isTrue(tileBinaryRhs(op))) {
    readCondition(r, tileBinaryLhs(op), !holds);
    return;
  }
  if (!(holds ? arithAndIOpIsA(op) : arithOrIOpIsA(op)))
    return;
  readCondition(r, tileBinaryLhs(op), holds);
  readCondition(r, tileBinaryRhs(op), holds);
}

//===--- the mask ---------------------------------------------------------------------------===//

static bool isConstant(MlirValue value, double *constant) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute attribute = arithConstantOpIsA(op) ? tileOpAttribute(op, "value") : mlirAttributeGetNull();
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAFloat(attribute))
    return false;
  *constant = mlirFloatAttrGetValueDouble(attribute);
  return true;
}

typedef struct Select {
  MlirValue condition, shown;
  bool holds; // where the condition is so, `shown` is seen
  double hidden;
} Select;

// select(condition, x, hidden), or with hidden before x; of two constants the lower one hides.
static bool matchSelect(MlirValue value, Select *select) {
  MlirOperation op = tileDefiningOp(value);
  double constants[2];
  if (!arithSelectOpIsA(op))
    return false;
  MlirValue sides[2] = {arithSelectOpGetTrueValue(op), arithSelectOpGetFalseValue(op)};
  bool areConstant[2] = {isConstant(sides[0], &constants[0]), isConstant(sides[1], &constants[1])};
  if (!areConstant[0] && !areConstant[1])
    return false;
  int hidden = areConstant[1] && !(areConstant[0] && constants[0] < constants[1]) ? 1 : 0;
  *select = (Select){.condition = arithSelectOpGetCondition(op),
                     .shown = sides[1 - hidden],
                     .holds = hidden == 1,
                     .hidden = constants[hidden]};
  return true;
}

// Scores that are hidden by less than this may still weigh something: such a mask is none.
static const double leastHidden = -1.0e4;

// Selects one in another, as long as they hide by the same number.
static void readMask(Reader *r, MlirValue value) {
  Select select;
  for (; matchSelect(value, &select) && select.hidden <= leastHidden; value = select.shown) {
    if (r->range.numBounds && select.hidden != r->range.hidden)
      return;
    r->range.hidden = select.hidden;
    readCondition(r, select.condition, select.holds);
  }
}

TileKeyRange tileAttentionKeyRange(const TileAttention *attention) {
  Reader r = {.attention = attention};
  if (mlirBlockIsNull(attention->score))
    return r.range;
  MlirValue value = tileOnlyOperand(mlirBlockGetTerminator(attention->score));
  MlirOperation sum = tileDefiningOp(value);
  readMask(&r, value);
  // x + select(condition, 0, -inf)
  Select select;
  for (int i = 0; i < 2 && !r.range.numBounds && arithAddFOpIsA(sum); ++i)
    if (matchSelect(mlirOperationGetOperand(sum, i), &select) && select.hidden == -INFINITY)
      readMask(&r, mlirOperationGetOperand(sum, i));
  r.range.isInfinite = r.range.hidden == -INFINITY;
  return r.range;
}
