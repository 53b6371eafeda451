// tile-quantize-activations{per=group|row type=i8|f8E4M3FN|f8E5M2}: products of f32 rows by codes become products of
// numbers of 8 bits.
//
//   %w = linalg.generic … (code - zero) · scale …        a scale for each group of k, as exporters write it
//   %c = linalg.matmul ins(%x, %w)
//   becomes, for each row m and group g,
//     step[m, g] = max |x[m, g, k]| / 127                q[m, g, k] = x rounded to whole steps, an i8
//     dots[m, n, g] = sum over k of q[m, g, k] · (code[n, g, k] - zero[n, g])         exact, in i32 (i64 if k is long)
//     c[m, n] += sum over g of dots[m, n, g] · scale[n, g] · step[m, g]
// The rows change by at most half a step; this is the user's wish, never a pipeline's. Zeros that are no integers are
// multiplied by the sum of q. Rows with a nan or an infinity give nan. Numbers below 2^-119 count as 0 in a group where
// all are so small.
// With type=f8E4M3FN (f8E5M2) the largest number of a row becomes 448 (57344), codes may be floats of at most 8 bits or
// integers that the type has exactly, and dots are sums of f32: W8A8-f8, and W4A8 on the matrix instructions of f8.
// Expects: func.func on tensors, before any lowering. Leaves: products whose weights are no integers times a scale
// (tables, for example), with a remark if `remarks` is set. Cost: linear in the code. Source: W4A8 of Ladder (OSDI
// 2024).
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/range.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/transforms/quantize/forms.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/tensor.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { Quantized, MaxScales = 4 };

static const char *const statistics[] = {"quantized: products of integers now", NULL};

// What rows become: the largest code, and the least size for which largest / size is finite. Floats have all integers
// up to `exact`.
typedef struct RowType {
  const char *name;
  bool isFloat;
  MlirType (*get)(MlirContext context);
  double most, least, exact;
} RowType;

static MlirType i8Of(MlirContext context) { return mlirIntegerTypeGet(context, 8); }

static const RowType rowTypes[] = {
    {"i8", false, i8Of, 127, 0x1p-119, 127},
    {"f8E4M3FN", true, mlirFloat8E4M3FNTypeGet, 448, 0x1p-118, 16},
    {"f8E5M2", true, mlirFloat8E5M2TypeGet, 57344, 0x1p-111, 8},
};

// The weights of a product: conversion[n, g, k] = (code - zero) · scales…, whose integers are in `range`.
typedef struct Weights {
  TileStructured conversion; // an elementwise op over n, k and perhaps groups of k
  int n, g, k;               // its dimensions; g -1: one group
  int64_t group, numGroups;
  MlirValue code; // in the body: an integer or a narrow float that changes along k
  bool isUnsigned;
  MlirValue zero; // in the body: an integer (isUnsigned as the code) or a float; null: none
  bool isZeroUnsigned, hasIntegerZero;
  int64_t constantZero;
  int numScales;
  MlirValue scales[MaxScales]; // in the body, each of f32
  TileCodeRange range;
} Weights;

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  bool explains, isPerRow;
  const RowType *type;
} Run;

//===--- the weights ----------------------------------------------------------------------------===//

// `value`, of the body, is read from something that has dimension `dim`.
static bool changes(const TileStructured *s, MlirValue value, int dim) {
  int input = tileStructuredInputOf(s, value);
  if (input >= 0)
    return tileOperandUses(&s->operands[input], dim);
  MlirOperation op = tileDefiningOp(value);
  for (intptr_t i = 0;
       !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body) && i < mlirOperationGetNumOperands(op); ++i)
    if (changes(s, mlirOperationGetOperand(op, i), dim))
      return true;
  return false;
}

static bool readsTable(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return false;
  bool isTable = tensorExtractOpIsA(op) || linalgIndexOpIsA(op);
  for (intptr_t i = 0; !isTable && i < mlirOperationGetNumOperands(op); ++i)
    isTable = readsTable(s, mlirOperationGetOperand(op, i));
  return isTable;
}

// The range of the integer that `conversion` makes a float.
static bool readRange(const Weights *w, MlirOperation conversion, TileCodeRange *range) {
  return (arithUIToFPOpIsA(conversion) ? tileUnsignedCodeRangeOf : tileCodeRangeOf)(w->conversion.body,
                                                                                    tileOnlyOperand(conversion), range);
}

