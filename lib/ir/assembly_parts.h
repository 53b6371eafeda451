// Small parsers and printers that the types, attributes and attribute kinds of every dialect share.
//
//   MlirAttribute sizes;
//   return mlirExtParserParseToken(parser, "=") && tileParseIntegers(parser, /*allowUnknown=*/false, &sizes);
//
// A parser begins at the first token of its part. After an error it reports at the token at fault and returns false.
#pragma once

#include "lib/capi/assembly.h"
#include "lib/ir/support.h"
#include "lib/support/grow.h"

enum {
  TILE_MAX_LIST = 64,      // numbers in a list of an attribute
  TILE_MESSAGE_SIZE = 768, // longest message put together from parts
};

bool tileParseFail(MlirExtParser parser, MlirExtSourceLocation location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// One keyword of the list, as a StringAttr.
bool tileParseOneOf(MlirExtParser parser, const char *what, const char *const *names, MlirAttribute *attribute);
// `key value, key value>`: what stands behind the < of an attribute that messages call `what`. Calls `parseValue`
// behind each key, with the key's number among the names. An unknown key is an error, and so is one that is given
// twice.
typedef bool (*TileParseValue)(MlirExtParser parser, int key, const void *data, MlirAttribute *value);
bool tileParseKeys(MlirExtParser parser, const char *what, const char *const *names, TileParseValue parseValue,
                   const void *data, MlirAttribute *values);
// `[entry, entry]`: calls `entry` for each entry, at most TILE_MAX_LIST times. Messages call the entries `what`.
typedef bool (*TileParseEntry)(MlirExtParser parser, intptr_t number, void *data);
bool tileParseList(MlirExtParser parser, const char *what, TileParseEntry entry, void *data, intptr_t *count);
// `[1, 2, 3]` as a DenseI64ArrayAttr; with `allowUnknown`, `_` stands for the dynamic size.
bool tileParseIntegers(MlirExtParser parser, bool allowUnknown, MlirAttribute *attribute);
bool tileParseAnyAttribute(MlirExtParser parser, MlirAttribute *attribute); // of no given type
void tilePrintIntegers(MlirExtPrinter printer, MlirAttribute attribute);
void tilePrintWord(MlirExtPrinter printer, MlirAttribute stringAttribute); // without quotes
static inline void tilePrintText(MlirExtPrinter printer, const char *text) {
  mlirExtPrinterPrint(printer, tileString(text));
}
bool tileIsOneOf(MlirStringRef word, const char *const *names); // names end with null
// Adds the names to the list: "add, max, min", for messages. Returns the text, which the list owns.
const char *tileListNames(const char *const *names, tessera_list_t *list);
MlirAttribute tileIntegers(MlirContext context, intptr_t count, const int64_t *values);
MlirAttribute tileInteger(MlirContext context, int64_t value); // i64
MlirAttribute tileWord(MlirContext context, const char *text);
