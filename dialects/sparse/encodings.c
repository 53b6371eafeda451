// The encodings #sparse.csr, csc, coo, bsr, nm, mask and sum: text, verifier, getters, all from one table of keys.
//
//   #sparse.csr   #sparse.csr<positions = i64>   #sparse.nm<n = 3, m = 32, vector = [32, 1]>
//
// A key's default is stored, written or not, and never printed: equal encodings are one attribute. Parameters stand in
// the order of the keys.
#include <string.h>

#include "dialects/sparse/definitions.h"
#include "lib/ir/assembly_parts.h"

typedef enum Form {
  Number,      // n = 3
  Sizes,       // block = [32, 32]: one per axis
  IntegerType, // coordinates = i32
  Flag,        // unordered
  Parts,       // parts = [#sparse.csr, …]
} Form;

typedef struct Key {
  const char *name;
  Form form;
  int64_t fallback; // of a number, of each size, or a type's width; REQUIRED: none
} Key;

enum { REQUIRED = -1, MAX_KEYS = 5, MAX_PARTS = 4 };

static const Key keys[SparseNumFormats][MAX_KEYS + 1] = {
    [SparseCsr] = {{"positions", IntegerType, 32}, {"coordinates", IntegerType, 32}},
    [SparseCsc] = {{"positions", IntegerType, 32}, {"coordinates", IntegerType, 32}},
    [SparseCoo] = {{"coordinates", IntegerType, 32}, {"unordered", Flag}},
    [SparseBsr] = {{"block", Sizes, REQUIRED}, {"positions", IntegerType, 32}, {"coordinates", IntegerType, 32}},
    [SparseNm] = {{"n", Number, REQUIRED},
                  {"m", Number, REQUIRED},
                  {"axis", Number, 1},
                  {"vector", Sizes, 1},
                  {"coordinates", IntegerType, 8}},
    [SparseMask] = {{"tile", Sizes, REQUIRED}, {"axis", Number, 1}},
    [SparseSum] = {{"parts", Parts, REQUIRED}},
};
static const char *const names[] = {"csr", "csc", "coo", "bsr", "nm", "mask", "sum"};

static intptr_t findKey(const Key *list, MlirStringRef name) {
  for (intptr_t i = 0; list[i].name; ++i)
    if (tileStringEquals(name, list[i].name))
      return i;
  return -1;
}

static intptr_t countKeys(const Key *list) {
  intptr_t count = 0;
  while (list[count].name)
    ++count;
  return count;
}

//===--- text ---------------------------------------------------------------===//

static bool parsePart(MlirExtParser parser, intptr_t number, void *parts) {
  if (number >= MAX_PARTS)
    return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d parts", MAX_PARTS);
  return tileParseAnyAttribute(parser, (MlirAttribute *)parts + number);
}

static bool parseParts(MlirExtParser parser, MlirAttribute *value) {
  MlirAttribute parts[MAX_PARTS];
  intptr_t count;
  if (!tileParseList(parser, "parts", parsePart, parts, &count))
    return false;
  *value = mlirArrayAttrGet(mlirExtParserGetContext(parser), count, parts);
  return true;
}

static bool parseValue(MlirExtParser parser, Form form, MlirAttribute *value) {
  MlirContext context = mlirExtParserGetContext(parser);
  int64_t number;
  MlirType type;
  if (form == Flag) {
    *value = mlirBoolAttrGet(context, true);
    return true;
  }
  if (!mlirExtParserParseToken(parser, "="))
    return false;
  switch (form) {
  case Number:
    if (!mlirExtParserParseInteger(parser, &number))
      return false;
    *value = tileInteger(context, number);
    return true;
  case IntegerType:
    if (!mlirExtParserParseType(parser, &type))
      return false;
    *value = mlirTypeAttrGet(type);
    return true;
  case Sizes:
    return tileParseIntegers(parser, /*allowUnknown=*/false, value);
  default:
    return parseParts(parser, value);
  }
}

static bool parseEntry(MlirExtParser parser, SparseFormat format, MlirAttribute *values) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  const char *known[MAX_KEYS + 1];
  char list[256];
  MlirStringRef name;
  if (!mlirExtParserParseKeyword(parser, &name))
    return false;
  intptr_t key = findKey(keys[format], name);
  for (intptr_t i = 0; i <= MAX_KEYS; ++i)
    known[i] = keys[format][i].name;
  if (key < 0)
    return tileParseFail(parser, location, "unknown key '%.*s' in #sparse.%s, expected one of %s", (int)name.length,
                         name.data, names[format], tileListNames(known, list, sizeof list));
  if (values[key].ptr)
    return tileParseFail(parser, location, "'%s' is given twice", keys[format][key].name);
  return parseValue(parser, keys[format][key].form, &values[key]);
}

