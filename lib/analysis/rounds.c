// Masks as linear forms of a loop's round. See rounds.h.
// How: both sides of the comparison become constant + factors of scalars + a multiple of the round, with the least and
//   the greatest value over the tile's elements; the difference of the sides decides.
#include "lib/analysis/rounds.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/facts.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum {
  MaxFactor = 1 << 15,
  MostPrograms = 36
}; // a grid has fewer than 2 to the power of MostPrograms programs along an axis

typedef struct Side {
  TileRounds sum; // slope: of +k here
  int64_t span;   // an element exceeds the least one by at most so much
} Side;

//===--- scalars --------------------------------------------------------------===//

static bool isRound(MlirValue value) {
  int64_t step;
  if (!mlirValueIsABlockArgument(value) || mlirBlockArgumentGetArgNumber(value))
    return false;
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  return scfForOpIsA(loop) && tileConstantIndex(scfForOpGetStep(loop), &step) && step == 1;
}

int64_t tileIndexMagnitude(MlirValue index) {
  index = tileCapturedValue(index);
  TileIndexFacts facts = tileIndexFacts(index);
  MlirOperation op = tileDefiningOp(index);
  int64_t bound;
  if (facts.low > -TileRoundsLimit && facts.high < TileRoundsLimit)
    return facts.high > -facts.low ? facts.high : -facts.low;
  if (tileProgramIdOpIsA(op))
    return (int64_t)1 << MostPrograms;
  if (isRound(index)) {
    MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(index));
    int64_t first = tileIndexMagnitude(scfForOpGetLowerBound(loop));
    return __builtin_add_overflow(first, (int64_t)1 << MostPrograms, &bound) ? INT64_MAX : bound;
  }
  if (!arithAddIOpIsA(op) && !arithSubIOpIsA(op) && !arithMulIOpIsA(op))
    return INT64_MAX;
  int64_t a = tileIndexMagnitude(tileBinaryLhs(op)), b = tileIndexMagnitude(tileBinaryRhs(op));
  bool isOver = arithMulIOpIsA(op) ? __builtin_mul_overflow(a, b, &bound) : __builtin_add_overflow(a, b, &bound);
  return isOver ? INT64_MAX : bound;
}

static bool addConstant(Side *side, int64_t value, int64_t factor) {
  int64_t product;
  return !__builtin_mul_overflow(value, factor, &product) && llabs(product) < TileRoundsLimit &&
         !__builtin_add_overflow(side->sum.constant, product, &side->sum.constant);
}

static bool addTerm(Side *side, MlirValue value, int64_t factor) {
  TileRounds *sum = &side->sum;
  if (sum->count == TileRoundsMaxTerms)
    return false;
  sum->terms[sum->count].value = value;
  sum->terms[sum->count].factor = factor;
  sum->terms[sum->count++].isLimited = tileIndexMagnitude(value) < TileRoundsLimit;
  return true;
}

static bool addScalar(MlirOperation loop, Side *side, MlirValue value, int64_t factor) {
  int64_t constant;
  MlirOperation op = tileDefiningOp(value);
  MlirValue round = mlirBlockGetArgument(mlirRegionGetFirstBlock(scfForOpGetRegion(loop)), 0);
  if (llabs(factor) > MaxFactor || !mlirTypeIsAIndex(mlirValueGetType(value)))
    return false;
  if (tileConstantIndex(value, &constant))
    return addConstant(side, constant, factor);
  if (mlirValueEqual(value, round)) {
    side->sum.slope += factor;
    return llabs(side->sum.slope) <= MaxFactor;
  }
  if (arithMulIOpIsA(op) && tileConstantIndex(tileBinaryRhs(op), &constant) && llabs(constant) <= MaxFactor)
    return addScalar(loop, side, tileBinaryLhs(op), factor * constant);
  if (arithAddIOpIsA(op) || arithSubIOpIsA(op))
    return addScalar(loop, side, tileBinaryLhs(op), factor) &&
           addScalar(loop, side, tileBinaryRhs(op), arithSubIOpIsA(op) ? -factor : factor);
  return tileIsOutside(loop, value) && addTerm(side, value, factor);
}

//===--- tiles ----------------------------------------------------------------===//

