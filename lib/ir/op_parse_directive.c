// What a directive may do while an op is parsed (op_format.h), by the names of the row.
#include "lib/ir/op_parse_state.h"
#include <assert.h>
#include <string.h>

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
