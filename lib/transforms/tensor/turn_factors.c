// tile-turn-factors{chip=NAME}: lays a factor of a product out along k ahead of the product.
//
//   C[m, n] += sum over k of A[m, k] · B[k, n]      becomes      B'[n, k] = B[k, n];  C[m, n] += A[m, k] · B'[n, k]
//
// Why: products of warpgroups (wgmma) take factors of fewer than 16 bits only where neighbours lie along k. Otherwise
//   such a product runs at a small part of the machine's rate.
// Expects: linalg.generic on tensors in func.func, without schedules; sizes are known.
// Leaves: the same results. A factor is turned where the model finds the product and the copy faster by a tenth
//   (`model.gain.percent`). Left alone: products with a schedule, floats and integers of 16 bits and more.
// Cost: two searches of a tile for each product of narrow elements.
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/builder.h"
#include "lib/search/construct.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <math.h>

static const char *const statistics[] = {"turned: factors that are copied along k", NULL};

enum { NarrowBits = 16 };

//===--- questions ----------------------------------------------------------------===//

static bool readProduct(MlirOperation op, const TileTarget *target, TileStructured *s, TileTiling *tiling) {
  if (!tileStructuredRead(op, target, s))
    return false;
  tileStructuredStartFromConstants(s);
  return tileStructuredFindTiling(s, tiling) && tiling->isProduct;
}

static double secondsOf(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  TileTiling tiling;
  TileSearchResult result;
  if (!readProduct(op, target, &s, &tiling))
    return INFINITY;
  TileOperator described = tileStructuredDescribe(&s, &tiling, TileUnknownExtent);
  TileSearchTarget machine = tileStructuredTargetFor(target, &described);
  TileSearchOptions options = tileSearchDefaults();
  tileSearchConstruct(&described, &machine, &options, &result);
  return result.count ? result.best[0].prediction.seconds : INFINITY;
}

// The product as it is: one warp's instructions take bytes along k only, too, and lanes turn them first.
static double secondsUnturned(MlirOperation op, const TileTarget *target, const TileSearchTarget *machine,
                              const TileOperator *described) {
  double operations = described->operations, seconds = secondsOf(op, target);
  for (int d = 0; d < described->numDims; ++d)
    operations *= (double)described->dims[d].extent;
  double rate = machine->rate * machine->model.groupTurned * (double)machine->cores * machine->clock;
  return fmax(seconds, operations / rate);
}

// Reads and writes all of the factor, in a launch of its own.
static double secondsOfCopy(const TileTarget *target, MlirType type) {
  const TileSearchTarget *machine = &target->search;
  double bytes = (double)tileElementWidth(mlirShapedTypeGetElementType(type)) / 8;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i)
    bytes *= (double)mlirShapedTypeGetDimSize(type, i);
  return 2 * bytes / machine->levels[machine->numLevels - 1].bandwidth + machine->model.launchSeconds;
}

// The axis of the operand that k indexes; -1 where that is the last one or there is none, or a size is not known.
static int axisToTurn(const TileStructured *s, int operand, int k) {
  const TileOperand *o = &s->operands[operand];
  MlirType type = mlirValueGetType(o->value);
  int axis = tileOperandAxisOf(o, k);
  bool isNarrow = tileElementWidth(tileOperandElementType(o)) < NarrowBits;
  return isNarrow && o->isTensor && mlirShapedTypeHasStaticShape(type) && axis + 1 < o->rank ? axis : -1;
}

// Asked first: to read an op is dear.
static bool hasNarrowInput(MlirOperation op) {
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i) {
    MlirType type = mlirValueGetType(linalgGenericOpGetInputs(op, i));
    if (mlirTypeIsAShaped(type) && tileElementWidth(mlirShapedTypeGetElementType(type)) < NarrowBits)
      return true;
  }
  return false;
}

//===--- the copy -----------------------------------------------------------------===//

// Where axis i of the turned tensor was: `axis` comes last.
static int sourceAxis(int i, int axis, int rank) { return i + 1 == rank ? axis : i < axis ? i : i + 1; }

static MlirValue buildTurned(TileBuilder *b, MlirValue tensor, int axis) {
  MlirType type = mlirValueGetType(tensor), element = mlirShapedTypeGetElementType(type);
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t shape[MaxOperandRank];
  MlirAffineExpr results[MaxOperandRank];
  for (int i = 0; i < rank; ++i) {
    int from = sourceAxis(i, axis, rank);
    shape[i] = mlirShapedTypeGetDimSize(type, from);
    results[from] = mlirAffineDimExprGet(b->context, i);
  }
  MlirType turned = mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
  MlirValue empty = tensorEmptyOpBuild(b, turned, 0, NULL);
  MlirAttribute maps[] = {mlirAffineMapAttrGet(mlirAffineMapGet(b->context, rank, 0, rank, results)),
                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, rank))};
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){element, element});
  MlirValue result = mlirBlockGetArgument(inside.block, 0);
  linalgYieldOpBuild(&inside, 1, &result);
  return tileOnlyResult(linalgGenericOpBuild(b, 1, &turned, 1, &tensor, 1, &empty,
                                             mlirArrayAttrGet(b->context, 2, maps), tileBuildIteratorTypes(b, rank, 0),
                                             region));
}

