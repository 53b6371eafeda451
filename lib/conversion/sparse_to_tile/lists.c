// Every format as a list of entries, and lists sorted into lines by counting. See lists.h. Sorting is one program that
// goes over the entries twice: on GPUs slow, but the same kernel.
#include "lib/conversion/sparse_to_tile/lists.h"

#include <string.h>

static MlirType tensorOf(SparseLowering *lowering, MlirType element) {
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  return mlirRankedTensorTypeGet(1, open, element, mlirAttributeGetNull());
}

static MlirType wide(SparseLowering *lowering) { return mlirIntegerTypeGet(lowering->builder.context, 64); }

static MlirType elementOf(MlirValue value) { return mlirShapedTypeGetElementType(mlirValueGetType(value)); }

MlirValue sparseNumbers(SparseLowering *lowering, MlirValue count) {
  return sparseEmpty(lowering, tensorOf(lowering, wide(lowering)), 1, &count);
}

MlirValue sparseTotal(SparseLowering *lowering, MlirValue positions, MlirValue lines) {
  TileBuilder *b = &lowering->builder;
  MlirValue last = tileBuildValue(b, "tensor.extract", elementOf(positions), 2, (MlirValue[]){positions, lines}, NULL);
  return tileBuildValue(b, "arith.index_cast", mlirIndexTypeGet(b->context), 1, &last, NULL);
}

SparseMatrix sparseMatrixOf(SparseLowering *lowering, intptr_t operand) {
  return (SparseMatrix){tileOperandType(lowering->op, operand),
                        lowering->operands[operand].values,
                        {sparseSize(lowering, operand, 0), sparseSize(lowering, operand, 1)}};
}

intptr_t sparseTermsOf(const SparseMatrix *matrix, SparseMatrix terms[SPARSE_MAX_TERMS]) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  terms[0] = *matrix;
  if (!sparseEncodingIs(encoding, SparseSum))
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

static MlirAttribute allAxes(const TileBuilder *b, intptr_t rank) {
  MlirAttribute axes[8];
  for (intptr_t i = 0; i < rank; ++i)
    axes[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), i);
  MlirAttribute group = mlirArrayAttrGet(b->context, rank, axes);
  return mlirArrayAttrGet(b->context, 1, &group);
}

MlirValue sparseFlatten(SparseLowering *lowering, MlirValue value) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(value);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t count = 1;
  if (rank == 1)
    return value;
  for (intptr_t i = 0; i < rank; ++i)
    count = mlirShapedTypeIsDynamicDim(type, i) || mlirShapedTypeIsDynamicSize(count)
                ? mlirShapedTypeGetDynamicSize()
                : count * mlirShapedTypeGetDimSize(type, i);
  MlirType flat = mlirRankedTensorTypeGet(1, &count, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  const TileAttributeEntry attributes[] = {{"reassociation", allAxes(b, rank)}, {NULL}};
  return tileBuildValue(b, "tensor.collapse_shape", flat, 1, &value, attributes);
}

// Upstream's expand-strided-metadata (22.1) crashes on several open sizes before static ones, as windows have them:
// those are copied.
MlirValue sparseUnflatten(SparseLowering *lowering, MlirValue flat, MlirValue like) {
  TileBuilder *b = &lowering->builder;
  MlirType type = mlirValueGetType(like);
  intptr_t rank = mlirShapedTypeGetRank(type), open = 0;
  int64_t shape[8];
  MlirValue sizes[9] = {flat};
  if (rank == 1)
    return flat;
  for (intptr_t i = 0; i < rank; ++i) {
    shape[i] = mlirShapedTypeGetDimSize(type, i);
    if (mlirShapedTypeIsDynamicSize(shape[i]))
      sizes[++open] = sparseDenseSize(lowering, like, i);
  }
  MlirType result = mlirRankedTensorTypeGet(rank, shape, elementOf(flat), mlirAttributeGetNull());
  if (rank == 4 && open) {
    const MlirValue grid[] = {sparseDenseSize(lowering, like, 0), sparseDenseSize(lowering, like, 1)};
    const SparseWord words[] = {sparseTypeWord("E", elementOf(flat)),
                                sparseNumberWord("KEPT", shape[2]),
                                sparseNumberWord("ROWS", shape[3]),
                                {NULL}};
    return sparseLaunch(lowering, "shape_windows", words, 2, grid, 1, &flat,
                        sparseEmpty(lowering, result, open, sizes + 1));
  }
  const TileAttributeEntry attributes[] = {{"reassociation", allAxes(b, rank)},
                                           {"static_output_shape", mlirDenseI64ArrayGet(b->context, rank, shape)},
                                           {NULL}};
  return tileBuildValue(b, "tensor.expand_shape", result, 1 + open, sizes, attributes);
}

