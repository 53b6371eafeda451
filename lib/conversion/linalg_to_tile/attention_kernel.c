// The kernel of a tile.group that is attention. templates/online_softmax.mlir is the program; here is what its hooks
// build: scores with their mask, values, and which blocks of keys the mask leaves.
//
// A program owns one head's block of queries; scores never reach memory that is shared. On a CPU every tile has the
// queries as its columns: maxima and sums are taken without going across lanes, keys and values are read where they
// lie, and queries, biases and results alone are turned. On a GPU rows are queries, as tensor cores want it.
#include "lib/analysis/attention.h"

#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/conversion/linalg_to_tile/attention_blocks.h"
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/templates.h"
#include "lib/support/integer.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <assert.h>
#include <float.h>
#include <math.h>

typedef struct Range {
  MlirValue first, end, blocks; // blocks that are not hidden; all of them
} Range;

typedef struct Emission {
  TileKernelEmission e;
  TileAttention *attention;
  TileStructured *s;
  bool isGpu;
  MlirValue packedQueries;       // a CPU's: depth × queries
  MlirValue queries;             // a GPU's: queries × depth
  MlirValue turned[MaxOperands]; // a CPU's: keys × queries, for inputs of f that are read by way of a buffer
  // Where scores are compared before they are scaled: the product in f's body, and its factor times log2 e; else null.
  MlirValue scaled;
  double scale;
  TileKeyRange keys;
  Range range;
  // With a run-time mask: the operand that is the mask, the program's lists, the column where the walked one begins
  // (null: no list is walked), and whether its blocks are shown whole.
  int listed;
  TileBlockLists lists;
  MlirValue column;
  bool isListWhole, splitsSeen; // splitsSeen: blocks that are shown whole have a list of their own
  int64_t heads;                // visited side by side, their last queries first; 0: in the order of the grid
} Emission;

//===--- tiles -----------------------------------------------------------------------===//

// Tiles are over these two dimensions from here on, in the order of their numbers.
static void over(Emission *k, int dim, int other) {
  int axis = 0;
  for (int d = 0; d < k->s->numDims; ++d)
    k->s->dims[d].axis = d == dim || d == other ? axis++ : -1;
}

static void overScores(Emission *k) { over(k, k->attention->keys, k->attention->queries); }
static void overResult(Emission *k) { over(k, k->attention->channels, k->attention->queries); }

// On a CPU sums are multiplied up in their own type.
static MlirValue widened(Emission *k, MlirValue tile) {
  return k->isGpu ? tile : tileKernelCast(&k->e, tile, k->attention->sum);
}

