// Verifiers of reduce, scan, sort, topk, histogram, random and convert_type, and the result types of scan.
// Why: what vanishes, what stays, and whether the combiner suits the elements.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/combiner.h"
#include "dialects/tile/hooks.h"
#include "dialects/tile/layouts.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

#include "upstream/arith.h"
#include <string.h>

//===--- inputs -------------------------------------------------------------===//

// One tile or several of one shape (and one layout).
static bool expectEqualInputs(MlirOperation op, intptr_t count) {
  if (count == 0)
    return tileError(op, "has no input, expected at least one tile");
  MlirValue first = tileFirstOperand(op);
  for (intptr_t i = 1; i < count; ++i) {
    MlirType type = tileOperandType(op, i);
    if (!tileExpectShapeOf(op, "an input", type, "the first input", first))
      return false;
    if (!mlirAttributeEqual(tileTypeGetLayout(type), tileTypeGetLayout(mlirValueGetType(first))))
      return tileErrorWithNote(op, mlirValueGetLocation(first), "the first input is defined here",
                               "input #%d is %s, expected the layout of the first input, %s", (int)i,
                               TILE_TYPE_TEXT(type), TILE_TYPE_TEXT(mlirValueGetType(first)));
  }
  return true;
}

static bool expectAxis(MlirOperation op) {
  int64_t axis = 0;
  tileIntegerOf(op, "axis", &axis);
  return tileExpectInteger(op, "axis", axis, 0, tileTypeGetRank(tileFirstOperandType(op)) - 1);
}

// `part` is the first input without its axes; a scalar when all are gone.
static bool isWithout(MlirType part, MlirType input, bool (*isGone)(MlirAttribute, intptr_t), MlirAttribute gone) {
  intptr_t kept = 0, partRank = tileTypeGetRank(part);
  for (intptr_t i = 0, rank = tileTypeGetRank(input); i < rank; ++i) {
    if (isGone(gone, i))
      continue;
    if (kept >= partRank || tileTypeGetSize(part, kept) != tileTypeGetSize(input, i))
      return false;
    ++kept;
  }
  return kept == partRank;
}

static bool isInAxes(MlirAttribute axes, intptr_t axis) { return tileListContains(axes, axis); }
static bool isAxis(MlirAttribute gone, intptr_t axis) { return mlirIntegerAttrGetValueInt(gone) == axis; }

static bool expectPart(MlirOperation op, const char *what, MlirType part, MlirValue input,
                       bool (*isGone)(MlirAttribute, intptr_t), MlirAttribute gone) {
  MlirType type = mlirValueGetType(input);
  if (!isWithout(part, type, isGone, gone))
    return tileErrorWithNote(op, mlirValueGetLocation(input), "the input is defined here",
                             "%s has shape %s, expected the input's, %s, without its axes", what, TILE_SHAPE_TEXT(part),
                             TILE_SHAPE_TEXT(type));
  return tileExpectElementOf(op, what, part, "the input", input);
}

//===--- combiners ----------------------------------------------------------===//

static bool hasBody(MlirOperation op) {
  return mlirOperationGetNumRegions(op) && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

// {arith.addf}: one input, of elements that the op takes.
static bool verifyShortForm(MlirOperation op, intptr_t inputs) {
  MlirStringRef name = tileKeywordOf(op, "operation");
  const TileCombiner *combiner = tileCombinerFind(name);
  MlirType element = tileTypeGetElement(tileFirstOperandType(op));
  if (!combiner)
    return tileError(op,
                     "combines by '%.*s', expected one of arith.addf, addi, mulf, muli, maximumf, maxnumf, minimumf, "
                     "minnumf, maxsi, maxui, minsi, minui, andi, ori, xori; others need a region and a neutral element",
                     (int)name.length, name.data);
  if (combiner->isFloat != mlirTypeIsAFloat(element))
    return tileError(op, "combines %s by %s, expected %s elements", TILE_TYPE_TEXT(element),
                     tileUpstreamName(combiner->kind), combiner->isFloat ? "float" : "integer or index");
  if (mlirTypeIsAFloat8E8M0FNU(element) && combiner->kind == ArithOp_AddF)
    return tileError(op, "combines f8E8M0FNU by arith.addf, expected a type that has a zero");
  return inputs == 1 || tileError(op, "combines %d inputs by one op, expected a region", (int)inputs);
}

static bool verifyNeutral(MlirOperation op, intptr_t inputs) {
  MlirAttribute neutral = tileOpAttribute(op, "neutral");
  if (mlirAttributeIsNull(neutral))
    return tileError(op, "has a region but no neutral element, expected %d, one per input", (int)inputs);
  if (mlirArrayAttrGetNumElements(neutral) != inputs)
    return tileError(op, "has %d neutral elements, expected %d, one per input",
                     (int)mlirArrayAttrGetNumElements(neutral), (int)inputs);
  for (intptr_t i = 0; i < inputs; ++i) {
    MlirType seen = mlirAttributeGetType(mlirArrayAttrGetElement(neutral, i));
    MlirType wanted = tileTypeGetElement(tileOperandType(op, i));
    if (!mlirTypeEqual(seen, wanted))
      return tileError(op, "neutral element #%d is of type %s, expected the input's, %s", (int)i, TILE_TYPE_TEXT(seen),
                       TILE_TYPE_TEXT(wanted));
  }
  return true;
}

// The region takes two tuples of elements, left then right.
static bool verifyBodyArguments(MlirOperation op, intptr_t inputs) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  intptr_t count = mlirBlockGetNumArguments(body);
  if (count != 2 * inputs)
    return tileError(op, "its region has %d arguments, expected %d: the left elements, then the right ones", (int)count,
                     (int)(2 * inputs));
  for (intptr_t i = 0; i < count; ++i) {
    MlirType seen = mlirValueGetType(mlirBlockGetArgument(body, i));
    MlirType wanted = tileTypeGetElement(tileOperandType(op, i % inputs));
    if (!mlirTypeEqual(seen, wanted))
      return tileError(op, "argument #%d of its region is %s, expected the input's element, %s", (int)i,
                       TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(wanted));
  }
  return true;
}

