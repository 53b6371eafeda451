// Folders for a tool's files, and where tools are. See workshop.h.
#include "lib/target/workshop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

//===--- finding -------------------------------------------------------------------------------===//

static bool isIn(const char *folder, const char *more, const char *tool, char *path) {
  return folder && *folder && snprintf(path, TilePathCapacity, "%s%s/%s", folder, more, tool) < TilePathCapacity &&
         access(path, X_OK) == 0;
}

bool tileToolFind(const TileToolPlaces *places, const char *tool, char path[TilePathCapacity]) {
  bool isTold = false;
  for (const char *const *home = places->homes; *home; ++home) {
    const char *folder = getenv(*home);
    if (isIn(folder, places->folder, tool, path))
      return true;
    isTold |= folder && *folder;
  }
  char onPath[4096];
  const char *variable = getenv("PATH");
  snprintf(onPath, sizeof onPath, "%s", variable ? variable : "");
  char *rest = onPath;
  for (char *place; (place = strtok_r(rest, ":", &rest));)
    if (isIn(place, "", tool, path))
      return true;
  return !isTold && isIn(places->usual, places->folder, tool, path);
}

//===--- files ---------------------------------------------------------------------------------===//

bool tileWorkshopOpen(TileWorkshop *workshop, const TileArtifact *content, tessera_error_t *error) {
  workshop->isOpen = tessera_folder_make(&workshop->folder, error);
  if (!workshop->isOpen)
    return false;
  snprintf(workshop->in, TilePathCapacity, "%s/in", workshop->folder.path);
  snprintf(workshop->out, TilePathCapacity, "%s/out", workshop->folder.path);
  FILE *file = fopen(workshop->in, "wbe");
  bool ok = file && fwrite(content->data, 1, content->size, file) == content->size;
  ok = (!file || fclose(file) == 0) && ok;
  return ok || tessera_fail(error, "%s: cannot be written", workshop->in);
}

void tileWorkshopClose(const TileWorkshop *workshop) {
  if (workshop->isOpen)
    tessera_folder_remove(&workshop->folder);
}

bool tileWorkshopRead(const TileWorkshop *workshop, TileArtifact *content, tessera_error_t *error) {
  FILE *file = fopen(workshop->out, "rbe");
  long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
  bool ok = data && fseek(file, 0, SEEK_SET) == 0 && fread(data, 1, (size_t)size, file) == (size_t)size;
  if (file)
    fclose(file);
  if (!ok) {
    free(data);
    return tessera_fail(error, "%s: cannot be read", workshop->out);
  }
  *content = (TileArtifact){.data = data, .size = (size_t)size};
  return true;
}
