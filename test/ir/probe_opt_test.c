// mlir-opt with the dialect `probe`: what the .mlir tests of this folder run.
#include "lib/capi/tool.h"
#include "mlir-c/RegisterEverything.h"
#include "test/ir/probe/probe.h"

int main(int argc, char **argv) {
  const MlirExtDialectDefinition *probe = probeDialect();
  if (!probe)
    return 1;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirRegisterAllPasses();
  mlirExtDialectRegistryInsert(registry, probe);
  int status = mlirExtOptMain(argc, argv, "probe-opt", registry, NULL);
  mlirDialectRegistryDestroy(registry);
  return status;
}
