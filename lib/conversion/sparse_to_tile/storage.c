// pack, unpack, assemble, transpose and convert: components of a format from dense tensors, and back.
// Why kernels: they run where the products run. Packing csr takes three: rows are counted, their beginnings added up,
// and filled; the host reads the number of entries between the last two.
#include "lib/conversion/sparse_to_tile/lowerings.h"

enum { ROW_TILE = 64 }; // elements of a row at a time

static MlirAttribute encodingOf(MlirType type) { return sparseTypeGetEncoding(type); }

static bool notYet(MlirOperation op, MlirType type) {
  char text[192];
  return tileError(op, "is not lowered yet for %s", tileTypeText(type, text, sizeof text));
}

//===--- words ----------------------------------------------------------------===//

static SparseWord differs(MlirType element) {
  return sparseTextWord("DIFFERS", mlirTypeIsAFloat(element) ? "arith.cmpf une," : "arith.cmpi ne,");
}

static SparseWord zero(MlirType element) {
  bool isBool = mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1;
  return sparseTextWord("ZERO", mlirTypeIsAFloat(element) ? "0.0" : isBool ? "false" : "0");
}

static SparseWord narrow(MlirType integer) {
  unsigned width = mlirIntegerTypeGetWidth(integer);
  return sparseTextWord("NARROW", width < 32 ? "arith.trunci" : width == 32 ? "arith.bitcast" : "arith.extui");
}

//===--- pack -----------------------------------------------------------------===//

bool sparseSupportsPack(MlirOperation op) {
  MlirType type = tileResultType(op, 0);
  SparseFormat format = sparseEncodingGetFormat(encodingOf(type));
  return format == SparseCsr || format == SparseCsc || format == SparseNm || notYet(op, type);
}

// `dense`: what is cut into segments row by row.
static bool packSegments(SparseLowering *lowering, MlirValue dense, MlirType type, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = encodingOf(type);
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  MlirType element = mlirShapedTypeGetElementType(type), p = sparseEncodingGetType(encoding, "positions");
  const SparseWord words[] = {sparseTypeWord("E", element),
                              sparseTypeWord("P", p),
                              sparseTypeWord("I", sparseEncodingGetType(encoding, "coordinates")),
                              sparseNumberWord("COLUMNS", ROW_TILE),
                              differs(element),
                              zero(element),
                              {NULL}};
  sparseTypeGetComponents(type, parts);
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
  MlirValue last = tileBuildValue(b, "tensor.extract", p, 2, (MlirValue[]){positions, rows}, NULL);
  MlirValue entries = tileBuildValue(b, "arith.index_cast", mlirIndexTypeGet(b->context), 1, &last, NULL);
  MlirValue filled[] = {sparseEmpty(lowering, parts[1].type, 1, &entries),
                        sparseEmpty(lowering, parts[2].type, 1, &entries)};
  if (!sparseLaunchTwo(lowering, "pack_csr", words, 1, &rows, 2, (MlirValue[]){dense, positions}, filled))
    return false;
  *result = (SparseResult){{positions, filled[0], filled[1]}, 3};
  return true;
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
                             zero(element),
                             narrow(coordinates),
                             {NULL}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    words[i] = list[i];
  return words;
}

// How many groups and windows a matrix of that encoding has: sizes of its components.
static void countWindows(SparseLowering *lowering, intptr_t operand, MlirAttribute encoding, MlirValue grid[2]) {
  SparseWindows w = sparseEncodingGetWindows(encoding);
  TileBuilder *b = &lowering->builder;
  grid[0] = tileBuildCeilDiv(b, sparseSize(lowering, operand, 1 - w.axis), tileBuildIndex(b, w.lines));
  grid[1] = tileBuildCeilDiv(b, sparseSize(lowering, operand, w.axis), tileBuildIndex(b, w.m));
}

static bool packWindows(SparseLowering *lowering, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  SparseWord words[18];
  MlirValue grid[2], made[2], dense = lowering->operands[0].values[0];
  sparseTypeGetComponents(type, parts);
  countWindows(lowering, 0, encodingOf(type), grid);
  for (int i = 0; i < 2; i++) {
    MlirValue sizes[2];
    intptr_t count = 0;
    for (intptr_t axis = 0; axis < 2; axis++)
      if (mlirShapedTypeIsDynamicDim(parts[i].type, axis))
        sizes[count++] = grid[axis];
    made[i] = sparseEmpty(lowering, parts[i].type, count, sizes);
  }
  if (!sparseLaunchTwo(lowering, "pack_nm", windowWords(type, words), 2, grid, 1, &dense, made))
    return false;
  *result = (SparseResult){{made[0], made[1]}, 2};
  return true;
}

