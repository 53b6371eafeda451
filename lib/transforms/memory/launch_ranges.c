// Ranges of a kernel's values, as arithmetic of the host on the launch's operands. See launch_ranges.h.
#include "lib/transforms/memory/launch_ranges.h"

#include "dialects/tile/ops.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

#include <stdlib.h>

enum { MostNested = 1000 };

typedef struct KeptRange {
  TileRange range;
  struct KeptRange *next;
} KeptRange;

//===--- numbers of the host ---------------------------------------------------------===//

static MlirType i64Of(TileRanges *ranges) { return mlirIntegerTypeGet(mlirOperationGetContext(ranges->kernel), 64); }
static bool isDry(const TileRanges *ranges) { return mlirOperationIsNull(ranges->launch); }

MlirValue tileRangesNumber(TileRanges *ranges, int64_t value) {
  return isDry(ranges) ? (MlirValue){NULL} : tileBuildInteger(&ranges->builder, i64Of(ranges), value);
}

MlirValue tileRangesOp(TileRanges *ranges, int kind, MlirValue a, MlirValue b) {
  return isDry(ranges) ? (MlirValue){NULL} : tileBuildBinary(&ranges->builder, kind, a, b);
}

void tileRangesRequire(TileRanges *ranges, MlirValue a, MlirValue b) {
  if (isDry(ranges))
    return;
  MlirValue holds = arithCmpIOpBuild(&ranges->builder, a, b, ArithCmpI_Sle);
  ranges->holds =
      mlirValueIsNull(ranges->holds) ? holds : tileBuildBinary(&ranges->builder, ArithOp_AndI, ranges->holds, holds);
}

static void requireBetween(TileRanges *ranges, TileRange range, int64_t least, int64_t greatest) {
  tileRangesRequire(ranges, tileRangesNumber(ranges, least), range.least);
  tileRangesRequire(ranges, range.greatest, tileRangesNumber(ranges, greatest));
}

static TileRange smallest(TileRanges *ranges, int count, const MlirValue *values) {
  TileRange range = {values[0], values[0]};
  for (int i = 1; i < count; ++i) {
    range.least = tileRangesOp(ranges, ArithOp_MinSI, range.least, values[i]);
    range.greatest = tileRangesOp(ranges, ArithOp_MaxSI, range.greatest, values[i]);
  }
  return range;
}

//===--- ops ----------------------------------------------------------------------------===//

static bool give(TileRanges *ranges, MlirValue least, MlirValue greatest, TileRange *range) {
  *range = (TileRange){least, greatest};
  return true;
}

static bool giveUp(TileRanges *ranges, const char *why) {
  ranges->why = why;
  return false;
}

static bool product(TileRanges *ranges, TileRange a, TileRange b, TileRange *range) {
  MlirValue values[] = {tileRangesOp(ranges, ArithOp_MulI, a.least, b.least),
                        tileRangesOp(ranges, ArithOp_MulI, a.least, b.greatest),
                        tileRangesOp(ranges, ArithOp_MulI, a.greatest, b.least),
                        tileRangesOp(ranges, ArithOp_MulI, a.greatest, b.greatest)};
  *range = smallest(ranges, 4, values);
  return true;
}

// A parameter, a coordinate of the grid or a loop's counter as i64.
static MlirValue wide(TileRanges *ranges, MlirValue value) {
  if (isDry(ranges))
    return (MlirValue){NULL};
  MlirType type = mlirValueGetType(value), i64 = i64Of(ranges);
  if (mlirTypeEqual(type, i64))
    return value;
  return tileBuildCast(&ranges->builder, mlirTypeIsAIndex(type) ? ArithOp_IndexCast : ArithOp_ExtSI, value, i64);
}

MlirValue tileRangesArgument(TileRanges *ranges, MlirValue parameter) {
  intptr_t number = mlirBlockArgumentGetArgNumber(parameter);
  if (isDry(ranges))
    return (MlirValue){NULL};
  return mlirOperationGetOperand(ranges->launch, tileLaunchOpGetInputsBegin(ranges->launch) + number);
}

