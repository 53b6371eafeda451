// If, Loop and Scan as scf; loops for operators that go step by step. See control_flow.h, operators.def.
#include "lib/import/onnx/control_flow.h"

#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/state.h"
#include "lib/import/onnx/tensors.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <string.h>

//===--- rows -----------------------------------------------------------------===//

typedef struct Slice {
  int64_t offsets[OnnxMaxRank], sizes[OnnxMaxRank], strides[OnnxMaxRank];
  MlirValue open[OnnxMaxRank];
  intptr_t numOpen;
} Slice;

static Slice sliceOf(const OnnxValue *x, int axis) {
  Slice slice = {.numOpen = 0};
  for (int d = 0; d < x->rank; ++d) {
    int64_t size = onnxStatic(x->sizes[d]);
    slice.offsets[d] = d == axis ? mlirShapedTypeGetDynamicSize() : 0;
    slice.sizes[d] = d == axis ? 1 : size < 0 ? mlirShapedTypeGetDynamicSize() : size;
    slice.strides[d] = 1;
    if (d != axis && size < 0)
      slice.open[slice.numOpen++] = x->sizes[d];
  }
  return slice;
}

static MlirAttribute numbers(Node *node, const OnnxValue *x, const int64_t *items) {
  return mlirDenseI64ArrayGet(node->b->context, x->rank, items);
}

OnnxValue *onnxRow(Node *node, OnnxValue *x, int axis, MlirValue at) {
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0, i = 0; d < x->rank; ++d)
    if (d != axis)
      sizes[i++] = x->sizes[d];
  OnnxValue *row = onnxValue(node, x->type, x->rank - 1, sizes);
  Slice slice = sliceOf(x, axis);
  row->tensor = tensorExtractSliceOpBuild(node->b, onnxTensorType(node, row), onnxTensor(node, x), 1, &at,
                                          slice.numOpen, slice.open, 0, NULL, numbers(node, x, slice.offsets),
                                          numbers(node, x, slice.sizes), numbers(node, x, slice.strides));
  return row;
}

OnnxValue *onnxWithRow(Node *node, OnnxValue *x, int axis, MlirValue at, OnnxValue *row) {
  Slice slice = sliceOf(x, axis);
  MlirValue whole = tensorInsertSliceOpBuild(node->b, onnxTensor(node, row), onnxTensor(node, x), 1, &at, slice.numOpen,
                                             slice.open, 0, NULL, numbers(node, x, slice.offsets),
                                             numbers(node, x, slice.sizes), numbers(node, x, slice.strides));
  return onnxOfTensor(node, x->type, whole, x->sizes);
}

OnnxValue *onnxWithElement(Node *node, OnnxValue *x, const MlirValue *index, MlirValue element) {
  MlirValue whole = tensorInsertOpBuild(node->b, element, onnxTensor(node, x), x->rank, index);
  return onnxOfTensor(node, x->type, whole, x->sizes);
}

OnnxValue *onnxOfIndex(Node *node, MlirValue index) {
  Body body = {.node = node, .b = node->b, .isFolding = true};
  MlirValue element = onnxFromIndex(&body, index, mlirIntegerTypeGet(node->b->context, 64));
  return onnxOfElements(node, Onnx_I64, 0, NULL, &element, 1);
}

//===--- loops ----------------------------------------------------------------===//

// Emits in another block, then goes back.
static TileBuilder enter(Node *node, MlirBlock block) {
  TileBuilder before = *node->b;
  node->b->block = block;
  node->b->before = (MlirOperation){NULL};
  ++node->import->depth;
  return before;
}

static void leave(Node *node, TileBuilder before) {
  *node->b = before;
  --node->import->depth;
}

bool onnxEmitTensors(Node *node, const OnnxGraph *graph, int numInputs, OnnxValue *const *inputs, OnnxValue **outputs) {
  if (!onnxEmitGraph(node, graph, numInputs, inputs, outputs))
    return false;
  for (int64_t i = 0; i < graph->numOutputs; ++i)
    if (outputs[i]->kind != OnnxKind_Tensor)
      return onnxError(node, "output %lld of its graph is a sequence or an optional; a tensor is accepted",
                       (long long)i + 1);
  return true;
}

static MlirValue castTo(Node *node, OnnxValue *value, MlirType type) {
  MlirValue tensor = onnxTensor(node, value);
  return mlirTypeEqual(mlirValueGetType(tensor), type) ? tensor : tensorCastOpBuild(node->b, type, tensor);
}

