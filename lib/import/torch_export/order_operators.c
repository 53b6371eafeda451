// Operators that put elements in order, or choose them by it: sort, topk, kthvalue, median, mode, searchsorted, cummax.
// nan is the greatest number. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

// Two results: elements and their places, or null after an error.
static bool returnTwo(Aten *aten, OnnxValue *values, OnnxValue *places) {
  memset(aten->node.out, 0, OnnxMaxInputs * sizeof *aten->node.out);
  aten->node.out[0] = values;
  aten->node.out[1] = places;
  return values && places;
}

// The input with an axis at least, and the axis of `dim`. Null after an error.
static OnnxValue *withAxis(Aten *aten, int64_t otherwise, int *axis) {
  OnnxValue *x = torchTensor(aten, "self");
  if (!x || !torchAxis(aten, "dim", otherwise, x->rank ? x->rank : 1, axis))
    return NULL;
  return x->rank ? x : onnxUnsqueeze(&aten->node, x, 1, 1);
}

// As `like`, an argument that may have rank 0.
static OnnxValue *rankOf(Aten *aten, const char *like, OnnxValue *value) {
  OnnxValue *x = torchTensor(aten, like);
  return x && value && x->rank == 0 ? onnxSqueeze(&aten->node, value, 1) : value;
}

static OnnxValue *along(Aten *aten, const char *onnx, OnnxValue *x, OnnxValue *places, int axis) {
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis)};
  return places ? torchOnnx(aten, onnx, 2, (OnnxValue *[]){x, places}, 1, attributes) : NULL;
}

//===--- sorting ----------------------------------------------------------------===//

// Elements and their places in order; equal ones keep theirs.
static bool sorted(Aten *aten, OnnxValue *x, int axis, bool isDescending, OnnxValue **values, OnnxValue **places) {
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_INT("largest", isDescending)};
  bool isTruth = x->type == Onnx_Bool;
  OnnxValue *in[] = {isTruth ? onnxCast(&aten->node, x, Onnx_I8) : x, torchOfIndices(aten, 1, &x->sizes[axis])};
  *values = torchOnnx(aten, "TopK", 2, in, 2, attributes);
  *places = *values ? aten->node.out[1] : NULL;
  *values = *values && isTruth ? onnxCast(&aten->node, *values, Onnx_Bool) : *values;
  return *values;
}

// kind 0: elements and places, 1: places, 2: elements along the first axis.
bool torchEmitSort(Aten *aten) {
  int axis, kind = aten->row->kind;
  OnnxValue *x = withAxis(aten, kind == 2 ? 0 : -1, &axis), *values, *places;
  if (!x || !sorted(aten, x, axis, torchInt(aten, "descending", 0) != 0, &values, &places))
    return false;
  values = rankOf(aten, "self", values);
  places = rankOf(aten, "self", places);
  return kind ? torchReturn(aten, kind == 1 ? places : values) : returnTwo(aten, values, places);
}

bool torchEmitTopK(Aten *aten) {
  int axis;
  OnnxValue *x = withAxis(aten, -1, &axis);
  MlirValue k = torchIndex(aten, "k");
  if (!x || mlirValueIsNull(k))
    return false;
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_INT("largest", torchInt(aten, "largest", 1))};
  OnnxValue *in[] = {x, torchOfIndices(aten, 1, &k)}, *values = torchOnnx(aten, "TopK", 2, in, 2, attributes);
  OnnxValue *places = aten->node.out[1];
  return values && returnTwo(aten, rankOf(aten, "self", values), rankOf(aten, "self", places));
}

// The elements and places that stand at `at`, one for each row, among those in order.
static bool returnChosen(Aten *aten, OnnxValue *values, OnnxValue *places, OnnxValue *at, int axis) {
  OnnxValue *results[] = {along(aten, "GatherElements", values, at, axis),
                          along(aten, "GatherElements", places, at, axis)};
  for (int i = 0; i < 2; ++i)
    if (results[i] && (!torchInt(aten, "keepdim", 0) || torchTensor(aten, "self")->rank == 0))
      results[i] = onnxSqueeze(&aten->node, results[i], 1u << axis);
  return returnTwo(aten, results[0], results[1]);
}