static bool readZero(Weights *w, MlirValue zero) {
  MlirOperation op = tileDefiningOp(zero);
  double number;
  w->zero = zero;
  if (tileConstantFloat(zero, &number) && number == floor(number) && fabs(number) <= UINT8_MAX) {
    w->constantZero = (int64_t)number;
    w->hasIntegerZero = true;
    w->zero = (MlirValue){NULL};
    w->range = (TileCodeRange){w->range.least - w->constantZero, w->range.most - w->constantZero};
    return true;
  }
  if (!arithUIToFPOpIsA(op) && !arithSIToFPOpIsA(op))
    return true;
  TileCodeRange range;
  if (!readRange(w, op, &range))
    return true;
  w->zero = tileOnlyOperand(op);
  w->isZeroUnsigned = arithUIToFPOpIsA(op);
  w->hasIntegerZero = true;
  w->range = (TileCodeRange){w->range.least - range.most, w->range.most - range.least};
  return true;
}

static bool hasFloatCode(const Weights *w) { return mlirTypeIsAFloat(mlirValueGetType(w->code)); }

static bool readCode(Weights *w, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (arithExtFOpIsA(op) && tileElementWidth(mlirValueGetType(tileOnlyOperand(op))) <= 8) {
    w->code = tileOnlyOperand(op);
    return true;
  }
  if (!arithUIToFPOpIsA(op) && !arithSIToFPOpIsA(op))
    return false;
  w->code = tileOnlyOperand(op);
  w->isUnsigned = arithUIToFPOpIsA(op);
  return readRange(w, op, &w->range);
}

// Takes the body apart: products by what is the same along k, then one difference, then the code as a number.
static bool readBody(Weights *w) {
  const TileStructured *s = &w->conversion;
  MlirValue value = tileStructuredYielded(s), zero = {NULL};
  if (!mlirTypeIsAF32(mlirValueGetType(value)) || readsTable(s, value))
    return false;
  for (MlirOperation op = tileDefiningOp(value); arithMulFOpIsA(op); op = tileDefiningOp(value)) {
    bool isLeft = changes(s, tileBinaryLhs(op), w->k);
    if (w->numScales == MaxScales || changes(s, tileBinaryRhs(op), w->k) == isLeft)
      return false;
    w->scales[w->numScales++] = isLeft ? tileBinaryRhs(op) : tileBinaryLhs(op);
    value = isLeft ? tileBinaryLhs(op) : tileBinaryRhs(op);
  }
  MlirOperation op = tileDefiningOp(value);
  if (arithSubFOpIsA(op) && !changes(s, tileBinaryRhs(op), w->k)) {
    zero = tileBinaryRhs(op);
    value = tileBinaryLhs(op);
  }
  return readCode(w, value) && (mlirValueIsNull(zero) || (!hasFloatCode(w) && readZero(w, zero)));
}

// The codes are numbers that `type` multiplies exactly.
static bool suits(const Weights *w, const RowType *type) {
  if (hasFloatCode(w))
    return type->isFloat;
  double most = (double)(w->range.most > -w->range.least ? w->range.most : -w->range.least);
  return !type->isFloat || most <= type->exact;
}

// The axes of `conversion` that the axes of the weights, n and k, are made of.
static bool readAxes(Weights *w, MlirOperation collapse, bool isTransposed) {
  const TileOperand *out = &w->conversion.operands[w->conversion.numInputs];
  int first[2] = {0, 1}, count[2] = {1, 1}, ofN = isTransposed ? 0 : 1;
  if (!mlirOperationIsNull(collapse)) {
    MlirAttribute groups = tileOpAttribute(collapse, "reassociation");
    if (mlirArrayAttrGetNumElements(groups) != 2)
      return false;
    for (int i = 0; i < 2; ++i)
      count[i] = (int)mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, i));
    first[1] = count[0];
  }
  if (out->rank != count[0] + count[1] || count[ofN] != 1 || count[!ofN] > 2)
    return false;
  w->n = out->results[first[ofN]];
  w->k = out->results[first[!ofN] + count[!ofN] - 1];
  w->g = count[!ofN] == 2 ? out->results[first[!ofN]] : -1;
  w->group = w->conversion.dims[w->k].extent;
  w->numGroups = w->g >= 0 ? w->conversion.dims[w->g].extent : 1;
  return !mlirShapedTypeIsDynamicSize(w->group) && !mlirShapedTypeIsDynamicSize(w->numGroups) && w->group > 0 &&
         w->numGroups > 0 && !mlirShapedTypeIsDynamicSize(w->conversion.dims[w->n].extent);
}

