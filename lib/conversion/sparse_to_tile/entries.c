// Ops that work entry by entry: sddmm and spgemm into a pattern, add, mul, map, select and reduce. All formats take
// part through lists of their entries (lists.h).
#include "dialects/sparse/ops.h"
#include "dialects/tile/questions.h"
#include "lib/conversion/sparse_to_tile/lists.h"

static MlirType elementOf(MlirType type) { return mlirShapedTypeGetElementType(type); }

static bool has(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

// A value for each entry of a list; null after a diagnostic.
typedef MlirValue (*Compute)(SparseLowering *lowering, const SparseList *list, const void *data);

// The matrix with other values, in its order; of a sum, term by term.
static bool withValues(SparseLowering *lowering, intptr_t operand, Compute compute, const void *data,
                       SparseResult *result) {
  SparseMatrix matrix = sparseMatrixOf(lowering, operand), terms[SparseMaxTerms];
  intptr_t count = sparseTermsOf(&matrix, terms);
  *result = (SparseResult){.count = lowering->operands[operand].count};
  for (intptr_t i = 0; i < result->count; ++i)
    result->values[i] = matrix.parts[i];
  for (intptr_t i = 0; i < count; ++i) {
    SparseList list = sparseListOf(lowering, &terms[i]);
    MlirValue flat = mlirValueIsNull(list.at[0]) ? list.at[0] : compute(lowering, &list, data);
    if (mlirValueIsNull(flat))
      return false;
    intptr_t index = terms[i].parts - matrix.parts + sparseValuesIndex(terms[i].type);
    result->values[index] = sparseUnflatten(lowering, flat, result->values[index]);
    if (mlirValueIsNull(result->values[index]))
      return false;
  }
  return true;
}

// An uninitialized vector with one element for each entry of the list.
static MlirValue emptyLike(SparseLowering *lowering, const SparseList *list, MlirType element) {
  int64_t shape = mlirShapedTypeGetDimSize(mlirValueGetType(list->values), 0);
  MlirValue size = tileBuildSize(&lowering->builder, list->values, 0);
  MlirType type = mlirRankedTensorTypeGet(1, &shape, element, mlirAttributeGetNull());
  return sparseEmpty(lowering, type, mlirShapedTypeIsDynamicSize(shape), &size);
}

// The operand as lines none of whose places is stored twice.
SparseLines sparseLinesWithoutRepeats(SparseLowering *lowering, intptr_t operand, int axis) {
  SparseMatrix matrix = sparseMatrixOf(lowering, operand);
  SparseLines lines = sparseLinesOf(lowering, &matrix, axis);
  bool merges = !mlirValueIsNull(lines.positions) && sparseMayRepeat(matrix.type);
  return merges ? sparseMerge(lowering, &lines, true) : lines;
}

//===--- into a pattern -------------------------------------------------------------===//

// At least one, at most a tile of them.
static int64_t depthOf(const SparseLowering *lowering, MlirValue rows) {
  int64_t depth = mlirShapedTypeGetDimSize(mlirValueGetType(rows), 1);
  int64_t most = lowering->target->search.model.sparseDepth;
  return mlirShapedTypeIsDynamicSize(depth) || depth > most ? most : depth ? depth : 1;
}

// A kernel that takes places, then these.
typedef struct Launch {
  TileTemplateUse kernel;
  MlirType sum;
  MlirValue inputs[8];
  intptr_t numInputs;
} Launch;

static MlirValue launchOn(SparseLowering *lowering, const SparseList *list, const void *data) {
  const Launch *launch = data;
  MlirValue inputs[8] = {list->at[0], list->at[1]}, entries = tileBuildSize(&lowering->builder, list->values, 0);
  for (intptr_t i = 0; i < launch->numInputs; ++i)
    inputs[2 + i] = launch->inputs[i];
  return sparseLaunch(lowering, launch->kernel, 1, &entries, 2 + launch->numInputs, inputs,
                      emptyLike(lowering, list, launch->sum));
}

bool sparseLowerSddmm(SparseLowering *lowering, SparseResult *result) {
  MlirOperation op = lowering->op;
  MlirValue a = lowering->operands[0].values[0], b = lowering->operands[1].values[0];
  MlirType sum = elementOf(tileOnlyResultType(op));
  a = has(op, "transpose_lhs") ? tileBuildSwapped(&lowering->builder, a) : a;
  b = has(op, "transpose_rhs") ? b : tileBuildSwapped(&lowering->builder, b);
  MlirType element = sparseElement(a);
  SparseSemiring semiring = sparseSemiring(op, sum);
  const TileSddmm summed = {.E = element,
                            .A = sum,
                            .WIDEN = sparseWidenOp(element, sum),
                            .ADD = semiring.add,
                            .COLUMNS = depthOf(lowering, a),
                            .step = sparseHookStep(&semiring),
                            .finish = sparseHookFinish(&semiring)};
  const TileSddmmOver other = {
      .E = element, .A = sum, .WIDEN = summed.WIDEN, .MULTIPLY = semiring.multiply, .ADD = semiring.add};
  const Launch launch = {semiring.isSum ? tileUseSddmm(summed) : tileUseSddmmOver(other), sum, {a, b}, 2};
  return withValues(lowering, 2, launchOn, &launch, result);
}

bool sparseLowerSpgemm(SparseLowering *lowering, SparseResult *result) {
  MlirOperation op = lowering->op;
  MlirType element = elementOf(sparseSpgemmOpGetLhsType(op)), sum = elementOf(sparseSpgemmOpGetResultType(op));
  SparseLines a = sparseLinesWithoutRepeats(lowering, 0, has(op, "transpose_lhs") ? 1 : 0);
  if (mlirValueIsNull(a.positions))
    return false;
  if (sparseMultipliesMarked(lowering))
    return sparseMultiplyMarked(lowering, &a, result);
  SparseLines b = sparseLinesWithoutRepeats(lowering, 1, !has(op, "transpose_rhs"));
  if (mlirValueIsNull(b.positions))
    return false;
  SparseSemiring semiring = sparseSemiring(op, sum);
  const TileSpgemm product = {.E = element,
                              .A = sum,
                              .AP = sparseElement(a.positions),
                              .AI = sparseElement(a.coordinates),
                              .BP = sparseElement(b.positions),
                              .BI = sparseElement(b.coordinates),
                              .WIDEN = sparseWidenOp(element, sum),
                              .MULTIPLY = semiring.multiply,
                              .ADD = semiring.add,
                              .finish = sparseHookFinish(&semiring)};
  const Launch launch = {
      tileUseSpgemm(product), sum, {a.positions, a.coordinates, a.values, b.positions, b.coordinates, b.values}, 6};
  return withValues(lowering, 2, launchOn, &launch, result);
}

//===--- two matrices ---------------------------------------------------------------===//

static SparseLines operandLines(SparseLowering *lowering, intptr_t operand, int axis) {
  SparseLines lines = sparseLinesWithoutRepeats(lowering, operand, axis);
  return mlirValueIsNull(lines.positions) ? lines : sparseWideLines(lowering, &lines);
}

static bool combine(SparseLowering *lowering, bool isUnion, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  MlirType type = tileOnlyResultType(lowering->op), element = elementOf(type);
  int axis = sparseAxisOfLines(type);
  SparseLines lhs = operandLines(lowering, 0, axis), rhs = operandLines(lowering, 1, axis);
  SparseSemiring semiring = sparseSemiring(lowering->op, element);
  if (mlirValueIsNull(lhs.positions) || mlirValueIsNull(rhs.positions))
    return false;
  const TileCountCombined counts = {.UNION = isUnion};
  const TileCombine combines = {.E = element,
                                .GOES = isUnion ? ArithOp_OrI : ArithOp_AndI,
                                .COMBINE = isUnion ? semiring.add : semiring.multiply,
                                .UNION = isUnion};
  MlirValue number = lhs.sizes[axis], ends = tileBuildAdd(b, number, tileBuildIndex(b, 1));
  const MlirValue inputs[] = {lhs.positions, lhs.coordinates, rhs.positions, rhs.coordinates};
  MlirValue positions =
      sparseLaunch(lowering, tileUseCountCombined(counts), 1, &number, 4, inputs, sparseNumbers(lowering, number));
  if (!mlirValueIsNull(positions))
    positions = sparseSumUp(lowering, positions, sparseNumbers(lowering, ends));
  if (mlirValueIsNull(positions))
    return false;
  MlirValue entries = sparseTotal(lowering, positions, number);
  const int64_t open[] = {mlirShapedTypeGetDynamicSize()};
  MlirType values = mlirRankedTensorTypeGet(1, open, element, mlirAttributeGetNull());
  const MlirValue all[] = {lhs.positions,   lhs.coordinates, lhs.values, rhs.positions,
                           rhs.coordinates, rhs.values,      positions};
  MlirValue made[] = {sparseNumbers(lowering, entries), sparseEmpty(lowering, values, 1, &entries)};
  if (!sparseLaunchAll(lowering, tileUseCombine(combines), 1, &number, 7, all, 2, made))
    return false;
  const SparseLines lines = {positions, made[0], made[1], {lhs.sizes[0], lhs.sizes[1]}, axis};
  return sparseFromLines(lowering, &lines, type, result);
}

bool sparseLowerAdd(SparseLowering *lowering, SparseResult *result) { return combine(lowering, true, result); }
bool sparseLowerMul(SparseLowering *lowering, SparseResult *result) { return combine(lowering, false, result); }

//===--- regions --------------------------------------------------------------------===//

// Each entry's value and place through the op's region, then what the pass makes of that: a linalg op, because the
// region may be anything. Where nothing is stored the region sees one at the first place, and is not heard.
static MlirValue through(SparseLowering *lowering, const SparseList *list, MlirType wanted,
                         MlirValue (*choose)(SparseLowering *lowering, TileBuilder *b, MlirValue isStored,
                                             MlirValue yielded, MlirBlock block)) {
  MlirBlock region = mlirRegionGetFirstBlock(mlirOperationGetRegion(lowering->op, 0));
  const MlirValue inputs[] = {list->values, list->at[0], list->at[1]};
  SparseBody body = sparseBodyBegin(lowering, 3, inputs, wanted);
  TileBuilder *b = &body.builder;
  MlirType element = elementOf(mlirValueGetType(list->values)), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue row = mlirBlockGetArgument(body.block, 1), zero = tileBuildInteger(b, i64, 0), arguments[3];
  MlirValue isStored = arithCmpIOpBuild(b, row, zero, ArithCmpI_Sge);
  for (int i = 0; i < 3; ++i) {
    MlirValue given = mlirBlockGetArgument(body.block, i);
    MlirValue other = i                           ? zero
                      : mlirTypeIsAFloat(element) ? tileBuildFloat(b, element, 1)
                                                  : tileBuildInteger(b, element, 1);
    arguments[i] = arithSelectOpBuild(b, isStored, given, other);
    if (i)
      arguments[i] = arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), arguments[i]);
  }
  MlirValue yielded = sparseBodyInline(&body, region, 3, arguments);
  return sparseBodyEnd(lowering, &body, 3, inputs, emptyLike(lowering, list, wanted),
                       choose(lowering, b, isStored, yielded, body.block));
}

