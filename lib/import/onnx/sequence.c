// Sequences and optionals: lists of values whose lengths are known at import, so that they leave no trace in the
// program. See operators.def.
#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/control_flow.h"
#include "lib/import/onnx/operators.h"

#include <string.h>

enum { MaxItems = 4096 };

static OnnxValue *sequenceOf(Node *node, OnnxType type, int64_t count) {
  OnnxValue *sequence = onnxAllocate(node, sizeof *sequence);
  OnnxValue **items = onnxAllocate(node, (size_t)(count + 1) * sizeof *items);
  if (!items) {
    onnxOutOfMemory(node);
    return NULL;
  }
  *sequence = (OnnxValue){.kind = OnnxKind_Sequence, .type = type, .count = count, .items = items};
  return sequence;
}

static bool isSequence(Node *node, int input) {
  const OnnxValue *x = node->in[input];
  return (x && x->kind == OnnxKind_Sequence) || onnxError(node, "input %d is no sequence", input + 1);
}

// A place in a sequence: of an item, or with `isNew` of an item to be. No input: the last one.
static bool placeOf(Node *node, int input, int64_t count, bool isNew, int64_t *place) {
  int given = 1;
  int64_t end = count + isNew;
  *place = end - 1;
  if (node->in[input] && !onnxConstantInts(node, node->in[input], "the position", 1, place, &given))
    return false;
  int64_t at = *place < 0 && node->in[input] ? *place + count : *place;
  if (given != 1 || at < 0 || at >= end)
    return onnxError(node, "position %lld is outside a sequence of %lld items", (long long)*place, (long long)count);
  *place = at;
  return true;
}

bool onnxEmitSequenceEmpty(Node *node) {
  return onnxReturn(node, sequenceOf(node, (OnnxType)onnxInt(node, "dtype", Onnx_F32), 0));
}

bool onnxEmitSequenceConstruct(Node *node) {
  OnnxValue *sequence = sequenceOf(node, node->in[0]->type, node->numIn);
  for (int i = 0; i < node->numIn && sequence; ++i) {
    if (!node->in[i] || node->in[i]->type != node->in[0]->type)
      return onnxError(node, "input %d is missing or has another type", i + 1);
    sequence->items[i] = node->in[i];
  }
  return onnxReturn(node, sequence);
}

bool onnxEmitSequenceAt(Node *node) {
  int64_t place;
  return isSequence(node, 0) && placeOf(node, 1, node->in[0]->count, false, &place) &&
         onnxReturn(node, node->in[0]->items[place]);
}

bool onnxEmitSequenceLength(Node *node) {
  return isSequence(node, 0) && onnxReturn(node, onnxOfIndex(node, tileBuildIndex(node->b, node->in[0]->count)));
}

bool onnxEmitSequenceInsert(Node *node) {
  int64_t place;
  if (!isSequence(node, 0) || !placeOf(node, 2, node->in[0]->count, true, &place))
    return false;
  const OnnxValue *old = node->in[0];
  if (node->in[1]->kind != OnnxKind_Tensor || old->type != node->in[1]->type || old->count >= MaxItems)
    return onnxError(node, "a value of type %s cannot be put into a sequence of %s", onnxTypeName(node->in[1]->type),
                     onnxTypeName(old->type));
  OnnxValue *sequence = sequenceOf(node, old->type, old->count + 1);
  if (!sequence)
    return false;
  for (int64_t i = 0; i <= old->count; ++i)
    sequence->items[i] = i == place ? node->in[1] : old->items[i - (i > place)];
  return onnxReturn(node, sequence);
}

bool onnxEmitSequenceErase(Node *node) {
  int64_t place;
  if (!isSequence(node, 0) || !placeOf(node, 1, node->in[0]->count, false, &place))
    return false;
  const OnnxValue *old = node->in[0];
  OnnxValue *sequence = sequenceOf(node, old->type, old->count - 1);
  if (!sequence)
    return false;
  for (int64_t i = 0; i < sequence->count; ++i)
    sequence->items[i] = old->items[i + (i >= place)];
  return onnxReturn(node, sequence);
}

//===--- tensors in parts -----------------------------------------------------===//

// The sizes of the parts that `split` asks for: of a scalar, so many each; of none, one each.
static bool partsOf(Node *node, int64_t size, int64_t *sizes, int *count) {
  int64_t each = 1, sum = 0;
  if (node->in[1] && !onnxConstantInts(node, node->in[1], "the input split", OnnxMaxElements, sizes, count))
    return false;
  if (!node->in[1] || node->in[1]->rank == 0) {
    each = node->in[1] ? sizes[0] : 1;
    if (each < 1 || size > OnnxMaxElements * each)
      return onnxError(node, "a size of %lld cannot be split into at most %d parts of %lld", (long long)size,
                       OnnxMaxElements, (long long)each);
    *count = (int)((size + each - 1) / each);
    for (int i = 0; i < *count; ++i)
      sizes[i] = i + 1 < *count ? each : size - each * (*count - 1);
  }
  for (int i = 0; i < *count; ++i) {
    if (sizes[i] < 0 || sizes[i] > size - sum)
      return onnxError(node, "the parts are larger than the size %lld", (long long)size);
    sum += sizes[i];
  }
  return sum == size || onnxError(node, "the parts have %lld elements, not %lld", (long long)sum, (long long)size);
}