// Each axis of what is read has a dimension or one element.
static bool arePlain(const TileStructured *s) {
  for (int i = 0; i < s->numInputs; ++i)
    for (int axis = 0; axis < s->operands[i].rank; ++axis) {
      if (s->operands[i].results[axis] >= 0)
        continue;
      for (int d = 0; d < s->numDims; ++d)
        if (s->operands[i].factors[axis][d] || s->operands[i].constants[axis])
          return false;
    }
  return true;
}

static bool readWeights(const Run *run, const TileMatrixProduct *product, MlirValue weights, Weights *w) {
  MlirOperation collapse = tileDefiningOp(weights), op = collapse;
  *w = (Weights){.g = -1};
  if (tensorCollapseShapeOpIsA(collapse))
    op = tileDefiningOp(tensorCollapseShapeOpGetSrc(collapse));
  else
    collapse = (MlirOperation){NULL};
  TileStructured *s = &w->conversion;
  return linalgGenericOpIsA(op) && tileStructuredRead(op, &run->target, s) && s->numOutputs == 1 &&
         !tileStructuredHasReduction(s) && !tileStructuredHasTerms(s) && s->numInputs <= MaxFormOperands - 4 &&
         mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(s->body, s->numInputs))) && arePlain(s) &&
         tileOperandIsPlain(&s->operands[s->numInputs]) && readAxes(w, collapse, product->transposeRhs) && readBody(w);
}

//===--- bodies ---------------------------------------------------------------------------------===//

// `value` of the conversion's body in another one, where input i is arguments[i].
static MlirValue cloneValue(TileBuilder *b, const TileStructured *s, const MlirValue *arguments, MlirValue value) {
  int input = tileStructuredInputOf(s, value);
  if (input >= 0)
    return arguments[input];
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return value;
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    mlirOperationSetOperand(copy, i, cloneValue(b, s, arguments, mlirOperationGetOperand(op, i)));
  tileBuilderInsert(b, copy);
  return tileOnlyResult(copy);
}

static bool reads(const TileStructured *s, MlirValue value, int input) {
  if (mlirValueIsNull(value) || tileStructuredInputOf(s, value) == input)
    return !mlirValueIsNull(value);
  MlirOperation op = tileDefiningOp(value);
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body);
  for (intptr_t i = 0; isInside && i < mlirOperationGetNumOperands(op); ++i)
    if (reads(s, mlirOperationGetOperand(op, i), input))
      return true;
  return false;
}

// The inputs of the conversion, its dimension d as dims[d].
static void addInputs(const TileStructured *s, const int *dims, TileFormOperand *operands) {
  for (int i = 0; i < s->numInputs; ++i) {
    operands[i] = (TileFormOperand){.value = mlirOperationGetOperand(s->op, i), .rank = s->operands[i].rank};
    for (int axis = 0; axis < s->operands[i].rank; ++axis)
      operands[i].dims[axis] = s->operands[i].results[axis] < 0 ? -1 : dims[s->operands[i].results[axis]];
  }
}

static MlirValue widened(TileBuilder *b, MlirValue value, bool isUnsigned, MlirType wide) {
  if (mlirTypeEqual(mlirValueGetType(value), wide))
    return value;
  return isUnsigned ? arithExtUIOpBuild(b, wide, value) : arithExtSIOpBuild(b, wide, value);
}

static MlirType integer(const TileBuilder *b, unsigned width) { return mlirIntegerTypeGet(b->context, width); }

// x's m axis may be open; what follows has `rank` axes of it.
static MlirValue emptyRows(TileBuilder *b, MlirValue x, int rank, const int64_t *shape, MlirType element) {
  MlirValue open[MaxFormRank];
  intptr_t count = 0;
  if (mlirShapedTypeIsDynamicSize(shape[0]))
    open[count++] = tileBuildDim(b, x, 0);
  return tensorEmptyOpBuild(b, tileFormTensor(rank, shape, element), count, open);
}

