// The fields of a TileMachine. load.c writes the keys, cache.c the rest. Only for the files of this folder.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/machine/machine.h"

typedef struct {
  char *key, *value;                // owned
  const struct TileMachineKey *row; // that the key matches; null of an override
} TileMachineEntry;

struct TileMachine {
  char *name; // owned
  TileMachineEntry *entries;
  size_t count;
  // How the cache finds the machine.
  size_t uses, overrideCount;
  char *folder;                // owned
  TileMachineEntry *overrides; // owned
  TileMachine *next;
};

// Sets or replaces a key; false if memory is exhausted.
bool tileMachineSet(TileMachine *machine, const char *key, const char *value);

// tileMachineLoad, tileMachineDestroy and tileMachineListNames without the cache. `folder` may be null.
TileMachine *tileMachineRead(const char *name, const char *folder, const TileMachineOverride *overrides,
                             size_t overrideCount, TileError *error);
void tileMachineFree(TileMachine *machine);
bool tileMachineIsFolder(const char *path, TileError *error);
void tileMachineListFolder(const char *folder, tessera_list_t *list);
