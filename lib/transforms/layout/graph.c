// Building the graph of layouts: which tiles an op ties together, and how; layouts that follow from layouts along its
// relations, forwards and backwards. See graph.h; the algebra is lib/layout's.
// An op that is not named here ties all its tiles of one shape to one layout, as arith and math demand; tiles of other
// shapes of such an op have variables of their own.
#include "lib/transforms/layout/graph.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/layout/algebra.h"
#include "lib/layout/tiling.h"
#include "lib/support/grow.h"
#include "upstream/arith.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

#include <stdlib.h>
#include <string.h>

//===--- numbers ----------------------------------------------------------------===//

LayoutId layoutIntern(Graph *graph, const TileLayout *layout) {
  for (uint32_t i = 0; i < graph->layoutCount; ++i)
    if (tileLayoutEquals(&graph->layouts[i], layout))
      return i + 1;
  graph->layouts = tessera_grow(graph->layouts, graph->layoutCount, sizeof *graph->layouts);
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

//===--- values ---------------------------------------------------------------===//

Value *layoutValueOf(Graph *graph, MlirValue value) {
  if (!tileTypeIsATile(mlirValueGetType(value)))
    return NULL;
  uintptr_t number = (uintptr_t)tileTableFind(&graph->numbers, value.ptr);
  if (!number) {
    graph->values = tessera_grow(graph->values, graph->valueCount, sizeof *graph->values);
    graph->values[graph->valueCount] = (Value){.value = value, .definition = NoPort, .weight = 1};
    number = ++graph->valueCount;
    tileTableSet(&graph->numbers, value.ptr, (void *)number);
  }
  return &graph->values[number - 1];
}

double layoutWeightOf(MlirBlock block) {
  double weight = 1;
  for (MlirOperation op = mlirBlockGetParentOperation(block); !mlirOperationIsNull(op) && !tileKernelOpIsA(op);
       op = mlirOperationGetParentOperation(op))
    if ((scfForOpIsA(op) || scfWhileOpIsA(op)) && weight < 1e6)
      weight *= 8; // trip counts are rarely known; eight makes inner conversions dear
  return weight;
}

//===--- variables and ports ----------------------------------------------------===//

static bool isCombiner(MlirOperation op) { return tileReduceOpIsA(op) || tileScanOpIsA(op); }

// Whether layouts of the op's tiles may reach beyond them. Not where what is void would be multiplied, lie in a buffer,
// or be combined without a known neutral element.
static bool takesVoid(MlirOperation op) {
  if (tileIsProduct(op) || tileMmaScaledOpIsA(op))
    return false;
  if (isCombiner(op))
    return tileHas(op, "operation") || tileHas(op, "neutral");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsABuffer(tileOperandType(op, i)))
      return false;
  return true;
}

static uint32_t addVariable(Graph *graph, VariableKind kind, MlirOperation op, MlirType type) {
  graph->variables = tessera_grow(graph->variables, graph->variableCount, sizeof *graph->variables);
  graph->variables[graph->variableCount] = (Variable){.kind = kind,
                                                      .isExact = !takesVoid(op),
                                                      .op = op,
                                                      .type = type,
                                                      .weight = layoutWeightOf(mlirOperationGetBlock(op)),
                                                      .firstPort = graph->portCount};
  return graph->variableCount++;
}

// Ports of a variable are added right after it: they lie side by side.
static Port *addPort(Graph *graph, MlirValue value, MlirOperation user, intptr_t operand, Relation relation) {
  Value *tile = layoutValueOf(graph, value);
  Variable *variable = &graph->variables[graph->variableCount - 1];
  if (!tile)
    return NULL;
  graph->ports = tessera_grow(graph->ports, graph->portCount, sizeof *graph->ports);
  Port *port = &graph->ports[graph->portCount];
  *port = (Port){.value = value, .op = user, .operand = operand, .relation = relation};
  port->tile = (uint32_t)(tile - graph->values);
  port->variable = graph->variableCount - 1;
  if (operand < 0) {
    tile->definition = graph->portCount;
  } else {
    tile->uses = tessera_grow(tile->uses, tile->useCount, sizeof *tile->uses);
    tile->uses[tile->useCount++] = graph->portCount;
  }
  ++graph->portCount;
  ++variable->portCount;
  return port;
}

static Port *addUse(Graph *graph, MlirOperation op, intptr_t operand, Relation relation) {
  return addPort(graph, mlirOperationGetOperand(op, operand), op, operand, relation);
}

