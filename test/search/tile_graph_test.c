// Graphs of tiles: hulls are those of brute force, bytes are those of a count by hand,
// and the search finds what trying everything finds.
#include "lib/search/tile_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool holds, const char *what) {
  if (!holds)
    printf("wrong: %s\n", what);
  failures += !holds;
}

static uint64_t seed = 12345;

static int64_t draw(int64_t below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(seed >> 33) % below;
}

//===--- hulls ----------------------------------------------------------------------===//

// The indices along every axis that points of the box reach inside of the tensor, one by one.
static TileBox reached(const TileOperatorOperand *operand, int numDims, const TileBox *points) {
  TileBox box = {{0}, {0}};
  int64_t at[TileOperatorDims];
  bool isFirst = true;
  memcpy(at, points->begin, sizeof at);
  for (int d = 0; d < numDims; ++d)
    if (points->end[d] <= points->begin[d])
      return box;
  for (;;) {
    for (int axis = 0; axis < operand->rank; ++axis) {
      int64_t index = 0;
      for (int d = 0; d < numDims; ++d)
        index += operand->factors[axis][d] * at[d];
      box.begin[axis] = isFirst || index < box.begin[axis] ? index : box.begin[axis];
      box.end[axis] = isFirst || index + 1 > box.end[axis] ? index + 1 : box.end[axis];
    }
    isFirst = false;
    int d = numDims - 1;
    while (d >= 0 && ++at[d] == points->end[d])
      at[d] = points->begin[d], --d;
    if (d < 0)
      break;
  }
  for (int axis = 0; axis < operand->rank; ++axis) {
    box.begin[axis] = box.begin[axis] < 0 ? 0 : box.begin[axis];
    box.end[axis] = box.end[axis] > operand->extents[axis] ? operand->extents[axis] : box.end[axis];
  }
  return box;
}

static void testHulls(void) {
  for (int round = 0; round < 2000; ++round) {
    TileOperatorOperand operand = {.rank = 1 + (int)draw(3)};
    int numDims = 1 + (int)draw(4);
    TileBox points = {{0}, {0}};
    for (int d = 0; d < numDims; ++d) {
      points.begin[d] = draw(6);
      points.end[d] = points.begin[d] + draw(7 - points.begin[d]);
    }
    for (int axis = 0; axis < operand.rank; ++axis) {
      operand.extents[axis] = 1 + draw(20);
      for (int d = 0; d < numDims; ++d)
        operand.factors[axis][d] = draw(3) ? 0 : draw(5) - 1;
    }
    TileBox hull = tileOperandHull(&operand, numDims, &points), all = reached(&operand, numDims, &points);
    for (int axis = 0; axis < operand.rank; ++axis)
      if (hull.begin[axis] != all.begin[axis] || hull.end[axis] != all.end[axis])
        expect(false, "a hull is what brute force reaches");
  }
}

//===--- graphs -----------------------------------------------------------------------===//

// A node over dimensions of the graph ("ij"), folded ones in capitals; each operand by its dimensions, the output last.
// `from`: the maker of each input, or -1.
static TileGraphNode *add(TileGraph *graph, const char *dims, double operations, const char *const *operands,
                          const int *from, const int *tensors) {
  TileGraphNode *node = &graph->nodes[graph->numNodes++];
  *node = (TileGraphNode){.op = {.type = "f32", .operations = operations, .m = -1, .n = -1, .k = -1, .mostTiled = 2}};
  for (const char *d = dims; *d; ++d) {
    bool isFolded = *d < 'a';
    int dim = (isFolded ? *d + 32 : *d) - 'i';
    node->dims[node->op.numDims] = dim;
    graph->dims[dim].isFolded |= isFolded;
    node->op.dims[node->op.numDims++] =
        (TileOperatorDim){.extent = graph->dims[dim].extent, .isReduction = isFolded, .mayTile = true, .beside = ~0u};
  }
  for (; operands[node->op.numOperands]; ++node->op.numOperands) {
    int i = node->op.numOperands;
    TileOperatorOperand *operand = &node->op.operands[i];
    bool isOutput = !operands[i + 1];
    *operand = (TileOperatorOperand){.bits = 32, .isOutput = isOutput, .isRead = !isOutput};
    for (const char *d = operands[i]; *d; ++d) {
      int own = 0;
      while (node->dims[own] != *d - 'i')
        ++own;
      operand->factors[operand->rank][own] = 1;
      operand->extents[operand->rank++] = graph->dims[*d - 'i'].extent;
    }
    node->makers[i] = isOutput ? -1 : from[i];
    if (!isOutput && from[i] >= 0)
      node->outputs[i] = graph->nodes[from[i]].op.numOperands - 1;
    else
      node->tensors[i] = isOutput ? 100 + graph->numNodes : tensors[i];
  }
  return node;
}

