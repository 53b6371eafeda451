// Parsing an op by its row's format. Operands and types are collected first, under the names they belong to, and
// resolved at the end, since a type may come before or after its operand or follow from another's.
#include "lib/ir/op_format.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { InlineItems = 12 };

typedef struct OperandItem {
  MlirExtOperand operand;
  int group;
} OperandItem;
// Types of operands have their group's number, types of results numOperands + their group's.
typedef struct TypeItem {
  MlirType type;
  int group;
} TypeItem;

typedef struct Range {
  int begin, count;
} Range;

struct TileParse {
  const TileOpSpec *spec;
  const MlirExtOpDefinition *definition;
  MlirExtParser parser;
  MlirExtOpState state;
  MlirContext context;
  MlirExtSourceLocation location;
  OperandItem *operands, inlineOperands[InlineItems];
  TypeItem *types, inlineTypes[InlineItems];
  int numOperands, operandCapacity, numTypes, typeCapacity;
  bool operandsMixed, typesMixed; // a group's items do not stand together: sorted before they are read
  Range operandRanges[TileMaxValues], typeRanges[TileMaxValues];
};

//===--- collecting ---------------------------------------------------------===//
static void *grow(void *items, void *inlineItems, int *capacity, size_t size) {
  void *grown = realloc(items == inlineItems ? NULL : items, (size_t)*capacity * 2 * size);
  if (items == inlineItems)
    memcpy(grown, inlineItems, (size_t)*capacity * size);
  *capacity *= 2;
  return grown;
}

// Counts an item appended at `at`. False if the group's earlier items stand elsewhere.
static bool extend(Range *range, int at) {
  bool together = range->count == 0 || range->begin + range->count == at;
  range->begin = range->count ? range->begin : at;
  ++range->count;
  return together;
}

static void addOperand(TileParse *parse, int group, MlirExtOperand operand) {
  if (parse->numOperands == parse->operandCapacity)
    parse->operands = grow(parse->operands, parse->inlineOperands, &parse->operandCapacity, sizeof *parse->operands);
  parse->operandsMixed |= !extend(&parse->operandRanges[group], parse->numOperands);
  parse->operands[parse->numOperands++] = (OperandItem){operand, group};
}

static void addType(TileParse *parse, int group, MlirType type) {
  if (parse->numTypes == parse->typeCapacity)
    parse->types = grow(parse->types, parse->inlineTypes, &parse->typeCapacity, sizeof *parse->types);
  parse->typesMixed |= !extend(&parse->typeRanges[group], parse->numTypes);
  parse->types[parse->numTypes++] = (TypeItem){type, group};
}

// Puts items of one group together, in order. Ranges keep their counts.
static void gather(void *items, int count, size_t size, size_t groupOffset, Range *ranges, int numGroups) {
  char *sorted = malloc((size_t)count * size), *from = items;
  for (int group = 0, at = 0; group < numGroups; ++group) {
    ranges[group].begin = at;
    for (int i = 0; i < count; ++i)
      if (*(int *)(from + (size_t)i * size + groupOffset) == group)
        memcpy(sorted + (size_t)at++ * size, from + (size_t)i * size, size);
  }
  memcpy(items, sorted, (size_t)count * size);
  free(sorted);
}

static int numGroups(const TileParse *parse) { return parse->spec->numOperands + parse->spec->numResults; }

static void gatherItems(TileParse *parse) {
  if (parse->operandsMixed)
    gather(parse->operands, parse->numOperands, sizeof *parse->operands, offsetof(OperandItem, group),
           parse->operandRanges, parse->spec->numOperands);
  if (parse->typesMixed)
    gather(parse->types, parse->numTypes, sizeof *parse->types, offsetof(TypeItem, group), parse->typeRanges,
           numGroups(parse));
}

//===--- values, types ------------------------------------------------------===//
static bool parseOperand(TileParse *parse, int group) {
  MlirExtOperand operand;
  if (!mlirExtParserParseOperand(parse->parser, &operand))
    return false;
  addOperand(parse, group, operand);
  return true;
}

static MlirExtParseResult parseOptionalOperand(TileParse *parse, int group) {
  MlirExtOperand operand;
  MlirExtParseResult result = mlirExtParserParseOptionalOperand(parse->parser, &operand);
  if (result == MlirExtParse_Present)
    addOperand(parse, group, operand);
  return result;
}

static bool comma(TileParse *parse) { return mlirExtParserParseOptionalToken(parse->parser, ","); }

// The rest of a list whose first operand is there.
static bool parseMoreOperands(TileParse *parse, int group) {
  while (comma(parse))
    if (!parseOperand(parse, group))
      return false;
  return true;
}

