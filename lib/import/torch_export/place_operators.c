// Operators that write at places, sort, or read along diagonals and between pixels. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "lib/import/onnx/operators.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>
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

bool torchEmitScatterReduce(Aten *aten) {
  static const struct {
    const char *name, *onnx;
    double start; // what changes nothing
  } ways[] = {{"sum", "add", 0}, {"prod", "mul", 1}, {"amax", "max", -INFINITY}, {"amin", "min", INFINITY}};
  OnnxValue *x = torchTensor(aten, "self"), *index = torchTensor(aten, "index");
  const char *given = torchText(aten, "reduce", "");
  size_t way = 0, count = sizeof ways / sizeof *ways;
  int axis;
  while (way < count && strcmp(given, ways[way].name) != 0)
    ++way;
  if (way == count)
    return onnxError(&aten->node, "reduce = '%.100s' is not supported; sum, prod, amax and amin are", given);
  if (!x || !index || !torchAxis(aten, "dim", 0, x->rank ? x->rank : 1, &axis))
    return false;
  OnnxValue *source = sourceOf(aten, x->type, index);
  if (source && !torchInt(aten, "include_self", 1)) {
    if (!onnxIsFloat(x->type) && way >= 2)
      return onnxError(&aten->node, "include_self = False is not supported for extremes of integers");
    OnnxValue *starts = onnxFill(&aten->node, x->type, index->rank, index->sizes, ways[way].start);
    x = scattered(aten, x, index, starts, axis, "none");
  }
  return torchReturn(aten, scattered(aten, x, index, source, axis, ways[way].onnx));
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

//===--- places of several axes -------------------------------------------------===//

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

// The axes that have tensors of places, packed to the front of `places`. -1 after an error.
static int placesOf(Aten *aten, int rank, OnnxValue **places, int *axes) {
  int count = torchTensors(aten, "indices", places), given = 0;
  if (count > rank)
    return onnxError(&aten->node, "%d tensors of places for a tensor of rank %d", count, rank), -1;
  for (int i = 0; i < count; ++i) {
    if (!places[i])
      continue;
    if (!onnxIsInteger(places[i]->type))
      return onnxError(&aten->node, "places that are truth values are not supported"), -1;
    axes[given] = i;
    places[given++] = places[i];
  }
  if (count >= 0 && given == 0)
    return onnxError(&aten->node, "no tensor of places is given"), -1;
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
  int axes[OnnxMaxRank], order[OnnxMaxRank], given = x ? placesOf(aten, x->rank, places, axes) : -1;
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
  int given = x && values ? placesOf(aten, x->rank, places, axes) : -1;
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

//===--- sorting ----------------------------------------------------------------===//

// Elements and their places in order; equal ones keep theirs.
static bool sorted(Aten *aten, OnnxValue *x, int axis, bool isDescending, OnnxValue **values, OnnxValue **places) {
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis), TORCH_INT("largest", isDescending)};
  OnnxValue *in[] = {x, torchOfIndices(aten, 1, &x->sizes[axis])};
  *values = torchOnnx(aten, "TopK", 2, in, 2, attributes);
  *places = *values ? aten->node.out[1] : NULL;
  return *values;
}

// kind 0: elements and places, 1: places, 2: elements along the first axis.
bool torchEmitSort(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self"), *values, *places;
  int axis, kind = aten->row->kind;
  if (!x || !torchAxis(aten, "dim", kind == 2 ? 0 : -1, x->rank ? x->rank : 1, &axis))
    return false;
  bool isScalar = x->rank == 0;
  x = isScalar ? onnxUnsqueeze(&aten->node, x, 1, 1) : x;
  if (!sorted(aten, x, axis, torchInt(aten, "descending", 0) != 0, &values, &places))
    return false;
  values = isScalar ? onnxSqueeze(&aten->node, values, 1) : values;
  places = isScalar ? onnxSqueeze(&aten->node, places, 1) : places;
  if (kind)
    return torchReturn(aten, kind == 1 ? places : values);
  aten->node.out[0] = values;
  aten->node.out[1] = places;
  return values && places;
}

//===--- diagonals, pixels ------------------------------------------------------===//

typedef struct Diagonal {
  OnnxValue *from;
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

bool torchEmitDiagonal(Aten *aten) {
  Node *node = &aten->node;
  Diagonal by = {.from = torchTensor(aten, "self"), .offset = torchInt(aten, "offset", 0)};
  MlirValue sizes[OnnxMaxRank];
  if (!by.from || !torchAxis(aten, "dim1", 0, by.from->rank, &by.first) ||
      !torchAxis(aten, "dim2", 1, by.from->rank, &by.second))
    return false;
  int64_t height = onnxStatic(by.from->sizes[by.first]), width = onnxStatic(by.from->sizes[by.second]);
  if (by.first == by.second || height < 0 || width < 0)
    return onnxError(node, "requires two axes of known sizes");
  height -= by.offset < 0 ? -by.offset : 0;
  width -= by.offset > 0 ? by.offset : 0;
  int64_t size = height < width ? height : width;
  int rank = 0;
  for (int d = 0; d < by.from->rank; ++d)
    if (d != by.first && d != by.second)
      sizes[rank++] = by.from->sizes[d];
  sizes[rank++] = tileBuildIndex(node->b, size > 0 ? size : 0);
  return torchReturn(aten, onnxGenerate(node, by.from->type, rank, sizes, onDiagonal, &by));
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
