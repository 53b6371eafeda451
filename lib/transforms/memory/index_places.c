// Sums of products of scalars, and index tiles as such sums. See index_places.h.
#include "lib/transforms/memory/index_places.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

static const TilePlaceSum unknown = {.count = -1};

//===--- sums -----------------------------------------------------------------------===//

bool tilePlaceIsKnown(const TilePlaceSum *sum) { return sum->count >= 0; }

TilePlaceSum tilePlaceConstant(int64_t value) {
  return (TilePlaceSum){.count = value != 0, .terms = {{.coefficient = value}}};
}

static bool hasSameFactors(const TilePlaceTerm *a, const TilePlaceTerm *b) {
  bool ok = a->degree == b->degree;
  for (int i = 0; ok && i < a->degree; ++i)
    ok = mlirValueEqual(a->factors[i], b->factors[i]);
  return ok;
}

// Coefficients stay small, so that what is computed of them at launch does not wrap.
static bool isSmall(int64_t value) { return value > -(INT64_C(1) << 40) && value < (INT64_C(1) << 40); }

static void addTerm(TilePlaceSum *sum, const TilePlaceTerm *term) {
  if (sum->count < 0 || term->coefficient == 0)
    return;
  for (int i = 0; i < sum->count; ++i)
    if (hasSameFactors(&sum->terms[i], term)) {
      sum->terms[i].coefficient += term->coefficient;
      if (!isSmall(sum->terms[i].coefficient))
        *sum = unknown;
      else if (sum->terms[i].coefficient == 0)
        sum->terms[i] = sum->terms[--sum->count];
      return;
    }
  if (sum->count == PlaceMaxTerms || !isSmall(term->coefficient))
    *sum = unknown;
  else
    sum->terms[sum->count++] = *term;
}

TilePlaceSum tilePlaceAdd(const TilePlaceSum *a, const TilePlaceSum *b, int64_t times) {
  TilePlaceSum sum = *a;
  if (a->count < 0 || b->count < 0 || !isSmall(times))
    return unknown;
  for (int i = 0; i < b->count; ++i) {
    TilePlaceTerm term = b->terms[i];
    if (__builtin_mul_overflow(term.coefficient, times, &term.coefficient))
      return unknown;
    addTerm(&sum, &term);
  }
  return sum;
}

static int compareFactors(const void *a, const void *b) {
  const void *first = ((const MlirValue *)a)->ptr, *second = ((const MlirValue *)b)->ptr;
  return (first > second) - (first < second);
}

TilePlaceSum tilePlaceMul(const TilePlaceSum *a, const TilePlaceSum *b) {
  TilePlaceSum sum = {0};
  if (a->count < 0 || b->count < 0)
    return unknown;
  for (int i = 0; i < a->count; ++i)
    for (int j = 0; j < b->count; ++j) {
      TilePlaceTerm term = a->terms[i];
      if (term.degree + b->terms[j].degree > PlaceMaxFactors ||
          __builtin_mul_overflow(term.coefficient, b->terms[j].coefficient, &term.coefficient))
        return unknown;
      for (int k = 0; k < b->terms[j].degree; ++k)
        term.factors[term.degree++] = b->terms[j].factors[k];
      qsort(term.factors, (size_t)term.degree, sizeof *term.factors, compareFactors);
      addTerm(&sum, &term);
    }
  return sum;
}

bool tilePlaceIsConstant(const TilePlaceSum *sum, int64_t *value) {
  *value = sum->count == 1 ? sum->terms[0].coefficient : 0;
  return sum->count == 0 || (sum->count == 1 && sum->terms[0].degree == 0);
}

bool tilePlaceIsMultiple(const TilePlaceSum *sum, int64_t of) {
  for (int i = 0; i < sum->count; ++i)
    if (sum->terms[i].coefficient % of)
      return false;
  return sum->count >= 0;
}

TilePlaceSum tilePlaceQuotient(const TilePlaceSum *sum, int64_t by) {
  TilePlaceSum quotient = *sum;
  for (int i = 0; i < sum->count; ++i)
    quotient.terms[i].coefficient /= by;
  return quotient;
}

