// Programs of a vendor's toolkit, found where it is installed, and a folder of our own for the files that they want.
//
//   char linker[TilePathCapacity];
//   if (tileToolFind(&places, "ld.lld", linker) && tileWorkshopOpen(&workshop, &object, &error)) …
//   …run it on workshop.in, to workshop.out; tileWorkshopRead(&workshop, &result, &error)…
//   tileWorkshopClose(&workshop);
#pragma once

#include "lib/support/temporary.h"
#include "lib/target/target.h"

#include <limits.h>

enum { TilePathCapacity = PATH_MAX + 64 };

// Looked through in this order: the folders that variables of the environment name, PATH, and, where none of the
// variables is set, where it usually is.
typedef struct TileToolPlaces {
  const char *const *homes; // names of variables; ends with null
  const char *folder;       // in a home: "/bin"
  const char *usual;        // a home
} TileToolPlaces;
bool tileToolFind(const TileToolPlaces *places, const char *tool, char path[TilePathCapacity]);

typedef struct TileWorkshop {
  tessera_folder_t folder;
  bool isOpen;
  char in[TilePathCapacity], out[TilePathCapacity];
} TileWorkshop;
// A new folder with `content` as its file `in`. To be closed even if this fails.
bool tileWorkshopOpen(TileWorkshop *workshop, const TileArtifact *content, tessera_error_t *error);
bool tileWorkshopRead(const TileWorkshop *workshop, TileArtifact *content, tessera_error_t *error); // its file `out`
void tileWorkshopClose(const TileWorkshop *workshop);
