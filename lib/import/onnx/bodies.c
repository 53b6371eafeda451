// Computing values: one linalg.generic each, or, where everything is known, scalars at import. See node.h, compose.h.
#include "lib/import/onnx/state.h"

#include "lib/import/onnx/compose.h"
#include "lib/import/onnx/fold.h"
#include "lib/import/onnx/tensors.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include "mlir-c/AffineMap.h"

#include <string.h>

//===--- scalars --------------------------------------------------------------===//

static MlirValue folded(const Body *body, MlirValue value) {
  return body->isFolding ? onnxFold(body->b, value) : value;
}

MlirValue onnxNumber(Body *body, MlirValue like, double number) {
  MlirType type = mlirValueGetType(like);
  if (mlirTypeIsAFloat(type))
    return tileBuildFloat(body->b, type, number);
  return tileBuildInteger(body->b, type, (int64_t)number);
}

MlirValue onnxOp(Body *body, TileUpstream kind, const MlirValue *operands) {
  return folded(body, onnxIsUnary(kind) ? tileBuildUnary(body->b, kind, operands[0])
                                        : tileBuildBinary(body->b, kind, operands[0], operands[1]));
}

MlirValue onnxCompareF(Body *body, int predicate, MlirValue a, MlirValue b) {
  return folded(body, arithCmpFOpBuild(body->b, a, b, predicate));
}

MlirValue onnxCompareI(Body *body, int predicate, MlirValue a, MlirValue b) {
  return folded(body, arithCmpIOpBuild(body->b, a, b, predicate));
}

MlirValue onnxSelect(Body *body, MlirValue condition, MlirValue a, MlirValue b) {
  return folded(body, arithSelectOpBuild(body->b, condition, a, b));
}

static MlirValue castTo(Body *body, TileUpstream kind, MlirValue x, MlirType type) {
  return folded(body, tileBuildCast(body->b, kind, x, type));
}

MlirValue onnxToIndex(Body *body, MlirValue x) {
  MlirType index = mlirIndexTypeGet(body->b->context);
  if (mlirTypeIsAIndex(mlirValueGetType(x)))
    return x;
  return castTo(body, ArithOp_IndexCast, x, index);
}

MlirValue onnxFromIndex(Body *body, MlirValue x, MlirType type) { return castTo(body, ArithOp_IndexCast, x, type); }

// Floats to integers round toward zero; beyond the type's range, where ONNX promises nothing, the value is the nearest
// of the range, and nan becomes 0. arith leaves all of these undefined.
static MlirValue floatToInteger(Body *body, MlirValue x, OnnxType from, OnnxType to, MlirType type) {
  unsigned bits = tileElementWidth(type);
  bool isUnsigned = onnxIsUnsigned(to);
  if (tileElementWidth(mlirValueGetType(x)) < 32)
    x = castTo(body, ArithOp_ExtF, x, mlirF32TypeGet(body->b->context));
  MlirType real = mlirValueGetType(x);
  double least = isUnsigned ? 0 : -(double)(1ull << (bits - 1));
  double beyond = isUnsigned ? 2.0 * (double)(1ull << (bits - 1)) : (double)(1ull << (bits - 1));
  MlirValue low = tileBuildFloat(body->b, real, least), high = tileBuildFloat(body->b, real, beyond);
  MlirValue below = onnxCompareF(body, ArithCmpF_Olt, x, low), above = onnxCompareF(body, ArithCmpF_Oge, x, high);
  MlirValue none = onnxCompareF(body, ArithCmpF_Uno, x, x), zero = tileBuildFloat(body->b, real, 0);
  MlirValue outside = ONNX_OP(ArithOp_OrI, none, ONNX_OP(ArithOp_OrI, below, above));
  MlirValue inside = onnxSelect(body, outside, zero, x);
  MlirValue converted = castTo(body, isUnsigned ? ArithOp_FPToUI : ArithOp_FPToSI, inside, type);
  int64_t smallest = isUnsigned ? 0 : (int64_t)(-1ull << (bits - 1));
  int64_t largest = isUnsigned ? -1 : (int64_t)((1ull << (bits - 1)) - 1);
  MlirValue capped = onnxSelect(body, above, tileBuildInteger(body->b, type, largest), converted);
  return onnxSelect(body, below, tileBuildInteger(body->b, type, smallest), capped);
}

