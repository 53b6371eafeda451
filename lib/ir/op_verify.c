// What a row says of an op's types: result types of an op that does not exist yet, effects, and verification: numbers
// of operands, results and regions, their types, attributes, what must come together; then the row's own hook. Messages
// name the value seen and the value wanted.
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"

#include <stdio.h>
#include <string.h>

//===--- result types -------------------------------------------------------===//
static MlirAttribute attributeOf(const MlirExtInference *inference, const char *name) {
  return mlirDictionaryAttrGetElementByName(inference->attributes, tileString(name));
}

static void operandGroup(const MlirExtInference *inference, const TileOpSpec *spec, int group, intptr_t *begin,
                         intptr_t *count) {
  MlirAttribute sizes = {NULL};
  if (spec->operandSegments)
    sizes = attributeOf(inference, "operandSegmentSizes");
  tileSpecGroup(spec->operands, spec->numOperands, spec->looseOperand, sizes, inference->numOperands, group, begin,
                count);
}

static int countResults(const MlirExtInference *inference, const TileOpSpec *spec, const TileValueSpec *result) {
  intptr_t begin, count;
  TilePlace place = result->presence.place;
  if (result->arity == TileArity_One)
    return 1;
  if (place.kind == TilePlace_Attribute)
    return mlirAttributeIsNull(attributeOf(inference, spec->attributes[place.index].name)) == result->presence.isUnless;
  if (place.kind == TilePlace_Operand) {
    operandGroup(inference, spec, place.index, &begin, &count);
    return (count == 0) == result->presence.isUnless;
  }
  if (result->like.kind == TilePlace_Result)
    return countResults(inference, spec, &spec->results[result->like.index]);
  operandGroup(inference, spec, result->like.index, &begin, &count);
  return (int)count;
}

static MlirType typeOf(const MlirExtInference *inference, const TileOpSpec *spec, const TileValueSpec *result,
                       intptr_t item) {
  if (result->constraint && result->constraint->unique)
    return result->constraint->unique(inference->context);
  MlirType type = {NULL};
  if (result->like.kind == TilePlace_Result) {
    type = typeOf(inference, spec, &spec->results[result->like.index], item);
  } else {
    intptr_t begin, count;
    operandGroup(inference, spec, result->like.index, &begin, &count);
    item = spec->operands[result->like.index].arity == TileArity_Variadic ? item : 0;
    if (item < count)
      type = mlirValueGetType(inference->operands[begin + item]);
  }
  return mlirTypeIsNull(type) || !result->rule ? type : result->rule->derive(type);
}

static bool inferByRow(const MlirExtInference *inference, const TileOpSpec *spec, MlirExtTypeList types) {
  for (int i = 0; i < spec->numResults; ++i)
    for (int item = 0, count = countResults(inference, spec, &spec->results[i]); item < count; ++item) {
      MlirType type = typeOf(inference, spec, &spec->results[i], item);
      if (mlirTypeIsNull(type))
        return tileErrorAt(inference->location, "'%s' op: the type of result '%s' cannot be told from its operands",
                           spec->fullName, spec->results[i].name);
      mlirExtTypeListAppend(types, type);
    }
  return true;
}

//===--- what a row's own hook may rely on ----------------------------------===//
// The op was not verified yet: its hook must not meet operands and attributes that its row excludes.
static bool checkNumber(const MlirExtInference *inference, const TileOpSpec *spec) {
  intptr_t total = 0;
  for (int group = 0; group < spec->numOperands; ++group) {
    intptr_t begin, count;
    operandGroup(inference, spec, group, &begin, &count);
    TileArity arity = spec->operands[group].arity;
    if ((arity == TileArity_One && count != 1) || (arity == TileArity_Optional && count > 1))
      return tileErrorAt(inference->location, "'%s' op: operand '%s' is there %d times", spec->fullName,
                         spec->operands[group].name, (int)count);
    total += count;
  }
  return total == inference->numOperands || tileErrorAt(inference->location, "'%s' op expects %d operands, but got %d",
                                                        spec->fullName, (int)total, (int)inference->numOperands);
}

static bool checkTypes(const MlirExtInference *inference, const TileOpSpec *spec, int group) {
  const TileValueSpec *value = &spec->operands[group];
  intptr_t begin, count;
  operandGroup(inference, spec, group, &begin, &count);
  for (intptr_t i = begin; value->constraint && value->constraint->isMet && i < begin + count; ++i) {
    char text[256];
    MlirType type = mlirValueGetType(inference->operands[i]);
    if (!value->constraint->isMet(type))
      return tileErrorAt(inference->location, "'%s' op operand #%d ('%s') must be %s, but got '%s'", spec->fullName,
                         (int)i, value->name, value->constraint->description, tileTypeText(type, text, sizeof text));
  }
  return true;
}

