// Bodies of linalg ops over facts. See body_facts.h. Cost: an evaluation is linear in the body; results for equal
// inputs are remembered, so that a product of many cells evaluates its body a few times.
#include "lib/analysis/sparsity/body_facts.h"

#include "dialects/tile/combiner.h"
#include "lib/capi/folding.h"
#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"
#include "upstream/math.h"

#include <stdlib.h>

enum { MaxValues = 64, MaxOperands = 4, MaxZeros = 4, MaxArguments = 16, NumMemos = 256 };

typedef struct Value {
  MlirType type;
  MlirAttribute fixed; // a constant of the program, or null
  uint8_t may, need;
  MlirAttribute constant; // null: none is known
} Value;

typedef struct Step {
  MlirOperation op;
  TileUpstream kind;
  intptr_t count, operands[MaxOperands], result; // numbers of values
  int64_t dim;                                   // of linalg.index; else -1
  bool isFolded, ignoresSigns; // by the latest run: the operands are known; signs of zeros do not matter
} Step;

typedef struct Memo {
  bool isRun, isAsked, fromPlusZero;
  uint64_t inputs, yielded, needs, arguments; // four bits each
} Memo;

struct SparseBody {
  bool finite, usesIndex;
  intptr_t numArguments, numSteps, numValues, numYielded;
  Value values[MaxValues];
  Step steps[MaxValues];
  intptr_t yielded[MaxArguments];
  uint8_t latest[MaxArguments];
  bool isStale; // the values are not those of the latest inputs
  Memo memos[NumMemos];
};

//===--- facts ----------------------------------------------------------------===//

static bool isFloat(MlirType type) { return mlirTypeIsAFloat(type); }

static bool isInteger(MlirType type) { return mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type); }

uint8_t sparseMayOfElement(MlirType element, bool finite) {
  return isInteger(element) || finite ? SparseMay_NonZero : SparseMay_Anything;
}

static uint8_t anything(const SparseBody *body, MlirType type) { return sparseMayOfElement(type, body->finite); }

static MlirAttribute zeroOf(MlirType type, bool isNegative) {
  if (isFloat(type))
    return mlirFloatAttrDoubleGet(mlirTypeGetContext(type), type, isNegative ? -0.0 : 0.0);
  return mlirIntegerAttrGet(type, 0);
}

uint8_t sparseMayOfConstant(MlirAttribute constant) {
  if (mlirAttributeIsAFloat(constant)) {
    double value = mlirFloatAttrGetValueDouble(constant);
    if (value != value)
      return SparseMay_NonZero | SparseMay_Nan;
    if (value - value != 0)
      return SparseMay_NonZero | (value > 0 ? SparseMay_Inf : SparseMay_MinusInf);
    return value != 0 ? SparseMay_NonZero : SparseMay_Zero;
  }
  if (mlirAttributeIsAInteger(constant)) {
    MlirType type = mlirAttributeGetType(constant);
    if (!mlirTypeIsAIndex(type) && mlirIntegerTypeGetWidth(type) > 64)
      return SparseMay_NonZero;
    return mlirIntegerAttrGetValueInt(constant) != 0 ? SparseMay_NonZero : SparseMay_Zero;
  }
  return SparseMay_Anything;
}

static void know(Value *value, MlirAttribute constant) {
  value->constant = constant;
  value->may = sparseMayOfConstant(constant);
}

//===--- reading --------------------------------------------------------------===//

// The number of the value; -1 where there is no room.
static intptr_t numberOf(SparseBody *body, TileTable *numbers, MlirValue value) {
  intptr_t known = (intptr_t)tileTableFind(numbers, value.ptr);
  if (known)
    return known - 1;
  if (body->numValues == MaxValues)
    return -1;
  intptr_t number = body->numValues++;
  body->values[number] = (Value){.type = mlirValueGetType(value), .fixed = mlirExtValueGetConstant(value)};
  tileTableSet(numbers, value.ptr, (void *)(number + 1));
  return number;
}

