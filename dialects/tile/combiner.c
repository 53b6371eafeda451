// Combiners of reduce and scan: the table and the neutral elements (combiner.h).
// Expects: elements of integer, index or float type. Leaves: a typed attribute that arith.constant takes.
#include "dialects/tile/combiner.h"
#include "dialects/tile/questions.h"

#include "upstream/arith.h"
#include <math.h>

// xori is no idempotent combiner: x xor x is 0.
static const TileCombiner combiners[] = {
    {arithAddFOpName, true, false},    {arithAddIOpName, false, false},   {arithMulFOpName, true, false},
    {arithMulIOpName, false, false},   {arithMaximumFOpName, true, true}, {arithMaxNumFOpName, true, true},
    {arithMinimumFOpName, true, true}, {arithMinNumFOpName, true, true},  {arithMaxSIOpName, false, true},
    {arithMaxUIOpName, false, true},   {arithMinSIOpName, false, true},   {arithMinUIOpName, false, true},
    {arithAndIOpName, false, true},    {arithOrIOpName, false, true},     {arithXOrIOpName, false, false},
};

const TileCombiner *tileCombinerFind(MlirStringRef name) {
  for (size_t i = 0; i < sizeof combiners / sizeof *combiners; ++i)
    if (tileStringEquals(name, combiners[i].name))
      return &combiners[i];
  return NULL;
}

static bool is(const TileCombiner *combiner, const char *name) {
  return tileStringEquals(tileString(combiner->name), name);
}

typedef struct FloatRange {
  double least, greatest;
  bool hasNan;
} FloatRange;

// Types without infinities end at a number.
static FloatRange rangeOf(MlirType element) {
  const struct {
    bool is;
    FloatRange range;
  } finite[] = {{mlirTypeIsAFloat8E4M3FN(element), {-448, 448, true}},
                {mlirTypeIsAFloat8E4M3FNUZ(element), {-240, 240, true}},
                {mlirTypeIsAFloat8E5M2FNUZ(element), {-57344, 57344, true}},
                {mlirTypeIsAFloat8E4M3B11FNUZ(element), {-30, 30, true}},
                {mlirTypeIsAFloat8E8M0FNU(element), {0x1p-127, 0x1p127, true}},
                {mlirTypeIsAFloat6E2M3FN(element), {-7.5, 7.5, false}},
                {mlirTypeIsAFloat6E3M2FN(element), {-28, 28, false}},
                {mlirTypeIsAFloat4E2M1FN(element), {-6, 6, false}}};
  for (size_t i = 0; i < sizeof finite / sizeof *finite; ++i)
    if (finite[i].is)
      return finite[i].range;
  return (FloatRange){-(double)INFINITY, (double)INFINITY, true};
}

static double neutralFloat(const TileCombiner *combiner, MlirType element) {
  FloatRange range = rangeOf(element);
  if (is(combiner, arithAddFOpName))
    return -0.0;
  if (is(combiner, arithMulFOpName))
    return 1.0;
  if (range.hasNan && (is(combiner, arithMaxNumFOpName) || is(combiner, arithMinNumFOpName)))
    return (double)NAN; // it alone gives way to every number
  return is(combiner, arithMaximumFOpName) || is(combiner, arithMaxNumFOpName) ? range.least : range.greatest;
}

// An integer of up to 64 bits, as a two's complement number that mlirIntegerAttrGet truncates.
static int64_t neutralInteger(const TileCombiner *combiner, unsigned width) {
  int64_t smallest = (int64_t)(UINT64_MAX << (width - 1));
  if (is(combiner, arithMulIOpName))
    return 1;
  if (is(combiner, arithMaxSIOpName))
    return smallest;
  if (is(combiner, arithMinSIOpName))
    return ~smallest;
  return is(combiner, arithMinUIOpName) || is(combiner, arithAndIOpName) ? -1 : 0;
}

MlirAttribute tileCombinerNeutral(const TileCombiner *combiner, MlirType element) {
  if (combiner->isFloat)
    return mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, neutralFloat(combiner, element));
  unsigned width = tileElementWidth(element);
  return mlirIntegerAttrGet(element, neutralInteger(combiner, width ? width : 64));
}
