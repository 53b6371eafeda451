// Facts through ops that move elements: slices, padding, reshapes, concatenation, casts, and the storage of sparse
// tensors. See module_facts.h. Two ways of moving cover them all: a window of a larger tensor, and a reshape.
//
// A window at an offset known only at run time is no window: every element of an axis may be in it.
#include "lib/analysis/sparsity/module_facts.h"

#include "dialects/sparse/ops.h"
#include "lib/analysis/sparsity/body_facts.h"
#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "upstream/tensor.h"

#include <stdlib.h>

enum { MaxExpanded = 1 << 22 };

//===--- windows --------------------------------------------------------------===//

// Element i of the part is element offset + i * stride of the whole, axis by axis of the whole.
typedef struct Window {
  intptr_t rank;                      // of the whole
  int64_t offsets[SparseMaxFactRank]; // -1: unknown
  int64_t strides[SparseMaxFactRank];
  int64_t sizes[SparseMaxFactRank]; // of the part; -1: unknown
  intptr_t axes[SparseMaxFactRank]; // the part's axis; -1: it has none here, where its size is 1
} Window;

static bool isKnown(const Window *window, intptr_t axis) {
  return window->offsets[axis] >= 0 && window->strides[axis] > 0 && window->sizes[axis] >= 0;
}

// The window is axis for axis the whole.
static Window wholeOf(const SparseCells *whole) {
  Window window = {.rank = whole->rank};
  for (intptr_t axis = 0; axis < whole->rank; ++axis) {
    window.strides[axis] = 1;
    window.sizes[axis] = whole->sizes[axis];
    window.axes[axis] = axis;
  }
  return window;
}

typedef struct Moved {
  const Window *window;
  const SparseCells *whole, *part;
} Moved;

static uint8_t partAt(const int64_t *index, void *data) {
  const Moved *moved = data;
  int64_t at[SparseMaxFactRank];
  for (intptr_t axis = 0; axis < moved->window->rank; ++axis) {
    int64_t i = moved->window->axes[axis] >= 0 ? index[moved->window->axes[axis]] : 0;
    at[axis] = isKnown(moved->window, axis) ? moved->window->offsets[axis] + i * moved->window->strides[axis] : 0;
  }
  return sparseCellsAt(moved->whole, at);
}

// The part's facts, from those of the whole. `type`: the part's.
static SparseCells *takeWindow(const SparseCells *from, const Window *window, MlirType type) {
  SparseCells *part = sparseCellsCreate(type, 0), *whole = sparseCellsCopy(from);
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    intptr_t to = window->axes[axis];
    bool known = isKnown(window, axis) && (to < 0 || part->sizes[to] == window->sizes[axis]);
    if (!known)
      sparseCellsMerge(whole, axis);
    if (!known || to < 0 || !whole->classOf[axis] || part->sizes[to] <= 0)
      continue;
    int32_t *classOf = malloc((size_t)part->sizes[to] * sizeof *classOf);
    for (int64_t i = 0; i < part->sizes[to]; ++i)
      classOf[i] = whole->classOf[axis][window->offsets[axis] + i * window->strides[axis]];
    sparseCellsSplit(part, to, classOf);
    free(classOf);
  }
  sparseCellsFill(part, partAt, &(Moved){.window = window, .whole = whole});
  sparseCellsDestroy(whole);
  sparseCellsCompress(part, SparseMaxCells);
  return part;
}

static bool isPlaced(const Moved *moved, intptr_t axis) {
  intptr_t from = moved->window->axes[axis];
  return isKnown(moved->window, axis) && moved->whole->sizes[axis] >= 0 &&
         (from < 0 || moved->part->sizes[from] == moved->window->sizes[axis]);
}

static uint8_t placedAt(const int64_t *index, void *data) {
  const Moved *moved = data;
  const Window *window = moved->window;
  int64_t at[SparseMaxFactRank] = {0};
  uint8_t around = sparseCellsAt(moved->whole, index);
  bool isSure = true;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    if (!isPlaced(moved, axis)) {
      isSure = false;
      continue;
    }
    int64_t away = index[axis] - window->offsets[axis], i = away / window->strides[axis];
    if (away < 0 || away % window->strides[axis] || i >= window->sizes[axis])
      return around;
    if (window->axes[axis] >= 0)
      at[window->axes[axis]] = i;
  }
  return sparseCellsAt(moved->part, at) | (isSure ? 0 : around);
}

