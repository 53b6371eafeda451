// What a tool looks for in a plugin: mlir/Tools/Plugins/DialectPlugin.h and PassPlugin.h, version 1 of both, in C.
#include "poly.h"

typedef struct DialectPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerDialects)(void *registry);
} DialectPluginInfo;

typedef struct PassPluginInfo {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerPasses)(void);
} PassPluginInfo;

static void registerDialects(void *registry) {
  const MlirExtDialectDefinition *dialect = polyDialect();
  if (dialect)
    mlirExtDialectRegistryInsert((MlirDialectRegistry){registry}, dialect);
}

static void registerPasses(void) {
  mlirExtPassRegister(&polyExpandPass);
  tilePolicyRegister(&polySmallBlocks);
}

DialectPluginInfo mlirGetDialectPluginInfo(void);
PassPluginInfo mlirGetPassPluginInfo(void);

DialectPluginInfo mlirGetDialectPluginInfo(void) { return (DialectPluginInfo){1, "poly", "0.1", registerDialects}; }
PassPluginInfo mlirGetPassPluginInfo(void) { return (PassPluginInfo){1, "poly", "0.1", registerPasses}; }
