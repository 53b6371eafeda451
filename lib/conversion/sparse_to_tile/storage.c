// pack, unpack, assemble, transpose and convert: components of a format from dense tensors, from others, and back.
// Why kernels: they run where the products run. Packing csr takes three: rows are counted, their beginnings added up,
// and filled; the host reads the number of entries between the last two.
#include "lib/conversion/sparse_to_tile/lists.h"

enum { ROW_TILE = 64 }; // elements of a row at a time

static MlirAttribute encodingOf(MlirType type) { return sparseTypeGetEncoding(type); }

//===--- words ----------------------------------------------------------------===//

static SparseWord differs(MlirType element) {
  return sparseTextWord("DIFFERS", mlirTypeIsAFloat(element) ? "arith.cmpf une," : "arith.cmpi ne,");
}

static SparseWord narrow(MlirType integer) {
  unsigned width = mlirIntegerTypeGetWidth(integer);
  return sparseTextWord("NARROW", width < 32 ? "arith.trunci" : width == 32 ? "arith.bitcast" : "arith.extui");
}

//===--- pack -----------------------------------------------------------------===//

bool sparsePackSegments(SparseLowering *lowering, MlirValue dense, const SparseComponent parts[3],
                        SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(dense));
  MlirType p = mlirShapedTypeGetElementType(parts[0].type), i = mlirShapedTypeGetElementType(parts[1].type);
  const SparseWord words[] = {sparseTypeWord("E", element),
                              sparseTypeWord("P", p),
                              sparseTypeWord("I", i),
                              sparseNumberWord("COLUMNS", ROW_TILE),
                              differs(element),
                              sparseZeroWord(element),
                              {NULL}};
  MlirValue rows = sparseDenseSize(lowering, dense, 0), one = tileBuildIndex(b, 1);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  MlirType countType = mlirRankedTensorTypeGet(1, open, p, mlirAttributeGetNull());
  MlirValue count = sparseEmpty(lowering, countType, 1, &rows);
  count = sparseLaunch(lowering, "count_rows", words, 1, &rows, 1, &dense, count);
  MlirValue ends = tileBuildAdd(b, rows, one);
  bool isOpen = mlirShapedTypeIsDynamicDim(parts[0].type, 0);
  MlirValue positions = sparseEmpty(lowering, parts[0].type, isOpen, &ends);
  positions =
      mlirValueIsNull(count) ? count : sparseLaunch(lowering, "positions", words, 1, &one, 1, &count, positions);
  if (mlirValueIsNull(positions))
    return false;
  MlirValue entries = sparseTotal(lowering, positions, rows);
  *result = (SparseResult){
      {positions, sparseEmpty(lowering, parts[1].type, 1, &entries), sparseEmpty(lowering, parts[2].type, 1, &entries)},
      3};
  return sparseLaunchAll(lowering, "pack_csr", words, 1, &rows, 2, (MlirValue[]){dense, positions}, 2,
                         result->values + 1);
}

static const SparseWord *windowWords(MlirType type, SparseWord words[18]) {
  MlirAttribute encoding = encodingOf(type);
  MlirType element = mlirShapedTypeGetElementType(type), coordinates = sparseEncodingGetType(encoding, "coordinates");
  SparseWindows w = sparseEncodingGetWindows(encoding);
  const SparseWord list[] = {sparseTypeWord("E", element),
                             sparseTypeWord("I", coordinates),
                             sparseNumberWord("UNITS", w.n / w.together),
                             sparseNumberWord("PLACES", w.m / w.together),
                             sparseNumberWord("TOGETHER", w.together),
                             sparseNumberWord("KEPT", w.n),
                             sparseNumberWord("WINDOW", w.m),
                             sparseNumberWord("ROWS", w.lines),
                             sparseNumberWord("ACROSS", 1 - w.axis),
                             sparseNumberWord("ALONG", w.axis),
                             sparseTextWord("ORDER", w.axis ? "" : ", order = [1, 0]"),
                             sparseTextWord("PLACE", w.axis ? "%line, %k" : "%k, %line"),
                             sparseTextWord("INDICES", "tensor<$PLACESx$TOGETHERx$ROWSxindex>"),
                             differs(element),
                             sparseZeroWord(element),
                             narrow(coordinates),
                             {NULL}};
  for (size_t i = 0; i < sizeof list / sizeof *list; ++i)
    words[i] = list[i];
  return words;
}

// How many groups and windows a matrix of those sizes has.
static void countWindows(SparseLowering *lowering, MlirAttribute encoding, const MlirValue sizes[2],
                         MlirValue grid[2]) {
  SparseWindows w = sparseEncodingGetWindows(encoding);
  TileBuilder *b = &lowering->builder;
  grid[0] = tileBuildCeilDiv(b, sizes[1 - w.axis], tileBuildIndex(b, w.lines));
  grid[1] = tileBuildCeilDiv(b, sizes[w.axis], tileBuildIndex(b, w.m));
}

