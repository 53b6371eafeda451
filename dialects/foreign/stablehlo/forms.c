// What a row and a format of the table cannot say of an op's text: directives for pieces of formats, and the whole
// forms of reduce and while.
#include "dialects/foreign/stablehlo/forms.h"
#include "dialects/foreign/stablehlo/ops.h"
#include "dialects/foreign/stablehlo/parts.h"
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/ir/assembly_parts.h"
#include "lib/support/grow.h"

#include <stdio.h>
#include <stdlib.h>

//===--- types --------------------------------------------------------------===//

static bool atSignature(MlirExtParser parser) { return *mlirExtParserGetLocation(parser) == '('; }

// `(T, T) -> T` for these operands and the result named `result`.
static bool parseSignature(TileParse *parse, MlirExtParser parser, const char *const *operands, int count) {
  MlirType type;
  if (!mlirExtParserParseToken(parser, "("))
    return false;
  for (int i = 0; i < count; ++i) {
    if ((i && !mlirExtParserParseToken(parser, ",")) || !mlirExtParserParseType(parser, &type))
      return false;
    tileParseAddOperandType(parse, operands[i], type);
  }
  if (!mlirExtParserParseToken(parser, ")") || !mlirExtParserParseToken(parser, "->") ||
      !mlirExtParserParseType(parser, &type))
    return false;
  tileParseAddResultType(parse, "result", type);
  return true;
}

static void printSignature(MlirOperation op, MlirExtPrinter printer) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    tilePrintText(printer, i ? ", " : "(");
    mlirExtPrinterPrintType(printer, tileOperandType(op, i));
  }
  tilePrintText(printer, ") -> ");
  mlirExtPrinterPrintType(printer, tileOnlyResultType(op));
}

// select: `tensor<4xi1>, tensor<4xf32>`, the types of the predicate and of everything else.
static bool parseSelectTypes(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  static const char *const operands[] = {"pred", "on_true", "on_false"};
  MlirType predicate, type;
  if (atSignature(parser))
    return parseSignature(parse, parser, operands, 3);
  if (!mlirExtParserParseType(parser, &predicate) || !mlirExtParserParseToken(parser, ",") ||
      !mlirExtParserParseType(parser, &type))
    return false;
  tileParseAddOperandType(parse, "pred", predicate);
  tileParseAddOperandType(parse, "on_true", type);
  tileParseAddOperandType(parse, "on_false", type);
  tileParseAddResultType(parse, "result", type);
  return true;
}

static void printSelectTypes(MlirOperation op, MlirExtPrinter printer) {
  MlirType result = tileOnlyResultType(op);
  if (!mlirTypeEqual(stablehloSelectOpGetOnTrueType(op), result) ||
      !mlirTypeEqual(stablehloSelectOpGetOnFalseType(op), result)) {
    printSignature(op, printer);
    return;
  }
  mlirExtPrinterPrintType(printer, stablehloSelectOpGetPredType(op));
  tilePrintText(printer, ", ");
  mlirExtPrinterPrintType(printer, result);
}

// complex: the result's type, from which the operands' follow.
static MlirType partsOf(MlirType type) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape) || !mlirTypeIsAComplex(shape.element))
    return (MlirType){NULL};
  return mlirRankedTensorTypeGet(shape.rank, shape.sizes, mlirComplexTypeGetElementType(shape.element),
                                 mlirRankedTensorTypeGetEncoding(type));
}

static bool parseComplexTypes(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  static const char *const operands[] = {"lhs", "rhs"};
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirType type;
  if (atSignature(parser))
    return parseSignature(parse, parser, operands, 2);
  if (!mlirExtParserParseType(parser, &type))
    return false;
  MlirType parts = partsOf(type);
  if (mlirTypeIsNull(parts))
    return tileParseFail(parser, location, "expected a tensor of complex numbers");
  tileParseAddOperandType(parse, "lhs", parts);
  tileParseAddOperandType(parse, "rhs", parts);
  tileParseAddResultType(parse, "result", type);
  return true;
}

