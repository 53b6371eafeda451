// Sets of axes: found by union, cut together, ops rebuilt in the order of the text. See axes.h.
#include "lib/transforms/sparsify/axes.h"

#include "dialects/tile/discardable.h"
#include "lib/analysis/sparsity/attribute.h"
#include "lib/capi/elements.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/support/grow.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

enum { MaxRank = SparseMaxFactRank };

// One axis of one value. `parent` leads to the set's first axis, which holds what is known of the set.
typedef struct Axis {
  intptr_t parent;
  int64_t size;
  bool isFixed; // stays whole
  bool hasSum;  // some sum runs along it
  bool *skips;  // of each index: every sum does without it; null: not asked
  int64_t kept; // how many indices stay
} Axis;

struct SparseAxes {
  SparseProgram *program;
  TileOps ops;
  TileTable first; // value → 1 + number of its first axis
  Axis *axes;
  intptr_t count;
};

//===--- sets -----------------------------------------------------------------===//

static intptr_t rankOf(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  intptr_t rank = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetRank(type) : 0;
  return rank <= MaxRank ? rank : 0;
}

// The number of the value's axis; the value must have a rank of at most MaxRank.
static intptr_t axisOf(SparseAxes *axes, MlirValue value, intptr_t axis) {
  intptr_t first = (intptr_t)tileTableFind(&axes->first, value.ptr);
  if (first)
    return first - 1 + axis;
  intptr_t rank = rankOf(value);
  tileTableSet(&axes->first, value.ptr, (void *)(axes->count + 1));
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(value), i);
    bool isDynamic = mlirShapedTypeIsDynamicSize(size) || size > SparseMaxIndices;
    axes->axes = tessera_grow(axes->axes, axes->count, sizeof *axes->axes);
    axes->axes[axes->count] =
        (Axis){.parent = axes->count, .size = isDynamic ? -1 : size, .isFixed = isDynamic, .kept = size};
    ++axes->count;
  }
  return axes->count - rank + axis;
}

static intptr_t rootOf(SparseAxes *axes, intptr_t axis) {
  while (axes->axes[axis].parent != axis)
    axis = axes->axes[axis].parent = axes->axes[axes->axes[axis].parent].parent;
  return axis;
}

static Axis *setOf(SparseAxes *axes, MlirValue value, intptr_t axis) {
  intptr_t number = axisOf(axes, value, axis); // the list may move
  return &axes->axes[rootOf(axes, number)];
}

static void unite(SparseAxes *axes, MlirValue a, intptr_t i, MlirValue b, intptr_t j) {
  intptr_t x = axisOf(axes, a, i), y = axisOf(axes, b, j); // the list may move
  x = rootOf(axes, x), y = rootOf(axes, y);
  if (x == y)
    return;
  axes->axes[x].isFixed |= axes->axes[y].isFixed || axes->axes[x].size != axes->axes[y].size;
  axes->axes[y].parent = x;
}

static void fix(SparseAxes *axes, MlirValue value, intptr_t axis) { setOf(axes, value, axis)->isFixed = true; }

static void fixAll(SparseAxes *axes, MlirValue value) {
  for (intptr_t axis = 0; axis < rankOf(value); ++axis)
    fix(axes, value, axis);
}

//===--- axes that belong together --------------------------------------------===//

static bool usesPosition(const SparseLoops *loops, intptr_t dim) {
  for (MlirOperation op = mlirBlockGetFirstOperation(loops->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (linalgIndexOpIsA(op) && mlirIntegerAttrGetValueInt(linalgIndexOpGetDim(op)) == dim)
      return true;
  return false;
}

// A loop that indexes an axis in a sum with others, or whose number the body asks for, runs over all of its indices.
static bool isWhole(const SparseLoops *loops, intptr_t dim) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(loops->op);
  bool whole = usesPosition(loops, dim);
  for (intptr_t i = 0; i < loops->numOperands; ++i) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (intptr_t axis = 0; axis < mlirAffineMapGetNumResults(map); ++axis) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, axis);
      whole |= !mlirAffineExprIsADim(expr) && mlirAffineExprIsFunctionOfDim(expr, dim);
    }
  }
  return whole;
}

