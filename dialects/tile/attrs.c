// The attributes #tile.layout, #tile.machine and #tile.schedule, and the table of all (#tile.quantized: quantized.c).
#include "dialects/tile/definitions.h"
#include "lib/layout/text.h"
#include "lib/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- #tile.layout ---------------------------------------------------------===//

// The encoding of a tile's or buffer's elements over registers, lanes, warps or memory offsets.
// Why: lib/layout owns the theory and the text; here that text becomes an attribute. The one parameter is the canonical
//   text, so equal layouts are one attribute. Errors of lib/layout are reported at the token they are about.

enum { MAX_TOKENS = 512 };

// The text between `<` and `>` put together from tokens, with where each one stands in the source.
typedef struct Tokens {
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  size_t length, count;
  size_t columns[MAX_TOKENS];
  MlirExtSourceLocation locations[MAX_TOKENS];
} Tokens;

static bool append(Tokens *tokens, MlirExtSourceLocation location, const char *text, size_t length) {
  if (tokens->count == MAX_TOKENS || tokens->length + length + 1 >= sizeof tokens->text)
    return false;
  tokens->columns[tokens->count] = tokens->length + 1;
  tokens->locations[tokens->count++] = location;
  memcpy(tokens->text + tokens->length, text, length);
  tokens->text[tokens->length + length] = ' '; // keeps `pad 16` apart; lib/layout skips blanks
  tokens->length += length + 1;
  return true;
}

// Takes one token of what a layout is written with; an empty text when the next one is of no use to a layout.
static bool takeToken(MlirExtParser parser, char *buffer, size_t capacity, MlirStringRef *text) {
  static const char *const punctuation[] = {"[", "]", ":", ",", "*", "+", NULL};
  int64_t number;
  for (const char *const *token = punctuation; *token; ++token)
    if (mlirExtParserParseOptionalToken(parser, *token)) {
      *text = tileString(*token);
      return true;
    }
  if (mlirExtParserParseOptionalKeyword(parser, text) == MlirExtParse_Present)
    return true;
  MlirExtParseResult result = mlirExtParserParseOptionalInteger(parser, &number);
  *text = mlirStringRefCreate(buffer, 0);
  if (result == MlirExtParse_Present)
    text->length = (size_t)snprintf(buffer, capacity, "%lld", (long long)number);
  return result != MlirExtParse_Failed;
}

static bool takeTokens(MlirExtParser parser, Tokens *tokens) {
  tokens->length = tokens->count = 0;
  for (;;) {
    MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
    char buffer[32];
    MlirStringRef text;
    if (mlirExtParserParseOptionalToken(parser, ">")) {
      append(tokens, location, "", 0); // errors about the end stand here
      return true;
    }
    if (!takeToken(parser, buffer, sizeof buffer, &text))
      return false;
    if (!text.length)
      return tileParseFail(parser, location, "expected '>' or more of a layout: dim [size:d0*stride, …], …");
    if (!append(tokens, location, text.data, text.length))
      return tileParseFail(parser, location, "the layout is longer than any in use: %d tokens", MAX_TOKENS);
  }
}

static MlirExtSourceLocation locationOfColumn(const Tokens *tokens, size_t column) {
  size_t i = 0;
  while (i + 1 < tokens->count && tokens->columns[i + 1] <= column)
    ++i;
  return tokens->locations[i];
}

static bool parseLayout(MlirExtParser parser, MlirExtAttributeList list) {
  Tokens tokens;
  TileLayout layout;
  TileError error;
  if (!mlirExtParserParseToken(parser, "<") || !takeTokens(parser, &tokens))
    return false;
  if (!tileLayoutParse(tokens.text, tokens.length, &layout, &error))
    return tileParseFail(parser, locationOfColumn(&tokens, error.column), "%s", error.text);
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  tileLayoutPrint(&layout, text, sizeof text);
  mlirExtAttributeListAppend(list, tileWord(mlirExtParserGetContext(parser), text));
  return true;
}

static void printLayout(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  tilePrintWord(printer, parameters[0]);
  tilePrintText(printer, ">");
}

