// CPUs by name: the machine files of kind cpu.
#include "lib/target/cpu/ahead_of_time.h"

#include "lib/machine/host.h"
#include "lib/machine/machine.h"

#include <string.h>

static bool isCpu(const char *name) {
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, NULL);
  const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
  bool is = kind && strcmp(kind, "cpu") == 0;
  tileMachineDestroy(machine);
  return is;
}

// "native, x86-64-v3, x86-64-v4" of all machines' names.
static void listCpus(char *text, size_t capacity) {
  char names[1024];
  tileMachineListNames(NULL, names, sizeof names);
  char *rest = names;
  text[0] = '\0';
  for (char *name; (name = strtok_r(rest, ", ", &rest));) {
    size_t length = strlen(text);
    if (isCpu(name))
      snprintf(text + length, capacity - length, "%s%s", length ? ", " : "", name);
  }
}

bool tileCpuChipFind(const char *name, TileCpuChip *chip, tessera_error_t *error) {
  char known[512];
  if (strlen(name) >= ChipNameCapacity || !isCpu(name)) {
    listCpus(known, sizeof known);
    return tessera_fail(error, "unknown CPU '%s'; known: %s", name, known);
  }
  *chip = (TileCpuChip){.processor = NULL};
  snprintf(chip->name, sizeof chip->name, "%s", name);
  if (strcmp(name, "native") != 0)
    chip->processor = strcpy(chip->needs, name);
  else if (!tileHostDetect("base", chip->needs, sizeof chip->needs))
    chip->needs[0] = '\0';
  return true;
}