static void joinLoops(SparseAxes *axes, const SparseLoops *loops) {
  for (intptr_t dim = 0; dim < loops->numDims; ++dim) {
    MlirValue one = {NULL};
    intptr_t at = 0;
    for (intptr_t i = 0; i < loops->numOperands; ++i)
      for (intptr_t axis = 0; axis < loops->operands[i].rank && loops->operands[i].isTensor; ++axis) {
        if (loops->operands[i].dims[axis] != dim)
          continue;
        if (mlirValueIsNull(one))
          one = loops->operands[i].value, at = axis;
        unite(axes, one, at, loops->operands[i].value, axis);
        if (i >= loops->numInputs)
          unite(axes, one, at, mlirOperationGetResult(loops->op, i - loops->numInputs), axis);
      }
    if (isWhole(loops, dim))
      fix(axes, one, at);
  }
  for (intptr_t i = 0; i < loops->numOperands; ++i)
    for (intptr_t axis = 0; axis < loops->operands[i].rank && loops->operands[i].isTensor; ++axis)
      if (loops->operands[i].dims[axis] < 0)
        fix(axes, loops->operands[i].value, axis);
}

static void joinOrFix(SparseAxes *axes, bool joins, MlirValue a, intptr_t i, MlirValue b, intptr_t j) {
  if (joins) {
    unite(axes, a, i, b, j);
  } else {
    fix(axes, a, i);
    fix(axes, b, j);
  }
}

static bool isStatic(MlirAttribute array, intptr_t index, int64_t value) {
  return mlirDenseI64ArrayGetElement(array, index) == value;
}

static bool joinPad(SparseAxes *axes, MlirOperation op) {
  MlirValue source = tensorPadOpGetSource(op), result = tileOnlyResult(op);
  for (intptr_t axis = 0; axis < rankOf(result); ++axis)
    joinOrFix(axes, isStatic(tensorPadOpGetStaticLow(op), axis, 0) && isStatic(tensorPadOpGetStaticHigh(op), axis, 0),
              source, axis, result, axis);
  return rankOf(result) > 0;
}

static bool joinSlice(SparseAxes *axes, MlirOperation op) {
  MlirValue source = tensorExtractSliceOpGetSource(op), result = tileOnlyResult(op);
  intptr_t rank = rankOf(source);
  if (rank == 0 || rank != rankOf(result))
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis)
    joinOrFix(axes,
              isStatic(tensorExtractSliceOpGetStaticOffsets(op), axis, 0) &&
                  isStatic(tensorExtractSliceOpGetStaticSizes(op), axis,
                           mlirShapedTypeGetDimSize(mlirValueGetType(source), axis)),
              source, axis, result, axis);
  return true;
}

static bool joinReshape(SparseAxes *axes, MlirOperation op) {
  bool isExpand = tensorExpandShapeOpIsA(op);
  MlirValue source = tileFirstOperand(op), result = tileOnlyResult(op);
  MlirValue fine = isExpand ? result : source, coarse = isExpand ? source : result;
  MlirAttribute groups = isExpand ? tensorExpandShapeOpGetReassociation(op) : tensorCollapseShapeOpGetReassociation(op);
  if (rankOf(fine) == 0 || rankOf(coarse) == 0)
    return false;
  for (intptr_t g = 0; g < mlirArrayAttrGetNumElements(groups); ++g) {
    MlirAttribute group = mlirArrayAttrGetElement(groups, g);
    bool isOne = mlirArrayAttrGetNumElements(group) == 1;
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(group); ++i)
      joinOrFix(axes, isOne, coarse, g, fine, mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, i)));
  }
  return true;
}