static MlirValue loadMatrix(Emission *k, int operand, int rows, int columns) {
  over(k, rows, columns);
  return widened(k, tileKernelLoadMatrix(&k->e, operand, (int[2]){rows, columns}));
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

static MlirValue buildScores(Emission *k) {
  const TileAttention *a = k->attention;
  MlirValue lhs, rhs;
  if (k->isGpu) {
    lhs = k->queries;
    rhs = loadMatrix(k, a->k, a->depth, a->keys);
  } else {
    lhs = loadMatrix(k, a->k, a->keys, a->depth);
    over(k, a->depth, a->queries);
    rhs = widened(k, tileKernelLoadBuffer(&k->e, k->packedQueries));
  }
  overScores(k);
  return tileMmaOpBuild(&k->e.body, lhs, rhs, tileBuildFloat(&k->e.body, tileKernelTileType(&k->e, a->sum), 0.0));
}

// An input of f has the queries' rows in memory: a CPU turns it by squares, in a copy.
static bool isTurned(const Emission *k, int input) {
  const TileOperand *operand = &k->s->operands[input];
  int keys = tileOperandAxisOf(operand, k->attention->keys),
      queries = tileOperandAxisOf(operand, k->attention->queries);
  return !k->isGpu && queries >= 0 && keys > queries;
}

// f of the scores; keys past the last one are hidden.
static MlirValue buildMasked(Emission *k, MlirValue scores, bool isWhole) {
  const TileAttention *a = k->attention;
  TileBodyMap map = {0};
  for (int i = 0; !mlirBlockIsNull(a->score.body) && i < (int)mlirBlockGetNumArguments(a->score.body); ++i) {
    int operand = tileFollowerOperand(&a->score, i);
    MlirValue argument = mlirBlockGetArgument(a->score.body, i);
    if (isWhole && mlirValueEqual(argument, k->keys.mask)) {
      overScores(k);
      MlirType bits = tileKernelTileType(&k->e, mlirValueGetType(argument));
      tileBodyMapSet(&map, argument, tileBuildInteger(&k->e.body, bits, k->keys.shows));
    } else if (operand >= 0 && isTurned(k, operand))
      tileBodyMapSet(&map, argument, loadPacked(k, operand, a->keys, a->queries, k->turned[operand]));
  }
  overScores(k);
  if (!mlirValueIsNull(k->scaled))
    tileBodyMapSet(&map, k->scaled, scores);
  if (!mlirBlockIsNull(a->score.body))
    scores = tileKernelFollow(&k->e, &map, &a->score, scores);
  if (!tileDimIsRagged(&k->s->dims[a->keys]))
    return scores;
  MlirType type = mlirValueGetType(scores);
  MlirValue isInside = tileKernelInside(&k->e, a->keys);
  return arithSelectOpBuild(&k->e.body, isInside, scores, tileBuildFloat(&k->e.body, type, -INFINITY));
}

//===--- scores that are scaled with their difference -------------------------------------===//

// On a GPU and where exp may be approximate: 2^(x scale - m scale) by one multiply-add and one exp2. A scale of 1 at
// most keeps the least maximum finite.
static void findScale(Emission *k) {
  double factor = 0;
  MlirValue scaled = tileAttentionScaledScore(k->attention, &factor);
  k->scale = (double)(float)(factor * M_LOG2E);
  if (k->isGpu && !k->attention->isExact && mlirTypeIsAF32(k->attention->sum) && k->scale >= 0x1p-60 && k->scale <= 1)
    k->scaled = scaled;
}

//===--- blocks that the mask hides ------------------------------------------------------===//

// A value of f's body that is equal for all pairs of a head, as a number.
static MlirValue buildPerHead(Emission *k, MlirValue value) {
  const TileAttention *a = k->attention;
  MlirType index = mlirIndexTypeGet(k->e.body.context);
  TileBodyMap map = {0};
  over(k, -1, -1);
  for (int i = 0; i < (int)mlirBlockGetNumArguments(a->score.body); ++i) {
    int operand = tileFollowerOperand(&a->score, i);
    if (operand >= 0 && !tileOperandUses(&k->s->operands[operand], a->keys) &&
        !tileOperandUses(&k->s->operands[operand], a->queries))
      tileBodyMapSet(&map, mlirBlockGetArgument(a->score.body, i), tileKernelLoad(&k->e, operand, NULL, false));
  }
  k->e.follower = &a->score;
  value = tileKernelCloneValue(&k->e, &map, value);
  k->e.follower = NULL;
  return mlirTypeIsAIndex(mlirValueGetType(value)) ? value : arithIndexCastOpBuild(&k->e.body, index, value);
}

// The least of a lower bound, or the greatest of an upper one, over the program's queries.
static MlirValue buildBound(Emission *k, const TileKeyRange *keys, const TileKeyBound *bound) {
  const TileAttention *a = k->attention;
  int64_t tile = k->s->dims[a->queries].tile;
  MlirValue query = tileBuildMul(&k->e.body, k->e.index[a->queries], tileBuildIndex(&k->e.body, tile));
  if ((bound->sum.query > 0) == bound->isUpper) // the last query
    query = tileBuildAdd(&k->e.body, query, tileBuildIndex(&k->e.body, tile - 1));
  MlirValue sum = tileBuildMul(&k->e.body, query, tileBuildIndex(&k->e.body, bound->sum.query));
  sum = tileBuildAdd(&k->e.body, sum, tileBuildIndex(&k->e.body, bound->sum.constant));
  for (int i = 0; i < keys->numTerms; ++i) {
    int64_t factor = bound->sum.terms[i];
    if (factor)
      sum = tileBuildAdd(&k->e.body, sum,
                         tileBuildMul(&k->e.body, buildPerHead(k, keys->terms[i]), tileBuildIndex(&k->e.body, factor)));
  }
  return sum;
}

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
  for (int i = 0; i < keys->numBounds; ++i) {
    MlirValue bound = tileBuildMax(&k->e.body, buildBound(k, keys, &keys->bounds[i]), zero);
    if (keys->bounds[i].isUpper)
      range.end = tileBuildMin(&k->e.body, range.end, tileBuildCeilDiv(&k->e.body, bound, tile));
    else
      range.first = tileBuildMax(&k->e.body, range.first, arithDivUIOpBuild(&k->e.body, bound, tile));
  }
  if (hasBound(keys, false))
    range.first = tileBuildMin(&k->e.body, range.first, range.end);
  return range;
}