static MlirAttribute fallbackOf(MlirContext context, const Key *key) {
  switch (key->form) {
  case Number:
    return tileInteger(context, key->fallback);
  case Sizes:
    return tileIntegers(context, 2, (int64_t[]){key->fallback, key->fallback});
  case IntegerType:
    return mlirTypeAttrGet(mlirIntegerTypeGet(context, (unsigned)key->fallback));
  default:
    return mlirBoolAttrGet(context, false);
  }
}

static bool parse(MlirExtParser parser, SparseFormat format, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute values[MAX_KEYS] = {{NULL}};
  if (mlirExtParserParseOptionalToken(parser, "<")) {
    do
      if (!parseEntry(parser, format, values))
        return false;
    while (mlirExtParserParseOptionalToken(parser, ","));
    if (!mlirExtParserParseToken(parser, ">"))
      return false;
  }
  for (intptr_t i = 0; i < countKeys(keys[format]); ++i) {
    if (!values[i].ptr && keys[format][i].fallback == REQUIRED)
      return tileParseFail(parser, location, "#sparse.%s without '%s'", names[format], keys[format][i].name);
    mlirExtAttributeListAppend(list, values[i].ptr ? values[i]
                                                   : fallbackOf(mlirExtParserGetContext(parser), &keys[format][i]));
  }
  return true;
}

static void printValue(MlirExtPrinter printer, const Key *key, MlirAttribute value) {
  tilePrintText(printer, key->name);
  if (key->form == Flag)
    return;
  tilePrintText(printer, " = ");
  if (key->form == Sizes)
    tilePrintIntegers(printer, value);
  else if (key->form == IntegerType)
    mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(value));
  else
    mlirExtPrinterPrintAttributeWithoutType(printer, value);
}

static void print(MlirExtPrinter printer, SparseFormat format, intptr_t count, const MlirAttribute *values) {
  MlirContext context = mlirAttributeGetContext(values[0]);
  const char *before = "<";
  for (intptr_t i = 0; i < count; ++i) {
    const Key *key = &keys[format][i];
    if (key->fallback != REQUIRED && mlirAttributeEqual(values[i], fallbackOf(context, key)))
      continue;
    tilePrintText(printer, before);
    printValue(printer, key, values[i]);
    before = ", ";
  }
  if (strcmp(before, "<") != 0)
    tilePrintText(printer, ">");
}

//===--- verifiers ----------------------------------------------------------===//

static int64_t number(MlirAttribute value) { return mlirIntegerAttrGetValueInt(value); }
static int64_t size(MlirAttribute sizes, intptr_t axis) { return mlirDenseI64ArrayGetElement(sizes, axis); }

// Positions and coordinates are i32 or i64; coordinates within a window may be as narrow as i8.
static bool verifyInteger(MlirExtEmitter emitter, SparseFormat format, const char *name, MlirAttribute value) {
  char text[64];
  MlirType type = mlirAttributeIsAType(value) ? mlirTypeAttrGetValue(value) : (MlirType){NULL};
  unsigned width =
      type.ptr && mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) ? mlirIntegerTypeGetWidth(type) : 0;
  bool narrow = format == SparseNm && (width == 8 || width == 16);
  return width == 32 || width == 64 || narrow ||
         tileEmit(emitter, "%s of #sparse.%s are %s, expected %s", name, names[format],
                  type.ptr ? tileTypeText(type, text, sizeof text) : "no type",
                  format == SparseNm ? "i8, i16, i32 or i64" : "i32 or i64");
}

static bool verifySizes(MlirExtEmitter emitter, SparseFormat format, const char *name, MlirAttribute value) {
  if (!mlirAttributeIsADenseI64Array(value) || mlirDenseArrayGetNumElements(value) != 2)
    return tileEmit(emitter, "%s of #sparse.%s has %ld sizes, expected 2", name, names[format],
                    (long)(mlirAttributeIsADenseI64Array(value) ? mlirDenseArrayGetNumElements(value) : 0));
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (size(value, axis) < 1 || size(value, axis) > INT32_MAX)
      return tileEmit(emitter, "size %ld of %s of #sparse.%s is %ld, expected 1 to %d", (long)axis, name, names[format],
                      (long)size(value, axis), INT32_MAX);
  return true;
}