static bool joinConcat(SparseAxes *axes, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  int64_t dim = mlirIntegerAttrGetValueInt(tensorConcatOpGetDim(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    for (intptr_t axis = 0; axis < rankOf(result); ++axis)
      joinOrFix(axes, axis != dim, mlirOperationGetOperand(op, i), axis, result, axis);
  return rankOf(result) > 0;
}

static bool isScheduled(MlirOperation op) {
  return !mlirAttributeIsNull(tileOpGetSchedule(op)) || !mlirAttributeIsNull(tileOpGetExtents(op));
}

static bool isReadable(MlirAttribute constant) {
  size_t size;
  return (mlirAttributeIsADenseElements(constant) && mlirDenseElementsAttrIsSplat(constant)) ||
         mlirExtElementsGetBytes(constant, &size);
}

// Unites axes that the op handles index by index. False: the op has no rule, and all of its tensors stay as they are.
static bool join(SparseAxes *axes, MlirOperation op) {
  SparseLoops loops;
  if (isScheduled(op))
    return false;
  if (arithConstantOpIsA(op))
    return isReadable(arithConstantOpGetValue(op));
  if (tensorEmptyOpIsA(op))
    return true;
  if (tensorPadOpIsA(op))
    return joinPad(axes, op);
  if (tensorExtractSliceOpIsA(op))
    return joinSlice(axes, op);
  if (tensorExpandShapeOpIsA(op) || tensorCollapseShapeOpIsA(op))
    return joinReshape(axes, op);
  if (tensorConcatOpIsA(op))
    return joinConcat(axes, op);
  if (!sparseLoopsRead(op, &loops))
    return false;
  joinLoops(axes, &loops);
  return true;
}

static void fixArguments(SparseAxes *axes, MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); ++r)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(block);
         block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
        fixAll(axes, mlirBlockGetArgument(block, i));
}

static MlirWalkResult collect(MlirOperation op, void *data) {
  tileOpsAppend(data, op);
  return MlirWalkResultAdvance;
}

SparseAxes *sparseAxesCreate(SparseProgram *program, MlirOperation module) {
  SparseAxes *axes = calloc(1, sizeof *axes);
  axes->program = program;
  mlirOperationWalk(module, collect, &axes->ops, MlirWalkPreOrder);
  for (intptr_t i = 0; i < axes->ops.count; ++i) {
    MlirOperation op = axes->ops.items[i];
    fixArguments(axes, op);
    if (join(axes, op) || tensorDimOpIsA(op))
      continue;
    for (intptr_t j = 0; j < mlirOperationGetNumOperands(op); ++j)
      fixAll(axes, mlirOperationGetOperand(op, j));
    for (intptr_t j = 0; j < mlirOperationGetNumResults(op); ++j)
      fixAll(axes, mlirOperationGetResult(op, j));
  }
  return axes;
}

void sparseAxesDestroy(SparseAxes *axes) {
  for (intptr_t i = 0; i < axes->count; ++i)
    free(axes->axes[i].skips);
  free(axes->axes);
  tileTableFree(&axes->first);
  tileOpsFree(&axes->ops);
  free(axes);
}

//===--- which indices go -----------------------------------------------------===//

static void askLoops(SparseAxes *axes, const SparseLoops *loops) {
  for (intptr_t dim = 0; dim < loops->numDims; ++dim) {
    Axis *set = NULL;
    for (intptr_t i = 0; i < loops->numOperands; ++i)
      for (intptr_t axis = 0; axis < loops->operands[i].rank && loops->operands[i].isTensor; ++axis)
        if (loops->operands[i].dims[axis] == dim)
          set = setOf(axes, loops->operands[i].value, axis);
    if (!set || set->isFixed || set->size <= 1 || !loops->isReduction[dim])
      continue;
    if (!set->skips) {
      set->skips = malloc((size_t)set->size * sizeof *set->skips);
      memset(set->skips, true, (size_t)set->size);
    }
    set->hasSum = true;
    sparseProgramSkips(axes->program, loops, dim, set->skips);
  }
}

// Keeps at least one index, and of many a multiple of 16: the last ones of those that could go stay.
static void keepRound(Axis *set) {
  int64_t kept = 0, most = set->size >= 32 ? 16 : 1;
  for (int64_t i = 0; i < set->size; ++i)
    kept += !set->skips[i];
  int64_t wanted = kept ? (kept + most - 1) / most * most : most;
  wanted = wanted < set->size ? wanted : set->size;
  for (int64_t i = set->size - 1; i >= 0 && kept < wanted; --i) {
    kept += set->skips[i];
    set->skips[i] = false;
  }
  set->kept = kept;
}

