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

bool tileCpuChipFind(const char *name, TileCpuChip *chip, tessera_error_t *error) {
  if (strlen(name) >= ChipNameCapacity || !isCpu(name)) {
    TESSERA_LIST(known);
    tileMachineListWhere("kind", "cpu", &known);
    return tessera_fail(error, "unknown CPU '%s'; known: %s", name, known.text);
  }
  *chip = (TileCpuChip){.processor = NULL};
  snprintf(chip->name, sizeof chip->name, "%s", name);
  if (strcmp(name, "native") != 0)
    chip->processor = strcpy(chip->needs, name);
  else if (!tileHostDetect("base", chip->needs, sizeof chip->needs))
    chip->needs[0] = '\0';
  return true;
}
