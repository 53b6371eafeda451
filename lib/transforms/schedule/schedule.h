// Passes that decide how a computation runs on a machine. Each is described in the banner of its file.
#ifndef TESSERA_TRANSFORMS_SCHEDULE_H
#define TESSERA_TRANSFORMS_SCHEDULE_H

#include "lib/analysis/structured.h"
#include "lib/capi/pass.h"

extern const MlirExtPassDefinition tileConstructTilesPass;
extern const MlirExtPassDefinition tileMergeDimensionsPass;
extern const MlirExtPassDefinition tileSpecializeSizesPass;
extern const MlirExtPassDefinition tileSplitReductionsPass;

// The option `chip` of these passes.
#define SCHEDULE_CHIP_OPTION                                                                                           \
  {"chip", "the machine, as lib/machine names it; default: the module's tile.machine, else this host",                 \
   MlirExtOption_String, ""}

// The machine of the option `chip`, else of the module's tile.machine, else this host; the caller destroys it. False
// after a diagnostic.
bool scheduleLoadMachine(MlirOperation function, MlirExtPass pass, TileTarget *target);

#endif