static void printComplexTypes(MlirOperation op, MlirExtPrinter printer) {
  MlirType result = tileOnlyResultType(op), parts = partsOf(result);
  if (mlirTypeEqual(stablehloComplexOpGetLhsType(op), parts) && mlirTypeEqual(stablehloComplexOpGetRhsType(op), parts))
    mlirExtPrinterPrintType(printer, result);
  else
    printSignature(op, printer);
}

//===--- `[1:3, 0:6:2]` -------------------------------------------------------===//

typedef struct Ranges {
  int64_t starts[TILE_MAX_LIST], limits[TILE_MAX_LIST], strides[TILE_MAX_LIST];
} Ranges;

static bool parseRange(MlirExtParser parser, intptr_t number, void *data) {
  Ranges *ranges = data;
  ranges->strides[number] = 1;
  return mlirExtParserParseInteger(parser, &ranges->starts[number]) && mlirExtParserParseToken(parser, ":") &&
         mlirExtParserParseInteger(parser, &ranges->limits[number]) &&
         (!mlirExtParserParseOptionalToken(parser, ":") || mlirExtParserParseInteger(parser, &ranges->strides[number]));
}

static bool parseSliceRanges(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirContext context = mlirExtParserGetContext(parser);
  Ranges ranges;
  intptr_t count;
  if (!tileParseList(parser, "ranges", parseRange, &ranges, &count))
    return false;
  tileParseSetAttribute(parse, "start_indices", tileIntegers(context, count, ranges.starts));
  tileParseSetAttribute(parse, "limit_indices", tileIntegers(context, count, ranges.limits));
  tileParseSetAttribute(parse, "strides", tileIntegers(context, count, ranges.strides));
  return true;
}

static void printSliceRanges(MlirOperation op, MlirExtPrinter printer) {
  MlirAttribute starts = stablehloSliceOpGetStartIndices(op), limits = stablehloSliceOpGetLimitIndices(op);
  MlirAttribute strides = stablehloSliceOpGetStrides(op);
  tilePrintText(printer, "[");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(starts); ++i) {
    tilePrintText(printer, i ? ", " : "");
    mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(starts, i));
    tilePrintText(printer, ":");
    mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(limits, i));
    if (mlirDenseI64ArrayGetElement(strides, i) == 1)
      continue;
    tilePrintText(printer, ":");
    mlirExtPrinterPrintInteger(printer, mlirDenseI64ArrayGetElement(strides, i));
  }
  tilePrintText(printer, "]");
}

//===--- operands, then a word ------------------------------------------------===//

// `%a, %b, WORD =`: the operands, until the word.
static bool parseOperandsUntil(TileParse *parse, MlirExtParser parser, const char *operands, const char *word) {
  while (!mlirExtParserParseOptionalToken(parser, word)) {
    if (!tileParseOperand(parse, operands) || !mlirExtParserParseToken(parser, ","))
      return false;
  }
  return mlirExtParserParseToken(parser, "=");
}

static bool parseConcatenateOperands(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return parseOperandsUntil(parse, parser, "inputs", "dim") && tileParseAttribute(parse, "dimension");
}

static void printConcatenateOperands(MlirOperation op, MlirExtPrinter printer) {
  tilePrintOperands(printer, op, "inputs");
  tilePrintText(printer, ", dim = ");
  tilePrintAttribute(printer, op, "dimension");
}

static bool parseDynamicSliceOperands(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return tileParseOperand(parse, "operand") && mlirExtParserParseToken(parser, ",") &&
         parseOperandsUntil(parse, parser, "start_indices", "sizes") && tileParseAttribute(parse, "slice_sizes");
}

static void printDynamicSliceOperands(MlirOperation op, MlirExtPrinter printer) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, i));
    tilePrintText(printer, ", ");
  }
  tilePrintText(printer, "sizes = ");
  tilePrintAttribute(printer, op, "slice_sizes");
}