//===--- rows -----------------------------------------------------------------------------------===//

typedef struct Rows {
  MlirValue steps, quantized; // m × groups (m), m × groups × group of i8
  int64_t count, numGroups;
} Rows;

static MlirValue numbersAs(TileBuilder *b, MlirValue empty, MlirType element, double number) {
  MlirValue value =
      mlirTypeIsAFloat(element) ? tileBuildFloat(b, element, number) : tileBuildInteger(b, element, (int64_t)number);
  return tileFormFilled(b, empty, value);
}

// Axes of the steps: rows, then groups where each group has a step of its own.
static int stepRank(const Run *run) { return run->isPerRow ? 1 : 2; }

static MlirValue emptySteps(TileBuilder *b, const Run *run, MlirValue x, const Rows *rows) {
  return emptyRows(b, x, stepRank(run), (int64_t[]){rows->count, rows->numGroups}, mlirF32TypeGet(b->context));
}

static MlirValue buildLargest(TileBuilder *b, const Run *run, MlirValue x, const Rows *rows) {
  TileBuilder inside;
  MlirType f32 = mlirF32TypeGet(b->context);
  MlirValue start = numbersAs(b, emptySteps(b, run, x, rows), f32, 0);
  // Dimensions: m, then the group (a reduction where the row has one step), k.
  TileFormOperand operands[] = {{x, 3, {0, 1, 2}}, {start, stepRank(run), {0, 1}}};
  MlirOperation generic = tileFormGeneric(b, 3, run->isPerRow ? 2 : 1, 1, operands, &inside);
  MlirValue size =
      tileOnlyResult(mathAbsFOpCreate(&inside, mlirBlockGetArgument(inside.block, 0), mlirAttributeGetNull()));
  MlirValue largest = arithMaximumFOpBuild(&inside, mlirBlockGetArgument(inside.block, 1), size);
  linalgYieldOpBuild(&inside, 1, &largest);
  return tileOnlyResult(generic);
}

// f(largest) for each step: step = largest / 127, or with `isInverse` 127 / largest, 0 for what is too small.
static MlirValue buildSteps(TileBuilder *b, const Run *run, MlirValue x, MlirValue largest, const Rows *rows,
                            bool isInverse) {
  TileBuilder inside;
  MlirType f32 = mlirF32TypeGet(b->context);
  int rank = stepRank(run);
  TileFormOperand operands[] = {{largest, rank, {0, 1}}, {emptySteps(b, run, x, rows), rank, {0, 1}}};
  MlirOperation generic = tileFormGeneric(b, rank, 0, 1, operands, &inside);
  MlirValue size = mlirBlockGetArgument(inside.block, 0), most = tileBuildFloat(&inside, f32, run->type->most), result;
  if (isInverse) {
    MlirValue isLarge = arithCmpFOpBuild(&inside, size, tileBuildFloat(&inside, f32, run->type->least), ArithCmpF_Oge);
    result =
        arithSelectOpBuild(&inside, isLarge, arithDivFOpBuild(&inside, most, size), tileBuildFloat(&inside, f32, 0));
  } else {
    result = arithDivFOpBuild(&inside, size, most);
  }
  linalgYieldOpBuild(&inside, 1, &result);
  return tileOnlyResult(generic);
}

static MlirValue buildCodes(TileBuilder *b, const Run *run, MlirValue x, MlirValue inverse, int64_t count,
                            const Weights *w) {
  TileBuilder inside;
  MlirType f32 = mlirF32TypeGet(b->context), type = run->type->get(b->context);
  MlirValue empty = emptyRows(b, x, 3, (int64_t[]){count, w->numGroups, w->group}, type);
  TileFormOperand operands[] = {{x, 3, {0, 1, 2}}, {inverse, stepRank(run), {0, 1}}, {empty, 3, {0, 1, 2}}};
  MlirOperation generic = tileFormGeneric(b, 3, 0, 2, operands, &inside);
  MlirAttribute none = mlirAttributeGetNull();
  MlirValue steps =
      arithMulFOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1));
  if (!run->type->isFloat)
    steps = tileOnlyResult(mathRoundEvenOpCreate(&inside, steps, none));
  steps = arithMaxNumFOpBuild(&inside, steps, tileBuildFloat(&inside, f32, -run->type->most));
  steps = arithMinNumFOpBuild(&inside, steps, tileBuildFloat(&inside, f32, run->type->most));
  MlirValue code =
      run->type->isFloat ? arithTruncFOpBuild(&inside, type, steps) : arithFPToSIOpBuild(&inside, type, steps);
  linalgYieldOpBuild(&inside, 1, &code);
  return tileOnlyResult(generic);
}

