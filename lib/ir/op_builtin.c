// What every dialect has: words, integers and lists of them as types, attributes and kinds print them
// (assembly_parts.h), and the constraints, attribute kinds and type rules that lib/ir/op_table.h lists.
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_spec.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- words and integers ---------------------------------------------------===//

bool tileParseFail(MlirExtParser parser, MlirExtSourceLocation location, const char *format, ...) {
  char *message;
  va_list arguments;
  va_start(arguments, format);
  bool isMade = vasprintf(&message, format, arguments) >= 0;
  va_end(arguments);
  mlirExtParserError(parser, location, tileString(isMade ? message : format));
  if (isMade)
    free(message);
  return false;
}

bool tileIsOneOf(MlirStringRef word, const char *const *names) {
  for (; *names; ++names)
    if (tileStringEquals(word, *names))
      return true;
  return false;
}

const char *tileListNames(const char *const *names, tessera_list_t *list) {
  for (; *names; ++names)
    tessera_list_add(list, "%s", *names);
  return list->text;
}

bool tileParseOneOf(MlirExtParser parser, const char *what, const char *const *names, MlirAttribute *attribute) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef word;
  MlirExtParseResult result = mlirExtParserParseOptionalKeyword(parser, &word);
  if (result == MlirExtParse_Present && tileIsOneOf(word, names)) {
    *attribute = mlirStringAttrGet(mlirExtParserGetContext(parser), word);
    return true;
  }
  TESSERA_LIST(list);
  tileListNames(names, &list);
  if (result == MlirExtParse_Present)
    return tileParseFail(parser, location, "unknown %s '%.*s', expected one of %s", what, (int)word.length, word.data,
                         list.text);
  return tileParseFail(parser, location, "expected %s: one of %s", what, list.text);
}

static bool parseKey(MlirExtParser parser, const char *what, const char *const *names, const MlirAttribute *values,
                     int *key) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef name;
  TESSERA_LIST(list);
  if (!mlirExtParserParseKeyword(parser, &name))
    return false;
  for (*key = 0; names[*key] && !tileStringEquals(name, names[*key]);)
    ++*key;
  if (!names[*key])
    return tileParseFail(parser, location, "unknown key '%.*s' in %s, expected one of %s", (int)name.length, name.data,
                         what, tileListNames(names, &list));
  return mlirAttributeIsNull(values[*key]) || tileParseFail(parser, location, "'%s' is given twice", names[*key]);
}

bool tileParseKeys(MlirExtParser parser, const char *what, const char *const *names, TileParseValue parseValue,
                   const void *data, MlirAttribute *values) {
  int key;
  do
    if (!parseKey(parser, what, names, values, &key) || !parseValue(parser, key, data, &values[key]))
      return false;
  while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, ">");
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

//===--- constraints: elements ----------------------------------------------===//
static bool isSignless(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type); }
static bool isScalar(MlirType type) {
  return mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type) || mlirTypeIsAFloat(type);
}
static bool isIndexOrInteger(MlirType type) { return mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type); }

#define INTEGER(width)                                                                                                 \
  static bool isI##width(MlirType type) { return isSignless(type) && mlirIntegerTypeGetWidth(type) == width; }         \
  static MlirType getI##width(MlirContext context) { return mlirIntegerTypeGet(context, width); }
INTEGER(1)
INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

//===--- constraints: shapes ------------------------------------------------===//
static bool isTensor(MlirType type) { return mlirTypeIsARankedTensor(type) || mlirTypeIsAUnrankedTensor(type); }
static bool isMemref(MlirType type) { return mlirTypeIsAMemRef(type) || mlirTypeIsAUnrankedMemRef(type); }
static bool isTile(MlirType type) { return mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type); }
static bool isTileOf(MlirType type, bool (*isElement)(MlirType)) {
  return isTile(type) && isElement(mlirShapedTypeGetElementType(type));
}
static bool isI1Tile(MlirType type) { return isTileOf(type, isI1); }
static bool isIndexTile(MlirType type) { return isTileOf(type, isIndexOrInteger); }
static bool isIntegerTile(MlirType type) { return isTileOf(type, mlirTypeIsAInteger); }
static bool isFloatTile(MlirType type) { return isTileOf(type, mlirTypeIsAFloat); }
static bool isTileOrScalar(MlirType type) { return isTile(type) || isScalar(type); }

