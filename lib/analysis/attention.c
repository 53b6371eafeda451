// Recognizes attention. See attention.h.
//
// Expects: linalg.generic (named ops generalized, elementwise chains fused) and linalg.softmax, or softmax as four
// generics: maximum, exp(x - maximum), sum, quotient. Each product has one summed dimension, starts from zeros, and its
// operands' axes stand in any order; a transpose or broadcast that makes one of them is seen through. Keys that several
// heads share (GQA) are dimensions that Q has and K has not.
#include "lib/analysis/attention.h"

#include "lib/analysis/fusion.h"
#include "lib/analysis/product.h"
#include "lib/analysis/reduction.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <string.h>

typedef struct Match {
  TileAttention *attention;
  const TileTarget *target;
  const char *reason;
  TileStructured first, second, score, gate; // products, elementwise ops; of score and gate op is null where none is
  TileStructured part;                       // the op that is being looked at
  int secondWeights, secondValues;           // operands of the second product
  int firstQueries, firstKeys;
  int firstOf[MaxDims];    // the first product's dimension for each axis of P
  int fromSecond[MaxDims]; // …, for each of the second product's; -1: the channels of V
  int softmaxAxis;
} Match;

//===--- parts --------------------------------------------------------------===//

static bool fail(Match *m, const char *reason) {
  m->reason = reason;
  return false;
}

static void noteOp(Match *m, MlirOperation op) {
  if (m->attention->numOps < MaxAttentionOps)
    m->attention->ops[m->attention->numOps++] = op;
}

static bool hasUses(MlirValue value, int wanted) {
  int count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    ++count;
  return count == wanted;
}

// The op that makes the value, if it stands in the block and its result has so many uses.
static MlirOperation makerOf(const Match *m, MlirValue value, int uses) {
  MlirOperation op = tileDefiningOp(value);
  bool isOurs = !mlirOperationIsNull(op) &&
                mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(m->attention->ops[0])) &&
                mlirOperationGetNumResults(op) == 1 && hasUses(value, uses);
  return isOurs ? op : (MlirOperation){NULL};
}

static bool readOp(const Match *m, MlirOperation op, TileStructured *s) {
  return linalgGenericOpIsA(op) && tileStructuredRead(op, m->target, s) && s->numOutputs == 1;
}

static bool readMaker(const Match *m, MlirValue value, int uses, TileStructured *s) {
  return readOp(m, makerOf(m, value, uses), s);
}

static MlirValue yielded(const TileStructured *s) { return tileOnlyOperand(mlirBlockGetTerminator(s->body)); }

// The number of the input that the value is, as the body's argument; -1: none.
static int inputOf(const TileStructured *s, MlirValue value) {
  if (!mlirValueIsABlockArgument(value) || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), s->body))
    return -1;
  int argument = (int)mlirBlockArgumentGetArgNumber(value);
  return argument < s->numInputs && s->operands[argument].isTensor ? argument : -1;
}

static bool isFull(const TileOperand *operand) {
  for (int i = 0; i < operand->rank; ++i)
    if (operand->results[i] < 0)
      return false;
  return tileOperandIsPlain(operand);
}

// The operand has all dimensions but `without` (-1: all), in order.
static bool isInOrder(const TileStructured *s, const TileOperand *operand, int without) {
  bool is = operand->rank == s->numDims - (without >= 0);
  for (int i = 0; is && i < operand->rank; ++i)
    is = operand->results[i] == i + (without >= 0 && i >= without);
  return is;
}

static int summedDim(const TileStructured *s) {
  int only = -1;
  for (int d = 0; d < s->numDims; ++d)
    if (s->dims[d].isReduction)
      only = only < 0 ? d : MaxDims;
  return only < MaxDims ? only : -1;
}

static bool startsFrom(TileStructured *s, double least, double most) {
  tileStructuredStartFromConstants(s);
  MlirAttribute initial = s->operands[s->numInputs].initial;
  return !mlirAttributeIsNull(initial) && mlirAttributeIsAFloat(initial) &&
         mlirFloatAttrGetValueDouble(initial) >= least && mlirFloatAttrGetValueDouble(initial) <= most;
}

// An operand that a transpose or a broadcast makes is read where that op reads.
static void lookThroughCopies(Match *m, TileOperand *operand) {
  TileStructured *copy = &m->part;
  while (operand->isTensor && isFull(operand) && readOp(m, tileDefiningOp(operand->value), copy) &&
         tileStructuredIsMap(copy) && copy->numInputs == 1 && inputOf(copy, yielded(copy)) == 0) {
    TileOperand from = copy->operands[0];
    const TileOperand *to = &copy->operands[1];
    int dims[MaxDims] = {0};
    for (int i = 0; i < to->rank; ++i)
      dims[to->results[i]] = operand->results[i];
    for (int i = 0; i < from.rank; ++i)
      if (from.results[i] >= 0)
        tileOperandSetAxis(&from, i, dims[from.results[i]]);
    *operand = from;
    noteOp(m, copy->op);
  }
}