bool torchEmitKthValue(Aten *aten) {
  Node *node = &aten->node;
  int axis;
  OnnxValue *x = withAxis(aten, -1, &axis), *values, *places;
  MlirValue k = torchIndex(aten, "k"), sizes[OnnxMaxRank];
  if (!x || mlirValueIsNull(k) || !sorted(aten, x, axis, false, &values, &places))
    return false;
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[axis] = tileBuildIndex(node->b, 1);
  OnnxValue *at = onnxOfIndex(node, tileBuildSub(node->b, k, sizes[axis]));
  return returnChosen(aten, values, places, onnxBroadcastTo(node, at, x->rank, sizes), axis);
}

// How many elements along the axis are numbers, or nan.
static OnnxValue *countOf(Aten *aten, OnnxValue *x, int axis, bool areNan) {
  Node *node = &aten->node;
  if (!onnxIsFloat(x->type)) {
    MlirValue sizes[OnnxMaxRank];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[axis] = tileBuildIndex(node->b, 1);
    OnnxValue *count = areNan ? onnxScalarValue(node, Onnx_I64, 0) : onnxOfIndex(node, x->sizes[axis]);
    return onnxBroadcastTo(node, count, x->rank, sizes);
  }
  OnnxValue *is = torchOnnx(aten, "IsNaN", 1, &x, 0, NULL);
  is = is && !areNan ? torchOnnx(aten, "Not", 1, &is, 0, NULL) : is;
  return is ? onnxReduce(node, OnnxReduce_Sum, onnxCast(node, is, Onnx_I64), 1u << axis, true) : NULL;
}

// The middle one, of two the smaller. kind: whether nan counts, as the greatest number; otherwise it is left out. Where
// it counts and occurs it is the median. Without `dim`, of all elements.
bool torchEmitMedian(Aten *aten) {
  Node *node = &aten->node;
  bool countsNan = aten->row->kind, isOfAll = !torchHas(aten, "dim");
  int axis = 0;
  OnnxValue *x = withAxis(aten, 0, &axis), *values, *places;
  if (x && isOfAll) {
    MlirValue count = tileBuildIndex(node->b, 1);
    for (int d = 0; d < x->rank; ++d)
      count = tileBuildMul(node->b, count, x->sizes[d]);
    x = onnxReshape(node, x, 1, &count);
    axis = 0;
  }
  if (!x || !sorted(aten, x, axis, false, &values, &places))
    return false;
  OnnxValue *numbers = countOf(aten, x, axis, false), *one = onnxScalarValue(node, Onnx_I64, 1);
  OnnxValue *last =
      numbers ? onnxBinary(node, ArithOp_MaxSI, onnxSub(node, numbers, one), onnxScalarValue(node, Onnx_I64, 0)) : NULL;
  OnnxValue *at = onnxBinary(node, ArithOp_ShRSI, last, one);
  if (at && countsNan && onnxIsFloat(x->type)) { // the first nan stands behind the numbers
    OnnxValue *nans = countOf(aten, x, axis, true);
    OnnxValue *none =
        nans ? torchOnnx(aten, "Equal", 2, (OnnxValue *[]){nans, onnxScalarValue(node, Onnx_I64, 0)}, 0, NULL) : NULL;
    at = none ? torchOnnx(aten, "Where", 3, (OnnxValue *[]){none, at, numbers}, 0, NULL) : NULL;
  }
  if (!at)
    return false;
  if (!isOfAll)
    return returnChosen(aten, values, places, at, axis);
  OnnxValue *value = along(aten, "GatherElements", values, at, 0);
  return value && torchReturn(aten, onnxSqueeze(node, value, 1));
}

//===--- by comparing all with all ----------------------------------------------===//

typedef struct Against {
  OnnxValue *row, *of;
  int axis;
  bool isRight;
  OnnxOrder order;
} Against;