//===--- blocks that a run-time mask hides --------------------------------------------------===//

static MlirValue buildBlock(Emission *k, const MlirValue *operands) {
  return mlirValueIsNull(k->column) ? operands[0] : tileAttentionListedBlock(&k->lists, k->column, operands[0], &k->e);
}

// Listed blocks are visited where comparisons of positions leave them.
static MlirValue buildVisits(Emission *k, const MlirValue *operands) {
  TileBuilder *b = &k->e.body;
  if (mlirValueIsNull(k->column) || !k->keys.numBounds)
    return tileBuildInteger(b, mlirIntegerTypeGet(b->context, 1), 1);
  MlirValue isBehind = arithCmpIOpBuild(b, operands[0], k->range.first, ArithCmpI_Sge);
  return arithAndIOpBuild(b, isBehind, arithCmpIOpBuild(b, operands[0], k->range.end, ArithCmpI_Slt));
}

//===--- hooks of the template -----------------------------------------------------------===//

static MlirValue buildHook(TileBuilder *b, Emission *k, MlirValue (*build)(Emission *k, const MlirValue *operands),
                           const MlirValue *operands) {
  TileBuilder outer = k->e.body;
  k->e.body = *b;
  MlirValue value = build(k, operands);
  k->e.body = outer;
  return value;
}

static MlirValue buildBlockScores(Emission *k, const MlirValue *operands) {
  k->e.index[k->attention->keys] = operands[0];
  return buildMasked(k, buildScores(k), k->isListWhole);
}

static MlirValue buildOffset(Emission *k, const MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  if (mlirValueIsNull(k->scaled))
    return operands[0];
  return arithMulFOpBuild(&k->e.body, operands[0], tileBuildFloat(&k->e.body, type, k->scale));
}

static MlirValue buildDifference(Emission *k, const MlirValue *operands) {
  MlirType type = mlirValueGetType(operands[0]);
  if (mlirValueIsNull(k->scaled))
    return arithSubFOpBuild(&k->e.body, operands[0], operands[1]);
  MlirValue negated = arithNegFOpBuild(&k->e.body, operands[1]);
  return mathFmaOpBuild(&k->e.body, operands[0], tileBuildFloat(&k->e.body, type, k->scale), negated);
}

// exp of f32 on a CPU. A weight below 2^-100 is 0: its product with a value could be subnormal, and some processors
// take hundreds of cycles for each of those.
static MlirValue buildWeight(Emission *k, MlirValue d, MlirAttribute flags) {
  MlirType type = mlirValueGetType(d);
  MlirValue least = tileBuildFloat(&k->e.body, type, -100 * M_LN2);
  MlirValue isNothing = arithCmpFOpBuild(&k->e.body, d, least, ArithCmpF_Olt);
  MlirValue weight =
      mathExpOpGetResult(mathExpOpCreate(&k->e.body, arithSelectOpBuild(&k->e.body, isNothing, least, d), flags));
  return arithSelectOpBuild(&k->e.body, isNothing, tileBuildFloat(&k->e.body, type, 0), weight);
}

