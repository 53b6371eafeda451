// Recognizes attention: two products with a softmax between them. See attention.h.
//
// Expects: linalg.generic (named ops generalized, elementwise chains fused) and linalg.softmax, or softmax as four
// generics: maximum, exp(x - maximum), sum, quotient. Each product has one summed dimension, starts from zeros, and its
// operands' axes stand in any order; a transpose or broadcast that makes one of them is seen through. Keys that several
// heads share (GQA) are dimensions that Q has and K has not.
#include "lib/conversion/linalg_to_tile/attention.h"

#include "lib/analysis/product.h"
#include "lib/conversion/linalg_to_tile/kernel.h"

#include <math.h>
#include <string.h>

//===--- parts ----------------------------------------------------------------===//

typedef struct Match {
  TileAttention *attention;
  MlirBlock block; // all of it stands in one
  const TileTarget *target;
  const char *reason;
  TileStructured first, second, score, gate; // products, elementwise ops; of score and gate op is null where none is
  int secondWeights, secondValues;           // operands of the second product
  int firstQueries, firstKeys;
  int scoreArgument;
  int firstOf[MaxDims];    // the first product's dimension for each axis of P
  int fromSecond[MaxDims]; // …, for each of the second product's; -1: the channels of V
  int softmaxAxis;
} Match;

static bool fail(Match *m, const char *reason) {
  m->reason = reason;
  return false;
}

static void noteOp(Match *m, MlirOperation op) {
  if (m->attention->numOps < MaxAttentionOps)
    m->attention->ops[m->attention->numOps++] = op;
}

static int countUses(MlirValue value) {
  int count = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    ++count;
  return count;
}

// The op that makes the value, if it stands in the block and has so many uses.
static MlirOperation makerOf(const Match *m, MlirValue value, int uses) {
  MlirOperation op = tileDefiningOp(value);
  bool isOurs = !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), m->block) &&
                mlirOperationGetNumResults(op) == 1 && countUses(value) == uses;
  return isOurs ? op : (MlirOperation){NULL};
}

// A structured op with one output; none is none.
static bool readOp(MlirOperation op, TileStructured *s) {
  return !mlirOperationIsNull(op) && tileStructuredRead(op, s) && s->numOutputs == 1;
}

static bool readMaker(const Match *m, MlirValue value, int uses, TileStructured *s) {
  return readOp(makerOf(m, value, uses), s);
}

static MlirValue yielded(const TileStructured *s) {
  return mlirOperationGetOperand(mlirBlockGetTerminator(s->body), 0);
}

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

static bool isConstantFloat(MlirAttribute attribute, double *value) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAFloat(attribute))
    return false;
  *value = mlirFloatAttrGetValueDouble(attribute);
  return true;
}

//===--- elementwise ops --------------------------------------------------------===//

// All dimensions parallel, one output, which is not read, operands by plain maps.
static bool isElementwise(const TileStructured *s) {
  int output = s->numInputs;
  if (tileStructuredHasReduction(s) || s->numOutputs != 1 ||
      !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, output))))
    return false;
  for (int i = 0; i <= output; ++i)
    if (!tileOperandIsPlain(&s->operands[i]))
      return false;
  return true;
}

// An op that only moves elements: a transpose, a broadcast.
static bool isCopy(const TileStructured *s) {
  return isElementwise(s) && s->numInputs == 1 && inputOf(s, yielded(s)) == 0;
}

// An operand that such an op makes is read where that op reads.
static void lookThroughCopies(TileOperand *operand) {
  TileStructured copy;
  while (operand->isTensor && isFull(operand) && readOp(tileDefiningOp(operand->value), &copy) && isCopy(&copy)) {
    TileOperand from = copy.operands[0];
    const TileOperand *to = &copy.operands[1];
    int dims[MaxDims] = {0};
    for (int i = 0; i < to->rank; ++i)
      dims[to->results[i]] = operand->results[i];
    for (int i = 0; i < from.rank; ++i)
      if (from.results[i] >= 0)
        tileOperandSetAxis(&from, i, dims[from.results[i]]);
    *operand = from;
  }
}

