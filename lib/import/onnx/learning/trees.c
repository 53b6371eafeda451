// Ensembles of decision trees. All trees lie in tables of nodes; behind them stand the leaves, which lead to
// themselves. The program takes as many steps for each row and tree as the deepest tree has. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"
#include "lib/import/onnx/state.h"

#include "lib/ir/emit/special.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
#include <string.h>

enum { Mode_Le, Mode_Lt, Mode_Ge, Mode_Gt, Mode_Eq, Mode_Ne, Mode_Member };
enum { Aggregate_Mean, Aggregate_Sum, Aggregate_Min, Aggregate_Max };
enum { Transform_None, Transform_Softmax, Transform_Logistic, Transform_SoftmaxZero, Transform_Probit };
enum { MostNodes = 1 << 24 };

// Columns of numbers, a row for each node and, behind `nodes` of them, for each leaf.
typedef struct Trees {
  int64_t nodes, leaves, capacity, roots, targets, features; // features: that a row of the input needs
  double *feature, *split, *mode, *yes, *no, *tracks;
  double *weight, *target; // of leaves
  const int64_t *root;
  int64_t depth;
} Trees;

//===--- reading ----------------------------------------------------------------===//

static double *numbersFor(Node *node, int64_t count) {
  double *numbers = onnxAllocate(node, (size_t)(count + 1) * sizeof *numbers);
  if (!numbers)
    onnxOutOfMemory(node);
  return numbers;
}

// The numbers of an attribute that is a tensor of floats or bytes. Null: not there, or after an error (`count` -1).
static double *tensorOf(Node *node, const char *name, int64_t *count) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  *count = 0;
  if (!attribute || !attribute->tensor)
    return NULL;
  OnnxValue *value = onnxValueOfTensor(node, attribute->tensor);
  *count = value ? onnxCount(value) : -1;
  double *numbers = *count >= 0 ? numbersFor(node, *count) : NULL;
  bool isKnown = value && (value->type == Onnx_F32 || value->type == Onnx_F64 || value->type == Onnx_U8);
  if (value && (!isKnown || (*count && !value->bytes)))
    onnxError(node, "attribute %s has the type %s; float32, float64 and uint8 are accepted", name,
              onnxTypeName(value->type));
  if (!numbers || !isKnown || (*count && !value->bytes)) {
    *count = -1;
    return NULL;
  }
  for (int64_t i = 0; i < *count; ++i) {
    float single;
    memcpy(&single, value->bytes + i * (value->type == Onnx_F32 ? 4 : 0), value->type == Onnx_F32 ? 4 : 0);
    if (value->type == Onnx_F64)
      memcpy(&numbers[i], value->bytes + 8 * i, 8);
    else
      numbers[i] = value->type == Onnx_F32 ? single : value->bytes[i];
  }
  return numbers;
}

static const OnnxNumbers *listOf(Node *node, const char *name, int64_t count) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  if (attribute && attribute->numbers.count == count)
    return &attribute->numbers;
  onnxError(node, "attribute %s has %lld numbers; %lld are required", name,
            attribute ? (long long)attribute->numbers.count : 0ll, (long long)count);
  return NULL;
}

// The row of the table where a branch leads; -1 after an error. The leaves' rows begin at `nodes`.
static int64_t targetOf(Node *node, const Trees *trees, int64_t given, int64_t place, bool isLeaf) {
  if (place >= 0 && place < (isLeaf ? trees->leaves : given))
    return isLeaf ? trees->nodes + place : place;
  onnxError(node, "a branch leads to %s %lld; there are %lld", isLeaf ? "leaf" : "node", (long long)place,
            (long long)(isLeaf ? trees->leaves : given));
  return -1;
}

