// Operators that move elements, make tensors, or compute sizes. See operators.def.
#include "lib/import/torch_export/operators.h"

#include "upstream/arith.h"
#include "upstream/math.h"

#include <string.h>

OnnxValue *torchVector(Aten *aten, int count, const int64_t *items) {
  MlirValue indices[2 * OnnxMaxRank];
  for (int i = 0; i < count; ++i)
    indices[i] = tileBuildIndex(aten->node.b, items[i]);
  return torchOfIndices(aten, count, indices);
}

OnnxValue *torchOfIndices(Aten *aten, int count, const MlirValue *items) {
  Node *node = &aten->node;
  MlirValue elements[2 * OnnxMaxRank], size = tileBuildIndex(node->b, count);
  Body body = {.node = node, .b = node->b, .isFolding = true};
  for (int i = 0; i < count; ++i)
    elements[i] = onnxFromIndex(&body, items[i], mlirIntegerTypeGet(node->b->context, 64));
  return onnxOfElements(node, Onnx_I64, 1, &size, elements, count);
}

//===--- the same elements ------------------------------------------------------===//

bool torchEmitNothing(Aten *aten) { return true; }
bool torchEmitIdentity(Aten *aten) { return torchReturn(aten, torchTensor(aten, "self")); }

bool torchEmitDropout(Aten *aten) {
  if (torchInt(aten, "train", 0) && torchReal(aten, "p", 0) != 0)
    return onnxError(&aten->node, "dropout in training is not supported");
  return torchReturn(aten, torchTensor(aten, "input"));
}

bool torchEmitCopy(Aten *aten) {
  OnnxValue *self = torchTensor(aten, "self"), *source = torchOperand(aten, "src", aten->type);
  return self && source && torchReturn(aten, onnxBroadcastTo(&aten->node, source, self->rank, self->sizes));
}

// One of the sizes may be -1: a constant, as symbols are sizes.
static bool reshape(Aten *aten, OnnxValue *x, int rank, MlirValue *sizes) {
  int unknown = -1;
  int64_t known;
  for (int i = 0; i < rank; ++i) {
    if (!tileConstantIndex(sizes[i], &known) || known >= 0)
      continue;
    if (known != -1 || unknown >= 0)
      return onnxError(&aten->node, "size %lld of a view", (long long)known);
    unknown = i;
    sizes[i] = tileBuildIndex(aten->node.b, 1);
  }
  if (unknown >= 0)
    sizes[unknown] = onnxInferSize(&aten->node, x, rank, sizes, unknown);
  return torchReturn(aten, onnxReshape(&aten->node, x, rank, sizes));
}

bool torchEmitView(Aten *aten) {
  MlirValue sizes[OnnxMaxRank];
  int rank;
  OnnxValue *x = torchTensor(aten, "self");
  return x && torchSizes(aten, torchHas(aten, "shape") ? "shape" : "size", OnnxMaxRank, sizes, &rank) && rank >= 0 &&
         reshape(aten, x, rank, sizes);
}

bool torchEmitFlatten(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue sizes[OnnxMaxRank], product;
  int first, last, rank = 0;
  if (!x)
    return false;
  if (x->rank == 0) {
    sizes[0] = tileBuildIndex(aten->node.b, 1);
    return torchReturn(aten, onnxReshape(&aten->node, x, 1, sizes));
  }
  if (!torchAxis(aten, "start_dim", 0, x->rank, &first) || !torchAxis(aten, "end_dim", -1, x->rank, &last) ||
      first > last)
    return onnxError(&aten->node, "start_dim lies behind end_dim");
  product = tileBuildIndex(aten->node.b, 1);
  for (int d = 0; d < x->rank; ++d) {
    if (d >= first && d <= last)
      product = tileBuildMul(aten->node.b, product, x->sizes[d]);
    if (d < first || d >= last)
      sizes[rank++] = d == last ? product : x->sizes[d];
  }
  return torchReturn(aten, onnxReshape(&aten->node, x, rank, sizes));
}

