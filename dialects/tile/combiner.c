// Combiners of reduce and scan: the table and the neutral elements (combiner.h).
// Expects: elements of integer, index or float type. Leaves: a typed attribute that arith.constant takes.
#include "dialects/tile/combiner.h"
#include "dialects/tile/questions.h"

#include "upstream/arith.h"
#include <math.h>

// xori is no idempotent combiner: x xor x is 0.
static const TileCombiner combiners[] = {
    {ArithOp_AddF, true, false},    {ArithOp_AddI, false, false},   {ArithOp_MulF, true, false},
    {ArithOp_MulI, false, false},   {ArithOp_MaximumF, true, true}, {ArithOp_MaxNumF, true, true},
    {ArithOp_MinimumF, true, true}, {ArithOp_MinNumF, true, true},  {ArithOp_MaxSI, false, true},
    {ArithOp_MaxUI, false, true},   {ArithOp_MinSI, false, true},   {ArithOp_MinUI, false, true},
    {ArithOp_AndI, false, true},    {ArithOp_OrI, false, true},     {ArithOp_XOrI, false, false},
};

const TileCombiner *tileCombinerOf(TileUpstream kind) {
  for (size_t i = 0; i < sizeof combiners / sizeof *combiners; ++i)
    if (combiners[i].kind == kind)
      return &combiners[i];
  return NULL;
}

const TileCombiner *tileCombinerFind(MlirStringRef name) { return tileCombinerOf(tileUpstreamKindOfName(name)); }

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

static double neutralFloat(TileUpstream kind, MlirType element) {
  FloatRange range = rangeOf(element);
  if (kind == ArithOp_AddF)
    return -0.0;
  if (kind == ArithOp_MulF)
    return 1.0;
  if (range.hasNan && (kind == ArithOp_MaxNumF || kind == ArithOp_MinNumF))
    return (double)NAN; // it alone gives way to every number
  return kind == ArithOp_MaximumF || kind == ArithOp_MaxNumF ? range.least : range.greatest;
}

// An integer of up to 64 bits, as a two's complement number that mlirIntegerAttrGet truncates.
static int64_t neutralInteger(TileUpstream kind, unsigned width) {
  int64_t smallest = (int64_t)(UINT64_MAX << (width - 1));
  if (kind == ArithOp_MulI)
    return 1;
  if (kind == ArithOp_MaxSI)
    return smallest;
  if (kind == ArithOp_MinSI)
    return ~smallest;
  return kind == ArithOp_MinUI || kind == ArithOp_AndI ? -1 : 0;
}

MlirAttribute tileCombinerNeutral(const TileCombiner *combiner, MlirType element) {
  if (combiner->isFloat)
    return mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, neutralFloat(combiner->kind, element));
  unsigned width = tileElementWidth(element);
  return mlirIntegerAttrGet(element, neutralInteger(combiner->kind, width ? width : 64));
}

MlirAttribute tileCombinerNeutralOf(MlirOperation op, intptr_t input) {
  MlirAttribute given = tileOpAttribute(op, "neutral");
  MlirType element = tileTypeGetElement(mlirValueGetType(mlirOperationGetOperand(op, input)));
  if (!mlirAttributeIsNull(given))
    return mlirArrayAttrGetElement(given, input);
  return tileHas(op, "operation") ? tileCombinerNeutral(tileCombinerFind(tileKeywordOf(op, "operation")), element)
                                  : (MlirAttribute){NULL};
}
