// sparse-search-permutation: orders the inputs of products by constant weights so that n of each m keep more of them.
//
//   h = relu(x · w + b);  y = h · v           →  the rows of v in another order, the columns of w and of b alike
//
// The function stays as it is: what makes the inputs makes them in the new order. Expects: linalg on tensors, before
// sparse-prune-nm with the same n, m and vector. Leaves: constants in another order. A product stays as it is where its
// inputs are not made by structured ops of constants and of tensors without this axis, or are read elsewhere too
// (arguments, residual sums). The sum of all k of the product runs in another order (docs/numerics.md).
//
// The search swaps inputs of two windows, and takes the swap that keeps most, until a round over the windows gains
// little. Then it goes on from an order changed at random, `escapes` times. Cost: of a round, windows · `pairs` · m² ·
// outputs. Paper: Pool and Yu, NeurIPS 2021 (channel permutations for N:M sparsity); apex does so.
#include <math.h>
#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "lib/transforms/sparsify/weights.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { MostConstants = 32, MostOps = 64, MostWindow = 64 };

//===--- what has the axis ------------------------------------------------------===//

// Constants that follow the order: the op's operand, along this axis.
typedef struct Ordered {
  MlirOperation op;
  intptr_t operand, axis;
} Ordered;

typedef struct Plan {
  Ordered items[MostConstants];
  int count, ops;
} Plan;

static bool usesPositions(MlirOperation op) {
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation inner = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner))
    if (linalgIndexOpIsA(inner) || mlirOperationGetNumRegions(inner))
      return true;
  return false;
}

static bool isDimAt(MlirAffineMap map, intptr_t axis, intptr_t *dim) {
  MlirAffineExpr at = mlirAffineMapGetResult(map, axis);
  if (!mlirAffineExprIsADim(at))
    return false;
  *dim = mlirAffineDimExprGetPosition(at);
  return true;
}

// The axis of a map that has the dimension; -1: none has; -2: it takes part in another expression.
static intptr_t axisOf(MlirAffineMap map, intptr_t dim) {
  intptr_t found = -1, here;
  for (intptr_t axis = 0; axis < mlirAffineMapGetNumResults(map); ++axis) {
    if (isDimAt(map, axis, &here) ? here != dim
                                  : !mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, axis), dim))
      continue;
    if (found != -1 || !mlirAffineExprIsADim(mlirAffineMapGetResult(map, axis)))
      return -2;
    found = axis;
  }
  return found;
}

static bool isPlainConstant(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  MlirAttribute data = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(data) && mlirAttributeIsADenseElements(data) &&
         tileElementWidth(mlirShapedTypeGetElementType(mlirValueGetType(value))) % 8 == 0;
}

static bool collect(Plan *plan, MlirOperation user, intptr_t operand, intptr_t axis);

// The operands of the op that have the dimension which `axis` of its result runs along.
static bool collectOperands(Plan *plan, MlirOperation op, intptr_t axis) {
  intptr_t count = mlirOperationGetNumOperands(op), dim;
  if (!tileOpIsStructured(op) || mlirOperationGetNumResults(op) != 1 || ++plan->ops > MostOps || usesPositions(op))
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirArrayAttrGetNumElements(maps) != count ||
      !isDimAt(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, count - 1)), axis, &dim))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    intptr_t at = axisOf(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)), dim);
    if (at == -2 || (at >= 0 && !collect(plan, op, i, at)))
      return false;
  }
  return true;
}

static bool collect(Plan *plan, MlirOperation user, intptr_t operand, intptr_t axis) {
  MlirValue value = mlirOperationGetOperand(user, operand);
  MlirOperation op = tileDefiningOp(value);
  if (tensorEmptyOpIsA(op))
    return true;
  if (isPlainConstant(value)) {
    if (plan->count == MostConstants)
      return false;
    plan->items[plan->count++] = (Ordered){user, operand, axis};
    return true;
  }
  return !mlirOperationIsNull(op) && tileHasOneUse(value) && collectOperands(plan, op, axis);
}

//===--- the search ---------------------------------------------------------------===//

// scores[input * groups + group]: the magnitudes of a group of outputs that keep the same inputs.
typedef struct Without {
  double kept[MostWindow]; // by the input that is left out, of all groups
  double all;              // with all inputs
  double *least;           // by this input and the group
} Without;

typedef struct Search {
  const double *scores;
  Without without[2]; // of the two windows that are compared
  int64_t groups, windows, n, m;
  int64_t *order; // the input at each place
} Search;

