// The attributes of StableHLO: words in angle brackets (#stablehlo<precision HIGH>), lists of fields
// (#stablehlo.gather<offset_dims = [1], …>) and the dimensions of a convolution, each a row of a table; and the
// constraints and kinds that the columns of ops.def name.
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/assembly_parts.h"

//===--- words --------------------------------------------------------------===//

enum { Direction, Comparison, Precision, FftType, Transpose, Algorithm, Distribution, NumWords };
enum { Dot = NumWords, GatherNumbers, ScatterNumbers, Alias, Convolution };

static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT", NULL};
static const char *const comparisons[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", NULL};
static const char *const precisions[] = {"DEFAULT", "HIGH", "HIGHEST", NULL};
static const char *const fftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT", NULL};
static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", NULL};
static const char *const algorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX", NULL};
static const char *const distributions[] = {"UNIFORM", "NORMAL", NULL};
static const char *const *const words[NumWords] = {
    [Direction] = directions, [Comparison] = comparisons, [Precision] = precisions,       [FftType] = fftTypes,
    [Transpose] = transposes, [Algorithm] = algorithms,   [Distribution] = distributions,
};

static bool parseWordOf(MlirExtParser parser, MlirExtAttributeList list, int kind) {
  MlirAttribute word;
  if (!tileParseOneOf(parser, stablehloAttributeDefinitions[kind].name, words[kind], &word))
    return false;
  mlirExtAttributeListAppend(list, word);
  return true;
}

static void printWord(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, " ");
  tilePrintWord(printer, parameters[0]);
}

static bool verifyWordOf(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters, int kind) {
  return (count == 1 && mlirAttributeIsAString(parameters[0]) &&
          tileIsOneOf(mlirStringAttrGetValue(parameters[0]), words[kind])) ||
         tileEmit(emitter, "not a word of #stablehlo<%s>", stablehloAttributeDefinitions[kind].name);
}

int stablehloWordOf(MlirAttribute attribute) {
  MlirStringRef word = mlirStringAttrGetValue(mlirExtAttributeGetParameter(attribute, 0));
  for (int kind = 0; kind < NumWords; ++kind)
    if (mlirExtAttributeIsA(attribute, &stablehloAttributeDefinitions[kind]))
      for (int i = 0; words[kind][i]; ++i)
        if (tileStringEquals(word, words[kind][i]))
          return i;
  return 0;
}

// In an op's text a word stands alone.
static bool parseBareWord(MlirExtParser parser, MlirAttribute *attribute, int kind) {
  MlirAttribute word;
  if (!tileParseOneOf(parser, stablehloAttributeDefinitions[kind].name, words[kind], &word))
    return false;
  *attribute = mlirExtAttributeGet(mlirExtParserGetContext(parser), &stablehloAttributeDefinitions[kind], 1, &word);
  return true;
}

static void printBareWord(MlirExtPrinter printer, MlirAttribute attribute) {
  tilePrintWord(printer, mlirExtAttributeGetParameter(attribute, 0));
}

#define WORD(Kind)                                                                                                     \
  static bool parse##Kind(MlirExtParser parser, MlirExtAttributeList list) { return parseWordOf(parser, list, Kind); } \
  static bool verify##Kind(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {                  \
    return verifyWordOf(emitter, count, parameters, Kind);                                                             \
  }                                                                                                                    \
  static bool is##Kind(MlirAttribute attribute) {                                                                      \
    return mlirExtAttributeIsA(attribute, &stablehloAttributeDefinitions[Kind]);                                       \
  }                                                                                                                    \
  static bool parseBare##Kind(MlirExtParser parser, MlirAttribute *attribute) {                                        \
    return parseBareWord(parser, attribute, Kind);                                                                     \
  }
WORD(Direction)
WORD(Comparison)
WORD(Precision)
WORD(FftType)
WORD(Transpose)
WORD(Algorithm)
WORD(Distribution)

//===--- fields -------------------------------------------------------------===//

