// The choice: one candidate for every variable, such that ops and conversions together cost least. See graph.h.
// How: from every op's own favourite, variables are improved one by one until none can be; then whole regions are
//   moved: from each candidate of each op that has wishes, its layout is spread across tiles as far as candidates
//   match, and single improvements mend the borders. A move stays if the whole became cheaper. (The moves are those of
//   alpha-expansion, Boykov, Veksler, Zabih 2001, with the inner cut replaced by descent.) Deterministic.
// Cost: rounds * moves * variables * candidates; conversions are priced once per pair of layouts.
#include "lib/transforms/layout/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (value->canRematerialize) {
      double anew = value->rematerials * 0.25 * graph->warps * (double)layoutRegisters(layoutOf(graph, wanted));
      price = anew < price ? anew : price;
    }
    sum += price * value->weight;
  }
  return sum;
}

static double priceOfChosen(Graph *graph, uint32_t number) {
  Variable *variable = &graph->variables[number];
  Candidate *candidate = &variable->candidates[variable->chosen];
  if (candidate->price < 0)
    candidate->price = layoutPriceOfOp(graph, variable, candidate);
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

static bool improve(Graph *graph, uint32_t number) {
  Variable *variable = &graph->variables[number];
  uint32_t before = variable->chosen, best = before;
  if (variable->candidateCount < 2)
    return false;
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

static bool adopt(Graph *graph, uint32_t portNumber, LayoutId layout, bool *reached, uint32_t *queue, uint32_t *count) {
  uint32_t number = graph->ports[portNumber].variable;
  Variable *variable = &graph->variables[number];
  for (uint32_t c = 0; !reached[number] && c < variable->candidateCount; ++c)
    if (variable->candidates[c].ports[portNumber - variable->firstPort] == layout) {
      variable->chosen = c;
      reached[number] = true;
      queue[(*count)++] = number;
      return true;
    }
  return false;
}

static void spread(Graph *graph, uint32_t number, uint32_t candidate, bool *reached, uint32_t *queue) {
  uint32_t count = 0;
  memset(reached, 0, graph->variableCount * sizeof *reached);
  graph->variables[number].chosen = candidate;
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

static void save(const Graph *graph, uint32_t *choice) {
  for (uint32_t i = 0; i < graph->variableCount; ++i)
    choice[i] = graph->variables[i].chosen;
}

static void restore(Graph *graph, const uint32_t *choice) {
  for (uint32_t i = 0; i < graph->variableCount; ++i)
    graph->variables[i].chosen = choice[i];
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
