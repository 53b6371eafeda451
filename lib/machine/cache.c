// Machines are read once: those that somebody holds, and those of the process's folder, are shared. See machine.h.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/machine/machine.h"
#include "lib/machine/store.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static TileMachine *cached; // a list; each holds one use
static char *folder;        // owned; null or empty: only the machines built in
static bool isFolderKnown;  // was it set, or taken from the environment?
static size_t readCount;

static void drop(TileMachine *machine) {
  if (machine && --machine->uses == 0)
    tileMachineFree(machine);
}

//===--- the folder ------------------------------------------------------------//

static void setFolder(const char *path) {
  free(folder);
  folder = path && *path ? strdup(path) : NULL;
  isFolderKnown = true;
  while (cached) {
    TileMachine *machine = cached;
    cached = machine->next;
    drop(machine);
  }
}

static const char *currentFolder(void) {
  if (!isFolderKnown)
    setFolder(getenv(TILE_MACHINE_PATH_VARIABLE));
  return folder;
}

void tileMachineSetFolder(const char *path) {
  pthread_mutex_lock(&lock);
  setFolder(path);
  pthread_mutex_unlock(&lock);
}

bool tileMachineGetFolder(char *path, size_t capacity) {
  pthread_mutex_lock(&lock);
  const char *found = currentFolder();
  bool fits = found && (size_t)snprintf(path, capacity, "%s", found) < capacity;
  pthread_mutex_unlock(&lock);
  return fits;
}

// A folder that cannot be read is reported here once, rather than at each op that asks for a machine.
static bool expectFolder(const char *tool, const char *path) {
  TileError error;
  if (!path || !*path || tileMachineIsFolder(path, &error))
    return true;
  fprintf(stderr, "%s: error: %s\n", tool, error.text);
  return false;
}

bool tileMachineTakeFlag(int *argc, char **argv) {
  static const char flag[] = "--tile-machine-path=";
  const char *slash = *argc ? strrchr(argv[0], '/') : NULL, *tool = slash ? slash + 1 : *argc ? argv[0] : "";
  const char *path = NULL;
  int count = 0;
  for (int i = 0; i < *argc; ++i)
    if (strncmp(argv[i], flag, sizeof flag - 1) == 0)
      path = argv[i] + sizeof flag - 1;
    else
      argv[count++] = argv[i];
  argv[count] = NULL;
  *argc = count;
  if (!path)
    return expectFolder(tool, getenv(TILE_MACHINE_PATH_VARIABLE));
  if (!expectFolder(tool, path))
    return false;
  tileMachineSetFolder(path);
  return setenv(TILE_MACHINE_PATH_VARIABLE, path, true) == 0;
}

//===--- the cache -------------------------------------------------------------//

static bool isSame(const TileMachine *machine, const char *name, const char *searched,
                   const TileMachineOverride *overrides, size_t count) {
  if (strcmp(machine->name, name) || strcmp(machine->folder, searched) || machine->overrideCount != count)
    return false;
  for (size_t i = 0; i < count; ++i)
    if (strcmp(machine->overrides[i].key, overrides[i].key) || strcmp(machine->overrides[i].value, overrides[i].value))
      return false;
  return true;
}

static TileMachine *find(const char *name, const char *searched, const TileMachineOverride *overrides, size_t count) {
  for (TileMachine *machine = cached; machine; machine = machine->next)
    if (isSame(machine, name, searched, overrides, count))
      return machine;
  return NULL;
}

// What the machine is found by; false if memory is exhausted.
static bool label(TileMachine *machine, const char *searched, const TileMachineOverride *overrides, size_t count) {
  machine->folder = strdup(searched);
  machine->overrides = calloc(count + 1, sizeof *machine->overrides);
  if (!machine->folder || !machine->overrides)
    return false;
  for (; machine->overrideCount < count; ++machine->overrideCount) {
    TileMachineEntry *copy = &machine->overrides[machine->overrideCount];
    *copy = (TileMachineEntry){strdup(overrides[machine->overrideCount].key),
                               strdup(overrides[machine->overrideCount].value)};
    if (!copy->key || !copy->value)
      return ++machine->overrideCount, false;
  }
  return true;
}

TileMachine *tileMachineLoad(const char *name, const char *searchDir, const TileMachineOverride *overrides,
                             size_t overrideCount, TileError *error) {
  pthread_mutex_lock(&lock);
  const char *searched = searchDir ? searchDir : currentFolder();
  TileMachine *machine = find(name, searched ? searched : "", overrides, overrideCount);
  if (!machine) {
    ++readCount;
    machine = tileMachineRead(name, searched, overrides, overrideCount, error);
    bool isLabelled = machine && label(machine, searched ? searched : "", overrides, overrideCount);
    if (machine && !isLabelled) {
      tileMachineFree(machine);
      tileErrorSet(error, 0, 0, "out of memory");
      machine = NULL;
    } else if (machine && !searchDir) { // a folder that a caller names may change at any time
      machine->next = cached;
      machine->uses = 1;
      cached = machine;
    }
  }
  if (machine)
    ++machine->uses;
  pthread_mutex_unlock(&lock);
  return machine;
}

void tileMachineDestroy(TileMachine *machine) {
  pthread_mutex_lock(&lock);
  drop(machine);
  pthread_mutex_unlock(&lock);
}

void tileMachineListNames(const char *searchDir, tessera_list_t *list) {
  pthread_mutex_lock(&lock);
  tileMachineListFolder(searchDir ? searchDir : currentFolder(), list);
  pthread_mutex_unlock(&lock);
}

void tileMachineListWhere(const char *key, const char *value, tessera_list_t *list) {
  TESSERA_LIST(names);
  tileMachineListNames(NULL, &names);
  char *rest = names.owned;
  for (char *name; rest && (name = strtok_r(rest, ", ", &rest));) {
    TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, NULL);
    const char *has = machine ? tileMachineGetText(machine, key) : NULL;
    if (has && !strcmp(has, value))
      tessera_list_add(list, "%s", name);
    tileMachineDestroy(machine);
  }
}

size_t tileMachineCountReads(void) {
  pthread_mutex_lock(&lock);
  size_t count = readCount;
  pthread_mutex_unlock(&lock);
  return count;
}
