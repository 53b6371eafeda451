// A compiled program: a shared object by tile-translate --tile-to-program, loaded, its manifest understood.
#pragma once

#include "lib/run/call.h"
#include "lib/runtime/manifest.h"

typedef struct tessera_program_t {
  void *library;
  const tessera_manifest_t *manifest;
  const tessera_entry_t *record;      // of the entry, in the manifest
  tessera_packed_t entry, entry_into; // entry_into: NULL when there are no results
  tessera_signature_t signature;      // of the entry
} tessera_program_t;

// Loads the program and finds the entry. The error names the file and what is wrong with it.
bool tessera_program_load(tessera_program_t *program, const char *path, const char *entry, tessera_error_t *error);
void tessera_program_unload(tessera_program_t *program); // also after a failure