typedef struct Field {
  const char *name;
  bool isNumber;
} Field;
typedef struct Fields {
  const Field *fields;
  int count;
  bool printsAll; // else only lists that are not empty and numbers that are not 0
} Fields;
enum { MostFields = 6 };

static const Field dotFields[] = {{"lhs_batching_dimensions"},
                                  {"rhs_batching_dimensions"},
                                  {"lhs_contracting_dimensions"},
                                  {"rhs_contracting_dimensions"}};
static const Field gatherFields[] = {{"offset_dims"},           {"collapsed_slice_dims"},
                                     {"operand_batching_dims"}, {"start_indices_batching_dims"},
                                     {"start_index_map"},       {"index_vector_dim", true}};
static const Field scatterFields[] = {{"update_window_dims"},           {"inserted_window_dims"},
                                      {"input_batching_dims"},          {"scatter_indices_batching_dims"},
                                      {"scatter_dims_to_operand_dims"}, {"index_vector_dim", true}};
static const Field aliasFields[] = {{"output_tuple_indices"}, {"operand_index", true}, {"operand_tuple_indices"}};
#define FIELDS(list, all) {list, sizeof list / sizeof *list, all}
static const Fields structures[] = {
    [Dot - NumWords] = FIELDS(dotFields, false),
    [GatherNumbers - NumWords] = FIELDS(gatherFields, false),
    [ScatterNumbers - NumWords] = FIELDS(scatterFields, false),
    [Alias - NumWords] = FIELDS(aliasFields, true),
};

static bool parseField(MlirExtParser parser, const Fields *of, MlirAttribute *values) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef name;
  int64_t number;
  if (!mlirExtParserParseKeyword(parser, &name) || !mlirExtParserParseToken(parser, "="))
    return false;
  int at = 0;
  while (at < of->count && !tileStringEquals(name, of->fields[at].name))
    ++at;
  if (at == of->count || !mlirAttributeIsNull(values[at]))
    return tileParseFail(parser, location, "%s field '%.*s'", at == of->count ? "unknown" : "a second",
                         (int)name.length, name.data);
  if (!of->fields[at].isNumber)
    return tileParseIntegers(parser, false, &values[at]);
  if (!mlirExtParserParseInteger(parser, &number))
    return false;
  values[at] = tileIntegers(mlirExtParserGetContext(parser), 1, &number);
  return true;
}

static bool parseFields(MlirExtParser parser, MlirExtAttributeList list, int kind) {
  const Fields *of = &structures[kind - NumWords];
  MlirAttribute values[MostFields] = {{NULL}};
  if (!mlirExtParserParseToken(parser, "<"))
    return false;
  if (!mlirExtParserParseOptionalToken(parser, ">")) {
    do {
      if (!parseField(parser, of, values))
        return false;
    } while (mlirExtParserParseOptionalToken(parser, ","));
    if (!mlirExtParserParseToken(parser, ">"))
      return false;
  }
  int64_t zero = 0;
  for (int i = 0; i < of->count; ++i) {
    MlirAttribute missing = tileIntegers(mlirExtParserGetContext(parser), of->fields[i].isNumber, &zero);
    mlirExtAttributeListAppend(list, mlirAttributeIsNull(values[i]) ? missing : values[i]);
  }
  return true;
}

static void printFields(MlirExtPrinter printer, const MlirAttribute *parameters, int kind) {
  const Fields *of = &structures[kind - NumWords];
  const char *separator = "<";
  for (int i = 0; i < of->count; ++i) {
    intptr_t count = mlirDenseArrayGetNumElements(parameters[i]);
    bool isNumber = of->fields[i].isNumber;
    if (!of->printsAll && (isNumber ? mlirDenseI64ArrayGetElement(parameters[i], 0) == 0 : count == 0))
      continue;
    tilePrintText(printer, separator);
    tilePrintText(printer, of->fields[i].name);
    tilePrintText(printer, " = ");
    if (isNumber)
      mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(parameters[i], 0));
    else
      tilePrintIntegers(printer, parameters[i]);
    separator = ", ";
  }
  tilePrintText(printer, *separator == '<' ? "<>" : ">");
}