MlirValue tilePlaceBuild(TileBuilder *builder, const TilePlaceSum *sum) {
  MlirValue result = tileBuildIndex(builder, 0);
  for (int i = 0; i < sum->count; ++i) {
    const TilePlaceTerm *term = &sum->terms[i];
    MlirValue product = tileBuildIndex(builder, term->coefficient);
    for (int k = 0; k < term->degree; ++k) {
      MlirValue factor = term->factors[k];
      if (!mlirTypeIsAIndex(mlirValueGetType(factor)))
        factor = arithIndexCastOpBuild(builder, mlirIndexTypeGet(builder->context), factor);
      product = tileBuildMul(builder, product, factor);
    }
    result = tileBuildAdd(builder, result, product);
  }
  return result;
}

//===--- scalars ----------------------------------------------------------------------===//

// Sums and products of 64 bits are right modulo 2^64 whatever wraps on the way; narrower ones must not wrap.
static void check(TileChecks *checks, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  MlirType element = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
  if (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) >= 64)
    return;
  for (intptr_t i = 0; i < checks->count; ++i)
    if (mlirValueEqual(checks->values[i], value))
      return;
  if (checks->count < PlaceMaxChecks)
    checks->values[checks->count++] = value;
  else
    checks->why = "it is computed in too many steps";
}

static TilePlaceSum leafOf(MlirValue scalar) {
  return (TilePlaceSum){.count = 1, .terms = {{.coefficient = 1, .degree = 1, .factors = {scalar}}}};
}

TilePlaceSum tilePlaceOfScalar(MlirValue scalar, TileChecks *checks) {
  MlirOperation op = tileDefiningOp(scalar);
  TilePlaceSum a, b;
  int64_t constant;
  if (++checks->steps > PlaceMaxSteps)
    return unknown;
  if (tileConstantIndex(scalar, &constant))
    return isSmall(constant) ? tilePlaceConstant(constant) : unknown;
  switch (tileUpstreamKind(op)) {
  case ArithOp_AddI:
  case ArithOp_SubI:
  case ArithOp_MulI:
    a = tilePlaceOfScalar(tileBinaryLhs(op), checks);
    b = tilePlaceOfScalar(tileBinaryRhs(op), checks);
    check(checks, scalar);
    return arithMulIOpIsA(op) ? tilePlaceMul(&a, &b) : tilePlaceAdd(&a, &b, arithAddIOpIsA(op) ? 1 : -1);
  case ArithOp_IndexCast:
  case ArithOp_ExtSI:
    check(checks, scalar);
    return tilePlaceOfScalar(tileOnlyOperand(op), checks);
  default:
    return leafOf(scalar);
  }
}

//===--- tiles ------------------------------------------------------------------------===//

static TilePlaces nowhere(TileChecks *checks, const char *why) {
  checks->why = checks->why ? checks->why : why;
  return (TilePlaces){.base = unknown};
}

static TilePlaces uniform(MlirValue tile, TilePlaceSum base) {
  MlirExtShape shape = {0};
  TilePlaces places = {.isKnown = tilePlaceIsKnown(&base), .base = base};
  mlirExtTypeGetShape(mlirValueGetType(tile), &shape);
  places.rank = shape.rank;
  for (intptr_t i = 0; i < shape.rank && i < PlaceMaxAxes; ++i)
    places.sizes[i] = shape.sizes[i];
  return places;
}

static bool isUniform(const TilePlaces *places) {
  for (intptr_t i = 0; i < places->rank; ++i)
    if (places->steps[i].count)
      return false;
  return true;
}

static TilePlaces sumOf(const TilePlaces *a, const TilePlaces *b, int64_t times, TileChecks *checks) {
  TilePlaces sum = *a;
  if (!a->isKnown || !b->isKnown)
    return nowhere(checks, "");
  sum.base = tilePlaceAdd(&a->base, &b->base, times);
  sum.isKnown = tilePlaceIsKnown(&sum.base);
  for (intptr_t i = 0; i < a->rank; ++i) {
    bool hasNumbers = !mlirValueIsNull(a->numbers[i]) || !mlirValueIsNull(b->numbers[i]);
    if (hasNumbers && a->steps[i].count && b->steps[i].count)
      return nowhere(checks, "it adds numbers of two tiles");
    if (mlirValueIsNull(a->numbers[i]) && b->steps[i].count) {
      sum.numbers[i] = b->numbers[i];
      sum.limit[i] = b->limit[i];
    }
    sum.steps[i] = tilePlaceAdd(&a->steps[i], &b->steps[i], times);
    sum.isKnown = sum.isKnown && tilePlaceIsKnown(&sum.steps[i]);
  }
  return sum.isKnown ? sum : nowhere(checks, "its terms are too many");
}

