// The kernel of a tile.group whose schedule has the kind `group`: row statistics with what follows them, products whose
// results feed folds or other products, several results; and the nodes of attention (online_softmax.c). An op that
// stands alone is a group of one node: elementwise ops, linalg.pack and unpack, reductions by combiners,
// linalg.softmax, and products that are read where they lie.
//
// A program owns a block of the dimensions that no op folds (lib/analysis/group/group_graph.h). The kernel computes
// what the results need, on demand: a value of the group is a tile that never reaches global memory, unless something
// outside uses it. A folded dimension that is no wider than its block is one tile; the kernel walks any other in a
// loop, which computes again, tile by tile, whatever is indexed by the dimension; what is not is computed before the
// loop. Tiles have the element types of the program, so each value rounds as it does in memory. Past the last element
// of a folded dimension a value counts as the fold's neutral element, and as zero in a product. Expects: a group whose
// graph has blocks. Leaves: its kernel and its launch. Source: Welder (Shi et al., OSDI 2023).
#include "dialects/tile/group.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/group/group_graph.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/reduction.h"
#include "lib/conversion/linalg_to_tile/group_emission.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "lib/conversion/linalg_to_tile/product_kernels.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <assert.h>
#include <math.h>
#include <string.h>

//===--- the launch's operands ------------------------------------------------===//

typedef struct Host {
  TileBuilder *builder;
  MlirOperation group;
} Host;

static MlirValue outside(TileBuilder *host, MlirOperation group, MlirValue value);

static MlirWalkResult takeFromOutside(MlirOperation op, void *userData) {
  const Host *host = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(op, i, outside(host->builder, host->group, mlirOperationGetOperand(op, i)));
  return MlirWalkResultAdvance;
}

// A value of the group's body as a value ahead of the group: arguments are the group's operands, ops that begin
// something are copied, with what their regions capture.
static MlirValue outside(TileBuilder *host, MlirOperation group, MlirValue value) {
  if (mlirValueIsABlockArgument(value)) {
    bool isOurs = mlirBlockEqual(mlirBlockArgumentGetOwner(value), tileGroupBody(group));
    return isOurs ? mlirOperationGetOperand(group, mlirBlockArgumentGetArgNumber(value)) : value;
  }
  MlirOperation maker = tileDefiningOp(value);
  if (!mlirBlockEqual(mlirOperationGetBlock(maker), tileGroupBody(group)))
    return value;
  MlirOperation copy = mlirOperationClone(maker);
  mlirOperationWalk(copy, takeFromOutside, &(Host){host, group}, MlirWalkPreOrder);
  tileBuilderInsert(host, copy);
  return mlirOperationGetResult(copy, mlirOpResultGetResultNumber(value));
}

//===--- nodes ----------------------------------------------------------------===//

void tileGroupEnter(TileGroupEmission *k, int number) {
  const TileGroupNode *node = &k->graph->nodes[number];
  const TileStructured *s = &node->s;
  k->e.structured = s;
  k->e.from = node->from;
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    k->e.parameters[i] = k->parameters[k->unit.operands[number][i]];
  for (int i = 0; i < s->numCaptures; ++i)
    k->e.parameters[s->numInputs + s->numOutputs + i] =
        k->parameters[k->unit.s.numInputs + k->unit.s.numOutputs + k->unit.captures[number][i]];
  for (int d = 0; d < s->numDims; ++d) {
    k->e.index[d] = k->index[node->dims[d]];
    k->e.parameters[tileGroupExtentPlace(d)] = k->parameters[k->unit.s.dims[node->dims[d]].operand];
  }
}

void tileGroupEnterWhole(TileGroupEmission *k) {
  k->e.structured = &k->unit.s;
  k->e.from = NULL;
  memcpy(k->e.parameters, k->parameters, sizeof k->parameters);
  memcpy(k->e.index, k->index, sizeof k->index);
}

// The output has no tile of its own in each round of these loops, nor of loops that are still to be opened. With
// `ofRows` this is asked for the rows of a softmax, which the node folds.
static bool isComplete(const TileGroupEmission *k, const TileGroupNode *node, int output, bool ofRows, const int *dims,
                       int count) {
  uint32_t inside = ~k->open;
  for (int i = 0; i < count; ++i)
    inside |= 1u << dims[i];
  for (int d = 0; d < node->s.numDims; ++d)
    if (inside >> node->dims[d] & 1 && !(ofRows && node->s.dims[d].isReduction) &&
        tileGroupNodeHas(node, output, node->dims[d]) && tileGroupDimIsWalked(&k->graph->dims[node->dims[d]]))
      return false;
  return true;
}

