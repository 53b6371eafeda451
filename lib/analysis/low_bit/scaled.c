// Recognizes block-scaled products. See scaled.h.
#include "lib/analysis/low_bit/scaled.h"

#include "lib/analysis/low_bit/converted.h"
#include "lib/ir/op_query.h"
#include "upstream/arith.h"

enum { ByteBits = 8, ShortBits = 6, LeastColumns = 16 };

//===--- one factor ---------------------------------------------------------------------------===//

// A value of bf16 or f32, before it was widened or rounded to one of them: both have all digits of these products.
static MlirValue unrounded(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  while (!mlirOperationIsNull(op) && (arithExtFOpIsA(op) || arithTruncFOpIsA(op))) {
    MlirType from = mlirValueGetType(tileOnlyOperand(op)), to = tileOnlyResultType(op);
    if (!(mlirTypeIsAF32(from) || mlirTypeIsABF16(from)) || !(mlirTypeIsAF32(to) || mlirTypeIsABF16(to)))
      return value;
    value = tileOnlyOperand(op);
    op = tileDefiningOp(value);
  }
  return value;
}

// The narrow float that is widened to `value`; null: it is another number.
static MlirValue narrowFloat(MlirValue value) {
  MlirOperation op = tileDefiningOp(unrounded(value));
  MlirType type =
      mlirOperationIsNull(op) || !arithExtFOpIsA(op) ? (MlirType){NULL} : mlirValueGetType(tileOnlyOperand(op));
  bool isNarrow = !mlirTypeIsNull(type) && tileElementWidth(type) <= ByteBits;
  return isNarrow ? tileOnlyOperand(op) : (MlirValue){NULL};
}

static bool isPower(MlirValue scale) { return mlirTypeIsAFloat8E8M0FNU(mlirValueGetType(scale)); }
static bool isScale(MlirValue value) { return isPower(value) || mlirTypeIsAFloat8E4M3FN(mlirValueGetType(value)); }

// The types that tile.mma_scaled multiplies.
static bool isElement(MlirValue code) {
  MlirType type = mlirValueGetType(code);
  return mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type) || mlirTypeIsAFloat6E2M3FN(type) ||
         mlirTypeIsAFloat6E3M2FN(type) || mlirTypeIsAFloat4E2M1FN(type);
}

// Bits of arguments: 0 where all of them are, as padding is.
static bool keepsZero(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (tileStructuredInputOf(s, value) >= 0)
    return true;
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return false;
  if (arithShRUIOpIsA(op) || arithShLIOpIsA(op) || arithAndIOpIsA(op))
    return keepsZero(s, tileBinaryLhs(op));
  if (arithOrIOpIsA(op))
    return keepsZero(s, tileBinaryLhs(op)) && keepsZero(s, tileBinaryRhs(op));
  if (arithSelectOpIsA(op)) // one of the elements of some bytes
    return keepsZero(s, arithSelectOpGetTrueValue(op)) && keepsZero(s, arithSelectOpGetFalseValue(op));
  bool isMove = arithTruncIOpIsA(op) || arithExtUIOpIsA(op) || arithBitcastOpIsA(op);
  return isMove && keepsZero(s, tileOnlyOperand(op));
}

static bool readFactor(const TileStructured *s, MlirValue value, TileScaledFactor *factor) {
  MlirOperation op = tileDefiningOp(unrounded(value));
  if (mlirOperationIsNull(op) || !arithMulFOpIsA(op))
    return false;
  MlirValue a = narrowFloat(tileBinaryLhs(op)), b = narrowFloat(tileBinaryRhs(op)), none = {NULL};
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return false;
  bool isLeftScale = isScale(a);
  for (int d = 0; d < s->numDims; ++d) // of two that could be scales, the one of fewer elements is
    isLeftScale = isLeftScale && (tileConvertedIsSame(s, a, none, d) || !tileConvertedIsSame(s, b, none, d));
  *factor = isLeftScale ? (TileScaledFactor){.code = b, .scale = a} : (TileScaledFactor){.code = a, .scale = b};
  return isScale(factor->scale) && isElement(factor->code) && keepsZero(s, factor->code) && keepsZero(s, factor->scale);
}

//===--- the sum ------------------------------------------------------------------------------===//

// The two factors of the product that is added.
static bool readFactors(const TileStructured *s, TileScaledProduct *p) {
  MlirValue sum = s->numOutputs == 1 ? tileStructuredYielded(s) : (MlirValue){NULL};
  MlirValue start = mlirBlockGetArgument(s->body, s->numInputs);
  MlirOperation add = mlirValueIsNull(sum) ? (MlirOperation){NULL} : tileDefiningOp(sum);
  if (mlirOperationIsNull(add) || !arithAddFOpIsA(add) || !tileHasOneUse(start) ||
      !mlirTypeIsAF32(mlirValueGetType(sum)))
    return false;
  bool isLeft = mlirValueEqual(tileBinaryLhs(add), start);
  MlirOperation multiply = tileDefiningOp(isLeft ? tileBinaryRhs(add) : tileBinaryLhs(add));
  return mlirValueEqual(isLeft ? tileBinaryLhs(add) : tileBinaryRhs(add), start) && !mlirOperationIsNull(multiply) &&
         arithMulFOpIsA(multiply) && readFactor(s, tileBinaryLhs(multiply), &p->factor[0]) &&
         readFactor(s, tileBinaryRhs(multiply), &p->factor[1]);
}