//===--- softmax ------------------------------------------------------------===//

// A reduction of the whole input along one dimension.
static bool isRowFold(TileStructured *s, bool isSum, int axis) {
  MlirValue folded;
  const TileCombiner *combiner = tileStructuredMatchReduction(s, 0, &folded);
  if (!combiner || s->numInputs != 1 || summedDim(s) != axis || !isInOrder(s, &s->operands[0], -1) ||
      !tileStructuredAccumulates(s, &s->operands[1]) || inputOf(s, folded) != 0)
    return false;
  MlirOperation fold = tileDefiningOp(yielded(s));
  return isSum ? arithAddFOpIsA(fold) && startsFrom(s, 0, 0)
               : (arithMaximumFOpIsA(fold) || arithMaxNumFOpIsA(fold)) && startsFrom(s, -1.0 / 0.0, -3.0e38);
}

// Yields x - r, under exp, or x / r, of the whole input x and an input r with one number for each row.
static bool isRowwise(const TileStructured *s, bool isQuotient, int *full, int *row, int *axis) {
  if (s->numInputs != 2 || !tileStructuredIsMap(s) || !isInOrder(s, &s->operands[2], -1))
    return false;
  MlirOperation op = tileDefiningOp(yielded(s));
  if (!isQuotient)
    op = mathExpOpIsA(op) ? tileDefiningOp(tileOnlyOperand(op)) : (MlirOperation){NULL};
  if (isQuotient ? !arithDivFOpIsA(op) : !arithSubFOpIsA(op))
    return false;
  *full = inputOf(s, tileBinaryLhs(op));
  *row = inputOf(s, tileBinaryRhs(op));
  if (*full < 0 || *row < 0 || *full == *row || !isInOrder(s, &s->operands[*full], -1))
    return false;
  for (*axis = 0; *axis < s->numDims && tileOperandUses(&s->operands[*row], *axis);)
    ++*axis;
  return *axis < s->numDims && isInOrder(s, &s->operands[*row], *axis);
}

// Softmax as four generics, from its quotient on. Sets the value that it is of and the axis.
static bool matchDecomposed(Match *m, MlirOperation quotient, MlirValue *of) {
  TileStructured *s = &m->part;
  int full, row, axis, axisOfExp;
  if (!readOp(m, quotient, s) || !isRowwise(s, true, &full, &row, &axis))
    return false;
  MlirValue exps = s->operands[full].value, sums = s->operands[row].value;
  if (!readMaker(m, sums, 1, s) || !isRowFold(s, true, axis) || !mlirValueEqual(s->operands[0].value, exps) ||
      !readMaker(m, exps, 2, s) || !isRowwise(s, false, &full, &row, &axisOfExp) || axisOfExp != axis)
    return false;
  MlirValue maxima = s->operands[row].value;
  *of = s->operands[full].value;
  if (!readMaker(m, maxima, 1, s) || !isRowFold(s, false, axis) || !mlirValueEqual(s->operands[0].value, *of))
    return false;
  m->softmaxAxis = axis;
  noteOp(m, quotient);
  noteOp(m, tileDefiningOp(sums));
  noteOp(m, tileDefiningOp(exps));
  noteOp(m, tileDefiningOp(maxima));
  return true;
}

// The value that `weights` is the softmax of, and how often that is used.
static bool matchSoftmax(Match *m, MlirValue weights, MlirValue *of, int *uses) {
  MlirOperation op = makerOf(m, weights, 1);
  if (mlirOperationIsNull(op))
    return linalgSoftmaxOpIsA(tileDefiningOp(weights)) && fail(m, "its weights have another user");
  m->attention->isExact = !linalgSoftmaxOpIsA(op);
  *uses = m->attention->isExact ? 2 : 1;
  if (m->attention->isExact)
    return matchDecomposed(m, op, of);
  m->softmaxAxis = (int)linalgSoftmaxOpGetDimensionValue(op);
  *of = linalgSoftmaxOpGetInput(op);
  noteOp(m, op);
  return true;
}

