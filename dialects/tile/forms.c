// Parsers and printers of whole ops whose form no format can say: functions, memref_at, warp_specialize. See forms.h.
#include "dialects/tile/forms.h"
#include "dialects/tile/definitions.h"
#include "dialects/tile/ops.h"
#include "lib/ir/op_format.h"

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
  int64_t warps[MAX_PARTITIONS], registers[MAX_PARTITIONS];
  intptr_t count;
  bool anyRegisters;
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
  partitions->registers[i] = 0;
  if (mlirExtParserParseOptionalToken(parser, "registers")) {
    partitions->anyRegisters = true;
    if (!parseNumber(parser, &partitions->registers[i]))
      return false;
  }
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

static void printPartition(MlirExtPrinter printer, MlirOperation op, intptr_t i) {
  MlirAttribute registers = tileOpAttribute(op, "registers");
  MlirValue captures[MAX_CAPTURES];
  intptr_t count = mlirOperationGetNumOperands(op);
  mlirExtPrinterNewline(printer);
  tilePrintText(printer, "partition ");
  mlirExtPrinterPrintAttribute(printer, mlirArrayAttrGetElement(tileOpAttribute(op, "names"), i));
  tilePrintText(printer, " warps(");
  mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(tileOpAttribute(op, "warps"), i));
  tilePrintText(printer, ") ");
  if (!mlirAttributeIsNull(registers) && mlirDenseI64ArrayGetElement(registers, i)) {
    tilePrintText(printer, "registers(");
    mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(registers, i));
    tilePrintText(printer, ") ");
  }
  for (intptr_t c = 0; c < count && c < MAX_CAPTURES; ++c)
    captures[c] = mlirOperationGetOperand(op, c);
  MlirRegion region = mlirOperationGetRegion(op, i);
  mlirExtPrinterShadowRegionArguments(printer, region, count < MAX_CAPTURES ? count : MAX_CAPTURES, captures);
  mlirExtPrinterPrintRegion(printer, region, /*entryArguments=*/false, /*terminators=*/true);
}

void tilePrintWarpSpecialize(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  static const char *const elided[] = {"names", "warps", "registers"};
  printCaptures(printer, op);
  mlirExtPrinterPrintAttributeDictionary(printer, op, 3, elided, /*withKeyword=*/true);
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    printPartition(printer, op, i);
}
