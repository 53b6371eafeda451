// The encodings, #sparse.csr and the others: text, verifier and getters, all from the keys of the formats' rows.
//
//   #sparse.csr   #sparse.csr<positions = i64>   #sparse.nm<n = 3, m = 32, vector = [32, 1]>
//
// A key's default is stored, written or not, and never printed: equal encodings are one attribute. Parameters stand in
// the order of the keys.
#include "dialects/sparse/definitions.h"
#include "dialects/sparse/sparse.h"
#include "lib/ir/assembly_parts.h"

#include <string.h>

enum { MaxParts = 4 };

static intptr_t findKey(const SparseKey *list, MlirStringRef name) {
  for (intptr_t i = 0; list[i].name; ++i)
    if (tileStringEquals(name, list[i].name))
      return i;
  return -1;
}

static intptr_t countKeys(const SparseKey *list) {
  intptr_t count = 0;
  while (list[count].name)
    ++count;
  return count;
}

//===--- text ---------------------------------------------------------------===//

static bool parsePart(MlirExtParser parser, intptr_t number, void *parts) {
  if (number >= MaxParts)
    return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d parts", MaxParts);
  return tileParseAnyAttribute(parser, (MlirAttribute *)parts + number);
}

static bool parseParts(MlirExtParser parser, MlirAttribute *value) {
  MlirAttribute parts[MaxParts];
  intptr_t count;
  if (!tileParseList(parser, "parts", parsePart, parts, &count))
    return false;
  *value = mlirArrayAttrGet(mlirExtParserGetContext(parser), count, parts);
  return true;
}

static bool parseValue(MlirExtParser parser, SparseKeyForm form, MlirAttribute *value) {
  MlirContext context = mlirExtParserGetContext(parser);
  int64_t number;
  MlirType type;
  if (form == SparseKey_Flag) {
    *value = mlirBoolAttrGet(context, true);
    return true;
  }
  if (!mlirExtParserParseToken(parser, "="))
    return false;
  switch (form) {
  case SparseKey_Number:
    if (!mlirExtParserParseInteger(parser, &number))
      return false;
    *value = tileInteger(context, number);
    return true;
  case SparseKey_IntegerType:
    if (!mlirExtParserParseType(parser, &type))
      return false;
    *value = mlirTypeAttrGet(type);
    return true;
  case SparseKey_Sizes:
    return tileParseIntegers(parser, /*allowUnknown=*/false, value);
  default:
    return parseParts(parser, value);
  }
}

static bool parseValueOf(MlirExtParser parser, int key, const void *format, MlirAttribute *value) {
  return parseValue(parser, ((const SparseFormat *)format)->keys[key].form, value);
}

static bool parseKeys(MlirExtParser parser, const SparseFormat *format, MlirAttribute *values) {
  const char *names[SparseMaxKeys + 1];
  char what[64];
  for (intptr_t i = 0; i <= SparseMaxKeys; ++i)
    names[i] = format->keys[i].name;
  snprintf(what, sizeof what, "#sparse.%s", format->name);
  return tileParseKeys(parser, what, names, parseValueOf, format, values);
}

static MlirAttribute valueFrom(MlirContext context, SparseKeyForm form, const int64_t *numbers) {
  switch (form) {
  case SparseKey_Number:
    return tileInteger(context, numbers[0]);
  case SparseKey_Sizes:
    return tileIntegers(context, 2, numbers);
  case SparseKey_IntegerType:
    return mlirTypeAttrGet(mlirIntegerTypeGet(context, (unsigned)numbers[0]));
  default:
    return mlirBoolAttrGet(context, numbers[0] != 0);
  }
}

static MlirAttribute fallbackOf(MlirContext context, const SparseKey *key) {
  bool isFlag = key->form == SparseKey_Flag;
  return valueFrom(context, key->form, (int64_t[]){isFlag ? 0 : key->fallback, key->fallback});
}