//===--- `e5m10` --------------------------------------------------------------===//

static bool parseExponentMantissa(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirType i32 = mlirIntegerTypeGet(mlirExtParserGetContext(parser), 32);
  MlirStringRef word;
  unsigned exponent, mantissa;
  char text[16] = {0}, rest;
  if (!mlirExtParserParseKeyword(parser, &word))
    return false;
  memcpy(text, word.data, word.length < sizeof text ? word.length : sizeof text - 1);
  if (sscanf(text, "e%3um%3u%c", &exponent, &mantissa, &rest) != 2)
    return tileParseFail(parser, location, "expected eXmY, the bits of exponent and mantissa");
  tileParseSetAttribute(parse, "exponent_bits", mlirIntegerAttrGet(i32, exponent));
  tileParseSetAttribute(parse, "mantissa_bits", mlirIntegerAttrGet(i32, mantissa));
  return true;
}

static void printExponentMantissa(MlirOperation op, MlirExtPrinter printer) {
  tilePrintText(printer, "e");
  mlirExtPrinterPrintInteger(printer, stablehloReducePrecisionOpGetExponentBitsValue(op));
  tilePrintText(printer, "m");
  mlirExtPrinterPrintInteger(printer, stablehloReducePrecisionOpGetMantissaBitsValue(op));
}

//===--- `, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH]` ---===//

static bool parsePair(MlirExtParser parser, MlirAttribute *fields) {
  return tileParseIntegers(parser, false, &fields[0]) && mlirExtParserParseToken(parser, "x") &&
         tileParseIntegers(parser, false, &fields[1]);
}

static bool parseDotDimensions(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirContext context = mlirExtParserGetContext(parser);
  MlirAttribute fields[4];
  for (int i = 0; i < 4; ++i)
    fields[i] = tileIntegers(context, 0, NULL);
  while (mlirExtParserParseOptionalToken(parser, ",")) {
    MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
    MlirStringRef word;
    if (!mlirExtParserParseKeyword(parser, &word) || !mlirExtParserParseToken(parser, "="))
      return false;
    bool ok = tileStringEquals(word, "batching_dims")      ? parsePair(parser, fields)
              : tileStringEquals(word, "contracting_dims") ? parsePair(parser, fields + 2)
              : tileStringEquals(word, "precision")
                  ? tileParseAttribute(parse, "precision_config")
                  : tileParseFail(parser, location,
                                  "unknown word '%.*s', expected batching_dims, contracting_dims or precision",
                                  (int)word.length, word.data);
    if (!ok)
      return false;
  }
  MlirAttribute numbers = mlirExtAttributeGet(context, stablehloDotDefinition, 4, fields);
  tileParseSetAttribute(parse, "dot_dimension_numbers", numbers);
  return !mlirAttributeIsNull(numbers);
}

static void printPair(MlirExtPrinter printer, const char *word, MlirAttribute numbers, int field) {
  tilePrintText(printer, word);
  tilePrintIntegers(printer, mlirExtAttributeGetParameter(numbers, field));
  tilePrintText(printer, " x ");
  tilePrintIntegers(printer, mlirExtAttributeGetParameter(numbers, field + 1));
}

static void printDotDimensions(MlirOperation op, MlirExtPrinter printer) {
  MlirAttribute numbers = stablehloDotGeneralOpGetDotDimensionNumbers(op);
  if (stablehloField(numbers, StablehloDot_LhsBatch).count)
    printPair(printer, ", batching_dims = ", numbers, StablehloDot_LhsBatch);
  printPair(printer, ", contracting_dims = ", numbers, StablehloDot_LhsContracting);
  if (mlirAttributeIsNull(stablehloDotGeneralOpGetPrecisionConfig(op)))
    return;
  tilePrintText(printer, ", precision = ");
  tilePrintAttribute(printer, op, "precision_config");
}

