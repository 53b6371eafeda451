// Folds of num_tiles and in_bounds, and what is statically known of a view's tile. Canonicalizations of view, load,
// gather, scatter and atomic_rmw.
// Why: where sizes are static no bounds need checking and trip counts are constants; fewer memrefs in between, values
// instead of loads, contiguous accesses instead of computed ones.
// Expects: verified ops. Leaves: equal values and equal memory. Where a store's edge or another op's effect could make
// a difference, nothing happens.
#include "dialects/tile/fold/fold.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"
#include "upstream/memref.h"

#include <stdlib.h>

//===--- questions ----------------------------------------------------------===//

// Dimension number `kept` among those that the view op does not fix.
static intptr_t keptDimension(MlirOperation view, intptr_t kept) {
  intptr_t dimension = 0;
  while (tileArrayContains(view, "fixed", dimension) || kept-- > 0)
    ++dimension;
  return dimension;
}

// Size of what `view` sees along `axis`, in elements of the view. False when it is not known, or counted in words.
static bool viewedSize(MlirValue view, intptr_t axis, int64_t *size) {
  MlirOperation op = tileDefiningOp(view);
  MlirType type = mlirValueGetType(view);
  if (!tileViewOpIsA(op) || !mlirAttributeIsNull(tileViewTypeGetPacked(type)))
    return false;
  intptr_t dimension = keptDimension(op, tileViewTypeGetOrder(type, axis));
  *size = mlirShapedTypeGetDimSize(tileViewOpGetSourceType(op), dimension);
  return !mlirShapedTypeIsDynamicSize(*size);
}

// What one tile reaches over; more than any memory for absurd strides.
static int64_t spanOf(MlirType view, intptr_t axis) {
  int64_t reach;
  bool overflows =
      __builtin_mul_overflow(tileViewTypeGetSize(view, axis) - 1, tileViewTypeGetStride(view, axis), &reach);
  return overflows || reach == INT64_MAX ? INT64_MAX : reach + 1;
}

bool tileIsInside(MlirValue view, intptr_t count, MlirValue (*indexAt)(void *, intptr_t), void *data) {
  MlirType type = mlirValueGetType(view);
  for (intptr_t i = 0; i < count; ++i) {
    int64_t index, size, begin, step = tileViewTypeGetStep(type, i);
    if (!viewedSize(view, i, &size) || !tileConstantIndex(indexAt(data, i), &index) || index < 0)
      return false;
    if (__builtin_mul_overflow(index, step, &begin) || begin > size - spanOf(type, i))
      return false;
  }
  return true;
}

//===--- folds --------------------------------------------------------------===//

// ceil((size - span + step) / step), at least 1 when there is anything.
bool tileNumTilesOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue view = tileNumTilesOpGetView(op);
  int64_t dim = 0, size;
  tileIntegerOf(op, "dim", &dim);
  if (!viewedSize(view, dim, &size))
    return false;
  MlirType type = mlirValueGetType(view);
  int64_t step = tileViewTypeGetStep(type, dim), reach = size - spanOf(type, dim);
  int64_t tiles = size == 0 ? 0 : reach <= 0 ? 1 : 2 + (reach - 1) / step;
  mlirExtFoldResultsAddAttribute(results, mlirIntegerAttrGet(tileNumTilesOpGetResultType(op), tiles));
  return true;
}

static MlirValue indexAfterView(void *data, intptr_t index) {
  return mlirOperationGetOperand(*(MlirOperation *)data, 1 + index);
}

bool tileInBoundsOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue view = tileInBoundsOpGetView(op);
  if (!tileIsInside(view, mlirOperationGetNumOperands(op) - 1, indexAfterView, &op))
    return false;
  return tileFoldToSplat(results, tileInBoundsOpGetResultType(op),
                         mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 1), 1));
}

//===--- patterns -------------------------------------------------------------===//

static MlirLogicalResult replaceBy(MlirPatternRewriter rewriter, MlirOperation op, MlirValue value) {
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &value);
  return mlirLogicalResultSuccess();
}

//===--- view of memref.cast ------------------------------------------------===//

// The cast forgot something: its source knows every size that its result knows.
static bool forgets(MlirType source, MlirType result) {
  if (!mlirTypeIsAMemRef(source) || mlirShapedTypeGetRank(source) != mlirShapedTypeGetRank(result) ||
      !mlirAffineMapEqual(mlirMemRefTypeGetAffineMap(source), mlirMemRefTypeGetAffineMap(result)))
    return false;
  for (intptr_t i = 0, rank = mlirShapedTypeGetRank(source); i < rank; ++i)
    if (mlirShapedTypeIsDynamicDim(source, i) && !mlirShapedTypeIsDynamicDim(result, i))
      return false;
  return true;
}

