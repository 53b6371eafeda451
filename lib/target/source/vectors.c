// Ops on vectors in C, whose vectors are those of the compiler. A vector of the program with 9 lanes has 16 in C; what
// is read and written is what the program has. Conditions are integers, all bits set where they hold. See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <string.h>

static const char *textOf(SourceWriter *w, MlirValue value) { return tileSourceTextOf(w, value)->text; }

static const char *resultType(SourceWriter *w, MlirOperation op) {
  return tileSourceTypeOf(w, tileFirstResult(op), op);
}

static bool isVector(MlirValue value) { return mlirTypeIsAVector(mlirValueGetType(value)); }

// All lanes of the program's vector are lanes of C's.
static bool isWhole(MlirType type) { return tileSourceLanes(type) == tileSourceNumLanes(type); }

static int elementBits(MlirType vector) { return (int)tileMemoryBits(mlirShapedTypeGetElementType(vector)); }

//===--- making vectors -------------------------------------------------------------------------------------===//

static const char *splatText(SourceWriter *w, MlirValue vector, MlirValue scalar, MlirOperation op) {
  const char *type = tileSourceTypeOf(w, vector, op), *text = textOf(w, scalar);
  if (!type)
    return NULL;
  return tileSourceIsMask(mlirValueGetType(vector))
             ? tileArenaPrintf(&w->arena, "splat(%s, -(int)%s)", type, text)
             : tileArenaPrintf(&w->arena, "splat(%s, (%s)%s)", type, tileSourceType(w, mlirValueGetType(scalar), op),
                               text);
}

static bool writeBroadcast(SourceWriter *w, MlirOperation op) {
  MlirValue source = vectorBroadcastOpGetSource(op), result = tileOnlyResult(op);
  if (isVector(source) &&
      tileSourceNumLanes(mlirValueGetType(source)) == tileSourceNumLanes(mlirValueGetType(result))) {
    tileSourceSetText(w, result, textOf(w, source), false, false);
    return true;
  }
  const char *text = NULL;
  if (!isVector(source))
    text = splatText(w, result, source, op);
  else if (tileSourceNumLanes(mlirValueGetType(source)) == 1 && resultType(w, op))
    text = tileArenaPrintf(&w->arena, "splat(%s, %s[0])", resultType(w, op), textOf(w, source));
  return text ? tileSourceAssign(w, op, text)
              : tileError(op, "cannot be written in %s: a broadcast of several numbers", w->language->name);
}

static bool writeElements(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op), *text = "";
  bool isMask = tileSourceIsMask(tileOnlyResultType(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    text = tileArenaPrintf(&w->arena, "%s%s%s%s", text, i ? ", " : "", isMask ? "-(int)" : "",
                           textOf(w, mlirOperationGetOperand(op, i)));
  return type && tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "(%s){%s}", type, text));
}

static bool writeStep(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op), *text = "";
  for (int64_t i = 0; i < tileSourceLanes(tileOnlyResultType(op)); ++i)
    text = tileArenaPrintf(&w->arena, "%s%s%lld", text, i ? ", " : "", (long long)i);
  return type && tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "(%s){%s}", type, text));
}

// The number of the first lanes that the mask has, if it has these; null: it is any mask.
static const char *firstLanes(SourceWriter *w, MlirValue mask) {
  MlirOperation op = tileDefiningOp(mask);
  long long lanes = tileSourceNumLanes(mlirValueGetType(mask));
  int64_t known;
  if (mlirOperationIsNull(op) || (!vectorCreateMaskOpIsA(op) && !vectorConstantMaskOpIsA(op)))
    return NULL;
  if (vectorConstantMaskOpIsA(op))
    known = mlirDenseI64ArrayGetElement(tileOpAttribute(op, "mask_dim_sizes"), 0);
  else if (!tileConstantIndex(vectorCreateMaskOpGetOperands(op, 0), &known))
    return tileArenaPrintf(&w->arena, "lane_count(%s, %lld)", textOf(w, vectorCreateMaskOpGetOperands(op, 0)), lanes);
  return tileArenaPrintf(&w->arena, "%lld", known < 0 ? 0 : known > lanes ? lanes : (long long)known);
}