//===--- softmax ----------------------------------------------------------------===//

static bool isIdentity(const TileOperand *operand, int numDims) {
  if (operand->rank != numDims)
    return false;
  for (int i = 0; i < operand->rank; ++i)
    if (operand->results[i] != i)
      return false;
  return true;
}

// A reduction along one dimension d of `s`, of its first input: fold(accumulator, x), from the start value.
static bool isRowFold(TileStructured *s, const char *const *names, double start, int *axis) {
  int output = s->numInputs;
  if (s->numInputs != 1 || !isIdentity(&s->operands[0], s->numDims) ||
      !tileStructuredAccumulates(s, &s->operands[output]))
    return false;
  *axis = -1;
  for (int d = 0; d < s->numDims; ++d) {
    if (s->dims[d].isReduction && *axis >= 0)
      return false;
    if (s->dims[d].isReduction)
      *axis = d;
  }
  MlirOperation fold = tileDefiningOp(yielded(s));
  bool isNamed = false;
  for (; *names; ++names)
    isNamed |= tileOpIs(fold, *names);
  if (*axis < 0 || !isNamed)
    return false;
  int side = inputOf(s, mlirOperationGetOperand(fold, 0)) == 0 ? 1 : 0;
  if (inputOf(s, mlirOperationGetOperand(fold, 1 - side)) != 0 ||
      !mlirValueEqual(mlirOperationGetOperand(fold, side), mlirBlockGetArgument(s->body, output)))
    return false;
  double from;
  tileStructuredStartFromConstants(s);
  return isConstantFloat(s->operands[output].initial, &from) && from <= start && (start < 0 || from == 0);
}

// Input `row` of the elementwise op has all dimensions but `axis`, in order.
static bool isPerRow(const TileStructured *s, int row, int axis) {
  const TileOperand *operand = &s->operands[row];
  if (operand->rank != s->numDims - 1)
    return false;
  for (int i = 0; i < operand->rank; ++i)
    if (operand->results[i] != i + (i >= axis))
      return false;
  return true;
}

// An op with two inputs: a full one and one of a number per row; yields name(…) of them, in that order. `inner` is the
// op that yields exp of it, or null.
static bool isRowwise(const TileStructured *s, const char *name, bool withExp, int axis, int *full, int *row) {
  if (s->numInputs != 2 || !isElementwise(s) || !isIdentity(&s->operands[2], s->numDims))
    return false;
  MlirValue value = yielded(s);
  if (withExp) {
    MlirOperation exp = tileDefiningOp(value);
    if (!tileOpIs(exp, "math.exp"))
      return false;
    value = mlirOperationGetOperand(exp, 0);
  }
  MlirOperation op = tileDefiningOp(value);
  if (!tileOpIs(op, name))
    return false;
  *full = inputOf(s, mlirOperationGetOperand(op, 0));
  *row = inputOf(s, mlirOperationGetOperand(op, 1));
  return *full >= 0 && *row >= 0 && *full != *row && isIdentity(&s->operands[*full], s->numDims) &&
         isPerRow(s, *row, axis);
}

