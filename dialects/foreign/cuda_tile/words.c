// The attributes of cuda_tile: words, whose order is that of their numbers in the bytecode; hints; and what `assume`
// says.
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/parts.h"
#include "lib/ir/assembly_parts.h"

//===--- words --------------------------------------------------------------------===//

#define WORDS(...)                                                                                                     \
  (const char *const[]) { __VA_ARGS__, NULL }
#define KIND(name, what, ...) {name, .description = what, .keywords = WORDS(__VA_ARGS__)}

//===--- #cuda_tile.div_by, bounded, same_elements --------------------------------------===//

// Parts: div_by: divisor, every, along; bounded: low, high; same_elements: values. A unit stands for what is not said.
static bool isAssumption(MlirAttribute attribute, int kind) {
  return mlirExtAttributeIsA(attribute, &cudaTileAttributeDefinitions[kind]);
}
bool cudaTileAttrIsAnAssumption(MlirAttribute attribute) {
  bool is = false;
  for (int i = 0; !is && i < CudaTileAssumption_NumKinds; ++i)
    is = isAssumption(attribute, i);
  return is;
}

static MlirAttribute maybe(MlirContext context, bool has, int64_t value) {
  return has ? tileInteger(context, value) : mlirUnitAttrGet(context);
}
static bool take(MlirAttribute part, int64_t *value) {
  bool has = mlirAttributeIsAInteger(part);
  *value = has ? mlirIntegerAttrGetValueInt(part) : 0;
  return has;
}

MlirAttribute cudaTileAssumptionAttrGet(MlirContext context, const CudaTileAssumption *of) {
  MlirAttribute parts[3] = {tileInteger(context, of->divisor)};
  intptr_t count = 0;
  if (of->kind == CudaTileAssumption_SameElements)
    parts[count++] = tileIntegers(context, of->count, of->values);
  else {
    count += of->kind == CudaTileAssumption_DivBy;
    parts[count++] = maybe(context, of->hasFirst, of->first);
    parts[count++] = maybe(context, of->hasSecond, of->second);
  }
  return mlirExtAttributeGet(context, &cudaTileAttributeDefinitions[of->kind], count, parts);
}

CudaTileAssumption cudaTileAssumptionAttrGetSpec(MlirAttribute attribute) {
  CudaTileAssumption of = {0};
  while (of.kind < CudaTileAssumption_NumKinds && !isAssumption(attribute, (int)of.kind))
    ++of.kind;
  MlirAttribute first = mlirExtAttributeGetParameter(attribute, 0);
  if (of.kind == CudaTileAssumption_SameElements) {
    of.count = mlirDenseArrayGetNumElements(first);
    for (intptr_t i = 0; i < of.count; ++i)
      of.values[i] = mlirDenseI64ArrayGetElement(first, i);
    return of;
  }
  intptr_t at = of.kind == CudaTileAssumption_DivBy;
  of.divisor = at ? mlirIntegerAttrGetValueInt(first) : 0;
  of.hasFirst = take(mlirExtAttributeGetParameter(attribute, at), &of.first);
  of.hasSecond = take(mlirExtAttributeGetParameter(attribute, at + 1), &of.second);
  return of;
}

// `<16>`, `<16, every 4 along 0>`.
static bool divByParts(MlirExtParser parser, CudaTileAssumption *of) {
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseInteger(parser, &of->divisor))
    return false;
  if (mlirExtParserParseOptionalToken(parser, ",")) {
    of->hasFirst = mlirExtParserParseOptionalToken(parser, "every");
    if (of->hasFirst && !mlirExtParserParseInteger(parser, &of->first))
      return false;
    of->hasSecond = mlirExtParserParseOptionalToken(parser, "along");
    if (of->hasSecond && !mlirExtParserParseInteger(parser, &of->second))
      return false;
  }
  return mlirExtParserParseToken(parser, ">");
}
static bool parseBound(MlirExtParser parser, bool *has, int64_t *value) {
  *has = !mlirExtParserParseOptionalToken(parser, "?");
  return !*has || mlirExtParserParseInteger(parser, value);
}
static bool boundedParts(MlirExtParser parser, CudaTileAssumption *of) {
  return mlirExtParserParseToken(parser, "<") && parseBound(parser, &of->hasFirst, &of->first) &&
         mlirExtParserParseToken(parser, ",") && parseBound(parser, &of->hasSecond, &of->second) &&
         mlirExtParserParseToken(parser, ">");
}
static bool sameElementsParts(MlirExtParser parser, CudaTileAssumption *of) {
  MlirAttribute list;
  if (!mlirExtParserParseToken(parser, "<") || !tileParseIntegers(parser, false, &list) ||
      !mlirExtParserParseToken(parser, ">"))
    return false;
  of->count = mlirDenseArrayGetNumElements(list);
  for (intptr_t i = 0; i < of->count && i < CudaTileMaxRank; ++i)
    of->values[i] = mlirDenseI64ArrayGetElement(list, i);
  return of->count <= CudaTileMaxRank ||
         tileParseFail(parser, mlirExtParserGetLocation(parser), "expected at most %d numbers", (int)CudaTileMaxRank);
}
static bool (*const partsOf[])(MlirExtParser parser, CudaTileAssumption *of) = {
    [CudaTileAssumption_DivBy] = divByParts,
    [CudaTileAssumption_Bounded] = boundedParts,
    [CudaTileAssumption_SameElements] = sameElementsParts,
};