// Do only loads and stores of the first lanes take the mask? These name the number.
static bool isCountOnly(MlirValue mask) {
  for (MlirOpOperand use = mlirValueGetFirstUse(mask); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!vectorMaskedLoadOpIsA(user) && !vectorMaskedStoreOpIsA(user))
      return false;
  }
  return true;
}

// Lane i holds where i is below the number.
static bool writeFirstLanes(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op), *lanes = "", *count;
  MlirAttribute sizes = tileOpAttribute(op, "mask_dim_sizes");
  if (isCountOnly(tileOnlyResult(op)) && firstLanes(w, tileOnlyResult(op)))
    return true;
  if (mlirAttributeIsNull(sizes))
    count = textOf(w, vectorCreateMaskOpGetOperands(op, 0));
  else
    count = tileArenaPrintf(&w->arena, "%lld", (long long)mlirDenseI64ArrayGetElement(sizes, 0));
  for (int64_t i = 0; i < tileSourceLanes(tileOnlyResultType(op)); ++i)
    lanes = tileArenaPrintf(&w->arena, "%s%s%lld", lanes, i ? ", " : "", (long long)i);
  return type && tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "(%s){%s} < lane_limit(%s)", type, lanes, count));
}

//===--- lanes ----------------------------------------------------------------------------------------------===//

// The position of an extract or insert of a number.
static const char *positionOf(SourceWriter *w, MlirOperation op, intptr_t numFixed) {
  MlirAttribute positions = tileOpAttribute(op, "static_position");
  if (mlirDenseArrayGetNumElements(positions) == 0)
    return "0";
  int64_t position = mlirDenseI64ArrayGetElement(positions, 0);
  return mlirShapedTypeIsDynamicSize(position) ? textOf(w, mlirOperationGetOperand(op, numFixed))
                                               : tileArenaPrintf(&w->arena, "%lld", (long long)position);
}

static bool writeExtract(SourceWriter *w, MlirOperation op) {
  MlirValue source = vectorExtractOpGetSource(op);
  if (isVector(tileOnlyResult(op)))
    return tileError(op, "cannot be written in %s: a vector of vectors", w->language->name);
  const char *element = tileArenaPrintf(&w->arena, "%s[%s]", textOf(w, source), positionOf(w, op, 1));
  return tileSourceAssign(
      w, op, tileSourceIsMask(mlirValueGetType(source)) ? tileArenaPrintf(&w->arena, "%s != 0", element) : element);
}

static bool writeInsert(SourceWriter *w, MlirOperation op) {
  MlirValue value = vectorInsertOpGetValueToStore(op), result = tileOnlyResult(op);
  if (isVector(value))
    return tileError(op, "cannot be written in %s: a vector of vectors", w->language->name);
  const char *type = resultType(w, op), *dest = tileSourceMaskText(w, vectorInsertOpGetDest(op), 32);
  const char *position = positionOf(w, op, 2), *name = tileSourceNewName(w, result);
  tileSourceLine(w, "%s %s = %s;", type ? type : "", name, dest);
  tileSourceLine(w, "%s[%s] = %s%s;", name, position, tileSourceIsMask(mlirValueGetType(result)) ? "-(int)" : "",
                 textOf(w, value));
  return type != NULL;
}

// "shuffle(a, b, 0, 1, …)": the lanes by number; those of b follow those of a.
static bool writeLanes(SourceWriter *w, MlirOperation op, MlirValue a, MlirValue b, int64_t count,
                       int64_t (*lane)(MlirOperation op, int64_t i)) {
  const char *text = "";
  MlirType type = mlirValueGetType(a);
  int64_t split = tileSourceNumLanes(type), added = tileSourceLanes(type) - split;
  int bits = tileSourceIsMask(type) ? tileSourceMaskBits(tileFirstResult(op)) : 0;
  for (int64_t i = 0; i < tileSourceLanes(tileFirstResultType(op)); ++i) {
    int64_t from = i < count ? lane(op, i) : -1;
    text = tileArenaPrintf(&w->arena, "%s, %lld", text, (long long)(from >= split ? from + added : from));
  }
  return tileSourceAssign(w, op,
                          tileArenaPrintf(&w->arena, "__builtin_shufflevector(%s, %s%s)",
                                          tileSourceMaskText(w, a, bits ? bits : 0), tileSourceMaskText(w, b, bits),
                                          text));
}

