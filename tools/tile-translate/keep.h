// The program of a model that tile-translate has compiled before.
#pragma once

#include "lib/pipelines/kept_program.h"
#include "lib/target/target.h"
#include "tools/tile-translate/options.h"

// True, with the artifact, if the program of this model is kept.
bool keepFind(TileKeptProgram *kept, const TileSession *session, const TranslateOptions *options, const TileForm *form,
              TileArtifact *artifact);
// Keeps the artifact if it was looked for and not found.
void keepStore(TileKeptProgram *kept, const TileArtifact *artifact);
