// Parsing an op by its row's format. Operands and types are collected first, under the names they belong to, and
// resolved at the end, since a type may come before or after its operand or follow from another's.
#include "lib/ir/op_parse_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

//===--- attributes ---------------------------------------------------------===//
bool tileParseAttributeOf(TileParse *parse, const TileAttributeSpec *attribute) {
  MlirAttribute value;
  if (!tileSpecParseKind(attribute->kind, parse->parser, &value))
    return false;
  tileParseSetAttribute(parse, attribute->name, value);
  return true;
}

static bool parseUnit(TileParse *parse, const TileElement *element, const char *name) {
  if (!element->isSilent && !mlirExtParserParseToken(parse->parser, name))
    return false;
  tileParseSetAttribute(parse, name, mlirUnitAttrGet(parse->context));
  return true;
}

//===--- attributes that may begin a group: one token tells --------------------===//
// The keyword that is there, as an attribute; null if none is.
static MlirAttribute takeKeyword(TileParse *parse, const TileAttributeKind *kind) {
  for (const char *const *keyword = kind->keywords; *keyword; ++keyword)
    if (mlirExtParserParseOptionalToken(parse->parser, *keyword))
      return mlirStringAttrGet(parse->context, tileString(*keyword));
  return (MlirAttribute){NULL};
}

static MlirAttribute takeUnit(TileParse *parse, const char *name) {
  bool isThere = mlirExtParserParseOptionalToken(parse->parser, name);
  return isThere ? mlirUnitAttrGet(parse->context) : (MlirAttribute){NULL};
}

// Kinds i32, i64 and index.
static MlirExtParseResult parseOptionalInteger(TileParse *parse, const TileAttributeSpec *attribute) {
  int64_t value;
  MlirExtParseResult result = mlirExtParserParseOptionalInteger(parse->parser, &value);
  if (result != MlirExtParse_Present)
    return result;
  MlirType type = !strcmp(attribute->kindName, "index")
                      ? mlirIndexTypeGet(parse->context)
                      : mlirIntegerTypeGet(parse->context, !strcmp(attribute->kindName, "i32") ? 32 : 64);
  tileParseSetAttribute(parse, attribute->name, mlirIntegerAttrGet(type, value));
  return result;
}

// Kinds string and symbol: known by the first character.
static MlirExtParseResult parseOptionalText(TileParse *parse, const TileAttributeSpec *attribute) {
  char begin = !strcmp(attribute->kindName, "symbol") ? '@' : '"';
  if (*mlirExtParserGetLocation(parse->parser) != begin)
    return MlirExtParse_Absent;
  return tileParseAttributeOf(parse, attribute) ? MlirExtParse_Present : MlirExtParse_Failed;
}

static MlirExtParseResult parseOptionalAttribute(TileParse *parse, const TileAttributeSpec *attribute) {
  if (*attribute->kindName == 'i' && !attribute->kind->keywords)
    return parseOptionalInteger(parse, attribute);
  if (!attribute->isUnit && !attribute->kind->keywords)
    return parseOptionalText(parse, attribute);
  MlirAttribute value = attribute->isUnit ? takeUnit(parse, attribute->name) : takeKeyword(parse, attribute->kind);
  if (mlirAttributeIsNull(value))
    return MlirExtParse_Absent;
  tileParseSetAttribute(parse, attribute->name, value);
  return MlirExtParse_Present;
}

//===--- regions ------------------------------------------------------------===//
static bool ensureTerminator(TileParse *parse) {
  if (parse->spec->implicitTerminator)
    mlirExtOpStateEnsureTerminator(parse->parser, parse->state, mlirExtOpStateGetNumRegions(parse->state) - 1,
                                   parse->spec->implicitTerminator);
  return true;
}

static bool parseRegion(TileParse *parse) {
  return mlirExtParserParseRegion(parse->parser, parse->state, 0, NULL, NULL, false) && ensureTerminator(parse);
}

static MlirExtParseResult parseRegions(TileParse *parse, const TileElement *element) {
  TileArity arity = parse->spec->regions[element->index].arity;
  if (arity == TileArity_One || element->isRequired)
    return parseRegion(parse) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirExtParseResult result = mlirExtParserParseOptionalRegion(parse->parser, parse->state);
  if (result != MlirExtParse_Present)
    return result;
  ensureTerminator(parse);
  while (arity == TileArity_Variadic && tileParseComma(parse))
    if (!parseRegion(parse))
      return MlirExtParse_Failed;
  return result;
}

