// mlir-opt with our dialects, passes and pipelines.
#include "lib/capi/pass.h"
#include "lib/capi/tool.h"
#include "lib/pipelines/register.h"
#include "lib/support/guard.h"

#include <inttypes.h>
#include <stdio.h>

static void printStatistic(const char *pass, const char *name, uint64_t value, void *userData) {
  fprintf(userData, "%s: %" PRIu64 " %s\n", pass, value, name);
}

int main(int argc, char **argv) {
  int status;
  if (tessera_guard_bytecode("tile-opt", argc, argv, true, &status)) {
    if (status) // MLIR's reader does not always say so
      fputs("tile-opt: error: the bytecode could not be read or processed\n", stderr);
    return status;
  }
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  const bool *statistics = mlirExtToolAddFlag("tile-pass-statistics", "Print what our passes counted at the end");
  status = mlirExtOptMain(argc, argv, "tile-opt: Tessera's optimizer driver\n", registry);
  if (*statistics)
    mlirExtStatisticsForEach(printStatistic, stderr);
  mlirDialectRegistryDestroy(registry);
  return status;
}
