// The machine that a pass makes kernels for.
//
//   TileTarget target;
//   if (!tileTargetOfPass(module, pass, &target)) return false;   // a diagnostic was given
//   … target.search, target.hasDot …
//   tileTargetFree(&target);
#pragma once

#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/structured.h"

// The machine of the op by the rule of machine_of_op.h, and what the search needs of it. `attribute` is null for this
// host: then kernels do not say a machine. The caller frees the target. False after a diagnostic at the op.
bool tileTargetOfPass(MlirOperation op, MlirExtPass pass, TileTarget *target);
void tileTargetFree(TileTarget *target);
// A CPU has the instruction, and it is faster than multiply-adds of f32.
bool tileMachineHasDot(const TileMachine *machine, const TileDot *dot);
