// Products of the micro-tiles of a dense matrix that a mask names, on CPUs, by the kernel spmm_named: the micro-tiles
// and the rows of the dense factor are gathered while they are packed, and multiplied as a dense product's panels. Or
// the dense product, where the mask names most micro-tiles: what a program decides by the count of its mask. After PIT
// (SOSP 2023). A mask with an element for each of the matrix is combined to micro-tiles first, in one pass over it, or
// covered by micro-tiles and single elements (covered_mask.c).
#include "lib/conversion/sparse_to_tile/named_tiles.h"
#include "dialects/tile/ops.h"
#include "lib/analysis/sparsity/masked_values.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/support/integer.h"

enum {
  MostLines = 128,   // packed tiles of more lines leave the first cache
  Steps = 4,         // columns of a tile at a time
  StripBytes = 4096, // of a row of the result: a program packs its tiles once for them
  RowsOfChunk = 256, // at most
  LeastRows = 64,
  MaskAtOnce = 256 // elements of a row of a mask
};

bool sparseMultipliesNamed(const SparseLowering *lowering, const SparseMicroTiles *tiles, MlirType element,
                           MlirType result) {
  return sparseGathersForLines(lowering, tiles->lines, MostLines, result) && sparseBits(element) >= 8 &&
         sparseBits(mlirShapedTypeGetElementType(result)) >= 32;
}

//===--- what is multiplied -------------------------------------------------===//

static MlirValue withoutCast(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  return tensorCastOpIsA(op) ? tensorCastOpGetSource(op) : value;
}

// A select by the mask itself is not computed: what it selects from is read.
static void lookThrough(const SparseMatrix *matrix, const int64_t tile[2], SparseNamed *named) {
  SparseMaskedValues masked;
  if (!sparseMatchMaskedValues(withoutCast(matrix->parts[1]), &masked) ||
      !mlirValueEqual(masked.mask, withoutCast(matrix->parts[0])) || masked.tile[0] != tile[0] ||
      masked.tile[1] != tile[1])
    return;
  named->select = masked.select;
  named->values = masked.values;
}

// Lines of the mask that lie in one micro-tile become one: `counts` as of sparseCoverMask. False after a diagnostic.
static bool combineLines(SparseLowering *lowering, SparseNamed *named, MlirValue counts[2]) {
  TileBuilder *b = &lowering->builder;
  MlirValue mask = named->mask;
  const int64_t open = mlirShapedTypeGetDynamicSize(),
                shape[] = {open, mlirShapedTypeGetDimSize(mlirValueGetType(mask), 1)};
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirType combined = mlirRankedTensorTypeGet(2, shape, sparseElement(mask), mlirAttributeGetNull());
  const MlirValue sizes[] = {named->lines, tileBuildSize(b, mask, 1)};
  const TileCombineMask combines = {
      .P = i32, .LINES = named->tiles->lines / named->hiddenTile[0], .COLUMNS = MaskAtOnce};
  counts[0] = sparseEmpty(lowering, combined, 1 + mlirShapedTypeIsDynamicSize(shape[1]), sizes);
  counts[1] = sparseEmpty(lowering, sparseVectorOf(i32), 1, &named->lines);
  return sparseLaunchAll(lowering, tileUseCombineMask(combines), 1, &named->lines, 1, &mask, 2, counts);
}

// The mask as one of micro-tiles. False after a diagnostic.
static bool combineMask(SparseLowering *lowering, SparseNamed *named) {
  TileBuilder *b = &lowering->builder;
  MlirValue mask = named->mask, ends = tileBuildAdd(b, named->lines, tileBuildIndex(b, 1)), counts[2];
  if (!(sparseCoversMask(named) ? sparseCoverMask : combineLines)(lowering, named, counts))
    return false;
  named->mask = counts[0];
  if (mlirOperationIsNull(named->select))
    return true;
  named->hidden = mask;
  MlirValue sums =
      sparseSumUp(lowering, counts[1], sparseEmpty(lowering, sparseVectorOf(sparseElement(counts[1])), 1, &ends));
  if (mlirValueIsNull(sums))
    return false;
  named->hasSome = arithCmpIOpBuild(b, sparseTotal(lowering, sums, named->lines), tileBuildIndex(b, 0), ArithCmpI_Ne);
  return true;
}

