// Proposals for matrix products: which instruction of the machine, and how warps share the accumulator.
// Without an instruction for the types every thread multiplies and adds scalars: the atom "fma", whose accumulator may
// have any layout.
#include "lib/transforms/layout/graph.h"

#include "lib/support/integer.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"
#include "lib/layout/text.h"
#include "lib/layout/tiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// An instruction for the elements as they are, or for the parts that f32 may be split into.
static bool takes(const TileMachineAtom *atom, MlirOperation op) {
  const char *part = tileFactorPart(op);
  char text[3][32];
  static const char *const names[] = {"lhs", "rhs", "accumulator"};
  for (int i = 0; i < 3; ++i)
    tileTypeText(tileTypeGetElement(mlirValueGetType(tileOpOperand(op, names[i]))), text[i], sizeof text[i]);
  return tileMmaSparseOpIsA(op) == !!atom->fragment[3][0] && atom->warps == 1 && atom->fragment[0][0] &&
         atom->fragment[1][0] && atom->fragment[2][0] &&
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
  for (size_t i = 0; tileIsProduct(op) && i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (strncmp(key, "atom.", 5) || strchr(key, '*') || !tileMachineFindAtom(machine, key + 5, &atom, NULL) ||
        !takes(&atom, op) || (!mayPad && !divides(&sizes, &atom)))
      continue;
    int64_t work = workOf(&sizes, &atom, warps), size = atom.m * atom.n * atom.k;
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

static Candidate *addFragments(Graph *graph, uint32_t number, const TileLayout layouts[4], const char *atom) {
  LayoutId own = layoutIntern(graph, &layouts[2]);
  Variable *variable = &graph->variables[number];
  if (variable->candidateCount == MaxCandidates)
    return NULL;
  Candidate *candidate = &variable->candidates[variable->candidateCount++];
  *candidate = (Candidate){.own = own, .price = -1, .ports = calloc(variable->portCount, sizeof(LayoutId))};
  snprintf(candidate->atom, sizeof candidate->atom, "%s", atom);
  for (uint32_t i = 0; i < variable->portCount; ++i) {
    Relation relation = graph->ports[variable->firstPort + i].relation;
    candidate->ports[i] = relation == Relation_Lhs      ? layoutIntern(graph, &layouts[0])
                          : relation == Relation_Rhs    ? layoutIntern(graph, &layouts[1])
                          : relation == Relation_Places ? layoutIntern(graph, &layouts[3])
                                                        : own;
  }
  return candidate;
}

static bool parseFragments(MlirOperation op, const TileMachineAtom *atom, TileLayout fragments[4]) {
  TileError error;
  for (int i = 0; i < 4; ++i)
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

// Every way to share the accumulator among warps that leaves none idle; if there is none, those with fewest idle.
static bool proposeAtom(Graph *graph, uint32_t number, const char *name, const TileMachineAtom *atom) {
  MlirOperation op = graph->variables[number].op;
  Sizes sizes = sizesOf(op);
  TileLayout fragments[4], layouts[4];
  bool isSparse = tileMmaSparseOpIsA(op);
  TileProductShape shape = {.batch = sizes.batch, .m = sizes.m, .n = sizes.n, .k = sizes.k};
  shape.warpBits = (uint32_t)__builtin_ctz(graph->warps);
  if (!parseFragments(op, atom, fragments))
    return false;
  for (uint32_t used = shape.warpBits + 1; used-- > 0 && !graph->variables[number].candidateCount;)
    for (uint32_t m = 0; m <= used; ++m) {
      shape.warpBitsM = m;
      shape.warpBitsN = used - m;
      if (isSparse ? sparseOperands(fragments, &shape, layouts)
                   : tileLayoutProductOperands(fragments, &shape, layouts, NULL))
        addFragments(graph, number, layouts, name);
    }
  graph->variables[number].isFixed = true;
  return graph->variables[number].candidateCount > 0 ||
         tileError(op, "atom %s does not divide %lld x %lld x %lld", name, (long long)sizes.m, (long long)sizes.n,
                   (long long)sizes.k);
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

bool layoutProposeProduct(Graph *graph, uint32_t number) {
  MlirOperation op = graph->variables[number].op;
  TileMachineAtom atom;
  char name[48];
  if (layoutFindAtom(graph->machine, op, graph->warps, false, name, sizeof name, &atom))
    return proposeAtom(graph, number, name, &atom);
  if (tileMmaSparseOpIsA(op)) // padded to the atom by now, or dense
    return tileError(op, "fits no sparse instruction of %s", tileMachineGetName(graph->machine));
  proposeMultiplyAdds(graph, number);
  for (uint32_t i = 0; i < graph->variables[number].candidateCount; ++i)
    snprintf(graph->variables[number].candidates[i].atom, sizeof name, "fma");
  return true;
}