// A factor from outside has one tile wherever these loops stand: no loop goes along its dimensions.
static bool isLoadedOnce(const TileGroupEmission *k, int number, int input) {
  const TileGroupNode *node = &k->graph->nodes[number];
  bool isOnce = node->kind == TileGroupKind_Product && node->makers[input] < 0 && !k->factors;
  for (int d = 0; d < node->s.numDims; ++d)
    isOnce &= !tileOperandUses(&node->s.operands[input], d) || !tileGroupDimIsWalked(&k->graph->dims[node->dims[d]]);
  return isOnce;
}

static bool walksRows(const TileGroupEmission *k, int number);
static void computeRows(TileGroupEmission *k, int number);

// Computes, ahead of loops over these dimensions, what the node needs and what they do not index.
static void computeBefore(TileGroupEmission *k, int number, const int *dims, int count) {
  const TileGroupNode *node = &k->graph->nodes[number];
  for (int i = 0; i < node->s.numInputs; ++i) {
    if (node->makers[i] < 0) {
      if (count && isLoadedOnce(k, number, i)) {
        tileGroupEnter(k, number);
        k->values.ahead[number][i] = tileGroupLoadMatrix(k, number, i);
      }
      continue;
    }
    if (isComplete(k, &k->graph->nodes[node->makers[i]], node->outputs[i], false, dims, count))
      tileGroupEvaluate(k, node->makers[i], node->outputs[i]);
    else
      computeBefore(k, node->makers[i], dims, count);
  }
  if (node->kind == TileGroupKind_Softmax && walksRows(k, number) && isComplete(k, node, 0, true, dims, count))
    computeRows(k, number);
}

static bool isUnrolled(const TileGroupEmission *k, int dim) { return k->factors && k->factors->unrolled >> dim & 1; }

// The walked dimensions that the node folds, or that its output has.
static int walkedDims(const TileGroupEmission *k, int number, bool folded, int *dims) {
  const TileGroupNode *node = &k->graph->nodes[number];
  int count = 0;
  for (int d = 0; d < node->s.numDims; ++d)
    if (node->s.dims[d].isReduction == folded && tileGroupDimIsWalked(&k->graph->dims[node->dims[d]]) &&
        !isUnrolled(k, node->dims[d]))
      dims[count++] = node->dims[d];
  return count;
}

// Loops over the dimensions; what is computed inside is forgotten when they are closed. A dimension that one node has
// and another folds may be open already: the tiles that its outer loop computed are not those of the inner one.
typedef struct Loops {
  TileKernelLoop loops[MaxDims];
  int count;
  TileGroupWalk walk;
} Loops;

static void forgetTilesAlong(TileGroupEmission *k, int dim) {
  for (int n = 0; n < k->graph->numNodes; ++n) {
    const TileGroupNode *node = &k->graph->nodes[n];
    for (int o = 0; o < node->s.numOutputs; ++o)
      if (tileGroupNodeHas(node, o, dim))
        k->values.of[n][o] = (MlirValue){NULL};
    for (int d = 0; node->kind == TileGroupKind_Softmax && d < node->s.numDims; ++d)
      if (node->dims[d] == dim && !node->s.dims[d].isReduction)
        k->values.ahead[n][0] = (MlirValue){NULL};
  }
}

static void beginWalk(const TileGroupEmission *k, TileGroupWalk *walk) {
  walk->outer = k->values;
  walk->open = k->open;
  memcpy(walk->index, k->index, sizeof k->index);
}

static void walkAlong(TileGroupEmission *k, int dim) {
  if (k->open >> dim & 1)
    forgetTilesAlong(k, dim);
  tileGroupEnterWhole(k);
  k->open |= 1u << dim;
}

void tileGroupOpenWalk(TileGroupEmission *k, int number, int dim, TileGroupWalk *walk) {
  computeBefore(k, number, &dim, 1);
  beginWalk(k, walk);
  walkAlong(k, dim);
}

void tileGroupCloseWalk(TileGroupEmission *k, const TileGroupWalk *walk) {
  k->values = walk->outer;
  k->open = walk->open;
  memcpy(k->index, walk->index, sizeof k->index);
}

static void openLoops(TileGroupEmission *k, const int *dims, int count, intptr_t carried, MlirValue *values,
                      Loops *loops) {
  loops->count = count;
  beginWalk(k, &loops->walk);
  for (int i = 0; i < count; ++i) {
    walkAlong(k, dims[i]);
    tileKernelOpenTiles(&k->e, dims[i], carried, values, &loops->loops[i]);
    k->index[dims[i]] = k->e.index[dims[i]];
  }
}

static void closeLoops(TileGroupEmission *k, Loops *loops) {
  for (int i = loops->count - 1; i >= 0; --i)
    tileKernelCloseLoop(&k->e, &loops->loops[i]);
  tileGroupCloseWalk(k, &loops->walk);
}

