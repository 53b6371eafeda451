// The attributes #tile.layout (layout_attr.c), #tile.machine (here) and #tile.schedule (schedule_attr.c), in one table.
//
// #tile.machine<"sm_90a", "shared.bytes" = 466944> names a machine file and what to change in it: never the whole
// description, a printed kernel must stay readable. Parameters: the name, a dictionary of the overrides.
#include <stdio.h>

#include "dialects/tile/definitions.h"
#include "lib/machine/machine.h"

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

// The override's value as a machine file would hold it, in `buffer`.
static bool overrideText(MlirAttribute value, char *buffer, size_t capacity) {
  MlirStringRef text;
  if (mlirAttributeIsAInteger(value)) {
    snprintf(buffer, capacity, "%lld", (long long)mlirIntegerAttrGetValueInt(value));
    return true;
  }
  if (!mlirAttributeIsAString(value))
    return false;
  text = mlirStringAttrGetValue(value);
  snprintf(buffer, capacity, "%.*s", (int)text.length, text.data);
  return true;
}

static TileMachine *load(MlirStringRef name, MlirAttribute overrides, TileError *error) {
  char file[128], keys[MAX_OVERRIDES][64], values[MAX_OVERRIDES][128];
  TileMachineOverride list[MAX_OVERRIDES];
  intptr_t count = mlirDictionaryAttrGetNumElements(overrides);
  if (count > MAX_OVERRIDES) {
    tileErrorSet(error, 0, 0, "%ld overrides of a machine, expected at most %d", (long)count, MAX_OVERRIDES);
    return NULL;
  }
  for (intptr_t i = 0; i < count; ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(overrides, i);
    MlirStringRef key = mlirIdentifierStr(entry.name);
    snprintf(keys[i], sizeof keys[i], "%.*s", (int)key.length, key.data);
    if (!overrideText(entry.attribute, values[i], sizeof values[i])) {
      tileErrorSet(error, 0, 0, "override '%s' is neither an integer nor a string", keys[i]);
      return NULL;
    }
    list[i] = (TileMachineOverride){keys[i], values[i]};
  }
  snprintf(file, sizeof file, "%.*s", (int)name.length, name.data);
  return tileMachineLoad(file, NULL, list, (size_t)count, error);
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
                             .parse = tileParseLayout,
                             .print = tilePrintLayout,
                             .verify = tileVerifyLayout,
                             .verifyEncoding = tileVerifyLayoutEncoding,
                             .alias = "layout"},
    [TileMachineAttribute] = {.name = "machine", .parse = parseMachine, .print = printMachine, .verify = verifyMachine},
    [TileScheduleAttribute] = {.name = "schedule",
                               .parse = tileParseSchedule,
                               .print = tilePrintSchedule,
                               .verify = tileVerifySchedule,
                               .alias = "schedule"},
};
const intptr_t tileNumAttributeDefinitions = sizeof tileAttributeDefinitions / sizeof *tileAttributeDefinitions;
