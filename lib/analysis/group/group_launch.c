// Reads a launch with what its kernel can compute around it. See group_launch.h.
#include "lib/analysis/group/group_launch.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/capi/op.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

//===--- what a kernel does with an output ----------------------------------===//

// A view of whole tiles, side by side.
static bool isPlainView(MlirType view) {
  for (intptr_t i = 0; i < tileViewTypeGetRank(view); ++i)
    if (tileViewTypeGetStep(view, i) != tileViewTypeGetSize(view, i) || tileViewTypeGetStride(view, i) != 1 ||
        tileViewTypeGetOrder(view, i) != i)
      return false;
  return mlirAttributeIsNull(tileViewTypeGetPacked(view));
}

static void noteUse(TileOutputUses *uses, MlirOperation op, MlirValue memory) {
  bool isLoad = tileLoadOpIsA(op) || memrefLoadOpIsA(op);
  if ((tileStoreOpIsA(op) && mlirValueEqual(tileStoreOpGetDestination(op), memory)) ||
      (memrefStoreOpIsA(op) && mlirValueEqual(memrefStoreOpGetMemref(op), memory))) {
    if (tileStoreOpIsA(op))
      uses->isPlain &= mlirAttributeIsNull(tileTypeGetLayout(tileStoreOpGetValueType(op))); // not yet for threads
    if (!mlirAttributeIsNull(tileOpGetFinal(op)))
      tileOpsAppend(&uses->stores, op);
  } else if (isLoad) {
    if (!mlirAttributeIsNull(tileOpGetInitial(op)))
      tileOpsAppend(&uses->loads, op);
    else
      uses->isRead = true;
  } else {
    uses->isPlain &= tilePrefetchOpIsA(op) || memrefDimOpIsA(op) || tileNumTilesOpIsA(op);
  }
}

static MlirWalkResult noteView(MlirOperation op, void *data) {
  TileOutputUses *uses = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!mlirValueEqual(mlirOperationGetOperand(op, i), uses->parameter))
      continue;
    if (!tileViewOpIsA(op) || i > 0) {
      noteUse(uses, op, uses->parameter);
      continue;
    }
    MlirValue view = tileViewOpGetResult(op);
    uses->isPlain &= isPlainView(mlirValueGetType(view));
    for (MlirOpOperand use = mlirValueGetFirstUse(view); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      noteUse(uses, mlirOpOperandGetOwner(use), view);
  }
  return MlirWalkResultAdvance;
}

TileOutputUses tileOutputUses(MlirOperation kernel, intptr_t parameter) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
  TileOutputUses uses = {.parameter = mlirBlockGetArgument(body, parameter), .isPlain = true};
  mlirOperationWalk(kernel, noteView, &uses, MlirWalkPreOrder);
  return uses;
}

void tileOutputUsesFree(TileOutputUses *uses) {
  tileOpsFree(&uses->stores);
  tileOpsFree(&uses->loads);
}

//===--- the launch -------------------------------------------------------------===//

static bool readLaunch(MlirOperation op, TileGroupLaunch *launch) {
  enum { MostOperands = 48 };
  if (!tileLaunchOpIsA(op) || mlirOperationGetNumResults(op) != 1 || tileLaunchOpGetNumOutputs(op) != 1 ||
      !mlirAttributeIsNull(tileLaunchOpGetMeets(op)) || mlirOperationGetNumOperands(op) > MostOperands)
    return false;
  *launch = (TileGroupLaunch){.op = op,
                              .kernel = mlirExtSymbolLookup(op, tileLaunchOpGetKernel(op)),
                              .grid = tileLaunchOpGetNumGrid(op),
                              .inputs = tileLaunchOpGetNumInputs(op)};
  return tileKernelOpIsA(launch->kernel) && mlirAttributeIsNull(tileKernelOpGetArgAttrs(launch->kernel));
}

