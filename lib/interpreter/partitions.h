// The partitions of a tile.warp_specialize: each runs until it waits for a barrier that is not complete, then the next.
// Why threads: a partition stops in the middle of nested regions; only one thread runs at a time, so the rest of the
// interpreter need not know.
#ifndef TESSERA_INTERPRETER_PARTITIONS_H
#define TESSERA_INTERPRETER_PARTITIONS_H

#include "lib/interpreter/machine.h"

// Lets the others run. False when nobody else can: all are waiting without anything having changed, or none is there.
bool partitionYield(Machine *machine);

#endif