static MlirValue asCount(Body *body, MlirValue is) { return onnxConvert(body, is, Onnx_Bool, Onnx_I64); }
static MlirValue addUp(Body *body, const MlirValue *x) { return ONNX_OP(ArithOp_AddI, x[0], x[1]); }

// Over the row, the last dimension: is the element there equal?
static MlirValue isEqual(Body *body) {
  const Against *by = body->data;
  MlirValue other[OnnxMaxRank];
  memcpy(other, body->index, (size_t)by->row->rank * sizeof *other);
  other[by->axis] = body->index[by->row->rank];
  MlirValue a = onnxAt(body, by->row, other), b = onnxAt(body, by->row, body->index);
  return asCount(body, mlirTypeIsAFloat(mlirValueGetType(a)) ? onnxCompareF(body, ArithCmpF_Oeq, a, b)
                                                             : onnxCompareI(body, ArithCmpI_Eq, a, b));
}

// The smallest of the most frequent elements.
bool torchEmitMode(Aten *aten) {
  Node *node = &aten->node;
  int axis;
  OnnxValue *x = withAxis(aten, -1, &axis), *values, *places;
  MlirValue sizes[OnnxMaxRank];
  if (!x || !sorted(aten, x, axis, false, &values, &places))
    return false;
  if (x->rank == OnnxMaxRank)
    return onnxError(node, "the rank is too large");
  memcpy(sizes, x->sizes, (size_t)x->rank * sizeof *sizes);
  sizes[x->rank] = x->sizes[axis];
  Against by = {.row = values, .axis = axis};
  OnnxValue *are = onnxGenerate(node, Onnx_I64, x->rank + 1, sizes, isEqual, &by);
  OnnxValue *times = are ? onnxReduceWith(node, Onnx_I64, are, 1u << x->rank, 0, addUp, NULL) : NULL;
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_INT("keepdims", 1)};
  OnnxValue *at = times ? torchOnnx(aten, "ArgMax", 1, &times, 2, attributes) : NULL;
  return at && returnChosen(aten, values, places, at, axis);
}

// Over the row, the last dimension: does the element there come before, or, from the right, not behind?
static MlirValue isBefore(Body *body) {
  const Against *by = body->data;
  int rank = by->of->rank;
  MlirValue at[OnnxMaxRank];
  if (by->row->rank > 1)
    memcpy(at, body->index, (size_t)rank * sizeof *at);
  at[by->row->rank - 1] = body->index[rank];
  MlirValue item = onnxAt(body, by->row, at), x = onnxAt(body, by->of, body->index);
  if (!by->isRight)
    return asCount(body, onnxComesBefore(body, item, x, &by->order));
  MlirValue isBehind = onnxComesBefore(body, x, item, &by->order);
  return asCount(body, ONNX_OP(ArithOp_XOrI, isBehind, tileBuildInteger(body->b, mlirValueGetType(isBehind), 1)));
}

// How many elements of a sorted row come before. kind 1: bucketize, which names its arguments differently.
bool torchEmitSearchSorted(Aten *aten) {
  Node *node = &aten->node;
  bool isBucketize = aten->row->kind;
  const char *rowName = isBucketize ? "boundaries" : "sorted_sequence";
  OnnxType type = torchCommonType(aten, rowName, "self");
  Against by = {.row = torchOperand(aten, rowName, type), .of = torchOperand(aten, "self", type)};
  MlirValue sizes[OnnxMaxRank];
  if (!by.row || !by.of)
    return false;
  if (type == Onnx_Bool)
    return onnxError(node, "type bool is not supported");
  OnnxValue *order = torchOptional(aten, "sorter");
  if (torchHas(aten, "sorter") && !(order && (by.row = along(aten, "GatherElements", by.row, order, by.row->rank - 1))))
    return false;
  by.isRight = torchInt(aten, "right", 0) || strcmp(torchText(aten, "side", "left"), "right") == 0;
  by.order = (OnnxOrder){true, onnxIsUnsigned(type)};
  int rank = by.of->rank;
  if (by.row->rank < 1 || rank == OnnxMaxRank || (by.row->rank > 1 && by.row->rank != rank))
    return onnxError(node, "a sorted tensor of rank %d for elements of rank %d", by.row->rank, rank);
  for (int d = 0; d + 1 < by.row->rank; ++d)
    if (!onnxCheckSame(node, by.row->sizes[d], by.of->sizes[d], "sizes of sorted rows and of the elements"))
      return false;
  memcpy(sizes, by.of->sizes, (size_t)rank * sizeof *sizes);
  sizes[rank] = by.row->sizes[by.row->rank - 1];
  OnnxValue *are = onnxGenerate(node, Onnx_I64, rank + 1, sizes, isBefore, &by);
  return are && torchReturn(aten, onnxReduceWith(node, Onnx_I64, are, 1u << rank, 0, addUp, NULL));
}