const TileConstraint tileBuiltinConstraints[] = {
    {"any", NULL, "any type", NULL},
    {"index", mlirTypeIsAIndex, "index", mlirIndexTypeGet},
    {"integer", mlirTypeIsAInteger, "an integer", NULL},
    {"signless integer", isSignless, "a signless integer", NULL},
    {"float", mlirTypeIsAFloat, "a float", NULL},
    {"scalar", isScalar, "a scalar (index, integer or float)", NULL},
    {"i1", isI1, "i1", getI1},
    {"i8", isI8, "i8", getI8},
    {"i16", isI16, "i16", getI16},
    {"i32", isI32, "i32", getI32},
    {"i64", isI64, "i64", getI64},
    {"f16", mlirTypeIsAF16, "f16", mlirF16TypeGet},
    {"bf16", mlirTypeIsABF16, "bf16", mlirBF16TypeGet},
    {"f32", mlirTypeIsAF32, "f32", mlirF32TypeGet},
    {"f64", mlirTypeIsAF64, "f64", mlirF64TypeGet},
    {"tensor", isTensor, "a tensor", NULL},
    {"tile", isTile, "a tile (a ranked tensor of static shape)", NULL},
    {"i1 tile", isI1Tile, "a tile of i1", NULL},
    {"index tile", isIndexTile, "a tile of index or integers", NULL},
    {"integer tile", isIntegerTile, "a tile of integers", NULL},
    {"float tile", isFloatTile, "a tile of floats", NULL},
    {"tile or scalar", isTileOrScalar, "a tile (a ranked tensor of static shape) or a scalar", NULL},
    {"memref", isMemref, "a memref", NULL},
    {"vector", mlirTypeIsAVector, "a vector", NULL},
    {"function", mlirTypeIsAFunction, "a function type", NULL},
    {"none", mlirTypeIsANone, "none", mlirNoneTypeGet},
    {NULL},
};

//===--- kinds: numbers -----------------------------------------------------===//
static bool isIntegerOf(MlirAttribute attribute, bool (*isType)(MlirType)) {
  return mlirAttributeIsAInteger(attribute) && isType(mlirAttributeGetType(attribute));
}
static bool parseIntegerOf(MlirExtParser parser, MlirType type, MlirAttribute *attribute) {
  int64_t value;
  if (!mlirExtParserParseInteger(parser, &value))
    return false;
  *attribute = mlirIntegerAttrGet(type, value);
  return true;
}
static void printIntegerValue(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(attribute));
}

#define INTEGER_KIND(Name, isType, makeType)                                                                           \
  static bool is##Name##Kind(MlirAttribute attribute) { return isIntegerOf(attribute, isType); }                       \
  static bool parse##Name(MlirExtParser parser, MlirAttribute *attribute) {                                            \
    return parseIntegerOf(parser, makeType(mlirExtParserGetContext(parser)), attribute);                               \
  }
INTEGER_KIND(I32, isI32, getI32)
INTEGER_KIND(I64, isI64, getI64)
INTEGER_KIND(Index, mlirTypeIsAIndex, mlirIndexTypeGet)

static bool isIntegerKind(MlirAttribute attribute) {
  return mlirAttributeIsAInteger(attribute) && !mlirAttributeIsABool(attribute);
}

static bool isUnitKind(MlirAttribute attribute) { return mlirAttributeIsAUnit(attribute); }