//===--- `stride = [1, 2], pad = [[1, 1], [0, 1]], …` ------------------------------===//

typedef struct Padding {
  intptr_t count;
  int64_t values[TILE_MAX_LIST * 2];
} Padding;

static bool parsePaddingPair(MlirExtParser parser, intptr_t number, void *data) {
  Padding *padding = data;
  return mlirExtParserParseToken(parser, "[") && mlirExtParserParseInteger(parser, &padding->values[number * 2]) &&
         mlirExtParserParseToken(parser, ",") && mlirExtParserParseInteger(parser, &padding->values[number * 2 + 1]) &&
         mlirExtParserParseToken(parser, "]");
}

static bool parsePadding(MlirExtParser parser, MlirAttribute *attribute) {
  MlirType i64 = mlirIntegerTypeGet(mlirExtParserGetContext(parser), 64);
  Padding padding;
  if (!tileParseList(parser, "paddings", parsePaddingPair, &padding, &padding.count))
    return false;
  MlirType type = mlirRankedTensorTypeGet(2, (int64_t[]){padding.count, 2}, i64, mlirAttributeGetNull());
  *attribute = mlirDenseElementsAttrInt64Get(type, padding.count * 2, padding.values);
  return true;
}

static bool parseBool(MlirExtParser parser, intptr_t number, void *data) {
  bool isTrue = mlirExtParserParseOptionalToken(parser, "true");
  ((int *)data)[number] = isTrue;
  return isTrue || mlirExtParserParseToken(parser, "false");
}

static bool parseBools(MlirExtParser parser, MlirAttribute *attribute) {
  int values[TILE_MAX_LIST];
  intptr_t count;
  if (!tileParseList(parser, "values", parseBool, values, &count))
    return false;
  *attribute = mlirDenseBoolArrayGet(mlirExtParserGetContext(parser), count, values);
  return true;
}