static MlirValue convertWhole(Body *body, MlirValue x, OnnxType from, OnnxType to) {
  MlirType type = onnxElementType(body->node, to), was = mlirValueGetType(x);
  unsigned bits = tileElementWidth(type), had = tileElementWidth(was);
  if (to == Onnx_Bool && onnxIsFloat(from))
    return onnxCompareF(body, ArithCmpF_Une, x, onnxNumber(body, x, 0));
  if (to == Onnx_Bool)
    return from == Onnx_Bool ? x : onnxCompareI(body, ArithCmpI_Ne, x, onnxNumber(body, x, 0));
  if (onnxIsFloat(from) && onnxIsFloat(to)) {
    if (mlirTypeEqual(type, was))
      return x;
    if (had == bits) { // f16 and bf16, the two of 8 bits: through f32, which holds both
      x = castTo(body, ArithOp_ExtF, x, mlirF32TypeGet(body->b->context));
      return castTo(body, ArithOp_TruncF, x, type);
    }
    return castTo(body, had < bits ? ArithOp_ExtF : ArithOp_TruncF, x, type);
  }
  if (onnxIsFloat(from))
    return floatToInteger(body, x, from, to, type);
  bool isUnsigned = onnxIsUnsigned(from) || from == Onnx_Bool;
  if (onnxIsFloat(to))
    return castTo(body, isUnsigned ? ArithOp_UIToFP : ArithOp_SIToFP, x, type);
  if (bits == had)
    return x;
  return castTo(body, bits < had ? ArithOp_TruncI : isUnsigned ? ArithOp_ExtUI : ArithOp_ExtSI, x, type);
}

// Integers of 2 and 4 bits lie in a byte, whose upper bits repeat the sign.
static MlirValue wrapped(Body *body, MlirValue x, OnnxType type) {
  int bits = onnxTypeBits(type);
  if (onnxIsUnsigned(type))
    return ONNX_OP(ArithOp_AndI, x, onnxNumber(body, x, (1 << bits) - 1));
  MlirValue rest = onnxNumber(body, x, 8 - bits);
  return ONNX_OP(ArithOp_ShRSI, ONNX_OP(ArithOp_ShLI, x, rest), rest);
}

// Byte e is 2^(e - 127), 255 is nan. As f32, that is the exponent, but for 2^-127, which is subnormal.
static MlirValue numberOfPower(Body *body, MlirValue x) {
  MlirType bits = mlirIntegerTypeGet(body->b->context, 32);
  MlirValue power = castTo(body, ArithOp_ExtUI, x, bits);
  MlirValue isLeast = onnxCompareI(body, ArithCmpI_Eq, power, onnxNumber(body, power, 0));
  MlirValue isNan = onnxCompareI(body, ArithCmpI_Eq, power, onnxNumber(body, power, 255));
  MlirValue number = ONNX_OP(ArithOp_ShLI, power, onnxNumber(body, power, 23));
  number = onnxSelect(body, isLeast, onnxNumber(body, power, 1 << 22), number);
  number = onnxSelect(body, isNan, onnxNumber(body, power, 0x7fc00000), number);
  return castTo(body, ArithOp_Bitcast, number, mlirF32TypeGet(body->b->context));
}

MlirValue onnxToPower(Body *body, MlirValue x, OnnxType from, OnnxPowerRounding rounding, bool saturates) {
  MlirType type = mlirIntegerTypeGet(body->b->context, 32);
  MlirValue bits = castTo(body, ArithOp_Bitcast, convertWhole(body, x, from, Onnx_F32), type);
  MlirValue wide = ONNX_OP(ArithOp_ShRUI, bits, onnxNumber(body, bits, 23));
  MlirValue power = ONNX_OP(ArithOp_AndI, wide, onnxNumber(body, bits, 255)), zero = onnxNumber(body, bits, 0);
  MlirValue rest = ONNX_OP(ArithOp_AndI, bits, onnxNumber(body, bits, 0x7fffff));
  MlirValue half = onnxNumber(body, bits, 1 << 22), isUp = onnxCompareI(body, ArithCmpI_Ne, rest, zero);
  if (rounding == OnnxPower_Down)
    isUp = onnxCompareI(body, ArithCmpI_Ne, zero, zero);
  if (rounding == OnnxPower_Nearest) { // halves go up, but for the subnormal one
    MlirValue isSubnormal = onnxCompareI(body, ArithCmpI_Eq, power, zero);
    isUp = onnxSelect(body, isSubnormal, onnxCompareI(body, ArithCmpI_Ugt, rest, half),
                      onnxCompareI(body, ArithCmpI_Uge, rest, half));
  }
  MlirValue last = onnxNumber(body, bits, saturates ? 254 : 255), one = onnxNumber(body, bits, 1);
  MlirValue hasNext = onnxCompareI(body, ArithCmpI_Ult, power, last);
  MlirValue next = onnxSelect(body, ONNX_OP(ArithOp_AndI, isUp, hasNext), ONNX_OP(ArithOp_AddI, power, one), power);
  return castTo(body, ArithOp_TruncI, next, mlirIntegerTypeGet(body->b->context, 8));
}