static bool addTile(MlirOperation loop, Side *side, MlirValue value, int64_t factor) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute splat = {NULL};
  if (!tileTypeIsATile(mlirValueGetType(value)))
    return addScalar(loop, side, value, factor);
  if (arithConstantOpIsA(op)) {
    splat = arithConstantOpGetValue(op);
    if (!mlirAttributeIsADenseElements(splat) || !mlirDenseElementsAttrIsSplat(splat))
      return false;
    splat = mlirDenseElementsAttrGetSplatValue(splat);
    return mlirAttributeIsAInteger(splat) && addConstant(side, mlirIntegerAttrGetValueInt(splat), factor);
  }
  if (tileBroadcastOpIsA(op))
    return addTile(loop, side, tileBroadcastOpGetInput(op), factor);
  if (tileIotaOpIsA(op)) {
    int64_t last = tileTypeGetSize(mlirValueGetType(value), tileIotaOpGetDimValue(op)) - 1;
    MlirValue from = tileIotaOpGetFrom(op);
    if (factor < 0 && !addConstant(side, last, factor))
      return false;
    side->span += last * llabs(factor);
    return mlirValueIsNull(from) || addScalar(loop, side, from, factor);
  }
  if (arithAddIOpIsA(op) || arithSubIOpIsA(op))
    return addTile(loop, side, tileBinaryLhs(op), factor) &&
           addTile(loop, side, tileBinaryRhs(op), arithSubIOpIsA(op) ? -factor : factor);
  return false;
}

// No element is negative in any round. The first round is not.
static bool isNonNegative(const Side *side) {
  bool is = side->sum.constant >= 0 && side->sum.slope >= 0;
  for (intptr_t i = 0; is && i < side->sum.count; ++i)
    is = side->sum.terms[i].factor > 0 && tileIndexFacts(side->sum.terms[i].value).low >= 0;
  return is;
}

//===--- comparisons ------------------------------------------------------------===//

typedef struct Order {
  bool isSwapped, isStrict, isUnsigned; // `a op b` is b < a, b <= a where swapped
} Order;

static bool orderOf(ArithCmpI predicate, Order *order) {
  switch (predicate) {
  case ArithCmpI_Slt:
  case ArithCmpI_Ult:
    *order = (Order){false, true, predicate == ArithCmpI_Ult};
    return true;
  case ArithCmpI_Sle:
  case ArithCmpI_Ule:
    *order = (Order){false, false, predicate == ArithCmpI_Ule};
    return true;
  case ArithCmpI_Sgt:
  case ArithCmpI_Ugt:
    *order = (Order){true, true, predicate == ArithCmpI_Ugt};
    return true;
  case ArithCmpI_Sge:
  case ArithCmpI_Uge:
    *order = (Order){true, false, predicate == ArithCmpI_Uge};
    return true;
  default:
    return false;
  }
}

bool tileRoundsOfComparison(MlirOperation loop, MlirOperation compare, TileRounds *rounds) {
  Order order;
  int64_t step;
  if (!arithCmpIOpIsA(compare) || !orderOf(arithCmpIOpGetPredicateValue(compare), &order) ||
      !tileConstantIndex(scfForOpGetStep(loop), &step) || step != 1 ||
      tileIndexFacts(scfForOpGetLowerBound(loop)).low < 0)
    return false;
  MlirValue less = order.isSwapped ? arithCmpIOpGetRhs(compare) : arithCmpIOpGetLhs(compare);
  MlirValue more = order.isSwapped ? arithCmpIOpGetLhs(compare) : arithCmpIOpGetRhs(compare);
  Side left = {.span = 0}, difference = {.span = 0};
  if (!tileTypeIsATile(mlirValueGetType(less)) || !mlirTypeIsAIndex(tileTypeGetElement(mlirValueGetType(less))) ||
      !addTile(loop, &left, less, 1) || (order.isUnsigned && !isNonNegative(&left)))
    return false;
  // more - less - (0 or 1): its least element, in round k, must not be negative.
  if (!addConstant(&difference, order.isStrict, -1) || !addTile(loop, &difference, more, 1) ||
      !addTile(loop, &difference, less, -1) || difference.sum.slope != -left.sum.slope || left.sum.slope < 0)
    return false; // a side that grows on the right would reach numbers that have no place
  *rounds = difference.sum;
  rounds->slope = -rounds->slope;
  return true;
}