static bool parse(MlirExtParser parser, const SparseFormat *format, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute values[SparseMaxKeys] = {{NULL}};
  if (mlirExtParserParseOptionalToken(parser, "<") && !parseKeys(parser, format, values))
    return false;
  for (intptr_t i = 0; i < countKeys(format->keys); ++i) {
    if (mlirAttributeIsNull(values[i]) && format->keys[i].fallback == SparseKeyRequired)
      return tileParseFail(parser, location, "#sparse.%s without '%s'", format->name, format->keys[i].name);
    mlirExtAttributeListAppend(list, !mlirAttributeIsNull(values[i])
                                         ? values[i]
                                         : fallbackOf(mlirExtParserGetContext(parser), &format->keys[i]));
  }
  return true;
}

static void printValue(MlirExtPrinter printer, const SparseKey *key, MlirAttribute value) {
  tilePrintText(printer, key->name);
  if (key->form == SparseKey_Flag)
    return;
  tilePrintText(printer, " = ");
  if (key->form == SparseKey_Sizes)
    tilePrintIntegers(printer, value);
  else if (key->form == SparseKey_IntegerType)
    mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(value));
  else
    mlirExtPrinterPrintAttributeWithoutType(printer, value);
}

static void print(MlirExtPrinter printer, const SparseFormat *format, intptr_t count, const MlirAttribute *values) {
  MlirContext context = mlirAttributeGetContext(values[0]);
  const char *before = "<";
  for (intptr_t i = 0; i < count; ++i) {
    const SparseKey *key = &format->keys[i];
    if (key->fallback != SparseKeyRequired && mlirAttributeEqual(values[i], fallbackOf(context, key)))
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
static bool verifyInteger(MlirExtEmitter emitter, const SparseFormat *format, const char *name, MlirAttribute value) {
  char text[64];
  MlirType type = mlirAttributeIsAType(value) ? mlirTypeAttrGetValue(value) : (MlirType){NULL};
  unsigned width = !mlirTypeIsNull(type) && mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type)
                       ? mlirIntegerTypeGetWidth(type)
                       : 0;
  bool isWindow = format->scheme == SparseScheme_Windows, narrow = isWindow && (width == 8 || width == 16);
  return width == 32 || width == 64 || narrow ||
         tileEmit(emitter, "%s of #sparse.%s are %s, expected %s", name, format->name,
                  !mlirTypeIsNull(type) ? tileTypeText(type, text, sizeof text) : "no type",
                  isWindow ? "i8, i16, i32 or i64" : "i32 or i64");
}

static bool verifySizes(MlirExtEmitter emitter, const SparseFormat *format, const char *name, MlirAttribute value) {
  if (!mlirAttributeIsADenseI64Array(value) || mlirDenseArrayGetNumElements(value) != 2)
    return tileEmit(emitter, "%s of #sparse.%s has %ld sizes, expected 2", name, format->name,
                    (long)(mlirAttributeIsADenseI64Array(value) ? mlirDenseArrayGetNumElements(value) : 0));
  for (intptr_t axis = 0; axis < 2; ++axis)
    if (size(value, axis) < 1 || size(value, axis) > INT32_MAX)
      return tileEmit(emitter, "size %ld of %s of #sparse.%s is %ld, expected 1 to %d", (long)axis, name, format->name,
                      (long)size(value, axis), INT32_MAX);
  return true;
}

static bool verifyParts(MlirExtEmitter emitter, MlirAttribute parts) {
  char text[128];
  intptr_t count = mlirAttributeIsAArray(parts) ? mlirArrayAttrGetNumElements(parts) : 0;
  if (count < 2 || count > MaxParts)
    return tileEmit(emitter, "#sparse.sum has %ld parts, expected 2 to %d", (long)count, MaxParts);
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute part = mlirArrayAttrGetElement(parts, i);
    if (!sparseAttributeIsAnEncoding(part) || sparseEncodingIs(part, SparseScheme_Parts))
      return tileEmit(emitter, "part %ld of #sparse.sum is %s, expected an encoding other than #sparse.sum", (long)i,
                      tileAttributeText(part, text, sizeof text));
  }
  return true;
}

