// The op parser's operands and types: collected under the groups they belong to, parsed one by one, as lists, or as a
// functional type; at the end every operand gets its type and its value, results their types, segments their sizes.
#include "lib/ir/op_parse_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- collecting ---------------------------------------------------------===//
static void *grow(void *items, void *inlineItems, int *capacity, size_t size) {
  void *grown = realloc(items == inlineItems ? NULL : items, (size_t)*capacity * 2 * size);
  if (items == inlineItems)
    memcpy(grown, inlineItems, (size_t)*capacity * size);
  *capacity *= 2;
  return grown;
}

// Counts an item appended at `at`. False if the group's earlier items stand elsewhere.
static bool extend(TileParseRange *range, int at) {
  bool together = range->count == 0 || range->begin + range->count == at;
  range->begin = range->count ? range->begin : at;
  ++range->count;
  return together;
}

void tileParsePushOperand(TileParse *parse, int group, MlirExtOperand operand) {
  if (parse->numOperands == parse->operandCapacity)
    parse->operands = grow(parse->operands, parse->inlineOperands, &parse->operandCapacity, sizeof *parse->operands);
  parse->operandsMixed |= !extend(&parse->operandRanges[group], parse->numOperands);
  parse->operands[parse->numOperands++] = (TileParseOperandItem){operand, group};
}

void tileParsePushType(TileParse *parse, int group, MlirType type) {
  if (parse->numTypes == parse->typeCapacity)
    parse->types = grow(parse->types, parse->inlineTypes, &parse->typeCapacity, sizeof *parse->types);
  parse->typesMixed |= !extend(&parse->typeRanges[group], parse->numTypes);
  parse->types[parse->numTypes++] = (TileParseTypeItem){type, group};
}

// Puts items of one group together, in order. Ranges keep their counts.
static void gather(void *items, int count, size_t size, size_t groupOffset, TileParseRange *ranges, int numGroups) {
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

int tileParseNumGroups(const TileParse *parse) { return parse->spec->numOperands + parse->spec->numResults; }

void tileParseGatherItems(TileParse *parse) {
  if (parse->operandsMixed)
    gather(parse->operands, parse->numOperands, sizeof *parse->operands, offsetof(TileParseOperandItem, group),
           parse->operandRanges, parse->spec->numOperands);
  if (parse->typesMixed)
    gather(parse->types, parse->numTypes, sizeof *parse->types, offsetof(TileParseTypeItem, group), parse->typeRanges,
           tileParseNumGroups(parse));
}

//===--- values, types ------------------------------------------------------===//
bool tileParseOneOperand(TileParse *parse, int group) {
  MlirExtOperand operand;
  if (!mlirExtParserParseOperand(parse->parser, &operand))
    return false;
  tileParsePushOperand(parse, group, operand);
  return true;
}

MlirExtParseResult tileParseMaybeOperand(TileParse *parse, int group) {
  MlirExtOperand operand;
  MlirExtParseResult result = mlirExtParserParseOptionalOperand(parse->parser, &operand);
  if (result == MlirExtParse_Present)
    tileParsePushOperand(parse, group, operand);
  return result;
}

bool tileParseComma(TileParse *parse) { return mlirExtParserParseOptionalToken(parse->parser, ","); }

// The rest of a list whose first operand is there.
bool tileParseMoreOperands(TileParse *parse, int group) {
  while (tileParseComma(parse))
    if (!tileParseOneOperand(parse, group))
      return false;
  return true;
}

MlirExtParseResult tileParseOperandGroup(TileParse *parse, int group, bool isRequired) {
  TileArity arity = parse->spec->operands[group].arity;
  if (arity == TileArity_One || (arity == TileArity_Optional && isRequired))
    return tileParseOneOperand(parse, group) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirExtParseResult result = tileParseMaybeOperand(parse, group);
  if (result == MlirExtParse_Present && arity == TileArity_Variadic && !tileParseMoreOperands(parse, group))
    return MlirExtParse_Failed;
  return result;
}

static bool parseOneType(TileParse *parse, MlirType *type) {
  bool (*own)(MlirExtParser parser, MlirType *type) = parse->spec->table->parseType;
  return (own ? own : mlirExtParserParseType)(parse->parser, type);
}

// A dialect with its own text of types has no type that may be absent: a group of them begins behind a literal.
static MlirExtParseResult parseOptionalType(TileParse *parse, MlirType *type) {
  if (!parse->spec->table->parseType)
    return mlirExtParserParseOptionalType(parse->parser, type);
  char first = *mlirExtParserGetLocation(parse->parser);
  if (first != '!' && !(first >= 'a' && first <= 'z'))
    return MlirExtParse_Absent;
  return parseOneType(parse, type) ? MlirExtParse_Present : MlirExtParse_Failed;
}

static bool parseType(TileParse *parse, int group) {
  MlirType type;
  if (!parseOneType(parse, &type))
    return false;
  tileParsePushType(parse, group, type);
  return true;
}

MlirExtParseResult tileParseTypeGroup(TileParse *parse, int group, TileArity arity, bool isRequired) {
  if (arity == TileArity_One || (arity == TileArity_Optional && isRequired))
    return parseType(parse, group) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirType type;
  MlirExtParseResult result = parseOptionalType(parse, &type);
  if (result != MlirExtParse_Present)
    return result;
  tileParsePushType(parse, group, type);
  while (arity == TileArity_Variadic && tileParseComma(parse))
    if (!parseType(parse, group))
      return MlirExtParse_Failed;
  return result;
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
  } while (tileParseComma(parse));
  return mlirExtParserParseToken(parse->parser, ")");
}

static void pushCommonType(TileParse *parse, MlirType type) {
  for (int group = 0; group < parse->spec->numOperands; ++group)
    for (int i = 0; i < parse->operandRanges[group].count; ++i)
      tileParsePushType(parse, group, type);
  for (int i = 0; i < parse->spec->numResults; ++i)
    tileParsePushType(parse, parse->spec->numOperands + i, type);
}

// `(T, T) -> T` or `(T) -> (T, T)`, and `T` where the element is a common type. A single result that is a function type
// stands in parentheses.
bool tileParseSignature(TileParse *parse, const TileElement *element) {
  if (element->isCommon && *mlirExtParserGetLocation(parse->parser) != '(') {
    MlirType type;
    if (!parseOneType(parse, &type))
      return false;
    pushCommonType(parse, type);
    return true;
  }
  if (!parseSide(parse, true, element->index) || !mlirExtParserParseToken(parse->parser, "->"))
    return false;
  MlirType type;
  MlirExtSourceLocation location = mlirExtParserGetLocation(parse->parser);
  if (*location == '(')
    return parseSide(parse, false, element->second);
  if (!parseOneType(parse, &type))
    return false;
  int group = nextGroup(parse, false, element->second);
  if (group < 0)
    return mlirExtParserError(parse->parser, location, tileString("more types than values"));
  tileParsePushType(parse, group, type);
  return true;
}

//===--- the end --------------------------------------------------------------===//

// The op parser's end: every operand gets its type and its value, results their types, segments their sizes.

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
  TileParseRange range = parse->operandRanges[group];
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

// Asks the row's hook, which sees only what the row allows.
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
  bool ok = tileTableInferTypes(&inference, mlirExtOpStateGetTypes(parse->state));
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

bool tileParseResolve(TileParse *parse) {
  tileParseGatherItems(parse);
  addMissingRegions(parse);
  return resolveOperands(parse) && resolveResults(parse);
}
