// The generators' parts: what they make out of one dialect's rows. opgen.c is built once per own dialect,
// opgen_upstream.c once for all upstream dialects, since the rows are compiled in (cmake/TesseraLibrary.cmake). They
// need no MLIR library.
#pragma once

#include "lib/ir/op_spec.h"
#include <stdio.h>

// An attribute kind: an integer with words (TESSERA_ENUM), one of several words (TESSERA_WORDS), or an attribute with
// parameters (TESSERA_ATTRIBUTE). The last two are built from `text`, which is null for an integer.
typedef struct OpgenEnum {
  const char *name, *bits, *words, *text;
} OpgenEnum;

typedef struct Opgen {
  const char *dialect; // "tile"
  char prefix[32];     // "tile", for functions
  char capital[32];    // "Tile", for types
  const TileOpSpec *specs;
  intptr_t numSpecs;
  bool isUpstream;        // the rows describe ops that are registered elsewhere
  intptr_t first;         // upstream: number of the first op among all upstream ops
  const OpgenEnum *enums; // end with name == null; or null
} Opgen;

void opgenWriteHeader(FILE *out, const Opgen *opgen); // header.c: enums, builders, accessors
void opgenWriteAttributeKind(FILE *out, const Opgen *opgen, const OpgenEnum *kind); // attributes.c
void opgenWriteAgreement(FILE *out, const Opgen *opgen); // agree.c: takes ops apart and builds them again, for tests
void opgenWritePage(FILE *out, const Opgen *opgen);      // page.c: the reference page in Markdown
void opgenWritePython(FILE *out, const Opgen *opgen);    // python.c: builders for python/tessera/_kernel
void opgenWritePythonHead(FILE *out);                    // once, before the first dialect's

// output.c: a file that a generator writes; null after a message. Closed, a whole one takes the place of the file
// unless that says the same; false after a message, or where it is not whole.
FILE *opgenOpen(const char *path);
bool opgenClose(FILE *out, const char *path, bool isWhole);

// Whether every result's type follows from the operands, as far as text tells: then Create takes no result types.
bool opgenInfersResults(const TileOpSpec *spec);
// lhs_scale -> LhsScale (or lhsScale); returns `buffer`.
const char *opgenCamel(const char *name, bool capital, char *buffer, size_t capacity);