static int64_t laneOfShuffle(MlirOperation op, int64_t i) {
  return mlirDenseI64ArrayGetElement(tileOpAttribute(op, "mask"), i);
}

static bool writeShuffle(SourceWriter *w, MlirOperation op) {
  return writeLanes(w, op, vectorShuffleOpGetV1(op), vectorShuffleOpGetV2(op),
                    tileSourceNumLanes(tileOnlyResultType(op)), laneOfShuffle);
}

static int64_t firstOf(MlirOperation op, const char *list) {
  return mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(tileOpAttribute(op, list), 0));
}

static int64_t laneOfSlice(MlirOperation op, int64_t i) { return firstOf(op, "offsets") + i * firstOf(op, "strides"); }

static bool writeSlice(SourceWriter *w, MlirOperation op) {
  return writeLanes(w, op, tileOnlyOperand(op), tileOnlyOperand(op), firstOf(op, "sizes"), laneOfSlice);
}

static int64_t laneOfInterleave(MlirOperation op, int64_t i) {
  return i / 2 + (i % 2 ? tileSourceNumLanes(tileFirstOperandType(op)) : 0);
}

static bool writeInterleave(SourceWriter *w, MlirOperation op) {
  return writeLanes(w, op, vectorInterleaveOpGetLhs(op), vectorInterleaveOpGetRhs(op),
                    tileSourceNumLanes(tileOnlyResultType(op)), laneOfInterleave);
}

// The bits of a vector as lanes of another type.
static bool writeBitCast(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op);
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op);
  if (tileSourceIsMask(from) || tileSourceIsMask(to) || !isWhole(from) || !isWhole(to))
    return tileError(op, "cannot be written in %s: the bits of conditions", w->language->name);
  return type && tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "(%s)%s", type, textOf(w, tileOnlyOperand(op))));
}

//===--- memory ---------------------------------------------------------------------------------------------===//

static bool writeLoad(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op),
             *element = tileSourceElement(w, op, vectorLoadOpGetBase(op), vectorLoadOpGetIndicesBegin(op));
  MlirType vector = tileOnlyResultType(op);
  if (tileSourceIsMask(vector))
    return tileError(op, "cannot be written in %s: conditions in memory", w->language->name);
  if (!type || !element)
    return false;
  return tileSourceAssign(w, op,
                          isWhole(vector) ? tileArenaPrintf(&w->arena, "load(%s, &%s)", type, element)
                                          : tileArenaPrintf(&w->arena, "load_first(%s, &%s, %lld, zero(%s))", type,
                                                            element, (long long)tileSourceNumLanes(vector), type));
}

static bool writeStore(SourceWriter *w, MlirOperation op) {
  MlirValue value = vectorStoreOpGetValueToStore(op);
  MlirType vector = mlirValueGetType(value);
  const char *type = tileSourceTypeOf(w, value, op),
             *element = tileSourceElement(w, op, vectorStoreOpGetBase(op), vectorStoreOpGetIndicesBegin(op));
  if (tileSourceIsMask(vector))
    return tileError(op, "cannot be written in %s: conditions in memory", w->language->name);
  if (!type || !element)
    return false;
  if (isWhole(vector))
    tileSourceLine(w, "store(%s, &%s, %s);", type, element, textOf(w, value));
  else
    tileSourceLine(w, "store_first(%s, &%s, %lld, %s);", type, element, (long long)tileSourceNumLanes(vector),
                   textOf(w, value));
  return true;
}

// The mask with false in the lanes that the program does not have.
static const char *wholeMask(SourceWriter *w, MlirValue mask, int bits) {
  const char *text = tileSourceMaskText(w, mask, bits);
  MlirType type = mlirValueGetType(mask);
  if (isWhole(type))
    return text;
  const char *lanes = "";
  for (int64_t i = 0; i < tileSourceLanes(type); ++i)
    lanes = tileArenaPrintf(&w->arena, "%s%s%d", lanes, i ? ", " : "", i < tileSourceNumLanes(type) ? -1 : 0);
  return tileArenaPrintf(&w->arena, "(%s & (__typeof__(%s)){%s})", text, text, lanes);
}

