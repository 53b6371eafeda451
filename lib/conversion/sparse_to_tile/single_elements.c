// Products of the single elements that a run-time mask names, on CPUs: where micro-tiles would hold little but zeros,
// the elements are listed row by row, with their values, and multiplied as csr. What decides is `entry_cost` of
// #sparse.micro_tiles, by counts that combining the mask gives anyway. Cost of the list: a pass over the mask, and the
// cache lines of the matrix that hold an element.
#include "lib/conversion/sparse_to_tile/formats/formats.h"
#include "lib/conversion/sparse_to_tile/named_tiles.h"

bool sparseMultipliesSingly(const SparseNamed *named) {
  return named->tiles->entryCost > 0 && named->hiddenTile[0] == 1 && named->hiddenTile[1] == 1;
}

MlirValue sparseAreFewSingle(SparseLowering *lowering, const SparseNamed *named, MlirValue positions) {
  TileBuilder *b = &lowering->builder;
  MlirValue singly = tileBuildMul(b, named->numSingle, tileBuildIndex(b, named->tiles->entryCost));
  MlirValue tiles = sparseTotal(lowering, positions, named->lines);
  MlirValue together = tileBuildMul(b, tiles, tileBuildIndex(b, 100 * named->tiles->lines * named->tiles->by));
  return arithCmpIOpBuild(b, singly, together, ArithCmpI_Slt);
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
  MlirValue rows = tileBuildSize(b, named->single, 0);
  MlirValue positions = sparseCountNamed(lowering, named->single, rows);
  if (mlirValueIsNull(positions))
    return positions;
  MlirValue count = sparseTotal(lowering, positions, rows);
  const TileListEntries lists = {.E = element, .P = i32};
  const MlirValue inputs[] = {named->single, named->values, positions};
  MlirValue made[] = {sparseEmpty(lowering, sparseVectorOf(i32), 1, &count),
                      sparseEmpty(lowering, sparseVectorOf(element), 1, &count)};
  if (!sparseLaunchAll(lowering, tileUseListEntries(lists), 1, &rows, 3, inputs, 2, made))
    return (MlirValue){NULL};
  const SparseLines lines = {positions, made[0], made[1], {rows, tileBuildSize(b, named->single, 1)}, 0};
  return sparseMultiplyLines(lowering, &lines, someEntries(named->values), dense, init);
}