static bool verifyFields(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters, int kind) {
  const Fields *of = &structures[kind - NumWords];
  bool ok = count == of->count;
  for (int i = 0; ok && i < count; ++i) {
    ok = mlirAttributeIsADenseI64Array(parameters[i]);
    intptr_t length = ok ? mlirDenseArrayGetNumElements(parameters[i]) : 0;
    ok = ok && (of->fields[i].isNumber ? length == 1 : length <= StablehloMaxRank);
  }
  return ok || tileEmit(emitter, "fields of #stablehlo.%s: expected lists of at most %d numbers",
                        stablehloAttributeDefinitions[kind].name, StablehloMaxRank);
}

#define FIELDS_OF(Kind)                                                                                                \
  static bool parse##Kind(MlirExtParser parser, MlirExtAttributeList list) { return parseFields(parser, list, Kind); } \
  static void print##Kind(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {                   \
    printFields(printer, parameters, Kind);                                                                            \
  }                                                                                                                    \
  static bool verify##Kind(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {                  \
    return verifyFields(emitter, count, parameters, Kind);                                                             \
  }                                                                                                                    \
  static bool is##Kind(MlirAttribute attribute) {                                                                      \
    return mlirExtAttributeIsA(attribute, &stablehloAttributeDefinitions[Kind]);                                       \
  }
FIELDS_OF(Dot)
FIELDS_OF(GatherNumbers)
FIELDS_OF(ScatterNumbers)
FIELDS_OF(Alias)

StablehloList stablehloList(MlirAttribute array) {
  StablehloList list = {0};
  if (mlirAttributeIsNull(array))
    return list;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(array) && i < StablehloMaxRank; ++i)
    list.items[list.count++] = mlirDenseI64ArrayGetElement(array, i);
  return list;
}

bool stablehloListHas(const StablehloList *list, int64_t item) {
  for (intptr_t i = 0; i < list->count; ++i)
    if (list->items[i] == item)
      return true;
  return false;
}

StablehloList stablehloField(MlirAttribute numbers, int field) {
  return stablehloList(mlirExtAttributeGetParameter(numbers, field));
}
int64_t stablehloFieldNumber(MlirAttribute numbers, int field) {
  return mlirDenseI64ArrayGetElement(mlirExtAttributeGetParameter(numbers, field), 0);
}

//===--- [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] ------------------------------===//

// Each side is one list: the places of the two letters, then those of the spatial dimensions.
static const char *const letters[3][2] = {{"b", "f"}, {"i", "o"}, {"b", "f"}};

static bool parseSide(MlirExtParser parser, const char *const *names, MlirAttribute *side) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  int64_t places[StablehloMaxRank + 2], place = 0, number;
  memset(places, -1, sizeof places);
  MlirStringRef word;
  if (!mlirExtParserParseToken(parser, "["))
    return false;
  do {
    int64_t slot = -1;
    if (mlirExtParserParseOptionalKeyword(parser, &word) == MlirExtParse_Present)
      slot = tileStringEquals(word, names[0]) ? 0 : tileStringEquals(word, names[1]) ? 1 : -1;
    else if (mlirExtParserParseInteger(parser, &number))
      slot = number >= 0 && number < StablehloMaxRank - 2 ? number + 2 : -1;
    else
      return false;
    if (slot < 0 || place == StablehloMaxRank || places[slot] >= 0)
      return tileParseFail(parser, location, "expected each of %s, %s, 0, 1, … once", names[0], names[1]);
    places[slot] = place++;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  for (int64_t i = 0; i < place; ++i)
    if (places[i] < 0)
      return tileParseFail(parser, location, "expected each of %s, %s, 0, 1, … once", names[0], names[1]);
  *side = tileIntegers(mlirExtParserGetContext(parser), (intptr_t)place, places);
  return mlirExtParserParseToken(parser, "]");
}