static bool writeMaskedLoad(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op),
             *element = tileSourceElement(w, op, vectorMaskedLoadOpGetBase(op), vectorMaskedLoadOpGetIndicesBegin(op));
  MlirValue mask = vectorMaskedLoadOpGetMask(op);
  if (!type || !element)
    return false;
  const char *count = firstLanes(w, mask), *other = textOf(w, vectorMaskedLoadOpGetPassThru(op));
  return tileSourceAssign(w, op,
                          count ? tileArenaPrintf(&w->arena, "load_first(%s, &%s, %s, %s)", type, element, count, other)
                                : tileArenaPrintf(&w->arena, "load_where(%s, &%s, %s, %s)", type, element,
                                                  wholeMask(w, mask, elementBits(tileOnlyResultType(op))), other));
}

static bool writeMaskedStore(SourceWriter *w, MlirOperation op) {
  MlirValue mask = vectorMaskedStoreOpGetMask(op), value = vectorMaskedStoreOpGetValueToStore(op);
  const char *type = tileSourceTypeOf(w, value, op), *count = firstLanes(w, mask);
  const char *element =
      tileSourceElement(w, op, vectorMaskedStoreOpGetBase(op), vectorMaskedStoreOpGetIndicesBegin(op));
  if (!type || !element)
    return false;
  if (count)
    tileSourceLine(w, "store_first(%s, &%s, %s, %s);", type, element, count, textOf(w, value));
  else
    tileSourceLine(w, "store_where(%s, &%s, %s, %s);", type, element,
                   wholeMask(w, mask, elementBits(mlirValueGetType(value))), textOf(w, value));
  return true;
}

static bool writeGather(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op),
             *element = tileSourceElement(w, op, vectorGatherOpGetBase(op), vectorGatherOpGetOffsetsBegin(op));
  if (!type || !element)
    return false;
  return tileSourceAssign(w, op,
                          tileArenaPrintf(&w->arena, "gather(%s, &%s, %s, %s, %s)", type, element,
                                          textOf(w, vectorGatherOpGetIndices(op)),
                                          wholeMask(w, vectorGatherOpGetMask(op), elementBits(tileOnlyResultType(op))),
                                          textOf(w, vectorGatherOpGetPassThru(op))));
}

static bool writeScatter(SourceWriter *w, MlirOperation op) {
  MlirValue value = vectorScatterOpGetValueToStore(op);
  const char *type = tileSourceTypeOf(w, value, op),
             *element = tileSourceElement(w, op, vectorScatterOpGetBase(op), vectorScatterOpGetOffsetsBegin(op));
  if (!type || !element || mlirOperationGetNumResults(op))
    return type && element && tileError(op, "cannot be written in %s: a scatter into a tensor", w->language->name);
  tileSourceLine(w, "scatter(%s, &%s, %s, %s, %s);", type, element, textOf(w, vectorScatterOpGetIndices(op)),
                 wholeMask(w, vectorScatterOpGetMask(op), elementBits(mlirValueGetType(value))), textOf(w, value));
  return true;
}

//===--- arithmetic -----------------------------------------------------------------------------------------===//

// How a reduction combines: the word of upstream's attribute, and that of the helpers.
typedef struct Combination {
  const char *name, *helper;
  bool isSigned;
} Combination;

static const Combination *combinationOf(MlirAttribute kind) {
  static const Combination rows[] = {
      {"add", "add", false},         {"mul", "mul", false},   {"minui", "min", false}, {"minsi", "min", true},
      {"minnumf", "minnum", false},  {"maxui", "max", false}, {"maxsi", "max", true},  {"maxnumf", "maxnum", false},
      {"and", "and", false},         {"or", "or", false},     {"xor", "xor", false},   {"maximumf", "maximum", false},
      {"minimumf", "minimum", false}};
  char text[64];
  tileAttributeText(kind, text, sizeof text);
  const char *from = strchr(text, '<');
  for (size_t i = 0; i < sizeof rows / sizeof *rows && from; ++i) {
    size_t length = strlen(rows[i].name);
    if (strncmp(from + 1, rows[i].name, length) == 0 && from[1 + length] == '>')
      return &rows[i];
  }
  return NULL;
}