static Port *addDefinition(Graph *graph, MlirValue value, Relation relation) {
  Port *port = addPort(graph, value, (MlirOperation){NULL}, -1, relation);
  if (port)
    layoutValueOf(graph, value)->weight =
        layoutWeightOf(mlirValueIsAOpResult(value) ? mlirOperationGetBlock(mlirOpResultGetOwner(value))
                                                   : mlirBlockArgumentGetOwner(value));
  return port;
}

uint32_t layoutAxesOf(MlirOperation op) {
  int64_t axis = 0;
  uint32_t axes = 0;
  if (tileIntegerOf(op, "axis", &axis))
    return 1u << axis;
  for (intptr_t i = 0; i < tileArrayCount(op, "axes"); ++i)
    axes |= 1u << tileArrayAt(op, "axes", i);
  return axes;
}

MlirValue layoutMemoryOf(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_Load:
    return tileLoadOpGetSource(op);
  case TileOp_Gather:
    return tileGatherOpGetSource(op);
  case TileOp_Store:
    return tileStoreOpGetDestination(op);
  case TileOp_Scatter:
    return tileScatterOpGetDestination(op);
  default:
    return tileOpOperand(op, "memory");
  }
}

static void freed(Port *port, uint32_t axes) {
  if (!port)
    return;
  port->relation = axes ? Relation_Freed : Relation_Same;
  port->axes = axes;
}

//===--- control flow -------------------------------------------------------------===//

// A tile carried through control flow: all its names have one layout.
static void startCarried(Graph *graph, MlirOperation op, MlirType type) {
  addVariable(graph, Variable_Carried, op, type);
}

static MlirOperation terminatorOf(MlirOperation op, intptr_t region) {
  return mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)));
}

static MlirValue argumentOf(MlirOperation op, intptr_t region, intptr_t index) {
  return mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region)), index);
}

static void addFor(Graph *graph, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    if (!tileTypeIsATile(tileResultType(op, i)))
      continue;
    startCarried(graph, op, tileResultType(op, i));
    addUse(graph, op, i + 3, Relation_Same);
    addUse(graph, terminatorOf(op, 0), i, Relation_Same);
    addDefinition(graph, argumentOf(op, 0, i + 1), Relation_Same);
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  }
}

static void addWhile(Graph *graph, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!tileTypeIsATile(tileOperandType(op, i)))
      continue;
    startCarried(graph, op, tileOperandType(op, i));
    addUse(graph, op, i, Relation_Same);
    addUse(graph, terminatorOf(op, 1), i, Relation_Same);
    addDefinition(graph, argumentOf(op, 0, i), Relation_Same);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    if (!tileTypeIsATile(tileResultType(op, i)))
      continue;
    startCarried(graph, op, tileResultType(op, i));
    addUse(graph, terminatorOf(op, 0), i + 1, Relation_Same);
    addDefinition(graph, argumentOf(op, 1, i), Relation_Same);
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  }
}

static void addIf(Graph *graph, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    if (!tileTypeIsATile(tileResultType(op, i)))
      continue;
    startCarried(graph, op, tileResultType(op, i));
    addUse(graph, terminatorOf(op, 0), i, Relation_Same);
    addUse(graph, terminatorOf(op, 1), i, Relation_Same);
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  }
}

//===--- tile ops ------------------------------------------------------------------===//

static void addBroadcast(Graph *graph, MlirOperation op) {
  bool isScalar = !tileTypeIsATile(tileBroadcastOpGetInputType(op));
  addVariable(graph, isScalar ? Variable_Source : Variable_Elementwise, op, tileBroadcastOpGetResultType(op));
  addDefinition(graph, tileBroadcastOpGetResult(op), Relation_Same);
  freed(addUse(graph, op, 0, Relation_Freed), layoutAxesOf(op));
}

