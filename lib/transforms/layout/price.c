// What layouts cost, in cycles of one core for a block of the kernel. See graph.h.
// Model: conversions as lib/layout prices them; elsewhere instructions, shuffles, accesses and barriers by the
//   machine's `model.layout.*`, and memory by the segments that one instruction touches. Only differences count.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/memory_facts.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"
#include "lib/support/integer.h"
#include "lib/transforms/layout/graph.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t layoutElementBits(MlirType type) {
  unsigned bits = tileElementWidth(tileTypeGetElement(type));
  return bits == 0 ? 64 : bits < 8 ? 8 : bits;
}

static bool isNothing(const TileLayoutPoint *step) {
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    if (step->at[axis])
      return false;
  return true;
}

uint64_t layoutRegisters(const TileLayout *layout) {
  uint64_t count = tileLayoutDimSize(layout, TileLayoutReg);
  for (uint32_t i = 0; i < layout->bits[TileLayoutReg]; ++i)
    count >>= isNothing(&layout->steps[i]) ? 1 : 0;
  return count;
}

// Bits of the dimension that move along one of the axes.
static uint32_t bitsAlong(const TileLayout *layout, uint32_t dim, uint32_t axes) {
  uint32_t first = 0, count = 0;
  for (uint32_t before = 0; before < dim; ++before)
    first += layout->bits[before];
  for (uint32_t i = 0; i < layout->bits[dim]; ++i)
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      if (axes >> axis & 1 && layout->steps[first + i].at[axis]) {
        ++count;
        break;
      }
  return count;
}

static uint32_t copyBits(const TileLayout *layout, uint32_t dim) {
  uint32_t first = 0, count = 0;
  for (uint32_t before = 0; before < dim; ++before)
    first += layout->bits[before];
  for (uint32_t i = 0; i < layout->bits[dim]; ++i)
    count += isNothing(&layout->steps[first + i]);
  return count;
}

//===--- conversions ------------------------------------------------------------------===//

static uint32_t priceSlot(const Graph *graph, uint64_t key) {
  uint32_t slot = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 40) & (graph->priceSlots - 1);
  while (graph->prices[slot].key && graph->prices[slot].key != key)
    slot = (slot + 1) & (graph->priceSlots - 1);
  return slot;
}

static void growPrices(Graph *graph) {
  PriceEntry *before = graph->prices;
  uint32_t count = graph->priceSlots;
  graph->priceSlots = count ? count * 2 : 1024;
  graph->prices = calloc(graph->priceSlots, sizeof *graph->prices);
  for (uint32_t i = 0; i < count; ++i)
    if (before[i].key)
      graph->prices[priceSlot(graph, before[i].key)] = before[i];
  free(before);
}

static double planPrice(Graph *graph, MlirType type, LayoutId from, LayoutId to) {
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(type, shape);
  TileConversion plan;
  TileConversionTarget target = graph->target;
  target.elementBits = layoutElementBits(type);
  if (!tileConversionPlan(layoutOf(graph, from), layoutOf(graph, to), shape, rank, &target, &plan, NULL))
    return graph->warps * (double)(layoutRegisters(layoutOf(graph, from)) + layoutRegisters(layoutOf(graph, to))) *
               graph->model.elementCycles +
           2 * (double)graph->model.barrierCycles; // element by element, through shared memory
  // A conversion is never free: it costs moves or registers at least.
  return plan.kind == TileConversionNone ? 0 : plan.cost.cycles + plan.cost.moves * 0.01;
}

double layoutPriceOfConversion(Graph *graph, MlirType type, LayoutId from, LayoutId to) {
  uint64_t key = (uint64_t)from << 36 | (uint64_t)to << 8 | layoutElementBits(type);
  if (from == to)
    return 0;
  if (graph->priceCount * 2 >= graph->priceSlots)
    growPrices(graph);
  uint32_t slot = priceSlot(graph, key);
  if (!graph->prices[slot].key) {
    graph->prices[slot] = (PriceEntry){key, planPrice(graph, type, from, to)};
    ++graph->priceCount;
  }
  return graph->prices[slot].cycles;
}

//===--- memory --------------------------------------------------------------------------===//