// exp of differences from the maximum, 0 at most. On a GPU by its instruction for exp2, where the program permits an
// approximate one: the product with log2 e is off by 2^-24 of itself, so that e^d is off by |d| e^d 2^-24 or less.
static MlirValue buildExponential(Emission *k, const MlirValue *operands) {
  MlirValue d = operands[0];
  bool isExact = k->attention->isExact;
  MlirType type = mlirValueGetType(d);
  MlirAttribute fast = tileFastMathAttr(k->e.body.context, isExact ? TileFastMath_None : TileFastMath_Approximate);
  if (!k->isGpu && mlirTypeIsAF32(k->attention->sum))
    return buildWeight(k, d, fast);
  if (isExact || !mlirTypeIsAF32(k->attention->sum))
    return mathExpOpGetResult(mathExpOpCreate(&k->e.body, d, fast));
  if (mlirValueIsNull(k->scaled))
    d = arithMulFOpBuild(&k->e.body, d, tileBuildFloat(&k->e.body, type, M_LOG2E));
  return mathExp2OpGetResult(mathExp2OpCreate(&k->e.body, d, fast));
}

// A GPU's product takes them in V's type.
static MlirValue buildWeights(Emission *k, const MlirValue *operands) {
  overScores(k);
  if (!k->isGpu || mlirTypeEqual(k->attention->weight, k->attention->sum))
    return operands[0];
  return arithTruncFOpBuild(&k->e.body, tileKernelTileType(&k->e, k->attention->weight), operands[0]);
}

static MlirValue buildValues(Emission *k, const MlirValue *operands) {
  const TileAttention *a = k->attention;
  k->e.index[a->keys] = operands[0];
  return k->isGpu ? loadMatrix(k, a->v, a->keys, a->channels) : loadMatrix(k, a->v, a->channels, a->keys);
}

static MlirValue buildProduct(Emission *k, const MlirValue *operands) {
  return tileMmaOpBuild(&k->e.body, operands[k->isGpu ? 0 : 1], operands[k->isGpu ? 1 : 0], operands[2]);
}

#define HOOK(name, build)                                                                                              \
  static MlirValue name(TileBuilder *b, MlirType type, const MlirValue *operands, const void *emission) {              \
    return buildHook(b, *(Emission *const *)emission, build, operands);                                                \
  }
HOOK(blockHook, buildBlock)
HOOK(visitsHook, buildVisits)
HOOK(scoresHook, buildBlockScores)
HOOK(offsetHook, buildOffset)
HOOK(differenceHook, buildDifference)
HOOK(exponentialHook, buildExponential)
HOOK(weightsHook, buildWeights)
HOOK(valuesHook, buildValues)
HOOK(productHook, buildProduct)
#undef HOOK

//===--- the kernel ----------------------------------------------------------------------===//

static void loadQueries(Emission *k) {
  const TileAttention *a = k->attention;
  if (k->isGpu) {
    k->queries = loadMatrix(k, a->q, a->queries, a->depth);
    return;
  }
  over(k, a->depth, a->queries);
  k->packedQueries = buildBuffer(k, a->q, a->depth, a->queries);
  tileKernelPack(&k->e, a->q, (int[2]){a->depth, a->queries}, k->packedQueries);
  for (int i = 0; !mlirBlockIsNull(a->score.body) && i < (int)mlirBlockGetNumArguments(a->score.body); ++i) {
    int operand = tileFollowerOperand(&a->score, i);
    if (operand >= 0 && isTurned(k, operand))
      k->turned[operand] = buildBuffer(k, operand, a->keys, a->queries);
  }
}

