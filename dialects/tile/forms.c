// What a row and a format of the table cannot say of an op's text: directives (custom<Name>(…) in ops.def) for pieces
// of formats, and whole forms of functions, memref_at and warp_specialize.
#include "dialects/tile/forms.h"

#include "dialects/tile/definitions.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

//===--- directives -----------------------------------------------------------===//

// Pieces of formats, each a parser and a printer: index lists in brackets that a buffer does not have, `_` for kept
// dimensions, index types after a memory's type. A directive knows its operands by the row's names; several rows share
// one where they name their memory alike.

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

//===--- whole forms ----------------------------------------------------------===//

bool tileParseFunctionOp(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  return mlirExtParserParseFunction(parser, state);
}

void tilePrintFunctionOp(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintFunction(printer, op);
}

//===--- memref_at ----------------------------------------------------------===//

// `[%m, 64]`: operands, and for each entry its number or the dynamic size.
typedef struct MixedList {
  MlirExtSourceLocation location;
  MlirExtOperand operands[TILE_MAX_LIST];
  int64_t numbers[TILE_MAX_LIST];
  intptr_t numOperands, count;
} MixedList;

static bool parseMixedEntry(MlirExtParser parser, MixedList *list) {
  MlirExtParseResult result = mlirExtParserParseOptionalOperand(parser, &list->operands[list->numOperands]);
  int64_t *number = &list->numbers[list->count++];
  if (result == MlirExtParse_Absent)
    return mlirExtParserParseInteger(parser, number);
  *number = mlirShapedTypeGetDynamicSize();
  ++list->numOperands;
  return result == MlirExtParse_Present;
}

static bool parseMixedList(MlirExtParser parser, MixedList *list) {
  list->location = mlirExtParserGetLocation(parser);
  if (!mlirExtParserParseToken(parser, "["))
    return false;
  if (mlirExtParserParseOptionalToken(parser, "]"))
    return true;
  do {
    if (list->count == TILE_MAX_LIST)
      return tileParseFail(parser, list->location, "more than %d entries", TILE_MAX_LIST);
    if (!parseMixedEntry(parser, list))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, "]");
}

static bool printMixedList(MlirExtPrinter printer, MlirOperation op, intptr_t begin, intptr_t count,
                           const int64_t *numbers, intptr_t rank) {
  intptr_t next = 0;
  tilePrintText(printer, "[");
  for (intptr_t i = 0; i < rank; ++i) {
    tilePrintText(printer, i ? ", " : "");
    if (numbers[i] != mlirShapedTypeGetDynamicSize())
      mlirExtPrinterPrintInteger(printer, numbers[i]);
    else if (next < count)
      mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, begin + next++));
  }
  tilePrintText(printer, "]");
  return true;
}

// Sizes or strides of a memref of rank at most TILE_MAX_LIST; false when it has no such strides (an affine map).
static bool memrefNumbers(MlirType type, bool wantsStrides, int64_t *numbers) {
  int64_t offset;
  if (wantsStrides)
    return mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(type, numbers, &offset));
  for (intptr_t i = 0; i < tileTypeGetRank(type); ++i)
    numbers[i] = tileTypeGetSize(type, i);
  return true;
}

static bool checkMixedList(MlirExtParser parser, const MixedList *list, MlirType type, bool isStrides) {
  const char *what = isStrides ? "strides" : "sizes";
  intptr_t rank = tileTypeGetRank(type);
  int64_t wanted[TILE_MAX_LIST];
  if (list->count != rank)
    return tileParseFail(parser, list->location, "%ld %s for a memref of rank %ld", (long)list->count, what,
                         (long)rank);
  if (!memrefNumbers(type, isStrides, wanted))
    return tileParseFail(parser, list->location, "the memref has no strides of its own");
  for (intptr_t i = 0; i < rank; ++i)
    if (list->numbers[i] != wanted[i])
      return wanted[i] == mlirShapedTypeGetDynamicSize()
                 ? tileParseFail(parser, list->location, "entry %ld of %s is a number, dynamic in the memref's type",
                                 (long)i, what)
                 : tileParseFail(parser, list->location, "entry %ld of %s must be %ld as in the memref's type", (long)i,
                                 what, (long)wanted[i]);
  return true;
}

static bool resolveIndices(MlirExtParser parser, MlirExtOpState state, const MixedList *list) {
  MlirType index = mlirIndexTypeGet(mlirExtParserGetContext(parser));
  for (intptr_t i = 0; i < list->numOperands; ++i)
    if (!mlirExtParserResolveOperand(parser, state, list->operands[i], index))
      return false;
  return true;
}

static bool parseMemrefType(MlirExtParser parser, MlirType *type) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  char text[128];
  if (!mlirExtParserParseType(parser, type))
    return false;
  return (mlirTypeIsAMemRef(*type) && tileTypeGetRank(*type) <= TILE_MAX_LIST) ||
         tileParseFail(parser, location, "expected a memref, found '%s'", tileTypeText(*type, text, sizeof text));
}

