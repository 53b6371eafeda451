// Tiles whose sizes are no powers of two, which neither language has. Such a tile lies in one of the next powers of
// two. What the lanes beyond it hold is any: accesses leave them out (export_views.c, export_elements.c), and where
// lanes meet, or could stop the program, an op takes an operand in which they hold what does no harm. An op whose
// result would depend on where lanes lie is refused. See export.h.
#include "lib/conversion/kernel_export/export.h"

#include "dialects/tile/combiner.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

//===--- which lanes --------------------------------------------------------------------------===//

int64_t exportPaddedSize(int64_t size) {
  int64_t padded = 1;
  while (padded < size)
    padded *= 2;
  return padded;
}

static bool isPaddedAlong(MlirType old, int64_t axis) {
  int64_t size = exportShape(old).sizes[axis];
  return exportPaddedSize(size) != size;
}

bool exportIsPadded(MlirType old) {
  bool found = false;
  for (intptr_t i = 0; i < exportRank(old); ++i)
    found = found || isPaddedAlong(old, i);
  return found;
}

MlirValue exportRealLanes(ExportKernel *k, MlirType old) {
  MlirExtShape shape = exportShape(old);
  int64_t sizes[ExportMaxRank];
  MlirValue real = {NULL};
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = exportPaddedSize(shape.sizes[i]);
  for (intptr_t i = 0; i < shape.rank; ++i) {
    if (!isPaddedAlong(old, i))
      continue;
    MlirValue lane = exportRange(k, shape.rank, sizes, i);
    MlirValue size = exportFill(k, mlirValueGetType(lane), shape.sizes[i]);
    real = exportBoth(k, real, k->v->compare(k, ArithCmpI_Slt, lane, size));
  }
  return real;
}

//===--- operands that do no harm ---------------------------------------------------------------===//

static bool guard(ExportKernel *k, ExportGuards *guards, MlirValue old, MlirAttribute harmless) {
  if (!exportIsPadded(mlirValueGetType(old)))
    return true;
  MlirValue value = exportGet(k, old);
  if (mlirValueIsNull(value))
    return false;
  guards->olds[guards->count] = old;
  guards->values[guards->count++] = value;
  MlirType type = mlirValueGetType(value);
  MlirValue fill = k->v->fill(k, type, harmless);
  exportSet(k, old, k->v->choose(k, exportRealLanes(k, mlirValueGetType(old)), value, fill));
  return true;
}

void exportUnguard(ExportKernel *k, const ExportGuards *guards) {
  for (intptr_t i = 0; i < guards->count; ++i)
    exportSet(k, guards->olds[i], guards->values[i]);
}

static MlirAttribute numberOf(ExportKernel *k, MlirValue old, int64_t number) {
  MlirType element = exportElement(mlirValueGetType(old));
  if (mlirTypeIsAFloat(element))
    return mlirFloatAttrDoubleGet(k->b.context, element, (double)number);
  return mlirIntegerAttrGet(mlirTypeIsAIndex(element) ? exportInteger(k, 64) : element, number);
}

static bool guardByNumber(ExportKernel *k, ExportGuards *guards, MlirValue old, int64_t number) {
  return guard(k, guards, old, numberOf(k, old, number));
}

static bool guardByNeutral(ExportKernel *k, MlirOperation op, ExportGuards *guards, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue input = mlirOperationGetOperand(op, i);
    MlirAttribute neutral = tileCombinerNeutralOf(op, i);
    if (mlirAttributeIsNull(neutral))
      return tileError(op, "combines along a size that is no power of two by a body without a neutral element");
    if (mlirTypeIsAIndex(exportElement(mlirValueGetType(input))))
      neutral = numberOf(k, input, mlirIntegerAttrGetValueInt(neutral));
    if (!guard(k, guards, input, neutral))
      return false;
  }
  return true;
}

//===--- ops ------------------------------------------------------------------------------------===//

