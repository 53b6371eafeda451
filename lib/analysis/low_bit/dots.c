// Recognizes scaled sums of products of integers. See dots.h.
#include "lib/analysis/low_bit/dots.h"

#include "lib/analysis/low_bit/range.h"
#include "lib/analysis/reduction.h"
#include "lib/ir/op_query.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

//===--- the code -------------------------------------------------------------------------------===//

static bool readsInput(const TileStructured *s, MlirValue value, bool (*isSuch)(const TileOperand *, const void *),
                       const void *data) {
  int input = tileStructuredInputOf(s, value);
  if (input >= 0)
    return isSuch(&s->operands[input], data);
  MlirOperation op = tileDefiningOp(value);
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body);
  for (intptr_t i = 0; isInside && i < mlirOperationGetNumOperands(op); ++i)
    if (readsInput(s, mlirOperationGetOperand(op, i), isSuch, data))
      return true;
  return false;
}

static bool hasDims(const TileOperand *operand, const void *data) {
  const TileDots *d = data;
  return tileOperandUses(operand, d->k) || (d->t >= 0 && tileOperandUses(operand, d->t));
}

// Something else than the codes, numbers of tables of t, and what is the same everywhere.
static bool isForeign(const TileOperand *operand, const void *data) {
  const TileDots *d = data;
  size_t size;
  if (operand == &d->s.operands[d->codes])
    return false;
  bool isTable = d->t >= 0 && operand->rank == 1 && operand->results[0] == d->t &&
                 tileOperandConstantBytes(operand, &size) && size == (size_t)d->parts &&
                 mlirIntegerTypeGetWidth(tileOperandElementType(operand)) == 8;
  return !isTable;
}

static bool changes(const TileDots *d, MlirValue value) { return readsInput(&d->s, value, hasDims, d); }

// Elementwise ops of integers that no value stops.
static bool isPlainCode(const TileDots *d, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (mlirOperationIsNull(op) || !tileIsDefinedIn(value, d->s.body))
    return true;
  if (tileOpDividesIntegers(op) || tensorExtractOpIsA(op) || linalgIndexOpIsA(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!isPlainCode(d, mlirOperationGetOperand(op, i)))
      return false;
  return true;
}

static bool isByte(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8; }

// Takes `value` apart into a code and zeros; `isUnsigned`: its bits are read so.
static bool readCode(TileDots *d, MlirValue value, bool isUnsigned) {
  MlirOperation op = tileDefiningOp(value);
  MlirBlock body = d->s.body;
  TileCodeRange range, a, b;
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, body);
  if (isInside && (arithExtUIOpIsA(op) || arithExtSIOpIsA(op)))
    return readCode(d, tileOnlyOperand(op), arithExtUIOpIsA(op));
  if (isInside && (arithAddIOpIsA(op) || arithSubIOpIsA(op))) {
    bool isLeft = changes(d, tileBinaryLhs(op));
    MlirValue zero = isLeft ? tileBinaryRhs(op) : tileBinaryLhs(op);
    bool isDifference = arithSubIOpIsA(op);
    unsigned width = mlirIntegerTypeGetWidth(mlirValueGetType(value));
    if (changes(d, zero) || (isDifference && !isLeft) || d->numZeros == TileDotsMostZeros ||
        !tileCodeRangeOf(body, tileBinaryLhs(op), &a) || !tileCodeRangeOf(body, tileBinaryRhs(op), &b))
      return false;
    int64_t least = isDifference ? a.least - b.most : a.least + b.least;
    int64_t most = isDifference ? a.most - b.least : a.most + b.most, half = INT64_C(1) << (width - 1);
    if (least < -half || most >= half || (isUnsigned && least < 0)) // it may wrap
      return false;
    d->zeros[d->numZeros] = zero;
    d->isSubtracted[d->numZeros++] = isDifference;
    return readCode(d, isLeft ? tileBinaryLhs(op) : tileBinaryRhs(op), false);
  }
  d->code = value;
  d->isSigned = !isUnsigned && !(tileCodeRangeOf(body, value, &range) && range.least >= 0);
  return isByte(mlirValueGetType(value)) && isPlainCode(d, value) && readsInput(&d->s, value, hasDims, d) &&
         !readsInput(&d->s, value, isForeign, d);
}

//===--- the products ---------------------------------------------------------------------------===//

