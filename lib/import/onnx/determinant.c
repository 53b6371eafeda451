// The determinant of square matrices. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

// A step of Gauss's elimination: column `column` becomes zero below the diagonal. `pivots`: the row that takes the
// place of row `column`, for each matrix.
typedef struct Elimination {
  OnnxValue *matrices, *pivots, *greatest;
  MlirValue column;
} Elimination;

static MlirValue isColumn(Body *body, MlirValue row) {
  return onnxCompareI(body, ArithCmpI_Eq, row, ((const Elimination *)body->data)->column);
}

// Sizes of the column's elements from the diagonal on; -1 above.
static MlirValue sizeAt(Body *body) {
  const Elimination *by = body->data;
  int rank = by->matrices->rank;
  MlirValue at[OnnxMaxRank];
  memcpy(at, body->index, sizeof *at * (size_t)(rank - 1));
  at[rank - 1] = by->column;
  MlirValue size = ONNX_OP(MathOp_AbsF, onnxAt(body, by->matrices, at));
  MlirValue isAbove = onnxCompareI(body, ArithCmpI_Slt, at[rank - 2], by->column);
  return onnxSelect(body, isAbove, onnxNumber(body, size, -1), size);
}

// The row where it has the greatest size; the last one elsewhere.
static MlirValue rowAt(Body *body) {
  const Elimination *by = body->data;
  int rank = by->matrices->rank;
  MlirValue greatest = onnxAt(body, by->greatest, body->index), row = body->index[rank - 2];
  MlirValue isThere = onnxCompareF(body, ArithCmpF_Oeq, sizeAt(body), greatest);
  MlirValue last = ONNX_OP(ArithOp_SubI, by->matrices->sizes[rank - 1], tileBuildIndex(body->b, 1));
  MlirValue chosen = onnxSelect(body, isThere, row, last);
  return tileBuildCast(body->b, ArithOp_IndexCast, chosen, onnxElementType(body->node, Onnx_I64));
}

static MlirValue pivotOf(Body *body, const Elimination *by) {
  return onnxToIndex(body, onnxAt(body, by->pivots, body->index));
}

static MlirValue elementAt(Body *body, MlirValue row, MlirValue column) {
  const Elimination *by = body->data;
  int rank = by->matrices->rank;
  MlirValue at[OnnxMaxRank];
  memcpy(at, body->index, sizeof *at * (size_t)(rank - 2));
  at[rank - 2] = row;
  at[rank - 1] = column;
  return onnxAt(body, by->matrices, at);
}

static MlirValue eliminated(Body *body) {
  const Elimination *by = body->data;
  int rank = by->matrices->rank;
  MlirValue row = body->index[rank - 2], column = body->index[rank - 1], pivot = pivotOf(body, by);
  MlirValue isPivot = onnxCompareI(body, ArithCmpI_Eq, row, pivot);
  MlirValue from = onnxSelect(body, isColumn(body, row), pivot, onnxSelect(body, isPivot, by->column, row));
  MlirValue element = elementAt(body, from, column), divisor = elementAt(body, pivot, by->column);
  MlirValue zero = onnxNumber(body, element, 0), isZero = onnxCompareF(body, ArithCmpF_Oeq, divisor, zero);
  MlirValue quotient = ONNX_OP(ArithOp_DivF, elementAt(body, from, by->column), divisor);
  MlirValue factor = onnxSelect(body, isZero, zero, quotient);
  MlirValue rest = ONNX_OP(ArithOp_SubF, element, ONNX_OP(ArithOp_MulF, factor, elementAt(body, pivot, column)));
  return onnxSelect(body, onnxCompareI(body, ArithCmpI_Sgt, row, by->column), rest, element);
}

// The pivot, with the sign of the exchange of rows.
static MlirValue signedPivot(Body *body) {
  const Elimination *by = body->data;
  MlirValue row = pivotOf(body, by), pivot = elementAt(body, row, by->column);
  return onnxSelect(body, isColumn(body, row), pivot, ONNX_OP(ArithOp_NegF, pivot));
}

// carried: the matrices, and the product of the pivots so far.
static bool eliminate(Node *node, MlirValue at, OnnxValue **carried, const void *data) {
  OnnxValue *x = carried[0];
  Elimination by = {.matrices = x, .column = at};
  OnnxValue *sizes = onnxGenerate(node, x->type, x->rank - 1, x->sizes, sizeAt, &by);
  uint32_t last = 1u << (x->rank - 2);
  OnnxValue *greatest = sizes ? onnxReduce(node, OnnxReduce_Max, sizes, last, true) : NULL;
  by.greatest = greatest ? onnxBroadcastTo(node, greatest, x->rank - 1, x->sizes) : NULL;
  OnnxValue *rows = by.greatest ? onnxGenerate(node, Onnx_I64, x->rank - 1, x->sizes, rowAt, &by) : NULL;
  by.pivots = rows ? onnxReduce(node, OnnxReduce_Min, rows, last, false) : NULL;
  OnnxValue *pivot = by.pivots ? onnxGenerate(node, x->type, x->rank - 2, x->sizes, signedPivot, &by) : NULL;
  carried[1] = onnxMul(node, carried[1], pivot);
  carried[0] = carried[1] ? onnxGenerate(node, x->type, x->rank, x->sizes, eliminated, &by) : NULL;
  return carried[0] != NULL;
}

bool onnxEmitDet(Node *node) {
  OnnxValue *x = node->in[0];
  if (x->rank < 2)
    return onnxError(node, "requires rank 2 or more; the input has rank %d", x->rank);
  if (!onnxCheckSame(node, x->sizes[x->rank - 2], x->sizes[x->rank - 1], "sizes of a square matrix"))
    return false;
  OnnxType type = x->type, wide = onnxSumType(type);
  x = onnxCast(node, x, wide);
  OnnxValue *carried[] = {x, x ? onnxFill(node, wide, x->rank - 2, x->sizes, 1) : NULL};
  if (!carried[1] || !onnxFor(node, x->sizes[x->rank - 1], 2, carried, eliminate, NULL))
    return false;
  return onnxReturn(node, onnxCast(node, carried[1], type));
}
