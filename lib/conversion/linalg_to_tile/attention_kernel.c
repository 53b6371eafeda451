// The kernel of attention: online softmax (Milakov and Gimelshein 2018; FlashAttention, Dao et al. 2022).
//
//   o, m, l = 0, lowest, 0
//   for each block of keys:  s = K Qᵀ;  x = f(s);  m' = max(m, max x);  p = exp(x - m');  a = exp(m - m')
//                            l = a l + sum p;  o = a o + Vᵀ p;  m = m'
//   y = g(o / l)
//
// A program owns one head's block of queries; scores never reach memory that is shared. On a CPU every tile has the
// queries as its columns: maxima and sums are taken without going across lanes, keys and values are read where they
// lie, and queries, biases and results alone are turned. On a GPU rows are queries, as tensor cores want it. m starts
// at the lowest number and not at -inf: a block that is hidden by -inf then leaves o and l as they are.
#include "lib/conversion/linalg_to_tile/attention.h"

#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

#include <float.h>
#include <math.h>

typedef struct Emission {
  TileKernelEmission e;
  TileAttention *attention;
  TileStructured *s;
  bool isGpu;
  MlirValue packedQueries;       // a CPU's: depth × queries
  MlirValue queries;             // a GPU's: queries × depth
  MlirValue turned[MaxOperands]; // a CPU's: keys × queries, for inputs of f that are read by way of a buffer
} Emission;

typedef struct State {
  MlirValue sums, maximum, total; // o, m, l
} State;

//===--- tiles -----------------------------------------------------------------------===//

// Tiles are over these two dimensions from here on, in the order of their numbers.
static void over(Emission *k, int dim, int other) {
  int axis = 0;
  for (int d = 0; d < k->s->numDims; d++)
    k->s->dims[d].axis = d == dim || d == other ? axis++ : -1;
}

static void overScores(Emission *k) { over(k, k->attention->keys, k->attention->queries); }
static void overResult(Emission *k) { over(k, k->attention->channels, k->attention->queries); }

static MlirValue binary(Emission *k, const char *name, MlirValue a, MlirValue b) {
  return tileBuildValue(&k->e.body, name, mlirValueGetType(a), 2, (MlirValue[]){a, b}, NULL);
}

// A number for each query, over a tile of the present dimensions.
static MlirValue spread(Emission *k, MlirValue perQuery) {
  MlirType type = tileKernelTileType(&k->e, k->attention->sum);
  int64_t axis = 1 - k->s->dims[k->attention->queries].axis;
  TileAttributeEntry attributes[] = {{"axes", mlirDenseI64ArrayGet(k->e.body.context, 1, &axis)}, {0}};
  return tileBuildValue(&k->e.body, "tile.broadcast", type, 1, &perQuery, attributes);
}

// On a CPU sums are multiplied up in their own type.
static MlirValue widened(Emission *k, MlirValue tile) {
  MlirType type = mlirValueGetType(tile);
  if (k->isGpu || mlirTypeEqual(mlirShapedTypeGetElementType(type), k->attention->sum))
    return tile;
  int64_t shape[2] = {mlirShapedTypeGetDimSize(type, 0), mlirShapedTypeGetDimSize(type, 1)};
  return tileBuildValue(&k->e.body, "arith.extf", tileTileTypeGet(2, shape, k->attention->sum, mlirAttributeGetNull()),
                        1, &tile, NULL);
}

static MlirValue loadMatrix(Emission *k, int operand, int rows, int columns) {
  over(k, rows, columns);
  return widened(k, tileKernelLoadMatrix(&k->e, operand, (int[2]){rows, columns}));
}

static int axisOf(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; i++)
    if (operand->results[i] == dim)
      return i;
  return -1;
}

// The operand's present tile, by way of a local buffer with these rows and columns (of a power of two).
static MlirValue loadPacked(Emission *k, int operand, int rows, int columns, MlirValue buffer) {
  over(k, rows, columns);
  tileKernelPack(&k->e, operand, (int[2]){rows, columns}, buffer);
  return tileKernelLoadBuffer(&k->e, buffer);
}

static MlirValue buildBuffer(Emission *k, int operand, int rows, int columns) {
  MlirType element = tileOperandElementType(&k->s->operands[operand]);
  MlirType type = tileKernelBufferType(&k->e, k->s->dims[rows].tile, k->s->dims[columns].tile, element);
  return tileBuildValue(&k->e.body, "tile.alloc", type, 0, NULL, NULL);
}

//===--- scores ----------------------------------------------------------------------===//

static MlirValue buildProduct(Emission *k, MlirValue lhs, MlirValue rhs, MlirValue sum) {
  return tileBuildValue(&k->e.body, "tile.mma", mlirValueGetType(sum), 3, (MlirValue[]){lhs, rhs, sum}, NULL);
}