static MlirAttribute turnedMap(MlirContext context, MlirAttribute attribute, int axis) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(attribute);
  intptr_t rank = mlirAffineMapGetNumResults(map);
  MlirAffineExpr results[MaxOperandRank];
  for (int i = 0; i < rank; ++i)
    results[i] = mlirAffineMapGetResult(map, sourceAxis(i, axis, (int)rank));
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, mlirAffineMapGetNumDims(map), 0, rank, results));
}

// The product with turned factors, behind their copies; the product as it was stands behind both.
static MlirOperation buildProduct(MlirOperation op, const int axes[2]) {
  TileBuilder b = tileBuilderBefore(op);
  MlirAttribute maps = tileOpAttribute(op, "indexing_maps"), turned[3];
  MlirValue factors[2];
  for (int i = 0; i < 3; ++i)
    turned[i] = i < 2 && axes[i] >= 0 ? turnedMap(b.context, mlirArrayAttrGetElement(maps, i), axes[i])
                                      : mlirArrayAttrGetElement(maps, i);
  for (int i = 0; i < 2; ++i)
    factors[i] =
        axes[i] >= 0 ? buildTurned(&b, linalgGenericOpGetInputs(op, i), axes[i]) : linalgGenericOpGetInputs(op, i);
  MlirOperation product = tileBuilderInsert(&b, mlirOperationClone(op));
  for (int i = 0; i < 2; ++i)
    mlirOperationSetOperand(product, i, factors[i]);
  mlirOperationSetAttributeByName(product, tileString("indexing_maps"), mlirArrayAttrGet(b.context, 3, turned));
  return product;
}

static void destroyWithCopies(MlirOperation product, const int axes[2]) {
  MlirOperation copies[2] = {tileDefiningOp(linalgGenericOpGetInputs(product, 0)),
                             tileDefiningOp(linalgGenericOpGetInputs(product, 1))};
  mlirOperationDestroy(product);
  for (int i = 0; i < 2; ++i)
    if (axes[i] >= 0) {
      MlirOperation empty = tileDefiningOp(linalgGenericOpGetOutputs(copies[i], 0));
      mlirOperationDestroy(copies[i]);
      mlirOperationDestroy(empty);
    }
}

//===--- the pass -----------------------------------------------------------------===//

static int turn(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  TileTiling tiling;
  if (!hasNarrowInput(op) || !mlirAttributeIsNull(tileOpGetTileSchedule(op)) || !readProduct(op, target, &s, &tiling) ||
      s.numInputs != 2 || s.numOutputs != 1)
    return 0;
  TileOperator described = tileStructuredDescribe(&s, &tiling, TileUnknownExtent);
  TileSearchTarget machine = tileStructuredTargetFor(target, &described);
  int axes[2] = {axisToTurn(&s, 0, tiling.product.k), axisToTurn(&s, 1, tiling.product.k)};
  if (!(machine.hasGroupAtom || machine.hasTensorAtom) || (axes[0] < 0 && axes[1] < 0))
    return 0;
  double copies = 0;
  for (int i = 0; i < 2; ++i)
    copies += axes[i] >= 0 ? secondsOfCopy(target, mlirValueGetType(s.operands[i].value)) : 0;
  MlirOperation product = buildProduct(op, axes);
  if (!tileSearchGains(&machine, secondsOf(product, target) + copies,
                       secondsUnturned(op, target, &machine, &described))) {
    destroyWithCopies(product, axes);
    return 0;
  }
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(product));
  mlirOperationDestroy(op);
  return (axes[0] >= 0) + (axes[1] >= 0);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileTarget target;
  if (!tileTargetOfPass(function, pass, &target))
    return false;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; target.search.isGpu && i < generics.count; ++i)
    if (linalgGenericOpIsA(generics.items[i]))
      mlirExtPassAddStatistic(pass, 0, (uint64_t)turn(generics.items[i], &target));
  tileOpsFree(&generics);
  tileTargetFree(&target);
  return true;
}

const MlirExtPassDefinition tileTurnFactorsPass = {
    .argument = "tile-turn-factors",
    .summary = "Lay narrow factors out along k where a product of warpgroups then takes them",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"linalg", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
