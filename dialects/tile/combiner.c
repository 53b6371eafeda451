// Combiners of reduce and scan: the table and the neutral elements (combiner.h).
// Expects: elements of integer, index or float type. Leaves: a typed attribute that arith.constant takes.
#include "dialects/tile/combiner.h"
#include "dialects/tile/questions.h"

#include <math.h>

// xori is no idempotent combiner: x xor x is 0.
static const TileCombiner combiners[] = {
    {"arith.addf", true, false},    {"arith.addi", false, false},   {"arith.mulf", true, false},
    {"arith.muli", false, false},   {"arith.maximumf", true, true}, {"arith.maxnumf", true, true},
    {"arith.minimumf", true, true}, {"arith.minnumf", true, true},  {"arith.maxsi", false, true},
    {"arith.maxui", false, true},   {"arith.minsi", false, true},   {"arith.minui", false, true},
    {"arith.andi", false, true},    {"arith.ori", false, true},     {"arith.xori", false, false},
};

const TileCombiner *tileCombinerFind(MlirStringRef name) {
  for (size_t i = 0; i < sizeof combiners / sizeof *combiners; i++)
    if (tileStringEquals(name, combiners[i].name))
      return &combiners[i];
  return NULL;
}

static bool is(const TileCombiner *combiner, const char *name) {
  return tileStringEquals(tileString(combiner->name), name);
}

static double neutralFloat(const TileCombiner *combiner) {
  if (is(combiner, "arith.addf"))
    return -0.0;
  if (is(combiner, "arith.mulf"))
    return 1.0;
  bool isMaximum = is(combiner, "arith.maximumf") || is(combiner, "arith.maxnumf");
  return isMaximum ? -(double)INFINITY : (double)INFINITY;
}

// Of a width up to 64 bits, as a two's complement number that mlirIntegerAttrGet truncates.
static int64_t neutralInteger(const TileCombiner *combiner, unsigned width) {
  int64_t smallest = (int64_t)(UINT64_MAX << (width - 1));
  if (is(combiner, "arith.muli"))
    return 1;
  if (is(combiner, "arith.maxsi"))
    return smallest;
  if (is(combiner, "arith.minsi"))
    return ~smallest;
  return is(combiner, "arith.minui") || is(combiner, "arith.andi") ? -1 : 0;
}

MlirAttribute tileCombinerNeutral(const TileCombiner *combiner, MlirType element) {
  if (combiner->isFloat)
    return mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, neutralFloat(combiner));
  unsigned width = tileElementWidth(element);
  return mlirIntegerAttrGet(element, neutralInteger(combiner, width ? width : 64));
}