// The sum of the n largest of each group, over the inputs of a window.
static double keptOf(const Search *s, const int64_t *window) {
  double kept = 0, best[MostWindow];
  for (int64_t g = 0; g < s->groups; ++g) {
    int64_t count = 0;
    for (int64_t i = 0; i < s->m; ++i) {
      double score = s->scores[window[i] * s->groups + g];
      int64_t at = count < s->n ? count++ : s->n;
      for (; at > 0 && best[at - 1] < score; --at)
        if (at < s->n)
          best[at] = best[at - 1];
      if (at < s->n)
        best[at] = score;
    }
    for (int64_t i = 0; i < count; ++i)
      kept += best[i];
  }
  return kept;
}

static void swap(int64_t *a, int64_t *b) {
  int64_t old = *a;
  *a = *b;
  *b = old;
}

// Finds, for a window without its input i, the sum of the n largest of each group, and the least of them. Another input
// x then keeps sum + max(0, x - least).
static void fillWithout(const Search *s, const int64_t *window, Without *without) {
  for (int64_t g = 0; g < s->groups; ++g) {
    double largest[MostWindow + 1] = {0}, kept = 0; // the n largest and the next one, 0 where there is none
    for (int64_t i = 0; i < s->m; ++i) {
      double score = s->scores[window[i] * s->groups + g];
      int64_t at = i < s->n ? i : s->n;
      for (; at > 0 && largest[at - 1] < score; --at)
        largest[at] = largest[at - 1];
      if (i <= s->n || largest[at] < score)
        largest[at] = score;
    }
    for (int64_t i = 0; i < s->n; ++i)
      kept += largest[i];
    without->all = (g ? without->all : 0) + kept;
    for (int64_t i = 0; i < s->m; ++i) {
      double score = s->scores[window[i] * s->groups + g];
      bool isKept = score >= largest[s->n - 1];
      without->least[i * s->groups + g] = largest[isKept ? s->n : s->n - 1];
      without->kept[i] = (g ? without->kept[i] : 0) + (isKept ? kept - score + largest[s->n] : kept);
    }
  }
}

// What inputs x and y add to windows without an input, over all groups. Sums of several places run side by side.
static double addedBy(const Search *s, int64_t x, const double *leastOfX, int64_t y, const double *leastOfY) {
  enum { Side = 8 };
  const double *ofX = &s->scores[x * s->groups], *ofY = &s->scores[y * s->groups];
  double sums[Side] = {0}, total = 0;
  int64_t g = 0;
  for (; g + Side <= s->groups; g += Side)
    for (int i = 0; i < Side; ++i) {
      double first = ofX[g + i] - leastOfX[g + i], second = ofY[g + i] - leastOfY[g + i];
      sums[i] += (first > 0 ? first : 0) + (second > 0 ? second : 0);
    }
  for (; g < s->groups; ++g)
    total += fmax(0, ofX[g] - leastOfX[g]) + fmax(0, ofY[g] - leastOfY[g]);
  for (int i = 0; i < Side; ++i)
    total += sums[i];
  return total;
}

// Makes the swap of two windows that gains most; returns what is gained.
static double improve(Search *s, int64_t *a, int64_t *b) {
  Without *ofA = &s->without[0], *ofB = &s->without[1];
  fillWithout(s, a, ofA);
  fillWithout(s, b, ofB);
  double before = ofA->all + ofB->all, best = before * (1 + 1e-12); // sums in another order
  int64_t bestA = -1, bestB = -1;
  for (int64_t i = 0; i < s->m; ++i)
    for (int64_t j = 0; j < s->m; ++j) {
      double kept =
          ofA->kept[i] + ofB->kept[j] + addedBy(s, b[j], &ofA->least[i * s->groups], a[i], &ofB->least[j * s->groups]);
      if (!(kept > best))
        continue;
      best = kept;
      bestA = i;
      bestB = j;
    }
  if (bestA < 0)
    return 0;
  swap(&a[bestA], &b[bestB]);
  return best - before;
}

// Each window with the `pairs` windows that follow it at a distance that grows by round. Returns what is kept.
static double search(Search *s, int64_t pairs, double before) {
  enum { MostRounds = 64 };
  const double little = 1e-4;
  double kept = before;
  for (int64_t round = 0, gainless = 0; round < MostRounds && gainless < 2; ++round) {
    double gain = 0;
    int64_t reach = pairs < s->windows - 1 ? pairs : s->windows - 1;
    for (int64_t a = 0; a < s->windows; ++a)
      for (int64_t p = 0; p < reach; ++p) {
        int64_t b = (a + 1 + (round * reach + p) % (s->windows - 1)) % s->windows;
        gain += improve(s, &s->order[a * s->m], &s->order[b * s->m]);
      }
    kept += gain;
    gainless = gain <= little * kept ? gainless + 1 : 0;
  }
  return kept;
}