bool onnxEmitSplitToSequence(Node *node) {
  OnnxValue *x = node->in[0];
  MlirValue offsets[OnnxMaxRank], sizes[OnnxMaxRank];
  int64_t strides[OnnxMaxRank], parts[OnnxMaxElements], start = 0;
  int axis, count;
  if (!onnxAxis(node, onnxInt(node, "axis", 0), x->rank, &axis))
    return false;
  int64_t size = onnxStatic(x->sizes[axis]);
  bool drops = !node->in[1] && onnxInt(node, "keepdims", 1) == 0;
  if (size < 0)
    return onnxError(node, "the size along axis %d is dynamic", axis);
  if (!partsOf(node, size, parts, &count))
    return false;
  OnnxValue *sequence = sequenceOf(node, x->type, count);
  for (int d = 0; d < x->rank; ++d) {
    offsets[d] = tileBuildIndex(node->b, 0);
    sizes[d] = x->sizes[d];
    strides[d] = 1;
  }
  for (int i = 0; i < count && sequence; ++i) {
    offsets[axis] = tileBuildIndex(node->b, start);
    sizes[axis] = tileBuildIndex(node->b, parts[i]);
    OnnxValue *part = onnxSlice(node, x, offsets, sizes, strides);
    sequence->items[i] = part && drops ? onnxSqueeze(node, part, 1u << axis) : part;
    if (!sequence->items[i])
      return false;
    start += parts[i];
  }
  return onnxReturn(node, sequence);
}

bool onnxEmitConcatFromSequence(Node *node) {
  int axis;
  if (!isSequence(node, 0))
    return false;
  OnnxValue *sequence = node->in[0];
  int64_t count = sequence->count;
  bool isNew = onnxInt(node, "new_axis", 0) != 0;
  if (count < 1 || count > OnnxMaxElements)
    return onnxError(node, "a sequence of %lld items cannot be joined", (long long)count);
  OnnxValue **items = onnxAllocate(node, (size_t)count * sizeof *items);
  int rank = sequence->items[0]->rank + isNew;
  if (!onnxAxis(node, onnxInt(node, "axis", 0), rank, &axis))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    if (sequence->items[i]->rank + isNew != rank)
      return onnxError(node, "item %lld has another rank than the first one", (long long)i);
    items[i] = isNew ? onnxUnsqueeze(node, sequence->items[i], 1u << axis, rank) : sequence->items[i];
  }
  return onnxReturn(node, onnxConcat(node, (int)count, items, axis));
}

// The body once for each item; other inputs that are sequences give their items in turn.
bool onnxEmitSequenceMap(Node *node) {
  const OnnxAttribute *body = onnxAttribute(node, "body");
  const OnnxGraph *graph = body ? body->graph : NULL;
  if (!isSequence(node, 0))
    return false;
  int64_t count = node->in[0]->count;
  if (!graph || graph->numOutputs != node->numOut)
    return onnxError(node, "attribute body is missing or has another number of outputs");
  for (int r = 0; r < node->numOut; ++r)
    if (!onnxSetOut(node, r, sequenceOf(node, Onnx_F32, count)))
      return false;
  for (int64_t i = 0; i < count; ++i) {
    OnnxValue *inputs[OnnxMaxInputs], *outputs[OnnxMaxInputs];
    for (int k = 0; k < node->numIn; ++k) {
      OnnxValue *x = node->in[k];
      bool isList = x && x->kind == OnnxKind_Sequence;
      if (!x || (isList && x->count != count))
        return onnxError(node, "input %d is missing or has another number of items", k + 1);
      inputs[k] = isList ? x->items[i] : x;
    }
    if (!onnxEmitTensors(node, graph, node->numIn, inputs, outputs))
      return false;
    for (int r = 0; r < node->numOut; ++r) {
      node->out[r]->items[i] = outputs[r];
      node->out[r]->type = outputs[r]->type;
    }
  }
  return true;
}

//===--- optionals ------------------------------------------------------------===//

bool onnxEmitOptional(Node *node) {
  OnnxValue *none = onnxAllocate(node, sizeof *none);
  *none = (OnnxValue){.kind = OnnxKind_None};
  return onnxReturn(node, node->in[0] ? node->in[0] : none);
}

bool onnxEmitOptionalHasElement(Node *node) {
  return onnxReturn(node, onnxScalarValue(node, Onnx_Bool, node->in[0] && node->in[0]->kind != OnnxKind_None));
}

bool onnxEmitOptionalGetElement(Node *node) {
  return node->in[0]->kind == OnnxKind_None ? onnxError(node, "the optional has no element")
                                            : onnxReturn(node, node->in[0]);
}
