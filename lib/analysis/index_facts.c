// Facts by recursion over the ops that define a value. See index_facts.h.
#include "lib/analysis/index_facts.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

static int64_t leastMultiple(int64_t a, int64_t b) { return a && b ? a / tessera_gcd(a, b) * b : 0; }

static const TileIndexFacts nothing = {INT64_MIN, INT64_MAX, 1};

// INT64_MIN and INT64_MAX are infinities; a finite result out of range becomes one.
static int64_t addBounds(int64_t a, int64_t b, int64_t infinity) {
  int64_t sum;
  if (a == infinity || b == infinity || __builtin_add_overflow(a, b, &sum))
    return infinity;
  return sum;
}

static TileIndexFacts factsOfSum(TileIndexFacts a, TileIndexFacts b) {
  return (TileIndexFacts){addBounds(a.low, b.low, INT64_MIN), addBounds(a.high, b.high, INT64_MAX),
                          tessera_gcd(a.multiple, b.multiple)};
}

static TileIndexFacts factsOfDifference(TileIndexFacts a, TileIndexFacts b) {
  int64_t low = b.low == INT64_MIN ? INT64_MAX : -b.low, high = b.high == INT64_MAX ? INT64_MIN : -b.high;
  return factsOfSum(a, (TileIndexFacts){high, low, b.multiple});
}

static TileIndexFacts factsOfProduct(TileIndexFacts a, TileIndexFacts b) {
  TileIndexFacts facts = nothing;
  if (__builtin_mul_overflow(a.multiple, b.multiple, &facts.multiple))
    facts.multiple = 1;
  if (a.low < 0 || b.low < 0)
    return facts;
  if (__builtin_mul_overflow(a.low, b.low, &facts.low))
    facts.low = 0;
  if (a.high == INT64_MAX || b.high == INT64_MAX || __builtin_mul_overflow(a.high, b.high, &facts.high))
    facts.high = INT64_MAX;
  return facts;
}

static TileIndexFacts factsOfInduction(MlirOperation loop) {
  TileIndexFacts lower = tileIndexFacts(scfForOpGetLowerBound(loop)),
                 upper = tileIndexFacts(scfForOpGetUpperBound(loop));
  TileIndexFacts step = tileIndexFacts(scfForOpGetStep(loop));
  TileIndexFacts facts = {lower.low, upper.high, tessera_gcd(lower.multiple, step.multiple)};
  if (facts.high != INT64_MAX)
    facts.high -= 1;
  // With a known start and step the last value is known, not only the bound.
  if (facts.high != INT64_MAX && lower.low == lower.high && step.low == step.high && step.low > 0 &&
      facts.high >= lower.low)
    facts.high = lower.low + (facts.high - lower.low) / step.low * step.low;
  return facts;
}

static TileIndexFacts factsOfArgument(MlirValue index) {
  MlirBlock block = mlirBlockArgumentGetOwner(index);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  if (scfForOpIsA(parent) && mlirBlockArgumentGetArgNumber(index) == 0)
    return factsOfInduction(parent);
  return nothing;
}

static TileIndexFacts factsOfDivision(TileIndexFacts a, TileIndexFacts b) {
  if (a.low < 0 || b.low < 1)
    return nothing;
  int64_t low = b.high == INT64_MAX ? 0 : a.low / b.high;
  return (TileIndexFacts){low, a.high == INT64_MAX ? INT64_MAX : a.high / b.low, 1};
}

static TileIndexFacts factsOfBinary(MlirOperation op) {
  TileIndexFacts a = tileIndexFacts(tileBinaryLhs(op)), b = tileIndexFacts(tileBinaryRhs(op));
  if (arithAddIOpIsA(op))
    return factsOfSum(a, b);
  if (arithSubIOpIsA(op))
    return factsOfDifference(a, b);
  if (arithMulIOpIsA(op))
    return factsOfProduct(a, b);
  if (arithDivUIOpIsA(op) || arithCeilDivUIOpIsA(op) || arithDivSIOpIsA(op))
    return arithCeilDivUIOpIsA(op) && a.high != INT64_MAX && b.low > 0
               ? factsOfDivision((TileIndexFacts){a.low, a.high + b.low - 1, 1}, b)
               : factsOfDivision(a, b);
  if (arithRemUIOpIsA(op))
    return (TileIndexFacts){0, b.high == INT64_MAX ? INT64_MAX : b.high - 1, 1};
  if (arithMinSIOpIsA(op) || (arithMinUIOpIsA(op) && a.low >= 0 && b.low >= 0))
    return (TileIndexFacts){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high,
                            tessera_gcd(a.multiple, b.multiple)};
  return nothing;
}

// What a tile.assume says, together with what is known without it.
static TileIndexFacts factsOfAssumption(MlirOperation op) {
  TileIndexFacts facts = tileIndexFacts(tileAssumeOpGetValue(op));
  MlirAttribute range = tileAssumeOpGetRange(op), divisible = tileAssumeOpGetDivisible(op);
  if (!mlirAttributeIsNull(range)) {
    int64_t low = mlirDenseI64ArrayGetElement(range, 0), high = mlirDenseI64ArrayGetElement(range, 1);
    facts.low = low > facts.low ? low : facts.low;
    facts.high = high < facts.high ? high : facts.high;
  }
  if (!mlirAttributeIsNull(divisible)) {
    facts.multiple = leastMultiple(facts.multiple, mlirIntegerAttrGetValueInt(divisible));
  }
  return facts;
}

TileIndexFacts tileIndexFacts(MlirValue index) {
  int64_t constant;
  if (tileConstantIndex(index, &constant))
    return (TileIndexFacts){constant, constant, constant < 0 ? -constant : constant};
  if (mlirValueIsABlockArgument(index))
    return factsOfArgument(index);
  MlirOperation op = tileDefiningOp(index);
  switch (tileOpKind(op)) {
  case TileOp_ProgramId:
  case TileOp_NumTiles:
  case TileOp_NumPrograms:
    return (TileIndexFacts){0, INT64_MAX, 1};
  case TileOp_Assume:
    return factsOfAssumption(op);
  default:
    break;
  }
  if (memrefDimOpIsA(op) || arithIndexCastUIOpIsA(op))
    return (TileIndexFacts){0, INT64_MAX, 1};
  if (mlirOperationGetNumOperands(op) == 2 && mlirTypeIsAIndex(mlirValueGetType(index)) &&
      mlirTypeIsAIndex(mlirValueGetType(tileBinaryLhs(op))))
    return factsOfBinary(op);
  return nothing;
}
