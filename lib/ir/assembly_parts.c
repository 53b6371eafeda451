// Words, integers and lists of them as types, attributes and kinds print them (assembly_parts.h).
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/assembly_parts.h"

bool tileParseFail(MlirExtParser parser, MlirExtSourceLocation location, const char *format, ...) {
  char message[TILE_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return mlirExtParserError(parser, location, tileString(message));
}

bool tileIsOneOf(MlirStringRef word, const char *const *names) {
  for (; *names; ++names)
    if (tileStringEquals(word, *names))
      return true;
  return false;
}

const char *tileListNames(const char *const *names, char *buffer, size_t capacity) {
  size_t length = 0;
  buffer[0] = '\0';
  for (const char *separator = ""; *names && length < capacity; ++names, separator = ", ")
    length += (size_t)snprintf(buffer + length, capacity - length, "%s%s", separator, *names);
  return buffer;
}

bool tileParseOneOf(MlirExtParser parser, const char *what, const char *const *names, MlirAttribute *attribute) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  char list[256];
  MlirStringRef word;
  MlirExtParseResult result = mlirExtParserParseOptionalKeyword(parser, &word);
  if (result == MlirExtParse_Present && tileIsOneOf(word, names)) {
    *attribute = mlirStringAttrGet(mlirExtParserGetContext(parser), word);
    return true;
  }
  tileListNames(names, list, sizeof list);
  if (result == MlirExtParse_Present)
    return tileParseFail(parser, location, "unknown %s '%.*s', expected one of %s", what, (int)word.length, word.data,
                         list);
  return tileParseFail(parser, location, "expected %s: one of %s", what, list);
}

bool tileParseList(MlirExtParser parser, const char *what, TileParseEntry entry, void *data, intptr_t *count) {
  *count = 0;
  if (!mlirExtParserParseToken(parser, "["))
    return false;
  if (mlirExtParserParseOptionalToken(parser, "]"))
    return true;
  do {
    if (*count == TILE_MAX_LIST)
      return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d %s", TILE_MAX_LIST, what);
    if (!entry(parser, (*count)++, data))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, "]");
}

typedef struct Integers {
  bool allowUnknown; // `_`
  int64_t values[TILE_MAX_LIST];
} Integers;

static bool parseInteger(MlirExtParser parser, intptr_t number, void *data) {
  Integers *integers = data;
  if (!integers->allowUnknown || !mlirExtParserParseOptionalToken(parser, "_"))
    return mlirExtParserParseInteger(parser, &integers->values[number]);
  integers->values[number] = mlirShapedTypeGetDynamicSize();
  return true;
}

bool tileParseIntegers(MlirExtParser parser, bool allowUnknown, MlirAttribute *attribute) {
  Integers integers = {.allowUnknown = allowUnknown};
  intptr_t count;
  if (!tileParseList(parser, "numbers in a list", parseInteger, &integers, &count))
    return false;
  *attribute = tileIntegers(mlirExtParserGetContext(parser), count, integers.values);
  return true;
}

bool tileParseAnyAttribute(MlirExtParser parser, MlirAttribute *attribute) {
  return mlirExtParserParseAttribute(parser, (MlirType){NULL}, attribute);
}

void tilePrintIntegers(MlirExtPrinter printer, MlirAttribute attribute) {
  tilePrintText(printer, "[");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i) {
    int64_t value = mlirDenseI64ArrayGetElement(attribute, i);
    tilePrintText(printer, i ? ", " : "");
    if (value == mlirShapedTypeGetDynamicSize())
      tilePrintText(printer, "_");
    else
      mlirExtPrinterPrintInteger(printer, value);
  }
  tilePrintText(printer, "]");
}

void tilePrintWord(MlirExtPrinter printer, MlirAttribute stringAttribute) {
  mlirExtPrinterPrint(printer, mlirStringAttrGetValue(stringAttribute));
}

MlirAttribute tileIntegers(MlirContext context, intptr_t count, const int64_t *values) {
  return mlirDenseI64ArrayGet(context, count, values);
}

MlirAttribute tileInteger(MlirContext context, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), value);
}

MlirAttribute tileWord(MlirContext context, const char *text) { return mlirStringAttrGet(context, tileString(text)); }
