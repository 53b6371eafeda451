// What is left to do until a module can run: the level is recognized, the rest of the way is passes that take it there.
//
//   char pipeline[TILE_REST_CAPACITY];
//   tilePipelineRest(moduleOp, NULL, pipeline);      // for the CPU; "sm_80", "gfx942": for a GPU's module and the host
//   tileSessionRun(&session, pipeline, &error)
//
// Levels: tensors (linalg, tile graphs, sparse) take the named pipeline; memory (kernels, linalg, vectors, loops on
// buffers, freed or not) its stages from there; what is in the llvm dialect wholly takes none. Passes that must run
// once (bufferization, deallocation) are never repeated; the others leave alone what is past them.
#ifndef TESSERA_PIPELINES_REST_H
#define TESSERA_PIPELINES_REST_H

#include "mlir-c/IR.h"
#include <stdbool.h>

enum { TILE_REST_CAPACITY = 8192 };

bool tilePipelineHasChip(const char *chip); // does a pipeline make code for it?
// "builtin.module(…)" into `pipeline`. False for a chip that no pipeline makes code for, and for code of GPUs on a CPU.
bool tilePipelineRest(MlirOperation module, const char *chipOrNull, char pipeline[TILE_REST_CAPACITY]);

#endif