static bool verifyCombiner(MlirOperation op, intptr_t inputs) {
  if (hasBody(op) == tileHas(op, "operation"))
    return tileError(op, "has %s, expected either a combining op or a region",
                     hasBody(op) ? "a combining op and a region" : "neither a combining op nor a region");
  return hasBody(op) ? verifyNeutral(op, inputs) && verifyBodyArguments(op, inputs) : verifyShortForm(op, inputs);
}

// Elements may be combined in any order and in parallel: the region may depend on nothing but its arguments.
static bool verifyBodyIsPure(MlirOperation op) {
  if (!hasBody(op))
    return true;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (MlirOperation inner = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(inner);
       inner = mlirOperationGetNextInBlock(inner))
    if (!tileYieldOpIsA(inner) && !mlirExtOperationIsPure(inner))
      return tileErrorWithNote(inner, mlirOperationGetLocation(op), "the region belongs to this op",
                               "stands in a combining region, expected pure ops only");
  return true;
}

//===--- reduce and scan ----------------------------------------------------===//

bool tileReduceOpVerify(MlirOperation op) {
  intptr_t inputs = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  if (!expectEqualInputs(op, inputs))
    return false;
  if (tileArrayCount(op, "axes") == 0)
    return tileError(op, "names no axes, expected at least one");
  if (!tileExpectAxes(op, "axes", tileTypeGetRank(mlirValueGetType(tileReduceOpGetInputs(op, 0)))))
    return false;
  if (results != inputs)
    return tileError(op, "has %d results, expected %d, one per input", (int)results, (int)inputs);
  MlirAttribute axes = tileOpAttribute(op, "axes");
  for (intptr_t i = 0; i < results; ++i)
    if (!expectPart(op, "the result", tileResultType(op, i), mlirOperationGetOperand(op, i), isInAxes, axes) ||
        !tileExpectFreedLayout(op, mlirOperationGetOperand(op, i), mlirOperationGetResult(op, i)))
      return false;
  return verifyCombiner(op, inputs);
}

bool tileReduceOpVerifyRegions(MlirOperation op) { return verifyBodyIsPure(op); }

bool tileScanOpVerify(MlirOperation op) {
  intptr_t begin, inputs, initials;
  tileOpOperands(op, "inputs", &begin, &inputs);
  tileOpOperands(op, "initial", &begin, &initials);
  if (!expectEqualInputs(op, inputs) || !expectAxis(op))
    return false;
  if (initials && initials != inputs)
    return tileError(op, "has %d initial states, expected none or %d, one per input", (int)initials, (int)inputs);
  MlirAttribute axis = tileOpAttribute(op, "axis");
  for (intptr_t i = 0; i < initials; ++i)
    if (!expectPart(op, "the initial state", tileOperandType(op, begin + i), mlirOperationGetOperand(op, i), isAxis,
                    axis))
      return false;
  return verifyCombiner(op, inputs);
}

bool tileScanOpVerifyRegions(MlirOperation op) { return verifyBodyIsPure(op); }

// A result like each operand: the scanned inputs, then the final states (like the initial ones).
bool tileScanOpInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  for (intptr_t i = 0; i < inference->numOperands; ++i)
    mlirExtTypeListAppend(types, mlirValueGetType(inference->operands[i]));
  return true;
}

//===--- sort and topk ------------------------------------------------------===//

bool tileSortOpVerify(MlirOperation op) {
  return expectEqualInputs(op, mlirOperationGetNumOperands(op)) && expectAxis(op);
}

static bool expectTop(MlirOperation op, intptr_t i, int64_t axis) {
  MlirValue input = mlirOperationGetOperand(op, i);
  MlirType type = mlirValueGetType(input), result = tileResultType(op, i);
  bool fits = tileTypeHasSameShapeBut(result, type, axis) &&
              tileTypeGetSize(result, axis) <= tileTypeGetSize(type, axis) &&
              tileTypeGetSize(result, axis) == tileTypeGetSize(tileFirstResultType(op), axis);
  if (!fits)
    return tileErrorWithNote(op, mlirValueGetLocation(input), "the input is defined here",
                             "result #%d has shape %s, expected the input's, %s, with at most as much along axis %lld, "
                             "equally much in every result",
                             (int)i, TILE_SHAPE_TEXT(result), TILE_SHAPE_TEXT(type), (long long)axis);
  return tileExpectElementOf(op, "the result", result, "the input", input);
}

