// Operators that write at computed places, sort, or scan. Updates are applied in order. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/math.h"
#include "upstream/tensor.h"

#include <math.h>
#include <string.h>

static MlirValue product(Node *node, const MlirValue *sizes, int count) {
  MlirValue result = tileBuildIndex(node->b, 1);
  for (int i = 0; i < count; ++i)
    result = tileBuildMul(node->b, result, sizes[i]);
  return result;
}

// The coordinates of element `at` in C order.
static void coordinates(Node *node, MlirValue at, int rank, const MlirValue *sizes, MlirValue *index) {
  for (int d = rank; d-- > 0;) {
    index[d] = d ? tileBuildBinary(node->b, ArithOp_RemUI, at, sizes[d]) : at;
    at = d ? tileBuildBinary(node->b, ArithOp_DivUI, at, sizes[d]) : at;
  }
}

static MlirValue read(Node *node, OnnxValue *x, const MlirValue *index) {
  return tensorExtractOpBuild(node->b, onnxTensor(node, x), x->rank, index);
}

//===--- scatter --------------------------------------------------------------===//

typedef enum Reduction { Replace, AddUp, MulUp, MaxUp, MinUp } Reduction;

typedef struct Scatter {
  OnnxValue *indices, *updates;
  int axis, count; // count: of indices for each slice (ScatterND)
  Reduction reduction;
} Scatter;

static bool readReduction(Node *node, Reduction *reduction) {
  static const char *const words[] = {"none", "add", "mul", "max", "min"};
  *reduction = Replace;
  if (!onnxAttribute(node, "reduction"))
    return true;
  for (int i = 0; i < 5; ++i)
    if (onnxWord(node, "reduction", words[i], false)) {
      *reduction = (Reduction)i;
      return true;
    }
  return onnxError(node, "attribute reduction is none of none, add, mul, max and min");
}

static MlirValue reduced(Node *node, Reduction reduction, OnnxType type, MlirValue old, MlirValue update) {
  static const TileUpstream floats[] = {0, ArithOp_AddF, ArithOp_MulF, ArithOp_MaximumF, ArithOp_MinimumF};
  static const TileUpstream integers[] = {0, ArithOp_AddI, ArithOp_MulI, ArithOp_MaxSI, ArithOp_MinSI};
  static const TileUpstream naturals[] = {0, ArithOp_AddI, ArithOp_MulI, ArithOp_MaxUI, ArithOp_MinUI};
  static const TileUpstream truths[] = {0, ArithOp_OrI, ArithOp_AndI, ArithOp_MaxUI, ArithOp_MinUI};
  const TileUpstream *ops = onnxIsFloat(type)      ? floats
                            : type == Onnx_Bool    ? truths
                            : onnxIsUnsigned(type) ? naturals
                                                   : integers;
  return reduction == Replace ? update : tileBuildBinary(node->b, ops[reduction], old, update);
}

static bool scatterStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Scatter *by = data;
  OnnxValue *x = state[0];
  MlirValue from[OnnxMaxRank], to[OnnxMaxRank];
  Body body = {.node = node, .b = node->b, .isFolding = true};
  coordinates(node, at, by->updates->rank, by->updates->sizes, from);
  if (by->axis >= 0) {
    memcpy(to, from, sizeof to);
    to[by->axis] = onnxFromEnd(&body, read(node, by->indices, from), x->sizes[by->axis]);
  } else {
    int q = by->indices->rank;
    MlirValue where[OnnxMaxRank];
    memcpy(where, from, (size_t)q * sizeof *where);
    for (int i = 0; i < by->count; ++i) {
      where[q - 1] = tileBuildIndex(node->b, i);
      to[i] = onnxFromEnd(&body, read(node, by->indices, where), x->sizes[i]);
    }
    for (int d = by->count; d < x->rank; ++d)
      to[d] = from[q - 1 + d - by->count];
  }
  // Outside is an error; nothing may be written there.
  for (int d = 0; d < x->rank; ++d)
    if (by->axis < 0 ? d < by->count : d == by->axis)
      tileBuildAssert(node->b, onnxCompareI(&body, ArithCmpI_Ult, to[d], x->sizes[d]),
                      "an index lies outside the tensor");
  MlirValue update = read(node, by->updates, from), old = by->reduction == Replace ? update : read(node, x, to);
  state[0] = onnxWithElement(node, x, to, reduced(node, by->reduction, x->type, old, update));
  return true;
}