// The facts of `around` with those of the part at the window. Along an axis where the window is not known, the part may
// be anywhere.
static SparseCells *placeWindow(const SparseCells *around, const SparseCells *from, const Window *window) {
  SparseCells *whole = sparseCellsCopy(around), *part = sparseCellsCopy(from);
  Moved moved = {window, around, part};
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    int64_t size = whole->sizes[axis];
    intptr_t to = window->axes[axis];
    if (!isPlaced(&moved, axis)) {
      if (to >= 0)
        sparseCellsMerge(part, to);
      continue;
    }
    int32_t *classOf = calloc((size_t)size + 1, sizeof *classOf); // 0: outside
    for (int64_t i = 0; i < window->sizes[axis]; ++i) {
      int64_t at = window->offsets[axis] + i * window->strides[axis];
      if (at < size)
        classOf[at] = 1 + (to >= 0 && part->classOf[to] ? part->classOf[to][i] : 0);
    }
    sparseCellsSplit(whole, axis, classOf);
    free(classOf);
  }
  sparseCellsFill(whole, placedAt, &moved);
  sparseCellsDestroy(part);
  sparseCellsCompress(whole, SparseMaxCells);
  return whole;
}

//===--- windows of ops -------------------------------------------------------===//

static int64_t staticAt(MlirAttribute array, intptr_t index) {
  int64_t value = mlirDenseI64ArrayGetElement(array, index);
  return value < 0 ? -1 : value;
}

// The window of extract_slice and insert_slice. The part's type may leave out axes of size 1.
static bool readSlice(MlirAttribute offsets, MlirAttribute sizes, MlirAttribute strides, MlirType part,
                      Window *window) {
  intptr_t next = 0, rank = mlirShapedTypeGetRank(part);
  *window = (Window){.rank = mlirDenseArrayGetNumElements(offsets)};
  if (window->rank > SparseMaxFactRank)
    return false;
  intptr_t dropped = window->rank - rank;
  for (intptr_t axis = 0; axis < window->rank; ++axis) {
    window->offsets[axis] = staticAt(offsets, axis);
    window->sizes[axis] = staticAt(sizes, axis);
    window->strides[axis] = staticAt(strides, axis);
    bool isDropped = dropped && window->sizes[axis] == 1 &&
                     (next == rank || mlirShapedTypeGetDimSize(part, next) != 1 || axis - next < dropped);
    window->axes[axis] = isDropped ? -1 : next++;
    dropped -= isDropped;
  }
  return next == rank;
}

static bool readPad(MlirOperation op, const SparseCells *whole, const SparseCells *part, Window *window) {
  *window = wholeOf(whole);
  for (intptr_t axis = 0; axis < whole->rank; ++axis) {
    window->offsets[axis] = staticAt(tensorPadOpGetStaticLow(op), axis);
    window->sizes[axis] = part->sizes[axis];
  }
  return true;
}

// What padding may be.
static uint8_t padMay(SparseRules *rules, MlirOperation op) {
  MlirOperation yield = mlirBlockGetTerminator(tileOnlyBlock(mlirOperationGetRegion(op, 0)));
  MlirValue value = tileOnlyOperand(yield);
  MlirAttribute constant = mlirExtValueGetConstant(value);
  return !mlirAttributeIsNull(constant) ? sparseMayOfConstant(constant)
                                        : sparseMayOfElement(mlirValueGetType(value), rules->finite);
}

// The window of input `i` of a concatenation; *offset: of the input's first element, -1 where unknown.
static Window concatWindow(MlirOperation op, const SparseCells *whole, const SparseCells *part, int64_t *offset) {
  int64_t dim = mlirIntegerAttrGetValueInt(tensorConcatOpGetDim(op));
  Window window = wholeOf(whole);
  window.offsets[dim] = *offset;
  window.sizes[dim] = part->sizes[dim];
  *offset = *offset < 0 || part->sizes[dim] < 0 ? -1 : *offset + part->sizes[dim];
  return window;
}

//===--- reshapes -------------------------------------------------------------===//

// Axes of the tensor with more axes, group by group: group g has axes first[g] to first[g + 1] - 1.
typedef struct Groups {
  intptr_t count, first[SparseMaxFactRank + 1];
} Groups;

