// What the files of this folder share: the tables that dialect.c puts together. Not for others.
#ifndef TESSERA_DIALECTS_TILE_DEFINITIONS_H
#define TESSERA_DIALECTS_TILE_DEFINITIONS_H

#include "dialects/tile/tile.h"
#include "lib/capi/dialect.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"

enum {
  TILE_MAX_RANK = 8,       // axes of a view or buffer: what lib/layout can say
  TILE_MAX_LIST = 64,      // numbers in a list of an attribute
  TILE_MESSAGE_SIZE = 768, // longest message put together from parts
};

// types.c, attrs.c. A type or attribute is known by its definition's address in these arrays.
extern const MlirExtParametricDefinition tileTypeDefinitions[];
extern const MlirExtParametricDefinition tileAttributeDefinitions[];
extern const intptr_t tileNumTypeDefinitions, tileNumAttributeDefinitions;
enum { TileLayoutAttribute, TileMachineAttribute, TileScheduleAttribute };

// layout_attr.c, schedule_attr.c: what attrs.c puts into the array.
bool tileParseLayout(MlirExtParser parser, MlirExtAttributeList list);
void tilePrintLayout(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters);
bool tileVerifyLayout(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters);
bool tileVerifyLayoutEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                              MlirType element);
bool tileParseSchedule(MlirExtParser parser, MlirExtAttributeList list);
void tilePrintSchedule(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters);
bool tileVerifySchedule(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters);

// constraints.c, directives.c; end with name == null.
extern const TileConstraint tileConstraints[];
extern const TileAttributeKind tileAttributeKinds[];
extern const TileDirective tileDirectives[];

// text.c: small parsers and printers that types, attributes and kinds share. Parsers report and return false.
bool tileParseFail(MlirExtParser parser, MlirExtSourceLocation location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// One keyword of the list, as a StringAttr.
bool tileParseOneOf(MlirExtParser parser, const char *what, const char *const *names, MlirAttribute *attribute);
// `[entry, entry]`: calls `entry` for each, at most TILE_MAX_LIST times; `what` are their name in a message.
typedef bool (*TileParseEntry)(MlirExtParser parser, intptr_t number, void *data);
bool tileParseList(MlirExtParser parser, const char *what, TileParseEntry entry, void *data, intptr_t *count);
// `[1, 2, 3]` as a DenseI64ArrayAttr; with `allowUnknown`, `_` stands for the dynamic size.
bool tileParseIntegers(MlirExtParser parser, bool allowUnknown, MlirAttribute *attribute);
bool tileParseAnyAttribute(MlirExtParser parser, MlirAttribute *attribute); // of no given type
void tilePrintIntegers(MlirExtPrinter printer, MlirAttribute attribute);
void tilePrintWord(MlirExtPrinter printer, MlirAttribute stringAttribute); // bare
static inline void tilePrintText(MlirExtPrinter printer, const char *text) {
  mlirExtPrinterPrint(printer, tileString(text));
}
// "add, max, min": for messages. Returns `buffer`.
const char *tileListNames(const char *const *names, char *buffer, size_t capacity);
MlirAttribute tileIntegers(MlirContext context, intptr_t count, const int64_t *values);
MlirAttribute tileInteger(MlirContext context, int64_t value); // i64
MlirAttribute tileWord(MlirContext context, const char *text);

#endif
