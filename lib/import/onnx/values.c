// Values: sizes, small tensors known element by element, tensors built when asked for. See node.h.
#include "lib/import/onnx/state.h"

#include "lib/capi/elements.h"
#include "lib/import/onnx/fold.h"
#include "lib/import/onnx/tensors.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <string.h>

void *onnxAllocate(const Node *node, size_t size) { return onnxModelAllocate(node->import->model, size); }
TileBuilder *onnxBuilder(Node *node) { return node->b; }

//===--- sizes ----------------------------------------------------------------===//

int64_t onnxStatic(MlirValue size) {
  int64_t number;
  return tileConstantIndex(size, &number) ? number : -1;
}

// Are they results of one pure op on equal operands? Sizes are short expressions.
static bool isSame(MlirValue a, MlirValue b, int depth) {
  if (mlirValueEqual(a, b))
    return true;
  int64_t x, y;
  if (tileConstantIndex(a, &x) && tileConstantIndex(b, &y))
    return x == y && mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b));
  MlirOperation p = tileDefiningOp(a), q = tileDefiningOp(b);
  if (depth == 0 || mlirOperationIsNull(p) || mlirOperationIsNull(q) || !tileOpIsElementwise(p) ||
      tileUpstreamKind(p) == TileUpstream_None || tileUpstreamKind(p) != tileUpstreamKind(q) || arithCmpIOpIsA(p) ||
      arithCmpFOpIsA(p))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(p); ++i)
    if (!isSame(mlirOperationGetOperand(p, i), mlirOperationGetOperand(q, i), depth - 1))
      return false;
  return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b));
}

bool onnxIsSame(MlirValue a, MlirValue b) { return isSame(a, b, 6); }

int64_t onnxCount(const OnnxValue *value) {
  int64_t count = 1;
  for (int i = 0; i < value->rank; ++i) {
    int64_t size = onnxStatic(value->sizes[i]);
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return -1;
  }
  return count;
}

//===--- making values --------------------------------------------------------===//

OnnxValue *onnxValue(const Node *node, OnnxType type, int rank, const MlirValue *sizes) {
  OnnxValue *value = onnxAllocate(node, sizeof *value);
  *value = (OnnxValue){.kind = OnnxKind_Tensor, .type = type, .rank = rank, .count = -1};
  if (rank > 0)
    memcpy(value->sizes, sizes, (size_t)rank * sizeof *sizes);
  return value;
}

MlirType onnxElementType(const Node *node, OnnxType type) { return onnxTypeMlir(node->import->context, type); }

static MlirType tensorType(MlirType element, int rank, const MlirValue *sizes) {
  int64_t shape[OnnxMaxRank];
  for (int i = 0; i < rank; ++i) {
    int64_t size = onnxStatic(sizes[i]);
    shape[i] = size < 0 ? mlirShapedTypeGetDynamicSize() : size;
  }
  return mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull());
}

MlirType onnxTensorType(const Node *node, const OnnxValue *value) {
  return tensorType(onnxElementType(node, value->type), value->rank, value->sizes);
}

OnnxValue *onnxOfTensor(Node *node, OnnxType type, MlirValue tensor, const MlirValue *sizes) {
  MlirValue own[OnnxMaxRank];
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(tensor));
  for (int i = 0; i < rank && !sizes; ++i)
    own[i] = tileBuildSize(node->b, tensor, i);
  OnnxValue *value = onnxValue(node, type, rank, sizes ? sizes : own);
  MlirType wanted = onnxTensorType(node, value);
  value->tensor = mlirTypeEqual(wanted, mlirValueGetType(tensor)) ? tensor : tensorCastOpBuild(node->b, wanted, tensor);
  return value;
}

OnnxValue *onnxRetype(const Node *node, const OnnxValue *value, OnnxType type) {
  OnnxValue *result = onnxAllocate(node, sizeof *result);
  *result = *value;
  result->type = type;
  return result;
}

OnnxValue *onnxOfElements(Node *node, OnnxType type, int rank, const MlirValue *sizes, const MlirValue *elements,
                          int64_t count) {
  OnnxValue *value = onnxValue(node, type, rank, sizes);
  value->count = count;
  value->elements = onnxAllocate(node, (size_t)(count + 1) * sizeof *elements);
  if (count)
    memcpy(value->elements, elements, (size_t)count * sizeof *elements);
  return value;
}

static MlirAttribute numberAttribute(MlirContext context, MlirType type, double number) {
  return mlirTypeIsAFloat(type) ? mlirFloatAttrDoubleGet(context, type, number)
                                : mlirIntegerAttrGet(type, onnxInteger(number));
}

OnnxValue *onnxScalarValue(Node *node, OnnxType type, double number) {
  MlirValue element =
      tileBuildConstant(node->b, numberAttribute(node->import->context, onnxElementType(node, type), number));
  return onnxOfElements(node, type, 0, NULL, &element, 1);
}

