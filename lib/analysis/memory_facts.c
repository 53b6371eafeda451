// What a kernel knows of its memory: through tile.assume and memref.cast up to the memref itself. See memory_facts.h.
#include "lib/analysis/memory_facts.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/scratch.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/memref.h"

static int64_t lcm(int64_t a, int64_t b) { return a && b ? a / tessera_gcd(a, b) * b : 0; }

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
      known->stride[i] = lcm(known->stride[i], tileDivisorOfProduct(known->stride[i + 1], known->size[i + 1]));
    known->isUnit[i] |= isStatic && strides[i] == 1;
  }
  // A contiguous memref's rows are as long as they are apart.
  if (isIdentity && known->rank > 1)
    known->size[known->rank - 1] = lcm(known->size[known->rank - 1], known->stride[known->rank - 2]);
}

static void learnAssumed(MlirOperation op, TileKnownMemory *known) {
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

// A part keeps the divisors of its source's strides.
static void learnPart(MlirOperation subview, TileKnownMemory *known) {
  TileKnownMemory source = tileKnownMemory(memrefSubViewOpGetSource(subview));
  for (intptr_t i = 0; i < known->rank && source.rank == known->rank; ++i)
    known->stride[i] = source.stride[i];
}

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
  known.align = known.elementBytes = tileStoredBytes(mlirShapedTypeGetElementType(type));
  if (known.rank > TILE_LAYOUT_MAX_AXES)
    known.rank = 0;
  for (intptr_t i = 0; i < known.rank; ++i)
    known.size[i] = known.stride[i] = 1;
  if (memrefSubViewOpIsA(op))
    learnPart(op, &known);
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