intptr_t sparseValuesIndex(MlirType type) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  return sparseTypeGetComponents(type, parts) - 1;
}

//===--- lists ----------------------------------------------------------------------===//

// How many blocks, tiles, windows or groups lie along an axis.
static MlirValue countCells(SparseLowering *lowering, const SparseMatrix *matrix, int axis, int64_t cell) {
  return tileBuildCeilDiv(&lowering->builder, matrix->sizes[axis], tileBuildIndex(&lowering->builder, cell));
}

// Vectors one after another.
static MlirValue concatenate(SparseLowering *lowering, intptr_t count, const MlirValue *vectors) {
  TileBuilder *b = &lowering->builder;
  MlirValue sizes[SPARSE_MAX_TERMS], total = tileBuildIndex(b, 0), offset = total;
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()}, one[] = {1};
  for (intptr_t i = 0; i < count; ++i) {
    sizes[i] = sparseDenseSize(lowering, vectors[i], 0);
    total = tileBuildAdd(b, total, sizes[i]);
  }
  MlirType type = tensorOf(lowering, elementOf(vectors[0]));
  MlirValue result = sparseEmpty(lowering, type, 1, &total);
  const TileAttributeEntry attributes[] = {
      {"static_offsets", mlirDenseI64ArrayGet(b->context, 1, open)},
      {"static_sizes", mlirDenseI64ArrayGet(b->context, 1, open)},
      {"static_strides", mlirDenseI64ArrayGet(b->context, 1, one)},
      {"operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 5, (const int32_t[]){1, 1, 1, 1, 0})},
      {NULL}};
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue vector = sparseCast(lowering, vectors[i], type);
    result =
        tileBuildValue(b, "tensor.insert_slice", type, 4, (MlirValue[]){vector, result, offset, sizes[i]}, attributes);
    offset = tileBuildAdd(b, offset, sizes[i]);
  }
  return result;
}

static SparseList listOfTerms(SparseLowering *lowering, intptr_t count, const SparseMatrix *terms) {
  MlirValue rows[SPARSE_MAX_TERMS], columns[SPARSE_MAX_TERMS], values[SPARSE_MAX_TERMS];
  for (intptr_t i = 0; i < count; ++i) {
    SparseList list = sparseListOf(lowering, &terms[i]);
    if (mlirValueIsNull(list.at[0]))
      return (SparseList){0};
    rows[i] = list.at[0];
    columns[i] = list.at[1];
    values[i] = list.values;
  }
  return (SparseList){.at = {concatenate(lowering, count, rows), concatenate(lowering, count, columns)},
                      .values = concatenate(lowering, count, values),
                      .sizes = {terms[0].sizes[0], terms[0].sizes[1]}};
}