static bool ofArgument(TileRanges *ranges, MlirValue value, TileRange *range) {
  MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  if (mlirOperationEqual(owner, ranges->kernel)) {
    MlirValue given = wide(ranges, tileRangesArgument(ranges, value));
    return give(ranges, given, given, range);
  }
  if (!scfForOpIsA(owner) || mlirBlockArgumentGetArgNumber(value) != 0)
    return giveUp(ranges, "it depends on what a loop carries");
  TileRange lower, upper;
  if (!tileRangeOf(ranges, scfForOpGetLowerBound(owner), &lower) ||
      !tileRangeOf(ranges, scfForOpGetUpperBound(owner), &upper))
    return false;
  MlirValue last = tileRangesOp(ranges, ArithOp_SubI, upper.greatest, tileRangesNumber(ranges, 1));
  return give(ranges, lower.least, tileRangesOp(ranges, ArithOp_MaxSI, last, lower.least), range);
}

static bool ofGrid(TileRanges *ranges, int64_t axis, bool isSize, TileRange *range) {
  MlirValue one = tileRangesNumber(ranges, 1), size = one;
  if (!isDry(ranges) && axis < tileLaunchOpGetNumGrid(ranges->launch))
    size = wide(ranges, tileLaunchOpGetGrid(ranges->launch, axis));
  // A grid of size 0 runs nothing.
  size = tileRangesOp(ranges, ArithOp_MaxSI, size, one);
  return isSize ? give(ranges, size, size, range)
                : give(ranges, tileRangesNumber(ranges, 0), tileRangesOp(ranges, ArithOp_SubI, size, one), range);
}

// Both at least 0, the divisor at least 1.
static bool ofQuotient(TileRanges *ranges, TileRange a, TileRange b, TileRange *range) {
  MlirValue one = tileRangesNumber(ranges, 1);
  tileRangesRequire(ranges, tileRangesNumber(ranges, 0), a.least);
  tileRangesRequire(ranges, one, b.least);
  return give(
      ranges, tileRangesOp(ranges, ArithOp_DivSI, a.least, tileRangesOp(ranges, ArithOp_MaxSI, b.greatest, one)),
      tileRangesOp(ranges, ArithOp_DivSI, a.greatest, tileRangesOp(ranges, ArithOp_MaxSI, b.least, one)), range);
}

// Both at least 0.
static bool ofRemainder(TileRanges *ranges, TileRange a, TileRange b, TileRange *range) {
  MlirValue zero = tileRangesNumber(ranges, 0), one = tileRangesNumber(ranges, 1);
  MlirValue most = tileRangesOp(ranges, ArithOp_SubI, tileRangesOp(ranges, ArithOp_MaxSI, b.greatest, one), one);
  tileRangesRequire(ranges, zero, a.least);
  tileRangesRequire(ranges, zero, b.least);
  return give(ranges, zero, tileRangesOp(ranges, ArithOp_MinSI, most, a.greatest), range);
}

static bool ofBinary(TileRanges *ranges, MlirOperation op, TileRange *range) {
  TileUpstream kind = tileUpstreamKind(op);
  TileRange a, b;
  if (!tileRangeOf(ranges, tileBinaryLhs(op), &a) || !tileRangeOf(ranges, tileBinaryRhs(op), &b))
    return false;
  switch (kind) {
  case ArithOp_SubI:
    return give(ranges, tileRangesOp(ranges, kind, a.least, b.greatest),
                tileRangesOp(ranges, kind, a.greatest, b.least), range);
  case ArithOp_MulI:
    requireBetween(ranges, a, -INT64_C(0x7fffffff), 0x7fffffff); // so that the product of the host does not wrap
    requireBetween(ranges, b, -INT64_C(0x7fffffff), 0x7fffffff);
    return product(ranges, a, b, range);
  case ArithOp_DivSI:
    return ofQuotient(ranges, a, b, range);
  case ArithOp_RemSI:
    return ofRemainder(ranges, a, b, range);
  default: // monotonic in both
    return give(ranges, tileRangesOp(ranges, kind, a.least, b.least),
                tileRangesOp(ranges, kind, a.greatest, b.greatest), range);
  }
}

static bool ofConstant(TileRanges *ranges, MlirOperation op, TileRange *range) {
  MlirAttribute value = arithConstantOpGetValue(op);
  if (mlirAttributeIsADenseElements(value)) {
    if (!mlirDenseElementsAttrIsSplat(value))
      return giveUp(ranges, "it depends on a table of constants");
    value = mlirDenseElementsAttrGetSplatValue(value);
  }
  if (!mlirAttributeIsAInteger(value))
    return giveUp(ranges, "it depends on floats");
  MlirValue number = tileRangesNumber(ranges, mlirIntegerAttrGetValueInt(value));
  return give(ranges, number, number, range);
}

