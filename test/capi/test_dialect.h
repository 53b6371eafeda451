// A small dialect `t` in C that exercises every hook of the shim. See the table of ops at the end.
#pragma once

#include "lib/capi/assembly.h"
#include "lib/capi/dialect.h"
#include "lib/capi/op.h"

#include <stddef.h>
#include <string.h>

static inline MlirStringRef text(const char *string) { return mlirStringRefCreateFromCString(string); }
static inline MlirAttribute attributeOf(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, text(name));
}
static inline bool opError(MlirOperation op, const char *message) {
  mlirEmitError(mlirOperationGetLocation(op), message);
  return false;
}

//===--- t.constant 1 : i32 -------------------------------------------------===//
static bool parseConstant(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirAttribute value;
  if (!mlirExtParserParseAttribute(parser, (MlirType){NULL}, &value) ||
      !mlirExtParserParseAttributeDictionary(parser, state, false))
    return false;
  mlirExtOpStateAddAttribute(state, "value", value);
  mlirExtOpStateAddType(state, mlirAttributeGetType(value));
  return true;
}

static void printConstant(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrint(printer, text(" "));
  mlirExtPrinterPrintAttribute(printer, attributeOf(op, "value"));
  mlirExtPrinterPrintAttributeDictionary(printer, op, 1, (const char *const[]){"value"}, false);
}

static bool verifyConstant(MlirOperation op) {
  MlirAttribute value = attributeOf(op, "value");
  bool isInteger = !mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value);
  return isInteger || opError(op, "t.constant expects an integer value");
}

static bool foldConstant(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  mlirExtFoldResultsAddAttribute(results, attributeOf(op, "value"));
  return true;
}

//===--- t.add %a, %b : i32 -------------------------------------------------===//
static bool parseBinary(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirExtOperand a, b;
  MlirType type;
  if (!mlirExtParserParseOperand(parser, &a) || !mlirExtParserParseToken(parser, ",") ||
      !mlirExtParserParseOperand(parser, &b) || !mlirExtParserParseAttributeDictionary(parser, state, false) ||
      !mlirExtParserParseToken(parser, ":") || !mlirExtParserParseType(parser, &type) ||
      !mlirExtParserResolveOperand(parser, state, a, type) || !mlirExtParserResolveOperand(parser, state, b, type))
    return false;
  mlirExtOpStateAddType(state, type);
  return true;
}

static void printBinary(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrint(printer, text(" "));
  mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, 0));
  mlirExtPrinterPrint(printer, text(", "));
  mlirExtPrinterPrintOperand(printer, mlirOperationGetOperand(op, 1));
  mlirExtPrinterPrintAttributeDictionary(printer, op, 0, NULL, false);
  mlirExtPrinterPrint(printer, text(" : "));
  mlirExtPrinterPrintType(printer, mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool inferLikeFirst(const MlirExtInference *inference, MlirExtTypeList types) {
  if (inference->numOperands == 0) {
    mlirEmitError(inference->location, "expects an operand");
    return false;
  }
  mlirExtTypeListAppend(types, mlirValueGetType(inference->operands[0]));
  return true;
}

static bool foldAdd(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  if (mlirAttributeIsNull(operands[0]) || mlirAttributeIsNull(operands[1]))
    return false;
  int64_t sum = mlirIntegerAttrGetValueInt(operands[0]) + mlirIntegerAttrGetValueInt(operands[1]);
  mlirExtFoldResultsAddAttribute(results, mlirIntegerAttrGet(mlirAttributeGetType(operands[0]), sum));
  return true;
}

// t.add(x, 0) becomes x, by a pattern rather than the fold.
static MlirLogicalResult dropZero(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                  void *userData) {
  MlirAttribute constant = mlirExtValueGetConstant(mlirOperationGetOperand(op, 1));
  if (mlirAttributeIsNull(constant) || mlirIntegerAttrGetValueInt(constant) != 0)
    return mlirLogicalResultFailure();
  MlirValue kept = mlirOperationGetOperand(op, 0);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &kept);
  return mlirLogicalResultSuccess();
}

static void canonicalizeAdd(MlirRewritePatternSet patterns, MlirContext context) {
  MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = dropZero};
  mlirRewritePatternSetAdd(patterns, mlirOpRewritePatternCreate(text("t.add"), 1, context, callbacks, NULL, 0, NULL));
}

//===--- effects ------------------------------------------------------------===//
static void writeDebug(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAddOn(effects, MlirExtEffect_Write, MlirExtResource_Debug);
}
static void readFirst(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Read, 0, -1);
}
static void writeFirst(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, 0, -1);
}
static void allocateResult(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Allocate, -1, 0);
}
static void freeFirst(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAdd(effects, op, MlirExtEffect_Free, 0, -1);
}

