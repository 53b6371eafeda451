// Folds of broadcast, reshape, transpose, slice, insert, cat, bitcast and convert_layout. Canonicalizations of
// broadcast, transpose and slice that make another op.
// Why: passes compose these freely and rely on identities vanishing and chains becoming one op; a transposed load costs
// less than a load and a transpose; the k best need no full sort.
// Expects: verified ops. Leaves: equal values. Elements are moved, never computed, so every fold is exact. A fold that
// changes the op in place returns true and appends nothing. A pattern does nothing where the op in between has other
// uses, since that would compute it twice.
#include "dialects/tile/fold/fold.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"

#include <stdlib.h>

//===--- shared (fold.h) ----------------------------------------------------===//

bool tileFoldToValue(MlirExtFoldResults results, MlirValue value) {
  mlirExtFoldResultsAddValue(results, value);
  return true;
}

bool tileFoldToSplat(MlirExtFoldResults results, MlirType type, MlirAttribute constant) {
  bool isSplat = tileAttributeIsSplat(constant);
  bool isScalar = !isSplat && !mlirAttributeIsNull(constant) &&
                  (mlirAttributeIsAInteger(constant) || mlirAttributeIsAFloat(constant));
  if (!isSplat && !isScalar)
    return false;
  MlirAttribute element = isSplat ? mlirDenseElementsAttrGetSplatValue(constant) : constant;
  if (mlirTypeIsARankedTensor(type))
    element = mlirDenseElementsAttrSplatGet(type, element);
  else if (!tileTypeIsAScalar(type))
    return false;
  mlirExtFoldResultsAddAttribute(results, element);
  return true;
}

void tileSetArray(MlirOperation op, const char *name, intptr_t count, const int64_t *values) {
  MlirAttribute array = mlirDenseI64ArrayGet(mlirOperationGetContext(op), count, values);
  mlirOperationSetInherentAttributeByName(op, tileString(name), array);
}

static bool isIdentity(MlirOperation op) { return mlirTypeEqual(tileFirstOperandType(op), tileOnlyResultType(op)); }

// The op that makes what this one transforms, if it is of that kind.
static MlirOperation unaryBefore(MlirOperation op, bool (*isA)(MlirOperation op)) {
  MlirOperation before = tileDefiningOp(tileFirstOperand(op));
  return isA(before) ? before : (MlirOperation){0};
}

// x -> op -> op' becomes x -> op'.
static bool takeOperandOf(MlirOperation op, MlirOperation before) {
  tileSetFirstOperand(op, tileFirstOperand(before));
  return true;
}

//===--- broadcast ----------------------------------------------------------===//

// The axes of the inner broadcast seen in the outer one's result, and the outer one's own.
static bool mergeBroadcasts(MlirOperation op, MlirOperation before) {
  intptr_t rank = tileTypeGetRank(tileBroadcastOpGetResultType(op)), count = 0, inner = 0;
  bool fromScalar = tileTypeIsAScalar(tileBroadcastOpGetInputType(before));
  int64_t *axes = malloc(sizeof *axes * (size_t)(rank + 1));
  for (intptr_t axis = 0; axis < rank; ++axis) {
    bool isNew = tileArrayContains(op, "axes", axis);
    if (isNew || tileArrayContains(before, "axes", inner))
      axes[count++] = axis;
    inner += !isNew;
  }
  tileSetArray(op, "axes", fromScalar ? 0 : count, axes);
  free(axes);
  return takeOperandOf(op, before);
}

bool tileBroadcastOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = unaryBefore(op, tileBroadcastOpIsA);
  if (isIdentity(op))
    return tileFoldToValue(results, tileBroadcastOpGetInput(op));
  if (tileFoldToSplat(results, tileBroadcastOpGetResultType(op), operands[0]))
    return true;
  return !mlirOperationIsNull(before) && mergeBroadcasts(op, before);
}

//===--- reshape, transpose, bitcast, convert_layout ------------------------===//

// Constants are row-major, as reshape is.
static bool reshapeConstant(MlirOperation op, MlirAttribute constant, MlirExtFoldResults results) {
  MlirType type = tileReshapeOpGetResultType(op);
  if (tileFoldToSplat(results, type, constant))
    return true;
  bool isDense = !mlirAttributeIsNull(constant) && mlirAttributeIsADenseElements(constant);
  if (!isDense || !mlirTypeIsARankedTensor(type))
    return false;
  mlirExtFoldResultsAddAttribute(results, mlirDenseElementsAttrReshapeGet(constant, type));
  return true;
}

bool tileReshapeOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = unaryBefore(op, tileReshapeOpIsA);
  if (isIdentity(op))
    return tileFoldToValue(results, tileReshapeOpGetInput(op));
  if (reshapeConstant(op, operands[0], results))
    return true;
  return !mlirOperationIsNull(before) && takeOperandOf(op, before);
}