static bool ofIota(TileRanges *ranges, MlirOperation op, TileRange *range) {
  MlirValue from = tileIotaOpGetFrom(op), zero = tileRangesNumber(ranges, 0);
  TileRange first = {zero, zero};
  if (!mlirValueIsNull(from) && !tileRangeOf(ranges, from, &first))
    return false;
  int64_t size = mlirShapedTypeGetDimSize(tileIotaOpGetResultType(op), tileIotaOpGetDimValue(op));
  return give(ranges, first.least,
              tileRangesOp(ranges, ArithOp_AddI, first.greatest, tileRangesNumber(ranges, size - 1)), range);
}

static bool compute(TileRanges *ranges, MlirValue value, TileRange *range) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op))
    return ofArgument(ranges, value, range);
  switch (tileOpKind(op)) {
  case TileOp_ProgramId:
    return ofGrid(ranges, tileProgramIdOpGetAxisValue(op), false, range);
  case TileOp_NumPrograms:
    return ofGrid(ranges, tileNumProgramsOpGetAxisValue(op), true, range);
  case TileOp_Assume:
  case TileOp_Broadcast:
    return tileRangeOf(ranges, tileOnlyOperand(op), range);
  case TileOp_Iota:
    return ofIota(ranges, op, range);
  default:
    break;
  }
  switch (tileUpstreamKind(op)) {
  case ArithOp_Constant:
    return ofConstant(ranges, op, range);
  case ArithOp_IndexCast:
  case ArithOp_ExtSI:
    return tileRangeOf(ranges, tileOnlyOperand(op), range);
  case ArithOp_AddI:
  case ArithOp_SubI:
  case ArithOp_MulI:
  case ArithOp_MinSI:
  case ArithOp_MaxSI:
  case ArithOp_DivSI:
  case ArithOp_RemSI:
    return ofBinary(ranges, op, range);
  default:
    return giveUp(ranges, "it depends on what the host does not know");
  }
}

// Numbers that ranges are computed of do not wrap: narrow ones fit their type, others stay far from 64 bits.
static void requireType(TileRanges *ranges, MlirValue value, TileRange range) {
  MlirType type = mlirValueGetType(value);
  MlirType element = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : type;
  int64_t bits = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : 64;
  int64_t most = bits > 62 ? INT64_MAX / 4 : (INT64_C(1) << (bits - 1)) - 1;
  requireBetween(ranges, range, -most - 1, most);
}

bool tileRangeOf(TileRanges *ranges, MlirValue value, TileRange *range) {
  const TileRange *known = tileTableFind(&ranges->known, value.ptr);
  if (known) {
    *range = *known;
    return true;
  }
  if (ranges->depth == MostNested)
    return giveUp(ranges, "it is computed in too many steps");
  ++ranges->depth;
  bool ok = compute(ranges, value, range);
  --ranges->depth;
  if (!ok)
    return false;
  requireType(ranges, value, *range);
  KeptRange *kept = malloc(sizeof *kept);
  *kept = (KeptRange){*range, ranges->kept};
  ranges->kept = kept;
  tileTableSet(&ranges->known, value.ptr, &kept->range);
  return true;
}

bool tileRangeOfSum(TileRanges *ranges, const TilePlaceSum *sum, TileRange *range) {
  MlirValue zero = tileRangesNumber(ranges, 0);
  *range = (TileRange){zero, zero};
  for (int i = 0; i < sum->count; ++i) {
    const TilePlaceTerm *term = &sum->terms[i];
    MlirValue coefficient = tileRangesNumber(ranges, term->coefficient);
    TileRange total = {coefficient, coefficient}, factor;
    for (int k = 0; k < term->degree; ++k) {
      if (!tileRangeOf(ranges, term->factors[k], &factor))
        return false;
      requireBetween(ranges, total, -INT64_C(0x7fffffff), 0x7fffffff);
      requireBetween(ranges, factor, -INT64_C(0x7fffffff), 0x7fffffff);
      product(ranges, total, factor, &total);
    }
    range->least = tileRangesOp(ranges, ArithOp_AddI, range->least, total.least);
    range->greatest = tileRangesOp(ranges, ArithOp_AddI, range->greatest, total.greatest);
  }
  return true;
}

void tileRangesFree(TileRanges *ranges) {
  for (KeptRange *kept = ranges->kept, *next; kept; kept = next) {
    next = kept->next;
    free(kept);
  }
  tileTableFree(&ranges->known);
}