// A generator of numbers below `bound`, the same in each run.
static int64_t draw(uint64_t *state, int64_t bound) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((*state >> 33) % (uint64_t)bound);
}

// Out of an order that no swap improves: some inputs change places at random, and the search goes on from there. A
// worse order is forgotten.
static double escape(Search *s, int64_t pairs, int64_t tries, double kept) {
  int64_t inputs = s->windows * s->m;
  int64_t *best = malloc((size_t)inputs * sizeof *best);
  uint64_t state = 1;
  for (int64_t i = 0; best && i < tries; ++i) {
    memcpy(best, s->order, (size_t)inputs * sizeof *best);
    for (int64_t swaps = 0; swaps < 1 + inputs / 8; ++swaps)
      swap(&s->order[draw(&state, inputs)], &s->order[draw(&state, inputs)]);
    double begin = 0;
    for (int64_t w = 0; w < s->windows; ++w)
      begin += keptOf(s, &s->order[w * s->m]);
    double after = search(s, pairs, begin);
    if (after > kept)
      kept = after;
    else
      memcpy(s->order, best, (size_t)inputs * sizeof *best);
  }
  free(best);
  return kept;
}

//===--- one product --------------------------------------------------------------===//

static double *scoresOf(const SparseWeights *weights, int64_t axis, int64_t lines, int64_t *groups) {
  int64_t inputs = axis ? weights->columns : weights->rows, outputs = axis ? weights->rows : weights->columns;
  *groups = (outputs + lines - 1) / lines;
  double *scores = calloc((size_t)(inputs * *groups + 1), sizeof *scores);
  for (int64_t i = 0; scores && i < inputs; ++i)
    for (int64_t o = 0; o < outputs; ++o) {
      double magnitude = sparseWeightsMagnitude(weights, axis ? o : i, axis ? i : o);
      scores[i * *groups + o / lines] += isfinite(magnitude) ? magnitude : 0;
    }
  return scores;
}

// A constant whose indices along `axis` are those of `order`.
static MlirAttribute reordered(MlirValue constant, intptr_t axis, const int64_t *order) {
  MlirAttribute data = arithConstantOpGetValue(tileDefiningOp(constant));
  MlirType type = mlirValueGetType(constant);
  size_t width = tileElementWidth(mlirShapedTypeGetElementType(type)) / 8, outer = 1, inner = width;
  int64_t size = mlirShapedTypeGetDimSize(type, axis);
  if (mlirDenseElementsAttrIsSplat(data))
    return data;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (d != axis)
      *(d < axis ? &outer : &inner) *= (size_t)mlirShapedTypeGetDimSize(type, d);
  const unsigned char *from = mlirDenseElementsAttrGetRawData(data);
  unsigned char *to = malloc(outer * (size_t)size * inner + 1);
  if (!to)
    return mlirAttributeGetNull();
  for (size_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < size; ++i)
      memcpy(to + (o * (size_t)size + (size_t)i) * inner, from + (o * (size_t)size + (size_t)order[i]) * inner, inner);
  MlirAttribute made = mlirDenseElementsAttrRawBufferGet(type, outer * (size_t)size * inner, to);
  free(to);
  return made;
}

static bool rewrite(const Plan *plan, const int64_t *order) {
  for (int i = 0; i < plan->count; ++i) {
    const Ordered *item = &plan->items[i];
    MlirValue old = mlirOperationGetOperand(item->op, item->operand);
    MlirAttribute value = reordered(old, item->axis, order);
    if (mlirAttributeIsNull(value))
      return tileError(item->op, "has a constant too large to order");
    TileBuilder builder = tileBuilderBefore(item->op);
    mlirOperationSetOperand(item->op, item->operand, tileBuildConstant(&builder, value));
    sparseEraseUnused(tileDefiningOp(old));
  }
  return true;
}

enum { Products, Tied };