static TilePlaces productOf(const TilePlaces *a, const TilePlaces *b, TileChecks *checks) {
  if (!a->isKnown || !b->isKnown)
    return nowhere(checks, "");
  if (!isUniform(b)) {
    const TilePlaces *other = a;
    a = b;
    b = other;
  }
  if (!isUniform(b))
    return nowhere(checks, "it multiplies coordinates");
  TilePlaces product = *a;
  product.base = tilePlaceMul(&a->base, &b->base);
  product.isKnown = tilePlaceIsKnown(&product.base);
  for (intptr_t i = 0; i < a->rank; ++i) {
    product.steps[i] = tilePlaceMul(&a->steps[i], &b->base);
    product.isKnown = product.isKnown && tilePlaceIsKnown(&product.steps[i]);
  }
  return product.isKnown ? product : nowhere(checks, "its products have too many factors");
}

static bool isNewAxis(MlirAttribute axes, intptr_t axis) {
  for (intptr_t i = 0; !mlirAttributeIsNull(axes) && i < mlirDenseArrayGetNumElements(axes); ++i)
    if (mlirDenseI64ArrayGetElement(axes, i) == axis)
      return true;
  return false;
}

static TilePlaces broadcastOf(MlirOperation op, TileChecks *checks) {
  MlirValue input = tileBroadcastOpGetInput(op), result = tileBroadcastOpGetResult(op);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(input)))
    return uniform(result, tilePlaceOfScalar(input, checks));
  TilePlaces from = tilePlacesOf(input, checks), places = uniform(result, from.base);
  if (!from.isKnown)
    return nowhere(checks, "");
  intptr_t at = 0;
  for (intptr_t i = 0; i < places.rank; ++i)
    if (!isNewAxis(tileBroadcastOpGetAxes(op), i)) {
      places.steps[i] = from.steps[at];
      places.numbers[i] = from.numbers[at];
      places.limit[i] = from.limit[at++];
    }
  return places;
}

static bool isOutside(const TilePlaceSum *sum, MlirBlock body) {
  for (int i = 0; i < sum->count; ++i)
    for (int k = 0; k < sum->terms[i].degree; ++k) {
      MlirValue factor = sum->terms[i].factors[k];
      MlirBlock block = mlirValueIsABlockArgument(factor) ? mlirBlockArgumentGetOwner(factor)
                                                          : mlirOperationGetBlock(mlirOpResultGetOwner(factor));
      for (MlirOperation at; !mlirBlockIsNull(block);) {
        if (mlirBlockEqual(block, body))
          return false;
        at = mlirBlockGetParentOperation(block);
        block = mlirOperationIsNull(at) || tileKernelOpIsA(at) ? (MlirBlock){NULL} : mlirOperationGetBlock(at);
      }
    }
  return true;
}

// A tile that a loop carries and moves by the same amount each time: where it began, and how often it has moved.
static TilePlaces carriedOf(MlirValue tile, TileChecks *checks) {
  MlirBlock body = mlirBlockArgumentGetOwner(tile);
  MlirOperation loop = mlirBlockGetParentOperation(body);
  intptr_t number = mlirBlockArgumentGetArgNumber(tile);
  if (!scfForOpIsA(loop) || number == 0)
    return nowhere(checks, "it comes from a loop that does not count");
  MlirValue next = mlirOperationGetOperand(mlirBlockGetTerminator(body), number - 1);
  MlirOperation add = tileDefiningOp(next);
  bool isFirst = arithAddIOpIsA(add) && mlirValueEqual(tileBinaryLhs(add), tile);
  if (!isFirst && !(arithAddIOpIsA(add) && mlirValueEqual(tileBinaryRhs(add), tile)))
    return nowhere(checks, "a loop changes it by more than a sum");
  TilePlaces by = tilePlacesOf(isFirst ? tileBinaryRhs(add) : tileBinaryLhs(add), checks);
  TilePlaces initial = tilePlacesOf(scfForOpGetInitArgs(loop, number - 1), checks);
  if (!by.isKnown || !initial.isKnown || !isUniform(&by) || !isOutside(&by.base, body))
    return nowhere(checks, "a loop moves it by different amounts");
  int64_t step;
  TilePlaceSum lower = tilePlaceOfScalar(scfForOpGetLowerBound(loop), checks);
  if (!tileConstantIndex(scfForOpGetStep(loop), &step) || step < 1 || !tilePlaceIsMultiple(&by.base, step))
    return nowhere(checks, "it is moved by a loop of an unknown step");
  TilePlaceSum counter = leafOf(mlirBlockGetArgument(body, 0)), one = tilePlaceQuotient(&by.base, step);
  TilePlaceSum count = tilePlaceAdd(&counter, &lower, -1), moved = tilePlaceMul(&count, &one);
  initial.base = tilePlaceAdd(&initial.base, &moved, 1);
  initial.isKnown = tilePlaceIsKnown(&initial.base);
  return initial.isKnown ? initial : nowhere(checks, "its products have too many factors");
}