//===--- t.loop (%init) : i32 { ^bb(%i, %carried): … t.yield } ---------------===//
static void loopSuccessors(MlirOperation op, int from, MlirExtSuccessors successors) {
  mlirExtSuccessorsAddRegion(successors, op, 0, 1); // after the induction variable
  mlirExtSuccessorsAddParent(successors, op);
}
static void allOperands(MlirOperation op, intptr_t *begin, intptr_t *count) {
  *begin = 0;
  *count = mlirOperationGetNumOperands(op);
}
static bool verifyLoopRegions(MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  bool hasVariable = !mlirBlockIsNull(body) && mlirBlockGetNumArguments(body) == 1 + mlirOperationGetNumOperands(op);
  return hasVariable || opError(op, "expects an induction variable and the carried values");
}

//===--- t.capture %a, … : types { isolated, arguments shadow } ---------------===//
static bool parseCapture(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  MlirExtOperand operands[4];
  MlirType types[4];
  intptr_t count = 0;
  do {
    if (count == 4 || !mlirExtParserParseOperand(parser, &operands[count]))
      return false;
    ++count;
  } while (mlirExtParserParseOptionalToken(parser, ","));
  if (!mlirExtParserParseToken(parser, ":"))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if ((i && !mlirExtParserParseToken(parser, ",")) || !mlirExtParserParseType(parser, &types[i]) ||
        !mlirExtParserResolveOperand(parser, state, operands[i], types[i]))
      return false;
  if (!mlirExtParserParseRegion(parser, state, count, operands, types, true))
    return false;
  mlirExtOpStateEnsureTerminator(parser, state, 0, "t.yield");
  return true;
}

static void printCapture(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  MlirValue operands[4];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count; ++i) {
    operands[i] = mlirOperationGetOperand(op, i);
    mlirExtPrinterPrint(printer, text(i ? ", " : " "));
    mlirExtPrinterPrintOperand(printer, operands[i]);
  }
  for (intptr_t i = 0; i < count; ++i) {
    mlirExtPrinterPrint(printer, text(i ? ", " : " : "));
    mlirExtPrinterPrintType(printer, mlirValueGetType(operands[i]));
  }
  mlirExtPrinterPrint(printer, text(" "));
  mlirExtPrinterShadowRegionArguments(printer, mlirOperationGetRegion(op, 0), count, operands);
  mlirExtPrinterPrintRegion(printer, mlirOperationGetRegion(op, 0), false, false);
}

//===--- t.func, t.call -----------------------------------------------------===//
static bool parseFunction(const MlirExtOpDefinition *definition, MlirExtParser parser, MlirExtOpState state) {
  return mlirExtParserParseFunction(parser, state);
}
static void printFunction(const MlirExtOpDefinition *definition, MlirOperation op, MlirExtPrinter printer) {
  mlirExtPrinterPrintFunction(printer, op);
}
static MlirAttribute calleeOf(MlirOperation op) { return attributeOf(op, "callee"); }
static bool verifyCallee(MlirOperation op) {
  MlirOperation callee = mlirExtSymbolLookup(op, calleeOf(op));
  return !mlirOperationIsNull(callee) || opError(op, "callee is not defined");
}

//===--- t.fill %value, %tensor: destination style ----------------------------===//
static void secondIsInit(MlirOperation op, intptr_t *begin, intptr_t *count) {
  *begin = 1;
  *count = 1;
}
static bool never(MlirOperation op, intptr_t operand) { return false; }
static bool bufferizeFill(MlirOperation op, MlirRewriterBase rewriter, MlirExtBuffers buffers) {
  MlirValue operands[2] = {mlirOperationGetOperand(op, 0), mlirExtBuffersGet(buffers, mlirOperationGetOperand(op, 1))};
  if (mlirValueIsNull(operands[1]))
    return false;
  MlirOperationState state = mlirOperationStateGet(text("t.fill"), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, 2, operands);
  mlirRewriterBaseInsert(rewriter, mlirOperationCreate(&state));
  mlirExtBuffersReplaceOp(buffers, op, 1, &operands[1]);
  return true;
}
static const MlirExtBufferizableHooks fillBuffers = {.reads = never, .bufferize = bufferizeFill};
static void fillEffects(MlirOperation op, MlirExtEffects effects) {
  if (mlirTypeIsAMemRef(mlirValueGetType(mlirOperationGetOperand(op, 1))))
    mlirExtEffectsAdd(effects, op, MlirExtEffect_Write, 1, -1);
}

