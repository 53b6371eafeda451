// Features of classical machine learning: thresholds, chosen columns, counts of n-grams. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"

#include <string.h>

//===--- numbers ----------------------------------------------------------------===//

static MlirValue isGreater(Body *body, const MlirValue *x) {
  MlirValue threshold = onnxNumber(body, x[0], *(const double *)body->data), one = onnxNumber(body, x[0], 1);
  MlirValue is = mlirTypeIsAFloat(mlirValueGetType(x[0])) ? onnxCompareF(body, ArithCmpF_Ogt, x[0], threshold)
                                                          : onnxCompareI(body, ArithCmpI_Sgt, x[0], threshold);
  return onnxSelect(body, is, one, onnxNumber(body, x[0], 0));
}

bool onnxEmitBinarizer(Node *node) {
  const double threshold = onnxReal(node, "threshold", 0);
  OnnxValue *x = node->in[0];
  // An integer is greater than a fraction where it is greater than what is below the fraction.
  const double limit = onnxIsFloat(x->type) ? threshold : __builtin_floor(threshold);
  if (!onnxIsFloat(x->type) && !(limit >= -0x1p31 && limit < 0x1p31))
    return onnxError(node, "threshold is %g; numbers of 32 bits are accepted for integers", threshold);
  return onnxReturn(node, onnxMap(node, x->type, 1, &x, isGreater, &limit));
}

typedef struct Columns {
  OnnxValue *from, *places;
} Columns;

static MlirValue column(Body *body) {
  const Columns *by = body->data;
  MlirValue at[OnnxMaxRank];
  int last = by->from->rank - 1;
  memcpy(at, body->index, sizeof *at * (size_t)last);
  at[last] = onnxToIndex(body, onnxAt(body, by->places, &body->index[last]));
  return onnxAt(body, by->from, at);
}

bool onnxEmitArrayFeatureExtractor(Node *node) {
  OnnxValue *x = node->in[0], *places = node->in[1];
  MlirValue sizes[OnnxMaxRank], count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < places->rank; ++d)
    count = tileBuildMul(node->b, count, places->sizes[d]);
  if (x->rank == 0)
    return onnxError(node, "requires rank 1 or more");
  if (x->rank == 1)
    x = onnxUnsqueeze(node, x, 1, 2);
  places = onnxReshape(node, places, 1, &count);
  if (!x || !places)
    return false;
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[x->rank - 1] = count;
  const Columns by = {x, places};
  return onnxReturn(node, onnxGenerate(node, x->type, x->rank, sizes, column, &by));
}

//===--- n-grams ----------------------------------------------------------------===//

typedef struct Grams {
  OnnxValue *text, *pool; // rows × words; grams × words
  int64_t words, step;    // of a gram; from one of its words to the next
} Grams;

// Whether gram `index[1]` begins at word `index[2]` of row `index[0]`.
static MlirValue isGram(Body *body) {
  const Grams *by = body->data;
  MlirValue zero = tileBuildIndex(body->b, 0), result = {NULL};
  for (int64_t k = 0; k < by->words; ++k) {
    MlirValue place = ONNX_OP(ArithOp_AddI, body->index[2], tileBuildIndex(body->b, k * by->step));
    MlirValue isInside = onnxCompareI(body, ArithCmpI_Slt, place, by->text->sizes[1]);
    MlirValue at[] = {body->index[0], onnxSelect(body, isInside, place, zero)};
    MlirValue gram[] = {body->index[1], tileBuildIndex(body->b, k)};
    MlirValue isWord = onnxCompareI(body, ArithCmpI_Eq, onnxAt(body, by->text, at), onnxAt(body, by->pool, gram));
    MlirValue is = ONNX_OP(ArithOp_AndI, isInside, isWord);
    result = k ? ONNX_OP(ArithOp_AndI, result, is) : is;
  }
  return onnxConvert(body, result, Onnx_Bool, Onnx_F32);
}

// How often each gram of `words` words is in each row, its words next to each other or up to `skips` words apart.
static OnnxValue *countsOf(Node *node, OnnxValue *text, OnnxValue *pool, int64_t words, int64_t skips) {
  OnnxValue *sum = NULL;
  for (int64_t skip = 0; skip <= (words > 1 ? skips : 0); ++skip) {
    const Grams by = {text, pool, words, skip + 1};
    MlirValue sizes[] = {text->sizes[0], pool->sizes[0], text->sizes[1]};
    OnnxValue *found = onnxGenerate(node, Onnx_F32, 3, sizes, isGram, &by);
    OnnxValue *count = found ? onnxReduce(node, OnnxReduce_Sum, found, 1u << 2, false) : NULL;
    if (!count)
      return NULL;
    sum = sum ? onnxAdd(node, sum, count) : count;
  }
  return sum;
}

typedef struct Pool {
  const double *words;            // of grams of all lengths
  const int64_t *starts, *places; // where each length begins; columns of the grams
  const int64_t *weights;         // bits of floats; null: 1
  int64_t numWords, numStarts, numPlaces, columns;
} Pool;

static const OnnxNumbers *listOf(const Node *node, const char *name, bool isReal) {
  const OnnxAttribute *attribute = onnxAttribute(node, name);
  return !attribute ? NULL : isReal ? &attribute->reals : &attribute->numbers;
}