static void isProduct(TileGraph *graph, TileGraphNode *node, int m, int n, int k) {
  node->op.operations = 2;
  node->op.rhs = 1;
  node->op.out = 2;
  node->op.m = m;
  node->op.n = n;
  node->op.k = k;
  const int roles[] = {m, n, k};
  for (int i = 0; i < 3; ++i)
    graph->dims[node->dims[roles[i]]].isMatrix = true;
}

static void isStored(TileGraph *graph) {
  TileGraphNode *last = &graph->nodes[graph->numNodes - 1];
  last->isStored[last->op.numOperands - 1] = true;
}

#define OPERANDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define INTS(...) ((const int[]){__VA_ARGS__})

static TileGraph layernorm(int64_t rows, int64_t columns) {
  TileGraph graph = {.numDims = 2, .dims = {{.extent = rows}, {.extent = columns}}};
  add(&graph, "iJ", 1, OPERANDS("ij", "i"), INTS(-1), INTS(0));
  add(&graph, "iJ", 4, OPERANDS("ij", "i", "i"), INTS(-1, 0), INTS(0, 0));
  add(&graph, "ij", 8, OPERANDS("ij", "i", "i", "j", "ij"), INTS(-1, 0, 1, -1), INTS(0, 0, 0, 1));
  isStored(&graph);
  return graph;
}

// i × l · l × j, then · j × k.
static TileGraph products(int64_t m, int64_t depth, int64_t middle, int64_t n) {
  TileGraph graph = {.numDims = 4, .dims = {{.extent = m}, {.extent = middle}, {.extent = n}, {.extent = depth}}};
  isProduct(&graph, add(&graph, "ijL", 2, OPERANDS("il", "lj", "ij"), INTS(-1, -1), INTS(0, 1)), 0, 1, 2);
  add(&graph, "ij", 1, OPERANDS("ij", "ij"), INTS(0), INTS(0));
  isProduct(&graph, add(&graph, "ikJ", 2, OPERANDS("ij", "jk", "ik"), INTS(1, -1), INTS(0, 2)), 0, 1, 2);
  isStored(&graph);
  return graph;
}

static TileSearchTarget targetOf(const char *chip) {
  TileError error = {.text = ""};
  TileSearchTarget target;
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, &error);
  if (!machine || !tileSearchReadTarget(machine, &target, &error)) {
    printf("%s: %s\n", chip, error.text);
    exit(1);
  }
  TileOperator op = tileOperatorProduct(512, 512, 64, "f32", 32, 32);
  tileSearchSetOperator(machine, &op, &target);
  tileMachineDestroy(machine);
  return target;
}

//===--- bytes ------------------------------------------------------------------------===//

static void testBytes(void) {
  TileSearchTarget target = targetOf("sm_80");
  TileGraph norm = layernorm(512, 768);
  TileGraphCost cost = tileGraphCost(&norm, &target, (const int64_t[]){4, 1024});
  expect(cost.read == 4 * (512 * 768 + 128 * 768), "a row is read once, the scale once a program");
  expect(cost.written == 4 * 512 * 768 && cost.programs == 128, "a row is written once");
  expect(cost.again == 4 * (128 * 768 - 768), "a cache gives what other programs have read");
  expect(cost.resident > 1, "several programs share a core");
  cost = tileGraphCost(&norm, &target, (const int64_t[]){32, 1024});
  expect(cost.misfit || cost.resident >= 1, "a core has registers for a program");
  cost = tileGraphCost(&norm, &target, (const int64_t[]){64, 2048});
  expect(cost.misfit, "a program of more registers than a core has does not fit");
  cost = tileGraphCost(&norm, &target, (const int64_t[]){4, 256});
  expect(cost.read == 4 * (3 * 512 * 768 + 2 * 128 * 768), "rows that are walked are read by each fold and the result");
  cost = tileGraphCost(&norm, &target, (const int64_t[]){16, 64});
  expect(cost.read == 4 * (3 * 512 * 768 + 8 * 32 * 768), "lanes in eight rows load the scale eight times");
  cost = tileGraphCost(&norm, &target, (const int64_t[]){1, 1});
  expect(cost.read == 128 * 4 * (3 * 512 * 768 + 512 * 768), "all lanes load the one element of a tile");
  TileGraph few = norm, functions = norm;
  for (int n = 0; n < few.numNodes; ++n)
    functions.nodes[n].op.functions = 8;
  double one = tileGraphCost(&few, &target, (const int64_t[]){1, 1}).seconds;
  expect(one > 50 * tileGraphCost(&few, &target, (const int64_t[]){1, 1024}).seconds, "lanes without work take time");
  expect(tileGraphCost(&functions, &target, (const int64_t[]){1, 1}).seconds > 2 * one, "functions take time");

  TileGraph two = products(8192, 64, 256, 64);
  cost = tileGraphCost(&two, &target, (const int64_t[]){64, 64, 64, 64});
  expect(cost.read == 4.0 * (8192 * 64 + 128 * 2 * 64 * 256),
         "the first factor is held, the others are read once a program");
  expect(cost.written == 4.0 * 8192 * 64, "nothing between the products is written");
  cost = tileGraphCost(&two, &target, (const int64_t[]){64, 64, 64, 16});
  expect(cost.read == 4.0 * (4 * 8192 * 64 + 128 * 2 * 64 * 256),
         "a first factor that is walked is read in every round");
  cost = tileGraphCost(&two, &target, (const int64_t[]){64, 64, 32, 64});
  expect(cost.operations > 2.0 * 8192 * 64 * 256 * 3, "programs along n compute the first product again");
}