static bool parseAssumptionParts(MlirExtParser parser, MlirExtAttributeList list, CudaTileAssumptionKind kind) {
  CudaTileAssumption of = {.kind = kind};
  if (!partsOf[kind](parser, &of))
    return false;
  MlirAttribute made = cudaTileAssumptionAttrGet(mlirExtParserGetContext(parser), &of);
  for (intptr_t i = 0; !mlirAttributeIsNull(made) && i < mlirExtAttributeGetNumParameters(made); ++i)
    mlirExtAttributeListAppend(list, mlirExtAttributeGetParameter(made, i));
  return !mlirAttributeIsNull(made);
}
static bool parseDivBy(MlirExtParser parser, MlirExtAttributeList list) {
  return parseAssumptionParts(parser, list, CudaTileAssumption_DivBy);
}
static bool parseBounded(MlirExtParser parser, MlirExtAttributeList list) {
  return parseAssumptionParts(parser, list, CudaTileAssumption_Bounded);
}
static bool parseSameElements(MlirExtParser parser, MlirExtAttributeList list) {
  return parseAssumptionParts(parser, list, CudaTileAssumption_SameElements);
}

static void printMaybe(MlirExtPrinter printer, MlirAttribute part, const char *before, const char *absent) {
  bool has = mlirAttributeIsAInteger(part);
  tilePrintText(printer, has ? before : absent);
  if (has)
    mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(part));
}
static void printDivBy(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  tilePrintText(printer, "<");
  mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(parts[0]));
  printMaybe(printer, parts[1], ", every ", mlirAttributeIsAInteger(parts[2]) ? "," : "");
  printMaybe(printer, parts[2], " along ", "");
  tilePrintText(printer, ">");
}
static void printBounded(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  printMaybe(printer, parts[0], "<", "<?");
  printMaybe(printer, parts[1], ", ", ", ?");
  tilePrintText(printer, ">");
}
static void printSameElements(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  tilePrintText(printer, "<");
  tilePrintIntegers(printer, parts[0]);
  tilePrintText(printer, ">");
}

static bool isMaybe(MlirAttribute part) { return mlirAttributeIsAInteger(part) || mlirAttributeIsAUnit(part); }
static bool verifyDivBy(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  bool ok = count == 3 && mlirAttributeIsAInteger(parts[0]) && isMaybe(parts[1]) && isMaybe(parts[2]);
  int64_t divisor = ok ? mlirIntegerAttrGetValueInt(parts[0]) : 0;
  return (divisor > 0 && !(divisor & (divisor - 1))) ||
         tileEmit(emitter, "div_by: divisor is %ld, expected a power of two", (long)divisor);
}
static bool verifyBounded(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  return (count == 2 && isMaybe(parts[0]) && isMaybe(parts[1])) || tileEmit(emitter, "bounded: expected two bounds");
}
static bool verifySameElements(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  return (count == 1 && mlirAttributeIsADenseI64Array(parts[0]) &&
          mlirDenseArrayGetNumElements(parts[0]) <= CudaTileMaxRank) ||
         tileEmit(emitter, "same_elements: expected a list of at most %d numbers", (int)CudaTileMaxRank);
}

