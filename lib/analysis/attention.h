// Attention as linalg writes it, recognized: two products with a softmax between them.
//
//   S = Q Kᵀ,  X = f(S, …) element by element (scale, mask, bias),  P = softmax X,  O = P V,  Y = g(O, …) (gate)
//
//   const char *reason;
//   TileAttention a;
//   if (tileAttentionMatch(op, &target, &a, &reason)) … a.structured …
#pragma once

#include "lib/analysis/structured.h"

enum { AttentionQ, AttentionK, AttentionV, AttentionFirstInput, MaxAttentionOps = 24 };

typedef struct TileAttention {
  // All of it as one op: parallel dimensions are heads (any number of them) and queries, with one more for the channels
  // of V; reductions are keys and the channels of Q and K. Operands: Q, K, V, what f reads, what g reads, the output.
  // Its epilogue is g.
  TileStructured structured;
  int queries, keys, depth, channels; // dimensions
  MlirType sum;                       // the element type of scores and sums
  MlirType weight;                    // that of P as V's factor: a program may round it
  bool isExact;                       // exp is the program's own math.exp, not softmax's
  MlirBlock score;                    // f's body; null: X is S
  int scoreArgument, numScoreInputs;  // f's argument that takes S; f's other inputs follow V
  int scoreDims[MaxDims];             // the dimension for each of f's own
  MlirOperation products[2];
  MlirOperation ops[MaxAttentionOps]; // what the kernel takes the place of, users first; ops[0] is Y or O
  int numOps;
} TileAttention;

// Recognizes what ends in `root`. False: `reason` says why what looks like attention cannot be one
// kernel ("its scores have another user"), or is null where nothing looks so.
bool tileAttentionMatch(MlirOperation root, const TileTarget *target, TileAttention *attention, const char **reason);

// Where the score's mask lets a program leave out blocks of keys: first and last key that a query may see, as bounds
// that do not fall from one query to the next. Keys outside weigh exp(hidden - score) of the least, which is 0 where a
// query sees any key whose score is not as small as `hidden`.
enum { MaxBoundTerms = 4, MaxBounds = 4 };
typedef struct TileKeyBound { // the key is at least (or below) slope · query + constant + sum of sign · value
  bool isUpper;               // below; else at least
  int64_t slope, constant;
  int numTerms;
  MlirValue terms[MaxBoundTerms]; // of f's body, equal for all keys and queries
  int64_t signs[MaxBoundTerms];
} TileKeyBound;
typedef struct TileKeyRange {
  int numBounds; // 0: every block is visited
  TileKeyBound bounds[MaxBounds];
  bool isInfinite; // hidden is -inf: such keys weigh nothing at all
  double hidden;
} TileKeyRange;
TileKeyRange tileAttentionKeyRange(const TileAttention *attention);