// A column's vector is the column.
static bool isColumn(MlirType vector, MlirType column) {
  return mlirShapedTypeGetRank(vector) == 1 && mlirShapedTypeGetRank(column) == 2 &&
         mlirShapedTypeGetDimSize(column, 1) == 1;
}

static bool isCollapse(MlirOperation op) {
  return tensorCollapseShapeOpIsA(op) &&
         isColumn(tensorCollapseShapeOpGetResultType(op), tensorCollapseShapeOpGetSrcType(op));
}

static bool isExpand(MlirOperation op) {
  return tensorExpandShapeOpIsA(op) &&
         isColumn(tensorExpandShapeOpGetSrcType(op), tensorExpandShapeOpGetResultType(op));
}

//===--- before it --------------------------------------------------------------===//

// What every element is filled with: a scalar of the host; null where the op does something else.
static MlirValue filledWith(const TileStructured *s) {
  MlirValue none = {NULL};
  if (s->numOutputs != 1 || s->numInputs > 1 || tileStructuredHasReduction(s))
    return none;
  MlirValue yielded = tileOnlyOperand(mlirBlockGetTerminator(s->body));
  if (s->numInputs == 1 && !s->operands[0].isTensor && mlirValueEqual(yielded, mlirBlockGetArgument(s->body, 0)))
    return s->operands[0].value;
  MlirOperation definition = tileDefiningOp(yielded);
  bool isOutside = !mlirOperationIsNull(definition) ? !mlirBlockEqual(mlirOperationGetBlock(definition), s->body)
                                                    : !mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), s->body);
  return isOutside ? yielded : none;
}

static void readFill(const TileTarget *target, const TileOutputUses *uses, TileGroupLaunch *launch) {
  MlirValue output = tileLaunchOpGetOutputs(launch->op, 0);
  MlirOperation maker = tileDefiningOp(output), expand = {NULL};
  TileStructured fill;
  if (!uses->loads.count || uses->isRead)
    return;
  for (intptr_t i = 0; i < launch->grid + launch->inputs; ++i)
    if (mlirValueEqual(mlirOperationGetOperand(launch->op, i), output))
      return;
  if (isExpand(maker)) {
    expand = maker;
    if (!tileHasOneUse(output))
      return;
    maker = tileDefiningOp(tensorExpandShapeOpGetSrc(maker));
  }
  if (!linalgGenericOpIsA(maker) || !tileStructuredRead(maker, target, &fill))
    return;
  launch->start = filledWith(&fill);
  launch->fill = mlirValueIsNull(launch->start) ? (MlirOperation){NULL} : maker;
  launch->expand = mlirValueIsNull(launch->start) ? (MlirOperation){NULL} : expand;
}

//===--- after it ---------------------------------------------------------------===//

// The elementwise op may run on what a launch stores in place of input `argument`, or of what its output holds.
static bool canFollow(const TileStructured *s, int argument) {
  bool takesOutput = s->numInputs == 0; // a body that changes what its output holds
  MlirValue value = s->operands[argument].value;
  return (takesOutput || tileEpilogueCanFollow(s)) && !tileStructuredHasReduction(s) && s->numOutputs == 1 &&
         !tileStructuredUsesPosition(s) && tileOperandIsInOrder(s, &s->operands[s->numInputs], -1) &&
         tileOperandIsInOrder(s, &s->operands[argument], -1) &&
         mlirTypeEqual(mlirValueGetType(value), tileOnlyResultType(s->op));
}

// Counts a capture that two nodes have twice.
static int numCaptures(const TileGroupGraph *graph) {
  int count = 0;
  for (int n = 0; n < graph->numNodes; ++n)
    count += graph->nodes[n].s.numCaptures;
  return count;
}

static void addNode(TileGroupGraph *graph, TileGroupKind kind, const TileStructured *s) {
  TileGroupNode *node = &graph->nodes[graph->numNodes++];
  *node = (TileGroupNode){.kind = kind, .s = *s};
  for (int i = 0; i < MaxOperands; ++i)
    node->makers[i] = -1;
  for (int d = 0; d < MaxDims; ++d)
    node->dims[d] = node->from[d] = d;
  graph->results[0].node = graph->numNodes - 1;
}

