// The analytical model of cache blocks. See blocking.h for the formulas and the paper.
#include "lib/machine/blocking.h"

#include "lib/support/integer.h"

#include <inttypes.h>

// Bytes of one way of a cache; 0 with an error if the file does not tell.
static int64_t wayBytes(const TileMachine *machine, const char *name, TileMachineLevel *level, TileError *error) {
  if (tileMachineGetLevel(machine, name, level) && level->ways > 0 && level->bytes >= level->ways)
    return level->bytes / level->ways;
  tileErrorSet(error, 0, 0, "machine %s: block sizes need keys '%s.bytes' and '%s.ways'", tileMachineGetName(machine),
               name, name);
  return 0;
}

// Elements of a block that a cache holds beside one streaming way and the ways that `resident` bytes fill; at least one
// way.
static int64_t blockBeside(const TileMachineLevel *level, int64_t way, int64_t resident, int64_t rowBytes) {
  int64_t ways = level->ways - 1 - tessera_ceil_div(resident, way);
  return (ways < 1 ? 1 : ways) * way / rowBytes;
}

bool tileMachineChooseBlocking(const TileMachine *machine, TileMicroTile tile, TileBlocking *blocking,
                               TileError *error) {
  TileMachineLevel l1, l2, l3;
  if (tile.mr < 1 || tile.nr < 1 || tile.elementBytes < 1)
    return tileErrorSet(error, 0, 0, "a micro-tile of %" PRId64 "x%" PRId64 " elements of %" PRId64 " bytes is empty",
                        tile.mr, tile.nr, tile.elementBytes);
  int64_t way1 = wayBytes(machine, "l1", &l1, error), way2 = way1 ? wayBytes(machine, "l2", &l2, error) : 0;
  if (!way1 || !way2)
    return false;
  // floor((W1 - 1) / (1 + nr/mr)) in integers.
  int64_t waysOfA = (l1.ways - 1) * tile.mr / (tile.mr + tile.nr);
  int64_t kc = (waysOfA < 1 ? 1 : waysOfA) * way1 / (tile.mr * tile.elementBytes);
  int64_t mc = kc ? blockBeside(&l2, way2, tile.nr * kc * tile.elementBytes, kc * tile.elementBytes) : 0;
  if (kc < 1 || mc < 1)
    return tileErrorSet(error, 0, 0, "machine %s: its caches are too small for a micro-tile of %" PRId64 "x%" PRId64,
                        tileMachineGetName(machine), tile.mr, tile.nr);
  int64_t way3 = tileMachineGetLevel(machine, "l3", &l3) ? wayBytes(machine, "l3", &l3, NULL) : 0;
  int64_t nc = way3 ? blockBeside(&l3, way3, mc * kc * tile.elementBytes, kc * tile.elementBytes) : 0;
  *blocking = (TileBlocking){.mc = mc, .nc = nc, .kc = kc};
  return true;
}

bool tileMachineLeastMicroTile(const TileMachine *machine, int64_t elementBytes, int64_t *elements, TileError *error) {
  int64_t bytes, perCycle, latency;
  if (elementBytes < 1 || !tileMachineGetInteger(machine, "vector.bytes", &bytes) ||
      !tileMachineGetInteger(machine, "fma.per_cycle", &perCycle) ||
      !tileMachineGetInteger(machine, "fma.latency", &latency))
    return tileErrorSet(error, 0, 0, "machine %s: a micro-tile needs vector.bytes, fma.per_cycle and fma.latency",
                        tileMachineGetName(machine));
  *elements = bytes / elementBytes * perCycle * latency;
  return true;
}

int64_t tileMachineSplitEvenly(int64_t total, int64_t block, int64_t multiple) {
  if (total < 1 || block < 1 || multiple < 1)
    return multiple < 1 ? 1 : multiple;
  int64_t blocks = tessera_ceil_div(total, block);
  return tessera_ceil_div(tessera_ceil_div(total, blocks), multiple) * multiple;
}
