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

//===--- chips of devices -------------------------------------------------------------===//

static bool isKnown(const char *chip) {
  TileMachine *machine = tileMachineLoad(chip, NULL, NULL, 0, NULL);
  tileMachineDestroy(machine);
  return machine != NULL;
}

// The newest of NVIDIA's chips that have a machine file and whose code the device runs: "sm_86" for an sm_87.
static bool chooseOlder(const char *device, char *chip, size_t size) {
  TESSERA_LIST(names);
  long newest = 0, most = strncmp(device, "sm_", 3) == 0 ? strtol(device + 3, NULL, 10) : 0;
  tileMachineListNames(NULL, &names);
  for (const char *at = strstr(names.text, "sm_"); at; at = strstr(at + 3, "sm_")) {
    char *end;
    long number = strtol(at + 3, &end, 10);
    if (strchr(",", *end) && number <= most && number > newest) // sm_90a runs on that chip only
      newest = number;
  }
  return newest && (size_t)snprintf(chip, size, "sm_%ld", newest) < size;
}

bool tileMachineOfDevice(const char *device, char *chip, size_t size, tessera_error_t *error) {
  const char *const forms[] = {"%sa", "%s"};
  for (int i = 0; i < 2; ++i) {
    snprintf(chip, size, forms[i], device);
    if (isKnown(chip))
      return true;
  }
  return chooseOlder(device, chip, size) ||
         tessera_fail(error, "the device is %s, which no machine file describes", device);
}
