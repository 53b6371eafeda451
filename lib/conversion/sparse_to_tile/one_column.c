// Products of #sparse.nm with one column, on CPUs. A sum of one line after the other waits for each multiply-add, so
// four windows go at once (spmv_nm). Where each line keeps places of its own, single numbers would be read; there a
// window is a table in registers, and all places are looked up at once (spmv_places).
#include "lib/conversion/sparse_to_tile/lists.h"

enum { TableBytes = 64, MostTables = 2, Lanes = 16 }; // of AVX-512's lookups

static bool isOpen(int64_t size) { return mlirShapedTypeIsDynamicSize(size); }

// Windows of one or two registers, whose places are as many as lanes, or half of them.
static bool looksUp(const SparseLowering *lowering, const SparseWindowed *windowed, MlirType element, MlirType dense) {
  const SparseWindows *w = windowed->windows;
  int64_t inner = mlirShapedTypeGetDimSize(dense, 0);
  return lowering->target->search.vectorBytes == TableBytes && mlirTypeIsAF32(element) && w->lines == 1 &&
         w->together == 1 && (w->n == Lanes || w->n == Lanes / 2) && (w->m == Lanes || w->m == MostTables * Lanes) &&
         !isOpen(inner) && inner > 0 && inner % w->m == 0;
}

static MlirValue multiplyByTables(SparseLowering *lowering, const SparseWindowed *windowed, const MlirValue parts[2],
                                  MlirValue dense, MlirValue init, MlirValue lines) {
  TileBuilder *b = &lowering->builder;
  const SparseWindows *w = windowed->windows;
  MlirType sum = sparseElement(init);
  const int64_t windows = mlirShapedTypeGetDimSize(mlirValueGetType(dense), 0) / w->m, shape[] = {windows, w->m};
  MlirType tables = mlirRankedTensorTypeGet(2, shape, sum, mlirAttributeGetNull());
  MlirValue flat = sparseFlatten(lowering, dense);
  flat = tensorExpandShapeOpBuild(b, tables, flat, 0, NULL, sparseOneGroup(b, 2),
                                  mlirDenseI64ArrayGet(b->context, 2, shape));
  const TileSpmvPlaces looks = {.A = sum,
                                .I = sparseElement(parts[0]),
                                .ADD = sparseSemiring(lowering->op, sum).add,
                                .KEPT = w->n,
                                .WINDOW = w->m,
                                .WINDOWS = windows,
                                .step = windowed->step};
  const MlirValue inputs[] = {parts[0], parts[1], flat};
  return sparseLaunch(lowering, tileUseSpmvPlaces(looks), 1, &lines, 3, inputs, init);
}

bool sparseMultiplyColumn(SparseLowering *lowering, const SparseWindowed *windowed, const MlirValue parts[2],
                          MlirValue dense, MlirValue init, MlirValue *product) {
  TileBuilder *b = &lowering->builder;
  const SparseWindows *w = windowed->windows;
  MlirType element = sparseElement(parts[1]), sum = sparseElement(init);
  SparseSemiring semiring = sparseSemiring(lowering->op, sum);
  SparseRegisters registers = sparseRegistersOf(&lowering->target->search);
  if (lowering->target->search.isGpu || !semiring.isSum || semiring.isMean || sparseBits(element) < 8 ||
      mlirShapedTypeGetDimSize(mlirValueGetType(init), 1) != 1)
    return false;
  MlirValue groups = tileBuildSize(b, parts[0], 0);
  if (mlirTypeEqual(element, sum) && looksUp(lowering, windowed, element, mlirValueGetType(dense))) {
    *product = multiplyByTables(lowering, windowed, parts, dense, init, groups);
    return true;
  }
  int64_t most = registers.rowBytes * 8 / sparseBits(sum) / 4, lines = sparseLargestDivisor(w->lines, most);
  const TileSpmvNm walks = {.E = element,
                            .A = sum,
                            .I = sparseElement(parts[0]),
                            .WIDEN = sparseWidenOp(element, sum),
                            .ADD = semiring.add,
                            .UNITS = w->n / w->together,
                            .KEPT = w->n,
                            .ROWS = w->lines,
                            .LINES = lines,
                            .WINDOW = w->m,
                            .TOGETHER = w->together,
                            .PARTS = w->lines / lines,
                            .step = windowed->step,
                            .taken = windowed->taken};
  const MlirValue inputs[] = {parts[0], parts[1], dense};
  *product = sparseLaunch(lowering, tileUseSpmvNm(walks), 1, &groups, 3, inputs, init);
  return true;
}