static MlirValue buildEmpty(TileBuilder *b, MlirType element, int rank, const MlirValue *sizes) {
  MlirValue open[OnnxMaxRank];
  intptr_t count = 0;
  for (int i = 0; i < rank; ++i)
    if (onnxStatic(sizes[i]) < 0)
      open[count++] = sizes[i];
  return tensorEmptyOpBuild(b, tensorType(element, rank, sizes), count, open);
}

MlirValue onnxEmpty(Node *node, OnnxType type, int rank, const MlirValue *sizes) {
  return buildEmpty(node->b, onnxElementType(node, type), rank, sizes);
}

MlirValue onnxFilled(Node *node, OnnxType type, int rank, const MlirValue *sizes, MlirValue number) {
  MlirValue empty = onnxEmpty(node, type, rank, sizes);
  MlirType result = mlirValueGetType(empty);
  const MlirType scalar = mlirValueGetType(number);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(node->b, &region, 2, (MlirType[]){scalar, scalar});
  MlirValue from = mlirBlockGetArgument(body.block, 0);
  linalgYieldOpBuild(&body, 1, &from);
  return tileOnlyResult(linalgFillOpBuild(node->b, 1, &result, 1, &number, 1, &empty, region));
}

OnnxValue *onnxFill(Node *node, OnnxType type, int rank, const MlirValue *sizes, double number) {
  MlirValue scalar =
      tileBuildConstant(node->b, numberAttribute(node->import->context, onnxElementType(node, type), number));
  return onnxOfTensor(node, type, onnxFilled(node, type, rank, sizes, scalar), sizes);
}

//===--- constants and elements -----------------------------------------------===//

static int64_t integerAt(const unsigned char *bytes, OnnxType type, int64_t i) {
  int size = onnxTypeBytes(type);
  uint64_t raw = 0;
  memcpy(&raw, bytes + i * size, (size_t)size);
  if (type == Onnx_Bool)
    return raw != 0;
  if (onnxIsUnsigned(type) || size == 8)
    return (int64_t)raw;
  return (int64_t)(raw << (64 - 8 * size)) >> (64 - 8 * size);
}

// One element as an attribute, by MLIR's own reading of the bits.
static MlirAttribute elementAttribute(const Node *node, OnnxType type, const unsigned char *bytes, int64_t i) {
  MlirType element = onnxElementType(node, type);
  if (!mlirTypeIsAFloat(element))
    return mlirIntegerAttrGet(element, integerAt(bytes, type, i));
  int size = onnxTypeBytes(type);
  MlirType one = mlirRankedTensorTypeGet(0, NULL, element, mlirAttributeGetNull());
  MlirAttribute dense = mlirDenseElementsAttrRawBufferGet(one, size, bytes + i * size);
  return mlirDenseElementsAttrGetSplatValue(dense);
}

MlirValue *onnxElements(Node *node, OnnxValue *value) {
  int64_t count = onnxCount(value);
  if (value->elements || !value->bytes || count > OnnxMaxElements)
    return value->elements;
  value->elements = onnxAllocate(node, (size_t)(count + 1) * sizeof *value->elements);
  value->count = count;
  for (int64_t i = 0; i < count; ++i)
    value->elements[i] = tileBuildConstant(node->b, elementAttribute(node, value->type, value->bytes, i));
  return value->elements;
}

MlirValue *onnxRead(Node *node, OnnxValue *value) {
  if (onnxElements(node, value))
    return value->elements;
  int64_t count = onnxCount(value);
  if (count < 0 || count > OnnxMaxElements) {
    onnxError(node, "the elements of an input decide sizes, and there are %s of them; at most %d are accepted",
              count < 0 ? "an unknown number" : "too many", OnnxMaxElements);
    return NULL;
  }
  MlirValue *elements = onnxAllocate(node, (size_t)(count + 1) * sizeof *elements);
  MlirValue tensor = onnxTensor(node, value);
  for (int64_t i = 0; i < count; ++i) {
    MlirValue index[OnnxMaxRank];
    int64_t rest = i;
    for (int d = value->rank; d-- > 0;) {
      int64_t size = onnxStatic(value->sizes[d]);
      index[d] = tileBuildIndex(node->b, rest % size);
      rest /= size;
    }
    elements[i] = tensorExtractOpBuild(node->b, tensor, value->rank, index);
  }
  if (node->import->depth == 0) {
    value->elements = elements;
    value->count = count;
  }
  return elements;
}

bool onnxReadIndices(Node *node, OnnxValue *value, int most, MlirValue *items, int *count) {
  if (value->rank > 1)
    return onnxError(node, "an input of sizes has rank %d; rank 0 or 1 is accepted", value->rank);
  MlirValue *elements = onnxRead(node, value);
  int64_t number = onnxCount(value);
  if (!elements)
    return false;
  if (number > most)
    return onnxError(node, "an input has %lld elements; at most %d are accepted", (long long)number, most);
  Body body = {.node = node, .b = node->b, .isFolding = true};
  for (int64_t i = 0; i < number; ++i)
    items[i] = onnxFold(node->b, onnxToIndex(&body, elements[i]));
  *count = (int)number;
  return true;
}

