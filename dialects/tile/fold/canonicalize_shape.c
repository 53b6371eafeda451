// Canonicalizations of broadcast, transpose and slice that make another op.
// Why: one way to say a thing; a transposed load costs less than a load and a transpose; the k best need no full sort.
// Expects: verified ops. Leaves: equal values. Does nothing where the op in between has other uses, since that would
// compute it twice.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"

#include <stdlib.h>

static void replaceBy(MlirPatternRewriter rewriter, MlirOperation op, MlirValue value) {
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &value);
}

//===--- broadcast of axes of size 1: a reshape -----------------------------===//

static bool addsOnlyUnitAxes(MlirOperation op) {
  MlirType result = tileBroadcastOpGetResultType(op);
  return tileTypeIsATile(tileBroadcastOpGetInputType(op)) &&
         tileTypeGetCount(result) == tileTypeGetCount(tileBroadcastOpGetInputType(op)) &&
         mlirAttributeIsNull(tileTypeGetLayout(result));
}

static MlirLogicalResult broadcastToReshape(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                            void *data) {
  if (!addsOnlyUnitAxes(op))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue source = tileBroadcastOpGetInput(op);
  replaceBy(rewriter, op, tileReshapeOpBuild(&builder, tileBroadcastOpGetResultType(op), source));
  return mlirLogicalResultSuccess();
}

void tileBroadcastOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileBroadcastOpName, 1, broadcastToReshape);
}

//===--- transpose of a load: a load of the transposed view ------------------===//

// The load that `op` alone transposes, of an unpacked view made right there, without layouts; null otherwise.
static MlirOperation transposedLoad(MlirOperation op) {
  MlirOperation load = tileDefiningOp(tileTransposeOpGetInput(op)), none = {0};
  if (!tileLoadOpIsA(load) || !tileValueHasOneUse(tileLoadOpGetResult(load)))
    return none;
  MlirValue view = tileLoadOpGetSource(load);
  if (!tileViewOpIsA(tileDefiningOp(view)) || !mlirAttributeIsNull(tileTypeGetLayout(tileTransposeOpGetResultType(op))))
    return none;
  return mlirAttributeIsNull(tileViewTypeGetPacked(mlirValueGetType(view))) ? load : none;
}

static MlirType transposedView(MlirOperation op, MlirType view) {
  intptr_t rank = tileViewTypeGetRank(view);
  int64_t *numbers = malloc(sizeof *numbers * 4 * (size_t)(rank + 1));
  int64_t *shape = numbers, *steps = shape + rank, *strides = steps + rank, *order = strides + rank;
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t from = tileArrayAt(op, "permutation", i);
    shape[i] = tileViewTypeGetSize(view, from);
    steps[i] = tileViewTypeGetStep(view, from);
    strides[i] = tileViewTypeGetStride(view, from);
    order[i] = tileViewTypeGetOrder(view, from);
  }
  MlirStringRef pad = tileViewTypeGetPad(view);
  char name[16] = {0};
  for (size_t i = 0; i < pad.length && i + 1 < sizeof name; ++i)
    name[i] = pad.data[i];
  TileViewSpec spec = {.rank = rank,
                       .shape = shape,
                       .element = tileViewTypeGetElementType(view),
                       .steps = steps,
                       .strides = strides,
                       .order = order,
                       .pad = name};
  MlirType type = tileViewTypeGet(mlirTypeGetContext(view), &spec);
  free(numbers);
  return type;
}

static MlirValue buildTransposedView(TileBuilder *builder, MlirOperation view, MlirType type) {
  intptr_t count = tileViewOpGetNumIndices(view);
  MlirValue *indices = malloc(sizeof *indices * (size_t)(count + 1)), result;
  for (intptr_t i = 0; i < count; ++i)
    indices[i] = tileViewOpGetIndices(view, i);
  result = tileViewOpBuild(builder, type, tileViewOpGetSource(view), count, indices, tileViewOpGetFixed(view));
  free(indices);
  return result;
}

static MlirValue buildTransposedLoad(TileBuilder *builder, MlirOperation op, MlirOperation load, MlirValue view) {
  intptr_t rank = tileArrayCount(op, "permutation");
  MlirValue *indices = malloc(sizeof *indices * (size_t)(rank + 1)), result;
  for (intptr_t i = 0; i < rank; ++i)
    indices[i] = tileLoadOpGetIndices(load, tileArrayAt(op, "permutation", i));
  result = tileLoadOpBuild(builder, tileTransposeOpGetResultType(op), view, rank, indices);
  free(indices);
  return result;
}

// The new load stands where the old one does: no write comes between.
static MlirLogicalResult transposeLoad(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                       void *data) {
  MlirOperation load = transposedLoad(op);
  if (mlirOperationIsNull(load))
    return mlirLogicalResultFailure();
  MlirValue view = tileLoadOpGetSource(load);
  MlirType type = transposedView(op, mlirValueGetType(view));
  TileBuilder builder = tileBuilderInPattern(rewriter, load);
  MlirValue transposed = buildTransposedView(&builder, tileDefiningOp(view), type);
  replaceBy(rewriter, op, buildTransposedLoad(&builder, op, load, transposed));
  mlirRewriterBaseEraseOp(mlirPatternRewriterAsBase(rewriter), load);
  return mlirLogicalResultSuccess();
}

void tileTransposeOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileTransposeOpName, 1, transposeLoad);
}

//===--- the first few of a sort: topk --------------------------------------===//

// The slice begins at 0 and cuts along the sort's axis only.
static bool takesFirst(MlirOperation slice, MlirOperation sort) {
  int64_t axis = 0;
  tileIntegerOf(sort, "axis", &axis);
  for (intptr_t i = 0, rank = tileArrayCount(slice, "static_offsets"); i < rank; ++i)
    if (tileArrayAt(slice, "static_offsets", i) != 0)
      return false;
  return tileTypeHasSameShapeBut(tileSliceOpGetResultType(slice), tileSliceOpGetInputType(slice), axis);
}

// Both are stable and order nan alike, so ties and all the rest come out the same.
static MlirLogicalResult sliceOfSort(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                     void *data) {
  MlirValue sorted = tileSliceOpGetInput(op);
  MlirOperation sort = tileDefiningOp(sorted);
  if (!tileSortOpIsA(sort) || mlirOperationGetNumResults(sort) != 1 || !tileValueHasOneUse(sorted) ||
      !mlirAttributeIsNull(tileTypeGetLayout(mlirValueGetType(sorted))) || !takesFirst(op, sort))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue source = tileSortOpGetInputs(sort, 0);
  MlirType type = tileSliceOpGetResultType(op);
  MlirOperation first =
      tileTopkOpCreate(&builder, 1, &type, 1, &source, tileSortOpGetAxis(sort), tileSortOpGetDescending(sort));
  replaceBy(rewriter, op, tileOnlyResult(first));
  return mlirLogicalResultSuccess();
}

void tileSliceOpCanonicalize(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, tileSliceOpName, 1, sliceOfSort);
}