//===--- operands -------------------------------------------------------------===//

// A value of the group over all axes of the node that takes it.
static MlirValue spread(TileGroupEmission *k, int number, int input, MlirValue value) {
  const TileStructured *s = &k->graph->nodes[number].s;
  int64_t missing[MaxDims];
  int count = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (s->dims[d].axis >= 0 && !tileOperandUses(&s->operands[input], d))
      missing[count++] = s->dims[d].axis;
  if (count == 0)
    return value;
  bool isTile = mlirTypeIsARankedTensor(mlirValueGetType(value));
  MlirType type = tileKernelTileType(&k->e, tileOperandElementType(&s->operands[input]));
  return isTile ? tileKernelBroadcast(&k->e, value, type, count, missing) : tileKernelSplat(&k->e, value, type);
}

// All inputs that the body uses, as tiles over the node's axes, input `padded` (-1: none) with the padding `pad`.
// Values of the group are computed before anything else is built for this node: they are nodes themselves.
static void mapInputs(TileGroupEmission *k, int number, TileBodyMap *map, int padded, const char *pad) {
  const TileGroupNode *node = &k->graph->nodes[number];
  for (int i = 0; i < node->s.numInputs; ++i)
    if (node->makers[i] >= 0)
      tileGroupEvaluate(k, node->makers[i], node->outputs[i]);
  tileGroupEnter(k, number);
  for (intptr_t i = 0; i < k->given.count; ++i)
    tileBodyMapSet(map, k->given.entries[i].from, k->given.entries[i].to);
  for (int i = 0; i < node->s.numInputs; ++i)
    if (!mlirValueIsNull(tileBodyMapGet(map, mlirBlockGetArgument(node->s.body, i))))
      continue;
    else if (node->makers[i] >= 0)
      tileBodyMapSet(map, mlirBlockGetArgument(node->s.body, i),
                     spread(k, number, i, k->values.of[node->makers[i]][node->outputs[i]]));
    else if (i == padded)
      tileBodyMapSet(map, mlirBlockGetArgument(node->s.body, i), tileKernelLoad(&k->e, i, pad, false));
    else
      tileKernelMapInputs(&k->e, map, i, i + 1);
}

//===--- elementwise ops --------------------------------------------------------===//

// Linalg.pack and unpack copy: they loop over the tiled tensor, whose axes are the dimensions; axis a of the plain one
// is at outer · size + inner. What lies past the plain tensor's end is read as zero and never written.
static void buildMap(TileGroupEmission *k, int number) {
  const TileGroupNode *node = &k->graph->nodes[number];
  const TileStructured *s = &node->s;
  TileBodyMap map = {0};
  if (mlirBlockIsNull(s->body)) {
    tileGroupEnter(k, number);
    k->values.of[number][0] = tileKernelLoad(&k->e, 0, NULL, false);
    return;
  }
  mapInputs(k, number, &map, -1, NULL);
  tileKernelMapInputs(&k->e, &map, s->numInputs, s->numInputs + s->numOutputs);
  for (int o = 0; o < s->numOutputs; ++o)
    k->values.of[number][o] =
        tileKernelCloneValue(&k->e, &map, mlirOperationGetOperand(mlirBlockGetTerminator(s->body), o));
}

//===--- folds ------------------------------------------------------------------===//

static MlirValue buildNeutral(TileKernelEmission *e, const TileCombiner *combiner, MlirType tile) {
  return tileKernelConstant(e, tileCombinerNeutral(combiner, tileTypeGetElement(tile)), tile);
}

static bool isRagged(const TileDim *d) { return d->isReduction && tileDimIsRagged(d); }

// `tile`, a tile over all axes, with the combiner's neutral element past the end of each reduction dimension.
static MlirValue fillPastEnd(TileKernelEmission *e, const TileCombiner *combiner, MlirValue tile) {
  MlirAttribute neutral = tileCombinerNeutral(combiner, tileTypeGetElement(mlirValueGetType(tile)));
  for (int d = 0; d < e->structured->numDims; ++d)
    if (e->structured->dims[d].isReduction)
      tile = tileKernelFillPastEnd(e, tile, d, e->structured->dims[d].axis, neutral);
  return tile;
}

// The view's padding that is the combiner's neutral element, or null.
static const char *paddingOf(const TileCombiner *combiner, MlirType element) {
  MlirAttribute neutral = tileCombinerNeutral(combiner, element);
  if (!combiner->isFloat)
    return mlirIntegerAttrGetValueInt(neutral) == 0 ? "zero" : NULL;
  double value = mlirFloatAttrGetValueDouble(neutral);
  return isnan(value) ? "nan" : isinf(value) ? value < 0 ? "neg_inf" : "inf" : value == 0 ? "neg_zero" : NULL;
}