// Numbers along one axis that are below a limit: x modulo M.
static TilePlaces numbersOf(MlirValue tile, TileChecks *checks) {
  MlirOperation op = tileDefiningOp(tile);
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(mlirValueGetType(tile), &shape);
  if (shape.rank != 1 || !arithRemSIOpIsA(op))
    return nowhere(checks, "an op makes it whose places are not known");
  TileChecks ignored = {0};
  TilePlaces limit = tilePlacesOf(arithRemSIOpGetRhs(op), &ignored);
  if (!limit.isKnown || !isUniform(&limit))
    return nowhere(checks, "it is a remainder of different divisors");
  check(checks, tile);
  TilePlaces places = uniform(tile, tilePlaceConstant(0));
  places.steps[0] = tilePlaceConstant(1);
  places.numbers[0] = tile;
  places.limit[0] = limit.base;
  return places;
}

TilePlaces tilePlacesOf(MlirValue tile, TileChecks *checks) {
  MlirOperation op = tileDefiningOp(tile);
  int64_t constant;
  if (++checks->steps > PlaceMaxSteps)
    return nowhere(checks, "it is computed in too many steps");
  if (mlirShapedTypeGetRank(mlirValueGetType(tile)) > PlaceMaxAxes)
    return nowhere(checks, "it has more than 4 axes");
  if (mlirOperationIsNull(op))
    return carriedOf(tile, checks);
  if (tileBroadcastOpIsA(op))
    return broadcastOf(op, checks);
  if (tileIotaOpIsA(op)) {
    MlirValue from = tileIotaOpGetFrom(op);
    TilePlaces places = uniform(tile, mlirValueIsNull(from) ? tilePlaceConstant(0) : tilePlaceOfScalar(from, checks));
    places.steps[tileIotaOpGetDimValue(op)] = tilePlaceConstant(1);
    check(checks, tile);
    return places;
  }
  if (arithConstantOpIsA(op)) {
    MlirAttribute value = arithConstantOpGetValue(op);
    if (!mlirDenseElementsAttrIsSplat(value))
      return nowhere(checks, "it is a table of constants");
    constant = mlirIntegerAttrGetValueInt(mlirDenseElementsAttrGetSplatValue(value));
    return uniform(tile, isSmall(constant) ? tilePlaceConstant(constant) : unknown);
  }
  switch (tileUpstreamKind(op)) {
  case ArithOp_AddI:
  case ArithOp_SubI:
  case ArithOp_MulI: {
    TilePlaces a = tilePlacesOf(tileBinaryLhs(op), checks), b = tilePlacesOf(tileBinaryRhs(op), checks);
    check(checks, tile);
    return arithMulIOpIsA(op) ? productOf(&a, &b, checks) : sumOf(&a, &b, arithAddIOpIsA(op) ? 1 : -1, checks);
  }
  case ArithOp_IndexCast:
  case ArithOp_ExtSI:
    check(checks, tile);
    return tilePlacesOf(tileOnlyOperand(op), checks);
  default:
    return numbersOf(tile, checks);
  }
}

//===--- masks ------------------------------------------------------------------------===//

