// A machine's file is read once, however many passes ask for it: a matmul to NVVM and to this CPU.
#include "lib/machine/machine.h"
#include "lib/pipelines/session.h"
#include "test/check.h"

int main(int argc, char **argv) {
  static const char *const pipelines[] = {"builtin.module(tile-to-nvvm-pipeline{chip=sm_80})",
                                          "builtin.module(tile-to-rocdl-pipeline{chip=gfx942})",
                                          "builtin.module(tile-to-cpu-pipeline)"};
  CHECK(argc == 2, "use: machine_once_test FILE");
  for (size_t i = 0; argc == 2 && i < sizeof pipelines / sizeof *pipelines; ++i) {
    TileSession session;
    tessera_error_t error = {""};
    size_t before = tileMachineCountReads();
    CHECK(tileSessionOpen(&session, argv[1], NULL, &error) && tileSessionRun(&session, pipelines[i], &error), "%s: %s",
          pipelines[i], error.text);
    CHECK(tileMachineCountReads() == before + 1, "%s reads %zu machines", pipelines[i],
          tileMachineCountReads() - before);
    tileSessionClose(&session);
  }
  return checkResult(0);
}