bool tileTopkOpVerify(MlirOperation op) {
  intptr_t inputs = mlirOperationGetNumOperands(op), results = mlirOperationGetNumResults(op);
  int64_t axis = 0;
  if (!expectEqualInputs(op, inputs) || !expectAxis(op))
    return false;
  tileIntegerOf(op, "axis", &axis);
  if (results != inputs)
    return tileError(op, "has %d results, expected %d, one per input", (int)results, (int)inputs);
  for (intptr_t i = 0; i < results; ++i)
    if (!expectTop(op, i, axis))
      return false;
  return true;
}

//===--- histogram, random, convert_type ------------------------------------===//

static bool expectVector(MlirOperation op, const char *what, MlirType type) {
  return tileTypeGetRank(type) == 1 || tileError(op, "%s is %s, expected a tile of rank 1", what, TILE_TYPE_TEXT(type));
}

bool tileHistogramOpVerify(MlirOperation op) {
  return expectVector(op, "the input", tileHistogramOpGetInputType(op)) &&
         expectVector(op, "the result", tileHistogramOpGetResultType(op));
}

// Philox4x32-10 turns a counter into four words: a new last axis.
bool tileRandomOpVerify(MlirOperation op) {
  MlirValue counter = tileOpOperand(op, "counter");
  MlirType type = mlirValueGetType(counter), result = tileRandomOpGetResultType(op);
  intptr_t rank = tileTypeGetRank(type);
  if (!tileExpectIntegral(op, "the counter", type) ||
      !tileExpectElement(op, "the result", result, mlirIntegerTypeGet(mlirOperationGetContext(op), 32)))
    return false;
  bool fits = tileTypeGetRank(result) == rank + 1 && tileTypeGetSize(result, rank) == 4;
  for (intptr_t i = 0; fits && i < rank; ++i)
    fits = tileTypeGetSize(result, i) == tileTypeGetSize(type, i);
  return fits || tileErrorWithNote(op, mlirValueGetLocation(counter), "the counter is defined here",
                                   "the result has shape %s, expected the counter's, %s, and a last axis of 4 words",
                                   TILE_SHAPE_TEXT(result), TILE_SHAPE_TEXT(type));
}

// A conversion that arith can express is written in arith: one way to write a conversion.
static const char *arithConversion(MlirOperation op, MlirType from, MlirType to) {
  bool isStochastic = tileKeywordIs(op, "rounding", "stochastic");
  if (mlirTypeIsAFloat(from) && mlirTypeIsAFloat(to) && tileElementWidth(from) < tileElementWidth(to))
    return arithExtFOpName;
  if (tileHas(op, "saturate") || isStochastic)
    return NULL;
  if (mlirTypeIsAFloat(from))
    return mlirTypeIsAFloat(to) ? arithTruncFOpName : "arith.fptosi or arith.fptoui";
  if (mlirTypeIsAFloat(to))
    return "arith.sitofp or arith.uitofp";
  return tileElementWidth(from) < tileElementWidth(to) ? "arith.extsi or arith.extui" : arithTruncIOpName;
}

static bool verifyRounding(MlirOperation op, MlirType from, MlirType to) {
  MlirValue bits = tileOpOperand(op, "bits");
  bool isStochastic = tileKeywordIs(op, "rounding", "stochastic");
  if (isStochastic == mlirValueIsNull(bits))
    return tileError(op, "%s",
                     isStochastic ? "rounds stochastically without random bits, expected a tile of i32"
                                  : "has random bits, expected them for stochastic rounding only");
  return !isStochastic || (mlirTypeIsAFloat(from) && mlirTypeIsAFloat(to)) ||
         tileError(op, "rounds %s to %s stochastically, expected floats", TILE_TYPE_TEXT(from), TILE_TYPE_TEXT(to));
}

bool tileConvertTypeOpVerify(MlirOperation op) {
  MlirValue input = tileConvertTypeOpGetInput(op);
  MlirType from = tileTypeGetElement(mlirValueGetType(input)),
           to = tileTypeGetElement(tileConvertTypeOpGetResultType(op));
  if (!tileExpectShapeOf(op, "the result", tileConvertTypeOpGetResultType(op), "the input", input))
    return false;
  if (mlirTypeEqual(from, to))
    return tileError(op, "converts %s to itself", TILE_TYPE_TEXT(from));
  const char *instead = arithConversion(op, from, to);
  if (instead)
    return tileErrorWithNote(op, mlirValueGetLocation(input), "the input is defined here",
                             "converts %s to %s as %s does, expected that op instead", TILE_TYPE_TEXT(from),
                             TILE_TYPE_TEXT(to), instead);
  return verifyRounding(op, from, to);
}
