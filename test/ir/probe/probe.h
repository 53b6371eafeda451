// The dialect `probe`: rows with every feature of the op table, the constraints, kinds, directives and hooks they name.
#pragma once

#include "lib/ir/op_dialect.h"
#include "lib/ir/op_format.h"
#include "lib/ir/support.h"
#include "upstream/memref.h"
#include <stdio.h>

// Hooks of rows run after the row's own checks.
static bool verifyStore(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(tileOperandType(op, 1));
  char text[64];
  return mlirTypeEqual(element, tileOperandType(op, 0)) ||
         tileError(op, "stores into elements of type '%s'", tileTypeText(element, text, sizeof text));
}

// The shape with its first size multiplied.
static bool inferDouble(const MlirExtInference *inference, MlirExtTypeList types) {
  MlirType from = mlirValueGetType(inference->operands[0]);
  MlirAttribute times = mlirDictionaryAttrGetElementByName(inference->attributes, tileString("times"));
  int64_t factor = mlirAttributeIsNull(times) ? 2 : mlirIntegerAttrGetValueInt(times);
  int64_t size = mlirShapedTypeGetDimSize(from, 0) * factor;
  mlirExtTypeListAppend(types,
                        mlirRankedTensorTypeGet(1, &size, mlirShapedTypeGetElementType(from), (MlirAttribute){NULL}));
  return true;
}

static inline bool expandBump(MlirOperation op, MlirValue *results) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue memory = mlirOperationGetOperand(op, 1), zero = tileBuildIndex(&builder, 0);
  results[0] = memrefLoadOpBuild(&builder, memory, 1, &zero);
  memrefStoreOpBuild(&builder, tileBuildAdd(&builder, results[0], mlirOperationGetOperand(op, 0)), memory, 1, &zero);
  return true;
}

static inline bool expandEndless(MlirOperation op, MlirValue *results) {
  (void)results;
  TileBuilder builder = tileBuilderBefore(op);
  tileBuilderInsert(&builder, mlirOperationClone(op));
  return true;
}

//===--- custom<Loop>: `%i = %low to %high carries(%x : T) {…}` ---------------===//
static bool parseLoop(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  MlirExtOperand variable;
  MlirType index = mlirIndexTypeGet(mlirExtParserGetContext(parser));
  return mlirExtParserParseOperand(parser, &variable) && mlirExtParserParseToken(parser, "=") &&
         tileParseOperand(parse, "low") && mlirExtParserParseToken(parser, "to") && tileParseOperand(parse, "high") &&
         (!mlirExtParserParseOptionalToken(parser, "carries") ||
          (mlirExtParserParseToken(parser, "(") && tileParseOperandList(parse, "carried") &&
           mlirExtParserParseToken(parser, ":") && tileParseOperandTypes(parse, "carried") &&
           mlirExtParserParseToken(parser, ")"))) &&
         mlirExtParserParseRegion(parser, state, 1, &variable, &index, false);
}

static void printLoop(MlirOperation op, MlirExtPrinter printer) {
  MlirRegion body = mlirOperationGetRegion(op, 0);
  intptr_t begin, count;
  tileOpOperands(op, "carried", &begin, &count);
  mlirExtPrinterPrintOperand(printer, mlirBlockGetArgument(mlirRegionGetFirstBlock(body), 0));
  mlirExtPrinterPrint(printer, tileString(" = "));
  tilePrintOperands(printer, op, "low");
  mlirExtPrinterPrint(printer, tileString(" to "));
  tilePrintOperands(printer, op, "high");
  if (count) {
    mlirExtPrinterPrint(printer, tileString(" carries("));
    tilePrintOperands(printer, op, "carried");
    mlirExtPrinterPrint(printer, tileString(" : "));
    tilePrintOperandTypes(printer, op, "carried");
    mlirExtPrinterPrint(printer, tileString(")"));
  }
  mlirExtPrinterPrint(printer, tileString(" "));
  mlirExtPrinterPrintRegion(printer, body, false, true);
}

//===--- custom<Pairs>: `%key = %item : T, …` ----------------------------------===//
static bool parsePair(TileParse *parse, MlirExtParser parser) {
  MlirType type;
  if (!tileParseOperand(parse, "keys") || !mlirExtParserParseToken(parser, "=") || !tileParseOperand(parse, "items") ||
      !mlirExtParserParseToken(parser, ":") || !mlirExtParserParseType(parser, &type))
    return false;
  tileParseAddOperandType(parse, "items", type);
  return true;
}

static bool parsePairs(TileParse *parse, MlirExtParser parser, MlirExtOpState state) {
  do {
    if (!parsePair(parse, parser))
      return false;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  return true;
}

static void printPairs(MlirOperation op, MlirExtPrinter printer) {
  intptr_t keys, items, count;
  tileOpOperands(op, "keys", &keys, &count);
  tileOpOperands(op, "items", &items, &count);
  for (intptr_t i = 0; i < count; ++i) {
    mlirExtPrinterPrint(printer, tileString(i ? ", " : ""));
    mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, keys + i));
    mlirExtPrinterPrint(printer, tileString(" = "));
    mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, items + i));
    mlirExtPrinterPrint(printer, tileString(" : "));
    mlirExtPrinterPrintType(printer, tileOperandType(op, items + i));
  }
}

static bool hasPairs(MlirOperation op) { return mlirOperationGetNumOperands(op) > 0; }

//===--- the table ----------------------------------------------------------===//
static const TileDirective probeDirectives[] = {
    {"Loop", parseLoop, printLoop, NULL},
    {"Pairs", parsePairs, printPairs, hasPairs},
    {NULL},
};
static const TileConstraint probeConstraints[] = {{NULL}};
static const TileAttributeKind probeKinds[] = {
    {"mode", NULL, "how it runs", .keywords = (const char *const[]){"fast", "slow", "off", NULL}},
    {NULL},
};

#define TESSERA_OP TESSERA_OP_ROW
#define HOOKS TESSERA_HOOKS
static const TileOpRow probeRows[] = {
#include "test/ir/probe/ops.def"
};
#undef TESSERA_OP
#undef HOOKS

static const TileDialectTable probeTable = {
    .name = "probe",
    .numRows = sizeof probeRows / sizeof *probeRows,
    .rows = probeRows,
    .constraints = probeConstraints,
    .kinds = probeKinds,
    .directives = probeDirectives,
};

// The definition; prints what is wrong and returns null when a row is refused.
static inline const MlirExtDialectDefinition *probeDialect(void) {
  char error[512] = "";
  static const char *const dependents[] = {"arith", "memref", NULL}; // what probe.bump expands to
  const MlirExtDialectDefinition *definition =
      tileDialectFromTable(&probeTable, (MlirExtDialectDefinition){.dependents = dependents}, error, sizeof error);
  if (!definition)
    printf("%s\n", error);
  return definition;
}
