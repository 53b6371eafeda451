// Reads a machine for tile construction. See target.h.
#include "lib/search/target.h"

#include "lib/support/integer.h"

#include <stdio.h>
#include <string.h>

enum { UsualWays = 8 };

static int64_t integerOr(const TileMachine *machine, const char *key, int64_t otherwise) {
  tileMachineGetInteger(machine, key, &otherwise);
  return otherwise;
}

static bool need(const TileMachine *machine, const char *key, int64_t *value, TileError *error) {
  return tileMachineGetInteger(machine, key, value) ||
         tileErrorSet(error, 0, 0, "machine %s: constructing tiles needs key '%s'", tileMachineGetName(machine), key);
}

static bool readLevel(const TileMachine *machine, const char *word, size_t length, TileSearchTarget *target,
                      TileError *error) {
  TileSearchLevel *level = &target->levels[target->numLevels];
  TileMachineLevel found;
  char key[32];
  snprintf(level->name, sizeof level->name, "%.*s", (int)length, word);
  snprintf(key, sizeof key, "%s.instances", level->name);
  if (!strcmp(level->name, "register"))
    return true;
  tileMachineGetLevel(machine, level->name, &found);
  if (found.bytes < 1 || found.bandwidth < 1 || found.transaction < 1)
    return tileErrorSet(error, 0, 0, "machine %s: constructing tiles needs bytes, bandwidth and transaction of '%s'",
                        tileMachineGetName(machine), level->name);
  level->bytes = found.bytes;
  level->bandwidth = (double)found.bandwidth;
  level->transaction = found.transaction;
  level->line = found.line ? found.line : found.transaction;
  level->latency = found.latency;
  level->ways = found.ways > 0 ? found.ways : UsualWays;
  level->instances = integerOr(machine, key, 0);
  if (!strcmp(level->name, "shared"))
    target->shared = target->numLevels;
  ++target->numLevels;
  return true;
}

static bool readLevels(const TileMachine *machine, TileSearchTarget *target, TileError *error) {
  const char *word;
  size_t length;
  for (size_t i = 0; (word = tileMachineGetWord(machine, "levels", i, &length)) && length; ++i)
    if (target->numLevels < TileSearchLevels && !readLevel(machine, word, length, target, error))
      return false;
  return target->numLevels > 0 ||
         tileErrorSet(error, 0, 0, "machine %s: constructing tiles needs memory levels", tileMachineGetName(machine));
}

static bool readGpu(const TileMachine *machine, TileSearchTarget *target, TileError *error) {
  target->partitions = integerOr(machine, "partitions.per_core", 4);
  target->blocksPerCore = integerOr(machine, "blocks.per_core", 32);
  target->hasAsyncCopies = tileMachineListHas(machine, "engines", "cp.async");
  target->clusterBlocks = integerOr(machine, "cluster.blocks", 1);
  target->tensorColumns = integerOr(machine, "tmem.columns", 0);
  return need(machine, "warp.width", &target->lanes, error) &&
         need(machine, "registers.per_core", &target->registersPerCore, error) &&
         need(machine, "registers.per_thread", &target->registersPerThread, error) &&
         need(machine, "threads.per_block", &target->threadsPerBlock, error) &&
         need(machine, "warps.per_core", &target->warpsPerCore, error) &&
         need(machine, "shared.per_block.bytes", &target->sharedPerBlock, error);
}

static bool readCpu(const TileMachine *machine, TileSearchTarget *target, TileError *error) {
  return need(machine, "vector.bytes", &target->vectorBytes, error) &&
         need(machine, "vector.registers", &target->vectorRegisters, error) &&
         need(machine, "fma.per_cycle", &target->fmaPerCycle, error) &&
         need(machine, "fma.latency", &target->fmaLatency, error) &&
         need(machine, "loads.per_cycle", &target->loadsPerCycle, error);
}

static bool readModel(const TileMachine *machine, TileSearchTarget *target, TileError *error) {
  enum { both, gpu, cpu };
  int64_t value;
  int other = target->isGpu ? cpu : gpu;
#define COUNT(field, key, kind, meaning)                                                                               \
  if (kind != other && !need(machine, key, &target->model.field, error))                                               \
    return false;
#define RATIO(field, key, kind, units, meaning)                                                                        \
  if (kind != other && !need(machine, key, &value, error))                                                             \
    return false;                                                                                                      \
  target->model.field = kind != other ? (double)value / units : 0;
#include "lib/machine/model.def"
#undef COUNT
#undef RATIO
  return true;
}

bool tileSearchReadTarget(const TileMachine *machine, TileSearchTarget *target, TileError *error) {
  const char *kind = tileMachineGetText(machine, "kind");
  int64_t clock;
  *target = (TileSearchTarget){.isGpu = kind && !strcmp(kind, "gpu"), .shared = -1, .atom = {1, 1, 1}};
  if (!need(machine, "cores", &target->cores, error) || !need(machine, "clock.hz", &clock, error) ||
      !readLevels(machine, target, error))
    return false;
  target->clock = (double)clock;
  return (target->isGpu ? readGpu(machine, target, error) : readCpu(machine, target, error)) &&
         readModel(machine, target, error);
}

