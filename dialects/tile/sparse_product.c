// A tile of kept elements with its zeros again. See sparse_product.h.
#include "dialects/tile/sparse_product.h"

#include "dialects/tile/ops.h"
#include "lib/ir/builder.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

typedef struct Expansion {
  TileBuilder builder;
  int64_t rows, chunks; // a chunk: four neighbours; two are kept
} Expansion;

static MlirType tileOf(intptr_t rank, const int64_t *shape, MlirType element) {
  return mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
}

static MlirValue reshape(Expansion *x, MlirValue value, intptr_t rank, const int64_t *shape) {
  MlirType type = tileOf(rank, shape, mlirShapedTypeGetElementType(mlirValueGetType(value)));
  return tileReshapeOpBuild(&x->builder, type, value);
}

// A last axis of `count` copies.
static MlirValue repeat(Expansion *x, MlirValue value, int64_t count) {
  MlirType from = mlirValueGetType(value);
  const int64_t shape[] = {x->rows, mlirShapedTypeGetDimSize(from, 1), count}, axis = 2;
  return tileBroadcastOpGetResult(tileBroadcastOpCreate(&x->builder,
                                                        tileOf(3, shape, mlirShapedTypeGetElementType(from)), value,
                                                        mlirDenseI64ArrayGet(x->builder.context, 1, &axis)));
}

static MlirValue splat(Expansion *x, MlirType type, int64_t value) {
  return mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)) ? tileBuildFloat(&x->builder, type, (double)value)
                                                              : tileBuildInteger(&x->builder, type, value);
}

// 0, 1, … along the last axis, of i8.
static MlirValue numbers(Expansion *x, int64_t middle, int64_t count) {
  const int64_t shape[] = {x->rows, middle, count};
  MlirType i8 = mlirIntegerTypeGet(x->builder.context, 8), i64 = mlirIntegerTypeGet(x->builder.context, 64);
  return tileIotaOpBuild(&x->builder, tileOf(3, shape, i8), (MlirValue){NULL}, mlirIntegerAttrGet(i64, 2));
}

// Element `which` of each chunk's two, rows x chunks x 4.
static MlirValue keptOf(Expansion *x, MlirValue kept, int64_t which) {
  const int64_t pairs[] = {x->rows, x->chunks, 2}, one[] = {x->rows, x->chunks, 1}, offsets[] = {0, 0, which};
  MlirValue paired = reshape(x, kept, 3, pairs);
  MlirType type = tileOf(3, one, mlirShapedTypeGetElementType(mlirValueGetType(kept)));
  MlirValue sliced =
      tileSliceOpBuild(&x->builder, type, paired, 0, NULL, mlirDenseI64ArrayGet(x->builder.context, 3, offsets));
  return repeat(x, reshape(x, sliced, 2, one), 4);
}

// The two places of each chunk in the low bits of a byte: rows x chunks.
static MlirValue placesOf(Expansion *x, MlirValue places) {
  MlirValue twice = repeat(x, places, 2), which = numbers(x, x->chunks / 2, 2);
  MlirValue bits = arithMulIOpBuild(&x->builder, which, splat(x, mlirValueGetType(which), 4));
  return reshape(x, arithShRUIOpBuild(&x->builder, twice, bits), 2, (const int64_t[]){x->rows, x->chunks});
}

// Whether element `which` of a chunk's two stands at each of the four.
static MlirValue standsAt(Expansion *x, MlirValue places, int64_t which) {
  MlirType type = mlirValueGetType(places);
  MlirValue shifted = arithShRUIOpBuild(&x->builder, places, splat(x, type, 2 * which));
  MlirValue place = repeat(x, arithAndIOpBuild(&x->builder, shifted, splat(x, type, 3)), 4);
  return arithCmpIOpBuild(&x->builder, place, numbers(x, x->chunks, 4), ArithCmpI_Eq);
}

void tileMakeSparseProductDense(MlirOperation product) {
  MlirValue kept = tileMmaSparseOpGetLhs(product);
  MlirType type = mlirValueGetType(kept);
  Expansion x = {.builder = tileBuilderBefore(product),
                 .rows = mlirShapedTypeGetDimSize(type, 0),
                 .chunks = mlirShapedTypeGetDimSize(type, 1) / 2};
  MlirValue places = placesOf(&x, tileMmaSparseOpGetPlaces(product)), dense = {NULL};
  for (int64_t which = 0; which < 2; ++which) {
    MlirValue value = keptOf(&x, kept, which), stands = standsAt(&x, places, which);
    MlirValue others = which ? dense : splat(&x, mlirValueGetType(value), 0);
    dense = arithSelectOpBuild(&x.builder, stands, value, others);
  }
  MlirValue lhs = reshape(&x, dense, 2, (const int64_t[]){x.rows, 4 * x.chunks});
  MlirValue made =
      tileMmaOpBuild(&x.builder, lhs, tileMmaSparseOpGetRhs(product), tileMmaSparseOpGetAccumulator(product));
  mlirValueReplaceAllUsesOfWith(tileMmaSparseOpGetResult(product), made);
  mlirOperationDestroy(product);
}
