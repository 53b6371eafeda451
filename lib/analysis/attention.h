// Attention as linalg writes it, recognized: two products with a softmax between them.
//
//   S = Q Kᵀ,  X = f(S, …) element by element (scale, mask, bias),  P = softmax X,  O = P V,  Y = g(O, …) (gate)
//
//   const char *reason;
//   TileAttention a;
//   if (tileAttentionMatch(op, &target, &a, &reason)) … a.structured …
#pragma once

#include "lib/analysis/structured.h"

typedef struct TileAttention {
  // All of it as one op: parallel dimensions are heads (any number of them) and queries, with one more for the channels
  // of V; reductions are keys and the channels of Q and K. Operands: Q and K, what f reads, V, what g reads, the
  // output. Its epilogue is g.
  TileStructured structured;
  int q, k, v;                        // operands
  int queries, keys, depth, channels; // dimensions
  TileFollower score;                 // f; its body is null where X is S
  MlirType sum;                       // the element type of scores and sums
  MlirType weight;                    // that of P as V's factor: a program may round it
  bool isExact;                       // exp is the program's own math.exp, not softmax's
  MlirOperation products[2];
} TileAttention;

// Recognizes what ends in `root`. False: `reason` says why what looks like attention cannot be one
// kernel ("its scores have another user"), or is null where nothing looks so.
bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *attention, const char **reason);

// Whether the machine has products of several warps for its types, so that tile-specialize-warps may take its kernel.
bool tileAttentionHasGroupProducts(const TileAttention *attention);

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