MlirValue onnxConvert(Body *body, MlirValue x, OnnxType from, OnnxType to) {
  if (from == to && to == Onnx_F8E8M0)
    return x;
  if (from == Onnx_F8E8M0)
    return onnxConvert(body, numberOfPower(body, x), Onnx_F32, to);
  if (to == Onnx_F8E8M0)
    return onnxToPower(body, x, from, OnnxPower_Up, true);
  bool isNarrow = onnxIsInteger(to) && onnxTypeBits(to) < 8, isFloat = onnxIsFloat(from);
  // As onnx has it, floats beyond the range of such an integer keep the lowest bits.
  if (isNarrow && isFloat)
    x = convertWhole(body, x, from, Onnx_I32);
  if (onnxIsFloat(to) && onnxTypeIsCode(to) && !isFloat) {
    x = convertWhole(body, x, from, Onnx_F32);
    from = Onnx_F32;
  }
  MlirValue result = convertWhole(body, x, isNarrow && isFloat ? Onnx_I32 : from, to);
  return isNarrow && from != to && from != Onnx_Bool ? wrapped(body, result, to) : result;
}

// Integers lie in their bytes as they are; the other elements are the lowest bits.
static MlirValue elementOfCode(Body *body, const MlirValue *x) {
  OnnxType type = *(const OnnxType *)body->data;
  if (onnxIsInteger(type))
    return wrapped(body, x[0], type);
  if (type == Onnx_F8E8M0)
    return x[0];
  MlirType bits = mlirIntegerTypeGet(body->b->context, (unsigned)onnxTypeBits(type));
  MlirValue code = onnxTypeBits(type) < 8 ? castTo(body, ArithOp_TruncI, x[0], bits) : x[0];
  return castTo(body, ArithOp_Bitcast, code, onnxElementType(body->node, type));
}

static MlirValue codeOfElement(Body *body, const MlirValue *x) {
  OnnxType type = *(const OnnxType *)body->data;
  MlirType bits = mlirIntegerTypeGet(body->b->context, (unsigned)onnxTypeBits(type));
  MlirValue code = castTo(body, ArithOp_Bitcast, x[0], bits);
  return onnxTypeBits(type) < 8 ? castTo(body, ArithOp_ExtUI, code, onnxElementType(body->node, Onnx_U8)) : code;
}

OnnxValue *onnxOfCodes(Node *node, OnnxValue *bytes, OnnxType type) {
  return onnxMap(node, type, 1, &bytes, elementOfCode, &type);
}

OnnxValue *onnxCodesOf(Node *node, OnnxValue *value) {
  if (onnxIsInteger(value->type))
    return value;
  if (value->type == Onnx_F8E8M0)
    return onnxRetype(node, value, Onnx_U8);
  return onnxMap(node, Onnx_U8, 1, &value, codeOfElement, &value->type);
}

//===--- one generic ----------------------------------------------------------===//

static MlirAttribute mapsOf(MlirContext context, int count, const MlirAffineMap *maps) {
  MlirAttribute items[OnnxMaxInputs + 1];
  for (int i = 0; i < count; ++i)
    items[i] = mlirAffineMapAttrGet(maps[i]);
  return mlirArrayAttrGet(context, count, items);
}

static MlirAttribute iteratorsOf(TileBuilder *b, int dims, uint32_t reduced) {
  MlirAttribute items[2 * OnnxMaxRank];
  for (int i = 0; i < dims; ++i)
    items[i] = linalgIteratorTypeAttr(b, reduced >> i & 1 ? LinalgIteratorType_Reduction : LinalgIteratorType_Parallel);
  return mlirArrayAttrGet(b->context, dims, items);
}

