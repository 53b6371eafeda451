// Functions for the directives of a format (custom<Name>(…) in ops.def), and access to an op's operands by name.
//
//   static bool parseIndices(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
//     return mlirExtParserParseToken(parser, "[") && tileParseOperandList(parse, "indices") &&
//            mlirExtParserParseToken(parser, "]");
//   }
//   static void printIndices(MlirOperation op, MlirExtPrinter printer) {
//     mlirExtPrinterPrint(printer, tileString("["));
//     tilePrintOperands(printer, op, "indices");
//     mlirExtPrinterPrint(printer, tileString("]"));
//   }
//
// Operands are resolved after the whole format is parsed: a type may be given before or after its operand, by the
// directive, by type(…) or by the row (unique constraint, like, as). A directive prints no space before its text
// when it follows `(`, `[` or an empty literal; otherwise the printer has put one.
// Errors: mlirExtParserError(parser, location, message), which returns false.
#pragma once

#include "lib/ir/op_table.h"

MlirExtParser tileParseParser(const TileParse *parse);
MlirExtSourceLocation tileParseLocation(const TileParse *parse); // of the op

// `name` must be an operand (result) of the row; an assertion fails otherwise. Each call appends.
void tileParseAddOperand(TileParse *parse, const char *name, MlirExtOperand operand);
bool tileParseOperand(TileParse *parse, const char *name); // exactly one
MlirExtParseResult tileParseOptionalOperand(TileParse *parse, const char *name);
bool tileParseOperandList(TileParse *parse, const char *name); // `%a, %b`, may be empty
intptr_t tileParseCountOperands(const TileParse *parse, const char *name);

void tileParseAddOperandType(TileParse *parse, const char *name, MlirType type);
void tileParseAddResultType(TileParse *parse, const char *name, MlirType type);
bool tileParseOperandTypes(TileParse *parse, const char *name); // `T, T`; one type for one operand
bool tileParseResultTypes(TileParse *parse, const char *name);

void tileParseSetAttribute(TileParse *parse, const char *name, MlirAttribute attribute);
MlirAttribute tileParseGetAttribute(const TileParse *parse, const char *name); // null when not set yet
// Parses the attribute in its kind's short form and sets it.
bool tileParseAttribute(TileParse *parse, const char *name);

// `[0, %k, _]`: an operand per SSA name, INT64_MIN for it in the i64 array; `_` as `placeholder` (refused when 0).
bool tileParseMixedList(TileParse *parse, const char *operands, const char *attribute, int64_t placeholder);
void tilePrintMixedList(MlirExtPrinter printer, MlirOperation op, const char *operands, const char *attribute,
                        int64_t placeholder);

// Printing, and the op's values by name, for verifiers and passes as well. Only for ops of a table.
void tilePrintOperands(MlirExtPrinter printer, MlirOperation op, const char *name);     // `%a, %b`
void tilePrintOperandTypes(MlirExtPrinter printer, MlirOperation op, const char *name); // `T, T`
void tilePrintAttribute(MlirExtPrinter printer, MlirOperation op, const char *name);    // its kind's short form
void tileOpOperands(MlirOperation op, const char *name, intptr_t *begin, intptr_t *count);
void tileOpResults(MlirOperation op, const char *name, intptr_t *begin, intptr_t *count);
MlirValue tileOpOperand(MlirOperation op, const char *name); // null when an optional one is absent
MlirValue tileOpResult(MlirOperation op, const char *name);

// For ops with hooks .parse and .print: the groups' sizes, in the order of the row, and the attribute that keeps them.
static const char tileOperandSegmentsName[] = "operandSegmentSizes";
void tileAddOperandSegments(MlirExtOpState state, MlirContext context, intptr_t count, const int32_t *sizes);
// Takes all values of an operand group that may be empty out of the op.
void tileOpDropOperands(MlirOperation op, const char *name);
// Gives an operand group of one value its value, in place of what it has.
void tileOpGiveOperand(MlirOperation op, const char *name, MlirValue value);

// As above, by position in the row, as the generated accessors call them: O(number of columns).
void tileOpOperandGroup(MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count);
void tileOpResultGroup(MlirOperation op, intptr_t group, intptr_t *begin, intptr_t *count);
MlirAttribute tileOpAttributeAt(MlirOperation op, intptr_t index); // the default when absent
