// CPUs by name: the machine files of kind cpu.
#include "lib/target/cpu/ahead_of_time.h"

#include "lib/machine/host.h"
#include "lib/machine/machine.h"

#include <string.h>

static TileMachine *loadCpu(const char *name) {
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, NULL);
  const char *kind = machine ? tileMachineGetText(machine, "kind") : NULL;
  if (kind && strcmp(kind, "cpu") == 0)
    return machine;
  tileMachineDestroy(machine);
  return NULL;
}

// "x86-64-v4" and "+avx512bf16,+amx-tile" are "x86-64-v4 avx512bf16": code for tile registers has other code beside it.
static void listNeeds(TileCpuChip *chip) {
  size_t length = (size_t)snprintf(chip->needs, sizeof chip->needs, "%s", chip->processor);
  for (const char *at = chip->features; *at;) {
    size_t word = strcspn(at, ",");
    if (*at == '+' && strncmp(at, "+amx-", 5) != 0)
      length += (size_t)snprintf(chip->needs + length, sizeof chip->needs - length, " %.*s", (int)word - 1, at + 1);
    at += word + (at[word] == ',');
  }
}

static bool readChip(const TileMachine *machine, TileCpuChip *chip) {
  const char *processor = tileMachineGetText(machine, "chip"), *features = tileMachineGetText(machine, "features");
  if (strcmp(processor, "native") == 0)
    return tileHostDetect("needs", chip->needs, sizeof chip->needs) || !(chip->needs[0] = '\0');
  bool fits = strlen(processor) < sizeof chip->processor && (!features || strlen(features) < sizeof chip->features) &&
              strlen(processor) + (features ? strlen(features) : 0) < sizeof chip->needs;
  if (!fits)
    return false;
  strcpy(chip->processor, processor);
  strcpy(chip->features, features ? features : "");
  listNeeds(chip);
  return true;
}

bool tileCpuChipFind(const char *name, TileCpuChip *chip, tessera_error_t *error) {
  TileMachine *machine = strlen(name) < ChipNameCapacity ? loadCpu(name) : NULL;
  if (!machine) {
    TESSERA_LIST(known);
    tileMachineListWhere("kind", "cpu", &known);
    return tessera_fail(error, "unknown CPU '%s'; known: %s", name, known.text);
  }
  *chip = (TileCpuChip){.needs = ""};
  strcpy(chip->name, name);
  bool good = readChip(machine, chip) ||
              tessera_fail(error, "machine %s: keys 'chip' and 'features' are longer than %d characters", name,
                           ChipFeaturesCapacity - 1);
  tileMachineDestroy(machine);
  return good;
}