static bool readGroups(MlirAttribute reassociation, intptr_t fine, Groups *groups) {
  *groups = (Groups){.count = mlirArrayAttrGetNumElements(reassociation)};
  if (groups->count > SparseMaxFactRank || fine > SparseMaxFactRank)
    return false;
  for (intptr_t g = 0; g < groups->count; ++g)
    groups->first[g + 1] = groups->first[g] + mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(reassociation, g));
  groups->first[groups->count] = fine; // axes of size 1 of a tensor that becomes a scalar are in no group
  return true;
}

typedef struct Reshaped {
  const Groups *groups;
  const SparseCells *fine, *coarse;
} Reshaped;

static uint8_t collapsedAt(const int64_t *index, void *data) {
  const Reshaped *reshaped = data;
  int64_t at[SparseMaxFactRank] = {0};
  for (intptr_t g = 0; g < reshaped->groups->count; ++g) {
    int64_t rest = index[g];
    for (intptr_t axis = reshaped->groups->first[g + 1] - 1; axis > reshaped->groups->first[g]; --axis) {
      int64_t size = reshaped->fine->sizes[axis];
      at[axis] = size > 0 ? rest % size : 0;
      rest = size > 0 ? rest / size : 0;
    }
    at[reshaped->groups->first[g]] = rest;
  }
  return sparseCellsAt(reshaped->fine, at);
}

static uint8_t expandedAt(const int64_t *index, void *data) {
  const Reshaped *reshaped = data;
  int64_t at[SparseMaxFactRank] = {0};
  for (intptr_t g = 0; g < reshaped->groups->count; ++g)
    for (intptr_t axis = reshaped->groups->first[g]; axis < reshaped->groups->first[g + 1]; ++axis)
      at[g] = reshaped->fine->sizes[axis] < 0 ? 0 : at[g] * reshaped->fine->sizes[axis] + index[axis];
  return sparseCellsAt(reshaped->coarse, at);
}

// All sizes of a group are known, and none is 0.
static bool isStatic(const SparseCells *fine, const SparseCells *coarse, const Groups *groups, intptr_t g) {
  bool ok = coarse->sizes[g] > 0;
  for (intptr_t axis = groups->first[g]; axis < groups->first[g + 1]; ++axis)
    ok &= fine->sizes[axis] > 0;
  return ok;
}

static SparseCells *collapse(const SparseCells *from, const Groups *groups, MlirType type) {
  SparseCells *coarse = sparseCellsCreate(type, 0), *fine = sparseCellsCopy(from);
  for (intptr_t g = 0; g < groups->count; ++g) {
    if (!isStatic(fine, coarse, groups, g)) {
      for (intptr_t axis = groups->first[g]; axis < groups->first[g + 1]; ++axis)
        sparseCellsMerge(fine, axis);
      continue;
    }
    int32_t *classOf = malloc((size_t)coarse->sizes[g] * sizeof *classOf);
    int64_t inner = coarse->sizes[g];
    for (intptr_t axis = groups->first[g]; axis < groups->first[g + 1]; ++axis) {
      inner /= fine->sizes[axis];
      if (!fine->classOf[axis])
        continue;
      for (int64_t i = 0; i < coarse->sizes[g]; ++i)
        classOf[i] = fine->classOf[axis][i / inner % fine->sizes[axis]];
      sparseCellsSplit(coarse, g, classOf);
    }
    free(classOf);
  }
  sparseCellsFill(coarse, collapsedAt, &(Reshaped){groups, fine, coarse});
  sparseCellsDestroy(fine);
  sparseCellsCompress(coarse, SparseMaxCells);
  return coarse;
}

// The indices of the axes that have several classes, multiplied.
static int64_t sizeOfSplit(const SparseCells *cells) {
  int64_t count = 1;
  for (intptr_t axis = 0; axis < cells->rank && count <= MaxExpanded; ++axis)
    count *= cells->classOf[axis] ? cells->sizes[axis] : 1;
  return count;
}

