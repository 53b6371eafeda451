// Every format as a list of entries, and lists sorted into lines by counting. See lists.h. Sorting is one program that
// goes over the entries twice: on GPUs slow, but the same kernel.
#include "dialects/tile/ops.h"
#include "lib/conversion/sparse_to_tile/formats/formats.h"

MlirType sparseVectorOf(MlirType element) {
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  return mlirRankedTensorTypeGet(1, open, element, mlirAttributeGetNull());
}

static MlirType wide(SparseLowering *lowering) { return mlirIntegerTypeGet(lowering->builder.context, 64); }

MlirValue sparseNumbers(SparseLowering *lowering, MlirValue count) {
  return sparseEmpty(lowering, sparseVectorOf(wide(lowering)), 1, &count);
}

MlirValue sparseTotal(SparseLowering *lowering, MlirValue positions, MlirValue lines) {
  TileBuilder *b = &lowering->builder;
  MlirValue last = tensorExtractOpBuild(b, positions, 1, &lines);
  return arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), last);
}

SparseMatrix sparseMatrixOf(SparseLowering *lowering, intptr_t operand) {
  return (SparseMatrix){tileOperandType(lowering->op, operand),
                        lowering->operands[operand].values,
                        {sparseSize(lowering, operand, 0), sparseSize(lowering, operand, 1)}};
}

intptr_t sparseTermsOf(const SparseMatrix *matrix, SparseMatrix terms[SparseMaxTerms]) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  terms[0] = *matrix;
  if (!sparseEncodingIs(encoding, SparseScheme_Parts))
    return 1;
  intptr_t count = sparseEncodingGetNumParts(encoding);
  const MlirValue *parts = matrix->parts;
  for (intptr_t i = 0; i < count; ++i) {
    terms[i] = *matrix;
    terms[i].type = sparseTypeWithEncoding(matrix->type, sparseEncodingGetPart(encoding, i));
    terms[i].parts = parts;
    parts += sparseTypeGetComponents(terms[i].type, unused);
  }
  return count;
}

//===--- shapes ---------------------------------------------------------------------===//

MlirValue sparseFlatten(SparseLowering *lowering, MlirValue value) {
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  return rank == 1 ? value : sparseCollapse(lowering, value, 0, rank);
}

// Upstream's expand-strided-metadata (22.1) crashes on several open sizes before static ones, as windows have them:
// those are copied.
MlirValue sparseUnflatten(SparseLowering *lowering, MlirValue flat, MlirValue like) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(like);
  intptr_t rank = mlirShapedTypeGetRank(type), open = 0;
  int64_t shape[8];
  MlirValue sizes[8];
  if (rank == 1)
    return flat;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      sizes[open++] = tileBuildSize(&lowering->builder, like, i);
  }
  MlirType result = mlirRankedTensorTypeGet(rank, shape, sparseElement(flat), mlirAttributeGetNull());
  if (rank == 4 && open) {
    const MlirValue grid[] = {tileBuildSize(&lowering->builder, like, 0), tileBuildSize(&lowering->builder, like, 1)};
    const TileShapeWindows shapes = {.E = sparseElement(flat), .KEPT = shape[2], .ROWS = shape[3]};
    return sparseLaunch(lowering, tileUseShapeWindows(shapes), 2, grid, 1, &flat,
                        sparseEmpty(lowering, result, open, sizes));
  }
  return tensorExpandShapeOpBuild(b, result, flat, open, sizes, sparseOneGroup(b, rank),
                                  mlirDenseI64ArrayGet(b->context, rank, shape));
}

intptr_t sparseValuesIndex(MlirType type) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  return sparseTypeGetComponents(type, parts) - 1;
}

//===--- lists ----------------------------------------------------------------------===//

SparseList sparseListOf(SparseLowering *lowering, const SparseMatrix *matrix) {
  return sparseLoweringOf(matrix->type)->list(lowering, matrix);
}

SparseList sparseListFrom(SparseLowering *lowering, const SparseMatrix *matrix, TileTemplateUse places, int first,
                          intptr_t numGrid, const MlirValue *grid, intptr_t numInputs, const MlirValue *inputs) {
  SparseList list = {.sizes = {matrix->sizes[0], matrix->sizes[1]}};
  list.values = sparseFlatten(lowering, matrix->parts[sparseValuesIndex(matrix->type)]);
  MlirValue entries = tileBuildSize(&lowering->builder, list.values, 0);
  MlirValue made[] = {sparseNumbers(lowering, entries), sparseNumbers(lowering, entries)};
  if (!sparseLaunchAll(lowering, places, numGrid, grid, numInputs, inputs, 2, made))
    return (SparseList){0};
  list.at[first] = made[0];
  list.at[1 - first] = made[1];
  return list;
}

