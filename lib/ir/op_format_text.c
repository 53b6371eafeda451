// Step 1 of compiling a row: its format, a string, as a flat array of elements in which a group knows how many of the
// following belong to it. Names become positions in the row's columns. Knows no MLIR.
#include "lib/ir/op_spec.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
  TileArena *arena;
  TileOpSpec *spec;
  const TileSpecError *error;
  const char *at;
  TileElement *elements; // as many as the format has characters
  int count;
  bool *operands, *attributes, *regions; // which have been named
  int attrDicts;
} Reader;

static bool fail(const Reader *reader, const char *source, const char *what, int length, const char *name) {
  return tileSpecError(reader->error, reader->spec, "format", "%s%.*s%s (at \"%.24s\")", what, length, name,
                       length ? "'" : "", source);
}
#define FAIL(source, what) fail(reader, source, what, 0, "")

static void skipSpace(Reader *reader) {
  while (isspace((unsigned char)*reader->at))
    ++reader->at;
}

static bool take(Reader *reader, const char *text) {
  if (strncmp(reader->at, text, strlen(text)))
    return false;
  reader->at += strlen(text);
  return true;
}

static TileElement *add(Reader *reader, TileElementKind kind, const char *source) {
  TileElement *element = &reader->elements[reader->count++];
  *element = (TileElement){.kind = kind, .source = source, .index = -1, .second = -1, .anchor = -1};
  return element;
}

//===--- names --------------------------------------------------------------===//
// Notes that `place` was named; false if it had been.
static bool note(Reader *reader, bool *seen, const char *source, const char *name, int length) {
  if (*seen)
    return fail(reader, source, "named twice: '", length, name);
  return *seen = true;
}

// `$name`
static bool takeName(Reader *reader, TilePlace *place, const char **name, int *length) {
  const char *source = reader->at;
  if (!take(reader, "$"))
    return FAIL(source, "expected $NAME");
  *name = reader->at;
  while (isalnum((unsigned char)*reader->at) || *reader->at == '_')
    ++reader->at;
  *length = (int)(reader->at - *name);
  *place = tileSpecFind(reader->spec, *name, (size_t)*length);
  return place->kind != TilePlace_None ||
         fail(reader, source, "no operand, result, attribute or region is named '", *length, *name);
}

static bool noteType(Reader *reader, TilePlace place, const char *source, const char *name, int length) {
  if (place.kind == TilePlace_Operand)
    return note(reader, &reader->spec->operands[place.index].typeInFormat, source, name, length);
  if (place.kind == TilePlace_Result)
    return note(reader, &reader->spec->results[place.index].typeInFormat, source, name, length);
  return fail(reader, source, "has no type: '", length, name);
}

static bool noteValue(Reader *reader, TilePlace place, const char *source, const char *name, int length) {
  switch (place.kind) {
  case TilePlace_Operand:
    return note(reader, &reader->operands[place.index], source, name, length);
  case TilePlace_Attribute:
    return note(reader, &reader->attributes[place.index], source, name, length);
  case TilePlace_Region:
    return note(reader, &reader->regions[place.index], source, name, length);
  default:
    return fail(reader, source, "results have no place in a format, only their types have: '", length, name);
  }
}

//===--- elements -----------------------------------------------------------===//
static bool isOneOf(const char *text, const char *characters) { return !text[1] && strchr(characters, text[0]); }

static bool isLiteral(const char *text) {
  static const char *const punctuation[] = {"->", "(", ")", "{", "}", "[", "]", "<", ">",  ",",
                                            ":",  "=", "?", "+", "-", "*", "/", "|", "..."};
  for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; ++i)
    if (!strcmp(text, punctuation[i]))
      return true;
  if (!isalpha((unsigned char)*text) && *text != '_')
    return false;
  while (isalnum((unsigned char)*text) || (*text && strchr("_.$", *text)))
    ++text;
  return !*text;
}

// `literal`, ` `, ``, `\n`
static bool readLiteral(Reader *reader) {
  const char *source = reader->at++, *begin = reader->at, *end = strchr(begin, '`');
  if (!end)
    return FAIL(source, "literal without an end");
  reader->at = end + 1;
  const char *text = tileArenaString(reader->arena, begin, (size_t)(end - begin));
  bool newline = !strcmp(text, "\\n") || !strcmp(text, "\n");
  if (!*text || !strcmp(text, " ") || newline) {
    TileElement *space = add(reader, TileElement_Space, source);
    space->text = newline ? "\n" : text;
    space->length = strlen(space->text);
    return true;
  }
  if (!isLiteral(text))
    return fail(reader, source, "neither punctuation nor a keyword: '", (int)strlen(text), text);
  TileElement *element = add(reader, TileElement_Literal, source);
  element->text = tileArenaPrintf(reader->arena, " %s", text) + 1;
  element->length = strlen(text);
  element->isPunctuation = !isalpha((unsigned char)*text) && *text != '_';
  element->opens = isOneOf(text, "<({[");
  element->closes = isOneOf(text, ">)}],");
  return true;
}