bool sparseVerifyRange(MlirExtEmitter emitter, const SparseFormat *format, const char *name, int64_t seen,
                       int64_t most) {
  int64_t least = strcmp(name, "axis") == 0 ? 0 : 1;
  return (seen >= least && seen <= most) || tileEmit(emitter, "%s of #sparse.%s is %ld, expected %ld to %ld", name,
                                                     format->name, (long)seen, (long)least, (long)most);
}

static bool verifyValue(MlirExtEmitter emitter, const SparseFormat *format, const SparseKey *key, MlirAttribute value) {
  switch (key->form) {
  case SparseKey_Number:
    if (!mlirAttributeIsAInteger(value))
      return tileEmit(emitter, "%s of #sparse.%s is not an integer", key->name, format->name);
    return strcmp(key->name, "axis") != 0 || sparseVerifyRange(emitter, format, key->name, number(value), 1);
  case SparseKey_Sizes:
    return verifySizes(emitter, format, key->name, value);
  case SparseKey_IntegerType:
    return verifyInteger(emitter, format, key->name, value);
  case SparseKey_Parts:
    return verifyParts(emitter, value);
  default:
    return mlirAttributeIsABool(value) || tileEmit(emitter, "%s of #sparse.%s is not a flag", key->name, format->name);
  }
}

static bool verify(MlirExtEmitter emitter, const SparseFormat *format, intptr_t count, const MlirAttribute *values) {
  if (count != countKeys(format->keys))
    return tileEmit(emitter, "#sparse.%s has %ld parameters, expected %ld", format->name, (long)count,
                    (long)countKeys(format->keys));
  for (intptr_t i = 0; i < count; ++i)
    if (!verifyValue(emitter, format, &format->keys[i], values[i]))
      return false;
  return !format->verify || format->verify(emitter, values);
}

// An encoded tensor is a matrix; coo takes more axes.
static bool verifyEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                           MlirType element) {
  const char *name = sparseEncodingGetFormat(self)->name;
  char text[64];
  if (rank != 2 && !(sparseEncodingIs(self, SparseScheme_Coordinates) && rank > 0 && rank <= 8))
    return tileEmit(emitter, "a tensor of rank %ld is stored as #sparse.%s, expected a matrix", (long)rank, name);
  return mlirTypeIsAInteger(element) || mlirTypeIsAFloat(element) ||
         tileEmit(emitter, "#sparse.%s stores elements of type %s, expected integers or floats", name,
                  tileTypeText(element, text, sizeof text));
}

//===--- definitions --------------------------------------------------------===//

// Those that print more than their name.
static bool hasLongText(intptr_t count, const MlirAttribute *values) { return count > 2; }

#define DEFINE(Name, text)                                                                                             \
  static bool parse##Name(MlirExtParser parser, MlirExtAttributeList list) {                                           \
    return parse(parser, &sparse##Name##Format, list);                                                                 \
  }                                                                                                                    \
  static void print##Name(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values) {                       \
    print(printer, &sparse##Name##Format, count, values);                                                              \
  }                                                                                                                    \
  static bool verify##Name(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values) {                      \
    return verify(emitter, &sparse##Name##Format, count, values);                                                      \
  }
SPARSE_FORMATS(DEFINE)
#undef DEFINE

#define ROW(Name, text) &sparse##Name##Format,
static const SparseFormat *const formats[] = {SPARSE_FORMATS(ROW)};
#undef ROW
enum { NumFormats = sizeof formats / sizeof *formats };