static bool parseWindowEntry(TileParse *parse, MlirExtParser parser) {
  static const struct {
    const char *word, *attribute;
  } lists[] = {{"stride", "window_strides"}, {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"}};
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute value;
  MlirStringRef word;
  if (!mlirExtParserParseKeyword(parser, &word) || !mlirExtParserParseToken(parser, "="))
    return false;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
    if (tileStringEquals(word, lists[i].word))
      return tileParseAttribute(parse, lists[i].attribute);
  bool isPad = tileStringEquals(word, "pad");
  if (!isPad && !tileStringEquals(word, "reverse"))
    return tileParseFail(parser, location,
                         "unknown word '%.*s', expected stride, pad, lhs_dilate, rhs_dilate or reverse",
                         (int)word.length, word.data);
  if (!(isPad ? parsePadding : parseBools)(parser, &value))
    return false;
  tileParseSetAttribute(parse, isPad ? "padding" : "window_reversal", value);
  return true;
}

static bool parseWindow(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  if (*mlirExtParserGetLocation(parser) == '}')
    return true;
  do {
    if (!parseWindowEntry(parse, parser))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return true;
}

static void printList(MlirExtPrinter printer, const char **separator, const char *word, MlirAttribute list) {
  if (mlirAttributeIsNull(list))
    return;
  tilePrintText(printer, *separator);
  tilePrintText(printer, word);
  tilePrintIntegers(printer, list);
  *separator = ", ";
}

static void printPadding(MlirExtPrinter printer, const char **separator, MlirAttribute padding) {
  if (mlirAttributeIsNull(padding))
    return;
  tilePrintText(printer, *separator);
  tilePrintText(printer, "pad = [");
  bool isSplat = mlirDenseElementsAttrIsSplat(padding);
  for (int64_t i = 0; i < mlirElementsAttrGetNumElements(padding); ++i) {
    tilePrintText(printer, i % 2 ? ", " : i ? "], [" : "[");
    mlirExtPrinterPrintInteger(printer, isSplat ? mlirDenseElementsAttrGetInt64SplatValue(padding)
                                                : mlirDenseElementsAttrGetInt64Value(padding, i));
  }
  tilePrintText(printer, mlirElementsAttrGetNumElements(padding) ? "]]" : "]");
  *separator = ", ";
}

static void printWindow(MlirOperation op, MlirExtPrinter printer) {
  MlirAttribute reversal = stablehloConvolutionOpGetWindowReversal(op);
  const char *separator = "";
  printList(printer, &separator, "stride = ", stablehloConvolutionOpGetWindowStrides(op));
  printPadding(printer, &separator, stablehloConvolutionOpGetPadding(op));
  printList(printer, &separator, "lhs_dilate = ", stablehloConvolutionOpGetLhsDilation(op));
  printList(printer, &separator, "rhs_dilate = ", stablehloConvolutionOpGetRhsDilation(op));
  if (mlirAttributeIsNull(reversal))
    return;
  tilePrintText(printer, separator);
  tilePrintText(printer, "reverse = [");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(reversal); ++i) {
    tilePrintText(printer, i ? ", " : "");
    tilePrintText(printer, mlirDenseBoolArrayGetElement(reversal, i) ? "true" : "false");
  }
  tilePrintText(printer, "]");
}

const TileDirective stablehloDirectives[] = {
    {"SelectTypes", parseSelectTypes, printSelectTypes},
    {"ComplexTypes", parseComplexTypes, printComplexTypes},
    {"SliceRanges", parseSliceRanges, printSliceRanges},
    {"ConcatenateOperands", parseConcatenateOperands, printConcatenateOperands},
    {"DynamicSliceOperands", parseDynamicSliceOperands, printDynamicSliceOperands},
    {"ExponentMantissa", parseExponentMantissa, printExponentMantissa},
    {"DotDimensions", parseDotDimensions, printDotDimensions},
    {"Window", parseWindow, printWindow},
    {NULL},
};

//===--- reduce ---------------------------------------------------------------===//

enum { MostPairs = 64 };
typedef struct Pairs {
  intptr_t count;
  MlirExtOperand operands[MostPairs * 2]; // first of all pairs, then second of all pairs
  MlirType types[MostPairs * 2];
} Pairs;

// `(%x init: %z), (%y init: %w)`
static bool parseInputs(MlirExtParser parser, Pairs *pairs) {
  MlirExtOperand inits[MostPairs];
  pairs->count = 0;
  do {
    if (pairs->count == MostPairs)
      return tileParseFail(parser, mlirExtParserGetLocation(parser), "more than %d inputs", MostPairs);
    if (!mlirExtParserParseToken(parser, "(") || !mlirExtParserParseOperand(parser, &pairs->operands[pairs->count]) ||
        !mlirExtParserParseToken(parser, "init") || !mlirExtParserParseToken(parser, ":") ||
        !mlirExtParserParseOperand(parser, &inits[pairs->count]) || !mlirExtParserParseToken(parser, ")"))
      return false;
    ++pairs->count;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  memcpy(pairs->operands + pairs->count, inits, sizeof *inits * (size_t)pairs->count);
  return true;
}

static bool parseTypes(MlirExtParser parser, intptr_t most, MlirType *types, intptr_t *count) {
  *count = 0;
  if (!mlirExtParserParseToken(parser, "("))
    return false;
  do {
    if (*count == most)
      return tileParseFail(parser, mlirExtParserGetLocation(parser), "more types than values");
    if (!mlirExtParserParseType(parser, &types[(*count)++]))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, ")");
}

// `(T, T) -> T`: resolves the operands and adds the results.
static bool parseReduceTypes(MlirExtParser parser, MlirExtOpState state, const Pairs *pairs, MlirType *first) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirType operands[MostPairs * 2], results[MostPairs];
  intptr_t numOperands, numResults = 1;
  if (!parseTypes(parser, MostPairs * 2, operands, &numOperands) || !mlirExtParserParseToken(parser, "->"))
    return false;
  if (!(atSignature(parser) ? parseTypes(parser, MostPairs, results, &numResults)
                            : mlirExtParserParseType(parser, results)))
    return false;
  if (numOperands != pairs->count * 2)
    return tileParseFail(parser, location, "%ld types, expected one for each of %ld operands", (long)numOperands,
                         (long)pairs->count * 2);
  for (intptr_t i = 0; i < numOperands; ++i)
    if (!mlirExtParserResolveOperand(parser, state, pairs->operands[i], operands[i]))
      return false;
  for (intptr_t i = 0; i < numResults; ++i)
    mlirExtOpStateAddType(state, results[i]);
  *first = operands[pairs->count]; // of an initial value: what the body's values are
  return true;
}

// `applies stablehlo.add`: a body of that one op.
static bool buildBody(MlirExtParser parser, MlirExtOpState state, MlirExtSourceLocation location, const char *name,
                      MlirType type) {
  MlirLocation place = mlirExtParserEncodeLocation(parser, location);
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape) || shape.rank)
    return tileParseFail(parser, location, "expected an initial value of rank 0");
  mlirExtOpStateAddEmptyRegion(state);
  MlirBlock block = mlirBlockCreate(2, (MlirType[]){type, type}, (MlirLocation[]){place, place});
  mlirRegionAppendOwnedBlock(mlirExtOpStateGetRegion(state, 0), block);
  TileBuilder b = tileBuilderAtEnd(block, place);
  MlirValue values[] = {mlirBlockGetArgument(block, 0), mlirBlockGetArgument(block, 1)};
  MlirOperationState combine = mlirOperationStateGet(tileString(name), place);
  mlirOperationStateAddOperands(&combine, 2, values);
  mlirOperationStateAddResults(&combine, 1, &type);
  MlirValue result = tileOnlyResult(tileBuilderInsert(&b, mlirOperationCreate(&combine)));
  stablehloReturnOpCreate(&b, 1, &result);
  return true;
}