SparseList sparseListOf(SparseLowering *lowering, const SparseMatrix *matrix) {
  SparseMatrix terms[SPARSE_MAX_TERMS];
  intptr_t numTerms = sparseTermsOf(matrix, terms);
  if (sparseEncodingIs(sparseTypeGetEncoding(matrix->type), SparseSum))
    return listOfTerms(lowering, numTerms, terms);
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  SparseFormat format = sparseEncodingGetFormat(encoding);
  const MlirValue *parts = matrix->parts;
  SparseList list = {.sizes = {matrix->sizes[0], matrix->sizes[1]}};
  MlirValue grid[2], inputs[4] = {parts[0], parts[1]};
  SparseWord words[12] = {{NULL}};
  const char *kernel = NULL;
  intptr_t numGrid = 1, numInputs = 2, count = 0;
  int first = 0; // the axis of the kernel's first output
  list.values = sparseFlatten(lowering, parts[sparseValuesIndex(matrix->type)]);
  MlirValue entries = sparseDenseSize(lowering, list.values, 0);
  MlirValue made[] = {sparseNumbers(lowering, entries), sparseNumbers(lowering, entries)};
  bool isBlocks = format == SparseBsr || format == SparseMask;
  const char *key = format == SparseBsr ? "block" : "tile";
  int64_t cell[2] = {1, 1};
  for (int i = 0; i < 2 && isBlocks; ++i)
    cell[i] = sparseEncodingGetSize(encoding, key, i);
  if (isBlocks) {
    words[count++] = sparseNumberWord("HEIGHT", cell[0]);
    words[count++] = sparseNumberWord("WIDTH", cell[1]);
  }
  if (format == SparseCsr || format == SparseCsc || format == SparseBsr)
    words[count++] = sparseTypeWord("P", elementOf(parts[0]));
  if (format != SparseMask)
    words[count++] = sparseTypeWord("I", sparseEncodingGetType(encoding, "coordinates"));
  list.isRowMajor = format == SparseCsr || format == SparseMask ||
                    (format == SparseCoo && !sparseEncodingGetFlag(encoding, "unordered"));
  switch (format) {
  case SparseCsr:
  case SparseCsc:
    first = format == SparseCsc;
    kernel = "places_csr";
    grid[0] = matrix->sizes[first];
    break;
  case SparseBsr:
    kernel = "places_bsr";
    inputs[2] = matrix->sizes[0];
    inputs[3] = matrix->sizes[1];
    numInputs = 4;
    grid[0] = countCells(lowering, matrix, 0, cell[0]);
    break;
  case SparseCoo:
    kernel = "places_coo";
    numInputs = 1;
    grid[0] = entries;
    break;
  case SparseNm: {
    SparseWindows w = sparseEncodingGetWindows(encoding);
    kernel = "places_nm";
    first = (int)(1 - w.axis);
    inputs[1] = matrix->sizes[1 - w.axis];
    inputs[2] = matrix->sizes[w.axis];
    numInputs = 3;
    numGrid = 2;
    grid[0] = countCells(lowering, matrix, first, w.lines);
    grid[1] = countCells(lowering, matrix, (int)w.axis, w.m);
    words[count++] = sparseNumberWord("UNITS", w.n / w.together);
    words[count++] = sparseNumberWord("TOGETHER", w.together);
    words[count++] = sparseNumberWord("KEPT", w.n);
    words[count++] = sparseNumberWord("WINDOW", w.m);
    words[count++] = sparseNumberWord("ROWS", w.lines);
    break;
  }
  default:
    kernel = "places_mask";
    inputs[1] = matrix->sizes[1];
    grid[0] = matrix->sizes[0];
    break;
  }
  if (!sparseLaunchAll(lowering, kernel, words, numGrid, grid, numInputs, inputs, 2, made))
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
  const SparseWord words[] = {sparseTypeWord("E", elementOf(list->values)), {NULL}};
  MlirValue positions =
      sparseLaunch(lowering, "count_keys", words, 1, &one, 1, &list->at[axis], sparseNumbers(lowering, ends));
  if (mlirValueIsNull(positions))
    return (SparseLines){{NULL}};
  MlirValue count = sparseTotal(lowering, positions, list->sizes[axis]);
  const MlirValue inputs[] = {list->at[axis], list->at[1 - axis], list->values, positions};
  MlirValue made[] = {sparseNumbers(lowering, ends), sparseNumbers(lowering, count), sparseNumbers(lowering, count),
                      sparseEmpty(lowering, tensorOf(lowering, elementOf(list->values)), 1, &count)};
  if (!sparseLaunchAll(lowering, "sort_by_key", words, 1, &one, 4, inputs, 4, made))
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

SparseLines sparseLinesOf(SparseLowering *lowering, const SparseMatrix *matrix, int axis) {
  MlirAttribute encoding = sparseTypeGetEncoding(matrix->type);
  if (sparseEncodingIs(encoding, axis ? SparseCsc : SparseCsr))
    return (SparseLines){
        matrix->parts[0], matrix->parts[1], matrix->parts[2], {matrix->sizes[0], matrix->sizes[1]}, axis};
  SparseList list = sparseListOf(lowering, matrix);
  return mlirValueIsNull(list.at[0]) ? (SparseLines){{NULL}} : sparseLinesOfList(lowering, &list, axis);
}

bool sparseMayRepeat(MlirType type) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  return sparseEncodingIs(encoding, SparseSum) ||
         (sparseEncodingIs(encoding, SparseCoo) && sparseEncodingGetFlag(encoding, "unordered"));
}

