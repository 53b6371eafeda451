// How a TileMachine keeps its keys; only load.c writes through this.
#ifndef TESSERA_LIB_MACHINE_STORE_H
#define TESSERA_LIB_MACHINE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/machine/machine.h"

typedef struct {
  char *key, *value; // owned
} TileMachineEntry;

struct TileMachine {
  char *name; // owned
  TileMachineEntry *entries;
  size_t count, capacity;
};

// Sets or replaces a key; false if memory is exhausted.
bool tileMachineSet(TileMachine *machine, const char *key, const char *value);

#endif