// The input of i8 that `value` is an extension of, with its sign; else -1.
static int signedBytes(const TileStructured *s, MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  while (arithExtSIOpIsA(op) && tileHasOneUse(value)) {
    value = tileOnlyOperand(op);
    op = tileDefiningOp(value);
  }
  int input = tileStructuredInputOf(s, value);
  return input >= 0 && s->operands[input].isTensor && isByte(mlirValueGetType(value)) && tileHasOneUse(value) ? input
                                                                                                              : -1;
}

static bool isWord(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32; }

static bool matchBody(const TileStructured *s, TileDots *d, MlirValue *factor) {
  MlirValue sum = tileStructuredYielded(s), start = mlirBlockGetArgument(s->body, s->numInputs);
  MlirOperation add = tileDefiningOp(sum);
  if (!arithAddIOpIsA(add) || !isWord(mlirValueGetType(sum)) || !tileHasOneUse(start))
    return false;
  bool isLeft = mlirValueEqual(tileBinaryLhs(add), start);
  MlirValue product = isLeft ? tileBinaryRhs(add) : tileBinaryLhs(add);
  MlirOperation multiply = tileDefiningOp(product);
  if (!mlirValueEqual(isLeft ? tileBinaryLhs(add) : tileBinaryRhs(add), start) || !arithMulIOpIsA(multiply))
    return false;
  const TileOperand *out = &s->operands[s->numInputs];
  for (int side = 0; side < 2; ++side) {
    MlirValue factors[2] = {tileBinaryLhs(multiply), tileBinaryRhs(multiply)};
    d->x = signedBytes(s, factors[side]);
    *factor = factors[!side];
    // x has the rows, the first dimension of the sum.
    if (d->x >= 0 && tileOperandUses(&s->operands[d->x], out->results[0]))
      return true;
  }
  return false;
}

static bool isKnown(const TileStructured *s, int dim) {
  return !mlirShapedTypeIsDynamicSize(s->dims[dim].extent) && s->dims[dim].extent > 0;
}

static bool hasAxes(const TileOperand *operand, int rank, const int *dims) {
  bool isSuch = operand->isTensor && operand->rank == rank && tileOperandIsPlain(operand) && !operand->numTerms;
  for (int i = 0; isSuch && i < rank; ++i)
    isSuch = operand->results[i] == dims[i];
  return isSuch;
}

// x has all reductions last, in order; the codes lie along the last one.
static bool matchDims(TileDots *d) {
  const TileStructured *s = &d->s;
  const TileOperand *out = &s->operands[s->numInputs], *x = &s->operands[d->x];
  bool hasParts = x->rank == 4;
  d->m = out->results[0];
  d->n = out->results[1];
  d->g = out->results[2];
  d->k = x->results[x->rank - 1];
  d->t = hasParts ? x->results[2] : -1;
  if (x->rank < 3 || x->rank > 4 || s->numDims != x->rank + 1 || d->k < 0 || (hasParts && d->t < 0))
    return false;
  int ofX[4] = {d->m, d->g, hasParts ? d->t : d->k, d->k}, ofOut[3] = {d->m, d->n, d->g};
  bool fits = hasAxes(x, x->rank, ofX) && hasAxes(out, 3, ofOut) && s->dims[d->k].isReduction &&
              (!hasParts || s->dims[d->t].isReduction) && !s->dims[d->m].isReduction && !s->dims[d->n].isReduction &&
              !s->dims[d->g].isReduction && isKnown(s, d->k) && isKnown(s, d->g) && isKnown(s, d->n) &&
              (!hasParts || isKnown(s, d->t));
  if (!fits)
    return false;
  d->groups = s->dims[d->g].extent;
  d->run = s->dims[d->k].extent;
  d->parts = hasParts ? s->dims[d->t].extent : 1;
  bool fillsVectors = d->run % TileDotsVector == 0 || (TileDotsVector % d->run == 0 && d->run >= TileDotsLeastRun &&
                                                       d->groups * d->run % TileDotsVector == 0);
  return fillsVectors && d->parts <= TileDotsMostParts;
}

// The one input that lies along k besides x.
static bool matchCodes(TileDots *d) {
  int ofCodes[3] = {d->n, d->g, d->k};
  d->codes = -1;
  for (int i = 0; i < d->s.numInputs; ++i) {
    if (i == d->x || !tileOperandUses(&d->s.operands[i], d->k))
      continue;
    if (d->codes >= 0)
      return false;
    d->codes = i;
  }
  return d->codes >= 0 && hasAxes(&d->s.operands[d->codes], 3, ofCodes) &&
         isByte(tileOperandElementType(&d->s.operands[d->codes]));
}