typedef struct Fold {
  const TileCombiner *combiners[MaxOperands];
  MlirValue folded[MaxOperands]; // in the body
  bool isLate;                   // folded behind the loop
  int padded;                    // the input that is folded as it is, whose padding is `pad`; -1: none
  const char *pad;
} Fold;

// The neutral element as a view's padding, if f is the input itself: then no mask is needed. Beside other ops, which
// read the input with other padding, the tile would be loaded twice.
static void findPadding(const TileStructured *s, Fold *f) {
  int input = s->numOutputs == 1 ? tileStructuredInputOf(s, f->folded[0]) : -1;
  const TileOperand *operand = &s->operands[input < 0 ? 0 : input];
  if (input < 0 || !operand->isTensor || !mlirValueIsNull(tilePackedBytesOf(operand->value)))
    return;
  int covered = 0, tiled = 0;
  for (int d = 0; d < s->numDims; ++d) {
    tiled += isRagged(&s->dims[d]);
    for (int i = 0; i < operand->rank; ++i)
      covered += isRagged(&s->dims[d]) && operand->results[i] == d;
  }
  f->pad = covered == tiled ? paddingOf(f->combiners[0], tileOperandElementType(operand)) : NULL;
  f->padded = f->pad ? input : -1;
}

// Bits of a tile of one output's terms.
static int64_t termBits(const TileStructured *s) {
  int64_t bits = 0;
  for (int o = 0; o < s->numOutputs; ++o)
    bits += tileElementWidth(tileOperandElementType(&s->operands[s->numInputs + o]));
  for (int d = 0; d < s->numDims; ++d)
    bits *= s->dims[d].axis >= 0 ? s->dims[d].tile : 1;
  return bits;
}

// The loop carries whole tiles, which are folded once behind it: on a GPU threads meet there only, on a CPU lanes. On a
// GPU, in a loop over several tiles of a reduced axis, in a kernel of several inputs. On a CPU, in a loop over more
// reductions than the one that has an axis, whose terms stay in a few registers: short groups of a row's codes.
static bool foldsBehindLoop(const TileGroupEmission *k, const TileStructured *s) {
  enum { FewVectors = 4 };
  bool isWalked = false, hasAxis = false, hasOuter = false;
  for (int d = 0; d < s->numDims; ++d) {
    bool isReduced = s->dims[d].isReduction && s->dims[d].axis >= 0;
    isWalked |= isReduced && (mlirShapedTypeIsDynamicSize(s->dims[d].extent) || s->dims[d].extent > s->dims[d].tile);
    hasAxis |= isReduced;
    hasOuter |= s->dims[d].isReduction && s->dims[d].axis < 0 && s->dims[d].extent != 1;
  }
  if (tileStructuredGpu(s))
    return isWalked && k->unit.s.numInputs > 1;
  int64_t most = FewVectors * s->target->search.vectorBytes * 8;
  return hasAxis && hasOuter && k->unit.s.numInputs > 1 && termBits(s) <= most;
}

static Fold readFold(const TileGroupEmission *k, const TileStructured *s) {
  Fold f = {.padded = -1};
  for (int o = 0; o < s->numOutputs; ++o)
    f.combiners[o] = tileStructuredMatchReduction(s, o, &f.folded[o]);
  if (!k->isOp)
    return f;
  f.isLate = foldsBehindLoop(k, s);
  findPadding(s, &f);
  return f;
}

static void buildFold(TileGroupEmission *k, int number) {
  const TileStructured *s = &k->graph->nodes[number].s;
  Fold f = readFold(k, s);
  MlirValue sums[MaxOperands], initial[MaxOperands];
  TileBodyMap map = {0};
  Loops loops;
  int dims[MaxDims], count = walkedDims(k, number, true, dims);
  computeBefore(k, number, dims, count);
  tileGroupEnter(k, number);
  for (int o = 0; o < s->numOutputs; ++o) {
    sums[o] = initial[o] = tileKernelInitial(&k->e, s->numInputs + o);
    if (f.isLate)
      sums[o] = buildNeutral(&k->e, f.combiners[o],
                             tileKernelTileType(&k->e, tileTypeGetElement(mlirValueGetType(initial[o]))));
  }
  openLoops(k, dims, count, s->numOutputs, sums, &loops);
  mapInputs(k, number, &map, f.padded, f.pad);
  for (int o = 0; o < s->numOutputs; ++o) {
    MlirValue tile = tileKernelCloneValue(&k->e, &map, f.folded[o]);
    tile = f.pad ? tile : fillPastEnd(&k->e, f.combiners[o], tile);
    tile = f.isLate ? tile : tileKernelReduce(&k->e, tileUpstreamName(f.combiners[o]->kind), tile);
    sums[o] = tileBuildBinary(&k->e.body, f.combiners[o]->kind, sums[o], tile);
  }
  closeLoops(k, &loops);
  for (int o = 0; o < s->numOutputs; ++o) {
    if (f.isLate) {
      sums[o] = tileKernelReduce(&k->e, tileUpstreamName(f.combiners[o]->kind), sums[o]);
      sums[o] = tileBuildBinary(&k->e.body, f.combiners[o]->kind, initial[o], sums[o]);
    }
    k->values.of[number][o] = sums[o];
  }
}