static MlirExtParseResult parseOperands(TileParse *parse, int group, bool isRequired) {
  TileArity arity = parse->spec->operands[group].arity;
  if (arity == TileArity_One || (arity == TileArity_Optional && isRequired))
    return parseOperand(parse, group) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirExtParseResult result = parseOptionalOperand(parse, group);
  if (result == MlirExtParse_Present && arity == TileArity_Variadic && !parseMoreOperands(parse, group))
    return MlirExtParse_Failed;
  return result;
}

static bool parseType(TileParse *parse, int group) {
  MlirType type;
  if (!mlirExtParserParseType(parse->parser, &type))
    return false;
  addType(parse, group, type);
  return true;
}

static MlirExtParseResult parseTypes(TileParse *parse, int group, TileArity arity, bool isRequired) {
  if (arity == TileArity_One || (arity == TileArity_Optional && isRequired))
    return parseType(parse, group) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirType type;
  MlirExtParseResult result = mlirExtParserParseOptionalType(parse->parser, &type);
  if (result != MlirExtParse_Present)
    return result;
  addType(parse, group, type);
  while (arity == TileArity_Variadic && comma(parse))
    if (!parseType(parse, group))
      return MlirExtParse_Failed;
  return result;
}

static MlirExtParseResult parseTypesOf(TileParse *parse, const TileElement *element) {
  bool isOperand = element->kind == TileElement_OperandType;
  const TileValueSpec *values = isOperand ? parse->spec->operands : parse->spec->results;
  int group = (isOperand ? 0 : parse->spec->numOperands) + element->index;
  return parseTypes(parse, group, values[element->index].arity, element->isRequired);
}

//===--- functional types ---------------------------------------------------===//
// The group that the next type on a side belongs to: `index`, or the first with fewer types than it wants.
static int nextGroup(const TileParse *parse, bool isOperand, int index) {
  const TileOpSpec *spec = parse->spec;
  int offset = isOperand ? 0 : spec->numOperands, count = isOperand ? spec->numOperands : spec->numResults;
  if (index >= 0)
    return offset + index;
  for (int i = 0; i < count; ++i) {
    bool loose = !isOperand && spec->results[i].arity == TileArity_Variadic;
    int wanted = isOperand ? parse->operandRanges[i].count : 1;
    if (loose || parse->typeRanges[offset + i].count < wanted)
      return offset + i;
  }
  return -1;
}

static bool parseSideType(TileParse *parse, bool isOperand, int index) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parse->parser);
  int group = nextGroup(parse, isOperand, index);
  if (group < 0)
    return mlirExtParserError(parse->parser, location, tileString("more types than values"));
  return parseType(parse, group);
}

static bool parseSide(TileParse *parse, bool isOperand, int index) {
  if (!mlirExtParserParseToken(parse->parser, "("))
    return false;
  if (mlirExtParserParseOptionalToken(parse->parser, ")"))
    return true;
  do {
    if (!parseSideType(parse, isOperand, index))
      return false;
  } while (comma(parse));
  return mlirExtParserParseToken(parse->parser, ")");
}

// `(T, T) -> T` or `(T) -> (T, T)`. A single result that is a function type stands in parentheses.
static bool parseFunctionalType(TileParse *parse, const TileElement *element) {
  if (!parseSide(parse, true, element->index) || !mlirExtParserParseToken(parse->parser, "->"))
    return false;
  MlirType type;
  MlirExtSourceLocation location = mlirExtParserGetLocation(parse->parser);
  if (*location == '(')
    return parseSide(parse, false, element->second);
  if (!mlirExtParserParseType(parse->parser, &type))
    return false;
  int group = nextGroup(parse, false, element->second);
  if (group < 0)
    return mlirExtParserError(parse->parser, location, tileString("more types than values"));
  addType(parse, group, type);
  return true;
}

//===--- attributes, regions ------------------------------------------------===//
static void setAttribute(TileParse *parse, const char *name, MlirAttribute attribute) {
  mlirExtOpStateAddAttribute(parse->state, name, attribute);
}

static bool parseAttribute(TileParse *parse, const TileAttributeSpec *attribute) {
  MlirAttribute value;
  if (!tileSpecParseKind(attribute->kind, parse->parser, &value))
    return false;
  setAttribute(parse, attribute->name, value);
  return true;
}

static bool parseUnit(TileParse *parse, const TileElement *element, const char *name) {
  if (!element->isSilent && !mlirExtParserParseToken(parse->parser, name))
    return false;
  setAttribute(parse, name, mlirUnitAttrGet(parse->context));
  return true;
}

