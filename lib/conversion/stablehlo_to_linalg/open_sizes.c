// Sizes that only the running program knows, as jax.export leaves them: get_dimension_size, the dynamic_ forms of
// broadcast_in_dim, reshape and iota, and the assertions on shapes. Expects: sizes that follow from those of arguments.
// Leaves: sizes as values of type index, which the tensors made of them share, and assertions where two must be equal.
#include "lib/conversion/stablehlo_to_linalg/hlo.h"

#include "dialects/foreign/stablehlo/ops.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>

//===--- sizes --------------------------------------------------------------------------===//

// The sizes that a tensor was made with.
typedef struct HloOpen {
  struct HloOpen *next;
  MlirValue sizes[HloMaxRank];
} HloOpen;

void hloNoteSizes(Hlo *h, MlirValue tensor, intptr_t rank, const MlirValue *sizes) {
  HloOpen *open = malloc(sizeof *open);
  if (!open || mlirShapedTypeHasStaticShape(mlirValueGetType(tensor))) {
    free(open); // without a note the sizes are asked of the tensor
    return;
  }
  memcpy(open->sizes, sizes, sizeof *sizes * (size_t)rank);
  open->next = h->opens;
  h->opens = open;
  tileTableSet(&h->open, tensor.ptr, open);
}

void hloForgetSizes(Hlo *h) {
  for (HloOpen *open = h->opens, *next; open; open = next) {
    next = open->next;
    free(open);
  }
  tileTableFree(&h->open);
}

MlirValue hloTensorSize(Hlo *h, MlirValue tensor, intptr_t d) {
  int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(tensor), d);
  const HloOpen *open = tileTableFind(&h->open, tensor.ptr);
  if (!mlirShapedTypeIsDynamicSize(size))
    return tileBuildIndex(&h->b, size);
  return open ? open->sizes[d] : tileBuildDim(&h->b, tensor, d);
}

// An integer as an index; of an index that became an integer, the index.
static MlirValue asIndex(Hlo *h, MlirValue integer) {
  MlirOperation op = tileDefiningOp(integer);
  if (arithIndexCastOpIsA(op) && mlirTypeIsAIndex(mlirValueGetType(tileOnlyOperand(op))))
    return tileOnlyOperand(op);
  return hloIndexOf(h, integer, false);
}

// Number i of a vector of sizes, which programs put together of scalars and constants.
static MlirValue numberAt(Hlo *h, MlirValue list, int64_t i) {
  MlirOperation op = tileDefiningOp(list);
  if (stablehloConcatenateOpIsA(op))
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); ++k) {
      MlirValue part = mlirOperationGetOperand(op, k);
      int64_t count = hloShape(part).sizes[0];
      if (i < count)
        return numberAt(h, part, i);
      i -= count;
    }
  if (stablehloReshapeOpIsA(op) && hloShape(tileOnlyOperand(op)).rank == 0)
    return asIndex(h, hloOne(h, tileOnlyOperand(op)));
  MlirValue tensor = hloGetTensor(h, list).parts[0], at = tileBuildIndex(&h->b, i);
  return asIndex(h, tensorExtractOpBuild(&h->b, tensor, 1, &at));
}

MlirValue hloSizeOf(Hlo *h, MlirValue old, intptr_t d) {
  MlirOperation op = tileDefiningOp(old);
  int64_t size = hloShape(old).sizes[d];
  if (!mlirShapedTypeIsDynamicSize(size))
    return tileBuildIndex(&h->b, size);
  if (stablehloDynamicBroadcastInDimOpIsA(op))
    return numberAt(h, stablehloDynamicBroadcastInDimOpGetOutputDimensions(op), d);
  if (stablehloBroadcastInDimOpIsA(op)) {
    StablehloList list = stablehloList(stablehloBroadcastInDimOpGetBroadcastDimensions(op));
    for (intptr_t i = 0; i < list.count; ++i)
      if (list.items[i] == d)
        return hloSizeOf(h, stablehloBroadcastInDimOpGetOperand(op), i);
  }
  return hloTensorSize(h, hloGetTensor(h, old).parts[0], d);
}