// `reducer(%a: T, %b: T) (%c: U, %d: U) { … }`
static bool parseReducer(MlirExtParser parser, MlirExtOpState state, intptr_t count) {
  Pairs pairs = {.count = count};
  if (!mlirExtParserParseToken(parser, "reducer"))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    if (!mlirExtParserParseToken(parser, "(") || !mlirExtParserParseOperand(parser, &pairs.operands[i]) ||
        !mlirExtParserParseToken(parser, ":") || !mlirExtParserParseType(parser, &pairs.types[i]) ||
        !mlirExtParserParseToken(parser, ",") || !mlirExtParserParseOperand(parser, &pairs.operands[count + i]) ||
        !mlirExtParserParseToken(parser, ":") || !mlirExtParserParseType(parser, &pairs.types[count + i]) ||
        !mlirExtParserParseToken(parser, ")"))
      return false;
  }
  return mlirExtParserParseRegion(parser, state, count * 2, pairs.operands, pairs.types, false);
}

bool stablehloReduceOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute dimensions;
  MlirStringRef word;
  MlirType first;
  Pairs pairs;
  char name[128] = "";
  if (!parseInputs(parser, &pairs))
    return false;
  if (mlirExtParserParseOptionalToken(parser, "applies")) {
    location = mlirExtParserGetLocation(parser);
    if (!mlirExtParserParseKeyword(parser, &word))
      return false;
    snprintf(name, sizeof name, "%.*s", (int)word.length, word.data);
    bool isKnown = mlirContextIsRegisteredOperation(mlirExtParserGetContext(parser), tileString(name));
    if (!isKnown || pairs.count != 1 || !tileStringStartsWith(tileString(name), "stablehlo."))
      return tileParseFail(parser, location, "expected the name of an op that combines two values, and one input");
  }
  if (!mlirExtParserParseToken(parser, "across") || !mlirExtParserParseToken(parser, "dimensions") ||
      !mlirExtParserParseToken(parser, "=") || !tileParseIntegers(parser, false, &dimensions) ||
      !mlirExtParserParseAttributeDictionary(parser, state, false) || !mlirExtParserParseToken(parser, ":") ||
      !parseReduceTypes(parser, state, &pairs, &first))
    return false;
  mlirExtOpStateAddAttribute(state, "dimensions", dimensions);
  return *name ? buildBody(parser, state, location, name, first) : parseReducer(parser, state, pairs.count);
}