static SparseCells *expand(const SparseCells *from, const Groups *groups, MlirType type) {
  SparseCells *fine = sparseCellsCreate(type, 0), *coarse = sparseCellsCopy(from);
  if (sizeOfSplit(coarse) > MaxExpanded)
    sparseCellsCompress(coarse, 1); // too many to look at one by one
  for (intptr_t g = 0; g < groups->count; ++g) {
    if (!isStatic(fine, coarse, groups, g)) {
      sparseCellsMerge(coarse, g);
      continue;
    }
    int64_t size = coarse->sizes[g];
    for (intptr_t axis = groups->first[g]; coarse->classOf[g] && axis < groups->first[g + 1]; ++axis) {
      int64_t outer = fine->sizes[axis];
      int32_t *classOf = malloc((size_t)outer * sizeof *classOf);
      for (int64_t i = 0; i < outer; ++i)
        classOf[i] = (int32_t)i;
      if (groups->first[g + 1] - groups->first[g] == 1)
        memcpy(classOf, coarse->classOf[g], (size_t)size * sizeof *classOf);
      sparseCellsSplit(fine, axis, classOf); // each index alone, until the facts are compressed
      free(classOf);
    }
  }
  sparseCellsFill(fine, expandedAt, &(Reshaped){groups, fine, coarse});
  sparseCellsDestroy(coarse);
  sparseCellsCompress(fine, SparseMaxCells);
  return fine;
}

//===--- forward --------------------------------------------------------------===//

// Ops whose result has the elements of their only operand, place by place. What is stored depends on all elements, so
// that a dead one is none behind sparse.pack.
static bool keepsPlaces(MlirOperation op) {
  return tensorCastOpIsA(op) || sparsePackOpIsA(op) || sparseUnpackOpIsA(op) ||
         (sparseConvertOpIsA(op) && mlirOperationGetNumOperands(op) == 1);
}

static bool forwardReshape(SparseRules *rules, MlirOperation op) {
  MlirValue result = tileOnlyResult(op), source = tileFirstOperand(op);
  bool isExpand = tensorExpandShapeOpIsA(op);
  const SparseCells *may = rules->may(rules, source);
  MlirType fine = mlirValueGetType(isExpand ? result : source);
  Groups groups;
  if (!may ||
      !readGroups(isExpand ? tensorExpandShapeOpGetReassociation(op) : tensorCollapseShapeOpGetReassociation(op),
                  mlirShapedTypeGetRank(fine), &groups))
    return false;
  rules->tell(rules, result,
              isExpand ? expand(may, &groups, mlirValueGetType(result))
                       : collapse(may, &groups, mlirValueGetType(result)));
  return true;
}

static bool forwardConcat(SparseRules *rules, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  SparseCells *whole = sparseCellsCreate(mlirValueGetType(result), SparseMay_Zero);
  int64_t offset = 0;
  for (intptr_t i = 0; whole && i < mlirOperationGetNumOperands(op); ++i) {
    const SparseCells *part = rules->may(rules, mlirOperationGetOperand(op, i));
    Window window = concatWindow(op, whole, part, &offset);
    SparseCells *placed = placeWindow(whole, part, &window);
    sparseCellsDestroy(whole);
    whole = placed;
  }
  if (whole)
    rules->tell(rules, result, whole);
  return whole != NULL;
}

bool sparseForwardMove(SparseRules *rules, MlirOperation op) {
  Window window;
  if (tensorExpandShapeOpIsA(op) || tensorCollapseShapeOpIsA(op))
    return forwardReshape(rules, op);
  if (tensorConcatOpIsA(op))
    return forwardConcat(rules, op);
  if (!keepsPlaces(op) && !tensorExtractSliceOpIsA(op) && !tensorInsertSliceOpIsA(op) && !tensorPadOpIsA(op))
    return false;
  MlirValue result = tileOnlyResult(op);
  MlirType type = mlirValueGetType(result);
  const SparseCells *source = rules->may(rules, tileFirstOperand(op));
  if (!source || !rules->need(rules, result))
    return false;
  if (keepsPlaces(op)) {
    window = wholeOf(source);
    rules->tell(rules, result, takeWindow(source, &window, type));
  } else if (tensorExtractSliceOpIsA(op)) {
    if (!readSlice(tensorExtractSliceOpGetStaticOffsets(op), tensorExtractSliceOpGetStaticSizes(op),
                   tensorExtractSliceOpGetStaticStrides(op), type, &window))
      return false;
    rules->tell(rules, result, takeWindow(source, &window, type));
  } else if (tensorInsertSliceOpIsA(op)) {
    const SparseCells *around = rules->may(rules, tensorInsertSliceOpGetDest(op));
    if (!around || !readSlice(tensorInsertSliceOpGetStaticOffsets(op), tensorInsertSliceOpGetStaticSizes(op),
                              tensorInsertSliceOpGetStaticStrides(op),
                              mlirValueGetType(tensorInsertSliceOpGetSource(op)), &window))
      return false;
    rules->tell(rules, result, placeWindow(around, source, &window));
  } else {
    SparseCells *around = sparseCellsCreate(type, padMay(rules, op));
    readPad(op, around, source, &window);
    rules->tell(rules, result, placeWindow(around, source, &window));
    sparseCellsDestroy(around);
  }
  return true;
}