static bool isOnPadded(MlirOperation op) {
  bool found = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    found = found || exportIsPadded(tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    found = found || exportIsPadded(tileResultType(op, i));
  return found;
}

static bool divides(MlirOperation op) {
  switch (arithOpKind(op)) {
  case ArithOp_DivSI:
  case ArithOp_DivUI:
  case ArithOp_RemSI:
  case ArithOp_RemUI:
  case ArithOp_CeilDivSI:
  case ArithOp_CeilDivUI:
  case ArithOp_FloorDivSI:
    return true;
  default:
    return false;
  }
}

// Do the two types differ by sizes of 1 alone?
static bool hasSameSizes(MlirType a, MlirType b) {
  MlirExtShape x = exportShape(a), y = exportShape(b);
  intptr_t i = 0, j = 0;
  for (;; ++i, ++j) {
    while (i < x.rank && x.sizes[i] == 1)
      ++i;
    while (j < y.rank && y.sizes[j] == 1)
      ++j;
    if (i == x.rank || j == y.rank)
      return i == x.rank && j == y.rank;
    if (x.sizes[i] != y.sizes[j])
      return false;
  }
}

static bool combinesPadded(MlirOperation op) {
  MlirAttribute axes = tileReduceOpGetAxes(op);
  MlirType type = mlirValueGetType(tileReduceOpGetInputs(op, 0));
  bool found = false;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(axes); ++i)
    found = found || isPaddedAlong(type, mlirDenseI64ArrayGetElement(axes, i));
  return found;
}

static bool joinsWhole(MlirOperation op) {
  bool whole = !isPaddedAlong(tileOnlyResultType(op), tileCatOpGetAxisValue(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    whole = whole && !isPaddedAlong(tileOperandType(op, i), tileCatOpGetAxisValue(op));
  return whole;
}

static bool refuse(MlirOperation op) {
  return tileError(op, "has a tile whose sizes are no powers of two, and would find other elements in a padded one");
}

static bool guardTile(ExportKernel *k, MlirOperation op, ExportGuards *guards) {
  switch (tileOpKind(op)) {
  case TileOp_Load:
  case TileOp_Store:
  case TileOp_Scatter:
  case TileOp_AtomicRmw:
  case TileOp_AtomicCas:
  case TileOp_InBounds:
  case TileOp_Iota:
  case TileOp_Broadcast:
  case TileOp_Transpose:
  case TileOp_ConvertType:
  case TileOp_Assume:
    return true;
  case TileOp_Gather: // from a tile, at places in it
    return mlirAttributeIsNull(tileGatherOpGetAxis(op)) || guardByNumber(k, guards, tileGatherOpGetIndices(op, 0), 0);
  case TileOp_Mma:
    return guardByNumber(k, guards, tileMmaOpGetLhs(op), 0) && guardByNumber(k, guards, tileMmaOpGetRhs(op), 0);
  case TileOp_Reduce:
    return !combinesPadded(op) || guardByNeutral(k, op, guards, tileReduceOpGetNumInputs(op));
  case TileOp_Scan: // from the end, the lanes beyond come first
    return !tileScanOpHasReverse(op) ||
           !isPaddedAlong(mlirValueGetType(tileScanOpGetInputs(op, 0)), tileScanOpGetAxisValue(op)) ||
           guardByNeutral(k, op, guards, tileScanOpGetNumInputs(op));
  case TileOp_Assert:
    return guardByNumber(k, guards, tileAssertOpGetCondition(op), 1);
  case TileOp_Reshape:
    return hasSameSizes(tileOnlyOperandType(op), tileOnlyResultType(op)) || refuse(op);
  case TileOp_Bitcast:
    return tileElementWidth(exportElement(tileOnlyOperandType(op))) ==
               tileElementWidth(exportElement(tileOnlyResultType(op))) ||
           refuse(op);
  case TileOp_Cat:
    return joinsWhole(op) || refuse(op);
  default:
    return refuse(op);
  }
}

bool exportGuard(ExportKernel *k, MlirOperation op, ExportGuards *guards) {
  if (!isOnPadded(op))
    return true;
  if (divides(op))
    return guardByNumber(k, guards, tileBinaryRhs(op), 1);
  bool isElementwise = arithOpKind(op) != ArithOp_None || mathOpKind(op) != MathOp_None || ubPoisonOpIsA(op);
  bool isControl = scfOpKind(op) != ScfOp_None; // its results are its regions' business
  return isElementwise || isControl || guardTile(k, op, guards);
}