// The op that the body consists of, of its arguments in their order; null: the body is more.
static MlirOperation onlyOpOf(MlirOperation reduce) {
  MlirBlock block = mlirRegionGetFirstBlock(stablehloReduceOpGetBody(reduce));
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirOperationGetNextInBlock(op), none = {NULL};
  bool isOne = mlirOperationGetNumOperands(reduce) == 2 && !mlirOperationIsNull(end) && stablehloReturnOpIsA(end) &&
               tileOpIsOfDialect(op, "stablehlo") && mlirOperationGetNumOperands(op) == 2 &&
               mlirOperationGetNumResults(op) == 1 && mlirOperationGetNumRegions(op) == 0 &&
               mlirOperationGetNumAttributes(op) == 0 && mlirOperationGetNumOperands(end) == 1;
  for (intptr_t i = 0; isOne && i < 2; ++i)
    isOne = mlirValueEqual(mlirOperationGetOperand(op, i), mlirBlockGetArgument(block, i)) &&
            mlirTypeEqual(tileOperandType(op, i), tileOnlyResultType(op));
  isOne = isOne && mlirValueEqual(tileOnlyOperand(end), tileOnlyResult(op)) &&
          mlirTypeEqual(tileOnlyResultType(op), mlirValueGetType(stablehloReduceOpGetOperands(reduce, 1)));
  return isOne ? op : none;
}

static void printTypes(MlirExtPrinter printer, MlirOperation op, bool isOperand) {
  intptr_t count = isOperand ? mlirOperationGetNumOperands(op) : mlirOperationGetNumResults(op);
  bool bare = !isOperand && count == 1;
  tilePrintText(printer, bare ? "" : "(");
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? ", " : "");
    mlirExtPrinterPrintType(printer, isOperand ? tileOperandType(op, i) : tileResultType(op, i));
  }
  tilePrintText(printer, bare ? "" : ")");
}

static void printReducer(MlirExtPrinter printer, MlirRegion region) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  intptr_t count = mlirBlockGetNumArguments(block) / 2;
  mlirExtPrinterNewline(printer);
  tilePrintText(printer, " reducer");
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? " (" : "(");
    for (intptr_t side = 0; side < 2; ++side) {
      MlirValue argument = mlirBlockGetArgument(block, side * count + i);
      tilePrintText(printer, side ? ", " : "");
      mlirExtPrinterPrintOperand(printer, argument);
      tilePrintText(printer, ": ");
      mlirExtPrinterPrintType(printer, mlirValueGetType(argument));
    }
    tilePrintText(printer, ")");
  }
  tilePrintText(printer, "  ");
  mlirExtPrinterPrintRegion(printer, region, false, true);
}

void stablehloReduceOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  static const char *const elided[] = {"dimensions"};
  intptr_t count = mlirOperationGetNumOperands(op) / 2;
  MlirOperation only = onlyOpOf(op);
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? ", (" : "(");
    mlirExtPrinterPrintOperand(printer, stablehloReduceOpGetOperands(op, i));
    tilePrintText(printer, " init: ");
    mlirExtPrinterPrintOperand(printer, stablehloReduceOpGetOperands(op, count + i));
    tilePrintText(printer, ")");
  }
  if (!mlirOperationIsNull(only)) {
    tilePrintText(printer, " applies ");
    mlirExtPrinterPrint(printer, tileOpName(only));
  }
  tilePrintText(printer, " across dimensions = ");
  tilePrintIntegers(printer, stablehloReduceOpGetDimensions(op));
  mlirExtPrinterPrintAttributeDictionary(printer, op, 1, elided, false);
  tilePrintText(printer, " : ");
  printTypes(printer, op, true);
  tilePrintText(printer, " -> ");
  printTypes(printer, op, false);
  if (mlirOperationIsNull(only))
    printReducer(printer, stablehloReduceOpGetBody(op));
}

