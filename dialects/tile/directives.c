// The pieces of formats that the table language does not reach: custom<Name>(…) in ops.def, each a parser and a
// printer. Why: index lists in brackets that a buffer does not have, `_` for kept dimensions, index types after a
// memory's type. A directive knows its operands by the row's names; several rows share one where they name their memory
// alike.
#include "dialects/tile/definitions.h"
#include "lib/ir/op_format.h"

// The type of an operand that occurs exactly once.
static MlirType typeOf(MlirOperation op, const char *operand) { return mlirValueGetType(tileOpOperand(op, operand)); }

//===--- `[%i, %j]` after a memory: none after a buffer or a tile of addresses -----===//

static bool parseIndices(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return !mlirExtParserParseOptionalToken(parser, "[") ||
         (tileParseOperandList(parse, "indices") && mlirExtParserParseToken(parser, "]"));
}

static void printIndices(MlirOperation op, MlirExtPrinter printer, const char *memory) {
  intptr_t begin, count;
  tileOpOperands(op, "indices", &begin, &count);
  if (count == 0 && !tileTypeIsAView(typeOf(op, memory)) && !mlirTypeIsAMemRef(typeOf(op, memory)))
    return;
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? ", " : "[");
    mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, begin + i));
  }
  tilePrintText(printer, count ? "]" : "[]");
}

//===--- `memref<?xf32>[tensor<64xi32>, index]`: index types, unless all are index ---===//

static void addIndexTypes(TileParse *parse, MlirContext context) {
  for (intptr_t i = tileParseCountOperands(parse, "indices"); i > 0; --i)
    tileParseAddOperandType(parse, "indices", mlirIndexTypeGet(context));
}

static bool parseIndexTypes(TileParse *parse, MlirExtParser parser, const char *memory) {
  if (!tileParseOperandTypes(parse, memory))
    return false;
  if (mlirExtParserParseOptionalToken(parser, "["))
    return tileParseOperandTypes(parse, "indices") && mlirExtParserParseToken(parser, "]");
  addIndexTypes(parse, mlirExtParserGetContext(parser));
  return true;
}

static bool hasIndexTiles(MlirOperation op) {
  intptr_t begin, count;
  tileOpOperands(op, "indices", &begin, &count);
  for (intptr_t i = begin; i < begin + count; ++i)
    if (!mlirTypeIsAIndex(tileOperandType(op, i)))
      return true;
  return false;
}

static void printIndexTypes(MlirOperation op, MlirExtPrinter printer, const char *memory) {
  mlirExtPrinterPrintType(printer, typeOf(op, memory));
  if (!hasIndexTiles(op))
    return;
  tilePrintText(printer, "[");
  tilePrintOperandTypes(printer, op, "indices");
  tilePrintText(printer, "]");
}

// As above, for each name that rows give their memory.
#define MEMORY_DIRECTIVES(Name, name)                                                                                  \
  static void print##Name##Indices(MlirOperation op, MlirExtPrinter printer) { printIndices(op, printer, name); }      \
  static bool parse##Name##IndexTypes(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {                  \
    return parseIndexTypes(parse, parser, name);                                                                       \
  }                                                                                                                    \
  static void print##Name##IndexTypes(MlirOperation op, MlirExtPrinter printer) { printIndexTypes(op, printer, name); }
MEMORY_DIRECTIVES(Source, "source")
MEMORY_DIRECTIVES(Destination, "destination")
MEMORY_DIRECTIVES(Memory, "memory")

//===--- `[%b, %h, _, _]`: dimensions that are fixed, and kept ones -----------------===//

static bool parseFixedEntry(TileParse *parse, MlirExtParser parser, int64_t dimension, int64_t *fixed,
                            intptr_t *count) {
  MlirExtParseResult result = tileParseOptionalOperand(parse, "indices");
  if (result == MlirExtParse_Absent)
    return mlirExtParserParseToken(parser, "_");
  fixed[(*count)++] = dimension;
  return result == MlirExtParse_Present;
}

// The list stands before the memref's type, so the number of its entries is left behind the fixed dimensions, negated,
// until parseSourceType has seen how many there should be.
static bool parseFixedIndices(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  int64_t fixed[TILE_MAX_LIST + 1];
  intptr_t count = 0, dimension = 0;
  if (mlirExtParserParseOptionalToken(parser, "[")) {
    do {
      if (dimension == TILE_MAX_LIST)
        return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d dimensions", TILE_MAX_LIST);
      if (!parseFixedEntry(parse, parser, dimension++, fixed, &count))
        return false;
    } while (mlirExtParserParseOptionalToken(parser, ","));
    if (!mlirExtParserParseToken(parser, "]"))
      return false;
    fixed[count++] = -dimension;
  }
  tileParseSetAttribute(parse, "fixed", tileIntegers(mlirExtParserGetContext(parser), count, fixed));
  return true;
}