// A rounding of the weights between softmax and product: seen through.
static MlirValue throughRounding(Match *m, MlirValue weights) {
  TileStructured *s = &m->part;
  if (!readMaker(m, weights, 1, s) || s->numInputs != 1 || !tileStructuredIsMap(s) ||
      !isInOrder(s, &s->operands[0], -1) || !isInOrder(s, &s->operands[1], -1))
    return weights;
  MlirOperation round = tileDefiningOp(yielded(s));
  if (!arithTruncFOpIsA(round) || inputOf(s, tileOnlyOperand(round)) != 0)
    return weights;
  noteOp(m, s->op);
  return s->operands[0].value;
}

//===--- from the root to the scores ----------------------------------------===//

// A sum of products along one dimension.
static bool isProduct(TileStructured *s, int *lhs, int *rhs) {
  return tileStructuredMatchMultiplyAdd(s, lhs, rhs) && summedDim(s) >= 0 &&
         mlirTypeIsAFloat(tileOperandElementType(&s->operands[s->numInputs]));
}

// The second product, with the elementwise op after it if root is one; then softmax behind one of its operands.
static bool matchSecond(Match *m, MlirOperation root, MlirValue *scores, int *scoreUses) {
  int sides[2];
  noteOp(m, root);
  if (!readOp(m, root, &m->second))
    return false;
  bool isFound = isProduct(&m->second, &sides[0], &sides[1]);
  if (!isFound && tileEpilogueCanFollow(&m->second)) {
    m->gate = m->second;
    for (int i = 0; !isFound && i < m->gate.numInputs; ++i) {
      m->gate.epilogueArgument = i;
      isFound = tileEpilogueReadProducer(&m->gate, i, &m->second) && isProduct(&m->second, &sides[0], &sides[1]);
    }
    if (isFound)
      noteOp(m, m->second.op);
  }
  int ops = m->attention->numOps;
  for (int i = 0; isFound && i < 2; ++i) {
    m->attention->numOps = ops;
    m->secondWeights = sides[i];
    m->secondValues = sides[1 - i];
    if (matchSoftmax(m, throughRounding(m, m->second.operands[sides[i]].value), scores, scoreUses))
      return true;
  }
  return false;
}

// The first product, with the elementwise op between it and softmax. Sets firstOf.
static bool matchFirst(Match *m, MlirValue scores, int scoreUses) {
  TileAttention *a = m->attention;
  TileStructured *s = &m->score;
  if (!readMaker(m, scores, scoreUses, &m->first))
    return linalgGenericOpIsA(tileDefiningOp(scores)) && fail(m, "its scores have another user");
  noteOp(m, m->first.op);
  if (isProduct(&m->first, &m->firstQueries, &m->firstKeys)) {
    memcpy(m->firstOf, m->first.operands[2].results, sizeof(int) * (size_t)m->first.operands[2].rank);
    return true;
  }
  TileStructured *elementwise = &m->part;
  *elementwise = m->first;
  if (!tileStructuredIsMap(elementwise) || !isFull(&elementwise->operands[elementwise->numInputs]))
    return false;
  for (int i = 0; i < elementwise->numInputs; ++i) {
    if (!elementwise->operands[i].isTensor || !readMaker(m, elementwise->operands[i].value, 1, &m->first) ||
        !isProduct(&m->first, &m->firstQueries, &m->firstKeys) ||
        !tileEpilogueMatchSpaces(elementwise, i, &m->first, a->scoreDims))
      continue;
    *s = *elementwise;
    for (int axis = 0; axis < s->operands[s->numInputs].rank; ++axis)
      m->firstOf[axis] = a->scoreDims[s->operands[s->numInputs].results[axis]];
    a->score = s->body;
    a->scoreArgument = i;
    a->numScoreInputs = s->numInputs - 1;
    noteOp(m, m->first.op);
    return true;
  }
  return false;
}

//===--- roles --------------------------------------------------------------===//

static bool uses(const TileStructured *s, int operand, int dim) { return tileOperandUses(&s->operands[operand], dim); }

// Keys are softmax's axis. Queries: the longest dimension that the other operand has alone.
static bool assignRoles(Match *m, int *queries, int *keys) {
  TileStructured *s = &m->first;
  *keys = m->firstOf[m->softmaxAxis];
  if (uses(s, m->firstQueries, *keys)) {
    int other = m->firstQueries;
    m->firstQueries = m->firstKeys;
    m->firstKeys = other;
  }
  if (uses(s, m->firstQueries, *keys) || !uses(s, m->firstKeys, *keys) || s->dims[*keys].isReduction)
    return fail(m, "keys are not a dimension of one operand alone");
  *queries = -1;
  for (int d = 0; d < s->numDims; ++d) {
    if (s->dims[d].isReduction || uses(s, m->firstKeys, d) || !uses(s, m->firstQueries, d))
      continue;
    int64_t extent = s->dims[d].extent, best = *queries < 0 ? -1 : s->dims[*queries].extent;
    if (*queries < 0 || mlirShapedTypeIsDynamicSize(extent) || (!mlirShapedTypeIsDynamicSize(best) && extent >= best))
      *queries = d;
  }
  return *queries >= 0 || fail(m, "no dimension of queries that keys have not");
}

