// Reading text of MLIR that a user wrote: as mlir-c's functions, but text that nests too deep (lib/pipelines/nesting.h)
// is an error at its place, where MLIR's own readers would exhaust the stack.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// A null byte must follow the text. `name` stands for the file in diagnostics. Bytecode of CUDA Tile IR is read too.
// Null after diagnostics.
MlirModule tileReadModule(MlirContext context, MlirStringRef text, MlirStringRef name);
// Is this the name of a model that tileReadModel imports: *.onnx, *.pt2? Null after diagnostics and an error.
bool tileIsModel(const char *path);
MlirModule tileReadModel(MlirContext context, const char *path, tessera_error_t *error);
// Does the importer of *.pt2 know ATen's operator ("aten.add.Tensor")? It can still refuse its arguments and types.
bool tileTakesTorchOperator(const char *name);
MlirType tileReadType(MlirContext context, MlirStringRef text);
MlirAttribute tileReadAttribute(MlirContext context, MlirStringRef text);
// `report` gets the error.
MlirLogicalResult tileReadPipeline(MlirOpPassManager passes, MlirStringRef text, MlirStringCallback report,
                                   void *userData);

#ifdef __cplusplus
}
#endif