static void addReduce(Graph *graph, MlirOperation op) {
  addVariable(graph, Variable_Reduce, op, mlirValueGetType(tileReduceOpGetInputs(op, 0)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    addUse(graph, op, i, Relation_Same);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    freed(addDefinition(graph, mlirOperationGetResult(op, i), Relation_Freed), layoutAxesOf(op));
}

// inputs, initial states -> scanned, final states: the latter half lacks the axis.
static void addScan(Graph *graph, MlirOperation op) {
  intptr_t begin, inputs, rank = tileTypeGetRank(mlirValueGetType(tileScanOpGetInputs(op, 0)));
  tileOpOperands(op, "inputs", &begin, &inputs);
  addVariable(graph, Variable_Scan, op, mlirValueGetType(tileScanOpGetInputs(op, 0)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    freed(addUse(graph, op, i, Relation_Same), tileTypeGetRank(tileOperandType(op, i)) == rank ? 0 : layoutAxesOf(op));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    freed(addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same),
          tileTypeGetRank(tileResultType(op, i)) == rank ? 0 : layoutAxesOf(op));
}

static void addMove(Graph *graph, MlirOperation op, Relation relation) {
  addVariable(graph, Variable_Elementwise, op, tileOnlyOperandType(op));
  addUse(graph, op, 0, Relation_Same);
  addDefinition(graph, tileOnlyResult(op), relation);
}

static void addProduct(Graph *graph, MlirOperation op) {
  addVariable(graph, Variable_Product, op, tileOnlyResultType(op));
  static const Relation sides[] = {Relation_Lhs, Relation_Rhs, Relation_Same, Relation_Places};
  for (intptr_t i = 0, count = mlirOperationGetNumOperands(op); i < count; ++i) {
    bool isScaled = count == 5;
    addUse(graph, op, i, sides[isScaled ? i / 2 : i]);
  }
  addDefinition(graph, tileOnlyResult(op), Relation_Same);
}

// Its factors in buffers have no layout to choose.
static void addAsyncProduct(Graph *graph, MlirOperation op) {
  if (!mlirOperationGetNumResults(op))
    return;
  addVariable(graph, Variable_Product, op, tileMmaAsyncOpGetAccumulatorType(op));
  addUse(graph, op, 0, Relation_Lhs);
  addUse(graph, op, 2, Relation_Same);
  addDefinition(graph, tileMmaAsyncOpGetResult(op), Relation_Same);
}

static bool hasShapeOf(MlirValue value, MlirType type) {
  return tileTypeIsATile(mlirValueGetType(value)) && tileTypeHasSameShape(mlirValueGetType(value), type);
}

// A tile of indices along one axis of the view: it goes with the others freed.
static void addIndexTile(Graph *graph, MlirOperation op, intptr_t operand, intptr_t axis, intptr_t rank) {
  Port *port = addUse(graph, op, operand, Relation_Freed);
  freed(port, ((1u << rank) - 1) & ~(1u << axis));
}

// gather, scatter, atomics: by elements of a view's axes, or element by element; on the chip the source is any tile.
static void addAccess(Graph *graph, MlirOperation op, VariableKind kind, MlirType type) {
  intptr_t begin = 0, count = 0, rank = tileTypeGetRank(type);
  addVariable(graph, kind, op, type);
  tileOpOperands(op, "indices", &begin, &count);
  MlirValue memory = mlirOperationGetOperand(op, begin ? begin - 1 : 0);
  bool isView = tileTypeIsAView(mlirValueGetType(memory)), onChip = tileHas(op, "axis");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (isView && i >= begin && i < begin + count && tileTypeIsATile(tileOperandType(op, i)))
      addIndexTile(graph, op, i, i - begin, rank);
    else if (hasShapeOf(mlirOperationGetOperand(op, i), type) && !(onChip && i == begin - 1))
      addUse(graph, op, i, Relation_Same);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  if (!onChip)
    return;
  addVariable(graph, Variable_Elementwise, op, mlirValueGetType(memory));
  addUse(graph, op, begin - 1, Relation_Same);
}

static MlirType firstTileOf(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i)))
      return tileResultType(op, i);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsATile(tileOperandType(op, i)))
      return tileOperandType(op, i);
  return (MlirType){NULL};
}

// Tiles of the first one's shape share its variable, each other one has its own.
static void addElementwise(Graph *graph, MlirOperation op, VariableKind kind) {
  MlirType type = firstTileOf(op);
  if (mlirTypeIsNull(type))
    return;
  if (mlirOperationGetNumRegions(op)) {
    graph->failed = !tileError(op, "carries tiles through regions, expected scf.for, scf.while or scf.if");
    return;
  }
  addVariable(graph, kind, op, type);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (hasShapeOf(mlirOperationGetOperand(op, i), type))
      addUse(graph, op, i, Relation_Same);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (hasShapeOf(mlirOperationGetResult(op, i), type))
      addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType other = tileOperandType(op, i);
    if (!tileTypeIsATile(other) || tileTypeHasSameShape(other, type))
      continue;
    addVariable(graph, Variable_Elementwise, op, other);
    addUse(graph, op, i, Relation_Same);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType other = tileResultType(op, i);
    if (!tileTypeIsATile(other) || tileTypeHasSameShape(other, type))
      continue;
    addVariable(graph, Variable_Elementwise, op, other);
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
  }
}