bool onnxConstantInts(Node *node, OnnxValue *value, const char *what, int most, int64_t *items, int *count) {
  MlirValue *elements = onnxElements(node, value);
  int64_t number = onnxCount(value);
  if (!elements || number > most)
    return onnxError(node, "%s is not a constant of at most %d elements", what, most);
  for (int64_t i = 0; i < number; ++i)
    if (!tileConstantIndex(elements[i], &items[i]))
      return onnxError(node, "%s is not a constant: it depends on dynamic sizes or on data", what);
  *count = (int)number;
  return true;
}

bool onnxConstantReals(Node *node, OnnxValue *value, const char *what, int most, double *items, int *count) {
  MlirValue *elements = onnxElements(node, value);
  int64_t number = onnxCount(value);
  if (!elements || number > most)
    return onnxError(node, "%s is not a constant of at most %d elements", what, most);
  for (int64_t i = 0; i < number; ++i)
    if (!tileConstantFloat(elements[i], &items[i]))
      return onnxError(node, "%s is not a constant: it depends on dynamic sizes or on data", what);
  *count = (int)number;
  return true;
}

OnnxValue *onnxConstantOf(Node *node, OnnxType type, int rank, const int64_t *shape, const double *numbers) {
  MlirValue sizes[OnnxMaxRank];
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) {
    sizes[d] = tileBuildIndex(node->b, shape[d]);
    count *= shape[d];
  }
  bool isWhole = type == Onnx_I32 || type == Onnx_I64;
  OnnxType kept = type == Onnx_F64 || isWhole ? type : Onnx_F32;
  OnnxValue *value = onnxValue(node, kept, rank, sizes);
  int each = onnxTypeBytes(kept);
  unsigned char *bytes = onnxAllocate(node, (size_t)(count * each) + 1);
  if (!bytes) {
    onnxOutOfMemory(node);
    return NULL;
  }
  for (int64_t i = 0; i < count; ++i) {
    float single = (float)numbers[i];
    int64_t whole = isWhole ? (int64_t)numbers[i] : 0; // its first bytes are the lowest
    const void *from = isWhole ? (const void *)&whole : kept == Onnx_F64 ? (const void *)&numbers[i] : &single;
    memcpy(bytes + i * each, from, (size_t)each);
  }
  value->bytes = bytes;
  return onnxCast(node, value, type);
}

//===--- tensors --------------------------------------------------------------===//

static bool isConstant(const OnnxValue *value) {
  for (int64_t i = 0; i < value->count; ++i)
    if (!arithConstantOpIsA(tileDefiningOp(value->elements[i])))
      return false;
  return true;
}

static MlirValue constantOfElements(Node *node, const OnnxValue *value) {
  MlirAttribute *items = onnxAllocate(node, (size_t)(value->count + 1) * sizeof *items);
  for (int64_t i = 0; i < value->count; ++i)
    items[i] = arithConstantOpGetValue(tileDefiningOp(value->elements[i]));
  return tileBuildConstant(node->b, mlirDenseElementsAttrGet(onnxTensorType(node, value), value->count, items));
}

static MlirValue constantOfBytes(Node *node, const OnnxValue *value) {
  MlirType type = onnxTensorType(node, value);
  int64_t count = onnxCount(value);
  if (value->type == Onnx_Bool) { // one byte each in the file
    int *bools = onnxAllocate(node, (size_t)(count + 1) * sizeof *bools);
    if (!bools)
      return onnxStandIn(node, type);
    for (int64_t i = 0; i < count; ++i)
      bools[i] = value->bytes[i] != 0;
    return tileBuildConstant(node->b, mlirDenseElementsAttrBoolGet(type, count, bools));
  }
  size_t size = (size_t)(count * onnxTypeBytes(value->type));
  if (size <= 1024)
    return tileBuildConstant(node->b, mlirDenseElementsAttrRawBufferGet(type, size, value->bytes));
  return onnxLargeConstant(node, value, type, size);
}

MlirValue onnxTensor(Node *node, OnnxValue *value) {
  if (!mlirValueIsNull(value->tensor))
    return value->tensor;
  if (value->bytes)
    return value->tensor = constantOfBytes(node, value);
  if (isConstant(value))
    return value->tensor = constantOfElements(node, value);
  MlirValue tensor = tensorFromElementsOpBuild(node->b, onnxTensorType(node, value), value->count, value->elements);
  if (node->import->depth == 0)
    value->tensor = tensor;
  return tensor;
}

//===--- checks ---------------------------------------------------------------===//

bool onnxCheck(Node *node, MlirValue condition, const char *what) {
  int64_t known;
  if (tileConstantIndex(condition, &known))
    return known || onnxError(node, "%s", what);
  tileBuildAssert(node->b, condition, what);
  return true;
}

bool onnxCheckSame(Node *node, MlirValue a, MlirValue b, const char *what) {
  if (onnxIsSame(a, b))
    return true;
  int64_t x = onnxStatic(a), y = onnxStatic(b);
  if (x >= 0 && y >= 0)
    return onnxError(node, "%s: %lld and %lld differ", what, (long long)x, (long long)y);
  tileBuildAssert(node->b, arithCmpIOpBuild(node->b, a, b, ArithCmpI_Eq), what);
  return true;
}
