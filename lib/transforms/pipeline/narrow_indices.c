// tile-narrow-indices: comparisons of tiles of index become comparisons of 32 bits.
// Expects: kernels at either level, with comparisons whose sides are sums of tile.iota of the tile's own shape, scalars
//   and constants, as masks of attention are. Leaves: the scalars' difference, computed once in 64 bits and limited to
//   what 32 bits hold, and a comparison of what differs between elements. A comparison stays where a scalar may be so
//   large that the sums wrap, and an unsigned one where a side may be negative.
// Source: none. Cost: linear in the ops.
#include "lib/transforms/pipeline/pipeline.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/rounds.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "upstream/arith.h"

static const char *const statistics[] = {"narrowed: comparisons of indices that have 32 bits now", NULL};

//===--- questions ----------------------------------------------------------------------===//

enum { MaxParts = 4 };
// Scalars beyond FarLimit decide alone: the others stay below it. Differences beyond NearLimit hold for all elements.
static const int64_t FarLimit = (int64_t)1 << 50, NearLimit = (int64_t)1 << 30;

// A side of a comparison, or the difference of both: constant + scalars + positions.
typedef struct Sum {
  int64_t constant;
  intptr_t numScalars, numIotas;
  struct {
    MlirValue value;
    bool isNegative, isFar; // isFar: not negative, and perhaps beyond FarLimit
  } scalars[MaxParts];
  struct {
    MlirOperation op;
    bool isNegative;
  } iotas[MaxParts];
  bool mayBeNegative;
} Sum;

static bool addConstant(Sum *sum, int64_t value, bool isNegative) {
  sum->mayBeNegative |= isNegative ? value > 0 : value < 0;
  sum->constant += isNegative ? -value : value;
  return value > -FarLimit && value < FarLimit;
}

static bool addScalar(Sum *sum, MlirValue value, bool isNegative) {
  int64_t constant;
  if (tileConstantIndex(value, &constant))
    return addConstant(sum, constant, isNegative);
  bool isNear = tileIndexMagnitude(value) < TileRoundsLimit, isPositive = tileIndexFacts(value).low >= 0;
  if (sum->numScalars == MaxParts || (!isNear && !isPositive))
    return false;
  sum->mayBeNegative |= isNegative || !isPositive;
  sum->scalars[sum->numScalars].value = value;
  sum->scalars[sum->numScalars].isNegative = isNegative;
  sum->scalars[sum->numScalars++].isFar = !isNear;
  return true;
}

static bool addTile(Sum *sum, MlirType shape, MlirValue value, bool isNegative) {
  MlirOperation op = tileDefiningOp(value);
  if (arithConstantOpIsA(op)) {
    MlirAttribute all = arithConstantOpGetValue(op);
    return mlirAttributeIsADenseElements(all) && mlirDenseElementsAttrIsSplat(all) &&
           addConstant(sum, mlirIntegerAttrGetValueInt(mlirDenseElementsAttrGetSplatValue(all)), isNegative);
  }
  if (tileBroadcastOpIsA(op))
    return !tileTypeIsATile(tileBroadcastOpGetInputType(op)) && addScalar(sum, tileBroadcastOpGetInput(op), isNegative);
  if (arithAddIOpIsA(op) || arithSubIOpIsA(op))
    return addTile(sum, shape, tileBinaryLhs(op), isNegative) &&
           addTile(sum, shape, tileBinaryRhs(op), isNegative != arithSubIOpIsA(op));
  if (!tileIotaOpIsA(op) || sum->numIotas == MaxParts || !mlirTypeEqual(mlirValueGetType(value), shape))
    return false;
  sum->mayBeNegative |= isNegative;
  sum->iotas[sum->numIotas].op = op;
  sum->iotas[sum->numIotas++].isNegative = isNegative;
  return mlirValueIsNull(tileIotaOpGetFrom(op)) || addScalar(sum, tileIotaOpGetFrom(op), isNegative);
}

static bool asSigned(ArithCmpI predicate, ArithCmpI *isSigned) {
  static const ArithCmpI pairs[][2] = {{ArithCmpI_Ult, ArithCmpI_Slt},
                                       {ArithCmpI_Ule, ArithCmpI_Sle},
                                       {ArithCmpI_Ugt, ArithCmpI_Sgt},
                                       {ArithCmpI_Uge, ArithCmpI_Sge}};
  *isSigned = predicate;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
    if (pairs[i][0] == predicate)
      *isSigned = pairs[i][1];
  return *isSigned != predicate;
}