// Without keys the result is a sum of nothing: 0, not 0 / 0.
static MlirValue leastTotal(Emission *k, MlirType perQuery) {
  MlirType sum = k->attention->sum;
  if (!mlirShapedTypeIsDynamicSize(k->s->dims[k->attention->keys].extent))
    return tileBuildFloat(&k->e.body, perQuery, 0.0);
  MlirValue extent = tileKernelExtent(&k->e, k->attention->keys);
  MlirValue isNone = arithCmpIOpBuild(&k->e.body, extent, tileBuildIndex(&k->e.body, 0), ArithCmpI_Eq);
  MlirValue one = tileBuildFloat(&k->e.body, sum, 1.0), zero = tileBuildFloat(&k->e.body, sum, 0.0);
  return tileKernelSplat(&k->e, arithSelectOpBuild(&k->e.body, isNone, one, zero), perQuery);
}

// Which blocks of keys the mask leaves. The kernel walks lists that another kernel makes, and has them as a capture.
static bool findKeys(Emission *k) {
  const TileAttention *a = k->attention;
  k->keys = tileAttentionKeyRange(a);
  // Bounds and a mask that hide by a finite number would need a walk for each: then the bounds serve. A GPU's copies
  // run ahead through all of a list, so that no bound can shorten it.
  bool canList = !k->keys.numBounds || (k->keys.isInfinite && !k->isGpu);
  if (!canList || k->s->numCaptures == MaxCaptures || !tileAttentionMaskToList(a, k->keys.mask, &k->listed))
    k->keys.mask = (MlirValue){NULL};
  if (mlirValueIsNull(k->keys.mask))
    return true;
  // Specialized warps bear one walk behind the first (tile-specialize-warps): that of the hidden blocks, if there is
  // one.
  k->splitsSeen = k->keys.isInfinite || !k->isGpu || !tileAttentionHasGroupProducts(a);
  TileBuilder host = tileBuilderBefore(k->s->op);
  MlirValue list = tileAttentionListBlocks(a, k->listed, k->keys.shows, k->splitsSeen, &host);
  k->s->captures[k->s->numCaptures++] = list;
  return !mlirValueIsNull(list);
}

// The sums, maxima and totals of all queries.
enum { Sums, Maxima, Totals, NumStates };

static void walk(Emission *k, const TileOnlineSoftmax *program, const Range *range, MlirValue state[NumStates]) {
  MlirValue operands[] = {range->first, range->end, range->blocks, state[Sums], state[Maxima], state[Totals]};
  TileTemplateUse use = tileUseOnlineSoftmax(*program);
  bool isRight = tileTemplateInline(&k->e.body, &use, operands, state);
  assert(isRight && "the test ir/templates parses it");
  (void)isRight;
}

// Did a query see nothing, or only what weighs as little as what is hidden?
static MlirValue buildMore(Emission *k, MlirValue maxima, double enough) {
  MlirType f32 = mlirShapedTypeGetElementType(mlirValueGetType(maxima));
  MlirValue least = tileKernelFold(&k->e, tileUpstreamName(ArithOp_MinimumF), maxima, f32, 1, (int64_t[]){0});
  return arithCmpFOpBuild(&k->e.body, least, tileBuildFloat(&k->e.body, f32, enough), ArithCmpF_Ult);
}

// Lists one behind the other. Copies of the hidden ones run ahead of the decision to visit them, and read nothing where
// none is visited.
static void walkLists(Emission *k, TileOnlineSoftmax *program, double enough, MlirValue state[NumStates]) {
  TileBuilder *b = &k->e.body;
  MlirValue zero = tileBuildIndex(b, 0);
  program->ROUNDS = program->AFTER = 1;
  program->BEFORE = program->BEHIND = 0;
  for (int list = k->splitsSeen ? BlockList_Whole : BlockList_Part; list < NumBlockLists; ++list) {
    MlirValue count = k->lists.counts[list];
    k->column = k->lists.columns[list];
    k->isListWhole = list == BlockList_Whole;
    if (list == BlockList_Hidden && k->keys.isInfinite)
      break;
    if (list == BlockList_Hidden) {
      MlirValue more = buildMore(k, state[Maxima], enough);
      count = arithSelectOpBuild(b, more, count, zero);
      if (k->splitsSeen) // else the warps that copy learn only where the walk ends
        k->column = arithSelectOpBuild(b, more, k->column, k->lists.noBlocks);
    }
    walk(k, program, &(Range){zero, count, count}, state);
  }
}

