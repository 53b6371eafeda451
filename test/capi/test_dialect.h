// A small dialect in C that the shim's tests share, and helpers to run programs through it.
// Each test executable includes this once; `t.` ops: see the tables at the end of the dialect's part.
#ifndef TESSERA_TEST_CAPI_TEST_DIALECT_H
#define TESSERA_TEST_CAPI_TEST_DIALECT_H

#include "lib/capi/assembly.h"
#include "lib/capi/dialect.h"
#include "lib/capi/op.h"
#include "lib/capi/pass.h"
#include "mlir-c/RegisterEverything.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- checks -------------------------------------------------------------===//
static int failures = 0;
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not met: %s\n", __FILE__, __LINE__, #condition);                                         \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (0)

static inline MlirStringRef text(const char *string) { return mlirStringRefCreateFromCString(string); }

// A growing text that callbacks append to.
typedef struct Text {
  char *data;
  size_t length;
} Text;

static inline void textAppend(MlirStringRef piece, void *userData) {
  Text *out = userData;
  out->data = realloc(out->data, out->length + piece.length + 1);
  memcpy(out->data + out->length, piece.data, piece.length);
  out->length += piece.length;
  out->data[out->length] = 0;
}

static inline bool textHas(const Text *out, const char *part) {
  bool has = out->data && strstr(out->data, part);
  if (!has)
    fprintf(stderr, "missing: %s\nin: %s\n", part, out->data ? out->data : "(nothing)");
  return has;
}

//===--- t.constant, t.add, t.effect ----------------------------------------===//
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
  mlirExtPrinterPrintAttribute(printer, mlirOperationGetAttributeByName(op, text("value")));
  mlirExtPrinterPrintAttributeDictionary(printer, op, 1, (const char *const[]){"value"}, false);
}

static bool verifyConstant(MlirOperation op) {
  MlirAttribute value = mlirOperationGetAttributeByName(op, text("value"));
  if (!mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value))
    return true;
  mlirEmitError(mlirOperationGetLocation(op), "t.constant wants an integer value");
  return false;
}

static bool foldConstant(MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results) {
  mlirExtFoldResultsAddAttribute(results, mlirOperationGetAttributeByName(op, text("value")));
  return true;
}

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
    mlirEmitError(inference->location, "wants an operand");
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

static void writeDebug(MlirOperation op, MlirExtEffects effects) {
  mlirExtEffectsAddDebug(effects, MlirExtEffect_Write);
}

static const char *const constantAttributes[] = {"value", NULL};
static const char *const addAttributes[] = {"mode", NULL};

static const MlirExtOpDefinition testOps[] = {
    {.name = "t.constant",
     .traits = MlirExtTrait_Pure | MlirExtTrait_ConstantLike,
     .inherentAttributes = constantAttributes,
     .hooks = {.parse = parseConstant, .print = printConstant, .verify = verifyConstant, .fold = foldConstant}},
    {.name = "t.add",
     .traits = MlirExtTrait_Pure | MlirExtTrait_Commutative,
     .inherentAttributes = addAttributes,
     .hooks = {.parse = parseBinary, .print = printBinary, .fold = foldAdd, .inferTypes = inferLikeFirst}},
    {.name = "t.effect", .hooks = {.effects = writeDebug}},
};

static MlirOperation materialize(MlirAttribute value, MlirType type, MlirLocation location) {
  MlirOperationState state = mlirOperationStateGet(text("t.constant"), location);
  MlirNamedAttribute attribute = {
      mlirIdentifierGet(mlirAttributeGetContext(value), mlirStringRefCreateFromCString("value")), value};
  mlirOperationStateAddAttributes(&state, 1, &attribute);
  mlirOperationStateAddResults(&state, 1, &type);
  return mlirOperationCreate(&state);
}

static const MlirExtDialectDefinition testDialect = {.name = "t",
                                                     .numOps = sizeof testOps / sizeof *testOps,
                                                     .ops = testOps,
                                                     .materializeConstant = materialize,
                                                     .inlinable = true};

//===--- running programs ---------------------------------------------------===//
typedef struct Session {
  MlirContext context;
  Text diagnostics;
} Session;

static inline MlirLogicalResult keepDiagnostic(MlirDiagnostic diagnostic, void *userData) {
  Text *out = userData;
  static const char *const severities[] = {"error: ", "warning: ", "note: ", "remark: "};
  textAppend(text(severities[mlirDiagnosticGetSeverity(diagnostic)]), out);
  mlirDiagnosticPrint(diagnostic, textAppend, out);
  textAppend(text("\n"), out);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    keepDiagnostic(mlirDiagnosticGetNote(diagnostic, i), out);
  return mlirLogicalResultSuccess();
}

static inline void sessionBegin(Session *session) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirExtDialectRegistryInsert(registry, &testDialect);
  *session = (Session){mlirContextCreateWithRegistry(registry, true), {NULL, 0}};
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(session->context, keepDiagnostic, &session->diagnostics, NULL);
}

static inline void sessionEnd(Session *session) {
  mlirContextDestroy(session->context);
  free(session->diagnostics.data);
}

// Parses `program` as a module's body, runs `pipeline` (null for none) and returns the printed module; "" after a
// failure.
static inline Text sessionRun(Session *session, const char *program, const char *pipeline, bool generic) {
  Text out = {calloc(1, 1), 0};
  free(session->diagnostics.data);
  session->diagnostics = (Text){NULL, 0};
  MlirModule parsed = mlirModuleCreateParse(session->context, text(program));
  if (mlirModuleIsNull(parsed))
    return out;
  MlirOperation module = mlirModuleGetOperation(parsed);
  bool ok = true;
  if (pipeline) {
    MlirPassManager manager = mlirPassManagerCreate(session->context);
    ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                                                 text(pipeline), textAppend, &session->diagnostics)) &&
         mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, module));
    mlirPassManagerDestroy(manager);
  }
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (generic)
    mlirOpPrintingFlagsPrintGenericOpForm(flags);
  if (ok)
    mlirOperationPrintWithFlags(module, flags, textAppend, &out);
  mlirOpPrintingFlagsDestroy(flags);
  mlirModuleDestroy(parsed);
  return out;
}

// True if the program's result contains `expected`.
static inline bool gives(Session *session, const char *program, const char *pipeline, const char *expected) {
  Text out = sessionRun(session, program, pipeline, false);
  bool has = textHas(&out, expected);
  if (!has && session->diagnostics.data)
    fprintf(stderr, "diagnostics: %s\n", session->diagnostics.data);
  free(out.data);
  return has;
}

// True if the program is refused with a message that contains `expected`.
static inline bool refuses(Session *session, const char *program, const char *pipeline, const char *expected) {
  Text out = sessionRun(session, program, pipeline, false);
  bool refused = out.length == 0 && textHas(&session->diagnostics, expected);
  free(out.data);
  return refused;
}

#endif