//===--- softmax ------------------------------------------------------------------===//

// y = exp(x - max x) / sum exp(x - max x) along one dimension. A row that fits one tile is read once and stays there; a
// longer one is walked three times (maximum, sum, result). Padding with -inf makes masks unnecessary: exp(-inf - max) =
// 0 adds nothing to the sum.

static bool walksRows(const TileGroupEmission *k, int number) {
  int dims[MaxDims];
  return walkedDims(k, number, true, dims) > 0;
}

// The current tile of x, -inf past the row's end.
static MlirValue loadRows(TileGroupEmission *k, int number) {
  const TileGroupNode *node = &k->graph->nodes[number];
  MlirValue x = {NULL};
  if (node->makers[0] >= 0)
    x = tileGroupEvaluate(k, node->makers[0], node->outputs[0]);
  tileGroupEnter(k, number);
  return node->makers[0] < 0 ? tileKernelLoad(&k->e, 0, "neg_inf", false)
                             : fillPastEnd(&k->e, tileCombinerOf(ArithOp_MaximumF), x);
}

// exp is within 1 ulp (`afn`), not 0.51: beside the sum's roundings that is nothing (docs/numerics.md §7).
static MlirValue exponentials(TileKernelEmission *e, MlirValue x, MlirValue maximum) {
  MlirAttribute approximate = tileFastMathAttr(e->body.context, TileFastMath_Approximate);
  x = arithSubFOpBuild(&e->body, x, tileKernelSpreadRow(e, maximum, mlirValueGetType(x)));
  return tileOnlyResult(mathExpOpCreate(&e->body, x, approximate));
}

// One walk over long rows: their maxima or, where these are known, the sums of their exponentials.
static MlirValue walkRows(TileGroupEmission *k, int number, ArithOp kind, double start, const MlirValue *maximum) {
  Loops loops;
  int dims[MaxDims], count = walkedDims(k, number, true, dims);
  tileGroupEnter(k, number);
  MlirType element = tileOperandElementType(&k->graph->nodes[number].s.operands[0]);
  MlirValue value = tileBuildFloat(&k->e.body, tileKernelOutputTileType(&k->e, element), start);
  openLoops(k, dims, count, 1, &value, &loops);
  MlirValue x = loadRows(k, number);
  x = maximum ? exponentials(&k->e, x, *maximum) : x;
  value = tileBuildBinary(&k->e.body, kind, value, tileKernelReduce(&k->e, tileUpstreamName(kind), x));
  closeLoops(k, &loops);
  return value;
}

static void computeRows(TileGroupEmission *k, int number) {
  MlirValue *rows = k->values.ahead[number];
  if (!mlirValueIsNull(rows[0]))
    return;
  MlirValue maximum = walkRows(k, number, ArithOp_MaximumF, -INFINITY, NULL);
  rows[1] = walkRows(k, number, ArithOp_AddF, 0, &maximum);
  rows[0] = maximum;
}

static void buildSoftmax(TileGroupEmission *k, int number) {
  bool isWalked = walksRows(k, number);
  if (isWalked)
    computeRows(k, number);
  MlirValue *rows = k->values.ahead[number], x = loadRows(k, number);
  MlirValue maximum = isWalked ? rows[0] : tileKernelReduce(&k->e, tileUpstreamName(ArithOp_MaximumF), x);
  MlirValue exps = exponentials(&k->e, x, maximum);
  MlirValue sum = isWalked ? rows[1] : tileKernelReduce(&k->e, tileUpstreamName(ArithOp_AddF), exps);
  // One division a row. The sum is at least 1, the exponential of the maximum, so its reciprocal loses nothing but a
  // rounding.
  MlirValue reciprocal = arithDivFOpBuild(&k->e.body, tileBuildFloat(&k->e.body, mlirValueGetType(sum), 1), sum);
  k->values.of[number][0] =
      arithMulFOpBuild(&k->e.body, exps, tileKernelSpreadRow(&k->e, reciprocal, mlirValueGetType(exps)));
}

//===--- products -----------------------------------------------------------------===//

