// What the emulated machine is told of a chip: its machine file's figures.
#include "lib/emulator/emulator.h"
#include "lib/emulator/lanes/type.h"
#include "lib/machine/machine.h"

#include <stdio.h>
#include <string.h>

static uint32_t number(const TileMachine *machine, const char *key, uint32_t otherwise) {
  int64_t value = otherwise;
  tileMachineGetInteger(machine, key, &value);
  return (uint32_t)value;
}

//===--- for predictions ----------------------------------------------------------===//

// The key `mma.flops.…` of each element type that matrix instructions multiply.
static const char *const rateNames[TESSERA_LANE_COUNT] = {
    [TESSERA_LANE_F16] = "f16",      [TESSERA_LANE_BF16] = "bf16", [TESSERA_LANE_TF32] = "tf32",
    [TESSERA_LANE_XF32] = "tf32",    [TESSERA_LANE_F32] = "f32",   [TESSERA_LANE_F64] = "f64",
    [TESSERA_LANE_E4M3] = "f8",      [TESSERA_LANE_E5M2] = "f8",   [TESSERA_LANE_E4M3_FNUZ] = "f8",
    [TESSERA_LANE_E5M2_FNUZ] = "f8", [TESSERA_LANE_S8] = "i8",     [TESSERA_LANE_U8] = "i8",
    [TESSERA_LANE_S4] = "i4",        [TESSERA_LANE_U4] = "i4"};

// The level before global memory: what all cores share.
static TileMachineLevel nearLevel(const TileMachine *machine) {
  TileMachineLevel level = {0};
  char name[32];
  size_t length;
  const char *word, *before = NULL;
  for (size_t i = 0; (word = tileMachineGetWord(machine, "levels", i, &length)); ++i) {
    if (length == strlen("global") && !strncmp(word, "global", length))
      break;
    before = word;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
  }
  if (before)
    tileMachineGetLevel(machine, name, &level);
  return level;
}

static double perCycle(double bytesPerSecond, double hertz) { return bytesPerSecond / hertz; }

// False where the file lacks a figure.
static bool readRates(const TileMachine *machine, tessera_emulator_rates_t *rates) {
  TileMachineLevel near = nearLevel(machine), far = {0}, shared = {0}, first = {0};
  int64_t clock = 0;
  tileMachineGetLevel(machine, "global", &far);
  tileMachineGetLevel(machine, "shared", &shared);
  bool hasFirst = tileMachineGetLevel(machine, "l1", &first) && first.bandwidth > 0;
  tileMachineGetInteger(machine, "clock.hz", &clock);
  *rates = (tessera_emulator_rates_t){.cores = number(machine, "cores", 0),
                                      .partitions = number(machine, "partitions.per_core", 1),
                                      .core_warps = number(machine, "warps.per_core", 32),
                                      .core_shared_bytes = (uint32_t)shared.bytes,
                                      .floating = number(machine, "flops.f32", 0),
                                      .shared_latency = (double)shared.latency,
                                      .near_latency = (double)near.latency,
                                      .far_latency = (double)far.latency,
                                      .near_capacity = (double)near.bytes,
                                      .hertz = (double)clock};
  if (!rates->cores || rates->partitions < 1 || rates->partitions > 16 || clock <= 0 || far.bandwidth <= 0 ||
      near.bandwidth <= 0 || shared.bandwidth <= 0 || rates->floating <= 0)
    return false;
  rates->near_bytes = perCycle((double)near.bandwidth, (double)clock);
  rates->far_bytes = perCycle((double)far.bandwidth, (double)clock);
  rates->port_bytes = perCycle((double)(hasFirst ? first.bandwidth : shared.bandwidth), (double)clock) / rates->cores;
  for (int type = 0; type < TESSERA_LANE_COUNT; ++type) {
    char key[32];
    snprintf(key, sizeof key, "mma.flops.%s", rateNames[type] ? rateNames[type] : "");
    rates->mma[type] = number(machine, key, 0);
  }
  return true;
}

//===--- all ----------------------------------------------------------------------===//

bool tileEmulatorOptionsFor(const TileMachine *machine, TileEmulatorOptions *options, tessera_error_t *error) {
  *options = (TileEmulatorOptions){
      .chipName = tileMachineGetName(machine),
      .checks = true,
      .count = true,
      .chip = {.warp_width = number(machine, "warp.width", 32),
               .shared_bytes = number(machine, "shared.per_block.bytes", number(machine, "shared.bytes", 65536)),
               .banks = number(machine, "shared.banks", 32),
               .bank_bytes = number(machine, "shared.bank.bytes", 4),
               .sector_bytes = number(machine, "global.transaction", 32),
               .block_threads = number(machine, "threads.per_block", 1024),
               .cluster_blocks = number(machine, "cluster.blocks", 1)}};
  options->hasRates = readRates(machine, &options->rates);
  const char *isa = tileMachineGetText(machine, "isa");
  tessera_error_t unknown;
  if (!tileMachineHas(machine, "warp.width") || !tileMachineHas(machine, "shared.banks"))
    return tessera_fail(error, "is not a GPU");
  options->chip.aligned_barriers = !isa || strcmp(isa, "amdgcn") != 0;
  if (options->chip.aligned_barriers)
    return true;
  if (!tessera_amd_isa_find(tileMachineGetText(machine, "isa.version"), &options->amd, &unknown))
    return tessera_fail(error, "key 'isa.version' of machine %s: %s", tileMachineGetName(machine), unknown.text);
  // Until gfx9 vmcnt counts stores, too; then they have vscnt.
  options->chip.counted = TESSERA_EMU_LOAD | (options->amd <= TESSERA_AMD_CDNA4 ? TESSERA_EMU_STORE : 0);
  return true;
}

bool tileEmulatorOptionsRead(const char *chipName, TileEmulatorOptions *options, tessera_error_t *error) {
  TileError unknown;
  TileMachine *machine = tileMachineLoad(chipName, NULL, NULL, 0, &unknown);
  if (!machine)
    return tessera_fail(error, "%s", unknown.text);
  bool ok = tileEmulatorOptionsFor(machine, options, error);
  options->chipName = chipName;
  tileMachineDestroy(machine);
  return ok;
}
