// Step 2 of compiling a row: names of constraints, kinds, rules and directives become pointers into the dialect's and
// the builtin tables; an op whose types cannot all be known after parsing is refused.
#include "lib/ir/op_spec.h"
#include <string.h>

//===--- names to pointers --------------------------------------------------===//
#define FIND_BY_NAME(tables)                                                                                           \
  for (int i = 0; i < 2; ++i)                                                                                          \
    for (; tables[i] && tables[i]->name; ++tables[i])                                                                  \
      if (!strcmp(tables[i]->name, name))                                                                              \
        return tables[i];                                                                                              \
  return NULL;

// The dialect's own come first: it may say more about a builtin name.
static const TileConstraint *findConstraint(const TileDialectTable *table, const char *name) {
  const TileConstraint *tables[] = {table->constraints, tileBuiltinConstraints};
  FIND_BY_NAME(tables)
}
static const TileAttributeKind *findKind(const TileDialectTable *table, const char *name) {
  const TileAttributeKind *tables[] = {table->kinds, tileBuiltinKinds};
  FIND_BY_NAME(tables)
}
static const TileTypeRule *findRule(const TileDialectTable *table, const char *name) {
  const TileTypeRule *tables[] = {table->rules, tileBuiltinRules};
  FIND_BY_NAME(tables)
}
static const TileDirective *findDirective(const TileDialectTable *table, const char *name) {
  const TileDirective *tables[] = {table->directives, NULL};
  FIND_BY_NAME(tables)
}

static bool resolveValue(const TileOpSpec *spec, const char *column, TileValueSpec *value, const TileSpecError *error) {
  if (value->constraintName && !(value->constraint = findConstraint(spec->table, value->constraintName)))
    return tileSpecError(error, spec, column, "'%s' has the unknown constraint '%s'", value->name,
                         value->constraintName);
  if (value->ruleName && !(value->rule = findRule(spec->table, value->ruleName)))
    return tileSpecError(error, spec, column, "'%s' follows the unknown rule '%s'", value->name, value->ruleName);
  return true;
}

static bool resolveAttribute(const TileOpSpec *spec, TileAttributeSpec *attribute, const TileSpecError *error) {
  attribute->kind = findKind(spec->table, attribute->kindName);
  return attribute->kind || tileSpecError(error, spec, "attributes", "'%s' has the unknown kind '%s'", attribute->name,
                                          attribute->kindName);
}

// custom<MixedSizes>($dynamic, $static): a variadic operand and an i64 array.
static bool checkMixedSizes(const TileOpSpec *spec, const TileElement *element, const TileSpecError *error) {
  const TilePlace *arguments = element->arguments;
  bool fits = element->numArguments == 2 && arguments[0].kind == TilePlace_Operand &&
              spec->operands[arguments[0].index].arity == TileArity_Variadic &&
              arguments[1].kind == TilePlace_Attribute &&
              !strcmp(spec->attributes[arguments[1].index].kindName, "i64 array");
  return fits || tileSpecError(error, spec, "format", "custom<MixedSizes> takes a variadic operand and an i64 array");
}

static bool resolveElement(const TileOpSpec *spec, TileElement *element, const TileSpecError *error) {
  if (element->kind != TileElement_Custom)
    return true;
  element->directive = findDirective(spec->table, element->text);
  if (element->directive)
    return true;
  if (!strcmp(element->text, "MixedSizes"))
    return checkMixedSizes(spec, element, error);
  return tileSpecError(error, spec, "format", "unknown directive '%s'", element->text);
}

//===--- can every type be known? -------------------------------------------===//
static const TileValueSpec *valueAt(const TileOpSpec *spec, TilePlace place) {
  return &(place.kind == TilePlace_Operand ? spec->operands : spec->results)[place.index];
}

