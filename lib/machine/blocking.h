// Block sizes of a CPU matrix product by the analytical model of Low, Igual, Smith, Quintana-Ortí, "Analytical Modeling
// Is Enough for High-Performance BLIS", ACM TOMS 43(2), 2016: no search. Why: with these sizes a micro-panel of B stays
// in L1, a block of A in L2, a panel of B in L3, by counting cache ways. Expects: a CPU machine with ways and lines of
// l1 and l2. Leaves: numbers; a few multiplications.
//
//   TileBlocking blocking;
//   TileMicroTile tile = {.mr = 8, .nr = 32, .elementBytes = 4};
//   if (!tileMachineChooseBlocking(machine, tile, &blocking, &error)) …        // L1 48K/12, L2 1M/16: kc 256, mc 896
//   int64_t KC = tileMachineSplitEvenly(K, blocking.kc, 4);                    // K = 511: two blocks of 256
#pragma once

#include "lib/machine/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

// The register tile: mr rows of A times nr columns of B, in elements.
typedef struct TileMicroTile {
  int64_t mr, nr, elementBytes;
} TileMicroTile;

// In elements. nc is 0 if the machine describes no l3.
typedef struct TileBlocking {
  int64_t mc, nc, kc;
} TileBlocking;

// W ways of a cache with `sets` sets of lines hold what is reused, one way what streams by:
//   kc = floor((W1 - 1) / (1 + nr/mr)) * sets1 * line / (mr * bytes)          A's micro-panels share L1 with B's
//   mc = (W2 - 1 - ceil(nr * kc * bytes / (line * sets2))) * sets2 * line / (kc * bytes)
//   nc = the same one level out, with mc for nr
// Fails if the machine lacks a key or a cache is too small for the tile.
bool tileMachineChooseBlocking(const TileMachine *machine, TileMicroTile tile, TileBlocking *blocking,
                               TileError *error);

// The fewest elements mr * nr that keep the multiply-add units busy: lanes * latency * per cycle.
bool tileMachineLeastMicroTile(const TileMachine *machine, int64_t elementBytes, int64_t *elements, TileError *error);

// The block size that splits `total` into as few blocks as possible, as equal as possible. The block size is at
// most `block` rounded up to `multiple`.
int64_t tileMachineSplitEvenly(int64_t total, int64_t block, int64_t multiple);

#ifdef __cplusplus
}
#endif
