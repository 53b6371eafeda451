// What layouts cost, and the choice: one candidate for every variable, such that ops and conversions together cost
// least. See graph.h.
// Model: cycles of one core for a block of the kernel. Conversions as lib/layout prices them; elsewhere instructions,
//   shuffles, accesses and barriers by the machine's `model.layout.*`, and memory by the segments that one instruction
//   touches. Only differences count.
// How: from every op's own favourite, variables are improved one by one until none can be (one around which nothing
//   changed is not looked at again); then whole regions are
//   moved: from each candidate of each op that has wishes, its layout is spread across tiles as far as candidates
//   match, and single improvements mend the borders. A move stays if the whole became cheaper. (The moves are those of
//   alpha-expansion, Boykov, Veksler, Zabih 2001, with the inner cut replaced by descent.) Deterministic.
// Cost: rounds * moves * variables * candidates; conversions are priced once per pair of layouts.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/op_format.h"
#include "lib/layout/algebra.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/layout/graph.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- registers ----------------------------------------------------------------------------------===//

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

// No layout is worth an exchange that does not fit: every other choice costs less.
static const double tooLarge = 1e12;

// Whether the exchange has room, if need be in parts, as tile-exchange-in-shared-memory makes them.
static bool hasRoom(const Graph *graph, MlirType type, LayoutId from, LayoutId to, int64_t bytes) {
  TileChange change = {
      .element = tileTypeGetElement(type), .before = *layoutOf(graph, from), .after = *layoutOf(graph, to)};
  TileChangeHalves halves;
  change.rank = layoutShapeOf(type, change.sizes);
  for (; bytes > graph->sharedBytes; bytes /= 2) {
    if (!tileChangeHalve(&change, &halves))
      return false;
    change = halves.half;
  }
  return true;
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
  if (plan.kind == TileConversionShared && !hasRoom(graph, type, from, to, (int64_t)plan.shared.bytes))
    return tooLarge;
  // A conversion is never free: it costs moves or registers at least.
  return plan.kind == TileConversionNone ? 0 : plan.cost.cycles + plan.cost.moves * 0.01;
}

// Once for each pair of layouts and width of elements.
double layoutPriceOfConversion(Graph *graph, MlirType type, LayoutId from, LayoutId to) {
  uint64_t key = (uint64_t)from << 36 | (uint64_t)to << 8 | layoutElementBits(type);
  if (from == to)
    return 0;
  uintptr_t number = (uintptr_t)tileTableFind(&graph->priced, (const void *)key);
  if (!number) {
    double price = planPrice(graph, type, from, to);
    graph->prices = tessera_grow(graph->prices, graph->priceCount, sizeof *graph->prices);
    graph->prices[graph->priceCount] = price;
    number = ++graph->priceCount;
    tileTableSet(&graph->priced, (const void *)key, (void *)number);
  }
  return graph->prices[number - 1];
}