void hloSizesOf(Hlo *h, MlirValue old, MlirValue *sizes) {
  for (intptr_t d = 0; d < hloShape(old).rank; ++d)
    sizes[d] = hloSizeOf(h, old, d);
}

// Certainly the same number: one value, one constant, or one dimension of one tensor.
static bool isSame(MlirValue a, MlirValue b) {
  MlirOperation one = tileDefiningOp(a), other = tileDefiningOp(b);
  int64_t x, y;
  if (mlirValueEqual(a, b) || (tileConstantIndex(a, &x) && tileConstantIndex(b, &y) && x == y))
    return true;
  return tensorDimOpIsA(one) && tensorDimOpIsA(other) &&
         mlirValueEqual(tensorDimOpGetSource(one), tensorDimOpGetSource(other)) &&
         isSame(tensorDimOpGetIndex(one), tensorDimOpGetIndex(other));
}

void hloAssertSame(Hlo *h, MlirValue a, MlirValue b) {
  if (isSame(a, b))
    return;
  tileBuildAssert(&h->b, arithCmpIOpBuild(&h->b, a, b, ArithCmpI_Eq), "two sizes that must be equal differ");
}

//===--- tensors of such sizes ------------------------------------------------------------===//

MlirValue hloEmptyOf(Hlo *h, MlirType element, intptr_t rank, const int64_t *sizes, const MlirValue *open) {
  MlirValue dynamic[HloMaxRank];
  intptr_t count = 0;
  for (intptr_t i = 0; i < rank; ++i)
    if (mlirShapedTypeIsDynamicSize(sizes[i]))
      dynamic[count++] = open[i];
  MlirValue empty = tensorEmptyOpBuild(&h->b, hloTensor(element, rank, sizes), count, dynamic);
  if (count)
    hloNoteSizes(h, empty, rank, open);
  return empty;
}

static bool isStatic(intptr_t rank, const int64_t *sizes) {
  bool is = true;
  for (intptr_t i = 0; i < rank; ++i)
    is &= !mlirShapedTypeIsDynamicSize(sizes[i]);
  return is;
}

MlirValue hloFilledOf(Hlo *h, MlirValue scalar, intptr_t rank, const int64_t *sizes, const MlirValue *open) {
  if (isStatic(rank, sizes))
    return hloFilled(h, scalar, rank, sizes);
  MlirType element = mlirValueGetType(scalar), elements[] = {element, element};
  MlirValue empty = hloEmptyOf(h, element, rank, sizes, open);
  MlirType result = mlirValueGetType(empty);
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(&h->b, &region, 2, elements);
  MlirValue from = mlirBlockGetArgument(body.block, 0);
  linalgYieldOpBuild(&body, 1, &from);
  MlirValue filled = tileOnlyResult(linalgFillOpBuild(&h->b, 1, &result, 1, &scalar, 1, &empty, region));
  hloNoteSizes(h, filled, rank, open);
  return filled;
}

//===--- ops --------------------------------------------------------------------------------===//

static bool dimensionSize(Hlo *h, MlirOperation op) {
  MlirValue size = hloSizeOf(h, tileOnlyOperand(op), stablehloGetDimensionSizeOpGetDimensionValue(op));
  MlirType type = hloElement(hloShape(tileOnlyResult(op)).element);
  hloSetOne(h, tileOnlyResult(op), tileBuildCast(&h->b, ArithOp_IndexCast, size, type));
  return true;
}

// The sizes of a result that a vector gives; those of the result's type must be the vector's.
static bool readSizes(Hlo *h, MlirOperation op, MlirValue list, MlirValue *sizes) {
  MlirExtShape shape = hloShape(tileOnlyResult(op)), of = hloShape(list);
  if (of.rank != 1 || of.sizes[0] != shape.rank)
    return tileError(op, "%ld sizes of its shape are not known to be as many as its dimensions", (long)shape.rank);
  for (intptr_t d = 0; d < shape.rank; ++d) {
    sizes[d] = numberAt(h, list, d);
    if (!mlirShapedTypeIsDynamicSize(shape.sizes[d]))
      hloAssertSame(h, sizes[d], tileBuildIndex(&h->b, shape.sizes[d]));
  }
  return true;
}

