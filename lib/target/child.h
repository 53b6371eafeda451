// Another program run for us: its input fed, its output and complaints collected, its time limited.
// Why: code generators abort on what they do not know, and assemblers are programs; neither may take us along.
//
//   const char *const arguments[] = {"ptxas", "--version", NULL};
//   TileChildResult result;
//   if (tileChildRun(&(TileChild){.arguments = arguments}, &result, &error)) …   // it ended with status 0
//   tileChildDestroy(&result);
#pragma once

#include "lib/support/status.h"

#include <stddef.h>

typedef struct TileChild {
  const char *const *arguments; // [0]: the program, by path or found on PATH; ends with null
  const void *input;            // its standard input; may be null
  size_t inputSize;
  int seconds; // 0: 120
} TileChild;

// Owned; `output` and `complaints` end with a zero beyond their sizes.
typedef struct TileChildResult {
  char *output, *complaints; // standard output, standard error
  size_t outputSize, complaintsSize;
} TileChildResult;

// False with a sentence when it cannot be started, takes too long, is killed by a signal or ends with another status
// than 0 (then its first complaint is in the sentence). `result` is to be destroyed in any case.
bool tileChildRun(const TileChild *child, TileChildResult *result, tessera_error_t *error);
void tileChildDestroy(TileChildResult *result);
