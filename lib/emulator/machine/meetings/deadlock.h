// deadlock.h - saying why a block cannot go on.
#pragma once

#include "lib/emulator/machine/worker.h"

// No thread of the block can run, or all only spin: reports what each warp waits for and gives up the block.
_Noreturn void emu_stuck(emu_worker_t *worker);