const MlirExtParametricDefinition cudaTileAttributeDefinitions[] = {
    [CudaTileAssumption_DivBy] = {.name = "div_by", .parse = parseDivBy, .print = printDivBy, .verify = verifyDivBy},
    [CudaTileAssumption_Bounded] = {.name = "bounded",
                                    .parse = parseBounded,
                                    .print = printBounded,
                                    .verify = verifyBounded},
    [CudaTileAssumption_SameElements] = {.name = "same_elements",
                                         .parse = parseSameElements,
                                         .print = printSameElements,
                                         .verify = verifySameElements},
};
const intptr_t cudaTileNumAttributeDefinitions =
    sizeof cudaTileAttributeDefinitions / sizeof *cudaTileAttributeDefinitions;

// `div_by<16>` within ops.
static bool parseAssumption(MlirExtParser parser, MlirAttribute *attribute) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef word;
  if (*location == '#' || mlirExtParserParseOptionalKeyword(parser, &word) != MlirExtParse_Present)
    return mlirExtParserParseAttribute(parser, (MlirType){NULL}, attribute);
  for (int kind = 0; kind < CudaTileAssumption_NumKinds; ++kind) {
    CudaTileAssumption of = {.kind = (CudaTileAssumptionKind)kind};
    if (!tileStringEquals(word, cudaTileAttributeDefinitions[kind].name))
      continue;
    if (!partsOf[kind](parser, &of))
      return false;
    *attribute = cudaTileAssumptionAttrGet(mlirExtParserGetContext(parser), &of);
    return !mlirAttributeIsNull(*attribute) || tileParseFail(parser, location, "this assumption does not exist");
  }
  return tileParseFail(parser, location, "expected div_by, bounded or same_elements");
}

static void printAssumption(MlirExtPrinter printer, MlirAttribute attribute) {
  MlirAttribute parts[3];
  intptr_t count = mlirExtAttributeGetNumParameters(attribute);
  for (intptr_t i = 0; i < count; ++i)
    parts[i] = mlirExtAttributeGetParameter(attribute, i);
  CudaTileAssumptionKind kind = cudaTileAssumptionAttrGetSpec(attribute).kind;
  tilePrintText(printer, cudaTileAttributeDefinitions[kind].name);
  cudaTileAttributeDefinitions[kind].print(printer, count, parts);
}

//===--- [true, false] ------------------------------------------------------------===//

static bool parseFlag(MlirExtParser parser, intptr_t number, void *data) {
  int *flags = data;
  flags[number] = mlirExtParserParseOptionalToken(parser, "true");
  return flags[number] || mlirExtParserParseToken(parser, "false");
}
static bool parseFlags(MlirExtParser parser, MlirAttribute *attribute) {
  int flags[TILE_MAX_LIST];
  intptr_t count;
  if (!tileParseList(parser, "flags", parseFlag, flags, &count))
    return false;
  *attribute = mlirDenseBoolArrayGet(mlirExtParserGetContext(parser), count, flags);
  return true;
}
static void printFlags(MlirExtPrinter printer, MlirAttribute attribute) {
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); ++i) {
    tilePrintText(printer, i ? ", " : "[");
    tilePrintText(printer, mlirDenseBoolArrayGetElement(attribute, i) ? "true" : "false");
  }
  tilePrintText(printer, mlirDenseArrayGetNumElements(attribute) ? "]" : "[]");
}

//===--- kinds --------------------------------------------------------------------===//

const TileAttributeKind cudaTileAttributeKinds[] = {
    KIND("rounding", "a rounding mode", "nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full",
         "nearest_int_to_zero", "nearest_away"),
    KIND("overflow", "which overflows do not happen", "none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"),
    KIND("signedness", "signed or unsigned", "unsigned", "signed"),
    KIND("predicate", "a comparison", "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than",
         "greater_than_or_equal"),
    KIND("ordering", "what a comparison with nan gives", "unordered", "ordered"),
    KIND("semantics", "a memory order", "weak", "relaxed", "acquire", "release", "acq_rel"),
    KIND("scope", "who takes part", "tl_blk", "device", "sys"),
    KIND("atomic", "an atomic operation", "and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"),
    KIND("multimem reduction", "a reduction over devices", "add", "min", "max", "and", "or", "xor", "umin", "umax"),
    KIND("visibility", "who sees a symbol", "public", "private"),
    {"assumption", cudaTileAttrIsAnAssumption, "div_by, bounded or same_elements", parseAssumption, printAssumption},
    {"flags", mlirAttributeIsADenseBoolArray, "an array of booleans", parseFlags, printFlags},
    {NULL},
};

const char *const *cudaTileWordsOf(const char *kind) {
  for (const TileAttributeKind *each = cudaTileAttributeKinds; each->name; ++each)
    if (strcmp(each->name, kind) == 0)
      return each->keywords;
  return NULL;
}