// A node that asks for a member of a set becomes a chain of nodes, which compare with one member each.
static void chainMembers(Trees *trees, int64_t at, const double *members, int64_t count, int64_t *extra) {
  double no = trees->no[at];
  for (int64_t i = 0; i < count || i == 0; ++i) {
    int64_t row = i == 0 ? at : (*extra)++;
    if (i > 0)
      trees->no[i == 1 ? at : row - 1] = (double)row;
    trees->feature[row] = trees->feature[at];
    trees->yes[row] = trees->yes[at];
    trees->tracks[row] = trees->tracks[at];
    trees->mode[row] = Mode_Eq;
    trees->split[row] = count ? members[i] : NAN;
    trees->no[row] = no;
  }
}

static bool readNodes(Node *node, Trees *trees) {
  int64_t given, numModes, numMembers, at = 0;
  double *splits = tensorOf(node, "nodes_splits", &given), *modes = tensorOf(node, "nodes_modes", &numModes);
  double *members = tensorOf(node, "membership_values", &numMembers);
  if (given < 0 || numModes < 0 || numMembers < 0)
    return false;
  if (given < 1 || given > MostNodes || numMembers > MostNodes || numModes != given)
    return onnxError(node, "%lld modes for %lld nodes", (long long)numModes, (long long)given);
  const OnnxNumbers *features = listOf(node, "nodes_featureids", given);
  const OnnxNumbers *yes = features ? listOf(node, "nodes_truenodeids", given) : NULL;
  const OnnxNumbers *no = yes ? listOf(node, "nodes_falsenodeids", given) : NULL;
  const OnnxNumbers *yesLeaves = no ? listOf(node, "nodes_trueleafs", given) : NULL;
  const OnnxNumbers *noLeaves = yesLeaves ? listOf(node, "nodes_falseleafs", given) : NULL, *tracks = NULL;
  if (!noLeaves)
    return false;
  if (onnxAttribute(node, "nodes_missing_value_tracks_true") &&
      !(tracks = listOf(node, "nodes_missing_value_tracks_true", given)))
    return false;
  // A set of n members takes n - 1 more nodes; its end is a nan.
  int64_t sets = 0, ends = 0;
  for (int64_t i = 0; i < given; ++i)
    sets += modes[i] == Mode_Member;
  for (int64_t i = 0; i < numMembers; ++i)
    ends += isnan(members[i]);
  if (sets != ends)
    return onnxError(node, "membership_values has %lld sets; %lld nodes ask for one", (long long)ends, (long long)sets);
  trees->nodes = given;
  for (int64_t i = 0, size = 0; i < numMembers; ++i) {
    size = isnan(members[i]) ? 0 : size + 1;
    trees->nodes += size > 1;
  }
  trees->capacity = trees->nodes + trees->leaves;
  double **columns[] = {&trees->feature, &trees->split, &trees->mode, &trees->yes, &trees->no, &trees->tracks};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i)
    if (!(*columns[i] = numbersFor(node, trees->capacity)))
      return false;
  int64_t extra = given;
  for (int64_t i = 0; i < given; ++i) {
    int64_t first = targetOf(node, trees, given, yes->items[i], yesLeaves->items[i] != 0);
    int64_t second = first < 0 ? -1 : targetOf(node, trees, given, no->items[i], noLeaves->items[i] != 0);
    if (second < 0)
      return false;
    if (!(modes[i] >= Mode_Le && modes[i] <= Mode_Member) || features->items[i] < 0 || features->items[i] > INT32_MAX)
      return onnxError(node, "node %lld has mode %g and feature %lld", (long long)i, modes[i],
                       (long long)features->items[i]);
    trees->features = features->items[i] >= trees->features ? features->items[i] + 1 : trees->features;
    trees->feature[i] = (double)features->items[i];
    trees->split[i] = splits[i];
    trees->mode[i] = modes[i];
    trees->yes[i] = (double)first;
    trees->no[i] = (double)second;
    trees->tracks[i] = tracks ? tracks->items[i] != 0 : 0;
    if (modes[i] == Mode_Member) {
      int64_t start = at;
      while (!isnan(members[at]))
        ++at;
      chainMembers(trees, i, members + start, at++ - start, &extra);
    }
  }
  for (int64_t i = trees->nodes; i < trees->capacity; ++i)
    trees->yes[i] = trees->no[i] = (double)i;
  return true;
}