// Everything that is read is indexed by single dimensions.
static bool areOperandsPlain(const TileStructured *s) {
  for (int i = 0; i < s->numInputs + s->numOutputs; ++i)
    if (!tileOperandIsPlain(&s->operands[i]) || s->operands[i].numTerms)
      return false;
  return true;
}

static bool changes(const TileStructured *s, const TileScaledFactor *factor, int dim) {
  MlirValue none = {NULL};
  return !tileConvertedIsSame(s, factor->code, none, dim) || !tileConvertedIsSame(s, factor->scale, none, dim);
}

// n is the output's last dimension, which one factor has, and m the last one that only the other has.
static bool readRowsAndColumns(const TileStructured *s, TileScaledProduct *p) {
  const TileOperand *out = &s->operands[s->numInputs];
  p->m = -1;
  p->n = out->rank ? out->results[out->rank - 1] : -1;
  if (p->n < 0)
    return false;
  if (changes(s, &p->factor[0], p->n)) {
    TileScaledFactor right = p->factor[0];
    p->factor[0] = p->factor[1];
    p->factor[1] = right;
  }
  for (int axis = 0; axis < out->rank - 1; ++axis)
    if (out->results[axis] >= 0 && !changes(s, &p->factor[1], out->results[axis]))
      p->m = out->results[axis];
  int64_t rows = p->m < 0 ? 1 : s->dims[p->m].extent, columns = s->dims[p->n].extent;
  return rows != 1 && (mlirShapedTypeIsDynamicSize(columns) || columns >= LeastColumns) &&
         !changes(s, &p->factor[0], p->n);
}

// The reductions: both codes have all of them, both scales those that count blocks.
static bool readBlocks(const TileStructured *s, TileScaledProduct *p) {
  const MlirValue none = {NULL}, scales[] = {p->factor[0].scale, p->factor[1].scale};
  p->block = 1;
  for (int inside = 0; inside < 2; ++inside)
    for (int d = 0; d < s->numDims; ++d) {
      bool isSame[] = {tileConvertedIsSame(s, scales[0], none, d), tileConvertedIsSame(s, scales[1], none, d)};
      if (!s->dims[d].isReduction || isSame[0] != inside)
        continue;
      if (isSame[1] != inside || mlirShapedTypeIsDynamicSize(s->dims[d].extent) ||
          tileConvertedIsSame(s, p->factor[0].code, none, d) || tileConvertedIsSame(s, p->factor[1].code, none, d))
        return false;
      p->depth[p->count++] = d;
      p->outer += !inside;
      p->block *= inside ? s->dims[d].extent : 1;
    }
  return p->outer == 1 && (p->block == 16 || p->block == 32);
}

static bool isShort(const TileScaledFactor *factor) {
  return tileElementWidth(mlirValueGetType(factor->code)) <= ShortBits;
}

// The scale of a block may stand outside of the block's sum without another result.
static bool areScalesExact(const TileScaledProduct *p) {
  return (isPower(p->factor[0].scale) && isPower(p->factor[1].scale)) ||
         (isShort(&p->factor[0]) && isShort(&p->factor[1]));
}

bool tileStructuredMatchScaledProduct(const TileStructured *s, TileScaledProduct *p) {
  *p = (TileScaledProduct){.m = -1};
  return tileStructuredGpu(s) && mlirAttributeIsNull(s->schedule) && s->numInputs >= 4 && areOperandsPlain(s) &&
         tileStructuredAccumulates(s, &s->operands[s->numInputs]) && readFactors(s, p) && readRowsAndColumns(s, p) &&
         readBlocks(s, p) && areScalesExact(p);
}

bool tileScaledReads(const TileStructured *s, MlirValue value, int input) {
  MlirOperation op = tileDefiningOp(value);
  if (tileStructuredInputOf(s, value) >= 0)
    return tileStructuredInputOf(s, value) == input;
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, s->body))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileScaledReads(s, mlirOperationGetOperand(op, i), input))
      return true;
  return false;
}

void tileScaledSortDims(TileStructured *s, TileScaledProduct *p) {
  int to[MaxDims], next = 0;
  for (int d = 0; d < s->numDims; ++d)
    if (!s->dims[d].isReduction && d != p->m && d != p->n)
      to[d] = next++;
  to[p->m] = next++;
  to[p->n] = next++;
  for (int i = 0; i < p->count; ++i)
    to[p->depth[i]] = next++;
  tileStructuredRenumber(s, to);
  p->m = to[p->m];
  p->n = to[p->n];
  for (int i = 0; i < p->count; ++i)
    p->depth[i] = to[p->depth[i]];
}