// The value is zero past the end of dimension `dim`, which axis `axis` of the tile runs along: what a row or a column
// holds there must not reach the sum.
static MlirValue zeroPastEnd(TileGroupEmission *k, MlirValue tile, int dim, int64_t axis) {
  MlirType element = tileTypeGetElement(mlirValueGetType(tile));
  return tileKernelFillPastEnd(&k->e, tile, dim, axis,
                               mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(k->e.body.context, element, 0)
                                                         : mlirIntegerAttrGet(element, 0));
}

// On a CPU, attention's sums are multiplied up in their own type.
static MlirValue widened(TileGroupEmission *k, const TileGroupNode *node, MlirValue factor) {
  bool isWidened = k->online && !tileStructuredGpu(&node->s);
  return isWidened ? tileKernelCast(&k->e, factor, tileOperandElementType(&node->s.operands[node->s.numInputs]))
                   : factor;
}

MlirValue tileGroupLoadMatrix(TileGroupEmission *k, int number, int input) {
  const TileGroupNode *node = &k->graph->nodes[number];
  const TileProduct *p = &node->product;
  bool isLhs = input == p->lhs;
  int rows = isLhs ? p->m : p->k, columns = isLhs ? p->k : p->n;
  if (!mlirValueIsNull(k->values.ahead[number][input]))
    return k->values.ahead[number][input];
  if (!mlirValueIsNull(k->packed[number][input]))
    return widened(k, node, tileKernelLoadBuffer(&k->e, k->packed[number][input]));
  if (node->makers[input] < 0) {
    MlirValue tile = widened(k, node, tileKernelLoadMatrix(&k->e, input, (int[2]){rows, columns}));
    // Past the end of a window the image goes on, and infinity times the other factor's padding is no zero.
    bool isOfWindow = tileOperandAxisOf(&node->s.operands[input], p->k) < 0;
    return isOfWindow ? zeroPastEnd(k, tile, p->k, isLhs) : tile;
  }
  MlirValue value = k->values.of[node->makers[input]][node->outputs[input]];
  bool isInOrder = rows < columns; // the value's axes are in the order of the dimensions
  value = zeroPastEnd(k, value, p->k, isLhs == isInOrder);
  return isInOrder ? value : tileKernelSwapped(&k->e, value);
}

// No instruction of the GPU adds products of f16 in f16.
static bool addsHalvesInF32(const TileMachine *machine) {
  static const char prefix[] = "atom.";
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (!strncmp(key, prefix, sizeof prefix - 1) &&
        tileMachineFindAtom(machine, key + sizeof prefix - 1, &atom, NULL) &&
        tileMachineAtomTakes(&atom, "f16", "f16", "f16"))
      return false;
  }
  return true;
}

// GPUs add bf16 in f32, AMD's f16 too: the sum is held in f32 and rounded once.
static bool isSummedInF32(const TileStructured *s, MlirType element) {
  return tileStructuredGpu(s) &&
         (mlirTypeIsABF16(element) || (mlirTypeIsAF16(element) && addsHalvesInF32(s->target->machine)));
}

static void multiply(TileGroupEmission *k, int number, MlirValue *sum) {
  const TileGroupNode *node = &k->graph->nodes[number];
  MlirValue factors[TileMostFactors];
  for (int i = 0; i < node->s.numInputs; ++i)
    if (node->makers[i] >= 0)
      tileGroupEvaluate(k, node->makers[i], node->outputs[i]);
  tileGroupEnter(k, number);
  if (k->factors) {
    k->factors->build(&k->e, k->factors->data, factors);
  } else {
    factors[0] = tileGroupLoadMatrix(k, number, node->product.lhs);
    factors[1] = tileGroupLoadMatrix(k, number, node->product.rhs);
  }
  if (k->factors && k->factors->block)
    *sum = tileMmaScaledOpBuild(&k->e.body, factors[0], factors[2], factors[1], factors[3], *sum,
                                mlirIntegerAttrGet(mlirIntegerTypeGet(k->e.body.context, 64), k->factors->block));
  else
    *sum = tileMmaOpBuild(&k->e.body, factors[0], factors[1], *sum);
}

// Steps along unrolled dimensions, from `dim` on, follow each other.
static void multiplyFrom(TileGroupEmission *k, int number, int dim, MlirValue *sum) {
  while (dim < k->graph->numDims && !isUnrolled(k, dim))
    ++dim;
  if (dim == k->graph->numDims) {
    multiply(k, number, sum);
    return;
  }
  for (int64_t at = 0; at < k->graph->dims[dim].extent; ++at) {
    k->index[dim] = tileBuildIndex(&k->e.body, at);
    multiplyFrom(k, number, dim + 1, sum);
  }
}