MlirAffineMap onnxProjection(MlirContext context, int dims, int rank, const int *axes) {
  MlirAffineExpr items[OnnxMaxRank];
  for (int i = 0; i < rank; ++i)
    items[i] = mlirAffineDimExprGet(context, axes[i]);
  return mlirAffineMapGet(context, dims, 0, rank, items);
}

MlirValue onnxGeneric(Node *node, const OnnxGeneric *generic) {
  TileBuilder *b = node->b;
  MlirType types[OnnxMaxInputs + 1], result = mlirValueGetType(generic->init);
  for (int i = 0; i < generic->count; ++i)
    types[i] = mlirShapedTypeGetElementType(mlirValueGetType(generic->inputs[i]));
  types[generic->count] = mlirShapedTypeGetElementType(result);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, generic->count + 1, types);
  MlirValue x[OnnxMaxInputs + 1], index[2 * OnnxMaxRank];
  for (int i = 0; i <= generic->count; ++i)
    x[i] = mlirBlockGetArgument(inside.block, i);
  for (int i = 0; i < generic->dims && generic->usesIndex; ++i)
    index[i] = linalgIndexOpBuild(&inside, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), i));
  Body body = {.node = node, .b = &inside, .index = index, .data = generic->data};
  MlirValue value = generic->element ? generic->element(&body, x) : generic->place(&body);
  if (body.failed) {
    mlirRegionDestroy(region);
    return (MlirValue){NULL};
  }
  linalgYieldOpBuild(&inside, 1, &value);
  return tileOnlyResult(linalgGenericOpBuild(b, 1, &result, generic->count, generic->inputs, 1, &generic->init,
                                             mapsOf(b->context, generic->count + 1, generic->maps),
                                             iteratorsOf(b, generic->dims, generic->reduced), region));
}

//===--- elements -------------------------------------------------------------===//

// The size of an axis of what two shapes broadcast to. A size that is not known may be 1.
static MlirValue joinSizes(Node *node, MlirValue a, MlirValue b, bool *isOpen) {
  int64_t x = onnxStatic(a), y = onnxStatic(b);
  if (onnxIsSame(a, b) || y == 1)
    return a;
  if (x == 1)
    return b;
  if (x >= 0 && y >= 0) {
    onnxError(node, "sizes %lld and %lld do not broadcast", (long long)x, (long long)y);
    return (MlirValue){NULL};
  }
  *isOpen = true;
  TileBuilder *t = node->b;
  MlirValue one = tileBuildIndex(t, 1);
  MlirValue aIsOne = arithCmpIOpBuild(t, a, one, ArithCmpI_Eq), bIsOne = arithCmpIOpBuild(t, b, one, ArithCmpI_Eq);
  MlirValue same = arithCmpIOpBuild(t, a, b, ArithCmpI_Eq);
  MlirValue fits = arithOrIOpBuild(t, same, arithOrIOpBuild(t, aIsOne, bIsOne));
  tileBuildAssert(t, fits, "dynamic sizes do not broadcast");
  return x > 1 ? a : y > 1 ? b : arithSelectOpBuild(t, aIsOne, b, a);
}

bool onnxBroadcastSizes(Node *node, int count, OnnxValue *const *inputs, int *rank, MlirValue *sizes) {
  *rank = 0;
  for (int i = 0; i < count; ++i)
    *rank = inputs[i]->rank > *rank ? inputs[i]->rank : *rank;
  for (int d = 0; d < *rank; ++d) {
    sizes[d] = tileBuildIndex(node->b, 1);
    for (int i = 0; i < count; ++i) {
      int at = d - (*rank - inputs[i]->rank);
      bool open = false;
      if (at >= 0)
        sizes[d] = joinSizes(node, sizes[d], inputs[i]->sizes[at], &open);
      if (mlirValueIsNull(sizes[d]))
        return false;
    }
  }
  return true;
}

// Position of a result's element in an input, both in C order, sizes known.
static int64_t placeIn(const OnnxValue *input, int rank, const int64_t *sizes, int64_t at) {
  int64_t place = 0, step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    int own = d - (rank - input->rank);
    int64_t index = at % sizes[d];
    at /= sizes[d];
    if (own < 0)
      continue;
    int64_t size = onnxStatic(input->sizes[own]);
    place += size == 1 ? 0 : index * step;
    step *= size;
  }
  return place;
}

