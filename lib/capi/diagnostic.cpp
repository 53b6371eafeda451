// Diagnostics with severity and notes. The handle is a heap InFlightDiagnostic until it is reported.
#include "lib/capi/diagnostic.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

static InFlightDiagnostic emitAt(Location location, MlirDiagnosticSeverity severity) {
  if (severity == MlirDiagnosticError)
    return emitError(location);
  // A note stands below another diagnostic only: by itself it is a remark.
  return severity == MlirDiagnosticWarning ? emitWarning(location) : emitRemark(location);
}

// An op that a pass of others made without a location is reported at the innermost op around it that has one.
static InFlightDiagnostic emitOn(Operation *op, MlirDiagnosticSeverity severity) {
  Operation *placed = op;
  while (isa<UnknownLoc>(placed->getLoc()) && placed->getParentOp())
    placed = placed->getParentOp();
  if (placed != op) {
    InFlightDiagnostic diagnostic = emitAt(placed->getLoc(), severity);
    if (severity == MlirDiagnosticError)
      diagnostic << "'" << op->getName() << "' op ";
    return diagnostic;
  }
  if (severity == MlirDiagnosticError)
    return op->emitOpError();
  return severity == MlirDiagnosticWarning ? op->emitWarning() : op->emitRemark();
}

static InFlightDiagnostic *diagnosticOf(MlirExtDiagnostic handle) {
  return static_cast<InFlightDiagnostic *>(handle.ptr);
}

MlirExtDiagnostic mlirExtDiagnosticCreate(MlirLocation location, MlirDiagnosticSeverity severity,
                                          MlirStringRef message) {
  return {new InFlightDiagnostic(emitAt(unwrap(location), severity) << unwrap(message))};
}

MlirExtDiagnostic mlirExtDiagnosticCreateForOp(MlirOperation op, MlirDiagnosticSeverity severity,
                                               MlirStringRef message) {
  return {new InFlightDiagnostic(emitOn(unwrap(op), severity) << unwrap(message))};
}

void mlirExtDiagnosticAddNote(MlirExtDiagnostic diagnostic, MlirLocation location, MlirStringRef message) {
  diagnosticOf(diagnostic)->attachNote(unwrap(location)) << unwrap(message);
}

void mlirExtDiagnosticReport(MlirExtDiagnostic diagnostic) { delete diagnosticOf(diagnostic); } // its end reports