//===--- lines ----------------------------------------------------------------------===//

// The list sorted by its places along `axis`, stably; entries of -1 are left out.
static SparseLines sortBy(SparseLowering *lowering, SparseList *list, int axis) {
  TileBuilder *b = &lowering->builder;
  MlirValue ends = tileBuildAdd(b, list->sizes[axis], tileBuildIndex(b, 1)), one = tileBuildIndex(b, 1);
  const TileSortByKey sorts = {.E = sparseElement(list->values)};
  MlirValue positions = sparseLaunch(lowering, tileUseCountKeys((TileCountKeys){0}), 1, &one, 1, &list->at[axis],
                                     sparseNumbers(lowering, ends));
  if (mlirValueIsNull(positions))
    return (SparseLines){{NULL}};
  MlirValue count = sparseTotal(lowering, positions, list->sizes[axis]);
  const MlirValue inputs[] = {list->at[axis], list->at[1 - axis], list->values, positions};
  MlirValue made[] = {sparseNumbers(lowering, ends), sparseNumbers(lowering, count), sparseNumbers(lowering, count),
                      sparseEmpty(lowering, sparseVectorOf(sparseElement(list->values)), 1, &count)};
  if (!sparseLaunchAll(lowering, tileUseSortByKey(sorts), 1, &one, 4, inputs, 4, made))
    return (SparseLines){{NULL}};
  list->at[axis] = made[1];
  list->at[1 - axis] = made[2];
  list->values = made[3];
  return (SparseLines){positions, made[2], made[3], {list->sizes[0], list->sizes[1]}, axis};
}

SparseLines sparseLinesOfList(SparseLowering *lowering, const SparseList *from, int axis) {
  SparseList list = *from;
  if (!list.isRowMajor && mlirValueIsNull(sortBy(lowering, &list, 1 - axis).positions))
    return (SparseLines){{NULL}};
  return sortBy(lowering, &list, axis);
}

// The value of an entry, or its number.
static MlirValue buildValue(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  bool areNumbers = *(const bool *)data;
  return areNumbers ? arithIndexCastOpBuild(b, result, operands[1])
                    : memrefLoadOpBuild(b, operands[0], 1, &operands[1]);
}

SparseLines sparseTurnLines(SparseLowering *lowering, const SparseLines *lines, bool areNumbers) {
  TileBuilder *b = &lowering->builder;
  MlirType p = sparseElement(lines->positions), i = sparseElement(lines->coordinates);
  MlirType element = sparseElement(lines->values), value = areNumbers ? p : element;
  const TileTurnLines turns = {.P = p, .I = i, .E = element, .V = value, .value = {buildValue, &areNumbers}};
  MlirValue one = tileBuildIndex(b, 1), ends = tileBuildAdd(b, lines->sizes[1 - lines->axis], one);
  MlirValue count = sparseTotal(lowering, lines->positions, lines->sizes[lines->axis]);
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values};
  MlirValue made[] = {sparseEmpty(lowering, sparseVectorOf(p), 1, &ends),
                      sparseEmpty(lowering, sparseVectorOf(i), 1, &count),
                      sparseEmpty(lowering, sparseVectorOf(value), 1, &count)};
  if (!sparseLaunchAll(lowering, tileUseTurnLines(turns), 1, &one, 3, inputs, 3, made))
    return (SparseLines){{NULL}};
  return (SparseLines){made[0], made[1], made[2], {lines->sizes[0], lines->sizes[1]}, 1 - lines->axis};
}

SparseLines sparseLinesOf(SparseLowering *lowering, const SparseMatrix *matrix, int axis) {
  SparseStorage storage = sparseEncodingGetStorage(sparseTypeGetEncoding(matrix->type));
  if (storage.scheme == SparseScheme_Segments && !storage.hasCells) {
    const MlirValue *parts = matrix->parts;
    SparseLines lines = {parts[0], parts[1], parts[2], {matrix->sizes[0], matrix->sizes[1]}, storage.major};
    return storage.major == axis ? lines : sparseTurnLines(lowering, &lines, false);
  }
  SparseList list = sparseListOf(lowering, matrix);
  return mlirValueIsNull(list.at[0]) ? (SparseLines){{NULL}} : sparseLinesOfList(lowering, &list, axis);
}

bool sparseMayRepeat(MlirType type) { return sparseEncodingMayRepeat(sparseTypeGetEncoding(type)); }

// Entries at one place are added up, or are an error.
static MlirValue buildCheck(TileBuilder *b, MlirType none, const MlirValue *operands, const void *data) {
  if (!*(const bool *)data)
    tileAssertOpCreate(b, operands[0], mlirStringAttrGet(b->context, tileString("two entries stand at one place")));
  return (MlirValue){NULL};
}