SparseLines sparseMerge(SparseLowering *lowering, const SparseLines *lines, bool mayAdd) {
  TileBuilder *b = &lowering->builder;
  MlirType element = elementOf(lines->values);
  MlirValue number = lines->sizes[lines->axis], one = tileBuildIndex(b, 1), ends = tileBuildAdd(b, number, one);
  const SparseWord words[] = {
      sparseTypeWord("E", element),
      sparseTypeWord("P", wide(lowering)),
      sparseZeroWord(element),
      sparseTextWord("ADD", mlirTypeIsAFloat(element) ? "addf" : "addi"),
      sparseTextWord("CHECK", mayAdd ? "" : "tile.assert %differs, \"two entries stand at one place\" : i1"),
      {NULL}};
  const MlirValue inputs[] = {lines->positions, lines->coordinates};
  MlirValue count =
      sparseLaunch(lowering, "count_places", words, 1, &number, 2, inputs, sparseNumbers(lowering, number));
  MlirValue positions = mlirValueIsNull(count) ? count
                                               : sparseLaunch(lowering, "positions", words, 1, &one, 1, &count,
                                                              sparseNumbers(lowering, ends));
  if (mlirValueIsNull(positions))
    return (SparseLines){{NULL}};
  MlirValue entries = sparseTotal(lowering, positions, number);
  const MlirValue all[] = {lines->positions, lines->coordinates, lines->values, positions};
  MlirValue made[] = {sparseNumbers(lowering, entries),
                      sparseEmpty(lowering, tensorOf(lowering, element), 1, &entries)};
  if (!sparseLaunchAll(lowering, "merge_places", words, 1, &number, 4, all, 2, made))
    return (SparseLines){{NULL}};
  return (SparseLines){positions, made[0], made[1], {lines->sizes[0], lines->sizes[1]}, lines->axis};
}

// Integers of another width.
static MlirValue resize(SparseLowering *lowering, MlirValue from, MlirType element) {
  unsigned seen = mlirIntegerTypeGetWidth(elementOf(from)), wanted = mlirIntegerTypeGetWidth(element);
  if (seen == wanted)
    return from;
  MlirValue size = sparseDenseSize(lowering, from, 0);
  int64_t shape = mlirShapedTypeGetDimSize(mlirValueGetType(from), 0);
  MlirType type = mlirRankedTensorTypeGet(1, &shape, element, mlirAttributeGetNull());
  MlirValue to = sparseEmpty(lowering, type, mlirShapedTypeIsDynamicSize(shape), &size);
  SparseBody body = sparseBodyBegin(lowering, 1, &from, element);
  MlirValue value = mlirBlockGetArgument(body.block, 0);
  value = tileBuildValue(&body.builder, seen < wanted ? "arith.extsi" : "arith.trunci", element, 1, &value, NULL);
  return sparseBodyEnd(lowering, &body, 1, &from, to, value);
}