bool torchEmitUnflatten(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue sizes[2 * OnnxMaxRank], parts[OnnxMaxRank], known = tileBuildIndex(aten->node.b, 1);
  int axis, count, rank = 0, open = -1;
  if (!x || !torchAxis(aten, "dim", 0, x->rank, &axis) || !torchSizes(aten, "sizes", OnnxMaxRank, parts, &count))
    return false;
  if (count < 1 || x->rank + count - 1 > OnnxMaxRank)
    return onnxError(&aten->node, "makes a rank of %d", x->rank + count - 1);
  for (int i = 0; i < count; ++i) {
    int64_t size;
    if (tileConstantIndex(parts[i], &size) && size < 0)
      open = i;
    else
      known = tileBuildMul(aten->node.b, known, parts[i]);
  }
  Body at = {.node = &aten->node, .b = aten->node.b, .isFolding = true}, *body = &at;
  if (open >= 0)
    parts[open] = ONNX_OP(ArithOp_DivSI, x->sizes[axis], known);
  for (int d = 0; d < x->rank; ++d)
    for (int i = 0; i < (d == axis ? count : 1); ++i)
      sizes[rank++] = d == axis ? parts[i] : x->sizes[d];
  return torchReturn(aten, onnxReshape(&aten->node, x, rank, sizes));
}

// kind 1: t, of a matrix; 2: mT, of the last two axes.
bool torchEmitTranspose(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  if (!x || x->rank < 2)
    return x && torchReturn(aten, x);
  int axes[OnnxMaxRank], a = x->rank - 2, b = x->rank - 1;
  if (aten->row->kind == 0 && (!torchAxis(aten, "dim0", 0, x->rank, &a) || !torchAxis(aten, "dim1", 0, x->rank, &b)))
    return false;
  for (int d = 0; d < x->rank; ++d)
    axes[d] = d == a ? b : d == b ? a : d;
  return torchReturn(aten, onnxTranspose(&aten->node, x, axes));
}

bool torchEmitPermute(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int64_t items[OnnxMaxRank];
  int axes[OnnxMaxRank], count;
  uint32_t seen = 0;
  if (!x || !torchInts(aten, "dims", OnnxMaxRank, items, &count))
    return false;
  for (int d = 0; d < count; ++d) {
    if (count != x->rank || !onnxAxis(&aten->node, items[d], x->rank, &axes[d]) || (seen >> axes[d] & 1))
      return onnxError(&aten->node, "dims is no permutation of the %d axes", x->rank);
    seen |= 1u << axes[d];
  }
  return torchReturn(aten, count > 0 ? onnxTranspose(&aten->node, x, axes) : x);
}

bool torchEmitUnsqueeze(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  if (!x || x->rank == OnnxMaxRank || !torchAxis(aten, "dim", 0, x->rank + 1, &axis))
    return x && x->rank == OnnxMaxRank ? onnxError(&aten->node, "has more than %d axes", OnnxMaxRank) : false;
  return torchReturn(aten, onnxUnsqueeze(&aten->node, x, 1u << axis, x->rank + 1));
}

// Axes of another size than 1 stay, as PyTorch has it: those that the file knows to have size 1 go.
bool torchEmitSqueeze(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int64_t items[OnnxMaxRank];
  int count, axis;
  uint32_t axes = 0;
  if (!x || !torchInts(aten, "dim", OnnxMaxRank, items, &count))
    return false;
  for (int i = 0; i < count; ++i) {
    if (x->rank == 0)
      break;
    if (!onnxAxis(&aten->node, items[i], x->rank, &axis))
      return false;
    axes |= 1u << axis;
  }
  for (int d = 0; d < x->rank; ++d)
    if ((count < 0 || axes >> d & 1) && onnxStatic(x->sizes[d]) == 1)
      axes |= 1u << d;
    else
      axes &= ~(1u << d);
  return torchReturn(aten, axes ? onnxSqueeze(&aten->node, x, axes) : x);
}

