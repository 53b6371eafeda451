// The machine that an op is for: one rule for all passes.
//
//   1. the option `chip` of the pass that asks;
//   2. the attribute `machine` of the kernel that the op is, or stands in;
//   3. the attribute `tile.machine` of a module around it, which tile-set-machine sets;
//   4. this host, or a common CPU where the host cannot be asked.
//
// A chip that the kernel or the module describes itself, with other figures, is that one.
#pragma once

#include "lib/capi/pass.h"
#include "lib/machine/machine.h"

#define TILE_CHIP_HELP                                                                                                 \
  "the machine, by the name that its file has; default: the kernel's, else the module's tile.machine, else this host"
// The option `chip` of a pass, one row.
#define TILE_CHIP_OPTION {"chip", TILE_CHIP_HELP, MlirExtOption_String, ""}

// The caller destroys the machine. Null after a diagnostic at the op. `attribute` (may be null) gets the #tile.machine,
// or a null attribute for this host.
TileMachine *tileMachineOf(MlirOperation op, MlirExtPass pass, MlirAttribute *attribute);
// The machine that the option, the kernel or a module names, for passes that need one: null after a diagnostic too if
// nobody names a machine. `attribute` may be null.
TileMachine *tileNamedMachineOf(MlirOperation kernel, MlirExtPass pass, MlirAttribute *attribute);
// What the kernel or a module around the op says, from the op outwards; null if none does.
MlirAttribute tileMachineStated(MlirOperation op);
// This host, or a common CPU where the host cannot be asked.
TileMachine *tileMachineOfHost(TileError *error);
// The machine of a chip by name, or of `around` where that is a #tile.machine of this name (it may have other figures).
// `around` may be null, and becomes the chip's #tile.machine. Null after an error, which names the machines there are.
TileMachine *tileMachineOfChip(MlirContext context, MlirStringRef chip, MlirAttribute *around, TileError *error);
