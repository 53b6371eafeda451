// See target.h.
#include "lib/analysis/target.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"

#include <stdio.h>

// What the option or the module names; null without an error if neither does.
static TileMachine *loadMachine(MlirOperation module, MlirExtPass pass, MlirAttribute *attribute, TileError *error) {
  MlirStringRef chip = mlirExtPassGetString(pass, "chip");
  char name[64];
  *attribute = tileOpAttribute(module, "tile.machine");
  if (!chip.length)
    return mlirAttributeIsNull(*attribute) ? NULL : tileMachineAttrLoad(*attribute, error);
  snprintf(name, sizeof name, "%.*s", (int)chip.length, chip.data);
  // A chip that the module describes itself, with other figures, is that one.
  if (!mlirAttributeIsNull(*attribute) && tileAttributeIsAMachine(*attribute) &&
      tileStringEquals(tileMachineAttrGetName(*attribute), name))
    return tileMachineAttrLoad(*attribute, error);
  TileMachine *machine = tileMachineLoad(name, NULL, NULL, 0, error);
  if (machine) // the attribute of an unknown machine would be a second error
    *attribute = tileMachineAttrGet(mlirOperationGetContext(module), chip, mlirAttributeGetNull());
  return machine;
}

static TileMachine *loadHost(TileError *error) {
  TileMachine *machine = tileMachineLoad("native", NULL, NULL, 0, NULL);
  return machine ? machine : tileMachineLoad("x86-64-v4", NULL, NULL, 0, error);
}

bool tileTargetOfPass(MlirOperation module, MlirExtPass pass, TileTarget *target) {
  TileError error = {.text = ""};
  *target = (TileTarget){.machine = NULL};
  target->machine = loadMachine(module, pass, &target->attribute, &error);
  if (!target->machine && !*error.text)
    target->machine = loadHost(&error);
  bool ok = target->machine && tileTargetRead(target, &error);
  if (!ok)
    tileMachineDestroy(target->machine);
  return ok || tileError(module, "%s", error.text);
}
