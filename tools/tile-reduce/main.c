// mlir-reduce with our dialects and passes: shrinks a program that shows a bug.
#include "lib/capi/tool.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/register.h"

int main(int argc, char **argv) {
  if (!tileMachineTakeFlag(&argc, argv))
    return 1;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  int status = mlirExtReduceMain(argc, argv, registry);
  mlirDialectRegistryDestroy(registry);
  return status;
}