// The sizes that the type leaves open, after its components.
static void appendSizes(SparseLowering *lowering, MlirType type, SparseResult *result) {
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); axis++)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = sparseSize(lowering, 0, axis);
}

bool sparseLowerPack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileResultType(lowering->op, 0);
  MlirValue dense = lowering->operands[0].values[0];
  SparseFormat format = sparseEncodingGetFormat(encodingOf(type));
  bool ok = format == SparseNm
                ? packWindows(lowering, type, result)
                : packSegments(lowering, format == SparseCsc ? sparseSwap(lowering, dense) : dense, type, result);
  if (ok)
    appendSizes(lowering, type, result);
  return ok;
}

//===--- unpack ---------------------------------------------------------------===//

bool sparseSupportsUnpack(MlirOperation op) {
  MlirType type = tileOperandType(op, 0);
  SparseFormat format = sparseEncodingGetFormat(encodingOf(type));
  return format == SparseCsr || format == SparseCsc || format == SparseNm || notYet(op, type);
}

bool sparseLowerUnpack(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileOperandType(lowering->op, 0), dense = tileResultType(lowering->op, 0);
  MlirAttribute encoding = encodingOf(type);
  const MlirValue *parts = lowering->operands[0].values;
  MlirValue sizes[2], grid[2], value;
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < 2; axis++)
    if (mlirShapedTypeIsDynamicDim(dense, axis))
      sizes[count++] = sparseSize(lowering, 0, axis);
  value = sparseZeros(lowering, dense, count, sizes);
  if (sparseEncodingIs(encoding, SparseNm)) {
    SparseWord words[18];
    countWindows(lowering, 0, encoding, grid);
    value = sparseLaunch(lowering, "unpack_nm", windowWords(type, words), 2, grid, 2, parts, value);
  } else {
    bool isCsr = sparseEncodingIs(encoding, SparseCsr);
    const SparseWord words[] = {sparseTypeWord("E", mlirShapedTypeGetElementType(type)),
                                sparseTypeWord("P", sparseEncodingGetType(encoding, "positions")),
                                sparseTypeWord("I", sparseEncodingGetType(encoding, "coordinates")),
                                sparseTextWord("PLACE", isCsr ? "%row, %column" : "%column, %row"),
                                {NULL}};
    grid[0] = sparseSize(lowering, 0, isCsr ? 0 : 1);
    value = sparseLaunch(lowering, "unpack_csr", words, 1, grid, 3, parts, value);
  }
  *result = (SparseResult){{value}, 1};
  return !mlirValueIsNull(value);
}

//===--- the rest moves nothing -------------------------------------------------===//

bool sparseLowerAssemble(SparseLowering *lowering, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  intptr_t components = sparseTypeGetComponents(tileResultType(lowering->op, 0), parts);
  *result = (SparseResult){.count = mlirOperationGetNumOperands(lowering->op)};
  for (intptr_t i = 0; i < result->count; i++) {
    MlirValue value = lowering->operands[i].values[0];
    result->values[i] = i < components ? sparseCast(lowering, value, parts[i].type) : value;
  }
  return true;
}

// csr and csc of one matrix and its transpose have the same components.
bool sparseSupportsTranspose(MlirOperation op) {
  MlirAttribute from = encodingOf(tileOperandType(op, 0)), to = encodingOf(tileResultType(op, 0));
  bool turns = (sparseEncodingIs(from, SparseCsr) && sparseEncodingIs(to, SparseCsc)) ||
               (sparseEncodingIs(from, SparseCsc) && sparseEncodingIs(to, SparseCsr));
  bool alike = turns &&
               mlirTypeEqual(sparseEncodingGetType(from, "positions"), sparseEncodingGetType(to, "positions")) &&
               mlirTypeEqual(sparseEncodingGetType(from, "coordinates"), sparseEncodingGetType(to, "coordinates"));
  return alike || notYet(op, tileResultType(op, 0));
}

bool sparseLowerTranspose(SparseLowering *lowering, SparseResult *result) {
  MlirType type = tileResultType(lowering->op, 0);
  *result = (SparseResult){.count = 3};
  for (intptr_t i = 0; i < 3; i++)
    result->values[i] = lowering->operands[0].values[i];
  for (intptr_t axis = 0; axis < 2; axis++)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = sparseSize(lowering, 0, 1 - axis);
  return true;
}

bool sparseSupportsConvert(MlirOperation op) {
  return mlirTypeEqual(tileOperandType(op, 0), tileResultType(op, 0)) || notYet(op, tileResultType(op, 0));
}

bool sparseLowerConvert(SparseLowering *lowering, SparseResult *result) {
  *result = (SparseResult){.count = lowering->operands[0].count};
  for (intptr_t i = 0; i < result->count; i++)
    result->values[i] = lowering->operands[0].values[i];
  return true;
}
