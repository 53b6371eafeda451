// Recognizes attention: a softmax (reduction.h) between two products. An elementwise op may follow each product as an
// epilogue (fusion.h). See attention.h.
//
// Expects: linalg.generic (named ops generalized, elementwise chains fused) and linalg.softmax. Each product has one
// summed dimension, starts from zeros, and its operands' axes stand in any order; a transpose or broadcast that makes
// one of them is seen through. Keys that several heads share (GQA) are dimensions that Q has and K has not.
#include "lib/analysis/attention.h"

#include "lib/analysis/fusion.h"
#include "lib/analysis/product.h"
#include "lib/analysis/reduction.h"
#include "upstream/arith.h"

// A sum of products along one dimension, with the elementwise op behind it.
typedef struct Part {
  TileStructured s;
  MlirOperation product;
  int sides[2], depth; // operands of the product, its summed dimension
  bool hasTypes;       // sums of f32
  bool startsFromZero;
} Part;

typedef struct Match {
  TileAttention *attention;
  const TileTarget *target;
  const char *reason;
  Part first, second;
  TileSoftmax softmax;
  int weights; // the operand of the second product
} Match;

static bool fail(Match *m, const char *reason) {
  m->reason = reason;
  return false;
}

static bool uses(const TileStructured *s, int operand, int dim) { return tileOperandUses(&s->operands[operand], dim); }

static bool isBeside(MlirValue value, MlirOperation root) {
  MlirOperation op = tileDefiningOp(value);
  return !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(root));
}

//===--- parts --------------------------------------------------------------===//

static bool isProduct(Part *p) {
  int sums = 0;
  for (int d = 0; d < p->s.numDims; ++d)
    if (p->s.dims[d].isReduction && ++sums)
      p->depth = d;
  p->product = p->s.op;
  if (sums != 1 || !tileStructuredMatchMultiplyAdd(&p->s, &p->sides[0], &p->sides[1]))
    return false;
  p->startsFromZero = tileStructuredStartsFrom(&p->s, 0, 0);
  p->hasTypes = tileStructuredHasMmaTypes(&p->s) && mlirTypeIsAF32(tileOperandElementType(&p->s.operands[2]));
  return mlirTypeIsAFloat(tileOperandElementType(&p->s.operands[2]));
}

// What makes the value: a product, or the elementwise op, which may ask for positions, behind one.
static bool readPart(const Match *m, MlirOperation op, bool (*canFollow)(const TileStructured *), Part *p) {
  TileEpilogue epilogue;
  if (!tileStructuredRead(op, m->target, &p->s) || p->s.numOutputs != 1)
    return false;
  TileStructured elementwise = p->s;
  bool isFound = isProduct(p);
  for (int i = 0; !isFound && canFollow(&elementwise) && i < elementwise.numInputs; ++i)
    isFound = tileEpilogueRead(&elementwise, i, &p->s, &epilogue) && isProduct(p) &&
              tileStructuredAddEpilogue(&p->s, &epilogue);
  return isFound;
}

// The source of an operand that a map of one input makes: a copy, by a transpose or a broadcast, or a rounding.
static bool readSource(const Match *m, const TileOperand *operand, bool isCopy, TileOperand *source) {
  TileStructured s;
  int dims[MaxDims];
  if (!tileStructuredRead(tileDefiningOp(operand->value), m->target, &s) || !tileStructuredIsMap(&s) ||
      s.numInputs != 1 || !tileOperandMatch(&s.operands[1], operand, dims))
    return false;
  MlirValue yielded = tileStructuredYielded(&s);
  if (!isCopy && arithTruncFOpIsA(tileDefiningOp(yielded)))
    yielded = tileOnlyOperand(tileDefiningOp(yielded));
  if (!s.operands[0].isTensor || tileStructuredInputOf(&s, yielded) != 0)
    return false;
  *source = s.operands[0];
  tileOperandRenumber(source, dims, s.numDims);
  return true;
}

// From the root up to Q and K.
static bool matchChain(Match *m, MlirOperation root) {
  TileOperand weights;
  bool isFound = false;
  if (!readPart(m, root, tileEpilogueCanFollow, &m->second))
    return false;
  for (int i = 0; i < 2 && !isFound; ++i) {
    m->weights = m->second.sides[i];
    TileOperand *operand = &m->second.s.operands[m->weights];
    if (!tileHasOneUse(operand->value) || !readSource(m, operand, false, &weights))
      weights = *operand;
    isFound = tileSoftmaxMatch(weights.value, m->target, &m->softmax);
  }
  m->second.s.operands[m->weights] = weights;
  if (isFound && !tileHasOneUse(weights.value))
    return fail(m, "its weights have another user");
  return isFound && isBeside(weights.value, root) && isBeside(m->softmax.of, root) &&
         readPart(m, tileDefiningOp(m->softmax.of), tileStructuredIsMap, &m->first) &&
         (tileHasUses(m->softmax.of, m->softmax.uses) || fail(m, "its scores have another user"));
}

//===--- one op -------------------------------------------------------------===//

