// Reductions: out = combine(out, f(inputs)).
#pragma once

#include "dialects/tile/combiner.h"
#include "lib/analysis/structured.h"

// The combiner of output `index` and the value it folds in; null if the body has another form.
const TileCombiner *tileStructuredMatchReduction(const TileStructured *structured, int index, MlirValue *folded);
