// sparse-find-masks{sparsity=exact}: a product whose left factor a mask tensor makes zero becomes a masked product,
// which gathers the micro-tiles that the mask names, or runs densely, by what it counts when it runs.
//
//   s = select(mask, x, 0);  y = s · w   →   y = sparse.spmm (mask, s), w  {sparse.micro_tiles = …}
//
// Expects: linalg on tensors. Leaves: the select, which the dense product reads; where the product is too small to pay
// for a look at the mask, nothing changes. Numbers: docs/numerics.md §4 (what a mask hides takes no part). Paper: PIT
// (SOSP 2023), whose masks come with the operator; here they are found. Cost: linear in the ops.
#include "dialects/sparse/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/product.h"
#include "lib/analysis/sparsity/masked_values.h"
#include "lib/analysis/structured.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/pass.h"
#include "lib/support/integer.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "upstream/func.h"
#include "upstream/tensor.h"

enum {
  LeastColumns = 64, // of the result: with fewer, reading the mask costs as much as it saves
  Lines = 32,        // of a micro-tile, where the mask has an element for each
  LeastLines = 4,
  LeastLinesOnGpu = 16, // rows of a matrix instruction
  MostLines = 128,      // what the kernel of named tiles packs at once
  DenseAbove = 80,      // percent; measured (docs/sparse.md)
  DenseAboveDots = 40   // where a dot instruction makes the dense product twice as fast
};

//===--- questions ----------------------------------------------------------===//

static bool isAtLeast(MlirType type, intptr_t axis, int64_t least) {
  int64_t size = mlirShapedTypeGetDimSize(type, axis);
  return mlirShapedTypeIsDynamicSize(size) || size >= least;
}

// Numbers of 32 bits or more; on CPUs halves too, which are widened as they are packed. A GPU's kernel gathers halves
// one by one: with 80 % hidden, 768³ in f16 takes 2.6 times the dense product's instructions on sm_80.
static bool areSummed(MlirType factor, MlirType sum, bool isGpu) {
  unsigned width = mlirTypeIsAFloat(sum) ? mlirFloatTypeGetWidth(sum) : mlirIntegerTypeGetWidth(sum);
  if (mlirTypeIsAFloat(factor) && mlirFloatTypeGetWidth(factor) == 16)
    return !isGpu && mlirTypeIsAF32(sum);
  return width >= 32 && mlirTypeEqual(factor, sum);
}

static bool hasDotFor(const TileTarget *target, MlirType factor, MlirType sum) {
  bool hasDot = false;
  for (int i = 0; i < TileNumDots; ++i)
    hasDot |= target->hasDot[i] && tileDotTakes(&tileDots[i], factor, sum);
  return hasDot;
}

// The micro-tiles for a mask of such tiles. False: none are packed by the kernel.
static bool chooseMicroTiles(const int64_t tile[2], const TileTarget *target, bool hasDot, SparseMicroTiles *tiles) {
  const TileSearchTarget *machine = &target->search;
  bool isGpu = machine->isGpu, areSingle = tile[0] == 1 && tile[1] == 1;
  int64_t least = isGpu ? LeastLinesOnGpu : LeastLines;
  *tiles = (SparseMicroTiles){
      .axis = 1, .by = tile[1], .lines = tile[0], .denseAbove = hasDot ? DenseAboveDots : DenseAbove};
  if (areSingle && !isGpu)
    tiles->entryCost = (int64_t)(100 * machine->model.sparseEntry * (hasDot ? 2 : 1) + .5);
  if ((isGpu && tile[0] < least && Lines % tile[0] == 0) || areSingle)
    tiles->lines = Lines;
  return tiles->lines >= least && tiles->lines <= MostLines && tessera_is_power_of_two(tiles->lines);
}

typedef struct MaskedProduct {
  TileMatrixProduct product;
  SparseMaskedValues masked;
  SparseMicroTiles tiles;
} MaskedProduct;

static bool matchMaskedProduct(MlirOperation op, const TileTarget *target, MaskedProduct *found) {
  if (!tileMatchMatrixProduct(op, &found->product) || found->product.isVector || found->product.transposeLhs)
    return false;
  MlirType result = tileOnlyResultType(op), element = mlirShapedTypeGetElementType(result);
  MlirValue factor = mlirOperationGetOperand(op, found->product.lhs);
  MlirType factorElement = mlirShapedTypeGetElementType(mlirValueGetType(factor));
  bool isGpu = target->search.isGpu, hasDot = !isGpu && hasDotFor(target, factorElement, element);
  return areSummed(factorElement, element, isGpu) && isAtLeast(result, 0, Lines) &&
         isAtLeast(result, 1, LeastColumns) && sparseMatchMaskedValues(factor, &found->masked) &&
         chooseMicroTiles(found->masked.tile, target, hasDot, &found->tiles);
}

//===--- the pass -----------------------------------------------------------===//

static void rewrite(MlirOperation op, const MaskedProduct *found) {
  TileBuilder b = tileBuilderBefore(op);
  const TileMatrixProduct *product = &found->product;
  MlirValue values = mlirOperationGetOperand(op, product->lhs), sizes[2];
  MlirType type = mlirValueGetType(values);
  MlirAttribute encoding = sparseEncodingMake(
      b.context, "mask", (SparseKeyValue[]){{"tile", {found->masked.tile[0], found->masked.tile[1]}}, {NULL}});
  intptr_t open = 0;
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      sizes[open++] = tileBuildSize(&b, values, axis);
  MlirType encoded = sparseTypeWithEncoding(type, encoding);
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  sparseTypeGetComponents(encoded, parts);
  MlirValue mask = found->masked.mask; // its type may know a size that the matrix leaves open
  if (!mlirTypeEqual(mlirValueGetType(mask), parts[0].type))
    mask = tensorCastOpBuild(&b, parts[0].type, mask);
  MlirValue factor = sparseAssembleOpBuild(&b, encoded, 2, (MlirValue[]){mask, values}, open, sizes);
  MlirAttribute none = mlirAttributeGetNull();
  MlirOperation made = sparseSpmmOpCreate(&b, factor, mlirOperationGetOperand(op, product->rhs),
                                          mlirOperationGetOperand(op, product->init), none, none,
                                          product->transposeRhs ? mlirUnitAttrGet(b.context) : none);
  mlirOperationSetDiscardableAttributeByName(made, tileString(sparseMicroTilesName),
                                             sparseMicroTilesMake(b.context, found->tiles));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), tileOnlyResult(made));
  mlirOperationDestroy(op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MaskedProduct found;
  TileTarget target;
  if (tileStringEquals(mlirExtPassGetString(pass, "sparsity"), "off"))
    return true;
  if (!tileTargetOfPass(function, pass, &target))
    return false;
  TileOps ops = tileCollect(function, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    if (!matchMaskedProduct(ops.items[i], &target, &found))
      continue;
    rewrite(ops.items[i], &found);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  tileOpsFree(&ops);
  tileTargetFree(&target);
  return true;
}

static void registerDialects(MlirDialectRegistry registry) {
  tileRegisterDialect(registry);
  sparseRegisterDialect(registry);
}

const MlirExtPassDefinition sparseFindMasksPass = {
    .argument = "sparse-find-masks",
    .summary = "Gather what a run-time mask names in products, instead of multiplying zeros",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"sparsity", "off: no mask is looked for", MlirExtOption_String, "exact"},
                                           {NULL}},
    .statistics = (const char *const[]){"products: products that a mask decides", NULL},
    .dialects = (const char *const[]){"arith", "tensor", "linalg", NULL},
    .registerDialects = registerDialects,
    .run = run,
};
