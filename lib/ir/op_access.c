// An op's operands, results and attributes by their place in the row: what the parser, printer, verifier, directives
// and the generated accessors share. Then what a pass may ask of any op (op_query.h): rows answer for ops of our
// tables, interfaces and traits for the rest.
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_dialect.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "mlir-c/Dialect/Linalg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const TileOpSpec *tileSpecOf(MlirOperation op) {
  const MlirExtOpDefinition *definition = mlirOperationIsNull(op) ? NULL : mlirExtOperationGetDefinition(op);
  return definition && definition->hooks.verify == tileTableVerify ? definition->data : NULL;
}

intptr_t tileOpRowIndex(MlirOperation op, const char *dialect) {
  const TileOpSpec *spec = tileSpecOf(op);
  return spec && (spec->table->name == dialect || !strcmp(spec->table->name, dialect)) ? spec->rowIndex : -1;
}

//===--- groups of values ---------------------------------------------------===//
static intptr_t clamp(intptr_t value, intptr_t high) { return value < 0 ? 0 : value > high ? high : value; }

// Also called on ops not yet verified: never leaves [0, total).
void tileSpecGroup(const TileValueSpec *values, int numGroups, int loose, MlirAttribute sizes, intptr_t total,
                   intptr_t group, intptr_t *begin, intptr_t *count) {
  if (!mlirAttributeIsNull(sizes)) {
    *begin = *count = 0;
    bool fits = mlirAttributeIsADenseI32Array(sizes) && mlirDenseArrayGetNumElements(sizes) == numGroups;
    for (intptr_t i = 0; fits && i <= group; ++i) {
      *begin += *count;
      *count = mlirDenseI32ArrayGetElement(sizes, i);
    }
  } else if (loose < 0 || group < loose) {
    *begin = group;
    *count = 1;
  } else {
    *begin = group == loose ? group : total - (numGroups - group);
    *count = group == loose ? total - (numGroups - 1) : 1;
  }
  *begin = clamp(*begin, total);
  *count = clamp(*count, total - *begin);
}

// Segment sizes stand behind the row's attributes, those of operands first.
static MlirAttribute segments(MlirOperation op, bool has, intptr_t slot) {
  return has ? mlirExtOperationGetInherentAttributeAt(op, slot) : (MlirAttribute){NULL};
}

// Groups of one value with no loose one before them, as nearly all are.
static bool isOneValue(intptr_t loose, bool hasSegments, intptr_t group) {
  return !hasSegments && (loose < 0 || group < loose);
}
static void oneValue(intptr_t total, intptr_t group, intptr_t *begin, intptr_t *count) {
  *begin = group < total ? group : total;
  *count = group < total;
}

void tileSpecOperandGroup(const TileOpSpec *spec, MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count) {
  if (isOneValue(spec->looseOperand, spec->operandSegments, group))
    return oneValue(mlirOperationGetNumOperands(op), group, begin, count);
  tileSpecGroup(spec->operands, spec->numOperands, spec->looseOperand,
                segments(op, spec->operandSegments, spec->numAttributes), mlirOperationGetNumOperands(op), group, begin,
                count);
}

void tileSpecResultGroup(const TileOpSpec *spec, MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count) {
  if (isOneValue(spec->looseResult, spec->resultSegments, group))
    return oneValue(mlirOperationGetNumResults(op), group, begin, count);
  tileSpecGroup(spec->results, spec->numResults, spec->looseResult,
                segments(op, spec->resultSegments, spec->numAttributes + spec->operandSegments),
                mlirOperationGetNumResults(op), group, begin, count);
}

void tileOpOperandGroup(MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count) {
  tileSpecOperandGroup(tileSpecOf(op), op, group, begin, count);
}

void tileOpResultGroup(MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count) {
  tileSpecResultGroup(tileSpecOf(op), op, group, begin, count);
}

void tileOpOperands(MlirOperation op, const char *name, intptr_t *begin, intptr_t *count) {
  const TileOpSpec *spec = tileSpecOf(op);
  int group = tileSpecFindValue(spec->operands, spec->numOperands, name);
  assert(group >= 0 && "no operand of that name");
  tileSpecOperandGroup(spec, op, group, begin, count);
}