static Rows buildRows(TileBuilder *b, const Run *run, MlirValue x, const Weights *w) {
  Rows rows = {.count = mlirShapedTypeGetDimSize(mlirValueGetType(x), 0), .numGroups = w->numGroups};
  int64_t shape[3] = {rows.count, w->numGroups, w->group};
  MlirValue open[1];
  intptr_t numOpen = 0;
  if (mlirShapedTypeIsDynamicSize(rows.count))
    open[numOpen++] = tileBuildDim(b, x, 0);
  MlirValue groups = tensorExpandShapeOpBuild(b, tileFormTensor(3, shape, mlirF32TypeGet(b->context)), x, numOpen, open,
                                              tileFormCut(b, false), mlirDenseI64ArrayGet(b->context, 3, shape));
  MlirValue largest = buildLargest(b, run, groups, &rows);
  rows.steps = buildSteps(b, run, x, largest, &rows, false);
  rows.quantized = buildCodes(b, run, groups, buildSteps(b, run, x, largest, &rows, true), rows.count, w);
  return rows;
}

//===--- products -------------------------------------------------------------------------------===//

// arguments[i]: what stands for input i of the conversion, which is input places[i] here (-1: none).
static void takeArguments(const TileBuilder *inside, int count, const int *places, MlirValue *arguments) {
  for (int i = 0; i < count; ++i)
    arguments[i] = places[i] < 0 ? (MlirValue){NULL} : mlirBlockGetArgument(inside->block, places[i]);
}

// code - zero as integers of 16 (32) bits, as the float that the code is, or as the rows' float, over the conversion's
// dimensions, with an axis for the one group.
static MlirValue buildNumbers(TileBuilder *b, const Run *run, const Weights *w) {
  const TileStructured *s = &w->conversion;
  const TileOperand *out = &s->operands[s->numInputs];
  TileFormOperand operands[MaxFormOperands];
  int dims[MaxDims];
  int64_t shape[3];
  TileBuilder inside;
  unsigned width = mlirIntegerTypeGetWidth(mlirValueGetType(w->code)) > 8 ? 32 : 16;
  MlirType wide = integer(b, width), number = wide;
  if (run->type->isFloat)
    number = hasFloatCode(w) ? mlirValueGetType(w->code) : run->type->get(b->context);
  for (int d = 0; d < s->numDims; ++d)
    dims[d] = d;
  addInputs(s, dims, operands);
  int places[MaxFormOperands], count = 0;
  for (int i = 0; i < s->numInputs; ++i) {
    bool isRead = reads(s, w->code, i) || (w->hasIntegerZero && reads(s, w->zero, i));
    places[i] = isRead ? count : -1;
    if (isRead)
      operands[count++] = operands[i];
  }
  TileFormOperand *result = &operands[count];
  *result = (TileFormOperand){.rank = out->rank};
  for (int axis = 0; axis < out->rank; ++axis) {
    result->dims[axis] = out->results[axis];
    shape[axis] = s->dims[out->results[axis]].extent;
  }
  result->value = tensorEmptyOpBuild(b, tileFormTensor(out->rank, shape, number), 0, NULL);
  MlirOperation generic = tileFormGeneric(b, s->numDims, 0, count, operands, &inside);
  MlirValue arguments[MaxFormOperands];
  takeArguments(&inside, s->numInputs, places, arguments);
  MlirValue code = cloneValue(&inside, s, arguments, w->code), zero = {NULL};
  if (hasFloatCode(w)) {
    linalgYieldOpBuild(&inside, 1, &code);
    return tileOnlyResult(generic);
  }
  code = widened(&inside, code, w->isUnsigned, wide);
  if (w->hasIntegerZero && !mlirValueIsNull(w->zero))
    zero = widened(&inside, cloneValue(&inside, s, arguments, w->zero), w->isZeroUnsigned, wide);
  else if (w->constantZero)
    zero = tileBuildInteger(&inside, wide, w->constantZero);
  if (!mlirValueIsNull(zero))
    code = arithSubIOpBuild(&inside, code, zero);
  if (run->type->isFloat)
    code = arithTruncFOpBuild(&inside, number, arithSIToFPOpBuild(&inside, mlirF32TypeGet(b->context), code));
  linalgYieldOpBuild(&inside, 1, &code);
  return tileOnlyResult(generic);
}

