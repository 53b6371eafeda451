// tile-expand-gathers: tensor.gather becomes linalg, tensor.scatter becomes loops over slices.
//
//   %g = tensor.gather %x[%i] gather_dims([1]) : (tensor<7x5x6xf32>, tensor<3x1xindex>) -> tensor<3x7x6xf32>
//   →  linalg.generic over (d0, d1, d2) ins(%i at [d0, 0]): tensor.extract %x[d1, %i, d2]
//   %s = tensor.scatter %u into %x[%i] scatter_dims([1]) unique
//   →  scf.for %k …: tensor.insert_slice (slice %k of %u) into %x[0, %i[%k, 0], 0] [7, 1, 6]
//
// Why: upstream lowers neither. Expects: func.func on tensors; coordinates inside of the tensor, and each place of a
// scatter once, as the ops require. Leaves: neither op. Cost: linear in the code; the loops of a scatter are the
// host's.
#include "lib/transforms/tensor/tensor.h"

#include "lib/ir/builder.h"
#include "lib/support/array.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { MaxRank = TESSERA_MAX_RANK };

// `slices` are indexed by the leading dimensions of `indices`, and then by the dimensions of `whole`: by all of them,
// or by those that have no coordinate.
typedef struct Access {
  MlirOperation op;
  MlirValue whole, indices, slices;
  intptr_t rank, lead, numCoordinates; // of `whole`; leading dimensions; coordinates of one slice
  intptr_t coordinates[MaxRank];       // of dimension d of `whole`: which coordinate, or -1
  intptr_t places[MaxRank];            // of dimension d: which dimension of `slices`, or -1
} Access;

static bool readAccess(MlirOperation op, MlirValue whole, MlirValue indices, MlirValue slices, MlirAttribute dims,
                       Access *access) {
  *access = (Access){.op = op, .whole = whole, .indices = indices, .slices = slices};
  access->rank = mlirShapedTypeGetRank(mlirValueGetType(whole));
  access->lead = mlirShapedTypeGetRank(mlirValueGetType(indices)) - 1;
  access->numCoordinates = mlirDenseArrayGetNumElements(dims);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(slices)), next = access->lead;
  if (access->rank > MaxRank || rank > MaxRank)
    return tileError(op, "has %lld dimensions; at most %d are accepted",
                     (long long)(rank > access->rank ? rank : access->rank), MaxRank);
  bool keepsRank = rank == access->lead + access->rank;
  for (intptr_t d = 0; d < access->rank; ++d)
    access->coordinates[d] = -1;
  for (intptr_t i = 0; i < access->numCoordinates; ++i)
    access->coordinates[mlirDenseI64ArrayGetElement(dims, i)] = i;
  for (intptr_t d = 0; d < access->rank; ++d)
    access->places[d] = keepsRank || access->coordinates[d] < 0 ? next++ : -1;
  return true;
}

static MlirValue asIndex(TileBuilder *builder, MlirValue value) {
  MlirType index = mlirIndexTypeGet(builder->context);
  return mlirTypeIsAIndex(mlirValueGetType(value)) ? value : tileBuildCast(builder, ArithOp_IndexCast, value, index);
}

//===--- gather -----------------------------------------------------------------------===//

// The result's sizes that its type leaves open: those of `indices`, then those of `whole`.
static MlirValue buildEmpty(TileBuilder *builder, const Access *access, MlirType type) {
  MlirValue sizes[MaxRank];
  intptr_t count = 0;
  for (intptr_t i = 0; i < access->lead; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      sizes[count++] = tileBuildDim(builder, access->indices, i);
  for (intptr_t d = 0; d < access->rank; ++d)
    if (access->places[d] >= 0 && mlirShapedTypeIsDynamicDim(type, access->places[d]))
      sizes[count++] = tileBuildDim(builder, access->whole, d);
  return tensorEmptyOpBuild(builder, type, count, sizes);
}

// (d0, …) -> (d0, …, d_lead-1, coordinate)
static MlirAttribute coordinateMap(MlirContext context, const Access *access, intptr_t rank, intptr_t coordinate) {
  MlirAffineExpr results[MaxRank + 1];
  for (intptr_t i = 0; i < access->lead; ++i)
    results[i] = mlirAffineDimExprGet(context, i);
  results[access->lead] = mlirAffineConstantExprGet(context, coordinate);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, rank, 0, access->lead + 1, results));
}