// The second product's dimensions as the first one's. Sets fromSecond.
static bool matchValues(Match *m, int queries, int keys) {
  const TileStructured *s = &m->second;
  const TileOperand *weights = &s->operands[m->secondWeights];
  int channels = 0;
  if (!isFull(weights))
    return fail(m, "its weights are not read by a plain map");
  for (int d = 0; d < s->numDims; ++d)
    m->fromSecond[d] = -1;
  for (int i = 0; i < weights->rank; ++i)
    m->fromSecond[weights->results[i]] = m->firstOf[i];
  if (m->fromSecond[summedDim(s)] != keys)
    return fail(m, "the second product does not sum over the keys");
  for (int d = 0; d < s->numDims; ++d) {
    channels += m->fromSecond[d] < 0;
    if (m->fromSecond[d] == queries && uses(s, m->secondValues, d))
      return fail(m, "values differ by query");
  }
  if (channels > 1)
    return fail(m, "values have two dimensions that the weights have not");
  return channels == 1 || fail(m, "values have one channel only");
}

//===--- one op -------------------------------------------------------------===//

static void addOperand(TileStructured *s, const TileOperand *operand, const int *to, int numDims) {
  s->operands[s->numInputs] = *operand;
  tileOperandRenumber(&s->operands[s->numInputs++], to, numDims);
}

// All inputs of an elementwise op but `argument`, and what its body captures.
static bool addPart(Match *m, const TileStructured *part, int argument, const int *to) {
  TileStructured *s = &m->attention->structured;
  if (s->numInputs + part->numInputs + 1 > MaxOperands)
    return fail(m, "it has too many operands");
  for (int i = 0; i < part->numInputs; ++i)
    if (i != argument)
      addOperand(s, &part->operands[i], to, part->numDims);
  return tileStructuredAddCaptures(s, part) || fail(m, "it captures too many values");
}

// Each dimension's extent, from an operand that it indexes; a static one wins.
static void noteExtents(TileStructured *s) {
  for (int o = 0; o <= s->numInputs; ++o) {
    const TileOperand *operand = &s->operands[o];
    for (int i = 0; operand->isTensor && i < operand->rank; ++i) {
      TileDim *dim = operand->results[i] < 0 ? NULL : &s->dims[operand->results[i]];
      if (!dim || (dim->operand >= 0 && !mlirShapedTypeIsDynamicSize(dim->extent)))
        continue;
      dim->extent = mlirShapedTypeGetDimSize(mlirValueGetType(operand->value), i);
      dim->operand = o;
      dim->result = i;
    }
  }
}

// Heads in the order of the scores, then: of a CPU channels, keys, depth, queries, so that queries are every tile's
// columns (maxima and sums go across no lanes); of a GPU queries, depth, keys, channels.
static void numberDims(Match *m, int queries, int keys, int *toFirst) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured;
  const TileOperand *scores = &m->first.operands[2];
  int next = 0;
  for (int i = 0; i < scores->rank; ++i)
    if (scores->results[i] != queries && scores->results[i] != keys)
      toFirst[scores->results[i]] = next++;
  bool isGpu = tileStructuredGpu(s);
  a->queries = toFirst[queries] = isGpu ? next : next + 3;
  a->depth = toFirst[summedDim(&m->first)] = isGpu ? next + 1 : next + 2;
  a->keys = toFirst[keys] = isGpu ? next + 2 : next + 1;
  a->channels = isGpu ? next + 3 : next;
  s->numDims = next + 4;
  for (int d = 0; d < s->numDims; ++d)
    s->dims[d] =
        (TileDim){.isReduction = d == a->keys || d == a->depth, .tile = 1, .panels = 1, .axis = -1, .operand = -1};
}

