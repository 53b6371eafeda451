// tile-exec: runs a program that tile-translate --tile-to-program made, as tile-run runs a module. Needs neither MLIR
// nor LLVM; builds with any C compiler:
//   cc -std=c11 -D_GNU_SOURCE -O2 -I. -rdynamic tools/tile-exec/*.c lib/run/*.c lib/runtime/*.c
//      lib/runtime/drivers/*.c lib/support/*.c lib/support/*/*.c
//      -o tile-exec -pthread -ldl -lm
#include "lib/support/guard.h"
#include "tools/tile-exec/one_run.h"

#include <stdio.h>
#include <string.h>

// Takes --into, the one flag that tile-run does not have, out of the arguments. Returns how many are left.
static int take_into(int argc, char **argv, bool *out_into) {
  int count = 0;
  for (int i = 0; i < argc; ++i)
    if (i && strcmp(argv[i], "--into") == 0)
      *out_into = true;
    else
      argv[count++] = argv[i];
  return count;
}

int main(int argc, char **argv) {
  tessera_guard_crashes("tile-exec");
  bool into = false;
  argc = take_into(argc, argv, &into);
  tessera_run_options_t options;
  tessera_error_t error;
  if (!tessera_run_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
    return 1;
  }
  options.default_size = TesseraDefaultSize;
  bool ok = true;
  if (options.help) {
    puts("tile-exec PROGRAM.so [flags]: runs a compiled program\n");
    tessera_run_options_print_help(stdout);
    puts("  --into                calls the form that writes the caller's buffers");
  } else if (!(ok = tessera_exec_run(&options, into, &error)))
    fprintf(stderr, "tile-exec: error: %s\n", error.text);
  tessera_run_options_destroy(&options);
  return ok ? 0 : 1;
}
