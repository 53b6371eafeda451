// Layouts that follow from layouts, forwards and backwards. See graph.h for the relations; the algebra is lib/layout's.
#include "lib/transforms/layout/graph.h"

#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/layout/algebra.h"
#include "lib/layout/tiling.h"

//===--- numbers ----------------------------------------------------------------===//

LayoutId layoutIntern(Graph *graph, const TileLayout *layout) {
  for (uint32_t i = 0; i < graph->layoutCount; ++i)
    if (tileLayoutEquals(&graph->layouts[i], layout))
      return i + 1;
  graph->layouts = layoutGrow(graph->layouts, graph->layoutCount, &graph->layoutCapacity, sizeof *graph->layouts);
  graph->layouts[graph->layoutCount] = *layout;
  return ++graph->layoutCount;
}

const TileLayout *layoutOf(const Graph *graph, LayoutId id) { return &graph->layouts[id - 1]; }

uint32_t layoutShapeOf(MlirType type, int64_t *shape) {
  intptr_t rank = tileTypeGetRank(type);
  for (intptr_t i = 0; i < rank && i < TILE_LAYOUT_MAX_AXES; ++i)
    shape[i] = tileTypeGetSize(type, i);
  return (uint32_t)rank;
}

//===--- the relations, one by one ------------------------------------------------===//

typedef struct Step {
  const Port *port;
  MlirOperation op;
  MlirType own, side; // the variable's tile and the port's
  TileLayout layout;  // in and out
} Step;

static bool freeAxes(Step *step) {
  for (uint32_t axis = TILE_LAYOUT_MAX_AXES; axis-- > 0;)
    if (step->port->axes >> axis & 1)
      tileLayoutRemoveAxis(&step->layout, axis, &step->layout);
  return true;
}

static bool expandAxes(Step *step) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (step->port->axes >> axis & 1 &&
        !tileLayoutExpandAxis(&step->layout, axis, tileTypeGetSize(step->own, axis), &step->layout, NULL))
      return false;
  return true;
}

static bool permute(Step *step, bool back) {
  uint32_t order[TILE_LAYOUT_MAX_AXES];
  intptr_t rank = tileArrayCount(step->op, "permutation");
  for (intptr_t i = 0; i < rank && i < TILE_LAYOUT_MAX_AXES; ++i) {
    uint32_t to = (uint32_t)tileArrayAt(step->op, "permutation", i);
    order[back ? to : i] = back ? (uint32_t)i : to;
  }
  return rank <= TILE_LAYOUT_MAX_AXES && tileLayoutTranspose(&step->layout, order, (uint32_t)rank, &step->layout, NULL);
}

// Only of layouts that reach no further than the tile: row-major numbers are others beyond it.
static bool reshape(Step *step, bool back) {
  int64_t from[TILE_LAYOUT_MAX_AXES], to[TILE_LAYOUT_MAX_AXES];
  uint32_t fromRank = layoutShapeOf(back ? step->side : step->own, from);
  uint32_t toRank = layoutShapeOf(back ? step->own : step->side, to);
  return tileLayoutReshape(&step->layout, from, fromRank, to, toRank, &step->layout, NULL);
}

// `count` registers of a new innermost run along the last axis of the port's tile, taken in or out.
static bool runOfRegisters(Step *step, uint64_t count, bool back) {
  TileLayout run = tileLayoutEmpty(TileLayoutValues);
  int32_t last = (int32_t)tileTypeGetRank(step->side) - 1;
  if (count & (count - 1) || !tileLayoutAppendWalk(&run, TileLayoutReg, count, last, 1, NULL))
    return false;
  return back ? tileLayoutDivide(&step->layout, &run, &step->layout, NULL)
              : tileLayoutProduct(&run, &step->layout, &step->layout, NULL);
}

static bool recast(Step *step, bool back) {
  unsigned wide = tileElementWidth(tileTypeGetElement(step->own));
  unsigned narrow = tileElementWidth(tileTypeGetElement(step->side));
  return narrow && wide % narrow == 0 && runOfRegisters(step, wide / narrow, back);
}

// All of k in each thread that has the row or column.
static bool multiplyAdd(Step *step, uint32_t side) {
  uint32_t rank = (uint32_t)tileTypeGetRank(step->own);
  int64_t k = tileTypeGetSize(step->side, side == 0 ? rank - 1 : rank - 2);
  return tileLayoutMultiplyAdd(&step->layout, side, rank, k, &step->layout, NULL);
}

static bool forwards(Step *step) {
  switch (step->port->relation) {
  case Relation_Same:
    return true;
  case Relation_Freed:
    return freeAxes(step);
  case Relation_Permuted:
    return permute(step, false);
  case Relation_Reshaped:
    return reshape(step, false);
  case Relation_Recast:
    return recast(step, false);
  case Relation_Extended:
    return runOfRegisters(step, 4, false);
  case Relation_Lhs:
    return multiplyAdd(step, 0);
  case Relation_Rhs:
    return multiplyAdd(step, 1);
  case Relation_Places:
    return false; // no multiply-adds: a product without an atom is dense by now
  }
  return false;
}

static bool backwards(Step *step) {
  switch (step->port->relation) {
  case Relation_Same:
    return true;
  case Relation_Freed:
    return expandAxes(step);
  case Relation_Permuted:
    return permute(step, true);
  case Relation_Reshaped:
    return reshape(step, true);
  case Relation_Recast:
    return recast(step, true);
  case Relation_Extended:
    return runOfRegisters(step, 4, true);
  default:
    return false; // an operand does not tell how a product is laid out
  }
}

static Step stepOf(const Graph *graph, const Port *port, LayoutId layout) {
  const Variable *variable = &graph->variables[port->variable];
  return (Step){port, variable->op, variable->type, mlirValueGetType(port->value), *layoutOf(graph, layout)};
}

static LayoutId finish(Graph *graph, const Step *step, MlirType type) {
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(type, shape);
  return tileLayoutHolds(&step->layout, shape, rank, NULL, NULL) ? layoutIntern(graph, &step->layout) : 0;
}

LayoutId layoutOfPort(Graph *graph, const Port *port, LayoutId own) {
  if (port->relation == Relation_Same)
    return own;
  Step step = stepOf(graph, port, own);
  return forwards(&step) ? finish(graph, &step, step.side) : 0;
}

LayoutId layoutFromPort(Graph *graph, const Port *port, LayoutId layout) {
  if (port->relation == Relation_Same)
    return layout;
  Step step = stepOf(graph, port, layout);
  return backwards(&step) ? finish(graph, &step, step.own) : 0;
}
