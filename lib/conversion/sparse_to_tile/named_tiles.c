// Products of the named tiles of a dense matrix on CPUs, by the kernel spmm_named: the tiles and the rows of the dense
// factor are gathered while they are packed, and multiplied as a dense product's panels. Or the dense product, where
// the mask names most tiles: what a program decides by the count of its mask. After PIT (SOSP 2023).
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/support/integer.h"

enum {
  LeastLines = 4,    // the fewest lines that make gathering pay
  MostLines = 128,   // packed tiles of more lines leave the first cache
  Steps = 4,         // columns of a tile at a time
  StripBytes = 4096, // of a row of the result: a program packs its tiles once for them
  RowsOfChunk = 256, // at most
  LeastRows = 64,
  DensePercent = 80 // of the tiles are named: the dense product takes as long (4096² by 256 columns, Zen 5)
};

bool sparseMultipliesNamed(const SparseLowering *lowering, int64_t height, MlirType element, MlirType result) {
  const TileSearchTarget *machine = &lowering->target->search;
  MlirType sum = mlirShapedTypeGetElementType(result);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  int64_t columns = mlirShapedTypeGetDimSize(result, 1);
  return !machine->isGpu && semiring.isSum && !semiring.isMean && sparseBits(sum) >= 32 && sparseBits(element) >= 8 &&
         height >= LeastLines && height <= MostLines && tessera_is_power_of_two(height) &&
         (mlirShapedTypeIsDynamicSize(columns) || columns * sparseBits(sum) >= 8 * machine->vectorBytes);
}

// Columns of some lines of the matrix, tile by tile of lines.
static MlirValue buildFetch(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  MlirAttribute drop = mlirStringAttrGet(b->context, tileString("drop"));
  const MlirValue indices[] = {operands[2], operands[3]}, none = {NULL};
  return tileGatherOpBuild(b, result, operands[1], 2, indices, none, none, drop);
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

MlirValue sparseMultiplyNamed(SparseLowering *lowering, const SparseMatrix *matrix, const MlirValue listed[2],
                              MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  const TileSearchTarget *machine = &lowering->target->search;
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  int64_t height = sparseEncodingGetSize(encoding, "tile", 0), width = sparseEncodingGetSize(encoding, "tile", 1);
  MlirType result = mlirValueGetType(init), sum = mlirShapedTypeGetElementType(result);
  MlirType element = sparseElement(matrix->parts[1]);
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
      .M = mlirMemRefTypeGet(sparseElement(matrix->parts[0]), 2, shape, none, none),
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
      .fetch = {buildFetch, NULL},
      .place = {buildPlace, &width},
  };
  const MlirValue inputs[] = {listed[0], listed[1], matrix->parts[0], matrix->parts[1], dense};
  const MlirValue grid[] = {sparseCountCells(lowering, matrix->sizes, 0, height),
                            tileBuildCeilDiv(b, tileBuildSize(b, init, 1), tileBuildIndex(b, columns * strips))};
  return sparseLaunch(lowering, tileUseSpmmNamed(product), 2, grid, 5, inputs, init);
}

//===--- or densely ---------------------------------------------------------===//

// 0 · x is neither 0 nor 1 times what it was: x is an infinity or a nan.
static MlirValue buildSpecial(TileBuilder *b, MlirType result, const MlirValue *operands, const void *unused) {
  MlirValue x = operands[0], zero = operands[1];
  return arithCmpFOpBuild(b, arithMulFOpBuild(b, x, zero), zero, ArithCmpF_Une);
}

// Whether all numbers of a matrix are finite. Null after a diagnostic.
static MlirValue areFinite(SparseLowering *lowering, MlirValue matrix) {
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
  return mlirValueIsNull(sums)
             ? sums
             : arithCmpIOpBuild(b, sparseTotal(lowering, sums, rows), tileBuildIndex(b, 0), ArithCmpI_Eq);
}

// Whether so many tiles are named that the dense product is faster, and gives the same: the terms that the mask leaves
// out are zeros unless the other factor has an infinity or a nan.
static MlirValue isDense(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue positions, MlirValue lines,
                         MlirValue dense) {
  TileBuilder *b = &lowering->builder;
  MlirValue tiles = tileBuildMul(b, lines, tileBuildSize(b, matrix->parts[0], 1));
  MlirValue named = tileBuildMul(b, sparseTotal(lowering, positions, lines), tileBuildIndex(b, 100));
  MlirValue isMost = arithCmpIOpBuild(b, named, tileBuildMul(b, tiles, tileBuildIndex(b, DensePercent)), ArithCmpI_Sgt);
  if (!mlirTypeIsAFloat(sparseElement(dense)))
    return isMost;
  TileBuilder outside = *b;
  MlirRegion regions[2];
  MlirType i1 = mlirValueGetType(isMost);
  *b = tileBuilderInRegion(&outside, &regions[0], 0, NULL);
  MlirValue all = areFinite(lowering, dense);
  if (!mlirValueIsNull(all))
    scfYieldOpCreate(b, 1, &all);
  TileBuilder otherwise = tileBuilderInRegion(&outside, &regions[1], 0, NULL);
  MlirValue no = tileBuildInteger(&otherwise, i1, 0);
  scfYieldOpCreate(&otherwise, 1, &no);
  *b = outside;
  if (!mlirValueIsNull(all))
    return tileOnlyResult(scfIfOpCreate(b, 1, &i1, isMost, regions[0], regions[1]));
  mlirRegionDestroy(regions[0]);
  mlirRegionDestroy(regions[1]);
  return all;
}

bool sparseBeginDense(SparseLowering *lowering, const SparseMatrix *matrix, MlirValue positions, MlirValue lines,
                      MlirValue dense, MlirValue init, SparseDense *choice) {
  MlirValue values = matrix->parts[1];
  *choice = (SparseDense){.isMade = mlirTypeEqual(sparseElement(values), sparseElement(init))};
  if (!choice->isMade)
    return true;
  choice->condition = isDense(lowering, matrix, positions, lines, dense);
  if (mlirValueIsNull(choice->condition))
    return false;
  choice->outside = lowering->builder;
  lowering->builder = tileBuilderInRegion(&choice->outside, &choice->regions[0], 0, NULL);
  const TileMultiplyDensely product = {
      .L = mlirValueGetType(values), .R = mlirValueGetType(dense), .C = mlirValueGetType(init)};
  TileTemplateUse use = tileUseMultiplyDensely(product);
  MlirValue result;
  bool ok = tileTemplateInline(&lowering->builder, &use, (MlirValue[]){values, dense, init}, &result);
  if (ok)
    scfYieldOpCreate(&lowering->builder, 1, &result);
  lowering->builder = tileBuilderInRegion(&choice->outside, &choice->regions[1], 0, NULL);
  if (!ok)
    sparseEndDense(lowering, choice, (MlirValue){NULL});
  return ok;
}

MlirValue sparseEndDense(SparseLowering *lowering, SparseDense *choice, MlirValue product) {
  if (!choice->isMade)
    return product;
  bool ok = !mlirValueIsNull(product);
  if (ok)
    scfYieldOpCreate(&lowering->builder, 1, &product);
  lowering->builder = choice->outside;
  MlirType type = ok ? mlirValueGetType(product) : (MlirType){NULL};
  if (ok)
    return tileOnlyResult(
        scfIfOpCreate(&lowering->builder, 1, &type, choice->condition, choice->regions[0], choice->regions[1]));
  for (int i = 0; i < 2; ++i)
    mlirRegionDestroy(choice->regions[i]);
  return product;
}