static void buildProduct(TileGroupEmission *k, int number) {
  const TileGroupNode *node = &k->graph->nodes[number];
  const TileProduct *p = &node->product;
  int dims[MaxDims], count = walkedDims(k, number, true, dims);
  Loops loops;
  computeBefore(k, number, dims, count);
  tileGroupEnter(k, number);
  // tile.mma takes rows × columns; the sum is over the axes of m and n in that order.
  MlirValue sum = tileKernelInitial(&k->e, node->s.numInputs);
  MlirType element = tileTypeGetElement(mlirValueGetType(sum));
  if (p->m > p->n)
    sum = tileKernelSwapped(&k->e, sum);
  if (k->factors || isSummedInF32(&node->s, element))
    sum = tileKernelCast(&k->e, sum, mlirF32TypeGet(k->e.body.context));
  openLoops(k, dims, count, 1, &sum, &loops);
  multiplyFrom(k, number, 0, &sum);
  closeLoops(k, &loops);
  sum = tileKernelCast(&k->e, sum, element);
  k->values.of[number][0] = p->m > p->n ? tileKernelSwapped(&k->e, sum) : sum;
}

MlirValue tileGroupEvaluate(TileGroupEmission *k, int number, int output) {
  if (mlirValueIsNull(k->values.of[number][output]))
    switch (k->graph->nodes[number].kind) {
    case TileGroupKind_Map:
      buildMap(k, number);
      break;
    case TileGroupKind_Fold:
      buildFold(k, number);
      break;
    case TileGroupKind_Product:
      buildProduct(k, number);
      break;
    case TileGroupKind_Softmax:
      buildSoftmax(k, number);
      break;
    case TileGroupKind_Online:
      k->values.of[number][0] = tileGroupBuildOnline(k, number);
      break;
    case TileGroupKind_Launch:
      assert(false && "launch_kernel.c gives its value");
      break;
    }
  return k->values.of[number][output];
}

//===--- the kernel -----------------------------------------------------------------===//

// The dimensions of the result that the kernel walks.
static int walkedOfResult(const TileGroupEmission *k, int node, int output, int *dims) {
  int count = 0;
  for (int d = 0; d < k->graph->numDims; ++d)
    if (tileGroupNodeHas(&k->graph->nodes[node], output, d) && tileGroupDimIsWalked(&k->graph->dims[d]))
      dims[count++] = d;
  return count;
}

static void storeResult(TileGroupEmission *k, int node, int output) {
  int dims[MaxDims], count = walkedOfResult(k, node, output, dims);
  Loops loops;
  if (count)
    computeBefore(k, node, dims, count);
  openLoops(k, dims, count, 0, NULL, &loops);
  MlirValue value = tileGroupEvaluate(k, node, output);
  tileGroupEnter(k, node);
  tileKernelStore(&k->e, k->graph->nodes[node].s.numInputs + output, value);
  closeLoops(k, &loops);
}

// Everything is read before anything is stored, as far as no loop stands around both: then a tensor is read once.
static void buildResults(TileGroupEmission *k) {
  const TileGroupGraph *graph = k->graph;
  int dims[MaxDims];
  for (int r = 0; r < graph->numResults; ++r)
    if (walkedOfResult(k, graph->results[r].node, graph->results[r].output, dims) == 0)
      tileGroupEvaluate(k, graph->results[r].node, graph->results[r].output);
  for (int r = 0; r < graph->numResults; ++r)
    storeResult(k, graph->results[r].node, graph->results[r].output);
}

static void takeKernel(TileGroupEmission *k) {
  memcpy(k->parameters, k->e.parameters, sizeof k->parameters);
  memcpy(k->index, k->e.index, sizeof k->index);
}

static void buildGroup(TileGroupEmission *k) {
  for (int d = 0; d < k->graph->numDims; ++d)
    if (k->graph->dims[d].isFolded)
      k->index[d] = tileBuildIndex(&k->e.body, 0);
  buildResults(k);
}

void tileGroupBuild(TileGroupEmission *k) {
  takeKernel(k);
  buildGroup(k);
}

static int64_t warpsOf(MlirAttribute schedule) {
  MlirAttribute warps = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "warps");
  return mlirAttributeIsNull(warps) ? 4 : mlirDenseI64ArrayGetElement(warps, 0);
}

TileGroupEmission *tileGroupOpen(TileGroupGraph *graph, MlirOperation group, const char **reason) {
  TileBuilder host = tileBuilderBefore(group);
  TileGroupEmission *k = tileArenaAllocate(graph->target->arena, sizeof *k);
  k->graph = graph;
  if ((*reason = tileGroupGraphUnite(graph, group, &k->unit)))
    return NULL;
  for (int i = 0; i < k->unit.s.numInputs + k->unit.s.numOutputs; ++i)
    k->unit.s.operands[i].value = outside(&host, group, k->unit.s.operands[i].value);
  for (int i = 0; i < k->unit.s.numCaptures; ++i)
    k->unit.s.captures[i] = outside(&host, group, k->unit.s.captures[i]);
  return k;
}