static bool yieldAs(Node *node, int number, OnnxValue *const *values, MlirOperation loop) {
  MlirValue tensors[OnnxMaxInputs];
  for (int i = 0; i < number; ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(loop, i));
    if (!values[i] || values[i]->rank != mlirShapedTypeGetRank(type) ||
        !mlirTypeEqual(onnxElementType(node, values[i]->type), mlirShapedTypeGetElementType(type)))
      return onnxError(node, "value %d of the loop changes its rank or type from step to step", i + 1);
    tensors[i] = castTo(node, values[i], type);
  }
  tileBuildYield(node->b, number, tensors);
  return true;
}

bool onnxFor(Node *node, MlirValue count, int number, OnnxValue **carried, OnnxStep *step, const void *data) {
  MlirValue first[OnnxMaxInputs], zero = tileBuildIndex(node->b, 0), one = tileBuildIndex(node->b, 1);
  OnnxValue *inside[OnnxMaxInputs];
  MlirBlock body;
  for (int i = 0; i < number; ++i)
    first[i] = onnxTensor(node, carried[i]);
  MlirOperation loop = tileBuildFor(node->b, zero, count, one, number, first, &body);
  TileBuilder before = enter(node, body);
  for (int i = 0; i < number; ++i)
    inside[i] = onnxOfTensor(node, carried[i]->type, mlirBlockGetArgument(body, i + 1), carried[i]->sizes);
  bool ok = step(node, mlirBlockGetArgument(body, 0), inside, data) && yieldAs(node, number, inside, loop);
  leave(node, before);
  for (int i = 0; i < number && ok; ++i)
    carried[i] = onnxOfTensor(node, carried[i]->type, mlirOperationGetResult(loop, i), carried[i]->sizes);
  return ok;
}

static OnnxValue *argumentOf(Node *node, const OnnxValue *like, MlirValue tensor) {
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0; d < like->rank; ++d)
    sizes[d] = onnxStatic(like->sizes[d]) >= 0 ? like->sizes[d] : tileBuildDim(node->b, tensor, d);
  OnnxValue *value = onnxValue(node, like->type, like->rank, sizes);
  value->tensor = tensor;
  return value;
}

bool onnxWhile(Node *node, MlirValue most, MlirValue condition, int number, OnnxValue **state, OnnxWhileStep *step,
               const void *data, MlirValue *count) {
  TileBuilder *b = node->b;
  MlirType types[OnnxMaxInputs + 2] = {mlirIndexTypeGet(b->context), mlirIntegerTypeGet(b->context, 1)};
  MlirValue first[OnnxMaxInputs + 2] = {tileBuildIndex(b, 0), condition};
  for (int i = 0; i < number; ++i) {
    first[i + 2] = onnxTensor(node, state[i]);
    types[i + 2] = mlirValueGetType(first[i + 2]);
  }
  MlirRegion before, after;
  TileBuilder asks = tileBuilderInRegion(b, &before, number + 2, types);
  MlirValue arguments[OnnxMaxInputs + 2];
  for (int i = 0; i < number + 2; ++i)
    arguments[i] = mlirBlockGetArgument(asks.block, i);
  MlirValue goesOn = arguments[1];
  if (!mlirValueIsNull(most))
    goesOn = arithAndIOpBuild(&asks, goesOn, arithCmpIOpBuild(&asks, arguments[0], most, ArithCmpI_Slt));
  scfConditionOpBuild(&asks, goesOn, number + 2, arguments);
  TileBuilder does = tileBuilderInRegion(b, &after, number + 2, types);
  TileBuilder saved = enter(node, does.block);
  OnnxValue *inside[OnnxMaxInputs];
  MlirValue at = mlirBlockGetArgument(does.block, 0), next[OnnxMaxInputs + 2];
  for (int i = 0; i < number; ++i)
    inside[i] = argumentOf(node, state[i], mlirBlockGetArgument(does.block, i + 2));
  bool ok = step(node, at, mlirBlockGetArgument(does.block, 1), inside, &next[1], data);
  if (ok) {
    next[0] = tileBuildAdd(b, at, tileBuildIndex(b, 1));
    for (int i = 0; i < number; ++i)
      next[i + 2] = castTo(node, inside[i], types[i + 2]);
    tileBuildYield(b, number + 2, next);
  }
  leave(node, saved);
  if (!ok) {
    mlirRegionDestroy(after);
    mlirRegionDestroy(before);
    return false;
  }
  MlirOperation op = scfWhileOpBuild(b, number + 2, types, number + 2, first, before, after);
  if (count)
    *count = scfWhileOpGetResults(op, 0);
  for (int i = 0; i < number; ++i)
    state[i] = onnxOfTensor(node, state[i]->type, mlirOperationGetResult(op, i + 2), NULL);
  return true;
}

