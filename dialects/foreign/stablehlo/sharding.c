// The attributes of Shardy that JAX writes on ops of a program for one device, such as #sdy.op_sharding_rule<…>. They
// are kept as text: how a program may be divided among devices does not change its results. Ops of Shardy are unknown.
#include "dialects/foreign/stablehlo/stablehlo.h"
#include "lib/capi/dialect.h"
#include "lib/ir/assembly_parts.h"

static bool takeOneOf(MlirExtParser parser, const char *const *tokens) {
  for (; *tokens; ++tokens)
    if (mlirExtParserParseOptionalToken(parser, *tokens))
      return true;
  return false;
}

// One token that neither opens nor closes angle brackets.
static bool takeToken(MlirExtParser parser) {
  static const char *const punctuation[] = {"->", "(", ")", "{", "}", "[", "]", ",",
                                            ":",  "=", "?", "+", "-", "*", NULL};
  MlirAttribute attribute;
  MlirStringRef word;
  int64_t number;
  if (takeOneOf(parser, punctuation) || mlirExtParserParseOptionalKeyword(parser, &word) == MlirExtParse_Present ||
      mlirExtParserParseOptionalInteger(parser, &number) == MlirExtParse_Present)
    return true;
  if (*mlirExtParserGetLocation(parser) == '@')
    return mlirExtParserParseSymbolName(parser, &attribute);
  return mlirExtParserParseKeywordOrString(parser, &word);
}

static bool parse(MlirExtParser parser, MlirExtAttributeList list) {
  MlirExtSourceLocation begin = mlirExtParserGetLocation(parser), end;
  int depth = 1;
  if (!mlirExtParserParseToken(parser, "<"))
    return false;
  do {
    end = mlirExtParserGetLocation(parser);
    if (mlirExtParserParseOptionalToken(parser, "<"))
      ++depth;
    else if (mlirExtParserParseOptionalToken(parser, ">"))
      --depth;
    else if (!takeToken(parser))
      return false;
  } while (depth);
  MlirStringRef text = mlirStringRefCreate(begin, (size_t)(end + 1 - begin));
  mlirExtAttributeListAppend(list, mlirStringAttrGet(mlirExtParserGetContext(parser), text));
  return true;
}

static void print(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintWord(printer, parameters[0]);
}

static bool verify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  return (count == 1 && mlirAttributeIsAString(parameters[0])) || tileEmit(emitter, "not an attribute of Shardy");
}

#define ROW(text) {.name = text, .parse = parse, .print = print, .verify = verify}
static const MlirExtParametricDefinition attributes[] = {ROW("op_sharding_rule"), ROW("sharding"),
                                                         ROW("sharding_per_value"), ROW("mesh"), ROW("manual_axes")};
static const MlirExtDialectDefinition dialect = {
    .name = "sdy",
    .numAttributes = sizeof attributes / sizeof *attributes,
    .attributes = attributes,
    .inlinable = true,
};

void sdyRegisterDialect(MlirDialectRegistry registry) { mlirExtDialectRegistryInsert(registry, &dialect); }
