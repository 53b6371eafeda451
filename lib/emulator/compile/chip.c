// What the emulated machine is told of a chip: its machine file's figures.
#include "lib/emulator/emulator.h"
#include "lib/machine/machine.h"

static uint32_t number(const TileMachine *machine, const char *key, uint32_t otherwise) {
  int64_t value = otherwise;
  tileMachineGetInteger(machine, key, &value);
  return (uint32_t)value;
}

bool tileEmulatorOptionsRead(const char *chipName, TileEmulatorOptions *options, tessera_error_t *error) {
  TileError unknown;
  TileMachine *machine = tileMachineLoad(chipName, NULL, NULL, 0, &unknown);
  if (!machine)
    return tessera_fail(error, "%s", unknown.text);
  bool isGpu = tileMachineHas(machine, "warp.width") && tileMachineHas(machine, "shared.banks");
  *options = (TileEmulatorOptions){
      .chipName = chipName,
      .checks = true,
      .count = true,
      .chip = {.warp_width = number(machine, "warp.width", 32),
               .shared_bytes = number(machine, "shared.per_block.bytes", number(machine, "shared.bytes", 65536)),
               .banks = number(machine, "shared.banks", 32),
               .bank_bytes = number(machine, "shared.bank.bytes", 4),
               .sector_bytes = number(machine, "global.transaction", 32),
               .block_threads = number(machine, "threads.per_block", 1024)}};
  tileMachineDestroy(machine);
  return isGpu || tessera_fail(error, "is no GPU");
}
