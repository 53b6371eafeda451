// The texts of checks/, built into the library: each one function, in which !P and !I are the types of positions and
// coordinates.
#ifndef TESSERA_TRANSFORMS_SPARSIFY_CHECKS_H
#define TESSERA_TRANSFORMS_SPARSIFY_CHECKS_H

#include "lib/support/embedded_text.h"

extern const TileEmbeddedText sparseEmbeddedChecks[];
extern const size_t sparseEmbeddedChecksCount;

#endif
