// The machine files built into the library: cmake/EmbedMachines.cmake turns lib/machine/*.machine into this table,
// sorted.
#ifndef TESSERA_LIB_MACHINE_EMBEDDED_H
#define TESSERA_LIB_MACHINE_EMBEDDED_H

#include <stddef.h>

typedef struct TileEmbeddedMachine {
  const char *name;
  const unsigned char *text; // not terminated
  size_t length;
} TileEmbeddedMachine;

extern const TileEmbeddedMachine tileEmbeddedMachines[];
extern const size_t tileEmbeddedMachineCount;

#endif