//===--- while ----------------------------------------------------------------===//

// `(%a = %x, %b = %y) : T, U`: what the regions call the values.
typedef struct Assignments {
  intptr_t count, capacity;
  MlirExtOperand *arguments, *operands;
  MlirType *types;
} Assignments;

static bool parseAssignments(MlirExtParser parser, Assignments *values) {
  if (!mlirExtParserParseToken(parser, "("))
    return false;
  if (mlirExtParserParseOptionalToken(parser, ")"))
    return true;
  do {
    values->arguments = tessera_grow(values->arguments, values->count, sizeof *values->arguments);
    values->operands = tessera_grow(values->operands, values->count, sizeof *values->operands);
    if (!mlirExtParserParseOperand(parser, &values->arguments[values->count]) ||
        !mlirExtParserParseToken(parser, "=") || !mlirExtParserParseOperand(parser, &values->operands[values->count]))
      return false;
    ++values->count;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return mlirExtParserParseToken(parser, ")");
}

static bool parseValues(MlirExtParser parser, MlirExtOpState state, Assignments *values) {
  if (!parseAssignments(parser, values) || (values->count && !mlirExtParserParseToken(parser, ":")))
    return false;
  values->types = calloc((size_t)values->count + 1, sizeof *values->types);
  for (intptr_t i = 0; i < values->count; ++i) {
    if ((i && !mlirExtParserParseToken(parser, ",")) || !mlirExtParserParseType(parser, &values->types[i]) ||
        !mlirExtParserResolveOperand(parser, state, values->operands[i], values->types[i]))
      return false;
    mlirExtOpStateAddType(state, values->types[i]);
  }
  return true;
}

bool stablehloWhileOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  Assignments values = {0};
  bool ok = parseValues(parser, state, &values) && mlirExtParserParseAttributeDictionary(parser, state, true) &&
            mlirExtParserParseToken(parser, "cond") &&
            mlirExtParserParseRegion(parser, state, values.count, values.arguments, values.types, false) &&
            mlirExtParserParseToken(parser, "do") &&
            mlirExtParserParseRegion(parser, state, values.count, values.arguments, values.types, false);
  free(values.arguments);
  free(values.operands);
  free(values.types);
  return ok;
}

// Both regions number their arguments alike, so the names of the one are those of the other.
void stablehloWhileOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  MlirBlock block = mlirRegionGetFirstBlock(stablehloWhileOpGetCond(op));
  intptr_t count = mlirOperationGetNumOperands(op);
  tilePrintText(printer, "(");
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? ", " : "");
    mlirExtPrinterPrintOperand(printer, mlirBlockGetArgument(block, i));
    tilePrintText(printer, " = ");
    mlirExtPrinterPrintOperand(printer, stablehloWhileOpGetOperand(op, i));
  }
  tilePrintText(printer, ")");
  for (intptr_t i = 0; i < count; ++i) {
    tilePrintText(printer, i ? ", " : " : ");
    mlirExtPrinterPrintType(printer, tileOperandType(op, i));
  }
  mlirExtPrinterPrintAttributeDictionary(printer, op, 0, NULL, true);
  mlirExtPrinterNewline(printer);
  tilePrintText(printer, "cond ");
  mlirExtPrinterPrintRegion(printer, stablehloWhileOpGetCond(op), false, true);
  tilePrintText(printer, " do ");
  mlirExtPrinterPrintRegion(printer, stablehloWhileOpGetBody(op), false, true);
}