static bool readStep(SparseBody *body, TileTable *numbers, MlirOperation op) {
  intptr_t count = mlirOperationGetNumOperands(op);
  if (mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumRegions(op) || count > MaxOperands ||
      body->numSteps == MaxValues)
    return false;
  Step *step = &body->steps[body->numSteps++];
  *step = (Step){.op = op, .kind = tileUpstreamKind(op), .count = count, .dim = -1};
  if (step->kind == LinalgOp_Index) {
    step->dim = mlirIntegerAttrGetValueInt(linalgIndexOpGetDim(op));
    body->usesIndex = true;
  }
  for (intptr_t i = 0; i < count; ++i)
    if ((step->operands[i] = numberOf(body, numbers, mlirOperationGetOperand(op, i))) < 0)
      return false;
  step->result = numberOf(body, numbers, tileOnlyResult(op));
  return step->result >= 0;
}

static bool readBody(SparseBody *body, TileTable *numbers, MlirBlock block) {
  body->numArguments = mlirBlockGetNumArguments(block);
  if (body->numArguments > MaxArguments)
    return false;
  for (intptr_t i = 0; i < body->numArguments; ++i)
    numberOf(body, numbers, mlirBlockGetArgument(block, i));
  MlirOperation terminator = mlirBlockGetTerminator(block);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, terminator);
       op = mlirOperationGetNextInBlock(op))
    if (!readStep(body, numbers, op))
      return false;
  body->numYielded = mlirOperationGetNumOperands(terminator);
  if (body->numYielded > MaxArguments)
    return false;
  for (intptr_t i = 0; i < body->numYielded; ++i)
    if ((body->yielded[i] = numberOf(body, numbers, mlirOperationGetOperand(terminator, i))) < 0)
      return false;
  body->isStale = true;
  return true;
}

SparseBody *sparseBodyRead(MlirBlock block, bool finite) {
  SparseBody *body = calloc(1, sizeof *body);
  TileTable numbers = {0};
  body->finite = finite;
  bool ok = readBody(body, &numbers, block);
  tileTableFree(&numbers);
  if (ok)
    return body;
  free(body);
  return NULL;
}

void sparseBodyDestroy(SparseBody *body) { free(body); }
intptr_t sparseBodyNumArguments(const SparseBody *body) { return body->numArguments; }
intptr_t sparseBodyNumYielded(const SparseBody *body) { return body->numYielded; }

bool sparseBodyUsesIndex(const SparseBody *body, int64_t dim) {
  for (intptr_t i = 0; i < body->numSteps; ++i)
    if (body->steps[i].dim == dim)
      return true;
  return false;
}

//===--- forward --------------------------------------------------------------===//

// Folds an op whose operands are constants or zeros, for both signs of each zero. False if it does not fold.
static bool foldStep(SparseBody *body, Step *step) {
  MlirAttribute constants[MaxOperands], first = {NULL};
  intptr_t zeros[MaxOperands], numZeros = 0;
  uint8_t may = 0;
  for (intptr_t i = 0; i < step->count; ++i) {
    const Value *value = &body->values[step->operands[i]];
    if (mlirAttributeIsNull(value->constant) &&
        (value->may != SparseMay_Zero || !(isFloat(value->type) || isInteger(value->type))))
      return false;
    constants[i] = !mlirAttributeIsNull(value->constant) ? value->constant : zeroOf(value->type, false);
    if (mlirAttributeIsNull(value->constant) && isFloat(value->type))
      zeros[numZeros++] = i;
  }
  step->ignoresSigns = true;
  for (int signs = 0; signs < 1 << numZeros; ++signs) {
    for (intptr_t z = 0; z < numZeros; ++z)
      constants[zeros[z]] = zeroOf(body->values[step->operands[zeros[z]]].type, signs >> z & 1);
    MlirAttribute folded = mlirExtOperationFold(step->op, step->count, constants);
    if (mlirAttributeIsNull(folded))
      return false;
    first = signs ? first : folded;
    step->ignoresSigns &= mlirAttributeEqual(first, folded);
    may |= sparseMayOfConstant(folded);
  }
  Value *result = &body->values[step->result];
  result->may = may;
  result->constant = step->ignoresSigns ? first : (MlirAttribute){NULL};
  return true;
}