static MlirValue buildScores(Emission *k) {
  const TileAttention *a = k->attention;
  MlirValue lhs, rhs;
  if (k->isGpu) {
    lhs = k->queries;
    rhs = loadMatrix(k, AttentionK, a->depth, a->keys);
  } else {
    lhs = loadMatrix(k, AttentionK, a->keys, a->depth);
    over(k, a->depth, a->queries);
    rhs = widened(k, tileKernelLoadBuffer(&k->e, k->packedQueries));
  }
  overScores(k);
  return buildProduct(k, lhs, rhs, tileBuildFloat(&k->e.body, tileKernelTileType(&k->e, a->sum), 0.0));
}

// An input of f has the queries' rows in memory: a CPU turns it by squares, in a copy.
static bool isTurned(const Emission *k, int input) {
  const TileOperand *operand = &k->s->operands[input];
  int keys = axisOf(operand, k->attention->keys), queries = axisOf(operand, k->attention->queries);
  return !k->isGpu && queries >= 0 && keys > queries;
}

static MlirValue loadScoreInput(Emission *k, int input) {
  const TileAttention *a = k->attention;
  overScores(k);
  return isTurned(k, input) ? loadPacked(k, input, a->keys, a->queries, k->turned[input])
                            : tileKernelLoad(&k->e, input, NULL, false);
}

