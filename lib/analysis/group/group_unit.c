// A group as one op: its launch's operands, and how each node's are numbered among them. See group_graph.h.
#include "dialects/tile/group.h"
#include "lib/analysis/group/group_graph.h"
#include "lib/analysis/group/group_launch.h"
#include "lib/ir/builder.h"

#include <assert.h>
#include <string.h>

//===--- operands ---------------------------------------------------------------===//

static int addInput(TileStructured *whole, const TileOperand *operand, bool takesOnce) {
  for (int i = 0; i < whole->numInputs; ++i)
    if (takesOnce && mlirValueEqual(whole->operands[i].value, operand->value))
      return i;
  if (whole->numInputs == MaxOperands)
    return -1;
  whole->operands[whole->numInputs] = *operand;
  return whole->numInputs++;
}

static int addCapture(TileStructured *whole, MlirValue value) {
  for (int i = 0; i < whole->numCaptures; ++i)
    if (mlirValueEqual(whole->captures[i], value))
      return i;
  if (whole->numCaptures == MaxCaptures)
    return -1;
  whole->captures[whole->numCaptures] = value;
  return whole->numCaptures++;
}

static bool isTakenBefore(const TileGroupGraph *graph, int node, int input) {
  MlirValue value = graph->nodes[node].s.operands[input].value;
  for (int n = 0; n <= node; ++n)
    for (int i = 0; i < (n < node ? graph->nodes[n].s.numInputs : input); ++i)
      if (graph->nodes[n].makers[i] < 0 && mlirValueEqual(graph->nodes[n].s.operands[i].value, value))
        return true;
  return false;
}

bool tileGroupGraphFitsKernel(const TileGroupGraph *graph) {
  int count = graph->numResults;
  for (int n = 0; n < graph->numNodes; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs; ++i)
      count += graph->nodes[n].makers[i] < 0 && !isTakenBefore(graph, n, i);
  return count <= MaxOperands;
}

// Inputs of all nodes from outside, each tensor once or (of one op, whose kernel may then serve other launches) as
// often as nodes take it, captures, and the results.
static const char *gatherOperands(const TileGroupGraph *graph, bool takesOnce, TileGroupUnit *unit) {
  TileStructured *whole = &unit->s;
  for (int n = 0; n < graph->numNodes; ++n) {
    const TileStructured *s = &graph->nodes[n].s;
    for (int i = 0; i < s->numInputs; ++i) {
      unit->operands[n][i] = graph->nodes[n].makers[i] < 0 ? addInput(whole, &s->operands[i], takesOnce) : 0;
      if (unit->operands[n][i] < 0)
        return "its kernel would have more than 16 operands";
    }
    for (int i = 0; i < s->numCaptures; ++i)
      if ((unit->captures[n][i] = addCapture(whole, s->captures[i])) < 0)
        return "its kernel would have more than 8 numbers and tables from outside";
  }
  if (whole->numInputs + graph->numResults > MaxOperands)
    return "its kernel would have more than 16 operands";
  whole->numOutputs = graph->numResults;
  for (int r = 0; r < graph->numResults; ++r) {
    const TileStructured *s = &graph->nodes[graph->results[r].node].s;
    int own = s->numInputs + graph->results[r].output;
    whole->operands[whole->numInputs + r] = s->operands[own];
    unit->operands[graph->results[r].node][own] = whole->numInputs + r;
  }
  return NULL;
}

// The axis of an operand of the launch that tells the extent.
static bool findExtent(const TileGroupGraph *graph, TileGroupUnit *unit, int dim) {
  for (int n = 0; n < graph->numNodes; ++n)
    for (int i = 0; i < graph->nodes[n].s.numInputs + graph->nodes[n].s.numOutputs; ++i) {
      const TileGroupNode *node = &graph->nodes[n];
      bool isOurs =
          i < node->s.numInputs ? node->makers[i] < 0 : tileGroupGraphResultOf(graph, n, i - node->s.numInputs) >= 0;
      for (int axis = 0; isOurs && axis < node->s.operands[i].rank; ++axis) {
        int d = node->s.operands[i].results[axis];
        if (d < 0 || node->dims[d] != dim)
          continue;
        unit->s.dims[dim].operand = unit->operands[n][i];
        unit->s.dims[dim].result = axis;
        return true;
      }
    }
  return false;
}

static const char *describeExtents(TileGroupGraph *graph, TileGroupUnit *unit) {
  for (int d = 0; d < graph->numDims; ++d)
    if (!findExtent(graph, unit, d) && mlirShapedTypeIsDynamicSize(graph->dims[d].extent))
      return "no operand of its kernel tells the extent of a dimension";
  for (int n = 0; n < graph->numNodes; ++n) {
    const TileGroupNode *node = &graph->nodes[n];
    for (int d = 0; d < node->s.numDims; ++d) {
      node->s.dims[d].extent = graph->dims[node->dims[d]].extent;
      node->s.dims[d].operand = tileGroupExtentPlace(d);
      node->s.dims[d].result = unit->s.dims[node->dims[d]].result;
    }
  }
  return NULL;
}