static bool arePlain(const TileStructured *s, int without) {
  for (int i = 0; i < s->numInputs; ++i)
    for (int axis = 0; i != without && axis < s->operands[i].rank; ++axis)
      if (s->operands[i].results[axis] < 0 && s->operands[i].constants[axis])
        return false;
  return !tileStructuredHasTerms(s);
}

static bool hasInstruction(const TileTarget *target) { return !target->search.isGpu && tileDotOfFours(target->hasDot); }

static bool startsFromZero(const TileStructured *s) {
  MlirAttribute initial = s->operands[s->numInputs].initial;
  return !mlirAttributeIsNull(initial) && mlirAttributeIsAInteger(initial) && mlirIntegerAttrGetValueInt(initial) == 0;
}

static bool zerosArePlain(const TileDots *d) {
  for (int i = 0; i < d->numZeros; ++i)
    if (!isPlainCode(d, d->zeros[i]))
      return false;
  return true;
}

bool tileStructuredMatchDots(const TileStructured *s, TileDots *d) {
  MlirValue factor;
  *d = (TileDots){.s = *s};
  if (!hasInstruction(s->target) || s->numOutputs != 1 || s->numInputs < 2 || s->numCaptures ||
      s->operands[s->numInputs].rank != 3)
    return false;
  d->s = tileStructuredCopy(s, 0);
  tileStructuredStartFromConstants(&d->s);
  return startsFromZero(&d->s) && arePlain(s, -1) && matchBody(&d->s, d, &factor) && matchDims(d) && matchCodes(d) &&
         readCode(d, factor, false) && zerosArePlain(d);
}

//===--- the scaled sum -------------------------------------------------------------------------===//

static bool readsOutput(const TileStructured *s, MlirValue value) {
  if (mlirValueEqual(value, mlirBlockGetArgument(s->body, s->numInputs)))
    return true;
  MlirOperation op = tileDefiningOp(value);
  bool isInside = !mlirOperationIsNull(op) && tileIsDefinedIn(value, s->body);
  for (intptr_t i = 0; isInside && i < mlirOperationGetNumOperands(op); ++i)
    if (linalgIndexOpIsA(op) || readsOutput(s, mlirOperationGetOperand(op, i)))
      return true;
  return isInside && linalgIndexOpIsA(op);
}

bool tileStructuredMatchScaledDots(const TileStructured *s, TileScaledDots *scaled) {
  if (s->numOutputs != 1 || s->numDims != 3 || !mlirAttributeIsNull(s->schedule) || !hasInstruction(s->target) ||
      s->operands[s->numInputs].rank != 2 || !arePlain(s, -1))
    return false;
  const TileCombiner *combiner = tileStructuredMatchReduction(s, 0, &scaled->folded);
  if (!combiner || combiner->kind != ArithOp_AddF || !mlirTypeIsAF32(mlirValueGetType(scaled->folded)) ||
      readsOutput(s, scaled->folded))
    return false;
  for (scaled->input = 0; scaled->input < s->numInputs; ++scaled->input) {
    const TileOperand *operand = &s->operands[scaled->input], *out = &s->operands[s->numInputs];
    MlirOperation op = operand->isTensor ? tileDefiningOp(operand->value) : (MlirOperation){NULL};
    TileStructured producer;
    if (!linalgGenericOpIsA(op) || operand->rank != 3 || !tileHasOneUse(operand->value) ||
        !isWord(tileOperandElementType(operand)) || !tileStructuredRead(op, s->target, &producer) ||
        !mlirAttributeIsNull(producer.schedule) || !tileStructuredMatchDots(&producer, &scaled->dots))
      continue;
    scaled->m = operand->results[0];
    scaled->n = operand->results[1];
    scaled->g = operand->results[2];
    return scaled->m >= 0 && scaled->n >= 0 && scaled->g >= 0 && s->dims[scaled->g].isReduction &&
           out->results[0] == scaled->m && out->results[1] == scaled->n;
  }
  return false;
}

bool tileDotsAreScaled(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  TileScaledDots scaled;
  if (!tileHasOneUse(tileOnlyResult(op)))
    return false;
  MlirOperation reader = mlirOpOperandGetOwner(mlirValueGetFirstUse(tileOnlyResult(op)));
  return linalgGenericOpIsA(reader) && tileStructuredRead(reader, target, &s) &&
         tileStructuredMatchScaledDots(&s, &scaled);
}
