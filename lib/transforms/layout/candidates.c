// Proposals of layouts for the variables of a graph: what some ops like, carried to their neighbours.
// How: memory accesses propose blocked layouts by what is known of the memory, of sizes rounded up where their powers
//   of two are fewer than the threads; products propose the machine's fragments, and how warps share the accumulator;
//   reductions and scans what keeps them within warps; breadth first, each proposal is offered to the variables across
//   each tile, so a variable hears of its nearest neighbours' wishes first. At most MaxCandidates each.
// Without an instruction for the types of a product every thread multiplies and adds scalars: the atom "fma", whose
// accumulator may have any layout.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"
#include "lib/layout/text.h"
#include "lib/layout/tiling.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/layout/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- products -------------------------------------------------------------===//

typedef struct Sizes {
  int64_t batch, m, n, k;
} Sizes;

static Sizes sizesOf(MlirOperation op) {
  MlirType rhs = mlirValueGetType(tileOpOperand(op, "rhs")), result = tileOnlyResultType(op);
  intptr_t rank = tileTypeGetRank(result);
  return (Sizes){.batch = rank == 3 ? tileTypeGetSize(result, 0) : 0,
                 .m = tileTypeGetSize(result, rank - 2),
                 .n = tileTypeGetSize(result, rank - 1),
                 .k = tileTypeGetSize(rhs, rank - 2)};
}

// Multiply-adds that the busiest of the warps does for the product with this atom: what padding wastes counts, and what
// warps repeat that have no atom of their own.
static int64_t workOf(const Sizes *sizes, const TileMachineAtom *atom, int64_t warps) {
  int64_t atoms = tessera_round_up(sizes->m, atom->m) / atom->m * (tessera_round_up(sizes->n, atom->n) / atom->n);
  return tessera_round_up(atoms, warps) / warps * atom->m * atom->n * tessera_round_up(sizes->k, atom->k);
}

// The instruction takes the scales of a block-scaled product, or the product is summed in blocks, which are whole steps
// of the instruction.
static bool takesBlocks(const TileMachineAtom *atom, MlirOperation op) {
  if (!tileMmaScaledOpIsA(op))
    return !atom->scales[0];
  return atom->scales[0] ? tileHasScales(op, atom->scales, atom->block)
                         : tileMmaScaledOpGetBlockValue(op) % atom->k == 0;
}

// An instruction for the elements as they are, or for the parts that f32 may be split into.
static bool takes(const TileMachineAtom *atom, MlirOperation op) {
  const char *part = tileFactorPart(op);
  char text[3][32];
  static const char *const names[] = {"lhs", "rhs", "accumulator"};
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(mlirValueGetType(tileOpOperand(op, names[i]))), text[i], sizeof text[i]);
  return tileMmaSparseOpIsA(op) == !!atom->fragment[3][0] && atom->warps == 1 && atom->fragment[0][0] &&
         atom->fragment[1][0] && atom->fragment[2][0] && takesBlocks(atom, op) &&
         (tileMachineAtomTakes(atom, text[0], text[1], text[2]) ||
          (part && tileMachineAtomTakes(atom, part, part, text[2])));
}

static bool divides(const Sizes *sizes, const TileMachineAtom *atom) {
  return sizes->m % atom->m == 0 && sizes->n % atom->n == 0 && sizes->k % atom->k == 0;
}

// An atom with a free size is taken as the file names it; none of one warp has one so far.
bool layoutFindAtom(const TileMachine *machine, MlirOperation op, uint32_t warps, bool mayPad, char *name,
                    size_t capacity, TileMachineAtom *best) {
  Sizes sizes = sizesOf(op);
  int64_t least = INT64_MAX, largest = 0;
  bool isProduct = tileIsProduct(op) || tileMmaScaledOpIsA(op);
  for (size_t i = 0; isProduct && i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (strncmp(key, "atom.", 5) || strchr(key, '*') || !tileMachineFindAtom(machine, key + 5, &atom, NULL) ||
        !takes(&atom, op) || (!mayPad && !divides(&sizes, &atom)))
      continue;
    int64_t work = workOf(&sizes, &atom, warps), size = atom.m * atom.n * atom.k;
    size += atom.scales[0] != '\0'; // of two alike, the one that takes the scales
    if (work > least || (work == least && size <= largest))
      continue;
    least = work;
    largest = size;
    *best = atom;
    snprintf(name, capacity, "%s", key + 5);
  }
  return largest > 0;
}