static bool verifyLayout(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  MlirStringRef text = mlirStringAttrGetValue(parameters[0]);
  TileLayout layout;
  TileError error;
  return tileLayoutParse(text.data, text.length, &layout, &error) ||
         tileEmit(emitter, "not a layout: column %zu: %s", error.column, error.text);
}

static bool verifyLayoutEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                                 MlirType element) {
  TileLayout layout = tileLayoutAttrGetLayout(self);
  TileError error;
  if (layout.kind != TileLayoutValues)
    return tileEmit(emitter, "a tensor's layout is one of memory offsets, expected one of reg, lane, warp and block");
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (shape[axis] == mlirShapedTypeGetDynamicSize())
      return tileEmit(emitter, "a tensor with a layout has a dynamic size on axis %ld, expected a static shape",
                      (long)axis);
  if (rank > TILE_LAYOUT_MAX_AXES)
    return tileEmit(emitter, "a tensor with a layout has rank %ld, at most %d are supported", (long)rank,
                    TILE_LAYOUT_MAX_AXES);
  return tileLayoutHolds(&layout, shape, (uint32_t)rank, NULL, &error) ||
         tileEmit(emitter, "the layout does not fit the tensor: %s", error.text);
}

MlirAttribute tileLayoutAttrGet(MlirContext context, const TileLayout *layout) {
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  tileLayoutPrint(layout, text, sizeof text);
  MlirAttribute parameter = tileWord(context, text);
  return mlirExtAttributeGet(context, &tileAttributeDefinitions[TileLayoutAttribute], 1, &parameter);
}

MlirAttribute tileLayoutAttrParse(MlirContext context, MlirStringRef text) {
  TileLayout layout;
  return tileLayoutParse(text.data, text.length, &layout, NULL) ? tileLayoutAttrGet(context, &layout)
                                                                : mlirAttributeGetNull();
}

bool tileAttributeIsALayout(MlirAttribute attribute) {
  return mlirExtAttributeIsA(attribute, &tileAttributeDefinitions[TileLayoutAttribute]);
}

MlirStringRef tileLayoutAttrGetText(MlirAttribute attribute) {
  return mlirStringAttrGetValue(mlirExtAttributeGetParameter(attribute, 0));
}

TileLayout tileLayoutAttrGetLayout(MlirAttribute attribute) {
  MlirStringRef text = tileLayoutAttrGetText(attribute);
  return tileLayoutParsePrinted(text.data, text.length); // verified when the attribute was made
}

//===--- #tile.schedule -------------------------------------------------------===//

// #tile.schedule<block = [128, 128, 32], warps = [2, 2, 1], stages = 3>: what a scheduler decides and a person may
// write. Why: a decision is data beside the program, so it can be searched, replaced and printed; every key may be left
// out. Stored as one dictionary. Keys, their form and their order when printed stand in one table below.

typedef enum Form { List, Number, Text, Order } Form;

typedef struct Key {
  const char *name;
  Form form;
  intptr_t minCount, maxCount; // of a list
  bool isAnyNumber;            // its numbers may be larger than sizes of tiles are
  const char *const *words;    // what a text may be; null: anything
} Key;

const char *const tileConvertNames[] = {"register", "shared", "memory", NULL};

