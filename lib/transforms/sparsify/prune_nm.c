// sparse-prune-nm: of each window of m weights the n of the highest score stay, and their product becomes a sparse one.
//
// Expects: products of linalg on tensors, with constant weights of integers, f16, bf16, f32 or f64 (others stay as they
// are, and are counted). Leaves: sparse.spmm and sparse.spmv over sparse.pack of the pruned constant. A place is scored
// by all the elements that stay or go with it, by magnitudes (l1) or squares (l2): no other choice of n keeps a higher
// sum, and of equal ones the first places stay. A nan stays. Cost: linear in the weights times log m.
// Papers: Zhu and Gupta 2017 (magnitude), NVIDIA ASP 2021 (2:4), nmSPARSE (MLSys 2023: vectors and blocks).
#include <math.h>
#include <stdlib.h>

#include "dialects/sparse/ops.h"
#include "lib/ir/pass.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "lib/transforms/sparsify/weights.h"
#include "upstream/func.h"

//===--- scores -------------------------------------------------------------===//

typedef struct Place {
  int64_t number;
  double score;
  bool isSquared;
} Place;

static void addScore(const SparseWeights *weights, int64_t row, int64_t column, void *data) {
  Place *place = data;
  double magnitude = sparseWeightsMagnitude(weights, row, column);
  place->score += place->isSquared ? magnitude * magnitude : magnitude;
}

// The highest first; of equal ones the first.
static int compare(const void *a, const void *b) {
  const Place *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

//===--- one constant -------------------------------------------------------===//

typedef struct Pruned {
  unsigned char *bytes;
  uint64_t dropped;
} Pruned;

static void drop(const SparseWeights *weights, int64_t row, int64_t column, void *data) {
  Pruned *pruned = data;
  memset(pruned->bytes + (size_t)(row * weights->columns + column) * weights->width, 0, weights->width);
  pruned->dropped += !sparseWeightsIsZero(weights, row, column);
}

static void prune(const SparseWeights *weights, SparseWindows windows, bool isSquared, Place *places, Pruned *pruned) {
  int64_t across = windows.axis ? weights->rows : weights->columns;
  int64_t size = windows.axis ? weights->columns : weights->rows, count = windows.m / windows.together;
  for (int64_t group = 0; group * windows.lines < across; ++group)
    for (int64_t window = 0; window * windows.m < size; ++window) {
      for (int64_t i = 0; i < count; ++i) {
        places[i] = (Place){.number = i, .isSquared = isSquared};
        sparseWeightsVisitPlace(weights, windows, group, window, i, addScore, &places[i]);
      }
      qsort(places, (size_t)count, sizeof *places, compare);
      for (int64_t i = windows.n / windows.together; i < count; ++i)
        sparseWeightsVisitPlace(weights, windows, group, window, places[i].number, drop, pruned);
    }
}

// The constant with the others zero; null for want of memory.
static MlirAttribute pruneConstant(const SparseWeights *weights, SparseWindows windows, bool isSquared,
                                   uint64_t *dropped) {
  size_t count = (size_t)(weights->rows * weights->columns);
  Place *places = calloc((size_t)(windows.m / windows.together), sizeof *places);
  Pruned pruned = {.bytes = malloc(count * weights->width + 1)};
  MlirAttribute value = mlirAttributeGetNull();
  if (places && pruned.bytes) {
    for (size_t i = 0; i < count; ++i)
      memcpy(pruned.bytes + i * weights->width, weights->bytes + i * weights->stride, weights->width);
    prune(weights, windows, isSquared, places, &pruned);
    value = mlirDenseElementsAttrRawBufferGet(weights->type, count * weights->width, pruned.bytes);
  }
  *dropped += pruned.dropped;
  free(places);
  free(pruned.bytes);
  return value;
}

//===--- the pass -----------------------------------------------------------===//

enum { Products, Dropped, Others };

static bool pruneProduct(MlirOperation op, const SparseWeightedProduct *weighted, MlirExtPass pass) {
  SparseWeights weights;
  uint64_t dropped = 0;
  MlirValue operand = mlirOperationGetOperand(op, weighted->operand);
  MlirAttribute encoding = sparseNmEncoding(mlirOperationGetContext(op), pass, weighted->axis);
  sparseWeightsRead(operand, &weights);
  bool isSquared = tileStringEquals(mlirExtPassGetString(pass, "score"), "l2");
  MlirAttribute value = pruneConstant(&weights, sparseEncodingGetWindows(encoding), isSquared, &dropped);
  if (mlirAttributeIsNull(value))
    return tileError(op, "has weights too large to prune");
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue constant = tileBuildConstant(&builder, value);
  MlirType type = sparseTypeWithEncoding(weights.type, encoding);
  sparseReplaceProduct(op, weighted, sparsePackOpBuild(&builder, type, constant));
  sparseEraseUnused(tileDefiningOp(operand));
  mlirExtPassAddStatistic(pass, Products, 1);
  mlirExtPassAddStatistic(pass, Dropped, dropped);
  return true;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MlirStringRef score = mlirExtPassGetString(pass, "score");
  if (!sparseNmOptionsCheck(function, pass))
    return false;
  if (!tileStringEquals(score, "l1") && !tileStringEquals(score, "l2"))
    return tileError(function, "score is '%.*s', expected l1 or l2", (int)score.length, score.data);
  if (mlirExtPassGetInteger(pass, "n") == 0)
    return tileError(function, "sparse-prune-nm without n: how many of each window stay");
  TileOps ops = tileCollect(function, NULL);
  bool ok = true;
  for (intptr_t i = 0; i < ops.count && ok; ++i) {
    SparseWeightedProduct weighted;
    TileMatrixProduct product;
    if (sparseMatchWeightedProduct(ops.items[i], &weighted))
      ok = pruneProduct(ops.items[i], &weighted, pass);
    else if (tileMatchMatrixProduct(ops.items[i], &product))
      mlirExtPassAddStatistic(pass, Others, 1);
  }
  tileOpsFree(&ops);
  return ok;
}

const MlirExtPassDefinition sparsePruneNmPass = {
    .argument = "sparse-prune-nm",
    .summary = "Keep n of each m constant weights, and multiply by them as sparse ones",
    .anchor = funcFuncOpName,
    .options =
        (const MlirExtPassOption[]){SPARSE_NM_OPTIONS,
                                    {"score", "what the elements of a place add up to: l1 (magnitudes) or l2 (squares)",
                                     MlirExtOption_String, "l1"},
                                    {NULL}},
    .statistics = (const char *const[]){"products: products made sparse", "dropped: weights that became zero",
                                        "others: products whose weights are not constants", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