// Is an element known well enough: a size (few integers), or a constant?
static bool isWorthKeeping(OnnxType type, int64_t count, MlirValue element) {
  return (count <= 8 && !onnxIsFloat(type)) || arithConstantOpIsA(tileDefiningOp(element));
}

static int64_t knownShape(int rank, const MlirValue *sizes, int64_t *shape) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i) {
    shape[i] = onnxStatic(sizes[i]);
    if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count) || count > OnnxMaxElements)
      return -1;
  }
  return count;
}

static OnnxValue *foldMap(Node *node, OnnxType type, int count, OnnxValue *const *inputs, OnnxElement *element,
                          const void *data, int rank, const MlirValue *sizes) {
  int64_t shape[OnnxMaxRank], number = knownShape(rank, sizes, shape);
  if (number < 0)
    return NULL;
  for (int i = 0; i < count; ++i)
    if (!onnxElements(node, inputs[i]))
      return NULL;
  MlirValue results[OnnxMaxElements + 1], x[OnnxMaxInputs];
  Body body = {.node = node, .b = node->b, .data = data, .isFolding = true};
  for (int64_t at = 0; at < number && !body.failed; ++at) {
    for (int i = 0; i < count; ++i)
      x[i] = inputs[i]->elements[placeIn(inputs[i], rank, shape, at)];
    results[at] = onnxFold(node->b, element(&body, x));
    body.failed |= !isWorthKeeping(type, number, results[at]);
  }
  if (body.failed)
    return NULL;
  return onnxOfElements(node, type, rank, sizes, results, number);
}

// Inputs whose size might be 1 or the result's: only the running program knows, so the body reads them at a place.
typedef struct OpenMap {
  int count;
  OnnxValue *const *inputs;
  OnnxElement *element;
  const void *data;
  int rank;
} OpenMap;

static MlirValue openElement(Body *body) {
  const OpenMap *map = body->data;
  MlirValue x[OnnxMaxInputs], index[OnnxMaxRank];
  for (int i = 0; i < map->count; ++i) {
    OnnxValue *input = map->inputs[i];
    for (int d = 0; d < input->rank; ++d) {
      MlirValue at = body->index[d + map->rank - input->rank], one = tileBuildIndex(body->b, 1);
      MlirValue isOne = onnxCompareI(body, ArithCmpI_Eq, input->sizes[d], one);
      index[d] = onnxSelect(body, isOne, tileBuildIndex(body->b, 0), at);
    }
    x[i] = onnxAt(body, input, index);
  }
  Body inner = *body;
  inner.data = map->data;
  MlirValue result = map->element(&inner, x);
  body->failed |= inner.failed;
  return result;
}

static bool isOpenMap(int count, OnnxValue *const *inputs, int rank, const MlirValue *sizes) {
  for (int i = 0; i < count; ++i)
    for (int d = 0; d < inputs[i]->rank; ++d) {
      MlirValue own = inputs[i]->sizes[d], size = sizes[d + rank - inputs[i]->rank];
      if (onnxStatic(own) != 1 && !onnxIsSame(own, size))
        return true;
    }
  return false;
}

static MlirValue same(Body *body, const MlirValue *x) { return x[0]; }

static MlirRegion yieldAs(Node *node, OnnxValue *x, MlirType type, int rank, const MlirValue *sizes, bool repeats) {
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(node->b, &region, 0, NULL), before = *node->b;
  *node->b = inside;
  ++node->import->depth;
  OpenMap map = {1, &x, same, NULL, rank};
  OnnxValue *value = repeats ? onnxGenerate(node, x->type, rank, sizes, openElement, &map) : x;
  MlirValue tensor = onnxTensor(node, value);
  if (!mlirTypeEqual(mlirValueGetType(tensor), type))
    tensor = tensorCastOpBuild(node->b, type, tensor);
  tileBuildYield(node->b, 1, &tensor);
  --node->import->depth;
  *node->b = before;
  return region;
}