static bool checkAttribute(const MlirExtInference *inference, const TileOpSpec *spec,
                           const TileAttributeSpec *attribute) {
  MlirAttribute value = attributeOf(inference, attribute->name);
  bool isThere = !mlirAttributeIsNull(value);
  if (isThere ? tileSpecIsMet(attribute->kind, value) : attribute->isOptional)
    return true;
  return tileErrorAt(inference->location, "'%s' op %s attribute '%s'", spec->fullName,
                     isThere ? "has a wrong kind of" : "requires", attribute->name);
}

static bool checkInputs(const MlirExtInference *inference, const TileOpSpec *spec) {
  if (!checkNumber(inference, spec))
    return false;
  for (int i = 0; i < spec->numOperands; ++i)
    if (!checkTypes(inference, spec, i))
      return false;
  for (int i = 0; i < spec->numAttributes; ++i)
    if (!checkAttribute(inference, spec, &spec->attributes[i]))
      return false;
  return true;
}

bool tileTableInferTypes(const MlirExtInference *inference, MlirExtTypeList types) {
  const TileOpSpec *spec = inference->definition->data;
  if (!spec->row->hooks.inferTypes)
    return inferByRow(inference, spec, types);
  return checkInputs(inference, spec) && spec->row->hooks.inferTypes(inference, types);
}

//===--- effects ------------------------------------------------------------===//
static void addEffects(const TileOpSpec *spec, MlirOperation op, MlirExtEffects effects, const TileEffectSpec *effect) {
  intptr_t begin, count;
  bool isOperand = effect->place.kind == TilePlace_Operand;
  (isOperand ? tileSpecOperandGroup : tileSpecResultGroup)(spec, op, effect->place.index, &begin, &count);
  for (intptr_t i = begin; i < begin + count; ++i)
    mlirExtEffectsAdd(effects, op, effect->effect, isOperand ? i : -1, isOperand ? -1 : i);
}

void tileTableEffects(MlirOperation op, MlirExtEffects effects) {
  const TileOpSpec *spec = mlirExtOperationGetDefinition(op)->data;
  for (int i = 0; i < spec->numEffects; ++i)
    if (spec->effects[i].resource != MlirExtResource_Memory)
      mlirExtEffectsAddOn(effects, spec->effects[i].effect, spec->effects[i].resource);
    else if (spec->effects[i].place.kind == TilePlace_None)
      mlirExtEffectsAdd(effects, op, spec->effects[i].effect, -1, -1);
    else
      addEffects(spec, op, effects, &spec->effects[i]);
}

//===--- verification ---------------------------------------------------------===//

// Verifying an op by its row: numbers of operands, results and regions, their types, attributes, what must come
// together; then the row's own hook. Messages name the value seen and the value wanted.

enum { TextSize = 256 };

typedef struct Side {
  const TileOpSpec *spec;
  const char *what, *segmentName; // "operand", "operandSegmentSizes"
  const TileValueSpec *values;
  int count, loose;
  bool hasSegments, isOperand;
} Side;

static Side sideOf(const TileOpSpec *spec, bool isOperand) {
  return isOperand ? (Side){spec,
                            "operand",
                            "operandSegmentSizes",
                            spec->operands,
                            spec->numOperands,
                            spec->looseOperand,
                            spec->operandSegments,
                            true}
                   : (Side){spec,
                            "result",
                            "resultSegmentSizes",
                            spec->results,
                            spec->numResults,
                            spec->looseResult,
                            spec->resultSegments,
                            false};
}

static intptr_t totalOf(MlirOperation op, const Side *side) {
  return side->isOperand ? mlirOperationGetNumOperands(op) : mlirOperationGetNumResults(op);
}

static MlirType typeAt(MlirOperation op, const Side *side, intptr_t index) {
  return side->isOperand ? tileOperandType(op, index) : tileResultType(op, index);
}

static void groupOf(MlirOperation op, const Side *side, int group, intptr_t *begin, intptr_t *count) {
  (side->isOperand ? tileSpecOperandGroup : tileSpecResultGroup)(side->spec, op, group, begin, count);
}

//===--- numbers ------------------------------------------------------------===//
static bool verifySegments(MlirOperation op, const Side *side) {
  MlirAttribute sizes = mlirOperationGetInherentAttributeByName(op, tileString(side->segmentName));
  if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes) ||
      mlirDenseArrayGetNumElements(sizes) != side->count)
    return tileError(op, "requires attribute '%s' with %d entries", side->segmentName, side->count);
  for (int i = 0; i < side->count; ++i) {
    int32_t size = mlirDenseI32ArrayGetElement(sizes, i);
    TileArity arity = side->values[i].arity;
    if (size < 0 || (arity == TileArity_One && size != 1) || (arity == TileArity_Optional && size > 1))
      return tileError(op, "expects %s for %s '%s', but '%s' says %d",
                       arity == TileArity_One ? "1 value" : "0 or 1 values", side->what, side->values[i].name,
                       side->segmentName, size);
  }
  return true;
}

