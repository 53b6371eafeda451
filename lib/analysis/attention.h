// Attention as linalg writes it, recognized: two products with a softmax between them.
//
//   S = Q Kᵀ,  X = f(S, …) element by element (scale, mask, bias),  P = softmax X,  O = P V,  Y = g(O, …) (gate)
//
//   const char *reason;
//   TileOps ops = {0};
//   TileAttention a;
//   if (tileAttentionFind(op, &target, &ops) && tileAttentionRead(&ops, &target, &a, &reason))
//     … a.graph->dims[a.keys].extent …
#pragma once

#include "lib/analysis/group/group_graph.h"

typedef struct TileAttention {
  // The nodes S, X if there is an f, O (of the kind Online: it takes X in place of P), and Y if there is a g. Parallel
  // dimensions are heads (any number of them), queries, and the channels of V, which each program has all of; keys and
  // the channels of Q and K are folded. In the arena of the target.
  TileGroupGraph *graph;
  int scores, masked, weighted;       // the nodes S, X (-1: S itself) and O
  int q, k, v;                        // inputs of S and of O
  int queries, keys, depth, channels; // dimensions
  MlirType sum;                       // the element type of scores and sums
  MlirType weight;                    // that of P as V's factor: a program may round it
  bool isExact;                       // exp is the program's own math.exp, not softmax's
} TileAttention;

// The ops of what may be attention, producers first, whose second product is `op`; the elementwise op that follows it
// comes last. False where `op` is no product of a softmax of scores. The caller frees the list.
bool tileAttentionFind(MlirOperation op, const TileTarget *target, TileOps *ops);
// Reads ops, which may be a group's, as attention. False: `reason` says why one kernel cannot compute them ("its scores
// have another user"), or is null where they do not look like attention.
bool tileAttentionRead(const TileOps *ops, const TileTarget *target, TileAttention *attention, const char **reason);

// Whether the machine has products of several warps for its types, so that tile-specialize-warps may take its kernel.
bool tileAttentionHasGroupProducts(const TileAttention *attention);

// The body of f; null where there is no f. The input of f that a value of the body is; -1 for the scores, and for any
// other value.
MlirBlock tileAttentionBody(const TileAttention *attention);
int tileAttentionInputOf(const TileAttention *attention, MlirValue value);

// Where the score's mask lets a program leave out blocks of keys: first and last key that a query may see, as bounds
// that do not fall from one query to the next. Keys outside weigh exp(hidden - score) of the least, which is 0 where a
// query sees any key whose score is not as small as `hidden`.
enum { MaxKeyTerms = 4, MaxKeyBounds = 4 };
typedef struct TileKeySum { // constant + query · query position + key · key position + sum of terms[i] · value i
  int64_t constant, query, key, terms[MaxKeyTerms];
} TileKeySum;
typedef struct TileKeyBound { // the key is at least (or below) the sum, whose factor of the key is 0
  bool isUpper;               // below; else at least
  TileKeySum sum;
} TileKeyBound;
typedef struct TileKeyRange {
  int numBounds; // 0: every block is visited
  TileKeyBound bounds[MaxKeyBounds];
  int numTerms;
  MlirValue terms[MaxKeyTerms]; // values of f's body, equal for all keys and queries
  bool isInfinite;              // hidden is -inf: such keys weigh nothing at all
  double hidden;
  // A run-time mask of i1, by key and query, that hides whatever it is not `shows` for: blocks that it hides from all
  // queries of a program need no visit. Null: none.
  MlirValue mask; // an argument of f's body
  bool shows;
} TileKeyRange;
bool tileKeySumHasTerms(const TileKeySum *sum);
TileKeyRange tileAttentionKeyRange(const TileAttention *attention);
// The product of the score and a constant, `factor`, that f's result is, but for keys hidden by -inf. As rounding keeps
// the order, the greatest product is that of the greatest score.
MlirValue tileAttentionScaledScore(const TileAttention *attention, double *factor);
