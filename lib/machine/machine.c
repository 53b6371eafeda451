// A machine's keys and what one asks of them. See machine.h; reading files is in load.c, atoms in atom.c.
#include "lib/machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "lib/machine/keys.h"
#include "lib/machine/store.h"
#include "lib/support/grow.h"

static TileMachineEntry *findEntry(const TileMachine *machine, const char *key) {
  for (size_t i = 0; i < machine->count; ++i)
    if (!strcmp(machine->entries[i].key, key))
      return &machine->entries[i];
  return NULL;
}

bool tileMachineSet(TileMachine *machine, const char *key, const char *value) {
  TileMachineEntry *entry = findEntry(machine, key);
  char *copy = strdup(value), *name = entry ? NULL : strdup(key);
  TileMachineEntry *entries =
      entry ? machine->entries : tessera_grow(machine->entries, (int64_t)machine->count, sizeof *entries);
  machine->entries = entries ? entries : machine->entries;
  if (!copy || !entries || (!entry && !name)) {
    free(copy);
    free(name);
    return false;
  }
  if (!entry) {
    entry = &machine->entries[machine->count++];
    *entry = (TileMachineEntry){.key = name, .row = tileMachineFindKey(name)};
  }
  free(entry->value);
  entry->value = copy;
  return true;
}

static void freeEntries(TileMachineEntry *entries, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    free(entries[i].key);
    free(entries[i].value);
  }
  free(entries);
}

void tileMachineFree(TileMachine *machine) {
  if (!machine)
    return;
  freeEntries(machine->entries, machine->count);
  freeEntries(machine->overrides, machine->overrideCount);
  free(machine->folder);
  free(machine->name);
  free(machine);
}

const char *tileMachineGetName(const TileMachine *machine) { return machine->name; }

bool tileMachineHas(const TileMachine *machine, const char *key) { return findEntry(machine, key) != NULL; }

const char *tileMachineGetText(const TileMachine *machine, const char *key) {
  const TileMachineEntry *entry = findEntry(machine, key);
  return entry ? entry->value : NULL;
}

bool tileMachineGetInteger(const TileMachine *machine, const char *key, int64_t *value) {
  const TileMachineEntry *entry = findEntry(machine, key);
  const TileMachineKey *row = entry ? entry->row : NULL;
  if (!row || (row->type != TileMachineInteger && row->type != TileMachineLarge))
    return false;
  *value = strtoll(entry->value, NULL, 10);
  return true;
}

size_t tileMachineGetIntegers(const TileMachine *machine, const char *key, int64_t *values, size_t capacity) {
  const TileMachineEntry *entry = findEntry(machine, key);
  const TileMachineKey *row = entry ? entry->row : NULL;
  size_t count = 0;
  if (!row || (row->type != TileMachineInteger && row->type != TileMachineIntegers))
    return 0;
  for (char *at = entry->value; *at; ++count) {
    int64_t value = strtoll(at, &at, 10);
    if (count < capacity)
      values[count] = value;
    at += strspn(at, " ");
  }
  return count;
}

const char *tileMachineGetWord(const TileMachine *machine, const char *key, size_t place, size_t *length) {
  const TileMachineEntry *entry = findEntry(machine, key);
  *length = 0;
  for (const char *at = entry ? entry->value : ""; *at; at += strspn(at, " ")) {
    size_t word = strcspn(at, " ");
    if (place-- == 0) {
      *length = word;
      return at;
    }
    at += word;
  }
  return NULL;
}

bool tileMachineListHas(const TileMachine *machine, const char *key, const char *word) {
  const char *found;
  size_t length;
  for (size_t place = 0; (found = tileMachineGetWord(machine, key, place, &length)); ++place)
    if (length == strlen(word) && !strncmp(found, word, length))
      return true;
  return false;
}

size_t tileMachineGetKeyCount(const TileMachine *machine) { return machine->count; }

const char *tileMachineGetKeyAt(const TileMachine *machine, size_t index, const char **value) {
  if (value)
    *value = machine->entries[index].value;
  return machine->entries[index].key;
}

// FNV-1a of each `key=value`, summed: the order of keys does not matter.
uint64_t tileMachineGetHash(const TileMachine *machine) {
  uint64_t sum = 0;
  for (size_t i = 0; i < machine->count; ++i) {
    const char *parts[] = {machine->entries[i].key, "=", machine->entries[i].value};
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t part = 0; part < 3; ++part)
      for (const char *c = parts[part]; *c; ++c)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    sum += hash;
  }
  return sum;
}

static int64_t levelInteger(const TileMachine *machine, const char *level, const char *property) {
  char key[128];
  int64_t value = 0;
  if (strlen(level) + strlen(property) + 2 > sizeof key)
    return 0;
  strcpy(key, level);
  strcat(strcat(key, "."), property);
  tileMachineGetInteger(machine, key, &value);
  return value;
}

bool tileMachineGetLevel(const TileMachine *machine, const char *name, TileMachineLevel *level) {
  if (!tileMachineListHas(machine, "levels", name))
    return false;
  *level = (TileMachineLevel){
      .bytes = levelInteger(machine, name, "bytes"),
      .ways = levelInteger(machine, name, "ways"),
      .line = levelInteger(machine, name, "line"),
      .transaction = levelInteger(machine, name, "transaction"),
      .bandwidth = levelInteger(machine, name, "bandwidth"),
      .latency = levelInteger(machine, name, "latency"),
      .banks = levelInteger(machine, name, "banks"),
      .bankBytes = levelInteger(machine, name, "bank.bytes"),
  };
  return true;
}
