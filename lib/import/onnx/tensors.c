// Reshapes, slices, pads and the like: values from values without arithmetic. See node.h.
#include "lib/import/onnx/tensors.h"

#include "dialects/tile/extern_weights.h"
#include "lib/import/onnx/fold.h"
#include "lib/import/onnx/state.h"
#include "lib/ir/support.h"
#include "lib/support/files/checksum.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/ml_program.h"
#include "upstream/tensor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool onnxIsUnary(TileUpstream kind) {
  switch (kind) {
  case ArithOp_NegF:
    return true;
  case MathOp_Atan2:
  case MathOp_PowF:
  case MathOp_FPowI:
  case MathOp_IPowI:
  case MathOp_CopySign:
    return false;
  default:
    return strncmp(tileUpstreamName(kind), "math.", 5) == 0;
  }
}

int64_t onnxInteger(double number) {
  return number >= 9.2e18 ? INT64_MAX : number <= -9.2e18 ? INT64_MIN : (int64_t)number;
}

MlirAttribute onnxZero(const Node *node, OnnxType type) {
  MlirType element = onnxElementType(node, type);
  return mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(node->import->context, element, 0)
                                   : mlirIntegerAttrGet(element, 0);
}

//===--- weights --------------------------------------------------------------===//

void onnxNoteWeight(Node *node, OnnxValue *value, const char *path, const unsigned char *start, OnnxText name) {
  OnnxWeight *weight = onnxAllocate(node, sizeof *weight);
  *weight = (OnnxWeight){path, start, name};
  value->weight = weight;
}

// The global's name is the tensor's. `main` is the entry's.
static MlirStringRef symbolOf(const OnnxWeight *weight) {
  bool isOther = weight->name.length && !onnxTextIs(weight->name, "main");
  return isOther ? mlirStringRefCreate(weight->name.data, weight->name.length) : tileString("weight");
}

static MlirValue load(Node *node, const OnnxValue *value, MlirType type, size_t size) {
  Import *import = node->import;
  const tessera_weights_source_t source = {value->weight->file, (uint64_t)(value->bytes - value->weight->start), size,
                                           tessera_checksum(0, value->bytes, size)};
  TileBuilder top = tileBuilderAtEnd(mlirModuleGetBody(mlirModuleFromOperation(import->module)), node->b->location),
              start = tileBuilderAtStart(import->entry, node->b->location);
  MlirOperation global = tileWeightsBuildGlobal(&top, import->symbols, symbolOf(value->weight), type,
                                                tileWeightsSource(import->context, &source));
  return mlProgramGlobalLoadConstOpBuild(
      &start, type, mlirFlatSymbolRefAttrGet(import->context, mlProgramGlobalOpGetSymNameValue(global)));
}

static void forget(void *userData, const void *data, size_t size, size_t alignment) {
  (void)userData, (void)size, (void)alignment;
  free((void *)(uintptr_t)data);
}

MlirValue onnxStandIn(Node *node, MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  MlirAttribute zero = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(node->import->context, element, 0)
                                                 : mlirIntegerAttrGet(element, 0);
  return tileBuildConstant(node->b, mlirDenseElementsAttrSplatGet(type, zero));
}

static MlirValue copy(Node *node, const OnnxValue *value, MlirType type, size_t size) {
  void *data = aligned_alloc(64, (size + 63) / 64 * 64);
  if (!data) {
    node->import->model->isFull = true;
    return onnxStandIn(node, type);
  }
  memcpy(data, value->bytes, size);
  char name[32];
  snprintf(name, sizeof name, "weight_%lld", (long long)node->import->numTensors++);
  return tileBuildConstant(
      node->b, mlirUnmanagedDenseResourceElementsAttrGet(type, tileString(name), data, size, 64, false, forget, NULL));
}

MlirValue onnxLargeConstant(Node *node, const OnnxValue *value, MlirType type, size_t size) {
  return (value->weight ? load : copy)(node, value, type, size);
}

//===--- views ----------------------------------------------------------------===//

static MlirAttribute groupsOf(MlirContext context, int count, const int *first, int total) {
  MlirAttribute groups[OnnxMaxRank + 1], items[OnnxMaxRank + 1];
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  for (int g = 0; g < count; ++g) {
    int end = g + 1 < count ? first[g + 1] : total, number = 0;
    for (int i = first[g]; i < end; ++i)
      items[number++] = mlirIntegerAttrGet(i64, i);
    groups[g] = mlirArrayAttrGet(context, number, items);
  }
  return mlirArrayAttrGet(context, count, groups);
}