// Follows `like` and `as` from a value to one whose type is given. Chains longer than there are values go in circles.
static bool typeIsKnown(const TileOpSpec *spec, const TileValueSpec *value) {
  for (int steps = spec->numOperands + spec->numResults; steps-- >= 0;) {
    if (value->typeInFormat || (value->constraint && value->constraint->unique))
      return true;
    if (value->like.kind == TilePlace_None)
      return false;
    value = valueAt(spec, value->like);
  }
  return false;
}

// Whether it is known how many of an optional or variadic result there are, types unseen.
static bool countIsKnown(const TileOpSpec *spec, const TileValueSpec *value) {
  if (value->arity == TileArity_One || value->presence.place.kind != TilePlace_None)
    return true;
  if (value->like.kind == TilePlace_None)
    return false;
  const TileValueSpec *other = valueAt(spec, value->like);
  return other->arity == value->arity && (value->like.kind == TilePlace_Operand || countIsKnown(spec, other));
}

// Whether the type and number of a result follow from operands and attributes alone.
static bool isInferable(const TileOpSpec *spec, const TileValueSpec *value) {
  const TileValueSpec *result = value;
  if (result->presence.place.kind == TilePlace_Result || !countIsKnown(spec, result))
    return false;
  for (int steps = spec->numResults; steps-- >= 0;) {
    if (value->constraint && value->constraint->unique)
      return true;
    if (value->like.kind != TilePlace_Result)
      return value->like.kind == TilePlace_Operand;
    value = valueAt(spec, value->like);
  }
  return false;
}

static bool checkOperandTypes(const TileOpSpec *spec, const TileSpecError *error) {
  for (int i = 0; i < spec->numOperands; ++i)
    if (!typeIsKnown(spec, &spec->operands[i]))
      return tileSpecError(error, spec, "format", "the type of operand '%s' is neither given nor inferable",
                           spec->operands[i].name);
  return true;
}

static bool checkResultTypes(const TileOpSpec *spec, const TileSpecError *error) {
  if (spec->row->hooks.inferTypes)
    return true;
  for (int i = 0; i < spec->numResults; ++i) {
    const TileValueSpec *result = &spec->results[i];
    if (!typeIsKnown(spec, result))
      return tileSpecError(error, spec, "format", "the type of result '%s' is neither given nor inferable",
                           result->name);
    if (!result->typeInFormat && !countIsKnown(spec, result))
      return tileSpecError(error, spec, "format", "nothing says when the %s result '%s' is there (with, unless)",
                           tileArityText(result->arity), result->name);
  }
  return true;
}

static void findInference(TileOpSpec *spec) {
  spec->infersResults = spec->numResults > 0;
  for (int i = 0; i < spec->numResults; ++i)
    spec->infersResults &= isInferable(spec, &spec->results[i]);
}

//===--- the row ------------------------------------------------------------===//
static bool resolveColumns(TileOpSpec *spec, const TileSpecError *error) {
  for (int i = 0; i < spec->numOperands; ++i)
    if (!resolveValue(spec, "operands", &spec->operands[i], error))
      return false;
  for (int i = 0; i < spec->numResults; ++i)
    if (!resolveValue(spec, "results", &spec->results[i], error))
      return false;
  for (int i = 0; i < spec->numAttributes; ++i)
    if (!resolveAttribute(spec, &spec->attributes[i], error))
      return false;
  for (int i = 0; i < spec->numElements; ++i)
    if (!resolveElement(spec, &spec->elements[i], error))
      return false;
  return true;
}

bool tileSpecResolve(TileOpSpec *spec, const TileSpecError *error) {
  if (!resolveColumns(spec, error))
    return false;
  findInference(spec);
  if (!spec->hasFormat)
    return true;
  if (spec->row->hooks.parse || spec->row->hooks.print)
    return tileSpecError(error, spec, "format", "given, and hooks.parse or hooks.print too");
  return checkOperandTypes(spec, error) && checkResultTypes(spec, error) && tileSpecCheckFormat(spec, error);
}