// A code as an element of a sum, and sums of them: of integers, or of f32.
static MlirValue asTerm(TileBuilder *b, MlirValue code, MlirType sum) {
  return mlirTypeIsAFloat(sum) ? arithExtFOpBuild(b, sum, code) : widened(b, code, false, sum);
}

static MlirValue added(TileBuilder *b, MlirValue total, MlirValue term) {
  return mlirTypeIsAFloat(mlirValueGetType(total)) ? arithAddFOpBuild(b, total, term)
                                                   : arithAddIOpBuild(b, total, term);
}

// dots[m, n, g]; of floats dots[g, m, n], a product of matrices for each group.
static TileFormOperand emptyDots(TileBuilder *b, const Run *run, const Weights *w, const Rows *rows, MlirType sum) {
  enum { M, N, G };
  int64_t columns = w->conversion.dims[w->n].extent;
  if (!run->type->isFloat)
    return (TileFormOperand){
        emptyRows(b, rows->quantized, 3, (int64_t[]){rows->count, columns, w->numGroups}, sum), 3, {M, N, G}};
  int64_t shape[3] = {w->numGroups, rows->count, columns};
  MlirValue open[1];
  bool isOpen = mlirShapedTypeIsDynamicSize(rows->count);
  if (isOpen)
    open[0] = tileBuildDim(b, rows->quantized, 0);
  return (TileFormOperand){tensorEmptyOpBuild(b, tileFormTensor(3, shape, sum), isOpen, open), 3, {G, M, N}};
}

// Their values, of integers exact.
static MlirValue buildDots(TileBuilder *b, const Run *run, const Weights *w, const Rows *rows, MlirType sum) {
  const TileStructured *s = &w->conversion;
  const TileOperand *out = &s->operands[s->numInputs];
  enum { M, N, G, K };
  TileBuilder inside;
  MlirValue integers = buildNumbers(b, run, w);
  TileFormOperand operands[] = {
      {rows->quantized, 3, {M, G, K}}, {integers, out->rank, {0}}, emptyDots(b, run, w, rows, sum)};
  operands[2].value = numbersAs(b, operands[2].value, sum, 0);
  for (int axis = 0; axis < out->rank; ++axis)
    operands[1].dims[axis] = out->results[axis] == w->n ? N : out->results[axis] == w->k ? K : G;
  if (w->g < 0) { // an axis for the one group
    bool isFirst = operands[1].dims[0] == K;
    int64_t cut[3] = {isFirst ? 1 : s->dims[w->n].extent, isFirst ? w->group : 1,
                      isFirst ? s->dims[w->n].extent : w->group};
    operands[1].value =
        tensorExpandShapeOpBuild(b, tileFormTensor(3, cut, tileFormElement(integers)), integers, 0, NULL,
                                 tileFormCut(b, isFirst), mlirDenseI64ArrayGet(b->context, 3, cut));
    operands[1].rank = 3;
    memcpy(operands[1].dims, isFirst ? (int[]){G, K, N} : (int[]){N, G, K}, 3 * sizeof(int));
  }
  MlirOperation generic = tileFormGeneric(b, 4, 1, 2, operands, &inside);
  MlirValue x = asTerm(&inside, mlirBlockGetArgument(inside.block, 0), sum);
  MlirValue y = asTerm(&inside, mlirBlockGetArgument(inside.block, 1), sum);
  MlirValue product = mlirTypeIsAFloat(sum) ? arithMulFOpBuild(&inside, x, y) : arithMulIOpBuild(&inside, x, y);
  MlirValue total = added(&inside, mlirBlockGetArgument(inside.block, 2), product);
  linalgYieldOpBuild(&inside, 1, &total);
  return tileOnlyResult(generic);
}