static void buildKernel(Emission *k) {
  const TileAttention *a = k->attention;
  const TileKeyRange keys = k->keys;
  bool hasMask = !mlirValueIsNull(keys.mask);
  k->e.index[a->depth] = k->e.index[a->channels] = tileBuildIndex(&k->e.body, 0);
  loadQueries(k);
  findScale(k);
  k->range = buildRange(k, &keys);
  bool visitsHidden = keys.numBounds && !keys.isInfinite;
  int before = visitsHidden && hasBound(&keys, false), after = visitsHidden && hasBound(&keys, true);
  double enough = keys.hidden + fmax(256, fabs(keys.hidden) / 1024); // exp(hidden - enough) is 0
  TileOnlineSoftmax program = {.ACROSS = k->isGpu ? 1 : 0,
                               .ROUNDS = 1 + before + after,
                               .AFTER = 1 + before,
                               .BEFORE = before,
                               .BEHIND = after,
                               .ENOUGH = mlirFloatAttrDoubleGet(k->e.body.context, a->sum, visitsHidden ? enough : 0),
                               .block = {blockHook, &k},
                               .visits = {visitsHook, &k},
                               .scores = {scoresHook, &k},
                               .offset = {offsetHook, &k},
                               .difference = {differenceHook, &k},
                               .exponentials = {exponentialHook, &k},
                               .decay = {exponentialHook, &k},
                               .weights = {weightsHook, &k},
                               .values = {valuesHook, &k},
                               .product = {productHook, &k}};
  over(k, k->isGpu ? a->keys : a->channels, k->isGpu ? a->channels : a->keys);
  program.VALUES = tileKernelTileType(&k->e, k->isGpu ? a->weight : a->sum);
  overScores(k);
  program.SCORES = tileKernelTileType(&k->e, a->sum);
  program.WEIGHTS = tileKernelTileType(&k->e, k->isGpu ? a->weight : a->sum);
  program.ROW = tileKernelOutputTileType(&k->e, a->sum);
  MlirValue total = leastTotal(k, program.ROW);
  overResult(k);
  program.SUMS = tileKernelTileType(&k->e, a->sum);
  MlirValue state[NumStates] = {tileBuildFloat(&k->e.body, program.SUMS, 0),
                                tileBuildFloat(&k->e.body, program.ROW, -FLT_MAX), total};
  if (hasMask) {
    MlirValue list = k->e.parameters[k->s->numInputs + k->s->numOutputs + k->s->numCaptures - 1];
    k->lists = tileAttentionLists(a, k->listed, list, &k->e);
    walkLists(k, &program, enough, state);
  } else {
    walk(k, &program, &k->range, state);
  }
  overResult(k);
  total = tileKernelBroadcast(&k->e, state[Totals], program.SUMS, 1, (int64_t[]){program.ACROSS});
  MlirValue result = arithDivFOpBuild(&k->e.body, state[Sums], total);
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

// The kernel says which programs form clusters: it is done with the rest of the schedule.
static void takeCluster(TileAttention *a, MlirAttribute schedule) {
  MlirAttribute cluster = tileScheduleAttrGetEntry(schedule, "cluster");
  MlirContext context = mlirAttributeGetContext(schedule);
  if (mlirAttributeIsNull(cluster))
    return;
  MlirNamedAttribute entry = mlirNamedAttributeGet(mlirIdentifierGet(context, tileString("cluster")), cluster);
  a->structured.schedule = tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, 1, &entry));
}

//===--- the order of programs -----------------------------------------------------------===//

static bool isHead(const Emission *k, int dim) { return !k->s->dims[dim].isReduction && dim != k->attention->queries; }