// softmax as four generics, from its quotient on. Sets the value that it is of and the axis.
static bool matchDecomposed(Match *m, const TileStructured *quotient, MlirValue *of) {
  static const char *const sums[] = {"arith.addf", NULL}, *const maxima[] = {"arith.maximumf", "arith.maxnumf", NULL};
  TileStructured sum, exps, maximum;
  int full, row, axis = -1;
  for (int i = 0; i < 2 && axis < 0 && quotient->numInputs == 2; ++i)
    if (readMaker(m, quotient->operands[i].value, 1, &sum) && isRowFold(&sum, sums, 0.0, &axis))
      break;
  if (axis < 0 || !isRowwise(quotient, "arith.divf", false, axis, &full, &row) ||
      !readMaker(m, quotient->operands[row].value, 1, &sum) || !isRowFold(&sum, sums, 0.0, &axis) ||
      !mlirValueEqual(sum.operands[0].value, quotient->operands[full].value) ||
      !readMaker(m, quotient->operands[full].value, 2, &exps) ||
      !isRowwise(&exps, "arith.subf", true, axis, &full, &row))
    return false;
  int maximumAxis;
  if (!readMaker(m, exps.operands[row].value, 1, &maximum) || !isRowFold(&maximum, maxima, -3.0e38, &maximumAxis) ||
      maximumAxis != axis || !mlirValueEqual(maximum.operands[0].value, exps.operands[full].value))
    return false;
  m->softmaxAxis = axis;
  *of = exps.operands[full].value;
  noteOp(m, quotient->op);
  noteOp(m, sum.op);
  noteOp(m, exps.op);
  noteOp(m, maximum.op);
  return true;
}

// The value that `weights` is the softmax of, and how often that is used.
static bool matchSoftmax(Match *m, MlirValue weights, MlirValue *of, int *uses) {
  MlirOperation op = makerOf(m, weights, 1);
  TileStructured quotient;
  if (mlirOperationIsNull(op) && tileOpIs(tileDefiningOp(weights), "linalg.softmax"))
    return fail(m, "its weights have another user");
  if (tileOpIs(op, "linalg.softmax")) {
    m->softmaxAxis = (int)mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dimension"));
    *of = mlirOperationGetOperand(op, 0);
    *uses = 1;
    noteOp(m, op);
    return true;
  }
  *uses = 2;
  m->attention->isExact = true;
  return readOp(op, &quotient) && matchDecomposed(m, &quotient, of);
}

// A rounding of the weights between softmax and product: seen through, its type noted.
static MlirValue throughRounding(Match *m, MlirValue weights) {
  TileStructured s;
  if (!readMaker(m, weights, 1, &s) || s.numInputs != 1 || !isElementwise(&s) ||
      !isIdentity(&s.operands[0], s.numDims) || !isIdentity(&s.operands[1], s.numDims))
    return weights;
  MlirOperation round = tileDefiningOp(yielded(&s));
  if (!tileOpIs(round, "arith.truncf") || inputOf(&s, mlirOperationGetOperand(round, 0)) != 0)
    return weights;
  noteOp(m, s.op);
  return s.operands[0].value;
}

//===--- products -----------------------------------------------------------------===//

// A sum of products along one dimension, from zeros.
static bool isProduct(TileStructured *s, int *lhs, int *rhs) {
  if (!tileStructuredMatchMultiplyAdd(s, lhs, rhs) ||
      !mlirTypeIsAFloat(tileOperandElementType(&s->operands[s->numInputs])))
    return false;
  int sums = 0;
  for (int d = 0; d < s->numDims; ++d)
    sums += s->dims[d].isReduction;
  return sums == 1;
}

static bool startsFromZero(TileStructured *s) {
  double start;
  tileStructuredStartFromConstants(s);
  return isConstantFloat(s->operands[s->numInputs].initial, &start) && start == 0;
}

static int summedDim(const TileStructured *s) {
  int d = 0;
  while (!s->dims[d].isReduction)
    ++d;
  return d;
}

static bool uses(const TileStructured *s, int operand, int dim) { return tileOperandUses(&s->operands[operand], dim); }

//===--- from the root to the scores --------------------------------------------------===//