// Segments of memory that the lanes of warp 0 touch with one instruction: rows apart are segments apart.
static uint32_t segmentsOf(const TileLayout *layout, uint32_t fast, uint32_t perSegment) {
  TileLayoutPoint seen[128];
  uint32_t count = 0, lanes = (uint32_t)tileLayoutDimSize(layout, TileLayoutLane);
  for (uint32_t lane = 0; lane < lanes && lane < 128; ++lane) {
    TileLayoutPoint at = tileLayoutApply(layout, (TileLayoutPoint){{0, lane}});
    uint32_t i = 0;
    at.at[fast] /= perSegment ? perSegment : 1;
    while (i < count && memcmp(&seen[i], &at, sizeof at))
      ++i;
    if (i == count)
      seen[count++] = at;
  }
  return count;
}

// Cycles that one segment takes of a core's share of the level's bandwidth. The level is "l2", or the core's own
// cache: "l1" where the machine lists one, else what divides the memory of "shared" with it.
static double segmentCycles(const Graph *graph, const char *level, int64_t transaction) {
  int64_t cores = 0, clock = 0;
  TileMachineLevel cache = {.bandwidth = 0};
  if (!tileMachineGetLevel(graph->machine, level, &cache) && !strcmp(level, "l1"))
    tileMachineGetLevel(graph->machine, "shared", &cache);
  tileMachineGetInteger(graph->machine, "cores", &cores);
  tileMachineGetInteger(graph->machine, "clock.hz", &clock);
  double perCycle = cores && clock ? (double)cache.bandwidth / (double)cores / (double)clock : 0;
  return perCycle > 0 ? (double)transaction / perCycle : 1;
}

static double priceAccess(Graph *graph, const Variable *variable, const TileLayout *layout) {
  uint32_t order[TILE_LAYOUT_MAX_AXES], bytes = layoutElementBits(variable->type) / 8;
  MlirValue memory = layoutMemoryOf(variable->op);
  int64_t transaction = 32;
  TileAccessLimits limits = {.elementBytes = bytes, .vectorBytes = bytes > 16 ? bytes : 16};
  tileMachineGetInteger(graph->machine, "global.transaction", &transaction);
  double warps = graph->warps, segment = segmentCycles(graph, "l2", transaction);
  if (variable->kind == Variable_Store)
    warps /= 1u << copyBits(layout, TileLayoutWarp); // one of them stores
  if (!tileTypeIsAView(mlirValueGetType(memory)))
    return warps * (double)layoutRegisters(layout) * (graph->model.accessCycles + segment * graph->lanes);
  TileMemoryFacts facts = layoutMemoryFacts(variable->op, memory, order);
  uint32_t vector = tileAccessWidest(layout, &facts, &limits, NULL);
  double instructions = (double)layoutRegisters(layout) / vector;
  // What several lanes ask for is fetched once, and the core's own cache gives it to each of them. In a loop, what is
  // loaded between displaces it there.
  double fetched = segment * segmentsOf(layout, order[0], (uint32_t)transaction / bytes);
  double given = (double)graph->lanes * vector * bytes / (double)transaction;
  given *= variable->weight > 1 ? segment : segmentCycles(graph, "l1", transaction);
  return warps * instructions * (graph->model.accessCycles + (fetched > given ? fetched : given));
}

//===--- arithmetic --------------------------------------------------------------------------===//

static double priceReduce(const Graph *graph, const Variable *variable, const TileLayout *layout) {
  uint32_t axes = layoutAxesOf(variable->op), lanes = bitsAlong(layout, TileLayoutLane, axes);
  TileLayout kept = *layout;
  for (uint32_t axis = TILE_LAYOUT_MAX_AXES; axis-- > 0;)
    if (axes >> axis & 1)
      tileLayoutRemoveAxis(&kept, axis, &kept);
  double results = (double)layoutRegisters(&kept), all = (double)layoutRegisters(layout);
  double price = graph->warps * (all * graph->model.issueCycles +
                                 results * lanes * (graph->model.shuffleCycles + graph->model.issueCycles));
  return bitsAlong(layout, TileLayoutWarp, axes)
             ? price + graph->warps * results * 3 + 2 * (double)graph->model.barrierCycles
             : price;
}

// Runs of registers along the axis are scanned by themselves; each run then takes part in a scan over lanes.
static double priceScan(const Graph *graph, const Variable *variable, const TileLayout *layout) {
  uint32_t axes = layoutAxesOf(variable->op), axis = (uint32_t)__builtin_ctz(axes);
  double all = (double)layoutRegisters(layout);
  double runs = all / (double)tileLayoutContiguity(layout, TileLayoutReg, axis);
  double price =
      graph->warps * (2 * all * graph->model.issueCycles + runs * bitsAlong(layout, TileLayoutLane, axes) *
                                                               (graph->model.shuffleCycles + graph->model.issueCycles));
  return bitsAlong(layout, TileLayoutWarp, axes)
             ? price + graph->warps * runs * 4 + 2 * (double)graph->model.barrierCycles
             : price;
}