static const char *describeDims(TileGroupGraph *graph, TileGroupUnit *unit) {
  unit->s.numDims = graph->numDims;
  for (int d = 0; d < graph->numDims; ++d) {
    TileGroupDim *dim = &graph->dims[d];
    unit->s.dims[d] = (TileDim){.isReduction = dim->isFolded, .extent = dim->extent, .tile = dim->block, .panels = 1};
  }
  for (int n = 0; n < graph->numNodes; ++n) {
    TileStructured *s = &graph->nodes[n].s;
    int axis = 0;
    for (int d = 0; d < s->numDims; ++d) {
      const TileGroupDim *dim = &graph->dims[graph->nodes[n].dims[d]];
      s->dims[d].tile = dim->block;
      s->dims[d].step = 0;
      s->dims[d].panels = 1;
      s->dims[d].axis = dim->block > 1 || (dim->isMatrix && !dim->isOne) ? axis++ : -1;
    }
  }
  return describeExtents(graph, unit);
}

//===--- results ----------------------------------------------------------------===//

// The results in the order of the group's: each of them is some op's.
static const char *orderResults(TileGroupGraph *graph, MlirOperation group) {
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(group));
  intptr_t count = mlirOperationGetNumOperands(yield);
  if (count != graph->numResults)
    return "it gives one tensor twice, or one that it takes";
  for (int r = 0; r < count; ++r) {
    bool isFound = false;
    for (int n = 0; n < graph->numNodes && !isFound; ++n)
      for (int o = 0; o < graph->nodes[n].s.numOutputs && !isFound; ++o)
        if (mlirValueEqual(mlirOperationGetResult(graph->nodes[n].s.op, o), mlirOperationGetOperand(yield, r))) {
          graph->results[r].node = n;
          graph->results[r].output = o;
          isFound = true;
        }
    if (!isFound)
      return "it gives a tensor that no op of it computes";
  }
  return NULL;
}

const char *tileGroupGraphUnite(TileGroupGraph *graph, MlirOperation group, TileGroupUnit *unit) {
  unit->s = tileStructuredCreate(group, graph->target, MaxOperands);
  const char *reason = orderResults(graph, group);
  reason = reason ? reason : gatherOperands(graph, true, unit);
  return reason ? reason : describeDims(graph, unit);
}

//===--- one op -----------------------------------------------------------------===//

void tileGroupNodeTakeTiles(TileGroupNode *node, const TileStructured *s) {
  int axis = 0;
  for (int d = 0; d < node->s.numDims; ++d) {
    const TileDim *from = &s->dims[node->dims[d]];
    TileDim *to = &node->s.dims[d];
    to->tile = from->tile;
    to->step = from->step;
    to->panels = from->panels;
    to->axis = from->axis >= 0 ? axis++ : -1;
  }
}

static void addNode(TileGroupGraph *graph, const TileStructured *s) {
  TileGroupNode *node = &graph->nodes[graph->numNodes++];
  *node = (TileGroupNode){.kind = TileGroupKind_Map, .s = *s};
  for (int i = 0; i < MaxOperands; ++i)
    node->makers[i] = -1;
}

// The output of the second node, in the dimensions of the first one.
static void waitInResult(TileGroupGraph *graph) {
  const TileGroupNode *map = &graph->nodes[1];
  TileOperand *output = &graph->nodes[0].s.operands[graph->nodes[0].s.numInputs];
  MlirAttribute initial = output->initial;
  *output = map->s.operands[map->s.numInputs];
  tileOperandRenumber(output, map->dims, map->s.numDims);
  output->initial = initial;
}

void tileGroupGraphOfOp(TileStructured *s, const TileEpilogue *epilogue, TileGroupGraph *graph, TileGroupUnit *unit) {
  *graph = (TileGroupGraph){.target = s->target};
  addNode(graph, s);
  if (epilogue) {
    addNode(graph, epilogue->elementwise);
    graph->nodes[1].makers[epilogue->argument] = 0;
  }
  const TileStructured *last = &graph->nodes[graph->numNodes - 1].s;
  for (int o = 0; o < last->numOutputs; ++o) {
    graph->results[graph->numResults].node = graph->numNodes - 1;
    graph->results[graph->numResults++].output = o;
  }
  int same[MaxDims];
  for (int d = 0; d < MaxDims; ++d)
    same[d] = d;
  bool isRight = !tileGroupGraphConnect(graph);
  tileGroupGraphOrder(graph, same);
  for (int d = 0; d < s->numDims; ++d)
    graph->dims[d].block = s->dims[d].tile;
  if (epilogue) {
    tileGroupNodeTakeTiles(&graph->nodes[1], s);
    waitInResult(graph);
  }
  unit->s = tileStructuredCreate(last->op, s->target, MaxOperands);
  unit->s.warps = s->warps;
  unit->s.registers = s->registers;
  unit->s.group = s->group;
  unit->s.schedule = s->schedule;
  unit->s.numDims = s->numDims;
  memcpy(unit->s.dims, s->dims, MaxDims * sizeof *s->dims);
  isRight = isRight && !gatherOperands(graph, false, unit) && !describeExtents(graph, unit);
  if (epilogue)
    unit->operands[0][s->numInputs] = unit->s.numInputs;
  assert(isRight && "one op reads as a graph, and tileEpilogueFind found room");
  (void)isRight;
}

//===--- a launch ---------------------------------------------------------------===//

void tileGroupLaunchUnite(TileGroupLaunch *launch, TileGroupUnit *unit) {
  unit->s = tileStructuredCreate(launch->op, launch->graph.target, MaxOperands);
  bool isRight = !gatherOperands(&launch->graph, true, unit) && !describeDims(&launch->graph, unit);
  assert(isRight && "tileGroupLaunchRead found room");
  (void)isRight;
}