static bool scatter(Node *node, Scatter *by) {
  OnnxValue *state[] = {node->in[0]};
  if (node->in[0]->type != node->in[2]->type)
    return onnxError(node, "data and updates have the types %s and %s", onnxTypeName(node->in[0]->type),
                     onnxTypeName(node->in[2]->type));
  MlirValue count = product(node, by->updates->sizes, by->updates->rank);
  return onnxFor(node, count, 1, state, scatterStep, by) && onnxReturn(node, state[0]);
}

bool onnxEmitScatterElements(Node *node) {
  Scatter by = {.indices = node->in[1], .updates = node->in[2]};
  OnnxValue *x = node->in[0];
  if (x->rank != by.indices->rank || x->rank != by.updates->rank || x->rank == 0)
    return onnxError(node, "inputs have the ranks %d, %d and %d", x->rank, by.indices->rank, by.updates->rank);
  for (int d = 0; d < x->rank; ++d)
    if (!onnxCheckSame(node, by.indices->sizes[d], by.updates->sizes[d], "sizes of indices and updates"))
      return false;
  return onnxAxis(node, onnxInt(node, "axis", 0), x->rank, &by.axis) && readReduction(node, &by.reduction) &&
         scatter(node, &by);
}

bool onnxEmitScatterNd(Node *node) {
  Scatter by = {.indices = node->in[1], .updates = node->in[2], .axis = -1};
  OnnxValue *x = node->in[0];
  int q = by.indices->rank;
  int64_t count = q ? onnxStatic(by.indices->sizes[q - 1]) : -1;
  if (count < 1 || count > x->rank || by.updates->rank != q - 1 + x->rank - (int)count)
    return onnxError(node, "the ranks of data, indices and updates do not fit");
  by.count = (int)count;
  for (int d = 0; d < by.updates->rank; ++d)
    if (!onnxCheckSame(node, by.updates->sizes[d], d < q - 1 ? by.indices->sizes[d] : x->sizes[d - q + 1 + by.count],
                       "sizes of data, indices and updates"))
      return false;
  return readReduction(node, &by.reduction) && scatter(node, &by);
}

//===--- MaxUnpool ------------------------------------------------------------===//

typedef struct Unpooled {
  OnnxValue *values, *places; // of rank 1
} Unpooled;

static bool unpoolStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Unpooled *by = data;
  Body at0 = {.node = node, .b = node->b, .isFolding = true}, *body = &at0;
  MlirValue place = onnxToIndex(body, read(node, by->places, &at));
  tileBuildAssert(node->b, onnxCompareI(body, ArithCmpI_Ult, place, state[0]->sizes[0]),
                  "an index lies outside the tensor");
  state[0] = onnxWithElement(node, state[0], &place, read(node, by->values, &at));
  return true;
}