// The new value, or what stood there.
static MlirValue newValue(SparseLowering *lowering, TileBuilder *b, MlirValue isStored, MlirValue yielded,
                          MlirBlock block) {
  return arithSelectOpBuild(b, isStored, yielded, mlirBlockGetArgument(block, 0));
}

static MlirValue mapEntries(SparseLowering *lowering, const SparseList *list, const void *unused) {
  return through(lowering, list, elementOf(mlirValueGetType(list->values)), newValue);
}

bool sparseLowerMap(SparseLowering *lowering, SparseResult *result) {
  return withValues(lowering, 0, mapEntries, NULL, result);
}

// The row, or -1 for one that goes.
static MlirValue rowOfKept(SparseLowering *lowering, TileBuilder *b, MlirValue isStored, MlirValue yielded,
                           MlirBlock block) {
  MlirValue row = mlirBlockGetArgument(block, 1), gone = tileBuildInteger(b, mlirValueGetType(row), -1);
  return arithSelectOpBuild(b, arithAndIOpBuild(b, isStored, yielded), row, gone);
}

bool sparseLowerSelect(SparseLowering *lowering, SparseResult *result) {
  TileBuilder *b = &lowering->builder;
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  SparseList list = sparseListOf(lowering, &matrix);
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  if (mlirValueIsNull(list.at[0]))
    return false;
  list.at[0] = through(lowering, &list, i64, rowOfKept);
  // Sorting looks at either place.
  const MlirValue inputs[] = {list.at[0], list.at[1]};
  SparseBody body = sparseBodyBegin(lowering, 2, inputs, i64);
  MlirValue row = mlirBlockGetArgument(body.block, 0), column = mlirBlockGetArgument(body.block, 1);
  MlirValue stays = arithCmpIOpBuild(&body.builder, row, tileBuildInteger(&body.builder, i64, 0), ArithCmpI_Sge);
  MlirValue kept = arithSelectOpBuild(&body.builder, stays, column, row);
  list.at[1] = sparseBodyEnd(lowering, &body, 2, inputs, emptyLike(lowering, &list, i64), kept);
  SparseLines lines = sparseLinesOfList(lowering, &list, sparseAxisOfLines(matrix.type));
  return sparseFromLines(lowering, &lines, matrix.type, result);
}

//===--- lines ----------------------------------------------------------------------===//

bool sparseLowerReduce(SparseLowering *lowering, SparseResult *result) {
  int64_t axis = 0;
  MlirType element = elementOf(tileOnlyResultType(lowering->op));
  SparseMatrix matrix = sparseMatrixOf(lowering, 0);
  axis = sparseReduceOpGetAxisValue(lowering->op);
  SparseLines lines = sparseLinesOf(lowering, &matrix, (int)(1 - axis));
  if (mlirValueIsNull(lines.positions))
    return false;
  SparseSemiring semiring = sparseSemiring(lowering->op, element);
  const TileReduceLines reduces = {
      .P = sparseElement(lines.positions), .E = element, .ADD = semiring.add, .finish = sparseHookFinish(&semiring)};
  const MlirValue inputs[] = {lines.positions, lines.values};
  MlirValue value = sparseLaunch(lowering, tileUseReduceLines(reduces), 1, &lines.sizes[1 - axis], 2, inputs,
                                 lowering->operands[1].values[0]);
  *result = (SparseResult){{value}, 1};
  return !mlirValueIsNull(value);
}