// kind 1: expand_as. -1: as it is.
bool torchEmitExpand(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue sizes[OnnxMaxRank];
  int rank;
  if (!x)
    return false;
  if (aten->row->kind == 1) {
    OnnxValue *other = torchTensor(aten, "other");
    return other && torchReturn(aten, onnxBroadcastTo(&aten->node, x, other->rank, other->sizes));
  }
  if (!torchSizes(aten, "size", OnnxMaxRank, sizes, &rank))
    return false;
  if (rank < x->rank)
    return onnxError(&aten->node, "%d sizes for a tensor of rank %d", rank, x->rank);
  for (int d = 0; d < x->rank; ++d) {
    int64_t size;
    if (tileConstantIndex(sizes[rank - x->rank + d], &size) && size == -1)
      sizes[rank - x->rank + d] = x->sizes[d];
  }
  return torchReturn(aten, onnxBroadcastTo(&aten->node, x, rank, sizes));
}

//===--- parts ------------------------------------------------------------------===//

bool torchEmitSelect(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  int64_t known;
  MlirValue at = torchIndex(aten, "index");
  if (!x || mlirValueIsNull(at) || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  Body body = {.node = &aten->node, .b = aten->node.b, .isFolding = true};
  at = onnxFromEnd(&body, at, x->sizes[axis]);
  MlirValue isBefore = onnxCompareI(&body, ArithCmpI_Ult, at, x->sizes[axis]);
  if (tileConstantIndex(isBefore, &known) ? !known : !onnxCheck(&aten->node, isBefore, "an index is outside its axis"))
    return onnxError(&aten->node, "the index is outside the axis");
  return torchReturn(aten, onnxRow(&aten->node, x, axis, at));
}

static OnnxValue *slice(Aten *aten, OnnxValue *x, int axis, MlirValue start, MlirValue end, int64_t step) {
  const int64_t axes = axis;
  OnnxValue *in[] = {x, torchOfIndices(aten, 1, &start), torchOfIndices(aten, 1, &end), torchVector(aten, 1, &axes),
                     torchVector(aten, 1, &step)};
  return torchOnnx(aten, "Slice", 5, in, 0, NULL);
}

bool torchEmitSlice(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  MlirValue start = torchHas(aten, "start") ? torchIndex(aten, "start") : tileBuildIndex(aten->node.b, 0);
  MlirValue end = torchHas(aten, "end") ? torchIndex(aten, "end") : tileBuildIndex(aten->node.b, INT64_MAX);
  if (!x || mlirValueIsNull(start) || mlirValueIsNull(end) || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  return torchReturn(aten, slice(aten, x, axis, start, end, torchInt(aten, "step", 1)));
}

bool torchEmitNarrow(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  MlirValue start = torchIndex(aten, "start"), length = torchIndex(aten, "length");
  if (!x || mlirValueIsNull(start) || mlirValueIsNull(length) || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  return torchReturn(aten, slice(aten, x, axis, start, tileBuildAdd(aten->node.b, start, length), 1));
}

// kind 0: parts of one size; 1: of the sizes; 2: so many parts.
bool torchEmitSplit(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis, count = 0, kind = aten->row->kind;
  int64_t sizes[OnnxMaxRank * 2], size, start = 0;
  if (!x || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  if ((size = onnxStatic(x->sizes[axis])) < 0)
    return onnxError(&aten->node, "splits an axis whose size is not known");
  if (kind == 1) {
    if (!torchInts(aten, "split_sizes", OnnxMaxRank * 2, sizes, &count))
      return false;
  } else {
    int64_t each = torchInt(aten, kind ? "chunks" : "split_size", 0);
    each = kind && each > 0 ? (size + each - 1) / each : each;
    if (each < 1 || size / each >= OnnxMaxRank * 2)
      return onnxError(&aten->node, "splits an axis of %lld into parts of %lld", (long long)size, (long long)each);
    for (int64_t at = 0; at < size; at += each)
      sizes[count++] = at + each < size ? each : size - at;
  }
  OnnxValue *parts[OnnxMaxRank * 2];
  for (int i = 0; i < count; start += sizes[i++])
    if (!(parts[i] = slice(aten, x, axis, tileBuildIndex(aten->node.b, start),
                           tileBuildIndex(aten->node.b, start + sizes[i]), 1)))
      return false;
  memcpy(aten->node.out, parts, (size_t)count * sizeof *parts);
  return true;
}

bool torchEmitUnbind(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self"), *parts[OnnxMaxInputs];
  int axis;
  if (!x || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  int64_t size = onnxStatic(x->sizes[axis]);
  if (size < 0 || size > OnnxMaxInputs)
    return onnxError(&aten->node, "unbinds an axis whose size is not known, or more than %d", OnnxMaxInputs);
  for (int64_t i = 0; i < size; ++i)
    parts[i] = onnxRow(&aten->node, x, axis, tileBuildIndex(aten->node.b, i));
  memcpy(aten->node.out, parts, (size_t)size * sizeof *parts);
  return true;
}

// kind 1: stack, along a new axis.
bool torchEmitCat(Aten *aten) {
  OnnxValue *items[OnnxMaxInputs];
  int axis, isNew = aten->row->kind, count = torchTensors(aten, "tensors", items);
  if (count < 1 || !items[0])
    return count < 0 ? false : onnxError(&aten->node, "has no tensors");
  if (!torchAxis(aten, "dim", 0, items[0]->rank + isNew, &axis))
    return false;
  int rank = items[0]->rank;
  for (int i = 0; i < count; ++i) {
    if (!items[i] || items[i]->rank != rank)
      return onnxError(&aten->node, "tensors have several ranks");
    items[i] = onnxCast(&aten->node, items[i], aten->type);
    if (isNew)
      items[i] = onnxUnsqueeze(&aten->node, items[i], 1u << axis, rank + 1);
  }
  return torchReturn(aten, onnxConcat(&aten->node, count, items, axis));
}

bool torchEmitRepeat(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue times[OnnxMaxRank];
  int rank;
  if (!x || !torchSizes(aten, "repeats", OnnxMaxRank, times, &rank))
    return false;
  if (rank < x->rank)
    return onnxError(&aten->node, "%d repeats for a tensor of rank %d", rank, x->rank);
  x = rank > x->rank ? onnxUnsqueeze(&aten->node, x, (1u << (rank - x->rank)) - 1, rank) : x;
  OnnxValue *in[] = {x, torchOfIndices(aten, rank, times)};
  return torchReturn(aten, torchOnnx(aten, "Tile", 2, in, 0, NULL));
}

// Each element, or each row along an axis, so many times.
bool torchEmitRepeatInterleave(Aten *aten) {
  Node *node = &aten->node;
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue repeats = torchIndex(aten, "repeats"), sizes[OnnxMaxRank], count = tileBuildIndex(node->b, 1);
  int axis = 0;
  if (!x || mlirValueIsNull(repeats))
    return false;
  for (int d = 0; d < x->rank; ++d)
    count = tileBuildMul(node->b, count, x->sizes[d]);
  if (!torchHas(aten, "dim"))
    x = onnxReshape(node, x, 1, &count);
  if (!x || !torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  if (x->rank == OnnxMaxRank)
    return onnxError(node, "a tensor of rank %d is not supported", x->rank);
  memcpy(sizes, x->sizes, sizeof sizes);
  memmove(sizes + axis + 2, sizes + axis + 1, (size_t)(x->rank - axis - 1) * sizeof *sizes);
  sizes[axis + 1] = repeats;
  OnnxValue *each = onnxUnsqueeze(node, x, 2u << axis, x->rank + 1);
  each = each ? onnxBroadcastTo(node, each, x->rank + 1, sizes) : NULL;
  memcpy(sizes, x->sizes, sizeof sizes);
  sizes[axis] = tileBuildMul(node->b, sizes[axis], repeats);
  return torchReturn(aten, each ? onnxReshape(node, each, x->rank, sizes) : NULL);
}

bool torchEmitFlip(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int64_t dims[OnnxMaxRank];
  int count, axis;
  if (!x || !torchInts(aten, "dims", OnnxMaxRank, dims, &count))
    return false;
  for (int i = 0; i < count && x; ++i) {
    if (!onnxAxis(&aten->node, dims[i], x->rank, &axis))
      return false;
    x = slice(aten, x, axis, tileBuildIndex(aten->node.b, -1), tileBuildIndex(aten->node.b, INT64_MIN), -1);
  }
  return torchReturn(aten, x);
}

bool torchEmitTriangle(Aten *aten) {
  const OnnxAttribute attributes[] = {TORCH_INT("upper", aten->row->kind)};
  OnnxValue *in[] = {torchTensor(aten, "self"),
                     onnxOfIndex(&aten->node, tileBuildIndex(aten->node.b, torchInt(aten, "diagonal", 0)))};
  return torchReturn(aten, torchOnnx(aten, "Trilu", 2, in, 1, attributes));
}

// PyTorch's pads begin with the last axis: before, behind.
bool torchEmitPad(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  MlirValue given[2 * OnnxMaxRank], pads[2 * OnnxMaxRank];
  int count;
  const char *mode = torchText(aten, "mode", "constant");
  if (!x || !torchSizes(aten, "pad", 2 * OnnxMaxRank, given, &count))
    return false;
  if (count < 0 || count % 2 || count / 2 > x->rank)
    return onnxError(&aten->node, "%d pads for a tensor of rank %d", count, x->rank);
  for (int i = 0; i < 2 * x->rank; ++i)
    pads[i] = tileBuildIndex(aten->node.b, 0);
  for (int i = 0; i < count / 2; ++i) {
    pads[x->rank - 1 - i] = given[2 * i];
    pads[2 * x->rank - 1 - i] = given[2 * i + 1];
  }
  mode = strcmp(mode, "replicate") == 0 ? "edge" : strcmp(mode, "circular") == 0 ? "wrap" : mode;
  const OnnxAttribute attributes[] = {TORCH_TEXT("mode", mode)};
  OnnxValue *in[] = {x, torchOfIndices(aten, 2 * x->rank, pads),
                     onnxScalarValue(&aten->node, x->type, torchReal(aten, "value", 0))};
  return torchReturn(aten, torchOnnx(aten, "Pad", 3, in, 1, attributes));
}

bool torchEmitPixelShuffle(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  const OnnxAttribute attributes[] = {TORCH_INT("blocksize", torchInt(aten, "upscale_factor", 1)),
                                      TORCH_TEXT("mode", "CRD")};
  return torchReturn(aten, torchOnnx(aten, "DepthToSpace", 1, &x, 2, attributes));
}

//===--- places -----------------------------------------------------------------===//

static bool take(Aten *aten, const char *onnx, OnnxValue *x, OnnxValue *places, int axis) {
  const OnnxAttribute attributes[] = {TORCH_INT("axis", axis)};
  OnnxValue *in[] = {x, places};
  return places && torchReturn(aten, torchOnnx(aten, onnx, 2, in, 1, attributes));
}

bool torchEmitEmbedding(Aten *aten) {
  return take(aten, "Gather", torchTensor(aten, "weight"), torchTensor(aten, "indices"), 0);
}

bool torchEmitIndexSelect(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  if (x && x->rank == 0) // there is one element to select
    return torchReturn(aten, x);
  return x && torchAxis(aten, "dim", 0, x->rank, &axis) && take(aten, "Gather", x, torchTensor(aten, "index"), axis);
}

bool torchEmitGather(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  return x && torchAxis(aten, "dim", 0, x->rank, &axis) &&
         take(aten, "GatherElements", x, torchTensor(aten, "index"), axis);
}

//===--- new tensors ------------------------------------------------------------===//

bool torchEmitArange(Aten *aten) {
  Node *node = &aten->node;
  OnnxType type = onnxIsFloat(aten->type) ? aten->type : Onnx_I64;
  OnnxValue *in[] = {torchHas(aten, "start") ? torchOperand(aten, "start", type) : onnxScalarValue(node, type, 0),
                     torchOperand(aten, "end", type),
                     torchHas(aten, "step") ? torchOperand(aten, "step", type) : onnxScalarValue(node, type, 1)};
  return in[0] && in[1] && in[2] && torchReturn(aten, torchOnnx(aten, "Range", 3, in, 0, NULL));
}

static bool fill(Aten *aten, int rank, const MlirValue *sizes, const char *name, int kind) {
  Node *node = &aten->node;
  if (kind < 2)
    return torchReturn(aten, onnxFill(node, aten->type, rank, sizes, kind));
  OnnxValue *value = torchOperand(aten, name, aten->type);
  return value && torchReturn(aten, onnxBroadcastTo(node, value, rank, sizes));
}

// kind 0: zeros, 1: ones, 2: fill_value, 3: a number.
bool torchEmitFull(Aten *aten) {
  MlirValue sizes[OnnxMaxRank];
  int rank = 0;
  if (aten->row->kind == 3)
    return torchReturn(aten, torchOperand(aten, "s", aten->type));
  return torchSizes(aten, "size", OnnxMaxRank, sizes, &rank) &&
         fill(aten, rank < 0 ? 0 : rank, sizes, "fill_value", aten->row->kind);
}

bool torchEmitLike(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  return x && fill(aten, x->rank, x->sizes, torchHas(aten, "value") ? "value" : "fill_value", aten->row->kind);
}

//===--- sizes ------------------------------------------------------------------===//

// kind 1: of all elements.
bool torchEmitSize(Aten *aten) {
  OnnxValue *x = torchTensor(aten, "self");
  int axis;
  if (!x)
    return false;
  if (aten->row->kind == 1) {
    aten->number = tileBuildIndex(aten->node.b, 1);
    for (int d = 0; d < x->rank; ++d)
      aten->number = tileBuildMul(aten->node.b, aten->number, x->sizes[d]);
    return true;
  }
  if (!torchAxis(aten, "dim", 0, x->rank, &axis))
    return false;
  aten->number = x->sizes[axis];
  return true;
}

bool torchEmitNumber(Aten *aten) {
  static const int compare[] = {ArithCmpI_Eq, ArithCmpI_Ne, ArithCmpI_Slt, ArithCmpI_Sle, ArithCmpI_Sgt, ArithCmpI_Sge};
  Body at = {.node = &aten->node, .b = aten->node.b, .isFolding = true}, *body = &at;
  MlirValue a = torchIndex(aten, "a"), b = torchIndex(aten, "b");
  int kind = aten->row->kind;
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return onnxError(&aten->node, "requires two sizes");
  if (!mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)))
    return onnxError(&aten->node, "compares a size with a truth value");
  if (kind >= TorchBinary_Eq) {
    aten->number = onnxCompareI(body, compare[kind - TorchBinary_Eq], a, b);
    return true;
  }
  static const TileUpstream ops[] = {[TorchBinary_Add] = ArithOp_AddI,
                                     [TorchBinary_Sub] = ArithOp_SubI,
                                     [TorchBinary_Mul] = ArithOp_MulI,
                                     [TorchBinary_FloorDiv] = ArithOp_FloorDivSI,
                                     [TorchBinary_Remainder] = ArithOp_RemSI};
  int64_t known;
  if ((kind == TorchBinary_FloorDiv || kind == TorchBinary_Remainder) && (!tileConstantIndex(b, &known) || known <= 0))
    return onnxError(&aten->node, "divides a size by what is no positive constant");
  aten->number = ONNX_OP(ops[kind], a, b);
  return true;
}

// The range that the export assumed of a size which depends on values.
bool torchEmitConstrain(Aten *aten) {
  static const struct {
    const char *name;
    int predicate;
  } bounds[] = {{"min", ArithCmpI_Sge}, {"max", ArithCmpI_Sle}};
  MlirValue size = torchIndex(aten, torchHas(aten, "size") ? "size" : "symbol");
  if (mlirValueIsNull(size))
    return false;
  for (int i = 0; i < 2; ++i) {
    Body body = {.node = &aten->node, .b = aten->node.b, .isFolding = true};
    MlirValue bound = tileBuildIndex(body.b, torchInt(aten, bounds[i].name, 0));
    if (torchHas(aten, bounds[i].name) && !onnxCheck(&aten->node, onnxCompareI(&body, bounds[i].predicate, size, bound),
                                                     "a size is outside the range that the export assumed"))
      return false;
  }
  return true;
}

bool torchEmitAssert(Aten *aten) {
  MlirValue is = torchIndex(aten, "self");
  int64_t known;
  MlirType i1 = mlirIntegerTypeGet(aten->node.b->context, 1);
  if (mlirValueIsNull(is))
    return false;
  if (tileConstantIndex(is, &known))
    return known || onnxError(&aten->node, "the assertion does not hold");
  if (!mlirTypeEqual(mlirValueGetType(is), i1))
    return onnxError(&aten->node, "asserts a size");
  tileBuildAssert(aten->node.b, is, "an assertion of the program does not hold");
  return true;
}