SparseLines sparseWideLines(SparseLowering *lowering, const SparseLines *lines) {
  SparseLines result = *lines;
  result.positions = resize(lowering, lines->positions, wide(lowering));
  result.coordinates = resize(lowering, lines->coordinates, wide(lowering));
  return result;
}

//===--- formats --------------------------------------------------------------------===//

int sparseAxisOfLines(MlirType type) { return sparseEncodingIs(sparseTypeGetEncoding(type), SparseCsc) ? 1 : 0; }

static bool fromCoordinates(SparseLowering *lowering, const SparseLines *lines, const SparseComponent *parts,
                            SparseResult *result) {
  MlirValue count = sparseDenseSize(lowering, lines->values, 0);
  const SparseWord words[] = {sparseTypeWord("P", elementOf(lines->positions)),
                              sparseTypeWord("I", elementOf(lines->coordinates)),
                              sparseTypeWord("TO", mlirShapedTypeGetElementType(parts[0].type)),
                              {NULL}};
  const MlirValue inputs[] = {lines->positions, lines->coordinates};
  MlirValue made = sparseLaunch(lowering, "coordinates", words, 1, &lines->sizes[0], 2, inputs,
                                sparseEmpty(lowering, parts[0].type, 1, &count));
  *result = (SparseResult){{made, sparseCast(lowering, lines->values, parts[1].type)}, 2};
  return !mlirValueIsNull(made);
}

// Which blocks hold an entry is a dense matrix; packed as csr it gives positions and coordinates.
static bool fromBlocks(SparseLowering *lowering, const SparseLines *lines, MlirType type, const SparseComponent *parts,
                       SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  int64_t height = sparseEncodingGetSize(encoding, "block", 0), width = sparseEncodingGetSize(encoding, "block", 1);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  const SparseWord words[] = {sparseTypeWord("P", elementOf(lines->positions)),
                              sparseTypeWord("I", elementOf(lines->coordinates)),
                              sparseTypeWord("E", elementOf(lines->values)),
                              sparseTypeWord("BP", mlirShapedTypeGetElementType(parts[0].type)),
                              sparseTypeWord("BI", mlirShapedTypeGetElementType(parts[1].type)),
                              sparseNumberWord("HEIGHT", height),
                              sparseNumberWord("WIDTH", width),
                              {NULL}};
  MlirValue sizes[] = {tileBuildCeilDiv(b, lines->sizes[0], tileBuildIndex(b, height)),
                       tileBuildCeilDiv(b, lines->sizes[1], tileBuildIndex(b, width))};
  const int64_t open[] = {mlirShapedTypeGetDynamicSize(), mlirShapedTypeGetDynamicSize()};
  MlirType marksType = mlirRankedTensorTypeGet(2, open, i32, mlirAttributeGetNull());
  MlirType slotsType = mlirRankedTensorTypeGet(2, open, wide(lowering), mlirAttributeGetNull());
  MlirValue marks =
      sparseLaunch(lowering, "mark_blocks", words, 1, sizes, 2, (MlirValue[]){lines->positions, lines->coordinates},
                   sparseEmpty(lowering, marksType, 2, sizes));
  SparseComponent pattern[3] = {parts[0], parts[1], {"values", tensorOf(lowering, i32)}};
  if (mlirValueIsNull(marks) || !sparsePackSegments(lowering, marks, pattern, result))
    return false;
  MlirValue blocks = sparseDenseSize(lowering, result->values[1], 0);
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values, result->values[0],
                              result->values[1]};
  MlirValue made[] = {sparseEmpty(lowering, slotsType, 2, sizes), sparseZeros(lowering, parts[2].type, 1, &blocks)};
  if (!sparseLaunchAll(lowering, "fill_blocks", words, 1, sizes, 5, inputs, 2, made))
    return false;
  result->values[2] = made[1];
  return true;
}