// The image that was pooled; places count its elements. A given output shape adds zeros at its ends.
bool onnxEmitMaxUnpool(Node *node) {
  OnnxValue *x = node->in[0];
  OnnxWindow window;
  MlirValue sizes[OnnxMaxRank], low[OnnxMaxRank], high[OnnxMaxRank], given[OnnxMaxRank],
      count = product(node, x->sizes, x->rank);
  int number = x->rank;
  if (!onnxReadWindow(node, x, NULL, false, &window) ||
      (node->in[2] && !onnxReadIndices(node, node->in[2], OnnxMaxRank, given, &number)))
    return false;
  if (node->in[1]->rank != x->rank || number != x->rank)
    return onnxError(node, "inputs have other ranks than the image (%d)", x->rank);
  for (int d = 0; d < x->rank; ++d) {
    sizes[d] = x->sizes[d];
    low[d] = tileBuildIndex(node->b, 0);
    if (!onnxCheckSame(node, x->sizes[d], node->in[1]->sizes[d], "sizes of the values and of their places"))
      return false;
    if (d >= 2) {
      MlirValue last = tileBuildSub(node->b, x->sizes[d], tileBuildIndex(node->b, 1));
      MlirValue spread = tileBuildMul(node->b, last, tileBuildIndex(node->b, window.strides[d - 2]));
      MlirValue padded = tileBuildAdd(node->b, spread, tileBuildIndex(node->b, window.kernel[d - 2]));
      sizes[d] = tileBuildSub(node->b, tileBuildSub(node->b, padded, window.low[d - 2]), window.high[d - 2]);
    }
    high[d] = tileBuildSub(node->b, node->in[2] ? given[d] : sizes[d], sizes[d]);
    Body body = {.node = node, .b = node->b, .isFolding = true};
    if (!onnxCheck(node, onnxCompareI(&body, ArithCmpI_Sge, high[d], low[d]), "output_shape is smaller than the image"))
      return false;
  }
  Unpooled by = {onnxReshape(node, x, 1, &count), onnxReshape(node, node->in[1], 1, &count)};
  MlirValue total = product(node, sizes, x->rank);
  OnnxValue *state[] = {onnxFill(node, x->type, 1, &total, 0)};
  if (!by.values || !by.places || !onnxFor(node, count, 1, state, unpoolStep, &by))
    return false;
  OnnxValue *image = onnxReshape(node, state[0], x->rank, sizes);
  MlirValue zero = onnxElements(node, onnxScalarValue(node, x->type, 0))[0];
  return image && onnxReturn(node, node->in[2] ? onnxPad(node, image, low, high, zero) : image);
}

//===--- scans ----------------------------------------------------------------===//

typedef struct Scan {
  OnnxValue *from;
  int axis;
  bool isExclusive, isReverse, multiplies;
} Scan;

static bool scanStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  const Scan *by = data;
  MlirValue last = tileBuildSub(node->b, by->from->sizes[by->axis], tileBuildIndex(node->b, 1));
  MlirValue place = by->isReverse ? tileBuildSub(node->b, last, at) : at;
  OnnxValue *row = onnxRow(node, by->from, by->axis, place);
  OnnxValue *next = by->multiplies ? onnxMul(node, state[0], row) : onnxAdd(node, state[0], row);
  if (!next)
    return false;
  state[1] = onnxWithRow(node, state[1], by->axis, place, by->isExclusive ? state[0] : next);
  state[0] = next;
  return true;
}

bool onnxEmitCumulate(Node *node) {
  OnnxValue *x = node->in[0];
  Scan by = {x, 0, onnxInt(node, "exclusive", 0) != 0, onnxInt(node, "reverse", 0) != 0, node->kind != 0};
  int64_t axis;
  int count;
  if (!onnxConstantInts(node, node->in[1], "the input axis", 1, &axis, &count) || count != 1 ||
      !onnxAxis(node, axis, x->rank, &by.axis))
    return false;
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0, i = 0; d < x->rank; ++d)
    if (d != by.axis)
      sizes[i++] = x->sizes[d];
  OnnxValue *state[] = {onnxFill(node, x->type, x->rank - 1, sizes, by.multiplies),
                        onnxFill(node, x->type, x->rank, x->sizes, 0)};
  return onnxFor(node, x->sizes[by.axis], 2, state, scanStep, &by) && onnxReturn(node, state[1]);
}

//===--- top k ----------------------------------------------------------------===//