//===--- elements -----------------------------------------------------------===//
static MlirExtParseResult parseTypesOf(TileParse *parse, const TileElement *element) {
  bool isOperand = element->kind == TileElement_OperandType;
  const TileValueSpec *values = isOperand ? parse->spec->operands : parse->spec->results;
  int group = (isOperand ? 0 : parse->spec->numOperands) + element->index;
  return tileParseTypeGroup(parse, group, values[element->index].arity, element->isRequired);
}

static bool parseCustom(TileParse *parse, const TileElement *element) {
  if (element->directive)
    return element->directive->parse(parse, parse->parser, parse->state);
  const TileOpSpec *spec = parse->spec;
  return tileParseMixedList(parse, spec->operands[element->arguments[0].index].name,
                            spec->attributes[element->arguments[1].index].name, 0);
}

static bool parseElement(TileParse *parse, const TileElement *element) {
  const TileAttributeSpec *attribute;
  switch (element->kind) {
  case TileElement_Literal:
    return mlirExtParserParseToken(parse->parser, element->text);
  case TileElement_Operand:
    return tileParseOperandGroup(parse, element->index, element->isRequired) != MlirExtParse_Failed;
  case TileElement_Attribute:
    attribute = &parse->spec->attributes[element->index];
    return attribute->isUnit ? parseUnit(parse, element, attribute->name) : tileParseAttributeOf(parse, attribute);
  case TileElement_Region:
    return parseRegions(parse, element) != MlirExtParse_Failed;
  case TileElement_OperandType:
  case TileElement_ResultType:
    return parseTypesOf(parse, element) != MlirExtParse_Failed;
  case TileElement_AttrDict:
    return mlirExtParserParseAttributeDictionary(parse->parser, parse->state, element->withKeyword);
  case TileElement_FunctionalType:
    return tileParseSignature(parse, element);
  case TileElement_Custom:
    return parseCustom(parse, element);
  default:
    return true;
  }
}

// The element that decides whether its group is there.
static MlirExtParseResult parseFirst(TileParse *parse, const TileElement *element) {
  switch (element->kind) {
  case TileElement_Literal:
    return mlirExtParserParseOptionalToken(parse->parser, element->text) ? MlirExtParse_Present : MlirExtParse_Absent;
  case TileElement_Operand:
    return tileParseOperandGroup(parse, element->index, false);
  case TileElement_Attribute:
    return parseOptionalAttribute(parse, &parse->spec->attributes[element->index]);
  case TileElement_Region:
    return parseRegions(parse, element);
  default:
    return parseTypesOf(parse, element);
  }
}

static bool parseElements(TileParse *parse, int begin, int end);

static bool parseGroup(TileParse *parse, int group) {
  const TileElement *elements = parse->spec->elements;
  int first = group + 1, end = first + elements[group].count;
  while (elements[first].kind == TileElement_Space)
    ++first;
  MlirExtParseResult result = parseFirst(parse, &elements[first]);
  return result == MlirExtParse_Present ? parseElements(parse, first + 1, end) : result == MlirExtParse_Absent;
}

static bool parseElements(TileParse *parse, int begin, int end) {
  const TileElement *elements = parse->spec->elements;
  for (int i = begin; i < end; i += 1 + elements[i].count)
    if (!(elements[i].kind == TileElement_Group ? parseGroup(parse, i) : parseElement(parse, &elements[i])))
      return false;
  return true;
}

bool tileTableParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  TileParse parse;
  parse.spec = definition->data;
  parse.definition = definition;
  parse.parser = parser;
  parse.state = state;
  parse.context = mlirExtParserGetContext(parser);
  parse.location = mlirExtParserGetLocation(parser);
  parse.operands = parse.inlineOperands;
  parse.types = parse.inlineTypes;
  parse.operandCapacity = parse.typeCapacity = TileParseInlineItems;
  parse.numOperands = parse.numTypes = 0;
  parse.operandsMixed = parse.typesMixed = false;
  memset(parse.operandRanges, 0, sizeof(TileParseRange) * (size_t)parse.spec->numOperands);
  memset(parse.typeRanges, 0, sizeof(TileParseRange) * (size_t)tileParseNumGroups(&parse));
  bool ok = parseElements(&parse, 0, parse.spec->numElements) && tileParseResolve(&parse);
  if (parse.operands != parse.inlineOperands)
    free(parse.operands);
  if (parse.types != parse.inlineTypes)
    free(parse.types);
  return ok;
}

//===--- directives -----------------------------------------------------------===//

// What a directive may do while an op is parsed (op_format.h), by the names of the row.

