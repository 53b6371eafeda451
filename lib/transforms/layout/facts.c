// What a kernel says about the memory behind a view: alignment, divisors of sizes and strides, the fastest axis.
// Why: the widest legal access rests on it (lib/layout/access.h), and nothing else does.
// Expects: memrefs as kernels have them. Leaves: facts that hold for every program instance; an unknown divisor is 1.
#include "lib/transforms/layout/graph.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/memref.h"

typedef struct Known {
  intptr_t rank;
  int64_t align, elementBytes;                                      // bytes
  int64_t size[TILE_LAYOUT_MAX_AXES], stride[TILE_LAYOUT_MAX_AXES]; // divisors, in elements; 0: the value is 0
  bool isUnit[TILE_LAYOUT_MAX_AXES];                                // the stride is 1
} Known;

static int64_t lcm(int64_t a, int64_t b) { return a && b ? a / tessera_gcd(a, b) * b : 0; }

// A divisor of a product must stay far from overflow: beyond a page it is of no use.
static int64_t times(int64_t a, int64_t b) { return tessera_gcd(a, 4096) * tessera_gcd(b, 4096); }

static void learnType(MlirType type, Known *known) {
  int64_t strides[TILE_LAYOUT_MAX_AXES], offset;
  bool isIdentity = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  bool isStrided = mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset));
  for (intptr_t i = known->rank; i-- > 0;) {
    if (!mlirShapedTypeIsDynamicDim(type, i))
      known->size[i] = mlirShapedTypeGetDimSize(type, i);
    bool isStatic = isStrided && !mlirShapedTypeIsDynamicStrideOrOffset(strides[i]);
    if (isStatic)
      known->stride[i] = strides[i];
    else if (isIdentity && i + 1 < known->rank)
      known->stride[i] = lcm(known->stride[i], times(known->stride[i + 1], known->size[i + 1]));
    known->isUnit[i] = isStatic && strides[i] == 1;
  }
  // A contiguous memref's rows are as long as they are apart.
  if (isIdentity && known->rank > 1)
    known->size[known->rank - 1] = lcm(known->size[known->rank - 1], known->stride[known->rank - 2]);
}

static void learnAssumed(MlirOperation op, Known *known) {
  int64_t align = 1;
  if (tileIntegerOf(op, "align", &align))
    known->align = lcm(known->align, align);
  for (intptr_t i = 0; i < known->rank; ++i) {
    int64_t size = i < tileArrayCount(op, "sizes") ? tileArrayAt(op, "sizes", i) : 1;
    int64_t stride = i < tileArrayCount(op, "strides") ? tileArrayAt(op, "strides", i) : 1;
    known->size[i] = size > 0 ? lcm(known->size[i], size) : known->size[i];
    known->stride[i] = stride > 0 ? lcm(known->stride[i], stride) : known->stride[i];
  }
}

static Known knownOf(MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  unsigned bits = tileElementWidth(mlirShapedTypeGetElementType(type));
  Known known = {.rank = mlirShapedTypeGetRank(type), .elementBytes = bits ? (bits + 7) / 8 : 8};
  known.align = known.elementBytes;
  for (intptr_t i = 0; i < known.rank && i < TILE_LAYOUT_MAX_AXES; ++i)
    known.size[i] = known.stride[i] = 1;
  if (known.rank > TILE_LAYOUT_MAX_AXES)
    known.rank = 0;
  for (MlirOperation op = tileDefiningOp(memref); tileAssumeOpIsA(op) || memrefCastOpIsA(op);
       op = tileDefiningOp(tileOnlyOperand(op)))
    if (tileAssumeOpIsA(op))
      learnAssumed(op, &known);
  if (known.rank)
    learnType(type, &known);
  return known;
}

// The memref's dimension that axis a of the view walks: the a-th by `order` of those not fixed.
static intptr_t dimensionOf(MlirOperation view, intptr_t axis) {
  intptr_t wanted = tileViewTypeGetOrder(tileViewOpGetResultType(view), axis), seen = 0, rank;
  rank = mlirShapedTypeGetRank(tileViewOpGetSourceType(view));
  for (intptr_t dim = 0; dim < rank; ++dim)
    if (!tileArrayContains(view, "fixed", dim) && seen++ == wanted)
      return dim;
  return 0;
}

static void sortByDimension(MlirOperation view, uint32_t rank, uint32_t *order) {
  for (uint32_t axis = 0; axis < rank; ++axis) {
    uint32_t place = axis;
    for (; place > 0 && dimensionOf(view, order[place - 1]) < dimensionOf(view, axis); --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
}

// Every address that a tile of the view may begin at, and every other row of it, is a multiple of this.
static uint64_t alignmentOf(MlirOperation view, const Known *known, intptr_t fast, MlirType type, uint32_t axis) {
  int64_t elements = tileViewTypeGetStep(type, axis);
  for (intptr_t dim = 0; dim < known->rank; ++dim)
    elements = dim == fast ? elements : tessera_gcd(elements, known->stride[dim]);
  (void)view;
  return (uint64_t)tessera_gcd(known->align, times(elements, known->elementBytes));
}

TileMemoryFacts layoutMemoryFacts(MlirOperation op, MlirValue memory, uint32_t *order) {
  MlirType type = mlirValueGetType(memory);
  MlirOperation view = tileDefiningOp(memory);
  uint32_t rank = (uint32_t)tileTypeGetRank(type);
  TileMemoryFacts facts = {.axis = rank ? rank - 1 : 0, .alignment = 1, .bound = 1};
  (void)op;
  for (uint32_t i = 0; i < rank; ++i)
    order[i] = rank - 1 - i;
  if (!tileTypeIsAView(type) || !tileViewOpIsA(view))
    return facts;
  Known known = knownOf(tileViewOpGetSource(view));
  sortByDimension(view, rank, order);
  facts.axis = rank ? order[0] : 0;
  intptr_t fast = rank ? dimensionOf(view, facts.axis) : 0;
  bool isPacked = !mlirAttributeIsNull(tileViewTypeGetPacked(type));
  if (!rank || isPacked || fast >= known.rank || !known.isUnit[fast] || tileViewTypeGetStride(type, facts.axis) != 1)
    return facts;
  facts.alignment = alignmentOf(view, &known, fast, type, facts.axis);
  facts.bound = (uint64_t)tessera_gcd(known.size[fast], tileViewTypeGetStep(type, facts.axis));
  return facts;
}
