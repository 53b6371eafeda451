// Indices of the lowering: a base value plus a constant, so that unrolled code shares its address arithmetic. Also what
// is known about an index of the kernel (bounds, factors), which decides where a tile needs masks.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "lib/support/integer.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- arithmetic -----------------------------------------------------------===//

bool vecCoordEquals(VecCoord a, VecCoord b) { return mlirValueEqual(a.base, b.base) && a.offset == b.offset; }

VecCoord vecCoordPlus(VecCoord a, int64_t offset) { return (VecCoord){a.base, a.offset + offset}; }

VecCoord vecCoordSum(TileBuilder *builder, VecCoord a, VecCoord b) {
  int64_t offset = a.offset + b.offset;
  if (mlirValueIsNull(a.base) || mlirValueIsNull(b.base))
    return (VecCoord){mlirValueIsNull(a.base) ? b.base : a.base, offset};
  return (VecCoord){tileBuildAdd(builder, a.base, b.base), offset};
}

VecCoord vecCoordTimes(TileBuilder *builder, VecCoord a, int64_t factor) {
  if (factor == 1)
    return a;
  if (mlirValueIsNull(a.base) || factor == 0)
    return vecCoordConstant(a.offset * factor);
  return (VecCoord){tileBuildMul(builder, a.base, tileBuildIndex(builder, factor)), a.offset * factor};
}

VecCoord vecCoordDivide(TileBuilder *builder, VecCoord a, int64_t divisor) {
  if (divisor == 1)
    return a;
  if (mlirValueIsNull(a.base))
    return vecCoordConstant(a.offset / divisor);
  return vecCoordOf(arithDivUIOpBuild(builder, vecCoordValue(builder, a), tileBuildIndex(builder, divisor)));
}

VecCoord vecCoordModulo(TileBuilder *builder, VecCoord a, int64_t modulus) {
  if (modulus == 0)
    return a;
  if (mlirValueIsNull(a.base))
    return vecCoordConstant(a.offset % modulus);
  return vecCoordOf(arithRemUIOpBuild(builder, vecCoordValue(builder, a), tileBuildIndex(builder, modulus)));
}

MlirValue vecCoordValue(TileBuilder *builder, VecCoord coord) {
  if (mlirValueIsNull(coord.base))
    return tileBuildIndex(builder, coord.offset);
  return coord.offset ? tileBuildAdd(builder, coord.base, tileBuildIndex(builder, coord.offset)) : coord.base;
}

//===--- small builders --------------------------------------------------------===//

MlirValue vecBuildAnd(TileBuilder *builder, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  return arithAndIOpBuild(builder, a, b);
}

MlirValue vecBuildSplat(TileBuilder *builder, MlirValue scalar, int64_t width) {
  if (!width)
    return scalar;
  return vectorBroadcastOpBuild(builder, vecVectorOf(mlirValueGetType(scalar), width), scalar);
}

MlirValue vecBuildZero(TileBuilder *builder, MlirType type) {
  MlirType element = mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeIsAFloat(element))
    return tileBuildFloat(builder, type, 0.0);
  return tileBuildInteger(builder, type, 0);
}

//===--- facts ------------------------------------------------------------------===//

static const VecIndexFacts nothing = {INT64_MIN, INT64_MAX, 1};

// INT64_MIN and INT64_MAX are infinities; a finite result out of range becomes one.
static int64_t addBounds(int64_t a, int64_t b, int64_t infinity) {
  int64_t sum;
  if (a == infinity || b == infinity || __builtin_add_overflow(a, b, &sum))
    return infinity;
  return sum;
}

static VecIndexFacts factsOfSum(VecIndexFacts a, VecIndexFacts b) {
  return (VecIndexFacts){addBounds(a.low, b.low, INT64_MIN), addBounds(a.high, b.high, INT64_MAX),
                         tessera_gcd(a.multiple, b.multiple)};
}

static VecIndexFacts factsOfDifference(VecIndexFacts a, VecIndexFacts b) {
  int64_t low = b.low == INT64_MIN ? INT64_MAX : -b.low, high = b.high == INT64_MAX ? INT64_MIN : -b.high;
  return factsOfSum(a, (VecIndexFacts){high, low, b.multiple});
}

