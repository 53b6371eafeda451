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
#include "lib/analysis/attention.h"

#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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
  for (int d = 0; d < k->s->numDims; ++d)
    k->s->dims[d].axis = d == dim || d == other ? axis++ : -1;
}

static void overScores(Emission *k) { over(k, k->attention->keys, k->attention->queries); }
static void overResult(Emission *k) { over(k, k->attention->channels, k->attention->queries); }

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
  return arithExtFOpBuild(&k->e.body, tileTileTypeGet(2, shape, k->attention->sum, mlirAttributeGetNull()), tile);
}

static MlirValue loadMatrix(Emission *k, int operand, int rows, int columns) {
  over(k, rows, columns);
  return widened(k, tileKernelLoadMatrix(&k->e, operand, (int[2]){rows, columns}));
}

static int axisOf(const TileOperand *operand, int dim) {
  for (int i = 0; i < operand->rank; ++i)
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
  return tileAllocOpBuild(&k->e.body, type);
}

//===--- scores ----------------------------------------------------------------------===//

static MlirValue buildProduct(Emission *k, MlirValue lhs, MlirValue rhs, MlirValue sum) {
  return tileMmaOpBuild(&k->e.body, lhs, rhs, sum);
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
    if (linalgIndexOpIsA(op)) {
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
    for (int i = 0; i < a->numScoreInputs; ++i) {
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
  return arithSelectOpBuild(&k->e.body, choice[0], choice[1], choice[2]);
}

//===--- one block of keys -------------------------------------------------------------===//

static MlirValue exponential(Emission *k, MlirValue x) {
  if (!k->attention->isExact)
    return tileKernelWeight(&k->e, x);
  return mathExpOpBuild(&k->e.body, x);
}

static MlirValue rounded(Emission *k, MlirValue weights) {
  if (!k->isGpu || mlirTypeEqual(k->attention->weight, k->attention->sum))
    return weights;
  MlirType type = tileKernelTileType(&k->e, k->attention->weight);
  return arithTruncFOpBuild(&k->e.body, type, weights);
}

static State buildBlock(Emission *k, State old) {
  const TileAttention *a = k->attention;
  State next;
  MlirValue scores = buildMasked(k, buildScores(k));
  overScores(k);
  next.maximum = arithMaximumFOpBuild(&k->e.body, old.maximum,
                                      tileKernelReduce(&k->e, tileUpstreamName(ArithOp_MaximumF), scores));
  MlirValue weights = exponential(k, arithSubFOpBuild(&k->e.body, scores, spread(k, next.maximum)));
  MlirValue scale = exponential(k, arithSubFOpBuild(&k->e.body, old.maximum, next.maximum));
  next.total = arithAddFOpBuild(&k->e.body, arithMulFOpBuild(&k->e.body, old.total, scale),
                                tileKernelReduce(&k->e, tileUpstreamName(ArithOp_AddF), weights));
  weights = rounded(k, weights);
  MlirValue values =
      k->isGpu ? loadMatrix(k, AttentionV, a->keys, a->channels) : loadMatrix(k, AttentionV, a->channels, a->keys);
  overResult(k);
  MlirValue sums = arithMulFOpBuild(&k->e.body, old.sums, spread(k, scale));
  next.sums = k->isGpu ? buildProduct(k, weights, values, sums) : buildProduct(k, values, weights, sums);
  return next;
}

static MlirValue openLoop(Emission *k, MlirValue first, MlirValue end, State *state, TileBuilder *outer) {
  MlirValue carried[3] = {state->sums, state->maximum, state->total};
  MlirBlock block;
  tileBuildFor(&k->e.body, first, end, tileBuildIndex(&k->e.body, 1), 3, carried, &block);
  *outer = k->e.body;
  k->e.body = tileBuilderAtEnd(block, outer->location);
  *state = (State){mlirBlockGetArgument(block, 1), mlirBlockGetArgument(block, 2), mlirBlockGetArgument(block, 3)};
  return mlirBlockGetArgument(block, 0);
}

static void closeLoop(Emission *k, State *state, TileBuilder outer) {
  tileBuildYield(&k->e.body, 3, (MlirValue[]){state->sums, state->maximum, state->total});
  MlirOperation loop = mlirBlockGetParentOperation(k->e.body.block);
  k->e.body = outer;
  *state = (State){mlirOperationGetResult(loop, 0), mlirOperationGetResult(loop, 1), mlirOperationGetResult(loop, 2)};
}

// Blocks from `first` to `end` - 1.
static State buildBlocks(Emission *k, MlirValue first, MlirValue end, State state) {
  TileBuilder outer;
  k->e.index[k->attention->keys] = openLoop(k, first, end, &state, &outer);
  state = buildBlock(k, state);
  closeLoop(k, &state, outer);
  return state;
}

//===--- blocks that the mask hides ------------------------------------------------------===//

static MlirValue compare(Emission *k, const char *name, int64_t predicate, MlirValue a, MlirValue b) {
  TileAttributeEntry at[] = {{"predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(k->e.body.context, 64), predicate)},
                             {0}};
  return tileBuildValue(&k->e.body, name, mlirIntegerTypeGet(k->e.body.context, 1), 2, (MlirValue[]){a, b}, at);
}

static MlirValue choose(Emission *k, MlirValue condition, MlirValue a, MlirValue b) {
  return arithSelectOpBuild(&k->e.body, condition, a, b);
}

// A value of f's body that is equal for all pairs of a head, as a number.
static MlirValue buildPerHead(Emission *k, TileBodyMap *map, MlirValue value) {
  MlirType index = mlirIndexTypeGet(k->e.body.context);
  value = tileKernelCloneValue(&k->e, map, value);
  return mlirTypeIsAIndex(mlirValueGetType(value)) ? value : arithIndexCastOpBuild(&k->e.body, index, value);
}

// The least of a lower bound, or the greatest of an upper one, over the program's queries.
static MlirValue buildBound(Emission *k, TileBodyMap *map, const TileKeyBound *bound) {
  const TileAttention *a = k->attention;
  int64_t tile = k->s->dims[a->queries].tile;
  MlirValue query = tileBuildMul(&k->e.body, k->e.index[a->queries], tileBuildIndex(&k->e.body, tile));
  if ((bound->slope > 0) == bound->isUpper) // the last query
    query = tileBuildAdd(&k->e.body, query, tileBuildIndex(&k->e.body, tile - 1));
  MlirValue sum = tileBuildMul(&k->e.body, query, tileBuildIndex(&k->e.body, bound->slope));
  sum = tileBuildAdd(&k->e.body, sum, tileBuildIndex(&k->e.body, bound->constant));
  for (int i = 0; i < bound->numTerms; ++i) {
    MlirValue term = buildPerHead(k, map, bound->terms[i]);
    sum = bound->signs[i] > 0 ? tileBuildAdd(&k->e.body, sum, term) : tileBuildSub(&k->e.body, sum, term);
  }
  return sum;
}

typedef struct Range {
  MlirValue first, end, blocks; // blocks that are not hidden; all of them
} Range;

static bool hasBound(const TileKeyRange *keys, bool isUpper) {
  for (int i = 0; i < keys->numBounds; ++i)
    if (keys->bounds[i].isUpper == isUpper)
      return true;
  return false;
}

static Range buildRange(Emission *k, const TileKeyRange *keys) {
  const TileAttention *a = k->attention;
  MlirValue zero = tileBuildIndex(&k->e.body, 0), tile = tileBuildIndex(&k->e.body, k->s->dims[a->keys].tile);
  Range range = {.first = zero};
  range.end = range.blocks = tileKernelNumTiles(&k->e, &k->e.body, a->keys, tileKernelExtent(&k->e, a->keys));
  over(k, -1, -1);
  TileBodyMap map = {0};
  for (int i = 0; i < a->numScoreInputs && keys->numBounds; ++i) {
    const TileOperand *operand = &k->s->operands[AttentionFirstInput + i];
    MlirValue argument = mlirBlockGetArgument(a->score, i + (i >= a->scoreArgument));
    if (!tileOperandUses(operand, a->keys) && !tileOperandUses(operand, a->queries))
      tileBodyMapSet(&map, argument, tileKernelLoad(&k->e, AttentionFirstInput + i, NULL, false));
  }
  if (keys->numBounds)
    mapPositions(k, &map);
  for (int i = 0; i < keys->numBounds; ++i) {
    MlirValue bound = tileBuildMax(&k->e.body, buildBound(k, &map, &keys->bounds[i]), zero);
    if (keys->bounds[i].isUpper)
      range.end = tileBuildMin(&k->e.body, range.end, tileBuildCeilDiv(&k->e.body, bound, tile));
    else
      range.first = tileBuildMax(&k->e.body, range.first, arithDivUIOpBuild(&k->e.body, bound, tile));
  }
  if (hasBound(keys, false))
    range.first = tileBuildMin(&k->e.body, range.first, range.end);
  return range;
}

// Does any query's maximum say that it saw nothing, or nothing but what weighs as little as what is hidden?
static MlirValue sawNothing(Emission *k, MlirValue maximum, double hidden) {
  enum { UnorderedLess = 11 };
  double enough = hidden + fmax(256, fabs(hidden) / 1024); // exp(hidden - enough) is 0
  int64_t axis = 0;
  TileAttributeEntry attributes[] = {{"operation", mlirStringAttrGet(k->e.body.context, tileString("arith.minimumf"))},
                                     {"axes", mlirDenseI64ArrayGet(k->e.body.context, 1, &axis)},
                                     {0}};
  MlirRegion noBody = mlirRegionCreate();
  MlirOperation least =
      tileBuild(&k->e.body, "tile.reduce", 1, &maximum, 1, &k->attention->sum, attributes, 1, &noBody);
  return compare(k, "arith.cmpf", UnorderedLess, mlirOperationGetResult(least, 0),
                 tileBuildFloat(&k->e.body, k->attention->sum, enough));
}

// The blocks that the mask leaves. Where it hides by a number that is not -inf, a query that sees nothing has equal
// weights for all that is hidden from it: then, in rounds of their own, the blocks before and after, too.
static State buildVisible(Emission *k, State state) {
  enum { Eq = 0 };
  TileKeyRange keys = tileAttentionKeyRange(k->attention);
  Range range = buildRange(k, &keys);
  if (!keys.numBounds || keys.isInfinite)
    return buildBlocks(k, range.first, range.end, state);
  bool hasBefore = hasBound(&keys, false), hasAfter = hasBound(&keys, true);
  MlirValue zero = tileBuildIndex(&k->e.body, 0), last = tileBuildIndex(&k->e.body, 1 + hasBefore + hasAfter);
  TileBuilder outer;
  MlirValue round = openLoop(k, zero, last, &state, &outer), first = range.first, end = range.end;
  MlirValue more = sawNothing(k, state.maximum, keys.hidden);
  if (hasAfter) {
    MlirValue isThis = compare(k, "arith.cmpi", Eq, round, tileBuildIndex(&k->e.body, 1 + hasBefore));
    first = choose(k, isThis, range.end, first);
    end = choose(k, isThis, choose(k, more, range.blocks, range.end), end);
  }
  if (hasBefore) {
    MlirValue isThis = compare(k, "arith.cmpi", Eq, round, tileBuildIndex(&k->e.body, 1));
    first = choose(k, isThis, zero, first);
    end = choose(k, isThis, choose(k, more, range.first, zero), end);
  }
  state = buildBlocks(k, first, end, state);
  closeLoop(k, &state, outer);
  return state;
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
  for (int i = AttentionFirstInput; i < AttentionFirstInput + a->numScoreInputs; ++i)
    if (isTurned(k, i))
      k->turned[i] = buildBuffer(k, i, a->keys, a->queries);
}

// Without keys the result is a sum of nothing: 0, not 0 / 0.
static MlirValue leastTotal(Emission *k, MlirType perQuery) {
  enum { Eq = 0 };
  if (!mlirShapedTypeIsDynamicSize(k->s->dims[k->attention->keys].extent))
    return tileBuildFloat(&k->e.body, perQuery, 0.0);
  MlirValue none =
      compare(k, "arith.cmpi", Eq, tileKernelExtent(&k->e, k->attention->keys), tileBuildIndex(&k->e.body, 0));
  MlirValue least = choose(k, none, tileBuildFloat(&k->e.body, k->attention->sum, 1.0),
                           tileBuildFloat(&k->e.body, k->attention->sum, 0.0));
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
  State state = buildVisible(k, initialState(k));
  overResult(k);
  MlirValue result = arithDivFOpBuild(&k->e.body, state.sums, spread(k, state.total));
  tileKernelStore(&k->e, k->s->numInputs, tileKernelEpilogue(&k->e, result));
}

// The schedule's block: queries, keys, depth and channels that a program takes at once.
static bool takeSchedule(TileAttention *a, MlirOperation group) {
  MlirAttribute block = tileScheduleAttrGetEntry(tileGroupOpGetSchedule(group), "block");
  const int dims[] = {a->queries, a->keys, a->depth, a->channels};
  if (mlirAttributeIsNull(block) || mlirDenseArrayGetNumElements(block) != 4)
    return false;
  for (int i = 0; i < 4; ++i)
    a->structured.dims[dims[i]].tile = mlirDenseI64ArrayGetElement(block, i);
  return a->structured.dims[a->depth].tile >= a->structured.dims[a->depth].extent &&
         a->structured.dims[a->channels].tile >= a->structured.dims[a->channels].extent;
}

static void emit(TileAttention *a) {
  Emission k = {.attention = a, .s = &a->structured, .isGpu = tileStructuredGpu(&a->structured)};
  // A program walks all channels: they are none of the grid's.
  k.s->dims[a->channels].isReduction = true;
  tileKernelBegin(&k.e, k.s, "attention");
  k.s->dims[a->channels].isReduction = false;
  buildKernel(&k);
  k.s->dims[a->channels].isReduction = true;
  tileKernelEnd(&k.e);
}

bool tileLowerAttention(MlirOperation group, const TileTarget *target) {
  const char *reason;
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(group)), root = {NULL};
  if (!mlirAttributeIsNull(tileGroupOpGetSchedule(group)) && mlirOperationGetNumOperands(yield) == 1)
    root = tileDefiningOp(mlirOperationGetOperand(yield, 0));
  TileAttention *a = mlirOperationIsNull(root) ? NULL : tileAttentionMatch(root, target, &reason);
  bool isOurs = a && takeSchedule(a, group);
  if (isOurs)
    emit(a);
  free(a);
  return isOurs;
}
