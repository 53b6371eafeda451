// What a tool that compiles one file does first: a context with everything registered, the file parsed, passes run.
//
//   TileSession session;
//   bool ok = tileSessionOpen(&session, "program.mlir", NULL, &error) &&
//             tileSessionRun(&session, "builtin.module(tile-to-cpu-pipeline)", &error);
//   …
//   tileSessionClose(&session);   // also after a failure
//
// MLIR's diagnostics go to stderr, as compilers write them; `error` then says what failed.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

typedef struct TileSession {
  MlirContext context;
  MlirModule module;
  bool isModel; // came as a model of another system: .onnx, .pt2, StableHLO
} TileSession;

// "-" is standard input. A program of StableHLO, TTIR or CUDA Tile IR is converted (tileSessionTakeForeign). Source
// files of CUDA C++ and HIP are compiled for `chip` (null: no chip is known, and these files are an error).
bool tileSessionOpen(TileSession *session, const char *path, const char *chip, tessera_error_t *error);
// Kernels of tile or of CUDA Tile IR become kernels of TTIR; those of TTIR stay.
bool tileSessionMakeTtir(TileSession *session, bool hasDescriptors, tessera_error_t *error);
// Kernels of tile or of TTIR become kernels of CUDA Tile IR 13.N, with tokens; those of CUDA Tile IR stay.
bool tileSessionMakeCudaTile(TileSession *session, int version, tessera_error_t *error);
// tileSessionOpen without any conversion.
bool tileSessionRead(TileSession *session, const char *path, const char *chip, tessera_error_t *error);
// `pipeline` as tile-opt's --pass-pipeline takes it: "builtin.module(…)".
bool tileSessionRun(TileSession *session, const char *pipeline, tessera_error_t *error);
// A program of StableHLO becomes one of linalg, kernels of Triton become tile kernels. Any other stays as it is.
// tileSessionOpen has done so.
bool tileSessionTakeForeign(TileSession *session, tessera_error_t *error);
// Where the entry, or with null any public function, takes or gives tensors of upstream's sparse_tensor, the module
// becomes one of our sparse ones, whose entries have a signature (lib/target/entry.h). What that leaves to upstream's
// sparsifier has none.
bool tileSessionTakeSparseEntries(TileSession *session, const char *entryOrNull, tessera_error_t *error);
// Where a pipeline of the user's own is to run: entries pass quantized tensors as their parts and elements of fewer
// than 8 bits as bytes, as their signature says. Pipelines of targets do so themselves.
bool tileSessionExpandEntries(TileSession *session, tessera_error_t *error);
void tileSessionClose(TileSession *session);