bool tileParseMemrefAt(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirContext context = mlirExtParserGetContext(parser);
  MlirExtOperand address;
  MixedList sizes = {.count = 0}, strides = {.count = 0};
  MlirType addressType, memref;
  if (!mlirExtParserParseOperand(parser, &address) || !mlirExtParserParseToken(parser, "sizes") ||
      !parseMixedList(parser, &sizes))
    return false;
  bool hasStrides = mlirExtParserParseOptionalToken(parser, "strides");
  if ((hasStrides && !parseMixedList(parser, &strides)) ||
      !mlirExtParserParseAttributeDictionary(parser, state, /*withKeyword=*/false) ||
      !mlirExtParserParseToken(parser, ":") || !mlirExtParserParseType(parser, &addressType) ||
      !mlirExtParserParseToken(parser, "to") || !parseMemrefType(parser, &memref))
    return false;
  if (!checkMixedList(parser, &sizes, memref, false) ||
      (hasStrides && !checkMixedList(parser, &strides, memref, true)) ||
      !mlirExtParserResolveOperand(parser, state, address, addressType) || !resolveIndices(parser, state, &sizes) ||
      !resolveIndices(parser, state, &strides))
    return false;
  tileAddOperandSegments(state, context, 3, (int32_t[]){1, (int32_t)sizes.numOperands, (int32_t)strides.numOperands});
  mlirExtOpStateAddType(state, memref);
  return true;
}

static bool hasIdentityLayout(MlirType memref) { return mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)); }

void tilePrintMemrefAt(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  static const char *const elided[] = {tileOperandSegmentsName};
  MlirType memref = tileMemrefAtOpGetResultType(op);
  intptr_t rank = tileTypeGetRank(memref), begin, count;
  int64_t numbers[TILE_MAX_LIST];
  tilePrintText(printer, " ");
  tilePrintOperands(printer, op, "address");
  tilePrintText(printer, " sizes ");
  tileOpOperands(op, "sizes", &begin, &count);
  memrefNumbers(memref, false, numbers);
  printMixedList(printer, op, begin, count, numbers, rank);
  tileOpOperands(op, "strides", &begin, &count);
  if ((count || !hasIdentityLayout(memref)) && memrefNumbers(memref, true, numbers)) {
    tilePrintText(printer, " strides ");
    printMixedList(printer, op, begin, count, numbers, rank);
  }
  mlirExtPrinterPrintAttributeDictionary(printer, op, 1, elided, /*withKeyword=*/false);
  tilePrintText(printer, " : ");
  mlirExtPrinterPrintType(printer, tileMemrefAtOpGetAddressType(op));
  tilePrintText(printer, " to ");
  mlirExtPrinterPrintType(printer, memref);
}

//===--- warp_specialize ----------------------------------------------------===//

enum { MAX_CAPTURES = 256, MAX_PARTITIONS = 16, FIRST_SPARE_NUMBER = 4096 };

typedef struct Captures {
  MlirExtOperand operands[MAX_CAPTURES];
  MlirType types[MAX_CAPTURES];
  intptr_t count;
} Captures;

typedef struct Partitions {
  MlirAttribute names[MAX_PARTITIONS];
  int64_t warps[MAX_PARTITIONS], registers[MAX_PARTITIONS], threads[MAX_PARTITIONS];
  intptr_t count;
  bool anyRegisters, anyThreads;
} Partitions;

static bool parseCaptureTypes(MlirExtParser parser, Captures *captures) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  intptr_t count = 0;
  do {
    if (count == captures->count)
      return tileParseFail(parser, location, "more types than the %ld captures", (long)captures->count);
    if (!mlirExtParserParseType(parser, &captures->types[count++]))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return count == captures->count ||
         tileParseFail(parser, location, "%ld types for %ld captures", (long)count, (long)captures->count);
}

