// Reductions: out = combine(out, f(inputs)). Softmax, which is two of them.
#pragma once

#include "dialects/tile/combiner.h"
#include "lib/analysis/structured.h"

// The combiner of output `index` and the value it folds in; null if the body has another form.
const TileCombiner *tileStructuredMatchReduction(const TileStructured *structured, int index, MlirValue *folded);
// The first output starts from one float between these (asks tileStructuredStartFromConstants).
bool tileStructuredStartsFrom(TileStructured *structured, double least, double most);

// Softmax along one dimension: linalg.softmax, or four generics: the maximum m of x, exp(x - m), their sum l, the
// quotient.
typedef struct TileSoftmax {
  MlirValue of;
  int axis;
  bool isExact; // exp is the program's own math.exp
  int uses;     // that softmax makes of `of`
} TileSoftmax;
// The value is the softmax of softmax->of. False also where something else uses what lies between the two.
bool tileSoftmaxMatch(MlirValue value, const TileTarget *target, TileSoftmax *softmax);