static MlirLogicalResult viewOfCast(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                    void *data) {
  MlirOperation cast = tileDefiningOp(tileViewOpGetSource(op));
  if (!memrefCastOpIsA(cast) || !forgets(memrefCastOpGetSourceType(cast), memrefCastOpGetDestType(cast)))
    return mlirLogicalResultFailure();
  MlirRewriterBase base = mlirPatternRewriterAsBase(rewriter);
  mlirRewriterBaseStartOpModification(base, op);
  tileViewOpSetSource(op, memrefCastOpGetSource(cast));
  mlirRewriterBaseFinalizeOpModification(base, op);
  return mlirLogicalResultSuccess();
}

//===--- view of memref.subview: one entry of a dimension, the others whole --===//

static int64_t staticOf(MlirOperation subview, const char *name, intptr_t dimension) {
  return tileArrayAt(subview, name, dimension);
}

// Dimension `d` of the subview's source is there as a whole.
static bool isWhole(MlirOperation subview, intptr_t d) {
  int64_t size = mlirShapedTypeGetDimSize(memrefSubViewOpGetSourceType(subview), d);
  return staticOf(subview, "static_offsets", d) == 0 && staticOf(subview, "static_strides", d) == 1 &&
         !mlirShapedTypeIsDynamicSize(size) && staticOf(subview, "static_sizes", d) == size;
}

// Every dimension is whole, or one entry that the result's rank drops. Whole dimensions of size 1 must all be kept:
// else it is not clear which are dropped.
static bool fixesOrKeeps(MlirOperation subview, intptr_t *numDropped) {
  MlirType source = memrefSubViewOpGetSourceType(subview);
  intptr_t rank = mlirShapedTypeGetRank(source);
  *numDropped = 0;
  for (intptr_t d = 0; d < rank; ++d) {
    if (isWhole(subview, d) && mlirShapedTypeGetDimSize(source, d) != 1)
      continue;
    if (staticOf(subview, "static_sizes", d) != 1)
      return false;
    ++*numDropped;
  }
  return rank - *numDropped == mlirShapedTypeGetRank(memrefSubViewOpGetResultType(subview));
}

static MlirValue offsetOf(TileBuilder *builder, MlirOperation subview, intptr_t dimension) {
  intptr_t index = 0;
  for (intptr_t i = 0; i < dimension; ++i)
    index += mlirShapedTypeIsDynamicSize(staticOf(subview, "static_offsets", i));
  int64_t offset = staticOf(subview, "static_offsets", dimension);
  return mlirShapedTypeIsDynamicSize(offset) ? memrefSubViewOpGetOffsets(subview, index)
                                             : tileBuildIndex(builder, offset);
}

// Each dimension of the source is fixed by the subview, fixed by the view, or kept.
static MlirValue buildViewOfSource(TileBuilder *builder, MlirOperation view, MlirOperation subview) {
  intptr_t rank = mlirShapedTypeGetRank(memrefSubViewOpGetSourceType(subview)), count = 0, kept = 0, index = 0;
  MlirValue *indices = malloc(sizeof *indices * (size_t)(rank + 1));
  int64_t *fixed = malloc(sizeof *fixed * (size_t)(rank + 1));
  for (intptr_t d = 0; d < rank; ++d) {
    bool isDropped = !isWhole(subview, d) || mlirShapedTypeGetDimSize(memrefSubViewOpGetSourceType(subview), d) == 1;
    bool isFixed = !isDropped && tileArrayContains(view, "fixed", kept);
    kept += !isDropped;
    if (!isDropped && !isFixed)
      continue;
    fixed[count] = d;
    indices[count++] = isDropped ? offsetOf(builder, subview, d) : tileViewOpGetIndices(view, index++);
  }
  MlirValue result = tileViewOpBuild(builder, tileViewOpGetResultType(view), memrefSubViewOpGetSource(subview), count,
                                     indices, mlirDenseI64ArrayGet(builder->context, count, fixed));
  free(fixed);
  free(indices);
  return result;
}

static MlirLogicalResult viewOfSubview(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                       void *data) {
  MlirOperation subview = tileDefiningOp(tileViewOpGetSource(op));
  intptr_t dropped;
  if (!memrefSubViewOpIsA(subview) || !fixesOrKeeps(subview, &dropped))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  return replaceBy(rewriter, op, buildViewOfSource(&builder, op, subview));
}

void tileViewOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileViewOpName, 1, viewOfCast);
  tileAddPattern(patterns, context, tileViewOpName, 1, viewOfSubview);
}

//===--- load of what was just stored ---------------------------------------===//

enum { StoreSearchLimit = 32 }; // uses and ops looked over: keeps long blocks linear

