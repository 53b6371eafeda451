// mlir-lsp-server with our dialects: diagnostics, definitions and hover in editors.
#include "lib/capi/tool.h"
#include "lib/machine/machine.h"
#include "lib/pipelines/register.h"

int main(int argc, char **argv) {
  if (!tileMachineTakeFlag(&argc, argv))
    return 1;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  int status = mlirExtLspServerMain(argc, argv, registry);
  mlirDialectRegistryDestroy(registry);
  return status;
}