//===--- If -------------------------------------------------------------------===//

// The sizes that both have; where they differ only the running program knows.
static MlirType commonType(Node *node, const OnnxValue *a, const OnnxValue *b) {
  int64_t shape[OnnxMaxRank];
  for (int d = 0; d < a->rank; ++d) {
    int64_t x = onnxStatic(a->sizes[d]), y = onnxStatic(b->sizes[d]);
    shape[d] = x >= 0 && x == y ? x : mlirShapedTypeGetDynamicSize();
  }
  return mlirRankedTensorTypeGet(a->rank, shape, onnxElementType(node, a->type), mlirAttributeGetNull());
}

// One element of rank 0 in one branch and of rank 1 in the other, as exporters write scalars: rank 1, with a warning.
// It broadcasts alike.
static void alignOneElement(Node *node, const MlirBlock blocks[2], OnnxValue **of, OnnxValue **ofOther) {
  OnnxValue *x = *of, *y = *ofOther;
  bool isFirst = x->rank == 0 && y->rank == 1;
  if (x->kind != OnnxKind_Tensor || y->kind != OnnxKind_Tensor || x->rank + y->rank != 1 ||
      onnxStatic((isFirst ? y : x)->sizes[0]) != 1)
    return;
  TileBuilder before = enter(node, blocks[isFirst ? 0 : 1]);
  MlirValue one = tileBuildIndex(node->b, 1);
  OnnxValue **scalar = isFirst ? of : ofOther;
  *scalar = onnxReshape(node, *scalar, 1, &one);
  leave(node, before);
  tileWarningAt(node->b->location, "a value has rank 0 in one branch of an If and rank 1 in the other: it gets rank 1");
}

bool onnxEmitIf(Node *node) {
  const char *const names[] = {"then_branch", "else_branch"};
  const OnnxGraph *graphs[2];
  OnnxValue *values[2][OnnxMaxInputs];
  int64_t known;
  for (int i = 0; i < 2; ++i) {
    const OnnxAttribute *attribute = onnxAttribute(node, names[i]);
    graphs[i] = attribute ? attribute->graph : NULL;
    if (!graphs[i] || graphs[i]->numOutputs != node->numOut)
      return onnxError(node, "attribute %s is missing or has another number of outputs", names[i]);
  }
  if (onnxCount(node->in[0]) != 1)
    return onnxError(node, "the condition has not one element");
  MlirValue *condition = onnxRead(node, node->in[0]);
  if (!condition)
    return false;
  if (tileConstantIndex(condition[0], &known))
    return onnxEmitGraph(node, graphs[known ? 0 : 1], 0, NULL, node->out);
  MlirRegion regions[2];
  MlirBlock blocks[2];
  bool ok = true;
  for (int i = 0; i < 2; ++i) {
    TileBuilder inside = tileBuilderInRegion(node->b, &regions[i], 0, NULL);
    blocks[i] = inside.block;
    TileBuilder before = enter(node, inside.block);
    ok = ok && onnxEmitTensors(node, graphs[i], 0, NULL, values[i]);
    leave(node, before);
  }
  // A value whose rank hangs on a dynamic size, as exporters write squeeze: the program is for the first branch.
  bool isOneRank = true;
  for (int r = 0; r < node->numOut && ok; ++r)
    alignOneElement(node, blocks, &values[0][r], &values[1][r]);
  for (int r = 0; r < node->numOut && ok; ++r)
    isOneRank &= values[0][r]->rank == values[1][r]->rank;
  if (ok && !isOneRank) {
    mlirRegionDestroy(regions[1]);
    mlirRegionDestroy(regions[0]);
    tileWarningAt(node->b->location, "the rank of a value hangs on the condition of an If: the program is for inputs "
                                     "that make it true, and checks that");
    tileBuildAssert(node->b, condition[0], "the model is imported for inputs that make the condition of an If true");
    return onnxEmitGraph(node, graphs[0], 0, NULL, node->out);
  }
  MlirType types[OnnxMaxInputs];
  for (int r = 0; r < node->numOut && ok; ++r) {
    OnnxValue *a = values[0][r], *b = values[1][r];
    ok = (a->kind == OnnxKind_Tensor && b->kind == OnnxKind_Tensor && a->rank == b->rank && a->type == b->type) ||
         onnxError(node, "output %d has another rank or type in each branch", r + 1);
    if (ok)
      types[r] = commonType(node, a, b);
  }
  for (int i = 0; i < 2 && ok; ++i) {
    MlirValue tensors[OnnxMaxInputs];
    TileBuilder before = enter(node, blocks[i]);
    for (int r = 0; r < node->numOut; ++r)
      tensors[r] = castTo(node, values[i][r], types[r]);
    tileBuildYield(node->b, node->numOut, tensors);
    leave(node, before);
  }
  if (!ok) {
    mlirRegionDestroy(regions[1]);
    mlirRegionDestroy(regions[0]);
    return false;
  }
  MlirOperation op = scfIfOpBuild(node->b, node->numOut, types, condition[0], regions[0], regions[1]);
  for (int r = 0; r < node->numOut; ++r)
    node->out[r] = onnxOfTensor(node, values[0][r]->type, mlirOperationGetResult(op, r), NULL);
  return true;
}