static MlirValue tilesAlong(Emission *k, int dim) {
  return tileKernelNumTiles(&k->e, &k->e.body, dim, tileKernelExtent(&k->e, dim));
}

static void setIndex(Emission *k, int dim, MlirValue index) {
  k->e.index[dim] = tileKernelAssumeTile(&k->e, index, dim, k->s->dims[dim].tile);
}

// Sections of heads, one behind the other; in each the heads' last queries, then the ones before. Programs of the last
// queries are the longest: they begin first, and short ones fill the end.
static void orderPrograms(Emission *k) {
  MlirValue blocks = tilesAlong(k, k->attention->queries), one = tileBuildIndex(&k->e.body, 1), head = {NULL};
  int64_t heads = 1;
  for (int d = 0; d < k->s->numDims; ++d)
    if (isHead(k, d)) {
      heads *= mlirShapedTypeIsDynamicSize(k->s->dims[d].extent) ? 0 : k->s->dims[d].extent;
      head = mlirValueIsNull(head)
                 ? k->e.index[d]
                 : tileBuildAdd(&k->e.body, tileBuildMul(&k->e.body, head, tilesAlong(k, d)), k->e.index[d]);
    }
  MlirValue query = k->e.index[k->attention->queries];
  if (k->heads > 1 && heads > 0 && heads % k->heads == 0) {
    MlirValue side = tileBuildIndex(&k->e.body, k->heads), all = tileBuildMul(&k->e.body, side, blocks);
    MlirValue program = tileBuildAdd(&k->e.body, tileBuildMul(&k->e.body, head, blocks), query);
    MlirValue inside = arithRemUIOpBuild(&k->e.body, program, all);
    MlirValue section = tileBuildMul(&k->e.body, arithDivUIOpBuild(&k->e.body, program, all), side);
    head = tileBuildAdd(&k->e.body, section, arithRemUIOpBuild(&k->e.body, inside, side));
    query = arithDivUIOpBuild(&k->e.body, inside, side);
    for (int d = k->s->numDims - 1; d >= 0; --d)
      if (isHead(k, d)) {
        setIndex(k, d, arithRemUIOpBuild(&k->e.body, head, tilesAlong(k, d)));
        head = arithDivUIOpBuild(&k->e.body, head, tilesAlong(k, d));
      }
  }
  setIndex(k, k->attention->queries, tileBuildSub(&k->e.body, tileBuildSub(&k->e.body, blocks, one), query));
}

static bool emit(TileAttention *a, int64_t heads) {
  Emission k = {.attention = a, .s = &a->structured, .isGpu = tileStructuredGpu(&a->structured), .heads = heads};
  if (!findKeys(&k))
    return false;
  // A program walks all channels: they are none of the grid's.
  k.s->dims[a->channels].isReduction = true;
  tileKernelBegin(&k.e, k.s, "attention");
  if (k.isGpu && heads > 0)
    orderPrograms(&k);
  k.s->dims[a->channels].isReduction = false;
  buildKernel(&k);
  k.s->dims[a->channels].isReduction = true;
  tileKernelEnd(&k.e);
  return true;
}

bool tileLowerAttention(MlirOperation group, const TileTarget *target) {
  const char *reason;
  MlirOperation yield = mlirBlockGetTerminator(tileGroupBody(group)), root = {NULL};
  if (mlirOperationGetNumOperands(yield) == 1)
    root = tileDefiningOp(tileOnlyOperand(yield));
  TileAttention a;
  if (mlirOperationIsNull(root) || !tileAttentionMatch(root, target, &a, &reason) || !takeSchedule(&a, group))
    return false;
  MlirAttribute together = tileScheduleAttrGetEntry(tileGroupOpGetSchedule(group), "group");
  takeCluster(&a, tileGroupOpGetSchedule(group));
  return emit(&a, mlirAttributeIsNull(together) ? 0 : mlirDenseI64ArrayGetElement(together, 0));
}
