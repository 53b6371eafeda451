// Result types of an op that does not exist yet, and its effects, as its row states them.
#include "lib/ir/op_format.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"

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