// Zeros of a type whose open sizes are some of `sizes`, by axis.
static MlirValue zerosLike(SparseLowering *lowering, MlirType type, const MlirValue *sizes) {
  MlirValue open[8];
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      open[count++] = sizes[axis];
  return sparseZeros(lowering, type, count, open);
}

static bool fromTiles(SparseLowering *lowering, const SparseLines *lines, MlirType type, const SparseComponent *parts,
                      SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  int64_t height = sparseEncodingGetSize(encoding, "tile", 0), width = sparseEncodingGetSize(encoding, "tile", 1);
  const SparseWord words[] = {sparseTypeWord("P", elementOf(lines->positions)),
                              sparseTypeWord("I", elementOf(lines->coordinates)),
                              sparseTypeWord("E", elementOf(lines->values)),
                              sparseNumberWord("HEIGHT", height),
                              sparseNumberWord("WIDTH", width),
                              {NULL}};
  MlirValue tiles[] = {tileBuildCeilDiv(b, lines->sizes[0], tileBuildIndex(b, height)),
                       tileBuildCeilDiv(b, lines->sizes[1], tileBuildIndex(b, width))};
  const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values};
  *result =
      (SparseResult){{zerosLike(lowering, parts[0].type, tiles), zerosLike(lowering, parts[1].type, lines->sizes)}, 2};
  return sparseLaunchAll(lowering, "fill_mask", words, 1, tiles, 3, inputs, 2, result->values);
}

bool sparseFromLines(SparseLowering *lowering, const SparseLines *lines, MlirType type, SparseResult *result) {
  SparseComponent parts[SPARSE_MAX_COMPONENTS];
  bool ok = !mlirValueIsNull(lines->positions);
  sparseTypeGetComponents(type, parts);
  switch (sparseEncodingGetFormat(sparseTypeGetEncoding(type))) {
  case SparseCsr:
  case SparseCsc:
    if (!ok)
      return false;
    *result = (SparseResult){.count = 3};
    for (intptr_t i = 0; i < 3; ++i) {
      MlirValue part = i == 0 ? lines->positions : i == 1 ? lines->coordinates : lines->values;
      MlirType element = mlirShapedTypeGetElementType(parts[i].type);
      result->values[i] = sparseCast(lowering, i == 2 ? part : resize(lowering, part, element), parts[i].type);
    }
    break;
  case SparseCoo:
    ok = ok && fromCoordinates(lowering, lines, parts, result);
    break;
  case SparseBsr:
    ok = ok && fromBlocks(lowering, lines, type, parts, result);
    break;
  case SparseMask:
    ok = ok && fromTiles(lowering, lines, type, parts, result);
    break;
  default: { // nm, by way of a dense matrix
    MlirType dense = sparseTypeWithEncoding(type, mlirAttributeGetNull());
    const SparseWord words[] = {sparseTypeWord("E", mlirShapedTypeGetElementType(type)),
                                sparseTypeWord("P", ok ? elementOf(lines->positions) : dense),
                                sparseTypeWord("I", ok ? elementOf(lines->coordinates) : dense),
                                sparseTextWord("PLACE", "%row, %column"),
                                {NULL}};
    const MlirValue inputs[] = {lines->positions, lines->coordinates, lines->values};
    MlirValue value = ok ? sparseLaunch(lowering, "unpack_csr", words, 1, lines->sizes, 3, inputs,
                                        zerosLike(lowering, dense, lines->sizes))
                         : (MlirValue){NULL};
    ok = !mlirValueIsNull(value) && sparsePackWindows(lowering, value, type, result);
  }
  }
  for (intptr_t axis = 0; ok && axis < 2; ++axis)
    if (mlirShapedTypeIsDynamicDim(type, axis))
      result->values[result->count++] = lines->sizes[axis];
  return ok;
}