// The input in the sizes of the result, but for axes that are known to have one element. The program repeats it where
// a size proves to be 1; what follows reads the elements in their order, whole vectors at once.
static OnnxValue *settle(Node *node, OnnxValue *x, int rank, const MlirValue *sizes) {
  MlirValue wanted[OnnxMaxRank], repeats = {NULL};
  TileBuilder *b = node->b;
  for (int d = 0; d < x->rank; ++d) {
    MlirValue own = x->sizes[d], size = sizes[d + rank - x->rank];
    wanted[d] = onnxStatic(own) == 1 ? own : size;
    if (onnxIsSame(own, wanted[d]))
      continue;
    MlirValue differs = arithCmpIOpBuild(b, own, size, ArithCmpI_Ne);
    repeats = mlirValueIsNull(repeats) ? differs : arithOrIOpBuild(b, repeats, differs);
  }
  if (mlirValueIsNull(repeats))
    return x;
  onnxTensor(node, x); // outside of the branches
  MlirType type = onnxTensorType(node, onnxValue(node, x->type, x->rank, wanted));
  MlirRegion yes = yieldAs(node, x, type, x->rank, wanted, true), no = yieldAs(node, x, type, x->rank, wanted, false);
  MlirOperation choice = scfIfOpBuild(b, 1, &type, repeats, yes, no);
  return onnxOfTensor(node, x->type, tileOnlyResult(choice), wanted);
}

// The input without the axes that it repeats along, and its map.
static MlirValue projectInput(Node *node, OnnxValue *input, int rank, const MlirValue *sizes, MlirAffineMap *map) {
  int axes[OnnxMaxRank], count = 0;
  uint32_t dropped = 0;
  for (int d = 0; d < input->rank; ++d) {
    int of = d + rank - input->rank;
    if (onnxStatic(input->sizes[d]) == 1 && onnxStatic(sizes[of]) != 1)
      dropped |= 1u << d;
    else
      axes[count++] = of;
  }
  *map = onnxProjection(node->b->context, rank, count, axes);
  return onnxTensor(node, dropped ? onnxSqueeze(node, input, dropped) : input);
}

OnnxValue *onnxMapTo(Node *node, OnnxType type, int rank, const MlirValue *sizes, int count, OnnxValue *const *inputs,
                     OnnxElement *element, const void *data) {
  OnnxValue *known = foldMap(node, type, count, inputs, element, data, rank, sizes);
  if (known)
    return known;
  bool isOpen = isOpenMap(count, inputs, rank, sizes);
  if (isOpen && count == 1) {
    OpenMap map = {count, inputs, element, data, rank};
    return onnxGenerate(node, type, rank, sizes, openElement, &map);
  }
  OnnxGeneric generic = {.count = count, .dims = rank, .element = element, .data = data};
  for (int i = 0; i < count; ++i) {
    OnnxValue *input = isOpen ? settle(node, inputs[i], rank, sizes) : inputs[i];
    generic.inputs[i] = projectInput(node, input, rank, sizes, &generic.maps[i]);
  }
  generic.maps[count] = mlirAffineMapMultiDimIdentityGet(node->b->context, rank);
  generic.init = onnxEmpty(node, type, rank, sizes);
  MlirValue result = onnxGeneric(node, &generic);
  return mlirValueIsNull(result) ? NULL : onnxOfTensor(node, type, result, sizes);
}

OnnxValue *onnxMap(Node *node, OnnxType type, int count, OnnxValue *const *inputs, OnnxElement *element,
                   const void *data) {
  int rank;
  MlirValue sizes[OnnxMaxRank];
  return onnxBroadcastSizes(node, count, inputs, &rank, sizes)
             ? onnxMapTo(node, type, rank, sizes, count, inputs, element, data)
             : NULL;
}

OnnxValue *onnxBroadcastTo(Node *node, OnnxValue *value, int rank, const MlirValue *sizes) {
  bool isSame = rank == value->rank;
  for (int i = 0; i < rank && isSame; ++i)
    isSame = onnxIsSame(sizes[i], value->sizes[i]);
  return isSame ? value : onnxMapTo(node, value->type, rank, sizes, 1, &value, same, NULL);
}

//===--- places ---------------------------------------------------------------===//

static OnnxValue *foldGenerate(Node *node, OnnxType type, int rank, const MlirValue *sizes, OnnxPlace *place,
                               const void *data) {
  int64_t shape[OnnxMaxRank], number = knownShape(rank, sizes, shape);
  if (number < 0)
    return NULL;
  MlirValue results[OnnxMaxElements + 1], index[OnnxMaxRank];
  Body body = {.node = node, .b = node->b, .index = index, .data = data, .isFolding = true};
  for (int64_t at = 0; at < number && !body.failed; ++at) {
    int64_t rest = at;
    for (int d = rank; d-- > 0; rest /= shape[d])
      index[d] = tileBuildIndex(node->b, rest % shape[d]);
    MlirValue result = place(&body);
    if (!body.failed)
      results[at] = onnxFold(node->b, result);
    body.failed |= !body.failed && !isWorthKeeping(type, number, results[at]);
  }
  if (body.failed)
    return NULL;
  return onnxOfElements(node, type, rank, sizes, results, number);
}