//===--- t.below {limit}: an index in [0, limit) -------------------------------===//
static void rangeBelow(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  int64_t last = mlirIntegerAttrGetValueInt(attributeOf(op, "limit")) - 1;
  results[0] = (MlirExtIntegerRange){0, (uint64_t)last, 0, last};
}
static const char *nameIt(MlirOperation op, intptr_t index) { return index == 0 ? "below" : NULL; }

//===--- the ops --------------------------------------------------------------===//
static const char *const constantAttributes[] = {"value", NULL};
static const char *const addAttributes[] = {"mode", "order", NULL};
static const char *const functionAttributes[] = {"sym_name",  "sym_visibility", "function_type",
                                                 "arg_attrs", "res_attrs",      NULL};
static const char *const callAttributes[] = {"callee", "arg_attrs", "res_attrs", NULL};
static const char *const limitAttributes[] = {"limit", NULL};
static const char *const segmentAttributes[] = {"operandSegmentSizes", "resultSegmentSizes", NULL};

static const MlirExtOpDefinition testOps[] = {
    {.name = "t.constant",
     .traits = MlirExtTrait_Pure | MlirExtTrait_ConstantLike,
     .inherentAttributes = constantAttributes,
     .hooks = {.parse = parseConstant, .print = printConstant, .verify = verifyConstant, .fold = foldConstant}},
    {.name = "t.add",
     .traits = MlirExtTrait_Pure | MlirExtTrait_Commutative,
     .inherentAttributes = addAttributes,
     .hooks = {.parse = parseBinary,
               .print = printBinary,
               .fold = foldAdd,
               .canonicalize = canonicalizeAdd,
               .inferTypes = inferLikeFirst}},
    {.name = "t.same", .traits = MlirExtTrait_SameOperandsAndResultType | MlirExtTrait_NoMemoryEffect},
    {.name = "t.effect", .hooks = {.effects = writeDebug}},
    {.name = "t.read", .hooks = {.effects = readFirst}},
    {.name = "t.write", .hooks = {.effects = writeFirst}},
    {.name = "t.alloc", .hooks = {.effects = allocateResult}},
    {.name = "t.free", .hooks = {.effects = freeFirst}},
    {.name = "t.loop",
     .traits = MlirExtTrait_SingleBlock | MlirExtTrait_RecursiveMemoryEffects | MlirExtTrait_LoopLike,
     .hooks = {.verifyRegions = verifyLoopRegions, .regionSuccessors = loopSuccessors, .entryOperands = allOperands}},
    {.name = "t.yield", .traits = MlirExtTrait_Terminator | MlirExtTrait_ReturnLike | MlirExtTrait_Pure},
    {.name = "t.capture",
     .traits = MlirExtTrait_SingleBlock | MlirExtTrait_IsolatedFromAbove,
     .hooks = {.parse = parseCapture, .print = printCapture}},
    {.name = "t.func",
     .traits = MlirExtTrait_Function | MlirExtTrait_IsolatedFromAbove | MlirExtTrait_AffineScope,
     .inherentAttributes = functionAttributes,
     .hooks = {.parse = parseFunction, .print = printFunction}},
    {.name = "t.call",
     .inherentAttributes = callAttributes,
     .hooks = {.callee = calleeOf, .callArguments = allOperands, .verifySymbolUses = verifyCallee}},
    {.name = "t.module",
     .traits = MlirExtTrait_SymbolTable | MlirExtTrait_NoTerminator | MlirExtTrait_SingleBlock |
               MlirExtTrait_IsolatedFromAbove},
    {.name = "t.symbol", .traits = MlirExtTrait_Symbol},
    {.name = "t.fill", .hooks = {.effects = fillEffects, .destinationInits = secondIsInit, .bufferize = &fillBuffers}},
    {.name = "t.below",
     .traits = MlirExtTrait_Pure,
     .inherentAttributes = limitAttributes,
     .hooks = {.integerRanges = rangeBelow, .resultName = nameIt}},
    {.name = "t.segments",
     .traits = MlirExtTrait_AttrSizedOperandSegments | MlirExtTrait_AttrSizedResultSegments,
     .inherentAttributes = segmentAttributes},
    {.name = "t.view", .traits = MlirExtTrait_ViewLike | MlirExtTrait_Pure},
};