//===--- propagation ------------------------------------------------------------------------===//

// A convolution over 3 of a map over the padded line, and a second user that takes every other element: the map's box
// is the hull of both uses.
static void testPropagation(void) {
  TileGraph graph = {.numDims = 3, .dims = {{.extent = 18}, {.extent = 16}, {.extent = 3}}};
  add(&graph, "i", 1, OPERANDS("i", "i"), INTS(-1), INTS(0));
  TileGraphNode *sum = add(&graph, "jK", 2, OPERANDS("j", "j"), INTS(0), INTS(0));
  sum->op.operands[0].factors[0][1] = 1; // j + k
  sum->op.operands[0].extents[0] = 18;
  isStored(&graph);
  TileGraphNode *half = add(&graph, "j", 1, OPERANDS("j", "j"), INTS(0), INTS(0));
  half->op.operands[0].factors[0][0] = 2;
  half->op.operands[0].extents[0] = 18;
  isStored(&graph);
  for (int64_t begin = 0; begin < 8; ++begin)
    for (int64_t end = begin + 1; end <= 8; ++end) {
      TileBox boxes[TileGraphNodes] = {{{0}, {0}}};
      boxes[1] = (TileBox){{begin, 0}, {end, 3}};
      boxes[2] = (TileBox){{begin}, {end}};
      tileGraphPropagate(&graph, boxes);
      int64_t least = 18, most = 0;
      for (int64_t j = begin; j < end; ++j)
        for (int64_t k = 0; k < 4; ++k) {
          int64_t at = k < 3 ? j + k : 2 * j;
          least = at < least ? at : least;
          most = at + 1 > most ? at + 1 : most;
        }
      expect(boxes[0].begin[0] == least && boxes[0].end[0] == (most < 18 ? most : 18),
             "a halo is the hull of all uses");
    }
}

//===--- search -----------------------------------------------------------------------------===//

static double scoreOf(const TileGraphCost *cost, TileGraphObjective objective, const TileSearchTarget *target) {
  double bytes = cost->read + cost->written, programs = (double)cost->programs, cores = (double)target->cores;
  int64_t rounds = (cost->programs + target->cores - 1) / target->cores;
  double waves = (double)rounds;
  (void)cores;
  return objective == TileGraphObjective_Time      ? cost->seconds
         : objective == TileGraphObjective_Traffic ? bytes
                                                   : (bytes / programs + 1) * waves;
}

static void testSearch(const char *chip) {
  TileSearchTarget target = targetOf(chip);
  TileGraph graphs[] = {layernorm(512, 768),      layernorm(37, 67),           products(8192, 64, 256, 64),
                        products(45, 24, 53, 19), products(1024, 32, 96, 128), layernorm(1, 4096)};
  for (size_t g = 0; g < sizeof graphs / sizeof *graphs; ++g)
    for (int objective = TileGraphObjective_Time; objective <= TileGraphObjective_Waves; ++objective) {
      TileGraphOptions options = tileGraphDefaults(), all = {.isExhaustive = true};
      options.objective = all.objective = (TileGraphObjective)objective;
      TileGraphChoice found = tileGraphSearch(&graphs[g], &target, &options);
      TileGraphChoice best = tileGraphSearch(&graphs[g], &target, &all);
      expect(!found.cost.misfit == !best.cost.misfit, "the search finds blocks where there are some");
      expect(found.visits <= 2000, "the search visits at most 2000 blocks");
      // Times within five per cent are equal, and of equals one may be chosen for its bytes.
      double allowed = objective == TileGraphObjective_Time ? 1.05 * (1 + target.model.equal) : 1.05;
      if (!best.cost.misfit && !(scoreOf(&found.cost, options.objective, &target) <=
                                 allowed * scoreOf(&best.cost, options.objective, &target))) {
        printf("graph %zu on %s, objective %d: %g, best %g\n", g, chip, objective,
               scoreOf(&found.cost, options.objective, &target), scoreOf(&best.cost, options.objective, &target));
        expect(false, "the search's choice is near the best");
      }
    }
}

int main(void) {
  testHulls();
  testPropagation();
  testBytes();
  testSearch("sm_80");
  testSearch("gfx942");
  testSearch("x86-64-v4");
  printf("%d failures\n", failures);
  return failures != 0;
}