static bool parseSides(MlirExtParser parser, MlirAttribute *sides) {
  return parseSide(parser, letters[0], &sides[0]) && mlirExtParserParseToken(parser, "x") &&
         parseSide(parser, letters[1], &sides[1]) && mlirExtParserParseToken(parser, "->") &&
         parseSide(parser, letters[2], &sides[2]);
}

static void printSide(MlirExtPrinter printer, const char *const *names, MlirAttribute side) {
  intptr_t count = mlirDenseArrayGetNumElements(side);
  for (intptr_t place = 0; place < count; ++place) {
    tilePrintText(printer, place ? ", " : "[");
    for (intptr_t slot = 0; slot < count; ++slot)
      if (mlirDenseI64ArrayGetElement(side, slot) == place && slot < 2)
        tilePrintText(printer, names[slot]);
      else if (mlirDenseI64ArrayGetElement(side, slot) == place)
        mlirExtPrinterPrintInteger(printer, slot - 2);
  }
  tilePrintText(printer, "]");
}

static void printSides(MlirExtPrinter printer, const MlirAttribute *sides) {
  for (int i = 0; i < 3; ++i) {
    printSide(printer, letters[i], sides[i]);
    tilePrintText(printer, i == 0 ? "x" : i == 1 ? "->" : "");
  }
}

static bool parseConvolution(MlirExtParser parser, MlirExtAttributeList list) {
  MlirAttribute sides[3];
  if (!mlirExtParserParseToken(parser, "<") || !parseSides(parser, sides) || !mlirExtParserParseToken(parser, ">"))
    return false;
  for (int i = 0; i < 3; ++i)
    mlirExtAttributeListAppend(list, sides[i]);
  return true;
}

static void printConvolution(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  printSides(printer, parameters);
  tilePrintText(printer, ">");
}

static bool verifyConvolution(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  bool ok = count == 3;
  for (int i = 0; ok && i < 3; ++i)
    ok = mlirAttributeIsADenseI64Array(parameters[i]) && mlirDenseArrayGetNumElements(parameters[i]) >= 2 &&
         mlirDenseArrayGetNumElements(parameters[i]) == mlirDenseArrayGetNumElements(parameters[0]);
  return ok || tileEmit(emitter, "dimension numbers: expected as many spatial dimensions in each part");
}

static bool isConvolution(MlirAttribute attribute) {
  return mlirExtAttributeIsA(attribute, &stablehloAttributeDefinitions[Convolution]);
}

static bool parseBareConvolution(MlirExtParser parser, MlirAttribute *attribute) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute sides[3];
  if (!parseSides(parser, sides))
    return false;
  for (int i = 1; i < 3; ++i)
    if (mlirDenseArrayGetNumElements(sides[i]) != mlirDenseArrayGetNumElements(sides[0]))
      return tileParseFail(parser, location, "dimension numbers: expected as many spatial dimensions in each part");
  *attribute =
      mlirExtAttributeGet(mlirExtParserGetContext(parser), &stablehloAttributeDefinitions[Convolution], 3, sides);
  return true;
}

static void printBareConvolution(MlirExtPrinter printer, MlirAttribute attribute) {
  MlirAttribute sides[3];
  for (int i = 0; i < 3; ++i)
    sides[i] = mlirExtAttributeGetParameter(attribute, i);
  printSides(printer, sides);
}

static StablehloSide sideOf(MlirAttribute places) {
  StablehloList all = stablehloList(places);
  StablehloSide side = {.first = all.items[0], .second = all.items[1], .spatial = {.count = all.count - 2}};
  memcpy(side.spatial.items, all.items + 2, sizeof(int64_t) * (size_t)side.spatial.count);
  return side;
}

StablehloConvolution stablehloConvolutionOf(MlirAttribute numbers) {
  return (StablehloConvolution){sideOf(mlirExtAttributeGetParameter(numbers, 0)),
                                sideOf(mlirExtAttributeGetParameter(numbers, 1)),
                                sideOf(mlirExtAttributeGetParameter(numbers, 2))};
}

//===--- tables -------------------------------------------------------------===//

