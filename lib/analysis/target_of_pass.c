// See target_of_pass.h.
#include "lib/analysis/target_of_pass.h"

#include "lib/analysis/tiling.h"
#include "lib/ir/support.h"

bool tileTargetOfPass(MlirOperation op, MlirExtPass pass, TileTarget *target) {
  TileError error = {.text = ""};
  *target = (TileTarget){.machine = NULL};
  target->machine = tileMachineOf(op, pass, &target->attribute);
  if (!target->machine || tileTargetRead(target, &error))
    return target->machine != NULL;
  tileMachineDestroy(target->machine);
  return tileError(op, "%s", error.text);
}
