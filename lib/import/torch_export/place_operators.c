// Operators that write at places, or read along diagonals and between pixels. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/fold.h"
#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

//===--- scatter ----------------------------------------------------------------===//

static OnnxValue *scattered(Aten *aten, OnnxValue *x, OnnxValue *index, OnnxValue *source, int axis, const char *how) {
  Node *node = &aten->node;
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_TEXT("reduction", how)};
  if (!x || !index || !source)
    return NULL;
  if (x->rank == 0) { // as a tensor of one element
    OnnxValue *in[] = {onnxUnsqueeze(node, x, 1, 1), index->rank ? index : onnxUnsqueeze(node, index, 1, 1),
                       source->rank ? source : onnxUnsqueeze(node, source, 1, 1)};
    OnnxValue *result = torchOnnx(aten, "ScatterElements", 3, in, 2, attributes);
    return result ? onnxSqueeze(node, result, 1) : NULL;
  }
  OnnxValue *in[] = {x, index, source};
  return torchOnnx(aten, "ScatterElements", 3, in, 2, attributes);
}

// The part of the source that has a place.
static OnnxValue *partOf(Aten *aten, OnnxValue *source, const OnnxValue *index) {
  Node *node = &aten->node;
  MlirValue offsets[OnnxMaxRank];
  int64_t strides[OnnxMaxRank];
  bool isWhole = true;
  if (source->rank != index->rank) {
    onnxError(node, "index and source have the ranks %d and %d", index->rank, source->rank);
    return NULL;
  }
  for (int d = 0; d < index->rank; ++d) {
    offsets[d] = tileBuildIndex(node->b, 0);
    strides[d] = 1;
    isWhole = isWhole && onnxIsSame(source->sizes[d], index->sizes[d]);
  }
  return isWhole ? source : onnxSlice(node, source, offsets, index->sizes, strides);
}

static OnnxValue *sourceOf(Aten *aten, OnnxType type, const OnnxValue *index) {
  if (!torchHas(aten, "src")) {
    OnnxValue *number = torchOperand(aten, "value", type);
    return number ? onnxBroadcastTo(&aten->node, number, index->rank, index->sizes) : NULL;
  }
  OnnxValue *source = torchTensor(aten, "src");
  return source ? partOf(aten, onnxCast(&aten->node, source, type), index) : NULL;
}