static bool verifyParts(MlirExtEmitter emitter, MlirAttribute parts) {
  char text[128];
  intptr_t count = mlirAttributeIsAArray(parts) ? mlirArrayAttrGetNumElements(parts) : 0;
  if (count < 2 || count > MAX_PARTS)
    return tileEmit(emitter, "#sparse.sum has %ld parts, expected 2 to %d", (long)count, MAX_PARTS);
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute part = mlirArrayAttrGetElement(parts, i);
    if (!sparseAttributeIsAnEncoding(part) || sparseEncodingIs(part, SparseSum))
      return tileEmit(emitter, "part %ld of #sparse.sum is %s, expected an encoding other than #sparse.sum", (long)i,
                      tileAttributeText(part, text, sizeof text));
  }
  return true;
}

static bool verifyRange(MlirExtEmitter emitter, SparseFormat format, const char *name, int64_t seen, int64_t most) {
  int64_t least = strcmp(name, "axis") == 0 ? 0 : 1;
  return (seen >= least && seen <= most) || tileEmit(emitter, "%s of #sparse.%s is %ld, expected %ld to %ld", name,
                                                     names[format], (long)seen, (long)least, (long)most);
}

// Window and group: what n, m, the vector and the coordinates' type say together.
static bool verifyWindow(MlirExtEmitter emitter, const MlirAttribute *values) {
  int64_t n = number(values[0]), m = number(values[1]), axis = number(values[2]);
  unsigned width = mlirIntegerTypeGetWidth(mlirTypeAttrGetValue(values[4]));
  if (!verifyRange(emitter, SparseNm, "m", m, 1 << 20) || !verifyRange(emitter, SparseNm, "n", n, m))
    return false;
  int64_t together = size(values[3], axis), places = m / together;
  if (n % together || m % together)
    return tileEmit(emitter,
                    "vector of #sparse.nm keeps %ld elements together along axis %ld, which divides not both n = %ld "
                    "and m = %ld",
                    (long)together, (long)axis, (long)n, (long)m);
  return width >= 32 || places <= INT64_C(1) << width ||
         tileEmit(emitter, "coordinates of #sparse.nm are i%u, too narrow for %ld places in a window", width,
                  (long)places);
}

static bool verifyValue(MlirExtEmitter emitter, SparseFormat format, const Key *key, MlirAttribute value) {
  switch (key->form) {
  case Number:
    if (!mlirAttributeIsAInteger(value))
      return tileEmit(emitter, "%s of #sparse.%s is no integer", key->name, names[format]);
    return strcmp(key->name, "axis") != 0 || verifyRange(emitter, format, key->name, number(value), 1);
  case Sizes:
    return verifySizes(emitter, format, key->name, value);
  case IntegerType:
    return verifyInteger(emitter, format, key->name, value);
  case Parts:
    return verifyParts(emitter, value);
  default:
    return mlirAttributeIsABool(value) || tileEmit(emitter, "%s of #sparse.%s is no flag", key->name, names[format]);
  }
}

static bool verify(MlirExtEmitter emitter, SparseFormat format, intptr_t count, const MlirAttribute *values) {
  if (count != countKeys(keys[format]))
    return tileEmit(emitter, "#sparse.%s has %ld parameters, expected %ld", names[format], (long)count,
                    (long)countKeys(keys[format]));
  for (intptr_t i = 0; i < count; ++i)
    if (!verifyValue(emitter, format, &keys[format][i], values[i]))
      return false;
  return format != SparseNm || verifyWindow(emitter, values);
}

// An encoded tensor is a matrix; coo takes more axes.
static bool verifyEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                           MlirType element) {
  const char *name = names[sparseEncodingGetFormat(self)];
  char text[64];
  if (rank != 2 && !(sparseEncodingIs(self, SparseCoo) && rank > 0 && rank <= 8))
    return tileEmit(emitter, "a tensor of rank %ld is stored as #sparse.%s, expected a matrix", (long)rank, name);
  return mlirTypeIsAInteger(element) || mlirTypeIsAFloat(element) ||
         tileEmit(emitter, "#sparse.%s stores elements of type %s, expected integers or floats", name,
                  tileTypeText(element, text, sizeof text));
}

//===--- definitions --------------------------------------------------------===//

