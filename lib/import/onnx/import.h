// An ONNX model as a module: a function `main` of tensors, linalg, arith, math and scf. Weights beyond 1 KB are
// resources that lie in the mapped file.
//
//   if (onnxFileIsModel(path)) module = onnxImport(context, path, &error);   // null after diagnostics at the node
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// By the name's end, ".onnx".
bool onnxFileIsModel(const char *path);
// Null after an error: diagnostics name the node, `error` the file.
MlirModule onnxImport(MlirContext context, const char *path, tessera_error_t *error);

#ifdef __cplusplus
}
#endif
