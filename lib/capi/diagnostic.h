// Errors, warnings and remarks with notes. mlir-c can only emit a plain error.
#pragma once

#include "lib/capi/common.h"

MLIR_EXT_HANDLE(MlirExtDiagnostic); // owned by the caller until reported

MLIR_EXT_BEGIN
MlirExtDiagnostic mlirExtDiagnosticCreate(MlirLocation location, MlirDiagnosticSeverity severity,
                                          MlirStringRef message);
// As emitOpError: "'tile.mma' op " comes first (severity Error), and the op itself as a note when printing asks so.
// An op without a location is reported at the innermost op around it that has one.
MlirExtDiagnostic mlirExtDiagnosticCreateForOp(MlirOperation op, MlirDiagnosticSeverity severity,
                                               MlirStringRef message);
void mlirExtDiagnosticAddNote(MlirExtDiagnostic diagnostic, MlirLocation location, MlirStringRef message);
void mlirExtDiagnosticReport(MlirExtDiagnostic diagnostic); // reports and destroys
MLIR_EXT_END
