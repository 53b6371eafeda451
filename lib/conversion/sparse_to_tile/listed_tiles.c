// Products of the micro-tiles that a mask names, on GPUs: a launch lists them for each group of lines, another gathers
// them and the rows of the dense factor as it loads tiles (kernels list_columns and spmm_listed). The host waits for no
// count. A group that shows everything is multiplied as a dense matrix. After PIT (SOSP 2023), whose lists have no
// order; ours ascend, so that sums repeat bit by bit.
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/conversion/sparse_to_tile/named_tiles.h"
#include "lib/support/integer.h"

enum {
  LeastLines = 16, // rows of a matrix instruction
  MostLines = 128,
  MostDepth = 64,
  TileBytes = 32768, // of both factors
  LeastColumns = 16,
  MostColumns = 128,
  LeastThreads = 128,
  MostThreads = 512,
  SumsOfThread = 32,
  MaskAtOnce = 4096, // elements of a mask that a program looks at together
  LeastAtOnce = 32,  // columns of them
  MostAtOnce = 256
};

bool sparseMultipliesListed(const SparseLowering *lowering, const SparseMicroTiles *tiles, const int64_t tile[2],
                            MlirType element, MlirType result) {
  SparseSemiring semiring = sparseSemiring(lowering->op, mlirShapedTypeGetElementType(result));
  return lowering->target->search.isGpu && semiring.isSum && !semiring.isMean && tiles->axis == 1 &&
         tiles->by == tile[1] && tiles->lines % tile[0] == 0 && tiles->lines >= LeastLines &&
         tiles->lines <= MostLines && tessera_is_power_of_two(tiles->lines) &&
         tessera_is_power_of_two(tiles->lines / tile[0]) && sparseBits(element) >= 8;
}

//===--- the list -----------------------------------------------------------===//

// Columns of the mask after which a list is read in fixed numbers.
static MlirValue listColumns(SparseLowering *lowering, const SparseNamed *named) {
  TileBuilder *b = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  const int64_t open = mlirShapedTypeGetDynamicSize(), shape[] = {open, open};
  int64_t lines = named->tiles->lines / named->hiddenTile[0];
  const TileListColumns lists = {.LINES = lines,
                                 .COLUMNS = tessera_min(tessera_max(MaskAtOnce / lines, LeastAtOnce), MostAtOnce),
                                 .AFTER = MostDepth};
  MlirValue columns = tileBuildAdd(b, tileBuildSize(b, named->mask, 1), tileBuildIndex(b, 1 + MostDepth));
  const MlirValue sizes[] = {named->lines, columns};
  MlirValue list = sparseEmpty(lowering, mlirRankedTensorTypeGet(2, shape, i32, mlirAttributeGetNull()), 2, sizes);
  return sparseLaunch(lowering, tileUseListColumns(lists), 1, &named->lines, 1, &named->mask, list);
}

//===--- the product --------------------------------------------------------===//

static MlirValue buildHidesSome(TileBuilder *b, MlirType bit, const MlirValue *operands, const void *data) {
  const SparseNamed *named = data;
  if (mlirValueIsNull(named->hidden))
    return tileBuildInteger(b, bit, 0);
  MlirType type = mlirValueGetType(operands[0]);
  MlirValue low = arithAndIOpBuild(b, operands[0], tileBuildInteger(b, type, 1));
  return arithCmpIOpBuild(b, low, tileBuildInteger(b, type, 0), ArithCmpI_Ne);
}

// Elements of the mask that are not those of the matrix are looked at by gathers only.
static bool hidesByElement(const SparseNamed *named) {
  return !mlirValueIsNull(named->hidden) && named->hiddenTile[0] == 1 && named->hiddenTile[1] == 1;
}

// All columns are listed and nothing else is hidden; or so many are, and a select hides elements as linalg says.
static MlirValue buildIsDense(TileBuilder *b, MlirType bit, const MlirValue *operands, const void *data) {
  const SparseNamed *named = data;
  MlirValue columns = operands[0], all = operands[1], hidesSome = operands[2];
  MlirValue areAll = arithCmpIOpBuild(b, columns, all, ArithCmpI_Sge);
  MlirValue listed = tileBuildMul(b, columns, tileBuildIndex(b, 100));
  MlirValue most = tileBuildMul(b, all, tileBuildIndex(b, named->tiles->denseAbove));
  MlirValue areMost = arithCmpIOpBuild(b, listed, most, ArithCmpI_Sgt), no = tileBuildInteger(b, bit, 0);
  return arithSelectOpBuild(b, hidesSome, hidesByElement(named) ? areMost : no, areAll);
}