// The attribute that may begin a group: one token tells.
static MlirExtParseResult parseOptionalAttribute(TileParse *parse, const TileAttributeSpec *attribute) {
  MlirAttribute value = {NULL};
  MlirExtParseResult result = MlirExtParse_Absent;
  if (attribute->isUnit) {
    if (mlirExtParserParseOptionalToken(parse->parser, attribute->name))
      value = mlirUnitAttrGet(parse->context);
  } else if (attribute->kind->keywords) {
    for (const char *const *keyword = attribute->kind->keywords; *keyword && mlirAttributeIsNull(value); ++keyword)
      if (mlirExtParserParseOptionalToken(parse->parser, *keyword))
        value = mlirStringAttrGet(parse->context, tileString(*keyword));
  } else if (*attribute->kindName == 'i') { // i32, i64, index
    int64_t number;
    result = mlirExtParserParseOptionalInteger(parse->parser, &number);
    MlirType type = !strcmp(attribute->kindName, "index")
                        ? mlirIndexTypeGet(parse->context)
                        : mlirIntegerTypeGet(parse->context, attribute->kindName[1] == '3' ? 32 : 64);
    if (result == MlirExtParse_Present)
      value = mlirIntegerAttrGet(type, number);
  } else { // string, symbol
    char begin = !strcmp(attribute->kindName, "symbol") ? '@' : '"';
    if (*mlirExtParserGetLocation(parse->parser) == begin)
      return parseAttribute(parse, attribute) ? MlirExtParse_Present : MlirExtParse_Failed;
  }
  if (mlirAttributeIsNull(value))
    return result;
  setAttribute(parse, attribute->name, value);
  return MlirExtParse_Present;
}

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
  while (arity == TileArity_Variadic && comma(parse))
    if (!parseRegion(parse))
      return MlirExtParse_Failed;
  return result;
}

//===--- elements -----------------------------------------------------------===//
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
    return parseOperands(parse, element->index, element->isRequired) != MlirExtParse_Failed;
  case TileElement_Attribute:
    attribute = &parse->spec->attributes[element->index];
    return attribute->isUnit ? parseUnit(parse, element, attribute->name) : parseAttribute(parse, attribute);
  case TileElement_Region:
    return parseRegions(parse, element) != MlirExtParse_Failed;
  case TileElement_OperandType:
  case TileElement_ResultType:
    return parseTypesOf(parse, element) != MlirExtParse_Failed;
  case TileElement_AttrDict:
    return mlirExtParserParseAttributeDictionary(parse->parser, parse->state, element->withKeyword);
  case TileElement_FunctionalType:
    return parseFunctionalType(parse, element);
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
    return parseOperands(parse, element->index, false);
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

//===--- resolving ----------------------------------------------------------===//
static bool fail(const TileParse *parse, const char *format, const char *name, int wanted, int seen) {
  char message[256];
  snprintf(message, sizeof message, format, name, wanted, seen);
  return mlirExtParserError(parse->parser, parse->location, tileString(message));
}

// Type number `item` of a group; null if it is not known (the value it follows is absent, or a rule has no answer).
static MlirType typeOf(const TileParse *parse, const TileValueSpec *value, int group, int item) {
  const TileOpSpec *spec = parse->spec;
  if (item < parse->typeRanges[group].count)
    return parse->types[parse->typeRanges[group].begin + item].type;
  if (value->constraint && value->constraint->unique)
    return value->constraint->unique(parse->context);
  if (value->typeInFormat || value->like.kind == TilePlace_None)
    return (MlirType){NULL};
  bool isOperand = value->like.kind == TilePlace_Operand;
  const TileValueSpec *other = &(isOperand ? spec->operands : spec->results)[value->like.index];
  MlirType type = typeOf(parse, other, (isOperand ? 0 : spec->numOperands) + value->like.index,
                         other->arity == TileArity_Variadic ? item : 0);
  return mlirTypeIsNull(type) || !value->rule ? type : value->rule->derive(type);
}

static bool resolveGroup(const TileParse *parse, int group) {
  const TileValueSpec *value = &parse->spec->operands[group];
  Range range = parse->operandRanges[group];
  if (value->typeInFormat && parse->typeRanges[group].count != range.count)
    return fail(parse, "expected as many types as operands '%s': %d, but got %d", value->name, range.count,
                parse->typeRanges[group].count);
  for (int i = 0; i < range.count; ++i) {
    MlirType type = typeOf(parse, value, group, i);
    if (mlirTypeIsNull(type))
      return fail(parse, "the type of operand '%s' cannot be told from the other types", value->name, 0, 0);
    if (!mlirExtParserResolveOperand(parse->parser, parse->state, parse->operands[range.begin + i].operand, type))
      return false;
  }
  return true;
}