static MlirValue product(TileBuilder *b, const MlirValue *sizes, int count) {
  MlirValue result = tileBuildIndex(b, 1);
  for (int i = 0; i < count; ++i)
    result = tileBuildMul(b, result, sizes[i]);
  return result;
}

// first[g]: where group g of the larger shape starts.
static OnnxValue *collapse(Node *node, OnnxValue *value, int rank, const int *first) {
  MlirValue sizes[OnnxMaxRank];
  for (int g = 0; g < rank; ++g) {
    int end = g + 1 < rank ? first[g + 1] : value->rank;
    sizes[g] = product(node->b, &value->sizes[first[g]], end - first[g]);
  }
  OnnxValue *result = onnxValue(node, value->type, rank, sizes);
  MlirValue from = onnxTensor(node, value);
  result->tensor = tensorCollapseShapeOpBuild(node->b, onnxTensorType(node, result), from,
                                              groupsOf(node->b->context, rank, first, value->rank));
  return result;
}

static OnnxValue *expand(Node *node, OnnxValue *value, int rank, const MlirValue *sizes, const int *first) {
  OnnxValue *result = onnxValue(node, value->type, rank, sizes);
  int64_t shape[OnnxMaxRank];
  MlirValue open[OnnxMaxRank];
  intptr_t numOpen = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t size = onnxStatic(sizes[i]);
    shape[i] = size < 0 ? mlirShapedTypeGetDynamicSize() : size;
    if (size < 0)
      open[numOpen++] = sizes[i];
  }
  // A group of known sizes makes a known size.
  MlirValue from = onnxTensor(node, value), merged[OnnxMaxRank];
  for (int g = 0; g < value->rank; ++g) {
    int end = g + 1 < value->rank ? first[g + 1] : rank;
    merged[g] = product(node->b, &sizes[first[g]], end - first[g]);
  }
  MlirType wanted = onnxTensorType(node, onnxValue(node, value->type, value->rank, merged));
  if (!mlirTypeEqual(wanted, mlirValueGetType(from)))
    from = tensorCastOpBuild(node->b, wanted, from);
  result->tensor = tensorExpandShapeOpBuild(node->b, onnxTensorType(node, result), from, numOpen, open,
                                            groupsOf(node->b->context, value->rank, first, rank),
                                            mlirDenseI64ArrayGet(node->b->context, rank, shape));
  return result;
}

// Can `few` be had from `many` by merging neighbours? Fills first.
static bool groups(TileBuilder *b, int many, const MlirValue *from, int few, const MlirValue *to, int *first) {
  int at = 0;
  for (int g = 0; g < few; ++g) {
    first[g] = at;
    if (at == many)
      return false;
    MlirValue have = from[at++];
    while (at < many && !onnxIsSame(have, to[g])) {
      int64_t wanted = onnxStatic(to[g]), so = onnxStatic(have);
      if (so == 0 || (wanted >= 0 && so > wanted))
        return false;
      have = tileBuildMul(b, have, from[at++]);
    }
    if (!onnxIsSame(have, to[g]))
      return false;
  }
  while (at < many && onnxStatic(from[at]) == 1)
    ++at;
  return at == many && few > 0;
}

static bool isAllOnes(int rank, const MlirValue *sizes) {
  for (int i = 0; i < rank; ++i)
    if (onnxStatic(sizes[i]) != 1)
      return false;
  return true;
}

static OnnxValue *knownReshape(Node *node, const OnnxValue *value, int rank, const MlirValue *sizes) {
  OnnxValue *result = onnxValue(node, value->type, rank, sizes);
  result->elements = value->elements;
  result->count = value->count;
  result->bytes = value->bytes;
  result->weight = value->weight;
  return onnxCount(result) >= 0 ? result : NULL;
}