static bool writeReduction(SourceWriter *w, MlirOperation op) {
  MlirValue vector = vectorReductionOpGetVector(op), start = vectorReductionOpGetAcc(op);
  MlirType type = mlirValueGetType(vector);
  const Combination *how = combinationOf(vectorReductionOpGetKind(op));
  const char *element = tileSourceType(w, mlirValueGetType(tileOnlyResult(op)), op), *text = textOf(w, vector);
  if (how && element && tileSourceIsMask(type) && mlirValueIsNull(start) &&
      (strcmp(how->helper, "and") == 0 || strcmp(how->helper, "or") == 0))
    return tileSourceAssign(w, op,
                            tileArenaPrintf(&w->arena, "%s(%lld, %s)",
                                            strcmp(how->helper, "and") == 0 ? "all_lanes" : "any_lane",
                                            (long long)tileSourceNumLanes(type), text));
  if (!how || !element || tileSourceIsMask(type))
    return element && tileError(op, "cannot be written in %s: this reduction", w->language->name);
  if (how->isSigned)
    text = tileArenaPrintf(&w->arena, "(%s)%s", tileSourceSignedType(w, type, op), text);
  text = isWhole(type) ? tileArenaPrintf(&w->arena, "(%s)reduce_%lld(pair_%s, combine_%s, %s)", element,
                                         (long long)tileSourceLanes(type), how->helper, how->helper, text)
                       : tileArenaPrintf(&w->arena, "(%s)reduce_first(combine_%s, %lld, %s)", element, how->helper,
                                         (long long)tileSourceNumLanes(type), text);
  if (!mlirValueIsNull(start))
    text = tileArenaPrintf(&w->arena, "combine_%s(%s, %s)", how->helper, textOf(w, start), text);
  return tileSourceAssign(w, op, text);
}

static bool writeFma(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op), *a = textOf(w, vectorFMAOpGetLhs(op)), *b = textOf(w, vectorFMAOpGetRhs(op));
  return type && tileSourceAssign(w, op,
                                  tileArenaPrintf(&w->arena, "lanes_fma(%s, %s, %s, %s)", type, a, b,
                                                  textOf(w, vectorFMAOpGetAcc(op))));
}

static bool isOfWidth(MlirType type, unsigned width) {
  MlirType element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  return mlirTypeIsAFloat(element) && tileElementWidth(element) == width;
}

static bool isBrain(MlirType type) {
  return mlirTypeIsABF16(mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type);
}

// Floats of 16 bits are their bits in C.
static bool writeHalfCast(SourceWriter *w, MlirOperation op) {
  MlirType from = tileOnlyOperandType(op), to = tileOnlyResultType(op);
  bool extends = arithExtFOpIsA(op);
  const char *type = resultType(w, op), *lanes = mlirTypeIsAVector(from) ? "lanes_" : "";
  if (!isOfWidth(extends ? to : from, 32) || !mlirAttributeIsNull(tileOpAttribute(op, "roundingmode")))
    return tileError(op, "cannot be written in %s: a conversion of %s to %s", w->language->name,
                     tileTypeText(from, (char[128]){0}, 128), tileTypeText(to, (char[128]){0}, 128));
  const char *name =
      extends ? (isBrain(from) ? "extend_brain" : "extend_half") : (isBrain(to) ? "round_to_brain" : "round_to_half");
  return type && tileSourceAssign(w, op,
                                  *lanes ? tileArenaPrintf(&w->arena, "%s%s(%s, %s, %s)", lanes, name, type,
                                                           tileSourceWordsType(w, from), textOf(w, tileOnlyOperand(op)))
                                         : tileArenaPrintf(&w->arena, "%s(%s)", name, textOf(w, tileOnlyOperand(op))));
}

// a > b ? a : b, and a < b ? a : b, of single floats are instructions.
static bool writeSelect(SourceWriter *w, MlirOperation op) {
  MlirValue a = arithSelectOpGetTrueValue(op), b = arithSelectOpGetFalseValue(op);
  MlirOperation compare = tileDefiningOp(arithSelectOpGetCondition(op));
  bool isGreater = arithCmpFOpGetPredicateValue(compare) == ArithCmpF_Ogt;
  return tileSourceAssign(w, op,
                          tileArenaPrintf(&w->arena, "lanes_%s(%s, %s, %s)", isGreater ? "larger" : "smaller",
                                          resultType(w, op), textOf(w, a), textOf(w, b)));
}