//===--- Loop -----------------------------------------------------------------===//

typedef struct Loop {
  const OnnxGraph *graph;
  int numCarried, numScans;
  MlirValue most; // steps at most; null: no limit
  OnnxValue *condition, *captured;
  bool isFor;
} Loop;

// The body once, in a block that is thrown away: the values it gives, to know their types.
static bool tryBody(Node *node, const Loop *loop, OnnxValue *const *carried, OnnxValue **outputs) {
  MlirRegion region;
  MlirType index = mlirIndexTypeGet(node->b->context);
  TileBuilder inside = tileBuilderInRegion(node->b, &region, 1, &index);
  TileBuilder before = enter(node, inside.block);
  OnnxValue *inputs[OnnxMaxInputs] = {onnxOfIndex(node, mlirBlockGetArgument(inside.block, 0)), loop->condition};
  for (int i = 0; i < loop->numCarried; ++i) {
    OnnxValue *x = onnxValue(node, carried[i]->type, carried[i]->rank, carried[i]->sizes);
    x->tensor = mlirBlockAddArgument(inside.block, onnxTensorType(node, x), node->b->location);
    for (int d = 0; d < x->rank; ++d)
      if (onnxStatic(x->sizes[d]) < 0)
        x->sizes[d] = tileBuildDim(node->b, x->tensor, d);
    inputs[i + 2] = x;
  }
  bool ok = onnxEmitTensors(node, loop->graph, loop->numCarried + 2, inputs, outputs);
  // Sizes that the block computes are not known outside of it.
  for (int i = 0; i < 1 + loop->numCarried + loop->numScans && ok; ++i) {
    OnnxValue *copy = onnxValue(node, outputs[i]->type, outputs[i]->rank, outputs[i]->sizes);
    copy->kind = outputs[i]->kind;
    for (int d = 0; d < copy->rank; ++d)
      if (onnxStatic(copy->sizes[d]) < 0)
        copy->sizes[d] = (MlirValue){NULL};
    int64_t known;
    MlirValue *elements = i ? NULL : onnxElements(node, outputs[0]);
    copy->count =
        elements && tileConstantIndex(elements[0], &known) && known ? 1 : 0; // a condition that is always true
    outputs[i] = copy;
  }
  leave(node, before);
  mlirRegionDestroy(region);
  return ok;
}