void tileOpResults(MlirOperation op, const char *name, intptr_t *begin, intptr_t *count) {
  const TileOpSpec *spec = tileSpecOf(op);
  int group = tileSpecFindValue(spec->results, spec->numResults, name);
  assert(group >= 0 && "no result of that name");
  tileSpecResultGroup(spec, op, group, begin, count);
}

MlirValue tileOpOperand(MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpOperands(op, name, &begin, &count);
  return count ? mlirOperationGetOperand(op, begin) : (MlirValue){NULL};
}

MlirValue tileOpResult(MlirOperation op, const char *name) {
  intptr_t begin, count;
  tileOpResults(op, name, &begin, &count);
  return count ? mlirOperationGetResult(op, begin) : (MlirValue){NULL};
}

void tileAddOperandSegments(MlirExtOpState state, MlirContext context, intptr_t count, const int32_t *sizes) {
  mlirExtOpStateAddAttribute(state, tileOperandSegmentsName, mlirDenseI32ArrayGet(context, count, sizes));
}

// The operands of one name become `count` values, 0 or 1; all others stay.
static void setOperands(MlirOperation op, const char *name, intptr_t count, MlirValue value) {
  const TileOpSpec *spec = tileSpecOf(op);
  int set = tileSpecFindValue(spec->operands, spec->numOperands, name);
  intptr_t total = mlirOperationGetNumOperands(op), kept = 0, begin, seen;
  MlirValue *operands = malloc(sizeof *operands * (size_t)(total + 1));
  int32_t sizes[TileMaxValues];
  for (int group = 0; group < spec->numOperands; ++group) {
    tileSpecOperandGroup(spec, op, group, &begin, &seen);
    sizes[group] = (int32_t)(group == set ? count : seen);
    for (intptr_t i = 0; i < sizes[group]; ++i)
      operands[kept++] = group == set ? value : mlirOperationGetOperand(op, begin + i);
  }
  mlirOperationSetOperands(op, kept, operands);
  if (spec->operandSegments)
    mlirOperationSetInherentAttributeByName(
        op, tileString("operandSegmentSizes"),
        mlirDenseI32ArrayGet(mlirOperationGetContext(op), spec->numOperands, sizes));
  free(operands);
}

void tileOpDropOperands(MlirOperation op, const char *name) { setOperands(op, name, 0, (MlirValue){NULL}); }

void tileOpGiveOperand(MlirOperation op, const char *name, MlirValue value) { setOperands(op, name, 1, value); }

//===--- attributes and their kinds -----------------------------------------===//
MlirAttribute tileSpecAttribute(const TileAttributeSpec *attribute, MlirOperation op) {
  return mlirExtOperationGetInherentAttributeAt(op, attribute->slot);
}

bool tileSpecIsMet(const TileAttributeKind *kind, MlirAttribute attribute) {
  if (!kind->keywords)
    return !kind->isMet || kind->isMet(attribute);
  if (!mlirAttributeIsAString(attribute))
    return false;
  for (const char *const *keyword = kind->keywords; *keyword; ++keyword)
    if (tileStringEquals(mlirStringAttrGetValue(attribute), *keyword))
      return true;
  return false;
}

static bool parseKeywords(const TileAttributeKind *kind, MlirExtParser parser, MlirAttribute *attribute) {
  for (const char *const *keyword = kind->keywords; *keyword; ++keyword)
    if (mlirExtParserParseOptionalToken(parser, *keyword)) {
      *attribute = mlirStringAttrGet(mlirExtParserGetContext(parser), tileString(*keyword));
      return true;
    }
  TESSERA_LIST(list);
  return tileParseFail(parser, mlirExtParserGetLocation(parser), "expected one of %s",
                       tileListNames(kind->keywords, &list));
}

bool tileSpecParseKind(const TileAttributeKind *kind, MlirExtParser parser, MlirAttribute *attribute) {
  if (kind->keywords)
    return parseKeywords(kind, parser, attribute);
  return kind->parse ? kind->parse(parser, attribute)
                     : mlirExtParserParseAttribute(parser, (MlirType){NULL}, attribute);
}

void tileSpecPrintKind(const TileAttributeKind *kind, MlirExtPrinter printer, MlirAttribute attribute) {
  if (kind->keywords && mlirAttributeIsAString(attribute))
    mlirExtPrinterPrint(printer, mlirStringAttrGetValue(attribute));
  else if (kind->print && tileSpecIsMet(kind, attribute))
    kind->print(printer, attribute);
  else
    mlirExtPrinterPrintAttribute(printer, attribute);
}

