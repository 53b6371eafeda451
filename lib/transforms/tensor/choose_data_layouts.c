// tile-choose-data-layouts: chains of convolutions whose channels come first compute on channels that come last.
//   x[n, c, h, w] · w[f, c, r, s]  becomes  x'[n, h, w, c] · w'[r, s, c, f]
//
// Why: kernels of convolutions read channels side by side, and channels have known sizes where images have none. With
// channels first, a row of pixels ends where the image ends, and dynamic sizes cannot be merged.
// How: each convolution asks for channels last on both of its sides. The layouts then spread through elementwise ops,
// windows of one channel, reductions, paddings, slices and reshapes that leave the channels whole. Weights are
// transposed (tile-fold-constant-layouts does that at compile time). Where a chain ends, a copy changes the layout.
// A chain changes if its convolutions gain more cycles (model.channels.first.percent) than the copies at its ends cost
// (model.relayout.percent).
// Expects: linalg.generic on tensors in func.func, for a CPU (after tile-generalize-named-ops). Leaves: the same ops
// over other axes. Left alone: ops with a schedule, GPUs, tensors that loops and branches carry.
// Cost: linear in the ops. Source: layouts of whole graphs as in Liu et al., "Optimizing CNN Model Inference on CPUs"
// (USENIX ATC 2019).
#include "lib/transforms/tensor/data_layouts.h"

#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/support/grow.h"
#include "lib/transforms/tensor/tensor.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { Convolutions, Tensors, Copies };

static const char *const statistics[] = {
    "convolutions: that compute with channels last",
    "tensors: that have another layout",
    "copies: that change a layout where a chain ends",
    NULL,
};

//===--- chains -------------------------------------------------------------------------===//

static int chainOf(const TileDataLayouts *l, int chain) {
  while (l->chains[chain] != chain)
    chain = l->chains[chain];
  return chain;
}

static void joinChains(TileDataLayouts *l, int a, int b) {
  a = chainOf(l, a);
  b = chainOf(l, b);
  l->chains[a > b ? a : b] = a > b ? b : a;
}

static int newChain(TileDataLayouts *l) {
  l->chains = tessera_grow(l->chains, l->numChains, sizeof *l->chains);
  l->chains[l->numChains] = (int)l->numChains;
  return (int)l->numChains++;
}

static bool canChange(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsARankedTensor(type) && mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) &&
         mlirShapedTypeGetRank(type) > 1 && mlirShapedTypeGetRank(type) <= MaxOperandRank && !tileDataIsStart(value) &&
         !tileDataIsConstant(value);
}

// The first wish for a tensor is granted. Equal wishes join their chains.
static void ask(TileDataLayouts *l, MlirValue value, const TileDataLayout *layout, int chain) {
  TileDataValue *known = tileDataValue(l, value);
  if (known && tileDataLayoutsEqual(&known->layout, layout))
    joinChains(l, known->chain, chain);
  if (known || !canChange(value))
    return;
  TileDataValue *v = tileArenaAllocate(&l->arena, sizeof *v);
  *v = (TileDataValue){.old = value, .layout = *layout, .chain = chain};
  tileTableSet(&l->values, value.ptr, v);
  l->items = tessera_grow(l->items, l->count, sizeof *l->items);
  l->items[l->count++] = v;
}

