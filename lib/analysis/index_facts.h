// What a kernel says about its indices, for every program instance: bounds and factors. Masks and vector widths rest on
// these facts.
//
//   if (tileIndexFacts(index).low >= 0) … no check below the first element …
#pragma once

#include "lib/capi/common.h"

typedef struct TileIndexFacts {
  int64_t low, high; // inclusive; INT64_MIN, INT64_MAX: no bound is known
  int64_t multiple;  // divides the value; 0: the value is 0
} TileIndexFacts;
TileIndexFacts tileIndexFacts(MlirValue index);