// A carried value whose size the body changes has a dynamic one.
static bool settle(Node *node, const Loop *loop, OnnxValue **carried, OnnxValue **outputs) {
  for (int round = 0; round < OnnxMaxRank; ++round) {
    bool isSettled = true;
    if (!tryBody(node, loop, carried, outputs))
      return false;
    for (int i = 0; i < loop->numCarried; ++i) {
      OnnxValue *to = outputs[i + 1], *from = carried[i];
      if (to->kind != OnnxKind_Tensor || to->rank != from->rank || to->type != from->type)
        return onnxError(node, "value %d of the loop is no tensor, or changes its rank or type from step to step",
                         i + 1);
      int64_t shape[OnnxMaxRank];
      bool changes = false;
      for (int d = 0; d < from->rank; ++d) {
        int64_t size = onnxStatic(from->sizes[d]);
        bool isOther = size >= 0 && (mlirValueIsNull(to->sizes[d]) || onnxStatic(to->sizes[d]) != size);
        changes |= isOther;
        shape[d] = size < 0 || isOther ? mlirShapedTypeGetDynamicSize() : size;
      }
      if (!changes)
        continue;
      isSettled = false;
      MlirType type =
          mlirRankedTensorTypeGet(from->rank, shape, onnxElementType(node, from->type), mlirAttributeGetNull());
      MlirValue tensor = tensorCastOpBuild(node->b, type, onnxTensor(node, from));
      carried[i] = onnxOfTensor(node, from->type, tensor, NULL);
    }
    if (isSettled)
      return true;
  }
  return onnxError(node, "sizes of the loop's values do not settle");
}

// One step in the present block: the values carried on, scan rows put in place, the condition.
static bool stepOfWhile(Node *node, MlirValue at, MlirValue condition, OnnxValue **state, MlirValue *goesOn,
                        const void *data) {
  const Loop *loop = data;
  OnnxValue *inputs[OnnxMaxInputs] = {onnxOfIndex(node, at), onnxOfElements(node, Onnx_Bool, 0, NULL, &condition, 1)};
  OnnxValue *outputs[OnnxMaxInputs];
  memcpy(inputs + 2, state, (size_t)loop->numCarried * sizeof *state);
  if (!onnxEmitTensors(node, loop->graph, loop->numCarried + 2, inputs, outputs))
    return false;
  MlirValue *elements = onnxCount(outputs[0]) == 1 ? onnxRead(node, outputs[0]) : NULL;
  if (!elements)
    return onnxError(node, "the condition of the loop has not one element");
  *goesOn = elements[0];
  memcpy(state, outputs + 1, (size_t)loop->numCarried * sizeof *state);
  for (int i = 0; i < loop->numScans; ++i)
    state[loop->numCarried + i] =
        onnxWithRow(node, state[loop->numCarried + i], 0, at, outputs[1 + loop->numCarried + i]);
  return true;
}

static bool stepOfFor(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Loop *loop = data;
  for (int i = 0; i < loop->numCarried + loop->numScans; ++i)
    state[i] = argumentOf(node, state[i], state[i]->tensor);
  MlirValue goesOn, condition = tileBuildInteger(node->b, mlirIntegerTypeGet(node->b->context, 1), 1);
  return stepOfWhile(node, at, condition, state, &goesOn, loop);
}

