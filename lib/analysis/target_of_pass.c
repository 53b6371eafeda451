// See target_of_pass.h.
#include "lib/analysis/target_of_pass.h"

#include "lib/ir/support.h"

#include <stdlib.h>

bool tileTargetOfPass(MlirOperation op, MlirExtPass pass, TileTarget *target) {
  TileError error = {.text = ""};
  *target = (TileTarget){.machine = NULL};
  target->machine = tileMachineOf(op, pass, &target->attribute);
  if (!target->machine)
    return false;
  if (!tileSearchReadTarget(target->machine, &target->search, &error)) {
    tileTargetFree(target);
    return tileError(op, "%s", error.text);
  }
  for (int i = 0; i < TileNumDots && !target->search.isGpu; ++i)
    target->hasDot[i] = tileMachineFindAtom(target->machine, tileDots[i].atom, &(TileMachineAtom){.m = 0}, NULL);
  target->arena = calloc(1, sizeof *target->arena);
  return true;
}

void tileTargetFree(TileTarget *target) {
  tileMachineDestroy(target->machine);
  if (target->arena)
    tileArenaFree(target->arena);
  free(target->arena);
}
