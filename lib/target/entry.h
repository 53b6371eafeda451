// The entries of a module: functions that a program can be asked to run, and what they take and give.
#pragma once

#include "lib/support/signature.h"
#include "mlir-c/IR.h"

// The func.func called `name` of the module; null when there is none.
MlirOperation tileEntryFind(MlirModule module, const char *name);
// Reads the signature of a func.func on tensors, memrefs and scalars; a sparse tensor stands as its components. False,
// naming the type, for any other.
bool tileEntrySignature(MlirOperation function, tessera_signature_t *signature, tessera_error_t *error);

// The public functions with a body: what others may call in a program.
typedef struct TileEntry {
  char *name;
  bool isPassable; // has a signature
  tessera_signature_t signature;
} TileEntry;
typedef struct TileEntries {
  TileEntry *items;
  int count;
} TileEntries;

// Collects them; false when out of memory.
bool tileEntriesCollect(MlirModule module, TileEntries *entries, tessera_error_t *error);
void tileEntriesDestroy(TileEntries *entries);