//===--- the kernel ---------------------------------------------------------===//

// Whether elements of some lines of the matrix stay, at some columns.
static MlirValue buildStays(TileBuilder *b, const SparseNamed *named, MlirType result, MlirValue mask, MlirValue line,
                            MlirValue columns) {
  MlirValue none = {NULL};
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  const int64_t shape[] = {mlirShapedTypeGetDimSize(result, 0), mlirShapedTypeGetDimSize(result, 1)};
  const TileViewSpec spec = {.rank = 2, .shape = shape, .element = mlirIntegerTypeGet(b->context, 1)};
  MlirType bits = mlirRankedTensorTypeGet(2, shape, spec.element, mlirAttributeGetNull());
  MlirValue view =
      tileViewOpBuild(b, tileViewTypeGet(b->context, &spec), mask, 0, NULL, mlirDenseI64ArrayGet(b->context, 0, NULL));
  MlirType numbers = mlirValueGetType(columns);
  MlirValue indices[] = {line, columns};
  if (named->hiddenTile[1] > 1) // a place that is none stays below zero
    indices[1] = arithFloorDivSIOpBuild(b, columns, tileBuildInteger(b, numbers, named->hiddenTile[1]));
  if (named->hiddenTile[0] > 1) {
    MlirType rows = mlirRankedTensorTypeGet(1, shape, mlirIndexTypeGet(b->context), mlirAttributeGetNull());
    MlirValue first = tileBuildMul(b, line, tileBuildIndex(b, shape[0]));
    MlirValue row = tileIotaOpBuild(b, rows, first, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 0));
    indices[0] = arithDivUIOpBuild(b, row, tileBuildInteger(b, rows, named->hiddenTile[0]));
  }
  return tileGatherOpBuild(b, bits, view, 2, indices, none, none, drop);
}

MlirValue sparseBuildNamedColumns(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  const SparseNamed *named = data;
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  const MlirValue indices[] = {operands[2], operands[3]}, none = {NULL};
  MlirValue values = tileGatherOpBuild(b, result, operands[1], 2, indices, none, none, drop);
  if (mlirValueIsNull(named->hidden))
    return values;
  MlirValue stays = buildStays(b, named, result, operands[0], operands[2], operands[3]);
  MlirValue zero = mlirTypeIsAFloat(mlirShapedTypeGetElementType(result)) ? tileBuildFloat(b, result, 0)
                                                                          : tileBuildInteger(b, result, 0);
  return arithSelectOpBuild(b, stays, values, zero);
}

// The column of one of a group's list, numbered over all groups; of the last of the group beyond its end.
static MlirValue buildPlace(TileBuilder *b, MlirType index, const MlirValue *operands, const void *data) {
  MlirValue together = tileBuildIndex(b, *(const int64_t *)data), one = tileBuildIndex(b, 1);
  MlirValue at = tileBuildMin(b, operands[1], tileBuildSub(b, operands[2], one));
  at = tileBuildMax(b, at, tileBuildIndex(b, 0));
  MlirValue unit = arithDivUIOpBuild(b, at, together);
  MlirValue tile = arithIndexCastOpBuild(b, index, memrefLoadOpBuild(b, operands[0], 1, &unit));
  return tileBuildMul(b, tile, together);
}

