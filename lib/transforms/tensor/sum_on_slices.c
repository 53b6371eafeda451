// tile-sum-on-slices: a sum of products becomes sums on slices, where only slices of it are used.
//
//   %s = linalg.generic … ins(%xw, %hu, %bias)              %xw0 = tensor.extract_slice %xw[0, 0] …
//   %i = tensor.extract_slice %s[0, 0] …                    %hu0 = tensor.extract_slice %hu[0, 0] …
//   %f = tensor.extract_slice %s[0, 256] …         →        %i = linalg.generic … ins(%xw0, %hu0, %bias0)
//                                                           … as well for %f …
//
// Why: the gates of a recurrent cell are slices of a sum of two products. One kernel that computes a product and then
//   the sum awaits the other product. A sum on slices becomes part of the kernel that takes the slices, and the two
//   products run side by side: a front of launches less for each cell (tile-co-schedule-kernels).
// Expects: linalg.generic on tensors in func.func. Leaves: each element is computed once, by the ops that computed it.
//   Left alone: ops of fewer than two products, slices that overlap, leave out a rank or have open sizes, other uses;
//   more slices of inputs than one kernel has operands (the eight gates of NASRNN), since it would take all of them.
// Cost: linear in the ops and their uses.
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/structured.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

static const char *const statistics[] = {"sliced: ops that became ops on slices", NULL};

// OtherOperands: what the kernel that takes all slices has besides, states and results.
enum { MostSlices = 8, MostSliceRank = 4, MostDepth = 4, OtherOperands = 4 };

// Where a slice lies, in the dimensions of the op.
typedef struct Slice {
  MlirOperation op;
  int64_t first[MostSliceRank], sizes[MostSliceRank];
} Slice;

typedef struct Slices {
  Slice items[MostSlices];
  intptr_t count, rank;
} Slices;

//===--- questions ----------------------------------------------------------------------===//

static MlirAffineMap mapOf(MlirOperation op, intptr_t operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(linalgGenericOpGetIndexingMaps(op), operand));
}

static MlirWalkResult findPosition(MlirOperation op, void *userData) {
  bool *asks = userData;
  *asks |= linalgIndexOpIsA(op) || tensorExtractOpIsA(op);
  return MlirWalkResultAdvance;
}

// Each element of the one result follows from one element of each input, wherever it lies.
static bool isPlainElementwise(MlirOperation op) {
  bool asksForPosition = false;
  if (!linalgGenericOpIsA(op) || linalgGenericOpGetNumOutputs(op) != 1 || linalgGenericOpGetNumResultTensors(op) != 1 ||
      !tileGenericIsParallel(op) || !mlirAffineMapIsIdentity(mapOf(op, linalgGenericOpGetNumInputs(op))) ||
      !mlirShapedTypeHasStaticShape(tileOnlyResultType(op)))
    return false;
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i) {
    MlirType type = mlirValueGetType(linalgGenericOpGetInputs(op, i));
    if (!mlirAffineMapIsProjectedPermutation(mapOf(op, i)) ||
        (mlirTypeIsAShaped(type) && mlirShapedTypeGetRank(type) > MostSliceRank))
      return false;
  }
  mlirOperationWalk(op, findPosition, &asksForPosition, MlirWalkPreOrder);
  MlirBlock body = mlirRegionGetFirstBlock(linalgGenericOpGetRegion(op));
  MlirValue old = mlirBlockGetArgument(body, linalgGenericOpGetNumInputs(op));
  return !asksForPosition && mlirOpOperandIsNull(mlirValueGetFirstUse(old));
}

// Products that the value is computed of, elementwise.
static intptr_t countProducts(MlirValue value, int depth) {
  MlirOperation op = tileDefiningOp(value);
  intptr_t count = 0;
  if (mlirOperationIsNull(op))
    return 0;
  if (mlirLinalgIsAContractionOp(op))
    return 1;
  for (intptr_t i = 0; depth < MostDepth && linalgGenericOpIsA(op) && i < linalgGenericOpGetNumInputs(op); ++i)
    count += countProducts(linalgGenericOpGetInputs(op, i), depth + 1);
  return count;
}