static bool parseSourceType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute fixed = tileParseGetAttribute(parse, "fixed");
  intptr_t count = mlirDenseArrayGetNumElements(fixed) - 1, entries = 0;
  MlirType type;
  if (!mlirExtParserParseType(parser, &type))
    return false;
  tileParseAddOperandType(parse, "source", type);
  if (count < 0)
    return true;
  int64_t dimensions[TILE_MAX_LIST];
  for (intptr_t i = 0; i < count; ++i)
    dimensions[i] = mlirDenseI64ArrayGetElement(fixed, i);
  tileParseSetAttribute(parse, "fixed", tileIntegers(mlirExtParserGetContext(parser), count, dimensions));
  entries = (intptr_t)-mlirDenseI64ArrayGetElement(fixed, count);
  return !mlirTypeIsAMemRef(type) || entries == tileTypeGetRank(type) ||
         tileParseFail(parser, location, "%ld entries in brackets, expected one per dimension of the memref: %ld",
                       (long)entries, (long)tileTypeGetRank(type));
}

static void printSourceType(MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintType(printer, typeOf(op, "source"));
}

static void printFixedIndices(MlirOperation op, MlirExtPrinter printer) {
  MlirAttribute fixed = tileOpAttribute(op, "fixed");
  intptr_t begin, count, next = 0;
  tileOpOperands(op, "indices", &begin, &count);
  if (count == 0)
    return;
  tilePrintText(printer, "[");
  for (intptr_t dimension = 0; dimension < tileTypeGetRank(typeOf(op, "source")); ++dimension) {
    tilePrintText(printer, dimension ? ", " : "");
    if (next < count && next < mlirDenseArrayGetNumElements(fixed) &&
        mlirDenseI64ArrayGetElement(fixed, next) == dimension)
      mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, begin + next++));
    else
      tilePrintText(printer, "_");
  }
  tilePrintText(printer, "]");
}

//===--- `%V[%i, %j] to %B`, `%B to %V[%i, %j]` ---------------------------------------===//

static bool parseCopied(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  if (!tileParseOperand(parse, "source") || !parseIndices(parse, parser, state) ||
      !mlirExtParserParseToken(parser, "to") || !tileParseOperand(parse, "destination"))
    return false;
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  intptr_t count = tileParseCountOperands(parse, "indices");
  if (!parseIndices(parse, parser, state))
    return false;
  return count == 0 || tileParseCountOperands(parse, "indices") == count ||
         tileParseFail(parser, location, "indices on both sides, expected them on the view's only");
}

static void printCopied(MlirOperation op, MlirExtPrinter printer) {
  bool fromView = tileTypeIsAView(typeOf(op, "source"));
  tilePrintOperands(printer, op, "source");
  if (fromView)
    printIndices(op, printer, "source");
  tilePrintText(printer, " to ");
  tilePrintOperands(printer, op, "destination");
  if (!fromView)
    printIndices(op, printer, "destination");
}

//===--- the type of an accumulator, which is the result's when there is one ---------===//

static bool parseAccumulatorType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirType type;
  if (!mlirExtParserParseType(parser, &type))
    return false;
  tileParseAddOperandType(parse, "accumulator", type);
  if (!tileTypeIsABuffer(type))
    tileParseAddResultType(parse, "result", type);
  return true;
}

static void printAccumulatorType(MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintType(printer, typeOf(op, "accumulator"));
}

//===--- the types of a scan's inputs, then of its initial states ---------------------===//

static bool parseScanTypes(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  intptr_t inputs = tileParseCountOperands(parse, "inputs"), initial = tileParseCountOperands(parse, "initial");
  intptr_t count = 0;
  do {
    MlirType type;
    if (!mlirExtParserParseType(parser, &type))
      return false;
    if (count < inputs + initial)
      tileParseAddOperandType(parse, count < inputs ? "inputs" : "initial", type);
    ++count;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return count == inputs + initial ||
         tileParseFail(parser, location, "%ld types, expected one per input and per initial state: %ld", (long)count,
                       (long)(inputs + initial));
}

static void printScanTypes(MlirOperation op, MlirExtPrinter printer) {
  intptr_t begin, count;
  tileOpOperands(op, "initial", &begin, &count);
  tilePrintOperandTypes(printer, op, "inputs");
  tilePrintText(printer, count ? ", " : "");
  tilePrintOperandTypes(printer, op, "initial");
}

const TileDirective tileDirectives[] = {
    {"SourceIndices", parseIndices, printSourceIndices},
    {"DestinationIndices", parseIndices, printDestinationIndices},
    {"MemoryIndices", parseIndices, printMemoryIndices},
    {"SourceIndexTypes", parseSourceIndexTypes, printSourceIndexTypes},
    {"DestinationIndexTypes", parseDestinationIndexTypes, printDestinationIndexTypes},
    {"MemoryIndexTypes", parseMemoryIndexTypes, printMemoryIndexTypes},
    {"FixedIndices", parseFixedIndices, printFixedIndices},
    {"SourceType", parseSourceType, printSourceType},
    {"Copied", parseCopied, printCopied},
    {"AccumulatorType", parseAccumulatorType, printAccumulatorType},
    {"ScanTypes", parseScanTypes, printScanTypes},
    {NULL},
};
