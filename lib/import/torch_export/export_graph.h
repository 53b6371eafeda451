// A program of torch.export (*.pt2) as a module: a function `main` of tensors, linalg, arith, math and scf. Neither
// Python nor PyTorch is needed. Weights beyond 1 KB are resources that lie in the mapped file.
//
//   if (torchFileIsProgram(path)) module = torchImport(context, path, &error);   // null after diagnostics at the node
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

// By the name's end, ".pt2".
bool torchFileIsProgram(const char *path);
// Is there a row for ATen's operator ("aten.add.Tensor")? Its arguments and types can still be refused.
bool torchTakesOperator(const char *target);
// Null after an error: diagnostics name the node, `error` the file.
MlirModule torchImport(MlirContext context, const char *path, tessera_error_t *error);