OnnxValue *onnxReshape(Node *node, OnnxValue *value, int rank, const MlirValue *sizes) {
  int first[OnnxMaxRank] = {0};
  bool isSame = rank == value->rank;
  for (int i = 0; i < rank && isSame; ++i)
    isSame = onnxIsSame(sizes[i], value->sizes[i]);
  if (isSame)
    return value;
  if (value->elements || value->bytes) {
    OnnxValue *known = knownReshape(node, value, rank, sizes);
    if (known)
      return known;
  }
  if (rank < value->rank && groups(node->b, value->rank, value->sizes, rank, sizes, first))
    return collapse(node, value, rank, first);
  if (rank > value->rank && groups(node->b, rank, sizes, value->rank, value->sizes, first))
    return expand(node, value, rank, sizes, first);
  if (rank == 0 && isAllOnes(value->rank, value->sizes))
    return collapse(node, value, 0, first);
  if (value->rank == 0 && isAllOnes(rank, sizes))
    return expand(node, value, rank, sizes, first);
  first[0] = 0;
  OnnxValue *flat = value;
  if (value->rank == 0)
    flat = expand(node, value, 1, (MlirValue[]){tileBuildIndex(node->b, 1)}, first);
  else if (value->rank != 1)
    flat = collapse(node, value, 1, first);
  MlirValue count = product(node->b, sizes, rank);
  if (!onnxCheckSame(node, flat->sizes[0], count, "elements before and after a reshape"))
    return NULL;
  if (rank == 1)
    return onnxOfTensor(node, value->type, onnxTensor(node, flat), sizes);
  if (rank == 0) {
    MlirValue ones[] = {tileBuildIndex(node->b, 1)};
    return collapse(node, onnxOfTensor(node, value->type, onnxTensor(node, flat), ones), 0, first);
  }
  return expand(node, flat, rank, sizes, first);
}

OnnxValue *onnxUnsqueeze(Node *node, OnnxValue *value, uint32_t axes, int rank) {
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0, from = 0; d < rank; ++d)
    sizes[d] = axes >> d & 1 ? tileBuildIndex(node->b, 1) : value->sizes[from++];
  if (value->elements || value->bytes || value->rank == 0)
    return onnxReshape(node, value, rank, sizes);
  int first[OnnxMaxRank], group = 0;
  for (int d = 0; d < rank; ++d)
    if (!(axes >> d & 1))
      first[group++] = d;
  first[0] = 0;
  return rank == value->rank ? value : expand(node, value, rank, sizes, first);
}

OnnxValue *onnxSqueeze(Node *node, OnnxValue *value, uint32_t axes) {
  MlirValue sizes[OnnxMaxRank];
  int first[OnnxMaxRank] = {0}, rank = 0;
  for (int d = 0; d < value->rank; ++d) {
    if (axes >> d & 1) {
      if (!onnxCheckSame(node, value->sizes[d], tileBuildIndex(node->b, 1), "the size of an axis that is removed"))
        return NULL;
    } else {
      first[rank] = d;
      sizes[rank++] = value->sizes[d];
    }
  }
  first[0] = 0;
  if (rank == value->rank)
    return value;
  if (value->elements || value->bytes || rank == 0)
    return onnxReshape(node, value, rank, sizes);
  OnnxValue *ones = value;
  if (!isAllOnes(1, &value->sizes[0]) || axes) { // sizes that the check has just made 1
    MlirValue all[OnnxMaxRank];
    for (int d = 0; d < value->rank; ++d)
      all[d] = axes >> d & 1 ? tileBuildIndex(node->b, 1) : value->sizes[d];
    ones = onnxOfTensor(node, value->type, onnxTensor(node, value), all);
  }
  return collapse(node, ones, rank, first);
}

//===--- moves ----------------------------------------------------------------===//

typedef struct Permutation {
  OnnxValue *from;
  const int *axes;
} Permutation;

static MlirValue permuted(Body *body) {
  const Permutation *by = body->data;
  MlirValue index[OnnxMaxRank];
  for (int i = 0; i < by->from->rank; ++i)
    index[by->axes[i]] = body->index[i];
  return onnxAt(body, by->from, index);
}