static MlirRegion gatherBody(TileBuilder *builder, const Access *access, MlirType element) {
  MlirType types[MaxRank + 1];
  intptr_t count = access->numCoordinates;
  for (intptr_t i = 0; i <= count; ++i)
    types[i] = i < count ? mlirShapedTypeGetElementType(mlirValueGetType(access->indices)) : element;
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(builder, &region, count + 1, types);
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue at[MaxRank];
  for (intptr_t d = 0; d < access->rank; ++d)
    at[d] = access->coordinates[d] >= 0 ? asIndex(&inside, mlirBlockGetArgument(inside.block, access->coordinates[d]))
                                        : linalgIndexOpBuild(&inside, mlirIntegerAttrGet(i64, access->places[d]));
  MlirValue read = tensorExtractOpBuild(&inside, access->whole, access->rank, at);
  linalgYieldOpBuild(&inside, 1, &read);
  return region;
}

static bool expandGather(MlirOperation op) {
  Access access;
  MlirValue result = tensorGatherOpGetResult(op);
  if (!readAccess(op, tensorGatherOpGetSource(op), tensorGatherOpGetIndices(op), result,
                  tensorGatherOpGetGatherDims(op), &access))
    return false;
  TileBuilder builder = tileBuilderBefore(op);
  MlirType type = mlirValueGetType(result);
  intptr_t rank = mlirShapedTypeGetRank(type), count = access.numCoordinates;
  MlirAttribute maps[MaxRank + 1];
  MlirValue inputs[MaxRank], empty = buildEmpty(&builder, &access, type);
  for (intptr_t i = 0; i < count; ++i) {
    inputs[i] = access.indices;
    maps[i] = coordinateMap(builder.context, &access, rank, i);
  }
  maps[count] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(builder.context, rank));
  MlirOperation generic = linalgGenericOpBuild(
      &builder, 1, &type, count, inputs, 1, &empty, mlirArrayAttrGet(builder.context, count + 1, maps),
      tileBuildIteratorTypes(&builder, rank, 0), gatherBody(&builder, &access, mlirShapedTypeGetElementType(type)));
  mlirValueReplaceAllUsesOfWith(result, tileOnlyResult(generic));
  mlirOperationDestroy(op);
  return true;
}

//===--- scatter ----------------------------------------------------------------------===//

// Offsets, sizes and strides of a slice, each known here or a value.
typedef struct Slice {
  intptr_t rank, numOffsets, numSizes;
  MlirValue offsets[MaxRank], openSizes[MaxRank];
  int64_t at[MaxRank], sizes[MaxRank], strides[MaxRank];
} Slice;

static void addDimension(Slice *slice, MlirValue offset, MlirValue openSize, int64_t size) {
  intptr_t d = slice->rank++;
  slice->at[d] = mlirValueIsNull(offset) ? 0 : mlirShapedTypeGetDynamicSize();
  slice->sizes[d] = size;
  slice->strides[d] = 1;
  if (!mlirValueIsNull(offset))
    slice->offsets[slice->numOffsets++] = offset;
  if (!mlirValueIsNull(openSize))
    slice->openSizes[slice->numSizes++] = openSize;
}

// The whole of dimension d of a tensor.
static void addWhole(Slice *slice, TileBuilder *builder, MlirValue tensor, intptr_t d) {
  MlirType type = mlirValueGetType(tensor);
  bool isOpen = mlirShapedTypeIsDynamicDim(type, d);
  addDimension(slice, (MlirValue){NULL}, isOpen ? tileBuildDim(builder, tensor, d) : (MlirValue){NULL},
               mlirShapedTypeGetDimSize(type, d));
}

