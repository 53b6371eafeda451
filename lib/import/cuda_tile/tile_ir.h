// Bytecode of CUDA Tile IR, versions 13.1 to 13.5, as a module of cuda_tile.entry ops. The bytes are not trusted: every
// number is checked against the file, and an error names the byte.
//
//   if (tileIrIsBytecode(bytes, size)) module = tileIrImport(context, bytes, size, "k.tileirbc", &error);
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

bool tileIrIsBytecode(const char *bytes, size_t size);
// Null after an error. Locations are those of the debug info; without it the line is the op's number in the file.
MlirModule tileIrImport(MlirContext context, const char *bytes, size_t size, const char *name, tessera_error_t *error);