static bool readLeaves(Node *node, Trees *trees) {
  trees->weight = tensorOf(node, "leaf_weights", &trees->leaves);
  if (trees->leaves < 0)
    return false;
  if (trees->leaves < 1 || trees->leaves > MostNodes)
    return onnxError(node, "%lld leaves", (long long)trees->leaves);
  const OnnxNumbers *targets = listOf(node, "leaf_targetids", trees->leaves);
  trees->targets = onnxInt(node, "n_targets", 1);
  trees->target = targets ? numbersFor(node, trees->leaves) : NULL;
  for (int64_t i = 0; trees->target && i < trees->leaves; ++i) {
    trees->target[i] = (double)targets->items[i];
    if (targets->items[i] < 0 || targets->items[i] >= trees->targets || trees->targets > INT32_MAX)
      return onnxError(node, "leaf %lld belongs to target %lld of %lld", (long long)i, (long long)targets->items[i],
                       (long long)trees->targets);
  }
  return trees->target != NULL;
}

// Steps from each root to its deepest leaf. False where a branch leads back.
static bool measure(Node *node, Trees *trees) {
  int64_t *depth = onnxAllocate(node, (size_t)trees->capacity * sizeof *depth), count = 0; // -1: on the way
  int64_t *way = onnxAllocate(node, (size_t)trees->capacity * sizeof *way);
  if (!depth || !way)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < trees->roots; ++i) {
    int64_t root = trees->root[i];
    if (root < 0 || root >= trees->nodes)
      return onnxError(node, "tree %lld begins at node %lld of %lld", (long long)i, (long long)root,
                       (long long)trees->nodes);
    if (depth[root] == 0) {
      depth[root] = -1;
      way[count++] = root;
    }
    while (count) {
      int64_t at = way[count - 1], longest = 0;
      bool isReady = true;
      const double next[] = {trees->yes[at], trees->no[at]};
      for (int k = 0; k < 2 && isReady; ++k) {
        int64_t to = (int64_t)next[k];
        if (to >= trees->nodes)
          continue;
        if (depth[to] < 0)
          return onnxError(node, "the branches of tree %lld lead back to node %lld", (long long)i, (long long)to);
        longest = depth[to] > longest ? depth[to] : longest;
        if (depth[to] == 0) {
          isReady = false;
          depth[to] = -1;
          way[count++] = to;
        }
      }
      if (isReady) {
        depth[at] = longest + 1;
        --count;
      }
    }
    trees->depth = depth[root] > trees->depth ? depth[root] : trees->depth;
  }
  return true;
}

//===--- walking ----------------------------------------------------------------===//

typedef struct Walk {
  OnnxValue *x, *places; // rows × features; rows × trees: where each row stands in each tree
  OnnxValue *feature, *split, *mode, *yes, *no, *tracks, *weight, *target;
  int64_t nodes;
  double none; // what a leaf of another target gives
} Walk;

static MlirValue entry(Body *body, OnnxValue *table, MlirValue at) { return onnxAt(body, table, &at); }