// kind 1: adds.
bool torchEmitScatter(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self"), *index = torchTensor(aten, "index");
  int axis;
  if (!x || !index || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  const char *given = torchText(aten, "reduce", "");
  const char *how = aten->row->kind || strcmp(given, "add") == 0 ? "add" : *given ? "mul" : "none";
  return torchReturn(aten, scattered(aten, x, index, sourceOf(aten, x->type, index), axis, how));
}

// A vector of places along an axis, for each element of the source.
static OnnxValue *spreadAlong(Node *node, OnnxValue *index, int axis, const OnnxValue *source) {
  uint32_t others = ((1u << source->rank) - 1) & ~(1u << axis);
  if (index->rank > 1) {
    onnxError(node, "places of rank %d; a vector is accepted", index->rank);
    return NULL;
  }
  index = index->rank ? index : onnxUnsqueeze(node, index, 1, 1);
  index = index && others ? onnxUnsqueeze(node, index, others, source->rank) : index;
  return index ? onnxBroadcastTo(node, index, source->rank, source->sizes) : NULL;
}

// The sums over the number of elements in each; those of integers are rounded down.
static OnnxValue *meanOf(Aten *aten, OnnxValue *x, OnnxValue *sums, OnnxValue *index, int axis) {
  Node *node = &aten->node;
  OnnxValue *ones = onnxFill(node, x->type, index->rank, index->sizes, 1);
  OnnxValue *counts = onnxFill(node, x->type, x->rank, x->sizes, 1);
  if (!torchInt(aten, "include_self", 1))
    counts = scattered(aten, counts, index, onnxFill(node, x->type, index->rank, index->sizes, 0), axis, "none");
  counts = counts && ones ? scattered(aten, counts, index, ones, axis, "add") : NULL;
  if (!counts || !sums)
    return NULL;
  return onnxIsFloat(x->type) ? onnxBinary(node, ArithOp_DivF, sums, counts) : torchFloorQuotient(aten, sums, counts);
}

// kind 1: index_reduce, whose index is a vector.
bool torchEmitScatterReduce(Aten *aten) {
  static const struct {
    const char *name, *onnx;
    OnnxReduction kind;
  } ways[] = {{"sum", "add", OnnxReduce_Sum},
              {"prod", "mul", OnnxReduce_Prod},
              {"amax", "max", OnnxReduce_Max},
              {"amin", "min", OnnxReduce_Min},
              {"mean", "add", OnnxReduce_Sum}};
  OnnxValue *x = torchTensor(aten, "self"), *index = torchTensor(aten, "index");
  const char *given = torchText(aten, "reduce", "");
  size_t way = 0, count = sizeof ways / sizeof *ways;
  int axis;
  while (way < count && strcmp(given, ways[way].name) != 0)
    ++way;
  if (way == count)
    return onnxError(&aten->node, "reduce = '%.100s' is not supported; sum, prod, amax, amin and mean are", given);
  if (!x || !index || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  OnnxValue *source = NULL;
  if (aten->row->kind) {
    source = torchOperand(aten, "source", x->type);
    index = source && source->rank ? spreadAlong(&aten->node, index, axis, source) : index;
  } else {
    source = sourceOf(aten, x->type, index);
  }
  if (!index || !source)
    return false;
  if (source && !torchInt(aten, "include_self", 1)) {
    double start = onnxReduceStart(ways[way].kind, x->type);
    OnnxValue *starts = onnxFill(&aten->node, x->type, index->rank, index->sizes, start);
    x = scattered(aten, x, index, starts, axis, "none");
  }
  OnnxValue *result = scattered(aten, x, index, source, axis, ways[way].onnx);
  return torchReturn(aten, strcmp(given, "mean") == 0 ? meanOf(aten, x, result, index, axis) : result);
}

// A row, or rows beside each other, in place of those of the input.
bool torchEmitSelectScatter(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self"), *row = torchTensor(aten, "src");
  Body body = {.node = &aten->node, .b = aten->node.b, .isFolding = true};
  MlirValue at = torchIndex(aten, "index");
  int axis;
  if (!x || !row || mlirValueIsNull(at) || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  at = onnxFromEnd(&body, at, x->sizes[axis]);
  return onnxCheck(&aten->node, onnxCompareI(&body, ArithCmpI_Ult, at, x->sizes[axis]),
                   "the index is outside the axis") &&
         torchReturn(aten, onnxWithRow(&aten->node, x, axis, at, onnxCast(&aten->node, row, x->type)));
}

typedef struct Part {
  OnnxValue *from, *source;
  int axis;
  MlirValue start, end;
  int64_t step;
} Part;

// The source's element where the place is one of the slice's.
static MlirValue besideSlice(Body *body) {
  const Part *by = body->data;
  MlirValue at[OnnxMaxRank], place = body->index[by->axis], zero = tileBuildIndex(body->b, 0);
  MlirValue step = tileBuildIndex(body->b, by->step), behind = ONNX_OP(ArithOp_SubI, place, by->start);
  memcpy(at, body->index, (size_t)by->from->rank * sizeof *at);
  MlirValue isIn = ONNX_OP(ArithOp_AndI, onnxCompareI(body, ArithCmpI_Sge, place, by->start),
                           onnxCompareI(body, ArithCmpI_Slt, place, by->end));
  MlirValue isStep = onnxCompareI(body, ArithCmpI_Eq, ONNX_OP(ArithOp_RemSI, behind, step), zero);
  isIn = ONNX_OP(ArithOp_AndI, isIn, isStep);
  at[by->axis] = onnxSelect(body, isIn, ONNX_OP(ArithOp_DivSI, behind, step), zero);
  return onnxSelect(body, isIn, onnxAt(body, by->source, at), onnxAt(body, by->from, body->index));
}

// A bound counts from the end where it is negative, and is moved into the axis.
static MlirValue boundOf(Aten *aten, const char *name, int64_t otherwise, MlirValue size) {
  Body at = {.node = &aten->node, .b = aten->node.b, .isFolding = true}, *body = &at;
  MlirValue zero = tileBuildIndex(body->b, 0);
  MlirValue bound = torchHas(aten, name) ? torchIndex(aten, name) : tileBuildIndex(body->b, otherwise);
  if (mlirValueIsNull(bound))
    return bound;
  bound = onnxFromEnd(body, bound, size);
  return ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_MinSI, bound, size), zero);
}

bool torchEmitSliceScatter(Aten *aten) {
  Node *node = &aten->node;
  Part by = {.from = torchTensor(aten, "self"), .step = torchInt(aten, "step", 1)};
  by.source = by.from ? torchOperand(aten, "src", by.from->type) : NULL;
  if (!by.source || !torchAxis(aten, "dim", 0, by.from->rank, &by.axis))
    return false;
  if (by.source->rank != by.from->rank || by.step < 1)
    return onnxError(node, "a source of rank %d and a step of %lld for a tensor of rank %d", by.source->rank,
                     (long long)by.step, by.from->rank);
  MlirValue size = by.from->sizes[by.axis];
  by.start = boundOf(aten, "start", 0, size);
  by.end = boundOf(aten, "end", INT64_MAX, size);
  if (mlirValueIsNull(by.start) || mlirValueIsNull(by.end))
    return false;
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  MlirValue span = ONNX_OP(ArithOp_MaxSI, ONNX_OP(ArithOp_SubI, by.end, by.start), tileBuildIndex(node->b, 0));
  MlirValue count = tileBuildCeilDiv(node->b, span, tileBuildIndex(node->b, by.step));
  for (int d = 0; d < by.from->rank; ++d)
    if (!onnxCheckSame(node, by.source->sizes[d], onnxFold(node->b, d == by.axis ? count : by.from->sizes[d]),
                       "sizes of the source and of the slice"))
      return false;
  if (onnxCount(by.source) == 0)
    return torchReturn(aten, by.from);
  return torchReturn(aten, onnxGenerate(node, by.from->type, by.from->rank, by.from->sizes, besideSlice, &by));
}

//===--- places of several axes -------------------------------------------------===//

// Where `mask` is true, a tensor for each of its axes. They are axes `first` and further of x.
static bool truePlaces(Node *node, const OnnxValue *x, int first, OnnxValue *mask, OnnxValue **places) {
  for (int d = 0; d < mask->rank; ++d)
    if (!onnxCheckSame(node, mask->sizes[d], x->sizes[first + d], "sizes of truth values and of what they choose from"))
      return false;
  OnnxValue *all = onnxNonZero(node, mask);
  for (int d = 0; d < mask->rank && all; ++d)
    places[d] = onnxRow(node, all, 0, tileBuildIndex(node->b, d));
  return all != NULL;
}

// The tensors of places as one, with a last axis: the first axes of a tensor. Null after an error.
static OnnxValue *joinedPlaces(Aten *aten, int given, OnnxValue **places) {
  Node *node = &aten->node;
  MlirValue sizes[OnnxMaxRank];
  int rank;
  if (!onnxBroadcastSizes(node, given, places, &rank, sizes))
    return NULL;
  for (int i = 0; i < given; ++i) {
    places[i] = onnxBroadcastTo(node, onnxCast(node, places[i], Onnx_I64), rank, sizes);
    places[i] = places[i] ? onnxUnsqueeze(node, places[i], 1u << rank, rank + 1) : NULL;
    if (!places[i])
      return NULL;
  }
  return given == 1 ? places[0] : onnxConcat(node, given, places, rank);
}

// The axes that have tensors of places. A tensor of truth values stands for as many axes as it has: the places of those
// that are true. -1 after an error.
static int placesOf(Aten *aten, const OnnxValue *x, OnnxValue **places, int *axes) {
  Node *node = &aten->node;
  OnnxValue *items[OnnxMaxInputs];
  int count = torchTensors(aten, "indices", items), given = 0, axis = 0;
  for (int i = 0; i < count; ++i) {
    bool isTruth = items[i] && items[i]->type == Onnx_Bool;
    int own = isTruth ? items[i]->rank : 1;
    if (own < 1 || axis + own > x->rank)
      return onnxError(node, "places for %d axes of a tensor of rank %d", axis + own, x->rank), -1;
    if (isTruth && !truePlaces(node, x, axis, items[i], &places[given]))
      return -1;
    if (items[i] && !isTruth)
      places[given] = items[i];
    for (int k = 0; k < own && items[i]; ++k)
      axes[given++] = axis + k;
    axis += own;
  }
  if (count >= 0 && given == 0)
    return onnxError(node, "no tensor of places is given"), -1;
  return count < 0 ? -1 : given;
}

// Axes `axes` first, then the others.
static void axesFirst(int rank, int given, const int *axes, int *order) {
  int next = given;
  memcpy(order, axes, (size_t)given * sizeof *order);
  for (int d = 0, i = 0; d < rank; ++d)
    if (i < given && axes[i] == d)
      ++i;
    else
      order[next++] = d;
}

bool torchEmitIndex(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self"), *places[OnnxMaxInputs];
  int axes[OnnxMaxRank], order[OnnxMaxRank], given = x ? placesOf(aten, x, places, axes) : -1;
  if (given < 0)
    return false;
  if (given == 1) {
    const OnnxAttribute attributes[] = {TORCH_INT("axis", axes[0])};
    return torchReturn(aten, torchOnnx(aten, "Gather", 2, (OnnxValue *[]){x, places[0]}, 1, attributes));
  }
  int rank = x->rank;
  axesFirst(rank, given, axes, order);
  OnnxValue *joined = joinedPlaces(aten, given, places), *in[] = {onnxTranspose(node, x, order), joined};
  OnnxValue *result = joined && in[0] ? torchOnnx(aten, "GatherND", 2, in, 0, NULL) : NULL;
  bool areBeside = axes[given - 1] - axes[0] == given - 1;
  if (!result || !areBeside || axes[0] == 0)
    return torchReturn(aten, result);
  // The axes of the places stand where the first indexed axis stood.
  int before = axes[0], own = joined->rank - 1, back[OnnxMaxRank];
  for (int d = 0; d < result->rank; ++d)
    back[d] = d < before ? own + d : d < before + own ? d - before : d;
  return torchReturn(aten, onnxTranspose(node, result, back));
}

// x with the places' axes first, the values alike, and back. As in torchEmitIndex, the axes of places beside each other
// stand in the values where the first indexed axis stood.
bool torchEmitIndexPut(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self"), *values = torchTensor(aten, "values"), *places[OnnxMaxInputs];
  int axes[OnnxMaxRank], order[OnnxMaxRank], back[OnnxMaxRank];
  int given = x && values ? placesOf(aten, x, places, axes) : -1;
  OnnxValue *joined = given < 0 ? NULL : joinedPlaces(aten, given, places);
  if (!joined)
    return false;
  int own = joined->rank - 1, rank = own + x->rank - given;
  int before = axes[given - 1] - axes[0] == given - 1 ? axes[0] : 0;
  MlirValue sizes[OnnxMaxRank];
  if (rank > OnnxMaxRank || values->rank > rank)
    return onnxError(node, "the values have rank %d, the places and what lies there %d", values->rank, rank);
  axesFirst(x->rank, given, axes, order);
  for (int d = 0; d < rank; ++d) {
    int rest = d < before ? d : d - own; // of the axes that are not indexed
    sizes[d] = d >= before && d < before + own ? joined->sizes[d - before] : x->sizes[order[given + rest]];
  }
  values = onnxBroadcastTo(node, onnxCast(node, values, x->type), rank, sizes);
  for (int d = 0; d < rank; ++d)
    back[d] = d < own ? before + d : d < own + before ? d - own : d;
  const OnnxAttribute attributes[] = {TORCH_TEXT("reduction", torchInt(aten, "accumulate", 0) ? "add" : "none")};
  OnnxValue *in[] = {onnxTranspose(node, x, order), joined, values ? onnxTranspose(node, values, back) : NULL};
  OnnxValue *result = in[0] && in[2] ? torchOnnx(aten, "ScatterND", 3, in, 1, attributes) : NULL;
  for (int d = 0; d < x->rank; ++d)
    back[order[d]] = d;
  return torchReturn(aten, result ? onnxTranspose(node, result, back) : NULL);
}

//===--- as many as there are ---------------------------------------------------===//

// kind 1: a tensor for each axis; 2: `size` rows, with fill_value behind the last place.
bool torchEmitNonZero(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  OnnxValue *row = x && x->rank == 0 ? onnxUnsqueeze(node, x, 1, 1) : x, *places = row ? onnxNonZero(node, row) : NULL;
  if (!places)
    return false;
  for (int d = 0; aten->row->kind == 1 && d < row->rank; ++d)
    node->out[d] = onnxRow(node, places, 0, tileBuildIndex(node->b, d));
  if (aten->row->kind == 1)
    return true;
  places = onnxTranspose(node, places, (int[]){1, 0});
  MlirValue zero = tileBuildIndex(node->b, 0), rank = tileBuildIndex(node->b, x->rank), low[] = {zero, zero};
  if (places && x->rank == 0) // an element has places, which have no numbers
    places = onnxSlice(node, places, low, (MlirValue[]){places->sizes[0], zero}, (const int64_t[]){1, 1});
  if (!places || aten->row->kind == 0)
    return torchReturn(aten, places);
  MlirValue size = torchIndex(aten, "size");
  if (mlirValueIsNull(size))
    return false;
  MlirValue fill = tileBuildInteger(node->b, onnxElementType(node, Onnx_I64), torchInt(aten, "fill_value", -1));
  places = onnxPad(node, places, low, (MlirValue[]){size, zero}, fill);
  return torchReturn(aten,
                     places ? onnxSlice(node, places, low, (MlirValue[]){size, rank}, (const int64_t[]){1, 1}) : NULL);
}

bool torchEmitMaskedSelect(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *in[] = {torchTensor(aten, "self"), torchTensor(aten, "mask")};
  MlirValue sizes[OnnxMaxRank], count = tileBuildIndex(node->b, 1);
  int rank;
  if (!in[0] || !in[1] || !onnxBroadcastSizes(node, 2, in, &rank, sizes))
    return false;
  for (int d = 0; d < rank; ++d)
    count = tileBuildMul(node->b, count, sizes[d]);
  for (int i = 0; i < 2; ++i) {
    in[i] = onnxBroadcastTo(node, in[i], rank, sizes);
    in[i] = in[i] ? onnxReshape(node, in[i], 1, &count) : NULL;
    if (!in[i])
      return false;
  }
  const OnnxAttribute attributes[] = {TORCH_INT("axis", 0)};
  return torchReturn(aten, torchOnnx(aten, "Compress", 2, in, 1, attributes));
}

//===--- places among all elements ----------------------------------------------===//

static OnnxValue *flat(Node *node, OnnxValue *x) {
  MlirValue count = tileBuildIndex(node->b, 1);
  for (int d = 0; d < x->rank; ++d)
    count = tileBuildMul(node->b, count, x->sizes[d]);
  return onnxReshape(node, x, 1, &count);
}

bool torchEmitTake(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self"), *in[] = {x ? flat(&aten->node, x) : NULL, torchTensor(aten, "index")};
  const OnnxAttribute attributes[] = {TORCH_INT("axis", 0)};
  return in[0] && in[1] && torchReturn(aten, torchOnnx(aten, "Gather", 2, in, 1, attributes));
}

bool torchEmitPut(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self"), *index = torchTensor(aten, "index");
  OnnxValue *source = x ? torchOperand(aten, "source", x->type) : NULL;
  if (!index || !source)
    return false;
  const char *how = torchInt(aten, "accumulate", 0) ? "add" : "none";
  OnnxValue *all = scattered(aten, flat(node, x), flat(node, index), flat(node, source), 0, how);
  return torchReturn(aten, all ? onnxReshape(node, all, x->rank, x->sizes) : NULL);
}

// The places in a triangle of ones, row by row. kind 1: the upper one.
bool torchEmitTriangleIndices(Aten *aten) {
  Node *node = &aten->node;
  MlirValue sizes[] = {torchIndex(aten, "row"), torchIndex(aten, "col")};
  if (mlirValueIsNull(sizes[0]) || mlirValueIsNull(sizes[1]))
    return false;
  const OnnxAttribute attributes[] = {TORCH_INT("upper", aten->row->kind)};
  OnnxValue *in[] = {onnxFill(node, Onnx_I8, 2, sizes, 1),
                     onnxOfIndex(node, tileBuildIndex(node->b, torchInt(aten, "offset", 0)))};
  OnnxValue *ones = torchOnnx(aten, "Trilu", 2, in, 1, attributes);
  return torchReturn(aten, ones ? onnxNonZero(node, ones) : NULL);
}

typedef struct Unfolded {
  OnnxValue *from;
  int axis;
  int64_t step;
} Unfolded;

static MlirValue unfolded(Body *body) {
  const Unfolded *by = body->data;
  MlirValue at[OnnxMaxRank];
  int rank = by->from->rank;
  memcpy(at, body->index, (size_t)rank * sizeof *at);
  MlirValue start = ONNX_OP(ArithOp_MulI, at[by->axis], tileBuildIndex(body->b, by->step));
  at[by->axis] = ONNX_OP(ArithOp_AddI, start, body->index[rank]);
  return onnxAt(body, by->from, at);
}

// Windows along an axis; their elements are the last axis.
bool torchEmitUnfold(Aten *aten) {
  Node *node = &aten->node;
  Unfolded by = {.from = torchTensor(aten, "self"), .step = torchInt(aten, "step", 1)};
  int64_t size = torchInt(aten, "size", 0);
  MlirValue sizes[OnnxMaxRank];
  bool isScalar = by.from && by.from->rank == 0; // has one window
  by.from = isScalar ? onnxUnsqueeze(node, by.from, 1, 1) : by.from;
  if (!by.from || !torchAxis(aten, "dimension", 0, by.from->rank, &by.axis))
    return false;
  if (by.from->rank == OnnxMaxRank || by.step < 1 || size < 0)
    return onnxError(node, "windows of %lld elements, %lld apart, of a tensor of rank %d", (long long)size,
                     (long long)by.step, by.from->rank);
  Body at = {.node = node, .b = node->b, .isFolding = true}, *body = &at;
  MlirValue whole = by.from->sizes[by.axis], window = tileBuildIndex(node->b, size);
  if (!onnxCheck(node, onnxCompareI(body, ArithCmpI_Sle, window, whole), "a window is larger than its axis"))
    return false;
  memcpy(sizes, by.from->sizes, (size_t)by.from->rank * sizeof *sizes);
  MlirValue steps = ONNX_OP(ArithOp_FloorDivSI, tileBuildSub(node->b, whole, window), tileBuildIndex(node->b, by.step));
  sizes[by.axis] = onnxFold(node->b, tileBuildAdd(node->b, steps, tileBuildIndex(node->b, 1)));
  sizes[by.from->rank] = window;
  OnnxValue *windows = onnxGenerate(node, by.from->type, by.from->rank + 1, sizes, unfolded, &by);
  return torchReturn(aten, isScalar && windows ? onnxRow(node, windows, 0, tileBuildIndex(node->b, 0)) : windows);
}

//===--- diagonals, pixels ------------------------------------------------------===//

typedef struct Diagonal {
  OnnxValue *from, *source; // source: what stands there instead
  int first, second;
  int64_t offset;
} Diagonal;

static MlirValue onDiagonal(Body *body) {
  const Diagonal *by = body->data;
  int rank = by->from->rank;
  MlirValue at[OnnxMaxRank], place = body->index[rank - 2];
  MlirValue down = tileBuildIndex(body->b, by->offset < 0 ? -by->offset : 0);
  MlirValue right = tileBuildIndex(body->b, by->offset > 0 ? by->offset : 0);
  for (int d = 0, i = 0; d < rank; ++d)
    at[d] = d == by->first    ? ONNX_OP(ArithOp_AddI, place, down)
            : d == by->second ? ONNX_OP(ArithOp_AddI, place, right)
                              : body->index[i++];
  return onnxAt(body, by->from, at);
}

// The diagonal's sizes: the other axes, then its own. -1 after an error.
static int diagonalOf(Aten *aten, Diagonal *by, MlirValue *sizes) {
  Node *node = &aten->node;
  *by = (Diagonal){.from = torchTensor(aten, "self"), .offset = torchInt(aten, "offset", 0)};
  if (!by->from || !torchAxis(aten, "dim1", 0, by->from->rank, &by->first) ||
      !torchAxis(aten, "dim2", 1, by->from->rank, &by->second))
    return -1;
  int64_t height = onnxStatic(by->from->sizes[by->first]), width = onnxStatic(by->from->sizes[by->second]);
  if (by->first == by->second || height < 0 || width < 0)
    return onnxError(node, "requires two axes of known sizes"), -1;
  height -= by->offset < 0 ? -by->offset : 0;
  width -= by->offset > 0 ? by->offset : 0;
  int64_t size = height < width ? height : width;
  int rank = 0;
  for (int d = 0; d < by->from->rank; ++d)
    if (d != by->first && d != by->second)
      sizes[rank++] = by->from->sizes[d];
  sizes[rank++] = tileBuildIndex(node->b, size > 0 ? size : 0);
  return rank;
}

bool torchEmitDiagonal(Aten *aten) {
  Diagonal by;
  MlirValue sizes[OnnxMaxRank];
  int rank = diagonalOf(aten, &by, sizes);
  return rank >= 0 && torchReturn(aten, onnxGenerate(&aten->node, by.from->type, rank, sizes, onDiagonal, &by));
}

// The source's element where the place lies on the diagonal.
static MlirValue besideDiagonal(Body *body) {
  const Diagonal *by = body->data;
  MlirValue at[OnnxMaxRank], i = body->index[by->first], j = body->index[by->second];
  MlirValue isOn = onnxCompareI(body, ArithCmpI_Eq, ONNX_OP(ArithOp_AddI, i, tileBuildIndex(body->b, by->offset)), j);
  int rank = 0;
  for (int d = 0; d < by->from->rank; ++d)
    if (d != by->first && d != by->second)
      at[rank++] = body->index[d];
  MlirValue zero = tileBuildIndex(body->b, 0);
  at[rank] = onnxSelect(body, isOn, by->offset < 0 ? j : i, zero);
  return onnxSelect(body, isOn, onnxAt(body, by->source, at), onnxAt(body, by->from, body->index));
}

bool torchEmitDiagonalScatter(Aten *aten) {
  Node *node = &aten->node;
  Diagonal by;
  MlirValue sizes[OnnxMaxRank];
  int rank = diagonalOf(aten, &by, sizes);
  by.source = rank < 0 ? NULL : torchOperand(aten, "src", by.from->type);
  if (!by.source)
    return false;
  if (by.source->rank != rank)
    return onnxError(node, "the source has rank %d, the diagonal %d", by.source->rank, rank);
  for (int d = 0; d < rank; ++d)
    if (!onnxCheckSame(node, by.source->sizes[d], sizes[d], "sizes of the source and of the diagonal"))
      return false;
  if (onnxStatic(sizes[rank - 1]) == 0)
    return torchReturn(aten, by.from);
  return torchReturn(aten, onnxGenerate(node, by.from->type, by.from->rank, by.from->sizes, besideDiagonal, &by));
}

bool torchEmitGridSampler(Aten *aten) {
  static const char *const modes[] = {"linear", "nearest", "cubic"}, *const outside[] = {"zeros", "border",
                                                                                         "reflection"};
  int64_t mode = torchInt(aten, "interpolation_mode", 0), padding = torchInt(aten, "padding_mode", 0);
  OnnxValue *in[] = {torchTensor(aten, "input"), torchTensor(aten, "grid")};
  if (!in[0] || !in[1])
    return false;
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2 || (mode == 2 && padding != 0))
    return onnxError(&aten->node, "mode %lld with padding mode %lld is not supported", (long long)mode,
                     (long long)padding);
  const OnnxAttribute attributes[] = {TORCH_TEXT("mode", modes[mode]), TORCH_TEXT("padding_mode", outside[padding]),
                                      TORCH_INT("align_corners", torchInt(aten, "align_corners", 0))};
  return torchReturn(aten, torchOnnx(aten, "GridSample", 2, in, 3, attributes));
}