// The factor that makes a product zero: it is zero, and the other one finite. -1: none.
static intptr_t zeroFactor(const SparseBody *body, const Step *step) {
  bool isProduct = step->kind == ArithOp_MulF || step->kind == ArithOp_MulI || step->kind == ArithOp_AndI;
  bool isFinite =
      body->finite || (tileOpAllows(step->op, TileFastMath_NoNans) && tileOpAllows(step->op, TileFastMath_NoInfs));
  for (intptr_t i = 1; isProduct && i >= 0; --i)
    if (body->values[step->operands[i]].may == SparseMay_Zero &&
        (isFinite || !(body->values[step->operands[1 - i]].may & SparseMay_Special)))
      return i;
  return -1;
}

static uint8_t negate(uint8_t may) {
  uint8_t same = may & (SparseMay_NonZero | SparseMay_Nan);
  return same | (may & SparseMay_Inf ? SparseMay_MinusInf : 0) | (may & SparseMay_MinusInf ? SparseMay_Inf : 0);
}

// Both orders: nan if either is, -inf only if both sides allow it (of a minimum: inf).
static uint8_t extremum(uint8_t a, uint8_t b, SparseMay both, bool dropsNan) {
  uint8_t may = (a | b) & ~(both | SparseMay_Nan);
  may |= (dropsNan ? a & b : a | b) & SparseMay_Nan;
  bool mayA = a & (dropsNan ? both | SparseMay_Nan : both), mayB = b & (dropsNan ? both | SparseMay_Nan : both);
  return may | (mayA && mayB && ((a | b) & both) ? both : 0);
}

static uint8_t product(uint8_t a, uint8_t b) {
  return (a | b) & SparseMay_Special ? SparseMay_Anything : SparseMay_NonZero | SparseMay_Inf | SparseMay_MinusInf;
}

static uint8_t sum(uint8_t a, uint8_t b) {
  if (!a || !b)
    return a | b;
  return (a | b) & SparseMay_Special ? SparseMay_Anything : SparseMay_NonZero | SparseMay_Inf | SparseMay_MinusInf;
}

// What the result of an op may be that does not fold: rules of arithmetic, each op by its kind.
static uint8_t transfer(const SparseBody *body, const Step *step) {
  uint8_t of[MaxOperands];
  MlirType type = body->values[step->result].type;
  for (intptr_t i = 0; i < step->count; ++i)
    of[i] = body->values[step->operands[i]].may;
  switch (step->kind) {
  case ArithOp_MulF:
    return zeroFactor(body, step) >= 0 ? SparseMay_Zero : product(of[0], of[1]);
  case ArithOp_MulI:
  case ArithOp_AndI:
    return of[0] && of[1];
  case ArithOp_AddF:
    return sum(of[0], of[1]);
  case ArithOp_SubF:
    return sum(of[0], negate(of[1]));
  case ArithOp_NegF:
    return negate(of[0]);
  case MathOp_AbsF:
    return (of[0] & ~SparseMay_MinusInf) | (of[0] & SparseMay_MinusInf ? SparseMay_Inf : 0);
  case MathOp_Tanh:
    return SparseMay_NonZero | (of[0] & SparseMay_Nan);
  case ArithOp_MaximumF:
  case ArithOp_MaxNumF:
    return extremum(of[0], of[1], SparseMay_MinusInf, step->kind == ArithOp_MaxNumF);
  case ArithOp_MinimumF:
  case ArithOp_MinNumF:
    return extremum(of[0], of[1], SparseMay_Inf, step->kind == ArithOp_MinNumF);
  case ArithOp_ExtF:
  case ArithOp_ExtSI:
  case ArithOp_ExtUI:
  case ArithOp_TruncI:
  case ArithOp_IndexCast:
    return of[0];
  case ArithOp_TruncF:
    return of[0] | (of[0] ? SparseMay_Inf | SparseMay_MinusInf : 0);
  case ArithOp_SIToFP:
  case ArithOp_UIToFP:
    return !of[0]
               ? SparseMay_Zero
               : SparseMay_NonZero |
                     (tileElementWidth(type) < 32 && !mlirTypeIsABF16(type) ? SparseMay_Inf | SparseMay_MinusInf : 0);
  default:
    return anything(body, type);
  }
}