static bool readPool(Node *node, Pool *pool) {
  const OnnxNumbers *words = listOf(node, "pool_int64s", false), *starts = listOf(node, "ngram_counts", false);
  const OnnxNumbers *places = listOf(node, "ngram_indexes", false), *weights = listOf(node, "weights", true);
  if (!words || !starts || !places)
    return onnxError(node, "requires the attributes pool_int64s, ngram_counts and ngram_indexes");
  double *numbers = onnxAllocate(node, (size_t)(words->count + 1) * sizeof *numbers);
  if (!numbers)
    return onnxOutOfMemory(node);
  for (int64_t i = 0; i < words->count; ++i) {
    numbers[i] = (double)words->items[i];
    if (words->items[i] < -(1ll << 53) || words->items[i] > 1ll << 53)
      return onnxError(node, "pool_int64s has the number %lld; at most 2^53 is accepted", (long long)words->items[i]);
  }
  *pool = (Pool){numbers,      starts->items, places->items, weights ? weights->items : NULL,
                 words->count, starts->count, places->count, 0};
  if (weights && weights->count != places->count)
    return onnxError(node, "%lld weights for %lld n-grams", (long long)weights->count, (long long)places->count);
  for (int64_t i = 0; i < places->count; ++i) {
    if (places->items[i] < 0 || places->items[i] >= INT32_MAX)
      return onnxError(node, "ngram_indexes has the number %lld", (long long)places->items[i]);
    pool->columns = places->items[i] >= pool->columns ? places->items[i] + 1 : pool->columns;
  }
  int64_t grams = 0;
  for (int64_t n = 0; n < starts->count; ++n) {
    int64_t end = n + 1 < starts->count ? starts->items[n + 1] : words->count;
    if (starts->items[n] < 0 || end < starts->items[n] || end > words->count || (end - starts->items[n]) % (n + 1))
      return onnxError(node, "ngram_counts: the %lld-grams do not lie at %lld to %lld of %lld words", (long long)n + 1,
                       (long long)starts->items[n], (long long)end, (long long)words->count);
    grams += (end - starts->items[n]) / (n + 1);
  }
  return grams == places->count ||
         onnxError(node, "%lld n-grams, and ngram_indexes for %lld", (long long)grams, (long long)places->count);
}

// What the grams from number `first` on give to the result's columns: their counts, scaled.
static OnnxValue *scaled(Node *node, const Pool *pool, OnnxValue *counts, int64_t first, int64_t count, bool clips,
                         bool weighs) {
  const int64_t shape[] = {count, pool->columns};
  double *numbers = onnxAllocate(node, (size_t)(count * pool->columns + 1) * sizeof *numbers);
  if (!numbers) {
    onnxOutOfMemory(node);
    return NULL;
  }
  for (int64_t g = 0; g < count; ++g) {
    float weight = 1;
    uint32_t bits = pool->weights ? (uint32_t)pool->weights[first + g] : 0;
    if (weighs && pool->weights)
      memcpy(&weight, &bits, sizeof weight);
    numbers[g * pool->columns + pool->places[first + g]] = weight;
  }
  OnnxValue *columns = onnxConstantOf(node, Onnx_F32, 2, shape, numbers);
  if (clips)
    counts = onnxWithNumber(node, ArithOp_MinimumF, counts, 1);
  return columns && counts ? onnxSumOfProducts(node, counts, "ng", columns, "gi", "ni") : NULL;
}

bool onnxEmitTfIdf(Node *node) {
  Pool pool;
  OnnxValue *x = node->in[0], *sum = NULL;
  int64_t least = onnxInt(node, "min_gram_length", 1), most = onnxInt(node, "max_gram_length", 1), first = 0;
  int64_t skips = onnxInt(node, "max_skip_count", 0);
  bool isIdf = onnxWord(node, "mode", "IDF", false), isTf = onnxWord(node, "mode", "TF", false);
  if (!isIdf && !isTf && !onnxWord(node, "mode", "TFIDF", false))
    return onnxError(node, "attribute mode is none of TF, IDF and TFIDF");
  if (x->rank < 1 || x->rank > 2 || least < 1 || most < least || skips < 0 || skips > 64)
    return onnxError(node, "requires rank 1 or 2, lengths of n-grams from 1 on, and at most 64 skipped words");
  if (!readPool(node, &pool))
    return false;
  OnnxValue *text = x->rank == 1 ? onnxUnsqueeze(node, x, 1, 2) : x;
  text = text ? onnxCast(node, text, Onnx_I64) : NULL;
  for (int64_t n = 1; text && n <= pool.numStarts; ++n) {
    int64_t start = pool.starts[n - 1], end = n < pool.numStarts ? pool.starts[n] : pool.numWords;
    const int64_t shape[] = {(end - start) / n, n};
    if (n >= least && n <= most && shape[0]) {
      OnnxValue *grams = onnxConstantOf(node, Onnx_I64, 2, shape, pool.words + start);
      OnnxValue *counts = grams ? countsOf(node, text, grams, n, skips) : NULL;
      OnnxValue *part = counts ? scaled(node, &pool, counts, first, shape[0], isIdf, !isTf) : NULL;
      sum = sum && part ? onnxAdd(node, sum, part) : part;
      if (!sum)
        return false;
    }
    first += shape[0];
  }
  MlirValue sizes[] = {text ? text->sizes[0] : (MlirValue){NULL}, tileBuildIndex(node->b, pool.columns)};
  if (text && !sum)
    sum = onnxFill(node, Onnx_F32, 2, sizes, 0);
  return onnxReturn(node, sum && x->rank == 1 ? onnxSqueeze(node, sum, 1) : sum);
}
