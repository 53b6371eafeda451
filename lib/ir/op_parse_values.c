// The op parser's operands and types: collected under the groups they belong to, parsed one by one, as lists, or as a
// functional type.
#include "lib/ir/op_parse_state.h"
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

static bool parseType(TileParse *parse, int group) {
  MlirType type;
  if (!mlirExtParserParseType(parse->parser, &type))
    return false;
  tileParsePushType(parse, group, type);
  return true;
}

MlirExtParseResult tileParseTypeGroup(TileParse *parse, int group, TileArity arity, bool isRequired) {
  if (arity == TileArity_One || (arity == TileArity_Optional && isRequired))
    return parseType(parse, group) ? MlirExtParse_Present : MlirExtParse_Failed;
  MlirType type;
  MlirExtParseResult result = mlirExtParserParseOptionalType(parse->parser, &type);
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

// `(T, T) -> T` or `(T) -> (T, T)`. A single result that is a function type stands in parentheses.
bool tileParseSignature(TileParse *parse, const TileElement *element) {
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
  tileParsePushType(parse, group, type);
  return true;
}