// Axes are the iteration axes of the op: m, n, k for a matrix product.
static const Key keys[] = {
    {"kind", Text},             // the kind of kernel: lib/search/kind.h
    {"block", List, 1, 12},     // sizes of one program's tile
    {"warp", List, 1, 8},       // sizes of one warp's part
    {"atom", Text},             // the instruction, by its name in the machine file
    {"warps", List, 1, 8},      // warps along each axis
    {"stages", Number},         // depth of the software pipeline
    {"group", List, 1, 8},      // programs visited together, for the second-level cache
    {"registers", Number},      // GPU: the most of a thread
    {"split", Number},          // parts the reduction is split into
    {"cluster", List, 1, 3},    // blocks that share their memories
    {"specialize", List, 1, 8}, // warps of each partition
    {"register", List, 1, 8},   // CPU: the micro-tile
    {"cache", List, 1, 8},      // CPU: block sizes per cache level
    {"panels", Number},         // CPU: 1: a constant right operand is packed in panels at compile time
    {"convert", Text, .words = tileConvertNames}, // where weights of few bits are converted
    {"codes", Order}, // which element along k each code in memory is: #tile.layout<offset […]> over d0
    // What a model predicts of it, for people and for comparing schedules.
    {"time", Number},              // nanoseconds
    {"measured", Number},          // nanoseconds that it took
    {"traffic", List, 1, 8, true}, // bytes asked of global memory, then of shared memory
    {"footprint", Number},         // bytes of a program's tiles that live at once
    {"occupancy", Number},         // per cent of the warps that a core can have; of a CPU, of its cores
    {"bound", Text},               // what takes the longest: a memory level, "compute", "issue" or "latency"
    {"evaluations", Number},       // of the model, until this was found
};
enum { NUM_KEYS = sizeof keys / sizeof *keys };

static const Key *findKey(MlirStringRef name) {
  for (int i = 0; i < NUM_KEYS; ++i)
    if (tileStringEquals(name, keys[i].name))
      return &keys[i];
  return NULL;
}

static const char *const keyNames[] = {"kind",    "block",     "warp",      "atom",    "warps",       "stages",
                                       "group",   "registers", "split",     "cluster", "specialize",  "register",
                                       "cache",   "panels",    "convert",   "codes",   "time",        "measured",
                                       "traffic", "footprint", "occupancy", "bound",   "evaluations", NULL};

//===--- text ---------------------------------------------------------------===//

static bool parseValue(MlirExtParser parser, Form form, MlirAttribute *value) {
  int64_t number;
  switch (form) {
  case List:
    return tileParseIntegers(parser, /*allowUnknown=*/false, value);
  case Text:
  case Order:
    return tileParseAnyAttribute(parser, value);
  case Number:
    if (!mlirExtParserParseInteger(parser, &number))
      return false;
    *value = tileInteger(mlirExtParserGetContext(parser), number);
    return true;
  }
  return false;
}

static bool parseEntry(MlirExtParser parser, MlirNamedAttribute *entries, intptr_t *count) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef name;
  TESSERA_LIST(list);
  if (!mlirExtParserParseKeyword(parser, &name))
    return false;
  const Key *key = findKey(name);
  if (!key)
    return tileParseFail(parser, location, "unknown key '%.*s' in #tile.schedule, expected one of %s", (int)name.length,
                         name.data, tileListNames(keyNames, &list));
  for (intptr_t i = 0; i < *count; ++i)
    if (mlirStringRefEqual(mlirIdentifierStr(entries[i].name), name))
      return tileParseFail(parser, location, "'%s' is given twice", key->name);
  MlirAttribute value;
  if (!mlirExtParserParseToken(parser, "=") || !parseValue(parser, key->form, &value))
    return false;
  entries[(*count)++] = mlirNamedAttributeGet(mlirIdentifierGet(mlirExtParserGetContext(parser), name), value);
  return true;
}

static bool parseSchedule(MlirExtParser parser, MlirExtAttributeList list) {
  MlirNamedAttribute entries[NUM_KEYS];
  intptr_t count = 0;
  if (!mlirExtParserParseToken(parser, "<"))
    return false;
  if (!mlirExtParserParseOptionalToken(parser, ">")) {
    do
      if (!parseEntry(parser, entries, &count))
        return false;
    while (mlirExtParserParseOptionalToken(parser, ","));
    if (!mlirExtParserParseToken(parser, ">"))
      return false;
  }
  mlirExtAttributeListAppend(list, mlirDictionaryAttrGet(mlirExtParserGetContext(parser), count, entries));
  return true;
}

static void printValue(MlirExtPrinter printer, Form form, MlirAttribute value) {
  switch (form) {
  case List:
    tilePrintIntegers(printer, value);
    return;
  case Text:
    mlirExtPrinterPrintString(printer, mlirStringAttrGetValue(value));
    return;
  case Order:
    mlirExtPrinterPrintAttribute(printer, value);
    return;
  case Number:
    mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(value));
  }
}