//===--- defaults -----------------------------------------------------------===//
// The short form's text without quotes.
static MlirStringRef unquoted(const char *text) {
  size_t length = strlen(text);
  bool quoted = length >= 2 && text[0] == '"' && text[length - 1] == '"';
  return quoted ? mlirStringRefCreate(text + 1, length - 2) : mlirStringRefCreate(text, length);
}

// `[1, 2]`. Asked for whenever an op is printed, so it goes without upstream's parser.
static intptr_t readNumbers(const char *text, int64_t *numbers, intptr_t capacity) {
  intptr_t count = 0;
  for (char *end; *text && count < capacity; text = end) {
    numbers[count] = strtoll(text, &end, 0);
    count += end != text;
    end += end == text; // a bracket or a comma
  }
  return count;
}

static MlirAttribute parseArray(bool narrow, const char *text, MlirContext context) {
  enum { MaxNumbers = 64 };
  int64_t numbers[MaxNumbers];
  int32_t narrowed[MaxNumbers];
  intptr_t count = readNumbers(text, numbers, MaxNumbers);
  for (intptr_t i = 0; i < count; ++i)
    narrowed[i] = (int32_t)numbers[i];
  return narrow ? mlirDenseI32ArrayGet(context, count, narrowed) : mlirDenseI64ArrayGet(context, count, numbers);
}

MlirAttribute tileSpecDefault(const TileAttributeSpec *attribute, MlirContext context) {
  const char *text = attribute->defaultText, *kind = attribute->kindName;
  if (!text)
    return (MlirAttribute){NULL};
  if (attribute->kind->keywords || !strcmp(kind, "string") || !strcmp(kind, "keyword") || !strcmp(kind, "symbol name"))
    return mlirStringAttrGet(context, unquoted(text));
  if (!strcmp(kind, "bool"))
    return mlirBoolAttrGet(context, !strcmp(text, "true"));
  if (!strcmp(kind, "i32") || !strcmp(kind, "i64"))
    return mlirIntegerAttrGet(mlirIntegerTypeGet(context, kind[1] == '3' ? 32 : 64), strtoll(text, NULL, 0));
  if (!strcmp(kind, "index"))
    return mlirIntegerAttrGet(mlirIndexTypeGet(context), strtoll(text, NULL, 0));
  if (!strcmp(kind, "f32") || !strcmp(kind, "f64"))
    return mlirFloatAttrDoubleGet(context, kind[1] == '3' ? mlirF32TypeGet(context) : mlirF64TypeGet(context),
                                  strtod(text, NULL));
  if (!strcmp(kind, "i64 array") || !strcmp(kind, "i32 array"))
    return parseArray(kind[1] == '3', text, context);
  return mlirAttributeParseGet(context, tileString(text));
}

MlirAttribute tileOpAttributeAt(MlirOperation op, intptr_t index) {
  const TileAttributeSpec *attribute = &tileSpecOf(op)->attributes[index];
  MlirAttribute value = tileSpecAttribute(attribute, op);
  return mlirAttributeIsNull(value) ? tileSpecDefault(attribute, mlirOperationGetContext(op)) : value;
}

//===--- questions of passes --------------------------------------------------===//

// What a pass may ask of any op (op_query.h). Rows answer for ops of our tables, interfaces and traits for the rest.

//===--- memory effects -----------------------------------------------------===//
typedef struct Visit {
  MlirOperation op;
  TileEffectVisitor visit;
  void *data;
} Visit;

static void visitOne(MlirExtEffect kind, MlirExtResource resource, MlirValue value, void *data) {
  const Visit *visit = data;
  visit->visit(visit->op, (TileEffect){.kind = kind, .resource = resource, .value = value}, visit->data);
}

void tileOpVisitEffects(MlirOperation op, TileEffectVisitor visit, void *data) {
  Visit one = {op, visit, data};
  if (mlirExtOperationVisitEffects(op, visitOne, &one))
    return;
  visit(op, (TileEffect){.kind = MlirExtEffect_Read, .isUnknown = true}, data);
  visit(op, (TileEffect){.kind = MlirExtEffect_Write, .isUnknown = true}, data);
}