// The slice of `slices` at these leading indices, without the leading dimensions.
static MlirValue takeSlice(TileBuilder *builder, const Access *access, const MlirValue *lead) {
  MlirType type = mlirValueGetType(access->slices);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t sizes[MaxRank];
  Slice slice = {.rank = 0};
  for (intptr_t i = 0; i < access->lead; ++i)
    addDimension(&slice, lead[i], (MlirValue){NULL}, 1);
  for (intptr_t d = access->lead; d < rank; ++d) {
    addWhole(&slice, builder, access->slices, d);
    sizes[d - access->lead] = mlirShapedTypeGetDimSize(type, d);
  }
  MlirType part =
      mlirRankedTensorTypeGet(rank - access->lead, sizes, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tensorExtractSliceOpBuild(builder, part, access->slices, slice.numOffsets, slice.offsets, slice.numSizes,
                                   slice.openSizes, 0, NULL, mlirDenseI64ArrayGet(builder->context, rank, slice.at),
                                   mlirDenseI64ArrayGet(builder->context, rank, slice.sizes),
                                   mlirDenseI64ArrayGet(builder->context, rank, slice.strides));
}

static MlirValue putSlice(TileBuilder *builder, const Access *access, MlirValue part, MlirValue whole,
                          const MlirValue *lead) {
  Slice slice = {.rank = 0};
  MlirValue at[MaxRank + 1];
  for (intptr_t i = 0; i < access->lead; ++i)
    at[i] = lead[i];
  for (intptr_t d = 0; d < access->rank; ++d) {
    if (access->coordinates[d] < 0) {
      addWhole(&slice, builder, whole, d);
      continue;
    }
    at[access->lead] = tileBuildIndex(builder, access->coordinates[d]);
    MlirValue coordinate = tensorExtractOpBuild(builder, access->indices, access->lead + 1, at);
    addDimension(&slice, asIndex(builder, coordinate), (MlirValue){NULL}, 1);
  }
  return tensorInsertSliceOpBuild(builder, part, whole, slice.numOffsets, slice.offsets, slice.numSizes,
                                  slice.openSizes, 0, NULL,
                                  mlirDenseI64ArrayGet(builder->context, slice.rank, slice.at),
                                  mlirDenseI64ArrayGet(builder->context, slice.rank, slice.sizes),
                                  mlirDenseI64ArrayGet(builder->context, slice.rank, slice.strides));
}

// The loops over leading dimensions from `depth` on; what `whole` is after them.
static MlirValue buildLoops(TileBuilder *builder, const Access *access, intptr_t depth, MlirValue *lead,
                            MlirValue whole) {
  if (depth == access->lead)
    return putSlice(builder, access, takeSlice(builder, access, lead), whole, lead);
  MlirBlock body;
  MlirOperation loop = tileBuildFor(builder, tileBuildIndex(builder, 0), tileBuildDim(builder, access->indices, depth),
                                    tileBuildIndex(builder, 1), 1, &whole, &body);
  TileBuilder inside = tileBuilderAtEnd(body, builder->location);
  lead[depth] = mlirBlockGetArgument(body, 0);
  MlirValue result = buildLoops(&inside, access, depth + 1, lead, mlirBlockGetArgument(body, 1));
  tileBuildYield(&inside, 1, &result);
  return tileOnlyResult(loop);
}

static bool expandScatter(MlirOperation op) {
  Access access;
  MlirValue lead[MaxRank], dest = tensorScatterOpGetDest(op);
  if (!readAccess(op, dest, tensorScatterOpGetIndices(op), tensorScatterOpGetSource(op),
                  tensorScatterOpGetScatterDims(op), &access))
    return false;
  TileBuilder builder = tileBuilderBefore(op);
  mlirValueReplaceAllUsesOfWith(tensorScatterOpGetResult(op), buildLoops(&builder, &access, 0, lead, dest));
  mlirOperationDestroy(op);
  return true;
}

//===--- the pass -----------------------------------------------------------------------===//

static bool expandAll(MlirOperation function, bool (*isA)(MlirOperation op), bool (*expand)(MlirOperation op)) {
  TileOps ops = tileCollectOps(function, isA);
  bool ok = true;
  for (intptr_t i = 0; i < ops.count; ++i)
    ok &= expand(ops.items[i]);
  tileOpsFree(&ops);
  return ok;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  return expandAll(function, tensorGatherOpIsA, expandGather) && expandAll(function, tensorScatterOpIsA, expandScatter);
}

const MlirExtPassDefinition tileExpandGathersPass = {
    .argument = "tile-expand-gathers",
    .summary = "Turn tensor.gather into linalg and tensor.scatter into loops over slices",
    .anchor = funcFuncOpName,
    .dialects = (const char *const[]){"arith", "linalg", "scf", "tensor", NULL},
    .needs = (const char *const[]){tensorGatherOpName, tensorScatterOpName, NULL},
    .run = run,
};