// The sum of each row's codes in a group, for zeros that are no integers.
static MlirValue buildSums(TileBuilder *b, const Weights *w, const Rows *rows, MlirType sum) {
  TileBuilder inside;
  MlirValue zeros = numbersAs(b, emptyRows(b, rows->quantized, 2, (int64_t[]){rows->count, w->numGroups}, sum), sum, 0);
  TileFormOperand operands[] = {{rows->quantized, 3, {0, 1, 2}}, {zeros, 2, {0, 1}}};
  MlirOperation generic = tileFormGeneric(b, 3, 1, 1, operands, &inside);
  MlirValue x = asTerm(&inside, mlirBlockGetArgument(inside.block, 0), sum);
  MlirValue total = added(&inside, mlirBlockGetArgument(inside.block, 1), x);
  linalgYieldOpBuild(&inside, 1, &total);
  return tileOnlyResult(generic);
}

// init[m, n] + sum over g of (dots - zero · sums) · scales · step.
static MlirValue buildScaled(TileBuilder *b, const Run *run, const Weights *w, const Rows *rows, MlirValue init) {
  const TileStructured *s = &w->conversion;
  enum { M, N, G };
  int64_t size = w->range.most > -w->range.least ? w->range.most : -w->range.least;
  MlirType f32 = mlirF32TypeGet(b->context), sum = f32;
  if (!run->type->isFloat)
    sum = integer(b, (double)w->group * run->type->most * (double)size > INT32_MAX ? 64 : 32);
  bool hasFloatZero = !mlirValueIsNull(w->zero) && !w->hasIntegerZero;
  TileFormOperand operands[MaxFormOperands];
  int dims[MaxDims];
  TileBuilder inside;
  for (int d = 0; d < s->numDims; ++d)
    dims[d] = d == w->n ? N : d == w->g ? G : -1;
  addInputs(s, dims, operands);
  MlirValue arguments[MaxFormOperands];
  int places[MaxFormOperands], count = 0;
  for (int i = 0; i < s->numInputs; ++i) {
    bool isRead = hasFloatZero && reads(s, w->zero, i);
    for (int j = 0; j < w->numScales; ++j)
      isRead = isRead || reads(s, w->scales[j], i);
    places[i] = isRead ? count : -1;
    if (isRead)
      operands[count++] = operands[i];
  }
  int dots = count;
  operands[count] = (TileFormOperand){buildDots(b, run, w, rows, sum), 3, {M, N, G}};
  if (run->type->isFloat)
    memcpy(operands[count].dims, (int[]){G, M, N}, 3 * sizeof(int));
  ++count;
  int steps = count;
  operands[count++] = (TileFormOperand){rows->steps, stepRank(run), {M, G}};
  int sums = count;
  if (hasFloatZero)
    operands[count++] = (TileFormOperand){buildSums(b, w, rows, sum), 2, {M, G}};
  operands[count] = (TileFormOperand){init, 2, {M, N}};
  MlirOperation generic = tileFormGeneric(b, 3, 1, count, operands, &inside);
  takeArguments(&inside, s->numInputs, places, arguments);
  MlirValue total = mlirBlockGetArgument(inside.block, dots);
  if (!run->type->isFloat)
    total = arithSIToFPOpBuild(&inside, f32, total);
  if (hasFloatZero) {
    MlirValue all = mlirBlockGetArgument(inside.block, sums);
    if (!run->type->isFloat)
      all = arithSIToFPOpBuild(&inside, f32, all);
    MlirValue zero = cloneValue(&inside, s, arguments, w->zero);
    total = arithSubFOpBuild(&inside, total, arithMulFOpBuild(&inside, all, zero));
  }
  for (int i = w->numScales - 1; i >= 0; --i)
    total = arithMulFOpBuild(&inside, total, cloneValue(&inside, s, arguments, w->scales[i]));
  total = arithMulFOpBuild(&inside, total, mlirBlockGetArgument(inside.block, steps));
  total = arithAddFOpBuild(&inside, mlirBlockGetArgument(inside.block, count), total);
  linalgYieldOpBuild(&inside, 1, &total);
  return tileOnlyResult(generic);
}