//===--- backward -------------------------------------------------------------===//

static bool backwardConcat(SparseRules *rules, MlirOperation op, const SparseCells *need) {
  int64_t offset = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue part = mlirOperationGetOperand(op, i);
    Window window = concatWindow(op, need, rules->need(rules, part), &offset);
    rules->tell(rules, part, takeWindow(need, &window, mlirValueGetType(part)));
  }
  return true;
}

static bool backwardReshape(SparseRules *rules, MlirOperation op, const SparseCells *need) {
  MlirValue source = tileFirstOperand(op);
  bool isExpand = tensorExpandShapeOpIsA(op);
  MlirType fine = mlirValueGetType(isExpand ? tileOnlyResult(op) : source);
  Groups groups;
  if (!readGroups(isExpand ? tensorExpandShapeOpGetReassociation(op) : tensorCollapseShapeOpGetReassociation(op),
                  mlirShapedTypeGetRank(fine), &groups))
    return false;
  rules->tell(rules, source,
              isExpand ? collapse(need, &groups, mlirValueGetType(source))
                       : expand(need, &groups, mlirValueGetType(source)));
  return true;
}

bool sparseBackwardMove(SparseRules *rules, MlirOperation op) {
  Window window;
  bool isReshape = tensorExpandShapeOpIsA(op) || tensorCollapseShapeOpIsA(op);
  if (!isReshape && !tensorConcatOpIsA(op) && !tensorCastOpIsA(op) && !tensorExtractSliceOpIsA(op) &&
      !tensorInsertSliceOpIsA(op) && !tensorPadOpIsA(op))
    return false;
  const SparseCells *need = rules->need(rules, tileOnlyResult(op));
  MlirValue source = tileFirstOperand(op);
  MlirType type = mlirValueGetType(source);
  const SparseCells *part = rules->need(rules, source);
  if (!need || !part)
    return false;
  if (isReshape)
    return backwardReshape(rules, op, need);
  if (tensorConcatOpIsA(op))
    return backwardConcat(rules, op, need);
  if (tensorCastOpIsA(op)) {
    window = wholeOf(need);
    rules->tell(rules, source, takeWindow(need, &window, type));
  } else if (tensorExtractSliceOpIsA(op)) {
    SparseCells *nothing = sparseCellsCreate(type, SparseNeed_Nothing);
    bool ok = readSlice(tensorExtractSliceOpGetStaticOffsets(op), tensorExtractSliceOpGetStaticSizes(op),
                        tensorExtractSliceOpGetStaticStrides(op), tileOnlyResultType(op), &window);
    if (ok)
      rules->tell(rules, source, placeWindow(nothing, need, &window));
    sparseCellsDestroy(nothing);
    return ok;
  } else if (tensorInsertSliceOpIsA(op)) {
    if (!readSlice(tensorInsertSliceOpGetStaticOffsets(op), tensorInsertSliceOpGetStaticSizes(op),
                   tensorInsertSliceOpGetStaticStrides(op), type, &window))
      return false;
    SparseCells *nothing = sparseCellsCreate(type, SparseNeed_Nothing);
    rules->tell(rules, source, takeWindow(need, &window, type));
    rules->tell(rules, tensorInsertSliceOpGetDest(op), placeWindow(need, nothing, &window));
    sparseCellsDestroy(nothing);
  } else {
    readPad(op, need, part, &window);
    rules->tell(rules, source, takeWindow(need, &window, type));
  }
  return true;
}