bool tileSearchGains(const TileSearchTarget *target, double seconds, double against) {
  return seconds * (1 + target->model.gain) <= against;
}

int64_t tileSearchEqualRegisters(const TileSearchTarget *target, int64_t warps) {
  int64_t grain = target->model.registerGrain, registers = target->registersPerCore / (warps * target->lanes);
  return tessera_min(registers, target->registersPerThread) / grain * grain;
}

int64_t tileSearchGroupRegisters(const TileSearchTarget *target, int64_t groups) {
  int64_t grain = target->model.registerGrain, all = (groups + 1) * tileSearchEqualRegisters(target, 4 * (groups + 1));
  return (all - target->model.groupLoadRegisters) / groups / grain * grain;
}

//===--- for one operator -----------------------------------------------------===//

// The type that an operand of so many bits has in an atom's list: that of the sum for C.
static bool takesTypes(const TileMachineAtom *atom, const TileOperator *op) {
  static const char *const sums[] = {"f32", "f16", "f64", "i32"};
  int64_t bits = op->operands[op->out].bits;
  if (bits == 16 && !strcmp(op->type, "bf16")) // which kernels hold in f32
    bits = 32;
  for (size_t i = 0; i < sizeof sums / sizeof *sums; ++i) {
    bool isWide = !strcmp(sums[i], "f64") ? bits == 64 : !strcmp(sums[i], "f16") ? bits == 16 : bits == 32;
    if (isWide && tileMachineAtomTakes(atom, op->type, op->type, sums[i]))
      return true;
  }
  return false;
}

static bool findAtom(const TileMachine *machine, const TileOperator *op, int64_t best[3]) {
  bool found = false;
  for (size_t i = 0; op->m >= 0 && i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    TileMachineAtom atom;
    if (strncmp(key, "atom.", 5) || strchr(key, '*') || !tileMachineFindAtom(machine, key + 5, &atom, NULL) ||
        atom.warps != 1 || !tileMachineAtomIsPlain(&atom) || !takesTypes(&atom, op))
      continue;
    bool isSmaller = !found || atom.m * atom.n < best[0] * best[1];
    if (!isSmaller && (atom.m * atom.n > best[0] * best[1] || atom.k <= best[2]))
      continue;
    found = true;
    memcpy(best, (int64_t[]){atom.m, atom.n, atom.k}, 3 * sizeof *best);
  }
  return found;
}

// Such an atom has a free number of columns. 64 are some that each of them takes.
// Its left factor may be in registers, or its sums are in tensor memory.
static bool findGroupAtom(const TileMachine *machine, const TileOperator *op, bool isTensor, int64_t *rows) {
  for (size_t i = 0; op->m >= 0 && i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value), *star = strchr(key, '*');
    char name[64];
    TileMachineAtom atom;
    if (strncmp(key, "atom.", 5) || !star)
      continue;
    snprintf(name, sizeof name, "%.*s64%s", (int)(star - key) - 5, key + 5, star + 1);
    if (tileMachineFindAtom(machine, name, &atom, NULL) && atom.warps > 1 && isTensor == !atom.fragment[0][0] &&
        takesTypes(&atom, op)) {
      *rows = atom.m;
      return true;
    }
  }
  return false;
}

static double rateOf(const TileMachine *machine, const char *prefix, const char *type) {
  char key[48];
  int64_t rate = 0;
  // Eight-bit floats of any format have one rate.
  snprintf(key, sizeof key, "%s.%s", prefix, strncmp(type, "f8", 2) ? type : "f8");
  tileMachineGetInteger(machine, key, &rate);
  return (double)rate;
}

void tileSearchSetOperator(const TileMachine *machine, const TileOperator *op, TileSearchTarget *target) {
  int64_t atom[3] = {1, 1, 1};
  target->hasAtom = target->isGpu && findAtom(machine, op, atom);
  target->hasGroupAtom = target->isGpu && findGroupAtom(machine, op, false, &target->groupRows);
  target->hasTensorAtom =
      target->isGpu && !target->hasGroupAtom && findGroupAtom(machine, op, true, &target->groupRows);
  // Without an instruction a warp takes a rectangle of one element per lane.
  for (int64_t side = 1; target->isGpu && op->m >= 0 && !target->hasAtom && side * side <= target->lanes; side *= 2)
    memcpy(atom, (int64_t[]){side, target->lanes / side, 1}, sizeof atom);
  memcpy(target->atom, atom, sizeof atom);
  target->rate = target->hasAtom || op->isByTiles ? rateOf(machine, "mma.flops", op->type) : 0;
  if (target->rate == 0)
    target->rate = rateOf(machine, "flops", op->type);
  if (target->rate == 0)
    target->rate = rateOf(machine, "flops", "f32");
  if (target->rate == 0)
    target->rate = 1;
}