// Built where it is used. A dimension of the operand whose size is not 1 in its type is not repeated.
static bool dynamicBroadcast(Hlo *h, MlirOperation op) {
  MlirValue operand = stablehloDynamicBroadcastInDimOpGetOperand(op), sizes[HloMaxRank];
  StablehloList list = stablehloList(stablehloDynamicBroadcastInDimOpGetBroadcastDimensions(op));
  MlirExtShape from = hloShape(operand);
  if (!readSizes(h, op, stablehloDynamicBroadcastInDimOpGetOutputDimensions(op), sizes))
    return false;
  for (intptr_t i = 0; i < from.rank; ++i)
    if (from.sizes[i] != 1)
      hloAssertSame(h, hloSizeOf(h, operand, i), sizes[list.items[i]]);
  return true;
}

static MlirValue productOf(Hlo *h, intptr_t count, const MlirValue *sizes) {
  MlirValue product = tileBuildIndex(&h->b, 1);
  for (intptr_t i = 0; i < count; ++i)
    product = tileBuildMul(&h->b, product, sizes[i]);
  return product;
}

// [[0], …, [same - 1], [same, …, rank - 1]]
static MlirAttribute restTogether(Hlo *h, intptr_t same, intptr_t rank) {
  MlirAttribute groups[HloMaxRank], members[HloMaxRank];
  MlirType i64 = mlirIntegerTypeGet(h->b.context, 64);
  for (intptr_t i = 0; i < rank; ++i)
    members[i] = mlirIntegerAttrGet(i64, i);
  for (intptr_t i = 0; i < same; ++i)
    groups[i] = mlirArrayAttrGet(h->b.context, 1, &members[i]);
  groups[same] = mlirArrayAttrGet(h->b.context, rank - same, members + same);
  return mlirArrayAttrGet(h->b.context, same + 1, groups);
}

// Dimensions at the front that stay are kept; the others become one, and that one becomes the result's.
static MlirValue reshaped(Hlo *h, MlirValue tensor, const MlirExtShape *to, const MlirValue *sizes) {
  MlirExtShape from = {0};
  MlirValue had[HloMaxRank], dynamic[HloMaxRank];
  intptr_t same = 0, count = 0;
  mlirExtTypeGetShape(mlirValueGetType(tensor), &from);
  for (intptr_t d = 0; d < from.rank; ++d)
    had[d] = hloTensorSize(h, tensor, d);
  while (same + 1 < from.rank && same + 1 < to->rank && isSame(had[same], sizes[same]) &&
         from.sizes[same] == to->sizes[same])
    ++same;
  hloAssertSame(h, productOf(h, from.rank - same, had + same), productOf(h, to->rank - same, sizes + same));
  int64_t flat[HloMaxRank], one = 1;
  memcpy(flat, from.sizes, sizeof flat[0] * (size_t)same);
  for (intptr_t d = same; d < from.rank; ++d)
    one = one < 0 || mlirShapedTypeIsDynamicSize(from.sizes[d]) ? -1 : one * from.sizes[d];
  flat[same] = one < 0 ? mlirShapedTypeGetDynamicSize() : one;
  if (from.rank > same + 1)
    tensor = tensorCollapseShapeOpBuild(&h->b, hloTensor(from.element, same + 1, flat), tensor,
                                        restTogether(h, same, from.rank));
  // One that is known makes none that is not, and the other way round: the cast says which of the two it is.
  int64_t known = 1;
  for (intptr_t d = same; d < to->rank; ++d)
    known = known < 0 || mlirShapedTypeIsDynamicSize(to->sizes[d]) ? -1 : known * to->sizes[d];
  if ((known < 0) != (one < 0)) {
    flat[same] = known < 0 ? mlirShapedTypeGetDynamicSize() : known;
    tensor = tensorCastOpBuild(&h->b, hloTensor(from.element, same + 1, flat), tensor);
  }
  if (to->rank == same + 1)
    return tensor;
  for (intptr_t d = 0; d < to->rank; ++d)
    if (mlirShapedTypeIsDynamicSize(to->sizes[d]))
      dynamic[count++] = sizes[d];
  return tensorExpandShapeOpBuild(&h->b, hloTensor(from.element, to->rank, to->sizes), tensor, count, dynamic,
                                  restTogether(h, same, to->rank),
                                  mlirDenseI64ArrayGet(h->b.context, to->rank, to->sizes));
}