static bool verifyNumber(MlirOperation op, const Side *side) {
  intptr_t total = totalOf(op, side);
  if (side->hasSegments)
    return verifySegments(op, side);
  TileArity arity = side->loose < 0 ? TileArity_One : side->values[side->loose].arity;
  int least = side->count - (side->loose >= 0);
  if (arity == TileArity_One && total != least)
    return tileError(op, "expects %d %s%s, but got %d", least, side->what, least == 1 ? "" : "s", (int)total);
  if (total < least)
    return tileError(op, "expects at least %d %s%s, but got %d", least, side->what, least == 1 ? "" : "s", (int)total);
  if (arity == TileArity_Optional && total > least + 1)
    return tileError(op, "expects at most %d %s%s, but got %d", least + 1, side->what, least == 0 ? "" : "s",
                     (int)total);
  return true;
}

static bool verifyBlocks(MlirOperation op, const TileOpSpec *spec) {
  for (intptr_t i = 0; i < spec->numRegions; ++i)
    if (spec->regions[i].arity == TileArity_One &&
        mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i))))
      return tileError(op, "region '%s' is empty, expected a block", spec->regions[i].name);
  return true;
}

static bool verifyRegionNumber(MlirOperation op, const TileOpSpec *spec) {
  intptr_t total = mlirOperationGetNumRegions(op);
  bool variadic = spec->numRegions && spec->regions[spec->numRegions - 1].arity == TileArity_Variadic;
  intptr_t least = spec->numRegions - variadic;
  if (total == least || (variadic && total > least))
    return verifyBlocks(op, spec);
  return tileError(op, "expects %s%d region%s, but got %d", variadic ? "at least " : "", (int)least,
                   least == 1 ? "" : "s", (int)total);
}

//===--- types --------------------------------------------------------------===//
static bool verifyConstraint(MlirOperation op, const Side *side, const TileValueSpec *value, intptr_t index) {
  const TileConstraint *constraint = value->constraint;
  MlirType type = typeAt(op, side, index);
  if (!constraint || !constraint->isMet || constraint->isMet(type))
    return true;
  char text[TextSize];
  return tileError(op, "%s #%d ('%s') must be %s, but got '%s'", side->what, (int)index, value->name,
                   constraint->description, tileTypeText(type, text, sizeof text));
}

// `like`, `as`: the type that the other value's gives.
static bool verifyLike(MlirOperation op, const TileOpSpec *spec, const Side *side, const TileValueSpec *value,
                       intptr_t index, intptr_t item) {
  Side otherSide = sideOf(spec, value->like.kind == TilePlace_Operand);
  const TileValueSpec *other = &otherSide.values[value->like.index];
  intptr_t begin, count;
  groupOf(op, &otherSide, value->like.index, &begin, &count);
  item = other->arity == TileArity_Variadic ? item : 0;
  if (item >= count)
    return tileError(op, "has %s '%s' without the %s '%s' whose type it follows", side->what, value->name,
                     otherSide.what, other->name);
  MlirType from = typeAt(op, &otherSide, begin + item), seen = typeAt(op, side, index);
  MlirType wanted = value->rule ? value->rule->derive(from) : from;
  if (mlirTypeEqual(seen, wanted))
    return true;
  char seenText[TextSize], wantedText[TextSize];
  if (mlirTypeIsNull(wanted))
    return tileError(op, "'%s' has type '%s', from which the type of %s '%s' cannot be derived", other->name,
                     tileTypeText(from, wantedText, sizeof wantedText), side->what, value->name);
  return tileError(op, "%s #%d ('%s') must have type '%s' because of '%s', but got '%s'", side->what, (int)index,
                   value->name, tileTypeText(wanted, wantedText, sizeof wantedText), other->name,
                   tileTypeText(seen, seenText, sizeof seenText));
}

static bool verifyGroup(MlirOperation op, const TileOpSpec *spec, const Side *side, int group) {
  const TileValueSpec *value = &side->values[group];
  intptr_t begin, count;
  groupOf(op, side, group, &begin, &count);
  for (intptr_t i = 0; i < count; ++i)
    if (!verifyConstraint(op, side, value, begin + i))
      return false;
  for (intptr_t i = 0; value->like.kind != TilePlace_None && i < count; ++i)
    if (!verifyLike(op, spec, side, value, begin + i, i))
      return false;
  return true;
}

