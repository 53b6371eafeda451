// How a product by lines is divided among programs: one line each, or a fixed number of entries each (merge path:
// kernels/spmm_entries). A matrix whose few longest lines hold most entries needs the second form. Graham's bound
// decides: programs of one line each take at most the mean time of a core plus the longest line (Graham, "Bounds on
// Multiprocessing Timing Anomalies", 1969).
#include "lib/conversion/sparse_to_tile/lists.h"

#include "mlir-c/BuiltinAttributes.h"

enum {
  Worth = 10,        // the bound may exceed the mean by a tenth, the cost of shared lines
  Modelled = 1 << 22 // the most lines whose lengths are examined at compile time
};

// Fewer entries give too few programs.
static int64_t leastEntries(const TileSearchTarget *machine) {
  return 2 * machine->cores * machine->model.sparseEntries;
}

// Whether division by entries pays: longest · (1 - 1/cores) > mean / Worth, mean = entries / cores.
static bool isSkewed(int64_t longest, int64_t entries, const TileSearchTarget *machine) {
  return entries >= leastEntries(machine) && longest * (machine->cores - 1) * Worth > entries;
}

// -1: unknown, 0: lines, 1: entries.
static int modelled(const SparseLowering *lowering, MlirValue positions) {
  MlirOperation op = tileDefiningOp(positions);
  if (tensorCastOpIsA(op))
    op = tileDefiningOp(tensorCastOpGetSource(op));
  MlirAttribute value = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseElements(value) ||
      mlirElementsAttrGetNumElements(value) > Modelled)
    return -1;
  bool isWide = mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(value))) == 64;
  int64_t count = mlirElementsAttrGetNumElements(value), before = 0, first = 0, longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position =
        isWide ? mlirDenseElementsAttrGetInt64Value(value, i) : mlirDenseElementsAttrGetInt32Value(value, i);
    first = i ? first : position;
    longest = i && position - before > longest ? position - before : longest;
    before = position;
  }
  return isSkewed(longest, before - first, &lowering->target->search);
}

SparseSplit sparseSplitOf(const SparseLowering *lowering, const SparseSemiring *semiring, MlirValue positions) {
  MlirType type = mlirShapedTypeGetElementType(mlirValueGetType(positions));
  int64_t width = mlirIntegerTypeGetWidth(type);
  if (!semiring->isSum || semiring->isMean || (width != 32 && width != 64))
    return SparseSplit_Lines;
  if (lowering->split == SparseSplit_Lines || lowering->split == SparseSplit_Entries)
    return lowering->split;
  if (lowering->target->search.isGpu || lowering->target->search.cores < 2)
    return SparseSplit_Lines;
  int known = modelled(lowering, positions);
  if (known >= 0)
    return known ? SparseSplit_Entries : SparseSplit_Lines;
  return lowering->split == SparseSplit_RunTime ? SparseSplit_RunTime : SparseSplit_Lines;
}

MlirValue sparseMultiplyEntries(SparseLowering *lowering, const TileSpmmCsr *lines, const SparseSemiring *semiring,
                                const MlirValue inputs[4], MlirValue init) {
  int64_t items = lowering->target->search.model.sparseEntries;
  const TileSpmmEntries entries = {.MATRIX = lines->MATRIX,
                                   .E = lines->E,
                                   .A = lines->A,
                                   .P = lines->P,
                                   .I = lines->I,
                                   .WIDEN = lines->WIDEN,
                                   .COLUMNS = lines->COLUMNS,
                                   .ITEMS = items,
                                   .row = lines->row,
                                   .step = lines->step};
  const TileAddCarries carries = {.A = lines->A, .ADD = semiring->add, .COLUMNS = lines->COLUMNS};
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(init);
  MlirValue steps =
      tileBuildAdd(b, tileBuildSize(&lowering->builder, init, 0), tileBuildSize(&lowering->builder, inputs[2], 0));
  MlirValue parts = tileBuildCeilDiv(b, steps, tileBuildIndex(b, items)), sizes[2] = {parts};
  const int64_t shape[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDimSize(type, 1)};
  bool isOpen = mlirShapedTypeIsDynamicSize(shape[1]);
  if (isOpen)
    sizes[1] = tileBuildSize(&lowering->builder, init, 1);
  MlirType carried = mlirRankedTensorTypeGet(2, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  MlirValue tiles = tileBuildCeilDiv(b, tileBuildSize(&lowering->builder, init, 1), tileBuildIndex(b, lines->COLUMNS));
  MlirValue made[] = {init, sparseEmpty(lowering, carried, 1 + isOpen, sizes), sparseNumbers(lowering, parts)};
  const MlirValue grid[] = {parts, tiles};
  if (!sparseLaunchAll(lowering, tileUseSpmmEntries(entries), 2, grid, 4, inputs, 3, made))
    return (MlirValue){NULL};
  return sparseLaunch(lowering, tileUseAddCarries(carries), 1, &tiles, 2, made + 1, made[0]);
}

static MlirValue isMore(TileBuilder *b, MlirValue left, MlirValue right) {
  return arithCmpIOpBuild(b, left, right, ArithCmpI_Sgt);
}

// isSkewed, computed at run time.
static MlirValue isSkewedHere(SparseLowering *lowering, MlirValue positions, MlirValue values) {
  TileBuilder *b = &lowering->builder;
  const TileSearchTarget *machine = &lowering->target->search;
  const TileLongestLine looks = {.P = sparseElement(positions)};
  MlirValue one = tileBuildIndex(b, 1), entries = tileBuildSize(&lowering->builder, values, 0);
  MlirValue longest =
      sparseLaunch(lowering, tileUseLongestLine(looks), 1, &one, 1, &positions, sparseNumbers(lowering, one));
  if (mlirValueIsNull(longest))
    return longest;
  MlirValue first = tileBuildIndex(b, 0);
  longest = arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), tensorExtractOpBuild(b, longest, 1, &first));
  longest = tileBuildMul(b, longest, tileBuildIndex(b, (machine->cores - 1) * Worth));
  MlirValue isLong = isMore(b, longest, entries);
  return arithAndIOpBuild(b, isLong, isMore(b, entries, tileBuildIndex(b, leastEntries(machine) - 1)));
}

MlirValue sparseMultiplyEither(SparseLowering *lowering, const TileSpmmCsr *lines, const SparseSemiring *semiring,
                               const MlirValue inputs[4], MlirValue init, const MlirValue grid[2]) {
  SparseBranch branch = sparseBranchBegin(lowering, isSkewedHere(lowering, inputs[0], inputs[2]));
  sparseBranchElse(lowering, &branch, sparseMultiplyEntries(lowering, lines, semiring, inputs, init));
  return sparseBranchEnd(lowering, &branch, sparseLaunch(lowering, tileUseSpmmCsr(*lines), 2, grid, 4, inputs, init));
}
