// Cutting reductions. See split.h.
#include "lib/search/split.h"

#include <math.h>

enum { MostParts = 64, LeastDepth = 64 };

// Predicted seconds of the best tile, INFINITY where none fits.
static double secondsOf(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                        TileSearchResult *result) {
  tileSearchConstruct(op, target, options, result);
  return result->count ? result->best[0].prediction.seconds : INFINITY;
}

TileSearchSplit tileSearchSplit(const TileMachine *machine, const TileOperator *op, const TileSearchTarget *target,
                                const TileSearchOptions *options, TileSearchResult *whole) {
  TileSearchSplit split = {.parts = 1, .whole = INFINITY, .cut = INFINITY};
  TileSearchResult result;
  split.whole = secondsOf(op, target, options, whole);
  if (op->m < 0 || !target->isGpu || op->numDims == TileOperatorDims ||
      op->operands[op->lhs].rank == TileOperatorRank || op->operands[op->rhs].rank == TileOperatorRank ||
      op->operands[op->out].rank == TileOperatorRank)
    return split;
  split.evaluations = whole->evaluations;
  if (!whole->count || whole->best[0].prediction.programs >= target->cores)
    return split;
  double best = INFINITY;
  int64_t depth = op->dims[op->k].extent;
  for (int64_t parts = 2; parts <= MostParts && depth % parts == 0 && depth / parts >= LeastDepth; parts *= 2) {
    TileOperator cut = tileOperatorParts(op, parts), sum = tileOperatorSumOfParts(&cut, "f32");
    TileSearchTarget adding = *target;
    tileSearchSetOperator(machine, &sum, &adding);
    double seconds = secondsOf(&cut, target, options, &result);
    TileSearchCandidate cutBest = result.best[0];
    split.evaluations += result.evaluations;
    seconds += secondsOf(&sum, &adding, options, &result) + target->model.launchSeconds;
    split.evaluations += result.evaluations;
    if (seconds < split.cut)
      split.cut = seconds;
    if (!tileSearchGains(target, seconds, split.whole) || seconds >= best)
      continue;
    best = seconds;
    split.parts = parts;
    split.best = cutBest;
    split.best.prediction.seconds = seconds;
  }
  return split;
}