//===--- fragments ------------------------------------------------------------------===//

// Each thread has the scales of the accumulators that it holds, as for multiply-adds.
static bool isScale(const Port *port) {
  return port->operand >= 0 && tileMmaScaledOpIsA(port->op) && port->relation != Relation_Same &&
         !mlirValueEqual(port->value, tileMmaScaledOpGetLhs(port->op)) &&
         !mlirValueEqual(port->value, tileMmaScaledOpGetRhs(port->op));
}

static Candidate *addFragments(Graph *graph, uint32_t number, const TileLayout layouts[TileMachineFragments],
                               const TileMachineAtom *atom, const char *name) {
  LayoutId own = layoutIntern(graph, &layouts[2]);
  Variable *variable = &graph->variables[number];
  if (variable->candidateCount == MaxCandidates)
    return NULL;
  Candidate *candidate = &variable->candidates[variable->candidateCount++];
  *candidate = (Candidate){.own = own, .price = -1, .ports = calloc(variable->portCount, sizeof(LayoutId))};
  snprintf(candidate->atom, sizeof candidate->atom, "%s", name);
  for (uint32_t i = 0; i < variable->portCount; ++i) {
    const Port *port = &graph->ports[variable->firstPort + i];
    Relation relation = port->relation;
    candidate->ports[i] = isScale(port) && atom->scales[0]
                              ? layoutIntern(graph, &layouts[relation == Relation_Lhs ? 4 : 5])
                          : isScale(port)               ? layoutOfPort(graph, port, own)
                          : relation == Relation_Lhs    ? layoutIntern(graph, &layouts[0])
                          : relation == Relation_Rhs    ? layoutIntern(graph, &layouts[1])
                          : relation == Relation_Places ? layoutIntern(graph, &layouts[3])
                                                        : own;
  }
  return candidate;
}

static bool parseFragments(MlirOperation op, const TileMachineAtom *atom, TileLayout *fragments) {
  TileError error;
  for (int i = 0; i < TileMachineFragments; ++i)
    if (atom->fragment[i][0] && !tileLayoutParse(atom->fragment[i], strlen(atom->fragment[i]), &fragments[i], &error))
      return tileError(op, "the machine's fragment <%s> is not a layout: %s", atom->fragment[i], error.text);
  return true;
}

// The layouts of what is sparse: half of k in A, an eighth in the places of its elements.
static bool sparseOperands(const TileLayout fragments[4], const TileProductShape *shape, TileLayout layouts[4]) {
  TileProductShape kept = *shape, places = *shape;
  kept.k = shape->k / 2;
  places.k = shape->k / 8;
  return tileLayoutProductOperand(&fragments[0], &kept, 0, &layouts[0], NULL) &&
         tileLayoutProductOperand(&fragments[1], shape, 1, &layouts[1], NULL) &&
         tileLayoutProductOperand(&fragments[2], shape, 2, &layouts[2], NULL) &&
         tileLayoutProductOperand(&fragments[3], &places, 0, &layouts[3], NULL);
}

// The layouts of the operands of a product whose instruction takes scales.
static bool scaledOperands(const TileLayout *fragments, const TileProductShape *shape, int64_t block,
                           TileLayout *layouts) {
  TileProductShape blocks = *shape;
  blocks.k = shape->k / block;
  return tileLayoutProductOperands(fragments, shape, layouts, NULL) &&
         tileLayoutProductOperand(&fragments[4], &blocks, 0, &layouts[4], NULL) &&
         tileLayoutProductOperand(&fragments[5], &blocks, 1, &layouts[5], NULL);
}

// Every way to share the accumulator among warps that leaves none idle; if there is none, those with fewest idle.
static bool proposeAtom(Graph *graph, uint32_t number, const char *name, const TileMachineAtom *atom) {
  MlirOperation op = graph->variables[number].op;
  Sizes sizes = sizesOf(op);
  TileLayout fragments[TileMachineFragments], layouts[TileMachineFragments];
  bool isSparse = tileMmaSparseOpIsA(op);
  TileProductShape shape = {.batch = sizes.batch, .m = sizes.m, .n = sizes.n, .k = sizes.k};
  shape.warpBits = (uint32_t)__builtin_ctz(graph->warps);
  uint32_t before = graph->variables[number].candidateCount;
  if (!parseFragments(op, atom, fragments))
    return false;
  for (uint32_t used = shape.warpBits + 1; used-- > 0 && graph->variables[number].candidateCount == before;)
    for (uint32_t m = 0; m <= used; ++m) {
      shape.warpBitsM = m;
      shape.warpBitsN = used - m;
      if (isSparse          ? sparseOperands(fragments, &shape, layouts)
          : atom->scales[0] ? scaledOperands(fragments, &shape, atom->block, layouts)
                            : tileLayoutProductOperands(fragments, &shape, layouts, NULL))
        addFragments(graph, number, layouts, atom, name);
    }
  graph->variables[number].isFixed = true;
  return graph->variables[number].candidateCount > 0 ||
         tileError(op, "atom %s does not divide %lld x %lld x %lld", name, (long long)sizes.m, (long long)sizes.n,
                   (long long)sizes.k);
}

