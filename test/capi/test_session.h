// What the shim's tests share: checks, growing texts, and sessions that run a program text through a pipeline.
// Needs `testDialect` (test_dialect.h). Everything is static: each test executable includes this once.
#pragma once

#include "test/capi/test_dialect.h"

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

//===--- running programs ---------------------------------------------------===//
typedef struct Session {
  MlirContext context;
  Text diagnostics; // of the last run
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
  mlirContextSetAllowUnregisteredDialects(session->context, true); // `u.use`
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