bool onnxEmitLoop(Node *node) {
  const OnnxAttribute *body = onnxAttribute(node, "body");
  Loop loop = {.graph = body ? body->graph : NULL, .numCarried = node->numIn - 2};
  OnnxValue *state[OnnxMaxInputs], *outputs[OnnxMaxInputs];
  MlirValue *elements, condition = tileBuildInteger(node->b, mlirIntegerTypeGet(node->b->context, 1), 1);
  if (!loop.graph || loop.numCarried < 0 || loop.graph->numOutputs < 1 + loop.numCarried ||
      loop.graph->numOutputs > OnnxMaxInputs || node->numOut > loop.graph->numOutputs - 1)
    return onnxError(node, "attribute body is missing or has other inputs and outputs than the node");
  loop.numScans = (int)loop.graph->numOutputs - 1 - loop.numCarried;
  if (node->in[0]) {
    int count;
    if (!onnxReadIndices(node, node->in[0], 1, &loop.most, &count))
      return false;
  }
  if (node->in[1]) {
    if (onnxCount(node->in[1]) != 1 || !(elements = onnxRead(node, node->in[1])))
      return onnxError(node, "the condition has not one element");
    condition = elements[0];
  }
  loop.condition = onnxOfElements(node, Onnx_Bool, 0, NULL, &condition, 1);
  for (int i = 0; i < loop.numCarried; ++i) {
    state[i] = node->in[i + 2];
    if (!state[i] || state[i]->kind != OnnxKind_Tensor)
      return onnxError(node, "value %d of the loop is missing or no tensor", i + 1);
  }
  if (!settle(node, &loop, state, outputs))
    return false;
  int64_t known;
  bool isTrue = tileConstantIndex(condition, &known) && known;
  loop.isFor = isTrue && outputs[0]->count == 1 && !mlirValueIsNull(loop.most);
  if (loop.numScans && mlirValueIsNull(loop.most))
    return onnxError(node, "scan outputs of a loop without a limit are not supported");
  for (int i = 0; i < loop.numScans; ++i) {
    OnnxValue *row = outputs[1 + loop.numCarried + i];
    MlirValue sizes[OnnxMaxRank] = {loop.most};
    for (int d = 0; d < row->rank; ++d) {
      sizes[d + 1] = row->sizes[d];
      if (mlirValueIsNull(row->sizes[d]))
        return onnxError(node, "scan output %d has a size that the loop computes, which is not supported", i + 1);
    }
    MlirValue zero = tileBuildConstant(node->b, onnxZero(node, row->type));
    state[loop.numCarried + i] =
        onnxOfTensor(node, row->type, onnxFilled(node, row->type, row->rank + 1, sizes, zero), sizes);
  }
  int number = loop.numCarried + loop.numScans;
  MlirValue count = loop.most;
  if (loop.isFor
          ? !onnxFor(node, loop.most, number, state, stepOfFor, &loop)
          : !onnxWhile(node, loop.most, condition, loop.numCarried + loop.numScans, state, stepOfWhile, &loop, &count))
    return false;
  for (int i = 0; i < node->numOut; ++i) {
    OnnxValue *x = state[i];
    if (loop.isFor && i < loop.numCarried) // sizes that steps change
      x = argumentOf(node, x, x->tensor);
    if (i >= loop.numCarried && !loop.isFor) {
      MlirValue offsets[OnnxMaxRank], sizes[OnnxMaxRank];
      int64_t ones[OnnxMaxRank];
      for (int d = 0; d < x->rank; ++d) {
        offsets[d] = tileBuildIndex(node->b, 0);
        sizes[d] = d ? x->sizes[d] : count;
        ones[d] = 1;
      }
      x = onnxSlice(node, x, offsets, sizes, ones);
    }
    if (!onnxSetOut(node, i, x))
      return false;
  }
  return true;
}

//===--- Scan -----------------------------------------------------------------===//

typedef struct Scan {
  const OnnxGraph *graph;
  int numState, numIn, numOut;
  OnnxValue *inputs[OnnxMaxInputs];
  int inAxes[OnnxMaxInputs], outAxes[OnnxMaxInputs];
  bool inBack[OnnxMaxInputs], outBack[OnnxMaxInputs];
  MlirValue count;
} Scan;

static MlirValue turned(Node *node, const Scan *scan, MlirValue at, bool isBack) {
  return isBack ? tileBuildSub(node->b, tileBuildSub(node->b, scan->count, tileBuildIndex(node->b, 1)), at) : at;
}

static bool scanStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Scan *scan = data;
  OnnxValue *inputs[OnnxMaxInputs], *outputs[OnnxMaxInputs];
  for (int i = 0; i < scan->numState; ++i)
    inputs[i] = state[i];
  for (int i = 0; i < scan->numIn; ++i)
    inputs[scan->numState + i] =
        onnxRow(node, scan->inputs[i], scan->inAxes[i], turned(node, scan, at, scan->inBack[i]));
  if (!onnxEmitTensors(node, scan->graph, scan->numState + scan->numIn, inputs, outputs))
    return false;
  for (int i = 0; i < scan->numState; ++i)
    state[i] = outputs[i];
  for (int i = 0; i < scan->numOut; ++i) {
    int o = scan->numState + i;
    state[o] = onnxWithRow(node, state[o], scan->outAxes[i], turned(node, scan, at, scan->outBack[i]), outputs[o]);
  }
  return true;
}