uint64_t sparseAxesChoose(SparseAxes *axes) {
  SparseLoops loops;
  uint64_t cut = 0;
  for (intptr_t i = 0; i < axes->ops.count; ++i)
    if (!isScheduled(axes->ops.items[i]) && sparseLoopsRead(axes->ops.items[i], &loops))
      askLoops(axes, &loops);
  for (intptr_t i = 0; i < axes->count; ++i) {
    Axis *set = &axes->axes[i];
    if (set->parent != i || !set->hasSum)
      continue;
    keepRound(set);
    cut += (uint64_t)(set->size - set->kept);
  }
  return cut;
}

uint64_t sparseAxesNumCut(const SparseAxes *axes) {
  uint64_t count = 0;
  for (intptr_t i = 0; i < axes->count; ++i)
    count += axes->axes[i].parent == i && axes->axes[i].hasSum && axes->axes[i].kept < axes->axes[i].size;
  return count;
}

//===--- rebuilding -----------------------------------------------------------===//

static bool isCut(SparseAxes *axes, MlirValue value) {
  for (intptr_t axis = 0; axis < rankOf(value); ++axis) {
    const Axis *set = setOf(axes, value, axis);
    if (set->hasSum && set->kept < set->size)
      return true;
  }
  return false;
}

static MlirType cutType(SparseAxes *axes, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  int64_t sizes[MaxRank];
  for (intptr_t axis = 0; axis < rankOf(value); ++axis) {
    const Axis *set = setOf(axes, value, axis);
    sizes[axis] = set->hasSum ? set->kept : mlirShapedTypeGetDimSize(type, axis);
  }
  return mlirRankedTensorTypeGet(rankOf(value), sizes, mlirShapedTypeGetElementType(type),
                                 mlirRankedTensorTypeGetEncoding(type));
}

// Copies the elements that stay, in order.
static void copyKept(SparseAxes *axes, MlirValue value, const unsigned char *from, unsigned char *to, size_t width) {
  MlirType type = mlirValueGetType(value);
  int64_t index[MaxRank] = {0}, count = 1;
  intptr_t rank = rankOf(value);
  const Axis *sets[MaxRank];
  for (intptr_t axis = 0; axis < rank; ++axis) {
    sets[axis] = setOf(axes, value, axis);
    count *= mlirShapedTypeGetDimSize(type, axis);
  }
  for (int64_t i = 0; i < count; ++i) {
    bool stays = true;
    for (intptr_t axis = 0; axis < rank && stays; ++axis)
      stays = !sets[axis]->hasSum || !sets[axis]->skips[index[axis]];
    if (stays) {
      memcpy(to, from + (size_t)i * width, width);
      to += width;
    }
    for (intptr_t axis = rank - 1; axis >= 0 && ++index[axis] == mlirShapedTypeGetDimSize(type, axis); --axis)
      index[axis] = 0;
  }
}

// The constant without what is cut; null if its elements cannot be read.
static MlirAttribute cutConstant(SparseAxes *axes, MlirValue value, MlirAttribute attribute, MlirType type) {
  size_t size = 0, width = tileElementWidth(mlirShapedTypeGetElementType(type)) / 8;
  if (mlirAttributeIsADenseElements(attribute) && mlirDenseElementsAttrIsSplat(attribute))
    return mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(attribute));
  const unsigned char *bytes = mlirExtElementsGetBytes(attribute, &size);
  int64_t count = 1;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    count *= mlirShapedTypeGetDimSize(type, axis);
  unsigned char *kept = bytes ? malloc((size_t)count * width + 1) : NULL;
  if (!kept)
    return mlirAttributeGetNull();
  copyKept(axes, value, bytes, kept, width);
  MlirAttribute cut = mlirDenseElementsAttrRawBufferGet(type, (size_t)count * width, kept);
  free(kept);
  return cut;
}

// An array of sizes, those of the new type where the old type's size stood.
static MlirAttribute sizesOf(MlirType type) {
  int64_t sizes[MaxRank];
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    sizes[axis] = mlirShapedTypeGetDimSize(type, axis);
  return mlirDenseI64ArrayGet(mlirTypeGetContext(type), mlirShapedTypeGetRank(type), sizes);
}

