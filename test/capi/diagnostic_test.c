// Diagnostics of every severity with notes.
#include "lib/capi/diagnostic.h"
#include "test/capi/test_session.h"

static void report(Session *s, MlirDiagnosticSeverity severity) {
  free(s->diagnostics.data);
  s->diagnostics = (Text){NULL, 0};
  MlirLocation here = mlirLocationFileLineColGet(s->context, text("a.mlir"), 1, 2);
  MlirExtDiagnostic diagnostic = mlirExtDiagnosticCreate(here, severity, text("message"));
  mlirExtDiagnosticAddNote(diagnostic, mlirLocationUnknownGet(s->context), text("first"));
  mlirExtDiagnosticAddNote(diagnostic, here, text("second"));
  mlirExtDiagnosticReport(diagnostic);
}

static void atLocations(Session *s) {
  report(s, MlirDiagnosticError);
  CHECK(strcmp(s->diagnostics.data, "error: message\nnote: first\nnote: second\n") == 0);
  report(s, MlirDiagnosticWarning);
  CHECK(strcmp(s->diagnostics.data, "warning: message\nnote: first\nnote: second\n") == 0);
  report(s, MlirDiagnosticRemark);
  CHECK(strcmp(s->diagnostics.data, "remark: message\nnote: first\nnote: second\n") == 0);
}

static void onOps(Session *s) {
  static const struct {
    MlirDiagnosticSeverity severity;
    const char *expected;
  } cases[] = {{MlirDiagnosticError, "error: 't.constant' op wrong"},
               {MlirDiagnosticWarning, "warning: wrong"},
               {MlirDiagnosticRemark, "remark: wrong"}};
  MlirModule module = mlirModuleCreateParse(s->context, text("%0 = t.constant 1 : i32"));
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (size_t i = 0; i < COUNT(cases); ++i) {
    mlirExtDiagnosticReport(mlirExtDiagnosticCreateForOp(op, cases[i].severity, text("wrong")));
    CHECK(textHas(&s->diagnostics, cases[i].expected));
  }
  mlirModuleDestroy(module);
}

int main(void) {
  Session session;
  sessionBegin(&session);
  atLocations(&session);
  onOps(&session);
  sessionEnd(&session);
  return failures != 0;
}
