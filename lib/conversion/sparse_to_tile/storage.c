// pack, unpack, assemble, transpose and convert: components of a format from dense tensors, from others, and back.
// Why kernels: they run where the products run. Packing csr takes three: rows are counted, their beginnings added up,
// and filled; the host reads the number of entries between the last two.
#include "dialects/sparse/ops.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"

//===--- pack -----------------------------------------------------------------===//

bool sparsePackSegments(SparseLowering *lowering, MlirValue dense, const SparseComponent parts[3],
                        SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(dense));
  MlirType p = mlirShapedTypeGetElementType(parts[0].type), i = mlirShapedTypeGetElementType(parts[1].type);
  const TileCountRows counts = {
      .E = element, .P = p, .COLUMNS = lowering->target->search.model.sparseRow, .differs = sparseHookDiffers};
  const TilePackCsr packs = {
      .E = element, .P = p, .I = i, .COLUMNS = lowering->target->search.model.sparseRow, .differs = sparseHookDiffers};
  MlirValue rows = tileBuildSize(&lowering->builder, dense, 0), one = tileBuildIndex(b, 1);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  MlirType countType = mlirRankedTensorTypeGet(1, open, p, mlirAttributeGetNull());
  MlirValue count = sparseEmpty(lowering, countType, 1, &rows);
  count = sparseLaunch(lowering, tileUseCountRows(counts), 1, &rows, 1, &dense, count);
  MlirValue ends = tileBuildAdd(b, rows, one);
  bool isOpen = mlirShapedTypeIsDynamicDim(parts[0].type, 0);
  MlirValue positions = sparseEmpty(lowering, parts[0].type, isOpen, &ends);
  positions = mlirValueIsNull(count) ? count : sparseSumUp(lowering, count, positions);
  if (mlirValueIsNull(positions))
    return false;
  MlirValue entries = sparseTotal(lowering, positions, rows);
  *result = (SparseResult){
      {positions, sparseEmpty(lowering, parts[1].type, 1, &entries), sparseEmpty(lowering, parts[2].type, 1, &entries)},
      3};
  return sparseLaunchAll(lowering, tileUsePackCsr(packs), 1, &rows, 2, (MlirValue[]){dense, positions}, 2,
                         result->values + 1);
}

// The sizes that the type leaves open, after its components.
static void appendSizes(SparseLowering *lowering, MlirType type, SparseResult *result) {
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = sparseSize(lowering, 0, axis);
}

// Formats without a kernel that packs are made from csr.
bool sparseLowerPack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileOnlyResultType(lowering->op);
  MlirValue dense = lowering->operands[0].values[0];
  const SparseFormatLowering *format = sparseLoweringOf(type);
  if (format->pack) {
    bool ok = format->pack(lowering, dense, type, result);
    if (ok)
      appendSizes(lowering, type, result);
    return ok;
  }
  MlirType csr =
      sparseTypeWithEncoding(type, sparseEncodingMake(lowering->builder.context, "csr", (SparseKeyValue[]){{NULL}}));
  if (!sparseCsrLowering.pack(lowering, dense, csr, result))
    return false;
  const SparseLines lines = {result->values[0],
                             result->values[1],
                             result->values[2],
                             {sparseSize(lowering, 0, 0), sparseSize(lowering, 0, 1)},
                             0};
  return sparseFromLines(lowering, &lines, type, result);
}

//===--- unpack ---------------------------------------------------------------===//

bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = sparseUnpackOpGetInputType(lowering->op), dense = sparseUnpackOpGetResultType(lowering->op);
  const SparseFormatLowering *format = sparseLoweringOf(type);
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  MlirValue sizes[2], value;
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (mlirShapedTypeIsDynamicDim(dense, axis))
      sizes[count++] = matrix.sizes[axis];
  value = sparseZeros(lowering, dense, count, sizes);
  if (format->unpack) {
    value = format->unpack(lowering, &matrix, value);
  } else {
    int axis = sparseAxisOfLines(type);
    SparseLines lines = sparseLinesOf(lowering, &matrix, axis);
    if (!mlirValueIsNull(lines.positions) && sparseMayRepeat(type))
      lines = sparseMerge(lowering, &lines, true);
    if (mlirValueIsNull(lines.positions))
      return false;
    value = sparseUnpackLines(lowering, &lines, axis, value);
  }
  *result = (SparseResult){{value}, 1};
  return !mlirValueIsNull(value);
}

//===--- assemble -------------------------------------------------------------===//

bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t components = sparseTypeGetComponents(tileOnlyResultType(lowering->op), parts);
  *result = (SparseResult){.count = mlirOperationGetNumOperands(lowering->op)};
  for (intptr_t i = 0; i < result->count; ++i) {
    MlirValue value = lowering->operands[i].values[0];
    result->values[i] = i < components ? sparseCast(lowering, value, parts[i].type) : value;
  }
  return true;
}

//===--- transpose and convert ------------------------------------------------===//

// The lines of the other axis are those of the transpose.
bool sparseLowerTranspose(SparseLowering *lowering, SparseResult *result) {
  MlirType from = sparseTransposeOpGetInputType(lowering->op), to = sparseTransposeOpGetResultType(lowering->op);
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  int axis = sparseAxisOfLines(to);
  SparseLines lines = sparseLinesOf(lowering, &matrix, 1 - axis);
  if (!mlirValueIsNull(lines.positions) && sparseMayRepeat(from))
    lines = sparseMerge(lowering, &lines, true);
  const SparseLines turned = {
      lines.positions, lines.coordinates, lines.values, {matrix.sizes[1], matrix.sizes[0]}, axis};
  return sparseFromLines(lowering, &turned, to, result);
}

bool sparseLowerConvert(SparseLowering *lowering, SparseResult *result) {
  MlirOperation op = lowering->op;
  MlirType from = sparseConvertOpGetInputType(op), to = sparseConvertOpGetResultType(op);
  MlirAttribute duplicates = sparseConvertOpGetDuplicates(op);
  bool mayAdd = mlirAttributeIsNull(duplicates) || !tileStringEquals(mlirStringAttrGetValue(duplicates), "error");
  if (mlirTypeEqual(from, to) && mayAdd) {
    *result = (SparseResult){.count = lowering->operands[0].count};
    for (intptr_t i = 0; i < result->count; ++i)
      result->values[i] = lowering->operands[0].values[i];
    return true;
  }
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  SparseLines lines = sparseLinesOf(lowering, &matrix, sparseAxisOfLines(to));
  if (!mlirValueIsNull(lines.positions) && sparseMayRepeat(from))
    lines = sparseMerge(lowering, &lines, mayAdd);
  return sparseFromLines(lowering, &lines, to, result);
}