static double flopsPerCycle(const Graph *graph, const char *prefix, MlirType element) {
  char key[64], text[32];
  int64_t flops = 0;
  snprintf(key, sizeof key, "%s.%s", prefix, tileTypeText(element, text, sizeof text));
  tileMachineGetInteger(graph->machine, key, &flops);
  return flops ? (double)flops : 128;
}

// All that the warps multiply, copies and padding counted.
static double priceProduct(const Graph *graph, const Variable *variable, const Candidate *candidate) {
  MlirType lhs = mlirValueGetType(tileOpOperand(variable->op, "lhs"));
  int64_t k = tileTypeGetSize(lhs, tileTypeGetRank(lhs) - 1); // a sparse one's instruction takes half the time
  double accumulators = (double)layoutRegisters(layoutOf(graph, candidate->own)) * graph->lanes * graph->warps;
  bool isScalar = !strcmp(candidate->atom, "fma");
  double rate =
      flopsPerCycle(graph, isScalar ? "flops" : "mma.flops", tileTypeGetElement(isScalar ? variable->type : lhs));
  return 2 * accumulators * (double)k / rate;
}

double layoutPriceOfOp(Graph *graph, const Variable *variable, const Candidate *candidate) {
  const TileLayout *layout = layoutOf(graph, candidate->own);
  switch (variable->kind) {
  case Variable_Carried:
  case Variable_Source:
    return 0;
  case Variable_Load:
  case Variable_Store:
    return variable->weight * priceAccess(graph, variable, layout);
  case Variable_Product:
    return variable->weight * priceProduct(graph, variable, candidate);
  case Variable_Reduce:
    return variable->weight * priceReduce(graph, variable, layout);
  case Variable_Scan:
    return variable->weight * priceScan(graph, variable, layout);
  case Variable_Elementwise:
    return variable->weight * graph->warps * (double)layoutRegisters(layout) * graph->model.issueCycles;
  }
  return 0;
}

//===--- facts ----------------------------------------------------------------===//

static void sortByDimension(MlirOperation view, uint32_t rank, uint32_t *order) {
  for (uint32_t axis = 0; axis < rank; ++axis) {
    uint32_t place = axis;
    for (; place > 0 && tileViewDimension(view, order[place - 1]) < tileViewDimension(view, axis); --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
}

// Every address that a tile of the view may begin at, and every other row of it, is a multiple of this.
static uint64_t alignmentOf(MlirOperation view, const TileKnownMemory *known, intptr_t fast, MlirType type,
                            uint32_t axis) {
  int64_t elements = tileViewTypeGetStep(type, axis);
  for (intptr_t dim = 0; dim < known->rank; ++dim)
    elements = dim == fast ? elements : tessera_gcd(elements, known->stride[dim]);
  (void)view;
  return (uint64_t)tessera_gcd(known->align, tileDivisorOfProduct(elements, known->elementBytes));
}

TileMemoryFacts layoutMemoryFacts(MlirOperation op, MlirValue memory, uint32_t *order) {
  MlirType type = mlirValueGetType(memory);
  MlirOperation view = tileDefiningOp(tileCapturedValue(memory));
  uint32_t rank = (uint32_t)tileTypeGetRank(type);
  TileMemoryFacts facts = {.axis = rank ? rank - 1 : 0, .alignment = 1, .bound = 1};
  (void)op;
  for (uint32_t i = 0; i < rank; ++i)
    order[i] = rank - 1 - i;
  if (!tileTypeIsAView(type) || !tileViewOpIsA(view))
    return facts;
  TileKnownMemory known = tileKnownMemory(tileViewOpGetSource(view));
  sortByDimension(view, rank, order);
  facts.axis = rank ? order[0] : 0;
  intptr_t fast = rank ? tileViewDimension(view, facts.axis) : 0;
  bool isPacked = !mlirAttributeIsNull(tileViewTypeGetPacked(type));
  if (!rank || isPacked || fast >= known.rank || !known.isUnit[fast] || tileViewTypeGetStride(type, facts.axis) != 1)
    return facts;
  facts.alignment = alignmentOf(view, &known, fast, type, facts.axis);
  facts.bound = (uint64_t)tessera_gcd(known.size[fast], tileViewTypeGetStep(type, facts.axis));
  return facts;
}