static int operandNamed(const TileParse *parse, const char *name) {
  int group = tileSpecFindValue(parse->spec->operands, parse->spec->numOperands, name);
  assert(group >= 0 && "no operand of that name");
  return group;
}
static int resultNamed(const TileParse *parse, const char *name) {
  int group = tileSpecFindValue(parse->spec->results, parse->spec->numResults, name);
  assert(group >= 0 && "no result of that name");
  return group;
}

MlirExtParser tileParseParser(const TileParse *parse) { return parse->parser; }
MlirExtSourceLocation tileParseLocation(const TileParse *parse) { return parse->location; }

void tileParseAddOperand(TileParse *parse, const char *name, MlirExtOperand operand) {
  tileParsePushOperand(parse, operandNamed(parse, name), operand);
}
bool tileParseOperand(TileParse *parse, const char *name) {
  return tileParseOneOperand(parse, operandNamed(parse, name));
}
MlirExtParseResult tileParseOptionalOperand(TileParse *parse, const char *name) {
  return tileParseMaybeOperand(parse, operandNamed(parse, name));
}
bool tileParseOperandList(TileParse *parse, const char *name) {
  int group = operandNamed(parse, name);
  MlirExtParseResult result = tileParseMaybeOperand(parse, group);
  return result == MlirExtParse_Present ? tileParseMoreOperands(parse, group) : result == MlirExtParse_Absent;
}
intptr_t tileParseCountOperands(const TileParse *parse, const char *name) {
  return parse->operandRanges[operandNamed(parse, name)].count;
}

void tileParseAddOperandType(TileParse *parse, const char *name, MlirType type) {
  tileParsePushType(parse, operandNamed(parse, name), type);
}
void tileParseAddResultType(TileParse *parse, const char *name, MlirType type) {
  tileParsePushType(parse, parse->spec->numOperands + resultNamed(parse, name), type);
}
bool tileParseOperandTypes(TileParse *parse, const char *name) {
  int group = operandNamed(parse, name);
  return tileParseTypeGroup(parse, group, parse->spec->operands[group].arity, false) != MlirExtParse_Failed;
}
bool tileParseResultTypes(TileParse *parse, const char *name) {
  int result = resultNamed(parse, name);
  return tileParseTypeGroup(parse, parse->spec->numOperands + result, parse->spec->results[result].arity, false) !=
         MlirExtParse_Failed;
}

void tileParseSetAttribute(TileParse *parse, const char *name, MlirAttribute attribute) {
  mlirExtOpStateAddAttribute(parse->state, name, attribute);
}
MlirAttribute tileParseGetAttribute(const TileParse *parse, const char *name) {
  return mlirExtOpStateGetAttribute(parse->state, name);
}
bool tileParseAttribute(TileParse *parse, const char *name) {
  TilePlace place = tileSpecFind(parse->spec, name, strlen(name));
  assert(place.kind == TilePlace_Attribute && "no attribute of that name");
  return tileParseAttributeOf(parse, &parse->spec->attributes[place.index]);
}

//===--- mixed lists --------------------------------------------------------===//
enum { MaxMixed = 32 };

static bool parseMixedItem(TileParse *parse, int group, int64_t placeholder, int64_t *item) {
  if (placeholder && mlirExtParserParseOptionalToken(parse->parser, "_")) {
    *item = placeholder;
    return true;
  }
  *item = INT64_MIN;
  MlirExtParseResult result = tileParseMaybeOperand(parse, group);
  return result == MlirExtParse_Absent ? mlirExtParserParseInteger(parse->parser, item)
                                       : result == MlirExtParse_Present;
}

bool tileParseMixedList(TileParse *parse, const char *operands, const char *attribute, int64_t placeholder) {
  int group = operandNamed(parse, operands);
  int64_t items[MaxMixed];
  intptr_t count = 0;
  if (!mlirExtParserParseToken(parse->parser, "["))
    return false;
  bool more = !mlirExtParserParseOptionalToken(parse->parser, "]");
  while (more) {
    if (count == MaxMixed)
      return mlirExtParserError(parse->parser, mlirExtParserGetLocation(parse->parser),
                                tileString("at most 32 entries are allowed"));
    if (!parseMixedItem(parse, group, placeholder, &items[count++]))
      return false;
    more = tileParseComma(parse);
    if (!more && !mlirExtParserParseToken(parse->parser, "]"))
      return false;
  }
  tileParseSetAttribute(parse, attribute, mlirDenseI64ArrayGet(parse->context, count, items));
  return true;
}
