// Models whose programs are kept (lib/target/program_cache.h): what tile-run and tile-translate do before they compile.
//
//   TileKeptProgram kept;
//   if (tileKeptProgramFind(&kept, &session, pipeline, others, "tile-run"))
//     … load the file kept.path …
//   else
//     … compile; then tileKeptProgramStore(&kept, data, size) …
//
// Only models of other systems are kept: .onnx, .pt2 and StableHLO. Other programs are short or change often.
#pragma once

#include "lib/pipelines/session.h"
#include "lib/target/program_cache.h"

#include <limits.h>

typedef struct TileKeptProgram {
  bool isWanted; // there is a folder, and the program is a model
  char folder[PATH_MAX], key[TILE_PROGRAM_KEY], path[PATH_MAX];
} TileKeptProgram;

// True if the program is there, whole. `session` holds the program before any pass ran on it, with its weights bound.
// `pipeline` and `others` are what the program's bytes depend on besides; both may be null. A folder that cannot be
// used is a warning of `tool`.
bool tileKeptProgramFind(TileKeptProgram *kept, const TileSession *session, const char *pipeline, const char *others,
                         const char *tool);
// Stores the program if it is wanted. False, after a warning, if it could not be stored.
bool tileKeptProgramStore(TileKeptProgram *kept, const void *data, size_t size, const char *tool);
