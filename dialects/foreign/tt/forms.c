// What a format cannot say of an op's text: types without their names, and functions.
#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/parts.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_format.h"

bool ttFuncOpParse(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  return mlirExtParserParseFunction(parser, state);
}

void ttFuncOpPrint(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintFunction(printer, op);
}

//===--- `<f32>` for !tt.ptr<f32>, `<32x32xf16>` for !tt.tensordesc<32x32xf16> ----------===//

static bool addPointer(TileParse *parse, MlirExtParser parser, const char *operand, const char *result) {
  MlirType type;
  if (!ttParseShortPointer(parser, &type))
    return false;
  if (operand)
    tileParseAddOperandType(parse, operand, type);
  if (result)
    tileParseAddResultType(parse, result, type);
  return true;
}

static bool parseBaseType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return addPointer(parse, parser, "base", NULL);
}
static void printBaseType(MlirOperation op, MlirExtPrinter printer) {
  ttPrintShort(printer, mlirValueGetType(tileOpOperand(op, "base")));
}

static bool parseBlockType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return addPointer(parse, parser, NULL, "result");
}
static bool parseAdvancedType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  return addPointer(parse, parser, "ptr", NULL);
}
static bool parseDescriptorType(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirType type;
  if (!ttParseShortDescriptor(parser, &type))
    return false;
  tileParseAddResultType(parse, "result", type);
  return true;
}
static void printResultType(MlirOperation op, MlirExtPrinter printer) { ttPrintShort(printer, tileOnlyResultType(op)); }

//===--- ` cacheModifier = ca evictionPolicy = evict_last`: of Triton up to 3.8 ------------===//

static bool parseHints(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  static const char *const names[][2] = {{"cacheModifier", "cache"}, {"evictionPolicy", "evict"}};
  for (;;) {
    int found = -1;
    for (int i = 0; i < 2 && found < 0; ++i)
      if (mlirExtParserParseOptionalToken(parser, names[i][0]))
        found = i;
    if (found < 0)
      return true;
    if (!mlirExtParserParseToken(parser, "=") || !tileParseAttribute(parse, names[found][1]))
      return false;
  }
}

static bool hasHints(MlirOperation op) {
  return !mlirAttributeIsNull(tileOpAttribute(op, "cache")) || !mlirAttributeIsNull(tileOpAttribute(op, "evict"));
}

static void printHints(MlirOperation op, MlirExtPrinter printer) {
  bool hasCache = !mlirAttributeIsNull(tileOpAttribute(op, "cache"));
  if (hasCache) {
    tilePrintText(printer, "cacheModifier = ");
    tilePrintAttribute(printer, op, "cache");
  }
  if (mlirAttributeIsNull(tileOpAttribute(op, "evict")))
    return;
  tilePrintText(printer, hasCache ? " evictionPolicy = " : "evictionPolicy = ");
  tilePrintAttribute(printer, op, "evict");
}

const TileDirective ttDirectives[] = {
    {"BaseType", parseBaseType, printBaseType},           {"BlockType", parseBlockType, printResultType},
    {"AdvancedType", parseAdvancedType, printResultType}, {"DescriptorType", parseDescriptorType, printResultType},
    {"Hints", parseHints, printHints, hasHints},          {NULL},
};