static void printSchedule(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  const char *separator = "";
  tilePrintText(printer, "<");
  for (int i = 0; i < NUM_KEYS; ++i) {
    MlirAttribute value = mlirDictionaryAttrGetElementByName(parameters[0], tileString(keys[i].name));
    if (mlirAttributeIsNull(value))
      continue;
    tilePrintText(printer, separator);
    tilePrintText(printer, keys[i].name);
    tilePrintText(printer, " = ");
    printValue(printer, keys[i].form, value);
    separator = ", ";
  }
  tilePrintText(printer, ">");
}

//===--- verification -------------------------------------------------------===//

static bool verifyList(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  if (!mlirAttributeIsADenseI64Array(value))
    return tileEmit(emitter, "'%s' is not a list of integers", key->name);
  intptr_t count = mlirDenseArrayGetNumElements(value);
  if (count < key->minCount || count > key->maxCount)
    return tileEmit(emitter, "'%s' has %ld numbers, expected %ld to %ld", key->name, (long)count, (long)key->minCount,
                    (long)key->maxCount);
  for (intptr_t i = 0; i < count; ++i) {
    int64_t number = mlirDenseI64ArrayGetElement(value, i);
    if (number < 1)
      return tileEmit(emitter, "'%s' holds %ld, expected numbers of at least 1", key->name, (long)number);
    if (number > INT32_MAX && !key->isAnyNumber)
      return tileEmit(emitter, "'%s' holds %ld, expected numbers of at most %d", key->name, (long)number, INT32_MAX);
  }
  return true;
}

static bool verifyNumber(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  if (!mlirAttributeIsAInteger(value))
    return tileEmit(emitter, "'%s' is not an integer", key->name);
  int64_t number = mlirIntegerAttrGetValueInt(value);
  return number >= 1 || tileEmit(emitter, "'%s' is %ld, expected at least 1", key->name, (long)number);
}

static bool verifyText(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  TESSERA_LIST(list);
  if (!mlirAttributeIsAString(value))
    return tileEmit(emitter, "'%s' is not a string", key->name);
  MlirStringRef text = mlirStringAttrGetValue(value);
  for (int i = 0; key->words && key->words[i]; ++i)
    if (tileStringEquals(text, key->words[i]))
      return true;
  return !key->words || tileEmit(emitter, "'%s' is \"%.*s\", expected one of %s", key->name, (int)text.length,
                                 text.data, tileListNames(key->words, &list));
}

// Offsets to one axis, one to one: each code is one element.
static bool verifyOrder(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  TileError error;
  if (!tileAttributeIsALayout(value))
    return tileEmit(emitter, "'%s' is not a #tile.layout", key->name);
  TileLayout layout = tileLayoutAttrGetLayout(value);
  int64_t size = (int64_t)tileLayoutDimSize(&layout, TileLayoutOffset);
  if (layout.kind != TileLayoutMemory)
    return tileEmit(emitter, "'%s' is a layout of values, expected one of offsets: #tile.layout<offset […]>",
                    key->name);
  return tileLayoutCovers(&layout, &size, 1, NULL, &error) ||
         tileEmit(emitter, "'%s' is no order of %lld codes: %s", key->name, (long long)size, error.text);
}

static bool verifyValue(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  switch (key->form) {
  case List:
    return verifyList(emitter, key, value);
  case Text:
    return verifyText(emitter, key, value);
  case Order:
    return verifyOrder(emitter, key, value);
  case Number:
    return verifyNumber(emitter, key, value);
  }
  return false;
}

static bool verifySchedule(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(parameters[0]); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(parameters[0], i);
    MlirStringRef name = mlirIdentifierStr(entry.name);
    const Key *key = findKey(name);
    TESSERA_LIST(list);
    if (!key)
      return tileEmit(emitter, "unknown key '%.*s' in #tile.schedule, expected one of %s", (int)name.length, name.data,
                      tileListNames(keyNames, &list));
    if (!verifyValue(emitter, key, entry.attribute))
      return false;
  }
  return true;
}

//===--- from C -------------------------------------------------------------===//