OnnxValue *onnxTranspose(Node *node, OnnxValue *value, const int *permutation) {
  MlirValue sizes[OnnxMaxRank];
  int64_t axes[OnnxMaxRank];
  bool isIdentity = true;
  for (int i = 0; i < value->rank; ++i) {
    sizes[i] = value->sizes[permutation[i]];
    axes[i] = permutation[i];
    isIdentity &= axes[i] == i;
  }
  if (isIdentity)
    return value;
  if (onnxElements(node, value) && onnxCount(value) <= OnnxMaxElements)
    return onnxGenerate(node, value->type, value->rank, sizes, permuted, &(Permutation){value, permutation});
  MlirValue init = onnxEmpty(node, value->type, value->rank, sizes), from = onnxTensor(node, value);
  MlirType result = mlirValueGetType(init), element = mlirShapedTypeGetElementType(result);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(node->b, &region, 2, (MlirType[]){element, element});
  MlirValue x = mlirBlockGetArgument(body.block, 0);
  linalgYieldOpBuild(&body, 1, &x);
  MlirAttribute order = mlirDenseI64ArrayGet(node->b->context, value->rank, axes);
  return onnxOfTensor(node, value->type,
                      tileOnlyResult(linalgTransposeOpBuild(node->b, 1, &result, from, init, order, region)), sizes);
}

// Offsets, sizes and strides as tensor.extract_slice takes them: numbers, and values where not known.
typedef struct Places {
  int64_t numbers[OnnxMaxRank];
  MlirValue open[OnnxMaxRank];
  intptr_t count;
} Places;

static Places placesOf(int rank, const MlirValue *values) {
  Places places = {.count = 0};
  for (int i = 0; i < rank; ++i) {
    int64_t number;
    bool isKnown = tileConstantIndex(values[i], &number);
    places.numbers[i] = isKnown ? number : mlirShapedTypeGetDynamicSize();
    if (!isKnown)
      places.open[places.count++] = values[i];
  }
  return places;
}

typedef struct Cut {
  OnnxValue *from;
  const MlirValue *offsets;
  const int64_t *strides;
} Cut;

static MlirValue cut(Body *body) {
  const Cut *of = body->data;
  MlirValue index[OnnxMaxRank];
  for (int d = 0; d < of->from->rank; ++d) {
    MlirValue step = tileBuildMul(body->b, body->index[d], tileBuildIndex(body->b, of->strides[d]));
    index[d] = tileBuildAdd(body->b, of->offsets[d], step);
  }
  return onnxAt(body, of->from, index);
}

OnnxValue *onnxSlice(Node *node, OnnxValue *value, const MlirValue *offsets, const MlirValue *sizes,
                     const int64_t *strides) {
  bool isBackward = false, isEmpty = false;
  for (int d = 0; d < value->rank; ++d) {
    isBackward |= strides[d] < 0;
    isEmpty |= onnxStatic(sizes[d]) == 0 || onnxStatic(value->sizes[d]) == 0;
  }
  Cut of = {value, offsets, strides};
  if (isEmpty)
    return onnxFill(node, value->type, value->rank, sizes, 0);
  if (isBackward || onnxElements(node, value))
    return onnxGenerate(node, value->type, value->rank, sizes, cut, &of);
  Places at = placesOf(value->rank, offsets), length = placesOf(value->rank, sizes);
  MlirContext context = node->b->context;
  OnnxValue *result = onnxValue(node, value->type, value->rank, sizes);
  result->tensor = tensorExtractSliceOpBuild(
      node->b, onnxTensorType(node, result), onnxTensor(node, value), at.count, at.open, length.count, length.open, 0,
      NULL, mlirDenseI64ArrayGet(context, value->rank, at.numbers),
      mlirDenseI64ArrayGet(context, value->rank, length.numbers), mlirDenseI64ArrayGet(context, value->rank, strides));
  return result;
}

static MlirValue insertSlice(Node *node, OnnxValue *part, MlirValue whole, int axis, MlirValue offset) {
  MlirValue offsets[OnnxMaxRank];
  int64_t ones[OnnxMaxRank];
  for (int d = 0; d < part->rank; ++d) {
    offsets[d] = d == axis ? offset : tileBuildIndex(node->b, 0);
    ones[d] = 1;
  }
  Places at = placesOf(part->rank, offsets), length = placesOf(part->rank, part->sizes);
  MlirContext context = node->b->context;
  return tensorInsertSliceOpBuild(node->b, onnxTensor(node, part), whole, at.count, at.open, length.count, length.open,
                                  0, NULL, mlirDenseI64ArrayGet(context, part->rank, at.numbers),
                                  mlirDenseI64ArrayGet(context, part->rank, length.numbers),
                                  mlirDenseI64ArrayGet(context, part->rank, ones));
}

typedef struct Joined {
  int count, axis;
  OnnxValue *const *values;
} Joined;