static bool rebuild(SparseAxes *axes, MlirOperation op, TileTable *cut) {
  MlirValue operands[SparseMaxLoopOperands], results[SparseMaxLoopOperands];
  MlirType types[SparseMaxLoopOperands];
  intptr_t numOperands = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  TileBuilder builder = tileBuilderBefore(op);
  for (intptr_t i = 0; i < numOperands; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    void *smaller = tileTableFind(cut, operand.ptr);
    operands[i] = smaller ? (MlirValue){smaller} : operand;
  }
  for (intptr_t i = 0; i < numResults; ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    types[i] = isCut(axes, result) ? cutType(axes, result) : mlirValueGetType(result);
  }
  if (arithConstantOpIsA(op)) {
    MlirAttribute value = cutConstant(axes, tileOnlyResult(op), arithConstantOpGetValue(op), types[0]);
    if (mlirAttributeIsNull(value))
      return tileError(op, "is a constant whose elements cannot be read");
    results[0] = tileBuildConstant(&builder, value);
  } else {
    MlirOperation smaller = tileBuildLike(&builder, op, operands, numResults, types);
    if (tensorExtractSliceOpIsA(smaller))
      mlirOperationSetInherentAttributeByName(smaller, tileString("static_sizes"), sizesOf(types[0]));
    if (tensorExpandShapeOpIsA(smaller))
      mlirOperationSetInherentAttributeByName(smaller, tileString("static_output_shape"), sizesOf(types[0]));
    for (intptr_t i = 0; i < numResults; ++i)
      results[i] = mlirOperationGetResult(smaller, i);
  }
  for (intptr_t i = 0; i < numResults; ++i) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (isCut(axes, result))
      tileTableSet(cut, result.ptr, (void *)results[i].ptr);
    else
      mlirValueReplaceAllUsesOfWith(result, results[i]);
  }
  return true;
}

static bool concernsCut(SparseAxes *axes, MlirOperation op) {
  bool concerns = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    concerns |= isCut(axes, mlirOperationGetOperand(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    concerns |= isCut(axes, mlirOperationGetResult(op, i));
  return concerns;
}

// tensor.dim of what is cut asks for the old size.
static void foldDim(MlirOperation op) {
  int64_t axis;
  MlirType type = mlirValueGetType(tensorDimOpGetSource(op));
  if (!tileConstantIndex(tensorDimOpGetIndex(op), &axis) || axis < 0 || axis >= mlirShapedTypeGetRank(type) ||
      mlirShapedTypeIsDynamicDim(type, axis))
    return;
  TileBuilder builder = tileBuilderBefore(op);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileBuildIndex(&builder, mlirShapedTypeGetDimSize(type, axis)));
}

bool sparseAxesRewrite(SparseAxes *axes) {
  TileTable cut = {0};
  TileOps gone = {NULL};
  bool ok = true;
  for (intptr_t i = 0; i < axes->ops.count && ok; ++i) {
    MlirOperation op = axes->ops.items[i];
    if (!concernsCut(axes, op))
      continue;
    if (tensorDimOpIsA(op))
      foldDim(op);
    else
      ok = rebuild(axes, op, &cut);
    tileOpsAppend(&gone, op);
  }
  for (intptr_t i = gone.count - 1; ok && i >= 0; --i)
    mlirOperationDestroy(gone.items[i]);
  tileOpsFree(&gone);
  tileTableFree(&cut);
  return ok;
}

//===--- nothing to do --------------------------------------------------------===//

static MlirWalkResult lookForZeros(MlirOperation op, void *data) {
  bool *found = data;
  if (!mlirAttributeIsNull(tileOpAttribute(op, sparseAttributeName)))
    *found = true;
  if (!arithConstantOpIsA(op) || !mlirTypeIsARankedTensor(tileOnlyResultType(op)))
    return *found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
  MlirAttribute value = arithConstantOpGetValue(op);
  bool isSplat = mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
  SparseCells *cells = isSplat ? NULL : sparseCellsOfConstant(value);
  *found |= cells && sparseCellsCount(cells) > 1;
  sparseCellsDestroy(cells);
  return *found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

bool sparseModuleMaySkip(MlirOperation module) {
  bool found = false;
  mlirOperationWalk(module, lookForZeros, &found, MlirWalkPreOrder);
  return found;
}
