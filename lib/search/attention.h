// Tiles of attention as one kernel with online softmax, and whether that is faster than its ops apart.
//
//   TileSearchAttention best = tileSearchAttention(&target, &sizes, apart);    // apart: seconds of both products alone
//   if (best.fused < best.apart) … best.queries × best.keys …
//
// A program owns `queries` rows of one head and walks the keys in blocks; both products have their tiles in the first
// memory level. On a CPU the time is a sum, as in cpu_cost.h: multiply-adds of both products with their padding, a
// vector of scores' exponential, sums rescaled once a block, keys and values read once per program. On a GPU it is the
// largest of arithmetic and traffic. Apart, the scores are written and read by softmax once more; the products' time
// comes from the caller (construct.h). Source: the traffic argument of FlashAttention (Dao et al., 2022).
#pragma once

#include "lib/search/target.h"

#ifdef __cplusplus
extern "C" {
#endif

// Query i sees keys from (or, isUpper, below) slope · i + constant.
typedef struct TileAttentionBound {
  bool isUpper;
  int64_t slope, constant;
} TileAttentionBound;

enum { TileAttentionBounds = 4 };

typedef struct TileAttentionSizes {
  int64_t heads, queries, keys, depth, channels; // depth: of Q and K; channels: of V. All at least 1
  int64_t bytes;                                 // of an element of Q, K and V
  int numBounds;                                 // blocks that no query of a program sees are not visited
  TileAttentionBound bounds[TileAttentionBounds];
  int64_t mostKeys; // of a block, where a run-time mask hides blocks: the larger, the fewer are hidden. 0: any
  bool isOpen;      // a size is not known: those here are guesses
} TileAttentionSizes;

typedef struct TileSearchAttention {
  int64_t queries, keys; // of a block, powers of two along queries; 0: none fits
  double fused, apart;   // predicted seconds of the kernel, and of products and softmax one after another
  int64_t evaluations;
  // A GPU's, where programs of later queries see more keys: so many heads are visited side by side, their longest
  // programs first. 0: programs are visited in order.
  int64_t heads;
  // A GPU's: so many programs of a head, neighbours in the grid, share copies of keys and values. 0, 1: none.
  int64_t cluster;
} TileSearchAttention;

// `products`: predicted seconds of both products by themselves. The target's rate is of the products' types.
TileSearchAttention tileSearchAttention(const TileSearchTarget *target, const TileAttentionSizes *sizes,
                                        double products);

#ifdef __cplusplus
}
#endif