// Built in both branches of an if, by whether the mask hides some of the elements.
static MlirValue buildEither(TileBuilder *b, MlirType result, const MlirValue *operands, const SparseNamed *named,
                             MlirValue (*build)(TileBuilder *, MlirType, const MlirValue *, const void *)) {
  SparseNamed whole = *named;
  MlirRegion regions[2];
  whole.hidden = (MlirValue){NULL};
  if (mlirValueIsNull(named->hidden))
    return build(b, result, operands, named);
  for (int i = 0; i < 2; ++i) {
    TileBuilder inside = tileBuilderInRegion(b, &regions[i], 0, NULL);
    MlirValue columns = build(&inside, result, operands, i ? &whole : named);
    tileBuildYield(&inside, 1, &columns);
  }
  return tileOnlyResult(scfIfOpCreate(b, 1, &result, operands[4], regions[0], regions[1]));
}

// All lines of the group lie in one tile of the view.
static MlirValue buildFetch(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  return buildEither(b, result, operands, data, sparseBuildNamedColumns);
}

static MlirValue buildShown(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseNamed *named = data;
  MlirValue values = tileLoadOpBuild(b, result, operands[1], 2, &operands[2]);
  if (!hidesByElement(named))
    return values;
  const int64_t shape[] = {mlirShapedTypeGetDimSize(result, 0), mlirShapedTypeGetDimSize(result, 1)};
  const TileViewSpec spec = {.rank = 2, .shape = shape, .element = mlirIntegerTypeGet(b->context, 1)};
  MlirType bits = mlirRankedTensorTypeGet(2, shape, spec.element, mlirAttributeGetNull());
  MlirValue view = tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), operands[0], 0, NULL,
                                   mlirDenseI64ArrayGet(b->context, 0, NULL));
  MlirValue stays = tileLoadOpBuild(b, bits, view, 2, &operands[2]);
  MlirValue zero = mlirTypeIsAFloat(mlirShapedTypeGetElementType(result)) ? tileBuildFloat(b, result, 0)
                                                                          : tileBuildInteger(b, result, 0);
  return arithSelectOpBuild(b, stays, values, zero);
}

static MlirValue buildLoad(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  return buildEither(b, result, operands, data, buildShown);
}

MlirValue sparseMultiplyListed(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles,
                               MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  SparseNamed named = sparseNamedOf(lowering, matrix, tiles);
  if (!mlirOperationIsNull(named.select) && tiles->lines != named.hiddenTile[0])
    named.hidden = named.mask;
  MlirValue list = listColumns(lowering, &named);
  if (mlirValueIsNull(list))
    return list;
  MlirType element = sparseElement(named.values), result = sparseElement(init), sum = sparseSumOf(element, result);
  MlirType factor = sparseFactorOf(element, sum);
  int64_t known = mlirShapedTypeGetDimSize(mlirValueGetType(init), 1);
  int64_t columns = mlirShapedTypeIsDynamicSize(known) ? MostColumns : tessera_bucket(known);
  columns = tessera_min(tessera_max(columns, LeastColumns), MostColumns);
  int64_t threads = tessera_min(tessera_max(tiles->lines * columns / SumsOfThread, LeastThreads), MostThreads);
  int64_t depth = sparsePowerBelow(TileBytes / ((tiles->lines + columns) * tessera_max(sparseBits(factor) / 8, 1)));
  const int64_t open = mlirShapedTypeGetDynamicSize(), shape[] = {open, open};
  MlirAttribute none = mlirAttributeGetNull();
  const TileSpmmListed product = {
      .E = element,
      .A = result,
      .F = factor,
      .S = sum,
      .M = mlirMemRefTypeGet(sparseElement(named.mask), 2, shape, none, none),
      .WIDEN = sparseCastOp(element, factor),
      .BEGIN = sparseCastOp(result, sum),
      .END = sparseCastOp(sum, result),
      .LINES = tiles->lines,
      .COLUMNS = columns,
      .DEPTH = tessera_min(depth, MostDepth),
      .TOGETHER = tiles->by,
      .WARPS = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 32), threads / lowering->target->search.lanes),
      .hidesSome = {buildHidesSome, &named},
      .isDense = {buildIsDense, &named},
      .load = {buildLoad, &named},
      .fetch = {buildFetch, &named},
  };
  const MlirValue inputs[] = {list, named.mask, named.values, dense};
  const MlirValue grid[] = {named.lines, tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, columns))};
  return sparseLaunch(lowering, tileUseSpmmListed(product), 2, grid, 4, inputs, init);
}
