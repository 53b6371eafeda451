// #tile.schedule<block = [128, 128, 32], warps = [2, 2, 1], stages = 3>: what a scheduler decides and a person may
// write. Why: a decision is data beside the program, so it can be searched, replaced and printed; every key may be left
// out. Stored as one dictionary. Keys, their form and their order when printed stand in one table below.
#include "dialects/tile/definitions.h"

typedef enum Form { List, Number, Text } Form;

typedef struct Key {
  const char *name;
  Form form;
  intptr_t minCount, maxCount; // of a list
} Key;

// Axes are the iteration axes of the op: m, n, k for a matrix product.
static const Key keys[] = {
    {"kind", Text},             // the kind of kernel: lib/search/kind.h
    {"block", List, 1, 8},      // sizes of one program's tile
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
    // What a model predicts of it, for people and for comparing schedules.
    {"time", Number},        // nanoseconds
    {"measured", Number},    // nanoseconds that it took
    {"traffic", List, 1, 8}, // bytes asked of global memory, then of shared memory
    {"occupancy", Number},   // per cent of the warps that a core can have; of a CPU, of its cores
    {"bound", Text},         // what takes the longest: a memory level, "compute", "issue" or "latency"
    {"evaluations", Number}, // of the model, until this was found
};
enum { NUM_KEYS = sizeof keys / sizeof *keys };

static const Key *findKey(MlirStringRef name) {
  for (int i = 0; i < NUM_KEYS; ++i)
    if (tileStringEquals(name, keys[i].name))
      return &keys[i];
  return NULL;
}

static const char *const keyNames[] = {"kind",  "block",       "warp",  "atom",     "warps",      "stages",
                                       "group", "registers",   "split", "cluster",  "specialize", "register",
                                       "cache", "panels",      "time",  "measured", "traffic",    "occupancy",
                                       "bound", "evaluations", NULL};

//===--- text ---------------------------------------------------------------===//

static bool parseValue(MlirExtParser parser, Form form, MlirAttribute *value) {
  int64_t number;
  switch (form) {
  case List:
    return tileParseIntegers(parser, /*allowUnknown=*/false, value);
  case Text:
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
  char list[320];
  if (!mlirExtParserParseKeyword(parser, &name))
    return false;
  const Key *key = findKey(name);
  if (!key)
    return tileParseFail(parser, location, "unknown key '%.*s' in #tile.schedule, expected one of %s", (int)name.length,
                         name.data, tileListNames(keyNames, list, sizeof list));
  for (intptr_t i = 0; i < *count; ++i)
    if (mlirStringRefEqual(mlirIdentifierStr(entries[i].name), name))
      return tileParseFail(parser, location, "'%s' is given twice", key->name);
  MlirAttribute value;
  if (!mlirExtParserParseToken(parser, "=") || !parseValue(parser, key->form, &value))
    return false;
  entries[(*count)++] = mlirNamedAttributeGet(mlirIdentifierGet(mlirExtParserGetContext(parser), name), value);
  return true;
}

bool tileParseSchedule(MlirExtParser parser, MlirExtAttributeList list) {
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
  case Number:
    mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(value));
  }
}

void tilePrintSchedule(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
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
  for (intptr_t i = 0; i < count; ++i)
    if (mlirDenseI64ArrayGetElement(value, i) < 1)
      return tileEmit(emitter, "'%s' holds %ld, expected numbers of at least 1", key->name,
                      (long)mlirDenseI64ArrayGetElement(value, i));
  return true;
}

static bool verifyNumber(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  if (!mlirAttributeIsAInteger(value))
    return tileEmit(emitter, "'%s' is not an integer", key->name);
  int64_t number = mlirIntegerAttrGetValueInt(value);
  return number >= 1 || tileEmit(emitter, "'%s' is %ld, expected at least 1", key->name, (long)number);
}

static bool verifyValue(MlirExtEmitter emitter, const Key *key, MlirAttribute value) {
  switch (key->form) {
  case List:
    return verifyList(emitter, key, value);
  case Text:
    return mlirAttributeIsAString(value) || tileEmit(emitter, "'%s' is not a string", key->name);
  case Number:
    return verifyNumber(emitter, key, value);
  }
  return false;
}

bool tileVerifySchedule(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(parameters[0]); ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(parameters[0], i);
    MlirStringRef name = mlirIdentifierStr(entry.name);
    const Key *key = findKey(name);
    char list[320];
    if (!key)
      return tileEmit(emitter, "unknown key '%.*s' in #tile.schedule, expected one of %s", (int)name.length, name.data,
                      tileListNames(keyNames, list, sizeof list));
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