// The second product, with the elementwise op after it if root is one; then softmax behind one of its operands.
static bool matchSecond(Match *m, MlirOperation root, MlirValue *scores, int *scoreUses) {
  TileStructured s;
  int sides[2];
  if (!readOp(root, &s))
    return false;
  bool found = isProduct(&s, &sides[0], &sides[1]);
  if (found)
    m->second = s;
  noteOp(m, root);
  for (int i = 0; !found && i < s.numInputs && tileEpilogueCanFollow(&s); ++i) {
    found = tileEpilogueReadProducer(&s, i, &m->second) && isProduct(&m->second, &sides[0], &sides[1]);
    if (!found)
      continue;
    m->gate = s;
    m->gate.epilogueArgument = i;
    noteOp(m, m->second.op);
  }
  int ops = m->attention->numOps;
  for (int i = 0; found && i < 2; ++i) {
    m->attention->numOps = ops;
    m->secondWeights = sides[i];
    m->secondValues = sides[1 - i];
    MlirValue weights = throughRounding(m, m->second.operands[sides[i]].value);
    if (matchSoftmax(m, weights, scores, scoreUses))
      return true;
  }
  return false;
}

// The first product, with the elementwise op between it and softmax. Sets firstOf.
static bool matchFirst(Match *m, MlirValue scores, int scoreUses) {
  TileStructured s;
  int lhs, rhs;
  if (!readMaker(m, scores, scoreUses, &s))
    return fail(m, tileOpIs(tileDefiningOp(scores), "linalg.generic") ? "its scores have another user" : NULL);
  if (isProduct(&s, &lhs, &rhs)) {
    m->first = s;
    for (int i = 0; i < s.operands[2].rank; ++i)
      m->firstOf[i] = s.operands[2].results[i];
    noteOp(m, s.op);
    m->firstQueries = lhs;
    m->firstKeys = rhs;
    return true;
  }
  int output = s.numInputs;
  if (!isElementwise(&s) || !isFull(&s.operands[output]))
    return false;
  for (int i = 0; i < s.numInputs; ++i) {
    int dims[MaxDims];
    if (!s.operands[i].isTensor || !readMaker(m, s.operands[i].value, 1, &m->first) ||
        !isProduct(&m->first, &lhs, &rhs) || !tileEpilogueMatchSpaces(&s, i, &m->first, dims))
      continue;
    for (int a = 0; a < s.operands[output].rank; ++a)
      m->firstOf[a] = dims[s.operands[output].results[a]];
    m->score = s;
    m->scoreArgument = i;
    memcpy(m->attention->scoreDims, dims, sizeof dims); // renumbered later
    noteOp(m, s.op);
    noteOp(m, m->first.op);
    m->firstQueries = lhs;
    m->firstKeys = rhs;
    return true;
  }
  return false;
}

//===--- roles ---------------------------------------------------------------------===//

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
    return fail(m, "keys are no dimension of one operand alone");
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

// The second product's dimensions as the first one's. Sets fromSecond and the channels of V.
static bool matchValues(Match *m, int queries, int keys, int *channels) {
  const TileStructured *s = &m->second;
  const TileOperand *weights = &s->operands[m->secondWeights];
  if (!isFull(weights))
    return fail(m, "its weights are not read by a plain map");
  for (int d = 0; d < s->numDims; ++d)
    m->fromSecond[d] = -1;
  for (int i = 0; i < weights->rank; ++i)
    m->fromSecond[weights->results[i]] = m->firstOf[i];
  if (m->fromSecond[summedDim(s)] != keys)
    return fail(m, "the second product does not sum over the keys");
  *channels = -1;
  for (int d = 0; d < s->numDims; ++d) {
    if (m->fromSecond[d] < 0 && *channels >= 0)
      return fail(m, "values have two dimensions that the weights have not");
    if (m->fromSecond[d] < 0)
      *channels = d;
    else if (m->fromSecond[d] == queries && uses(s, m->secondValues, d))
      return fail(m, "values differ by query");
  }
  return *channels >= 0 || fail(m, "values have one channel only");
}

//===--- one op ------------------------------------------------------------------------===//

static void addOperand(TileStructured *s, const TileOperand *operand, const int *to, int numDims) {
  s->operands[s->numInputs] = *operand;
  tileOperandRenumber(&s->operands[s->numInputs++], to, numDims);
}