// False where the comparison must stay. `difference`: the right side less the left one.
static bool readComparison(MlirOperation op, Sum *difference, ArithCmpI *predicate) {
  MlirType shape = mlirValueGetType(arithCmpIOpGetLhs(op));
  Sum left = {.constant = 0}, right = {.constant = 0};
  int far = 0;
  *difference = (Sum){.constant = 0};
  if (!tileTypeIsATile(shape) || !mlirTypeIsAIndex(tileTypeGetElement(shape)) ||
      !addTile(&left, shape, arithCmpIOpGetLhs(op), false) || !addTile(&right, shape, arithCmpIOpGetRhs(op), false) ||
      !addTile(difference, shape, arithCmpIOpGetRhs(op), false) ||
      !addTile(difference, shape, arithCmpIOpGetLhs(op), true))
    return false;
  for (intptr_t i = 0; i < difference->numScalars; ++i)
    far += difference->scalars[i].isFar;
  bool isUnsigned = asSigned(arithCmpIOpGetPredicateValue(op), predicate);
  return far <= 1 && !(isUnsigned && (left.mayBeNegative || right.mayBeNegative));
}

//===--- the rewrite ----------------------------------------------------------------------===//

static MlirValue buildScalars(TileBuilder *builder, const Sum *sum) {
  MlirValue total = tileBuildIndex(builder, sum->constant);
  for (intptr_t i = 0; i < sum->numScalars; ++i) {
    MlirValue value = sum->scalars[i].value;
    if (sum->scalars[i].isFar)
      value = tileBuildMin(builder, value, tileBuildIndex(builder, FarLimit));
    total = sum->scalars[i].isNegative ? tileBuildSub(builder, total, value) : tileBuildAdd(builder, total, value);
  }
  total = tileBuildMax(builder, total, tileBuildIndex(builder, -NearLimit));
  total = tileBuildMin(builder, total, tileBuildIndex(builder, NearLimit));
  return arithIndexCastOpBuild(builder, mlirIntegerTypeGet(builder->context, 32), total);
}

// The positions of one sign, added to `start` (null: to nothing).
static MlirValue addPositions(TileBuilder *builder, const Sum *sum, bool isNegative, MlirType type, MlirValue start) {
  for (intptr_t i = 0; i < sum->numIotas; ++i) {
    if (sum->iotas[i].isNegative != isNegative)
      continue;
    MlirValue at = tileIotaOpBuild(builder, type, (MlirValue){NULL}, tileIotaOpGetDim(sum->iotas[i].op));
    start = mlirValueIsNull(start) ? at : tileBuildBinary(builder, ArithOp_AddI, start, at);
  }
  return mlirValueIsNull(start) ? tileBuildInteger(builder, type, 0) : start;
}

static void narrow(MlirOperation op, const Sum *difference, ArithCmpI predicate) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirType i32 = mlirIntegerTypeGet(builder.context, 32);
  MlirType type = tileTypeWithElement(mlirValueGetType(arithCmpIOpGetLhs(op)), i32);
  MlirValue limit = tileBroadcastOpBuild(&builder, type, buildScalars(&builder, difference));
  MlirValue left = addPositions(&builder, difference, true, type, (MlirValue){NULL});
  MlirValue right = addPositions(&builder, difference, false, type, limit);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), arithCmpIOpBuild(&builder, left, right, predicate));
  mlirOperationDestroy(op);
}

//===--- the pass -------------------------------------------------------------------------===//

static bool run(MlirOperation kernel, MlirExtPass pass) {
  TileOps comparisons = tileCollectOps(kernel, arithCmpIOpIsA);
  for (intptr_t i = 0; i < comparisons.count; ++i) {
    Sum difference;
    ArithCmpI predicate;
    if (!readComparison(comparisons.items[i], &difference, &predicate))
      continue;
    narrow(comparisons.items[i], &difference, predicate);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  tileOpsFree(&comparisons);
  return true;
}

const MlirExtPassDefinition tileNarrowIndicesPass = {
    .argument = "tile-narrow-indices",
    .summary = "Compare indices of a tile's elements in 32 bits",
    .anchor = tileKernelOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", NULL},
    .needs = (const char *const[]){arithCmpIOpName, NULL},
    .run = run,
};