#define WORD_ROW(Kind, text) [Kind] = {.name = text, .parse = parse##Kind, .print = printWord, .verify = verify##Kind}
#define ROW(Kind, text) [Kind] = {.name = text, .parse = parse##Kind, .print = print##Kind, .verify = verify##Kind}
const MlirExtParametricDefinition stablehloAttributeDefinitions[] = {
    WORD_ROW(Direction, "comparison_direction"),
    WORD_ROW(Comparison, "comparison_type"),
    WORD_ROW(Precision, "precision"),
    WORD_ROW(FftType, "fft_type"),
    WORD_ROW(Transpose, "transpose"),
    WORD_ROW(Algorithm, "rng_algorithm"),
    WORD_ROW(Distribution, "rng_distribution"),
    ROW(Dot, "dot"),
    ROW(GatherNumbers, "gather"),
    ROW(ScatterNumbers, "scatter"),
    ROW(Alias, "output_operand_alias"),
    ROW(Convolution, "conv"),
};
const intptr_t stablehloNumAttributeDefinitions =
    sizeof stablehloAttributeDefinitions / sizeof *stablehloAttributeDefinitions;

const MlirExtParametricDefinition *const stablehloDotDefinition = &stablehloAttributeDefinitions[Dot];

// Arrays of words, and of i1.
static bool isPrecisions(MlirAttribute attribute) {
  bool ok = mlirAttributeIsAArray(attribute);
  for (intptr_t i = 0; ok && i < mlirArrayAttrGetNumElements(attribute); ++i)
    ok = isPrecision(mlirArrayAttrGetElement(attribute, i));
  return ok;
}

typedef struct Items {
  MlirAttribute values[TILE_MAX_LIST];
} Items;
static bool parsePrecisionItem(MlirExtParser parser, intptr_t number, void *data) {
  return parseBarePrecision(parser, &((Items *)data)->values[number]);
}
static bool parsePrecisions(MlirExtParser parser, MlirAttribute *attribute) {
  Items items;
  intptr_t count;
  if (!tileParseList(parser, "precisions", parsePrecisionItem, &items, &count))
    return false;
  *attribute = mlirArrayAttrGet(mlirExtParserGetContext(parser), count, items.values);
  return true;
}
static void printPrecisions(MlirExtPrinter printer, MlirAttribute attribute) {
  tilePrintText(printer, "[");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i) {
    tilePrintText(printer, i ? ", " : "");
    printBareWord(printer, mlirArrayAttrGetElement(attribute, i));
  }
  tilePrintText(printer, "]");
}

const TileAttributeKind stablehloAttributeKinds[] = {
    {"comparison direction", isDirection, "a #stablehlo<comparison_direction …>", parseBareDirection, printBareWord},
    {"comparison type", isComparison, "a #stablehlo<comparison_type …>", parseBareComparison, printBareWord},
    {"precisions", isPrecisions, "an array of #stablehlo<precision …>", parsePrecisions, printPrecisions},
    {"fft type", isFftType, "a #stablehlo<fft_type …>", parseBareFftType, printBareWord},
    {"transpose", isTranspose, "a #stablehlo<transpose …>", parseBareTranspose, printBareWord},
    {"rng algorithm", isAlgorithm, "a #stablehlo<rng_algorithm …>", parseBareAlgorithm, printBareWord},
    {"rng distribution", isDistribution, "a #stablehlo<rng_distribution …>", parseBareDistribution, printBareWord},
    {"dot dimension numbers", isDot, "a #stablehlo.dot<…>"},
    {"gather dimension numbers", isGatherNumbers, "a #stablehlo.gather<…>"},
    {"scatter dimension numbers", isScatterNumbers, "a #stablehlo.scatter<…>"},
    {"alias", isAlias, "a #stablehlo.output_operand_alias<…>"},
    {"convolution dimension numbers", isConvolution, "a #stablehlo.conv<…>", parseBareConvolution,
     printBareConvolution},
    {"bools", mlirAttributeIsADenseBoolArray, "a list of i1"},
    {NULL},
};