//===--- !t.pair<i32, 4x?>, !t.token, #t.layout<2> ----------------------------===//
static bool parsePair(MlirExtParser parser, MlirExtAttributeList parameters) {
  MlirType type;
  int64_t sizes[4];
  intptr_t count;
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseDimensions(parser, true, 4, sizes, &count) ||
      !mlirExtParserParseType(parser, &type) || !mlirExtParserParseToken(parser, ">"))
    return false;
  mlirExtAttributeListAppend(parameters, mlirTypeAttrGet(type));
  mlirExtAttributeListAppend(parameters, mlirDenseI64ArrayGet(mlirExtParserGetContext(parser), count, sizes));
  return true;
}
static void printPair(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  mlirExtPrinterPrint(printer, text("<"));
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(parameters[1]); ++i) {
    int64_t size = mlirDenseI64ArrayGetElement(parameters[1], i);
    if (size == mlirShapedTypeGetDynamicSize())
      mlirExtPrinterPrint(printer, text("?"));
    else
      mlirExtPrinterPrintInteger(printer, size);
    mlirExtPrinterPrint(printer, text("x"));
  }
  mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(parameters[0]));
  mlirExtPrinterPrint(printer, text(">"));
}
static bool verifyPair(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  bool isInteger = mlirTypeIsAInteger(mlirTypeAttrGetValue(parameters[0]));
  return isInteger || mlirExtEmitterError(emitter, text("pair expects an integer element"));
}

static bool parseLayout(MlirExtParser parser, MlirExtAttributeList parameters) {
  int64_t rank;
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseInteger(parser, &rank) ||
      !mlirExtParserParseToken(parser, ">"))
    return false;
  MlirType i64 = mlirIntegerTypeGet(mlirExtParserGetContext(parser), 64);
  mlirExtAttributeListAppend(parameters, mlirIntegerAttrGet(i64, rank));
  return true;
}
static void printLayout(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  mlirExtPrinterPrint(printer, text("<"));
  mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(parameters[0]));
  mlirExtPrinterPrint(printer, text(">"));
}
// #t.plain or #t.plain<value>
static bool parsePlain(MlirExtParser parser, MlirExtAttributeList parameters) {
  MlirAttribute value;
  if (!mlirExtParserParseOptionalToken(parser, "<"))
    return true;
  MlirExtParseResult result = mlirExtParserParseOptionalAttribute(parser, (MlirType){NULL}, &value);
  if (result == MlirExtParse_Present)
    mlirExtAttributeListAppend(parameters, value);
  return result != MlirExtParse_Failed && mlirExtParserParseToken(parser, ">");
}
static void printPlain(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  if (count == 0)
    return;
  mlirExtPrinterPrint(printer, text("<"));
  mlirExtPrinterPrintAttribute(printer, parameters[0]);
  mlirExtPrinterPrint(printer, text(">"));
}

static bool verifyLayoutRank(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                             MlirType element) {
  bool fits = mlirIntegerAttrGetValueInt(mlirExtAttributeGetParameter(self, 0)) == rank;
  return fits || mlirExtEmitterError(emitter, text("layout has another rank than the tensor"));
}

static const MlirExtParametricDefinition testTypes[] = {
    {.name = "pair", .parse = parsePair, .print = printPair, .verify = verifyPair, .memrefElement = true},
    {.name = "token"},
    {.name = "named", .parse = parsePair, .print = printPair, .alias = "named"},
};
static const MlirExtParametricDefinition testAttributes[] = {
    {.name = "layout",
     .parse = parseLayout,
     .print = printLayout,
     .verifyEncoding = verifyLayoutRank,
     .alias = "layout"},
    {.name = "plain", .parse = parsePlain, .print = printPlain},
};

//===--- the dialect ------------------------------------------------------------===//
static MlirOperation materialize(MlirAttribute value, MlirType type, MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(text("t.constant"), location);
  MlirNamedAttribute attribute = {mlirIdentifierGet(mlirAttributeGetContext(value), text("value")), value};
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddResults(&state, 1, &type);
  return mlirOperationCreate(&state);
}

static bool verifyDiscardable(MlirOperation op, MlirNamedAttribute attribute) {
  bool isKnown = mlirStringRefEqual(mlirIdentifierStr(attribute.name), text("t.note"));
  return isKnown || opError(op, "the only attribute of dialect t on other ops is t.note");
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const char *const testDependents[] = {"func", "arith", NULL};
static const MlirExtDialectDefinition testDialect = {.name = "t",
                                                     .numOps = COUNT(testOps),
                                                     .numTypes = COUNT(testTypes),
                                                     .numAttributes = COUNT(testAttributes),
                                                     .ops = testOps,
                                                     .types = testTypes,
                                                     .attributes = testAttributes,
                                                     .dependents = testDependents,
                                                     .materializeConstant = materialize,
                                                     .verifyOpAttribute = verifyDiscardable,
                                                     .inlinable = true};