static bool addCaptures(TileStructured *s, const TileStructured *from) {
  for (int i = 0; i < from->numCaptures; ++i) {
    int known = 0;
    while (known < s->numCaptures && !mlirValueEqual(s->captures[known], from->captures[i]))
      ++known;
    if (known == MaxCaptures)
      return false;
    if (known == s->numCaptures)
      s->captures[s->numCaptures++] = from->captures[i];
  }
  return true;
}

// Each dimension's extent, from an operand that it indexes; a static one wins.
static void noteExtents(TileStructured *s) {
  for (int d = 0; d < s->numDims; ++d)
    s->dims[d].operand = -1;
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
static void numberDims(Match *m, int queries, int keys, int *toFirst, int *channels) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured;
  int next = 0, depth = summedDim(&m->first);
  for (int i = 0; i < m->first.operands[2].rank; ++i) {
    int d = m->first.operands[2].results[i];
    if (d != queries && d != keys)
      toFirst[d] = next++;
  }
  bool isGpu = tileStructuredGpu(s);
  a->queries = toFirst[queries] = isGpu ? next : next + 3;
  a->depth = toFirst[depth] = isGpu ? next + 1 : next + 2;
  a->keys = toFirst[keys] = isGpu ? next + 2 : next + 1;
  a->channels = *channels = isGpu ? next + 3 : next;
  s->numDims = next + 4;
  for (int d = 0; d < s->numDims; ++d)
    s->dims[d] = (TileDim){.isReduction = d == a->keys || d == a->depth, .tile = 1, .panels = 1, .axis = -1};
}

static bool unite(Match *m, int queries, int keys) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured;
  int toFirst[MaxDims] = {0}, toSecond[MaxDims] = {0}, toGate[MaxDims] = {0}, channels;
  *s = (TileStructured){.op = a->ops[0], .target = m->target, .numOutputs = 1};
  if (m->first.numDims + 1 > MaxDims)
    return fail(m, "it has too many dimensions");
  numberDims(m, queries, keys, toFirst, &channels);
  for (int d = 0; d < m->second.numDims; ++d)
    toSecond[d] = m->fromSecond[d] < 0 ? channels : toFirst[m->fromSecond[d]];
  bool hasScore = !mlirOperationIsNull(m->score.op), hasGate = !mlirOperationIsNull(m->gate.op);
  if (AttentionFirstInput + (hasScore ? m->score.numInputs : 0) + (hasGate ? m->gate.numInputs : 0) + 1 > MaxOperands)
    return fail(m, "it has too many operands");
  addOperand(s, &m->first.operands[m->firstQueries], toFirst, m->first.numDims);
  addOperand(s, &m->first.operands[m->firstKeys], toFirst, m->first.numDims);
  addOperand(s, &m->second.operands[m->secondValues], toSecond, m->second.numDims);
  for (int i = 0; i < AttentionFirstInput; ++i)
    lookThroughCopies(&s->operands[i]);
  if (hasScore) {
    for (int d = 0; d < m->score.numDims; ++d)
      a->scoreDims[d] = toFirst[a->scoreDims[d]];
    for (int i = 0; i < m->score.numInputs; ++i)
      if (i != m->scoreArgument)
        addOperand(s, &m->score.operands[i], a->scoreDims, m->score.numDims);
    a->score = m->score.body;
    a->scoreArgument = m->scoreArgument;
    a->numScoreInputs = m->score.numInputs - 1;
    s->body = a->score;
  } else {
    s->body = m->first.body;
  }
  s->numOwnInputs = s->numInputs;
  if (hasGate) {
    int dims[MaxDims];
    if (!tileEpilogueMatchSpaces(&m->gate, m->gate.epilogueArgument, &m->second, dims))
      return fail(m, "what follows it has other dimensions");
    for (int d = 0; d < m->gate.numDims; ++d)
      toGate[d] = toSecond[dims[d]];
    for (int i = 0; i < m->gate.numInputs; ++i)
      if (i != m->gate.epilogueArgument)
        addOperand(s, &m->gate.operands[i], toGate, m->gate.numDims);
    s->epilogue = m->gate.body;
    s->epilogueArgument = m->gate.epilogueArgument;
  }
  const TileStructured *last = hasGate ? &m->gate : &m->second;
  addOperand(s, &last->operands[last->numInputs], hasGate ? toGate : toSecond, last->numDims);
  --s->numInputs;
  if ((hasScore && !addCaptures(s, &m->score)) || (hasGate && !addCaptures(s, &m->gate)))
    return fail(m, "it captures too many values");
  noteExtents(s);
  a->products[0] = m->first;
  a->products[1] = m->second;
  a->products[0].target = a->products[1].target = m->target;
  return true;
}

