// Products, and products of factors with a scale for each block. Where both factors have scales they are
// tile.mma_scaled. Otherwise each factor becomes bf16, or f16 where the other one is, as Triton does.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "dialects/tile/ops.h"
#include "upstream/arith.h"

//===--- products -----------------------------------------------------------------------===//

bool tritonProduct(Triton *t, MlirOperation op) {
  static const char *const words[] = {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"};
  MlirValue a = tritonFull(t, ttDotOpGetA(op)), b = tritonFull(t, ttDotOpGetB(op)), c = tritonFull(t, ttDotOpGetC(op));
  if (mlirValueIsNull(a) || mlirValueIsNull(b) || mlirValueIsNull(c))
    return false;
  int64_t precision = mlirIntegerAttrGetValueInt(ttDotOpGetInputPrecision(op));
  bool isWide = mlirTypeIsAF32(tritonShape(mlirValueGetType(a)).element);
  MlirAttribute word =
      isWide && precision != TtPrecision_Ieee ? tritonWord(t, words[precision]) : mlirAttributeGetNull();
  tritonSetFull(t, ttDotOpGetD(op), tileOnlyResult(tileMmaOpCreate(&t->b, a, b, c, word, mlirAttributeGetNull())));
  return true;
}

static MlirValue transposed(Triton *t, MlirValue matrix) {
  MlirExtShape shape = tritonShape(mlirValueGetType(matrix));
  int64_t sizes[] = {shape.sizes[1], shape.sizes[0]}, order[] = {1, 0};
  return tileTransposeOpBuild(&t->b, tritonTile(2, sizes, shape.element), matrix,
                              mlirDenseI64ArrayGet(t->b.context, 2, order));
}

//===--- scaled products ------------------------------------------------------------------===//

// A factor of tt.dot_scaled: MxK, or KxN where it is the right one.
typedef struct Factor {
  const char *name;
  bool isRight;
  MlirValue old, oldScale; // of tt; the scale may be null
  int64_t kind;            // TtScaled
  bool isPackedAlongK;
  MlirValue value, scale; // of tile; the scale lies as the factor does
  int64_t block;          // elements for each scale
} Factor;

static MlirType elementOf(MlirContext context, int64_t kind) {
  switch ((TtScaled)kind) {
  case TtScaled_E4M3:
    return mlirFloat8E4M3FNTypeGet(context);
  case TtScaled_E5M2:
    return mlirFloat8E5M2TypeGet(context);
  case TtScaled_E2M1:
    return mlirFloat4E2M1FNTypeGet(context);
  case TtScaled_Bf16:
    return mlirBF16TypeGet(context);
  case TtScaled_Fp16:
    return mlirF16TypeGet(context);
  case TtScaled_E2M3:
  case TtScaled_E3M2:
    break;
  }
  return (MlirType){NULL};
}

// Elements of half a byte lie in pairs along K.
static bool takeElements(Triton *t, MlirOperation op, Factor *factor) {
  MlirType wanted = elementOf(t->b.context, factor->kind);
  bool isHalf = factor->kind == TtScaled_E2M1;
  if (mlirValueIsNull(factor->value = tritonFull(t, factor->old)))
    return false;
  if (mlirTypeIsNull(wanted) || (isHalf && !factor->isPackedAlongK))
    return tileError(op, "has elements of 6 bits, or of 4 bits that are not packed along K, as its %s", factor->name);
  MlirExtShape shape = tritonShape(mlirValueGetType(factor->value));
  if (mlirTypeEqual(shape.element, wanted))
    return true;
  if (tileElementWidth(shape.element) != (isHalf ? 8 : tileElementWidth(wanted)))
    return tileError(op, "has %s as its %s, whose bits are no elements of its kind",
                     tileTypeText(mlirValueGetType(factor->value), (char[64]){0}, 64), factor->name);
  MlirValue value = factor->isRight ? transposed(t, factor->value) : factor->value;
  shape = tritonShape(mlirValueGetType(value));
  int64_t sizes[] = {shape.sizes[0], shape.sizes[1] * (isHalf ? 2 : 1)};
  value = tileBitcastOpBuild(&t->b, tritonTile(2, sizes, wanted), value);
  factor->value = factor->isRight ? transposed(t, value) : value;
  return true;
}

// tt has a row of scales for each row of the left factor, and for each column of the right one.
static bool takeScale(Triton *t, MlirOperation op, Factor *factor) {
  if (mlirValueIsNull(factor->oldScale))
    return true;
  MlirValue scale = tritonFull(t, factor->oldScale);
  if (mlirValueIsNull(scale))
    return false;
  MlirExtShape shape = tritonShape(mlirValueGetType(scale)), of = tritonShape(mlirValueGetType(factor->value));
  int64_t k = of.sizes[factor->isRight ? 0 : 1], rows = of.sizes[factor->isRight ? 1 : 0];
  factor->block = shape.rank == 2 && shape.sizes[1] ? k / shape.sizes[1] : 0;
  bool fits = shape.rank == 2 && shape.sizes[0] == rows && shape.sizes[1] * factor->block == k;
  if (!fits || (factor->block != 16 && factor->block != 32) || tileElementWidth(shape.element) != 8)
    return tileError(op, "has %s as scales of its %s: expected a byte for each 16 or 32 elements along K",
                     tileTypeText(mlirValueGetType(scale), (char[64]){0}, 64), factor->name);
  if (mlirTypeIsAInteger(shape.element))
    scale = tileBuildCast(&t->b, ArithOp_Bitcast, scale,
                          tritonTile(2, shape.sizes, mlirFloat8E8M0FNUTypeGet(t->b.context)));
  factor->scale = factor->isRight ? transposed(t, scale) : scale;
  return true;
}

// Each scale `block` times along K.
static MlirValue repeated(Triton *t, const Factor *factor, MlirValue scale) {
  MlirExtShape shape = tritonShape(mlirValueGetType(scale)), of = tritonShape(mlirValueGetType(factor->value));
  int64_t axis = factor->isRight ? 1 : 2;
  int64_t sizes[] = {shape.sizes[0], factor->isRight ? factor->block : shape.sizes[1],
                     factor->isRight ? shape.sizes[1] : factor->block};
  MlirValue wide =
      tileOnlyResult(tileBroadcastOpCreate(&t->b, tritonTile(3, sizes, shape.element), scale, tritonAxes(t, axis)));
  return tileReshapeOpBuild(&t->b, tritonTile(2, of.sizes, shape.element), wide);
}

static MlirValue toFloat(Triton *t, MlirValue value, MlirType element) {
  MlirType old = tritonShape(mlirValueGetType(value)).element;
  if (mlirTypeEqual(old, element))
    return value;
  MlirExtShape shape = tritonShape(mlirValueGetType(value));
  bool isUp = tileElementWidth(element) > tileElementWidth(old);
  return tileBuildCast(&t->b, isUp ? ArithOp_ExtF : ArithOp_TruncF, value,
                       tritonTile(shape.rank, shape.sizes, element));
}

// The factor's numbers, rounded once to `element`.
static MlirValue numbersOf(Triton *t, const Factor *factor, MlirType element) {
  if (mlirValueIsNull(factor->scale))
    return toFloat(t, factor->value, element);
  MlirType f32 = mlirF32TypeGet(t->b.context);
  MlirValue scales = repeated(t, factor, toFloat(t, factor->scale, f32));
  return toFloat(t, tileBuildBinary(&t->b, ArithOp_MulF, toFloat(t, factor->value, f32), scales), element);
}

static bool isWide(const Factor *factor) { return factor->kind == TtScaled_Bf16 || factor->kind == TtScaled_Fp16; }

bool tritonScaledProduct(Triton *t, MlirOperation op) {
  Factor a = {.name = "left factor",
              .old = ttDotScaledOpGetA(op),
              .oldScale = ttDotScaledOpGetAScale(op),
              .kind = mlirIntegerAttrGetValueInt(ttDotScaledOpGetAElemType(op)),
              .isPackedAlongK = mlirBoolAttrGetValue(ttDotScaledOpGetLhsKPack(op))};
  Factor b = {.name = "right factor",
              .isRight = true,
              .old = ttDotScaledOpGetB(op),
              .oldScale = ttDotScaledOpGetBScale(op),
              .kind = mlirIntegerAttrGetValueInt(ttDotScaledOpGetBElemType(op)),
              .isPackedAlongK = mlirBoolAttrGetValue(ttDotScaledOpGetRhsKPack(op))};
  MlirValue c = tritonFull(t, ttDotScaledOpGetC(op)), result;
  if (mlirValueIsNull(c) || !takeElements(t, op, &a) || !takeElements(t, op, &b) || !takeScale(t, op, &a) ||
      !takeScale(t, op, &b))
    return false;
  bool hasBoth = !mlirValueIsNull(a.scale) && !mlirValueIsNull(b.scale) && a.block == b.block;
  if (hasBoth && !isWide(&a) && !isWide(&b)) {
    result = tileMmaScaledOpBuild(&t->b, a.value, a.scale, b.value, b.scale, c, tileBuildEnum(&t->b, 64, a.block));
  } else {
    bool isHalf = a.kind == TtScaled_Fp16 || b.kind == TtScaled_Fp16;
    if (isHalf && (a.kind == TtScaled_Bf16 || b.kind == TtScaled_Bf16))
      return tileError(op, "multiplies bf16 and f16, expected one of the two");
    MlirType element = elementOf(t->b.context, isHalf ? TtScaled_Fp16 : TtScaled_Bf16);
    MlirValue left = numbersOf(t, &a, element), right = numbersOf(t, &b, element);
    result = tileOnlyResult(tileMmaOpCreate(&t->b, left, right, c, mlirAttributeGetNull(), mlirAttributeGetNull()));
  }
  tritonSetFull(t, ttDotScaledOpGetD(op), result);
  return true;
}