// One instruction of each warp for each register of each op that is computed again.
double layoutPriceAnew(const Graph *graph, const Value *value, LayoutId layout) {
  return value->rematerials * graph->model.issueCycles * graph->warps *
         (double)layoutRegisters(layoutOf(graph, layout));
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

// A load from a buffer of the chip takes a cycle for each wavefront.
static double priceBufferLoad(const Graph *graph, MlirType buffer, const TileLayout *layout, uint32_t bytes) {
  TileLayout offsets = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(buffer));
  TileAccessLimits limits = graph->target.shared;
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(buffer, shape);
  TileAccess access;
  limits.elementBytes = bytes ? bytes : 1;
  if (!tileAccessPlan(layout, &offsets, shape, rank, &limits, &access, NULL))
    return graph->warps * (double)layoutRegisters(layout) * graph->model.accessCycles;
  TileAccessTraffic traffic = tileAccessTraffic(&access, graph->lanes, &limits);
  return graph->warps *
         ((double)(traffic.phases + traffic.conflicts) + (double)traffic.instructions * graph->model.issueCycles);
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
  if (tileTypeIsABuffer(mlirValueGetType(memory)) && variable->kind == Variable_Load)
    return priceBufferLoad(graph, mlirValueGetType(memory), layout, bytes);
  if (!tileTypeIsAView(mlirValueGetType(memory)))
    return warps * (double)layoutRegisters(layout) * (graph->model.accessCycles + segment * graph->lanes);
  TileMemoryFacts facts = layoutMemoryFacts(memory, order);
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

// Instructions for an element of an elementwise op: chips widen narrow floats by shifts and masks.
static double instructionsOf(const Graph *graph, MlirOperation op) {
  MlirType from = arithExtFOpIsA(op) ? mlirValueGetType(tileOnlyOperand(op)) : (MlirType){NULL};
  bool isNarrow = !mlirTypeIsNull(from) && tileElementWidth(tileTypeGetElement(from)) <= 8;
  return isNarrow ? (double)graph->model.widenInstructions : 1;
}

static double priceOfOp(Graph *graph, const Variable *variable, const Candidate *candidate) {
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
    return variable->weight * graph->warps * (double)layoutRegisters(layout) * graph->model.issueCycles *
           instructionsOf(graph, variable->op);
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
static uint64_t alignmentOf(const TileKnownMemory *known, intptr_t fast, MlirType type, uint32_t axis) {
  int64_t elements = tileViewTypeGetStep(type, axis);
  for (intptr_t dim = 0; dim < known->rank; ++dim)
    elements = dim == fast ? elements : tessera_gcd(elements, known->stride[dim]);
  return (uint64_t)tessera_gcd(known->align, tileDivisorOfProduct(elements, known->elementBytes));
}

TileMemoryFacts layoutMemoryFacts(MlirValue memory, uint32_t *order) {
  MlirType type = mlirValueGetType(memory);
  MlirOperation view = tileDefiningOp(tileCapturedValue(memory));
  uint32_t rank = (uint32_t)tileTypeGetRank(type);
  TileMemoryFacts facts = {.axis = rank ? rank - 1 : 0, .alignment = 1, .bound = 1};
  for (uint32_t i = 0; i < rank; ++i)
    order[i] = rank - 1 - i;
  if (!tileTypeIsAView(type) || !tileViewOpIsA(view))
    return facts;
  TileKnownMemory known = tileKnownMemory(tileViewOpGetSource(view));
  sortByDimension(view, rank, order);
  facts.axis = rank ? order[0] : 0;
  intptr_t fast = rank ? tileViewDimension(view, facts.axis) : 0;
  MlirAttribute packed = tileViewTypeGetPacked(type);
  bool isPacked = !mlirAttributeIsNull(packed);
  if (rank && isPacked) { // a thread that holds all elements of a word loads the word once
    TileLayout word = tileLayoutAttrGetLayout(packed);
    facts.alignment = facts.bound = tileLayoutExtent(&word, (uint32_t)facts.axis);
    return facts;
  }
  if (!rank || isPacked || fast >= known.rank || !known.isUnit[fast] || tileViewTypeGetStride(type, facts.axis) != 1)
    return facts;
  facts.alignment = alignmentOf(&known, fast, type, facts.axis);
  facts.bound = (uint64_t)tessera_gcd(known.size[fast], tileViewTypeGetStep(type, facts.axis));
  return facts;
}

//===--- the choice ---------------------------------------------------------------------------------===//

LayoutId layoutChosenAt(const Graph *graph, uint32_t portNumber) {
  const Variable *variable = &graph->variables[graph->ports[portNumber].variable];
  return variable->candidates[variable->chosen].ports[portNumber - variable->firstPort];
}

// A tile is converted, or made anew, once per layout that is wanted of it.
static double priceOfValue(Graph *graph, const Value *value) {
  MlirType type = mlirValueGetType(value->value);
  LayoutId defined = layoutChosenAt(graph, value->definition);
  double sum = 0;
  for (uint32_t i = 0; i < value->useCount; ++i) {
    LayoutId wanted = layoutChosenAt(graph, value->uses[i]);
    bool isNew = wanted != defined;
    for (uint32_t j = 0; isNew && j < i; ++j)
      isNew = layoutChosenAt(graph, value->uses[j]) != wanted;
    if (!isNew)
      continue;
    double price = layoutPriceOfConversion(graph, type, defined, wanted);
    if (value->canRematerialize)
      price = fmin(price, layoutPriceAnew(graph, value, wanted));
    sum += price * value->weight;
  }
  return sum;
}

static double priceOfChosen(Graph *graph, uint32_t number) {
  Variable *variable = &graph->variables[number];
  Candidate *candidate = &variable->candidates[variable->chosen];
  if (candidate->price < 0)
    candidate->price = priceOfOp(graph, variable, candidate);
  return candidate->price;
}

// No price is below 0, so a sum that has reached `limit` only grows: what is left is then not priced.
static double priceAround(Graph *graph, uint32_t number, double limit) {
  const Variable *variable = &graph->variables[number];
  const Port *ports = &graph->ports[variable->firstPort];
  double sum = priceOfChosen(graph, number);
  for (uint32_t i = 0; i < variable->portCount && sum < limit; ++i) {
    bool seen = false;
    for (uint32_t j = 0; !seen && j < i; ++j)
      seen = ports[j].tile == ports[i].tile;
    sum += seen ? 0 : priceOfValue(graph, &graph->values[ports[i].tile]);
  }
  return sum;
}

static double priceOfAll(Graph *graph, double limit) {
  double sum = 0;
  for (uint32_t i = 0; i < graph->variableCount && sum < limit; ++i)
    sum += priceOfChosen(graph, i);
  for (uint32_t i = 0; i < graph->valueCount && sum < limit; ++i)
    sum += priceOfValue(graph, &graph->values[i]);
  return sum;
}

// Who shares a tile with the variable may improve again.
static void markAround(Graph *graph, uint32_t number) {
  const Variable *variable = &graph->variables[number];
  for (uint32_t i = 0; i < variable->portCount; ++i) {
    const Value *value = &graph->values[graph->ports[variable->firstPort + i].tile];
    graph->variables[graph->ports[value->definition].variable].mayImprove = true;
    for (uint32_t u = 0; u < value->useCount; ++u)
      graph->variables[graph->ports[value->uses[u]].variable].mayImprove = true;
  }
  graph->variables[number].mayImprove = true;
}

static bool improve(Graph *graph, uint32_t number) {
  Variable *variable = &graph->variables[number];
  uint32_t before = variable->chosen, best = before;
  if (variable->candidateCount < 2 || !variable->mayImprove)
    return false;
  variable->mayImprove = false;
  double least = priceAround(graph, number, INFINITY);
  for (uint32_t c = 0; c < variable->candidateCount; ++c) {
    if (c == before)
      continue;
    variable->chosen = c;
    double price = priceAround(graph, number, least);
    if (price < least - 1e-9) {
      least = price;
      best = c;
    }
  }
  variable->chosen = best;
  if (best != before)
    markAround(graph, number);
  return best != before;
}

static void descend(Graph *graph) {
  bool changed = true;
  for (int round = 0; changed && round < 32; ++round) {
    changed = false;
    // Alternately from either end, so that a wish crosses the kernel in one round.
    for (uint32_t i = 0; i < graph->variableCount; ++i)
      changed |= improve(graph, round % 2 ? graph->variableCount - 1 - i : i);
  }
}

//===--- moves --------------------------------------------------------------------------===//

static void choose(Graph *graph, uint32_t number, uint32_t candidate) {
  if (graph->variables[number].chosen != candidate)
    markAround(graph, number);
  graph->variables[number].chosen = candidate;
}

static bool adopt(Graph *graph, uint32_t portNumber, LayoutId layout, bool *reached, uint32_t *queue, uint32_t *count) {
  uint32_t number = graph->ports[portNumber].variable;
  Variable *variable = &graph->variables[number];
  for (uint32_t c = 0; !reached[number] && c < variable->candidateCount; ++c)
    if (variable->candidates[c].ports[portNumber - variable->firstPort] == layout) {
      choose(graph, number, c);
      reached[number] = true;
      queue[(*count)++] = number;
      return true;
    }
  return false;
}

static void spread(Graph *graph, uint32_t number, uint32_t candidate, bool *reached, uint32_t *queue) {
  uint32_t count = 0;
  memset(reached, 0, graph->variableCount * sizeof *reached);
  choose(graph, number, candidate);
  reached[number] = true;
  queue[count++] = number;
  for (uint32_t next = 0; next < count; ++next) {
    const Variable *variable = &graph->variables[queue[next]];
    for (uint32_t i = 0; i < variable->portCount; ++i) {
      const Value *value = &graph->values[graph->ports[variable->firstPort + i].tile];
      LayoutId layout = layoutChosenAt(graph, variable->firstPort + i);
      adopt(graph, value->definition, layout, reached, queue, &count);
      for (uint32_t u = 0; u < value->useCount; ++u)
        adopt(graph, value->uses[u], layout, reached, queue, &count);
    }
  }
}

// With what may improve still, so that a choice that is taken up again goes on as it was left.
static void save(const Graph *graph, uint32_t *choice) {
  for (uint32_t i = 0; i < graph->variableCount; ++i)
    choice[i] = graph->variables[i].chosen << 1 | graph->variables[i].mayImprove;
}

static void restore(Graph *graph, const uint32_t *choice) {
  for (uint32_t i = 0; i < graph->variableCount; ++i) {
    graph->variables[i].chosen = choice[i] >> 1;
    graph->variables[i].mayImprove = choice[i] & 1;
  }
}

static bool hasWishes(VariableKind kind) { return kind >= Variable_Load; }

static double tryMoves(Graph *graph, double least, uint32_t *best, bool *reached, uint32_t *queue) {
  for (uint32_t i = 0; i < graph->variableCount; ++i)
    for (uint32_t c = 0; hasWishes(graph->variables[i].kind) && c < graph->variables[i].candidateCount; ++c) {
      spread(graph, i, c, reached, queue);
      descend(graph);
      double price = priceOfAll(graph, least);
      if (price < least - 1e-9) {
        least = price;
        save(graph, best);
      } else {
        restore(graph, best);
      }
    }
  return least;
}

static void chooseFavourites(Graph *graph) {
  for (uint32_t i = 0; i < graph->variableCount; ++i) {
    Variable *variable = &graph->variables[i];
    uint32_t best = 0;
    double least = 0;
    for (uint32_t c = 0; c < variable->candidateCount; ++c) {
      variable->chosen = c;
      double price = priceOfChosen(graph, i);
      if (c == 0 || price < least) {
        least = price;
        best = c;
      }
    }
    variable->chosen = best;
    variable->mayImprove = true;
  }
}

double layoutChoose(Graph *graph) {
  uint32_t *best = calloc(graph->variableCount + 1, sizeof *best);
  uint32_t *queue = calloc(graph->variableCount + 1, sizeof *queue);
  bool *reached = calloc(graph->variableCount + 1, sizeof *reached);
  chooseFavourites(graph);
  descend(graph);
  double least = priceOfAll(graph, INFINITY);
  save(graph, best);
  for (int round = 0; round < 2; ++round) {
    double price = tryMoves(graph, least, best, reached, queue);
    bool done = price >= least - 1e-9;
    least = price;
    if (done)
      break;
  }
  free(best);
  free(queue);
  free(reached);
  return least;
}