static bool dynamicReshape(Hlo *h, MlirOperation op) {
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  MlirValue old = stablehloDynamicReshapeOpGetOperand(op), sizes[HloMaxRank];
  HloValue value = hloGetTensor(h, old);
  if (!value.count || !readSizes(h, op, stablehloDynamicReshapeOpGetOutputShape(op), sizes))
    return false;
  if (shape.rank == 0 || hloShape(old).rank == 0)
    return tileError(op, "cannot be converted to linalg from or to rank 0");
  for (int part = 0; part < value.count; ++part) {
    value.parts[part] = reshaped(h, value.parts[part], &shape, sizes);
    hloNoteSizes(h, value.parts[part], shape.rank, sizes);
  }
  hloSet(h, tileOnlyResult(op), value);
  return true;
}

static bool dynamicIota(Hlo *h, MlirOperation op) {
  MlirExtShape shape = hloShape(tileOnlyResult(op));
  MlirValue sizes[HloMaxRank];
  if (hloIsComplex(shape.element))
    return tileError(op, "cannot be converted to linalg for complex elements");
  if (!readSizes(h, op, stablehloDynamicIotaOpGetOutputShape(op), sizes))
    return false;
  MlirValue empty = hloEmptyOf(h, hloElement(shape.element), shape.rank, shape.sizes, sizes);
  MlirValue counted = hloCounted(h, empty, shape.rank, stablehloDynamicIotaOpGetIotaDimensionValue(op));
  hloNoteSizes(h, counted, shape.rank, sizes);
  hloSetOne(h, tileOnlyResult(op), counted);
  return true;
}

// What jax.export assumes of the arguments' sizes.
static bool shapeAssertion(Hlo *h, MlirOperation op) {
  tileBuildAssert(&h->b, hloOne(h, stablehloCustomCallOpGetInputs(op, 0)),
                  "a size does not fit the shapes that the program was exported for");
  return true;
}

static bool isShapeAssertion(MlirOperation op) {
  if (!stablehloCustomCallOpIsA(op) || stablehloCustomCallOpGetNumInputs(op) < 1 ||
      stablehloCustomCallOpGetNumResults(op))
    return false;
  MlirExtShape shape = hloShape(stablehloCustomCallOpGetInputs(op, 0));
  return tileStringEquals(mlirStringAttrGetValue(stablehloCustomCallOpGetCallTargetName(op)), "shape_assertion") &&
         shape.rank == 0 && mlirTypeIsAInteger(shape.element) && mlirIntegerTypeGetWidth(shape.element) == 1;
}

bool hloOpenSizes(Hlo *h, MlirOperation op, bool *isKnown) {
  *isKnown = true;
  if (isShapeAssertion(op))
    return shapeAssertion(h, op);
  switch (stablehloOpKind(op)) {
  case StablehloOp_GetDimensionSize:
    return dimensionSize(h, op);
  case StablehloOp_DynamicBroadcastInDim:
    return dynamicBroadcast(h, op);
  case StablehloOp_DynamicReshape:
    return dynamicReshape(h, op);
  case StablehloOp_DynamicIota:
    return dynamicIota(h, op);
  default:
    *isKnown = false;
    return true;
  }
}
