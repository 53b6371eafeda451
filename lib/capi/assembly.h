// Parsing and printing from C: AsmParser/OpAsmParser, AsmPrinter/OpAsmPrinter, OperationState.
// One handle serves types, attributes and operations; functions that name operands or regions need an operation's.
// `Parse…` reports and returns false on failure. `ParseOptional…` returns Absent without a report.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtParser);
MLIR_EXT_HANDLE(MlirExtPrinter);
MLIR_EXT_HANDLE(MlirExtOpState); // the operation under construction

typedef const char *MlirExtSourceLocation; // a position in the text being parsed

// A parsed, not yet typed operand (`%x` or `%x#1`).
typedef struct MlirExtOperand {
  MlirExtSourceLocation location;
  MlirStringRef name;
  unsigned number;
} MlirExtOperand;

typedef enum MlirExtParseResult { MlirExtParse_Absent, MlirExtParse_Present, MlirExtParse_Failed } MlirExtParseResult;

MLIR_EXT_BEGIN

//===--- parser: position and errors ----------------------------------------===//
MlirContext mlirExtParserGetContext(MlirExtParser parser);
MlirExtSourceLocation mlirExtParserGetLocation(MlirExtParser parser);
MlirLocation mlirExtParserEncodeLocation(MlirExtParser parser, MlirExtSourceLocation location);
// Always returns false.
bool mlirExtParserError(MlirExtParser parser, MlirExtSourceLocation location, MlirStringRef message);

//===--- parser: tokens -----------------------------------------------------===//
// Punctuation: -> ( ) { } [ ] < > , : = ? + - * / | ... ; anything else is taken as a keyword.
bool mlirExtParserParseToken(MlirExtParser parser, const char *token);
bool mlirExtParserParseOptionalToken(MlirExtParser parser, const char *token);
bool mlirExtParserParseKeyword(MlirExtParser parser, MlirStringRef *keyword); // any keyword
MlirExtParseResult mlirExtParserParseOptionalKeyword(MlirExtParser parser, MlirStringRef *keyword);
bool mlirExtParserParseKeywordOrString(MlirExtParser parser, MlirStringRef *text); // text lives as long as the context
bool mlirExtParserParseInteger(MlirExtParser parser, int64_t *value);
MlirExtParseResult mlirExtParserParseOptionalInteger(MlirExtParser parser, int64_t *value);
// `4x?x8x`: sizes up to and with the last `x`; dynamic ones as mlirShapedTypeGetDynamicSize(). At most `capacity`.
bool mlirExtParserParseDimensions(MlirExtParser parser, bool allowDynamic, intptr_t capacity, int64_t *sizes,
                                  intptr_t *count);

//===--- parser: types and attributes ---------------------------------------===//
bool mlirExtParserParseType(MlirExtParser parser, MlirType *type);
MlirExtParseResult mlirExtParserParseOptionalType(MlirExtParser parser, MlirType *type);
bool mlirExtParserParseAttribute(MlirExtParser parser, MlirType typeOrNull, MlirAttribute *attribute);
MlirExtParseResult mlirExtParserParseOptionalAttribute(MlirExtParser parser, MlirType typeOrNull,
                                                       MlirAttribute *attribute);
bool mlirExtParserParseSymbolName(MlirExtParser parser, MlirAttribute *stringAttribute); // `@name`

//===--- parser: operations -------------------------------------------------===//
bool mlirExtParserParseAttributeDictionary(MlirExtParser parser, MlirExtOpState state, bool withKeyword);
bool mlirExtParserParseOperand(MlirExtParser parser, MlirExtOperand *operand);
MlirExtParseResult mlirExtParserParseOptionalOperand(MlirExtParser parser, MlirExtOperand *operand);
bool mlirExtParserResolveOperand(MlirExtParser parser, MlirExtOpState state, MlirExtOperand operand, MlirType type);
// Appends a region. With arguments given, its entry block takes them; `shadow` lets them reuse outer names (isolated).
bool mlirExtParserParseRegion(MlirExtParser parser, MlirExtOpState state, intptr_t count,
                              const MlirExtOperand *arguments, const MlirType *types, bool shadow);
MlirExtParseResult mlirExtParserParseOptionalRegion(MlirExtParser parser, MlirExtOpState state);
// `(private)? @name(args) -> results attributes {…} region?` of a function-like op.
bool mlirExtParserParseFunction(MlirExtParser parser, MlirExtOpState state);

//===--- operation state ----------------------------------------------------===//
// In place of one of that name, if it is there.
void mlirExtOpStateAddAttribute(MlirExtOpState state, const char *name, MlirAttribute attribute);
MlirAttribute mlirExtOpStateGetAttribute(MlirExtOpState state, const char *name); // null when absent
void mlirExtOpStateAddType(MlirExtOpState state, MlirType type);
MlirExtTypeList mlirExtOpStateGetTypes(MlirExtOpState state); // of the results so far: what type inference appends to
void mlirExtOpStateAddEmptyRegion(MlirExtOpState state);
intptr_t mlirExtOpStateGetNumOperands(MlirExtOpState state);
MlirValue mlirExtOpStateGetOperand(MlirExtOpState state, intptr_t index);
intptr_t mlirExtOpStateGetNumRegions(MlirExtOpState state);
MlirRegion mlirExtOpStateGetRegion(MlirExtOpState state, intptr_t index);
// Puts SingleBlockImplicitTerminator's terminator `name` at the end of region `index` if it has none.
void mlirExtOpStateEnsureTerminator(MlirExtParser parser, MlirExtOpState state, intptr_t index, const char *name);

//===--- printer ------------------------------------------------------------===//
void mlirExtPrinterPrint(MlirExtPrinter printer, MlirStringRef text);
void mlirExtPrinterPrintInteger(MlirExtPrinter printer, int64_t value);
void mlirExtPrinterPrintString(MlirExtPrinter printer, MlirStringRef text); // quoted and escaped
void mlirExtPrinterPrintType(MlirExtPrinter printer, MlirType type);
void mlirExtPrinterPrintAttribute(MlirExtPrinter printer, MlirAttribute attribute);
void mlirExtPrinterPrintAttributeWithoutType(MlirExtPrinter printer, MlirAttribute attribute);
void mlirExtPrinterPrintSymbolName(MlirExtPrinter printer, MlirStringRef name);
void mlirExtPrinterPrintOperand(MlirExtPrinter printer, MlirValue value);
void mlirExtPrinterPrintRegion(MlirExtPrinter printer, MlirRegion region, bool entryArguments, bool terminators);
// Prints the region's arguments under the names of `values` (isolated regions with captures).
void mlirExtPrinterShadowRegionArguments(MlirExtPrinter printer, MlirRegion region, intptr_t count,
                                         const MlirValue *values);
void mlirExtPrinterPrintAttributeDictionary(MlirExtPrinter printer, MlirOperation op, intptr_t elidedCount,
                                            const char *const *elided, bool withKeyword);
void mlirExtPrinterPrintFunction(MlirExtPrinter printer, MlirOperation op);
void mlirExtPrinterNewline(MlirExtPrinter printer);

// mlir-c's mlirModuleCreateParse for a text (or bytecode) that has a name, which stands for the file in locations. A
// null byte must follow the text. Null after diagnostics. The caller owns the module.
MlirModule mlirExtModuleParse(MlirContext context, MlirStringRef source, MlirStringRef name);

MLIR_EXT_END