#define ROW(Name, text)                                                                                                \
  {.name = text,                                                                                                       \
   .parse = parse##Name,                                                                                               \
   .print = print##Name,                                                                                               \
   .verify = verify##Name,                                                                                             \
   .verifyEncoding = verifyEncoding,                                                                                   \
   .alias = text,                                                                                                      \
   .wantsAlias = hasLongText},
const MlirExtParametricDefinition sparseAttributeDefinitions[] = {
    SPARSE_FORMATS(ROW){
        .name = "attribute", .parse = sparseKnownParse, .print = sparseKnownPrint, .verify = sparseKnownVerify},
    {.name = "micro_tiles",
     .parse = sparseMicroTilesParse,
     .print = sparseMicroTilesPrint,
     .verify = sparseMicroTilesVerify},
};
#undef ROW
const intptr_t sparseNumAttributeDefinitions = NumFormats + 2;
const MlirExtParametricDefinition *const sparseKnownDefinition = &sparseAttributeDefinitions[NumFormats];
const MlirExtParametricDefinition *const sparseMicroTilesDefinition = &sparseAttributeDefinitions[NumFormats + 1];

MlirAttribute sparseEncodingMake(MlirContext context, const char *format, const SparseKeyValue *values) {
  MlirAttribute parameters[SparseMaxKeys];
  int which = 0;
  while (strcmp(formats[which]->name, format))
    ++which;
  const SparseKey *keys = formats[which]->keys;
  for (intptr_t i = 0; i < countKeys(keys); ++i)
    parameters[i] = fallbackOf(context, &keys[i]);
  for (; values->key; ++values) {
    intptr_t key = findKey(keys, tileString(values->key));
    parameters[key] = valueFrom(context, keys[key].form, values->numbers);
  }
  return mlirExtAttributeGet(context, &sparseAttributeDefinitions[which], countKeys(keys), parameters);
}

//===--- questions ----------------------------------------------------------===//

const SparseFormat *sparseEncodingGetFormat(MlirAttribute encoding) {
  for (int i = 0; !mlirAttributeIsNull(encoding) && i < NumFormats; ++i)
    if (mlirExtAttributeIsA(encoding, &sparseAttributeDefinitions[i]))
      return formats[i];
  return NULL;
}

bool sparseAttributeIsAnEncoding(MlirAttribute attribute) { return sparseEncodingGetFormat(attribute) != NULL; }

bool sparseEncodingIs(MlirAttribute attribute, SparseScheme scheme) {
  const SparseFormat *format = sparseEncodingGetFormat(attribute);
  return format && format->scheme == scheme;
}

static MlirAttribute valueOf(MlirAttribute encoding, const char *key) {
  return mlirExtAttributeGetParameter(encoding, findKey(sparseEncodingGetFormat(encoding)->keys, tileString(key)));
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

SparseStorage sparseEncodingGetStorage(MlirAttribute encoding) {
  const SparseFormat *format = sparseEncodingGetFormat(encoding);
  SparseStorage storage = {
      .scheme = format->scheme, .major = format->major, .hasCells = format->cell != NULL, .cell = {1, 1}};
  for (int axis = 0; storage.hasCells && axis < 2; ++axis)
    storage.cell[axis] = sparseEncodingGetSize(encoding, format->cell, axis);
  if (storage.scheme == SparseScheme_Windows) {
    storage.windows = sparseEncodingGetWindows(encoding);
    storage.cell[storage.windows.axis] = storage.windows.m;
    storage.cell[1 - storage.windows.axis] = storage.windows.lines;
  }
  storage.isUnordered =
      findKey(format->keys, tileString("unordered")) >= 0 && sparseEncodingGetFlag(encoding, "unordered");
  return storage;
}

bool sparseEncodingMayRepeat(MlirAttribute encoding) {
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  return storage.scheme == SparseScheme_Parts || storage.isUnordered;
}

//===--- components -----------------------------------------------------------===//

// The dense tensors that an encoded tensor consists of: the table of sparse.h as types.

static const int64_t dynamic = INT64_MIN; // mlirShapedTypeGetDynamicSize()

static int64_t divideUp(int64_t size, int64_t by) { return size == dynamic ? dynamic : (size + by - 1) / by; }
static int64_t oneMore(int64_t size) { return size == dynamic ? dynamic : size + 1; }
static int64_t sizeOf(MlirType type, intptr_t axis) { return mlirShapedTypeGetDimSize(type, axis); }

static SparseComponent component(const char *name, intptr_t rank, const int64_t *shape, MlirType element) {
  return (SparseComponent){name, mlirRankedTensorTypeGet(rank, shape, element, mlirAttributeGetNull())};
}
#define COMPONENT(name, element, ...)                                                                                  \
  component(name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}, element)