static bool isExtremum(MlirOperation select) {
  MlirOperation compare = tileDefiningOp(arithSelectOpGetCondition(select));
  if (!mlirTypeIsAVector(tileOnlyResultType(select)) || !isOfWidth(tileOnlyResultType(select), 32) ||
      mlirOperationIsNull(compare) || !arithCmpFOpIsA(compare))
    return false;
  ArithCmpF how = arithCmpFOpGetPredicateValue(compare);
  return (how == ArithCmpF_Ogt || how == ArithCmpF_Olt) &&
         mlirValueEqual(arithCmpFOpGetLhs(compare), arithSelectOpGetTrueValue(select)) &&
         mlirValueEqual(arithCmpFOpGetRhs(compare), arithSelectOpGetFalseValue(select));
}

// Each bit as two of the three have it: (a & b) | ((a | b) & c), as the bits of a maximum are found.
typedef struct Majority {
  MlirValue a, b, c;
} Majority;

static bool isMajority(MlirOperation op, Majority *majority) {
  enum { RegisterBits = 512 };
  MlirOperation both = tileDefiningOp(arithOrIOpGetLhs(op)), masked = tileDefiningOp(arithOrIOpGetRhs(op));
  if (!isVector(tileOnlyResult(op)) || tileSourceIsMask(tileOnlyResultType(op)) ||
      tileSourceLanes(tileOnlyResultType(op)) * elementBits(tileOnlyResultType(op)) != RegisterBits ||
      mlirOperationIsNull(both) || mlirOperationIsNull(masked) || !arithAndIOpIsA(both) || !arithAndIOpIsA(masked))
    return false;
  MlirOperation either = tileDefiningOp(arithAndIOpGetLhs(masked));
  if (mlirOperationIsNull(either) || !arithOrIOpIsA(either))
    return false;
  *majority = (Majority){arithAndIOpGetLhs(both), arithAndIOpGetRhs(both), arithAndIOpGetRhs(masked)};
  return mlirValueEqual(arithOrIOpGetLhs(either), majority->a) && mlirValueEqual(arithOrIOpGetRhs(either), majority->b);
}

static bool writeMajority(SourceWriter *w, MlirOperation op) {
  Majority of = {{NULL}, {NULL}, {NULL}};
  const char *type = resultType(w, op);
  return type && isMajority(op, &of) &&
         tileSourceAssign(w, op,
                          tileArenaPrintf(&w->arena, "lanes_majority(%s, %s, %s, %s)", type, textOf(w, of.a),
                                          textOf(w, of.b), textOf(w, of.c)));
}

// gcc 12 compares vectors that are wider than a register lane by lane.
static bool isWideComparison(MlirOperation op) {
  enum { RegisterBits = 512 };
  if (!mlirTypeIsAVector(tileOnlyResultType(op)) || tileSourceIsMask(tileFirstOperandType(op)))
    return false;
  int64_t bits = tileSourceLanes(tileFirstOperandType(op)) * elementBits(tileFirstOperandType(op));
  return bits > RegisterBits && elementBits(tileFirstOperandType(op)) >= 32 && bits % RegisterBits == 0 &&
         tileSourceMaskBits(tileOnlyResult(op)) == elementBits(tileFirstOperandType(op));
}

static bool writeComparison(SourceWriter *w, MlirOperation op) {
  static const char *const signs[] = {[ArithCmpI_Eq] = "==",  [ArithCmpI_Ne] = "!=",  [ArithCmpI_Slt] = "<",
                                      [ArithCmpI_Sle] = "<=", [ArithCmpI_Sgt] = ">",  [ArithCmpI_Sge] = ">=",
                                      [ArithCmpI_Ult] = "<",  [ArithCmpI_Ule] = "<=", [ArithCmpI_Ugt] = ">",
                                      [ArithCmpI_Uge] = ">="};
  ArithCmpI predicate = arithCmpIOpGetPredicateValue(op);
  const char *type = resultType(w, op), *a = textOf(w, arithCmpIOpGetLhs(op)), *b = textOf(w, arithCmpIOpGetRhs(op));
  bool isSigned = predicate >= ArithCmpI_Slt && predicate <= ArithCmpI_Sge;
  return type && tileSourceAssign(w, op,
                                  isSigned ? tileArenaPrintf(&w->arena, "compare_parts(%s, (%s)(%s), %s, (%s)(%s))",
                                                             type, type, a, signs[predicate], type, b)
                                           : tileArenaPrintf(&w->arena, "compare_parts(%s, %s, %s, %s)", type, a,
                                                             signs[predicate], b));
}