static MlirValue multiplyListed(SparseLowering *lowering, const SparseNamed *named, const MlirValue listed[2],
                                MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  const TileSearchTarget *machine = &lowering->target->search;
  int64_t height = named->tiles->lines, width = named->tiles->by;
  MlirType result = mlirValueGetType(init), sum = mlirShapedTypeGetElementType(result);
  MlirType element = sparseElement(named->values);
  MlirValue mask = mlirValueIsNull(named->hidden) ? named->mask : named->hidden;
  SparseRegisters registers = sparseRegistersOf(machine);
  int64_t lanes = 8 * machine->vectorBytes / sparseBits(sum), lines = sparseLargestDivisor(height, registers.lines);
  int64_t columns = lanes * sparsePowerBelow(registers.sums / lines);
  int64_t chunk = sparsePowerBelow(machine->levels[0].bytes / 2 / ((columns + height) * sparseBits(sum) / 8));
  chunk = chunk > RowsOfChunk ? RowsOfChunk : chunk < LeastRows ? LeastRows : chunk;
  const int64_t shape[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MlirAttribute none = mlirAttributeGetNull();
  int64_t strips = 8 * StripBytes / (columns * sparseBits(sum));
  const TileSpmmNamed product = {
      .E = element,
      .A = sum,
      .P = sparseElement(listed[0]),
      .I = sparseElement(listed[1]),
      .M = mlirMemRefTypeGet(sparseElement(mask), 2, shape, none, none),
      .WIDEN = sparseWidenOp(element, sum),
      .ADD = sparseSemiring(lowering->op, sum).add,
      .CHUNK = chunk,
      .ROWS = height,
      .STEP = Steps,
      .WIDE = lanes,
      .LINES = lines,
      .COLUMNS = columns,
      .PARTS = height / lines,
      .STRIPS = strips,
      .TOGETHER = width,
      .VECTORS = columns / lanes,
      .fetch = {sparseBuildNamedColumns, named},
      .place = {buildPlace, &width},
  };
  const MlirValue inputs[] = {listed[0], listed[1], mask, named->values, dense};
  const MlirValue grid[] = {named->lines,
                            tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, columns * strips))};
  return sparseLaunch(lowering, tileUseSpmmNamed(product), 2, grid, 5, inputs, init);
}

// Elements that a mask hides in a micro-tile are looked for only if there are any.
static MlirValue multiplyGathered(SparseLowering *lowering, const SparseNamed *named, MlirValue positions,
                                  MlirValue dense, MlirValue init) {
  const MlirValue listed[] = {positions, sparseListNamed(lowering, named->mask, positions, named->lines)};
  SparseNamed whole = *named;
  whole.hidden = (MlirValue){NULL};
  if (mlirValueIsNull(listed[1]))
    return listed[1];
  if (mlirValueIsNull(named->hidden))
    return multiplyListed(lowering, named, listed, dense, init);
  SparseBranch branch = sparseBranchBegin(lowering, named->hasSome);
  sparseBranchElse(lowering, &branch, multiplyListed(lowering, named, listed, dense, init));
  return sparseBranchEnd(lowering, &branch, multiplyListed(lowering, &whole, listed, dense, init));
}

//===--- or densely ---------------------------------------------------------===//

// 0 · x is not 0: x is an infinity or a nan.
static MlirValue buildSpecial(TileBuilder *b, MlirType result, const MlirValue *operands, const void *unused) {
  MlirValue x = operands[0], zero = operands[1];
  return arithCmpFOpBuild(b, arithMulFOpBuild(b, x, zero), zero, ArithCmpF_Une);
}

MlirValue sparseAreFinite(SparseLowering *lowering, MlirValue matrix) {
  TileBuilder *b = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  MlirValue rows = tileBuildSize(b, matrix, 0), ends = tileBuildAdd(b, rows, tileBuildIndex(b, 1));
  const TileCountRows counts = {.E = sparseElement(matrix),
                                .P = i32,
                                .COLUMNS = lowering->target->search.model.sparseRow,
                                .differs = {buildSpecial, NULL}};
  MlirValue count = sparseLaunch(lowering, tileUseCountRows(counts), 1, &rows, 1, &matrix,
                                 sparseEmpty(lowering, sparseVectorOf(i32), 1, &rows));
  if (mlirValueIsNull(count))
    return count;
  MlirValue sums = sparseSumUp(lowering, count, sparseEmpty(lowering, sparseVectorOf(i32), 1, &ends));
  if (mlirValueIsNull(sums))
    return sums;
  return arithCmpIOpBuild(b, sparseTotal(lowering, sums, rows), tileBuildIndex(b, 0), ArithCmpI_Eq);
}

