// The helpers of emitted source, a file for each language (*.prelude), built into the library.
#pragma once

#include "lib/machine/embedded_text.h"

extern const TileEmbeddedText tileSourcePreludes[];
extern const size_t tileSourcePreludesCount;