static void mapPositions(Emission *k, TileBodyMap *map) {
  const TileAttention *a = k->attention;
  MlirType positions = tileKernelTileType(&k->e, mlirIndexTypeGet(k->e.body.context));
  for (MlirOperation op = mlirBlockGetFirstOperation(a->score); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tileOpIs(op, "linalg.index")) {
      int dim = a->scoreDims[mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"))];
      tileBodyMapSet(map, mlirOperationGetResult(op, 0), tileKernelPosition(&k->e, dim, positions));
    }
}

// f of the scores; keys past the last one are hidden.
static MlirValue buildMasked(Emission *k, MlirValue scores) {
  const TileAttention *a = k->attention;
  overScores(k);
  if (!mlirBlockIsNull(a->score)) {
    TileBodyMap map = {0};
    tileBodyMapSet(&map, mlirBlockGetArgument(a->score, a->scoreArgument), scores);
    for (int i = 0; i < a->numScoreInputs; i++) {
      MlirValue argument = mlirBlockGetArgument(a->score, i + (i >= a->scoreArgument));
      if (!mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
        tileBodyMapSet(&map, argument, loadScoreInput(k, AttentionFirstInput + i));
    }
    mapPositions(k, &map);
    scores = tileKernelCloneValue(&k->e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(a->score), 0));
  }
  if (!tileDimIsRagged(&k->s->dims[a->keys]))
    return scores;
  MlirType type = mlirValueGetType(scores);
  MlirValue choice[3] = {tileKernelInside(&k->e, a->keys), scores, tileBuildFloat(&k->e.body, type, -INFINITY)};
  return tileBuildValue(&k->e.body, "arith.select", type, 3, choice, NULL);
}

//===--- one block of keys -------------------------------------------------------------===//

static MlirValue exponential(Emission *k, MlirValue x) {
  return tileBuildValue(&k->e.body, "math.exp", mlirValueGetType(x), 1, &x, NULL);
}

static MlirValue rounded(Emission *k, MlirValue weights) {
  if (!k->isGpu || mlirTypeEqual(k->attention->weight, k->attention->sum))
    return weights;
  MlirType type = tileKernelTileType(&k->e, k->attention->weight);
  return tileBuildValue(&k->e.body, "arith.truncf", type, 1, &weights, NULL);
}

static State buildBlock(Emission *k, State old) {
  const TileAttention *a = k->attention;
  State next;
  MlirValue scores = buildMasked(k, buildScores(k));
  overScores(k);
  next.maximum = binary(k, "arith.maximumf", old.maximum, tileKernelReduce(&k->e, "arith.maximumf", scores));
  MlirValue weights = exponential(k, binary(k, "arith.subf", scores, spread(k, next.maximum)));
  MlirValue scale = exponential(k, binary(k, "arith.subf", old.maximum, next.maximum));
  next.total = binary(k, "arith.addf", binary(k, "arith.mulf", old.total, scale),
                      tileKernelReduce(&k->e, "arith.addf", weights));
  weights = rounded(k, weights);
  MlirValue values =
      k->isGpu ? loadMatrix(k, AttentionV, a->keys, a->channels) : loadMatrix(k, AttentionV, a->channels, a->keys);
  overResult(k);
  MlirValue sums = binary(k, "arith.mulf", old.sums, spread(k, scale));
  next.sums = k->isGpu ? buildProduct(k, weights, values, sums) : buildProduct(k, values, weights, sums);
  return next;
}

// Blocks from `first` to `end` - 1.
static State buildBlocks(Emission *k, MlirValue first, MlirValue end, State state) {
  MlirValue carried[3] = {state.sums, state.maximum, state.total};
  MlirBlock block;
  MlirOperation loop = tileBuildFor(&k->e.body, first, end, tileBuildIndex(&k->e.body, 1), 3, carried, &block);
  TileBuilder outer = k->e.body;
  k->e.body = tileBuilderAtEnd(block, outer.location);
  k->e.index[k->attention->keys] = mlirBlockGetArgument(block, 0);
  State next = buildBlock(
      k, (State){mlirBlockGetArgument(block, 1), mlirBlockGetArgument(block, 2), mlirBlockGetArgument(block, 3)});
  tileBuildYield(&k->e.body, 3, (MlirValue[]){next.sums, next.maximum, next.total});
  k->e.body = outer;
  return (State){mlirOperationGetResult(loop, 0), mlirOperationGetResult(loop, 1), mlirOperationGetResult(loop, 2)};
}

//===--- the kernel ----------------------------------------------------------------------===//

static void loadQueries(Emission *k) {
  const TileAttention *a = k->attention;
  if (k->isGpu) {
    k->queries = loadMatrix(k, AttentionQ, a->queries, a->depth);
    return;
  }
  over(k, a->depth, a->queries);
  k->packedQueries = buildBuffer(k, AttentionQ, a->depth, a->queries);
  tileKernelPack(&k->e, AttentionQ, (int[2]){a->depth, a->queries}, k->packedQueries);
  for (int i = AttentionFirstInput; i < AttentionFirstInput + a->numScoreInputs; i++)
    if (isTurned(k, i))
      k->turned[i] = buildBuffer(k, i, a->keys, a->queries);
}

// Without keys the result is a sum of nothing: 0, not 0 / 0.
static MlirValue leastTotal(Emission *k, MlirType perQuery) {
  enum { Eq = 0 };
  MlirType i1 = mlirIntegerTypeGet(k->e.body.context, 1);
  if (!mlirShapedTypeIsDynamicSize(k->s->dims[k->attention->keys].extent))
    return tileBuildFloat(&k->e.body, perQuery, 0.0);
  TileAttributeEntry at[] = {{"predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(k->e.body.context, 64), Eq)}, {0}};
  MlirValue sides[2] = {tileKernelExtent(&k->e, k->attention->keys), tileBuildIndex(&k->e.body, 0)};
  MlirValue choice[3] = {tileBuildValue(&k->e.body, "arith.cmpi", i1, 2, sides, at),
                         tileBuildFloat(&k->e.body, k->attention->sum, 1.0),
                         tileBuildFloat(&k->e.body, k->attention->sum, 0.0)};
  MlirValue least = tileBuildValue(&k->e.body, "arith.select", k->attention->sum, 3, choice, NULL);
  return tileKernelSplat(&k->e, least, perQuery);
}

static State initialState(Emission *k) {
  overScores(k);
  MlirType perQuery = tileKernelOutputTileType(&k->e, k->attention->sum);
  State state = {.maximum = tileBuildFloat(&k->e.body, perQuery, -FLT_MAX), .total = leastTotal(k, perQuery)};
  overResult(k);
  state.sums = tileBuildFloat(&k->e.body, tileKernelTileType(&k->e, k->attention->sum), 0.0);
  return state;
}

static void buildKernel(Emission *k) {
  const TileAttention *a = k->attention;
  k->e.index[a->depth] = k->e.index[a->channels] = tileBuildIndex(&k->e.body, 0);
  loadQueries(k);
  State state = initialState(k);
  MlirValue end = tileKernelNumTiles(&k->e, &k->e.body, a->keys, tileKernelExtent(&k->e, a->keys));
  state = buildBlocks(k, tileBuildIndex(&k->e.body, 0), end, state);
  overResult(k);
  MlirValue result = binary(k, "arith.divf", state.sums, spread(k, state.total));
  tileKernelStore(&k->e, k->s->numInputs, tileKernelEpilogue(&k->e, result));
}

static void dropUnused(const TileAttention *a) {
  for (int i = 1; i < a->numOps; i++)
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(a->ops[i], 0))))
      mlirOperationDestroy(a->ops[i]);
}

void tileAttentionEmit(TileAttention *a) {
  Emission k = {.attention = a, .s = &a->structured, .isGpu = tileStructuredGpu(&a->structured)};
  // A program walks all channels: they are none of the grid's.
  k.s->dims[a->channels].isReduction = true;
  tileKernelBegin(&k.e, k.s, "attention");
  k.s->dims[a->channels].isReduction = false;
  buildKernel(&k);
  k.s->dims[a->channels].isReduction = true;
  tileKernelEnd(&k.e);
  dropUnused(a);
}