static bool parseBool(MlirExtParser parser, MlirAttribute *attribute) {
  bool isTrue = mlirExtParserParseOptionalToken(parser, "true");
  if (!isTrue && !mlirExtParserParseOptionalToken(parser, "false"))
    return mlirExtParserError(parser, mlirExtParserGetLocation(parser), tileString("expected true or false"));
  *attribute = mlirBoolAttrGet(mlirExtParserGetContext(parser), isTrue);
  return true;
}
static void printBool(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrint(printer, tileString(mlirBoolAttrGetValue(attribute) ? "true" : "false"));
}

#define FLOAT_KIND(Name, isType, makeType)                                                                             \
  static bool is##Name##Kind(MlirAttribute attribute) {                                                                \
    return mlirAttributeIsAFloat(attribute) && isType(mlirAttributeGetType(attribute));                                \
  }                                                                                                                    \
  static bool parse##Name(MlirExtParser parser, MlirAttribute *attribute) {                                            \
    return mlirExtParserParseAttribute(parser, makeType(mlirExtParserGetContext(parser)), attribute);                  \
  }
FLOAT_KIND(F32, mlirTypeIsAF32, mlirF32TypeGet)
FLOAT_KIND(F64, mlirTypeIsAF64, mlirF64TypeGet)

//===--- kinds: text and names ----------------------------------------------===//
static bool isStringKind(MlirAttribute attribute) { return mlirAttributeIsAString(attribute); }
// With a type given, upstream's parser does not take a following `:` as the string's own.
static bool parseString(MlirExtParser parser, MlirAttribute *attribute) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirType none = mlirNoneTypeGet(mlirExtParserGetContext(parser));
  if (*location != '"')
    return mlirExtParserError(parser, location, tileString("expected a string"));
  return mlirExtParserParseAttribute(parser, none, attribute);
}

static bool isKeywordText(MlirStringRef text) {
  for (size_t i = 0; i < text.length; ++i) {
    char c = text.data[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.' || c == '$')))
      return false;
  }
  return text.length > 0;
}
static bool isKeywordKind(MlirAttribute attribute) {
  return mlirAttributeIsAString(attribute) && isKeywordText(mlirStringAttrGetValue(attribute));
}
static bool parseKeyword(MlirExtParser parser, MlirAttribute *attribute) {
  MlirStringRef keyword;
  if (!mlirExtParserParseKeyword(parser, &keyword))
    return false;
  *attribute = mlirStringAttrGet(mlirExtParserGetContext(parser), keyword);
  return true;
}
static void printKeyword(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrint(printer, mlirStringAttrGetValue(attribute));
}

static bool isSymbolKind(MlirAttribute attribute) { return mlirAttributeIsAFlatSymbolRef(attribute); }
static bool parseSymbol(MlirExtParser parser, MlirAttribute *attribute) {
  MlirAttribute name;
  if (!mlirExtParserParseSymbolName(parser, &name))
    return false;
  *attribute = mlirFlatSymbolRefAttrGet(mlirExtParserGetContext(parser), mlirStringAttrGetValue(name));
  return true;
}
static void printSymbol(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrintSymbolName(printer, mlirFlatSymbolRefAttrGetValue(attribute));
}
static void printSymbolName(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrintSymbolName(printer, mlirStringAttrGetValue(attribute));
}

static bool isTypeKind(MlirAttribute attribute) { return mlirAttributeIsAType(attribute); }
static bool parseTypeKind(MlirExtParser parser, MlirAttribute *attribute) {
  MlirType type;
  if (!mlirExtParserParseType(parser, &type))
    return false;
  *attribute = mlirTypeAttrGet(type);
  return true;
}
static void printTypeKind(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(attribute));
}

//===--- kinds: lists -------------------------------------------------------===//
// A list being parsed; grows by doubling.
typedef struct List {
  void *items;
  intptr_t count;
} List;

static void *appendTo(List *list, size_t size) {
  list->items = tessera_grow(list->items, list->count, size);
  return (char *)list->items + size * (size_t)list->count++;
}

// `[` item, … `]` with one call of `parseItem` an item.
static bool parseList(MlirExtParser parser, List *list, bool (*parseItem)(MlirExtParser, List *)) {
  if (!mlirExtParserParseToken(parser, "["))
    return false;
  if (mlirExtParserParseOptionalToken(parser, "]"))
    return true;
  do {
    if (!parseItem(parser, list))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, "]");
}