static bool orderProduct(MlirOperation op, const SparseWeightedProduct *weighted, MlirExtPass pass) {
  const TileMatrixProduct *product = &weighted->product;
  const int64_t *vector;
  SparseWeights weights;
  Plan plan = {.items = {{op, weighted->operand, weighted->axis}}, .count = 1};
  bool isRight = weighted->operand == product->rhs;
  intptr_t other = isRight ? product->lhs : product->rhs;
  intptr_t axis = isRight ? !product->transposeLhs : product->transposeRhs && !product->isVector;
  if (!collect(&plan, op, other, axis)) {
    mlirExtPassAddStatistic(pass, Tied, 1);
    return true;
  }
  mlirExtPassGetIntegers(pass, "vector", &vector);
  sparseWeightsRead(mlirOperationGetOperand(op, weighted->operand), &weights);
  int64_t inputs = weighted->axis ? weights.columns : weights.rows, m = mlirExtPassGetInteger(pass, "m");
  Search s = {.n = mlirExtPassGetInteger(pass, "n"), .m = m, .windows = inputs / m};
  double *scores = scoresOf(&weights, weighted->axis, vector[0], &s.groups);
  s.scores = scores;
  s.order = malloc((size_t)(inputs + 1) * sizeof *s.order);
  for (int i = 0; i < 2; ++i)
    s.without[i].least = malloc((size_t)(m * s.groups + 1) * sizeof(double));
  bool ok = s.scores && s.order && s.without[0].least && s.without[1].least;
  double before = 0, all = 0, after = 0;
  for (int64_t i = 0; ok && i < inputs; ++i)
    s.order[i] = i;
  for (int64_t i = 0; ok && i < inputs * s.groups; ++i)
    all += scores[i];
  for (int64_t w = 0; ok && w < s.windows; ++w)
    before += keptOf(&s, &s.order[w * m]);
  if (ok && s.windows > 1) {
    int64_t pairs = mlirExtPassGetInteger(pass, "pairs");
    after = escape(&s, pairs, mlirExtPassGetInteger(pass, "escapes"), search(&s, pairs, before));
  }
  if (!ok) {
    tileError(op, "has weights too large to order");
  } else if (after > before) {
    ok = rewrite(&plan, s.order);
    mlirExtPassAddStatistic(pass, Products, 1);
  }
  if (ok && mlirExtPassGetBool(pass, "remarks"))
    tileRemark(op, "%.4f of the magnitudes are kept in place of %.4f", fmax(after, before) / all, before / all);
  free(s.without[0].least);
  free(s.without[1].least);
  free(s.order);
  free(scores);
  return ok;
}

//===--- the pass -----------------------------------------------------------------===//

static bool isWeighted(MlirOperation op) {
  SparseWeightedProduct weighted;
  return sparseMatchWeightedProduct(op, &weighted);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  const int64_t *vector;
  if (!sparseNmOptionsCheck(function, pass))
    return false;
  mlirExtPassGetIntegers(pass, "vector", &vector);
  int64_t n = mlirExtPassGetInteger(pass, "n"), m = mlirExtPassGetInteger(pass, "m");
  if (n == 0 || m > MostWindow || vector[1] != 1)
    return tileError(function,
                     "n = %lld, m = %lld and %lld neighbours together; an order is searched for 1 <= n, m <= %d and "
                     "neighbours by themselves",
                     (long long)n, (long long)m, (long long)vector[1], MostWindow);
  if (mlirExtPassGetInteger(pass, "pairs") < 1)
    return tileError(function, "pairs = %lld, expected at least 1", (long long)mlirExtPassGetInteger(pass, "pairs"));
  TileOps ops = tileCollectOps(function, isWeighted);
  bool ok = true;
  for (intptr_t i = ops.count - 1; i >= 0 && ok; --i) { // users first: their order moves lines of what makes the inputs
    SparseWeightedProduct weighted;
    if (sparseMatchWeightedProduct(ops.items[i], &weighted))
      ok = orderProduct(ops.items[i], &weighted, pass);
  }
  tileOpsFree(&ops);
  return ok;
}

const MlirExtPassDefinition sparseSearchPermutationPass = {
    .argument = "sparse-search-permutation",
    .summary = "Order the inputs of products by constant weights so that n of each m keep more",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){
            SPARSE_NM_OPTIONS,
            {"pairs", "windows that a window is compared with in a round", MlirExtOption_Integer, "16"},
            {"escapes", "times that the search goes on from an order changed at random", MlirExtOption_Integer, "0"},
            {"remarks", "say in a remark what is kept", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = (const char *const[]){"products: products whose inputs have another order",
                                        "tied: products whose inputs are made or read by others too", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