static bool unite(Match *m, int queries, int keys) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured;
  const TileStructured *score = &m->score, *gate = &m->gate, *last = &m->second;
  int toFirst[MaxDims] = {0}, toSecond[MaxDims] = {0}, toGate[MaxDims] = {0};
  *s = tileStructuredCreate(a->ops[0], m->target, MaxOperands);
  s->numOutputs = 1;
  s->body = m->first.body;
  if (m->first.numDims + 1 > MaxDims)
    return fail(m, "it has too many dimensions");
  numberDims(m, queries, keys, toFirst);
  for (int d = 0; d < m->second.numDims; ++d)
    toSecond[d] = m->fromSecond[d] < 0 ? a->channels : toFirst[m->fromSecond[d]];
  addOperand(s, &m->first.operands[m->firstQueries], toFirst, m->first.numDims);
  addOperand(s, &m->first.operands[m->firstKeys], toFirst, m->first.numDims);
  addOperand(s, &m->second.operands[m->secondValues], toSecond, m->second.numDims);
  for (int i = 0; i < AttentionFirstInput; ++i)
    lookThroughCopies(m, &s->operands[i]);
  if (!mlirBlockIsNull(a->score)) {
    for (int d = 0; d < score->numDims; ++d)
      a->scoreDims[d] = toFirst[a->scoreDims[d]];
    s->body = a->score;
    if (!addPart(m, score, a->scoreArgument, a->scoreDims))
      return false;
  }
  s->numOwnInputs = s->numInputs;
  if (!mlirOperationIsNull(gate->op)) {
    int dims[MaxDims];
    if (!tileEpilogueMatchSpaces(gate, gate->epilogueArgument, &m->second, dims))
      return fail(m, "what follows it has other dimensions");
    for (int d = 0; d < gate->numDims; ++d)
      toGate[d] = toSecond[dims[d]];
    s->epilogue = gate->body;
    s->epilogueArgument = gate->epilogueArgument;
    if (!addPart(m, gate, gate->epilogueArgument, toGate))
      return false;
    last = gate;
  }
  addOperand(s, &last->operands[last->numInputs], last == gate ? toGate : toSecond, last->numDims);
  --s->numInputs;
  noteExtents(s);
  return true;
}

//===--- what a kernel can be made for --------------------------------------===//

static bool isKnown(int64_t extent) { return !mlirShapedTypeIsDynamicSize(extent) && extent > 0; }

static bool checkOperands(Match *m) {
  const TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  const int rows[3] = {a->queries, a->keys, a->keys}, columns[3] = {a->depth, a->depth, a->channels};
  for (int i = 0; i < AttentionFirstInput; ++i)
    if (!s->operands[i].isTensor || !tileOperandIsPlain(&s->operands[i]) || !uses(s, i, rows[i]) ||
        !uses(s, i, columns[i]))
      return fail(m, "an operand of a product is not a plain matrix");
  if (!isKnown(s->dims[a->depth].extent) || !isKnown(s->dims[a->channels].extent))
    return fail(m, "the sizes of a head are not known");
  return s->dims[a->keys].extent != 0 || fail(m, "there are no keys");
}

static bool isFactor(MlirType type) { return mlirTypeIsAF32(type) || mlirTypeIsAF16(type) || mlirTypeIsABF16(type); }

static bool checkTypes(Match *m) {
  TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  MlirType q = tileOperandElementType(&s->operands[AttentionQ]), k = tileOperandElementType(&s->operands[AttentionK]);
  MlirType v = tileOperandElementType(&s->operands[AttentionV]);
  a->sum = tileOperandElementType(&m->first.operands[2]);
  a->weight = tileOperandElementType(&m->second.operands[m->secondWeights]);
  MlirType score = mlirBlockIsNull(a->score) ? a->sum : mlirValueGetType(yielded(&m->score));
  if (!mlirTypeEqual(q, k) || !mlirTypeEqual(v, a->weight) || !mlirTypeEqual(a->sum, score) ||
      !mlirTypeEqual(a->sum, tileOperandElementType(&m->second.operands[2])) || !mlirTypeIsAF32(a->sum))
    return fail(m, "its sums are not all of f32");
  return (isFactor(q) && isFactor(v)) || fail(m, "its factors are not of f32, f16 or bf16");
}

bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *a, const char **reason) {
  Match match = {.attention = a, .target = target}, *m = &match;
  MlirValue scores;
  int scoreUses, queries, keys;
  *a = (TileAttention){.ops = {root}};
  bool ok = matchSecond(m, root, &scores, &scoreUses) && matchFirst(m, scores, scoreUses) &&
            assignRoles(m, &queries, &keys) && matchValues(m, queries, keys);
  if (ok && (!startsFrom(&m->first, 0, 0) || !startsFrom(&m->second, 0, 0)))
    ok = fail(m, "a product adds to what is there already");
  ok = ok && unite(m, queries, keys) && checkOperands(m) && checkTypes(m);
  a->products[0] = m->first.op;
  a->products[1] = m->second.op;
  *reason = m->reason;
  return ok;
}