// Sums of a product under way stay in its fragment until a tile.mma_wait: nothing may move them before. What a product
// adds to is under way only if it comes from another one, or is carried by a loop that gives it so; a wait that leaves
// products pending gives sums under way.
static void fixUnderWay(Graph *graph, uint32_t number) {
  const Variable *variable = &graph->variables[number];
  for (uint32_t i = 0; i < variable->portCount; ++i) {
    const Port *port = &graph->ports[variable->firstPort + i];
    const Value *value = layoutValueOf(graph, port->value);
    bool isBehind = tileMmaWaitOpIsA(variable->op) && port->operand < 0 && !tileMmaWaitOpGetPendingValue(variable->op);
    bool isAhead = tileMmaAsyncOpIsA(variable->op) && port->operand >= 0;
    if (port->relation != Relation_Same || isBehind || isAhead || !value)
      continue;
    LayoutId layout = variable->candidates[0].ports[i];
    for (uint32_t use = 0; use <= value->useCount; ++use) {
      uint32_t other = use < value->useCount ? value->uses[use] : value->definition;
      Variable *next = other == NoPort ? NULL : &graph->variables[graph->ports[other].variable];
      bool isUnderWay = next && !next->isFixed && (next->kind == Variable_Carried || tileMmaWaitOpIsA(next->op));
      if (!isUnderWay ||
          !layoutAddCandidate(graph, graph->ports[other].variable, layoutFromPort(graph, &graph->ports[other], layout)))
        continue;
      next->isFixed = true;
      fixUnderWay(graph, graph->ports[other].variable);
    }
  }
}

// A product that runs by itself names its atom, whose fragment is the accumulator of several warps together. These
// groups of warps share the rows, then the columns.
static bool proposeAsync(Graph *graph, uint32_t number) {
  MlirOperation op = graph->variables[number].op;
  MlirStringRef name = tileKeywordOf(op, "atom");
  TileMachineAtom atom;
  TileLayout fragments[TileMachineFragments], layouts[TileMachineFragments];
  TileError error;
  char text[48];
  snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
  if (!tileMachineFindAtom(graph->machine, text, &atom, &error))
    return tileError(op, "%s", error.text);
  if (graph->warps < atom.warps)
    return tileError(op, "atom \"%s\" runs on %lld warps together; the product has %u", text, (long long)atom.warps,
                     graph->warps);
  if (!parseFragments(op, &atom, fragments))
    return false;
  Sizes sizes = sizesOf(op);
  TileProductShape shape = {.batch = sizes.batch, .m = sizes.m, .n = sizes.n, .k = sizes.k};
  shape.warpBits = tessera_log2(graph->warps / (uint64_t)atom.warps);
  for (uint32_t columns = 0; columns <= shape.warpBits; ++columns) {
    shape.warpBitsM = shape.warpBits - columns;
    shape.warpBitsN = columns;
    if (!tileLayoutProductOperand(&fragments[2], &shape, 2, &layouts[2], NULL) ||
        !tileLayoutProductOperand(&fragments[0], &shape, 0, &layouts[0], NULL))
      continue;
    addFragments(graph, number, layouts, &atom, text);
    graph->variables[number].isFixed = true;
    fixUnderWay(graph, number);
    return true;
  }
  return tileError(op, "atom \"%s\" does not divide %lld x %lld x %lld among %u warps", text, (long long)sizes.m,
                   (long long)sizes.n, (long long)sizes.k, graph->warps);
}