MlirValue onnxAt(Body *body, OnnxValue *from, const MlirValue *index) {
  if (!body->isFolding)
    return tensorExtractOpBuild(body->b, onnxTensor(body->node, from), from->rank, index);
  int64_t place = 0;
  MlirValue *elements = body->failed ? NULL : onnxElements(body->node, from);
  for (int d = 0; d < from->rank && elements; ++d) {
    int64_t size = onnxStatic(from->sizes[d]), at = onnxStatic(onnxFold(body->b, index[d]));
    if (size < 0 || at < 0 || at >= size)
      elements = NULL;
    place = place * size + at;
  }
  body->failed |= !elements;
  return elements ? elements[place] : tileBuildConstant(body->b, onnxZero(body->node, from->type));
}

OnnxValue *onnxGenerate(Node *node, OnnxType type, int rank, const MlirValue *sizes, OnnxPlace *place,
                        const void *data) {
  OnnxValue *known = foldGenerate(node, type, rank, sizes, place, data);
  if (known)
    return known;
  OnnxGeneric generic = {.dims = rank, .usesIndex = true, .place = place, .data = data};
  generic.maps[0] = mlirAffineMapMultiDimIdentityGet(node->b->context, rank);
  generic.init = onnxEmpty(node, type, rank, sizes);
  MlirValue result = onnxGeneric(node, &generic);
  return mlirValueIsNull(result) ? NULL : onnxOfTensor(node, type, result, sizes);
}

//===--- reductions -----------------------------------------------------------===//

typedef struct Combine {
  OnnxElement *combine;
  const void *data;
} Combine;

static MlirValue accumulate(Body *body, const MlirValue *x) {
  const Combine *with = body->data;
  Body inner = *body;
  inner.data = with->data;
  return with->combine(&inner, (MlirValue[]){x[1], x[0]});
}

static OnnxValue *foldReduce(Node *node, OnnxType type, OnnxValue *value, uint32_t reduced, MlirValue initial,
                             const Combine *with, int rank, const MlirValue *sizes) {
  int64_t number = onnxCount(value);
  if (onnxIsFloat(type) || number < 0 || number > OnnxMaxElements || reduced != (1u << value->rank) - 1 ||
      value->type != type || !onnxElements(node, value))
    return NULL;
  Body body = {.node = node, .b = node->b, .data = with->data, .isFolding = true};
  for (int64_t i = 0; i < number; ++i)
    initial = with->combine(&body, (MlirValue[]){initial, value->elements[i]});
  return body.failed ? NULL : onnxOfElements(node, type, rank, sizes, &initial, 1);
}

OnnxValue *onnxReduceWith(Node *node, OnnxType type, OnnxValue *value, uint32_t reduced, double initial,
                          OnnxElement *combine, const void *data) {
  int axes[OnnxMaxRank], rank = 0;
  MlirValue sizes[OnnxMaxRank];
  for (int d = 0; d < value->rank; ++d)
    if (!(reduced >> d & 1)) {
      sizes[rank] = value->sizes[d];
      axes[rank++] = d;
    }
  MlirType element = onnxElementType(node, type);
  MlirValue start = mlirTypeIsAFloat(element) ? tileBuildFloat(node->b, element, initial)
                                              : tileBuildInteger(node->b, element, onnxInteger(initial));
  Combine with = {combine, data};
  OnnxValue *known = foldReduce(node, type, value, reduced, start, &with, rank, sizes);
  if (known)
    return known;
  OnnxGeneric generic = {.count = 1, .dims = value->rank, .element = accumulate, .data = &with, .reduced = reduced};
  generic.inputs[0] = onnxTensor(node, value);
  generic.maps[0] = mlirAffineMapMultiDimIdentityGet(node->b->context, value->rank);
  generic.maps[1] = onnxProjection(node->b->context, value->rank, rank, axes);
  generic.init = onnxFilled(node, type, rank, sizes, start);
  MlirValue result = onnxGeneric(node, &generic);
  return mlirValueIsNull(result) ? NULL : onnxOfTensor(node, type, result, sizes);
}

//===--- sums of products -----------------------------------------------------===//

