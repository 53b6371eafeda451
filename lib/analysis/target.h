// The machine that a pass makes kernels for.
//
//   TileTarget target;
//   if (!tileTargetOfPass(module, pass, &target)) return false;   // a diagnostic was given
//   … target.search, target.hasDot …
//   tileMachineDestroy(target.machine);
#ifndef TESSERA_ANALYSIS_TARGET_H
#define TESSERA_ANALYSIS_TARGET_H

#include "lib/analysis/structured.h"
#include "lib/capi/pass.h"

// The machine of the pass's option `chip`, else of the module's tile.machine, else this host, or a common one where
// that cannot be asked: then `attribute` is null, and kernels do not say a machine. The caller destroys
// target->machine. False after a diagnostic at the module.
bool tileTargetOfPass(MlirOperation module, MlirExtPass pass, TileTarget *target);

#endif