static bool isSelectOfKnown(const SparseBody *body, const Step *step, intptr_t *taken) {
  if (step->kind != ArithOp_Select)
    return false;
  MlirAttribute condition = body->values[step->operands[0]].constant;
  bool isZero = body->values[step->operands[0]].may == SparseMay_Zero;
  *taken = isZero || (!mlirAttributeIsNull(condition) && !mlirIntegerAttrGetValueInt(condition)) ? 2 : 1;
  return isZero || !mlirAttributeIsNull(condition);
}

static void runStep(SparseBody *body, Step *step, const int64_t *index) {
  Value *result = &body->values[step->result];
  intptr_t taken = 0;
  result->constant = (MlirAttribute){NULL};
  step->isFolded = false;
  if (step->dim >= 0) {
    know(result, mlirIntegerAttrGet(result->type, index[step->dim]));
  } else if (isSelectOfKnown(body, step, &taken)) {
    result->may = body->values[step->operands[taken]].may;
    result->constant = body->values[step->operands[taken]].constant;
  } else if (step->kind == ArithOp_Select) {
    result->may = body->values[step->operands[1]].may | body->values[step->operands[2]].may;
  } else {
    step->isFolded = foldStep(body, step);
    if (!step->isFolded)
      result->may = transfer(body, step);
  }
  if (tileOpAllows(step->op, TileFastMath_NoNans) || body->finite)
    result->may &= ~SparseMay_Nan;
  if (tileOpAllows(step->op, TileFastMath_NoInfs) || body->finite)
    result->may &= ~(SparseMay_Inf | SparseMay_MinusInf);
}

static void evaluate(SparseBody *body, const int64_t *index) {
  for (intptr_t i = 0; i < body->numValues; ++i) {
    Value *value = &body->values[i];
    value->constant = value->fixed;
    value->may = i < body->numArguments               ? body->latest[i]
                 : !mlirAttributeIsNull(value->fixed) ? sparseMayOfConstant(value->fixed)
                                                      : anything(body, value->type);
  }
  for (intptr_t i = 0; i < body->numSteps; ++i)
    runStep(body, &body->steps[i], index);
  body->isStale = false;
}

static uint64_t packed(const uint8_t *facts, intptr_t count) {
  uint64_t all = 0;
  for (intptr_t i = 0; i < count; ++i)
    all |= (uint64_t)(facts[i] & 15) << 4 * i;
  return all;
}

static void unpack(uint64_t all, uint8_t *facts, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i)
    facts[i] = all >> 4 * i & 15;
}

static Memo *memoOf(SparseBody *body, uint64_t inputs, uint64_t needs) {
  return &body->memos[(inputs * 0x9e3779b97f4a7c15u ^ needs * 0xc2b2ae3d27d4eb4fu) >> 56];
}

void sparseBodyRun(SparseBody *body, const uint8_t *inputs, const int64_t *index, uint8_t *yielded) {
  uint64_t key = packed(inputs, body->numArguments);
  Memo *memo = memoOf(body, key, 0);
  memcpy(body->latest, inputs, (size_t)body->numArguments);
  body->isStale = true;
  if (!body->usesIndex && memo->isRun && memo->inputs == key) {
    unpack(memo->yielded, yielded, body->numYielded);
    return;
  }
  evaluate(body, index);
  for (intptr_t i = 0; i < body->numYielded; ++i)
    yielded[i] = body->values[body->yielded[i]].may;
  *memo = (Memo){.isRun = true, .inputs = key, .yielded = packed(yielded, body->numYielded)};
}

//===--- backward -------------------------------------------------------------===//

static void need(SparseBody *body, intptr_t value, uint8_t need) { body->values[value].need |= need; }

