// Constructs tiles for an operator on a machine. It grows aligned tiles and does not search a space.
//
//   TileSearchOptions options = tileSearchDefaults();
//   TileSearchResult result;
//   tileSearchConstruct(&op, &target, &options, &result);
//   result.best[0].tile, result.best[0].prediction, result.evaluations
//
// A tile grows from the least aligned one: each time the dimension whose next aligned size raises the data reuse most,
// until nothing fits (scale up); then, where there are fewer programs than cores, the dimension that loses least
// shrinks (scale out). The best by the model are kept, first the fastest; predictions within five per cent are equals,
// and the one that keeps the rest of the machine least busy wins. Deterministic. Source: Roller (Zhu et al., OSDI
// 2022), algorithm 1; the beam instead of its depth-first search is ours.
#pragma once

#include "lib/search/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TileSearchBest = 16 };

typedef struct TileSearchOptions {
  int best;       // how many to keep, at most TileSearchBest
  double padding; // along each dimension, of its extent; the least aligned size may pad more
} TileSearchOptions;

// One tile, padding at most a quarter.
TileSearchOptions tileSearchDefaults(void);

typedef struct TileSearchResult {
  int count; // 0: no tile fits the machine
  TileSearchCandidate best[TileSearchBest];
  int64_t evaluations; // calls of the model
} TileSearchResult;

void tileSearchConstruct(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                         TileSearchResult *result);
// Every aligned tile with every number of warps and stages: the judge of the construction.
void tileSearchExhaustive(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                          TileSearchResult *result);

// Draws tiles that fit from all aligned tiles. Equal seeds give equal tiles.
void tileSearchDraw(const TileOperator *op, const TileSearchTarget *target, const TileSearchOptions *options,
                    uint64_t seed, TileSearchResult *result);

// The aligned sizes of a dimension, in rising order; returns how many. The first is 1 where the dimension need not be
// tiled, else the matrix instruction's. A GPU's are powers of two. (`sizes` of the kinds without register tiles.)
int tileSearchSizes(const TileOperator *op, const TileSearchTarget *target, const TileSearchTile *start, double padding,
                    int dim, int64_t *sizes, int capacity);
// Completes a tile that a person wrote: the model chooses what the tile leaves open (warps, stages, the kind).
TileSearchCandidate tileSearchComplete(const TileOperator *op, const TileSearchTarget *target,
                                       const TileSearchTile *tile, int64_t *evaluations);

// For policies: completing and pricing one tile, the order of two candidates, and the list of the best.
TileSearchCandidate tileSearchEvaluate(const TileOperator *op, const TileSearchTarget *target,
                                       const TileSearchTile *tile, int64_t *evaluations);
bool tileSearchIsBetter(const TileSearchTarget *target, const TileSearchCandidate *a, const TileSearchCandidate *b);
// Keeps the k best that fit, one for each tile of memory.
void tileSearchKeep(const TileSearchTarget *target, const TileSearchOptions *options,
                    const TileSearchCandidate *candidate, TileSearchResult *result);

#ifdef __cplusplus
}
#endif