// x < y, or x <= y.
// less <= more, where only `more` has coordinates, and grows with them.
static bool isFloor(const TilePlaces *less, const TilePlaces *more) {
  int64_t step;
  bool grows = false;
  for (intptr_t i = 0; i < more->rank; ++i) {
    if (less->steps[i].count || !mlirValueIsNull(less->numbers[i]) || !mlirValueIsNull(more->numbers[i]) ||
        !tilePlaceIsConstant(&more->steps[i], &step) || step < 0)
      return false;
    grows |= step > 0;
  }
  return grows;
}

// A sum with a term that may be negative would often fail at launch, and take the kernel's other views with it.
static bool addFloor(const TilePlaces *less, const TilePlaces *more, bool orEqual, TileMask *mask) {
  TilePlaceSum one = tilePlaceConstant(!orEqual), floor = tilePlaceAdd(&more->base, &less->base, -1);
  floor = tilePlaceAdd(&floor, &one, -1);
  if (!tilePlaceIsKnown(&floor) || mask->numFloors == PlaceMaxLimits)
    return false;
  for (int i = 0; i < floor.count; ++i)
    if (floor.terms[i].coefficient < 0)
      return false;
  mask->floors[mask->numFloors++] = floor;
  return true;
}

static bool addLimit(MlirValue x, MlirValue y, bool orEqual, TileMask *mask, TileChecks *checks) {
  TilePlaces less = tilePlacesOf(x, checks), more = tilePlacesOf(y, checks);
  if (!less.isKnown || !more.isKnown || mask->count == PlaceMaxLimits)
    return false;
  if (isFloor(&less, &more))
    return addFloor(&less, &more, orEqual, mask);
  TilePlaces difference = sumOf(&less, &more, -1, checks);
  TileLimit *limit = &mask->limits[mask->count++];
  int64_t step, found = 0;
  for (intptr_t i = 0; difference.isKnown && i < difference.rank; ++i)
    if (difference.steps[i].count) {
      limit->axis = i;
      found += tilePlaceIsConstant(&difference.steps[i], &step) && step == 1 && mlirValueIsNull(difference.numbers[i])
                   ? 1
                   : 2;
    }
  limit->from = less.base;
  TilePlaceSum one = tilePlaceConstant(orEqual);
  limit->below = tilePlaceAdd(&more.base, &one, 1);
  return difference.isKnown && found == 1 && tilePlaceIsKnown(&limit->below);
}

static bool addMask(MlirValue value, TileMask *mask, TileChecks *checks) {
  MlirOperation op = tileDefiningOp(value);
  if (++checks->steps > PlaceMaxSteps)
    return false;
  if (arithAndIOpIsA(op))
    return addMask(tileBinaryLhs(op), mask, checks) && addMask(tileBinaryRhs(op), mask, checks);
  if (arithCmpIOpIsA(op)) {
    MlirValue x = arithCmpIOpGetLhs(op), y = arithCmpIOpGetRhs(op);
    if (!mlirTypeIsARankedTensor(mlirValueGetType(x)))
      return false;
    switch (mlirIntegerAttrGetValueInt(arithCmpIOpGetPredicate(op))) {
    case ArithCmpI_Slt:
      return addLimit(x, y, false, mask, checks);
    case ArithCmpI_Sle:
      return addLimit(x, y, true, mask, checks);
    case ArithCmpI_Sgt:
      return addLimit(y, x, false, mask, checks);
    case ArithCmpI_Sge:
      return addLimit(y, x, true, mask, checks);
    default:
      return false;
    }
  }
  if (!tileBroadcastOpIsA(op) || !mlirTypeIsARankedTensor(tileBroadcastOpGetInputType(op)))
    return false;
  intptr_t first = mask->count;
  if (!addMask(tileBroadcastOpGetInput(op), mask, checks))
    return false;
  intptr_t kept[PlaceMaxAxes], count = 0;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(mlirValueGetType(value)) && count < PlaceMaxAxes; ++i)
    if (!isNewAxis(tileBroadcastOpGetAxes(op), i))
      kept[count++] = i;
  for (; first < mask->count; ++first)
    mask->limits[first].axis = kept[mask->limits[first].axis];
  return true;
}

TileMask tilePlaceMask(MlirValue value, TileChecks *checks) {
  TileMask mask = {0};
  mask.isKnown = addMask(value, &mask, checks);
  if (!mask.isKnown && !checks->why)
    checks->why = "its mask is more than limits of coordinates";
  return mask;
}
