// Writing a choice of layouts into the kernel: types, conversions, values made anew, the atoms of products.
// A conversion stands right behind the definition of what it converts, once per layout: out of loops that only use it.
#include "lib/transforms/layout/graph.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/support/grow.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

#include <stdlib.h>

typedef struct Made {
  MlirValue from, made;
  LayoutId layout;
} Made;

typedef struct Writer {
  Graph *graph;
  Made *made;
  uint32_t madeCount;
  LayoutCounts *counts;
} Writer;

static MlirType typeWith(const Graph *graph, MlirType type, LayoutId layout) {
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(type, shape);
  return tileTileTypeGet(rank, shape, tileTypeGetElement(type),
                         tileLayoutAttrGet(graph->context, layoutOf(graph, layout)));
}

static void setResult(MlirOperation op, MlirType type) {
  mlirValueSetType(tileOnlyResult(op), type);
  MlirAttribute value = tileOpAttribute(op, "value");
  if (arithConstantOpIsA(op) && mlirAttributeIsADenseElements(value))
    mlirOperationSetAttributeByName(op, tileString("value"), mlirDenseElementsAttrReshapeGet(value, type));
}

//===--- making a tile in another layout --------------------------------------------------===//

static MlirValue valueIn(Writer *writer, MlirValue value, LayoutId layout);

static MlirValue *remembered(Writer *writer, MlirValue value, LayoutId layout) {
  for (uint32_t i = 0; i < writer->madeCount; ++i)
    if (writer->made[i].layout == layout && mlirValueEqual(writer->made[i].from, value))
      return &writer->made[i].made;
  return NULL;
}

static MlirValue remember(Writer *writer, MlirValue from, LayoutId layout, MlirValue made) {
  writer->made = tessera_grow(writer->made, writer->madeCount, sizeof *writer->made);
  writer->made[writer->madeCount++] = (Made){from, made, layout};
  return made;
}

static TileBuilder behind(MlirValue value) {
  if (mlirValueIsAOpResult(value))
    return tileBuilderAfter(mlirOpResultGetOwner(value));
  return tileBuilderAtStart(mlirBlockArgumentGetOwner(value), mlirValueGetLocation(value));
}

// A copy of the op, behind the op, with operands in the layouts that follow. Null if a layout does not follow.
static MlirValue makeAnew(Writer *writer, const Value *value, LayoutId layout) {
  Graph *graph = writer->graph;
  MlirOperation op = tileDefiningOp(value->value);
  const Variable *variable = &graph->variables[graph->ports[value->definition].variable];
  LayoutId own = layoutFromPort(graph, &graph->ports[value->definition], layout);
  LayoutId wanted[8] = {0};
  MlirValue sources[8]; // as the graph knows them: the op may take another one's conversion by now
  for (uint32_t i = 0; own && i < variable->portCount; ++i) {
    const Port *port = &graph->ports[variable->firstPort + i];
    if (port->operand >= 0 && (port->operand >= 8 || !(wanted[port->operand] = layoutOfPort(graph, port, own))))
      return (MlirValue){NULL};
    if (port->operand >= 0)
      sources[port->operand] = graph->values[port->tile].value;
  }
  if (!own || layoutOfPort(graph, &graph->ports[value->definition], own) != layout)
    return (MlirValue){NULL};
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && i < 8; ++i)
    if (wanted[i])
      mlirOperationSetOperand(copy, i, valueIn(writer, sources[i], wanted[i]));
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(op), op, copy);
  setResult(copy, typeWith(graph, mlirValueGetType(value->value), layout));
  ++writer->counts->copies;
  return tileOnlyResult(copy);
}

static void count(Writer *writer, const Value *value, LayoutId from, LayoutId to) {
  Graph *graph = writer->graph;
  MlirType type = mlirValueGetType(value->value);
  TileConversionTarget target = graph->target;
  TileConversion plan;
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(type, shape);
  target.elementBits = layoutElementBits(type);
  ++writer->counts->conversions;
  if (!tileConversionPlan(layoutOf(graph, from), layoutOf(graph, to), shape, rank, &target, &plan, NULL)) {
    plan.kind = TileConversionShared; // element by element
    plan.cost.cycles = layoutPriceOfConversion(graph, type, from, to);
  }
  ++writer->counts->kinds[plan.kind];
  writer->counts->cycles += plan.cost.cycles * value->weight;
}

static MlirValue convert(Writer *writer, const Value *value, LayoutId from, LayoutId layout) {
  MlirValue source = value->value;
  TileBuilder builder = behind(source);
  count(writer, value, from, layout);
  return tileConvertLayoutOpBuild(&builder, typeWith(writer->graph, mlirValueGetType(source), layout), source);
}

static bool isCheaperAnew(Graph *graph, const Value *value, LayoutId from, LayoutId to) {
  return value->canRematerialize &&
         layoutPriceAnew(graph, value, to) <= layoutPriceOfConversion(graph, mlirValueGetType(value->value), from, to);
}

static MlirValue valueIn(Writer *writer, MlirValue value, LayoutId layout) {
  Value tile = *layoutValueOf(writer->graph, value);
  LayoutId defined = layoutChosenAt(writer->graph, tile.definition);
  MlirValue *before = remembered(writer, value, layout), made = {NULL};
  if (defined == layout)
    return value;
  if (before)
    return *before;
  if (isCheaperAnew(writer->graph, &tile, defined, layout))
    made = makeAnew(writer, &tile, layout);
  if (mlirValueIsNull(made))
    made = convert(writer, &tile, defined, layout);
  return remember(writer, value, layout, made);
}

//===--- the kernel -------------------------------------------------------------------------===//

static void setTypes(Graph *graph) {
  for (uint32_t i = 0; i < graph->valueCount; ++i) {
    MlirValue value = graph->values[i].value;
    MlirType type = typeWith(graph, mlirValueGetType(value), layoutChosenAt(graph, graph->values[i].definition));
    MlirOperation op = tileDefiningOp(value);
    if (arithConstantOpIsA(op))
      setResult(op, type);
    else
      mlirValueSetType(value, type);
  }
}

static void setAtoms(Graph *graph) {
  for (uint32_t i = 0; i < graph->variableCount; ++i) {
    const Variable *variable = &graph->variables[i];
    const char *atom = variable->candidates[variable->chosen].atom;
    if (variable->kind == Variable_Product)
      mlirOperationSetAttributeByName(variable->op, tileString("atom"),
                                      mlirStringAttrGet(graph->context, tileString(atom)));
  }
}

// Sources whose every use took a copy. Later ones first: they may be the last use of earlier ones.
static void dropUnused(Graph *graph) {
  for (uint32_t i = graph->valueCount; i-- > 0;) {
    MlirValue value = graph->values[i].value;
    if (graph->values[i].canRematerialize && mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
      mlirOperationDestroy(tileDefiningOp(value));
  }
}

void layoutApply(Graph *graph, LayoutCounts *counts) {
  Writer writer = {.graph = graph, .counts = counts};
  setTypes(graph);
  for (uint32_t i = 0; i < graph->portCount; ++i) {
    const Port *port = &graph->ports[i];
    if (port->operand >= 0)
      mlirOperationSetOperand(port->op, port->operand, valueIn(&writer, port->value, layoutChosenAt(graph, i)));
  }
  setAtoms(graph);
  dropUnused(graph);
  free(writer.made);
}