// The atom, and where it is as high as wide, so that nothing else changes, the one with its factors exchanged: its sums
// lie in rows where the other's lie in columns, as accesses of memory may like.
static bool proposeAtoms(Graph *graph, uint32_t number, const char *name, const TileMachineAtom *atom) {
  TileMachineAtom other;
  char swapped[48];
  snprintf(swapped, sizeof swapped, "%s" TILE_MACHINE_SWAPPED, name);
  return proposeAtom(graph, number, name, atom) &&
         (atom->m != atom->n || !tileMachineFindAtom(graph->machine, swapped, &other, NULL) ||
          proposeAtom(graph, number, swapped, &other));
}

//===--- multiply-adds ----------------------------------------------------------------===//

// Squares of accumulators per thread reuse operands most.
static void proposeMultiplyAdds(Graph *graph, uint32_t number) {
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(graph->variables[number].type, shape);
  uint32_t rowsFirst[] = {rank - 2, rank - 1, 0};
  for (uint32_t vector = 1; vector <= 4; vector *= 4)
    for (int rows = 0; rows < 2; ++rows) {
      TileLayout layout;
      // `rowsFirst` names all axes at rank 2; at rank 3 the batch is left to last.
      const uint32_t *order = rows ? rowsFirst : NULL;
      if (tileLayoutBlocked(shape, rank, order, NULL, vector, graph->lanes, graph->warps, &layout, NULL))
        layoutAddCandidate(graph, number, layoutIntern(graph, &layout));
    }
}

// False after a diagnostic.
static bool proposeProduct(Graph *graph, uint32_t number) {
  MlirOperation op = graph->variables[number].op;
  TileMachineAtom atom;
  char name[48];
  if (tileMmaAsyncOpIsA(op))
    return proposeAsync(graph, number);
  if (layoutFindAtom(graph->machine, op, graph->warps, false, name, sizeof name, &atom))
    return proposeAtoms(graph, number, name, &atom);
  if (tileMmaSparseOpIsA(op)) // padded to the atom by now, or dense
    return tileError(op, "fits no sparse instruction of %s", tileMachineGetName(graph->machine));
  proposeMultiplyAdds(graph, number);
  for (uint32_t i = 0; i < graph->variables[number].candidateCount; ++i)
    snprintf(graph->variables[number].candidates[i].atom, sizeof name, "fma");
  return true;
}

//===--- one candidate ----------------------------------------------------------------===//

