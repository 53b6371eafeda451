// See target_of_pass.h.
#include "lib/analysis/target_of_pass.h"

#include "lib/ir/support.h"

#include <stdio.h>
#include <stdlib.h>

// The machine has the instruction, and multiply-adds of widened factors are not as fast (some cores execute vdpbf16ps
// at half of their rate).
bool tileMachineHasDot(const TileMachine *machine, const TileDot *dot) {
  TileMachineAtom atom;
  char key[64];
  int64_t rate, plain;
  snprintf(key, sizeof key, "rate.%s", dot->atom);
  bool areRated = tileMachineGetInteger(machine, key, &rate) && tileMachineGetInteger(machine, "flops.f32", &plain);
  return tileMachineFindAtom(machine, dot->atom, &atom, NULL) && !(areRated && rate <= plain);
}

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
    target->hasDot[i] = tileMachineHasDot(target->machine, &tileDots[i]);
  target->arena = calloc(1, sizeof *target->arena);
  return true;
}

void tileTargetFree(TileTarget *target) {
  tileMachineDestroy(target->machine);
  if (target->arena)
    tileArenaFree(target->arena);
  free(target->arena);
}