// Keys are softmax's axis. Queries: the longest dimension that the other operand has alone.
static bool assignRoles(Match *m) {
  TileAttention *a = m->attention;
  const TileStructured *s = &m->first.s;
  a->keys = s->operands[s->numInputs].results[m->softmax.axis];
  a->depth = m->first.depth;
  a->k = uses(s, 0, a->keys) ? 0 : 1;
  a->q = 1 - a->k;
  if (uses(s, a->q, a->keys) || !uses(s, a->k, a->keys))
    return fail(m, "keys are not a dimension of one operand alone");
  a->queries = -1;
  for (int d = 0; d < s->numDims; ++d) {
    uint64_t extent = (uint64_t)s->dims[d].extent; // an unknown one is the longest
    if (!s->dims[d].isReduction && !uses(s, a->k, d) && uses(s, a->q, d) &&
        (a->queries < 0 || extent >= (uint64_t)s->dims[a->queries].extent))
      a->queries = d;
  }
  return a->queries >= 0 || fail(m, "no dimension of queries that keys have not");
}

// Heads in the order of the scores, then: of a CPU channels, keys, depth, queries, so that queries are every tile's
// columns (maxima and sums go across no lanes); of a GPU queries, depth, keys, channels.
static void numberDims(Match *m) {
  TileAttention *a = m->attention;
  const TileOperand *scores = &m->first.s.operands[m->first.s.numInputs];
  int *forCpu[] = {&a->channels, &a->keys, &a->depth, &a->queries};
  int *forGpu[] = {&a->queries, &a->depth, &a->keys, &a->channels};
  int next = 0, to[MaxDims];
  for (int i = 0; i < scores->rank; ++i)
    if (scores->results[i] != a->queries && scores->results[i] != a->keys)
      to[scores->results[i]] = next++;
  for (int i = 0; i < 4; ++i) {
    int *dim = (tileStructuredGpu(&a->structured) ? forGpu : forCpu)[i];
    to[*dim] = next;
    *dim = next++;
  }
  tileStructuredRenumber(&a->structured, to);
  tileFollowerRenumber(&a->score, to);
}

// The first product, and the second one with one more dimension, the channels.
static bool unite(Match *m) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured, *second = &m->second.s;
  int dims[MaxDims], channels = 0;
  if (!tileOperandMatch(&second->operands[m->weights], &m->first.s.operands[m->first.s.numInputs], dims))
    return fail(m, "its weights are not read by a plain map");
  if (dims[m->second.depth] != a->keys)
    return fail(m, "the second product does not sum over the keys");
  *s = tileStructuredCopy(&m->first.s, 0);
  for (int d = 0; d < second->numDims; ++d)
    if (dims[d] < 0 && ++channels)
      dims[d] = a->channels = s->numDims;
  if (channels != 1)
    return fail(m, "values have not one dimension that the weights have not");
  if (s->numDims == MaxDims)
    return fail(m, "it has too many dimensions");
  s->dims[s->numDims++] = (TileDim){.tile = 1, .panels = 1, .axis = -1};
  s->dims[a->keys].isReduction = true;
  a->score = s->epilogue;
  a->v = s->numInputs;
  if (!tileStructuredAppend(s, second, m->weights, dims))
    return fail(m, "it has too many operands");
  for (int i = 0, operands[] = {a->q, a->k, a->v}; i < 3; ++i)
    while (readSource(m, &s->operands[operands[i]], true, &s->operands[operands[i]]))
      ;
  numberDims(m);
  tileStructuredNoteExtents(s);
  return true;
}

//===--- what a kernel can be made for --------------------------------------===//

static bool check(Match *m) {
  const TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  const int operands[3] = {a->q, a->k, a->v}, rows[3] = {a->queries, a->keys, a->keys};
  const int columns[3] = {a->depth, a->depth, a->channels};
  for (int i = 0; i < 3; ++i)
    if (!tileOperandIsPlain(&s->operands[operands[i]]) || !uses(s, operands[i], rows[i]) ||
        !uses(s, operands[i], columns[i]))
      return fail(m, "an operand of a product is not a plain matrix");
  if (uses(s, a->v, a->queries))
    return fail(m, "values differ by query");
  if (s->dims[a->depth].extent <= 0 || s->dims[a->channels].extent <= 0) // unknown is below 0
    return fail(m, "the sizes of a head are not known");
  if (s->dims[a->keys].extent == 0)
    return fail(m, "there are no keys");
  return (m->first.hasTypes && m->second.hasTypes &&
          mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(m->softmax.of)))) ||
         fail(m, "its sums are not of f32, or its factors not of f32, f16 or bf16");
}

bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *a, const char **reason) {
  Match match = {.attention = a, .target = target}, *m = &match;
  *a = (TileAttention){.sum = mlirF32TypeGet(mlirOperationGetContext(root))};
  bool ok = matchChain(m, root);
  if (ok && !(m->first.startsFromZero && m->second.startsFromZero))
    ok = fail(m, "a product adds to what is there already");
  ok = ok && assignRoles(m) && unite(m) && check(m);
  a->weight = ok ? tileOperandElementType(&a->structured.operands[a->v]) : a->sum;
  a->products[0] = m->first.product;
  a->products[1] = m->second.product;
  a->isExact = m->softmax.isExact;
  *reason = m->reason;
  return ok;
}