static bool isIdentityPermutation(MlirOperation op) {
  for (intptr_t i = 0, count = tileArrayCount(op, "permutation"); i < count; ++i)
    if (tileArrayAt(op, "permutation", i) != i)
      return false;
  return true;
}

// Axis i of the result is axis outer[i] of the middle, which is axis inner[outer[i]] of the source.
static bool mergeTransposes(MlirOperation op, MlirOperation before) {
  intptr_t rank = tileArrayCount(op, "permutation");
  int64_t *permutation = malloc(sizeof *permutation * (size_t)(rank + 1));
  for (intptr_t i = 0; i < rank; ++i)
    permutation[i] = tileArrayAt(before, "permutation", tileArrayAt(op, "permutation", i));
  tileSetArray(op, "permutation", rank, permutation);
  free(permutation);
  return takeOperandOf(op, before);
}

bool tileTransposeOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = unaryBefore(op, tileTransposeOpIsA);
  if (isIdentityPermutation(op) && isIdentity(op))
    return tileFoldToValue(results, tileTransposeOpGetInput(op));
  if (tileFoldToSplat(results, tileTransposeOpGetResultType(op), operands[0]))
    return true;
  return !mlirOperationIsNull(before) && mergeTransposes(op, before);
}

// A cast back to where it came from; another width goes there directly, the same width is arith's.
bool tileBitcastOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = unaryBefore(op, tileBitcastOpIsA);
  if (mlirOperationIsNull(before))
    return false;
  MlirType source = tileBitcastOpGetInputType(before), result = tileBitcastOpGetResultType(op);
  if (mlirTypeEqual(source, result))
    return tileFoldToValue(results, tileBitcastOpGetInput(before));
  return tileElementWidth(tileTypeGetElement(source)) != tileElementWidth(tileTypeGetElement(result)) &&
         takeOperandOf(op, before);
}

bool tileConvertLayoutOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands,
                             MlirExtFoldResults results) {
  MlirOperation before = unaryBefore(op, tileConvertLayoutOpIsA);
  if (isIdentity(op))
    return tileFoldToValue(results, tileConvertLayoutOpGetInput(op));
  if (tileFoldToSplat(results, tileConvertLayoutOpGetResultType(op), operands[0]))
    return true;
  return !mlirOperationIsNull(before) && takeOperandOf(op, before);
}

//===--- slice --------------------------------------------------------------===//

static bool hasStaticOffsets(MlirOperation op) {
  intptr_t begin, count;
  tileOpOperands(op, "offsets", &begin, &count);
  return count == 0;
}

static int64_t offsetAt(MlirOperation op, intptr_t axis) { return tileArrayAt(op, "static_offsets", axis); }

static bool mergeSlices(MlirOperation op, MlirOperation before) {
  if (!hasStaticOffsets(op) || !hasStaticOffsets(before))
    return false;
  intptr_t rank = tileArrayCount(op, "static_offsets");
  int64_t *offsets = malloc(sizeof *offsets * (size_t)(rank + 1));
  for (intptr_t i = 0; i < rank; ++i)
    offsets[i] = offsetAt(op, i) + offsetAt(before, i);
  tileSetArray(op, "static_offsets", rank, offsets);
  free(offsets);
  return takeOperandOf(op, before);
}

// Both ops have equal offsets, static and dynamic.
static bool hasSameOffsets(MlirOperation a, MlirOperation b) {
  intptr_t firstA, countA, firstB, countB;
  tileOpOperands(a, "offsets", &firstA, &countA);
  tileOpOperands(b, "offsets", &firstB, &countB);
  bool isSame = countA == countB &&
                mlirAttributeEqual(tileOpAttribute(a, "static_offsets"), tileOpAttribute(b, "static_offsets"));
  for (intptr_t i = 0; isSame && i < countA; ++i)
    isSame = mlirValueEqual(mlirOperationGetOperand(a, firstA + i), mlirOperationGetOperand(b, firstB + i));
  return isSame;
}

// What was inserted just there.
static bool sliceOfInsert(MlirOperation op, MlirOperation before, MlirExtFoldResults results) {
  return mlirTypeEqual(tileInsertOpGetInputType(before), tileSliceOpGetResultType(op)) && hasSameOffsets(op, before) &&
         tileFoldToValue(results, tileInsertOpGetInput(before));
}

