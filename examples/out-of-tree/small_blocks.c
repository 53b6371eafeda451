// The policy small-blocks: of the tiles that the model expects to be nearly as fast as the best one, the one with the
// most programs. Use: tile-construct-tiles{policy=small-blocks}. Why one might want it: programs of other kernels share
// the machine, and small ones leave no core waiting for a large one at the end.
#include "poly.h"

#include <string.h>

enum { Wanted = TileSearchBest };
static const double nearlyAsFast = 1.25;

static bool isBetter(const TilePrediction *a, const TilePrediction *b) {
  return a->programs != b->programs ? a->programs > b->programs : a->seconds < b->seconds;
}

static void choose(const TilePolicyQuestion *question, TileSearchResult *result) {
  TileSearchOptions options = *question->options;
  TileSearchResult all;
  options.best = Wanted;
  tileSearchConstruct(question->op, question->target, &options, &all);
  *result = (TileSearchResult){.evaluations = all.evaluations};
  for (int i = 0; i < all.count; ++i) {
    if (all.best[i].prediction.seconds > nearlyAsFast * all.best[0].prediction.seconds)
      continue;
    int at = result->count;
    while (at > 0 && isBetter(&all.best[i].prediction, &result->best[at - 1].prediction))
      --at;
    memmove(&result->best[at + 1], &result->best[at], (size_t)(result->count - at) * sizeof *result->best);
    result->best[at] = all.best[i];
    ++result->count;
  }
  if (result->count > question->options->best)
    result->count = question->options->best;
}

const TilePolicy polySmallBlocks = {
    .name = "small-blocks",
    .summary = "the most programs among tiles that are nearly as fast as the best",
    .choose = choose,
};
