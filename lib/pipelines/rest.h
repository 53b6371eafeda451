// What is left to do until a module can run: the level is recognized, and the rest of the way is a pipeline.
//
//   char *pipeline = tilePipelineRest(moduleOp, NULL, &error);  // for the CPU; "sm_80", "gfx942": for a GPU and the
//   host bool ok = pipeline && tileSessionRun(&session, pipeline, &error); free(pipeline);
//
// Levels: tensors (linalg, tile graphs, sparse) take the named pipeline whole; memory (kernels, linalg, vectors, loops
// on buffers, freed or not) takes its stages from there; a module wholly in the llvm dialect takes none. Passes that
// must run once (bufferization, deallocation) are never repeated; the others leave alone what is past them.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

// "builtin.module(…)", to be freed. Null after an error: no pipeline makes code for the chip, or the module holds code
// of a GPU and the chip is null, the CPU.
char *tilePipelineRest(MlirOperation module, const char *chipOrNull, tessera_error_t *error);