static bool readVariable(Reader *reader) {
  static const TileElementKind kinds[] = {
      [TilePlace_Operand] = TileElement_Operand,
      [TilePlace_Attribute] = TileElement_Attribute,
      [TilePlace_Region] = TileElement_Region,
  };
  const char *source = reader->at, *name;
  TilePlace place;
  int length;
  if (!takeName(reader, &place, &name, &length) || !noteValue(reader, place, source, name, length))
    return false;
  add(reader, kinds[place.kind], source)->index = place.index;
  return true;
}

static bool readType(Reader *reader, const char *source) {
  const char *name;
  TilePlace place;
  int length;
  if (!takeName(reader, &place, &name, &length) || !noteType(reader, place, source, name, length))
    return false;
  add(reader, place.kind == TilePlace_Operand ? TileElement_OperandType : TileElement_ResultType, source)->index =
      place.index;
  return take(reader, ")") || FAIL(source, "expected ) after type($NAME");
}

static bool noteAllTypes(Reader *reader, TilePlaceKind kind, const char *source) {
  bool operands = kind == TilePlace_Operand;
  int count = operands ? reader->spec->numOperands : reader->spec->numResults;
  const TileValueSpec *values = operands ? reader->spec->operands : reader->spec->results;
  for (int i = 0; i < count; ++i)
    if (!noteType(reader, (TilePlace){kind, i}, source, values[i].name, (int)strlen(values[i].name)))
      return false;
  return true;
}

// One side of functional-type: `$name`, or the word that stands for all.
static bool readSide(Reader *reader, const char *source, TilePlaceKind kind, const char *all, int *index) {
  const char *name;
  TilePlace place;
  int length;
  skipSpace(reader);
  if (take(reader, all))
    return noteAllTypes(reader, kind, source);
  if (!takeName(reader, &place, &name, &length) || !noteType(reader, place, source, name, length))
    return false;
  *index = place.index;
  return place.kind == kind || fail(reader, source, "on the wrong side of functional-type: '", length, name);
}

static bool readFunctionalType(Reader *reader, const char *source, bool isCommon) {
  int operand = -1, result = -1;
  if (!readSide(reader, source, TilePlace_Operand, "operands", &operand))
    return false;
  skipSpace(reader);
  if (!take(reader, ","))
    return FAIL(source, "expected a comma in functional-type");
  if (!readSide(reader, source, TilePlace_Result, "results", &result))
    return false;
  TileElement *element = add(reader, TileElement_FunctionalType, source);
  element->index = operand;
  element->second = result;
  element->isCommon = isCommon;
  return take(reader, ")") || FAIL(source, "expected ) after functional-type(…");
}

static bool readArgument(Reader *reader, const char *source, TileElement *custom) {
  const char *name;
  TilePlace place;
  int length;
  skipSpace(reader);
  bool type = take(reader, "type(");
  if (!takeName(reader, &place, &name, &length) || !(type ? noteType : noteValue)(reader, place, source, name, length))
    return false;
  if (!type)
    custom->arguments[custom->numArguments++] = place;
  if (type && !take(reader, ")"))
    return FAIL(source, "expected ) after type($NAME");
  skipSpace(reader);
  return true;
}

// custom<Name>($a, type($b))
static bool readCustom(Reader *reader, const char *source) {
  const char *begin = reader->at, *end = strchr(begin, '>');
  if (!end || end[1] != '(')
    return FAIL(source, "expected custom<NAME>(…)");
  TileElement *element = add(reader, TileElement_Custom, source);
  element->text = tileArenaString(reader->arena, begin, (size_t)(end - begin));
  reader->at = end + 2;
  int room = 1;
  for (const char *at = reader->at; *at && *at != '`'; ++at)
    room += *at == ',';
  element->arguments = tileArenaAllocate(reader->arena, sizeof *element->arguments * (size_t)room);
  skipSpace(reader);
  if (take(reader, ")"))
    return true;
  do {
    if (!readArgument(reader, source, element))
      return false;
  } while (take(reader, ","));
  return take(reader, ")") || FAIL(source, "expected ) after the arguments of custom<…>");
}

static bool readAttrDict(Reader *reader, const char *source, bool withKeyword) {
  add(reader, TileElement_AttrDict, source)->withKeyword = withKeyword;
  return ++reader->attrDicts == 1 || FAIL(source, "a second attr-dict");
}

//===--- groups -------------------------------------------------------------===//
static bool readElements(Reader *reader, int group);

// What the group's first element (spaces apart) and its anchor mean for its other elements.
static bool finishGroup(Reader *reader, int group) {
  TileElement *elements = reader->elements;
  int first = group + 1;
  while (first < reader->count && elements[first].kind == TileElement_Space)
    ++first;
  if (first == reader->count)
    return fail(reader, elements[group].source, "an empty group", 0, "");
  if (elements[group].anchor < 0)
    return fail(reader, elements[group].source, "a group without an anchor (^)", 0, "");
  bool afterLiteral = elements[first].kind == TileElement_Literal;
  TileElement *anchor = &elements[elements[group].anchor];
  anchor->isRequired = elements[group].anchor != first;
  for (int i = first; i < reader->count; ++i)
    if (elements[i].kind == TileElement_Attribute && reader->spec->attributes[elements[i].index].isUnit)
      elements[i].isSilent = afterLiteral;
  return true;
}