MlirValue onnxComesBefore(Body *body, MlirValue a, MlirValue b, const OnnxOrder *order) {
  if (order->isSmallest) {
    MlirValue other = a;
    a = b;
    b = other;
  }
  if (!mlirTypeIsAFloat(mlirValueGetType(a)))
    return onnxCompareI(body, order->isUnsigned ? ArithCmpI_Ugt : ArithCmpI_Sgt, a, b);
  MlirValue isGreater = onnxCompareF(body, ArithCmpF_Ogt, a, b), aIsNan = onnxCompareF(body, ArithCmpF_Uno, a, a);
  MlirValue bIsNumber = onnxCompareF(body, ArithCmpF_Oeq, b, b);
  return ONNX_OP(ArithOp_OrI, isGreater, ONNX_OP(ArithOp_AndI, aIsNan, bIsNumber));
}

typedef struct TopK {
  OnnxValue *from, *ranks;
  int axis;
  OnnxOrder order;
} TopK;

// Over the row of others, the last dimension: is the other one before? Their number is the element's place: the order
// is total, as of equals the first one comes first.
static MlirValue countBefore(Body *body) {
  const TopK *by = body->data;
  int rank = by->from->rank;
  MlirValue other[OnnxMaxRank];
  memcpy(other, body->index, (size_t)rank * sizeof *other);
  other[by->axis] = body->index[rank];
  MlirValue a = onnxAt(body, by->from, other), b = onnxAt(body, by->from, body->index);
  MlirValue isBefore = onnxComesBefore(body, a, b, &by->order), isAfter = onnxComesBefore(body, b, a, &by->order);
  MlirValue isEarlier = onnxCompareI(body, ArithCmpI_Ult, other[by->axis], body->index[by->axis]);
  MlirValue neither = ONNX_OP(ArithOp_XOrI, ONNX_OP(ArithOp_OrI, isBefore, isAfter),
                              tileBuildInteger(body->b, mlirIntegerTypeGet(body->b->context, 1), 1));
  MlirValue comes = ONNX_OP(ArithOp_OrI, isBefore, ONNX_OP(ArithOp_AndI, neither, isEarlier));
  return onnxConvert(body, comes, Onnx_Bool, Onnx_I64);
}

// The place of the element of that rank: 0 everywhere but there.
static MlirValue placeOfRank(Body *body) {
  const TopK *by = body->data;
  int rank = by->from->rank;
  MlirValue other[OnnxMaxRank];
  memcpy(other, body->index, (size_t)rank * sizeof *other);
  other[by->axis] = body->index[rank];
  MlirValue order = onnxToIndex(body, onnxAt(body, by->ranks, other));
  MlirValue is = onnxCompareI(body, ArithCmpI_Eq, order, body->index[by->axis]);
  MlirType i64 = mlirIntegerTypeGet(body->b->context, 64);
  MlirValue place = onnxFromIndex(body, other[by->axis], i64);
  return onnxSelect(body, is, place, tileBuildInteger(body->b, i64, 0));
}

typedef struct Pick {
  OnnxValue *from, *places;
  int axis;
} Pick;

static MlirValue picked(Body *body) {
  const Pick *by = body->data;
  MlirValue index[OnnxMaxRank];
  memcpy(index, body->index, (size_t)by->from->rank * sizeof *index);
  index[by->axis] = onnxToIndex(body, onnxAt(body, by->places, body->index));
  return onnxAt(body, by->from, index);
}

static MlirValue addUp(Body *body, const MlirValue *x) { return ONNX_OP(ArithOp_AddI, x[0], x[1]); }