// `captures(%x, %y : T, U)`, if it is there.
static bool parseCaptures(MlirExtParser parser, MlirExtOpState state, Captures *captures) {
  if (!mlirExtParserParseOptionalToken(parser, "captures"))
    return true;
  if (!mlirExtParserParseToken(parser, "("))
    return false;
  if (mlirExtParserParseOptionalToken(parser, ")"))
    return true;
  do {
    if (captures->count == MAX_CAPTURES)
      return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d captures", MAX_CAPTURES);
    if (!mlirExtParserParseOperand(parser, &captures->operands[captures->count++]))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  if (!mlirExtParserParseToken(parser, ":") || !parseCaptureTypes(parser, captures))
    return false;
  for (intptr_t i = 0; i < captures->count; ++i)
    if (!mlirExtParserResolveOperand(parser, state, captures->operands[i], captures->types[i]))
      return false;
  return mlirExtParserParseToken(parser, ")");
}

// `NAME(4)` after the name was taken.
static bool parseNumber(MlirExtParser parser, int64_t *number) {
  return mlirExtParserParseToken(parser, "(") && mlirExtParserParseInteger(parser, number) &&
         mlirExtParserParseToken(parser, ")");
}

// 0: the word is not there.
static bool parseOptionalNumber(MlirExtParser parser, const char *word, int64_t *number, bool *any) {
  *number = 0;
  if (!mlirExtParserParseOptionalToken(parser, word))
    return true;
  *any = true;
  return parseNumber(parser, number);
}

static bool isSameOperand(const MlirExtOperand *left, const MlirExtOperand *right) {
  return mlirStringRefEqual(left->name, right->name) && left->number == right->number;
}

// The partition's arguments under the captures' names. What is captured twice (cse makes that) is the first argument of
// that name inside; the others get a number that no text can mean.
static void nameArguments(const Captures *captures, MlirExtOperand *arguments) {
  for (intptr_t i = 0; i < captures->count; ++i) {
    arguments[i] = captures->operands[i];
    for (intptr_t before = 0; before < i; ++before)
      if (isSameOperand(&captures->operands[before], &captures->operands[i]))
        arguments[i].number = FIRST_SPARE_NUMBER + (unsigned)i;
  }
}

static bool parsePartition(MlirExtParser parser, MlirExtOpState state, const Captures *captures,
                           Partitions *partitions) {
  MlirExtOperand arguments[MAX_CAPTURES];
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  intptr_t i = partitions->count++;
  if (!tileParseAnyAttribute(parser, &partitions->names[i]))
    return false;
  if (!mlirAttributeIsAString(partitions->names[i]))
    return tileParseFail(parser, location, "the name of a partition must be a string");
  if (!mlirExtParserParseToken(parser, "warps") || !parseNumber(parser, &partitions->warps[i]))
    return false;
  if (!parseOptionalNumber(parser, "registers", &partitions->registers[i], &partitions->anyRegisters) ||
      !parseOptionalNumber(parser, "threads", &partitions->threads[i], &partitions->anyThreads))
    return false;
  nameArguments(captures, arguments);
  return mlirExtParserParseRegion(parser, state, captures->count, arguments, captures->types, /*shadow=*/true);
}

bool tileParseWarpSpecialize(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirContext context = mlirExtParserGetContext(parser);
  Captures captures = {.count = 0};
  Partitions partitions = {.count = 0};
  if (!parseCaptures(parser, state, &captures) ||
      !mlirExtParserParseAttributeDictionary(parser, state, /*withKeyword=*/true))
    return false;
  while (mlirExtParserParseOptionalToken(parser, "partition")) {
    if (partitions.count == MAX_PARTITIONS)
      return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d partitions", MAX_PARTITIONS);
    if (!parsePartition(parser, state, &captures, &partitions))
      return false;
  }
  mlirExtOpStateAddAttribute(state, "names", mlirArrayAttrGet(context, partitions.count, partitions.names));
  mlirExtOpStateAddAttribute(state, "warps", tileIntegers(context, partitions.count, partitions.warps));
  if (partitions.anyRegisters)
    mlirExtOpStateAddAttribute(state, "registers", tileIntegers(context, partitions.count, partitions.registers));
  if (partitions.anyThreads)
    mlirExtOpStateAddAttribute(state, "threads", tileIntegers(context, partitions.count, partitions.threads));
  return true;
}

static void printCaptures(MlirExtPrinter printer, MlirOperation op) {
  if (mlirOperationGetNumOperands(op) == 0)
    return;
  tilePrintText(printer, " captures(");
  tilePrintOperands(printer, op, "captures");
  tilePrintText(printer, " : ");
  tilePrintOperandTypes(printer, op, "captures");
  tilePrintText(printer, ")");
}

static void printOptionalNumber(MlirExtPrinter printer, MlirOperation op, const char *word, intptr_t partition) {
  int64_t number = tileArrayCount(op, word) ? tileArrayAt(op, word, partition) : 0;
  if (!number)
    return;
  tilePrintText(printer, word);
  tilePrintText(printer, "(");
  mlirExtPrinterPrintInteger(printer, number);
  tilePrintText(printer, ") ");
}

static void printPartition(MlirExtPrinter printer, MlirOperation op, intptr_t i) {
  MlirValue captures[MAX_CAPTURES];
  intptr_t count = mlirOperationGetNumOperands(op);
  mlirExtPrinterNewline(printer);
  tilePrintText(printer, "partition ");
  mlirExtPrinterPrintAttribute(printer, mlirArrayAttrGetElement(tileOpAttribute(op, "names"), i));
  tilePrintText(printer, " warps(");
  mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(tileOpAttribute(op, "warps"), i));
  tilePrintText(printer, ") ");
  printOptionalNumber(printer, op, "registers", i);
  printOptionalNumber(printer, op, "threads", i);
  for (intptr_t c = 0; c < count && c < MAX_CAPTURES; ++c)
    captures[c] = mlirOperationGetOperand(op, c);
  MlirRegion region = mlirOperationGetRegion(op, i);
  mlirExtPrinterShadowRegionArguments(printer, region, count < MAX_CAPTURES ? count : MAX_CAPTURES, captures);
  mlirExtPrinterPrintRegion(printer, region, /*entryArguments=*/false, /*terminators=*/true);
}

void tilePrintWarpSpecialize(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  static const char *const elided[] = {"names", "warps", "registers", "threads"};
  printCaptures(printer, op);
  mlirExtPrinterPrintAttributeDictionary(printer, op, 4, elided, /*withKeyword=*/true);
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    printPartition(printer, op, i);
}