//===--- from row to row --------------------------------------------------------===//

typedef struct Running {
  OnnxValue *from;
  int axis;
  bool isMin;
} Running;

// Is the new one as good as the best, or nan?
static MlirValue replaces(Body *body, MlirValue fresh, MlirValue best) {
  const Running *by = body->data;
  if (!mlirTypeIsAFloat(mlirValueGetType(fresh))) {
    static const int predicates[] = {ArithCmpI_Sge, ArithCmpI_Sle, ArithCmpI_Uge, ArithCmpI_Ule};
    return onnxCompareI(body, predicates[2 * onnxIsUnsigned(by->from->type) + by->isMin], fresh, best);
  }
  return ONNX_OP(ArithOp_OrI, onnxCompareF(body, by->isMin ? ArithCmpF_Ole : ArithCmpF_Oge, fresh, best),
                 onnxCompareF(body, ArithCmpF_Uno, fresh, fresh));
}

// x: the new element, the best one, then the value of each.
static MlirValue better(Body *body, const MlirValue *x) {
  return onnxSelect(body, replaces(body, x[0], x[1]), x[2], x[3]);
}

// state: the best so far and its place, then both for all rows.
static bool runningStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Running *by = data;
  OnnxValue *row = onnxRow(node, by->from, by->axis, at);
  OnnxValue *place =
      onnxMap(node, Onnx_I64, 4, (OnnxValue *[]){row, state[0], onnxOfIndex(node, at), state[1]}, better, by);
  OnnxValue *best = onnxMap(node, row->type, 4, (OnnxValue *[]){row, state[0], row, state[0]}, better, by);
  if (!place || !best)
    return false;
  state[0] = best;
  state[1] = place;
  state[2] = onnxWithRow(node, state[2], by->axis, at, best);
  state[3] = onnxWithRow(node, state[3], by->axis, at, place);
  return true;
}

// kind 1: the least. The last one of equal elements counts.
bool torchEmitRunningExtreme(Aten *aten) {
  Node *node = &aten->node;
  Running by = {.isMin = aten->row->kind == 1};
  OnnxValue *x = withAxis(aten, 0, &by.axis);
  MlirValue sizes[OnnxMaxRank];
  bool isTruth = x && x->type == Onnx_Bool;
  by.from = isTruth ? onnxCast(node, x, Onnx_U8) : x;
  if (!by.from)
    return false;
  for (int d = 0, i = 0; d < x->rank; ++d)
    if (d != by.axis)
      sizes[i++] = x->sizes[d];
  double worst = onnxReduceStart(by.isMin ? OnnxReduce_Min : OnnxReduce_Max, by.from->type);
  OnnxValue *state[] = {
      onnxFill(node, by.from->type, x->rank - 1, sizes, worst), onnxFill(node, Onnx_I64, x->rank - 1, sizes, 0),
      onnxFill(node, by.from->type, x->rank, x->sizes, 0), onnxFill(node, Onnx_I64, x->rank, x->sizes, 0)};
  if (!onnxFor(node, x->sizes[by.axis], 4, state, runningStep, &by))
    return false;
  OnnxValue *values = isTruth ? onnxCast(node, state[2], Onnx_Bool) : state[2];
  return returnTwo(aten, rankOf(aten, "self", values), rankOf(aten, "self", state[3]));
}

//===--- elements that differ ------------------------------------------------------===//