// More than so many percent of the micro-tiles are named.
static MlirValue areMoreThan(SparseLowering *lowering, const SparseNamed *named, MlirValue positions, int64_t percent) {
  TileBuilder *b = &lowering->builder;
  MlirValue tiles = tileBuildMul(b, named->lines, tileBuildSize(b, named->mask, 1));
  MlirValue count = tileBuildMul(b, sparseTotal(lowering, positions, named->lines), tileBuildIndex(b, 100));
  return arithCmpIOpBuild(b, count, tileBuildMul(b, tiles, tileBuildIndex(b, percent)), ArithCmpI_Sgt);
}

// All elements stay: the values are the matrix.
static MlirValue doAllStay(SparseLowering *lowering, const SparseNamed *named, MlirValue positions) {
  TileBuilder *b = &lowering->builder;
  MlirValue tiles = tileBuildMul(b, named->lines, tileBuildSize(b, named->mask, 1));
  MlirValue all = arithCmpIOpBuild(b, sparseTotal(lowering, positions, named->lines), tiles, ArithCmpI_Eq);
  if (mlirValueIsNull(named->hidden))
    return all;
  MlirValue yes = tileBuildInteger(b, mlirValueGetType(all), 1);
  return arithAndIOpBuild(b, all, arithXOrIOpBuild(b, named->hasSome, yes));
}

// So many micro-tiles are named that the dense product is faster; and the terms that the mask leaves out are zeros,
// which they are unless the other factor has an infinity or a nan.
static MlirValue areMostAndFinite(SparseLowering *lowering, const SparseNamed *named, MlirValue positions,
                                  MlirValue dense) {
  MlirValue areMost = areMoreThan(lowering, named, positions, named->tiles->denseAbove);
  if (!mlirTypeIsAFloat(sparseElement(dense)))
    return areMost;
  SparseBranch branch = sparseBranchBegin(lowering, areMost);
  sparseBranchElse(lowering, &branch, sparseAreFinite(lowering, dense));
  return sparseBranchEnd(lowering, &branch, tileBuildInteger(&lowering->builder, mlirValueGetType(areMost), 0));
}

static MlirValue multiplyDensely(SparseLowering *lowering, MlirValue values, MlirValue dense, MlirValue init) {
  MlirValue result;
  const TileMultiplyDensely product = {
      .L = mlirValueGetType(values), .R = mlirValueGetType(dense), .C = mlirValueGetType(init)};
  TileTemplateUse use = tileUseMultiplyDensely(product);
  return tileTemplateInline(&lowering->builder, &use, (MlirValue[]){values, dense, init}, &result) ? result
                                                                                                   : (MlirValue){NULL};
}

// The select as the program has it: kernels of dense products compute it as they pack, where tiles are single elements.
static bool maySelectDensely(const SparseNamed *named) {
  return !mlirOperationIsNull(named->select) && named->hiddenTile[0] == 1 && named->hiddenTile[1] == 1;
}

static MlirValue multiplySelected(SparseLowering *lowering, const SparseNamed *named, MlirValue dense, MlirValue init) {
  MlirOperation select = tileBuilderInsert(&lowering->builder, mlirOperationClone(named->select));
  return multiplyDensely(lowering, tileOnlyResult(select), dense, init);
}

//===--- by a cover ---------------------------------------------------------===//

static MlirValue isMore(SparseLowering *lowering, MlirValue a, MlirValue b) {
  return arithCmpIOpBuild(&lowering->builder, a, b, ArithCmpI_Sgt);
}

// The cover's micro-tiles, then its single elements, where there are any.
static MlirValue multiplyParts(SparseLowering *lowering, const SparseNamed *named, MlirValue covered, MlirValue dense,
                               MlirValue init) {
  SparseNamed tiles = *named;
  MlirValue none = tileBuildIndex(&lowering->builder, 0);
  tiles.mask = named->cover.tiles;
  tiles.hasSome = named->cover.hasSome;
  SparseBranch branch =
      sparseBranchBegin(lowering, isMore(lowering, sparseTotal(lowering, covered, named->lines), none));
  sparseBranchElse(lowering, &branch, multiplyGathered(lowering, &tiles, covered, dense, init));
  MlirValue sum = sparseBranchEnd(lowering, &branch, init);
  if (mlirValueIsNull(sum))
    return sum;
  branch = sparseBranchBegin(lowering, isMore(lowering, named->cover.numElements, none));
  sparseBranchElse(lowering, &branch, sparseMultiplySingly(lowering, named, dense, sum));
  return sparseBranchEnd(lowering, &branch, sum);
}

