// The machine that a schedule is for. See schedule.h.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/support.h"

#include <stdio.h>

bool scheduleLoadMachine(MlirOperation function, MlirExtPass pass, TileTarget *target) {
  TileError error = {.text = ""};
  MlirStringRef chip = mlirExtPassGetString(pass, "chip");
  MlirOperation module = tileParentOfName(function, "builtin.module");
  MlirAttribute attribute =
      mlirOperationIsNull(module) ? mlirAttributeGetNull() : tileOpAttribute(module, "tile.machine");
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)chip.length, chip.data);
  if (chip.length || mlirAttributeIsNull(attribute))
    target->machine = tileMachineLoad(chip.length ? name : "native", NULL, NULL, 0, &error);
  else
    target->machine = tileMachineAttrLoad(attribute, &error);
  if (target->machine && tileTargetRead(target, &error))
    return true;
  tileMachineDestroy(target->machine);
  return tileError(function, "%s", error.text);
}