// Those that print more than their name.
static bool hasLongText(intptr_t count, const MlirAttribute *values) { return count > 2; }

#define FORMAT(Name)                                                                                                   \
  static bool parse##Name(MlirExtParser parser, MlirExtAttributeList list) {                                           \
    return parse(parser, Sparse##Name, list);                                                                          \
  }                                                                                                                    \
  static void print##Name(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values) {                       \
    print(printer, Sparse##Name, count, values);                                                                       \
  }                                                                                                                    \
  static bool verify##Name(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values) {                      \
    return verify(emitter, Sparse##Name, count, values);                                                               \
  }
FORMAT(Csr)
FORMAT(Csc)
FORMAT(Coo)
FORMAT(Bsr)
FORMAT(Nm)
FORMAT(Mask)
FORMAT(Sum)
#undef FORMAT

#define ROW(Name, text)                                                                                                \
  [Sparse##Name] = {.name = text,                                                                                      \
                    .parse = parse##Name,                                                                              \
                    .print = print##Name,                                                                              \
                    .verify = verify##Name,                                                                            \
                    .verifyEncoding = verifyEncoding,                                                                  \
                    .alias = text,                                                                                     \
                    .wantsAlias = hasLongText}
const MlirExtParametricDefinition sparseAttributeDefinitions[] = {
    ROW(Csr, "csr"),
    ROW(Csc, "csc"),
    ROW(Coo, "coo"),
    ROW(Bsr, "bsr"),
    ROW(Nm, "nm"),
    ROW(Mask, "mask"),
    ROW(Sum, "sum"),
    {.name = "attribute", .parse = sparseKnownParse, .print = sparseKnownPrint, .verify = sparseKnownVerify},
};
#undef ROW
const intptr_t sparseNumAttributeDefinitions = sizeof sparseAttributeDefinitions / sizeof *sparseAttributeDefinitions;

//===--- questions ----------------------------------------------------------===//

bool sparseEncodingIs(MlirAttribute attribute, SparseFormat format) {
  return attribute.ptr && mlirExtAttributeIsA(attribute, &sparseAttributeDefinitions[format]);
}

SparseFormat sparseEncodingGetFormat(MlirAttribute encoding) {
  int format = 0;
  while (format < SparseNumFormats && !sparseEncodingIs(encoding, (SparseFormat)format))
    ++format;
  return (SparseFormat)format;
}

bool sparseAttributeIsAnEncoding(MlirAttribute attribute) {
  return sparseEncodingGetFormat(attribute) != SparseNumFormats;
}

const char *sparseFormatName(SparseFormat format) { return names[format]; }

static MlirAttribute valueOf(MlirAttribute encoding, const char *key) {
  return mlirExtAttributeGetParameter(encoding, findKey(keys[sparseEncodingGetFormat(encoding)], tileString(key)));
}

int64_t sparseEncodingGetNumber(MlirAttribute encoding, const char *key) { return number(valueOf(encoding, key)); }
int64_t sparseEncodingGetSize(MlirAttribute encoding, const char *key, intptr_t axis) {
  return size(valueOf(encoding, key), axis);
}
bool sparseEncodingGetFlag(MlirAttribute encoding, const char *key) {
  return mlirBoolAttrGetValue(valueOf(encoding, key));
}
MlirType sparseEncodingGetType(MlirAttribute encoding, const char *key) {
  return mlirTypeAttrGetValue(valueOf(encoding, key));
}
intptr_t sparseEncodingGetNumParts(MlirAttribute sum) { return mlirArrayAttrGetNumElements(valueOf(sum, "parts")); }
MlirAttribute sparseEncodingGetPart(MlirAttribute sum, intptr_t index) {
  return mlirArrayAttrGetElement(valueOf(sum, "parts"), index);
}

SparseWindows sparseEncodingGetWindows(MlirAttribute nm) {
  int64_t axis = sparseEncodingGetNumber(nm, "axis");
  return (SparseWindows){.n = sparseEncodingGetNumber(nm, "n"),
                         .m = sparseEncodingGetNumber(nm, "m"),
                         .axis = axis,
                         .lines = sparseEncodingGetSize(nm, "vector", 1 - axis),
                         .together = sparseEncodingGetSize(nm, "vector", axis)};
}

MlirAttribute sparseTypeGetEncoding(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return sparseAttributeIsAnEncoding(encoding) ? encoding : mlirAttributeGetNull();
}