static intptr_t segments(MlirType type, MlirAttribute encoding, const SparseStorage *s, MlirType element,
                         SparseComponent *out) {
  int64_t count = divideUp(sizeOf(type, s->major), s->cell[s->major]);
  out[0] = COMPONENT("positions", sparseEncodingGetType(encoding, "positions"), oneMore(count));
  out[1] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), dynamic);
  out[2] = s->hasCells ? COMPONENT("values", element, dynamic, s->cell[0], s->cell[1])
                       : COMPONENT("values", element, dynamic);
  return 3;
}

static intptr_t windows(MlirType type, MlirAttribute encoding, SparseWindows w, MlirType element,
                        SparseComponent *out) {
  int64_t groups = divideUp(sizeOf(type, 1 - w.axis), w.lines), count = divideUp(sizeOf(type, w.axis), w.m);
  out[0] = COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), groups, count, w.n / w.together);
  out[1] = COMPONENT("values", element, groups, count, w.n, w.lines);
  return 2;
}

static intptr_t tiles(MlirType type, const int64_t cell[2], MlirType element, SparseComponent *out) {
  MlirType bit = mlirIntegerTypeGet(mlirTypeGetContext(type), 1);
  out[0] = COMPONENT("mask", bit, divideUp(sizeOf(type, 0), cell[0]), divideUp(sizeOf(type, 1), cell[1]));
  out[1] = COMPONENT("values", element, sizeOf(type, 0), sizeOf(type, 1));
  return 2;
}

static intptr_t summed(MlirType type, MlirAttribute encoding, SparseComponent *out) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < sparseEncodingGetNumParts(encoding); ++i)
    count += sparseTypeGetComponents(sparseTypeWithEncoding(type, sparseEncodingGetPart(encoding, i)), out + count);
  return count;
}

intptr_t sparseTypeGetComponents(MlirType type, SparseComponent out[SPARSE_MAX_COMPONENTS]) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  MlirType element = mlirShapedTypeGetElementType(type);
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  switch (storage.scheme) {
  case SparseScheme_Segments:
    return segments(type, encoding, &storage, element, out);
  case SparseScheme_Coordinates:
    out[0] =
        COMPONENT("coordinates", sparseEncodingGetType(encoding, "coordinates"), mlirShapedTypeGetRank(type), dynamic);
    out[1] = COMPONENT("values", element, dynamic);
    return 2;
  case SparseScheme_Windows:
    return windows(type, encoding, storage.windows, element, out);
  case SparseScheme_Tiles:
    return tiles(type, storage.cell, element, out);
  case SparseScheme_Parts:
    return summed(type, encoding, out);
  }
  return 0;
}

MlirType sparseTypeWithEncoding(MlirType tensor, MlirAttribute encodingOrNull) {
  int64_t shape[SparseMaxRank];
  intptr_t rank = mlirShapedTypeGetRank(tensor);
  if (rank > SparseMaxRank)
    return (MlirType){NULL};
  for (intptr_t axis = 0; axis < rank; ++axis)
    shape[axis] = sizeOf(tensor, axis);
  return mlirRankedTensorTypeGet(rank, shape, mlirShapedTypeGetElementType(tensor), encodingOrNull);
}