// Asked before an op is read: an index is a sum.
static bool hasSums(MlirOperation op) {
  MlirAttribute maps = linalgGenericOpGetIndexingMaps(op);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps); ++i)
    if (!mlirAffineMapIsProjectedPermutation(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return true;
  return false;
}

static void askForConvolution(TileDataLayouts *l, MlirOperation op) {
  int image, weights;
  const TileStructured *s = hasSums(op) ? tileDataStructured(l, op) : NULL;
  if (!s || !tileDataFindConvolution(s, &image, &weights))
    return;
  int chain = newChain(l);
  TileDataLayout in = tileDataChannelsLast(s, image, image, weights),
                 out = tileDataChannelsLast(s, s->numInputs, image, weights);
  ask(l, s->operands[image].value, &in, chain);
  ask(l, linalgGenericOpGetResultTensors(op, 0), &out, chain);
}

//===--- how layouts spread -------------------------------------------------------------===//

// The layout of operand `to` that goes with that of operand `from`: axes of a dimension that `from` lacks stay behind
// the axis before them.
static TileDataLayout carry(const TileStructured *s, int from, const TileDataLayout *layout, int to) {
  int placeOfDim[MaxDims], places[MaxOperandRank];
  for (int d = 0; d < MaxDims; ++d)
    placeOfDim[d] = -1;
  for (int i = 0; i < layout->rank; ++i) {
    int d = tileDataAxisDim(s, &s->operands[from], layout->axes[i]);
    if (d >= 0 && placeOfDim[d] < 0)
      placeOfDim[d] = i;
  }
  const TileOperand *o = &s->operands[to];
  for (int axis = 0; axis < o->rank; ++axis) {
    int d = tileDataAxisDim(s, o, axis);
    places[axis] = d >= 0 && placeOfDim[d] >= 0 ? placeOfDim[d] : axis ? places[axis - 1] : 0;
  }
  return tileDataSortAxes(o->rank, places);
}

// The tensor that stands for an operand: of an output the result.
static MlirValue tensorOf(const TileStructured *s, int operand) {
  return operand < s->numInputs ? s->operands[operand].value
                                : linalgGenericOpGetResultTensors(s->op, operand - s->numInputs);
}

static void spreadThroughGeneric(TileDataLayouts *l, const TileDataValue *v, MlirOperation op) {
  const TileStructured *s = tileDataStructured(l, op);
  int from = -1;
  if (!s || !tileDataIsTransparent(s))
    return;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (tileDataIsMain(s, i) && mlirValueEqual(tensorOf(s, i), v->old))
      from = i;
  for (int to = 0; from >= 0 && to < s->numInputs + s->numOutputs; ++to)
    if (to != from && tileDataIsMain(s, to)) {
      TileDataLayout layout = carry(s, from, &v->layout, to);
      ask(l, tensorOf(s, to), &layout, v->chain);
    }
}

static void spreadThroughReshape(TileDataLayouts *l, const TileDataValue *v, MlirOperation op) {
  MlirValue source = tileFirstOperand(op), result = tileOnlyResult(op);
  bool isCollapse = tensorCollapseShapeOpIsA(op), isSource = mlirValueEqual(source, v->old);
  int groups[MaxOperandRank], order[MaxOperandRank], places[MaxOperandRank], numGroups;
  MlirType more = mlirValueGetType(isCollapse ? source : result);
  intptr_t rank = mlirShapedTypeGetRank(more);
  if (rank > MaxOperandRank || !(numGroups = tileDataReadGroups(op, groups)))
    return;
  if (isSource == isCollapse) { // from more axes to fewer
    if (!tileDataGroupsOfLayout(&v->layout, more, groups, numGroups, order))
      return;
    TileDataLayout layout = {.rank = numGroups};
    memcpy(layout.axes, order, (size_t)numGroups * sizeof *order);
    ask(l, isSource ? result : source, &layout, v->chain);
    return;
  }
  for (int i = 0; i < v->layout.rank; ++i)
    order[v->layout.axes[i]] = i;
  for (int axis = 0; axis < rank; ++axis)
    places[axis] = order[groups[axis]];
  TileDataLayout layout = tileDataSortAxes((int)rank, places);
  ask(l, isSource ? result : source, &layout, v->chain);
}

static void spreadThrough(TileDataLayouts *l, const TileDataValue *v, MlirOperation op) {
  if (!tileDataCanRewrite(l, op))
    return;
  if (linalgGenericOpIsA(op)) {
    spreadThroughGeneric(l, v, op);
  } else if (tileDataKeepsAxes(op)) {
    ask(l, tileFirstOperand(op), &v->layout, v->chain);
    ask(l, tileOnlyResult(op), &v->layout, v->chain);
    if (tensorInsertSliceOpIsA(op))
      ask(l, tensorInsertSliceOpGetDest(op), &v->layout, v->chain);
  } else {
    spreadThroughReshape(l, v, op);
  }
}

static void spread(TileDataLayouts *l, const TileDataValue *v) {
  MlirOperation maker = tileDefiningOp(v->old);
  if (!mlirOperationIsNull(maker))
    spreadThrough(l, v, maker);
  for (MlirOpOperand use = mlirValueGetFirstUse(v->old); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    spreadThrough(l, v, mlirOpOperandGetOwner(use));
}

//===--- whether ------------------------------------------------------------------------===//

static double planned(int64_t extent) {
  return (double)(mlirShapedTypeIsDynamicSize(extent) ? TileUnknownExtent : extent);
}

static bool changes(const TileDataValue *v) {
  return v && !tileDataLayoutKeepsOrder(&v->layout, mlirValueGetType(v->old));
}

// Cycles that the convolution needs beyond those of its multiply-adds while its channels come first.
static double gainOf(const TileDataLayouts *l, const TileStructured *s) {
  const TileSearchTarget *t = &l->target->search;
  double steps = 1, bytes = (double)tileMemoryBits(tileOperandElementType(&s->operands[0])) / 8;
  for (int d = 0; d < s->numDims; ++d)
    steps *= planned(s->dims[d].extent);
  return steps / ((double)(t->vectorBytes * t->fmaPerCycle) / bytes) * (t->model.channelsFirst - 1);
}

static double costOfCopy(const TileDataLayouts *l, const TileDataValue *v) {
  double elements = 1;
  MlirType type = mlirValueGetType(v->old);
  for (int i = 0; i < v->layout.rank; ++i)
    elements *= planned(mlirShapedTypeGetDimSize(type, i));
  return elements * l->target->search.model.relayout;
}

// Reads the tensor in its old layout.
static bool needsOld(TileDataLayouts *l, MlirOperation user) {
  return !tileDataCanRewrite(l, user) && !tensorDimOpIsA(user) && !tensorExtractOpIsA(user);
}

static double costAtEnds(TileDataLayouts *l, const TileDataValue *v) {
  bool isMade = tileDataCanRewrite(l, tileDefiningOp(v->old)), isRead = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(v->old); isMade && !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    isRead |= needsOld(l, mlirOpOperandGetOwner(use));
  return changes(v) && (!isMade || isRead) ? costOfCopy(l, v) : 0;
}

// Removes the records of chains that do not gain.
static void decide(TileDataLayouts *l, const TileOps *generics, MlirExtPass pass) {
  double *gains = calloc((size_t)l->numChains + 1, sizeof *gains);
  for (intptr_t i = 0; gains && i < generics->count; ++i) {
    int image, weights;
    const TileStructured *s = hasSums(generics->items[i]) ? tileDataStructured(l, generics->items[i]) : NULL;
    if (!s || !tileDataFindConvolution(s, &image, &weights))
      continue;
    TileDataValue *in = tileDataValue(l, s->operands[image].value), *out = tileDataValue(l, tensorOf(s, s->numInputs));
    if (!changes(in) && !changes(out))
      continue;
    mlirExtPassAddStatistic(pass, Convolutions, 1);
    gains[chainOf(l, changes(in) ? in->chain : out->chain)] += gainOf(l, s);
  }
  for (int64_t i = 0; gains && i < l->count; ++i)
    gains[chainOf(l, l->items[i]->chain)] -= costAtEnds(l, l->items[i]);
  for (int64_t i = 0; i < l->count; ++i) {
    bool stays = !gains || !(gains[chainOf(l, l->items[i]->chain)] > 0);
    if (stays)
      tileTableSet(&l->values, l->items[i]->old.ptr, NULL);
    else
      mlirExtPassAddStatistic(pass, Tensors, changes(l->items[i]));
  }
  free(gains);
}

//===--- the pass -----------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  TileTarget target;
  if (!tileTargetOfPass(function, pass, &target))
    return false;
  TileDataLayouts l = {.target = &target};
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; !target.search.isGpu && i < generics.count; ++i)
    askForConvolution(&l, generics.items[i]);
  for (int64_t i = 0; i < l.count; ++i)
    spread(&l, l.items[i]);
  if (l.count) {
    decide(&l, &generics, pass);
    tileDataApply(&l, function);
    mlirExtPassAddStatistic(pass, Copies, l.copies);
  }
  tileOpsFree(&generics);
  free(l.items);
  free(l.chains);
  tileTableFree(&l.values);
  tileTableFree(&l.ops);
  tileArenaFree(&l.arena);
  tileTargetFree(&target);
  return true;
}

const MlirExtPassDefinition tileChooseDataLayoutsPass = {
    .argument = "tile-choose-data-layouts",
    .summary = "Compute chains of convolutions with channels last, where that is faster",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "tensor", "linalg", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
