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
#include "lib/analysis/tiling.h"

#include <stddef.h>

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
  return !mlirOperationIsNull(tileDefiningOp(value)) && tileIsDefinedIn(value, mlirOperationGetBlock(root));
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

// From the root up to Q and K.
static bool matchChain(Match *m, MlirOperation root) {
  TileOperand weights;
  bool isFound = false;
  if (!readPart(m, root, tileEpilogueCanFollow, &m->second))
    return false;
  for (int i = 0; i < 2 && !isFound; ++i) {
    m->weights = m->second.sides[i];
    TileOperand *operand = &m->second.s.operands[m->weights];
    if (!tileHasOneUse(operand->value) || !tileOperandSource(operand, m->target, false, &weights))
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

// What a dimension is: the operands that it indexes, in the order of the products, and its place in the kernel's order
// of dimensions. On a CPU queries come last, as the columns of every tile, so that maxima and sums go across no lanes.
// All other dimensions are heads.
enum { OfQ = 1, OfK = 2, OfV = 4, OfScores = 8 };
static const struct Role {
  size_t dim; // in TileAttention
  unsigned of, notOf;
  int onCpu, onGpu;
  const char *fault;
} roles[] = {
    {offsetof(TileAttention, keys), OfK | OfV | OfScores, OfQ, 1, 2, "keys are not a dimension of one operand alone"},
    {offsetof(TileAttention, queries), OfQ | OfScores, OfK, 3, 0, "no dimension of queries that keys have not"},
    {offsetof(TileAttention, depth), OfQ | OfK, OfV | OfScores, 2, 1, "no dimension that queries and keys share"},
    {offsetof(TileAttention, channels), OfV, OfQ | OfK | OfScores, 0, 3, "no dimension of values alone"},
};
enum { NumRoles = sizeof roles / sizeof *roles };

static int *dimOf(TileAttention *a, int role) { return (int *)((char *)a + roles[role].dim); }

static unsigned membership(const TileAttention *a, const TileOperand *scores, int dim) {
  const TileStructured *s = &a->structured;
  return (uses(s, a->q, dim) ? OfQ : 0) | (uses(s, a->k, dim) ? OfK : 0) | (uses(s, a->v, dim) ? OfV : 0) |
         (tileOperandUses(scores, dim) ? OfScores : 0);
}

// Takes the longest dimension that fits a role: queries may have heads that keys have not. An unknown extent is the
// longest.
static bool assignRoles(Match *m, const TileOperand *scores) {
  TileAttention *a = m->attention;
  for (int r = 0; r < NumRoles; ++r) {
    int *dim = dimOf(a, r);
    *dim = -1;
    for (int d = 0; d < a->structured.numDims; ++d) {
      unsigned of = membership(a, scores, d);
      uint64_t extent = (uint64_t)a->structured.dims[d].extent;
      if ((of & roles[r].of) == roles[r].of && !(of & roles[r].notOf) &&
          (*dim < 0 || extent >= (uint64_t)a->structured.dims[*dim].extent))
        *dim = d;
    }
    if (*dim < 0)
      return fail(m, roles[r].fault);
  }
  return true;
}

// Heads in the order of the scores, then the roles in theirs.
static void numberDims(TileAttention *a, const TileOperand *scores) {
  int to[MaxDims], heads = 0, isRole[MaxDims] = {0};
  for (int r = 0; r < NumRoles; ++r)
    isRole[*dimOf(a, r)] = 1;
  for (int i = 0; i < scores->rank; ++i)
    if (!isRole[scores->results[i]])
      to[scores->results[i]] = heads++;
  for (int r = 0; r < NumRoles; ++r) {
    int place = heads + (tileStructuredGpu(&a->structured) ? roles[r].onGpu : roles[r].onCpu);
    to[*dimOf(a, r)] = place;
    *dimOf(a, r) = place;
  }
  tileStructuredRenumber(&a->structured, to);
  tileFollowerRenumber(&a->score, to);
}

// The first product, and the second one with one more dimension, the channels.
static bool unite(Match *m) {
  TileAttention *a = m->attention;
  TileStructured *s = &a->structured, *second = &m->second.s;
  const TileOperand scores = m->first.s.operands[m->first.s.numInputs];
  int dims[MaxDims], channels = 0, keys = scores.results[m->softmax.axis];
  if (!tileOperandMatch(&second->operands[m->weights], &scores, dims))
    return fail(m, "its weights are not read by a plain map");
  *s = tileStructuredCopy(&m->first.s, 0);
  for (int d = 0; d < second->numDims; ++d)
    if (dims[d] < 0 && ++channels)
      dims[d] = s->numDims;
  if (channels != 1 || s->numDims == MaxDims)
    return fail(m, "values do not have exactly one dimension of their own, or there are too many dimensions");
  s->dims[s->numDims++] = (TileDim){.tile = 1, .panels = 1, .axis = -1};
  s->dims[keys].isReduction = true;
  a->score = s->epilogue;
  a->k = uses(s, 0, keys) ? 0 : 1;
  a->q = 1 - a->k;
  a->v = s->numInputs;
  if (!tileStructuredAppend(s, second, m->weights, dims))
    return fail(m, "it has too many operands");
  for (int i = 0, operands[] = {a->q, a->k, a->v}; i < 3; ++i)
    while (tileOperandSource(&s->operands[operands[i]], m->target, true, &s->operands[operands[i]]))
      ;
  if (!assignRoles(m, &scores))
    return false;
  if (a->keys != keys || dims[m->second.depth] != keys)
    return fail(m, "the second product does not sum over the keys");
  numberDims(a, &scores);
  tileStructuredNoteExtents(s);
  return true;
}

//===--- what a kernel can be made for --------------------------------------===//

static bool check(Match *m) {
  const TileAttention *a = m->attention;
  const TileStructured *s = &a->structured;
  const TileOperand *of = s->operands;
  bool areF32 = mlirTypeIsAF32(mlirShapedTypeGetElementType(mlirValueGetType(m->softmax.of)));
  const struct {
    bool holds;
    const char *otherwise;
  } needs[] = {
      {tileOperandIsPlain(&of[a->q]) && tileOperandIsPlain(&of[a->k]) && tileOperandIsPlain(&of[a->v]),
       "an operand of a product is not a plain matrix"},
      {!uses(s, a->v, a->queries), "values differ by query"},
      {s->dims[a->depth].extent > 0 && s->dims[a->channels].extent > 0, "the sizes of a head are not known"},
      {s->dims[a->keys].extent != 0, "there are no keys"},
      {m->first.hasTypes && m->second.hasTypes && areF32,
       "its sums are not of f32, or its factors not of f32, f16 or bf16"},
      {m->first.startsFromZero && m->second.startsFromZero, "a product adds to what is there already"},
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i)
    if (!needs[i].holds)
      return fail(m, needs[i].otherwise);
  return true;
}

bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *a, const char **reason) {
  Match match = {.attention = a, .target = target}, *m = &match;
  *a = (TileAttention){.sum = mlirF32TypeGet(mlirOperationGetContext(root))};
  bool ok = matchChain(m, root) && unite(m) && check(m);
  a->weight = ok ? tileOperandElementType(&a->structured.operands[a->v]) : a->sum;
  a->products[0] = m->first.product;
  a->products[1] = m->second.product;
  a->isExact = m->softmax.isExact;
  *reason = m->reason;
  return ok;
}

bool tileAttentionHasGroupProducts(const TileAttention *a) {
  enum { Size = 64 }; // any: the types alone matter
  char type[32];
  MlirType element = tileOperandElementType(&a->structured.operands[a->k]);
  TileOperator product = tileOperatorProduct(Size, Size, Size, tileTypeText(element, type, sizeof type),
                                             tileElementWidth(element), tileElementWidth(a->sum));
  return tileStructuredTargetFor(a->structured.target, &product).hasGroupAtom;
}