// Moves whose parts may lie anywhere: slice, cat, histogram, some bitcasts.
static void addApart(Graph *graph, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsATile(tileOperandType(op, i))) {
      addVariable(graph, Variable_Elementwise, op, tileOperandType(op, i));
      addUse(graph, op, i, Relation_Same);
    }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i))) {
      addVariable(graph, Variable_Elementwise, op, tileResultType(op, i));
      addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
    }
}

// The keys and what goes with them lie alike, before the choice and after it.
static void addTopk(Graph *graph, MlirOperation op) {
  addVariable(graph, Variable_Elementwise, op, tileFirstOperandType(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    addUse(graph, op, i, Relation_Same);
  addVariable(graph, Variable_Elementwise, op, tileFirstResultType(op));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    addDefinition(graph, mlirOperationGetResult(op, i), Relation_Same);
}

// The part lies anywhere; the result lies as what it is inserted into.
static void addInsert(Graph *graph, MlirOperation op) {
  addVariable(graph, Variable_Elementwise, op, tileInsertOpGetInputType(op));
  addUse(graph, op, 0, Relation_Same);
  addVariable(graph, Variable_Elementwise, op, tileInsertOpGetResultType(op));
  addUse(graph, op, 1, Relation_Same);
  addDefinition(graph, tileInsertOpGetResult(op), Relation_Same);
}

static void addTranspose(Graph *graph, MlirOperation op) { addMove(graph, op, Relation_Permuted); }
static void addReshape(Graph *graph, MlirOperation op) {
  int64_t from[TILE_LAYOUT_MAX_AXES], to[TILE_LAYOUT_MAX_AXES];
  uint32_t fromRank = layoutShapeOf(tileReshapeOpGetInputType(op), from),
           toRank = layoutShapeOf(tileReshapeOpGetResultType(op), to);
  if (tileLayoutIsReshapeLinear(from, fromRank, to, toRank))
    addMove(graph, op, Relation_Reshaped);
  else
    addApart(graph, op);
}
// The variable belongs to the side with the wider elements; where one is no power of two times the other, both are.
static void addBitcast(Graph *graph, MlirOperation op) {
  MlirType from = tileBitcastOpGetInputType(op), to = tileBitcastOpGetResultType(op);
  unsigned before = tileElementWidth(tileTypeGetElement(from)), after = tileElementWidth(tileTypeGetElement(to));
  unsigned wide = before > after ? before : after, narrow = before > after ? after : before, factor = wide / narrow;
  if (wide % narrow || factor & (factor - 1)) {
    addApart(graph, op);
    return;
  }
  addVariable(graph, Variable_Elementwise, op, before > after ? from : to);
  addUse(graph, op, 0, before > after ? Relation_Same : Relation_Recast);
  addDefinition(graph, tileBitcastOpGetResult(op), before > after ? Relation_Recast : Relation_Same);
}

static void addRandom(Graph *graph, MlirOperation op) {
  MlirValue counter = tileOpOperand(op, "counter");
  bool isTile = tileTypeIsATile(mlirValueGetType(counter));
  addVariable(graph, Variable_Elementwise, op, isTile ? mlirValueGetType(counter) : tileRandomOpGetResultType(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    addUse(graph, op, i, Relation_Same); // the seed is a scalar
  addDefinition(graph, tileRandomOpGetResult(op), isTile ? Relation_Extended : Relation_Same);
}
static void addLoad(Graph *graph, MlirOperation op) {
  if (!mlirTypeIsNull(firstTileOf(op)))
    addAccess(graph, op, Variable_Load, tileOnlyResultType(op));
}
static void addStore(Graph *graph, MlirOperation op) {
  MlirType value = tileStoreOpIsA(op) ? tileStoreOpGetValueType(op) : tileScatterOpGetValueType(op);
  if (tileTypeIsATile(value))
    addAccess(graph, op, Variable_Store, value);
}
static void addAtomic(Graph *graph, MlirOperation op) {
  if (!mlirTypeIsNull(firstTileOf(op)))
    addAccess(graph, op, Variable_Store, firstTileOf(op));
}
static void addSource(Graph *graph, MlirOperation op) { addElementwise(graph, op, Variable_Source); }
static void addNothing(Graph *graph, MlirOperation op) { (void)graph, (void)op; }

static const struct {
  bool (*isOf)(MlirOperation op);
  void (*add)(Graph *graph, MlirOperation op);
} rows[] = {
    {scfForOpIsA, addFor},
    {scfWhileOpIsA, addWhile},
    {scfIfOpIsA, addIf},
    {scfYieldOpIsA, addNothing},
    {scfConditionOpIsA, addNothing},
    {tileKernelOpIsA, addNothing},
    {tileBroadcastOpIsA, addBroadcast},
    {tileReduceOpIsA, addReduce},
    {tileScanOpIsA, addScan},
    {tileTransposeOpIsA, addTranspose},
    {tileReshapeOpIsA, addReshape},
    {tileBitcastOpIsA, addBitcast},
    {tileRandomOpIsA, addRandom},
    {tileMmaOpIsA, addProduct},
    {tileMmaSparseOpIsA, addProduct},
    {tileMmaScaledOpIsA, addProduct},
    {tileMmaAsyncOpIsA, addAsyncProduct},
    {tileLoadOpIsA, addLoad},
    {tileGatherOpIsA, addLoad},
    {tileStoreOpIsA, addStore},
    {tileScatterOpIsA, addStore},
    {tileAtomicRmwOpIsA, addAtomic},
    {tileAtomicCasOpIsA, addAtomic},
    {tileIotaOpIsA, addSource},
    {arithConstantOpIsA, addSource},
    {ubPoisonOpIsA, addSource},
    {tileSliceOpIsA, addApart},
    {tileInsertOpIsA, addInsert},
    {tileCatOpIsA, addApart},
    {tileTopkOpIsA, addTopk},
    {tileHistogramOpIsA, addApart},
};

static MlirWalkResult visit(MlirOperation op, void *data) {
  Graph *graph = data;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].isOf(op)) {
      rows[i].add(graph, op);
      return MlirWalkResultAdvance;
    }
  addElementwise(graph, op, Variable_Elementwise);
  return MlirWalkResultAdvance;
}

//===--- what can be made anew -------------------------------------------------------===//

// Ops needed to make a tile again from scalars, or 0: sources, and cheap ops on such tiles.
static uint32_t rematerialsOf(Graph *graph, MlirValue value, int depth) {
  MlirOperation op = tileDefiningOp(value);
  Value *tile = layoutValueOf(graph, value);
  if (mlirOperationIsNull(op) || !tile || tile->definition == NoPort || depth > 8 ||
      mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op))
    return 0;
  Variable *variable = &graph->variables[graph->ports[tile->definition].variable];
  if (variable->kind == Variable_Source)
    return 1;
  bool isCheap = tileOpMovesElements(op) || (tileOpIsElementwise(op) && !tileOpIsFunction(op));
  uint32_t sum = 1;
  for (intptr_t i = 0; isCheap && i < mlirOperationGetNumOperands(op); ++i) {
    uint32_t part = 1;
    if (tileTypeIsATile(tileOperandType(op, i)))
      part = rematerialsOf(graph, mlirOperationGetOperand(op, i), depth + 1);
    sum += part;
    isCheap = part > 0;
  }
  return isCheap ? sum : 0;
}

static bool checkDefined(Graph *graph) {
  for (uint32_t i = 0; i < graph->valueCount; ++i) {
    // May add values, and move them all.
    uint32_t rematerials = rematerialsOf(graph, graph->values[i].value, 0);
    Value *value = &graph->values[i];
    if (value->definition == NoPort)
      return tileErrorAt(mlirValueGetLocation(value->value),
                         "tile-assign-layouts cannot tell where this tile is defined");
    value->rematerials = rematerials;
    value->canRematerialize = rematerials > 0;
  }
  return true;
}

bool layoutGraphBuild(Graph *graph) {
  mlirOperationWalk(graph->kernel, visit, graph, MlirWalkPreOrder);
  return !graph->failed && checkDefined(graph);
}

void layoutGraphDestroy(Graph *graph) {
  for (uint32_t i = 0; i < graph->variableCount; ++i)
    for (uint32_t c = 0; c < graph->variables[i].candidateCount; ++c)
      free(graph->variables[i].candidates[c].ports);
  for (uint32_t i = 0; i < graph->valueCount; ++i)
    free(graph->values[i].uses);
  free(graph->ports);
  free(graph->variables);
  free(graph->values);
  tileTableFree(&graph->numbers);
  free(graph->layouts);
  free(graph->prices);
  tileTableFree(&graph->priced);
}
