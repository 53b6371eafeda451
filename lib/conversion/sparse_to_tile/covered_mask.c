// Covers of a run-time mask, on CPUs: micro-tiles that hold many elements are gathered, and the elements outside of
// them are listed row by row, with their values, and multiplied as csr. A micro-tile is one where its elements singly
// would cost more, by `entry_cost` of #sparse.micro_tiles: the cover of least price. After PIT (SOSP 2023), whose
// covers are of micro-tiles alone. Cost: two looks at the mask, the second from the cache, and for the list a third one
// and the cache lines of the matrix that hold an element.
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/conversion/sparse_to_tile/named_tiles.h"

enum {
  MaskAtOnce = 256, // elements of a row of a mask
  EntriesOfRow = 2  // that a row of the result costs where it is visited once more
};

bool sparseCoversMask(const SparseNamed *named) {
  return named->tiles->entryCost > 0 && named->hiddenTile[0] == 1 && named->hiddenTile[1] == 1;
}

// The sums of these counts, one after the other.
static MlirValue sumUp(SparseLowering *lowering, MlirValue counts, MlirValue number) {
  TileBuilder *b = &lowering->builder;
  MlirValue ends = tileBuildAdd(b, number, tileBuildIndex(b, 1));
  return sparseSumUp(lowering, counts, sparseEmpty(lowering, sparseVectorOf(sparseElement(counts)), 1, &ends));
}

bool sparseCoverMask(SparseLowering *lowering, SparseNamed *named, MlirValue counts[2]) {
  TileBuilder *b = &lowering->builder;
  MlirValue mask = named->mask, rows = tileBuildSize(b, mask, 0);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), bit = sparseElement(mask), vector = sparseVectorOf(i32);
  int64_t open = mlirShapedTypeGetDynamicSize(), shape[] = {open, mlirShapedTypeGetDimSize(mlirValueGetType(mask), 1)};
  MlirType combined = mlirRankedTensorTypeGet(2, shape, bit, mlirAttributeGetNull());
  const MlirValue sizes[] = {named->lines, tileBuildSize(b, mask, 1)};
  intptr_t numSizes = 1 + mlirShapedTypeIsDynamicSize(shape[1]);
  int64_t lines = named->tiles->lines, least = 100 * lines / named->tiles->entryCost;
  const TileCoverMask covers = {
      .P = i32, .LINES = lines, .COLUMNS = MaskAtOnce, .LEAST = least < lines ? least : lines};
  MlirValue made[] = {sparseEmpty(lowering, combined, numSizes, sizes), sparseEmpty(lowering, vector, 1, &named->lines),
                      sparseEmpty(lowering, combined, numSizes, sizes), sparseEmpty(lowering, vector, 1, &named->lines),
                      sparseEmpty(lowering, vector, 1, &rows)};
  if (!sparseLaunchAll(lowering, tileUseCoverMask(covers), 1, &named->lines, 1, &mask, 5, made))
    return false;
  counts[0] = made[0];
  counts[1] = made[1];
  MlirValue inside = sumUp(lowering, made[3], named->lines), positions = sumUp(lowering, made[4], rows);
  if (mlirValueIsNull(inside) || mlirValueIsNull(positions))
    return false;
  named->cover = (SparseCoverOfMask){.elements = mask, .tiles = made[2], .positions = positions};
  named->cover.numElements = sparseTotal(lowering, positions, rows);
  named->cover.hasSome =
      arithCmpIOpBuild(b, sparseTotal(lowering, inside, named->lines), tileBuildIndex(b, 0), ArithCmpI_Ne);
  return true;
}

void sparsePriceOfCovers(SparseLowering *lowering, const SparseNamed *named, MlirValue positions, MlirValue covered,
                         MlirValue prices[2]) {
  TileBuilder *b = &lowering->builder;
  MlirValue tile = tileBuildIndex(b, 100 * named->tiles->lines * named->tiles->by);
  MlirValue rows = tileBuildMul(b, tileBuildSize(b, named->cover.elements, 0), tileBuildIndex(b, EntriesOfRow));
  MlirValue singly = tileBuildAdd(b, named->cover.numElements, rows);
  singly = tileBuildMul(b, singly, tileBuildIndex(b, named->tiles->entryCost));
  prices[0] = tileBuildMul(b, sparseTotal(lowering, positions, named->lines), tile);
  prices[1] = tileBuildAdd(b, singly, tileBuildMul(b, sparseTotal(lowering, covered, named->lines), tile));
}

// Some entries of a matrix of known sizes: kernels are made for about so many.
static int64_t someEntries(MlirValue values) {
  enum { Share = 16 };
  int64_t rows = mlirShapedTypeGetDimSize(mlirValueGetType(values), 0);
  int64_t columns = mlirShapedTypeGetDimSize(mlirValueGetType(values), 1);
  bool isOpen = mlirShapedTypeIsDynamicSize(rows) || mlirShapedTypeIsDynamicSize(columns);
  return isOpen ? mlirShapedTypeGetDynamicSize() : rows * columns / Share;
}

MlirValue sparseMultiplySingly(SparseLowering *lowering, const SparseNamed *named, MlirValue dense, MlirValue init) {
  TileBuilder *b = &lowering->builder;
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), element = sparseElement(named->values);
  const SparseCoverOfMask *cover = &named->cover;
  MlirValue rows = tileBuildSize(b, cover->elements, 0), count = cover->numElements;
  const TileListEntries lists = {.E = element, .P = i32, .LINES = named->tiles->lines};
  const MlirValue inputs[] = {cover->elements, cover->tiles, named->values, cover->positions};
  MlirValue made[] = {sparseEmpty(lowering, sparseVectorOf(i32), 1, &count),
                      sparseEmpty(lowering, sparseVectorOf(element), 1, &count)};
  if (!sparseLaunchAll(lowering, tileUseListEntries(lists), 1, &rows, 4, inputs, 2, made))
    return (MlirValue){NULL};
  const SparseLines lines = {cover->positions, made[0], made[1], {rows, tileBuildSize(b, cover->elements, 1)}, 0};
  return sparseMultiplyLines(lowering, &lines, someEntries(named->values), dense, init);
}
