// The names of the machines there are: those built in and those of a folder, each once, sorted.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/machine/embedded.h"
#include "lib/machine/store.h"

typedef struct {
  char **names; // owned
  size_t count;
} Names;

static void addName(Names *names, const char *name, size_t length) {
  for (size_t i = 0; i < names->count; ++i)
    if (strlen(names->names[i]) == length && !strncmp(names->names[i], name, length))
      return;
  char **grown = realloc(names->names, (names->count + 1) * sizeof *grown);
  if (!grown)
    return;
  names->names = grown;
  if ((grown[names->count] = strndup(name, length)))
    ++names->count;
}

static void addFolder(Names *names, const char *path) {
  static const char suffix[] = ".machine";
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name), cut = sizeof suffix - 1;
    if (length > cut && entry->d_name[0] != '.' && !strcmp(entry->d_name + length - cut, suffix))
      addName(names, entry->d_name, length - cut);
  }
  if (folder)
    closedir(folder);
}

static int compareNames(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

void tileMachineListFolder(const char *searchDir, tessera_list_t *list) {
  Names names = {0};
  for (size_t i = 0; i < tileEmbeddedMachinesCount; ++i)
    addName(&names, tileEmbeddedMachines[i].name, strlen(tileEmbeddedMachines[i].name));
  if (searchDir && *searchDir)
    addFolder(&names, searchDir);
  if (names.count)
    qsort(names.names, names.count, sizeof *names.names, compareNames);
  for (size_t i = 0; i < names.count; ++i) {
    tessera_list_add(list, "%s", names.names[i]);
    free(names.names[i]);
  }
  free(names.names);
}
