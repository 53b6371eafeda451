// The machine files built into the library: lib/machine/*.machine.
#ifndef TESSERA_LIB_MACHINE_EMBEDDED_H
#define TESSERA_LIB_MACHINE_EMBEDDED_H

#include "lib/support/embedded_text.h"

extern const TileEmbeddedText tileEmbeddedMachines[];
extern const size_t tileEmbeddedMachinesCount;

#endif
