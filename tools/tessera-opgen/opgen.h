// The generator's parts: what it makes out of one dialect's rows. Built once per dialect, since the rows are compiled
// into it (cmake/TesseraLibrary.cmake: tessera_generate_ops); needs no MLIR library.
#ifndef TESSERA_TOOLS_OPGEN_H
#define TESSERA_TOOLS_OPGEN_H

#include "lib/ir/op_spec.h"
#include <stdio.h>

typedef struct Opgen {
  const char *dialect; // "tile"
  char prefix[32];     // "tile", for functions
  char capital[32];    // "Tile", for types
  const TileOpSpec *specs;
  intptr_t numSpecs;
} Opgen;

void opgenWriteHeader(FILE *out, const Opgen *opgen); // header.c: enum, builders, accessors
void opgenWritePage(FILE *out, const Opgen *opgen);   // page.c: the reference page in Markdown

// Whether every result's type follows from the operands, as far as text tells: then Create takes no result types.
bool opgenInfersResults(const TileOpSpec *spec);
// lhs_scale -> LhsScale (or lhsScale); returns `buffer`.
const char *opgenCamel(const char *name, bool capital, char *buffer, size_t capacity);

#endif