static bool isExact(const Graph *graph, MlirType type, LayoutId layout) {
  int64_t shape[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(type, shape);
  return tileLayoutCovers(layoutOf(graph, layout), shape, rank, NULL, NULL);
}

bool layoutAddCandidate(Graph *graph, uint32_t number, LayoutId own) {
  Variable *variable = &graph->variables[number];
  if (!own || variable->candidateCount == MaxCandidates || variable->isFixed)
    return false;
  for (uint32_t i = 0; i < variable->candidateCount; ++i)
    if (variable->candidates[i].own == own)
      return false;
  LayoutId *ports = calloc(variable->portCount ? variable->portCount : 1, sizeof *ports);
  bool fits = !variable->isExact || isExact(graph, variable->type, own);
  for (uint32_t i = 0; fits && i < variable->portCount; ++i) {
    const Port *port = &graph->ports[variable->firstPort + i];
    ports[i] = layoutOfPort(graph, port, own);
    fits = ports[i] != 0 && (!variable->isExact || isExact(graph, mlirValueGetType(port->value), ports[i]));
  }
  if (!fits) {
    free(ports);
    return false;
  }
  Candidate *candidate = &variable->candidates[variable->candidateCount++];
  *candidate = (Candidate){.own = own, .ports = ports, .price = -1};
  if (variable->kind == Variable_Product)
    candidate->atom[0] = 'f', candidate->atom[1] = 'm', candidate->atom[2] = 'a';
  return true;
}

static void proposeShape(Graph *graph, uint32_t number, const int64_t *shape, const uint32_t *order,
                         const uint32_t *warpOrder, uint32_t vector) {
  TileLayout layout;
  uint32_t rank = (uint32_t)tileTypeGetRank(graph->variables[number].type);
  if (tileLayoutBlocked(shape, rank, order, warpOrder, vector, graph->lanes, graph->warps, &layout, NULL))
    layoutAddCandidate(graph, number, layoutIntern(graph, &layout));
}

static uint64_t powersOf(const int64_t *shape, uint32_t rank) {
  uint64_t powers = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    powers *= (uint64_t)(shape[axis] & -shape[axis]);
  return powers;
}

// Blocks of the shape, of the shape rounded up where its powers of two are fewer than the threads: once such that the
// lanes of a warp lie side by side, once with as few elements as that takes.
static void propose(Graph *graph, uint32_t number, const uint32_t *order, const uint32_t *warpOrder, uint32_t vector) {
  int64_t shape[TILE_LAYOUT_MAX_AXES], rounded[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = layoutShapeOf(graph->variables[number].type, shape), least[TILE_LAYOUT_MAX_AXES] = {0};
  uint32_t threadBits = tessera_log2(graph->lanes) + tessera_log2(graph->warps);
  if (rank && rank <= TILE_LAYOUT_MAX_AXES && powersOf(shape, rank) < (uint64_t)graph->lanes * graph->warps) {
    least[order ? order[0] : rank - 1] = tessera_log2(graph->lanes) + tessera_log2(vector);
    tileLayoutRoundShape(shape, rank, least, threadBits, rounded);
    proposeShape(graph, number, rounded, order, warpOrder, vector);
    tileLayoutRoundShape(shape, rank, NULL, threadBits, rounded);
    proposeShape(graph, number, rounded, order, warpOrder, vector);
  }
  proposeShape(graph, number, shape, order, warpOrder, vector);
}

//===--- what ops like --------------------------------------------------------------------===//

// A load from tensor memory: lanes of four warps are its 128 lanes (tensor_memory.c of the conversion). What is left
// are columns, the last of them for more warps.
static bool proposeTensor(Graph *graph, uint32_t number, MlirType buffer) {
  enum { LaneBits = 7, WarpLaneBits = 5 };
  TileLayout memory = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(buffer)),
             layout = tileLayoutEmpty(TileLayoutValues);
  uint32_t columns = memory.bits[TileLayoutOffset] - LaneBits, more = tessera_log2(graph->warps) - 2;
  if (graph->warps < 4 || memory.bits[TileLayoutOffset] < LaneBits + more || graph->lanes != 1u << WarpLaneBits)
    return tileError(graph->variables[number].op, "loads from tensor memory on %u warps, expected 4 or more",
                     graph->warps);
  bool ok = true;
  for (uint32_t bit = 0; bit < columns - more; ++bit)
    ok = ok && tileLayoutAppendBit(&layout, TileLayoutReg, memory.steps[bit], NULL);
  for (uint32_t bit = 0; bit < LaneBits; ++bit)
    ok = ok && tileLayoutAppendBit(&layout, bit < WarpLaneBits ? TileLayoutLane : TileLayoutWarp,
                                   memory.steps[columns + bit], NULL);
  for (uint32_t bit = columns - more; bit < columns; ++bit)
    ok = ok && tileLayoutAppendBit(&layout, TileLayoutWarp, memory.steps[bit], NULL);
  ok = ok && layoutAddCandidate(graph, number, layoutIntern(graph, &layout));
  graph->variables[number].isFixed = true;
  return ok;
}

static void proposeAccess(Graph *graph, uint32_t number) {
  const Variable *variable = &graph->variables[number];
  MlirValue memory = layoutMemoryOf(variable->op);
  MlirType type = mlirValueGetType(memory);
  if (tileTypeIsABuffer(type) && tileStringEquals(tileBufferTypeGetLevel(type), "tmem")) {
    proposeTensor(graph, number, type);
    return;
  }
  uint32_t order[TILE_LAYOUT_MAX_AXES], vector = 1, bytes = layoutElementBits(variable->type) / 8;
  if (!tileTypeIsAView(mlirValueGetType(memory))) {
    propose(graph, number, NULL, NULL, 1);
    return;
  }
  TileMemoryFacts facts = layoutMemoryFacts(memory, order);
  // What the facts allow, as long as that leaves every thread something to do.
  uint64_t share = (uint64_t)tileTypeGetCount(variable->type) / (graph->lanes * graph->warps);
  while (vector * 2 * bytes <= 16 && facts.alignment % (vector * 2 * bytes) == 0 && facts.bound % (vector * 2) == 0 &&
         vector * 2 <= share)
    vector *= 2;
  propose(graph, number, order, NULL, vector);
  if (vector > 1)
    propose(graph, number, order, NULL, 1);
}

// Warps take the axes that are kept, so that no warp needs another's elements; lanes the reduced ones, or, where those
// are strided registers, the kept ones.
static void proposeAlong(Graph *graph, uint32_t number) {
  const Variable *variable = &graph->variables[number];
  uint32_t rank = (uint32_t)tileTypeGetRank(variable->type), axes = layoutAxesOf(variable->op), keptFirst[8],
           reducedFirst[8];
  uint32_t kept = 0, reduced = 0;
  if (rank > TILE_LAYOUT_MAX_AXES)
    return;
  for (uint32_t i = rank; i-- > 0;)
    if (!(axes >> i & 1))
      keptFirst[kept++] = i;
  for (uint32_t i = rank; i-- > 0;)
    if (axes >> i & 1)
      keptFirst[kept + reduced++] = i;
  for (uint32_t i = 0; i < rank; ++i)
    reducedFirst[i] = keptFirst[(i + kept) % rank];
  propose(graph, number, reducedFirst, keptFirst, 1);
  propose(graph, number, keptFirst, keptFirst, 1);
  if (variable->kind != Variable_Scan)
    return;
  // A run of elements per thread: a scan of its own, then one over threads.
  uint64_t threads = (uint64_t)graph->lanes * graph->warps;
  uint64_t size = (uint64_t)tileTypeGetSize(variable->type, reducedFirst[0]);
  uint32_t run = 1;
  while (run * 2 * threads <= size)
    run *= 2;
  propose(graph, number, reducedFirst, keptFirst, run);
}

static bool proposeOwn(Graph *graph, uint32_t number) {
  switch (graph->variables[number].kind) {
  case Variable_Product:
    return proposeProduct(graph, number);
  case Variable_Load:
  case Variable_Store:
    proposeAccess(graph, number);
    return true;
  case Variable_Reduce:
  case Variable_Scan:
    proposeAlong(graph, number);
    return true;
  default:
    return true;
  }
}

//===--- carrying them ----------------------------------------------------------------------===//

typedef struct Queue {
  struct {
    uint32_t variable, candidate;
  } *items;
  uint32_t count;
} Queue;

static void push(Queue *queue, uint32_t variable, uint32_t candidate) {
  queue->items = tessera_grow(queue->items, queue->count, sizeof *queue->items);
  queue->items[queue->count].variable = variable;
  queue->items[queue->count++].candidate = candidate;
}

static void offer(Graph *graph, Queue *queue, uint32_t portNumber, LayoutId layout) {
  const Port *port = &graph->ports[portNumber];
  uint32_t number = port->variable;
  if (layoutAddCandidate(graph, number, layoutFromPort(graph, port, layout)))
    push(queue, number, graph->variables[number].candidateCount - 1);
}

// Across one tile: from the port that has the layout to all others.
static void offerAcross(Graph *graph, Queue *queue, uint32_t from, LayoutId layout) {
  const Value *value = layoutValueOf(graph, graph->ports[from].value);
  if (value->definition != from)
    offer(graph, queue, value->definition, layout);
  for (uint32_t i = 0; i < value->useCount; ++i)
    if (value->uses[i] != from)
      offer(graph, queue, value->uses[i], layout);
}

static void carry(Graph *graph, Queue *queue, uint32_t begin) {
  for (uint32_t next = begin; next < queue->count; ++next) {
    const Variable *variable = &graph->variables[queue->items[next].variable];
    const Candidate *candidate = &variable->candidates[queue->items[next].candidate];
    for (uint32_t i = 0; i < variable->portCount; ++i)
      offerAcross(graph, queue, variable->firstPort + i, candidate->ports[i]);
  }
}

bool layoutPropose(Graph *graph) {
  Queue queue = {.items = NULL};
  bool ok = true;
  for (uint32_t i = 0; ok && i < graph->variableCount; ++i)
    ok = proposeOwn(graph, i);
  for (uint32_t i = 0; ok && i < graph->variableCount; ++i) // once all are there: a product proposes for others too
    for (uint32_t c = 0; c < graph->variables[i].candidateCount; ++c)
      push(&queue, i, c);
  carry(graph, &queue, 0);
  // What nobody near has a wish for.
  for (uint32_t i = 0; ok && i < graph->variableCount; ++i) {
    uint32_t begin = queue.count;
    if (graph->variables[i].candidateCount)
      continue;
    propose(graph, i, NULL, NULL, 1);
    ok = graph->variables[i].candidateCount ||
         tileError(graph->variables[i].op, "has a tile for which there is no layout over %u lanes and %u warps",
                   graph->lanes, graph->warps);
    if (!ok)
      break;
    push(&queue, i, 0);
    carry(graph, &queue, begin);
  }
  free(queue.items);
  return ok;
}
