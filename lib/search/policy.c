// The policies of the tree, and those that plugins register. See policy.h.
#include "lib/search/policy.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

//===--- the policies of the tree ---------------------------------------------------===//

// The best tile's predicted seconds, INFINITY where none fits. Adds its evaluations to the result's.
static double secondsOf(const TilePolicyQuestion *question, const TileOperator *op, const TileSearchTarget *target,
                        TileSearchCandidate *best, TileSearchResult *result) {
  TileSearchResult found;
  tileSearchConstruct(op, target, question->options, &found);
  result->evaluations += found.evaluations;
  *best = found.best[0];
  return found.count ? best->prediction.seconds : INFINITY;
}

// Into how many parts k is cut, so that a small grid gives every core something to do: the parts are products of their
// own, side by side, and a second kernel adds them up in one order. A power of two that divides k and leaves each part
// a row of shared memory's banks. Source: split-K as in CUTLASS and cuBLAS; the second kernel and its launch count.
static void weighParts(const TilePolicyQuestion *question, TileSearchResult *result) {
  enum { MostParts = 64, LeastDepth = 64 };
  const TileOperator *op = question->op;
  double whole = result->best[0].prediction.seconds, least = INFINITY;
  int64_t depth = op->dims[op->k].extent;
  for (int64_t parts = 2; parts <= MostParts && depth % parts == 0 && depth / parts >= LeastDepth; parts *= 2) {
    TileOperator cut = tileOperatorParts(op, parts), sum = tileOperatorSumOfParts(&cut, "f32");
    TileSearchTarget adding = *question->target;
    TileSearchCandidate best, ofSum;
    tileSearchSetOperator(question->machine, &sum, &adding);
    double seconds = secondsOf(question, &cut, question->target, &best, result);
    seconds += secondsOf(question, &sum, &adding, &ofSum, result) + question->target->model.launchSeconds;
    if (!tileSearchGains(question->target, seconds, whole) || seconds >= least)
      continue;
    least = best.prediction.seconds = seconds;
    best.tile.gpu.parts = parts;
    result->best[0] = best;
    result->count = 1;
  }
}

static void construct(const TilePolicyQuestion *question, TileSearchResult *result) {
  tileSearchConstruct(question->op, question->target, question->options, result);
  if (question->maySplit && result->count && result->best[0].prediction.programs < question->target->cores)
    weighParts(question, result);
}

static void exhaust(const TilePolicyQuestion *question, TileSearchResult *result) {
  tileSearchExhaustive(question->op, question->target, question->options, result);
}

static void draw(const TilePolicyQuestion *question, TileSearchResult *result) {
  tileSearchDraw(question->op, question->target, question->options, question->seed, result);
}

// What a conversion takes without a schedule.
static void takePlain(const TilePolicyQuestion *question, TileSearchResult *result) {
  TileSearchTile tile;
  *result = (TileSearchResult){.count = 0};
  if (!tileKindPlainTile(question->op, question->target, &tile))
    return;
  result->best[0] = (TileSearchCandidate){tile, tilePredict(question->op, question->target, &tile)};
  result->count = result->evaluations = 1;
}

static const TilePolicy ours[] = {
    {"construct", "grow aligned tiles from the machine's description (Roller)", construct},
    {"exhaustive-model", "predict every aligned tile and take the best", exhaust},
    {"measure", "run the ten best by the model on this CPU and take the fastest", construct, .isMeasured = true},
    {"fixed", "the sizes that a kernel has without a schedule", takePlain},
    {"random", "draw a tile that fits; `seed` says which", draw},
};

//===--- the registry ----------------------------------------------------------------===//

enum { MostRegistered = 16 };

static const TilePolicy *registered[MostRegistered];
static int numRegistered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// The policy at a place, or null past the end. The caller holds the mutex.
static const TilePolicy *policyAt(size_t place) {
  size_t own = sizeof ours / sizeof *ours;
  return place < own ? &ours[place] : place - own < (size_t)numRegistered ? registered[place - own] : NULL;
}

static const TilePolicy *find(const char *name) {
  const TilePolicy *policy;
  for (size_t i = 0; (policy = policyAt(i)); ++i)
    if (!strcmp(policy->name, name))
      return policy;
  return NULL;
}

bool tilePolicyRegister(const TilePolicy *policy) {
  pthread_mutex_lock(&mutex);
  const TilePolicy *other = find(policy->name);
  bool isNew = !other && numRegistered < MostRegistered;
  if (isNew)
    registered[numRegistered++] = policy;
  pthread_mutex_unlock(&mutex);
  return isNew || other == policy;
}

const TilePolicy *tilePolicyFind(const char *name) {
  pthread_mutex_lock(&mutex);
  const TilePolicy *policy = find(name);
  pthread_mutex_unlock(&mutex);
  return policy;
}

void tilePolicyListNames(tessera_list_t *list) {
  const TilePolicy *policy;
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; (policy = policyAt(i)); ++i)
    tessera_list_add(list, "%s", policy->name);
  pthread_mutex_unlock(&mutex);
}