// What is cheapest: all micro-tiles, the cover, or the dense product.
static MlirValue multiplyCheaply(SparseLowering *lowering, const SparseNamed *named, MlirValue positions,
                                 MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirValue covered = sparseCountNamed(lowering, named->cover.tiles, named->lines), prices[2];
  if (mlirValueIsNull(covered))
    return covered;
  sparsePriceOfCovers(lowering, named, positions, covered, prices);
  MlirValue isCovered = isMore(lowering, prices[0], prices[1]);
  SparseBranch outer = {.condition = {NULL}};
  bool mayBeDense = maySelectDensely(named);
  if (mayBeDense) {
    MlirValue tiles = tileBuildMul(b, named->lines, tileBuildSize(b, named->mask, 1));
    MlirValue most = tileBuildMul(b, tiles, tileBuildIndex(b, named->tiles->denseAbove * named->tiles->lines));
    MlirValue isDense = isMore(lowering, tileBuildMin(b, prices[0], prices[1]), most);
    outer = sparseBranchBegin(lowering, isDense);
    sparseBranchElse(lowering, &outer, multiplySelected(lowering, named, dense, init));
  }
  SparseBranch branch = sparseBranchBegin(lowering, isCovered);
  sparseBranchElse(lowering, &branch, multiplyParts(lowering, named, covered, dense, init));
  MlirValue product = sparseBranchEnd(lowering, &branch, multiplyGathered(lowering, named, positions, dense, init));
  return mayBeDense ? sparseBranchEnd(lowering, &outer, product) : product;
}

static MlirValue multiplyShown(SparseLowering *lowering, const SparseNamed *named, MlirValue positions, MlirValue dense,
                               MlirValue init) {
  if (!mlirValueIsNull(named->cover.tiles))
    return multiplyCheaply(lowering, named, positions, dense, init);
  if (!maySelectDensely(named))
    return multiplyGathered(lowering, named, positions, dense, init);
  SparseBranch branch = sparseBranchBegin(lowering, areMoreThan(lowering, named, positions, named->tiles->denseAbove));
  sparseBranchElse(lowering, &branch, multiplySelected(lowering, named, dense, init));
  return sparseBranchEnd(lowering, &branch, multiplyGathered(lowering, named, positions, dense, init));
}

SparseNamed sparseNamedOf(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  const int64_t tile[] = {sparseEncodingGetSize(encoding, "tile", 0), sparseEncodingGetSize(encoding, "tile", 1)};
  SparseNamed named = {.tiles = tiles,
                       .mask = matrix->parts[0],
                       .values = matrix->parts[1],
                       .lines = sparseCountCells(lowering, matrix->sizes, 0, tiles->lines),
                       .hiddenTile = {tile[0], tile[1]}};
  lookThrough(matrix, tile, &named);
  return named;
}

MlirValue sparseMultiplyNamed(SparseLowering *lowering, const SparseMatrix *matrix, const SparseMicroTiles *tiles,
                              MlirValue dense, MlirValue init) {
  SparseNamed named = sparseNamedOf(lowering, matrix, tiles);
  if (tiles->lines != named.hiddenTile[0] && !combineMask(lowering, &named))
    return (MlirValue){NULL};
  MlirValue positions = sparseCountNamed(lowering, named.mask, named.lines);
  if (mlirValueIsNull(positions))
    return positions;
  SparseBranch branch = sparseBranchBegin(lowering, mlirOperationIsNull(named.select)
                                                        ? areMostAndFinite(lowering, &named, positions, dense)
                                                        : doAllStay(lowering, &named, positions));
  sparseBranchElse(lowering, &branch, multiplyDensely(lowering, named.values, dense, init));
  return sparseBranchEnd(lowering, &branch, multiplyShown(lowering, &named, positions, dense, init));
}
