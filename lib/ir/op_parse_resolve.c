// The op parser's end: every operand gets its type and its value, results their types, segments their sizes.
#include "lib/ir/op_parse_state.h"
#include <stdio.h>
#include <stdlib.h>

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