static bool readSlice(MlirOperation op, Slice *slice, intptr_t rank) {
  if (tensorExtractSliceOpGetNumOffsets(op) || tensorExtractSliceOpGetNumSizes(op) ||
      tensorExtractSliceOpGetNumStrides(op) || mlirShapedTypeGetRank(tileOnlyResultType(op)) != rank)
    return false;
  slice->op = op;
  for (intptr_t d = 0; d < rank; ++d) {
    slice->first[d] = mlirDenseI64ArrayGetElement(tensorExtractSliceOpGetStaticOffsets(op), d);
    slice->sizes[d] = mlirDenseI64ArrayGetElement(tensorExtractSliceOpGetStaticSizes(op), d);
    if (mlirDenseI64ArrayGetElement(tensorExtractSliceOpGetStaticStrides(op), d) != 1)
      return false;
  }
  return true;
}

static bool overlap(const Slice *a, const Slice *b, intptr_t rank) {
  for (intptr_t d = 0; d < rank; ++d)
    if (a->first[d] + a->sizes[d] <= b->first[d] || b->first[d] + b->sizes[d] <= a->first[d])
      return false;
  return true;
}

// All uses of the op's result are slices apart from each other.
static bool readSlices(MlirOperation op, Slices *slices) {
  *slices = (Slices){.rank = mlirShapedTypeGetRank(tileOnlyResultType(op))};
  if (slices->rank > MostSliceRank)
    return false;
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    Slice *slice = &slices->items[slices->count];
    if (slices->count == MostSlices || !tensorExtractSliceOpIsA(user) || !readSlice(user, slice, slices->rank))
      return false;
    for (intptr_t i = 0; i < slices->count; ++i)
      if (overlap(&slices->items[i], slice, slices->rank))
        return false;
    ++slices->count;
  }
  return slices->count > 1;
}

//===--- rewriting ----------------------------------------------------------------------===//

static MlirType typeOfSlice(MlirValue tensor, const int64_t *sizes) {
  MlirType type = mlirValueGetType(tensor);
  return mlirRankedTensorTypeGet(mlirShapedTypeGetRank(type), sizes, mlirShapedTypeGetElementType(type),
                                 mlirAttributeGetNull());
}

static MlirValue buildInput(TileBuilder *b, MlirOperation op, intptr_t input, const Slice *slice) {
  MlirValue tensor = linalgGenericOpGetInputs(op, input);
  MlirAffineMap map = mapOf(op, input);
  int64_t first[MostSliceRank], sizes[MostSliceRank], ones[MostSliceRank];
  intptr_t rank = mlirAffineMapGetNumResults(map);
  if (!rank)
    return tensor;
  for (intptr_t i = 0; i < rank; ++i) {
    intptr_t d = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, i));
    first[i] = slice->first[d];
    sizes[i] = slice->sizes[d];
    ones[i] = 1;
  }
  return tensorExtractSliceOpBuild(
      b, typeOfSlice(tensor, sizes), tensor, 0, NULL, 0, NULL, 0, NULL, mlirDenseI64ArrayGet(b->context, rank, first),
      mlirDenseI64ArrayGet(b->context, rank, sizes), mlirDenseI64ArrayGet(b->context, rank, ones));
}

static void computeSlice(MlirOperation op, const Slice *slice) {
  TileBuilder b = tileBuilderBefore(slice->op);
  MlirType type = tileOnlyResultType(slice->op);
  MlirOperation part = mlirOperationClone(op);
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i)
    mlirOperationSetOperand(part, linalgGenericOpGetInputsBegin(op) + i, buildInput(&b, op, i, slice));
  mlirOperationSetOperand(part, linalgGenericOpGetOutputsBegin(op), tensorEmptyOpBuild(&b, type, 0, NULL));
  tileBuilderInsert(&b, part);
  mlirValueSetType(tileOnlyResult(part), type);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(slice->op), tileOnlyResult(part));
  mlirOperationDestroy(slice->op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollectOps(function, linalgGenericOpIsA);
  for (intptr_t i = ops.count; i-- > 0;) { // what takes slices comes first: it leaves slices of what it takes
    Slices slices;
    if (!isPlainElementwise(ops.items[i]) || !readSlices(ops.items[i], &slices) ||
        slices.count * linalgGenericOpGetNumInputs(ops.items[i]) + OtherOperands > MaxOperands ||
        countProducts(tileOnlyResult(ops.items[i]), 0) < 2)
      continue;
    for (intptr_t k = 0; k < slices.count; ++k)
      computeSlice(ops.items[i], &slices.items[k]);
    mlirOperationDestroy(ops.items[i]);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileSumOnSlicesPass = {
    .argument = "tile-sum-on-slices",
    .summary = "Compute sums of products on the slices that are used",
    .anchor = funcFuncOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", NULL},
    .run = run,
};