static MlirValue nextPlace(Body *body) {
  const Walk *by = body->data;
  MlirValue place = onnxToIndex(body, onnxAt(body, by->places, body->index));
  MlirValue feature[] = {body->index[0], onnxToIndex(body, entry(body, by->feature, place))};
  MlirValue x = onnxAt(body, by->x, feature), split = entry(body, by->split, place);
  static const ArithCmpF predicates[] = {ArithCmpF_Ole, ArithCmpF_Olt, ArithCmpF_Oge,
                                         ArithCmpF_Ogt, ArithCmpF_Oeq, ArithCmpF_Une};
  MlirValue mode = entry(body, by->mode, place), is = onnxCompareF(body, predicates[0], x, split);
  for (int k = 1; k < 6; ++k)
    is = onnxSelect(body, onnxCompareI(body, ArithCmpI_Eq, mode, onnxNumber(body, mode, k)),
                    onnxCompareF(body, predicates[k], x, split), is);
  MlirValue tracks = entry(body, by->tracks, place), isNan = onnxCompareF(body, ArithCmpF_Uno, x, x);
  MlirValue isTracked = onnxCompareI(body, ArithCmpI_Ne, tracks, onnxNumber(body, tracks, 0));
  is = ONNX_OP(ArithOp_OrI, is, ONNX_OP(ArithOp_AndI, isNan, isTracked));
  return onnxSelect(body, is, entry(body, by->yes, place), entry(body, by->no, place));
}

static bool step(Node *node, MlirValue at, OnnxValue **carried, const void *data) {
  Walk by = *(const Walk *)data;
  by.places = carried[0];
  carried[0] = onnxGenerate(node, Onnx_I32, 2, by.places->sizes, nextPlace, &by);
  return carried[0] != NULL;
}

// rows × targets × trees
static MlirValue weightAt(Body *body) {
  const Walk *by = body->data;
  MlirValue at[] = {body->index[0], body->index[2]};
  MlirValue leaf =
      ONNX_OP(ArithOp_SubI, onnxToIndex(body, onnxAt(body, by->places, at)), tileBuildIndex(body->b, by->nodes));
  MlirValue target = onnxToIndex(body, entry(body, by->target, leaf)), weight = entry(body, by->weight, leaf);
  MlirValue isIts = onnxCompareI(body, ArithCmpI_Eq, target, body->index[1]);
  return onnxSelect(body, isIts, weight, onnxNumber(body, weight, by->none));
}

static MlirValue orZero(Body *body, const MlirValue *x) { // where no leaf belongs to the target
  MlirValue none = onnxNumber(body, x[0], *(const double *)body->data);
  return onnxSelect(body, onnxCompareF(body, ArithCmpF_Oeq, x[0], none), onnxNumber(body, x[0], 0), x[0]);
}

static MlirValue probit(Body *body, const MlirValue *x) {
  MlirValue twice = ONNX_OP(ArithOp_MulF, x[0], onnxNumber(body, x[0], 2));
  MlirValue at = ONNX_OP(ArithOp_SubF, twice, onnxNumber(body, x[0], 1));
  return ONNX_OP(ArithOp_MulF, tileBuildSpecial(body->b, TileSpecial_ErfInv, at), onnxNumber(body, x[0], M_SQRT2));
}

static MlirValue logistic(Body *body, const MlirValue *x) {
  MlirValue one = onnxNumber(body, x[0], 1), e = ONNX_OP(MathOp_Exp, ONNX_OP(ArithOp_NegF, x[0]));
  return ONNX_OP(ArithOp_DivF, one, ONNX_OP(ArithOp_AddF, one, e));
}

static OnnxValue *table(Node *node, OnnxType type, int64_t count, const double *numbers) {
  return onnxConstantOf(node, type, 1, &count, numbers);
}