static void addSegments(const TileParse *parse, const char *name, int count, const int32_t *sizes) {
  mlirExtOpStateAddAttribute(parse->state, name, mlirDenseI32ArrayGet(parse->context, count, sizes));
}

static bool resolveOperands(const TileParse *parse) {
  int32_t sizes[TileMaxValues];
  for (int group = 0; group < parse->spec->numOperands; ++group) {
    sizes[group] = parse->operandRanges[group].count;
    if (!resolveGroup(parse, group))
      return false;
  }
  if (parse->spec->operandSegments)
    addSegments(parse, "operandSegmentSizes", parse->spec->numOperands, sizes);
  return true;
}

static int countResults(const TileParse *parse, int index);

static bool isPresent(const TileParse *parse, TilePlace place) {
  switch (place.kind) {
  case TilePlace_Operand:
    return parse->operandRanges[place.index].count > 0;
  case TilePlace_Result:
    return countResults(parse, place.index) > 0;
  default:
    return !mlirAttributeIsNull(mlirExtOpStateGetAttribute(parse->state, parse->spec->attributes[place.index].name));
  }
}

static int countResults(const TileParse *parse, int index) {
  const TileValueSpec *result = &parse->spec->results[index];
  if (result->typeInFormat)
    return parse->typeRanges[parse->spec->numOperands + index].count;
  if (result->arity == TileArity_One)
    return 1;
  if (result->presence.place.kind != TilePlace_None)
    return isPresent(parse, result->presence.place) != result->presence.isUnless;
  return result->like.kind == TilePlace_Operand ? parse->operandRanges[result->like.index].count
                                                : countResults(parse, result->like.index);
}

static bool resolveResultGroup(const TileParse *parse, int index, int32_t *count) {
  const TileValueSpec *result = &parse->spec->results[index];
  *count = countResults(parse, index);
  if (result->arity == TileArity_One && *count != 1)
    return fail(parse, "result '%s' needs %d type, but got %d", result->name, 1, *count);
  for (int i = 0; i < *count; ++i) {
    MlirType type = typeOf(parse, result, parse->spec->numOperands + index, i);
    if (mlirTypeIsNull(type))
      return fail(parse, "the type of result '%s' cannot be told from the other types", result->name, 0, 0);
    mlirExtOpStateAddType(parse->state, type);
  }
  return true;
}

// The inherent attributes parsed so far.
static MlirAttribute inherentAttributes(const TileParse *parse) {
  MlirNamedAttribute entries[TileMaxValues];
  intptr_t count = 0;
  for (const char *const *name = parse->spec->inherentNames; *name && count < TileMaxValues; ++name) {
    MlirAttribute value = mlirExtOpStateGetAttribute(parse->state, *name);
    if (!mlirAttributeIsNull(value))
      entries[count++] = mlirNamedAttributeGet(mlirIdentifierGet(parse->context, tileString(*name)), value);
  }
  return mlirDictionaryAttrGet(parse->context, count, entries);
}

// Asks the row's hook.
static bool inferResults(const TileParse *parse) {
  intptr_t numOperands = mlirExtOpStateGetNumOperands(parse->state);
  intptr_t numRegions = mlirExtOpStateGetNumRegions(parse->state);
  MlirValue *operands = malloc(sizeof *operands * (size_t)(numOperands + 1));
  MlirRegion *regions = malloc(sizeof *regions * (size_t)(numRegions + 1));
  for (intptr_t i = 0; i < numOperands; ++i)
    operands[i] = mlirExtOpStateGetOperand(parse->state, i);
  for (intptr_t i = 0; i < numRegions; ++i)
    regions[i] = mlirExtOpStateGetRegion(parse->state, i);
  MlirExtInference inference = {
      .definition = parse->definition,
      .context = parse->context,
      .location = mlirExtParserEncodeLocation(parse->parser, parse->location),
      .numOperands = numOperands,
      .operands = operands,
      .attributes = inherentAttributes(parse),
      .numRegions = numRegions,
      .regions = regions,
  };
  bool ok = parse->spec->row->hooks.inferTypes(&inference, mlirExtOpStateGetTypes(parse->state));
  free(operands);
  free(regions);
  return ok;
}