static MlirValue loadIndex(void *data, intptr_t index) {
  return mlirOperationGetOperand(*(MlirOperation *)data, 1 + index);
}

// The store writes what the load reads: same view or buffer, same indices, no combining, same type.
static bool storesFor(MlirOperation store, MlirOperation load) {
  intptr_t indices = mlirOperationGetNumOperands(load) - 1;
  if (!tileStoreOpIsA(store) || tileHas(store, "combine") ||
      !mlirTypeEqual(tileStoreOpGetValueType(store), tileLoadOpGetResultType(load)))
    return false;
  for (intptr_t i = 0; i <= indices; ++i)
    if (!mlirValueEqual(mlirOperationGetOperand(store, 1 + i), mlirOperationGetOperand(load, i)))
      return false;
  return true;
}

// A tile at the edge is not all stored, and loads padding there: only what is known to lie inside comes back.
static bool comesBackWhole(MlirOperation load) {
  MlirValue source = tileLoadOpGetSource(load);
  bool isView = tileTypeIsAView(mlirValueGetType(source));
  return !isView || tileIsInside(source, mlirOperationGetNumOperands(load) - 1, loadIndex, &load);
}

// Nothing between the two changes memory. Reads do not matter.
static bool isUndisturbed(MlirOperation store, MlirOperation load) {
  MlirOperation at = mlirOperationGetNextInBlock(store);
  for (int i = 0; i < StoreSearchLimit && !mlirOperationIsNull(at); ++i, at = mlirOperationGetNextInBlock(at)) {
    if (mlirOperationEqual(at, load))
      return true;
    if (!mlirExtOperationIsMemoryEffectFree(at) && !tileLoadOpIsA(at))
      return false;
  }
  return false;
}

static MlirLogicalResult loadOfStore(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *data) {
  if (!comesBackWhole(op))
    return mlirLogicalResultFailure();
  MlirOpOperand use = mlirValueGetFirstUse(tileLoadOpGetSource(op));
  for (int i = 0; i < StoreSearchLimit && !mlirOpOperandIsNull(use); ++i, use = mlirOpOperandGetNextUse(use)) {
    MlirOperation store = mlirOpOperandGetOwner(use);
    if (storesFor(store, op) && isUndisturbed(store, op))
      return replaceBy(rewriter, op, tileStoreOpGetValue(store));
  }
  return mlirLogicalResultFailure();
}

void tileLoadOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileLoadOpName, 1, loadOfStore);
}

//===--- masks that are all true --------------------------------------------===//

static bool hasTrueMask(MlirOperation op) {
  MlirValue mask = tileOpOperand(op, "mask");
  return !mlirValueIsNull(mask) && tileConstantIsTrue(mlirExtValueGetConstant(mask));
}

// `other` stays only where bounds(drop) may still ask for it.
static MlirLogicalResult dropTrueMask(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                      void *data) {
  if (!hasTrueMask(op))
    return mlirLogicalResultFailure();
  MlirRewriterBase base = mlirPatternRewriterAsBase(rewriter);
  mlirRewriterBaseStartOpModification(base, op);
  if (tileGatherOpIsA(op) && !tileKeywordIs(op, "bounds", "drop"))
    tileOpDropOperands(op, "other");
  tileOpDropOperands(op, "mask");
  mlirRewriterBaseFinalizeOpModification(base, op);
  return mlirLogicalResultSuccess();
}

//===--- consecutive element numbers: a load or a store ---------------------===//

// The tile index that reaches the same elements as index `i` of a view: the index itself, or, for consecutive numbers
// from a multiple of the step on, their first by the step. False when there is none that is known.
static bool tileIndexOf(MlirValue index, MlirType view, intptr_t axis, int64_t *constant) {
  MlirOperation iota = tileDefiningOp(index);
  *constant = 0;
  if (mlirTypeIsAIndex(mlirValueGetType(index)))
    return true;
  if (!tileIotaOpIsA(iota) || tileViewTypeGetStride(view, axis) != 1)
    return false;
  MlirValue from = tileIotaOpGetFrom(iota);
  if (!mlirValueIsNull(from) && !tileConstantIndex(from, constant))
    return false;
  int64_t step = tileViewTypeGetStep(view, axis), first = *constant;
  *constant = first / step;
  return first % step == 0;
}

// Gather and scatter at these indices of a view are a load and a store: no mask, and what lies outside is dropped as
// there.
static bool isContiguous(MlirOperation op, MlirValue view, intptr_t begin, intptr_t count) {
  int64_t constant;
  if (!tileTypeIsAView(mlirValueGetType(view)) || !tileKeywordIs(op, "bounds", "drop") ||
      !mlirValueIsNull(tileOpOperand(op, "mask")) ||
      (tileGatherOpIsA(op) && !mlirValueIsNull(tileOpOperand(op, "other"))))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!tileIndexOf(mlirOperationGetOperand(op, begin + i), mlirValueGetType(view), i, &constant))
      return false;
  return true;
}