// A variadic that follows another has as many values.
static bool verifyLikeNumber(MlirOperation op, const TileOpSpec *spec, const Side *side, int group) {
  const TileValueSpec *value = &side->values[group];
  if (value->arity != TileArity_Variadic || value->like.kind == TilePlace_None)
    return true;
  Side otherSide = sideOf(spec, value->like.kind == TilePlace_Operand);
  const TileValueSpec *other = &otherSide.values[value->like.index];
  intptr_t begin, count, otherCount;
  groupOf(op, side, group, &begin, &count);
  groupOf(op, &otherSide, value->like.index, &begin, &otherCount);
  return other->arity != TileArity_Variadic || count == otherCount ||
         tileError(op, "has %d values for %s '%s', but %d for '%s'", (int)count, side->what, value->name,
                   (int)otherCount, other->name);
}

static bool verifyTypes(MlirOperation op, const TileOpSpec *spec, bool isOperand) {
  Side side = sideOf(spec, isOperand);
  for (int group = 0; group < side.count; ++group)
    if (!verifyLikeNumber(op, spec, &side, group) || !verifyGroup(op, spec, &side, group))
      return false;
  return true;
}

//===--- attributes ---------------------------------------------------------===//
static const char *describe(const TileAttributeKind *kind, tessera_list_t *list) {
  return kind->keywords ? tileListNames(kind->keywords, list) : kind->description;
}

// A choice among several words is "one of" them.
static const char *leadOf(const TileAttributeKind *kind) {
  return kind->keywords && kind->keywords[1] ? "one of " : "";
}

static bool verifyAttribute(MlirOperation op, const TileAttributeSpec *attribute) {
  TESSERA_LIST(wanted);
  char seen[TextSize];
  MlirAttribute value = tileSpecAttribute(attribute, op);
  if (mlirAttributeIsNull(value))
    return attribute->isOptional || tileError(op, "requires attribute '%s' (%s%s)", attribute->name,
                                              leadOf(attribute->kind), describe(attribute->kind, &wanted));
  return tileSpecIsMet(attribute->kind, value) ||
         tileError(op, "attribute '%s' must be %s%s, but got %s", attribute->name, leadOf(attribute->kind),
                   describe(attribute->kind, &wanted), tileAttributeText(value, seen, sizeof seen));
}

static bool verifyAttributes(MlirOperation op, const TileOpSpec *spec) {
  for (int i = 0; i < spec->numAttributes; ++i)
    if (!verifyAttribute(op, &spec->attributes[i]))
      return false;
  return true;
}

//===--- what must come together --------------------------------------------===//
static bool isPresent(MlirOperation op, const TileOpSpec *spec, TilePlace place) {
  if (place.kind == TilePlace_Attribute)
    return !mlirAttributeIsNull(tileSpecAttribute(&spec->attributes[place.index], op));
  intptr_t begin, count;
  (place.kind == TilePlace_Operand ? tileSpecOperandGroup : tileSpecResultGroup)(spec, op, place.index, &begin, &count);
  return count > 0;
}

static const char *nameOf(const TileOpSpec *spec, TilePlace place) {
  return place.kind == TilePlace_Attribute ? spec->attributes[place.index].name
         : place.kind == TilePlace_Operand ? spec->operands[place.index].name
                                           : spec->results[place.index].name;
}

static bool verifyPresence(MlirOperation op, const TileOpSpec *spec, TilePlace place, const TilePresence *presence) {
  if (presence->place.kind == TilePlace_None)
    return true;
  bool seen = isPresent(op, spec, place), other = isPresent(op, spec, presence->place);
  if (seen == (other != presence->isUnless))
    return true;
  return tileError(op, "expects '%s' exactly when '%s' is %s", nameOf(spec, place), nameOf(spec, presence->place),
                   presence->isUnless ? "absent" : "present");
}

static bool verifyPresences(MlirOperation op, const TileOpSpec *spec) {
  for (int i = 0; i < spec->numOperands; ++i)
    if (!verifyPresence(op, spec, (TilePlace){TilePlace_Operand, i}, &spec->operands[i].presence))
      return false;
  for (int i = 0; i < spec->numResults; ++i)
    if (!verifyPresence(op, spec, (TilePlace){TilePlace_Result, i}, &spec->results[i].presence))
      return false;
  for (int i = 0; i < spec->numAttributes; ++i)
    if (!verifyPresence(op, spec, (TilePlace){TilePlace_Attribute, i}, &spec->attributes[i].presence))
      return false;
  return true;
}

bool tileTableVerify(MlirOperation op) {
  const TileOpSpec *spec = mlirExtOperationGetDefinition(op)->data;
  Side operands = sideOf(spec, true), results = sideOf(spec, false);
  return verifyNumber(op, &operands) && verifyNumber(op, &results) && verifyRegionNumber(op, spec) &&
         verifyAttributes(op, spec) && verifyTypes(op, spec, true) && verifyTypes(op, spec, false) &&
         (!spec->hasPresences || verifyPresences(op, spec)) &&
         (!spec->row->hooks.verify || spec->row->hooks.verify(op));
}
