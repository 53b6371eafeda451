// Whether a kernel fits the machine that it names.
#ifndef TESSERA_DIALECTS_TILE_ON_MACHINE_H
#define TESSERA_DIALECTS_TILE_ON_MACHINE_H

#include "lib/capi/common.h"

// A kernel with a `machine`: its warps, registers, buffers, engines and atoms are such as the machine has. Reports at
// the op at fault and returns false otherwise; true for a kernel without one.
bool tileVerifyOnMachine(MlirOperation kernel);

#endif
