// How many registers the tiles of a loop take, and what can be read again instead of being held.
#ifndef TESSERA_TRANSFORMS_PIPELINE_REGISTERS_H
#define TESSERA_TRANSFORMS_PIPELINE_REGISTERS_H

#include "lib/capi/common.h"

struct TileMachine;

/// Registers of 32 bits that the tiles of a loop's round take in a thread, at their most: what is carried round, what
/// comes from outside, and what is alive between two of its ops. Not counted: addresses and indices, what is cheaper to
/// compute again (constants, iota, broadcasts, masks), and fragments, which are read step by step of their product.
int64_t tileLoopRegisters(MlirOperation loop);
/// Fragments of products that are read from a shared buffer before a loop are read in the loop, at their product, where
/// the loop's tiles would take more registers than the kernel may have. Returns how many.
int64_t tileReadFragmentsInLoops(MlirOperation kernel, const struct TileMachine *machine);

#endif