//===--- what a kernel can be made for ---------------------------------------------------===//

static bool isKnown(int64_t extent) { return !mlirShapedTypeIsDynamicSize(extent) && extent > 0; }

static bool checkOperands(Match *m) {
  const TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  const int rows[3] = {a->queries, a->keys, a->keys}, columns[3] = {a->depth, a->depth, a->channels};
  for (int i = 0; i < AttentionFirstInput; ++i) {
    const TileOperand *operand = &s->operands[i];
    if (!operand->isTensor || !tileOperandIsPlain(operand) || !tileOperandUses(operand, rows[i]) ||
        !tileOperandUses(operand, columns[i]))
      return fail(m, "an operand of a product is no plain matrix");
  }
  if (!isKnown(s->dims[a->depth].extent) || !isKnown(s->dims[a->channels].extent))
    return fail(m, "the sizes of a head are not known");
  if (s->dims[a->keys].extent == 0)
    return fail(m, "there are no keys");
  return true;
}

static bool checkTypes(Match *m) {
  TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  MlirType q = tileOperandElementType(&s->operands[AttentionQ]), k = tileOperandElementType(&s->operands[AttentionK]);
  MlirType v = tileOperandElementType(&s->operands[AttentionV]);
  a->sum = tileOperandElementType(&m->first.operands[2]);
  a->weight = tileOperandElementType(&m->second.operands[m->secondWeights]);
  MlirValue scores = mlirOperationIsNull(m->score.op) ? (MlirValue){NULL} : yielded(&m->score);
  bool sameSums = mlirTypeEqual(a->sum, tileOperandElementType(&m->second.operands[2])) &&
                  (mlirValueIsNull(scores) || mlirTypeEqual(a->sum, mlirValueGetType(scores)));
  if (!mlirTypeEqual(q, k) || !mlirTypeEqual(v, a->weight) || !sameSums || !mlirTypeIsAF32(a->sum))
    return fail(m, "its sums are not all of f32");
  bool isNarrow = mlirTypeIsAF16(q) || mlirTypeIsABF16(q), isNarrowV = mlirTypeIsAF16(v) || mlirTypeIsABF16(v);
  if ((!mlirTypeIsAF32(q) && !isNarrow) || (!mlirTypeIsAF32(v) && !isNarrowV))
    return fail(m, "its factors are not of f32, f16 or bf16");
  return true;
}

bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *attention, const char **reason) {
  *attention = (TileAttention){.numOps = 0};
  Match m = {.attention = attention, .target = target, .block = mlirOperationGetBlock(root)};
  MlirValue scores;
  int scoreUses, queries, keys, channels;
  bool ok = matchSecond(&m, root, &scores, &scoreUses) && matchFirst(&m, scores, scoreUses) &&
            assignRoles(&m, &queries, &keys) && matchValues(&m, queries, keys, &channels);
  if (ok && (!startsFromZero(&m.first) || !startsFromZero(&m.second)))
    ok = fail(&m, "a product adds to what is there already");
  ok = ok && unite(&m, queries, keys) && checkOperands(&m) && checkTypes(&m);
  *reason = m.reason;
  return ok;
}