static bool parseI64Item(MlirExtParser parser, List *list) {
  return mlirExtParserParseInteger(parser, appendTo(list, sizeof(int64_t)));
}
static bool parseI32Item(MlirExtParser parser, List *list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  int64_t value;
  if (!mlirExtParserParseInteger(parser, &value))
    return false;
  if (value != (int32_t)value)
    return mlirExtParserError(parser, location, tileString("does not fit in 32 bits"));
  *(int32_t *)appendTo(list, sizeof(int32_t)) = (int32_t)value;
  return true;
}
static bool parseI64Array(MlirExtParser parser, MlirAttribute *attribute) {
  List list = {0};
  bool ok = parseList(parser, &list, parseI64Item);
  if (ok)
    *attribute = mlirDenseI64ArrayGet(mlirExtParserGetContext(parser), list.count, list.items);
  free(list.items);
  return ok;
}
static bool parseI32Array(MlirExtParser parser, MlirAttribute *attribute) {
  List list = {0};
  bool ok = parseList(parser, &list, parseI32Item);
  if (ok)
    *attribute = mlirDenseI32ArrayGet(mlirExtParserGetContext(parser), list.count, list.items);
  free(list.items);
  return ok;
}

static bool parseKeywordItem(MlirExtParser parser, List *list) {
  return parseKeyword(parser, appendTo(list, sizeof(MlirAttribute)));
}
static bool parseTypeItem(MlirExtParser parser, List *list) {
  return parseTypeKind(parser, appendTo(list, sizeof(MlirAttribute)));
}
static bool parseStringItem(MlirExtParser parser, List *list) {
  return parseString(parser, appendTo(list, sizeof(MlirAttribute)));
}
static bool parseArrayOf(MlirExtParser parser, MlirAttribute *attribute, bool (*parseItem)(MlirExtParser, List *)) {
  List list = {0};
  bool ok = parseList(parser, &list, parseItem);
  if (ok)
    *attribute = mlirArrayAttrGet(mlirExtParserGetContext(parser), list.count, list.items);
  free(list.items);
  return ok;
}
static bool parseKeywordArray(MlirExtParser parser, MlirAttribute *attribute) {
  return parseArrayOf(parser, attribute, parseKeywordItem);
}
static bool parseTypeArray(MlirExtParser parser, MlirAttribute *attribute) {
  return parseArrayOf(parser, attribute, parseTypeItem);
}
static bool parseStringArray(MlirExtParser parser, MlirAttribute *attribute) {
  return parseArrayOf(parser, attribute, parseStringItem);
}

static bool isArrayOf(MlirAttribute attribute, bool (*isItem)(MlirAttribute)) {
  if (!mlirAttributeIsAArray(attribute))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    if (!isItem(mlirArrayAttrGetElement(attribute, i)))
      return false;
  return true;
}
static bool isKeywordArray(MlirAttribute attribute) { return isArrayOf(attribute, isKeywordKind); }
static bool isTypeArray(MlirAttribute attribute) { return isArrayOf(attribute, isTypeKind); }
static bool isStringArray(MlirAttribute attribute) { return isArrayOf(attribute, isStringKind); }

static void printSeparator(MlirExtPrinter printer, intptr_t index) {
  if (index)
    mlirExtPrinterPrint(printer, tileString(", "));
}
static void printI64Array(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrint(printer, tileString("["));
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i) {
    printSeparator(printer, i);
    mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(attribute, i));
  }
  mlirExtPrinterPrint(printer, tileString("]"));
}
static void printI32Array(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrint(printer, tileString("["));
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i) {
    printSeparator(printer, i);
    mlirExtPrinterPrintInteger(printer, mlirDenseI32ArrayGetElement(attribute, i));
  }
  mlirExtPrinterPrint(printer, tileString("]"));
}
static void printKeywordArray(MlirExtPrinter printer, MlirAttribute attribute) {
  mlirExtPrinterPrint(printer, tileString("["));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i) {
    printSeparator(printer, i);
    printKeyword(printer, mlirArrayAttrGetElement(attribute, i));
  }
  mlirExtPrinterPrint(printer, tileString("]"));
}

