// tile-run: compiles a program at any level and runs one of its functions on .npy files. --help lists the flags.
#include "lib/capi/tool.h"
#include "lib/machine/machine.h"
#include "lib/support/guard.h"
#include "tools/tile-run/one_run.h"

#include <stdio.h>

int main(int argc, char **argv) {
  int status;
  if (!tileMachineTakeFlag(&argc, argv))
    return 1;
  if (tessera_guard_bytecode("tile-run", argc, argv, false, &status))
    return status;
  tessera_guard_crashes("tile-run");
  mlirExtToolWhenOutOfMemory(tessera_guard_out_of_memory);
  tessera_run_options_t options;
  tessera_error_t error;
  if (!tessera_run_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "tile-run: error: %s\n", error.text);
    return 1;
  }
  options.default_size = TesseraDefaultSize;
  bool ok = true;
  if (options.help) {
    puts("tile-run FILE [flags]: compiles a program and runs one of its functions\n");
    tessera_run_options_print_help(stdout);
    puts(TILE_MACHINE_PATH_USAGE
         "\nPrograms of models are kept in the folder TESSERA_CACHE, by default below ~/.cache; "
         "none: they are not kept.");
  } else if (!(ok = runSession(&options, &error)))
    fprintf(stderr, "tile-run: error: %s\n", error.text);
  tessera_run_options_destroy(&options);
  return ok ? 0 : 1;
}