SparseLines sparseMerge(SparseLowering *lowering, const SparseLines *lines, bool mayAdd) {
  TileBuilder *b = &lowering->builder;
  MlirType element = sparseElement(lines->values);
  MlirValue number = lines->sizes[lines->axis], ends = tileBuildAdd(b, number, tileBuildIndex(b, 1));
  const TileMergePlaces merges = {.E = element, .ADD = mlirTypeIsAFloat(element) ? ArithOp_AddF : ArithOp_AddI};
  const TileCountPlaces counts = {.check = {buildCheck, &mayAdd}};
  const MlirValue inputs[] = {lines->positions, lines->coordinates};
  MlirValue count =
      sparseLaunch(lowering, tileUseCountPlaces(counts), 1, &number, 2, inputs, sparseNumbers(lowering, number));
  MlirValue positions = mlirValueIsNull(count) ? count : sparseSumUp(lowering, count, sparseNumbers(lowering, ends));
  if (mlirValueIsNull(positions))
    return (SparseLines){{NULL}};
  MlirValue entries = sparseTotal(lowering, positions, number);
  const MlirValue all[] = {lines->positions, lines->coordinates, lines->values, positions};
  MlirValue made[] = {sparseNumbers(lowering, entries), sparseEmpty(lowering, sparseVectorOf(element), 1, &entries)};
  if (!sparseLaunchAll(lowering, tileUseMergePlaces(merges), 1, &number, 4, all, 2, made))
    return (SparseLines){{NULL}};
  return (SparseLines){positions, made[0], made[1], {lines->sizes[0], lines->sizes[1]}, lines->axis};
}

MlirValue sparseResize(SparseLowering *lowering, MlirValue from, MlirType element) {
  unsigned seen = mlirIntegerTypeGetWidth(sparseElement(from)), wanted = mlirIntegerTypeGetWidth(element);
  if (seen == wanted)
    return from;
  MlirValue size = tileBuildSize(&lowering->builder, from, 0);
  int64_t shape = mlirShapedTypeGetDimSize(mlirValueGetType(from), 0);
  MlirType type = mlirRankedTensorTypeGet(1, &shape, element, mlirAttributeGetNull());
  MlirValue to = sparseEmpty(lowering, type, mlirShapedTypeIsDynamicSize(shape), &size);
  SparseBody body = sparseBodyBegin(lowering, 1, &from, element);
  MlirValue value = mlirBlockGetArgument(body.block, 0);
  value = tileBuildCast(&body.builder, seen < wanted ? ArithOp_ExtSI : ArithOp_TruncI, value, element);
  return sparseBodyEnd(lowering, &body, 1, &from, to, value);
}

SparseLines sparseWideLines(SparseLowering *lowering, const SparseLines *lines) {
  SparseLines result = *lines;
  result.positions = sparseResize(lowering, lines->positions, wide(lowering));
  result.coordinates = sparseResize(lowering, lines->coordinates, wide(lowering));
  return result;
}

//===--- formats --------------------------------------------------------------------===//

int sparseAxisOfLines(MlirType type) { return sparseEncodingGetStorage(sparseTypeGetEncoding(type)).major; }

MlirValue sparseZerosLike(SparseLowering *lowering, MlirType type, const MlirValue *sizes) {
  MlirValue open[8];
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      open[count++] = sizes[axis];
  return sparseZeros(lowering, type, count, open);
}

bool sparseFromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  *result = (SparseResult){.count = 0};
  if (mlirValueIsNull(lines->positions) || !sparseLoweringOf(type)->fromLines(lowering, lines, type, result))
    return false;
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = lines->sizes[axis];
  return true;
}

MlirValue sparseCountCells(SparseLowering *lowering, const MlirValue sizes[2], int64_t axis, int64_t cell) {
  return tileBuildCeilDiv(&lowering->builder, sizes[axis], tileBuildIndex(&lowering->builder, cell));
}

MlirValue sparseUnpackLines(SparseLowering *lowering, const SparseLines *lines, int axis, MlirValue zeros) {
  const TileUnpackCsr unpacks = {.P = sparseElement(lines->positions),
                                 .I = sparseElement(lines->coordinates),
                                 .E = sparseElement(lines->values),
                                 .put = sparseHookPut(&axis)};
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values};
  return sparseLaunch(lowering, tileUseUnpackCsr(unpacks), 1, &lines->sizes[axis], 3, inputs, zeros);
}

MlirValue sparseSumUp(SparseLowering *lowering, MlirValue counts, MlirValue positions) {
  const TilePositions sums = {.P = sparseElement(positions)};
  MlirValue one = tileBuildIndex(&lowering->builder, 1);
  return sparseLaunch(lowering, tileUsePositions(sums), 1, &one, 1, &counts, positions);
}