static MlirWalkResult visitNested(MlirOperation op, void *data) {
  const Visit *visit = data;
  tileOpVisitEffects(op, visit->visit, visit->data);
  return MlirWalkResultAdvance;
}

void tileOpVisitAllEffects(MlirOperation op, TileEffectVisitor visit, void *data) {
  Visit all = {op, visit, data};
  if (mlirExtOperationHasRecursiveEffects(op))
    mlirOperationWalk(op, visitNested, &all, MlirWalkPreOrder);
  else
    tileOpVisitEffects(op, visit, data);
}

// Which of the questions below hold. `memory` null: any.
typedef struct Answers {
  MlirValue memory;
  bool any, reads, writes, others;
} Answers;

static bool concerns(const Answers *answers, TileEffect effect) {
  return effect.resource == MlirExtResource_Memory &&
         (mlirValueIsNull(answers->memory) || mlirValueIsNull(effect.value) ||
          mlirValueEqual(tileMemoryRoot(effect.value), answers->memory));
}

static void answer(MlirOperation op, TileEffect effect, void *data) {
  Answers *answers = data;
  bool isRead = effect.kind == MlirExtEffect_Read;
  answers->any = true;
  answers->others |= !isRead || effect.resource != MlirExtResource_Memory;
  if (!concerns(answers, effect))
    return;
  answers->reads |= isRead;
  answers->writes |= effect.kind == MlirExtEffect_Write || effect.kind == MlirExtEffect_Free;
}

static Answers answersOf(MlirOperation op, MlirValue memory) {
  Answers answers = {.memory = mlirValueIsNull(memory) ? memory : tileMemoryRoot(memory)};
  tileOpVisitAllEffects(op, answer, &answers);
  return answers;
}

bool tileOpHasEffects(MlirOperation op) { return answersOf(op, (MlirValue){NULL}).any; }
bool tileOpReads(MlirOperation op, MlirValue memory) { return answersOf(op, memory).reads; }
bool tileOpWrites(MlirOperation op, MlirValue memory) { return answersOf(op, memory).writes; }
bool tileOpOnlyReads(MlirOperation op) { return !answersOf(op, (MlirValue){NULL}).others; }

//===--- which memory -------------------------------------------------------===//
MlirValue tileOpViewedMemory(MlirOperation op) {
  const TileOpSpec *spec = tileSpecOf(op);
  if (!spec || spec->sameMemory < 0)
    return mlirExtOperationGetViewSource(op);
  intptr_t begin, count;
  tileSpecOperandGroup(spec, op, spec->sameMemory, &begin, &count);
  return count ? mlirOperationGetOperand(op, begin) : (MlirValue){NULL};
}

MlirValue tileMemoryRoot(MlirValue memory) {
  for (;;) {
    MlirOperation op = tileDefiningOp(memory);
    MlirValue viewed = mlirOperationIsNull(op) ? (MlirValue){NULL} : tileOpViewedMemory(op);
    if (mlirValueIsNull(viewed))
      return memory;
    memory = viewed;
  }
}

//===--- properties ---------------------------------------------------------===//
bool tileOpHasProperty(MlirOperation op, TileProperty property) {
  const TileOpSpec *spec = tileSpecOf(op);
  return (spec ? spec->properties : tileUpstreamProperties(tileUpstreamKind(op))) & property;
}

bool tileOpIsElementwise(MlirOperation op) {
  return tileOpHasProperty(op, TileProperty_Elementwise) || mlirExtOperationIsElementwise(op);
}
bool tileOpMovesElements(MlirOperation op) { return tileOpHasProperty(op, TileProperty_MovesElements); }
bool tileOpDividesIntegers(MlirOperation op) { return tileOpHasProperty(op, TileProperty_DividesIntegers); }
bool tileOpIsFunction(MlirOperation op) { return tileOpHasProperty(op, TileProperty_Function); }
bool tileOpIsStructured(MlirOperation op) {
  return mlirOperationGetNumRegions(op) == 1 && !mlirAttributeIsNull(mlirLinalgGetIndexingMapsAttribute(op));
}
bool tileOpExchangesElements(MlirOperation op) { return tileOpHasProperty(op, TileProperty_ExchangesElements); }
