// --weights=FILE: the constants of a program that lie in files (dialects/tile/extern_weights.h) come from this file
// instead, by their names: .onnx, .pt2, .safetensors or .npz.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

// Changes tile.source of each such global of the module. False after a diagnostic at the global (the file has no
// tensor of that name, or one of another type) or an error that names the file.
bool tileBindWeightsByName(MlirModule module, const char *path, tessera_error_t *error);