static bool resolveResults(const TileParse *parse) {
  const TileOpSpec *spec = parse->spec;
  bool given = true;
  for (int i = 0; i < spec->numResults; ++i)
    given &= spec->results[i].typeInFormat;
  if (spec->row->hooks.inferTypes && !given)
    return inferResults(parse);
  int32_t sizes[TileMaxValues];
  for (int i = 0; i < spec->numResults; ++i)
    if (!resolveResultGroup(parse, i, &sizes[i]))
      return false;
  if (spec->resultSegments)
    addSegments(parse, "resultSegmentSizes", spec->numResults, sizes);
  return true;
}

static void addMissingRegions(const TileParse *parse) {
  const TileOpSpec *spec = parse->spec;
  bool variadic = spec->numRegions && spec->regions[spec->numRegions - 1].arity == TileArity_Variadic;
  while (!variadic && mlirExtOpStateGetNumRegions(parse->state) < spec->numRegions)
    mlirExtOpStateAddEmptyRegion(parse->state);
}

static bool resolve(TileParse *parse) {
  gatherItems(parse);
  addMissingRegions(parse);
  return resolveOperands(parse) && resolveResults(parse);
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
  parse.operandCapacity = parse.typeCapacity = InlineItems;
  parse.numOperands = parse.numTypes = 0;
  parse.operandsMixed = parse.typesMixed = false;
  memset(parse.operandRanges, 0, sizeof(Range) * (size_t)parse.spec->numOperands);
  memset(parse.typeRanges, 0, sizeof(Range) * (size_t)numGroups(&parse));
  bool ok = parseElements(&parse, 0, parse.spec->numElements) && resolve(&parse);
  if (parse.operands != parse.inlineOperands)
    free(parse.operands);
  if (parse.types != parse.inlineTypes)
    free(parse.types);
  return ok;
}

//===--- what directives may do ---------------------------------------------===//
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
  addOperand(parse, operandNamed(parse, name), operand);
}
bool tileParseOperand(TileParse *parse, const char *name) { return parseOperand(parse, operandNamed(parse, name)); }
MlirExtParseResult tileParseOptionalOperand(TileParse *parse, const char *name) {
  return parseOptionalOperand(parse, operandNamed(parse, name));
}
bool tileParseOperandList(TileParse *parse, const char *name) {
  int group = operandNamed(parse, name);
  MlirExtParseResult result = parseOptionalOperand(parse, group);
  return result == MlirExtParse_Present ? parseMoreOperands(parse, group) : result == MlirExtParse_Absent;
}
intptr_t tileParseCountOperands(const TileParse *parse, const char *name) {
  return parse->operandRanges[operandNamed(parse, name)].count;
}

void tileParseAddOperandType(TileParse *parse, const char *name, MlirType type) {
  addType(parse, operandNamed(parse, name), type);
}
void tileParseAddResultType(TileParse *parse, const char *name, MlirType type) {
  addType(parse, parse->spec->numOperands + resultNamed(parse, name), type);
}
bool tileParseOperandTypes(TileParse *parse, const char *name) {
  int group = operandNamed(parse, name);
  return parseTypes(parse, group, parse->spec->operands[group].arity, false) != MlirExtParse_Failed;
}
bool tileParseResultTypes(TileParse *parse, const char *name) {
  int result = resultNamed(parse, name);
  return parseTypes(parse, parse->spec->numOperands + result, parse->spec->results[result].arity, false) !=
         MlirExtParse_Failed;
}

void tileParseSetAttribute(TileParse *parse, const char *name, MlirAttribute attribute) {
  setAttribute(parse, name, attribute);
}
MlirAttribute tileParseGetAttribute(const TileParse *parse, const char *name) {
  return mlirExtOpStateGetAttribute(parse->state, name);
}
bool tileParseAttribute(TileParse *parse, const char *name) {
  TilePlace place = tileSpecFind(parse->spec, name, strlen(name));
  assert(place.kind == TilePlace_Attribute && "no attribute of that name");
  return parseAttribute(parse, &parse->spec->attributes[place.index]);
}

//===--- mixed lists --------------------------------------------------------===//
enum { MaxMixed = 32 };

static bool parseMixedItem(TileParse *parse, int group, int64_t placeholder, int64_t *item) {
  if (placeholder && mlirExtParserParseOptionalToken(parse->parser, "_")) {
    *item = placeholder;
    return true;
  }
  *item = INT64_MIN;
  MlirExtParseResult result = parseOptionalOperand(parse, group);
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
    more = comma(parse);
    if (!more && !mlirExtParserParseToken(parse->parser, "]"))
      return false;
  }
  setAttribute(parse, attribute, mlirDenseI64ArrayGet(parse->context, count, items));
  return true;
}