//===--- the pass -------------------------------------------------------------------------------===//

// Replaces the op, which is null then, or returns why not; null: it is no such product.
static const char *quantize(const Run *run, MlirOperation *place) {
  TileMatrixProduct product;
  Weights w;
  MlirOperation op = *place;
  if (!tileMatchMatrixProduct(op, &product) || product.isVector ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(tileOperandType(op, product.lhs))) ||
      !mlirTypeIsAF32(mlirShapedTypeGetElementType(tileOnlyResultType(op))))
    return NULL;
  MlirValue weights = mlirOperationGetOperand(op, product.rhs);
  if (mlirOperationIsNull(tileDefiningOp(weights)) || arithConstantOpIsA(tileDefiningOp(weights)))
    return NULL;
  if (product.transposeLhs)
    return "its rows lie along m";
  if (!readWeights(run, &product, weights, &w))
    return run->type->isFloat ? "its weights are no codes of at most 16 bits times scales of groups of k"
                              : "its weights are no integers of at most 16 bits times scales of groups of k";
  if (!suits(&w, run->type))
    return run->type->isFloat ? "its codes are integers that the type of the rows does not have"
                              : "its codes are floats; type=f8E4M3FN takes them";
  TileBuilder b = tileBuilderBefore(op);
  Rows rows = buildRows(&b, run, mlirOperationGetOperand(op, product.lhs), &w);
  MlirValue scaled = buildScaled(&b, run, &w, &rows, mlirOperationGetOperand(op, product.init));
  if (run->explains)
    tileRemark(op, "multiplies rows of %s, a step for each %s, by codes in groups of %lld", run->type->name,
               run->isPerRow ? "row" : "group", (long long)w.group);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), scaled);
  mlirOperationDestroy(op);
  *place = (MlirOperation){NULL};
  mlirExtPassAddStatistic(run->pass, Quantized, 1);
  return NULL;
}

// Conversions that nobody reads any more; `ops` are in program order.
static void destroyUnused(const TileOps *ops) {
  for (intptr_t i = ops->count - 1; i >= 0; --i) {
    MlirOperation op = ops->items[i];
    bool isPure = linalgGenericOpIsA(op) || tensorCollapseShapeOpIsA(op) || tensorExpandShapeOpIsA(op);
    if (isPure && mlirOperationGetNumResults(op) == 1 && mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
      mlirOperationDestroy(op);
  }
}

static bool run(MlirOperation function, MlirExtPass pass) {
  MlirStringRef per = mlirExtPassGetString(pass, "per");
  Run r = {.pass = pass, .explains = mlirExtPassGetBool(pass, "remarks"), .isPerRow = tileStringEquals(per, "row")};
  if (!r.isPerRow && !tileStringEquals(per, "group"))
    return tileError(function, "per is '%.*s'; accepts group and row", (int)per.length, per.data);
  MlirStringRef type = mlirExtPassGetString(pass, "type");
  for (size_t i = 0; i < sizeof rowTypes / sizeof *rowTypes; ++i)
    if (tileStringEquals(type, rowTypes[i].name))
      r.type = &rowTypes[i];
  if (!r.type)
    return tileError(function, "type is '%.*s'; accepts i8, f8E4M3FN and f8E5M2", (int)type.length, type.data);
  if (!tileTargetOfPass(function, pass, &r.target))
    return false;
  TileOps ops = tileCollect(function, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    const char *reason = quantize(&r, &ops.items[i]);
    if (reason && r.explains)
      tileRemark(ops.items[i], "stays a product of floats: %s", reason);
  }
  destroyUnused(&ops);
  tileOpsFree(&ops);
  tileTargetFree(&r.target);
  return true;
}

const MlirExtPassDefinition tileQuantizeActivationsPass = {
    .argument = "tile-quantize-activations",
    .summary = "Multiply rows as integers or floats of 8 bits by codes of weights",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"per", "group of the weights, or row: what shares a step of the rows",
                                            MlirExtOption_String, "group"},
                                           {"type", "of the rows: i8, f8E4M3FN or f8E5M2", MlirExtOption_String, "i8"},
                                           {"remarks", "tell what became of each product", MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "linalg", "math", "tensor", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