static MlirValue joinedAt(Body *body) {
  const Joined *of = body->data;
  MlirValue index[OnnxMaxRank];
  memcpy(index, body->index, (size_t)of->values[0]->rank * sizeof *index);
  int64_t at = onnxStatic(index[of->axis]);
  for (int i = 0; i < of->count; ++i) {
    int64_t size = onnxStatic(of->values[i]->sizes[of->axis]);
    if (at >= 0 && at < size) {
      index[of->axis] = tileBuildIndex(body->b, at);
      return onnxAt(body, of->values[i], index);
    }
    at -= size;
  }
  body->failed = true;
  return index[0];
}

OnnxValue *onnxConcat(Node *node, int count, OnnxValue *const *values, int axis) {
  MlirValue sizes[OnnxMaxRank];
  int rank = values[0]->rank;
  bool isKnown = true;
  memcpy(sizes, values[0]->sizes, (size_t)rank * sizeof *sizes);
  for (int i = 0; i < count; ++i)
    isKnown &= onnxElements(node, values[i]) != NULL;
  for (int i = 1; i < count; ++i) {
    if (values[i]->rank != rank || values[i]->type != values[0]->type) {
      onnxError(node, "inputs 1 and %d have other ranks or types", i + 1);
      return NULL;
    }
    for (int d = 0; d < rank; ++d)
      if (d == axis)
        sizes[d] = tileBuildAdd(node->b, sizes[d], values[i]->sizes[d]);
      else if (!onnxCheckSame(node, sizes[d], values[i]->sizes[d], "sizes of inputs"))
        return NULL;
      else if (onnxStatic(sizes[d]) < 0)
        sizes[d] = values[i]->sizes[d];
  }
  Joined of = {count, axis, values};
  int64_t total = onnxCount(onnxValue(node, values[0]->type, rank, sizes));
  if (isKnown && total >= 0 && total <= OnnxMaxElements) {
    OnnxValue *known = onnxGenerate(node, values[0]->type, rank, sizes, joinedAt, &of);
    if (known)
      return known;
  }
  MlirValue whole = onnxEmpty(node, values[0]->type, rank, sizes), offset = tileBuildIndex(node->b, 0);
  for (int i = 0; i < count; ++i) {
    if (onnxStatic(values[i]->sizes[axis]) != 0)
      whole = insertSlice(node, values[i], whole, axis, offset);
    offset = tileBuildAdd(node->b, offset, values[i]->sizes[axis]);
  }
  return onnxOfTensor(node, values[0]->type, whole, sizes);
}

OnnxValue *onnxPad(Node *node, OnnxValue *value, const MlirValue *low, const MlirValue *high, MlirValue number) {
  MlirValue sizes[OnnxMaxRank];
  bool isNone = true;
  for (int d = 0; d < value->rank; ++d) {
    sizes[d] = tileBuildAdd(node->b, value->sizes[d], tileBuildAdd(node->b, low[d], high[d]));
    isNone &= onnxStatic(low[d]) == 0 && onnxStatic(high[d]) == 0;
  }
  if (isNone)
    return value;
  Places before = placesOf(value->rank, low), after = placesOf(value->rank, high);
  OnnxValue *result = onnxValue(node, value->type, value->rank, sizes);
  MlirType indices[OnnxMaxRank];
  for (int d = 0; d < value->rank; ++d)
    indices[d] = mlirIndexTypeGet(node->b->context);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(node->b, &region, value->rank, indices);
  tensorYieldOpBuild(&body, number);
  MlirContext context = node->b->context;
  result->tensor =
      tensorPadOpBuild(node->b, onnxTensorType(node, result), onnxTensor(node, value), before.count, before.open,
                       after.count, after.open, mlirDenseI64ArrayGet(context, value->rank, before.numbers),
                       mlirDenseI64ArrayGet(context, value->rank, after.numbers), region);
  return result;
}

//===--- types and repetition -------------------------------------------------===//

typedef struct Conversion {
  OnnxType from, to;
} Conversion;

static MlirValue convert(Body *body, const MlirValue *x) {
  const Conversion *by = body->data;
  return onnxConvert(body, x[0], by->from, by->to);
}

OnnxValue *onnxCast(Node *node, OnnxValue *value, OnnxType type) {
  if (value->type == type)
    return value;
  if (mlirTypeEqual(onnxElementType(node, value->type), onnxElementType(node, type)))
    return onnxRetype(node, value, type);
  return onnxMap(node, type, 1, &value, convert, &(Conversion){value->type, type});
}