// The tile indices of the gather or scatter `op` of a view as a load or store has them, to be freed; null where they
// do not lie side by side.
static MlirValue *contiguousIndices(TileBuilder *builder, MlirOperation op, MlirValue view, intptr_t begin,
                                    intptr_t count) {
  if (!isContiguous(op, view, begin, count))
    return NULL;
  MlirValue *indices = malloc(sizeof *indices * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i) {
    int64_t constant;
    indices[i] = mlirOperationGetOperand(op, begin + i);
    if (tileIndexOf(indices[i], mlirValueGetType(view), i, &constant) &&
        !mlirTypeIsAIndex(mlirValueGetType(indices[i])))
      indices[i] = tileBuildIndex(builder, constant);
  }
  return indices;
}

static MlirLogicalResult gatherToLoad(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                      void *data) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue view = tileGatherOpGetSource(op);
  intptr_t count = tileGatherOpGetNumIndices(op);
  MlirValue *indices = contiguousIndices(&builder, op, view, tileGatherOpGetIndicesBegin(op), count);
  if (!indices)
    return mlirLogicalResultFailure();
  MlirValue load = tileLoadOpBuild(&builder, tileGatherOpGetResultType(op), view, count, indices);
  free(indices);
  return replaceBy(rewriter, op, load);
}

static MlirLogicalResult scatterToStore(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                        void *data) {
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue view = tileScatterOpGetDestination(op);
  intptr_t count = tileScatterOpGetNumIndices(op);
  MlirValue *indices = contiguousIndices(&builder, op, view, tileScatterOpGetIndicesBegin(op), count);
  if (!indices)
    return mlirLogicalResultFailure();
  MlirOperation store = tileStoreOpBuild(&builder, tileScatterOpGetValue(op), view, count, indices);
  if (!mlirAttributeIsNull(tileScatterOpGetCombine(op)))
    tileStoreOpSetCombine(store, tileScatterOpGetCombine(op));
  free(indices);
  mlirRewriterBaseEraseOp(mlirPatternRewriterAsBase(rewriter), op);
  return mlirLogicalResultSuccess();
}

void tileGatherOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileGatherOpName, 1, dropTrueMask);
  tileAddPattern(patterns, context, tileGatherOpName, 1, gatherToLoad);
}

void tileScatterOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileScatterOpName, 1, dropTrueMask);
  tileAddPattern(patterns, context, tileScatterOpName, 1, scatterToStore);
}

//===--- atomic_rmw whose old value nobody wants: scatter with combine ------===//

// The scatter's name of the kind; null for exchanges.
static const char *combineOf(MlirOperation op) {
  static const char *const same[] = {"add", "max", "min", "umax", "umin", "and", "or", "xor", NULL};
  if (tileKeywordIs(op, "kind", "fadd"))
    return "add";
  for (const char *const *name = same; *name; ++name)
    if (tileKeywordIs(op, "kind", *name))
      return *name;
  return NULL;
}

static bool hasTileIndex(MlirOperation op, intptr_t begin, intptr_t count) {
  for (intptr_t i = begin; i < begin + count; ++i)
    if (tileTypeIsATile(tileOperandType(op, i)))
      return true;
  return false;
}

// Relaxed and within the device: all that a combining scatter promises. Outside of memory both are errors: trap.
static MlirLogicalResult atomicToScatter(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                         void *data) {
  intptr_t begin = tileAtomicRmwOpGetIndicesBegin(op), count = tileAtomicRmwOpGetNumIndices(op);
  const char *combine = combineOf(op);
  bool isUnused = mlirOpOperandIsNull(mlirValueGetFirstUse(tileAtomicRmwOpGetOld(op)));
  if (!isUnused || !combine || !tileKeywordIs(op, "order", "relaxed") || tileKeywordIs(op, "scope", "system") ||
      !hasTileIndex(op, begin, count))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue *indices = malloc(sizeof *indices * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileAtomicRmwOpGetIndices(op, i);
  tileScatterOpCreate(&builder, tileAtomicRmwOpGetValue(op), tileAtomicRmwOpGetMemory(op), count, indices,
                      tileAtomicRmwOpGetMask(op), mlirStringAttrGet(builder.context, tileString(combine)),
                      mlirStringAttrGet(builder.context, tileString("trap")));
  free(indices);
  mlirRewriterBaseEraseOp(mlirPatternRewriterAsBase(rewriter), op);
  return mlirLogicalResultSuccess();
}

void tileAtomicRmwOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileAtomicRmwOpName, 1, atomicToScatter);
}
