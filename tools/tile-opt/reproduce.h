// A reduced case as a file that a test can run: program, pass, seed, what came out and what should have.
#pragma once

#include "tools/tile-opt/reduce.h"

// Judges the case once more and writes it. `pass` is the one to blame; `plugins`: flags with which tile-opt knows it.
bool reproducerWrite(const Case *broken, const char *pass, const char *plugins, const char *path,
                     tessera_error_t *error);