// The lowest bits of numbers as conditions.
static bool writeLowBits(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op);
  return type && tileSourceAssign(
                     w, op, tileArenaPrintf(&w->arena, "-(convert(%s, %s) & 1)", type, textOf(w, tileOnlyOperand(op))));
}

// Conditions as numbers: 1 or -1 where they hold.
static bool writeExtended(SourceWriter *w, MlirOperation op) {
  const char *type = resultType(w, op);
  const char *mask = tileSourceMaskText(w, tileOnlyOperand(op), elementBits(tileOnlyResultType(op)));
  return type && tileSourceAssign(
                     w, op, tileArenaPrintf(&w->arena, arithExtUIOpIsA(op) ? "(%s)(%s & 1)" : "(%s)%s", type, mask));
}

//===--- instructions ---------------------------------------------------------------------------------------===//

static bool writeIntrinsic(SourceWriter *w, MlirOperation op) {
  static const struct {
    const char *intrinsic, *helper;
  } rows[] = {
      {"llvm.x86.avx512.vpermi2var.ps.512", "choose_of_two"},
      {"llvm.x86.avx512.vpdpbusd.512", "dot_of_bytes"},
      {"llvm.x86.avx512bf16.dpbf16ps.512", "dot_of_brains"},
      {"llvm.x86.avx512.permvar.sf.512", "choose"},
  };
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(op, "intrin"));
  const char *helper = NULL, *text = "", *type = mlirOperationGetNumResults(op) ? resultType(w, op) : NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (tileStringEquals(name, rows[i].intrinsic))
      helper = rows[i].helper;
  if (!helper || !type)
    return tileError(op, "cannot be written in %s: the instruction %.*s", w->language->name, (int)name.length,
                     name.data);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    text = tileArenaPrintf(&w->arena, "%s%s%s", text, i ? ", " : "", textOf(w, mlirOperationGetOperand(op, i)));
  return tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "%s(%s)", helper, text));
}

//===--- the table ------------------------------------------------------------------------------------------===//

SourceWrite tileSourceOfVector(MlirOperation op) {
  static const struct {
    TileUpstream kind;
    SourceWrite write;
  } rows[] = {
      {VectorOp_Broadcast, writeBroadcast},
      {VectorOp_FromElements, writeElements},
      {VectorOp_Step, writeStep},
      {VectorOp_CreateMask, writeFirstLanes},
      {VectorOp_ConstantMask, writeFirstLanes},
      {VectorOp_Extract, writeExtract},
      {VectorOp_Insert, writeInsert},
      {VectorOp_Shuffle, writeShuffle},
      {VectorOp_ExtractStridedSlice, writeSlice},
      {VectorOp_Interleave, writeInterleave},
      {VectorOp_BitCast, writeBitCast},
      {VectorOp_Load, writeLoad},
      {VectorOp_Store, writeStore},
      {VectorOp_MaskedLoad, writeMaskedLoad},
      {VectorOp_MaskedStore, writeMaskedStore},
      {VectorOp_Gather, writeGather},
      {VectorOp_Scatter, writeScatter},
      {VectorOp_Reduction, writeReduction},
      {VectorOp_FMA, writeFma},
      {LlvmOp_CallIntrinsic, writeIntrinsic},
  };
  TileUpstream kind = tileUpstreamKind(op);
  bool isOfMask = mlirOperationGetNumOperands(op) && tileSourceIsMask(tileFirstOperandType(op));
  if ((kind == ArithOp_ExtF && isOfWidth(tileFirstOperandType(op), 16)) ||
      (kind == ArithOp_TruncF && isOfWidth(tileFirstResultType(op), 16)))
    return writeHalfCast;
  if (kind == ArithOp_Select && isExtremum(op))
    return writeSelect;
  if (kind == ArithOp_OrI && isMajority(op, &(Majority){{NULL}, {NULL}, {NULL}}))
    return writeMajority;
  if (kind == ArithOp_TruncI && tileSourceIsMask(tileOnlyResultType(op)) && !isOfMask)
    return writeLowBits;
  if (kind == ArithOp_CmpI && isWideComparison(op))
    return writeComparison;
  if (isOfMask && (kind == ArithOp_ExtUI || kind == ArithOp_ExtSI))
    return writeExtended;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].kind == kind)
      return rows[i].write;
  return NULL;
}