// A slice within one piece is a slice of that piece, or the piece itself.
static bool sliceOfCat(MlirOperation op, MlirOperation cat, MlirExtFoldResults results) {
  int64_t axis = 0, begin = 0;
  tileIntegerOf(cat, "axis", &axis);
  int64_t offset = offsetAt(op, axis), size = tileTypeGetSize(tileSliceOpGetResultType(op), axis);
  if (!hasStaticOffsets(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(cat); ++i) {
    int64_t length = tileTypeGetSize(tileOperandType(cat, i), axis);
    if (offset < begin || offset + size > begin + length) {
      begin += length;
      continue;
    }
    if (mlirTypeEqual(tileOperandType(cat, i), tileSliceOpGetResultType(op)))
      return tileFoldToValue(results, mlirOperationGetOperand(cat, i));
    intptr_t rank = tileArrayCount(op, "static_offsets");
    int64_t *offsets = malloc(sizeof *offsets * (size_t)rank);
    for (intptr_t j = 0; j < rank; ++j)
      offsets[j] = offsetAt(op, j) - (j == axis ? begin : 0);
    tileSetArray(op, "static_offsets", rank, offsets);
    free(offsets);
    tileSliceOpSetInput(op, tileCatOpGetInputs(cat, i));
    return true;
  }
  return false;
}

// A slice as large as its source begins at 0: any other offset is undefined.
bool tileSliceOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirOperation before = tileDefiningOp(tileSliceOpGetInput(op));
  if (isIdentity(op))
    return tileFoldToValue(results, tileSliceOpGetInput(op));
  if (tileFoldToSplat(results, tileSliceOpGetResultType(op), operands[0]))
    return true;
  if (tileSliceOpIsA(before))
    return mergeSlices(op, before);
  if (tileInsertOpIsA(before))
    return sliceOfInsert(op, before, results);
  return tileCatOpIsA(before) && sliceOfCat(op, before, results);
}

//===--- insert -------------------------------------------------------------===//

// All of the destination is overwritten, or a part goes back to where it was taken from.
bool tileInsertOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  MlirValue part = tileInsertOpGetInput(op), destination = tileInsertOpGetDestination(op);
  MlirOperation slice = tileDefiningOp(part);
  if (mlirTypeEqual(mlirValueGetType(part), tileInsertOpGetResultType(op)))
    return tileFoldToValue(results, part);
  bool isBack =
      tileSliceOpIsA(slice) && mlirValueEqual(tileSliceOpGetInput(slice), destination) && hasSameOffsets(op, slice);
  return isBack && tileFoldToValue(results, destination);
}

//===--- cat ----------------------------------------------------------------===//

// Piece `index` is the slice of `source` that begins at `begin` along the axis and at 0 elsewhere.
static bool isSliceAt(MlirOperation cat, intptr_t index, MlirValue source, int64_t axis, int64_t begin) {
  MlirOperation slice = tileDefiningOp(mlirOperationGetOperand(cat, index));
  if (!tileSliceOpIsA(slice) || !hasStaticOffsets(slice) || !mlirValueEqual(tileSliceOpGetInput(slice), source))
    return false;
  for (intptr_t i = 0, rank = tileArrayCount(slice, "static_offsets"); i < rank; ++i)
    if (offsetAt(slice, i) != (i == axis ? begin : 0))
      return false;
  return true;
}

// Slices that follow one another and make up their source again.
static bool catOfSlices(MlirOperation op, MlirExtFoldResults results) {
  MlirOperation first = tileDefiningOp(tileCatOpGetInputs(op, 0));
  int64_t axis = 0, begin = 0;
  tileIntegerOf(op, "axis", &axis);
  if (!tileSliceOpIsA(first) || !mlirTypeEqual(tileSliceOpGetInputType(first), tileCatOpGetResultType(op)))
    return false;
  MlirValue source = tileSliceOpGetInput(first);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!isSliceAt(op, i, source, axis, begin))
      return false;
    begin += tileTypeGetSize(tileOperandType(op, i), axis);
  }
  return tileFoldToValue(results, source);
}

// Pieces that are all the same constant.
static bool catOfSplats(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  for (intptr_t i = 0; i < count; ++i)
    if (!tileAttributeIsSplat(operands[i]) || !mlirAttributeEqual(mlirDenseElementsAttrGetSplatValue(operands[i]),
                                                                  mlirDenseElementsAttrGetSplatValue(operands[0])))
      return false;
  return tileFoldToSplat(results, tileCatOpGetResultType(op), operands[0]);
}

bool tileCatOpFold(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  if (count == 1 && isIdentity(op))
    return tileFoldToValue(results, tileCatOpGetInputs(op, 0));
  return catOfSlices(op, results) || catOfSplats(op, count, operands, results);
}

//===--- patterns -------------------------------------------------------------===//

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
  if (!tileLoadOpIsA(load) || !tileHasOneUse(tileLoadOpGetResult(load)))
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
  if (!tileSortOpIsA(sort) || mlirOperationGetNumResults(sort) != 1 || !tileHasOneUse(sorted) ||
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
