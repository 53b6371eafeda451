// Lowerings that the vendors' rows share: fields of the thread, ops without effect here, barriers.
#pragma once

#include "lib/emulator/compile/build.h"

#include <stddef.h>

// A 32-bit field of the thread (`number`: its offset) or of its block (offset + EMULATOR_OF_BLOCK).
enum { EMULATOR_OF_BLOCK = 1 << 16 };
#define EMULATOR_THREAD(field) offsetof(tessera_emu_thread_t, field)
#define EMULATOR_BLOCK(field) (EMULATOR_OF_BLOCK + offsetof(tessera_emu_block_t, field))
bool emulatorLowerField(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// The constant `number`.
bool emulatorLowerNumber(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// No effect in an emulator whose memory is synchronous and whose caches do not exist. Ops without results.
bool emulatorLowerNothing(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// `callee` (self, operands as 32 or 64 bits…, site): pointers become flat. The result comes back as bits.
bool emulatorLowerDirect(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerBarrier0(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// rocdl_waits.c: notes whether the module has loads into LDS; which of a function's s_barriers order no memory, for
// want of fences and waits. Before either is lowered.
void emulatorFindLoadsToLds(EmulatorBuild *build);
void emulatorMarkBarriers(EmulatorBuild *build, const TileOps *ops);
bool emulatorLowerSBarrier(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerWait(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
bool emulatorLowerLoadToLds(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);
// A function of libm on one float, named as C's for f64: "exp2".
bool emulatorLowerMath(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row);

// The C struct {…} of a pair: results of an op that has two.
MlirValue emulatorPair(EmulatorBuild *build, TileBuilder *b, MlirType type, MlirValue first, MlirValue second);