typedef struct Product {
  OnnxType left, right, type;
} Product;

static MlirValue multiplyAdd(Body *body, const MlirValue *x) {
  const Product *product = body->data;
  MlirValue a = onnxConvert(body, x[0], product->left, product->type);
  MlirValue c = onnxConvert(body, x[1], product->right, product->type);
  bool isFloat = onnxIsFloat(product->type);
  MlirValue term = ONNX_OP(isFloat ? ArithOp_MulF : ArithOp_MulI, a, c);
  return ONNX_OP(isFloat ? ArithOp_AddF : ArithOp_AddI, x[2], term);
}

OnnxValue *onnxEinsum(Node *node, OnnxType type, OnnxValue *a, const char *aLabels, OnnxValue *b, const char *bLabels,
                      const char *labels) {
  char all[2 * OnnxMaxRank + 1] = "";
  MlirValue extents[2 * OnnxMaxRank], sizes[OnnxMaxRank];
  OnnxValue *const inputs[] = {a, b};
  const char *const texts[] = {labels, aLabels, bLabels};
  int dims = 0, axes[OnnxMaxRank], rank = (int)strlen(labels);
  for (int t = 0; t < 3; ++t)
    for (const char *c = texts[t]; *c; ++c)
      if (!strchr(all, *c))
        all[dims++] = *c;
  for (int d = 0; d < dims; ++d)
    extents[d] = (MlirValue){NULL};
  for (int i = 0; i < 2; ++i)
    for (int d = 0; d < inputs[i]->rank; ++d) {
      MlirValue *extent = &extents[strchr(all, texts[i + 1][d]) - all];
      if (mlirValueIsNull(*extent))
        *extent = inputs[i]->sizes[d];
      else if (!onnxCheckSame(node, *extent, inputs[i]->sizes[d], "sizes of a product"))
        return NULL;
      else if (onnxStatic(*extent) < 0)
        *extent = inputs[i]->sizes[d];
    }
  Product product = {a->type, b->type, type};
  OnnxGeneric generic = {.count = 2, .dims = dims, .element = multiplyAdd, .data = &product};
  for (int i = 0; i < 2; ++i) {
    for (int d = 0; d < inputs[i]->rank; ++d)
      axes[d] = (int)(strchr(all, texts[i + 1][d]) - all);
    generic.inputs[i] = onnxTensor(node, inputs[i]);
    generic.maps[i] = onnxProjection(node->b->context, dims, inputs[i]->rank, axes);
  }
  for (int d = 0; d < rank; ++d) {
    axes[d] = d;
    sizes[d] = extents[d];
  }
  for (int d = rank; d < dims; ++d)
    generic.reduced |= 1u << d;
  generic.maps[2] = onnxProjection(node->b->context, dims, rank, axes);
  MlirValue zero = tileBuildConstant(node->b, onnxZero(node, type));
  generic.init = onnxFilled(node, type, rank, sizes, zero);
  return onnxOfTensor(node, type, onnxGeneric(node, &generic), sizes);
}

//===--- one op -----------------------------------------------------------------===//

static MlirValue apply(Body *body, const MlirValue *x) { return onnxOp(body, *(const int *)body->data, x); }

OnnxValue *onnxUnary(Node *node, TileUpstream op, OnnxValue *x) {
  return x ? onnxMap(node, x->type, 1, &x, apply, &op) : NULL;
}

OnnxValue *onnxBinary(Node *node, TileUpstream op, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxMap(node, x->type, 2, (OnnxValue *[]){x, y}, apply, &op) : NULL;
}

OnnxValue *onnxWithNumber(Node *node, TileUpstream op, OnnxValue *x, double number) {
  return x ? onnxBinary(node, op, x, onnxScalarValue(node, x->type, number)) : NULL;
}

OnnxValue *onnxAdd(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_AddF : ArithOp_AddI, x, y) : NULL;
}

OnnxValue *onnxSub(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_SubF : ArithOp_SubI, x, y) : NULL;
}

OnnxValue *onnxMul(Node *node, OnnxValue *x, OnnxValue *y) {
  return x && y ? onnxBinary(node, onnxIsFloat(x->type) ? ArithOp_MulF : ArithOp_MulI, x, y) : NULL;
}

OnnxType onnxSumType(OnnxType type) { return onnxIsFloat(type) && onnxTypeBytes(type) < 4 ? Onnx_F32 : type; }