// All nodes have the dimensions of the first op behind the launch, in order.
static void takeDims(TileGroupGraph *graph, const TileStructured *s) {
  graph->numDims = graph->nodes[0].s.numDims = s->numDims;
  for (int d = 0; d < s->numDims; ++d)
    graph->dims[d] = (TileGroupDim){.extent = s->dims[d].extent, .block = 1};
}

// The elementwise op that alone uses the value, if the kernel can compute it too.
static bool addFollower(TileGroupGraph *graph, MlirOperation launch, MlirValue value) {
  TileStructured s;
  MlirOperation op = tileHasOneUse(value) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(value)) : (MlirOperation){NULL};
  if (!linalgGenericOpIsA(op) || !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(launch)) ||
      graph->numNodes == MaxGroupNodes || !tileStructuredRead(op, graph->target, &s) || s.numOutputs != 1 ||
      mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
    return false;
  int argument = 0;
  while (argument < s.numInputs && !mlirValueEqual(s.operands[argument].value, value))
    ++argument;
  if (!mlirValueEqual(s.operands[argument].value, value) || !canFollow(&s, argument) ||
      numCaptures(graph) + s.numCaptures > MaxCaptures)
    return false;
  TileGroupGraph before = *graph;
  if (graph->numNodes == 1)
    takeDims(graph, &s);
  addNode(graph, TileGroupKind_Map, &s);
  if (argument < s.numInputs)
    graph->nodes[graph->numNodes - 1].makers[argument] = graph->numNodes - 2;
  if (tileGroupGraphFitsKernel(graph))
    return true;
  *graph = before;
  return false;
}

static void readFollowers(TileGroupLaunch *launch) {
  MlirValue value = tileOnlyResult(launch->op);
  MlirOperation user =
      tileHasOneUse(value) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(value)) : (MlirOperation){NULL};
  bool isCollapsed = isCollapse(user);
  if (isCollapsed)
    value = tileOnlyResult(user);
  while (addFollower(&launch->graph, launch->op, value))
    value = tileOnlyResult(launch->graph.nodes[launch->graph.numNodes - 1].s.op);
  if (isCollapsed && launch->graph.numNodes > 1)
    launch->collapse = user;
}

bool tileGroupLaunchRead(MlirOperation op, const TileTarget *target, TileGroupLaunch *launch) {
  if (!readLaunch(op, launch))
    return false;
  launch->graph.target = target;
  launch->graph.numResults = 1;
  TileStructured s = tileStructuredCreate(op, target, 1);
  s.numOutputs = 1;
  s.operands[0] = (TileOperand){.value = tileLaunchOpGetOutputs(op, 0), .isTensor = true};
  addNode(&launch->graph, TileGroupKind_Launch, &s);
  TileOutputUses uses = tileOutputUses(launch->kernel, launch->inputs);
  if (uses.isPlain && uses.stores.count) {
    readFill(target, &uses, launch);
    readFollowers(launch);
  }
  tileOutputUsesFree(&uses);
  return launch->graph.numNodes > 1 || !mlirOperationIsNull(launch->fill);
}

bool tileGroupLaunchPrecedes(MlirOperation elementwise, const TileTarget *target) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(elementwise); ++i) {
    MlirOperation maker = tileDefiningOp(mlirOperationGetOperand(elementwise, i));
    TileGroupLaunch launch;
    if (isCollapse(maker))
      maker = tileDefiningOp(tensorCollapseShapeOpGetSrc(maker));
    if (tileGroupLaunchRead(maker, target, &launch) && launch.graph.numNodes > 1 &&
        mlirOperationEqual(launch.graph.nodes[1].s.op, elementwise))
      return true;
  }
  return false;
}
