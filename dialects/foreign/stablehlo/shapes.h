// What the verifiers of StableHLO ask of shapes. Those that are called expect… report at the op and return false.
#pragma once

#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/support.h"

#define STABLEHLO_TYPE_TEXT(type) tileTypeText(type, (char[192]){0}, 192)

MlirExtShape stablehloShapeOf(MlirType type);
// Equal, or open until run time.
static inline bool stablehloSizesAgree(int64_t a, int64_t b) {
  return a == b || mlirShapedTypeIsDynamicSize(a) || mlirShapedTypeIsDynamicSize(b);
}
bool stablehloShapesAgree(const MlirExtShape *a, const MlirExtShape *b);
bool stablehloExpectShape(MlirOperation op, MlirType seen, intptr_t rank, const int64_t *sizes, MlirType element);
bool stablehloExpectCount(MlirOperation op, const char *what, intptr_t seen, intptr_t wanted);
bool stablehloExpectDimensions(MlirOperation op, const char *what, const StablehloList *list,
                               int64_t rank); // each once
bool stablehloExpectDimension(MlirOperation op, const char *what, int64_t dimension, int64_t rank);
bool stablehloExpectScalarOf(MlirOperation op, const char *what, MlirType type, MlirType element);