bool sparsePackWindows(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  SparseWord words[18];
  const MlirValue sizes[] = {sparseDenseSize(lowering, dense, 0), sparseDenseSize(lowering, dense, 1)};
  MlirValue grid[2];
  sparseTypeGetComponents(type, parts);
  countWindows(lowering, encodingOf(type), sizes, grid);
  *result = (SparseResult){.count = 2};
  for (int i = 0; i < 2; ++i) {
    MlirValue open[2];
    intptr_t count = 0;
    for (intptr_t axis = 0; axis < 2; ++axis)
      if (mlirShapedTypeIsDynamicDim(parts[i].type, axis))
        open[count++] = grid[axis];
    result->values[i] = sparseEmpty(lowering, parts[i].type, count, open);
  }
  return sparseLaunchAll(lowering, "pack_nm", windowWords(type, words), 2, grid, 1, &dense, 2, result->values);
}

// The sizes that the type leaves open, after its components.
static void appendSizes(SparseLowering *lowering, MlirType type, SparseResult *result) {
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = sparseSize(lowering, 0, axis);
}

// Of csr, csc and nm a kernel; any other from csr.
bool sparseLowerPack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileResultType(lowering->op, 0);
  MlirValue dense = lowering->operands[0].values[0];
  SparseFormat format = sparseEncodingGetFormat(encodingOf(type));
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  bool isPacked = format == SparseCsr || format == SparseCsc || format == SparseNm;
  MlirType csr = isPacked ? type : sparseTypeWithEncoding(type, tileBuildAttribute(&lowering->builder, "#sparse.csr"));
  sparseTypeGetComponents(csr, parts);
  bool ok = format == SparseNm ? sparsePackWindows(lowering, dense, type, result)
                               : sparsePackSegments(lowering, format == SparseCsc ? sparseSwap(lowering, dense) : dense,
                                                    parts, result);
  if (ok && isPacked)
    appendSizes(lowering, type, result);
  if (!ok || isPacked)
    return ok;
  const SparseLines lines = {result->values[0],
                             result->values[1],
                             result->values[2],
                             {sparseSize(lowering, 0, 0), sparseSize(lowering, 0, 1)},
                             0};
  return sparseFromLines(lowering, &lines, type, result);
}

//===--- unpack ---------------------------------------------------------------===//

bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileOperandType(lowering->op, 0), dense = tileResultType(lowering->op, 0);
  MlirAttribute encoding = encodingOf(type);
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  MlirValue sizes[2], grid[2], value;
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (mlirShapedTypeIsDynamicDim(dense, axis))
      sizes[count++] = matrix.sizes[axis];
  value = sparseZeros(lowering, dense, count, sizes);
  if (sparseEncodingIs(encoding, SparseNm)) {
    SparseWord words[18];
    countWindows(lowering, encoding, matrix.sizes, grid);
    value = sparseLaunch(lowering, "unpack_nm", windowWords(type, words), 2, grid, 2, matrix.parts, value);
  } else {
    int axis = sparseAxisOfLines(type);
    SparseLines lines = sparseLinesOf(lowering, &matrix, axis);
    if (!mlirValueIsNull(lines.positions) && sparseMayRepeat(type))
      lines = sparseMerge(lowering, &lines, true);
    if (mlirValueIsNull(lines.positions))
      return false;
    const MlirValue parts[] = {lines.positions, lines.coordinates, lines.values};
    const SparseWord words[] = {sparseTypeWord("E", mlirShapedTypeGetElementType(type)),
                                sparseTypeWord("P", mlirShapedTypeGetElementType(mlirValueGetType(lines.positions))),
                                sparseTypeWord("I", mlirShapedTypeGetElementType(mlirValueGetType(lines.coordinates))),
                                sparseTextWord("PLACE", axis ? "%column, %row" : "%row, %column"),
                                {NULL}};
    value = sparseLaunch(lowering, "unpack_csr", words, 1, &matrix.sizes[axis], 3, parts, value);
  }
  *result = (SparseResult){{value}, 1};
  return !mlirValueIsNull(value);
}

//===--- assemble -------------------------------------------------------------===//

bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t components = sparseTypeGetComponents(tileResultType(lowering->op, 0), parts);
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
  MlirType from = tileOperandType(lowering->op, 0), to = tileResultType(lowering->op, 0);
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
  MlirType from = tileOperandType(op, 0), to = tileResultType(op, 0);
  MlirAttribute duplicates = tileOpAttribute(op, "duplicates");
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