// ( … )?
static bool readGroup(Reader *reader) {
  const char *source = reader->at++;
  int group = (int)(add(reader, TileElement_Group, source) - reader->elements);
  if (!readElements(reader, group))
    return false;
  if (!take(reader, ")?"))
    return FAIL(source, "a group must end with )?");
  reader->elements[group].count = reader->count - group - 1;
  return finishGroup(reader, group);
}

static bool readAnchor(Reader *reader, int group, int element) {
  const char *source = reader->elements[element].source;
  if (group < 0)
    return FAIL(source, "an anchor (^) outside of a group");
  if (reader->elements[group].anchor >= 0)
    return FAIL(source, "a second anchor (^) in a group");
  if (reader->elements[element].kind == TileElement_Literal)
    return FAIL(source, "a literal cannot be an anchor (^)");
  reader->elements[group].anchor = element;
  return true;
}

static bool readElement(Reader *reader) {
  const char *source = reader->at;
  if (*reader->at == '`')
    return readLiteral(reader);
  if (*reader->at == '$')
    return readVariable(reader);
  if (*reader->at == '(')
    return readGroup(reader);
  if (take(reader, "type("))
    return readType(reader, source);
  if (take(reader, "attr-dict-with-keyword"))
    return readAttrDict(reader, source, true);
  if (take(reader, "attr-dict"))
    return readAttrDict(reader, source, false);
  if (take(reader, "functional-type("))
    return readFunctionalType(reader, source, false);
  if (take(reader, "common-type("))
    return readFunctionalType(reader, source, true);
  if (take(reader, "custom<"))
    return readCustom(reader, source);
  return FAIL(source, "not a format element");
}

static bool readElements(Reader *reader, int group) {
  for (skipSpace(reader); *reader->at && *reader->at != ')'; skipSpace(reader)) {
    int element = reader->count;
    if (!readElement(reader))
      return false;
    if (take(reader, "^") && !readAnchor(reader, group, element))
      return false;
  }
  return true;
}

//===--- the whole format ---------------------------------------------------===//
static bool missing(const Reader *reader, const char *what, const char *name) {
  return tileSpecError(reader->error, reader->spec, "format", "%s '%s' is not in it", what, name);
}

static bool checkComplete(Reader *reader) {
  const TileOpSpec *spec = reader->spec;
  for (int i = 0; i < spec->numOperands; ++i)
    if (!reader->operands[i])
      return missing(reader, "operand", spec->operands[i].name);
  for (int i = 0; i < spec->numRegions; ++i)
    if (!reader->regions[i])
      return missing(reader, "region", spec->regions[i].name);
  return reader->attrDicts == 1 || tileSpecError(reader->error, spec, "format", "attr-dict is missing");
}

// attr-dict leaves out what the format names, and segment sizes.
static void listElided(Reader *reader) {
  TileOpSpec *spec = reader->spec;
  spec->elided = tileArenaAllocate(reader->arena, sizeof *spec->elided * (size_t)(spec->numAttributes + 2));
  for (int i = 0; i < spec->numAttributes; ++i)
    if ((spec->attributes[i].inFormat = reader->attributes[i]))
      spec->elided[spec->numElided++] = spec->attributes[i].name;
    else
      spec->dictHoldsInherent = true;
  if (spec->operandSegments)
    spec->elided[spec->numElided++] = "operandSegmentSizes";
  if (spec->resultSegments)
    spec->elided[spec->numElided++] = "resultSegmentSizes";
}

static bool readFormat(Reader *reader) {
  if (!readElements(reader, -1))
    return false;
  if (*reader->at)
    return FAIL(reader->at, "a ) without its (");
  if (!checkComplete(reader))
    return false;
  listElided(reader);
  size_t size = sizeof *reader->elements * (size_t)reader->count;
  reader->spec->elements = tileArenaAllocate(reader->arena, size);
  memcpy(reader->spec->elements, reader->elements, size);
  reader->spec->numElements = reader->count;
  return true;
}

bool tileSpecCompileFormat(TileArena *arena, TileOpSpec *spec, const TileSpecError *error) {
  Reader reader = {.arena = arena, .spec = spec, .error = error, .at = spec->row->format};
  reader.elements = calloc(strlen(spec->row->format) + 1, sizeof *reader.elements);
  size_t names = (size_t)(spec->numOperands + spec->numAttributes + spec->numRegions);
  reader.operands = calloc(names + 1, sizeof(bool));
  reader.attributes = reader.operands + spec->numOperands;
  reader.regions = reader.attributes + spec->numAttributes;
  bool ok = readFormat(&reader);
  free(reader.operands);
  free(reader.elements);
  return ok;
}