MlirAttribute tileScheduleAttrGet(MlirContext context, MlirAttribute entries) {
  return mlirExtAttributeGet(context, &tileAttributeDefinitions[TileScheduleAttribute], 1, &entries);
}

bool tileAttributeIsASchedule(MlirAttribute attribute) {
  return mlirExtAttributeIsA(attribute, &tileAttributeDefinitions[TileScheduleAttribute]);
}

MlirAttribute tileScheduleAttrGetEntries(MlirAttribute attribute) { return mlirExtAttributeGetParameter(attribute, 0); }

MlirAttribute tileScheduleAttrGetEntry(MlirAttribute attribute, const char *key) {
  return mlirDictionaryAttrGetElementByName(tileScheduleAttrGetEntries(attribute), tileString(key));
}

int64_t tileScheduleAttrGetInteger(MlirAttribute attribute, const char *key, int64_t whenNotSaid) {
  MlirAttribute value = tileScheduleAttrGetEntry(attribute, key);
  return mlirAttributeIsNull(value) ? whenNotSaid : mlirIntegerAttrGetValueInt(value);
}

//===--- #tile.machine --------------------------------------------------------===//

// #tile.machine<"sm_90a", "shared.bytes" = 466944> names a machine file and what to change in it: never the whole
// description, a printed kernel must stay readable. Parameters: the name, a dictionary of the overrides.

enum { MachineName, MachineOverrides, MachineParameters };
enum { MAX_OVERRIDES = 32 };

static bool parseOverride(MlirExtParser parser, MlirNamedAttribute *entries, intptr_t *count) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef key;
  MlirAttribute value;
  if (*count == MAX_OVERRIDES)
    return tileParseFail(parser, location, "more than %d overrides of a machine", MAX_OVERRIDES);
  if (!mlirExtParserParseKeywordOrString(parser, &key) || !mlirExtParserParseToken(parser, "=") ||
      !tileParseAnyAttribute(parser, &value))
    return false;
  for (intptr_t i = 0; i < *count; ++i)
    if (mlirStringRefEqual(mlirIdentifierStr(entries[i].name), key))
      return tileParseFail(parser, location, "'%.*s' is given twice", (int)key.length, key.data);
  entries[(*count)++] = mlirNamedAttributeGet(mlirIdentifierGet(mlirExtParserGetContext(parser), key), value);
  return true;
}

static bool parseMachine(MlirExtParser parser, MlirExtAttributeList list) {
  MlirContext context = mlirExtParserGetContext(parser);
  MlirNamedAttribute entries[MAX_OVERRIDES];
  MlirAttribute name;
  intptr_t count = 0;
  if (!mlirExtParserParseToken(parser, "<") || !tileParseAnyAttribute(parser, &name))
    return false;
  while (mlirExtParserParseOptionalToken(parser, ","))
    if (!parseOverride(parser, entries, &count))
      return false;
  mlirExtAttributeListAppend(list, name);
  mlirExtAttributeListAppend(list, mlirDictionaryAttrGet(context, count, entries));
  return mlirExtParserParseToken(parser, ">");
}

static void printMachine(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  MlirAttribute overrides = parameters[MachineOverrides];
  tilePrintText(printer, "<");
  mlirExtPrinterPrintString(printer, mlirStringAttrGetValue(parameters[MachineName]));
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(overrides); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(overrides, i);
    tilePrintText(printer, ", ");
    mlirExtPrinterPrintString(printer, mlirIdentifierStr(entry.name));
    tilePrintText(printer, " = ");
    mlirExtPrinterPrintAttributeWithoutType(printer, entry.attribute);
  }
  tilePrintText(printer, ">");
}

static char *copyOf(MlirStringRef text) { return strndup(text.data ? text.data : "", text.length); }

// The override's value as a machine file would hold it, to be freed; null: neither an integer nor a string.
static char *overrideText(MlirAttribute value) {
  char number[32];
  if (mlirAttributeIsAString(value))
    return copyOf(mlirStringAttrGetValue(value));
  if (!mlirAttributeIsAInteger(value))
    return NULL;
  snprintf(number, sizeof number, "%lld", (long long)mlirIntegerAttrGetValueInt(value));
  return strdup(number);
}