// What an op needs of its operands, where the result is needed for `needed`.
static void askStep(SparseBody *body, const Step *step, uint8_t needed) {
  intptr_t taken = 0, zero = zeroFactor(body, step);
  bool hasNoSign = isInteger(body->values[step->result].type);
  if (isSelectOfKnown(body, step, &taken)) {
    need(body, step->operands[0], SparseNeed_All);
    need(body, step->operands[taken], needed);
    return;
  }
  if (zero >= 0 && (hasNoSign || !(needed & SparseNeed_Sign))) {
    need(body, step->operands[zero], SparseNeed_Value); // the other factor may be any finite value
    return;
  }
  switch (step->kind) {
  case ArithOp_AddF:
  case ArithOp_SubF:
  case ArithOp_MulF:
  case ArithOp_NegF:
  case MathOp_AbsF:
  case ArithOp_ExtF:
  case ArithOp_TruncF:
  case ArithOp_MaximumF:
  case ArithOp_MinimumF:
    break;
  default:
    needed = step->isFolded && step->ignoresSigns ? SparseNeed_Value : SparseNeed_All;
  }
  for (intptr_t i = 0; i < step->count; ++i)
    need(body, step->operands[i], needed);
}

static void ask(SparseBody *body, const uint8_t *needs, bool fromPlusZero) {
  for (intptr_t i = 0; i < body->numValues; ++i)
    body->values[i].need = SparseNeed_Nothing;
  for (intptr_t i = 0; i < body->numYielded; ++i)
    need(body, body->yielded[i], needs[i]);
  for (intptr_t i = body->numSteps - 1; i >= 0; --i) {
    const Step *step = &body->steps[i];
    uint8_t needed = body->values[step->result].need;
    intptr_t last = body->numArguments - 1;
    bool isSum = fromPlusZero && step->kind == ArithOp_AddF && step->result == body->yielded[0] &&
                 (step->operands[0] == last || step->operands[1] == last);
    if (needed && isSum) {
      need(body, last, needed);
      need(body, step->operands[step->operands[0] == last], SparseNeed_Value);
    } else if (needed) {
      askStep(body, step, needed);
    }
  }
}

void sparseBodyAsk(SparseBody *body, const uint8_t *needs, bool fromPlusZero, uint8_t *arguments) {
  uint64_t inputs = packed(body->latest, body->numArguments), key = packed(needs, body->numYielded);
  Memo *memo = memoOf(body, inputs, key + 1 + fromPlusZero);
  if (!body->usesIndex && memo->isAsked && memo->inputs == inputs && memo->needs == key &&
      memo->fromPlusZero == fromPlusZero) {
    unpack(memo->arguments, arguments, body->numArguments);
    return;
  }
  if (body->isStale)
    evaluate(body, NULL);
  ask(body, needs, fromPlusZero);
  for (intptr_t i = 0; i < body->numArguments; ++i)
    arguments[i] = body->values[i].need;
  *memo = (Memo){.isAsked = true,
                 .inputs = inputs,
                 .needs = key,
                 .fromPlusZero = fromPlusZero,
                 .arguments = packed(arguments, body->numArguments)};
}

//===--- sums -----------------------------------------------------------------===//

bool sparseBodyKeepsLast(SparseBody *body) {
  intptr_t last = body->numArguments - 1;
  if (body->yielded[0] == last)
    return true;
  if (body->isStale)
    evaluate(body, NULL);
  for (intptr_t i = 0; i < body->numSteps; ++i) {
    const Step *step = &body->steps[i];
    const TileCombiner *combiner = step->result == body->yielded[0] ? tileCombinerOf(step->kind) : NULL;
    if (!combiner || (step->operands[0] != last && step->operands[1] != last))
      continue;
    MlirAttribute neutral = tileCombinerNeutral(combiner, body->values[step->result].type);
    intptr_t other = step->operands[step->operands[0] == last];
    return !mlirAttributeIsNull(neutral) && sparseMayOfConstant(neutral) == SparseMay_Zero && other != last &&
           body->values[other].may == SparseMay_Zero;
  }
  return false;
}