static VecIndexFacts factsOfProduct(VecIndexFacts a, VecIndexFacts b) {
  VecIndexFacts facts = nothing;
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

static VecIndexFacts factsOfInduction(MlirOperation loop) {
  VecIndexFacts lower = vecIndexFacts(scfForOpGetLowerBound(loop)), upper = vecIndexFacts(scfForOpGetUpperBound(loop));
  VecIndexFacts step = vecIndexFacts(scfForOpGetStep(loop));
  VecIndexFacts facts = {lower.low, upper.high, tessera_gcd(lower.multiple, step.multiple)};
  if (facts.high != INT64_MAX)
    facts.high -= 1;
  // With a known start and step the last value is known, not only the bound.
  if (facts.high != INT64_MAX && lower.low == lower.high && step.low == step.high && step.low > 0 &&
      facts.high >= lower.low)
    facts.high = lower.low + (facts.high - lower.low) / step.low * step.low;
  return facts;
}

static VecIndexFacts factsOfArgument(MlirValue index) {
  MlirBlock block = mlirBlockArgumentGetOwner(index);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  if (scfForOpIsA(parent) && mlirBlockArgumentGetArgNumber(index) == 0)
    return factsOfInduction(parent);
  return nothing;
}

static VecIndexFacts factsOfDivision(VecIndexFacts a, VecIndexFacts b) {
  if (a.low < 0 || b.low < 1)
    return nothing;
  int64_t low = b.high == INT64_MAX ? 0 : a.low / b.high;
  return (VecIndexFacts){low, a.high == INT64_MAX ? INT64_MAX : a.high / b.low, 1};
}

static VecIndexFacts factsOfBinary(MlirOperation op) {
  VecIndexFacts a = vecIndexFacts(tileBinaryLhs(op)), b = vecIndexFacts(tileBinaryRhs(op));
  if (arithAddIOpIsA(op))
    return factsOfSum(a, b);
  if (arithSubIOpIsA(op))
    return factsOfDifference(a, b);
  if (arithMulIOpIsA(op))
    return factsOfProduct(a, b);
  if (arithDivUIOpIsA(op) || arithCeilDivUIOpIsA(op) || arithDivSIOpIsA(op))
    return arithCeilDivUIOpIsA(op) && a.high != INT64_MAX && b.low > 0
               ? factsOfDivision((VecIndexFacts){a.low, a.high + b.low - 1, 1}, b)
               : factsOfDivision(a, b);
  if (arithRemUIOpIsA(op))
    return (VecIndexFacts){0, b.high == INT64_MAX ? INT64_MAX : b.high - 1, 1};
  if (arithMinSIOpIsA(op) || (arithMinUIOpIsA(op) && a.low >= 0 && b.low >= 0))
    return (VecIndexFacts){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high,
                           tessera_gcd(a.multiple, b.multiple)};
  return nothing;
}

// What a tile.assume says, together with what is known without it.
static VecIndexFacts factsOfAssumption(MlirOperation op) {
  VecIndexFacts facts = vecIndexFacts(tileAssumeOpGetValue(op));
  MlirAttribute range = tileAssumeOpGetRange(op), divisible = tileAssumeOpGetDivisible(op);
  if (!mlirAttributeIsNull(range)) {
    int64_t low = mlirDenseI64ArrayGetElement(range, 0), high = mlirDenseI64ArrayGetElement(range, 1);
    facts.low = low > facts.low ? low : facts.low;
    facts.high = high < facts.high ? high : facts.high;
  }
  if (!mlirAttributeIsNull(divisible)) {
    int64_t divisor = mlirIntegerAttrGetValueInt(divisible);
    facts.multiple = divisor % facts.multiple ? facts.multiple : divisor;
  }
  return facts;
}

VecIndexFacts vecIndexFacts(MlirValue index) {
  int64_t constant;
  if (tileConstantIndex(index, &constant))
    return (VecIndexFacts){constant, constant, constant < 0 ? -constant : constant};
  if (mlirValueIsABlockArgument(index))
    return factsOfArgument(index);
  MlirOperation op = tileDefiningOp(index);
  switch (tileOpKind(op)) {
  case TileOp_ProgramId:
  case TileOp_NumTiles:
  case TileOp_NumPrograms:
    return (VecIndexFacts){0, INT64_MAX, 1};
  case TileOp_Assume:
    return factsOfAssumption(op);
  default:
    break;
  }
  if (memrefDimOpIsA(op))
    return (VecIndexFacts){0, INT64_MAX, 1};
  if (mlirOperationGetNumOperands(op) == 2 && mlirTypeIsAIndex(mlirValueGetType(index)) &&
      mlirTypeIsAIndex(mlirValueGetType(tileBinaryLhs(op))))
    return factsOfBinary(op);
  return nothing;
}