const TileAttributeKind tileBuiltinKinds[] = {
    {"unit", isUnitKind, "unit", NULL, NULL},
    {"bool", mlirAttributeIsABool, "true or false", parseBool, printBool},
    {"i32", isI32Kind, "an i32 integer", parseI32, printIntegerValue},
    {"i64", isI64Kind, "an i64 integer", parseI64, printIntegerValue},
    {"index", isIndexKind, "an index integer", parseIndex, printIntegerValue},
    {"f32", isF32Kind, "an f32 number", parseF32, mlirExtPrinterPrintAttributeWithoutType},
    {"f64", isF64Kind, "an f64 number", parseF64, mlirExtPrinterPrintAttributeWithoutType},
    {"string", isStringKind, "a string", parseString, mlirExtPrinterPrintAttributeWithoutType},
    {"keyword", isKeywordKind, "a keyword", parseKeyword, printKeyword},
    {"symbol", isSymbolKind, "a symbol reference", parseSymbol, printSymbol},
    {"symbol name", isStringKind, "a symbol name", mlirExtParserParseSymbolName, printSymbolName},
    {"type", isTypeKind, "a type", parseTypeKind, printTypeKind},
    {"type array", isTypeArray, "an array of types", parseTypeArray, NULL},
    {"array", mlirAttributeIsAArray, "an array", NULL, NULL},
    {"string array", isStringArray, "an array of strings", parseStringArray, NULL},
    {"keyword array", isKeywordArray, "an array of keywords", parseKeywordArray, printKeywordArray},
    {"i64 array", mlirAttributeIsADenseI64Array, "a list of i64 integers", parseI64Array, printI64Array},
    {"i32 array", mlirAttributeIsADenseI32Array, "a list of i32 integers", parseI32Array, printI32Array},
    {"integer", isIntegerKind, "an integer", NULL, NULL},
    {"float", mlirAttributeIsAFloat, "a float", NULL, NULL},
    {"elements", mlirAttributeIsAElements, "elements (dense<…>)", NULL, NULL},
    {"affine map", mlirAttributeIsAAffineMap, "an affine map", NULL, NULL},
    {"dictionary", mlirAttributeIsADictionary, "a dictionary", NULL, NULL},
    {"any", NULL, "any attribute", NULL, NULL},
    {NULL},
};

//===--- rules --------------------------------------------------------------===//
// The same shape (and encoding) with another element; a scalar becomes the element.
static MlirType withElement(MlirType type, MlirType element) {
  if (!mlirTypeIsARankedTensor(type))
    return mlirTypeIsAShaped(type) ? (MlirType){NULL} : element;
  int64_t rank = mlirShapedTypeGetRank(type);
  int64_t *shape = malloc(sizeof *shape * (size_t)(rank + 1));
  for (int64_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  MlirAttribute encoding = mlirRankedTensorTypeGetEncoding(type);
  MlirType result =
      mlirRankedTensorTypeGetChecked(mlirLocationUnknownGet(mlirTypeGetContext(type)), rank, shape, element, encoding);
  free(shape);
  return result;
}
static MlirType withI1(MlirType type) { return withElement(type, getI1(mlirTypeGetContext(type))); }
static MlirType withI32(MlirType type) { return withElement(type, getI32(mlirTypeGetContext(type))); }
static MlirType withIndex(MlirType type) { return withElement(type, mlirIndexTypeGet(mlirTypeGetContext(type))); }
static MlirType elementOf(MlirType type) { return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type; }

const TileTypeRule tileBuiltinRules[] = {
    {"i1", withI1}, {"index", withIndex}, {"i32", withI32}, {"element", elementOf}, {NULL},
};