static OnnxValue *flat(Node *node, OnnxValue *x) {
  MlirValue count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < x->rank; ++d)
    count = tileBuildMul(node->b, count, x->sizes[d]);
  return onnxReshape(node, x, 1, &count);
}

// Places and counts that nobody asks for are empty, as PyTorch's.
static bool returnThree(Aten *aten, OnnxValue *values, OnnxValue *places, OnnxValue *counts) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue none = tileBuildIndex(node->b, 0);
  aten->knowsTypes = true;
  values = values ? onnxCast(node, values, x->type) : NULL;
  if (!torchInt(aten, "return_inverse", 0))
    places = onnxFill(node, Onnx_I64, 1, &none, 0);
  else
    places = places ? onnxReshape(node, places, x->rank, x->sizes) : NULL;
  if (!torchInt(aten, "return_counts", 0))
    counts = onnxFill(node, Onnx_I64, 1, &none, 0);
  if (!returnTwo(aten, values, places))
    return false;
  aten->node.out[2] = counts;
  return counts != NULL;
}

// The elements in order, where each element stands among them, how often each is there.
bool torchEmitUnique(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  x = x && x->type == Onnx_Bool ? onnxCast(node, x, Onnx_I8) : x;
  const OnnxAttribute attributes[] = {TORCH_INT("sorted", 1)};
  node->numOut = 4;
  OnnxValue *values = x ? torchOnnx(aten, "Unique", 1, &x, 1, attributes) : NULL;
  return values && returnThree(aten, values, node->out[2], node->out[3]);
}

static MlirValue beginsRun(Body *body) {
  const OnnxValue *x = body->data;
  MlirValue zero = tileBuildIndex(body->b, 0), at = body->index[0], one = tileBuildIndex(body->b, 1);
  MlirValue isFirst = onnxCompareI(body, ArithCmpI_Eq, at, zero);
  MlirValue before = onnxSelect(body, isFirst, zero, ONNX_OP(ArithOp_SubI, at, one));
  MlirValue a = onnxAt(body, (OnnxValue *)x, &before), b = onnxAt(body, (OnnxValue *)x, &at);
  MlirValue differs =
      onnxIsFloat(x->type) ? onnxCompareF(body, ArithCmpF_Une, a, b) : onnxCompareI(body, ArithCmpI_Ne, a, b);
  return onnxConvert(body, ONNX_OP(ArithOp_OrI, isFirst, differs), Onnx_Bool, Onnx_I64);
}

// As above, of runs of equal elements, in their order.
bool torchEmitUniqueConsecutive(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *given = torchTensor(aten, "self"), *x = given ? flat(node, given) : NULL;
  if (torchHas(aten, "dim"))
    return onnxError(node, "argument 'dim' is not supported");
  OnnxValue *begins = x ? onnxGenerate(node, Onnx_I64, 1, x->sizes, beginsRun, x) : NULL;
  OnnxValue *places = begins ? onnxNonZero(node, begins) : NULL, *numbers = NULL;
  OnnxValue *starts = places ? onnxRow(node, places, 0, tileBuildIndex(node->b, 0)) : NULL;
  if (!starts)
    return false;
  OnnxValue *sums[] = {begins, onnxScalarValue(node, Onnx_I64, 0)};
  numbers = torchOnnx(aten, "CumSum", 2, sums, 0, NULL);
  numbers = numbers ? onnxWithNumber(node, ArithOp_SubI, numbers, 1) : NULL;
  OnnxValue *values = numbers ? along(aten, "Gather", x, starts, 0) : NULL;
  OnnxValue *last = onnxUnsqueeze(node, onnxOfIndex(node, x->sizes[0]), 1, 1), *both[] = {starts, last};
  OnnxValue *bounds = last ? onnxConcat(node, 2, both, 0) : NULL;
  MlirValue one = tileBuildIndex(node->b, 1);
  OnnxValue *ends = bounds ? onnxSlice(node, bounds, &one, starts->sizes, (const int64_t[]){1}) : NULL;
  return values && ends && returnThree(aten, values, numbers, onnxSub(node, ends, starts));
}