static bool makeTables(Node *node, const Trees *trees, Walk *walk) {
  OnnxType type = walk->x->type;
  int64_t count = trees->capacity;
  walk->feature = table(node, Onnx_I32, count, trees->feature);
  walk->split = table(node, type, count, trees->split);
  walk->mode = table(node, Onnx_I32, count, trees->mode);
  walk->yes = table(node, Onnx_I32, count, trees->yes);
  walk->no = table(node, Onnx_I32, count, trees->no);
  walk->tracks = table(node, Onnx_I32, count, trees->tracks);
  walk->weight = table(node, type, trees->leaves, trees->weight);
  walk->target = table(node, Onnx_I32, trees->leaves, trees->target);
  double *roots = numbersFor(node, trees->roots);
  for (int64_t i = 0; roots && i < trees->roots; ++i)
    roots[i] = (double)trees->root[i];
  const int64_t shape[] = {1, trees->roots};
  OnnxValue *places = roots ? onnxConstantOf(node, Onnx_I32, 2, shape, roots) : NULL;
  MlirValue sizes[] = {walk->x->sizes[0], tileBuildIndex(node->b, trees->roots)};
  walk->places = places ? onnxBroadcastTo(node, places, 2, sizes) : NULL;
  return walk->feature && walk->split && walk->mode && walk->yes && walk->no && walk->tracks && walk->weight &&
         walk->target && walk->places;
}

static OnnxValue *aggregated(Node *node, const Trees *trees, Walk *walk, int64_t kind) {
  static const OnnxReduction reductions[] = {OnnxReduce_Sum, OnnxReduce_Sum, OnnxReduce_Min, OnnxReduce_Max};
  static const double none[] = {0, 0, INFINITY, -INFINITY};
  MlirValue sizes[] = {walk->x->sizes[0], tileBuildIndex(node->b, trees->targets),
                       tileBuildIndex(node->b, trees->roots)};
  walk->none = none[kind];
  OnnxValue *weights = onnxGenerate(node, walk->x->type, 3, sizes, weightAt, walk);
  OnnxValue *result = weights ? onnxReduce(node, reductions[kind], weights, 1u << 2, false) : NULL;
  if (result && kind == Aggregate_Mean)
    result = onnxWithNumber(node, ArithOp_DivF, result, (double)trees->roots);
  return result && kind >= Aggregate_Min ? onnxMap(node, result->type, 1, &result, orZero, &walk->none) : result;
}

bool onnxEmitTreeEnsemble(Node *node) {
  OnnxValue *x = node->in[0];
  Trees trees = {0};
  const OnnxAttribute *roots = onnxAttribute(node, "tree_roots");
  int64_t aggregate = onnxInt(node, "aggregate_function", Aggregate_Sum);
  int64_t transform = onnxInt(node, "post_transform", Transform_None);
  if (x->rank != 2)
    return onnxError(node, "the input has rank %d; 2 is required", x->rank);
  if (aggregate < Aggregate_Mean || aggregate > Aggregate_Max || transform < Transform_None ||
      transform > Transform_Probit || transform == Transform_SoftmaxZero)
    return onnxError(node, "aggregate_function %lld with post_transform %lld is not supported", (long long)aggregate,
                     (long long)transform);
  if (!roots || !roots->numbers.count || roots->numbers.count > MostNodes)
    return onnxError(node, "has no trees: attribute tree_roots is missing or empty");
  trees.root = roots->numbers.items;
  trees.roots = roots->numbers.count;
  if (!readLeaves(node, &trees) || !readNodes(node, &trees) || !measure(node, &trees))
    return false;
  MlirValue enough = arithCmpIOpBuild(node->b, x->sizes[1], tileBuildIndex(node->b, trees.features), ArithCmpI_Sge);
  if (!onnxCheck(node, enough, "a row has fewer features than the trees ask for"))
    return false;
  Walk walk = {.x = x, .nodes = trees.nodes};
  if (!makeTables(node, &trees, &walk) ||
      !onnxFor(node, tileBuildIndex(node->b, trees.depth), 1, &walk.places, step, &walk))
    return false;
  OnnxValue *result = aggregated(node, &trees, &walk, aggregate);
  if (result && transform == Transform_Softmax)
    result = onnxSoftmaxOf(node, result, 1);
  else if (result && transform != Transform_None)
    result = onnxMap(node, result->type, 1, &result, transform == Transform_Logistic ? logistic : probit, NULL);
  return onnxReturn(node, result);
}
