// What a kernel says about its indices and its memory. See facts.h.
// How: by recursion over the ops that define an index; of a memref through tile.assume, memref.cast and memref.subview.
#include "lib/analysis/facts.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/scratch.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

static int64_t leastMultiple(int64_t a, int64_t b) { return a && b ? a / tessera_gcd(a, b) * b : 0; }

//===--- indices ------------------------------------------------------------------------------------===//

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
  MlirValue captured = tileCapturedValue(index);
  if (scfForOpIsA(parent) && mlirBlockArgumentGetArgNumber(index) == 0)
    return factsOfInduction(parent);
  return mlirValueEqual(captured, index) ? nothing : tileIndexFacts(captured);
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
  if (arithMaxSIOpIsA(op))
    return (TileIndexFacts){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high,
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
  if (memrefDimOpIsA(op) || tensorDimOpIsA(op) || arithIndexCastUIOpIsA(op))
    return (TileIndexFacts){0, INT64_MAX, 1};
  if (mlirOperationGetNumOperands(op) == 2 && mlirTypeIsAIndex(mlirValueGetType(index)) &&
      mlirTypeIsAIndex(mlirValueGetType(tileBinaryLhs(op))))
    return factsOfBinary(op);
  return nothing;
}

//===--- memory -------------------------------------------------------------------------------------===//

int64_t tileDivisorOfProduct(int64_t a, int64_t b) { return tessera_gcd(a, 4096) * tessera_gcd(b, 4096); }

static void learnType(MlirType type, TileKnownMemory *known) {
  int64_t strides[64], offset;
  bool isIdentity = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  bool isStrided = mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  for (intptr_t i = known->rank; i-- > 0;) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      known->size[i] = mlirShapedTypeGetDimSize(type, i);
    bool isStatic = isStrided && !mlirShapedTypeIsDynamicStrideOrOffset(strides[i]);
    if (isStatic)
      known->stride[i] = strides[i];
    else if (isIdentity && i + 1 < known->rank)
      known->stride[i] =
          leastMultiple(known->stride[i], tileDivisorOfProduct(known->stride[i + 1], known->size[i + 1]));
    known->isUnit[i] |= isStatic && strides[i] == 1;
  }
  // A contiguous memref's rows are as long as they are apart.
  if (isIdentity && known->rank > 1)
    known->size[known->rank - 1] = leastMultiple(known->size[known->rank - 1], known->stride[known->rank - 2]);
}

static void learnAssumed(MlirOperation op, TileKnownMemory *known) {
  MlirAttribute align = tileAssumeOpGetAlign(op);
  if (!mlirAttributeIsNull(align))
    known->align = leastMultiple(known->align, mlirIntegerAttrGetValueInt(align));
  for (intptr_t i = 0; i < known->rank; ++i) {
    int64_t size = i < tileArrayCount(op, "sizes") ? tileArrayAt(op, "sizes", i) : 1;
    int64_t stride = i < tileArrayCount(op, "strides") ? tileArrayAt(op, "strides", i) : 1;
    known->size[i] = size > 0 ? leastMultiple(known->size[i], size) : known->size[i];
    known->stride[i] = stride > 0 ? leastMultiple(known->stride[i], stride) : known->stride[i];
  }
}

// A part keeps the divisors of its source's strides.
static void learnPart(MlirOperation subview, TileKnownMemory *known) {
  TileKnownMemory source = tileKnownMemory(memrefSubViewOpGetSource(subview));
  for (intptr_t i = 0; i < known->rank && source.rank == known->rank; ++i)
    known->stride[i] = source.stride[i];
}

// From the first element on the alignment stays; from a known one on, as far as its bytes allow.
static void learnCast(MlirOperation cast, TileKnownMemory *known) {
  int64_t offset = mlirDenseI64ArrayGetElement(memrefReinterpretCastOpGetStaticOffsets(cast), 0);
  int64_t align = tileKnownMemory(memrefReinterpretCastOpGetSource(cast)).align;
  if (mlirShapedTypeIsDynamicStrideOrOffset(offset))
    return;
  while (align > known->align && offset * known->elementBytes % align)
    align /= 2;
  known->align = tessera_max(known->align, align);
}

enum { AllocAlign = 16 }; // bytes: where tile.alloc may begin, as its verifier says

// What tile.assume and memref.cast take: its facts hold of what they give, too.
TileKnownMemory tileKnownMemory(MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  MlirOperation op = tileDefiningOp(tileCapturedValue(memref));
  if (tileAssumeOpIsA(op) || memrefCastOpIsA(op)) {
    TileKnownMemory known = tileKnownMemory(tileOnlyOperand(op));
    if (tileAssumeOpIsA(op))
      learnAssumed(op, &known);
    learnType(type, &known);
    return known;
  }
  TileKnownMemory known = {.rank = mlirShapedTypeGetRank(type)};
  known.elementBytes = tileStoredBytes(mlirShapedTypeGetElementType(type));
  known.align = tileAllocOpIsA(op) ? tessera_max(known.elementBytes, AllocAlign) : known.elementBytes;
  if (known.rank > TILE_LAYOUT_MAX_AXES)
    known.rank = 0;
  for (intptr_t i = 0; i < known.rank; ++i)
    known.size[i] = known.stride[i] = 1;
  if (memrefSubViewOpIsA(op))
    learnPart(op, &known);
  if (memrefReinterpretCastOpIsA(op))
    learnCast(op, &known);
  learnType(type, &known);
  return known;
}

intptr_t tileViewDimension(MlirOperation view, intptr_t axis) {
  intptr_t wanted = tileViewTypeGetOrder(tileViewOpGetResultType(view), axis), seen = 0, rank;
  rank = mlirShapedTypeGetRank(tileViewOpGetSourceType(view));
  for (intptr_t dim = 0; dim < rank; ++dim)
    if (!tileArrayContains(view, "fixed", dim) && seen++ == wanted)
      return dim;
  return 0;
}