static const char *lower(MlirOperation group, TileGroupGraph *graph) {
  const char *reason;
  MlirAttribute schedule = tileGroupOpGetSchedule(group);
  TileGroupEmission *k = tileGroupOpen(graph, group, &reason);
  if (!k)
    return reason;
  k->unit.s.schedule = schedule;
  k->unit.s.warps = tileStructuredGpu(&k->unit.s) ? warpsOf(schedule) : 0;
  tileKernelBegin(&k->e, &k->unit.s, "group");
  tileGroupBuild(k);
  tileKernelEnd(&k->e);
  return NULL;
}

bool tileLowerGroup(MlirOperation group, const TileTarget *target, const char **reason, bool *isRight) {
  TileOps ops = tileGroupOps(group);
  TileGroupGraph *graph = tileArenaAllocate(target->arena, sizeof *graph);
  MlirAttribute schedule = tileGroupOpGetSchedule(group), block = mlirAttributeGetNull();
  bool isRead = tileGroupGraphRead(ops.items, ops.count, target, TileGroupForm_Whole, graph, reason);
  tileOpsFree(&ops);
  if (!isRead)
    return false;
  if (!mlirAttributeIsNull(schedule))
    block = tileScheduleAttrGetEntry(schedule, "block");
  if (mlirAttributeIsNull(block))
    tileGroupGraphPlainBlock(graph);
  else if (!tileGroupGraphTakeBlock(graph, block))
    return *isRight = tileError(group,
                                "schedule: `block` has %d sizes; one for each of the group's %d dimensions is "
                                "required",
                                (int)mlirDenseArrayGetNumElements(block), graph->numDims);
  const char *fault = tileGroupGraphFault(graph);
  if (fault && !mlirAttributeIsNull(block))
    return *isRight = tileError(group, "schedule: %s", fault);
  *reason = fault ? fault : lower(group, graph);
  return !*reason;
}

//===--- one op -----------------------------------------------------------------------===//

TileKernelEmission *tileOpKernelBegin(TileOpKernel *kernel, TileStructured *s, const TileEpilogue *epilogue,
                                      const char *kind) {
  TileGroupEmission *k = &kernel->emission;
  *k = (TileGroupEmission){.graph = &kernel->graph, .isOp = true};
  tileGroupGraphOfOp(s, epilogue, &kernel->graph, &k->unit);
  tileKernelBegin(&k->e, &k->unit.s, kind);
  k->e.group = k;
  takeKernel(k);
  tileGroupEnter(k, 0);
  return &k->e;
}

bool tileKernelIsFollowed(const TileKernelEmission *e) { return e->group->graph->numNodes > 1; }

MlirValue tileKernelResult(TileKernelEmission *e, MlirValue value) {
  TileGroupEmission *k = e->group;
  if (!tileKernelIsFollowed(e))
    return value;
  const TileGroupValues known = k->values;
  const TileKernelEmission op = *e;
  tileGroupNodeTakeTiles(&k->graph->nodes[1], e->structured);
  memcpy(k->index, e->index, sizeof k->index);
  k->values.of[0][0] = value;
  value = tileGroupEvaluate(k, 1, 0);
  k->values = known;
  const TileBuilder body = e->body;
  *e = op;
  e->body = body;
  return value;
}

void tileKernelBuildNode(TileKernelEmission *e, TileGroupKind kind, const TileProduct *product,
                         const TileNodeFactors *factors) {
  TileGroupEmission *k = e->group;
  k->graph->nodes[0].kind = kind;
  if (product)
    k->graph->nodes[0].product = *product;
  k->factors = factors;
  buildGroup(k);
}

bool tileLowerNode(TileStructured *s, const TileEpilogue *epilogue) {
  bool isFold = tileStructuredHasReduction(s), isSoftmax = linalgSoftmaxOpIsA(s->op);
  if (isFold && !isSoftmax && !tileStructuredIsReduction(s))
    return false;
  tileStructuredSetTiles(s);
  TileOpKernel kernel;
  TileKernelEmission *e = tileOpKernelBegin(&kernel, s, epilogue,
                                            isSoftmax                  ? "softmax"
                                            : linalgPackOpIsA(s->op)   ? "pack"
                                            : linalgUnPackOpIsA(s->op) ? "unpack"
                                            : isFold                   ? "reduction"
                                                                       : "elementwise");
  tileKernelBuildNode(e,
                      isSoftmax ? TileGroupKind_Softmax
                      : isFold  ? TileGroupKind_Fold
                                : TileGroupKind_Map,
                      NULL, NULL);
  tileKernelEnd(e);
  return true;
}