// The types of the rows that the body gives.
static bool tryScan(Node *node, const Scan *scan, OnnxValue **outputs) {
  MlirRegion region;
  MlirType index = mlirIndexTypeGet(node->b->context);
  TileBuilder inside = tileBuilderInRegion(node->b, &region, 1, &index), before = enter(node, inside.block);
  OnnxValue *inputs[OnnxMaxInputs];
  for (int i = 0; i < scan->numState; ++i)
    inputs[i] = node->in[i];
  for (int i = 0; i < scan->numIn; ++i)
    inputs[scan->numState + i] = onnxRow(node, scan->inputs[i], scan->inAxes[i], mlirBlockGetArgument(inside.block, 0));
  bool ok = onnxEmitTensors(node, scan->graph, scan->numState + scan->numIn, inputs, outputs);
  for (int i = 0; i < scan->numState + scan->numOut && ok; ++i) {
    OnnxValue *copy = onnxValue(node, outputs[i]->type, outputs[i]->rank, outputs[i]->sizes);
    for (int d = 0; d < copy->rank && ok; ++d) {
      MlirOperation op = tileDefiningOp(copy->sizes[d]);
      bool isInside = !mlirOperationIsNull(op) && onnxStatic(copy->sizes[d]) < 0 &&
                      mlirBlockEqual(mlirOperationGetBlock(op), inside.block);
      ok = !isInside || onnxError(node, "a size of output %d is computed by its body, which is not supported", i + 1);
    }
    outputs[i] = copy;
  }
  leave(node, before);
  mlirRegionDestroy(region);
  return ok;
}

static bool directions(Node *node, const char *name, int count, bool *isBack) {
  int64_t items[OnnxMaxInputs];
  int given;
  if (!onnxInts(node, name, OnnxMaxInputs, items, &given))
    return false;
  for (int i = 0; i < count; ++i)
    isBack[i] = i < given && items[i] == 1;
  return true;
}

bool onnxEmitScan(Node *node) {
  const OnnxAttribute *body = onnxAttribute(node, "body");
  Scan scan = {.graph = body ? body->graph : NULL, .numIn = (int)onnxInt(node, "num_scan_inputs", 0)};
  scan.numState = node->numIn - scan.numIn;
  if (!scan.graph || scan.numIn < 1 || scan.numState < 0 || scan.graph->numOutputs < scan.numState ||
      scan.graph->numOutputs > OnnxMaxInputs || node->numOut > scan.graph->numOutputs)
    return onnxError(node, "attribute body or num_scan_inputs is missing or does not fit the inputs");
  scan.numOut = (int)scan.graph->numOutputs - scan.numState;
  int64_t axes[OnnxMaxInputs], outAxes[OnnxMaxInputs];
  int numAxes, numOutAxes;
  if (!onnxInts(node, "scan_input_axes", OnnxMaxInputs, axes, &numAxes) ||
      !onnxInts(node, "scan_output_axes", OnnxMaxInputs, outAxes, &numOutAxes) ||
      !directions(node, "scan_input_directions", scan.numIn, scan.inBack) ||
      !directions(node, "scan_output_directions", scan.numOut, scan.outBack))
    return false;
  OnnxValue *state[OnnxMaxInputs], *outputs[OnnxMaxInputs];
  for (int i = 0; i < scan.numIn; ++i) {
    OnnxValue *x = scan.inputs[i] = node->in[scan.numState + i];
    if (!x || !onnxAxis(node, i < numAxes ? axes[i] : 0, x->rank, &scan.inAxes[i]))
      return x ? false : onnxError(node, "input %d is missing", scan.numState + i + 1);
    if (i == 0)
      scan.count = x->sizes[scan.inAxes[0]];
    else if (!onnxCheckSame(node, scan.count, x->sizes[scan.inAxes[i]], "the lengths of scan inputs"))
      return false;
  }
  for (int i = 0; i < scan.numState; ++i)
    if (!(state[i] = node->in[i]))
      return onnxError(node, "input %d is missing", i + 1);
  if (!tryScan(node, &scan, outputs))
    return false;
  for (int i = 0; i < scan.numOut; ++i) {
    OnnxValue *row = outputs[scan.numState + i];
    MlirValue sizes[OnnxMaxRank];
    if (!onnxAxis(node, i < numOutAxes ? outAxes[i] : 0, row->rank + 1, &scan.outAxes[i]))
      return false;
    for (int d = 0, from = 0; d <= row->rank; ++d)
      sizes[d] = d == scan.outAxes[i] ? scan.count : row->sizes[from++];
    MlirValue zero = tileBuildConstant(node->b, onnxZero(node, row->type));
    state[scan.numState + i] =
        onnxOfTensor(node, row->type, onnxFilled(node, row->type, row->rank + 1, sizes, zero), sizes);
  }
  if (!onnxFor(node, scan.count, scan.numState + scan.numOut, state, scanStep, &scan))
    return false;
  for (int i = 0; i < node->numOut; ++i)
    onnxSetOut(node, i, state[i]);
  return true;
}