static TileMachine *load(MlirStringRef name, MlirAttribute overrides, TileError *error) {
  char *file = copyOf(name), *keys[MAX_OVERRIDES], *values[MAX_OVERRIDES];
  TileMachineOverride list[MAX_OVERRIDES];
  TileMachine *machine = NULL;
  intptr_t count = mlirDictionaryAttrGetNumElements(overrides), used = 0;
  bool good = count <= MAX_OVERRIDES ||
              tileErrorSet(error, 0, 0, "%ld overrides of a machine, expected at most %d", (long)count, MAX_OVERRIDES);
  for (; good && used < count; ++used) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(overrides, used);
    keys[used] = copyOf(mlirIdentifierStr(entry.name));
    values[used] = overrideText(entry.attribute);
    list[used] = (TileMachineOverride){keys[used], values[used]};
    good = values[used] || tileErrorSet(error, 0, 0, "override '%s' is neither an integer nor a string", keys[used]);
  }
  if (good)
    machine = tileMachineLoad(file, NULL, list, (size_t)count, error);
  while (used--) {
    free(keys[used]);
    free(values[used]);
  }
  free(file);
  return machine;
}

// Loads the description as a pass would: the loader knows the names, the keys and what their values may be.
static bool verifyMachine(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  TileError error;
  if (!mlirAttributeIsAString(parameters[MachineName]))
    return tileEmit(emitter, "the name of a machine is not a string: #tile.machine<\"sm_90a\">");
  TileMachine *machine = load(mlirStringAttrGetValue(parameters[MachineName]), parameters[MachineOverrides], &error);
  if (!machine)
    return tileEmit(emitter, "%s", error.text);
  tileMachineDestroy(machine);
  return true;
}

TileMachine *tileMachineAttrLoad(MlirAttribute attribute, TileError *error) {
  return load(tileMachineAttrGetName(attribute), tileMachineAttrGetOverrides(attribute), error);
}

MlirAttribute tileMachineAttrGet(MlirContext context, MlirStringRef name, MlirAttribute overridesOrNull) {
  MlirAttribute none = mlirDictionaryAttrGet(context, 0, NULL);
  const MlirAttribute parameters[] = {mlirStringAttrGet(context, name),
                                      mlirAttributeIsNull(overridesOrNull) ? none : overridesOrNull};
  return mlirExtAttributeGet(context, &tileAttributeDefinitions[TileMachineAttribute], MachineParameters, parameters);
}

bool tileAttributeIsAMachine(MlirAttribute attribute) {
  return mlirExtAttributeIsA(attribute, &tileAttributeDefinitions[TileMachineAttribute]);
}

MlirStringRef tileMachineAttrGetName(MlirAttribute attribute) {
  return mlirStringAttrGetValue(mlirExtAttributeGetParameter(attribute, MachineName));
}

MlirAttribute tileMachineAttrGetOverrides(MlirAttribute attribute) {
  return mlirExtAttributeGetParameter(attribute, MachineOverrides);
}

const MlirExtParametricDefinition tileAttributeDefinitions[] = {
    [TileLayoutAttribute] = {.name = "layout",
                             .parse = parseLayout,
                             .print = printLayout,
                             .verify = verifyLayout,
                             .verifyEncoding = verifyLayoutEncoding,
                             .alias = "layout"},
    [TileMachineAttribute] = {.name = "machine", .parse = parseMachine, .print = printMachine, .verify = verifyMachine},
    [TileScheduleAttribute] = {.name = "schedule",
                               .parse = parseSchedule,
                               .print = printSchedule,
                               .verify = verifySchedule,
                               .alias = "schedule"},
    [TileQuantizedAttribute] = {.name = "quantized",
                                .parse = tileQuantizedParse,
                                .print = tileQuantizedPrint,
                                .verify = tileQuantizedVerify,
                                .verifyEncoding = tileQuantizedVerifyEncoding,
                                .alias = "quantized"},
};
const intptr_t tileNumAttributeDefinitions = sizeof tileAttributeDefinitions / sizeof *tileAttributeDefinitions;
