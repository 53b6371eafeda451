// Part of tile-generalize-named-ops: packs and unpacks as linalg.generic, where tiles have sizes that only the run
// knows, or something else than 0 pads.
//
//   %p = linalg.pack %a inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<?x8xf32> -> tensor<?x8x?xf32>
//     →  linalg.generic outs(%d): tensor.extract %a[%i * %t + %k, %j], or the padding where that lies outside
//
// Other packs are copies of views (linalg_to_tile), which such sizes and padding do not fit.
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/support/array.h"
#include "lib/transforms/upstream/faults.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { MaxRank = TESSERA_MAX_RANK };

// A pack or unpack: of each dimension of the plain tensor its tile (null: it has none), and where both lie in the
// other.
typedef struct Relayout {
  MlirOperation op;
  bool isPack;
  MlirValue source, dest, padding; // padding null: nothing pads
  intptr_t rank;
  MlirValue tiles[MaxRank];
  intptr_t outer[MaxRank], inner[MaxRank];
} Relayout;

static bool read(MlirOperation op, Relayout *relayout) {
  bool isPack = linalgPackOpIsA(op);
  MlirValue source = isPack ? linalgPackOpGetSource(op) : linalgUnPackOpGetSource(op);
  MlirValue dest = isPack ? linalgPackOpGetDest(op) : linalgUnPackOpGetDest(op);
  *relayout = (Relayout){.op = op, .isPack = isPack, .source = source, .dest = dest};
  relayout->rank = mlirShapedTypeGetRank(mlirValueGetType(isPack ? source : dest));
  if (isPack)
    relayout->padding = linalgPackOpGetPaddingValue(op);
  MlirAttribute positions = isPack ? linalgPackOpGetInnerDimsPos(op) : linalgUnPackOpGetInnerDimsPos(op);
  MlirAttribute order = isPack ? linalgPackOpGetOuterDimsPerm(op) : linalgUnPackOpGetOuterDimsPerm(op);
  MlirAttribute sizes = isPack ? linalgPackOpGetStaticInnerTiles(op) : linalgUnPackOpGetStaticInnerTiles(op);
  bool isOrdered = !mlirAttributeIsNull(order) && mlirDenseArrayGetNumElements(order);
  TileBuilder builder = tileBuilderBefore(op);
  intptr_t open = 0;
  for (intptr_t i = 0; i < relayout->rank && relayout->rank <= MaxRank; ++i)
    relayout->outer[isOrdered ? mlirDenseI64ArrayGetElement(order, i) : i] = i;
  for (intptr_t t = 0; t < mlirDenseArrayGetNumElements(positions) && relayout->rank <= MaxRank; ++t) {
    intptr_t dimension = mlirDenseI64ArrayGetElement(positions, t);
    int64_t size = mlirDenseI64ArrayGetElement(sizes, t);
    bool isOpen = size == mlirShapedTypeGetDynamicSize();
    relayout->inner[dimension] = relayout->rank + t;
    relayout->tiles[dimension] = !isOpen  ? tileBuildIndex(&builder, size)
                                 : isPack ? linalgPackOpGetInnerTiles(op, open++)
                                          : linalgUnPackOpGetInnerTiles(op, open++);
  }
  return relayout->rank <= MaxRank;
}

static MlirValue indexOf(TileBuilder *b, intptr_t dimension) {
  return linalgIndexOpBuild(b, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), dimension));
}

static MlirValue packed(const Relayout *relayout, TileBuilder *b) {
  MlirValue at[MaxRank], isInside = {NULL};
  for (intptr_t d = 0; d < relayout->rank; ++d) {
    at[d] = indexOf(b, relayout->outer[d]);
    if (mlirValueIsNull(relayout->tiles[d]))
      continue;
    at[d] = tileBuildAdd(b, tileBuildMul(b, at[d], relayout->tiles[d]), indexOf(b, relayout->inner[d]));
    MlirValue size = tileBuildSize(b, relayout->source, d);
    MlirValue fits = arithCmpIOpBuild(b, at[d], size, ArithCmpI_Slt);
    isInside = mlirValueIsNull(isInside) ? fits : arithAndIOpBuild(b, isInside, fits);
    at[d] = tileBuildMin(b, at[d], tileBuildSub(b, size, tileBuildIndex(b, 1)));
  }
  MlirValue value = tensorExtractOpBuild(b, relayout->source, relayout->rank, at);
  return mlirValueIsNull(relayout->padding) ? value : arithSelectOpBuild(b, isInside, value, relayout->padding);
}

static MlirValue unpacked(const Relayout *relayout, TileBuilder *b) {
  MlirValue at[MaxRank * 2];
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(relayout->source));
  for (intptr_t d = 0; d < relayout->rank; ++d) {
    MlirValue place = indexOf(b, d), tile = relayout->tiles[d];
    at[relayout->outer[d]] = mlirValueIsNull(tile) ? place : arithDivUIOpBuild(b, place, tile);
    if (!mlirValueIsNull(tile))
      at[relayout->inner[d]] = arithRemUIOpBuild(b, place, tile);
  }
  return tensorExtractOpBuild(b, relayout->source, rank, at);
}

bool tileGeneralizeRelayout(MlirOperation op) {
  Relayout relayout;
  if (!read(op, &relayout))
    return tileError(op, "has rank %lld; at most %d is accepted", (long long)relayout.rank, MaxRank);
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  MlirType type = mlirValueGetType(relayout.dest), element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 1, &element);
  MlirValue value = relayout.isPack ? packed(&relayout, &inside) : unpacked(&relayout, &inside);
  linalgYieldOpBuild(&inside, 1, &value);
  MlirAttribute identity = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, rank));
  MlirOperation generic =
      linalgGenericOpBuild(b, 1, &type, 0, NULL, 1, &relayout.dest, mlirArrayAttrGet(b->context, 1, &identity),
                           tileBuildIteratorTypes(b, rank, 0), region);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(generic));
  mlirOperationDestroy(op);
  return true;
}