bool onnxEmitTopK(Node *node) {
  OnnxValue *x = node->in[0];
  TopK by = {.from = x, .order = {onnxInt(node, "largest", 1) == 0, onnxIsUnsigned(x->type)}};
  MlirValue k, sizes[OnnxMaxRank];
  int count;
  if (!onnxAxis(node, onnxInt(node, "axis", -1), x->rank, &by.axis))
    return false;
  if (x->rank + 1 > OnnxMaxRank)
    return onnxError(node, "the rank is too large");
  if (node->opset < 10)
    k = tileBuildIndex(node->b, onnxInt(node, "k", 1));
  else if (!onnxReadIndices(node, node->in[1], 1, &k, &count))
    return false;
  Body body = {.node = node, .b = node->b, .isFolding = true};
  if (!onnxCheck(node, onnxCompareI(&body, ArithCmpI_Ule, k, x->sizes[by.axis]),
                 "k is larger than the axis, or negative"))
    return false;
  memcpy(sizes, x->sizes, (size_t)x->rank * sizeof *sizes);
  sizes[x->rank] = x->sizes[by.axis];
  uint32_t last = 1u << x->rank;
  OnnxValue *before = onnxGenerate(node, Onnx_I64, x->rank + 1, sizes, countBefore, &by);
  by.ranks = before ? onnxReduceWith(node, Onnx_I64, before, last, 0, addUp, NULL) : NULL;
  sizes[by.axis] = k;
  OnnxValue *places = by.ranks ? onnxGenerate(node, Onnx_I64, x->rank + 1, sizes, placeOfRank, &by) : NULL;
  places = places ? onnxReduceWith(node, Onnx_I64, places, last, 0, addUp, NULL) : NULL;
  if (!places)
    return false;
  Pick pick = {x, places, by.axis};
  onnxSetOut(node, 1, places);
  return onnxReturn(node, onnxGenerate(node, x->type, x->rank, places->sizes, picked, &pick));
}

//===--- as many as there are -------------------------------------------------===//

// Places of nonzero elements, in C order: row `position` of the result is filled when one is found.
typedef struct Search {
  OnnxValue *from;
} Search;

static MlirValue isNonzero(Node *node, OnnxType type, MlirValue x) {
  Body body = {.node = node, .b = node->b, .isFolding = true};
  return onnxConvert(&body, x, type, Onnx_Bool);
}

static bool nonzeroStep(Node *node, MlirValue at, OnnxValue **state, const void *data) {
  OnnxValue *x = ((const Search *)data)->from;
  MlirValue index[OnnxMaxRank], zero = tileBuildIndex(node->b, 0), one = tileBuildIndex(node->b, 1);
  Body at0 = {.node = node, .b = node->b, .isFolding = true}, *body = &at0;
  coordinates(node, at, x->rank, x->sizes, index);
  MlirValue is = isNonzero(node, x->type, read(node, x, index)),
            position = onnxToIndex(body, read(node, state[1], NULL));
  // Elements that are zero write the row behind the last one, which is cut off.
  MlirValue row = onnxSelect(body, is, position, state[0]->sizes[1]),
            last = tileBuildSub(node->b, state[0]->sizes[1], one);
  row = ONNX_OP(ArithOp_MinUI, row, last);
  for (int d = 0; d < x->rank; ++d) {
    const MlirValue to[] = {tileBuildIndex(node->b, d), row};
    state[0] =
        onnxWithElement(node, state[0], to, onnxFromIndex(body, index[d], mlirIntegerTypeGet(node->b->context, 64)));
  }
  MlirValue next = onnxSelect(body, is, tileBuildAdd(node->b, position, one), position);
  (void)zero;
  state[1] = onnxWithElement(node, state[1], NULL, onnxFromIndex(body, next, mlirIntegerTypeGet(node->b->context, 64)));
  return true;
}

OnnxValue *onnxNonZero(Node *node, OnnxValue *x) {
  MlirValue total = product(node, x->sizes, x->rank);
  const MlirValue sizes[] = {tileBuildIndex(node->b, x->rank),
                             tileBuildAdd(node->b, total, tileBuildIndex(node->b, 1))};
  OnnxValue *state[] = {onnxFill(node, Onnx_I64, 2, sizes, 0), onnxFill(node, Onnx_I64, 0, NULL, 0)};
  if (!onnxFor(node, total, 2, state, nonzeroStep, &(Search){x}))
    return NULL;
  Body body = {.node = node, .b = node->b, .isFolding = true};
  MlirValue zero = tileBuildIndex(node->b, 0), count = onnxToIndex(&body, read(node, state[1], NULL));
  return onnxSlice(node, state[0], (const MlirValue[]){zero, zero}, (const MlirValue[]){sizes[0], count},
                   (const int64_t[]){1, 1});
}

