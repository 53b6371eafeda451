// The machine files built into the library: lib/machine/*.machine.
#pragma once

#include "lib/machine/embedded_text.h"

extern const TileEmbeddedText tileEmbeddedMachines[];
extern const size_t tileEmbeddedMachinesCount;