bool torchEmitCol2Im(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int64_t size[2], kernel[2], dilation[2], padding[2], stride[2];
  static const char *const names[] = {"output_size", "kernel_size", "dilation", "padding", "stride"};
  int64_t *const lists[] = {size, kernel, dilation, padding, stride};
  for (int i = 0; i < 5; ++i) {
    int count;
    if (!x || !torchInts(aten, names[i], 2, lists[i], &count))
      return false;
    if (count != 2)
      return onnxError(&aten->node, "argument '%s' has not 2 numbers", names[i]);
  }
  int64_t pads[] = {padding[0], padding[1], padding[0], padding[1]};
  const OnnxAttribute attributes[] = {TORCH_INTS("dilations", 2, dilation), TORCH_INTS("pads", 4, pads),
                                      TORCH_INTS("strides", 2, stride)};
  bool isOne = x->rank == 2;
  OnnxValue *in[] = {isOne ? onnxUnsqueeze(&aten->node, x, 1, 3) : x, torchVector(aten, 2, size),
                     torchVector(aten, 2, kernel)};
  OnnxValue *result = torchOnnx(aten, "Col2Im", 3, in, 3, attributes);
  return torchReturn(aten, result && isOne ? onnxSqueeze(&aten->node, result, 1) : result);
}