bool onnxEmitNonZero(Node *node) {
  OnnxValue *x = node->in[0];
  if (x->rank == 0)
    x = onnxUnsqueeze(node, x, 1, 1);
  return onnxReturn(node, onnxNonZero(node, x));
}

typedef struct Rows {
  OnnxValue *from, *places;
  int axis;
} Rows;

static MlirValue rowAt(Body *body) {
  const Rows *by = body->data;
  MlirValue index[OnnxMaxRank], at[] = {tileBuildIndex(body->b, 0), body->index[by->axis]};
  memcpy(index, body->index, (size_t)by->from->rank * sizeof *index);
  index[by->axis] = onnxToIndex(body, onnxAt(body, by->places, at));
  return onnxAt(body, by->from, index);
}

bool onnxEmitCompress(Node *node) {
  Rows by = {.from = node->in[0]};
  MlirValue sizes[OnnxMaxRank];
  if (onnxAttribute(node, "axis")) {
    if (!onnxAxis(node, onnxInt(node, "axis", 0), by.from->rank, &by.axis))
      return false;
  } else {
    MlirValue all = product(node, by.from->sizes, by.from->rank);
    by.from = onnxReshape(node, by.from, 1, &all);
  }
  if (!by.from || node->in[1]->rank != 1)
    return onnxError(node, "the condition has rank %d, not 1", node->in[1]->rank);
  by.places = onnxNonZero(node, node->in[1]);
  if (!by.places)
    return false;
  memcpy(sizes, by.from->sizes, sizeof sizes);
  sizes[by.axis] = by.places->sizes[1];
  return onnxReturn(node, onnxGenerate(node, by.from->type, by.from->rank, sizes, rowAt, &by));
}

//===--- caches ---------------------------------------------------------------===//

typedef struct Update {
  OnnxValue *cache, *update, *starts;
  int axis;
  bool isCircular;
} Update;

static MlirValue updated(Body *body) {
  const Update *by = body->data;
  MlirValue index[OnnxMaxRank], zero = tileBuildIndex(body->b, 0), size = by->cache->sizes[by->axis];
  memcpy(index, body->index, (size_t)by->cache->rank * sizeof *index);
  MlirValue start = by->starts ? onnxToIndex(body, onnxAt(body, by->starts, &body->index[0])) : zero;
  MlirValue at = ONNX_OP(ArithOp_SubI, index[by->axis], start);
  if (by->isCircular) {
    at = ONNX_OP(ArithOp_RemSI, at, size);
    at = onnxSelect(body, onnxCompareI(body, ArithCmpI_Slt, at, zero), ONNX_OP(ArithOp_AddI, at, size), at);
  }
  MlirValue is = onnxCompareI(body, ArithCmpI_Ult, at, by->update->sizes[by->axis]);
  MlirValue old = onnxAt(body, by->cache, body->index);
  index[by->axis] = onnxSelect(body, is, at, zero);
  return onnxSelect(body, is, onnxAt(body, by->update, index), old);
}

bool onnxEmitTensorScatter(Node *node) {
  Update by = {.cache = node->in[0], .update = node->in[1], .starts = node->in[2]};
  by.isCircular = onnxWord(node, "mode", "circular", false);
  if (by.update->rank != by.cache->rank || by.update->type != by.cache->type)
    return onnxError(node, "cache and update have other ranks or types");
  return onnxAxis(node, onnxInt(node, "axis", -2), by.cache->rank, &by.axis) &&
         onnxReturn(node, onnxGenerate(node, by.cache->type, by.cache->rank, by.cache->sizes, updated, &by));
}
